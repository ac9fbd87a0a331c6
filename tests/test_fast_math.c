/* Compiled with -ffast-math, which some compilers use by default: the compiler assumes that no value is NaN.
   NaN must still stand for what was not measured. */
#include <level_zero/zet_api.h>

/* Stands between library and driver, and replaces some values by NaN or infinity. */
static ze_result_t calculate_oddly(zet_metric_group_handle_t group, zet_metric_group_calculation_type_t type,
                                   size_t size, const uint8_t *raw, uint32_t *count,
                                   zet_typed_value_t *values);

#define zetMetricGroupCalculateMetricValues calculate_oddly
#define ZETOOLS_STATIC
#define ZETOOLS_IMPLEMENTATION
#include "zetools.h"
#undef zetMetricGroupCalculateMetricValues

#include "fixture.h"

#include <stdlib.h>
#include <string.h>

/* Tests the bits, because the compiler assumes that there is no NaN. */
static int is_missing(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits << 1 > UINT64_C(0xffe0000000000000);
}

static double missing(void) {
    uint64_t bits = UINT64_C(0x7ff8000000000000);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Of one metric, every fourth report has its number among the reports; the others are none, infinite, and
   infinite below 0. */
static uint32_t odd_metric = UINT32_MAX, metrics_of_report, odd_reports;

static void make_odd(uint32_t metric, uint32_t metrics) {
    odd_metric = metric;
    metrics_of_report = metrics;
    odd_reports = 0;
}

static int is_odd(uint32_t report) {
    return report % 4 != 0;
}

static ze_result_t calculate_oddly(zet_metric_group_handle_t group, zet_metric_group_calculation_type_t type,
                                   size_t size, const uint8_t *raw, uint32_t *count,
                                   zet_typed_value_t *values) {
    static const uint32_t oddities[] = {0, 0x7fc00000, 0x7f800000, 0xff800000};
    ze_result_t result = zetMetricGroupCalculateMetricValues(group, type, size, raw, count, values);
    for (uint32_t i = odd_metric; values && i < *count; i += metrics_of_report, odd_reports++) {
        values[i].type = ZET_VALUE_TYPE_FLOAT32;
        if (is_odd(odd_reports))
            memcpy(&values[i].value.fp32, &oddities[odd_reports % 4], sizeof oddities[0]);
        else
            values[i].value.fp32 = (float)odd_reports;
    }
    return result;
}

static zt_profiler *open_groups_here(const world *w, const char *groups) {
    zt_config config = {0};
    zt_profiler *profiler;
    config.groups = groups;
    config.max_passes = 2;
    assert_int_equal(zt_open(w->context, w->device, &config, &profiler), ZE_RESULT_SUCCESS);
    assert_int_equal(zt_get_info(profiler).availability, ZT_AVAILABLE);
    return profiler;
}

static void measure(world *w, zt_profiler *profiler, int regions) {
    for (int i = 0; i < regions; i++) {
        zt_region region = zt_begin(profiler, w->immediate, "measured");
        launch(w, w->immediate);
        zt_end(&region);
    }
    finish_immediate(w, w->immediate);
    assert_int_equal(zt_collect(profiler, A_WHILE), ZE_RESULT_SUCCESS);
}

static const char *written_here(const zt_profiler *profiler, zt_format format) {
    static kept_text to;
    to.used = 0;
    assert_int_equal(zt_write(profiler, format, keep_text, &to), ZE_RESULT_SUCCESS);
    assert_null(strstr(to.bytes, "nan"));
    assert_null(strstr(to.bytes, "inf"));
    return to.bytes;
}

static void check_figures(const zt_profiler *profiler, uint32_t metric, uint64_t count) {
    zt_aggregation aggregation = zt_get_metric(profiler, metric)->aggregation;
    zt_stats stats;
    assert_int_equal(zt_get_stats(profiler, 0, metric, &stats), ZE_RESULT_SUCCESS);
    assert_int_equal(stats.count, count);
    assert_int_equal(is_missing(stats.sum),
                     aggregation != ZT_AGGREGATE_SUM && aggregation != ZT_AGGREGATE_FLAG);
    assert_int_equal(is_missing(stats.mean),
                     aggregation == ZT_AGGREGATE_NONE || aggregation == ZT_AGGREGATE_FLAG);
    assert_int_equal(is_missing(stats.max), aggregation == ZT_AGGREGATE_FLAG);
}

static void test_is_compiled_so(void **state) {
    (void)state;
    assert_int_equal(__FINITE_MATH_ONLY__, 1);
}

static void test_what_is_not_there(void **state) {
    world *w = (world *)*state;
    zt_profiler *profiler = open_groups_here(w, "ComputeBasic");
    zt_stats stats;
    measure(w, profiler, 20);
    for (uint32_t metric = 0; metric < zt_get_info(profiler).metric_count; metric++)
        check_figures(profiler, metric, 20);
    const char *table = written_here(profiler, ZT_FORMAT_TABLE); /* units stand over the figures */
    assert_true(strstr(table, " us ") || strstr(table, " ms "));
    assert_int_not_equal(zt_get_stats(profiler, 1, 0, &stats), ZE_RESULT_SUCCESS);
    assert_true(is_missing(stats.sum) && is_missing(stats.median));
    zt_close(profiler);
}

/* Metrics that a pass does not measure are NaN in its samples. */
static void test_passes(void **state) {
    world *w = (world *)*state;
    zt_profiler *profiler = open_groups_here(w, "ComputeBasic,MemoryProfile");
    ZT_PASSES(profiler) {
        measure(w, profiler, 20);
    }
    for (uint32_t metric = 0; metric < zt_get_info(profiler).metric_count; metric++)
        check_figures(profiler, metric, 20);
    zt_close(profiler);
}

/* Values that the driver reports as NaN or infinite are in no statistics. */
static void test_values_that_are_none(void **state) {
    world *w = (world *)*state;
    zt_profiler *profiler = open_groups_here(w, "ComputeBasic");
    uint32_t metric = zt_find_metric(profiler, "GPU_BUSY");
    zt_stats stats;
    make_odd(metric, zt_get_info(profiler).metric_count);
    measure(w, profiler, 20);
    make_odd(UINT32_MAX, 0);
    check_figures(profiler, metric, 5);
    assert_int_equal(zt_get_stats(profiler, 0, metric, &stats), ZE_RESULT_SUCCESS);
    assert_true(stats.min == 0 && stats.median == 8 && stats.max == 16);
    written_here(profiler, ZT_FORMAT_CSV);
    zt_close(profiler);
}

/* ==== streams and the timeline ============================================================================ */

enum { MARKS = 16 };

/* Of GPU_BUSY the rows have odd values. The first report gives no row. */
static zt_stream *open_odd_stream(world *w, zt_profiler *profiler) {
    zt_stream_config config = {0};
    zt_stream *stream;
    config.period_ns = 4000000000u; /* so that reports come by markers alone */
    config.profiler = profiler;
    assert_int_equal(zt_stream_open(w->context, w->device, &config, &stream), ZE_RESULT_SUCCESS);
    make_odd(zt_stream_find_metric(stream, "GPU_BUSY"), zt_stream_get_info(stream).metric_count);
    return stream;
}

static void mark_here(world *w, zt_stream *stream, int marks) {
    for (int i = 0; i < marks; i++)
        assert_int_equal(zt_stream_mark(stream, w->immediate, "mark"), ZE_RESULT_SUCCESS);
}

/* Reads the rows of markers, of which one metric has odd values. */
static void read_odd_rows(world *w, const char *metric, zt_row_fn check, void *user) {
    zt_stream *stream = open_odd_stream(w, NULL);
    odd_metric = zt_stream_find_metric(stream, metric);
    mark_here(w, stream, MARKS);
    finish_immediate(w, w->immediate);
    zt_stream_counts counts;
    zt_stream_close(stream, check, user, &counts);
    make_odd(UINT32_MAX, 0);
    assert_int_equal(counts.rows, MARKS - 1);
    assert_int_equal(counts.reports, counts.rows + counts.discarded);
    assert_int_equal(counts.dropped, 0);
}

typedef struct odd_rows {
    uint32_t count, odd;
    uint64_t device_ns;
} odd_rows;

static int check_row(const zt_row *row, void *user) {
    odd_rows *rows = (odd_rows *)user;
    double value = row->values[odd_metric];
    uint32_t number = ++rows->count + 1; /* the first report is calculated twice */
    assert_int_equal(is_missing(value), is_odd(number));
    if (is_odd(number))
        rows->odd++;
    else
        assert_true(value == number);
    assert_true(row->device_ns >= rows->device_ns);
    assert_string_equal(row->marker, "mark");
    rows->device_ns = row->device_ns;
    return 0;
}

static int skip_row(const zt_row *row, void *user) {
    (void)row, (void)user;
    return 0;
}

/* The first calculation of a process returns a row less. */
static void test_rows(void **state) {
    odd_rows rows = {0, 0, 0};
    read_odd_rows((world *)*state, "GPU_BUSY", skip_row, NULL);
    read_odd_rows((world *)*state, "GPU_BUSY", check_row, &rows);
    assert_int_equal(rows.count, MARKS - 1);
    assert_int_equal(rows.odd, MARKS - 1 - MARKS / 4);
}

/* Three of four rows do not tell when they were: the times of the others, and of the device, stand for them.
 */
static int check_time(const zt_row *row, void *user) {
    uint64_t *last = (uint64_t *)user;
    assert_true(row->device_ns >= *last && row->device_ns < INT64_MAX);
    assert_true(row->time_ns < INT64_MAX);
    *last = row->device_ns;
    return 0;
}

static void test_times_that_are_none(void **state) {
    uint64_t last = 1;
    read_odd_rows((world *)*state, "QueryBeginTime", check_time, &last);
    assert_true(last > 1);
}

/* Markers have numbers, of which 4 is none: no name is looked for where there is no number. */
static int check_no_marker(const zt_row *row, void *user) {
    assert_null(row->marker);
    ++*(int *)user;
    return 0;
}

static void test_markers(void **state) {
    int rows = 0;
    read_odd_rows((world *)*state, "StreamMarker", check_no_marker, &rows);
    assert_int_equal(rows, MARKS - 1);
}

static zt_stats streamed_here(const zt_profiler *profiler, uint32_t region, uint32_t metric) {
    zt_stats streamed;
    assert_int_equal(zt_get_stats(profiler, region, ZT_STREAMED(metric), &streamed), ZE_RESULT_SUCCESS);
    return streamed;
}

static int count_of(const char *text, const char *part) {
    int count = 0;
    while ((text = strstr(text, part)) != NULL)
        text++, count++;
    return count;
}

/* Rows 2 to 12 are within the region, and 1 and 13 perhaps: 4, 8 and 12 have a number, and weigh as
   much as they last. */
static void test_attribution(void **state) {
    world *w = (world *)*state;
    zt_config config = {0};
    zt_profiler *profiler;
    config.groups = "";
    config.timeline = 100;
    assert_int_equal(zt_open(w->context, w->device, &config, &profiler), ZE_RESULT_SUCCESS);
    zt_stream *stream = open_odd_stream(w, profiler);
    uint32_t metric = odd_metric, groups = zt_stream_find_metric(stream, "GPGPU_THREADGROUP_COUNT");
    mark_here(w, stream, 1);
    zt_region region = zt_begin(profiler, w->immediate, "within");
    mark_here(w, stream, 12);
    launch(w, w->immediate);
    zt_end(&region);
    mark_here(w, stream, 1);
    finish_immediate(w, w->immediate);
    zt_stream_close(stream, NULL, NULL, NULL);
    make_odd(UINT32_MAX, 0);
    measure(w, profiler, 1);
    zt_stats within = streamed_here(profiler, 0, metric), after = streamed_here(profiler, 1, metric);
    assert_int_equal(within.count, 3);
    assert_false(is_missing(within.mean));
    assert_true(within.mean > 4 && within.mean < 12 && within.max == 12);
    assert_true(streamed_here(profiler, 0, groups).count >= 11);
    assert_int_equal(after.count, 0);
    assert_true(is_missing(after.mean) && is_missing(after.max));
    const char *trace = written_here(profiler, ZT_FORMAT_TRACE);
    assert_int_equal(count_of(trace, "\"GPU_BUSY [%]\""), 3);
    const char *first = strstr(strstr(trace, "\"GPU_BUSY [%]\""), "\"value\":");
    assert_int_equal(strncmp(first, "\"value\":4}", 10), 0);
    zt_close(profiler);
    check_work(w);
}

/* ==== the harness ========================================================================================= */

typedef struct readings {
    uint32_t count;
    double first, step; /* the samples */
} readings;

static double next_reading(void *user) {
    readings *of = (readings *)user;
    return of->first + of->step * of->count++;
}

static zt_bench_config bench_of(readings *of, double first, double step) {
    zt_bench_config config;
    memset(&config, 0, sizeof config);
    of->count = 0;
    of->first = first;
    of->step = step;
    config.name = "readings";
    config.measure = next_reading;
    config.user = of;
    config.min_time_ns = 1;
    config.max_time_ns = A_WHILE;
    config.max_samples = 200;
    return config;
}

/* Known for every second sample, and once another. */
static double odd_frequency(void *user) {
    uint32_t count = ((const readings *)user)->count;
    return count % 2 ? missing() : count == 10 ? 1000 : 1990 + count;
}

static void test_frequencies_that_nobody_tells(void **state) {
    (void)state;
    static zt_bench_result result;
    static kept_text text;
    readings of;
    zt_bench_config config = bench_of(&of, 1000, 1);
    config.min_samples = config.max_samples = 20;
    assert_int_equal(zt_bench(NULL, &config, &result), ZE_RESULT_SUCCESS);
    assert_true(is_missing(result.frequency_mhz) && is_missing(result.perturbation));
    assert_int_equal(result.changed, 0);
    text.used = 0;
    assert_int_equal(zt_write_benches(NULL, &result, 1, keep_text, &text), ZE_RESULT_SUCCESS);
    assert_contains(text.bytes, "frequency is not known");
    assert_null(strstr(text.bytes, "nan"));
    config = bench_of(&of, 1000, 1);
    config.min_samples = config.max_samples = 20;
    config.frequency = odd_frequency;
    assert_int_equal(zt_bench(NULL, &config, &result), ZE_RESULT_SUCCESS);
    assert_true(result.frequency_mhz == 2003); /* of ten that are known */
    assert_int_equal(result.changed, 1);
    assert_int_equal(result.marks[10 - 3 - 1], ZT_BENCH_CHANGED); /* after three of warm-up */
}

/* Where the median is 0, no width is a share of it: neither precise, nor noise. */
static void test_a_precision_that_there_is_not(void **state) {
    (void)state;
    static zt_bench_result result;
    readings of;
    zt_bench_config config = bench_of(&of, 0, 0);
    assert_int_equal(zt_bench(NULL, &config, &result), ZE_RESULT_SUCCESS);
    assert_int_equal(result.end, ZT_BENCH_FULL);
    assert_int_equal(result.count, 200);
    assert_true(is_missing(result.precision));
    assert_true(result.median == 0 && result.low == 0 && result.high == 0);
}

static void test_a_ratio_that_there_is_not(void **state) {
    (void)state;
    static zt_comparison result;
    readings a, b;
    zt_bench_config config_a = bench_of(&a, 0, 0), config_b = bench_of(&b, 0, 0);
    assert_int_equal(zt_compare(NULL, &config_a, &config_b, &result), ZE_RESULT_SUCCESS);
    assert_true(is_missing(result.ratio));
    assert_true(result.low == 1 && result.high == 1);
    assert_int_equal(result.differs, 0);
    config_a = bench_of(&a, 1000, 1);
    config_b = bench_of(&b, 2000, 2);
    assert_int_equal(zt_compare(NULL, &config_a, &config_b, &result), ZE_RESULT_SUCCESS);
    assert_true(result.low > 1.99 && result.high < 2.01);
    assert_int_equal(result.differs, 1);
}

static void test_samples_that_are_none(void **state) {
    (void)state;
    static zt_bench_result result;
    readings of;
    const char *text;
    zt_bench_config config = bench_of(&of, missing(), 0);
    assert_int_equal(zt_bench(NULL, &config, &result), ZE_RESULT_NOT_READY);
    assert_int_equal(result.count, 0);
    assert_true(is_missing(result.median) && is_missing(result.low) && is_missing(result.max));
    text = zt_last_error(NULL);
    assert_contains(text, "[NO_BENCH_SAMPLE]");
}

/* What was not measured fulfils no condition, whichever way it compares. */
static void test_limits_without_figures(void **state) {
    (void)state;
    zt__advice advice;
    zt_limit_info info;
    double figures[ZT__ROLE_COUNT], errors[ZT__ROLE_COUNT] = {0};
    memset(&advice, 0xff, sizeof advice);
    memset(&info, 0, sizeof info);
    advice.naming = ZT__NAMES_XE2;
    for (int i = 0; i < ZT__ROLE_COUNT; i++) {
        figures[i] = missing();
        advice.elsewhere[i] = zt__roles[i].metrics[ZT__NAMES_XE2][0] != 0; /* the first name of each */
    }
    zt__apply_rules(&advice, figures, errors, &info);
    assert_int_equal(info.limit, ZT_LIMIT_UNKNOWN);
    assert_string_equal(info.missing, "XVE_THREADS_OCCUPANCY_ALL,XVE_STALL");
    /* All rules before the last are undecided, so their metrics are missing. */
    memset(&info, 0, sizeof info);
    figures[ZT__ROLE_WALL_SHARE] = 30;
    zt__apply_rules(&advice, figures, errors, &info);
    assert_int_equal(info.limit, ZT_LIMIT_HOST);
    assert_string_equal(info.missing,
                        "XVE_INST_EXECUTED_ALU2_ALL_UTILIZATION,XVE_THREADS_OCCUPANCY_ALL,XVE_ACTIVE,"
                        "XVE_STALL,GPU_MEMORY_REQUEST_QUEUE_FULL,"
                        "XVE_INST_EXECUTED_ALU0_ALL_UTILIZATION,XVE_INST_EXECUTED_ALU1_ALL_UTILIZATION,"
                        "GPU_BUSY");
    assert_true(is_missing(zt__percent_of(missing(), 1)) && is_missing(zt__percent_of(1, missing())));
    assert_true(zt__first_measured(missing(), 3) == 3 && zt__first_measured(2, missing()) == 2);
}

/* Without metrics, all that a region has is its GPU time. */
static void test_limit_of_times_alone(void **state) {
    world *w = (world *)*state;
    zt_config config = {0};
    zt_profiler *profiler;
    zt__advice advice;
    double figures[ZT__ROLE_COUNT], errors[ZT__ROLE_COUNT];
    config.groups = "";
    assert_int_equal(zt_open(w->context, w->device, &config, &profiler), ZE_RESULT_SUCCESS);
    measure(w, profiler, 3);
    zt__prepare_advice(profiler, &advice);
    zt__read_figures(profiler, &advice, zt__subject_at(profiler, 0), figures, errors);
    for (int i = 0; i < ZT__ROLE_COUNT; i++)
        assert_int_equal(is_missing(figures[i]), i != ZT__ROLE_KERNEL_TIME);
    zt_close(profiler);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_is_compiled_so),
        TEST(test_what_is_not_there),
        TEST(test_passes),
        TEST(test_values_that_are_none),
        TEST(test_rows),
        TEST(test_times_that_are_none),
        TEST(test_markers),
        TEST(test_attribution),
        TEST(test_frequencies_that_nobody_tells),
        TEST(test_a_precision_that_there_is_not),
        TEST(test_a_ratio_that_there_is_not),
        TEST(test_samples_that_are_none),
        TEST(test_limits_without_figures),
        TEST(test_limit_of_times_alone),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
