/* More groups than can be active together, metrics by name, and differences between passes. */
#include "fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static zt_config passes_of(world *w, const char *groups) {
    zt_config config = config_of(w);
    config.groups = groups;
    config.max_passes = 4;
    return config;
}

/* The whole work of a program: an immediate list, a recorded one, nested regions. */
static void work(world *w, zt_profiler *profiler) {
    ZT_REGION(profiler, w->immediate, "outer") {
        ZT_REGION(profiler, w->immediate, "inner")
        launch(w, w->immediate);
        launch(w, w->immediate);
    }
    finish_immediate(w, w->immediate);
    append(w, profiler, w->list, "recorded");
    ok(zeCommandListClose(w->list));
    for (int i = 0; i < 3; i++) {
        execute(w, profiler, w->list);
        w->launches++;
    }
    zt_release(profiler, w->list); /* with config.thread it may not be collected yet */
    reset_list(w->list);
}

static uint32_t pass_of(const zt_profiler *profiler, const char *group) {
    for (uint32_t i = 0; i < zt_get_metric_count(profiler); i++)
        if (strcmp(zt_get_metric(profiler, i)->group, group) == 0)
            return zt_get_metric(profiler, i)->pass;
    return UINT32_MAX;
}

static zt_stats stats_in_group(const zt_profiler *profiler, const char *region, const char *group,
                               const char *metric) {
    zt_stats stats;
    memset(&stats, 0, sizeof stats);
    for (uint32_t i = 0; i < zt_get_metric_count(profiler); i++)
        if (strcmp(zt_get_metric(profiler, i)->group, group) == 0 &&
            strcmp(zt_get_metric(profiler, i)->name, metric) == 0) {
            ok(zt_get_stats(profiler, find_region(profiler, region), i, &stats));
            return stats;
        }
    fail_msg("no %s in %s", metric, group);
    return stats;
}

/* ==== passes ============================================================================================== */

static void test_groups_of_one_domain_in_two_passes(void **state) {
    world *w = *state;
    zt_config config = passes_of(w, "ComputeBasic,MemoryProfile,HostScheduler");
    zt_profiler *profiler = open_profiler(w, &config);
    int runs = 0;
    assert_int_equal(zt_get_availability(profiler), ZT_AVAILABLE);
    assert_int_equal(zt_get_pass_count(profiler), 2);
    assert_int_equal(pass_of(profiler, "ComputeBasic"), 0);
    assert_int_equal(pass_of(profiler, "MemoryProfile"), 1);
    assert_int_equal(pass_of(profiler, "HostScheduler"), 0);
    ZT_PASSES(profiler) {
        work(w, profiler);
        runs++;
    }
    collect_all(profiler);
    assert_int_equal(runs, 2);
    assert_counts(profiler, counted(10, 10, 0, 0, 0));
    zt_stats groups = stats_in_group(profiler, "inner", "ComputeBasic", "GPGPU_THREADGROUP_COUNT");
    zt_stats bytes = stats_in_group(profiler, "inner", "MemoryProfile", "GPU_MEMORY_BYTE_READ");
    assert_int_equal(groups.count, 1);
    assert_int_equal(bytes.count, 1);
    assert_true(groups.sum == WORK_GROUPS);
    assert_true(bytes.sum == 2 * WORK_ITEMS * sizeof(float));
    assert_int_equal(region_info(profiler, "inner").count, 2);
    assert_int_equal(stats_in_group(profiler, "recorded", "ComputeBasic", "GPGPU_THREADGROUP_COUNT").count,
                     3);
    assert_int_equal(stats_in_group(profiler, "recorded", "MemoryProfile", "GPU_MEMORY_BYTE_READ").count, 3);
    check_work(w);
}

static void test_passes_again_and_again(void **state) {
    world *w = *state;
    zt_config config = passes_of(w, "MemoryProfile,ComputeBasic");
    config.samples = 16;
    zt_profiler *profiler = open_profiler(w, &config);
    for (int i = 0; i < 10; i++)
        ZT_PASSES(profiler)
    work(w, profiler);
    collect_all(profiler);
    assert_counts(profiler, counted(100, 100, 0, 0, 0));
    assert_int_equal(region_info(profiler, "recorded").differs & (ZT_DIFFERS_MISSING | ZT_DIFFERS_COUNT), 0);
    zt_stats stats = stats_in_group(profiler, "recorded", "ComputeBasic", "WORK_ITEM_COUNT");
    assert_int_equal(stats.count, 30);
    assert_true(stats.median == WORK_ITEMS && stats.p95 == WORK_ITEMS);
    check_work(w);
}

/* Each pass keeps the samples of the same executions, so that a row has the metrics of all groups. */
static void test_occurrences_come_together(void **state) {
    world *w = *state;
    zt_config config = passes_of(w, "ComputeBasic,MemoryProfile");
    config.samples = 8;
    zt_profiler *profiler = open_profiler(w, &config);
    ZT_PASSES(profiler)
    for (int i = 0; i < 40; i++) { /* the n-th occurrence has n launches */
        ZT_REGION(profiler, w->immediate, "grows")
        for (int launches = 0; launches <= i; launches++)
            launch(w, w->immediate);
        finish_immediate(w, w->immediate);
        collect_all(profiler);
    }
    zt_stats items = stats_in_group(profiler, "grows", "ComputeBasic", "WORK_ITEM_COUNT");
    zt_stats bytes = stats_in_group(profiler, "grows", "MemoryProfile", "GPU_MEMORY_BYTE_READ");
    double bytes_an_item = 2 * sizeof(float);
    assert_close(bytes.median, items.median * bytes_an_item); /* estimated from the same eight */
    assert_close(bytes.p95, items.p95 * bytes_an_item);
    assert_close(bytes.sum, items.sum * bytes_an_item);
    assert_int_equal(items.count, 40);
    check_work(w);
}

static int runs_of(zt_profiler *profiler) {
    int runs = 0;
    ZT_PASSES(profiler)
    runs++;
    return runs;
}

static void test_one_run_where_nothing_is_to_be_repeated(void **state) {
    world *w = *state;
    zt_config config = passes_of(w, "ComputeBasic,HostScheduler");
    zt_profiler *profiler = open_profiler(w, &config), *none = NULL;
    assert_int_equal(zt_get_pass_count(profiler), 1);
    assert_int_equal(runs_of(profiler), 1);
    config.groups = "";
    assert_int_equal(runs_of(open_profiler(w, &config)), 1);
    config.groups = "NoSuchGroup";
    config.require_metrics = 1;
    assert_true(zt_open(w->context, w->device, &config, &none) != ZE_RESULT_SUCCESS);
    assert_null(none);
    assert_int_equal(runs_of(none), 1);
    assert_int_equal(zt_get_pass_count(NULL), 1);
}

static void test_left_early(void **state) {
    world *w = *state;
    zt_config config = passes_of(w, "ComputeBasic,MemoryProfile");
    zt_profiler *profiler = open_profiler(w, &config);
    int runs = 0;
    ZT_PASSES(profiler) {
        run(w, profiler, "left");
        if (++runs == 2)
            break;
    }
    run(w, profiler, "after"); /* with the groups of the first pass again */
    collect_all(profiler);
    assert_int_equal(stats_in_group(profiler, "after", "ComputeBasic", "GpuTime").count, 1);
    assert_int_equal(stats_in_group(profiler, "after", "MemoryProfile", "GpuTime").count, 0);
    assert_int_equal(runs_of(profiler), 2);
    check_work(w);
}

static void test_a_pass_that_cannot_be_entered(void **state) {
    world *w = *state;
    zt_config config = passes_of(w, "ComputeBasic,MemoryProfile");
    zt_profiler *profiler = open_profiler(w, &config);
    int runs = 0;
    inject("zetMetricQueryPoolCreate", 1, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    ZT_PASSES(profiler) {
        runs++;
        run(w, profiler, "measured");
    }
    collect_all(profiler);
    assert_int_equal(runs, 1);
    assert_int_equal(heard(w, "[PASS_FAILED]"), 1);
    assert_int_equal(region_info(profiler, "measured").differs, ZT_DIFFERS_MISSING);
    ZT_PASSES(profiler)
    run(w, profiler, "measured");
    collect_all(profiler);
    assert_counts(profiler, counted(3, 3, 0, 0, 0));
    check_work(w);
}

/* ==== what differs ======================================================================================== */

static void test_differences_are_reported(void **state) {
    world *w = *state;
    zt_config config = passes_of(w, "ComputeBasic,MemoryProfile");
    zt_profiler *profiler = open_profiler(w, &config);
    int pass = 0;
    zt_stats first, second;
    memset(&first, 0, sizeof first);
    ZT_PASSES(profiler) {
        if (pass == 0)
            run(w, profiler, "first only");
        for (int i = 0; i <= pass; i++)
            run(w, profiler, "more often");
        run_at_least(w, profiler, "longer", pass == 0 ? 0 : 2 * first.mean);
        collect_all(profiler);
        ok(zt_get_pass(profiler, find_region(profiler, "longer"), 0, &first));
        pass++;
    }
    assert_int_equal(region_info(profiler, "first only").differs, ZT_DIFFERS_MISSING);
    assert_true(region_info(profiler, "more often").differs & ZT_DIFFERS_COUNT);
    uint32_t longer = find_region(profiler, "longer");
    ok(zt_get_pass(profiler, longer, 0, &first));
    ok(zt_get_pass(profiler, longer, 1, &second));
    assert_true(first.count == 1 && second.count == 1 && second.mean > first.mean);
    assert_true(region_info(profiler, "longer").differs & ZT_DIFFERS_TIME);
    assert_close(region_info(profiler, "longer").time_ns.sum, first.sum + second.sum);
    assert_result(zt_get_pass(profiler, longer, 2, &first), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    check_work(w);
}

static void test_reports_say_which_pass(void **state) {
    world *w = *state;
    zt_config config = passes_of(w, "ComputeBasic,MemoryProfile");
    zt_profiler *profiler = open_profiler(w, &config);
    int pass = 0;
    ZT_PASSES(profiler)
    if (pass++ == 0)
        run(w, profiler, "once");
    collect_all(profiler);
    assert_contains(written_report(profiler, ZT_FORMAT_TABLE), "          passes  ");
    assert_contains(written_report(profiler, ZT_FORMAT_TABLE), "\nonce      100      1  missing  ");
    assert_contains(written_report(profiler, ZT_FORMAT_TABLE), "\nWhere passes differ, metrics ");
    assert_contains(written_report(profiler, ZT_FORMAT_CSV), ",all,1,missing,\n");
    assert_contains(written_report(profiler, ZT_FORMAT_CSV), ",tile,pass,differs,text\n");
    assert_contains(written_report(profiler, ZT_FORMAT_JSON), "\"differs\":\"missing\"");
    assert_contains(written_report(profiler, ZT_FORMAT_JSON), "\"pass_time_ns\":[");
}

/* A list that is recorded in one pass and executed in another runs, but is not measured. */
static void test_a_list_of_another_pass(void **state) {
    world *w = *state;
    zt_config config = passes_of(w, "ComputeBasic,MemoryProfile");
    zt_profiler *profiler = open_profiler(w, &config);
    append(w, profiler, w->list, "before");
    ok(zeCommandListClose(w->list));
    ZT_PASSES(profiler) {
        execute(w, profiler, w->list);
        w->launches++;
    }
    collect_all(profiler);
    assert_counts(profiler, counted(2, 1, 1, 0, 0));
    assert_int_equal(zt_get_cause(profiler, ZT_LOST_OTHER_PASS), 1);
    check_work(w);
}

static void test_a_region_around_passes(void **state) {
    world *w = *state;
    zt_config config = passes_of(w, "ComputeBasic,MemoryProfile");
    zt_profiler *profiler = open_profiler(w, &config);
    ZT_REGION(profiler, w->immediate, "around")
    ZT_PASSES(profiler)
    launch(w, w->immediate);
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    assert_int_equal(zt_get_cause(profiler, ZT_LOST_OTHER_PASS), 1);
    check_work(w);
}

static void test_too_many_passes(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    const char *message;
    config.groups = "ComputeBasic,MemoryProfile";
    zt_profiler *profiler = open_profiler(w, &config);
    message = zt_get_availability_text(profiler);
    assert_int_equal(zt_get_availability(profiler), ZT_GROUPS_CONFLICT);
    assert_contains(message, "config.max_passes");
}

/* A collecting thread does not mix passes. */
static void test_passes_with_a_thread(void **state) {
    world *w = *state;
    zt_config config = passes_of(w, "ComputeBasic,MemoryProfile");
    config.thread = 1;
    zt_profiler *profiler = open_profiler(w, &config);
    for (int i = 0; i < 3; i++) {
        ZT_PASSES(profiler) {
            work(w, profiler);
        }
    }
    collect_all(profiler);
    assert_counts(profiler, counted(30, 30, 0, 0, 0));
    assert_int_equal(stats_in_group(profiler, "inner", "MemoryProfile", "GpuTime").count, 3);
    assert_true(stats_in_group(profiler, "inner", "ComputeBasic", "WORK_ITEM_COUNT").mean == WORK_ITEMS);
    check_work(w);
}

static void test_nothing_allocates_after_the_first_time(void **state) {
    world *w = *state;
    zt_config config = passes_of(w, "ComputeBasic,MemoryProfile");
    config.samples = 8;
    zt_profiler *profiler = open_profiler(w, &config);
    uint64_t before = 0;
    for (int i = 0; i < 20; i++) {
        if (i == 10)
            before = heap_allocations();
        ZT_PASSES(profiler)
        for (int k = 0; k < 4; k++)
            run(w, profiler, "steady");
    }
    assert_int_equal(heap_allocations(), before);
    check_work(w);
}

/* ==== metrics by name ===================================================================================== */

static void expect_groups(world *w, const char *metrics, uint32_t passes, const char *groups) {
    zt_config config = passes_of(w, NULL);
    char got[256] = "";
    config.metrics = metrics;
    zt_profiler *profiler = open_profiler(w, &config);
    for (uint32_t i = 0; i < zt_get_metric_count(profiler); i++) {
        const char *group = zt_get_metric(profiler, i)->group;
        if (strstr(got, group))
            continue;
        strncat(got, *got ? "," : "", sizeof got - strlen(got) - 1);
        strncat(got, group, sizeof got - strlen(got) - 1);
    }
    assert_string_equal(got, groups);
    assert_int_equal(zt_get_pass_count(profiler), passes);
    close_profiler(w, profiler);
}

static void test_fewest_groups_for_metrics(void **state) {
    world *w = *state;
    expect_groups(w, "GPGPU_THREADGROUP_COUNT", 1, "ComputeBasic");
    expect_groups(w, "COPY_BYTE_COUNT", 1, "MemoryProfile");
    expect_groups(w, "GPU_MEMORY_BYTE_READ , COPY_BYTE_COUNT", 1, "MemoryProfile");
    expect_groups(w, "HOST_CPU_TIME,WORK_ITEM_COUNT", 1, "HostScheduler,ComputeBasic");
    expect_groups(w, "COPY_BYTE_COUNT,WORK_ITEM_COUNT", 2, "MemoryProfile,ComputeBasic");
    expect_groups(w, " ,", 1, "ComputeBasic");
}

static void test_metrics_beside_groups(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "HostScheduler";
    config.metrics = "COPY_BYTE_COUNT,HOST_CPU_TIME";
    zt_profiler *profiler = open_profiler(w, &config);
    assert_true(pass_of(profiler, "MemoryProfile") == 0 && pass_of(profiler, "HostScheduler") == 0);
    assert_int_equal(pass_of(profiler, "ComputeBasic"), UINT32_MAX);
    run(w, profiler, "shown");
    collect_all(profiler);
    assert_contains(written_report(profiler, ZT_FORMAT_TABLE), "COPY_");
}

static void test_unknown_metric_is_named(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    const char *message;
    config.metrics = "GpuTime,GPU_MEMORY_BYTES_READ";
    zt_profiler *profiler = open_profiler(w, &config);
    message = zt_get_availability_text(profiler);
    assert_int_equal(zt_get_availability(profiler), ZT_NO_SUCH_METRIC);
    assert_contains(message, "'GPU_MEMORY_BYTES_READ'");
    assert_contains(message, "'GPU_MEMORY_BYTE_READ'");
}

static void test_metrics_that_need_more_passes_than_there_are(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.metrics = "COPY_BYTE_COUNT,WORK_ITEM_COUNT";
    assert_int_equal(zt_get_availability(open_profiler(w, &config)), ZT_GROUPS_CONFLICT);
    assert_int_equal(heard(w, "[GROUPS_CONFLICT]"), 1);
}

/* The highest number of groups, each with a metric that no other has. */
static void test_metrics_of_many_groups(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    char metrics[1024] = "WORK_ITEM_COUNT,COPY_BYTE_COUNT,HOST_CPU_TIME";
    gpu.behave(SOFTGPU_MANY_SETS, 1);
    for (int set = 4; set < 32; set++)
        snprintf(metrics + strlen(metrics), sizeof metrics - strlen(metrics), ",ITEMS_OF_SET_%d", set);
    config.metrics = metrics;
    config.max_passes = 16;
    zt_profiler *profiler = open_profiler(w, &config);
    assert_int_equal(zt_get_availability(profiler), ZT_AVAILABLE);
    assert_int_equal(zt_get_pass_count(profiler), 16);
    ZT_PASSES(profiler) {
        run(w, profiler, "measured");
    }
    collect_all(profiler);
    for (int set = 4; set < 32; set++) {
        char metric[32];
        snprintf(metric, sizeof metric, "ITEMS_OF_SET_%d", set);
        assert_true(stats_of(profiler, "measured", metric).sum == WORK_ITEMS);
    }
    assert_true(stats_of(profiler, "measured", "WORK_ITEM_COUNT").sum == WORK_ITEMS);
    check_work(w);
}

/* Either group of each pair would do. The search must not try all combinations. */
static void test_metrics_that_many_choices_fit(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    char metrics[1024] = "";
    gpu.behave(SOFTGPU_MANY_SETS, 1);
    for (int set = 4; set < 28; set += 2)
        snprintf(metrics + strlen(metrics), sizeof metrics - strlen(metrics), "ITEMS_OF_PAIR_%d,", set);
    strcat(metrics, "ITEMS_OF_SET_28,ITEMS_OF_SET_29,ITEMS_OF_SET_30,ITEMS_OF_SET_31,"
                    "WORK_ITEM_COUNT,COPY_BYTE_COUNT,HOST_CPU_TIME");
    config.metrics = metrics;
    config.max_passes = 16;
    zt_profiler *profiler = open_profiler(w, &config);
    assert_int_equal(zt_get_availability(profiler), ZT_AVAILABLE);
    for (int set = 4; set < 28; set += 2) {
        char first[16], second[16];
        snprintf(first, sizeof first, "Set%d", set);
        snprintf(second, sizeof second, "Set%d", set + 1);
        assert_true((pass_of(profiler, first) == UINT32_MAX) != (pass_of(profiler, second) == UINT32_MAX));
    }
}

/* If several groups have a metric, the one that leaves room for the others is selected. */
static void test_metrics_that_only_one_choice_fits(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.metrics = "GpuTime,COPY_BYTE_COUNT,HOST_CPU_TIME";
    zt_profiler *profiler = open_profiler(w, &config);
    assert_int_equal(zt_get_availability(profiler), ZT_AVAILABLE);
    assert_int_equal(pass_of(profiler, "ComputeBasic"), UINT32_MAX);
    assert_int_equal(pass_of(profiler, "MemoryProfile"), 0);
    assert_int_equal(pass_of(profiler, "HostScheduler"), 0);
}

static void test_environment_chooses_metrics(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "ComputeBasic";
    setenv("ZT_METRICS", "COPY_BYTE_COUNT", 1);
    assert_int_equal(pass_of(open_profiler(w, &config), "MemoryProfile"), 0);
    unsetenv("ZT_METRICS");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_groups_of_one_domain_in_two_passes),
        TEST(test_passes_again_and_again),
        TEST(test_occurrences_come_together),
        TEST(test_one_run_where_nothing_is_to_be_repeated),
        TEST(test_left_early),
        TEST(test_a_pass_that_cannot_be_entered),
        TEST(test_differences_are_reported),
        TEST(test_reports_say_which_pass),
        TEST(test_a_list_of_another_pass),
        TEST(test_a_region_around_passes),
        TEST(test_too_many_passes),
        TEST(test_passes_with_a_thread),
        TEST(test_nothing_allocates_after_the_first_time),
        TEST(test_fewest_groups_for_metrics),
        TEST(test_metrics_beside_groups),
        TEST(test_unknown_metric_is_named),
        TEST(test_metrics_that_need_more_passes_than_there_are),
        TEST(test_metrics_of_many_groups),
        TEST(test_metrics_that_many_choices_fit),
        TEST(test_metrics_that_only_one_choice_fits),
        TEST(test_environment_chooses_metrics),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
