/* Mean, deviation, minimum and maximum of all samples; median and 95th percentile of those that are kept. */

#pragma once

#include "base/compiler.h"
#include "base/platform.h"
#include "base/system.h"
#include "metrics/driver.h"

/* The moments of one column. `weight` is the sum of all weights, `mean` the weighted mean, and `m2` the
   weighted sum of squared distances from it. */
typedef struct zt__moments {
    uint64_t count;
    double weight, sum, mean, m2, min, max;
} zt__moments;

/* The columns of a sample, which is a row of values. The first is the GPU time, or the host time of a call:
   it is the weight of the columns that are averaged. */
typedef struct zt__sample_layout {
    uint32_t column_count;
    uint32_t row_limit;                 /* the most rows kept for quantiles: config.samples */
    const zt_aggregation *aggregations; /* how the values of each column are combined */
} zt__sample_layout;

/* The statistics of a region, or of a call. One thread at a time writes, and holds the owner's mutex when it
   does. That thread may read without the mutex; other threads lock it to read. */
typedef struct zt__statistics {
    zt__moments *moments;          /* of each column, or NULL: no sample yet */
    double *rows;                  /* samples kept for quantiles */
    uint32_t kept, capacity;       /* in rows */
    uint64_t seen[ZT__MAX_PASSES]; /* samples added, of each pass */
    uint64_t seed;                 /* with the number of a sample, decides whether it is kept */
} zt__statistics;

/* Adds a value by West's weighted form of Welford's update, in which no digits cancel. Mean and `m2` ignore a
   value whose weight is not positive. */
ZT__PRIVATE void zt__add_value(zt__moments *moments, double value, double weight);

/* Adds the moments of other values by Chan's formula. */
ZT__PRIVATE void zt__merge_moments(zt__moments *into, const zt__moments *from);

ZT__PRIVATE void zt__free_statistics(const zt_allocator *allocator, zt__statistics *statistics);

/* Returns the number of samples of the pass that has most of them. */
ZT__PRIVATE uint64_t zt__samples_per_pass(const zt__statistics *statistics);

/* Makes room for `more` samples. Called by the thread that writes, without the mutex: it is locked here while
   pointers are replaced. Returns 0 without memory for the moments. Without memory for rows, fewer are
   kept. */
ZT__PRIVATE int zt__reserve_samples(const zt_allocator *allocator, zt__mutex *mutex,
                                    const zt__sample_layout *layout, zt__statistics *statistics,
                                    uint32_t more);

/* Adds a sample of a pass, in which columns that the pass does not measure are NaN. The mutex is held, and
   room was reserved.

   All samples are kept as long as there is room. After that, reservoir sampling gives all samples so far the
   same chance. The n-th sample of each pass goes to the same row, or to none: each pass fills in the columns
   that it measures. */
ZT__PRIVATE void zt__add_sample(const zt__sample_layout *layout, zt__statistics *statistics, uint32_t pass,
                                const double *row);

/* Adds the statistics of other samples, for which room was reserved. The mutex of the owner of `into` is
   held, and no thread writes to `from`.

   If both sets have kept all their samples, and there is room, all rows stay. Otherwise samples are drawn
   from both sets with equal chance, until there is no room left, or no row of the set from which a sample was
   drawn. */
ZT__PRIVATE void zt__merge_statistics(const zt__sample_layout *layout, zt__statistics *into,
                                      const zt__statistics *from);

ZT__PRIVATE void zt__clear_stats(zt_stats *stats);

/* Fills in the statistics of one column, except median and 95th percentile. The mutex is held. */
ZT__PRIVATE void zt__get_moments(const zt__sample_layout *layout, const zt__statistics *statistics,
                                 uint32_t column, zt_stats *stats);

/* Copies the kept values of one column, without NaN. Returns their number, up to `kept`. The mutex is
   held. */
ZT__PRIVATE uint32_t zt__copy_column(const zt__sample_layout *layout, const zt__statistics *statistics,
                                     uint32_t column, double *to);

/* Returns the quantile below which this share of the values lies, interpolated linearly between the two
   values next to it; NaN if there are no values. Reorders the values, unless they are sorted. */
ZT__PRIVATE double zt__quantile(double *values, uint32_t count, double share);

/* Adds median and 95th percentile to the statistics of a column. Reorders the values. */
ZT__PRIVATE void zt__add_quantiles(const zt__sample_layout *layout, uint32_t column, double *values,
                                   uint32_t count, zt_stats *stats);
