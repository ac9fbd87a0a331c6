/* Orders metrics by how much they tell, and so chooses the columns of tables. */

#pragma once

#include "base/compiler.h"
#include "base/figures.h"
#include "base/system.h"
#include "regions/profiler.h"
#include "results/roles.h"

/* A column of a table: a metric, or a share that is derived from two metrics. */
typedef struct zt__ranked_column {
    uint32_t metric; /* UINT32_MAX: derived */
    zt__role role;   /* ZT__NO_ROLE: none is known */
} zt__ranked_column;

/* The figures by which columns are ranked: for each region, the mean of each metric. */
typedef struct zt__mean_table {
    const double *means;
    size_t stride; /* from one region to the next */
    uint32_t region_count;
} zt__mean_table;

enum { ZT__DERIVED_COLUMNS = 2 };

/* Reads the means of all metrics in the first regions, for a zt__mean_table with a stride of metric_count.
   Returns NULL without memory. */
ZT__PRIVATE double *zt__read_means(zt_profiler *profiler, uint32_t region_count);

/* Returns the figure of a column in a region: the mean of a metric, or a derived share in percent. */
ZT__PRIVATE double zt__ranked_figure(const zt__advice *advice, const zt__mean_table *table, uint32_t region,
                                     const zt__ranked_column *column);

/* Ranks metrics, of which `advice->metrics` has the roles: those with a role first, in the order of
   zt__roles; then the others by their quantity. The GPU time is left out, because tables have it anyway.
   Returns the number of columns; `ranked` has room for one of each metric and ZT__DERIVED_COLUMNS more. */
ZT__PRIVATE uint32_t zt__rank_columns(const zt_metric *metrics, uint32_t metric_count,
                                      const zt__advice *advice, const zt__mean_table *table,
                                      zt__ranked_column *ranked);

/* Stores the metrics that a list, such as config.columns, names, each once. Returns how many there are. */
ZT__PRIVATE uint32_t zt__find_chosen_columns(const char *list, const zt_metric *metrics,
                                             uint32_t metric_count, zt__ranked_column *chosen);

/* Adds metrics to a table, those that matter most first: the first three have rank 1, the others rank 3. Each
   row has `figure_count` of the figures: metrics begin at `first`, and after them there is room for
   ZT__DERIVED_COLUMNS. With `are_rates`, what adds up is shown in units a second; clock cycles and times,
   which mean nothing then, are left out. Returns 0 without memory. */
ZT__PRIVATE int zt__add_ranked_columns(const zt_profiler *profiler, const zt__advice *advice,
                                       zt__figure_table *table, double *figures, uint32_t figure_count,
                                       uint32_t first, int are_rates);
