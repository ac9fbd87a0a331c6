/* The loader's tracing layer is off when the program starts. Then its functions succeed, or fail with any
   result, and no callback comes. */
#include "fixture.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static int start_untraced(void **state) {
    unsetenv("ZE_ENABLE_TRACING_LAYER");
    return start(state);
}

static int can_be_turned_on(void) {
    return dlsym(RTLD_DEFAULT, "zelEnableTracingLayer") != NULL;
}

static void test_the_layer_is_off(void **state) {
    world *w = *state;
    const char *text;
    if (can_be_turned_on())
        skip();
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    assert_result(zt_trace_start(profiler, NULL), ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE);
    text = zt_get_info(profiler).error;
    assert_result(last_result(), ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE);
    assert_contains(text, "[TRACING_OFF]");
    assert_contains(text, "ZE_ENABLE_TRACING_LAYER=1 in the environment before zeInit");
    ok(zt_trace_stop(profiler));
    run(w, profiler, "by hand");
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    assert_result(zt_auto(NULL), ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE);
    text = zt_last_error(NULL);
    assert_result(last_result(), ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE);
    assert_contains(text, "[TRACING_OFF]");
    check_work(w);
}

/* The layer is on only while something is traced. */
static void test_the_layer_is_turned_on(void **state) {
    world *w = *state;
    if (!can_be_turned_on())
        skip();
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    for (uint64_t i = 1; i <= 5; i++) {
        ok(zt_trace_start(profiler, NULL));
        launch(w, w->immediate);
        finish_immediate(w, w->immediate);
        collect_all(profiler);
        assert_counts(profiler, counted(i, i, 0, 0, 0));
        ok(zt_trace_stop(profiler));
        launch(w, w->immediate);
    }
    finish_immediate(w, w->immediate);
    assert_counts(profiler, counted(5, 5, 0, 0, 0));
    check_work(w);
}

/* One tracer runs in a process: the second has the layer when the first has stopped. */
static void test_one_stops_and_another_starts(void **state) {
    world *w = *state;
    if (!can_be_turned_on())
        skip();
    zt_profiler *first = open_groups(w, "ComputeBasic"), *second = open_groups(w, "ComputeBasic");
    ok(zt_trace_start(first, NULL));
    assert_result(zt_trace_start(second, NULL), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    ok(zt_trace_stop(first));
    ok(zt_trace_start(second, NULL));
    launch(w, w->immediate);
    finish_immediate(w, w->immediate);
    collect_all(second);
    assert_counts(first, counted(0, 0, 0, 0, 0));
    assert_counts(second, counted(1, 1, 0, 0, 0));
    check_work(w);
}

typedef struct waiter {
    ze_event_handle_t event;
    atomic_int has_ended;
    ze_result_t result;
} waiter;

static void *wait_for_event(void *argument) {
    waiter *me = argument;
    me->result = zeEventHostSynchronize(me->event, A_WHILE);
    atomic_store(&me->has_ended, 1);
    return NULL;
}

/* The loader destroys a tracer only when no traced call is in progress. A start that fails does not wait for
   that. */
static void test_a_start_fails_with_a_call_in_progress(void **state) {
    world *w = *state;
    waiter blocked = {w->done, 0, ZE_RESULT_ERROR_UNKNOWN};
    zt_trace_config timed = {0};
    pthread_t thread;
    if (!can_be_turned_on())
        skip();
    zt_profiler *first = open_with_timeout(w, 50000000), *second = open_groups(w, "ComputeBasic");
    timed.calls = "zeEventHostSynchronize";
    ok(zt_trace_start(first, &timed));
    uint64_t before = calls("zeEventHostSynchronize"), end = now_ns() + A_WHILE;
    assert_int_equal(pthread_create(&thread, NULL, wait_for_event, &blocked), 0);
    while (calls("zeEventHostSynchronize") == before) {
        assert_true(now_ns() < end);
        nap();
    }
    assert_result(zt_trace_stop(first), ZE_RESULT_NOT_READY);
    hide_symbol("zelEnableTracingLayer");
    ze_result_t result = zt_trace_start(second, NULL);
    int waited = atomic_load(&blocked.has_ended);
    hide_symbol(NULL);
    ok(zeEventHostSignal(w->done));
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_result(blocked.result, waited ? ZE_RESULT_NOT_READY : ZE_RESULT_SUCCESS);
    assert_result(result, ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE);
    assert_false(waited);
    ok(zeEventHostReset(w->done));
    check_work(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_the_layer_is_off),
        TEST(test_the_layer_is_turned_on),
        TEST(test_one_stops_and_another_starts),
        TEST(test_a_start_fails_with_a_call_in_progress),
    };
    return cmocka_run_group_tests(tests, start_untraced, NULL);
}
