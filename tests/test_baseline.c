/* Two runs: how the report of one is compared with that of an earlier one. */
#define ZETOOLS_IMPLEMENTATION
#define ZETOOLS_STATIC
#include "fixture.h"

#include <stdlib.h>

/* ==== JSON ================================================================================================ */

static zt__json_reader reader_of(char *text) {
    zt__json_reader reader = {text, text + strlen(text), 0};
    return reader;
}

static void test_values(void **state) {
    (void)state;
    char text[] = " { \"a\" : -1.5e3 , "
                  "\"b\":[1,2],\"c\":{\"d\":[{}]},\"e\":null,\"f\":\"x\\u00e4\\n\\\"\\ud83d\\ude00\" } ";
    zt__json_reader reader = reader_of(text);
    char *key = NULL;
    double sum = 0;
    assert_true(zt__enter_json(&reader, '{'));
    assert_true(zt__next_json(&reader, &key));
    assert_string_equal(key, "a");
    assert_true(zt__read_json_number(&reader) == -1500);
    assert_true(zt__next_json(&reader, &key));
    assert_true(zt__enter_json(&reader, '['));
    while (zt__next_json(&reader, NULL))
        sum += zt__read_json_number(&reader);
    assert_true(sum == 3);
    assert_true(zt__next_json(&reader, &key));
    assert_string_equal(key, "c");
    zt__skip_json(&reader);
    assert_true(zt__next_json(&reader, &key));
    assert_true(isnan(zt__read_json_number(&reader)));
    assert_true(zt__next_json(&reader, &key));
    assert_string_equal(zt__read_json_string(&reader), "x\xc3\xa4\n\"\xf0\x9f\x98\x80");
    assert_false(zt__next_json(&reader, &key));
    assert_false(reader.is_damaged);
}

/* A value of another kind than is expected is skipped. */
static void test_other_kinds(void **state) {
    (void)state;
    char text[] = "[\"a\", 1, [2], {\"b\":3}, true]";
    for (int kind = 0; kind < 4; kind++) {
        char copy[sizeof text];
        memcpy(copy, text, sizeof text);
        zt__json_reader reader = reader_of(copy);
        int values = 0;
        assert_true(zt__enter_json(&reader, '['));
        for (; zt__next_json(&reader, NULL); values++) {
            if (kind == 0)
                zt__skip_json(&reader);
            else if (kind == 1)
                zt__read_json_string(&reader);
            else if (kind == 2)
                zt__read_json_number(&reader);
            else if (zt__enter_json(&reader, '{'))
                for (char *key = NULL; zt__next_json(&reader, &key);)
                    zt__skip_json(&reader);
        }
        assert_int_equal(values, 5);
        assert_false(reader.is_damaged);
    }
}

/* Reads all of a document, whatever it is. */
static int is_whole(char *text, size_t size) {
    zt__json_reader reader = {text, text + size, 0};
    zt__skip_json(&reader);
    return !reader.is_damaged;
}

/* What is cut off or changed anywhere is not read beyond its end. The sanitizers look on. */
static void test_damaged_json(void **state) {
    (void)state;
    static const char whole[] = "{\"a\\u0041\":[1,{\"b\":\"\\ud83d\\ude00\"},null],\"c\":-1e5}";
    static const char odd[] = {0, '"', '\\', '{', '}', '[', ']', ',', 'u', '9', (char)0xff};
    for (size_t size = 0; size < sizeof whole - 1; size++) {
        char *text = malloc(size + 1);
        memcpy(text, whole, size);
        text[size] = 0;
        assert_false(is_whole(text, size));
        free(text);
    }
    for (size_t at = 0; at < sizeof whole - 1; at++) {
        for (size_t i = 0; i < sizeof odd; i++) {
            char *text = malloc(sizeof whole);
            memcpy(text, whole, sizeof whole);
            text[at] = odd[i];
            is_whole(text, sizeof whole - 1);
            free(text);
        }
    }
    char *deep = malloc(1 << 20);
    memset(deep, '[', (1 << 20) - 1);
    deep[(1 << 20) - 1] = 0;
    assert_false(is_whole(deep, (1 << 20) - 1));
    free(deep);
}

/* ==== Welch =============================================================================================== */

/* Quantiles of 97.5% as tables of Student's distribution have them. */
static void test_quantiles(void **state) {
    (void)state;
    static const struct {
        double freedom, quantile;
    } table[] = {{1, 12.7062},  {2, 4.30265},  {3, 3.18245},   {5, 2.57058},
                 {10, 2.22814}, {30, 2.04227}, {1000, 1.96234}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        assert_true(fabs(zt__student_quantile(table[i].freedom) / table[i].quantile - 1) < 1e-5);
}

static zt__change change_of(double count, double mean, double stddev, uint64_t count_now, double mean_now,
                            double stddev_now) {
    zt__baseline_time before;
    zt_stats now;
    memset(&before, 0, sizeof before);
    memset(&now, 0, sizeof now);
    before.count = count;
    before.mean = mean;
    before.stddev = stddev;
    now.count = count_now;
    now.mean = mean_now;
    now.stddev = stddev_now;
    return zt__compare_means(&before, &now);
}

/* Variances 4/10 and 9/20: 0.85. Degrees of freedom: 0.7225 / (0.16/9 + 0.2025/19) = 25.409; t is 2.0579. */
static void test_welch(void **state) {
    (void)state;
    zt__change change = change_of(10, 100, 2, 20, 110, 3);
    assert_true(fabs(change.percent - 10) < 1e-9);
    assert_true(fabs(change.high - (10 + 1.8973)) < 1e-3 && fabs(change.low - (10 - 1.8973)) < 1e-3);
    change = change_of(10, 100, 0, 10, 50, 0); /* nothing varies */
    assert_true(change.percent == -50 && change.low == -50 && change.high == -50);
    change = change_of(2, 100, 100, 2, 1, 1); /* no time is below 0 */
    assert_true(change.low == -100 && change.high > 0);
    change = change_of(1, 100, 0, 10, 50, 1); /* one sample has no error */
    assert_true(change.percent == -50 && isnan(change.low) && isnan(change.high));
    change = change_of(10, 100, NAN, 10, 50, 1);
    assert_true(change.percent == -50 && isnan(change.low));
    change = change_of(10, NAN, 1, 10, 50, 1);
    assert_true(isnan(change.percent) && isnan(change.low));
    change = change_of(10, 0, 0, 10, 50, 1);
    assert_true(isnan(change.percent));
}

/* ==== reports ============================================================================================= */

static void write_report(const zt_profiler *profiler, const char *name) {
    ok(zt_report(profiler, in_directory(name)));
}

static zt_profiler *open_compared(world *w, const char *file) {
    zt_config config = config_of(w);
    config.groups = "";
    config.baseline = file;
    return open_profiler(w, &config);
}

static int count_of(const char *text, const char *part) {
    int count = 0;
    for (; (text = strstr(text, part)) != NULL; text++)
        count++;
    return count;
}

static void run_twice(world *w, zt_profiler *profiler, const char *name) {
    run(w, profiler, name);
    run(w, profiler, name);
}

/* A run with the paths "same", "a;same" and "gone"; the next one has "new" in place of "gone". */
static void test_two_runs(void **state) {
    world *w = *state;
    zt_profiler *before = open_compared(w, NULL);
    run_twice(w, before, "same");
    run_twice(w, before, "gone");
    ZT_PHASE("a") {
        run_twice(w, before, "same");
    }
    collect_all(before);
    write_report(before, "before.json");
    close_profiler(w, before);

    zt_profiler *after = open_compared(w, in_directory("before.json"));
    run_twice(w, after, "same");
    run_twice(w, after, "new");
    ZT_PHASE("a") {
        run_twice(w, after, "same");
    }
    collect_all(after);
    const char *text = written_report(after, ZT_FORMAT_TABLE);
    assert_contains(text, " change\n");
    assert_contains(text, " +- ");
    assert_contains(text, "This run does not have 'gone'.");
    text = written_report(after, ZT_FORMAT_CSV);
    assert_contains(
        text,
        "\"new\",\"change\",\"\",\"baseline\",\"percent\",ratio,mean,2,,,,,,,,all,all,no,\"new\",region,");
    assert_contains(text, "\"gone\",\"change\",");
    assert_contains(text, "\"gone\",path of baseline,");
    text = written_report(after, ZT_FORMAT_JSON);
    assert_contains(text, "\"failure\":\"\",");
    assert_contains(text, "\"gone\":[\"gone\"]}");
    assert_contains(text, "\"change\":{\"new\":1,\"percent\":null,\"low\":null,\"high\":null}");
    assert_int_equal(count_of(text, "\"change\":{\"new\":0,\"percent\":"), 3); /* same, a;same and a */
    close_profiler(w, after);
}

static void expect_failure(world *w, const char *file, const char *message, const char *note) {
    w->message_count = 0;
    zt_profiler *profiler = open_compared(w, file);
    assert_int_equal(heard(w, message), 1);
    run(w, profiler, "region");
    collect_all(profiler);
    assert_contains(written_report(profiler, ZT_FORMAT_JSON), note);
    assert_null(strstr(written_report(profiler, ZT_FORMAT_JSON), "\"change\""));
    assert_null(strstr(written_report(profiler, ZT_FORMAT_TABLE), " change\n"));
    assert_contains(written_report(profiler, ZT_FORMAT_TABLE), "Nothing is compared with ");
    close_profiler(w, profiler);
}

static void write_file(const char *name, const char *text, size_t size) {
    FILE *file = fopen(in_directory(name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* Nothing is compared with what is no report, and the run goes on. */
static void test_files_that_are_no_reports(void **state) {
    world *w = *state;
    static const char *const texts[] = {
        "",
        "[]",
        "{}",
        "{\"zetools\":\"0.1.0\"}",
        "nothing",
        "{\"zetools\":1,\"paths\":[]}",
        "{\"zetools\":\"0.1.0\",\"regions\":[],\"paths\":[{\"region\":0}]}",
        "{\"zetools\":\"0.1.0\",\"regions\":[{\"name\":\"a\"}],\"paths\":[{\"region\":0}"};
    expect_failure(w, in_directory("nowhere.json"), "[BASELINE_UNREADABLE]", "it cannot be read: ");
    expect_failure(w, in_directory(""), "[BASELINE_UNREADABLE]", "it is no regular file");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        write_file("odd.json", texts[i], strlen(texts[i]));
        expect_failure(w, in_directory("odd.json"), "[BAD_BASELINE]", "it is no report of zetools");
    }
}

/* A report that is cut off anywhere, or has another byte anywhere, harms nothing. */
static void test_damaged_reports(void **state) {
    world *w = *state;
    zt_profiler *before = open_compared(w, NULL);
    run_twice(w, before, "region");
    collect_all(before);
    static char text[1 << 16];
    snprintf(text, sizeof text, "%s", written_report(before, ZT_FORMAT_JSON));
    size_t size = strlen(text);
    close_profiler(w, before);
    for (size_t i = 0; i < 40; i++) {
        write_file("cut.json", text, size * i / 40);
        zt_profiler *after = open_compared(w, in_directory("cut.json"));
        written_report(after, ZT_FORMAT_JSON);
        close_profiler(w, after);
        char byte = text[size * i / 40];
        text[size * i / 40] = i % 2 ? '"' : '}';
        write_file("cut.json", text, size);
        after = open_compared(w, in_directory("cut.json"));
        run(w, after, "region");
        collect_all(after);
        written_report(after, ZT_FORMAT_TABLE);
        close_profiler(w, after);
        text[size * i / 40] = byte;
    }
}

/* What was measured elsewhere is compared, and said. */
static void test_another_device(void **state) {
    world *w = *state;
    static const char text[] =
        "{\"zetools\":\"0.1.0\",\"date\":\"2026-01-01T00:00:00Z\",\"device\":{\"name\":\"Old device\","
        "\"driver_version\":\"1\",\"core_clock_mhz\":2000},\"regions\":[{\"name\":\"region\",\"time_ns\":"
        "{\"count\":2,\"mean\":1,\"stddev\":0}}],\"paths\":[{\"region\":0,\"parent\":null}]}";
    write_file("old.json", text, sizeof text - 1);
    zt_profiler *after = open_compared(w, in_directory("old.json"));
    run_twice(w, after, "region");
    collect_all(after);
    const char *report = written_report(after, ZT_FORMAT_JSON);
    assert_contains(report, "of 2026-01-01T00:00:00Z, with an interval of 95%.");
    assert_contains(
        report,
        "That was not on the same devices with the same driver and clock: Old device, driver 1, 2000 MHz.");
    close_profiler(w, after);
}

static int start_in_directory(void **state) {
    return make_directory(state) == 0 ? start(state) : -1;
}

/* Where memory ends while it is read, nothing is compared, or the profiler is not opened; and the run goes on. */
static void test_little_memory(void **state) {
    world *w = *state;
    static const char text[] =
        "{\"zetools\":\"0.1.0\",\"regions\":[{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"region\"}],"
        "\"paths\":[{\"region\":0},{\"region\":1},{\"region\":2}]}";
    int most = -1;
    write_file("small.json", text, sizeof text - 1);
    for (int n = 0; most < 0; n++) {
        zt_config config = config_of(w);
        zt_profiler *profiler = NULL;
        config.groups = "";
        config.baseline = in_directory("small.json");
        config.allocator = scarce_allocator();
        allocations_left = n;
        ze_result_t result = zt_open(w->context, w->device, &config, &profiler);
        int is_complete = allocations_left > 0;
        allocations_left = -1;
        if (result == ZE_RESULT_SUCCESS) {
            written_report(profiler, ZT_FORMAT_JSON);
            most = is_complete ? n : -1;
            zt_close(profiler);
        } else {
            assert_result(result, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
            assert_null(profiler);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_other_kinds),
        cmocka_unit_test(test_damaged_json),
        cmocka_unit_test(test_quantiles),
        cmocka_unit_test(test_welch),
        TEST(test_two_runs),
        TEST(test_files_that_are_no_reports),
        TEST(test_damaged_reports),
        TEST(test_another_device),
        TEST(test_little_memory),
    };
    return cmocka_run_group_tests(tests, start_in_directory, remove_directory);
}
