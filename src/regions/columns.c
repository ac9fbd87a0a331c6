/* Where GPU time, metrics, tiles, passes and latencies are in the row of a sample. Not the columns of reports. */

#include "regions/columns.h"

#include "base/compiler.h"
#include "base/memory.h"
#include "regions/profiler.h"

/* Returns how many columns of GPU times of passes there are. */
static uint32_t zt__count_pass_times(const zt_profiler *profiler) {
    return profiler->metric_count > 0 ? profiler->pass_count : 0;
}

ZT__PRIVATE uint32_t zt__pass_time_column(const zt_profiler *profiler, uint32_t pass) {
    return profiler->metric_count > 0 ? 1 + profiler->metric_count + pass : 0;
}

ZT__PRIVATE uint32_t zt__tile_column(const zt_profiler *profiler, uint32_t tile, uint32_t metric) {
    uint32_t first = 1 + profiler->metric_count + zt__count_pass_times(profiler);
    return first + tile * profiler->metric_count + metric;
}

ZT__PRIVATE uint32_t zt__latency_column(const zt_profiler *profiler, uint32_t latency) {
    return zt__tile_column(profiler, profiler->tile_count, 0) + latency;
}

ZT__PRIVATE uint32_t zt__time_column(const zt_profiler *profiler, uint32_t column) {
    uint32_t metric = column - 1, first = zt__tile_column(profiler, 0, 0);
    if (column >= first && column < zt__latency_column(profiler, 0)) {
        metric = (column - first) % profiler->metric_count;
    }
    return metric < profiler->metric_count ? zt__pass_time_column(profiler, profiler->metrics[metric].pass)
                                           : UINT32_MAX;
}

/* Returns whether the values of a column are kept for quantiles: all if config.samples asks for it. Otherwise the
   GPU times, also those of passes where they are compared, and the latencies if they are measured. */
static int zt__keeps_column(const zt_profiler *profiler, uint32_t column) {
    return column == 0 || profiler->config.samples > 0 ||
           (profiler->pass_count > 1 && column >= zt__pass_time_column(profiler, 0) &&
            column < zt__tile_column(profiler, 0, 0)) ||
           (profiler->keeps_latencies && column >= zt__latency_column(profiler, 0));
}

ZT__PRIVATE int zt__lay_out_columns(zt_profiler *profiler) {
    enum { GPU_TIMES_KEPT = 512 };
    zt__sample_layout *layout = &profiler->layout;
    uint32_t column, metric, tile, count = zt__latency_column(profiler, ZT__LATENCY_COUNT);
    zt_aggregation *aggregations =
        (zt_aggregation *)zt__allocate(&profiler->config.allocator, count, sizeof *aggregations);
    uint32_t *kept = (uint32_t *)zt__allocate(&profiler->config.allocator, count, sizeof *kept);
    profiler->column_aggregations = aggregations;
    profiler->kept_columns = kept;
    if (!aggregations || !kept) {
        return 0;
    }
    for (column = 0; column < count; column++) {
        aggregations[column] = ZT_AGGREGATE_SUM; /* of times */
        if (zt__keeps_column(profiler, column)) {
            kept[layout->kept_count++] = column;
        }
    }
    for (metric = 0; metric < profiler->metric_count; metric++) {
        aggregations[1 + metric] = profiler->metrics[metric].aggregation;
        for (tile = 0; tile < profiler->tile_count; tile++) {
            aggregations[zt__tile_column(profiler, tile, metric)] = profiler->metrics[metric].aggregation;
        }
    }
    layout->column_count = profiler->row_length = count;
    layout->row_limit = profiler->config.samples > 0 ? profiler->config.samples : (uint32_t)GPU_TIMES_KEPT;
    layout->kept_columns = kept;
    layout->aggregations = aggregations;
    profiler->entry_layout = *layout;
    profiler->entry_layout.column_count = profiler->entry_layout.kept_count = 1;
    return 1;
}
