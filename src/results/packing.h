/* Packed statistics, for files. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"

/* Packs into memory of the allocator, which the caller frees. Failures are reported as those of `call`; then `*bytes` is
   NULL. */
ZT__PRIVATE ze_result_t zt__pack(zt_profiler *profiler, const char *call, uint8_t **bytes, size_t *size);
