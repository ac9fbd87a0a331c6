/* zt_merge: statistics of several profilers. */

#include "results/merging.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/memory.h"
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
    zt__statistics times, statistics; /* copies of those of `from` */
    uint64_t lost, dropped, bytes;
    double bytes_ns, launch_error_ns;
} zt__merged_region;

/* A path of the other profiler, copied, and the one that it is added to. */
typedef struct zt__merged_path {
    zt__path *into;
    zt__path from;
} zt__merged_path;

/* Makes room in `to`, which is of the profiler `into`, for the statistics that are added. Returns 0 without
   memory. */
static int zt__prepare_statistics(zt_profiler *into, const zt__sample_layout *layout, zt__statistics *to,
                                  const zt__statistics *added) {
    uint64_t samples = zt__samples_per_pass(added), rows;
    if (!added->moments) { /* there are no samples */
        return 1;
    }
    if (!zt__reserve_samples(&into->config.allocator, &into->mutex, layout, to,
                             samples < UINT32_MAX ? (uint32_t)samples : UINT32_MAX)) {
        return 0;
    }
    /* This also succeeds without memory for rows, but then rows that are kept now would be lost. */
    rows = (uint64_t)to->kept + added->kept;
    return to->capacity >= (rows < layout->row_limit ? rows : layout->row_limit);
}

ZT__PRIVATE void zt__add_causes(zt_profiler *into, const uint64_t *causes, uint64_t unobserved_lists) {
    uint32_t i;
    for (i = 0; i < ZT_CAUSE_COUNT; i++) {
        into->causes[i] += causes[i];
        into->counts.begun += causes[i];
        if (i < ZT_DROPPED_NO_SLOT) {
            into->counts.lost += causes[i];
        } else {
            into->counts.dropped += causes[i];
        }
    }
    into->counts.unobserved_lists += unobserved_lists;
}

/* Adds the statistics of `from` to `into`. Both collectors are held, so nobody else writes statistics. Returns
   0 without memory: then no figure has changed, so nothing is merged in part. */
static int zt__add_profiler(zt_profiler *into, zt_profiler *from) {
    const zt_allocator *allocator = &into->config.allocator;
    uint32_t path_count = zt__get_path_count(from); /* first, so that their regions are counted, too */
    uint32_t i, region_count = zt__get_region_count(from);
    zt__merged_region *merged, *end,
        *regions = (zt__merged_region *)zt__allocate(allocator, region_count + 1u, sizeof *regions);
    zt__merged_path *paths = (zt__merged_path *)zt__allocate(allocator, path_count + 1u, sizeof *paths);
    uint64_t collected, unobserved_lists, causes[ZT_CAUSE_COUNT];
    zt_cause cause;
    int has_memory = regions && paths;

    /* What is added is copied, and room for it is made. */
    end = regions ? regions + region_count : NULL;
    for (merged = regions; merged < end && has_memory; merged++) {
        merged->from = zt__record_at(from, (uint32_t)(merged - regions));
        has_memory = zt__copy_statistics(from, &from->times_layout, &merged->from->times, &merged->times) &&
                     zt__copy_statistics(from, &from->layout, &merged->from->statistics, &merged->statistics);
        if (has_memory) {
            zt__lock(&into->mutex);
            merged->into = zt__find_or_add_region(into, merged->from->name, &cause);
            zt__unlock(&into->mutex);
            has_memory =
                merged->into &&
                zt__prepare_statistics(into, &into->times_layout, &merged->into->times, &merged->times) &&
                zt__prepare_statistics(into, &into->layout, &merged->into->statistics, &merged->statistics);
        }
    }
    zt__lock(&from->mutex); /* the paths are of one moment */
    for (i = 0; i < path_count && has_memory; i++) {
        paths[i].from = *zt__path_at(from, i);
    }
    zt__unlock(&from->mutex);
    zt__lock(&into->mutex);
    for (i = 0; i < path_count && has_memory; i++) {
        const zt__path_key *key = &paths[i].from.key;
        zt__path *outer = key->outer->depth > 0 ? paths[key->outer->index].into : &into->root;
        paths[i].into = zt__find_or_add_path(into, outer, regions[key->region->index].into);
        has_memory = paths[i].into != NULL;
    }
    zt__unlock(&into->mutex);

    if (has_memory) {
        zt__lock(&from->mutex); /* regions may be dropped meanwhile, so the counts are of one moment, too */
        memcpy(causes, from->causes, sizeof causes);
        unobserved_lists = from->counts.unobserved_lists;
        for (merged = regions; merged < end; merged++) {
            merged->lost = merged->from->lost;
            merged->dropped = merged->from->dropped;
            merged->bytes = merged->from->bytes;
            merged->bytes_ns = merged->from->bytes_ns;
            merged->launch_error_ns = merged->from->launch_error_ns;
        }
        zt__unlock(&from->mutex);
        /* The mutex is unlocked between regions, so that other threads need not wait for all of them. */
        for (merged = regions; merged < end; merged++) {
            zt__region_record *to = merged->into;
            collected = zt__collected(into, &merged->times);
            zt__lock(&into->mutex);
            zt__merge_statistics(&into->times_layout, &to->times, &merged->times);
            zt__merge_statistics(&into->layout, &to->statistics, &merged->statistics);
            to->lost += merged->lost;
            to->dropped += merged->dropped;
            to->bytes += merged->bytes;
            to->bytes_ns += merged->bytes_ns;
            if (to->launch_error_ns < merged->launch_error_ns) {
                to->launch_error_ns = merged->launch_error_ns;
            }
            into->counts.collected += collected;
            into->counts.begun += collected;
            zt__unlock(&into->mutex);
        }
        zt__lock(&into->mutex);
        zt__add_causes(into, causes, unobserved_lists);
        for (i = 0; i < path_count; i++) {
            zt__path *to = paths[i].into;
            to->outlives_outer |= paths[i].from.outlives_outer;
            to->is_own_unknown |= paths[i].from.is_own_unknown;
            to->count += paths[i].from.count;
            to->time_ns += paths[i].from.time_ns;
            to->missing += paths[i].from.missing;
        }
        zt__unlock(&into->mutex);
    }

    for (merged = regions; merged < end; merged++) {
        zt__free_statistics(&from->config.allocator, &merged->times);
        zt__free_statistics(&from->config.allocator, &merged->statistics);
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
    /* The thread that holds the collector is the only one that writes statistics. */
    if (zt__refuse_inside_callback(into, "zt_merge")) {
        return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
    }
    /* Nothing is collected meanwhile. The collectors are locked in the order of their addresses, so that two
       threads that merge in opposite directions do not wait for each other. Inside a sample function, this
       thread holds that of `from` already. */
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
