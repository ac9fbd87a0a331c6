/* Rows of figures, from what was read. */

#include "regions/calculating.h"

#include "base/compiler.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/platform.h"
#include "metrics/calculation.h"
#include "metrics/groups.h"
#include "regions/adding.h"
#include "regions/columns.h"
#include "regions/profiler.h"
#include "regions/reading.h"

static const double zt__two_to_64 = 18446744073709551616.0;

/* Fills the row of a sample, and checks whether its flags or its GPU time show that it is invalid. */
static void zt__fill_row(const zt_profiler *profiler, zt__reading *reading, double *row) {
    const zt__batch *batch = &profiler->batch;
    const zt__pass *pass = batch->pass;
    uint64_t mask = reading->times.is_kernel ? profiler->kernel_tick_mask : profiler->tick_mask;
    uint64_t ticks = (reading->times.end_ticks - reading->times.begin_ticks) & mask;
    static const char *const clocks[] = {"ns", "us", "ms", "s", "cycles"};
    double longest_ns, turn_ns, excess_ns;
    uint32_t g, m, tile, i;
    memset(row, 0xff, profiler->row_length * sizeof *row); /* NaN: what is not measured */
    for (g = 0; g < pass->group_count; g++) {
        const zt__group *group = &pass->groups[g];
        const zet_typed_value_t *values =
            batch->values[g] + (size_t)reading->report * group->metric_count * group->tiles;
        for (tile = 0; tile < group->tiles; tile++) {
            double *to = row + (profiler->tile_count ? zt__tile_column(profiler, tile, group->first_metric)
                                                     : 1 + group->first_metric);
            for (m = 0; m < group->metric_count; m++) {
                to[m] = zt__value_of(values++);
            }
        }
    }

    /* The values of the tiles are combined into that of the whole root device. Times, clock cycles and flags
       are the largest of the tiles, because tiles run at the same time. Other sums are added. Means are
       weighted by the GPU time of the tiles. A metric that is not aggregated is that of the first tile. */
    for (m = 0; m < profiler->metric_count && profiler->tile_count; m++) {
        const zt_metric *metric = &profiler->metrics[m];
        int takes_largest = metric->aggregation == ZT_AGGREGATE_FLAG;
        double whole = zt__nan(), weights = 0;
        for (i = 0; i < ZT__COUNT_OF(clocks) && metric->aggregation == ZT_AGGREGATE_SUM; i++) {
            takes_largest |= strcmp(metric->units, clocks[i]) == 0;
        }
        for (tile = 0; tile < profiler->tile_count; tile++) {
            double value = row[zt__tile_column(profiler, tile, m)], weight = 1;
            if (metric->aggregation == ZT_AGGREGATE_MEAN && pass->time_metric != UINT32_MAX) {
                weight = row[zt__tile_column(profiler, tile, pass->time_metric)];
            }
            if (zt__is_nan(value) || !zt__is_positive(weight)) {
                continue;
            }
            weights += weight;
            if (zt__is_nan(whole)) {
                whole = value;
            } else if (metric->aggregation == ZT_AGGREGATE_MEAN) {
                whole += (value - whole) * weight / weights;
            } else if (takes_largest) {
                whole = value > whole ? value : whole;
            } else if (metric->aggregation == ZT_AGGREGATE_SUM) {
                whole += value;
            }
        }
        row[1 + m] = whole;
    }

    /* No sample takes longer than from its submission to the moment at which it was seen complete. The limit has
       a margin, because the device's clock may run a little faster than the host's. */
    longest_ns = (double)(reading->times.not_after_ns - reading->times.not_before_ns);
    turn_ns = ((double)mask + 1) * profiler->ns_per_tick;
    excess_ns = profiler->facts.timer_hz ? zt__two_to_64 / (double)profiler->facts.timer_hz : 0;
    if (pass->time_metric == UINT32_MAX) {
        row[0] = (double)ticks * profiler->ns_per_tick;
        if (longest_ns >= turn_ns) { /* the clock may have turned once more than the ticks show */
            zt__lose(reading, ZT_LOST_IMPLAUSIBLE);
        }
    } else {
        /* The GPU time of a region around another, on a list that is executed again, is exactly 2^64 ticks of the
           device's clock too long, without a flag. */
        double *time_ns = &row[1 + pass->time_metric];
        if (!profiler->tile_count && *time_ns > longest_ns * 1.0625 + 1e6 && *time_ns >= excess_ns &&
            *time_ns - excess_ns <= longest_ns) {
            *time_ns -= excess_ns;
        }
        row[0] = *time_ns;
    }
    if (pass->index != ZT__TIMES_PASS) {
        row[zt__pass_time_column(profiler, pass->index)] = row[0];
    }
    for (i = 0; i < profiler->lost_flag_count; i++) {
        if (zt__is_positive(row[profiler->lost_flags[i].column])) {
            zt__lose(reading, profiler->lost_flags[i].cause);
        }
    }
    if (reading->outcome == ZT__READ && row[0] > longest_ns * 1.0625 + 1e6) {
        zt__lose(reading, ZT_LOST_IMPLAUSIBLE);
    }
}

ZT__PRIVATE void zt__calculate_batch(zt_profiler *profiler) {
    zt__batch *batch = &profiler->batch;
    uint32_t g, i;
    for (g = 0; g < batch->pass->group_count && batch->report_count > 0; g++) {
        zt__group *group = &batch->pass->groups[g];
        size_t report_values = (size_t)group->metric_count * group->tiles;
        void *values = batch->values[g];
        ze_result_t result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
        int has_room = zt__ensure_room(profiler, &values, &batch->value_count[g], ZT__BATCH * report_values,
                                       sizeof *batch->values[g]);
        batch->values[g] = has_room ? (zet_typed_value_t *)values : NULL;
        if (has_room) {
            result = zt__calculate_reports(&profiler->driver, group, batch->raw[g], batch->report_count,
                                           batch->values[g]);
        }
        for (i = 0; i < batch->count && result != ZE_RESULT_SUCCESS; i++) {
            zt__reading *reading = &batch->readings[i];
            ze_result_t alone = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
            if (reading->outcome == ZT__READ && has_room) {
                alone = zt__calculate_reports(&profiler->driver, group,
                                              batch->raw[g] + reading->report * group->report_size, 1,
                                              batch->values[g] + reading->report * report_values);
            }
            if (reading->outcome == ZT__READ && alone != ZE_RESULT_SUCCESS) {
                reading->result = alone;
                reading->call = !has_room           ? "config.allocator"
                                : group->tiles == 1 ? "zetMetricGroupCalculateMetricValues"
                                                    : "zetMetricGroupCalculateMultipleMetricValuesExp";
                zt__lose(reading, ZT_LOST_READ_FAILED);
            }
        }
    }
    for (i = 0; i < batch->count; i++) {
        zt__reading *reading = &batch->readings[i];
        if (reading->outcome == ZT__READ) {
            zt__fill_row(profiler, reading, batch->rows + (size_t)i * profiler->row_length);
        }
        if (reading->outcome == ZT__READ && !zt__reserve_room(profiler, reading, batch->count)) {
            zt__lose(reading, ZT_DROPPED_NO_MEMORY);
        }
    }
}
