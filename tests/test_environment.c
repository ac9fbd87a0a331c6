/* What the environment asks for in programs that know nothing of it: ZT_REPORT, ZT_LOG, ZT_TIMELINE, ZT_PHASES_AT. Each
   program is a process of its own, because the profilers of a process are numbered. */
#define _GNU_SOURCE
#include "fixture.h"
#include "rows.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define IN_DIRECTORY(function) cmocka_unit_test_setup_teardown(function, make_directory, remove_directory)

/* Returns what a program has written to a file, or NULL. */
static const char *text_of(const char *name) {
    static char text[1 << 19];
    FILE *file = fopen(in_directory(name), "r");
    if (!file)
        return NULL;
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    return text;
}

/* Runs a program in the directory, with these values of variables; NULL stands for the end. */
static void run_program(void (*program)(world *w), const char *const *variables) {
    int status;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        void *state = NULL;
        start(&state);
        open_world(&state);
        for (; *variables; variables += 2)
            setenv(variables[0], variables[1], 1);
        if (chdir(test_directory) != 0 || !freopen("output", "w", stdout) || !freopen("errors", "w", stderr))
            _exit(99);
        program(state);
        close_world(&state);
        exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_msg("the program ended with status 0x%x:\n%s", (unsigned)status, text_of("errors"));
}

#define RUN(program, ...) run_program(program, (const char *const[]){__VA_ARGS__, NULL})

/* Layers of the loader print as well. */
static void assert_no_messages(void) {
    assert_null(strstr(text_of("errors"), "zetools"));
}

/* A profiler without a log function. */
static zt_profiler *open_silent(world *w, const char *groups) {
    zt_config config = {0};
    zt_profiler *profiler = NULL;
    config.groups = groups;
    ok(zt_open(w->context, w->device, &config, &profiler));
    return profiler;
}

/* ==== ZT_REPORT =========================================================================================== */

/* It neither collects nor reports. */
static void measure_and_close(world *w) {
    zt_profiler *profiler = open_silent(w, "ComputeBasic");
    run(w, profiler, "region");
    if (text_of("run.csv"))
        fail_msg("there is a report before zt_close");
    zt_close(profiler);
}

static void test_reports_at_close(void **state) {
    (void)state;
    RUN(measure_and_close, "ZT_REPORT", "run.csv, run.JSON,table");
    assert_contains(text_of("run.csv"), "\n\"region\",\"GPU time\",\"\",\"\",\"ns\",duration,sum,1,");
    assert_contains(text_of("run.JSON"), "{\"name\":\"region\",\"count\":1,");
    assert_contains(text_of("output"), "\nregion ");
    assert_no_messages();
}

static void test_no_reports(void **state) {
    static const char *const values[] = {"", "0", "off", " , "};
    (void)state;
    for (int i = 0; i < 4; i++) {
        RUN(measure_and_close, "ZT_REPORT", values[i]);
        assert_string_equal(text_of("output"), "");
        assert_no_messages();
        assert_null(text_of(values[i][0] ? values[i] : "none"));
    }
}

/* A trace needs config.timeline, which is set for it. */
static void test_a_trace_at_close(void **state) {
    (void)state;
    RUN(measure_and_close, "ZT_REPORT", "run.trace.json");
    assert_contains(text_of("run.trace.json"), "\"name\":\"region\"");
}

/* So it is for a page, which shows a strip of it. */
static void test_a_page_at_close(void **state) {
    (void)state;
    RUN(measure_and_close, "ZT_REPORT", "run.html");
    assert_contains(text_of("run.html"), "\"timeline\":{\"samples\":");
}

/* %p is the number of the process, %q{NAME} a variable; what is neither stays. */
static void test_paths_with_variables(void **state) {
    (void)state;
    RUN(measure_and_close, "ZT_REPORT", "%q{RANK}.run%q{NOT_SET}.csv,%d%.csv,%q{RANK,%q{}.csv,%p,a}.csv",
        "RANK", "a.b");
    assert_contains(text_of("a.b.run.csv"), "region");
    assert_contains(text_of("%d%.csv"), "region");
    assert_contains(text_of("%q{RANK"), "region");
    assert_contains(text_of(".csv"), "region");
    assert_contains(text_of("a}.csv"), "region");
    assert_no_messages();
}

/* A path that is too long for any system is not opened; what is beside it is. */
static void test_a_path_that_is_too_long(void **state) {
    static char longest[6001];
    (void)state;
    memset(longest, 'x', sizeof longest - 1);
    RUN(measure_and_close, "ZT_REPORT", "%q{LONG}.csv,%q{LONG}%p.csv,run.csv", "LONG", longest);
    assert_contains(text_of("run.csv"), "region");
    assert_contains(text_of("errors"), "zetools: [");
    assert_contains(text_of("errors"), "xxxxxxxx");
}

static void test_standard_output_as_a_device(void **state) {
    (void)state;
    RUN(measure_and_close, "ZT_REPORT", "/dev/stdout");
    assert_contains(text_of("output"), "\nregion ");
    assert_no_messages();
}

/* The rows of a stream are in the trace, though zt_close detaches it. */
static void measure_beside_a_stream(world *w) {
    zt_stream_config config = stream_config_of(w);
    zt_profiler *profiler = open_silent(w, "");
    config.profiler = profiler;
    zt_stream *stream = open_stream_with(w, &config);
    run(w, profiler, "region");
    ok(zt_stream_read(stream, A_WHILE, NULL, NULL));
    zt_close(profiler);
    close_rows(stream, NULL);
}

static void test_a_trace_with_a_stream(void **state) {
    (void)state;
    RUN(measure_beside_a_stream, "ZT_REPORT", "run.trace.json");
    assert_contains(text_of("run.trace.json"), "\"name\":\"region\"");
    assert_contains(text_of("run.trace.json"), "{\"ph\":\"C\",\"name\":\"");
}

static void measure_in_three_profilers(world *w) {
    zt_profiler *first = open_silent(w, ""), *second = open_silent(w, "");
    run(w, second, "of the second");
    run(w, first, "of the first");
    zt_close(second);
    zt_close(first);
    zt_profiler *third = open_silent(w, "");
    run(w, third, "of the third");
    zt_close(third);
}

static void test_several_profilers(void **state) {
    (void)state;
    RUN(measure_in_three_profilers, "ZT_REPORT", "run.csv,run,a.b/../run.x.trace.json,table");
    assert_contains(text_of("run.csv"), "of the first");
    assert_contains(text_of("run.2.csv"), "of the second");
    assert_contains(text_of("run.3.csv"), "of the third");
    assert_contains(text_of("run.2"), "of the second");
    assert_int_equal(occurrences(text_of("output"), "\nof the "), 3);
    assert_contains(text_of("errors"), "a.b/../run.x.3.trace.json");
}

/* Profilers of packed statistics are means to an end, so nothing is reported of them. */
static void unpack_and_close(world *w) {
    zt_profiler *profiler = open_silent(w, ""), *unpacked;
    size_t size = 0;
    run(w, profiler, "region");
    collect_all(profiler);
    ok(zt_pack(profiler, NULL, &size));
    void *buffer = malloc(size);
    ok(zt_pack(profiler, buffer, &size));
    ok(zt_unpack(buffer, size, NULL, &unpacked));
    free(buffer);
    zt_close(unpacked);
    assert_null(text_of("run.csv"));
    zt_close(profiler);
}

static void test_not_of_packed_statistics(void **state) {
    (void)state;
    RUN(unpack_and_close, "ZT_REPORT", "run.csv");
    assert_contains(text_of("run.csv"), "region");
    assert_null(text_of("run.2.csv"));
}

/* The suffix is refused when the profiler opens, and what can be written is written. */
static void open_and_look(world *w) {
    zt_profiler *profiler = open_silent(w, "ComputeBasic");
    assert_result(last_result(), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_contains(zt_get_info(profiler).error, "[UNKNOWN_SUFFIX]");
    fflush(stderr);
    assert_contains(text_of("errors"), "zetools: [UNKNOWN_SUFFIX]");
    run(w, profiler, "region");
    zt_close(profiler);
}

static void test_unknown_suffixes(void **state) {
    (void)state;
    RUN(open_and_look, "ZT_REPORT", "run.xlsx,run.csv");
    assert_contains(text_of("errors"), "'run.xlsx'");
    assert_contains(text_of("run.csv"), "region");
}

/* The table takes the place of all reports that could not be written, once. */
static void test_reports_that_cannot_be_written(void **state) {
    (void)state;
    RUN(measure_and_close, "ZT_REPORT", "/nowhere/at/all.csv,/nowhere/at/all.json");
    assert_contains(text_of("errors"), "zetools: [CANNOT_WRITE]");
    assert_contains(text_of("errors"), "'/nowhere/at/all.csv'");
    assert_contains(text_of("errors"), "'/nowhere/at/all.json'");
    assert_int_equal(occurrences(text_of("errors"), "Software device"), 1);
    RUN(measure_and_close, "ZT_REPORT", "/nowhere/at/all.csv,/nowhere/at/all.json", "ZT_LOG", "stderr");
    assert_int_equal(occurrences(text_of("errors"), "[CANNOT_WRITE]"), 2);
    assert_contains(text_of("errors"), "\nregion ");
    assert_string_equal(text_of("output"), "");
}

/* Opens a profiler again and again, with another allocation refused each time, until that of the paths is. */
static void open_without_memory_for_paths(world *w) {
    zt_config config = config_of(w);
    zt_profiler *profiler = NULL;
    config.groups = "";
    for (uint64_t nth = 1; !heard(w, "the paths of reports"); nth++) {
        assert_true(nth < 1000);
        zt_close(profiler);
        w->message_count = 0;
        fail_heap(nth, 0);
        ze_result_t result = zt_open(w->context, w->device, &config, &profiler);
        fail_heap(0, 0);
        if (result != ZE_RESULT_SUCCESS)
            assert_result(result, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    }
    assert_result(last_result(), ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    remove("run.csv"); /* of an earlier profiler, if any */
    run(w, profiler, "region");
    collect_all(profiler);
    assert_int_equal(region_info(profiler, "region").count, 1);
    zt_close(profiler);
}

/* The program is measured all the same, and who has set the variable sees why there is no report. */
static void test_no_memory_for_the_paths(void **state) {
    (void)state;
    RUN(open_without_memory_for_paths, "ZT_REPORT", "run.csv");
    assert_int_equal(occurrences(text_of("errors"), "zetools: [NO_MEMORY] zt_open"), 1);
    assert_contains(text_of("errors"), "the paths of reports");
    assert_null(text_of("run.csv"));
}

/* ==== ZT_LOG ============================================================================================== */

static void cause_messages(world *w) {
    zt_profiler *profiler = open_silent(w, "ComputeBasic");
    zt_find_metric(profiler, "NO_SUCH");
    zt_find_metric(profiler, "NO_SUCH_EITHER");
    zt_find_metric(profiler, "NO_SUCH"); /* each message is logged once */
    zt_close(profiler);
    assert_result(zt_open(NULL, w->device, NULL, &profiler), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
}

static void test_messages_on_standard_error(void **state) {
    (void)state;
    RUN(cause_messages, "ZT_LOG", "stderr");
    assert_int_equal(occurrences(text_of("errors"), "zetools: [NO_SUCH_METRIC]"), 2);
    assert_int_equal(occurrences(text_of("errors"), "zetools: [NULL_ARGUMENT] zt_open: context"), 1);
    RUN(cause_messages, "ZT_LOG", "off");
    assert_no_messages();
}

static void log_of_the_program(world *w) {
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    zt_find_metric(profiler, "NO_SUCH");
    assert_int_equal(heard(w, "NO_SUCH_METRIC"), 1);
    w->message_count = 0;
    close_profiler(w, profiler);
}

static void test_the_log_of_the_program_is_first(void **state) {
    (void)state;
    RUN(log_of_the_program, "ZT_LOG", "stderr");
    assert_no_messages();
}

static void messages_of_a_stream(world *w) {
    zt_stream_config config = {0};
    zt_stream *stream;
    config.group = "ComputeBasic";
    ok(zt_stream_open(w->context, w->device, &config, &stream));
    zt_stream_find_metric(stream, "NO_SUCH");
    zt_stream_close(stream, NULL, NULL, NULL);
}

static void test_messages_of_a_stream(void **state) {
    (void)state;
    RUN(messages_of_a_stream, "ZT_LOG", "stderr");
    assert_int_equal(occurrences(text_of("errors"), "[NO_SUCH_METRIC]"), 1);
}

/* ==== ZT_TIMELINE ========================================================================================= */

static void *refuse_much(size_t size, void *user) {
    (void)user;
    return size > (size_t)1 << 30 ? NULL : malloc(size);
}

static void release(void *memory, void *user) {
    (void)user;
    free(memory);
}

static void open_without_enough_memory(world *w) {
    zt_config config = config_of(w);
    const zt_allocator allocator = {refuse_much, release, NULL};
    zt_profiler *profiler = NULL;
    config.allocator = allocator;
    if (zt_open(w->context, w->device, &config, &profiler) != ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY || profiler)
        exit(3);
}

/* The most samples that a timeline can keep: there is no memory for them. */
static void test_a_timeline_without_end(void **state) {
    (void)state;
    RUN(open_without_enough_memory, "ZT_TIMELINE", "4294967295");
    assert_no_messages();
}

static void write_trace(world *w) {
    zt_profiler *profiler = open_silent(w, "");
    for (int i = 0; i < 5; i++)
        run(w, profiler, "region");
    collect_all(profiler);
    zt_report(profiler, "run.trace.json");
    zt_close(profiler);
}

static void test_a_timeline(void **state) {
    (void)state;
    RUN(write_trace, "ZT_TIMELINE", "3");
    assert_int_equal(occurrences(text_of("run.trace.json"), "\"name\":\"region\""), 3);
    assert_no_messages();
}

static void test_values_without_a_meaning(void **state) {
    (void)state;
    RUN(write_trace, "ZT_TIMELINE", "long", "ZT_LOG", "log.txt");
    assert_null(text_of("run.trace.json"));
    assert_contains(text_of("errors"), "zetools: [BAD_VARIABLE] zt_open: ZT_TIMELINE is 'long'");
    assert_contains(text_of("errors"), "zetools: [BAD_VARIABLE] zt_open: ZT_LOG is 'log.txt'");
    RUN(write_trace, "ZT_TIMELINE", "4294967296");
    assert_contains(text_of("errors"), "zetools: [BAD_VARIABLE] zt_open: ZT_TIMELINE is '4294967296'");
}

/* What the program has configured counts if a variable is empty. */
static void keep_what_is_configured(world *w) {
    zt_config config = {0};
    zt_profiler *profiler;
    config.groups = "";
    config.timeline = 3;
    ok(zt_open(w->context, w->device, &config, &profiler));
    ok(zt_set_peaks(profiler, 1e9, 2e9, "of the program"));
    for (int i = 0; i < 5; i++)
        run(w, profiler, "region");
    collect_all(profiler);
    ok(zt_report(profiler, "run.trace.json"));
    ok(zt_report(profiler, "run.json"));
    zt_close(profiler);
}

static void test_empty_values(void **state) {
    (void)state;
    RUN(keep_what_is_configured, "ZT_TIMELINE", "", "ZT_PEAKS", "", "ZT_LOG", "", "ZT_REPORT", "");
    assert_int_equal(occurrences(text_of("run.trace.json"), "\"name\":\"region\""), 3);
    assert_contains(text_of("run.json"), "\"source\":\"of the program\",");
    assert_no_messages();
}

/* ==== ZT_PHASES_AT ======================================================================================== */

/* Returns whether a sample is in the phase of its append. Its list is executed in another one. */
static int counts_at_append(world *w, int is_configured) {
    zt_config config = {0};
    zt_profiler *profiler;
    zt_region_info info;
    config.groups = "";
    config.phases_at_append = is_configured;
    ok(zt_open(w->context, w->device, &config, &profiler));
    ZT_PHASE("record")
        append(w, profiler, w->list, "kernel");
    ok(zeCommandListClose(w->list));
    ZT_PHASE("run")
        execute(w, profiler, w->list);
    collect_all(profiler);
    ok(zt_get_region(profiler, zt_find_path(profiler, "record"), &info));
    zt_close(profiler);
    reset_list(w->list);
    return info.count == 1;
}

static void expect_what_is_configured(world *w) {
    if (!counts_at_append(w, 1) || counts_at_append(w, 0))
        exit(4);
}

static void expect_the_append(world *w) {
    if (!counts_at_append(w, 0))
        exit(4);
}

static void expect_the_submission(world *w) {
    if (counts_at_append(w, 1))
        exit(4);
}

static void test_phases_at(void **state) {
    (void)state;
    RUN(expect_the_append, "ZT_PHASES_AT", "append");
    RUN(expect_the_submission, "ZT_PHASES_AT", "submit");
    RUN(expect_what_is_configured, "ZT_PHASES_AT", "");
    assert_no_messages();
    RUN(expect_what_is_configured, "ZT_PHASES_AT", "appended");
    assert_contains(text_of("errors"), "zetools: [BAD_VARIABLE] zt_open: ZT_PHASES_AT is 'appended' in the "
                                       "environment, and not 'append' or 'submit'. It is ignored.");
}

/* ==== ZT_PEAKS ============================================================================================ */

static void set_peaks(world *w) {
    zt_profiler *profiler = open_silent(w, "ComputeBasic");
    ok(zt_set_peaks(profiler, 1e9, 2e9, "of the program"));
    zt_report(profiler, "run.json");
    zt_close(profiler);
}

static void test_peaks(void **state) {
    static char endless[201]; /* digits, more than any number has */
    (void)state;
    memset(endless, '1', sizeof endless - 1);
    RUN(set_peaks, "ZT_PEAKS", "456e9,14.6e12");
    assert_contains(text_of("run.json"),
                    "\"peaks\":{\"source\":\"given by ZT_PEAKS\",\"bytes_per_second\":456000000000,"
                    "\"operations_per_second\":14600000000000}");
    RUN(set_peaks, "ZT_PEAKS", "456e9");
    assert_contains(text_of("run.json"), "\"operations_per_second\":null}");
    assert_no_messages();
    static const char *const wrong[] = {"fast", "1,2,3", "1,", "-1", "1e9 2e9", "inf", endless};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        RUN(set_peaks, "ZT_PEAKS", wrong[i]);
        assert_contains(text_of("run.json"), "\"source\":\"of the program\",");
        assert_contains(text_of("errors"), "zetools: [BAD_VARIABLE] zt_open: ZT_PEAKS is '");
    }
}

/* The log prints the message, too, which appears once all the same. */
static void test_a_wrong_value_is_logged_once(void **state) {
    (void)state;
    RUN(set_peaks, "ZT_PEAKS", "fast", "ZT_LOG", "stderr");
    assert_int_equal(occurrences(text_of("errors"), "zetools: [BAD_VARIABLE] zt_open: ZT_PEAKS is 'fast'"),
                     1);
}

/* ==== programs with more rights than their user ============================================================ */

static void measure_with_extra_rights(world *w) {
    zt_profiler *profiler;
    assume_extra_rights(1);
    profiler = open_silent(w, "ComputeBasic");
    run(w, profiler, "region");
    zt_report(profiler, "of-the-program.csv");
    zt_close(profiler);
}

/* Whoever starts a set-user-ID program must not choose which files it writes, or anything else. */
static void test_extra_rights(void **state) {
    (void)state;
    RUN(measure_with_extra_rights, "ZT_REPORT", "run.csv,run.xlsx,table", "ZT_LOG", "log.txt", "ZT_TIMELINE",
        "long", "ZT_PEAKS", "fast", "ZT_GROUPS", "NO_SUCH");
    assert_contains(text_of("of-the-program.csv"), "GpuTime");
    assert_null(text_of("run.csv"));
    assert_string_equal(text_of("output"), "");
    assert_no_messages();
}

/* What the system cannot do is asked for: the software device then fails as Intel's driver does. */
static void test_debug_without_the_system(void **state) {
    (void)state;
    static const struct {
        const char *asked, *behaviour;
        ze_result_t expected;
    } cases[] = {
        {"1", "DEBUG_UNSUPPORTED", ZE_RESULT_ERROR_UNINITIALIZED},
        {"0", "DEBUG_UNSUPPORTED", ZE_RESULT_SUCCESS},
        {"1", "", ZE_RESULT_SUCCESS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int status;
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            setenv("ZET_ENABLE_PROGRAM_DEBUGGING", cases[i].asked, 1);
            setenv("SOFTGPU_BEHAVE", cases[i].behaviour, 1);
            _exit(zeInit(0) != cases[i].expected);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(test_reports_at_close),
        IN_DIRECTORY(test_no_reports),
        IN_DIRECTORY(test_a_trace_at_close),
        IN_DIRECTORY(test_a_trace_with_a_stream),
        IN_DIRECTORY(test_a_page_at_close),
        IN_DIRECTORY(test_paths_with_variables),
        IN_DIRECTORY(test_a_path_that_is_too_long),
        IN_DIRECTORY(test_standard_output_as_a_device),
        IN_DIRECTORY(test_several_profilers),
        IN_DIRECTORY(test_not_of_packed_statistics),
        IN_DIRECTORY(test_unknown_suffixes),
        IN_DIRECTORY(test_reports_that_cannot_be_written),
        IN_DIRECTORY(test_no_memory_for_the_paths),
        IN_DIRECTORY(test_messages_on_standard_error),
        IN_DIRECTORY(test_the_log_of_the_program_is_first),
        IN_DIRECTORY(test_messages_of_a_stream),
        IN_DIRECTORY(test_a_timeline),
        IN_DIRECTORY(test_values_without_a_meaning),
        IN_DIRECTORY(test_empty_values),
        IN_DIRECTORY(test_phases_at),
        IN_DIRECTORY(test_peaks),
        IN_DIRECTORY(test_a_wrong_value_is_logged_once),
        IN_DIRECTORY(test_a_timeline_without_end),
        IN_DIRECTORY(test_extra_rights),
        cmocka_unit_test(test_debug_without_the_system),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
