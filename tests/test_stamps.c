/* The tracer with times alone: launches are measured by the time stamps that the device writes with each
   kernel, and nothing that they would overlap with has to wait. */
#define _GNU_SOURCE
#include "meet.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef _WIN32
#include <sys/mman.h>
#endif

static zt_profiler *trace_times(world *w) {
    zt_config config = config_of(w);
    config.groups = "";
    zt_profiler *profiler = open_profiler(w, &config);
    ok(zt_trace_start(profiler, NULL));
    return profiler;
}

static void expect_launches(const zt_profiler *profiler, uint64_t measured, uint64_t serialised) {
    zt_trace_counts counts = zt_get_info(profiler).launches;
    assert_int_equal(counts.measured, measured);
    assert_int_equal(counts.serialised, serialised);
    assert_int_equal(counts.elsewhere, 0);
}

/* The calls that commands of the library make, or have made. */
static uint64_t commands(void) {
    return calls("zeCommandListAppendBarrier") + calls("zeCommandListAppendWriteGlobalTimestamp") +
           calls("zeCommandListAppendSignalEvent") + calls("zeCommandListAppendQueryKernelTimestamps") +
           calls("zeCommandListAppendWaitOnEvents") + calls("zeCommandListAppendEventReset");
}

/* ==== tiles =============================================================================================== */

/* What a driver answers to zeEventQueryTimestampsExp, which not every loader has, of an event that has signalled:
   the time stamps of the kernel for one tile, and those of another that ran 1000 ticks earlier or later. */
typedef enum tile_stamps {
    ONE_AFTER_ANOTHER,
    ONE_BEFORE_ANOTHER,
    MANY_TILES, /* more than there is room for */
    NO_TILE,
    UNKNOWN_TILES
} tile_stamps;
static tile_stamps tiles_of_event;
static double ticks_of_event; /* of the last event that was queried */

static ze_result_t ZE_APICALL query_tiles(ze_event_handle_t event, ze_device_handle_t device, uint32_t *count,
                                          ze_kernel_timestamp_result_t *stamps) {
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    ze_kernel_timestamp_result_t whole;
    ze_result_t result = zeEventQueryKernelTimestamp(event, &whole);
    ok(zeDeviceGetProperties(device, &properties));
    const uint64_t mask = UINT64_MAX >> (64 - properties.kernelTimestampValidBits);
    uint64_t shift = tiles_of_event == ONE_BEFORE_ANOTHER ? (uint64_t)-1000 : 1000;
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (tiles_of_event == UNKNOWN_TILES)
        return ZE_RESULT_ERROR_UNKNOWN;
    ticks_of_event = (double)((whole.global.kernelEnd - whole.global.kernelStart) & mask);
    for (uint32_t i = 0; i < *count; i++) {
        stamps[i] = whole;
        stamps[i].global.kernelStart = (whole.global.kernelStart + i * shift) & mask;
        stamps[i].global.kernelEnd = (whole.global.kernelEnd + i * shift) & mask;
    }
    *count = tiles_of_event == NO_TILE ? 0 : tiles_of_event == MANY_TILES ? 1000 : *count;
    return ZE_RESULT_SUCCESS;
}

/* ==== launches without an event =========================================================================== */

static void test_nothing_is_appended(void **state) {
    world *w = *state;
    zt_profiler *profiler = trace_times(w);
    ze_command_list_handle_t immediate = immediate_of(w, COMPUTE, 0, 0), list = recorded_of(w, 0);
    gpu.reset_calls();
    launch(w, immediate);
    launch(w, list);
    assert_int_equal(commands(), 0);
    finish_and_destroy(w, immediate);
    execute_once(w, list);
    collect_all(profiler);
    assert_counts(profiler, counted(2, 2, 0, 0, 0));
    expect_launches(profiler, 2, 0);
    check_work(w);
}

/* The time is the kernel's, and not that of the work around it. */
static void test_the_time_is_that_of_the_kernel(void **state) {
    world *w = *state;
    rig r = open_concurrent(w);
    zt_profiler *profiler = trace_times(w);
    ze_command_list_handle_t list = immediate_of(w, COMPUTE, 0, 0);
    uint64_t before = now_ns();
    append_meeting(&r, list, 0, 15, SHORT);
    append_plain(&r, list, 1);
    await_word(&r, 1);
    finish_and_destroy(w, list);
    double longest = (double)(now_ns() - before);
    collect_all(profiler);
    zt_stats times = region_info(profiler, "meet").time_ns;
    assert_int_equal(times.count, 2);
    assert_true(times.max >= SHORT * 1e6 - 1e6); /* its clock has milliseconds */
    assert_true(times.max <= longest);
    assert_true(times.min > 0);
    close_rig(&r);
}

static void test_each_execution_of_a_recorded_list(void **state) {
    enum { TIMES = 20 };
    world *w = *state;
    zt_profiler *profiler = trace_times(w);
    ze_command_list_handle_t list = recorded_of(w, 0);
    launch(w, list);
    launch(w, list);
    ok(zeCommandListClose(list));
    for (int i = 0; i < TIMES; i++)
        execute_unprofiled(w, list);
    w->launches += 2 * (TIMES - 1);
    collect_all(profiler);
    ok(zeCommandListDestroy(list));
    assert_counts(profiler, counted(2 * TIMES, 2 * TIMES, 0, 0, 0));
    assert_int_equal(region_info(profiler, "saxpy").time_ns.count, 2 * TIMES);
    expect_launches(profiler, 2, 0);
    check_work(w);
}

/* Regions on a list that is known to be immediate, because the tracer has seen it created: their probes are used
   again, whatever the loader can tell. */
static void test_regions_around_launches(void **state) {
    enum { TIMES = 12 };
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "";
    config.probes_per_step = config.max_probes = 4;
    zt_profiler *profiler = open_profiler(w, &config);
    ok(zt_trace_start(profiler, NULL));
    ze_command_list_handle_t list = immediate_of(w, COMPUTE, 0, 0);
    launch(w, list);
    for (int i = 0; i < TIMES; i++) {
        ZT_REGION(profiler, list, "around")
        launch(w, list);
        finish_immediate(w, list);
        ok(zt_collect(profiler, 0));
    }
    collect_all(profiler);
    assert_counts(profiler, counted(1 + 2 * TIMES, 1 + 2 * TIMES, 0, 0, 0));
    assert_int_equal(region_info(profiler, "around").count, TIMES);
    assert_int_equal(region_info(profiler, "saxpy").count, 1 + TIMES);
    ok(zeCommandListDestroy(list));
    check_work(w);
}

/* At most four driver calls more than the application makes, and no memory. */
static void test_what_a_launch_costs(void **state) {
    enum { MANY = 256, CALLS = 4 };
    world *w = *state;
    zt_profiler *profiler = trace_times(w);
    ze_command_list_handle_t list = immediate_of(w, COMPUTE, 0, 0);
    for (int i = 0; i < 4 * MANY; i++)
        launch(w, list);
    finish_immediate(w, list);
    collect_all(profiler);
    heap_use before = library_memory();
    gpu.reset_calls();
    for (int i = 0; i < MANY; i++)
        launch(w, list);
    uint64_t appending = calls(NULL);
    finish_immediate(w, list);
    ok(zt_collect(profiler, A_WHILE));
    assert_same_memory(before);
    assert_true(appending <= (1 + CALLS) * MANY);
    check_identity(profiler);
    assert_counts(profiler, counted(5 * MANY, 5 * MANY, 0, 0, 0));
    check_work(w);
    ok(zeCommandListDestroy(list));
}

/* Nor more than three while none of them is ready, on lists that are not in order. */
static void test_what_launches_cost_that_wait(void **state) {
    enum { MANY = 1024, CALLS = 3 };
    world *w = *state;
    zt_profiler *profiler = trace_times(w);
    ze_command_list_handle_t list = immediate_of(w, COMPUTE, 0, 0);
    for (int i = 0; i < MANY; i++)
        launch(w, list); /* there are probes enough then */
    finish_immediate(w, list);
    ok(zt_collect(profiler, A_WHILE));
    ze_event_handle_t gate = append_gate(w, list);
    gpu.reset_calls();
    for (int i = 0; i < MANY; i++)
        launch(w, list);
    assert_true(calls(NULL) <= (1 + CALLS) * MANY);
    ok(zeEventHostSignal(gate));
    finish_immediate(w, list);
    collect_all(profiler);
    assert_counts(profiler, counted(2 * MANY, 2 * MANY, 0, 0, 0));
    check_work(w);
    ok(zeCommandListDestroy(list));
    ok(zeEventDestroy(gate));
}

/* ==== overlap ============================================================================================= */

/* Two kernels that meet, on a list that is not in order. */
static void meet_on(rig *r, ze_command_list_handle_t list, ze_event_handle_t first,
                    ze_event_handle_t second) {
    append_with(r, list, 0, 1, LONG, first, NULL);
    append_with(r, list, 1, 0, LONG, second, NULL);
}

static void expect_met(rig *r) {
    assert_int_equal(word(r, 0), MET);
    assert_int_equal(word(r, 1), MET);
}

static void test_kernels_of_an_immediate_list_overlap(void **state) {
    world *w = *state;
    rig r = open_concurrent(w);
    zt_profiler *profiler = trace_times(w);
    ze_command_list_handle_t list = immediate_of(w, COMPUTE, 0, 0);
    meet_on(&r, list, NULL, NULL);
    finish_and_destroy(w, list);
    expect_met(&r);
    collect_all(profiler);
    assert_counts(profiler, counted(2, 2, 0, 0, 0));
    close_rig(&r);
}

static void test_kernels_of_a_recorded_list_overlap(void **state) {
    world *w = *state;
    rig r = open_concurrent(w);
    zt_profiler *profiler = trace_times(w);
    ze_command_list_handle_t list = recorded_of(w, 0);
    meet_on(&r, list, NULL, NULL);
    execute_once(w, list);
    expect_met(&r);
    collect_all(profiler);
    assert_counts(profiler, counted(2, 2, 0, 0, 0));
    close_rig(&r);
}

/* ==== the application's events ============================================================================ */

/* The lists that there are. */
typedef struct way {
    int is_immediate, is_in_order;
} way;

static const way ways[] = {{1, 0}, {1, 1}, {0, 0}, {0, 1}};

enum { WAYS = sizeof ways / sizeof ways[0], GO = 8 };

static ze_command_list_handle_t create_by(world *w, const way *by) {
    return by->is_immediate ? immediate_of(w, COMPUTE, 0, by->is_in_order ? QUEUE_IN_ORDER : 0)
                            : recorded_of(w, by->is_in_order ? LIST_IN_ORDER : 0);
}

/* Submits what is on a list, which is recorded or not. */
static void submit(const way *by, ze_command_queue_handle_t queue, ze_command_list_handle_t list) {
    if (!by->is_immediate) {
        ok(zeCommandListClose(list));
        ok(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    }
}

static void clear_words(rig *r) {
    memset(r->words, 0, WORDS * sizeof *r->words);
}

static ze_event_pool_handle_t create_pool(world *w, ze_event_pool_flags_t flags) {
    ze_event_pool_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, NULL,
                                 flags | ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 10};
    ze_event_pool_handle_t pool;
    ok(zeEventPoolCreate(w->context, &desc, 1, &w->device, &pool));
    return pool;
}

static ze_event_handle_t event_in(ze_event_pool_handle_t pool, uint32_t index) {
    ze_event_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_DESC, NULL, index, ZE_EVENT_SCOPE_FLAG_HOST,
                            ZE_EVENT_SCOPE_FLAG_HOST};
    ze_event_handle_t event;
    ok(zeEventCreate(pool, &desc, &event));
    return event;
}

/* Is destroyed with the rig, and its pool with it. */
static ze_event_handle_t event_of(rig *r, ze_event_pool_flags_t flags) {
    assert_null(r->pool);
    r->pool = create_pool(r->w, flags);
    return r->event = event_in(r->pool, 0);
}

/* The copy engine executes a command, so that a compute engine could have, too. */
static void run_elsewhere(rig *r) {
    const uint32_t one = 1;
    ze_command_list_handle_t other = immediate_of(r->w, COPY, 0, QUEUE_IN_ORDER);
    ok(zeCommandListAppendMemoryCopy(other, &r->words[9], &one, sizeof one, NULL, 0, NULL));
    finish_and_destroy(r->w, other);
}

/* A kernel that signals an event: not before it ends, and then at once. */
static void signal_once(rig *r, const way *by, ze_event_handle_t event) {
    world *w = r->w;
    ze_command_queue_handle_t queue = queue_of(w, COMPUTE, 0);
    ze_command_list_handle_t list = create_by(w, by);
    clear_words(r);
    append_with(r, list, 0, GO, LONG, event, NULL);
    submit(by, queue, list);
    await_word(r, 0);
    run_elsewhere(r);
    assert_result(zeEventQueryStatus(event), ZE_RESULT_NOT_READY);
    set_word(r, GO);
    ok(zeEventHostSynchronize(event, A_WHILE));
    assert_int_equal(word(r, 0), MET);
    if (by->is_immediate)
        finish_immediate(w, list);
    ok(zeCommandQueueSynchronize(queue, A_WHILE));
    ok(zeCommandListDestroy(list));
    ok(zeCommandQueueDestroy(queue));
}

/* Of a pool with these flags, created before the start or after it. Where the event cannot be borrowed, kernels
   on recorded lists that are not in order are serialised, and with time stamps of the application those on
   any list that is not in order. */
static void expect_signals(world *w, ze_event_pool_flags_t flags, int is_early) {
    need_in_order_lists(w);
    rig r = open_concurrent(w);
    ze_event_pool_handle_t pool = is_early ? create_pool(w, flags) : NULL;
    ze_event_handle_t event = is_early ? event_in(pool, 0) : NULL;
    zt_profiler *profiler = trace_times(w);
    uint64_t serialised = 0, measured = 0;
    int is_borrowed = !is_early && !(flags & ZE_EVENT_POOL_FLAG_IPC);
    if (!is_early) {
        pool = create_pool(w, flags);
        event = event_in(pool, 0);
    }
    for (uint32_t i = 0; i < WAYS; i++) {
        signal_once(&r, &ways[i], event);
        ok(zeEventHostReset(event));
        measured++;
        serialised += !is_borrowed && !ways[i].is_in_order;
        expect_launches(profiler, measured, serialised);
    }
    collect_all(profiler);
    assert_counts(profiler, counted(measured, measured, 0, 0, 0));
    assert_int_equal(region_info(profiler, "meet").time_ns.count, measured);
    expect_serialised(profiler, is_early ? ZT_SERIALISED_UNSEEN_EVENT : ZT_SERIALISED_SHARED, serialised,
                      is_early ? "the creation of their events was not seen" : "their events can be shared");
    ok(zeEventDestroy(event));
    ok(zeEventPoolDestroy(pool));
    close_rig(&r);
}

static void test_events_signal_at_the_end(void **state) {
    expect_signals(*state, 0, 0);
}

static void test_events_of_a_pool_before_the_start(void **state) {
    expect_signals(*state, 0, 1);
}

static void test_events_that_are_shared_between_processes(void **state) {
    expect_signals(*state, ZE_EVENT_POOL_FLAG_IPC, 0);
}

static void test_events_with_time_stamps(void **state) {
    expect_signals(*state, ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP, 0);
}

static void test_events_with_time_stamps_before_the_start(void **state) {
    expect_signals(*state, ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP, 1);
}

/* The event has those of a kernel that takes SHORT milliseconds. */
static void expect_stamps_of_kernel(world *w, ze_event_handle_t event) {
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2};
    ze_kernel_timestamp_result_t stamps;
    ok(zeDeviceGetProperties(w->device, &properties));
    ok(zeEventQueryKernelTimestamp(event, &stamps));
    uint64_t ticks = stamps.global.kernelEnd - stamps.global.kernelStart;
    assert_true((double)ticks / (double)properties.timerResolution > (SHORT - 1) * 1e-3);
}

/* An application that reads the time stamps of its event gets those of the kernel. */
static void test_the_time_stamps_of_the_application(void **state) {
    world *w = *state;
    need_in_order_lists(w);
    rig r = open_concurrent(w);
    trace_times(w);
    ze_event_handle_t event = event_of(&r, ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
    for (uint32_t i = 0; i < WAYS; i++) {
        ze_command_queue_handle_t queue = queue_of(w, COMPUTE, 0);
        ze_command_list_handle_t list = create_by(w, &ways[i]);
        clear_words(&r);
        append_with(&r, list, 0, 15, SHORT, event, NULL);
        submit(&ways[i], queue, list);
        ok(zeEventHostSynchronize(event, A_WHILE));
        expect_stamps_of_kernel(w, event);
        ok(zeEventHostReset(event));
        ok(zeCommandQueueSynchronize(queue, A_WHILE));
        if (ways[i].is_immediate)
            finish_immediate(w, list);
        ok(zeCommandListDestroy(list));
        ok(zeCommandQueueDestroy(queue));
    }
    close_rig(&r);
}

static void test_every_kind_of_launch(void **state) {
    world *w = *state;
    zt_profiler *profiler = trace_times(w);
    ze_event_pool_handle_t pool = create_pool(w, 0);
    ze_command_list_handle_t list = immediate_of(w, COMPUTE, 0, 0);
    ze_event_handle_t events[4];
    for (uint32_t i = 0; i < 4; i++)
        events[i] = event_in(pool, i);
    launch_in_every_way(w, list, w->kernel, 1, events);
    w->launches += 4;
    ok(zeEventHostSynchronize(events[3], A_WHILE));
    ok(zeCommandListDestroy(list));
    for (uint32_t i = 0; i < 4; i++)
        ok(zeEventDestroy(events[i]));
    check_work(w);
    collect_all(profiler);
    expect_launches(profiler, 4, 0);
    assert_counts(profiler, counted(4, 4, 0, 0, 0));
    ok(zeEventPoolDestroy(pool));
}

static void test_kernels_with_events_overlap(void **state) {
    world *w = *state;
    rig r = open_concurrent(w);
    zt_profiler *profiler = trace_times(w);
    ze_event_pool_handle_t pool = create_pool(w, 0);
    ze_event_handle_t events[] = {event_in(pool, 0), event_in(pool, 1)};
    ze_command_list_handle_t list = immediate_of(w, COMPUTE, 0, 0);
    meet_on(&r, list, events[0], events[1]);
    ok(zeEventHostSynchronize(events[0], A_WHILE));
    ok(zeEventHostSynchronize(events[1], A_WHILE));
    expect_met(&r);
    finish_and_destroy(w, list);
    collect_all(profiler);
    assert_counts(profiler, counted(2, 2, 0, 0, 0));
    expect_launches(profiler, 2, 0);
    for (int i = 0; i < 2; i++)
        ok(zeEventDestroy(events[i]));
    ok(zeEventPoolDestroy(pool));
    close_rig(&r);
}

/* The application resets its event on the host as soon as it is signalled, or in the list, and uses it again;
   or several kernels signal it: then the first of them may be lost, if its event is borrowed. */
static void test_an_event_is_used_again(void **state) {
    enum { TIMES = 20 };
    world *w = *state;
    need_in_order_lists(w);
    rig r = open_concurrent(w);
    zt_profiler *profiler = trace_times(w);
    ze_event_handle_t event = event_of(&r, 0);
    uint64_t measured = 0;
    for (uint32_t i = 0; i < WAYS; i++) {
        ze_command_queue_handle_t queue = queue_of(w, COMPUTE, 0);
        ze_command_list_handle_t list = create_by(w, &ways[i]);
        if (!ways[i].is_immediate) {
            ok(zeCommandListAppendEventReset(list, event));
            append_with(&r, list, 0, 0, LONG, event, NULL);
            ok(zeCommandListClose(list));
        }
        for (int n = 0; n < TIMES; n++) {
            if (ways[i].is_immediate) {
                append_with(&r, list, 0, 0, LONG, event, NULL);
            } else {
                ok(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
                ok(zeCommandQueueSynchronize(queue, A_WHILE));
            }
            ok(zeEventHostSynchronize(event, A_WHILE));
            ok(zeEventHostReset(event));
            measured++;
        }
        if (ways[i].is_immediate) {
            for (int n = 0; n < TIMES; n++)
                append_with(&r, list, 0, 0, LONG, event, NULL);
            measured += TIMES;
            finish_immediate(w, list);
            ok(zeEventQueryStatus(event));
            ok(zeEventHostReset(event));
        }
        ok(zeCommandListDestroy(list));
        ok(zeCommandQueueDestroy(queue));
    }
    collect_all(profiler);
    uint64_t lost = zt_get_info(profiler).causes[ZT_LOST_EVENT].count;
    assert_true(lost <= 1);
    assert_counts(profiler, counted(measured, measured - lost, lost, 0, 0));
    assert_int_equal(region_info(profiler, "meet").time_ns.count, measured - lost);
    close_rig(&r);
}

/* A launch of which the event is borrowed, that runs until it is let go. */
static ze_command_list_handle_t launch_held(rig *r, ze_event_handle_t event) {
    ze_command_list_handle_t list = immediate_of(r->w, COMPUTE, 0, 0);
    clear_words(r);
    append_with(r, list, 0, GO, LONG, event, NULL);
    await_word(r, 0);
    return list;
}

/* Nothing is appended for a launch whose event is borrowed; the application may destroy it as soon as it has
   signalled, and even its pool before it. */
static void test_an_event_that_is_destroyed(void **state) {
    enum { TIMES = 100 };
    world *w = *state;
    rig r = open_concurrent(w);
    zt_profiler *profiler = trace_times(w);
    ze_command_list_handle_t list = immediate_of(w, COMPUTE, 0, 0);
    for (int i = 0; i < TIMES; i++) {
        ze_event_pool_handle_t pool = create_pool(w, 0);
        ze_event_handle_t event = event_in(pool, 0);
        gpu.reset_calls();
        append_with(&r, list, 0, 0, LONG, event, NULL);
        assert_int_equal(commands(), 0);
        ok(zeEventHostSynchronize(event, A_WHILE));
        ok(zeEventDestroy(event));
        ok(zeEventPoolDestroy(pool));
    }
    finish_and_destroy(w, list);
    collect_all(profiler);
    assert_counts(profiler, counted(TIMES, TIMES, 0, 0, 0));
    assert_int_equal(region_info(profiler, "meet").time_ns.count, TIMES);
    close_rig(&r);
}

/* Another pool is destroyed while a kernel runs whose event is borrowed: it stays so. A pool that is not created is none. */
static void test_a_pool_that_is_destroyed_beside_another(void **state) {
    world *w = *state;
    rig r = open_concurrent(w);
    zt_profiler *profiler = trace_times(w);
    ze_event_pool_handle_t pool = create_pool(w, 0), other = create_pool(w, 0), none = NULL;
    ze_event_handle_t event = event_in(pool, 0);
    ze_command_list_handle_t list = launch_held(&r, event);
    ok(zeEventPoolDestroy(other));
    assert_int_not_equal(zeEventPoolCreate(w->context, NULL, 1, &w->device, &none), ZE_RESULT_SUCCESS);
    set_word(&r, GO);
    ok(zeEventHostSynchronize(event, A_WHILE));
    finish_and_destroy(w, list);
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    ok(zeEventDestroy(event));
    ok(zeEventPoolDestroy(pool));
    close_rig(&r);
}

static void expect_lost_event(zt_profiler *profiler, uint64_t begun, uint64_t collected) {
    collect_all(profiler);
    assert_counts(profiler, counted(begun, collected, begun - collected, 0, 0));
    assert_int_equal(zt_get_info(profiler).causes[ZT_LOST_EVENT].count, begun - collected);
}

static void execute_on(ze_command_queue_handle_t queue, ze_command_list_handle_t list) {
    ok(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    ok(zeCommandQueueSynchronize(queue, A_WHILE));
}

/* After a destruction that the driver refuses, the event is not borrowed any more: an execution whose time it
   would have is lost, and the next launch is measured by other means. */
static void test_an_event_that_was_not_destroyed(void **state) {
    world *w = *state;
    rig r = open_concurrent(w);
    zt_profiler *profiler = trace_times(w);
    ze_command_queue_handle_t queue = queue_of(w, COMPUTE, 0);
    ze_command_list_handle_t immediate = immediate_of(w, COMPUTE, 0, 0);
    for (int of_pool = 0; of_pool < 2; of_pool++) {
        ze_event_pool_handle_t pool = create_pool(w, 0);
        ze_event_handle_t event = event_in(pool, 0);
        ze_command_list_handle_t list = recorded_of(w, 0);
        append_with(&r, list, 0, 0, LONG, event, NULL);
        ok(zeCommandListClose(list));
        execute_on(queue, list);
        inject(of_pool ? "zeEventPoolDestroy" : "zeEventDestroy", 1, ZE_RESULT_ERROR_UNKNOWN);
        assert_result(of_pool ? zeEventPoolDestroy(pool) : zeEventDestroy(event), ZE_RESULT_ERROR_UNKNOWN);
        execute_on(queue, list);
        gpu.reset_calls();
        append_with(&r, immediate, 0, 0, LONG, event, NULL);
        assert_true(calls("zeCommandListAppendQueryKernelTimestamps") + calls("zeCommandListAppendBarrier") >
                    0);
        finish_immediate(w, immediate);
        expect_lost_event(profiler, 3 * (1 + (uint64_t)of_pool), 2 * (1 + (uint64_t)of_pool));
        ok(zeCommandListDestroy(list));
        ok(zeEventDestroy(event));
        ok(zeEventPoolDestroy(pool));
    }
    assert_true(region_info(profiler, "meet").time_ns.min > 0);
    ok(zeCommandListDestroy(immediate));
    ok(zeCommandQueueDestroy(queue));
    close_rig(&r);
}

static void destroy_event(void *parameters, int result, void *event, void **instance) {
    (void)parameters, (void)result, (void)instance;
    ok(zeEventDestroy(*(ze_event_handle_t *)event));
}

/* A hook destroys an event, which is not traced. The next event has its handle, and is of a pool that was
   created before the start: a launch with it is not measured by what was known of the first. */
static void test_an_event_that_a_hook_destroyed(void **state) {
    world *w = *state;
    rig r = open_concurrent(w);
    ze_event_pool_handle_t older = create_pool(w, 0);
    zt_config config = config_of(w);
    config.groups = "";
    zt_profiler *profiler = open_profiler(w, &config);
    ze_event_handle_t event;
    zt_hook hook = {"zeCommandListReset", destroy_event, NULL, &event};
    zt_trace_config traced = {0};
    traced.hooks = &hook;
    traced.hook_count = 1;
    ok(zt_trace_start(profiler, &traced));
    ze_event_pool_handle_t pool = create_pool(w, 0);
    ze_command_queue_handle_t queue = queue_of(w, COMPUTE, 0);
    ze_command_list_handle_t list = recorded_of(w, 0);
    gpu.behave(SOFTGPU_HANDLES_COME_BACK, 1);
    event = event_in(pool, 0);
    ze_event_handle_t destroyed = event;
    ok(zeCommandListReset(list));
    event = event_in(older, 0);
    if (event != destroyed)
        puts("# the handle did not come back"); /* as where a layer wraps it */
    append_with(&r, list, 0, 0, LONG, event, NULL);
    ok(zeCommandListClose(list));
    execute_on(queue, list);
    collect_all(profiler);
    int collected = event != destroyed || zt_get_info(profiler).counts.collected == 1;
    ok(zeCommandListDestroy(list));
    ok(zeEventDestroy(event));
    ok(zeEventPoolDestroy(pool));
    ok(zeEventPoolDestroy(older));
    ok(zeCommandQueueDestroy(queue));
    assert_true(collected);
    close_rig(&r);
}

/* While a kernel runs, its event is signalled by something else: no time is made of what it says then. */
static void test_an_event_that_others_signal(void **state) {
    world *w = *state;
    rig r = open_concurrent(w);
    zt_profiler *profiler = trace_times(w);
    ze_event_pool_handle_t pool = create_pool(w, 0);
    ze_event_handle_t event = event_in(pool, 0);
    ze_command_list_handle_t other = immediate_of(w, COPY, 0, 0), list = launch_held(&r, event);
    ok(zeEventHostSignal(event));
    ok(zeEventHostReset(event));
    set_word(&r, GO);
    finish_and_destroy(w, list);
    expect_lost_event(profiler, 1, 0);
    ok(zeEventDestroy(event));

    event = event_in(pool, 0);
    list = launch_held(&r, event);
    ok(zeCommandListAppendBarrier(other, event, 0, NULL));
    finish_immediate(w, other);
    ok(zeEventHostReset(event));
    set_word(&r, GO);
    finish_and_destroy(w, list);
    expect_lost_event(profiler, 2, 0);
    ok(zeEventDestroy(event));
    ok(zeCommandListDestroy(other));
    ok(zeEventPoolDestroy(pool));
    close_rig(&r);
}

typedef ze_result_t (*append_lists)(ze_command_list_handle_t, uint32_t, ze_command_list_handle_t *,
                                    ze_event_handle_t, uint32_t, ze_event_handle_t *);
typedef ze_result_t (*append_lists_with_parameters)(ze_command_list_handle_t, uint32_t,
                                                    ze_command_list_handle_t *, const void *,
                                                    ze_event_handle_t, uint32_t, ze_event_handle_t *);

typedef struct signal_source {
    rig *r;
    ze_command_list_handle_t list, recorded; /* the second one can be appended to the first */
    ze_event_handle_t stamped;               /* has time stamps to be queried */
} signal_source;

static ze_result_t signal_by_lists(const signal_source *by, ze_event_handle_t event) {
    ze_command_list_handle_t recorded = by->recorded;
    append_lists with = NULL;
    *(void **)&with = dlsym(RTLD_DEFAULT, "zeCommandListImmediateAppendCommandListsExp");
    return with ? with(by->list, 1, &recorded, event, 0, NULL)
                : zeCommandListAppendSignalEvent(by->list, event);
}

static ze_result_t signal_by_lists_with_parameters(const signal_source *by, ze_event_handle_t event) {
    ze_command_list_handle_t recorded = by->recorded;
    append_lists_with_parameters with = NULL;
    *(void **)&with = dlsym(RTLD_DEFAULT, "zeCommandListImmediateAppendCommandListsWithParameters");
    return with ? with(by->list, 1, &recorded, NULL, event, 0, NULL)
                : zeCommandListAppendSignalEvent(by->list, event);
}

/* By a pointer of zeDriverGetExtensionFunctionAddress. */
static void do_nothing(void *user) {
    (void)user;
}

enum { BY_POINTER = 9 };

static const char *const pointers_that_signal[] = {
    "zexCommandListAppendMemoryCopyWithParameters", "zexCommandListAppendMemoryFillWithParameters",
    "zeCommandListAppendHostFunction", "zexCommandListAppendWaitOnMemory",
    "zexCommandListAppendWaitOnMemory64"};

static ze_result_t signal_by_pointer(uint32_t which, const signal_source *by, ze_event_handle_t event) {
    static const uint32_t one = 1, at_least[] = {1 << 3, 1 << 2};
    uint32_t *words = by->r->words;
    void *pointer = NULL;
    ze_result_t (*copy)(ze_command_list_handle_t, void *, const void *, size_t, const void *, uint32_t,
                        ze_event_handle_t *, ze_event_handle_t);
    ze_result_t (*fill)(ze_command_list_handle_t, void *, const void *, size_t, size_t, const void *,
                        ze_event_handle_t, uint32_t, ze_event_handle_t *);
    ze_result_t (*call)(ze_command_list_handle_t, void (*)(void *), void *, const void *, ze_event_handle_t,
                        uint32_t, ze_event_handle_t *);
    ze_result_t (*await32)(ze_command_list_handle_t, const void *, void *, uint32_t, ze_event_handle_t);
    ze_result_t (*await64)(ze_command_list_handle_t, const void *, void *, uint64_t, ze_event_handle_t);
    if (loader_wraps_handles())
        return zeCommandListAppendSignalEvent(by->list, event);
    ok(zeDriverGetExtensionFunctionAddress(by->r->w->driver, pointers_that_signal[which], &pointer));
    memcpy(&copy, &pointer, sizeof copy);
    memcpy(&fill, &pointer, sizeof fill);
    memcpy(&call, &pointer, sizeof call);
    memcpy(&await32, &pointer, sizeof await32);
    memcpy(&await64, &pointer, sizeof await64);
    switch (which) {
    case 0:
        return copy(by->list, &words[4], &words[5], sizeof *words, NULL, 0, NULL, event);
    case 1:
        return fill(by->list, &words[4], &one, sizeof one, sizeof *words, NULL, event, 0, NULL);
    case 2:
        return call(by->list, do_nothing, NULL, NULL, event, 0, NULL);
    case 3:
        return await32(by->list, at_least, &words[6], 0, event);
    default:
        return await64(by->list, at_least, &words[6], 0, event);
    }
}

enum { SIGNALLING = BY_POINTER + sizeof pointers_that_signal / sizeof *pointers_that_signal };

static ze_result_t signal_by(uint32_t command, const signal_source *by, ze_event_handle_t event) {
    static const uint32_t one = 1;
    const ze_copy_region_t region = {0, 0, 0, 4, 1, 0};
    ze_event_handle_t stamped = by->stamped;
    uint32_t *words = by->r->words;
    const size_t size = sizeof *words;
    const void *range = words;
    switch (command) {
    case 0:
        return zeCommandListAppendSignalEvent(by->list, event);
    case 1:
        return zeCommandListAppendWriteGlobalTimestamp(by->list, by->r->stamps, event, 0, NULL);
    case 2:
        return zeCommandListAppendQueryKernelTimestamps(by->list, 1, &stamped, by->r->stamps, NULL, event, 0,
                                                        NULL);
    case 3:
        return zeCommandListAppendMemoryRangesBarrier(by->list, 1, &size, &range, event, 0, NULL);
    case 4:
        return zeCommandListAppendMemoryCopy(by->list, &words[4], &words[5], size, event, 0, NULL);
    case 5:
        return zeCommandListAppendMemoryFill(by->list, &words[4], &one, sizeof one, size, event, 0, NULL);
    case 6:
        return zeCommandListAppendMemoryCopyRegion(by->list, &words[4], &region, 4, 0, &words[5], &region, 4,
                                                   0, event, 0, NULL);
    case 7:
        return signal_by_lists(by, event);
    case 8:
        return signal_by_lists_with_parameters(by, event);
    default:
        return signal_by_pointer(command - BY_POINTER, by, event);
    }
}

/* Whatever command of another list signals it, and also if the driver refuses the command, so that its
   signal never comes. */
static void test_every_command_that_signals(void **state) {
    static const char *const calls_of[BY_POINTER] = {
        "zeCommandListAppendSignalEvent",
        "zeCommandListAppendWriteGlobalTimestamp",
        "zeCommandListAppendQueryKernelTimestamps",
        "zeCommandListAppendMemoryRangesBarrier",
        "zeCommandListAppendMemoryCopy",
        "zeCommandListAppendMemoryFill",
        "zeCommandListAppendMemoryCopyRegion",
        "zeCommandListImmediateAppendCommandListsExp",
        "zeCommandListImmediateAppendCommandListsWithParameters"};
    world *w = *state;
    rig r = open_concurrent(w);
    zt_profiler *profiler = trace_times(w);
    ze_event_pool_handle_t pool = create_pool(w, ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
    signal_source by = {&r, immediate_of(w, COMPUTE, 1, 0), recorded_of(w, 0), event_in(pool, 9)};
    uint64_t lost = 0;
    ok(zeCommandListAppendBarrier(by.list, by.stamped, 0, NULL));
    ok(zeCommandListClose(by.recorded));
    for (uint32_t i = 0; i < SIGNALLING; i++) {
        for (int is_refused = 0; is_refused < 2; is_refused++) {
            ze_event_handle_t event = event_in(pool, 0);
            ze_command_list_handle_t list = launch_held(&r, event);
            ze_result_t expected = is_refused ? ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY : ZE_RESULT_SUCCESS;
            const char *call = i < BY_POINTER ? calls_of[i] : pointers_that_signal[i - BY_POINTER];
            int is_there =
                i < 7 || (i < BY_POINTER ? dlsym(RTLD_DEFAULT, call) != NULL : !loader_wraps_handles());
            if (is_refused)
                inject(is_there ? call : calls_of[0], 1, expected);
            assert_result(signal_by(i, &by, event), expected);
            finish_immediate(w, by.list);
            assert_result(zeEventQueryStatus(event), is_refused ? ZE_RESULT_NOT_READY : ZE_RESULT_SUCCESS);
            ok(zeEventHostReset(event));
            set_word(&r, GO);
            finish_and_destroy(w, list);
            expect_lost_event(profiler, ++lost, 0);
            ok(zeEventDestroy(event));
        }
    }
    expect_launches(profiler, lost, 0);
    ok(zeCommandListDestroy(by.list));
    ok(zeCommandListDestroy(by.recorded));
    ok(zeEventDestroy(by.stamped));
    ok(zeEventPoolDestroy(pool));
    close_rig(&r);
}

/* Once an immediate list has executed the command and the host has reset the event, it measures launches again. */
static void test_an_event_after_every_command_that_signals(void **state) {
    world *w = *state;
    rig r = open_concurrent(w);
    zt_profiler *profiler = trace_times(w);
    ze_event_pool_handle_t pool = create_pool(w, ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
    signal_source by = {&r, immediate_of(w, COMPUTE, 1, 0), recorded_of(w, 0), event_in(pool, 9)};
    ze_event_handle_t event = event_in(pool, 0);
    ok(zeCommandListAppendBarrier(by.list, by.stamped, 0, NULL));
    ok(zeCommandListClose(by.recorded));
    for (uint32_t i = 0; i < SIGNALLING; i++) {
        ok(signal_by(i, &by, event));
        finish_immediate(w, by.list);
        ok(zeEventHostReset(event));
        append_with(&r, by.list, 0, 0, LONG, event, NULL);
        finish_immediate(w, by.list);
        ok(zeEventHostReset(event));
        expect_launches(profiler, i + 1, 0);
    }
    collect_all(profiler);
    assert_counts(profiler, counted(SIGNALLING, SIGNALLING, 0, 0, 0));
    ok(zeCommandListDestroy(by.list));
    ok(zeCommandListDestroy(by.recorded));
    ok(zeEventDestroy(by.stamped));
    ok(zeEventDestroy(event));
    ok(zeEventPoolDestroy(pool));
    close_rig(&r);
}

/* The host signals the event of a launch that has not begun. That launch signals it once more, after the next
   one was appended: the next one is not measured by what the first one writes. */
static void test_an_event_that_the_host_signals_early(void **state) {
    world *w = *state;
    rig r = open_concurrent(w);
    zt_profiler *profiler = trace_times(w);
    ze_event_pool_handle_t pool = create_pool(w, 0);
    for (int is_reset = 0; is_reset < 2; is_reset++) {
        uint64_t lost = 1 + (uint64_t)is_reset;
        ze_event_handle_t event = event_in(pool, (uint32_t)is_reset), gate = new_event(w, 1);
        ze_command_list_handle_t first = immediate_of(w, COMPUTE, 0, 0), second;
        append_with(&r, first, 1, 1, LONG, event, gate);
        ok(zeEventHostSignal(event));
        if (is_reset)
            ok(zeEventHostReset(event));
        second = launch_held(&r, event);
        ok(zeEventHostSignal(gate));
        finish_and_destroy(w, first);
        ok(zt_collect(profiler, 0));
        assert_counts(profiler, counted(2 * lost, lost - 1, lost, 0, 1)); /* the second one still runs */
        set_word(&r, GO);
        finish_and_destroy(w, second);
        expect_lost_event(profiler, 2 * lost, lost);
        ok(zeEventDestroy(event));
        ok(zeEventDestroy(gate));
    }
    ok(zeEventPoolDestroy(pool));
    close_rig(&r);
}

static void *signal_early(void *event) {
    ok_on_thread(zeEventHostSignal(event));
    return NULL;
}

/* Another thread of the application signals an event while a launch that signals it is being appended: wherever the
   library allocates memory then. The kernel is not measured by that signal, which is there before the kernel has ended. */
static void test_an_event_that_the_host_signals_meanwhile(void **state) {
    enum { MOST = 15 };
    world *w = *state;
    rig r = open_concurrent(w);
    zt_config config = config_of(w);
    int moments = 0, is_late = 0;
    config.groups = "";
    config.allocator = interrupted_allocator();
    zt_profiler *profiler = open_profiler(w, &config);
    ok(zt_trace_start(profiler, NULL));
    ze_event_pool_handle_t pool = create_pool(w, 0);
    for (; !is_late && moments < MOST; moments++) {
        ze_event_handle_t event = event_in(pool, 0);
        zt_counts before = zt_get_info(profiler).counts;
        interrupt_allocation(moments, signal_early, event);
        ze_command_list_handle_t list = launch_held(&r, event);
        is_late = !interrupted_allocation();
        assert_no_noted_failure();
        ok(zt_collect(profiler, 0));
        uint64_t collected = zt_get_info(profiler).counts.collected;
        set_word(&r, GO);
        assert_int_equal(collected, before.collected);
        finish_and_destroy(w, list);
        collect_all(profiler);
        check_identity(profiler);
        assert_int_equal(zt_get_info(profiler).counts.begun, before.begun + 1);
        ok(zeEventDestroy(event));
    }
    assert_in_range(moments, 3, MOST - 1); /* the last launch allocates less often than that */
    ok(zeEventPoolDestroy(pool));
    close_profiler(w, profiler);
    close_rig(&r);
}

/* Another thread appends a launch with the same event meanwhile, which runs longer: it is not measured by the signal of
   the first one. The driver may not answer what the event has, so that the first one is measured by other means. */
typedef struct second_launch {
    ze_command_list_handle_t list; /* NULL: it was appended */
    ze_kernel_handle_t kernel;
    ze_event_handle_t event;
} second_launch;

static void *launch_second(void *argument) {
    second_launch *second = argument;
    ok_on_thread(
        zeCommandListAppendLaunchKernel(second->list, second->kernel, &one_group, second->event, 0, NULL));
    second->list = NULL;
    return NULL;
}

static void test_an_event_that_another_launch_signals_meanwhile(void **state) {
    enum { MOST = 15 };
    world *w = *state;
    rig r = open_concurrent(w);
    zt_config config = config_of(w);
    config.groups = "";
    config.allocator = interrupted_allocator();
    zt_profiler *profiler = open_profiler(w, &config);
    ok(zt_trace_start(profiler, NULL));
    ze_event_pool_handle_t pool = create_pool(w, 0);
    for (uint32_t is_refused = 0; is_refused < 2; is_refused++) {
        int moments = 0, is_late = 0;
        for (; !is_late && moments < MOST; moments++) {
            ze_event_handle_t event = event_in(pool, 0);
            ze_command_list_handle_t list = immediate_of(w, COMPUTE, 0, 0),
                                     other = immediate_of(w, COMPUTE, 1, 0);
            second_launch second = {other, meeting(&r, 0, GO, LONG), event};
            zt_counts before = zt_get_info(profiler).counts;
            clear_words(&r);
            interrupt_allocation(moments, launch_second, &second);
            inject("zeEventQueryKernelTimestamp", is_refused, ZE_RESULT_ERROR_UNKNOWN);
            append_with(&r, list, 1, 1, LONG, event, NULL);
            inject("zeEventQueryKernelTimestamp", 0, ZE_RESULT_SUCCESS);
            is_late = !interrupted_allocation();
            assert_no_noted_failure();
            if (second.list)
                launch_second(&second);
            await_word(&r, 0);
            await_word(&r, 1);
            ok(zeEventHostSynchronize(event, A_WHILE));
            ok(zt_collect(profiler, 0));
            uint64_t collected = zt_get_info(profiler).counts.collected;
            set_word(&r, GO);
            assert_in_range(collected - before.collected, 0, 1);
            finish_and_destroy(w, list);
            finish_and_destroy(w, other);
            collect_all(profiler);
            check_identity(profiler);
            zt_counts after = zt_get_info(profiler).counts;
            assert_int_equal(after.begun, before.begun + 2);
            assert_int_equal(after.collected + after.lost, before.collected + before.lost + 2);
            assert_int_equal(after.lost, zt_get_info(profiler).causes[ZT_LOST_EVENT].count);
            ok(zeKernelDestroy(second.kernel));
            ok(zeEventDestroy(event));
        }
        assert_in_range(moments, 2, MOST - 1); /* the last launch allocates less often than that */
    }
    ok(zeEventPoolDestroy(pool));
    close_profiler(w, profiler);
    close_rig(&r);
}

/* Executes a list twice whose launch signals an event that is never reset. The call of `failing`, if it is not NULL,
   that reads the time stamps before the second execution fails. */
static zt_profiler *signal_twice(world *w, const char *failing) {
    zt_profiler *profiler = trace_times(w);
    ze_event_pool_handle_t pool = create_pool(w, ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
    ze_event_handle_t event = event_in(pool, 0);
    ze_command_list_handle_t list = recorded_of(w, 0);
    ze_group_count_t groups = {WORK_GROUPS, 1, 1};
    ok(zeCommandListAppendLaunchKernel(list, w->kernel, &groups, event, 0, NULL));
    ok(zeCommandListClose(list));
    execute_unprofiled(w, list);
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    if (failing)
        inject(failing, 1, ZE_RESULT_ERROR_UNKNOWN);
    execute_unprofiled(w, list);
    if (failing)
        inject(failing, 0, ZE_RESULT_SUCCESS);
    w->launches += 2;
    collect_all(profiler);
    ok(zeCommandListDestroy(list));
    ok(zeEventDestroy(event));
    ok(zeEventPoolDestroy(pool));
    check_work(w);
    return profiler;
}

/* If the time stamps from before the execution are not known, or are several, nothing shows when they are new:
   the sample is lost, and no other. */
static void test_earlier_time_stamps_that_are_not_known(void **state) {
    world *w = *state;
    zt_profiler *profiler = signal_twice(w, "zeEventQueryKernelTimestamp");
    assert_counts(profiler, counted(2, 1, 1, 0, 0));
    assert_int_equal(zt_get_info(profiler).causes[ZT_LOST_EVENT].count, 1);
}

static void test_an_event_of_tiles_that_is_never_reset(void **state) {
    world *w = *state;
    gpu.set_devices(1, 2);
    replace_symbol("zeEventQueryTimestampsExp", (any_function)query_tiles);
    tiles_of_event = ONE_AFTER_ANOTHER;
    zt_profiler *profiler = signal_twice(w, NULL);
    assert_counts(profiler, counted(2, 1, 1, 0, 0));
    assert_int_equal(zt_get_info(profiler).causes[ZT_LOST_EVENT].count, 1);
}

/* On an immediate list, the next launch is measured by other means than its event then. */
static void test_an_event_of_tiles_on_an_immediate_list(void **state) {
    world *w = *state;
    gpu.set_devices(1, 2);
    replace_symbol("zeEventQueryTimestampsExp", (any_function)query_tiles);
    tiles_of_event = ONE_AFTER_ANOTHER;
    rig r = open_concurrent(w);
    zt_profiler *profiler = trace_times(w);
    ze_event_handle_t event = event_of(&r, 0);
    ze_command_list_handle_t list = immediate_of(w, COMPUTE, 0, 0);
    gpu.reset_calls();
    append_with(&r, list, 0, 0, LONG, event, NULL);
    ok(zeEventHostSynchronize(event, A_WHILE));
    assert_int_equal(commands(), 0);
    append_with(&r, list, 1, 1, LONG, event, NULL);
    assert_true(commands() > 0);
    finish_and_destroy(w, list);
    collect_all(profiler);
    assert_counts(profiler, counted(2, 2, 0, 0, 0));
    close_rig(&r);
}

/* Nothing copies the time stamps of several tiles in a list: the sample is lost. */
static void test_an_event_of_tiles_that_its_list_resets(void **state) {
    world *w = *state;
    gpu.set_devices(1, 2);
    replace_symbol("zeEventQueryTimestampsExp", (any_function)query_tiles);
    tiles_of_event = ONE_AFTER_ANOTHER;
    rig r = open_concurrent(w);
    zt_profiler *profiler = trace_times(w);
    ze_event_handle_t event = event_of(&r, 0);
    ze_command_list_handle_t list = launch_held(&r, event);
    gpu.reset_calls();
    ok(zeCommandListAppendEventReset(list, event));
    assert_int_equal(commands(), 1);
    set_word(&r, GO);
    finish_and_destroy(w, list);
    expect_lost_event(profiler, 1, 0);
    close_rig(&r);
}

/* The host resets the event of an execution twice: the first reset has saved the time stamps, and the second queries
   nothing. */
static void test_an_event_that_the_host_resets_twice(void **state) {
    enum { TIMES = 3 };
    world *w = *state;
    rig r = open_concurrent(w);
    zt_profiler *profiler = trace_times(w);
    ze_event_handle_t event = event_of(&r, 0);
    ze_command_queue_handle_t queue = queue_of(w, COMPUTE, 0);
    ze_command_list_handle_t list = recorded_of(w, 0);
    append_with(&r, list, 0, 15, SHORT, event, NULL);
    ok(zeCommandListClose(list));
    for (int i = 0; i < TIMES; i++) {
        clear_words(&r);
        execute_on(queue, list);
        ok(zeEventHostReset(event));
        gpu.reset_calls();
        ok(zeEventHostReset(event));
        assert_int_equal(calls("zeEventQueryKernelTimestamp"), 0);
    }
    collect_all(profiler);
    assert_counts(profiler, counted(TIMES, TIMES, 0, 0, 0));
    assert_true(region_info(profiler, "meet").time_ns.min >= SHORT * 1e6 - 1e6);
    ok(zeCommandListDestroy(list));
    ok(zeCommandQueueDestroy(queue));
    close_rig(&r);
}

/* A list that has run is closed, so it cannot reset the event of its launch: nothing is appended either. The sample
   stays; of later executions it is not known what has reset the event. */
static void test_an_event_that_its_closed_list_resets(void **state) {
    world *w = *state;
    rig r = open_concurrent(w);
    zt_profiler *profiler = trace_times(w);
    ze_event_pool_handle_t pool = create_pool(w, 0);
    for (uint32_t is_collected = 0; is_collected < 2; is_collected++) {
        ze_event_handle_t event = event_in(pool, is_collected);
        ze_command_list_handle_t list = recorded_of(w, 0);
        append_with(&r, list, 0, 0, LONG, event, NULL);
        ok(zeCommandListClose(list));
        execute_unprofiled(w, list);
        if (is_collected)
            collect_all(profiler);
        gpu.reset_calls();
        assert_int_not_equal(zeCommandListAppendEventReset(list, event), ZE_RESULT_SUCCESS);
        assert_in_range(commands(), 0, 1);
        ok(zeEventQueryStatus(event));
        collect_all(profiler);
        assert_counts(profiler, counted(2 * is_collected + 1, is_collected + 1, is_collected, 0, 0));
        execute_unprofiled(w, list);
        expect_lost_event(profiler, 2 * is_collected + 2, is_collected + 1);
        ok(zeCommandListDestroy(list));
        ok(zeEventDestroy(event));
    }
    assert_int_equal(region_info(profiler, "meet").time_ns.count, 2);
    ok(zeEventPoolDestroy(pool));
    close_rig(&r);
}

/* Each launch has the probe of the one before. */
static zt_profiler *trace_with_one_probe(world *w) {
    zt_config config = config_of(w);
    config.groups = "";
    config.probes_per_step = config.max_probes = 1;
    zt_profiler *profiler = open_profiler(w, &config);
    ok(zt_trace_start(profiler, NULL));
    return profiler;
}

/* A sample is collected, and its probe keeps the event of the next launch. A reset of the first event in that list is
   none of the second. */
static void test_an_event_whose_probe_keeps_another(void **state) {
    world *w = *state;
    rig r = open_concurrent(w);
    zt_profiler *profiler = trace_with_one_probe(w);
    ze_event_pool_handle_t pool = create_pool(w, 0);
    ze_event_handle_t first = event_in(pool, 0), second = event_in(pool, 1);
    ze_command_list_handle_t list = launch_held(&r, first);
    set_word(&r, GO);
    finish_and_destroy(w, list);
    collect_all(profiler);
    list = launch_held(&r, second);
    gpu.reset_calls();
    ok(zeCommandListAppendEventReset(list, first));
    assert_int_equal(commands(), 1);
    set_word(&r, GO);
    finish_and_destroy(w, list);
    collect_all(profiler);
    assert_counts(profiler, counted(2, 2, 0, 0, 0));
    assert_result(zeEventQueryStatus(first), ZE_RESULT_NOT_READY);
    ok(zeEventQueryStatus(second));
    ok(zeEventDestroy(first));
    ok(zeEventDestroy(second));
    ok(zeEventPoolDestroy(pool));
    close_rig(&r);
}

/* A recorded list is released, and its probe keeps the event of the next launch. What then happens to the list and to
   its event concerns that launch no more, and the next one is measured by the event of the list. */
static void test_an_event_of_a_released_list(void **state) {
    world *w = *state;
    rig r = open_concurrent(w);
    zt_profiler *profiler = trace_with_one_probe(w);
    ze_event_pool_handle_t pool = create_pool(w, 0);
    ze_event_handle_t first = event_in(pool, 0), second = event_in(pool, 1);
    ze_command_queue_handle_t queue = queue_of(w, COMPUTE, 0);
    for (uint64_t is_destroyed = 0; is_destroyed < 2; is_destroyed++) {
        ze_command_list_handle_t released = recorded_of(w, 0);
        append_with(&r, released, 1, 1, LONG, first, NULL);
        ok(zeCommandListClose(released));
        execute_on(queue, released);
        collect_all(profiler);
        ok(zt_release(profiler, released));
        ok(zeEventHostReset(first));
        ze_command_list_handle_t list = launch_held(&r, second);
        if (is_destroyed)
            ok(zeEventDestroy(first));
        ok(zeCommandListDestroy(released));
        set_word(&r, GO);
        finish_and_destroy(w, list);
        collect_all(profiler);
        assert_counts(profiler, counted(2 * (is_destroyed + 1), 2 * (is_destroyed + 1), 0, 0, 0));
        ok(zeEventHostReset(second));
        expect_launches(profiler, 2 * (is_destroyed + 1), 0);
    }
    ok(zeEventDestroy(second));
    ok(zeEventPoolDestroy(pool));
    ok(zeCommandQueueDestroy(queue));
    close_rig(&r);
}

#ifndef _WIN32 /* which has no mprotect */

/* Another thread releases a list after each block that is freed. What was freed cannot be read any more. */
typedef struct release {
    zt_profiler *profiler; /* NULL: no list is released now */
    ze_command_list_handle_t list;
    int count;
} release;

enum { BLOCK_HEADER = 64 };

static void *release_once(void *argument) {
    const release *of = argument;
    ok_on_thread(zt_release(of->profiler, of->list));
    return NULL;
}

static void *map_block(size_t size, void *user) {
    (void)user;
    char *block = mmap(NULL, size + BLOCK_HEADER, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED)
        return NULL;
    *(size_t *)block = size + BLOCK_HEADER;
    return block + BLOCK_HEADER;
}

static void protect_block(void *memory, void *user) {
    release *of = user, once = *of;
    pthread_t other;
    char *block = (char *)memory - BLOCK_HEADER;
    if (!memory)
        return;
    if (!of->profiler) {
        munmap(block, *(size_t *)block);
        return;
    }
    mprotect(block, *(size_t *)block, PROT_NONE);
    of->profiler = NULL;
    if (pthread_create(&other, NULL, release_once, &once) == 0 && pthread_join(other, NULL) == 0)
        of->count++;
    of->profiler = once.profiler;
}

/* Tracing starts again, and forgets the events that it knew, while another thread returns borrowed ones. */
static void test_started_again_while_a_list_is_released(void **state) {
    world *w = *state;
    release of = {NULL, NULL, 0};
    rig r = open_concurrent(w);
    zt_config config = config_of(w);
    config.groups = "";
    config.allocator.allocate = map_block;
    config.allocator.release = protect_block;
    config.allocator.user = &of;
    zt_profiler *profiler = open_profiler(w, &config);
    ok(zt_trace_start(profiler, NULL));
    ze_event_handle_t event = event_of(&r, 0);
    ze_command_queue_handle_t queue = queue_of(w, COMPUTE, 0);
    of.list = recorded_of(w, 0);
    append_with(&r, of.list, 1, 1, LONG, event, NULL);
    ok(zeCommandListClose(of.list));
    execute_on(queue, of.list);
    collect_all(profiler);
    ok(zt_trace_stop(profiler));
    of.profiler = profiler;
    ok(zt_trace_start(profiler, NULL));
    of.profiler = NULL;
    assert_no_noted_failure();
    assert_true(of.count > 0);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    ok(zeCommandListDestroy(of.list));
    ok(zeCommandQueueDestroy(queue));
    close_profiler(w, profiler);
    close_rig(&r);
}

#endif

/* A list resets an event where no launch earlier on the list is measured by it: nothing is appended, and no time is
   made of what is in the event then. */
enum reset_case { NEVER_USED, COLLECTED, ENDED, SIGNALLED_BEFORE, OF_ANOTHER_LIST, RESET_CASES };

/* The host resets an event that a command in flight will signal: until then, no launch is measured by it. */
static void test_an_event_that_is_reset_before_it_is_signalled(void **state) {
    world *w = *state;
    rig r = open_concurrent(w);
    zt_profiler *profiler = trace_times(w);
    ze_event_pool_handle_t pool = create_pool(w, 0);
    ze_event_handle_t event = event_in(pool, 0), gate = new_event(w, 1);
    ze_command_list_handle_t other = immediate_of(w, COMPUTE, 1, 0), list;
    ok(zeCommandListAppendBarrier(other, event, 1, &gate));
    ok(zeEventHostReset(event));
    list = launch_held(&r, event);
    ok(zeEventHostSignal(gate));
    finish_immediate(w, other);
    ok(zeEventQueryStatus(event));
    ok(zt_collect(profiler, 0));
    assert_counts(profiler, counted(1, 0, 0, 0, 1));
    set_word(&r, GO);
    finish_and_destroy(w, list);
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    ok(zeCommandListDestroy(other));
    ok(zeEventDestroy(event));
    ok(zeEventDestroy(gate));
    ok(zeEventPoolDestroy(pool));
    close_rig(&r);
}

/* Nor where the loader or the driver does not tell of which pool the event is, or what that pool has: it may have time
   stamps that the application reads, so that the launch is measured between barriers. */
static void test_an_early_event_of_an_unknown_pool(void **state) {
    static const char *const queries[] = {"zeEventGetEventPool", "zeEventPoolGetFlags"};
    world *w = *state;
    rig r = open_concurrent(w);
    ze_event_pool_handle_t pool = create_pool(w, 0);
    for (uint32_t i = 0; i < 4; i++) {
        const char *query = queries[i / 2];
        int is_hidden = i % 2;
        if (!dlsym(RTLD_DEFAULT, query) && !is_hidden)
            continue;
        ze_event_handle_t event = event_in(pool, i);
        hide_symbol(is_hidden ? query : NULL);
        zt_profiler *profiler = trace_times(w);
        hide_symbol(NULL);
        ze_command_list_handle_t list = immediate_of(w, COMPUTE, 0, 0);
        if (!is_hidden)
            inject(query, 1, ZE_RESULT_ERROR_UNKNOWN);
        append_with(&r, list, 0, 0, LONG, event, NULL);
        ok(zeEventHostSynchronize(event, A_WHILE));
        expect_launches(profiler, 1, 1);
        finish_and_destroy(w, list);
        collect_all(profiler);
        assert_counts(profiler, counted(1, 1, 0, 0, 0));
        close_profiler(w, profiler);
        ok(zeEventDestroy(event));
    }
    ok(zeEventPoolDestroy(pool));
    close_rig(&r);
}

/* A list from before the start that is in order, as the driver tells: a signal follows the launch. Elsewhere an event of
   before the start is not borrowed, so the launch stands between barriers. */
static void test_a_list_from_before_the_start_that_is_in_order(void **state) {
    world *w = *state;
    need_in_order_lists(w);
    rig r = open_concurrent(w);
    ze_event_handle_t event = event_of(&r, 0);
    for (uint32_t flags = 0; flags <= QUEUE_IN_ORDER; flags += QUEUE_IN_ORDER) {
        ze_command_list_handle_t list = immediate_of(w, COMPUTE, 0, flags);
        zt_profiler *profiler = trace_times(w);
        gpu.reset_calls();
        append_with(&r, list, 0, 0, LONG, event, NULL);
        if (dlsym(RTLD_DEFAULT, "zeCommandListImmediateGetFlags")) {
            assert_int_equal(calls("zeCommandListAppendSignalEvent"), flags ? 1 : 0);
            assert_int_equal(calls("zeCommandListAppendWriteGlobalTimestamp"), flags ? 0 : 2);
            expect_launches(profiler, 1, flags ? 0 : 1);
        }
        ok(zeEventHostSynchronize(event, A_WHILE));
        ok(zeEventHostReset(event));
        finish_immediate(w, list);
        collect_all(profiler);
        assert_counts(profiler, counted(1, 1, 0, 0, 0));
        close_profiler(w, profiler);
        ok(zeCommandListDestroy(list));
    }
    close_rig(&r);
}

/* Of a pool whose events the host cannot read, or that an extension describes: no launch is measured by them. */
static void test_pools_whose_events_cannot_be_borrowed(void **state) {
    enum { KERNEL_MAPPED = 1 << 3 }; /* ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP */
    world *w = *state;
    rig r = open_concurrent(w);
    zt_profiler *profiler = trace_times(w);
    ze_base_desc_t extension = {ZE_STRUCTURE_TYPE_FORCE_UINT32, NULL};
    ze_event_pool_desc_t descs[] = {
        {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, NULL, 0, 1},
        {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, NULL, ZE_EVENT_POOL_FLAG_HOST_VISIBLE | KERNEL_MAPPED, 1},
        {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, &extension, ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 1}};
    const struct {
        zt_serialised cause;
        const char *why;
    } expected[] = {{ZT_SERIALISED_INVISIBLE, "the host cannot see their events"},
                    {ZT_SERIALISED_MAPPED, "their events have mapped time stamps"},
                    {ZT_SERIALISED_EXTENDED, "the pools of their events were created with"}};
    for (uint64_t i = 0; i < 3; i++) {
        ze_event_pool_handle_t pool;
        ze_command_list_handle_t list = immediate_of(w, COMPUTE, 0, 0);
        ze_result_t result = zeEventPoolCreate(w->context, &descs[i], 1, &w->device, &pool);
        if (i == 2 && result == ZE_RESULT_ERROR_INVALID_ARGUMENT) {
            puts("# this loader's validation layer refuses an extension that it does not know");
            ok(zeCommandListDestroy(list));
            continue;
        }
        ok(result);
        ze_event_handle_t event = event_in(pool, 0);
        gpu.reset_calls();
        append_with(&r, list, 0, 0, LONG, event, NULL);
        assert_true(commands() > 0);
        finish_and_destroy(w, list);
        collect_all(profiler);
        assert_counts(profiler, counted(i + 1, i + 1, 0, 0, 0));
        expect_serialised(profiler, expected[i].cause, 1, expected[i].why);
        ok(zeEventDestroy(event));
        ok(zeEventPoolDestroy(pool));
    }
    close_rig(&r);
}

/* After the stop, nobody sees what happens to the event: the tracer does not use it any more. */
static void test_stopped_before_the_event_has_signalled(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "";
    config.wait_timeout_ns = 1000000;
    rig r = open_concurrent(w);
    zt_profiler *profiler = open_profiler(w, &config);
    ok(zt_trace_start(profiler, NULL));
    ze_event_pool_handle_t pool = create_pool(w, 0);
    ze_event_handle_t event = event_in(pool, 0), of_recorded = event_in(pool, 1);
    ze_command_queue_handle_t queue = queue_of(w, COMPUTE, 0);
    ze_command_list_handle_t list = launch_held(&r, event), recorded = recorded_of(w, 0);
    append_with(&r, recorded, 1, 1, LONG, of_recorded, NULL);
    ok(zeCommandListClose(recorded));
    ok(zt_trace_stop(profiler));
    set_word(&r, GO);
    ok(zeEventHostSynchronize(event, A_WHILE));
    ok(zeEventDestroy(event));
    ok(zeCommandQueueExecuteCommandLists(queue, 1, &recorded, NULL));
    ok(zeCommandQueueSynchronize(queue, A_WHILE));
    ok(zt_execute(profiler, queue, 1, &recorded, NULL));
    ok(zeCommandQueueSynchronize(queue, A_WHILE));
    ok(zeCommandListDestroy(recorded));
    ok(zeEventDestroy(of_recorded));
    finish_and_destroy(w, list);
    ok(zt_release(profiler, recorded));
    expect_lost_event(profiler, 2, 0);
    ok(zeCommandQueueDestroy(queue));
    ok(zeEventPoolDestroy(pool));
    close_rig(&r);
}

/* The application destroys or resets a list as soon as its own event is signalled, also where commands of the
   library follow. */
static void test_a_list_that_is_over_with_its_event(void **state) {
    world *w = *state;
    rig r = open_concurrent(w);
    zt_profiler *profiler = trace_times(w);
    ze_event_handle_t event = event_of(&r, ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
    ze_command_queue_handle_t queue = queue_of(w, COMPUTE, 0);
    ze_command_list_handle_t recorded = recorded_of(w, 0);
    for (int i = 0; i < OFTEN(1000); i++) {
        ze_command_list_handle_t list = immediate_of(w, COMPUTE, 1, 0);
        append_with(&r, list, 0, 0, LONG, event, NULL);
        ok(zeEventHostSynchronize(event, A_WHILE));
        ok(zeCommandListDestroy(list));
        ok(zeEventHostReset(event));
        append_with(&r, recorded, 0, 0, LONG, event, NULL);
        ok(zeCommandListClose(recorded));
        ok(zeCommandQueueExecuteCommandLists(queue, 1, &recorded, NULL));
        ok(zeEventHostSynchronize(event, A_WHILE));
        ok(zeCommandListReset(recorded));
        ok(zeEventHostReset(event));
    }
    collect_all(profiler);
    assert_counts(profiler, counted(2 * OFTEN(1000), 2 * OFTEN(1000), 0, 0, 0));
    expect_launches(profiler, 2 * OFTEN(1000), 0);
    ok(zeCommandListDestroy(recorded));
    ok(zeCommandQueueDestroy(queue));
    close_rig(&r);
}

/* Destroys something when the launch in it has ended, while a command of the library after it has not:
   another kernel has the device until the driver is called. */
typedef struct end_of_life {
    rig *r;
    uint64_t calls_before;
} end_of_life;

enum { ON_DEVICE = 1, NEXT_ON_DEVICE = 2, NEXT_GOES_ON = 3 };

static void *let_next_end(void *argument) {
    const end_of_life *of = argument;
    for (int n = 0; n < 100 && calls(NULL) == of->calls_before; n++)
        nap(); /* the tracer waits without a call of the driver */
    set_word(of->r, NEXT_GOES_ON);
    return NULL;
}

/* One kernel has the device, and the next one has it before what follows the first. */
static ze_command_list_handle_t launch_with_next(rig *r, ze_command_list_handle_t list,
                                                 ze_event_handle_t event, ze_command_queue_handle_t queue) {
    ze_command_list_handle_t next = immediate_of(r->w, COMPUTE, 0, 0);
    clear_words(r);
    append_with(r, list, ON_DEVICE, GO, LONG, event, NULL);
    if (queue) {
        ok(zeCommandListClose(list));
        ok(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    }
    await_word(r, ON_DEVICE);
    append_with(r, next, NEXT_ON_DEVICE, NEXT_GOES_ON, LONG, NULL, NULL);
    set_word(r, GO);
    await_word(r, NEXT_ON_DEVICE);
    return next;
}

static zt_profiler *trace_patiently(world *w) {
    zt_config config = config_of(w);
    config.groups = "";
    config.wait_timeout_ns = A_WHILE;
    zt_profiler *profiler = open_profiler(w, &config);
    ok(zt_trace_start(profiler, NULL));
    return profiler;
}

static void destroy_early(rig *r, ze_command_list_handle_t list, ze_command_queue_handle_t queue) {
    end_of_life of = {r, calls(NULL)};
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, let_next_end, &of), 0);
    if (queue)
        ok(zeCommandQueueDestroy(queue));
    else
        ok(zeCommandListDestroy(list));
    assert_int_equal(pthread_join(other, NULL), 0);
}

/* The copy of time stamps has not run. */
static void test_a_list_is_destroyed_before_a_copy_has_ended(void **state) {
    world *w = *state;
    rig r = open_rig(w);
    zt_profiler *profiler = trace_patiently(w);
    ze_event_handle_t event = event_of(&r, ZE_EVENT_POOL_FLAG_IPC);
    ze_command_list_handle_t list = immediate_of(w, COMPUTE, 0, 0);
    ze_command_list_handle_t next = launch_with_next(&r, list, event, NULL);
    destroy_early(&r, list, NULL);
    finish_and_destroy(w, next);
    collect_all(profiler);
    assert_counts(profiler, counted(2, 2, 0, 0, 0));
    close_rig(&r);
}

/* The barrier and the time stamp after the launch have not run. Old loaders cannot tell that a list from
   before the start is immediate. */
static void test_a_list_from_before_the_start_is_destroyed_early(void **state) {
    world *w = *state;
    rig r = open_rig(w);
    ze_event_pool_handle_t pool = create_pool(w, ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
    ze_event_handle_t event = event_in(pool, 0);
    ze_command_list_handle_t list = immediate_of(w, COMPUTE, 0, 0);
    zt_profiler *profiler = trace_patiently(w);
    ze_command_list_handle_t next = launch_with_next(&r, list, event, NULL);
    ok(zeEventHostSynchronize(event, A_WHILE));
    ok(zeEventHostReset(event));
    ok(zeEventDestroy(event));
    destroy_early(&r, list, NULL);
    finish_and_destroy(w, next);
    collect_all(profiler);
    assert_counts(profiler, counted(2, 2, 0, 0, 0));
    ok(zeEventPoolDestroy(pool));
    close_rig(&r);
}

typedef struct stop {
    zt_profiler *profiler;
    atomic_int has_ended;
} stop;

static void *end_tracing(void *argument) {
    stop *s = argument;
    ok_on_thread(zt_trace_stop(s->profiler));
    atomic_store(&s->has_ended, 1);
    return NULL;
}

/* The same when the application destroys the list after the stop, which waits, because nobody observes that. */
static void test_stopped_with_a_list_from_before_the_start(void **state) {
    world *w = *state;
    rig r = open_rig(w);
    ze_event_handle_t event = event_of(&r, ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
    ze_command_list_handle_t list = immediate_of(w, COMPUTE, 0, 0);
    zt_profiler *profiler = trace_patiently(w);
    ze_command_list_handle_t next = launch_with_next(&r, list, event, NULL);
    stop s = {profiler, 0};
    pthread_t other;
    ok(zeEventHostSynchronize(event, A_WHILE));
    assert_int_equal(pthread_create(&other, NULL, end_tracing, &s), 0);
    for (int n = 0; n < 100 && !atomic_load(&s.has_ended); n++)
        nap();
    int has_waited = !atomic_load(&s.has_ended);
    set_word(&r, NEXT_GOES_ON);
    assert_int_equal(pthread_join(other, NULL), 0);
    assert_no_noted_failure();
    assert_true(has_waited);
    ok(zeCommandListDestroy(list));
    finish_and_destroy(w, next);
    collect_all(profiler);
    assert_counts(profiler, counted(2, 2, 0, 0, 0));
    close_rig(&r);
}

/* Nor if the list was not closed, and the application has released it. */
static void test_a_released_list_from_before_the_start(void **state) {
    world *w = *state;
    rig r = open_rig(w);
    ze_event_handle_t event = event_of(&r, ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
    ze_command_list_handle_t list = recorded_of(w, 0);
    hide_symbol("zeCommandListIsImmediate");
    zt_profiler *profiler = trace_patiently(w);
    hide_symbol(NULL);
    append_with(&r, list, 0, 0, SHORT, event, NULL);
    expect_serialised(profiler, ZT_SERIALISED_UNKNOWN_LIST, 1, "this driver cannot tell whether their lists");
    zt_release(profiler, list);
    uint64_t before = now_ns();
    ok(zeCommandListDestroy(list));
    assert_true(now_ns() - before < A_WHILE);
    ok(zt_trace_stop(profiler));
    collect_all(profiler);
    check_identity(profiler);
    assert_int_equal(zt_get_info(profiler).counts.collected, 0);
    close_rig(&r);
}

typedef struct busy_collector {
    zt_profiler *profiler;
    int entered, may_end;
} busy_collector;

static void wait_in_sample(const zt_sample *sample, void *user) {
    busy_collector *me = user;
    (void)sample;
    __atomic_store_n(&me->entered, 1, __ATOMIC_RELEASE);
    await(&me->may_end);
}

static void *collect_busily(void *user) {
    ok_on_thread(zt_collect(((busy_collector *)user)->profiler, 0));
    return NULL;
}

/* The same while another thread is in a collection, which alone could take the released launch off the list. */
static void test_a_list_is_released_beside_a_collection(void **state) {
    world *w = *state;
    rig r = open_rig(w);
    busy_collector busy = {NULL, 0, 0};
    ze_event_handle_t event = event_of(&r, ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
    ze_command_list_handle_t list = recorded_of(w, 0);
    pthread_t collector;
    zt_config config = config_of(w);
    config.groups = "";
    config.wait_timeout_ns = A_WHILE;
    config.sample = wait_in_sample;
    config.sample_user = &busy;
    hide_symbol("zeCommandListIsImmediate");
    zt_profiler *profiler = busy.profiler = open_profiler(w, &config);
    ok(zt_trace_start(profiler, NULL));
    hide_symbol(NULL);
    append_with(&r, list, 0, 0, SHORT, event, NULL);
    run(w, profiler, "read");
    assert_int_equal(pthread_create(&collector, NULL, collect_busily, &busy), 0);
    await(&busy.entered);
    zt_release(profiler, list); /* NOT_READY: only the collector can tell that it never ran */
    uint64_t queries = calls("zeEventQueryStatus"), before = now_ns();
    ze_result_t destroyed = zeCommandListDestroy(list);
    uint64_t after = now_ns();
    assert_int_equal(calls("zeEventQueryStatus"), queries);
    __atomic_store_n(&busy.may_end, 1, __ATOMIC_RELEASE);
    join_in_time(w, collector);
    assert_no_noted_failure();
    ok(destroyed);
    assert_true(after - before < A_WHILE);
    ok(zt_trace_stop(profiler));
    collect_all(profiler);
    check_identity(profiler);
    assert_int_equal(zt_get_info(profiler).counts.in_flight, 0);
    assert_int_equal(region_info(profiler, "meet").count, 0);
    close_profiler(w, profiler);
    close_rig(&r);
}

/* A sample function destroys the list of a launch that only the collection would read, of which it is part: it does
   not wait for that. */
typedef struct destroyer {
    ze_command_list_handle_t list; /* NULL: none, or destroyed */
    ze_event_handle_t event;       /* of the launch on it */
} destroyer;

static void destroy_list(const zt_sample *sample, void *user) {
    destroyer *me = user;
    (void)sample;
    if (me->list) {
        ok(zeEventHostSynchronize(me->event, A_WHILE));
        ok(zeCommandListDestroy(me->list));
    }
    me->list = NULL;
}

static void test_a_list_that_is_destroyed_in_a_sample_function(void **state) {
    world *w = *state;
    destroyer me = {NULL, NULL};
    rig r = open_concurrent(w);
    zt_config config = config_of(w);
    config.groups = "";
    config.wait_timeout_ns = A_WHILE;
    config.sample = destroy_list;
    config.sample_user = &me;
    zt_profiler *profiler = open_profiler(w, &config);
    ok(zt_trace_start(profiler, NULL));
    ze_event_pool_handle_t pool = create_pool(w, 0);
    me.event = event_in(pool, 0);
    ze_command_list_handle_t first = immediate_of(w, COMPUTE, 0, 0), second = launch_held(&r, me.event);
    append_with(&r, first, 1, 1, LONG, NULL, NULL);
    finish_immediate(w, first);
    me.list = second;
    set_word(&r, GO);
    uint64_t before = now_ns();
    for (uint64_t end = now_ns() + A_WHILE; me.list; nap()) {
        assert_true(now_ns() < end);
        ok(zt_collect(profiler, 0));
    }
    assert_true(now_ns() - before < A_WHILE);
    collect_all(profiler);
    check_identity(profiler);
    assert_int_equal(zt_get_info(profiler).counts.collected + zt_get_info(profiler).counts.lost, 2);
    ok(zt_trace_stop(profiler));
    ok(zeCommandListDestroy(first));
    ok(zeEventDestroy(me.event));
    ok(zeEventPoolDestroy(pool));
    close_profiler(w, profiler);
    close_rig(&r);
}

/* The data of a launch never come, although its event has signalled: its list is destroyed when the wait is over. */
static void test_a_list_whose_launch_is_never_read(void **state) {
    world *w = *state;
    rig r = open_rig(w);
    zt_config config = config_of(w);
    config.groups = "ComputeBasic";
    config.wait_timeout_ns = 1000000;
    zt_profiler *profiler = open_profiler(w, &config);
    ok(zt_trace_start(profiler, NULL));
    ze_event_handle_t event = event_of(&r, 0);
    ze_command_list_handle_t list = immediate_of(w, COMPUTE, 0, 0);
    gpu.behave(SOFTGPU_NEVER_DELIVERED, 1);
    append_with(&r, list, 0, 0, LONG, event, NULL);
    ok(zeEventHostSynchronize(event, A_WHILE));
    finish_immediate(w, list);
    ok(zeCommandListDestroy(list));
    gpu.behave(SOFTGPU_NEVER_DELIVERED, 0);
    assert_counts(profiler, counted(1, 0, 0, 0, 1));
    pass_time(UINT64_C(2000000000));
    zt_collect(profiler, 0);
    pass_time(UINT64_C(2000000000));
    zt_collect(profiler, 0);
    assert_counts(profiler, counted(1, 0, 1, 0, 0));
    assert_int_equal(zt_get_info(profiler).causes[ZT_LOST_NEVER_DELIVERED].count, 1);
    close_rig(&r);
}

/* Likewise a queue that has executed the list. */
static void test_a_queue_is_destroyed_with_the_event_of_its_list(void **state) {
    world *w = *state;
    rig r = open_rig(w);
    zt_profiler *profiler = trace_patiently(w);
    ze_event_pool_handle_t pool =
        create_pool(w, ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP | ZE_EVENT_POOL_FLAG_IPC);
    ze_event_handle_t event = event_in(pool, 0);
    ze_command_queue_handle_t queue = queue_of(w, COMPUTE, 0);
    ze_command_list_handle_t list = recorded_of(w, 0);
    ze_command_list_handle_t next = launch_with_next(&r, list, event, queue);
    ok(zeEventHostSynchronize(event, A_WHILE));
    destroy_early(&r, NULL, queue);
    ok(zeCommandListDestroy(list));
    finish_and_destroy(w, next);
    collect_all(profiler);
    assert_counts(profiler, counted(2, 2, 0, 0, 0));
    ok(zeEventDestroy(event));
    ok(zeEventPoolDestroy(pool));
    close_rig(&r);
}

static void note_event(void *parameters, int result, void *user, void **instance) {
    const ze_command_list_append_launch_kernel_params_t *p = parameters;
    (void)result, (void)instance;
    assert_ptr_equal(*p->phSignalEvent, ((void **)user)[0]);
    ((void **)user)[1] = user;
}

/* The application's callbacks get its own event. */
static void test_hooks_see_the_event_of_the_application(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    zt_trace_config trace = {0};
    void *seen[2] = {NULL, NULL};
    zt_hook hook = {"zeCommandListAppendLaunchKernel", note_event, note_event, seen};
    config.groups = "";
    trace.hooks = &hook;
    trace.hook_count = 1;
    rig r = open_concurrent(w);
    ok(zt_trace_start(open_profiler(w, &config), &trace));
    ze_event_handle_t event = event_of(&r, 0);
    ze_command_list_handle_t list = immediate_of(w, COMPUTE, 0, 0);
    seen[0] = event;
    append_with(&r, list, 0, 0, LONG, event, NULL);
    assert_ptr_equal(seen[1], seen);
    seen[0] = NULL;
    append_plain(&r, list, 0);
    finish_and_destroy(w, list);
    close_rig(&r);
}

/* The driver refuses a pool with the flag that the tracer adds: the application gets its own. */
static void test_a_pool_whose_time_stamps_are_refused(void **state) {
    world *w = *state;
    ze_event_pool_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, NULL, ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 1};
    ze_event_desc_t of_event = {ZE_STRUCTURE_TYPE_EVENT_DESC, NULL, 0, ZE_EVENT_SCOPE_FLAG_HOST, 0};
    ze_group_count_t groups = {WORK_GROUPS, 1, 1};
    ze_event_pool_handle_t pool;
    ze_event_handle_t event;
    ze_command_list_handle_t list;
    zt_profiler *profiler = trace_times(w);
    inject("zeEventPoolCreate", 1, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    ok(zeEventPoolCreate(w->context, &desc, 1, &w->device, &pool));
    ok(zeEventCreate(pool, &of_event, &event));
    create_immediate(w, &list);
    ok(zeCommandListAppendLaunchKernel(list, w->kernel, &groups, event, 0, NULL));
    w->launches++;
    ok(zeEventHostSynchronize(event, A_WHILE));
    finish_immediate(w, list);
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    expect_serialised(profiler, ZT_SERIALISED_NO_STAMPS, 1, "the driver refuses pools with time stamps");
    ok(zeCommandListDestroy(list));
    ok(zeEventDestroy(event));
    ok(zeEventPoolDestroy(pool));
    check_work(w);
}

/* An event that is signalled, and not reset, cannot measure another launch. */
static void test_an_event_that_is_not_reset(void **state) {
    world *w = *state;
    rig r = open_concurrent(w);
    zt_profiler *profiler = trace_times(w);
    ze_event_handle_t event = event_of(&r, 0);
    ze_command_list_handle_t list = immediate_of(w, COMPUTE, 0, 0);
    for (uint32_t i = 0; i < 2; i++) {
        append_with(&r, list, 0, 0, LONG, event, NULL);
        ok(zeEventHostSynchronize(event, A_WHILE));
        finish_immediate(w, list);
        collect_all(profiler);
        expect_serialised(profiler, ZT_SERIALISED_IN_USE, i, "their events were signalled");
    }
    assert_counts(profiler, counted(2, 2, 0, 0, 0));
    ok(zeCommandListDestroy(list));
    close_rig(&r);
}

/* ==== counter-based events ================================================================================ */

/* As the structure and a flag of newer headers. */
typedef struct counter_based_desc {
    ze_structure_type_t stype;
    const void *next;
    uint32_t flags, signal, wait;
} counter_based_desc;

enum { CB_HOST_VISIBLE = 1 << 2, CB_DEVICE_TIMESTAMP = 1 << 4 };

/* A loader that does not know the function is passed by. If it wraps handles, the driver does not know them.
 */
static ze_event_handle_t new_counter_based(world *w, uint32_t flags) {
    counter_based_desc desc = {.flags = flags};
    ze_event_handle_t event;
    ze_result_t (*create)(ze_context_handle_t, ze_device_handle_t, const counter_based_desc *,
                          ze_event_handle_t *);
    *(void **)&create = newer_function("zeEventCounterBasedCreate", "zeGetEventProcAddrTable", 11);
    ze_result_t result = create(w->context, w->device, &desc, &event);
    if (result == ZE_RESULT_ERROR_INVALID_NULL_HANDLE) {
        puts("skipped: this loader has no zeEventCounterBasedCreate, and wraps handles");
        skip();
    }
    ok(result);
    return event;
}

static void signal_counter_based(world *w, uint32_t flags, int is_early) {
    const way in_order = {1, 1};
    need_in_order_lists(w);
    ze_event_handle_t event = new_counter_based(w, CB_HOST_VISIBLE | flags);
    rig r = open_concurrent(w);
    zt_profiler *profiler = trace_times(w);
    if (!is_early) {
        ok(zeEventDestroy(event));
        event = new_counter_based(w, CB_HOST_VISIBLE | flags);
    }
    ze_command_list_handle_t list = create_by(w, &in_order);
    signal_once(&r, &in_order, event);
    clear_words(&r);
    append_with(&r, list, 0, 15, SHORT, event, NULL);
    ok(zeEventHostSynchronize(event, A_WHILE));
    if (flags)
        expect_stamps_of_kernel(w, event);
    finish_and_destroy(w, list);
    collect_all(profiler);
    assert_counts(profiler, counted(2, 2, 0, 0, 0));
    expect_launches(profiler, 2, 0);
    ok(zeEventDestroy(event));
    close_rig(&r);
}

static void test_counter_based_events(void **state) {
    signal_counter_based(*state, 0, 1);
}

static void test_counter_based_events_with_time_stamps(void **state) {
    signal_counter_based(*state, CB_DEVICE_TIMESTAMP, 1);
}

static void test_counter_based_events_after_the_start(void **state) {
    signal_counter_based(*state, 0, 0);
}

static void test_counter_based_events_with_time_stamps_after_the_start(void **state) {
    signal_counter_based(*state, CB_DEVICE_TIMESTAMP, 0);
}

/* ==== what fails ========================================================================================== */

/* A launch that the driver refuses is dropped, and does not signal. */
static void test_a_launch_that_is_refused(void **state) {
    world *w = *state;
    need_in_order_lists(w);
    rig r = open_concurrent(w);
    zt_profiler *profiler = trace_times(w);
    ze_event_handle_t event = event_of(&r, 0);
    const ze_result_t refused = ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    for (uint64_t i = 0; i < WAYS; i++) {
        ze_command_list_handle_t list = create_by(w, &ways[i]);
        gpu.reset_calls();
        inject("zeCommandListAppendLaunchKernel", 1, refused);
        assert_result(zeCommandListAppendLaunchKernel(list, w->kernel, &one_group, event, 0, NULL), refused);
        assert_int_equal(calls("zeCommandListAppendSignalEvent"), 0);
        assert_int_equal(calls("zeCommandListAppendQueryKernelTimestamps"), 0);
        if (ways[i].is_immediate)
            finish_immediate(w, list);
        else
            execute_once(w, list);
        assert_result(zeEventQueryStatus(event), ZE_RESULT_NOT_READY);
        if (ways[i].is_immediate)
            ok(zeCommandListDestroy(list));
        assert_counts(profiler, counted(i + 1, 0, 0, i + 1, 0));
    }
    close_rig(&r);
}

/* The event of the application is signalled all the same. */
static void test_a_signal_that_is_refused(void **state) {
    world *w = *state;
    need_in_order_lists(w);
    rig r = open_concurrent(w);
    zt_profiler *profiler = trace_times(w);
    ze_event_handle_t event = event_of(&r, 0);
    for (uint32_t i = 0; i < WAYS; i++) {
        inject("zeCommandListAppendSignalEvent", 1, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
        inject("zeCommandListAppendQueryKernelTimestamps", 1, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
        signal_once(&r, &ways[i], event);
        ok(zeEventHostReset(event));
        inject("zeCommandListAppendSignalEvent", 0, ZE_RESULT_SUCCESS);
        inject("zeCommandListAppendQueryKernelTimestamps", 0, ZE_RESULT_SUCCESS);
    }
    collect_all(profiler);
    assert_counts(profiler, counted(WAYS, WAYS, 0, 0, 0));
    close_rig(&r);
}

/* Nor does the barrier succeed that would signal it instead: the application learns it. Its command is measured,
   also on a copy engine. */
static void signal_refused(world *w, int is_copy, uint32_t flags, uint32_t is_refused) {
    const ze_result_t refused = is_refused ? ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY : ZE_RESULT_SUCCESS;
    rig r = open_concurrent(w);
    zt_config config = config_of(w);
    zt_trace_config trace = {0};
    config.groups = "";
    trace.copies = 1;
    zt_profiler *profiler = open_profiler(w, &config);
    ok(zt_trace_start(profiler, &trace));
    ze_event_pool_handle_t pool = create_pool(w, ZE_EVENT_POOL_FLAG_IPC);
    ze_event_handle_t event = event_in(pool, 0);
    ze_command_list_handle_t list = immediate_of(w, is_copy ? COPY : COMPUTE, 0, flags);
    inject("zeCommandListAppendSignalEvent", is_refused, refused);
    inject("zeCommandListAppendQueryKernelTimestamps", is_refused, refused);
    inject("zeCommandListAppendBarrier", is_refused, refused);
    w->message_count = 0;
    if (is_copy)
        ok(zeCommandListAppendMemoryCopy(list, &r.words[4], &r.words[5], sizeof *r.words, event, 0, NULL));
    else
        append_with(&r, list, 0, 0, LONG, event, NULL);
    inject("zeCommandListAppendSignalEvent", 0, ZE_RESULT_SUCCESS);
    inject("zeCommandListAppendQueryKernelTimestamps", 0, ZE_RESULT_SUCCESS);
    assert_int_equal(heard(w, "zeCommandListAppendBarrier failed"), is_refused);
    assert_int_equal(heard(w, "An event of the application will not be signalled."), is_refused);
    finish_and_destroy(w, list);
    assert_result(zeEventQueryStatus(event), is_refused ? ZE_RESULT_NOT_READY : ZE_RESULT_SUCCESS);
    collect_all(profiler);
    check_identity(profiler);
    assert_int_equal(zt_get_info(profiler).counts.lost + zt_get_info(profiler).counts.dropped, 0);
    assert_int_equal(region_info(profiler, is_copy ? "MemoryCopy" : "meet").time_ns.count, 1);
    ok(zeEventDestroy(event));
    ok(zeEventPoolDestroy(pool));
    close_profiler(w, profiler);
    close_rig(&r);
}

static void test_an_event_that_cannot_be_signalled(void **state) {
    need_in_order_lists(*state);
    for (uint32_t is_refused = 0; is_refused < 2; is_refused++) {
        signal_refused(*state, 0, QUEUE_IN_ORDER, is_refused);
    }
}

/* Reading its time stamps fails again and again: the sample is lost, by its cause. */
static void test_time_stamps_that_cannot_be_read(void **state) {
    world *w = *state;
    zt_profiler *profiler = trace_times(w);
    ze_command_list_handle_t list = immediate_of(w, COMPUTE, 0, 0);
    launch(w, list);
    finish_immediate(w, list);
    for (int i = 0; i < 4; i++) { /* not two failures alone, however far apart */
        assert_counts(profiler, counted(1, 0, 0, 0, 1));
        inject("zeEventQueryKernelTimestamp", 1, ZE_RESULT_ERROR_UNKNOWN);
        ok(zt_collect(profiler, 0));
        pass_time(UINT64_C(1000000000));
    }
    assert_counts(profiler, counted(1, 0, 1, 0, 0));
    assert_int_equal(zt_get_info(profiler).causes[ZT_LOST_READ_FAILED].count, 1);
    ok(zeCommandListDestroy(list));
    check_work(w);
}

/* The profiler is closed while a kernel runs: the event is signalled, whatever way it would have been. */
static void close_while_a_kernel_runs(world *w, ze_event_pool_flags_t flags) {
    need_in_order_lists(w);
    rig r = open_concurrent(w);
    for (uint32_t i = 0; i < WAYS; i++) {
        zt_config config = config_of(w);
        config.groups = "";
        config.wait_timeout_ns = 1000000;
        zt_profiler *profiler = open_profiler(w, &config);
        ok(zt_trace_start(profiler, NULL));
        ze_event_pool_handle_t pool = create_pool(w, flags);
        ze_event_handle_t event = event_in(pool, 0);
        ze_command_queue_handle_t queue = queue_of(w, COMPUTE, 0);
        ze_command_list_handle_t list = create_by(w, &ways[i]);
        clear_words(&r);
        append_with(&r, list, 0, GO, LONG, event, NULL);
        submit(&ways[i], queue, list);
        await_word(&r, 0);
        close_profiler(w, profiler);
        assert_result(zeEventQueryStatus(event), ZE_RESULT_NOT_READY);
        set_word(&r, GO);
        ok(zeEventHostSynchronize(event, A_WHILE));
        assert_int_equal(word(&r, 0), MET);
        ok(zeCommandQueueSynchronize(queue, A_WHILE));
        if (ways[i].is_immediate)
            finish_immediate(w, list);
        ok(zeCommandListDestroy(list));
        ok(zeCommandQueueDestroy(queue));
        ok(zeEventDestroy(event));
        ok(zeEventPoolDestroy(pool));
    }
    assert_int_equal(gpu.findings(), 0);
    close_rig(&r);
}

static void test_closed_while_a_kernel_runs(void **state) {
    close_while_a_kernel_runs(*state, 0);
}

/* On a list that is in order, a signal of an event of the library follows. */
static void test_closed_while_a_kernel_with_time_stamps_runs(void **state) {
    close_while_a_kernel_runs(*state, ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
}

/* The profiler is closed while a call that appends a launch is in the driver, until the kernel has ended: the event of
   the application is signalled by a barrier, if the driver refuses what should do it; or not, if it refuses that as
   well. */
typedef struct blocking_launch {
    ze_command_list_handle_t list;
    ze_kernel_handle_t kernel;
    ze_event_handle_t event;
} blocking_launch;

static void *launch_blocking(void *argument) {
    const blocking_launch *launch = argument;
    ok_on_thread(
        zeCommandListAppendLaunchKernel(launch->list, launch->kernel, &one_group, launch->event, 0, NULL));
    return NULL;
}

static void test_closed_while_a_launch_is_appended(void **state) {
    const ze_result_t refused = ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    world *w = *state;
    rig r = open_concurrent(w);
    ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                    .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    for (uint32_t refusals = 0; refusals < 1; refusals++) {
        zt_config config = config_of(w);
        pthread_t other;
        config.groups = "";
        config.wait_timeout_ns = 1000000;
        zt_profiler *profiler = open_profiler(w, &config);
        ok(zt_trace_start(profiler, NULL));
        ze_event_pool_handle_t pool = create_pool(w, ZE_EVENT_POOL_FLAG_IPC);
        blocking_launch launch = {NULL, meeting(&r, 0, GO, LONG), event_in(pool, 0)};
        ok(zeCommandListCreateImmediate(w->context, w->device, &desc, &launch.list));
        clear_words(&r);
        assert_int_equal(pthread_create(&other, NULL, launch_blocking, &launch), 0);
        await_word(&r, 0);
        close_profiler(w, profiler);
        w->message_count = 0;
        inject("zeCommandListAppendQueryKernelTimestamps", refusals > 0, refused);
        inject("zeCommandListAppendBarrier", refusals > 1, refused);
        set_word(&r, GO);
        join_in_time(w, other);
        assert_no_noted_failure();
        assert_int_equal(word(&r, 0), MET);
        assert_result(zeEventQueryStatus(launch.event),
                      refusals > 1 ? ZE_RESULT_NOT_READY : ZE_RESULT_SUCCESS);
        assert_int_equal(w->message_count, 0);
        inject("zeCommandListAppendBarrier", 0, ZE_RESULT_SUCCESS);
        ok(zeCommandListDestroy(launch.list));
        ok(zeKernelDestroy(launch.kernel));
        ok(zeEventDestroy(launch.event));
        ok(zeEventPoolDestroy(pool));
    }
    close_rig(&r);
}

/* On a list that is in order, a signal of an event of the library follows when the call returns. */
static void test_closed_while_a_launch_with_time_stamps_is_appended(void **state) {
    world *w = *state;
    need_in_order_lists(w);
    rig r = open_concurrent(w);
    ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                    .flags = QUEUE_IN_ORDER,
                                    .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    zt_config config = config_of(w);
    pthread_t other;
    config.groups = "";
    config.wait_timeout_ns = 1000000;
    zt_profiler *profiler = open_profiler(w, &config);
    ok(zt_trace_start(profiler, NULL));
    ze_event_pool_handle_t pool = create_pool(w, ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
    blocking_launch launch = {NULL, meeting(&r, 0, GO, LONG), event_in(pool, 0)};
    ok(zeCommandListCreateImmediate(w->context, w->device, &desc, &launch.list));
    assert_int_equal(pthread_create(&other, NULL, launch_blocking, &launch), 0);
    await_word(&r, 0);
    close_profiler(w, profiler);
    gpu.reset_calls();
    set_word(&r, GO);
    join_in_time(w, other);
    assert_no_noted_failure();
    assert_int_equal(calls("zeCommandListAppendSignalEvent"), 1);
    assert_int_equal(calls("zeCommandListAppendBarrier"), 0); /* as if the driver had refused the event */
    assert_int_equal(gpu.findings(), 0);
    finish_immediate(w, launch.list);
    assert_int_equal(word(&r, 0), MET);
    ok(zeEventQueryStatus(launch.event));
    ok(zeCommandListDestroy(launch.list));
    ok(zeKernelDestroy(launch.kernel));
    ok(zeEventDestroy(launch.event));
    ok(zeEventPoolDestroy(pool));
    close_rig(&r);
}

/* A call of another thread, which ends when the stop has given up a launch and observes no more calls. */
typedef struct late_call {
    world *w;
    atomic_int has_begun;
} late_call;

static void end_late(void *parameters, int result, void *user, void **instance) {
    late_call *call = user;
    uint64_t before = calls(NULL), looks = calls("zeDriverGet");
    (void)parameters, (void)result, (void)instance;
    atomic_store(&call->has_begun, 1);
    while (calls(NULL) == before)
        nap(); /* the stop has not looked for the launch yet */
    pass_time(A_WHILE);
    for (int n = 0; n < 100 && calls("zeDriverGet") == looks; n++)
        nap(); /* when it observes no more calls, it looks whether callbacks come */
    for (int n = 0; n < 20; n++)
        nap();
}

static void *call_late(void *argument) {
    late_call *call = argument;
    ok_on_thread(zeDeviceGetStatus(call->w->device));
    return NULL;
}

/* The stop has waited for a launch as long as it may: it still waits for the call, which is about to end. */
static void test_stopped_with_a_call_that_is_about_to_end(void **state) {
    world *w = *state;
    late_call call = {w, 0};
    zt_config config = config_of(w);
    zt_trace_config trace = {0};
    zt_hook hook = {"zeDeviceGetStatus", NULL, end_late, &call};
    pthread_t other;
    config.groups = "";
    config.wait_timeout_ns = A_WHILE;
    trace.hooks = &hook;
    trace.hook_count = 1;
    rig r = open_concurrent(w);
    zt_profiler *profiler = open_profiler(w, &config);
    ok(zt_trace_start(profiler, &trace));
    ze_event_handle_t event = event_of(&r, 0);
    ze_command_list_handle_t list = launch_held(&r, event);
    assert_int_equal(pthread_create(&other, NULL, call_late, &call), 0);
    while (!atomic_load(&call.has_begun))
        nap();
    ze_result_t stopped = zt_trace_stop(profiler);
    assert_int_equal(pthread_join(other, NULL), 0);
    set_word(&r, GO);
    finish_and_destroy(w, list);
    assert_no_noted_failure();
    assert_result(stopped, ZE_RESULT_SUCCESS);
    expect_lost_event(profiler, 1, 0);
    close_rig(&r);
}

static void *stop_tracing(void *profiler) {
    ok(zt_trace_stop(profiler));
    return NULL;
}

/* Commands of the library follow a launch that metrics measure. While another thread stops tracing, the
   application destroys the list as soon as its event is signalled. */
static void test_stopped_while_a_kernel_runs(void **state) {
    world *w = *state;
    rig r = open_concurrent(w);
    ze_event_handle_t event = event_of(&r, 0);
    zt_config config = config_of(w);
    zt_profiler *profiler = open_profiler(w, &config);
    for (int i = 0; i < OFTEN(200); i++) {
        pthread_t other;
        ok(zt_trace_start(profiler, NULL));
        ze_command_list_handle_t list = immediate_of(w, COMPUTE, 1, 0);
        clear_words(&r);
        append_with(&r, list, 0, GO, LONG, event, NULL);
        await_word(&r, 0);
        assert_int_equal(pthread_create(&other, NULL, stop_tracing, profiler), 0);
        for (int n = i % 3; n > 0; n--)
            nap();
        set_word(&r, GO);
        ok(zeEventHostSynchronize(event, A_WHILE));
        ok(zeCommandListDestroy(list));
        ok(zeEventHostReset(event));
        assert_int_equal(pthread_join(other, NULL), 0);
    }
    collect_all(profiler);
    assert_counts(profiler, counted(OFTEN(200), OFTEN(200), 0, 0, 0));
    close_rig(&r);
}

/* Executes a list again before the first execution has ended, for which nobody waits: then the time stamps of the
   first may be overwritten, and no time is made of them. */
static void overwrite_execution(rig *r, zt_profiler *profiler, ze_command_queue_handle_t queue,
                                ze_command_list_handle_t list, ze_event_handle_t event) {
    append_with(r, list, 0, GO, LONG, event, NULL);
    ok(zeCommandListClose(list));
    ok(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    await_word(r, 0);
    ok(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    set_word(r, GO);
    ok(zeCommandQueueSynchronize(queue, A_WHILE));
    collect_all(profiler);
    assert_counts(profiler, counted(2, 1, 1, 0, 0));
    assert_int_equal(zt_get_info(profiler).causes[ZT_LOST_OVERWRITTEN].count, 1);
}

static void test_executions_that_are_overwritten(void **state) {
    world *w = *state;
    rig r = open_concurrent(w);
    zt_profiler *profiler = trace_patiently(w);
    ze_command_queue_handle_t queue = queue_of(w, COMPUTE, 0);
    ze_command_list_handle_t list = recorded_of(w, 0);
    overwrite_execution(&r, profiler, queue, list, NULL);
    ok(zeCommandListReset(list));
    append_plain(&r, list, 1);
    execute_once(w, list);
    collect_all(profiler);
    assert_counts(profiler, counted(3, 2, 1, 0, 0));
    ok(zeCommandQueueDestroy(queue));
    close_rig(&r);
}

/* The same where the launch signals an event of the application, by which it is measured: nothing is concluded from
   that event before the second execution, as the first may signal it at any moment. */
static void test_executions_that_are_overwritten_with_an_event(void **state) {
    world *w = *state;
    rig r = open_concurrent(w);
    zt_profiler *profiler = trace_patiently(w);
    ze_event_handle_t event = event_of(&r, 0);
    ze_command_queue_handle_t queue = queue_of(w, COMPUTE, 0);
    ze_command_list_handle_t list = recorded_of(w, 0);
    overwrite_execution(&r, profiler, queue, list, event);
    ok(zeEventHostReset(event));
    execute_on(queue, list);
    collect_all(profiler);
    assert_counts(profiler, counted(3, 2, 1, 0, 0));
    ok(zeCommandListDestroy(list));
    ok(zeCommandQueueDestroy(queue));
    close_rig(&r);
}

/* The third execution is appended to an immediate list, so that no queue shows when all have ended: none is measured,
   until the list is recorded anew. */
static void test_executions_that_overlap_on_an_immediate_list(void **state) {
    append_lists append_to = NULL;
    *(void **)&append_to = dlsym(RTLD_DEFAULT, "zeCommandListImmediateAppendCommandListsExp");
    if (!append_to)
        skip();
    world *w = *state;
    rig r = open_concurrent(w);
    zt_profiler *profiler = trace_patiently(w);
    ze_command_queue_handle_t queue = queue_of(w, COMPUTE, 0);
    ze_command_list_handle_t list = recorded_of(w, 0), immediate = immediate_of(w, COMPUTE, 0, 0);
    append_meeting(&r, list, 0, GO, LONG);
    ok(zeCommandListClose(list));
    ok(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    await_word(&r, 0);
    ok(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    ok(append_to(immediate, 1, &list, NULL, 0, NULL));
    set_word(&r, GO);
    finish_and_destroy(w, immediate);
    ok(zeCommandQueueSynchronize(queue, A_WHILE));
    collect_all(profiler);
    assert_counts(profiler, counted(3, 0, 3, 0, 0));
    assert_int_equal(zt_get_info(profiler).causes[ZT_LOST_OVERWRITTEN].count, 3);
    ok(zeCommandListReset(list));
    append_plain(&r, list, 1);
    execute_once(w, list);
    collect_all(profiler);
    assert_counts(profiler, counted(4, 1, 3, 0, 0));
    ok(zeCommandQueueDestroy(queue));
    close_rig(&r);
}

/* The immediate list shows when all that was appended to it has ended: the last of those that overlapped is measured,
   and each after it. */
static void test_executions_after_those_that_overlap_on_an_immediate_list(void **state) {
    append_lists append_to = NULL;
    ze_result_t (*synchronize)(ze_command_list_handle_t, uint64_t) = NULL;
    *(void **)&append_to = dlsym(RTLD_DEFAULT, "zeCommandListImmediateAppendCommandListsExp");
    *(void **)&synchronize = dlsym(RTLD_DEFAULT, "zeCommandListHostSynchronize");
    if (!append_to || !synchronize)
        skip();
    world *w = *state;
    rig r = open_concurrent(w);
    zt_profiler *profiler = trace_patiently(w);
    ze_command_list_handle_t list = recorded_of(w, 0), immediate = immediate_of(w, COMPUTE, 0, 0);
    append_meeting(&r, list, 0, GO, LONG);
    ok(zeCommandListClose(list));
    ok(append_to(immediate, 1, &list, NULL, 0, NULL));
    await_word(&r, 0);
    ok(append_to(immediate, 1, &list, NULL, 0, NULL));
    set_word(&r, GO);
    for (int i = 0; i < 3; i++) {
        ok(synchronize(immediate, A_WHILE));
        collect_all(profiler);
        ok(append_to(immediate, 1, &list, NULL, 0, NULL));
    }
    finish_and_destroy(w, immediate);
    collect_all(profiler);
    assert_counts(profiler, counted(5, 4, 1, 0, 0));
    ok(zeCommandListDestroy(list));
    close_rig(&r);
}

/* The event of a launch does not show which of two executions has ended. The last is measured when their
   queue is idle, as are those that follow. */
static void test_executions_after_those_that_overlap(void **state) {
    world *w = *state;
    need_in_order_lists(w);
    for (uint32_t flags = 0; flags <= LIST_IN_ORDER; flags += LIST_IN_ORDER) {
        zt_profiler *profiler = trace_times(w);
        ze_command_list_handle_t list = recorded_of(w, flags);
        launch(w, list);
        launch(w, list);
        ok(zeCommandListClose(list));
        const ze_command_list_handle_t twice[] = {list, list};
        ok(zeCommandQueueExecuteCommandLists(w->queue, 2, (ze_command_list_handle_t *)twice, NULL));
        finish_queue(w);
        for (int i = 0; i < 3; i++)
            execute_unprofiled(w, list);
        w->launches += 2 * 4;
        collect_all(profiler);
        assert_counts(profiler, counted(10, 8, 2, 0, 0));
        ok(zeCommandListDestroy(list));
        close_profiler(w, profiler);
    }
    check_work(w);
}

/* ==== clocks ============================================================================================== */

/* A kernel that waits for the host, whose time therefore lies between two that the host measures. `now` is
   what the clock of kernels shows while it runs: just after it has wrapped around to 0. */
static void expect_time(world *w, uint32_t bits, uint64_t rate, uint32_t groups) {
    gpu.set_timestamps(36, rate);
    gpu.set_kernel_clock(bits, 0);
    rig r = open_concurrent(w);
    zt_profiler *profiler = trace_times(w);
    ze_command_list_handle_t list = immediate_of(w, COMPUTE, 0, 0);
    ze_kernel_handle_t kernel = meeting(&r, 0, GO, LONG);
    ze_group_count_t count = {groups, 1, 1};
    uint64_t before = now_ns();
    ok(zeCommandListAppendLaunchKernel(list, kernel, &count, NULL, 0, NULL));
    await_word(&r, 0);
    uint64_t inside = now_ns();
    gpu.set_kernel_clock(bits, 0);
    for (int i = 0; i < 3; i++)
        nap();
    double least = (double)(now_ns() - inside);
    set_word(&r, GO);
    finish_and_destroy(w, list);
    double most = (double)(now_ns() - before), tick = 1e9 / (double)rate;
    ok(zeKernelDestroy(kernel));
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    double time = region_info(profiler, "meet").time_ns.mean;
    assert_true(time >= least * (1 - 1e-6) - tick && time <= most * (1 + 1e-6) + tick);
    close_profiler(w, profiler);
    close_rig(&r);
}

static void test_clocks_that_wrap(void **state) {
    const uint32_t bits[] = {32, 36, 64};
    const uint64_t rates[] = {1000000000, 19200000, 12500000};
    for (int b = 0; b < 3; b++)
        for (int i = 0; i < 3; i++)
            expect_time((world *)*state, bits[b], rates[i], 1);
}

static void test_each_tile_has_a_time_stamp(void **state) {
    gpu.set_devices(1, 2);
    gpu.reset_calls();
    expect_time((world *)*state, 32, 19200000, 2);
    if (dlsym(RTLD_DEFAULT, "zeEventQueryTimestampsExp"))
        assert_true(calls("zeEventQueryTimestampsExp") > 0);
}

/* Time stamps of tiles, from the earliest begin to the latest end; or those of the whole, if there are none of
   tiles. A nanosecond has a tick here. */
static void test_time_stamps_of_tiles(void **state) {
    static const struct {
        tile_stamps told;
        double longer; /* in ticks, than the kernel was by its own time stamps */
    } cases[] = {
        {ONE_AFTER_ANOTHER, 1000},
        {ONE_BEFORE_ANOTHER, 1000},
        {MANY_TILES, 1000},
        {NO_TILE, 0},
    };
    world *w = *state;
    gpu.set_timestamps(36, 1000000000);
    gpu.set_devices(1, 2);
    gpu.set_kernel_clock(32, 0);
    replace_symbol("zeEventQueryTimestampsExp", (any_function)query_tiles);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        zt_profiler *profiler = trace_times(w);
        ze_command_list_handle_t list = immediate_of(w, COMPUTE, 0, 0);
        tiles_of_event = cases[i].told;
        launch(w, list);
        finish_and_destroy(w, list);
        collect_all(profiler);
        assert_counts(profiler, counted(1, 1, 0, 0, 0));
        assert_close(region_info(profiler, "saxpy").time_ns.mean, ticks_of_event + cases[i].longer);
        close_profiler(w, profiler);
    }
    check_work(w);
}

/* A query that fails for long loses the sample. */
static void test_time_stamps_of_tiles_that_cannot_be_read(void **state) {
    world *w = *state;
    gpu.set_devices(1, 2);
    replace_symbol("zeEventQueryTimestampsExp", (any_function)query_tiles);
    zt_profiler *profiler = trace_times(w);
    ze_command_list_handle_t list = immediate_of(w, COMPUTE, 0, 0);
    tiles_of_event = UNKNOWN_TILES;
    launch(w, list);
    finish_immediate(w, list);
    for (int i = 0; i < 4; i++) {
        ok(zt_collect(profiler, 0));
        pass_time(UINT64_C(1000000000));
    }
    assert_counts(profiler, counted(1, 0, 1, 0, 0));
    assert_int_equal(zt_get_info(profiler).causes[ZT_LOST_READ_FAILED].count, 1);
    assert_contains(zt_get_info(profiler).error, "saxpy");
    ok(zeCommandListDestroy(list));
    check_work(w);
}

/* The kernel is where it ran. A clock of its own is related to the device's within the time that a command
   takes; what would go wrong is larger. */
static void expect_place(world *w, uint32_t bits, uint64_t now) {
    const double error = 500e6;
    zt_config config = config_of(w);
    double begin, end;
    gpu.set_timestamps(36, 1000000000);
    gpu.set_kernel_clock(bits, now);
    config.groups = "";
    config.timeline = 16;
    rig r = open_concurrent(w);
    zt_profiler *profiler = open_profiler(w, &config);
    ok(zt_trace_start(profiler, NULL));
    ze_command_list_handle_t list = immediate_of(w, COMPUTE, 0, 0);
    double before = (double)now_ns();
    append_meeting(&r, list, 0, GO, LONG);
    await_word(&r, 0);
    nap();
    set_word(&r, GO);
    finish_and_destroy(w, list);
    double after = (double)now_ns();
    collect_all(profiler);
    assert_int_equal(zt_get_timeline(profiler).lost_samples, 0);
    find_span(profiler, "meet", &begin, &end);
    assert_true(begin >= before - error && end <= after + error && end > begin);
    close_profiler(w, profiler);
    close_rig(&r);
}

static void test_the_place_of_a_kernel_on_the_timeline(void **state) {
    NOT_ON_WINDOWS("no Python there that reads the trace");
    world *w = *state;
    expect_place(w, 0, 0);
    expect_place(w, 32, 0);
    expect_place(w, 32, UINT32_C(1) << 31);
    expect_place(w, 32, UINT32_MAX - 500000); /* it wraps soon */
    expect_place(w, 64, UINT64_C(1) << 60);
}

/* ==== copies ============================================================================================== */

/* Copy engines have events, too. */
static void test_copies_and_fills(void **state) {
    world *w = *state;
    rig r = open_concurrent(w);
    zt_config config = config_of(w);
    zt_trace_config trace = {0};
    const uint32_t one = 1;
    config.groups = "";
    trace.copies = 1;
    zt_profiler *profiler = open_profiler(w, &config);
    ok(zt_trace_start(profiler, &trace));
    ze_event_handle_t event = event_of(&r, 0);
    ze_command_list_handle_t kernels = immediate_of(w, COMPUTE, 0, 0), copies = immediate_of(w, COPY, 0, 0);
    append_meeting(&r, kernels, 0, 4, LONG);
    append_meeting(&r, kernels, 1, 5, LONG);
    gpu.reset_calls();
    ok(zeCommandListAppendMemoryCopy(copies, &r.words[4], &one, sizeof one, event, 0, NULL));
    assert_int_equal(calls("zeCommandListAppendQueryKernelTimestamps"), 0); /* it is a kernel itself */
    ok(zeCommandListAppendMemoryFill(copies, &r.words[5], &one, sizeof one, sizeof one, NULL, 1, &event));
    ok(zeEventHostSynchronize(event, A_WHILE));
    finish_and_destroy(w, kernels);
    finish_and_destroy(w, copies);
    expect_met(&r);
    collect_all(profiler);
    assert_int_equal(region_info(profiler, "MemoryCopy").time_ns.count, 1);
    assert_int_equal(region_info(profiler, "MemoryFill").time_ns.count, 1);
    assert_int_equal(zt_get_info(profiler).launches.serialised, 0);
    close_rig(&r);
}

/* Barriers, which have an event; and waits, which have none, so that they are measured where they are in
   order: as long as the list waits. */
static void test_barriers_and_waits(void **state) {
    world *w = *state;
    need_in_order_lists(w);
    zt_config config = config_of(w);
    zt_trace_config trace = {0};
    config.groups = "";
    trace.copies = 1;
    rig r = open_concurrent(w);
    zt_profiler *profiler = open_profiler(w, &config);
    ok(zt_trace_start(profiler, &trace));
    ze_event_pool_handle_t pool = create_pool(w, 0);
    ze_event_handle_t go = event_in(pool, 0), done = event_in(pool, 1);
    ze_command_list_handle_t in_order = immediate_of(w, COMPUTE, 0, QUEUE_IN_ORDER);
    ze_command_list_handle_t other = immediate_of(w, COMPUTE, 1, 0);
    const size_t size = sizeof *r.words;
    const void *range = r.words;
    append_plain(&r, in_order, 0);
    ok(zeCommandListAppendWaitOnEvents(in_order, 1, &go));
    ok(zeCommandListAppendMemoryRangesBarrier(in_order, 1, &size, &range, NULL, 0, NULL));
    ok(zeCommandListAppendBarrier(in_order, done, 0, NULL));
    await_word(&r, 0);
    nap();
    ok(zeEventHostSignal(go));
    ok(zeEventHostSynchronize(done, A_WHILE));
    ok(zeEventHostReset(done));
    ok(zeCommandListAppendWaitOnEvents(other, 1, &go));
    ok(zeCommandListAppendBarrier(other, done, 0, NULL));
    ok(zeEventHostSynchronize(done, A_WHILE));
    ok(zt_trace_stop(profiler));
    finish_and_destroy(w, in_order);
    finish_and_destroy(w, other);
    collect_all(profiler);
    zt_trace_counts counts = zt_get_info(profiler).launches;
    assert_int_equal(counts.launches, 6);
    assert_int_equal(counts.elsewhere, 1); /* the wait that is not in order */
    assert_int_equal(counts.serialised, 0);
    assert_int_equal(region_info(profiler, "Barrier").count, 2);
    assert_int_equal(region_info(profiler, "MemoryRangesBarrier").count, 1);
    assert_int_equal(region_info(profiler, "WaitOnEvents").count, 1);
    expect_unmeasured(
        profiler, ZT_UNMEASURED_OUT_OF_ORDER, 1,
        "could not be measured, because they are barriers and waits on lists that are not in order");
    assert_true(region_info(profiler, "WaitOnEvents").time_ns.mean > 0);
    ok(zeEventDestroy(go));
    ok(zeEventDestroy(done));
    ok(zeEventPoolDestroy(pool));
    close_rig(&r);
}

/* ==== any order of all this =============================================================================== */

enum { JOBS = 8, STEPS = 60 };

/* A kernel in flight, on an immediate list. */
typedef struct job {
    ze_event_handle_t event, signal; /* its own, and the one that it signals: that or none */
    ze_command_list_handle_t list;   /* NULL: it is idle */
    int waits_for;                   /* another job, or -1 */
} job;

typedef struct model {
    rig r;
    zt_profiler *profiler;
    uint64_t random, ran;
    uint64_t may_be_lost; /* launches whose event a list resets, or nobody has reset before */
    job jobs[JOBS];
    ze_command_list_handle_t immediate[4], recorded[2];
    ze_command_queue_handle_t queue;
    ze_event_pool_handle_t plain, stamped, shared;
    ze_event_handle_t of_recorded[2];
    int is_reset_in_list[2], is_signalled[2]; /* the event of a recorded list */
    double longest, most;
} model;

static uint32_t below(model *m, uint32_t limit) {
    m->random = m->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(m->random >> 33) % limit;
}

static void note_sample(const zt_sample *sample, void *user) {
    model *m = user;
    assert_string_equal(sample->name, "meet");
    if (sample->gpu_time_ns > m->longest)
        m->longest = sample->gpu_time_ns;
}

static ze_event_handle_t event_of_job(const model *m, uint32_t index) {
    return index < 4   ? event_in(m->plain, index)
           : index < 6 ? event_in(m->stamped, index)
                       : event_in(m->shared, index);
}

/* On the host, in a list, or by destroying it. */
static void reset_event(model *m, uint32_t index) {
    job *j = &m->jobs[index];
    ze_command_list_handle_t list = m->immediate[below(m, 4)];
    switch (below(m, 4)) {
    case 0:
        m->may_be_lost++;
        ok(zeCommandListAppendEventReset(list, j->event));
        finish_immediate(m->r.w, list);
        break;
    case 1:
        ok(zeEventDestroy(j->event));
        j->event = event_of_job(m, index);
        break;
    default:
        ok(zeEventHostReset(j->event));
        break;
    }
}

/* Whoever waits for a job ends before its event is reset. When an event is seen, the kernel has ended. */
static void end_job(model *m, int index) {
    job *j = &m->jobs[index];
    if (!j->list)
        return;
    for (int i = 0; i < JOBS; i++)
        if (m->jobs[i].list && m->jobs[i].waits_for == index)
            end_job(m, i);
    if (j->signal) {
        ok(zeEventHostSynchronize(j->signal, A_WHILE));
        assert_int_equal(word(&m->r, (uint32_t)index), MET);
        reset_event(m, (uint32_t)index);
    } else {
        finish_immediate(m->r.w, j->list);
        assert_int_equal(word(&m->r, (uint32_t)index), MET);
    }
    j->list = NULL;
}

static void begin_job(model *m, int index) {
    job *j = &m->jobs[index];
    int other = (int)below(m, JOBS);
    end_job(m, index);
    m->r.words[index] = NOTHING;
    j->list = m->immediate[below(m, 4)];
    j->signal = below(m, 3) ? j->event : NULL;
    j->waits_for = other != index && m->jobs[other].list && m->jobs[other].signal && below(m, 2) ? other : -1;
    append_with(&m->r, j->list, (uint32_t)index, (uint32_t)index, LONG, j->signal,
                j->waits_for < 0 ? NULL : m->jobs[other].signal);
    m->ran++;
}

/* A recorded list has one kernel with an event and one without. The list may reset the event, or the host, or
   nobody. */
static void execute_recorded(model *m, uint32_t index) {
    ze_event_handle_t event = m->of_recorded[index];
    m->may_be_lost += m->is_reset_in_list[index] || m->is_signalled[index];
    ok(zeCommandQueueExecuteCommandLists(m->queue, 1, &m->recorded[index], NULL));
    if (!m->is_reset_in_list[index] && !m->is_signalled[index]) {
        ok(zeEventHostSynchronize(event, A_WHILE));
        assert_int_equal(word(&m->r, 10 + index), MET);
    }
    ok(zeCommandQueueSynchronize(m->queue, A_WHILE));
    assert_int_equal(word(&m->r, 10 + index), MET);
    m->is_signalled[index] = !m->is_reset_in_list[index];
    assert_result(zeEventQueryStatus(event),
                  m->is_signalled[index] ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY);
    if (m->is_signalled[index] && below(m, 2)) {
        ok(zeEventHostReset(event));
        m->is_signalled[index] = 0;
    }
    m->r.words[10 + index] = NOTHING;
    m->ran += 2;
}

static void record_anew(model *m, uint32_t index) {
    ze_command_list_handle_t list = m->recorded[index];
    ok(zeCommandListReset(list));
    if (m->of_recorded[index] && below(m, 2)) {
        ok(zeEventDestroy(m->of_recorded[index]));
        m->of_recorded[index] = NULL;
    }
    if (!m->of_recorded[index])
        m->of_recorded[index] = event_in(below(m, 2) ? m->plain : m->stamped, 8 + index);
    ok(zeEventHostReset(m->of_recorded[index]));
    m->is_signalled[index] = 0;
    m->is_reset_in_list[index] = below(m, 2) == 0;
    append_plain(&m->r, list, 12);
    append_with(&m->r, list, 10 + index, 12, LONG, m->of_recorded[index], NULL);
    if (m->is_reset_in_list[index]) {
        ok(zeCommandListAppendBarrier(list, NULL, 0, NULL));
        ok(zeCommandListAppendEventReset(list, m->of_recorded[index]));
    }
    ok(zeCommandListClose(list));
}

static void take_steps(model *m) {
    for (int i = 0; i < STEPS; i++) {
        switch (below(m, 8)) {
        case 0:
            execute_recorded(m, below(m, 2));
            break;
        case 1:
            record_anew(m, below(m, 2));
            break;
        case 2:
            ok(zt_collect(m->profiler, 0));
            break;
        case 3:
            end_job(m, (int)below(m, JOBS));
            break;
        default:
            begin_job(m, (int)below(m, JOBS));
            break;
        }
    }
    for (int i = 0; i < JOBS; i++)
        end_job(m, i);
}

static void run_model(world *w, uint64_t seed) {
    model m = {.random = seed, .r = open_concurrent(w)};
    zt_config config = config_of(w);
    config.groups = "";
    config.sample = note_sample;
    config.sample_user = &m;
    config.probes_per_step = 4;
    if (!getenv("ZEL_ENABLE_EVENTS_CHECKER")) /* which is not thread-safe */
        config.thread = below(&m, 2) == 0;
    uint64_t begun = now_ns();
    m.profiler = open_profiler(w, &config);
    ok(zt_trace_start(m.profiler, NULL));
    m.plain = create_pool(w, 0);
    m.stamped = create_pool(w, ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
    m.shared = create_pool(w, ZE_EVENT_POOL_FLAG_IPC);
    m.queue = queue_of(w, COMPUTE, 0);
    for (uint32_t i = 0; i < 4; i++)
        m.immediate[i] = immediate_of(w, COMPUTE, i % 2, i < 2 ? QUEUE_IN_ORDER : 0);
    for (uint32_t i = 0; i < JOBS; i++)
        m.jobs[i].event = event_of_job(&m, i);
    for (uint32_t i = 0; i < 2; i++) {
        m.recorded[i] = recorded_of(w, i ? LIST_IN_ORDER : 0);
        record_anew(&m, i);
    }
    take_steps(&m);
    m.most = (double)(now_ns() - begun);
    for (uint32_t i = 0; i < 2; i++)
        ok(zeCommandListDestroy(m.recorded[i]));
    for (uint32_t i = 0; i < 4; i++)
        ok(zeCommandListDestroy(m.immediate[i]));
    collect_all(m.profiler);
    zt_info info = zt_get_info(m.profiler);
    assert_int_equal(info.causes[ZT_LOST_EVENT].count, info.counts.lost);
    assert_true(info.counts.lost <= m.may_be_lost);
    assert_counts(m.profiler, counted(m.ran, m.ran - info.counts.lost, info.counts.lost, 0, 0));
    assert_true(m.longest <= m.most);
    close_profiler(w, m.profiler);
    for (uint32_t i = 0; i < JOBS; i++)
        ok(zeEventDestroy(m.jobs[i].event));
    for (uint32_t i = 0; i < 2; i++)
        ok(zeEventDestroy(m.of_recorded[i]));
    ok(zeCommandQueueDestroy(m.queue));
    ok(zeEventPoolDestroy(m.plain));
    ok(zeEventPoolDestroy(m.stamped));
    ok(zeEventPoolDestroy(m.shared));
    close_rig(&m.r);
}

static void test_any_order(void **state) {
    need_in_order_lists(*state);
    for (uint64_t seed = 1; seed <= OFTEN(40); seed++)
        run_model(*state, seed);
}

/* ========================================================================================================== */

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_nothing_is_appended),
        TEST(test_the_time_is_that_of_the_kernel),
        TEST(test_each_execution_of_a_recorded_list),
        TEST(test_regions_around_launches),
        TEST(test_what_a_launch_costs),
        TEST(test_what_launches_cost_that_wait),
        TEST(test_kernels_of_an_immediate_list_overlap),
        TEST(test_kernels_of_a_recorded_list_overlap),
        TEST(test_events_signal_at_the_end),
        TEST(test_events_of_a_pool_before_the_start),
        TEST(test_events_that_are_shared_between_processes),
        TEST(test_events_with_time_stamps),
        TEST(test_events_with_time_stamps_before_the_start),
        TEST(test_the_time_stamps_of_the_application),
        TEST(test_every_kind_of_launch),
        TEST(test_kernels_with_events_overlap),
        TEST(test_an_event_is_used_again),
        TEST(test_an_event_that_is_destroyed),
        TEST(test_a_pool_that_is_destroyed_beside_another),
        TEST(test_an_event_that_was_not_destroyed),
        TEST(test_an_event_that_a_hook_destroyed),
        TEST(test_an_event_that_others_signal),
        TEST(test_every_command_that_signals),
        TEST(test_an_event_after_every_command_that_signals),
        TEST(test_an_event_that_the_host_signals_early),
        TEST(test_an_event_that_the_host_signals_meanwhile),
        TEST(test_an_event_that_another_launch_signals_meanwhile),
        TEST(test_earlier_time_stamps_that_are_not_known),
        TEST(test_an_event_of_tiles_that_is_never_reset),
        TEST(test_an_event_of_tiles_on_an_immediate_list),
        TEST(test_an_event_of_tiles_that_its_list_resets),
        TEST(test_an_event_that_the_host_resets_twice),
        TEST(test_an_event_that_its_closed_list_resets),
        TEST(test_an_event_whose_probe_keeps_another),
        TEST(test_an_event_of_a_released_list),
#ifndef _WIN32
        TEST(test_started_again_while_a_list_is_released),
#endif
        TEST(test_an_event_that_is_reset_before_it_is_signalled),
        TEST(test_an_early_event_of_an_unknown_pool),
        TEST(test_a_list_from_before_the_start_that_is_in_order),
        TEST(test_pools_whose_events_cannot_be_borrowed),
        TEST(test_stopped_before_the_event_has_signalled),
        TEST(test_a_list_that_is_over_with_its_event),
        TEST(test_a_list_is_destroyed_before_a_copy_has_ended),
        TEST(test_a_list_from_before_the_start_is_destroyed_early),
        TEST(test_stopped_with_a_list_from_before_the_start),
        TEST(test_a_released_list_from_before_the_start),
        TEST(test_a_list_is_released_beside_a_collection),
        TEST(test_a_list_that_is_destroyed_in_a_sample_function),
        TEST(test_a_list_whose_launch_is_never_read),
        TEST(test_a_queue_is_destroyed_with_the_event_of_its_list),
        TEST(test_hooks_see_the_event_of_the_application),
        TEST(test_a_pool_whose_time_stamps_are_refused),
        TEST(test_an_event_that_is_not_reset),
        TEST(test_counter_based_events),
        TEST(test_counter_based_events_with_time_stamps),
        TEST(test_counter_based_events_after_the_start),
        TEST(test_counter_based_events_with_time_stamps_after_the_start),
        TEST(test_a_launch_that_is_refused),
        TEST(test_a_signal_that_is_refused),
        TEST(test_an_event_that_cannot_be_signalled),
        cmocka_unit_test_setup_teardown(test_time_stamps_that_cannot_be_read, open_leaky_world,
                                        abandon_world),
        cmocka_unit_test_setup_teardown(test_time_stamps_of_tiles_that_cannot_be_read, open_leaky_world,
                                        abandon_world),
        cmocka_unit_test_setup_teardown(test_closed_while_a_kernel_runs, open_leaky_world, abandon_world),
        cmocka_unit_test_setup_teardown(test_closed_while_a_kernel_with_time_stamps_runs, open_leaky_world,
                                        abandon_world),
        cmocka_unit_test_setup_teardown(test_closed_while_a_launch_with_time_stamps_is_appended,
                                        open_leaky_world, abandon_world),
        TEST(test_stopped_with_a_call_that_is_about_to_end),
        TEST(test_stopped_while_a_kernel_runs),
        cmocka_unit_test_setup_teardown(test_closed_while_a_launch_is_appended, open_leaky_world,
                                        abandon_world),
        TEST(test_executions_that_are_overwritten),
        TEST(test_executions_that_are_overwritten_with_an_event),
        TEST(test_executions_that_overlap_on_an_immediate_list),
        TEST(test_executions_after_those_that_overlap_on_an_immediate_list),
        TEST(test_executions_after_those_that_overlap),
        TEST(test_clocks_that_wrap),
        TEST(test_each_tile_has_a_time_stamp),
        TEST(test_time_stamps_of_tiles),
        TEST(test_the_place_of_a_kernel_on_the_timeline),
        TEST(test_copies_and_fills),
        TEST(test_barriers_and_waits),
        TEST(test_any_order),
    };
    return cmocka_run_group_tests(tests, start_traced, NULL);
}
