/* What reports advise is followed, as a reader would, and gives what it promises. test_auto follows what is said of
   copies, test_environment what is said of metrics that are not enabled. */
#define _GNU_SOURCE
#include "fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *table_of(const zt_profiler *profiler) {
    return written_report(profiler, ZT_FORMAT_TABLE);
}

/* Returns the text of a table as one line. */
static const char *unbroken(const char *text) {
    static char line[1 << 20];
    size_t length = strlen(text);
    assert_true(length < sizeof line);
    memcpy(line, text, length + 1);
    for (char *at = line; *at; at++)
        *at = *at == '\n' ? ' ' : *at;
    return line;
}

static zt_limit_info limit_of(const zt_profiler *profiler, const char *name) {
    zt_limit_info info;
    ok(zt_get_limit(profiler, find_region(profiler, name), &info));
    return info;
}

/* Copies what stands between two texts. */
static void copy_between(const char *text, const char *from, const char *to, char *copy, size_t size) {
    const char *begin = strstr(text, from), *end = begin ? strstr(begin + strlen(from), to) : NULL;
    if (!end)
        fail_msg("nothing between %s and %s in: %s", from, to, text);
    begin += strlen(from);
    assert_true((size_t)(end - begin) < size);
    memcpy(copy, begin, (size_t)(end - begin));
    copy[end - begin] = 0;
}

/* A group that the device has beside its own, with given values. */
static void list_metrics(const char *group, const softgpu_metric *metrics, const double *values,
                         uint32_t count) {
    assert_true(gpu.list_metrics(group, metrics, count));
    for (uint32_t i = 0; i < count; i++)
        assert_true(gpu.set_metric(metrics[i].name, values[i]));
}

/* ==== what limits a region ================================================================================ */

/* "run again with config.groups or ZT_GROUPS 'Stalls', which has ..." */
static void test_another_group(void **state) {
    static const softgpu_metric metrics[] = {
        {"XVE_STALL", "", "percent", ZET_METRIC_TYPE_DURATION, ZET_VALUE_TYPE_FLOAT32},
        {"XVE_THREADS_OCCUPANCY_ALL", "", "percent", ZET_METRIC_TYPE_DURATION, ZET_VALUE_TYPE_FLOAT32}};
    static const double values[] = {60, 40};
    world *w = *state;
    char group[128];
    list_metrics("Stalls", metrics, values, 2);
    zt_config config = config_of(w);
    config.groups = "MemoryProfile";
    zt_profiler *profiler = open_profiler(w, &config);
    run(w, profiler, "region");
    collect_all(profiler);
    zt_limit_info before = limit_of(profiler, "region");
    close_profiler(w, profiler);
    assert_int_equal(before.limit, ZT_LIMIT_UNKNOWN);
    copy_between(before.text, "ZT_GROUPS '", "'", group, sizeof group);

    setenv("ZT_GROUPS", group, 1);
    profiler = open_profiler(w, &config);
    unsetenv("ZT_GROUPS");
    char *rest = before.missing;
    for (char *name = strtok_r(rest, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
        assert_true(zt_find_metric(profiler, name) != UINT32_MAX);
    run(w, profiler, "region");
    collect_all(profiler);
    assert_int_equal(limit_of(profiler, "region").limit, ZT_LIMIT_LATENCY);
    close_profiler(w, profiler);
    gpu.list_metrics(NULL, NULL, 0);
}

/* A device with memory traffic of 400 GB/s. */
static zt_profiler *measure_traffic(world *w) {
    static const softgpu_metric metrics[] = {
        {"GPU_BUSY", "", "percent", ZET_METRIC_TYPE_DURATION, ZET_VALUE_TYPE_FLOAT32},
        {"GPU_MEMORY_BYTE_READ_RATE", "", "GBpS", ZET_METRIC_TYPE_THROUGHPUT, ZET_VALUE_TYPE_FLOAT64},
        {"GPU_MEMORY_BYTE_WRITE_RATE", "", "GBpS", ZET_METRIC_TYPE_THROUGHPUT, ZET_VALUE_TYPE_FLOAT64}};
    static const double values[] = {99, 300, 100};
    list_metrics("Traffic", metrics, values, 3);
    zt_profiler *profiler = open_groups(w, "Traffic");
    run(w, profiler, "region");
    collect_all(profiler);
    return profiler;
}

/* "The memory traffic of 400 GB/s is above the peak of 51 GB/s: set ZT_PEAKS.", as examples/peaks.c prints it. */
static void test_peaks(void **state) {
    world *w = *state;
    zt_profiler *profiler = measure_traffic(w);
    ok(zt_set_peaks(profiler, 51e9, 0, NULL));
    assert_contains(limit_of(profiler, "region").text, "above the peak of 51 GB/s: set ZT_PEAKS.");
    assert_true(isnan(limit_of(profiler, "region").bandwidth));
    close_profiler(w, profiler);
    setenv("ZT_PEAKS", "5e+11,9.2e+12", 1);
    profiler = measure_traffic(w);
    unsetenv("ZT_PEAKS");
    zt_limit_info after = limit_of(profiler, "region");
    assert_int_equal(after.limit, ZT_LIMIT_MEMORY_BANDWIDTH);
    assert_true(after.bandwidth == 0.8);
    assert_null(strstr(after.text, "ZT_PEAKS"));

    ok(zt_set_operations(profiler, "region", 1e30));
    assert_contains(limit_of(profiler, "region").text, "set ZT_PEAKS, or correct them.");
    assert_true(isnan(limit_of(profiler, "region").compute));
    ok(zt_set_operations(profiler, "region", 1));
    assert_null(strstr(limit_of(profiler, "region").text, "ZT_PEAKS"));
    assert_true(limit_of(profiler, "region").compute > 0);
    close_profiler(w, profiler);
    gpu.list_metrics(NULL, NULL, 0);
}

/* "More samples tell." */
static void test_more_samples(void **state) {
    enum { FEW = 4, MANY = 400 };
    static const softgpu_metric metrics[] = {
        {"GPU_BUSY", "", "percent", ZET_METRIC_TYPE_DURATION, ZET_VALUE_TYPE_FLOAT32},
        {"GPU_MEMORY_REQUEST_QUEUE_FULL", "", "percent", ZET_METRIC_TYPE_DURATION, ZET_VALUE_TYPE_FLOAT32}};
    static const double values[] = {99, 91};
    world *w = *state;
    list_metrics("Queue", metrics, values, 2);
    zt_profiler *profiler = open_groups(w, "Queue");
    for (int i = 0; i < MANY; i++) {
        assert_true(
            gpu.set_metric("GPU_MEMORY_REQUEST_QUEUE_FULL",
                           i % 2 ? 91.0 : 94.0)); /* above 90, whatever their weights, but not by four */
        run(w, profiler, "region");
        collect_all(profiler);
        if (i + 1 == FEW) {
            assert_int_equal(limit_of(profiler, "region").limit, ZT_LIMIT_BETWEEN);
            assert_contains(limit_of(profiler, "region").text, "More samples tell.");
        }
    }
    assert_int_equal(limit_of(profiler, "region").limit, ZT_LIMIT_MEMORY_BANDWIDTH);
    close_profiler(w, profiler);
    gpu.list_metrics(NULL, NULL, 0);
}

/* ==== below a table ======================================================================================= */

/* "There is no room for 12 more: choose with ZT_COLUMNS" */
static void test_columns(void **state) {
    static const char hidden[] = "GPGPU_THREADGROUP_COUNT";
    world *w = *state;
    setenv("COLUMNS", "60", 1);
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    run(w, profiler, "region");
    collect_all(profiler);
    assert_contains(unbroken(table_of(profiler)),
                    " more: choose with ZT_COLUMNS, or write CSV or JSON, which have all.");
    assert_null(strstr(table_of(profiler), "THREADGROUP_COUNT"));
    assert_contains(written_report(profiler, ZT_FORMAT_CSV), hidden);
    assert_contains(written_report(profiler, ZT_FORMAT_JSON), hidden);
    close_profiler(w, profiler);
    setenv("ZT_COLUMNS", hidden, 1);
    profiler = open_groups(w, "ComputeBasic");
    unsetenv("ZT_COLUMNS");
    run(w, profiler, "region");
    collect_all(profiler);
    assert_contains(table_of(profiler), "THREADGROUP_COUNT");
    unsetenv("COLUMNS");
    close_profiler(w, profiler);
}

/* "10 more rows are left out: set ZT_ROWS=0, or write CSV, JSON or HTML" */
static void test_rows(void **state) {
    enum { REGIONS = 40 };
    world *w = *state;
    char name[32];
    zt_config config = config_of(w);
    config.groups = "";
    zt_profiler *profiler = open_profiler(w, &config);
    for (int i = 0; i < REGIONS; i++) {
        snprintf(name, sizeof name, "region %d.", i);
        run(w, profiler, name);
    }
    collect_all(profiler);
    assert_contains(unbroken(table_of(profiler)),
                    "set ZT_ROWS=0, or write CSV, JSON or HTML, which have all.");
    setenv("ZT_ROWS", "0", 1);
    const char *all = table_of(profiler);
    unsetenv("ZT_ROWS");
    assert_null(strstr(all, "ZT_ROWS"));
    for (int i = 0; i < REGIONS; i++) {
        snprintf(name, sizeof name, "\nregion %d.", i);
        assert_contains(all, name);
    }
    close_profiler(w, profiler);
}

static void run_recorded(world *w, zt_profiler *profiler) {
    append(w, profiler, w->list, "region");
    ok(zeCommandListClose(w->list));
    execute(w, profiler, w->list);
    w->launches++;
    collect_all(profiler);
    ok(zt_release(profiler, w->list));
    reset_list(w->list);
}

/* "Latencies are not measured without a timeline: set ZT_TIMELINE=1000." */
static void test_latencies(void **state) {
    static const char unknown[] = "Latencies are not measured without a timeline: set ZT_TIMELINE=1000.";
    world *w = *state;
    zt_stats latency;
    zt_config config = config_of(w);
    config.groups = "";
    config.columns = "queued";
    for (int has_timeline = 0; has_timeline < 2; has_timeline++) {
        zt_profiler *profiler = open_profiler(w, &config);
        run_recorded(w, profiler);
        assert_int_equal(strstr(unbroken(table_of(profiler)), unknown) != NULL, !has_timeline);
        ok(zt_get_stats(profiler, 0, ZT_QUEUE_LATENCY, &latency));
        assert_int_equal(latency.count, has_timeline);
        close_profiler(w, profiler);
        setenv("ZT_TIMELINE", "1000", 1);
    }
    unsetenv("ZT_TIMELINE");
}

/* "The mean of 'region' is ... times its median ... A timeline (ZT_TIMELINE=1000) shows when." */
static void test_when_it_takes_long(void **state) {
    enum { SHORT = 9 };
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "";
    for (int has_timeline = 0; has_timeline < 2; has_timeline++) {
        zt_profiler *profiler = open_profiler(w, &config);
        for (int i = 0; i < SHORT; i++)
            run(w, profiler, "region");
        run_at_least(w, profiler, "region", 300e6);
        collect_all(profiler);
        const char *text = unbroken(table_of(profiler));
        assert_contains(text, "The mean of 'region' is ");
        assert_int_equal(strstr(text, "A timeline (ZT_TIMELINE=1000) shows when.") != NULL, !has_timeline);
        if (has_timeline) {
            double begin_ns, end_ns;
            assert_contains(text, "The trace shows when.");
            const char *row =
                strstr(written_report(profiler, ZT_FORMAT_INSTANCES), ",10,0,"); /* the last one */
            assert_non_null(row);
            find_span(profiler, "region", &begin_ns, &end_ns); /* the first one */
            assert_true(end_ns > begin_ns);
        }
        close_profiler(w, profiler);
        setenv("ZT_TIMELINE", "1000", 1);
    }
    unsetenv("ZT_TIMELINE");
}

/* "Whether regions of different lists ran at once cannot be told without a timeline: set ZT_TIMELINE=65536." */
static void test_at_once(void **state) {
    static const char unknown[] = "cannot be told without a timeline: set ZT_TIMELINE=65536.";
    world *w = *state;
    zt_config config = config_of(w);
    ze_command_list_handle_t other;
    config.groups = "";
    create_immediate(w, &other);
    for (int has_timeline = 0; has_timeline < 2; has_timeline++) {
        zt_profiler *profiler = open_profiler(w, &config);
        run(w, profiler, "one");
        append(w, profiler, other, "two");
        w->launches++;
        finish_immediate(w, other);
        collect_all(profiler);
        assert_int_equal(strstr(unbroken(table_of(profiler)), unknown) != NULL, !has_timeline);
        assert_int_equal(isnan(zt_get_timeline(profiler).overlap.at_once_ns), !has_timeline);
        ok(zt_release(profiler, other));
        close_profiler(w, profiler);
        setenv("ZT_TIMELINE", "65536", 1);
    }
    unsetenv("ZT_TIMELINE");
    ok(zeCommandListDestroy(other));
}

/* "ZT_PHASES_AT=append counts them in the former." */
static void test_phases_of_appends(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "";
    for (int at_append = 0; at_append < 2; at_append++) {
        zt_profiler *profiler = open_profiler(w, &config);
        ZT_PHASE("assemble") {
            append(w, profiler, w->list, "kernel");
            ok(zeCommandListClose(w->list));
        }
        ZT_PHASE("solve")
            execute(w, profiler, w->list);
        w->launches++;
        collect_all(profiler);
        assert_int_equal(
            strstr(unbroken(table_of(profiler)), "ZT_PHASES_AT=append counts them in the former.") != NULL,
            !at_append);
        assert_int_equal(region_info(profiler, at_append ? "assemble" : "solve").count, 1);
        assert_int_equal(region_info(profiler, at_append ? "solve" : "assemble").count, 0);
        ok(zt_release(profiler, w->list));
        reset_list(w->list);
        close_profiler(w, profiler);
        setenv("ZT_PHASES_AT", "append", 1);
    }
    unsetenv("ZT_PHASES_AT");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_another_group),
        TEST(test_peaks),
        TEST(test_more_samples),
        TEST(test_columns),
        TEST(test_rows),
        TEST(test_latencies),
        TEST(test_when_it_takes_long),
        TEST(test_at_once),
        TEST(test_phases_of_appends),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
