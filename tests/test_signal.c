/* zt_auto with ZT_AUTO_SIGNAL: programs that are looked at from outside while they run. Each is a process of its own. */
#define _GNU_SOURCE
#include "fixture.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ==== programs ============================================================================================ */

/* A program: calls zt_auto with ZT_AUTO=run.csv, does its work and exits. */
typedef struct program {
    void (*work)(world *w);
    const char *signal; /* ZT_AUTO_SIGNAL */
    const zt_auto_config *config;
    void (*before)(void);     /* zt_auto */
    int leaves_events;        /* the library leaves some on lists that may be executed again */
    ze_result_t result;       /* of zt_auto */
    const char *variables[4]; /* of the environment, each before its value */
} program;

/* Returns what is in a file, or "". */
static const char *text_of(const char *name) {
    static char text[1 << 18];
    FILE *file = fopen(in_directory(name), "r");
    text[0] = 0;
    if (file) {
        text[fread(text, 1, sizeof text - 1, file)] = 0;
        fclose(file);
    }
    return text;
}

static int exists(const char *name) {
    return access(in_directory(name), F_OK) == 0;
}

/* How many samples of the kernel a report has. */
static int samples_in(const char *name) {
    const char *line = strstr(text_of(name), "\"saxpy\",\"GPU time\"");
    int count = -1;
    const char *sum = line ? strstr(line, ",sum,") : NULL;
    return !line ? 0 : sum && sscanf(sum, ",sum,%d", &count) == 1 ? count : -1;
}

static void run_program(const program *p) {
    void *state = NULL;
    unsetenv("ZE_ENABLE_TRACING_LAYER");
    unsetenv("ZT_AUTO_SIGNAL");
    setenv("ZT_AUTO", in_directory("run.csv"), 1);
    if (p->signal)
        setenv("ZT_AUTO_SIGNAL", p->signal, 1);
    for (int i = 0; i < 4 && p->variables[i]; i += 2)
        setenv(p->variables[i], p->variables[i + 1], 1);
    if (p->before)
        p->before();
    assert_result(zt_auto(p->config), p->result);
    start(&state);
    for (int i = 0; i < 4 && p->variables[i]; i += 2)
        setenv(p->variables[i], p->variables[i + 1], 1); /* start() has removed some */
    if (p->leaves_events)
        open_leaky_world(&state);
    else
        open_world(&state);
    p->work(state);
    check_work(state);
    if (p->leaves_events)
        abandon_world(&state);
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
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        print_message("%s\n", text_of("errors"));
        fail_msg("the program ended with status 0x%x:\n%s", (unsigned)status, text_of("output"));
    }
}

/* The driver is unloaded before leaks are searched for, so what a program keeps in it looks like one. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
    return "leak:libze_softgpu";
}

static int make_clean_directory(void **state) {
    return make_directory(state);
}

/* ==== looks =============================================================================================== */

#define BEGUN "tracing has begun"
#define ENDED "tracing has ended"

/* Returns when the library has printed a message for the n-th time. */
static void await_message(const char *message, int n) {
    uint64_t end = now_ns() + A_WHILE;
    while (occurrences(text_of("errors"), message) < n) {
        if (now_ns() > end)
            fail_msg("there is no '%s' in:\n%s", message, text_of("errors"));
        nap();
    }
}

static int looks;

static void begin_look(void) {
    looks++;
    kill(getpid(), SIGUSR2);
    await_message(BEGUN, looks);
}

static void end_look(void) {
    kill(getpid(), SIGUSR2);
    await_message(ENDED, looks);
}

static void launch_and_wait(world *w, ze_command_list_handle_t list, int times) {
    for (int i = 0; i < times; i++)
        launch(w, list);
    finish_immediate(w, list);
}

static void record(world *w, int launches) {
    for (int i = 0; i < launches; i++)
        launch_kernel(w->list, w->kernel);
    ok(zeCommandListClose(w->list));
}

static void execute_recorded(world *w, uint32_t launches, int times) {
    for (int i = 0; i < times; i++) {
        execute_unprofiled(w, w->list);
        w->launches += launches;
    }
}

/* Whether the loader says of which device a list is: else those from before a look are not measured. */
static int can_query_lists(void) {
    return dlsym(RTLD_DEFAULT, "zeCommandListGetContextHandle") != NULL;
}

/* The program and the library have used the device as they may, but for this: the queries on a list that was recorded with
   metrics go on when the program executes it after a look, and nobody resets them. */
static void assert_no_findings(void) {
    static char text[1 << 16];
    gpu.ledger(text, sizeof text);
    if (occurrences(text, "finding: ") >
        occurrences(text, "finding: a metric query was begun again without a reset"))
        fail_msg("%s", text);
}

/* ==== tests =============================================================================================== */

static void look_twice(world *w) {
    launch_and_wait(w, w->immediate, 2);
    for (int i = 0; i < 2; i++) {
        ze_command_list_handle_t list;
        begin_look();
        create_immediate(w, &list);
        launch_and_wait(w, list, 3 + i);
        end_look();
        launch_and_wait(w, list, 5);
        ok(zeCommandListDestroy(list));
    }
}

static void test_two_looks(void **state) {
    static const char *const names[] = {"USR2", "SIGUSR2"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        const program p = {.work = look_twice, .signal = names[i]};
        expect_success(&p);
        assert_int_equal(samples_in("run.csv"), 3);
        assert_int_equal(samples_in("run.2.csv"), 4);
        assert_false(exists("run.3.csv"));
        assert_int_equal(occurrences(text_of("errors"), "zetools: "), 6); /* begun, wrote, ended */
        assert_string_equal(text_of("output"), "");
    }
}

/* zesInit, which the first profiler calls, switches the tracing layer of newer loaders off. */
static void test_looks_with_power(void **state) {
    const program p = {.work = look_twice, .signal = "USR2", .variables = {"ZT_POWER", "1"}};
    (void)state;
    expect_success(&p);
    assert_int_equal(samples_in("run.csv"), 3);
    assert_int_equal(samples_in("run.2.csv"), 4);
}

/* A program that calls zeInitDrivers for the first time in a look: what is launched afterwards is not seen. */
static void look_at_a_first_call(world *w) {
    ze_result_t (*init)(uint32_t *, ze_driver_handle_t *, const void *);
    const struct {
        uint32_t stype;
        const void *next;
        uint32_t flags;
    } gpus = {0x00020021, NULL, 1};
    ze_command_list_handle_t list, second;
    uint32_t count = 0;
    *(void **)&init = dlsym(RTLD_DEFAULT, "zeInitDrivers");
    begin_look();
    create_immediate(w, &list);
    launch_and_wait(w, list, 3);
    if (init)
        ok(init(&count, NULL, &gpus));
    launch_and_wait(w, list, 2);
    end_look();
    begin_look();
    create_immediate(w, &second);
    launch_and_wait(w, second, 4);
    end_look();
    ok(zeCommandListDestroy(second));
    ok(zeCommandListDestroy(list));
}

static void test_a_first_call_in_a_look(void **state) {
    const int is_lost = dlsym(RTLD_DEFAULT, "zelEnableTracingLayer") && dlsym(RTLD_DEFAULT, "zeInitDrivers");
    const program p = {.work = look_at_a_first_call, .signal = "USR2", .leaves_events = 1};
    (void)state;
    expect_success(&p);
    assert_int_equal(occurrences(text_of("run.csv"), "tracing layer was switched off"), is_lost);
    assert_int_equal(samples_in("run.2.csv"), 4);
    assert_int_equal(occurrences(text_of("run.2.csv"), "tracing layer was switched off"), 0);
    if (!is_lost)
        assert_int_equal(samples_in("run.csv"), 5);
}

static void test_a_signal_by_the_configuration(void **state) {
    zt_auto_config config = {0};
    (void)state;
    config.signal = "USR2";
    const program p = {.work = look_twice, .config = &config};
    expect_success(&p);
    assert_int_equal(samples_in("run.csv"), 3);
    assert_int_equal(samples_in("run.2.csv"), 4);
}

/* Reports of each, whichever device they are of. */
static void test_reports_of_a_path_with_the_process(void **state) {
    const program p = {
        .work = look_twice, .signal = "USR2", .variables = {"ZT_AUTO", in_directory("a.%p.csv, table")}};
    (void)state;
    expect_success(&p);
    assert_int_equal(occurrences(text_of("output"), "\nsaxpy "), 4); /* twice in a table */
}

/* Kernels from before the look, and lists, where the loader can be asked about them. */
static void look_at_what_was_there(world *w) {
    launch_and_wait(w, w->immediate, 2);
    begin_look();
    launch_and_wait(w, w->immediate, 3);
    end_look();
    launch_and_wait(w, w->immediate, 5);
}

static void test_lists_from_before(void **state) {
    const program p = {.work = look_at_what_was_there, .signal = "USR2"};
    (void)state;
    expect_success(&p);
    if (can_query_lists())
        assert_int_equal(samples_in("run.csv"), 3);
    else
        assert_contains(
            text_of("errors"),
            "3 of 3 launches could not be measured, because their lists were created before tracing");
}

/* Beside lists from before, one that is new: on loaders that cannot query lists, the reason names the former. */
static void look_at_old_and_new(world *w) {
    ze_command_list_handle_t list;
    begin_look();
    create_immediate(w, &list);
    launch_and_wait(w, list, 2);
    launch_and_wait(w, w->immediate, 3);
    end_look();
    ok(zeCommandListDestroy(list));
}

static void test_old_and_new_lists(void **state) {
    const program p = {.work = look_at_old_and_new, .signal = "USR2"};
    (void)state;
    expect_success(&p);
    assert_int_equal(samples_in("run.csv"), can_query_lists() ? 5 : 2);
    assert_int_equal(
        occurrences(text_of("run.csv"),
                    "3 of 5 launches could not be measured, because their lists were created before "
                    "tracing, and this loader cannot query of which device they are. Update the loader."),
        !can_query_lists());
    assert_null(strstr(text_of("run.csv"), "not of a context and device"));
}

/* A list from before of another context than the one that creates a list in the look. */
static void look_at_two_contexts(world *w) {
    ze_context_desc_t desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, NULL, 0};
    const ze_context_handle_t context = w->context;
    ze_command_list_handle_t list;
    begin_look();
    ok(zeContextCreate(w->driver, &desc, &w->context));
    create_immediate(w, &list);
    launch_and_wait(w, w->immediate, 3);
    ok(zeCommandListDestroy(list));
    ok(zeContextDestroy(w->context));
    w->context = context;
    end_look();
    assert_no_findings();
}

static void test_a_list_from_before_of_another_context(void **state) {
    const program p = {.work = look_at_two_contexts, .signal = "USR2"};
    (void)state;
    expect_success(&p);
    assert_int_equal(samples_in("run.csv"), can_query_lists() ? 3 : 0);
    if (!can_query_lists())
        assert_contains(text_of("errors"),
                        "3 of 3 launches could not be measured, because their lists were created "
                        "before tracing, and this loader cannot query of which device they are.");
    assert_null(strstr(text_of("errors"), "not of a context and device"));
}

/* Lists that were recorded before a look: their executions are counted. */
static void look_at_executions(world *w) {
    record(w, 4);
    execute_recorded(w, 4, 1);
    begin_look();
    execute_recorded(w, 4, 2);
    end_look();
    ze_command_list_handle_t list;
    begin_look();
    create_immediate(w, &list);
    execute_recorded(w, 4, 3);
    end_look();
    execute_recorded(w, 4, 1);
    ok(zeCommandListDestroy(list));
}

static void test_lists_that_were_recorded_before(void **state) {
    const program p = {.work = look_at_executions, .signal = "USR2"};
    (void)state;
    expect_success(&p);
    assert_contains(text_of("errors"),
                    "2 executions of command lists that were recorded before are not measured");
    assert_contains(text_of("errors"),
                    "3 executions of command lists that were recorded before are not measured");
    assert_int_equal(samples_in("run.csv"), 0);
}

/* A list that is recorded in a look and executed in it, afterwards, and in the next look; then it is recorded again. */
static void record_in_a_look(world *w) {
    ze_command_list_handle_t own = w->list;
    begin_look();
    create_list(w, &w->list);
    record(w, 4);
    execute_recorded(w, 4, 2);
    end_look();
    execute_recorded(w, 4, 3);
    begin_look();
    execute_recorded(w, 4, 1);
    reset_list(w->list);
    record(w, 2);
    execute_recorded(w, 2, 2);
    end_look();
    execute_recorded(w, 2, 3);
    reset_list(w->list);
    record(w, 1);
    execute_recorded(w, 1, 2);
    ok(zeCommandListDestroy(w->list));
    w->list = own;
    assert_no_findings();
}

static void expect_recorded(const char *groups) {
    zt_auto_config config = {0};
    config.profiler.groups = groups;
    const program p = {.work = record_in_a_look, .signal = "USR2", .leaves_events = 1, .config = &config};
    expect_success(&p);
    assert_int_equal(samples_in("run.csv"), 2 * 4);
    assert_contains(text_of("errors"), "4 launches on lists that were recorded while tracing");
    if (!can_query_lists())
        return;
    assert_int_equal(samples_in("run.2.csv"), 2 * 2);
    assert_contains(text_of("errors"), "2 launches on lists that were recorded while tracing");
}

static void test_a_list_that_is_recorded_in_a_look(void **state) {
    (void)state;
    expect_recorded("");
}

static void test_a_list_that_is_recorded_with_metrics(void **state) {
    (void)state;
    expect_recorded(NULL);
}

/* Handles may come back as those of other objects. Of lists that are reset or destroyed in a look, nothing stays. */
static void destroy_between_looks(world *w) {
    ze_command_list_handle_t own = w->list, immediate;
    for (int i = 0; i < 4; i++) {
        begin_look();
        create_list(w, &w->list);
        record(w, 2);
        execute_recorded(w, 2, 1);
        create_immediate(w, &immediate);
        launch_and_wait(w, immediate, i);
        if (i == 1)
            ok(zeCommandListDestroy(w->list));
        end_look();
        if (i != 1)
            ok(zeCommandListDestroy(w->list));
        ok(zeCommandListDestroy(immediate));
    }
    w->list = own;
    assert_no_findings();
}

static void test_what_is_destroyed_between_looks(void **state) {
    static const char *const names[] = {"run.csv", "run.2.csv", "run.3.csv", "run.4.csv"};
    const program p = {.work = destroy_between_looks, .signal = "USR2", .leaves_events = 1};
    (void)state;
    expect_success(&p);
    for (int i = 0; i < 4; i++)
        assert_int_equal(samples_in(names[i]), 2 + i);
    assert_int_equal(occurrences(text_of("errors"), "2 launches on lists that were recorded while tracing"),
                     3);
}

/* A context that is destroyed between looks, with what the library has left in it; its handle may come back. Nothing of it
   is touched again. */
static void destroy_contexts(world *w) {
    ze_context_desc_t desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, NULL, 0};
    ze_command_queue_desc_t queue_desc = {ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, NULL, 0, 0, 0, 0, 0};
    const ze_context_handle_t context = w->context;
    const ze_command_queue_handle_t queue = w->queue;
    const ze_command_list_handle_t list = w->list;
    for (int i = 0; i < 3; i++) {
        ok(zeContextCreate(w->driver, &desc, &w->context));
        ok(zeCommandQueueCreate(w->context, w->device, &queue_desc, &w->queue));
        begin_look();
        create_list(w, &w->list);
        record(w, 2);
        execute_recorded(w, 2, 1 + i);
        end_look();
        ok(zeCommandListDestroy(w->list));
        ok(zeCommandQueueDestroy(w->queue));
        ok(zeContextDestroy(w->context));
        w->context = context;
        w->queue = queue;
        w->list = list;
    }
}

static void test_contexts_that_are_destroyed_between_looks(void **state) {
    const program p = {.work = destroy_contexts, .signal = "USR2", .leaves_events = 1};
    (void)state;
    expect_success(&p);
    assert_int_equal(samples_in("run.csv"), 2);
    assert_int_equal(samples_in("run.2.csv"), 4);
    assert_int_equal(samples_in("run.3.csv"), 6);
}

/* A context that is destroyed while the report is written: the library has nothing in it any more. */
static atomic_int is_writing, is_destroyed;

static void wait_in_report(int result, const char *text, void *user) {
    (void)result, (void)user;
    atomic_store(&is_writing, strstr(text, "CANNOT_WRITE") != NULL);
    while (atomic_load(&is_writing) && !atomic_load(&is_destroyed))
        nap();
}

static void destroy_in_report(world *w) {
    ze_context_desc_t desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, NULL, 0};
    const ze_context_handle_t context = w->context;
    ze_command_list_handle_t list;
    begin_look();
    ok(zeContextCreate(w->driver, &desc, &w->context));
    create_immediate(w, &list);
    kill(getpid(), SIGUSR2);
    while (!atomic_load(&is_writing))
        nap();
    ok(zeCommandListDestroy(list));
    ok(zeContextDestroy(w->context));
    w->context = context;
    assert_no_findings();
    atomic_store(&is_destroyed, 1);
    await_message(ENDED, looks);
    assert_no_findings();
}

static void test_a_context_that_is_destroyed_in_a_report(void **state) {
    static const char *const groups[] = {"", NULL};
    (void)state;
    for (int i = 0; i < 2; i++) {
        zt_auto_config config = {0};
        config.profiler.log = wait_in_report;
        config.profiler.groups = groups[i];
        const program p = {.work = destroy_in_report,
                           .signal = "USR2",
                           .config = &config,
                           .variables = {"ZT_AUTO", "/nowhere/at/all.csv"}};
        expect_success(&p);
    }
}

/* A list that runs when a look ends: it may be executed again before its samples are read, so they are lost. What the
   device writes afterwards is still there. */
static void end_look_before_list(world *w) {
    ze_command_list_handle_t own = w->list;
    begin_look();
    create_list(w, &w->list);
    ze_event_handle_t gate = append_gate(w, w->list);
    record(w, 1);
    ok(zeCommandQueueExecuteCommandLists(w->queue, 1, &w->list, NULL));
    end_look();
    ok(zeEventHostSignal(gate));
    finish_queue(w);
    w->launches++;
    ok(zeCommandListDestroy(w->list));
    ok(zeEventDestroy(gate));
    w->list = own;
    assert_no_findings();
}

static void test_a_list_that_runs_when_a_look_ends(void **state) {
    zt_auto_config config = {0};
    (void)state;
    config.profiler.wait_timeout_ns = 1000000;
    config.profiler.groups = "";
    const program p = {.work = end_look_before_list,
                       .signal = "USR2",
                       .config = &config,
                       .leaves_events = 1,
                       .variables = {"ZT_AUTO", in_directory("run.json")}};
    expect_success(&p);
    assert_contains(text_of("run.json"), "{\"name\":\"saxpy\",\"count\":0,\"lost\":1,\"dropped\":0,");
    assert_contains(text_of("run.json"), "or still ran when tracing ended.");
    assert_null(strstr(text_of("run.json"), "zt_execute")); /* which is not for who looks at a program */
    assert_contains(text_of("errors"), "1 launch on lists that were recorded while tracing keeps its event");
}

/* ---- other threads ---------------------------------------------------------------------------------------- */

static atomic_int is_over;

static void *go_on_launching(void *argument) {
    world *w = argument;
    ze_group_count_t groups = {1, 1, 1};
    ze_command_queue_desc_t queue_desc = {ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, NULL, 0, 0, 0, 0, 0};
    ze_command_list_desc_t desc = {ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, NULL, 0, 0};
    ze_command_queue_handle_t queue;
    ze_command_list_handle_t list, kept;
    ze_kernel_handle_t kernel;
    ze_kernel_desc_t kernel_desc = {ZE_STRUCTURE_TYPE_KERNEL_DESC, NULL, 0, "saxpy"};
    float zero = 0, *memory;
    uint32_t size = 4;
    ze_host_mem_alloc_desc_t host = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, NULL, 0};
    ok_on_thread(zeMemAllocHost(w->context, &host, 4096, 64, (void **)&memory));
    ok_on_thread(zeKernelCreate(w->module, &kernel_desc, &kernel));
    ok_on_thread(zeKernelSetGroupSize(kernel, 4, 1, 1));
    ok_on_thread(zeKernelSetArgumentValue(kernel, 0, sizeof memory, &memory));
    ok_on_thread(zeKernelSetArgumentValue(kernel, 1, sizeof memory, &memory));
    ok_on_thread(zeKernelSetArgumentValue(kernel, 2, sizeof zero, &zero));
    ok_on_thread(zeKernelSetArgumentValue(kernel, 3, sizeof size, &size));
    ok_on_thread(zeCommandQueueCreate(w->context, w->device, &queue_desc, &queue));
    ok_on_thread(zeCommandListCreate(w->context, w->device, &desc, &kept));
    ok_on_thread(zeCommandListAppendLaunchKernel(kept, kernel, &groups, NULL, 0, NULL));
    ok_on_thread(zeCommandListClose(kept));
    for (int i = 0; !atomic_load(&is_over); i++) {
        ok_on_thread(zeCommandListCreate(w->context, w->device, &desc, &list));
        for (int n = 0; n < 3; n++)
            ok_on_thread(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
        ok_on_thread(zeCommandListClose(list));
        for (int n = 0; n < 3; n++) {
            ok_on_thread(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
            ok_on_thread(zeCommandQueueExecuteCommandLists(queue, 1, &kept, NULL));
        }
        ok_on_thread(zeCommandQueueSynchronize(queue, UINT64_MAX));
        ok_on_thread(zeCommandListDestroy(list));
        if (i % 4 == 0) {
            ok_on_thread(zeCommandListReset(kept));
            ok_on_thread(zeCommandListAppendLaunchKernel(kept, kernel, &groups, NULL, 0, NULL));
            ok_on_thread(zeCommandListClose(kept));
        }
    }
    ok_on_thread(zeCommandListDestroy(kept));
    ok_on_thread(zeCommandQueueDestroy(queue));
    ok_on_thread(zeKernelDestroy(kernel));
    ok_on_thread(zeMemFree(w->context, memory));
    return NULL;
}

static void look_while_threads_launch(world *w) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, go_on_launching, w), 0);
    for (int i = 0; i < 4; i++) {
        begin_look();
        launch_and_wait(w, w->immediate, 2);
        end_look();
        launch_and_wait(w, w->immediate, 2);
    }
    atomic_store(&is_over, 1);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_no_noted_failure();
    assert_no_findings();
}

static void test_threads_go_on(void **state) {
    static const char *const groups[] = {"", NULL};
    (void)state;
    for (int i = 0; i < 2; i++) {
        zt_auto_config config = {0};
        config.profiler.groups = groups[i];
        const program p = {
            .work = look_while_threads_launch, .signal = "USR2", .leaves_events = 1, .config = &config};
        expect_success(&p);
        assert_int_equal(occurrences(text_of("errors"), ENDED), 4);
    }
}

/* ---- signals ---------------------------------------------------------------------------------------------- */

static volatile sig_atomic_t own_signals;

static void count_own(int number) {
    (void)number;
    own_signals++;
}

static void handle(void) {
    signal(SIGUSR2, count_own);
}

static void ignore(void) {
    signal(SIGUSR2, SIG_IGN);
}

static void block(void) {
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
}

static void signal_and_launch(world *w) {
    kill(getpid(), SIGUSR2);
    launch_and_wait(w, w->immediate, 2);
}

/* A signal that is in use, or is none, is left alone, and nothing is traced. */
static void test_a_signal_that_is_in_use(void **state) {
    static const struct {
        void (*before)(void);
        const char *signal, *message;
        ze_result_t result;
    } cases[] = {
        {handle, "USR2", "'USR2', because the program has a handler for it", ZE_RESULT_ERROR_NOT_AVAILABLE},
        {ignore, "SIGUSR2", "'SIGUSR2', because it is ignored", ZE_RESULT_ERROR_NOT_AVAILABLE},
        {block, "USR2", "because the thread that calls zt_auto blocks it", ZE_RESULT_ERROR_NOT_AVAILABLE},
        {handle, "HUP", "'HUP', because it is neither USR1 nor USR2", ZE_RESULT_ERROR_INVALID_ARGUMENT},
        {handle, "USR", "'USR', because it is neither USR1 nor USR2", ZE_RESULT_ERROR_INVALID_ARGUMENT},
        {handle, "12", "'12', because it is neither USR1 nor USR2", ZE_RESULT_ERROR_INVALID_ARGUMENT},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const program p = {.work = signal_and_launch,
                           .signal = cases[i].signal,
                           .before = cases[i].before,
                           .result = cases[i].result};
        expect_success(&p);
        assert_contains(text_of("errors"), cases[i].message);
        assert_int_equal(occurrences(text_of("errors"), "zetools: zt_auto: nothing is traced. [NO_SIGNAL]"),
                         1);
        assert_int_equal(occurrences(text_of("errors"), "zetools: "), 1);
        assert_false(exists("run.csv"));
    }
}

/* The handler of the application stays, and so does one that it installs later. */
static void handle_later(world *w) {
    begin_look();
    handle();
    kill(getpid(), SIGUSR2);
    assert_int_equal(own_signals, 1);
    launch_and_wait(w, w->immediate, 2);
    assert_false(exists("run.csv"));
}

#define IN_VAIN "[SIGNAL_IN_VAIN] zt_auto: the signal 'USR2' neither starts nor ends tracing, because "

static void test_a_handler_that_is_installed_later(void **state) {
    const program p = {.work = handle_later, .signal = "USR2"};
    (void)state;
    expect_success(&p);
    assert_int_equal(occurrences(text_of("errors"), ENDED), 0);
    assert_int_equal(occurrences(text_of("errors"), IN_VAIN "the program has installed a handler of its own"),
                     1);
}

/* Programs that install handlers when the library is loaded already. It is noticed while they run; at exit at the latest. */
static void handle_and_wait(world *w) {
    handle();
    await_message(IN_VAIN, 1);
    signal_and_launch(w);
    assert_int_equal(own_signals, 1);
}

static void handle_and_exit(world *w) {
    handle();
    signal_and_launch(w);
    assert_int_equal(own_signals, 1);
}

static void ignore_and_exit(world *w) {
    ignore();
    signal_and_launch(w);
}

static void block_and_wait(world *w) {
    block();
    await_message(IN_VAIN, 1);
    signal_and_launch(w);
}

static void launch_without_a_signal(world *w) {
    launch_and_wait(w, w->immediate, 2);
}

static void block_and_exit(world *w) {
    block();
    signal_and_launch(w);
}

/* The signal came, and no thread has taken it. Where none came, nothing is missing. */
static void block_and_exit_without_a_signal(world *w) {
    block();
    launch_and_wait(w, w->immediate, 2);
}

static void test_a_signal_in_vain(void **state) {
    static const struct {
        void (*work)(world *w);
        const char *reason; /* NULL: no message */
    } cases[] = {
        {handle_and_wait, "the program has installed a handler of its own"},
        {handle_and_exit, "the program has installed a handler of its own"},
        {ignore_and_exit, "the program ignores it"},
        {block_and_wait, "all threads block it"},
        {block_and_exit, "all threads block it"},
        {block_and_exit_without_a_signal, NULL},
        {launch_without_a_signal, NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const program p = {.work = cases[i].work, .signal = "USR2"};
        expect_success(&p);
        assert_int_equal(occurrences(text_of("errors"), IN_VAIN), cases[i].reason != NULL);
        if (cases[i].reason)
            assert_contains(text_of("errors"), cases[i].reason);
        assert_int_equal(occurrences(text_of("errors"), "zetools: "), cases[i].reason != NULL);
        assert_false(exists("run.csv"));
    }
}

static void refuse_thread(void) {
    refused_threads = 1;
}

static void look_at_signal(world *w) {
    struct sigaction now;
    launch_and_wait(w, w->immediate, 2);
    assert_int_equal(sigaction(SIGUSR2, NULL, &now), 0);
    assert_true(now.sa_handler == SIG_DFL);
}

/* Nobody would hear the signal, so it does what it did before. */
static void test_no_thread_for_the_signal(void **state) {
    const program p = {.work = look_at_signal,
                       .signal = "USR2",
                       .before = refuse_thread,
                       .result = ZE_RESULT_ERROR_NOT_AVAILABLE};
    (void)state;
    expect_success(&p);
    assert_contains(text_of("errors"), "because the system starts no thread");
}

static void other_signal(world *w) {
    handle();
    kill(getpid(), SIGUSR2);
    assert_int_equal(own_signals, 1);
    kill(getpid(), SIGUSR1);
    await_message(BEGUN, 1);
    launch_and_wait(w, w->immediate, 2);
    kill(getpid(), SIGUSR1);
    await_message(ENDED, 1);
}

static void test_the_other_signal(void **state) {
    const program p = {.work = other_signal, .signal = "USR1", .before = handle};
    (void)state;
    expect_success(&p);
}

/* A call that sleeps goes on, and errno is that of the program. */
static void keep_errno(world *w) {
    (void)w;
    errno = EDOM;
    raise(SIGUSR2);
    assert_int_equal(errno, EDOM);
    await_message(BEGUN, 1);
    errno = EDOM;
    raise(SIGUSR2);
    assert_int_equal(errno, EDOM);
    await_message(ENDED, 1);
}

static void test_errno_is_kept(void **state) {
    const program p = {.work = keep_errno, .signal = "USR2"};
    (void)state;
    expect_success(&p);
    assert_contains(text_of("errors"),
                    "this process used no command list while it was traced, so there is no report");
}

/* ---- the end of the process ------------------------------------------------------------------------------- */

static void exit_in_a_look(world *w) {
    ze_command_list_handle_t list;
    begin_look();
    create_immediate(w, &list);
    launch_and_wait(w, list, 3);
    ok(zeCommandListDestroy(list));
}

static void test_an_exit_in_a_look(void **state) {
    const program p = {.work = exit_in_a_look, .signal = "USR2"};
    (void)state;
    expect_success(&p);
    assert_int_equal(samples_in("run.csv"), 3);
    assert_int_equal(occurrences(text_of("errors"), ENDED), 0);
}

static void launch_some(world *w) {
    launch_and_wait(w, w->immediate, 3);
}

static void test_an_exit_without_a_look(void **state) {
    const program p = {.work = launch_some, .signal = "USR2"};
    (void)state;
    expect_success(&p);
    assert_false(exists("run.csv"));
    assert_int_equal(occurrences(text_of("errors"), "zetools: "), 0);
    assert_string_equal(text_of("output"), "");
}

/* An empty variable overrides the configuration: tracing starts at once. */
static void launch_on_a_new_list(world *w) {
    ze_command_list_handle_t list;
    create_immediate(w, &list);
    launch_and_wait(w, list, 3);
    ok(zeCommandListDestroy(list));
}

static void test_an_empty_signal(void **state) {
    zt_auto_config config = {0};
    (void)state;
    config.signal = "USR2";
    const program p = {.work = launch_on_a_new_list, .signal = "", .config = &config};
    expect_success(&p);
    assert_int_equal(samples_in("run.csv"), 3);
    assert_int_equal(occurrences(text_of("errors"), BEGUN), 0);
}

/* Many signals at once, and an exit meanwhile: the process ends. */
static void exit_at_once(world *w) {
    launch_and_wait(w, w->immediate, 1);
    for (int i = 0; i < 20; i++)
        kill(getpid(), SIGUSR2);
}

static void test_an_exit_with_signals_on_their_way(void **state) {
    const program p = {.work = exit_at_once, .signal = "USR2"};
    (void)state;
    for (int i = 0; i < 5; i++)
        expect_success(&p);
}

/* In a child, which has no thread of the library, the signal does nothing. It may call zt_auto for itself. */
static void fork_in_a_look(world *w) {
    for (int is_started = 0; is_started < 2; is_started++) {
        int status = -1;
        if (is_started)
            begin_look();
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            for (int i = 0; i < 3; i++)
                raise(SIGUSR2);
#ifndef __SANITIZE_THREAD__ /* which allows a forked child no threads */
            if (is_started) {
                setenv("ZT_AUTO", in_directory("child.csv"), 1);
                if (zt_auto(NULL) != ZE_RESULT_SUCCESS)
                    _exit(1);
            }
#endif
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        if (is_started) {
            ze_command_list_handle_t list;
            create_immediate(w, &list);
            launch_and_wait(w, list, 2);
            end_look();
            ok(zeCommandListDestroy(list));
        }
    }
}

static void test_a_forked_child(void **state) {
    const program p = {.work = fork_in_a_look, .signal = "USR2"};
    (void)state;
    expect_success(&p);
    assert_int_equal(samples_in("run.csv"), 2);
    assert_int_equal(occurrences(text_of("errors"), BEGUN), 1);
    assert_false(exists("child.csv"));
}

/* ---- what goes wrong -------------------------------------------------------------------------------------- */

/* A mistake in the configuration shows at the start, and not when somebody looks. */
static void test_a_mistake_in_the_configuration(void **state) {
    const program p = {.work = launch_some,
                       .signal = "USR2",
                       .variables = {"ZT_CALLS", "zeCommandQueeExecute"},
                       .result = ZE_RESULT_ERROR_INVALID_ARGUMENT};
    (void)state;
    expect_success(&p);
    assert_contains(text_of("errors"), "nothing is traced. [NO_SUCH_CALL]");
}

/* The application traces for itself when the signal comes. */
static void trace_meanwhile(world *w) {
    zt_profiler *profiler = open_profiler(w, NULL);
    ok(zt_trace_start(profiler, NULL));
    kill(getpid(), SIGUSR2);
    await_message("nothing is traced. [TRACING_ALREADY]", 1);
    launch_and_wait(w, w->immediate, 2);
    ok(zt_trace_stop(profiler));
    close_profiler(w, profiler);
    begin_look();
    end_look();
}

static void test_a_look_at_a_program_that_traces(void **state) {
    const program p = {.work = trace_meanwhile, .signal = "USR2"};
    (void)state;
    expect_success(&p);
}

/* A thread of the program is in a hook while a look is to end. The next signal ends it. */
static atomic_int is_inside, is_released;

static void wait_in_hook(void *parameters, int result, void *user, void **instance) {
    (void)parameters, (void)result, (void)user, (void)instance;
    atomic_store(&is_inside, 1);
    while (!atomic_load(&is_released))
        nap();
}

static void *ask_for_version(void *driver) {
    ze_api_version_t version;
    ok_on_thread(zeDriverGetApiVersion((ze_driver_handle_t)driver, &version));
    return NULL;
}

static void hold_in_hook(world *w) {
    ze_command_list_handle_t list;
    pthread_t thread;
    begin_look();
    create_immediate(w, &list);
    launch_and_wait(w, list, 3);
    assert_int_equal(pthread_create(&thread, NULL, ask_for_version, w->driver), 0);
    while (!atomic_load(&is_inside))
        nap();
    kill(getpid(), SIGUSR2);
    await_message("a thread still runs in the library. The next USR2 writes", 1);
    launch_and_wait(w, list, 5);
    atomic_store(&is_released, 1);
    pthread_join(thread, NULL);
    assert_no_noted_failure();
    assert_false(exists("run.csv"));
    end_look();
    ok(zeCommandListDestroy(list));
}

static void test_a_hook_that_does_not_return(void **state) {
    zt_hook hook = {"zeDriverGetApiVersion", wait_in_hook, NULL, NULL};
    zt_auto_config config = {0};
    (void)state;
    config.trace.hooks = &hook;
    config.trace.hook_count = 1;
    config.profiler.wait_timeout_ns = 1000000;
    const program p = {.work = hold_in_hook, .signal = "USR2", .config = &config};
    expect_success(&p);
    assert_int_equal(samples_in("run.csv"), 3);
}

/* A log function calls exit, on the thread that follows the signals. */
static void exit_in_log(int result, const char *text, void *user) {
    (void)result, (void)text, (void)user;
    exit(0);
}

static void look_until_exit(world *w) {
    ze_command_list_handle_t list;
    begin_look();
    create_immediate(w, &list);
    launch_and_wait(w, list, 3);
    kill(getpid(), SIGUSR2);
    for (;;)
        pause();
}

static void test_an_exit_in_a_log_function(void **state) {
    zt_auto_config config = {0};
    (void)state;
    config.profiler.log = exit_in_log;
    config.profiler.groups = "";
    const program p = {.work = look_until_exit,
                       .signal = "USR2",
                       .config = &config,
                       .variables = {"ZT_AUTO", "/nowhere/at/all.csv"}};
    expect_success(&p);
    assert_contains(text_of("errors"), "because a callback has called exit");
}

#define SIGNAL_TEST(function)                                                                                \
    cmocka_unit_test_setup_teardown(function, make_clean_directory, remove_directory)

int main(void) {
    const struct CMUnitTest tests[] = {
        SIGNAL_TEST(test_two_looks),
        SIGNAL_TEST(test_looks_with_power),
        SIGNAL_TEST(test_a_first_call_in_a_look),
        SIGNAL_TEST(test_a_signal_by_the_configuration),
        SIGNAL_TEST(test_reports_of_a_path_with_the_process),
        SIGNAL_TEST(test_lists_from_before),
        SIGNAL_TEST(test_old_and_new_lists),
        SIGNAL_TEST(test_a_list_from_before_of_another_context),
        SIGNAL_TEST(test_lists_that_were_recorded_before),
        SIGNAL_TEST(test_a_list_that_is_recorded_in_a_look),
        SIGNAL_TEST(test_a_list_that_is_recorded_with_metrics),
        SIGNAL_TEST(test_what_is_destroyed_between_looks),
        SIGNAL_TEST(test_contexts_that_are_destroyed_between_looks),
        SIGNAL_TEST(test_a_context_that_is_destroyed_in_a_report),
        SIGNAL_TEST(test_a_list_that_runs_when_a_look_ends),
        SIGNAL_TEST(test_threads_go_on),
        SIGNAL_TEST(test_a_signal_that_is_in_use),
        SIGNAL_TEST(test_a_handler_that_is_installed_later),
        SIGNAL_TEST(test_a_signal_in_vain),
        SIGNAL_TEST(test_no_thread_for_the_signal),
        SIGNAL_TEST(test_the_other_signal),
        SIGNAL_TEST(test_errno_is_kept),
        SIGNAL_TEST(test_an_exit_in_a_look),
        SIGNAL_TEST(test_an_exit_without_a_look),
        SIGNAL_TEST(test_an_empty_signal),
        SIGNAL_TEST(test_an_exit_with_signals_on_their_way),
        SIGNAL_TEST(test_a_forked_child),
        SIGNAL_TEST(test_a_mistake_in_the_configuration),
        SIGNAL_TEST(test_a_look_at_a_program_that_traces),
        SIGNAL_TEST(test_a_hook_that_does_not_return),
        SIGNAL_TEST(test_an_exit_in_a_log_function),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
