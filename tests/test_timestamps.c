/* Times without metrics, from time stamps of few bits that wrap and tick in whatever unit. A region's time
   lies between two stretches of host time that surely lie inside and around it, so nothing here depends on
   speed. */
#include "fixture.h"

#include <math.h>

static zt_profiler *open_times(world *w) {
    zt_config config = config_of(w);
    config.groups = "";
    return open_profiler(w, &config);
}

typedef struct bounds {
    uint64_t least, most; /* nanoseconds */
} bounds;

/* A region that is held open by a gate for a while. */
static bounds measure(world *w, zt_profiler *profiler, const char *name, int milliseconds) {
    ze_event_handle_t entered, gate;
    bounds of;
    create_event(w, 1, &entered);
    create_event(w, 2, &gate);
    uint64_t before = now_ns();
    zt_region region = zt_begin(profiler, w->immediate, name);
    ok(zeCommandListAppendBarrier(w->immediate, entered, 0, NULL));
    ok(zeCommandListAppendWaitOnEvents(w->immediate, 1, &gate));
    zt_end(&region);
    ok(zeEventHostSynchronize(entered, A_WHILE));
    uint64_t inside = now_ns();
    for (int i = 0; i < milliseconds; i++)
        nap();
    of.least = now_ns() - inside;
    ok(zeEventHostSignal(gate));
    finish_immediate(w, w->immediate);
    of.most = now_ns() - before;
    ok(zeEventDestroy(entered));
    ok(zeEventDestroy(gate));
    return of;
}

static void expect_within(double time, bounds of, double tick) {
    double ulps = 1e-6 * (double)of.most; /* rates are rounded in the driver's properties */
    if (time < (double)of.least - tick - ulps || time > (double)of.most + tick + ulps)
        fail_msg("%.0f ns is not between %llu and %llu", time, (unsigned long long)of.least,
                 (unsigned long long)of.most);
}

static void measure_times(world *w, uint32_t bits, uint64_t ticks_per_second) {
    gpu.set_timestamps(bits, ticks_per_second);
    zt_profiler *profiler = open_times(w);
    for (int i = 0; i < 3; i++) {
        bounds of = measure(w, profiler, i == 0 ? "first" : i == 1 ? "second" : "third", 2 + i);
        collect_all(profiler);
        zt_region_info info;
        ok(zt_get_region(profiler, (uint32_t)i, &info));
        assert_int_equal(info.count, 1);
        expect_within(info.time_ns.mean, of, 1e9 / (double)ticks_per_second);
    }
    close_profiler(w, profiler);
}

static void test_bits_and_resolutions(void **state) {
    const uint32_t bits[] = {32, 36, 64};
    const uint64_t rates[] = {1000000000, 19200000, 12500000, 1000000};
    for (int b = 0; b < 3; b++)
        for (int r = 0; r < 4; r++)
            measure_times((world *)*state, bits[b], rates[r]);
}

/* The device's clock wraps while the region is open. */
static void measure_wrap(world *w, uint32_t bits, uint64_t ticks_per_second) {
    gpu.set_timestamps(bits, ticks_per_second);
    zt_profiler *profiler = open_times(w);
    uint64_t wrap = bits == 64 ? 0 : UINT64_C(1) << bits;
    gpu.set_clock(wrap - ticks_per_second / 500); /* 2 ms before */
    bounds of = measure(w, profiler, "wrapped", 20);
    collect_all(profiler);
    expect_within(region_info(profiler, "wrapped").time_ns.mean, of, 1e9 / (double)ticks_per_second);
    close_profiler(w, profiler);
}

static void test_wrap_inside_a_region(void **state) {
    const uint32_t bits[] = {32, 36, 64};
    for (int b = 0; b < 3; b++) {
        measure_wrap((world *)*state, bits[b], 1000000000);
        measure_wrap((world *)*state, bits[b], 19200000);
    }
}

/* Longer than a turn of the device's clock: nobody knows how many turns it was. */
static void test_longer_than_a_turn(void **state) {
    world *w = (world *)*state;
    uint64_t host, ticks;
    ze_event_handle_t entered, gate;
    create_event(w, 1, &entered);
    create_event(w, 2, &gate);
    gpu.set_timestamps(32, 1000000000); /* 4.3 seconds */
    zt_profiler *profiler = open_times(w);
    zt_region region = zt_begin(profiler, w->immediate, "long");
    ok(zeCommandListAppendBarrier(w->immediate, entered, 0, NULL));
    ok(zeCommandListAppendWaitOnEvents(w->immediate, 1, &gate));
    zt_end(&region);
    ok(zeEventHostSynchronize(entered, A_WHILE));
    ok(zeDeviceGetGlobalTimestamps(w->device, &host, &ticks));
    pass_time(5000000000);
    gpu.set_clock(ticks + 5000000000);
    ok(zeEventHostSignal(gate));
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    assert_counts(profiler, counted(1, 0, 1, 0, 0));
    assert_int_equal(zt_get_info(profiler).causes[ZT_LOST_IMPLAUSIBLE].count, 1);
    ok(zeEventDestroy(entered));
    ok(zeEventDestroy(gate));
    check_work(w);
}

static void test_times_on_recorded_lists(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_times(w);
    zt_region outer = zt_begin(profiler, w->list, "outer");
    append(w, profiler, w->list, "inner");
    zt_end(&outer);
    ok(zeCommandListClose(w->list));
    for (int i = 0; i < 50; i++)
        ok(zt_execute(profiler, w->queue, 1, &w->list, NULL));
    finish_queue(w);
    w->launches += 50;
    collect_all(profiler);
    assert_counts(profiler, counted(100, 100, 0, 0, 0));
    zt_stats inner = region_info(profiler, "inner").time_ns, outside = region_info(profiler, "outer").time_ns;
    assert_int_equal(inner.count, 50);
    assert_true(inner.min >= 0);
    assert_true(outside.sum >= inner.sum);
    check_work(w);
}

static void test_nested_times(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_times(w);
    for (int i = 0; i < 20; i++) {
        zt_region outer = zt_begin(profiler, w->immediate, "outer");
        append(w, profiler, w->immediate, "inner");
        append(w, profiler, w->immediate, "inner");
        w->launches += 2;
        zt_end(&outer);
    }
    check_work(w);
    collect_all(profiler);
    assert_counts(profiler, counted(60, 60, 0, 0, 0));
    assert_true(region_info(profiler, "outer").time_ns.sum >= region_info(profiler, "inner").time_ns.sum);
}

/* A region that nothing took time in can take no time; never a negative one, nor one of a whole wrap. */
static void test_coarse_clock(void **state) {
    world *w = *state;
    gpu.set_timestamps(32, 1000);
    zt_profiler *profiler = open_times(w);
    uint64_t before = now_ns();
    for (int i = 0; i < 50; i++)
        run(w, profiler, "short");
    double most = (double)(now_ns() - before);
    collect_all(profiler);
    zt_stats times = region_info(profiler, "short").time_ns;
    assert_int_equal(times.count, 50);
    assert_true(times.min >= 0);
    assert_true(times.max <= most + 1e6);
}

/* F18: with metrics, time is the GpuTime of the report, whatever the event says. */
static void test_times_of_metrics(void **state) {
    world *w = *state;
    gpu.behave(SOFTGPU_UNDEFINED_QUERY_TIMESTAMP, 1);
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    bounds of = measure(w, profiler, "measured", 5);
    collect_all(profiler);
    zt_region_info info = region_info(profiler, "measured");
    assert_close(info.time_ns.mean, stats_of(profiler, "measured", "GpuTime").mean);
    expect_within(info.time_ns.mean, of, 1000);
}

/* HostScheduler has times too, be it by a metric or by time stamps. */
static void test_times_of_any_group(void **state) {
    world *w = *state;
    const char *groups[] = {"HostScheduler", "MemoryProfile", "ComputeBasic,HostScheduler"};
    for (int i = 0; i < 3; i++) {
        zt_profiler *profiler = open_groups(w, groups[i]);
        bounds of = measure(w, profiler, "measured", 3);
        collect_all(profiler);
        expect_within(region_info(profiler, "measured").time_ns.mean, of, 1000);
        close_profiler(w, profiler);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_bits_and_resolutions),    TEST(test_wrap_inside_a_region), TEST(test_longer_than_a_turn),
        TEST(test_times_on_recorded_lists), TEST(test_nested_times),         TEST(test_coarse_clock),
        TEST(test_times_of_metrics),        TEST(test_times_of_any_group),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
