/* Regions: on every kind of command list, nested and overlapping, from several threads, by macro. What a
   region has measured is told by the work-groups that ran inside it: an exact figure. */
#include "fixture.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

static double groups_in(const zt_profiler *profiler, const char *region) {
    return stats_of(profiler, region, "GPGPU_THREADGROUP_COUNT").sum;
}

/* Instances of a region, and launches inside of them. */
static void expect(const zt_profiler *profiler, const char *region, uint64_t count, uint32_t launches) {
    assert_int_equal(region_info(profiler, region).count, count);
    assert_true(groups_in(profiler, region) == launches * (double)WORK_GROUPS);
}

/* ==== immediate lists ===================================================================================== */

static void test_immediate_list(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    run(w, profiler, "one");
    assert_counts(profiler, counted(1, 0, 0, 0, 1));
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    expect(profiler, "one", 1, 1);
    check_work(w);
}

static void test_synchronous_immediate_list(void **state) {
    world *w = *state;
    ze_command_queue_desc_t desc = {
        ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, NULL, 0, 0, 0, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS,
        ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
    ze_command_list_handle_t list;
    ok(zeCommandListCreateImmediate(w->context, w->device, &desc, &list));
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    for (int i = 0; i < 10; i++) {
        append(w, profiler, list, "synchronous");
        w->launches++;
        ok(zt_collect(profiler, 0));
    }
    collect_all(profiler);
    expect(profiler, "synchronous", 10, 10);
    ok(zt_release(profiler, list));
    ok(zeCommandListDestroy(list));
    check_work(w);
}

/* The work around a region is not part of it. */
static void test_only_what_is_inside_is_measured(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    for (int i = 0; i < 8; i++) {
        launch(w, w->immediate);
        zt_region region = zt_begin(profiler, w->immediate, "inside");
        launch(w, w->immediate);
        launch(w, w->immediate);
        zt_end(&region);
        launch(w, w->immediate);
    }
    check_work(w);
    collect_all(profiler);
    expect(profiler, "inside", 8, 16);
}

static void test_empty_region(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    zt_region region = zt_begin(profiler, w->immediate, "empty");
    zt_end(&region);
    check_work(w);
    collect_all(profiler);
    expect(profiler, "empty", 1, 0);
}

static void test_copies_are_measured(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    float other[WORK_ITEMS];
    zt_region region = zt_begin(profiler, w->immediate, "copy");
    ok(zeCommandListAppendMemoryCopy(w->immediate, other, w->ones, sizeof other, NULL, 0, NULL));
    zt_end(&region);
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    assert_true(stats_of(profiler, "copy", "GPU_MEMORY_BYTE_READ").sum >= sizeof other);
    assert_true(stats_of(profiler, "copy", "GPU_MEMORY_BYTE_WRITE").sum >= sizeof other);
    assert_memory_equal(other, w->ones, sizeof other);
}

/* What the device has not reached yet is in flight, and collecting does not wait for it unless asked to. */
static void test_collect_does_not_block(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    ze_event_handle_t gate = append_gate(w, w->immediate);
    append(w, profiler, w->immediate, "held");
    w->launches++;
    ok(zt_collect(profiler, 0)); /* what is ready is nothing */
    assert_counts(profiler, counted(1, 0, 0, 0, 1));
    assert_result(zt_collect(profiler, 1000000), ZE_RESULT_NOT_READY);
    assert_counts(profiler, counted(1, 0, 0, 0, 1));
    ok(zeEventHostSignal(gate));
    collect_all(profiler);
    expect(profiler, "held", 1, 1);
    ok(zeEventDestroy(gate));
    check_work(w);
}

/* One list that is stuck does not keep back what another has finished. */
static void test_collect_takes_what_is_ready(void **state) {
    world *w = *state;
    ze_command_list_handle_t stuck;
    create_immediate(w, &stuck);
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    ze_event_handle_t gate = append_gate(w, stuck);
    append(w, profiler, stuck, "stuck");
    for (int i = 0; i < 5; i++)
        run(w, profiler, "free");
    ok(zt_collect(profiler, 0));
    assert_counts(profiler, counted(6, 5, 0, 0, 1));
    ok(zeEventHostSignal(gate));
    w->launches++;
    collect_all(profiler);
    expect(profiler, "stuck", 1, 1);
    ok(zt_release(profiler, stuck));
    ok(zeCommandListDestroy(stuck));
    ok(zeEventDestroy(gate));
    check_work(w);
}

static void test_nested(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    for (int i = 0; i < 10; i++) {
        zt_region outer = zt_begin(profiler, w->immediate, "outer");
        launch(w, w->immediate);
        zt_region inner = zt_begin(profiler, w->immediate, "inner");
        launch(w, w->immediate);
        zt_region innermost = zt_begin(profiler, w->immediate, "innermost");
        launch(w, w->immediate);
        zt_end(&innermost);
        zt_end(&inner);
        zt_end(&outer);
    }
    check_work(w);
    collect_all(profiler);
    expect(profiler, "outer", 10, 30);
    expect(profiler, "inner", 10, 20);
    expect(profiler, "innermost", 10, 10);
    assert_true(stats_of(profiler, "outer", "GpuTime").sum >= stats_of(profiler, "inner", "GpuTime").sum);
}

static void test_nested_with_one_name(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    zt_region outer = zt_begin(profiler, w->immediate, "same");
    zt_region inner = zt_begin(profiler, w->immediate, "same");
    launch(w, w->immediate);
    zt_end(&inner);
    zt_end(&outer);
    check_work(w);
    collect_all(profiler);
    expect(profiler, "same", 2, 2);
}

static void test_overlapping(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    zt_region early = zt_begin(profiler, w->immediate, "early");
    launch(w, w->immediate);
    zt_region late = zt_begin(profiler, w->immediate, "late");
    launch(w, w->immediate);
    zt_end(&early);
    launch(w, w->immediate);
    launch(w, w->immediate);
    zt_end(&late);
    check_work(w);
    collect_all(profiler);
    expect(profiler, "early", 1, 2);
    expect(profiler, "late", 1, 3);
}

static void test_regions_are_in_order_of_first_appearance(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    const char *names[] = {"c", "a", "b", "a", "c"};
    for (int i = 0; i < 5; i++)
        run(w, profiler, names[i]);
    collect_all(profiler);
    assert_int_equal(zt_get_info(profiler).region_count, 3);
    assert_int_equal(find_region(profiler, "c"), 0);
    assert_int_equal(find_region(profiler, "a"), 1);
    assert_int_equal(find_region(profiler, "b"), 2);
    expect(profiler, "c", 2, 2);
    expect(profiler, "a", 2, 2);
    expect(profiler, "b", 1, 1);
}

/* Names are told apart by what they say, not by where they are stored. */
static void test_name_is_copied(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    char name[16];
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "name %d", i % 4);
        run(w, profiler, name);
    }
    snprintf(name, sizeof name, "overwritten");
    collect_all(profiler);
    assert_int_equal(zt_get_info(profiler).region_count, 4);
    expect(profiler, "name 2", 5, 5);
}

/* ==== recorded lists ====================================================================================== */

/* What is recorded is counted when it is executed; or, where the loader cannot tell that it is, when it ends. */
static zt_counts counted_when_it_ended(uint64_t regions) {
    uint64_t begun = can_tell_immediate() ? 0 : regions;
    return counted(begun, 0, 0, 0, begun);
}

static void test_recorded_list_executed_once(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    append(w, profiler, w->list, "first");
    append(w, profiler, w->list, "second");
    ok(zeCommandListClose(w->list));
    assert_counts(profiler, counted_when_it_ended(2));
    execute(w, profiler, w->list);
    w->launches += 2;
    collect_all(profiler);
    assert_counts(profiler, counted(2, 2, 0, 0, 0));
    expect(profiler, "first", 1, 1);
    expect(profiler, "second", 1, 1);
    ok(zt_release(profiler, w->list));
    check_work(w);
}

/* Executed by the application itself, without zt_execute: the first execution is measured, and others that are seen
   are counted. */
static void test_recorded_list_executed_by_the_application(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    append(w, profiler, w->list, "plain");
    ok(zeCommandListClose(w->list));
    for (uint32_t i = 1; i <= 5; i++) {
        execute_unprofiled(w, w->list);
        collect_all(profiler);
        expect(profiler, "plain", 1, 1);
        assert_counts(profiler, counted(i, 1, i - 1, 0, 0));
    }
    assert_int_equal(zt_get_info(profiler).causes[ZT_LOST_OVERWRITTEN].count, 4);
    assert_int_equal(zt_get_info(profiler).counts.unobserved_lists, 1);
    w->launches += 5;
    check_work(w);
}

/* The manual's exception: what is overwritten before anybody read it cannot be counted. */
static void test_recorded_list_overwritten_by_the_application(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    append(w, profiler, w->list, "overwritten");
    ok(zeCommandListClose(w->list));
    execute_unprofiled(w, w->list);
    execute_unprofiled(w, w->list);
    w->launches += 2;
    collect_all(profiler);
    assert_int_equal(region_info(profiler, "overwritten").count, 1);
    assert_int_equal(gpu.findings(), 1); /* the device noted the query that nobody reset */
    gpu.forget_findings();
    check_work(w);
}

/* Some by zt_execute, some by the application itself. */
static void test_recorded_list_executed_by_both(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    append(w, profiler, w->list, "both");
    append(w, profiler, w->list, "both");
    ok(zeCommandListClose(w->list));
    execute(w, profiler, w->list);
    collect_all(profiler);
    execute_unprofiled(w, w->list);
    collect_all(profiler);
    execute_unprofiled(w, w->list);
    execute(w, profiler, w->list); /* sees that the list has run */
    execute(w, profiler, w->list);
    collect_all(profiler);
    assert_counts(profiler, counted(10, 6, 4, 0, 0));
    w->launches += 10;
    check_work(w);
}

static void test_recorded_list_replayed(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    zt_region outer = zt_begin(profiler, w->list, "outer");
    append(w, profiler, w->list, "inner");
    append(w, profiler, w->list, "inner");
    zt_end(&outer);
    ok(zeCommandListClose(w->list));
    for (int i = 0; i < 7; i++)
        ok(zt_execute(profiler, w->queue, 1, &w->list, NULL));
    w->launches += 14;
    finish_queue(w);
    collect_all(profiler);
    assert_counts(profiler, counted(21, 21, 0, 0, 0));
    expect(profiler, "outer", 7, 14);
    expect(profiler, "inner", 14, 14);
    check_work(w);
}

static void test_replay_goes_on_after_collect(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    append(w, profiler, w->list, "again");
    ok(zeCommandListClose(w->list));
    for (uint64_t i = 1; i <= 4; i++) {
        execute(w, profiler, w->list);
        w->launches++;
        collect_all(profiler);
        assert_counts(profiler, counted(i, i, 0, 0, 0));
    }
    ok(zt_collect(profiler, 0));
    assert_counts(profiler, counted(4, 4, 0, 0, 0));
    check_work(w);
}

static void test_several_lists_in_one_execution(void **state) {
    world *w = *state;
    ze_command_list_handle_t lists[3];
    const char *names[] = {"a", "b", "c"};
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    for (int i = 0; i < 3; i++) {
        create_list(w, &lists[i]);
        append(w, profiler, lists[i], names[i]);
        ok(zeCommandListClose(lists[i]));
    }
    for (int i = 0; i < 4; i++)
        ok(zt_execute(profiler, w->queue, 3, lists, NULL));
    finish_queue(w);
    collect_all(profiler);
    for (int i = 0; i < 3; i++) {
        expect(profiler, names[i], 4, 4);
        ok(zt_release(profiler, lists[i]));
        ok(zeCommandListDestroy(lists[i]));
    }
    assert_counts(profiler, counted(12, 12, 0, 0, 0));
    w->launches += 12;
    check_work(w);
}

static void test_execute_with_fence(void **state) {
    world *w = *state;
    ze_fence_desc_t desc = {ZE_STRUCTURE_TYPE_FENCE_DESC, NULL, 0};
    ze_fence_handle_t fence;
    ok(zeFenceCreate(w->queue, &desc, &fence));
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    append(w, profiler, w->list, "fenced");
    ok(zeCommandListClose(w->list));
    for (int i = 0; i < 3; i++) {
        ok(zt_execute(profiler, w->queue, 1, &w->list, fence));
        ok(zeFenceHostSynchronize(fence, A_WHILE));
        ok(zeFenceReset(fence));
    }
    w->launches += 3;
    collect_all(profiler);
    expect(profiler, "fenced", 3, 3);
    ok(zeFenceDestroy(fence));
    check_work(w);
}

/* zt_execute also takes lists without regions, and says what the driver says. */
static void test_execute_without_regions(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    launch(w, w->list);
    ok(zeCommandListClose(w->list));
    execute(w, profiler, w->list);
    inject("zeCommandQueueExecuteCommandLists", 1, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_result(zt_execute(profiler, w->queue, 1, &w->list, NULL), ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_counts(profiler, counted(0, 0, 0, 0, 0));
    check_work(w);
}

/* A refused execution is none: the next one counts as if it had not been. */
static void test_execution_that_the_driver_refused(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    append(w, profiler, w->list, "retried");
    ok(zeCommandListClose(w->list));
    inject("zeCommandQueueExecuteCommandLists", 1, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_result(zt_execute(profiler, w->queue, 1, &w->list, NULL), ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    check_identity(profiler);
    execute(w, profiler, w->list);
    execute(w, profiler, w->list);
    w->launches += 2;
    collect_all(profiler);
    assert_counts(profiler, counted(2, 2, 0, 0, 0));
    check_work(w);
}

static void test_recording_that_never_ran(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    append(w, profiler, w->list, "never");
    append(w, profiler, w->list, "never");
    assert_counts(profiler, counted_when_it_ended(2));
    ok(zt_release(profiler, w->list));
    ok(zt_collect(profiler, 0));
    assert_counts(profiler, counted(0, 0, 0, 0, 0));
    ok(zeCommandListClose(w->list));
    ok(zeCommandListReset(w->list));
    append(w, profiler, w->list, "then");
    ok(zeCommandListClose(w->list));
    execute(w, profiler, w->list);
    w->launches++;
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    check_work(w);
}

/* What ran before zt_release is collected after it, and after the list was reset and recorded again. */
static void test_release_loses_nothing(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    for (int i = 0; i < 2; i++) {
        append(w, profiler, w->list, "ran");
        ok(zeCommandListClose(w->list));
        execute(w, profiler, w->list);
        ok(zt_release(profiler, w->list));
        reset_list(w->list);
    }
    collect_all(profiler);
    assert_counts(profiler, counted(2, 2, 0, 0, 0));
    w->launches += 2;
    check_work(w);
}

/* After zt_release the list's old regions are gone, whatever is executed. */
static void test_release_ends_the_binding(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    append(w, profiler, w->list, "old");
    ok(zeCommandListClose(w->list));
    execute(w, profiler, w->list);
    ok(zt_release(profiler, w->list));
    reset_list(w->list);
    launch(w, w->list);
    ok(zeCommandListClose(w->list));
    for (int i = 0; i < 3; i++)
        execute(w, profiler, w->list);
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    w->launches += 3;
    check_work(w);
}

/* A handle of a recorded list is that of an immediate one later, on which work is running. */
static void test_a_handle_comes_back_as_another_kind(void **state) {
    world *w = *state;
    if (!can_tell_immediate())
        skip();
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    ze_command_list_handle_t recorded, immediate;
    create_list(w, &recorded);
    append(w, profiler, recorded, "recorded");
    ok(zeCommandListClose(recorded));
    execute(w, profiler, recorded);
    ok(zt_release(profiler, recorded));
    ok(zeCommandListDestroy(recorded));
    create_immediate(w, &immediate);
    while (immediate != recorded) { /* the device keeps handles back for a while */
        ok(zeCommandListDestroy(immediate));
        create_immediate(w, &immediate);
    }
    append(w, profiler, immediate, "immediate");
    finish_immediate(w, immediate);
    ok(zt_release(profiler, immediate));
    collect_all(profiler);
    assert_counts(profiler, counted(2, 2, 0, 0, 0));
    ok(zeCommandListDestroy(immediate));
    w->launches += 2;
    check_work(w);
}

/* A program that forgets zt_release at a reset loses nothing. */
static void test_reset_without_release(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.probes_per_step = 4;
    config.max_probes = 8;
    zt_profiler *profiler = open_profiler(w, &config);
    for (uint32_t i = 0; i < 50; i++) {
        append(w, profiler, w->list, "forgotten");
        ok(zeCommandListClose(w->list));
        execute(w, profiler, w->list);
        w->launches++;
        ok(zt_collect(profiler, A_WHILE));
        check_identity(profiler);
        reset_list(w->list);
    }
    assert_counts(profiler, counted(50, 50, 0, 0, 0));
    expect(profiler, "forgotten", 50, 50);
    check_work(w);
}

/* Nor what the last of several executions left to be read. */
static void test_reset_without_release_or_collection(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    for (uint32_t i = 0; i < 5; i++) {
        append(w, profiler, w->list, "forgotten");
        ok(zeCommandListClose(w->list));
        for (int executions = 0; executions < 3; executions++) {
            execute(w, profiler, w->list);
            w->launches++;
        }
        reset_list(w->list);
    }
    collect_all(profiler);
    expect(profiler, "forgotten", 15, 15);
    assert_counts(profiler, counted(15, 15, 0, 0, 0));
    check_work(w);
}

/* A recording belongs together though the last execution of the one before is only read meanwhile. */
static void test_late_collection_after_reset_without_release(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    append(w, profiler, w->list, "old");
    ok(zeCommandListClose(w->list));
    execute(w, profiler, w->list);
    w->launches++;
    reset_list(w->list);
    append(w, profiler, w->list, "first");
    ok(zt_collect(profiler, 0));
    append(w, profiler, w->list, "second");
    ok(zeCommandListClose(w->list));
    for (int i = 0; i < 4; i++) {
        execute(w, profiler, w->list);
        w->launches += 2;
        run(w, profiler, "other");
    }
    collect_all(profiler);
    expect(profiler, "old", 1, 1);
    expect(profiler, "first", 4, 4);
    expect(profiler, "second", 4, 4);
    expect(profiler, "other", 4, 4);
    assert_counts(profiler, counted(13, 13, 0, 0, 0));
    check_work(w);
}

/* F9, F13: recordings are alive while other work is measured. */
static void test_recorded_and_immediate_lists_mixed(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    gpu.behave(SOFTGPU_ACTIVATE_AT_EXECUTION, 1);
    append(w, profiler, w->list, "recorded");
    ok(zeCommandListClose(w->list));
    for (int i = 0; i < 10; i++) {
        execute(w, profiler, w->list);
        w->launches++;
        run(w, profiler, "immediate");
        if (i % 3 == 0)
            collect_all(profiler);
    }
    collect_all(profiler);
    expect(profiler, "recorded", 10, 10);
    expect(profiler, "immediate", 10, 10);
    assert_counts(profiler, counted(20, 20, 0, 0, 0));
    check_work(w);
}

/* F17: a list executed again before its result was read can leave the old one, with SUCCESS. */
static void test_replay_is_never_stale(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    gpu.behave(SOFTGPU_STALE_REPLAY, 1);
    append(w, profiler, w->list, "fresh");
    ok(zeCommandListClose(w->list));
    for (int i = 0; i < 20; i++)
        ok(zt_execute(profiler, w->queue, 1, &w->list, NULL));
    w->launches += 20;
    finish_queue(w);
    collect_all(profiler);
    assert_counts(profiler, counted(20, 20, 0, 0, 0));
    expect(profiler, "fresh", 20, 20);
    zt_stats identifiers = stats_of(profiler, "fresh", "ReportId");
    assert_true(identifiers.max - identifiers.min >= 19); /* each report is another */
    check_work(w);
}

/* F15: an end without event would never be submitted. */
static void test_last_region_is_submitted(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    gpu.behave(SOFTGPU_QUERY_END_HELD, 1);
    append(w, profiler, w->immediate, "last");
    w->launches++;
    collect_all(profiler);
    expect(profiler, "last", 1, 1);
    check_work(w);
}

/* F10, F18 */
static void test_not_ready_by_other_names(void **state) {
    world *w = *state;
    gpu.behave(SOFTGPU_UNKNOWN_FOR_NOT_READY, 1);
    gpu.behave(SOFTGPU_UNDEFINED_QUERY_TIMESTAMP, 1);
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    for (int i = 0; i < 20; i++)
        run(w, profiler, "measured");
    collect_all(profiler);
    assert_counts(profiler, counted(20, 20, 0, 0, 0));
    assert_close(region_info(profiler, "measured").time_ns.sum,
                 stats_of(profiler, "measured", "GpuTime").sum);
    assert_int_equal(w->message_count, 0);
}

/* ==== threads ============================================================================================= */

enum { THREADS = 4 };

typedef struct worker {
    world *w;
    zt_profiler *profiler;
    ze_command_list_handle_t list;
    ze_kernel_handle_t kernel;
    char own[16];
    int works, *numbered;
    pthread_t thread;
} worker;

static void make_worker(worker *me, world *w, zt_profiler *profiler, int number) {
    me->w = w;
    me->profiler = profiler;
    snprintf(me->own, sizeof me->own, "thread %d", number);
    create_kernel(w, &me->kernel);
}

static void end_worker(const worker *me) {
    ok(zt_release(me->profiler, me->list));
    ok(zeCommandListDestroy(me->list));
    ok(zeKernelDestroy(me->kernel));
}

static void *work(void *argument) {
    worker *me = (worker *)argument;
    for (int i = 0; i < OFTEN(500); i++) {
        zt_region shared = zt_begin(me->profiler, me->list, "shared");
        zt_region own = zt_begin(me->profiler, me->list, me->own);
        launch_kernel(me->list, me->kernel);
        zt_end(&own);
        zt_end(&shared);
        if (i % 16 == 0)
            zt_collect(me->profiler, 0);
    }
    return NULL;
}

/* A name is what stands there, and not where: one buffer for two names, and one name in two buffers. */
static void test_names_in_buffers(void **state) {
    world *w = (world *)*state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    char buffer[8] = "first", other[8] = "first";
    append(w, profiler, w->immediate, buffer);
    append(w, profiler, w->immediate, other);
    memcpy(buffer, "second", 7);
    append(w, profiler, w->immediate, buffer);
    memcpy(buffer, "", 1);
    append(w, profiler, w->immediate, buffer);
    append(w, profiler, w->immediate, NULL);
    memcpy(buffer, "first", 6);
    append(w, profiler, w->immediate, buffer);
    w->launches += 6;
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    expect(profiler, "first", 3, 3);
    expect(profiler, "second", 1, 1);
    expect(profiler, "(unnamed)", 2, 2);
    assert_int_equal(zt_get_info(profiler).region_count, 3);
    check_work(w);
}

/* Nobody collects, and no probe is missing: the list is read nonetheless, by those who use it. How much of it
   is complete at that moment is the device's affair. */
static void test_a_list_is_read_where_it_is_used(void **state) {
    world *w = (world *)*state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    for (int i = 0; i < 63; i++)
        append(w, profiler, w->immediate, "often");
    finish_immediate(w, w->immediate);
    assert_int_equal(zt_get_info(profiler).counts.collected, 0);
    append(w, profiler, w->immediate, "often");
    assert_in_range(zt_get_info(profiler).counts.collected, 63, 64);
    for (int i = 0; i < 63; i++)
        append(w, profiler, w->immediate, "often");
    finish_immediate(w, w->immediate);
    append(w, profiler, w->immediate, "often");
    assert_in_range(zt_get_info(profiler).counts.collected, 127, 128);
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    assert_counts(profiler, counted(128, 128, 0, 0, 0));
    w->launches += 128;
    check_work(w);
}

static void *collect_once(void *argument) {
    zt_collect((zt_profiler *)argument, 0);
    return NULL;
}

/* Probes that another thread is just reading are waited for, and nothing is dropped. */
static void test_begin_while_another_thread_reads(void **state) {
    enum { PROBES = 32 };
    world *w = (world *)*state;
    zt_config config = config_of(w);
    config.groups = "ComputeBasic";
    config.probes_per_step = config.max_probes = PROBES;
    zt_profiler *profiler = open_profiler(w, &config);
    pthread_t reader;
    for (int i = 0; i < PROBES; i++)
        append(w, profiler, w->immediate, "before");
    finish_immediate(w, w->immediate);
    gpu.reset_calls();
    gpu.set_call_cost("zetMetricQueryGetData", 2000000);
    assert_int_equal(pthread_create(&reader, NULL, collect_once, profiler), 0);
    while (calls("zetMetricQueryGetData") < 2)
        sched_yield();
    append(w, profiler, w->immediate, "meanwhile");
    assert_int_equal(pthread_join(reader, NULL), 0);
    gpu.set_call_cost("zetMetricQueryGetData", 0);
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    assert_counts(profiler, counted(PROBES + 1, PROBES + 1, 0, 0, 0));
    close_profiler(w, profiler);
}

static void test_several_lists_by_several_threads(void **state) {
    world *w = *state;
    const uint32_t each = OFTEN(500);
    worker workers[THREADS];
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    for (int i = 0; i < THREADS; i++) {
        make_worker(&workers[i], w, profiler, i);
        create_immediate(w, &workers[i].list);
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    for (int i = 0; i < 100; i++) {
        zt_collect(profiler, 0);
        zt_get_info(profiler);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    collect_all(profiler);
    assert_counts(profiler, counted(2 * THREADS * each, 2 * THREADS * each, 0, 0, 0));
    assert_int_equal(zt_get_info(profiler).region_count, THREADS + 1);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(region_info(profiler, workers[i].own).count, each);
        end_worker(&workers[i]);
    }
    assert_int_equal(region_info(profiler, "shared").count, THREADS * each);
}

/* Each thread has a queue and a list of its own, which it records, executes several times and resets; probes
   are few, so that the threads collect for each other all the time. */
/* Nobody collects for them: threads calculate what they have read, in memory of one of sixteen numbers that
   they get when they first read. So the first and the last share it. */
enum { MANY = 17, ALONE = 1000 };

static pthread_barrier_t many_numbered;

static void *work_alone(void *argument) {
    worker *me = (worker *)argument;
    append_kernel(me->profiler, me->list, me->kernel, "shared");
    zt_collect(me->profiler, A_WHILE);
    __atomic_add_fetch(me->numbered, 1, __ATOMIC_RELEASE);
    pthread_barrier_wait(&many_numbered);
    for (int i = 0; me->works && i < ALONE; i++)
        append_kernel(me->profiler, me->list, me->kernel, "shared");
    return NULL;
}

static void test_many_threads(void **state) {
    world *w = *state;
    worker workers[MANY];
    int numbered = 0;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    assert_int_equal(pthread_barrier_init(&many_numbered, NULL, MANY), 0);
    for (int i = 0; i < MANY; i++) {
        make_worker(&workers[i], w, profiler, i);
        workers[i].works = i == 0 || i == MANY - 1;
        workers[i].numbered = &numbered;
        create_immediate(w, &workers[i].list);
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work_alone, &workers[i]), 0);
        while (__atomic_load_n(&numbered, __ATOMIC_ACQUIRE) == i)
            sched_yield();
    }
    for (int i = 0; i < MANY; i++)
        pthread_join(workers[i].thread, NULL);
    pthread_barrier_destroy(&many_numbered);
    collect_all(profiler);
    assert_counts(profiler, counted(MANY + 2 * ALONE, MANY + 2 * ALONE, 0, 0, 0));
    assert_true(stats_of(profiler, "shared", "GPGPU_THREADGROUP_COUNT").min >= WORK_GROUPS);
    for (int i = 0; i < MANY; i++)
        end_worker(&workers[i]);
}

typedef struct replayer {
    world *w;
    zt_profiler *profiler;
    ze_command_queue_handle_t queue;
    ze_command_list_handle_t list;
    ze_kernel_handle_t kernel;
    pthread_t thread;
} replayer;

enum { REPLAYS = 4 };

static void *record_and_replay(void *argument) {
    replayer *me = (replayer *)argument;
    for (int i = 0; i < OFTEN(200); i++) {
        zt_region outer = zt_begin(me->profiler, me->list, "outer");
        append_kernel(me->profiler, me->list, me->kernel, "inner");
        zt_end(&outer);
        zeCommandListClose(me->list);
        for (int j = 0; j < REPLAYS; j++)
            zt_execute(me->profiler, me->queue, 1, &me->list, NULL);
        zeCommandQueueSynchronize(me->queue, A_WHILE);
        zt_release(me->profiler, me->list);
        zeCommandListReset(me->list);
    }
    return NULL;
}

static void create_queue(world *w, ze_command_queue_handle_t *queue) {
    ze_command_queue_desc_t desc = {
        ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, NULL, 0, 0, 0, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
        ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
    ok(zeCommandQueueCreate(w->context, w->device, &desc, queue));
}

static void test_recorded_lists_by_several_threads(void **state) {
    world *w = *state;
    const uint32_t each = OFTEN(200) * REPLAYS, all = 2 * THREADS * each;
    replayer replayers[THREADS];
    zt_config config = config_of(w);
    config.probes_per_step = 4;
    config.max_probes = 4 * THREADS;
    zt_profiler *profiler = open_profiler(w, &config);
    for (int i = 0; i < THREADS; i++) {
        replayers[i].w = w;
        replayers[i].profiler = profiler;
        create_queue(w, &replayers[i].queue);
        create_list(w, &replayers[i].list);
        create_kernel(w, &replayers[i].kernel);
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&replayers[i].thread, NULL, record_and_replay, &replayers[i]), 0);
    for (int i = 0; i < 200; i++) {
        zt_collect(profiler, i % 10 ? 0 : 100000);
        nap();
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(replayers[i].thread, NULL);
    collect_all(profiler);
    assert_counts(profiler, counted(all, all, 0, 0, 0));
    assert_int_equal(region_info(profiler, "inner").count, all / 2);
    assert_int_equal(region_info(profiler, "outer").count, all / 2);
    for (int i = 0; i < THREADS; i++) {
        ok(zeCommandListDestroy(replayers[i].list));
        ok(zeCommandQueueDestroy(replayers[i].queue));
        ok(zeKernelDestroy(replayers[i].kernel));
    }
}

/* A list of its own for every two regions, as a program has it that creates lists when it needs them. */
static void *create_and_destroy(void *argument) {
    worker *me = (worker *)argument;
    ze_command_queue_desc_t desc = {ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                    .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    for (int i = 0; i < OFTEN(200); i++) {
        zeCommandListCreateImmediate(me->w->context, me->w->device, &desc, &me->list);
        append_kernel(me->profiler, me->list, me->kernel, "shared");
        append_kernel(me->profiler, me->list, me->kernel, me->own);
        zt_release(me->profiler, me->list);
        zeCommandListDestroy(me->list);
    }
    return NULL;
}

static void test_lists_come_and_go_in_several_threads(void **state) {
    world *w = *state;
    const uint32_t each = OFTEN(200), all = 2 * THREADS * each;
    worker workers[THREADS];
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    for (int i = 0; i < THREADS; i++)
        make_worker(&workers[i], w, profiler, i);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&workers[i].thread, NULL, create_and_destroy, &workers[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    collect_all(profiler);
    assert_counts(profiler, counted(all, all, 0, 0, 0));
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(region_info(profiler, workers[i].own).count, each);
        ok(zeKernelDestroy(workers[i].kernel));
    }
    assert_int_equal(region_info(profiler, "shared").count, THREADS * each);
}

/* Probes that one list has given back are another's, to the last. */
static void test_probes_go_where_they_are_needed(void **state) {
    enum { PROBES = 8, LISTS = 5 };
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "ComputeBasic";
    config.probes_per_step = config.max_probes = PROBES;
    zt_profiler *profiler = open_profiler(w, &config);
    for (int i = 0; i < LISTS; i++) {
        ze_command_list_handle_t list;
        create_immediate(w, &list);
        for (int j = 0; j < PROBES; j++)
            append(w, profiler, list, "region");
        w->launches += PROBES;
        finish_immediate(w, list);
        ok(zt_release(profiler, list));
        ok(zeCommandListDestroy(list));
    }
    collect_all(profiler);
    assert_counts(profiler, counted(LISTS * PROBES, LISTS * PROBES, 0, 0, 0));
    check_work(w);
}

/* The probe that was freed first is used first: those that a collection freed last may still be in the cache
   of the core on which it ran. */
/* Its memory, and that of the driver, is in the cache. */
static void test_the_probe_that_was_freed_last_is_used_first(void **state) {
    enum { PROBES = 8 };
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "ComputeBasic";
    config.probes_per_step = config.max_probes = PROBES;
    zt_profiler *profiler = open_profiler(w, &config);
    const void *probes[PROBES];
    for (int i = 0; i < PROBES; i++) {
        zt_region region = zt_begin(profiler, w->immediate, "region");
        probes[i] = region.probe;
        zt_end(&region);
        finish_immediate(w, w->immediate);
        collect_all(profiler);
        /* Where the kind of the list is not known, it is freed when the next region has begun. */
        if (i > 1)
            assert_true(probes[i] == probes[i - 1] || probes[i] == probes[i - 2]);
    }
    assert_counts(profiler, counted(PROBES, PROBES, 0, 0, 0));
}

/* ==== regions by macro ==================================================================================== */

static void test_region_macro(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    int bodies = 0;
    ZT_REGION(profiler, w->immediate, "statement")
    launch(w, w->immediate);
    ZT_REGION(profiler, w->immediate, "block") {
        launch(w, w->immediate);
        ZT_REGION(profiler, w->immediate, "nested")
        launch(w, w->immediate);
        bodies++;
    }
    ZT_REGION(NULL, w->immediate, "inert") {
        launch(w, w->immediate);
        bodies++;
    }
    assert_int_equal(bodies, 2);
    check_work(w);
    collect_all(profiler);
    assert_counts(profiler, counted(3, 3, 0, 0, 0));
    expect(profiler, "statement", 1, 1);
    expect(profiler, "block", 1, 2);
    expect(profiler, "nested", 1, 1);
}

static int leave_by_return(world *w, zt_profiler *profiler) {
    ZT_REGION(profiler, w->immediate, "return") {
        launch(w, w->immediate);
        return 1;
    }
    return 0;
}

static void leave_by_goto(world *w, zt_profiler *profiler) {
    ZT_REGION(profiler, w->immediate, "goto") {
        launch(w, w->immediate);
        goto out;
    }
    launch(w, w->immediate);
out:
    return;
}

static void test_region_macro_left_early(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    int after = 0;
    assert_int_equal(leave_by_return(w, profiler), 1);
    leave_by_goto(w, profiler);
    ZT_REGION(profiler, w->immediate, "break") {
        launch(w, w->immediate);
        if (w->launches)
            break;
        launch(w, w->immediate);
    }
    for (int i = 0; i < 3; i++) {
        ZT_REGION(profiler, w->immediate, "continue") {
            launch(w, w->immediate);
            if (i == 1)
                continue;
            launch(w, w->immediate);
        }
        after++;
    }
    assert_int_equal(after, 3);
    launch(w, w->immediate); /* outside of all */
    check_work(w);
    collect_all(profiler);
    expect(profiler, "return", 1, 1);
    expect(profiler, "goto", 1, 1);
    expect(profiler, "break", 1, 1);
    expect(profiler, "continue", 3, 5);
    assert_counts(profiler, counted(6, 6, 0, 0, 0));
}

int break_in_iso_c(zt_profiler *profiler, ze_command_list_handle_t list);

static void test_region_macro_in_iso_c(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    assert_int_equal(break_in_iso_c(profiler, w->immediate), 1);
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
}

static void scope_with_return(world *w, zt_profiler *profiler, int early) {
    ZT_SCOPE(profiler, w->immediate, "scope");
    launch(w, w->immediate);
    if (early)
        return;
    ZT_SCOPE(profiler, w->immediate, "rest");
    launch(w, w->immediate);
}

static void test_scope_macro(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    scope_with_return(w, profiler, 1);
    scope_with_return(w, profiler, 0);
    check_work(w);
    collect_all(profiler);
    expect(profiler, "scope", 2, 3);
    expect(profiler, "rest", 1, 1);
}

/* Names that have the same hash, as these by FNV-1a of 64 bits, are those of two regions. */
static void test_names_of_the_same_hash(void **state) {
    static const char *const names[] = {"8yn0iYCKYHlIj4-BwPqk", "GReLUrM4wMqfg9yzV3KQ"};
    world *w = (world *)*state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    run(w, profiler, names[0]);
    run(w, profiler, names[1]);
    run(w, profiler, names[1]);
    collect_all(profiler);
    assert_int_equal(zt_get_info(profiler).region_count, 2);
    assert_int_equal(region_info(profiler, names[0]).count, 1);
    assert_int_equal(region_info(profiler, names[1]).count, 2);
    check_work(w);
}

/* Two threads add a name when there is no room for more: whoever comes second finds the room that the first has made. */
typedef struct other_name {
    world *w;
    zt_profiler *profiler;
} other_name;

static void *append_another(void *argument) {
    other_name *other = (other_name *)argument;
    append(other->w, other->profiler, other->w->list, "another");
    return NULL;
}

static void test_two_threads_add_names(void **state) {
    enum { FULL = 64, MOST = 100 }; /* the names that there is room for at first, and moments */
    world *w = (world *)*state;
    zt_config config = config_of(w);
    int moment = 0, is_late = 0;
    config.groups = "";
    config.allocator = interrupted_allocator();
    for (; !is_late && moment < MOST; moment++) {
        zt_profiler *profiler = open_profiler(w, &config);
        other_name other = {w, profiler};
        char name[16];
        for (int i = 0; i < FULL; i++) {
            snprintf(name, sizeof name, "name %d", i);
            run(w, profiler, name);
        }
        interrupt_allocation(moment, append_another, &other);
        run(w, profiler, "the last one");
        is_late = !interrupted_allocation();
        if (!is_late) {
            ok(zeCommandListClose(w->list));
            execute(w, profiler, w->list);
            w->launches++;
        }
        collect_all(profiler);
        assert_int_equal(zt_get_info(profiler).region_count, FULL + 1 + !is_late);
        assert_int_equal(region_info(profiler, "name 0").count, 1);
        assert_int_equal(region_info(profiler, "the last one").count, 1);
        if (!is_late) {
            assert_int_equal(region_info(profiler, "another").count, 1);
            ok(zt_reset(profiler, w->list));
        }
        close_profiler(w, profiler);
    }
    assert_in_range(moment, 3, MOST - 1); /* the last name needs fewer allocations than that */
    check_work(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_names_of_the_same_hash),
        TEST(test_two_threads_add_names),
        TEST(test_immediate_list),
        TEST(test_synchronous_immediate_list),
        TEST(test_only_what_is_inside_is_measured),
        TEST(test_empty_region),
        TEST(test_copies_are_measured),
        TEST(test_collect_does_not_block),
        TEST(test_collect_takes_what_is_ready),
        TEST(test_nested),
        TEST(test_nested_with_one_name),
        TEST(test_overlapping),
        TEST(test_regions_are_in_order_of_first_appearance),
        TEST(test_name_is_copied),
        TEST(test_recorded_list_executed_once),
        TEST(test_recorded_list_executed_by_the_application),
        TEST(test_recorded_list_overwritten_by_the_application),
        TEST(test_recorded_list_executed_by_both),
        TEST(test_recorded_list_replayed),
        TEST(test_replay_goes_on_after_collect),
        TEST(test_several_lists_in_one_execution),
        TEST(test_execute_with_fence),
        TEST(test_execute_without_regions),
        TEST(test_execution_that_the_driver_refused),
        TEST(test_recording_that_never_ran),
        TEST(test_release_loses_nothing),
        TEST(test_release_ends_the_binding),
        TEST(test_a_handle_comes_back_as_another_kind),
        TEST(test_reset_without_release),
        TEST(test_reset_without_release_or_collection),
        TEST(test_late_collection_after_reset_without_release),
        TEST(test_recorded_and_immediate_lists_mixed),
        TEST(test_replay_is_never_stale),
        TEST(test_last_region_is_submitted),
        TEST(test_not_ready_by_other_names),
        TEST(test_names_in_buffers),
        TEST(test_a_list_is_read_where_it_is_used),
        TEST(test_begin_while_another_thread_reads),
        TEST(test_several_lists_by_several_threads),
        TEST(test_many_threads),
        TEST(test_recorded_lists_by_several_threads),
        TEST(test_lists_come_and_go_in_several_threads),
        TEST(test_probes_go_where_they_are_needed),
        TEST(test_the_probe_that_was_freed_last_is_used_first),
        TEST(test_region_macro),
        TEST(test_region_macro_left_early),
        TEST(test_region_macro_in_iso_c),
        TEST(test_scope_macro),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
