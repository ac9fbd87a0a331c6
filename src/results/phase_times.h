/* What a timeline knows of phases: when what was submitted in each ran, and when nothing did. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"
#include "results/overlap.h"

/* When samples of a phase ran. */
typedef struct zt__busy_phase {
    zt__cover cover;
    int is_unknown; /* samples of it are missing on the timeline */
} zt__busy_phase;

/* Of paths, and of phases by their names. All 0: nothing is known. */
typedef struct zt__busy_phases {
    zt__busy_phase *paths, *regions; /* by index. Those of no phase are all 0 */
    uint32_t path_count, region_count;
} zt__busy_phases;

/* Measures how long at least one of the samples of each phase ran. The caller frees `paths`, which also has `regions`.
   Returns 0 without memory. */
ZT__PRIVATE int zt__measure_busy_phases(zt_profiler *profiler, zt__busy_phases *busy);

/* Returns how long at least one of the samples of a phase ran: of those on one path, or for NULL of all. NaN: that is not
   known, or it is no phase. */
ZT__PRIVATE double zt__get_busy_time(const zt__busy_phases *busy, const zt__region_record *region,
                                     const zt__path *path);

/* Of the entries of a phase on one path that are on the timeline, in which all samples are, too. */
typedef struct zt__idle_phase {
    double host_ns;
    double idle_ns;     /* of that, in which nothing that is measured ran on the device; */
    double own_idle_ns; /* and of that, outside of the phases inside on the same thread */
} zt__idle_phase;

typedef struct zt__idle_phases {
    zt__idle_phase *paths; /* by index; NULL: nothing is known, because samples are missing */
    uint32_t path_count;
    double host_ns; /* of the phases that are inside no other on their thread */
} zt__idle_phases;

/* Measures how long the device was idle during each phase. The caller frees `paths`. Returns 0 without memory. */
ZT__PRIVATE int zt__measure_idle_phases(zt_profiler *profiler, zt__idle_phases *idle);
