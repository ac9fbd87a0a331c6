/* Mean, deviation, minimum and maximum of all samples; median and 95th percentile of those that are kept. */

#include "metrics/statistics.h"

#include "base/compiler.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/platform.h"
#include "metrics/driver.h"

/* ---- moments --------------------------------------------------------------------------------------------- */

/* Inline, because it is most of what a sample with all metrics of a group costs. */
static inline void zt__add_weighted(zt__moments *moments, double value, double weight) {
    double distance = value - moments->mean;
    if (moments->count++ == 0) {
        moments->min = moments->max = value;
    } else if (value < moments->min) {
        moments->min = value;
    } else if (value > moments->max) {
        moments->max = value;
    }
    moments->sum += value;
    if (weight > 0) {
        moments->weight += weight;
        moments->mean += distance * (weight / moments->weight); /* exact for the first value */
        moments->m2 += weight * distance * (value - moments->mean);
    }
}

ZT__PRIVATE void zt__add_value(zt__moments *moments, double value, double weight) {
    zt__add_weighted(moments, value, weight);
}

ZT__PRIVATE void zt__merge_moments(zt__moments *into, const zt__moments *from) {
    double weight = into->weight + from->weight, distance = from->mean - into->mean;
    if (from->count == 0) {
        return;
    }
    if (into->count == 0) {
        *into = *from;
        return;
    }
    if (weight > 0) {
        into->mean += distance * (from->weight / weight);
        into->m2 += from->m2 + distance * distance * (into->weight * from->weight / weight);
    }
    into->weight = weight;
    into->count += from->count;
    into->sum += from->sum;
    into->min = from->min < into->min ? from->min : into->min;
    into->max = from->max > into->max ? from->max : into->max;
}

/* ---- statistics of a region ------------------------------------------------------------------------------ */

ZT__PRIVATE void zt__free_statistics(const zt_allocator *allocator, zt__statistics *statistics) {
    if (!statistics->borrows_moments) {
        zt__free(allocator, statistics->moments);
    }
    if (!statistics->borrows_rows) {
        zt__free(allocator, statistics->rows);
    }
    memset(statistics, 0, sizeof *statistics);
}

/* The upper bounds of all buckets but the last, in nanoseconds. */
static const double zt__time_bucket_ends[ZT__TIME_BUCKETS - 1] = {1e3, 2e3, 5e3, 1e4, 2e4, 5e4,  1e5,  2e5,
                                                                  5e5, 1e6, 2e6, 5e6, 1e7, 2e7,  5e7,  1e8,
                                                                  2e8, 5e8, 1e9, 2e9, 5e9, 1e10, 2e10, 5e10};

ZT__PRIVATE double zt__time_bucket_end(uint32_t bucket) {
    return bucket < ZT__TIME_BUCKETS - 1 ? zt__time_bucket_ends[bucket] : HUGE_VAL;
}

/* Returns the first bucket whose end is not below a time, by halving the range that it is in. */
static uint32_t zt__bucket_of_time(double ns) {
    uint32_t first = 0, last = ZT__TIME_BUCKETS - 1;
    while (first < last) {
        uint32_t middle = (first + last) / 2;
        if (ns > zt__time_bucket_ends[middle]) {
            first = middle + 1;
        } else {
            last = middle;
        }
    }
    return first;
}

ZT__PRIVATE void zt__clear_statistics(const zt__sample_layout *layout, zt__statistics *statistics) {
    if (statistics->moments) {
        memset(statistics->moments, 0, layout->column_count * sizeof *statistics->moments);
    }
    memset(statistics->time_counts, 0, sizeof statistics->time_counts);
    statistics->kept = 0;
    statistics->count = statistics->sorted_at = 0;
}

ZT__PRIVATE int zt__reserve_samples(const zt_allocator *allocator, zt__mutex *mutex,
                                    const zt__sample_layout *layout, zt__statistics *statistics,
                                    uint64_t more) {
    enum { FIRST_VALUES = 512 }; /* the GPU times of a path are kept without another allocation */
    uint64_t wanted = statistics->count + more;
    uint64_t capacity = FIRST_VALUES / layout->kept_count + 1;
    float *rows, *before = statistics->rows;
    int borrows_before = statistics->borrows_rows;
    if (!statistics->moments) {
        zt__moments *moments =
            (zt__moments *)zt__allocate(allocator, layout->column_count, sizeof *statistics->moments);
        if (!moments) {
            return 0;
        }
        zt__lock(mutex);
        statistics->moments = moments;
        zt__unlock(mutex);
    }
    while (capacity < wanted && capacity < layout->row_limit) {
        capacity *= 2;
    }
    if (capacity > layout->row_limit) {
        capacity = layout->row_limit;
    }
    if (capacity <= statistics->capacity) {
        return 1;
    }
    rows = (float *)zt__allocate(allocator, (size_t)capacity * layout->kept_count, sizeof *rows);
    if (!rows) {
        return 1;
    }
    if (statistics->kept) {
        memcpy(rows, before, (size_t)statistics->kept * layout->kept_count * sizeof *rows);
    }
    zt__lock(mutex);
    statistics->rows = rows;
    statistics->capacity = (uint32_t)capacity;
    statistics->borrows_rows = 0;
    zt__unlock(mutex);
    if (!borrows_before) {
        zt__free(allocator, before);
    }
    return 1;
}

/* Returns a random number by xorshift64*. Unlike rand, it needs no lock, and gives the same numbers on every
   system. */
static uint64_t zt__random(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545F4914F6CDD1D);
}

/* Returns the state of the generator for the n-th sample, counted from 0. */
static uint64_t zt__random_state(uint64_t seed, uint64_t n) {
    uint64_t state = (seed ^ (n + 1) * UINT64_C(0x9E3779B97F4A7C15)) | 1;
    zt__random(&state);
    return state;
}

/* Keeps a sample for quantiles, if there is room or chance chooses it, and counts its time. */
static void zt__draw_sample(const zt__sample_layout *layout, zt__statistics *statistics, const double *row) {
    uint64_t n = statistics->count++, state;
    uint64_t place = n; /* the row in which it is kept, if there is such a row */
    uint32_t i;
    if (n == statistics->kept && n < statistics->capacity) {
        statistics->kept++;
    } else {
        state = zt__random_state(statistics->seed, n);
        place = zt__random(&state) % (n + 1);
    }
    for (i = 0; i < layout->kept_count && place < statistics->kept; i++) {
        statistics->rows[(size_t)place * layout->kept_count + i] = (float)row[layout->kept_columns[i]];
    }
    if (!zt__is_nan(row[0])) {
        statistics->time_counts[zt__bucket_of_time(row[0])]++;
    }
}

/* Returns the weight of values that are averaged. */
static double zt__weight_of_row(const double *row) {
    return zt__is_positive(row[0]) ? row[0] : 0;
}

/* Adds some columns of a sample. */
static void zt__add_columns(const zt__sample_layout *layout, zt__statistics *statistics, const double *row,
                            uint32_t column, uint32_t end) {
    double weights[ZT_AGGREGATE_NONE + 1] = {0}; /* 0 for flags and for what is not combined */
    weights[ZT_AGGREGATE_SUM] = 1;
    weights[ZT_AGGREGATE_MEAN] = zt__weight_of_row(row);
    for (; column < end; column++) {
        if (!zt__is_nan(row[column])) {
            zt__add_weighted(&statistics->moments[column], row[column],
                             weights[layout->aggregations[column]]);
        }
    }
}

ZT__PRIVATE void zt__add_sample(const zt__sample_layout *layout, zt__statistics *statistics,
                                const double *row) {
    zt__draw_sample(layout, statistics, row);
    zt__add_columns(layout, statistics, row, 0, layout->column_count);
}

/* The weights of several values, and their sum. */
typedef struct zt__weights {
    double each[ZT__BATCH], all;
} zt__weights;

/* Adds the moments of a column of several samples. Where values are missing, or too large to be squared, these are not
   finite: then adds the values one by one. */
static void zt__add_column(const zt__sample_layout *layout, zt__statistics *statistics,
                           const double *const *rows, uint32_t column, const zt__moments *moments) {
    uint32_t i;
    if (zt__is_finite(moments->m2)) {
        zt__merge_moments(&statistics->moments[column], moments);
        return;
    }
    for (i = 0; i < moments->count; i++) {
        zt__add_columns(layout, statistics, rows[i], column, column + 1);
    }
}

/* Adds two columns of several samples: computes their means, and then the distances from these, so that no digits cancel.
   Two columns, because each step of a sum waits for the one before: a second sum costs hardly more. */
static void zt__add_pair(const zt__sample_layout *layout, zt__statistics *statistics,
                         const double *const *rows, uint32_t count, uint32_t column,
                         const zt__weights weights[ZT_AGGREGATE_NONE + 1]) {
    const zt__weights *w = &weights[layout->aggregations[column]];
    const zt__weights *v = &weights[layout->aggregations[column + 1]];
    zt__moments a = {count, w->all, 0, 0, 0, rows[0][column], rows[0][column]};
    zt__moments b = {count, v->all, 0, 0, 0, rows[0][column + 1], rows[0][column + 1]};
    const double a_base = a.min, b_base = b.min;
    uint32_t i;
    for (i = 0; i < count; i++) {
        double x = rows[i][column], y = rows[i][column + 1];
        a.sum += x;
        b.sum += y;
        a.min = x < a.min ? x : a.min;
        b.min = y < b.min ? y : b.min;
        a.max = x > a.max ? x : a.max;
        b.max = y > b.max ? y : b.max;
        a.mean += (x - a_base) * w->each[i];
        b.mean += (y - b_base) * v->each[i];
    }
    a.mean = a.weight > 0 ? a_base + a.mean / a.weight : 0; /* exact if all values are the same */
    b.mean = b.weight > 0 ? b_base + b.mean / b.weight : 0;
    for (i = 0; i < count; i++) {
        double x = rows[i][column] - a.mean, y = rows[i][column + 1] - b.mean;
        a.m2 += x * x * w->each[i];
        b.m2 += y * y * v->each[i];
    }
    zt__add_column(layout, statistics, rows, column, &a);
    zt__add_column(layout, statistics, rows, column + 1, &b);
}

ZT__PRIVATE void zt__add_several(const zt__sample_layout *layout, zt__statistics *statistics,
                                 const double *const *rows, uint32_t count) {
    enum { FEW = 8 }; /* fewer are faster one by one */
    zt__weights weights[ZT_AGGREGATE_NONE + 1];
    uint32_t i, column = 0;
    memset(weights, 0, sizeof weights);
    for (i = 0; i < count; i++) {
        weights[ZT_AGGREGATE_SUM].each[i] = 1;
        weights[ZT_AGGREGATE_SUM].all += 1;
        weights[ZT_AGGREGATE_MEAN].each[i] = zt__weight_of_row(rows[i]);
        weights[ZT_AGGREGATE_MEAN].all += zt__weight_of_row(rows[i]);
        zt__draw_sample(layout, statistics, rows[i]);
    }
    for (; count >= FEW && column + 2 <= layout->column_count; column += 2) {
        zt__add_pair(layout, statistics, rows, count, column, weights);
    }
    for (i = 0; i < count; i++) {
        zt__add_columns(layout, statistics, rows[i], column, layout->column_count);
    }
}

/* ---- the statistics of two sets of samples --------------------------------------------------------------- */

/* Returns a random number from 0 up to, but not including, 1. */
static double zt__random_fraction(uint64_t *state) {
    return (double)(int64_t)(zt__random(state) >> 11) / 9007199254740992.0;
}

/* Copies `wanted` of `count` rows, chosen at random with equal chance, in their order. `to` may be `rows`. */
static void zt__draw_rows(const zt__sample_layout *layout, uint64_t *state, float *to, const float *rows,
                          uint32_t count, uint32_t wanted) {
    size_t columns = layout->kept_count;
    for (; wanted; rows += columns, count--) {
        if (zt__random_fraction(state) * count < wanted) {
            memmove(to, rows, columns * sizeof *rows);
            to += columns;
            wanted--;
        }
    }
}

ZT__PRIVATE void zt__merge_statistics(const zt__sample_layout *layout, zt__statistics *into,
                                      const zt__statistics *from) {
    uint64_t state = zt__random_state(into->seed, into->count + from->count);
    /* [0] is of `into`, and [1] of `from` */
    uint32_t i, kept[2], stay[2] = {0, 0};
    double left[2], step[2]; /* samples not drawn yet, and for how many samples each kept row stands */
    if (!from->moments) {
        return;
    }
    kept[0] = into->kept;
    kept[1] = from->kept;
    left[0] = (double)into->count;
    left[1] = (double)from->count;
    step[0] = kept[0] ? left[0] / kept[0] : 0;
    step[1] = kept[1] ? left[1] / kept[1] : 0;
    if (into->count + from->count <= into->capacity && kept[0] == into->count && kept[1] == from->count) {
        memcpy(stay, kept, sizeof stay);
    } else {
        while (stay[0] + stay[1] < into->capacity) {
            int drawn = zt__random_fraction(&state) * (left[0] + left[1]) >= left[0];
            if (stay[drawn] == kept[drawn]) {
                break;
            }
            stay[drawn]++;
            left[drawn] -= step[drawn];
        }
    }
    if (stay[0]) {
        zt__draw_rows(layout, &state, into->rows, into->rows, kept[0], stay[0]);
    }
    if (stay[1]) {
        zt__draw_rows(layout, &state, into->rows + (size_t)stay[0] * layout->kept_count, from->rows, kept[1],
                      stay[1]);
    }
    into->kept = stay[0] + stay[1];
    into->count += from->count;
    for (i = 0; i < layout->column_count; i++) {
        zt__merge_moments(&into->moments[i], &from->moments[i]);
    }
    for (i = 0; i < ZT__TIME_BUCKETS; i++) {
        into->time_counts[i] += from->time_counts[i];
    }
}

/* ---- reading statistics ---------------------------------------------------------------------------------- */

ZT__PRIVATE void zt__clear_stats(zt_stats *stats) {
    stats->count = 0;
    stats->sum = stats->mean = stats->stddev = zt__nan();
    stats->min = stats->max = zt__nan();
    stats->median = stats->p95 = stats->rate = zt__nan();
}

ZT__PRIVATE void zt__get_moments(zt_aggregation aggregation, const zt__moments *moments, zt_stats *stats) {
    zt__clear_stats(stats);
    if (!moments || moments->count == 0) {
        return;
    }
    stats->count = moments->count;
    if (aggregation == ZT_AGGREGATE_SUM || aggregation == ZT_AGGREGATE_FLAG) {
        stats->sum = moments->sum;
    }
    if (aggregation == ZT_AGGREGATE_FLAG) {
        return;
    }
    stats->min = moments->min;
    stats->max = moments->max;
    if (aggregation != ZT_AGGREGATE_NONE && moments->weight > 0) {
        /* The unbiased variance of as many observations as there are samples, each with the mean weight. */
        double count = (double)moments->count, freedom = moments->weight * (1.0 - 1.0 / count);
        stats->mean = aggregation == ZT_AGGREGATE_SUM ? moments->sum / count : moments->mean;
        stats->stddev = moments->count > 1 ? sqrt(moments->m2 / freedom) : 0;
    }
}

/* Returns the place of a column in a kept row, or `kept_count` if it is not kept. */
static uint32_t zt__place_of_column(const zt__sample_layout *layout, uint32_t column) {
    uint32_t place = 0;
    while (place < layout->kept_count && layout->kept_columns[place] != column) {
        place++;
    }
    return place;
}

ZT__PRIVATE int zt__is_kept(const zt__sample_layout *layout, uint32_t column) {
    return zt__place_of_column(layout, column) < layout->kept_count;
}

ZT__PRIVATE uint32_t zt__copy_column(const zt__sample_layout *layout, const zt__statistics *statistics,
                                     uint32_t column, zt__kept_value *to) {
    uint32_t i, place = zt__place_of_column(layout, column), count = 0;
    double weight;
    for (i = 0; i < statistics->kept && place < layout->kept_count; i++) {
        double value = statistics->rows[(size_t)i * layout->kept_count + place];
        if (!zt__is_nan(value)) {
            to[count++].value = value;
        }
    }
    weight = count ? (double)statistics->moments[column].count / count : 0;
    for (i = 0; i < count; i++) {
        to[i].weight = weight;
    }
    return count;
}

/* By the first column; NaN comes last. */
static int zt__compare_kept_rows(const void *a, const void *b) {
    float one = *(const float *)a, other = *(const float *)b;
    return one < other ? -1 : one > other ? 1 : zt__is_nan(one) - zt__is_nan(other);
}

/* Returns the value at a share of sorted rows, interpolated linearly. */
static double zt__sorted_quantile(const float *rows, uint32_t count, size_t columns, double share) {
    double position = share * (count - 1), part = position - (uint32_t)position;
    const float *row = rows + columns * (uint32_t)position;
    return part > 0 ? *row + ((double)row[columns] - *row) * part : *row;
}

ZT__PRIVATE void zt__find_sorted_quantiles(const zt__sample_layout *layout, zt__statistics *statistics) {
    const size_t columns = layout->kept_count;
    const float *row = statistics->rows;
    uint32_t left = statistics->kept;
    int is_sorted = left > 0 && columns > 0 && !zt__is_nan(row[0]);
    statistics->sorted_at = 0;
    /* Four at once, because most of what is read of a file of a rank are such values. */
    for (; left > 4 && columns == 1; left -= 4, row += 4) {
        is_sorted &= (row[0] <= row[1]) & (row[1] <= row[2]) & (row[2] <= row[3]) & (row[3] <= row[4]);
    }
    for (; left > 1 && is_sorted; left--, row += columns) {
        is_sorted = *row <= row[columns];
    }
    if (is_sorted) {
        statistics->sorted_at = statistics->count;
        statistics->median = zt__sorted_quantile(statistics->rows, statistics->kept, columns, 0.5);
        statistics->p95 = zt__sorted_quantile(statistics->rows, statistics->kept, columns, 0.95);
    }
}

ZT__PRIVATE void zt__sort_rows(const zt__sample_layout *layout, zt__statistics *statistics) {
    if (statistics->kept > 1 && layout->kept_count > 0) {
        qsort(statistics->rows, statistics->kept, layout->kept_count * sizeof *statistics->rows,
              zt__compare_kept_rows);
    }
    zt__find_sorted_quantiles(layout, statistics);
}

ZT__PRIVATE double zt__quantile(double *values, uint32_t count, double share) {
    double position, next;
    uint32_t rank, first = 0, last = count - 1, i;
    if (count == 0) {
        return zt__nan();
    }
    position = share * (count - 1);
    rank = (uint32_t)position;
    /* Hoare's selection puts the value of this rank, counted from 0, into its place: none before it is
       greater, and none after it is less. */
    while (first < last) {
        double pivot = values[first + (last - first) / 2];
        uint32_t low = first, high = last;
        for (;;) {
            double swapped;
            while (values[low] < pivot) {
                low++;
            }
            while (values[high] > pivot) {
                high--;
            }
            if (low >= high) {
                break;
            }
            swapped = values[low];
            values[low++] = values[high];
            values[high--] = swapped;
        }
        if (rank <= high) {
            last = high;
        } else {
            first = high + 1;
        }
    }
    if (rank + 1 >= count) {
        return values[rank];
    }
    next = values[rank + 1];
    for (i = rank + 2; i < count; i++) {
        if (values[i] < next) {
            next = values[i];
        }
    }
    return values[rank] + (next - values[rank]) * (position - rank);
}

static int zt__compare_kept_values(const void *a, const void *b) {
    double one = ((const zt__kept_value *)a)->value, other = ((const zt__kept_value *)b)->value;
    return one < other ? -1 : one > other;
}

/* As zt__quantile, of sorted values. Each is in the middle of the samples that it stands for, and the first and
   the last are the quantiles 0 and 1. */
static double zt__weighted_quantile(const zt__kept_value *values, uint32_t count, double share) {
    double last = 0, position = 0, wanted, next;
    uint32_t i;
    for (i = 1; i < count; i++) {
        last += (values[i - 1].weight + values[i].weight) / 2;
    }
    wanted = share * last;
    for (i = 0; i + 1 < count; i++) {
        next = position + (values[i].weight + values[i + 1].weight) / 2;
        if (next > wanted) {
            return values[i].value +
                   (values[i + 1].value - values[i].value) * ((wanted - position) / (next - position));
        }
        position = next;
    }
    return values[count - 1].value;
}

ZT__PRIVATE int zt__get_sorted_quantiles(const zt__sample_layout *layout, const zt__statistics *statistics,
                                         uint32_t column, double *median, double *p95) {
    if (statistics->count == 0 || statistics->sorted_at != statistics->count ||
        layout->kept_columns[0] != column) {
        return 0;
    }
    *median = statistics->median;
    *p95 = statistics->p95;
    return 1;
}

ZT__PRIVATE void zt__add_quantiles(zt_aggregation aggregation, zt__kept_value *values, uint32_t count,
                                   zt_stats *stats) {
    if (count > 0 && (aggregation == ZT_AGGREGATE_SUM || aggregation == ZT_AGGREGATE_MEAN)) {
        qsort(values, count, sizeof *values, zt__compare_kept_values);
        stats->median = zt__weighted_quantile(values, count, 0.5);
        stats->p95 = zt__weighted_quantile(values, count, 0.95);
    }
}
