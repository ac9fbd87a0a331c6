/* A night: ten hours by the clocks of device and host, in which a program launches kernels all the time. Memory is
   flat, times are right across the turns of the kernels' clock, the timeline keeps the newest samples, and each report
   has the right counts and takes no longer than before.

   Between steps, both clocks go on by 3.6 s at once. So the night takes as long as its launches do: 20,000 by default,
   or ZT_LAUNCHES; `make night` has ten million.

   The clocks are those of Intel's devices: 19.2 MHz, 36 bits of the device's, of which an event has the lower 32. So the
   device's begins anew each hour, and that of kernels every 224 s. */
#define _GNU_SOURCE
#include "meet.h"
#include "perfetto.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define STEP_NS UINT64_C(3600000000)
#define TICKS_PER_SECOND UINT64_C(19200000)
#define TURN_TICKS (UINT64_C(1) << 32)
#define TICKS_OF(ns) ((ns) / UINT64_C(1000) * 192 / 10)

enum { STEPS = 10000, WARM_STEPS = STEPS / 10, NEWEST = 4096, AT_ONCE = 250, IN_PHASE = 50 };

typedef struct night {
    world *w;
    zt_profiler *profiler;
    ze_command_list_handle_t list;
    ze_event_pool_handle_t pool; /* without time stamps, which the device would add up */
    ze_event_handle_t done;
    rig rig; /* of the kernel that runs while the clock begins anew */
    ze_kernel_handle_t meeting;
    uint64_t launches_of_step, launches, turns;
    uint64_t began_ns[STEPS], ended_ns[STEPS]; /* each step, on the host's clock */
    uint64_t launched[STEPS];                  /* before the end of each */
} night;

/* ==== time ================================================================================================ */

static void pass_on_both(uint64_t ns) {
    pass_time(ns);
    gpu.pass_time(ns);
}

static uint64_t device_ticks(const world *w) {
    uint64_t host, ticks;
    ok(zeDeviceGetGlobalTimestamps(w->device, &host, &ticks));
    return ticks;
}

static uint64_t ticks_to_turn(const world *w) {
    return TURN_TICKS - device_ticks(w) % TURN_TICKS;
}

/* ==== what runs =========================================================================================== */

static void finish_and_collect(night *n) {
    ok(zeCommandListAppendBarrier(n->list, n->done, 0, NULL));
    ok(zeEventHostSynchronize(n->done, A_WHILE));
    ok(zeEventHostReset(n->done));
    ok(zt_collect(n->profiler, 0));
}

/* Returns whether the kernels' clock begins anew soon, but not so soon that this thread may be too late for it. */
static int is_turn_near(const night *n) {
    uint64_t left = ticks_to_turn(n->w);
    return left >= TICKS_OF(STEP_NS / 2) && left < TICKS_OF(2 * STEP_NS);
}

/* A kernel that runs while its clock begins anew. The time that passes is that until there, and its begin moves with
   it: it stays before the turn by as long as it has run. */
static void launch_across_turn(night *n) {
    enum { LEAST_TICKS = 100 };
    memset(n->rig.words, 0, WORDS * sizeof *n->rig.words);
    ok(zeCommandListAppendLaunchKernel(n->list, n->meeting, &one_group, NULL, 0, NULL));
    await_word(&n->rig, 0);
    for (uint64_t begin = device_ticks(n->w); device_ticks(n->w) - begin < LEAST_TICKS;) {
    }
    pass_on_both((ticks_to_turn(n->w) + 1) * 1000 / 192 * 10 + 60);
    set_word(&n->rig, 1);
    n->launches++;
    n->turns++;
    finish_and_collect(n);
}

static void run_step(night *n, int step) {
    uint64_t last = n->launches + n->launches_of_step;
    n->began_ns[step] = now_ns();
    ZT_PHASE("step") {
        if (is_turn_near(n) && n->launches < last)
            launch_across_turn(n);
        while (n->launches < last) {
            for (int i = 0; i < AT_ONCE && n->launches < last; i++, n->launches++)
                launch(n->w, n->list);
            finish_and_collect(n);
        }
    }
    n->ended_ns[step] = now_ns();
    n->launched[step] = n->launches;
    pass_on_both(STEP_NS - (n->ended_ns[step] - n->began_ns[step]) % STEP_NS);
}

/* ==== memory and reports ================================================================================== */

static const char *const reports[] = {"run.txt",     "run.html",   "run.csv",           "run.json",
                                      "run.prom",    "run.folded", "run.instances.csv", "run.trace.json",
                                      "run.pftrace", "run.zt"};
enum { REPORTS = sizeof reports / sizeof *reports };

/* The seconds of the processor that writing each takes. */
static void write_all_reports(const night *n, double seconds[REPORTS]) {
    for (int i = 0; i < REPORTS; i++) {
        clock_t before = clock();
        ok(zt_report(n->profiler, in_directory(reports[i])));
        seconds[i] = (double)(clock() - before) / CLOCKS_PER_SEC;
    }
}

/* The caller frees it. */
static char *read_whole(const char *name, size_t *size) {
    FILE *file = fopen(in_directory(name), "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *text = malloc(*size + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, *size, file), *size);
    text[*size] = 0;
    fclose(file);
    return text;
}

static char *read_report(const char *name) {
    size_t size;
    return read_whole(name, &size);
}

static void expect_in_report(const char *name, const char *format, uint64_t number) {
    char part[256], *text = read_report(name);
    snprintf(part, sizeof part, format, (unsigned long long)number);
    if (!strstr(text, part))
        fail_msg("%s has no %s", name, part);
    free(text);
}

/* Each of the newest samples is in the step in which it was launched; there is one row for each, the oldest first. */
static void check_instances(const night *n) {
    const uint64_t slack = 1000000; /* between two clocks; steps are seconds apart */
    char *text = read_report("run.instances.csv"), *line = strstr(text, "\nKernel,");
    uint64_t index = n->launches - NEWEST;
    int step = 0;
    assert_non_null(line);
    for (line = strchr(line + 1, '\n'); line && line[1]; index++) {
        char *end = strchr(line + 1, '\n');
        assert_non_null(end);
        *end = 0;
        char *last = strrchr(line + 1, ',');
        *last = 0;
        uint64_t end_ns = strtoull(last + 1, NULL, 10),
                 begin_ns = strtoull(strrchr(line + 1, ',') + 1, NULL, 10);
        while (step < STEPS - 1 && n->launched[step] <= index)
            step++;
        if (begin_ns > end_ns || begin_ns + slack < n->began_ns[step] || end_ns > n->ended_ns[step] + slack)
            fail_msg("launch %llu is at %llu to %llu, and its step at %llu to %llu",
                     (unsigned long long)index, (unsigned long long)begin_ns, (unsigned long long)end_ns,
                     (unsigned long long)n->began_ns[step], (unsigned long long)n->ended_ns[step]);
        line = end;
    }
    assert_int_equal(index, n->launches);
    free(text);
}

/* Where the timeline was full after a tenth of the night, both times are those of as many samples. They are compared
   where the night was asked for, because they depend on what else runs. */
static void check_seconds(const double early[REPORTS], const double late[REPORTS]) {
    double before = 0, after = 0;
    for (int i = 0; i < REPORTS; i++) {
        before += early[i];
        after += late[i];
        print_message("%s: %.3f s after a tenth, %.3f s at the end\n", reports[i], early[i], late[i]);
    }
    if (getenv("ZT_LAUNCHES"))
        assert_true(after <= 2 * before);
}

static void check_reports(const night *n) {
    const uint64_t plain = n->launches - n->turns;
    char *trace = read_report("run.trace.json");
    expect_in_report("run.txt", "\n  saxpy ", 0);
    expect_in_report("run.txt", " %llu ", plain);
    expect_in_report("run.html", "\n{\"name\":\"saxpy\",\"count\":%llu,", plain);
    expect_in_report("run.csv", "\n\"saxpy\",\"GPU time\",\"\",\"\",\"ns\",duration,sum,%llu,", plain);
    expect_in_report("run.json", "\n{\"name\":\"saxpy\",\"count\":%llu,", plain);
    expect_in_report("run.prom", "\nzetools_region_gpu_time_seconds_count{region=\"saxpy\"} %llu\n", plain);
    expect_in_report("run.folded", "step;saxpy %llu\n",
                     (uint64_t)llround(region_info(n->profiler, "saxpy").total_ns));
    assert_int_equal(occurrences(trace, "\"cat\":\"region\""), NEWEST);
    free(trace);
    compare_traces(n->profiler);
    check_instances(n);
}

/* What another process reads. */
static void check_packed(const night *n) {
    zt_profiler *back = NULL;
    size_t size;
    char *packed = read_whole("run.zt", &size);
    ok(zt_unpack(packed, size, NULL, &back));
    free(packed);
    assert_int_equal(region_info(back, "saxpy").count, n->launches - n->turns);
    assert_int_equal(region_info(back, "meet").count, n->turns);
    assert_int_equal(region_info(back, "step").entered, STEPS);
    zt_close(back);
}

/* ==== the night =========================================================================================== */

static uint64_t wanted_launches(void) {
    const char *wanted = getenv("ZT_LAUNCHES");
    return wanted ? strtoull(wanted, NULL, 10) : 20000;
}

static void begin_night(night *n, world *w, const char *groups, uint64_t launches) {
    const ze_event_pool_desc_t pool = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, NULL,
                                       ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 1};
    const ze_event_desc_t event = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC};
    zt_config config = config_of(w);
    n->w = w;
    n->launches_of_step = launches < STEPS ? 1 : launches / STEPS;
    gpu.set_timestamps(36, TICKS_PER_SECOND);
    gpu.set_clock((UINT64_C(1) << 36) - TICKS_PER_SECOND * 600); /* ten minutes before it begins anew */
    gpu.set_kernel_clock(32, (UINT64_C(1) << 36) - TICKS_PER_SECOND * 600);
    gpu.set_metric_clock(32, (UINT64_C(1) << 36) - TICKS_PER_SECOND * 600);
    ok(zeEventPoolCreate(w->context, &pool, 0, NULL, &n->pool));
    ok(zeEventCreate(n->pool, &event, &n->done));
    config.groups = groups;
    config.timeline = NEWEST;
    n->profiler = open_profiler(w, &config);
    ok(zt_trace_start(n->profiler, NULL));
    n->list = immediate_of(w, COMPUTE, 0, 0);
    n->rig = open_rig(w);
    n->meeting = meeting(&n->rig, 0, 1, LONG);
}

static void end_night(night *n) {
    check_work(n->w);
    ok(zeKernelDestroy(n->meeting));
    close_rig(&n->rig);
    ok(zeCommandListDestroy(n->list));
    ok(zeEventDestroy(n->done));
    ok(zeEventPoolDestroy(n->pool));
    close_profiler(n->w, n->profiler);
}

static void check_counts(const night *n) {
    zt_timeline_info timeline = zt_get_timeline(n->profiler);
    check_identity(n->profiler);
    assert_counts(n->profiler, counted(n->launches, n->launches, 0, 0, 0));
    assert_int_equal(n->launches, n->launches_of_step * STEPS);
    assert_int_equal(region_info(n->profiler, "saxpy").count, n->launches - n->turns);
    assert_int_equal(region_info(n->profiler, "meet").count, n->turns);
    assert_int_equal(region_info(n->profiler, "step").entered, STEPS);
    assert_int_equal(timeline.samples, NEWEST);
    assert_int_equal(timeline.lost_samples, n->launches - NEWEST);
    assert_int_equal(timeline.overlap.missing, 0);
}

/* The sum of all times is that of the device's own account, which knows no turns. */
static void check_stamps(const night *n, softgpu_stamped before) {
    softgpu_stamped after = gpu.get_stamped();
    double ns = (double)(after.ticks - before.ticks) * 1e9 / TICKS_PER_SECOND;
    double measured = region_info(n->profiler, "saxpy").total_ns + region_info(n->profiler, "meet").total_ns;
    assert_int_equal(after.commands - before.commands, n->launches);
    assert_true(after.turns - before.turns >= n->turns && n->turns >= 160);
    print_message(
        "%llu launches, %llu of them across a turn of the clock; %.6f s on the device, %.6f s measured\n",
        (unsigned long long)n->launches, (unsigned long long)(after.turns - before.turns), ns / 1e9,
        measured / 1e9);
    assert_true(fabs(measured - ns) <= 1e-9 * ns);
}

/* Time stamps of metrics have no account. A turn that was not seen would be a time that is longer than all others. */
static void check_metrics(const night *n) {
    const double longest =
        100e9; /* nanoseconds; a turn is 224 s, and a kernel across it takes less than a step */
    const char *const names[] = {"saxpy", "meet"};
    for (int i = 0; i < 2; i++) {
        zt_stats times = stats_of(n->profiler, names[i], "GpuTime");
        assert_int_equal(times.count, region_info(n->profiler, names[i]).count);
        assert_true(times.min > 0 && times.max < longest);
    }
}

static void run_night(night *n) {
    enum { MOST_RESIDENT = 2 << 20 };
    double early[REPORTS], late[REPORTS];
    softgpu_stamped stamped = gpu.get_stamped();
    const uint64_t first_ns = now_ns();
    heap_use warm = {0, 0};
    int64_t resident = 0;
    for (int step = 0; step < STEPS; step++) {
        if (step == WARM_STEPS) {
            write_all_reports(n, early);
            warm = library_memory();
            resident = resident_size();
        }
        run_step(n, step);
    }
    int64_t more = resident_size() - resident;
    assert_same_memory(warm);
    collect_all(n->profiler);
    print_message("%.2f hours; resident memory %.2f MiB after a tenth, and %+.2f MiB since\n",
                  (double)(now_ns() - first_ns) / 3.6e12, (double)resident / (1 << 20),
                  (double)more / (1 << 20));
    if (!getenv("ZEL_ENABLE_EVENTS_CHECKER")) /* whose memory grows with each use of an event */
        assert_true(more < MOST_RESIDENT);
    assert_true(now_ns() - first_ns >= STEPS * STEP_NS);
    check_counts(n);
    if (zt_get_info(n->profiler).metric_count > 0)
        check_metrics(n);
    else
        check_stamps(n, stamped);
    write_all_reports(n, late);
    check_reports(n);
    check_packed(n);
    check_seconds(early, late);
}

static void pass_night(world *w, const char *groups, uint64_t launches) {
    night *n = test_calloc(1, sizeof *n);
    begin_night(n, w, groups, launches);
    run_night(n);
    end_night(n);
    test_free(n);
}

static void test_night(void **state) {
    pass_night(*state, "", wanted_launches());
}

/* Launches are measured one after the other, which takes longer. */
static void test_night_with_metrics(void **state) {
    pass_night(*state, "ComputeBasic", wanted_launches() / 10);
}

static int start_in_directory(void **state) {
    return make_directory(state) == 0 ? start_traced(state) : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_night),
        TEST(test_night_with_metrics),
    };
    return cmocka_run_group_tests(tests, start_in_directory, remove_directory);
}
