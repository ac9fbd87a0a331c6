/* The timeline: a trace that another program reads, in host time, whatever the device's clock does; and what
   the rows of streams say of regions. */
#define _GNU_SOURCE
#include "perfetto.h"
#include "rows.h"

#include <dlfcn.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ==== in the place of the driver ========================================================================== */

static int has_unknown_bits; /* of time stamps */
static int refuses_clocks;
/* Of launches whose time stamps are read, which all begin with the first. 0: the end. */
static const uint64_t *lengths;
static uint64_t execution_ns; /* that pass at the end of each call that executes lists */

ze_result_t zeDeviceGetProperties(ze_device_handle_t device, ze_device_properties_t *properties) {
    ze_result_t result = REAL(zeDeviceGetProperties)(device, properties);
    if (has_unknown_bits)
        properties->timestampValidBits = properties->kernelTimestampValidBits = 0;
    return result;
}

ze_result_t zeCommandQueueExecuteCommandLists(ze_command_queue_handle_t queue, uint32_t count,
                                              ze_command_list_handle_t *lists, ze_fence_handle_t fence) {
    ze_result_t result = REAL(zeCommandQueueExecuteCommandLists)(queue, count, lists, fence);
    if (execution_ns)
        pass_time(execution_ns);
    return result;
}

ze_result_t zeEventQueryKernelTimestamp(ze_event_handle_t event, ze_kernel_timestamp_result_t *stamp) {
    static uint64_t begin;
    ze_result_t result = REAL(zeEventQueryKernelTimestamp)(event, stamp);
    if (result == ZE_RESULT_SUCCESS && lengths && *lengths) {
        begin = begin ? begin : stamp->global.kernelStart;
        stamp->global.kernelStart = begin;
        stamp->global.kernelEnd = begin + *lengths++;
    }
    return result;
}

/* The library looks this up, so that replace_symbol() puts it in place of the loader's. */
static ze_result_t ZE_APICALL read_clocks(ze_device_handle_t device, uint64_t *host, uint64_t *ticks) {
    return refuses_clocks ? ZE_RESULT_ERROR_UNKNOWN : zeDeviceGetGlobalTimestamps(device, host, ticks);
}

static int close_honest(void **state) {
    has_unknown_bits = refuses_clocks = 0;
    execution_ns = 0;
    lengths = NULL;
    return close_streams(state);
}

#define PRETENDING(function) cmocka_unit_test_setup_teardown(function, open_world, close_honest)

/* ==== the trace, read by another program ================================================================== */

static char seen[1 << 14]; /* what check_trace.py says of the last trace */

static void read_trace(const char *path, uint64_t low, uint64_t high) {
    char script[PATH_MAX], command[2 * PATH_MAX];
    find_file("tests/check_trace.py", script, sizeof script);
    snprintf(command, sizeof command, "env -u LD_LIBRARY_PATH -u LD_PRELOAD python3 '%s' '%s' %llu %llu",
             script, path, (unsigned long long)low, (unsigned long long)high);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    seen[fread(seen, 1, sizeof seen - 1, pipe)] = 0;
    int status = pclose(pipe);
    if (status != 0)
        print_error("%s\n%s\n", command, seen);
    assert_int_equal(status, 0);
}

/* Writes a trace whose times are all between `low` and now, and reads it; and the same in Perfetto's format. */
static void trace_since(zt_profiler *profiler, uint64_t low) {
    char path[] = "/tmp/zetools-XXXXXX.trace.json";
    int file = mkstemps(path, 11);
    assert_true(file >= 0);
    close(file);
    hold_time(1);
    ok(zt_report(profiler, path));
    compare_with_perfetto(profiler, path);
    hold_time(0);
    read_trace(path, low, now_ns());
    unlink(path);
}

static void expect_line(const char *line) {
    char whole[256];
    snprintf(whole, sizeof whole, "%s\n", line);
    assert_contains(seen, whole);
}

/* Of a thing that threads do, which the system numbers. */
static void expect_line_of_thread(const char *format, long thread) {
    char line[200];
    snprintf(line, sizeof line, format, thread);
    expect_line(line);
}

static long this_thread(void) {
    return syscall(SYS_gettid);
}

static zt_profiler *open_timeline(world *w, const char *groups, uint32_t capacity) {
    zt_config config = config_of(w);
    config.groups = groups;
    config.timeline = capacity;
    return open_profiler(w, &config);
}

/* ==== regions ============================================================================================= */

static void append_nested(world *w, zt_profiler *profiler, ze_command_list_handle_t list) {
    zt_region outer = zt_begin(profiler, list, "outer");
    launch_kernel(list, w->kernel);
    for (int i = 0; i < 2; i++) {
        zt_region inner = zt_begin(profiler, list, "inner");
        append(w, profiler, list, "innermost");
        zt_end(&inner);
    }
    zt_end(&outer);
    append(w, profiler, list, "after");
}

static void run_nested(world *w, const char *groups) {
    uint64_t low = now_ns();
    zt_profiler *profiler = open_timeline(w, groups, 1000);
    for (int i = 0; i < 10; i++) {
        append_nested(w, profiler, w->immediate);
        w->launches += 4;
        finish_immediate(w, w->immediate);
    }
    collect_all(profiler);
    assert_counts(profiler, counted(60, 60, 0, 0, 0));
    trace_since(profiler, low);
    expect_line("list 1: outer x10");
    expect_line("list 1: outer/inner x20");
    expect_line("list 1: outer/inner/innermost x20");
    expect_line("list 1: after x10");
    assert_int_equal(zt_get_timeline(profiler).samples, 60);
    assert_int_equal(zt_get_timeline(profiler).lost_samples, 0);
    assert_true(zt_get_timeline(profiler).pairs >= 1);
    close_profiler(w, profiler);
    check_work(w);
}

static void test_nested_regions(void **state) {
    run_nested((world *)*state, "ComputeBasic");
    run_nested((world *)*state, "ComputeBasic,HostScheduler");
    run_nested((world *)*state, "");
}

static void test_track_for_each_list(void **state) {
    world *w = (world *)*state;
    uint64_t low = now_ns();
    ze_command_list_handle_t other;
    create_immediate(w, &other);
    zt_profiler *profiler = open_timeline(w, "ComputeBasic", 100);
    for (int i = 0; i < 3; i++) {
        run(w, profiler, "here");
        append(w, profiler, other, "there");
        w->launches++;
        finish_immediate(w, other);
    }
    append(w, profiler, w->list, "recorded");
    ok(zeCommandListClose(w->list));
    for (int i = 0; i < 4; i++) {
        execute(w, profiler, w->list);
        w->launches++;
    }
    collect_all(profiler);
    trace_since(profiler, low);
    expect_line("list 1: here x3");
    expect_line("list 2: there x3");
    expect_line("list 3: recorded x4");
    ok(zt_release(profiler, other));
    ok(zeCommandListDestroy(other));
    check_work(w);
}

static void test_overlapping_regions(void **state) {
    world *w = (world *)*state;
    uint64_t low = now_ns();
    zt_profiler *profiler = open_timeline(w, "ComputeBasic", 100);
    zt_region early = zt_begin(profiler, w->immediate, "early");
    launch(w, w->immediate);
    zt_region late = zt_begin(profiler, w->immediate, "late");
    launch(w, w->immediate);
    append(w, profiler, w->immediate, "inside");
    zt_end(&early);
    launch(w, w->immediate);
    zt_end(&late);
    w->launches++;
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    trace_since(profiler, low);
    expect_line("list 1: early x1");
    expect_line("list 1, overlap 1: late x1");
    expect_line("list 1: early/inside x1");
    check_work(w);
}

/* By a coarse clock, what is nested has the same begin, and perhaps the same end: the outer one comes first. */
static void test_a_coarse_clock(void **state) {
    enum { TICK_NAPS = 5 };
    static const char *const names[] = {"outer", "inner", "innermost"};
    world *w = (world *)*state;
    ze_event_handle_t gate;
    gpu.set_timestamps(64, 1000 / TICK_NAPS);
    zt_profiler *profiler = open_timeline(w, "", 1000);
    create_event(w, 1, &gate);
    for (int i = 0; i < 5; i++) {
        zt_region outer = zt_begin(profiler, w->immediate, names[0]);
        zt_region inner = zt_begin(profiler, w->immediate, names[1]);
        append(w, profiler, w->immediate, names[2]);
        zt_end(&inner);
        ok(zeCommandListAppendWaitOnEvents(w->immediate, 1, &gate));
        zt_end(&outer);
        for (int k = 0; k < 2 * TICK_NAPS; k++)
            nap();
        ok(zeEventHostSignal(gate));
        finish_immediate(w, w->immediate);
        ok(zeEventHostReset(gate));
        w->launches++;
    }
    for (int k = 0; k < 2 * TICK_NAPS; k++) /* or the host knows that it cannot have taken so long */
        nap();
    collect_all(profiler);
    assert_counts(profiler, counted(15, 15, 0, 0, 0));
    const char *text = strstr(written_report(profiler, ZT_FORMAT_TRACE), "\"list 1\"");
    assert_non_null(text);
    for (int i = 0; i < 15; i++) {
        char span[40];
        snprintf(span, sizeof span, "\n{\"ph\":\"X\",\"name\":\"%s\",", names[i % 3]);
        text = strstr(text + 1, "\n{\"ph\":\"X\",");
        assert_non_null(text);
        assert_memory_equal(text, span, strlen(span));
    }
    assert_null(strstr(text, "overlap"));
    ok(zeEventDestroy(gate));
    check_work(w);
}

/* Launches that begin at once, as on several engines: those that last longer are around the others, in
   whatever order they were appended. */
static void test_launches_that_begin_at_once(void **state) {
    enum { LAUNCHES = 3 };
    static const uint64_t appended[] = {2000, 1000, 3000, 0};
    static const double shown[] = {3, 2, 1}; /* microseconds of the host's clock */
    world *w = (world *)*state;
    ze_command_list_handle_t list;
    gpu.set_timestamps(64, 1000000000);
    zt_profiler *profiler = open_timeline(w, "", 100);
    ok(zt_trace_start(profiler, NULL));
    create_immediate(w, &list);
    lengths = appended;
    for (int i = 0; i < LAUNCHES; i++)
        launch(w, list);
    finish_immediate(w, list);
    collect_all(profiler);
    ok(zt_trace_stop(profiler));
    ok(zt_release(profiler, list));
    ok(zeCommandListDestroy(list));
    assert_int_equal(zt_get_timeline(profiler).samples, LAUNCHES);
    const char *text = written_report(profiler, ZT_FORMAT_TRACE);
    assert_null(strstr(text, "overlap"));
    for (int i = 0; i < LAUNCHES; i++) {
        text = strstr(text + 1, "{\"ph\":\"X\",\"name\":\"saxpy\"");
        assert_non_null(text);
        const char *length = strstr(text, ",\"dur\":");
        assert_true(length && length < strchr(text, '\n'));
        double microseconds = strtod(length + strlen(",\"dur\":"), NULL);
        assert_true(microseconds > shown[i] - 0.5 && microseconds < shown[i] + 0.5);
    }
    check_work(w);
}

static void test_names_of_any_kind(void **state) {
    world *w = (world *)*state;
    uint64_t low = now_ns();
    zt_profiler *profiler = open_timeline(w, "ComputeBasic", 100);
    run(w, profiler, "quote \" backslash \\ newline \n");
    run(w, profiler, "invalid \xff\xfe");
    collect_all(profiler);
    trace_since(profiler, low);
    assert_contains(seen, "quote \" backslash \\ newline");
    check_work(w);
}

static void test_ring_keeps_the_newest(void **state) {
    world *w = (world *)*state;
    uint64_t low = now_ns();
    zt_profiler *profiler = open_timeline(w, "ComputeBasic", 8);
    for (int i = 0; i < 20; i++)
        run(w, profiler, i < 12 ? "old" : "new");
    collect_all(profiler);
    trace_since(profiler, low);
    expect_line("list 1: new x8");
    expect_line("missing earlier samples are not kept x12");
    assert_null(strstr(seen, "old"));
    assert_int_equal(zt_get_timeline(profiler).samples, 8);
    assert_int_equal(zt_get_timeline(profiler).lost_samples, 12);
    check_work(w);
}

static void test_memory_is_fixed(void **state) {
    world *w = (world *)*state;
    zt_profiler *profiler = open_timeline(w, "ComputeBasic", 64);
    uint64_t allocations = 0;
    for (int i = 0; i < 800; i++) {
        if (i == 600) /* rows of a region are kept in steps up to 512 */
            allocations = heap_allocations();
        run(w, profiler, "warm up");
        ok(zt_collect(profiler, A_WHILE));
    }
    assert_int_equal(heap_allocations(), allocations);
    check_work(w);
}

static void test_without_a_timeline(void **state) {
    world *w = (world *)*state;
    zt_profiler *profiler = open_timeline(w, "ComputeBasic", 0);
    run(w, profiler, "region");
    collect_all(profiler);
    assert_result(zt_report(profiler, "/tmp/zetools-without.trace.json"), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_contains(zt_get_info(profiler).error, "[NO_KEPT_SAMPLES] zt_report: ");
    assert_contains(zt_get_info(profiler).error, "config.timeline");
    assert_int_equal(zt_get_timeline(profiler).pairs, 0);
    check_work(w);
}

static void test_clocks_that_cannot_be_related(void **state) {
    world *w = (world *)*state;
    uint64_t low = now_ns();
    inject("zeDeviceGetGlobalTimestamps", 1, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    zt_profiler *profiler = open_timeline(w, "ComputeBasic", 100);
    assert_int_equal(heard(w, "CLOCKS_UNRELATED"), 1);
    run(w, profiler, "region");
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    trace_since(profiler, low);
    assert_string_equal(seen, "");
    check_work(w);
}

static void test_collected_by_a_thread(void **state) {
    world *w = (world *)*state;
    uint64_t low = now_ns();
    zt_config config = config_of(w);
    config.timeline = 1000;
    config.thread = 1;
    zt_profiler *profiler = open_profiler(w, &config);
    for (int i = 0; i < 50; i++)
        run(w, profiler, "later");
    collect_all(profiler);
    trace_since(profiler, low);
    expect_line("list 1: later x50");
    check_work(w);
}

/* Of a region that is measured in passes, each has its sample on the timeline. */
static void test_passes(void **state) {
    world *w = (world *)*state;
    uint64_t low = now_ns();
    uint32_t passes = 0;
    zt_config config = config_of(w);
    config.groups = "ComputeBasic,MemoryProfile,HostScheduler";
    config.max_passes = 4;
    config.timeline = 100;
    zt_profiler *profiler = open_profiler(w, &config);
    ZT_PASSES(profiler) {
        run(w, profiler, "repeated");
        passes++;
    }
    assert_int_equal(passes, 2);
    collect_all(profiler);
    trace_since(profiler, low);
    expect_line("list 1: repeated x2");
    check_work(w);
}

/* ==== the program ======================================================================================== */

typedef struct appending {
    world *w;
    zt_profiler *profiler;
    ze_command_list_handle_t list;
    long thread;
} appending;

static void *append_elsewhere(void *argument) {
    appending *a = (appending *)argument;
    a->thread = this_thread();
    for (int i = 0; i < 3; i++) {
        append(a->w, a->profiler, a->list, "elsewhere");
        finish_immediate(a->w, a->list);
    }
    return NULL;
}

/* Threads have the numbers of the system, and regions on immediate lists come from what has appended them. */
static void test_threads_that_append(void **state) {
    world *w = (world *)*state;
    uint64_t low = now_ns();
    pthread_t thread;
    zt_profiler *profiler = open_timeline(w, "ComputeBasic", 100);
    appending a = {w, profiler, w->immediate, 0};
    zt_region outer = zt_begin(profiler, w->immediate, "outer");
    run(w, profiler, "here");
    zt_end(&outer);
    assert_int_equal(pthread_create(&thread, NULL, append_elsewhere, &a), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    w->launches += 3;
    collect_all(profiler);
    trace_since(profiler, low);
    assert_true(a.thread != this_thread());
    expect_line_of_thread("thread %ld: append outer x1", this_thread());
    expect_line_of_thread("thread %ld: append outer/append here x1", this_thread());
    expect_line_of_thread("thread %ld: append elsewhere x3", a.thread);
    expect_line_of_thread("flow thread %ld: append outer > outer x1", this_thread());
    expect_line_of_thread("flow thread %ld: append here > here x1", this_thread());
    expect_line_of_thread("flow thread %ld: append elsewhere > elsewhere x3", a.thread);
    check_work(w);
}

/* Regions on recorded lists come from the call that has executed the list. */
static void test_threads_that_execute(void **state) {
    enum { COST_NS = 1000000 };
    world *w = (world *)*state;
    double begin, end;
    uint64_t low = now_ns();
    zt_profiler *profiler = open_timeline(w, "ComputeBasic", 100);
    append_nested(w, profiler, w->list);
    ok(zeCommandListClose(w->list));
    gpu.set_call_cost("zeCommandQueueExecuteCommandLists", COST_NS);
    for (int i = 0; i < 4; i++) {
        execute(w, profiler, w->list);
        w->launches += 4;
    }
    collect_all(profiler);
    trace_since(profiler, low);
    find_span(profiler, "execute lists", &begin, &end);
    assert_true(end - begin >= COST_NS);
    expect_line_of_thread("thread %ld: execute lists x4", this_thread());
    expect_line_of_thread("flow thread %ld: execute lists > outer x4", this_thread());
    expect_line_of_thread("flow thread %ld: execute lists > innermost x8", this_thread());
    assert_null(strstr(seen, "append"));
    check_work(w);
}

/* ==== phases ============================================================================================== */

/* A phase is a span of its thread, and one of the device around what was submitted in it. */
static void test_phases(void **state) {
    world *w = (world *)*state;
    uint64_t low = now_ns();
    zt_profiler *profiler = open_timeline(w, "", 100);
    append(w, profiler, w->list, "recorded");
    ok(zeCommandListClose(w->list));
    for (int i = 0; i < 3; i++) {
        zt_phase_begin("step");
        ZT_PHASE("assemble") {
            run(w, profiler, "kernel");
            run(w, profiler, "kernel");
        }
        ZT_PHASE("solve")
            execute(w, profiler, w->list);
        w->launches++;
        ZT_PHASE("idle") {
        }
        zt_phase_end();
        run(w, profiler, "kernel");
    }
    collect_all(profiler);
    trace_since(profiler, low);
    expect_line_of_thread("thread %ld: step x3", this_thread());
    expect_line_of_thread("thread %ld: step/assemble x3", this_thread());
    expect_line_of_thread("thread %ld: step/assemble/append kernel x6", this_thread());
    expect_line_of_thread("thread %ld: step/solve/execute lists x3", this_thread());
    expect_line_of_thread("thread %ld: step/idle x3", this_thread());
    expect_line_of_thread("thread %ld: append kernel x3", this_thread());
    expect_line("phases: step x3");
    expect_line("phases: step/assemble x3");
    expect_line("phases: step/solve x3");
    expect_line_of_thread("flow thread %ld: step > step x3", this_thread());
    expect_line_of_thread("flow thread %ld: assemble > assemble x3", this_thread());
    expect_line_of_thread("flow thread %ld: solve > solve x3", this_thread());
    expect_line_of_thread("flow thread %ld: append kernel > kernel x9", this_thread());
    assert_null(strstr(seen, "idle > "));
    const char *step = strstr(strstr(written_report(profiler, ZT_FORMAT_TRACE), "\"phases\""), "\"step\"");
    const char *samples = strstr(step, "\"samples\":3}"); /* also those of the phases inside */
    assert_true(samples && samples < strchr(step, '\n'));
    check_work(w);
}

typedef struct open_phase {
    appending a;
    pthread_barrier_t begun, reported;
} open_phase;

static void *append_in_open_phase(void *argument) {
    open_phase *open = (open_phase *)argument;
    ZT_PHASE("of another thread") {
        ZT_PHASE("ended") {
        }
        append_elsewhere(&open->a);
        pthread_barrier_wait(&open->begun);
        pthread_barrier_wait(&open->reported);
    }
    return NULL;
}

/* Counts the spans of a name that are marked as open, or not. */
static int count_spans(const char *text, const char *name, int is_open) {
    char begin[80];
    int count = 0;
    snprintf(begin, sizeof begin, "\n{\"ph\":\"X\",\"name\":\"%s\"", name);
    while ((text = strstr(text, begin)) != NULL) {
        const char *mark = strstr(++text, "\"open\":true");
        count += (mark && mark < strchr(text, '\n')) == is_open;
    }
    return count;
}

/* Phases that are open when the report is written end with it, and say so. */
static void test_open_phases(void **state) {
    world *w = (world *)*state;
    double begin, end;
    pthread_t thread;
    zt_phase_begin("early"); /* it counts from the opening of the profiler on */
    uint64_t low = now_ns();
    zt_profiler *profiler = open_timeline(w, "", 100);
    open_phase open;
    open.a = (appending){w, profiler, w->immediate, 0};
    assert_int_equal(pthread_barrier_init(&open.begun, NULL, 2), 0);
    assert_int_equal(pthread_barrier_init(&open.reported, NULL, 2), 0);
    zt_phase_begin("main");
    ZT_PHASE("step")
        run(w, profiler, "kernel");
    zt_phase_begin("step");
    run(w, profiler, "kernel");
    zt_phase_begin("without work");
    assert_int_equal(pthread_create(&thread, NULL, append_in_open_phase, &open), 0);
    pthread_barrier_wait(&open.begun);
    w->launches += 3;
    collect_all(profiler);
    uint64_t reported = now_ns();
    trace_since(profiler, low);
    expect_line_of_thread("thread %ld: early/main x1", this_thread());
    expect_line_of_thread("thread %ld: early/main/step x2", this_thread());
    expect_line_of_thread("thread %ld: early/main/step/append kernel x2", this_thread());
    expect_line_of_thread("thread %ld: early/main/step/without work x1", this_thread());
    expect_line_of_thread("thread %ld: of another thread x1", open.a.thread);
    expect_line_of_thread("thread %ld: of another thread/ended x1", open.a.thread);
    expect_line_of_thread("thread %ld: of another thread/append elsewhere x3", open.a.thread);
    expect_line("phases: early/main x1");
    expect_line("phases: early/main/step x2");
    expect_line_of_thread("flow thread %ld: main > main x1", this_thread());
    expect_line_of_thread("flow thread %ld: step > step x2", this_thread());
    find_span(profiler, "early", &begin, &end);
    assert_true(begin >= (double)low && end >= (double)reported);
    const char *text = written_report(profiler, ZT_FORMAT_TRACE);
    assert_int_equal(count_spans(text, "early", 1), 2); /* of the thread, and of the device */
    assert_int_equal(count_spans(text, "main", 1), 2);
    assert_int_equal(count_spans(text, "step", 1), 2);
    assert_int_equal(count_spans(text, "step", 0), 2);
    assert_int_equal(count_spans(text, "without work", 1), 1);
    assert_int_equal(count_spans(text, "of another thread", 1), 2);
    assert_int_equal(count_spans(text, "ended", 0), 1);
    pthread_barrier_wait(&open.reported);
    assert_int_equal(pthread_join(thread, NULL), 0);
    for (int i = 0; i < 4; i++)
        zt_phase_end();
    text = written_report(profiler, ZT_FORMAT_TRACE);
    assert_int_equal(count_spans(text, "early", 0), 2);
    assert_int_equal(count_spans(text, "main", 0), 2);
    assert_int_equal(count_spans(text, "without work", 0), 1);
    assert_null(strstr(text, "\"open\""));
    pthread_barrier_destroy(&open.begun);
    pthread_barrier_destroy(&open.reported);
    check_work(w);
}

/* What begins and ends at the same moments as a phase around it comes after that. */
static void test_phases_at_the_same_moment(void **state) {
    static const char *const names[] = {"step",          "solve", "step",  "solve",
                                        "append kernel", "step",  "solve", "append kernel"};
    world *w = (world *)*state;
    zt_profiler *profiler = open_timeline(w, "", 100);
    hold_time(1);
    for (int i = 0; i < 3; i++) {
        zt_phase_begin("step");
        zt_phase_begin("solve");
        if (i > 0) /* without work, phases have no entry */
            append(w, profiler, w->immediate, "kernel");
        pass_time(1000);
        zt_phase_end();
        zt_phase_end();
    }
    hold_time(0);
    finish_immediate(w, w->immediate);
    w->launches += 2;
    collect_all(profiler);
    const char *text = written_report(profiler, ZT_FORMAT_TRACE);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char span[40];
        int length = snprintf(span, sizeof span, "\n{\"ph\":\"X\",\"name\":\"%s\"", names[i]);
        text = strstr(text + 1, "\n{\"ph\":\"X\",");
        assert_non_null(text);
        assert_int_equal(strncmp(text, span, (size_t)length), 0);
    }
    check_work(w);
}

/* Phases whose work runs at once are on different tracks, although one of them is around the other there. */
static void test_phases_that_overlap(void **state) {
    world *w = (world *)*state;
    uint64_t low = now_ns();
    zt_profiler *profiler = open_timeline(w, "", 100);
    held_region held = append_held(w, profiler, "held");
    ZT_PHASE("early")
        ok(zt_execute(profiler, w->queue, 1, &w->list, NULL));
    let_in(held);
    ZT_PHASE("late")
        ZT_PHASE("inside")
            run(w, profiler, "kernel");
    let_out(held);
    finish_queue(w);
    w->launches++;
    collect_all(profiler);
    trace_since(profiler, low);
    expect_line("phases: early x1");
    expect_line("phases, overlap 1: late x1");
    expect_line("phases, overlap 1: late/inside x1");
    expect_line("list 1: held x1");
    expect_line_of_thread("flow thread %ld: early > early x1", this_thread());
    expect_line_of_thread("flow thread %ld: inside > inside x1", this_thread());
    ok(zt_release(profiler, w->list));
    destroy_held(held);
    check_work(w);
}

static zt_phase adopted;

static void *append_in_adopted(void *argument) {
    zt_phase_adopt(adopted);
    ZT_PHASE("inside")
        append_elsewhere(argument);
    zt_phase_end();
    return NULL;
}

/* What another thread has submitted in a phase is part of its span on the device. */
static void test_phases_of_other_threads(void **state) {
    world *w = (world *)*state;
    uint64_t low = now_ns();
    pthread_t thread;
    zt_profiler *profiler = open_timeline(w, "", 100);
    appending a = {w, profiler, w->immediate, 0};
    ZT_PHASE("solve") {
        adopted = zt_phase_current();
        assert_int_equal(pthread_create(&thread, NULL, append_in_adopted, &a), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
    }
    w->launches += 3;
    collect_all(profiler);
    trace_since(profiler, low);
    expect_line_of_thread("thread %ld: solve x1", this_thread());
    expect_line_of_thread("thread %ld: inside/append elsewhere x3", a.thread);
    expect_line("phases: solve/inside x1");
    expect_line_of_thread("flow thread %ld: solve > solve x1", this_thread());
    check_work(w);
}

/* A region that is begun before a phase and ended inside of it: appending it seems to end where the phase begins. */
static void test_a_region_that_overlaps_a_phase(void **state) {
    world *w = (world *)*state;
    uint64_t low = now_ns();
    zt_profiler *profiler = open_timeline(w, "", 100);
    zt_region region = zt_begin(profiler, w->immediate, "region");
    launch(w, w->immediate);
    ZT_PHASE("solve") {
        zt_end(&region);
        run(w, profiler, "kernel");
    }
    collect_all(profiler);
    trace_since(profiler, low);
    expect_line_of_thread("thread %ld: append region x1", this_thread());
    expect_line_of_thread("thread %ld: solve x1", this_thread());
    expect_line_of_thread("thread %ld: solve/append kernel x1", this_thread());
    check_work(w);
}

/* The newest phases are kept, as many as samples. */
static void test_phases_that_are_not_kept(void **state) {
    world *w = (world *)*state;
    uint64_t low = now_ns();
    zt_profiler *profiler = open_timeline(w, "", 4);
    for (int i = 0; i < 6; i++)
        ZT_PHASE(i < 2 ? "old" : "new")
            if (i < 2)
                run(w, profiler, "kernel");
    collect_all(profiler);
    trace_since(profiler, low);
    expect_line("list 1: kernel x2");
    expect_line_of_thread("thread %ld: new x4", this_thread());
    assert_null(strstr(seen, "old"));
    check_work(w);
}

/* More than are copied at once. */
static void test_many_executions(void **state) {
    enum { MANY = 1100 };
    world *w = (world *)*state;
    uint64_t low = now_ns();
    zt_profiler *profiler = open_timeline(w, "", 2 * MANY);
    append(w, profiler, w->list, "recorded");
    ok(zeCommandListClose(w->list));
    for (int i = 0; i < MANY; i++)
        execute(w, profiler, w->list);
    w->launches += MANY;
    collect_all(profiler);
    trace_since(profiler, low);
    expect_line("list 1: recorded x1100");
    expect_line_of_thread("thread %ld: execute lists x1100", this_thread());
    expect_line_of_thread("flow thread %ld: execute lists > recorded x1100", this_thread());
    check_work(w);
}

/* More executions than are kept, most of them of a list without regions: how long the call took that has
   executed the sample is not known any more, and the sample comes from there all the same. */
static void test_an_execution_that_is_not_kept(void **state) {
    world *w = (world *)*state;
    uint64_t low = now_ns();
    ze_command_list_handle_t empty;
    double begin, end;
    create_list(w, &empty);
    ok(zeCommandListClose(empty));
    zt_profiler *profiler = open_timeline(w, "", 2);
    append(w, profiler, w->list, "recorded");
    ok(zeCommandListClose(w->list));
    gpu.set_call_cost("zeCommandQueueExecuteCommandLists", 1000000);
    execute(w, profiler, w->list);
    w->launches++;
    for (int i = 0; i < 2; i++)
        execute(w, profiler, empty);
    collect_all(profiler);
    assert_int_equal(zt_get_timeline(profiler).samples, 1);
    find_span(profiler, "execute lists", &begin, &end);
    assert_true(fabs(end - begin - 1) <= 0.5);
    trace_since(profiler, low);
    expect_line_of_thread("flow thread %ld: execute lists > recorded x1", this_thread());
    ok(zeCommandListDestroy(empty));
    check_work(w);
}

typedef struct executing {
    world *w;
    zt_profiler *profiler;
    ze_command_list_handle_t list;
    long thread;
} executing;

static void *execute_elsewhere(void *argument) {
    executing *of = (executing *)argument;
    of->thread = this_thread();
    ok_on_thread(zt_execute(of->profiler, of->w->queue, 1, &of->list, NULL));
    return NULL;
}

/* What begins at the same moment is told apart by what it is, and by its thread. */
static void test_calls_at_the_same_moment(void **state) {
    world *w = (world *)*state;
    uint64_t low = now_ns();
    pthread_t thread;
    zt_profiler *profiler = open_timeline(w, "", 100);
    executing of = {w, profiler, NULL, 0};
    create_list(w, &of.list);
    append(w, profiler, of.list, "elsewhere");
    ok(zeCommandListClose(of.list));
    append(w, profiler, w->list, "recorded");
    ok(zeCommandListClose(w->list));
    hold_time(1);
    nap(); /* as another program may make it wait here */
    ok(zt_execute(profiler, w->queue, 1, &w->list, NULL));
    assert_int_equal(pthread_create(&thread, NULL, execute_elsewhere, &of), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_no_noted_failure();
    append(w, profiler, w->immediate, "short");
    append(w, profiler, w->immediate, "short");
    append(w, profiler, w->immediate, "other");
    zt_region outer = zt_begin(profiler, w->immediate, "outer");
    zt_region inner = zt_begin(profiler, w->immediate, "inner");
    launch(w, w->immediate);
    pass_time(1);
    zt_end(&inner);
    pass_time(1000);
    zt_end(&outer);
    hold_time(0);
    finish_queue(w);
    finish_immediate(w, w->immediate);
    w->launches += 5;
    collect_all(profiler);
    assert_counts(profiler, counted(7, 7, 0, 0, 0));
    trace_since(profiler, low);
    assert_true(of.thread != this_thread());
    expect_line_of_thread("thread %ld: execute lists x1", of.thread);
    expect_line_of_thread("thread %ld: append outer x1", this_thread());
    expect_line_of_thread("flow thread %ld: execute lists > elsewhere x1", of.thread);
    assert_contains(seen, ": append outer/execute lists/append inner x1\n");
    ok(zt_release(profiler, of.list));
    ok(zeCommandListDestroy(of.list));
    check_work(w);
}

/* The first execution that zt_execute does not see comes from the recording, as far as is known. Of later
   ones nothing is known. */
static void test_executions_that_nobody_saw(void **state) {
    world *w = (world *)*state;
    uint64_t low = now_ns();
    zt_profiler *profiler = open_timeline(w, "ComputeBasic", 100);
    append(w, profiler, w->list, "recorded");
    ok(zeCommandListClose(w->list));
    for (int i = 0; i < 3; i++) {
        execute_unprofiled(w, w->list);
        w->launches++;
        collect_all(profiler);
    }
    trace_since(profiler, low);
    expect_line("list 1: recorded x1");
    expect_line("missing lost: recorded (overwritten) x2");
    expect_line_of_thread("thread %ld: append recorded x1", this_thread());
    expect_line_of_thread("flow thread %ld: append recorded > recorded x1", this_thread());
    check_work(w);
}

/* An execution by a plain call has begun before zt_execute submits the next: its sample is not taken for one of
   that, and what the next has written then is not, either. */
static void test_begun_before_it_was_submitted(void **state) {
    world *w = (world *)*state;
    uint64_t low = now_ns();
    zt_profiler *profiler = open_timeline(w, "ComputeBasic", 100);
    held_region held = append_held(w, profiler, "held");
    ok(zeCommandQueueExecuteCommandLists(w->queue, 1, &w->list, NULL));
    let_in(held);
    for (int i = 0; i < 5; i++)
        nap();
    ok(zt_execute(profiler, w->queue, 1, &w->list, NULL));
    let_out(held);
    collect_all(profiler);
    let_in(held);
    let_out(held);
    finish_queue(w);
    collect_all(profiler);
    w->launches += 2;
    assert_counts(profiler, counted(2, 0, 2, 0, 0));
    assert_int_equal(zt_get_info(profiler).causes[ZT_LOST_IMPLAUSIBLE].count, 1);
    assert_int_equal(zt_get_info(profiler).causes[ZT_LOST_OVERWRITTEN].count, 1);
    trace_since(profiler, low);
    assert_null(strstr(seen, "list 1: held"));
    assert_null(strstr(seen, "flow"));
    destroy_held(held);
    check_work(w);
}

typedef struct inside {
    world *w;
    zt_profiler *profiler;
    ze_command_list_handle_t list; /* NULL: it was executed */
} inside;

static void execute_inside(void *parameters, int result, void *user, void **instance) {
    inside *of = (inside *)user;
    ze_command_list_handle_t list = of->list;
    (void)parameters, (void)result, (void)instance;
    of->list = NULL;
    if (list)
        ok(zt_execute(of->profiler, of->w->queue, 1, &list, NULL));
}

/* Traced, with a hook that executes the list "inside" inside of an execution of w->list. Each execution takes so long,
   by a clock that stands still otherwise; 0: it does not. */
static ze_command_list_handle_t execute_one_inside(inside *of, uint64_t call_ns) {
    zt_hook hook = {"zeCommandQueueExecuteCommandLists", execute_inside, NULL, of};
    zt_trace_config config = {0};
    config.names = "none";
    config.hooks = &hook;
    config.hook_count = 1;
    create_list(of->w, &of->list);
    ze_command_list_handle_t list = of->list;
    append(of->w, of->profiler, of->list, "inside");
    ok(zeCommandListClose(of->list));
    append(of->w, of->profiler, of->w->list, "outside");
    ok(zeCommandListClose(of->w->list));
    ok(zt_trace_start(of->profiler, &config));
    hold_time(call_ns != 0);
    execution_ns = call_ns;
    ok(zt_execute(of->profiler, of->w->queue, 1, &of->w->list, NULL));
    hold_time(0);
    finish_queue(of->w);
    of->w->launches += 2;
    ok(zt_trace_stop(of->profiler));
    collect_all(of->profiler);
    return list;
}

static void test_an_execution_inside_of_another(void **state) {
    world *w = (world *)*state;
    uint64_t low = now_ns();
    inside of = {w, open_timeline(w, "ComputeBasic", 100), NULL};
    ze_command_list_handle_t list = execute_one_inside(&of, 0);
    trace_since(of.profiler, low);
    expect_line_of_thread("thread %ld: execute lists x1", this_thread());
    expect_line_of_thread("thread %ld: execute lists/execute lists x1", this_thread());
    ok(zt_release(of.profiler, list));
    ok(zeCommandListDestroy(list));
    check_work(w);
}

/* The inner execution has replaced the outer one when that ends: it keeps its own end. */
static void test_an_execution_that_is_replaced_before_it_ends(void **state) {
    world *w = (world *)*state;
    inside of = {w, open_timeline(w, "", 1), NULL};
    double begin, end;
    ze_command_list_handle_t list = execute_one_inside(&of, 1000000);
    assert_int_equal(zt_get_timeline(of.profiler).samples, 1);
    find_span(of.profiler, "inside", &begin, &end);
    find_span(of.profiler, "execute lists", &begin, &end);
    assert_true(fabs(end - begin - (double)execution_ns) <= 1);
    ok(zt_release(of.profiler, list));
    ok(zeCommandListDestroy(list));
    check_work(w);
}

/* ==== names of lists ===================================================================================== */

static void test_names_of_lists(void **state) {
    world *w = (world *)*state;
    uint64_t low = now_ns();
    ze_command_list_handle_t other;
    create_immediate(w, &other);
    zt_profiler *profiler = open_timeline(w, "ComputeBasic", 100);
    ok(zt_name_list(profiler, w->immediate, "upload \"1\""));
    ok(zt_name_list(profiler, w->list, "graph"));
    run(w, profiler, "here");
    append(w, profiler, other, "there");
    finish_immediate(w, other);
    append(w, profiler, w->list, "recorded");
    ok(zeCommandListClose(w->list));
    execute(w, profiler, w->list);
    ok(zt_reset(profiler, w->list)); /* keeps the name */
    append(w, profiler, w->list, "recorded");
    ok(zeCommandListClose(w->list));
    execute(w, profiler, w->list);
    w->launches += 3;
    ok(zt_name_list(profiler, w->immediate, "second"));
    run(w, profiler, "here");
    ok(zt_name_list(profiler, w->immediate, ""));
    run(w, profiler, "here");
    collect_all(profiler);
    trace_since(profiler, low);
    expect_line("upload \"1\": here x1");
    expect_line("list 2: there x1");
    expect_line("graph: recorded x2");
    expect_line("second: here x1");
    expect_line("list 5: here x1");
    ok(zt_release(profiler, other));
    ok(zeCommandListDestroy(other));
    check_work(w);
}

/* A name ends with its list, also where the handle comes back; what has run on the list keeps it. */
/* A list without regions keeps its name, however many lists come and go. Without memory, it keeps the name that it
   has. */
static void test_names_that_stay(void **state) {
    enum { LISTS = 300 };
    world *w = (world *)*state;
    uint64_t low = now_ns();
    zt_config config = config_of(w);
    config.groups = "";
    config.timeline = 1000;
    config.allocator = scarce_allocator();
    zt_profiler *profiler = open_profiler(w, &config);
    ok(zt_name_list(profiler, w->immediate, "first"));
    for (int i = 0; i < LISTS; i++) {
        ze_command_list_handle_t list;
        create_immediate(w, &list);
        append(w, profiler, list, "other");
        w->launches++;
        finish_immediate(w, list);
        zt_release(profiler, list);
        collect_all(profiler);
        ok(zeCommandListDestroy(list));
    }
    allocations_left = 0;
    assert_result(zt_name_list(profiler, w->immediate, "second"), ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    assert_contains(zt_get_info(profiler).error, "zt_name_list");
    allocations_left = -1;
    run(w, profiler, "region");
    collect_all(profiler);
    trace_since(profiler, low);
    expect_line("first: region x1");
    check_work(w);
}

/* Of a program that names each of its lists anew, so many names are kept. */
static void test_too_many_names_of_lists(void **state) {
    enum { MOST = 65536 };
    world *w = (world *)*state;
    uint64_t low = now_ns();
    char name[16];
    zt_profiler *profiler = open_timeline(w, "", 100);
    for (int i = 0; i < MOST; i++) {
        snprintf(name, sizeof name, "name %d", i);
        ok(zt_name_list(profiler, w->immediate, name));
    }
    assert_result(zt_name_list(profiler, w->immediate, "one more"), ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    assert_result(zt_name_list(profiler, w->list, "one more"), ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    run(w, profiler, "region");
    ok(zt_name_list(profiler, w->immediate, "name 7")); /* it is there already */
    run(w, profiler, "region");
    collect_all(profiler);
    trace_since(profiler, low);
    expect_line("name 65535: region x1");
    expect_line("name 7: region x1");
    check_work(w);
}

typedef struct naming {
    zt_profiler *profiler;
    ze_command_list_handle_t list;
} naming;

static void *name_upload(void *argument) {
    const naming *named = (const naming *)argument;
    ok_on_thread(zt_name_list(named->profiler, named->list, "upload"));
    return NULL;
}

/* Two threads give two lists the same new name at once: both have it. */
static void test_a_name_given_twice_at_once(void **state) {
    world *w = (world *)*state;
    int was_interrupted = 1, moments;
    naming other = {NULL, NULL};
    create_immediate(w, &other.list);
    for (moments = 0; was_interrupted; moments++) {
        uint64_t low = now_ns();
        zt_config config = config_of(w);
        config.groups = "";
        config.timeline = 100;
        config.allocator = interrupted_allocator();
        other.profiler = open_profiler(w, &config);
        interrupt_allocation(moments, name_upload, &other);
        ok(zt_name_list(other.profiler, w->immediate, "upload"));
        was_interrupted = interrupted_allocation();
        assert_no_noted_failure();
        if (!was_interrupted) {
            name_upload(&other);
        }
        run(w, other.profiler, "here");
        append(w, other.profiler, other.list, "there");
        finish_immediate(w, other.list);
        w->launches++;
        collect_all(other.profiler);
        trace_since(other.profiler, low);
        expect_line("upload: here x1");
        expect_line("upload: there x1");
        close_profiler(w, other.profiler);
    }
    assert_true(moments > 1);
    ok(zeCommandListDestroy(other.list));
    check_work(w);
}

static void test_names_end_with_their_lists(void **state) {
    world *w = (world *)*state;
    uint64_t low = now_ns();
    ze_command_list_handle_t list;
    gpu.behave(SOFTGPU_HANDLES_COME_BACK, 1);
    zt_profiler *profiler = open_timeline(w, "", 100);
    for (int i = 0; i < 2; i++) {
        create_immediate(w, &list);
        if (i == 0)
            ok(zt_name_list(profiler, list, "first"));
        append(w, profiler, list, "region");
        w->launches++;
        finish_immediate(w, list);
        zt_release(profiler, list);
        ok(zeCommandListDestroy(list));
    }
    collect_all(profiler);
    trace_since(profiler, low);
    expect_line("first: region x1");
    expect_line("list 2: region x1");
    check_work(w);
}

/* ==== what is missing ==================================================================================== */

static void test_lost_and_dropped(void **state) {
    world *w = (world *)*state;
    uint64_t low = now_ns();
    zt_config config = config_of(w);
    config.timeline = 100;
    config.max_probes = config.probes_per_step = 2;
    zt_profiler *profiler = open_profiler(w, &config);
    gpu.behave(SOFTGPU_REPORT_LOST, 1);
    for (int i = 0; i < 3; i++) {
        run(w, profiler, "flagged");
        collect_all(profiler);
    }
    gpu.behave(SOFTGPU_REPORT_LOST, 0);
    run(w, profiler, "between");
    collect_all(profiler);
    ok(zt_release(profiler, w->immediate)); /* older loaders cannot tell that its probe is free */
    for (int i = 0; i < 4; i++)
        append(w, profiler, w->list, "recorded");
    ok(zeCommandListClose(w->list));
    execute(w, profiler, w->list);
    w->launches += 4;
    zt_begin(profiler, NULL, "on no list");
    collect_all(profiler);
    assert_counts(profiler, counted(9, 3, 3, 3, 0));
    trace_since(profiler, low);
    expect_line("missing lost: flagged (report lost) x3");
    expect_line("missing dropped: recorded (no probe) x2");
    expect_line("missing dropped: a region (append failed) x1");
    expect_line("list 1: between x1");
    expect_line("list 2: recorded x2");
    check_work(w);
}

/* A loss that an execution has caused is taken back if the driver refuses the execution. */
static void test_losses_that_are_taken_back(void **state) {
    world *w = (world *)*state;
    uint64_t low = now_ns();
    zt_config config = config_of(w);
    config.timeline = 100;
    config.groups = ""; /* zt_open waits for a metric query, for which this may be too short */
    config.wait_timeout_ns = 1000000;
    zt_profiler *profiler = open_profiler(w, &config);
    ok(zeCommandListAppendWaitOnEvents(w->list, 1, &w->done));
    append(w, profiler, w->list, "held");
    append(w, profiler, w->list, "other");
    append(w, profiler, w->list, "held");
    ok(zeCommandListClose(w->list));
    ok(zt_execute(profiler, w->queue, 1, &w->list, NULL));
    inject("zeCommandQueueExecuteCommandLists", 1, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_result(zt_execute(profiler, w->queue, 1, &w->list, NULL), ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    ok(zeEventHostSignal(w->done));
    finish_queue(w);
    ok(zeEventHostReset(w->done));
    w->launches += 3;
    collect_all(profiler);
    assert_counts(profiler, counted(3, 3, 0, 0, 0));
    trace_since(profiler, low);
    expect_line("list 1: held x2");
    assert_null(strstr(seen, "missing"));
    check_work(w);
}

/* What is lost continues what was lost last only if all else is the same: the list, its name and the cause. */
static void test_losses_are_told_apart(void **state) {
    static const char *const names[] = {"first", "second"};
    world *w = (world *)*state;
    zt_config config = config_of(w);
    config.timeline = 100;
    config.max_probes = config.probes_per_step = 2;
    zt_profiler *profiler = open_profiler(w, &config);
    for (int i = 0; i < 2; i++) {
        ok(zt_name_list(profiler, w->immediate, names[i]));
        gpu.behave(SOFTGPU_REPORT_LOST, 0);
        run(w, profiler, "kept");
        collect_all(profiler);
        gpu.behave(SOFTGPU_REPORT_LOST, 1);
        for (int k = 0; k < 2; k++) {
            run(w, profiler, "flagged");
            collect_all(profiler);
        }
    }
    gpu.behave(SOFTGPU_REPORT_LOST, 0);
    gpu.behave(SOFTGPU_REPORT_ERROR, 1);
    run(w, profiler, "flagged");
    collect_all(profiler);
    assert_counts(profiler, counted(7, 2, 5, 0, 0));
    const struct {
        int track, samples;
        zt_cause cause;
    } expected[] = {{1, 2, ZT_LOST_REPORT_LOST}, {2, 2, ZT_LOST_REPORT_LOST}, {2, 1, ZT_LOST_REPORT_ERROR}};
    const char *text = written_report(profiler, ZT_FORMAT_TRACE);
    for (int i = 0; i < 3; i++) {
        char part[120];
        int track = 0;
        text = strstr(text + 1, "\"name\":\"lost: flagged\"");
        assert_non_null(text);
        assert_int_equal(sscanf(strstr(text, "\"tid\":"), "\"tid\":%d", &track), 1);
        assert_int_equal(track, expected[i].track);
        snprintf(part, sizeof part, "\"cause\":\"%s\",\"samples\":%d}",
                 zt_get_info(NULL).causes[expected[i].cause].name, expected[i].samples);
        assert_contains(text, part);
        assert_true(strstr(text, part) < strchr(text, '\n'));
    }
    assert_null(strstr(text, "\n{\"ph\":\"i\",\"name\":\"lost: "));
    check_work(w);
}

/* More losses than are kept. Of those that are kept, all are taken back. */
static void test_many_losses_that_are_taken_back(void **state) {
    enum { MANY = 1100 }; /* 1024 are kept */
    world *w = (world *)*state;
    zt_config config = config_of(w);
    config.timeline = 100;
    config.groups = "";
    config.wait_timeout_ns = 1000000;
    zt_profiler *profiler = open_profiler(w, &config);
    ok(zeCommandListAppendWaitOnEvents(w->list, 1, &w->done));
    for (int i = 0; i < MANY; i++)
        append(w, profiler, w->list, i % 2 ? "odd" : "even");
    ok(zeCommandListClose(w->list));
    ok(zt_execute(profiler, w->queue, 1, &w->list, NULL));
    inject("zeCommandQueueExecuteCommandLists", 1, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_result(zt_execute(profiler, w->queue, 1, &w->list, NULL), ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    ok(zeEventHostSignal(w->done));
    finish_queue(w);
    ok(zeEventHostReset(w->done));
    w->launches += MANY;
    collect_all(profiler);
    assert_counts(profiler, counted(MANY, MANY, 0, 0, 0));
    assert_null(strstr(written_report(profiler, ZT_FORMAT_TRACE), "lost: "));
    check_work(w);
}

/* An execution of a list that is still running overwrites its sample, of which nobody knows then which
   execution has begun it, so that it has no latency. */
static void test_a_sample_that_was_overwritten(void **state) {
    world *w = (world *)*state;
    uint64_t low = now_ns();
    zt_stats stats;
    zt_config config = config_of(w);
    config.timeline = 100;
    config.wait_timeout_ns = 200000000; /* zt_execute gives up waiting for the first execution */
    zt_profiler *profiler = open_profiler(w, &config);
    ok(zeCommandListAppendWaitOnEvents(w->list, 1, &w->done));
    append(w, profiler, w->list, "held");
    ok(zeCommandListClose(w->list));
    ok(zt_execute(profiler, w->queue, 1, &w->list, NULL));
    ok(zt_execute(profiler, w->queue, 1, &w->list, NULL));
    ok(zeEventHostSignal(w->done));
    finish_queue(w);
    ok(zeEventHostReset(w->done));
    w->launches += 2;
    ok(zt_release(profiler, w->list)); /* the device is done with it */
    collect_all(profiler);
    assert_counts(profiler, counted(2, 1, 1, 0, 0));
    ok(zt_get_stats(profiler, find_region(profiler, "held"), ZT_LAUNCH_LATENCY, &stats));
    assert_int_equal(stats.count, 0);
    trace_since(profiler, low);
    expect_line("list 1: held x1");
    expect_line("missing lost: held (overwritten) x1");
    assert_null(strstr(written_report(profiler, ZT_FORMAT_TRACE), "launch latency"));
    gpu.forget_findings(); /* the query began again without a reset */
    check_work(w);
}

/* ==== clocks ============================================================================================== */

/* The device's clock starts again from 0 within the run. */
static void unwrap_times(world *w, uint32_t bits) {
    gpu.set_timestamps(bits, 1000000000);
    gpu.set_clock(((uint64_t)1 << bits) - 20000000);
    uint64_t low = now_ns();
    zt_profiler *profiler = open_timeline(w, "", 1000);
    for (int i = 0; i < 50; i++) {
        append_nested(w, profiler, w->immediate);
        w->launches += 4;
        finish_immediate(w, w->immediate);
        nap();
    }
    collect_all(profiler);
    trace_since(profiler, low); /* all between, in order, nested */
    expect_line("list 1: outer x50");
    expect_line("list 1: outer/inner/innermost x100");
    close_profiler(w, profiler);
    check_work(w);
}

static void test_times_are_unwrapped(void **state) {
    unwrap_times((world *)*state, 32);
    unwrap_times((world *)*state, 29); /* every 0.5 seconds: its time is read more often */
}

/* A driver that does not know how many bits of its time stamps are valid reports none: all of them count. */
static void test_unknown_bits_of_time_stamps(void **state) {
    world *w = (world *)*state;
    uint64_t low = now_ns();
    gpu.set_timestamps(64, 1000000000);
    has_unknown_bits = 1;
    zt_profiler *profiler = open_timeline(w, "", 100);
    append_nested(w, profiler, w->immediate);
    w->launches += 4;
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    assert_int_equal(zt_get_timeline(profiler).samples, 6);
    trace_since(profiler, low);
    expect_line("list 1: outer x1");
    expect_line("list 1: outer/inner/innermost x2");
    check_work(w);
}

enum { SLACK_NS = 2000000 };

/* At once, for host and device, whose clock is a hundredth faster. */
static void let_time_drift(world *w, uint64_t ns) {
    uint64_t host, ticks;
    ok(zeDeviceGetGlobalTimestamps(w->device, &host, &ticks));
    pass_time(ns);
    gpu.set_clock(ticks + ns + ns / 100);
}

/* Where every region is by the host's clock, the trace shows it, though the device's clock is faster. */
static void test_drift_is_corrected(void **state) {
    enum { REGIONS = 10 };
    const uint64_t between = 100000000;
    world *w = (world *)*state;
    uint64_t before[REGIONS], after[REGIONS];
    char name[16];
    gpu.behave(SOFTGPU_CLOCK_DRIFTS, 1);
    zt_profiler *profiler = open_timeline(w, "", 1000);
    for (int i = 0; i < REGIONS; i++) {
        snprintf(name, sizeof name, "%d", i);
        let_time_drift(w, between);
        before[i] = now_ns();
        run(w, profiler, name);
        after[i] = now_ns();
    }
    collect_all(profiler);
    uint64_t limit = now_ns() + A_WHILE;
    while (zt_get_timeline(profiler).pairs < 2 && now_ns() < limit) {
        let_time_drift(w, between);
        run(w, profiler, "more");
        ok(zt_collect(profiler, A_WHILE));
    }
    for (int i = 0; i < REGIONS; i++) {
        double begin, end;
        snprintf(name, sizeof name, "%d", i);
        find_span(profiler, name, &begin, &end);
        assert_true(begin >= (double)before[i] - SLACK_NS);
        assert_true(end <= (double)after[i] + SLACK_NS);
    }
    check_work(w);
}

/* At once, for host and device. */
static void let_time_pass(world *w, uint64_t ns) {
    uint64_t host, ticks;
    ok(zeDeviceGetGlobalTimestamps(w->device, &host, &ticks));
    pass_time(ns);
    gpu.set_clock(ticks + ns);
}

/* The device is idle for some time, and then busy for some. They are so long that what really passes does not matter. */
static void work_in_phase(world *w, zt_profiler *profiler, const char *phase, held_region held,
                          uint64_t idle_s, uint64_t busy_s) {
    zt_phase_begin(phase);
    let_time_pass(w, idle_s * 1000000000);
    if (busy_s) {
        ok(zt_execute(profiler, w->queue, 1, &w->list, NULL));
        w->launches++;
        let_in(held);
        let_time_pass(w, busy_s * 1000000000);
        let_out(held);
        finish_queue(w);
    }
    zt_phase_end();
}

/* Notes name the phases in which the device waits most, outside of the phases inside. */
static void test_phases_in_which_the_device_is_idle(void **state) {
    world *w = (world *)*state;
    gpu.set_timestamps(64, 1000000000);
    zt_profiler *profiler = open_timeline(w, "", 100);
    held_region held = append_held(w, profiler, "kernel");
    zt_phase_begin("step");
    work_in_phase(w, profiler, "assemble", held, 41000, 59000);
    work_in_phase(w, profiler, "solve", held, 1000, 99000);
    work_in_phase(w, profiler, "assemble", held, 82000, 118000);
    work_in_phase(w, profiler, "output", held, 60000, 0);
    work_in_phase(w, profiler, "short", held, 1000, 0);
    zt_phase_end();
    let_time_pass(w, UINT64_C(9000000000000));
    work_in_phase(w, profiler, "assemble", held, 52000, 208000);
    work_in_phase(w, profiler, "fourth", held, 49000, 191000);
    collect_all(profiler);
    assert_counts(profiler, counted(5, 5, 0, 0, 0));
    const char *text = written_report(profiler, ZT_FORMAT_JSON);
    static const char *const notes[] = {
        "In \\\"step;assemble\\\" the GPU is idle for 41% of the time, 123000 s of 300000 s, as far as",
        "In \\\"output\\\" the GPU is idle for 100% of the time, 60000 s of 60000 s, as far as",
        "In \\\";assemble\\\" the GPU is idle for 20% of the time, 52000 s of 260000 s, as far as"};
    const char *found = text;
    for (int i = 0; i < 3; i++) {
        found = strstr(found, "the GPU is idle");
        if (!found)
            fail_msg("%s", strstr(text, "\"notes\""));
        assert_contains(found - 50, notes[i]);
        found++;
    }
    assert_null(strstr(found, "the GPU is idle"));

    /* A sample that is missing may have run meanwhile. */
    ok(zt_release(profiler, w->list));
    destroy_held(held);
    ze_event_handle_t gate = append_gate(w, w->immediate);
    append(w, profiler, w->immediate, "in flight");
    w->launches++;
    assert_null(strstr(written_report(profiler, ZT_FORMAT_JSON), "the GPU is idle"));
    ok(zeEventHostSignal(gate));
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    assert_contains(written_report(profiler, ZT_FORMAT_TABLE),
                    "In \"output\" the GPU is idle for 100% of the");
    ok(zeEventDestroy(gate));
    check_work(w);
}

/* Entries that began before the oldest sample that is kept are left out, and those before the profiler was opened. */
static void test_idle_phases_that_are_not_kept(void **state) {
    world *w = (world *)*state;
    gpu.set_timestamps(64, 1000000000);
    zt_profiler *other = open_timeline(w, "", 2);
    zt_phase_begin("before");
    let_time_pass(w, UINT64_C(9000000000000));
    zt_profiler *profiler = open_timeline(w, "", 2);
    zt_phase_end();
    held_region held = append_held(w, profiler, "kernel");
    work_in_phase(w, profiler, "old", held, 41000, 59000);
    collect_all(profiler);
    assert_contains(written_report(profiler, ZT_FORMAT_JSON), "In \\\"old\\\" the GPU is idle for 41% of");
    work_in_phase(w, profiler, "new", held, 30000, 70000);
    collect_all(profiler);
    work_in_phase(w, profiler, "new", held, 30000, 70000);
    collect_all(profiler);
    const char *text = written_report(profiler, ZT_FORMAT_JSON);
    assert_contains(text, "In \\\"new\\\" the GPU is idle for 30% of");
    assert_null(strstr(text, "In \\\"old\\\""));
    assert_null(strstr(text, "In \\\"before\\\""));
    assert_null(strstr(written_report(other, ZT_FORMAT_JSON), "the GPU is idle")); /* it has no samples */
    ok(zt_release(profiler, w->list));
    destroy_held(held);
    check_work(w);
}

/* Collected later than half a turn of the device's clock, a sample is shown where it was. */
static void test_collected_late(void **state) {
    world *w = (world *)*state;
    double begin, end;
    gpu.set_timestamps(32, 1000000000); /* 4.3 seconds */
    /* A busy machine needs some of the turn, too. */
    for (uint64_t late_ns = 1000000000; late_ns <= 3000000000; late_ns += 1000000000) {
        zt_profiler *profiler = open_timeline(w, "", 100);
        uint64_t before = now_ns();
        run(w, profiler, "late");
        uint64_t after = now_ns();
        let_time_pass(w, late_ns);
        collect_all(profiler);
        assert_int_equal(zt_get_timeline(profiler).samples, 1);
        assert_int_equal(zt_get_timeline(profiler).lost_samples, 0);
        find_span(profiler, "late", &begin, &end);
        assert_true(begin >= (double)before - SLACK_NS);
        assert_true(end <= (double)after + SLACK_NS);
        close_profiler(w, profiler);
    }
    check_work(w);
}

/* After more than a turn nobody knows when it was: it is counted, and not shown. */
static void test_collected_too_late(void **state) {
    world *w = (world *)*state;
    uint64_t low = now_ns();
    gpu.set_timestamps(32, 1000000000);
    zt_profiler *profiler = open_timeline(w, "", 100);
    run(w, profiler, "too late");
    let_time_pass(w, 6000000000);
    collect_all(profiler);
    assert_counts(profiler, counted(1, 0, 1, 0, 0));
    assert_int_equal(zt_get_info(profiler).causes[ZT_LOST_IMPLAUSIBLE].count, 1);
    assert_int_equal(zt_get_timeline(profiler).samples, 0);
    trace_since(profiler, low);
    run(w, profiler, "in time");
    collect_all(profiler);
    assert_int_equal(zt_get_timeline(profiler).samples, 1);
    check_work(w);
}

/* By its time stamps, a region has run after it was seen complete, because the device's clock has jumped: it
   is counted, and not shown. */
static void test_a_clock_that_jumps(void **state) {
    enum { BITS = 36, SECONDS = 5, JUMP = 30 }; /* of 68 */
    const uint64_t second = 1000000000;
    world *w = (world *)*state;
    uint64_t low = now_ns(), host, ticks;
    replace_symbol("zeDeviceGetGlobalTimestamps", (any_function)read_clocks);
    gpu.set_timestamps(BITS, 1000000000);
    gpu.set_clock(second);
    zt_profiler *profiler = open_timeline(w, "", 100);
    refuses_clocks = 1; /* so that the jump is not seen */
    hold_time(1);
    ok(zeDeviceGetGlobalTimestamps(w->device, &host, &ticks));
    gpu.set_clock(ticks + JUMP * second);
    run(w, profiler, "elsewhere");
    pass_time(SECONDS * second);
    collect_all(profiler);
    hold_time(0);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    assert_int_equal(zt_get_timeline(profiler).samples, 0);
    assert_int_equal(zt_get_timeline(profiler).lost_samples, 1);
    trace_since(profiler, low);
    expect_line("missing uncertain time: elsewhere (the device's clock overflowed) x1");
    check_work(w);
}

/* A device's clock that has just started steps back, to before its 0, where it looks as if it had almost
   turned. That is not related to the host's time. What follows once the clock has passed its 0 again is. */
static void test_a_clock_that_steps_back(void **state) {
    enum { BITS = 34 }; /* 17 seconds */
    const uint64_t second = 1000000000, start = 10000000;
    world *w = (world *)*state;
    gpu.set_timestamps(BITS, 1000000000);
    hold_time(1);
    gpu.set_clock(start);
    zt_profiler *profiler = open_timeline(w, "", 100);
    gpu.set_clock(((uint64_t)1 << BITS) - 5 * second);
    run(w, profiler, "before 0");
    pass_time(second);
    collect_all(profiler);
    assert_int_equal(zt_get_timeline(profiler).pairs, 1);
    assert_int_equal(zt_get_timeline(profiler).samples, 0);
    assert_int_equal(zt_get_timeline(profiler).lost_samples, 1);
    pass_time(second);
    gpu.set_clock(start + 2 * second);
    run(w, profiler, "after it");
    pass_time(second);
    collect_all(profiler);
    hold_time(0);
    assert_int_equal(zt_get_timeline(profiler).pairs, 2);
    assert_int_equal(zt_get_timeline(profiler).samples, 1);
    check_work(w);
}

/* Each region of a recorded list was submitted after its own begin, and not only after that of the first. The
   clock turns between the two, so nobody knows when the first was, unless zt_execute submits both. */
static void test_recorded_while_the_clock_turns(void **state) {
    world *w = (world *)*state;
    gpu.set_timestamps(32, 1000000000);
    zt_profiler *profiler = open_timeline(w, "", 100);
    for (int plainly = 0; plainly < 2; plainly++) {
        append(w, profiler, w->list, "first");
        let_time_pass(w, 6000000000);
        append(w, profiler, w->list, "second");
        ok(zeCommandListClose(w->list));
        if (plainly)
            ok(zeCommandQueueExecuteCommandLists(w->queue, 1, &w->list, NULL));
        else
            ok(zt_execute(profiler, w->queue, 1, &w->list, NULL)); /* now it is known to be recorded */
        finish_queue(w);
        w->launches += 2;
        collect_all(profiler);
        ok(zt_reset(profiler, w->list));
        assert_int_equal(zt_get_info(profiler).causes[ZT_LOST_IMPLAUSIBLE].count, plainly);
    }
    assert_int_equal(zt_get_timeline(profiler).samples, 3);
    check_work(w);
}

/* ==== streams attached ==================================================================================== */

static zt_stream *attach(world *w, zt_profiler *profiler, uint32_t period_ns) {
    zt_stream_config config = stream_config_of(w);
    config.profiler = profiler;
    config.period_ns = period_ns;
    return open_stream_with(w, &config);
}

static void test_counters_and_markers(void **state) {
    world *w = (world *)*state;
    uint64_t low = now_ns();
    zt_profiler *profiler = open_timeline(w, "", 1000);
    zt_stream *stream = attach(w, profiler, 1000000);
    rows *kept = rows_of(stream);
    read_rows(stream, kept, 1);
    for (int i = 0; i < 5; i++) {
        mark_now(w, stream, "step");
        run(w, profiler, "work");
        nap();
    }
    mark_now(w, stream, "end");
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    close_rows(stream, NULL); /* the rest goes to the profiler */
    trace_since(profiler, low);
    expect_line("list 1: work x5");
    expect_line("mark step x5");
    expect_line("mark end x1");
    expect_line("counter GPU_BUSY [%]");
    expect_line("counter GPU_MEMORY_BYTE_READ_RATE [GB/s]");
    expect_line("counter LOAD_STORE_CACHE_BYTE_READ [GB/s]");
    expect_line("counter GPGPU_THREADGROUP_COUNT [events/s]");
    assert_null(strstr(seen, "StreamMarker"));
    assert_true(zt_get_timeline(profiler).rows >= kept->count);
    check_work(w);
}

/* The device drops reports if nobody reads them: the time without rows is a span of its own. */
static void test_gaps_of_streams(void **state) {
    world *w = (world *)*state;
    uint64_t low = now_ns();
    zt_profiler *profiler = open_timeline(w, "", 100);
    zt_stream *stream = attach(w, profiler, SLOW_PERIOD);
    static const int marks[] = {2, 6000, 3};
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < marks[i]; k++)
            mark_now(w, stream, "mark");
        finish_immediate(w, w->immediate);
        ok(zt_stream_read(stream, 0, NULL, NULL));
    }
    assert_int_equal(zt_stream_get_info(stream).counts.gaps, 1);
    close_rows(stream, NULL);
    trace_since(profiler, low);
    expect_line("gap x1");
    check_work(w);
}

/* Reads the row that ends at a marker; but the first report of a stream may have none. */
static void read_marked(world *w, zt_stream *stream, const char *name, rows *kept) {
    mark_now(w, stream, name);
    finish_immediate(w, w->immediate);
    zt_stream_read(stream, 0, kept ? keep_row : NULL, kept);
}

/* The row before the gap is not kept any more: there is an instant instead of a span. */
static void test_a_gap_before_the_oldest_row(void **state) {
    world *w = (world *)*state;
    uint64_t low = now_ns();
    zt_profiler *profiler = open_timeline(w, "", 100);
    zt_stream_config config = stream_config_of(w);
    config.profiler = profiler;
    config.period_ns = SLOW_PERIOD;
    config.timeline_rows = 1;
    zt_stream *stream = open_stream_with(w, &config);
    read_marked(w, stream, "before", NULL);
    read_marked(w, stream, "before", NULL);
    inject("zetMetricGroupCalculateMetricValues", 1, ZE_RESULT_ERROR_UNKNOWN);
    read_marked(w, stream, "not calculated", NULL);
    read_marked(w, stream, "after", NULL);
    assert_int_equal(zt_get_timeline(profiler).rows, 1);
    trace_since(profiler, low);
    expect_line("gap before this x1");
    expect_line("mark after x1");
    assert_null(strstr(seen, "gap x"));
    close_rows(stream, NULL);
    check_work(w);
}

/* Too many values for a trace, of rows that are not merged because there is a gap before each: it has them
   all, and does not say that they are means of several. */
static void test_gaps_between_all_rows(void **state) {
    enum { METRICS = 32, ROWS = 2600 }; /* 80000 values are shown as they are */
    static softgpu_metric listed[METRICS];
    static char names[METRICS][4], columns[METRICS * 4 + 1];
    world *w = (world *)*state;
    uint64_t low = now_ns();
    char line[40];
    zt_config config = config_of(w);
    columns[0] = 0;
    for (int i = 0; i < METRICS; i++) {
        snprintf(names[i], sizeof names[i], "M%02d", i);
        listed[i] = (softgpu_metric){names[i], "X", "percent", ZET_METRIC_TYPE_RATIO, ZET_VALUE_TYPE_UINT64};
        strcat(strcat(columns, i ? "," : ""), names[i]);
    }
    assert_true(gpu.list_metrics("Listed", listed, METRICS));
    config.groups = "";
    config.timeline = 100;
    config.columns = columns;
    zt_profiler *profiler = open_profiler(w, &config);
    zt_stream_config streamed = stream_config_of(w);
    streamed.profiler = profiler;
    streamed.group = "Listed";
    streamed.period_ns = SLOW_PERIOD;
    zt_stream *stream = open_stream_with(w, &streamed);
    rows *kept = rows_of(stream);
    read_marked(w, stream, "mark", NULL);
    for (int i = 0; i < ROWS; i++) {
        inject("zetMetricGroupCalculateMetricValues", 1, ZE_RESULT_ERROR_UNKNOWN);
        read_marked(w, stream, "mark", kept);
        read_marked(w, stream, "mark", kept);
    }
    assert_int_equal(kept->count, ROWS);
    assert_int_equal(gaps_in_rows(kept), ROWS);
    trace_since(profiler, low);
    snprintf(line, sizeof line, "gap x%d", ROWS - 1);
    expect_line(line);
    expect_line("gap before this x1");
    expect_line("counter M31 [%]");
    assert_null(strstr(seen, "values are means"));
    close_rows(stream, NULL);
    close_profiler(w, profiler);
    assert_true(gpu.list_metrics(NULL, NULL, 0));
    check_work(w);
}

/* config.columns chooses counters and arguments, as those of the table. */
static void test_chosen_columns(void **state) {
    world *w = (world *)*state;
    uint64_t low = now_ns();
    zt_config config = config_of(w);
    config.timeline = 100;
    config.groups = "";
    config.columns = "median,GPU_BUSY,GpuTime,NO_SUCH_METRIC,GPU_BUSY";
    zt_profiler *profiler = open_profiler(w, &config);
    zt_stream *stream = attach(w, profiler, 1000000);
    run(w, profiler, "work");
    ok(zt_stream_read(stream, A_WHILE, NULL, NULL));
    close_rows(stream, NULL);
    collect_all(profiler);
    trace_since(profiler, low);
    const char *counters = strstr(seen, "counter GPU_BUSY [%]\ncounter GpuTime [% of time]\n");
    assert_true(counters == seen);
    assert_null(strstr(seen + 1, "\ncounter GPU_MEMORY"));
    const char *table = written_report(profiler, ZT_FORMAT_TABLE); /* which knows that streams have them */
    assert_contains(table, "There is no metric 'NO_SUCH_METRIC'.");
    assert_null(strstr(table, "There is no metric 'GPU_BUSY'."));
    close_profiler(w, profiler);
    config.groups = "ComputeBasic";
    config.columns = "GPGPU_THREADGROUP_COUNT";
    profiler = open_profiler(w, &config);
    run(w, profiler, "work");
    collect_all(profiler);
    const char *text = written_report(profiler, ZT_FORMAT_TRACE);
    char wanted[80];
    snprintf(wanted, sizeof wanted, ",\"GPGPU_THREADGROUP_COUNT [events]\":%d,\"", WORK_GROUPS);
    assert_contains(text, wanted);
    assert_null(strstr(text, "GPU_BUSY"));
    check_work(w);
}

/* Figures that the library computes from several metrics, beside those of the device; with the groups before their
   names where there are several. */
static void test_computed_columns(void **state) {
    static const struct {
        const char *groups, *parts[3];
    } cases[] = {
        {"ComputeBasic", {",\"XVE_ACTIVE [%]\":30,\"", ",\"L3 hits [%]\":75,\"", ",\"LSC hits [%]\":50,\""}},
        {"ComputeBasic,Other",
         {",\"ComputeBasic.XVE_ACTIVE [%]\":30,\"", ",\"L3 hits [%]\":75,\"", ",\"LSC hits [%]\":50,\""}}};
    static const struct {
        const char *metric;
        double value;
    } given[] = {{"XVE_ACTIVE", 30},
                 {"L3_HIT", 3},
                 {"L3_MISS", 1},
                 {"LOAD_STORE_CACHE_ACCESS", 10},
                 {"LOAD_STORE_CACHE_HIT", 5}};
    world *w = (world *)*state;
    const softgpu_metric other = {"OTHER", "X", "events", ZET_METRIC_TYPE_EVENT, ZET_VALUE_TYPE_UINT64};
    gpu.behave(SOFTGPU_B580_METRICS, 1);
    assert_true(gpu.list_metrics("Other", &other, 1));
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        assert_true(gpu.set_metric(given[i].metric, given[i].value));
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        zt_config config = config_of(w);
        config.groups = cases[c].groups;
        config.max_passes = 2;
        config.timeline = 100;
        zt_profiler *profiler = open_profiler(w, &config);
        ZT_PASSES(profiler) {
            run(w, profiler, "work");
        }
        collect_all(profiler);
        const char *text = written_report(profiler, ZT_FORMAT_TRACE);
        for (int i = 0; i < 3; i++)
            assert_contains(text, cases[c].parts[i]);
        close_profiler(w, profiler);
    }
    assert_true(gpu.list_metrics(NULL, NULL, 0));

    uint64_t low = now_ns();
    zt_profiler *profiler = open_timeline(w, "", 100);
    zt_stream *stream = attach(w, profiler, 1000000);
    rows *kept = rows_of(stream);
    read_rows(stream, kept, 5);
    close_rows(stream, NULL);
    trace_since(profiler, low);
    expect_line("counter XVE_ACTIVE [%]");
    expect_line("counter L3 hits [%]");
    check_work(w);
}

/* Values of any size, and metrics without units. Older metric sets count bytes by a type that does not add up. */
static void test_metrics_of_any_kind(void **state) {
    static const softgpu_metric listed[] = {
        {"Plain", "X", "", ZET_METRIC_TYPE_EVENT, ZET_VALUE_TYPE_UINT64},
        {"Negative", "X", "things", ZET_METRIC_TYPE_EVENT, ZET_VALUE_TYPE_FLOAT64},
        {"Huge", "X", "things", ZET_METRIC_TYPE_EVENT, ZET_VALUE_TYPE_FLOAT64},
        {"OldBytes", "X", "bytes", ZET_METRIC_TYPE_THROUGHPUT, ZET_VALUE_TYPE_UINT64},
    };
    world *w = (world *)*state;
    uint64_t low = now_ns();
    zt_config config = config_of(w);
    assert_true(gpu.list_metrics("Listed", listed, 4));
    assert_true(gpu.set_metric("Plain", 7));
    assert_true(gpu.set_metric("Negative", -3));
    assert_true(gpu.set_metric("Huge", 1e300));
    assert_true(gpu.set_metric("OldBytes", 4096));
    config.groups = "Listed";
    config.timeline = 100;
    config.columns = "Plain,Negative,Huge,OldBytes";
    zt_profiler *profiler = open_profiler(w, &config);
    run(w, profiler, "work");
    collect_all(profiler);
    const char *text = written_report(profiler, ZT_FORMAT_TRACE);
    assert_contains(text, ",\"Plain\":7,\"Negative [things]\":-3,\"Huge [things]\":1e+300,"
                          "\"OldBytes [bytes]\":4096,");
    close_profiler(w, profiler);
    config.groups = "";
    config.columns = "Plain,OldBytes";
    profiler = open_profiler(w, &config);
    zt_stream_config streamed = stream_config_of(w);
    streamed.profiler = profiler;
    streamed.group = "Listed";
    zt_stream *stream = open_stream_with(w, &streamed);
    read_rows(stream, rows_of(stream), 3);
    close_rows(stream, NULL);
    trace_since(profiler, low);
    expect_line("counter OldBytes [GB/s]");
    expect_line("counter Plain [/s]");
    check_work(w);
}

static uint32_t find_streamed(const zt_profiler *profiler, const char *name) {
    uint32_t metric = 0;
    while (strcmp(zt_get_metric(profiler, ZT_STREAMED(metric))->name, name) != 0)
        metric++;
    return metric;
}

static void test_two_streams(void **state) {
    world *w = (world *)*state;
    zt_stats stats;
    uint64_t low = now_ns();
    zt_profiler *profiler = open_timeline(w, "", 1000);
    zt_stream_config config = stream_config_of(w);
    config.profiler = profiler;
    config.group = "HostScheduler";
    zt_stream *host = open_stream_with(w, &config);
    zt_stream *device = attach(w, profiler, 1000000);
    uint32_t metrics = zt_stream_get_info(host).metric_count + zt_stream_get_info(device).metric_count;
    for (int i = 0; i < 3; i++) {
        run(w, profiler, "work");
        ok(zt_stream_read(host, A_WHILE, NULL, NULL));
        ok(zt_stream_read(device, A_WHILE, NULL, NULL));
    }
    collect_all(profiler);
    assert_int_equal(zt_get_info(profiler).streamed_count, metrics);
    assert_string_equal(zt_get_metric(profiler, ZT_STREAMED(0))->group, "HostScheduler");
    assert_string_equal(zt_get_metric(profiler, ZT_STREAMED(metrics - 1))->group, "ComputeBasic");
    assert_null(zt_get_metric(profiler, ZT_STREAMED(metrics)));
    assert_int_equal(zt_find_metric(profiler, "HOST_CPU_TIME"),
                     ZT_STREAMED(find_streamed(profiler, "HOST_CPU_TIME")));
    assert_int_equal(zt_find_metric(profiler, "GPU_BUSY"), ZT_STREAMED(find_streamed(profiler, "GPU_BUSY")));
    assert_int_equal(zt_find_metric(profiler, "GPU_BUSZ"), UINT32_MAX);
    assert_contains(zt_get_info(profiler).error, "GPU_BUSY");
    assert_result(zt_get_stats(profiler, 0, ZT_STREAMED(metrics), &stats), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_result(zt_get_stats(profiler, 0, ZT_STREAMED(0), NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    trace_since(profiler, low);
    expect_line("counter ComputeBasic.GPU_BUSY [%]");
    expect_line("counter HostScheduler.HOST_CPU_TIME [% of time]");
    close_rows(host, NULL);
    close_rows(device, NULL);
    check_work(w);
}

/* A name finds a metric of the profiler's own, and else one of its streams. */
static void test_names_of_metrics_of_both(void **state) {
    world *w = (world *)*state;
    zt_profiler *profiler = open_timeline(w, "ComputeBasic", 100);
    zt_stream_config config = stream_config_of(w);
    config.profiler = profiler;
    config.group = "HostScheduler";
    zt_stream *stream = open_stream_with(w, &config);
    uint32_t time = zt_find_metric(profiler, "GpuTime"), host = zt_find_metric(profiler, "HOST_CPU_TIME");
    assert_true(time < zt_get_info(profiler).metric_count);
    assert_string_equal(zt_get_metric(profiler, time)->group, "ComputeBasic");
    assert_int_equal(host, ZT_STREAMED(find_streamed(profiler, "HOST_CPU_TIME")));
    assert_string_equal(zt_get_metric(profiler, host)->group, "HostScheduler");
    assert_string_equal(zt_get_metric(profiler, ZT_GPU_TIME)->name, "GPU time");
    assert_string_equal(zt_get_metric(profiler, ZT_LAUNCH_LATENCY)->name, "launch latency");
    assert_string_equal(zt_get_metric(profiler, ZT_PASS_TIME(0))->units, "ns");
    assert_null(zt_get_metric(profiler, ZT_PASS_TIME(1)));
    close_rows(stream, NULL);
    check_work(w);
}

static zt_stats streamed_of(const zt_profiler *profiler, const char *region, const char *metric) {
    zt_stats streamed;
    ok(zt_get_stats(profiler, find_region(profiler, region), ZT_STREAMED(find_streamed(profiler, metric)),
                    &streamed));
    return streamed;
}

/* Rows by markers: three within the outer region, at least one of them within the inner, which has the
 * busiest. A phase is around each. */
static void append_marked(world *w, zt_profiler *profiler, zt_stream *stream) {
    mark_now(w, stream, "before");
    zt_phase_begin("around outer");
    zt_region outer = zt_begin(profiler, w->immediate, "outer");
    mark_now(w, stream, "a");
    launch(w, w->immediate);
    zt_phase_begin("around inner");
    zt_region inner = zt_begin(profiler, w->immediate, "inner");
    mark_now(w, stream, "b");
    launch(w, w->immediate);
    launch(w, w->immediate);
    mark_now(w, stream, "c");
    zt_end(&inner);
    zt_phase_end();
    zt_end(&outer);
    zt_phase_end();
    mark_now(w, stream, "after");
    finish_immediate(w, w->immediate);
}

static void expect_attributed(const zt_profiler *profiler) {
    const double one = WORK_GROUPS;
    zt_stats outer = streamed_of(profiler, "outer", "GPGPU_THREADGROUP_COUNT");
    zt_stats inner = streamed_of(profiler, "inner", "GPGPU_THREADGROUP_COUNT");
    assert_true(outer.count >= 2);
    assert_close(outer.mean * (double)outer.count, 3 * one);
    assert_close(outer.max, 2 * one);
    assert_true(isnan(outer.sum) && isnan(outer.median) && isnan(outer.rate)); /* rows are shared */
    assert_true(outer.min <= outer.mean && outer.stddev > 0);
    assert_true(inner.count >= 1);
    assert_close(inner.max, 2 * one); /* the row is shared */
    zt_stats around_outer = streamed_of(profiler, "around outer", "GPGPU_THREADGROUP_COUNT");
    zt_stats around_inner = streamed_of(profiler, "around inner", "GPGPU_THREADGROUP_COUNT");
    assert_int_equal(around_outer.count, outer.count);
    assert_close(around_outer.mean, outer.mean);
    assert_int_equal(around_inner.count, inner.count);
    assert_close(around_inner.mean, inner.mean);
}

static void test_rows_before_samples(void **state) {
    world *w = (world *)*state;
    zt_profiler *profiler = open_timeline(w, "", 1000);
    zt_stream *stream = attach(w, profiler, SLOW_PERIOD);
    append_marked(w, profiler, stream);
    mark_now(w, stream, "after all");
    finish_immediate(w, w->immediate);
    ok(zt_stream_read(stream, A_WHILE, NULL, NULL));
    collect_all(profiler);
    expect_attributed(profiler);
    close_rows(stream, NULL);
    expect_attributed(profiler);
    check_work(w);
}

static void test_samples_before_rows(void **state) {
    world *w = (world *)*state;
    zt_profiler *profiler = open_timeline(w, "", 1000);
    zt_stream *stream = attach(w, profiler, SLOW_PERIOD);
    append_marked(w, profiler, stream);
    collect_all(profiler);
    assert_int_equal(streamed_of(profiler, "outer", "GPGPU_THREADGROUP_COUNT").count, 0);
    assert_true(isnan(streamed_of(profiler, "outer", "GPGPU_THREADGROUP_COUNT").mean));
    close_rows(stream, NULL);
    expect_attributed(profiler);
    check_work(w);
}

/* A busy row that is short, and an idle one that is long: the mean of a share is weighted by time. */
static void test_rows_weigh_by_their_time(void **state) {
    const uint64_t least_ns = 50000000;
    world *w = (world *)*state;
    zt_profiler *profiler = open_timeline(w, "", 1000);
    zt_stream *stream = attach(w, profiler, SLOW_PERIOD);
    rows *kept = rows_of(stream);
    double weighted = 0, lasted = 0, other = 0;
    uint64_t begun = now_ns();
    mark_now(w, stream, "before");
    zt_region region = zt_begin(profiler, w->immediate, "region");
    mark_now(w, stream, "begin");
    for (int i = 0; i < 10; i++)
        launch(w, w->immediate);
    mark_now(w, stream, "busy");
    finish_immediate(w, w->immediate);
    uint64_t busy_until = now_ns(), idle_ns = 8 * (busy_until - begun);
    while (now_ns() - busy_until < (idle_ns > least_ns ? idle_ns : least_ns))
        nap();
    mark_now(w, stream, "idle");
    zt_end(&region);
    mark_now(w, stream, "after");
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    close_rows(stream, kept);
    for (uint32_t i = 0; i < kept->count; i++) {
        const kept_row *row = &kept->kept[i];
        double length = (double)row->length_ns;
        if (strcmp(row->marker, "busy") == 0 || strcmp(row->marker, "idle") == 0) {
            weighted += row->busy * length;
            lasted += length;
        } else {
            other += length; /* within the region or not */
        }
    }
    zt_stats streamed = streamed_of(profiler, "region", "GPU_BUSY");
    assert_true(streamed.count >= 2);
    assert_close(streamed.rate, streamed.mean);
    assert_true(lasted > (double)least_ns);
    assert_true(fabs(streamed.mean - weighted / lasted) <= 100 * other / lasted);
    assert_true(streamed.mean < streamed.max / (double)streamed.count);
    check_work(w);
}

/* When an attached stream is closed, the profiler keeps its rows, and nothing else of it stays. */
static void test_memory_of_attached_streams(void **state) {
    world *w = (world *)*state;
    zt_stream_config config = stream_config_of(w);
    int64_t without = heap_bytes();
    zt_profiler *profiler = open_timeline(w, "", 100);
    config.profiler = profiler;
    config.timeline_rows = 16;
    config.memory_limit = 4 << 20;
    int64_t before = heap_bytes();
    zt_stream *stream = open_stream_with(w, &config);
    mark_now(w, stream, "mark");
    finish_immediate(w, w->immediate);
    assert_true(heap_bytes() - before >= 4 << 20);
    close_rows(stream, NULL);
    assert_true(heap_bytes() - before < 1 << 20);
    close_profiler(w, profiler);
    assert_true(heap_bytes() - without < 64 << 10);
}

static void test_regions_outside_have_no_rows(void **state) {
    world *w = (world *)*state;
    zt_profiler *profiler = open_timeline(w, "", 1000);
    run(w, profiler, "early");
    collect_all(profiler);
    zt_stream *stream = attach(w, profiler, SLOW_PERIOD);
    append_marked(w, profiler, stream);
    close_rows(stream, NULL);
    run(w, profiler, "late");
    collect_all(profiler);
    assert_int_equal(streamed_of(profiler, "early", "GPU_BUSY").count, 0);
    assert_int_equal(streamed_of(profiler, "late", "GPU_BUSY").count, 0);
    assert_true(streamed_of(profiler, "outer", "GPU_BUSY").max > 0);
    assert_true(streamed_of(profiler, "outer", "GPU_BUSY").max < 101);
    check_work(w);
}

static void test_profiler_is_closed_first(void **state) {
    world *w = (world *)*state;
    zt_profiler *profiler = open_timeline(w, "", 1000);
    zt_stream *stream = attach(w, profiler, SLOW_PERIOD);
    append_marked(w, profiler, stream);
    close_profiler(w, profiler);
    rows *kept = rows_of(stream);
    close_rows(stream, kept);
    assert_true(kept->count >= 4);
    check_work(w);
}

/* A thread that reads a stream and attributes its rows, and waits in the profiler's allocator meanwhile. */
typedef struct attribution {
    pthread_t opener;
    zt_stream *stream;
    int waits, may_go_on, ends; /* atomic */
} attribution;

static void *wait_in_attribution(size_t size, void *user) {
    attribution *me = (attribution *)user;
    if (!pthread_equal(pthread_self(), me->opener)) {
        __atomic_store_n(&me->waits, 1, __ATOMIC_RELEASE);
        while (!__atomic_load_n(&me->may_go_on, __ATOMIC_ACQUIRE))
            nap();
        for (int i = 0; i < 20; i++) /* zt_close goes on, if it does not wait */
            nap();
    }
    return malloc(size);
}

static void free_memory(void *memory, void *user) {
    (void)user;
    free(memory);
}

static void let_it_go_on(const zt_sample *sample, void *user) {
    if (strcmp(sample->name, "collected by zt_close") == 0)
        __atomic_store_n(&((attribution *)user)->may_go_on, 1, __ATOMIC_RELEASE);
}

static void *read_until_closed(void *user) {
    attribution *me = (attribution *)user;
    while (!__atomic_load_n(&me->ends, __ATOMIC_ACQUIRE))
        zt_stream_read(me->stream, 1000000, NULL, NULL);
    return NULL;
}

/* Two streams are attached, of which one is closed. The thread that reads the other one is between the
   samples "first" and "second" when this returns. */
static zt_profiler *open_in_attribution(world *w, attribution *me, uint64_t wait_timeout_ns,
                                        pthread_t *thread) {
    zt_config config = config_of(w);
    config.groups = "";
    config.timeline = 100;
    config.wait_timeout_ns = wait_timeout_ns;
    config.sample = let_it_go_on;
    config.sample_user = me;
    config.allocator.allocate = wait_in_attribution;
    config.allocator.release = free_memory;
    config.allocator.user = me;
    memset(me, 0, sizeof *me);
    me->opener = pthread_self();
    zt_profiler *profiler = open_profiler(w, &config);
    close_rows(attach(w, profiler, 1000000), NULL);
    me->stream = attach(w, profiler, 1000000);
    run(w, profiler, "first");
    run(w, profiler, "second");
    collect_all(profiler);
    assert_int_equal(pthread_create(thread, NULL, read_until_closed, me), 0);
    await(&me->waits);
    return profiler;
}

static void end_attribution(world *w, attribution *me, pthread_t thread) {
    __atomic_store_n(&me->ends, 1, __ATOMIC_RELEASE);
    join_in_time(w, thread);
    close_rows(me->stream, NULL);
    check_work(w);
}

static void test_profiler_is_closed_while_rows_are_attributed(void **state) {
    world *w = (world *)*state;
    attribution me;
    pthread_t thread;
    zt_profiler *profiler = open_in_attribution(w, &me, A_WHILE, &thread);
    run(w, profiler, "collected by zt_close");
    close_profiler(w, profiler);
    end_attribution(w, &me, thread);
}

/* The profiler stays, for a thread uses it. */
static void test_attribution_hangs_while_the_profiler_is_closed(void **state) {
    world *w = (world *)*state;
    attribution me;
    pthread_t thread;
    zt_profiler *profiler = open_in_attribution(w, &me, 10000000, &thread);
    zt_close(profiler);
    int reported = heard(w, "[ROWS_BUSY]");
    __atomic_store_n(&me.may_go_on, 1, __ATOMIC_RELEASE);
    end_attribution(w, &me, thread);
    assert_int_equal(reported, 1);
    run(w, profiler, "third");
    collect_all(profiler);
    assert_counts(profiler, counted(3, 3, 0, 0, 0));
    close_profiler(w, profiler);
    check_work(w);
}

/* Rows are read and profilers come and go, each at its own time. */
static void test_profilers_are_closed_while_streams_are_read(void **state) {
    world *w = (world *)*state;
    for (int i = 0; i < OFTEN(100); i++) {
        zt_profiler *profiler = open_timeline(w, "", 16);
        zt_stream_config config = stream_config_of(w);
        attribution device, host;
        pthread_t reads_device, reads_host;
        memset(&device, 0, sizeof device);
        memset(&host, 0, sizeof host);
        config.profiler = profiler;
        config.group = "HostScheduler";
        host.stream = open_stream_with(w, &config);
        device.stream = attach(w, profiler, 100000);
        assert_int_equal(pthread_create(&reads_device, NULL, read_until_closed, &device), 0);
        assert_int_equal(pthread_create(&reads_host, NULL, read_until_closed, &host), 0);
        for (int j = 0; j < 4; j++) {
            run(w, profiler, "region");
            zt_collect(profiler, 0);
        }
        if (i % 2) { /* the other stream ends before the profiler does, or after it */
            __atomic_store_n(&host.ends, 1, __ATOMIC_RELEASE);
            join_in_time(w, reads_host);
            close_rows(host.stream, NULL);
        }
        close_profiler(w, profiler);
        if (i % 2 == 0)
            end_attribution(w, &host, reads_host);
        end_attribution(w, &device, reads_device);
    }
}

typedef struct threads {
    world *w;
    zt_profiler *profiler;
    zt_stream *stream;
    int ends; /* atomic */
} threads;

static void *read_along(void *user) {
    threads *t = (threads *)user;
    while (!__atomic_load_n(&t->ends, __ATOMIC_ACQUIRE))
        zt_stream_read(t->stream, 1000000, NULL, NULL);
    return NULL;
}

static int take_bytes(const void *bytes, size_t size, void *user) {
    (void)bytes, (void)user;
    return size == 0;
}

static void *report_along(void *user) {
    threads *t = (threads *)user;
    while (!__atomic_load_n(&t->ends, __ATOMIC_ACQUIRE)) {
        zt_stats streamed;
        zt_write(t->profiler, ZT_FORMAT_TRACE, take_bytes, NULL);
        if (zt_get_info(t->profiler).region_count)
            zt_get_stats(t->profiler, 0, ZT_STREAMED(0), &streamed);
        nap();
    }
    return NULL;
}

/* Regions here, rows there, and reports elsewhere. */
static void test_threads(void **state) {
    world *w = (world *)*state;
    pthread_t reads, reports;
    zt_profiler *profiler = open_timeline(w, "", 64);
    zt_stream_config config = stream_config_of(w);
    config.profiler = profiler;
    config.timeline_rows = 64;
    config.thread = 1;
    threads t = {w, profiler, open_stream_with(w, &config), 0};
    assert_int_equal(pthread_create(&reads, NULL, read_along, &t), 0);
    assert_int_equal(pthread_create(&reports, NULL, report_along, &t), 0);
    for (int i = 0; i < OFTEN(500); i++) {
        mark_now(w, t.stream, i % 2 ? "odd" : "even");
        run(w, profiler, i % 2 ? "odd" : "even");
        ok(zt_collect(profiler, A_WHILE));
    }
    __atomic_store_n(&t.ends, 1, __ATOMIC_RELEASE);
    pthread_join(reads, NULL);
    pthread_join(reports, NULL);
    close_rows(t.stream, NULL);
    assert_counts(profiler, counted(OFTEN(500), OFTEN(500), 0, 0, 0));
    check_work(w);
}

static void test_memory_runs_out(void **state) {
    world *w = (world *)*state;
    zt_profiler *profiler = NULL;
    zt_config config = config_of(w);
    config.groups = "";
    config.timeline = 100;
    config.allocator = scarce_allocator();
    for (int enough = 0; !profiler && enough < 200; enough++) {
        allocations_left = enough;
        zt_open(w->context, w->device, &config, &profiler);
    }
    assert_non_null(profiler);
    allocations_left = 100;
    ZT_PHASE("phase")
        run(w, profiler, "region");
    ok(zt_collect(profiler, A_WHILE));
    zt_stream *stream = attach(w, profiler, SLOW_PERIOD);
    for (int i = 0; i < 2; i++) /* the first report ends no row */
        mark_now(w, stream, "mark");
    finish_immediate(w, w->immediate);
    ok(zt_stream_read(stream, A_WHILE, NULL, NULL));
    ze_result_t result;
    int enough = 0;
    do {
        allocations_left = enough++;
        result = zt_write(profiler, ZT_FORMAT_TRACE, take_bytes, NULL);
        assert_true(result == ZE_RESULT_SUCCESS || result == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    } while (result != ZE_RESULT_SUCCESS && enough < 100);
    assert_true(enough > 10 && enough < 100);
    allocations_left = 100;
    close_rows(stream, NULL);
    zt_close(profiler);
    check_work(w);
}

static void test_rows_overflow(void **state) {
    world *w = (world *)*state;
    zt_profiler *profiler = open_timeline(w, "", 1000);
    zt_stream_config config = stream_config_of(w);
    config.profiler = profiler;
    config.period_ns = SLOW_PERIOD;
    config.timeline_rows = 16;
    zt_stream *stream = open_stream_with(w, &config);
    for (int i = 0; i < 101; i++)
        mark_now(w, stream, "mark");
    finish_immediate(w, w->immediate);
    close_rows(stream, NULL);
    assert_int_equal(zt_get_timeline(profiler).rows, 16);
    assert_true(zt_get_timeline(profiler).lost_rows >= 100 - 16);
}

static void test_bad_input(void **state) {
    world *w = (world *)*state;
    const char *text;
    zt_stats streamed;
    zt_stream *stream;
    zt_profiler *without = open_timeline(w, "", 0), *profiler = open_timeline(w, "", 10);
    zt_stream_config config = stream_config_of(w);
    config.profiler = without;
    assert_result(zt_stream_open(w->context, w->device, &config, &stream), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    text = zt_last_error(NULL);
    assert_contains(text, "config.timeline");
    run(w, profiler, "region");
    assert_result(zt_get_stats(profiler, 1, ZT_STREAMED(0), &streamed), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_result(zt_get_stats(profiler, 0, ZT_STREAMED(0), &streamed), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_result(zt_get_stats(profiler, 0, ZT_STREAMED(0), NULL), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_result(zt_get_stats(profiler, 0, ZT_GPU_TIME, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    ok(zt_get_stats(NULL, 0, ZT_STREAMED(0), &streamed));
    assert_null(zt_get_metric(profiler, ZT_STREAMED(0)));
    assert_null(zt_get_metric(NULL, ZT_STREAMED(0)));
    assert_int_equal(zt_get_info(NULL).streamed_count, 0);
    assert_int_equal(zt_get_timeline(NULL).samples, 0);
    collect_all(profiler);
    ok(zt_name_list(NULL, w->immediate, "name"));
    ok(zt_name_list(profiler, w->immediate, NULL));
    assert_result(zt_name_list(profiler, NULL, "name"), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    check_work(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        STREAM_TEST(test_nested_regions),
        STREAM_TEST(test_track_for_each_list),
        STREAM_TEST(test_overlapping_regions),
        STREAM_TEST(test_a_coarse_clock),
        PRETENDING(test_launches_that_begin_at_once),
        STREAM_TEST(test_names_of_any_kind),
        STREAM_TEST(test_ring_keeps_the_newest),
        STREAM_TEST(test_memory_is_fixed),
        STREAM_TEST(test_without_a_timeline),
        STREAM_TEST(test_clocks_that_cannot_be_related),
        STREAM_TEST(test_collected_by_a_thread),
        STREAM_TEST(test_passes),
        STREAM_TEST(test_threads_that_append),
        STREAM_TEST(test_threads_that_execute),
        STREAM_TEST(test_phases),
        STREAM_TEST(test_open_phases),
        STREAM_TEST(test_phases_at_the_same_moment),
        STREAM_TEST(test_phases_that_overlap),
        STREAM_TEST(test_phases_of_other_threads),
        STREAM_TEST(test_a_region_that_overlaps_a_phase),
        STREAM_TEST(test_phases_that_are_not_kept),
        STREAM_TEST(test_many_executions),
        STREAM_TEST(test_an_execution_that_is_not_kept),
        STREAM_TEST(test_calls_at_the_same_moment),
        STREAM_TEST(test_executions_that_nobody_saw),
        STREAM_TEST(test_begun_before_it_was_submitted),
        STREAM_TEST(test_an_execution_inside_of_another),
        PRETENDING(test_an_execution_that_is_replaced_before_it_ends),
        STREAM_TEST(test_names_of_lists),
        STREAM_TEST(test_names_that_stay),
        STREAM_TEST(test_a_name_given_twice_at_once),
        STREAM_TEST(test_too_many_names_of_lists),
        STREAM_TEST(test_names_end_with_their_lists),
        STREAM_TEST(test_lost_and_dropped),
        STREAM_TEST(test_losses_that_are_taken_back),
        STREAM_TEST(test_losses_are_told_apart),
        STREAM_TEST(test_many_losses_that_are_taken_back),
        STREAM_TEST(test_a_sample_that_was_overwritten),
        STREAM_TEST(test_times_are_unwrapped),
        PRETENDING(test_unknown_bits_of_time_stamps),
        STREAM_TEST(test_drift_is_corrected),
        STREAM_TEST(test_phases_in_which_the_device_is_idle),
        STREAM_TEST(test_idle_phases_that_are_not_kept),
        STREAM_TEST(test_collected_late),
        STREAM_TEST(test_collected_too_late),
        PRETENDING(test_a_clock_that_jumps),
        STREAM_TEST(test_a_clock_that_steps_back),
        STREAM_TEST(test_recorded_while_the_clock_turns),
        STREAM_TEST(test_counters_and_markers),
        STREAM_TEST(test_gaps_of_streams),
        STREAM_TEST(test_a_gap_before_the_oldest_row),
        STREAM_TEST(test_gaps_between_all_rows),
        STREAM_TEST(test_chosen_columns),
        STREAM_TEST(test_computed_columns),
        STREAM_TEST(test_metrics_of_any_kind),
        STREAM_TEST(test_two_streams),
        STREAM_TEST(test_names_of_metrics_of_both),
        STREAM_TEST(test_rows_before_samples),
        STREAM_TEST(test_samples_before_rows),
        STREAM_TEST(test_rows_weigh_by_their_time),
        STREAM_TEST(test_memory_of_attached_streams),
        STREAM_TEST(test_regions_outside_have_no_rows),
        STREAM_TEST(test_profiler_is_closed_first),
        STREAM_TEST(test_profiler_is_closed_while_rows_are_attributed),
        STREAM_TEST(test_attribution_hangs_while_the_profiler_is_closed),
        STREAM_TEST(test_profilers_are_closed_while_streams_are_read),
        STREAM_TEST(test_threads),
        STREAM_TEST(test_memory_runs_out),
        STREAM_TEST(test_rows_overflow),
        STREAM_TEST(test_bad_input),
    };
    return cmocka_run_group_tests(tests, start_traced, NULL);
}
