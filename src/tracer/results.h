/* zt_get_call, zt_get_hotspot: what was traced, as numbers. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"

#ifdef ZETOOLS_TRACER

/* As in zt_info. */
ZT__PRIVATE zt_trace_counts zt__get_launch_counts(const zt_profiler *profiler);

ZT__PRIVATE uint32_t zt__get_call_count(const zt_profiler *profiler);

ZT__PRIVATE zt_hotspots_counts zt__get_hotspot_counts(const zt_profiler *profiler);

ZT__PRIVATE uint32_t zt__get_hotspot_count(const zt_profiler *profiler);

/* A call as the timeline shows it. */
typedef struct zt__kept_call {
    const char *name;
    uint64_t begin_ns, end_ns;
    uint32_t thread; /* of the system */
} zt__kept_call;

/* Returns how many timed calls a profiler's report shows. Under zt_auto, only the report of the first
   profiler shows them. */
ZT__PRIVATE uint32_t zt__calls_to_report(const zt_profiler *profiler);

/* Gets the indices of kept calls, from *first up to but not including *end. */
ZT__PRIVATE void zt__get_kept_calls(const zt_profiler *profiler, uint64_t *first, uint64_t *end);

/* Copies a call of zt__get_kept_calls. Returns 0 if a newer one has replaced it. */
ZT__PRIVATE int zt__copy_kept_call(const zt_profiler *profiler, uint64_t index, zt__kept_call *call);

#endif
