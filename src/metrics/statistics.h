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
    uint32_t row_limit;                 /* the most samples kept for quantiles */
    uint32_t kept_count;                /* columns that these have, */
    const uint32_t *kept_columns;       /* and which, in ascending order */
    const zt_aggregation *aggregations; /* how the values of each column are combined */
} zt__sample_layout;

/* Times are counted in buckets that are the same everywhere, so that histograms of several runs and processes can be added:
   up to 1, 2, 5, 10 ... microseconds, to 50 seconds, and above. */
enum { ZT__TIME_BUCKETS = 25 };

/* Samples that are read, calculated and added together. */
enum { ZT__BATCH = 64 };

/* The statistics of a path, or of a call. One thread at a time writes, and holds the owner's mutex when it
   does. That thread may read without the mutex; other threads lock it to read. */
typedef struct zt__statistics {
    zt__moments *moments;              /* of each column, or NULL: no sample yet */
    float *rows;                       /* samples kept for quantiles: their kept columns */
    uint32_t kept, capacity;           /* in rows */
    int borrows_moments, borrows_rows; /* they are not freed with the statistics */
    uint64_t count;                    /* samples added */
    uint64_t sorted_at; /* while the count is this, the rows are sorted: by the first column, */
    double median, p95; /* of which these are quantiles */
    uint64_t seed;      /* with the number of a sample, decides whether it is kept */
    uint64_t time_counts[ZT__TIME_BUCKETS]; /* of the first column: values in each bucket */
} zt__statistics;

/* A kept value, and for how many samples it stands. */
typedef struct zt__kept_value {
    double value, weight;
} zt__kept_value;

/* Adds a value by West's weighted form of Welford's update, in which no digits cancel. Mean and `m2` ignore a
   value whose weight is not positive. */
ZT__PRIVATE void zt__add_value(zt__moments *moments, double value, double weight);

/* Adds the moments of other values by Chan's formula. */
ZT__PRIVATE void zt__merge_moments(zt__moments *into, const zt__moments *from);

ZT__PRIVATE void zt__free_statistics(const zt_allocator *allocator, zt__statistics *statistics);

/* Starts anew, and keeps the room. Called by the thread that writes, with the mutex held. */
ZT__PRIVATE void zt__clear_statistics(const zt__sample_layout *layout, zt__statistics *statistics);

/* Makes room for `more` samples. Called by the thread that writes, without the mutex: it is locked here while
   pointers are replaced. Returns 0 without memory for the moments. Without memory for rows, fewer are
   kept. */
ZT__PRIVATE int zt__reserve_samples(const zt_allocator *allocator, zt__mutex *mutex,
                                    const zt__sample_layout *layout, zt__statistics *statistics,
                                    uint64_t more);

/* Adds a sample, in which columns that were not measured are NaN. The mutex is held, and room was reserved.
   All samples are kept as long as there is room. After that, reservoir sampling gives all samples so far the
   same chance. */
ZT__PRIVATE void zt__add_sample(const zt__sample_layout *layout, zt__statistics *statistics,
                                const double *row);

/* Adds up to ZT__BATCH samples, in less time than one by one. */
ZT__PRIVATE void zt__add_several(const zt__sample_layout *layout, zt__statistics *statistics,
                                 const double *const *rows, uint32_t count);

/* Adds the statistics of other samples, for which room was reserved. The mutex of the owner of `into` is
   held, and no thread writes to `from`.

   If both sets have kept all their samples, and there is room, all rows stay. Otherwise samples are drawn
   from both sets with equal chance, until there is no room left, or no row of the set from which a sample was
   drawn. */
ZT__PRIVATE void zt__merge_statistics(const zt__sample_layout *layout, zt__statistics *into,
                                      const zt__statistics *from);

/* Returns the upper bound of a bucket in nanoseconds, which belongs to it; infinity for the last. */
ZT__PRIVATE double zt__time_bucket_end(uint32_t bucket);

ZT__PRIVATE void zt__clear_stats(zt_stats *stats);

/* Fills in the statistics of one column, except median and 95th percentile. NULL: there is no sample. */
ZT__PRIVATE void zt__get_moments(zt_aggregation aggregation, const zt__moments *moments, zt_stats *stats);

/* Returns whether values of a column are kept. */
ZT__PRIVATE int zt__is_kept(const zt__sample_layout *layout, uint32_t column);

/* Copies the kept values of one column, without NaN. Returns their number, up to `kept`; 0 if the column is
   not kept. The mutex is held. */
ZT__PRIVATE uint32_t zt__copy_column(const zt__sample_layout *layout, const zt__statistics *statistics,
                                     uint32_t column, zt__kept_value *to);

/* Finds median and 95th percentile of the GPU time if the kept samples are sorted by it, and all have one. The mutex is
   held. */
ZT__PRIVATE void zt__find_sorted_quantiles(const zt__sample_layout *layout, zt__statistics *statistics);

/* Sorts the kept samples by their first figure, the GPU time. In which place a sample is does not matter to those that are
   added later, because they replace one at random. The mutex is held. */
ZT__PRIVATE void zt__sort_rows(const zt__sample_layout *layout, zt__statistics *statistics);

/* Returns the quantile below which this share of the values lies, interpolated linearly between the two
   values next to it; NaN if there are no values. Reorders the values, unless they are sorted. */
ZT__PRIVATE double zt__quantile(double *values, uint32_t count, double share);

/* Gets median and 95th percentile of the GPU time of one path if they are known because its kept samples are sorted, as
   those that were packed are: files of many ranks are read so. Returns 0 otherwise, and for other columns. The mutex is
   held. */
ZT__PRIVATE int zt__get_sorted_quantiles(const zt__sample_layout *layout, const zt__statistics *statistics,
                                         uint32_t column, double *median, double *p95);

/* Adds median and 95th percentile to the statistics of a column. Sorts the values. */
ZT__PRIVATE void zt__add_quantiles(zt_aggregation aggregation, zt__kept_value *values, uint32_t count,
                                   zt_stats *stats);
