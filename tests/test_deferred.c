/* Calculation that is left for later: until it is asked for, until there is no more room, or to a thread of
   the library's own. */
#include "fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 64 }; /* reports that are calculated together */

static zt_profiler *open_deferred(world *w, uint32_t deferred, int thread) {
    zt_config config = config_of(w);
    config.deferred = deferred;
    config.deferred_thread = thread;
    return open_profiler(w, &config);
}

/* So many regions, read and not asked for. */
static void run_and_read(world *w, zt_profiler *profiler, int count) {
    for (int i = 0; i < count; i++)
        run(w, profiler, i % 2 ? "odd" : "even");
    finish_immediate(w, w->immediate);
    ok(zt_collect(profiler, 0));
}

static uint64_t calculations(void) {
    return calls("zetMetricGroupCalculateMetricValues");
}

static void check_groups(const zt_profiler *profiler, uint64_t even, uint64_t odd) {
    assert_close(stats_of(profiler, "even", "GPGPU_THREADGROUP_COUNT").sum, (double)(even * WORK_GROUPS));
    assert_close(stats_of(profiler, "odd", "GPGPU_THREADGROUP_COUNT").sum, (double)(odd * WORK_GROUPS));
}

/* ==== until results are asked for ========================================================================= */

static void test_calculated_when_asked(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_deferred(w, 4 * BATCH, 0);
    run_and_read(w, profiler, 2 * BATCH + 10);
    assert_int_equal(calculations(), 0);
    assert_counts(profiler, counted(2 * BATCH + 10, 2 * BATCH + 10, 0, 0, 0));
    assert_int_equal(calculations(), 3);
    check_groups(profiler, BATCH + 5, BATCH + 5);
    check_work(w);
}

static void test_each_question_calculates(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_deferred(w, 4 * BATCH, 0);
    zt_region_info info;
    zt_stats stats;
    run_and_read(w, profiler, 10);
    ok(zt_get_region(profiler, 0, &info));
    assert_int_equal(info.count, 5);
    run_and_read(w, profiler, 10);
    ok(zt_get_stats(profiler, 0, 0, &stats));
    assert_int_equal(stats.count, 10);
    run_and_read(w, profiler, 10);
    assert_int_equal(zt_get_counts(profiler).collected, 30);
    run_and_read(w, profiler, 10);
    ok(zt_collect(profiler, A_WHILE)); /* it waits for all, so for this too */
    assert_int_equal(calculations(), 4);
    check_work(w);
}

static int ignore_bytes(const void *bytes, size_t size, void *user) {
    (void)bytes, (void)user;
    return size == 0;
}

static void test_a_report_has_everything(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_deferred(w, 4 * BATCH, 0);
    run_and_read(w, profiler, 10);
    ok(zt_write(profiler, ZT_FORMAT_JSON, ignore_bytes, NULL));
    assert_int_equal(calculations(), 1);
    assert_int_equal(region_info(profiler, "odd").count, 5);
}

/* Columns and units are chosen by figures, so these come first. */
static void test_a_first_table_has_everything(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_deferred(w, 4 * BATCH, 0);
    const char *first, *metric, *units;
    run_and_read(w, profiler, 10);
    first = written_report(profiler, ZT_FORMAT_TABLE);
    metric = strstr(first, "GPU_BUSY");
    units = strstr(first, "\nregion ");
    assert_true(metric && units && strpbrk(units + 1, "%\n") != strchr(units + 1, '\n'));
    assert_contains(first, "Metrics are means of an instance");
}

static void count_sample(const zt_sample *sample, void *user) {
    (void)sample;
    atomic_fetch_add((atomic_int *)user, 1);
}

static void test_closing_calculates(void **state) {
    world *w = *state;
    for (int thread = 0; thread < 2; thread++) {
        atomic_int samples = 0;
        zt_config config = config_of(w);
        config.deferred = 4 * BATCH;
        config.deferred_thread = thread;
        config.sample = count_sample;
        config.sample_user = &samples;
        zt_profiler *profiler = open_profiler(w, &config);
        run_and_read(w, profiler, BATCH + 10);
        close_profiler(w, profiler);
        assert_int_equal(atomic_load(&samples), BATCH + 10);
    }
}

/* ==== until there is no more room ========================================================================= */

static void run_beyond_room(world *w, int thread) {
    enum { ROUNDS = OFTEN(100) };
    zt_profiler *profiler = open_deferred(w, BATCH, thread);
    uint64_t warm = 0;
    for (int i = 0; i < ROUNDS; i++) {
        run_and_read(w, profiler, 2 * BATCH);
        if (i == ROUNDS / 2)
            warm = heap_allocations();
    }
    if (!thread) /* with one, it depends on its pace when the last batch is made */
        assert_int_equal(heap_allocations(), warm);
    assert_true(calculations() >= 2 * ROUNDS - 16);
    assert_counts(profiler, counted(2 * BATCH * ROUNDS, 2 * BATCH * ROUNDS, 0, 0, 0));
    check_groups(profiler, BATCH * ROUNDS, BATCH * ROUNDS);
    check_identity(profiler);
    check_work(w);
}

static void test_a_full_buffer_is_calculated(void **state) {
    run_beyond_room(*state, 0);
}

static void test_a_full_buffer_with_a_thread(void **state) {
    run_beyond_room(*state, 1);
}

/* ==== on a thread of the library's own ==================================================================== */

typedef struct witness {
    pthread_t thread;
    atomic_int samples, elsewhere;
    zt_profiler *profiler;
    ze_result_t collect;
} witness;

static void see_sample(const zt_sample *sample, void *user) {
    witness *seen = (witness *)user;
    assert_true(sample->gpu_time_ns >= 0);
    if (atomic_load(&seen->samples) == 0 && seen->profiler)
        seen->collect = zt_collect(seen->profiler, 0);
    atomic_fetch_add(&seen->elsewhere, !pthread_equal(seen->thread, pthread_self()));
    atomic_fetch_add(&seen->samples, 1);
}

static void await_samples(witness *seen, int wanted) {
    uint64_t end = now_ns() + A_WHILE;
    while (atomic_load(&seen->samples) < wanted && now_ns() < end)
        nap();
    assert_true(atomic_load(&seen->samples) >= wanted);
}

static zt_profiler *open_witnessed(world *w, witness *seen) {
    zt_config config = config_of(w);
    config.deferred_thread = 1;
    config.sample = see_sample;
    config.sample_user = seen;
    return open_profiler(w, &config);
}

static void test_thread_calculates_unasked(void **state) {
    world *w = *state;
    witness seen = {.thread = pthread_self()};
    zt_profiler *profiler = open_witnessed(w, &seen);
    run_and_read(w, profiler, 3 * BATCH);
    await_samples(&seen, 3 * BATCH);
    assert_int_equal(atomic_load(&seen.elsewhere), 3 * BATCH);
    run_and_read(w, profiler, 10); /* too few for it */
    assert_counts(profiler, counted(3 * BATCH + 10, 3 * BATCH + 10, 0, 0, 0));
    assert_int_equal(atomic_load(&seen.elsewhere), 3 * BATCH);
    check_work(w);
}

static void test_sample_function_on_the_thread(void **state) {
    world *w = *state;
    witness seen = {.thread = pthread_self()};
    zt_profiler *profiler = open_witnessed(w, &seen);
    seen.profiler = profiler;
    run_and_read(w, profiler, BATCH);
    await_samples(&seen, BATCH);
    assert_counts(profiler, counted(BATCH, BATCH, 0, 0, 0)); /* the thread has left the function */
    assert_result(seen.collect, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    assert_int_equal(heard(w, "INSIDE_CALLBACK"), 1);
}

static void test_questions_while_it_calculates(void **state) {
    enum { ROUNDS = OFTEN(100) };
    world *w = *state;
    zt_profiler *profiler = open_deferred(w, 8 * BATCH, 1);
    gpu.behave(SOFTGPU_SLOW_CALCULATION, INSTRUMENTED ? 0 : 8);
    for (int i = 0; i < ROUNDS; i++) {
        run_and_read(w, profiler, BATCH);
        zt_counts counts = zt_get_counts(profiler);
        assert_int_equal(counts.begun, (uint64_t)(i + 1) * BATCH);
        assert_int_equal(counts.collected, counts.begun);
    }
    check_groups(profiler, ROUNDS * BATCH / 2, ROUNDS * BATCH / 2);
    check_work(w);
}

/* Threads that submit and the thread that calculates, all at once. */
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
        if (i % BATCH == 0)
            zt_collect(s->profiler, 0);
    }
    return NULL;
}

static void test_submitters_and_the_thread(void **state) {
    enum { SUBMITTERS = 2, REGIONS = SUBMITTERS * OFTEN(4000) };
    world *w = *state;
    zt_profiler *profiler = open_deferred(w, 4 * BATCH, 1);
    submitter submitters[SUBMITTERS];
    pthread_t threads[SUBMITTERS];
    for (int i = 0; i < SUBMITTERS; i++) {
        submitters[i] = (submitter){w, profiler, NULL, NULL};
        create_immediate(w, &submitters[i].list);
        create_kernel(w, &submitters[i].kernel);
        assert_int_equal(pthread_create(&threads[i], NULL, submit, &submitters[i]), 0);
    }
    for (int i = 0; i < SUBMITTERS; i++)
        pthread_join(threads[i], NULL);
    collect_all(profiler);
    assert_counts(profiler, counted(REGIONS, REGIONS, 0, 0, 0));
    check_identity(profiler);
    close_profiler(w, profiler);
    for (int i = 0; i < SUBMITTERS; i++) {
        finish_immediate(w, submitters[i].list);
        ok(zeKernelDestroy(submitters[i].kernel));
        ok(zeCommandListDestroy(submitters[i].list));
    }
}

typedef struct gate {
    atomic_int waits, open;
} gate;

static void wait_at_gate(const zt_sample *sample, void *user) {
    gate *at = (gate *)user;
    (void)sample;
    atomic_store(&at->waits, 1);
    while (!atomic_load(&at->open))
        nap();
}

/* What the thread uses stays, until it comes back. */
static void test_closing_while_the_sample_function_waits(void **state) {
    world *w = *state;
    gate at = {0, 0};
    zt_config config = config_of(w);
    config.deferred_thread = 1;
    config.sample = wait_at_gate;
    config.sample_user = &at;
    zt_profiler *profiler = open_profiler(w, &config);
    run_and_read(w, profiler, BATCH);
    while (!atomic_load(&at.waits))
        nap();
    uint64_t before = now_ns();
    zt_close(profiler);
    assert_true(now_ns() - before < A_WHILE);
    assert_int_equal(heard(w, "[THREAD_HANGS]"), 1);
    atomic_store(&at.open, 1);
    collect_all(profiler);
    assert_counts(profiler, counted(BATCH, BATCH, 0, 0, 0));
    close_profiler(w, profiler);
    check_work(w);
}

static void test_bad_calculation_costs_one_batch_at_most(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_deferred(w, 4 * BATCH, 1);
    inject("zetMetricGroupCalculateMetricValues", 1, ZE_RESULT_ERROR_UNKNOWN);
    run_and_read(w, profiler, 2 * BATCH);
    assert_counts(profiler, counted(2 * BATCH, 2 * BATCH, 0, 0, 0)); /* one by one, they succeed */
    check_work(w);
}

static void test_device_lost_with_reports_waiting(void **state) {
    world *w = *state;
    for (int thread = 0; thread < 2; thread++) {
        zt_profiler *profiler = open_deferred(w, 4 * BATCH, thread);
        run_and_read(w, profiler, BATCH / 2);
        gpu.lose_device();
        check_identity(profiler);
        assert_int_equal(zt_get_counts(profiler).collected, BATCH / 2); /* calculation is the host's */
        zt_close(profiler);
        for (int i = 0; i < PROFILERS; i++)
            if (w->profilers[i] == profiler)
                w->profilers[i] = NULL;
        gpu.restore_device();
    }
}

#if !INSTRUMENTED /* what is left open are leaks */
/* The driver is unloaded when the process exits: the thread has to have ended before. */
static void test_left_open_at_exit(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_deferred(w, 4 * BATCH, 1);
    run_and_read(w, profiler, 2 * BATCH);
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
        TEST(test_calculated_when_asked),
        TEST(test_each_question_calculates),
        TEST(test_a_report_has_everything),
        TEST(test_a_first_table_has_everything),
        TEST(test_closing_calculates),
        TEST(test_a_full_buffer_is_calculated),
        TEST(test_a_full_buffer_with_a_thread),
        TEST(test_thread_calculates_unasked),
        TEST(test_sample_function_on_the_thread),
        TEST(test_questions_while_it_calculates),
        TEST(test_submitters_and_the_thread),
        TEST(test_closing_while_the_sample_function_waits),
        TEST(test_bad_calculation_costs_one_batch_at_most),
        TEST(test_device_lost_with_reports_waiting),
#if !INSTRUMENTED
        cmocka_unit_test_setup_teardown(test_left_open_at_exit, open_world, leave_world),
#endif
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
