/* Launches outside of `every` and `limit` have times and no metrics. Whatever is divided by a time, or
   weighted by it, is of the launches with metrics alone; whatever is said of the time of a region is of all
   launches. */
#include "meet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 10, CALLS = 3 };

static zt_profiler *trace_every(world *w, const zt_config *config, uint32_t every, uint64_t limit) {
    zt_trace_config trace = {0};
    zt_profiler *profiler = open_profiler(w, config);
    trace.every = every;
    trace.limit = limit;
    ok(zt_trace_start(profiler, &trace));
    return profiler;
}

static void expect_launches(const zt_profiler *profiler, uint64_t measured, uint64_t times_alone) {
    zt_trace_counts counts = zt_get_info(profiler).launches;
    assert_int_equal(counts.launches, measured);
    assert_int_equal(counts.measured, measured);
    assert_int_equal(counts.filtered, 0);
    assert_int_equal(counts.times_alone, times_alone);
    assert_int_equal(counts.serialised, measured - times_alone);
    check_identity(profiler);
}

/* The first launch is short, and measured with metrics. The others take SHORT milliseconds each. */
static void run_uneven(world *w, zt_profiler *profiler) {
    rig r = open_rig(w);
    ze_command_list_handle_t list = immediate_of(w, COMPUTE, 0, 0);
    for (uint32_t i = 0; i < MANY; i++)
        append_meeting(&r, list, i, i == 0 ? 0 : 15, SHORT);
    finish_and_destroy(w, list);
    collect_all(profiler);
    close_rig(&r);
}

static void launch_often(world *w, int times) {
    ze_command_list_handle_t list = immediate_of(w, COMPUTE, 0, 0);
    for (int i = 0; i < times; i++)
        launch(w, list);
    finish_and_destroy(w, list);
}

static zt_profiler *trace_uneven(world *w) {
    zt_config config = config_of(w);
    config.groups = "ComputeBasic";
    zt_profiler *profiler = trace_every(w, &config, MANY, 0);
    run_uneven(w, profiler);
    expect_launches(profiler, MANY, MANY - 1);
    assert_counts(profiler, counted(MANY, MANY, 0, 0, 0));
    return profiler;
}

/* What a metric adds up to, divided by the GPU time that was measured with it. */
static double right_rate(const zt_profiler *profiler, const char *region, const char *metric) {
    return stats_of(profiler, region, metric).sum / stats_of(profiler, region, "GpuTime").sum * 1e9;
}

/* Samples with metrics and with times alone are calculated apart. One collection has both, although what is left of the
   one leaves no room for the other. */
static void test_one_collection_has_both(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "ComputeBasic";
    zt_profiler *profiler = trace_every(w, &config, 2, 0);
    for (int i = 0; i < 2; i++) {
        ze_command_list_handle_t lists[2];
        for (int k = 0; k < 2; k++) {
            lists[k] = immediate_of(w, COMPUTE, 0, 0);
            launch(w, lists[k]);
            finish_immediate(w, lists[k]);
        }
        zt_collect(profiler, 0);
        assert_counts(profiler, counted(2 + 2 * (uint64_t)i, 2 + 2 * (uint64_t)i, 0, 0, 0));
        for (int k = 0; k < 2; k++)
            finish_and_destroy(w, lists[k]);
    }
    expect_launches(profiler, 4, 2);
    close_profiler(w, profiler);
}

/* ==== figures ============================================================================================= */

static void expect_uneven(const zt_profiler *profiler) {
    uint32_t region = find_region(profiler, "meet"), items = zt_find_metric(profiler, "WORK_ITEM_COUNT");
    zt_region_info info = region_info(profiler, "meet");
    zt_stats with_metrics = stats_of(profiler, "meet", "GpuTime"), pass, busy, work;
    assert_int_equal(info.count, MANY);
    assert_int_equal(info.with_metrics, 1);
    assert_int_equal(info.time_ns.count, MANY);
    assert_true(info.time_ns.sum >= (MANY - 1) * (SHORT - 1) * 1e6);
    assert_true(info.time_ns.median >= (SHORT - 1) * 1e6);
    assert_true(info.time_ns.min <= with_metrics.sum && with_metrics.sum <= info.time_ns.max);
    assert_close(info.total_ns, info.time_ns.sum);
    assert_close(info.own_ns, info.time_ns.sum);
    assert_int_equal(with_metrics.count, 1);
    ok(zt_get_stats(profiler, region, ZT_PASS_TIME(0), &pass));
    assert_int_equal(pass.count, 1);
    assert_close(pass.sum, with_metrics.sum);
    ok(zt_get_stats(profiler, region, items, &work));
    assert_close(work.rate, right_rate(profiler, "meet", "WORK_ITEM_COUNT"));
    busy = stats_of(profiler, "meet", "GPU_BUSY"); /* weighted by time: of one sample, its value */
    assert_int_equal(busy.count, 1);
    assert_close(busy.mean, busy.min);
}

static void test_rates(void **state) {
    world *w = *state;
    expect_uneven(trace_uneven(w));
}

typedef struct seen {
    uint32_t count, with_metrics;
    double times, times_with_metrics;
} seen;

static void note_sample(const zt_sample *sample, void *user) {
    seen *all = user;
    uint32_t measured = 0;
    for (uint32_t i = 0; i < sample->metric_count; i++)
        measured += sample->values[i] == sample->values[i];
    assert_int_equal(sample->pass, 0);
    all->count++;
    all->times += sample->gpu_time_ns;
    all->with_metrics += measured > 0;
    all->times_with_metrics += measured > 0 ? sample->gpu_time_ns : 0;
}

/* The sample function gets all samples; those with times alone have no values. */
static void test_samples(void **state) {
    world *w = *state;
    seen all = {0};
    zt_config config = config_of(w);
    config.groups = "ComputeBasic";
    config.sample = note_sample;
    config.sample_user = &all;
    zt_profiler *profiler = trace_every(w, &config, 3, 0);
    launch_often(w, 9);
    collect_all(profiler);
    assert_int_equal(all.count, 9);
    assert_int_equal(all.with_metrics, 3);
    assert_close(all.times, region_info(profiler, "saxpy").time_ns.sum);
    assert_close(all.times_with_metrics, stats_of(profiler, "saxpy", "GpuTime").sum);
    expect_launches(profiler, 9, 6);
    check_work(w);
}

static void test_limit(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "ComputeBasic";
    zt_profiler *profiler = trace_every(w, &config, 0, 2);
    launch_often(w, 7);
    collect_all(profiler);
    expect_launches(profiler, 7, 5);
    assert_int_equal(region_info(profiler, "saxpy").count, 7);
    assert_int_equal(region_info(profiler, "saxpy").with_metrics, 2);
    check_work(w);
}

/* With times alone, `every` and `limit` leave launches out as before. */
static void test_without_metrics(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "";
    zt_profiler *profiler = trace_every(w, &config, 3, 2);
    launch_often(w, 9);
    collect_all(profiler);
    assert_counts(profiler, counted(2, 2, 0, 0, 0));
    assert_int_equal(zt_get_info(profiler).launches.filtered, 7);
    assert_int_equal(zt_get_info(profiler).launches.times_alone, 0);
    assert_int_equal(region_info(profiler, "saxpy").with_metrics, 0);
    check_work(w);
}

static void test_recorded_lists(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "ComputeBasic";
    zt_profiler *profiler = trace_every(w, &config, 2, 0);
    ze_command_list_handle_t list = recorded_of(w, 0);
    for (int i = 0; i < 4; i++)
        launch(w, list);
    ok(zeCommandListClose(list));
    for (int i = 0; i < 5; i++)
        execute_unprofiled(w, list);
    w->launches += 4 * 4;
    collect_all(profiler);
    ok(zeCommandListDestroy(list));
    assert_counts(profiler, counted(20, 20, 0, 0, 0));
    assert_int_equal(region_info(profiler, "saxpy").with_metrics, 10);
    expect_launches(profiler, 4, 2);
    check_work(w);
}

/* Each pass has the metrics of its own launches, and times of all. */
static void test_passes(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "ComputeBasic,MemoryProfile";
    config.max_passes = 2;
    zt_profiler *profiler = trace_every(w, &config, 2, 0);
    zt_stats time;
    assert_int_equal(zt_get_info(profiler).pass_count, 2);
    ZT_PASSES(profiler) {
        launch_often(w, 4);
    }
    collect_all(profiler);
    zt_region_info info = region_info(profiler, "saxpy");
    assert_int_equal(info.count, 8);
    assert_int_equal(info.with_metrics, 4);
    assert_int_equal(info.time_ns.count, 8);
    assert_int_equal(info.differs & ~(unsigned)ZT_DIFFERS_TIME, 0);
    for (uint32_t pass = 0; pass < 2; pass++) {
        ok(zt_get_stats(profiler, find_region(profiler, "saxpy"), ZT_PASS_TIME(pass), &time));
        assert_int_equal(time.count, 2);
        assert_true(time.sum < info.time_ns.sum);
    }
    expect_launches(profiler, 8, 4);
    check_work(w);
}

/* Regions by hand have metrics, also beside launches with times alone, and around them. */
static void test_regions_by_hand(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "ComputeBasic";
    zt_profiler *profiler = trace_every(w, &config, 100, 0);
    ze_command_list_handle_t list = immediate_of(w, COMPUTE, 0, 0);
    for (int i = 0; i < 3; i++)
        ZT_REGION(profiler, list, "by hand") {
            launch(w, list);
            launch(w, list);
        }
    finish_and_destroy(w, list);
    collect_all(profiler);
    assert_int_equal(region_info(profiler, "by hand").with_metrics, 3);
    assert_int_equal(region_info(profiler, "saxpy").with_metrics, 1);
    assert_int_equal(region_info(profiler, "saxpy").count, 6);
    assert_true(region_info(profiler, "by hand").own_ns >= 0);
    check_work(w);
}

/* A launch that signals an event of the application keeps it, as with times alone. */
static void test_events_are_kept(void **state) {
    world *w = *state;
    ze_group_count_t groups = {WORK_GROUPS, 1, 1};
    ze_event_pool_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, NULL, ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 1};
    ze_event_desc_t event_desc = {ZE_STRUCTURE_TYPE_EVENT_DESC, NULL, 0, ZE_EVENT_SCOPE_FLAG_HOST, 0};
    ze_event_pool_handle_t pool;
    ze_event_handle_t event;
    zt_config config = config_of(w);
    config.groups = "ComputeBasic";
    zt_profiler *profiler = trace_every(w, &config, 0, 1);
    ze_command_list_handle_t list = immediate_of(w, COMPUTE, 0, 0);
    ok(zeEventPoolCreate(w->context, &desc, 1, &w->device, &pool));
    ok(zeEventCreate(pool, &event_desc, &event));
    launch(w, list);
    finish_immediate(w, list);
    gpu.reset_calls();
    ok(zeCommandListAppendLaunchKernel(list, w->kernel, &groups, event, 0, NULL));
    w->launches++;
    assert_int_equal(calls("zeCommandListAppendBarrier") + calls("zeCommandListAppendSignalEvent") +
                         calls("zeCommandListAppendQueryKernelTimestamps"),
                     0);
    ok(zeEventHostSynchronize(event, A_WHILE));
    ok(zeEventDestroy(event));
    ok(zeEventPoolDestroy(pool));
    finish_and_destroy(w, list);
    collect_all(profiler);
    expect_launches(profiler, 2, 1);
    assert_int_equal(region_info(profiler, "saxpy").time_ns.count, 2);
    check_work(w);
}

/* ==== reports ============================================================================================= */

/* The count and the sum in the CSV line of a metric, in a pass. */
static double csv_sum(const char *csv, const char *region, const char *metric, const char *pass,
                      uint64_t *count) {
    char begin[128], middle[64];
    const char *line = csv;
    snprintf(begin, sizeof begin, "\n\"%s\",\"%s\",", region, metric);
    snprintf(middle, sizeof middle, ",all,%s,", pass);
    while ((line = strstr(line, begin)) != NULL) {
        const char *end = strchr(line + 1, '\n'), *found = strstr(line, middle), *field = line;
        if (found && found < end) {
            for (int commas = 0; commas < 7; commas++)
                field = strchr(field, ',') + 1;
            *count = strtoull(field, NULL, 10);
            return strtod(strchr(field, ',') + 1, NULL);
        }
        line++;
    }
    fail_msg("no line %s,%s in pass %s", region, metric, pass);
    return 0;
}

static double number_after(const char *text, const char *before) {
    const char *found = strstr(text, before);
    if (!found)
        fail_msg("there is no %s", before);
    return found ? strtod(found + strlen(before), NULL) : 0;
}

static void test_csv(void **state) {
    world *w = *state;
    zt_profiler *profiler = trace_uneven(w);
    const char *csv = written_report(profiler, ZT_FORMAT_CSV);
    uint64_t count;
    double sum = csv_sum(csv, "meet", "WORK_ITEM_COUNT", "0", &count);
    double with_metrics = csv_sum(csv, "meet", "GPU time", "0", &count);
    assert_int_equal(count, 1);
    assert_close(sum / with_metrics * 1e9, right_rate(profiler, "meet", "WORK_ITEM_COUNT"));
    assert_close(csv_sum(csv, "meet", "GPU time", "all", &count), region_info(profiler, "meet").time_ns.sum);
    assert_int_equal(count, MANY);
    assert_contains(csv, "9 of 10 samples have times alone");
}

static void expect_json(const zt_profiler *profiler, const char *json) {
    const char *region = strstr(json, "\"name\":\"meet\",\"count\":10,");
    zt_stats with_metrics = stats_of(profiler, "meet", "GpuTime");
    assert_non_null(region);
    assert_true(number_after(region, "\"with_metrics\":") == 1);
    assert_close(number_after(region, "\"time_ns\":{\"count\":10,\"sum\":"),
                 region_info(profiler, "meet").time_ns.sum);
    assert_close(number_after(region, "\"pass_time_ns\":[{\"count\":1,\"sum\":"), with_metrics.sum);
    assert_true(number_after(strstr(region, "\"histogram\""), "\"counts\":[") >= 1);
    /* A second, for the roofline: operations and bytes of the same samples. */
    assert_close(number_after(region, "\"operations\":"), 1000 / with_metrics.mean * 1e9);
}

static void test_json_and_page(void **state) {
    world *w = *state;
    zt_profiler *profiler = trace_uneven(w);
    ok(zt_set_operations(profiler, "meet", 1000));
    expect_json(profiler, written_report(profiler, ZT_FORMAT_JSON));
    expect_json(profiler, written_report(profiler, ZT_FORMAT_HTML));
}

/* Instructions a second, by which what limits a region and the roofline go. */
static void test_advice(void **state) {
    world *w = *state;
    gpu.behave(SOFTGPU_B580_METRICS, 1);
    assert_true(gpu.set_metric("XVE_INST_EXECUTED_ALU0_ALL", 5000));
    zt_profiler *profiler = trace_uneven(w);
    assert_close(number_after(written_report(profiler, ZT_FORMAT_JSON), "\"instructions\":"),
                 right_rate(profiler, "meet", "XVE_INST_EXECUTED_ALU0_ALL"));
}

static void test_openmetrics(void **state) {
    world *w = *state;
    zt_profiler *profiler = trace_uneven(w);
    const char *text = written_report(profiler, ZT_FORMAT_OPENMETRICS);
    zt_stats items = stats_of(profiler, "meet", "WORK_ITEM_COUNT");
    double with_metrics =
        number_after(text, "\nzetools_region_pass_gpu_time_seconds_total{region=\"meet\"} ");
    assert_close(with_metrics, stats_of(profiler, "meet", "GpuTime").sum * 1e-9);
    assert_close(items.sum / with_metrics, right_rate(profiler, "meet", "WORK_ITEM_COUNT"));
    assert_close(number_after(text, "\nzetools_region_gpu_time_seconds_sum{region=\"meet\"} "),
                 region_info(profiler, "meet").time_ns.sum * 1e-9);
    assert_true(number_after(text, "\nzetools_region_gpu_time_seconds_count{region=\"meet\"} ") == MANY);
}

static void test_table(void **state) {
    world *w = *state;
    zt_profiler *profiler = trace_uneven(w);
    assert_contains(
        written_report(profiler, ZT_FORMAT_CSV),
        "9 of 10 samples have times alone, because their launches are outside of every or limit of "
        "zt_trace_config. Metrics");
}

/* A region all of whose samples have metrics needs no second time. */
static void test_reports_without_times_alone(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    run(w, profiler, "one");
    collect_all(profiler);
    assert_int_equal(region_info(profiler, "one").with_metrics, 1);
    assert_null(strstr(written_report(profiler, ZT_FORMAT_JSON), "pass_time_ns"));
    assert_null(strstr(written_report(profiler, ZT_FORMAT_CSV), "times alone"));
    check_work(w);
}

/* ==== the timeline ======================================================================================== */

static void test_timeline(void **state) {
    NOT_ON_WINDOWS("no Python there that reads the trace");
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "ComputeBasic";
    config.timeline = 64;
    gpu.set_kernel_clock(32, 12345);
    zt_profiler *profiler = trace_every(w, &config, MANY, 0);
    double from = (double)now_ns(), begin, end;
    zt_stats latency;
    run_uneven(w, profiler);
    double until = (double)now_ns();
    assert_int_equal(zt_get_timeline(profiler).samples, MANY);
    assert_int_equal(zt_get_timeline(profiler).overlap.samples, MANY);
    assert_true(zt_get_timeline(profiler).overlap.kernel_ns >= (MANY - 1) * (SHORT - 1) * 1e6);
    find_span(profiler, "meet", &begin, &end);
    assert_true(begin >= from - 1e6 && end <= until + 1e6);
    ok(zt_get_stats(profiler, find_region(profiler, "meet"), ZT_LAUNCH_LATENCY, &latency));
    assert_int_equal(latency.count, MANY);
    /* Every row has a GPU time, also where no metric has measured it. */
    const char *line = strchr(strstr(written_report(profiler, ZT_FORMAT_INSTANCES), "Kernel,"), '\n');
    int rows = 0;
    for (; line && line[1]; line = strchr(line + 1, '\n'), rows++)
        assert_true(number_after(line, ",0,") > 0);
    assert_int_equal(rows, MANY);
}

/* ==== merged and packed =================================================================================== */

static void test_packed(void **state) {
    world *w = *state;
    zt_profiler *profiler = trace_uneven(w), *back = NULL;
    size_t size;
    ok(zt_pack(profiler, NULL, &size));
    void *bytes = malloc(size);
    ok(zt_pack(profiler, bytes, &size));
    ok(zt_unpack(bytes, size, NULL, &back));
    expect_uneven(back);
    assert_contains(written_report(back, ZT_FORMAT_CSV),
                    "9 of 10 samples have times alone. Metrics"); /* why, is unknown */
    ok(zt_merge(back, profiler));
    check_identity(back);
    zt_region_info info = region_info(back, "meet");
    assert_int_equal(info.count, 2 * MANY);
    assert_int_equal(info.with_metrics, 2);
    assert_close(info.time_ns.sum, 2 * region_info(profiler, "meet").time_ns.sum);
    assert_close(stats_of(back, "meet", "WORK_ITEM_COUNT").rate,
                 right_rate(profiler, "meet", "WORK_ITEM_COUNT"));
    zt_close(back);
    free(bytes);
}

/* ==== the cost ============================================================================================ */

/* At most three driver calls more than the application makes, and no memory. The list is synchronous, because the
   status of a launch that has not ended is asked again. */
static void test_what_a_launch_costs(void **state) {
    enum { LAUNCHES = 256 };
    world *w = *state;
    ze_command_queue_desc_t desc = {ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                    .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    ze_command_list_handle_t list;
    zt_config config = config_of(w);
    config.groups = "ComputeBasic";
    zt_profiler *profiler = trace_every(w, &config, 0, 1);
    ok(zeCommandListCreateImmediate(w->context, w->device, &desc, &list));
    for (int i = 0; i < 4 * LAUNCHES; i++)
        launch(w, list);
    finish_immediate(w, list);
    collect_all(profiler);
    heap_use before = library_memory();
    gpu.reset_calls();
    for (int i = 0; i < LAUNCHES; i++)
        launch(w, list);
    /* the status of what has not ended yet is asked again */
    assert_true(calls(NULL) - calls("zeEventQueryStatus") <= CALLS * LAUNCHES);
    assert_int_equal(calls("zetCommandListAppendMetricQueryBegin"), 0);
    assert_int_equal(calls("zeCommandListAppendBarrier"), 0);
    finish_immediate(w, list);
    ok(zt_collect(profiler, A_WHILE));
    assert_same_memory(before);
    expect_launches(profiler, 5 * LAUNCHES, 5 * LAUNCHES - 1);
    assert_counts(profiler, counted(5 * LAUNCHES, 5 * LAUNCHES, 0, 0, 0));
    check_work(w);
    ok(zeCommandListDestroy(list));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_one_collection_has_both),
        TEST(test_rates),
        TEST(test_samples),
        TEST(test_limit),
        TEST(test_without_metrics),
        TEST(test_recorded_lists),
        TEST(test_passes),
        TEST(test_regions_by_hand),
        TEST(test_events_are_kept),
        TEST(test_csv),
        TEST(test_json_and_page),
        TEST(test_advice),
        TEST(test_openmetrics),
        TEST(test_table),
        TEST(test_reports_without_times_alone),
        TEST(test_timeline),
        TEST(test_packed),
        TEST(test_what_a_launch_costs),
    };
    return cmocka_run_group_tests(tests, start_traced, NULL);
}
