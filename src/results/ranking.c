/* Orders metrics by how much they tell, and so chooses the columns of tables. */

#include "results/ranking.h"

#include "base/compiler.h"
#include "base/figures.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/platform.h"
#include "base/text.h"
#include "metrics/statistics.h"
#include "regions/profiler.h"
#include "results/results.h"
#include "results/roles.h"

/* ---- ranking --------------------------------------------------------------------------------------------- */

ZT__PRIVATE double *zt__read_means(zt_profiler *profiler, uint32_t region_count) {
    uint32_t i, metric, metrics = profiler->metric_count;
    double *means = (double *)zt__allocate(&profiler->config.allocator, (size_t)region_count + 1,
                                           (metrics + 1) * sizeof *means);
    for (i = 0; i < region_count && means; i++) {
        zt__subject subject = zt__subject_at(profiler, i);
        zt__lock(&profiler->mutex);
        for (metric = 0; metric < metrics; metric++) {
            zt__moments moments = zt__sum_moments(subject, 1 + metric);
            zt_stats stats;
            zt__get_moments(profiler->metrics[metric].aggregation, &moments, &stats);
            means[(size_t)i * metrics + metric] = stats.mean;
        }
        zt__unlock(&profiler->mutex);
    }
    return means;
}

static double zt__mean_at(const zt__mean_table *table, uint32_t region, uint32_t metric) {
    return metric == UINT32_MAX ? zt__nan() : table->means[region * table->stride + metric];
}

ZT__PRIVATE double zt__ranked_figure(const zt__advice *advice, const zt__mean_table *table, uint32_t region,
                                     const zt__ranked_column *column) {
    const uint32_t *metrics = advice->metrics;
    double hits;
    if (column->metric != UINT32_MAX) {
        return zt__mean_at(table, region, column->metric);
    }
    if (column->role == ZT__ROLE_L3_HIT_SHARE) {
        hits = zt__mean_at(table, region, metrics[ZT__ROLE_L3_HITS]);
        return zt__percent_of(hits, hits + zt__mean_at(table, region, metrics[ZT__ROLE_L3_MISSES]));
    }
    hits = zt__mean_at(table, region, metrics[ZT__ROLE_LSC_HITS]);
    return zt__percent_of(hits, zt__mean_at(table, region, metrics[ZT__ROLE_LSC_ACCESSES]));
}

/* Returns whether a metric shows no more than one that is ranked: it has the same name, in another group; or
   the same units, aggregation and values in all regions; or it counts the bytes whose rate is ranked. */
static int zt__is_redundant(const zt_metric *metrics, const zt__mean_table *table, uint32_t metric,
                            uint32_t ranked) {
    const zt_metric *a = &metrics[metric], *b = &metrics[ranked];
    uint32_t region;
    if (metric == ranked || strcmp(a->name, b->name) == 0) {
        return 1;
    }
    if (zt__quantity_of(a) == ZT__QUANTITY_BYTES && zt__quantity_of(b) == ZT__QUANTITY_RATE &&
        strncmp(a->name, b->name, strlen(a->name)) == 0) {
        return 1;
    }
    if (a->aggregation != b->aggregation || strcmp(a->units, b->units) != 0) {
        return 0;
    }
    for (region = 0; region < table->region_count; region++) {
        double value = zt__mean_at(table, region, metric), other = zt__mean_at(table, region, ranked);
        if (zt__is_nan(value) != zt__is_nan(other) || (!zt__is_nan(value) && value != other)) {
            return 0;
        }
    }
    return 1;
}

/* Adds a column, unless all its figures are 0 or not measured, or it shows no more than one before it. */
static void zt__add_ranked(const zt_metric *metrics, const zt__advice *advice, const zt__mean_table *table,
                           zt__ranked_column column, zt__ranked_column *ranked, uint32_t *count) {
    uint32_t i;
    int is_shown = 0;
    for (i = 0; i < table->region_count && !is_shown; i++) {
        is_shown = zt__is_positive(zt__ranked_figure(advice, table, i, &column));
    }
    for (i = 0; i < *count && is_shown && column.metric != UINT32_MAX; i++) {
        is_shown = ranked[i].metric == UINT32_MAX ||
                   !zt__is_redundant(metrics, table, column.metric, ranked[i].metric);
    }
    if (is_shown) {
        ranked[(*count)++] = column;
    }
}

ZT__PRIVATE uint32_t zt__rank_columns(const zt_metric *metrics, uint32_t metric_count,
                                      const zt__advice *advice, const zt__mean_table *table,
                                      zt__ranked_column *ranked) {
    uint32_t role, quantity, metric, count = 0;
    zt__ranked_column column;
    for (role = ZT__NO_ROLE + 1; role < ZT__ROLE_COUNT; role++) {
        column.role = (zt__role)role;
        column.metric = advice->metrics[role];
        if (zt__roles[role].is_column && (column.metric != UINT32_MAX || !zt__roles[role].metrics[0][0])) {
            zt__add_ranked(metrics, advice, table, column, ranked, &count);
        }
    }
    for (quantity = ZT__QUANTITY_SHARE; quantity < ZT__QUANTITY_NOTHING; quantity++) {
        for (metric = 0; metric < metric_count; metric++) {
            const zt_metric *described = &metrics[metric];
            column.role = ZT__NO_ROLE;
            column.metric = metric;
            if ((uint32_t)zt__quantity_of(described) == quantity && strcmp(described->name, "GpuTime") != 0) {
                zt__add_ranked(metrics, advice, table, column, ranked, &count);
            }
        }
    }
    return count;
}

ZT__PRIVATE uint32_t zt__find_chosen_columns(const char *list, const zt_metric *metrics,
                                             uint32_t metric_count, zt__ranked_column *chosen) {
    uint32_t metric, i, count = 0;
    const char *text;
    size_t length;
    while (list && zt__next_name(&list, &text, &length)) {
        for (metric = 0; metric < metric_count; metric++) {
            if (zt__equals(metrics[metric].name, text, length)) {
                break;
            }
        }
        for (i = 0; i < count && metric < metric_count; i++) {
            metric = chosen[i].metric == metric ? metric_count : metric;
        }
        if (metric < metric_count) {
            chosen[count].metric = metric;
            chosen[count++].role = ZT__NO_ROLE;
        }
    }
    return count;
}

/* ---- columns of tables ----------------------------------------------------------------------------------- */

ZT__PRIVATE int zt__add_ranked_columns(const zt_profiler *profiler, const zt__advice *advice,
                                       zt__figure_table *table, double *figures, uint32_t figure_count,
                                       uint32_t first, int are_rates) {
    enum { IMPORTANT = 3 };
    const zt_allocator *allocator = &profiler->config.allocator;
    zt__mean_table means = {figures + first, figure_count, table->row_count};
    zt__ranked_column *ranked = (zt__ranked_column *)zt__allocate(
        allocator, (size_t)profiler->metric_count + ZT__DERIVED_COLUMNS, sizeof *ranked);
    uint32_t i, row, count = 0;
    uint32_t derived = first + profiler->metric_count;
    if (ranked) {
        count = zt__rank_columns(profiler->metrics, profiler->metric_count, advice, &means, ranked);
    }
    for (i = 0; i < count; i++) {
        const zt_metric *metric =
            ranked[i].metric == UINT32_MAX ? NULL : &profiler->metrics[ranked[i].metric];
        uint32_t figure = metric ? first + ranked[i].metric : derived++;
        int adds_up = metric && metric->aggregation == ZT_AGGREGATE_SUM;
        char units[64];
        for (row = 0; row < table->row_count && !metric; row++) {
            figures[(size_t)row * figure_count + figure] = zt__ranked_figure(advice, &means, row, &ranked[i]);
        }
        if (are_rates && adds_up && zt__quantity_of(metric) == ZT__QUANTITY_OTHER) {
            continue;
        }
        snprintf(units, sizeof units, "%.40s%s", metric ? metric->units : "percent",
                 are_rates && adds_up ? "/s" : "");
        zt__add_figures(table, figure,
                        ranked[i].role == ZT__NO_ROLE ? metric->name : zt__roles[ranked[i].role].name, units,
                        adds_up, i < IMPORTANT ? 1 : 3);
    }
    zt__free(allocator, ranked);
    return ranked != NULL;
}
