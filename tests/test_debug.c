/* zt_debug_...: a device's threads are stopped and examined. */
#define _GNU_SOURCE
#include "fixture.h"

#include <string.h>
#include <unistd.h>

/* ==== attaching =========================================================================================== */

static zt_debug_config debug_config(world *w) {
    zt_debug_config config = zt_debug_config_default();
    zt_config messages = config_of(w);
    config.log = messages.log;
    config.log_user = messages.log_user;
    return config;
}

static ze_result_t try_open(world *w, uint32_t pid, zt_debugger **debugger) {
    zt_debug_config config = debug_config(w);
    return zt_debug_open(w->device, pid, &config, debugger);
}

static zt_debugger *open_debugger(world *w) {
    zt_debugger *debugger = NULL;
    gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 0);
    ok(try_open(w, 0, &debugger));
    assert_non_null(debugger);
    return debugger;
}

static void refuses(world *w, uint32_t pid, ze_result_t expected, const char *message) {
    zt_debugger *debugger = (zt_debugger *)(void *)w;
    assert_result(try_open(w, pid, &debugger), expected);
    assert_null(debugger);
    assert_contains(zt_debug_get_last_error(NULL), message);
    assert_result(zt_debug_get_last_result(NULL), expected);
}

static void test_why_it_cannot_attach(void **state) {
    world *w = *state;
    zt_debugger *debugger;
    refuses(w, 0, ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE,
            "zetDebugAttach failed: ZE_RESULT_ERROR_UNSUPPORTED_FEATURE");
    refuses(w, 0, ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE, "ZET_ENABLE_PROGRAM_DEBUGGING=1");
    gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 0);
    gpu.behave(SOFTGPU_DEBUG_UNSUPPORTED, 1);
    refuses(w, 0, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "cannot be debugged");
    gpu.behave(SOFTGPU_DEBUG_UNSUPPORTED, 0);
    gpu.behave(SOFTGPU_DEBUG_NO_PERMISSION, 1);
    refuses(w, 0, ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS, "has no permission");
    gpu.behave(SOFTGPU_DEBUG_NO_PERMISSION, 0);
    gpu.behave(SOFTGPU_DEBUG_NOT_ITSELF, 1);
    refuses(w, 0, ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS, "debug it from another");
    gpu.behave(SOFTGPU_DEBUG_NOT_ITSELF, 0);
    refuses(w, INT32_MAX, ZE_RESULT_ERROR_INVALID_ARGUMENT, "There is no process 2147483647");
    debugger = open_debugger(w);
    refuses(w, (uint32_t)getpid(), ZE_RESULT_ERROR_NOT_AVAILABLE, "Another debugger is attached");
    ok(zt_debug_close(debugger));
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

typedef struct heard_events {
    int count;
    zt_debug_event events[MOST_EVENTS];
} heard_events;

static int hear(zt_debugger *debugger, const zt_debug_event *event, void *user) {
    heard_events *of = user;
    assert_non_null(debugger);
    assert_in_range(of->count, 0, MOST_EVENTS - 1);
    of->events[of->count++] = *event;
    return 0;
}

static void test_events_of_what_is_there(void **state) {
    world *w = *state;
    zt_debugger *debugger = open_debugger(w);
    heard_events of = {.count = 0};
    ok(zt_debug_wait(debugger, A_WHILE, hear, &of));
    assert_int_equal(of.count, 2);
    assert_int_equal(of.events[0].type, ZT_DEBUG_PROCESS_ENTRY);
    assert_int_equal(of.events[1].type, ZT_DEBUG_MODULE_LOAD);
    assert_false(of.events[1].is_held);
    assert_true(of.events[1].begin < of.events[1].end);
    assert_result(zt_debug_wait(debugger, 0, hear, &of), ZE_RESULT_NOT_READY);
    ok(zt_debug_close(debugger));
}

/* ==== threads ============================================================================================= */

enum { STOP, COUNT, STARTED, RESULT, WORDS = 16 };

static const zt_debug_thread all_threads = {ZT_DEBUG_ALL, ZT_DEBUG_ALL, ZT_DEBUG_ALL, ZT_DEBUG_ALL};
static const zt_debug_thread first_thread = {0, 0, 0, 0};

typedef struct work {
    ze_module_handle_t module;
    ze_kernel_handle_t kernel;
    ze_command_list_handle_t list;
    uint32_t *words;
} work;

/* A kernel of `endless`, and a list for it. */
static work begin_work(world *w, const char *name) {
    work of;
    ze_device_mem_alloc_desc_t device_desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    ze_host_mem_alloc_desc_t host_desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    ze_group_count_t groups = {1, 1, 1};
    void *memory = NULL;
    gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 0);
    create_immediate(w, &of.list);
    ok(zeMemAllocShared(w->context, &device_desc, &host_desc, WORDS * sizeof *of.words, 64, w->device,
                        &memory));
    memset(memory, 0, WORDS * sizeof *of.words);
    of.words = memory;
    of.module = load_module(w, "build/kernels/endless.so", "");
    of.kernel = kernel_in(of.module, name);
    ok(zeKernelSetArgumentValue(of.kernel, 0, sizeof of.words, &of.words));
    ok(zeCommandListAppendLaunchKernel(of.list, of.kernel, &groups, NULL, 0, NULL));
    return of;
}

static uint32_t count_of(const work *of) {
    return __atomic_load_n(&of->words[COUNT], __ATOMIC_RELAXED);
}

static work begin_counting(world *w) {
    work of = begin_work(w, "count");
    await((const int *)&of.words[COUNT]);
    return of;
}

static void finish_work(world *w, work *of) {
    __atomic_store_n(&of->words[STOP], 1, __ATOMIC_RELAXED);
    finish_immediate(w, of->list);
    ok(zeMemFree(w->context, of->words));
    ok(zeKernelDestroy(of->kernel));
    ok(zeModuleDestroy(of->module));
    ok(zeCommandListDestroy(of->list));
}

static void assert_counts_on(const work *of) {
    uint32_t before = count_of(of);
    uint64_t end = now_ns() + A_WHILE;
    while (count_of(of) == before)
        assert_true(now_ns() < end);
}

static void assert_stands_still(const work *of) {
    uint32_t before = count_of(of);
    for (int i = 0; i < 10; i++) {
        nap();
        assert_int_equal(count_of(of), before);
    }
}

static zt_debug_stops stop(zt_debugger *debugger, zt_debug_thread threads) {
    zt_debug_stops stops;
    ok(zt_debug_stop(debugger, threads, A_WHILE, &stops));
    return stops;
}

static void test_threads_stop_and_go_on(void **state) {
    world *w = *state;
    const zt_debug_thread patterns[] = {first_thread,
                                        all_threads,
                                        {0, ZT_DEBUG_ALL, ZT_DEBUG_ALL, ZT_DEBUG_ALL},
                                        {ZT_DEBUG_ALL, 0, ZT_DEBUG_ALL, 0}};
    work of = begin_counting(w);
    zt_debugger *debugger = open_debugger(w);
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        zt_debug_thread threads[4];
        uint32_t count = 4;
        assert_int_equal(stop(debugger, patterns[i]).stopped, 1);
        assert_stands_still(&of);
        assert_int_equal(stop(debugger, patterns[i]).stopped, 1);
        ok(zt_debug_threads(debugger, threads, &count));
        assert_int_equal(count, 1);
        assert_memory_equal(&threads[0], &first_thread, sizeof first_thread);
        ok(zt_debug_resume(debugger, patterns[i]));
        assert_counts_on(&of);
        ok(zt_debug_resume(debugger, patterns[i]));
        ok(zt_debug_threads(debugger, NULL, &count));
        assert_int_equal(count, 0);
    }
    finish_work(w, &of);
    ok(zt_debug_close(debugger));
}

static void test_where_a_thread_is(void **state) {
    world *w = *state;
    work of = begin_counting(w);
    zt_debugger *debugger = open_debugger(w);
    uint64_t address;
    zt_debug_place place;
    stop(debugger, all_threads);
    ok(zt_debug_get_address(debugger, first_thread, &address));
    ok(zt_debug_where(debugger, address, &place));
    assert_contains(place.kernel, "count");
    assert_true(place.offset < place.size);
    ok(zt_debug_close(debugger));
    assert_counts_on(&of);
    finish_work(w, &of);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_why_it_cannot_attach),    TEST(test_attached_a_thousand_times),
        TEST(test_events_of_what_is_there), TEST(test_threads_stop_and_go_on),
        TEST(test_where_a_thread_is),
    };
    return cmocka_run_group_tests_name("debug", tests, start, NULL);
}
