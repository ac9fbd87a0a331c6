/* F12: drivers cannot calculate on two threads at once, not even different groups. One lock of the process
   prevents it, also if a program has several copies of the library: this file has its own. The device records
   two calculations at once in its ledger, which is checked at the end of each test. */
#define ZETOOLS_IMPLEMENTATION
#define ZETOOLS_STATIC
#include "fixture.h"

#include <pthread.h>

enum { WORKERS = 3 };

typedef struct worker {
    world *w;
    zt_profiler *profiler;
    ze_command_list_handle_t list;
    ze_kernel_handle_t kernel;
    int own_copy; /* of the library */
    pthread_t thread;
} worker;

static void open_worker(worker *me, world *w, const char *group, int own_copy) {
    me->w = w;
    me->own_copy = own_copy;
    if (own_copy) {
        zt_config config = {0};
        config.groups = group;
        ok(zt_open(w->context, w->device, &config, &me->profiler));
        assert_int_equal(zt_get_info(me->profiler).availability, ZT_AVAILABLE);
    } else {
        me->profiler = open_groups(w, group);
    }
    create_immediate(w, &me->list);
    create_kernel(w, &me->kernel);
}

static void close_worker(worker *me) {
    if (me->own_copy)
        zt_close(me->profiler);
    else
        close_profiler(me->w, me->profiler);
    ok(zeCommandListDestroy(me->list));
    ok(zeKernelDestroy(me->kernel));
}

static void measure(worker *me) {
    if (me->own_copy) {
        zt_region region = zt_begin(me->profiler, me->list, "measured");
        launch_kernel(me->list, me->kernel);
        zt_end(&region);
    } else {
        append_kernel(me->profiler, me->list, me->kernel, "measured");
    }
}

static void collect(worker *me) {
    if (me->own_copy)
        zt_collect(me->profiler, A_WHILE);
    else
        collect_all(me->profiler);
}

static void expect_collected(const worker *me, uint64_t count) {
    if (me->own_copy)
        assert_int_equal(zt_get_info(me->profiler).counts.collected, count);
    else
        assert_counts(me->profiler, counted(count, count, 0, 0, 0));
}

static void *work(void *argument) {
    worker *me = (worker *)argument;
    for (int i = 0; i < 50; i++) {
        measure(me);
        collect(me);
    }
    return NULL;
}

static void work_together(worker workers[WORKERS]) {
    for (int i = 0; i < WORKERS; i++)
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i].thread, NULL);
    for (int i = 0; i < WORKERS; i++) {
        collect(&workers[i]);
        expect_collected(&workers[i], 50);
        close_worker(&workers[i]);
    }
}

static void test_profilers_of_several_threads(void **state) {
    worker workers[WORKERS];
    const char *groups[WORKERS] = {"ComputeBasic", "HostScheduler", "ComputeBasic"};
    gpu.behave(SOFTGPU_SLOW_CALCULATION, 1);
    for (int i = 0; i < WORKERS; i++)
        open_worker(&workers[i], (world *)*state, groups[i], 0);
    work_together(workers);
}

static void test_copies_of_the_library(void **state) {
    worker workers[WORKERS];
    const char *groups[WORKERS] = {"ComputeBasic", "HostScheduler", "ComputeBasic"};
    gpu.behave(SOFTGPU_SLOW_CALCULATION, 1);
    for (int i = 0; i < WORKERS; i++)
        open_worker(&workers[i], (world *)*state, groups[i], i % 2 == 0);
    work_together(workers);
}

/* One copy does not deactivate the groups of another. */
static void test_copies_share_activation(void **state) {
    worker own, other;
    open_worker(&own, (world *)*state, "ComputeBasic", 1);
    open_worker(&other, (world *)*state, "HostScheduler", 0);
    measure(&own);
    measure(&other);
    collect(&own);
    collect(&other);
    expect_collected(&own, 1);
    expect_collected(&other, 1);
    close_worker(&other);
    measure(&own);
    collect(&own);
    expect_collected(&own, 2);
    close_worker(&own);
}

/* ---- a region that outlives its profiler ------------------------------------------------------------------ */

typedef struct opener {
    char packed[1 << 16];
    size_t size;
    int is_done; /* atomic */
} opener;

static void *open_and_close(void *user) {
    opener *me = (opener *)user;
    for (int i = 0; i < 2000; i++) {
        zt_profiler *profiler;
        ok(zt_unpack(me->packed, me->size, NULL, &profiler));
        zt_close(profiler);
    }
    __atomic_store_n(&me->is_done, 1, __ATOMIC_RELEASE);
    return NULL;
}

/* The end of a region whose profiler is closed looks at no profiler that another thread closes. */
static void test_end_beside_profilers_that_come_and_go(void **state) {
    world *w = *state;
    static opener me;
    pthread_t thread;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    zt_region region = zt_begin(profiler, w->immediate, "region"), copy = region;
    zt_end(&copy);
    me.size = sizeof me.packed;
    ok(zt_pack(profiler, me.packed, &me.size));
    finish_immediate(w, w->immediate);
    close_profiler(w, profiler);
    assert_int_equal(pthread_create(&thread, NULL, open_and_close, &me), 0);
    while (!__atomic_load_n(&me.is_done, __ATOMIC_ACQUIRE)) {
        copy = region;
        zt_end(&copy);
    }
    join_in_time(w, thread);
}

/* What a steady collector does with its mutex, while another thread waits for it. */
static void *wait_for_mutex(void *timed) {
    static int is_locked;
    is_locked = zt__lock_until((zt__timed_mutex *)timed, zt__deadline(A_WHILE));
    if (is_locked)
        zt__unlock_timed((zt__timed_mutex *)timed);
    return &is_locked;
}

static void test_no_waiting_thread_starves(void **state) {
    zt__timed_mutex timed;
    pthread_t thread;
    void *is_locked;
    (void)state;
    memset(&timed, 0, sizeof timed);
    zt__create_mutex(&timed.mutex);
    assert_true(zt__try_lock(&timed));
    assert_int_equal(pthread_create(&thread, NULL, wait_for_mutex, &timed), 0);
    while (!__atomic_load_n(&timed.waiting, __ATOMIC_ACQUIRE))
        nap();
    zt__unlock_timed(&timed);
    int is_locked_again = zt__try_lock(&timed); /* only if the other thread had it meanwhile */
    int still_waits = __atomic_load_n(&timed.waiting, __ATOMIC_ACQUIRE) > 0;
    if (is_locked_again)
        zt__unlock_timed(&timed);
    pthread_join(thread, &is_locked);
    assert_true(*(int *)is_locked);
    assert_false(is_locked_again && still_waits);
    zt__destroy_mutex(&timed.mutex);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_profilers_of_several_threads), TEST(test_copies_of_the_library),
        TEST(test_copies_share_activation),      TEST(test_end_beside_profilers_that_come_and_go),
        TEST(test_no_waiting_thread_starves),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
