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
    for (uint32_t i = 0; i < zt_get_info(profiler).metric_count; i++)
        if (strcmp(zt_get_metric(profiler, i)->group, group) == 0)
            return zt_get_metric(profiler, i)->pass;
    return UINT32_MAX;
}

static zt_stats stats_in_group(const zt_profiler *profiler, const char *region, const char *group,
                               const char *metric) {
    zt_stats stats;
    memset(&stats, 0, sizeof stats);
    for (uint32_t i = 0; i < zt_get_info(profiler).metric_count; i++)
        if (strcmp(zt_get_metric(profiler, i)->group, group) == 0 &&
            strcmp(zt_get_metric(profiler, i)->name, metric) == 0) {
            ok(zt_get_stats(profiler, find_region(profiler, region), i, &stats));
            return stats;
        }
    fail_msg("no %s in %s", metric, group);
    return stats;
}

/* ==== plans of the driver ================================================================================= */

/* What a driver answers about groups that can be active together: the first call is for the number of passes,
   the second for the groups of each. */
typedef struct plan {
    const char *what;
    ze_result_t results[2];
    uint32_t counts[2]; /* of passes */
    uint32_t sizes[4];  /* of each pass */
    int order[3];       /* of the groups, by the index at which they were given; -1: a group of nobody */
    int is_sound;
} plan;

static const plan *proposed;

static ze_result_t ZE_APICALL propose(zet_device_handle_t device, uint32_t count,
                                      zet_metric_group_handle_t *groups, uint32_t *sizes, uint32_t *passes) {
    zet_metric_group_handle_t given[32];
    int is_second = sizes != NULL;
    (void)device;
    memcpy(given, groups, count * sizeof *groups);
    *passes = proposed->counts[is_second];
    if (is_second)
        memcpy(sizes, proposed->sizes, (count < 4 ? count : 4) * sizeof *sizes);
    for (uint32_t i = 0; is_second && i < 3; i++)
        groups[i] = proposed->order[i] < 0 ? (zet_metric_group_handle_t)groups : given[proposed->order[i]];
    return proposed->results[is_second];
}

/* ==== passes ============================================================================================== */

static void test_groups_of_one_domain_in_two_passes(void **state) {
    world *w = *state;
    zt_config config = passes_of(w, "ComputeBasic,MemoryProfile,HostScheduler");
    zt_profiler *profiler = open_profiler(w, &config);
    int runs = 0;
    assert_int_equal(zt_get_info(profiler).availability, ZT_AVAILABLE);
    assert_int_equal(zt_get_info(profiler).pass_count, 2);
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
    assert_int_equal(zt_get_info(profiler).pass_count, 1);
    assert_int_equal(runs_of(profiler), 1);
    config.groups = "";
    assert_int_equal(runs_of(open_profiler(w, &config)), 1);
    config.groups = "NoSuchGroup";
    config.require_metrics = 1;
    assert_true(zt_open(w->context, w->device, &config, &none) != ZE_RESULT_SUCCESS);
    assert_null(none);
    assert_int_equal(runs_of(none), 1);
    assert_int_equal(zt_get_info(NULL).pass_count, 1);
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

/* A pass is entered again while recordings have all of its probes, so that none is free for the query that completes
   the activation: they are measured as ever. */
static void test_a_pass_without_a_free_probe(void **state) {
    enum { PROBES = 4 };
    const char *const groups[] = {"ComputeBasic", "MemoryProfile"};
    world *w = *state;
    zt_config config = passes_of(w, "ComputeBasic,MemoryProfile");
    config.probes_per_step = config.max_probes = PROBES;
    zt_profiler *profiler = open_profiler(w, &config);
    ze_command_list_handle_t lists[2];
    int pass = 0;
    ZT_PASSES(profiler) {
        create_list(w, &lists[pass]);
        for (int i = 0; i < PROBES; i++)
            append(w, profiler, lists[pass], groups[pass]);
        ok(zeCommandListClose(lists[pass]));
        execute(w, profiler, lists[pass]);
        w->launches += PROBES;
        pass++;
    }
    pass = 0;
    ZT_PASSES(profiler) {
        execute(w, profiler, lists[pass]);
        run(w, profiler, "dropped");
        w->launches += PROBES;
        pass++;
    }
    collect_all(profiler);
    assert_counts(profiler, counted(4 * PROBES + 2, 4 * PROBES, 0, 2, 0));
    assert_int_equal(zt_get_info(profiler).causes[ZT_DROPPED_NO_PROBE].count, 2);
    assert_int_equal(stats_in_group(profiler, "ComputeBasic", "ComputeBasic", "GPGPU_THREADGROUP_COUNT").sum,
                     2 * PROBES * WORK_GROUPS);
    assert_int_equal(stats_in_group(profiler, "MemoryProfile", "MemoryProfile", "GPU_MEMORY_BYTE_READ").sum,
                     2 * PROBES * 2 * WORK_ITEMS * sizeof(float));
    assert_int_equal(heard(w, "max_probes"), 1); /* and nothing else was said */
    assert_int_equal(w->message_count, 1);
    for (pass = 0; pass < 2; pass++) {
        ok(zt_release(profiler, lists[pass]));
        ok(zeCommandListDestroy(lists[pass]));
    }
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

/* After the last of the two passes the first one cannot be entered. */
static void fail_to_return(world *w, zt_profiler *profiler) {
    int runs = 0;
    ZT_PASSES(profiler) {
        run(w, profiler, "measured");
        if (++runs == 2)
            inject("zetContextActivateMetricGroups", 2, ZE_RESULT_ERROR_NOT_AVAILABLE);
    }
    assert_int_equal(runs, 2);
}

/* The next passes begin with the first one, and a collection in them does not return to it once more. */
static void test_a_return_that_fails(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_two_passes(w);
    int runs = 2;
    fail_to_return(w, profiler);
    assert_int_equal(heard(w, "[PASS_FAILED]"), 1);
    ZT_PASSES(profiler) {
        if (++runs == 4)
            ok(zt_collect(profiler, A_WHILE));
        run(w, profiler, "measured");
    }
    collect_all(profiler);
    assert_int_equal(runs, 4);
    assert_counts(profiler, counted(4, 4, 0, 0, 0));
    assert_int_equal(stats_in_group(profiler, "measured", "ComputeBasic", "GPGPU_THREADGROUP_COUNT").count,
                     2);
    assert_int_equal(stats_in_group(profiler, "measured", "MemoryProfile", "GPU_MEMORY_BYTE_READ").count, 2);
    check_work(w);
}

/* The groups of the last pass stay active after a return that fails, until zt_collect tries it again. */
static void test_a_return_that_is_tried_again(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_two_passes(w);
    fail_to_return(w, profiler);
    run(w, profiler, "before");
    collect_all(profiler);
    run(w, profiler, "after");
    collect_all(profiler);
    assert_int_equal(stats_in_group(profiler, "before", "MemoryProfile", "GPU_MEMORY_BYTE_READ").count, 1);
    assert_int_equal(stats_in_group(profiler, "after", "ComputeBasic", "GPGPU_THREADGROUP_COUNT").count, 1);
    assert_counts(profiler, counted(4, 4, 0, 0, 0));
    check_work(w);
}

/* Another profiler has the counters of a pass: the message names it, and the other passes are measured. */
static void test_a_pass_whose_counters_are_in_use(void **state) {
    const plan each_alone = {"", {ZE_RESULT_SUCCESS, ZE_RESULT_SUCCESS}, {3, 3}, {1, 1, 1}, {0, 1, 2}, 0};
    world *w = *state;
    zt_config config = passes_of(w, "ComputeBasic,MemoryProfile,HostScheduler");
    gpu.behave(SOFTGPU_MANY_SETS, 1);
    replace_symbol("zetDeviceGetConcurrentMetricGroupsExp", (any_function)propose);
    proposed = &each_alone;
    zt_profiler *profiler = open_profiler(w, &config);
    zt_profiler *other = open_groups(w, "Set5"); /* of the domain of HostScheduler */
    int runs = 0;
    ZT_PASSES(profiler) {
        runs++;
        run(w, profiler, "measured");
    }
    collect_all(profiler);
    assert_int_equal(runs, 2);
    assert_int_equal(heard(w, "[PASS_FAILED] ZT_PASSES: pass 2 is left out"), 1);
    assert_int_equal(heard(w, "group 'Set5' of a profiler of this process"), 1);
    run(w, other, "other");
    collect_all(other);
    assert_int_equal(region_info(other, "other").count, 1);
    close_profiler(w, other);
    ZT_PASSES(profiler)
    run(w, profiler, "measured");
    collect_all(profiler);
    assert_counts(profiler, counted(5, 5, 0, 0, 0));
    check_work(w);
}

typedef struct sampling {
    zt_profiler *profiler;
    int waits, entered, may_go_on, runs;
} sampling;

static void repeat_in_sample(const zt_sample *sample, void *user) {
    sampling *me = (sampling *)user;
    (void)sample;
    if (!me->waits)
        ZT_PASSES(me->profiler)
    me->runs++;
    __atomic_store_n(&me->entered, 1, __ATOMIC_RELEASE);
    while (me->waits && !__atomic_load_n(&me->may_go_on, __ATOMIC_ACQUIRE))
        nap();
}

static void *collect_here(void *user) {
    zt_collect(((sampling *)user)->profiler, 0);
    return NULL;
}

/* Passes are not changed while samples are delivered. The work runs once nevertheless. */
static void test_passes_while_samples_are_delivered(void **state) {
    world *w = *state;
    for (int waits = 0; waits < 2; waits++) {
        sampling me = {NULL, waits, 0, 0, 0};
        pthread_t thread;
        zt_config config = passes_of(w, "ComputeBasic,MemoryProfile");
        config.sample = repeat_in_sample;
        config.sample_user = &me;
        config.wait_timeout_ns = 10000000;
        me.profiler = open_patiently(w, &config);
        run(w, me.profiler, "first");
        if (waits) {
            assert_int_equal(pthread_create(&thread, NULL, collect_here, &me), 0);
            await(&me.entered);
            ZT_PASSES(me.profiler)
            me.runs++;
            __atomic_store_n(&me.may_go_on, 1, __ATOMIC_RELEASE);
            join_in_time(w, thread);
            assert_true(heard(w, "[COLLECTOR_BUSY] ZT_PASSES") > 0);
        } else {
            collect_all(me.profiler);
            assert_int_equal(heard(w, "[INSIDE_CALLBACK] ZT_PASSES"), 1);
        }
        assert_int_equal(me.runs, 1);
        me.waits = me.runs = 0;
        me.entered = 0;
        ZT_PASSES(me.profiler)
        me.runs++;
        assert_int_equal(me.runs, 2);
        assert_int_equal(region_info(me.profiler, "first").count, 1);
        close_profiler(w, me.profiler);
    }
    check_work(w);
}

/* Nothing is repeated with a profiler that has passes, and no device. */
static void test_passes_of_an_unpacked_profiler(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_two_passes(w), *unpacked = NULL;
    size_t size = 0;
    int runs = 0;
    ok(zt_pack(profiler, NULL, &size));
    void *packed = malloc(size);
    assert_non_null(packed);
    ok(zt_pack(profiler, packed, &size));
    ok(zt_unpack(packed, size, NULL, &unpacked));
    assert_int_equal(zt_get_info(unpacked).pass_count, 2);
    assert_int_equal(zt_get_info(unpacked).tile_count + zt_get_info(NULL).tile_count, 0);
    ZT_PASSES(unpacked)
    runs++;
    assert_int_equal(runs, 1);
    ok(zt_name_list(unpacked, w->list, "name"));
    launch_kernel(w->list, w->kernel);
    ok(zt_reset(unpacked, w->list)); /* the list is reset all the same */
    ok(zeCommandListClose(w->list));
    execute_unprofiled(w, w->list);
    check_work(w);
    zt_close(unpacked);
    free(packed);
}

/* What measures the same metrics in other passes is not merged. */
static void test_profilers_with_other_passes_are_not_merged(void **state) {
    static const struct {
        plan plan;
        const char *mismatch;
    } cases[] = {
        {{"", {ZE_RESULT_SUCCESS, ZE_RESULT_SUCCESS}, {3, 3}, {1, 1, 1}, {0, 1, 2}, 1}, "has more passes"},
        {{"", {ZE_RESULT_SUCCESS, ZE_RESULT_SUCCESS}, {2, 2}, {2, 1}, {0, 1, 2}, 1}, "GpuTime"},
    };
    world *w = *state;
    const plan first = {"", {ZE_RESULT_SUCCESS, ZE_RESULT_SUCCESS}, {2, 2}, {1, 2}, {0, 1, 2}, 1};
    zt_config config = passes_of(w, "HostScheduler,ComputeBasic,Set5");
    gpu.behave(SOFTGPU_MANY_SETS, 1);
    gpu.behave(SOFTGPU_LAST_OF_DOMAIN_WINS, 1);
    replace_symbol("zetDeviceGetConcurrentMetricGroupsExp", (any_function)propose);
    proposed = &first;
    zt_profiler *profiler = open_profiler(w, &config);
    assert_int_equal(zt_get_info(profiler).pass_count, 2);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        proposed = &cases[i].plan;
        zt_profiler *other = open_profiler(w, &config);
        assert_int_equal(zt_get_info(other).metric_count, zt_get_info(profiler).metric_count);
        assert_result(zt_merge(profiler, other), ZE_RESULT_ERROR_INVALID_ARGUMENT);
        assert_contains(zt_get_info(profiler).error, "[LAYOUTS_DIFFER]");
        assert_contains(zt_get_info(profiler).error, cases[i].mismatch);
        close_profiler(w, other);
    }
    close_profiler(w, profiler);
}

/* Nor what has other metrics, of other groups, in other units, or combined otherwise. */
static void test_profilers_of_other_metrics_are_not_merged(void **state) {
    static const struct {
        const char *group;
        softgpu_metric metric;
    } cases[] = {
        {"Listed", {"ONE", "Test", "events", ZET_METRIC_TYPE_EVENT, ZET_VALUE_TYPE_UINT64}},
        {"Listed", {"OTHER", "Test", "events", ZET_METRIC_TYPE_EVENT, ZET_VALUE_TYPE_UINT64}},
        {"Renamed", {"ONE", "Test", "events", ZET_METRIC_TYPE_EVENT, ZET_VALUE_TYPE_UINT64}},
        {"Listed", {"ONE", "Test", "messages", ZET_METRIC_TYPE_EVENT, ZET_VALUE_TYPE_UINT64}},
        {"Listed", {"ONE", "Test", "events", ZET_METRIC_TYPE_RAW, ZET_VALUE_TYPE_UINT64}},
    };
    enum { CASES = sizeof cases / sizeof cases[0] };
    world *w = *state;
    zt_profiler *unpacked[CASES] = {NULL};
    for (int i = 0; i < CASES; i++) {
        size_t size = 0;
        assert_true(gpu.list_metrics(cases[i].group, &cases[i].metric, 1));
        zt_profiler *profiler = open_groups(w, cases[i].group);
        ok(zt_pack(profiler, NULL, &size));
        void *packed = malloc(size);
        assert_non_null(packed);
        ok(zt_pack(profiler, packed, &size));
        ok(zt_unpack(packed, size, NULL, &unpacked[i]));
        free(packed);
        close_profiler(w, profiler);
    }
    assert_true(gpu.list_metrics(NULL, NULL, 0));
    for (int i = 0; i < CASES; i++)
        for (int j = 0; j < CASES; j++)
            assert_result(zt_merge(unpacked[i], unpacked[j]), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    for (int i = 0; i < CASES; i++)
        zt_close(unpacked[i]);
}

/* Nor what has tiles with what has none. */
static void test_profilers_with_other_tiles_are_not_merged(void **state) {
    world *w = *state;
    gpu.set_devices(1, 2);
    zt_profiler *tiles = open_groups(w, "ComputeBasic");
    hide_symbol("zetMetricGroupCalculateMultipleMetricValuesExp");
    zt_profiler *none = open_groups(w, "ComputeBasic");
    hide_symbol(NULL);
    assert_int_equal(zt_get_info(tiles).tile_count, 2);
    assert_int_equal(zt_get_info(none).tile_count, 0);
    assert_result(zt_merge(tiles, none), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_contains(zt_get_info(tiles).error, "one has more tiles");
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
        ok(zt_get_stats(profiler, find_region(profiler, "longer"), ZT_PASS_TIME(0), &first));
        pass++;
    }
    assert_int_equal(region_info(profiler, "first only").differs, ZT_DIFFERS_MISSING);
    assert_true(region_info(profiler, "more often").differs & ZT_DIFFERS_COUNT);
    uint32_t longer = find_region(profiler, "longer");
    ok(zt_get_stats(profiler, longer, ZT_PASS_TIME(0), &first));
    ok(zt_get_stats(profiler, longer, ZT_PASS_TIME(1), &second));
    assert_true(first.count == 1 && second.count == 1 && second.mean > first.mean);
    assert_true(region_info(profiler, "longer").differs & ZT_DIFFERS_TIME);
    assert_close(region_info(profiler, "longer").time_ns.sum, first.sum + second.sum);
    assert_result(zt_get_stats(profiler, longer, ZT_PASS_TIME(2), &first), ZE_RESULT_ERROR_INVALID_ARGUMENT);
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
    assert_contains(written_report(profiler, ZT_FORMAT_CSV), ",all,1,missing,,region,\n");
    assert_contains(written_report(profiler, ZT_FORMAT_CSV), ",tile,pass,differs,text,kind,symbol\n");
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
    assert_int_equal(zt_get_info(profiler).causes[ZT_LOST_OTHER_PASS].count, 1);
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
    assert_int_equal(zt_get_info(profiler).causes[ZT_LOST_OTHER_PASS].count, 1);
    check_work(w);
}

static void test_too_many_passes(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    const char *message;
    config.groups = "ComputeBasic,MemoryProfile";
    zt_profiler *profiler = open_profiler(w, &config);
    message = zt_get_info(profiler).availability_text;
    assert_int_equal(zt_get_info(profiler).availability, ZT_GROUPS_CONFLICT);
    assert_contains(message, "config.max_passes");
    close_profiler(w, profiler);

    config = passes_of(w, "Set4,Set6,Set8");
    config.max_passes = 2;
    gpu.behave(SOFTGPU_MANY_SETS, 1);
    profiler = open_profiler(w, &config);
    assert_int_equal(zt_get_info(profiler).availability, ZT_GROUPS_CONFLICT);
    message = zt_get_info(profiler).availability_text;
    assert_contains(message, "[TOO_MANY_PASSES]");
    assert_contains(message, "need 3 passes, of at most 2. Name fewer groups, or raise config.max_passes.");
}

/* However many config.max_passes allows, there are 16. */
static void test_more_passes_than_a_profiler_has(void **state) {
    const softgpu_metric listed = {"LISTED", "Test", "events", ZET_METRIC_TYPE_EVENT, ZET_VALUE_TYPE_UINT64};
    world *w = *state;
    char groups[512] = "ComputeBasic,MemoryProfile,Listed";
    zt_config config = passes_of(w, groups);
    gpu.behave(SOFTGPU_MANY_SETS, 1);
    assert_true(gpu.list_metrics("Listed", &listed, 1));
    for (int set = 4; set < 32; set++)
        snprintf(groups + strlen(groups), sizeof groups - strlen(groups), ",Set%d", set);
    config.max_passes = 100;
    zt_profiler *profiler = open_profiler(w, &config);
    assert_int_equal(zt_get_info(profiler).availability, ZT_GROUPS_CONFLICT);
    assert_contains(zt_get_info(profiler).availability_text,
                    "need 17 passes, of at most 16. Name fewer groups.");
    close_profiler(w, profiler);
    assert_true(gpu.list_metrics(NULL, NULL, 0));
}

/* A plan of the driver that has each group once is followed. Otherwise the domains of the groups decide. */
static void test_plans_of_the_driver(void **state) {
    const ze_result_t good = ZE_RESULT_SUCCESS, bad = ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    const plan plans[] = {
        {"each alone", {good, good}, {3, 3}, {1, 1, 1}, {1, 2, 0}, 1},
        {"refused", {bad, good}, {3, 3}, {1, 1, 1}, {1, 2, 0}, 0},
        {"refused at last", {good, bad}, {3, 3}, {1, 1, 1}, {1, 2, 0}, 0},
        {"more passes than groups", {good, good}, {4, 3}, {1, 1, 1}, {1, 2, 0}, 0},
        {"more passes than there was room for", {good, good}, {3, 4}, {1, 1, 1}, {1, 2, 0}, 0},
        {"an empty pass", {good, good}, {3, 3}, {1, 0, 2}, {1, 2, 0}, 0},
        {"more groups than were given", {good, good}, {2, 2}, {2, 2}, {1, 2, 0}, 0},
        {"a size that overflows", {good, good}, {2, 2}, {2, UINT32_MAX}, {1, 2, 0}, 0},
        {"fewer groups than were given", {good, good}, {2, 2}, {1, 1}, {1, 2, 0}, 0},
        {"a group twice", {good, good}, {3, 3}, {1, 1, 1}, {1, 2, 1}, 0},
        {"an unknown group", {good, good}, {3, 3}, {1, 1, 1}, {1, -1, 0}, 0},
        {"no pass", {good, good}, {0, 0}, {0}, {1, 2, 0}, 0},
    };
    world *w = *state;
    replace_symbol("zetDeviceGetConcurrentMetricGroupsExp", (any_function)propose);
    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
        zt_config config = passes_of(w, "ComputeBasic,MemoryProfile,HostScheduler");
        proposed = &plans[i];
        zt_profiler *profiler = open_profiler(w, &config);
        assert_int_equal(zt_get_info(profiler).availability, ZT_AVAILABLE);
        if (zt_get_info(profiler).pass_count != (proposed->is_sound ? 3 : 2) ||
            pass_of(profiler, "ComputeBasic") != (proposed->is_sound ? 2 : 0) ||
            pass_of(profiler, "MemoryProfile") != (proposed->is_sound ? 0 : 1) ||
            pass_of(profiler, "HostScheduler") != (proposed->is_sound ? 1 : 0))
            fail_msg("%s: ComputeBasic is in pass %u of %u", proposed->what,
                     pass_of(profiler, "ComputeBasic"), zt_get_info(profiler).pass_count);
        ZT_PASSES(profiler)
        run(w, profiler, "measured");
        collect_all(profiler);
        assert_true(stats_of(profiler, "measured", "WORK_ITEM_COUNT").sum == WORK_ITEMS);
        close_profiler(w, profiler);
    }
    check_work(w);
}

/* A profiler has room for eight groups in a pass. */
static void test_a_plan_with_a_pass_that_is_too_large(void **state) {
    world *w = *state;
    const plan one_pass = {"", {ZE_RESULT_SUCCESS, ZE_RESULT_SUCCESS}, {1, 1}, {9}, {0, 1, 2}, 0};
    zt_config config = passes_of(w, "Set4,Set5,Set6,Set7,Set8,Set9,Set10,Set11,Set12");
    gpu.behave(SOFTGPU_MANY_SETS, 1);
    replace_symbol("zetDeviceGetConcurrentMetricGroupsExp", (any_function)propose);
    proposed = &one_pass;
    config.max_passes = 8;
    zt_profiler *profiler = open_profiler(w, &config);
    assert_int_equal(zt_get_info(profiler).availability, ZT_AVAILABLE);
    assert_int_equal(zt_get_info(profiler).pass_count, 5);
    assert_int_equal(pass_of(profiler, "Set12"), 4);
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
    for (uint32_t i = 0; i < zt_get_info(profiler).metric_count; i++) {
        const char *group = zt_get_metric(profiler, i)->group;
        if (strstr(got, group))
            continue;
        strncat(got, *got ? "," : "", sizeof got - strlen(got) - 1);
        strncat(got, group, sizeof got - strlen(got) - 1);
    }
    assert_string_equal(got, groups);
    assert_int_equal(zt_get_info(profiler).pass_count, passes);
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
    message = zt_get_info(profiler).availability_text;
    assert_int_equal(zt_get_info(profiler).availability, ZT_NO_SUCH_METRIC);
    assert_contains(message, "'GPU_MEMORY_BYTES_READ'");
    assert_contains(message, "'GPU_MEMORY_BYTE_READ'");
}

static void test_metrics_that_need_more_passes_than_there_are(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.metrics = "COPY_BYTE_COUNT,WORK_ITEM_COUNT";
    assert_int_equal(zt_get_info(open_profiler(w, &config)).availability, ZT_GROUPS_CONFLICT);
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
    assert_int_equal(zt_get_info(profiler).availability, ZT_AVAILABLE);
    assert_int_equal(zt_get_info(profiler).pass_count, 16);
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
    assert_int_equal(zt_get_info(profiler).availability, ZT_AVAILABLE);
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
    assert_int_equal(zt_get_info(profiler).availability, ZT_AVAILABLE);
    assert_int_equal(pass_of(profiler, "ComputeBasic"), UINT32_MAX);
    assert_int_equal(pass_of(profiler, "MemoryProfile"), 0);
    assert_int_equal(pass_of(profiler, "HostScheduler"), 0);
}

/* config.metrics has up to 64 names: one more is an error. */
static void test_most_metrics_by_name(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    char metrics[2048] = "";
    gpu.behave(SOFTGPU_MANY_SETS, 1);
    for (int set = 4; set < 32; set++)
        snprintf(metrics + strlen(metrics), sizeof metrics - strlen(metrics), "ITEMS_OF_SET_%d,", set);
    for (int i = 28; i < 63; i++)
        strcat(metrics, "WORK_ITEM_COUNT,");
    strcat(metrics, "COPY_BYTE_COUNT"); /* the 64th, which no other needs */
    config.metrics = metrics;
    config.max_passes = 16;
    zt_profiler *profiler = open_profiler(w, &config);
    assert_int_equal(zt_get_info(profiler).availability, ZT_AVAILABLE);
    assert_true(zt_find_metric(profiler, "COPY_BYTE_COUNT") != UINT32_MAX);
    close_profiler(w, profiler);
    strcat(metrics, ",HOST_CPU_TIME");
    profiler = open_profiler(w, &config);
    assert_int_equal(zt_get_info(profiler).availability, ZT_NO_SUCH_METRIC);
    assert_contains(zt_get_info(profiler).availability_text, "[TOO_MANY_METRICS]");
    assert_contains(zt_get_info(profiler).availability_text, "64");
}

/* Whichever call fails while groups are chosen by their metrics, the message names it, and times are left. */
static void test_metrics_whose_groups_cannot_be_read(void **state) {
    static const char *const functions[] = {"zetMetricGroupGetProperties", "zetMetricGet",
                                            "zetMetricGetProperties"};
    world *w = *state;
    zt_config config = config_of(w);
    config.metrics = "COPY_BYTE_COUNT";
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        uint32_t failures = 0;
        for (zt_availability availability = ZT_NOT_SUPPORTED; availability != ZT_AVAILABLE;) {
            inject(functions[i], failures + 1, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
            zt_profiler *profiler = open_profiler(w, &config);
            availability = zt_get_info(profiler).availability;
            if (availability != ZT_AVAILABLE) {
                assert_int_equal(availability, ZT_NOT_SUPPORTED);
                assert_contains(zt_get_info(profiler).availability_text, functions[i]);
                run(w, profiler, "timed");
                collect_all(profiler);
                assert_int_equal(region_info(profiler, "timed").count, 1);
                failures++;
            }
            inject(functions[i], 1, ZE_RESULT_SUCCESS);
            close_profiler(w, profiler);
            w->message_count = 0;
        }
        assert_true(failures > 1);
    }
    check_work(w);
}

/* The same without memory, at each allocation. */
static void test_metrics_without_memory(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    zt_profiler *profiler = NULL;
    ze_result_t result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    int failures = 0, refused = 0;
    config.metrics = "COPY_BYTE_COUNT";
    config.columns = "COPY_BYTE_COUNT";
    config.require_metrics = 1;
    config.allocator = scarce_allocator();
    while (result != ZE_RESULT_SUCCESS) {
        allocations_left = failures++;
        result = zt_open(w->context, w->device, &config, &profiler);
        allocations_left = -1;
        if (result != ZE_RESULT_SUCCESS) {
            assert_result(result, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
            assert_null(profiler);
            refused++;
        }
    }
    assert_true(refused > 10);
    run(w, profiler, "measured");
    collect_all(profiler);
    assert_int_equal(stats_of(profiler, "measured", "COPY_BYTE_COUNT").count, 1);
    zt_close(profiler);
    check_work(w);
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
        TEST(test_one_run_where_nothing_is_to_be_repeated),
        TEST(test_left_early),
        TEST(test_a_pass_without_a_free_probe),
        TEST(test_a_pass_that_cannot_be_entered),
        TEST(test_a_return_that_fails),
        TEST(test_a_return_that_is_tried_again),
        TEST(test_a_pass_whose_counters_are_in_use),
        TEST(test_passes_while_samples_are_delivered),
        TEST(test_passes_of_an_unpacked_profiler),
        TEST(test_profilers_with_other_passes_are_not_merged),
        TEST(test_profilers_of_other_metrics_are_not_merged),
        TEST(test_profilers_with_other_tiles_are_not_merged),
        TEST(test_differences_are_reported),
        TEST(test_reports_say_which_pass),
        TEST(test_a_list_of_another_pass),
        TEST(test_a_region_around_passes),
        TEST(test_too_many_passes),
        TEST(test_more_passes_than_a_profiler_has),
        TEST(test_plans_of_the_driver),
        TEST(test_a_plan_with_a_pass_that_is_too_large),
        TEST(test_passes_with_a_thread),
        TEST(test_nothing_allocates_after_the_first_time),
        TEST(test_fewest_groups_for_metrics),
        TEST(test_metrics_beside_groups),
        TEST(test_unknown_metric_is_named),
        TEST(test_metrics_that_need_more_passes_than_there_are),
        TEST(test_metrics_of_many_groups),
        TEST(test_metrics_that_many_choices_fit),
        TEST(test_metrics_that_only_one_choice_fits),
        TEST(test_most_metrics_by_name),
        TEST(test_metrics_whose_groups_cannot_be_read),
        TEST(test_metrics_without_memory),
        TEST(test_environment_chooses_metrics),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
