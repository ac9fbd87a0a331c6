/* How long commands wait before they run, the bytes that copies move, and the time of the device that samples
   cover. Host and device have clocks that a test sets, so figures are checked to the nanosecond. */
#define _GNU_SOURCE
#include "meet.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECOND UINT64_C(1000000000)

/* ==== clocks that a test sets ============================================================================= */

static uint64_t seconds; /* on the device's clock */

/* The device's clock counts seconds of this machine from what it is set to. So it stands still for as long as
   no second of this machine begins. */
static uint64_t real_second(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec + (now.tv_nsec > 500000000);
}

/* Both clocks go on by this much, at once. */
static void step(uint64_t more) {
    seconds += more;
    pass_time(more * SECOND);
    gpu.set_clock(seconds);
}

/* Runs a scenario in one half of a second, again and again until it succeeds to, and then leaves what it has
   measured in the profiler, whose samples are collected. */
static zt_profiler *measure(world *w, uint32_t timeline, void (*scenario)(world *w, zt_profiler *profiler)) {
    zt_config config = config_of(w);
    config.groups = "";
    config.timeline = timeline;
    gpu.set_timestamps(64, 1);
    for (;;) {
        struct timespec now;
        do {
            clock_gettime(CLOCK_MONOTONIC, &now);
        } while (now.tv_nsec > 200000000 && (nap(), 1));
        uint64_t second = real_second();
        hold_time(1);
        seconds = 100;
        gpu.set_clock(seconds);
        zt_profiler *profiler = open_profiler(w, &config);
        scenario(w, profiler);
        collect_all(profiler);
        hold_time(0);
        if (real_second() == second)
            return profiler;
        close_profiler(w, profiler);
    }
}

static zt_stats latency_of(const zt_profiler *profiler, const char *region, uint32_t latency) {
    zt_stats stats;
    ok(zt_get_stats(profiler, find_region(profiler, region), latency, &stats));
    return stats;
}

static void expect_latency(const zt_profiler *profiler, const char *region, uint32_t latency, uint64_t count,
                           double least, double median, double most) {
    zt_stats stats = latency_of(profiler, region, latency);
    assert_int_equal(stats.count, count);
    assert_close(stats.min, least * SECOND);
    assert_true(fabs(stats.median - median * SECOND) <= 1e-7 * median * SECOND); /* a float is kept */
    assert_close(stats.max, most * SECOND);
}

static void expect_no_latency(const zt_profiler *profiler, const char *region, uint32_t latency) {
    zt_stats stats = latency_of(profiler, region, latency);
    assert_int_equal(stats.count, 0);
    assert_true(isnan(stats.mean) && isnan(stats.sum) && isnan(stats.median));
}

/* ==== queueing latency ==================================================================================== */

static void append_in_steps(world *w, zt_profiler *profiler) {
    append(w, profiler, w->list, "work");
    step(2);
    append(w, profiler, w->list, "work");
    step(4);
    append(w, profiler, w->list, "work");
    step(3);
    ok(zeCommandListClose(w->list));
}

static void execute_thrice(world *w, zt_profiler *profiler) {
    append_in_steps(w, profiler);
    for (int i = 0; i < 3; i++) {
        execute(w, profiler, w->list);
        step(10);
    }
    ok(zt_reset(profiler, w->list));
}

/* From the append to the first execution: what is executed again does not wait to be executed. */
static void test_queueing_of_recorded_lists(void **state) {
    world *w = *state;
    zt_profiler *profiler = measure(w, 100, execute_thrice);
    assert_int_equal(region_info(profiler, "work").count, 9);
    expect_latency(profiler, "work", ZT_QUEUE_LATENCY, 3, 3, 7, 9);
    assert_close(latency_of(profiler, "work", ZT_QUEUE_LATENCY).sum, 19.0 * SECOND);
}

static void refuse_the_first(world *w, zt_profiler *profiler) {
    append_in_steps(w, profiler);
    inject("zeCommandQueueExecuteCommandLists", 1, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    assert_result(zt_execute(profiler, w->queue, 1, &w->list, NULL), ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    step(10);
    execute(w, profiler, w->list);
    ok(zt_reset(profiler, w->list));
}

/* An execution that the driver refuses is none. */
static void test_queueing_up_to_an_execution_that_succeeds(void **state) {
    world *w = *state;
    zt_profiler *profiler = measure(w, 100, refuse_the_first);
    expect_latency(profiler, "work", ZT_QUEUE_LATENCY, 3, 13, 17, 19);
}

static void run_at_once(world *w, zt_profiler *profiler) {
    run(w, profiler, "work");
}

/* What is appended there is submitted. */
static void test_no_queueing_on_immediate_lists(void **state) {
    world *w = *state;
    zt_profiler *profiler = measure(w, 100, run_at_once);
    assert_int_equal(region_info(profiler, "work").count, 1);
    expect_no_latency(profiler, "work", ZT_QUEUE_LATENCY);
}

/* ==== launch latency ====================================================================================== */

/* What is appended behind the gate waits for so long. */
static void run_behind_gate(world *w, zt_profiler *profiler, uint64_t wait) {
    ze_event_handle_t gate = append_gate(w, w->immediate);
    append(w, profiler, w->immediate, "work");
    w->launches++;
    step(wait);
    ok(zeEventHostSignal(gate));
    finish_immediate(w, w->immediate);
    ok(zeEventDestroy(gate));
}

static void wait_at_gates(world *w, zt_profiler *profiler) {
    run_behind_gate(w, profiler, 8);
    step(1);
    run_behind_gate(w, profiler, 2);
    run_behind_gate(w, profiler, 5);
}

static void test_launches_on_an_immediate_list(void **state) {
    world *w = *state;
    if (!can_tell_immediate())
        skip(); /* it may be a recorded list, which somebody has executed */
    zt_profiler *profiler = measure(w, 100, wait_at_gates);
    expect_latency(profiler, "work", ZT_LAUNCH_LATENCY, 3, 2, 5, 8);
    assert_close(latency_of(profiler, "work", ZT_LAUNCH_LATENCY).mean, 5.0 * SECOND);
}

/* Records work behind a gate, and executes it with zt_execute so long before the gate opens. */
static void execute_behind_gate(world *w, zt_profiler *profiler, uint64_t wait) {
    ze_event_handle_t gate = append_gate(w, w->list);
    append(w, profiler, w->list, "work");
    ok(zeCommandListClose(w->list));
    step(10);
    ok(zt_execute(profiler, w->queue, 1, &w->list, NULL));
    step(wait);
    ok(zeEventHostSignal(gate));
    finish_queue(w);
    w->launches++;
    ok(zt_collect(profiler, A_WHILE));
    ok(zt_reset(profiler, w->list));
    ok(zeEventDestroy(gate));
}

static void execute_behind_gates(world *w, zt_profiler *profiler) {
    for (uint64_t wait = 2; wait <= 4; wait++)
        execute_behind_gate(w, profiler, wait);
}

/* From the execution, and not from the append. */
static void test_launches_of_recorded_lists(void **state) {
    world *w = *state;
    zt_profiler *profiler = measure(w, 100, execute_behind_gates);
    expect_latency(profiler, "work", ZT_LAUNCH_LATENCY, 3, 2, 3, 4);
    expect_latency(profiler, "work", ZT_QUEUE_LATENCY, 3, 10, 10, 10);
}

static void execute_at_once(world *w, zt_profiler *profiler) {
    execute_behind_gate(w, profiler, 0);
}

/* A device's clock that counts seconds does not show whether something took less than one. */
static void test_figures_below_the_error_of_the_clock(void **state) {
    world *w = *state;
    zt_profiler *profiler = measure(w, 100, execute_at_once);
    zt_stats stats = latency_of(profiler, "work", ZT_LAUNCH_LATENCY);
    assert_int_equal(stats.count, 1);
    assert_true(isnan(stats.mean) && isnan(stats.min) && isnan(stats.max) && isnan(stats.sum));
    assert_true(isnan(stats.median) && isnan(stats.p95) && isnan(stats.stddev));
}

static void mix_short_and_long(world *w, zt_profiler *profiler) {
    execute_behind_gate(w, profiler, 0);
    execute_behind_gate(w, profiler, 8);
}

/* What is below it is not a figure; the others are. */
static void test_figures_above_the_error_of_the_clock(void **state) {
    world *w = *state;
    zt_profiler *profiler = measure(w, 100, mix_short_and_long);
    zt_stats stats = latency_of(profiler, "work", ZT_LAUNCH_LATENCY);
    assert_int_equal(stats.count, 2);
    assert_true(isnan(stats.min));
    assert_close(stats.mean, 4.0 * SECOND);
    assert_close(stats.max, 8.0 * SECOND);
}

/* A comparison of the clocks that takes long is uncertain by half of that. */
static void test_clocks_that_are_slow_to_read(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "";
    config.timeline = 100;
    gpu.set_call_cost("zeDeviceGetGlobalTimestamps", 20000000);
    zt_profiler *profiler = open_profiler(w, &config);
    gpu.set_call_cost("zeDeviceGetGlobalTimestamps", 0);
    append(w, profiler, w->list, "short");
    ok(zeCommandListClose(w->list));
    uint64_t before = now_ns();
    execute(w, profiler, w->list);
    double most = (double)(now_ns() - before);
    collect_all(profiler);
    zt_stats stats = latency_of(profiler, "short", ZT_LAUNCH_LATENCY);
    assert_int_equal(stats.count, 1);
    assert_true(isnan(stats.mean) || most > 10000000);
}

static void execute_unseen(world *w, zt_profiler *profiler) {
    append(w, profiler, w->list, "work");
    ok(zeCommandListClose(w->list));
    step(10);
    execute_unprofiled(w, w->list);
    w->launches++;
    ok(zt_collect(profiler, A_WHILE));
    ok(zt_reset(profiler, w->list));
}

/* When the host has executed a list that zt_execute has not, nobody knows. */
static void test_executions_that_are_not_seen(void **state) {
    world *w = *state;
    zt_profiler *profiler = measure(w, 100, execute_unseen);
    assert_int_equal(region_info(profiler, "work").count, 1);
    expect_no_latency(profiler, "work", ZT_QUEUE_LATENCY);
    expect_no_latency(profiler, "work", ZT_LAUNCH_LATENCY);
}

static void execute_unseen_and_seen(world *w, zt_profiler *profiler) {
    append(w, profiler, w->list, "work");
    ok(zeCommandListClose(w->list));
    for (int i = 0; i < 2; i++) { /* the first is measured */
        execute_unprofiled(w, w->list);
        ok(zt_collect(profiler, 0));
    }
    execute(w, profiler, w->list);
    w->launches += 2;
    ok(zt_release(profiler, w->list)); /* which reads the last */
    reset_list(w->list);
}

/* A list is released that has run by other means, too. What that left was collected before zt_execute, so the last
   sample is of this execution. */
static void test_a_released_list_with_executions_that_are_not_seen(void **state) {
    world *w = *state;
    zt_profiler *profiler = measure(w, 100, execute_unseen_and_seen);
    assert_counts(profiler, counted(3, 2, 1, 0, 0));
    assert_int_equal(zt_get_info(profiler).causes[ZT_LOST_OVERWRITTEN].count, 1);
    assert_int_equal(zt_get_info(profiler).counts.unobserved_lists, 1);
    assert_int_equal(latency_of(profiler, "work", ZT_LAUNCH_LATENCY).count, 1);
}

/* Without a timeline, neither clocks nor appends are looked at. */
static void test_without_a_timeline(void **state) {
    world *w = *state;
    zt_profiler *profiler = measure(w, 0, execute_thrice);
    assert_int_equal(region_info(profiler, "work").count, 9);
    expect_no_latency(profiler, "work", ZT_QUEUE_LATENCY);
    expect_no_latency(profiler, "work", ZT_LAUNCH_LATENCY);
    assert_int_equal(zt_get_timeline(profiler).overlap.samples, 0);
    assert_true(isnan(zt_get_timeline(profiler).overlap.span_ns));
}

/* ==== launches that are traced ============================================================================ */

static zt_profiler *open_traced_times(world *w, uint32_t timeline) {
    zt_config config = config_of(w);
    zt_trace_config trace = {0};
    config.groups = "";
    config.timeline = timeline;
    trace.copies = 1;
    zt_profiler *profiler = open_profiler(w, &config);
    ok(zt_trace_start(profiler, &trace));
    return profiler;
}

enum { SLACK_NS = 2000000, NAPS = 100 };

/* A launch waits for an event between two looks at the host's clock, whatever clock its time stamps are of.
   The tracer knows of a list that it has seen created whether it is immediate. */
static void measure_traced_launch(world *w, uint32_t kernel_bits) {
    ze_group_count_t groups = {WORK_GROUPS, 1, 1};
    ze_event_handle_t gate;
    ze_command_list_handle_t list;
    gpu.set_kernel_clock(kernel_bits, 12345);
    zt_profiler *profiler = open_traced_times(w, 100);
    create_immediate(w, &list);
    create_event(w, 1, &gate);
    uint64_t before = now_ns();
    ok(zeCommandListAppendLaunchKernel(list, w->kernel, &groups, NULL, 1, &gate));
    uint64_t after = now_ns();
    for (int i = 0; i < NAPS; i++)
        nap();
    uint64_t opened = now_ns();
    ok(zeEventHostSignal(gate));
    finish_immediate(w, list);
    uint64_t end = now_ns();
    w->launches++;
    collect_all(profiler);
    zt_stats stats = latency_of(profiler, "saxpy", ZT_LAUNCH_LATENCY);
    assert_int_equal(stats.count, 1);
    if (stats.mean < (double)(opened - after) - SLACK_NS || stats.mean > (double)(end - before) + SLACK_NS)
        fail_msg("%.0f ns, not %llu to %llu", stats.mean, (unsigned long long)(opened - after),
                 (unsigned long long)(end - before));
    expect_no_latency(profiler, "saxpy", ZT_QUEUE_LATENCY);
    ok(zt_trace_stop(profiler));
    close_profiler(w, profiler);
    ok(zeCommandListDestroy(list));
    ok(zeEventDestroy(gate));
}

static void test_traced_launches(void **state) {
    world *w = *state;
    measure_traced_launch(w, 0);  /* time stamps of the device's clock, */
    measure_traced_launch(w, 32); /* and of another one */
    check_work(w);
}

enum { KERNEL_TICKS = 12345, OPENING_READINGS = 3 };
static uint32_t clock_readings;

/* In the place of the loader's function. Readings of the clock come in pairs, with a kernel between, after
   those with which the clocks of host and device are compared. The first of each pair seems to be so much
   earlier. */
static ze_result_t ZE_APICALL read_early(ze_device_handle_t device, uint64_t *host, uint64_t *ticks) {
    static const uint64_t earlier[] = {1000, 400, 800, 200, 600};
    uint32_t reading = clock_readings++ - OPENING_READINGS;
    ze_result_t result = zeDeviceGetGlobalTimestamps(device, host, ticks);
    if (clock_readings == 1)
        gpu.set_kernel_clock(64, KERNEL_TICKS);
    if (reading < 2 * sizeof earlier / sizeof *earlier && reading % 2 == 0)
        *ticks -= earlier[reading / 2];
    return result;
}

static void launch_later(world *w, zt_profiler *profiler) {
    enum { WAIT = 600 };
    ze_group_count_t groups = {WORK_GROUPS, 1, 1};
    ze_command_list_handle_t list;
    ze_event_handle_t gate;
    ok(zt_trace_start(profiler, NULL));
    create_immediate(w, &list);
    create_event(w, 1, &gate);
    ok(zeCommandListAppendLaunchKernel(list, w->kernel, &groups, NULL, 1, &gate));
    step(WAIT);
    gpu.set_kernel_clock(64, KERNEL_TICKS + WAIT);
    ok(zeEventHostSignal(gate));
    finish_immediate(w, list);
    w->launches++;
    ok(zt_collect(profiler, A_WHILE));
    ok(zt_trace_stop(profiler));
    zt_release(profiler, list);
    ok(zeCommandListDestroy(list));
    ok(zeEventDestroy(gate));
    clock_readings = 0;
}

/* Where kernels have a clock of their own, readings of the device's clock around a kernel relate the two. If
   these are far apart, as on a busy machine, the closest of a few attempts count: those that are 200 seconds
   apart. The kernel seems to have run in their middle, a hundred seconds too early. */
static void test_a_clock_of_kernels_that_is_slow_to_relate(void **state) {
    world *w = *state;
    clock_readings = 0;
    replace_symbol("zeDeviceGetGlobalTimestamps", (any_function)read_early);
    zt_profiler *profiler = measure(w, 100, launch_later);
    expect_latency(profiler, "saxpy", ZT_LAUNCH_LATENCY, 1, 500, 500, 500);
    check_work(w);
}

/* ==== bytes =============================================================================================== */

static void expect_bytes(const zt_profiler *profiler, const char *region, uint64_t bytes) {
    zt_region_info info = region_info(profiler, region);
    assert_int_equal(info.bytes, bytes);
    assert_close(info.bytes_per_second, (double)bytes / (info.time_ns.sum / 1e9));
}

static void expect_no_bytes(const zt_profiler *profiler, const char *region) {
    zt_region_info info = region_info(profiler, region);
    assert_true(info.count > 0);
    assert_int_equal(info.bytes, 0);
    assert_true(isnan(info.bytes_per_second));
}

enum { ROOM = 1 << 16 };

static void append_copies(world *w, ze_command_list_handle_t list, char *memory) {
    const ze_copy_region_t flat = {0, 0, 0, 20, 10, 0}, deep = {0, 0, 0, 20, 10, 3};
    int pattern = 7;
    (void)w;
    ok(zeCommandListAppendMemoryCopy(list, memory, memory + ROOM / 2, 1000, NULL, 0, NULL));
    ok(zeCommandListAppendMemoryCopy(list, memory, memory + ROOM / 2, 24, NULL, 0, NULL));
    ok(zeCommandListAppendMemoryFill(list, memory, &pattern, sizeof pattern, 4000, NULL, 0, NULL));
    ok(zeCommandListAppendMemoryCopyRegion(list, memory, &flat, 32, 0, memory + ROOM / 2, &flat, 32, 0, NULL,
                                           0, NULL));
    ok(zeCommandListAppendMemoryCopyRegion(list, memory, &deep, 32, 320, memory + ROOM / 2, &deep, 32, 320,
                                           NULL, 0, NULL));
}

/* With and without a timeline; recorded ones in each execution. */
static void test_bytes_of_copies(void **state) {
    world *w = *state;
    ze_host_mem_alloc_desc_t host = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, NULL, 0};
    void *allocated = NULL;
    ok(zeMemAllocHost(w->context, &host, ROOM, 64, &allocated));
    char *memory = memset(allocated, 0, ROOM);
    for (uint32_t timeline = 0; timeline <= 100; timeline += 100) {
        zt_profiler *profiler = open_traced_times(w, timeline);
        append_copies(w, w->immediate, memory);
        finish_immediate(w, w->immediate);
        append_copies(w, w->list, memory);
        ok(zeCommandListClose(w->list));
        for (int i = 0; i < 2; i++)
            execute_unprofiled(w, w->list); /* the tracer sees it */
        collect_all(profiler);
        launch(w, w->immediate);
        check_work(w);
        collect_all(profiler);
        expect_bytes(profiler, "MemoryCopy", 3 * 1024);
        expect_bytes(profiler, "MemoryFill", 3 * 4000);
        expect_bytes(profiler, "MemoryCopyRegion", 3 * (200 + 600));
        expect_no_bytes(profiler, "saxpy");
        ok(zt_trace_stop(profiler));
        append(w, profiler, w->immediate, "of the application"); /* in the probe of a copy, perhaps */
        w->launches++;
        check_work(w);
        collect_all(profiler);
        expect_no_bytes(profiler, "of the application");
        close_profiler(w, profiler);
        reset_list(w->list);
    }
    ok(zeMemFree(w->context, memory));
}

/* ==== the time of the device ============================================================================== */

static void expect_cover(const zt_profiler *profiler, uint64_t samples, double span, double busy) {
    zt_overlap overlap = zt_get_timeline(profiler).overlap;
    assert_int_equal(overlap.samples, samples);
    assert_int_equal(overlap.missing, 0);
    assert_close(overlap.span_ns, span * SECOND);
    assert_close(overlap.busy_ns, busy * SECOND);
    assert_close(overlap.idle_ns, (span - busy) * SECOND);
}

/* A region on an immediate list, which has begun or ended when this returns. */
static zt_region begin_now(world *w, zt_profiler *profiler, ze_command_list_handle_t list, const char *name) {
    zt_region region = zt_begin(profiler, list, name);
    finish_immediate(w, list);
    return region;
}

static void end_now(world *w, ze_command_list_handle_t list, zt_region *region) {
    zt_end(region);
    finish_immediate(w, list);
}

static void last(world *w, zt_profiler *profiler, const char *name, uint64_t length) {
    zt_region region = begin_now(w, profiler, w->immediate, name);
    step(length);
    end_now(w, w->immediate, &region);
}

/* Two lists: 0-6 and 4-9, 12-13 on the first; 5-7 on the other. */
static void overlap_on_two_lists(world *w, zt_profiler *profiler) {
    ze_command_list_handle_t other;
    create_immediate(w, &other);
    zt_region a = begin_now(w, profiler, w->immediate, "a");
    step(4);
    zt_region b = begin_now(w, profiler, w->immediate, "b");
    step(1);
    zt_region c = begin_now(w, profiler, other, "c");
    step(1);
    end_now(w, w->immediate, &a);
    step(1);
    end_now(w, other, &c);
    step(2);
    end_now(w, w->immediate, &b);
    step(3);
    last(w, profiler, "d", 1);
    collect_all(profiler);
    zt_release(profiler, other);
    ok(zeCommandListDestroy(other));
}

static void test_intervals_that_overlap(void **state) {
    world *w = *state;
    zt_profiler *profiler = measure(w, 100, overlap_on_two_lists);
    zt_overlap overlap = zt_get_timeline(profiler).overlap;
    expect_cover(profiler, 4, 13, 10);
    assert_true(overlap.kernel_ns == 0 && overlap.copy_ns == 0 && overlap.both_ns == 0);
}

/* 0-20 around 2-5 and 7-10, 10-11, 15-18 with 16-17 inside. */
static void nest(world *w, zt_profiler *profiler) {
    zt_region outer = begin_now(w, profiler, w->immediate, "outer");
    step(2);
    last(w, profiler, "inner", 3);
    step(2);
    last(w, profiler, "inner", 3);
    last(w, profiler, "inner", 1);
    step(4);
    zt_region middle = begin_now(w, profiler, w->immediate, "middle");
    step(1);
    last(w, profiler, "innermost", 1);
    step(1);
    end_now(w, w->immediate, &middle);
    step(2);
    end_now(w, w->immediate, &outer);
}

/* A launch that is traced, at the end of the first region. */
static void nest_and_trace(world *w, zt_profiler *profiler) {
    ok(zt_trace_start(profiler, NULL));
    nest(w, profiler);
    launch(w, w->immediate);
    finish_immediate(w, w->immediate);
    ok(zt_trace_stop(profiler));
}

/* What is inside another region does not count twice. Where launches are traced, the gaps between them are
   known, and so the regions around others do not count. */
static void test_intervals_that_nest(void **state) {
    world *w = *state;
    zt_profiler *profiler = measure(w, 100, nest);
    expect_cover(profiler, 6, 20, 20);
    close_profiler(w, profiler);
    profiler = measure(w, 100, nest_and_trace);
    expect_cover(profiler, 7, 20, 8);
}

static void run_five(world *w, zt_profiler *profiler) {
    zt_region slow = begin_now(w, profiler, w->immediate, "slow");
    step(1);
    for (uint64_t i = 1; i <= 4; i++) {
        last(w, profiler, "of many", i);
        step(10 * i);
        if (i == 3)
            end_now(w, w->immediate, &slow); /* the third that is kept */
        ok(zt_collect(profiler, 0));         /* one region is not ended */
    }
}

/* Of a ring that is full, the time since the end of the last sample that it does not keep: 1-2 "of many",
   12-14, 34-37, 0-67 "slow", 67-71. */
static void test_time_of_the_samples_that_are_kept(void **state) {
    world *w = *state;
    zt_profiler *profiler = measure(w, 5, run_five);
    expect_cover(profiler, 5, 71, 71);
    close_profiler(w, profiler);
    profiler = measure(w, 3, run_five); /* since 14 */
    expect_cover(profiler, 3, 57, 57);
    close_profiler(w, profiler);
    profiler = measure(w, 1, run_five); /* since 67 */
    expect_cover(profiler, 1, 4, 4);
}

static void drop_one(world *w, zt_profiler *profiler) {
    last(w, profiler, "work", 1);
    ok(zt_collect(profiler, A_WHILE));
    inject("zeCommandListAppendWriteGlobalTimestamp", 1, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    last(w, profiler, "work", 1);
    last(w, profiler, "work", 1);
    ok(zt_collect(profiler, A_WHILE));
}

static void expect_missing(const zt_profiler *profiler, uint64_t samples, uint64_t missing) {
    zt_overlap overlap = zt_get_timeline(profiler).overlap;
    assert_int_equal(overlap.samples, samples);
    assert_int_equal(overlap.missing, missing);
    assert_true(overlap.span_ns >= 0);
    assert_true(isnan(overlap.busy_ns) && isnan(overlap.kernel_ns) && isnan(overlap.copy_ns));
    assert_true(isnan(overlap.both_ns) && isnan(overlap.idle_ns));
}

static void drop_one_before(world *w, zt_profiler *profiler) {
    drop_one(w, profiler);
    last(w, profiler, "work", 1);
}

/* What is lost or dropped in that time may have covered any part of it. */
static void test_time_of_samples_that_are_missing(void **state) {
    world *w = *state;
    zt_profiler *profiler = measure(w, 100, drop_one);
    expect_missing(profiler, 2, 1);
    close_profiler(w, profiler);
    profiler = measure(w, 2, drop_one);
    expect_missing(profiler, 2, 1);
    close_profiler(w, profiler);
    profiler = measure(w, 2, drop_one_before); /* the sample before it is not kept any more */
    expect_cover(profiler, 2, 2, 2);
}

static void test_time_of_samples_on_their_way(void **state) {
    world *w = *state;
    zt_profiler *profiler = measure(w, 100, run_five);
    ze_event_handle_t gate = append_gate(w, w->list);
    append(w, profiler, w->list, "late");
    ok(zeCommandListClose(w->list));
    assert_int_equal(zt_get_timeline(profiler).overlap.missing, maybe_running(1));
    ok(zt_execute(profiler, w->queue, 1, &w->list, NULL));
    expect_missing(profiler, 5, 1);
    ok(zeEventHostSignal(gate));
    finish_queue(w);
    w->launches++;
    collect_all(profiler);
    assert_int_equal(zt_get_timeline(profiler).overlap.missing, 0);
    assert_int_equal(zt_get_timeline(profiler).overlap.samples, 6);
    ok(zeEventDestroy(gate));
    ok(zt_reset(profiler, w->list));
}

static void test_time_without_memory(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "";
    config.timeline = 100;
    config.allocator = scarce_allocator();
    zt_profiler *profiler = open_profiler(w, &config);
    run(w, profiler, "work");
    collect_all(profiler);
    allocations_left = 0;
    zt_overlap overlap = zt_get_timeline(profiler).overlap;
    allocations_left = -1;
    assert_int_equal(overlap.samples, 0);
    assert_true(isnan(overlap.span_ns) && isnan(overlap.idle_ns));
    assert_int_equal(zt_get_timeline(profiler).overlap.samples, 1);
}

/* ---- kernels and copies at once -------------------------------------------------------------------------- */

/* While a kernel runs, which waits for a word of memory, three copies do, one after the other. */
static void test_kernels_and_copies_at_once(void **state) {
    enum { OWN, AWAITED, COPIES = 3, BYTES = 1 << 16 };
    world *w = *state;
    ze_host_mem_alloc_desc_t host = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, NULL, 0};
    void *memory = NULL;
    need_in_order_lists(w);
    rig r = open_concurrent(w);
    ok(zeMemAllocHost(w->context, &host, 2 * BYTES, 64, &memory));
    zt_profiler *profiler = open_traced_times(w, 100);
    ze_command_list_handle_t computes = immediate_of(w, COMPUTE, 0, QUEUE_IN_ORDER);
    ze_command_list_handle_t copies = immediate_of(w, COMPUTE, 1, QUEUE_IN_ORDER);
    append_meeting(&r, computes, OWN, AWAITED, LONG);
    await_word(&r, OWN);
    for (int i = 0; i < COPIES; i++)
        ok(zeCommandListAppendMemoryCopy(copies, (char *)memory + BYTES, memory, BYTES, NULL, 0, NULL));
    finish_immediate(w, copies);
    set_word(&r, AWAITED);
    finish_immediate(w, computes);
    ok(zeCommandListAppendMemoryCopy(copies, (char *)memory + BYTES, memory, BYTES, NULL, 0, NULL));
    finish_immediate(w, copies);
    collect_all(profiler);
    zt_stats kernels = region_info(profiler, "meet").time_ns;
    zt_stats copied = region_info(profiler, "MemoryCopy").time_ns;
    assert_int_equal(copied.count, COPIES + 1);
    zt_overlap overlap = zt_get_timeline(profiler).overlap;
    assert_int_equal(overlap.samples, COPIES + 2);
    assert_int_equal(overlap.missing, 0);
    assert_close(overlap.kernel_ns, kernels.sum);
    assert_close(overlap.copy_ns, copied.sum);
    assert_close(overlap.busy_ns, overlap.kernel_ns + overlap.copy_ns - overlap.both_ns);
    assert_close(overlap.idle_ns, overlap.span_ns - overlap.busy_ns);
    assert_true(overlap.both_ns > 0 && overlap.both_ns < overlap.copy_ns); /* the last one was alone */
    ok(zt_trace_stop(profiler));
    ok(zeCommandListDestroy(computes));
    ok(zeCommandListDestroy(copies));
    ok(zeMemFree(w->context, memory));
    close_rig(&r);
}

/* ==== reports ============================================================================================= */

static void expect_report(const zt_profiler *profiler, zt_format format, const char *part) {
    assert_contains(written_report(profiler, format), part);
}

static void expect_no(const zt_profiler *profiler, zt_format format, const char *part) {
    if (strstr(written_report(profiler, format), part))
        fail_msg("a report has '%s'", part);
}

/* 10 seconds in the list, 2 to 4 before the begin. It takes 0 seconds. */
static void test_latencies_in_reports(void **state) {
    world *w = *state;
    zt_profiler *profiler = measure(w, 100, execute_behind_gates);
    expect_report(profiler, ZT_FORMAT_TABLE, "launch");
    expect_report(profiler, ZT_FORMAT_TABLE, "\"launch\" is the median time from the submission");
    expect_no(profiler, ZT_FORMAT_TABLE, "queued");
    expect_report(profiler, ZT_FORMAT_CSV,
                  "\n\"work\",\"queue latency\",\"\",\"\",\"ns\",duration,sum,3,30000000000,10000000000,0,"
                  "10000000000,10000000000,10000000000,10000000000,all,all,no,,region,\n");
    expect_report(
        profiler, ZT_FORMAT_CSV,
        "\n\"work\",\"launch latency\",\"\",\"\",\"ns\",duration,sum,3,9000000000,3000000000,1000000000,"
        "2000000000,4000000000,3000000000,3900000000,all,all,no,,region,\n");
    expect_report(profiler, ZT_FORMAT_JSON,
                  "\n\"queue_latency_ns\":{\"count\":3,\"sum\":30000000000,\"mean\":10000000000,");
    expect_report(profiler, ZT_FORMAT_JSON,
                  "\n\"launch_latency_ns\":{\"count\":3,\"sum\":9000000000,\"mean\":3000000000,");
    expect_report(profiler, ZT_FORMAT_HTML, "\"launch_latency_ns\":{\"count\":3");
    expect_report(profiler, ZT_FORMAT_OPENMETRICS, "# TYPE zetools_region_queue_latency_seconds summary\n");
    expect_report(profiler, ZT_FORMAT_OPENMETRICS,
                  "zetools_region_launch_latency_seconds{region=\"work\",quantile=\"0.5\"} 3\n");
    expect_report(profiler, ZT_FORMAT_OPENMETRICS,
                  "zetools_region_launch_latency_seconds_sum{region=\"work\"} 9\n");
    expect_report(profiler, ZT_FORMAT_TRACE,
                  "\"queue latency [ns]\":10000000000,\"launch latency [ns]\":3000000000");
}

/* What is below the error of the clocks is in no report. */
static void test_uncertain_latencies_in_reports(void **state) {
    world *w = *state;
    zt_profiler *profiler = measure(w, 100, execute_at_once);
    expect_no(profiler, ZT_FORMAT_TABLE, "launch");
    expect_report(
        profiler, ZT_FORMAT_CSV,
        "\n\"work\",\"launch latency\",\"\",\"\",\"ns\",duration,sum,1,,,,,,,,all,all,no,,region,\n");
    expect_report(profiler, ZT_FORMAT_JSON, "\n\"launch_latency_ns\":{\"count\":1,\"sum\":null,");
    expect_no(profiler, ZT_FORMAT_OPENMETRICS, "launch_latency_seconds{");
    expect_no(profiler, ZT_FORMAT_TRACE, "launch latency");
}

/* Work that takes long enough hides the latency of its launch; config.columns shows it all the same. */
static void run_long_behind_gate(world *w, zt_profiler *profiler) {
    execute_behind_gate(w, profiler, 4);
    last(w, profiler, "work", 30);
}

static void test_columns_of_latencies(void **state) {
    world *w = *state;
    zt_profiler *profiler = measure(w, 100, run_long_behind_gate);
    expect_no(profiler, ZT_FORMAT_TABLE, "launch");
    close_profiler(w, profiler);
    assert_int_equal(setenv("ZT_COLUMNS", "launch,queued", 1), 0);
    profiler = measure(w, 100, run_long_behind_gate);
    zt_profiler *without = measure(w, 0, run_long_behind_gate);
    assert_int_equal(unsetenv("ZT_COLUMNS"), 0);
    expect_report(profiler, ZT_FORMAT_TABLE, "queued  launch");
    expect_report(profiler, ZT_FORMAT_TABLE, "\"queued\" is the median time from the append");
    expect_report(without, ZT_FORMAT_TABLE, "queued  launch");
    expect_report(without, ZT_FORMAT_TABLE, "set ZT_TIMELINE");
}

static void last_as_usual_and_once_longer(world *w, zt_profiler *profiler) {
    for (int i = 0; i < 9; i++)
        last(w, profiler, "work", 1);
    last(w, profiler, "work", 50);
    for (int i = 0; i < 9; i++)
        last(w, profiler, "even", 1);
    last(w, profiler, "even", 2);
}

/* What a mean that is far above the median is made of. */
static void test_two_groups_of_executions(void **state) {
    world *w = *state;
    zt_profiler *profiler = measure(w, 0, last_as_usual_and_once_longer);
    expect_report(profiler, ZT_FORMAT_TABLE,
                  "The mean of 'work' is 5.9 times its median: two groups of executions, 9 of about\n"
                  "1 s and 1 of about 50 s.");
    expect_no(profiler, ZT_FORMAT_TABLE, "The mean of 'even'");
    close_profiler(w, profiler);
}

static void last_mangled(world *w, zt_profiler *profiler) {
    for (int i = 0; i < 9; i++)
        last(w, profiler, "_Z4workv", 1);
    last(w, profiler, "_Z4workv", 50);
}

/* The sentence has the name as its row has it, which depends on whether there is a C++ library. */
static void test_groups_of_a_name_of_cpp(void **state) {
    world *w = *state;
    zt_profiler *profiler = measure(w, 0, last_mangled);
    int is_shown = strstr(written_report(profiler, ZT_FORMAT_TABLE), "\nwork() ") != NULL;
    expect_report(profiler, ZT_FORMAT_TABLE, is_shown ? "The mean of 'work()'" : "The mean of '_Z4workv'");
    close_profiler(w, profiler);
}

static void last_in_two_phases(world *w, zt_profiler *profiler) {
    ZT_PHASE("first")
        last_as_usual_and_once_longer(w, profiler);
    ZT_PHASE("second")
        last_as_usual_and_once_longer(w, profiler);
}

/* A region on several paths has a row for each. */
static void test_groups_of_paths(void **state) {
    world *w = *state;
    zt_profiler *profiler = measure(w, 0, last_in_two_phases);
    expect_report(profiler, ZT_FORMAT_TABLE, "The mean of 'first;work' is 5.9 times its median");
    expect_report(profiler, ZT_FORMAT_TABLE, "The mean of 'second;work' is 5.9 times its median");
    close_profiler(w, profiler);
}

static void last_longer_and_longer(world *w, zt_profiler *profiler) {
    static const uint64_t lasts[] = {2, 2, 2, 2, 2, 2, 3, 4, 6, 9, 13, 18};
    for (int i = 0; i < 12; i++)
        last(w, profiler, "work", lasts[i]);
}

static void test_a_few_long_executions(void **state) {
    world *w = *state;
    zt_profiler *profiler = measure(w, 0, last_longer_and_longer);
    expect_report(profiler, ZT_FORMAT_TABLE,
                  "The mean of 'work' is 2.2 times its median: a few executions take much longer,");
    expect_report(profiler, ZT_FORMAT_TABLE, "up to 18 s.");
    close_profiler(w, profiler);
}

static void test_bytes_in_reports(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_traced_times(w, 100);
    ok(zeCommandListAppendMemoryCopy(w->immediate, w->sums, w->ones, 1000, NULL, 0, NULL));
    launch(w, w->immediate);
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    static const char bandwidth[] = "\"copied_bytes\":1000,\"copied_bytes_per_second\":";
    expect_report(profiler, ZT_FORMAT_TABLE, "copied");
    expect_report(profiler, ZT_FORMAT_CSV,
                  "\n\"MemoryCopy\",\"copied bytes\",\"\",\"\",\"bytes\",event,sum,1,1000,");
    expect_report(profiler, ZT_FORMAT_CSV,
                  "\n\"MemoryCopy\",\"copied bytes a second\",\"\",\"\",\"bytes/s\",");
    expect_no(profiler, ZT_FORMAT_CSV, "\n\"saxpy\",\"copied bytes");
    expect_report(profiler, ZT_FORMAT_JSON, bandwidth);
    assert_close(
        strtod(strstr(written_report(profiler, ZT_FORMAT_JSON), bandwidth) + strlen(bandwidth), NULL),
        region_info(profiler, "MemoryCopy").bytes_per_second);
    expect_report(profiler, ZT_FORMAT_OPENMETRICS, "# TYPE zetools_region_copied_bytes counter\n");
    expect_report(profiler, ZT_FORMAT_OPENMETRICS,
                  "zetools_region_copied_bytes_total{region=\"MemoryCopy\"} 1000\n");
    expect_report(profiler, ZT_FORMAT_TRACE, "\"bytes\":1000,\"GB/s\":");
    ok(zt_trace_stop(profiler));
}

static void copy_in_no_time(world *w, zt_profiler *profiler) {
    zt_trace_config config = {0};
    config.copies = 1;
    ok(zt_trace_start(profiler, &config));
    ok(zeCommandListAppendMemoryCopy(w->immediate, w->sums, w->ones, 1000, NULL, 0, NULL));
    finish_immediate(w, w->immediate);
    ok(zt_trace_stop(profiler));
}

/* A copy that has begun and ended in the same tick of the device's clock has bytes, and no bandwidth. */
static void test_a_copy_within_a_tick(void **state) {
    world *w = *state;
    zt_profiler *profiler = measure(w, 100, copy_in_no_time);
    expect_report(profiler, ZT_FORMAT_TRACE, "\"GPU time [ns]\":0,");
    expect_report(profiler, ZT_FORMAT_TRACE, "\"bytes\":1000");
    expect_no(profiler, ZT_FORMAT_TRACE, "GB/s");
}

static void test_overlap_in_reports(void **state) {
    world *w = *state;
    zt_profiler *profiler = measure(w, 100, overlap_on_two_lists);
    expect_report(
        profiler, ZT_FORMAT_TABLE,
        "Of the 13 s from the first begin to the last end, regions take 76.9%, and in\n23.1% nothing "
        "that is measured runs.\n");
    expect_report(profiler, ZT_FORMAT_CSV,
                  "\n\"\",\"overlap: idle\",\"\",\"\",\"ns\",duration,sum,0,3000000000,");
    expect_report(
        profiler, ZT_FORMAT_JSON,
        "\n\"overlap\":{\"samples\":4,\"missing\":0,\"span_ns\":13000000000,\"busy_ns\":10000000000,"
        "\"kernel_ns\":0,\"copy_ns\":0,\"both_ns\":0,\"idle_ns\":3000000000,\"at_once_ns\":1000000000}");
    /* The regions of different lists: 0-6 and 5-7, which take 8 of 7 seconds, and 12-13. */
    expect_report(
        profiler, ZT_FORMAT_JSON,
        "\"Several regions ran at once in 1 s of the 8 s in which any ran: \\\"a\\\" for 17% of its time, "
        "\\\"c\\\" for 50% of its time. Their counters contain work of the others. Shares are of the busy "
        "time, and add up to 112%.\"");
    expect_report(profiler, ZT_FORMAT_JSON, "\"gpu_time_ns\":9000000000,\"gpu_busy_ns\":8000000000,");
    close_profiler(w, profiler);
    profiler = measure(w, 100, drop_one);
    expect_report(
        profiler, ZT_FORMAT_TABLE,
        "The idle time of the device is not known: 1 sample is missing in the 3 s from\nthe first begin");
    expect_report(profiler, ZT_FORMAT_CSV,
                  "\n\"\",\"overlap: missing\",\"\",\"profiler\",\"samples\",event,sum,1,");
    expect_report(profiler, ZT_FORMAT_JSON, "\"missing\":1,\"span_ns\":3000000000,\"busy_ns\":null,");
    close_profiler(w, profiler);
    profiler = measure(w, 0, drop_one);
    expect_no(profiler, ZT_FORMAT_TABLE, "last end");
    expect_no(profiler, ZT_FORMAT_CSV, "overlap");
    expect_no(profiler, ZT_FORMAT_JSON, "overlap");
    close_profiler(w, profiler);
    profiler = measure(w, 0, overlap_on_two_lists);
    expect_report(profiler, ZT_FORMAT_JSON,
                  "\"Whether regions of different lists ran at once cannot be told without a timeline: set "
                  "ZT_TIMELINE=65536. Shares are of the sum of their times.\"");
}

/* Three lists at once: each sample counts what it shares with any of the others once, and all of them together. */
static void run_on_three_lists(world *w, zt_profiler *profiler) {
    ze_command_list_handle_t others[2];
    create_immediate(w, &others[0]);
    create_immediate(w, &others[1]);
    for (int i = 0; i < 2; i++) { /* 0-10, 2-6, 4-8; again from 20 on */
        zt_region a = begin_now(w, profiler, w->immediate, "a");
        step(2);
        zt_region b = begin_now(w, profiler, others[0], "b");
        step(2);
        zt_region c = begin_now(w, profiler, others[1], "c");
        step(2);
        end_now(w, others[0], &b);
        step(2);
        end_now(w, others[1], &c);
        step(2);
        end_now(w, w->immediate, &a);
        step(10);
    }
    collect_all(profiler);
    for (int i = 0; i < 2; i++) {
        zt_release(profiler, others[i]);
        ok(zeCommandListDestroy(others[i]));
    }
}

static void test_three_lists_at_once(void **state) {
    world *w = *state;
    zt_profiler *profiler = measure(w, 100, run_on_three_lists);
    assert_close(zt_get_timeline(profiler).overlap.at_once_ns, 12.0 * SECOND);
    assert_close(zt_get_timeline(profiler).overlap.busy_ns, 20.0 * SECOND);
    expect_report(
        profiler, ZT_FORMAT_JSON,
        "Several regions ran at once in 12 s of the 20 s in which any ran: \\\"a\\\" for 60% of its time, "
        "\\\"b\\\" for 100% of its time, \\\"c\\\" for 100% of its time. Their counters contain work of the "
        "others. Shares are of the busy time, and add up to 180%.");
}

/* ==== merging ============================================================================================= */

static void expect_same(const zt_profiler *one, const zt_profiler *other, const char *region) {
    for (uint32_t latency = ZT_QUEUE_LATENCY; latency <= ZT_LAUNCH_LATENCY; latency++) {
        zt_stats a = latency_of(one, region, latency);
        zt_stats b = latency_of(other, region, latency);
        assert_int_equal(a.count, b.count);
        assert_close(a.mean, b.mean);
        assert_close(a.min, b.min);
        assert_close(a.median, b.median);
    }
    assert_int_equal(region_info(one, region).bytes, region_info(other, region).bytes);
    assert_close(region_info(one, region).bytes_per_second, region_info(other, region).bytes_per_second);
}

static void copy_and_execute(world *w, zt_profiler *profiler) {
    zt_trace_config config = {0};
    execute_behind_gate(w, profiler, 4);
    config.copies = 1;
    ok(zt_trace_start(profiler, &config));
    ok(zeCommandListAppendMemoryCopy(w->immediate, w->sums, w->ones, 1000, NULL, 0, NULL));
    finish_immediate(w, w->immediate);
    ok(zt_trace_stop(profiler));
}

static zt_profiler *unpacked(const zt_profiler *profiler) {
    static char buffer[1 << 16];
    size_t size = sizeof buffer;
    zt_profiler *copy;
    ok(zt_pack(profiler, buffer, &size));
    ok(zt_unpack(buffer, size, NULL, &copy));
    return copy;
}

/* Statistics of latencies and bytes are merged and packed, and so is the error below which there are no
   figures. The time of the device is not. */
static void test_merged_and_packed(void **state) {
    world *w = *state;
    zt_profiler *one = measure(w, 100, copy_and_execute), *other = measure(w, 100, execute_at_once);
    zt_profiler *without = measure(w, 0, execute_at_once), *copy = unpacked(one);
    expect_same(one, copy, "work");
    expect_same(one, copy, "MemoryCopy");
    assert_int_equal(region_info(copy, "MemoryCopy").bytes, 1000);
    assert_int_equal(zt_get_timeline(copy).overlap.samples, 0);
    zt_close(copy);
    ok(zt_merge(other, one));
    ok(zt_merge(other, without));
    assert_int_equal(region_info(other, "MemoryCopy").bytes, 1000);
    assert_int_equal(region_info(other, "work").count, 3);
    assert_int_equal(latency_of(other, "work", ZT_LAUNCH_LATENCY).count, 2);
    assert_close(latency_of(other, "work", ZT_LAUNCH_LATENCY).mean, 2.0 * SECOND);
    assert_true(isnan(latency_of(other, "work", ZT_LAUNCH_LATENCY).min));
    assert_int_equal(zt_get_timeline(other).overlap.samples, 1);
    copy = unpacked(other);
    expect_same(other, copy, "work");
    zt_close(copy);
    ok(zt_merge(without, one)); /* the error, too */
    assert_int_equal(region_info(without, "MemoryCopy").bytes, 1000);
    assert_close(latency_of(without, "work", ZT_LAUNCH_LATENCY).max, 4 * SECOND);
    assert_true(isnan(latency_of(without, "work", ZT_LAUNCH_LATENCY).median)); /* it keeps none */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_queueing_of_recorded_lists),
        TEST(test_queueing_up_to_an_execution_that_succeeds),
        TEST(test_no_queueing_on_immediate_lists),
        TEST(test_launches_on_an_immediate_list),
        TEST(test_launches_of_recorded_lists),
        TEST(test_figures_below_the_error_of_the_clock),
        TEST(test_figures_above_the_error_of_the_clock),
        TEST(test_clocks_that_are_slow_to_read),
        TEST(test_executions_that_are_not_seen),
        TEST(test_a_released_list_with_executions_that_are_not_seen),
        TEST(test_without_a_timeline),
        TEST(test_traced_launches),
        TEST(test_a_clock_of_kernels_that_is_slow_to_relate),
        TEST(test_bytes_of_copies),
        TEST(test_intervals_that_overlap),
        TEST(test_intervals_that_nest),
        TEST(test_time_of_the_samples_that_are_kept),
        TEST(test_time_of_samples_that_are_missing),
        TEST(test_time_of_samples_on_their_way),
        TEST(test_time_without_memory),
        TEST(test_kernels_and_copies_at_once),
        TEST(test_latencies_in_reports),
        TEST(test_uncertain_latencies_in_reports),
        TEST(test_columns_of_latencies),
        TEST(test_two_groups_of_executions),
        TEST(test_groups_of_a_name_of_cpp),
        TEST(test_groups_of_paths),
        TEST(test_a_few_long_executions),
        TEST(test_bytes_in_reports),
        TEST(test_a_copy_within_a_tick),
        TEST(test_overlap_in_reports),
        TEST(test_three_lists_at_once),
        TEST(test_merged_and_packed),
    };
    return cmocka_run_group_tests(tests, start_traced, NULL);
}
