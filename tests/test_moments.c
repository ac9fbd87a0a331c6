/* Samples that are added together give the statistics of those that are added one by one; and each time is counted in
   the bucket that it is in. */
#define ZETOOLS_IMPLEMENTATION
#define ZETOOLS_STATIC
#include "fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 9, KEPT = 16 };

static const zt_aggregation aggregations[COLUMNS] = {ZT_AGGREGATE_SUM,  ZT_AGGREGATE_MEAN, ZT_AGGREGATE_FLAG,
                                                     ZT_AGGREGATE_NONE, ZT_AGGREGATE_MEAN, ZT_AGGREGATE_SUM,
                                                     ZT_AGGREGATE_SUM,  ZT_AGGREGATE_MEAN, ZT_AGGREGATE_SUM};
static const uint32_t kept_columns[] = {0, 4};
static const zt__sample_layout layout = {COLUMNS, KEPT, 2, kept_columns, aggregations};

static zt__statistics make_statistics(void) {
    zt__statistics statistics;
    memset(&statistics, 0, sizeof statistics);
    statistics.seed = 7;
    statistics.moments = calloc(COLUMNS, sizeof *statistics.moments);
    statistics.rows = calloc((size_t)KEPT * 2, sizeof *statistics.rows);
    statistics.capacity = KEPT;
    assert_true(statistics.moments && statistics.rows);
    return statistics;
}

static void free_statistics(zt__statistics *statistics) {
    free(statistics->moments);
    free(statistics->rows);
}

static int is_close(double a, double b, double scale) {
    return a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-9 * (fabs(a) + fabs(b) + scale);
}

static void assert_same(const zt__statistics *together, const zt__statistics *single) {
    assert_int_equal(together->count, single->count);
    assert_int_equal(together->kept, single->kept);
    assert_memory_equal(together->rows, single->rows, (size_t)KEPT * 2 * sizeof *single->rows);
    assert_memory_equal(together->time_counts, single->time_counts, sizeof single->time_counts);
    for (int c = 0; c < COLUMNS; c++) {
        const zt__moments *a = &together->moments[c], *b = &single->moments[c];
        assert_int_equal(a->count, b->count);
        assert_true(a->min == b->min && a->max == b->max);
        assert_true(is_close(a->sum, b->sum, 0) && is_close(a->weight, b->weight, 0));
        assert_true(is_close(a->mean, b->mean, 0));
        assert_true(is_close(a->m2, b->m2, 1e-6 * b->weight * b->mean * b->mean));
    }
}

static double rows[ZT__BATCH][COLUMNS];

/* Adds the rows a few times, together and one by one. */
static void add_both_ways(uint32_t count) {
    zt__statistics together = make_statistics(), single = make_statistics();
    const double *pointers[ZT__BATCH];
    for (int times = 0; times < 3; times++) {
        for (uint32_t i = 0; i < count; i++) {
            pointers[i] = rows[i];
            zt__add_sample(&layout, &single, rows[i]);
        }
        zt__add_several(&layout, &together, pointers, count);
        assert_same(&together, &single);
    }
    free_statistics(&together);
    free_statistics(&single);
}

static void fill_rows(double from, double range) {
    for (int i = 0; i < ZT__BATCH; i++)
        for (int c = 0; c < COLUMNS; c++)
            rows[i][c] = from + range * rand() / RAND_MAX;
}

static void test_any_number(void **state) {
    (void)state;
    fill_rows(1000, 1e6);
    for (uint32_t count = 0; count <= ZT__BATCH; count++)
        add_both_ways(count);
}

static void test_no_digits_cancel(void **state) {
    (void)state;
    fill_rows(1e12, 1);
    add_both_ways(ZT__BATCH);
    fill_rows(1e12, 1);
    for (int c = 1; c < COLUMNS; c++)
        rows[0][c] = 0;
    add_both_ways(ZT__BATCH);
}

/* Of equal values the deviation is 0, and the mean is that value. */
static void test_equal_values(void **state) {
    zt__statistics statistics = make_statistics();
    const double *pointers[ZT__BATCH];
    (void)state;
    for (int i = 0; i < ZT__BATCH; i++) {
        pointers[i] = rows[i];
        for (int c = 0; c < COLUMNS; c++)
            rows[i][c] = c ? 0.1 : i + 0.3;
    }
    zt__add_several(&layout, &statistics, pointers, 48);
    zt__add_several(&layout, &statistics, pointers + 48, 16);
    for (int c = 1; c < COLUMNS; c++) {
        const zt__moments *moments = &statistics.moments[c];
        int is_weighed = aggregations[c] == ZT_AGGREGATE_SUM || aggregations[c] == ZT_AGGREGATE_MEAN;
        assert_true(moments->m2 == 0 && moments->mean == (is_weighed ? 0.1 : 0));
    }
    free_statistics(&statistics);
}

static void test_missing_values(void **state) {
    (void)state;
    fill_rows(1, 10);
    for (int i = 0; i < ZT__BATCH; i++) {
        rows[i][5] = NAN;
        rows[i][i % 3 + 6] = NAN;
    }
    add_both_ways(ZT__BATCH);
    for (int i = 0; i < ZT__BATCH;
         i += 2) /* which have no weight, where the mean of others is weighed by it */
        rows[i][0] = i % 4 ? NAN : 0;
    add_both_ways(ZT__BATCH);
    for (int i = 0; i < ZT__BATCH; i++)
        rows[i][0] = 0;
    add_both_ways(ZT__BATCH);
}

static void test_large_values(void **state) {
    (void)state;
    fill_rows(1e200, 1e201);
    add_both_ways(ZT__BATCH);
}

static void test_buckets_of_times(void **state) {
    (void)state;
    for (uint32_t bucket = 0; bucket < ZT__TIME_BUCKETS; bucket++) {
        double end = zt__time_bucket_end(bucket);
        assert_int_equal(zt__bucket_of_time(end), bucket);
        assert_int_equal(zt__bucket_of_time(nextafter(end, 0)), bucket);
        if (bucket + 1 < ZT__TIME_BUCKETS)
            assert_int_equal(zt__bucket_of_time(nextafter(end, INFINITY)), bucket + 1);
    }
    assert_int_equal(zt__bucket_of_time(0), 0);
    assert_int_equal(zt__bucket_of_time(-1), 0);
}

/* Times in ascending order have quantiles without being sorted once more; others, and none, have not. */
static void test_quantiles_of_sorted_times(void **state) {
    static const struct {
        float times[5];
        uint32_t kept;
        int is_sorted;
        double median;
    } cases[] = {{{0}, 0, 0, 0},          {{3}, 1, 1, 3},    {{1, 2, 4, 4, 8}, 5, 1, 4},
                 {{1, 2, 4, 8}, 4, 1, 3}, {{2, 1}, 2, 0, 0}, {{1, NAN, 2}, 3, 0, 0},
                 {{1, 2, NAN}, 3, 0, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        zt__statistics statistics = make_statistics();
        double median = 0, p95 = 0;
        float *kept = statistics.rows;
        if (!cases[i].kept)
            statistics.rows = NULL; /* as long as there is no sample */
        for (uint32_t k = 0; k < cases[i].kept; k++)
            kept[2 * k] = cases[i].times[k];
        statistics.count = statistics.kept = cases[i].kept;
        zt__find_sorted_quantiles(&layout, &statistics);
        assert_int_equal(zt__get_sorted_quantiles(&layout, &statistics, 0, &median, &p95),
                         cases[i].is_sorted);
        assert_true(!cases[i].is_sorted || is_close(median, cases[i].median, 0));
        assert_false(zt__get_sorted_quantiles(&layout, &statistics, 4, &median, &p95));
        statistics.count++; /* another sample may be anywhere */
        assert_false(zt__get_sorted_quantiles(&layout, &statistics, 0, &median, &p95));
        statistics.rows = kept;
        free_statistics(&statistics);
    }
}

/* Several at once are compared where nothing else is kept. */
static void test_quantiles_of_times_alone(void **state) {
    enum { MOST = 14 };
    zt__sample_layout alone = layout;
    zt__statistics statistics = make_statistics();
    double median = 0, p95 = 0;
    (void)state;
    alone.kept_count = 1;
    for (uint32_t kept = 1; kept <= MOST; kept++)
        for (uint32_t wrong = 0; wrong <= kept; wrong++) { /* is not in its place; `kept`: all are */
            for (uint32_t i = 0; i < kept; i++)
                statistics.rows[i] = (float)(i + 1);
            if (wrong < kept)
                statistics.rows[wrong] = wrong % 2 ? NAN : wrong + 1 < kept ? MOST + 1 : -1;
            statistics.count = statistics.kept = kept;
            zt__find_sorted_quantiles(&alone, &statistics);
            assert_int_equal(zt__get_sorted_quantiles(&alone, &statistics, 0, &median, &p95),
                             wrong == kept || kept == 1);
            assert_true(wrong < kept || is_close(median, (kept + 1) / 2.0, 0));
        }
    statistics.kept = 0;
    free_statistics(&statistics);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_number),
        cmocka_unit_test(test_no_digits_cancel),
        cmocka_unit_test(test_equal_values),
        cmocka_unit_test(test_missing_values),
        cmocka_unit_test(test_large_values),
        cmocka_unit_test(test_buckets_of_times),
        cmocka_unit_test(test_quantiles_of_sorted_times),
        cmocka_unit_test(test_quantiles_of_times_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
