/* Two processes that measure on one device. The kernel gives its counters to one of them at a time: the other measures
   times, and says who has the counters. */
#define _GNU_SOURCE
#include "fixture.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GUARD_S = 60, REGIONS = 10 };

/* ==== the process that has the counters =================================================================== */

static void tell(char what) {
    assert_int_equal(write(STDOUT_FILENO, &what, 1), 1);
}

/* Measures before and after it is told to go on. */
static int measure_with_metrics(void) {
    void *state = NULL;
    char byte;
    assert_int_equal(start(&state), 0);
    assert_int_equal(open_world(&state), 0);
    world *w = state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    run(w, profiler, "region");
    tell('m');
    while (read(STDIN_FILENO, &byte, 1) < 0) {
    }
    for (int i = 1; i < REGIONS; i++)
        run(w, profiler, "region");
    collect_all(profiler);
    assert_counts(profiler, counted(REGIONS, REGIONS, 0, 0, 0));
    assert_int_equal(stats_of(profiler, "region", "GpuTime").count, REGIONS);
    close_profiler(w, profiler);
    return close_world(&state);
}

typedef struct other {
    pid_t process;
    int to, from;
} other;

/* The same program again. Its command line may begin with a dynamic linker. */
static void execute_again(void) {
    static char line[1 << 16];
    char *arguments[64];
    size_t used = 0;
    int count = 0, file = open("/proc/self/cmdline", O_RDONLY);
    ssize_t size = read(file, line, sizeof line - 1);
    while (size > 0 && used < (size_t)size && count < 63) {
        arguments[count++] = line + used;
        used += strlen(line + used) + 1;
    }
    arguments[count] = NULL;
    setenv("ZT_TEST_ROLE", "has counters", 1);
    alarm(GUARD_S);
    execvp(arguments[0], arguments);
}

static other start_other(void) {
    int to[2], from[2];
    char byte = 0;
    assert_int_equal(pipe2(to, O_CLOEXEC), 0);
    assert_int_equal(pipe2(from, O_CLOEXEC), 0);
    fflush(NULL);
    other o = {fork(), to[1], from[0]};
    assert_true(o.process >= 0);
    if (o.process == 0) {
        dup2(to[0], STDIN_FILENO);
        dup2(from[1], STDOUT_FILENO);
        execute_again();
        _exit(98);
    }
    close(to[0]);
    close(from[1]);
    assert_int_equal(read(o.from, &byte, 1), 1); /* 0, should the process end */
    assert_int_equal(byte, 'm');
    return o;
}

static void end_other(other o) {
    int status = 0;
    close(o.to);
    assert_int_equal(waitpid(o.process, &status, 0), o.process);
    close(o.from);
    assert_int_equal(status, 0);
}

/* ==== the other =========================================================================================== */

static int share_counters(void **state) {
    if (make_directory(state) != 0)
        return -1;
    setenv("SOFTGPU_COUNTERS", in_directory("counters"), 1);
    return start_traced(state);
}

static zt_profiler *measure_times(world *w, zt_availability why) {
    zt_config config = config_of(w);
    zt_profiler *profiler = open_profiler(w, &config);
    assert_int_equal(zt_get_info(profiler).availability, why);
    run(w, profiler, "region");
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    assert_true(region_info(profiler, "region").time_ns.sum > 0);
    return profiler;
}

/* The other process is forked, and so has the name of this one, which is that of the system's loader where that starts the
   program. */
static void expect_named(const char *text, other o) {
    char name[64], holder[192];
    FILE *file = fopen("/proc/self/comm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%63[^\n]", name), 1);
    fclose(file);
    snprintf(holder, sizeof holder, "in use by process %d (%s), which has counters of a GPU open. Close it",
             (int)o.process, name);
    assert_contains(text, holder);
}

/* Whatever the file says by which the system reserves counters: somebody has them. */
static void test_who_has_the_counters(void **state) {
    world *w = *state;
    const char *const reserved[] = {"0", "1"};
    for (int i = 0; i < 2; i++) {
        assume_reserved(reserved[i]);
        other o = start_other();
        zt_profiler *profiler = measure_times(w, ZT_IN_USE);
        const char *text = zt_get_info(profiler).availability_text;
        assert_contains(
            text, "[COUNTERS_IN_USE] zetMetricQueryPoolCreate failed: ZE_RESULT_ERROR_INVALID_ARGUMENT");
        expect_named(text, o);
        expect_named(written_report(profiler, ZT_FORMAT_JSON), o);
        close_profiler(w, profiler);
        end_other(o);
        profiler = open_groups(w, "ComputeBasic"); /* now they are free */
        close_profiler(w, profiler);
    }
    check_work(w);
}

static void test_who_has_the_counters_of_a_stream(void **state) {
    world *w = *state;
    zt_stream_config config = {.group = "HostScheduler"};
    zt_stream *stream = NULL;
    other o = start_other();
    assert_result(zt_stream_open(w->context, w->device, &config, &stream), ZE_RESULT_ERROR_UNKNOWN);
    assert_null(stream);
    expect_named(zt_last_error(NULL), o);
    end_other(o);
    ok(zt_stream_open(w->context, w->device, &config, &stream));
    zt_stream_close(stream, NULL, NULL, NULL);
}

/* A process of another user does not show what it has open. */
static void test_a_user_that_the_system_does_not_show(void **state) {
    world *w = *state;
    other o = start_other();
    assume_shown(OWN_PROCESS);
    for (int is_reserved = 0; is_reserved < 2; is_reserved++) {
        assume_reserved(is_reserved ? "1" : "0");
        zt_profiler *profiler = measure_times(w, is_reserved ? ZT_NO_PERMISSION : ZT_IN_USE);
        const char *text = zt_get_info(profiler).availability_text;
        assert_contains(
            text, "in use by another process, or a stream or query of this program's own. The system does "
                  "not show which, because ");
        assert_contains(
            text, " processes hide what they have open: as root, look for i915_perf or xe_oa in the output "
                  "of 'ls -l /proc/[0-9]*/fd'");
        assert_contains(text,
                        is_reserved ? "Either this process has no permission" : "Close it, then open again.");
        close_profiler(w, profiler);
    }
    end_other(o);
}

/* Outside of a container, or of this process's view. */
static void test_a_user_that_is_not_visible(void **state) {
    world *w = *state;
    gpu.behave(SOFTGPU_COUNTERS_HELD, 1);
    assume_reserved("0");
    zt_profiler *profiler = measure_times(w, ZT_IN_USE);
    assert_contains(
        zt_get_info(profiler).availability_text,
        "of this program's own, but no process that is visible from here has them open. Close it");
    close_profiler(w, profiler);
}

static void test_a_system_that_shows_no_process(void **state) {
    world *w = *state;
    gpu.behave(SOFTGPU_COUNTERS_HELD, 1);
    assume_reserved("0");
    assume_shown(NO_PROCESS);
    zt_profiler *profiler = measure_times(w, ZT_IN_USE);
    assert_contains(zt_get_info(profiler).availability_text,
                    "of this program's own: the system does not show which. Close it");
    close_profiler(w, profiler);
}

/* Sampling of instructions is no matter of these counters. */
static void test_instructions(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "";
    gpu.behave(SOFTGPU_STALL_SAMPLING, 1);
    zt_profiler *profiler = open_profiler(w, &config);
    ok(zt_trace_start(profiler, NULL));
    other o = start_other();
    ok(zt_hotspots_start(profiler, NULL));
    ok(zt_hotspots_stop(profiler));
    end_other(o);
    gpu.behave(SOFTGPU_COUNTERS_HELD, 1);
    assume_shown(OWN_PROCESS);
    assert_result(zt_hotspots_start(profiler, NULL), ZE_RESULT_ERROR_UNKNOWN);
    assert_contains(zt_last_error(NULL), "look for i915_eu_stall or xe_eu_stall in the output");
    close_profiler(w, profiler);
}

/* Queries that the program makes itself. */
static void test_the_program_itself(void **state) {
    world *w = *state;
    zet_metric_group_handle_t group =
        find_group(w, "ComputeBasic", ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED);
    zet_metric_query_pool_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC, .count = 1};
    zet_metric_query_pool_handle_t pool;
    zt_profiler *profiler;
    ok(zetMetricQueryPoolCreate(w->context, w->device, group, &desc, &pool));
    gpu.behave(SOFTGPU_COUNTERS_HELD, 1);
    profiler = measure_times(w, ZT_IN_USE);
    assert_contains(zt_get_info(profiler).availability_text,
                    "The device's counters are in use by a stream or query of this program's own. Close it");
    close_profiler(w, profiler);
    ok(zetMetricQueryPoolDestroy(pool));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_who_has_the_counters),
        TEST(test_who_has_the_counters_of_a_stream),
        TEST(test_a_user_that_the_system_does_not_show),
        TEST(test_a_user_that_is_not_visible),
        TEST(test_a_system_that_shows_no_process),
        TEST(test_instructions),
        TEST(test_the_program_itself),
    };
    if (getenv("ZT_TEST_ROLE"))
        return measure_with_metrics();
    return cmocka_run_group_tests(tests, share_counters, remove_directory);
}
