/* The software device's program debug: sessions, events, and what is held back until they are acknowledged.
 */
#define _GNU_SOURCE
#include "endless.h"
#include "values.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

typedef zet_debug_session_handle_t session_handle;

/* ==== sessions ============================================================================================ */

static ze_result_t try_attach(ze_device_handle_t device, session_handle *session) {
    zet_debug_config_t config = {.pid = (uint32_t)getpid()};
    return zetDebugAttach(device, &config, session);
}

static session_handle attach(ze_device_handle_t device) {
    session_handle session = NULL;
    gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 0);
    ok(try_attach(device, &session));
    return session;
}

static int can_attach(ze_device_handle_t device) {
    zet_device_debug_properties_t properties = {.stype = ZET_STRUCTURE_TYPE_DEVICE_DEBUG_PROPERTIES};
    ok(zetDeviceGetDebugProperties(device, &properties));
    return properties.flags == ZET_DEVICE_DEBUG_PROPERTY_FLAG_ATTACH;
}

static void test_who_may_attach(void **state) {
    world *w = *state;
    session_handle session, other;
    const zet_debug_config_t nobody = {.pid = INT32_MAX};
    assert_true(can_attach(w->device));
    assert_result(try_attach(w->device, &session), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 0);
    gpu.behave(SOFTGPU_DEBUG_UNSUPPORTED, 1);
    assert_false(can_attach(w->device));
    assert_result(try_attach(w->device, &session), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    gpu.behave(SOFTGPU_DEBUG_UNSUPPORTED, 0);
    gpu.behave(SOFTGPU_DEBUG_NO_PERMISSION, 1);
    assert_result(try_attach(w->device, &session), ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS);
    gpu.behave(SOFTGPU_DEBUG_NO_PERMISSION, 0);
    gpu.behave(SOFTGPU_DEBUG_NOT_ITSELF, 1);
    assert_result(try_attach(w->device, &session), ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS);
    gpu.behave(SOFTGPU_DEBUG_NOT_ITSELF, 0);
    assert_result(zetDebugAttach(w->device, &nobody, &session), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    ok(try_attach(w->device, &session));
    assert_result(try_attach(w->device, &other), ZE_RESULT_ERROR_NOT_AVAILABLE);
    ok(zetDebugDetach(session));
}

static void test_sessions_come_and_go(void **state) {
    world *w = *state;
    for (int i = 0; i < OFTEN(1000); i++)
        ok(zetDebugDetach(attach(w->device)));
    launch(w, w->immediate);
    finish_immediate(w, w->immediate);
}

static void test_calls_check_their_arguments(void **state) {
    world *w = *state;
    zet_debug_event_t event;
    zet_debug_config_t config = {.pid = (uint32_t)getpid()};
    session_handle session = attach(w->device), none = NULL;
    const ze_result_t no_handle = ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    const ze_result_t no_pointer = ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    assert_result(zetDeviceGetDebugProperties(NULL, NULL), no_handle);
    assert_result(zetDeviceGetDebugProperties(w->device, NULL), no_pointer);
    assert_result(zetDebugAttach(NULL, &config, &none), no_handle);
    assert_result(zetDebugAttach(w->device, NULL, &none), no_pointer);
    assert_result(zetDebugAttach(w->device, &config, NULL), no_pointer);
    assert_result(zetDebugReadEvent(NULL, 0, &event), no_handle);
    assert_result(zetDebugReadEvent(session, 0, NULL), no_pointer);
    assert_result(zetDebugAcknowledgeEvent(NULL, &event), no_handle);
    assert_result(zetDebugAcknowledgeEvent(session, NULL), no_pointer);
    ok(zetDebugDetach(session));
    assert_result(zetDebugDetach(session), no_handle);
    assert_int_equal(gpu.findings(), 1); /* destroyed twice */
    gpu.forget_findings();
}

/* ==== events ============================================================================================== */

static zet_debug_event_t next_event(session_handle session, zet_debug_event_type_t expected) {
    zet_debug_event_t event = {.type = ZET_DEBUG_EVENT_TYPE_INVALID};
    ok(zetDebugReadEvent(session, A_WHILE / 1000000, &event));
    assert_int_equal(event.type, expected);
    return event;
}

static void no_event(session_handle session) {
    zet_debug_event_t event;
    assert_result(zetDebugReadEvent(session, 0, &event), ZE_RESULT_NOT_READY);
}

/* Attached to a world with its queues and its module. */
static session_handle attach_to_world(world *w) {
    session_handle session = attach(w->device);
    next_event(session, ZET_DEBUG_EVENT_TYPE_PROCESS_ENTRY);
    zet_debug_event_t load = next_event(session, ZET_DEBUG_EVENT_TYPE_MODULE_LOAD);
    assert_int_equal(load.flags, 0); /* it may be running */
    no_event(session);
    return session;
}

static void test_queues_enter_and_exit(void **state) {
    world *w = *state;
    ze_command_list_handle_t lists[2];
    ze_device_handle_t devices[2];
    uint32_t count = 2;
    gpu.set_devices(2, 0);
    ok(zeDeviceGet(w->driver, &count, devices));
    const ze_device_handle_t other = devices[1]; /* the world's queues are on the first */
    session_handle session = attach(other);
    no_event(session);
    ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    for (int i = 0; i < 2; i++)
        ok(zeCommandListCreateImmediate(w->context, other, &desc, &lists[i]));
    assert_int_equal(next_event(session, ZET_DEBUG_EVENT_TYPE_PROCESS_ENTRY).flags, 0);
    no_event(session);
    ok(zeCommandListDestroy(lists[0]));
    no_event(session);
    ok(zeCommandListDestroy(lists[1]));
    next_event(session, ZET_DEBUG_EVENT_TYPE_PROCESS_EXIT);
    ok(zetDebugDetach(session));
}

static void test_modules_are_loaded_and_unloaded(void **state) {
    world *w = *state;
    session_handle session = attach_to_world(w);
    native_binary code = read_binary("build/kernels/hot.so");
    ze_module_handle_t modules[2];
    for (int i = 0; i < 2; i++)
        ok(try_module(w, code, "", &modules[i]));
    zet_debug_event_t load = next_event(session, ZET_DEBUG_EVENT_TYPE_MODULE_LOAD);
    assert_int_equal(load.flags, ZET_DEBUG_EVENT_FLAG_NEED_ACK);
    assert_int_equal(load.info.module.format, ZET_MODULE_DEBUG_INFO_FORMAT_ELF_DWARF);
    assert_int_equal(load.info.module.moduleEnd - load.info.module.moduleBegin, code.size);
    assert_memory_equal((void *)(uintptr_t)load.info.module.moduleBegin, code.bytes, code.size);
    assert_true(load.info.module.load != 0);
    no_event(session); /* both have the same code */
    ok(zetDebugAcknowledgeEvent(session, &load));
    assert_result(zetDebugAcknowledgeEvent(session, &load), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    ok(zeModuleDestroy(modules[0]));
    no_event(session);
    ok(zeModuleDestroy(modules[1]));
    zet_debug_event_t unload = next_event(session, ZET_DEBUG_EVENT_TYPE_MODULE_UNLOAD);
    assert_int_equal(unload.flags, 0);
    assert_int_equal(unload.info.module.format, load.info.module.format);
    assert_int_equal(unload.info.module.moduleBegin, load.info.module.moduleBegin);
    assert_int_equal(unload.info.module.moduleEnd, load.info.module.moduleEnd);
    assert_int_equal(unload.info.module.load, load.info.module.load);
    ok(zetDebugDetach(session));
    free(code.bytes);
}

/* A module that is loaded while a tool is attached, and a launch of one of its kernels. */
typedef struct held_launch {
    ze_module_handle_t module;
    ze_kernel_handle_t kernel;
    ze_command_list_handle_t list;
    uint32_t *words;
} held_launch;

static held_launch launch_loaded(world *w) {
    held_launch of;
    ze_device_mem_alloc_desc_t device_desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    ze_host_mem_alloc_desc_t host_desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    ze_group_count_t groups = {1, 1, 1};
    uint32_t rounds = 1;
    void *memory = NULL;
    of.module = load_module(w, "build/kernels/hot.so", "");
    of.kernel = kernel_in(of.module, "hot");
    create_immediate(w, &of.list);
    ok(zeMemAllocShared(w->context, &device_desc, &host_desc, 64, 64, w->device, &memory));
    memset(memory, 0, 64);
    of.words = memory;
    ok(zeKernelSetArgumentValue(of.kernel, 0, sizeof of.words, &of.words));
    ok(zeKernelSetArgumentValue(of.kernel, 1, sizeof rounds, &rounds));
    ok(zeCommandListAppendLaunchKernel(of.list, of.kernel, &groups, NULL, 0, NULL));
    return of;
}

/* Other code has been run since, and this has not. */
static void assert_held(world *w, const held_launch *of) {
    for (int i = 0; i < 3; i++) {
        launch(w, w->immediate);
        finish_immediate(w, w->immediate);
        assert_result(zeCommandListAppendBarrier(of->list, NULL, 0, NULL), ZE_RESULT_SUCCESS);
        assert_int_equal(of->words[1], 0);
    }
}

static void finish_held(world *w, held_launch *of) {
    finish_immediate(w, of->list);
    assert_int_equal(of->words[1], 1);
    ok(zeMemFree(w->context, of->words));
    ok(zeKernelDestroy(of->kernel));
    ok(zeModuleDestroy(of->module));
    ok(zeCommandListDestroy(of->list));
}

static void test_code_runs_when_its_load_is_acknowledged(void **state) {
    world *w = *state;
    session_handle session = attach_to_world(w);
    held_launch of = launch_loaded(w);
    zet_debug_event_t load = next_event(session, ZET_DEBUG_EVENT_TYPE_MODULE_LOAD);
    assert_held(w, &of);
    zet_debug_event_t other = load;
    other.info.module.load++;
    assert_result(zetDebugAcknowledgeEvent(session, &other), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_held(w, &of);
    ok(zetDebugAcknowledgeEvent(session, &load));
    finish_held(w, &of);
    ok(zetDebugDetach(session));
}

static void test_a_detached_tool_holds_nothing_back(void **state) {
    world *w = *state;
    session_handle session = attach_to_world(w);
    held_launch of = launch_loaded(w);
    assert_held(w, &of);
    ok(zetDebugDetach(session));
    finish_held(w, &of);
}

static void test_an_event_never_comes(void **state) {
    world *w = *state;
    session_handle session = attach_to_world(w);
    gpu.behave(SOFTGPU_DEBUG_EVENTS_LOST, 1);
    held_launch of = launch_loaded(w);
    no_event(session);
    assert_held(w, &of);
    ok(zetDebugDetach(session));
    finish_held(w, &of);
}

/* In the middle of what it holds back. */
static void test_a_tool_is_detached(void **state) {
    world *w = *state;
    session_handle session = attach_to_world(w);
    zet_debug_event_t event;
    held_launch of = launch_loaded(w);
    gpu.detach_debuggers(ZET_DEBUG_DETACH_REASON_HOST_EXIT);
    finish_held(w, &of);
    event = next_event(session, ZET_DEBUG_EVENT_TYPE_MODULE_LOAD);
    assert_int_equal(next_event(session, ZET_DEBUG_EVENT_TYPE_DETACHED).info.detached.reason,
                     ZET_DEBUG_DETACH_REASON_HOST_EXIT);
    assert_result(zetDebugAcknowledgeEvent(session, &event), ZE_RESULT_ERROR_NOT_AVAILABLE);
    assert_result(zetDebugReadEvent(session, UINT64_MAX, &event), ZE_RESULT_NOT_READY);
    ok(zetDebugDetach(attach(w->device)));
    ok(zetDebugDetach(session));
}

/* More than a socket holds. */
static void test_events_wait_to_be_read(void **state) {
    world *w = *state;
    enum { ROUNDS = 5000 };
    session_handle session = attach_to_world(w);
    native_binary code = read_binary("build/kernels/hot.so");
    for (int i = 0; i < ROUNDS; i++) {
        ze_module_handle_t module;
        ok(try_module(w, code, "", &module));
        ok(zeModuleDestroy(module));
    }
    for (int i = 0; i < ROUNDS; i++) {
        next_event(session, ZET_DEBUG_EVENT_TYPE_MODULE_LOAD);
        next_event(session, ZET_DEBUG_EVENT_TYPE_MODULE_UNLOAD);
    }
    no_event(session);
    ok(zetDebugDetach(session));
    free(code.bytes);
}

/* ==== waiting ============================================================================================= */

typedef struct reader {
    session_handle session;
    zet_debug_event_t event;
    ze_result_t result;
    int is_reading;
} reader;

static void *read_one(void *argument) {
    reader *of = argument;
    __atomic_store_n(&of->is_reading, 1, __ATOMIC_SEQ_CST);
    of->result = zetDebugReadEvent(of->session, UINT64_MAX, &of->event);
    return NULL;
}

static pthread_t begin_reading(reader *of, session_handle session) {
    pthread_t thread;
    *of = (reader){.session = session};
    assert_int_equal(pthread_create(&thread, NULL, read_one, of), 0);
    await(&of->is_reading);
    nap();
    return thread;
}

static void test_a_reader_waits(void **state) {
    world *w = *state;
    session_handle session = attach_to_world(w);
    zet_debug_event_t event;
    reader waiting;
    uint64_t begin = now_ns();
    assert_result(zetDebugReadEvent(session, 20, &event), ZE_RESULT_NOT_READY);
    assert_true(now_ns() - begin >= 20000000);
    pthread_t thread = begin_reading(&waiting, session);
    ze_module_handle_t module = load_module(w, "build/kernels/hot.so", "");
    join_in_time(w, thread);
    ok(waiting.result);
    assert_int_equal(waiting.event.type, ZET_DEBUG_EVENT_TYPE_MODULE_LOAD);
    ok(zeModuleDestroy(module));
    ok(zetDebugDetach(session));
}

static void test_a_lost_device_ends_waiting(void **state) {
    world *w = *state;
    session_handle session = attach_to_world(w);
    zet_debug_event_t event;
    reader waiting;
    pthread_t thread = begin_reading(&waiting, session);
    gpu.lose_device();
    join_in_time(w, thread);
    assert_result(waiting.result, ZE_RESULT_ERROR_DEVICE_LOST);
    assert_result(zetDebugReadEvent(session, 0, &event), ZE_RESULT_ERROR_DEVICE_LOST);
    ok(zetDebugDetach(session));
    gpu.restore_device();
}

/* ==== threads ============================================================================================= */

#define ALL UINT32_MAX

static const ze_device_thread_t all_threads = {ALL, ALL, ALL, ALL};
static const ze_device_thread_t first_thread = {0, 0, 0, 0};

/* Attached to what runs already. */
static session_handle attach_and_skip(ze_device_handle_t device) {
    session_handle session = attach(device);
    zet_debug_event_t event;
    while (zetDebugReadEvent(session, 0, &event) == ZE_RESULT_SUCCESS)
        assert_int_equal(event.flags, 0);
    return session;
}

static void assert_threads(session_handle session, zet_debug_event_type_t type, ze_device_thread_t threads) {
    zet_debug_event_t event = next_event(session, type);
    assert_int_equal(event.flags, 0);
    assert_memory_equal(&event.info.thread.thread, &threads, sizeof threads);
}

static void stop_threads(session_handle session, ze_device_thread_t threads) {
    ok(zetDebugInterrupt(session, threads));
    assert_threads(session, ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED, threads);
}

static void test_a_thread_stops_and_goes_on(void **state) {
    world *w = *state;
    const ze_device_thread_t patterns[] = {
        first_thread, {ALL, ALL, ALL, ALL}, {0, ALL, ALL, ALL}, {0, 0, ALL, 0}, {ALL, 0, 0, 0}};
    work of = begin_counting(w);
    session_handle session = attach_and_skip(w->device);
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        stop_threads(session, patterns[i]);
        assert_stands_still(&of);
        assert_result(zetDebugInterrupt(session, first_thread), ZE_RESULT_ERROR_NOT_AVAILABLE);
        no_event(session);
        ok(zetDebugResume(session, patterns[i]));
        assert_counts_on(&of);
        assert_result(zetDebugResume(session, patterns[i]), ZE_RESULT_ERROR_NOT_AVAILABLE);
    }
    finish_work(w, &of);
    ok(zetDebugDetach(session));
}

static void test_threads_that_are_not_there(void **state) {
    world *w = *state;
    session_handle session = attach_to_world(w);
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    ok(zeDeviceGetProperties(w->device, &properties));
    const ze_device_thread_t beyond[] = {{properties.numSlices, 0, 0, 0},
                                         {0, properties.numSubslicesPerSlice, 0, 0},
                                         {0, 0, properties.numEUsPerSubslice, 0},
                                         {0, 0, 0, properties.numThreadsPerEU}};
    ok(zetDebugInterrupt(session, first_thread));
    assert_threads(session, ZET_DEBUG_EVENT_TYPE_THREAD_UNAVAILABLE, first_thread);
    ok(zetDebugInterrupt(session, all_threads));
    assert_threads(session, ZET_DEBUG_EVENT_TYPE_THREAD_UNAVAILABLE, all_threads);
    assert_result(zetDebugResume(session, all_threads), ZE_RESULT_ERROR_NOT_AVAILABLE);
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
        assert_result(zetDebugInterrupt(session, beyond[i]), ZE_RESULT_ERROR_NOT_AVAILABLE);
        assert_result(zetDebugResume(session, beyond[i]), ZE_RESULT_ERROR_NOT_AVAILABLE);
    }
    no_event(session);
    assert_result(zetDebugInterrupt(NULL, all_threads), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    assert_result(zetDebugResume(NULL, all_threads), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    ok(zetDebugDetach(session));
}

/* Which of two works goes on is found when it does. */
static const work *find_running(const work *a, const work *b) {
    uint32_t before_a = count_of(a), before_b = count_of(b);
    uint64_t end = now_ns() + A_WHILE;
    for (;;) {
        if (count_of(a) != before_a)
            return a;
        if (count_of(b) != before_b)
            return b;
        assert_true(now_ns() < end);
    }
}

static void test_one_of_two_threads_stops(void **state) {
    world *w = *state;
    const ze_device_thread_t second_thread = {0, 0, 1, 0};
    gpu.behave(SOFTGPU_CONCURRENT_ENGINES, 1);
    work first = begin_counting(w), second = begin_counting(w);
    session_handle session = attach_and_skip(w->device);
    stop_threads(session, second_thread);
    const work *running = find_running(&first, &second), *stopped = running == &first ? &second : &first;
    assert_stands_still(stopped);
    stop_threads(session, all_threads); /* the rest of them */
    assert_stands_still(running);
    assert_result(zetDebugInterrupt(session, all_threads), ZE_RESULT_ERROR_NOT_AVAILABLE);
    ok(zetDebugResume(session, second_thread));
    assert_counts_on(stopped);
    assert_stands_still(running);
    ok(zetDebugResume(session, all_threads));
    assert_counts_on(running);
    finish_work(w, &first);
    finish_work(w, &second);
    ok(zetDebugDetach(session));
}

static void test_threads_are_unavailable(void **state) {
    world *w = *state;
    work of = begin_counting(w);
    session_handle session = attach_and_skip(w->device);
    gpu.behave(SOFTGPU_DEBUG_THREADS_UNAVAILABLE, 2);
    stop_threads(session, all_threads);
    ok(zetDebugResume(session, all_threads));
    ok(zetDebugInterrupt(session, all_threads));
    assert_threads(session, ZET_DEBUG_EVENT_TYPE_THREAD_UNAVAILABLE, all_threads);
    assert_counts_on(&of);
    finish_work(w, &of);
    ok(zetDebugDetach(session));
}

static void test_an_answer_comes_after_the_next(void **state) {
    world *w = *state;
    const ze_device_thread_t second = {0, 0, 1, 0}, third = {0, 0, 2, 0}; /* nothing runs there */
    session_handle session = attach_and_skip(w->device);
    gpu.behave(SOFTGPU_DEBUG_ANSWERS_LATE, 1);
    ok(zetDebugInterrupt(session, second));
    ok(zetDebugInterrupt(session, third));
    assert_threads(session, ZET_DEBUG_EVENT_TYPE_THREAD_UNAVAILABLE, third);
    assert_threads(session, ZET_DEBUG_EVENT_TYPE_THREAD_UNAVAILABLE, second);
    ok(zetDebugDetach(session));
}

/* One that began while nobody could attach. */
static void test_a_thread_cannot_be_stopped(void **state) {
    world *w = *state;
    work of = begin_on(w, w->device, "count");
    await((const int *)&of.words[COUNT]);
    session_handle session = attach_and_skip(w->device);
    ok(zetDebugInterrupt(session, all_threads));
    assert_threads(session, ZET_DEBUG_EVENT_TYPE_THREAD_UNAVAILABLE, all_threads);
    assert_counts_on(&of);
    finish_work(w, &of);
    ok(zetDebugDetach(session));
}

static void test_nobody_stays_stopped(void **state) {
    world *w = *state;
    work of = begin_counting(w);
    session_handle session = attach_and_skip(w->device);
    stop_threads(session, all_threads);
    ok(zetDebugDetach(session));
    assert_counts_on(&of);
    session = attach_and_skip(w->device);
    stop_threads(session, all_threads);
    gpu.detach_debuggers(ZET_DEBUG_DETACH_REASON_INVALID);
    assert_counts_on(&of);
    assert_int_equal(next_event(session, ZET_DEBUG_EVENT_TYPE_DETACHED).info.detached.reason,
                     ZET_DEBUG_DETACH_REASON_INVALID);
    assert_result(zetDebugResume(session, all_threads), ZE_RESULT_ERROR_NOT_AVAILABLE);
    ok(zetDebugDetach(session));
    for (int i = 0; i < OFTEN(300); i++) { /* before or after they stop */
        session = attach(w->device);
        ok(zetDebugInterrupt(session, all_threads));
        ok(zetDebugDetach(session));
    }
    assert_counts_on(&of);
    finish_work(w, &of);
}

static void test_a_module_goes_while_its_kernel_is_stopped(void **state) {
    world *w = *state;
    work of = begin_counting(w);
    session_handle session = attach_and_skip(w->device);
    stop_threads(session, all_threads);
    ok(zeKernelDestroy(of.kernel));
    ok(zeModuleDestroy(of.module));
    next_event(session, ZET_DEBUG_EVENT_TYPE_MODULE_UNLOAD);
    ok(zetDebugResume(session, all_threads));
    assert_counts_on(&of);
    of.words[STOP] = 1;
    finish_immediate(w, of.list);
    ok(zeMemFree(w->context, of.words));
    ok(zeCommandListDestroy(of.list));
    ok(zetDebugDetach(session));
}

static void test_the_device_is_lost_while_a_thread_is_stopped(void **state) {
    world *w = *state;
    work of = begin_counting(w);
    session_handle session = attach_and_skip(w->device);
    stop_threads(session, all_threads);
    __atomic_store_n(&of.words[STOP], 1, __ATOMIC_RELAXED);
    gpu.lose_device();
    gpu.restore_device();
    ok(zetDebugDetach(session));
    finish_work(w, &of);
}

/* Runs `hot` with the second word as its input; returns how often it was stopped meanwhile. */
static int run_hot(world *w, session_handle session, uint32_t *words) {
    enum { GROUPS = 1000, ROUNDS = 20000 };
    ze_module_handle_t module = load_module(w, "build/kernels/hot.so", "");
    ze_kernel_handle_t kernel = kernel_in(module, "hot");
    ze_group_count_t groups = {OFTEN(GROUPS), 1, 1};
    zet_debug_event_t event;
    uint32_t rounds = ROUNDS;
    int stopped = 0;
    if (session) {
        event = next_event(session, ZET_DEBUG_EVENT_TYPE_MODULE_LOAD);
        ok(zetDebugAcknowledgeEvent(session, &event));
    }
    words[0] = 0;
    words[1] = 12345;
    ok(zeKernelSetArgumentValue(kernel, 0, sizeof words, &words));
    ok(zeKernelSetArgumentValue(kernel, 1, sizeof rounds, &rounds));
    ok(zeCommandListAppendLaunchKernel(w->immediate, kernel, &groups, w->done, 0, NULL));
    while (session && zeEventQueryStatus(w->done) == ZE_RESULT_NOT_READY) {
        ok(zetDebugInterrupt(session, all_threads));
        ok(zetDebugReadEvent(session, A_WHILE / 1000000, &event));
        if (event.type == ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED) {
            stopped++;
            ok(zetDebugResume(session, all_threads));
        }
    }
    ok(zeEventHostSynchronize(w->done, A_WHILE));
    ok(zeEventHostReset(w->done));
    ok(zeKernelDestroy(kernel));
    ok(zeModuleDestroy(module));
    return stopped;
}

/* Stopped at any of its instructions, a kernel has the right result. */
static void test_work_is_stopped_again_and_again(void **state) {
    world *w = *state;
    void *memory;
    ze_device_mem_alloc_desc_t device_desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    ok(zeMemAllocDevice(w->context, &device_desc, 64, 64, w->device, &memory));
    uint32_t *words = memory;
    run_hot(w, NULL, words);
    const uint32_t expected = words[1];
    session_handle session = attach_to_world(w);
    uint64_t end = now_ns() + A_WHILE;
    for (int stopped = 0; stopped < 10;) { /* a busy machine may let it end before */
        stopped += run_hot(w, session, words);
        assert_int_equal(words[1], expected);
        next_event(session, ZET_DEBUG_EVENT_TYPE_MODULE_UNLOAD);
        assert_true(now_ns() < end);
    }
    ok(zetDebugDetach(session));
    ok(zeMemFree(w->context, memory));
}

/* The application's threads have no signal, and those for debug are gone afterwards. */
static int handled_signals(void) {
    int count = 0;
    for (int number = 1; number <= SIGRTMAX; number++) {
        struct sigaction now;
        if (!sigaction(number, NULL, &now))
            count += now.sa_handler != SIG_DFL;
    }
    return count;
}

static void test_the_program_sees_no_signal(void **state) {
    world *w = *state;
    const int before = handled_signals();
    work of = begin_counting(w);
    session_handle session = attach_and_skip(w->device);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(poll(NULL, 0, 1), 0);
        stop_threads(session, all_threads);
        assert_int_equal(poll(NULL, 0, 1), 0);
        ok(zetDebugResume(session, all_threads));
    }
    ok(zetDebugDetach(session));
    finish_work(w, &of);
    assert_int_equal(handled_signals(), before);
}

/* ==== registers =========================================================================================== */

static zet_debug_regset_properties_t set_of(ze_device_handle_t device, uint32_t type) {
    zet_debug_regset_properties_t sets[16];
    uint32_t count = 0, all;
    memset(sets, 0, sizeof sets);
    ok(zetDebugGetRegisterSetProperties(device, &count, NULL));
    assert_in_range(count, 1, 16);
    all = count;
    ok(zetDebugGetRegisterSetProperties(device, &count, sets));
    assert_int_equal(count, all);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(sets[i].bitSize, 8 * sets[i].byteSize);
        assert_true(sets[i].generalFlags & ZET_DEBUG_REGSET_FLAG_READABLE);
        if (sets[i].type == type)
            return sets[i];
    }
    fail_msg("no set of the type %u", type);
    return sets[0];
}

/* What the base registers and the control register say together. */
static uint64_t address_of(session_handle session, ze_device_thread_t thread) {
    uint64_t bases[5];
    uint32_t control[4];
    ok(zetDebugReadRegisters(session, thread, SOFTGPU_BASE_REGISTERS, 0, 5, bases));
    ok(zetDebugReadRegisters(session, thread, SOFTGPU_CONTROL_REGISTERS, 0, 1, control));
    return bases[4] + control[2];
}

/* Of the kernel, by zexKernelGetBaseAddress and its binary. */
static void assert_in_kernel(world *w, ze_kernel_handle_t kernel, uint64_t address) {
    ze_result_t (*get_base)(ze_kernel_handle_t, uint64_t *);
    ze_result_t (*get_binary)(ze_kernel_handle_t, size_t *, uint8_t *);
    uint64_t base;
    size_t size = 0;
    ok(zeDriverGetExtensionFunctionAddress(w->driver, "zexKernelGetBaseAddress", (void **)&get_base));
    ok(zeDriverGetExtensionFunctionAddress(w->driver, "zeKernelGetBinaryExp", (void **)&get_binary));
    ok(get_base(kernel, &base));
    ok(get_binary(kernel, &size, NULL));
    assert_in_range(address, base, base + size - 1);
}

static void test_a_stopped_thread_is_in_its_kernel(void **state) {
    world *w = *state;
    work of = begin_counting(w);
    session_handle session = attach_and_skip(w->device);
    for (int i = 0; i < 10; i++) {
        stop_threads(session, all_threads);
        assert_in_kernel(w, of.kernel, address_of(session, first_thread));
        ok(zetDebugResume(session, all_threads));
    }
    finish_work(w, &of);
    ok(zetDebugDetach(session));
}

/* Where a kernel counts, which only its compiler knows; a count is between these. */
static uint32_t read_counter(session_handle session, uint32_t count, uint64_t *value) {
    uint64_t values[64];
    assert_in_range(count, 1, 64);
    ok(zetDebugReadRegisters(session, first_thread, SOFTGPU_GENERAL_REGISTERS, 0, count, values));
    return find_counter(values, count, value);
}

static void test_a_counter_in_a_register_is_read_and_written(void **state) {
    world *w = *state;
    gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 0);
    work of = begin_on(w, w->device, "countdown");
    await((const int *)&of.words[STARTED]);
    session_handle session = attach_and_skip(w->device);
    zet_debug_regset_properties_t set = set_of(w->device, SOFTGPU_GENERAL_REGISTERS);
    assert_int_equal(set.byteSize, sizeof(uint64_t));
    uint64_t first, second, one = 1, end = now_ns() + A_WHILE;
    uint32_t place;
    stop_threads(session, first_thread);
    read_counter(session, set.count, &first);
    do { /* again where a busy machine has not run the kernel meanwhile */
        assert_true(now_ns() < end);
        ok(zetDebugResume(session, first_thread));
        nap();
        stop_threads(session, first_thread);
        place = read_counter(session, set.count, &second);
    } while (second == first);
    assert_true(second < first);
    ok(zetDebugWriteRegisters(session, first_thread, SOFTGPU_GENERAL_REGISTERS, place, 1, &one));
    assert_int_equal(of.words[RESULT], 0);
    ok(zetDebugResume(session, first_thread));
    finish_immediate(w, of.list);
    assert_int_equal(of.words[RESULT], 7);
    finish_work(w, &of);
    ok(zetDebugDetach(session));
}

/* What was written is read again, and what was there before goes on. */
static void test_every_register_that_is_writeable(void **state) {
    world *w = *state;
    const uint32_t types[] = {SOFTGPU_GENERAL_REGISTERS, SOFTGPU_FLAG_REGISTERS, SOFTGPU_CONTROL_REGISTERS,
                              SOFTGPU_VECTOR_REGISTERS};
    work of = begin_counting(w);
    session_handle session = attach_and_skip(w->device);
    stop_threads(session, all_threads);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        uint8_t before[1024], written[1024], after[1024];
        zet_debug_regset_properties_t set = set_of(w->device, types[i]);
        size_t bytes = (size_t)set.count * set.byteSize;
        assert_in_range(bytes, 1, sizeof before);
        assert_true(set.generalFlags & ZET_DEBUG_REGSET_FLAG_WRITEABLE);
        ok(zetDebugReadRegisters(session, first_thread, types[i], 0, set.count, before));
        memset(written, 0, sizeof written);
        for (uint32_t k = 0; k < set.count; k++) /* the part of CR that is one */
            written[k * set.byteSize + (types[i] == SOFTGPU_CONTROL_REGISTERS ? 8 : 0)] = (uint8_t)(k + 5);
        ok(zetDebugWriteRegisters(session, first_thread, types[i], 0, set.count, written));
        ok(zetDebugReadRegisters(session, first_thread, types[i], 0, set.count, after));
        assert_memory_equal(after, written, bytes);
        if (set.count > 1) {
            ok(zetDebugReadRegisters(session, first_thread, types[i], set.count - 1, 1, after));
            assert_memory_equal(after, written + bytes - set.byteSize, set.byteSize);
        }
        ok(zetDebugWriteRegisters(session, first_thread, types[i], 0, set.count, before));
    }
    ok(zetDebugResume(session, all_threads));
    assert_counts_on(&of);
    finish_work(w, &of);
    ok(zetDebugDetach(session));
}

static void test_registers_that_cannot_be_accessed(void **state) {
    world *w = *state;
    const uint32_t type = SOFTGPU_GENERAL_REGISTERS;
    const ze_result_t wrong = ZE_RESULT_ERROR_INVALID_ARGUMENT, running = ZE_RESULT_ERROR_NOT_AVAILABLE;
    uint64_t values[64];
    uint32_t count = 0;
    work of = begin_counting(w);
    session_handle session = attach_and_skip(w->device);
    uint32_t all = set_of(w->device, type).count;
    assert_result(zetDebugReadRegisters(session, first_thread, type, 0, 1, values), running);
    assert_result(zetDebugWriteRegisters(session, first_thread, type, 0, 1, values), running);
    stop_threads(session, all_threads);
    assert_result(zetDebugReadRegisters(session, all_threads, type, 0, 1, values), running);
    assert_result(zetDebugReadRegisters(session, first_thread, type, all, 1, values), wrong);
    assert_result(zetDebugReadRegisters(session, first_thread, type, 1, all, values), wrong);
    assert_result(zetDebugReadRegisters(session, first_thread, type, UINT32_MAX, 2, values), wrong);
    assert_result(zetDebugReadRegisters(session, first_thread, 0, 0, 1, values), wrong);
    assert_result(zetDebugWriteRegisters(session, first_thread, SOFTGPU_BASE_REGISTERS, 0, 1, values), wrong);
    assert_result(zetDebugReadRegisters(session, first_thread, type, 0, 1, NULL),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    assert_result(zetDebugReadRegisters(NULL, first_thread, type, 0, 1, values),
                  ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    assert_result(zetDebugGetRegisterSetProperties(NULL, &count, NULL), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    assert_result(zetDebugGetRegisterSetProperties(w->device, NULL, NULL),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    ok(zetDebugDetach(session));
    finish_work(w, &of);
}

/* ==== memory ============================================================================================== */

static ze_result_t read_space(session_handle session, ze_device_thread_t thread, uint32_t space,
                              uint64_t address, size_t size, void *bytes) {
    zet_debug_memory_space_desc_t desc = {ZET_STRUCTURE_TYPE_DEBUG_MEMORY_SPACE_DESC, NULL,
                                          (zet_debug_memory_space_type_t)space, address};
    return zetDebugReadMemory(session, thread, &desc, size, bytes);
}

static ze_result_t write_space(session_handle session, ze_device_thread_t thread, uint32_t space,
                               uint64_t address, size_t size, const void *bytes) {
    zet_debug_memory_space_desc_t desc = {ZET_STRUCTURE_TYPE_DEBUG_MEMORY_SPACE_DESC, NULL,
                                          (zet_debug_memory_space_type_t)space, address};
    return zetDebugWriteMemory(session, thread, &desc, size, bytes);
}

enum { MEMORY = ZET_DEBUG_MEMORY_SPACE_TYPE_DEFAULT, LOCAL_MEMORY = ZET_DEBUG_MEMORY_SPACE_TYPE_SLM };

static void test_a_counter_in_memory_is_read_and_written(void **state) {
    world *w = *state;
    const ze_device_thread_t threads[] = {first_thread, all_threads};
    const uint32_t one = 1;
    work of = begin_counting(w);
    session_handle session = attach_and_skip(w->device);
    stop_threads(session, all_threads);
    for (int i = 0; i < 2; i++) {
        uint32_t count = 0, other = 1000 + (uint32_t)i;
        ok(read_space(session, threads[i], MEMORY, (uintptr_t)&of.words[COUNT], sizeof count, &count));
        assert_int_equal(count, count_of(&of));
        ok(write_space(session, threads[i], MEMORY, (uintptr_t)&of.words[COUNT], sizeof other, &other));
        assert_int_equal(count_of(&of), other);
    }
    ok(write_space(session, first_thread, MEMORY, (uintptr_t)&of.words[STOP], sizeof one, &one));
    ok(zetDebugResume(session, all_threads));
    finish_immediate(w, of.list);
    finish_work(w, &of);
    ok(zetDebugDetach(session));
}

/* By what the module's event says; more than is read at once. */
static void test_the_module_is_read_from_memory(void **state) {
    world *w = *state;
    session_handle session = attach(w->device);
    native_binary code = read_binary("build/kernels/saxpy.so");
    next_event(session, ZET_DEBUG_EVENT_TYPE_PROCESS_ENTRY);
    zet_debug_event_t load = next_event(session, ZET_DEBUG_EVENT_TYPE_MODULE_LOAD);
    uint8_t *bytes = calloc(1, code.size);
    assert_non_null(bytes);
    ok(read_space(session, all_threads, MEMORY, load.info.module.moduleBegin, code.size, bytes));
    assert_memory_equal(bytes, code.bytes, code.size);
    ok(zetDebugDetach(session));
    free(bytes);
    free(code.bytes);
}

static void test_local_memory_is_read_and_written(void **state) {
    world *w = *state;
    gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 0);
    work of = begin_on(w, w->device, "in_local");
    await((const int *)&of.words[STARTED]);
    session_handle session = attach_and_skip(w->device);
    uint32_t words[8], last = 99, other = 33;
    stop_threads(session, all_threads);
    ok(read_space(session, first_thread, LOCAL_MEMORY, 0, sizeof words, words));
    assert_int_equal(words[0], 11);
    assert_int_equal(words[5], 22);
    assert_result(read_space(session, first_thread, LOCAL_MEMORY, 1, sizeof words, words),
                  ZE_RESULT_ERROR_NOT_AVAILABLE);
    assert_result(read_space(session, first_thread, LOCAL_MEMORY, UINT64_MAX, 2, words),
                  ZE_RESULT_ERROR_NOT_AVAILABLE);
    assert_result(read_space(session, all_threads, LOCAL_MEMORY, 0, 4, words), ZE_RESULT_ERROR_NOT_AVAILABLE);
    ok(write_space(session, first_thread, LOCAL_MEMORY, 20, sizeof other, &other));
    ok(write_space(session, first_thread, LOCAL_MEMORY, 0, sizeof last, &last));
    ok(zetDebugResume(session, all_threads));
    finish_immediate(w, of.list);
    assert_int_equal(of.words[RESULT], 33);
    finish_work(w, &of);
    ok(zetDebugDetach(session));
}

static void test_memory_that_cannot_be_accessed(void **state) {
    world *w = *state;
    uint32_t word = 0;
    work of = begin_counting(w);
    session_handle session = attach_and_skip(w->device);
    const uint64_t there = (uintptr_t)&of.words[RESULT];
    const ze_device_thread_t some = {0, 0, 0, ALL};
    const zet_debug_memory_space_desc_t desc = {ZET_STRUCTURE_TYPE_DEBUG_MEMORY_SPACE_DESC, NULL,
                                                ZET_DEBUG_MEMORY_SPACE_TYPE_DEFAULT, 64};
    assert_result(read_space(session, first_thread, MEMORY, there, 4, &word), ZE_RESULT_ERROR_NOT_AVAILABLE);
    ok(read_space(session, all_threads, MEMORY, there, 4, &word)); /* while it runs */
    stop_threads(session, all_threads);
    ok(read_space(session, first_thread, MEMORY, there, 4, &word));
    assert_result(read_space(session, some, MEMORY, there, 4, &word), ZE_RESULT_ERROR_NOT_AVAILABLE);
    assert_result(read_space(session, first_thread, MEMORY, 64, 4, &word), ZE_RESULT_ERROR_NOT_AVAILABLE);
    assert_result(write_space(session, first_thread, MEMORY, 64, 4, &word), ZE_RESULT_ERROR_NOT_AVAILABLE);
    assert_result(read_space(session, first_thread, 2, there, 4, &word), ZE_RESULT_ERROR_INVALID_ENUMERATION);
    assert_result(zetDebugReadMemory(session, first_thread, NULL, 4, &word),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    assert_result(zetDebugWriteMemory(session, first_thread, &desc, 4, NULL),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    assert_result(zetDebugReadMemory(NULL, first_thread, &desc, 4, &word),
                  ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    ok(zetDebugDetach(session));
    finish_work(w, &of);
}

/* ==== other processes ===================================================================================== */

/* A tool: P, after which its target's number is written, stops its threads. */
enum { EXITS = 5 };

/* Exits when a kernel has just had a page fault, which the agent is too slow to see. */
static void exit_at_fault(world *w) {
    uint64_t address = 64;
    gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 0);
    work of = load_work(w, w->device, "read_from");
    ok(zeKernelSetArgumentValue(of.kernel, 1, sizeof address, &address));
    signal(SIGSEGV, SIG_DFL);
    attach(w->device);
    gpu.behave(SOFTGPU_DEBUG_SLOW_AGENT, 1);
    launch(w, w->immediate);
    finish_immediate(w, w->immediate);
    nap();
    launch_work(&of);
    await((const int *)&of.words[STARTED]);
    nap();
    exit(0);
}

/* P attaches to the process whose number follows, and stops its threads; E exits with a page fault. */
static int serve_tool(world *w, char letter, int from) {
    zet_debug_config_t config = {0};
    session_handle session;
    if (letter == 'E')
        exit_at_fault(w);
    if (letter != 'P' || read(from, &config.pid, sizeof config.pid) != sizeof config.pid)
        return 0;
    ok(zetDebugAttach(w->device, &config, &session));
    next_event(session, ZET_DEBUG_EVENT_TYPE_PROCESS_ENTRY);
    next_event(session, ZET_DEBUG_EVENT_TYPE_MODULE_LOAD);
    next_event(session, ZET_DEBUG_EVENT_TYPE_MODULE_LOAD);
    stop_threads(session, all_threads);
    return 1;
}

static session_handle attach_to(world *w, const process *of) {
    zet_debug_config_t config = {.pid = (uint32_t)of->number};
    session_handle session = NULL;
    gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 0);
    ok(zetDebugAttach(w->device, &config, &session));
    next_event(session, ZET_DEBUG_EVENT_TYPE_PROCESS_ENTRY);
    next_event(session, ZET_DEBUG_EVENT_TYPE_MODULE_LOAD);
    next_event(session, ZET_DEBUG_EVENT_TYPE_MODULE_LOAD);
    return session;
}

static void test_another_process_is_debugged(void **state) {
    world *w = *state;
    const process *target = new_process();
    const uint64_t words = tell(target, 'G');
    zet_debug_config_t config = {.pid = (uint32_t)target->number};
    session_handle session = attach_to(w, target), other;
    uint32_t count = 0, last = 7;
    assert_result(zetDebugAttach(w->device, &config, &other), ZE_RESULT_ERROR_NOT_AVAILABLE);
    stop_threads(session, all_threads);
    const uint64_t stopped_at = tell(target, 'C');
    ok(read_space(session, first_thread, MEMORY, words + COUNT * sizeof count, sizeof count, &count));
    assert_int_equal(count, stopped_at);
    assert_true(address_of(session, first_thread) != 0);
    static uint8_t many[100000];
    assert_result(read_space(session, all_threads, MEMORY, 64, sizeof many, many),
                  ZE_RESULT_ERROR_NOT_AVAILABLE);
    assert_int_equal(tell(target, 'C'), stopped_at);
    ok(zetDebugResume(session, all_threads));
    assert_process_counts(target);
    ok(write_space(session, all_threads, MEMORY, words + STOP * sizeof last, sizeof last, &last));
    tell(target, 'S');
    next_event(session, ZET_DEBUG_EVENT_TYPE_MODULE_UNLOAD);
    ok(zetDebugDetach(session));
    for (int i = 0; i < OFTEN(500); i++) {
        ok(zetDebugAttach(w->device, &config, &session));
        ok(zetDebugDetach(session));
    }
    end_process(target, 0);
    assert_result(zetDebugAttach(w->device, &config, &session), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

static void assert_target_is_gone(session_handle session) {
    zet_debug_event_t event;
    assert_int_equal(next_event(session, ZET_DEBUG_EVENT_TYPE_DETACHED).info.detached.reason,
                     ZET_DEBUG_DETACH_REASON_HOST_EXIT);
    assert_result(zetDebugReadEvent(session, UINT64_MAX, &event), ZE_RESULT_NOT_READY);
    assert_result(zetDebugResume(session, all_threads), ZE_RESULT_ERROR_NOT_AVAILABLE);
    ok(zetDebugDetach(session));
}

/* Before that process has a driver, nothing can be done with it. */
static session_handle attach_early(world *w, const process *to) {
    zet_debug_config_t config = {.pid = (uint32_t)to->number};
    zet_debug_event_t event;
    session_handle session = NULL;
    ok(zetDebugAttach(w->device, &config, &session)); /* DEBUG_NOT_ENABLED is on here */
    assert_result(zetDebugReadEvent(session, 1, &event), ZE_RESULT_NOT_READY);
    assert_result(zetDebugInterrupt(session, all_threads), ZE_RESULT_ERROR_NOT_AVAILABLE);
    return session;
}

static void test_a_tool_attaches_before_the_driver_is_up(void **state) {
    world *w = *state;
    const process *target = new_process();
    session_handle session = attach_early(w, target);
    tell(target, 'G');
    next_event(session, ZET_DEBUG_EVENT_TYPE_PROCESS_ENTRY);
    next_event(session, ZET_DEBUG_EVENT_TYPE_MODULE_LOAD);
    next_event(session, ZET_DEBUG_EVENT_TYPE_MODULE_LOAD);
    stop_threads(session, all_threads);
    ok(zetDebugResume(session, all_threads));
    assert_process_counts(target);
    ok(zetDebugDetach(session));
    end_process(target, SIGKILL);
}

static void test_a_target_never_has_a_driver(void **state) {
    world *w = *state;
    const process *target = new_process();
    ok(zetDebugDetach(attach_early(w, target)));
    session_handle session = attach_early(w, target);
    end_process(target, SIGKILL);
    assert_target_is_gone(session);
}

static void test_a_target_crashes(void **state) {
    world *w = *state;
    const process *target = new_process();
    tell(target, 'G');
    session_handle session = attach_to(w, target);
    stop_threads(session, all_threads);
    end_process(target, SIGKILL);
    assert_target_is_gone(session);
}

/* Its kernel is stopped, its module destroyed; the kernel ends when it goes on. */
static void test_a_target_exits(void **state) {
    world *w = *state;
    const process *target = new_process();
    const uint64_t words = tell(target, 'G');
    const uint32_t last = 1;
    session_handle session = attach_to(w, target);
    stop_threads(session, all_threads);
    tell(target, 'M');
    ok(write_space(session, first_thread, MEMORY, words + STOP * sizeof last, sizeof last, &last));
    send_letter(target, 'X');
    end_process(target, 0);
    next_event(session, ZET_DEBUG_EVENT_TYPE_MODULE_UNLOAD);
    assert_target_is_gone(session);
}

static void test_a_target_detaches_its_tools(void **state) {
    world *w = *state;
    const process *target = new_process();
    tell(target, 'G');
    session_handle session = attach_to(w, target);
    stop_threads(session, all_threads);
    tell(target, 'D');
    assert_process_counts(target);
    assert_int_equal(next_event(session, ZET_DEBUG_EVENT_TYPE_DETACHED).info.detached.reason,
                     ZET_DEBUG_DETACH_REASON_INVALID);
    assert_result(zetDebugInterrupt(session, all_threads), ZE_RESULT_ERROR_NOT_AVAILABLE);
    ok(zetDebugDetach(session));
    end_process(target, SIGKILL);
}

static void test_a_tool_dies_and_leaves_no_thread_stopped(void **state) {
    world *w = *state;
    const process *target = new_process(), *tool = new_process();
    const uint32_t number = (uint32_t)target->number;
    tell(target, 'G');
    send_letter(tool, 'P');
    assert_int_equal(write(tool->to, &number, sizeof number), sizeof number);
    answer_of(tool);
    assert_int_equal(tell(target, 'C'), tell(target, 'C'));
    end_process(tool, SIGKILL);
    assert_process_counts(target);
    session_handle session = NULL;
    zet_debug_config_t config = {.pid = number};
    gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 0);
    ok(zetDebugAttach(w->device, &config, &session));
    ok(zetDebugDetach(session));
    end_process(target, SIGKILL);
}

/* ==== page faults ========================================================================================= */

/* A page that may not be accessed. */
static uint8_t *forbidden_page(void) {
    void *page = mmap(NULL, (size_t)getpagesize(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(page != MAP_FAILED);
    return page;
}

static void await_fault(session_handle session, const uint8_t *page, zet_debug_page_fault_reason_t reason) {
    zet_debug_event_t event = next_event(session, ZET_DEBUG_EVENT_TYPE_PAGE_FAULT);
    assert_int_equal(event.flags, 0);
    assert_int_equal(event.info.page_fault.address, (uintptr_t)page);
    assert_int_equal(event.info.page_fault.mask, ~(uint64_t)(getpagesize() - 1));
    assert_int_equal(event.info.page_fault.reason, reason);
    assert_threads(session, ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED, first_thread);
}

/* Attached before the module is there. */
static work begin_fault(world *w, session_handle session, const uint8_t *page) {
    work of = begin_reading_from(w, page + 8);
    zet_debug_event_t load = next_event(session, ZET_DEBUG_EVENT_TYPE_MODULE_LOAD);
    ok(zetDebugAcknowledgeEvent(session, &load));
    return of;
}

static void test_a_mended_page_fault_goes_on(void **state) {
    world *w = *state;
    uint8_t *page = forbidden_page();
    session_handle session = attach_to_world(w);
    work of = begin_fault(w, session, page);
    await_fault(session, page, ZET_DEBUG_PAGE_FAULT_REASON_PERMISSION_ERROR);
    assert_in_kernel(w, of.kernel, address_of(session, first_thread));
    assert_int_equal(mprotect(page, (size_t)getpagesize(), PROT_READ | PROT_WRITE), 0);
    page[8] = 42;
    ok(zetDebugResume(session, all_threads));
    finish_immediate(w, of.list);
    assert_int_equal(of.words[RESULT], 42);
    finish_work(w, &of);
    next_event(session, ZET_DEBUG_EVENT_TYPE_MODULE_UNLOAD);
    no_event(session);
    ok(zetDebugDetach(session));
    munmap(page, (size_t)getpagesize());
}

static void assert_lost_and_alive(world *w, work *of) {
    uint64_t end = now_ns() + A_WHILE;
    while (zeContextGetStatus(w->context) != ZE_RESULT_ERROR_DEVICE_LOST)
        assert_true(now_ns() < end);
    assert_int_equal(of->words[RESULT], 0);
    gpu.restore_device();
    launch(w, w->immediate);
    finish_immediate(w, w->immediate);
    finish_work(w, of);
}

static void test_a_page_fault_ends_its_kernel(void **state) {
    world *w = *state;
    uint8_t *page = forbidden_page();
    munmap(page, (size_t)getpagesize());
    session_handle session = attach_to_world(w);
    work of = begin_fault(w, session, page);
    await_fault(session, page, ZET_DEBUG_PAGE_FAULT_REASON_MAPPING_ERROR);
    ok(zetDebugResume(session, all_threads)); /* and nothing has changed */
    zet_debug_event_t event;
    assert_result(zetDebugReadEvent(session, A_WHILE / 1000000, &event), ZE_RESULT_ERROR_DEVICE_LOST);
    assert_lost_and_alive(w, &of);
    ok(zetDebugDetach(session));
}

/* A kernel with a fault that begins when `gate` is signalled. */
static work prepare_fault(world *w, session_handle session, const uint8_t *page, ze_event_handle_t *gate) {
    uint64_t address = (uintptr_t)page;
    work of = load_work(w, w->device, "read_from");
    zet_debug_event_t load = next_event(session, ZET_DEBUG_EVENT_TYPE_MODULE_LOAD);
    ok(zetDebugAcknowledgeEvent(session, &load));
    ok(zeKernelSetArgumentValue(of.kernel, 1, sizeof address, &address));
    *gate = append_gate(w, of.list);
    launch_work(&of);
    return of;
}

static void resume_after_fault(world *w, session_handle session, work *of) {
    zet_debug_event_t event = {.type = ZET_DEBUG_EVENT_TYPE_INVALID};
    while (event.type != ZET_DEBUG_EVENT_TYPE_PAGE_FAULT) /* an interruption is answered before, or not */
        ok(zetDebugReadEvent(session, A_WHILE / 1000000, &event));
    assert_threads(session, ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED, first_thread);
    ok(zetDebugResume(session, all_threads));
    assert_lost_and_alive(w, of);
    ok(zetDebugDetach(session));
}

static void begin_to_stop(world *w, session_handle session) {
    (void)w;
    ok(zetDebugInterrupt(session, all_threads));
}

static void run_another_kernel(world *w, session_handle session) {
    (void)session;
    launch(w, w->immediate);
    finish_immediate(w, w->immediate);
}

/* The kernel faults when the agent is slow, and something has happened before. */
static void fault_after(world *w, void (*before)(world *, session_handle)) {
    uint8_t *page = forbidden_page();
    ze_event_handle_t gate;
    session_handle session = attach_to_world(w);
    work of = prepare_fault(w, session, page, &gate);
    gpu.behave(SOFTGPU_DEBUG_SLOW_AGENT, 1);
    before(w, session);
    nap();
    ok(zeEventHostSignal(gate));
    resume_after_fault(w, session, &of);
    ok(zeEventDestroy(gate));
    munmap(page, (size_t)getpagesize());
}

/* The tool hears of the fault, and not just that the thread has stopped. */
static void test_a_page_fault_while_threads_are_stopped(void **state) {
    fault_after(*state, begin_to_stop);
}

/* A kernel that has ended does not let the next one go on after its fault. */
static void test_a_page_fault_after_another_kernel(void **state) {
    fault_after(*state, run_another_kernel);
}

static void test_a_wait_ends_with_the_kernel(void **state) {
    world *w = *state;
    uint8_t *page = forbidden_page();
    session_handle session = attach_to_world(w);
    work of = begin_fault(w, session, page);
    ok(zeCommandListAppendBarrier(of.list, w->done, 0, NULL));
    await_fault(session, page, ZET_DEBUG_PAGE_FAULT_REASON_PERMISSION_ERROR);
    assert_result(zeEventQueryStatus(w->done), ZE_RESULT_NOT_READY);
    ok(zetDebugResume(session, all_threads));
    assert_result(zeEventHostSynchronize(w->done, A_WHILE), ZE_RESULT_ERROR_DEVICE_LOST);
    assert_lost_and_alive(w, &of);
    ok(zetDebugDetach(session));
    munmap(page, (size_t)getpagesize());
}

static void test_a_fault_that_nobody_waits_for_any_longer(void **state) {
    world *w = *state;
    uint8_t *page = forbidden_page();
    session_handle session = attach_to_world(w);
    work of = begin_fault(w, session, page);
    await_fault(session, page, ZET_DEBUG_PAGE_FAULT_REASON_PERMISSION_ERROR);
    ok(zetDebugDetach(session));
    assert_lost_and_alive(w, &of);
    munmap(page, (size_t)getpagesize());
}

static uint8_t *page_of_the_program;
static int faults_of_the_program;

static void mend_page(int number, siginfo_t *info, void *context) {
    (void)number;
    (void)context;
    faults_of_the_program++;
    if ((uint8_t *)info->si_addr == page_of_the_program + 16)
        mprotect(page_of_the_program, (size_t)getpagesize(), PROT_READ | PROT_WRITE);
}

static void test_faults_of_the_program_are_its_own(void **state) {
    world *w = *state;
    struct sigaction own = {.sa_sigaction = mend_page, .sa_flags = SA_SIGINFO}, before, now;
    page_of_the_program = forbidden_page();
    sigaction(SIGSEGV, &own, &before);
    session_handle session = attach_to_world(w);
    *(volatile uint8_t *)(page_of_the_program + 16) = 7;
    assert_int_equal(page_of_the_program[16], 7);
    assert_int_equal(faults_of_the_program, 1);
    no_event(session);
    ok(zetDebugDetach(session));
    sigaction(SIGSEGV, &before, &now);
    assert_true(now.sa_sigaction == mend_page);
    munmap(page_of_the_program, (size_t)getpagesize());
}

/* As without debug. */
static void test_a_fault_without_a_tool_ends_the_process(void **state) {
    const process *target = new_process();
    int status;
    (void)state;
    send_letter(target, 'F');
    assert_int_equal(waitpid(target->number, &status, 0), target->number);
    assert_true(WIFSIGNALED(status) ? WTERMSIG(status) == SIGSEGV : WEXITSTATUS(status) != 0);
}

/* The kernel ends with the process, and does not fault once more when nobody holds its faults any longer. */
static void test_a_process_exits_at_a_fault(void **state) {
    (void)state;
    for (int i = 0; i < EXITS; i++) {
        const process *target = new_process();
        int status;
        send_letter(target, 'E');
        assert_int_equal(waitpid(target->number, &status, 0), target->number);
        assert_int_equal(status, 0);
    }
}

/* ==== sub-devices ========================================================================================= */

static void get_tiles(world *w, ze_device_handle_t tiles[2]) {
    uint32_t count = 2;
    gpu.set_devices(1, 2);
    ok(zeDeviceGetSubDevices(w->device, &count, tiles));
    assert_int_equal(count, 2);
}

/* They share their code. */
static void test_sub_devices_cannot_be_attached_to(void **state) {
    world *w = *state;
    ze_device_handle_t tiles[2];
    session_handle session;
    get_tiles(w, tiles);
    gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 0);
    assert_true(can_attach(w->device));
    assert_false(can_attach(tiles[0]));
    assert_result(try_attach(tiles[0], &session), ZE_RESULT_ERROR_NOT_AVAILABLE);
}

static void test_sub_devices_and_their_device_exclude_each_other(void **state) {
    world *w = *state;
    ze_device_handle_t tiles[2];
    session_handle sessions[2], other;
    get_tiles(w, tiles);
    gpu.behave(SOFTGPU_DEBUG_SUB_DEVICES, 1);
    assert_true(can_attach(tiles[0]));
    for (int i = 0; i < 2; i++)
        sessions[i] = attach(tiles[i]);
    assert_result(try_attach(tiles[0], &other), ZE_RESULT_ERROR_NOT_AVAILABLE);
    assert_result(try_attach(w->device, &other), ZE_RESULT_ERROR_NOT_AVAILABLE);
    for (int i = 0; i < 2; i++)
        ok(zetDebugDetach(sessions[i]));
    other = attach(w->device);
    assert_result(try_attach(tiles[1], &sessions[1]), ZE_RESULT_ERROR_NOT_AVAILABLE);
    ok(zetDebugDetach(other));
}

/* A slice is a tile. */
static void test_threads_of_all_sub_devices(void **state) {
    world *w = *state;
    const ze_device_thread_t first_slice = {0, ALL, ALL, ALL}, second_slice = {1, ALL, ALL, ALL},
                             second_thread = {1, 0, 0, 0};
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    ze_device_handle_t tiles[2];
    get_tiles(w, tiles);
    gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 0);
    ok(zeDeviceGetProperties(w->device, &properties));
    assert_int_equal(properties.numSlices, 2);
    ok(zeDeviceGetProperties(tiles[1], &properties));
    assert_int_equal(properties.numSlices, 1);
    work of = begin_on(w, tiles[1], "count");
    await((const int *)&of.words[COUNT]);
    session_handle session = attach_and_skip(w->device);
    ok(zetDebugInterrupt(session, first_slice));
    assert_threads(session, ZET_DEBUG_EVENT_TYPE_THREAD_UNAVAILABLE, first_slice);
    assert_counts_on(&of);
    stop_threads(session, second_slice);
    assert_stands_still(&of);
    const uint32_t type = SOFTGPU_FLAG_REGISTERS;
    uint64_t value;
    ok(zetDebugReadRegisters(session, second_thread, type, 0, 1, &value));
    assert_result(zetDebugReadRegisters(session, first_thread, type, 0, 1, &value),
                  ZE_RESULT_ERROR_NOT_AVAILABLE);
    assert_result(zetDebugResume(session, first_slice), ZE_RESULT_ERROR_NOT_AVAILABLE);
    ok(zetDebugResume(session, second_slice));
    assert_counts_on(&of);
    finish_work(w, &of);
    ok(zetDebugDetach(session));
}

/* What runs on another is not its. */
static void test_threads_of_a_sub_device(void **state) {
    world *w = *state;
    ze_device_handle_t tiles[2];
    session_handle sessions[2];
    get_tiles(w, tiles);
    gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 0);
    gpu.behave(SOFTGPU_DEBUG_SUB_DEVICES, 1);
    work of = begin_on(w, tiles[1], "count");
    await((const int *)&of.words[COUNT]);
    for (int i = 0; i < 2; i++)
        sessions[i] = attach_and_skip(tiles[i]);
    ok(zetDebugInterrupt(sessions[0], all_threads));
    assert_threads(sessions[0], ZET_DEBUG_EVENT_TYPE_THREAD_UNAVAILABLE, all_threads);
    assert_counts_on(&of);
    stop_threads(sessions[1], first_thread);
    assert_stands_still(&of);
    assert_result(zetDebugResume(sessions[0], all_threads), ZE_RESULT_ERROR_NOT_AVAILABLE);
    no_event(sessions[0]);
    ok(zetDebugDetach(sessions[0]));
    assert_stands_still(&of);
    ok(zetDebugResume(sessions[1], first_thread));
    assert_counts_on(&of);
    finish_work(w, &of);
    ok(zetDebugDetach(sessions[1]));
}

/* ==== beside sampling ===================================================================================== */

/* The streamer is closed while the thread that it samples is stopped. */
static void test_a_sampled_thread_is_stopped(void **state) {
    world *w = *state;
    enum { PERIOD = 100000 };
    zet_metric_streamer_desc_t desc = {ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC, NULL, 1, PERIOD};
    zet_metric_streamer_handle_t streamer;
    static uint8_t raw[1 << 16];
    size_t size = 0;
    uint64_t end = now_ns() + A_WHILE;
    gpu.behave(SOFTGPU_STALL_SAMPLING, 1);
    zet_metric_group_handle_t group = group_of(w->device, "EuStallSampling", BY_TIME);
    activate_one(w, group);
    ok(zetMetricStreamerOpen(w->context, w->device, group, &desc, NULL, &streamer));
    work of = begin_counting(w);
    session_handle session = attach_and_skip(w->device);
    for (int i = 0; i < 50; i++) {
        stop_threads(session, all_threads);
        ok(zetDebugResume(session, all_threads));
    }
    while (size == 0 && !INSTRUMENTED) { /* ThreadSanitizer delays samples until the kernel has ended */
        size = sizeof raw;
        ok(zetMetricStreamerReadData(streamer, UINT32_MAX, &size, raw));
        assert_true(now_ns() < end);
    }
    stop_threads(session, all_threads);
    ok(zetMetricStreamerClose(streamer));
    deactivate(w, w->device);
    assert_stands_still(&of);
    ok(zetDebugResume(session, all_threads));
    assert_counts_on(&of);
    finish_work(w, &of);
    ok(zetDebugDetach(session));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_who_may_attach),
        TEST(test_sessions_come_and_go),
        TEST(test_calls_check_their_arguments),
        TEST(test_queues_enter_and_exit),
        TEST(test_modules_are_loaded_and_unloaded),
        TEST(test_code_runs_when_its_load_is_acknowledged),
        TEST(test_a_detached_tool_holds_nothing_back),
        TEST(test_an_event_never_comes),
        TEST(test_a_tool_is_detached),
        TEST(test_events_wait_to_be_read),
        TEST(test_a_reader_waits),
        TEST(test_a_lost_device_ends_waiting),
        TEST(test_a_thread_stops_and_goes_on),
        TEST(test_threads_that_are_not_there),
        TEST(test_one_of_two_threads_stops),
        TEST(test_threads_are_unavailable),
        TEST(test_an_answer_comes_after_the_next),
        TEST(test_a_thread_cannot_be_stopped),
        TEST(test_nobody_stays_stopped),
        TEST(test_a_module_goes_while_its_kernel_is_stopped),
        TEST(test_the_device_is_lost_while_a_thread_is_stopped),
        TEST(test_work_is_stopped_again_and_again),
        TEST(test_the_program_sees_no_signal),
        TEST(test_a_stopped_thread_is_in_its_kernel),
        TEST(test_a_counter_in_a_register_is_read_and_written),
        TEST(test_every_register_that_is_writeable),
        TEST(test_registers_that_cannot_be_accessed),
        TEST(test_a_counter_in_memory_is_read_and_written),
        TEST(test_the_module_is_read_from_memory),
        TEST(test_local_memory_is_read_and_written),
        TEST(test_memory_that_cannot_be_accessed),
        TEST(test_another_process_is_debugged),
        TEST(test_a_tool_attaches_before_the_driver_is_up),
        TEST(test_a_target_never_has_a_driver),
        TEST(test_a_target_crashes),
        TEST(test_a_target_exits),
        TEST(test_a_target_detaches_its_tools),
        TEST(test_a_tool_dies_and_leaves_no_thread_stopped),
        TEST(test_a_mended_page_fault_goes_on),
        TEST(test_a_page_fault_ends_its_kernel),
        TEST(test_a_page_fault_while_threads_are_stopped),
        TEST(test_a_page_fault_after_another_kernel),
        TEST(test_a_wait_ends_with_the_kernel),
        TEST(test_a_fault_that_nobody_waits_for_any_longer),
        TEST(test_faults_of_the_program_are_its_own),
        TEST(test_a_fault_without_a_tool_ends_the_process),
        TEST(test_a_process_exits_at_a_fault),
        TEST(test_sub_devices_cannot_be_attached_to),
        TEST(test_sub_devices_and_their_device_exclude_each_other),
        TEST(test_threads_of_all_sub_devices),
        TEST(test_threads_of_a_sub_device),
        TEST(test_a_sampled_thread_is_stopped),
    };
    fork_processes(10 + EXITS, serve_tool);
    return cmocka_run_group_tests_name("softgpu_debug", tests, start, NULL);
}
