/* Phases: what is submitted in them, on which thread and list, and what they know of it. */
#include "fixture.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* ==== what is delivered =================================================================================== */

enum { MOST_SAMPLES = 16384, PATH_LENGTH = 256 };

static struct {
    char path[PATH_LENGTH];
    double ns;
} delivered[MOST_SAMPLES];
static uint32_t delivered_count;

static void name_path(const zt_profiler *profiler, uint32_t path, char *text) {
    zt_region_info info;
    char rest[PATH_LENGTH] = "";
    while (path != UINT32_MAX) {
        ok(zt_get_region(profiler, path, &info));
        snprintf(text, PATH_LENGTH, "%s%s%s", info.name, *rest ? ";" : "", rest);
        strcpy(rest, text);
        path = info.parent;
    }
}

static zt_profiler *sampled_profiler;

static void deliver(const zt_sample *sample, void *user) {
    (void)user;
    assert_true(delivered_count < MOST_SAMPLES);
    name_path(sampled_profiler, sample->path, delivered[delivered_count].path);
    delivered[delivered_count++].ns = sample->gpu_time_ns;
}

/* The GPU time of the samples that were delivered whose path begins with `path`. Regions inside of others are not
   counted again: their paths are longer than that of one region in a phase. */
static double sum_in(const char *path, uint64_t *count) {
    size_t length = strlen(path);
    double sum = 0;
    *count = 0;
    for (uint32_t i = 0; i < delivered_count; i++)
        if (strncmp(delivered[i].path, path, length) == 0 && delivered[i].path[length] == ';') {
            sum += delivered[i].ns;
            ++*count;
        }
    return sum;
}

static zt_profiler *open_delivering(world *w, const char *groups) {
    zt_config config = config_of(w);
    config.groups = groups;
    config.sample = deliver;
    delivered_count = 0;
    return sampled_profiler = open_profiler(w, &config);
}

static zt_region_info path_info(const zt_profiler *profiler, const char *name) {
    zt_region_info info;
    uint32_t path = zt_find_path(profiler, name);
    if (path == UINT32_MAX)
        fail_msg("there is no path %s", name);
    ok(zt_get_region(profiler, path, &info));
    return info;
}

/* A phase, by the samples that were delivered inside. */
static void expect_phase(const zt_profiler *profiler, const char *name, uint64_t entered,
                         uint64_t with_samples) {
    zt_region_info info = path_info(profiler, name);
    uint64_t count;
    double ns = sum_in(name, &count);
    assert_true(info.is_phase);
    assert_int_equal(info.entered, entered);
    assert_int_equal(info.incomplete, 0);
    assert_int_equal(info.count, count);
    assert_close(info.total_ns, ns);
    assert_int_equal(info.time_ns.count, with_samples);
    assert_close(info.time_ns.sum, ns);
    assert_true(isnan(info.own_ns));
}

/* ==== immediate lists ===================================================================================== */

static void test_an_immediate_list_takes_the_phase_of_the_append(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_delivering(w, "ComputeBasic");
    for (int step = 0; step < 3; step++) {
        zt_phase_begin("step");
        zt_phase_begin("assemble");
        run(w, profiler, "kernel");
        zt_phase_end();
        zt_phase_begin("solve");
        run(w, profiler, "kernel");
        run(w, profiler, "kernel");
        zt_phase_end();
        zt_phase_end();
    }
    run(w, profiler, "kernel");
    collect_all(profiler);
    expect_phase(profiler, "step", 3, 3);
    expect_phase(profiler, "step;assemble", 3, 3);
    expect_phase(profiler, "step;solve", 3, 3);
    assert_int_equal(path_info(profiler, "step;solve;kernel").count, 6);
    assert_int_equal(path_info(profiler, "step;assemble;kernel").count, 3);
    assert_int_equal(path_info(profiler, ";kernel").count, 1);
    assert_int_equal(region_info(profiler, "kernel").count, 10);
    assert_counts(profiler, counted(10, 10, 0, 0, 0));
    check_work(w);
}

/* Metrics of a phase are those of the samples inside. */
static void test_metrics_of_a_phase(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_delivering(w, "ComputeBasic");
    zt_stats phase, kernel, other;
    zt_phase_begin("solve");
    run(w, profiler, "kernel");
    run(w, profiler, "other");
    run(w, profiler, "kernel");
    zt_phase_end();
    collect_all(profiler);
    for (uint32_t metric = 0; metric < zt_get_info(profiler).metric_count; metric++) {
        ok(zt_get_stats(profiler, zt_find_path(profiler, "solve"), metric, &phase));
        ok(zt_get_stats(profiler, zt_find_path(profiler, "solve;kernel"), metric, &kernel));
        ok(zt_get_stats(profiler, zt_find_path(profiler, "solve;other"), metric, &other));
        assert_int_equal(phase.count, kernel.count + other.count);
        if (zt_get_metric(profiler, metric)->aggregation == ZT_AGGREGATE_SUM)
            assert_close(phase.sum, kernel.sum + other.sum);
        assert_true(phase.max == fmax(kernel.max, other.max) || isnan(phase.max));
        assert_true(phase.min == fmin(kernel.min, other.min) || isnan(phase.min));
        assert_int_equal(isnan(phase.max) != 0, isnan(kernel.max) != 0);
    }
    check_work(w);
}

/* Of the GPU time of an entry, and not of a list or a launch. */
static void test_the_median_is_of_entries(void **state) {
    world *w = *state;
    enum { ENTRIES = 3 };
    zt_profiler *profiler = open_delivering(w, "");
    double entries[ENTRIES] = {0};
    for (int i = 0; i < ENTRIES; i++) {
        uint32_t before;
        zt_phase_begin("solve");
        for (int j = 0; j <= i; j++)
            run(w, profiler, "kernel");
        zt_phase_end();
        before = delivered_count;
        collect_all(profiler);
        for (uint32_t j = before; j < delivered_count; j++)
            entries[i] += delivered[j].ns;
    }
    zt_phase_begin("solve"); /* without work: it is entered, and not in the median */
    zt_phase_end();
    collect_all(profiler);
    zt_region_info info = path_info(profiler, "solve");
    assert_int_equal(info.entered, ENTRIES + 1);
    assert_int_equal(info.time_ns.count, ENTRIES);
    assert_close(info.time_ns.sum, entries[0] + entries[1] + entries[2]);
    assert_close(info.time_ns.max, fmax(entries[0], fmax(entries[1], entries[2])));
    assert_close(info.time_ns.min, fmin(entries[0], fmin(entries[1], entries[2])));
    check_work(w);
}

/* ==== recorded lists ====================================================================================== */

static void test_a_recorded_list_takes_the_phase_of_each_execution(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_delivering(w, "ComputeBasic");
    zt_phase_begin("set-up"); /* in which it is recorded, and nothing runs */
    zt_region outer = zt_begin(profiler, w->list, "outer");
    append(w, profiler, w->list, "inner");
    append(w, profiler, w->list, "inner");
    zt_end(&outer);
    append(w, profiler, w->list, "beside");
    ok(zeCommandListClose(w->list));
    zt_phase_end();
    for (int i = 0; i < 5; i++) {
        zt_phase_begin(i < 2 ? "warm-up" : "solve");
        execute(w, profiler, w->list);
        zt_phase_end();
        w->launches += 3;
    }
    execute(w, profiler, w->list);
    w->launches += 3;
    collect_all(profiler);
    assert_int_equal(path_info(profiler, "warm-up;outer;inner").count, 4);
    assert_int_equal(path_info(profiler, "solve;outer;inner").count, 6);
    assert_int_equal(path_info(profiler, ";outer").count, 1);
    assert_int_equal(path_info(profiler, "solve;beside").count, 3);
    zt_region_info solve = path_info(profiler, "solve"), outers = path_info(profiler, "solve;outer"),
                   beside = path_info(profiler, "solve;beside");
    assert_int_equal(solve.count, 6); /* samples in no other region */
    assert_int_equal(solve.time_ns.count, 3);
    assert_close(solve.total_ns, outers.total_ns + beside.total_ns);
    assert_close(solve.time_ns.sum, solve.total_ns);
    assert_true(outers.own_ns >= 0);
    zt_region_info set_up = path_info(profiler, "set-up");
    assert_int_equal(set_up.entered, 1);
    assert_int_equal(set_up.count, 0);
    assert_int_equal(set_up.time_ns.count, 0);
    check_work(w);
}

static void test_by_the_append_if_the_program_says_so(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "";
    config.phases_at_append = 1;
    zt_profiler *profiler = open_profiler(w, &config);
    zt_phase_begin("record");
    append(w, profiler, w->list, "kernel");
    zt_phase_end();
    ok(zeCommandListClose(w->list));
    for (int i = 0; i < 2; i++) {
        zt_phase_begin("run");
        execute(w, profiler, w->list);
        zt_phase_end();
        w->launches++;
    }
    collect_all(profiler);
    assert_int_equal(path_info(profiler, "record;kernel").count, 2);
    assert_int_equal(path_info(profiler, "run").count, 0);
    check_work(w);
}

/* What a list owes from an execution that was overtaken is lost in the phase of that execution. */
static void test_lost_in_its_own_phase(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "";
    config.timeline = 100;
    config.wait_timeout_ns = 1000;
    zt_profiler *profiler = open_profiler(w, &config);
    ze_event_handle_t gate = append_gate(w, w->list);
    append(w, profiler, w->list, "kernel");
    ok(zeCommandListClose(w->list));
    zt_phase_begin("first");
    ok(zt_execute(profiler, w->queue, 1, &w->list, NULL));
    zt_phase_end();
    zt_phase_begin("second");
    ok(zt_execute(profiler, w->queue, 1, &w->list, NULL));
    zt_phase_end();
    ok(zeEventHostSignal(gate));
    finish_queue(w);
    w->launches += 2;
    collect_all(profiler);
    assert_int_equal(path_info(profiler, "first").lost, 1);
    assert_true(isnan(path_info(profiler, "first").busy_ns));
    assert_int_equal(path_info(profiler, "first").incomplete, 1);
    assert_int_equal(path_info(profiler, "first").time_ns.count, 0);
    assert_int_equal(path_info(profiler, "second").entered, 1);
    ok(zt_reset(profiler, w->list)); /* the device is done with it */
    ok(zeEventDestroy(gate));
    check_work(w);
}

/* ==== regions and phases ================================================================================== */

/* A phase stands outside of regions, also where it begins inside of one: the GPU time of the region is that of the phase
   around, and counts once. */
static void test_a_phase_inside_of_a_region(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_delivering(w, "ComputeBasic");
    zt_phase_begin("a");
    zt_region outer = zt_begin(profiler, w->immediate, "outer");
    launch(w, w->immediate);
    zt_phase_begin("b");
    append(w, profiler, w->immediate, "inner");
    w->launches++;
    zt_phase_end();
    zt_end(&outer);
    zt_phase_end();
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    zt_region_info a = path_info(profiler, "a"), b = path_info(profiler, "a;b"),
                   r = path_info(profiler, "a;outer"), inner = path_info(profiler, "a;b;outer;inner");
    assert_close(a.total_ns, r.total_ns);
    assert_close(a.time_ns.sum, r.total_ns);
    assert_int_equal(a.count, 1);
    assert_close(b.total_ns, inner.total_ns);
    assert_close(b.time_ns.sum, inner.total_ns);
    assert_int_equal(inner.count, 1);
    assert_true(isnan(r.own_ns));
    check_work(w);
}

/* Its inner samples are in phases that begin and end inside of it. The phase around all of them has the region. */
static void test_phases_inside_of_a_region(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_delivering(w, "");
    zt_phase_begin("step");
    zt_phase_begin("a");
    zt_region outer = zt_begin(profiler, w->immediate, "outer");
    zt_phase_end();
    zt_phase_begin("b");
    append(w, profiler, w->immediate, "inner");
    zt_phase_end();
    zt_end(&outer);
    zt_phase_begin("b");
    append(w, profiler, w->immediate, "outer");
    zt_phase_end();
    zt_phase_end();
    w->launches += 2;
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    zt_region_info step = path_info(profiler, "step"), a = path_info(profiler, "step;a"),
                   b = path_info(profiler, "step;b"), inner = path_info(profiler, "step;b;outer;inner"),
                   beside = path_info(profiler, "step;b;outer");
    assert_int_equal(step.count, 2);
    assert_close(step.total_ns, a.total_ns + beside.total_ns);
    assert_close(step.time_ns.sum, step.total_ns);
    assert_int_equal(b.count, 2);
    assert_close(b.total_ns, inner.total_ns + beside.total_ns);
    assert_close(b.time_ns.sum, b.total_ns);
    assert_int_equal(b.time_ns.count, 2);
    check_work(w);
}

/* A phase, whose samples all have metrics: as many as it counts, and no others. */
static void expect_metrics(const zt_profiler *profiler, const char *name, uint64_t count) {
    zt_region_info info = path_info(profiler, name);
    zt_stats stats;
    assert_true(info.is_phase);
    assert_int_equal(info.count, count);
    assert_int_equal(info.with_metrics, count);
    ok(zt_get_stats(profiler, zt_find_path(profiler, name), zt_find_metric(profiler, "GpuTime"), &stats));
    assert_int_equal(stats.count, count);
    assert_close(stats.sum, info.total_ns);
}

/* Samples with a latency. There are none where the loader cannot tell that the list is immediate. */
static uint64_t count_launched(const zt_profiler *profiler, const char *name) {
    zt_stats stats;
    ok(zt_get_stats(profiler, zt_find_path(profiler, name), ZT_LAUNCH_LATENCY, &stats));
    return stats.count;
}

/* The metrics of a phase are of the samples that it counts, however phases and regions nest. One path has samples that
   their phases count, and others that are in a region which these count. */
static void test_metrics_where_phases_and_regions_mix(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "ComputeBasic";
    config.samples = config.timeline = 100;
    zt_profiler *profiler = open_profiler(w, &config), *back;
    zt_stats stats;
    zt_region region = zt_begin(profiler, w->immediate, "step");
    ZT_PHASE("solve") {
        ZT_PHASE("cg")
            append(w, profiler, w->immediate, "kernel");
        ZT_PHASE("check")
            append(w, profiler, w->immediate, "kernel");
    }
    zt_end(&region);
    w->launches += 2;
    for (int i = 0; i < 10; i++)
        ZT_PHASE("output") {
            region = zt_begin(profiler, w->immediate, "around");
            append(w, profiler, w->immediate, "inside");
            zt_end(&region);
            w->launches++;
        }
    region = zt_begin(profiler, w->immediate, "around");
    ZT_PHASE("output")
        append(w, profiler, w->immediate, "inside");
    zt_end(&region);
    w->launches++;
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    back = repacked(profiler);
    for (int i = 0; i < 2; i++) {
        const zt_profiler *from = i ? back : profiler;
        expect_metrics(from, "solve", 2);
        expect_metrics(from, "solve;cg", 1);
        expect_metrics(from, "solve;check", 1);
        expect_metrics(from, "output", 11);
        assert_int_equal(count_launched(from, "solve"), 2 * count_launched(from, "solve;cg;step;kernel"));
        ok(zt_get_stats(from, zt_find_path(from, "output"), zt_find_metric(from, "GpuTime"), &stats));
        assert_true(stats.median > 0 && stats.p95 >= stats.median);
        assert_int_equal(path_info(from, "output;around;inside").count, 11);
        assert_int_equal(region_info(from, "step").with_metrics, 1);
    }
    ok(zt_merge(back, profiler));
    expect_metrics(back, "solve", 4);
    expect_metrics(back, "output", 22);
    zt_close(back);
    check_work(w);
}

/* What is beyond 16,384 paths, or nested too deeply, stays in the phases that it is in. */
static void test_more_paths_than_are_kept(void **state) {
    world *w = *state;
    enum { LAYERS = 420, KERNELS = 40 };
    static char names[LAYERS][16];
    zt_config config = config_of(w);
    config.groups = "";
    zt_profiler *profiler = open_profiler(w, &config);
    uint64_t others = 0;
    for (int i = 0; i < LAYERS; i++) {
        snprintf(names[i], sizeof names[i], "layer %d", i);
        ZT_PHASE("run")
            ZT_PHASE(names[i])
                for (int j = 0; j < KERNELS; j++) {
                    char name[16];
                    snprintf(name, sizeof name, "kernel %d", j);
                    zt_region region = zt_begin(profiler, w->immediate, name);
                    zt_end(&region);
                }
        finish_immediate(w, w->immediate);
        ok(zt_collect(profiler, 0));
    }
    collect_all(profiler);
    zt_region_info run = path_info(profiler, "run"), all;
    assert_int_equal(run.count, LAYERS * KERNELS);
    assert_int_equal(run.time_ns.count, LAYERS);
    assert_close(run.time_ns.sum, run.total_ns);
    assert_int_equal(zt_find_path(profiler, "run;layer 419"), UINT32_MAX);
    for (uint32_t i = 0; i < zt_get_info(profiler).path_count; i++) {
        ok(zt_get_region(profiler, ZT_PATH(i), &all));
        others += strcmp(all.name, "(other)") ? 0 : all.count;
    }
    assert_true(others > 0);
    assert_int_equal(region_info(profiler, "(other)").count, others);
    assert_int_equal(path_info(profiler, "run;(other)").is_phase, 0);
    zt_profiler *back = repacked(profiler);
    assert_int_equal(path_info(back, "run").count, run.count);
    zt_close(back);
}

static void test_a_region_and_a_phase_of_one_name(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_delivering(w, "");
    ZT_PHASE("solve") {
        run(w, profiler, "solve");
        run(w, profiler, "solve");
    }
    collect_all(profiler);
    assert_false(path_info(profiler, "solve").is_phase);
    assert_int_equal(region_info(profiler, "solve").count, 2);
    assert_int_equal(path_info(profiler, "solve;solve").count, 2);
    assert_true(path_info(profiler, ";solve").is_phase);
    run(w, profiler, "solve"); /* also a path inside no other */
    collect_all(profiler);
    assert_true(path_info(profiler, ";solve").is_phase);
    assert_int_equal(path_info(profiler, "solve").count, 3);
    close_profiler(w, profiler);

    profiler = open_delivering(w, "");
    run(w, profiler, "solve"); /* the same the other way round */
    ZT_PHASE("solve")
        run(w, profiler, "kernel");
    collect_all(profiler);
    assert_false(path_info(profiler, "solve").is_phase);
    assert_true(path_info(profiler, ";solve").is_phase);
    check_work(w);
}

static void recurse(world *w, zt_profiler *profiler, int depth) {
    ZT_PHASE("recursion") {
        run(w, profiler, "kernel");
        if (depth > 1)
            recurse(w, profiler, depth - 1);
    }
}

/* What is deeper than 64 belongs to the 64th. A phase inside of itself counts once in the figures of its name. */
static void test_recursion(void **state) {
    world *w = *state;
    enum { DEPTH = 70, LIMIT = 64 };
    static char path[(size_t)(LIMIT + 1) * 10];
    zt_profiler *profiler = open_delivering(w, "");
    recurse(w, profiler, DEPTH);
    collect_all(profiler);
    zt_region_info all = path_info(profiler, "recursion");
    assert_int_equal(all.count, DEPTH);
    assert_close(all.total_ns, region_info(profiler, "kernel").total_ns);
    assert_int_equal(all.entered, 1);
    for (int i = 0; i < LIMIT; i++)
        strcat(path, i ? ";recursion" : "recursion");
    assert_int_equal(path_info(profiler, path).count, DEPTH - LIMIT + 1);
    check_work(w);
}

/* Each of many entries that are on their way, and each of a deep stack, has its work. */
static void test_many_entries(void **state) {
    world *w = *state;
    enum { STEPS = 200, DEPTH = 40 };
    static const char *const names[] = {"step", "solve", "sweep"};
    zt_profiler *profiler = open_delivering(w, "");
    for (int i = 0; i < STEPS; i++) {
        for (int j = 0; j < 3; j++)
            zt_phase_begin(names[j]);
        append(w, profiler, w->immediate, "kernel");
        for (int j = 0; j < 3; j++)
            zt_phase_end();
    }
    for (int i = 0; i < DEPTH; i++)
        zt_phase_begin("deep");
    append(w, profiler, w->immediate, "kernel");
    for (int i = 0; i < DEPTH; i++)
        zt_phase_end();
    w->launches += STEPS + 1;
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    expect_phase(profiler, "step", STEPS, STEPS);
    expect_phase(profiler, "step;solve", STEPS, STEPS);
    expect_phase(profiler, "step;solve;sweep", STEPS, STEPS);
    assert_int_equal(path_info(profiler, "deep").time_ns.count, 1);
    check_work(w);
}

/* An entry whose work is collected before it ends is in the statistics at its end. */
static void test_the_last_entry(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_delivering(w, "");
    zt_phase_begin("main");
    run(w, profiler, "kernel");
    collect_all(profiler);
    assert_int_equal(path_info(profiler, "main").time_ns.count, 0);
    zt_phase_end();
    expect_phase(profiler, "main", 1, 1);
    check_work(w);
}

/* A region for which there is no probe is missing in its phase. */
static void test_dropped(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "";
    config.probes_per_step = config.max_probes = 1;
    config.wait_timeout_ns = 1000;
    zt_profiler *profiler = open_profiler(w, &config);
    zt_phase_begin("main");
    zt_region held = zt_begin(profiler, w->immediate, "held");
    zt_region dropped = zt_begin(profiler, w->immediate, "dropped");
    assert_null(dropped.probe);
    zt_end(&dropped);
    zt_end(&held);
    zt_phase_end();
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    zt_region_info main_phase = path_info(profiler, "main");
    assert_int_equal(main_phase.dropped, 1);
    assert_int_equal(path_info(profiler, "main;held;dropped").dropped, 1);
    assert_int_equal(main_phase.incomplete, 1);
    assert_int_equal(main_phase.time_ns.count, 0);
    assert_int_equal(main_phase.count, 1);
    assert_contains(written_report(profiler, ZT_FORMAT_CSV), "1 entry of phases is left out");
}

/* An outer region that never ends is dropped when its list runs: the sample inside counts, and the entries are incomplete. */
static void test_an_outer_region_that_is_dropped(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_delivering(w, "");
    zt_begin(profiler, w->list, "outer");
    append(w, profiler, w->list, "inner");
    ok(zeCommandListClose(w->list));
    for (int i = 0; i < 2; i++)
        ZT_PHASE("solve") {
            execute(w, profiler, w->list);
            w->launches++;
        }
    collect_all(profiler);
    zt_region_info solve = path_info(profiler, "solve"), inner = path_info(profiler, "solve;outer;inner");
    assert_int_equal(inner.count, 2);
    assert_int_equal(solve.count, 2);
    assert_close(solve.total_ns, inner.total_ns);
    assert_int_equal(solve.incomplete, 2);
    assert_int_equal(solve.time_ns.count, 0);
    check_work(w);
}

/* Beyond the limit, phases belong to the one around them, and a message says so. */
static void test_too_many_phases(void **state) {
    world *w = *state;
    enum { MANY = 4096 };
    static char name[32];
    zt_profiler *profiler = open_delivering(w, "");
    zt_phase_begin("around");
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "phase %d", i);
        zt_phase_begin(name);
        zt_phase_end();
    }
    assert_true(heard(w, "[TOO_MANY_PHASES] zt_phase_begin"));
    zt_phase_begin("one more");
    run(w, profiler, "kernel");
    zt_phase_end();
    zt_phase_end();
    collect_all(profiler);
    assert_int_equal(path_info(profiler, "around;kernel").count, 1);
    expect_phase(profiler, "around", 1, 1);
    check_work(w);
    close_profiler(w, profiler);

    profiler = open_delivering(w, "");
    ZT_PHASE("around")
        run(w, profiler, "kernel");
    collect_all(profiler);
    assert_contains(written_report(profiler, ZT_FORMAT_TABLE), "There are 4096 different phases");
}

/* ==== threads ============================================================================================= */

typedef struct worker {
    world *w;
    zt_profiler *profiler;
    zt_phase phase;
    ze_command_list_handle_t list;
    int adopts, runs;
} worker;

static void *work(void *argument) {
    const worker *self = argument;
    if (self->adopts)
        zt_phase_adopt(self->phase);
    for (int i = 0; i < self->runs; i++) {
        append(self->w, self->profiler, self->list, "kernel");
        finish_immediate(self->w, self->list);
    }
    if (self->adopts)
        zt_phase_end();
    append(self->w, self->profiler, self->list, "after");
    finish_immediate(self->w, self->list);
    return NULL;
}

/* A phase is of the thread that has begun it, and of those that adopt it: in one entry. */
static void test_threads(void **state) {
    world *w = *state;
    enum { WORKERS = 3, RUNS = 5 };
    zt_profiler *profiler = open_delivering(w, "");
    worker workers[WORKERS];
    pthread_t threads[WORKERS];
    zt_phase_begin("solve");
    run(w, profiler, "kernel");
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = (worker){w, profiler, zt_phase_current(), NULL, i > 0, RUNS};
        create_immediate(w, &workers[i].list);
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
        join_in_time(w, threads[i]);
    }
    zt_phase_end();
    w->launches += WORKERS * (RUNS + 1);
    collect_all(profiler);
    assert_int_equal(path_info(profiler, "solve;kernel").count, 1 + (WORKERS - 1) * RUNS);
    assert_int_equal(path_info(profiler, ";kernel").count, RUNS);
    assert_int_equal(path_info(profiler, ";after").count, WORKERS);
    expect_phase(profiler, "solve", 1, 1);
    for (int i = 0; i < WORKERS; i++)
        ok(zeCommandListDestroy(workers[i].list));
    check_work(w);
}

/* What is submitted in a phase that was adopted and is over counts in its figures, and in no entry. */
static void test_adopted_when_it_is_over(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_delivering(w, "");
    zt_phase_begin("solve");
    zt_phase phase = zt_phase_current();
    run(w, profiler, "kernel");
    zt_phase_end();
    collect_all(profiler);
    zt_phase_adopt(phase);
    run(w, profiler, "kernel");
    zt_phase_begin("inside");
    run(w, profiler, "kernel");
    zt_phase_end();
    zt_phase_end();
    collect_all(profiler);
    zt_region_info solve = path_info(profiler, "solve");
    assert_int_equal(solve.count, 3);
    assert_int_equal(solve.entered, 1);
    assert_int_equal(solve.time_ns.count, 1);
    assert_close(solve.total_ns, region_info(profiler, "kernel").total_ns);
    assert_int_equal(path_info(profiler, "solve;inside").time_ns.count, 1);
    check_work(w);
}

static void *end_in_a_phase(void *argument) {
    const worker *self = argument;
    zt_phase_adopt(self->phase);
    zt_phase_begin("work");
    append(self->w, self->profiler, self->list, "kernel");
    finish_immediate(self->w, self->list);
    return NULL;
}

/* A thread that ends in a phase of its own keeps the entries around it from being over. */
static void test_an_entry_that_is_never_over(void **state) {
    world *w = *state;
    static const char *const note = "1 entry of phases has ended and is left out of mean, median and p95";
    zt_profiler *profiler = open_delivering(w, "");
    pthread_t thread;
    zt_phase_begin("pool");
    run(w, profiler, "kernel");
    worker one = {w, profiler, zt_phase_current(), w->immediate, 1, 1};
    assert_int_equal(pthread_create(&thread, NULL, end_in_a_phase, &one), 0);
    join_in_time(w, thread);
    collect_all(profiler);
    assert_null(strstr(written_report(profiler, ZT_FORMAT_TABLE), note)); /* it has not ended */
    zt_phase_end();
    w->launches++;
    assert_int_equal(path_info(profiler, "pool").entered, 1);
    assert_int_equal(path_info(profiler, "pool").time_ns.count, 0);
    assert_contains(written_report(profiler, ZT_FORMAT_TABLE), note);
    check_work(w);
}

/* A phase that a thread had got before the profiler was opened has its work, and no entry of it. */
static void test_adopted_from_before_the_opening(void **state) {
    world *w = *state;
    zt_phase_begin("solve");
    zt_phase phase = zt_phase_current();
    zt_profiler *profiler = open_delivering(w, "");
    run(w, profiler, "kernel");
    zt_phase_adopt(phase);
    run(w, profiler, "kernel");
    zt_phase_end();
    zt_phase_end();
    collect_all(profiler);
    zt_region_info solve = path_info(profiler, "solve");
    assert_int_equal(solve.count, 2);
    assert_int_equal(solve.time_ns.count, 1);
    assert_close(solve.time_ns.sum, delivered[0].ns);
    check_work(w);
}

/* ==== the tracer ========================================================================================== */

/* A program that never sees a list: immediate and recorded lists of a runtime. */
static void test_traced(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_delivering(w, "");
    ok(zt_trace_start(profiler, NULL));
    zt_phase_begin("set-up");
    launch_kernel(w->list, w->kernel);
    ok(zeCommandListClose(w->list));
    zt_phase_end();
    for (int i = 0; i < 4; i++)
        ZT_PHASE("step") {
            ZT_PHASE("assemble") {
                launch(w, w->immediate);
                finish_immediate(w, w->immediate);
            }
            ZT_PHASE("solve")
                for (int j = 0; j < 3; j++) {
                    execute_unprofiled(w, w->list);
                    w->launches++;
                }
        }
    ok(zt_trace_stop(profiler));
    collect_all(profiler);
    expect_phase(profiler, "step", 4, 4);
    expect_phase(profiler, "step;assemble", 4, 4);
    expect_phase(profiler, "step;solve", 4, 4);
    assert_int_equal(path_info(profiler, "step;solve").count, 12);
    assert_int_equal(path_info(profiler, "set-up").entered, 1);
    assert_contains(written_report(profiler, ZT_FORMAT_TABLE),
                    "12 samples were appended in another phase than the one in which their list was");
    check_work(w);
}

/* ==== many at once ======================================================================================== */

enum { DEEPEST = 5, OPERATIONS = 400, SEQUENCES = 12 };

/* Begins, ends, immediate regions and executions in any order, by a model that has only a stack of names. */
static void run_sequence(world *w, unsigned seed, zt_profiler *profiler, ze_command_list_handle_t immediate,
                         ze_command_list_handle_t recorded, ze_command_queue_handle_t queue,
                         ze_event_handle_t done, char tag) {
    static const char *const names[] = {"a", "b", "c"};
    uint32_t depth = 0, random = seed * 2654435761u + 12345;
    char name[8];
    for (int i = 0; i < OPERATIONS; i++) {
        random = random * 1664525u + 1013904223u;
        switch (random >> 16 & 7) {
        case 0:
        case 1:
            if (depth < DEEPEST) {
                snprintf(name, sizeof name, "%c%s", tag, names[(random >> 20) % 3]);
                zt_phase_begin(name);
                depth++;
            }
            break;
        case 2:
        case 3:
            if (depth > 0) {
                zt_phase_end();
                depth--;
            }
            break;
        case 4:
        case 5:
            append(w, profiler, immediate, "kernel");
            break;
        case 6:
            ok(zt_execute(profiler, queue, 1, &recorded, NULL));
            break;
        default:
            ok(zt_collect(profiler, 0));
        }
    }
    while (depth-- > 0)
        zt_phase_end();
    ok(zeCommandListAppendBarrier(immediate, done, 0, NULL));
    ok(zeEventHostSynchronize(done, UINT64_MAX));
    ok(zeCommandQueueSynchronize(queue, UINT64_MAX));
}

/* Each phase has the GPU time of the samples that were delivered inside, in all and by entry. */
static void check_phases(const zt_profiler *profiler) {
    uint32_t checked = 0;
    for (uint32_t i = 0; i < zt_get_info(profiler).path_count; i++) {
        zt_region_info info;
        char path[PATH_LENGTH];
        uint64_t count;
        ok(zt_get_region(profiler, ZT_PATH(i), &info));
        if (info.is_phase) {
            name_path(profiler, ZT_PATH(i), path);
            double ns = sum_in(path, &count);
            assert_int_equal(info.count, count);
            assert_close(info.total_ns, ns);
            assert_int_equal(info.incomplete, 0);
            assert_close(info.time_ns.count ? info.time_ns.sum : 0, ns);
            assert_true(info.time_ns.count <= info.entered);
            checked++;
        }
    }
    assert_true(checked > 10);
}

static void test_sequences_of_phases(void **state) {
    world *w = *state;
    ze_event_handle_t done;
    create_event(w, 1, &done);
    for (unsigned seed = 1; seed <= SEQUENCES; seed++) {
        zt_profiler *profiler = open_delivering(w, seed % 2 ? "" : "ComputeBasic");
        append(w, profiler, w->list, "kernel");
        ok(zeCommandListClose(w->list));
        ok(zeEventHostReset(done));
        run_sequence(w, seed, profiler, w->immediate, w->list, w->queue, done, 'x');
        collect_all(profiler);
        check_phases(profiler);
        reset_list(w->list);
        ok(zt_release(profiler, w->list));
        close_profiler(w, profiler);
    }
    ok(zeEventDestroy(done));
}

typedef struct sequence {
    world *w;
    zt_profiler *profiler;
    ze_command_list_handle_t immediate, recorded;
    ze_command_queue_handle_t queue;
    ze_event_handle_t done;
    char tag;
} sequence;

static void *run_one(void *argument) {
    const sequence *one = argument;
    run_sequence(one->w, (unsigned)one->tag, one->profiler, one->immediate, one->recorded, one->queue,
                 one->done, one->tag);
    return NULL;
}

/* Three threads in phases of their own, with lists of their own, and one profiler. */
static void test_sequences_of_threads(void **state) {
    enum { THREADS = 3 };
    world *w = *state;
    zt_profiler *profiler = open_delivering(w, "");
    sequence of[THREADS];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        ze_command_queue_desc_t desc = {ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, NULL, 0, 0, 0, 0, 0};
        of[i] = (sequence){w, profiler, NULL, NULL, NULL, NULL, (char)('x' + i)};
        create_event(w, (uint32_t)i + 1, &of[i].done);
        create_immediate(w, &of[i].immediate);
        create_list(w, &of[i].recorded);
        ok(zeCommandQueueCreate(w->context, w->device, &desc, &of[i].queue));
        append(w, profiler, of[i].recorded, "kernel");
        ok(zeCommandListClose(of[i].recorded));
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_one, &of[i]), 0);
    for (int i = 0; i < THREADS; i++)
        join_in_time(w, threads[i]);
    collect_all(profiler);
    check_phases(profiler);
    for (int i = 0; i < THREADS; i++) {
        ok(zt_release(profiler, of[i].recorded));
        ok(zeCommandListDestroy(of[i].recorded));
        ok(zeCommandListDestroy(of[i].immediate));
        ok(zeCommandQueueDestroy(of[i].queue));
        ok(zeEventDestroy(of[i].done));
    }
}

/* Each profiler has what was submitted by it, and both have the host time. */
static void test_two_profilers(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "";
    zt_profiler *one = open_profiler(w, &config), *other = open_profiler(w, &config);
    ZT_PHASE("solve") {
        run(w, one, "kernel");
        run(w, other, "kernel");
        run(w, one, "kernel");
    }
    collect_all(one);
    collect_all(other);
    assert_int_equal(path_info(one, "solve").count, 2);
    assert_int_equal(path_info(one, "solve").time_ns.count, 1);
    assert_int_equal(path_info(other, "solve").count, 1);
    assert_int_equal(path_info(other, "solve").entered, 1);
    zt_close(one);
    ZT_PHASE("solve")
        run(w, other, "kernel");
    collect_all(other);
    assert_int_equal(path_info(other, "solve").time_ns.count, 2);
    check_work(w);
}

/* What is packed and merged has its phases. */
static void test_merged(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_delivering(w, "ComputeBasic"), *back;
    zt_stats of_one, of_both;
    for (int i = 0; i < 3; i++)
        ZT_PHASE("step")
            ZT_PHASE("solve")
                run(w, profiler, "kernel");
    ZT_PHASE("step") {
        zt_region around = zt_begin(profiler, w->immediate, "around");
        ZT_PHASE("inside")
            append(w, profiler, w->immediate, "kernel");
        zt_end(&around);
    }
    w->launches++;
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    back = repacked(profiler);
    ok(zt_merge(back, profiler));
    zt_region_info before = path_info(profiler, "step;solve"), after = path_info(back, "step;solve");
    assert_int_equal(after.entered, 6);
    assert_int_equal(after.time_ns.count, 6);
    assert_int_equal(after.count, 6);
    assert_close(after.total_ns, 2 * before.total_ns);
    assert_close(after.host_ns, 2 * before.host_ns);
    before = path_info(profiler, "step");
    after = path_info(back, "step");
    assert_int_equal(before.count, 4);
    assert_int_equal(after.count, 8);
    assert_close(after.total_ns, 2 * before.total_ns);
    ok(zt_get_stats(profiler, zt_find_path(profiler, "step"), 0, &of_one));
    ok(zt_get_stats(back, zt_find_path(back, "step"), 0, &of_both));
    assert_int_equal(of_one.count, 4);
    assert_int_equal(of_both.count, 8);
    assert_counts(back, counted(10, 10, 0, 0, 0));
    zt_close(back);
    check_work(w);
}

/* ==== reports ============================================================================================= */

static void test_reports(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_delivering(w, "ComputeBasic");
    for (int i = 0; i < 2; i++)
        ZT_PHASE("step")
            ZT_PHASE(i ? "solve" : "assemble")
                run(w, profiler, "kernel");
    ZT_PHASE("output") {
    }
    collect_all(profiler);
    const char *table = written_report(profiler, ZT_FORMAT_TABLE);
    assert_contains(table, "\nstep ");
    assert_contains(table, "\n  solve ");
    assert_contains(table, "\n    kernel ");
    assert_contains(table, "\noutput ");
    assert_contains(table, "Rows with a host time are phases");
    const char *folded = written_report(profiler, ZT_FORMAT_FOLDED);
    assert_contains(folded, "step;solve;kernel ");
    assert_contains(folded, "step;assemble;kernel ");
    const char *csv = written_report(profiler, ZT_FORMAT_CSV);
    assert_contains(csv, "\"step\",\"entries\",\"\",\"profiler\",\"entries\",event,sum,2,");
    assert_contains(csv, "\"step;solve;kernel\",\"GpuTime\"");
    const char *json = written_report(profiler, ZT_FORMAT_JSON);
    assert_contains(json, "\"phase\":{\"entered\":2,\"incomplete\":0,\"host_ns\":");
    const char *prometheus = written_report(profiler, ZT_FORMAT_OPENMETRICS);
    assert_contains(prometheus, "zetools_phase_entries_total{phase=\"solve\",path=\"step;solve\"} 1\n");
    assert_contains(prometheus, "zetools_phase_samples_total{phase=\"output\",path=\";output\"} 0\n");
    check_work(w);
}

/* ==== mistakes, and no profiler =========================================================================== */

static void test_an_end_without_a_begin(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_delivering(w, "");
    zt_phase_end();
    assert_true(heard(w, "[PHASE_NOT_BEGUN] zt_phase_end"));
    zt_phase_begin("solve");
    run(w, profiler, "kernel");
    zt_phase_end();
    collect_all(profiler);
    expect_phase(profiler, "solve", 1, 1);
    check_work(w);
}

typedef struct slow_log {
    pthread_mutex_t gate; /* held by who does not let the log function return */
    int heard, closes;    /* what it was told; atomic */
} slow_log;

static void log_slowly(int result, const char *text, void *user) {
    slow_log *log = user;
    (void)result;
    if (strstr(text, "[THREAD_HANGS] zt_close"))
        __atomic_store_n(&log->closes, 1, __ATOMIC_RELEASE);
    if (strstr(text, "[PHASE_NOT_BEGUN]")) {
        __atomic_store_n(&log->heard, 1, __ATOMIC_RELEASE);
        pthread_mutex_lock(&log->gate);
        pthread_mutex_unlock(&log->gate);
    }
}

static void *end_nothing(void *unused) {
    (void)unused;
    zt_phase_end();
    return NULL;
}

/* zt_close does not wait without a limit for a log function that waits for the thread of zt_close. */
static void test_closing_while_a_phase_is_reported(void **state) {
    world *w = *state;
    slow_log log = {PTHREAD_MUTEX_INITIALIZER, 0, 0};
    zt_config config = config_of(w);
    config.groups = "";
    config.log = log_slowly;
    config.log_user = &log;
    zt_profiler *profiler;
    ok(zt_open(w->context, w->device, &config, &profiler));
    pthread_t thread;
    pthread_mutex_lock(&log.gate);
    assert_int_equal(pthread_create(&thread, NULL, end_nothing, NULL), 0);
    while (!__atomic_load_n(&log.heard, __ATOMIC_ACQUIRE))
        sched_yield();
    zt_close(profiler);
    assert_true(__atomic_load_n(&log.closes, __ATOMIC_ACQUIRE));
    pthread_mutex_unlock(&log.gate);
    join_in_time(w, thread);
    zt_phase_begin("after");
    zt_phase_end();
    assert_int_equal(path_info(profiler, "after").entered, 1);
    zt_close(profiler);
}

static void test_without_a_profiler(void **state) {
    world *w = *state;
    zt_phase_end();
    ZT_PHASE(NULL) {
        zt_phase phase = zt_phase_current();
        zt_phase_adopt(phase);
        zt_phase_end();
    }
    /* A profiler that is opened inside of a phase knows it. */
    zt_phase_begin("main");
    zt_profiler *profiler = open_delivering(w, "");
    run(w, profiler, "kernel");
    zt_phase_end();
    collect_all(profiler);
    expect_phase(profiler, "main", 1, 1);
    check_work(w);
    zt_phase_begin("open when the profiler is closed");
    run(w, profiler, "kernel");
    close_profiler(w, profiler);
    zt_phase_end();
}

/* Host time stands still here, but for what passes. */
static void test_host_time(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_delivering(w, "");
    hold_time(1);
    zt_phase_begin("step");
    pass_time(1000);
    zt_phase_begin("solve");
    pass_time(500);
    zt_phase_adopt(zt_phase_current()); /* as each thread of a pool does: it is inside of nothing else */
    pass_time(50);
    zt_phase_end();
    zt_phase_end();
    pass_time(1);
    zt_phase_end();
    hold_time(0);
    assert_true(path_info(profiler, "step").host_ns == 1551);
    assert_true(path_info(profiler, "step").host_own_ns == 1001);
    assert_true(path_info(profiler, "step;solve").host_ns == 550);
    assert_true(path_info(profiler, "step;solve").host_own_ns == 550);
    assert_int_equal(path_info(profiler, "step").entered, 1);
}

/* ==== the time in which samples of a phase ran ============================================================= */

static zt_profiler *open_timeline(world *w, uint32_t capacity) {
    zt_config config = config_of(w);
    config.groups = "";
    config.timeline = capacity;
    return open_profiler(w, &config);
}

/* Host time stands still here, but for what passes: that of a phase counts from the moment on at which a profiler was
   open, for as long as one is. */
static void test_host_time_from_the_opening_on(void **state) {
    world *w = *state;
    hold_time(1);
    zt_phase_begin("main");
    pass_time(1000);
    ZT_PHASE("before")
        pass_time(100);
    zt_phase_begin("set-up");
    pass_time(10);
    zt_profiler *profiler = open_timeline(w, 100);
    pass_time(40);
    run(w, profiler, "kernel");
    assert_contains(written_report(profiler, ZT_FORMAT_TRACE), "\"name\":\"set-up\"");
    zt_phase_end();
    ZT_PHASE("solve")
        pass_time(500);
    pass_time(7);
    zt_phase_end();
    assert_true(path_info(profiler, "main").host_ns == 547);
    assert_true(path_info(profiler, "main").host_own_ns == 7);
    assert_true(path_info(profiler, "main;set-up").host_ns == 40);
    assert_true(path_info(profiler, "main;set-up").host_own_ns == 40);
    assert_contains(written_report(profiler, ZT_FORMAT_TRACE), "\"name\":\"main\"");

    zt_phase_begin("main");
    pass_time(300);
    ZT_PHASE("solve")
        pass_time(30);
    zt_profiler *second = open_timeline(w, 100);
    close_profiler(w, profiler); /* the second is open */
    pass_time(20);
    zt_phase_end();
    assert_true(path_info(second, "main").host_ns == 350);
    assert_true(path_info(second, "main").host_own_ns == 320);

    zt_phase_begin("main");
    pass_time(300);
    ZT_PHASE("solve")
        pass_time(30);
    close_profiler(w, second);
    ZT_PHASE("between")
        pass_time(100);
    profiler = open_timeline(w, 100);
    ZT_PHASE("solve")
        pass_time(20);
    pass_time(5);
    zt_phase_end();
    hold_time(0);
    assert_true(path_info(profiler, "main").host_ns == 25);
    assert_true(path_info(profiler, "main").host_own_ns == 5);
    check_work(w);
}

/* One after the other, samples take the sum of their times. */
static void test_busy_time(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_timeline(w, 100);
    for (int i = 0; i < 3; i++)
        ZT_PHASE("step") {
            run(w, profiler, "kernel");
            ZT_PHASE("solve")
                run(w, profiler, "kernel");
        }
    ZT_PHASE("solve")
        run(w, profiler, "other");
    ZT_PHASE("empty") {
    }
    run(w, profiler, "kernel");
    collect_all(profiler);
    zt_region_info step = path_info(profiler, "step"), inner = path_info(profiler, "step;solve"),
                   outer = path_info(profiler, ";solve"), both = path_info(profiler, "solve");
    assert_true(step.busy_ns > inner.busy_ns && inner.busy_ns > 0);
    assert_close(step.busy_ns, step.total_ns);
    assert_close(inner.busy_ns, inner.total_ns);
    assert_close(outer.busy_ns, outer.total_ns);
    assert_close(both.busy_ns, inner.busy_ns + outer.busy_ns);
    assert_true(path_info(profiler, "empty").busy_ns == 0);
    assert_true(isnan(region_info(profiler, "kernel").busy_ns));
    check_work(w);
}

/* Of samples that ran at once, the time counts once: one was inside of the other's time here. */
static void test_busy_time_of_samples_at_once(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_timeline(w, 100);
    held_region held = append_held(w, profiler, "held");
    zt_phase_begin("solve");
    ok(zt_execute(profiler, w->queue, 1, &w->list, NULL));
    let_in(held);
    ZT_PHASE("inside")
        run(w, profiler, "kernel");
    let_out(held);
    zt_phase_end();
    finish_queue(w);
    w->launches++;
    collect_all(profiler);
    zt_region_info solve = path_info(profiler, "solve"), inside = path_info(profiler, "solve;inside"),
                   around = path_info(profiler, "solve;held");
    assert_close(solve.busy_ns, around.total_ns);
    assert_close(solve.total_ns, around.total_ns + inside.total_ns);
    assert_close(inside.busy_ns, inside.total_ns);
    ok(zt_release(profiler, w->list));
    destroy_held(held);
    check_work(w);
}

/* It is not known where samples are not on the timeline. */
static void test_busy_time_that_is_not_known(void **state) {
    world *w = *state;
    zt_profiler *without = open_timeline(w, 0);
    ZT_PHASE("solve")
        run(w, without, "kernel");
    collect_all(without);
    assert_true(isnan(path_info(without, "solve").busy_ns));
    close_profiler(w, without);

    zt_profiler *profiler = open_timeline(w, 2);
    ZT_PHASE("step")
        for (int i = 0; i < 3; i++)
            ZT_PHASE(i < 2 ? "first" : "second")
                run(w, profiler, "kernel");
    assert_true(isnan(path_info(profiler, "step").busy_ns)); /* nothing is collected yet */
    collect_all(profiler);
    assert_true(isnan(path_info(profiler, "step").busy_ns)); /* a newer sample has replaced one */
    assert_true(isnan(path_info(profiler, "step;first").busy_ns));
    assert_close(path_info(profiler, "step;second").busy_ns, path_info(profiler, "step;second").total_ns);
    assert_true(path_info(profiler, "step;second").busy_ns > 0);
    check_work(w);
}

/* The figure that follows a text of a report. */
static double figure_after(const char *report, const char *text) {
    const char *found = strstr(report, text);
    if (!found)
        fail_msg("the report has no %s", text);
    return strtod(found + strlen(text), NULL);
}

static void test_busy_time_in_reports(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_timeline(w, 100);
    ZT_PHASE("solve")
        for (int i = 0; i < 3; i++)
            run(w, profiler, "kernel");
    collect_all(profiler);
    double busy_ns = path_info(profiler, "solve").busy_ns;
    assert_true(busy_ns > 0);
    const char *text = written_report(profiler, ZT_FORMAT_JSON);
    assert_true(figure_after(text, "\"busy_ns\":") == busy_ns);
    const char *paths = strstr(text, "\"paths\":");
    assert_non_null(paths);
    assert_true(figure_after(paths, "\"busy_ns\":") == busy_ns);
    text = written_report(profiler, ZT_FORMAT_CSV);
    const char *line = strstr(text, "busy GPU time");
    assert_non_null(line);
    char sum[40];
    snprintf(sum, sizeof sum, ",%.0f,", busy_ns);
    const char *found = strstr(line, sum);
    assert_true(found && found < strchr(line, '\n'));
    text = written_report(profiler, ZT_FORMAT_OPENMETRICS);
    assert_close(figure_after(text, "zetools_phase_gpu_busy_seconds_total{phase=\"solve\",path=\";solve\"} "),
                 busy_ns * 1e-9);
    close_profiler(w, profiler);

    profiler = open_timeline(w, 0);
    ZT_PHASE("solve")
        run(w, profiler, "kernel");
    collect_all(profiler);
    assert_contains(written_report(profiler, ZT_FORMAT_JSON), "\"busy_ns\":null");
    assert_null(strstr(written_report(profiler, ZT_FORMAT_OPENMETRICS), "gpu_busy_seconds_total"));
    check_work(w);
}

/* ==== the time in which the host waits for the device ====================================================== */

typedef enum wait_call { BY_EVENT, BY_FENCE, BY_QUEUE } wait_call;

static const char *const wait_calls[] = {"zeEventHostSynchronize", "zeFenceHostSynchronize",
                                         "zeCommandQueueSynchronize"};

typedef struct awaited {
    wait_call call;
    uint64_t ns;
    ze_event_handle_t gate;
} awaited;

/* On a thread: when the other one waits, lets time pass and the device go on. */
static void *let_go_on(void *argument) {
    const awaited *one = argument;
    while (calls(wait_calls[one->call]) == 0)
        sched_yield();
    pass_time(one->ns);
    ok_on_thread(zeEventHostSignal(one->gate));
    return NULL;
}

/* The host waits for so long. */
static void wait_for_device(world *w, wait_call call, uint64_t ns) {
    awaited one = {call, ns, NULL};
    ze_fence_desc_t desc = {ZE_STRUCTURE_TYPE_FENCE_DESC, NULL, 0};
    ze_fence_handle_t fence;
    ze_command_list_handle_t list;
    pthread_t thread;
    create_list(w, &list);
    ok(zeFenceCreate(w->queue, &desc, &fence));
    one.gate = append_gate(w, list);
    ok(zeCommandListAppendSignalEvent(list, w->done));
    ok(zeCommandListClose(list));
    ok(zeCommandQueueExecuteCommandLists(w->queue, 1, &list, fence));
    gpu.reset_calls();
    assert_int_equal(pthread_create(&thread, NULL, let_go_on, &one), 0);
    ok(call == BY_EVENT   ? zeEventHostSynchronize(w->done, UINT64_MAX)
       : call == BY_FENCE ? zeFenceHostSynchronize(fence, UINT64_MAX)
                          : zeCommandQueueSynchronize(w->queue, UINT64_MAX));
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_no_noted_failure();
    finish_queue(w);
    ok(zeEventHostReset(w->done));
    ok(zeFenceDestroy(fence));
    ok(zeCommandListDestroy(list));
    ok(zeEventDestroy(one.gate));
}

/* Time stands still here, but for what passes. Waits are known of phases during which a tracer is on all the time. */
static zt_profiler *measure_waits(world *w) {
    zt_profiler *profiler = open_delivering(w, "");
    hold_time(1);
    ZT_PHASE("before")
        wait_for_device(w, BY_EVENT, 100);
    ZT_PHASE("around the start") {
        ok(zt_trace_start(profiler, NULL));
        wait_for_device(w, BY_EVENT, 100);
    }
    ZT_PHASE("step") {
        pass_time(60);
        ZT_PHASE("solve") {
            pass_time(160);
            wait_for_device(w, BY_EVENT, 500);
            wait_for_device(w, BY_FENCE, 300);
            zt_phase_adopt(zt_phase_current()); /* it is the same thread */
            wait_for_device(w, BY_QUEUE, 40);
            zt_phase_end();
        }
        wait_for_device(w, BY_QUEUE, 10);
    }
    ZT_PHASE("assemble")
        pass_time(1000);
    ZT_PHASE("around the stop") {
        wait_for_device(w, BY_EVENT, 100);
        ok(zt_trace_stop(profiler));
    }
    hold_time(0);
    collect_all(profiler);
    return profiler;
}

static void check_waits(const zt_profiler *profiler, int times) {
    assert_true(path_info(profiler, "step").host_wait_ns == times * 850);
    assert_true(path_info(profiler, "step;solve").host_wait_ns == times * 840);
    assert_true(path_info(profiler, "assemble").host_wait_ns == 0);
    assert_true(isnan(path_info(profiler, "before").host_wait_ns));
    assert_true(isnan(path_info(profiler, "around the start").host_wait_ns));
    assert_true(isnan(path_info(profiler, "around the stop").host_wait_ns));
}

static void test_waits(void **state) {
    world *w = *state;
    zt_profiler *profiler = measure_waits(w), *back = repacked(profiler);
    check_waits(profiler, 1);
    check_waits(back, 1);
    ok(zt_merge(back, profiler));
    check_waits(back, 2);
    ok(zt_trace_start(profiler, NULL));
    ZT_PHASE("before")
        run(w, profiler, "kernel");
    ok(zt_trace_stop(profiler));
    collect_all(profiler);
    assert_int_equal(path_info(profiler, "before").entered, 2); /* and one was not traced */
    assert_true(isnan(path_info(profiler, "before").host_wait_ns));
    assert_true(isnan(region_info(profiler, "kernel").host_wait_ns));
    zt_close(back);
    check_work(w);
}

static void test_waits_in_reports(void **state) {
    world *w = *state;
    zt_profiler *profiler = measure_waits(w);
    static const char *const note =
        "In \"solve\" the host waits for the device for 84% of its time, 840 ns of 1 us.";
    const char *text = written_report(profiler, ZT_FORMAT_TABLE);
    assert_contains(text, note);
    assert_null(strstr(strstr(text, note) + strlen(note), "the host waits"));
    assert_contains(text, " host wait");
    text = written_report(profiler, ZT_FORMAT_JSON);
    assert_true(figure_after(strstr(text, "\"solve\""), "\"host_wait_ns\":") == 840);
    assert_contains(strstr(text, "\"before\""), "\"host_wait_ns\":null");
    assert_contains(text, "In \\\"solve\\\" the host waits for the device for 84% of its time");
    text = written_report(profiler, ZT_FORMAT_CSV);
    assert_contains(text, "\"step\",\"host wait time\",\"\",\"\",\"ns\",duration,sum,1,850,");
    text = written_report(profiler, ZT_FORMAT_OPENMETRICS);
    assert_close(
        figure_after(text, "zetools_phase_host_wait_seconds_total{phase=\"solve\",path=\"step;solve\"} "),
        840e-9);
    assert_null(strstr(text, "zetools_phase_host_wait_seconds_total{phase=\"before\""));
    close_profiler(w, profiler);

    profiler = open_timeline(w, 0);
    ZT_PHASE("solve")
        run(w, profiler, "kernel");
    collect_all(profiler);
    assert_null(strstr(written_report(profiler, ZT_FORMAT_TABLE), "wait"));
    check_work(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_an_immediate_list_takes_the_phase_of_the_append),
        TEST(test_metrics_of_a_phase),
        TEST(test_the_median_is_of_entries),
        TEST(test_a_recorded_list_takes_the_phase_of_each_execution),
        TEST(test_by_the_append_if_the_program_says_so),
        TEST(test_lost_in_its_own_phase),
        TEST(test_a_phase_inside_of_a_region),
        TEST(test_phases_inside_of_a_region),
        TEST(test_metrics_where_phases_and_regions_mix),
        TEST(test_more_paths_than_are_kept),
        TEST(test_a_region_and_a_phase_of_one_name),
        TEST(test_many_entries),
        TEST(test_the_last_entry),
        TEST(test_dropped),
        TEST(test_an_outer_region_that_is_dropped),
        TEST(test_recursion),
        TEST(test_threads),
        TEST(test_adopted_when_it_is_over),
        TEST(test_an_entry_that_is_never_over),
        TEST(test_adopted_from_before_the_opening),
        TEST(test_traced),
        TEST(test_sequences_of_phases),
        TEST(test_sequences_of_threads),
        TEST(test_two_profilers),
        TEST(test_merged),
        TEST(test_reports),
        TEST(test_an_end_without_a_begin),
        TEST(test_closing_while_a_phase_is_reported),
        TEST(test_without_a_profiler),
        TEST(test_host_time),
        TEST(test_host_time_from_the_opening_on),
        TEST(test_busy_time),
        TEST(test_busy_time_of_samples_at_once),
        TEST(test_busy_time_that_is_not_known),
        TEST(test_busy_time_in_reports),
        TEST(test_waits),
        TEST(test_waits_in_reports),
        TEST(test_too_many_phases), /* the last, because phases stay as long as the process */
    };
    return cmocka_run_group_tests(tests, start_traced, NULL);
}
