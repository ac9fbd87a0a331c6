/* run.pftrace: a trace in Perfetto's own format. Those of the other tests of the timeline are compared with JSON, too. */
#define _GNU_SOURCE
#include "perfetto.h"

#include "rows.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static zt_profiler *open_timeline(world *w, const char *groups) {
    zt_config config = config_of(w);
    config.groups = groups;
    config.timeline = 10000;
    return open_profiler(w, &config);
}

static long size_of(const char *path) {
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    return (long)status.st_size;
}

static void need_perfetto(void) {
    if (!can_read_perfetto()) {
        print_message(
            "skipped: Python has no google.protobuf (Debian's package python3-protobuf), so run.pftrace is "
            "not read\n");
        skip();
    }
}

/* All of a run: traced launches with phases around them, calls, and a stream with markers. Its file is at most an eighth as
   long as that in JSON. */
static void test_a_whole_run(void **state) {
    enum { STEPS = 200 }; /* more than is compressed at once */
    world *w = *state;
    zt_trace_config trace = {.calls = "zeCommandListAppendLaunchKernel,zeCommandQueueExecuteCommandLists"};
    char json[PATH_MAX], perfetto[PATH_MAX], arguments[3 * PATH_MAX], facts[100];
    zt_kernel_info kernel;
    zt_profiler *profiler = open_timeline(w, "ComputeBasic");
    zt_stream_config streamed = stream_config_of(w);
    streamed.profiler = profiler;
    streamed.period_ns = 1000000;
    streamed.group = "HostScheduler";
    zt_stream *stream = open_stream_with(w, &streamed);
    ok(zt_trace_start(profiler, &trace));
    ok(zeKernelSetGroupSize(w->kernel, WORK_ITEMS / WORK_GROUPS, 1, 1));
    zt_name_list(profiler, w->list, "upload");
    launch_kernel(w->list, w->kernel);
    ok(zeCommandListClose(w->list));
    for (int i = 0; i < STEPS; i++) {
        ZT_PHASE("step") {
            ZT_PHASE("solve")
                launch(w, w->immediate);
            execute_unprofiled(w, w->list);
            w->launches++;
        }
        mark_now(w, stream, "end of a step");
    }
    finish_immediate(w, w->immediate);
    ok(zt_stream_read(stream, A_WHILE, NULL, NULL));
    collect_all(profiler);
    zt_phase_begin("open");
    snprintf(json, sizeof json, "%s", in_directory("run.trace.json"));
    snprintf(perfetto, sizeof perfetto, "%s", in_directory("run.PFTRACE"));
    hold_time(1);
    ok(zt_report(profiler, json));
    ok(zt_report(profiler, perfetto));
    hold_time(0);
    zt_phase_end();
    close_rows(stream, NULL);
    assert_true(size_of(perfetto) * 8 <= size_of(json));
    need_perfetto();
    snprintf(arguments, sizeof arguments, "'%s' '%s'", perfetto, json);
    const char *compared = check_perfetto(arguments);
    assert_contains(compared, "\nregions 400\n");
    assert_contains(compared, "\nmetrics 3200\n");
    ok(zt_get_kernel(profiler, 0, &kernel));
    snprintf(facts, sizeof facts, "\nsaxpy: %u registers, %u bytes shared, SIMD %u\n", kernel.registers,
             kernel.slm_bytes, kernel.simd_width);
    assert_true(kernel.registers != UINT32_MAX && kernel.slm_bytes != UINT32_MAX);
    assert_contains(compared, facts);
    assert_contains(compared, "\nregion GPU_BUSY [%]: regions\n");
    assert_contains(compared, "\nHOST_CPU_BUSY [%]: stream HostScheduler\n");
}

/* Ten regions need about a seventh of the bytes; how many digits times have, matters little. */
static void test_a_short_file(void **state) {
    world *w = *state;
    char json[PATH_MAX];
    zt_profiler *profiler = open_timeline(w, "ComputeBasic");
    for (int i = 0; i < 10; i++)
        run(w, profiler, "region");
    collect_all(profiler);
    snprintf(json, sizeof json, "%s", in_directory("run.trace.json"));
    ok(zt_report(profiler, json));
    ok(zt_report(profiler, in_directory("run.pftrace")));
    assert_true(size_of(in_directory("run.pftrace")) * 3 <= size_of(json));
}

/* Texts are valid UTF-8 in the file, also long ones. */
static void test_names_of_any_bytes(void **state) {
    static char longest[5000];
    world *w = *state;
    memset(longest, 'n', sizeof longest - 1);
    const char *names[] = {"\xFF\xC3", "", "\xE2\x82", "_Z5scalePfi", "tab\there \"quoted\"", longest};
    zt_profiler *profiler = open_timeline(w, "");
    zt_name_list(profiler, w->immediate, "list \xFE");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        zt_phase_begin(names[i]);
        run(w, profiler, names[i]);
        zt_phase_end();
    }
    collect_all(profiler);
    need_perfetto();
    hold_time(1);
    compare_traces(profiler);
}

/* Without a sample there are a process and a device. */
static void test_nothing_was_measured(void **state) {
    world *w = *state;
    need_perfetto();
    hold_time(1);
    assert_contains(compare_traces(open_timeline(w, "")), "\nregions 0\n");
}

/* Two profilers of one process: what identifies their tracks and flows differs. */
static void test_files_of_one_process(void **state) {
    world *w = *state;
    char paths[2][PATH_MAX], arguments[3 * PATH_MAX];
    need_perfetto();
    for (int i = 0; i < 2; i++) {
        zt_profiler *profiler = open_timeline(w, "ComputeBasic");
        ZT_PHASE("phase")
            run(w, profiler, "region");
        collect_all(profiler);
        snprintf(paths[i], sizeof paths[i], "%s", in_directory(i ? "run.2.pftrace" : "run.pftrace"));
        ok(zt_report(profiler, paths[i]));
        close_profiler(w, profiler);
    }
    snprintf(arguments, sizeof arguments, "--joined '%s' '%s'", paths[0], paths[1]);
    assert_contains(check_perfetto(arguments), "joined 2\n");
}

/* Ranks of a program: their files, one after the other, are a trace of all. */
static void test_files_of_several_processes(void **state) {
    char library[PATH_MAX], program[PATH_MAX], device[PATH_MAX], command[6 * PATH_MAX];
    (void)state;
    need_perfetto();
    find_file("build/examples-O0/libzt_auto.so", library, sizeof library);
    find_file("build/examples-O0/simulate", program, sizeof program);
    find_file("build/libze_softgpu.so", device, sizeof device); /* the program has no sanitizers */
    for (int i = 0; i < 3; i++) {
        snprintf(command, sizeof command,
                 "cd '%s' && env ZE_ENABLE_ALT_DRIVERS='%s' ZET_ENABLE_METRICS=1 LD_PRELOAD='%s' "
                 "ZT_AUTO=rank.%d.pftrace '%s' >/dev/null 2>&1",
                 test_directory, device, library, i, program);
        assert_int_equal(system(command), 0);
    }
    snprintf(command, sizeof command, "--joined '%s'/rank.*.pftrace", test_directory);
    assert_contains(check_perfetto(command), "joined 3\n");
}

/* Whichever allocation fails: the report does, too, and the file before it stays. */
static void test_memory_runs_out(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "";
    config.timeline = 100;
    config.allocator = scarce_allocator();
    allocations_left = -1;
    zt_profiler *profiler = open_profiler(w, &config);
    for (int i = 0; i < 40; i++) { /* more names than the first table has room for */
        char name[20];
        snprintf(name, sizeof name, "region %d", i);
        ZT_PHASE("phase")
            run(w, profiler, name);
    }
    collect_all(profiler);
    const char *path = in_directory("run.pftrace");
    ze_result_t result;
    int enough = 0;
    do {
        allocations_left = enough++;
        result = zt_report(profiler, path);
        assert_true(result == ZE_RESULT_SUCCESS || result == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
        assert_int_equal(access(path, F_OK) == 0, result == ZE_RESULT_SUCCESS);
    } while (result != ZE_RESULT_SUCCESS && enough < 300);
    assert_in_range(enough, 20, 299);
    allocations_left = -1;
    close_profiler(w, profiler);
}

static void test_without_a_timeline(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    assert_result(zt_report(profiler, in_directory("run.pftrace")), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_contains(zt_get_info(profiler).error, "Set config.timeline");
}

static int open_both(void **state) {
    return make_directory(state) || open_world(state);
}

static int close_both(void **state) {
    return close_streams(state) || remove_directory(state);
}

#define IN_DIRECTORY(function) cmocka_unit_test_setup_teardown(function, open_both, close_both)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(test_a_whole_run),          IN_DIRECTORY(test_a_short_file),
        IN_DIRECTORY(test_names_of_any_bytes),   IN_DIRECTORY(test_nothing_was_measured),
        IN_DIRECTORY(test_files_of_one_process), IN_DIRECTORY(test_files_of_several_processes),
        IN_DIRECTORY(test_memory_runs_out),      IN_DIRECTORY(test_without_a_timeline),
    };
    return cmocka_run_group_tests(tests, start_traced, NULL);
}
