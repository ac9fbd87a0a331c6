/* Hot spots: their source lines. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"

#ifdef ZETOOLS_TRACER

/* Looks up the source lines of the hot spots that were sampled so far.
   deadline  until when it waits for another thread that does this. 0: not at all
   Returns SUCCESS, also where no line is known; NOT_READY if another thread still does it. */
ZT__PRIVATE ze_result_t zt__find_hotspot_lines(zt_profiler *profiler, const char *call, uint64_t deadline);

#endif
