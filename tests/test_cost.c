/* What a region costs in steady state: these driver calls, and no heap allocation at all. */
#include "fixture.h"

#include <stdlib.h>

/* ==== allocations on this thread ========================================================================== */

/* In a plain program malloc itself is watched, so that nothing escapes: not what the C library allocates for
   its callers, nor the driver. Sanitizers have a malloc of their own, other C libraries have no second name for
   theirs, and in many calls the validation layer of newer loaders and interception allocate; there, the
   library's calls are counted. */
#if !INSTRUMENTED && defined __GLIBC__
enum { WATCHES_MALLOC = 1 };
static _Thread_local uint64_t own_allocations;

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);

void *malloc(size_t size) {
    own_allocations++;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    own_allocations++;
    return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size) {
    own_allocations++;
    return __libc_realloc(memory, size);
}
#else
enum { WATCHES_MALLOC = 0 };
static const uint64_t own_allocations = 0;
#endif

static int malloc_is_watched(void) {
    return WATCHES_MALLOC && !getenv("ZE_ENABLE_VALIDATION_LAYER") && !loader_wraps_handles();
}

static uint64_t allocations(void) {
    return heap_allocations() + (malloc_is_watched() ? own_allocations : 0);
}

static void test_allocations_are_seen(void **state) {
    (void)state;
    uint64_t before = allocations();
    void *volatile memory = malloc(100);
    free(memory);
    assert_int_equal(allocations() - before, malloc_is_watched() ? 1 : 0);
    zt_profiler *profiler = open_groups(*state, "ComputeBasic");
    assert_true(allocations() > before + 1);
    close_profiler(*state, profiler);
}

/* ==== steady state ======================================================================================== */

enum { REGIONS = 64 };

/* The loader is asked whether the list of a region is immediate, where it can be asked (1.16). */
static uint64_t calls_of_a_region(void) {
    return can_tell_immediate() ? 7 : 6;
}

static void expect_calls_of(uint64_t regions, uint64_t groups) {
    assert_int_equal(calls("zetCommandListAppendMetricQueryBegin"), regions * groups);
    assert_int_equal(calls("zetCommandListAppendMetricQueryEnd"), regions * groups);
    assert_int_equal(calls("zetMetricQueryGetData"), regions * groups);
    assert_int_equal(calls("zetMetricQueryReset"), regions * groups);
}

/* Regions on an immediate list. Returns how many driver calls the application has made. */
static uint64_t run_regions(world *w, zt_profiler *profiler) {
    uint64_t own = 0;
    for (int i = 0; i < REGIONS; i++) {
        zt_region region = zt_begin(profiler, w->immediate, i % 2 ? "odd" : "even");
        uint64_t before = calls(NULL);
        launch(w, w->immediate);
        own += calls(NULL) - before;
        zt_end(&region);
    }
    uint64_t before = calls(NULL);
    finish_immediate(w, w->immediate);
    return own + calls(NULL) - before;
}

/* A batch of regions. Returns how many driver calls the library has made. */
static uint64_t frame(world *w, zt_profiler *profiler) {
    gpu.reset_calls();
    uint64_t own = run_regions(w, profiler);
    ok(zt_collect(profiler, 0));
    return calls(NULL) - own;
}

static void warm_up(world *w, zt_profiler *profiler) {
    for (int i = 0; i < 20; i++)
        frame(w, profiler);
}

/* The last zt_end collects, too: it may meet an event that is not ready, and leave the rest to zt_collect. */
static void test_driver_calls_of_a_region(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    warm_up(w, profiler);
    for (int i = 0; i < 5; i++) {
        uint64_t all = frame(w, profiler);
        uint64_t queries = calls("zeEventQueryStatus");
        uint64_t calculations = calls("zetMetricGroupCalculateMetricValues");
        expect_calls_of(REGIONS, 1);
        assert_int_equal(calls("zeEventHostReset"), REGIONS + 1); /* one is the test's own */
        assert_int_equal(calls("zeCommandListIsImmediate"), can_tell_immediate() ? REGIONS : 0);
        assert_in_range(queries, REGIONS, REGIONS + REGIONS / 16);
        assert_in_range(calculations, 1, REGIONS / 16);
        assert_in_range(all, calls_of_a_region() * REGIONS + 1, calls_of_a_region() * REGIONS + REGIONS / 8);
        assert_int_equal(all - queries - calculations, (calls_of_a_region() - 1) * REGIONS);
    }
    check_work(w);
}

static void test_no_allocation_in_steady_state(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic,HostScheduler");
    warm_up(w, profiler);
    uint64_t before = allocations();
    for (int i = 0; i < 5; i++)
        frame(w, profiler);
    assert_int_equal(allocations() - before, 0);
    check_work(w);
}

/* ==== recorded lists ====================================================================================== */

static void record(world *w, zt_profiler *profiler) {
    for (int i = 0; i < REGIONS; i++)
        append(w, profiler, w->list, i % 2 ? "odd" : "even");
    ok(zeCommandListClose(w->list));
}

/* Executed again, a region costs what its reading costs, and a list three or four event queries: the last event shows
   whether it has ended and whether it has run by other means; with it, the first one shows that all have. */
static void test_driver_calls_of_a_replay(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    record(w, profiler);
    for (int i = 0; i < 10; i++)
        execute(w, profiler, w->list);
    gpu.reset_calls();
    for (int i = 0; i < 5; i++)
        execute(w, profiler, w->list);
    assert_int_equal(calls("zetCommandListAppendMetricQueryBegin"), 0);
    assert_int_equal(calls("zetCommandListAppendMetricQueryEnd"), 0);
    uint64_t queries = calls("zeEventQueryStatus");
    assert_in_range(queries, 5 * 3, 5 * 4);
    assert_int_equal(calls("zetMetricQueryGetData"), 5 * REGIONS);
    assert_int_equal(calls("zeEventHostReset"), 5 * REGIONS);
    assert_int_equal(calls("zetMetricQueryReset"), 5 * REGIONS);
    assert_int_equal(calls("zetMetricGroupCalculateMetricValues"), 5);
    assert_int_equal(calls("zeCommandQueueExecuteCommandLists"), 5);
    assert_int_equal(calls(NULL) - queries, 5 * (3 * REGIONS + 1 + 2)); /* execute and synchronise, no more */
    w->launches += 15 * REGIONS;
    check_work(w);
}

/* Recorded again and again. Nothing collects but what the library does by itself. */
static void test_driver_calls_with_a_reset(void **state) {
    enum { ROUNDS = 8 };
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic,HostScheduler");
    for (int i = 0; i < 10 + ROUNDS; i++) {
        if (i == 10) {
            collect_all(profiler);
            gpu.reset_calls();
        }
        record(w, profiler);
        execute(w, profiler, w->list);
        ok(zt_reset(profiler, w->list));
    }
    collect_all(profiler);
    expect_calls_of(ROUNDS * REGIONS, 2);
    assert_int_equal(calls("zeEventHostReset"), ROUNDS * REGIONS);
    assert_int_equal(calls("zetMetricGroupCalculateMetricValues"), ROUNDS * 2);
    /* zt_execute looks whether the list has run by other means, before or after a reset that nobody told of.
     */
    assert_in_range(calls("zeEventQueryStatus"), ROUNDS * 3, ROUNDS * 5);
    assert_counts(profiler, counted((10 + ROUNDS) * REGIONS, (10 + ROUNDS) * REGIONS, 0, 0, 0));
    w->launches += (10 + ROUNDS) * REGIONS;
    check_work(w);
}

static void test_no_allocation_in_replay(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    record(w, profiler);
    for (int i = 0; i < 10; i++)
        execute(w, profiler, w->list);
    uint64_t before = allocations();
    for (int i = 0; i < 20; i++)
        execute(w, profiler, w->list);
    assert_int_equal(allocations() - before, 0);
    w->launches += 30 * REGIONS;
    check_work(w);
}

static void test_no_allocation_with_a_reset(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    uint64_t before = 0;
    for (int i = 0; i < 30; i++) {
        if (i == 10)
            before = allocations();
        record(w, profiler);
        execute(w, profiler, w->list);
        ok(zt_reset(profiler, w->list));
    }
    assert_int_equal(allocations() - before, 0);
    w->launches += 30 * REGIONS;
    check_work(w);
}

/* Times alone need no metric query. */
static void test_no_allocation_for_times(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "";
    zt_profiler *profiler = open_profiler(w, &config);
    warm_up(w, profiler);
    uint64_t before = allocations();
    for (int i = 0; i < 5; i++)
        frame(w, profiler);
    assert_int_equal(allocations() - before, 0);
    assert_int_equal(calls("zetCommandListAppendMetricQueryBegin"), 0);
    check_work(w);
}

/* Collecting when nothing is in flight asks the driver nothing. */
static void test_idle_collect_is_free(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    run(w, profiler, "once");
    collect_all(profiler);
    ok(zt_release(profiler, w->immediate)); /* a list that may run again has to be asked */
    gpu.reset_calls();
    for (int i = 0; i < 100; i++)
        ok(zt_collect(profiler, 0));
    assert_int_equal(calls(NULL), 0);
}

/* A collection grows with what is in flight, and not with what was collected and may run again. */
static void test_collect_beside_collected_regions(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    record(w, profiler);
    execute(w, profiler, w->list);
    w->launches += REGIONS;
    collect_all(profiler);
    ze_event_handle_t gate = append_gate(w, w->immediate);
    append(w, profiler, w->immediate, "on its way");
    gpu.reset_calls();
    ok(zt_collect(profiler, 0));
    assert_in_range(calls("zeEventQueryStatus"), 1, 4);
    ok(zeEventHostSignal(gate));
    w->launches++;
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    ok(zeEventDestroy(gate));
    check_work(w);
}

/* A thread of the library's own makes no more of the calls that are made once. It may look at events more
   often. */
static void test_driver_calls_of_a_region_with_a_thread(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_threaded(w);
    uint64_t before = 0;
    for (int i = 0; i < 25; i++) {
        if (i == 20)
            before = allocations();
        gpu.reset_calls();
        run_regions(w, profiler);
        ok(zt_collect(profiler, A_WHILE));
    }
    assert_int_equal(allocations() - before, 0);
    expect_calls_of(REGIONS, 1);
    assert_int_equal(calls("zeEventHostReset"), REGIONS + 1); /* one is the test's own */
    check_work(w);
}

/* ==== memory ============================================================================================== */

/* What the library holds: the size of each allocation is before it. */
static size_t held;

static void *hold(size_t size, void *user) {
    (void)user;
    size_t *memory = (size_t *)malloc(16 + size);
    assert_non_null(memory);
    memory[0] = size;
    held += size;
    return memory + 2;
}

static void let_go(void *memory, void *user) {
    (void)user;
    held -= ((size_t *)memory)[-2];
    free((size_t *)memory - 2);
}

/* With the metrics of a real device, of which no quantiles are kept by default. Room for all GPU times that are kept is
   made with the first sample. */
static void test_memory_of_a_path(void **state) {
    enum { FIRST = 16, NAMES = 128, SAMPLES = 3 };
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "ComputeBasic";
    config.allocator.allocate = hold;
    config.allocator.release = let_go;
    gpu.behave(SOFTGPU_B580_METRICS, 1);
    zt_profiler *profiler = open_profiler(w, &config);
    size_t before = 0;
    uint32_t paths = 0;
    assert_true(zt_get_info(profiler).metric_count >= 80);
    for (int name = 0; name < FIRST + NAMES; name++) { /* each name inside of two others */
        char text[32];
        snprintf(text, sizeof text, "a kernel of a usual name %d", name);
        if (name == FIRST) {
            before = held;
            paths = zt_get_info(profiler).path_count;
        }
        for (int sample = 0; sample < SAMPLES; sample++) {
            zt_region outer = zt_begin(profiler, w->immediate, sample % 2 ? "odd" : "even");
            append(w, profiler, w->immediate, text);
            zt_end(&outer);
        }
        finish_immediate(w, w->immediate);
        collect_all(profiler);
    }
    paths = zt_get_info(profiler).path_count - paths;
    assert_int_equal(paths, 2 * NAMES);
    print_message("a path takes %zu bytes\n", (held - before) / paths);
    assert_true((held - before) / paths <= 8192);
    zt_close(profiler);
    assert_int_equal(held, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_allocations_are_seen),
        TEST(test_driver_calls_of_a_region),
        TEST(test_no_allocation_in_steady_state),
        TEST(test_driver_calls_of_a_replay),
        TEST(test_driver_calls_with_a_reset),
        TEST(test_no_allocation_in_replay),
        TEST(test_no_allocation_with_a_reset),
        TEST(test_no_allocation_for_times),
        TEST(test_idle_collect_is_free),
        TEST(test_collect_beside_collected_regions),
        TEST(test_driver_calls_of_a_region_with_a_thread),
        TEST(test_memory_of_a_path),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
