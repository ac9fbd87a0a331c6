/* ZETOOLS_NO_THREADS: the library starts no thread; a stream is polled. */
#define ZETOOLS_NO_THREADS
#define ZETOOLS_STATIC
#define ZETOOLS_IMPLEMENTATION
#include "zetools.h"

#include "fixture.h"

static void test_reader_is_refused(void **state) {
    world *w = (world *)*state;
    zt_stream_config config = zt_stream_config_default();
    zt_stream *stream;
    const char *text;
    config.reader = 1;
    assert_int_equal(zt_stream_open(w->context, w->device, &config, &stream),
                     ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    assert_null(stream);
    text = zt_get_last_error(NULL);
    assert_contains(text, "ZETOOLS_NO_THREADS");
}

static void test_polling_works(void **state) {
    world *w = (world *)*state;
    zt_stream *stream;
    assert_int_equal(zt_stream_open(w->context, w->device, NULL, &stream), ZE_RESULT_SUCCESS);
    for (int i = 0; i < 3; i++)
        assert_int_equal(zt_stream_read(stream, A_WHILE, NULL, NULL), ZE_RESULT_SUCCESS);
    assert_true(zt_stream_close(stream, NULL, NULL).reports > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_reader_is_refused),
        TEST(test_polling_works),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
