/* ZETOOLS_NO_PAGE: the library has no page. Reports that are one are refused, and all others are written. */
#define ZETOOLS_NO_PAGE
#define ZETOOLS_STATIC
#define ZETOOLS_IMPLEMENTATION
#include "zetools.h"

#include "fixture.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int open_world_and_directory(void **state) {
    return make_directory(state) == 0 ? open_world(state) : -1;
}

static int close_world_and_directory(void **state) {
    return remove_directory(state) == 0 ? close_world(state) : -1;
}

#define IN_DIRECTORY(function)                                                                               \
    cmocka_unit_test_setup_teardown(function, open_world_and_directory, close_world_and_directory)

/* A profiler with one sample. */
static zt_profiler *measure(world *w) {
    zt_config config = {0};
    zt_profiler *profiler;
    config.groups = "ComputeBasic";
    config.timeline = 16;
    ok(zt_open(w->context, w->device, &config, &profiler));
    run(w, profiler, "region");
    ok(zt_collect(profiler, A_WHILE));
    return profiler;
}

static uint32_t count_files(void) {
    DIR *directory = opendir(test_directory);
    uint32_t count = 0;
    assert_non_null(directory);
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(directory);
    return count;
}

static void write_text(const char *name, const char *text) {
    FILE *file = fopen(in_directory(name), "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* Returns the begin of a file. */
static const char *text_of(const char *name) {
    static char text[64];
    FILE *file = fopen(in_directory(name), "rb");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    return text;
}

static int count_bytes(const void *bytes, size_t size, void *user) {
    (void)bytes;
    *(size_t *)user += size;
    return 0;
}

static void test_a_page_is_refused(void **state) {
    world *w = (world *)*state;
    zt_profiler *profiler = measure(w);
    static const char *const paths[] = {"run.html", "run.htm", "RUN.HTML"};
    size_t size = 0;
    assert_result(zt_write(profiler, ZT_FORMAT_HTML, count_bytes, &size),
                  ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    assert_int_equal(size, 0);
    assert_contains(zt_get_info(profiler).error, "[NO_PAGE] zt_write: ZETOOLS_NO_PAGE is defined");
    for (int i = 0; i < 3; i++)
        assert_result(zt_report(profiler, in_directory(paths[i])), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    assert_contains(zt_get_info(profiler).error, "[NO_PAGE] zt_report: ZETOOLS_NO_PAGE is defined");
    assert_int_equal(count_files(), 0);
    zt_close(profiler);
}

static void test_a_page_of_an_earlier_run_stays(void **state) {
    world *w = (world *)*state;
    zt_profiler *profiler = measure(w);
    write_text("run.html", "earlier");
    assert_result(zt_report(profiler, in_directory("run.html")), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    assert_string_equal(text_of("run.html"), "earlier");
    assert_int_equal(count_files(), 1);
    zt_close(profiler);
}

static void test_other_formats_are_written(void **state) {
    world *w = (world *)*state;
    zt_profiler *profiler = measure(w);
    for (int format = ZT_FORMAT_TABLE; format <= ZT_FORMAT_FOLDED; format++) {
        size_t size = 0;
        if (format != ZT_FORMAT_HTML)
            ok(zt_write(profiler, (zt_format)format, count_bytes, &size));
        assert_int_equal(size > 0, format != ZT_FORMAT_HTML);
    }
    zt_close(profiler);
}

/* A timeline that no report shows is not kept. */
static void test_a_page_at_close_keeps_no_timeline(void **state) {
    world *w = (world *)*state;
    zt_profiler *profiler;
    for (int is_trace = 0; is_trace < 2; is_trace++) {
        setenv("ZT_REPORT", in_directory(is_trace ? "run.trace.json" : "run.html"), 1);
        ok(zt_open(w->context, w->device, NULL, &profiler));
        unsetenv("ZT_REPORT");
        assert_true(!profiler->config.timeline == !is_trace);
        zt_close(profiler);
    }
}

static void test_others_of_a_list_are_written(void **state) {
    world *w = (world *)*state;
    char list[512];
    snprintf(list, sizeof list, "%s,%s,%s", in_directory("run.csv"), in_directory("run.html"),
             in_directory("run.json"));
    setenv("ZT_REPORT", list, 1);
    zt_profiler *profiler = measure(w);
    unsetenv("ZT_REPORT");
    zt_close(profiler);
    assert_contains(text_of("run.csv"), "region");
    assert_contains(text_of("run.json"), "{\"zetools\":");
    assert_int_equal(count_files(), 2);
    assert_contains(zt_last_error(NULL), "ZETOOLS_NO_PAGE");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(test_a_page_is_refused),
        IN_DIRECTORY(test_a_page_of_an_earlier_run_stays),
        IN_DIRECTORY(test_other_formats_are_written),
        IN_DIRECTORY(test_others_of_a_list_are_written), /* reports of later profilers have numbers */
        IN_DIRECTORY(test_a_page_at_close_keeps_no_timeline),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
