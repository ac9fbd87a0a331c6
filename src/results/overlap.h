/* What a timeline holds: when its samples cover the device, and which ran at once. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"
#include "results/timeline.h"

/* When a sample ran, in device time, and what it was. */
typedef struct zt__interval {
    uint64_t begin_ns, end_ns;
    uint64_t beside_ns; /* up to here, it is counted how long it ran beside others */
    zt__path *path;
    zt__region_kind kind;
    int is_outermost; /* it is inside no other region */
} zt__interval;

/* When the kept samples ran, and what is not known of that time. */
typedef struct zt__intervals {
    zt__interval *of_samples; /* sorted by begin */
    size_t count;
    uint64_t since_ns; /* samples that are not kept any more have ended before this time */
    uint64_t missing;  /* samples that were found missing since then, or are still on their way */
} zt__intervals;

/* The union of intervals that are added in the order of their begins. */
typedef struct zt__cover {
    uint64_t until_ns; /* up to here, all is counted */
    uint64_t covered_ns;
    uint64_t count; /* of the intervals */
} zt__cover;

ZT__PRIVATE void zt__extend_cover(zt__cover *cover, const zt__interval *interval);

/* Fills `intervals`, whose array the caller frees. Leaves out waits, in which the device does nothing. Returns 0 without
   memory. */
ZT__PRIVATE int zt__copy_intervals(zt_profiler *profiler, zt__intervals *intervals);

/* How long the outermost samples of a path ran, and how much of that beside others. */
typedef struct zt__at_once {
    double ns, of_ns;
} zt__at_once;

/* Measures how the samples of the timeline cover the time of the device. Adds up for each path how its samples ran,
   unless `paths` is NULL. Returns 0 without memory. */
ZT__PRIVATE int zt__measure_coverage(zt_profiler *profiler, zt__coverage *coverage, zt__at_once *paths,
                                     uint32_t path_count);

/* Returns what zt__measure_coverage measures. While the timeline does not change, it is not measured again. */
ZT__PRIVATE zt__coverage zt__get_coverage(zt_profiler *profiler);
