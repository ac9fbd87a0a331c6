/* Adds collected samples to the statistics of their paths. */

#include "regions/adding.h"

#include "base/compiler.h"
#include "base/numbers.h"
#include "metrics/statistics.h"
#include "regions/profiler.h"

ZT__PRIVATE int zt__reserve_room(zt_profiler *profiler, zt__path *path, uint64_t more) {
    return zt__reserve_samples(&profiler->config.allocator, &profiler->mutex, &profiler->layout,
                               &path->statistics, more);
}

ZT__PRIVATE void zt__add_to_path(zt_profiler *profiler, zt__path *path, uint32_t pass, const double *row,
                                 uint64_t bytes) {
    zt__add_sample(&profiler->layout, &path->statistics, row);
    path->with_metrics += profiler->passes[pass].group_count > 0;
    if (!zt__is_nan(row[0])) {
        path->missing--;
    }
    if (bytes) {
        path->bytes += bytes;
        path->bytes_ns += row[0];
    }
}
