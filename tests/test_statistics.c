/* The statistics are those of the samples: computed here again, in another way, from what the sample function
   received. */
#include "fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ==== the samples ========================================================================================= */

enum { MOST_METRICS = 256 };

typedef struct samples {
    uint32_t count, capacity, metrics;
    char (*names)[16];
    double *times;
    double *values; /* sample-major */
} samples;

static void keep_sample(const zt_sample *sample, void *user) {
    samples *kept = (samples *)user;
    if (kept->count == kept->capacity)
        return;
    strncpy(kept->names[kept->count], sample->name, sizeof kept->names[0] - 1);
    kept->metrics = sample->metric_count;
    kept->times[kept->count] = sample->gpu_time_ns;
    memcpy(kept->values + (size_t)kept->count * MOST_METRICS, sample->values,
           sample->metric_count * sizeof(double));
    kept->count++;
}

static samples *new_samples(uint32_t capacity) {
    samples *kept = (samples *)calloc(1, sizeof *kept);
    assert_non_null(kept);
    kept->capacity = capacity;
    kept->names = calloc(capacity, sizeof kept->names[0]);
    kept->times = calloc(capacity, sizeof(double));
    kept->values = calloc((size_t)capacity * MOST_METRICS, sizeof(double));
    assert_true(kept->names && kept->times && kept->values);
    return kept;
}

static void free_samples(samples *kept) {
    free(kept->names);
    free(kept->times);
    free(kept->values);
    free(kept);
}

static zt_profiler *open_sampled(world *w, const char *groups, uint32_t kept, samples *to) {
    zt_config config = config_of(w);
    config.groups = groups;
    config.samples = kept;
    config.sample = keep_sample;
    config.sample_user = to;
    zt_profiler *profiler = open_profiler(w, &config);
    assert_true(zt_get_info(profiler).metric_count <= MOST_METRICS);
    return profiler;
}

/* Launches of different length, so that values differ and means must be weighted. */
static void run_varied(world *w, zt_profiler *profiler, int count) {
    for (int i = 0; i < count; i++) {
        zt_region region = zt_begin(profiler, w->immediate, i % 3 ? "often" : "seldom");
        for (int launches = 0; launches <= i % 7; launches++)
            launch(w, w->immediate);
        zt_end(&region);
    }
    finish_immediate(w, w->immediate);
    collect_all(profiler);
}

/* ==== the statistics, computed again ====================================================================== */

static int by_value(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Interpolated linearly between neighbours in rank. */
static double quantile(const double *sorted, uint32_t count, double q) {
    double rank = q * (count - 1);
    uint32_t below = (uint32_t)rank;
    if (below + 1 >= count)
        return sorted[count - 1];
    return sorted[below] + (rank - below) * (sorted[below + 1] - sorted[below]);
}

typedef struct series {
    uint32_t count;
    double *values, *times, *sorted;
} series;

/* The values of one metric in one region; the GPU time itself for UINT32_MAX. */
static series series_of(const samples *kept, const char *region, uint32_t metric) {
    series of = {0, malloc(kept->count * 8), malloc(kept->count * 8), malloc(kept->count * 8)};
    assert_true(of.values && of.times && of.sorted);
    for (uint32_t i = 0; i < kept->count; i++) {
        if (strcmp(kept->names[i], region) != 0)
            continue;
        double value =
            metric == UINT32_MAX ? kept->times[i] : kept->values[(size_t)i * MOST_METRICS + metric];
        assert_true(value == value); /* no NaN */
        of.values[of.count] = of.sorted[of.count] = value;
        of.times[of.count++] = kept->times[i];
    }
    qsort(of.sorted, of.count, sizeof(double), by_value);
    return of;
}

static void free_series(series of) {
    free(of.values);
    free(of.times);
    free(of.sorted);
}

static double sum_of(const double *values, const double *weights, uint32_t count) {
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += values[i] * (weights ? weights[i] : 1);
    return sum;
}

/* The weights stand for as many observations as there are values. */
static double spread(const double *values, const double *weights, uint32_t count) {
    double weight = weights ? sum_of(weights, NULL, count) : count, squares = 0;
    double mean = sum_of(values, weights, count) / weight;
    for (uint32_t i = 0; i < count; i++)
        squares += (values[i] - mean) * (values[i] - mean) * (weights ? weights[i] : 1);
    return count > 1 ? sqrt(squares / (weight * (1 - 1.0 / count))) : 0;
}

/* Rounding adds up over a sum of squares. */
static void assert_near(double got, double expected, double scale) {
    if (fabs(got - expected) > 1e-6 * (fabs(scale) + fabs(expected)))
        fail_msg("%.17g, not %.17g", got, expected);
}

static void check_order(const zt_stats *got, const series *of) {
    assert_close(got->min, of->sorted[0]);
    assert_close(got->max, of->sorted[of->count - 1]);
    /* What is kept for quantiles are floats. */
    assert_near(got->median, quantile(of->sorted, of->count, 0.5), 0);
    assert_near(got->p95, quantile(of->sorted, of->count, 0.95), 0);
}

static void check_sum(const zt_stats *got, const series *of) {
    double sum = sum_of(of->values, NULL, of->count);
    assert_near(got->sum, sum, sum);
    assert_near(got->mean, sum / of->count, sum / of->count);
    assert_near(got->stddev, spread(of->values, NULL, of->count), got->mean);
    check_order(got, of);
}

static void check_mean(const zt_stats *got, const series *of) {
    double mean = sum_of(of->values, of->times, of->count) / sum_of(of->times, NULL, of->count);
    assert_true(isnan(got->sum));
    assert_near(got->mean, mean, mean);
    assert_near(got->stddev, spread(of->values, of->times, of->count), mean);
    check_order(got, of);
}

static void check_flag(const zt_stats *got, const series *of) {
    assert_near(got->sum, sum_of(of->values, NULL, of->count), 1);
}

static void check_none(const zt_stats *got, const series *of) {
    assert_true(isnan(got->sum));
    assert_true(isnan(got->mean));
    assert_true(isnan(got->stddev));
    assert_true(isnan(got->median));
    assert_true(isnan(got->p95));
    assert_close(got->min, of->sorted[0]);
    assert_close(got->max, of->sorted[of->count - 1]);
}

static void check_stats(const zt_stats *got, const series *of, zt_aggregation aggregation) {
    assert_int_equal(got->count, of->count);
    switch (aggregation) {
    case ZT_AGGREGATE_SUM:
        check_sum(got, of);
        break;
    case ZT_AGGREGATE_MEAN:
        check_mean(got, of);
        break;
    case ZT_AGGREGATE_FLAG:
        check_flag(got, of);
        break;
    case ZT_AGGREGATE_NONE:
        check_none(got, of);
        break;
    }
}

static void check_region(const zt_profiler *profiler, const samples *kept, const char *region) {
    uint32_t index = find_region(profiler, region);
    zt_region_info info = region_info(profiler, region);
    for (uint32_t metric = 0; metric < zt_get_info(profiler).metric_count; metric++) {
        zt_stats stats;
        series of = series_of(kept, region, metric);
        ok(zt_get_stats(profiler, index, metric, &stats));
        check_stats(&stats, &of, zt_get_metric(profiler, metric)->aggregation);
        free_series(of);
    }
    series times = series_of(kept, region, UINT32_MAX);
    assert_int_equal(info.count, times.count);
    check_stats(&info.time_ns, &times, ZT_AGGREGATE_SUM);
    free_series(times);
}

/* ==== tests =============================================================================================== */

static void test_statistics_of_all_metrics(void **state) {
    world *w = *state;
    samples *kept = new_samples(300);
    zt_profiler *profiler = open_sampled(w, "ComputeBasic,HostScheduler", 512, kept);
    run_varied(w, profiler, 200);
    assert_int_equal(kept->count, 200);
    assert_int_equal(kept->metrics, zt_get_info(profiler).metric_count);
    check_region(profiler, kept, "often");
    check_region(profiler, kept, "seldom");
    check_work(w);
    close_profiler(w, profiler);
    free_samples(kept);
}

static void test_statistics_of_times(void **state) {
    world *w = *state;
    samples *kept = new_samples(300);
    zt_profiler *profiler = open_sampled(w, "", 512, kept);
    run_varied(w, profiler, 100);
    assert_int_equal(kept->count, 100);
    assert_int_equal(kept->metrics, 0);
    check_region(profiler, kept, "often");
    check_region(profiler, kept, "seldom");
    close_profiler(w, profiler);
    free_samples(kept);
}

/* Statistics can be queried at any time, and are those of the samples so far. */
static void test_statistics_grow(void **state) {
    world *w = *state;
    samples *kept = new_samples(300);
    zt_profiler *profiler = open_sampled(w, "MemoryProfile", 512, kept);
    for (int i = 0; i < 10; i++) {
        run_varied(w, profiler, 9);
        check_region(profiler, kept, "often");
    }
    close_profiler(w, profiler);
    free_samples(kept);
}

/* Statistics include each sample as soon as it is collected. */
static void test_statistics_after_each_sample(void **state) {
    world *w = (world *)*state;
    samples *kept = new_samples(300);
    zt_profiler *profiler = open_sampled(w, "ComputeBasic", 512, kept);
    for (int i = 0; i < 40; i++) {
        run_varied(w, profiler, i % 9 + 1);
        check_region(profiler, kept, "seldom");
    }
    close_profiler(w, profiler);
    free_samples(kept);
}

static void test_one_sample(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.samples = 16;
    zt_profiler *profiler = open_profiler(w, &config);
    run(w, profiler, "one");
    collect_all(profiler);
    zt_stats stats = stats_of(profiler, "one", "GPGPU_THREADGROUP_COUNT");
    assert_int_equal(stats.count, 1);
    assert_true(stats.sum == WORK_GROUPS && stats.mean == WORK_GROUPS && stats.median == WORK_GROUPS);
    assert_true(stats.min == WORK_GROUPS && stats.max == WORK_GROUPS && stats.p95 == WORK_GROUPS);
    assert_true(stats.stddev == 0 || isnan(stats.stddev));
}

static double figure(const zt_profiler *profiler, const char *metric) {
    return stats_of(profiler, "retyped", metric).max;
}

/* The type of each value counts, not that of its metric. */
static void test_values_of_other_types(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    gpu.behave(SOFTGPU_VALUE_TYPES_DIFFER, 1);
    run(w, profiler, "retyped");
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    double read = figure(profiler, "GPU_MEMORY_BYTE_READ"), time = figure(profiler, "GpuTime");
    double rate = figure(profiler, "GPU_MEMORY_BYTE_READ_RATE");
    assert_true(figure(profiler, "GPGPU_THREADGROUP_COUNT") == WORK_GROUPS);
    assert_true(figure(profiler, "WORK_ITEM_COUNT") ==
                WORK_GROUPS * figure(profiler, "WORK_ITEMS_PER_GROUP"));
    assert_true(read > 0 && time > 0 && fabs(rate - read / time) < 1e-6 * rate);
    assert_true(figure(profiler, "GPU_BUSY") == figure(profiler, "COMMAND_PARSER_COMPUTE_ENGINE_BUSY"));
    check_work(w);
}

/* The statistics of a region without samples are NaN. */
static void test_no_sample(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    append(w, profiler, w->list, "recorded");
    zt_stats stats = stats_of(profiler, "recorded", "GpuTime");
    assert_int_equal(stats.count, 0);
    assert_true(isnan(stats.mean) && isnan(stats.min) && isnan(stats.max));
    assert_true(isnan(stats.median) && isnan(stats.p95) && isnan(stats.stddev));
    assert_int_equal(region_info(profiler, "recorded").count, 0);
    ok(zt_release(profiler, w->list));
}

/* F6: type and unit decide. Counts may have any unit, or none. */
static zt_aggregation expected_aggregation(const zt_metric *metric) {
    const char *means[] = {"percent", "MHz", "GBpS"};
    switch (metric->type) {
    case ZET_METRIC_TYPE_FLAG:
        return ZT_AGGREGATE_FLAG;
    case ZET_METRIC_TYPE_TIMESTAMP:
    case ZET_METRIC_TYPE_RAW:
        return ZT_AGGREGATE_NONE;
    case ZET_METRIC_TYPE_RATIO:
    case ZET_METRIC_TYPE_THROUGHPUT:
        return ZT_AGGREGATE_MEAN;
    default:
        break;
    }
    for (size_t i = 0; i < sizeof means / sizeof means[0]; i++)
        if (strcmp(metric->units, means[i]) == 0)
            return ZT_AGGREGATE_MEAN;
    return ZT_AGGREGATE_SUM;
}

static void test_aggregation_by_type_and_unit(void **state) {
    world *w = *state;
    int seen[4] = {0, 0, 0, 0};
    const char *groups[] = {"ComputeBasic,HostScheduler", "MemoryProfile", "Set4"};
    gpu.behave(SOFTGPU_MANY_SETS, 1);
    for (int i = 0; i < 3; i++) {
        zt_profiler *profiler = open_groups(w, groups[i]);
        for (uint32_t m = 0; m < zt_get_info(profiler).metric_count; m++) {
            const zt_metric *metric = zt_get_metric(profiler, m);
            if (metric->aggregation != expected_aggregation(metric))
                fail_msg("%s (type %d, %s): %d", metric->name, metric->type, metric->units,
                         metric->aggregation);
            seen[metric->aggregation]++;
        }
        close_profiler(w, profiler);
    }
    for (int i = 0; i < 4; i++)
        assert_true(seen[i] > 0);
}

/* F6: metrics whose type alone is misleading. */
static void test_aggregation_of_misleading_types(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    const zt_metric *frequency = zt_get_metric(profiler, zt_find_metric(profiler, "AvgGpuCoreFrequencyMHz"));
    const zt_metric *busy = zt_get_metric(profiler, zt_find_metric(profiler, "GPU_BUSY"));
    assert_non_null(frequency);
    assert_non_null(busy);
    assert_int_equal(frequency->type, ZET_METRIC_TYPE_EVENT);
    assert_int_equal(frequency->aggregation, ZT_AGGREGATE_MEAN);
    assert_int_equal(busy->type, ZET_METRIC_TYPE_DURATION);
    assert_int_equal(busy->aggregation, ZT_AGGREGATE_MEAN);
    for (int i = 0; i < 10; i++)
        run(w, profiler, "measured");
    collect_all(profiler);
    zt_stats stats = stats_of(profiler, "measured", "GPU_BUSY");
    assert_in_range((int)stats.mean, 0, 100); /* as a sum it would be ten times that */
    assert_true(stats.mean >= stats.min - 1e-6 && stats.mean <= stats.max + 1e-6);
}

/* Threads, pixels, primitives: counts add up even if their unit is unknown. */
static void test_unknown_units_add_up(void **state) {
    world *w = *state;
    gpu.behave(SOFTGPU_MANY_SETS, 1);
    zt_profiler *profiler = open_groups(w, "Set4");
    const zt_metric *threads = zt_get_metric(profiler, zt_find_metric(profiler, "ITEMS_OF_SET_4"));
    assert_non_null(threads);
    assert_string_equal(threads->units, "threads");
    assert_int_equal(threads->aggregation, ZT_AGGREGATE_SUM);
    for (int i = 0; i < 3; i++)
        run(w, profiler, "counted");
    collect_all(profiler);
    assert_true(stats_of(profiler, "counted", "ITEMS_OF_SET_4").sum == 3 * WORK_ITEMS);
    check_work(w);
}

/* How far a value is from the quantile of so many percent, in percent of the values. It is the quantile if not more
   are smaller, and not more are larger: of equal values, which are many where a clock is coarse, any may be the
   one. */
static double quantile_error(const series *of, double value, double percent) {
    double smaller = 0, larger = 0;
    for (uint32_t i = 0; i < of->count; i++) {
        smaller += of->sorted[i] < value;
        larger += of->sorted[i] > value;
    }
    return fmax(0, fmax(100 * smaller / of->count - percent, 100 * larger / of->count - (100 - percent)));
}

/* Beyond the samples kept, quantiles are estimated, with the error that the manual says: five times that is
   never seen. Sums and extremes stay exact. */
static void test_quantiles_beyond_the_kept_samples(void **state) {
    NOT_ON_WINDOWS("the clock has steps of 100 ns there, so that many times are equal");
    world *w = *state;
    const int count = INSTRUMENTED ? 1200 : 4000;
    samples *kept = new_samples((uint32_t)count);
    zt_profiler *profiler = open_sampled(w, "ComputeBasic", 512, kept);
    for (int i = 0; i < count; i++) {
        append(w, profiler, w->immediate, "many");
        if (i % 500 == 499)
            finish_immediate(w, w->immediate);
    }
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    assert_int_equal(kept->count, count);
    series of = series_of(kept, "many", UINT32_MAX);
    zt_stats times = region_info(profiler, "many").time_ns;
    assert_int_equal(times.count, count);
    assert_near(times.sum, sum_of(of.values, NULL, of.count), times.sum);
    assert_close(times.min, of.sorted[0]);
    assert_close(times.max, of.sorted[count - 1]);
    assert_true(quantile_error(&of, times.median, 50) <= 5 * 2.2);
    assert_true(quantile_error(&of, times.p95, 95) <= 5 * 1.0);
    free_series(of);
    close_profiler(w, profiler);
    free_samples(kept);
}

/* Samples are drawn from the whole run, not from its beginning: the second half takes many times longer. */
static void test_kept_samples_are_drawn_evenly(void **state) {
    world *w = *state;
    const int count = 1000;
    zt_config config = config_of(w);
    config.samples = 64;
    zt_profiler *profiler = open_profiler(w, &config);
    for (int i = 0; i < count; i++) {
        zt_region region = zt_begin(profiler, w->immediate, "changing");
        for (int launches = 0; launches < (i < count * 3 / 10 ? 1 : 3); launches++)
            launch(w, w->immediate);
        zt_end(&region);
    }
    check_work(w);
    collect_all(profiler);
    zt_stats groups = stats_of(profiler, "changing", "GPGPU_THREADGROUP_COUNT");
    assert_true(groups.min == WORK_GROUPS && groups.max == 3 * WORK_GROUPS);
    assert_true(groups.median == 3 * WORK_GROUPS); /* 70 % of the run; the first 64 would say otherwise */
    assert_true(groups.sum == (double)w->launches * WORK_GROUPS);
}

/* A sample function receives all values, and may use the library. */
typedef struct inside {
    zt_profiler *profiler;
    world *w;
    int called;
    ze_result_t collect, release;
} inside;

static void use_library(const zt_sample *sample, void *user) {
    inside *in = (inside *)user;
    zt_counts counts = zt_get_info(in->profiler).counts;
    assert_true(counts.begun >= counts.collected);
    assert_true(sample->region < zt_get_info(in->profiler).region_count);
    assert_int_equal(sample->metric_count, zt_get_info(in->profiler).metric_count);
    in->collect = zt_collect(in->profiler, 0);
    in->release = zt_release(in->profiler, in->w->list);
    if (in->called++ < 3) {
        zt_region region = zt_begin(in->profiler, in->w->immediate, "from the callback");
        zt_end(&region);
    }
}

static void test_callback_may_use_the_library(void **state) {
    world *w = *state;
    inside in = {NULL, w, 0, ZE_RESULT_SUCCESS, ZE_RESULT_SUCCESS};
    zt_config config = config_of(w);
    config.sample = use_library;
    config.sample_user = &in;
    in.profiler = open_profiler(w, &config);
    for (int i = 0; i < 4; i++)
        run(w, in.profiler, "outside");
    collect_all(in.profiler);
    finish_immediate(w, w->immediate);
    collect_all(in.profiler);
    assert_int_equal(in.called, 7);
    assert_true(in.collect == ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    ok(in.release); /* which waits for nobody */
    assert_counts(in.profiler, counted(7, 7, 0, 0, 0));
    check_work(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_statistics_of_all_metrics),
        TEST(test_statistics_of_times),
        TEST(test_statistics_grow),
        TEST(test_one_sample),
        TEST(test_values_of_other_types),
        TEST(test_no_sample),
        TEST(test_aggregation_by_type_and_unit),
        TEST(test_aggregation_of_misleading_types),
        TEST(test_unknown_units_add_up),
        TEST(test_statistics_after_each_sample),
        TEST(test_quantiles_beyond_the_kept_samples),
        TEST(test_kept_samples_are_drawn_evenly),
        TEST(test_callback_may_use_the_library),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
