/* The loader's tracing layer is off when the program starts. There every call of the layer succeeds, or says
   something else, and no callback ever comes: availability has to be proven. */
#include "fixture.h"

#include <dlfcn.h>
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
    text = zt_get_last_error(profiler);
    assert_result(zt_get_last_result(profiler), ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE);
    assert_contains(text, "[TRACING_OFF]");
    assert_contains(text, "ZE_ENABLE_TRACING_LAYER=1 in the environment before zeInit");
    ok(zt_trace_stop(profiler));
    run(w, profiler, "by hand");
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    assert_result(zt_auto(NULL), ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE);
    text = zt_get_last_error(NULL);
    assert_result(zt_get_last_result(NULL), ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE);
    assert_contains(text, "[TRACING_OFF]");
    check_work(w);
}

/* Turned on for as long as it is needed: then the functions of the loader are as they were. */
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

static void test_one_stops_and_another_goes_on(void **state) {
    world *w = *state;
    if (!can_be_turned_on())
        skip();
    zt_profiler *first = open_groups(w, "ComputeBasic"), *second = open_groups(w, "ComputeBasic");
    ok(zt_trace_start(first, NULL));
    ok(zt_trace_start(second, NULL));
    ok(zt_trace_stop(first));
    launch(w, w->immediate);
    finish_immediate(w, w->immediate);
    collect_all(second);
    assert_counts(first, counted(0, 0, 0, 0, 0));
    assert_counts(second, counted(1, 1, 0, 0, 0));
    check_work(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_the_layer_is_off),
        TEST(test_the_layer_is_turned_on),
        TEST(test_one_stops_and_another_goes_on),
    };
    return cmocka_run_group_tests(tests, start_untraced, NULL);
}
