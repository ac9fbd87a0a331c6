/* What a timeline holds: when its samples cover the device, and which ran at once. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"
#include "results/timeline.h"

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
