/* The table of benchmarks. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "base/writer.h"
#include "regions/profiler.h"

/* Writes a table of results, `room` columns wide. Returns 0 without memory. */
ZT__PRIVATE int zt__write_bench_table(zt__writer *writer, const zt_profiler *profiler,
                                      const zt_bench_result *results, uint32_t count, size_t room);
