/* What hardware or driver lost is counted by cause, kept out of the statistics, and costs no probe. */
#include <math.h>
#include <string.h>

#include "meet.h"

typedef struct loss {
    enum softgpu_behaviour behaviour;
    zt_cause cause;
} loss;

/* F16 */
static const loss losses[] = {
    {SOFTGPU_REPORT_ERROR, ZT_LOST_REPORT_ERROR},
    {SOFTGPU_REPORT_LOST, ZT_LOST_REPORT_LOST},
    {SOFTGPU_REPORT_WITHOUT_WORKLOAD, ZT_LOST_REPORT_WITHOUT_WORKLOAD},
    {SOFTGPU_REPORT_INCONSISTENT, ZT_LOST_REPORT_INCONSISTENT},
    {SOFTGPU_REPORT_CONTEXT_MISMATCH, ZT_LOST_REPORT_CONTEXT_MISMATCH},
    {SOFTGPU_REPORT_QUERY_MODE_MISMATCH, ZT_LOST_REPORT_QUERY_MODE_MISMATCH},
    {SOFTGPU_REPORT_OVERRUN, ZT_LOST_OVERRUN},
    {SOFTGPU_REPORT_QUERY_SPLIT, ZT_LOST_QUERY_SPLIT},
    {SOFTGPU_NEVER_DELIVERED, ZT_LOST_NEVER_DELIVERED},
};

enum { LOSSES = sizeof losses / sizeof losses[0] };

/* Few probes: a probe that a lost instance kept would soon be missed. */
static zt_profiler *open_small(world *w, const char *groups) {
    zt_config config = config_of(w);
    config.groups = groups;
    config.probes_per_step = 4;
    config.max_probes = 8;
    return open_profiler(w, &config);
}

static void expect_loss(world *w, const zt_profiler *profiler, loss one, uint64_t collected, uint64_t lost) {
    assert_counts(profiler, counted(collected + lost, collected, lost, 0, 0));
    assert_int_equal(zt_get_info(profiler).causes[one.cause].count, lost);
    zt_region_info info = region_info(profiler, "some");
    assert_int_equal(info.count, collected);
    assert_int_equal(info.lost, lost);
    assert_int_equal(info.time_ns.count, collected);
    zt_stats groups = stats_of(profiler, "some", "GPGPU_THREADGROUP_COUNT");
    assert_int_equal(groups.count, collected);
    assert_true(groups.min == WORK_GROUPS); /* zeros of lost reports are not in it */
    assert_true(groups.sum == (double)collected * WORK_GROUPS);
    check_work(w);
}

/* A list that is executed again before it was read: its last execution is collected when the application says that the
   device is done. */
static void test_executed_again_before_it_was_read(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "";
    config.wait_timeout_ns = 1000;
    zt_profiler *profiler = open_profiler(w, &config);
    ze_event_handle_t gate = append_gate(w, w->list);
    append(w, profiler, w->list, "kernel");
    ok(zeCommandListClose(w->list));
    for (int i = 0; i < 2; i++)
        ok(zt_execute(profiler, w->queue, 1, &w->list, NULL));
    w->launches += 2;
    ok(zeEventHostSignal(gate));
    finish_queue(w);
    ok(zt_collect(profiler, A_WHILE));
    assert_counts(profiler, counted(2, 0, 1, 0, 1));
    const char *report = written_report(profiler, ZT_FORMAT_CSV);
    assert_contains(report,
                    "1 sample is of lists that were executed again before they were read. Call zt_release");
    assert_null(strstr(report, "in flight. Call"));
    ok(zt_release(profiler, w->list));
    assert_counts(profiler, counted(2, 1, 1, 0, 0));
    assert_null(strstr(written_report(profiler, ZT_FORMAT_CSV), "executed again"));
    ok(zeCommandListReset(w->list));
    ok(zeEventDestroy(gate));
    check_work(w);
}

static void lose_some_of_immediate(world *w, loss one) {
    int before = w->message_count;
    zt_profiler *profiler = open_small(w, "ComputeBasic");
    gpu.behave(one.behaviour, 5);
    for (int i = 0; i < 50; i++) {
        run(w, profiler, "some");
        zt_collect(profiler, A_WHILE);
        check_identity(profiler);
    }
    gpu.behave(one.behaviour, 0);
    collect_all(profiler);
    expect_loss(w, profiler, one, 40, 10);
    assert_int_equal(w->message_count, before + 1); /* said once */
    if (one.cause == ZT_LOST_NEVER_DELIVERED)       /* what to do fits a program that did wait */
        assert_contains(written_report(profiler, ZT_FORMAT_TABLE),
                        "On immediate lists, drivers drop a query");
    close_profiler(w, profiler);
}

static void test_lost_on_immediate_lists(void **state) {
    for (int i = 0; i < LOSSES; i++)
        lose_some_of_immediate((world *)*state, losses[i]);
}

/* A flag that says nothing of losses is a metric as others: its sum is how often it was set. */
static void test_flags_of_what_is_kept(void **state) {
    world *w = *state;
    gpu.behave(SOFTGPU_METRIC_NAMES_DIFFER, 1);
    zt_profiler *profiler = open_small(w, "ComputeBasic");
    gpu.behave(SOFTGPU_REPORT_QUERY_SPLIT, 5);
    for (int i = 0; i < 50; i++) {
        run(w, profiler, "some");
        zt_collect(profiler, A_WHILE);
    }
    collect_all(profiler);
    assert_counts(profiler, counted(50, 50, 0, 0, 0));
    zt_stats set = stats_of(profiler, "some", "MidQueryCtxSwitch");
    assert_int_equal(set.count, 50);
    assert_true(set.sum == 10);
    assert_true(isnan(set.mean) && isnan(set.min) && isnan(set.max) && isnan(set.median));
    set = stats_of(profiler, "some", "OverrunOccured");
    assert_int_equal(set.count, 50);
    assert_true(set.sum == 0);
}

static void lose_some_of_recorded(world *w, loss one) {
    zt_profiler *profiler = open_small(w, "ComputeBasic");
    append(w, profiler, w->list, "some");
    ok(zeCommandListClose(w->list));
    gpu.behave(one.behaviour, 5);
    for (int i = 0; i < 50; i++) {
        execute(w, profiler, w->list);
        w->launches++;
    }
    collect_all(profiler);
    gpu.behave(one.behaviour, 0);
    expect_loss(w, profiler, one, 40, 10);
    ok(zt_release(profiler, w->list));
    reset_list(w->list);
    close_profiler(w, profiler);
}

/* On recorded lists everything is delivered; flags come here too. */
static void test_lost_on_recorded_lists(void **state) {
    for (int i = 0; i < LOSSES; i++)
        if (losses[i].cause != ZT_LOST_NEVER_DELIVERED)
            lose_some_of_recorded((world *)*state, losses[i]);
}

/* Drivers return 2^64 ticks too many for a region around another, of a list that is executed again. Where the
   clock of the device shows that, the time is corrected; elsewhere it is no figure. */
static void replay_nested(world *w, int is_corrected) {
    uint64_t around = is_corrected ? 3 : 1;
    gpu.set_timestamps(64, is_corrected ? 19200000 : 1000000000);
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    gpu.behave(SOFTGPU_NESTED_REPLAY_OVERFLOWS, 1);
    ZT_REGION(profiler, w->list, "around") {
        ZT_REGION(profiler, w->list, "inside")
        launch_kernel(w->list, w->kernel);
    }
    ok(zeCommandListClose(w->list));
    for (int i = 0; i < 3; i++) {
        execute(w, profiler, w->list);
        w->launches++;
    }
    collect_all(profiler);
    assert_counts(profiler, counted(6, 3 + around, 3 - around, 0, 0));
    assert_int_equal(zt_get_info(profiler).causes[ZT_LOST_IMPLAUSIBLE].count, 3 - around);
    assert_int_equal(region_info(profiler, "around").lost, 3 - around);
    assert_int_equal(region_info(profiler, "inside").count, 3);
    assert_true(region_info(profiler, "around").time_ns.max < (double)A_WHILE);
    assert_int_equal(isnan(region_info(profiler, "around").own_ns) != 0, !is_corrected);
    if (is_corrected)
        assert_true(region_info(profiler, "around").time_ns.sum >=
                    region_info(profiler, "inside").time_ns.sum * 0.99);
    check_work(w);
    ok(zt_reset(profiler, w->list));
    close_profiler(w, profiler);
    gpu.behave(SOFTGPU_NESTED_REPLAY_OVERFLOWS, 0);
}

static void test_times_that_cannot_be(void **state) {
    replay_nested((world *)*state, 1);
    replay_nested((world *)*state, 0);
}

/* A device that has to be reset is lost. */
static void test_a_device_that_requires_a_reset(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    run(w, profiler, "first");
    collect_all(profiler);
    run(w, profiler, "lost");
    inject("zetMetricQueryGetData", 1, ZE_RESULT_ERROR_DEVICE_REQUIRES_RESET);
    assert_result(zt_collect(profiler, A_WHILE), ZE_RESULT_ERROR_DEVICE_LOST);
    run(w, profiler, "dropped");
    assert_counts(profiler, counted(3, 1, 1, 1, 0));
    assert_int_equal(zt_get_info(profiler).causes[ZT_LOST_DEVICE].count, 1);
    assert_int_equal(zt_get_info(profiler).causes[ZT_DROPPED_DEVICE_LOST].count, 1);
    assert_int_equal(heard(w, "ZE_RESULT_ERROR_DEVICE_REQUIRES_RESET"), 1);
    check_work(w);
}

/* Reports are calculated together: a bad one spoils none of its neighbours. */
static void test_lost_among_many(void **state) {
    world *w = *state;
    for (int i = 0; i < LOSSES; i++) {
        zt_profiler *profiler = open_groups(w, "ComputeBasic");
        gpu.behave(losses[i].behaviour, 7);
        for (int j = 0; j < 70; j++) {
            append(w, profiler, w->immediate, "some");
            w->launches++;
        }
        finish_immediate(w, w->immediate);
        collect_all(profiler);
        gpu.behave(losses[i].behaviour, 0);
        expect_loss(w, profiler, losses[i], 60, 10);
        close_profiler(w, profiler);
    }
}

static void test_everything_lost(void **state) {
    world *w = *state;
    for (int i = 0; i < LOSSES; i++) {
        zt_profiler *profiler = open_small(w, "ComputeBasic");
        gpu.behave(losses[i].behaviour, 1);
        for (int j = 0; j < 20; j++) {
            run(w, profiler, "none");
            zt_collect(profiler, A_WHILE);
        }
        collect_all(profiler);
        assert_counts(profiler, counted(20, 0, 20, 0, 0));
        assert_int_equal(region_info(profiler, "none").time_ns.count, 0);
        gpu.behave(losses[i].behaviour, 0);
        run(w, profiler, "then");
        collect_all(profiler);
        assert_int_equal(region_info(profiler, "then").count, 1);
        close_profiler(w, profiler);
    }
    check_work(w);
}

/* An instance is lost once, though each of its groups may have lost it; the other group's half is not counted
   either. */
static void test_lost_with_two_groups(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_small(w, "ComputeBasic,HostScheduler");
    gpu.behave(SOFTGPU_REPORT_LOST, 3);
    for (int i = 0; i < 30; i++)
        run(w, profiler, "some");
    gpu.behave(SOFTGPU_REPORT_LOST, 0);
    collect_all(profiler);
    zt_counts counts = zt_get_info(profiler).counts;
    assert_int_equal(counts.begun, 30);
    assert_int_equal(counts.collected + counts.lost, 30);
    assert_true(counts.lost > 0 && counts.lost <= 20);
    assert_int_equal(zt_get_info(profiler).causes[ZT_LOST_REPORT_LOST].count, counts.lost);
    for (uint32_t i = 0; i < zt_get_info(profiler).metric_count; i++) {
        zt_stats stats;
        ok(zt_get_stats(profiler, 0, i, &stats));
        assert_int_equal(stats.count, counts.collected);
    }
}

/* F16: collecting without a timeout finds it out, too; by the time since the event was seen, and not by how
   often somebody asked. */
static void test_never_delivered_is_found_without_waiting(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_small(w, "ComputeBasic");
    gpu.behave(SOFTGPU_NEVER_DELIVERED, 1);
    run(w, profiler, "none");
    hold_time(1);
    for (int i = 0; i < 1000; i++)
        ok(zt_collect(profiler, 0));
    assert_counts(profiler, counted(1, 0, 0, 0, 1));
    pass_time(5000000);
    for (int i = 0; i < 100; i++)
        ok(zt_collect(profiler, 0));
    assert_counts(profiler, counted(1, 0, 0, 0, 1));
    pass_time(1000000000);
    for (int i = 0; i < 10; i++)
        ok(zt_collect(profiler, 0));
    hold_time(0);
    assert_counts(profiler, counted(1, 0, 1, 0, 0));
    assert_int_equal(zt_get_info(profiler).causes[ZT_LOST_NEVER_DELIVERED].count, 1);
    check_work(w);
}

/* The data come later than the event: they are waited for. */
static void test_delivered_late(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_small(w, "ComputeBasic");
    run(w, profiler, "late");
    hold_time(1);
    for (int i = 0; i < 100; i++) {
        inject("zetMetricQueryGetData", 1, ZE_RESULT_NOT_READY);
        ok(zt_collect(profiler, 0));
    }
    assert_counts(profiler, counted(1, 0, 0, 0, 1));
    inject("zetMetricQueryGetData", 0, ZE_RESULT_SUCCESS);
    hold_time(0);
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    check_work(w);
}

/* The driver refuses to give the data. */
static void test_read_failed(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_small(w, "ComputeBasic");
    run(w, profiler, "fine");
    collect_all(profiler);
    for (int i = 0; i < 10; i++) {
        inject("zetMetricQueryGetData", 1, ZE_RESULT_ERROR_INVALID_ARGUMENT);
        run(w, profiler, "unread");
        zt_collect(profiler, A_WHILE);
        check_identity(profiler);
    }
    inject("zetMetricQueryGetData", 0, ZE_RESULT_SUCCESS);
    assert_int_equal(region_info(profiler, "unread").lost, 10);
    assert_int_equal(zt_get_info(profiler).causes[ZT_LOST_READ_FAILED].count, 10);
    run(w, profiler, "fine");
    collect_all(profiler);
    assert_int_equal(region_info(profiler, "fine").count, 2);
    assert_int_equal(heard(w, "zetMetricQueryGetData"), 1);
    check_work(w);
}

/* Where the driver will not calculate a batch, its reports are calculated one by one. */
static void test_batch_not_calculated(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    for (int i = 0; i < 5; i++) {
        append(w, profiler, w->immediate, "some");
        w->launches++;
    }
    finish_immediate(w, w->immediate);
    inject("zetMetricGroupCalculateMetricValues", 1, ZE_RESULT_ERROR_INVALID_SIZE);
    gpu.reset_calls();
    collect_all(profiler);
    assert_int_equal(calls("zetMetricGroupCalculateMetricValues"), 1 + 5);
    assert_counts(profiler, counted(5, 5, 0, 0, 0));
    assert_true(stats_of(profiler, "some", "GPGPU_THREADGROUP_COUNT").sum == 5 * WORK_GROUPS);
    check_work(w);
}

/* Memory ends at each allocation in turn: what is counted as dropped is logged as dropped, and not as lost. */
static void test_sample_without_memory(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.allocator = scarce_allocator();
    zt_profiler *profiler = open_profiler(w, &config);
    for (int n = 0; zt_get_info(profiler).counts.collected == 0; n++) {
        assert_in_range(n, 0, 100);
        append(w, profiler, w->immediate, "region");
        w->launches++;
        finish_immediate(w, w->immediate);
        allocations_left = n / 2; /* what was allocated for one sample is there for the next */
        zt_collect(profiler, 0);
        allocations_left = -1;
        assert_int_equal(heard(w, "[SAMPLE_LOST]") > 0, zt_get_info(profiler).counts.lost > 0);
        assert_int_equal(heard(w, "[SAMPLE_DROPPED]") > 0, zt_get_info(profiler).counts.dropped > 0);
    }
    assert_true(zt_get_info(profiler).causes[ZT_DROPPED_NO_MEMORY].count > 0);
    check_work(w);
}

/* A list executed again, in one call even, before the first execution was read: counted, whichever way. */
static void test_overwritten(void **state) {
    world *w = *state;
    ze_event_handle_t gate;
    create_event(w, 1, &gate);
    zt_config config = config_of(w);
    config.wait_timeout_ns = 100000000; /* zt_execute gives up waiting while the gate is closed */
    zt_profiler *profiler = open_patiently(w, &config);
    ok(zeCommandListAppendWaitOnEvents(w->list, 1, &gate));
    append(w, profiler, w->list, "again");
    ok(zeCommandListClose(w->list));
    for (int i = 0; i < 3; i++) {
        ok(zt_execute(profiler, w->queue, 1, &w->list, NULL));
        check_identity(profiler);
    }
    ok(zeEventHostSignal(gate));
    finish_queue(w);
    ok(zt_collect(profiler, 0)); /* no call has named the queue since it was idle */
    assert_counts(profiler, counted(3, 0, 2, 0, 1));
    ok(zt_release(profiler, w->list));
    assert_counts(profiler, counted(3, 1, 2, 0, 0));
    assert_int_equal(zt_get_info(profiler).causes[ZT_LOST_OVERWRITTEN].count, 2);
    assert_int_equal(heard(w, "[OVERWRITTEN] zt_execute: "), 1);
    assert_int_equal(gpu.findings(), 2); /* their queries were not reset: the device had not done with them */
    gpu.forget_findings();
    w->launches += 3;
    ok(zeEventDestroy(gate));
    check_work(w);
}

/* Time stamps that the device writes to memory may then be of two executions: none of them is measured. If they
   were on two queues, nothing shows that all have ended, until the list is recorded anew. */
static void test_overwritten_times(void **state) {
    world *w = *state;
    ze_event_handle_t gate;
    create_event(w, 1, &gate);
    zt_config config = config_of(w);
    config.groups = "";
    config.wait_timeout_ns = 10000000; /* zt_execute gives up waiting while the gate is closed */
    for (uint32_t i = 0; i < 3; i++) {
        ze_command_queue_handle_t other = queue_of(w, COMPUTE, 0);
        const ze_command_queue_handle_t queues[3][3] = {
            {w->queue, w->queue, w->queue}, {w->queue, other, w->queue}, {w->queue, other, other}};
        zt_profiler *profiler = open_patiently(w, &config);
        ok(zeEventHostReset(gate));
        ok(zeCommandListAppendWaitOnEvents(w->list, 1, &gate));
        append(w, profiler, w->list, "again");
        ok(zeCommandListClose(w->list));
        ok(zt_execute(profiler, queues[i][0], 1, &w->list, NULL));
        ok(zt_execute(profiler, queues[i][1], 1, &w->list, NULL));
        ok(zeEventHostSignal(gate));
        finish_queue(w);
        ok(zeCommandQueueSynchronize(other, A_WHILE));
        ok(zt_execute(profiler, queues[i][2], 1, &w->list, NULL));
        finish_queue(w);
        ok(zeCommandQueueSynchronize(other, A_WHILE));
        collect_all(profiler);
        if (i == 0)
            assert_counts(profiler, counted(3, 2, 1, 0, 0)); /* the queue was idle before the last one */
        else
            assert_counts(profiler, counted(3, 0, 3, 0, 0));
        assert_int_equal(zt_get_info(profiler).causes[ZT_LOST_OVERWRITTEN].count,
                         zt_get_info(profiler).counts.lost);
        w->launches += 3;

        ok(zt_reset(profiler, w->list));
        append(w, profiler, w->list, "anew");
        ok(zeCommandListClose(w->list));
        execute(w, profiler, w->list);
        w->launches++;
        collect_all(profiler);
        assert_int_equal(region_info(profiler, "anew").count, 1);
        ok(zt_reset(profiler, w->list));
        close_profiler(w, profiler);
        ok(zeCommandQueueDestroy(other));
    }
    gpu.forget_findings();
    ok(zeEventDestroy(gate));
    check_work(w);
}

/* The driver refuses an execution while the last one is still on its way: nothing of it was overwritten. */
static void test_refused_while_the_last_execution_runs(void **state) {
    world *w = *state;
    ze_event_handle_t gate;
    create_event(w, 1, &gate);
    zt_config config = config_of(w);
    config.wait_timeout_ns = 100000000; /* zt_execute gives up waiting while the gate is closed */
    zt_profiler *profiler = open_patiently(w, &config);
    append(w, profiler, w->list, "before the gate");
    ok(zeCommandListAppendWaitOnEvents(w->list, 1, &gate));
    append(w, profiler, w->list, "behind the gate");
    ok(zeCommandListClose(w->list));
    ok(zt_execute(profiler, w->queue, 1, &w->list, NULL));
    for (int i = 0; i < 3; i++) {
        inject("zeCommandQueueExecuteCommandLists", 1, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
        assert_result(zt_execute(profiler, w->queue, 1, &w->list, NULL),
                      ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
        check_identity(profiler);
    }
    assert_int_equal(zt_get_info(profiler).counts.begun, 2);
    assert_int_equal(zt_get_info(profiler).counts.lost, 0);
    assert_int_equal(heard(w, "[OVERWRITTEN]"), 0);
    ok(zeEventHostSignal(gate));
    finish_queue(w);
    collect_all(profiler);
    assert_counts(profiler, counted(2, 2, 0, 0, 0));
    execute(w, profiler, w->list);
    collect_all(profiler);
    w->launches += 4;
    assert_counts(profiler, counted(4, 4, 0, 0, 0));
    assert_int_equal(zt_get_info(profiler).counts.unobserved_lists, 0);
    ok(zeEventDestroy(gate));
    check_work(w);
}

/* A list that is named twice is executed in two calls, of which the driver refuses one. */
static void test_refused_in_the_middle(void **state) {
    world *w = *state;
    static const char *const told[] = {"The lists were not executed.",
                                       "Lists executed: the first 1 of 2. The others were not executed."};
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    ze_command_list_handle_t lists[] = {w->list, w->list};
    append(w, profiler, w->list, "twice");
    ok(zeCommandListClose(w->list));
    for (uint32_t executed = 0; executed < 2; executed++) {
        inject("zeCommandQueueExecuteCommandLists", executed + 1, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
        assert_result(zt_execute(profiler, w->queue, 2, lists, NULL), ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
        assert_contains(zt_get_info(profiler).error, told[executed]);
        finish_queue(w);
        assert_counts(profiler, counted(executed + maybe_running(1 - executed), executed, 0, 0,
                                        maybe_running(1 - executed)));
    }
    w->launches++;
    check_work(w);
}

/* The driver refuses to execute an immediate list: what is on it runs all the same. */
static void test_execution_of_an_immediate_list_is_refused(void **state) {
    world *w = *state;
    ze_event_handle_t gate;
    if (!can_tell_immediate())
        skip();
    create_event(w, 1, &gate);
    zt_config config = config_of(w);
    config.groups = "ComputeBasic";
    config.wait_timeout_ns = 1000000; /* zt_execute waits for what the gate keeps back */
    zt_profiler *profiler = open_patiently(w, &config);
    ok(zeCommandListAppendWaitOnEvents(w->immediate, 1, &gate));
    append(w, profiler, w->immediate, "runs");
    w->launches++;
    assert_true(zt_execute(profiler, w->queue, 1, &w->immediate, NULL) != ZE_RESULT_SUCCESS);
    assert_counts(profiler, counted(1, 0, 0, 0, 1));
    ok(zeEventHostSignal(gate));
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    assert_int_equal(zt_get_info(profiler).counts.unobserved_lists, 0);
    ok(zeEventDestroy(gate));
    check_work(w);
}

/* What a sample function executes once. */
typedef struct executing {
    world *w;
    zt_profiler *profiler;
    ze_command_list_handle_t lists[2];
    ze_result_t results[2];
    uint32_t count; /* 0: nothing, or it was executed */
} executing;

static void execute_in_sample(const zt_sample *sample, void *user) {
    executing *me = (executing *)user;
    uint32_t count = me->count;
    (void)sample;
    me->count = 0;
    for (uint32_t i = 0; i < count; i++)
        me->results[i] = zt_execute(me->profiler, me->w->queue, 1, &me->lists[i], NULL);
}

/* A sample function executes a list without regions, and an immediate list, which the driver refuses: no sample of
   theirs can be overwritten, so neither counts as unobserved. */
static void test_executions_in_a_sample_function(void **state) {
    world *w = *state;
    executing me = {.w = w, .lists = {w->list, w->immediate}};
    zt_config config = config_of(w);
    config.groups = "ComputeBasic";
    config.sample = execute_in_sample;
    config.sample_user = &me;
    me.profiler = open_profiler(w, &config);
    launch(w, w->list);
    ok(zeCommandListClose(w->list));
    run(w, me.profiler, "first");
    me.count = can_tell_immediate() ? 2 : 1;
    collect_all(me.profiler);
    assert_int_equal(me.count, 0);
    finish_queue(w);
    assert_result(me.results[0], ZE_RESULT_SUCCESS);
    assert_true(!can_tell_immediate() || me.results[1] != ZE_RESULT_SUCCESS);
    assert_int_equal(heard(w, "[INSIDE_CALLBACK] zt_execute"), 1);
    run(w, me.profiler, "then");
    collect_all(me.profiler);
    assert_counts(me.profiler, counted(2, 2, 0, 0, 0));
    assert_int_equal(zt_get_info(me.profiler).counts.unobserved_lists, 0);
    check_work(w);
}

/* ==== drops =============================================================================================== */

static void test_probes_exhausted(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_small(w, "ComputeBasic");
    for (int i = 0; i < 50; i++) {
        append(w, profiler, w->list, "many");
        check_identity(profiler);
    }
    ok(zeCommandListClose(w->list));
    assert_counts(profiler, counted(42 + maybe_running(8), 0, 0, 42, maybe_running(8)));
    assert_int_equal(zt_get_info(profiler).causes[ZT_DROPPED_NO_PROBE].count, 42);
    assert_int_equal(region_info(profiler, "many").dropped, 42);
    assert_int_equal(w->message_count, 1);
    assert_int_equal(heard(w, "max_probes"), 1);
    execute(w, profiler, w->list);
    w->launches += 50;
    collect_all(profiler);
    assert_int_equal(zt_get_info(profiler).counts.collected, 8);
    ok(zt_release(profiler, w->list));
    run(w, profiler, "then");
    collect_all(profiler);
    assert_int_equal(region_info(profiler, "then").count, 1);
    check_work(w);
}

/* What is not ended is the cause, so it is named. */
static void test_probes_exhausted_by_regions_that_are_not_ended(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_small(w, "ComputeBasic");
    zt_region leaked[8];
    for (int i = 0; i < 8; i++)
        leaked[i] = zt_begin(profiler, w->immediate, "leaked");
    run(w, profiler, "then");
    assert_int_equal(w->message_count, 1);
    assert_contains(w->messages[0],
                    "by regions that were begun and not ended, such as 'leaked'. Region 'then' is not "
                    "measured. Call zt_end() for each.");
    for (int i = 8; i-- > 0;)
        zt_end(&leaked[i]);
    collect_all(profiler);
    assert_counts(profiler, counted(9, 8, 0, 1, 0));
    check_work(w);
}

/* The driver refuses to make probes as long as somebody else has the counters (F21), and then no more. It is not asked
   for a while, and the message of the call that failed is the last one. */
static void test_probes_after_a_passing_failure(void **state) {
    const char *functions[] = {"zetMetricQueryPoolCreate", "zeEventPoolCreate"};
    world *w = *state;
    for (int i = 0; i < 2; i++) {
        zt_config config = config_of(w);
        config.groups = "ComputeBasic";
        config.probes_per_step = 4;
        zt_profiler *profiler = open_profiler(w, &config);
        for (int j = 0; j < 4; j++)
            append(w, profiler, w->list, "first");
        inject(functions[i], 1, ZE_RESULT_ERROR_NOT_AVAILABLE);
        hold_time(1);
        for (uint64_t j = 0; j < 3; j++) {
            append(w, profiler, w->list, "refused");
            assert_int_equal(zt_get_info(profiler).counts.dropped, j + 1);
            assert_contains(zt_get_info(profiler).error, functions[i]);
        }
        hold_time(0);
        pass_time(A_WHILE);
        for (int j = 0; j < 8; j++)
            append(w, profiler, w->list, "then");
        ok(zeCommandListClose(w->list));
        execute(w, profiler, w->list);
        w->launches += 15;
        collect_all(profiler);
        assert_counts(profiler, counted(15, 12, 0, 3, 0));
        assert_int_equal(region_info(profiler, "refused").dropped, 3);
        assert_int_equal(region_info(profiler, "then").count, 8);
        assert_int_equal(w->message_count, i + 1);
        assert_int_equal(heard(w, functions[i]), 1);
        close_profiler(w, profiler);
        reset_list(w->list);
    }
    check_work(w);
}

/* A region that is begun in part only, for the driver refused the rest, gives its probe back too. */
static void test_refused_in_part(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_small(w, "ComputeBasic,HostScheduler");
    const char *functions[] = {"zetCommandListAppendMetricQueryBegin", "zetCommandListAppendMetricQueryEnd"};
    for (int i = 0; i < 40; i++) {
        inject(functions[i % 2], 2, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
        run(w, profiler, "refused");
        run(w, profiler, "then");
        collect_all(profiler);
    }
    assert_counts(profiler, counted(80, 40, 0, 40, 0));
    assert_int_equal(zt_get_info(profiler).causes[ZT_DROPPED_APPEND_FAILED].count, 40);
    assert_int_equal(region_info(profiler, "then").count, 40);
    check_work(w);
}

/* The driver refuses the last command of a region whose list has no other. It is still running when the list
   is executed again, so its queries are not reset before. They are when the list is reset. */
static void test_refused_in_the_only_region_of_a_list(void **state) {
    world *w = *state;
    ze_event_handle_t gate;
    char ledger[4096];
    create_event(w, 1, &gate);
    zt_config config = config_of(w);
    config.groups = "ComputeBasic,HostScheduler";
    config.probes_per_step = 4;
    config.max_probes = 8;
    config.wait_timeout_ns = 10000000; /* zt_execute gives up waiting while the gate is closed */
    zt_profiler *profiler = open_patiently(w, &config);
    for (int i = 0; i < 20; i++) {
        ok(zeEventHostReset(gate));
        inject("zetCommandListAppendMetricQueryEnd", 2, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
        zt_region region = zt_begin(profiler, w->list, "refused");
        ok(zeCommandListAppendWaitOnEvents(w->list, 1, &gate));
        launch(w, w->list);
        zt_end(&region);
        ok(zeCommandListClose(w->list));
        ok(zt_execute(profiler, w->queue, 1, &w->list, NULL));
        nap(); /* the queries have begun */
        ok(zt_execute(profiler, w->queue, 1, &w->list, NULL));
        zt_collect(profiler, 0);
        ok(zeEventHostSignal(gate));
        finish_queue(w);
        w->launches++; /* launch() has counted one */
        ok(zt_reset(profiler, w->list));
        gpu.ledger(ledger, sizeof ledger);
        assert_null(strstr(ledger, "that had not begun")); /* reset between begin and end */
        gpu.forget_findings();                             /* they begin again without a reset */
    }
    assert_counts(profiler, counted(20, 0, 0, 20, 0));
    for (int i = 0; i < 8; i++)
        append(w, profiler, w->list, "then");
    ok(zeCommandListClose(w->list));
    execute(w, profiler, w->list);
    w->launches += 8;
    collect_all(profiler);
    assert_counts(profiler, counted(28, 8, 0, 20, 0));
    ok(zeEventDestroy(gate));
    check_work(w);
}

/* zt_execute waits for a dropped region as for another, and resets its queries. */
static void test_refused_and_executed_in_turn(void **state) {
    const char *functions[] = {"zetCommandListAppendMetricQueryBegin", "zetCommandListAppendMetricQueryEnd"};
    world *w = *state;
    for (int thread = 0; thread < 2; thread++) {
        for (int i = 0; i < 2; i++) {
            zt_config config = config_of(w);
            config.groups = "ComputeBasic,HostScheduler";
            config.thread = thread;
            zt_profiler *profiler = open_profiler(w, &config);
            inject(functions[i], 2, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
            append(w, profiler, w->list, "refused");
            ok(zeCommandListClose(w->list));
            for (int j = 0; j < 10; j++)
                ok(zt_execute(profiler, w->queue, 1, &w->list, NULL));
            w->launches += 10;
            finish_queue(w);
            assert_int_equal(gpu.findings(), 0);
            ok(zt_reset(profiler, w->list));
            assert_counts(profiler, counted(1, 0, 0, 1, 0));
            close_profiler(w, profiler);
        }
    }
    check_work(w);
}

/* With one probe alone, a dropped region has to give it back when the device is done with it. */
static void test_refused_in_the_only_probe(void **state) {
    world *w = *state;
    if (!can_tell_immediate())
        skip();
    zt_config config = config_of(w);
    config.groups = "ComputeBasic,HostScheduler";
    config.max_probes = 1;
    zt_profiler *profiler = open_profiler(w, &config);
    for (int i = 0; i < 10; i++) {
        inject("zetCommandListAppendMetricQueryBegin", 2, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
        run(w, profiler, "refused");
        run(w, profiler, "then");
    }
    collect_all(profiler);
    assert_counts(profiler, counted(20, 10, 0, 10, 0));
    assert_int_equal(zt_get_info(profiler).causes[ZT_DROPPED_APPEND_FAILED].count, 10);
    check_work(w);
}

/* The event of a dropped region cannot be queried at first: its probe is free when that succeeds. */
static void test_a_dropped_region_whose_event_cannot_be_queried(void **state) {
    world *w = *state;
    if (!can_tell_immediate())
        skip();
    zt_config config = config_of(w);
    config.groups = "ComputeBasic,HostScheduler";
    config.max_probes = 1;
    zt_profiler *profiler = open_profiler(w, &config);
    inject("zetCommandListAppendMetricQueryEnd", 2, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    run(w, profiler, "refused");
    for (int i = 0; i < 5; i++) {
        inject("zeEventQueryStatus", 1, ZE_RESULT_ERROR_UNKNOWN);
        pass_time(UINT64_C(1000000000));
        zt_collect(profiler, 0);
        assert_contains(zt_get_info(profiler).error, "zeEventQueryStatus failed: ZE_RESULT_ERROR_UNKNOWN");
        assert_counts(profiler, counted(1, 0, 0, 1, 0));
    }
    inject("zeEventQueryStatus", 0, ZE_RESULT_SUCCESS);
    run(w, profiler, "then");
    collect_all(profiler);
    assert_counts(profiler, counted(2, 1, 0, 1, 0));
    check_work(w);
}

/* The device is lost before a dropped region has ended: nothing waits for that any more. */
static void test_a_dropped_region_on_a_lost_device(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "ComputeBasic,HostScheduler";
    config.wait_timeout_ns = 10 * A_WHILE;
    zt_profiler *profiler = NULL;
    ok(zt_open(w->context, w->device, &config, &profiler));
    ze_event_handle_t gate = append_gate(w, w->immediate);
    inject("zetCommandListAppendMetricQueryEnd", 2, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    append(w, profiler, w->immediate, "refused");
    gpu.lose_device();
    assert_result(zt_collect(profiler, A_WHILE), ZE_RESULT_ERROR_DEVICE_LOST);
    assert_counts(profiler, counted(1, 0, 0, 1, 0));
    close_in_time(w, profiler);
    gpu.restore_device();
    ok(zeEventDestroy(gate));
}

/* ==== dropped regions that run while the profiler is closed =============================================== */

typedef struct opener {
    ze_event_handle_t gate;
    uint64_t queries; /* of events, before zt_close */
    int is_closed;
} opener;

/* Opens the gate when zt_close waits, or when it has not waited. */
static void *open_gate(void *user) {
    opener *me = user;
    while (!__atomic_load_n(&me->is_closed, __ATOMIC_ACQUIRE) &&
           calls("zeEventQueryStatus") < me->queries + 10)
        nap();
    ok(zeEventHostSignal(me->gate));
    return NULL;
}

static void close_while_gated(world *w, zt_profiler *profiler, ze_event_handle_t gate) {
    opener me = {gate, calls("zeEventQueryStatus"), 0};
    pthread_t thread;
    pthread_create(&thread, NULL, open_gate, &me);
    close_profiler(w, profiler);
    __atomic_store_n(&me.is_closed, 1, __ATOMIC_RELEASE);
    join_in_time(w, thread);
}

static zt_profiler *open_two_groups(world *w, uint64_t wait_timeout_ns) {
    zt_config config = config_of(w);
    config.groups = "ComputeBasic,HostScheduler";
    config.wait_timeout_ns = wait_timeout_ns;
    return open_patiently(w, &config);
}

/* Begins a region of which the driver has one command, and refuses the next. */
static void refuse_in_part(world *w, zt_profiler *profiler, ze_command_list_handle_t list, int at_end) {
    if (!at_end)
        inject("zetCommandListAppendMetricQueryBegin", 2, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    zt_region region = zt_begin(profiler, list, "refused");
    if (at_end)
        inject("zetCommandListAppendMetricQueryEnd", 2, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    launch(w, list);
    zt_end(&region);
}

/* zt_close waits until the device is done with the queries of a dropped region, and destroys them. */
static void test_closed_while_a_dropped_region_runs(void **state) {
    world *w = *state;
    for (int i = 0; i < 4; i++) {
        int is_immediate = i / 2;
        ze_command_list_handle_t list = is_immediate ? w->immediate : w->list;
        if (is_immediate && !can_tell_immediate())
            break;
        zt_profiler *profiler = open_two_groups(w, A_WHILE);
        ze_event_handle_t gate = append_gate(w, list);
        refuse_in_part(w, profiler, list, i % 2);
        if (!is_immediate) {
            ok(zeCommandListClose(list));
            ok(zt_execute(profiler, w->queue, 1, &list, NULL));
        }
        close_while_gated(w, profiler, gate);
        finish_queue(w);
        finish_immediate(w, w->immediate);
        reset_list(w->list);
        ok(zeEventDestroy(gate));
        assert_int_equal(gpu.findings(), 0);
        assert_int_equal(heard(w, "[DROPPED_RUNNING]"), 0);
    }
    check_work(w);
}

/* The time is up, or nothing shows when the region ends: the device keeps what it may write to. */
static void test_closed_before_a_dropped_region_ends(void **state) {
    world *w = *state;
    for (int i = 0; i < 2; i++) {
        int before = heard(w, "[DROPPED_RUNNING]");
        zt_profiler *profiler = open_two_groups(w, 1000000);
        ze_event_handle_t gate = append_gate(w, w->list);
        if (i == 1)
            inject("zeCommandListAppendBarrier", 1, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
        refuse_in_part(w, profiler, w->list, 0);
        ok(zeCommandListClose(w->list));
        ok(zt_execute(profiler, w->queue, 1, &w->list, NULL));
        close_profiler(w, profiler);
        assert_int_equal(heard(w, "[DROPPED_RUNNING]"), before + 1);
        ok(zeEventHostSignal(gate));
        finish_queue(w);
        reset_list(w->list);
        ok(zeEventDestroy(gate));
        assert_int_equal(gpu.findings(), 0);
    }
    check_work(w);
}

/* A list whose first region was dropped, of which nothing shows that it ends, and whose second one shows that the list
   also ran by a plain call. */
static void record_dropped_and_measured(world *w, zt_profiler *profiler) {
    inject("zeCommandListAppendBarrier", 1, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    refuse_in_part(w, profiler, w->list, 0);
    append(w, profiler, w->list, "then");
    ok(zeCommandListClose(w->list));
    w->launches--;
}

/* An execution by zt_execute has shown that the device is done with it, and only the driver refuses to reset its
   queries: nothing is left to the device. */
static void test_closed_with_a_dropped_region_that_cannot_be_reset(void **state) {
    world *w = *state;
    uint64_t live = gpu.live();
    zt_profiler *profiler = open_two_groups(w, A_WHILE);
    record_dropped_and_measured(w, profiler);
    execute(w, profiler, w->list);
    ok(zt_collect(profiler, 0));
    execute_unprofiled(w, w->list);
    inject("zetMetricQueryReset", 1, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    ok(zt_collect(profiler, 0));
    w->launches += 2 * 2;
    assert_counts(profiler, counted(3, 1, 1, 1, 0));
    assert_int_equal(zt_get_info(profiler).counts.unobserved_lists, 1);
    inject("zetMetricQueryReset", 1, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    gpu.reset_calls();
    close_profiler(w, profiler);
    assert_int_equal(heard(w, "[DROPPED_RUNNING]"), 0);
    assert_int_equal(gpu.live(), live);
    gpu.forget_findings(); /* the second execution began its queries without a reset */
    check_work(w);
}

/* More dropped regions than are read in one go wait for the device. The event of the first shows that those after it
   on the list have not ended either: no collection queries another, until that one has signalled. */
static void test_many_dropped_regions_on_one_list(void **state) {
    enum { REGIONS = 150 };
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "ComputeBasic,HostScheduler";
    config.probes_per_step = config.max_probes = REGIONS;
    zt_profiler *profiler = open_profiler(w, &config);
    ok(zt_collect(profiler, 0)); /* the first one queries all */
    ze_event_handle_t gate = append_gate(w, w->list);
    for (int i = 0; i < REGIONS; i++)
        refuse_in_part(w, profiler, w->list, i % 2);
    ok(zeCommandListClose(w->list));
    ok(zt_execute(profiler, w->queue, 1, &w->list, NULL));
    gpu.reset_calls();
    ok(zt_collect(profiler, 0));
    assert_int_equal(calls("zeEventQueryStatus"), 1);
    ok(zeEventHostSignal(gate));
    finish_queue(w);
    ok(zt_reset(profiler, w->list));
    assert_int_equal(calls("zetMetricQueryReset"), 2 * REGIONS);
    for (int i = 0; i < REGIONS; i++) /* each probe is free again */
        append(w, profiler, w->list, "then");
    ok(zeCommandListClose(w->list));
    execute(w, profiler, w->list);
    w->launches += REGIONS;
    collect_all(profiler);
    assert_counts(profiler, counted(2 * REGIONS, REGIONS, 0, REGIONS, 0));
    ok(zeEventDestroy(gate));
    check_work(w);
}

/* Dropped regions that never ran, that have run, or of which an execution was refused, leave nothing. */
static void test_closed_with_dropped_regions_that_do_not_run(void **state) {
    world *w = *state;
    for (int i = 0; i < 4; i++) {
        zt_profiler *profiler = open_two_groups(w, A_WHILE);
        refuse_in_part(w, profiler, w->list, i % 2);
        w->launches -= i != 2;
        ok(zeCommandListClose(w->list));
        if (i == 1) {
            inject("zeCommandQueueExecuteCommandLists", 1, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
            assert_result(zt_execute(profiler, w->queue, 1, &w->list, NULL),
                          ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
        }
        if (i == 2)
            execute_unprofiled(w, w->list);
        if (i == 3 || !can_tell_immediate())
            zt_release(profiler, w->list);
        close_profiler(w, profiler);
        reset_list(w->list);
        assert_int_equal(gpu.findings(), 0);
        assert_int_equal(heard(w, "[DROPPED_RUNNING]"), 0);
    }
    /* its event has signalled, and the driver refuses to reset it */
    zt_profiler *profiler = open_two_groups(w, A_WHILE);
    refuse_in_part(w, profiler, w->immediate, 0);
    finish_immediate(w, w->immediate);
    inject("zetMetricQueryReset", 1, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    close_profiler(w, profiler);
    assert_int_equal(heard(w, "[DROPPED_RUNNING]"), 0);
    check_work(w);
}

/* A later region of the list shows that an execution has ended: the queries are reset before the next. */
static void test_refused_before_another_region(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_small(w, "ComputeBasic,HostScheduler");
    inject("zetCommandListAppendMetricQueryEnd", 2, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    append(w, profiler, w->list, "refused");
    append(w, profiler, w->list, "then");
    ok(zeCommandListClose(w->list));
    for (int i = 0; i < 10; i++)
        ok(zt_execute(profiler, w->queue, 1, &w->list, NULL));
    finish_queue(w);
    w->launches += 20;
    collect_all(profiler);
    assert_counts(profiler, counted(11, 10, 0, 1, 0));
    assert_int_equal(gpu.findings(), 0);
    check_work(w);
}

/* A region that never ends is reset when its list is. So is what ran once more behind the library's back: the next region
   with the same probe gets none of its figures. */
static void test_a_list_ran_again_before_a_region_that_never_ends_is_reset(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "ComputeBasic";
    config.max_probes = 2;
    zt_profiler *profiler = open_profiler(w, &config);
    append(w, profiler, w->list, "measured");
    zt_begin(profiler, w->list, "never ends");
    ok(zeCommandListClose(w->list));
    execute(w, profiler, w->list);
    collect_all(profiler);
    assert_counts(profiler, counted(2, 1, 0, 1, 0));
    execute_unprofiled(w, w->list);
    ok(zt_reset(profiler, w->list));
    assert_counts(profiler, counted(3, 1, 1, 1, 0));
    append(w, profiler, w->list, "not executed");
    append(w, profiler, w->list, "not executed");
    ok(zt_collect(profiler, 0));
    assert_int_equal(zt_get_info(profiler).counts.collected, 1);
    w->launches += 2;
    close_profiler(w, profiler);
    gpu.forget_findings(); /* the second execution began its queries without a reset */
    check_work(w);
}

/* The driver refuses a reset once: it is repeated before the next execution, and no sample is lost. */
static void test_a_reset_that_is_refused_once(void **state) {
    const char *functions[] = {"zetMetricQueryReset", "zeEventHostReset"};
    world *w = *state;
    for (int i = 0; i < 2; i++) {
        zt_profiler *profiler = open_small(w, "ComputeBasic");
        append(w, profiler, w->list, "again");
        ok(zeCommandListClose(w->list));
        execute(w, profiler, w->list);
        inject(functions[i], 1, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
        for (int j = 0; j < 4; j++)
            execute(w, profiler, w->list);
        w->launches += 5;
        collect_all(profiler);
        assert_counts(profiler, counted(5, 5, 0, 0, 0));
        ok(zt_reset(profiler, w->list));
        close_profiler(w, profiler);
    }
    assert_int_equal(gpu.findings(), 0);
    check_work(w);
}

/* A list is reset by the plain call, and recorded without regions. Its first execution shows that what is recorded is on
   the list no more: from the second one on, nothing is waited for, nor counted. */
static void test_a_list_that_was_reset_unseen(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_with_timeout(w, UINT64_C(3600000000000)); /* else it waits that long */
    append(w, profiler, w->list, "before");
    ok(zeCommandListClose(w->list));
    execute(w, profiler, w->list);
    ok(zt_collect(profiler, 0));
    ok(zeCommandListReset(w->list));
    launch(w, w->list);
    ok(zeCommandListClose(w->list));
    for (int i = 0; i < 4; i++)
        execute(w, profiler, w->list);
    w->launches += 4;
    assert_counts(profiler, counted(2, 1, 0, 1, 0));
    assert_int_equal(zt_get_info(profiler).causes[ZT_DROPPED_NEVER_RAN].count, 1);
    reset_list(w->list);
    append(w, profiler, w->list, "after");
    ok(zeCommandListClose(w->list));
    execute(w, profiler, w->list);
    w->launches++;
    collect_all(profiler);
    assert_counts(profiler, counted(3, 2, 0, 1, 0));
    close_profiler(w, profiler);
    assert_int_equal(gpu.findings(), 0);
    check_work(w);
}

/* The driver answers for no event of a list, and there are more than one reading has room for: each call ends. */
static void test_events_that_can_never_be_queried(void **state) {
    world *w = *state;
    if (!can_tell_immediate())
        skip(); /* else they may have run, and the device may still write to them */
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    for (int i = 0; i < 70; i++)
        append(w, profiler, w->list, "never run");
    assert_true(gpu.fail_any("zeEventQueryStatus", 1, ZE_RESULT_ERROR_UNKNOWN, 1));
    for (int i = 0; i < 6; i++) {
        zt_release(profiler, w->list);
        zt_collect(profiler, 0);
        pass_time(UINT64_C(1000000000));
    }
    assert_contains(zt_get_info(profiler).error, "zeEventQueryStatus failed: ZE_RESULT_ERROR_UNKNOWN");
    assert_true(gpu.fail_any(NULL, 0, 0, 0));
    reset_list(w->list);
    collect_all(profiler);
    assert_counts(profiler, counted(0, 0, 0, 0, 0));
    close_profiler(w, profiler);
    check_work(w);
}

/* The identity holds after every step of a life with losses, drops, replays, resets and nesting. */
static void test_identity_after_every_step(void **state) {
    world *w = *state;
    uint32_t random = 12345;
    int recorded = 0, closed = 0;
    zt_profiler *profiler = open_small(w, "ComputeBasic");
    gpu.behave(SOFTGPU_REPORT_ERROR, 11);
    gpu.behave(SOFTGPU_NEVER_DELIVERED, 13);
    for (int i = 0; i < OFTEN(2000); i++) {
        random = random * 1664525u + 1013904223u;
        switch (random >> 29) {
        case 0:
        case 1:
            append(w, profiler, w->immediate, "immediate");
            w->launches++;
            break;
        case 2:
            zt_collect(profiler, 0);
            break;
        case 3:
            finish_immediate(w, w->immediate);
            zt_collect(profiler, 100000);
            break;
        case 4:
            if (!closed) {
                append(w, profiler, w->list, "recorded");
                recorded++;
            }
            break;
        case 5:
        case 6:
            if (!closed)
                ok(zeCommandListClose(w->list));
            closed = 1;
            ok(zt_execute(profiler, w->queue, 1, &w->list, NULL));
            w->launches += (uint32_t)recorded;
            break;
        default:
            finish_queue(w);
            if (random & 1)
                zt_release(profiler, w->list); /* NOT_READY for what is never delivered */
            reset_list(w->list);
            zt_release(profiler, w->list);
            recorded = closed = 0;
            break;
        }
        check_identity(profiler);
    }
    finish_queue(w);
    finish_immediate(w, w->immediate);
    zt_release(profiler, w->list);
    collect_all(profiler);
    zt_counts counts = zt_get_info(profiler).counts;
    assert_int_equal(counts.in_flight, 0);
    assert_true(counts.collected > 0 && counts.lost > 0);
    check_work(w);
}

/* Released before it is known to be lost: counted all the same. */
static void test_never_delivered_is_lost_after_release(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    gpu.behave(SOFTGPU_NEVER_DELIVERED, 1);
    run(w, profiler, "never");
    zt_release(profiler, w->immediate);
    check_identity(profiler);
    collect_all(profiler);
    assert_counts(profiler, counted(1, 0, 1, 0, 0));
    assert_int_equal(zt_get_info(profiler).causes[ZT_LOST_NEVER_DELIVERED].count, 1);
    check_work(w);
}

/* The list was destroyed while its data were late, of which nobody told, and a recorded list with its handle is executed.
   Where the loader cannot tell that the first was immediate, its region counts as executed again. */
static void test_late_data_are_not_of_a_later_list(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_with_timeout(w, 1);
    ze_command_list_handle_t immediate, recorded;
    gpu.behave(SOFTGPU_NEVER_DELIVERED, 1);
    gpu.behave(SOFTGPU_HANDLES_COME_BACK, 1);
    create_immediate(w, &immediate);
    append(w, profiler, immediate, "late");
    w->launches++;
    finish_immediate(w, immediate);
    zt_collect(profiler, 0);
    assert_counts(profiler, counted(1, 0, 0, 0, 1));
    ok(zeCommandListDestroy(immediate));
    create_list(w, &recorded);
    ok(zeCommandListClose(recorded));
    ok(zt_execute(profiler, w->queue, 1, &recorded, NULL));
    finish_queue(w);
    if (recorded == immediate && !can_tell_immediate()) {
        assert_counts(profiler, counted(2, 0, 1, 0, 1));
        assert_int_equal(zt_get_info(profiler).causes[ZT_LOST_OVERWRITTEN].count, 1);
    } else {
        assert_counts(profiler, counted(1, 0, 0, 0, 1));
    }
    ok(zeCommandListDestroy(recorded));
    check_work(w);
}

static zt_profiler *open_on_held_device(world *w, const char *groups, uint32_t timeline, uint32_t passes) {
    zt_config config = config_of(w);
    config.groups = groups;
    config.timeline = timeline;
    config.max_passes = passes;
    config.wait_timeout_ns = 1000000;
    zt_profiler *profiler = NULL;
    w->message_count = 0;
    ok(zt_open(w->context, w->device, &config, &profiler));
    assert_int_equal(heard(w, "zeEventQueryStatus"), 1);
    return profiler;
}

/* The query with which a profiler is opened does not complete in time. zt_close waits for it, and destroys
   what it was made of. */
static void complete_late(world *w, const char *groups, uint32_t timeline, uint32_t passes) {
    rig held = hold_device(w);
    zt_profiler *profiler = open_on_held_device(w, groups, timeline, passes);
    ZT_PASSES(profiler) {} /* none runs a second query beside one that is not complete */
    let_device_go(&held);
    hold_time(1); /* zt_close waits as long as it takes */
    zt_close(profiler);
    hold_time(0);
}

static void test_first_queries_complete_late(void **state) {
    world *w = *state;
    complete_late(w, "ComputeBasic", 0, 1);
    complete_late(w, "ComputeBasic", 100, 1);
    complete_late(w, "", 100, 1);
    complete_late(w, "ComputeBasic,MemoryProfile", 0, 2);
}

static void *lose_device(void *argument) {
    (void)argument;
    gpu.lose_device();
    return NULL;
}

/* Nor does zt_close wait on a device that was lost meanwhile: what the query was made of is destroyed at once. */
static void test_a_first_query_on_a_lost_device(void **state) {
    world *w = *state;
    uint64_t live = gpu.live();
    rig held = hold_device(w);
    zt_profiler *profiler = open_on_held_device(w, "ComputeBasic", 0, 1);
    /* The loss returns when the kernel that runs has ended, and nothing is executed after that. */
    pthread_t losing;
    assert_int_equal(pthread_create(&losing, NULL, lose_device, NULL), 0);
    while (!gpu.device_is_lost())
        nap();
    set_word(&held, 1);
    join_in_time(w, losing);
    zt_region region = zt_begin(profiler, w->immediate, "after");
    zt_end(&region);
    assert_int_equal(zt_get_info(profiler).availability, ZT_DEVICE_LOST);
    gpu.reset_calls();
    zt_close(profiler);
    assert_int_equal(calls("zeEventQueryStatus"), 0);
    gpu.restore_device();
    let_device_go(&held);
    assert_int_equal(gpu.live(), live);
    assert_int_equal(gpu.findings(), 0);
}

/* What the device still executes after the timeout of zt_close is left to it. */
static void test_a_first_query_that_is_not_complete_at_the_end(void **state) {
    world *w = *state;
    uint64_t live = gpu.live();
    rig held = hold_device(w);
    zt_close(open_on_held_device(w, "ComputeBasic", 0, 1));
    let_device_go(&held);
    assert_true(gpu.live() > live);
    assert_int_equal(gpu.findings(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_lost_on_immediate_lists),
        TEST(test_executed_again_before_it_was_read),
        TEST(test_flags_of_what_is_kept),
        TEST(test_lost_on_recorded_lists),
        TEST(test_times_that_cannot_be),
        TEST(test_a_device_that_requires_a_reset),
        TEST(test_lost_among_many),
        TEST(test_everything_lost),
        TEST(test_lost_with_two_groups),
        TEST(test_never_delivered_is_found_without_waiting),
        TEST(test_delivered_late),
        TEST(test_read_failed),
        TEST(test_batch_not_calculated),
        TEST(test_sample_without_memory),
        TEST(test_overwritten),
        TEST(test_overwritten_times),
        TEST(test_refused_while_the_last_execution_runs),
        TEST(test_refused_in_the_middle),
        TEST(test_execution_of_an_immediate_list_is_refused),
        TEST(test_executions_in_a_sample_function),
        TEST(test_probes_exhausted),
        TEST(test_probes_exhausted_by_regions_that_are_not_ended),
        TEST(test_probes_after_a_passing_failure),
        TEST(test_refused_in_part),
        TEST(test_refused_in_the_only_region_of_a_list),
        TEST(test_refused_and_executed_in_turn),
        TEST(test_refused_in_the_only_probe),
        TEST(test_a_dropped_region_whose_event_cannot_be_queried),
        cmocka_unit_test_setup_teardown(test_a_dropped_region_on_a_lost_device, open_leaky_world,
                                        abandon_world),
        TEST(test_closed_while_a_dropped_region_runs),
        TEST(test_closed_with_a_dropped_region_that_cannot_be_reset),
        TEST(test_many_dropped_regions_on_one_list),
        TEST(test_closed_with_dropped_regions_that_do_not_run),
        TEST(test_refused_before_another_region),
        TEST(test_a_reset_that_is_refused_once),
        TEST(test_a_list_ran_again_before_a_region_that_never_ends_is_reset),
        TEST(test_a_list_that_was_reset_unseen),
        TEST(test_events_that_can_never_be_queried),
        TEST(test_identity_after_every_step),
        TEST(test_never_delivered_is_lost_after_release),
        cmocka_unit_test_setup_teardown(test_late_data_are_not_of_a_later_list, open_leaky_world,
                                        abandon_world),
        TEST(test_first_queries_complete_late),
        TEST(test_a_first_query_on_a_lost_device),
        /* the library keeps what the device may still write to */
        cmocka_unit_test_setup_teardown(test_closed_before_a_dropped_region_ends, open_leaky_world,
                                        abandon_world),
        cmocka_unit_test_setup_teardown(test_a_first_query_that_is_not_complete_at_the_end, open_leaky_world,
                                        abandon_world),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
