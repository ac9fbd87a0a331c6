/* The metrics that a trace shows: of regions, and of a stream. */

#include "reports/trace_columns.h"

#include "base/compiler.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "regions/columns.h"
#include "regions/profiler.h"
#include "reports/trace_sink.h"
#include "results/ranking.h"
#include "results/results.h"
#include "results/roles.h"

enum { ZT__TRACE_COLUMNS = 8 }; /* the most that are chosen without config.columns */

ZT__PRIVATE int zt__choose_trace_columns(const zt_profiler *profiler, const zt_metric *metrics,
                                         uint32_t metric_count, const zt__mean_table *means, int is_stream,
                                         int several_groups, zt__trace_columns *chosen) {
    const zt_allocator *allocator = &profiler->config.allocator;
    size_t room = (size_t)metric_count + ZT__DERIVED_COLUMNS;
    zt__ranked_column *ranked = (zt__ranked_column *)zt__allocate(allocator, room, sizeof *ranked);
    uint32_t i, naming = ZT__NAMING_COUNT;
    int has_memory;
    chosen->columns = (zt__trace_column *)zt__allocate(allocator, room, sizeof *chosen->columns);
    has_memory = ranked && chosen->columns;
    memset(chosen->advice.metrics, 0xFF, sizeof chosen->advice.metrics);
    for (i = 0; i < metric_count; i++) {
        zt__match_roles(&metrics[i], i, chosen->advice.metrics, &naming);
    }
    if (has_memory) {
        chosen->count = zt__find_chosen_columns(profiler->columns, metrics, metric_count, ranked);
    }
    if (has_memory && chosen->count == 0) {
        chosen->count = zt__rank_columns(metrics, metric_count, &chosen->advice, means, ranked);
        if (chosen->count > ZT__TRACE_COLUMNS) {
            chosen->count = ZT__TRACE_COLUMNS;
        }
    }
    for (i = 0; i < chosen->count; i++) {
        zt__trace_column *column = &chosen->columns[i];
        const zt_metric *metric = ranked[i].metric == UINT32_MAX ? NULL : &metrics[ranked[i].metric];
        zt__quantity quantity = metric ? zt__quantity_of(metric) : ZT__QUANTITY_SHARE;
        const char *units = metric ? metric->units : "", *suffix = "";
        int adds_up = metric && (metric->aggregation == ZT_AGGREGATE_SUM || quantity == ZT__QUANTITY_BYTES);
        column->shown = ranked[i];
        column->scale = 1;
        column->is_rate = is_stream && adds_up;
        column->has_moments = quantity == ZT__QUANTITY_SHARE || quantity == ZT__QUANTITY_RATE;
        if (quantity == ZT__QUANTITY_SHARE) {
            units = "%";
        } else if (quantity == ZT__QUANTITY_RATE) {
            units = "GB/s";
            column->scale = zt__scale_of_rate(metric->units);
        } else if (column->is_rate && quantity == ZT__QUANTITY_BYTES) {
            units = "GB/s";
        } else if (column->is_rate && strcmp(units, "ns") == 0) {
            units = "% of time";
            column->scale = 100;
        } else if (column->is_rate) {
            suffix = "/s";
            column->scale = 1e9;
        }
        snprintf(column->label.text, sizeof column->label.text, "%s%s%s%s%s%s%s",
                 several_groups && metric ? metric->group : "", several_groups && metric ? "." : "",
                 metric ? metric->name : zt__roles[column->shown.role].name, *units || *suffix ? " [" : "",
                 units, suffix, *units || *suffix ? "]" : "");
    }
    zt__free(allocator, ranked);
    return has_memory;
}

ZT__PRIVATE void zt__compute_columns(const zt__trace_columns *columns, const double *values,
                                     uint32_t metric_count, double length_ns, double *figures) {
    const zt__mean_table row = {values, metric_count, 1};
    uint32_t i;
    for (i = 0; i < columns->count; i++) {
        const zt__trace_column *column = &columns->columns[i];
        figures[i] = zt__ranked_figure(&columns->advice, &row, 0, &column->shown) * column->scale;
        if (column->is_rate) {
            figures[i] = length_ns > 0 ? figures[i] / length_ns : zt__nan();
        }
    }
}

/* For zt__trace_counters. */
static const char *zt__column_label(const void *columns, uint32_t index) {
    return ((const zt__trace_column *)columns)[index].label.text;
}

ZT__PRIVATE void zt__declare_columns(zt__trace_sink *sink, const char *group, const char *prefix,
                                     const zt__trace_columns *columns) {
    zt__trace_counters counters;
    counters.kind = ZT__COUNTERS_OF_COMPUTE;
    counters.group = group;
    counters.prefix = prefix;
    counters.label_at = zt__column_label;
    counters.labels = columns->columns;
    counters.count = columns->count;
    sink->format->declare_counters(sink, &counters);
}
