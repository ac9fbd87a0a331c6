/* The metrics that a trace shows: of regions, and of a stream. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"
#include "reports/trace_sink.h"
#include "results/ranking.h"
#include "results/roles.h"

/* A metric with its units, such as "GPU_BUSY [%]", after its group if there are several. */
typedef struct zt__label {
    char text[ZET_MAX_METRIC_GROUP_NAME + ZET_MAX_METRIC_NAME + ZET_MAX_METRIC_RESULT_UNITS + 8];
} zt__label;

/* A column of figures. */
typedef struct zt__trace_column {
    zt__ranked_column shown;
    zt__label label;
    double scale;
    int is_rate;     /* divided by the length of the row in nanoseconds */
    int has_moments; /* a share or a rate, which is 0 while nothing runs */
} zt__trace_column;

typedef struct zt__trace_columns {
    zt__advice advice; /* the metrics by their roles */
    zt__trace_column *columns;
    uint32_t count;
} zt__trace_columns;

/* Chooses what is shown: what config.columns names; if it names none of these metrics, the first that tables
   show. Of regions, figures are those of the sample. Of streams, what adds up is shown as a rate, because rows
   differ in length. Returns 0 without memory. */
ZT__PRIVATE int zt__choose_trace_columns(const zt_profiler *profiler, const zt_metric *metrics,
                                         uint32_t metric_count, const zt__mean_table *means, int is_stream,
                                         int several_groups, zt__trace_columns *chosen);

/* Computes the figures of a row of metrics. `length_ns` is how long it lasted. */
ZT__PRIVATE void zt__compute_columns(const zt__trace_columns *columns, const double *values,
                                     uint32_t metric_count, double length_ns, double *figures);

/* Declares the columns as counters. */
ZT__PRIVATE void zt__declare_columns(zt__trace_sink *sink, const char *group, const char *prefix,
                                     const zt__trace_columns *columns);
