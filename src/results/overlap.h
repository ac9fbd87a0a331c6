/* zt_get_overlap: when samples cover the device. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"

/* When a sample ran, in device time, and what it was. */
typedef struct zt__interval {
    uint64_t begin_ns, end_ns;
    zt__region_kind kind;
} zt__interval;

/* When the kept samples ran, and what is not known of that time. */
typedef struct zt__intervals {
    zt__interval *of_samples;
    size_t count;
    uint64_t since_ns; /* samples that are not kept any more have ended before this time */
    uint64_t missing;  /* samples that were found missing since then, or are still on their way */
} zt__intervals;

/* Fills `intervals`, whose array the caller frees. Returns 0 without memory. */
ZT__PRIVATE int zt__copy_intervals(zt_profiler *profiler, zt__intervals *intervals);

/* As zt_get_overlap. Returns 0 without memory. */
ZT__PRIVATE int zt__measure_overlap(zt_profiler *profiler, zt_overlap *overlap);
