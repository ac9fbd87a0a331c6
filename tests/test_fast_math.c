/* Compiled as programs are that tell the compiler that no value is NaN (-ffast-math, and by default with some
   compilers). The library marks with NaN what is not there, and has to go on doing so. */
#define ZETOOLS_STATIC
#define ZETOOLS_IMPLEMENTATION
#include "zetools.h"

#include "fixture.h"

#include <stdlib.h>
#include <string.h>

/* By its bits, for this file is told that there is none. */
static int is_missing(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits << 1 > UINT64_C(0xffe0000000000000);
}

static zt_profiler *open_groups_here(const world *w, const char *groups) {
    zt_config config = zt_config_default();
    zt_profiler *profiler;
    config.groups = groups;
    config.max_passes = 2;
    assert_int_equal(zt_open(w->context, w->device, &config, &profiler), ZE_RESULT_SUCCESS);
    assert_int_equal(zt_get_availability(profiler, NULL), ZT_AVAILABLE);
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

static int keep_bytes(const void *bytes, size_t size, void *user) {
    strncat((char *)user, (const char *)bytes, size);
    return 0;
}

/* Units stand over the figures, and nothing is shown where there is none. */
static void check_table(const zt_profiler *profiler) {
    char *table = (char *)calloc(1, 1 << 20);
    assert_non_null(table);
    assert_int_equal(zt_write(profiler, ZT_FORMAT_TABLE, keep_bytes, table), ZE_RESULT_SUCCESS);
    assert_non_null(strstr(table, " us "));
    assert_null(strstr(table, "nan"));
    free(table);
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
    for (uint32_t metric = 0; metric < zt_metric_count(profiler); metric++)
        check_figures(profiler, metric, 20);
    check_table(profiler);
    assert_int_not_equal(zt_get_stats(profiler, 1, 0, &stats), ZE_RESULT_SUCCESS);
    assert_true(is_missing(stats.sum) && is_missing(stats.median));
    zt_close(profiler);
}

/* What one pass does not measure is not in its rows. */
static void test_passes(void **state) {
    world *w = (world *)*state;
    zt_profiler *profiler = open_groups_here(w, "ComputeBasic,MemoryProfile");
    ZT_PASSES(profiler) {
        measure(w, profiler, 20);
    }
    for (uint32_t metric = 0; metric < zt_metric_count(profiler); metric++)
        check_figures(profiler, metric, 20);
    zt_close(profiler);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_is_compiled_so),
        TEST(test_what_is_not_there),
        TEST(test_passes),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
