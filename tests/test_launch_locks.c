/* How many mutexes the thread of the application locks, or tries to, in a traced launch that is measured. */
#include <pthread.h>

static __thread int locks_taken;

static int counted_lock(pthread_mutex_t *mutex) {
    locks_taken++;
    return pthread_mutex_lock(mutex);
}

static int counted_try(pthread_mutex_t *mutex) {
    locks_taken++;
    return pthread_mutex_trylock(mutex);
}

#define pthread_mutex_lock counted_lock
#define pthread_mutex_trylock counted_try
#define ZETOOLS_IMPLEMENTATION
#define ZETOOLS_STATIC
#include "meet.h"
#undef pthread_mutex_lock
#undef pthread_mutex_trylock

#include <stdlib.h>

enum { LAUNCHES = 10, MOST = 4, MOST_WITH_EVENT = 5 };

static void expect_few_locks(world *w, zt_profiler *profiler, uint32_t flags, int has_events) {
    ze_event_pool_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, NULL, ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
                                 LAUNCHES};
    ze_command_list_handle_t list = immediate_of(w, COMPUTE, 0, flags);
    ze_event_handle_t events[LAUNCHES] = {NULL};
    ze_event_pool_handle_t pool;
    zt_trace_counts before = zt_get_info(profiler).launches;
    ok(zeEventPoolCreate(w->context, &desc, 1, &w->device, &pool));
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        ze_event_desc_t event = {ZE_STRUCTURE_TYPE_EVENT_DESC, NULL, i, ZE_EVENT_SCOPE_FLAG_HOST,
                                 ZE_EVENT_SCOPE_FLAG_HOST};
        if (has_events)
            ok(zeEventCreate(pool, &event, &events[i]));
    }
    for (int i = 0; i < LAUNCHES; i++) {
        const ze_group_count_t groups = {WORK_GROUPS, 1, 1};
        locks_taken = 0;
        ok(zeCommandListAppendLaunchKernel(list, w->kernel, &groups, events[i], 0, NULL));
        w->launches++;
        if (i > 0) /* the first launch of a kernel makes its records */
            assert_in_range(locks_taken, 1, has_events ? MOST_WITH_EVENT : MOST);
    }
    finish_immediate(w, list);
    assert_int_equal(zt_get_info(profiler).launches.measured - before.measured, LAUNCHES);
    assert_int_equal(zt_get_info(profiler).launches.serialised, before.serialised);
    for (int i = 0; has_events && i < LAUNCHES; i++)
        ok(zeEventDestroy(events[i]));
    ok(zeEventPoolDestroy(pool));
    finish_and_destroy(w, list);
}

static zt_profiler *open_traced(world *w, const char *groups) {
    zt_config config = config_of(w);
    zt_profiler *profiler = NULL;
    config.groups = groups;
    ok(zt_open(w->context, w->device, &config, &profiler));
    ok(zt_trace_start(profiler, NULL));
    return profiler;
}

static void expect_few_locks_on(world *w, uint32_t flags) {
    zt_profiler *profiler = open_traced(w, "");
    expect_few_locks(w, profiler, flags, 0);
    expect_few_locks(w, profiler, flags, 1);
    zt_close(profiler);
    check_work(w);
}

static void test_locks_of_a_launch(void **state) {
    expect_few_locks_on((world *)*state, 0);
}

static void expect_few_locks_on_a_recorded_list(world *w, const char *groups) {
    zt_profiler *profiler = open_traced(w, groups);
    ze_command_list_handle_t list;
    create_list(w, &list);
    for (int i = 0; i < LAUNCHES; i++) {
        locks_taken = 0;
        launch(w, list);
        if (i > 0)
            assert_in_range(locks_taken, 1, MOST_WITH_EVENT);
    }
    ok(zeCommandListClose(list));
    ok(zeCommandQueueExecuteCommandLists(w->queue, 1, &list, NULL));
    finish_queue(w);
    collect_all(profiler);
    assert_int_equal(zt_get_info(profiler).launches.measured, LAUNCHES);
    ok(zeCommandListDestroy(list));
    zt_close(profiler);
    check_work(w);
}

static void test_locks_of_a_launch_on_a_recorded_list(void **state) {
    expect_few_locks_on_a_recorded_list((world *)*state, "");
}

static void test_locks_of_a_launch_with_metrics(void **state) {
    expect_few_locks_on_a_recorded_list((world *)*state, "ComputeBasic");
}

static void test_locks_of_a_launch_in_order(void **state) {
    world *w = *state;
    need_in_order_lists(w);
    expect_few_locks_on(w, QUEUE_IN_ORDER);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_locks_of_a_launch),
        TEST(test_locks_of_a_launch_in_order),
        TEST(test_locks_of_a_launch_on_a_recorded_list),
        TEST(test_locks_of_a_launch_with_metrics),
    };
    return cmocka_run_group_tests_name("tests", tests, start_traced, NULL);
}
