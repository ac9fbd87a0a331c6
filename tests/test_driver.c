/* The library on a driver that behaves as Intel's does, beyond the specification. What would crash or stall a program
   there is a finding of the device, and fails the test that makes it. */
#define _GNU_SOURCE
#include "meet.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GO = 14, KERNEL_MAPPED_TIMESTAMP = 1 << 3 }; /* a word; a flag of newer headers */

static zt_profiler *open_times(world *w) {
    zt_config config = config_of(w);
    config.groups = "";
    return open_profiler(w, &config);
}

static zt_profiler *trace_times(world *w) {
    zt_profiler *profiler = open_times(w);
    ok(zt_trace_start(profiler, NULL));
    return profiler;
}

/* The rig's event, of a pool with these flags. */
static ze_event_handle_t event_of(rig *r, ze_event_pool_flags_t flags) {
    ze_event_pool_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, NULL,
                                 flags | ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 1};
    ze_event_desc_t event_desc = {ZE_STRUCTURE_TYPE_EVENT_DESC, NULL, 0, ZE_EVENT_SCOPE_FLAG_HOST,
                                  ZE_EVENT_SCOPE_FLAG_HOST};
    ze_result_t result = zeEventPoolCreate(r->w->context, &desc, 1, &r->w->device, &r->pool);
    if (result == ZE_RESULT_ERROR_INVALID_ENUMERATION) {
        r->pool = NULL;
        puts("skipped: this loader's validation layer does not know the flag");
        skip();
    }
    ok(result);
    ok(zeEventCreate(r->pool, &event_desc, &r->event));
    return r->event;
}

/* ==== time stamps of events =============================================================================== */

/* A kernel that runs is not collected, whatever zeEventQueryKernelTimestamp says. */
static void collect_while_it_runs(world *w, rig *r, zt_profiler *profiler, ze_command_list_handle_t list,
                                  ze_event_handle_t event) {
    append_with(r, list, 0, GO, LONG, event, NULL);
    await_word(r, 0);
    zt_collect(profiler, 0);
    assert_counts(profiler, counted(1, 0, 0, 0, 1));
    set_word(r, GO);
    finish_and_destroy(w, list);
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    assert_true(region_info(profiler, "meet").time_ns.min > 0);
    assert_true(region_info(profiler, "meet").time_ns.max < (double)A_WHILE);
}

static void test_half_written_time_stamps(void **state) {
    world *w = *state;
    need_in_order_lists(w);
    rig r = open_concurrent(w);
    zt_profiler *profiler = trace_times(w);
    gpu.behave(SOFTGPU_HALF_WRITTEN_STAMPS, 1);
    collect_while_it_runs(w, &r, profiler, immediate_of(w, COMPUTE, 0, QUEUE_IN_ORDER), NULL);
    close_rig(&r);
}

static void test_half_written_time_stamps_of_the_application(void **state) {
    world *w = *state;
    need_in_order_lists(w);
    rig r = open_concurrent(w);
    zt_profiler *profiler = trace_times(w);
    ze_event_handle_t event = event_of(&r, ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
    gpu.behave(SOFTGPU_HALF_WRITTEN_STAMPS, 1);
    collect_while_it_runs(w, &r, profiler, immediate_of(w, COMPUTE, 0, QUEUE_IN_ORDER), event);
    close_rig(&r);
}

static void test_unchecked_time_stamps_of_tiles(void **state) {
    world *w = *state;
    gpu.set_devices(1, 2);
    rig r = open_concurrent(w);
    zt_profiler *profiler = trace_times(w);
    gpu.behave(SOFTGPU_TILE_STAMPS_UNCHECKED, 1);
    collect_while_it_runs(w, &r, profiler, immediate_of(w, COMPUTE, 0, 0), NULL);
    close_rig(&r);
}

/* Of a copy there is one, where the library has room for those of two tiles: then nothing is written. */
static void test_unchecked_time_stamps_of_a_copy(void **state) {
    world *w = *state;
    const zt_trace_config config = {.copies = 1};
    gpu.set_devices(1, 2);
    zt_profiler *profiler = open_times(w);
    ok(zt_trace_start(profiler, &config));
    gpu.behave(SOFTGPU_TILE_STAMPS_UNCHECKED, 1);
    ok(zeCommandListAppendMemoryCopy(w->immediate, w->sums, w->ones, sizeof(float), NULL, 0, NULL));
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    assert_true(region_info(profiler, "MemoryCopy").time_ns.min > 0);
}

/* Where the host resets the application's event between launches, a driver spins when it is asked for its stamps. The
   events of the library are reset likewise, and say that they are signalled. */
static void reset_between_launches(world *w, int is_early) {
    enum { LAUNCHES = 4 };
    ze_command_list_handle_t list = NULL;
    need_in_order_lists(w);
    rig r = open_concurrent(w);
    gpu.behave(SOFTGPU_RESET_STAMPS_SPIN, 1);
    if (is_early)
        list = immediate_of(w, COMPUTE, 0, QUEUE_IN_ORDER);
    zt_profiler *profiler = trace_times(w);
    if (!is_early)
        list = immediate_of(w, COMPUTE, 0, QUEUE_IN_ORDER);
    ze_event_handle_t event = event_of(&r, ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        append_with(&r, list, i, i, LONG, event, NULL);
        ok(zeEventHostSynchronize(event, A_WHILE));
        ok(zeEventHostReset(event));
        zt_collect(profiler, 0);
    }
    finish_and_destroy(w, list);
    collect_all(profiler);
    assert_counts(profiler, counted(LAUNCHES, LAUNCHES, 0, 0, 0));
    assert_int_equal(gpu.findings(), 0);
    close_rig(&r);
}

static void test_events_that_the_host_resets(void **state) {
    reset_between_launches(*state, 0);
}

/* Loaders before 1.16 cannot tell of what kind the list is. */
static void test_events_that_the_host_resets_on_an_older_list(void **state) {
    reset_between_launches(*state, 1);
}

/* The device would keep 64 KiB for each until the list is destroyed, and takes 65 us to append it. */
static void test_no_time_stamps_are_copied(void **state) {
    world *w = *state;
    need_in_order_lists(w);
    rig r = open_concurrent(w);
    zt_profiler *profiler = trace_times(w);
    ze_event_handle_t event = event_of(&r, 0);
    ze_command_list_handle_t lists[2] = {immediate_of(w, COMPUTE, 0, QUEUE_IN_ORDER),
                                         immediate_of(w, COMPUTE, 0, 0)};
    gpu.reset_calls();
    for (uint32_t i = 0; i < 2; i++) {
        append_with(&r, lists[i], i, i, LONG, event, NULL);
        ok(zeEventHostSynchronize(event, A_WHILE));
        ok(zeEventHostReset(event));
        finish_and_destroy(w, lists[i]);
    }
    collect_all(profiler);
    assert_counts(profiler, counted(2, 2, 0, 0, 0));
    assert_int_equal(calls("zeCommandListAppendQueryKernelTimestamps"), 0);
    close_rig(&r);
}

/* The stamps that the application asked for are those of its kernel, which takes SHORT milliseconds. */
static void expect_mapped_stamps(world *w, int is_early) {
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2};
    ze_kernel_timestamp_result_t stamps;
    ze_event_handle_t event = NULL;
    need_in_order_lists(w);
    rig r = open_concurrent(w);
    if (is_early)
        event = event_of(&r, KERNEL_MAPPED_TIMESTAMP);
    zt_profiler *profiler = trace_times(w);
    if (!is_early)
        event = event_of(&r, KERNEL_MAPPED_TIMESTAMP);
    ze_command_list_handle_t list = immediate_of(w, COMPUTE, 0, QUEUE_IN_ORDER);
    append_with(&r, list, 0, 15, SHORT, event, NULL);
    ok(zeEventHostSynchronize(event, A_WHILE));
    ok(zeDeviceGetProperties(w->device, &properties));
    ok(zeEventQueryKernelTimestamp(event, &stamps));
    uint64_t ticks = stamps.global.kernelEnd - stamps.global.kernelStart;
    assert_true((double)ticks / (double)properties.timerResolution > (SHORT - 1) * 1e-3);
    finish_and_destroy(w, list);
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    close_rig(&r);
}

static void test_mapped_time_stamps_of_the_application(void **state) {
    expect_mapped_stamps(*state, 0);
}

static void test_mapped_time_stamps_before_the_start(void **state) {
    expect_mapped_stamps(*state, 1);
}

/* ==== counter-based events ================================================================================ */

/* On a recorded list, whose executions signal it one after the other. Functions of the extension are seen if their
   pointers are got while tracing: the launch then signals the event of the library. A loader's function that the driver
   gives is not seen: the event may have time stamps that the application reads. */
static void signal_counter_based(world *w, const char *create_name, int is_early) {
    enum { CB_NON_IMMEDIATE = 1 << 1, CB_HOST_VISIBLE = 1 << 2, EXECUTIONS = 3 };
    const struct {
        ze_structure_type_t stype;
        const void *next;
        uint32_t flags, signal, wait;
    } desc = {.flags = CB_NON_IMMEDIATE | CB_HOST_VISIBLE};
    const ze_event_desc_t older = {ZE_STRUCTURE_TYPE_EVENT_DESC, NULL, 0, ZE_EVENT_SCOPE_FLAG_HOST, 0};
    ze_result_t (*create)(ze_context_handle_t, ze_device_handle_t, const void *, ze_event_handle_t *) = NULL;
    ze_result_t (*create_older)(ze_context_handle_t, ze_device_handle_t, uint64_t *, uint64_t *, uint64_t,
                                const ze_event_desc_t *, ze_event_handle_t *) = NULL;
    int is_older = strcmp(create_name, "zexCounterBasedEventCreate") == 0;
    int is_seen = !is_early && strncmp(create_name, "zex", 3) == 0;
    void *address = NULL;
    ze_event_handle_t event = NULL;
    if (loader_wraps_handles()) {
        puts("skipped: the driver's own functions do not know the loader's handles");
        skip();
    }
    need_in_order_lists(w);
    zt_profiler *profiler = is_early ? NULL : trace_times(w);
    ok(zeDriverGetExtensionFunctionAddress(w->driver, create_name, &address));
    memcpy(&create, &address, sizeof create);
    memcpy(&create_older, &address, sizeof create_older);
    ok(is_older ? create_older(w->context, w->device, NULL, NULL, 0, &older, &event)
                : create(w->context, w->device, &desc, &event));
    rig r = open_concurrent(w);
    profiler = profiler ? profiler : trace_times(w);
    ze_command_list_handle_t list = recorded_of(w, LIST_IN_ORDER);
    gpu.reset_calls();
    append_with(&r, list, 0, 15, SHORT, event, NULL);
    assert_int_equal(calls("zeCommandListAppendWriteGlobalTimestamp"), is_seen ? 0 : 2);
    assert_int_equal(calls("zeCommandListAppendSignalEvent"), is_seen ? 1 : 0);
    ok(zeCommandListClose(list));
    for (int i = 0; i < EXECUTIONS; i++) {
        ok(zeCommandQueueExecuteCommandLists(w->queue, 1, &list, NULL));
        ok(zeEventHostSynchronize(event, A_WHILE));
        assert_int_equal(word(&r, 0), GAVE_UP);
        r.words[0] = NOTHING;
        finish_queue(w);
        collect_all(profiler);
    }
    assert_counts(profiler, counted(EXECUTIONS, EXECUTIONS, 0, 0, 0));
    ok(zeCommandListDestroy(list));
    ok(zeEventDestroy(event));
    close_rig(&r);
}

static void test_counter_based_events(void **state) {
    signal_counter_based(*state, "zeEventCounterBasedCreate", 0);
}

static void test_counter_based_events_of_the_extension(void **state) {
    signal_counter_based(*state, "zexCounterBasedEventCreate2", 0);
}

static void test_counter_based_events_of_the_older_extension(void **state) {
    signal_counter_based(*state, "zexCounterBasedEventCreate", 0);
}

static void test_counter_based_events_before_the_start(void **state) {
    signal_counter_based(*state, "zexCounterBasedEventCreate2", 1);
}

/* ==== lists that are closed =============================================================================== */

/* What a driver takes silently never signals: it is not waited for without end, and the identity holds. */
static void test_a_region_on_a_closed_list_that_says_nothing(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_with_timeout(w, 1000000);
    gpu.behave(SOFTGPU_CLOSED_LISTS_IGNORE, 1);
    launch(w, w->list);
    ok(zeCommandListClose(w->list));
    append(w, profiler, w->list, "ignored");
    execute(w, profiler, w->list);
    zt_collect(profiler, 0);
    check_identity(profiler);
    gpu.behave(SOFTGPU_CLOSED_LISTS_IGNORE, 0);
    zt_release(profiler, w->list);
    reset_list(w->list);
    check_identity(profiler);
    assert_int_equal(region_info(profiler, "ignored").count, 0);
    check_work(w);
}

/* ==== activation ========================================================================================== */

typedef struct executor {
    world *w;
    int is_over, is_at_work;
} executor;

static void *execute_without_end(void *argument) {
    executor *of = (executor *)argument;
    while (!__atomic_load_n(&of->is_over, __ATOMIC_SEQ_CST)) {
        ok_on_thread(zeCommandQueueExecuteCommandLists(of->w->queue, 1, &of->w->list, NULL));
        ok_on_thread(zeCommandQueueSynchronize(of->w->queue, A_WHILE));
        __atomic_store_n(&of->is_at_work, 1, __ATOMIC_SEQ_CST);
    }
    return NULL;
}

/* A tracer sees the executions, and holds them while counters are opened and closed, with groups and pools of queries. */
static void test_counters_beside_executions(void **state) {
    world *w = *state;
    executor of = {w, 0, 0};
    pthread_t thread;
    zt_profiler *other, *profiler = open_two_passes(w);
    ok(zt_trace_start(profiler, NULL));
    ok(zeCommandListClose(w->list));
    gpu.behave(SOFTGPU_ACTIVATION_RACES, 1);
    assert_int_equal(pthread_create(&thread, NULL, execute_without_end, &of), 0);
    await(&of.is_at_work);
    ZT_PASSES(profiler)
    launch(w, w->immediate);
    other = open_groups(w, "ComputeBasic");
    zt_close(other);
    __atomic_store_n(&of.is_over, 1, __ATOMIC_SEQ_CST);
    pthread_join(thread, NULL);
    assert_no_noted_failure();
    assert_int_equal(gpu.findings(), 0);
    gpu.behave(SOFTGPU_ACTIVATION_RACES, 0);
    check_work(w);
}

typedef struct measurer {
    world *w;
    zt_profiler *profiler;
    ze_command_list_handle_t list;
    pthread_t thread;
} measurer;

static void *measure_once(void *argument) {
    measurer *of = (measurer *)argument;
    zt_region region = zt_begin(of->profiler, of->list, "first");
    zt_end(&region);
    return NULL;
}

/* Before anybody can use them, a query has run alone since the groups were activated. */
static void test_first_uses_at_once(void **state) {
    enum { THREADS = 4 };
    world *w = *state;
    measurer measurers[THREADS];
    gpu.behave(SOFTGPU_ACTIVATE_AT_FIRST_USE, 1);
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    for (int i = 0; i < THREADS; i++) {
        measurers[i] = (measurer){.w = w, .profiler = profiler};
        create_immediate(w, &measurers[i].list);
        assert_int_equal(pthread_create(&measurers[i].thread, NULL, measure_once, &measurers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(measurers[i].thread, NULL);
    collect_all(profiler);
    for (int i = 0; i < THREADS; i++)
        finish_and_destroy(w, measurers[i].list);
    assert_counts(profiler, counted(THREADS, THREADS, 0, 0, 0));
    assert_int_equal(gpu.findings(), 0);
}

/* The application has disabled what the environment had enabled. */
static void test_metrics_disabled_at_run_time(void **state) {
    world *w = *state;
    ze_result_t (*disable)(zet_device_handle_t) = NULL;
    zt_profiler *profiler;
    if (loader_wraps_handles()) {
        puts("skipped: the driver's own functions do not know the loader's handles");
        skip();
    }
    ok(zeDriverGetExtensionFunctionAddress(w->driver, "zetDeviceDisableMetricsExp", (void **)&disable));
    ok(disable((zet_device_handle_t)w->device));
    zt_config config = config_of(w);
    zt_open(w->context, w->device, &config, &profiler);
    assert_non_null(profiler);
    w->profilers[0] = profiler;
    assert_true(heard(w, "ZE_RESULT_ERROR_UNINITIALIZED") > 0);
    run(w, profiler, "times alone");
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    check_work(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_half_written_time_stamps),
        TEST(test_half_written_time_stamps_of_the_application),
        TEST(test_unchecked_time_stamps_of_tiles),
        TEST(test_unchecked_time_stamps_of_a_copy),
        TEST(test_events_that_the_host_resets),
        TEST(test_events_that_the_host_resets_on_an_older_list),
        TEST(test_no_time_stamps_are_copied),
        TEST(test_mapped_time_stamps_of_the_application),
        TEST(test_mapped_time_stamps_before_the_start),
        TEST(test_counter_based_events),
        TEST(test_counter_based_events_of_the_extension),
        TEST(test_counter_based_events_of_the_older_extension),
        TEST(test_counter_based_events_before_the_start),
        TEST(test_first_uses_at_once),
        TEST(test_metrics_disabled_at_run_time),
        TEST(test_counters_beside_executions),
        cmocka_unit_test_setup_teardown(test_a_region_on_a_closed_list_that_says_nothing, open_leaky_world,
                                        abandon_world),
    };
    return cmocka_run_group_tests(tests, start_traced, NULL);
}
