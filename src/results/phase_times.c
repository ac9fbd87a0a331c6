/* What a timeline knows of phases: when what was submitted in each ran, and when nothing did. */

#include "results/phase_times.h"

#include "base/compiler.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/platform.h"
#include "regions/names.h"
#include "regions/profiler.h"
#include "results/overlap.h"

/* ---- the time in which samples of a phase ran ------------------------------------------------------------ */

/* Marks the phases around samples that are missing on the timeline. With the mutex held. */
static void zt__mark_unknown_phases(const zt_profiler *profiler, zt__busy_phases *busy) {
    uint32_t i;
    for (i = 0; i < busy->path_count; i++) {
        const zt__path *path = zt__path_at(profiler, i), *outer = path;
        int is_missing = path->missing > 0 || path->lost > 0 || path->dropped > 0 ||
                         (!path->key.region->is_phase && path->kept != path->statistics.count);
        for (; is_missing && outer->depth > 0; outer = outer->key.outer) {
            busy->paths[outer->index].is_unknown = 1;
            busy->regions[outer->key.region->index].is_unknown = 1;
        }
    }
}

ZT__PRIVATE int zt__measure_busy_phases(zt_profiler *profiler, zt__busy_phases *busy) {
    const zt_allocator *allocator = &profiler->config.allocator;
    zt__intervals intervals;
    size_t i;
    memset(busy, 0, sizeof *busy);
    if (!profiler->timeline) {
        return 1;
    }
    if (!zt__copy_intervals(profiler, &intervals)) {
        return 0;
    }
    zt__lock(&profiler->mutex);
    busy->path_count = profiler->path_count; /* also those of the samples above */
    busy->region_count = profiler->region_count;
    zt__unlock(&profiler->mutex);
    busy->paths = (zt__busy_phase *)zt__allocate(allocator, (size_t)busy->path_count + busy->region_count + 1,
                                                 sizeof *busy->paths);
    busy->regions = busy->paths ? busy->paths + busy->path_count : NULL;
    for (i = 0; i < intervals.count && busy->paths; i++) {
        const zt__interval *interval = &intervals.of_samples[i];
        const zt__path *path = interval->path;
        for (; path->depth > 0; path = path->key.outer) {
            if (path->key.region->is_phase) {
                zt__extend_cover(&busy->paths[path->index].cover, interval);
                zt__extend_cover(&busy->regions[path->key.region->index].cover, interval);
            }
        }
    }
    if (busy->paths) {
        zt__lock(&profiler->mutex);
        zt__mark_unknown_phases(profiler, busy);
        zt__unlock(&profiler->mutex);
    }
    zt__free(allocator, intervals.of_samples);
    return busy->paths != NULL;
}

ZT__PRIVATE double zt__get_busy_time(const zt__busy_phases *busy, const zt__region_record *region,
                                     const zt__path *path) {
    const zt__busy_phase *phase = NULL;
    if (path && path->index < busy->path_count) {
        phase = &busy->paths[path->index];
    } else if (!path && region->index < busy->region_count) {
        phase = &busy->regions[region->index];
    }
    return region->is_phase && phase && !phase->is_unknown ? (double)phase->cover.covered_ns : zt__nan();
}
