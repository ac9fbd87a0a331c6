/* Regions inside others: parents, paths, and the time outside of the regions inside. The samples themselves,
   as the sample function gets them, say what the sums have to be. A time is right, or it is not known and
   there is a cause. */
#include "fixture.h"

#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ==== the samples ========================================================================================= */

enum { NAMES = 256 };

static struct {
    char name[32];
    uint64_t count;
    double time_ns, last_ns;
} sums[NAMES];

static int sum_index(const char *name) {
    int i = 0;
    while (i < NAMES - 1 && sums[i].name[0] && strcmp(sums[i].name, name) != 0)
        i++;
    if (!sums[i].name[0])
        snprintf(sums[i].name, sizeof sums[i].name, "%s", name);
    return i;
}

static void add_sample(const zt_sample *sample, void *user) {
    int i = sum_index(sample->name);
    (void)user;
    sums[i].count++;
    sums[i].time_ns += sample->gpu_time_ns;
    sums[i].last_ns = sample->gpu_time_ns;
}

/* Of all samples with this name. */
static double sum(const char *name) {
    return sums[sum_index(name)].time_ns;
}

static zt_profiler *open_summed(world *w, const zt_config *given) {
    zt_config config = *given;
    memset(sums, 0, sizeof sums);
    config.groups = config.groups ? config.groups : "ComputeBasic";
    config.sample = add_sample;
    return open_profiler(w, &config);
}

static zt_profiler *open_default(world *w) {
    zt_config config = config_of(w);
    return open_summed(w, &config);
}

/* ==== what is expected ==================================================================================== */

static void expect_times(const zt_profiler *profiler, const char *region, double own_ns, double total_ns) {
    zt_region_info info = region_info(profiler, region);
    assert_close(info.own_ns, own_ns);
    assert_close(info.total_ns, total_ns);
}

static void expect_parent(const zt_profiler *profiler, const char *region, const char *parent) {
    assert_int_equal(region_info(profiler, region).parent,
                     parent ? find_region(profiler, parent) : UINT32_MAX);
}

/* Finds a path by the names on it, such as "outer;inner". */
static uint32_t find_path(const zt_profiler *profiler, const char *names) {
    for (uint32_t i = 0; i < zt_get_info(profiler).path_count; i++) {
        char whole[256] = "";
        for (uint32_t at = i; at != UINT32_MAX;) {
            char rest[256];
            zt_region_info path;
            ok(zt_get_region(profiler, ZT_PATH(at), &path));
            assert_true(path.parent < ZT_PATH(at) || path.parent == UINT32_MAX);
            snprintf(rest, sizeof rest, "%s", whole);
            assert_true(snprintf(whole, sizeof whole, "%s%s%s", path.name, *rest ? ";" : "", rest) < 256);
            at = path.parent == UINT32_MAX ? UINT32_MAX : path.parent - ZT_PATH(0);
        }
        if (strcmp(whole, names) == 0)
            return i;
    }
    return UINT32_MAX;
}

static zt_region_info path_info(const zt_profiler *profiler, const char *names) {
    zt_region_info path;
    uint32_t index = find_path(profiler, names);
    if (index == UINT32_MAX)
        fail_msg("there is no path %s", names);
    ok(zt_get_region(profiler, ZT_PATH(index), &path));
    return path;
}

static void expect_path(const zt_profiler *profiler, const char *names, uint64_t count, double own_ns,
                        double total_ns) {
    zt_region_info path = path_info(profiler, names);
    assert_int_equal(path.count, count);
    assert_close(path.own_ns, own_ns);
    assert_close(path.total_ns, total_ns);
}

/* What holds for every region: its paths have its samples, and its own time. */
static void check_paths(const zt_profiler *profiler) {
    for (uint32_t region = 0; region < zt_get_info(profiler).region_count; region++) {
        zt_region_info info;
        double own_ns = 0, total_ns = 0;
        uint64_t count = 0;
        ok(zt_get_region(profiler, region, &info));
        for (uint32_t i = 0; i < zt_get_info(profiler).path_count; i++) {
            zt_region_info path;
            ok(zt_get_region(profiler, ZT_PATH(i), &path));
            if (path.region == region) {
                own_ns += path.own_ns;
                total_ns += path.total_ns;
                count += path.count;
            }
        }
        assert_int_equal(count, info.time_ns.count);
        assert_close(info.own_ns, own_ns);
        if (count > 0)
            assert_close(info.time_ns.sum, total_ns);
    }
}

/* ==== work ================================================================================================ */

/* "outer", with a launch of its own and two "inner", of which each has an "innermost". */
static void append_nested(world *w, zt_profiler *profiler, ze_command_list_handle_t list) {
    zt_region outer = zt_begin(profiler, list, "outer");
    launch_kernel(list, w->kernel);
    for (int i = 0; i < 2; i++) {
        zt_region inner = zt_begin(profiler, list, "inner");
        zt_region innermost = zt_begin(profiler, list, "innermost");
        launch_kernel(list, w->kernel);
        zt_end(&innermost);
        launch_kernel(list, w->kernel);
        zt_end(&inner);
    }
    zt_end(&outer);
}

static void expect_nested(const zt_profiler *profiler, uint64_t times) {
    expect_parent(profiler, "outer", NULL);
    expect_parent(profiler, "inner", "outer");
    expect_parent(profiler, "innermost", "inner");
    expect_times(profiler, "outer", sum("outer") - sum("inner"), sum("outer"));
    expect_times(profiler, "inner", sum("inner") - sum("innermost"), sum("inner"));
    expect_times(profiler, "innermost", sum("innermost"), sum("innermost"));
    expect_path(profiler, "outer", times, sum("outer") - sum("inner"), sum("outer"));
    expect_path(profiler, "outer;inner", 2 * times, sum("inner") - sum("innermost"), sum("inner"));
    expect_path(profiler, "outer;inner;innermost", 2 * times, sum("innermost"), sum("innermost"));
    assert_int_equal(zt_get_info(profiler).path_count, 3);
    assert_true(sum("outer") > sum("inner") && sum("inner") > sum("innermost"));
    check_paths(profiler);
}

static void run_nested(world *w, zt_profiler *profiler) {
    append_nested(w, profiler, w->immediate);
    finish_immediate(w, w->immediate);
}

/* ==== right times ========================================================================================= */

static void test_alone(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_default(w);
    for (int i = 0; i < 3; i++)
        run(w, profiler, "alone");
    collect_all(profiler);
    expect_parent(profiler, "alone", NULL);
    expect_times(profiler, "alone", sum("alone"), sum("alone"));
    expect_path(profiler, "alone", 3, sum("alone"), sum("alone"));
    check_paths(profiler);
}

static void test_nested_on_an_immediate_list(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_default(w);
    for (int i = 0; i < 5; i++)
        run_nested(w, profiler);
    collect_all(profiler);
    expect_nested(profiler, 5);
}

static void test_nested_with_a_thread(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.thread = 1;
    zt_profiler *profiler = open_summed(w, &config);
    for (int i = 0; i < 5; i++)
        run_nested(w, profiler);
    collect_all(profiler);
    expect_nested(profiler, 5);
}

static void test_nested_with_times_alone(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "";
    zt_profiler *profiler = open_summed(w, &config);
    run_nested(w, profiler);
    collect_all(profiler);
    expect_nested(profiler, 1);
}

static void test_recorded_list_executed_often(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_default(w);
    append_nested(w, profiler, w->list);
    ok(zeCommandListClose(w->list));
    for (int i = 0; i < 7; i++)
        ok(zt_execute(profiler, w->queue, 1, &w->list, NULL));
    finish_queue(w);
    collect_all(profiler);
    expect_nested(profiler, 7);
    /* What is recorded and never runs changes nothing. */
    ok(zt_reset(profiler, w->list));
    append_nested(w, profiler, w->list);
    ok(zt_reset(profiler, w->list));
    expect_nested(profiler, 7);
    append_nested(w, profiler, w->list);
    ok(zeCommandListClose(w->list));
    execute(w, profiler, w->list);
    collect_all(profiler);
    expect_nested(profiler, 8);
}

static void test_one_execution_without_zt_execute(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_default(w);
    append_nested(w, profiler, w->list);
    ok(zeCommandListClose(w->list));
    execute_unprofiled(w, w->list);
    collect_all(profiler);
    expect_nested(profiler, 1);
}

static void test_passes_are_added(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "ComputeBasic,MemoryProfile";
    config.max_passes = 2;
    zt_profiler *profiler = open_summed(w, &config);
    ZT_PASSES(profiler)
    run_nested(w, profiler);
    collect_all(profiler);
    expect_nested(profiler, 2);
}

static void test_lists_do_not_nest_in_each_other(void **state) {
    world *w = *state;
    ze_command_list_handle_t other;
    zt_profiler *profiler = open_default(w);
    create_immediate(w, &other);
    zt_region outer = zt_begin(profiler, w->immediate, "outer");
    append(w, profiler, other, "elsewhere");
    append(w, profiler, w->immediate, "inner");
    zt_end(&outer);
    finish_immediate(w, w->immediate);
    finish_immediate(w, other);
    collect_all(profiler);
    expect_parent(profiler, "elsewhere", NULL);
    expect_parent(profiler, "inner", "outer");
    expect_times(profiler, "outer", sum("outer") - sum("inner"), sum("outer"));
    ok(zt_release(profiler, other));
    ok(zeCommandListDestroy(other));
}

/* ==== several paths ======================================================================================= */

static void test_inside_different_regions(void **state) {
    static const char *const outer_names[] = {"step", "check"};
    world *w = *state;
    zt_profiler *profiler = open_default(w);
    double solve[3];
    for (int i = 0; i < 2; i++) {
        zt_region outer = zt_begin(profiler, w->immediate, outer_names[i]);
        append(w, profiler, w->immediate, "solve");
        zt_end(&outer);
        finish_immediate(w, w->immediate);
        collect_all(profiler);
        solve[i] = sums[sum_index("solve")].last_ns;
        expect_parent(profiler, "solve", i == 0 ? "step" : NULL);
    }
    run(w, profiler, "solve");
    collect_all(profiler);
    solve[2] = sums[sum_index("solve")].last_ns;
    expect_parent(profiler, "solve", NULL);
    expect_times(profiler, "solve", sum("solve"), sum("solve"));
    expect_path(profiler, "step", 1, sum("step") - solve[0], sum("step"));
    expect_path(profiler, "step;solve", 1, solve[0], solve[0]);
    expect_path(profiler, "check", 1, sum("check") - solve[1], sum("check"));
    expect_path(profiler, "check;solve", 1, solve[1], solve[1]);
    expect_path(profiler, "solve", 1, solve[2], solve[2]);
    assert_int_equal(zt_get_info(profiler).path_count, 5);
    check_paths(profiler);
}

/* A region inside itself: its time counts once. */
static void test_inside_itself(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_default(w);
    zt_region outer = zt_begin(profiler, w->immediate, "same");
    zt_region between = zt_begin(profiler, w->immediate, "between");
    append(w, profiler, w->immediate, "same");
    zt_end(&between);
    zt_end(&outer);
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    double outer_ns = sums[sum_index("same")].last_ns; /* the one that ended last */
    double inner_ns = sum("same") - outer_ns;
    expect_parent(profiler, "same", NULL); /* neither none nor "between" */
    expect_path(profiler, "same;between;same", 1, inner_ns, inner_ns);
    expect_path(profiler, "same", 1, outer_ns - sum("between"), outer_ns);
    expect_times(profiler, "same", outer_ns - sum("between") + inner_ns, outer_ns);
    expect_times(profiler, "between", sum("between") - inner_ns, sum("between"));
    check_paths(profiler);
}

static void test_nested_very_deeply(void **state) {
    enum { DEPTH = 134, LIMIT = 128 };
    world *w = *state;
    zt_profiler *profiler = open_default(w);
    zt_region regions[DEPTH];
    char name[32];
    for (int i = 0; i < DEPTH; i++) {
        snprintf(name, sizeof name, "region %d", i);
        regions[i] = zt_begin(profiler, w->immediate, name);
    }
    launch(w, w->immediate);
    for (int i = DEPTH; i-- > 0;)
        zt_end(&regions[i]);
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    for (int i = 0; i < DEPTH; i++) {
        zt_region_info info;
        ok(zt_get_region(profiler, (uint32_t)i, &info));
        assert_int_equal(info.parent, i % LIMIT == 0 ? UINT32_MAX : (uint32_t)i - 1);
        assert_close(info.total_ns, sum(info.name));
        assert_int_equal(isnan(info.own_ns) != 0, i == LIMIT - 1);
    }
    check_paths(profiler);
    check_work(w);
}

static void run_pair(world *w, zt_profiler *profiler, const char *outer_name, const char *inner_name) {
    zt_region outer = zt_begin(profiler, w->immediate, outer_name);
    zt_region inner = zt_begin(profiler, w->immediate, inner_name);
    launch(w, w->immediate);
    zt_end(&inner);
    launch(w, w->immediate);
    zt_end(&outer);
    finish_immediate(w, w->immediate);
    ok(zt_collect(profiler, 0));
}

/* Names with counters in them, in each other: beyond 16,384 paths, regions that are new inside of others count as
   "(other)", and the time outside of these is not known. Paths that are there already have their samples. */
static void test_more_paths_than_are_kept(void **state) {
    enum { MOST = 16384, INNER = 1000 };
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "";
    config.probes_per_step = config.max_probes = 2;
    zt_profiler *profiler = open_summed(w, &config);
    run_pair(w, profiler, "outer", "inner");
    ok(zt_release(profiler, w->immediate)); /* else old loaders let it keep probes */
    append(w, profiler, w->list, "held");   /* has one of the two */
    for (int i = 0; zt_get_info(profiler).path_count < MOST; i++) {
        char name[32];
        snprintf(name, sizeof name, "outer %d", i);
        zt_region outer = zt_begin(profiler, w->immediate, name);
        for (int j = 0; j < INNER && zt_get_info(profiler).path_count < MOST; j++) {
            snprintf(name, sizeof name, "inner %d", j);
            zt_region inner = zt_begin(profiler, w->immediate, name); /* no probe is left for its sample */
            zt_end(&inner);
        }
        zt_end(&outer);
        finish_immediate(w, w->immediate);
        ok(zt_collect(profiler, 0));
    }
    ok(zt_reset(profiler, w->list));
    run_pair(w, profiler, "new outer", "new inner");
    run_pair(w, profiler, "outer", "inner");
    collect_all(profiler);
    assert_int_equal(zt_get_info(profiler).path_count, MOST + 1);
    expect_parent(profiler, "(other)", NULL);
    expect_times(profiler, "(other)", NAN, sum("new inner") + sum("new outer"));
    assert_int_equal(region_info(profiler, "(other)").count, 2);
    assert_int_equal(region_info(profiler, "new outer").count, 0);
    assert_contains(written_report(profiler, ZT_FORMAT_TABLE), "2 samples are counted as \"(other)\"");
    expect_parent(profiler, "inner", "outer");
    expect_times(profiler, "inner", sum("inner"), sum("inner"));
    expect_times(profiler, "outer", sum("outer") - sum("inner"), sum("outer"));
    assert_int_equal(region_info(profiler, "outer").count, 2);
    check_work(w);
}

/* A program that never ends its regions does not fill the memory with paths. */
static void test_never_ended(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_default(w);
    for (int i = 0; i < 1000; i++) {
        zt_begin(profiler, w->immediate, "never ended");
        launch(w, w->immediate);
    }
    assert_int_equal(zt_get_info(profiler).path_count, 128);
    ok(zt_collect(profiler, A_WHILE)); /* it does not wait for regions that are open */
    finish_immediate(w, w->immediate);
    zt_release(profiler, w->immediate);
    run(w, profiler, "after them");
    collect_all(profiler);
    expect_parent(profiler, "after them", NULL);
    check_work(w);
}

typedef struct opener {
    world *w;
    zt_profiler *profiler;
    ze_command_list_handle_t list;
    sem_t is_open, may_end;
} opener;

static void *open_and_wait(void *argument) {
    opener *o = argument;
    zt_region region = zt_begin(o->profiler, o->list, "open elsewhere");
    sem_post(&o->is_open);
    sem_wait(&o->may_end);
    launch(o->w, o->list);
    zt_end(&region);
    return NULL;
}

/* Nor does it wait for those of other threads. */
static void test_open_on_another_thread(void **state) {
    world *w = *state;
    opener o = {.w = w, .profiler = open_default(w)};
    pthread_t thread;
    create_immediate(w, &o.list);
    assert_int_equal(sem_init(&o.is_open, 0, 0) | sem_init(&o.may_end, 0, 0), 0);
    assert_int_equal(pthread_create(&thread, NULL, open_and_wait, &o), 0);
    sem_wait(&o.is_open);
    run(w, o.profiler, "here");
    ok(zt_collect(o.profiler, A_WHILE));
    assert_counts(o.profiler, counted(1, 1, 0, 0, 0));
    sem_post(&o.may_end);
    assert_int_equal(pthread_join(thread, NULL), 0);
    finish_immediate(w, o.list);
    collect_all(o.profiler);
    assert_counts(o.profiler, counted(2, 2, 0, 0, 0));
    ok(zt_release(o.profiler, o.list));
    ok(zeCommandListDestroy(o.list));
    check_work(w);
}

/* ==== what is not known =================================================================================== */

static void test_overlapping(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_default(w);
    zt_region around_all = zt_begin(profiler, w->immediate, "around all");
    zt_region around = zt_begin(profiler, w->immediate, "around");
    zt_region early = zt_begin(profiler, w->immediate, "early");
    launch(w, w->immediate);
    zt_region late = zt_begin(profiler, w->immediate, "late");
    launch(w, w->immediate);
    zt_end(&early);
    append(w, profiler, w->immediate, "inner");
    zt_end(&late);
    append(w, profiler, w->immediate, "after");
    zt_end(&around);
    zt_end(&around_all);
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    expect_times(profiler, "early", NAN, sum("early"));
    expect_times(profiler, "around", NAN, sum("around"));
    expect_times(profiler, "around all", sum("around all") - sum("around"), sum("around all"));
    expect_times(profiler, "late", sum("late") - sum("inner"), sum("late"));
    expect_parent(profiler, "after", "around");
    expect_parent(profiler, "inner", "late");
    check_paths(profiler);
}

/* The time that two samples of one name have in common would count twice. */
static void test_overlapping_itself(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_default(w);
    zt_region early = zt_begin(profiler, w->immediate, "same");
    launch(w, w->immediate);
    zt_region late = zt_begin(profiler, w->immediate, "same");
    launch(w, w->immediate);
    zt_end(&early);
    launch(w, w->immediate);
    zt_end(&late);
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    expect_times(profiler, "same", NAN, NAN);
    check_paths(profiler);
}

static void test_in_flight(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_default(w);
    run_nested(w, profiler);
    collect_all(profiler);
    ze_event_handle_t gate = append_gate(w, w->immediate);
    append_nested(w, profiler, w->immediate);
    ok(zt_collect(profiler, 0));
    expect_times(profiler, "outer", NAN, sum("outer"));
    expect_times(profiler, "inner", NAN, sum("inner"));
    expect_times(profiler, "innermost", sum("innermost"), sum("innermost"));
    ok(zeEventHostSignal(gate));
    finish_immediate(w, w->immediate);
    ok(zeEventDestroy(gate));
    collect_all(profiler);
    expect_nested(profiler, 2);
}

static void test_lost(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_default(w);
    run_nested(w, profiler);
    collect_all(profiler);
    gpu.behave(SOFTGPU_REPORT_LOST, 5); /* the order is: innermost, inner, innermost, inner, outer */
    run_nested(w, profiler);
    collect_all(profiler);
    gpu.behave(SOFTGPU_REPORT_LOST, 0);
    assert_int_equal(zt_get_info(profiler).counts.lost, 1);
    assert_int_equal(region_info(profiler, "outer").lost, 1);
    expect_times(profiler, "outer", NAN, sum("outer"));
    expect_times(profiler, "inner", sum("inner") - sum("innermost"), sum("inner"));
    expect_times(profiler, "innermost", sum("innermost"), sum("innermost"));
    check_paths(profiler);
}

static void test_lost_inside(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_default(w);
    gpu.behave(SOFTGPU_REPORT_LOST, 3);
    run_nested(w, profiler);
    collect_all(profiler);
    gpu.behave(SOFTGPU_REPORT_LOST, 0);
    assert_int_equal(region_info(profiler, "innermost").lost, 1);
    expect_times(profiler, "outer", sum("outer") - sum("inner"), sum("outer"));
    expect_times(profiler, "inner", NAN, sum("inner"));
    expect_times(profiler, "innermost", sum("innermost"), sum("innermost"));
    check_paths(profiler);
}

/* There is only the one probe, so what is inside is not measured. */
static void test_dropped_inside(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.probes_per_step = config.max_probes = 1;
    config.wait_timeout_ns = 100000000;
    zt_profiler *profiler = open_summed(w, &config);
    zt_region outer = zt_begin(profiler, w->immediate, "outer");
    append(w, profiler, w->immediate, "inner");
    zt_end(&outer);
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    assert_int_equal(zt_get_info(profiler).causes[ZT_DROPPED_NO_PROBE].count, 1);
    expect_times(profiler, "outer", NAN, sum("outer"));
    expect_times(profiler, "inner", 0, 0);
    expect_parent(profiler, "inner", "outer");
    check_paths(profiler);
}

static void test_refused_inside(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_default(w);
    zt_region outer = zt_begin(profiler, w->immediate, "outer");
    inject("zetCommandListAppendMetricQueryBegin", 1, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    append(w, profiler, w->immediate, "refused");
    append(w, profiler, w->immediate, "inner");
    zt_end(&outer);
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    expect_times(profiler, "outer", NAN, sum("outer"));
    expect_parent(profiler, "inner", "outer"); /* the refused one is not open */
    expect_times(profiler, "inner", sum("inner"), sum("inner"));
    check_paths(profiler);
}

static void test_not_ended(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_default(w);
    zt_begin(profiler, w->immediate, "outer");
    append(w, profiler, w->immediate, "inner");
    finish_immediate(w, w->immediate);
    ok(zt_collect(profiler, A_WHILE)); /* it does not wait for regions that are open */
    expect_times(profiler, "inner", sum("inner"), sum("inner"));
    zt_release(profiler, w->immediate);
    append(w, profiler, w->immediate, "next");
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    expect_parent(profiler, "inner", "outer");
    expect_parent(profiler, "next", NULL);
    expect_times(profiler, "outer", NAN, 0);
    check_paths(profiler);
}

/* Nothing shows that the samples of the two are from the same executions. */
static void test_executed_often_without_zt_execute(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_default(w);
    append_nested(w, profiler, w->list);
    ok(zeCommandListClose(w->list));
    for (int i = 0; i < 2; i++) {
        execute_unprofiled(w, w->list);
        collect_all(profiler);
    }
    expect_times(profiler, "outer", NAN, sum("outer"));
    expect_times(profiler, "inner", NAN, sum("inner"));
    expect_times(profiler, "innermost", sum("innermost"), sum("innermost"));
    check_paths(profiler);
}

static void test_overwritten(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.wait_timeout_ns = 100000000;
    zt_profiler *profiler = open_summed(w, &config);
    ze_event_handle_t gate;
    zt_region outer = zt_begin(profiler, w->list, "outer");
    append_kernel(profiler, w->list, w->kernel, "inner");
    gate = append_gate(w, w->list);
    zt_end(&outer);
    ok(zeCommandListClose(w->list));
    ok(zt_execute(profiler, w->queue, 1, &w->list, NULL));
    ok(zt_execute(profiler, w->queue, 1, &w->list, NULL)); /* "outer" is not ready in time */
    ok(zeEventHostSignal(gate));
    finish_queue(w);
    ok(zeEventDestroy(gate));
    ok(zt_release(profiler, w->list));
    assert_true(region_info(profiler, "outer").lost > 0);
    assert_int_equal(gpu.findings(), 2); /* no query was reset: the device had not done with the list */
    gpu.forget_findings();
    expect_times(profiler, "outer", NAN, sum("outer"));
    expect_times(profiler, "inner", sum("inner"), sum("inner"));
    check_paths(profiler);
}

/* Whatever allocation fails: own times are right, or not known. */
static void test_without_memory(void **state) {
    world *w = *state;
    for (int left = 0; left < 60; left++) {
        zt_config config = config_of(w);
        config.allocator = scarce_allocator();
        allocations_left = -1;
        zt_profiler *profiler = open_summed(w, &config);
        allocations_left = left;
        run_nested(w, profiler);
        allocations_left = -1;
        collect_all(profiler);
        check_identity(profiler);
        if (zt_get_info(profiler).counts.dropped == 0)
            expect_nested(profiler, 1);
        for (uint32_t i = 0; i < zt_get_info(profiler).region_count; i++) {
            zt_region_info info;
            ok(zt_get_region(profiler, i, &info));
            if (strcmp(info.name, "outer") == 0 && zt_get_info(profiler).counts.dropped && info.count)
                assert_true(isnan(info.own_ns) || info.own_ns == sum("outer") - sum("inner"));
        }
        close_profiler(w, profiler);
    }
}

/* ==== callbacks between two regions ======================================================================= */

static zt_region ended_in_sample;

static void end_in_sample(const zt_sample *sample, void *user) {
    add_sample(sample, user);
    zt_end(&ended_in_sample);
}

/* The sample function ends a region while zt_begin collects for a free probe: the new region is beside it. */
static void test_ended_while_another_begins(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "ComputeBasic";
    config.probes_per_step = config.max_probes = 2;
    config.sample = end_in_sample;
    memset(sums, 0, sizeof sums);
    zt_profiler *profiler = open_profiler(w, &config);
    ended_in_sample = zt_begin(profiler, w->immediate, "before");
    run(w, profiler, "inner");
    run(w, profiler, "next");
    collect_all(profiler);
    expect_parent(profiler, "inner", "before");
    expect_parent(profiler, "next", NULL);
    expect_times(profiler, "before", sum("before") - sum("inner"), sum("before"));
    assert_counts(profiler, counted(3, 3, 0, 0, 0));
    check_paths(profiler);
    check_work(w);
}

/* ==== reports ============================================================================================= */

static world *runs_later; /* the third allocation from now first runs regions here */
static zt_profiler *runs_with;
static int until_it_runs;

/* Does what another thread may do while a report is begun. */
static void *run_before_allocating(size_t size, void *user) {
    (void)user;
    if (runs_later && until_it_runs-- == 0) {
        world *w = runs_later;
        runs_later = NULL;
        zt_region outer = zt_begin(runs_with, w->immediate, "outer");
        append_kernel(runs_with, w->immediate, w->kernel, "inner");
        zt_end(&outer);
        finish_immediate(w, w->immediate);
        collect_all(runs_with);
    }
    return malloc(size);
}

static void release(void *memory, void *user) {
    (void)user;
    free(memory);
}

/* A region of a report has since begun inside one that the report does not have. */
static void test_parent_is_newer_than_the_report(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.allocator.allocate = run_before_allocating;
    config.allocator.release = release;
    runs_with = open_summed(w, &config);
    ok(zt_set_operations(runs_with, "inner", 1)); /* makes the region known, without a sample */
    runs_later = w;
    until_it_runs = 2; /* after document and statistics */
    const char *report = written_report(runs_with, ZT_FORMAT_JSON);
    assert_null(runs_later);
    assert_contains(report, "\"name\":\"inner\",\"count\":1,\"lost\":0,\"dropped\":0,");
    assert_contains(report, "\"parent\":null");
    assert_null(strstr(report, "\"outer\""));
    expect_parent(runs_with, "inner", "outer");
}

/* ==== the tracer ========================================================================================== */

static void test_launches_inside_a_region(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_default(w);
    ok(zt_trace_start(profiler, NULL));
    zt_region outer = zt_begin(profiler, w->immediate, "outer");
    launch(w, w->immediate);
    launch(w, w->immediate);
    zt_end(&outer);
    finish_immediate(w, w->immediate);
    ok(zt_trace_stop(profiler));
    collect_all(profiler);
    const char *kernel = sums[0].name;
    assert_string_not_equal(kernel, "outer");
    expect_parent(profiler, kernel, "outer");
    expect_times(profiler, kernel, sum(kernel), sum(kernel));
    expect_times(profiler, "outer", sum("outer") - sum(kernel), sum("outer"));
    check_paths(profiler);
}

/* ==== merging ============================================================================================= */

static zt_profiler *copy_of(const zt_profiler *profiler) {
    static unsigned char packed[1 << 20];
    zt_profiler *copy;
    size_t size = sizeof packed;
    ok(zt_pack(profiler, packed, &size));
    ok(zt_unpack(packed, size, NULL, &copy));
    return copy;
}

static void expect_same_paths(const zt_profiler *a, const zt_profiler *b, double factor) {
    assert_int_equal(zt_get_info(a).path_count, zt_get_info(b).path_count);
    for (uint32_t i = 0; i < zt_get_info(a).path_count; i++) {
        zt_region_info one, other;
        ok(zt_get_region(a, ZT_PATH(i), &one));
        ok(zt_get_region(b, ZT_PATH(i), &other));
        assert_int_equal(one.region, other.region);
        assert_int_equal(one.parent, other.parent);
        assert_true((double)one.count * factor == (double)other.count);
        assert_close(other.total_ns, one.total_ns * factor);
        assert_close(other.own_ns, one.own_ns * factor);
    }
}

static void test_packed_and_merged(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_default(w);
    run_nested(w, profiler);
    zt_region early = zt_begin(profiler, w->immediate, "early");
    zt_region late = zt_begin(profiler, w->immediate, "late");
    zt_end(&early);
    zt_end(&late);
    zt_region same = zt_begin(profiler, w->immediate, "same");
    append(w, profiler, w->immediate, "same");
    zt_end(&same);
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    zt_profiler *copy = copy_of(profiler);
    expect_same_paths(profiler, copy, 1);
    check_paths(copy);
    expect_times(copy, "early", NAN, sum("early"));
    assert_close(region_info(copy, "same").total_ns, region_info(profiler, "same").total_ns);
    ok(zt_merge(copy, profiler));
    expect_same_paths(profiler, copy, 2);
    check_paths(copy);
    assert_close(region_info(copy, "same").total_ns, 2 * region_info(profiler, "same").total_ns);
    zt_close(copy);
}

/* What is in flight in one profiler is missing in the other. */
static void test_merged_while_in_flight(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_default(w);
    run_nested(w, profiler);
    collect_all(profiler);
    zt_profiler *copy = copy_of(profiler);
    ze_event_handle_t gate = append_gate(w, w->immediate);
    append_nested(w, profiler, w->immediate);
    ok(zt_merge(copy, profiler));
    assert_true(isnan(region_info(copy, "outer").own_ns));
    assert_close(region_info(copy, "innermost").own_ns, 2 * sum("innermost"));
    ok(zeEventHostSignal(gate));
    finish_immediate(w, w->immediate);
    ok(zeEventDestroy(gate));
    collect_all(profiler);
    zt_close(copy);
}

/* Profilers in which regions are on other paths, and in another order. */
static void test_merged_with_others(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_default(w), *other = open_groups(w, "ComputeBasic");
    run_nested(w, profiler);
    run(w, other, "innermost");
    collect_all(profiler);
    collect_all(other);
    double alone = region_info(other, "innermost").total_ns;
    ok(zt_merge(other, profiler));
    assert_int_equal(zt_get_info(other).path_count, 4);
    expect_path(other, "innermost", 1, alone, alone);
    expect_path(other, "outer;inner;innermost", 2, sum("innermost"), sum("innermost"));
    expect_parent(other, "innermost", NULL);
    expect_parent(other, "inner", "outer");
    expect_times(other, "innermost", sum("innermost") + alone, sum("innermost") + alone);
    expect_times(other, "outer", sum("outer") - sum("inner"), sum("outer"));
    check_paths(other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_alone),
        TEST(test_nested_on_an_immediate_list),
        TEST(test_nested_with_a_thread),
        TEST(test_nested_with_times_alone),
        TEST(test_recorded_list_executed_often),
        TEST(test_one_execution_without_zt_execute),
        TEST(test_passes_are_added),
        TEST(test_lists_do_not_nest_in_each_other),
        TEST(test_inside_different_regions),
        TEST(test_inside_itself),
        TEST(test_nested_very_deeply),
        TEST(test_more_paths_than_are_kept),
        TEST(test_never_ended),
        TEST(test_open_on_another_thread),
        TEST(test_overlapping),
        TEST(test_overlapping_itself),
        TEST(test_in_flight),
        TEST(test_lost),
        TEST(test_lost_inside),
        TEST(test_dropped_inside),
        TEST(test_refused_inside),
        TEST(test_not_ended),
        TEST(test_executed_often_without_zt_execute),
        TEST(test_overwritten),
        TEST(test_without_memory),
        TEST(test_ended_while_another_begins),
        TEST(test_parent_is_newer_than_the_report),
        TEST(test_launches_inside_a_region),
        TEST(test_packed_and_merged),
        TEST(test_merged_while_in_flight),
        TEST(test_merged_with_others),
    };
    return cmocka_run_group_tests(tests, start_traced, NULL);
}
