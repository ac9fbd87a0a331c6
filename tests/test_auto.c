/* zt_auto: programs that call nothing else of the library. Each is a process of its own that runs to its
   exit, and the test reads what it has written. Level Zero is initialised in these processes alone. */
#define _GNU_SOURCE
#include "fixture.h"

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Returns what a program has written to a file. */
static char *text_of(const char *name) {
    static char text[1 << 19];
    FILE *file = fopen(in_directory(name), "r");
    if (!file)
        fail_msg("there is no %s", in_directory(name));
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    return text;
}

/* ==== programs ============================================================================================ */

/* A program: it calls zt_auto, does work that does not call the library, and exits. */
typedef struct program {
    void (*work)(world *w);
    const char *environment; /* ZT_AUTO */
    const zt_auto_config *config;
    uint32_t calls;           /* of zt_auto */
    ze_result_t result;       /* of each */
    int initialised_before;   /* by zeInit, with the layer in its environment */
    int keeps_everything;     /* it exits without destroying the context and its objects */
    const char *variables[8]; /* of the environment, each before its value */
} program;

/* Makes what a program keeps reachable, so that it is no leak. volatile: so that the store is not optimised
   away. */
static void *volatile kept;

static void set_variables(const program *p) {
    for (int i = 0; i < 8 && p->variables[i]; i += 2)
        setenv(p->variables[i], p->variables[i + 1], 1);
}

static void run_program(const program *p) {
    static const char *const unset[] = {
        "ZE_ENABLE_TRACING_LAYER", "ZT_AUTO",     "ZT_KERNELS", "ZT_COPIES", "ZT_CALLS", "ZT_MODULES",
        "ZT_PROFILE_FLAGS",        "ZT_HOTSPOTS", "ZT_MEMORY",  "ZT_POWER"};
    void *state = NULL;
    for (size_t i = 0; i < sizeof unset / sizeof *unset; i++)
        unsetenv(unset[i]);
    if (p->environment)
        setenv("ZT_AUTO", p->environment, 1);
    set_variables(p);
    if (p->initialised_before) {
        setenv("ZE_ENABLE_TRACING_LAYER", "1", 1);
        start(&state);
    }
    for (uint32_t i = 0; i < p->calls; i++)
        assert_result(zt_auto(p->config), p->result);
    if (!p->work)
        return;
    start(&state);
    set_variables(p); /* start() has removed some */
    open_world(&state);
    p->work(state);
    check_work(state);
    if (p->keeps_everything)
        kept = state;
    else
        close_world(&state);
}

static void expect_success(const program *p) {
    int status;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (!freopen(in_directory("output"), "w", stdout) || !freopen(in_directory("errors"), "w", stderr))
            _exit(99);
        setenv("CMOCKA_TEST_ABORT", "1", 1); /* a failure ends the program, and not the test in it */
        run_program(p);
        exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_msg("the program ended with status 0x%x:\n%s", (unsigned)status, text_of("errors"));
}

static void launch_some(world *w) {
    for (int i = 0; i < 3; i++)
        launch(w, w->immediate);
    finish_immediate(w, w->immediate);
    launch_kernel(w->list, w->kernel);
    ok(zeCommandListClose(w->list));
    for (int i = 0; i < 4; i++)
        execute_unprofiled(w, w->list);
    w->launches += 4;
}

/* Layers of the loader print as well. */
static void assert_no_messages(void) {
    assert_null(strstr(text_of("errors"), "zetools"));
}

/* All contexts and devices are in one report of each format. */
static void assert_no_second(const char *name) {
    if (access(in_directory(name), F_OK) == 0)
        fail_msg("there is %s", in_directory(name));
}

/* The driver is unloaded before leaks are searched for, so what a program keeps in it looks like one. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
    return "leak:libze_softgpu";
}

/* ==== tests =============================================================================================== */

static void test_a_table_at_exit(void **state) {
    const program p = {.work = launch_some, .calls = 1};
    unsigned count = 0;
    (void)state;
    expect_success(&p);
    assert_int_equal(sscanf(line_of(text_of("output"), "saxpy "), "saxpy %*f %u", &count), 1);
    assert_int_equal(count, 7);
}

/* What is advised is possible for those who cannot change the program. */
static void record_alone(world *w) {
    launch_some(w);
    reset_list(w->list);
    launch_kernel(w->list, w->kernel);
    ok(zeCommandListClose(w->list));
}

static void test_a_list_that_is_never_executed(void **state) {
    const program p = {
        .work = record_alone, .environment = in_directory("recorded.csv"), .calls = 1, .keeps_everything = 1};
    (void)state;
    expect_success(&p);
    assert_contains(text_of("recorded.csv"), "Their lists were not executed while tracing.");
    assert_null(strstr(text_of("recorded.csv"), "zt_collect"));
    assert_null(strstr(text_of("recorded.csv"), "zt_execute"));
}

static void test_an_exit_with_everything_open(void **state) {
    const program p = {.work = launch_some, .calls = 1, .keeps_everything = 1};
    unsigned count = 0;
    (void)state;
    expect_success(&p);
    assert_int_equal(sscanf(line_of(text_of("output"), "saxpy "), "saxpy %*f %u", &count), 1);
    assert_int_equal(count, 7);
}

static void test_a_file_by_the_environment(void **state) {
    char path[PATH_MAX];
    (void)state;
    snprintf(path, sizeof path, "%s", in_directory("by environment.csv"));
    zt_auto_config config = {0};
    config.report = "/nowhere/at/all";
    const program p = {
        .work = launch_some, .environment = path, .config = &config, .calls = 3, .initialised_before = 1};
    expect_success(&p);
    assert_contains(line_of(text_of("by environment.csv"), "\"saxpy\",\"GPU time\""), ",sum,7,");
    assert_string_equal(text_of("output"), "");
}

/* In a process of its own: what the library keeps of the process would stay in every program that is forked later. */
static void read_packed_statistics(world *w) {
    static char bytes[1 << 19];
    zt_profiler *profiler = NULL;
    zt_region_info info;
    FILE *file = fopen(in_directory("run.7.zt"), "rb");
    (void)w;
    assert_non_null(file);
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    ok(zt_unpack(bytes, size, NULL, &profiler));
    ok(zt_get_region(profiler, zt_find_path(profiler, "saxpy"), &info));
    assert_int_equal(info.count, 7);
    zt_close(profiler);
}

/* A rank of a program: its statistics, which are the same after they were read back. */
static void test_packed_statistics_by_the_environment(void **state) {
    char path[PATH_MAX];
    (void)state;
    snprintf(path, sizeof path, "%s", in_directory("run.%q{ZT_TEST_RANK}.zt"));
    const program p = {
        .work = launch_some, .environment = path, .calls = 1, .variables = {"ZT_TEST_RANK", "7"}};
    const program reader = {.work = read_packed_statistics};
    expect_success(&p);
    assert_string_equal(text_of("output"), "");
    expect_success(&reader);
}

static void read_idle_rank(world *w) {
    static char bytes[1 << 16];
    zt_profiler *profiler = NULL;
    FILE *file = fopen(in_directory("run.3.zt"), "rb");
    (void)w;
    assert_non_null(file);
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    ok(zt_unpack(bytes, size, NULL, &profiler));
    const zt_info info = zt_get_info(profiler);
    assert_int_equal(info.path_count, 0);
    assert_int_equal(info.availability, ZT_AVAILABILITY_UNKNOWN);
    assert_contains(info.program, "test_auto");
    assert_true(info.opened_s > 0 && info.opened_s <= info.packed_s);
    zt_close(profiler);
}

/* A rank that launches nothing has a file, too; but none that is in the way of another process of the rank, such as a
   shell around it; and none of a process that is no rank. */
static void test_a_rank_that_launches_nothing(void **state) {
    static const char *const others[] = {"run.%q{ZT_TEST_OTHER}.zt", "run.%p.zt", "idle.csv"};
    char path[PATH_MAX];
    const program idle = {.environment = path, .calls = 1, .variables = {"ZT_TEST_RANK", "3"}};
    const program reader = {.work = read_idle_rank};
    (void)state;
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s", in_directory(others[i]));
        expect_success(&idle);
        assert_contains(text_of("errors"), "created no command list afterwards, so there is no report");
        assert_null(strstr(text_of("errors"), "wrote"));
    }
    snprintf(path, sizeof path, "%s", in_directory("run.%q{ZT_TEST_RANK}.zt"));
    expect_success(&idle);
    assert_contains(text_of("errors"), "created no command list afterwards, so its statistics are empty");
    assert_contains(text_of("errors"), "wrote ");
    assert_string_equal(text_of("output"), "");
    expect_success(&reader);
    const program busy = {
        .work = launch_some, .environment = path, .calls = 1, .variables = {"ZT_TEST_RANK", "7"}};
    const program shell = {.environment = path, .calls = 1, .variables = {"ZT_TEST_RANK", "7"}};
    const program busy_reader = {.work = read_packed_statistics};
    expect_success(&shell);
    expect_success(&busy);
    expect_success(&shell);
    expect_success(&busy_reader);
}

static void test_a_file_by_the_configuration(void **state) {
    char path[PATH_MAX];
    (void)state;
    snprintf(path, sizeof path, "%s", in_directory("configured.json"));
    zt_auto_config config = {0};
    config.report = path;
    config.trace.calls = "zeCommandQueue*";
    config.profiler.groups = "";
    const program p = {.work = launch_some, .config = &config, .calls = 1};
    expect_success(&p);
    assert_contains(text_of("configured.json"), "{\"name\":\"saxpy\",\"count\":7,\"lost\":0,\"dropped\":0,");
    assert_contains(text_of("configured.json"),
                    "{\"name\":\"zeCommandQueueExecuteCommandLists\",\"count\":4,");
    assert_contains(text_of("configured.json"), "[TIMES_BY_CHOICE]");
}

static void test_turned_off_by_the_environment(void **state) {
    const program p = {.work = launch_some, .environment = "off", .calls = 1};
    (void)state;
    expect_success(&p);
    assert_string_equal(text_of("output"), "");
}

static void launch_in_two_contexts(world *w) {
    ze_context_desc_t desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, NULL, 0};
    ze_context_handle_t own = w->context, other;
    ze_command_list_handle_t list;
    launch_some(w);
    ok(zeContextCreate(w->driver, &desc, &other));
    w->context = other;
    create_immediate(w, &list);
    w->context = own;
    launch(w, list);
    launch(w, list);
    finish_immediate(w, list);
    ok(zeCommandListDestroy(list));
    ok(zeContextDestroy(other));
}

/* Many contexts at once, each with its own work. */
enum { CONTEXTS = 70 };

static void launch_in_many_contexts(world *w) {
    ze_context_desc_t desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, NULL, 0};
    ze_context_handle_t own = w->context, contexts[CONTEXTS];
    ze_command_list_handle_t lists[CONTEXTS];
    for (int i = 0; i < CONTEXTS; i++) {
        ok(zeContextCreate(w->driver, &desc, &contexts[i]));
        w->context = contexts[i];
        create_immediate(w, &lists[i]);
        w->context = own;
        launch(w, lists[i]);
        finish_immediate(w, lists[i]);
    }
    for (int i = 0; i < CONTEXTS; i++) {
        ok(zeCommandListDestroy(lists[i]));
        ok(zeContextDestroy(contexts[i]));
    }
}

static void test_any_number_of_contexts(void **state) {
    char path[PATH_MAX], sum[32];
    (void)state;
    snprintf(path, sizeof path, "%s", in_directory("many.csv"));
    zt_auto_config config = {0};
    config.profiler.groups = "";
    const program p = {.work = launch_in_many_contexts, .environment = path, .config = &config, .calls = 1};
    expect_success(&p);
    snprintf(sum, sizeof sum, ",sum,%d,", CONTEXTS);
    assert_contains(line_of(text_of("many.csv"), "\"saxpy\",\"GPU time\""), sum);
    assert_no_second("many.2.csv");
}

/* At exit only standard error is left for messages, and for the table in place of the report. */
static void test_a_report_that_cannot_be_written(void **state) {
    const program p = {.work = launch_some, .environment = "/nowhere/at/all.csv", .calls = 1};
    (void)state;
    expect_success(&p);
    assert_contains(text_of("errors"), "zetools: [CANNOT_WRITE]");
    assert_contains(text_of("errors"), "/nowhere/at/all.csv");
    assert_contains(text_of("errors"), "\nsaxpy ");
    assert_string_equal(text_of("output"), "");
}

static void test_several_reports(void **state) {
    char paths[PATH_MAX];
    (void)state;
    int length = snprintf(paths, sizeof paths, "%s, table,", in_directory("several.csv"));
    snprintf(paths + length, sizeof paths - (size_t)length, "%s", in_directory("several.trace.json"));
    const program p = {.work = launch_in_two_contexts, .environment = paths, .calls = 1};
    expect_success(&p);
    assert_contains(line_of(text_of("several.csv"), "\"saxpy\",\"GPU time\""), ",sum,9,");
    assert_no_second("several.2.csv");
    assert_int_equal(occurrences(text_of("several.trace.json"), "\"ph\":\"X\",\"name\":\"saxpy\""), 9);
    assert_no_second("several.2.trace.json");
    assert_int_equal(occurrences(text_of("output"), "\nsaxpy "), 2); /* in two tables */
}

/* What kernels are made of needs no change to a program. */
static void test_kernels_are_reported(void **state) {
    const program p = {.work = launch_some, .environment = in_directory("kernels.json"), .calls = 1};
    (void)state;
    expect_success(&p);
    assert_contains(text_of("kernels.json"), "{\"name\":\"saxpy\",\"module\":\"");
    assert_contains(text_of("kernels.json"), "\"arguments\":4,");
}

/* A suffix that stands for no format is reported at the start, and not after hours of tracing. */
static void test_a_suffix_without_a_format(void **state) {
    const program p = {.work = launch_some,
                       .environment = "run.xlsx",
                       .calls = 1,
                       .result = ZE_RESULT_ERROR_INVALID_ARGUMENT};
    (void)state;
    expect_success(&p);
    assert_int_equal(occurrences(text_of("errors"), "[UNKNOWN_SUFFIX] zt_auto: "), 1);
    assert_int_equal(occurrences(text_of("errors"), "run.xlsx"), 1);
    assert_string_equal(text_of("output"), "");
}

/* A forked child that exits writes no report. The parent does. */
static void launch_and_fork(world *w) {
    int status;
    launch_some(w);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        exit(0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
#ifndef __SANITIZE_ADDRESS__ /* which takes what the parent has allocated for leaks of the child */
    assert_int_equal(WEXITSTATUS(status), 0);
#endif
    assert_int_equal(access(getenv("ZT_AUTO"), F_OK), -1);
}

static void test_a_forked_child(void **state) {
    char path[PATH_MAX];
    (void)state;
    snprintf(path, sizeof path, "%s", in_directory("forked.csv"));
    const program p = {.work = launch_and_fork, .environment = path, .calls = 1};
    expect_success(&p);
    assert_contains(line_of(text_of("forked.csv"), "\"saxpy\",\"GPU time\""), ",sum,7,");
}

/* A hook forks: the child returns from the call, and traces nothing any more. */
static pid_t forked = -1;

static void fork_in_hook(void *parameters, int result, void *user, void **instance) {
    (void)parameters, (void)result, (void)user, (void)instance;
    fflush(NULL);
    forked = fork();
}

static void launch_and_fork_in_hook(world *w) {
    ze_api_version_t version;
    int status = -1;
    launch_some(w);
    ze_result_t result = zeDriverGetApiVersion(w->driver, &version);
    if (forked == 0) {
        ze_result_t again = zeDriverGetApiVersion(w->driver, &version);
        _exit(result != ZE_RESULT_SUCCESS || again != ZE_RESULT_SUCCESS || forked != 0);
    }
    assert_true(forked > 0);
    ok(result);
    assert_int_equal(waitpid(forked, &status, 0), forked);
    assert_int_equal(status, 0);
    launch(w, w->immediate);
    finish_immediate(w, w->immediate);
}

static void test_a_fork_in_a_hook(void **state) {
    zt_hook hook = {"zeDriverGetApiVersion", fork_in_hook, NULL, NULL};
    (void)state;
    zt_auto_config config = {0};
    config.report = in_directory("hook.csv");
    config.trace.hooks = &hook;
    config.trace.hook_count = 1;
    config.trace.calls = "zeDriverGetApiVersion";
    const program p = {.work = launch_and_fork_in_hook, .config = &config, .calls = 1};
    expect_success(&p);
    assert_contains(line_of(text_of("hook.csv"), "\"saxpy\",\"GPU time\""), ",sum,8,");
    assert_contains(line_of(text_of("hook.csv"), "\"zeDriverGetApiVersion\",\"host time\""), ",sum,1,");
}

/* A forked child may call zt_auto for itself. What it inherits is not its own: neither a report, nor whether
   something is traced. */
static void fork_and_start(world *w) {
    static const char *const calls[] = {"zeCommandQueeExecute", "zeCommandQueue*"};
    launch_some(w);
    for (int i = 0; i < 2; i++) {
        int status;
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            setenv("ZT_CALLS", calls[i], 1);
            assert_result(zt_auto(NULL), i ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT);
            fprintf(stderr, "child %d exits\n", i);
            exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
#ifndef __SANITIZE_ADDRESS__ /* as above */
        assert_int_equal(WEXITSTATUS(status), 0);
#endif
        assert_int_equal(access(getenv("ZT_AUTO"), F_OK), -1);
    }
}

static void test_a_forked_child_that_calls_it(void **state) {
    char path[PATH_MAX];
#ifdef __SANITIZE_THREAD__ /* which allows a forked child no threads */
    skip();
#endif
    (void)state;
    snprintf(path, sizeof path, "%s", in_directory("of parent.csv"));
    const program p = {.work = fork_and_start, .environment = path, .calls = 1};
    expect_success(&p);
    assert_contains(line_of(text_of("of parent.csv"), "\"saxpy\",\"GPU time\""), ",sum,7,");
    assert_contains(text_of("errors"), "nothing is traced. [NO_SUCH_CALL]");
    const char *second = strstr(text_of("errors"), "child 1 exits\n");
    assert_non_null(second);
    assert_int_equal(occurrences(text_of("errors"), "created no command list"), 1);
    assert_contains(second, "created no command list");
}

/* A trace needs config.timeline, which is set if ZT_AUTO names a trace. */
static void test_a_trace_by_the_environment(void **state) {
    char path[PATH_MAX];
    (void)state;
    snprintf(path, sizeof path, "%s", in_directory("environment.trace.json"));
    const program p = {.work = launch_some, .environment = path, .calls = 1};
    expect_success(&p);
    assert_contains(text_of("environment.trace.json"), "\"name\":\"saxpy\"");
}

static void name_the_process(world *w) {
    FILE *file = fopen(in_directory("process"), "w");
    assert_non_null(file);
    fprintf(file, "%ld", (long)getpid());
    fclose(file);
    launch_some(w);
}

/* The case of the letters in a suffix does not matter, nor does it for the reports that are numbered. */
static void test_a_trace_by_a_suffix_in_capitals(void **state) {
    char path[PATH_MAX];
    (void)state;
    snprintf(path, sizeof path, "%s", in_directory("run.TRACE.JSON"));
    const program p = {.work = launch_in_two_contexts, .environment = path, .calls = 1};
    expect_success(&p);
    assert_contains(text_of("run.TRACE.JSON"), "\"name\":\"saxpy\"");
    assert_no_second("run.2.TRACE.JSON");
}

/* A page shows the timeline, which is kept for it. */
static void test_a_page_by_the_environment(void **state) {
    char path[PATH_MAX];
    (void)state;
    snprintf(path, sizeof path, "%s", in_directory("environment.Html"));
    const program p = {.work = launch_some, .environment = path, .calls = 1};
    expect_success(&p);
    assert_contains(text_of("environment.Html"), "\"timeline\":{\"samples\":7,\"span_ns\":");
}

/* Processes that inherit one ZT_AUTO write files of their own. */
static void test_a_path_of_the_process(void **state) {
    char path[PATH_MAX], name[64];
    (void)state;
    snprintf(path, sizeof path, "%s", in_directory("of %q{ZT_TEST_RANK} of %p.csv"));
    const program p = {
        .work = name_the_process, .environment = path, .calls = 1, .variables = {"ZT_TEST_RANK", "7"}};
    expect_success(&p);
    snprintf(name, sizeof name, "of 7 of %ld.csv", atol(text_of("process")));
    assert_contains(line_of(text_of(name), "\"saxpy\",\"GPU time\""), ",sum,7,");
    assert_string_equal(text_of("output"), "");
}

static void test_one_report_of_all_contexts(void **state) {
    char path[PATH_MAX];
    (void)state;
    snprintf(path, sizeof path, "%s", in_directory("each.csv"));
    const program p = {.work = launch_in_two_contexts, .environment = path, .calls = 1};
    expect_success(&p);
    assert_contains(line_of(text_of("each.csv"), "\"saxpy\",\"GPU time\""), ",sum,9,");
    assert_null(strstr(text_of("each.csv"), "device 0")); /* there is one device */
    assert_no_second("each.2.csv");
}

/* The device is asked for its design bandwidth before the context is destroyed, too. */
static void test_the_peak_of_a_destroyed_context(void **state) {
    char path[PATH_MAX];
    (void)state;
    snprintf(path, sizeof path, "%s", in_directory("peak.json"));
    const program p = {.work = launch_in_two_contexts, .environment = path, .calls = 1};
    const program given = {
        .work = launch_in_two_contexts, .environment = path, .calls = 1, .variables = {"ZT_PEAKS", "7e9"}};
    expect_success(&p);
    assert_contains(text_of("peak.json"),
                    "\"peaks\":{\"source\":\"reported by the driver\",\"bytes_per_second\":51000000000,");
    expect_success(&given);
    assert_contains(text_of("peak.json"),
                    "\"peaks\":{\"source\":\"given by ZT_PEAKS\",\"bytes_per_second\":7000000000,");
}

/* A context is destroyed with an event in it, by which a launch is measured. */
static void launch_and_leave_the_event(world *w) {
    ze_context_desc_t of_context = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, NULL, 0};
    ze_event_pool_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, NULL, ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 1};
    ze_event_desc_t of_event = {ZE_STRUCTURE_TYPE_EVENT_DESC, NULL, 0, ZE_EVENT_SCOPE_FLAG_HOST, 0};
    ze_group_count_t groups = {WORK_GROUPS, 1, 1};
    ze_context_handle_t own = w->context;
    ze_event_pool_handle_t pool;
    ze_event_handle_t event;
    ze_command_list_handle_t list;
    ok(zeContextCreate(w->driver, &of_context, &w->context));
    ok(zeEventPoolCreate(w->context, &desc, 1, &w->device, &pool));
    ok(zeEventCreate(pool, &of_event, &event));
    create_immediate(w, &list);
    ok(zeCommandListAppendLaunchKernel(list, w->kernel, &groups, event, 0, NULL));
    w->launches++;
    ok(zeEventHostSynchronize(event, A_WHILE));
    ok(zeCommandListDestroy(list));
    ok(zeContextDestroy(w->context));
    w->context = own;
}

static void test_a_context_that_ends_with_its_events(void **state) {
    char path[PATH_MAX];
    (void)state;
    snprintf(path, sizeof path, "%s", in_directory("ended.csv"));
    const program p = {.work = launch_and_leave_the_event,
                       .environment = path,
                       .calls = 1,
                       .keeps_everything = 1,
                       .variables = {"ZT_GROUPS", ""}};
    expect_success(&p);
    assert_contains(line_of(text_of("ended.csv"), "\"saxpy\",\"GPU time\""), ",sum,1,");
}

/* Metrics are wanted, and there are none: launches are measured as with times alone. */
static void launch_recorded_with_an_event(world *w) {
    ze_event_pool_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, NULL, ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 1};
    ze_event_desc_t of_event = {ZE_STRUCTURE_TYPE_EVENT_DESC, NULL, 0, ZE_EVENT_SCOPE_FLAG_HOST, 0};
    ze_group_count_t groups = {WORK_GROUPS, 1, 1};
    ze_event_pool_handle_t pool;
    ze_event_handle_t event;
    ok(zeEventPoolCreate(w->context, &desc, 1, &w->device, &pool));
    ok(zeEventCreate(pool, &of_event, &event));
    ok(zeCommandListAppendLaunchKernel(w->list, w->kernel, &groups, event, 0, NULL));
    ok(zeCommandListClose(w->list));
    execute_unprofiled(w, w->list);
    w->launches++;
    ok(zeEventDestroy(event));
    ok(zeEventPoolDestroy(pool));
}

static void test_metrics_that_are_not_to_be_had(void **state) {
    (void)state;
    const program p = {.work = launch_recorded_with_an_event,
                       .environment = "-",
                       .calls = 1,
                       .variables = {"ZET_ENABLE_METRICS", "0"}};
    hide_symbol("zetDeviceEnableMetricsExp"); /* with which the library enables them */
    expect_success(&p);
    hide_symbol(NULL);
    assert_contains(text_of("output"), "There are no metrics");
    assert_contains(line_of(text_of("output"), "saxpy"), "100");
    assert_null(strstr(text_of("output"), "between barriers"));
}

static void test_one_trace_of_all_contexts(void **state) {
    char path[PATH_MAX];
    (void)state;
    snprintf(path, sizeof path, "%s", in_directory("each.trace.json"));
    zt_auto_config config = {0};
    config.profiler.timeline = 100;
    const program p = {.work = launch_in_two_contexts, .environment = path, .config = &config, .calls = 1};
    expect_success(&p);
    assert_int_equal(occurrences(text_of("each.trace.json"), "\"ph\":\"X\",\"name\":\"saxpy\""), 9);
    assert_no_second("each.2.trace.json");
}

/* Strings of the configuration may be gone when a list is created. */
static void test_names_may_go(void **state) {
    char path[PATH_MAX], metrics[] = "COPY_BYTE_COUNT", columns[] = "FILL_BYTE_COUNT", names[] = "s*";
    int status;
    (void)state;
    snprintf(path, sizeof path, "%s", in_directory("names.csv"));
    zt_auto_config config = {0};
    config.report = path;
    config.profiler.metrics = metrics;
    config.profiler.columns = columns;
    config.trace.names = names;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        void *opened = NULL;
        ok(zt_auto(&config));
        memset(path, 'x', strlen(path));
        memset(metrics, 'x', strlen(metrics));
        memset(columns, 'x', strlen(columns));
        memset(names, 'x', strlen(names));
        start(&opened);
        open_world(&opened);
        launch_some(opened);
        close_world(&opened);
        exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    line_of(text_of("names.csv"), "\"saxpy\",\"COPY_BYTE_COUNT\",\"MemoryProfile\"");
}

/* ==== what the environment chooses ======================================================================== */

static void test_kernels_by_the_environment(void **state) {
    zt_auto_config config = {0};
    config.trace.names = "nothing";
    const program chosen = {
        .work = launch_some, .config = &config, .calls = 1, .variables = {"ZT_KERNELS", "re*,sax?y"}};
    const program excluded = {.work = launch_some, .calls = 1, .variables = {"ZT_KERNELS", "!saxpy"}};
    unsigned count = 0;
    (void)state;
    expect_success(&chosen);
    assert_int_equal(sscanf(line_of(text_of("output"), "saxpy "), "saxpy %*f %u", &count), 1);
    assert_int_equal(count, 7);
    expect_success(&excluded);
    assert_null(strstr(text_of("output"), "saxpy"));
    assert_contains(text_of("output"), "4 launches: 0 measured, 4 left out");
}

static void copy_twice(world *w) {
    for (int i = 0; i < 2; i++)
        ok(zeCommandListAppendMemoryCopy(w->immediate, w->sums, w->sums + 16, 16, NULL, 0, NULL));
    ok(zeCommandListAppendMemoryFill(w->immediate, w->sums, w->sums + 16, 4, 64, NULL, 0, NULL));
    finish_immediate(w, w->immediate);
}

/* A report without a region is followed by what was seen: on the same output, or on standard error. */
static void test_copies_by_the_environment(void **state) {
    char path[PATH_MAX];
    (void)state;
    snprintf(path, sizeof path, "%s", in_directory("copies.csv"));
    const program unmeasured = {.work = copy_twice, .calls = 1};
    const program in_file = {.work = copy_twice, .environment = path, .calls = 1};
    const program measured = {
        .work = copy_twice, .environment = path, .calls = 1, .variables = {"ZT_COPIES", "1"}};
    expect_success(&unmeasured);
    assert_contains(text_of("output"), "\n3 copies and fills were not measured: set ZT_COPIES=1.\n");
    assert_no_messages();
    expect_success(&in_file);
    assert_string_equal(text_of("output"), "");
    assert_contains(text_of("errors"),
                    "zetools: zt_auto: 3 copies and fills were not measured: set ZT_COPIES=1.\n");
    assert_contains(text_of("copies.csv"), "\"3 copies and fills were not measured: set ZT_COPIES=1.\"");
    expect_success(&measured);
    assert_contains(line_of(text_of("copies.csv"), "\"MemoryCopy\",\"GPU time\""), ",sum,2,");
    assert_contains(line_of(text_of("copies.csv"), "\"MemoryFill\",\"GPU time\""), ",sum,1,");
    char message[PATH_MAX + 32];
    snprintf(message, sizeof message, "zetools: wrote %s\n", path);
    assert_contains(text_of("errors"), message);
    assert_int_equal(occurrences(text_of("errors"), "zetools: "), 1);
}

static void test_no_copies_by_the_environment(void **state) {
    zt_auto_config config = {0};
    config.trace.copies = 1;
    const program p = {.work = copy_twice, .config = &config, .calls = 1, .variables = {"ZT_COPIES", "0"}};
    (void)state;
    expect_success(&p);
    assert_contains(text_of("output"), "3 copies and fills");
}

static void load_a_module(world *w) {
    ok(zeModuleDestroy(load_module(w, "build/kernels/saxpy.so", "")));
    launch_some(w);
}

/* The module of the world, which saxpy.so is as well, leaves the same files. */
static void test_modules_by_the_environment(void **state) {
    char directory[PATH_MAX];
    (void)state;
    snprintf(directory, sizeof directory, "%s", in_directory("modules"));
    const program p = {.work = load_a_module, .calls = 1, .variables = {"ZT_MODULES", directory}};
    const program unwritable = {
        .work = load_a_module, .calls = 1, .variables = {"ZT_MODULES", "/dev/null/modules"}};
    expect_success(&p);
    assert_no_messages();
    DIR *files = opendir(directory);
    assert_non_null(files);
    int elf = 0, debug = 0;
    for (struct dirent *file; (file = readdir(files));) {
        elf += strstr(file->d_name, ".elf") != NULL;
        debug += strstr(file->d_name, ".debug") != NULL;
    }
    closedir(files);
    assert_int_equal(elf, 1);
    assert_int_equal(debug, 1);
    expect_success(&unwritable);
    assert_contains(text_of("output"),
                    "Writing files of modules has failed. [MODULE_NOT_SAVED] mkdir failed");
}

static void expect_profile_flags(world *w) {
    zet_profile_properties_t properties = {.stype = ZET_STRUCTURE_TYPE_PROFILE_PROPERTIES};
    ok(zetKernelGetProfileInfo((zet_kernel_handle_t)w->kernel, &properties));
    assert_int_equal(properties.flags, 3);
    assert_string_equal(getenv("ZET_ENABLE_PROGRAM_INSTRUMENTATION"), "1");
    launch_some(w);
}

static void test_profile_flags_by_the_environment(void **state) {
    const program p = {.work = expect_profile_flags, .calls = 1, .variables = {"ZT_PROFILE_FLAGS", "0x3"}};
    const program wrong = {
        .calls = 1, .result = ZE_RESULT_ERROR_INVALID_ARGUMENT, .variables = {"ZT_PROFILE_FLAGS", "0x3 "}};
    (void)state;
    expect_success(&p);
    assert_no_messages();
    expect_success(&wrong);
    assert_contains(text_of("errors"),
                    "nothing is traced. [BAD_PROFILE_FLAGS] zt_auto: ZT_PROFILE_FLAGS is '0x3 '");
}

static void do_nothing(world *w) {
    (void)w;
}

static void phase_alone(world *w) {
    (void)w;
    ZT_PHASE("step") {
    }
}

static void test_nothing_to_measure(void **state) {
    char path[PATH_MAX];
    (void)state;
    snprintf(path, sizeof path, "%s", in_directory("nothing.csv"));
    const program table = {.work = do_nothing, .calls = 1};
    const program phase = {.work = phase_alone, .environment = path, .calls = 1};
    const program file = {.work = do_nothing, .environment = path, .calls = 1}, without_lists = {.calls = 1};
    const program left_out = {
        .work = launch_some, .environment = path, .calls = 1, .variables = {"ZT_KERNELS", "!saxpy"}};
    expect_success(&table);
    assert_contains(text_of("output"), "No kernel was launched while tracing.");
    expect_success(&file);
    assert_contains(text_of("errors"), "zetools: zt_auto: No kernel was launched while tracing.\n");
    expect_success(&phase);
    assert_contains(text_of("errors"), "zetools: zt_auto: No kernel was launched while tracing.\n");
    assert_null(strstr(text_of("errors"), "copies"));
    expect_success(&left_out);
    assert_contains(text_of("errors"),
                    "zetools: zt_auto: 4 launches: 0 measured, 4 left out by ZT_KERNELS, ");
    expect_success(&without_lists);
    assert_string_equal(text_of("output"), "");
    assert_contains(text_of("errors"), "created no command list");
}

static void test_calls_by_the_environment(void **state) {
    char path[PATH_MAX];
    (void)state;
    snprintf(path, sizeof path, "%s", in_directory("calls.csv"));
    const program p = {
        .work = launch_some, .environment = path, .calls = 1, .variables = {"ZT_CALLS", "zeCommandQueue*"}};
    const program unknown = {.work = launch_some,
                             .calls = 1,
                             .result = ZE_RESULT_ERROR_INVALID_ARGUMENT,
                             .variables = {"ZT_CALLS", "zeCommandQeueExecute"}};
    expect_success(&p);
    line_of(text_of("calls.csv"), "\"zeCommandQueueExecuteCommandLists\",\"host time\"");
    expect_success(&unknown);
    assert_contains(text_of("errors"), "zetools: zt_auto: nothing is traced. [NO_SUCH_CALL] zt_auto: '");
    assert_contains(text_of("errors"), "zeCommandQeueExecute");
}

static void test_a_timeline_by_the_environment(void **state) {
    char path[PATH_MAX];
    (void)state;
    snprintf(path, sizeof path, "%s", in_directory("timeline.trace.json"));
    const program p = {
        .work = launch_some, .environment = path, .calls = 1, .variables = {"ZT_TIMELINE", "3"}};
    expect_success(&p);
    assert_int_equal(occurrences(text_of("timeline.trace.json"), "\"name\":\"saxpy\""), 3);
}

/* ZT_REPORT goes beside ZT_AUTO, and has what the tracer knows. */
static void test_reports_at_close_as_well(void **state) {
    char path[PATH_MAX];
    (void)state;
    snprintf(path, sizeof path, "%s", in_directory("at close.csv"));
    const program p = {.work = launch_some,
                       .calls = 1,
                       .variables = {"ZT_REPORT", path, "ZT_CALLS", "zeCommandListAppendLaunchKernel"}};
    expect_success(&p);
    assert_contains(text_of("output"), "\nsaxpy ");
    assert_contains(line_of(text_of("at close.csv"), "\"saxpy\",\"GPU time\""), ",sum,7,");
    assert_contains(line_of(text_of("at close.csv"), "\"zeCommandListAppendLaunchKernel\",\"host time\""),
                    ",sum,4,");
}

/* No name gets a number that is not of a file. */
static void test_a_device_as_report(void **state) {
    const program p = {.work = launch_in_two_contexts, .environment = "/dev/null", .calls = 1};
    (void)state;
    expect_success(&p);
    assert_int_equal(access("/dev/null.2", F_OK), -1);
    assert_null(strstr(text_of("errors"), "zetools: ")); /* a layer may have written, too */
}

/* Standard error is a file here, which keeps what is in it. */
static void write_and_launch(world *w) {
    fprintf(stderr, "before\n");
    launch_in_two_contexts(w);
}

static void test_a_report_on_standard_error(void **state) {
    const program p = {.work = write_and_launch, .environment = "/dev/stderr", .calls = 1};
    (void)state;
    expect_success(&p);
    assert_int_equal(strncmp(text_of("errors"), "before\n", 7), 0);
    assert_int_equal(occurrences(text_of("errors"), "GPU time of regions on "), 1);
    assert_string_equal(text_of("output"), "");
}

static void test_turned_off_in_capitals(void **state) {
    const program p = {.work = launch_some, .environment = "OFF", .calls = 1};
    (void)state;
    expect_success(&p);
    assert_string_equal(text_of("output"), "");
    assert_int_equal(remove("OFF"), -1);
}

static void copy_alone(world *w) {
    ok(zeCommandListAppendMemoryCopy(w->immediate, w->sums, w->sums, 4, NULL, 0, NULL));
    finish_immediate(w, w->immediate);
}

/* An empty table has the reason below it. */
static void test_nothing_is_launched(void **state) {
    const program p = {.work = copy_alone, .calls = 1};
    (void)state;
    expect_success(&p);
    assert_contains(text_of("output"), "No kernel was launched while tracing.\n1 copy or fill was not");
}

static void copy_in_two_contexts(world *w) {
    ze_context_desc_t desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, NULL, 0};
    ze_context_handle_t own = w->context, other;
    ze_command_list_handle_t list;
    ok(zeContextCreate(w->driver, &desc, &other));
    w->context = other;
    create_immediate(w, &list);
    w->context = own;
    ok(zeCommandListAppendMemoryCopy(list, w->sums, w->sums, 4, NULL, 0, NULL));
    ok(zeCommandListAppendMemoryCopy(list, w->sums, w->sums, 4, NULL, 0, NULL));
    finish_immediate(w, list);
    ok(zeCommandListDestroy(list));
    ok(zeContextDestroy(other));
    copy_alone(w);
}

/* The table has what it does not show of either. */
static void test_nothing_is_launched_in_two_contexts(void **state) {
    const program p = {.work = copy_in_two_contexts, .calls = 1};
    (void)state;
    expect_success(&p);
    assert_contains(text_of("output"), "3 copies and fills were not measured: set ZT_COPIES=1.\n");
}

static void test_all_launches_are_left_out(void **state) {
    zt_auto_config config = {0};
    config.trace.names = "gemm*";
    const program p = {.work = launch_some, .config = &config, .calls = 1};
    (void)state;
    expect_success(&p);
    assert_contains(text_of("output"),
                    "4 launches: 0 measured, 4 left out by ZT_KERNELS, zt_trace_config or a pause.\n");
}

/* ==== what is missing ===================================================================================== */

static int is_enabling_hidden;

/* Loaders that cannot enable the tracing layer later look for a variable in zeInit. Others may switch it off, if it was not
   set. */
static int start_and_trace(void) {
    void *state = NULL;
    unsetenv("ZE_ENABLE_TRACING_LAYER");
    hide_symbol(is_enabling_hidden ? "zelEnableTracingLayer" : NULL);
    ok(zt_auto(NULL));
    assert_string_equal(getenv("ZE_ENABLE_TRACING_LAYER"), "1");
    start(&state);
    open_world(&state);
    launch_some(state);
    close_world(&state);
    return 0;
}

/* Allocations fail one by one, from the first one on, until none is left. Each time there is a reason, and
   the next call succeeds. */
static int start_without_memory(void) {
    void *state = NULL;
    zt_auto_config config = {0};
    ze_result_t result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    uint64_t nth = 1;
    int has_grown = 0; /* once: what all copies of the header share stays */
    setenv("ZE_ENABLE_TRACING_LAYER", "1", 1);
    start(&state);
    config.report = in_directory("memory.csv");
    config.profiler.groups = "ComputeBasic";
    config.profiler.metrics = "GPGPU_THREADGROUP_COUNT";
    config.profiler.columns = "GPGPU_THREADGROUP_COUNT";
    for (; result != ZE_RESULT_SUCCESS; nth++) {
        heap_use before = library_memory();
        assert_true(nth < 1000);
        fail_heap(nth, 0);
        result = zt_auto(&config);
        fail_heap(0, 0);
        if (result == ZE_RESULT_SUCCESS)
            break;
        assert_result(result, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
        assert_contains(zt_last_error(NULL), "zt_auto");
        int grows = library_memory().bytes != before.bytes;
        assert_false(grows && has_grown);
        has_grown |= grows;
    }
    assert_true(nth > 5); /* four strings and the tracer */
    open_world(&state);
    launch_some(state);
    close_world(&state);
    return 0;
}

/* Runs a function in a process of its own. */
static void expect_success_of(int (*function)(void)) {
    int status;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (!freopen(in_directory("output"), "w", stdout) || !freopen(in_directory("errors"), "w", stderr))
            _exit(99);
        setenv("CMOCKA_TEST_ABORT", "1", 1); /* likewise */
        exit(function());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (status != 0)
        fail_msg("the program ended with status 0x%x:\n%s", (unsigned)status, text_of("errors"));
}

/* ==== calls that switch the loader's layer off ============================================================= */

/* Loaders from 1.15.7 on replace their table of functions by one without the tracing layer in the first call of each of
   zeInit, zeInitDrivers and zesInit, although the layer was enabled. */
static int call_init_drivers(void) {
    const struct {
        uint32_t stype;
        const void *next;
        uint32_t flags;
    } gpus = {0x00020021, NULL, 1};
    ze_result_t (*init)(uint32_t *, ze_driver_handle_t *, const void *);
    uint32_t count = 0;
    *(void **)&init = dlsym(RTLD_DEFAULT, "zeInitDrivers");
    if (init)
        ok(init(&count, NULL, &gpus));
    return init != NULL;
}

static int call_system_management(void) {
    ze_result_t (*init)(uint32_t);
    *(void **)&init = dlsym(RTLD_DEFAULT, "zesInit");
    if (init)
        ok(init(0));
    return init != NULL;
}

static int (*const first_calls[])(void) = {call_init_drivers, call_system_management};
static int (*first_call)(void);

static void launch_some_more(world *w) {
    for (int i = 0; i < 3; i++)
        launch(w, w->immediate);
    finish_immediate(w, w->immediate);
}

static void launch_before_and_after_a_first_call(world *w) {
    launch_some(w);
    first_call();
    launch_some_more(w);
}

/* zesInit is called by the library, when it opens the first profiler. */
static void test_power_by_the_environment(void **state) {
    const program p = {.work = launch_some,
                       .environment = in_directory("power.csv"),
                       .calls = 1,
                       .variables = {"ZT_POWER", "1"}};
    (void)state;
    expect_success(&p);
    assert_contains(line_of(text_of("power.csv"), "\"saxpy\",\"GPU time\""), ",sum,7,");
}

/* Programs that find their drivers by zeInitDrivers, such as those of SYCL, call it after zt_auto. */
static void test_first_calls_of_a_program(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof first_calls / sizeof *first_calls; i++) {
        const program p = {.work = launch_before_and_after_a_first_call,
                           .environment = in_directory("first.csv"),
                           .calls = 1};
        first_call = first_calls[i];
        expect_success(&p);
        assert_contains(line_of(text_of("first.csv"), "\"saxpy\",\"GPU time\""), ",sum,10,");
        assert_null(strstr(text_of("first.csv"), "tracing layer"));
    }
}

/* Once the loader is initialised, zt_auto cannot prevent it: the report says so. The context is destroyed unseen, so
   what belongs to it stays. */
static int trace_after_zeinit(void) {
    void *state = NULL;
    unsetenv("ZE_ENABLE_TRACING_LAYER");
    setenv("ZT_AUTO", in_directory("late.csv"), 1);
    if (!dlsym(RTLD_DEFAULT, "zelEnableTracingLayer"))
        setenv("ZE_ENABLE_TRACING_LAYER", "1", 1);
    start(&state);
    ok(zt_auto(NULL));
    open_leaky_world(&state);
    launch_before_and_after_a_first_call(state);
    check_work(state);
    abandon_world(&state);
    return 0;
}

static void test_a_first_call_that_is_seen_too_late(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof first_calls / sizeof *first_calls; i++) {
        int is_lost = dlsym(RTLD_DEFAULT, "zelEnableTracingLayer") != NULL;
        first_call = first_calls[i];
        expect_success_of(trace_after_zeinit);
        if (!is_lost)
            assert_contains(line_of(text_of("late.csv"), "\"saxpy\",\"GPU time\""), ",sum,10,");
        assert_int_equal(occurrences(text_of("late.csv"), "tracing layer was switched off"), is_lost);
    }
}

/* Nothing is seen at all. */
static int trace_nothing_after_zeinit(void) {
    void *state = NULL;
    unsetenv("ZE_ENABLE_TRACING_LAYER");
    setenv("ZT_AUTO", "-", 1);
    if (!dlsym(RTLD_DEFAULT, "zelEnableTracingLayer"))
        setenv("ZE_ENABLE_TRACING_LAYER", "1", 1);
    start(&state);
    ok(zt_auto(NULL));
    call_init_drivers();
    open_world(&state);
    launch_some(state);
    close_world(&state);
    return 0;
}

static void test_a_first_call_before_all_launches(void **state) {
    int is_lost = dlsym(RTLD_DEFAULT, "zelEnableTracingLayer") && dlsym(RTLD_DEFAULT, "zeInitDrivers");
    (void)state;
    expect_success_of(trace_nothing_after_zeinit);
    assert_null(strstr(text_of("errors"), "created no command list"));
    assert_int_equal(occurrences(text_of("errors"), "tracing layer was switched off"), is_lost);
    assert_int_equal(occurrences(text_of("output"), "\nsaxpy ") > 0, !is_lost);
}

/* A collection finds it, and enables the layer again. */
static int trace_by_hand(void) {
    void *state = NULL;
    unsetenv("ZE_ENABLE_TRACING_LAYER");
    if (!dlsym(RTLD_DEFAULT, "zelEnableTracingLayer"))
        setenv("ZE_ENABLE_TRACING_LAYER", "1", 1);
    start(&state);
    open_world(&state);
    world *w = state;
    zt_config config = {0}, reads_power = {0};
    zt_profiler *profiler, *other;
    config.groups = reads_power.groups = "";
    reads_power.power = first_call == call_system_management; /* the library calls it itself */
    ok(zt_open(w->context, w->device, &config, &profiler));
    ok(zt_trace_start(profiler, NULL));
    launch_some(w);
    ok(zt_open(w->context, w->device, &reads_power, &other));
    if (!reads_power.power)
        first_call();
    zt_collect(profiler, 0);
    launch_some_more(w);
    ok(zt_report(profiler, in_directory("hand.csv")));
    ok(zt_trace_stop(profiler));
    zt_close(other);
    zt_close(profiler);
    close_world(&state);
    return 0;
}

static void test_a_layer_that_is_enabled_again(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof first_calls / sizeof *first_calls; i++) {
        int is_lost = dlsym(RTLD_DEFAULT, "zelEnableTracingLayer") && dlsym(RTLD_DEFAULT, "zeInitDrivers") &&
                      first_calls[i] == call_init_drivers;
        first_call = first_calls[i];
        expect_success_of(trace_by_hand);
        assert_contains(line_of(text_of("hand.csv"), "\"saxpy\",\"GPU time\""), ",sum,10,");
        assert_int_equal(occurrences(text_of("hand.csv"), "tracing layer was switched off"), is_lost);
    }
}

static void test_a_loader_that_cannot_enable_tracing(void **state) {
    (void)state;
    for (is_enabling_hidden = 0; is_enabling_hidden <= 1; is_enabling_hidden++) {
        unsigned count = 0;
        expect_success_of(start_and_trace);
        assert_int_equal(sscanf(line_of(text_of("output"), "saxpy "), "saxpy %*f %u", &count), 1);
        assert_int_equal(count, 7);
    }
}

static void test_without_memory(void **state) {
    (void)state;
    expect_success_of(start_without_memory);
    assert_contains(line_of(text_of("memory.csv"), "\"saxpy\",\"GPU time\""), ",sum,7,");
    assert_contains(text_of("errors"), "zetools: zt_auto: nothing is traced. [");
}

static uint64_t failing; /* the allocation at exit */

static void fail_at_exit(void) {
    fail_heap(failing, 0);
}

static int idle_without_memory(void) {
    void *state = NULL;
    zt_auto_config config = {0};
    setenv("ZE_ENABLE_TRACING_LAYER", "1", 1);
    start(&state);
    config.report = in_directory("idle.zt");
    ok(zt_auto(&config));
    atexit(fail_at_exit); /* before the reports */
    return 0;
}

/* At exit, allocations fail one by one, until there is a file: one of the profiler, two of its columns, and more of the
   file. */
static void test_an_idle_rank_without_memory(void **state) {
    (void)state;
    for (failing = 1; access(in_directory("idle.zt"), F_OK) != 0; failing++) {
        assert_true(failing < 100);
        expect_success_of(idle_without_memory);
    }
    assert_true(failing > 5);
}

/* With ZT_LOG, the message is printed before, and not again. */
static void test_a_failure_is_printed_once(void **state) {
    const program p = {.calls = 1,
                       .environment = "run.xlsx",
                       .result = ZE_RESULT_ERROR_INVALID_ARGUMENT,
                       .variables = {"ZT_LOG", "stderr"}};
    (void)state;
    expect_success(&p);
    assert_int_equal(occurrences(text_of("errors"), "[UNKNOWN_SUFFIX]"), 1);
    assert_contains(text_of("errors"), "zetools: zt_auto: nothing is traced.\n");
}

/* ==== contexts and devices ================================================================================ */

static void launch_in_new_context(world *w, int is_refused, uint32_t launches) {
    ze_context_desc_t desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, NULL, 0};
    ze_context_handle_t own = w->context, other;
    ze_command_list_handle_t list;
    ok(zeContextCreate(w->driver, &desc, &other));
    w->context = other;
    if (is_refused)
        inject("zeEventPoolCreate", 1, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    create_immediate(w, &list);
    w->context = own;
    for (uint32_t i = 0; i < launches; i++)
        launch(w, list);
    finish_immediate(w, list);
    ok(zeCommandListDestroy(list));
    ok(zeContextDestroy(other));
}

static void launch_where_nothing_opens(world *w) {
    launch_in_new_context(w, 1, 3);
    launch_in_new_context(w, 1, 3);
    launch_in_new_context(w, 0, 2);
    launch(w, w->immediate);
    finish_immediate(w, w->immediate);
}

/* A context that cannot be measured takes nothing from the others. */
static void test_contexts_that_cannot_be_measured(void **state) {
    (void)state;
    zt_auto_config config = {0};
    config.profiler.groups = "";
    const program p = {.work = launch_where_nothing_opens,
                       .environment = in_directory("refused.csv"),
                       .config = &config,
                       .calls = 1};
    expect_success(&p);
    assert_contains(line_of(text_of("refused.csv"), "\"saxpy\",\"GPU time\""), ",sum,3,");
    assert_contains(text_of("refused.csv"),
                    "6 of 9 launches could not be measured, because zt_auto could not open a "
                    "profiler for their context and device.");
    assert_contains(text_of("errors"),
                    "zetools: zt_auto did not measure 2 of the contexts and devices. The first: ");
    assert_contains(text_of("errors"), "zeEventPoolCreate failed: ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY");
}

/* Calls are in the report of the first context that is measured. */
static void test_a_first_context_that_cannot_be_measured(void **state) {
    (void)state;
    zt_auto_config config = {0};
    int status;
    config.report = in_directory("first.json");
    config.profiler.groups = "";
    config.trace.calls = "zeCommandQueue*";
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        void *opened = NULL;
        world w = {.driver = NULL};
        uint32_t count = 1;
        ze_context_desc_t desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, NULL, 0};
        ze_command_list_handle_t list;
        ok(zt_auto(&config));
        start(&opened);
        ok(zeDriverGet(&count, &w.driver));
        ok(zeDeviceGet(w.driver, &count, &w.device));
        ok(zeContextCreate(w.driver, &desc, &w.context));
        inject("zeEventPoolCreate", 1, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
        create_immediate(&w, &list);
        ok(zeCommandListDestroy(list));
        ok(zeContextDestroy(w.context));
        open_world(&opened);
        launch_some(opened);
        close_world(&opened);
        exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_contains(text_of("first.json"), "{\"name\":\"saxpy\",\"count\":7,");
    assert_contains(text_of("first.json"), "{\"name\":\"zeCommandQueueExecuteCommandLists\",\"count\":4,");
}

/* One allocation fails while a list is created, and none while the next one is. Prints how many contexts there are. */
static void launch_without_one_allocation(world *w) {
    ze_context_desc_t desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, NULL, 0};
    ze_context_handle_t own = w->context, other;
    int has_failed = 1;
    uint64_t nth = 0;
    while (has_failed) {
        ze_command_list_handle_t lists[2];
        assert_true(++nth < 1000);
        ok(zeContextCreate(w->driver, &desc, &other));
        w->context = other;
        uint64_t before = heap_allocations();
        fail_heap(nth, 0);
        create_immediate(w, &lists[0]);
        has_failed = heap_allocations() - before >= nth;
        fail_heap(0, 0);
        create_immediate(w, &lists[1]);
        w->context = own;
        for (int i = 0; i < 2; i++) {
            launch(w, lists[i]);
            finish_immediate(w, lists[i]);
            ok(zeCommandListDestroy(lists[i]));
        }
        ok(zeContextDestroy(other));
    }
    printf("\ncontexts: %u\n", (unsigned)nth);
}

/* Each context is either measured or counted as one that is not; nothing of it is left. */
static void test_contexts_without_memory(void **state) {
    (void)state;
    zt_auto_config config = {0};
    config.profiler.groups = "";
    const program p = {.work = launch_without_one_allocation,
                       .environment = in_directory("scarce.csv"),
                       .config = &config,
                       .calls = 1};
    unsigned contexts = 0, unmeasured = 0, measured = 0, launches = 0;
    expect_success(&p);
    assert_int_equal(sscanf(line_of(text_of("output"), "contexts: "), "contexts: %u", &contexts), 1);
    const char *refused = strstr(text_of("errors"), "zt_auto did not measure ");
    assert_non_null(refused);
    assert_int_equal(sscanf(refused, "zt_auto did not measure %u of the contexts", &unmeasured), 1);
    const char *sum = strstr(line_of(text_of("scarce.csv"), "\"saxpy\",\"GPU time\""), ",sum,");
    assert_int_equal(sscanf(sum, ",sum,%u,", &launches), 1);
    /* Of each context that is measured, one or two lists are: of some, the first list was not, and the second was. */
    measured = contexts - unmeasured;
    assert_in_range(launches, measured + 1, 2 * measured - 1);
}

/* The driver hangs while a list of a context is created, and meanwhile another thread creates one of another. */
static struct {
    ze_context_handle_t context; /* NULL: it does not hang */
    int is_held, may_go_on;
} hanging;

ze_result_t ZE_APICALL zeEventPoolCreate(ze_context_handle_t context, const ze_event_pool_desc_t *desc,
                                         uint32_t count, ze_device_handle_t *devices,
                                         ze_event_pool_handle_t *pool) {
    if (hanging.context && context == hanging.context) {
        __atomic_store_n(&hanging.is_held, 1, __ATOMIC_RELEASE);
        while (!__atomic_load_n(&hanging.may_go_on, __ATOMIC_ACQUIRE))
            nap();
    }
    return REAL(zeEventPoolCreate)(context, desc, count, devices, pool);
}

typedef struct hanging_list {
    world *w;
    ze_command_list_handle_t list;
} hanging_list;

static void *create_hanging(void *argument) {
    hanging_list *of = (hanging_list *)argument;
    const ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    ok_on_thread(zeCommandListCreateImmediate(hanging.context, of->w->device, &desc, &of->list));
    return NULL;
}

static void launch_times(world *w, ze_command_list_handle_t list, int times) {
    for (int i = 0; i < times; i++)
        launch(w, list);
    finish_immediate(w, list);
    ok(zeCommandListDestroy(list));
}

static void launch_beside_a_driver_that_hangs(world *w) {
    ze_context_desc_t desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, NULL, 0};
    ze_context_handle_t own = w->context, other;
    ze_command_list_handle_t during, after;
    hanging_list slow = {w, NULL};
    pthread_t creating, passing;
    int is_over = 0;
    ok(zeContextCreate(w->driver, &desc, &hanging.context));
    ok(zeContextCreate(w->driver, &desc, &other));
    assert_int_equal(pthread_create(&creating, NULL, create_hanging, &slow), 0);
    await(&hanging.is_held);
    assert_int_equal(pthread_create(&passing, NULL, pass_much_time, &is_over), 0);
    w->context = other;
    create_immediate(w, &during);
    __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
    join_in_time(w, passing);
    __atomic_store_n(&hanging.may_go_on, 1, __ATOMIC_RELEASE);
    join_in_time(w, creating);
    assert_no_noted_failure();
    create_immediate(w, &after);
    w->context = own;
    launch_times(w, slow.list, 2);
    launch_times(w, during, 3);
    launch_times(w, after, 4);
    ok(zeContextDestroy(hanging.context));
    ok(zeContextDestroy(other));
}

static void test_a_context_whose_driver_hangs(void **state) {
    (void)state;
    zt_auto_config config = {0};
    config.profiler.groups = "";
    const program p = {.work = launch_beside_a_driver_that_hangs,
                       .environment = in_directory("hanging.csv"),
                       .config = &config,
                       .calls = 1};
    expect_success(&p);
    assert_contains(line_of(text_of("hanging.csv"), "\"saxpy\",\"GPU time\""), ",sum,6,");
    assert_contains(text_of("hanging.csv"), "9 launches");
}

static void launch_in_contexts_that_come_back(world *w) {
    gpu.behave(SOFTGPU_HANDLES_COME_BACK, 1);
    for (uint32_t i = 1; i <= 3; i++)
        launch_in_new_context(w, 0, i);
}

/* A context may have the handle of one that was destroyed. */
static void test_contexts_that_come_back(void **state) {
    (void)state;
    zt_auto_config config = {0};
    config.profiler.groups = "";
    const program p = {.work = launch_in_contexts_that_come_back,
                       .environment = in_directory("again.csv"),
                       .config = &config,
                       .calls = 1};
    expect_success(&p);
    assert_contains(line_of(text_of("again.csv"), "\"saxpy\",\"GPU time\""), ",sum,6,");
}

static void fill_on_two_devices(world *w) {
    ze_device_handle_t devices[2];
    ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                    .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    ze_command_list_handle_t list;
    uint32_t count = 2;
    const float zero = 0;
    gpu.set_devices(2, 0);
    ok(zeDeviceGet(w->driver, &count, devices));
    assert_int_equal(count, 2);
    for (uint32_t i = 0; i < 2; i++) {
        ok(zeCommandListCreateImmediate(w->context, devices[i], &desc, &list));
        for (uint32_t n = 0; n <= i; n++)
            ok(zeCommandListAppendMemoryFill(list, w->sums, &zero, sizeof zero, sizeof zero, NULL, 0, NULL));
        ok(zeCommandListDestroy(list));
    }
}

static void test_two_devices_of_a_context(void **state) {
    (void)state;
    zt_auto_config config = {0};
    config.profiler.groups = "";
    config.trace.copies = 1;
    const program p = {.work = fill_on_two_devices,
                       .environment = in_directory("devices.csv"),
                       .config = &config,
                       .calls = 1};
    expect_success(&p);
    const char *text = text_of("devices.csv");
    assert_contains(line_of(text, "\"MemoryFill\",\"GPU time\""), ",sum,3,");
    assert_contains(line_of(text, "\"device 0: Software device;MemoryFill\",\"GPU time\""), ",sum,1,");
    assert_contains(line_of(text, "\"device 1: Software device;MemoryFill\",\"GPU time\""), ",sum,2,");
    assert_no_second("devices.2.csv");
}

/* The same kernel on two devices, once and twice. */
static void launch_on_two_devices(world *w) {
    ze_device_handle_t devices[2], own = w->device;
    ze_module_handle_t module = w->module;
    uint32_t count = 2;
    gpu.set_devices(2, 0);
    ok(zeDeviceGet(w->driver, &count, devices));
    for (uint32_t i = 0; i < 2; i++) {
        ze_command_list_handle_t list;
        ze_kernel_handle_t kernel;
        w->device = devices[i];
        w->module = load_module(w, "build/kernels/saxpy.so", "");
        create_kernel(w, &kernel);
        create_immediate(w, &list);
        for (uint32_t n = 0; n <= i; n++) {
            launch_kernel(list, kernel);
            w->launches++;
        }
        finish_immediate(w, list);
        ok(zeCommandListDestroy(list));
        ok(zeKernelDestroy(kernel));
        ok(zeModuleDestroy(w->module));
    }
    w->device = own;
    w->module = module;
}

/* What kernels are made of is of all devices. */
static void test_a_kernel_on_two_devices(void **state) {
    (void)state;
    zt_auto_config config = {0};
    config.profiler.groups = "";
    const program p = {.work = launch_on_two_devices,
                       .environment = in_directory("kernel.json"),
                       .config = &config,
                       .calls = 1};
    expect_success(&p);
    const char *text = text_of("kernel.json");
    assert_contains(text, "\"name\":\"2 devices\"");
    const char *kernels = strstr(text, "\"kernels\":[");
    assert_non_null(kernels);
    assert_int_equal(occurrences(kernels, "\"name\":\"saxpy\""), 1);
    assert_contains(kernels, "\"launches\":3");
}

/* ==== what the configuration chooses ====================================================================== */

/* Of every second launch, times alone; and of those beyond a limit. */
static void test_not_every_launch(void **state) {
    (void)state;
    zt_auto_config every = {0}, limited = {0};
    every.report = in_directory("every.csv");
    every.trace.every = 2;
    limited.trace.limit = 1;
    const program p = {.work = launch_some, .config = &every, .calls = 1};
    const program q = {.work = launch_some, .environment = "1", .config = &limited, .calls = 1};
    expect_success(&p);
    assert_contains(line_of(text_of("every.csv"), "\"saxpy\",\"GPU time\""), ",sum,7,");
    assert_contains(line_of(text_of("every.csv"), "\"saxpy\",\"GPGPU_THREADGROUP_COUNT\""), ",sum,2,");
    limited.report = in_directory("limited.csv");
    expect_success(&q);
    assert_contains(line_of(text_of("limited.csv"), "\"saxpy\",\"GPU time\""), ",sum,7,");
    assert_contains(line_of(text_of("limited.csv"), "\"saxpy\",\"GPGPU_THREADGROUP_COUNT\""), ",sum,1,");
}

static void launch_instrumented(world *w) {
    assert_string_equal(getenv("ZET_ENABLE_PROGRAM_INSTRUMENTATION"), "1");
    launch_some(w);
}

/* An empty path is none, so that there is a table; metrics that are chosen by name; profile flags. */
static void test_an_empty_path(void **state) {
    (void)state;
    unsigned count = 0;
    zt_auto_config config = {0};
    config.report = "";
    config.profiler.groups = "";
    config.profiler.metrics = "GPGPU_THREADGROUP_COUNT";
    config.trace.profile_flags = 1;
    const program p = {.work = launch_instrumented, .environment = "1", .config = &config, .calls = 1};
    expect_success(&p);
    assert_int_equal(sscanf(line_of(text_of("output"), "saxpy "), "saxpy %*f %u", &count), 1);
    assert_int_equal(count, 7);
    assert_contains(text_of("output"), "GPGPU_THREADGROUP_COUNT");
}

/* The environment overrides the configuration, in both directions. */
static void launch_where_instructions_can_be_sampled(world *w) {
    gpu.behave(SOFTGPU_STALL_SAMPLING, 1);
    launch_in_new_context(w, 0, 2);
    fprintf(stderr, "streamers: %d\n", (int)calls("zetMetricStreamerOpen"));
}

static void test_hotspots_by_the_environment(void **state) {
    static const struct {
        int configured;
        const char *value, *streamers;
    } cases[] = {{1, NULL, "streamers: 2\n"}, /* and one when the context is destroyed, in another one */
                 {0, NULL, "streamers: 0\n"},
                 {1, "off", "streamers: 0\n"},
                 {0, "1", "streamers: 2\n"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        zt_auto_config config = {0};
        config.hotspots = cases[i].configured;
        const program p = {.work = launch_where_instructions_can_be_sampled,
                           .config = &config,
                           .calls = 1,
                           .variables = {cases[i].value ? "ZT_HOTSPOTS" : NULL, cases[i].value}};
        expect_success(&p);
        assert_contains(text_of("errors"), cases[i].streamers);
    }
}

/* Two contexts of one device, whose samples are those of the device: one of them reads all, and the other one when that is
   destroyed. */
static void sample_in_two_contexts(world *w) {
    ze_context_desc_t desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, NULL, 0};
    ze_context_handle_t own = w->context, first;
    ze_command_list_handle_t in_first, in_second;
    gpu.behave(SOFTGPU_STALL_SAMPLING, 1);
    ok(zeContextCreate(w->driver, &desc, &first));
    w->context = first;
    create_immediate(w, &in_first);
    w->context = own;
    create_immediate(w, &in_second);
    fprintf(stderr, "streamers at first: %d\n", (int)calls("zetMetricStreamerOpen"));
    launch(w, in_first);
    finish_immediate(w, in_first);
    launch(w, in_second);
    finish_immediate(w, in_second);
    ok(zeCommandListDestroy(in_first));
    ok(zeContextDestroy(first));
    fprintf(stderr, "streamers at last: %d\n", (int)calls("zetMetricStreamerOpen"));
    launch(w, in_second);
    finish_immediate(w, in_second);
    ok(zeCommandListDestroy(in_second));
}

/* Contexts of a device that come and go on several threads: none samples when it is destroyed. */
static void *open_and_destroy_contexts(void *of) {
    ze_context_desc_t desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, NULL, 0};
    world mine = *(world *)of;
    for (int i = 0; i < 50; i++) {
        ze_command_list_handle_t list;
        ok(zeContextCreate(mine.driver, &desc, &mine.context));
        create_immediate(&mine, &list);
        ok(zeCommandListDestroy(list));
        ok(zeContextDestroy(mine.context));
    }
    return NULL;
}

static void sample_where_contexts_come_and_go(world *w) {
    pthread_t threads[3];
    gpu.behave(SOFTGPU_STALL_SAMPLING, 1);
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, open_and_destroy_contexts, w), 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    launch_some(w);
}

static void test_hotspots_where_contexts_come_and_go(void **state) {
    zt_auto_config config = {0};
    (void)state;
    config.hotspots = 1;
    config.profiler.groups = "";
    const program p = {.work = sample_where_contexts_come_and_go,
                       .environment = in_directory("coming.csv"),
                       .config = &config,
                       .calls = 1};
    expect_success(&p);
    assert_contains(line_of(text_of("coming.csv"), "\"saxpy\",\"GPU time\""), ",sum,7,");
    assert_null(strstr(text_of("coming.csv"), "COUNTERS_HELD"));
}

static void test_hotspots_of_two_contexts(void **state) {
    zt_auto_config config = {0};
    (void)state;
    config.hotspots = 1;
    config.profiler.groups = "";
    const program p = {.work = sample_in_two_contexts,
                       .environment = in_directory("sampled.csv"),
                       .config = &config,
                       .calls = 1};
    expect_success(&p);
    assert_contains(text_of("errors"), "streamers at first: 1\n");
    assert_contains(text_of("errors"), "streamers at last: 2\n");
    assert_null(strstr(text_of("sampled.csv"), "ot spots were not sampled"));
    assert_null(strstr(text_of("sampled.csv"), "COUNTERS_HELD"));
}

/* The program exits on the thread that reads samples of instructions, while its first thread calls nothing. */
static struct { int is_wanted, is_expected; } exit_of_log;

static void exit_in_log(int result, const char *message, void *user) {
    (void)result, (void)user;
    if (!strstr(message, "[SAMPLES_DROPPED]"))
        return;
    __atomic_store_n(&exit_of_log.is_wanted, 1, __ATOMIC_RELEASE);
    await(&exit_of_log.is_expected);
    exit(0);
}

static void launch_until_the_log_exits(world *w) {
    gpu.behave(SOFTGPU_STALL_SAMPLING, 1);
    inject("zetMetricGroupCalculateMultipleMetricValuesExp", 1, ZE_RESULT_WARNING_DROPPED_DATA);
    ze_context_desc_t desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, NULL, 0};
    ze_command_list_handle_t list;
    ok(zeContextCreate(w->driver, &desc, &w->context));
    create_immediate(w, &list);
    while (!__atomic_load_n(&exit_of_log.is_wanted, __ATOMIC_ACQUIRE)) {
        launch(w, list);
        finish_immediate(w, list);
    }
    __atomic_store_n(&exit_of_log.is_expected, 1, __ATOMIC_RELEASE);
    for (;;)
        nap();
}

static void test_an_exit_inside_a_log_function(void **state) {
    zt_auto_config config = {0};
    const program p = {
        .work = launch_until_the_log_exits, .config = &config, .calls = 1, .keeps_everything = 1};
    (void)state;
    if (INSTRUMENTED)
        skip(); /* what searches for leaks crashes on a thread that is not the first */
    config.hotspots = 1;
    config.profiler.log = exit_in_log;
    expect_success(&p);
}

/* Another thread is inside a callback at exit, and does not return. The report is written all the same. */
static int is_inside;

static void stay_in_hook(void *parameters, int result, void *user, void **instance) {
    (void)parameters, (void)result, (void)user, (void)instance;
    __atomic_store_n(&is_inside, 1, __ATOMIC_RELEASE);
    for (;;)
        nap();
}

static void *query_status(void *context) {
    zeContextGetStatus(context);
    return NULL;
}

static void leave_thread_in_hook(world *w) {
    pthread_t thread;
    launch_some(w);
    assert_int_equal(pthread_create(&thread, NULL, query_status, w->context), 0);
    assert_int_equal(pthread_detach(thread), 0);
    await(&is_inside);
}

static void test_a_callback_that_does_not_return(void **state) {
    const zt_hook hook = {"zeContextGetStatus", stay_in_hook, NULL, NULL};
    zt_auto_config config = {0};
    unsigned count = 0;
    config.trace.hooks = &hook;
    config.trace.hook_count = 1;
    config.profiler.wait_timeout_ns = 1000000;
    const program p = {.work = leave_thread_in_hook, .config = &config, .calls = 1, .keeps_everything = 1};
    (void)state;
    expect_success(&p);
    assert_int_equal(sscanf(line_of(text_of("output"), "saxpy "), "saxpy %*f %u", &count), 1);
    assert_int_equal(count, 7);
}

/* A callback must return. If it exits, a message says what is missing. */
static void exit_in_hook(void *parameters, int result, void *user, void **instance) {
    (void)parameters, (void)result, (void)user, (void)instance;
    exit(0);
}

static void test_an_exit_inside_a_callback(void **state) {
    const zt_hook hook = {"zeCommandQueueExecuteCommandLists", NULL, exit_in_hook, NULL};
    zt_auto_config config = {0};
    config.trace.hooks = &hook;
    config.trace.hook_count = 1;
    const program p = {.work = launch_some, .config = &config, .calls = 1, .keeps_everything = 1};
    (void)state;
    expect_success(&p);
    assert_contains(text_of("errors"), "there is no report, because a callback has called exit");
}

static void trace_and_leave(world *w) {
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    zt_trace_config config = {0};
    config.calls = "*";
    ok(zt_trace_start(profiler, &config));
    launch_some(w);
    collect_all(profiler);
    assert_counts(profiler, counted(7, 7, 0, 0, 0));
}

static void test_an_exit_with_a_tracer_on(void **state) {
    const program p = {.work = trace_and_leave, .initialised_before = 1, .keeps_everything = 1};
    (void)state;
    expect_success(&p);
}

/* The message names the groups that may open the device. */
static void test_without_permission(void **state) {
    (void)state;
    if (loader_wraps_handles())
        skip(); /* that loader does not ask the driver again */
    int status;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        void *none = NULL;
        start(&none);
        inject("zeInit", 1, ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS);
        if (zeInit(0) == ZE_RESULT_SUCCESS)
            _exit(77); /* this loader does not ask the driver again */
        inject("zeInit", 1, ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS);
        ze_result_t result = zt_auto(NULL);
        _exit(result != ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS ||
              !strstr(zt_last_error(NULL), "render or video"));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(status, 0);
}

static void test_without_a_driver(void **state) {
    (void)state;
    int status;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        setenv("ZE_ENABLE_ALT_DRIVERS", "/nowhere/libze_none.so", 1);
        ze_result_t result = zt_auto(NULL);
        const char *text;
        text = zt_last_error(NULL);
        _exit(result == ZE_RESULT_SUCCESS || !strstr(text, "zeInit failed") ||
              !strstr(text, "ZE_ENABLE_ALT_DRIVERS"));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* ==== memory ============================================================================================== */

static ze_context_handle_t other_context;
static void *other_memory[2];

/* In a context in which nothing else is done. */
static void allocate_elsewhere(world *w) {
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_device_mem_alloc_desc_t device_desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    ze_host_mem_alloc_desc_t host_desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    ok(zeContextCreate(w->driver, &desc, &other_context));
    zt_phase_begin("set-up");
    ok(zeMemAllocDevice(other_context, &device_desc, 4000, 64, w->device, &other_memory[0]));
    ok(zeMemAllocHost(other_context, &host_desc, 100, 64, &other_memory[1]));
    zt_phase_end();
}

/* The software device frees nothing with a context. */
static void allocate_and_destroy_context(world *w) {
    allocate_elsewhere(w);
    ok(zeContextDestroy(other_context));
    ok(zeMemFree(w->context, other_memory[0]));
    ok(zeMemFree(w->context, other_memory[1]));
}

/* A device is known from its first allocation on. What is freed with its context is freed. */
static void test_memory_of_a_context(void **state) {
    const program leaky = {.work = allocate_elsewhere,
                           .environment = in_directory("kept.csv"),
                           .calls = 1,
                           .keeps_everything = 1,
                           .variables = {"ZT_MEMORY", "1"}};
    char path[PATH_MAX];
    const program destroyed = {.work = allocate_and_destroy_context,
                               .environment = path,
                               .calls = 1,
                               .variables = {"ZT_MEMORY", "1"}};
    (void)state;
    snprintf(path, sizeof path, "%s", in_directory("destroyed.csv"));
    expect_success(&leaky);
    /* The world has allocated, too. */
    assert_contains(text_of("kept.csv"), "4 of 4 allocations (6.15 kB) not freed when tracing ended: 2 in "
                                         "\"\"set-up\"\", 2 in no phase.\"");
    assert_contains(line_of(text_of("kept.csv"), "\"set-up\",\"memory not freed\""), ",sum,1,4100,");
    assert_contains(line_of(text_of("kept.csv"), "\"\",\"peak memory\""), ",sum,0,4000,");
    expect_success(&destroyed);
    assert_contains(text_of("destroyed.csv"), "4 allocations, all freed.\"");
    assert_contains(line_of(text_of("destroyed.csv"), "\"\",\"peak memory\""), ",sum,0,4000,");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_of_a_context),
        cmocka_unit_test(test_a_table_at_exit),
        cmocka_unit_test(test_an_exit_with_everything_open),
        cmocka_unit_test(test_a_list_that_is_never_executed),
        cmocka_unit_test(test_a_file_by_the_environment),
        cmocka_unit_test(test_packed_statistics_by_the_environment),
        cmocka_unit_test(test_a_rank_that_launches_nothing),
        cmocka_unit_test(test_a_file_by_the_configuration),
        cmocka_unit_test(test_turned_off_by_the_environment),
        cmocka_unit_test(test_any_number_of_contexts),
        cmocka_unit_test(test_a_report_that_cannot_be_written),
        cmocka_unit_test(test_several_reports),
        cmocka_unit_test(test_kernels_are_reported),
        cmocka_unit_test(test_a_suffix_without_a_format),
        cmocka_unit_test(test_a_forked_child),
        cmocka_unit_test(test_a_fork_in_a_hook),
        cmocka_unit_test(test_a_forked_child_that_calls_it),
        cmocka_unit_test(test_a_trace_by_the_environment),
        cmocka_unit_test(test_a_trace_by_a_suffix_in_capitals),
        cmocka_unit_test(test_a_page_by_the_environment),
        cmocka_unit_test(test_a_path_of_the_process),
        cmocka_unit_test(test_one_report_of_all_contexts),
        cmocka_unit_test(test_the_peak_of_a_destroyed_context),
        cmocka_unit_test(test_a_context_that_ends_with_its_events),
        cmocka_unit_test(test_metrics_that_are_not_to_be_had),
        cmocka_unit_test(test_one_trace_of_all_contexts),
        cmocka_unit_test(test_names_may_go),
        cmocka_unit_test(test_kernels_by_the_environment),
        cmocka_unit_test(test_copies_by_the_environment),
        cmocka_unit_test(test_modules_by_the_environment),
        cmocka_unit_test(test_profile_flags_by_the_environment),
        cmocka_unit_test(test_no_copies_by_the_environment),
        cmocka_unit_test(test_nothing_to_measure),
        cmocka_unit_test(test_calls_by_the_environment),
        cmocka_unit_test(test_a_timeline_by_the_environment),
        cmocka_unit_test(test_reports_at_close_as_well),
        cmocka_unit_test(test_a_device_as_report),
        cmocka_unit_test(test_a_report_on_standard_error),
        cmocka_unit_test(test_turned_off_in_capitals),
        cmocka_unit_test(test_nothing_is_launched),
        cmocka_unit_test(test_nothing_is_launched_in_two_contexts),
        cmocka_unit_test(test_all_launches_are_left_out),
        cmocka_unit_test(test_power_by_the_environment),
        cmocka_unit_test(test_first_calls_of_a_program),
        cmocka_unit_test(test_a_first_call_that_is_seen_too_late),
        cmocka_unit_test(test_a_first_call_before_all_launches),
        cmocka_unit_test(test_a_layer_that_is_enabled_again),
        cmocka_unit_test(test_a_loader_that_cannot_enable_tracing),
        cmocka_unit_test(test_without_memory),
        cmocka_unit_test(test_an_idle_rank_without_memory),
        cmocka_unit_test(test_a_failure_is_printed_once),
        cmocka_unit_test(test_contexts_that_cannot_be_measured),
        cmocka_unit_test(test_a_first_context_that_cannot_be_measured),
        cmocka_unit_test(test_contexts_without_memory),
        cmocka_unit_test(test_a_context_whose_driver_hangs),
        cmocka_unit_test(test_contexts_that_come_back),
        cmocka_unit_test(test_two_devices_of_a_context),
        cmocka_unit_test(test_a_kernel_on_two_devices),
        cmocka_unit_test(test_not_every_launch),
        cmocka_unit_test(test_an_empty_path),
        cmocka_unit_test(test_hotspots_by_the_environment),
        cmocka_unit_test(test_hotspots_of_two_contexts),
        cmocka_unit_test(test_hotspots_where_contexts_come_and_go),
        cmocka_unit_test(test_a_callback_that_does_not_return),
        cmocka_unit_test(test_an_exit_inside_a_callback),
        cmocka_unit_test(test_an_exit_inside_a_log_function),
        cmocka_unit_test(test_an_exit_with_a_tracer_on),
        cmocka_unit_test(test_without_permission),
        cmocka_unit_test(test_without_a_driver),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
