/* Fork, exec, exit and signals at any moment: while threads are in every kind of call of the library, a
   program forks, ends, or has a storm of signals. Nothing hangs, nothing is lost, and what the program has
   arranged for signals stays as it is.

   Each test runs in a process of its own, which is forked before Level Zero is initialised. */
#define _GNU_SOURCE
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GUARD_S = 100, CHILD_GUARD_S = 30 };

/* ==== processes =========================================================================================== */

static int leaves_memory; /* not 0: in a child, or a process that ends in the middle */

/* Memory of threads that do not exist there would be reported as leaks. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) {
    return leaves_memory;
}

static void print_output(FILE *output) {
    char line[4096];
    rewind(output);
    while (fgets(line, sizeof line, output))
        print_error("%s", line);
}

/* Runs a test in a process of its own, which ends as the test says. */
static void expect_success_of(const struct CMUnitTest *test) {
    int status = 0;
    FILE *output = tmpfile();
    assert_non_null(output);
    fflush(NULL);
    pid_t process = fork();
    if (process == 0) {
        dup2(fileno(output), 1);
        dup2(fileno(output), 2);
        alarm(GUARD_S);
        setenv("ZET_ENABLE_PROGRAM_DEBUGGING", "1", 1);
        setenv("ZE_ENABLE_TRACING_LAYER", "1", 1); /* older loaders want it */
        int failed = _cmocka_run_group_tests("process", test, 1, start, NULL);
        fflush(NULL);
        _exit(failed);
    }
    assert_int_equal(waitpid(process, &status, 0), process);
    if (status != 0)
        print_output(output);
    fclose(output);
    if (status != 0)
        fail_msg("%s ends with status 0x%x", test->name, (unsigned)status);
}

/* ==== what goes on ======================================================================================== */

typedef struct stage {
    world *w;
    zt_profiler *profiler, *tracing;
    zt_stream *stream;
    zt_region open;
    uint32_t launches; /* atomic, like the next */
    int is_over;
    int turns[8]; /* of each activity, so that none stands still. Atomic */
} stage;

static stage on;

static int goes_on(int activity) {
    __atomic_add_fetch(&on.turns[activity], 1, __ATOMIC_RELAXED);
    return !__atomic_load_n(&on.is_over, __ATOMIC_ACQUIRE);
}

static void release_list(ze_command_list_handle_t list) {
    ze_result_t result = zt_release(on.profiler, list);
    if (result != ZE_RESULT_SUCCESS && result != ZE_RESULT_NOT_READY) /* another thread collects */
        note_failure("zt_release", result);
}

static void launch_on(ze_command_list_handle_t list, ze_kernel_handle_t kernel) {
    const ze_group_count_t groups = {WORK_GROUPS, 1, 1};
    ok_on_thread(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
    __atomic_add_fetch(&on.launches, 1, __ATOMIC_RELAXED);
}

static void *measure_immediate(void *unused) {
    ze_command_list_handle_t list;
    ze_kernel_handle_t kernel;
    (void)unused;
    ze_command_queue_desc_t desc = {
        ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, NULL, 0, 0, 0, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS,
        ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
    ok_on_thread(zeCommandListCreateImmediate(on.w->context, on.w->device, &desc, &list));
    create_kernel(on.w, &kernel);
    while (goes_on(0)) {
        zt_region outer = zt_begin(on.profiler, list, "outer");
        zt_region inner = zt_begin(on.profiler, list, "inner");
        launch_on(list, kernel);
        zt_end(&inner);
        zt_end(&outer);
        ze_result_t result = zt_collect(on.profiler, 1000000);
        if (result != ZE_RESULT_SUCCESS && result != ZE_RESULT_NOT_READY) /* others have begun regions */
            note_failure("zt_collect", result);
    }
    release_list(list);
    ok_on_thread(zeKernelDestroy(kernel));
    ok_on_thread(zeCommandListDestroy(list));
    return NULL;
}

static void *measure_recorded(void *unused) {
    ze_command_list_handle_t list;
    ze_kernel_handle_t kernel;
    (void)unused;
    create_list(on.w, &list);
    create_kernel(on.w, &kernel);
    while (goes_on(1)) {
        zt_region region = zt_begin(on.profiler, list, "recorded");
        launch_on(list, kernel);
        zt_end(&region);
        ok_on_thread(zeCommandListClose(list));
        ok_on_thread(zt_execute(on.profiler, on.w->queue, 1, &list, NULL));
        ok_on_thread(zeCommandQueueSynchronize(on.w->queue, A_WHILE));
        ok_on_thread(zt_reset(on.profiler, list));
    }
    release_list(list);
    ok_on_thread(zeKernelDestroy(kernel));
    ok_on_thread(zeCommandListDestroy(list));
    return NULL;
}

static void *write_reports(void *unused) {
    static const char *const names[] = {"run.json", "run.csv", "run.trace.json", "run.html", "run.prom"};
    char path[128];
    (void)unused;
    while (goes_on(2))
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            snprintf(path, sizeof path, "%s/%s", test_directory, names[i]);
            ok_on_thread(zt_report(on.profiler, path));
        }
    return NULL;
}

static int take_row(const zt_row *row, void *user) {
    (void)row, (void)user;
    return 0;
}

static void *read_rows_of(void *unused) {
    (void)unused;
    while (goes_on(3))
        ok_on_thread(zt_stream_read(on.stream, A_WHILE, take_row, NULL));
    return NULL;
}

static void *start_and_stop_tracing(void *unused) {
    (void)unused;
    while (goes_on(4)) {
        ok_on_thread(zt_trace_start(on.tracing, NULL));
        nap();
        ok_on_thread(zt_trace_stop(on.tracing));
    }
    return NULL;
}

static void *start_and_stop_watching(void *unused) {
    zt_watch_config config = {0};
    config.path = "";
    (void)unused;
    while (goes_on(5)) {
        ze_result_t result = zt_watch(on.profiler, &config);
        nap();
        if (result == ZE_RESULT_SUCCESS)
            result = zt_watch_stop(on.profiler);
        if (result != ZE_RESULT_SUCCESS && result != ZE_RESULT_NOT_READY) /* on a busy machine */
            note_failure("zt_watch", result);
    }
    return NULL;
}

static void *(*const activities[])(void *) = {measure_immediate,      measure_recorded,
                                              write_reports,          read_rows_of,
                                              start_and_stop_tracing, start_and_stop_watching};
enum { ACTIVITIES = sizeof activities / sizeof activities[0] };
static pthread_t threads[ACTIVITIES];

static void begin_all(world *w) {
    zt_config config = config_of(w);
    zt_stream_config sampling = {0};
    memset(&on, 0, sizeof on);
    on.w = w;
    config.groups = "";
    config.timeline = 256;
    config.thread = 1;
    gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 0);
    on.profiler = open_profiler(w, &config);
    config.thread = 0;
    on.tracing = open_profiler(w, &config);
    sampling.thread = 1;
    sampling.profiler = on.profiler;
    ok(zt_stream_open(w->context, w->device, &sampling, &on.stream));
    on.open = zt_begin(on.tracing, w->immediate, "open");
    for (int i = 0; i < ACTIVITIES; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, activities[i], NULL), 0);
}

/* Until each has had so many turns more, however slow they are. */
static void await_turns(int count) {
    for (int i = 0; i < ACTIVITIES; i++) {
        int begin = __atomic_load_n(&on.turns[i], __ATOMIC_RELAXED), seen = begin, now;
        uint64_t limit = now_ns() + A_WHILE;
        while ((now = __atomic_load_n(&on.turns[i], __ATOMIC_RELAXED)) < begin + count &&
               !has_noted_failure()) {
            if (now != seen)
                limit = now_ns() + A_WHILE;
            else if (now_ns() > limit)
                fail_msg("activity %d stands still", i);
            seen = now;
            nap();
        }
    }
}

static void end_all(void) {
    world *w = on.w;
    zt_end(&on.open);
    finish_immediate(w, w->immediate);
    __atomic_store_n(&on.is_over, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < ACTIVITIES; i++)
        join_in_time(w, threads[i]);
    assert_no_noted_failure();
    zt_stream_counts rows = end_stream(on.stream, NULL, NULL);
    assert_int_equal(rows.reports, rows.rows + rows.discarded + rows.waiting);
    collect_all(on.profiler);
    zt_counts counts = zt_get_info(on.profiler).counts;
    assert_int_equal(counts.collected, counts.begun);
    w->launches += on.launches;
    check_work(w);
    close_profiler(w, on.tracing);
    close_profiler(w, on.profiler);
}

/* ==== fork and exec ======================================================================================= */

/* What a child does that has what its parent has measured with. Returns 0 if that is as promised. */
static int play_child(int way) {
    zt_region copy = on.open;
    switch (way) {
    case 0:
        _exit(0);
    case 1:
        execl("/bin/true", "true", (char *)NULL);
        return 98;
    case 2:
        gpu.reset_calls();
        zt_end(&copy);
        zt_stream_close(on.stream, NULL, NULL, NULL);
        zt_close(on.tracing);
        zt_close(on.profiler);
        _exit(calls(NULL) > 0);
    default:
        exit(0);
    }
}

/* In turn, the children end at once, execute, close what is the parent's, and exit. */
static void fork_often(void **state) {
    enum { FORKS = 40 };
    world *w = *state;
    begin_all(w);
    await_turns(1);
    for (int i = 0; i < OFTEN(FORKS); i++) {
        int status = 0;
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            leaves_memory = 1;
            signal(SIGALRM, SIG_DFL);
            alarm(CHILD_GUARD_S);
            exit(play_child(i % 4));
        }
        assert_true(child > 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        if (status != 0)
            fail_msg("child %d ends with status 0x%x", i, (unsigned)status);
    }
    await_turns(1);
    end_all();
}

static void test_fork_and_exec_at_any_moment(void **state) {
    const struct CMUnitTest test = TEST(fork_often);
    (void)state;
#ifdef __SANITIZE_THREAD__
    puts("skipped: ThreadSanitizer does not support forks of a process with several threads");
    skip();
#endif
    expect_success_of(&test);
}

/* ==== signals ============================================================================================= */

static const int watched[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGPIPE, SIGALRM, SIGTERM,
                              SIGUSR1, SIGUSR2, SIGCHLD, SIGCONT, SIGPROF};
enum { WATCHED = sizeof watched / sizeof watched[0] };

static struct {
    uint64_t handled; /* atomic */
    sigset_t mask;    /* of the main thread */
    struct sigaction actions[WATCHED];
} before;

static void count_signal(int number) {
    int error = errno;
    (void)number;
    __atomic_add_fetch(&before.handled, 1, __ATOMIC_RELAXED);
    errno = error;
}

static void begin_storm(int flags) {
    struct itimerval often = {{0, 300}, {0, 300}};
    struct sigaction handler = {.sa_handler = count_signal, .sa_flags = flags};
    ok(sigaction(SIGALRM, &handler, NULL) ? ZE_RESULT_ERROR_UNKNOWN : ZE_RESULT_SUCCESS);
    pthread_sigmask(SIG_SETMASK, NULL, &before.mask);
    for (int i = 0; i < WATCHED; i++)
        sigaction(watched[i], NULL, &before.actions[i]);
    setitimer(ITIMER_REAL, &often, NULL);
}

/* Neither what the program does at signals has changed, nor which ones it blocks. */
static void end_storm(void) {
    struct itimerval never = {{0, 0}, {0, 0}};
    sigset_t mask;
    setitimer(ITIMER_REAL, &never, NULL);
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    for (int number = 1; number < 32; number++)
        assert_int_equal(sigismember(&mask, number), sigismember(&before.mask, number));
    for (int i = 0; i < WATCHED; i++) {
        struct sigaction now;
        sigaction(watched[i], NULL, &now);
        assert_true(now.sa_handler == before.actions[i].sa_handler);
        assert_int_equal(now.sa_flags, before.actions[i].sa_flags);
    }
    assert_true(__atomic_load_n(&before.handled, __ATOMIC_RELAXED) > 0);
}

/* Reads from a pipe late and little by little, so that whoever writes to it waits: first for somebody to
   read, then for room. Returns how much it was. */
static void *read_slowly(void *path) {
    static size_t total;
    char bytes[1024];
    ssize_t size;
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    total = 0;
    nap();
    int file = open(path, O_RDONLY);
    fcntl(file, F_SETPIPE_SZ, 4096);
    while ((size = read(file, bytes, sizeof bytes)) > 0) {
        total += (size_t)size;
        if (total % 4096 < sizeof bytes)
            nap();
    }
    close(file);
    return &total;
}

static int count_bytes(const void *bytes, size_t size, void *total) {
    (void)bytes;
    *(size_t *)total += size;
    return 0;
}

/* A report to a pipe comes out whole. */
static void report_to_a_pipe(const zt_profiler *profiler) {
    size_t expected = 0;
    void *total;
    char path[128];
    pthread_t thread;
    snprintf(path, sizeof path, "%s/pipe.json", test_directory);
    ok(mkfifo(path, 0600) ? ZE_RESULT_ERROR_UNKNOWN : ZE_RESULT_SUCCESS);
    ok(zt_write(profiler, ZT_FORMAT_JSON, count_bytes, &expected));
    assert_true(expected > 65536); /* more than there is room for */
    assert_int_equal(pthread_create(&thread, NULL, read_slowly, path), 0);
    ok(zt_report(profiler, path));
    pthread_join(thread, &total);
    assert_int_equal(*(size_t *)total, expected);
    unlink(path);
}

/* A profiler whose reports are long, and do not change. */
static zt_profiler *open_still(world *w) {
    zt_config config = config_of(w);
    char name[32];
    config.groups = "";
    zt_profiler *profiler = open_profiler(w, &config);
    for (int i = 0; i < 300; i++) {
        snprintf(name, sizeof name, "region %d", i);
        run(w, profiler, name);
    }
    collect_all(profiler);
    zt_profiler *still = repacked(profiler);
    close_profiler(w, profiler);
    return still;
}

static void storm(world *w, int flags) {
    zt_profiler *still = open_still(w);
    begin_all(w);
    begin_storm(flags);
    for (int i = 0; i < 3; i++)
        report_to_a_pipe(still);
    await_turns(OFTEN(20));
    end_storm();
    end_all();
    zt_close(still);
}

static void storm_with_restart(void **state) {
    storm(*state, SA_RESTART);
}

static void storm_without_restart(void **state) {
    storm(*state, 0);
}

static void test_signals_that_restart_calls(void **state) {
    const struct CMUnitTest test = TEST(storm_with_restart);
    (void)state;
    expect_success_of(&test);
}

static void test_signals_that_interrupt_calls(void **state) {
    const struct CMUnitTest test = TEST(storm_without_restart);
    (void)state;
    expect_success_of(&test);
}

static void *read_a_byte(void *path) {
    char byte;
    int file = open(path, O_RDONLY);
    if (read(file, &byte, 1) != 1)
        note_failure("read", ZE_RESULT_ERROR_UNKNOWN);
    close(file);
    return NULL;
}

/* A report cannot be written to the end. That is an error of the report, and not the end of the program, also
   where the program has blocked the signal of it and one is pending. */
static void expect_failures(const zt_profiler *profiler, const char *path, int reason, int number,
                            void *(*read_some)(void *path)) {
    pthread_t thread;
    sigset_t set, mask;
    sigemptyset(&set);
    sigaddset(&set, number);
    for (int is_pending = 0; is_pending < 2; is_pending++) {
        if (is_pending) {
            pthread_sigmask(SIG_BLOCK, &set, NULL);
            pthread_kill(pthread_self(), number);
        }
        if (read_some)
            assert_int_equal(pthread_create(&thread, NULL, read_some, (void *)(uintptr_t)path), 0);
        assert_result(zt_report(profiler, path), ZE_RESULT_ERROR_UNKNOWN);
        if (read_some)
            pthread_join(thread, NULL);
        assert_no_noted_failure();
        assert_contains(zt_get_info(profiler).error, strerror(reason));
        pthread_sigmask(SIG_SETMASK, NULL, &mask);
        assert_int_equal(sigismember(&mask, number), is_pending);
        sigpending(&mask);
        assert_int_equal(sigismember(&mask, number), is_pending);
    }
}

/* Nobody reads the rest. */
static void report_without_reader(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_still(w);
    char path[128];
    snprintf(path, sizeof path, "%s/left.json", test_directory);
    ok(mkfifo(path, 0600) ? ZE_RESULT_ERROR_UNKNOWN : ZE_RESULT_SUCCESS);
    expect_failures(profiler, path, EPIPE, SIGPIPE, read_a_byte);
    unlink(path);
    zt_close(profiler);
}

static void test_a_report_that_nobody_reads(void **state) {
    const struct CMUnitTest test = TEST(report_without_reader);
    (void)state;
    expect_success_of(&test);
}

/* Files may not be as large, such as in a batch system. */
static void report_above_the_limit(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_still(w);
    struct rlimit unlimited, limit;
    struct stat seen;
    char path[128];
    snprintf(path, sizeof path, "%s/large.json", test_directory);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &unlimited), 0);
    limit = unlimited;
    limit.rlim_cur = 10000;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    expect_failures(profiler, path, EFBIG, SIGXFSZ, NULL);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &unlimited), 0);
    assert_int_equal(stat(path, &seen), -1);
    zt_close(profiler);
}

static void test_a_report_above_the_limit(void **state) {
    const struct CMUnitTest test = TEST(report_above_the_limit);
    (void)state;
    expect_success_of(&test);
}

/* Messages that nobody reads are lost, and the program goes on. */
static void print_without_reader(void **state) {
    world *w = *state;
    zt_config config = {0};
    zt_profiler *profiler;
    int ends[2], error = dup(2);
    config.groups = "";
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    fflush(stderr);
    dup2(ends[1], 2);
    setenv("ZT_LOG", "stderr", 1);
    ze_result_t opened = zt_open(w->context, w->device, &config, &profiler);
    ze_result_t refused = zt_report(profiler, "run.unknown");
    zt_close(profiler);
    setenv("ZT_LOG", "1", 1);
    setenv("ZT_AUTO", "run.unknown", 1);
    ze_result_t traced = zt_auto(NULL);
    unsetenv("ZT_AUTO");
    unsetenv("ZT_LOG");
    dup2(error, 2);
    close(error);
    close(ends[1]);
    ok(opened);
    assert_result(refused, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_result(traced, ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

static void test_messages_that_nobody_reads(void **state) {
    const struct CMUnitTest test = TEST(print_without_reader);
    (void)state;
    expect_success_of(&test);
}

/* Opens a pipe, and reads all from it when signals have been handled. Returns how much it was. */
static void *read_after_signals(void *path) {
    enum { SIGNALS = 100 };
    static size_t total;
    char bytes[1024];
    ssize_t size;
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    total = 0;
    int file = open(path, O_RDONLY);
    while (__atomic_load_n(&before.handled, __ATOMIC_RELAXED) < SIGNALS)
        nap();
    while ((size = read(file, bytes, sizeof bytes)) > 0)
        total += (size_t)size;
    close(file);
    return &total;
}

/* Signals arrive while the library waits for room in a pipe, and the program has printed what is not written
   yet. That is not lost. */
static void print_and_report(void **state) {
    static const char printed[] = "the program prints this\n";
    world *w = *state;
    zt_profiler *profiler = open_still(w);
    size_t expected = strlen(printed);
    int output = dup(1), pipe;
    char path[128];
    void *total;
    pthread_t thread;
    ok(zt_write(profiler, ZT_FORMAT_TABLE, count_bytes, &expected));
    snprintf(path, sizeof path, "%s/output", test_directory);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(pthread_create(&thread, NULL, read_after_signals, path), 0);
    pipe = open(path, O_WRONLY);
    assert_true(pipe >= 0);
    fcntl(pipe, F_SETFL, O_NONBLOCK);
    for (ssize_t size; (size = write(pipe, path, sizeof path)) > 0;) /* until it is full */
        expected += (size_t)size;
    fcntl(pipe, F_SETFL, 0);
    fflush(stdout);
    dup2(pipe, 1);
    close(pipe);
    begin_storm(0);
    int is_printed = printf("%s", printed) > 0;
    ze_result_t result = zt_report(profiler, "-");
    end_storm();
    int has_failed = ferror(stdout);
    dup2(output, 1);
    close(output);
    pthread_join(thread, &total);
    unlink(path);
    ok(result);
    assert_true(is_printed && !has_failed);
    assert_int_equal(*(size_t *)total, expected);
    zt_close(profiler);
}

static void test_signals_while_the_program_prints(void **state) {
    const struct CMUnitTest test = TEST(print_and_report);
    (void)state;
    expect_success_of(&test);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fork_and_exec_at_any_moment),
        cmocka_unit_test(test_signals_that_restart_calls),
        cmocka_unit_test(test_signals_that_interrupt_calls),
        cmocka_unit_test(test_a_report_that_nobody_reads),
        cmocka_unit_test(test_a_report_above_the_limit),
        cmocka_unit_test(test_messages_that_nobody_reads),
        cmocka_unit_test(test_signals_while_the_program_prints),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
