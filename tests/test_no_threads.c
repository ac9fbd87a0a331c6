/* ZETOOLS_NO_THREADS: the library starts no thread; a stream is polled. The tracer is there, and program debug is
   not. */
#define ZETOOLS_NO_THREADS
#define ZETOOLS_TRACER
#define ZETOOLS_STATIC
#define ZETOOLS_IMPLEMENTATION
#include "zetools.h"

#include "fixture.h"

#include <stdio.h>
#include <string.h>

static void test_reader_is_refused(void **state) {
    world *w = (world *)*state;
    zt_stream_config config = {0};
    zt_stream *stream;
    const char *text;
    config.thread = 1;
    assert_int_equal(zt_stream_open(w->context, w->device, &config, &stream),
                     ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    assert_null(stream);
    text = zt_last_error(NULL);
    assert_contains(text, "ZETOOLS_NO_THREADS");
}

static void test_polling_works(void **state) {
    world *w = (world *)*state;
    zt_stream *stream;
    assert_int_equal(zt_stream_open(w->context, w->device, NULL, &stream), ZE_RESULT_SUCCESS);
    for (int i = 0; i < 3; i++)
        assert_int_equal(zt_stream_read(stream, A_WHILE, NULL, NULL), ZE_RESULT_SUCCESS);
    assert_true(end_stream(stream, NULL, NULL).reports > 0);
}

/* The threads of the application collect, and the reason is logged. */
static char message[512];

static void keep_message(int result, const char *text, void *user) {
    (void)result, (void)user;
    if (strstr(text, "[NO_THREAD]"))
        snprintf(message, sizeof message, "%s", text);
}

static void test_no_thread_collects(void **state) {
    world *w = (world *)*state;
    uint32_t threads = count_threads();
    zt_config config = {0};
    zt_profiler *profiler;
    config.groups = "ComputeBasic";
    config.thread = 1;
    config.log = keep_message;
    assert_int_equal(zt_open(w->context, w->device, &config, &profiler), ZE_RESULT_SUCCESS);
    assert_int_equal(count_threads(), threads);
    assert_contains(message, "ZETOOLS_NO_THREADS");
    for (int i = 0; i < 100; i++) {
        zt_region region = zt_begin(profiler, w->immediate, "region");
        launch(w, w->immediate);
        zt_end(&region);
    }
    finish_immediate(w, w->immediate);
    assert_int_equal(zt_collect(profiler, A_WHILE), ZE_RESULT_SUCCESS);
    assert_int_equal(zt_get_info(profiler).counts.collected, 100);
    zt_close(profiler);
    check_work(w);
}

/* A copy of the library without this option has started the thread. This copy closes the profiler. */
static void test_a_thread_of_another_copy_is_stopped(void **state) {
    world *w = (world *)*state;
    uint32_t threads = count_threads();
    zt_config config = config_of(w);
    config.thread = 1;
    zt_profiler *profiler = open_profiler(w, &config);
    assert_int_equal(count_threads(), threads + 1);
    for (int i = 0; i < PROFILERS; i++)
        if (w->profilers[i] == profiler)
            w->profilers[i] = NULL;
    zt_close(profiler);
    assert_int_equal(count_threads_left(threads), threads);
}

/* Without a thread, nobody follows a signal. */
static void test_a_signal_is_refused(void **state) {
    zt_auto_config config = {0};
    (void)state;
    config.signal = "USR2";
    capture_output();
    ze_result_t result = zt_auto(&config);
    assert_true(captured_output() > 0); /* zt_auto prints why nothing is traced */
    assert_int_equal(result, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    assert_contains(zt_last_error(NULL), "[NO_SIGNAL]");
    assert_contains(zt_last_error(NULL), "ZETOOLS_NO_THREADS is defined");
}

int main(void) {
    setenv("ZE_ENABLE_TRACING_LAYER", "1", 1);
    const struct CMUnitTest tests[] = {
        TEST(test_reader_is_refused),   TEST(test_polling_works),
        TEST(test_no_thread_collects),  TEST(test_a_thread_of_another_copy_is_stopped),
        TEST(test_a_signal_is_refused),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
