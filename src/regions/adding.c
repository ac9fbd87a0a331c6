/* What was read and calculated is counted, and added to the statistics of its region. */

#include "regions/adding.h"

#include "base/compiler.h"
#include "base/numbers.h"
#include "metrics/statistics.h"
#include "regions/columns.h"
#include "regions/profiler.h"
#include "regions/recordings.h"

/* Adds a sample to the statistics of its region and its path. */
static void zt__add_to_statistics(zt_profiler *profiler, const zt__reading *reading, const double *row) {
    const zt__pass *pass = profiler->batch.pass;
    zt__region_record *region = reading->region;
    zt__path *path = reading->path;
    double times[ZT__TIME_COLUMNS];
    times[0] = row[0];
    memcpy(times + 1, row + zt__latency_column(profiler, 0), ZT_LATENCY_COUNT * sizeof *row);
    zt__add_sample(&profiler->times_layout, &region->times, 0, times);
    if (pass->group_count) {
        zt__add_sample(&profiler->layout, &region->statistics, pass->index, row);
    }
    if (reading->bytes) {
        region->bytes += reading->bytes;
        region->bytes_ns += row[0];
    }
    if (!zt__is_nan(row[0])) {
        path->count++;
        path->time_ns += row[0];
        path->missing--;
    }
}

ZT__PRIVATE void zt__count_reading(zt_profiler *profiler, const zt__reading *reading, double *row) {
    if (reading->outcome == ZT__NO_SAMPLE) {
        return;
    }
    if (reading->begins) {
        zt__count_begun(profiler, reading->path);
        reading->path->missing += (uint64_t)reading->has_others;
    } else {
        profiler->awaited--;
    }
    if (reading->never_began) {
        profiler->counts.begun--;
        reading->path->missing--;
        return;
    }
    if (reading->outcome == ZT__LOST) {
        zt__missing missing = {reading->region,
                               reading->times.list,
                               reading->list_name,
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
    zt__add_to_statistics(profiler, reading, row);
}
