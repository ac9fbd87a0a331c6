/* config.thread: a thread of the library's own collects, so that the threads that submit pay for begin and
   end alone. */
#include "fixture.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 64 }; /* reports that are calculated together */

static void run_many(world *w, zt_profiler *profiler, int count) {
    for (int i = 0; i < count; i++) {
        append(w, profiler, w->immediate, i % 2 ? "odd" : "even");
        w->launches++;
    }
    finish_immediate(w, w->immediate);
}

static void check_groups(const zt_profiler *profiler, uint64_t even, uint64_t odd) {
    assert_close(stats_of(profiler, "even", "GPGPU_THREADGROUP_COUNT").sum, (double)(even * WORK_GROUPS));
    assert_close(stats_of(profiler, "odd", "GPGPU_THREADGROUP_COUNT").sum, (double)(odd * WORK_GROUPS));
}

/* Waits for what the thread does unasked. */
static void await_collected(const zt_profiler *profiler, uint64_t wanted) {
    uint64_t end = now_ns() + A_WHILE;
    while (zt_get_info(profiler).counts.collected < wanted && now_ns() < end)
        nap();
    assert_int_equal(zt_get_info(profiler).counts.collected, wanted);
}

/* ==== what it does ======================================================================================== */

static void test_it_collects_unasked(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_threaded(w);
    run_many(w, profiler, 3 * BATCH);
    await_collected(profiler, 3 * BATCH);
    run_many(w, profiler, 10); /* fewer than a batch */
    await_collected(profiler, 3 * BATCH + 10);
    assert_counts(profiler, counted(3 * BATCH + 10, 3 * BATCH + 10, 0, 0, 0));
    check_groups(profiler, 3 * BATCH / 2 + 5, 3 * BATCH / 2 + 5);
    check_work(w);
}

static void test_results_are_complete_after_a_collection(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_threaded(w);
    for (int i = 1; i <= 20; i++) {
        run_many(w, profiler, BATCH + 10);
        collect_all(profiler);
        uint64_t all = (uint64_t)i * (BATCH + 10);
        assert_counts(profiler, counted(all, all, 0, 0, 0));
        check_groups(profiler, all / 2, all / 2);
    }
    check_work(w);
}

static void test_recorded_lists(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_threaded(w);
    for (int i = 0; i < 10; i++) {
        append(w, profiler, w->list, "even");
        append(w, profiler, w->list, "odd");
        ok(zeCommandListClose(w->list));
        for (int j = 0; j < 5; j++)
            ok(zt_execute(profiler, w->queue, 1, &w->list, NULL));
        finish_queue(w);
        w->launches += 10;
        ok(zt_reset(profiler, w->list));
    }
    collect_all(profiler);
    assert_counts(profiler, counted(100, 100, 0, 0, 0));
    check_groups(profiler, 50, 50);
    check_work(w);
}

/* What the device holds up holds up nobody but those who wait for it. */
static void test_collection_that_has_to_wait(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_threaded(w);
    ze_event_handle_t gate = append_gate(w, w->immediate);
    append(w, profiler, w->immediate, "held");
    ze_result_t at_once = zt_collect(profiler, 0), later = zt_collect(profiler, 5000000);
    ok(zeEventHostSignal(gate));
    w->launches++;
    assert_result(at_once, ZE_RESULT_SUCCESS);
    assert_result(later, ZE_RESULT_NOT_READY);
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    ok(zeEventDestroy(gate));
    check_work(w);
}

/* There are fewer probes than regions: they are waited for, and nothing is dropped. */
static void test_few_probes(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "ComputeBasic";
    config.thread = 1;
    config.probes_per_step = config.max_probes = 8;
    zt_profiler *profiler = open_profiler(w, &config);
    for (int i = 0; i < 50; i++)
        run_many(w, profiler, 8);
    collect_all(profiler);
    assert_counts(profiler, counted(400, 400, 0, 0, 0));
    check_work(w);
}

/* ==== the application's functions on it =================================================================== */

typedef struct witness {
    pthread_t opener;
    atomic_int samples, elsewhere;
    zt_profiler *profiler;
    ze_result_t collect;
} witness;

static void see_sample(const zt_sample *sample, void *user) {
    witness *seen = (witness *)user;
    assert_true(sample->gpu_time_ns >= 0);
    if (atomic_load(&seen->samples) == 0 && seen->profiler)
        seen->collect = zt_collect(seen->profiler, A_WHILE);
    atomic_fetch_add(&seen->elsewhere, !pthread_equal(seen->opener, pthread_self()));
    atomic_fetch_add(&seen->samples, 1);
}

static zt_profiler *open_witnessed(world *w, witness *seen) {
    zt_config config = config_of(w);
    config.groups = "ComputeBasic";
    config.thread = 1;
    config.sample = see_sample;
    config.sample_user = seen;
    seen->opener = pthread_self();
    return open_profiler(w, &config);
}

static void test_sample_function_on_the_thread(void **state) {
    world *w = *state;
    witness seen;
    memset(&seen, 0, sizeof seen);
    zt_profiler *profiler = open_witnessed(w, &seen);
    seen.profiler = profiler;
    for (int i = 0; i < 10; i++) {
        run_many(w, profiler, BATCH + 1);
        collect_all(profiler); /* waits for the thread, and does not do its work */
        assert_int_equal(atomic_load(&seen.samples), (i + 1) * (BATCH + 1));
    }
    assert_int_equal(atomic_load(&seen.elsewhere), 10 * (BATCH + 1));
    assert_result(seen.collect, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    assert_int_equal(heard(w, "INSIDE_CALLBACK"), 1);
    check_work(w);
}

static void test_it_blocks_all_signals(void **state) {
    NOT_ON_WINDOWS("there are no signals there");
    world *w = *state;
    uint32_t threads = count_threads(), deaf = count_deaf_threads();
    zt_profiler *profiler = open_threaded(w);
    run_many(w, profiler, BATCH);
    await_collected(profiler, BATCH);
    assert_int_equal(count_threads(), threads + 1);
    assert_int_equal(count_deaf_threads(), deaf + 1);
    close_profiler(w, profiler);
    assert_int_equal(count_threads_left(threads), threads);
    check_work(w);
}

/* ==== closing ============================================================================================= */

static void test_closing_delivers_everything(void **state) {
    world *w = *state;
    uint32_t threads = count_threads();
    for (int i = 0; i < 10; i++) {
        witness seen;
        memset(&seen, 0, sizeof seen);
        zt_profiler *profiler = open_witnessed(w, &seen);
        run_many(w, profiler, BATCH + 10);
        close_profiler(w, profiler);
        assert_int_equal(atomic_load(&seen.samples), BATCH + 10);
        assert_int_equal(count_threads_left(threads), threads);
    }
    check_work(w);
}

typedef struct gate {
    int waits, open;
} gate;

static void wait_at_gate(const zt_sample *sample, void *user) {
    gate *at = (gate *)user;
    (void)sample;
    __atomic_store_n(&at->waits, 1, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&at->open, __ATOMIC_ACQUIRE))
        nap();
}

/* What the thread uses stays, until it comes back. */
static void test_closing_while_the_sample_function_waits(void **state) {
    world *w = *state;
    gate at = {0, 0};
    zt_config config = config_of(w);
    config.groups = "ComputeBasic";
    config.thread = 1;
    config.wait_timeout_ns = 10000000;
    config.sample = wait_at_gate;
    config.sample_user = &at;
    zt_profiler *profiler = open_patiently(w, &config);
    run_many(w, profiler, BATCH);
    await(&at.waits);
    zt_close(profiler);
    int said = heard(w, "[THREAD_HANGS]");
    __atomic_store_n(&at.open, 1, __ATOMIC_RELEASE);
    assert_int_equal(said, 1);
    collect_all(profiler);
    assert_counts(profiler, counted(BATCH, BATCH, 0, 0, 0));
    close_profiler(w, profiler);
    check_work(w);
}

static void test_device_lost(void **state) {
    world *w = *state;
    uint32_t threads = count_threads();
    zt_profiler *profiler = open_threaded(w);
    run_many(w, profiler, BATCH / 2);
    collect_all(profiler);
    gpu.lose_device();
    zt_region region = zt_begin(profiler, w->immediate, "too late");
    zt_end(&region);
    check_identity(profiler);
    assert_int_equal(zt_get_info(profiler).counts.collected, BATCH / 2);
    close_profiler(w, profiler);
    gpu.restore_device();
    assert_int_equal(count_threads_left(threads), threads);
}

static void test_bad_calculation_costs_one_batch_at_most(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_threaded(w);
    inject("zetMetricGroupCalculateMetricValues", 1, ZE_RESULT_ERROR_UNKNOWN);
    run_many(w, profiler, 2 * BATCH);
    collect_all(profiler);
    assert_counts(profiler, counted(2 * BATCH, 2 * BATCH, 0, 0, 0)); /* one by one, they succeed */
    check_work(w);
}

/* ==== beside other threads ================================================================================ */

typedef struct submitter {
    world *w;
    zt_profiler *profiler;
    ze_command_list_handle_t list;
    ze_kernel_handle_t kernel;
} submitter;

static void *submit(void *argument) {
    submitter *s = (submitter *)argument;
    for (int i = 0; i < OFTEN(4000); i++) {
        append_kernel(s->profiler, s->list, s->kernel, i % 2 ? "odd" : "even");
        if (i % (4 * BATCH) == 0)
            zt_collect(s->profiler, 0);
    }
    return NULL;
}

static void test_submitters_and_the_thread(void **state) {
    enum { SUBMITTERS = 2, REGIONS = SUBMITTERS * OFTEN(4000) };
    world *w = *state;
    zt_profiler *profiler = open_threaded(w);
    submitter submitters[SUBMITTERS];
    pthread_t threads[SUBMITTERS];
    for (int i = 0; i < SUBMITTERS; i++) {
        submitters[i] = (submitter){w, profiler, NULL, NULL};
        create_immediate(w, &submitters[i].list);
        create_kernel(w, &submitters[i].kernel);
        assert_int_equal(pthread_create(&threads[i], NULL, submit, &submitters[i]), 0);
    }
    for (int i = 0; i < SUBMITTERS; i++)
        join_in_time(w, threads[i]);
    for (int i = 0; i < SUBMITTERS; i++)
        finish_immediate(w, submitters[i].list);
    collect_all(profiler);
    assert_counts(profiler, counted(REGIONS, REGIONS, 0, 0, 0));
    close_profiler(w, profiler);
    for (int i = 0; i < SUBMITTERS; i++) {
        ok(zeKernelDestroy(submitters[i].kernel));
        ok(zeCommandListDestroy(submitters[i].list));
    }
}

static void test_questions_while_it_collects(void **state) {
    enum { ROUNDS = OFTEN(100) };
    world *w = *state;
    zt_profiler *profiler = open_threaded(w);
    gpu.behave(SOFTGPU_SLOW_CALCULATION, INSTRUMENTED ? 0 : 8);
    for (int i = 0; i < ROUNDS; i++) {
        run_many(w, profiler, BATCH);
        zt_counts counts = zt_get_info(profiler).counts;
        assert_int_equal(counts.begun, (uint64_t)(i + 1) * BATCH);
        assert_int_equal(counts.begun, counts.collected + counts.in_flight);
    }
    collect_all(profiler);
    check_groups(profiler, ROUNDS * BATCH / 2, ROUNDS * BATCH / 2);
    check_work(w);
}

/* Two profilers have a thread each, and one calculation at a time. */
static void test_two_of_them(void **state) {
    world *w = *state;
    zt_profiler *profilers[2];
    gpu.behave(SOFTGPU_SLOW_CALCULATION, INSTRUMENTED ? 0 : 4);
    for (int i = 0; i < 2; i++)
        profilers[i] = open_threaded(w);
    for (int i = 0; i < 20; i++)
        run_many(w, profilers[i % 2], BATCH);
    for (int i = 0; i < 2; i++) {
        collect_all(profilers[i]);
        assert_counts(profilers[i], counted(10 * BATCH, 10 * BATCH, 0, 0, 0));
    }
    check_work(w);
}

/* ==== a process that ends ================================================================================= */

#if !INSTRUMENTED /* what is left open are leaks */
/* The driver is unloaded when the process exits: the thread has to have ended before. */
static void test_left_open_at_exit(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_threaded(w);
    run_many(w, profiler, 2 * BATCH);
    for (int i = 0; i < PROFILERS; i++)
        if (w->profilers[i] == profiler)
            w->profilers[i] = NULL;
}

static int leave_world(void **state) {
    free(*state); /* its Level Zero objects are left to the exit, too */
    return 0;
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_it_collects_unasked),
        TEST(test_results_are_complete_after_a_collection),
        TEST(test_recorded_lists),
        TEST(test_collection_that_has_to_wait),
        TEST(test_few_probes),
        TEST(test_sample_function_on_the_thread),
        TEST(test_it_blocks_all_signals),
        TEST(test_closing_delivers_everything),
        TEST(test_closing_while_the_sample_function_waits),
        TEST(test_device_lost),
        TEST(test_bad_calculation_costs_one_batch_at_most),
        TEST(test_submitters_and_the_thread),
        TEST(test_questions_while_it_collects),
        TEST(test_two_of_them),
#if !INSTRUMENTED
        cmocka_unit_test_setup_teardown(test_left_open_at_exit, open_world, leave_world),
#endif
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
