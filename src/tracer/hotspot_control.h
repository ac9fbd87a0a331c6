/* zt_hotspots_start, zt_hotspots_stop. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"

#ifdef ZETOOLS_TRACER

/* Reads what is left, and stops, if something is sampled. Returns NOT_READY or HANDLE_OBJECT_IN_USE if that
   cannot be done now. */
ZT__PRIVATE ze_result_t zt__stop_sampling(zt_profiler *profiler, const char *call);

#endif
