/* The tracer: each launch of the process is a region, and lists and calls are observed. The code that
   launches does not call the library. */
#define _GNU_SOURCE
#include "perfetto.h"

#include <dlfcn.h>
#include <level_zero/layers/zel_tracing_api.h>
#include <level_zero/layers/zel_tracing_register_cb.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As many changes of callbacks as there are in these tests are more than the library keeps the loader's objects of,
   which then look like leaks of the loader. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
    return "leak:libze_tracing_layer";
}

enum { CLONEABLE = 1 << 4 }; /* ZE_COMMAND_LIST_FLAG_EXP_CLONEABLE, which older headers lack */

static zt_trace_config everything(void) {
    zt_trace_config config = {0};
    return config;
}

static zt_profiler *open_traced(world *w, const zt_trace_config *config) {
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    ok(zt_trace_start(profiler, config));
    return profiler;
}

static void expect_launches(const zt_profiler *profiler, uint64_t measured, uint64_t filtered,
                            uint64_t elsewhere) {
    zt_trace_counts counts = zt_get_info(profiler).launches;
    assert_int_equal(counts.measured, measured);
    assert_int_equal(counts.filtered, filtered);
    assert_int_equal(counts.elsewhere, elsewhere);
    assert_int_equal(counts.launches, measured + filtered + elsewhere);
}

/* A launch on a recorded list, with no call of the library. */
static void record(world *w, ze_command_list_handle_t list) {
    launch_kernel(list, w->kernel);
    ok(zeCommandListClose(list));
}

static void run_and_reset(world *w) {
    record(w, w->list);
    execute_unprofiled(w, w->list);
    w->launches++;
    reset_list(w->list);
}

/* A second kernel, of another name. */
typedef struct other_kernel {
    ze_module_handle_t module;
    ze_kernel_handle_t kernel;
} other_kernel;

static void create_other(world *w, other_kernel *other) {
    uint32_t count = WORK_ITEMS;
    other->module = load_module(w, "build/kernels/reduce.so", "");
    other->kernel = kernel_in(other->module, "reduce");
    ok(zeKernelSetGroupSize(other->kernel, 256, 1, 1));
    ok(zeKernelSetArgumentValue(other->kernel, 0, sizeof w->ones, &w->ones)); /* sums to the first of ones */
    ok(zeKernelSetArgumentValue(other->kernel, 1, sizeof w->sums, &w->sums));
    ok(zeKernelSetArgumentValue(other->kernel, 2, sizeof count, &count));
}

static void destroy_other(other_kernel *other) {
    ok(zeKernelDestroy(other->kernel));
    ok(zeModuleDestroy(other->module));
}

/* ==== the first start ==================================================================================== */

/* Nothing was traced in this process yet. */
static void test_a_first_start_that_fails(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    for (uint32_t i = 1; i <= 2; i++) { /* a prologue, an epilogue */
        fail_registration(i, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
        assert_result(zt_trace_start(profiler, NULL), ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE);
        assert_contains(zt_get_info(profiler).error, "[TRACING_OFF] zt_trace_start: ");
        assert_contains(zt_get_info(profiler).error, "ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY");
        launch(w, w->immediate);
        expect_launches(profiler, 0, 0, 0);
    }
    ok(zt_trace_start(profiler, NULL));
    launch(w, w->immediate);
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    check_work(w);
}

/* ==== launches become regions ============================================================================= */

static void test_launches_become_regions(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_traced(w, NULL);
    launch(w, w->immediate);
    finish_immediate(w, w->immediate);
    run_and_reset(w);
    collect_all(profiler);
    assert_counts(profiler, counted(2, 2, 0, 0, 0));
    assert_int_equal(region_info(profiler, "saxpy").count, 2);
    assert_true(stats_of(profiler, "saxpy", "GPGPU_THREADGROUP_COUNT").sum == 2 * WORK_GROUPS);
    expect_launches(profiler, 2, 0, 0);
    ok(zt_trace_stop(profiler));
    launch(w, w->immediate);
    check_work(w);
    collect_all(profiler);
    assert_counts(profiler, counted(2, 2, 0, 0, 0));
}

static void test_every_kind_of_launch(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_traced(w, NULL);
    launch_in_every_way(w, w->immediate, w->kernel, 1, NULL);
    w->launches += 4;
    check_work(w);
    collect_all(profiler);
    expect_launches(profiler, 4, 0, 0);
    assert_counts(profiler, counted(4, 4, 0, 0, 0));
    assert_int_equal(region_info(profiler, "saxpy").count, 4);
}

/* One call for several kernels is one region. */
static void test_a_launch_of_several_kernels(void **state) {
    world *w = *state;
    other_kernel other;
    create_other(w, &other);
    ze_kernel_handle_t kernels[] = {w->kernel, other.kernel, w->kernel};
    ze_group_count_t *groups = NULL;
    uint32_t *count = NULL;
    ze_host_mem_alloc_desc_t host = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, NULL, 0};
    ok(zeMemAllocHost(w->context, &host, 3 * sizeof *groups, 64, (void **)&groups));
    ok(zeMemAllocHost(w->context, &host, sizeof *count, 64, (void **)&count));
    *count = 3;
    for (int i = 0; i < 3; i++)
        groups[i] = (ze_group_count_t){1, 1, 1};
    zt_profiler *profiler = open_traced(w, NULL);
    for (int i = 0; i < 2; i++)
        ok(zeCommandListAppendLaunchMultipleKernelsIndirect(w->immediate, 3, kernels, count, groups, NULL, 0,
                                                            NULL));
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    assert_counts(profiler, counted(2, 2, 0, 0, 0));
    assert_int_equal(region_info(profiler, "saxpy +2").count, 2);
    assert_true(stats_of(profiler, "saxpy +2", "GPGPU_THREADGROUP_COUNT").sum == 6);
    ok(zeMemFree(w->context, groups));
    ok(zeMemFree(w->context, count));
    destroy_other(&other);
}

static void test_copies_by_choice(void **state) {
    world *w = *state;
    zt_trace_config config = everything();
    float pattern = 0;
    config.copies = 1;
    zt_profiler *profiler = open_traced(w, &config);
    ok(zeCommandListAppendMemoryCopy(w->immediate, w->sums, w->ones, sizeof(float), NULL, 0, NULL));
    ok(zeCommandListAppendMemoryFill(w->immediate, w->sums, &pattern, sizeof pattern,
                                     WORK_ITEMS * sizeof(float), NULL, 0, NULL));
    ok(zeCommandListAppendMemoryCopyFromContext(w->immediate, w->sums, w->context, w->ones, 3 * sizeof(float),
                                                NULL, 0, NULL));
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    assert_int_equal(region_info(profiler, "MemoryCopy").count, 1);
    assert_int_equal(region_info(profiler, "MemoryCopy").bytes, sizeof(float));
    assert_int_equal(region_info(profiler, "MemoryFill").count, 1);
    assert_int_equal(region_info(profiler, "MemoryFill").bytes, WORK_ITEMS * sizeof(float));
    assert_int_equal(region_info(profiler, "MemoryCopyFromContext").count, 1);
    assert_int_equal(region_info(profiler, "MemoryCopyFromContext").bytes, 3 * sizeof(float));
    ok(zt_trace_stop(profiler));
    ok(zt_trace_start(profiler, NULL));
    ok(zeCommandListAppendMemoryCopy(w->immediate, w->sums, w->sums + 1, sizeof(float), NULL, 0, NULL));
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    assert_counts(profiler, counted(3, 3, 0, 0, 0));
}

/* zt_trace_config.names chooses kernels. Copies are measured whatever it is. */
static void test_copies_beside_chosen_kernels(void **state) {
    world *w = *state;
    zt_trace_config config = everything();
    config.names = "no such kernel";
    config.copies = 1;
    zt_profiler *profiler = open_traced(w, &config);
    launch(w, w->immediate);
    ok(zeCommandListAppendMemoryCopy(w->immediate, w->ones, w->ones + 1, sizeof(float), NULL, 0, NULL));
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    assert_int_equal(region_info(profiler, "MemoryCopy").count, 1);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    assert_int_equal(zt_get_info(profiler).launches.filtered, 1);
    check_work(w);
}

/* Copies, and not launches: these are not counted either, even where their calls are timed. */
static void test_copies_alone(void **state) {
    world *w = *state;
    zt_trace_config trace = everything();
    trace.no_launches = trace.copies = 1;
    trace.calls = "zeCommandListAppendLaunchKernel";
    trace.every = 2; /* so that launches and copies may be measured by their events */
    zt_profiler *profiler = open_traced(w, &trace);
    for (int i = 0; i < 4; i++) {
        launch(w, w->immediate);
        ok(zeCommandListAppendMemoryCopy(w->immediate, w->ones, w->ones + 1, sizeof(float), NULL, 0, NULL));
    }
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    assert_counts(profiler,
                  counted(zt_get_info(profiler).counts.begun, zt_get_info(profiler).counts.begun, 0, 0, 0));
    assert_int_equal(region_info(profiler, "MemoryCopy").count, 4);
    assert_int_equal(region_info(profiler, "MemoryCopy").with_metrics, 2);
    assert_int_equal(find_region(profiler, "saxpy"), UINT32_MAX);
    assert_int_equal(zt_get_info(profiler).kernel_count, 0);
    zt_call_info timed;
    ok(zt_get_call(profiler, 0, &timed));
    assert_string_equal(timed.name, "zeCommandListAppendLaunchKernel");
    assert_int_equal(timed.count, 4);
    check_work(w);
}

/* Without kernels, copies alone take the time of the device. */
static void test_overlap_of_copies_alone(void **state) {
    world *w = *state;
    static char text[1 << 16];
    zt_trace_config config = everything();
    zt_config times = config_of(w);
    times.groups = "";
    times.timeline = 10;
    config.copies = config.no_launches = 1;
    zt_profiler *profiler = open_profiler(w, &times);
    ok(zt_trace_start(profiler, &config));
    for (int i = 0; i < 3; i++)
        ok(zeCommandListAppendMemoryCopy(w->immediate, w->sums, w->sums, sizeof(float), NULL, 0, NULL));
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    zt_overlap overlap = zt_get_timeline(profiler).overlap;
    assert_true(overlap.kernel_ns == 0 && overlap.copy_ns > 0);
    snprintf(text, sizeof text, "%s", written_report(profiler, ZT_FORMAT_TABLE));
    for (char *at = text; (at = strchr(at, '\n')) != NULL;)
        *at = ' ';
    assert_contains(text, " from the first begin to the last end, kernels take 0.0%, copies ");
    assert_contains(text, "%, both at once 0.0%, and in ");
}

/* A queue of an engine that only copies. */
static ze_command_queue_desc_t copy_queue(world *w) {
    ze_command_queue_group_properties_t groups[8];
    uint32_t count = 8, ordinal = 0;
    memset(groups, 0, sizeof groups);
    for (int i = 0; i < 8; i++)
        groups[i].stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES;
    ok(zeDeviceGetCommandQueueGroupProperties(w->device, &count, groups));
    while (ordinal < count && groups[ordinal].flags != ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY)
        ordinal++;
    assert_true(ordinal < count);
    ze_command_queue_desc_t desc = {
        ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, NULL, ordinal, 0, 0, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
        ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
    return desc;
}

/* How many groups of queues the driver counts; 0: as many as it has. */
static uint32_t pretended_groups;

#ifndef _WIN32
ze_result_t ZE_APICALL zeDeviceGetCommandQueueGroupProperties(ze_device_handle_t device, uint32_t *count,
                                                              ze_command_queue_group_properties_t *groups) {
    ze_result_t result = REAL(zeDeviceGetCommandQueueGroupProperties)(device, count, groups);
    if (pretended_groups)
        *count = pretended_groups;
    return result;
}
#endif

/* A copy engine can write time stamps, but cannot execute metric queries: with metrics, a copy is counted and
   not measured. */
static void check_copies_on_a_copy_engine(world *w, uint32_t groups) {
    zt_trace_config trace = everything();
    zt_config config = config_of(w);
    ze_command_queue_desc_t copies = copy_queue(w);
    ze_command_list_handle_t list;
    config.groups = "";
    trace.copies = 1;
    zt_profiler *profiler = open_groups(w, "ComputeBasic"), *times = open_profiler(w, &config);
    for (int has_times = 0; has_times < 2; has_times++) {
        pretended_groups = groups;
        ok(zt_trace_start(has_times ? times : profiler, &trace));
        pretended_groups = 0;
        ok(zeCommandListCreateImmediate(w->context, w->device, &copies, &list));
        gpu.reset_calls();
        ok(zeCommandListAppendMemoryCopy(list, w->sums, w->sums + 1, sizeof(float), NULL, 0, NULL));
        assert_int_equal(calls("zetCommandListAppendMetricQueryBegin"), 0);
        finish_immediate(w, list);
        collect_all(has_times ? times : profiler);
        ok(zeCommandListDestroy(list));
        if (!has_times) {
            launch(w, w->immediate);
            finish_immediate(w, w->immediate);
            collect_all(profiler);
            ok(zt_trace_stop(profiler));
        }
    }
    expect_launches(profiler, 1, 0, 1);
    expect_unmeasured(profiler, ZT_UNMEASURED_COPY_ENGINE, 1,
                      "could not be measured, because they are on copy");
    expect_launches(times, 1, 0, 1); /* the barrier has an event with time stamps */
    assert_int_equal(region_info(times, "MemoryCopy").count, 1);
    check_work(w);
}

static void test_copies_on_a_copy_engine(void **state) {
    check_copies_on_a_copy_engine(*state, 0);
}

/* What a driver counts beyond the groups that it was asked for is none. */
static void test_more_groups_than_there_is_room_for(void **state) {
    NOT_ON_WINDOWS("functions of a DLL cannot be replaced there");
    check_copies_on_a_copy_engine(*state, 1000);
}

/* An execution in a sample function is executed and not measured. The message names the application's call. */
typedef struct executor {
    world *w;
    int executions;
} executor;

static void execute_in_sample(const zt_sample *sample, void *user) {
    executor *me = user;
    (void)sample;
    if (me->executions++ == 0)
        ok(zeCommandQueueExecuteCommandLists(me->w->queue, 1, &me->w->list, NULL));
}

static void test_execution_in_a_sample_function(void **state) {
    world *w = *state;
    executor me = {w, 0};
    zt_config config = config_of(w);
    config.groups = "ComputeBasic";
    config.sample = execute_in_sample;
    config.sample_user = &me;
    zt_profiler *profiler = open_profiler(w, &config);
    ok(zt_trace_start(profiler, NULL));
    record(w, w->list);
    run(w, profiler, "sampled");
    ok(zt_collect(profiler, 0));
    assert_true(me.executions > 0);
    finish_queue(w);
    w->launches += 1;
    assert_int_equal(heard(w, "[INSIDE_CALLBACK] zeCommandQueueExecuteCommandLists was called from"), 1);
    assert_int_equal(heard(w, "[INSIDE_CALLBACK]"), 1);
    ok(zt_trace_stop(profiler));
    close_profiler(w, profiler);
    check_work(w);
}

static void test_times_alone(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "";
    zt_profiler *profiler = open_profiler(w, &config);
    ok(zt_trace_start(profiler, NULL));
    for (int i = 0; i < 10; i++)
        run_and_reset(w);
    collect_all(profiler);
    assert_counts(profiler, counted(10, 10, 0, 0, 0));
    assert_true(region_info(profiler, "saxpy").time_ns.sum > 0);
    check_work(w);
}

/* Waits with another event, because the launch waits for the one that finish_immediate uses. */
static void finish_unsignalled(world *w) {
    ze_event_handle_t event;
    create_event(w, 1, &event);
    ok(zeCommandListAppendBarrier(w->immediate, event, 0, NULL));
    ok(zeEventHostSynchronize(event, A_WHILE));
    ok(zeEventDestroy(event));
    ok(zeEventHostReset(w->done));
}

static void note_wait_events(void *parameters, int result, void *user, void **instance) {
    const ze_command_list_append_launch_kernel_params_t *p = parameters;
    (void)result, (void)instance;
    assert_int_equal(*p->pnumWaitEvents, 1);
    ++*(int *)user;
}

/* At the start, events for times alone are made and their clock is compared with the device's. If that fails,
   launches have times all the same, and are where they ran. */
static void test_times_alone_that_cannot_be_prepared(void **state) {
    NOT_ON_WINDOWS("no Python there that reads the trace");
    static const struct {
        const char *call;
        uint32_t nth;
    } failures[] = {{NULL, 0},
                    {"zeEventPoolCreate", 1},
                    {"zeDeviceGetGlobalTimestamps", 1},
                    {"zeDeviceGetGlobalTimestamps", 2},
                    {"zeCommandListCreateImmediate", 1}};
    world *w = *state;
    zt_config config = config_of(w);
    zt_trace_config trace = everything();
    config.groups = "ComputeBasic";
    config.timeline = 64;
    trace.every = 2;
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
        double begin, end;
        zt_profiler *profiler = open_profiler(w, &config);
        if (failures[i].call)
            inject(failures[i].call, failures[i].nth, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
        ok(zt_trace_start(profiler, &trace));
        if (failures[i].call)
            inject(failures[i].call, 0, ZE_RESULT_SUCCESS);
        ok(zt_trace_stop(profiler));
        ok(zt_trace_start(profiler, &trace)); /* now it succeeds, or is prepared already */
        double before = (double)now_ns();
        for (int n = 0; n < 4; n++)
            launch(w, w->immediate);
        finish_immediate(w, w->immediate);
        double after = (double)now_ns();
        collect_all(profiler);
        assert_counts(profiler, counted(4, 4, 0, 0, 0));
        assert_int_equal(zt_get_info(profiler).launches.times_alone, 2);
        assert_int_equal(zt_get_timeline(profiler).samples, 4);
        assert_int_equal(zt_get_timeline(profiler).lost_samples, 0);
        find_span(profiler, "saxpy", &begin, &end);
        assert_true(begin >= before - 1e7 && end <= after + 1e7 && end > begin);
        close_profiler(w, profiler);
    }
    check_work(w);
}

/* The device waits for the events of a launch before the region begins. The application's callbacks get the
   parameters of the application. */
static void test_a_launch_that_waits(void **state) {
    world *w = *state;
    ze_group_count_t groups = {WORK_GROUPS, 1, 1};
    int seen = 0;
    other_kernel other;
    zt_hook hook = {"zeCommandListAppendLaunchKernel", note_wait_events, note_wait_events, &seen};
    zt_trace_config config = everything();
    create_other(w, &other);
    config.names = "saxpy";
    config.hooks = &hook;
    config.hook_count = 1;
    zt_profiler *profiler = open_traced(w, &config);
    for (uint32_t i = 0; i < 2; i++) { /* the second is not measured */
        ze_kernel_handle_t kernel = i ? other.kernel : w->kernel;
        gpu.reset_calls();
        ok(zeCommandListAppendLaunchKernel(w->immediate, kernel, &groups, NULL, 1, &w->done));
        assert_int_equal(calls("zeCommandListAppendWaitOnEvents"), 1 - i);
    }
    w->launches++;
    assert_int_equal(seen, 4);
    zt_collect(profiler, 0);
    assert_counts(profiler, counted(1, 0, 0, 0, 1));
    ok(zeEventHostSignal(w->done));
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    finish_unsignalled(w);
    destroy_other(&other);
    check_work(w);
}

/* A star stands for any characters, and for none; a question mark for one. */
static void test_names_by_pattern(void **state) {
    static const struct {
        const char *names;
        uint64_t measured;
    } cases[] = {
        {"saxpy", 1},  {"saxpy*", 1},  {"*saxpy", 1},     {"saxpy**", 1},       {"*a*p*", 1},
        {"sax?y", 1},  {"?????", 1},   {"*?", 1},         {"saxpy?", 0},        {"saxpy?*", 0},
        {"?saxpy", 0}, {"saxp", 0},    {"axpy", 0},       {"*b*", 0},           {"!saxpy*", 0},
        {"!*b*", 1},   {"*,!sax*", 0}, {"gemm*,sax*", 1}, {"gemm,!nothing", 0}, {"*saxpy*saxpy", 0},
    };
    world *w = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        zt_trace_config config = everything();
        config.names = cases[i].names;
        zt_profiler *profiler = open_traced(w, &config);
        launch(w, w->immediate);
        finish_immediate(w, w->immediate);
        collect_all(profiler);
        if (zt_get_info(profiler).counts.collected != cases[i].measured)
            fail_msg("'%s' measures %u launches of saxpy", cases[i].names,
                     (unsigned)zt_get_info(profiler).counts.collected);
        close_profiler(w, profiler);
    }
    check_work(w);
}

static void test_regions_by_hand_beside_it(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_traced(w, NULL);
    append(w, profiler, w->list, "outer");
    ok(zeCommandListClose(w->list));
    for (int i = 0; i < 3; i++)
        execute(w, profiler, w->list);
    for (int i = 0; i < 3; i++)
        execute_unprofiled(w, w->list);
    w->launches += 6;
    collect_all(profiler);
    assert_counts(profiler, counted(12, 12, 0, 0, 0));
    assert_int_equal(region_info(profiler, "outer").count, 6);
    assert_int_equal(region_info(profiler, "saxpy").count, 6);
    check_work(w);
}

/* ==== functions that the oldest headers lack ============================================================== */

/* Finds a function of the loader, or skips the test where the loader is older than the function. */
static void find_newer(const char *name, void *function) {
    void *found = dlsym(RTLD_DEFAULT, name);
    if (!found) {
        printf("skipped: this loader has no %s\n", name);
        skip();
    }
    memcpy(function, &found, sizeof found);
}

typedef struct group_size {
    uint32_t x, y, z;
} group_size;

typedef ze_result_t (*launch_with_parameters)(ze_command_list_handle_t, ze_kernel_handle_t,
                                              const ze_group_count_t *, const void *, ze_event_handle_t,
                                              uint32_t, ze_event_handle_t *);
typedef ze_result_t (*launch_with_arguments)(ze_command_list_handle_t, ze_kernel_handle_t, ze_group_count_t,
                                             group_size, void **, const void *, ze_event_handle_t, uint32_t,
                                             ze_event_handle_t *);

/* The events for which they wait are waited for before the region, as those of other launches. */
static void test_launches_with_arguments(void **state) {
    world *w = *state;
    ze_group_count_t groups = {WORK_GROUPS, 1, 1};
    group_size size = {WORK_ITEMS / WORK_GROUPS, 1, 1};
    launch_with_parameters with_parameters;
    launch_with_arguments with_arguments;
    float factor = 1;
    uint32_t count = WORK_ITEMS;
    void *values[] = {&w->sums, &w->ones, &factor, &count};
    find_newer("zeCommandListAppendLaunchKernelWithParameters", &with_parameters);
    find_newer("zeCommandListAppendLaunchKernelWithArguments", &with_arguments);
    zt_profiler *profiler = open_traced(w, NULL);
    gpu.reset_calls();
    ok(with_parameters(w->immediate, w->kernel, &groups, NULL, NULL, 1, &w->done));
    ok(with_arguments(w->immediate, w->kernel, groups, size, values, NULL, NULL, 1, &w->done));
    assert_int_equal(calls("zeCommandListAppendWaitOnEvents"), 2);
    w->launches += 2;
    ok(zeEventHostSignal(w->done));
    finish_unsignalled(w);
    collect_all(profiler);
    expect_launches(profiler, 2, 0, 0);
    assert_counts(profiler, counted(2, 2, 0, 0, 0));
    assert_int_equal(region_info(profiler, "saxpy").count, 2);
    check_work(w);
}

/* ---- launches through pointers of zeDriverGetExtensionFunctionAddress ------------------------------------ */

typedef ze_result_t (*launch_variable)(ze_command_list_handle_t, ze_kernel_handle_t, const void *,
                                       ze_event_handle_t, uint32_t, ze_event_handle_t *);

typedef struct launch_pointers {
    launch_with_parameters with_parameters;
    launch_with_arguments with_arguments;
    launch_variable variable;
} launch_pointers;

static launch_pointers find_pointers(world *w) {
    launch_pointers found;
    if (loader_wraps_handles()) {
        puts("skipped: pointers of the driver need its own handles");
        skip();
    }
    ok(zeDriverGetExtensionFunctionAddress(w->driver, "zeCommandListAppendLaunchKernelWithParameters",
                                           (void **)&found.with_parameters));
    ok(zeDriverGetExtensionFunctionAddress(w->driver, "zeCommandListAppendLaunchKernelWithArguments",
                                           (void **)&found.with_arguments));
    ok(zeDriverGetExtensionFunctionAddress(w->driver, "zexCommandListAppendVariableLaunchKernel",
                                           (void **)&found.variable));
    return found;
}

/* Appends one launch by each pointer. */
static void launch_by_pointers(world *w, const launch_pointers *by, ze_command_list_handle_t list) {
    ze_group_count_t groups = {WORK_GROUPS, 1, 1};
    group_size size = {WORK_ITEMS / WORK_GROUPS, 1, 1};
    float factor = 1;
    uint32_t count = WORK_ITEMS;
    void *values[] = {&w->sums, &w->ones, &factor, &count};
    ok(by->with_parameters(list, w->kernel, &groups, NULL, NULL, 0, NULL));
    ok(by->with_arguments(list, w->kernel, groups, size, values, NULL, NULL, 0, NULL));
    ok(by->variable(list, w->kernel, &groups, NULL, 0, NULL));
    w->launches += 3;
}

/* They are measured as the loader's calls, and what cannot be is counted and named. */
static void test_launches_through_pointers(void **state) {
    world *w = *state;
    zt_trace_config config = everything();
    ze_command_list_handle_t list;
    config.calls = "zeCommandListAppendLaunchKernelWith*";
    zt_profiler *profiler = open_traced(w, &config);
    launch_pointers by = find_pointers(w);
    create_immediate(w, &list);
    launch_by_pointers(w, &by, list);
    finish_immediate(w, list);
    collect_all(profiler);
    expect_launches(profiler, 2, 0, 1);
    assert_counts(profiler, counted(2, 2, 0, 0, 0));
    assert_int_equal(region_info(profiler, "saxpy").count, 2);
    assert_int_equal(region_info(profiler, "saxpy").with_metrics, 2);
    assert_int_equal(zt_get_info(profiler).call_count, 2);
    expect_unmeasured(profiler, ZT_UNMEASURED_VARIABLE, 1,
                      "could not be measured, because zexCommandListAppendVariableLaunchKernel");
    zt_kernel_info info;
    ok(zt_get_kernel(profiler, 0, &info));
    assert_int_equal(info.launches, 2);
    assert_int_equal(info.shape_count, 2); /* a size from before the start is not known */

    /* When tracing has stopped, they go on, and are not seen. */
    ok(zt_trace_stop(profiler));
    launch_by_pointers(w, &by, list);
    finish_immediate(w, list);
    expect_launches(profiler, 2, 0, 1);
    ok(zt_trace_start(profiler, NULL));
    launch_by_pointers(w, &by, list);
    finish_immediate(w, list);
    expect_launches(profiler, 4, 0, 2); /* also on a list from before the start */
    collect_all(profiler);
    assert_counts(profiler, counted(4, 4, 0, 0, 0));
    ok(zeCommandListDestroy(list));
    check_work(w);
}

typedef ze_result_t (*copy_by_pointer)(ze_command_list_handle_t, void *, const void *, size_t, const void *,
                                       uint32_t, ze_event_handle_t *, ze_event_handle_t);
typedef ze_result_t (*fill_by_pointer)(ze_command_list_handle_t, void *, const void *, size_t, size_t,
                                       const void *, ze_event_handle_t, uint32_t, ze_event_handle_t *);
typedef ze_result_t (*append_operation)(ze_command_list_handle_t, const void *, ze_event_handle_t, uint32_t,
                                        ze_event_handle_t *);

/* Copies and fills are measured as those of the loader, also if launches are not, and with events. What the driver
   refuses is dropped. */
static void test_copies_through_pointers(void **state) {
    world *w = *state;
    zt_trace_config config = {0};
    zt_config of_profiler = config_of(w);
    copy_by_pointer copy = NULL;
    fill_by_pointer fill = NULL;
    ze_command_list_handle_t list;
    ze_event_handle_t copied, filled;
    float pattern = 0, *words = w->sums;
    if (loader_wraps_handles()) {
        puts("skipped: pointers of the driver need its own handles");
        skip();
    }
    config.copies = 1;
    config.no_launches = 1;
    of_profiler.groups = "";
    zt_profiler *profiler = open_profiler(w, &of_profiler);
    ok(zt_trace_start(profiler, &config));
    ok(zeDriverGetExtensionFunctionAddress(w->driver, "zexCommandListAppendMemoryCopyWithParameters",
                                           (void **)&copy));
    ok(zeDriverGetExtensionFunctionAddress(w->driver, "zexCommandListAppendMemoryFillWithParameters",
                                           (void **)&fill));
    create_event(w, 1, &copied);
    create_event(w, 2, &filled);
    create_immediate(w, &list);
    for (int i = 0; i < 2; i++) {
        ok(copy(list, words, words + 1, sizeof(float), NULL, 0, NULL, copied));
        ok(fill(list, words, &pattern, sizeof pattern, 2 * sizeof(float), NULL, filled, 1, &copied));
        ok(zeEventHostSynchronize(filled, A_WHILE));
        ok(zeEventHostReset(copied));
        ok(zeEventHostReset(filled));
    }
    ok(fill(list, words, &pattern, sizeof pattern, sizeof(float), NULL, NULL, 0, NULL));
    inject("zexCommandListAppendMemoryCopyWithParameters", 1, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_result(copy(list, words, words + 1, sizeof(float), NULL, 0, NULL, copied),
                  ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    finish_immediate(w, list);
    collect_all(profiler);
    assert_int_equal(region_info(profiler, "MemoryCopyWithParameters").count, 2);
    assert_int_equal(region_info(profiler, "MemoryFillWithParameters").count, 3);
    assert_int_equal(zt_get_info(profiler).counts.dropped, 1);
    /* but for the barrier with which this waits */
    expect_launches(profiler, 6, 0, 1);
    ok(zeEventDestroy(copied));
    ok(zeEventDestroy(filled));
    ok(zeCommandListDestroy(list));
}

/* What is appended by functions that are not known well enough is counted when the driver has accepted it. */
static void test_operations_through_pointers(void **state) {
    world *w = *state;
    const ze_group_count_t groups = {WORK_GROUPS, 1, 1};
    ze_event_pool_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, NULL, ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 1};
    ze_event_desc_t of_event = {ZE_STRUCTURE_TYPE_EVENT_DESC, NULL, 0, ZE_EVENT_SCOPE_FLAG_HOST, 0};
    append_operation operate = NULL;
    ze_event_pool_handle_t pool;
    ze_event_handle_t event;
    ze_command_list_handle_t list;
    zt_config config = config_of(w);
    config.groups = "";
    zt_profiler *profiler = open_profiler(w, &config);
    ok(zt_trace_start(profiler, NULL));
    launch_pointers by = find_pointers(w);
    ok(zeDriverGetExtensionFunctionAddress(w->driver, "zexCommandListAppendCustomOperation",
                                           (void **)&operate));
    ok(zeEventPoolCreate(w->context, &desc, 1, &w->device, &pool));
    ok(zeEventCreate(pool, &of_event, &event));
    create_immediate(w, &list);
    assert_result(operate(list, NULL, NULL, 0, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    assert_result(by.variable(list, w->kernel, NULL, NULL, 0, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    ok(operate(list, &groups, event, 0, NULL));
    /* The event is signalled by the operation, and so not by this launch alone. */
    ok(zeCommandListAppendLaunchKernel(list, w->kernel, &groups, event, 0, NULL));
    finish_immediate(w, list);
    ok(zeEventHostReset(event));
    ok(by.variable(list, w->kernel, &groups, event, 0, NULL));
    ok(zeCommandListAppendLaunchKernel(list, w->kernel, &groups, event, 0, NULL));
    w->launches += 3;
    finish_immediate(w, list);
    collect_all(profiler);
    expect_launches(profiler, 2, 0, 2);
    expect_unmeasured(profiler, ZT_UNMEASURED_OPERATION, 1,
                      "could not be measured, because zexCommandListAppendCustomOperation");
    expect_unmeasured(profiler, ZT_UNMEASURED_VARIABLE, 1,
                      "could not be measured, because zexCommandListAppendVariableLaunchKernel");
    expect_serialised(profiler, ZT_SERIALISED_IN_USE, 2, "their events were signalled");
    ok(zt_trace_stop(profiler)); /* they go on, and are not seen */
    ok(by.variable(list, w->kernel, &groups, event, 0, NULL));
    w->launches++;
    finish_immediate(w, list);
    expect_launches(profiler, 2, 0, 2);
    ok(zeCommandListDestroy(list));
    ok(zeEventDestroy(event));
    ok(zeEventPoolDestroy(pool));
    check_work(w);
}

static ze_result_t translate_to_another(int type, void *handle, void **translated) {
    (void)type;
    *translated = (char *)handle + 1;
    return ZE_RESULT_SUCCESS;
}

/* The handles may be the driver's. Nothing is done with those that are not known. */
static void test_pointers_where_the_loader_wraps_handles(void **state) {
    world *w = *state;
    ze_command_list_handle_t list;
    replace_symbol("zelLoaderTranslateHandle", (any_function)translate_to_another);
    zt_profiler *profiler = open_traced(w, NULL);
    launch_pointers by = find_pointers(w);
    launch_by_pointers(w, &by, w->immediate);
    finish_immediate(w, w->immediate);
    expect_launches(profiler, 0, 0, 3);
    expect_unmeasured(profiler, ZT_UNMEASURED_DRIVER_HANDLE, 2,
                      "could not be measured, because they were appended through pointers");
    expect_unmeasured(profiler, ZT_UNMEASURED_VARIABLE, 1,
                      "could not be measured, because zexCommandListAppendVariableLaunchKernel");
    create_immediate(w, &list); /* a handle of the loader */
    launch_by_pointers(w, &by, list);
    finish_immediate(w, list);
    collect_all(profiler);
    expect_launches(profiler, 2, 0, 4);
    ok(zeCommandListDestroy(list));
    check_work(w);
}

/* Times alone: they overlap as others. */
static void test_launches_through_pointers_with_events(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    ze_event_pool_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, NULL, ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 1};
    ze_event_desc_t of_event = {ZE_STRUCTURE_TYPE_EVENT_DESC, NULL, 0, ZE_EVENT_SCOPE_FLAG_HOST, 0};
    ze_group_count_t groups = {WORK_GROUPS, 1, 1};
    ze_event_pool_handle_t pool;
    ze_event_handle_t event;
    ze_command_list_handle_t list;
    config.groups = "";
    zt_profiler *profiler = open_profiler(w, &config);
    ok(zt_trace_start(profiler, NULL));
    launch_pointers by = find_pointers(w);
    ok(zeEventPoolCreate(w->context, &desc, 1, &w->device, &pool));
    ok(zeEventCreate(pool, &of_event, &event));
    create_immediate(w, &list);
    for (int i = 0; i < 10; i++) {
        ok(by.with_parameters(list, w->kernel, &groups, NULL, event, 0, NULL));
        ok(zeEventHostSynchronize(event, A_WHILE));
        ok(zeEventHostReset(event));
    }
    w->launches += 10;
    collect_all(profiler);
    assert_counts(profiler, counted(10, 10, 0, 0, 0));
    assert_int_equal(zt_get_info(profiler).launches.serialised, 0);
    ok(zeCommandListDestroy(list));
    ok(zeEventDestroy(event));
    ok(zeEventPoolDestroy(pool));
    check_work(w);
}

/* Without a list or a kernel: as older launches. */
static void test_newer_launches_that_name_nothing(void **state) {
    world *w = *state;
    ze_group_count_t groups = {WORK_GROUPS, 1, 1};
    group_size size = {WORK_ITEMS / WORK_GROUPS, 1, 1};
    launch_with_parameters with_parameters;
    launch_with_arguments with_arguments;
    void *values[4] = {NULL};
    find_newer("zeCommandListAppendLaunchKernelWithParameters", &with_parameters);
    find_newer("zeCommandListAppendLaunchKernelWithArguments", &with_arguments);
    if (loader_wraps_handles()) {
        puts("skipped: this loader dereferences handles");
        skip();
    }
    zt_profiler *profiler = open_traced(w, NULL);
    for (int i = 0; i < 2; i++) {
        ze_command_list_handle_t list = i == 0 ? NULL : w->immediate;
        ze_kernel_handle_t kernel = i == 0 ? w->kernel : NULL;
        assert_int_not_equal(with_parameters(list, kernel, &groups, NULL, NULL, 0, NULL), ZE_RESULT_SUCCESS);
        assert_int_not_equal(with_arguments(list, kernel, groups, size, values, NULL, NULL, 0, NULL),
                             ZE_RESULT_SUCCESS);
    }
    expect_launches(profiler, 0, 0, 4);
    expect_unmeasured(profiler, ZT_UNMEASURED_NULL, 4,
                      "could not be measured, because their list or kernel was NULL");
    assert_counts(profiler, counted(0, 0, 0, 0, 0));
}

typedef ze_result_t (*copy_with_parameters)(ze_command_list_handle_t, void *, const void *, size_t,
                                            const void *, ze_event_handle_t, uint32_t, ze_event_handle_t *);
typedef ze_result_t (*fill_with_parameters)(ze_command_list_handle_t, void *, const void *, size_t, size_t,
                                            const void *, ze_event_handle_t, uint32_t, ze_event_handle_t *);

static void test_copies_with_parameters(void **state) {
    world *w = *state;
    zt_trace_config config = everything();
    copy_with_parameters copy;
    fill_with_parameters fill;
    float pattern = 0;
    find_newer("zeCommandListAppendMemoryCopyWithParameters", &copy);
    find_newer("zeCommandListAppendMemoryFillWithParameters", &fill);
    config.copies = 1;
    zt_profiler *profiler = open_traced(w, &config);
    ok(copy(w->immediate, w->sums, w->sums + 1, sizeof(float), NULL, NULL, 0, NULL));
    ok(fill(w->immediate, w->sums, &pattern, sizeof pattern, sizeof(float), NULL, NULL, 0, NULL));
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    assert_counts(profiler, counted(2, 2, 0, 0, 0));
    assert_int_equal(region_info(profiler, "MemoryCopyWithParameters").count, 1);
    assert_int_equal(region_info(profiler, "MemoryFillWithParameters").count, 1);
}

typedef ze_result_t (*append_lists)(ze_command_list_handle_t, uint32_t, ze_command_list_handle_t *,
                                    ze_event_handle_t, uint32_t, ze_event_handle_t *);
typedef ze_result_t (*append_lists_with_parameters)(ze_command_list_handle_t, uint32_t,
                                                    ze_command_list_handle_t *, const void *,
                                                    ze_event_handle_t, uint32_t, ze_event_handle_t *);

/* A recorded list that is appended to an immediate one is executed, unless the driver refuses that. */
static void test_lists_appended_to_an_immediate_list(void **state) {
    world *w = *state;
    append_lists append_recorded;
    find_newer("zeCommandListImmediateAppendCommandListsExp", &append_recorded);
    zt_profiler *profiler = open_traced(w, NULL);
    record(w, w->list);
    for (int i = 0; i < 5; i++) {
        ok(append_recorded(w->immediate, 1, &w->list, NULL, 0, NULL));
        finish_immediate(w, w->immediate);
        w->launches++;
    }
    inject("zeCommandListImmediateAppendCommandListsExp", 1, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    assert_result(append_recorded(w->immediate, 1, &w->list, NULL, 0, NULL),
                  ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    collect_all(profiler);
    assert_counts(profiler, counted(5, 5, 0, 0, 0));
    expect_launches(profiler, 1, 0, 0);
    check_work(w);
    reset_list(w->list);
}

static void test_lists_appended_with_parameters(void **state) {
    world *w = *state;
    append_lists_with_parameters append_recorded;
    find_newer("zeCommandListImmediateAppendCommandListsWithParameters", &append_recorded);
    zt_profiler *profiler = open_traced(w, NULL);
    record(w, w->list);
    for (int i = 0; i < 5; i++) {
        ok(append_recorded(w->immediate, 1, &w->list, NULL, NULL, 0, NULL));
        w->launches++;
    }
    collect_all(profiler);
    assert_counts(profiler, counted(5, 5, 0, 0, 0));
    check_work(w);
    reset_list(w->list);
}

typedef struct capture_functions {
    ze_result_t (*begin)(ze_command_list_handle_t, const void *);
    ze_result_t (*end)(ze_command_list_handle_t, const void *, void **);
    ze_result_t (*destroy)(void *);
} capture_functions;

static capture_functions find_capture(void) {
    capture_functions capture;
    find_newer("zeCommandListBeginGraphCaptureExt", &capture.begin);
    find_newer("zeCommandListEndGraphCaptureExt", &capture.end);
    find_newer("zeGraphDestroyExt", &capture.destroy);
    return capture;
}

/* Into a graph, which may run any number of times or never. */
static void test_launches_are_captured(void **state) {
    world *w = *state;
    const capture_functions capture = find_capture();
    void *graph;
    zt_profiler *profiler = open_traced(w, NULL);
    ok(capture.begin(w->immediate, NULL));
    launch_kernel(w->immediate, w->kernel);
    launch_kernel(w->immediate, w->kernel);
    ok(capture.end(w->immediate, NULL, &graph));
    launch(w, w->immediate);
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    expect_launches(profiler, 1, 0, 2);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    check_work(w);
    ok(capture.destroy(graph));
}

/* Lists that wait for an event of the captured list are captured as well, until its capture ends. */
static void test_lists_join_a_capture(void **state) {
    world *w = *state;
    const capture_functions capture = find_capture();
    ze_group_count_t groups = {WORK_GROUPS, 1, 1};
    ze_command_list_handle_t joins, stays_out;
    ze_event_handle_t event, go;
    void *graph;
    zt_profiler *profiler = open_traced(w, NULL);
    create_event(w, 1, &event);
    create_event(w, 2, &go);
    create_immediate(w, &joins);
    create_immediate(w, &stays_out);
    ok(capture.begin(w->immediate, NULL));
    ok(zeCommandListAppendLaunchKernel(w->immediate, w->kernel, &groups, event, 0, NULL));
    ok(zeCommandListAppendLaunchKernel(joins, w->kernel, &groups, NULL, 1, &event));
    launch_kernel(joins, w->kernel);
    launch(w, stays_out);
    ok(zeEventHostSignal(go));
    ok(zeCommandListAppendLaunchKernel(stays_out, w->kernel, &groups, NULL, 1, &go));
    w->launches++;
    inject("zeCommandListIsGraphCaptureEnabledExt", 1, ZE_RESULT_ERROR_UNKNOWN);
    launch(w, stays_out);
    ok(capture.end(w->immediate, NULL, &graph));
    launch(w, joins);
    finish_immediate(w, joins);
    finish_immediate(w, stays_out);
    collect_all(profiler);
    expect_launches(profiler, 2, 0, 5);
    expect_unmeasured(profiler, ZT_UNMEASURED_CAPTURED, 3, "were captured into graphs");
    expect_unmeasured(profiler, ZT_UNMEASURED_CAPTURE_UNKNOWN, 1,
                      "could not be measured, because other lists were captured");
    expect_unmeasured(profiler, ZT_UNMEASURED_MAY_JOIN, 1,
                      "could not be measured, because they waited for events");
    assert_counts(profiler, counted(2, 2, 0, 0, 0));
    check_work(w);
    ok(capture.destroy(graph));
    ok(zeEventDestroy(event));
    ok(zeEventDestroy(go));
    ok(zeCommandListDestroy(joins));
    ok(zeCommandListDestroy(stays_out));
}

/* A capture that a hook ends, which is not traced, and the next one count as one: when that has ended, launches on
   other lists are measured as before. */
typedef struct capture_end {
    const capture_functions *functions;
    ze_command_list_handle_t list;
    void *graph;
} capture_end;

static void end_capture(void *parameters, int result, void *user, void **instance) {
    capture_end *of = user;
    (void)parameters, (void)result, (void)instance;
    ok(of->functions->end(of->list, NULL, &of->graph));
}

static void test_a_capture_that_a_hook_ends(void **state) {
    world *w = *state;
    const capture_functions capture = find_capture();
    capture_end of = {&capture, w->immediate, NULL};
    zt_hook hook = {"zeCommandListReset", end_capture, NULL, &of};
    zt_trace_config config = everything();
    ze_group_count_t groups = {WORK_GROUPS, 1, 1};
    void *graph;
    config.hooks = &hook;
    config.hook_count = 1;
    zt_profiler *profiler = open_traced(w, &config);
    ok(capture.begin(w->immediate, NULL));
    reset_list(w->list);
    ok(capture.begin(w->immediate, NULL));
    launch_kernel(w->immediate, w->kernel);
    ok(capture.end(w->immediate, NULL, &graph));
    ok(zeEventHostSignal(w->done));
    ok(zeCommandListAppendLaunchKernel(w->immediate, w->kernel, &groups, NULL, 1, &w->done));
    w->launches++;
    finish_unsignalled(w);
    collect_all(profiler);
    expect_launches(profiler, 1, 0, 1);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    check_work(w);
    ok(capture.destroy(of.graph));
    ok(capture.destroy(graph));
}

/* Where the loader cannot tell which lists are captured, none is measured while there is a capture. */
static void test_lists_beside_a_capture_that_cannot_be_queried(void **state) {
    world *w = *state;
    const capture_functions capture = find_capture();
    ze_command_list_handle_t beside;
    void *graph;
    hide_symbol("zeCommandListIsGraphCaptureEnabledExt");
    zt_profiler *profiler = open_traced(w, NULL);
    hide_symbol(NULL);
    create_immediate(w, &beside);
    ok(capture.begin(w->immediate, NULL));
    launch(w, beside);
    ok(capture.end(w->immediate, NULL, &graph));
    expect_launches(profiler, 0, 0, 1);
    expect_unmeasured(profiler, ZT_UNMEASURED_CAPTURE_UNKNOWN, 1,
                      "could not be measured, because other lists were captured");
    launch(w, beside);
    finish_immediate(w, beside);
    collect_all(profiler);
    expect_launches(profiler, 1, 0, 1);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    check_work(w);
    ok(capture.destroy(graph));
    ok(zeCommandListDestroy(beside));
}

/* What is captured may signal its event whenever the graph runs, so launches are not measured by it any more. */
static void test_an_event_of_a_capture(void **state) {
    world *w = *state;
    const capture_functions capture = find_capture();
    const ze_event_pool_desc_t pool_desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, NULL,
                                            ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 1};
    const ze_event_desc_t event_desc = {ZE_STRUCTURE_TYPE_EVENT_DESC, NULL, 0, ZE_EVENT_SCOPE_FLAG_HOST,
                                        ZE_EVENT_SCOPE_FLAG_HOST};
    ze_group_count_t groups = {WORK_GROUPS, 1, 1};
    ze_command_list_handle_t list;
    ze_event_pool_handle_t pool;
    ze_event_handle_t event;
    void *graph;
    zt_config config = config_of(w);
    config.groups = "";
    zt_profiler *profiler = open_profiler(w, &config);
    ok(zt_trace_start(profiler, NULL));
    ok(zeEventPoolCreate(w->context, &pool_desc, 1, &w->device, &pool));
    ok(zeEventCreate(pool, &event_desc, &event));
    create_immediate(w, &list);
    for (int is_captured = 0; is_captured < 2; is_captured++) {
        if (is_captured) {
            ok(capture.begin(list, NULL));
            ok(zeCommandListAppendLaunchKernel(list, w->kernel, &groups, event, 0, NULL));
            ok(capture.end(list, NULL, &graph));
            ok(zeEventHostReset(event)); /* of the signal of the first launch */
        }
        gpu.reset_calls();
        ok(zeCommandListAppendLaunchKernel(list, w->kernel, &groups, event, 0, NULL));
        w->launches++;
        assert_int_equal(calls("zeCommandListAppendWriteGlobalTimestamp"), is_captured ? 2 : 0);
        ok(zeEventHostSynchronize(event, A_WHILE));
    }
    finish_immediate(w, list);
    collect_all(profiler);
    expect_launches(profiler, 2, 0, 1);
    assert_counts(profiler, counted(2, 2, 0, 0, 0));
    check_work(w);
    ok(capture.destroy(graph));
    ok(zeCommandListDestroy(list));
    ok(zeEventDestroy(event));
    ok(zeEventPoolDestroy(pool));
}

/* Lists that are appended while their immediate list is captured are not executed. */
static void test_lists_appended_in_a_capture(void **state) {
    world *w = *state;
    const capture_functions capture = find_capture();
    append_lists append_recorded;
    void *graph;
    find_newer("zeCommandListImmediateAppendCommandListsExp", &append_recorded);
    zt_profiler *profiler = open_traced(w, NULL);
    record(w, w->list);
    ok(capture.begin(w->immediate, NULL));
    ok(append_recorded(w->immediate, 1, &w->list, NULL, 0, NULL));
    ok(capture.end(w->immediate, NULL, &graph));
    for (int i = 0; i < 2; i++) {
        execute_unprofiled(w, w->list);
        w->launches++;
    }
    collect_all(profiler);
    assert_counts(profiler, counted(2, 2, 0, 0, 0));
    check_work(w);
    ok(capture.destroy(graph));
}

typedef ze_result_t (*get_next_command)(ze_command_list_handle_t, const void *, uint64_t *);

/* An identifier that the application queries is that of the launch which follows, so nothing is appended in
   between. Such launches are not measured; those on other lists are. */
static void test_a_mutable_list(void **state) {
    world *w = *state;
    struct extension { /* ze_mutable_command_list_exp_desc_t, ze_mutable_command_id_exp_desc_t */
        ze_structure_type_t stype;
        const void *next;
        uint32_t flags;
    } is_mutable = {(ze_structure_type_t)0x00020016, NULL, 0},
      of_command = {(ze_structure_type_t)0x00020017, NULL, 0};
    ze_command_list_desc_t desc = {ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, &is_mutable, 0, 0};
    ze_command_list_handle_t list;
    get_next_command get_next;
    uint64_t before = 0, after = 0;
    find_newer("zeCommandListGetNextCommandIdExp", &get_next);
    ok(zeCommandListCreate(w->context, w->device, &desc, &list));
    zt_profiler *profiler = open_traced(w, NULL);
    ok(get_next(list, &of_command, &before));
    launch_kernel(list, w->kernel);
    ok(get_next(list, &of_command, &after));
    assert_int_equal(after, before + 1);
    ok(zeCommandListClose(list));
    execute_unprofiled(w, list);
    launch(w, w->immediate);
    finish_immediate(w, w->immediate);
    w->launches++;
    collect_all(profiler);
    expect_launches(profiler, 1, 0, 1);
    expect_unmeasured(profiler, ZT_UNMEASURED_CHANGEABLE, 1,
                      "could not be measured, because the application has queried identifiers");
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    check_work(w);
    ok(zeCommandListDestroy(list));
}

/* A copy of the list would write to the queries and events of the original. */
static void launch_on_a_list_to_clone(world *w, int is_older) {
    ze_command_list_desc_t desc = {ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, NULL, 0, CLONEABLE};
    ze_command_list_handle_t list;
    zt_profiler *profiler = is_older ? NULL : open_traced(w, NULL);
    ok(zeCommandListCreate(w->context, w->device, &desc, &list));
    if (is_older)
        profiler = open_traced(w, NULL);
    record(w, list);
    execute_unprofiled(w, list);
    w->launches++;
    collect_all(profiler);
    expect_launches(profiler, 0, 0, 1);
    expect_unmeasured(profiler, ZT_UNMEASURED_CLONEABLE, 1,
                      "could not be measured, because their lists can be cloned");
    assert_counts(profiler, counted(0, 0, 0, 0, 0));
    check_work(w);
    ok(zeCommandListDestroy(list));
}

static void test_a_list_that_can_be_cloned(void **state) {
    void (*clone)(void);
    find_newer("zeCommandListCreateCloneExp", &clone);
    launch_on_a_list_to_clone(*state, 0);
}

/* Such a list was created before the start: the driver knows. */
static void test_a_list_from_before_the_start_that_can_be_cloned(void **state) {
    void (*get_flags)(void);
    find_newer("zeCommandListGetFlags", &get_flags);
    launch_on_a_list_to_clone(*state, 1);
}

/* ==== completeness and cost =============================================================================== */

/* The driver calls of launches in steady state: the launches themselves, and the calls of the library. */
static uint64_t calls_for_launches(uint64_t launches) {
    static const char *const own[] = {"zetCommandListAppendMetricQueryBegin",
                                      "zetCommandListAppendMetricQueryEnd",
                                      "zeEventQueryStatus",
                                      "zetMetricQueryGetData",
                                      "zeEventHostReset",
                                      "zetMetricQueryReset",
                                      "zetMetricGroupCalculateMetricValues",
                                      "zeKernelGetName",
                                      "zeCommandListIsImmediate",
                                      "zeCommandListGetContextHandle",
                                      "zeCommandListGetDeviceHandle",
                                      "zeEventCreate",
                                      "zetMetricQueryCreate",
                                      "zeDeviceGetProperties"};
    uint64_t sum = launches;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        sum += calls(own[i]);
    return sum;
}

static void test_launches_on_reset_lists(void **state) {
    world *w = *state;
    const uint32_t all = OFTEN(20000), warm_up = all < 20000 ? 600 : 2000;
    zt_profiler *profiler = open_traced(w, NULL);
    for (uint32_t i = 0; i < warm_up; i++)
        run_and_reset(w);
    heap_use before = library_memory();
    gpu.reset_calls();
    for (uint32_t i = warm_up; i < all; i++)
        run_and_reset(w);
    assert_same_memory(before);
    assert_in_range(calls_for_launches(all - warm_up), 1, 11 * (all - warm_up));
    collect_all(profiler);
    assert_counts(profiler, counted(all, all, 0, 0, 0));
    expect_launches(profiler, all, 0, 0);
    check_work(w);
}

static void test_executions_of_one_list(void **state) {
    world *w = *state;
    const uint32_t warm_up = 600, all = INSTRUMENTED ? 800 : 2000;
    zt_profiler *profiler = open_traced(w, NULL);
    record(w, w->list);
    heap_use before = library_memory();
    for (uint32_t i = 0; i < all; i++) {
        if (i == warm_up)
            before = library_memory();
        ok(zeCommandQueueExecuteCommandLists(w->queue, 1, &w->list, NULL));
        w->launches++;
    }
    assert_same_memory(before);
    finish_queue(w);
    collect_all(profiler);
    assert_counts(profiler, counted(all, all, 0, 0, 0));
    expect_launches(profiler, 1, 0, 0);
    check_work(w);
}

/* The application waits for each execution, so the library queries nothing twice. */
static void test_driver_calls_of_an_execution(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_traced(w, NULL);
    record(w, w->list);
    for (int i = 0; i < 200; i++) {
        if (i == 100)
            gpu.reset_calls();
        execute_unprofiled(w, w->list);
        w->launches++;
    }
    assert_in_range(calls_for_launches(100), 1, 8 * 100);
    collect_all(profiler);
    assert_counts(profiler, counted(200, 200, 0, 0, 0));
    check_work(w);
}

static void test_launches_on_an_immediate_list(void **state) {
    world *w = *state;
    const uint32_t warm_up = 1000, all = INSTRUMENTED ? 1200 : 3000;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    ze_command_list_handle_t list;
    ok(zt_trace_start(profiler, NULL));
    create_immediate(w, &list);
    heap_use before = library_memory();
    for (uint32_t i = 0; i < all; i++) {
        if (i == warm_up) {
            collect_all(profiler);
            before = library_memory();
            gpu.reset_calls();
        }
        launch(w, list);
        finish_immediate(w, list);
    }
    assert_same_memory(before);
    finish_immediate(w, list);
    /* waiting for an event is the application's own, and so is its reset */
    assert_in_range(calls_for_launches(all - warm_up) - (all - warm_up) - 1, 1, 11 * (all - warm_up));
    ok(zeCommandListDestroy(list));
    collect_all(profiler);
    assert_counts(profiler, counted(all, all, 0, 0, 0));
    expect_launches(profiler, all, 0, 0);
    check_work(w);
}

/* ==== filters ============================================================================================= */

static void launch_both(world *w, other_kernel *other, uint32_t often) {
    ze_group_count_t one = {1, 1, 1};
    for (uint32_t i = 0; i < often; i++) {
        launch(w, w->immediate);
        ok(zeCommandListAppendLaunchKernel(w->immediate, other->kernel, &one, NULL, 0, NULL));
    }
    finish_immediate(w, w->immediate);
}

/* Kernels that are not named are not measured. Of the others, so many launches have metrics. */
static void expect_filtered(world *w, const char *names, uint32_t every, uint64_t limit, uint64_t saxpy,
                            uint64_t reduce) {
    uint64_t measured = (saxpy ? 12u : 0u) + (reduce ? 12u : 0u);
    other_kernel other;
    zt_trace_config config = everything();
    config.names = names;
    config.every = every;
    config.limit = limit;
    zt_profiler *profiler = open_traced(w, &config);
    create_other(w, &other);
    launch_both(w, &other, 12);
    collect_all(profiler);
    expect_launches(profiler, measured, 24 - measured, 0);
    assert_int_equal(zt_get_info(profiler).launches.times_alone, measured - saxpy - reduce);
    assert_int_equal(zt_get_info(profiler).counts.collected, measured);
    if (saxpy) {
        assert_int_equal(region_info(profiler, "saxpy").count, 12);
        assert_int_equal(region_info(profiler, "saxpy").with_metrics, saxpy);
    }
    if (reduce) {
        assert_int_equal(region_info(profiler, "reduce").count, 12);
        assert_int_equal(region_info(profiler, "reduce").with_metrics, reduce);
    }
    destroy_other(&other);
    close_profiler(w, profiler);
}

static void test_filters(void **state) {
    world *w = *state;
    expect_filtered(w, NULL, 0, 0, 12, 12);
    expect_filtered(w, "saxpy", 0, 0, 12, 0);
    expect_filtered(w, "sax*", 0, 0, 12, 0);
    expect_filtered(w, "*e", 0, 0, 0, 12);
    expect_filtered(w, "r?duce, nothing", 0, 0, 0, 12);
    expect_filtered(w, "*p*, *u*", 0, 0, 12, 12);
    expect_filtered(w, "!saxpy", 0, 0, 0, 12);
    expect_filtered(w, "*, !re*", 0, 0, 12, 0);
    expect_filtered(w, "axpy", 0, 0, 0, 0);
    expect_filtered(w, NULL, 5, 0, 3, 3);
    expect_filtered(w, NULL, 0, 7, 7, 7);
    expect_filtered(w, "saxpy", 3, 2, 2, 0);
}

/* A launch that is filtered out needs no driver call and no memory. */
static void test_a_filtered_launch_costs_nothing(void **state) {
    world *w = *state;
    zt_trace_config config = everything();
    config.names = "nothing";
    zt_profiler *profiler = open_traced(w, &config);
    launch(w, w->immediate);
    heap_use before = library_memory();
    gpu.reset_calls();
    for (int i = 0; i < 100; i++)
        launch(w, w->immediate);
    assert_int_equal(calls(NULL), 100);
    assert_same_memory(before);
    expect_launches(profiler, 0, 101, 0);
    check_work(w);
}

/* ==== lists =============================================================================================== */

static void test_a_list_reset_before_it_ran(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_traced(w, NULL);
    for (int i = 0; i < 5; i++)
        launch_kernel(w->list, w->kernel);
    reset_list(w->list);
    collect_all(profiler);
    assert_counts(profiler, counted(0, 0, 0, 0, 0));
    run_and_reset(w);
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    check_work(w);
}

/* A region of the application is on its way on an immediate list, whose kind the tracer alone may know, when a launch is
   measured. */
static void test_a_launch_after_a_region_on_its_way(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_traced(w, NULL);
    ze_command_list_handle_t list;
    create_immediate(w, &list);
    ze_event_handle_t gate = append_gate(w, list);
    for (int i = 0; i < 3; i++) {
        zt_region region = zt_begin(profiler, list, "region");
        zt_end(&region);
        launch(w, list);
        ok(zt_collect(profiler, 0));
    }
    assert_counts(profiler, counted(6, 0, 0, 0, 6));
    ok(zeEventHostSignal(gate));
    finish_immediate(w, list);
    collect_all(profiler);
    assert_counts(profiler, counted(6, 6, 0, 0, 0));
    check_work(w);
    ok(zeCommandListDestroy(list));
    ok(zeEventDestroy(gate));
}

/* A reset that the driver refuses changes nothing. */
static void test_a_list_that_was_not_reset(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_traced(w, NULL);
    record(w, w->list);
    inject("zeCommandListReset", 1, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    assert_result(zeCommandListReset(w->list), ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    assert_counts(profiler, counted(maybe_running(1), 0, 0, 0, maybe_running(1)));
    execute_unprofiled(w, w->list);
    w->launches++;
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    check_work(w);
}

/* There are fewer probes than lists, so this fails if destroyed lists keep theirs. */
static void test_destroyed_lists_free_probes(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.max_probes = config.probes_per_step = 16;
    zt_profiler *profiler = open_profiler(w, &config);
    ok(zt_trace_start(profiler, NULL));
    for (int i = 0; i < 100; i++) {
        ze_command_list_handle_t list;
        create_list(w, &list);
        record(w, list);
        if (i % 2)
            execute_unprofiled(w, list);
        w->launches += (uint32_t)i % 2;
        ok(zeCommandListDestroy(list));
        create_immediate(w, &list); /* the handle may be the same */
        launch(w, list);
        finish_immediate(w, list);
        ok(zeCommandListDestroy(list));
    }
    collect_all(profiler);
    assert_counts(profiler, counted(150, 150, 0, 0, 0));
    check_work(w);
}

static void destroy_in_vain(ze_command_list_handle_t list) {
    inject("zeCommandListDestroy", 1, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    assert_result(zeCommandListDestroy(list), ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
}

/* A destruction that the driver refuses changes nothing: not on a list that has run, */
static void test_a_list_that_was_not_destroyed(void **state) {
    world *w = *state;
    ze_command_list_handle_t list;
    zt_profiler *profiler = open_traced(w, NULL);
    create_list(w, &list);
    record(w, list);
    execute_unprofiled(w, list);
    destroy_in_vain(list);
    collect_all(profiler);
    execute_unprofiled(w, list);
    collect_all(profiler);
    assert_counts(profiler, counted(2, 2, 0, 0, 0));
    w->launches += 2;
    check_work(w);
    ok(zeCommandListDestroy(list));
}

/* nor on one that has not, */
static void test_a_list_that_was_not_destroyed_before_it_ran(void **state) {
    world *w = *state;
    ze_command_list_handle_t list;
    zt_profiler *profiler = open_traced(w, NULL);
    create_list(w, &list);
    record(w, list);
    destroy_in_vain(list);
    ok(zt_collect(profiler, 0));
    assert_counts(profiler, counted(0, 0, 0, 0, 0));
    execute_unprofiled(w, list);
    w->launches++;
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    check_work(w);
    ok(zeCommandListDestroy(list));
}

/* nor on one with a region that is open, */
static void test_an_open_region_on_a_list_that_was_not_destroyed(void **state) {
    world *w = *state;
    ze_command_list_handle_t list;
    zt_profiler *profiler = open_traced(w, NULL);
    create_immediate(w, &list);
    zt_region region = zt_begin(profiler, list, "step");
    destroy_in_vain(list);
    zt_end(&region);
    launch(w, list);
    finish_immediate(w, list);
    collect_all(profiler);
    assert_counts(profiler, counted(2, 2, 0, 0, 0));
    assert_int_equal(w->message_count, 0);
    check_work(w);
    ok(zeCommandListDestroy(list));
}

/* nor in what is known about a list. */
static void test_a_list_to_clone_that_was_not_destroyed(void **state) {
    world *w = *state;
    ze_command_list_desc_t desc = {ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, NULL, 0, CLONEABLE};
    ze_command_list_handle_t list;
    void (*clone)(void);
    find_newer("zeCommandListCreateCloneExp", &clone);
    zt_profiler *profiler = open_traced(w, NULL);
    ok(zeCommandListCreate(w->context, w->device, &desc, &list));
    destroy_in_vain(list);
    launch_kernel(list, w->kernel);
    expect_launches(profiler, 0, 0, 1);
    ok(zeCommandListDestroy(list));
}

/* Its probes go to no other region, which would get the figures of the list. */
static void test_probes_of_a_list_that_was_not_destroyed(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    ze_command_list_handle_t list;
    config.groups = "ComputeBasic";
    config.max_probes = config.probes_per_step = 2;
    zt_profiler *profiler = open_profiler(w, &config);
    ok(zt_trace_start(profiler, NULL));
    create_list(w, &list);
    record(w, list);
    execute_unprofiled(w, list);
    destroy_in_vain(list);
    collect_all(profiler);
    launch(w, w->immediate); /* has the other probe */
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    ze_event_handle_t gate = append_gate(w, w->immediate);
    ze_group_count_t half = {WORK_GROUPS / 2, 1, 1};
    ok(zeCommandListAppendLaunchKernel(w->immediate, w->kernel, &half, NULL, 0, NULL));
    execute_unprofiled(w, list);
    ok(zt_collect(profiler, 0));
    assert_counts(profiler, counted(4, 3, 0, 0, 1));
    ok(zeEventHostSignal(gate));
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    assert_counts(profiler, counted(4, 4, 0, 0, 0));
    zt_stats work = stats_of(profiler, "saxpy", "GPGPU_THREADGROUP_COUNT");
    assert_true(work.sum == 3 * WORK_GROUPS + WORK_GROUPS / 2);
    ok(zeCommandListDestroy(list));
    ok(zeEventDestroy(gate));
}

static void run_other(world *w, const other_kernel *other) {
    launch_kernel(w->list, other->kernel);
    ok(zeCommandListClose(w->list));
    execute_unprofiled(w, w->list);
    reset_list(w->list);
}

/* Launches are measured as before after the driver has refused to destroy kernel, module and queue. */
static void test_what_else_was_not_destroyed(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_traced(w, NULL);
    other_kernel other;
    create_other(w, &other);
    run_other(w, &other);
    inject("zeKernelDestroy", 1, ZE_RESULT_ERROR_UNKNOWN);
    inject("zeModuleDestroy", 1, ZE_RESULT_ERROR_UNKNOWN);
    inject("zeCommandQueueDestroy", 1, ZE_RESULT_ERROR_UNKNOWN);
    assert_result(zeKernelDestroy(other.kernel), ZE_RESULT_ERROR_UNKNOWN);
    assert_result(zeModuleDestroy(other.module), ZE_RESULT_ERROR_UNKNOWN);
    assert_result(zeCommandQueueDestroy(w->queue), ZE_RESULT_ERROR_UNKNOWN);
    run_other(w, &other);
    collect_all(profiler);
    assert_counts(profiler, counted(2, 2, 0, 0, 0));
    assert_int_equal(region_info(profiler, "reduce").count, 2);
    expect_launches(profiler, 2, 0, 0);
    destroy_other(&other);
}

/* The handle of a destroyed list comes back before the call has returned to the tracer. */
typedef struct successor {
    world *w;
    ze_command_list_flags_t flags;
    ze_command_list_handle_t list;
} successor;

static void *create_successor(void *argument) {
    successor *next = argument;
    ze_command_list_desc_t desc = {ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, NULL, 0, next->flags};
    ze_group_count_t groups = {WORK_GROUPS, 1, 1};
    ok_on_thread(zeCommandListCreate(next->w->context, next->w->device, &desc, &next->list));
    ok_on_thread(zeCommandListAppendLaunchKernel(next->list, next->w->kernel, &groups, NULL, 0, NULL));
    return NULL;
}

static void ZE_APICALL succeed_list(void *parameters, ze_result_t result, void *user, void **instance) {
    successor *next = user;
    (void)parameters, (void)instance;
    if (result == ZE_RESULT_SUCCESS && !next->list)
        run_in_time(next->w, create_successor, next);
}

typedef void(ZE_APICALL *loader_callback)(void *parameters, ze_result_t result, void *user, void **instance);

static zel_tracer_handle_t tracer_before;

/* Calls a function after a call, and before the library's epilogue of it: a tracer of the loader, which was enabled
   before the library's. */
static void trace_before(const char *call, loader_callback epilogue, void *user) {
    zel_tracer_desc_t desc = {ZEL_STRUCTURE_TYPE_TRACER_DESC, NULL, user};
    ze_result_t (*set)(zel_tracer_handle_t, zel_tracer_reg_t, loader_callback);
    char symbol[128];
    snprintf(symbol, sizeof symbol, "zelTracer%sRegisterCallback", call + strlen("ze"));
    *(void **)&set = dlsym(RTLD_DEFAULT, symbol);
    assert_non_null(set);
    ok(zelTracerCreate(&desc, &tracer_before));
    ok(set(tracer_before, ZEL_REGISTER_EPILOGUE, epilogue));
    ok(zelTracerSetEnabled(tracer_before, 1));
}

static void stop_tracing_before(void) {
    ok(zelTracerSetEnabled(tracer_before, 0));
    ok(zelTracerDestroy(tracer_before));
}

static zt_profiler *create_at_once(world *w, successor *next) {
    ze_command_list_handle_t list;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    trace_before("zeCommandListDestroy", succeed_list, next);
    ok(zt_trace_start(profiler, NULL));
    gpu.behave(SOFTGPU_HANDLES_COME_BACK, 1);
    create_list(w, &list);
    record(w, list);
    ok(zeCommandListDestroy(list));
    stop_tracing_before();
    assert_no_noted_failure();
    if (loader_wraps_handles() && next->list != list) {
        ok(zeCommandListDestroy(next->list));
        puts("skipped: this loader wraps handles");
        skip();
    }
    assert_ptr_equal(next->list, list);
    return profiler;
}

typedef struct churner {
    world *w;
    zt_profiler *profiler;
    pthread_t thread;
    int failures;
} churner;

static void *make_and_destroy_lists(void *user) {
    churner *me = user;
    for (int i = 0; i < OFTEN(20000) && !me->failures; i++) {
        ze_command_list_desc_t desc = {ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, NULL, 0, 0};
        ze_command_list_handle_t list = NULL;
        me->failures += zeCommandListCreate(me->w->context, me->w->device, &desc, &list) != ZE_RESULT_SUCCESS;
        zt_region region = zt_begin(me->profiler, list, "region");
        me->failures += zeCommandListAppendBarrier(list, NULL, 0, NULL) != ZE_RESULT_SUCCESS;
        zt_end(&region);
        me->failures += zeCommandListClose(list) != ZE_RESULT_SUCCESS;
        me->failures += zeCommandListDestroy(list) != ZE_RESULT_SUCCESS;
    }
    return NULL;
}

/* A list that is destroyed leaves its handle to another thread, which begins regions on it before the first one has
   returned: these are not dropped with the old list. */
static void test_handles_pass_between_threads(void **state) {
    world *w = *state;
    churner threads[3];
    zt_trace_config config = {0};
    if (loader_wraps_handles()) {
        puts("skipped: this loader aborts if a handle comes back before the call that destroys it has "
             "returned");
        skip();
    }
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    config.no_launches = 1;
    ok(zt_trace_start(profiler, &config));
    gpu.behave(SOFTGPU_HANDLES_COME_BACK, 1);
    for (int i = 0; i < 3; i++) {
        churner *me = &threads[i];
        me->w = w;
        me->profiler = profiler;
        me->failures = 0;
        assert_int_equal(pthread_create(&me->thread, NULL, make_and_destroy_lists, me), 0);
    }
    for (int i = 0; i < 3; i++) {
        join_in_time(w, threads[i].thread);
        assert_int_equal(threads[i].failures, 0);
    }
    collect_all(profiler);
    assert_counts(profiler, counted(0, 0, 0, 0, 0));
    close_profiler(w, profiler);
}

static void test_a_handle_comes_back_at_once(void **state) {
    world *w = *state;
    successor next = {w, 0, NULL};
    zt_profiler *profiler = create_at_once(w, &next);
    ok(zeCommandListClose(next.list));
    ok(zt_collect(profiler, 0));
    assert_counts(profiler, counted(0, 0, 0, 0, 0));
    for (int i = 0; i < 2; i++) {
        execute_unprofiled(w, next.list);
        w->launches++;
    }
    collect_all(profiler);
    assert_counts(profiler, counted(2, 2, 0, 0, 0));
    ok(zeCommandListDestroy(next.list));
    check_work(w);
}

/* Likewise those of a kernel and a module: what is known of the new ones stays known. */
typedef struct next_module {
    world *w;
    ze_module_handle_t module;
    ze_kernel_handle_t kernel;
} next_module;

static void *create_next_kernel(void *argument) {
    next_module *next = argument;
    create_kernel(next->w, &next->kernel);
    return NULL;
}

static void ZE_APICALL succeed_kernel(void *parameters, ze_result_t result, void *user, void **instance) {
    next_module *next = user;
    (void)parameters, (void)instance;
    if (result == ZE_RESULT_SUCCESS && !next->kernel)
        run_in_time(next->w, create_next_kernel, next);
}

static void *create_next_module(void *argument) {
    next_module *next = argument;
    next->module = load_module(next->w, "build/kernels/saxpy.so", "");
    return NULL;
}

static void ZE_APICALL succeed_module(void *parameters, ze_result_t result, void *user, void **instance) {
    next_module *next = user;
    (void)parameters, (void)instance;
    if (result == ZE_RESULT_SUCCESS && !next->module)
        run_in_time(next->w, create_next_module, next);
}

static void expect_next_launch(world *w, zt_profiler *profiler, ze_kernel_handle_t kernel) {
    zt_kernel_info info;
    launch_kernel(w->immediate, kernel);
    w->launches++;
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    assert_int_equal(region_info(profiler, "saxpy").count, 1);
    assert_int_equal(zt_get_info(profiler).kernel_count, 1);
    ok(zt_get_kernel(profiler, 0, &info));
    assert_string_equal(info.name, "saxpy");
    assert_int_equal(info.shape_count, 1);
    assert_int_equal(info.shapes[0].group_size[0], WORK_ITEMS / WORK_GROUPS);
    assert_true(info.module != 0);
    check_work(w);
}

static void test_a_kernel_comes_back_at_once(void **state) {
    world *w = *state;
    next_module next = {w, NULL, NULL};
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    trace_before("zeKernelDestroy", succeed_kernel, &next);
    ok(zt_trace_start(profiler, NULL));
    gpu.behave(SOFTGPU_HANDLES_COME_BACK, 1);
    ze_kernel_handle_t kernel;
    create_kernel(w, &kernel);
    ok(zeKernelDestroy(kernel));
    stop_tracing_before();
    if (next.kernel != kernel)
        puts("# the handle did not come back"); /* as where a layer wraps it */
    expect_next_launch(w, profiler, next.kernel);
    ok(zeKernelDestroy(next.kernel));
}

static void test_a_module_comes_back_at_once(void **state) {
    world *w = *state;
    next_module next = {w, NULL, NULL};
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    trace_before("zeModuleDestroy", succeed_module, &next);
    ok(zt_trace_start(profiler, NULL));
    gpu.behave(SOFTGPU_HANDLES_COME_BACK, 1);
    ze_module_handle_t module = load_module(w, "build/kernels/reduce.so", ""), own = w->module;
    ze_kernel_handle_t kernel;
    ok(zeModuleDestroy(module));
    stop_tracing_before();
    if (next.module != module)
        puts("# the handle did not come back");
    w->module = next.module;
    create_kernel(w, &kernel);
    w->module = own;
    expect_next_launch(w, profiler, kernel);
    ok(zeKernelDestroy(kernel));
    ok(zeModuleDestroy(next.module));
}

/* What is known of the new list stays known. */
static void test_a_list_to_clone_comes_back_at_once(void **state) {
    world *w = *state;
    successor next = {w, CLONEABLE, NULL};
    void (*clone)(void);
    find_newer("zeCommandListCreateCloneExp", &clone);
    zt_profiler *profiler = create_at_once(w, &next);
    launch_kernel(next.list, w->kernel);
    expect_launches(profiler, 1, 0, 2);
    ok(zeCommandListDestroy(next.list));
}

static void test_a_refused_execution_is_not_counted(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_traced(w, NULL);
    record(w, w->list);
    execute_unprofiled(w, w->list);
    inject("zeCommandQueueExecuteCommandLists", 1, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    assert_result(zeCommandQueueExecuteCommandLists(w->queue, 1, &w->list, NULL),
                  ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    execute_unprofiled(w, w->list);
    w->launches += 2;
    collect_all(profiler);
    assert_counts(profiler, counted(2, 2, 0, 0, 0));
    check_work(w);
}

/* Nor is one of a list that the call names twice: neither the first of it, nor one that finds it read, nor one
   that finds it on its way. */
static void test_a_refused_execution_of_a_list_twice(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_with_timeout(w, 1000000);
    ze_command_list_handle_t twice[] = {w->list, w->list};
    ok(zt_trace_start(profiler, NULL));
    record(w, w->list);
    for (uint64_t i = 0; i < 3; i++) {
        inject("zeCommandQueueExecuteCommandLists", 1, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
        assert_result(zeCommandQueueExecuteCommandLists(w->queue, 2, twice, NULL),
                      ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
        ok(zt_collect(profiler, 0));
        uint64_t recorded = i ? 0 : maybe_running(1);
        assert_counts(profiler, counted(i + recorded, i, 0, 0, recorded));
        execute_unprofiled(w, w->list);
        w->launches++;
        collect_all(profiler);
        assert_counts(profiler, counted(i + 1, i + 1, 0, 0, 0));
    }
    ok(zeCommandListReset(w->list));
    ze_event_handle_t gate = append_gate(w, w->list);
    record(w, w->list);
    ok(zeCommandQueueExecuteCommandLists(w->queue, 1, &w->list, NULL));
    inject("zeCommandQueueExecuteCommandLists", 1, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    assert_result(zeCommandQueueExecuteCommandLists(w->queue, 2, twice, NULL),
                  ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    ok(zeEventHostSignal(gate));
    finish_queue(w);
    w->launches++;
    collect_all(profiler);
    assert_counts(profiler, counted(4, 4, 0, 0, 0));
    ok(zeEventDestroy(gate));
    check_work(w);
}

/* A program that only traces has no zt_execute: the message names the call that it made. */
static void test_an_execution_that_overwrites(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_with_timeout(w, 1000000);
    ok(zt_trace_start(profiler, NULL));
    ze_event_handle_t gate = append_gate(w, w->list);
    record(w, w->list);
    for (int i = 0; i < 2; i++)
        ok(zeCommandQueueExecuteCommandLists(w->queue, 1, &w->list, NULL));
    assert_int_equal(heard(w, "[OVERWRITTEN] zeCommandQueueExecuteCommandLists: "), 1);
    ok(zeEventHostSignal(gate));
    finish_queue(w);
    w->launches += 2;
    ok(zt_collect(profiler, 0)); /* no call has named the queue since it was idle */
    assert_counts(profiler, counted(2, 0, 1, 0, 1));
    ok(zt_release(profiler, w->list));
    assert_counts(profiler, counted(2, 1, 1, 0, 0));
    gpu.forget_findings(); /* the queries were not reset: the device had not done with them */
    ok(zeEventDestroy(gate));
    check_work(w);
}

/* The last execution is still on its way: nothing of it is overwritten, and nothing says so. */
static void test_a_refused_execution_overwrites_nothing(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_with_timeout(w, 1000000);
    ok(zt_trace_start(profiler, NULL));
    ze_event_handle_t gate = append_gate(w, w->list);
    record(w, w->list);
    ok(zeCommandQueueExecuteCommandLists(w->queue, 1, &w->list, NULL));
    inject("zeCommandQueueExecuteCommandLists", 1, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    assert_result(zeCommandQueueExecuteCommandLists(w->queue, 1, &w->list, NULL),
                  ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    assert_int_equal(heard(w, "[OVERWRITTEN]"), 0);
    ok(zeEventHostSignal(gate));
    finish_queue(w);
    w->launches++;
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    ok(zeEventDestroy(gate));
    check_work(w);
}

/* Another thread waits for a queue, and a list is executed on it meanwhile: when that wait has ended, the queue counts
   as idle only if the later execution has ended as well. */
static void *wait_for_queue(void *argument) {
    world *w = argument;
    ok_on_thread(zeCommandQueueSynchronize(w->queue, A_WHILE));
    return NULL;
}

static void test_a_list_is_executed_while_another_thread_waits(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    pthread_t thread;
    ze_command_list_handle_t list;
    config.groups = "";
    zt_profiler *profiler = open_profiler(w, &config);
    ok(zt_trace_start(profiler, NULL));
    create_list(w, &list);
    ze_event_handle_t gate = append_gate(w, list);
    launch_kernel(list, w->kernel);
    ok(zeCommandListClose(list));
    ok(zeCommandQueueExecuteCommandLists(w->queue, 1, &list, NULL));
    uint64_t before = calls("zeCommandQueueSynchronize");
    assert_int_equal(pthread_create(&thread, NULL, wait_for_queue, w), 0);
    for (uint64_t end = now_ns() + A_WHILE; calls("zeCommandQueueSynchronize") == before; nap())
        assert_true(now_ns() < end);
    ok(zeCommandQueueExecuteCommandLists(w->queue, 1, &list, NULL)); /* overlaps with the first */
    ok(zeEventHostSignal(gate));
    join_in_time(w, thread);
    assert_no_noted_failure();
    finish_queue(w);
    ok(zeCommandQueueExecuteCommandLists(w->queue, 1, &list, NULL));
    finish_queue(w);
    w->launches += 3;
    collect_all(profiler);
    check_identity(profiler);
    assert_int_equal(zt_get_info(profiler).counts.begun, 3);
    assert_int_equal(zt_get_info(profiler).causes[ZT_LOST_OVERWRITTEN].count, 1);
    assert_int_equal(zt_get_info(profiler).counts.collected, 2);
    check_work(w);
    ok(zeCommandListDestroy(list));
    ok(zeEventDestroy(gate));
}

/* The region around it is dropped, but complete: its queries are reset before each execution. */
static void test_a_refused_launch_on_a_list_that_is_executed(void **state) {
    world *w = *state;
    ze_group_count_t groups = {WORK_GROUPS, 1, 1};
    zt_profiler *profiler = open_traced(w, NULL);
    inject("zeCommandListAppendLaunchKernel", 1, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_result(zeCommandListAppendLaunchKernel(w->list, w->kernel, &groups, NULL, 0, NULL),
                  ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    ok(zeCommandListClose(w->list));
    for (int i = 0; i < 10; i++)
        ok(zeCommandQueueExecuteCommandLists(w->queue, 1, &w->list, NULL));
    finish_queue(w);
    assert_int_equal(gpu.findings(), 0);
    assert_counts(profiler, counted(1, 0, 0, 1, 0));
    reset_list(w->list);
    check_work(w);
}

static void test_a_start_in_the_middle_of_recording(void **state) {
    world *w = *state;
    launch_kernel(w->list, w->kernel);
    launch(w, w->immediate);
    zt_profiler *profiler = open_traced(w, NULL);
    launch_kernel(w->list, w->kernel);
    ok(zeCommandListClose(w->list));
    for (int i = 0; i < 3; i++)
        execute_unprofiled(w, w->list);
    w->launches += 6;
    launch(w, w->immediate);
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    assert_counts(profiler, counted(4, 4, 0, 0, 0));
    check_work(w);
}

/* A recorded list is executed after the stop, with and without zt_execute. */
static void test_a_stop_with_lists_recorded(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_traced(w, NULL);
    record(w, w->list);
    execute_unprofiled(w, w->list);
    ok(zt_trace_stop(profiler));
    collect_all(profiler);
    execute_unprofiled(w, w->list);
    collect_all(profiler);
    execute(w, profiler, w->list);
    collect_all(profiler);
    w->launches += 3;
    assert_counts(profiler, counted(3, 2, 1, 0, 0)); /* nobody has reported the second */
    ok(zt_release(profiler, w->list));
    check_work(w);
}

/* The reset is not observed: what was on the list is not expected when the list is executed again. */
static void test_a_reset_between_two_starts(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_with_timeout(w, 1000000000);
    for (uint64_t i = 0; i < 5; i++) {
        ok(zt_trace_start(profiler, NULL));
        record(w, w->list);
        if (i % 2)
            execute_unprofiled(w, w->list);
        ok(zt_trace_stop(profiler));
        if (i % 2 == 0)
            execute_unprofiled(w, w->list);
        reset_list(w->list);
        w->launches++;
    }
    ok(zt_trace_start(profiler, NULL));
    run_and_reset(w);
    collect_all(profiler);
    uint64_t dropped =
        zt_get_info(profiler).causes[ZT_DROPPED_NEVER_RAN].count; /* of recordings whose reset nobody saw */
    assert_in_range(dropped, 0, 3);
    assert_counts(profiler, counted(6 + dropped, 6, 0, dropped, 0));
    check_work(w);
}

/* Reset and recorded anew while nothing is traced: its executions are not taken for those of the older recording, which
   would be waited for in vain. */
static void test_a_list_recorded_between_two_starts(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_with_timeout(w, 1000000000);
    ok(zt_trace_start(profiler, NULL));
    record(w, w->list);
    execute_unprofiled(w, w->list);
    ok(zt_trace_stop(profiler));
    reset_list(w->list);
    record(w, w->list);
    ok(zt_trace_start(profiler, NULL));
    for (int i = 0; i < 3; i++)
        execute_unprofiled(w, w->list);
    w->launches += 4;
    ok(zt_collect(profiler, A_WHILE));
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    check_work(w);
}

/* Nor is it expected by zt_execute, on a list that has run without it before. */
static void test_a_reset_after_the_stop(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_with_timeout(w, 50000000);
    append(w, profiler, w->list, "first");
    ok(zeCommandListClose(w->list));
    execute_unprofiled(w, w->list);
    collect_all(profiler);
    ok(zt_trace_start(profiler, NULL));
    reset_list(w->list);
    launch_kernel(w->list, w->kernel); /* never runs */
    ok(zt_trace_stop(profiler));
    reset_list(w->list);
    append(w, profiler, w->list, "second");
    ok(zeCommandListClose(w->list));
    for (int i = 0; i < 3; i++)
        execute(w, profiler, w->list);
    w->launches += 4;
    ok(zt_collect(profiler, 0));
    assert_counts(profiler, counted(5, 4, 0, 1, 0));
    assert_int_equal(zt_get_info(profiler).causes[ZT_DROPPED_NEVER_RAN].count, 1);
    ok(zt_release(profiler, w->list));
    check_work(w);
}

static void create_elsewhere(world *w, ze_context_handle_t *context, ze_command_list_handle_t *list) {
    ze_context_desc_t desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, NULL, 0};
    ze_context_handle_t own = w->context;
    ok(zeContextCreate(w->driver, &desc, context));
    w->context = *context;
    create_immediate(w, list);
    w->context = own;
}

static void finish_elsewhere(world *w, ze_command_list_handle_t list) {
    ok(zeCommandListAppendBarrier(list, w->done, 0, NULL));
    ok(zeEventHostSynchronize(w->done, A_WHILE));
    ok(zeEventHostReset(w->done));
}

static void test_lists_of_another_context(void **state) {
    world *w = *state;
    ze_context_handle_t context;
    ze_command_list_handle_t list;
    zt_profiler *profiler = open_traced(w, NULL);
    create_elsewhere(w, &context, &list);
    launch(w, list);
    finish_elsewhere(w, list);
    expect_launches(profiler, 0, 0, 1);
    assert_counts(profiler, counted(0, 0, 0, 0, 0));
    const char *text = written_report(profiler, ZT_FORMAT_TABLE);
    assert_contains(text, "1 launch: 0 measured, 0 left out by ZT_KERNELS, zt_trace_config or a pause.\n"
                          "1 of 1 launches could not be measured, because ");
    expect_unmeasured(profiler, ZT_UNMEASURED_OTHER_DEVICE, 1,
                      "could not be measured, because their lists are not of a context and device");
    launch(w, w->immediate);
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    expect_unmeasured(profiler, ZT_UNMEASURED_OTHER_DEVICE, 1,
                      "could not be measured, because their lists are not of a context and device");
    ok(zeCommandListDestroy(list));
    ok(zeContextDestroy(context));
    check_work(w);
}

/* Launches elsewhere do not count for `every` and `limit`. */
static void test_filters_count_own_launches(void **state) {
    world *w = *state;
    zt_trace_config config = everything();
    ze_context_handle_t context;
    ze_command_list_handle_t list;
    config.every = 2;
    config.limit = 3;
    zt_profiler *profiler = open_traced(w, &config);
    create_elsewhere(w, &context, &list);
    for (int i = 0; i < 8; i++) {
        launch(w, list);
        launch(w, w->immediate);
    }
    finish_elsewhere(w, list);
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    expect_launches(profiler, 8, 0, 8);
    assert_counts(profiler, counted(8, 8, 0, 0, 0));
    assert_int_equal(region_info(profiler, "saxpy").with_metrics, 3);
    ok(zeCommandListDestroy(list));
    ok(zeContextDestroy(context));
    check_work(w);
}

/* A call in another context that reports a lost device does not concern this profiler. */
static void test_a_device_that_is_lost_elsewhere(void **state) {
    world *w = *state;
    ze_context_handle_t context;
    ze_command_list_handle_t list;
    ze_group_count_t groups = {WORK_GROUPS, 1, 1};
    zt_profiler *profiler = open_traced(w, NULL);
    create_elsewhere(w, &context, &list);
    inject("zeCommandListAppendLaunchKernel", 1, ZE_RESULT_ERROR_DEVICE_LOST);
    assert_result(zeCommandListAppendLaunchKernel(list, w->kernel, &groups, NULL, 0, NULL),
                  ZE_RESULT_ERROR_DEVICE_LOST);
    inject("zeCommandQueueExecuteCommandLists", 1, ZE_RESULT_ERROR_DEVICE_LOST);
    assert_result(zeCommandQueueExecuteCommandLists(w->queue, 1, &list, NULL), ZE_RESULT_ERROR_DEVICE_LOST);
    ok(zeCommandListDestroy(list));
    ok(zeContextDestroy(context));
    run_and_reset(w);
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    assert_int_equal(heard(w, "[DEVICE_LOST]"), 0);
    check_work(w);
}

/* ==== calls =============================================================================================== */

static zt_call_info call_info(const zt_profiler *profiler, const char *name) {
    zt_call_info info;
    for (uint32_t i = 0; i < zt_get_info(profiler).call_count; i++) {
        ok(zt_get_call(profiler, i, &info));
        if (strcmp(info.name, name) == 0)
            return info;
    }
    memset(&info, 0, sizeof info);
    return info;
}

static void test_calls_are_timed(void **state) {
    world *w = *state;
    zt_trace_config config = everything();
    config.calls = "zeEvent*, zeCommandQueueSynchronize";
    zt_profiler *profiler = open_traced(w, &config);
    for (int i = 0; i < 19; i++)
        run_and_reset(w);
    record(w, w->list);
    w->launches++;
    assert_result(zeEventHostSynchronize(w->done, 0), ZE_RESULT_NOT_READY);
    inject("zeEventHostReset", 1, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    assert_result(zeEventHostReset(w->done), ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    launch(w, w->immediate);
    execute_unprofiled(w, w->list);
    collect_all(profiler); /* its calls are not the application's */
    zt_call_info synchronize = call_info(profiler, "zeCommandQueueSynchronize");
    zt_call_info reset = call_info(profiler, "zeEventHostReset");
    assert_int_equal(synchronize.count, 20);
    assert_int_equal(synchronize.errors, 0);
    assert_true(synchronize.time_ns.sum > 0);
    assert_true(synchronize.time_ns.min <= synchronize.time_ns.median);
    assert_true(synchronize.time_ns.median <= synchronize.time_ns.p95);
    assert_true(synchronize.time_ns.p95 <= synchronize.time_ns.max);
    assert_int_equal(reset.count, 1);
    assert_int_equal(reset.errors, 1);
    assert_int_equal(call_info(profiler, "zeEventHostSynchronize").count, 1);
    assert_int_equal(call_info(profiler, "zeEventHostSynchronize").errors, 0);
    assert_int_equal(call_info(profiler, "zeEventQueryStatus").count, 0);
    assert_int_equal(call_info(profiler, "zeCommandListReset").count, 0);
    assert_int_equal(zt_get_info(profiler).call_count, 3);
    ok(zt_clear(profiler));
    assert_int_equal(call_info(profiler, "zeEventHostReset").errors, 0);
    assert_true(isnan(call_info(profiler, "zeCommandQueueSynchronize").time_ns.median));
    assert_null(strstr(written_report(profiler, ZT_FORMAT_TABLE), "zeEventHostReset"));
    ok(zeCommandQueueSynchronize(w->queue, A_WHILE));
    synchronize = call_info(profiler, "zeCommandQueueSynchronize");
    assert_int_equal(synchronize.count, 1);
    assert_true(synchronize.time_ns.median == synchronize.time_ns.sum);
    collect_all(profiler);
}

/* Answers and warnings are not counted as errors. */
static void test_results_that_are_no_errors(void **state) {
    world *w = *state;
    zt_trace_config config = everything();
    config.calls = "zeEventQueryStatus";
    zt_profiler *profiler = open_traced(w, &config);
    static const int results[] = {0x78000022, 0x78000023, 0x7800001b, 0x70020001}; /* QUERY_TRUE, QUERY_FALSE,
                                                              WARNING_ACTION_REQUIRED, WARNING_DROPPED_DATA */
    for (int i = 0; i < 4; i++) {
        inject("zeEventQueryStatus", 1, (ze_result_t)results[i]);
        assert_int_equal(zeEventQueryStatus(w->done), results[i]);
    }
    inject("zeEventQueryStatus", 1, ZE_RESULT_ERROR_UNKNOWN);
    assert_result(zeEventQueryStatus(w->done), ZE_RESULT_ERROR_UNKNOWN);
    assert_int_equal(call_info(profiler, "zeEventQueryStatus").count, 5);
    assert_int_equal(call_info(profiler, "zeEventQueryStatus").errors, 1);
}

/* With more calls than are kept, quantiles are of some of them, and the other figures of all. */
static void test_many_calls(void **state) {
    world *w = *state;
    zt_trace_config config = everything();
    config.calls = "zeEventQueryStatus";
    zt_profiler *profiler = open_traced(w, &config);
    zeEventQueryStatus(w->done);
    heap_use before = library_memory();
    for (int i = 1; i < 2000; i++)
        zeEventQueryStatus(w->done);
    assert_same_memory(before);
    zt_call_info info = call_info(profiler, "zeEventQueryStatus");
    assert_int_equal(info.count, 2000);
    assert_true(info.time_ns.min <= info.time_ns.median && info.time_ns.p95 <= info.time_ns.max);
}

/* Every line has as many fields as the first. */
static void check_fields(const char *csv) {
    unsigned expected = 0, found = 0;
    int is_quoted = 0;
    for (; *csv; csv++) {
        is_quoted ^= *csv == '"';
        found += *csv == ',' && !is_quoted;
        if (*csv != '\n' || is_quoted)
            continue;
        expected = expected ? expected : found;
        assert_int_equal(found, expected);
        found = 0;
    }
}

/* Calls are ordered by their total time, whichever was first. */
static void test_order_of_calls(void **state) {
    world *w = *state;
    zt_trace_config config = everything();
    config.calls = "zeCommandList*";
    config.no_launches = 1;
    zt_profiler *profiler = open_traced(w, &config);
    for (int i = 0; i < 5; i++) {
        ok(zeCommandListClose(w->list));
        reset_list(w->list);
        ok(zeCommandListAppendBarrier(w->list, NULL, 0, NULL));
    }
    const char *text = strstr(written_report(profiler, ZT_FORMAT_TABLE), "Host time of calls\n"), *row;
    double longer_ns = 1e18;
    assert_non_null(text);
    assert_int_equal(zt_get_info(profiler).call_count, 3);
    for (row = strstr(text, "\nze"); row; row = strstr(row + 1, "\nze")) {
        zt_call_info call = {0};
        for (uint32_t i = 0; i < 3; i++) {
            ok(zt_get_call(profiler, i, &call));
            if (strncmp(row + 1, call.name, strlen(call.name)) == 0 && row[1 + strlen(call.name)] == ' ')
                break;
        }
        assert_true(call.time_ns.sum <= longer_ns);
        longer_ns = call.time_ns.sum;
    }
    assert_true(longer_ns < 1e18);
}

static void test_calls_in_reports(void **state) {
    world *w = *state;
    const char *text;
    zt_trace_config config = everything();
    config.calls = "zeCommandListReset";
    config.no_launches = 1;
    zt_profiler *profiler = open_traced(w, &config);
    for (int i = 0; i < 7; i++)
        reset_list(w->list);
    text = written_report(profiler, ZT_FORMAT_TABLE);
    assert_contains(text, "Host time of calls\n");
    char headings[5][16];
    assert_int_equal(sscanf(strstr(text, "Host time of calls\n"),
                            "Host time of calls %15s %15s %15s %15s %15s", headings[0], headings[1],
                            headings[2], headings[3], headings[4]),
                     5);
    assert_string_equal(headings[0], "share");
    assert_string_equal(headings[1], "total");
    assert_string_equal(headings[2], "mean");
    assert_contains(text, "\nzeCommandListReset    100 ");
    text = written_report(profiler, ZT_FORMAT_CSV);
    assert_contains(text, "\"zeCommandListReset\",\"host time\",\"\",\"host\",\"ns\",duration,sum,7,");
    assert_contains(text, "\"zeCommandListReset\",\"errors\",\"\",\"host\",\"calls\",event,sum,7,0,,,,,,,"
                          "all,all,no,,call,\n");
    check_fields(text);
    text = written_report(profiler, ZT_FORMAT_JSON);
    assert_contains(text,
                    "\"calls\":[\n{\"name\":\"zeCommandListReset\",\"count\":7,\"errors\":0,\"time_ns\":{"
                    "\"count\":7,\"sum\":");
    launch(w, w->immediate);
    check_work(w);
    assert_counts(profiler, counted(0, 0, 0, 0, 0));
}

/* Returns what check_trace.py prints about the timeline. All of it must lie between `low` and now. */
static const char *read_timeline(zt_profiler *profiler, uint64_t low) {
    static char output[1 << 14];
    char script[4096], command[8192], path[] = "/tmp/zetools-XXXXXX.trace.json";
    int file = mkstemps(path, 11);
    assert_true(file >= 0);
    close(file);
    hold_time(1);
    ok(zt_report(profiler, path));
    compare_with_perfetto(profiler, path);
    hold_time(0);
    find_file("tests/check_trace.py", script, sizeof script);
    snprintf(command, sizeof command, "env -u LD_LIBRARY_PATH -u LD_PRELOAD python3 '%s' '%s' %llu %llu",
             script, path, (unsigned long long)low, (unsigned long long)now_ns());
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    output[fread(output, 1, sizeof output - 1, pipe)] = 0;
    int status = pclose(pipe);
    unlink(path);
    if (status != 0)
        fail_msg("%s:\n%s", command, output);
    return output;
}

static void *reset_on_a_thread(void *list) {
    reset_list((ze_command_list_handle_t)list);
    return NULL;
}

/* The timeline has the newest calls by thread, and the newest samples by list. */
static void test_calls_on_the_timeline(void **state) {
    NOT_ON_WINDOWS("no Python there that reads the trace");
    world *w = *state;
    uint64_t low = now_ns();
    pthread_t thread;
    zt_config config = config_of(w);
    zt_trace_config trace = everything();
    config.timeline = 8;
    trace.calls = "zeCommandListReset,zeCommandQueueSynchronize";
    zt_profiler *profiler = open_profiler(w, &config);
    ok(zt_trace_start(profiler, &trace));
    for (int i = 0; i < 10; i++)
        run_and_reset(w);
    assert_int_equal(pthread_create(&thread, NULL, reset_on_a_thread, w->list), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    collect_all(profiler);
    const char *timeline = read_timeline(profiler, low);
    char line[80];
    snprintf(line, sizeof line, "argument groups: %u x 1 x 1 x8\n", (unsigned)WORK_GROUPS);
    assert_contains(timeline, "list 1: saxpy x8\n");
    assert_contains(timeline, line);
    assert_contains(timeline, ": zeCommandListReset x4\n");
    assert_contains(timeline, ": zeCommandListReset x1\n");
    assert_contains(timeline, ": zeCommandQueueSynchronize x3\n");
    check_work(w);
}

/* Those of an earlier start stay. */
static void test_calls_on_the_timeline_after_another_start(void **state) {
    NOT_ON_WINDOWS("no Python there that reads the trace");
    world *w = *state;
    uint64_t low = now_ns();
    zt_config config = config_of(w);
    zt_trace_config trace = everything();
    config.timeline = 64;
    trace.calls = "zeCommandListReset";
    zt_profiler *profiler = open_profiler(w, &config);
    for (int i = 0; i < 2; i++) {
        ok(zt_trace_start(profiler, &trace));
        run_and_reset(w);
        run_and_reset(w);
        ok(zt_trace_stop(profiler));
    }
    collect_all(profiler);
    assert_contains(read_timeline(profiler, low), ": zeCommandListReset x4\n");
    check_work(w);
}

/* Launches have their numbers of groups, and the group size if it was set while tracing. */
/* While the calls of a report are being read, newer ones take the place of some: these are left out, or those are in. */
enum { CALLS_KEPT = 16 };

static void *reset_often(void *list) {
    for (int i = 0; i < CALLS_KEPT; i++)
        reset_list((ze_command_list_handle_t)list);
    return NULL;
}

static void test_calls_while_the_timeline_is_written(void **state) {
    enum { MOST = 30 };
    world *w = *state;
    zt_config config = config_of(w);
    zt_trace_config trace = everything();
    int moments = 0, is_late = 0, left_out = 0;
    config.groups = "";
    config.timeline = CALLS_KEPT;
    config.allocator = interrupted_allocator();
    trace.calls = "zeCommandListReset,zeEventQueryStatus";
    for (; !is_late && moments < MOST; moments++) {
        zt_profiler *profiler = open_profiler(w, &config);
        ok(zt_trace_start(profiler, &trace));
        reset_list(w->list);
        for (int i = 0; i < CALLS_KEPT; i++)
            zeEventQueryStatus(w->done);
        interrupt_allocation(moments, reset_often, w->list);
        const char *text = written_report(profiler, ZT_FORMAT_TRACE);
        is_late = !interrupted_allocation();
        int older = occurrences(text, "\"name\":\"zeEventQueryStatus\"");
        int newer = occurrences(text, "\"name\":\"zeCommandListReset\"");
        assert_int_equal(older + newer > 0 ? older % CALLS_KEPT + newer % CALLS_KEPT : 0, 0);
        left_out += older + newer == 0;
        assert_int_equal(call_info(profiler, "zeEventQueryStatus").count, CALLS_KEPT);
        close_profiler(w, profiler);
    }
    assert_in_range(moments, 2, MOST - 1);
    assert_true(left_out > 0);
}

/* Two threads make a call for the first time: both are counted. */
static void *query_done(void *event) {
    zeEventQueryStatus((ze_event_handle_t)event);
    return NULL;
}

static void test_a_first_call_on_two_threads(void **state) {
    enum { MOST = 20 };
    world *w = *state;
    zt_config config = config_of(w);
    zt_trace_config trace = everything();
    int moments = 0, is_late = 0;
    config.groups = "";
    config.allocator = interrupted_allocator();
    trace.calls = "zeEventQueryStatus";
    for (; !is_late && moments < MOST; moments++) {
        zt_profiler *profiler = open_profiler(w, &config);
        ok(zt_trace_start(profiler, &trace));
        interrupt_allocation(moments, query_done, w->done);
        zeEventQueryStatus(w->done);
        is_late = !interrupted_allocation();
        assert_int_equal(zt_get_info(profiler).call_count, 1);
        assert_int_equal(call_info(profiler, "zeEventQueryStatus").count, is_late ? 1 : 2);
        close_profiler(w, profiler);
    }
    assert_in_range(moments, 2, MOST - 1);
}

static void test_geometry_on_the_timeline(void **state) {
    NOT_ON_WINDOWS("no Python there that reads the trace");
    world *w = *state;
    uint64_t low = now_ns();
    zt_config config = config_of(w);
    config.timeline = 8;
    zt_profiler *profiler = open_profiler(w, &config);
    ok(zt_trace_start(profiler, NULL));
    launch(w, w->immediate);
    finish_immediate(w, w->immediate);
    other_kernel other;
    create_other(w, &other);
    ze_group_count_t groups = {3, 1, 1};
    ok(zeCommandListAppendLaunchKernel(w->immediate, other.kernel, &groups, NULL, 0, NULL));
    finish_immediate(w, w->immediate);
    zt_region region = zt_begin(profiler, w->immediate, "no launch");
    zt_end(&region);
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    const char *timeline = read_timeline(profiler, low);
    assert_contains(timeline, "argument groups: 3 x 1 x 1 x1\n");
    assert_contains(timeline, "argument group size: 256 x 1 x 1 x1\n");
    assert_contains(timeline, "list 1: no launch x1\n");
    ok(zt_trace_stop(profiler));
    destroy_other(&other);
}

static void test_all_calls(void **state) {
    world *w = *state;
    zt_trace_config config = everything();
    config.calls = "*,!zeKernel*";
    zt_profiler *profiler = open_traced(w, &config);
    other_kernel other;
    create_other(w, &other);
    run_and_reset(w);
    destroy_other(&other);
    assert_int_equal(call_info(profiler, "zeModuleCreate").count, 1);
    assert_int_equal(call_info(profiler, "zeCommandListAppendLaunchKernel").count, 1);
    assert_int_equal(call_info(profiler, "zeCommandListClose").count, 1);
    assert_int_equal(call_info(profiler, "zeKernelCreate").count, 0);
    assert_int_equal(call_info(profiler, "zeEventPoolCreate").count, 0); /* the library's own */
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
}

/* ==== the application's own callbacks ===================================================================== */

typedef struct journal {
    char text[256];
    ze_kernel_handle_t replacement;
    int instances;
} journal;

static void note(journal *j, const char *what) {
    strncat(j->text, what, sizeof j->text - strlen(j->text) - 1);
}

static void first_before(void *parameters, int result, void *user, void **instance) {
    (void)parameters;
    assert_int_equal(result, ZE_RESULT_SUCCESS);
    assert_null(*instance);
    *instance = user;
    note((journal *)user, "<1");
}

static void first_after(void *parameters, int result, void *user, void **instance) {
    (void)parameters, (void)result;
    ((journal *)user)->instances += *instance == user;
    note((journal *)user, "1>");
}

static void second_before(void *parameters, int result, void *user, void **instance) {
    (void)parameters, (void)result, (void)instance;
    note((journal *)user, "<2");
}

static void second_after(void *parameters, int result, void *user, void **instance) {
    (void)parameters, (void)result;
    ((journal *)user)->instances += *instance == NULL;
    note((journal *)user, "2>");
}

static void test_order_of_callbacks(void **state) {
    world *w = *state;
    journal j = {"", NULL, 0};
    zt_hook hooks[] = {{"zeCommandListAppendLaunchKernel", first_before, first_after, &j},
                       {"zeCommandListAppendLaunchKernel", second_before, second_after, &j},
                       {"zeCommandListClose", NULL, second_after, &j},
                       {"zeCommandListReset", first_before, NULL, &j}};
    zt_trace_config config = everything();
    config.hooks = hooks;
    config.hook_count = 4;
    zt_profiler *profiler = open_traced(w, &config);
    run_and_reset(w);
    assert_string_equal(j.text, "<1<22>1>2><1");
    assert_int_equal(j.instances, 3);
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    check_work(w);
}

static void replace_kernel(void *parameters, int result, void *user, void **instance) {
    (void)result, (void)instance;
    ze_command_list_append_launch_kernel_params_t *launched = parameters;
    *launched->phKernel = ((journal *)user)->replacement;
}

/* The region has the name of the kernel that runs, because the application's prologue comes first. */
static void test_a_prologue_changes_parameters(void **state) {
    world *w = *state;
    other_kernel other;
    create_other(w, &other);
    journal j = {"", w->kernel, 0};
    zt_hook hook = {"zeCommandListAppendLaunchKernel", replace_kernel, NULL, &j};
    zt_trace_config config = everything();
    config.hooks = &hook;
    config.hook_count = 1;
    zt_profiler *profiler = open_traced(w, &config);
    launch_kernel(w->immediate, other.kernel);
    w->launches++;
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    assert_int_equal(region_info(profiler, "saxpy").count, 1);
    assert_int_equal(find_region(profiler, "reduce"), UINT32_MAX);
    check_work(w);
    destroy_other(&other);
}

/* A kernel that the tracer knows, in place of another one: the launch has its name and its sizes, and counts for it. */
static void test_a_prologue_launches_a_known_kernel(void **state) {
    world *w = *state;
    ze_kernel_handle_t known;
    zt_config config = config_of(w);
    config.groups = "ComputeBasic";
    config.timeline = 16;
    journal j = {"", NULL, 0};
    zt_hook hook = {"zeCommandListAppendLaunchKernel", replace_kernel, NULL, &j};
    zt_trace_config trace = everything();
    other_kernel other;
    zt_kernel_info info;
    create_other(w, &other);
    trace.hooks = &hook;
    trace.hook_count = 1;
    zt_profiler *profiler = open_profiler(w, &config);
    ok(zt_trace_start(profiler, &trace));
    create_kernel(w, &known);
    j.replacement = known;
    launch_kernel(w->immediate, known);
    launch_kernel(w->immediate, other.kernel);
    w->launches += 2;
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    assert_counts(profiler, counted(2, 2, 0, 0, 0));
    assert_int_equal(region_info(profiler, "saxpy").count, 2);
    assert_int_equal(find_region(profiler, "reduce"), UINT32_MAX);
    for (uint32_t i = 0; i < zt_get_info(profiler).kernel_count; i++) {
        ok(zt_get_kernel(profiler, i, &info));
        assert_string_equal(info.name, "saxpy");
    }
    check_work(w);
    ok(zeKernelDestroy(known));
    destroy_other(&other);
}

static void swap_created(void *parameters, int result, void *user, void **instance) {
    ze_kernel_create_params_t *created = parameters;
    journal *j = user;
    ze_kernel_handle_t original = **created->pphKernel;
    (void)instance;
    assert_int_equal(result, ZE_RESULT_SUCCESS);
    **created->pphKernel = j->replacement;
    j->replacement = original;
}

static void test_a_kernel_is_replaced_at_creation(void **state) {
    world *w = *state;
    journal j = {"", w->kernel, 0};
    other_kernel other;
    zt_hook hook = {"zeKernelCreate", NULL, swap_created, &j};
    zt_trace_config config = everything();
    create_other(w, &other);
    config.hooks = &hook;
    config.hook_count = 1;
    zt_profiler *profiler = open_traced(w, &config);
    ze_kernel_desc_t desc = {ZE_STRUCTURE_TYPE_KERNEL_DESC, NULL, 0, "reduce"};
    ze_kernel_handle_t kernel;
    ok(zeKernelCreate(other.module, &desc, &kernel));
    assert_ptr_equal(kernel, w->kernel);
    launch_kernel(w->immediate, kernel);
    w->launches++;
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    assert_int_equal(region_info(profiler, "saxpy").count, 1);
    check_work(w);
    ok(zeKernelDestroy(j.replacement));
    destroy_other(&other);
}

static void count_calls(void *parameters, int result, void *user, void **instance) {
    world *w = user;
    (void)parameters, (void)result, (void)instance;
    w->message_results[0]++;
    zeEventQueryStatus(w->done);
    reset_list(w->list); /* a call that is traced elsewhere */
}

/* Calls inside a callback are not traced. */
static void test_calls_inside_a_callback(void **state) {
    world *w = *state;
    zt_hook hooks[] = {{"zeEventQueryStatus", count_calls, count_calls, w},
                       {"zeCommandListReset", count_calls, count_calls, w}};
    zt_trace_config config = everything();
    config.hooks = hooks;
    config.hook_count = 2;
    config.calls = "zeEventQueryStatus,zeCommandListReset";
    zt_profiler *profiler = open_traced(w, &config);
    zeEventQueryStatus(w->done);
    assert_int_equal(w->message_results[0], 2);
    assert_int_equal(call_info(profiler, "zeEventQueryStatus").count, 1);
    assert_int_equal(call_info(profiler, "zeCommandListReset").count, 0);
}

static void stop_inside(void *parameters, int result, void *user, void **instance) {
    (void)parameters, (void)result, (void)instance;
    assert_result(zt_trace_stop((zt_profiler *)user), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    zt_close((zt_profiler *)user);
}

static void test_a_stop_inside_a_callback(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    zt_hook hook = {"zeCommandListReset", stop_inside, stop_inside, profiler};
    zt_trace_config config = everything();
    config.hooks = &hook;
    config.hook_count = 1;
    ok(zt_trace_start(profiler, &config));
    run_and_reset(w);
    assert_int_equal(heard(w, "[INSIDE_HOOK]"), 2); /* one of each call */
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    check_work(w);
}

static void start_inside(void *parameters, int result, void *user, void **instance) {
    (void)parameters, (void)result, (void)instance;
    assert_result(zt_trace_start((zt_profiler *)user, NULL), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
}

/* The tracer would wait for itself. */
static void test_a_start_inside_a_callback(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic"), *other = open_groups(w, "ComputeBasic");
    zt_hook hook = {"zeCommandListReset", start_inside, start_inside, other};
    zt_trace_config config = everything();
    config.hooks = &hook;
    config.hook_count = 1;
    ok(zt_trace_start(profiler, &config));
    reset_list(w->list);
    assert_contains(zt_get_info(other).error, "[INSIDE_HOOK] zt_trace_start");
    ok(zt_trace_stop(profiler));
    ok(zt_trace_start(other, NULL));
    run_and_reset(w);
    collect_all(other);
    assert_counts(other, counted(1, 1, 0, 0, 0));
    check_work(w);
}

/* A handle may be used again for another kernel. */
static void test_names_of_handles_used_again(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_traced(w, NULL);
    for (int i = 0; i < 4; i++) {
        other_kernel other;
        ze_kernel_handle_t kernel;
        ze_group_count_t one = {1, 1, 1};
        create_other(w, &other);
        ok(zeCommandListAppendLaunchKernel(w->immediate, other.kernel, &one, NULL, 0, NULL));
        finish_immediate(w, w->immediate);
        destroy_other(&other);
        create_kernel(w, &kernel);
        launch_kernel(w->immediate, kernel);
        w->launches++;
        finish_immediate(w, w->immediate);
        ok(zeKernelDestroy(kernel));
    }
    collect_all(profiler);
    assert_int_equal(region_info(profiler, "saxpy").count, 4);
    assert_int_equal(region_info(profiler, "reduce").count, 4);
}

/* The driver does not answer what the kernel is called when it is created, and it is launched after another one: its
   name is that which the driver returns then. */
static void test_a_kernel_whose_name_is_not_known_at_first(void **state) {
    world *w = *state;
    ze_group_count_t *groups = NULL;
    uint32_t *count = NULL;
    ze_host_mem_alloc_desc_t host = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, NULL, 0};
    other_kernel other;
    zt_kernel_info info;
    zt_profiler *profiler = open_traced(w, NULL);
    ok(zeMemAllocHost(w->context, &host, 2 * sizeof *groups, 64, (void **)&groups));
    ok(zeMemAllocHost(w->context, &host, sizeof *count, 64, (void **)&count));
    *count = 2;
    groups[0] = groups[1] = (ze_group_count_t){1, 1, 1};
    inject("zeKernelGetName", 1, ZE_RESULT_ERROR_UNKNOWN);
    create_other(w, &other);
    ze_kernel_handle_t kernels[] = {w->kernel, other.kernel};
    ok(zeCommandListAppendLaunchMultipleKernelsIndirect(w->immediate, 2, kernels, count, groups, NULL, 0,
                                                        NULL));
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    assert_int_equal(region_info(profiler, "saxpy +1").count, 1);
    assert_int_equal(zt_get_info(profiler).kernel_count, 2);
    ok(zt_get_kernel(profiler, 1, &info));
    assert_string_equal(info.name, "reduce");
    assert_int_equal(info.launches, 1);
    ok(zeMemFree(w->context, groups));
    ok(zeMemFree(w->context, count));
    destroy_other(&other);
}

/* ==== callbacks that are registered with the loader ======================================================= */

/* Starts and stops. Returns how many callbacks there were, of two for each call that is observed. */
static uint32_t register_for(zt_profiler *profiler, const zt_trace_config *config) {
    forget_registered();
    ok(zt_trace_start(profiler, config));
    ok(zt_trace_stop(profiler));
    return registered(NULL);
}

static void expect_registered(const char *const calls[], uint32_t count, uint32_t callbacks) {
    for (uint32_t i = 0; i < count; i++)
        if (registered(calls[i]) != callbacks)
            fail_msg("%s: %u callbacks", calls[i], (unsigned)registered(calls[i]));
}

/* Calls that are not observed have no callbacks, and so are as fast as before. */
static void test_other_calls_are_not_registered(void **state) {
    static const char *const lists[] = {"zeCommandListCreate", "zeCommandListReset", "zeCommandListDestroy",
                                        "zeCommandQueueExecuteCommandLists"};
    static const char *const launches[] = {"zeCommandListAppendLaunchKernel", "zeKernelDestroy",
                                           "zeKernelCreate"}; /* always, for zt_replace and hot spots */
    static const char *const others[] = {"zeEventHostReset", "zeEventQueryStatus", "zeMemAllocHost",
                                         "zeCommandListAppendMemoryCopy"};
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    zt_hook hook = {"zeMemAllocHost", first_before, NULL, NULL};
    zt_trace_config config = everything();
    uint32_t usual = register_for(profiler, NULL);
    expect_registered(lists, 4, 2);
    expect_registered(launches, 3, 2);
    expect_registered(others, 4, 0);
    config.calls = "zeEventHostReset,zeCommandListReset"; /* which is observed anyway */
    assert_int_equal(register_for(profiler, &config), usual + 2);
    expect_registered(others, 1, 2);
    expect_registered(others + 1, 3, 0);
    config.calls = NULL;
    config.hooks = &hook;
    config.hook_count = 1;
    assert_int_equal(register_for(profiler, &config), usual + 2);
    expect_registered(others + 2, 1, 2);
    config.hook_count = 0;
    config.copies = 1;
    assert_true(register_for(profiler, &config) > usual);
    expect_registered(launches, 3, 2);
    expect_registered(others + 3, 1, 2);
    config.copies = 0;
    config.no_launches = 1;
    assert_true(register_for(profiler, &config) < usual);
    expect_registered(lists, 4, 2);
    expect_registered(launches, 1, 0);
    expect_registered(launches + 1, 2, 2);
    expect_registered(others, 4, 0);
}

/* ==== faults ============================================================================================== */

static void test_bad_configurations(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    zt_trace_config config = everything();
    zt_hook hook = {"zeKernelCraete", first_before, NULL, NULL};
    const char *text;
    zt_call_info info;
    config.calls = "zeKernelCreate,zeEventHostResett";
    assert_result(zt_trace_start(profiler, &config), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    text = zt_get_info(profiler).error;
    assert_contains(text,
                    "[NO_SUCH_CALL] zt_trace_start: 'zeEventHostResett' is not a call that can be traced");
    assert_contains(text, "'zeEventHostReset'");
    config.calls = NULL;
    config.hooks = &hook;
    config.hook_count = 1;
    assert_result(zt_trace_start(profiler, &config), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    text = zt_get_info(profiler).error;
    assert_contains(text, "'zeKernelCreate'");
    hook.call = "zeKernel*";
    assert_result(zt_trace_start(profiler, &config), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    hook.call = NULL;
    assert_result(zt_trace_start(profiler, &config), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    config.hooks = NULL;
    assert_result(zt_trace_start(profiler, &config), ZE_RESULT_ERROR_INVALID_SIZE);
    config.hooks = &hook;
    config.hook_count = 17;
    assert_result(zt_trace_start(profiler, &config), ZE_RESULT_ERROR_INVALID_SIZE);
    ok(zt_trace_start(profiler, NULL));
    assert_result(zt_trace_start(profiler, NULL), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    assert_result(zt_get_call(profiler, 0, &info), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_result(zt_get_call(profiler, 0, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    ok(zt_trace_stop(profiler));
    ok(zt_trace_stop(profiler));
}

static void test_a_null_profiler(void **state) {
    (void)state;
    ok(zt_trace_start(NULL, NULL));
    ok(zt_trace_stop(NULL));
    ok(zt_get_call(NULL, 0, NULL));
    assert_int_equal(zt_get_info(NULL).call_count, 0);
    assert_int_equal(zt_get_info(NULL).launches.launches, 0);
}

/* What was unpacked has no device. */
static void test_a_profiler_without_a_device(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic"), *unpacked;
    run(w, profiler, "packed");
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    size_t size = 0;
    ok(zt_pack(profiler, NULL, &size));
    void *bytes = malloc(size);
    assert_non_null(bytes);
    ok(zt_pack(profiler, bytes, &size));
    ok(zt_unpack(bytes, size, NULL, &unpacked));
    free(bytes);
    assert_result(zt_trace_start(unpacked, NULL), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    assert_contains(zt_get_info(unpacked).error, "zt_trace_start: the profiler's device is NULL");
    launch(w, w->immediate);
    finish_immediate(w, w->immediate);
    ok(zt_trace_stop(unpacked));
    assert_int_equal(zt_get_info(unpacked).launches.launches, 0);
    assert_int_equal(region_info(unpacked, "packed").count, 1);
    zt_close(unpacked);
    check_work(w);
}

/* Of two threads that start at once, one succeeds, and launches are counted once. */
typedef struct starting {
    zt_profiler *profiler;
    ze_result_t result;
} starting;

static void *start_tracing(void *argument) {
    starting *other = argument;
    zt_trace_config config = everything();
    config.names = "s*";
    other->result = zt_trace_start(other->profiler, &config);
    return NULL;
}

static void test_two_starts_at_once(void **state) {
    enum { MOST = 30 };
    world *w = *state;
    zt_config config = config_of(w);
    zt_trace_config trace = everything();
    int moments = 0, is_late = 0, waits = 0;
    config.groups = "ComputeBasic";
    config.allocator = interrupted_allocator();
    trace.names = "s*";
    for (; !is_late && moments < MOST; moments++) {
        zt_profiler *profiler = open_profiler(w, &config);
        starting other = {profiler, ZE_RESULT_SUCCESS};
        interrupt_allocation(moments, start_tracing, &other);
        ze_result_t result = zt_trace_start(profiler, &trace);
        is_late = !interrupted_allocation();
        if (!is_late) {
            assert_true((result == ZE_RESULT_SUCCESS) != (other.result == ZE_RESULT_SUCCESS));
            assert_result(result ? result : other.result, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
            assert_contains(zt_get_info(profiler).error, "[TRACING_ALREADY]");
            waits += result == ZE_RESULT_SUCCESS;
        }
        launch(w, w->immediate);
        launch(w, w->immediate);
        finish_immediate(w, w->immediate);
        collect_all(profiler);
        expect_launches(profiler, 2, 0, 0);
        assert_counts(profiler, counted(2, 2, 0, 0, 0));
        ok(zt_trace_stop(profiler));
        launch(w, w->immediate);
        finish_immediate(w, w->immediate);
        expect_launches(profiler, 2, 0, 0);
        close_profiler(w, profiler);
    }
    assert_in_range(moments, 3, MOST - 1); /* the last start allocates less often than that */
    assert_true(waits > 0);
    check_work(w);
}

/* The callbacks of a tracer cannot be registered. Another one can start then. */
static void test_a_start_that_fails(void **state) {
    world *w = *state;
    zt_profiler *first = open_groups(w, "ComputeBasic"), *second = open_groups(w, "ComputeBasic");
    zt_trace_config config = everything();
    for (uint32_t i = 1; i <= 2; i++) {
        fail_registration(i, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
        assert_result(zt_trace_start(first, &config), ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE);
        launch(w, w->immediate);
    }
    assert_contains(written_report(first, ZT_FORMAT_CSV), "Tracing is off: the last zt_trace_start failed "
                                                          "(ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE)");
    assert_null(strstr(written_report(first, ZT_FORMAT_CSV), "No kernel was launched"));
    ok(zt_trace_start(second, &config));
    launch(w, w->immediate);
    finish_immediate(w, w->immediate);
    collect_all(second);
    assert_null(strstr(written_report(second, ZT_FORMAT_CSV), "Tracing is off"));
    expect_launches(first, 0, 0, 0);
    assert_counts(second, counted(1, 1, 0, 0, 0));
    check_work(w);
}

/* Where the layer cannot be enabled at run time, callbacks come if the environment has enabled it. */
static ze_result_t ZE_APICALL enable_in_vain(void) {
    return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
}

static void test_a_layer_that_cannot_be_enabled(void **state) {
    world *w = *state;
    replace_symbol("zelEnableTracingLayer", (any_function)enable_in_vain);
    zt_profiler *profiler = open_traced(w, NULL);
    launch(w, w->immediate);
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    ok(zt_trace_stop(profiler));
    launch(w, w->immediate);
    finish_immediate(w, w->immediate);
    expect_launches(profiler, 1, 0, 0);
    check_work(w);
}

/* A context is destroyed that has no work of the profiler's. Under zt_auto, its profilers would end with it. */
static void test_a_context_that_is_destroyed(void **state) {
    world *w = *state;
    ze_context_desc_t desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, NULL, 0};
    ze_context_handle_t context;
    zt_trace_config config = everything();
    config.calls = "zeContext*";
    zt_profiler *profiler = open_traced(w, &config);
    launch(w, w->immediate);
    ok(zeContextCreate(w->driver, &desc, &context));
    ok(zeContextDestroy(context));
    launch(w, w->immediate);
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    assert_counts(profiler, counted(2, 2, 0, 0, 0));
    assert_int_equal(zt_get_info(profiler).call_count, 2);
    check_work(w);
}

/* The device has no images: the driver refuses to copy them, and each copy is a dropped sample without bytes. */
static void test_copies_of_images(void **state) {
    world *w = *state;
    zt_trace_config config = everything();
    const ze_image_region_t region = {0, 0, 0, 1, 1, 1};
    if (loader_wraps_handles()) {
        puts("skipped: this loader dereferences handles");
        skip();
    }
    config.copies = 1;
    zt_profiler *profiler = open_traced(w, &config);
    for (int i = 0; i < 2; i++) {
        ze_command_list_handle_t list = i == 0 ? NULL : w->immediate;
        const ze_result_t results[] = {
            zeCommandListAppendImageCopy(list, NULL, NULL, NULL, 0, NULL),
            zeCommandListAppendImageCopyRegion(list, NULL, NULL, &region, &region, NULL, 0, NULL),
            zeCommandListAppendImageCopyToMemory(list, w->sums, NULL, &region, NULL, 0, NULL),
            zeCommandListAppendImageCopyFromMemory(list, NULL, w->sums, &region, NULL, 0, NULL),
            zeCommandListAppendImageCopyToMemoryExt(list, w->sums, NULL, &region, 4, 4, NULL, 0, NULL),
            zeCommandListAppendImageCopyFromMemoryExt(list, NULL, w->sums, &region, 4, 4, NULL, 0, NULL)};
        for (size_t n = 0; n < sizeof results / sizeof results[0]; n++)
            assert_int_not_equal(results[n], ZE_RESULT_SUCCESS);
    }
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    expect_launches(profiler, 6, 0, 6);
    assert_counts(profiler, counted(6, 0, 0, 6, 0));
    assert_int_equal(region_info(profiler, "ImageCopyRegion").dropped, 1);
    assert_int_equal(region_info(profiler, "ImageCopyRegion").bytes, 0);
}

/* Commands without a list, a kernel or a region: the driver refuses them, and they are counted as not measured. */
static void test_commands_that_name_nothing(void **state) {
    world *w = *state;
    const ze_group_count_t groups = {WORK_GROUPS, 1, 1};
    ze_kernel_handle_t none[1] = {NULL};
    const ze_copy_region_t region = {0, 0, 0, 4, 1, 0};
    const float pattern = 0;
    uint32_t count = 1;
    zt_trace_config config = everything();
    if (loader_wraps_handles()) {
        puts("skipped: this loader dereferences handles");
        skip();
    }
    config.copies = 1;
    zt_profiler *profiler = open_traced(w, &config);
    const ze_result_t results[] = {
        zeCommandListAppendLaunchKernel(NULL, w->kernel, &groups, NULL, 0, NULL),
        zeCommandListAppendLaunchKernel(w->immediate, NULL, &groups, NULL, 0, NULL),
        zeCommandListAppendLaunchCooperativeKernel(NULL, w->kernel, &groups, NULL, 0, NULL),
        zeCommandListAppendLaunchCooperativeKernel(w->immediate, NULL, &groups, NULL, 0, NULL),
        zeCommandListAppendLaunchKernelIndirect(NULL, w->kernel, &groups, NULL, 0, NULL),
        zeCommandListAppendLaunchKernelIndirect(w->immediate, NULL, &groups, NULL, 0, NULL),
        zeCommandListAppendLaunchMultipleKernelsIndirect(NULL, 1, &w->kernel, &count, &groups, NULL, 0, NULL),
        zeCommandListAppendLaunchMultipleKernelsIndirect(w->immediate, 1, NULL, &count, &groups, NULL, 0,
                                                         NULL),
        zeCommandListAppendLaunchMultipleKernelsIndirect(w->immediate, 1, none, &count, &groups, NULL, 0,
                                                         NULL),
        zeCommandListAppendMemoryCopy(NULL, w->sums, w->ones, sizeof(float), NULL, 0, NULL),
        zeCommandListAppendMemoryCopyRegion(NULL, w->sums, &region, 4, 0, w->ones, &region, 4, 0, NULL, 0,
                                            NULL),
        zeCommandListAppendMemoryFill(NULL, w->sums, &pattern, sizeof pattern, sizeof pattern, NULL, 0, NULL),
        zeCommandListAppendMemoryCopyFromContext(NULL, w->sums, w->context, w->ones, sizeof(float), NULL, 0,
                                                 NULL),
    };
    enum { REFUSED = sizeof results / sizeof results[0] };
    for (int i = 0; i < REFUSED; i++)
        assert_int_not_equal(results[i], ZE_RESULT_SUCCESS);
    assert_int_not_equal(zeCommandListAppendBarrier(NULL, NULL, 0, NULL), ZE_RESULT_SUCCESS);
    assert_int_not_equal(zeCommandListAppendWaitOnEvents(NULL, 1, &w->done), ZE_RESULT_SUCCESS);
    expect_launches(profiler, 0, 0, REFUSED);

    /* These have begun when the driver refuses them. */
    assert_int_not_equal(zeCommandListAppendMemoryCopyRegion(w->immediate, w->sums, NULL, 4, 0, w->ones, NULL,
                                                             4, 0, NULL, 0, NULL),
                         ZE_RESULT_SUCCESS);
    assert_int_not_equal(zeCommandListAppendLaunchKernel(w->immediate, w->kernel, &groups, NULL, 1, NULL),
                         ZE_RESULT_SUCCESS);
    assert_int_not_equal(zeCommandQueueExecuteCommandLists(w->queue, 1, NULL, NULL), ZE_RESULT_SUCCESS);
    launch(w, w->immediate);
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    check_identity(profiler);
    assert_counts(profiler, counted(3, 1, 0, 2, 0));
    check_work(w);
}

/* The driver refuses the wait that is appended before the region: the kernel waits for its events itself. */
static void test_a_wait_that_is_refused(void **state) {
    world *w = *state;
    const ze_group_count_t groups = {WORK_GROUPS, 1, 1};
    zt_profiler *profiler = open_traced(w, NULL);
    inject("zeCommandListAppendWaitOnEvents", 1, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    ok(zeCommandListAppendLaunchKernel(w->immediate, w->kernel, &groups, NULL, 1, &w->done));
    w->launches++;
    ok(zt_collect(profiler, 0));
    assert_counts(profiler, counted(1, 0, 0, 0, 1));
    assert_true(w->sums[0] == 0);
    ok(zeEventHostSignal(w->done));
    finish_unsignalled(w);
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    check_work(w);
}

static void stop_tracing(const zt_sample *sample, void *user) {
    zt_profiler **profiler = (zt_profiler **)user;
    (void)sample;
    ok(zt_trace_stop(*profiler));
}

/* It does not wait for launches that only the collection would read, of which it is part. */
static void test_a_stop_in_a_sample_function(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    zt_profiler *profiler = NULL;
    ze_event_handle_t gate, event;
    const ze_group_count_t groups = {WORK_GROUPS, 1, 1};
    config.groups = "";
    config.wait_timeout_ns = A_WHILE;
    config.sample = stop_tracing;
    config.sample_user = &profiler;
    profiler = open_profiler(w, &config);
    ok(zt_trace_start(profiler, NULL));
    ze_event_pool_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, NULL, ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 2};
    ze_event_desc_t event_desc = {ZE_STRUCTURE_TYPE_EVENT_DESC, NULL, 0, 0, ZE_EVENT_SCOPE_FLAG_HOST};
    ze_event_pool_handle_t pool;
    ze_command_list_handle_t list;
    ok(zeEventPoolCreate(w->context, &desc, 1, &w->device, &pool));
    ok(zeEventCreate(pool, &event_desc, &event));
    create_immediate(w, &list);
    launch(w, list);
    finish_immediate(w, list);
    gate = append_gate(w, list);
    ok(zeCommandListAppendLaunchKernel(list, w->kernel, &groups, event, 0, NULL));
    w->launches++;
    uint64_t before = now_ns();
    ok(zt_collect(profiler, 0));
    assert_true(now_ns() - before < A_WHILE);
    launch(w, list);
    ok(zeEventHostSignal(gate));
    ok(zeEventHostSynchronize(event, A_WHILE));
    finish_immediate(w, list);
    collect_all(profiler);
    assert_int_equal(zt_get_info(profiler).launches.launches, 2);
    assert_counts(profiler, counted(2, 1, 1, 0, 0));
    assert_int_equal(zt_get_info(profiler).causes[ZT_LOST_EVENT].count, 1);
    check_work(w);
    ok(zeCommandListDestroy(list));
    ok(zeEventDestroy(event));
    ok(zeEventDestroy(gate));
    ok(zeEventPoolDestroy(pool));
}

static void close_other(void *parameters, int result, void *other, void **instance) {
    (void)parameters, (void)result, (void)instance;
    zt_close(*(zt_profiler **)other);
}

/* A callback closes a profiler that does not trace any more. */
static void test_a_close_inside_a_callback(void **state) {
    world *w = *state;
    zt_profiler *stopped = open_traced(w, NULL);
    zt_hook hook = {"zeCommandListReset", close_other, NULL, &stopped};
    zt_trace_config config = everything();
    config.hooks = &hook;
    config.hook_count = 1;
    launch(w, w->immediate);
    finish_immediate(w, w->immediate);
    collect_all(stopped);
    ok(zt_trace_stop(stopped));
    zt_profiler *profiler = open_traced(w, &config);
    for (int i = 0; i < PROFILERS; i++) /* the hook closes it, and not the test */
        w->profilers[i] = w->profilers[i] == stopped ? NULL : w->profilers[i];
    reset_list(w->list);
    assert_int_equal(heard(w, "INSIDE_HOOK"), 0);
    hook.prologue = NULL;
    launch(w, w->immediate);
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    check_work(w);
}

static void destroy_module(void *parameters, int result, void *module, void **instance) {
    (void)parameters, (void)result, (void)instance;
    ok(zeModuleDestroy(*(ze_module_handle_t *)module));
}

/* A hook destroys a module, which is not traced. The next module has its handle: its kernels are described by its
   own binary. */
static void test_a_module_that_a_hook_destroyed(void **state) {
    world *w = *state;
    ze_module_handle_t module = NULL;
    zt_hook hook = {"zeCommandListReset", destroy_module, NULL, &module};
    zt_trace_config config = everything();
    other_kernel other;
    config.hooks = &hook;
    config.hook_count = 1;
    zt_profiler *profiler = open_traced(w, &config);
    gpu.behave(SOFTGPU_HANDLES_COME_BACK, 1);
    create_other(w, &other);
    launch_kernel(w->immediate, other.kernel);
    finish_immediate(w, w->immediate);
    ok(zeKernelDestroy(other.kernel));
    module = other.module;
    reset_list(w->list);
    ze_module_handle_t next = load_module(w, "build/kernels/saxpy.so", "");
    if (next != module)
        puts("# the handle did not come back"); /* as where a layer wraps it */
    ze_kernel_handle_t kernel = kernel_in(next, "saxpy");
    zt_kernel_info info;
    float factor = 1;
    uint32_t count = WORK_ITEMS;
    ok(zeKernelSetGroupSize(kernel, WORK_ITEMS / WORK_GROUPS, 1, 1));
    ok(zeKernelSetArgumentValue(kernel, 0, sizeof w->sums, &w->sums));
    ok(zeKernelSetArgumentValue(kernel, 1, sizeof w->ones, &w->ones));
    ok(zeKernelSetArgumentValue(kernel, 2, sizeof factor, &factor));
    ok(zeKernelSetArgumentValue(kernel, 3, sizeof count, &count));
    launch_kernel(w->immediate, kernel);
    w->launches++;
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    assert_int_equal(region_info(profiler, "reduce").count, 1);
    assert_int_equal(region_info(profiler, "saxpy").count, 1);
    assert_int_equal(zt_get_info(profiler).kernel_count, 2);
    ok(zt_get_kernel(profiler, 1, &info));
    assert_string_equal(info.name, "saxpy");
    assert_int_equal(info.launches, 1);
    ok(zeKernelDestroy(kernel));
    ok(zeModuleDestroy(next));
}

/* A list from before the start, about which the driver does not answer something, or the loader cannot ask: its
   launches are measured as those of others. */
static void test_a_list_from_before_the_start_that_cannot_be_queried(void **state) {
    static const char *const queries[] = {"zeCommandListGetContextHandle", "zeCommandListGetDeviceHandle",
                                          "zeCommandListGetOrdinal",       "zeCommandListImmediateGetFlags",
                                          "zeCommandListGetFlags",         "zeCommandListIsImmediate"};
    enum { QUERIES = sizeof queries / sizeof queries[0] };
    world *w = *state;
    for (int i = 0; i < 2 * QUERIES; i++) {
        const char *query = queries[i / 2];
        int is_hidden = i % 2;
        if (!dlsym(RTLD_DEFAULT, query))
            continue;
        for (int is_immediate = 0; is_immediate < 2; is_immediate++) {
            ze_command_list_handle_t list;
            if (is_immediate)
                create_immediate(w, &list);
            else
                create_list(w, &list);
            hide_symbol(is_hidden ? query : NULL);
            zt_profiler *profiler = open_traced(w, NULL);
            if (!is_hidden)
                inject(query, 1, ZE_RESULT_ERROR_UNKNOWN);
            launch_kernel(list, w->kernel);
            inject(query, 0, ZE_RESULT_SUCCESS);
            w->launches++;
            if (is_immediate) {
                finish_immediate(w, list);
            } else {
                ok(zeCommandListClose(list));
                execute_unprofiled(w, list);
            }
            collect_all(profiler);
            expect_launches(profiler, 1, 0, 0);
            assert_counts(profiler, counted(1, 1, 0, 0, 0));
            close_profiler(w, profiler);
            hide_symbol(NULL);
            ok(zeCommandListDestroy(list));
        }
    }
    check_work(w);
}

/* With metrics, a list that is in order is serialised as well. */
static void test_a_list_that_is_in_order(void **state) {
    enum { IN_ORDER = 1 << 1 }; /* ZE_COMMAND_QUEUE_FLAG_IN_ORDER, of newer headers */
    world *w = *state;
    ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                    .flags = IN_ORDER,
                                    .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    ze_command_list_handle_t list;
    zt_profiler *profiler = open_traced(w, NULL);
    ze_result_t result = zeCommandListCreateImmediate(w->context, w->device, &desc, &list);
    if (result == ZE_RESULT_ERROR_INVALID_ENUMERATION) {
        puts("skipped: this loader's validation layer does not know lists that are in order");
        skip();
    }
    ok(result);
    launch(w, list);
    finish_immediate(w, list);
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    assert_int_equal(zt_get_info(profiler).launches.serialised, 1);
    check_work(w);
    ok(zeCommandListDestroy(list));
}

/* Another device of the same context. */
static void test_lists_of_another_device(void **state) {
    world *w = *state;
    const float pattern = 0;
    ze_device_handle_t devices[2];
    uint32_t count = 2;
    zt_trace_config config = everything();
    config.copies = 1;
    gpu.set_devices(2, 0);
    ok(zeDeviceGet(w->driver, &count, devices));
    assert_int_equal(count, 2);
    zt_profiler *profiler = open_traced(w, &config);
    ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                    .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    ze_command_list_handle_t list;
    ok(zeCommandListCreateImmediate(w->context, devices[devices[0] == w->device], &desc, &list));
    ok(zeCommandListAppendMemoryFill(list, w->sums, &pattern, sizeof pattern, sizeof pattern, NULL, 0, NULL));
    ok(zeCommandListAppendMemoryFill(w->immediate, w->sums, &pattern, sizeof pattern, sizeof pattern, NULL, 0,
                                     NULL));
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    assert_int_equal(zt_get_info(profiler).launches.measured, 1);
    assert_int_equal(region_info(profiler, "MemoryFill").count, 1);
    ok(zeCommandListDestroy(list));
}

/* A handle that a failed call leaves is no new list. */
static void test_a_list_that_is_not_created(void **state) {
    world *w = *state;
    ze_command_queue_desc_t copies = copy_queue(w);
    ze_command_list_handle_t list = w->immediate;
    zt_profiler *profiler = open_traced(w, NULL);
    inject("zeCommandListCreateImmediate", 1, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_result(zeCommandListCreateImmediate(w->context, w->device, &copies, &list),
                  ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    launch(w, w->immediate);
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    expect_launches(profiler, 1, 0, 0);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    check_work(w);
}

static void test_a_capture_that_does_not_begin(void **state) {
    world *w = *state;
    const capture_functions capture = find_capture();
    zt_profiler *profiler = open_traced(w, NULL);
    inject("zeCommandListBeginGraphCaptureExt", 1, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    assert_result(capture.begin(w->immediate, NULL), ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    launch(w, w->immediate);
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    expect_launches(profiler, 1, 0, 0);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    check_work(w);
}

static void test_a_begin_that_fails(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_traced(w, NULL);
    inject("zetCommandListAppendMetricQueryBegin", 1, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    launch(w, w->immediate);
    inject("zetCommandListAppendMetricQueryEnd", 1, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    launch(w, w->immediate);
    launch(w, w->immediate);
    check_work(w);
    collect_all(profiler);
    assert_counts(profiler, counted(3, 1, 0, 2, 0));
}

/* A launch that the driver refuses is a dropped sample. */
static void test_a_launch_that_fails(void **state) {
    world *w = *state;
    ze_group_count_t groups = {WORK_GROUPS, 1, 1};
    zt_profiler *profiler = open_traced(w, NULL);
    inject("zeCommandListAppendLaunchKernel", 1, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_result(zeCommandListAppendLaunchKernel(w->immediate, w->kernel, &groups, NULL, 0, NULL),
                  ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    launch(w, w->immediate);
    check_work(w);
    collect_all(profiler);
    assert_counts(profiler, counted(2, 1, 0, 1, 0));
    assert_int_equal(zt_get_info(profiler).causes[ZT_DROPPED_APPEND_FAILED].count, 1);
}

/* One tracer runs at a time. The first goes on, and the second can start when it has stopped or was closed. */
static void test_a_second_tracer(void **state) {
    world *w = *state;
    zt_profiler *first = open_traced(w, NULL), *second = open_groups(w, "ComputeBasic");
    for (int i = 0; i < 2; i++) {
        zt_profiler *refused = i ? first : second;
        assert_result(zt_trace_start(refused, NULL), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
        assert_contains(zt_get_info(refused).error,
                        "[TRACING_ALREADY] zt_trace_start: this process is traced already");
        ok(zt_trace_stop(second));
        launch(w, w->immediate);
    }
    finish_immediate(w, w->immediate);
    collect_all(first);
    assert_counts(first, counted(2, 2, 0, 0, 0));
    for (int is_closed = 0; is_closed < 2; is_closed++) {
        if (is_closed) {
            close_profiler(w, first);
        } else {
            ok(zt_trace_stop(first));
        }
        ok(zt_trace_start(second, NULL));
        launch(w, w->immediate);
        finish_immediate(w, w->immediate);
        collect_all(second);
        expect_launches(second, (uint64_t)is_closed + 1, 0, 0);
        ok(zt_trace_stop(second));
        if (!is_closed) {
            ok(zt_trace_start(first, NULL));
        }
    }
    check_work(w);
}

static void test_stopped_and_started_again(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    for (uint64_t i = 1; i <= 20; i++) {
        ok(zt_trace_start(profiler, NULL));
        launch(w, w->immediate);
        ok(zt_trace_stop(profiler));
        launch(w, w->immediate);
        finish_immediate(w, w->immediate);
        collect_all(profiler);
        assert_counts(profiler, counted(i, i, 0, 0, 0));
    }
    check_work(w);
}

static void test_a_lost_device(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_traced(w, NULL);
    record(w, w->list);
    gpu.lose_device();
    zeCommandQueueExecuteCommandLists(w->queue, 1, &w->list, NULL);
    ze_group_count_t groups = {WORK_GROUPS, 1, 1};
    zeCommandListAppendLaunchKernel(w->immediate, w->kernel, &groups, NULL, 0, NULL);
    zt_collect(profiler, 0);
    check_identity(profiler);
    close_profiler(w, profiler);
    gpu.restore_device();
}

/* ---- calls and memory that fail ---------------------------------------------------------------------------- */

/* Calls of the library, which may fail without the application's failing. */
static const char *const library_calls[] = {"zetCommandListAppendMetricQueryBegin",
                                            "zetCommandListAppendMetricQueryEnd",
                                            "zeEventQueryStatus",
                                            "zetMetricQueryGetData",
                                            "zetMetricQueryReset",
                                            "zetMetricGroupCalculateMetricValues",
                                            "zeKernelGetName",
                                            "zeCommandListIsImmediate",
                                            "zeCommandListGetContextHandle",
                                            "zeCommandListGetDeviceHandle",
                                            "zetMetricQueryCreate",
                                            "zetMetricQueryPoolCreate"};

static void work_with_fault(world *w, const char *function, uint32_t nth) {
    zt_config config = config_of(w);
    config.probes_per_step = 2; /* so that probes are made while launches are traced */
    zt_profiler *profiler = open_profiler(w, &config);
    ok(zt_trace_start(profiler, NULL));
    inject(function, nth, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    for (int i = 0; i < 3; i++)
        launch(w, w->immediate);
    finish_immediate(w, w->immediate);
    launch_kernel(w->list, w->kernel);
    launch_kernel(w->list, w->kernel);
    ok(zeCommandListClose(w->list));
    for (int i = 0; i < 3; i++)
        execute_unprofiled(w, w->list);
    w->launches += 6;
    reset_list(w->list);
    inject(function, 0, ZE_RESULT_SUCCESS);
    zt_collect(profiler, A_WHILE);
    check_identity(profiler);
    expect_launches(profiler, 5, 0, 0);
    close_profiler(w, profiler);
    check_work(w);
}

static void test_every_call_fails_once(void **state) {
    world *w = *state;
    for (size_t i = 0; i < sizeof library_calls / sizeof *library_calls; i++)
        for (uint32_t nth = 1; nth <= (INSTRUMENTED ? 2u : 6u); nth++)
            work_with_fault(w, library_calls[i], nth);
}

static void *allocate_in_budget(size_t size, void *user) {
    int *budget = user;
    return *budget > 0 && (*budget)-- > 0 ? malloc(size) : NULL;
}

static void release_any(void *memory, void *user) {
    (void)user;
    free(memory);
}

/* Wherever memory runs out, launches run and are counted. */
static void test_memory_runs_out(void **state) {
    world *w = *state;
    int complete = 0;
    for (int given = 0; !complete; given++) {
        int budget = given;
        zt_config config = config_of(w);
        zt_trace_config trace = everything();
        zt_profiler *profiler;
        config.allocator.allocate = allocate_in_budget;
        config.allocator.release = release_any;
        config.allocator.user = &budget;
        config.probes_per_step = 4;
        trace.calls = "*";
        trace.names = "*";
        if (zt_open(w->context, w->device, &config, &profiler) != ZE_RESULT_SUCCESS)
            continue;
        int started = zt_trace_start(profiler, &trace) == ZE_RESULT_SUCCESS;
        for (int i = 0; i < 10; i++)
            launch(w, w->immediate);
        run_and_reset(w);
        finish_immediate(w, w->immediate);
        zt_collect(profiler, A_WHILE);
        check_identity(profiler);
        if (started)
            assert_int_equal(zt_get_info(profiler).launches.launches, 11);
        complete = zt_get_info(profiler).counts.collected == 11 && budget > 0;
        zt_close(profiler);
        assert_true(given < 1000);
    }
    check_work(w);
}

/* A function of the loader, or NULL where the loader is older than the function. */
static void find_if_there(const char *name, void *function) {
    void *found = dlsym(RTLD_DEFAULT, name);
    memcpy(function, &found, sizeof found);
}

/* An allocator that refuses memory of one size, or notes for which sizes it is called. */
static struct {
    size_t refused; /* 0: none */
    int is_noting;
    size_t noted[64];
    uint32_t count;
} by_size;

static void *allocate_by_size(size_t size, void *user) {
    uint32_t i = 0;
    (void)user;
    while (i < by_size.count && by_size.noted[i] != size)
        i++;
    if (by_size.is_noting && i == by_size.count) {
        assert_true(i < sizeof by_size.noted / sizeof *by_size.noted);
        by_size.noted[by_size.count++] = size;
    }
    return size == by_size.refused ? NULL : malloc(size);
}

/* An allocation fails, and later ones do not: launches run, each event signals, and what was not measured is counted.
   Returns whether it came to that allocation. For 0, memory of the size by_size.refused is what there is none of. */
static int work_without_one_allocation(world *w, zt_profiler *profiler, uint64_t nth) {
    const ze_event_pool_desc_t pool_desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, NULL,
                                            ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 2};
    struct {
        ze_structure_type_t stype;
        const void *next;
        uint32_t flags, signal, wait;
    } counter_based_desc = {(ze_structure_type_t)0x0002002c, NULL, 1 << 2, 0, 0};
    ze_group_count_t groups = {WORK_GROUPS, 1, 1};
    ze_event_pool_handle_t pool;
    ze_event_handle_t events[2], counter_based = NULL;
    ze_command_list_handle_t list, immediate;
    ze_module_handle_t own = w->module;
    ze_kernel_handle_t kernel;
    void *graph = NULL;
    capture_functions capture;
    ze_result_t (*create)(ze_context_handle_t, ze_device_handle_t, const void *, ze_event_handle_t *);
    find_if_there("zeCommandListBeginGraphCaptureExt", &capture.begin);
    find_if_there("zeCommandListEndGraphCaptureExt", &capture.end);
    find_if_there("zeGraphDestroyExt", &capture.destroy);
    find_if_there("zeEventCounterBasedCreate", &create);
    zt_trace_counts before = zt_get_info(profiler).launches;

    uint64_t allocations = heap_allocations();
    fail_heap(nth, 0);
    ok(zeEventPoolCreate(w->context, &pool_desc, 1, &w->device, &pool));
    for (uint32_t i = 0; i < 2; i++) {
        ze_event_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_DESC, NULL, i, ZE_EVENT_SCOPE_FLAG_HOST,
                                ZE_EVENT_SCOPE_FLAG_HOST};
        ok(zeEventCreate(pool, &desc, &events[i]));
    }
    if (create)
        ok(create(w->context, w->device, &counter_based_desc, &counter_based));
    w->module = load_module(w, "build/kernels/saxpy.so", "");
    create_kernel(w, &kernel);
    create_list(w, &list);
    create_immediate(w, &immediate);
    if (capture.begin) {
        ok(capture.begin(w->immediate, NULL)); /* the tracer has not seen this list created */
        ok(capture.end(w->immediate, NULL, &graph));
    }
    for (uint32_t i = 0; i < 2; i++) {
        ok(zeCommandListAppendLaunchKernel(immediate, kernel, &groups, NULL, 0, NULL));
        ok(zeCommandListAppendLaunchKernel(immediate, kernel, &groups, events[i], 0, NULL));
    }
    ok(zeCommandListAppendLaunchKernel(immediate, w->kernel, &groups, w->done, 0, NULL));
    ok(zeCommandListAppendLaunchKernel(w->immediate, w->kernel, &groups, NULL, 0, NULL));
    record(w, list);
    execute_unprofiled(w, list);
    w->launches += 7;
    int has_failed = heap_allocations() - allocations >= nth;
    fail_heap(0, 0);
    by_size.refused = 0;

    for (uint32_t i = 0; i < 2; i++)
        ok(zeEventHostSynchronize(events[i], A_WHILE));
    ok(zeEventHostSynchronize(w->done, A_WHILE));
    ok(zeEventHostReset(w->done));
    finish_immediate(w, immediate);
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    check_identity(profiler);
    assert_int_equal(zt_get_info(profiler).counts.lost, 0);
    zt_trace_counts after = zt_get_info(profiler).launches;
    assert_int_equal(after.launches, before.launches + 7);
    assert_true(has_failed || after.measured == before.measured + 7);

    ok(zeCommandListDestroy(list));
    ok(zeCommandListDestroy(immediate));
    ok(zeKernelDestroy(kernel));
    ok(zeModuleDestroy(w->module));
    w->module = own;
    for (uint32_t i = 0; i < 2; i++)
        ok(zeEventDestroy(events[i]));
    if (counter_based)
        ok(zeEventDestroy(counter_based));
    if (graph)
        ok(capture.destroy(graph));
    ok(zeEventPoolDestroy(pool));
    return has_failed;
}

static void test_one_allocation_fails(void **state) {
    world *w = *state;
    uint64_t nth = 0;
    int has_failed;
    do {
        zt_config config = config_of(w);
        zt_trace_config trace = everything();
        config.groups = "ComputeBasic";
        trace.every = 2; /* every other launch is measured with times alone */
        zt_profiler *profiler = open_profiler(w, &config);
        ok(zt_trace_start(profiler, &trace));
        has_failed = work_without_one_allocation(w, profiler, ++nth);
        uint64_t collected = zt_get_info(profiler).counts.collected;
        launch(w, w->immediate);
        finish_immediate(w, w->immediate);
        collect_all(profiler);
        assert_int_equal(zt_get_info(profiler).counts.collected, collected + 1);
        close_profiler(w, profiler);
        assert_true(nth < 1000);
    } while (has_failed);
    assert_true(nth > 10);
    check_work(w);
}

/* There is memory for all but the records of one kind. */
static void test_allocations_of_one_size_fail(void **state) {
    world *w = *state;
    uint32_t next = 0;
    memset(&by_size, 0, sizeof by_size);
    do {
        zt_config config = config_of(w);
        zt_trace_config trace = everything();
        config.groups = "ComputeBasic";
        config.allocator.allocate = allocate_by_size;
        config.allocator.release = release_any;
        trace.every = 2; /* every other launch is measured with times alone */
        zt_profiler *profiler = open_profiler(w, &config);
        ok(zt_trace_start(profiler, &trace));
        by_size.is_noting = next == 0;
        by_size.refused = next > 0 ? by_size.noted[next - 1] : 0;
        work_without_one_allocation(w, profiler, 0);
        by_size.is_noting = 0;
        uint64_t collected = zt_get_info(profiler).counts.collected;
        launch(w, w->immediate);
        finish_immediate(w, w->immediate);
        collect_all(profiler);
        assert_int_equal(zt_get_info(profiler).counts.collected, collected + 1);
        close_profiler(w, profiler);
    } while (next++ < by_size.count);
    assert_true(by_size.count > 5);
    check_work(w);
}

/* ---- threads --------------------------------------------------------------------------------------------- */

typedef struct worker {
    world *w;
    uint32_t rounds, done;
    atomic_int *stop;
    pthread_t thread;
    int failed;
    ze_kernel_handle_t kernel;
    ze_command_list_handle_t immediate; /* kernels may still run on it */
} worker;

/* Launches on lists of its own, immediate and recorded. */
static void *work(void *argument) {
    worker *me = argument;
    world *w = me->w;
    ze_kernel_handle_t kernel;
    ze_command_list_handle_t immediate, list;
    ze_fence_handle_t fence;
    ze_fence_desc_t desc = {ZE_STRUCTURE_TYPE_FENCE_DESC, NULL, 0};
    ze_group_count_t groups = {WORK_GROUPS, 1, 1};
    create_kernel(w, &kernel);
    create_immediate(w, &immediate);
    create_list(w, &list);
    me->failed |= zeFenceCreate(w->queue, &desc, &fence) != ZE_RESULT_SUCCESS;
    for (uint32_t i = 0; i < me->rounds && !(me->stop && atomic_load(me->stop)); i++) {
        me->failed |= zeCommandListAppendLaunchKernel(immediate, kernel, &groups, NULL, 0, NULL) != 0;
        me->failed |= zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL) != 0;
        me->failed |= zeCommandListClose(list) != 0;
        me->failed |= zeCommandQueueExecuteCommandLists(w->queue, 1, &list, fence) != 0;
        me->failed |= zeFenceHostSynchronize(fence, A_WHILE) != 0;
        me->failed |= zeFenceReset(fence) != 0;
        me->failed |= zeCommandListReset(list) != 0;
        me->done++;
    }
    me->failed |= zeFenceDestroy(fence) != 0;
    me->failed |= zeCommandListDestroy(list) != 0;
    me->immediate = immediate;
    me->kernel = kernel;
    return NULL;
}

static void run_workers(world *w, worker *workers, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        workers[i].w = w;
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
}

static void finish_workers(world *w, worker *workers, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
        assert_int_equal(workers[i].failed, 0);
        finish_immediate(w, workers[i].immediate);
        ok(zeCommandListDestroy(workers[i].immediate));
        ok(zeKernelDestroy(workers[i].kernel));
    }
}

static void test_lists_of_several_threads(void **state) {
    world *w = *state;
    const uint32_t rounds = OFTEN(500);
    worker workers[3] = {{.rounds = rounds}, {.rounds = rounds}, {.rounds = rounds}};
    zt_profiler *profiler = open_traced(w, NULL);
    run_workers(w, workers, 3);
    finish_workers(w, workers, 3);
    collect_all(profiler);
    expect_launches(profiler, 6 * rounds, 0, 0);
    assert_counts(profiler, counted(6 * rounds, 6 * rounds, 0, 0, 0));
}

/* Prologues and epilogues come in pairs, whenever the tracer is stopped. */
static void test_stopped_while_others_launch(void **state) {
    world *w = *state;
    atomic_int stop = 0;
    worker workers[2] = {{.rounds = UINT32_MAX, .stop = &stop}, {.rounds = UINT32_MAX, .stop = &stop}};
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    zt_trace_config config = everything();
    config.calls = "*";
    run_workers(w, workers, 2);
    for (int i = 0; i < (INSTRUMENTED ? 5 : 20); i++) {
        ok(zt_trace_start(profiler, &config));
        nap();
        ok(zt_trace_stop(profiler));
        zt_collect(profiler, 0);
        check_identity(profiler);
    }
    atomic_store(&stop, 1);
    finish_workers(w, workers, 2);
    zt_collect(profiler, A_WHILE);
    check_identity(profiler);
    assert_int_equal(zt_get_info(profiler).counts.dropped, 0);
}

typedef struct waiter {
    world *w;
    ze_result_t result;
} waiter;

static void *wait_for_event(void *argument) {
    waiter *me = argument;
    me->result = zeEventHostSynchronize(me->w->done, A_WHILE);
    return NULL;
}

/* Returns when the thread is in the driver. */
static pthread_t begin_waiting(waiter *blocked) {
    const char *call = "zeEventHostSynchronize";
    uint64_t before = calls(call), end = now_ns() + A_WHILE;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, wait_for_event, blocked), 0);
    while (calls(call) == before) {
        assert_true(now_ns() < end);
        nap();
    }
    return thread;
}

/* A call blocks in the driver. The stop waits until its timeout, the profiler is closed, and the call then
   ends as if it had not been traced. */
static void test_stopped_with_a_call_in_progress(void **state) {
    world *w = *state;
    waiter blocked = {w, ZE_RESULT_ERROR_UNKNOWN};
    zt_config config = config_of(w);
    zt_trace_config trace = everything();
    config.wait_timeout_ns = 50000000;
    trace.calls = "zeEventHostSynchronize";
    zt_profiler *profiler = open_patiently(w, &config);
    ok(zt_trace_start(profiler, &trace));
    pthread_t thread = begin_waiting(&blocked);
    launch(w, w->immediate);
    assert_result(zt_trace_stop(profiler), ZE_RESULT_NOT_READY);
    assert_int_equal(heard(w, "[CALLS_IN_PROGRESS]"), 1);
    assert_result(zt_trace_stop(profiler), ZE_RESULT_NOT_READY); /* still */
    assert_result(zt_trace_start(profiler, NULL), ZE_RESULT_NOT_READY);
    launch(w, w->immediate);
    close_profiler(w, profiler);
    ok(zeEventHostSignal(w->done));
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_result(blocked.result, ZE_RESULT_SUCCESS);
    ok(zeEventHostReset(w->done));
    check_work(w);
}

static void *stop_on_a_thread(void *profiler) {
    if (zt_trace_stop(profiler) != ZE_RESULT_NOT_READY)
        note_failure("zt_trace_stop", ZE_RESULT_ERROR_UNKNOWN);
    return NULL;
}

/* What is appended when tracing has stopped is not measured, even if its call began before. Otherwise the
   stop would not wait for it, and nothing would be seen of what the application does to its list and event. */
static void test_stopped_while_a_command_is_named(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    zt_trace_config trace = everything();
    config.groups = "";
    config.wait_timeout_ns = 1000000;
    config.allocator = interrupted_allocator();
    trace.copies = 1;
    zt_profiler *profiler = open_patiently(w, &config);
    ok(zt_trace_start(profiler, &trace));
    launch(w, w->immediate);
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    zt_trace_counts before = zt_get_info(profiler).launches, after;
    zt_counts samples = zt_get_info(profiler).counts;
    interrupt_allocation(0, stop_on_a_thread, profiler);
    ok(zeCommandListAppendMemoryCopy(w->immediate, w->ones, w->ones + 1, 4, w->done, 0, NULL));
    assert_true(interrupted_allocation());
    assert_no_noted_failure();
    ok(zeEventHostSynchronize(w->done, A_WHILE));
    ok(zeEventHostReset(w->done));
    finish_immediate(w, w->immediate);
    after = zt_get_info(profiler).launches;
    assert_int_equal(after.launches, before.launches);
    assert_int_equal(after.measured, before.measured);
    assert_int_equal(zt_get_info(profiler).counts.begun, samples.begun);
    ok(zt_trace_stop(profiler));
    check_work(w);
}

typedef struct gate {
    world *w;
    atomic_int is_inside, may_leave;
} gate;

static void wait_at_gate(void *parameters, int result, void *user, void **instance) {
    gate *g = user;
    (void)parameters, (void)result, (void)instance;
    atomic_store(&g->is_inside, 1);
    while (!atomic_load(&g->may_leave))
        nap();
}

static void *launch_at_gate(void *argument) {
    gate *g = argument;
    launch_kernel(g->w->immediate, g->w->kernel);
    return NULL;
}

/* A callback on another thread still needs the profiler, which is therefore not closed, but can be later. */
static void test_closed_with_a_callback_running(void **state) {
    world *w = *state;
    gate g = {w, 0, 0};
    pthread_t thread;
    zt_config config = config_of(w);
    zt_trace_config trace = everything();
    zt_hook hook = {"zeCommandListAppendLaunchKernel", wait_at_gate, NULL, &g};
    config.wait_timeout_ns = 50000000;
    trace.hooks = &hook;
    trace.hook_count = 1;
    zt_profiler *profiler = open_patiently(w, &config);
    ok(zt_trace_start(profiler, &trace));
    assert_int_equal(pthread_create(&thread, NULL, launch_at_gate, &g), 0);
    while (!atomic_load(&g.is_inside))
        nap();
    zt_close(profiler);
    assert_int_equal(heard(w, "[CALLS_IN_PROGRESS] zt_close"), 1);
    atomic_store(&g.may_leave, 1);
    assert_int_equal(pthread_join(thread, NULL), 0);
    w->launches++;
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    assert_counts(profiler, counted(0, 0, 0, 0, 0)); /* it came after the stop */
    close_profiler(w, profiler);
    check_work(w);
}

/* A kernel is destroyed as soon as its launch has ended, on another thread, before the call that has appended the
   launch has returned: it is counted, and nothing is used that has gone with it. */
typedef struct short_life {
    world *w;
    ze_kernel_handle_t kernel; /* NULL: there is none, or it was destroyed */
    uint64_t launches;         /* before its own */
} short_life;

static void *destroy_launched(void *argument) {
    short_life *life = argument;
    if (life->kernel && calls("zeCommandListAppendLaunchKernel") > life->launches) {
        ok_on_thread(zeKernelDestroy(life->kernel));
        life->kernel = NULL;
    }
    return NULL;
}

static void ZE_APICALL destroy_in_hook(void *parameters, ze_result_t result, void *user, void **instance) {
    short_life *life = user;
    (void)parameters, (void)result, (void)instance;
    if (life->kernel)
        run_in_time(life->w, destroy_launched, life);
}

/* A loader that wraps handles reads what the handle of a kernel points to, which is gone. */
static void skip_if_handles_are_read(void) {
    if (loader_wraps_handles()) {
        puts("skipped: this loader wraps handles");
        skip();
    }
}

static ze_command_list_handle_t create_synchronous(world *w) {
    ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                    .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    ze_command_list_handle_t list;
    ok(zeCommandListCreateImmediate(w->context, w->device, &desc, &list));
    return list;
}

static void launch_short(short_life *life, ze_command_list_handle_t list) {
    create_kernel(life->w, &life->kernel);
    life->launches = calls("zeCommandListAppendLaunchKernel");
    launch_kernel(list, life->kernel);
    life->w->launches++;
    if (life->kernel)
        ok(zeKernelDestroy(life->kernel));
    life->kernel = NULL;
}

static void test_a_kernel_that_is_destroyed_at_once(void **state) {
    enum { MOST = 30 };
    world *w = *state;
    short_life life = {w, NULL, 0};
    zt_config config = config_of(w);
    int moments = 0, is_late = 0;
    skip_if_handles_are_read();
    config.groups = "ComputeBasic";
    config.allocator = interrupted_allocator();
    for (; !is_late && moments < MOST; moments++) {
        zt_profiler *profiler = open_profiler(w, &config);
        ok(zt_trace_start(profiler, NULL));
        ze_command_list_handle_t list = create_synchronous(w);
        interrupt_allocation(moments, destroy_launched, &life);
        launch_short(&life, list);
        is_late = !interrupted_allocation();
        assert_no_noted_failure();
        launch(w, list);
        collect_all(profiler);
        expect_launches(profiler, 2, 0, 0);
        assert_counts(profiler, counted(2, 2, 0, 0, 0));
        assert_int_equal(region_info(profiler, "saxpy").count, 2);
        ok(zeCommandListDestroy(list));
        close_profiler(w, profiler);
    }
    assert_in_range(moments, 3, MOST - 1);
    check_work(w);
}

static void test_a_kernel_that_a_hook_destroys_at_once(void **state) {
    world *w = *state;
    short_life life = {w, NULL, 0};
    skip_if_handles_are_read();
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    trace_before("zeCommandListAppendLaunchKernel", destroy_in_hook, &life);
    ok(zt_trace_start(profiler, NULL));
    ze_command_list_handle_t list = create_synchronous(w);
    launch_short(&life, list);
    stop_tracing_before();
    assert_no_noted_failure();
    launch(w, list);
    collect_all(profiler);
    expect_launches(profiler, 2, 0, 0);
    assert_counts(profiler, counted(2, 2, 0, 0, 0));
    ok(zeCommandListDestroy(list));
    check_work(w);
}

/* Two threads create kernels of a module that was not described yet. */
static void *create_another(void *argument) {
    next_module *next = argument;
    if (!next->kernel)
        create_kernel(next->w, &next->kernel);
    return NULL;
}

static void test_first_kernels_of_two_threads(void **state) {
    enum { MOST = 30 };
    world *w = *state;
    ze_module_handle_t own = w->module;
    zt_config config = config_of(w);
    config.groups = "";
    config.allocator = interrupted_allocator();
    for (int is_older = 0; is_older < 2; is_older++) { /* the module is from before the start */
        int moments = 0, is_late = 0;
        uint64_t reads = 0;
        for (; !is_late && moments < MOST; moments++) {
            zt_profiler *profiler = open_profiler(w, &config);
            next_module next = {w, NULL, NULL};
            zt_kernel_info info;
            ze_kernel_handle_t kernel;
            if (is_older)
                w->module = load_module(w, "build/kernels/saxpy.so", "");
            ok(zt_trace_start(profiler, NULL));
            if (!is_older)
                w->module = load_module(w, "build/kernels/saxpy.so", "");
            gpu.reset_calls();
            interrupt_allocation(moments, create_another, &next);
            create_kernel(w, &kernel);
            is_late = !interrupted_allocation();
            create_another(&next);
            if (moments == 0) /* which was the allocation of what is known of the older module */
                reads = calls("zeModuleGetNativeBinary");
            else if (is_late && is_older)
                assert_int_equal(calls("zeModuleGetNativeBinary"), reads);
            launch_kernel(w->immediate, kernel);
            launch_kernel(w->immediate, next.kernel);
            w->launches += 2;
            finish_immediate(w, w->immediate);
            collect_all(profiler);
            assert_int_equal(zt_get_info(profiler).kernel_count, 1);
            ok(zt_get_kernel(profiler, 0, &info));
            assert_int_equal(info.launches, 2);
            assert_int_equal(info.shape_count, 1);
            assert_true(info.module != 0);
            ok(zeKernelDestroy(kernel));
            ok(zeKernelDestroy(next.kernel));
            ok(zeModuleDestroy(w->module));
            w->module = own;
            close_profiler(w, profiler);
        }
        assert_in_range(moments, 3, MOST - 1);
    }
    check_work(w);
}

/* A thread waits in the driver. A stop does not wait for it. */
static void test_stopped_while_others_wait(void **state) {
    world *w = *state;
    waiter blocked = {w, ZE_RESULT_ERROR_UNKNOWN};
    zt_profiler *profiler = open_traced(w, NULL);
    pthread_t thread = begin_waiting(&blocked);
    launch(w, w->immediate);
    ok(zt_trace_stop(profiler));
    ok(zt_trace_start(profiler, NULL));
    launch(w, w->immediate);
    ok(zt_trace_stop(profiler));
    close_profiler(w, profiler);
    ok(zeEventHostSignal(w->done));
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_result(blocked.result, ZE_RESULT_SUCCESS);
    ok(zeEventHostReset(w->done));
    check_work(w);
}

/* The loader's tracer objects cannot be used again, so each change needs another one. */
static void test_many_tracers_in_turn(void **state) {
    world *w = *state;
    zt_trace_config config = everything();
    for (int i = 0; i < 150; i++) {
        zt_profiler *profiler = open_groups(w, "ComputeBasic");
        config.calls = i % 2 ? "zeEvent*" : NULL;
        ok(zt_trace_start(profiler, &config));
        launch(w, w->immediate);
        finish_immediate(w, w->immediate);
        collect_all(profiler);
        assert_counts(profiler, counted(1, 1, 0, 0, 0));
        close_profiler(w, profiler);
    }
    check_work(w);
}

/* When no more objects of the loader are kept, a stop leaves the callbacks as they are: those of the tracer that is
   stopped do nothing, and launches are measured once. */
static void test_more_changes_than_are_retired(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    uint32_t rounds = 0, unchanged = 0;
    while (unchanged < 2) {
        forget_registered();
        ok(zt_trace_start(profiler, NULL));
        ok(zt_trace_stop(profiler));
        unchanged += registered(NULL) == 0;
        assert_true(++rounds < 1100);
    }
    launch(w, w->immediate);
    ok(zt_trace_start(profiler, NULL));
    launch(w, w->immediate);
    ok(zt_trace_stop(profiler));
    launch(w, w->immediate);
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    check_work(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_a_first_start_that_fails),
        TEST(test_launches_become_regions),
        TEST(test_every_kind_of_launch),
        TEST(test_a_launch_of_several_kernels),
        TEST(test_copies_by_choice),
        TEST(test_copies_beside_chosen_kernels),
        TEST(test_copies_alone),
        TEST(test_overlap_of_copies_alone),
        TEST(test_copies_on_a_copy_engine),
        TEST(test_more_groups_than_there_is_room_for),
        TEST(test_execution_in_a_sample_function),
        TEST(test_times_alone),
        TEST(test_times_alone_that_cannot_be_prepared),
        TEST(test_a_launch_that_waits),
        TEST(test_names_by_pattern),
        TEST(test_regions_by_hand_beside_it),
        TEST(test_launches_with_arguments),
        TEST(test_launches_through_pointers),
        TEST(test_copies_through_pointers),
        TEST(test_operations_through_pointers),
        TEST(test_launches_through_pointers_with_events),
        TEST(test_pointers_where_the_loader_wraps_handles),
        TEST(test_newer_launches_that_name_nothing),
        TEST(test_copies_with_parameters),
        TEST(test_lists_appended_to_an_immediate_list),
        TEST(test_lists_appended_with_parameters),
        TEST(test_launches_are_captured),
        TEST(test_lists_join_a_capture),
        TEST(test_a_capture_that_a_hook_ends),
        TEST(test_lists_beside_a_capture_that_cannot_be_queried),
        TEST(test_an_event_of_a_capture),
        TEST(test_lists_appended_in_a_capture),
        TEST(test_a_mutable_list),
        TEST(test_a_list_that_can_be_cloned),
        TEST(test_a_list_from_before_the_start_that_can_be_cloned),
        TEST(test_launches_on_reset_lists),
        TEST(test_executions_of_one_list),
        TEST(test_driver_calls_of_an_execution),
        TEST(test_launches_on_an_immediate_list),
        TEST(test_filters),
        TEST(test_a_filtered_launch_costs_nothing),
        TEST(test_a_list_reset_before_it_ran),
        TEST(test_a_launch_after_a_region_on_its_way),
        TEST(test_a_list_that_was_not_reset),
        TEST(test_destroyed_lists_free_probes),
        TEST(test_a_list_that_was_not_destroyed),
        TEST(test_a_list_that_was_not_destroyed_before_it_ran),
        TEST(test_an_open_region_on_a_list_that_was_not_destroyed),
        TEST(test_a_list_to_clone_that_was_not_destroyed),
        TEST(test_probes_of_a_list_that_was_not_destroyed),
        TEST(test_what_else_was_not_destroyed),
        TEST(test_handles_pass_between_threads),
        TEST(test_a_handle_comes_back_at_once),
        TEST(test_a_list_to_clone_comes_back_at_once),
        TEST(test_a_kernel_comes_back_at_once),
        TEST(test_a_module_comes_back_at_once),
        TEST(test_a_refused_execution_is_not_counted),
        TEST(test_a_refused_execution_of_a_list_twice),
        TEST(test_a_refused_launch_on_a_list_that_is_executed),
        TEST(test_an_execution_that_overwrites),
        TEST(test_a_refused_execution_overwrites_nothing),
        TEST(test_a_list_is_executed_while_another_thread_waits),
        TEST(test_a_start_in_the_middle_of_recording),
        TEST(test_a_stop_with_lists_recorded),
        TEST(test_a_reset_between_two_starts),
        TEST(test_a_list_recorded_between_two_starts),
        TEST(test_a_reset_after_the_stop),
        TEST(test_lists_of_another_context),
        TEST(test_filters_count_own_launches),
        TEST(test_a_device_that_is_lost_elsewhere),
        TEST(test_calls_are_timed),
        TEST(test_results_that_are_no_errors),
        TEST(test_many_calls),
        TEST(test_order_of_calls),
        TEST(test_calls_in_reports),
        TEST(test_calls_on_the_timeline),
        TEST(test_calls_on_the_timeline_after_another_start),
        TEST(test_calls_while_the_timeline_is_written),
        TEST(test_a_first_call_on_two_threads),
        TEST(test_geometry_on_the_timeline),
        TEST(test_all_calls),
        TEST(test_order_of_callbacks),
        TEST(test_a_prologue_changes_parameters),
        TEST(test_a_prologue_launches_a_known_kernel),
        TEST(test_a_kernel_is_replaced_at_creation),
        TEST(test_calls_inside_a_callback),
        TEST(test_a_stop_inside_a_callback),
        TEST(test_a_start_inside_a_callback),
        TEST(test_names_of_handles_used_again),
        TEST(test_a_kernel_whose_name_is_not_known_at_first),
        TEST(test_other_calls_are_not_registered),
        TEST(test_bad_configurations),
        TEST(test_a_null_profiler),
        TEST(test_a_profiler_without_a_device),
        TEST(test_two_starts_at_once),
        TEST(test_a_start_that_fails),
        TEST(test_a_layer_that_cannot_be_enabled),
        TEST(test_a_context_that_is_destroyed),
        TEST(test_copies_of_images),
        TEST(test_commands_that_name_nothing),
        TEST(test_a_wait_that_is_refused),
        TEST(test_a_stop_in_a_sample_function),
        TEST(test_a_close_inside_a_callback),
        TEST(test_a_module_that_a_hook_destroyed),
        TEST(test_a_list_from_before_the_start_that_cannot_be_queried),
        TEST(test_a_list_that_is_in_order),
        TEST(test_lists_of_another_device),
        TEST(test_a_list_that_is_not_created),
        TEST(test_a_capture_that_does_not_begin),
        TEST(test_a_begin_that_fails),
        TEST(test_a_launch_that_fails),
        TEST(test_a_second_tracer),
        TEST(test_stopped_and_started_again),
        TEST(test_a_lost_device),
        TEST(test_every_call_fails_once),
        TEST(test_memory_runs_out),
        TEST(test_one_allocation_fails),
        TEST(test_allocations_of_one_size_fail),
        TEST(test_lists_of_several_threads),
        TEST(test_stopped_while_others_launch),
        TEST(test_stopped_with_a_call_in_progress),
        TEST(test_stopped_while_a_command_is_named),
        TEST(test_closed_with_a_callback_running),
        TEST(test_a_kernel_that_is_destroyed_at_once),
        TEST(test_a_kernel_that_a_hook_destroys_at_once),
        TEST(test_first_kernels_of_two_threads),
        TEST(test_stopped_while_others_wait),
        TEST(test_many_tracers_in_turn),
        TEST(test_more_changes_than_are_retired),
    };
    return cmocka_run_group_tests(tests, start_traced, NULL);
}
