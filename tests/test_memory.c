/* Memory that the application allocates while tracing: how much is in use, by phase, and what is not freed. */
#define _GNU_SOURCE
#include "perfetto.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { KB = 1000, MOST_ALLOCATIONS = 20000 }; /* the latter as in fixture.c */

/* Loaders that cannot turn tracing on at run time look for this in the environment. */
static int start_in_directory(void **state) {
    return make_directory(state) == 0 ? start_traced(state) : -1;
}

static zt_profiler *open_watching(world *w) {
    zt_config config = config_of(w);
    zt_trace_config trace = {0};
    config.groups = "";
    trace.memory = 1;
    zt_profiler *profiler = open_profiler(w, &config);
    ok(zt_trace_start(profiler, &trace));
    return profiler;
}

typedef enum memory_kind { DEVICE, SHARED, HOST } memory_kind;

static void *allocate_on(ze_context_handle_t context, ze_device_handle_t device, memory_kind kind,
                         size_t size) {
    ze_device_mem_alloc_desc_t device_desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    ze_host_mem_alloc_desc_t host_desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    void *memory = NULL;
    ok_on_thread(kind == DEVICE ? zeMemAllocDevice(context, &device_desc, size, 64, device, &memory)
                 : kind == SHARED
                     ? zeMemAllocShared(context, &device_desc, &host_desc, size, 64, device, &memory)
                     : zeMemAllocHost(context, &host_desc, size, 64, &memory));
    return memory;
}

static void *allocate(world *w, memory_kind kind, size_t size) {
    return allocate_on(w->context, w->device, kind, size);
}

static void release(world *w, void *memory) {
    ok_on_thread(zeMemFree(w->context, memory));
}

static zt_region_info phase_info(const zt_profiler *profiler, const char *name) {
    zt_region_info info;
    uint32_t path = zt_find_path(profiler, name);
    if (path == UINT32_MAX)
        fail_msg("there is no phase %s", name);
    ok(zt_get_region(profiler, path, &info));
    assert_true(info.is_phase);
    return info;
}

static void expect_phase(const zt_profiler *profiler, const char *name, double peak, double end,
                         uint64_t allocations, uint64_t unfreed, double unfreed_bytes) {
    zt_region_info info = phase_info(profiler, name);
    assert_close(info.peak_bytes, peak);
    assert_close(info.end_bytes, end);
    assert_int_equal(info.allocations, allocations);
    assert_int_equal(info.unfreed, unfreed);
    assert_close(info.unfreed_bytes, unfreed_bytes);
}

static void expect_in_use(const zt_profiler *profiler, uint64_t bytes, uint64_t peak, uint64_t host,
                          uint64_t host_peak) {
    zt_memory_info info = zt_get_info(profiler).memory;
    assert_true(info.is_watched);
    assert_int_equal(info.bytes, bytes);
    assert_int_equal(info.peak_bytes, peak);
    assert_int_equal(info.host_bytes, host);
    assert_int_equal(info.host_peak_bytes, host_peak);
    assert_int_equal(info.unfreed_bytes, bytes + host);
}

/* Its lines are joined, because notes are wrapped. */
static const char *table_of(const zt_profiler *profiler) {
    static char text[1 << 18];
    snprintf(text, sizeof text, "%s", written_report(profiler, ZT_FORMAT_TABLE));
    for (char *end = text; (end = strchr(end, '\n')) != NULL;)
        *end = ' ';
    return text;
}

/* ==== what is in use ====================================================================================== */

static void test_device_shared_and_host_memory(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_watching(w);
    expect_in_use(profiler, 0, 0, 0, 0);
    void *device = allocate(w, DEVICE, 100);
    expect_in_use(profiler, 100, 100, 0, 0);
    void *shared = allocate(w, SHARED, 20);
    void *unbound = allocate_on(w->context, NULL, SHARED, 5);
    expect_in_use(profiler, 125, 125, 0, 0);
    void *host = allocate(w, HOST, 3000);
    expect_in_use(profiler, 125, 125, 3000, 3000);
    release(w, shared);
    expect_in_use(profiler, 105, 125, 3000, 3000);
    release(w, host);
    release(w, unbound);
    release(w, device);
    expect_in_use(profiler, 0, 125, 0, 3000);
    assert_int_equal(zt_get_info(profiler).memory.allocations, 4);
    assert_int_equal(zt_get_info(profiler).memory.unfreed, 0);
    assert_contains(table_of(profiler),
                    "Device memory: at most 125 bytes in use at once, and 3 kB of the host; 4 "
                    "allocations, all freed.");
}

static void test_refused_calls(void **state) {
    world *w = *state;
    ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    zt_profiler *profiler = open_watching(w);
    void *memory = NULL, *kept = allocate(w, DEVICE, 100);
    inject("zeMemAllocDevice", 1, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_result(zeMemAllocDevice(w->context, &desc, 7, 64, w->device, &memory),
                  ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    expect_in_use(profiler, 100, 100, 0, 0);
    inject("zeMemFree", 1, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    assert_result(zeMemFree(w->context, kept), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    expect_in_use(profiler, 100, 100, 0, 0);
    release(w, kept);
    expect_in_use(profiler, 0, 100, 0, 0);
}

static void test_free_with_a_policy(void **state) {
    world *w = *state;
    ze_memory_free_ext_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MEMORY_FREE_EXT_DESC,
                                      .freePolicy = ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE};
    zt_profiler *profiler = open_watching(w);
    void *memory = allocate(w, DEVICE, 100);
    ok(zeMemFreeExt(w->context, &desc, memory));
    expect_in_use(profiler, 0, 100, 0, 0);
    assert_int_equal(zt_get_info(profiler).memory.unfreed, 0);
}

/* ==== phases ============================================================================================== */

static void test_a_peak_is_of_all_memory_while_the_phase_is_open(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_watching(w);
    void *before = allocate(w, DEVICE, 10 * KB), *early = allocate(w, DEVICE, 90 * KB);
    release(w, early);
    zt_phase_begin("step");
    void *step = allocate(w, DEVICE, 5 * KB);
    zt_phase_begin("solve");
    void *solve = allocate(w, SHARED, 20 * KB);
    release(w, solve);
    zt_phase_end();
    zt_phase_begin("output");
    void *output = allocate(w, HOST, KB);
    zt_phase_end();
    release(w, step);
    zt_phase_end();
    zt_phase_begin("after");
    release(w, before);
    zt_phase_end();
    expect_phase(profiler, "step", 35 * KB, 10 * KB, 3, 1, KB);
    expect_phase(profiler, "step;solve", 35 * KB, 15 * KB, 1, 0, 0);
    expect_phase(profiler, "step;output", 15 * KB, 15 * KB, 1, 1, KB);
    expect_phase(profiler, "after", 10 * KB, 0, 0, 0, 0);
    expect_in_use(profiler, 0, 100 * KB, KB, KB);
    release(w, output);
    expect_phase(profiler, "step", 35 * KB, 10 * KB, 3, 0, 0);
}

/* On a path, the last entry counts for what is in use at its end, the highest for the peak. Of several paths with one
   name, the highest counts for both. */
static void test_entries_and_paths(void **state) {
    world *w = *state;
    static const size_t sizes[] = {30, 70, 20};
    zt_profiler *profiler = open_watching(w);
    void *memory[3];
    for (int i = 0; i < 3; i++) {
        zt_phase_begin(i < 2 ? "a" : "b");
        zt_phase_begin("inner");
        memory[i] = allocate(w, DEVICE, sizes[i]);
        zt_phase_end();
        zt_phase_end();
        if (i == 1)
            release(w, memory[0]), release(w, memory[1]);
    }
    expect_phase(profiler, "a;inner", 100, 100, 2, 0, 0);
    expect_phase(profiler, "b;inner", 20, 20, 1, 1, 20);
    expect_phase(profiler, "inner", 100, 100, 3, 1, 20);
    release(w, memory[2]);
}

/* A phase that is open has a figure for what is not freed, and its peak when it ends. */
static void test_an_open_phase(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_watching(w);
    zt_phase_begin("main");
    void *memory = allocate(w, DEVICE, 100);
    expect_phase(profiler, "main", NAN, NAN, 1, 1, 100);
    release(w, memory);
    zt_phase_end();
    expect_phase(profiler, "main", 100, 0, 1, 0, 0);
}

static void test_recursion(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_watching(w);
    void *memory[3];
    for (int i = 0; i < 3; i++) {
        zt_phase_begin("again");
        memory[i] = allocate(w, DEVICE, 100);
    }
    for (int i = 0; i < 3; i++)
        zt_phase_end();
    expect_phase(profiler, "again", 300, 300, 3, 3, 300);
    for (int i = 0; i < 3; i++)
        release(w, memory[i]);
    expect_phase(profiler, "again", 300, 300, 3, 0, 0);
}

/* More falls than are kept: a peak is right by a thousandth. */
static void test_many_steps(void **state) {
    world *w = *state;
    enum { BLOCKS = 5000, SIZE = 100, LEVELS = 10 };
    zt_profiler *profiler = open_watching(w);
    void **memory = calloc(BLOCKS, sizeof *memory);
    char name[16];
    assert_non_null(memory);
    for (int i = 0; i < BLOCKS; i++)
        memory[i] = allocate(w, DEVICE, SIZE);
    for (int i = 0; i < BLOCKS; i++) {
        if (i % (BLOCKS / LEVELS) == 0) {
            snprintf(name, sizeof name, "%d", i / (BLOCKS / LEVELS));
            zt_phase_begin(name);
        }
        release(w, memory[i]);
    }
    for (int i = LEVELS - 1; i >= 0; i--)
        zt_phase_end();
    char path[64] = "";
    for (int i = 0; i < LEVELS; i++) {
        double peak = (double)SIZE * (BLOCKS - i * (BLOCKS / LEVELS));
        snprintf(path + strlen(path), sizeof path - strlen(path), "%s%d", i ? ";" : "", i);
        zt_region_info info = phase_info(profiler, path);
        assert_true(info.peak_bytes >= peak);
        assert_true(info.peak_bytes <= peak + 0.002 * SIZE * BLOCKS);
        assert_close(info.end_bytes, 0);
    }
    free(memory);
    assert_no_noted_failure();
}

static void test_a_phase_that_begins_before_the_tracer(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    zt_trace_config trace = {.memory = 1};
    config.groups = "";
    zt_phase_begin("main");
    zt_profiler *profiler = open_profiler(w, &config);
    void *unseen = allocate(w, DEVICE, 1000);
    ok(zt_trace_start(profiler, &trace));
    void *seen = allocate(w, DEVICE, 100);
    release(w, unseen);
    zt_phase_end();
    expect_phase(profiler, "main", 100, 100, 1, 1, 100);
    release(w, seen);
}

/* ==== threads ============================================================================================= */

typedef struct thread_work {
    world *w;
    zt_phase phase;
    void *freed, *allocated;
} thread_work;

static void *work(void *argument) {
    thread_work *self = argument;
    zt_phase_begin("other thread");
    release(self->w, self->freed);
    zt_phase_end();
    zt_phase_adopt(self->phase);
    self->allocated = allocate(self->w, DEVICE, 40);
    zt_phase_end();
    return NULL;
}

static void test_freed_by_another_thread(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_watching(w);
    zt_phase_begin("solve");
    thread_work other = {w, zt_phase_current(), allocate(w, DEVICE, 100), NULL};
    run_in_time(w, work, &other);
    zt_phase_end();
    expect_phase(profiler, "solve", 100, 40, 2, 1, 40); /* it was adopted */
    expect_phase(profiler, "other thread", 100, 0, 0, 0, 0);
    release(w, other.allocated);
    assert_no_noted_failure();
}

enum { THREADS = 4, ROUNDS = 400, HELD = 8 };

static void *churn(void *argument) {
    world *w = argument;
    void *held[HELD] = {NULL};
    for (int i = 0; i < OFTEN(ROUNDS); i++) {
        zt_phase_begin(i % 2 ? "odd" : "even");
        if (held[i % HELD])
            release(w, held[i % HELD]);
        held[i % HELD] = allocate(w, (memory_kind)(i % 3), 64);
        zt_phase_end();
    }
    for (int i = 0; i < HELD; i++)
        if (held[i])
            release(w, held[i]);
    return NULL;
}

/* Addresses are used again by other threads at once. */
static void test_threads_at_once(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_watching(w);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, churn, w), 0);
    for (int i = 0; i < THREADS; i++)
        join_in_time(w, threads[i]);
    zt_memory_info info = zt_get_info(profiler).memory;
    assert_int_equal(info.allocations, THREADS * OFTEN(ROUNDS));
    assert_int_equal(info.unfreed, 0);
    assert_int_equal(info.bytes, 0);
    assert_int_equal(info.host_bytes, 0);
    assert_in_range(info.peak_bytes, 64, 64 * THREADS * (HELD + 1));
    assert_int_equal(phase_info(profiler, "odd").unfreed, 0);
    assert_int_equal(phase_info(profiler, "even").allocations, THREADS * OFTEN(ROUNDS) / 2);
    assert_no_noted_failure();
}

/* ==== what is not freed =================================================================================== */

static void test_what_is_not_freed_is_named(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_watching(w);
    void *memory[4];
    zt_phase_begin("step");
    zt_phase_begin("solve");
    memory[0] = allocate(w, DEVICE, 2500 * KB);
    memory[1] = allocate(w, SHARED, 1000 * KB);
    zt_phase_end();
    zt_phase_end();
    memory[2] = allocate(w, HOST, 500 * KB);
    memory[3] = allocate(w, DEVICE, 7);
    release(w, memory[3]);
    assert_contains(table_of(profiler),
                    "Device memory: at most 3.5 MB in use at once, and 500 kB of the host; 3 of 4 "
                    "allocations (4 MB) not freed: 2 in \"step;solve\", 1 in no phase.");
    ok(zt_trace_stop(profiler));
    for (int i = 0; i < 3; i++)
        release(w, memory[i]); /* unseen */
    assert_contains(table_of(profiler),
                    "(4 MB) not freed when tracing ended: 2 in \"step;solve\", 1 in no phase.");
    expect_phase(profiler, "step;solve", 3500 * KB, 3500 * KB, 2, 2, 3500 * KB);
    /* A new start forgets what may have been freed unseen. */
    zt_trace_config trace = {.memory = 1};
    ok(zt_trace_start(profiler, &trace));
    expect_phase(profiler, "step;solve", 3500 * KB, 3500 * KB, 0, 0, 0);
    expect_in_use(profiler, 0, 3500 * KB + 7, 0, 500 * KB);
    assert_contains(table_of(profiler), "; 1 allocation, all freed.");
}

static void test_the_phases_with_most_are_named(void **state) {
    world *w = *state;
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    static const size_t sizes[] = {10, 50, 20, 40, 30};
    zt_profiler *profiler = open_watching(w);
    void *memory[5];
    for (int i = 0; i < 5; i++) {
        zt_phase_begin(names[i]);
        memory[i] = allocate(w, DEVICE, sizes[i]);
        zt_phase_end();
    }
    assert_contains(table_of(profiler), "not freed: 1 in \"b\", 1 in \"d\", 1 in \"e\", 2 in others.");
    for (int i = 0; i < 5; i++)
        release(w, memory[i]);
}

/* ==== what is not watched ================================================================================= */

static void test_another_context_or_device(void **state) {
    world *w = *state;
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_device_handle_t devices[2];
    ze_context_handle_t context;
    uint32_t count = 2;
    gpu.set_devices(2, 0);
    ok(zeDeviceGet(w->driver, &count, devices));
    ok(zeContextCreate(w->driver, &desc, &context));
    zt_profiler *profiler = open_watching(w);
    zt_phase_begin("solve");
    void *memory[] = {allocate_on(context, w->device, DEVICE, 100), allocate_on(context, NULL, SHARED, 100),
                      allocate_on(context, NULL, HOST, 100), allocate_on(w->context, devices[1], DEVICE, 100),
                      allocate_on(w->context, devices[1], SHARED, 100)};
    zt_phase_end();
    expect_in_use(profiler, 0, 0, 0, 0);
    assert_int_equal(zt_get_info(profiler).memory.allocations, 0);
    expect_phase(profiler, "solve", 0, 0, 0, 0, 0);
    for (int i = 0; i < 5; i++)
        ok(zeMemFree(i < 3 ? context : w->context, memory[i]));
    ok(zeContextDestroy(context));
    expect_in_use(profiler, 0, 0, 0, 0);
    gpu.set_devices(1, 0);
}

static const char *const calls_of_memory[] = {"zeMemAllocDevice", "zeMemAllocShared", "zeMemAllocHost",
                                              "zeMemFree", "zeMemFreeExt"};

static void test_off_by_default(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "";
    zt_profiler *profiler = open_profiler(w, &config);
    forget_registered();
    ok(zt_trace_start(profiler, NULL));
    for (int i = 0; i < 5; i++)
        assert_int_equal(registered(calls_of_memory[i]), 0);
    zt_phase_begin("solve");
    release(w, allocate(w, DEVICE, 100));
    zt_phase_end();
    assert_false(zt_get_info(profiler).memory.is_watched);
    assert_int_equal(zt_get_info(profiler).memory.peak_bytes, 0);
    expect_phase(profiler, "solve", NAN, NAN, 0, 0, NAN);
    assert_null(strstr(table_of(profiler), "memory"));
    assert_null(strstr(written_report(profiler, ZT_FORMAT_JSON), "\"memory\""));
    assert_null(strstr(written_report(profiler, ZT_FORMAT_JSON), "peak_bytes"));
    assert_null(strstr(written_report(profiler, ZT_FORMAT_CSV), "peak memory"));
    assert_null(strstr(written_report(profiler, ZT_FORMAT_OPENMETRICS), "_memory_bytes"));
}

static void test_a_start_that_fails(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    zt_trace_config trace = {.memory = 1};
    config.groups = "";
    zt_profiler *profiler = open_profiler(w, &config);
    fail_registration(1, ZE_RESULT_ERROR_UNKNOWN);
    assert_result(zt_trace_start(profiler, &trace), ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE);
    fail_registration(0, ZE_RESULT_SUCCESS);
    zt_phase_begin("solve");
    release(w, allocate(w, DEVICE, 100));
    zt_phase_end();
    assert_false(zt_get_info(profiler).memory.is_watched);
    expect_phase(profiler, "solve", NAN, NAN, 0, 0, NAN);
    ok(zt_trace_start(profiler, &trace));
    release(w, allocate(w, DEVICE, 100));
    expect_in_use(profiler, 0, 100, 0, 0);
}

/* Hooks and timed calls see allocations without their being watched, and with. */
static void test_calls_that_are_timed(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    zt_trace_config trace = {.calls = "zeMem*"};
    config.groups = "";
    zt_profiler *profiler = open_profiler(w, &config);
    for (int watches = 0; watches < 2; watches++) {
        trace.memory = watches;
        ok(zt_trace_start(profiler, &trace));
        release(w, allocate(w, DEVICE, 100));
        ok(zt_trace_stop(profiler));
        assert_int_equal(zt_get_info(profiler).memory.allocations, watches);
        assert_int_equal(zt_get_info(profiler).call_count, 2);
    }
}

static void test_by_the_environment(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    zt_trace_config trace = {.memory = 1};
    config.groups = "";
    zt_profiler *profiler = open_profiler(w, &config);
    setenv("ZT_MEMORY", "1", 1);
    ok(zt_trace_start(profiler, NULL));
    release(w, allocate(w, DEVICE, 100));
    ok(zt_trace_stop(profiler));
    expect_in_use(profiler, 0, 100, 0, 0);
    setenv("ZT_MEMORY", "0", 1);
    ok(zt_trace_start(profiler, &trace));
    unsetenv("ZT_MEMORY");
    release(w, allocate(w, DEVICE, 200));
    expect_in_use(profiler, 0, 100, 0, 0);
}

/* ==== limits ============================================================================================== */

static void test_many_allocations(void **state) {
    world *w = *state;
    enum { BEYOND = 3 };
    zt_profiler *profiler = open_watching(w);
    void **memory = calloc(MOST_ALLOCATIONS + BEYOND, sizeof *memory);
    assert_non_null(memory);
    for (int i = 0; i < MOST_ALLOCATIONS + BEYOND; i++)
        memory[i] = allocate(w, DEVICE, 64);
    zt_memory_info info = zt_get_info(profiler).memory;
    assert_int_equal(info.allocations, MOST_ALLOCATIONS);
    assert_int_equal(info.unfreed, MOST_ALLOCATIONS);
    assert_int_equal(info.unseen, BEYOND);
    assert_int_equal(info.bytes, MOST_ALLOCATIONS * 64);
    assert_contains(table_of(profiler),
                    "3 further allocations were not watched: there is no memory, or more than 20000 "
                    "are not freed.");
    for (int i = MOST_ALLOCATIONS + BEYOND - 1; i >= 0; i--)
        release(w, memory[i]);
    info = zt_get_info(profiler).memory;
    assert_int_equal(info.unfreed, 0);
    assert_int_equal(info.bytes, 0);
    free(memory);
    assert_no_noted_failure();
}

/* Whichever allocation of the library fails, each of the application's is either counted in full or named as not
   watched. */
static void test_without_memory(void **state) {
    world *w = *state;
    uint64_t unseen = 0, nth;
    zt_config config = config_of(w);
    zt_trace_config trace = {.memory = 1};
    config.groups = "";
    for (nth = 1; nth < 50; nth++) {
        void *memory[2];
        zt_profiler *profiler = open_profiler(w, &config);
        fail_heap(nth, 0);
        ze_result_t result = zt_trace_start(profiler, &trace);
        zt_phase_begin("solve");
        memory[0] = allocate(w, DEVICE, 100);
        memory[1] = allocate(w, DEVICE, 10);
        zt_phase_end();
        fail_heap(0, 0);
        zt_memory_info info = zt_get_info(profiler).memory;
        if (result == ZE_RESULT_SUCCESS) {
            assert_int_equal(info.allocations + info.unseen, 2);
            assert_int_equal(info.unfreed, info.allocations);
        } else {
            assert_result(result, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
        }
        release(w, memory[0]);
        release(w, memory[1]);
        info = zt_get_info(profiler).memory;
        assert_int_equal(info.unfreed, 0);
        assert_int_equal(info.bytes, 0);
        unseen += info.unseen > 0 || result != ZE_RESULT_SUCCESS;
        close_profiler(w, profiler);
    }
    assert_true(unseen > 1);
    assert_no_noted_failure();
}

/* ==== packed and merged =================================================================================== */

/* As of two ranks: what was allocated adds up, and of what was in use the rank with most counts. */
static void test_packed_and_merged(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_watching(w), *one, *other;
    void *memory[3], *freed;
    zt_phase_begin("step");
    memory[0] = allocate(w, DEVICE, 300);
    memory[1] = allocate(w, HOST, 20);
    zt_phase_end();
    memory[2] = allocate(w, SHARED, 7);
    one = repacked(profiler);
    close_profiler(w, profiler);
    expect_phase(one, "step", 300, 300, 2, 2, 320);
    expect_in_use(one, 307, 307, 20, 20);
    for (int i = 0; i < 3; i++)
        release(w, memory[i]);
    other = open_watching(w);
    zt_phase_begin("step");
    freed = allocate(w, DEVICE, 500);
    release(w, freed);
    zt_phase_end();
    zt_phase_begin("output");
    zt_phase_end();
    memory[0] = allocate(w, HOST, 3);
    ok(zt_merge(one, other));
    expect_phase(one, "step", 500, 300, 3, 2, 320);
    expect_phase(one, "output", 0, 0, 0, 0, 0);
    zt_memory_info info = zt_get_info(one).memory;
    assert_int_equal(info.allocations, 5);
    assert_int_equal(info.unfreed, 4);
    assert_int_equal(info.unfreed_bytes, 330);
    assert_int_equal(info.peak_bytes, 500);
    assert_int_equal(info.host_peak_bytes, 20);
    assert_contains(table_of(one),
                    "Device memory: at most 500 bytes in use at once, and 20 bytes of the host; 4 of 5 "
                    "allocations (330 bytes) not freed when tracing ended: 2 in \"step\", 2 in no phase.");
    /* A profiler that goes on counts what is its own. */
    ok(zt_merge(other, one));
    release(w, memory[0]);
    zt_phase_begin("step");
    freed = allocate(w, DEVICE, 100);
    release(w, freed);
    zt_phase_end();
    expect_phase(other, "step", 500, 0, 5, 2, 320);
    info = zt_get_info(other).memory;
    assert_int_equal(info.bytes, 0);
    assert_int_equal(info.host_bytes, 0);
    assert_int_equal(info.allocations, 8);
    assert_int_equal(info.unfreed, 4);
    zt_close(one);
}

/* ==== zt_clear ============================================================================================ */

/* What is allocated stays; how much was in use before does not. */
static void test_a_clear(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    zt_trace_config trace = {.memory = 1};
    config.groups = "";
    zt_profiler *profiler = open_profiler(w, &config);
    ok(zt_trace_start(profiler, &trace));
    zt_phase_begin("step");
    void *kept = allocate(w, DEVICE, 100), *large = allocate(w, DEVICE, 5000);
    release(w, large);
    zt_phase_end();
    ok(zt_clear(profiler));
    zt_region_info step = region_info(profiler, "step");
    assert_int_equal(step.allocations, 1);
    assert_int_equal(step.unfreed, 1);
    assert_true(isnan(step.peak_bytes));
    ZT_PHASE("step")
        release(w, allocate(w, DEVICE, 200));
    step = region_info(profiler, "step");
    assert_int_equal(step.allocations, 2);
    assert_true(step.peak_bytes == 300);
    ok(zt_trace_stop(profiler));
    ok(zt_trace_start(profiler, &trace)); /* what was allocated before counts no more */
    assert_int_equal(region_info(profiler, "step").allocations, 1);
    release(w, kept);
}

/* ==== reports ============================================================================================= */

static void test_reports(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    zt_trace_config trace = {.memory = 1};
    config.groups = "";
    config.timeline = 64;
    zt_profiler *profiler = open_profiler(w, &config);
    ok(zt_trace_start(profiler, &trace));
    zt_phase_begin("solve");
    run(w, NULL, "kernel");
    void *memory = allocate(w, DEVICE, 3000), *more = allocate(w, SHARED, 500), *host = allocate(w, HOST, 20);
    release(w, more);
    ZT_PHASE("inner") {
    }
    zt_phase_end();
    collect_all(profiler);
    const char *text = written_report(profiler, ZT_FORMAT_JSON);
    assert_contains(
        text,
        "\"memory\":{\"allocations\":3,\"unfreed\":2,\"unfreed_bytes\":3020,\"unseen\":0,\"bytes\":3000,"
        "\"peak_bytes\":3500,\"host_bytes\":20,\"host_peak_bytes\":20}");
    assert_contains(
        text,
        "\"allocations\":3,\"unfreed\":2,\"peak_bytes\":3500,\"unfreed_bytes\":3020,\"end_bytes\":3000,");
    assert_contains(text, "{\"path\":\";solve\",\"region\":");
    assert_contains(text, "{\"path\":\"solve;inner\",\"region\":");
    assert_contains(text, "Device memory: at most 3.5 kB");
    text = written_report(profiler, ZT_FORMAT_CSV);
    assert_contains(text, "\n\"solve\",\"peak memory\",\"\",\"\",\"bytes\",raw,sum,1,3500,");
    assert_contains(text, "\n\"solve\",\"memory at the end\",\"\",\"\",\"bytes\",raw,sum,1,3000,");
    assert_contains(text, "\n\"solve\",\"memory not freed\",\"\",\"\",\"bytes\",raw,sum,1,3020,");
    assert_contains(text, "\n\"\",\"peak memory\",\"\",\"\",\"bytes\",raw,sum,0,3500,");
    text = written_report(profiler, ZT_FORMAT_OPENMETRICS);
    assert_contains(text, "zetools_phase_peak_memory_bytes{phase=\"solve\",path=\";solve\"} 3500\n");
    assert_contains(text, "zetools_phase_unfreed_memory_bytes{phase=\"solve\",path=\";solve\"} 3020\n");
    assert_contains(text, "\nzetools_peak_memory_bytes 3500\n");
    assert_contains(text, "\nzetools_allocations_total 3\n");
    text = table_of(profiler);
    assert_contains(text, "memory");
    assert_contains(text, "2 of 3 allocations (3.02 kB) not freed: 2 in \"solve\".");
    text = written_report(profiler, ZT_FORMAT_TRACE);
    assert_contains(text, "{\"ph\":\"C\",\"name\":\"device memory [bytes]\"");
    assert_contains(text, "\"args\":{\"value\":3500}}");
    assert_contains(text, "{\"ph\":\"C\",\"name\":\"host memory [bytes]\"");
    hold_time(1);
    if (can_read_perfetto())
        assert_contains(compare_traces(profiler), "\nhost memory [bytes]: memory\n");
    release(w, memory);
    release(w, host);
}

/* Of more changes than a trace has counters, the last stands alone: all was freed. */
static void test_the_last_change_of_many(void **state) {
    enum { PAIRS = 41000 };
    world *w = *state;
    zt_config config = config_of(w);
    zt_trace_config trace = {.memory = 1};
    config.groups = "";
    config.timeline = 2 * PAIRS;
    zt_profiler *profiler = open_profiler(w, &config);
    ok(zt_trace_start(profiler, &trace));
    run(w, NULL, "kernel");
    for (int i = 0; i < PAIRS; i++)
        release(w, allocate(w, DEVICE, 64));
    collect_all(profiler);
    const char *path = in_directory("many.trace.json");
    ok(zt_report(profiler, path));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char line[1024], last[1024] = "";
    while (fgets(line, sizeof line, file))
        if (strstr(line, "\"device memory [bytes]\""))
            strcpy(last, line);
    assert_int_equal(fclose(file), 0);
    assert_contains(last, "\"value\":0}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_device_shared_and_host_memory),
        TEST(test_refused_calls),
        TEST(test_free_with_a_policy),
        TEST(test_a_peak_is_of_all_memory_while_the_phase_is_open),
        TEST(test_entries_and_paths),
        TEST(test_an_open_phase),
        TEST(test_recursion),
        TEST(test_many_steps),
        TEST(test_a_phase_that_begins_before_the_tracer),
        TEST(test_freed_by_another_thread),
        TEST(test_threads_at_once),
        TEST(test_what_is_not_freed_is_named),
        TEST(test_the_phases_with_most_are_named),
        TEST(test_another_context_or_device),
        TEST(test_off_by_default),
        TEST(test_a_start_that_fails),
        TEST(test_calls_that_are_timed),
        TEST(test_by_the_environment),
        TEST(test_many_allocations),
        TEST(test_without_memory),
        TEST(test_packed_and_merged),
        TEST(test_a_clear),
        TEST(test_reports),
        TEST(test_the_last_change_of_many),
    };
    return cmocka_run_group_tests(tests, start_in_directory, remove_directory);
}
