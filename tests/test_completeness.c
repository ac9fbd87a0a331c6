/* Every region is collected, however many there are, in memory that stays as it was after warm-up. */
#include "fixture.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ==== memory ============================================================================================== */

/* Of the whole process, driver and loader included. */
static size_t resident_bytes(void) {
    unsigned long size = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu %lu", &size, &resident), 2);
    fclose(file);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}

/* Sanitizers keep what was freed, and shadow what was touched. */
static void assert_flat_process(size_t before) {
    if (!INSTRUMENTED)
        assert_in_range(resident_bytes(), 0, before + (1u << 20));
}

static void expect_all(const zt_profiler *profiler, const char *region, uint32_t count) {
    assert_counts(profiler, counted(count, count, 0, 0, 0));
    assert_int_equal(region_info(profiler, region).count, count);
    assert_true(stats_of(profiler, region, "GPGPU_THREADGROUP_COUNT").sum == count * (double)WORK_GROUPS);
    assert_true(stats_of(profiler, region, "GPGPU_THREADGROUP_COUNT").count == count);
}

/* ==== the three measures ================================================================================== */

static void record_and_reset(world *w, zt_profiler *profiler) {
    append(w, profiler, w->list, "reset");
    ok(zeCommandListClose(w->list));
    execute(w, profiler, w->list);
    ok(zt_release(profiler, w->list));
    reset_list(w->list);
}

static void test_regions_with_a_list_reset_after_each(void **state) {
    world *w = *state;
    const uint32_t warm_up = INSTRUMENTED ? 600 : 2000, all = OFTEN(40000);
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    for (uint32_t i = 0; i < warm_up; i++)
        record_and_reset(w, profiler);
    heap_use before = library_memory();
    size_t resident = resident_bytes();
    for (uint32_t i = warm_up; i < all; i++)
        record_and_reset(w, profiler);
    assert_same_memory(before);
    assert_flat_process(resident);
    collect_all(profiler);
    expect_all(profiler, "reset", all);
    w->launches += all;
    check_work(w);
}

static void test_executions_of_one_recorded_list(void **state) {
    world *w = *state;
    const uint32_t warm_up = 600, all = INSTRUMENTED ? 800 : 2000; /* 512 samples are kept */
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    append(w, profiler, w->list, "replayed");
    ok(zeCommandListClose(w->list));
    for (uint32_t i = 0; i < warm_up; i++)
        ok(zt_execute(profiler, w->queue, 1, &w->list, NULL));
    heap_use before = library_memory();
    size_t resident = resident_bytes();
    for (uint32_t i = warm_up; i < all; i++)
        ok(zt_execute(profiler, w->queue, 1, &w->list, NULL));
    finish_queue(w);
    ok(zt_collect(profiler, A_WHILE));
    assert_same_memory(before);
    assert_flat_process(resident);
    expect_all(profiler, "replayed", all);
    w->launches += all;
    check_work(w);
}

/* Collected now and then, as a program does once a frame. */
static void test_regions_on_an_immediate_list(void **state) {
    world *w = *state;
    const uint32_t warm_up = 1000, all = INSTRUMENTED ? 1200 : 3000;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    heap_use before = library_memory();
    size_t resident = resident_bytes();
    for (uint32_t i = 0; i < all; i++) {
        if (i == warm_up) {
            before = library_memory();
            resident = resident_bytes();
        }
        append(w, profiler, w->immediate, "immediate");
        if (i % 100 == 99) {
            finish_immediate(w, w->immediate);
            zt_collect(profiler, 0);
        }
    }
    finish_immediate(w, w->immediate);
    ok(zt_collect(profiler, A_WHILE));
    assert_same_memory(before);
    assert_flat_process(resident);
    expect_all(profiler, "immediate", all);
    w->launches += all;
    check_work(w);
}

/* ==== in bulk ============================================================================================= */

/* All in flight at once, with nothing collected between. */
static void test_many_regions_in_flight(void **state) {
    world *w = *state;
    const uint32_t all = OFTEN(10000);
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    for (uint32_t i = 0; i < all; i++)
        append(w, profiler, w->immediate, "bulk");
    finish_immediate(w, w->immediate);
    ok(zt_collect(profiler, 0));
    expect_all(profiler, "bulk", all);
    w->launches += all;
    check_work(w);
}

/* As a frame of several lists, each with several regions, executed again and again. */
static void test_a_frame_of_lists_replayed(void **state) {
    enum { LISTS = 4, REGIONS = 8 };
    world *w = *state;
    const uint32_t frames = OFTEN(200);
    ze_command_list_handle_t lists[LISTS];
    zt_profiler *profiler = open_groups(w, "ComputeBasic,HostScheduler");
    for (int i = 0; i < LISTS; i++) {
        create_list(w, &lists[i]);
        for (int region = 0; region < REGIONS; region++)
            append(w, profiler, lists[i], "pass");
        ok(zeCommandListClose(lists[i]));
    }
    for (uint32_t frame = 0; frame < frames; frame++)
        ok(zt_execute(profiler, w->queue, LISTS, lists, NULL));
    finish_queue(w);
    collect_all(profiler);
    expect_all(profiler, "pass", frames * LISTS * REGIONS);
    for (int i = 0; i < LISTS; i++) {
        ok(zt_release(profiler, lists[i]));
        ok(zeCommandListDestroy(lists[i]));
    }
    w->launches += frames * LISTS * REGIONS;
    check_work(w);
}

/* Lists that come and go: nothing of them is kept. */
static void create_and_destroy(world *w, zt_profiler *profiler) {
    ze_command_list_handle_t list;
    create_list(w, &list);
    append(w, profiler, list, "short-lived");
    ok(zeCommandListClose(list));
    execute(w, profiler, list);
    ok(zt_release(profiler, list));
    ok(zeCommandListDestroy(list));
}

static void test_a_new_list_for_each_region(void **state) {
    world *w = *state;
    const uint32_t warm_up = 600, all = INSTRUMENTED ? 800 : 2000;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    for (uint32_t i = 0; i < warm_up; i++)
        create_and_destroy(w, profiler);
    heap_use before = library_memory();
    for (uint32_t i = warm_up; i < all; i++)
        create_and_destroy(w, profiler);
    assert_same_memory(before);
    expect_all(profiler, "short-lived", all);
    w->launches += all;
    check_work(w);
}

/* ==== the application's allocator ========================================================================= */

typedef struct heap {
    int64_t blocks;
    uint64_t allocations;
} heap;

static void *allocate(size_t size, void *user) {
    heap *own = (heap *)user;
    __atomic_add_fetch(&own->blocks, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&own->allocations, 1, __ATOMIC_RELAXED);
    return malloc(size);
}

static void release(void *memory, void *user) {
    heap *own = (heap *)user;
    if (memory)
        __atomic_sub_fetch(&own->blocks, 1, __ATOMIC_RELAXED);
    free(memory);
}

static int discard(const void *bytes, size_t size, void *user) {
    (void)bytes;
    *(size_t *)user += size;
    return 0;
}

/* Everything comes from it, and goes back to it. */
static void test_the_applications_allocator(void **state) {
    world *w = *state;
    heap own = {0, 0};
    size_t size = 0;
    zt_config config = config_of(w);
    config.allocator.allocate = allocate;
    config.allocator.release = release;
    config.allocator.user = &own;
    uint64_t before = heap_allocations();
    zt_profiler *profiler = open_profiler(w, &config);
    for (int i = 0; i < 50; i++)
        run(w, profiler, i % 2 ? "odd" : "even");
    append(w, profiler, w->list, "recorded");
    ok(zt_collect(profiler, 0));
    ok(zt_write(profiler, ZT_FORMAT_TABLE, discard, &size));
    ok(zt_write(profiler, ZT_FORMAT_CSV, discard, &size));
    ok(zt_write(profiler, ZT_FORMAT_JSON, discard, &size));
    ok(zt_write(profiler, ZT_FORMAT_HTML, discard, &size));
    assert_true(size > 0);
    ok(zt_release(profiler, w->list));
    close_profiler(w, profiler);
    assert_true(own.allocations > 0);
    assert_int_equal(own.blocks, 0);
    assert_int_equal(heap_allocations(), before);
    check_work(w);
}

/* One function of the two is a mistake, not a guess. */
static void test_half_an_allocator(void **state) {
    world *w = *state;
    heap own = {0, 0};
    zt_profiler *profiler = NULL;
    zt_config config = config_of(w);
    config.allocator.allocate = allocate;
    config.allocator.user = &own;
    assert_result(zt_open(w->context, w->device, &config, &profiler), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_null(profiler);
    assert_int_equal(own.blocks, 0);
}

static void test_nothing_is_left_after_close(void **state) {
    world *w = *state;
    int64_t before = heap_bytes();
    for (int i = 0; i < 3; i++) {
        zt_profiler *profiler = open_groups(w, "ComputeBasic,HostScheduler");
        for (int j = 0; j < 300; j++)
            run(w, profiler, j % 2 ? "odd" : "even");
        collect_all(profiler);
        close_profiler(w, profiler);
        assert_int_equal(heap_bytes(), before);
    }
    check_work(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_regions_with_a_list_reset_after_each),
        TEST(test_executions_of_one_recorded_list),
        TEST(test_regions_on_an_immediate_list),
        TEST(test_many_regions_in_flight),
        TEST(test_a_frame_of_lists_replayed),
        TEST(test_a_new_list_for_each_region),
        TEST(test_the_applications_allocator),
        TEST(test_half_an_allocator),
        TEST(test_nothing_is_left_after_close),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
