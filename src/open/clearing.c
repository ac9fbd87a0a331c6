/* zt_clear: the figures of samples start anew. */

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/platform.h"
#include "base/threads.h"
#include "metrics/statistics.h"
#include "regions/names.h"
#include "regions/profiler.h"
#include "results/timeline.h"
#include "tracer/call_times.h"
#include "tracer/results.h"

/* Clears what was collected and counted on a path. What is allocated in a phase and not freed yet stays, and so does that
   its own time is not known. */
static void zt__clear_path(const zt_profiler *profiler, zt__path *path) {
    uint32_t i;
    zt__clear_statistics(&profiler->layout, &path->statistics);
    zt__clear_statistics(&profiler->entry_layout, &path->entries);
    for (i = 0; i < path->streamed_count; i++) {
        memset(&path->streamed[i], 0, sizeof path->streamed[i]);
    }
    path->lost = path->dropped = path->missing = path->kept = path->with_metrics = path->bytes = 0;
    path->bytes_ns = path->launch_error_ns = 0;
    path->outlives_outer = 0;
    path->entered = path->incomplete = path->host_ns = path->host_own_ns = 0;
    path->host_wait_ns = path->power_s = 0;
    memset(&path->power, 0, sizeof path->power);
    path->memory.allocations = path->memory.unfreed;
    path->memory.has_ended = 0;
    path->memory.peak_bytes = path->memory.end_bytes = 0;
}

/* Calls a function with the path of each sample that is on its way, and of each open region. */
static void zt__visit_unfinished(zt_profiler *profiler, void (*visit)(zt__path *path)) {
    const zt__recording *recording;
    const zt__list *list;
    const zt__probe *probe;
    for (recording = profiler->all_recordings; recording; recording = recording->next_of_all) {
        for (probe = recording->first; probe; probe = probe->next) {
            if (probe->is_due) {
                visit(probe->path);
            }
        }
    }
    for (list = profiler->lists; list; list = list->next) {
        for (probe = list->innermost; probe; probe = probe->outer) {
            visit(probe->path);
        }
    }
}

static void zt__count_unfinished(zt__path *path) {
    path->missing++;
}

/* Samples inside of the one that is not finished may have been collected, and are cleared. */
static void zt__mark_own_unknown(zt__path *path) {
    const zt__path *inner;
    for (inner = path->inner; inner; inner = inner->next_inner) {
        path->is_own_unknown |= inner->statistics.count > 0;
    }
}

/* Clears all paths. With the collector and the mutex held. */
static void zt__clear_paths(zt_profiler *profiler) {
    uint32_t i;
    for (i = 0; i < profiler->path_count; i++) {
        zt__path_at(profiler, i)->is_own_unknown = 0;
    }
    zt__visit_unfinished(profiler, zt__mark_own_unknown);
    for (i = 0; i < profiler->path_count; i++) {
        zt__clear_path(profiler, zt__path_at(profiler, i));
    }
    zt__clear_path(profiler, &profiler->root);
    profiler->root.is_own_unknown = 0;
    for (i = 0; i < profiler->region_count; i++) {
        profiler->regions[i]->lost = profiler->regions[i]->dropped = 0;
    }
    zt__visit_unfinished(profiler, zt__count_unfinished);
}

ZT_API ze_result_t zt_clear(zt_profiler *profiler) {
    uint64_t in_flight;
    if (!profiler) {
        return ZE_RESULT_SUCCESS;
    }
    if (zt__is_owner(&profiler->collector)) {
        return zt__report(&profiler->diagnostics, INSIDE_CALLBACK, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                          "zt_clear");
    }
    /* The thread that holds the collector is the only one that writes statistics. */
    if (!zt__lock_until(&profiler->collector, zt__deadline(profiler->config.wait_timeout_ns))) {
        return zt__report(&profiler->diagnostics, COLLECTOR_BUSY, ZE_RESULT_NOT_READY, "zt_clear");
    }
    zt__lock(&profiler->mutex);
    in_flight = profiler->counts.begun - profiler->counts.collected - profiler->counts.lost -
                profiler->counts.dropped;
    memset(&profiler->counts, 0, sizeof profiler->counts);
    memset(profiler->causes, 0, sizeof profiler->causes);
    profiler->counts.begun = in_flight;
    profiler->moved_samples = 0;
    profiler->cleared_ns = zt__now_ns();
    zt__clear_paths(profiler);
    if (profiler->timeline) {
        zt__clear_timeline(profiler->timeline);
    }
    zt__unlock(&profiler->mutex);
    zt__unlock_timed(&profiler->collector);
#ifdef ZETOOLS_TRACER
    if (zt__calls_to_report(profiler) > 0) {
        zt__clear_calls(zt__load(&profiler->tracer));
    }
#endif
    return ZE_RESULT_SUCCESS;
}
