/* How long the library keeps threads busy: which calls are measured, and what does not count. */
#define ZETOOLS_IMPLEMENTATION
#define ZETOOLS_STATIC
#define ZETOOLS_TRACER
#include "fixture.h"

enum { ONE_IN = 16, EXACT = 16, CALLS = 1 << 16, PATTERN = 64 };

static const uint64_t hour_ns = UINT64_C(3600000000000);

/* Each call stands for itself at first, and then one for sixteen. */
static void test_which_calls_are_measured(void **state) {
    uint32_t count = 0;
    zt__timing timing;
    (void)state;
    for (int i = 0; i < EXACT; i++) {
        zt__start_timing(&count, &timing);
        assert_int_equal(timing.weight, 1);
    }
    for (int i = EXACT; i < CALLS; i++) {
        zt__start_timing(&count, &timing);
        assert_true(timing.weight == 0 || timing.weight == ONE_IN);
    }
    assert_int_equal(count, CALLS);
}

/* What is measured keeps no step with a program that does the same every so many calls. */
static void test_the_estimate_of_a_pattern(void **state) {
    uint32_t count = 0, estimated[PATTERN] = {0}, all = 0;
    zt__timing timing;
    (void)state;
    for (int i = 0; i < CALLS; i++) {
        zt__start_timing(&count, &timing);
        estimated[i % PATTERN] += timing.weight;
        all += timing.weight;
    }
    assert_in_range(all, CALLS * 0.99, CALLS * 1.01);
    for (int i = 0; i < PATTERN; i++)
        assert_in_range(estimated[i], CALLS / PATTERN * 0.9, CALLS / PATTERN * 1.1);
}

/* What was spent in a timing inside, asleep, or while it was paused, is not spent twice. */
static void test_what_does_not_count(void **state) {
    zt__mutex mutex = ZT__MUTEX_INITIALIZER;
    zt__busy_calls outer_calls = {0, 0}, inner_calls = {0, 0};
    zt__timing outer, inner;
    (void)state;
    zt__start_slow_timing(&outer);
    outer.since_ns -= 9 * hour_ns;
    zt__start_slow_timing(&inner);
    inner.since_ns -= 4 * hour_ns;
    zt__end_timing(&inner_calls, &mutex, &inner);
    zt__spent_ns += 3 * hour_ns; /* asleep */
    zt__pause_timing(&outer);
    zt__resume_timing(&outer);
    zt__end_timing(&outer_calls, &mutex, &outer);
    assert_in_range(inner_calls.ns, 4 * hour_ns, 5 * hour_ns);
    assert_in_range(outer_calls.ns, 2 * hour_ns, 3 * hour_ns);
}

static void test_a_call_that_is_not_measured(void **state) {
    zt__mutex mutex = ZT__MUTEX_INITIALIZER;
    zt__busy_calls calls = {0, 0};
    zt__timing timing = {0, 0, 0, 0};
    uint64_t before = zt__spent_ns;
    (void)state;
    zt__pause_timing(&timing);
    zt__resume_timing(&timing);
    zt__end_timing(&calls, &mutex, &timing);
    assert_int_equal(calls.ns, 0);
    assert_int_equal(zt__spent_ns, before);
}

/* ==== in a profiler ======================================================================================= */

static double busy_ns(const zt_profiler *profiler) {
    return zt_get_info(profiler).library_busy_ns;
}

static void test_of_regions(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    double before = busy_ns(profiler), begun;
    zt_region region = zt_begin(profiler, w->immediate, "region");
    begun = busy_ns(profiler);
    assert_true(before >= 0 && begun > before);
    zt_end(&region);
    assert_true(busy_ns(profiler) > begun);
    assert_true(zt_get_info(profiler).open_ns > 0);
    collect_all(profiler);
    close_profiler(w, profiler);
}

static void test_of_executions(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    append(w, profiler, w->list, "region");
    ok(zeCommandListClose(w->list));
    double before = busy_ns(profiler);
    ok(zt_execute(profiler, w->queue, 1, &w->list, NULL));
    double executed = busy_ns(profiler);
    assert_true(executed > before);
    finish_queue(w);
    ok(zt_collect(profiler, UINT64_MAX));
    assert_true(busy_ns(profiler) > executed);
    close_profiler(w, profiler);
}

static void test_of_callbacks(void **state) {
    world *w = *state;
    zt_trace_config times = {0};
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    ok(zt_trace_start(profiler, &times));
    double before = busy_ns(profiler);
    launch(w, w->immediate);
    assert_true(busy_ns(profiler) > before);
    ok(zt_trace_stop(profiler));
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    close_profiler(w, profiler);
}

/* A share near 100% is not written with an exponent. */
static void test_a_share_near_all(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    profiler->opened_ns -= hour_ns;
    profiler->slow.ns += hour_ns;
    assert_contains(written_report(profiler, ZT_FORMAT_TABLE), ", 100% of the ");
    close_profiler(w, profiler);
}

/* What another process has measured is not of this run. */
static void test_of_nothing(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic"), *copy = repacked(profiler);
    assert_true(isnan(busy_ns(copy)) && isnan(zt_get_info(copy).open_ns));
    assert_true(isnan(busy_ns(NULL)) && isnan(zt_get_info(NULL).open_ns));
    zt_close(copy);
    close_profiler(w, profiler);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_calls_are_measured),
        cmocka_unit_test(test_the_estimate_of_a_pattern),
        cmocka_unit_test(test_what_does_not_count),
        cmocka_unit_test(test_a_call_that_is_not_measured),
        TEST(test_of_regions),
        TEST(test_of_executions),
        TEST(test_of_callbacks),
        TEST(test_a_share_near_all),
        TEST(test_of_nothing),
    };
    return cmocka_run_group_tests(tests, start_traced, NULL);
}
