/* Mean, deviation, minimum and maximum of all samples; median and 95th percentile of those that are kept. */

#include "metrics/statistics.h"

#include "base/compiler.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/platform.h"
#include "metrics/driver.h"

/* ---- moments --------------------------------------------------------------------------------------------- */

ZT__PRIVATE void zt__add_value(zt__moments *moments, double value, double weight) {
    double distance = value - moments->mean;
    if (moments->count == 0 || value < moments->min) {
        moments->min = value;
    }
    if (moments->count == 0 || value > moments->max) {
        moments->max = value;
    }
    moments->count++;
    moments->sum += value;
    if (weight > 0) {
        moments->weight += weight;
        moments->mean += distance * (weight / moments->weight); /* exact for the first value */
        moments->m2 += weight * distance * (value - moments->mean);
    }
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
    zt__free(allocator, statistics->moments);
    zt__free(allocator, statistics->rows);
    memset(statistics, 0, sizeof *statistics);
}

ZT__PRIVATE uint64_t zt__samples_per_pass(const zt__statistics *statistics) {
    uint64_t most = 0;
    uint32_t pass;
    for (pass = 0; pass < ZT__MAX_PASSES; pass++) {
        most = statistics->seen[pass] > most ? statistics->seen[pass] : most;
    }
    return most;
}

ZT__PRIVATE int zt__reserve_samples(const zt_allocator *allocator, zt__mutex *mutex,
                                    const zt__sample_layout *layout, zt__statistics *statistics,
                                    uint32_t more) {
    enum { FIRST_ROWS = 8 };
    uint64_t wanted = zt__samples_per_pass(statistics) + more;
    uint64_t capacity = FIRST_ROWS;
    double *rows, *before = statistics->rows;
    if (statistics->moments && statistics->capacity == layout->row_limit) {
        return 1;
    }
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
    rows = (double *)zt__allocate(allocator, (size_t)capacity * layout->column_count, sizeof *rows);
    if (!rows) {
        return 1;
    }
    if (statistics->kept) {
        memcpy(rows, before, (size_t)statistics->kept * layout->column_count * sizeof *rows);
    }
    zt__lock(mutex);
    statistics->rows = rows;
    statistics->capacity = (uint32_t)capacity;
    zt__unlock(mutex);
    zt__free(allocator, before);
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

ZT__PRIVATE void zt__add_sample(const zt__sample_layout *layout, zt__statistics *statistics, uint32_t pass,
                                const double *row) {
    double weights[ZT_AGGREGATE_NONE + 1] = {0}; /* 0 for flags and for what is not combined */
    uint64_t n = statistics->seen[pass]++, state;
    uint64_t place = n; /* the row in which it is kept, if there is such a row */
    double *kept;
    uint32_t column;
    if (n == statistics->kept && n < statistics->capacity) {
        statistics->kept++;
        for (column = 0; column < layout->column_count; column++) {
            statistics->rows[(size_t)n * layout->column_count + column] = zt__nan();
        }
    } else if (n >= statistics->kept) {
        state = zt__random_state(statistics->seed, n);
        place = zt__random(&state) % (n + 1);
    }
    kept = place < statistics->kept ? statistics->rows + (size_t)place * layout->column_count : NULL;
    weights[ZT_AGGREGATE_SUM] = 1;
    weights[ZT_AGGREGATE_MEAN] = zt__is_positive(row[0]) ? row[0] : 0;
    for (column = 0; column < layout->column_count; column++) {
        if (!zt__is_nan(row[column])) {
            zt__add_value(&statistics->moments[column], row[column], weights[layout->aggregations[column]]);
            if (kept) {
                kept[column] = row[column];
            }
        }
    }
}

/* ---- the statistics of two sets of samples --------------------------------------------------------------- */

/* Returns a random number from 0 up to, but not including, 1. */
static double zt__random_fraction(uint64_t *state) {
    return (double)(int64_t)(zt__random(state) >> 11) / 9007199254740992.0;
}

/* Copies `wanted` of `count` rows, chosen at random with equal chance, in their order. `to` may be `rows`. */
static void zt__draw_rows(const zt__sample_layout *layout, uint64_t *state, double *to, const double *rows,
                          uint32_t count, uint32_t wanted) {
    size_t columns = layout->column_count;
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
    uint64_t of_into = zt__samples_per_pass(into), of_from = zt__samples_per_pass(from);
    uint64_t state = zt__random_state(into->seed, of_into + of_from);
    /* [0] is of `into`, and [1] of `from` */
    uint32_t i, kept[2], stay[2] = {0, 0};
    double left[2], step[2]; /* samples not drawn yet, and for how many samples each kept row stands */
    if (!from->moments) {
        return;
    }
    kept[0] = into->kept;
    kept[1] = from->kept;
    left[0] = (double)of_into;
    left[1] = (double)of_from;
    step[0] = kept[0] ? left[0] / kept[0] : 0;
    step[1] = kept[1] ? left[1] / kept[1] : 0;
    if (of_into + of_from <= into->capacity && kept[0] == of_into && kept[1] == of_from) {
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
        zt__draw_rows(layout, &state, into->rows + (size_t)stay[0] * layout->column_count, from->rows,
                      kept[1], stay[1]);
    }
    into->kept = stay[0] + stay[1];
    for (i = 0; i < layout->column_count; i++) {
        zt__merge_moments(&into->moments[i], &from->moments[i]);
    }
    for (i = 0; i < ZT__MAX_PASSES; i++) {
        into->seen[i] += from->seen[i];
    }
}

/* ---- reading statistics ---------------------------------------------------------------------------------- */

ZT__PRIVATE void zt__clear_stats(zt_stats *stats) {
    stats->count = 0;
    stats->sum = stats->mean = stats->stddev = zt__nan();
    stats->min = stats->max = zt__nan();
    stats->median = stats->p95 = zt__nan();
}

ZT__PRIVATE void zt__get_moments(const zt__sample_layout *layout, const zt__statistics *statistics,
                                 uint32_t column, zt_stats *stats) {
    const zt__moments *moments = statistics->moments ? &statistics->moments[column] : NULL;
    zt_aggregation aggregation = layout->aggregations[column];
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

ZT__PRIVATE uint32_t zt__copy_column(const zt__sample_layout *layout, const zt__statistics *statistics,
                                     uint32_t column, double *to) {
    uint32_t i, count = 0;
    for (i = 0; i < statistics->kept; i++) {
        double value = statistics->rows[(size_t)i * layout->column_count + column];
        if (!zt__is_nan(value)) {
            to[count++] = value;
        }
    }
    return count;
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

ZT__PRIVATE void zt__add_quantiles(const zt__sample_layout *layout, uint32_t column, double *values,
                                   uint32_t count, zt_stats *stats) {
    zt_aggregation aggregation = layout->aggregations[column];
    if (count > 0 && (aggregation == ZT_AGGREGATE_SUM || aggregation == ZT_AGGREGATE_MEAN)) {
        stats->median = zt__quantile(values, count, 0.5);
        stats->p95 = zt__quantile(values, count, 0.95);
    }
}
