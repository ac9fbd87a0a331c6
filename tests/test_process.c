/* What copies of the library in a process share: several files with a copy each (ZETOOLS_STATIC); processes
   that fork, and programs that are executed by them. */
#define _GNU_SOURCE
#include <stdlib.h>

#include <pthread.h>

/* With these, tests decide when a thread of the library sets a variable of the environment, and whether the system has
   another key. */
static int set_variable(const char *name, const char *value, int replace);
static int create_key(pthread_key_t *key, void (*destroy)(void *value));

/* With this, they decide whether there is memory for what the library keeps of a process. */
static void *allocate_cleared(size_t count, size_t size);
/* And whether the system has room for an exit function of the library. */
static int add_exit_function(void (*function)(void));

#define ZETOOLS_STATIC
#define ZETOOLS_IMPLEMENTATION
#define ZETOOLS_TRACER
#define ZETOOLS_DEBUG
#define setenv set_variable
#define calloc allocate_cleared
#define atexit add_exit_function
#define pthread_key_create create_key
#include "zetools.h"
#undef calloc
#undef setenv
#undef atexit
#undef pthread_key_create

#include "fixture.h"

#include "plugins/other_file.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* ==== several files ======================================================================================= */

static void measure_here(world *w, zt_profiler *profiler, const char *name) {
    zt_region region = zt_begin(profiler, w->immediate, name);
    launch(w, w->immediate);
    zt_end(&region);
    finish_immediate(w, w->immediate);
}

static zt_config config_with_thread(void) {
    zt_config config = {0};
    config.groups = "ComputeBasic";
    config.thread = 1;
    config.wait_timeout_ns = A_WHILE;
    return config;
}

/* Opened in one file, used in both, closed in either. */
static void test_opened_in_one_file_and_closed_in_another(void **state) {
    world *w = *state;
    uint32_t threads = count_threads();
    for (int i = 0; i < 4; i++) {
        zt_config config = config_with_thread();
        zt_profiler *profiler;
        ok(i % 2 ? zt_open(w->context, w->device, &config, &profiler)
                 : other_open(w->context, w->device, &config, &profiler));
        for (int j = 0; j < 70; j++) {
            measure_here(w, profiler, "here");
            other_run(profiler, w->immediate, "there");
        }
        finish_immediate(w, w->immediate);
        ok(i % 2 ? other_collect(profiler, A_WHILE) : zt_collect(profiler, A_WHILE));
        assert_int_equal(other_counts(profiler).collected, 140);
        assert_int_equal(zt_get_info(profiler).counts.collected, 140);
        if (i % 2)
            other_close(profiler);
        else
            zt_close(profiler);
        assert_int_equal(count_threads_left(threads), threads);
    }
    check_work(w);
}

/* A profiler is still open at exit. The process ends without a crash, and does not wait for an ended thread.
 */
static int leave_open(void) {
    void *state = NULL;
    world *w;
    zt_profiler *profilers[2];
    zt_config config = config_with_thread();
    start(&state);
    open_world(&state);
    w = (world *)state;
    ok(zt_open(w->context, w->device, &config, &profilers[0]));
    ok(other_open(w->context, w->device, &config, &profilers[1]));
    measure_here(w, profilers[0], "here");
    measure_here(w, profilers[1], "here");
    other_close(profilers[0]);
    return 0;
}

static int hangs;            /* atomic */
static uint32_t deaf_before; /* threads that block all signals, as the library's do */

static void hang(const zt_sample *sample, void *user) {
    (void)sample, (void)user;
    __atomic_store_n(&hangs, 1, __ATOMIC_RELEASE);
    for (;;)
        nap();
}

/* Of the library's threads, only the one that hangs is left. The driver is still loaded. */
static void expect_one_thread(void) {
    for (int i = 0; i < 30000 && count_deaf_threads() != deaf_before + 1; i++)
        nap(); /* the system lists an ended thread a little longer */
    _exit(count_deaf_threads() != deaf_before + 1);
}

/* Two are left open, and the thread of the second hangs in a function of the application. */
static int leave_one_hanging(void) {
    void *state = NULL;
    world *w;
    zt_profiler *profilers[2];
    zt_config config = config_with_thread();
    start(&state);
    open_world(&state);
    w = (world *)state;
    deaf_before = count_deaf_threads();
    atexit(expect_one_thread);
    ok(zt_open(w->context, w->device, &config, &profilers[0]));
    config.sample = hang;
    ok(zt_open(w->context, w->device, &config, &profilers[1]));
    measure_here(w, profilers[1], "here");
    await(&hangs);
    return 0;
}

static void exit_at_once(const zt_sample *sample, void *user) {
    (void)sample, (void)user;
    hold_time(1); /* whoever waits by the clock waits for ever */
    exit(0);
}

/* A function of the application ends the program, on the thread of the library. */
static int exit_inside(void) {
    void *state = NULL;
    start(&state);
    open_world(&state);
    world *w = (world *)state;
    zt_config config = config_with_thread();
    config.sample = exit_at_once;
    append(w, open_profiler(w, &config), w->immediate,
           "region"); /* this thread is in no call when exit ends them */
    await(&hangs);    /* it never is */
    return 1;
}

/* Whoever uses memory after it was released does not find it as it was. */
static void *allocate_marked(size_t size, void *user) {
    size_t *memory = (size_t *)malloc(size + 2 * sizeof size);
    (void)user;
    if (memory)
        *memory = size;
    return memory ? memory + 2 : NULL;
}

static void release_marked(void *memory, void *user) {
    (void)user;
    memset(memory, 0xa5, ((size_t *)memory)[-2]);
}

enum { CLOSERS = 8 };

typedef struct closer {
    zt_profiler *profiler;
    int index;
} closer;

static int is_ending, are_sampled, are_closed; /* atomic */

static void end_in_turn(const zt_sample *sample, void *user) {
    const closer *me = (const closer *)user;
    (void)sample;
    __atomic_add_fetch(&are_sampled, 1, __ATOMIC_ACQ_REL);
    await(&is_ending);
    for (int i = 0; i < 20 * (CLOSERS - me->index); i++)
        nap();
}

static void *close_meanwhile(void *user) {
    zt_close(((closer *)user)->profiler);
    __atomic_add_fetch(&are_closed, 1, __ATOMIC_ACQ_REL);
    return NULL;
}

static void await_all(const int *count) {
    while (__atomic_load_n(count, __ATOMIC_ACQUIRE) < CLOSERS)
        nap();
}

static void await_closed(void) {
    await_all(&are_closed);
}

/* The program ends while threads of its own close profilers that have threads of the library's. */
static int close_and_end(void) {
    static closer closers[CLOSERS];
    void *state = NULL;
    pthread_t thread;
    start(&state);
    open_world(&state);
    atexit(await_closed); /* when the library's threads have ended, and before driver and layers are gone */
    world *w = (world *)state;
    zt_config config = config_with_thread();
    config.sample = end_in_turn;
    config.allocator.allocate = allocate_marked;
    config.allocator.release = release_marked;
    for (int i = 0; i < CLOSERS; i++) {
        closers[i].index = i;
        config.sample_user = &closers[i];
        closers[i].profiler = open_profiler(w, &config);
        run(w, closers[i].profiler, "region");
    }
    await_all(&are_sampled);
    for (int i = 0; i < CLOSERS; i++)
        assert_int_equal(pthread_create(&thread, NULL, close_meanwhile, &closers[i]), 0);
    __atomic_store_n(&is_ending, 1, __ATOMIC_RELEASE);
    return 0;
}

static int exit_functions_are_refused;

static int add_exit_function(void (*function)(void)) {
    return exit_functions_are_refused ? -1 : atexit(function);
}

/* Opens a profiler that is to have a thread, and measures. Returns whether it has got one; otherwise that is
   reported, and the program collects itself. */
static int measure_on_a_thread(world *w) {
    zt_config config = config_of(w);
    zt_profiler *profiler;
    uint32_t threads = count_threads();
    config.groups = "ComputeBasic";
    config.thread = 1;
    w->message_count = 0;
    ok(zt_open(w->context, w->device, &config, &profiler));
    int has_thread = count_threads() == threads + 1;
    assert_int_equal(heard(w, "[NO_THREAD] zt_open: config.thread is set, but no thread can be started."),
                     !has_thread);
    for (int i = 0; i < 10; i++)
        measure_here(w, profiler, "region");
    ok(zt_collect(profiler, A_WHILE));
    assert_counts(profiler, counted(10, 10, 0, 0, 0));
    zt_close(profiler);
    assert_int_equal(count_threads_left(threads), threads);
    return has_thread;
}

/* A thread that nobody would stop at exit is not started. */
static int refuse_exit_functions(void) {
    void *state = NULL;
    start(&state);
    open_world(&state);
    world *w = (world *)state;
    exit_functions_are_refused = 1;
    int has_thread = measure_on_a_thread(w);
    exit_functions_are_refused = 0;
    int has_thread_later = measure_on_a_thread(w);
    w->message_count = 0;
    check_work(w);
    close_world(&state);
    return has_thread || !has_thread_later;
}

static void *world_at_exit;

static void measure_at_exit(void) {
    int has_thread = measure_on_a_thread((world *)world_at_exit);
    ((world *)world_at_exit)->message_count = 0;
    close_world(&world_at_exit);
    if (has_thread)
        _exit(1);
}

/* An exit function of the program, which is called after the library has stopped its threads, opens a profiler. */
static int open_at_exit(void) {
    start(&world_at_exit);
    open_world(&world_at_exit);
    atexit(measure_at_exit);
    return !measure_on_a_thread((world *)world_at_exit);
}

typedef struct inner {
    world *w;
    zt_profiler *profiler;
    ze_result_t other, here;
    int called;
} inner;

static void collect_elsewhere(const zt_sample *sample, void *user) {
    inner *me = (inner *)user;
    (void)sample;
    me->other = other_collect(me->profiler, A_WHILE);
    me->here = zt_collect(me->profiler, A_WHILE);
    me->called++;
}

static void *measure_and_collect(void *argument) {
    inner *me = (inner *)argument;
    measure_here(me->w, me->profiler, "region");
    zt_collect(me->profiler, A_WHILE);
    return NULL;
}

static void test_inside_of_another_file(void **state) {
    world *w = *state;
    for (int with_thread = 0; with_thread < 2; with_thread++) {
        inner me = {w, NULL, ZE_RESULT_SUCCESS, ZE_RESULT_SUCCESS, 0};
        zt_config config = {0};
        config.groups = "ComputeBasic";
        config.thread = with_thread;
        config.sample = collect_elsewhere;
        config.sample_user = &me;
        ok(zt_open(w->context, w->device, &config, &me.profiler));
        run_in_time(w, measure_and_collect, &me);
        zt_close(me.profiler);
        assert_int_equal(me.called, 1);
        assert_result(me.other, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
        assert_result(me.here, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    }
    check_work(w);
}

/* ==== fork ================================================================================================ */

static int is_child;

/* In a child, memory of the parent's threads would be reported as leaks. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) {
    return is_child;
}

enum { GUARD_S = 20 };

/* Runs a function in a child, which is killed if it takes too long. Returns its wait status. */
static int status_of_child(int (*child)(void *object), void *object) {
    int status = 0;
    fflush(NULL);
    pid_t process = fork();
    assert_true(process >= 0);
    if (process == 0) {
        is_child = 1;
        signal(SIGALRM, SIG_DFL);
        alarm(GUARD_S);
        exit(child(object));
    }
    assert_int_equal(waitpid(process, &status, 0), process);
    return status;
}

static int variables_set, threads_take_turns, replacements; /* atomic */

static int just_exit(void *profiler) {
    (void)profiler;
    hold_time(1); /* a wait with a deadline would not end */
    return 0;
}

/* The child calls no function of the driver: its handles are of the parent's process. It sets no variable of the
   environment: a thread of the parent may have held the C library's lock for that. */
static int close_and_exit(void *profiler) {
    gpu.reset_calls();
    variables_set = 0;
    zt_close((zt_profiler *)profiler);
    return calls(NULL) > 0 || variables_set > 0;
}

typedef struct open_region {
    world *w;
    zt_region region;
    zt_phase phase;
} open_region;

/* The child has profilers of its own, more than the parent has had. */
static int end_and_exit(void *object) {
    const open_region *open = (const open_region *)object;
    zt_config config = {0};
    config.groups = "";
    config.probes_per_step = 1;
    zt_region first_copy = open->region;
    gpu.reset_calls();
    variables_set = 0;
    zt_end(&first_copy);
    if (variables_set > 0)
        return 3;
    for (int i = 0; i < 100; i++) {
        zt_region copy = open->region;
        zt_profiler *own;
        if (zt_open(open->w->context, open->w->device, &config, &own) != ZE_RESULT_SUCCESS)
            return 2;
        zt_end(&copy);
        zt_close(own);
    }
    return calls("zeCommandListAppendWriteGlobalTimestamp") > 0;
}

static void fork_beside(world *w, int (*child)(void *profiler)) {
    for (int with_thread = 0; with_thread < 2; with_thread++) {
        zt_config config = config_of(w);
        config.groups = "ComputeBasic";
        config.thread = with_thread;
        zt_profiler *profiler = open_profiler(w, &config);
        run(w, profiler, "parent");
        collect_all(profiler);
        int status = status_of_child(child, profiler);
        for (int i = 0; i < 100; i++)
            run(w, profiler, "parent");
        collect_all(profiler);
        assert_counts(profiler, counted(101, 101, 0, 0, 0));
        close_profiler(w, profiler);
        assert_int_equal(status, 0);
    }
    check_work(w);
}

static void test_exit_of_a_child(void **state) {
    fork_beside(*state, just_exit);
}

static void test_close_in_a_child(void **state) {
    fork_beside(*state, close_and_exit);
}

/* A phase of the parent is none of the child, which has its own at the same places. */
static int adopt_and_exit(void *object) {
    const open_region *open = (const open_region *)object;
    zt_config config = {0};
    zt_profiler *own;
    config.groups = "";
    hold_time(1);
    if (zt_open(open->w->context, open->w->device, &config, &own) != ZE_RESULT_SUCCESS)
        return 2;
    zt_phase_begin("child");
    zt_phase_current();
    zt_phase_adopt(open->phase);
    if (zt_phase_current().phase)
        return 3;
    zt_phase_end();
    zt_phase_end();
    return zt_find_path(own, "child") == UINT32_MAX || zt_find_path(own, "parent") != UINT32_MAX;
}

static void test_a_phase_of_the_parent(void **state) {
    open_region open = {(world *)*state, {NULL, 0, 0, 0}, {NULL, 0}};
    zt_profiler *profiler = open_groups(open.w, "ComputeBasic");
    zt_phase_begin("parent");
    open.phase = zt_phase_current();
    int status = status_of_child(adopt_and_exit, &open);
    zt_phase_end();
    close_profiler(open.w, profiler);
    assert_int_equal(status, 0);
}

/* Who asks for a message changes nothing. */
static int ask_and_exit(void *unused) {
    (void)unused;
    variables_set = 0;
    return *zt_last_error(NULL) || last_result() != ZE_RESULT_SUCCESS || *zt_stream_get_info(NULL).error ||
           variables_set > 0;
}

static void test_questions_in_a_child(void **state) {
    (void)state;
    assert_int_equal(status_of_child(ask_and_exit, NULL), 0);
}

static void test_region_in_a_child(void **state) {
    open_region open = {(world *)*state, {NULL, 0, 0, 0}, {NULL, 0}};
    zt_profiler *profiler = open_groups(open.w, "ComputeBasic");
    open.region = zt_begin(profiler, open.w->immediate, "region");
    int status = status_of_child(end_and_exit, &open);
    zt_end(&open.region);
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    assert_int_equal(status, 0);
}

static int close_stream_and_exit(void *stream) {
    gpu.reset_calls();
    variables_set = 0;
    zt_stream_counts counts = end_stream((zt_stream *)stream, NULL, NULL);
    return calls(NULL) > 0 || counts.reports > 0 || variables_set > 0;
}

typedef struct reading {
    zt_stream *stream;
    int is_inside, may_end; /* atomic */
} reading;

static int wait_in_row(const zt_row *row, void *user) {
    reading *me = (reading *)user;
    (void)row;
    __atomic_store_n(&me->is_inside, 1, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&me->may_end, __ATOMIC_ACQUIRE))
        nap();
    return 1;
}

static void *read_one_row(void *user) {
    reading *me = (reading *)user;
    zt_stream_read(me->stream, A_WHILE, wait_in_row, me);
    return NULL;
}

/* In the parent a thread reads the stream, and with `reader` another one reads from the device. */
static void test_stream_in_a_child(void **state) {
    world *w = *state;
    for (int reader = 0; reader < 2; reader++) {
        zt_stream_config config = {0};
        reading me = {NULL, 0, 0};
        pthread_t thread;
        config.thread = reader;
        ok(zt_stream_open(w->context, w->device, &config, &me.stream));
        assert_int_equal(pthread_create(&thread, NULL, read_one_row, &me), 0);
        await(&me.is_inside);
        int status = status_of_child(close_stream_and_exit, me.stream);
        __atomic_store_n(&me.may_end, 1, __ATOMIC_RELEASE);
        join_in_time(w, thread);
        assert_true(end_stream(me.stream, NULL, NULL).reports > 0);
        assert_int_equal(status, 0);
    }
    check_work(w);
}

static int has_no_keys;

static int create_key(pthread_key_t *key, void (*destroy)(void *value)) {
    return has_no_keys ? EAGAIN : pthread_key_create(key, destroy);
}

typedef struct packed {
    world *w;
    void *bytes;
    size_t size;
} packed;

/* Each message names what is missing. Nothing is opened, and all is released. */
static int open_without_keys(void *object) {
    const packed *pack = (const packed *)object;
    world *w = pack->w;
    zt_config config = config_of(w);
    zt_stream_config of_stream = {0};
    zt_debug_config of_debugger = {0};
    zt_profiler *profiler;
    zt_stream *stream;
    zt_debugger *debugger;
    of_stream.log = of_debugger.log = config.log;
    of_stream.log_user = of_debugger.log_user = config.log_user;
    has_no_keys = 1;
    gpu.reset_calls();
    int right =
        zt_open(w->context, w->device, &config, &profiler) == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY &&
        zt_stream_open(w->context, w->device, &of_stream, &stream) == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY &&
        zt_debug_open(w->device, 0, &of_debugger, &debugger) == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY &&
        zt_unpack(pack->bytes, pack->size, NULL, &profiler) == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    right &= calls(NULL) == 0 && heard(w, "[NO_SHARED_DATA]") == 3 && w->message_count == 3 &&
             heard(w, "zt_open: no memory or no key") == 1;
    has_no_keys = 0;
    if (zt_unpack(pack->bytes, pack->size, NULL, &profiler) != ZE_RESULT_SUCCESS)
        return 2;
    zt_close(profiler);
    return !right;
}

static void test_no_key_for_what_is_shared(void **state) {
    packed pack = {(world *)*state, NULL, 0};
    zt_profiler *profiler = open_groups(pack.w, "ComputeBasic");
    run(pack.w, profiler, "parent");
    collect_all(profiler);
    ok(zt_pack(profiler, NULL, &pack.size));
    pack.bytes = malloc(pack.size);
    assert_non_null(pack.bytes);
    ok(zt_pack(profiler, pack.bytes, &pack.size));
    assert_int_equal(status_of_child(open_without_keys, &pack), 0);
    free(pack.bytes);
    close_profiler(pack.w, profiler);
}

/* ==== programs that are executed ========================================================================== */

/* Executes this program again, in a role. Keeps the command line, which may begin with a dynamic linker. */
static void become(const char *role) {
    static char line[1 << 16];
    char *arguments[64];
    size_t size, used = 0;
    int count = 0;
    FILE *file = fopen("/proc/self/cmdline", "r");
    if (!file)
        return;
    size = fread(line, 1, sizeof line - 1, file);
    fclose(file);
    while (used < size && count < 63) {
        arguments[count++] = line + used;
        used += strlen(line + used) + 1;
    }
    arguments[count] = NULL;
    setenv("ZT_TEST_ROLE", role, 1);
    alarm(GUARD_S);
    execvp(arguments[0], arguments);
}

static int measure_alone(void) {
    void *state = NULL;
    start(&state);
    open_world(&state);
    world *w = (world *)state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    for (int i = 0; i < 100; i++)
        run(w, profiler, "region");
    collect_all(profiler);
    assert_counts(profiler, counted(100, 100, 0, 0, 0));
    close_profiler(w, profiler);
    close_world(&state);
    return 0;
}

static int has_no_memory;

static void *allocate_cleared(size_t count, size_t size) {
    return has_no_memory ? NULL : calloc(count, size);
}

/* The first call of the library has memory for a stream, and none for what a process keeps. */
static int open_without_memory(void) {
    void *state = NULL;
    start_without_library(&state);
    open_world(&state);
    world *w = (world *)state;
    zt_stream_config config = {0};
    zt_stream *stream;
    config.log = config_of(w).log;
    config.log_user = w;
    has_no_memory = 1;
    assert_result(zt_stream_open(w->context, w->device, &config, &stream),
                  ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    assert_null(stream);
    assert_int_equal(heard(w, "[NO_SHARED_DATA]"), 1);
    assert_result(last_result(), ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    assert_contains(zt_last_error(NULL), "[NO_SHARED_DATA]");
    has_no_memory = 0;
    ok(zt_stream_open(w->context, w->device, &config, &stream));
    assert_int_equal(w->message_count, 1);
    zt_stream_close(stream, NULL, NULL, NULL);
    close_world(&state);
    return 0;
}

/* The executed program has the same process identifier and environment, and shares nothing else. */
static int open_and_become(void) {
    void *state = NULL;
    is_child = 1;
    start(&state);
    open_world(&state);
    zt_profiler *profiler = open_groups((world *)state, "ComputeBasic");
    run((world *)state, profiler, "region");
    collect_all(profiler);
    become("measure");
    return 1;
}

/* A child that outlives its parent does not overwrite the parent's report. */
static int trace_and_fork(void) {
    void *state = NULL;
    pid_t parent = getpid();
    zt_auto_config config = {0};
    config.report = getenv("ZT_TEST_REPORT");
    ok(zt_auto(&config));
    start(&state);
    open_world(&state);
    world *w = (world *)state;
    for (int i = 0; i < 3; i++)
        launch(w, w->immediate);
    finish_immediate(w, w->immediate);
    if (fork() == 0) {
        is_child = 1;
        alarm(GUARD_S);
        while (getppid() == parent)
            nap();
        exit(0);
    }
    for (int i = 0; i < 2; i++)
        launch(w, w->immediate);
    check_work(w);
    close_world(&state);
    return 0;
}

/* A thread of the parent may hold each mutex of the tracer. */
static int lock_events_and_fork(void) {
    void *state = NULL;
    int status = 1;
    setenv("ZE_ENABLE_TRACING_LAYER", "1", 1);
    start(&state);
    open_world(&state);
    world *w = (world *)state;
    zt_config config = config_of(w);
    config.groups = "";
    zt_profiler *profiler = open_profiler(w, &config);
    ok(zt_trace_start(profiler, NULL));
    zt__lock(&profiler->tracer->mutex);
    zt__lock(&profiler->tracer->event_mutex);
    pid_t process = fork();
    if (process == 0) {
        is_child = 1;
        alarm(GUARD_S);
        zt__lock(&profiler->tracer->mutex);
        zt__lock(&profiler->tracer->event_mutex);
        _exit(0);
    }
    zt__unlock(&profiler->tracer->event_mutex);
    zt__unlock(&profiler->tracer->mutex);
    waitpid(process, &status, 0);
    close_profiler(w, profiler);
    close_world(&state);
    return status != 0;
}

/* If threads take turns, the first one to replace the variable waits for a second one, and that one until the
   first has long gone on. */
static int set_variable(const char *name, const char *value, int replace) {
    int waits = replace && __atomic_load_n(&threads_take_turns, __ATOMIC_ACQUIRE);
    __atomic_fetch_add(&variables_set, 1, __ATOMIC_RELAXED);
    int turn = waits ? __atomic_fetch_add(&replacements, 1, __ATOMIC_ACQ_REL) : 0;
    for (int i = 0; waits && i < 100 && __atomic_load_n(&replacements, __ATOMIC_ACQUIRE) < 2; i++)
        nap();
    for (int i = 0; i < 100 * turn; i++)
        nap();
    return setenv(name, value, replace);
}

static void *get_process(void *process) {
    *(zt__process **)process = zt__get_process();
    return NULL;
}

/* The variable is that of the program which has executed this one, so it is replaced. */
static int get_process_on_two_threads(void) {
    pthread_t threads[2];
    zt__process *processes[2] = {NULL, NULL};
    __atomic_store_n(&threads_take_turns, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, get_process, &processes[i]) != 0)
            return 1;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return !processes[0] || processes[0] != processes[1];
}

static int do_nothing(void) {
    return 0;
}

static const struct {
    const char *name;
    int (*play)(void);
} roles[] = {
    {"measure", measure_alone},
    {"open without memory", open_without_memory},
    {"open and become", open_and_become},
    {"leave open", leave_open},
    {"leave one hanging", leave_one_hanging},
    {"trace and fork", trace_and_fork},
    {"lock events and fork", lock_events_and_fork},
    {"nothing", do_nothing},
    {"exit inside", exit_inside},
    {"close and end", close_and_end},
    {"refuse exit functions", refuse_exit_functions},
    {"open at exit", open_at_exit},
    {"first call on two threads", get_process_on_two_threads},
};

static int play(const char *role) {
    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++)
        if (strcmp(roles[i].name, role) == 0)
            return roles[i].play();
    return 99;
}

static void expect_success_as(const char *role) {
    int status = 0;
    char output[4096] = "";
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t process = fork();
    assert_true(process >= 0);
    if (process == 0) {
        dup2(ends[1], 1);
        dup2(ends[1], 2);
        close(ends[0]);
        become(role);
        _exit(98);
    }
    close(ends[1]);
    FILE *file = fdopen(ends[0], "r");
    assert_non_null(file);
    output[fread(output, 1, sizeof output - 1, file)] = 0;
    fclose(file);
    assert_int_equal(waitpid(process, &status, 0), process);
    if (status != 0)
        fail_msg("as '%s' it ended with status 0x%x:\n%s", role, (unsigned)status, output);
}

static void test_executed_beside_a_profiler(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    run(w, profiler, "parent");
    expect_success_as("nothing");
    expect_success_as("measure");
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    close_profiler(w, profiler);
    expect_success_as("measure");
    check_work(w);
}

static void test_executed_in_the_place_of_a_profiler(void **state) {
    (void)state;
    expect_success_as("open and become");
}

static void test_no_memory_at_the_first_call(void **state) {
    (void)state;
    expect_success_as("open without memory");
}

static void test_first_call_on_two_threads(void **state) {
    (void)state;
    assert_non_null(zt__get_process()); /* sets the variable that the program inherits */
    expect_success_as("first call on two threads");
}

/* The program leaves the world or a profiler open, which sanitizers take for leaks. */
static void expect_success_left_open(const char *role) {
    if (INSTRUMENTED)
        skip();
    expect_success_as(role);
}

static void test_left_open(void **state) {
    (void)state;
    expect_success_left_open("leave open");
}

static void test_left_open_with_a_thread_that_hangs(void **state) {
    (void)state;
    expect_success_left_open("leave one hanging");
}

static void test_exit_in_a_sample_function(void **state) {
    (void)state;
    expect_success_left_open("exit inside");
}

static void test_exit_while_another_thread_closes(void **state) {
    (void)state;
    expect_success_left_open("close and end");
}

/* Some programs mend faults in a handler: those with a garbage collector, or with memory that is filled when it is
   first read. Functions of the application that the library's thread calls may cause these, too. */
static struct {
    int *value; /* in memory that cannot be read at first */
    size_t size;
    struct sigaction before;
    int sum;
} mended;

static void mend_fault(int number, siginfo_t *fault, void *context) {
    if (fault->si_addr == (void *)mended.value &&
        mprotect(mended.value, mended.size, PROT_READ | PROT_WRITE) == 0)
        return;
    sigaction(number, &mended.before, NULL);
    (void)context;
}

static void read_value(const zt_sample *sample, void *user) {
    (void)sample, (void)user;
    mended.sum += *mended.value + 1;
}

static void test_a_fault_in_a_sample_function(void **state) {
    world *w = *state;
    struct sigaction mend;
    zt_config config = config_of(w);
    memset(&mend, 0, sizeof mend);
    mend.sa_sigaction = mend_fault;
    mend.sa_flags = SA_SIGINFO;
    mended.sum = 0;
    mended.size = (size_t)sysconf(_SC_PAGESIZE);
    mended.value = mmap(NULL, mended.size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(mended.value, MAP_FAILED);
    config.groups = "";
    config.thread = 1;
    config.sample = read_value;
    zt_profiler *profiler = open_profiler(w, &config);
    assert_int_equal(sigaction(SIGSEGV, &mend, &mended.before), 0);
    for (int i = 0; i < 3; i++)
        run(w, profiler, "mended");
    collect_all(profiler);
    close_profiler(w, profiler);
    assert_int_equal(sigaction(SIGSEGV, &mended.before, NULL), 0);
    assert_int_equal(mended.sum, 3);
    assert_int_equal(munmap(mended.value, mended.size), 0);
    check_work(w);
}

static void test_no_thread_without_an_exit_function(void **state) {
    (void)state;
    expect_success_as("refuse exit functions");
}

static void test_no_thread_is_started_at_exit(void **state) {
    (void)state;
    expect_success_as("open at exit");
}

static void test_report_of_a_parent(void **state) {
    char path[] = "/tmp/zetools-process-XXXXXX.csv", text[4096] = "";
    (void)state;
    int file = mkstemps(path, 4);
    assert_true(file >= 0);
    close(file);
    setenv("ZT_TEST_REPORT", path, 1);
    expect_success_as("trace and fork"); /* returns after the child has closed its output, too */
    unsetenv("ZT_TEST_REPORT");
    FILE *report = fopen(path, "r");
    assert_non_null(report);
    text[fread(text, 1, sizeof text - 1, report)] = 0;
    fclose(report);
    unlink(path);
    assert_contains(text, "\"saxpy\",\"GPU time\"");
    assert_contains(text, ",sum,5,");
}

static void test_fork_with_mutexes_of_the_tracer(void **state) {
    (void)state;
    expect_success_as("lock events and fork");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_opened_in_one_file_and_closed_in_another),
        TEST(test_inside_of_another_file),
        TEST(test_exit_of_a_child),
        TEST(test_close_in_a_child),
        TEST(test_a_phase_of_the_parent),
        TEST(test_questions_in_a_child),
        TEST(test_region_in_a_child),
        TEST(test_stream_in_a_child),
        TEST(test_no_key_for_what_is_shared),
        TEST(test_executed_beside_a_profiler),
        TEST(test_executed_in_the_place_of_a_profiler),
        TEST(test_no_memory_at_the_first_call),
        TEST(test_first_call_on_two_threads),
        TEST(test_left_open),
        TEST(test_left_open_with_a_thread_that_hangs),
        TEST(test_a_fault_in_a_sample_function),
        TEST(test_exit_in_a_sample_function),
        TEST(test_exit_while_another_thread_closes),
        TEST(test_no_thread_without_an_exit_function),
        TEST(test_no_thread_is_started_at_exit),
        TEST(test_report_of_a_parent),
        TEST(test_fork_with_mutexes_of_the_tracer),
    };
    const char *role = getenv("ZT_TEST_ROLE");
    if (role)
        return play(role);
    return cmocka_run_group_tests(tests, start, NULL);
}
