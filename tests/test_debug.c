/* zt_debug_...: a device's threads are stopped and examined. */
#define _GNU_SOURCE
#include "endless.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const zt_debug_thread all_threads = {ZT_DEBUG_ALL, ZT_DEBUG_ALL, ZT_DEBUG_ALL, ZT_DEBUG_ALL};
static const zt_debug_thread first_thread = {0, 0, 0, 0};

/* ==== in the place of the driver ========================================================================== */

/* What is not 0 is answered instead of what the software device answers. */
static struct pretended {
    const zet_debug_event_t *events; /* the next ones; there are no others */
    int event_count;
    const uint8_t *memory; /* the file of each module that these load. NULL: it cannot be read */
    int forgets_registers; /* counts sets, and then returns none */
    int is_lost_after_detaching;
    ze_result_t refusal; /* of each event that is acknowledged */
    int has_other_users; /* processes are those of other users, who get no signals from this one */
    uint32_t variables_set;
} pretended;

int kill(pid_t receiver, int number) {
    if (!pretended.has_other_users)
        return REAL(kill)(receiver, number);
    errno = EPERM;
    return -1;
}

int setenv(const char *name, const char *value, int replaces) {
    __atomic_fetch_add(&pretended.variables_set, 1, __ATOMIC_RELAXED);
    return REAL(setenv)(name, value, replaces);
}

ze_result_t ZE_APICALL zetDebugReadEvent(zet_debug_session_handle_t session, uint64_t timeout,
                                         zet_debug_event_t *event) {
    if (!pretended.events)
        return REAL(zetDebugReadEvent)(session, timeout, event);
    if (pretended.event_count == 0)
        return ZE_RESULT_NOT_READY;
    *event = *pretended.events++;
    pretended.event_count--;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zetDebugReadMemory(zet_debug_session_handle_t session, ze_device_thread_t thread,
                                          const zet_debug_memory_space_desc_t *desc, size_t size,
                                          void *buffer) {
    if (!pretended.events)
        return REAL(zetDebugReadMemory)(session, thread, desc, size, buffer);
    if (!pretended.memory)
        return ZE_RESULT_ERROR_UNKNOWN;
    memcpy(buffer, pretended.memory, size);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zetDebugGetRegisterSetProperties(ze_device_handle_t device, uint32_t *count,
                                                        zet_debug_regset_properties_t *properties) {
    ze_result_t result = REAL(zetDebugGetRegisterSetProperties)(device, count, properties);
    if (properties && pretended.forgets_registers)
        *count = 0;
    return result;
}

ze_result_t ZE_APICALL zetDebugAcknowledgeEvent(zet_debug_session_handle_t session,
                                                const zet_debug_event_t *event) {
    ze_result_t result = REAL(zetDebugAcknowledgeEvent)(session, event);
    return pretended.refusal ? pretended.refusal : result;
}

ze_result_t ZE_APICALL zetDebugDetach(zet_debug_session_handle_t session) {
    ze_result_t result = REAL(zetDebugDetach)(session);
    return pretended.is_lost_after_detaching ? ZE_RESULT_ERROR_DEVICE_LOST : result;
}

static int open_pretended(void **state) {
    memset(&pretended, 0, sizeof pretended);
    return open_world(state);
}

/* ==== attaching =========================================================================================== */

static zt_debug_config debug_config(world *w) {
    zt_debug_config config = {0};
    zt_config messages = config_of(w);
    config.log = messages.log;
    config.log_user = messages.log_user;
    return config;
}

static ze_result_t try_open(world *w, uint32_t pid, zt_debugger **debugger) {
    zt_debug_config config = debug_config(w);
    return zt_debug_open(w->device, pid, &config, debugger);
}

static zt_debugger *open_on_process(world *w, uint32_t pid) {
    zt_debugger *debugger = NULL;
    gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 0);
    ok(try_open(w, pid, &debugger));
    assert_non_null(debugger);
    return debugger;
}

static zt_debugger *open_debugger(world *w) {
    return open_on_process(w, 0);
}

static void refuses(world *w, uint32_t pid, ze_result_t expected, const char *message) {
    zt_debugger *debugger = (zt_debugger *)(void *)w;
    assert_result(try_open(w, pid, &debugger), expected);
    assert_null(debugger);
    assert_contains(zt_last_error(NULL), message);
    assert_result(last_result(), expected);
}

static void test_why_it_cannot_attach(void **state) {
    world *w = *state;
    refuses(w, 0, ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE,
            "zetDebugAttach failed: ZE_RESULT_ERROR_UNSUPPORTED_FEATURE");
    refuses(w, 0, ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE, "ZET_ENABLE_PROGRAM_DEBUGGING=1");
    gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 0);
    gpu.behave(SOFTGPU_DEBUG_UNSUPPORTED, 1);
    refuses(w, 0, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "cannot be debugged");
    assert_contains(zt_last_error(NULL), "eudebug");
    gpu.behave(SOFTGPU_DEBUG_UNSUPPORTED, 0);
    gpu.behave(SOFTGPU_DEBUG_NO_PERMISSION, 1);
    refuses(w, 0, ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS, "has no permission");
    gpu.behave(SOFTGPU_DEBUG_NO_PERMISSION, 0);
    gpu.behave(SOFTGPU_DEBUG_NOT_ITSELF, 1);
    refuses(w, 0, ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS, "debug it from another");
    gpu.behave(SOFTGPU_DEBUG_NOT_ITSELF, 0);
    refuses(w, INT32_MAX, ZE_RESULT_ERROR_INVALID_ARGUMENT, "There is no process 2147483647");
    refuses(w, UINT32_MAX, ZE_RESULT_ERROR_INVALID_ARGUMENT, "There is no process 4294967295");
    inject("zetDebugAttach", 1, ZE_RESULT_ERROR_NOT_AVAILABLE);
    refuses(w, (uint32_t)getpid(), ZE_RESULT_ERROR_NOT_AVAILABLE, "Another debugger is attached");
    ok(zt_debug_close(open_debugger(w)));
}

/* Intel's driver returns the session of the first attachment again. */
static void test_two_debuggers_of_one_process(void **state) {
    world *w = *state;
    const char *message = "[DEBUGGER_OPEN] zt_debug_open: this process has a debugger for process ";
    zt_debugger *debugger = open_debugger(w);
    refuses(w, 0, ZE_RESULT_ERROR_NOT_AVAILABLE, message);
    refuses(w, (uint32_t)getpid(), ZE_RESULT_ERROR_NOT_AVAILABLE, message);
    refuses(w, INT32_MAX, ZE_RESULT_ERROR_INVALID_ARGUMENT, "There is no process 2147483647");
    ok(zt_debug_close(debugger));
    debugger = open_debugger(w);
    refuses(w, 0, ZE_RESULT_ERROR_NOT_AVAILABLE, message);
    ok(zt_debug_close(debugger));
}

/* It exists, although this process may not even send it a signal. */
static void test_a_process_of_another_user(void **state) {
    world *w = *state;
    gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 0);
    gpu.behave(SOFTGPU_DEBUG_NO_PERMISSION, 1);
    pretended.has_other_users = 1;
    refuses(w, (uint32_t)getppid(), ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS,
            "This process has no permission to debug process");
}

/* As Linux does it, for the whole system. */
static void test_the_system_has_switched_it_off(void **state) {
    world *w = *state;
    assume_debug_switch("0\n");
    refuses(w, 0, ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE,
            "write 1 to /sys/class/drm/card0/prelim_enable_eu_debug");
    gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 0);
    gpu.behave(SOFTGPU_DEBUG_UNSUPPORTED, 1);
    refuses(w, 0, ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE, "/sys/class/drm/card0/prelim_enable_eu_debug");
    static const char *const others[] = {"1\n", "", "?\n"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assume_debug_switch(others[i]);
        refuses(w, 0, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "cannot be debugged");
    }
}

/* The message tells what the environment has. */
static void test_the_variable_is_set(void **state) {
    world *w = *state;
    static const char *const values[] = {"1", "0", NULL};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        if (values[i])
            setenv("ZET_ENABLE_PROGRAM_DEBUGGING", values[i], 1);
        else
            unsetenv("ZET_ENABLE_PROGRAM_DEBUGGING");
        refuses(w, 0, ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE, i == 0 ? "is set" : "is not set");
    }
}

/* Numbers of threads that no device has, some of which would overflow. */
static void test_shapes_that_cannot_be(void **state) {
    world *w = *state;
    enum { MOST = 1 << 20 }; /* threads */
    static const uint32_t wrong[][4] = {
        {0, 1, 8, 8},
        {1, 0, 8, 8},
        {1, 1, 0, 8},
        {1, 1, 8, 0},
        {MOST + 1, 1, 1, 1},
        {1, MOST + 1, 1, 1},
        {1, 1, MOST + 1, 1},
        {1, 1, 1, MOST + 1},
        {1 << 16, 1 << 16, 1 << 16, 1 << 16},
        {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX},
        {MOST, MOST, MOST, MOST},
        {MOST, 1, 1, 2},
    };
    static const uint32_t largest[4] = {1, 1, MOST / 8, 8};
    zt_debug_stops stops;
    gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 0);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        gpu.set_shape(wrong[i]);
        refuses(w, 0, ZE_RESULT_ERROR_INVALID_SIZE, "threads cannot be");
    }
    gpu.set_shape(largest);
    zt_debugger *debugger = open_debugger(w);
    ok(zt_debug_stop(debugger, first_thread, A_WHILE, &stops));
    assert_int_equal(stops.stopped, 0);
    assert_int_equal(stops.unavailable, 1);
    ok(zt_debug_close(debugger));
}

static void test_a_sub_device_has_no_code_of_its_own(void **state) {
    world *w = *state;
    uint32_t count = 2;
    ze_device_handle_t tiles[2];
    zt_debugger *debugger;
    gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 0);
    gpu.set_devices(1, 2);
    ok(zeDeviceGetSubDevices(w->device, &count, tiles));
    assert_result(zt_debug_open(tiles[0], 0, NULL, &debugger), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    assert_contains(zt_last_error(NULL), "Pass the root device");
}

static void test_attached_a_thousand_times(void **state) {
    world *w = *state;
    heap_use before = library_memory();
    for (int i = 0; i < OFTEN(1000); i++) {
        ok(zt_debug_close(open_debugger(w)));
        assert_int_equal(library_memory().bytes, before.bytes);
    }
    launch(w, w->immediate);
    finish_immediate(w, w->immediate);
}

/* ==== events ============================================================================================== */

enum { MOST_EVENTS = 32 };

/* Those that a function was called with, and what it does besides. */
typedef struct heard_events {
    int count, stop_at;
    zt_debug_event events[MOST_EVENTS];
    ze_result_t inside[3]; /* of what a function must not call */
    int calls_inside;
} heard_events;

static int hear(zt_debugger *debugger, const zt_debug_event *event, void *user) {
    heard_events *of = user;
    assert_in_range(of->count, 0, MOST_EVENTS - 1);
    of->events[of->count++] = *event;
    if (of->calls_inside) {
        of->inside[0] = zt_debug_wait(debugger, 0, NULL, NULL);
        of->inside[1] = zt_debug_close(debugger);
        of->inside[2] = zt_debug_resume(debugger, all_threads); /* this one it may */
    }
    return of->stop_at == of->count;
}

/* The next one, which is of this type. */
static zt_debug_event next_event(zt_debugger *debugger, zt_debug_event_type type) {
    heard_events of = {.stop_at = 1};
    ok(zt_debug_wait(debugger, A_WHILE, hear, &of));
    assert_int_equal(of.count, 1);
    assert_int_equal(of.events[0].type, type);
    return of.events[0];
}

static void no_event(zt_debugger *debugger) {
    heard_events of = {.count = 0};
    assert_result(zt_debug_wait(debugger, 0, hear, &of), ZE_RESULT_NOT_READY);
    assert_int_equal(of.count, 0);
}

static void skip_events(zt_debugger *debugger) {
    while (zt_debug_wait(debugger, 0, NULL, NULL) == ZE_RESULT_SUCCESS) {
    }
}

static void test_events_of_what_is_there(void **state) {
    world *w = *state;
    zt_debugger *debugger = open_debugger(w);
    heard_events of = {.calls_inside = 1};
    ok(zt_debug_wait(debugger, A_WHILE, hear, &of));
    assert_int_equal(of.count, 2);
    assert_int_equal(of.events[0].type, ZT_DEBUG_PROCESS_ENTRY);
    assert_int_equal(of.events[1].type, ZT_DEBUG_MODULE_LOAD);
    assert_string_equal(of.events[0].name, "process entry");
    assert_string_equal(of.events[1].name, "module load");
    assert_false(of.events[1].is_held);
    assert_true(of.events[1].begin < of.events[1].end);
    assert_true(of.events[1].load != 0);
    assert_result(of.inside[0], ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    assert_result(of.inside[1], ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    ok(of.inside[2]);
    no_event(debugger);
    ok(zt_debug_close(debugger));
}

static void test_queues_enter_and_exit(void **state) {
    world *w = *state;
    uint32_t count = 2;
    ze_device_handle_t devices[2];
    ze_command_list_handle_t list;
    ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    zt_debugger *debugger;
    gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 0);
    gpu.set_devices(2, 0);
    ok(zeDeviceGet(w->driver, &count, devices));
    ok(zt_debug_open(devices[1], 0, NULL, &debugger));
    no_event(debugger);
    ok(zeCommandListCreateImmediate(w->context, devices[1], &desc, &list));
    next_event(debugger, ZT_DEBUG_PROCESS_ENTRY);
    ok(zeCommandListDestroy(list));
    next_event(debugger, ZT_DEBUG_PROCESS_EXIT);
    ok(zt_debug_close(debugger));
}

/* A kernel whose module is loaded after the debugger has attached. */
static void assert_held(world *w, const work *of) {
    for (int i = 0; i < 3; i++) {
        launch(w, w->immediate);
        finish_immediate(w, w->immediate);
        assert_int_equal(count_of(of), 0);
    }
}

static void test_a_module_waits_to_be_acknowledged(void **state) {
    world *w = *state;
    for (int way = 0; way < 3; way++) { /* no function; one; closing */
        heard_events heard = {.stop_at = 1};
        zt_debugger *debugger = open_debugger(w);
        skip_events(debugger);
        work of = begin_on(w, w->device, "count");
        assert_held(w, &of);
        if (way < 2) {
            ok(zt_debug_wait(debugger, A_WHILE, way ? hear : NULL, &heard));
            assert_counts_on(&of);
        }
        if (way == 1) {
            assert_int_equal(heard.events[0].type, ZT_DEBUG_MODULE_LOAD);
            assert_true(heard.events[0].is_held);
        }
        if (way == 2)
            ok(zt_debug_close(debugger));
        finish_work(w, &of);
        if (way < 2) {
            next_event(debugger, ZT_DEBUG_MODULE_UNLOAD);
            ok(zt_debug_close(debugger));
        }
    }
}

/* Others than zt_debug_wait read events, and do not acknowledge them. */
static void test_events_keep_their_order(void **state) {
    world *w = *state;
    zt_debugger *debugger = open_debugger(w);
    zt_debug_stops stops;
    skip_events(debugger);
    work of = begin_on(w, w->device, "count");
    ok(zt_debug_stop(debugger, all_threads, A_WHILE, &stops)); /* there is nothing to stop: it is held */
    assert_int_equal(stops.stopped, 0);
    assert_true(stops.unavailable > 0);
    assert_held(w, &of);
    next_event(debugger, ZT_DEBUG_MODULE_LOAD);
    zt_debug_event none = next_event(debugger, ZT_DEBUG_THREADS_UNAVAILABLE);
    assert_memory_equal(&none.threads, &all_threads, sizeof all_threads);
    await((const int *)&of.words[COUNT]);
    finish_work(w, &of);
    ok(zt_debug_close(debugger));
}

static int count_delivered(zt_debugger *debugger, const zt_debug_event *event, void *user) {
    uint32_t *counts = user;
    (void)debugger;
    counts[event->type]++;
    return 0;
}

/* More than fit: others than zt_debug_wait read them, and a stop has to wait for its answer until there is
   room. None is lost. */
static void test_many_events_wait(void **state) {
    world *w = *state;
    enum { MODULES = 700, ROOM = 1024 };
    uint32_t counts[ZT_DEBUG_EVENT_COUNT] = {0}, count = 0;
    zt_debug_stops stops;
    work of = begin_counting(w);
    zt_debugger *debugger = open_debugger(w);
    skip_events(debugger);
    for (int i = 0; i < MODULES; i++) {
        ok(zeModuleDestroy(load_module(w, "build/kernels/hot.so", "")));
        if (i % 100 == 99)
            ok(zt_debug_get_threads(debugger, NULL, &count));
    }
    assert_result(zt_debug_stop(debugger, all_threads, 0, NULL), ZE_RESULT_NOT_READY);
    ok(zt_debug_wait(debugger, 0, count_delivered, counts));
    assert_int_equal(counts[ZT_DEBUG_MODULE_LOAD] + counts[ZT_DEBUG_MODULE_UNLOAD], ROOM);
    ok(zt_debug_stop(debugger, all_threads, A_WHILE, &stops));
    assert_int_equal(stops.stopped, 1);
    while (zt_debug_wait(debugger, 0, count_delivered, counts) == ZE_RESULT_SUCCESS) {
    }
    assert_int_equal(counts[ZT_DEBUG_MODULE_LOAD], MODULES);
    assert_int_equal(counts[ZT_DEBUG_MODULE_UNLOAD], MODULES);
    ok(zt_debug_close(debugger));
    assert_counts_on(&of);
    finish_work(w, &of);
}

/* Until that succeeds, the module is held: the next call tries again. */
static void test_an_event_cannot_be_acknowledged(void **state) {
    world *w = *state;
    heard_events heard_one = {.stop_at = 1};
    zt_debugger *debugger = open_debugger(w);
    skip_events(debugger);
    work of = begin_on(w, w->device, "count");
    for (int i = 0; i < 2; i++) {
        gpu.fail_any("zetDebugAcknowledgeEvent", 1, ZE_RESULT_ERROR_UNKNOWN, 1);
        ze_result_t result = zt_debug_wait(debugger, A_WHILE, hear, &heard_one);
        gpu.fail_any(NULL, 0, 0, 0);
        assert_result(result, ZE_RESULT_ERROR_UNKNOWN);
        assert_contains(zt_last_error(NULL), "zetDebugAcknowledgeEvent failed");
        assert_int_equal(heard_one.count, 1);
        assert_held(w, &of);
    }
    assert_result(zt_debug_wait(debugger, 0, NULL, NULL), ZE_RESULT_NOT_READY);
    assert_counts_on(&of);
    ok(zt_debug_close(debugger));
    finish_work(w, &of);
}

/* The driver does not wait for it any more. */
static void test_an_event_that_nobody_waits_for(void **state) {
    world *w = *state;
    static const ze_result_t refusals[] = {ZE_RESULT_ERROR_INVALID_ARGUMENT, ZE_RESULT_ERROR_UNINITIALIZED};
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        zt_debugger *debugger = open_debugger(w);
        skip_events(debugger);
        work of = begin_on(w, w->device, "count");
        pretended.refusal = refusals[i];
        ok(zt_debug_wait(debugger, A_WHILE, NULL, NULL));
        assert_int_equal(w->message_count, 0);
        ok(zt_debug_close(debugger));
        assert_counts_on(&of);
        finish_work(w, &of);
    }
}

/* It is not tried again. */
static void test_the_device_is_lost_while_an_event_is_delivered(void **state) {
    world *w = *state;
    zt_debugger *debugger = open_debugger(w);
    skip_events(debugger);
    work of = begin_on(w, w->device, "count");
    inject("zetDebugAcknowledgeEvent", 1, ZE_RESULT_ERROR_DEVICE_LOST);
    gpu.reset_calls();
    assert_result(zt_debug_wait(debugger, A_WHILE, NULL, NULL), ZE_RESULT_ERROR_DEVICE_LOST);
    assert_int_equal(calls("zetDebugAcknowledgeEvent"), 1);
    assert_contains(zt_last_error(NULL), "The device is lost");
    ok(zt_debug_close(debugger));
    finish_work(w, &of);
}

/* Whoever reads the events finds that; those before it are delivered, and need no answer any more. */
static void test_events_of_a_session_that_is_over(void **state) {
    world *w = *state;
    heard_events of_wait = {.count = 0};
    uint32_t count = 0;
    zt_debugger *debugger = open_debugger(w);
    skip_events(debugger);
    work of = begin_on(w, w->device, "count");
    gpu.detach_debuggers(ZET_DEBUG_DETACH_REASON_HOST_EXIT);
    assert_result(zt_debug_get_threads(debugger, NULL, &count), ZE_RESULT_ERROR_NOT_AVAILABLE);
    gpu.reset_calls();
    ok(zt_debug_wait(debugger, A_WHILE, hear, &of_wait));
    assert_int_equal(of_wait.count, 2);
    assert_int_equal(of_wait.events[0].type, ZT_DEBUG_MODULE_LOAD);
    assert_true(of_wait.events[0].is_held);
    assert_int_equal(of_wait.events[1].type, ZT_DEBUG_DETACHED);
    assert_int_equal(calls("zetDebugAcknowledgeEvent"), 0);
    assert_counts_on(&of);
    ok(zt_debug_close(debugger));
    finish_work(w, &of);
}

/* Where a stopped thread is. */
static uint64_t address_of(zt_debugger *debugger, zt_debug_thread thread) {
    zt_debug_thread_info threads[64];
    uint32_t count = 64;
    ok(zt_debug_get_threads(debugger, threads, &count));
    for (uint32_t i = 0; i < count && i < 64; i++)
        if (memcmp(&threads[i].thread, &thread, sizeof thread) == 0)
            return threads[i].address;
    fail_msg("the thread is not stopped");
    return 0;
}

static void *wait_beside(void *debugger) {
    if (zt_debug_wait(debugger, 0, NULL, NULL) != ZE_RESULT_NOT_READY)
        note_failure("zt_debug_wait", ZE_RESULT_SUCCESS);
    return NULL;
}

static int wait_on_another_thread(zt_debugger *debugger, const zt_debug_event *event, void *user) {
    (void)event;
    run_in_time(user, wait_beside, debugger);
    return 0;
}

/* Events are delivered by one thread at a time. */
static void test_two_threads_wait(void **state) {
    world *w = *state;
    zt_debugger *debugger = open_debugger(w);
    ok(zt_debug_wait(debugger, A_WHILE, wait_on_another_thread, w));
    assert_no_noted_failure();
    ok(zt_debug_close(debugger));
}

static void test_the_debugger_is_detached(void **state) {
    world *w = *state;
    work of = begin_counting(w);
    zt_debugger *debugger = open_debugger(w);
    uint32_t count = 0, word;
    zt_debug_place place;
    ok(zt_debug_stop(debugger, all_threads, A_WHILE, NULL));
    assert_true(address_of(debugger, first_thread) != 0);
    skip_events(debugger);
    gpu.detach_debuggers(ZET_DEBUG_DETACH_REASON_HOST_EXIT);
    assert_counts_on(&of);
    assert_result(zt_debug_resume(debugger, all_threads), ZE_RESULT_ERROR_NOT_AVAILABLE);
    assert_contains(zt_last_error(NULL), "the session is over");
    assert_int_equal(next_event(debugger, ZT_DEBUG_DETACHED).reason, ZET_DEBUG_DETACH_REASON_HOST_EXIT);
    assert_result(zt_debug_wait(debugger, UINT64_MAX, NULL, NULL), ZE_RESULT_ERROR_NOT_AVAILABLE);
    assert_result(zt_debug_stop(debugger, all_threads, A_WHILE, NULL), ZE_RESULT_ERROR_NOT_AVAILABLE);
    assert_result(zt_debug_get_threads(debugger, NULL, &count), ZE_RESULT_ERROR_NOT_AVAILABLE);
    assert_result(zt_debug_read(debugger, all_threads, ZT_DEBUG_MEMORY, (uintptr_t)of.words, &word, 4),
                  ZE_RESULT_ERROR_NOT_AVAILABLE);
    assert_result(zt_debug_where(debugger, 64, &place), ZE_RESULT_ERROR_NOT_AVAILABLE);
    ok(zt_debug_close(debugger));
    ok(zt_debug_close(open_debugger(w)));
    finish_work(w, &of);
}

/* The first call that finds that is one of its threads. */
static void test_detached_before_an_access(void **state) {
    world *w = *state;
    work of = begin_counting(w);
    zt_debugger *debugger = open_debugger(w);
    uint32_t word;
    ok(zt_debug_stop(debugger, all_threads, A_WHILE, NULL));
    skip_events(debugger);
    gpu.detach_debuggers(ZET_DEBUG_DETACH_REASON_HOST_EXIT);
    assert_result(
        zt_debug_read(debugger, first_thread, ZT_DEBUG_MEMORY, (uintptr_t)of.words, &word, sizeof word),
        ZE_RESULT_ERROR_NOT_AVAILABLE);
    assert_contains(zt_last_error(NULL), "the session is over");
    ok(zt_debug_close(debugger));
    assert_counts_on(&of);
    finish_work(w, &of);
}

static void test_a_lost_device(void **state) {
    world *w = *state;
    zt_debugger *debugger = open_debugger(w);
    skip_events(debugger);
    gpu.lose_device();
    assert_result(zt_debug_wait(debugger, UINT64_MAX, NULL, NULL), ZE_RESULT_ERROR_DEVICE_LOST);
    assert_contains(zt_last_error(NULL), "attach again when the device is back");
    ok(zt_debug_close(debugger));
    gpu.restore_device();
}

/* Detaching is not tried again. */
static void test_lost_while_detaching(void **state) {
    world *w = *state;
    zt_debugger *debugger = open_debugger(w);
    skip_events(debugger);
    pretended.is_lost_after_detaching = 1;
    gpu.reset_calls();
    assert_result(zt_debug_close(debugger), ZE_RESULT_ERROR_DEVICE_LOST);
    assert_int_equal(calls("zetDebugDetach"), 1);
    assert_contains(zt_last_error(NULL), "The device is lost");
}

/* Of an event that this version does not know, only its type is reported. */
static void test_events_of_a_later_version(void **state) {
    world *w = *state;
    static const zet_debug_event_t later = {.type = (zet_debug_event_type_t)1000};
    zt_debugger *debugger = open_debugger(w);
    skip_events(debugger);
    pretended.events = &later;
    pretended.event_count = 1;
    assert_false(next_event(debugger, ZT_DEBUG_OTHER).is_held);
    no_event(debugger);
    pretended.events = NULL;
    ok(zt_debug_close(debugger));
}

/* ==== threads ============================================================================================= */

static uint32_t count_stopped(zt_debugger *debugger) {
    uint32_t count = 0;
    ok(zt_debug_get_threads(debugger, NULL, &count));
    return count;
}

static void stop_one(zt_debugger *debugger, zt_debug_thread threads) {
    zt_debug_stops stops;
    ok(zt_debug_stop(debugger, threads, A_WHILE, &stops));
    assert_int_equal(stops.stopped, 1);
}

static void test_threads_stop_and_go_on(void **state) {
    world *w = *state;
    const zt_debug_thread patterns[] = {first_thread,
                                        all_threads,
                                        {0, ZT_DEBUG_ALL, ZT_DEBUG_ALL, ZT_DEBUG_ALL},
                                        {ZT_DEBUG_ALL, 0, ZT_DEBUG_ALL, 0}};
    work of = begin_counting(w);
    zt_debugger *debugger = open_debugger(w);
    skip_events(debugger);
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        zt_debug_thread_info threads[4];
        uint32_t count = 4;
        stop_one(debugger, patterns[i]);
        assert_stands_still(&of);
        zt_debug_event event = next_event(debugger, ZT_DEBUG_THREADS_STOPPED);
        assert_memory_equal(&event.threads, &patterns[i], sizeof event.threads);
        stop_one(debugger, patterns[i]);
        ok(zt_debug_get_threads(debugger, threads, &count));
        assert_int_equal(count, 1);
        assert_memory_equal(&threads[0].thread, &first_thread, sizeof first_thread);
        ok(zt_debug_resume(debugger, patterns[i]));
        assert_counts_on(&of);
        ok(zt_debug_resume(debugger, patterns[i]));
        assert_int_equal(count_stopped(debugger), 0);
        skip_events(debugger);
    }
    finish_work(w, &of);
    ok(zt_debug_close(debugger));
}

static void test_two_threads_of_the_device(void **state) {
    world *w = *state;
    const zt_debug_thread second_thread = {0, 0, 1, 0};
    zt_debug_thread_info threads[1];
    zt_debug_stops stops;
    uint32_t count = 1;
    gpu.behave(SOFTGPU_CONCURRENT_ENGINES, 1);
    work first = begin_counting(w), second = begin_counting(w);
    zt_debugger *debugger = open_debugger(w);
    stop_one(debugger, second_thread);
    ok(zt_debug_stop(debugger, all_threads, A_WHILE, &stops));
    assert_int_equal(stops.stopped, 2);
    ok(zt_debug_get_threads(debugger, threads, &count)); /* there is room for one of them */
    assert_int_equal(count, 2);
    assert_memory_equal(&threads[0].thread, &first_thread, sizeof first_thread);
    ok(zt_debug_resume(debugger, first_thread));
    assert_int_equal(count_stopped(debugger), 1);
    ok(zt_debug_close(debugger));
    assert_counts_on(&first);
    assert_counts_on(&second);
    finish_work(w, &first);
    finish_work(w, &second);
}

static void test_threads_that_cannot_be_stopped(void **state) {
    world *w = *state;
    const zt_debug_thread beyond[] = {{1000, 0, 0, 0}, {0, 1000, 0, 0}, {0, 0, 1000, 0}, {0, 0, 0, 1000}};
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    zt_debug_stops stops;
    ok(zeDeviceGetProperties(w->device, &properties));
    const uint32_t all = properties.numSlices * properties.numSubslicesPerSlice *
                         properties.numEUsPerSubslice * properties.numThreadsPerEU;
    work of = begin_on(w, w->device, "count"); /* while nobody can attach */
    await((const int *)&of.words[COUNT]);
    zt_debugger *debugger = open_debugger(w);
    ok(zt_debug_stop(debugger, all_threads, A_WHILE, &stops));
    assert_int_equal(stops.stopped, 0);
    assert_int_equal(stops.unavailable, all);
    ok(zt_debug_stop(debugger, first_thread, A_WHILE, &stops));
    assert_int_equal(stops.unavailable, 1);
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
        ok(zt_debug_stop(debugger, beyond[i], A_WHILE, &stops));
        assert_int_equal(stops.stopped + stops.unavailable, 0);
    }
    assert_counts_on(&of);
    ok(zt_debug_close(debugger));
    finish_work(w, &of);
}

/* The device stops, and does not say so. Nothing stays stopped. */
static void test_no_answer(void **state) {
    world *w = *state;
    work of = begin_counting(w);
    zt_debugger *debugger = open_debugger(w);
    skip_events(debugger);
    gpu.behave(SOFTGPU_DEBUG_EVENTS_LOST, 1);
    assert_result(zt_debug_stop(debugger, all_threads, 1000000, NULL), ZE_RESULT_NOT_READY);
    assert_contains(zt_last_error(NULL), "has not answered zetDebugInterrupt in time");
    assert_true(heard(w, "[NO_ANSWER]"));
    ok(zt_debug_close(debugger));
    gpu.behave(SOFTGPU_DEBUG_EVENTS_LOST, 0);
    assert_counts_on(&of);
    finish_work(w, &of);
}

static int await_answer(zt_debugger *debugger, const zt_debug_event *event, void *user) {
    (void)debugger;
    *(int *)user |= event->type == ZT_DEBUG_THREADS_STOPPED || event->type == ZT_DEBUG_THREADS_UNAVAILABLE;
    return 0;
}

/* What has stopped after the time was up goes on as soon as that is known. */
static void test_a_late_answer(void **state) {
    world *w = *state;
    work of = begin_counting(w);
    zt_debugger *debugger = open_debugger(w);
    for (int i = 0; i < 20; i++) {
        ze_result_t result = zt_debug_stop(debugger, all_threads, 0, NULL);
        int is_answered = 0;
        while (!is_answered)
            ok(zt_debug_wait(debugger, A_WHILE, await_answer, &is_answered));
        if (result == ZE_RESULT_SUCCESS) /* the device was faster */
            ok(zt_debug_resume(debugger, all_threads));
        else
            assert_result(result, ZE_RESULT_NOT_READY);
        assert_counts_on(&of);
    }
    ok(zt_debug_close(debugger));
    finish_work(w, &of);
}

/* A debugger, and the work on two threads of its device: the first and the second. */
static zt_debugger *debug_two(world *w, work of[2]) {
    gpu.behave(SOFTGPU_CONCURRENT_ENGINES, 1);
    for (int i = 0; i < 2; i++)
        of[i] = begin_counting(w);
    zt_debugger *debugger = open_debugger(w);
    skip_events(debugger);
    gpu.behave(SOFTGPU_DEBUG_ANSWERS_LATE, 1);
    return debugger;
}

/* Returns how many events of stopped threads have come. The others are skipped. */
static int count_stops(zt_debugger *debugger) {
    heard_events of = {.stop_at = 1};
    int count = 0;
    while (zt_debug_wait(debugger, 0, hear, &of) == ZE_RESULT_SUCCESS) {
        count += of.events[0].type == ZT_DEBUG_THREADS_STOPPED;
        of.count = 0;
    }
    return count;
}

/* Waits for events of stopped threads: an answer that is late has no other sign. */
static void skip_stops(zt_debugger *debugger, int count) {
    while (count > 0) {
        heard_events of = {.stop_at = 1};
        ok(zt_debug_wait(debugger, A_WHILE, hear, &of));
        count -= of.events[0].type == ZT_DEBUG_THREADS_STOPPED;
    }
}

static void close_two(world *w, zt_debugger *debugger, work of[2]) {
    ok(zt_debug_resume(debugger, all_threads));
    for (int i = 0; i < 2; i++)
        assert_counts_on(&of[i]);
    ok(zt_debug_close(debugger));
    for (int i = 0; i < 2; i++)
        finish_work(w, &of[i]);
}

/* A thread that a later stop covers is not resumed by the late answer to an earlier one. */
static void test_a_late_answer_leaves_what_a_later_stop_covers(void **state) {
    world *w = *state;
    work of[2];
    zt_debugger *debugger = debug_two(w, of);
    zt_debug_stops stops;
    assert_result(zt_debug_stop(debugger, first_thread, 0, NULL), ZE_RESULT_NOT_READY);
    ok(zt_debug_stop(debugger, all_threads, A_WHILE, &stops));
    assert_int_equal(stops.stopped, 2);
    skip_stops(debugger, 2);
    assert_int_equal(count_stopped(debugger), 2);
    for (int i = 0; i < 2; i++)
        assert_stands_still(&of[i]);
    close_two(w, debugger, of);
}

/* Of the threads of a stop that was given up, those that another stop covers stay stopped, and the others go
   on. */
static void test_a_late_answer_resumes_the_others(void **state) {
    world *w = *state;
    const zt_debug_thread second_thread = {0, 0, 1, 0};
    work of[2];
    zt_debugger *debugger = debug_two(w, of);
    assert_result(zt_debug_stop(debugger, all_threads, 0, NULL), ZE_RESULT_NOT_READY);
    ok(zt_debug_stop(debugger, second_thread, A_WHILE, NULL));
    /* If the device has stopped the thread before the second stop, that has no answer, which the late one would
       come after. */
    int heard;
    while ((heard = count_stops(debugger)) == 0) {
        gpu.behave(SOFTGPU_DEBUG_ANSWERS_LATE, 0);
        ok(zt_debug_resume(debugger, all_threads));
        ok(zt_debug_stop(debugger, all_threads, A_WHILE, NULL));
        skip_events(debugger); /* the late answer, if there was one, came with the other */
        ok(zt_debug_resume(debugger, all_threads));
        gpu.behave(SOFTGPU_DEBUG_ANSWERS_LATE, 1);
        assert_result(zt_debug_stop(debugger, all_threads, 0, NULL), ZE_RESULT_NOT_READY);
        ok(zt_debug_stop(debugger, second_thread, A_WHILE, NULL));
    }
    skip_stops(debugger, 2 - heard);
    assert_int_equal(count_stopped(debugger), 1);
    ok(zt_debug_resume(debugger, second_thread));
    assert_int_equal(count_stopped(debugger), 0);
    close_two(w, debugger, of);
}

/* A stop that was given up covers no thread, although its answer is still to come. */
static void test_two_late_answers(void **state) {
    world *w = *state;
    work of[2];
    ze_result_t result;
    zt_debugger *debugger = debug_two(w, of);
    do {
        assert_result(zt_debug_stop(debugger, first_thread, 0, NULL), ZE_RESULT_NOT_READY);
        result = zt_debug_stop(debugger, all_threads, 0, NULL);
        skip_stops(debugger, 2);
        if (result == ZE_RESULT_SUCCESS) /* the device was faster */
            ok(zt_debug_resume(debugger, all_threads));
    } while (result == ZE_RESULT_SUCCESS);
    assert_result(result, ZE_RESULT_NOT_READY);
    assert_int_equal(count_stopped(debugger), 0);
    for (int i = 0; i < 2; i++)
        assert_counts_on(&of[i]);
    close_two(w, debugger, of);
}

/* What was stopped and resumed since then is no longer covered. */
static void test_a_late_answer_after_resuming(void **state) {
    world *w = *state;
    work of[2];
    zt_debugger *debugger = debug_two(w, of);
    gpu.behave(SOFTGPU_DEBUG_ANSWERS_LATE, 0);
    ok(zt_debug_stop(debugger, all_threads, A_WHILE, NULL));
    ok(zt_debug_resume(debugger, all_threads));
    gpu.behave(SOFTGPU_DEBUG_ANSWERS_LATE, 1);
    assert_result(zt_debug_stop(debugger, first_thread, 0, NULL), ZE_RESULT_NOT_READY);
    ok(zt_debug_stop(debugger, (zt_debug_thread){0, 0, 1, 0}, A_WHILE, NULL));
    skip_stops(debugger, 3);
    assert_int_equal(count_stopped(debugger), 1);
    close_two(w, debugger, of);
}

/* A stop whose answer was lost does not keep the next one from asking again. */
static void test_stopped_again_after_a_lost_answer(void **state) {
    world *w = *state;
    work of = begin_counting(w);
    zt_debugger *debugger = open_debugger(w);
    skip_events(debugger);
    gpu.behave(SOFTGPU_DEBUG_EVENTS_LOST, 1);
    assert_result(zt_debug_stop(debugger, all_threads, 0, NULL), ZE_RESULT_NOT_READY);
    while (count_stopped(debugger) == 0)
        nap();
    gpu.behave(SOFTGPU_DEBUG_EVENTS_LOST, 0);
    ok(zt_debug_resume(debugger, all_threads));
    stop_one(debugger, all_threads);
    ok(zt_debug_resume(debugger, all_threads));
    assert_counts_on(&of);
    ok(zt_debug_close(debugger));
    finish_work(w, &of);
}

/* A device that is lost when the debugger is closed is not asked again. */
static void test_lost_when_threads_are_released(void **state) {
    world *w = *state;
    work of = begin_counting(w);
    zt_debugger *debugger = open_debugger(w);
    stop_one(debugger, all_threads);
    inject("zetDebugResume", 1, ZE_RESULT_ERROR_DEVICE_LOST);
    gpu.reset_calls();
    ok(zt_debug_close(debugger)); /* detaching resumes */
    assert_int_equal(calls("zetDebugResume"), 1);
    assert_true(heard(w, "zetDebugResume failed: ZE_RESULT_ERROR_DEVICE_LOST"));
    assert_counts_on(&of);
    finish_work(w, &of);
}

/* Two stops of the same threads share an answer, also if the driver refuses the second while it serves the
   first. */
static void test_stopped_again_before_the_answer(void **state) {
    world *w = *state;
    work of = begin_counting(w);
    zt_debugger *debugger = open_debugger(w);
    zt_debug_stops stops;
    skip_events(debugger);
    gpu.behave(SOFTGPU_DEBUG_SLOW_AGENT, 1);
    assert_result(zt_debug_stop(debugger, all_threads, 0, NULL), ZE_RESULT_NOT_READY);
    inject("zetDebugInterrupt", 1, ZE_RESULT_ERROR_NOT_AVAILABLE);
    ok(zt_debug_stop(debugger, all_threads, A_WHILE, &stops));
    assert_int_equal(stops.stopped, 1);
    next_event(debugger, ZT_DEBUG_THREADS_STOPPED);
    no_event(debugger);
    ok(zt_debug_close(debugger));
    gpu.behave(SOFTGPU_DEBUG_SLOW_AGENT, 0);
    assert_counts_on(&of);
    finish_work(w, &of);
}

static void *detach_soon(void *argument) {
    (void)argument;
    while (gpu.calls("zetDebugInterrupt") == 0)
        nap();
    gpu.detach_debuggers(ZET_DEBUG_DETACH_REASON_HOST_EXIT);
    return NULL;
}

static void test_detached_while_threads_are_stopped(void **state) {
    world *w = *state;
    pthread_t detaching;
    zt_debug_stops stops;
    work of = begin_counting(w);
    zt_debugger *debugger = open_debugger(w);
    skip_events(debugger);
    gpu.behave(SOFTGPU_DEBUG_ANSWERS_LATE, 1);
    gpu.reset_calls();
    assert_int_equal(pthread_create(&detaching, NULL, detach_soon, NULL), 0);
    ze_result_t result = zt_debug_stop(debugger, all_threads, A_WHILE, &stops);
    join_in_time(w, detaching);
    assert_result(result, ZE_RESULT_ERROR_NOT_AVAILABLE);
    assert_contains(zt_last_error(NULL), "zt_debug_stop: the session is over");
    assert_int_equal(stops.stopped + stops.unavailable, 0);
    ok(zt_debug_close(debugger));
    gpu.behave(SOFTGPU_DEBUG_ANSWERS_LATE, 0);
    assert_counts_on(&of);
    finish_work(w, &of);
}

/* A driver may refuse the number of a thread that it has not. */
static void test_a_thread_that_is_missing(void **state) {
    world *w = *state;
    work of = begin_counting(w);
    zt_debugger *debugger = open_debugger(w);
    stop_one(debugger, all_threads);
    inject("zetDebugReadRegisters", 1, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(count_stopped(debugger), 0);
    assert_int_equal(count_stopped(debugger), 1);
    inject("zetDebugReadRegisters", 1, ZE_RESULT_ERROR_UNKNOWN);
    uint32_t count = 7;
    assert_result(zt_debug_get_threads(debugger, NULL, &count), ZE_RESULT_ERROR_UNKNOWN);
    assert_int_equal(count, 0);
    assert_contains(zt_last_error(NULL), "zetDebugReadRegisters failed");
    ok(zt_debug_close(debugger));
    assert_counts_on(&of);
    finish_work(w, &of);
}

/* The allocator of a debugger, which is called before each look at the threads. */
static void *allocate_and_refuse(size_t size, void *user) {
    if (*(int *)user)
        inject("zetDebugResume", 1, ZE_RESULT_ERROR_NOT_AVAILABLE);
    return malloc(size);
}

static void release(void *pointer, void *user) {
    (void)user;
    free(pointer);
}

/* A driver that finds none to resume, although there are some: it is asked three times. */
static void test_threads_that_are_not_resumed(void **state) {
    world *w = *state;
    work of = begin_counting(w);
    zt_debug_config config = debug_config(w);
    zt_debugger *debugger;
    int refuses_all = 0;
    config.allocator =
        (zt_allocator){.allocate = allocate_and_refuse, .release = release, .user = &refuses_all};
    ok(zt_debug_open(w->device, 0, &config, &debugger));
    stop_one(debugger, all_threads);
    skip_events(debugger);
    inject("zetDebugResume", 1, ZE_RESULT_ERROR_NOT_AVAILABLE);
    inject("zetDebugReadEvent", 2, ZE_RESULT_ERROR_UNKNOWN);
    assert_result(zt_debug_resume(debugger, all_threads), ZE_RESULT_ERROR_UNKNOWN);
    assert_int_equal(count_stopped(debugger), 1);
    refuses_all = 1;
    inject("zetDebugResume", 1, ZE_RESULT_ERROR_NOT_AVAILABLE);
    gpu.reset_calls();
    assert_result(zt_debug_resume(debugger, all_threads), ZE_RESULT_ERROR_NOT_AVAILABLE);
    assert_int_equal(calls("zetDebugResume"), 3);
    assert_contains(zt_last_error(NULL), "zetDebugResume failed: ZE_RESULT_ERROR_NOT_AVAILABLE");
    assert_stands_still(&of);
    refuses_all = 0;
    inject("zetDebugResume", 0, ZE_RESULT_SUCCESS);
    ok(zt_debug_resume(debugger, all_threads));
    assert_counts_on(&of);
    ok(zt_debug_close(debugger));
    finish_work(w, &of);
}

static void test_too_many_stops_at_once(void **state) {
    world *w = *state;
    work of = begin_counting(w);
    zt_debugger *debugger = open_debugger(w);
    ze_result_t result = ZE_RESULT_SUCCESS;
    gpu.behave(SOFTGPU_DEBUG_EVENTS_LOST, 1);
    for (uint32_t i = 0; i < 17; i++) {
        zt_debug_thread one = {0, 0, i % 8, i / 8};
        result = zt_debug_stop(debugger, one, 0, NULL);
    }
    assert_result(result, ZE_RESULT_ERROR_NOT_AVAILABLE);
    ok(zt_debug_close(debugger));
    gpu.behave(SOFTGPU_DEBUG_EVENTS_LOST, 0);
    assert_counts_on(&of);
    finish_work(w, &of);
}

static void test_where_a_thread_is(void **state) {
    world *w = *state;
    work of = begin_counting(w);
    zt_debugger *debugger = open_debugger(w);
    uint64_t address;
    zt_debug_place place;
    stop_one(debugger, all_threads);
    address = address_of(debugger, first_thread);
    ok(zt_debug_where(debugger, address, &place));
    assert_string_equal(place.kernel, "count");
    assert_in_range(place.offset, 0, place.size - 1);
    assert_false(place.is_unloaded);
    const uint64_t begin = address - place.offset;
    ok(zt_debug_where(debugger, begin + place.size - 1, &place));
    assert_string_equal(place.kernel, "count");
    assert_int_equal(place.offset, place.size - 1);
    assert_contains(place.file, "endless.cl");
    assert_in_range(place.line, 5, 9); /* of the source of "count" */
    zt_debug_place again;
    char *path = strdup(getenv("PATH"));
    setenv("PATH", "/nonexistent", 1); /* what was looked up is known */
    ok(zt_debug_where(debugger, begin + place.size - 1, &again));
    assert_ptr_equal(again.kernel, place.kernel);
    assert_ptr_equal(again.file, place.file);
    assert_int_equal(again.line, place.line);
    ok(zt_debug_where(debugger, begin, &again)); /* and the rest has no line */
    assert_string_equal(again.kernel, "count");
    assert_string_equal(again.file, "");
    assert_int_equal(again.line, 0);
    setenv("PATH", path, 1);
    free(path);
    assert_result(zt_debug_where(debugger, 64, &place), ZE_RESULT_ERROR_NOT_AVAILABLE);
    assert_string_equal(place.kernel, "");
    ok(zt_debug_close(debugger));
    assert_counts_on(&of);
    finish_work(w, &of);
}

static void test_no_program_for_lines(void **state) {
    world *w = *state;
    zt_debug_config config = debug_config(w);
    work of = begin_counting(w);
    zt_debugger *debugger;
    uint64_t address;
    zt_debug_place place;
    config.no_lines = 1;
    ok(zt_debug_open(w->device, 0, &config, &debugger));
    stop_one(debugger, all_threads);
    address = address_of(debugger, first_thread);
    ok(zt_debug_where(debugger, address, &place));
    assert_string_equal(place.kernel, "count");
    assert_string_equal(place.file, "");
    ok(zt_debug_close(debugger));
    finish_work(w, &of);
}

static void test_a_module_goes_while_its_kernel_is_stopped(void **state) {
    world *w = *state;
    work of = begin_counting(w);
    zt_debugger *debugger = open_debugger(w);
    uint64_t address;
    zt_debug_place place;
    stop_one(debugger, all_threads);
    ok(zeKernelDestroy(of.kernel));
    ok(zeModuleDestroy(of.module));
    address = address_of(debugger, first_thread);
    ok(zt_debug_where(debugger, address, &place));
    assert_string_equal(place.kernel, "count");
    assert_true(place.is_unloaded);
    ok(zt_debug_resume(debugger, all_threads));
    assert_counts_on(&of);
    ok(zt_debug_close(debugger));
    of.words[STOP] = 1;
    finish_immediate(w, of.list);
    ok(zeMemFree(w->context, of.words));
    ok(zeCommandListDestroy(of.list));
}

/* Modules come and go, and the memory for them does not grow. */
static void test_modules_are_kept_up_to_a_limit(void **state) {
    world *w = *state;
    zt_debug_config config = debug_config(w);
    zt_debugger *debugger;
    heap_use before, after;
    gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 0);
    ok(zt_debug_open(w->device, 0, &config, &debugger));
    for (int i = 0; i < 100; i++) {
        ok(zeModuleDestroy(load_module(w, "build/kernels/endless.so", "")));
        skip_events(debugger);
        if (i == 20)
            before = library_memory();
    }
    after = library_memory();
    assert_in_range(after.bytes, 0, (uint64_t)before.bytes + 100000);
    ok(zt_debug_close(debugger));
    /* Less than any of them takes, and less than it takes to know of one. */
    static const size_t limits[] = {1000, 1};
    for (int i = 0; i < 2; i++) {
        config.module_limit = limits[i];
        ok(zt_debug_open(w->device, 0, &config, &debugger));
        skip_events(debugger);
        assert_int_equal(heard(w, "[MODULE_NOT_READ]"), 1 + i);
        ok(zt_debug_close(debugger));
    }
}

static size_t size_of(const char *name) {
    native_binary binary = read_binary(name);
    free(binary.bytes);
    return binary.size;
}

/* With room for two modules, an unloaded one is forgotten when a third comes; those that are loaded are not,
   and then it is the third that is not read. */
static void test_modules_make_room(void **state) {
    world *w = *state;
    const size_t endless = size_of("build/kernels/endless.so"), hot = size_of("build/kernels/hot.so");
    zt_debug_config config = debug_config(w);
    zt_debugger *debugger;
    zt_debug_event own;
    zt_debug_place place;
    uint64_t address;
    gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 0);
    zt_debugger *first = open_debugger(w);
    next_event(first, ZT_DEBUG_PROCESS_ENTRY);
    own = next_event(first, ZT_DEBUG_MODULE_LOAD);
    ok(zt_debug_close(first));
    config.module_limit = (size_t)(own.end - own.begin) + (endless > hot ? endless : hot) + 1000;

    work of = begin_counting(w);
    ok(zt_debug_open(w->device, 0, &config, &debugger));
    stop_one(debugger, all_threads);
    skip_events(debugger);
    address = address_of(debugger, first_thread);
    ok(zt_debug_resume(debugger, all_threads));
    finish_work(w, &of);
    next_event(debugger, ZT_DEBUG_MODULE_UNLOAD);
    ok(zt_debug_where(debugger, address, &place));
    assert_string_equal(place.kernel, "count");
    assert_true(place.is_unloaded);
    ze_module_handle_t module = load_module(w, "build/kernels/hot.so", "");
    next_event(debugger, ZT_DEBUG_MODULE_LOAD);
    assert_result(zt_debug_where(debugger, address, &place), ZE_RESULT_ERROR_NOT_AVAILABLE);
    assert_int_equal(heard(w, "[MODULE_NOT_READ]"), 0);

    of = begin_on(w, w->device, "count");
    next_event(debugger, ZT_DEBUG_MODULE_LOAD);
    assert_int_equal(heard(w, "is not known to zt_debug_where(): others need the room"), 1);
    assert_counts_on(&of);
    stop_one(debugger, all_threads);
    address = address_of(debugger, first_thread);
    assert_result(zt_debug_where(debugger, address, &place), ZE_RESULT_ERROR_NOT_AVAILABLE);
    assert_string_equal(place.kernel, "");
    ok(zt_debug_close(debugger));
    finish_work(w, &of);
    ok(zeModuleDestroy(module));
}

/* Where a damaged copy of a file has another value. */
typedef struct damage {
    size_t offset, width;
} damage;

enum { MOST_DAMAGES = 400 };

/* Fields of the ELF header, of the sections that have names, symbols and instructions, and of the symbol that
   has a value. */
static size_t list_damages(const native_binary *file, uint64_t value, damage *damages) {
    static const damage of_header[] = {{40, 8}, {58, 2}, {60, 2}, {62, 2}};
    static const damage of_section[] = {{0, 4}, {4, 4}, {16, 8}, {24, 8}, {32, 8}, {40, 4}};
    static const damage of_symbol[] = {{0, 4}, {4, 1}, {6, 2}, {8, 8}, {16, 8}};
    Elf64_Ehdr header;
    size_t count = 0;
    memcpy(&header, file->bytes, sizeof header);
    for (size_t i = 0; i < sizeof of_header / sizeof *of_header; i++)
        damages[count++] = of_header[i];
    for (size_t i = 0; i < header.e_shnum; i++) {
        const size_t at = header.e_shoff + i * sizeof(Elf64_Shdr);
        Elf64_Shdr section;
        memcpy(&section, file->bytes + at, sizeof section);
        const int has_symbols = section.sh_type == SHT_SYMTAB || section.sh_type == SHT_DYNSYM;
        if (!has_symbols && section.sh_type != SHT_STRTAB && !(section.sh_flags & SHF_EXECINSTR))
            continue;
        for (size_t k = 0; k < sizeof of_section / sizeof *of_section; k++)
            damages[count++] = (damage){at + of_section[k].offset, of_section[k].width};
        for (size_t symbol = section.sh_offset; has_symbols && symbol < section.sh_offset + section.sh_size;
             symbol += sizeof(Elf64_Sym)) {
            Elf64_Sym known;
            memcpy(&known, file->bytes + symbol, sizeof known);
            for (size_t k = 0; k < sizeof of_symbol / sizeof *of_symbol && known.st_value == value; k++)
                damages[count++] = (damage){symbol + of_symbol[k].offset, of_symbol[k].width};
        }
        assert_in_range(count, 1, MOST_DAMAGES - 40);
    }
    return count;
}

enum { FILE_SIZE = 4096, MODULE_BEGIN = 1 << 20 };

/* A file whose kernel has no section of its own, but a symbol. Another section with its instructions has a
   name that does not end, one has that of the instructions which belong to no kernel. */
static void make_file_of_symbols(uint8_t *bytes) {
    static const char names[] = ".text.Intel_Symbol_Table_Void_Program\0made";
    enum { SECTIONS = 5, TABLE = 64, CODE = 1024, SYMBOLS = 2048, NAMES = 3072, LAST = FILE_SIZE - 4 };
    const Elf64_Ehdr header = {.e_ident = "\177ELF\2\1\1",
                               .e_type = ET_EXEC,
                               .e_shoff = TABLE,
                               .e_shentsize = sizeof(Elf64_Shdr),
                               .e_shnum = SECTIONS,
                               .e_shstrndx = 4};
    const Elf64_Shdr sections[SECTIONS] = {
        {0},
        {.sh_type = SHT_PROGBITS, .sh_addr = 0x1000, .sh_offset = CODE, .sh_size = 256},
        {.sh_name = LAST - NAMES,
         .sh_type = SHT_PROGBITS,
         .sh_addr = 0x1000,
         .sh_offset = CODE,
         .sh_size = 256},
        {.sh_type = SHT_SYMTAB, .sh_offset = SYMBOLS, .sh_size = sizeof(Elf64_Sym), .sh_link = 4},
        {.sh_type = SHT_STRTAB, .sh_offset = NAMES, .sh_size = FILE_SIZE - NAMES},
    };
    const Elf64_Sym symbol = {.st_name = sizeof ".text.Intel_Symbol_Table_Void_Program",
                              .st_info = STT_FUNC,
                              .st_shndx = 1,
                              .st_value = 0x1010,
                              .st_size = 0x20};
    memset(bytes, 0, FILE_SIZE);
    memcpy(bytes, &header, sizeof header);
    memcpy(bytes + TABLE, sections, sizeof sections);
    memcpy(bytes + SYMBOLS, &symbol, sizeof symbol);
    memcpy(bytes + NAMES, names, sizeof names);
    memset(bytes + LAST, 'x', FILE_SIZE - LAST);
}

static void load_pretended(zt_debugger *debugger, uint64_t end, uint64_t load,
                           zet_module_debug_info_format_t format, const uint8_t *memory) {
    const zet_debug_event_t event = {.type = ZET_DEBUG_EVENT_TYPE_MODULE_LOAD,
                                     .info.module = {format, MODULE_BEGIN, end, load}};
    pretended.events = &event;
    pretended.event_count = 1;
    pretended.memory = memory;
    next_event(debugger, ZT_DEBUG_MODULE_LOAD);
    pretended.events = NULL;
}

static void expect_kernel(zt_debugger *debugger, uint64_t address, const char *kernel, uint64_t offset) {
    zt_debug_place place;
    assert_result(zt_debug_where(debugger, address, &place),
                  *kernel ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_NOT_AVAILABLE);
    assert_string_equal(place.kernel, kernel);
    assert_int_equal(place.offset, offset);
    assert_int_equal(place.size, *kernel ? 0x20 : 0);
}

static void test_a_kernel_that_is_a_symbol(void **state) {
    world *w = *state;
    static uint8_t file[FILE_SIZE];
    zt_debugger *debugger = open_debugger(w);
    skip_events(debugger);
    make_file_of_symbols(file);
    load_pretended(debugger, MODULE_BEGIN + FILE_SIZE, 0, ZET_MODULE_DEBUG_INFO_FORMAT_ELF_DWARF, file);
    expect_kernel(debugger, 0x100f, "", 0);
    expect_kernel(debugger, 0x1010, "made", 0);
    expect_kernel(debugger, 0x102f, "made", 0x1f);
    expect_kernel(debugger, 0x1030, "", 0);
    ok(zt_debug_close(debugger));
}

/* What is loaded again is the module that was there; what differs in anything is another one. */
static void test_modules_at_one_place(void **state) {
    world *w = *state;
    static uint8_t file[FILE_SIZE], other[FILE_SIZE];
    const zet_module_debug_info_format_t usual = ZET_MODULE_DEBUG_INFO_FORMAT_ELF_DWARF;
    const uint64_t end = MODULE_BEGIN + FILE_SIZE;
    zt_debugger *debugger = open_debugger(w);
    skip_events(debugger);
    make_file_of_symbols(file);
    memcpy(other, file, sizeof other);
    other[FILE_SIZE - 1] ^= 1;
    const struct {
        uint64_t end, load;
        zet_module_debug_info_format_t format;
        const uint8_t *memory;
    } different[] = {
        {end, 0, usual, file},          {end, 0, usual, other},
        {end, 0, usual, NULL},          {end, 64, usual, file},
        {end - 1, 0, usual, file},      {end, 0, ZET_MODULE_DEBUG_INFO_FORMAT_FORCE_UINT32, file},
        {MODULE_BEGIN, 0, usual, file}, /* none of its bytes can be read */
    };
    for (size_t i = 0; i < sizeof different / sizeof *different; i++) {
        int64_t before = heap_blocks();
        load_pretended(debugger, different[i].end, different[i].load, different[i].format,
                       different[i].memory);
        assert_in_range(heap_blocks() - before, 1, 2);
    }
    /* Each reason is reported once. */
    assert_int_equal(heard(w, "[MODULE_NOT_READ]"), 2);
    for (size_t i = 0; i < sizeof different / sizeof *different; i++) {
        int64_t before = heap_blocks();
        load_pretended(debugger, different[i].end, different[i].load, different[i].format,
                       different[i].memory);
        assert_int_equal(heap_blocks(), before);
    }
    expect_kernel(debugger, 0x1010, "made", 0);
    ok(zt_debug_close(debugger));
}

/* Drivers load files that are damaged where they do not need them. Then a kernel may be unknown, and nothing
   is read that is not there. */
static void test_files_that_are_damaged(void **state) {
    world *w = *state;
    static damage damages[MOST_DAMAGES];
    native_binary file;
    uint64_t address;
    zt_debug_place place;
    uint32_t known = 0, unknown = 0;
    if (sizeof(void *) != 8)
        skip();
    file = read_binary("build/kernels/endless.so");
    work of = begin_counting(w);
    zt_debugger *debugger = open_debugger(w);
    next_event(debugger, ZT_DEBUG_PROCESS_ENTRY);
    next_event(debugger, ZT_DEBUG_MODULE_LOAD);
    const uint64_t load = next_event(debugger, ZT_DEBUG_MODULE_LOAD).load;
    stop_one(debugger, all_threads);
    address = address_of(debugger, first_thread);
    ok(zt_debug_where(debugger, address, &place));
    const uint64_t value = address - place.offset - load;
    ok(zt_debug_close(debugger));
    const size_t count = list_damages(&file, value, damages);
    for (size_t i = 0; i < count; i++) {
        const uint64_t values[] = {UINT64_MAX, file.size - 4, 1};
        uint8_t before[8];
        memcpy(before, file.bytes + damages[i].offset, damages[i].width);
        for (size_t k = 0; k < (INSTRUMENTED ? 1 : sizeof values / sizeof *values); k++) {
            ze_module_handle_t module;
            memcpy(file.bytes + damages[i].offset, &values[k], damages[i].width);
            if (try_module(w, file, "", &module) != ZE_RESULT_SUCCESS)
                continue;
            debugger = open_debugger(w);
            next_event(debugger, ZT_DEBUG_PROCESS_ENTRY);
            zt_debug_event event;
            do { /* the last one is this module's */
                event = next_event(debugger, ZT_DEBUG_MODULE_LOAD);
            } while (event.end - event.begin != file.size || event.load == load);
            if (zt_debug_where(debugger, event.load + value, &place) == ZE_RESULT_SUCCESS) {
                assert_in_range(place.offset, 0, place.size - 1);
                assert_true(strlen(place.kernel) < file.size);
                known++;
            } else {
                assert_contains(zt_last_error(NULL), "[NO_KERNEL_THERE]");
                assert_string_equal(place.kernel, "");
                unknown++;
            }
            ok(zt_debug_close(debugger));
            ok(zeModuleDestroy(module));
        }
        memcpy(file.bytes + damages[i].offset, before, damages[i].width);
    }
    assert_true(known > 0 && unknown > 0);
    free(file.bytes);
    assert_counts_on(&of);
    finish_work(w, &of);
}

/* ==== page faults ========================================================================================= */

static void test_a_page_fault(void **state) {
    world *w = *state;
    const size_t size = (size_t)getpagesize();
    uint8_t *page = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t address;
    zt_debug_place place;
    assert_true(page != MAP_FAILED);
    zt_debugger *debugger = open_debugger(w);
    skip_events(debugger);
    work of = begin_reading_from(w, page + 8);
    next_event(debugger, ZT_DEBUG_MODULE_LOAD);
    zt_debug_event fault = next_event(debugger, ZT_DEBUG_PAGE_FAULT);
    assert_int_equal(fault.address, (uintptr_t)page);
    assert_int_equal(fault.mask, ~(uint64_t)(size - 1));
    assert_int_equal(fault.reason, ZET_DEBUG_PAGE_FAULT_REASON_PERMISSION_ERROR);
    zt_debug_event stopped = next_event(debugger, ZT_DEBUG_THREADS_STOPPED);
    address = address_of(debugger, stopped.threads);
    ok(zt_debug_where(debugger, address, &place));
    assert_string_equal(place.kernel, "read_from");
    assert_int_equal(mprotect(page, size, PROT_READ | PROT_WRITE), 0);
    page[8] = 42;
    ok(zt_debug_resume(debugger, stopped.threads));
    finish_immediate(w, of.list);
    assert_int_equal(of.words[RESULT], 42);
    finish_work(w, &of);
    ok(zt_debug_close(debugger));
    munmap(page, size);
}

/* ==== memory and registers ================================================================================ */

static void test_a_counter_in_memory_ends_its_kernel(void **state) {
    world *w = *state;
    work of = begin_counting(w);
    zt_debugger *debugger = open_debugger(w);
    const uint64_t counter = (uintptr_t)&of.words[COUNT];
    uint32_t count = 0, thousand = 1000, one = 1;
    ok(zt_debug_read(debugger, all_threads, ZT_DEBUG_MEMORY, counter, &count, sizeof count));
    assert_result(zt_debug_read(debugger, first_thread, ZT_DEBUG_MEMORY, counter, &count, sizeof count),
                  ZE_RESULT_ERROR_NOT_AVAILABLE);
    stop_one(debugger, all_threads);
    ok(zt_debug_read(debugger, first_thread, ZT_DEBUG_MEMORY, counter, &count, sizeof count));
    assert_int_equal(count, count_of(&of));
    ok(zt_debug_write(debugger, first_thread, ZT_DEBUG_MEMORY, counter, &thousand, sizeof thousand));
    assert_int_equal(count_of(&of), 1000);
    ok(zt_debug_write(debugger, first_thread, ZT_DEBUG_MEMORY, (uintptr_t)&of.words[STOP], &one, sizeof one));
    ok(zt_debug_read(debugger, first_thread, ZT_DEBUG_MEMORY, 64, &count, 0));
    assert_result(zt_debug_read(debugger, first_thread, ZT_DEBUG_MEMORY, 64, &count, sizeof count),
                  ZE_RESULT_ERROR_NOT_AVAILABLE);
    assert_contains(zt_last_error(NULL), "zetDebugReadMemory failed");
    assert_result(zt_debug_write(debugger, first_thread, ZT_DEBUG_MEMORY, counter, NULL, 4),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    ok(zt_debug_resume(debugger, all_threads));
    finish_immediate(w, of.list);
    assert_in_range(count_of(&of), 1000, 1001);
    finish_work(w, &of);
    ok(zt_debug_close(debugger));
}

static void test_local_memory(void **state) {
    world *w = *state;
    gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 0);
    work of = begin_on(w, w->device, "in_local");
    await((const int *)&of.words[STARTED]);
    zt_debugger *debugger = open_debugger(w);
    uint32_t words[8], last = 99, other = 33;
    stop_one(debugger, all_threads);
    ok(zt_debug_read(debugger, first_thread, ZT_DEBUG_SLM, 0, words, sizeof words));
    assert_int_equal(words[0], 11);
    assert_int_equal(words[5], 22);
    ok(zt_debug_write(debugger, first_thread, ZT_DEBUG_SLM, 20, &other, sizeof other));
    ok(zt_debug_write(debugger, first_thread, ZT_DEBUG_SLM, 0, &last, sizeof last));
    assert_result(zt_debug_read(debugger, all_threads, ZT_DEBUG_SLM, 0, words, 4),
                  ZE_RESULT_ERROR_NOT_AVAILABLE);
    ok(zt_debug_close(debugger));
    finish_immediate(w, of.list);
    assert_int_equal(of.words[RESULT], 33);
    finish_work(w, &of);
}

static zt_debug_registers registers_named(zt_debugger *debugger, const char *name) {
    zt_debug_registers found;
    uint32_t count = 1;
    ok(zt_debug_get_registers(debugger, name, &found, &count));
    assert_int_equal(count, 1);
    return found;
}

static uint32_t count_sets(zt_debugger *debugger) {
    uint32_t count = 0;
    ok(zt_debug_get_registers(debugger, NULL, NULL, &count));
    return count;
}

/* Reads some of these registers, from the first of them on. */
static ze_result_t read_registers(zt_debugger *debugger, zt_debug_thread thread, const char *name,
                                  uint64_t first, uint64_t count, void *values) {
    const zt_debug_registers from = registers_named(debugger, name);
    return zt_debug_read(debugger, thread, from.space, from.address + first * from.bytes, values,
                         (size_t)count * from.bytes);
}

/* Where a kernel counts, which only its compiler knows; a count is between these. */
static uint32_t read_counter(zt_debugger *debugger, uint64_t *value) {
    const zt_debug_registers set = registers_named(debugger, "GRF");
    uint64_t values[64];
    assert_int_equal(set.bytes, sizeof *values);
    assert_in_range(set.count, 1, 64);
    ok(read_registers(debugger, first_thread, "GRF", 0, set.count, values));
    return find_counter(values, set.count, value);
}

static void test_a_counter_in_a_register_ends_its_kernel(void **state) {
    world *w = *state;
    gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 0);
    work of = begin_on(w, w->device, "countdown");
    await((const int *)&of.words[STARTED]);
    zt_debugger *debugger = open_debugger(w);
    uint64_t first, second, one = 1, end = now_ns() + A_WHILE;
    uint32_t place;
    stop_one(debugger, first_thread);
    read_counter(debugger, &first);
    do { /* again where a busy machine has not run the kernel meanwhile */
        assert_true(now_ns() < end);
        ok(zt_debug_resume(debugger, first_thread));
        nap();
        stop_one(debugger, first_thread);
        place = read_counter(debugger, &second);
    } while (second == first);
    assert_true(second < first);
    const zt_debug_registers set = registers_named(debugger, "GRF");
    ok(zt_debug_write(debugger, first_thread, set.space, place * sizeof one, &one, sizeof one));
    ok(zt_debug_resume(debugger, first_thread));
    finish_immediate(w, of.list);
    assert_int_equal(of.words[RESULT], 7);
    finish_work(w, &of);
    ok(zt_debug_close(debugger));
}

static void test_registers_by_name(void **state) {
    world *w = *state;
    work of = begin_counting(w);
    zt_debugger *debugger = open_debugger(w);
    uint64_t bases[9];
    uint32_t control[4], count;
    stop_one(debugger, all_threads);
    zt_debug_registers found = registers_named(debugger, "isabase");
    assert_string_equal(found.set, "SBA");
    assert_int_equal(found.count, 1);
    assert_int_equal(found.bytes, 8);
    assert_int_equal(found.address, 4 * 8);
    ok(read_registers(debugger, first_thread, "isabase", 0, 1, bases));
    ok(read_registers(debugger, first_thread, "cr0", 0, 1, control));
    assert_int_equal(address_of(debugger, first_thread), bases[0] + control[2]);
    found = registers_named(debugger, "r12");
    assert_string_equal(found.set, "GRF");
    assert_int_equal(found.address, 12 * found.bytes);
    assert_int_equal(registers_named(debugger, "GRF").space, found.space);
    registers_named(debugger, "f"); /* it has one */
    const char *wrong[] = {"r4294967308", "r", "x1", "", "r1x", "isa", "r-1", "cr1", "grf"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        count = 1;
        assert_result(zt_debug_get_registers(debugger, wrong[i], &found, &count),
                      ZE_RESULT_ERROR_INVALID_ARGUMENT);
        assert_int_equal(count, 0);
        assert_contains(zt_last_error(NULL), "[NO_REGISTER] zt_debug_get_registers: ");
    }
    count = 1; /* there is room for one of them */
    ok(zt_debug_get_registers(debugger, NULL, &found, &count));
    assert_int_equal(count, count_sets(debugger));
    assert_true(count > 1);
    ok(zt_debug_close(debugger));
    finish_work(w, &of);
}

static void test_registers_that_are_not_there(void **state) {
    world *w = *state;
    work of = begin_counting(w);
    zt_debugger *debugger = open_debugger(w);
    const ze_result_t wrong = ZE_RESULT_ERROR_INVALID_ARGUMENT;
    uint64_t values[64] = {0};
    const zt_debug_registers set = registers_named(debugger, "GRF"), bases = registers_named(debugger, "SBA");
    const uint32_t count = set.count;
    assert_result(read_registers(debugger, first_thread, "GRF", 0, 1, values), ZE_RESULT_ERROR_NOT_AVAILABLE);
    assert_contains(zt_last_error(NULL), "The thread is not stopped");
    stop_one(debugger, all_threads);
    gpu.reset_calls();
    assert_result(read_registers(debugger, first_thread, "GRF", count, 1, values), wrong);
    assert_result(read_registers(debugger, first_thread, "GRF", 1, count, values), wrong);
    assert_result(read_registers(debugger, first_thread, "GRF", 1, UINT32_MAX, values), wrong);
    assert_result(read_registers(debugger, first_thread, "GRF", UINT32_MAX, 1, values), wrong);
    assert_result(zt_debug_read(debugger, first_thread, 1000, 0, values, 8), wrong);
    assert_contains(zt_last_error(NULL),
                    "[NO_SPACE] zt_debug_read: the device has no registers of space 1000.");
    assert_result(zt_debug_write(debugger, first_thread, bases.space, 0, values, 8), wrong);
    assert_result(zt_debug_read(debugger, first_thread, set.space, 0, values, 15), wrong);
    assert_result(zt_debug_read(debugger, first_thread, set.space, 1, values, 8), wrong);
    assert_contains(zt_last_error(NULL), "[BAD_REGISTERS] zt_debug_read: the set 'GRF' has ");
    assert_result(zt_debug_read(debugger, first_thread, set.space, 0, NULL, 8),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    assert_int_equal(calls("zetDebugReadRegisters") + calls("zetDebugWriteRegisters"), 0);
    assert_result(read_registers(debugger, all_threads, "GRF", 0, 1, values), ZE_RESULT_ERROR_NOT_AVAILABLE);
    ok(zt_debug_close(debugger));
    finish_work(w, &of);
}

enum { READ = ZET_DEBUG_REGSET_FLAG_READABLE, WRITE = ZET_DEBUG_REGSET_FLAG_WRITEABLE };

/* Other devices have other registers. What cannot be is left out, and so is a second set of a type. Control
   registers may be smaller, so that the address is in the third. */
static void test_other_registers(void **state) {
    world *w = *state;
    enum { MANY = 80, MOST = 64 };
    static const softgpu_register_set odd[] = {
        {SOFTGPU_GENERAL_REGISTERS, READ | WRITE, 16, 8},
        {5, READ, 0, 4},
        {5, READ, (1 << 16) + 1, 4},
        {5, READ, UINT32_MAX, 4},
        {7, READ, 1, 0},
        {7, READ, 1, (1 << 16) + 1},
        {SOFTGPU_GENERAL_REGISTERS, READ, 2, 4},
        {0, WRITE, 1, 1},
        {99, READ, 1, 2},
        {SOFTGPU_CONTROL_REGISTERS, READ, 4, 4},
        {SOFTGPU_BASE_REGISTERS, READ, 9, 8},
    };
    static const char *const names[] = {"GRF", "SET 0", "SET 99", "CR", "SBA"};
    softgpu_register_set many[MANY];
    uint64_t address, right, values[2];
    uint8_t byte = 1;
    zt_debug_place place;
    work of = begin_counting(w);
    zt_debugger *debugger = open_debugger(w);
    stop_one(debugger, all_threads);
    right = address_of(debugger, first_thread);
    ok(zt_debug_where(debugger, right, &place));
    right -= place.offset;
    ok(zt_debug_close(debugger));

    assert_true(gpu.list_registers(odd, sizeof odd / sizeof *odd));
    debugger = open_debugger(w);
    zt_debug_registers sets[MOST];
    uint32_t count = MOST;
    ok(zt_debug_get_registers(debugger, NULL, sets, &count));
    assert_int_equal(count, sizeof names / sizeof *names);
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_string_equal(sets[i].set, names[i]);
    assert_int_equal(sets[0].count, 16);
    stop_one(debugger, all_threads);
    assert_int_equal(count_stopped(debugger), 1);
    address = address_of(debugger, first_thread);
    assert_in_range(address, right, right + place.size - 1);
    assert_result(read_registers(debugger, first_thread, "SET 0", 0, 1, &byte),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    ok(read_registers(debugger, first_thread, "GRF", 0, 2, values));
    ok(zt_debug_close(debugger));

    for (uint32_t i = 0; i < MANY; i++)
        many[i] = (softgpu_register_set){1000 + i, READ, 1, 8};
    assert_true(gpu.list_registers(many, MANY));
    debugger = open_debugger(w);
    count = MOST;
    ok(zt_debug_get_registers(debugger, NULL, sets, &count));
    assert_int_equal(count, MOST);
    assert_string_equal(sets[MOST - 1].set, "SET 1063");
    ok(zt_debug_close(debugger));
    assert_counts_on(&of);
    finish_work(w, &of);
}

/* Then it is not known which threads are stopped; that they stop and go on does not need it. */
static void test_no_register_can_be_read(void **state) {
    world *w = *state;
    static const softgpu_register_set hidden[] = {{SOFTGPU_GENERAL_REGISTERS, WRITE, 16, 8}};
    zt_debug_stops stops;
    uint32_t count = 7;
    uint64_t value;
    work of = begin_counting(w);
    for (uint32_t sets = 0; sets < 2; sets++) {
        assert_true(gpu.list_registers(hidden, sets));
        zt_debugger *debugger = open_debugger(w);
        assert_int_equal(count_sets(debugger), sets);
        assert_result(zt_debug_stop(debugger, all_threads, A_WHILE, &stops),
                      ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
        assert_contains(zt_last_error(NULL), "[NO_REGISTER] zt_debug_stop: ");
        assert_result(zt_debug_get_threads(debugger, NULL, &count), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
        assert_int_equal(count, 0);
        assert_result(zt_debug_read(debugger, first_thread, ZT_DEBUG_SLM + 1, 0, &value, sizeof value),
                      ZE_RESULT_ERROR_INVALID_ARGUMENT);
        ok(zt_debug_resume(debugger, all_threads));
        assert_counts_on(&of);
        ok(zt_debug_close(debugger));
    }
    finish_work(w, &of);
}

static void test_sets_of_registers_that_go(void **state) {
    world *w = *state;
    pretended.forgets_registers = 1;
    zt_debugger *debugger = open_debugger(w);
    assert_int_equal(count_sets(debugger), 0);
    ok(zt_debug_close(debugger));
}

/* Of devices without what that takes. */
static void test_the_address_is_not_known(void **state) {
    world *w = *state;
    static const softgpu_register_set control = {SOFTGPU_CONTROL_REGISTERS, READ, 1, 16};
    static const softgpu_register_set base = {SOFTGPU_BASE_REGISTERS, READ, 9, 8};
    const struct {
        softgpu_register_set control, base;
    } wrong[] = {
        {{99, READ, 1, 16}, base},                         /* there is none */
        {control, {99, READ, 9, 8}},                       /* likewise */
        {{SOFTGPU_CONTROL_REGISTERS, WRITE, 1, 16}, base}, /* it cannot be read */
        {control, {SOFTGPU_BASE_REGISTERS, WRITE, 9, 8}},  /* likewise */
        {{SOFTGPU_CONTROL_REGISTERS, READ, 1, 8}, base},   /* too small */
        {{SOFTGPU_CONTROL_REGISTERS, READ, 2, 257}, base}, /* too large */
        {control, {SOFTGPU_BASE_REGISTERS, READ, 4, 8}},   /* too few */
        {control, {SOFTGPU_BASE_REGISTERS, READ, 9, 4}},   /* too small */
        {control, {SOFTGPU_BASE_REGISTERS, READ, 9, 257}}, /* too large */
    };
    work of = begin_counting(w);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const softgpu_register_set sets[] = {
            {SOFTGPU_GENERAL_REGISTERS, READ, 1, 8}, wrong[i].control, wrong[i].base};
        assert_true(gpu.list_registers(sets, 3));
        zt_debugger *debugger = open_debugger(w);
        stop_one(debugger, all_threads);
        assert_int_equal(address_of(debugger, first_thread), 0);
        ok(zt_debug_close(debugger));
    }
    assert_counts_on(&of);
    finish_work(w, &of);
}

/* ==== other processes ===================================================================================== */

static zt_debugger *stop_process(world *w, const process *target) {
    zt_debugger *debugger = open_on_process(w, (uint32_t)target->number);
    stop_one(debugger, all_threads);
    skip_events(debugger);
    return debugger;
}

static void test_another_process(void **state) {
    world *w = *state;
    const process *target = new_process();
    const uint64_t words = tell(target, 'G');
    zt_debugger *debugger = stop_process(w, target), *other;
    uint32_t count = 0;
    uint64_t address;
    zt_debug_place place;
    assert_result(try_open(w, (uint32_t)target->number, &other), ZE_RESULT_ERROR_NOT_AVAILABLE);
    const uint64_t stopped_at = tell(target, 'C');
    ok(zt_debug_read(debugger, first_thread, ZT_DEBUG_MEMORY, words + COUNT * sizeof count, &count,
                     sizeof count));
    assert_int_equal(count, stopped_at);
    address = address_of(debugger, first_thread);
    ok(zt_debug_where(debugger, address, &place));
    assert_string_equal(place.kernel, "count");
    assert_int_equal(tell(target, 'C'), stopped_at);
    ok(zt_debug_close(debugger));
    assert_process_counts(target);
    tell(target, 'S');
    end_process(target, 0);
    refuses(w, (uint32_t)target->number, ZE_RESULT_ERROR_INVALID_ARGUMENT, "There is no process");
}

static void assert_target_is_gone(zt_debugger *debugger) {
    uint32_t count;
    assert_int_equal(next_event(debugger, ZT_DEBUG_DETACHED).reason, ZET_DEBUG_DETACH_REASON_HOST_EXIT);
    assert_result(zt_debug_wait(debugger, UINT64_MAX, NULL, NULL), ZE_RESULT_ERROR_NOT_AVAILABLE);
    assert_result(zt_debug_get_threads(debugger, NULL, &count), ZE_RESULT_ERROR_NOT_AVAILABLE);
    ok(zt_debug_close(debugger));
}

/* Neither has the target a driver yet, nor is debug enabled in this process. */
static void test_attached_before_the_driver_is_up(void **state) {
    world *w = *state;
    const process *target = new_process();
    zt_debugger *debugger = NULL;
    zt_debug_stops stops;
    ok(try_open(w, (uint32_t)target->number, &debugger));
    no_event(debugger);
    ok(zt_debug_stop(debugger, all_threads, 0, &stops));
    assert_int_equal(stops.stopped, 0);
    tell(target, 'G');
    next_event(debugger, ZT_DEBUG_PROCESS_ENTRY);
    next_event(debugger, ZT_DEBUG_MODULE_LOAD);
    next_event(debugger, ZT_DEBUG_MODULE_LOAD);
    stop_one(debugger, all_threads);
    ok(zt_debug_close(debugger));
    assert_process_counts(target);
    end_process(target, SIGKILL);
}

static void test_a_target_crashes(void **state) {
    world *w = *state;
    const process *target = new_process();
    tell(target, 'G');
    zt_debugger *debugger = stop_process(w, target);
    end_process(target, SIGKILL);
    assert_target_is_gone(debugger);
}

/* Its kernel is stopped, its module destroyed; the kernel ends when it goes on. */
static void test_a_target_destroys_its_module_and_exits(void **state) {
    world *w = *state;
    const process *target = new_process();
    const uint64_t words = tell(target, 'G');
    const uint32_t last = 1;
    uint64_t address;
    zt_debug_place place;
    zt_debugger *debugger = stop_process(w, target);
    address = address_of(debugger, first_thread);
    tell(target, 'M');
    ok(zt_debug_write(debugger, first_thread, ZT_DEBUG_MEMORY, words + STOP * sizeof last, &last,
                      sizeof last));
    send_letter(target, 'X');
    end_process(target, 0);
    next_event(debugger, ZT_DEBUG_MODULE_UNLOAD);
    ok(zt_debug_where(debugger, address, &place)); /* nobody needs the process for that */
    assert_string_equal(place.kernel, "count");
    assert_true(place.is_unloaded);
    assert_target_is_gone(debugger);
}

/* In another process: P, and the number of a target, whose threads it stops. */
static int serve_debugger(world *w, char letter, int from) {
    uint32_t number;
    zt_debugger *debugger;
    if (letter != 'P' || read(from, &number, sizeof number) != sizeof number)
        return 0;
    ok(zt_debug_open(w->device, number, NULL, &debugger));
    stop_one(debugger, all_threads);
    return 1;
}

static void test_a_debugger_dies_and_leaves_no_thread_stopped(void **state) {
    world *w = *state;
    for (int way = 0; way < 2; way++) { /* it is killed; it exits without closing */
        const process *target = new_process(), *tool = new_process();
        const uint32_t number = (uint32_t)target->number;
        tell(target, 'G');
        send_letter(tool, 'P');
        assert_int_equal(write(tool->to, &number, sizeof number), sizeof number);
        answer_of(tool);
        assert_int_equal(tell(target, 'C'), tell(target, 'C'));
        if (way)
            send_letter(tool, 'X');
        end_process(tool, way ? 0 : SIGKILL);
        assert_process_counts(target);
        ok(zt_debug_close(open_on_process(w, number)));
        end_process(target, SIGKILL);
    }
}

static void test_a_forked_child_leaves_the_debugger_alone(void **state) {
    world *w = *state;
    work of = begin_counting(w);
    zt_debugger *debugger = open_debugger(w);
    int status;
    stop_one(debugger, all_threads);
    pretended.variables_set = 0;
    pid_t child = fork();
    if (child == 0) {
        /* A thread of the parent may have held the C library's lock for the environment. */
        int right = zt_debug_close(debugger) == ZE_RESULT_SUCCESS && pretended.variables_set == 0 &&
                    zt_debug_wait(debugger, UINT64_MAX, NULL, NULL) == ZE_RESULT_ERROR_NOT_AVAILABLE &&
                    strstr(zt_last_error(NULL), "zt_debug_wait: the debugger belongs to");
        _exit(right ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_stands_still(&of);
    ok(zt_debug_resume(debugger, all_threads));
    assert_counts_on(&of);
    ok(zt_debug_close(debugger));
    finish_work(w, &of);
}

/* ==== calls that fail ===================================================================================== */

static const char *const driver_calls[] = {
    "zetDeviceGetDebugProperties",
    "zeDeviceGetProperties",
    "zetDebugAttach",
    "zetDebugReadEvent",
    "zetDebugAcknowledgeEvent",
    "zetDebugInterrupt",
    "zetDebugResume",
    "zetDebugReadMemory",
    "zetDebugWriteMemory",
    "zetDebugReadRegisters",
    "zetDebugWriteRegisters",
    "zetDebugGetRegisterSetProperties",
    "zetDebugDetach",
};

/* Does all that a debugger does, whatever fails. Counts the results that are no success. */
static uint32_t debug_all(world *w, work *of) {
    zt_debugger *debugger = NULL;
    uint32_t failed = 0, count = 1, word = 0;
    uint64_t register_value = 0;
    zt_debug_thread_info thread = {first_thread, 0};
    zt_debug_registers flag;
    zt_debug_place place;
    zt_debug_stops stops;
    if (try_open(w, 0, &debugger) != ZE_RESULT_SUCCESS) {
        assert_null(debugger);
        return 1;
    }
    ze_module_handle_t module = load_module(w, "build/kernels/hot.so", "");
    failed += zt_debug_wait(debugger, 0, NULL, NULL) != ZE_RESULT_SUCCESS;
    failed += zt_debug_stop(debugger, all_threads, A_WHILE, &stops) != ZE_RESULT_SUCCESS;
    failed += zt_debug_get_threads(debugger, &thread, &count) != ZE_RESULT_SUCCESS;
    failed += zt_debug_where(debugger, thread.address, &place) != ZE_RESULT_SUCCESS;
    failed += zt_debug_read(debugger, first_thread, ZT_DEBUG_MEMORY, (uintptr_t)&of->words[RESULT], &word,
                            4) != ZE_RESULT_SUCCESS;
    failed += zt_debug_write(debugger, first_thread, ZT_DEBUG_MEMORY, (uintptr_t)&of->words[RESULT], &word,
                             4) != ZE_RESULT_SUCCESS;
    count = 1;
    if (zt_debug_get_registers(debugger, "FLAG", &flag, &count) == ZE_RESULT_SUCCESS) {
        failed += zt_debug_read(debugger, first_thread, flag.space, 0, &register_value, flag.bytes) !=
                  ZE_RESULT_SUCCESS;
        if (register_value)
            failed += zt_debug_write(debugger, first_thread, flag.space, 0, &register_value, flag.bytes) !=
                      ZE_RESULT_SUCCESS;
    }
    failed += zt_debug_resume(debugger, all_threads) != ZE_RESULT_SUCCESS;
    failed += zt_debug_close(debugger) != ZE_RESULT_SUCCESS;
    ok(zeModuleDestroy(module));
    return failed;
}

static void test_every_call_fails_once(void **state) {
    world *w = *state;
    const ze_result_t results[] = {ZE_RESULT_ERROR_UNKNOWN, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY,
                                   ZE_RESULT_ERROR_NOT_AVAILABLE};
    work of = begin_counting(w);
    heap_use before = library_memory();
    assert_int_equal(debug_all(w, &of), 0);
    for (size_t i = 0; i < sizeof driver_calls / sizeof *driver_calls; i++) {
        gpu.reset_calls();
        assert_int_equal(debug_all(w, &of), 0);
        const uint64_t made = calls(driver_calls[i]);
        assert_true(made > 0);
        for (uint32_t nth = 1; nth <= made && nth <= 12; nth++) {
            for (size_t r = 0; r < sizeof results / sizeof *results; r++) {
                inject(driver_calls[i], nth, results[r]);
                debug_all(w, &of);
                inject(driver_calls[i], 0, ZE_RESULT_SUCCESS);
                assert_counts_on(&of);
                assert_int_equal(library_memory().bytes, before.bytes);
            }
        }
    }
    assert_int_equal(debug_all(w, &of), 0);
    finish_work(w, &of);
}

/* What fails is named with its result. */
static void test_messages_name_the_call(void **state) {
    world *w = *state;
    zt_debugger *debugger;
    const char *of_opening[] = {"zetDeviceGetDebugProperties", "zeDeviceGetProperties", "zetDebugAttach",
                                "zetDebugGetRegisterSetProperties"};
    gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 0);
    for (size_t i = 0; i < sizeof of_opening / sizeof *of_opening; i++) {
        inject(of_opening[i], 1, ZE_RESULT_ERROR_UNKNOWN);
        assert_result(try_open(w, 0, &debugger), ZE_RESULT_ERROR_UNKNOWN);
        assert_contains(zt_last_error(NULL), of_opening[i]);
        assert_contains(zt_last_error(NULL), "ZE_RESULT_ERROR_UNKNOWN");
    }
    debugger = open_debugger(w);
    inject("zetDebugInterrupt", 1, ZE_RESULT_ERROR_UNKNOWN);
    assert_result(zt_debug_stop(debugger, all_threads, A_WHILE, NULL), ZE_RESULT_ERROR_UNKNOWN);
    assert_contains(zt_last_error(NULL), "zetDebugInterrupt failed: ZE_RESULT_ERROR_UNKNOWN");
    assert_result(last_result(), ZE_RESULT_ERROR_UNKNOWN);
    inject("zetDebugReadEvent", 1, ZE_RESULT_ERROR_UNKNOWN);
    assert_result(zt_debug_wait(debugger, 0, NULL, NULL), ZE_RESULT_ERROR_UNKNOWN);
    assert_contains(zt_last_error(NULL), "zetDebugReadEvent failed: ZE_RESULT_ERROR_UNKNOWN");
    ok(zt_debug_close(debugger));
}

/* A function of this library is named, too, where it is the one that was called. */
static void test_messages_name_the_function(void **state) {
    world *w = *state;
    zt_debug_config config = debug_config(w);
    zt_debugger *debugger;
    zt_debug_thread_info threads[4];
    zt_debug_stops stops;
    uint32_t count = 4;
    config.allocator = scarce_allocator();
    gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 0);
    ok(zt_debug_open(w->device, 0, &config, &debugger));
    allocations_left = 0;
    assert_result(zt_debug_stop(debugger, all_threads, A_WHILE, &stops), ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    assert_contains(zt_last_error(NULL), "zt_debug_stop: ");
    assert_result(zt_debug_get_threads(debugger, threads, &count), ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    assert_contains(zt_last_error(NULL), "zt_debug_get_threads: ");
    allocations_left = -1;
    ok(zt_debug_close(debugger));
}

static void test_without_memory(void **state) {
    world *w = *state;
    zt_debug_config config = debug_config(w);
    config.allocator = scarce_allocator();
    work of = begin_counting(w);
    for (int left = 0; left < 40; left++) {
        zt_debugger *debugger = NULL;
        zt_debug_stops stops;
        zt_debug_thread_info thread = {first_thread, 0};
        uint32_t count = 1;
        zt_debug_place place;
        allocations_left = left;
        if (zt_debug_open(w->device, 0, &config, &debugger) == ZE_RESULT_SUCCESS) {
            zt_debug_stop(debugger, all_threads, A_WHILE, &stops);
            zt_debug_get_threads(debugger, &thread, &count);
            zt_debug_where(debugger, thread.address, &place);
            ok(zt_debug_close(debugger));
        } else {
            assert_null(debugger);
            assert_true(left < 10);
        }
        allocations_left = -1;
        assert_counts_on(&of);
    }
    finish_work(w, &of);
}

/* The driver's numbers are no lengths. */
static void test_null_and_nonsense(void **state) {
    world *w = *state;
    zt_debug_config half = {0};
    zt_debugger *debugger = (zt_debugger *)(void *)w;
    zt_debug_place place;
    zt_debug_stops stops;
    zt_debug_registers found;
    uint32_t count = 7, word = 0;
    half.allocator.allocate = scarce_allocator().allocate;
    assert_result(zt_debug_open(NULL, 0, NULL, &debugger), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    assert_null(debugger);
    assert_result(zt_debug_open(w->device, 0, NULL, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    assert_result(zt_debug_open(w->device, 0, &half, &debugger), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    ok(zt_debug_close(NULL));
    ok(zt_debug_wait(NULL, UINT64_MAX, hear, NULL));
    ok(zt_debug_stop(NULL, all_threads, UINT64_MAX, &stops));
    ok(zt_debug_resume(NULL, all_threads));
    ok(zt_debug_get_threads(NULL, NULL, &count));
    assert_int_equal(count, 0);
    ok(zt_debug_get_threads(NULL, NULL, NULL));
    ok(zt_debug_read(NULL, all_threads, ZT_DEBUG_MEMORY, 0, NULL, 1));
    ok(zt_debug_write(NULL, all_threads, ZT_DEBUG_MEMORY, 0, NULL, 1));
    count = 1;
    ok(zt_debug_get_registers(NULL, "r0", &found, &count));
    assert_int_equal(count, 0);
    ok(zt_debug_get_registers(NULL, NULL, NULL, NULL));
    ok(zt_debug_where(NULL, 0, &place));
    assert_string_equal(place.kernel, "");
    debugger = open_debugger(w);
    assert_result(zt_debug_get_threads(debugger, NULL, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    assert_result(zt_debug_where(debugger, 0, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    assert_result(zt_debug_get_registers(debugger, "r0", &found, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    assert_contains(zt_last_error(NULL), "count");
    gpu.reset_calls();
    ok(zt_debug_read(debugger, first_thread, 1000, 0, &word, 0));
    ok(zt_debug_write(debugger, first_thread, ZT_DEBUG_MEMORY, 64, &word, 0));
    assert_result(zt_debug_read(debugger, first_thread, ZT_DEBUG_MEMORY, 64, NULL, 0),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    assert_int_equal(calls("zetDebugReadRegisters") + calls("zetDebugWriteMemory"), 0);
    ok(zt_debug_close(debugger));
}

/* A log function, or an allocator, that calls the debugger which calls it, while that has its session in use.
 */
typedef struct reentry {
    zt_debugger *debugger;
    ze_result_t results[8];
    int is_wanted, count;
} reentry;

static void call_debugger(reentry *of) {
    uint32_t count = 1, word;
    zt_debug_place place;
    zt_debug_stops stops;
    zt_debugger *debugger = of->debugger;
    const ze_result_t results[] = {
        zt_debug_stop(debugger, all_threads, A_WHILE, &stops),
        zt_debug_resume(debugger, all_threads),
        zt_debug_get_threads(debugger, NULL, &count),
        zt_debug_read(debugger, first_thread, ZT_DEBUG_MEMORY, 64, &word, sizeof word),
        zt_debug_write(debugger, first_thread, ZT_DEBUG_MEMORY, 64, &word, sizeof word),
        zt_debug_where(debugger, 64, &place),
        zt_debug_wait(debugger, 0, NULL, NULL),
        zt_debug_close(debugger),
    };
    memcpy(of->results, results, sizeof results);
    of->count++;
}

static void log_and_call(int result, const char *message, void *user) {
    reentry *of = user;
    (void)result, (void)message;
    if (of->is_wanted) {
        of->is_wanted = 0;
        call_debugger(of);
    }
}

static void *allocate_and_call(size_t size, void *user) {
    log_and_call(0, NULL, user);
    return malloc(size);
}

static void test_callbacks_must_not_call_it(void **state) {
    world *w = *state;
    uint32_t word, count;
    work of = begin_counting(w);
    for (int by_allocator = 0; by_allocator < 2; by_allocator++) {
        zt_debug_config config = debug_config(w);
        reentry inside = {.count = 0};
        if (by_allocator) {
            config.allocator =
                (zt_allocator){.allocate = allocate_and_call, .release = release, .user = &inside};
        } else {
            config.log = log_and_call;
            config.log_user = &inside;
        }
        ok(zt_debug_open(w->device, 0, &config, &inside.debugger));
        inside.is_wanted = 1;
        if (by_allocator)
            ok(zt_debug_get_threads(inside.debugger, NULL, &count));
        else
            assert_result(zt_debug_read(inside.debugger, first_thread, ZT_DEBUG_MEMORY, 64, &word, 4),
                          ZE_RESULT_ERROR_NOT_AVAILABLE);
        assert_int_equal(inside.count, 1);
        for (size_t i = 0; i < sizeof inside.results / sizeof *inside.results; i++)
            assert_result(inside.results[i], ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
        stop_one(inside.debugger, all_threads); /* it is as good as before */
        ok(zt_debug_close(inside.debugger));
        assert_counts_on(&of);
    }
    finish_work(w, &of);
}

/* ==== several threads ===================================================================================== */

typedef struct shared_debugger {
    zt_debugger *debugger;
    int is_over; /* atomic */
    ze_result_t waited;
} shared_debugger;

static void *wait_for_events(void *argument) {
    shared_debugger *of = argument;
    while (!__atomic_load_n(&of->is_over, __ATOMIC_ACQUIRE)) {
        of->waited = zt_debug_wait(of->debugger, 50000000, NULL, NULL);
        if (of->waited != ZE_RESULT_SUCCESS && of->waited != ZE_RESULT_NOT_READY)
            break;
    }
    return NULL;
}

static void *stop_and_resume(void *argument) {
    shared_debugger *of = argument;
    for (int i = 0; i < OFTEN(100); i++) {
        zt_debug_stops stops;
        ok(zt_debug_stop(of->debugger, all_threads, A_WHILE, &stops));
        ok(zt_debug_resume(of->debugger, all_threads));
    }
    return NULL;
}

static void test_threads_share_a_debugger(void **state) {
    world *w = *state;
    enum { THREADS = 3 };
    pthread_t waiting, others[THREADS];
    work of = begin_counting(w);
    shared_debugger shared = {.debugger = open_debugger(w)};
    assert_int_equal(pthread_create(&waiting, NULL, wait_for_events, &shared), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&others[i], NULL, stop_and_resume, &shared), 0);
    for (int i = 0; i < THREADS; i++)
        join_in_time(w, others[i]);
    __atomic_store_n(&shared.is_over, 1, __ATOMIC_RELEASE);
    join_in_time(w, waiting);
    ok(zt_debug_resume(shared.debugger, all_threads));
    assert_counts_on(&of);
    ok(zt_debug_close(shared.debugger));
    finish_work(w, &of);
}

static void *wait_for_ever(void *argument) {
    shared_debugger *of = argument;
    __atomic_store_n(&of->is_over, 1, __ATOMIC_RELEASE);
    of->waited = zt_debug_wait(of->debugger, UINT64_MAX, NULL, NULL);
    return NULL;
}

static void test_closing_ends_a_wait(void **state) {
    world *w = *state;
    pthread_t waiting;
    shared_debugger shared = {.debugger = open_debugger(w)};
    skip_events(shared.debugger);
    assert_int_equal(pthread_create(&waiting, NULL, wait_for_ever, &shared), 0);
    await(&shared.is_over);
    for (int i = 0; i < 20; i++)
        nap();
    ok(zt_debug_close(shared.debugger));
    join_in_time(w, waiting);
    assert_result(shared.waited, ZE_RESULT_ERROR_NOT_AVAILABLE);
    assert_true(heard(w, "zt_debug_wait: another thread is closing this debugger"));
}

static void *stop_for_ever(void *argument) {
    shared_debugger *of = argument;
    of->waited = zt_debug_stop(of->debugger, all_threads, UINT64_MAX, NULL);
    return NULL;
}

static void test_closing_ends_a_stop(void **state) {
    world *w = *state;
    pthread_t stopping;
    work of = begin_counting(w);
    shared_debugger shared = {.debugger = open_debugger(w)};
    skip_events(shared.debugger);
    gpu.behave(SOFTGPU_DEBUG_EVENTS_LOST, 1);
    assert_int_equal(pthread_create(&stopping, NULL, stop_for_ever, &shared), 0);
    while (gpu.calls("zetDebugInterrupt") == 0)
        nap();
    ok(zt_debug_close(shared.debugger));
    join_in_time(w, stopping);
    assert_result(shared.waited, ZE_RESULT_ERROR_NOT_AVAILABLE);
    assert_true(heard(w, "zt_debug_stop: another thread is closing this debugger"));
    gpu.behave(SOFTGPU_DEBUG_EVENTS_LOST, 0);
    assert_counts_on(&of);
    finish_work(w, &of);
}

/* A thread that uses the debugger for as long as the test wants: its message is being logged. */
typedef struct busy_debugger {
    zt_debugger *debugger;
    world *w;
    pthread_t thread;
    int is_busy, is_over; /* atomic */
    int count;
} busy_debugger;

static void log_for_long(int result, const char *message, void *user) {
    busy_debugger *of = user;
    (void)result;
    if (!strstr(message, "zetDebugReadMemory"))
        return;
    __atomic_store_n(&of->is_busy, 1, __ATOMIC_RELEASE);
    await(&of->is_over);
}

static void *read_nothing(void *argument) {
    busy_debugger *of = argument;
    uint32_t word;
    assert_true(zt_debug_read(of->debugger, first_thread, ZT_DEBUG_MEMORY, 64, &word, sizeof word) != 0);
    return NULL;
}

static void *close_debugger(void *argument) {
    ok(zt_debug_close(((busy_debugger *)argument)->debugger));
    return NULL;
}

/* A call that begins while another thread closes the debugger, which waits for a third one. */
static void test_a_call_while_it_is_being_closed(void **state) {
    world *w = *state;
    busy_debugger busy = {.w = w};
    zt_debug_config config = debug_config(w);
    pthread_t closing;
    ze_result_t result;
    config.log = log_for_long;
    config.log_user = &busy;
    config.wait_timeout_ns = 1000000;
    gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 0);
    ok(zt_debug_open(w->device, 0, &config, &busy.debugger));
    assert_int_equal(pthread_create(&busy.thread, NULL, read_nothing, &busy), 0);
    await(&busy.is_busy);
    assert_int_equal(pthread_create(&closing, NULL, close_debugger, &busy), 0);
    do {
        result = zt_debug_resume(busy.debugger, all_threads);
    } while (result == ZE_RESULT_NOT_READY);
    assert_result(result, ZE_RESULT_ERROR_NOT_AVAILABLE);
    assert_contains(zt_last_error(NULL),
                    "zt_debug_resume: another thread is closing this debugger with zt_debug_close(), which");
    assert_result(last_result(), ZE_RESULT_ERROR_NOT_AVAILABLE);
    __atomic_store_n(&busy.is_over, 1, __ATOMIC_RELEASE);
    join_in_time(w, busy.thread);
    join_in_time(w, closing);
}

/* Closing gives up when another thread does not come back, and can be tried again. */
static void test_closing_while_it_is_in_use(void **state) {
    world *w = *state;
    busy_debugger busy = {.w = w};
    zt_debug_config config = debug_config(w);
    pthread_t passing;
    int is_over = 0;
    uint32_t count;
    config.log = log_for_long;
    config.log_user = &busy;
    gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 0);
    ok(zt_debug_open(w->device, 0, &config, &busy.debugger));
    assert_int_equal(pthread_create(&busy.thread, NULL, read_nothing, &busy), 0);
    await(&busy.is_busy);
    assert_int_equal(pthread_create(&passing, NULL, pass_much_time, &is_over), 0);
    ze_result_t result = zt_debug_close(busy.debugger);
    __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
    join_in_time(w, passing);
    __atomic_store_n(&busy.is_over, 1, __ATOMIC_RELEASE);
    join_in_time(w, busy.thread);
    assert_result(result, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    assert_contains(zt_last_error(NULL), "zt_debug_close");
    ok(zt_debug_get_threads(busy.debugger, NULL, &count));
    ok(zt_debug_close(busy.debugger));
}

static int begin_reading(zt_debugger *debugger, const zt_debug_event *event, void *user) {
    busy_debugger *of = user;
    (void)debugger;
    assert_true(event->is_held);
    of->count++;
    assert_int_equal(pthread_create(&of->thread, NULL, read_nothing, of), 0);
    await(&of->is_busy);
    return 0;
}

/* While another thread uses the debugger for longer than config.wait_timeout_ns, an event cannot be
   acknowledged. The next call does it, or closing. */
static void test_an_event_is_acknowledged_later(void **state) {
    world *w = *state;
    for (int way = 0; way < 2; way++) {
        busy_debugger busy = {.w = w};
        zt_debug_config config = debug_config(w);
        config.log = log_for_long;
        config.log_user = &busy;
        config.wait_timeout_ns = 1000000;
        gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 0);
        ok(zt_debug_open(w->device, 0, &config, &busy.debugger));
        skip_events(busy.debugger);
        work of = begin_on(w, w->device, "count");
        assert_result(zt_debug_wait(busy.debugger, A_WHILE, begin_reading, &busy), ZE_RESULT_NOT_READY);
        assert_contains(zt_last_error(NULL), "zt_debug_wait");
        assert_int_equal(busy.count, 1);
        assert_held(w, &of);
        __atomic_store_n(&busy.is_over, 1, __ATOMIC_RELEASE);
        join_in_time(w, busy.thread);
        if (way == 0) {
            assert_result(zt_debug_wait(busy.debugger, 0, begin_reading, &busy), ZE_RESULT_NOT_READY);
            assert_counts_on(&of);
        }
        ok(zt_debug_close(busy.debugger));
        finish_work(w, &of);
    }
}

#undef TEST
#define TEST(function) cmocka_unit_test_setup_teardown(function, open_pretended, close_world)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_why_it_cannot_attach),
        TEST(test_two_debuggers_of_one_process),
        TEST(test_a_process_of_another_user),
        TEST(test_the_system_has_switched_it_off),
        TEST(test_the_variable_is_set),
        TEST(test_shapes_that_cannot_be),
        TEST(test_a_sub_device_has_no_code_of_its_own),
        TEST(test_attached_a_thousand_times),
        TEST(test_events_of_what_is_there),
        TEST(test_queues_enter_and_exit),
        TEST(test_a_module_waits_to_be_acknowledged),
        TEST(test_events_keep_their_order),
        TEST(test_many_events_wait),
        TEST(test_an_event_cannot_be_acknowledged),
        TEST(test_an_event_that_nobody_waits_for),
        TEST(test_the_device_is_lost_while_an_event_is_delivered),
        TEST(test_events_of_a_session_that_is_over),
        TEST(test_two_threads_wait),
        TEST(test_the_debugger_is_detached),
        TEST(test_a_lost_device),
        TEST(test_lost_while_detaching),
        TEST(test_events_of_a_later_version),
        TEST(test_detached_before_an_access),
        TEST(test_threads_stop_and_go_on),
        TEST(test_two_threads_of_the_device),
        TEST(test_threads_that_cannot_be_stopped),
        TEST(test_no_answer),
        TEST(test_a_late_answer),
        TEST(test_a_late_answer_leaves_what_a_later_stop_covers),
        TEST(test_a_late_answer_resumes_the_others),
        TEST(test_a_late_answer_after_resuming),
        TEST(test_two_late_answers),
        TEST(test_stopped_again_after_a_lost_answer),
        TEST(test_lost_when_threads_are_released),
        TEST(test_stopped_again_before_the_answer),
        TEST(test_detached_while_threads_are_stopped),
        TEST(test_a_thread_that_is_missing),
        TEST(test_threads_that_are_not_resumed),
        TEST(test_too_many_stops_at_once),
        TEST(test_where_a_thread_is),
        TEST(test_no_program_for_lines),
        TEST(test_a_module_goes_while_its_kernel_is_stopped),
        TEST(test_modules_are_kept_up_to_a_limit),
        TEST(test_modules_make_room),
        TEST(test_a_kernel_that_is_a_symbol),
        TEST(test_modules_at_one_place),
        TEST(test_files_that_are_damaged),
        TEST(test_a_page_fault),
        TEST(test_a_counter_in_memory_ends_its_kernel),
        TEST(test_local_memory),
        TEST(test_a_counter_in_a_register_ends_its_kernel),
        TEST(test_registers_by_name),
        TEST(test_registers_that_are_not_there),
        TEST(test_other_registers),
        TEST(test_no_register_can_be_read),
        TEST(test_sets_of_registers_that_go),
        TEST(test_the_address_is_not_known),
        TEST(test_another_process),
        TEST(test_attached_before_the_driver_is_up),
        TEST(test_a_target_crashes),
        TEST(test_a_target_destroys_its_module_and_exits),
        TEST(test_a_debugger_dies_and_leaves_no_thread_stopped),
        TEST(test_a_forked_child_leaves_the_debugger_alone),
        TEST(test_every_call_fails_once),
        TEST(test_messages_name_the_call),
        TEST(test_messages_name_the_function),
        TEST(test_without_memory),
        TEST(test_null_and_nonsense),
        TEST(test_callbacks_must_not_call_it),
        TEST(test_threads_share_a_debugger),
        TEST(test_closing_ends_a_wait),
        TEST(test_closing_ends_a_stop),
        TEST(test_closing_while_it_is_in_use),
        TEST(test_a_call_while_it_is_being_closed),
        TEST(test_an_event_is_acknowledged_later),
    };
    fork_processes(8, serve_debugger);
    return cmocka_run_group_tests_name("debug", tests, start, NULL);
}
