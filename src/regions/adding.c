/* What was read and calculated is counted, and added to the statistics of its path. */

#include "regions/adding.h"

#include "base/compiler.h"
#include "base/numbers.h"
#include "metrics/statistics.h"
#include "regions/profiler.h"
#include "regions/recordings.h"

ZT__PRIVATE int zt__reserve_room(zt_profiler *profiler, zt__path *path, uint64_t more) {
    return zt__reserve_samples(&profiler->config.allocator, &profiler->mutex, &profiler->layout,
                               &path->statistics, more);
}

ZT__PRIVATE void zt__count_reading(zt_profiler *profiler, zt__reading *reading, double *row) {
    zt__path *path = reading->path;
    if (reading->outcome == ZT__NO_SAMPLE) {
        return;
    }
    if (reading->begins) {
        zt__count_begun(profiler, path);
        path->missing += (uint64_t)reading->has_others;
    } else {
        profiler->awaited--;
    }
    if (reading->never_began) {
        profiler->counts.begun--;
        path->missing--;
        return;
    }
    if (reading->outcome == ZT__LOST) {
        zt__missing missing = {reading->region,
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
    reading->is_collected = 1;
    path->with_metrics += profiler->batch.pass->group_count > 0;
    if (!zt__is_nan(row[0])) {
        path->missing--;
    }
    if (reading->bytes) {
        path->bytes += reading->bytes;
        path->bytes_ns += row[0];
    }
}

ZT__PRIVATE void zt__add_batch(zt_profiler *profiler) {
    zt__batch *batch = &profiler->batch;
    const double *rows[ZT__BATCH];
    uint32_t i, j;
    for (i = 0; i < batch->count; i++) {
        zt__path *path = batch->readings[i].path;
        uint32_t count = 0;
        for (j = i; j < batch->count && batch->readings[i].is_collected; j++) {
            if (batch->readings[j].path == path && batch->readings[j].is_collected) {
                rows[count++] = batch->rows + (size_t)j * profiler->row_length;
            }
        }
        for (j = i; j < batch->count && count > 0; j++) {
            batch->readings[j].is_collected &= batch->readings[j].path != path;
        }
        if (count > 0) {
            zt__add_rows(&profiler->layout, &path->statistics, rows, count);
        }
    }
}
