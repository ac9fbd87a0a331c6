/* Where GPU time, metrics, tiles, passes and latencies are in the row of a sample. Not the columns of reports. */

#include "regions/columns.h"

#include "base/compiler.h"
#include "base/memory.h"
#include "regions/profiler.h"

ZT__PRIVATE uint32_t zt__pass_time_column(const zt_profiler *profiler, uint32_t pass) {
    return profiler->pass_count == 1 ? 0 : 1 + profiler->metric_count + pass;
}

ZT__PRIVATE uint32_t zt__tile_column(const zt_profiler *profiler, uint32_t tile, uint32_t metric) {
    uint32_t first = 1 + profiler->metric_count + (profiler->pass_count == 1 ? 0 : profiler->pass_count);
    return first + tile * profiler->metric_count + metric;
}

ZT__PRIVATE uint32_t zt__latency_column(const zt_profiler *profiler, uint32_t latency) {
    return zt__tile_column(profiler, profiler->tile_count, 0) + latency;
}

ZT__PRIVATE int zt__lay_out_columns(zt_profiler *profiler) {
    static const zt_aggregation of_times[ZT__TIME_COLUMNS] = {ZT_AGGREGATE_SUM, ZT_AGGREGATE_SUM,
                                                              ZT_AGGREGATE_SUM};
    uint32_t metric, tile, pass, count = zt__latency_column(profiler, 0);
    zt_aggregation *aggregations =
        (zt_aggregation *)zt__allocate(&profiler->config.allocator, count, sizeof *aggregations);
    if (!aggregations) {
        return 0;
    }
    aggregations[0] = ZT_AGGREGATE_SUM;
    for (pass = 0; pass < profiler->pass_count; pass++) {
        aggregations[zt__pass_time_column(profiler, pass)] = ZT_AGGREGATE_SUM;
    }
    for (metric = 0; metric < profiler->metric_count; metric++) {
        aggregations[1 + metric] = profiler->metrics[metric].aggregation;
        for (tile = 0; tile < profiler->tile_count; tile++) {
            aggregations[zt__tile_column(profiler, tile, metric)] = profiler->metrics[metric].aggregation;
        }
    }
    profiler->column_aggregations = aggregations;
    profiler->layout.column_count = count;
    profiler->layout.aggregations = aggregations;
    profiler->times_layout.column_count = ZT__TIME_COLUMNS;
    profiler->times_layout.aggregations = of_times;
    profiler->layout.row_limit = profiler->times_layout.row_limit = profiler->config.samples;
    profiler->row_length = count + ZT_LATENCY_COUNT;
    return 1;
}
