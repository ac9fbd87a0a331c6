/* zt_clear: what was collected before it is in no figure, what was on its way is, and no count is wrong between. */
#define _GNU_SOURCE
#include "fixture.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static zt_profiler *open_with_timeline(world *w) {
    zt_config config = config_of(w);
    config.timeline = 64;
    return open_profiler(w, &config);
}

/* ==== figures ============================================================================================= */

static void test_regions(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_with_timeline(w);
    uint32_t metric = zt_find_metric(profiler, "GPGPU_THREADGROUP_COUNT");
    zt_stats stats;
    for (int i = 0; i < 5; i++)
        run(w, profiler, "before");
    run(w, profiler, "both");
    collect_all(profiler);
    ok(zt_clear(profiler));
    assert_counts(profiler, counted(0, 0, 0, 0, 0));
    assert_int_equal(zt_get_info(profiler).region_count, 2); /* names stay */
    assert_int_equal(region_info(profiler, "before").count, 0);
    assert_true(isnan(region_info(profiler, "before").time_ns.p95));
    assert_int_equal(zt_get_timeline(profiler).samples, 0);
    assert_int_equal(zt_get_timeline(profiler).overlap.samples, 0);
    assert_null(strstr(written_report(profiler, ZT_FORMAT_TABLE), "before"));

    run(w, profiler, "both");
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    zt_region_info both = region_info(profiler, "both");
    assert_int_equal(both.count, 1);
    assert_true(both.time_ns.median == both.time_ns.sum && both.time_ns.max == both.time_ns.min);
    assert_close(both.own_ns, both.time_ns.sum);
    ok(zt_get_stats(profiler, find_region(profiler, "both"), metric, &stats));
    assert_int_equal(stats.count, 1);
    assert_int_equal(zt_get_timeline(profiler).samples, 1);
    assert_int_equal(zt_get_timeline(profiler).lost_samples, 0);
    assert_int_equal(zt_get_timeline(profiler).overlap.samples, 1);
    assert_true(zt_get_timeline(profiler).overlap.busy_ns > 0);
    const char *rows = written_report(profiler, ZT_FORMAT_INSTANCES);
    assert_contains(rows, "\n\"both\",");
    assert_null(strstr(rows, "\n\"before\","));
    assert_contains(written_report(profiler, ZT_FORMAT_HTML), "\"timeline\":{\"samples\":1,");
    const char *trace = written_report(profiler, ZT_FORMAT_TRACE);
    assert_contains(trace, "\"name\":\"both\"");
    assert_null(strstr(trace, "\"name\":\"before\""));
    assert_null(strstr(trace, "earlier samples are not kept"));
    close_profiler(w, profiler);
}

/* A ring that was full before is full again only after as many samples. */
static void test_a_full_timeline(void **state) {
    enum { KEPT = 4 };
    world *w = *state;
    zt_config config = config_of(w);
    config.timeline = KEPT;
    zt_profiler *profiler = open_profiler(w, &config);
    for (int i = 0; i < KEPT + 2; i++)
        run(w, profiler, "before");
    collect_all(profiler);
    assert_int_equal(zt_get_timeline(profiler).lost_samples, 2);
    ok(zt_clear(profiler));
    for (int i = 1; i <= KEPT + 1; i++) {
        run(w, profiler, "after");
        collect_all(profiler);
        assert_int_equal(zt_get_timeline(profiler).samples, i < KEPT ? i : KEPT);
        assert_int_equal(zt_get_timeline(profiler).lost_samples, i < KEPT ? 0 : i - KEPT);
    }
    close_profiler(w, profiler);
}

static void test_phases(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_with_timeline(w);
    for (int i = 0; i < 4; i++) {
        if (i == 3) {
            collect_all(profiler);
            ok(zt_clear(profiler));
        }
        ZT_PHASE("solve")
            run(w, profiler, "kernel");
    }
    collect_all(profiler);
    zt_region_info solve = region_info(profiler, "solve"), kernel = region_info(profiler, "kernel");
    assert_int_equal(solve.entered, 1);
    assert_int_equal(solve.count, 1);
    assert_int_equal(solve.incomplete, 0);
    assert_int_equal(solve.time_ns.count, 1);
    assert_close(solve.total_ns, kernel.total_ns);
    assert_true(solve.busy_ns > 0);
    assert_true(solve.host_ns > 0);
    close_profiler(w, profiler);
}

static void use_host(world *w, zt_profiler *profiler) {
    run(w, profiler, "kernel");
    collect_all(profiler);
}

/* A phase that is open counts from its next entry on. */
static void test_an_open_phase(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_with_timeline(w);
    zt_phase_begin("outer");
    ZT_PHASE("inner")
        use_host(w, profiler);
    ok(zt_clear(profiler));
    ZT_PHASE("inner")
        use_host(w, profiler);
    zt_phase_end();
    zt_region_info outer = region_info(profiler, "outer"), inner = region_info(profiler, "inner");
    assert_int_equal(outer.entered, 0);
    assert_int_equal(outer.incomplete, 0);
    assert_int_equal(outer.time_ns.count, 0);
    assert_true(isnan(outer.host_ns));
    assert_int_equal(outer.count, 1); /* but for the samples in it since */
    assert_int_equal(inner.entered, 1);
    assert_close(outer.total_ns, inner.total_ns);
    ZT_PHASE("outer")
        use_host(w, profiler);
    outer = region_info(profiler, "outer");
    assert_int_equal(outer.entered, 1);
    assert_int_equal(outer.time_ns.count, 1);
    close_profiler(w, profiler);
}

/* Phases from before are in no trace, and in no note about the device. */
static void test_phases_of_a_trace(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_with_timeline(w);
    use_host(w, profiler);
    ZT_PHASE("old")
        nap();
    use_host(w, profiler);
    ok(zt_clear(profiler));
    ZT_PHASE("new")
        use_host(w, profiler);
    const char *trace = written_report(profiler, ZT_FORMAT_TRACE);
    assert_contains(trace, "\"name\":\"new\"");
    assert_null(strstr(trace, "\"name\":\"old\""));
    assert_null(strstr(written_report(profiler, ZT_FORMAT_TABLE), "\"old\""));
    close_profiler(w, profiler);
}

/* The own time of a region is not known if samples inside were cleared before it was collected. */
static void test_inner_samples_before(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_with_timeline(w);
    zt_region outer = zt_begin(profiler, w->immediate, "outer");
    append(w, profiler, w->immediate, "inner");
    finish_immediate(w, w->immediate);
    zt_collect(profiler, 0);
    assert_int_equal(zt_get_info(profiler).counts.collected, 1);
    ok(zt_clear(profiler));
    zt_end(&outer);
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    assert_true(isnan(region_info(profiler, "outer").own_ns));
    ok(zt_clear(profiler));
    run(w, profiler, "outer");
    collect_all(profiler);
    assert_true(region_info(profiler, "outer").own_ns > 0);
    close_profiler(w, profiler);
}

/* Own times are known again, although samples inside were lost before. */
static void test_what_was_lost(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_with_timeline(w);
    zt_region outer = zt_begin(profiler, w->immediate, "outer");
    append(w, profiler, w->immediate, "inner");
    zt_end(&outer);
    finish_immediate(w, w->immediate);
    gpu.reset_calls();
    inject("zetMetricQueryGetData", 1, ZE_RESULT_ERROR_INVALID_ARGUMENT); /* of the inner one */
    zt_collect(profiler, A_WHILE);
    inject("zetMetricQueryGetData", 0, ZE_RESULT_SUCCESS);
    assert_true(zt_get_info(profiler).counts.lost > 0);
    assert_true(isnan(region_info(profiler, "outer").own_ns));
    ok(zt_clear(profiler));
    for (int i = 0; i < ZT_CAUSE_COUNT; i++)
        assert_int_equal(zt_get_info(profiler).causes[i].count, 0);
    outer = zt_begin(profiler, w->immediate, "outer");
    append(w, profiler, w->immediate, "inner");
    zt_end(&outer);
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    assert_counts(profiler, counted(2, 2, 0, 0, 0));
    zt_region_info of_outer = region_info(profiler, "outer"), of_inner = region_info(profiler, "inner");
    assert_close(of_outer.own_ns, of_outer.time_ns.sum - of_inner.time_ns.sum);
    assert_int_equal(of_inner.lost + of_outer.lost, 0);
    close_profiler(w, profiler);
}

/* ==== what is not collected yet =========================================================================== */

static void test_samples_on_their_way(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_with_timeline(w);
    run(w, profiler, "before");
    collect_all(profiler);
    ze_event_handle_t gate = append_gate(w, w->immediate);
    zt_region outer = zt_begin(profiler, w->immediate, "outer");
    append(w, profiler, w->immediate, "inner");
    ok(zt_clear(profiler)); /* one is on its way, and one is open */
    assert_counts(profiler, counted(1, 0, 0, 0, 1));
    zt_end(&outer);
    assert_counts(profiler, counted(2, 0, 0, 0, 2));
    ok(zt_clear(profiler));
    assert_counts(profiler, counted(2, 0, 0, 0, 2));
    ok(zeEventHostSignal(gate));
    finish_immediate(w, w->immediate);
    ok(zeEventDestroy(gate));
    collect_all(profiler);
    assert_counts(profiler, counted(2, 2, 0, 0, 0));
    zt_region_info of_outer = region_info(profiler, "outer"), of_inner = region_info(profiler, "inner");
    assert_close(of_outer.own_ns, of_outer.time_ns.sum - of_inner.time_ns.sum);
    close_profiler(w, profiler);
}

static void test_a_recorded_list(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_with_timeline(w);
    append(w, profiler, w->list, "recorded");
    ok(zeCommandListClose(w->list));
    for (int i = 0; i < 6; i++) {
        execute(w, profiler, w->list);
        if (i == 3)
            ok(zt_clear(profiler)); /* the last one is not collected yet */
    }
    collect_all(profiler);
    assert_counts(profiler, counted(3, 3, 0, 0, 0));
    assert_int_equal(region_info(profiler, "recorded").count, 3);
    close_profiler(w, profiler);
}

/* ==== where it is called ================================================================================== */

static zt_profiler *cleared_inside;
static ze_result_t result_inside;

static void clear_inside(const zt_sample *sample, void *user) {
    (void)sample, (void)user;
    result_inside = zt_clear(cleared_inside);
}

static void test_inside_a_sample_function(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.sample = clear_inside;
    cleared_inside = open_profiler(w, &config);
    run(w, cleared_inside, "region");
    collect_all(cleared_inside);
    assert_int_equal(result_inside, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    assert_contains(zt_get_info(cleared_inside).error, "zt_clear was called from the sample or log function");
    assert_int_equal(region_info(cleared_inside, "region").count, 1);
    close_profiler(w, cleared_inside);
    ok(zt_clear(NULL));
}

typedef struct sharing {
    zt_profiler *profiler;
    atomic_int ends;
} sharing;

static void *clear_and_report(void *argument) {
    sharing *s = argument;
    while (!atomic_load(&s->ends)) {
        if (zt_clear(s->profiler) != ZE_RESULT_SUCCESS)
            note_failure("zt_clear", ZE_RESULT_ERROR_UNKNOWN);
        zt_counts counts = zt_get_info(s->profiler).counts;
        if (counts.begun != counts.collected + counts.lost + counts.dropped + counts.in_flight)
            note_failure("counts", ZE_RESULT_ERROR_UNKNOWN);
        kept_text text = {.used = 0};
        if (zt_write(s->profiler, ZT_FORMAT_JSON, keep_text, &text) != ZE_RESULT_SUCCESS)
            note_failure("zt_write", ZE_RESULT_ERROR_UNKNOWN);
    }
    return NULL;
}

/* After the last, as many samples are counted as run. */
static void test_beside_other_threads(void **state) {
    enum { RUNS = 200 };
    world *w = *state;
    sharing s = {.profiler = open_with_timeline(w)};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, clear_and_report, &s), 0);
    for (int i = 0; i < RUNS; i++) {
        zt_region outer = zt_begin(s.profiler, w->immediate, "outer");
        append(w, s.profiler, w->immediate, "inner");
        zt_end(&outer);
        finish_immediate(w, w->immediate);
        zt_collect(s.profiler, 0);
    }
    atomic_store(&s.ends, 1);
    join_in_time(w, thread);
    assert_no_noted_failure();
    collect_all(s.profiler);
    ok(zt_clear(s.profiler));
    run(w, s.profiler, "outer");
    collect_all(s.profiler);
    assert_counts(s.profiler, counted(1, 1, 0, 0, 0));
    assert_close(region_info(s.profiler, "outer").own_ns, region_info(s.profiler, "outer").time_ns.sum);
    close_profiler(w, s.profiler);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_regions),
        TEST(test_a_full_timeline),
        TEST(test_phases),
        TEST(test_an_open_phase),
        TEST(test_phases_of_a_trace),
        TEST(test_inner_samples_before),
        TEST(test_what_was_lost),
        TEST(test_samples_on_their_way),
        TEST(test_a_recorded_list),
        TEST(test_inside_a_sample_function),
        TEST(test_beside_other_threads),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
