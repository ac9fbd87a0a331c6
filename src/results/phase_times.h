/* Times in phases: when what was submitted in each ran, when nothing did, and when the host waited. */

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

/* A part of the host time of a phase on one path. */
typedef struct zt__phase_part {
    double host_ns;
    double part_ns;     /* of that, the part; */
    double own_part_ns; /* and of the part, what is outside of the phases inside on the same thread */
} zt__phase_part;

typedef struct zt__phase_parts {
    zt__phase_part *paths; /* by index; NULL: nothing is known. Those of no phase are all 0 */
    uint32_t path_count;
    double host_ns; /* of the phases that are inside no other on their thread */
} zt__phase_parts;

/* Measures how long nothing that is measured ran on the device during each phase, in the entries that are on the
   timeline; nothing is known if samples are missing there. The caller frees `paths`. Returns 0 without memory. */
ZT__PRIVATE int zt__measure_idle_phases(zt_profiler *profiler, zt__phase_parts *idle);

/* Measures how long the host waited for the device in each phase for which that is known. The own part is that of the
   path, less those of the paths inside. The caller frees `paths`. Returns 0 without memory. */
ZT__PRIVATE int zt__measure_waits(zt_profiler *profiler, zt__phase_parts *waits);
