/* The life of a command list's regions: when their commands can never run again, and what a program does that
   resets, releases or destroys a list, or executes it by means of its own. */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Few probes, one at a time: what is given back too early has another owner at once. 0: the default. */
static zt_profiler *open_with_probes(world *w, uint32_t probes) {
    zt_config config = config_of(w);
    config.groups = "ComputeBasic";
    config.probes_per_step = probes > 0;
    config.max_probes = probes;
    config.wait_timeout_ns = 1000000000;
    return open_patiently(w, &config);
}

/* Samples of a region, each of which has so many launches inside. */
static void expect(const zt_profiler *profiler, const char *region, uint64_t count, uint32_t launches) {
    zt_stats groups = stats_of(profiler, region, "GPGPU_THREADGROUP_COUNT");
    assert_int_equal(region_info(profiler, region).count, count);
    assert_true(groups.min == launches * (double)WORK_GROUPS);
    assert_true(groups.max == launches * (double)WORK_GROUPS);
}

static void execute_list(world *w, zt_profiler *profiler, ze_command_list_handle_t list, int profiled) {
    if (profiled)
        execute(w, profiler, list);
    else
        execute_unprofiled(w, list);
}

static void record_once(world *w, zt_profiler *profiler, ze_command_list_handle_t list, const char *name) {
    append(w, profiler, list, name);
    ok(zeCommandListClose(list));
}

/* ==== over ================================================================================================ */

/* The recording that goes on when an older one is seen to have run. */
enum { AT_ONCE, OVERLAPPING, AROUND };

typedef struct recording {
    int profiled;  /* zt_execute executed the older one */
    int collected; /* after `first` was begun; else the library finds out by itself */
    int end;       /* of `first`, as `second` sees it */
    uint32_t probes;
} recording;

static void run_recording(world *w, recording how) {
    zt_profiler *profiler = open_with_probes(w, how.probes);
    record_once(w, profiler, w->list, "old");
    execute_list(w, profiler, w->list, how.profiled);
    reset_list(w->list);

    zt_region first = zt_begin(profiler, w->list, "first");
    launch_kernel(w->list, w->kernel);
    launch_kernel(w->list, w->kernel);
    if (how.end == AT_ONCE)
        zt_end(&first);
    if (how.collected)
        ok(zt_collect(profiler, 0));
    zt_region second = zt_begin(profiler, w->list, "second");
    if (how.end == OVERLAPPING)
        zt_end(&first);
    launch_kernel(w->list, w->kernel);
    zt_end(&second);
    zt_end(&first);
    ok(zeCommandListClose(w->list));
    for (int i = 0; i < 10; i++) {
        execute(w, profiler, w->list);
        for (int j = 0; j < 4; j++)
            run(w, profiler, "other"); /* takes each probe that is free */
        w->launches += 3;
    }
    w->launches++;
    ok(zt_collect(profiler, 0)); /* all of it has run */
    expect(profiler, "old", 1, 1);
    expect(profiler, "first", 10, how.end == AROUND ? 3 : 2);
    expect(profiler, "second", 10, 1);
    expect(profiler, "other", 40, 1);
    uint64_t dropped =
        zt_get_info(profiler).counts.dropped; /* once, where nobody has reported that "old" ran */
    assert_in_range(dropped, 0, !how.profiled);
    assert_counts(profiler, counted(61 + dropped, 61, 0, dropped, 0));
    close_profiler(w, profiler);
    reset_list(w->list);
}

static void test_a_recording_that_goes_on_is_not_over(void **state) {
    world *w = *state;
    for (int i = 0; i < 8; i++) {
        for (int end = AT_ONCE; end <= AROUND; end++)
            run_recording(w, (recording){i & 1, (i >> 1) & 1, end, i & 4 ? 6 : 0});
    }
    check_work(w);
}

/* Several regions are ended before the old recording is seen to have run. */
static void test_none_of_a_recording_is_over(void **state) {
    enum { REGIONS = 5 };
    world *w = *state;
    char name[16];
    zt_profiler *profiler = open_with_probes(w, 3 * REGIONS);
    for (int i = 0; i < REGIONS; i++)
        append(w, profiler, w->list, "old");
    ok(zeCommandListClose(w->list));
    execute_unprofiled(w, w->list);
    reset_list(w->list);
    for (int i = 0; i < REGIONS; i++) {
        snprintf(name, sizeof name, "new %d", i);
        append(w, profiler, w->list, name);
        ok(zt_collect(profiler, 0));
        run(w, profiler, "other");
    }
    ok(zeCommandListClose(w->list));
    for (int i = 0; i < 3; i++) {
        execute(w, profiler, w->list);
        for (int j = 0; j < REGIONS; j++)
            run(w, profiler, "other");
    }
    w->launches += REGIONS + 3 * REGIONS;
    collect_all(profiler);
    expect(profiler, "old", REGIONS, 1);
    expect(profiler, "other", 4 * REGIONS, 1);
    for (int i = 0; i < REGIONS; i++) {
        snprintf(name, sizeof name, "new %d", i);
        expect(profiler, name, 3, 1);
    }
    assert_counts(profiler, counted(8 * REGIONS, 8 * REGIONS, 0, 0, 0));
    check_work(w);
}

/* What stays bound is all that the recordings need that may still run: nothing piles up. */
static void test_recordings_one_after_another(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_with_probes(w, 6);
    for (int i = 0; i < 50; i++) {
        append(w, profiler, w->list, "a");
        append(w, profiler, w->list, "b");
        ok(zeCommandListClose(w->list));
        execute_list(w, profiler, w->list, i % 3 == 0);
        w->launches += 2;
        if (i % 2)
            ok(zt_collect(profiler, 0));
        reset_list(w->list);
    }
    collect_all(profiler);
    expect(profiler, "a", 50, 1);
    expect(profiler, "b", 50, 1);
    assert_counts(profiler, counted(100, 100, 0, 0, 0));
    check_work(w);
}

/* ==== lists that are destroyed ============================================================================ */

/* A list that was destroyed without a word keeps its probes, for nobody can know: what is dropped for that is
   counted, and the message names the remedy. */
static void test_lists_destroyed_without_release(void **state) {
    enum { LISTS = 16 };
    world *w = *state;
    zt_profiler *profiler = open_with_probes(w, LISTS);
    for (int i = 0; i < LISTS; i++) {
        ze_command_list_handle_t list;
        create_list(w, &list);
        record_once(w, profiler, list, "orphan");
        execute(w, profiler, list);
        ok(zeCommandListDestroy(list));
        w->launches++;
    }
    collect_all(profiler);
    expect(profiler, "orphan", LISTS, 1);
    for (int i = 0; i < 10; i++)
        run(w, profiler, "then");
    collect_all(profiler);
    uint64_t dropped = zt_get_info(profiler).causes[ZT_DROPPED_NO_PROBE].count;
    assert_counts(profiler, counted(LISTS + 10, LISTS + 10 - dropped, 0, dropped, 0));
    if (dropped > 0)
        assert_int_equal(heard(w, "zt_release"), 1);
    check_work(w);
}

/* Released before they are destroyed, they cost no probe. */
static void test_lists_destroyed_after_release(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_with_probes(w, 4);
    for (int i = 0; i < 64; i++) {
        ze_command_list_handle_t list;
        create_list(w, &list);
        append(w, profiler, list, "a");
        record_once(w, profiler, list, "b");
        if (i % 3) {
            execute_list(w, profiler, list, i % 3 == 1);
            w->launches += 2;
        }
        ok(zt_release(profiler, list));
        ok(zeCommandListDestroy(list));
    }
    collect_all(profiler);
    expect(profiler, "a", 42, 1);
    expect(profiler, "b", 42, 1);
    assert_counts(profiler, counted(84, 84, 0, 0, 0));
    for (int i = 0; i < 20; i++)
        run(w, profiler, "then");
    collect_all(profiler);
    assert_int_equal(zt_get_info(profiler).counts.dropped, 0);
    check_work(w);
}

/* Fills so many bytes within a region. */
static void fill(world *w, zt_profiler *profiler, ze_command_list_handle_t list, const char *name,
                 size_t size) {
    uint8_t zero = 0;
    zt_region region = zt_begin(profiler, list, name);
    ok(zeCommandListAppendMemoryFill(list, w->ones, &zero, 1, size, NULL, 0, NULL));
    zt_end(&region);
}

static void create_either(world *w, int immediate, ze_command_list_handle_t *list) {
    if (immediate)
        create_immediate(w, list);
    else
        create_list(w, list);
}

/* The device keeps handles back for a while. */
static void create_as(world *w, int immediate, ze_command_list_handle_t handle) {
    ze_command_list_handle_t list;
    create_either(w, immediate, &list);
    for (int i = 0; list != handle; i++) {
        assert_true(i < 1000000);
        ok(zeCommandListDestroy(list));
        create_either(w, immediate, &list);
    }
}

static void finish_fill(world *w, zt_profiler *profiler, ze_command_list_handle_t list, int immediate) {
    if (immediate) {
        finish_immediate(w, list);
    } else {
        ok(zeCommandListClose(list));
        execute(w, profiler, list);
    }
}

static void reuse_handle(world *w, int was_immediate, int is_immediate, int collected) {
    ze_command_list_handle_t list;
    zt_profiler *profiler = open_with_probes(w, 8);
    create_either(w, was_immediate, &list);
    for (int i = 0; i < 2; i++)
        fill(w, profiler, list, "long", 1000);
    finish_fill(w, profiler, list, was_immediate);
    if (collected)
        ok(zt_collect(profiler, 0));
    ok(zeCommandListDestroy(list));
    create_as(w, is_immediate, list);
    for (int i = 0; i < 3; i++)
        fill(w, profiler, list, "short", 7);
    finish_fill(w, profiler, list, is_immediate);
    collect_all(profiler);
    fill(w, profiler, w->immediate, "other", 70);
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    ok(zt_release(profiler, list));
    ok(zeCommandListDestroy(list));
    zt_stats longs = stats_of(profiler, "long", "GPU_MEMORY_BYTE_WRITE");
    zt_stats shorts = stats_of(profiler, "short", "GPU_MEMORY_BYTE_WRITE");
    zt_stats others = stats_of(profiler, "other", "GPU_MEMORY_BYTE_WRITE");
    assert_counts(profiler, counted(6, 6, 0, 0, 0));
    assert_true(longs.count == 2 && longs.min == 1000 && longs.max == 1000);
    assert_true(shorts.count == 3 && shorts.min == 7 && shorts.max == 7);
    assert_true(others.count == 1 && others.max == 70);
    close_profiler(w, profiler);
}

/* Destroyed without a word, and its handle is that of another list, perhaps of another kind. */
static void test_handles_that_come_back(void **state) {
    if (loader_wraps_handles())
        skip(); /* the handles are the loader's then, and do not come back */
    for (int i = 0; i < 8; i++)
        reuse_handle(*state, i & 1, (i >> 1) & 1, (i >> 2) & 1);
}

/* Each execution of a list whose handle was that of an immediate list counts. */
static void test_a_recorded_list_with_an_immediate_lists_handle(void **state) {
    world *w = *state;
    ze_command_list_handle_t list;
    zt_profiler *profiler = open_with_probes(w, 4);
    create_immediate(w, &list);
    append(w, profiler, list, "immediate");
    finish_immediate(w, list);
    ok(zeCommandListDestroy(list));
    create_as(w, 0, list);
    record_once(w, profiler, list, "recorded");
    for (int i = 0; i < 10; i++) {
        execute(w, profiler, list);
        run(w, profiler, "other");
    }
    w->launches += 11;
    collect_all(profiler);
    expect(profiler, "immediate", 1, 1);
    expect(profiler, "recorded", 10, 1);
    expect(profiler, "other", 10, 1);
    assert_counts(profiler, counted(21, 21, 0, 0, 0));
    ok(zt_release(profiler, list));
    ok(zeCommandListDestroy(list));
    check_work(w);
}

/* Also where no region was recorded on the immediate list, because the driver refused it. */
static void test_a_recorded_list_with_the_handle_of_one_without_regions(void **state) {
    world *w = *state;
    ze_command_list_handle_t list;
    if (loader_wraps_handles())
        skip(); /* the handles are the loader's then, and do not come back */
    zt_profiler *profiler = open_with_probes(w, 4);
    create_immediate(w, &list);
    inject("zetCommandListAppendMetricQueryBegin", 1, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    append(w, profiler, list, "refused");
    finish_immediate(w, list);
    ok(zeCommandListDestroy(list));
    create_as(w, 0, list);
    record_once(w, profiler, list, "recorded");
    for (int i = 0; i < 10; i++)
        execute(w, profiler, list);
    w->launches += 11;
    collect_all(profiler);
    expect(profiler, "recorded", 10, 1);
    assert_counts(profiler, counted(11, 10, 0, 1, 0));
    ok(zt_release(profiler, list));
    ok(zeCommandListDestroy(list));
    check_work(w);
}

/* Also where the driver fails to tell the kind of the new list: nothing is concluded from the old one,
   whether that was released or not. */
static void reuse_handle_of_unknown_kind(world *w, int released, int executions) {
    ze_command_list_handle_t list;
    zt_profiler *profiler = open_with_probes(w, 4);
    create_immediate(w, &list);
    append(w, profiler, list, "immediate");
    finish_immediate(w, list);
    collect_all(profiler);
    if (released)
        ok(zt_release(profiler, list));
    ok(zeCommandListDestroy(list));
    create_as(w, 0, list);
    inject("zeCommandListIsImmediate", 1, ZE_RESULT_ERROR_UNKNOWN);
    record_once(w, profiler, list, "recorded");
    for (int i = 0; i < executions; i++) {
        execute(w, profiler, list);
        run(w, profiler, "other");
    }
    w->launches += (uint32_t)executions + 1;
    ok(zt_release(profiler, list));
    ok(zt_collect(profiler, 0));
    uint64_t samples = 2 * (uint64_t)executions + 1;
    assert_counts(profiler, counted(samples, samples, 0, 0, 0));
    if (executions)
        expect(profiler, "recorded", (uint64_t)executions, 1);
    ok(zeCommandListDestroy(list));
    close_profiler(w, profiler);
}

static void test_a_handle_that_comes_back_as_a_list_of_unknown_kind(void **state) {
    if (loader_wraps_handles() || !can_tell_immediate())
        skip(); /* the handles are the loader's then, and do not come back; or no kind is known */
    for (int i = 0; i < 4; i++)
        reuse_handle_of_unknown_kind(*state, i & 1, i & 2 ? 3 : 0);
    check_work(*state);
}

/* What another thread does while this one collects: the first allocation of a collection comes here, when a
   sample was read and its probe reset, and is not counted yet. */
typedef struct meanwhile {
    world *w;
    zt_profiler *profiler;
    ze_command_list_handle_t list;
    int is_due;
} meanwhile;

static void *come_back_before_allocating(size_t size, void *user) {
    meanwhile *m = user;
    if (m->is_due) {
        m->is_due = 0;
        execute_unprofiled(m->w, m->list);
        ok(zeCommandListDestroy(m->list));
        create_as(m->w, 1, m->list);
        append(m->w, m->profiler, m->list, "next");
        finish_immediate(m->w, m->list);
    }
    return malloc(size);
}

static void release_plainly(void *memory, void *user) {
    (void)user;
    free(memory);
}

/* The driver fails to tell the kind of an immediate list at one of its regions, while others are on their way: it is the
   same list. */
static void test_an_immediate_list_whose_kind_is_not_told_once(void **state) {
    world *w = *state;
    if (!can_tell_immediate())
        skip();
    for (uint32_t nth = 1; nth <= 5; nth++) {
        zt_profiler *profiler = open_groups(w, "ComputeBasic");
        ze_event_handle_t gate = append_gate(w, w->immediate);
        inject("zeCommandListIsImmediate", nth, ZE_RESULT_ERROR_UNKNOWN);
        for (int i = 0; i < 2; i++)
            append(w, profiler, w->immediate, "flat");
        ZT_REGION(profiler, w->immediate, "around")
        append(w, profiler, w->immediate, "inside");
        ok(zt_collect(profiler, 0));
        append(w, profiler, w->immediate, "flat");
        assert_counts(profiler, counted(5, 0, 0, 0, 5));
        ok(zeEventHostSignal(gate));
        finish_immediate(w, w->immediate);
        w->launches += 4;
        collect_all(profiler);
        assert_counts(profiler, counted(5, 5, 0, 0, 0));
        append(w, profiler, w->immediate, "flat");
        finish_immediate(w, w->immediate);
        w->launches++;
        collect_all(profiler);
        assert_counts(profiler, counted(6, 6, 0, 0, 0));
        close_profiler(w, profiler);
        ok(zeEventDestroy(gate));
    }
    check_work(w);
}

/* A recorded list runs once more and is destroyed while its sample is counted, and its handle is that of an
   immediate list then: the second execution is lost, and no other region gets its sample. */
static void test_a_handle_that_comes_back_during_a_collection(void **state) {
    world *w = *state;
    if (loader_wraps_handles() || !can_tell_immediate())
        skip(); /* the handles are the loader's then, and do not come back; or no list is known to be
                   immediate */
    meanwhile m = {.w = w};
    zt_config config = config_of(w);
    config.groups = "ComputeBasic";
    config.probes_per_step = 1;
    config.allocator.allocate = come_back_before_allocating;
    config.allocator.release = release_plainly;
    config.allocator.user = &m;
    zt_profiler *profiler = m.profiler = open_profiler(w, &config);
    run(w, profiler, "first"); /* makes room for reports */
    collect_all(profiler);
    create_list(w, &m.list);
    record_once(w, profiler, m.list, "old");
    execute(w, profiler, m.list);
    m.is_due = 1;
    ok(zt_collect(profiler, 0));
    assert_int_equal(m.is_due, 0);
    for (int i = 0; i < 3; i++)
        append(w, profiler, w->list, "never");
    for (int i = 0; i < 2; i++)
        ok(zt_collect(profiler, 0)); /* does not wait */
    w->launches += 3;
    expect(profiler, "old", 1, 1);
    assert_int_equal(region_info(profiler, "old").lost, 1);
    expect(profiler, "next", 1, 1);
    assert_int_equal(region_info(profiler, "never").count, 0);
    assert_counts(profiler, counted(4, 3, 1, 0, 0));
    reset_list(w->list);
    ok(zt_release(profiler, w->list));
    ok(zt_release(profiler, m.list));
    ok(zeCommandListDestroy(m.list));
    close_profiler(w, profiler);
    check_work(w);
}

/* ==== zt_release ========================================================================================== */

/* It waits for nothing. What still runs is collected when it has run. */
static void test_release_of_a_list_that_runs(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    ze_event_handle_t gate = append_gate(w, w->list);
    record_once(w, profiler, w->list, "runs");
    ok(zt_execute(profiler, w->queue, 1, &w->list, NULL));
    ze_result_t result = zt_release(profiler, w->list);
    zt_counts counts = zt_get_info(profiler).counts;
    ok(zeEventHostSignal(gate));
    finish_queue(w);
    w->launches++;
    assert_result(result, ZE_RESULT_NOT_READY);
    assert_int_equal(counts.in_flight, 1);
    collect_all(profiler);
    expect(profiler, "runs", 1, 1);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    assert_int_equal(w->message_count, 0);
    ok(zeEventDestroy(gate));
    check_work(w);
}

static void test_release_of_an_immediate_list_that_runs(void **state) {
    world *w = *state;
    if (!can_tell_immediate())
        skip();
    zt_profiler *profiler = open_with_timeout(w, 100000000);
    ze_event_handle_t gate = append_gate(w, w->immediate);
    append(w, profiler, w->immediate, "runs");
    ze_result_t result = zt_release(profiler, w->immediate);
    ok(zeEventHostSignal(gate));
    w->launches++;
    finish_immediate(w, w->immediate);
    assert_result(result, ZE_RESULT_NOT_READY);
    collect_all(profiler);
    expect(profiler, "runs", 1, 1);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    ok(zeEventDestroy(gate));
    check_work(w);
}

/* ==== zt_reset ============================================================================================ */

static void test_reset_and_record_again(void **state) {
    enum { ROUNDS = 50 };
    world *w = *state;
    zt_profiler *profiler = open_with_probes(w, 4);
    for (int i = 0; i < ROUNDS; i++) {
        append(w, profiler, w->list, "a");
        record_once(w, profiler, w->list, "b");
        execute(w, profiler, w->list);
        execute(w, profiler, w->list);
        w->launches += 4;
        ok(zt_reset(profiler, w->list));
        check_identity(profiler);
    }
    collect_all(profiler);
    expect(profiler, "a", 2 * ROUNDS, 1);
    expect(profiler, "b", 2 * ROUNDS, 1);
    assert_counts(profiler, counted(4 * ROUNDS, 4 * ROUNDS, 0, 0, 0));
    check_work(w);
}

static void test_reset_of_what_never_ran(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_with_probes(w, 4);
    for (int i = 0; i < 20; i++) {
        append(w, profiler, w->list, "never");
        ok(zt_reset(profiler, w->list));
    }
    collect_all(profiler);
    assert_counts(profiler, counted(0, 0, 0, 0, 0));
    record_once(w, profiler, w->list, "then");
    execute(w, profiler, w->list);
    w->launches++;
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    check_work(w);
}

/* Nothing shows when the device is done with the begin of a region that never ends, behind the last that does. */
static void test_a_region_that_never_ends_is_the_last(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_with_probes(w, 2);
    append(w, profiler, w->list, "ends");
    ze_event_handle_t gate = append_gate(w, w->list);
    zt_region never = zt_begin(profiler, w->list, "never ends");
    ok(zeCommandListClose(w->list));
    ok(zt_execute(profiler, w->queue, 1, &w->list, NULL));
    while (region_info(profiler, "ends").count == 0) /* then only what follows the gate is left */
        ok(zt_collect(profiler, 0));
    ok(zeEventHostSignal(gate));
    finish_queue(w);
    ok(zt_reset(profiler, w->list));
    zt_end(&never);
    append(w, profiler, w->list, "ends");
    record_once(w, profiler, w->list, "ends"); /* both probes are used again */
    execute(w, profiler, w->list);
    w->launches += 3;
    collect_all(profiler);
    expect(profiler, "ends", 3, 1);
    assert_counts(profiler, counted(4, 3, 0, 1, 0));
    ok(zeEventDestroy(gate));
    check_work(w);
}

static void test_reset_without_a_profiler(void **state) {
    world *w = *state;
    launch_kernel(w->list, w->kernel);
    ok(zeCommandListClose(w->list));
    ok(zt_reset(NULL, w->list));
    assert_int_equal(calls("zeCommandListReset"), 1);
    launch(w, w->list);
    ok(zeCommandListClose(w->list));
    execute_unprofiled(w, w->list);
    check_work(w);
}

/* The driver refuses: the list is what it was, and its regions are its own. */
static void test_reset_that_the_driver_refuses(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_with_probes(w, 2);
    record_once(w, profiler, w->list, "stays");
    execute(w, profiler, w->list);
    inject("zeCommandListReset", 1, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_result(zt_reset(profiler, w->list), ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    for (int i = 0; i < 3; i++) {
        execute(w, profiler, w->list);
        run(w, profiler, "other");
    }
    w->launches += 4;
    collect_all(profiler);
    expect(profiler, "stays", 4, 1);
    expect(profiler, "other", 3, 1);
    assert_counts(profiler, counted(7, 7, 0, 0, 0));
    check_work(w);
}

static void test_reset_of_no_list(void **state) {
    zt_profiler *profiler = open_with_probes(*state, 2);
    assert_true(zt_reset(profiler, NULL) != ZE_RESULT_SUCCESS);
    assert_true(zt_reset(NULL, NULL) != ZE_RESULT_SUCCESS);
}

/* ==== a plain reset of what never ran ====================================================================== */

/* A recording that never ran is reset plainly and recorded anew. The new region shows that the old one is not
   on the list any more. */
static void test_recorded_anew_without_release(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_with_probes(w, 4);
    for (uint64_t i = 1; i <= 20; i++) {
        append(w, profiler, w->list, "never");
        append(w, profiler, w->list, "never");
        reset_list(w->list);
        record_once(w, profiler, w->list, "runs");
        for (int j = 0; j < 3; j++)
            ok(zt_execute(profiler, w->queue, 1, &w->list, NULL));
        finish_queue(w);
        w->launches += 3;
        collect_all(profiler);
        assert_counts(profiler, counted(5 * i, 3 * i, 0, 2 * i, 0)); /* once a recording */
        assert_int_equal(zt_get_info(profiler).causes[ZT_DROPPED_NEVER_RAN].count, 2 * i);
        reset_list(w->list);
    }
    assert_int_equal(zt_get_info(profiler).counts.unobserved_lists, 0);
    expect(profiler, "runs", 60, 1);
    check_work(w);
}

/* A list runs unreported, is reset and recorded, reset again before that has run, and recorded once more. The first event has
   signalled, and so has the last: what is between never ran all the same, and its queries have old data. */
static void run_and_record_anew_twice(world *w, int is_refused_first) {
    enum { REGIONS = 6 };
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    gpu.behave(SOFTGPU_STALE_REPLAY, 1);
    for (int i = 0; i < REGIONS; i++)
        append(w, profiler, w->list, "warm-up");
    ok(zeCommandListClose(w->list));
    execute(w, profiler, w->list);
    collect_all(profiler);
    ok(zt_reset(profiler, w->list));

    append(w, profiler, w->list, "before");
    ok(zeCommandListClose(w->list));
    if (is_refused_first) {
        inject("zeCommandQueueExecuteCommandLists", 1, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
        assert_result(zt_execute(profiler, w->queue, 1, &w->list, NULL),
                      ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    }
    execute_unprofiled(w, w->list);
    reset_list(w->list);
    for (int i = 0; i < 3; i++)
        append(w, profiler, w->list, "never");
    reset_list(w->list);
    append(w, profiler, w->list, "runs");
    record_once(w, profiler, w->list, "runs");
    ok(zt_execute(profiler, w->queue, 1, &w->list, NULL));
    finish_queue(w);
    w->launches += REGIONS + 3;
    collect_all(profiler);
    expect(profiler, "runs", 2, 1);
    assert_int_equal(region_info(profiler, "never").count, 0);
    assert_int_equal(region_info(profiler, "never").dropped, 3);
    gpu.behave(SOFTGPU_STALE_REPLAY, 0);
    ok(zt_reset(profiler, w->list));
    close_profiler(w, profiler);
}

static void test_recorded_anew_twice_after_a_run(void **state) {
    world *w = *state;
    run_and_record_anew_twice(w, 0);
    run_and_record_anew_twice(w, 1);
    check_work(w);
}

/* The same where executions overlap: each of them is counted. */
static void test_recorded_anew_and_executed_too_soon(void **state) {
    world *w = *state;
    ze_event_handle_t gate;
    create_event(w, 1, &gate);
    zt_config config = config_of(w);
    config.wait_timeout_ns = 100000000;
    zt_profiler *profiler = open_patiently(w, &config);
    append(w, profiler, w->list, "never");
    reset_list(w->list);
    ok(zeEventHostSignal(gate));
    ok(zeCommandListAppendWaitOnEvents(w->list, 1, &gate));
    record_once(w, profiler, w->list, "runs");
    execute(w, profiler, w->list);
    ok(zeEventHostReset(gate));
    for (int i = 0; i < 2; i++)
        ok(zt_execute(profiler, w->queue, 1, &w->list, NULL));
    ok(zeEventHostSignal(gate));
    finish_queue(w);
    w->launches += 3;
    zt_release(profiler, w->list);
    assert_counts(profiler, counted(4, 2, 1, 1, 0));
    assert_int_equal(zt_get_info(profiler).causes[ZT_LOST_OVERWRITTEN].count, 1);
    assert_int_equal(zt_get_info(profiler).causes[ZT_DROPPED_NEVER_RAN].count, 1);
    assert_int_equal(gpu.findings(),
                     1); /* the query of the last was not reset: the device had not done with it */
    gpu.forget_findings();
    ok(zeEventDestroy(gate));
    check_work(w);
}

/* The same where the driver once refuses to say whether the old region has run: the new one is read before it, and still
   shows that the list is the one of the recording. */
static void test_recorded_anew_and_queried_in_vain(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_with_probes(w, 4);
    append(w, profiler, w->list, "never");
    reset_list(w->list);
    record_once(w, profiler, w->list, "runs");
    for (int i = 0; i < 3; i++) {
        execute(w, profiler, w->list);
        if (i == 1)
            inject("zeEventQueryStatus", 2, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY); /* 1: of the last region */
        zt_collect(profiler, 0);
        ok(zt_collect(profiler, 0));
    }
    w->launches += 3;
    assert_counts(profiler, counted(4, 3, 0, 1, 0));
    expect(profiler, "runs", 3, 1);
    check_work(w);
}

/* ==== what zt_execute does not see ======================================================================== */

static void execute_by_other_means(world *w, zt_profiler *profiler, ze_command_list_handle_t list) {
    for (int i = 0; i < 3; i++) { /* before loader 1.16 the second time tells that it is no immediate list */
        for (int j = 0; j < 5; j++)
            ok(zeCommandQueueExecuteCommandLists(w->queue, 1, &list, NULL));
        finish_queue(w);
        collect_all(profiler);
    }
    w->launches += 15;
}

static void test_lists_run_by_other_means(void **state) {
    world *w = *state;
    ze_command_list_handle_t other;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    create_list(w, &other);
    record_once(w, profiler, w->list, "seen");
    execute(w, profiler, w->list);
    w->launches++;
    for (int i = 0; i < 100; i++)
        run(w, profiler, "immediate");
    collect_all(profiler);
    assert_int_equal(zt_get_info(profiler).counts.unobserved_lists, 0);
    assert_null(strstr(written_report(profiler, ZT_FORMAT_TABLE), "zt_execute"));

    execute_by_other_means(w, profiler, w->list);
    assert_int_equal(zt_get_info(profiler).counts.unobserved_lists, 1);
    record_once(w, profiler, other, "unseen");
    execute_by_other_means(w, profiler, other);
    assert_int_equal(zt_get_info(profiler).counts.unobserved_lists, 2);
    assert_int_equal(heard(w, "[UNOBSERVED_LIST]"), 2); /* of a region each */
    assert_contains(
        written_report(profiler, ZT_FORMAT_TABLE),
        "2 lists ran outside of zt_execute: only the first execution that is seen is\nmeasured. Execute ");
    gpu.forget_findings(); /* queries that nobody reset */
    ok(zt_release(profiler, other));
    ok(zeCommandListDestroy(other));
    check_work(w);
}

/* All of it is said after the first collection where the loader tells the kinds of lists apart. */
static void test_a_list_run_by_other_means_once(void **state) {
    world *w = *state;
    if (!can_tell_immediate())
        skip();
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    record_once(w, profiler, w->list, "unseen");
    for (int i = 0; i < 10; i++)
        ok(zeCommandQueueExecuteCommandLists(w->queue, 1, &w->list, NULL));
    finish_queue(w);
    w->launches += 10;
    collect_all(profiler);
    assert_int_equal(region_info(profiler, "unseen").count, 1);
    assert_int_equal(zt_get_info(profiler).counts.unobserved_lists, 1);
    assert_int_equal(heard(w, "[UNOBSERVED_LIST]"), 1);
    assert_contains(written_report(profiler, ZT_FORMAT_TABLE), "1 list ran outside of zt_execute");
    gpu.forget_findings();
    check_work(w);
}

/* A region that was never ended belongs to the recording that it was begun on, even if that was read before anyone
   noticed: the recording goes on. */
static void test_a_list_run_by_other_means_has_an_open_region(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    append(w, profiler, w->list, "ended");
    zt_region forgotten = zt_begin(profiler, w->list, "forgotten");
    ok(zeCommandListClose(w->list));
    execute_unprofiled(w, w->list);
    collect_all(profiler);
    expect(profiler, "ended", 1, 1);
    for (int i = 0; i < 2; i++)
        execute(w, profiler, w->list);
    w->launches += 3;
    collect_all(profiler);
    expect(profiler, "ended", 3, 1);
    assert_counts(profiler, counted(4, 3, 0, 1, 0));
    assert_non_null(forgotten.probe);
    gpu.forget_findings(); /* its query is begun again, and was not reset: nobody knew that it had begun */
    check_work(w);
}

/* The data of a region between two others come a moment after its event: zt_execute waits for them, too. */
static void test_a_list_run_by_other_means_is_read_in_the_middle(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    run(w, profiler, "makes room");
    collect_all(profiler);
    append(w, profiler, w->list, "first");
    append(w, profiler, w->list, "middle");
    record_once(w, profiler, w->list, "last");
    execute_unprofiled(w, w->list);
    inject("zetMetricQueryGetData", 2, ZE_RESULT_ERROR_UNKNOWN);
    execute(w, profiler, w->list);
    w->launches += 6;
    collect_all(profiler);
    expect(profiler, "first", 2, 1);
    expect(profiler, "middle", 2, 1);
    expect(profiler, "last", 2, 1);
    check_work(w);
}

/* The data of a region come late, and the list runs by other means before they are read. The rest of its regions,
   whose events are signalled again, are not taken for those of the next zt_execute. */
static void test_a_list_run_by_other_means_between_two_readings(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    run(w, profiler, "makes room");
    collect_all(profiler);
    append(w, profiler, w->list, "late");
    record_once(w, profiler, w->list, "in time");
    execute(w, profiler, w->list);
    finish_queue(w);
    inject("zetMetricQueryGetData", 1, ZE_RESULT_ERROR_UNKNOWN);
    ok(zt_collect(profiler, 0));
    assert_counts(profiler, counted(3, 2, 0, 0, 1));
    execute_unprofiled(w, w->list);
    execute(w, profiler, w->list);
    w->launches += 6;
    collect_all(profiler);
    expect(profiler, "late", 2, 1);
    expect(profiler, "in time", 2, 1);
    assert_int_equal(zt_get_info(profiler).causes[ZT_LOST_OVERWRITTEN].count, 1); /* of what ran again */
    assert_counts(profiler, counted(6, 5, 1, 0, 0));
    gpu.forget_findings(); /* the late query was begun again */
    check_work(w);
}

/* When the first region of a list that ran by other means is read. */
enum { IN_RELEASE, IN_ANOTHER_RELEASE, AFTERWARDS, READ_COUNT };

/* What is read of a list after its release says nothing about the next list with its handle, so a recording
   of that leaves nothing when the profiler is closed. The released list counts once. */
static void test_a_list_run_by_other_means_is_released(void **state) {
    enum { REGIONS = 3, LISTS = 3 };
    world *w = *state;
    if (!can_tell_immediate())
        skip();
    for (int read = 0; read < READ_COUNT; read++) {
        uint64_t live = gpu.live();
        zt_profiler *profiler = open_groups(w, "ComputeBasic");
        for (uint64_t lists = 1; lists <= LISTS; lists++) {
            ok(zt_release(profiler, w->list));
            reset_list(w->list);
            for (int i = 1; i < REGIONS; i++)
                append(w, profiler, w->list, "unseen");
            record_once(w, profiler, w->list, "unseen");
            execute_unprofiled(w, w->list);
            w->launches += REGIONS;
            if (read != IN_RELEASE)
                inject("zetMetricQueryGetData", 1, ZE_RESULT_NOT_READY);
            ok(zt_release(profiler, w->list));
            if (read == IN_ANOTHER_RELEASE)
                ok(zt_release(profiler, w->list));
            reset_list(w->list);
            record_once(w, profiler, w->list, "never ran");
            ok(zt_collect(profiler, 0));
            assert_counts(profiler, counted(lists * REGIONS, lists * REGIONS, 0, 0, 0));
            assert_int_equal(zt_get_info(profiler).counts.unobserved_lists, lists);
        }
        close_profiler(w, profiler);
        reset_list(w->list);
        assert_int_equal(gpu.live(), live);
    }
    check_work(w);
}

/* ==== what a collection waits for ========================================================================= */

/* Nobody submitted it: there is nothing to wait for. The handle went through zt_execute before, so every
   loader's program is known to use that. */
static void test_collect_does_not_wait_for_a_recording(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    record_once(w, profiler, w->list, "ran");
    execute(w, profiler, w->list);
    ok(zt_reset(profiler, w->list));
    record_once(w, profiler, w->list, "waits");
    assert_result(zt_collect(profiler, 20000000), ZE_RESULT_SUCCESS);
    assert_counts(profiler, counted(1, 1, 0, 0, 0)); /* what is recorded is not submitted */
    execute(w, profiler, w->list);
    collect_all(profiler);
    assert_counts(profiler, counted(2, 2, 0, 0, 0));
    w->launches += 2;
    check_work(w);
}

static void test_collect_does_not_wait_for_a_list_of_its_own(void **state) {
    world *w = *state;
    ze_command_list_handle_t list;
    if (!can_tell_immediate())
        skip();
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    create_list(w, &list);
    record_once(w, profiler, w->list, "ran");
    execute(w, profiler, w->list);
    w->launches++;
    record_once(w, profiler, list, "waits");
    assert_result(zt_collect(profiler, 20000000), ZE_RESULT_SUCCESS);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    ok(zt_release(profiler, list));
    ok(zt_collect(profiler, 0));
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    ok(zeCommandListDestroy(list));
    check_work(w);
}

/* By other means than zt_execute: it is not known to be on its way, and is read when the application has waited. */
static void collect_what_nobody_reports(world *w, zt_profiler *profiler) {
    ze_event_handle_t gate = append_gate(w, w->list);
    record_once(w, profiler, w->list, "on its way");
    ok(zeCommandQueueExecuteCommandLists(w->queue, 1, &w->list, NULL));
    if (can_tell_immediate()) { /* else it may be on an immediate list */
        ok(zt_collect(profiler, A_WHILE));
        assert_int_equal(region_info(profiler, "on its way").count, 0);
    }
    ok(zeEventHostSignal(gate));
    finish_queue(w);
    ok(zt_collect(profiler, A_WHILE));
    assert_int_equal(region_info(profiler, "on its way").count, 1);
    w->launches++;
    ok(zeEventDestroy(gate));
}

static void test_collect_where_nobody_uses_zt_execute(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    collect_what_nobody_reports(w, profiler);
    assert_int_equal(zt_get_info(profiler).counts.in_flight, 0);
    check_work(w);
}

static void test_collect_from_a_list_that_runs_by_other_means(void **state) {
    world *w = *state;
    ze_command_list_handle_t other;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    create_list(w, &other);
    record_once(w, profiler, other, "other");
    execute(w, profiler, other);
    record_once(w, profiler, w->list, "first");
    execute_unprofiled(w, w->list);
    collect_all(profiler);
    ok(zt_reset(profiler, w->list));
    w->launches += 2;
    collect_what_nobody_reports(w, profiler);
    ok(zt_release(profiler, other));
    ok(zeCommandListDestroy(other));
    check_work(w);
}

/* ==== one list beside others ============================================================================== */

/* Many lists on one thread while another measures: what is begun is all there is. */
enum { LISTS_AT_ONCE = 62 };

typedef struct side {
    world *w;
    zt_profiler *profiler;
    ze_command_list_handle_t list;
    ze_kernel_handle_t kernel;
    uint64_t begun;
    int done;
} side;

static void *use_many_lists(void *argument) {
    side *me = (side *)argument;
    ze_command_list_handle_t lists[LISTS_AT_ONCE];
    ze_command_queue_desc_t desc = {ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                    .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    for (int turn = 0; turn < (INSTRUMENTED ? 20 : 40); turn++) {
        for (int i = 0; i < LISTS_AT_ONCE; i++) {
            zeCommandListCreateImmediate(me->w->context, me->w->device, &desc, &lists[i]);
            append_kernel(me->profiler, lists[i], me->kernel, "short-lived");
            me->begun++;
        }
        for (int i = 0; i < LISTS_AT_ONCE; i++) {
            zt_release(me->profiler, lists[i]);
            zeCommandListDestroy(lists[i]);
        }
    }
    __atomic_store_n(&me->done, 1, __ATOMIC_RELEASE);
    return NULL;
}

static void test_lists_retired_beside_one_in_use(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    side many = {.w = w, .profiler = profiler};
    pthread_t other;
    uint64_t begun = 0;
    create_kernel(w, &many.kernel);
    assert_int_equal(pthread_create(&other, NULL, use_many_lists, &many), 0);
    while (!__atomic_load_n(&many.done, __ATOMIC_ACQUIRE)) {
        append(w, profiler, w->immediate, "steady");
        if (++begun % 64 == 0)
            finish_immediate(w, w->immediate);
    }
    join_in_time(w, other);
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    assert_int_equal(region_info(profiler, "steady").count, begun);
    assert_int_equal(region_info(profiler, "short-lived").count, many.begun);
    assert_counts(profiler, counted(begun + many.begun, begun + many.begun, 0, 0, 0));
    ok(zeKernelDestroy(many.kernel));
}

/* One command of a long list is refused: reading the others asks the device no oftener for that. */
static void test_a_refused_command_in_a_long_list(void **state) {
    enum { REGIONS = 1000 };
    world *w = *state;
    uint64_t asked[2];
    for (int refused = 0; refused < 2; refused++) {
        zt_profiler *profiler = open_groups(w, "ComputeBasic");
        for (int i = 0; i < REGIONS; i++) {
            if (refused && i == REGIONS / 2)
                inject("zetCommandListAppendMetricQueryEnd", 1, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
            append(w, profiler, w->list, "many");
        }
        ok(zeCommandListClose(w->list));
        for (int i = 0; i < 3; i++)
            execute(w, profiler, w->list);
        gpu.reset_calls();
        collect_all(profiler);
        for (int i = 0; i < 10; i++)
            ok(zt_collect(profiler, 0));
        asked[refused] = calls("zeEventQueryStatus");
        w->launches += 3 * REGIONS;
        uint64_t samples = 3 * (uint64_t)(REGIONS - refused);
        assert_counts(profiler, counted(samples + (uint64_t)refused, samples, 0, (uint64_t)refused, 0));
        ok(zt_reset(profiler, w->list));
        close_profiler(w, profiler);
    }
    assert_true(asked[1] <= asked[0]);
    check_work(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_a_recording_that_goes_on_is_not_over),
        TEST(test_none_of_a_recording_is_over),
        TEST(test_recordings_one_after_another),
        TEST(test_lists_destroyed_without_release),
        TEST(test_lists_destroyed_after_release),
        TEST(test_handles_that_come_back),
        TEST(test_a_recorded_list_with_an_immediate_lists_handle),
        TEST(test_a_recorded_list_with_the_handle_of_one_without_regions),
        TEST(test_a_handle_that_comes_back_as_a_list_of_unknown_kind),
        TEST(test_an_immediate_list_whose_kind_is_not_told_once),
        TEST(test_a_handle_that_comes_back_during_a_collection),
        TEST(test_release_of_a_list_that_runs),
        TEST(test_release_of_an_immediate_list_that_runs),
        TEST(test_reset_and_record_again),
        TEST(test_reset_of_what_never_ran),
        TEST(test_a_region_that_never_ends_is_the_last),
        TEST(test_reset_without_a_profiler),
        TEST(test_reset_that_the_driver_refuses),
        TEST(test_reset_of_no_list),
        TEST(test_recorded_anew_without_release),
        TEST(test_recorded_anew_twice_after_a_run),
        TEST(test_recorded_anew_and_executed_too_soon),
        TEST(test_recorded_anew_and_queried_in_vain),
        TEST(test_lists_run_by_other_means),
        TEST(test_a_list_run_by_other_means_once),
        TEST(test_a_list_run_by_other_means_has_an_open_region),
        TEST(test_a_list_run_by_other_means_between_two_readings),
        TEST(test_a_list_run_by_other_means_is_read_in_the_middle),
        TEST(test_a_list_run_by_other_means_is_released),
        TEST(test_collect_does_not_wait_for_a_recording),
        TEST(test_collect_does_not_wait_for_a_list_of_its_own),
        TEST(test_collect_where_nobody_uses_zt_execute),
        TEST(test_collect_from_a_list_that_runs_by_other_means),
        TEST(test_lists_retired_beside_one_in_use),
        TEST(test_a_refused_command_in_a_long_list),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
