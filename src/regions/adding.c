/* What was read and calculated is counted, and added to the statistics of its path. */

#include "regions/adding.h"

#include "base/compiler.h"
#include "base/numbers.h"
#include "base/platform.h"
#include "base/threads.h"
#include "metrics/statistics.h"
#include "regions/phases.h"
#include "regions/profiler.h"
#include "regions/recordings.h"

ZT__PRIVATE int zt__reserve_room(zt_profiler *profiler, const zt__reading *reading, uint64_t more) {
    zt__path *path = reading->path;
    int has_room = 1;
    for (; path && has_room; path = zt__next_counting(path, reading->outer_phase)) {
        has_room = zt__reserve_samples(&profiler->config.allocator, &profiler->mutex, &profiler->layout,
                                       &path->statistics, more);
    }
    return has_room;
}

ZT__PRIVATE void zt__count_reading(zt_profiler *profiler, zt__reading *reading, double *row) {
    zt__path *path = reading->path;
    if (reading->outcome == ZT__NO_SAMPLE) {
        return;
    }
    if (reading->owed == ZT__OWED_SAMPLE) {
        profiler->awaited--;
    } else {
        zt__count_begun(profiler, path);
        path->missing +=
            reading->owed == ZT__OWED_AGAIN; /* there may have been more executions than this one */
    }
    if (reading->never_began) {
        zt__release_entry(profiler, &reading->entry);
        profiler->counts.begun--;
        path->missing--;
        return;
    }
    zt__add_to_entries(profiler, reading->outer_phase, &reading->entry,
                       reading->outcome == ZT__READ ? row[0] : zt__nan());
    if (reading->outcome == ZT__MISSED) {
        zt__missing missing = {reading->region,
                               path,
                               reading->times.list,
                               reading->origin.list_name,
                               reading->submitted_ns,
                               reading->cause,
                               1,
                               0};
        zt__count_missing(profiler, &missing);
        return;
    }
    profiler->counts.collected++;
    if (profiler->sample_collected) {
        profiler->sample_collected(profiler, reading, row);
    }
    if (!zt__is_nan(row[0])) {
        path->missing--;
    }
    for (; path; path = zt__next_counting(path, reading->outer_phase)) {
        path->with_metrics += profiler->batch.pass->group_count > 0;
        if (reading->bytes && !zt__is_nan(row[0])) {
            path->bytes += reading->bytes;
            path->bytes_ns += row[0];
        }
        if (path->launch_error_ns < reading->launch_error_ns) {
            path->launch_error_ns = reading->launch_error_ns;
        }
    }
}

ZT__PRIVATE void zt__add_batch(zt_profiler *profiler) {
    const zt__batch *batch = &profiler->batch;
    const double *rows[ZT__BATCH];
    char is_added[ZT__BATCH] = {0};
    uint32_t i, j, count;
    for (i = 0; i < batch->count; i++) {
        const zt__reading *first = &batch->readings[i];
        zt__path *path = first->outcome == ZT__READ && !is_added[i] ? first->path : NULL;
        for (j = i, count = 0; path && j < batch->count; j++) {
            const zt__reading *reading = &batch->readings[j];
            if (reading->path == path && reading->outer_phase == first->outer_phase &&
                reading->outcome == ZT__READ) {
                rows[count++] = batch->rows + (size_t)j * profiler->row_length;
                is_added[j] = 1;
            }
        }
        for (; path; path = zt__next_counting(path, first->outer_phase)) {
            zt__add_several(&profiler->layout, &path->statistics, rows, count);
        }
    }
}

ZT__PRIVATE void zt__add_ended_entries(zt_profiler *profiler) {
    while (profiler->ended_entries) {
        zt__entry *entry = profiler->ended_entries;
        int is_all, has_room;
        profiler->ended_entries = entry->next;
        zt__unlock(&profiler->mutex);
        is_all = !entry->whole || zt__leave_whole_entry(entry);
        has_room = zt__reserve_samples(&profiler->config.allocator, &profiler->mutex, &profiler->entry_layout,
                                       &entry->path->entries, 1);
        zt__lock(&profiler->mutex);
        if (!is_all || entry->begun_ns < profiler->cleared_ns) {
            /* another part counts it, or zt_clear was called since it began */
        } else if (entry->is_incomplete || (entry->has_work && !has_room)) {
            entry->path->incomplete++;
        } else if (entry->has_work) {
            zt__add_sample(&profiler->entry_layout, &entry->path->entries, &entry->gpu_ns);
        }
        zt__free_entry(profiler, entry);
    }
}

ZT__PRIVATE void zt__try_add_ended_entries(zt_profiler *profiler) {
    if (zt__try_lock(&profiler->collector)) {
        zt__lock(&profiler->mutex);
        zt__add_ended_entries(profiler);
        zt__unlock(&profiler->mutex);
        zt__unlock_timed(&profiler->collector);
    }
}
