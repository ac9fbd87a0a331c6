/* zt_merge: statistics of several profilers. */

#include "results/merging.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/platform.h"
#include "base/threads.h"
#include "metrics/statistics.h"
#include "regions/collecting.h"
#include "regions/names.h"
#include "regions/profiler.h"
#include "results/results.h"

/* A region of the other profiler, and the one that it is added to. */
typedef struct zt__merged_region {
    zt__region_record *into;
    const zt__region_record *from;
    uint64_t lost, dropped;
} zt__merged_region;

/* A path of the other profiler, copied with its statistics, and the one that it is added to. */
typedef struct zt__merged_path {
    zt__path *into;
    int is_left_out; /* a phase for which there is no path: what is inside of it moves to `into` */
    zt__path from;
} zt__merged_path;

/* Copies kept samples to a layout that may keep other columns, or have them elsewhere. Those that were not kept are
   NaN. */
static void zt__convert_rows(const zt__sample_layout *to_layout, float *to, const zt__sample_layout *layout,
                             const float *rows, uint32_t count, const uint32_t *columns) {
    uint32_t i, k, place;
    for (i = 0; i < count; i++) {
        for (k = 0; k < to_layout->kept_count; k++) {
            for (place = 0; place < layout->kept_count; place++) {
                uint32_t column = layout->kept_columns[place];
                if ((columns ? columns[column] : column) == to_layout->kept_columns[k]) {
                    break;
                }
            }
            *to++ =
                place < layout->kept_count ? rows[(size_t)i * layout->kept_count + place] : (float)zt__nan();
        }
    }
}

ZT__PRIVATE int zt__copy_statistics(zt_profiler *into, const zt__sample_layout *to_layout, zt__statistics *to,
                                    const zt__sample_layout *layout, const zt__statistics *statistics,
                                    const uint32_t *columns, zt__statistics *copied) {
    uint32_t i;
    const zt_allocator *allocator = &into->config.allocator;
    uint64_t rows = (uint64_t)to->kept + statistics->kept, limit = to_layout->row_limit;
    copied->count = statistics->count;
    copied->kept = statistics->kept;
    memcpy(copied->time_counts, statistics->time_counts, sizeof copied->time_counts);
    if (!statistics->moments) { /* there are no samples */
        return 1;
    }
    copied->moments =
        (zt__moments *)zt__allocate(allocator, to_layout->column_count, sizeof *copied->moments);
    copied->rows = (float *)zt__allocate(allocator, (size_t)statistics->kept + 1,
                                         to_layout->kept_count * sizeof *copied->rows);
    if (!copied->moments || !copied->rows) {
        return 0;
    }
    for (i = 0; i < layout->column_count; i++) {
        copied->moments[columns ? columns[i] : i] = statistics->moments[i];
    }
    zt__convert_rows(to_layout, copied->rows, layout, statistics->rows, statistics->kept, columns);
    /* This also succeeds without memory for rows, but then rows that are kept now would be lost. */
    return zt__reserve_samples(allocator, &into->mutex, to_layout, to, statistics->count) &&
           to->capacity >= (rows < limit ? rows : limit);
}

/* Copies what only the collector changes of a path of `from`, which is merged into `to`. Returns 0 without memory. */
static int zt__copy_path(zt_profiler *into, zt__path *to, const zt_profiler *from, const zt__path *path,
                         zt__path *copy) {
    copy->with_metrics = path->with_metrics;
    copy->bytes = path->bytes;
    copy->bytes_ns = path->bytes_ns;
    copy->launch_error_ns = path->launch_error_ns;
    return zt__copy_statistics(into, &into->layout, &to->statistics, &from->layout, &path->statistics, NULL,
                               &copy->statistics) &&
           zt__copy_statistics(into, &into->entry_layout, &to->entries, &from->entry_layout, &path->entries,
                               NULL, &copy->entries);
}

ZT__PRIVATE void zt__add_path_sums(zt__path *to, const zt__path *added) {
    to->with_metrics += added->with_metrics;
    to->bytes += added->bytes;
    to->bytes_ns += added->bytes_ns;
    if (to->launch_error_ns < added->launch_error_ns) {
        to->launch_error_ns = added->launch_error_ns;
    }
}

ZT__PRIVATE void zt__add_path_losses(zt__path *to, const zt__path *added) {
    to->outlives_outer |= added->outlives_outer;
    to->is_own_unknown |= added->is_own_unknown;
    to->missing += added->missing;
    to->lost += added->lost;
    to->dropped += added->dropped;
    to->incomplete += added->incomplete;
    zt__add_allocations(&to->memory, &added->memory);
    zt__raise_memory_in_use(&to->memory, &added->memory);
}

ZT__PRIVATE void zt__add_causes(zt_profiler *into, const uint64_t *causes, uint64_t unobserved_lists) {
    uint32_t i;
    for (i = 0; i < ZT_CAUSE_COUNT; i++) {
        into->causes[i] += causes[i];
        into->counts.begun += causes[i];
        if (i < ZT_DROPPED_NO_PROBE) {
            into->counts.lost += causes[i];
        } else {
            into->counts.dropped += causes[i];
        }
    }
    into->counts.unobserved_lists += unobserved_lists;
}

ZT__PRIVATE void zt__add_memory(zt_profiler *into, const zt_memory_info *info, const zt__phase_memory *root) {
    zt_memory_info *to = &into->memory_info;
    to->is_watched |= info->is_watched;
    to->allocations += info->allocations;
    to->unfreed += info->unfreed;
    to->unfreed_bytes += info->unfreed_bytes;
    to->unseen += info->unseen;
    to->peak_bytes = info->peak_bytes > to->peak_bytes ? info->peak_bytes : to->peak_bytes;
    to->host_peak_bytes =
        info->host_peak_bytes > to->host_peak_bytes ? info->host_peak_bytes : to->host_peak_bytes;
    zt__add_allocations(&into->root.memory, root);
}

/* Adds the statistics of `from` to `into`. Both collectors are held, so nobody else writes statistics. Returns
   0 without memory: then no figure has changed, so nothing is merged in part. */
static int zt__add_profiler(zt_profiler *into, zt_profiler *from) {
    const zt_allocator *allocator = &into->config.allocator;
    uint32_t path_count = zt__get_path_count(from); /* first, so that their regions are counted, too */
    uint32_t i, region_count = zt__get_region_count(from);
    zt__merged_region *regions =
        (zt__merged_region *)zt__allocate(allocator, region_count + 1u, sizeof *regions);
    zt__merged_path *paths = (zt__merged_path *)zt__allocate(allocator, path_count + 1u, sizeof *paths);
    uint64_t unobserved_lists, causes[ZT_CAUSE_COUNT];
    zt_memory_info memory;
    zt__phase_memory root;
    zt_cause cause;
    int has_memory = regions && paths;

    /* What is added is copied, and room for it is made. */
    for (i = 0; i < region_count && has_memory; i++) {
        regions[i].from = zt__record_at(from, i);
        zt__lock(&into->mutex);
        regions[i].into = regions[i].from->is_phase
                              ? zt__find_or_add_phase_record(into, regions[i].from->name, &cause)
                              : zt__find_or_add_region(into, regions[i].from->name, &cause);
        zt__unlock(&into->mutex);
        has_memory = regions[i].into != NULL;
    }
    for (i = 0; i < path_count && has_memory; i++) {
        const zt__path *path = zt__path_at(from, i);
        zt__path *outer = path->key.outer->depth > 0 ? paths[path->key.outer->index].into : &into->root;
        zt__lock(&into->mutex);
        paths[i].into = zt__find_or_add_path(into, outer, regions[path->key.region->index].into);
        zt__unlock(&into->mutex);
        paths[i].is_left_out = path->key.region->is_phase && paths[i].into == outer;
        has_memory = paths[i].into &&
                     (paths[i].is_left_out || zt__copy_path(into, paths[i].into, from, path, &paths[i].from));
    }

    if (has_memory) {
        zt__lock(&from->mutex); /* regions may be dropped meanwhile, so the counts are of one moment */
        memcpy(causes, from->causes, sizeof causes);
        memory = from->memory_info;
        root = from->root.memory;
        unobserved_lists = from->counts.unobserved_lists;
        for (i = 0; i < region_count; i++) {
            regions[i].lost = regions[i].from->lost;
            regions[i].dropped = regions[i].from->dropped;
        }
        for (i = 0; i < path_count; i++) {
            const zt__path *path = zt__path_at(from, i);
            paths[i].from.outlives_outer = path->outlives_outer;
            paths[i].from.is_own_unknown = path->is_own_unknown;
            paths[i].from.missing = path->missing;
            paths[i].from.lost = path->lost;
            paths[i].from.dropped = path->dropped;
            paths[i].from.entered = path->entered;
            paths[i].from.incomplete = path->incomplete;
            paths[i].from.host_ns = path->host_ns;
            paths[i].from.host_own_ns = path->host_own_ns;
            paths[i].from.host_wait_ns = path->host_wait_ns;
            paths[i].from.power = path->power;
            paths[i].from.power_s = path->power_s;
            paths[i].from.memory = path->memory;
        }
        zt__unlock(&from->mutex);
        /* The mutex is unlocked between paths, so that other threads need not wait for all of them. */
        for (i = 0; i < path_count; i++) {
            const zt__path *added = &paths[i].from;
            zt__path *to = paths[i].into;
            if (paths[i].is_left_out) {
                continue;
            }
            zt__lock(&into->mutex);
            zt__merge_statistics(&into->layout, &to->statistics, &added->statistics);
            zt__merge_statistics(&into->entry_layout, &to->entries, &added->entries);
            zt__add_path_sums(to, added);
            zt__add_path_losses(to, added);
            to->entered += added->entered;
            to->host_ns += added->host_ns;
            to->host_own_ns += added->host_own_ns;
            to->host_wait_ns += added->host_wait_ns;
            zt__add_power(&to->power, &added->power, 1);
            to->power_s += added->power_s;
            if (!to->key.region->is_phase) {
                into->counts.collected += added->statistics.count;
                into->counts.begun += added->statistics.count;
            }
            zt__unlock(&into->mutex);
        }
        zt__lock(&into->mutex);
        zt__add_causes(into, causes, unobserved_lists);
        zt__add_memory(into, &memory, &root);
        for (i = 0; i < region_count; i++) {
            regions[i].into->lost += regions[i].lost;
            regions[i].into->dropped += regions[i].dropped;
        }
        zt__unlock(&into->mutex);
    }

    for (i = 0; i < path_count && paths; i++) {
        zt__free_statistics(allocator, &paths[i].from.statistics);
        zt__free_statistics(allocator, &paths[i].from.entries);
    }
    zt__free(allocator, regions);
    zt__free(allocator, paths);
    return has_memory;
}

ZT_API ze_result_t zt_merge(zt_profiler *into, const zt_profiler *from) {
    zt_profiler *source = zt__mutable(from), *first, *second;
    const char *mismatch = NULL; /* the first difference between what the profilers measure */
    uint64_t deadline;
    uint32_t i;
    int is_inside, is_locked, has_memory;
    if (!into || !from) {
        return ZE_RESULT_SUCCESS;
    }
    if (into == from) {
        return zt__report(&into->diagnostics, MERGE_SELF, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    }
    if (into->metric_count != from->metric_count) {
        mismatch = "one has more metrics";
    } else if (into->pass_count != from->pass_count) {
        mismatch = "one has more passes";
    } else if (into->tile_count != from->tile_count) {
        mismatch = "one has more tiles";
    }
    for (i = 0; i < into->metric_count && !mismatch; i++) {
        const zt_metric *one = &into->metrics[i], *other = &from->metrics[i];
        if (strcmp(one->name, other->name) != 0 || strcmp(one->group, other->group) != 0 ||
            strcmp(one->units, other->units) != 0 || one->aggregation != other->aggregation ||
            one->pass != other->pass) {
            mismatch = one->name;
        }
    }
    if (mismatch) {
        return zt__report(&into->diagnostics, LAYOUTS_DIFFER, ZE_RESULT_ERROR_INVALID_ARGUMENT, mismatch);
    }
    if (zt__refuse_inside_callback(into, "zt_merge")) {
        return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
    }
    /* Nothing is collected meanwhile: only the thread that holds a collector writes statistics. The collectors are
       locked in the order of their addresses, so that two threads that merge in opposite directions do not wait for
       each other. Inside a sample function, this thread holds that of `from` already. */
    is_inside = zt__is_owner(&source->collector);
    first = is_inside || (uintptr_t)into < (uintptr_t)from ? into : source;
    second = first == into ? source : into;
    deadline = zt__deadline(into->config.wait_timeout_ns);
    is_locked = zt__lock_until(&first->collector, deadline);
    if (is_locked && !is_inside && !zt__lock_until(&second->collector, deadline)) {
        zt__unlock_timed(&first->collector);
        is_locked = 0;
    }
    if (!is_locked) {
        return zt__report(&into->diagnostics, COLLECTOR_BUSY, ZE_RESULT_NOT_READY, "zt_merge");
    }
    has_memory = zt__add_profiler(into, source);
    if (!is_inside) {
        zt__unlock_timed(&source->collector);
    }
    zt__unlock_timed(&into->collector);
    return has_memory ? ZE_RESULT_SUCCESS
                      : zt__report_no_memory(&into->diagnostics, "zt_merge", "statistics");
}
