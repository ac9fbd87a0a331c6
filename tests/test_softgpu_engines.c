/* The software device's engines: what runs at the same time, and what is in order. Overlap is shown by
   kernels that wait for each other (tests/kernels/meet.cl): they meet only if they run at the same time, and
   where they must not, no patience is long enough. */
#include "meet.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect_findings(uint64_t count) {
    assert_int_equal(gpu.findings(), count);
    gpu.forget_findings();
}

/* ==== engines ============================================================================================= */

static void test_queue_groups_list_the_engines(void **state) {
    world *w = *state;
    ze_command_queue_group_properties_t groups[2] = {{0}};
    ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    ze_command_queue_handle_t queue;
    uint32_t count = 2;
    ok(zeDeviceGetCommandQueueGroupProperties(w->device, &count, groups));
    assert_int_equal(count, 2);
    assert_true(groups[COMPUTE].numQueues >= 2);
    assert_true(groups[COPY].numQueues >= 1);
    for (uint32_t ordinal = 0; ordinal < count; ordinal++) {
        desc.ordinal = ordinal;
        desc.index = groups[ordinal].numQueues - 1;
        ok(zeCommandQueueCreate(w->context, w->device, &desc, &queue));
        ok(zeCommandQueueDestroy(queue));
        desc.index = groups[ordinal].numQueues;
        assert_result(zeCommandQueueCreate(w->context, w->device, &desc, &queue),
                      ZE_RESULT_ERROR_INVALID_ARGUMENT);
    }
}

static void test_without_the_behaviour_nothing_overlaps(void **state) {
    world *w = *state;
    rig r = open_rig(w);
    ze_command_list_handle_t a = immediate_of(w, COMPUTE, 0, 0), b = immediate_of(w, COMPUTE, 1, 0);
    append_meeting(&r, a, 0, 1, SHORT);
    await_word(&r, 0);
    append_plain(&r, a, 1);
    append_plain(&r, b, 1);
    finish_and_destroy(w, a);
    finish_and_destroy(w, b);
    assert_int_equal(word(&r, 0), GAVE_UP);
    close_rig(&r);
}

static void test_in_order_lists_with_other_indices_overlap(void **state) {
    world *w = *state;
    need_in_order_lists(w);
    rig r = open_concurrent(w);
    ze_command_list_handle_t a = immediate_of(w, COMPUTE, 0, QUEUE_IN_ORDER);
    ze_command_list_handle_t b = immediate_of(w, COMPUTE, 1, QUEUE_IN_ORDER);
    append_meeting(&r, a, 0, 1, LONG);
    append_meeting(&r, b, 1, 0, LONG);
    finish_and_destroy(w, a);
    finish_and_destroy(w, b);
    assert_int_equal(word(&r, 0), MET);
    assert_int_equal(word(&r, 1), MET);
    close_rig(&r);
}

static void test_in_order_lists_with_one_index_share_its_engine(void **state) {
    world *w = *state;
    need_in_order_lists(w);
    rig r = open_concurrent(w);
    ze_command_list_handle_t a = immediate_of(w, COMPUTE, 1, QUEUE_IN_ORDER);
    ze_command_list_handle_t b = immediate_of(w, COMPUTE, 1, QUEUE_IN_ORDER);
    append_meeting(&r, a, 0, 1, SHORT);
    await_word(&r, 0);
    append_plain(&r, b, 1);
    finish_and_destroy(w, a);
    finish_and_destroy(w, b);
    assert_int_equal(word(&r, 0), GAVE_UP);
    close_rig(&r);
}

static void test_queues_with_other_indices_overlap(void **state) {
    world *w = *state;
    need_in_order_lists(w);
    rig r = open_concurrent(w);
    ze_command_queue_handle_t queues[2];
    ze_command_list_handle_t lists[2];
    for (uint32_t i = 0; i < 2; i++) {
        queues[i] = queue_of(w, COMPUTE, i);
        lists[i] = recorded_of(w, LIST_IN_ORDER);
        append_meeting(&r, lists[i], i, 1 - i, LONG);
        ok(zeCommandListClose(lists[i]));
        ok(zeCommandQueueExecuteCommandLists(queues[i], 1, &lists[i], NULL));
    }
    for (uint32_t i = 0; i < 2; i++) {
        ok(zeCommandQueueSynchronize(queues[i], A_WHILE));
        assert_int_equal(word(&r, i), MET);
        ok(zeCommandListDestroy(lists[i]));
        ok(zeCommandQueueDestroy(queues[i]));
    }
    close_rig(&r);
}

static void test_copies_and_fills_run_beside_kernels(void **state) {
    world *w = *state;
    need_in_order_lists(w);
    rig r = open_concurrent(w);
    const uint32_t one = 1;
    ze_command_list_handle_t kernels = immediate_of(w, COMPUTE, 0, QUEUE_IN_ORDER);
    ze_command_list_handle_t copies = immediate_of(w, COPY, 0, QUEUE_IN_ORDER);
    append_meeting(&r, kernels, 0, 4, LONG);
    append_meeting(&r, kernels, 1, 5, LONG);
    await_word(&r, 0);
    ok(zeCommandListAppendMemoryCopy(copies, &r.words[4], &one, sizeof one, NULL, 0, NULL));
    await_word(&r, 1);
    ok(zeCommandListAppendMemoryFill(copies, &r.words[5], &one, sizeof one, sizeof one, NULL, 0, NULL));
    finish_and_destroy(w, kernels);
    finish_and_destroy(w, copies);
    assert_int_equal(word(&r, 0), MET);
    assert_int_equal(word(&r, 1), MET);
    close_rig(&r);
}

static void test_sub_devices_overlap(void **state) {
    world *w = *state;
    need_in_order_lists(w);
    ze_device_handle_t tiles[2];
    ze_command_list_handle_t lists[2];
    uint32_t count = 2;
    gpu.set_devices(1, 2);
    rig r = open_concurrent(w);
    ok(zeDeviceGetSubDevices(w->device, &count, tiles));
    for (uint32_t i = 0; i < 2; i++) {
        lists[i] = immediate_on(w, tiles[i], COMPUTE, 0, QUEUE_IN_ORDER);
        append_meeting(&r, lists[i], i, 1 - i, LONG);
    }
    for (uint32_t i = 0; i < 2; i++) {
        finish_and_destroy(w, lists[i]);
        assert_int_equal(word(&r, i), MET);
    }
    close_rig(&r);
}

/* ==== out of order ======================================================================================== */

static void test_kernels_of_an_immediate_list_overlap(void **state) {
    world *w = *state;
    rig r = open_concurrent(w);
    ze_command_list_handle_t list = immediate_of(w, COMPUTE, 0, 0);
    append_meeting(&r, list, 0, 1, LONG);
    append_meeting(&r, list, 1, 0, LONG);
    finish_and_destroy(w, list);
    assert_int_equal(word(&r, 0), MET);
    assert_int_equal(word(&r, 1), MET);
    close_rig(&r);
}

static void test_kernels_of_a_recorded_list_overlap(void **state) {
    world *w = *state;
    rig r = open_concurrent(w);
    ze_command_list_handle_t list = recorded_of(w, 0);
    append_meeting(&r, list, 0, 1, LONG);
    append_meeting(&r, list, 1, 0, LONG);
    execute_once(w, list);
    assert_int_equal(word(&r, 0), MET);
    assert_int_equal(word(&r, 1), MET);
    close_rig(&r);
}

static void test_kernels_of_in_order_lists_never_overlap(void **state) {
    world *w = *state;
    need_in_order_lists(w);
    rig r = open_concurrent(w);
    ze_command_list_handle_t immediate = immediate_of(w, COMPUTE, 0, QUEUE_IN_ORDER);
    ze_command_list_handle_t recorded = recorded_of(w, LIST_IN_ORDER);
    append_meeting(&r, immediate, 0, 1, SHORT);
    append_plain(&r, immediate, 1);
    finish_and_destroy(w, immediate);
    append_meeting(&r, recorded, 2, 3, SHORT);
    append_plain(&r, recorded, 3);
    execute_once(w, recorded);
    assert_int_equal(word(&r, 0), GAVE_UP);
    assert_int_equal(word(&r, 2), GAVE_UP);
    close_rig(&r);
}

static void test_a_command_overtakes_one_that_waits(void **state) {
    world *w = *state;
    rig r = open_concurrent(w);
    ze_event_handle_t event = new_event(w, 1);
    ze_command_list_handle_t list = immediate_of(w, COMPUTE, 0, 0);
    append_with(&r, list, 0, 0, LONG, NULL, event);
    append_with(&r, list, 1, 1, LONG, event, NULL);
    finish_and_destroy(w, list);
    assert_int_equal(word(&r, 0), MET);
    ok(zeEventDestroy(event));
    close_rig(&r);
}

static void test_events_order(void **state) {
    world *w = *state;
    rig r = open_concurrent(w);
    ze_event_handle_t event = new_event(w, 1);
    ze_command_list_handle_t list = immediate_of(w, COMPUTE, 0, 0);
    append_with(&r, list, 0, 1, SHORT, event, NULL);
    append_with(&r, list, 1, 1, LONG, NULL, event);
    finish_and_destroy(w, list);
    assert_int_equal(word(&r, 0), GAVE_UP);
    assert_int_equal(word(&r, 1), MET);
    ok(zeEventDestroy(event));
    close_rig(&r);
}

static void test_barriers_order(void **state) {
    world *w = *state;
    rig r = open_concurrent(w);
    ze_command_list_handle_t list = recorded_of(w, 0);
    append_meeting(&r, list, 0, 1, SHORT);
    ok(zeCommandListAppendBarrier(list, NULL, 0, NULL));
    append_plain(&r, list, 1);
    execute_once(w, list);
    assert_int_equal(word(&r, 0), GAVE_UP);
    close_rig(&r);
}

/* With wait events, a barrier waits for these alone; what is behind it waits for it. */
static void test_a_barrier_with_events_waits_for_these_alone(void **state) {
    world *w = *state;
    rig r = open_concurrent(w);
    ze_event_handle_t go = new_event(w, 1);
    ze_command_list_handle_t list = immediate_of(w, COMPUTE, 0, 0);
    append_meeting(&r, list, 0, 4, LONG);
    append_with(&r, list, 1, 2, SHORT, go, NULL);
    ok(zeCommandListAppendBarrier(list, NULL, 1, &go));
    append_plain(&r, list, 2);
    await_word(&r, 2);
    assert_int_equal(word(&r, 0), STARTED);
    assert_int_equal(word(&r, 1), GAVE_UP);
    set_word(&r, 4);
    finish_and_destroy(w, list);
    assert_int_equal(word(&r, 0), MET);
    ok(zeEventDestroy(go));
    close_rig(&r);
}

static void test_a_wait_holds_up_all_behind_it(void **state) {
    world *w = *state;
    rig r = open_concurrent(w);
    ze_event_handle_t go = new_event(w, 1);
    ze_command_list_handle_t list = immediate_of(w, COMPUTE, 0, 0);
    append_with(&r, list, 0, 1, SHORT, go, NULL);
    ok(zeCommandListAppendWaitOnEvents(list, 1, &go));
    append_plain(&r, list, 1);
    finish_and_destroy(w, list);
    assert_int_equal(word(&r, 0), GAVE_UP);
    ok(zeEventDestroy(go));
    close_rig(&r);
}

/* The kernel behind the signal has run: the signal was passed over, and not only late. */
static void test_a_signal_comes_after_all_before_it(void **state) {
    world *w = *state;
    rig r = open_concurrent(w);
    ze_event_handle_t done = new_event(w, 1);
    ze_command_list_handle_t list = immediate_of(w, COMPUTE, 0, 0);
    append_meeting(&r, list, 0, 4, LONG);
    ok(zeCommandListAppendSignalEvent(list, done));
    append_plain(&r, list, 1);
    await_word(&r, 1);
    assert_result(zeEventQueryStatus(done), ZE_RESULT_NOT_READY);
    set_word(&r, 4);
    ok(zeEventHostSynchronize(done, A_WHILE));
    assert_int_equal(word(&r, 0), MET);
    finish_and_destroy(w, list);
    ok(zeEventDestroy(done));
    close_rig(&r);
}

static void test_several_kernels_in_one_command_keep_their_event(void **state) {
    world *w = *state;
    rig r = open_concurrent(w);
    ze_event_handle_t done = new_event(w, 1);
    ze_host_mem_alloc_desc_t host = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, NULL, 0};
    ze_command_list_handle_t list = immediate_of(w, COMPUTE, 0, 0);
    ze_kernel_handle_t kernels[2] = {meeting(&r, 0, 4, LONG), meeting(&r, 1, 1, LONG)};
    struct {
        ze_group_count_t groups[2];
        uint32_t count;
    } * memory;
    ok(zeMemAllocHost(w->context, &host, sizeof *memory, 64, (void **)&memory));
    memory->groups[0] = memory->groups[1] = one_group;
    memory->count = 2;
    ok(zeCommandListAppendLaunchMultipleKernelsIndirect(list, 2, kernels, &memory->count, memory->groups,
                                                        done, 0, NULL));
    append_plain(&r, list, 2);
    await_word(&r, 2);
    assert_result(zeEventQueryStatus(done), ZE_RESULT_NOT_READY);
    set_word(&r, 4);
    ok(zeEventHostSynchronize(done, A_WHILE));
    assert_int_equal(word(&r, 0), MET);
    assert_int_equal(word(&r, 1), MET);
    finish_and_destroy(w, list);
    for (int i = 0; i < 2; i++)
        ok(zeKernelDestroy(kernels[i]));
    ok(zeMemFree(w->context, memory));
    ok(zeEventDestroy(done));
    close_rig(&r);
}

static void test_the_lists_of_a_queue_are_in_order(void **state) {
    world *w = *state;
    rig r = open_concurrent(w);
    ze_command_queue_handle_t queue = queue_of(w, COMPUTE, 0);
    ze_command_list_handle_t lists[2] = {recorded_of(w, 0), recorded_of(w, 0)};
    append_meeting(&r, lists[0], 0, 1, SHORT);
    append_plain(&r, lists[1], 1);
    for (int i = 0; i < 2; i++)
        ok(zeCommandListClose(lists[i]));
    ok(zeCommandQueueExecuteCommandLists(queue, 2, lists, NULL));
    ok(zeCommandQueueSynchronize(queue, A_WHILE));
    assert_int_equal(word(&r, 0), GAVE_UP);
    for (int i = 0; i < 2; i++)
        ok(zeCommandListDestroy(lists[i]));
    ok(zeCommandQueueDestroy(queue));
    close_rig(&r);
}

/* More commands than are looked at together, and than one piece of the list's memory holds; the last ones are
   done long before the first. */
static void test_long_lists_run_out_of_order(void **state) {
    world *w = *state;
    rig r = open_concurrent(w);
    ze_command_list_handle_t list = immediate_of(w, COMPUTE, 0, 0);
    append_meeting(&r, list, 0, 4, LONG);
    await_word(&r, 0);
    for (uint32_t i = 0; i < 20; i++)
        append_plain(&r, list, 1 + i % 2);
    await_word(&r, 2);
    set_word(&r, 4);
    for (uint32_t i = 0; i < 2000; i++)
        append_plain(&r, list, 5 + i % 8);
    finish_and_destroy(w, list);
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(word(&r, 5 + i), MET);
    close_rig(&r);
}

/* ==== time stamps ========================================================================================= */

static void test_time_stamps_show_the_overlap(void **state) {
    world *w = *state;
    rig r = open_concurrent(w);
    ze_event_handle_t events[2] = {new_event(w, 1), new_event(w, 2)};
    ze_kernel_timestamp_result_t times[2];
    ze_command_list_handle_t list = immediate_of(w, COMPUTE, 0, 0);
    for (uint32_t i = 0; i < 2; i++)
        append_with(&r, list, i, 1 - i, LONG, events[i], NULL);
    finish_and_destroy(w, list);
    for (uint32_t i = 0; i < 2; i++)
        ok(zeEventQueryKernelTimestamp(events[i], &times[i]));
    assert_true(times[0].global.kernelStart <= times[1].global.kernelEnd);
    assert_true(times[1].global.kernelStart <= times[0].global.kernelEnd);
    for (uint32_t i = 0; i < 2; i++)
        ok(zeEventDestroy(events[i]));
    close_rig(&r);
}

static void test_kernels_have_a_clock_of_their_own(void **state) {
    world *w = *state;
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    ze_kernel_timestamp_result_t before, after;
    uint64_t stamp = 0;
    gpu.set_clock(UINT64_C(1) << 40);
    gpu.set_kernel_clock(32, UINT32_MAX - 1000); /* a microsecond before it wraps */
    ok(zeDeviceGetProperties(w->device, &properties));
    assert_int_equal(properties.timestampValidBits, 64);
    assert_int_equal(properties.kernelTimestampValidBits, 32);
    nap();
    ok(zeCommandListAppendWriteGlobalTimestamp(w->immediate, &stamp, w->done, 0, NULL));
    ok(zeEventHostSynchronize(w->done, A_WHILE));
    ok(zeEventQueryKernelTimestamp(w->done, &before));
    assert_true(stamp >= UINT64_C(1) << 40);
    assert_true(before.global.kernelEnd < UINT32_MAX - 1000);
    gpu.set_kernel_clock(0, 0);
    ok(zeEventHostReset(w->done));
    ok(zeCommandListAppendBarrier(w->immediate, w->done, 0, NULL));
    ok(zeEventHostSynchronize(w->done, A_WHILE));
    ok(zeEventQueryKernelTimestamp(w->done, &after));
    assert_true(after.global.kernelStart >= stamp);
}

/* As the structures of newer headers. */
typedef struct timestamp_results {
    ze_structure_type_t stype;
    void *next;
    ze_kernel_timestamp_result_t *kernel, *synchronized;
} timestamp_results;

typedef ze_result_t (*query_exp)(ze_event_handle_t, ze_device_handle_t, uint32_t *,
                                 ze_kernel_timestamp_result_t *);
typedef ze_result_t (*query_ext)(ze_event_handle_t, ze_device_handle_t, uint32_t *, timestamp_results *);

static void test_each_tile_has_a_time_stamp(void **state) {
    world *w = *state;
    ze_device_handle_t tiles[2];
    uint32_t count = 2;
    const ze_group_count_t groups = {WORK_GROUPS, 1, 1};
    ze_kernel_timestamp_result_t whole, each[2], host[2], one;
    timestamp_results results = {.kernel = NULL, .synchronized = host};
    query_exp exp;
    query_ext ext;
    *(void **)&exp = newer_function("zeEventQueryTimestampsExp", "zeGetEventExpProcAddrTable", 0);
    *(void **)&ext = newer_function("zeEventQueryKernelTimestampsExt", "zeGetEventProcAddrTable", 7);
    gpu.set_devices(1, 2);
    ok(zeDeviceGetSubDevices(w->device, &count, tiles));
    assert_result(exp(w->done, w->device, &count, each), ZE_RESULT_NOT_READY);
    uint64_t begun = now_ns();
    ok(zeCommandListAppendLaunchKernel(w->immediate, w->kernel, &groups, w->done, 0, NULL));
    w->launches++;
    ok(zeEventHostSynchronize(w->done, A_WHILE));
    ok(zeEventQueryKernelTimestamp(w->done, &whole));
    count = 0;
    ok(exp(w->done, w->device, &count, NULL));
    assert_int_equal(count, 2);
    count = 5;
    ok(exp(w->done, w->device, &count, each));
    assert_int_equal(count, 2);
    ok(ext(w->done, w->device, &count, &results));
    for (uint32_t i = 0; i < 2; i++) {
        assert_true(whole.global.kernelStart <= each[i].global.kernelStart);
        assert_true(each[i].global.kernelStart < each[i].global.kernelEnd);
        assert_true(each[i].global.kernelEnd <= whole.global.kernelEnd);
        assert_true(host[i].global.kernelStart >= begun);
        count = 1;
        ok(exp(w->done, tiles[i], &count, &one));
        assert_memory_equal(&one, &each[i], sizeof one);
    }
    /* The groups are dealt out in turns: the first tile begins first, the last one ends last. */
    assert_true(each[0].global.kernelStart < each[1].global.kernelStart);
    assert_true(each[0].global.kernelEnd < each[1].global.kernelEnd);
    gpu.set_devices(1, 0);
    ok(zeEventHostReset(w->done));
    launch(w, w->immediate);
    finish_immediate(w, w->immediate);
    check_work(w);
}

/* Before the signal, after a reset, and with too much room: it succeeds. What it returns is what the host has seen. */
static void test_time_stamps_of_tiles_can_be_unchecked(void **state) {
    world *w = *state;
    const ze_group_count_t groups = {WORK_GROUPS, 1, 1};
    const ze_kernel_timestamp_result_t none = {{0, 0}, {0, 0}};
    ze_kernel_timestamp_result_t whole, each[2];
    ze_event_handle_t event = new_event(w, 1), plain;
    ze_event_pool_handle_t pool;
    ze_event_pool_desc_t pool_desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, NULL, 0, 1};
    ze_event_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_DESC, NULL, 0, 0, 0};
    uint32_t count = 1;
    query_exp exp;
    *(void **)&exp = newer_function("zeEventQueryTimestampsExp", "zeGetEventExpProcAddrTable", 0);
    gpu.behave(SOFTGPU_TILE_STAMPS_UNCHECKED, 1);
    gpu.set_devices(1, 2);
    ok(exp(event, w->device, &count, each));
    assert_memory_equal(&each[0], &none, sizeof none);
    ok(zeCommandListAppendLaunchKernel(w->immediate, w->kernel, &groups, event, 0, NULL));
    w->launches++;
    finish_immediate(w, w->immediate);
    count = 2;
    ok(exp(event, w->device, &count, each));
    assert_int_equal(count, 2);
    assert_memory_equal(&each[1], &none, sizeof none);
    ok(zeEventQueryStatus(event));
    ok(exp(event, w->device, &count, each));
    ok(zeEventQueryKernelTimestamp(event, &whole));
    assert_true(whole.global.kernelStart <= each[1].global.kernelStart);
    assert_true(each[1].global.kernelEnd <= whole.global.kernelEnd);
    assert_true(each[1].global.kernelEnd > each[1].global.kernelStart);
    count = 3;
    each[0] = none;
    ok(exp(event, w->device, &count, each));
    assert_int_equal(count, 2);
    assert_memory_equal(&each[0], &none, sizeof none);
    ok(zeEventHostReset(event));
    ok(exp(event, w->device, &count, each));
    assert_memory_equal(&each[1], &none, sizeof none);
    ok(zeEventPoolCreate(w->context, &pool_desc, 0, NULL, &pool)); /* without time stamps */
    ok(zeEventCreate(pool, &desc, &plain));
    ok(exp(plain, w->device, &count, each));
    assert_int_equal(count, 1);
    ok(zeEventDestroy(plain));
    ok(zeEventDestroy(event));
    ok(zeEventPoolDestroy(pool));
    check_work(w);
}

static void test_time_stamps_can_be_half_written(void **state) {
    world *w = *state;
    ze_kernel_timestamp_result_t half, whole;
    need_in_order_lists(w);
    rig r = open_concurrent(w);
    ze_command_list_handle_t list = immediate_of(w, COMPUTE, 0, QUEUE_IN_ORDER);
    ze_command_list_handle_t unordered = immediate_of(w, COMPUTE, 1, 0);
    ze_event_handle_t event = new_event(w, 1), other = new_event(w, 2);
    gpu.behave(SOFTGPU_HALF_WRITTEN_STAMPS, 1);
    assert_result(zeEventQueryKernelTimestamp(event, &half), ZE_RESULT_NOT_READY);
    append_with(&r, list, 0, 2, LONG, event, NULL);
    await_word(&r, 0); /* else the other kernel might take its engine */
    append_with(&r, unordered, 1, 2, LONG, other, NULL);
    await_word(&r, 1);
    assert_result(zeEventQueryStatus(event), ZE_RESULT_NOT_READY);
    ok(zeEventQueryKernelTimestamp(event, &half));
    assert_int_equal(half.global.kernelEnd, 0);
    assert_result(zeEventQueryKernelTimestamp(other, &half), ZE_RESULT_NOT_READY);
    set_word(&r, 2);
    ok(zeEventHostSynchronize(event, A_WHILE));
    ok(zeEventQueryKernelTimestamp(event, &whole));
    assert_int_equal(whole.global.kernelStart, half.global.kernelStart);
    assert_true(whole.global.kernelEnd > whole.global.kernelStart);
    finish_and_destroy(w, list);
    finish_and_destroy(w, unordered);
    ok(zeEventDestroy(event));
    ok(zeEventDestroy(other));
    close_rig(&r);
}

static void test_events_that_were_reset_can_mislead(void **state) {
    world *w = *state;
    ze_kernel_timestamp_result_t stamps;
    need_in_order_lists(w);
    ze_command_list_handle_t list = immediate_of(w, COMPUTE, 0, QUEUE_IN_ORDER);
    ze_event_handle_t go = new_event(w, 1);
    gpu.behave(SOFTGPU_RESET_STAMPS_SPIN, 1);
    for (int i = 0; i < 2; i++) {
        ok(zeCommandListAppendBarrier(list, w->done, 1, &go));
        assert_result(zeEventQueryStatus(w->done), ZE_RESULT_NOT_READY);
        assert_result(zeEventQueryKernelTimestamp(w->done, &stamps), ZE_RESULT_NOT_READY);
        ok(zeEventHostSignal(go));
        ok(zeEventHostSynchronize(w->done, A_WHILE));
        ok(zeEventQueryKernelTimestamp(w->done, &stamps));
        assert_int_equal(gpu.findings(), 0);
        ok(zeEventHostReset(w->done));
        ok(zeEventHostReset(go));
        ok(zeEventQueryStatus(w->done)); /* which is wrong */
        assert_result(zeEventQueryKernelTimestamp(w->done, &stamps), ZE_RESULT_NOT_READY);
        assert_int_equal(gpu.findings(), 1);
        gpu.forget_findings();
    }
    finish_and_destroy(w, list);
    finish_immediate(w, w->immediate); /* which signals and resets it, and is not in order */
    assert_result(zeEventQueryStatus(w->done), ZE_RESULT_NOT_READY);
    ok(zeEventDestroy(go));
}

/* ==== queries ============================================================================================= */

typedef struct metrics {
    zet_metric_group_handle_t group;
    zet_metric_query_pool_handle_t pool;
    zet_metric_query_handle_t query;
} metrics;

static metrics open_metrics(world *w) {
    metrics m = {.group = group_of(w->device, "ComputeBasic", BY_EVENT)};
    zet_metric_query_pool_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC,
                                         .type = ZET_METRIC_QUERY_POOL_TYPE_PERFORMANCE,
                                         .count = 1};
    activate_one(w, m.group);
    ok(zetMetricQueryPoolCreate(w->context, w->device, m.group, &desc, &m.pool));
    ok(zetMetricQueryCreate(m.pool, 0, &m.query));
    return m;
}

static double close_metrics(world *w, metrics *m, const char *metric) {
    uint8_t raw[4096];
    size_t size = sizeof raw;
    uint32_t sets;
    ok(zetMetricQueryGetData(m->query, &size, raw));
    zet_typed_value_t *values = calculate(m->group, raw, size, &sets);
    double value = value_in(m->group, values, metric);
    free(values);
    ok(zetMetricQueryDestroy(m->query));
    ok(zetMetricQueryPoolDestroy(m->pool));
    deactivate(w, w->device);
    return value;
}

static void test_queries_order_and_count_their_own(void **state) {
    world *w = *state;
    rig r = open_concurrent(w);
    metrics m = open_metrics(w);
    ze_event_handle_t none = NULL;
    ze_command_list_handle_t list = immediate_of(w, COMPUTE, 0, 0);
    append_meeting(&r, list, 0, 1, SHORT);
    ok(zetCommandListAppendMetricQueryBegin(list, m.query));
    append_meeting(&r, list, 1, 2, SHORT);
    ok(zetCommandListAppendMetricQueryEnd(list, m.query, NULL, 0, &none));
    append_plain(&r, list, 2);
    finish_and_destroy(w, list);
    assert_int_equal(word(&r, 0), GAVE_UP);
    assert_int_equal(word(&r, 1), GAVE_UP);
    assert_close(close_metrics(w, &m, "GPGPU_THREADGROUP_COUNT"), 1);
    close_rig(&r);
}

/* Counters are the device's: the kernel of another list, on another engine, is in the query. */
static void test_queries_count_what_other_engines_do(void **state) {
    world *w = *state;
    need_in_order_lists(w);
    rig r = open_concurrent(w);
    metrics m = open_metrics(w);
    ze_event_handle_t none = NULL;
    ze_command_list_handle_t list = immediate_of(w, COMPUTE, 0, QUEUE_IN_ORDER);
    ze_command_list_handle_t other = immediate_of(w, COMPUTE, 1, QUEUE_IN_ORDER);
    ok(zetCommandListAppendMetricQueryBegin(list, m.query));
    append_meeting(&r, list, 0, 1, LONG);
    await_word(&r, 0);
    append_plain(&r, other, 2);
    finish_and_destroy(w, other);
    set_word(&r, 1);
    ok(zetCommandListAppendMetricQueryEnd(list, m.query, NULL, 0, &none));
    finish_and_destroy(w, list);
    assert_close(close_metrics(w, &m, "GPGPU_THREADGROUP_COUNT"), 2);
    close_rig(&r);
}

/* Or the kernel could never end: it waits for one that may not start meanwhile. */
static void test_a_query_is_destroyed_while_kernels_run(void **state) {
    world *w = *state;
    rig r = open_concurrent(w);
    metrics m = open_metrics(w);
    ze_command_list_handle_t list = immediate_of(w, COMPUTE, 0, 0);
    append_meeting(&r, list, 0, 1, LONG);
    await_word(&r, 0);
    ok(zetMetricQueryDestroy(m.query));
    ok(zetMetricQueryPoolDestroy(m.pool));
    deactivate(w, w->device);
    append_meeting(&r, list, 1, 0, LONG);
    finish_and_destroy(w, list);
    assert_int_equal(word(&r, 0), MET);
    close_rig(&r);
}

/* ==== mistakes, faults and loss =========================================================================== */

static void test_a_list_that_runs_is_neither_reset_nor_destroyed(void **state) {
    world *w = *state;
    rig r = open_concurrent(w);
    ze_command_list_handle_t list = immediate_of(w, COMPUTE, 0, 0), recorded = recorded_of(w, 0);
    ze_command_queue_handle_t queue = queue_of(w, COMPUTE, 1);
    append_meeting(&r, list, 0, 4, LONG);
    append_plain(&r, list, 1);
    append_meeting(&r, recorded, 2, 4, LONG);
    ok(zeCommandListClose(recorded));
    await_word(&r, 1); /* the second is over, the first is not */
    ok(zeCommandQueueExecuteCommandLists(queue, 1, &recorded, NULL));
    assert_result(zeCommandListReset(list), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    assert_result(zeCommandListDestroy(list), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    assert_result(zeCommandListReset(recorded), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    assert_result(zeCommandListDestroy(recorded), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    assert_result(zeCommandQueueDestroy(queue), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    expect_findings(5);
    set_word(&r, 4);
    ok(zeCommandQueueSynchronize(queue, A_WHILE));
    ok(zeCommandListReset(recorded));
    ok(zeCommandListDestroy(recorded));
    ok(zeCommandQueueDestroy(queue));
    finish_and_destroy(w, list);
    close_rig(&r);
}

static void test_a_refused_launch_leaves_the_others(void **state) {
    world *w = *state;
    rig r = open_concurrent(w);
    ze_command_list_handle_t list = immediate_of(w, COMPUTE, 0, 0);
    ze_kernel_handle_t kernel = meeting(&r, 3, 3, LONG);
    append_meeting(&r, list, 0, 1, LONG);
    inject("zeCommandListAppendLaunchKernel", 1, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_result(zeCommandListAppendLaunchKernel(list, kernel, &one_group, NULL, 0, NULL),
                  ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    append_meeting(&r, list, 1, 0, LONG);
    finish_and_destroy(w, list);
    assert_int_equal(word(&r, 0), MET);
    assert_int_equal(word(&r, 3), NOTHING);
    ok(zeKernelDestroy(kernel));
    close_rig(&r);
}

/* Kernels with more work-groups than could ever run, on both engines. */
static void test_the_loss_ends_kernels_on_all_engines(void **state) {
    world *w = *state;
    rig r = open_concurrent(w);
    const ze_group_count_t endless = {UINT32_MAX, UINT32_MAX, 1};
    ze_command_list_handle_t list = immediate_of(w, COMPUTE, 0, 0);
    ze_event_handle_t done = new_event(w, 1);
    for (uint32_t i = 0; i < 2; i++) {
        ze_kernel_handle_t kernel = meeting(&r, i, i, LONG);
        ok(zeCommandListAppendLaunchKernel(list, kernel, &endless, NULL, 0, NULL));
        ok(zeKernelDestroy(kernel));
        await_word(&r, i);
    }
    ok(zeCommandListAppendBarrier(list, done, 0, NULL));
    gpu.lose_device();
    assert_result(zeEventHostSynchronize(done, A_WHILE), ZE_RESULT_ERROR_DEVICE_LOST);
    gpu.restore_device();
    append_meeting(&r, list, 2, 3, LONG);
    append_meeting(&r, list, 3, 2, LONG);
    finish_and_destroy(w, list);
    assert_int_equal(word(&r, 2), MET);
    ok(zeEventDestroy(done));
    close_rig(&r);
}

enum { THREADS = 4, ROUNDS = 100 };

typedef struct worker {
    rig *r;
    pthread_t thread;
    ze_command_list_handle_t list;
    ze_event_handle_t event;
    float *sums;
    ze_kernel_handle_t kernel;
    int failures;
} worker;

/* Each launch adds 1 to its sums: barriers and events alone keep them from doing so at the same time. */
static void *work(void *argument) {
    worker *me = argument;
    const ze_group_count_t groups = {WORK_GROUPS, 1, 1};
    for (int i = 0; i < OFTEN(ROUNDS * 10); i++)
        me->failures += zeCommandListAppendLaunchKernel(me->list, me->kernel, &groups, NULL, 0, NULL) ||
                        zeCommandListAppendBarrier(me->list, NULL, 0, NULL) ||
                        zeCommandListAppendLaunchKernel(me->list, me->kernel, &groups, me->event, 0, NULL) ||
                        zeCommandListAppendLaunchKernel(me->list, me->kernel, &groups, NULL, 1, &me->event) ||
                        zeCommandListAppendEventReset(me->list, me->event);
    me->failures +=
        zeCommandListAppendSignalEvent(me->list, me->event) || zeEventHostSynchronize(me->event, A_WHILE);
    return NULL;
}

static void test_threads_with_lists_out_of_order(void **state) {
    world *w = *state;
    rig r = open_concurrent(w);
    worker workers[THREADS] = {{0}};
    ze_host_mem_alloc_desc_t host = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, NULL, 0};
    for (uint32_t i = 0; i < THREADS; i++) {
        worker *me = &workers[i];
        void *memory;
        *me = (worker){.r = &r, .list = immediate_of(w, COMPUTE, i % 2, 0), .event = new_event(w, i + 1)};
        ok(zeMemAllocHost(w->context, &host, WORK_ITEMS * sizeof(float), 64, &memory));
        me->sums = memset(memory, 0, WORK_ITEMS * sizeof(float));
        create_kernel(w, &me->kernel);
        ok(zeKernelSetArgumentValue(me->kernel, 0, sizeof me->sums, &me->sums));
        assert_int_equal(pthread_create(&me->thread, NULL, work, me), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        worker *me = &workers[i];
        pthread_join(me->thread, NULL);
        assert_int_equal(me->failures, 0);
        finish_and_destroy(w, me->list);
        for (uint32_t item = 0; item < WORK_ITEMS; item++)
            assert_true(me->sums[item] == (float)(3 * OFTEN(ROUNDS * 10)));
        ok(zeKernelDestroy(me->kernel));
        ok(zeMemFree(w->context, me->sums));
        ok(zeEventDestroy(me->event));
    }
    close_rig(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_queue_groups_list_the_engines),
        TEST(test_without_the_behaviour_nothing_overlaps),
        TEST(test_in_order_lists_with_other_indices_overlap),
        TEST(test_in_order_lists_with_one_index_share_its_engine),
        TEST(test_queues_with_other_indices_overlap),
        TEST(test_copies_and_fills_run_beside_kernels),
        TEST(test_sub_devices_overlap),
        TEST(test_kernels_of_an_immediate_list_overlap),
        TEST(test_kernels_of_a_recorded_list_overlap),
        TEST(test_kernels_of_in_order_lists_never_overlap),
        TEST(test_a_command_overtakes_one_that_waits),
        TEST(test_events_order),
        TEST(test_barriers_order),
        TEST(test_a_barrier_with_events_waits_for_these_alone),
        TEST(test_a_wait_holds_up_all_behind_it),
        TEST(test_a_signal_comes_after_all_before_it),
        TEST(test_several_kernels_in_one_command_keep_their_event),
        TEST(test_the_lists_of_a_queue_are_in_order),
        TEST(test_long_lists_run_out_of_order),
        TEST(test_time_stamps_show_the_overlap),
        TEST(test_kernels_have_a_clock_of_their_own),
        TEST(test_each_tile_has_a_time_stamp),
        TEST(test_time_stamps_of_tiles_can_be_unchecked),
        TEST(test_time_stamps_can_be_half_written),
        TEST(test_events_that_were_reset_can_mislead),
        TEST(test_queries_order_and_count_their_own),
        TEST(test_queries_count_what_other_engines_do),
        TEST(test_a_query_is_destroyed_while_kernels_run),
        TEST(test_a_list_that_runs_is_neither_reset_nor_destroyed),
        TEST(test_a_refused_launch_leaves_the_others),
        TEST(test_the_loss_ends_kernels_on_all_engines),
        TEST(test_threads_with_lists_out_of_order),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
