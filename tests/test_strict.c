/* Strict ISO C, without -pthread, and with other headers first, which decide what the C library declares. The
   threads of the library must still block all signals and sleep by the monotonic clock. */
#include <pthread.h>
#include <stdio.h>

/* Stand between the library and pthread. */
static int timed_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until);
static int initialise(pthread_cond_t *condition, const pthread_condattr_t *attributes);

#define pthread_cond_timedwait timed_wait
#define pthread_cond_init initialise
#define ZETOOLS_STATIC
#define ZETOOLS_IMPLEMENTATION
#include "zetools.h"
#undef pthread_cond_timedwait
#undef pthread_cond_init

#include "fixture.h"

/* The other tests depend on this. */
static void test_compiled_as_it_has_to_be(void **state) {
    (void)state;
#if !defined(__STRICT_ANSI__) || defined(_REENTRANT)
    fail_msg("not strict, or with -pthread");
#endif
}

/* Returns how many threads block signals. Waits for `wanted` of them, because new threads need a moment. */
static uint32_t await_deaf_threads(uint32_t wanted) {
    for (int i = 0; i < 30000 && count_deaf_threads() != wanted; i++)
        nap();
    return count_deaf_threads();
}

static void test_the_collecting_thread_blocks_signals(void **state) {
    world *w = (world *)*state;
    uint32_t threads = count_threads(), deaf = count_deaf_threads();
    zt_config config = {0};
    zt_profiler *profiler;
    config.groups = "ComputeBasic";
    config.thread = 1;
    assert_int_equal(zt_open(w->context, w->device, &config, &profiler), ZE_RESULT_SUCCESS);
    uint32_t deaf_now = await_deaf_threads(deaf + 1), now = count_threads();
    zt_close(profiler);
    assert_int_equal(now, threads + 1);
    assert_int_equal(deaf_now, deaf + 1);
    assert_int_equal(count_threads_left(threads), threads);
}

/* Opens and closes a stream. Returns how many threads it had, all of which must block signals. */
static uint32_t threads_of_a_stream(world *w, int reader) {
    uint32_t threads = count_threads(), deaf = count_deaf_threads();
    zt_stream_config config = {0};
    zt_stream *stream;
    config.thread = reader;
    assert_int_equal(zt_stream_open(w->context, w->device, &config, &stream), ZE_RESULT_SUCCESS);
    uint32_t more = count_threads() - threads, deaf_now = await_deaf_threads(deaf + more);
    zt_stream_close(stream, NULL, NULL, NULL);
    assert_int_equal(deaf_now, deaf + more);
    assert_int_equal(count_threads_left(threads), threads);
    return more;
}

/* The software device may have a thread for a stream, too. */
static void test_the_reader_of_a_stream_blocks_signals(void **state) {
    world *w = (world *)*state;
    uint32_t without_reader = threads_of_a_stream(w, 0);
    assert_int_equal(threads_of_a_stream(w, 1), without_reader + 1);
}

/* The thread that opens a profiler still receives signals. */
static void test_the_threads_of_the_application_do_not(void **state) {
    world *w = (world *)*state;
    uint32_t open = count_threads() - count_deaf_threads();
    zt_config config = {0};
    zt_profiler *profiler;
    config.thread = 1;
    assert_int_equal(zt_open(w->context, w->device, &config, &profiler), ZE_RESULT_SUCCESS);
    zt_close(profiler);
    assert_int_equal(count_threads() - count_deaf_threads(), open);
}

static struct timed_waits {
    int count;                    /* atomic, like the others */
    int conditions_by_realtime;   /* conditions of which the clock is not the monotonic one */
    int deadlines_by_other_clock; /* deadlines more than a minute ahead, which the library never waits */
} waits;

static int initialise(pthread_cond_t *condition, const pthread_condattr_t *attributes) {
    int pthread_condattr_getclock(const pthread_condattr_t *from, int *clock);
    int clock = -1;
    if (!attributes || pthread_condattr_getclock(attributes, &clock) != 0 || clock != CLOCK_MONOTONIC)
        __atomic_fetch_add(&waits.conditions_by_realtime, 1, __ATOMIC_RELAXED);
    return pthread_cond_init(condition, attributes);
}

static int timed_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (until->tv_sec > now.tv_sec + 60)
        __atomic_fetch_add(&waits.deadlines_by_other_clock, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&waits.count, 1, __ATOMIC_RELEASE);
    return pthread_cond_timedwait(condition, mutex, until);
}

/* A change of the wall clock must not change a sleep. */
static void test_threads_sleep_by_the_monotonic_clock(void **state) {
    world *w = (world *)*state;
    zt_config config = {0};
    zt_stream_config stream_config = {0};
    zt_profiler *profiler;
    zt_stream *stream;
    int count;
    config.thread = 1;
    stream_config.thread = 1;
    memset(&waits, 0, sizeof waits);
    assert_int_equal(zt_open(w->context, w->device, &config, &profiler), ZE_RESULT_SUCCESS);
    await(&waits.count);
    zt_close(profiler);
    count = waits.count;
    assert_int_equal(zt_stream_open(w->context, w->device, &stream_config, &stream), ZE_RESULT_SUCCESS);
    for (int i = 0; i < 10000 && __atomic_load_n(&waits.count, __ATOMIC_ACQUIRE) == count; i++)
        nap();
    zt_stream_close(stream, NULL, NULL, NULL);
    assert_true(waits.count > count);
    assert_int_equal(waits.conditions_by_realtime, 0);
    assert_int_equal(waits.deadlines_by_other_clock, 0);
}

/* The library knows the layout of a structure that strict modes hide: the system calls its handler again and again, and
   the library finds the handlers of others. */
static void do_nothing(int number) {
    (void)number;
}

static void test_a_signal_is_caught(void **state) {
    (void)state;
    assert_int_equal(zt__catch_signal("USR2"), ZT__SIGNAL_CAUGHT);
    for (int i = 0; i < 3; i++) {
        raise(SIGUSR2);
        assert_true(zt__await_signal(600));
    }
    assert_false(zt__await_signal(0)); /* nothing has come */
    assert_int_equal(zt__find_signal_obstacle(), ZT__SIGNAL_CAUGHT);
    assert_int_equal(zt__catch_signal("SIGUSR2"), ZT__SIGNAL_CAUGHT); /* the handler is the library's own */
    assert_true(signal(SIGUSR2, do_nothing) != SIG_DFL);
    assert_int_equal(zt__catch_signal("USR2"), ZT__SIGNAL_HANDLED);
    assert_int_equal(zt__find_signal_obstacle(), ZT__SIGNAL_HANDLED);
    assert_true(signal(SIGUSR2, SIG_IGN) == do_nothing);
    assert_int_equal(zt__catch_signal("USR2"), ZT__SIGNAL_IGNORED);
    assert_int_equal(zt__find_signal_obstacle(), ZT__SIGNAL_IGNORED);
    assert_true(signal(SIGUSR2, SIG_DFL) == SIG_IGN);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_compiled_as_it_has_to_be),
        TEST(test_the_collecting_thread_blocks_signals),
        TEST(test_the_reader_of_a_stream_blocks_signals),
        TEST(test_the_threads_of_the_application_do_not),
        TEST(test_threads_sleep_by_the_monotonic_clock),
        TEST(test_a_signal_is_caught),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
