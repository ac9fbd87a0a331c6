/* Hot spots: samples of instructions, given to the kernels and source lines where they were taken. */
#define _GNU_SOURCE
#include "fixture.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GROUPS = 400000, ROUNDS = 20000, ENOUGH = 40, FIRST_LINE = 7, LAST_LINE = 12 /* of hot in hot.cl */ };

/* ==== work that lasts until it is stopped ================================================================= */

typedef struct work {
    world *w;
    ze_module_handle_t module;
    uint32_t *words;
} work;

static work load_work(world *w) {
    work of = {.w = w, .module = load_module(w, "build/kernels/hot.so", NULL)};
    ze_device_mem_alloc_desc_t device_desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    ze_host_mem_alloc_desc_t host_desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    void *memory = NULL;
    ok(zeMemAllocShared(w->context, &device_desc, &host_desc, 64, 64, w->device, &memory));
    memset(memory, 0, 64);
    of.words = memory;
    return of;
}

static void unload_work(work *of) {
    ok(zeMemFree(of->w->context, of->words));
    ok(zeModuleDestroy(of->module));
}

static ze_kernel_handle_t make_kernel(const work *of, const char *name) {
    ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
    ze_kernel_handle_t kernel;
    uint32_t rounds = ROUNDS;
    ok(zeKernelCreate(of->module, &desc, &kernel));
    ok(zeKernelSetArgumentValue(kernel, 0, sizeof of->words, &of->words));
    ok(zeKernelSetArgumentValue(kernel, 1, sizeof rounds, &rounds));
    return kernel;
}

static void begin_work(const work *of, ze_kernel_handle_t kernel) {
    ze_group_count_t groups = {GROUPS, 1, 1};
    __atomic_store_n(of->words, 0, __ATOMIC_RELAXED);
    ok(zeCommandListAppendLaunchKernel(of->w->immediate, kernel, &groups, NULL, 0, NULL));
}

static void end_work(const work *of) {
    __atomic_store_n(of->words, 1, __ATOMIC_RELAXED);
    finish_immediate(of->w, of->w->immediate);
}

static uint64_t samples_of(const zt_profiler *profiler, const char *kernel) {
    uint64_t samples = 0;
    for (uint32_t i = 0; i < zt_get_hotspot_count(profiler); i++) {
        zt_hotspot_info info;
        ok(zt_get_hotspot(profiler, i, &info));
        samples += strcmp(info.kernel, kernel) == 0 ? info.samples : 0;
    }
    return samples;
}

/* Runs a kernel until it has so many samples more; bounded, as all waiting. */
static void sample_kernel(zt_profiler *profiler, const work *of, ze_kernel_handle_t kernel, const char *name,
                          uint64_t count) {
    uint64_t wanted = samples_of(profiler, name) + count, end = now_ns() + A_WHILE;
    begin_work(of, kernel);
    while (samples_of(profiler, name) < wanted && now_ns() < end) {
        usleep(1000);
        zt_collect(profiler, 0);
    }
    end_work(of);
    if (samples_of(profiler, name) < wanted) {
        zt_hotspots_counts counts = zt_hotspots_get_counts(profiler);
        fail_msg("%llu samples, %llu outside, %llu ambiguous, %llu discarded: %s",
                 (unsigned long long)counts.samples, (unsigned long long)counts.outside,
                 (unsigned long long)counts.ambiguous, (unsigned long long)counts.discarded,
                 zt_get_last_error(profiler));
    }
}

static zt_profiler *open_tracing(world *w) {
    zt_config times = config_of(w);
    zt_trace_config trace = zt_trace_config_default();
    times.groups = "";
    trace.no_launches = 1;
    gpu.behave(SOFTGPU_STALL_SAMPLING, 1);
    zt_profiler *profiler = open_profiler(w, &times);
    ok(zt_trace_start(profiler, &trace));
    return profiler;
}

static zt_profiler *open_sampling(world *w, const zt_hotspots_config *config) {
    zt_profiler *profiler = open_tracing(w);
    ok(zt_hotspots_start(profiler, config));
    return profiler;
}

static void check_counts(const zt_profiler *profiler) {
    zt_hotspots_counts counts = zt_hotspots_get_counts(profiler);
    uint64_t matched = 0;
    for (uint32_t i = 0; i < zt_get_hotspot_count(profiler); i++) {
        zt_hotspot_info info;
        ok(zt_get_hotspot(profiler, i, &info));
        matched += info.samples;
    }
    assert_int_equal(counts.matched, matched);
    assert_int_equal(counts.samples, counts.matched + counts.outside + counts.ambiguous + counts.no_room);
}

/* ==== samples that the test chooses ======================================================================= */

/* A group whose rows all have one address and the same counts: another one in each period. */
static void list_group(uint32_t type_of_address) {
    const softgpu_metric metrics[] = {
        {"IP", "XVE", "Address", ZET_METRIC_TYPE_IP_EXP, type_of_address},
        {"Active", "XVE", "Events", ZET_METRIC_TYPE_EVENT, ZET_VALUE_TYPE_UINT64},
        {"SbidStall", "XVE", "Events", ZET_METRIC_TYPE_EVENT, ZET_VALUE_TYPE_FLOAT64},
    };
    assert_true(gpu.list_metrics("Listed", metrics, 3));
    assert_true(gpu.set_metric("IP", 1 << 28)); /* the test puts no kernel there */
    assert_true(gpu.set_metric("Active", 1));
    assert_true(gpu.set_metric("SbidStall", 2));
}

/* Rows have this address of the device, as far as it reports addresses, from now on. */
static void sample_at(uint64_t address) {
    assert_true(gpu.set_metric("IP", (double)((address & UINT32_MAX) >> 3)));
}

/* The group above, read by zt_collect alone. */
static zt_profiler *open_listed(world *w, uint32_t addresses) {
    zt_hotspots_config config = zt_hotspots_config_default();
    config.no_thread = 1;
    config.period_ns = 1000000;
    config.addresses = addresses;
    list_group(ZET_VALUE_TYPE_UINT64);
    return open_sampling(w, &config);
}

/* Collects until a count is higher than before; bounded, as all waiting. */
#define AWAIT_MORE(profiler, count)                                                                          \
    do {                                                                                                     \
        uint64_t before_ = zt_hotspots_get_counts(profiler).count;                                           \
        for (int i_ = 0; i_ < 20000 && zt_hotspots_get_counts(profiler).count <= before_; i_++) {            \
            nap();                                                                                           \
            zt_collect(profiler, 0);                                                                         \
        }                                                                                                    \
        assert_true(zt_hotspots_get_counts(profiler).count > before_);                                       \
    } while (0)

static uint64_t base_of_next; /* of a kernel whose address is queried */

static ze_result_t report_chosen_base(ze_kernel_handle_t kernel, uint64_t *base) {
    (void)kernel;
    *base = base_of_next;
    return ZE_RESULT_SUCCESS;
}

/* ==== kernels and lines =================================================================================== */

static void the_hot_line_is_on_top(void **state) {
    world *w = (world *)*state;
    zt_profiler *profiler = open_sampling(w, NULL);
    work of = load_work(w);
    ze_kernel_handle_t hot = make_kernel(&of, "hot");
    sample_kernel(profiler, &of, hot, "hot", ENOUGH);
    ok(zt_hotspots_stop(profiler));
    ok(zt_hotspots_find_lines(profiler));
    check_counts(profiler);
    double share = 0;
    for (uint32_t i = 0; i < zt_get_hotspot_count(profiler); i++) {
        zt_hotspot_info info;
        uint64_t stalled = 0;
        ok(zt_get_hotspot(profiler, i, &info));
        assert_string_equal(info.kernel, "hot");
        assert_true(info.offset % 8 == 0 && info.samples > 0);
        assert_int_equal(info.stall_count, 9);
        for (uint32_t j = 0; j < info.stall_count; j++)
            stalled += info.stalls[j].samples;
        assert_int_equal(info.active + stalled, info.samples);
        assert_contains(info.file, "tests/kernels/hot.cl");
        assert_in_range(info.line, FIRST_LINE, LAST_LINE);
        share += info.share;
    }
    assert_true(fabs(share - 1) < 1e-9);
    ok(zeKernelDestroy(hot));
    unload_work(&of);
    close_profiler(w, profiler);
}

static void two_kernels_are_told_apart(void **state) {
    world *w = (world *)*state;
    zt_profiler *profiler = open_sampling(w, NULL);
    work of = load_work(w);
    ze_kernel_handle_t hot = make_kernel(&of, "hot"), warm = make_kernel(&of, "warm");
    sample_kernel(profiler, &of, hot, "hot", ENOUGH);
    zt_collect(profiler, 0);
    assert_int_equal(samples_of(profiler, "warm"), 0);
    sample_kernel(profiler, &of, warm, "warm", ENOUGH);
    check_counts(profiler);
    ok(zeKernelDestroy(hot));
    ok(zeKernelDestroy(warm));
    unload_work(&of);
    close_profiler(w, profiler);
}

/* Also one that was created before tracing, which is known from its first launch on. */
static void kernels_created_before_are_known(void **state) {
    world *w = (world *)*state;
    work of = load_work(w);
    ze_kernel_handle_t warm = make_kernel(&of, "warm");
    zt_config config = config_of(w);
    config.groups = "";
    gpu.behave(SOFTGPU_STALL_SAMPLING, 1);
    zt_profiler *profiler = open_profiler(w, &config);
    ok(zt_trace_start(profiler, NULL));
    ze_kernel_handle_t hot = make_kernel(&of, "hot");
    ok(zt_hotspots_start(profiler, NULL));
    sample_kernel(profiler, &of, hot, "hot", ENOUGH);
    sample_kernel(profiler, &of, warm, "warm", ENOUGH);
    ok(zt_collect(profiler, A_WHILE));
    assert_int_equal(region_info(profiler, "warm").count + region_info(profiler, "hot").count, 2);
    assert_contains(written_report(profiler, ZT_FORMAT_TABLE), "before tracing started");
    ok(zeKernelDestroy(hot));
    ok(zeKernelDestroy(warm));
    unload_work(&of);
    close_profiler(w, profiler);
}

/* Each kernel that is asked for is behind the last one. */
static ze_result_t report_next_base(ze_kernel_handle_t kernel, uint64_t *base) {
    (void)kernel;
    *base = base_of_next;
    base_of_next += 0x10000;
    return ZE_RESULT_SUCCESS;
}

/* One call launches several kernels that were created before tracing. */
static void all_kernels_of_a_launch_are_known(void **state) {
    world *w = (world *)*state;
    const uint64_t base = UINT64_C(0x500001000);
    ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    zt_config times = config_of(w);
    zt_hotspots_config config = zt_hotspots_config_default();
    void *groups, *count;
    work of = load_work(w);
    ze_kernel_handle_t both[] = {make_kernel(&of, "hot"), make_kernel(&of, "warm")};
    ok(zeMemAllocHost(w->context, &host, 2 * sizeof(ze_group_count_t), 64, &groups));
    ok(zeMemAllocHost(w->context, &host, sizeof(uint32_t), 64, &count));
    ((ze_group_count_t *)groups)[0] = ((ze_group_count_t *)groups)[1] = (ze_group_count_t){1, 1, 1};
    *(uint32_t *)count = 2;
    base_of_next = base;
    fake_kernel_base = report_next_base;
    list_group(ZET_VALUE_TYPE_UINT64);
    gpu.behave(SOFTGPU_STALL_SAMPLING, 1);
    times.groups = "";
    config.no_thread = 1;
    config.period_ns = 1000000;
    zt_profiler *profiler = open_profiler(w, &times);
    ok(zt_trace_start(profiler, NULL));
    ok(zt_hotspots_start(profiler, &config));
    *of.words = 1; /* they end at once */
    ok(zeCommandListAppendLaunchMultipleKernelsIndirect(w->immediate, 2, both, count, groups, NULL, 0, NULL));
    finish_immediate(w, w->immediate);
    ok(zt_collect(profiler, A_WHILE));
    sample_at(base + 16);
    AWAIT_MORE(profiler, matched);
    assert_true(samples_of(profiler, "hot") > 0);
    assert_int_equal(samples_of(profiler, "warm"), 0);
    sample_at(base + 0x10000 + 16);
    AWAIT_MORE(profiler, matched);
    for (int i = 0; i < 20000 && samples_of(profiler, "warm") == 0; i++)
        AWAIT_MORE(profiler, samples);
    assert_true(samples_of(profiler, "warm") > 0);
    check_counts(profiler);
    ok(zeMemFree(w->context, groups));
    ok(zeMemFree(w->context, count));
    for (int i = 0; i < 2; i++)
        ok(zeKernelDestroy(both[i]));
    unload_work(&of);
    close_profiler(w, profiler);
}

static void a_destroyed_kernel_keeps_its_samples(void **state) {
    world *w = (world *)*state;
    zt_profiler *profiler = open_sampling(w, NULL);
    work of = load_work(w);
    ze_kernel_handle_t hot = make_kernel(&of, "hot");
    sample_kernel(profiler, &of, hot, "hot", ENOUGH);
    ok(zeKernelDestroy(hot));
    unload_work(&of);
    uint64_t before = samples_of(profiler, "hot");
    assert_true(before >= ENOUGH);
    ok(zt_trace_stop(profiler)); /* which stops it, too */
    ok(zt_hotspots_find_lines(profiler));
    zt_hotspot_info info;
    ok(zt_get_hotspot(profiler, 0, &info));
    assert_string_equal(info.kernel, "hot");
    assert_contains(info.file, "hot.cl");
    assert_result(zt_hotspots_start(profiler, NULL), ZE_RESULT_NOT_READY);
    assert_contains(zt_get_last_error(profiler), "[NOT_TRACING]");
    close_profiler(w, profiler);
}

/* Samples go to the kernel that was at their address when they were read. */
static void another_kernel_at_its_place(void **state) {
    world *w = (world *)*state;
    work of = load_work(w);
    base_of_next = UINT64_C(0x7fffff001000);
    fake_kernel_base = report_chosen_base;
    zt_profiler *profiler = open_listed(w, 0);
    ze_kernel_handle_t hot = make_kernel(&of, "hot");
    sample_at(base_of_next + 16);
    AWAIT_MORE(profiler, matched);
    uint64_t before = zt_hotspots_get_counts(profiler).matched;
    nap();
    nap();
    ok(zeKernelDestroy(hot)); /* reads what is there */
    uint64_t of_hot = samples_of(profiler, "hot");
    assert_true(of_hot >= before);
    nap();
    nap();
    ze_kernel_handle_t warm = make_kernel(&of, "warm"); /* reads what came since then */
    of_hot = samples_of(profiler, "hot");
    AWAIT_MORE(profiler, matched);
    assert_true(samples_of(profiler, "warm") > 0);
    assert_int_equal(samples_of(profiler, "hot"), of_hot);
    check_counts(profiler);
    ok(zeKernelDestroy(warm));
    unload_work(&of);
    close_profiler(w, profiler);
}

/* A handle of the same kernel is the same place. */
static void several_handles_of_a_kernel(void **state) {
    world *w = (world *)*state;
    work of = load_work(w);
    base_of_next = UINT64_C(0x1fffffff8); /* goes on beyond 32 bits */
    fake_kernel_base = report_chosen_base;
    zt_profiler *profiler = open_listed(w, 0);
    ze_kernel_handle_t one = make_kernel(&of, "hot"), other = make_kernel(&of, "hot");
    ok(zeKernelDestroy(one));
    sample_at(base_of_next + 24);
    AWAIT_MORE(profiler, matched);
    zt_hotspot_info info;
    ok(zt_get_hotspot(profiler, 0, &info));
    assert_int_equal(info.offset, 24);
    assert_int_equal(info.samples, 3 * info.active);
    assert_int_equal(info.stall_count, 1);
    assert_string_equal(info.stalls[0].name, "SbidStall");
    assert_int_equal(info.stalls[0].samples, 2 * info.active);
    check_counts(profiler);
    ok(zeKernelDestroy(other));
    unload_work(&of);
    close_profiler(w, profiler);
}

/* ==== samples of no kernel ================================================================================ */

static void what_no_kernel_has_is_counted(void **state) {
    world *w = (world *)*state;
    work of = load_work(w);
    base_of_next = UINT64_C(0x500001000);
    fake_kernel_base = report_chosen_base;
    zt_profiler *profiler = open_listed(w, 0);
    sample_at(0);
    AWAIT_MORE(profiler, outside);
    ze_kernel_handle_t hot = make_kernel(&of, "hot");
    sample_at(base_of_next - 8);
    AWAIT_MORE(profiler, outside);
    sample_at(base_of_next + 4096);
    AWAIT_MORE(profiler, outside);
    base_of_next += UINT64_C(0x100000000); /* the same low bits */
    ze_kernel_handle_t warm = make_kernel(&of, "warm");
    sample_at(base_of_next);
    AWAIT_MORE(profiler, ambiguous);
    check_counts(profiler);
    assert_int_equal(zt_hotspots_get_counts(profiler).no_room, 0);
    const char *table = written_report(profiler, ZT_FORMAT_CSV);
    assert_contains(table, "are in no known kernel");
    assert_contains(table, "are where two kernels lie");
    ok(zeKernelDestroy(hot));
    ok(zeKernelDestroy(warm));
    unload_work(&of);
    close_profiler(w, profiler);
}

static void addresses_are_limited(void **state) {
    world *w = (world *)*state;
    work of = load_work(w);
    base_of_next = UINT64_C(0x500001000);
    fake_kernel_base = report_chosen_base;
    zt_profiler *profiler = open_listed(w, 1);
    ze_kernel_handle_t hot = make_kernel(&of, "hot");
    sample_at(base_of_next);
    AWAIT_MORE(profiler, matched);
    sample_at(base_of_next + 8);
    AWAIT_MORE(profiler, no_room);
    assert_int_equal(heard(w, "[TOO_MANY_ADDRESSES]"), 1);
    assert_int_equal(zt_get_hotspot_count(profiler), 1);
    check_counts(profiler);
    ok(zt_hotspots_stop(profiler));
    zt_hotspots_config config = zt_hotspots_config_default();
    config.no_thread = 1;
    ok(zt_hotspots_start(profiler, &config)); /* with room for more */
    AWAIT_MORE(profiler, matched);
    assert_int_equal(zt_get_hotspot_count(profiler), 2);
    check_counts(profiler);
    ok(zeKernelDestroy(hot));
    unload_work(&of);
    close_profiler(w, profiler);
}

static void what_the_device_drops_is_counted(void **state) {
    world *w = (world *)*state;
    zt_profiler *profiler = open_listed(w, 0);
    inject("zetMetricGroupCalculateMultipleMetricValuesExp", 1, ZE_RESULT_WARNING_DROPPED_DATA);
    AWAIT_MORE(profiler, drops);
    assert_int_equal(heard(w, "[SAMPLES_DROPPED]"), 1);
    assert_contains(written_report(profiler, ZT_FORMAT_TABLE), "dropped instruction samples");
    close_profiler(w, profiler);
}

static void what_cannot_be_used_is_counted(void **state) {
    world *w = (world *)*state;
    zt_profiler *profiler = open_listed(w, 0);
    inject("zetMetricGroupCalculateMultipleMetricValuesExp", 1, ZE_RESULT_ERROR_UNKNOWN);
    AWAIT_MORE(profiler, discarded);
    assert_int_equal(heard(w, "[NOT_CALCULATED]"), 1);
    assert_true(gpu.set_metric("Active", 1e15)); /* more than a report can have */
    AWAIT_MORE(profiler, discarded);
    assert_true(gpu.set_metric("Active", 1));
    assert_true(gpu.set_metric("SbidStall", -3));
    AWAIT_MORE(profiler, discarded);
    assert_true(gpu.set_metric("SbidStall", 0));
    AWAIT_MORE(profiler, outside);
    check_counts(profiler);
    close_profiler(w, profiler);
}

static void an_address_that_is_none(void **state) {
    world *w = (world *)*state;
    zt_hotspots_config config = zt_hotspots_config_default();
    config.no_thread = 1;
    list_group(ZET_VALUE_TYPE_FLOAT64);
    zt_profiler *profiler = open_sampling(w, &config);
    assert_true(gpu.set_metric("IP", -1));
    AWAIT_MORE(profiler, discarded);
    assert_true(gpu.set_metric("IP", 1e300));
    AWAIT_MORE(profiler, discarded);
    assert_true(gpu.set_metric("IP", 4096)); /* of another type than it should be, but a number */
    AWAIT_MORE(profiler, outside);
    check_counts(profiler);
    close_profiler(w, profiler);
}

/* ==== threads that are stopped, where the device does not sample ========================================== */

enum { STOPS = 100 };

/* Without the group, on a device that can be debugged. */
static zt_profiler *open_without_the_group(world *w) {
    zt_profiler *profiler = open_tracing(w);
    gpu.behave(SOFTGPU_STALL_SAMPLING, 0);
    gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 0);
    return profiler;
}

static zt_hotspots_config stops_config(void) {
    zt_hotspots_config config = zt_hotspots_config_default();
    assert_int_equal(config.stops_a_second, 0);
    config.stops_a_second = STOPS;
    return config;
}

static zt_profiler *open_stopping(world *w) {
    zt_profiler *profiler = open_without_the_group(w);
    zt_hotspots_config config = stops_config();
    ok(zt_hotspots_start(profiler, &config));
    return profiler;
}

static void stopped_threads_are_where_the_time_goes(void **state) {
    world *w = (world *)*state;
    zt_profiler *profiler = open_stopping(w);
    work of = load_work(w);
    ze_kernel_handle_t hot = make_kernel(&of, "hot"), warm = make_kernel(&of, "warm");
    sample_kernel(profiler, &of, hot, "hot", ENOUGH);
    assert_int_equal(samples_of(profiler, "warm"), 0);
    sample_kernel(profiler, &of, warm, "warm", 1);
    ok(zt_hotspots_stop(profiler));
    ok(zt_hotspots_find_lines(profiler));
    check_counts(profiler);
    for (uint32_t i = 0; i < zt_get_hotspot_count(profiler); i++) {
        zt_hotspot_info info;
        ok(zt_get_hotspot(profiler, i, &info));
        assert_int_equal(info.stall_count, 1);
        assert_string_equal(info.stalls[0].name, "Stopped");
        assert_true(info.active == 0 && info.stalls[0].samples == info.samples);
        assert_contains(info.file, "tests/kernels/hot.cl");
        if (strcmp(info.kernel, "hot") == 0)
            assert_in_range(info.line, FIRST_LINE, LAST_LINE);
    }
    assert_contains(written_report(profiler, ZT_FORMAT_TABLE), "Stopped");
    assert_contains(written_report(profiler, ZT_FORMAT_JSON), "threads that were stopped");
    ok(zeKernelDestroy(hot));
    ok(zeKernelDestroy(warm));
    unload_work(&of);
    close_profiler(w, profiler);
}

/* Also when it is stopped or closed in the middle. Another debugger can attach then. */
static void no_thread_stays_stopped(void **state) {
    world *w = (world *)*state;
    zt_profiler *profiler = open_stopping(w);
    zt_hotspots_config config = stops_config();
    work of = load_work(w);
    ze_kernel_handle_t hot = make_kernel(&of, "hot");
    zt_debugger *debugger;
    sample_kernel(profiler, &of, hot, "hot", 1);
    for (int i = 0; i < 10; i++) {
        begin_work(&of, hot);
        ok(zt_hotspots_stop(profiler));
        ok(zt_debug_open(w->device, 0, NULL, &debugger));
        ok(zt_debug_close(debugger));
        ok(zt_hotspots_start(profiler, &config));
        end_work(&of);
    }
    begin_work(&of, hot);
    assert_result(zt_debug_open(w->device, 0, NULL, &debugger), ZE_RESULT_ERROR_NOT_AVAILABLE);
    assert_contains(zt_debug_get_last_error(NULL), "Another debugger is attached");
    close_profiler(w, profiler);
    end_work(&of);
    ok(zeKernelDestroy(hot));
    unload_work(&of);
}

static void refuses_to_stop(zt_profiler *profiler, const zt_hotspots_config *config, ze_result_t expected,
                            const char *reason) {
    assert_result(zt_hotspots_start(profiler, config), expected);
    assert_contains(zt_get_last_error(profiler), "[CANNOT_STOP]");
    assert_contains(zt_get_last_error(profiler), reason);
}

static void why_threads_cannot_be_stopped(void **state) {
    world *w = (world *)*state;
    zt_profiler *profiler = open_without_the_group(w);
    zt_hotspots_config config = stops_config();
    zt_debugger *debugger;
    config.no_thread = 1;
    refuses_to_stop(profiler, &config, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "Leave config.no_thread 0");
    config.no_thread = 0;
    gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 1);
    refuses_to_stop(profiler, &config, ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE,
                    "ZET_ENABLE_PROGRAM_DEBUGGING");
    gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 0);
    gpu.behave(SOFTGPU_DEBUG_NOT_ITSELF, 1);
    refuses_to_stop(profiler, &config, ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS, "no permission");
    gpu.behave(SOFTGPU_DEBUG_NOT_ITSELF, 0);
    ok(zt_debug_open(w->device, 0, NULL, &debugger));
    refuses_to_stop(profiler, &config, ZE_RESULT_ERROR_NOT_AVAILABLE, "Another debugger is attached");
    ok(zt_debug_close(debugger));
    config.stops_a_second = 0;
    assert_result(zt_hotspots_start(profiler, &config), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    assert_contains(zt_get_last_error(profiler), "config.stops_a_second");
    config.stops_a_second = STOPS;
    ok(zt_hotspots_start(profiler, &config));
    close_profiler(w, profiler);
}

/* A stop without an answer is counted; the kernel ends. */
static void a_stop_without_an_answer_is_dropped(void **state) {
    world *w = (world *)*state;
    zt_profiler *profiler = open_stopping(w);
    work of = load_work(w);
    ze_kernel_handle_t hot = make_kernel(&of, "hot");
    sample_kernel(profiler, &of, hot, "hot", 1);
    gpu.behave(SOFTGPU_DEBUG_EVENTS_LOST, 1);
    begin_work(&of, hot);
    AWAIT_MORE(profiler, drops);
    gpu.behave(SOFTGPU_DEBUG_EVENTS_LOST, 0);
    end_work(&of);
    ok(zt_hotspots_stop(profiler));
    check_counts(profiler);
    ok(zeKernelDestroy(hot));
    unload_work(&of);
    close_profiler(w, profiler);
}

/* ==== starting and stopping =============================================================================== */

static void without_the_group_the_reason_is_known(void **state) {
    world *w = (world *)*state;
    zt_profiler *profiler = open_tracing(w);
    gpu.behave(SOFTGPU_STALL_SAMPLING, 0);
    assert_result(zt_hotspots_start(profiler, NULL), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    assert_contains(zt_get_last_error(profiler), "[NO_INSTRUCTION_SAMPLING]");
    assert_contains(written_report(profiler, ZT_FORMAT_JSON), "Hot spots were not sampled: [NO_INSTRUCTION");
    gpu.behave(SOFTGPU_NO_METRIC_LIBRARY, 1);
    assert_result(zt_hotspots_start(profiler, NULL), ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE);
    gpu.behave(SOFTGPU_NO_METRIC_LIBRARY, 0);
    gpu.behave(SOFTGPU_STALL_SAMPLING, 1);
    ok(zt_hotspots_start(profiler, NULL));
    assert_null(strstr(written_report(profiler, ZT_FORMAT_JSON), "were not sampled"));
    close_profiler(w, profiler);
}

static void without_addresses_the_reason_is_known(void **state) {
    world *w = (world *)*state;
    zt_config config = config_of(w);
    gpu.behave(SOFTGPU_STALL_SAMPLING, 1);
    hide_symbol("zeDriverGetExtensionFunctionAddress");
    config.groups = "";
    zt_profiler *profiler = open_profiler(w, &config);
    hide_symbol(NULL);
    ok(zt_trace_start(profiler, NULL));
    assert_result(zt_hotspots_start(profiler, NULL), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    assert_contains(zt_get_last_error(profiler), "zexKernelGetBaseAddress");
    close_profiler(w, profiler);
}

static void it_needs_a_tracer(void **state) {
    world *w = (world *)*state;
    gpu.behave(SOFTGPU_STALL_SAMPLING, 1);
    zt_profiler *profiler = open_profiler(w, NULL);
    assert_result(zt_hotspots_start(profiler, NULL), ZE_RESULT_NOT_READY);
    assert_contains(zt_get_last_error(profiler), "[NOT_TRACING]");
    assert_int_equal(zt_get_hotspot_count(profiler), 0);
    ok(zt_hotspots_stop(profiler));
    ok(zt_hotspots_find_lines(profiler));
    close_profiler(w, profiler);
}

static void it_starts_and_stops_many_times(void **state) {
    world *w = (world *)*state;
    zt_profiler *profiler = open_tracing(w);
    work of = load_work(w);
    ze_kernel_handle_t hot = make_kernel(&of, "hot");
    for (int i = 0; i < OFTEN(20); i++) {
        ok(zt_hotspots_start(profiler, NULL));
        assert_result(zt_hotspots_start(profiler, NULL), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
        assert_contains(zt_get_last_error(profiler), "[SAMPLING_ALREADY]");
        sample_kernel(profiler, &of, hot, "hot", 3);
        ok(zt_hotspots_stop(profiler));
        ok(zt_hotspots_stop(profiler));
        check_counts(profiler);
    }
    heap_use before = library_memory();
    for (int i = 0; i < OFTEN(20); i++) {
        ok(zt_hotspots_start(profiler, NULL));
        ok(zt_hotspots_stop(profiler));
    }
    assert_true(library_memory().bytes - before.bytes < 4096);
    ok(zeKernelDestroy(hot));
    unload_work(&of);
    close_profiler(w, profiler);
}

static void beside_a_stream_and_queries(void **state) {
    world *w = (world *)*state;
    zt_stream *stream;
    gpu.behave(SOFTGPU_STALL_SAMPLING, 1);
    zt_profiler *profiler = open_groups(w, "HostScheduler");
    zt_stream_config config = zt_stream_config_default();
    config.group = "ComputeBasic";
    ok(zt_stream_open(w->context, w->device, &config, &stream));
    ok(zt_trace_start(profiler, NULL));
    ok(zt_hotspots_start(profiler, NULL));
    work of = load_work(w);
    ze_kernel_handle_t hot = make_kernel(&of, "hot");
    sample_kernel(profiler, &of, hot, "hot", ENOUGH);
    ok(zt_collect(profiler, A_WHILE));
    assert_int_equal(region_info(profiler, "hot").count, 1);
    assert_int_equal(stats_of(profiler, "hot", "GpuTime").count, 1);
    assert_true(zt_stream_close(stream, NULL, NULL).reports > 0);
    ok(zeKernelDestroy(hot));
    unload_work(&of);
    close_profiler(w, profiler);
}

static void one_at_a_time_on_a_device(void **state) {
    world *w = (world *)*state;
    zt_profiler *first = open_sampling(w, NULL), *second = open_tracing(w);
    assert_result(zt_hotspots_start(second, NULL), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    assert_contains(zt_get_last_error(second), "EuStallSampling");
    ok(zt_hotspots_stop(first));
    ok(zt_hotspots_start(second, NULL));
    close_profiler(w, first);
    close_profiler(w, second);
}

static void tiles_are_sampled_one_by_one(void **state) {
    world *w = (world *)*state;
    ze_device_handle_t tiles[2];
    uint32_t count = 2;
    gpu.set_devices(1, 2);
    zt_profiler *profiler = open_tracing(w);
    assert_result(zt_hotspots_start(profiler, NULL), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    assert_contains(zt_get_last_error(profiler), "Open a profiler on each sub-device");
    close_profiler(w, profiler);
    ok(zeDeviceGetSubDevices(w->device, &count, tiles));
    zt_config config = config_of(w);
    config.groups = "";
    profiler = open_on(w, tiles[1], &config);
    ok(zt_trace_start(profiler, NULL));
    ok(zt_hotspots_start(profiler, NULL));
    close_profiler(w, profiler);
}

/* zt_close stops it, and a child that was forked meanwhile leaves it alone. */
static void it_is_closed_and_forked_while_it_runs(void **state) {
    world *w = (world *)*state;
    zt_profiler *profiler = open_sampling(w, NULL);
    int status;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        zt_hotspots_stop(profiler);
        zt_close(profiler);
        _exit(zt_hotspots_get_counts(profiler).drops == 0 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    work of = load_work(w);
    ze_kernel_handle_t hot = make_kernel(&of, "hot");
    sample_kernel(profiler, &of, hot, "hot", ENOUGH);
    close_profiler(w, profiler);
    ok(zeKernelDestroy(hot));
    unload_work(&of);
}

/* Kernels come and go on one thread while another starts, stops and reports. */
static void *load_and_unload(void *argument) {
    work *of = (work *)argument;
    for (int i = 0; i < OFTEN(200); i++) {
        ze_module_handle_t module = load_module(of->w, "build/kernels/hot.so", NULL);
        work other = {of->w, module, of->words};
        ze_kernel_handle_t kernel = make_kernel(&other, i % 2 ? "hot" : "warm");
        ok(zeKernelDestroy(kernel));
        ok(zeModuleDestroy(module));
    }
    return NULL;
}

static void kernels_come_and_go_meanwhile(void **state) {
    world *w = (world *)*state;
    zt_profiler *profiler = open_tracing(w);
    work of = load_work(w);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, load_and_unload, &of), 0);
    for (int i = 0; i < OFTEN(50); i++) {
        ok(zt_hotspots_start(profiler, NULL));
        written_report(profiler, ZT_FORMAT_JSON);
        ok(zt_hotspots_stop(profiler));
    }
    join_in_time(w, thread);
    check_counts(profiler);
    unload_work(&of);
    close_profiler(w, profiler);
}

/* Modules that come and go while nothing is sampled in them leave nothing. */
static void modules_leave_nothing(void **state) {
    world *w = (world *)*state;
    base_of_next = 4096;
    fake_kernel_base = report_chosen_base;
    zt_profiler *profiler = open_listed(w, 0);
    int64_t before = 0;
    for (int i = 0; i < 20; i++) {
        ze_module_handle_t module = load_module(w, "build/kernels/hot.so", NULL);
        ze_kernel_handle_t kernel = kernel_in(module, "hot");
        ok(zeKernelDestroy(kernel));
        ok(zeModuleDestroy(module));
        before = i == 3 ? library_memory().bytes : before;
    }
    assert_true(library_memory().bytes == before);
    close_profiler(w, profiler);
}

static void memory_runs_out_anywhere(void **state) {
    world *w = (world *)*state;
    zt_config config = config_of(w);
    config.groups = "";
    config.allocator = scarce_allocator();
    gpu.behave(SOFTGPU_STALL_SAMPLING, 1);
    list_group(ZET_VALUE_TYPE_UINT64);
    sample_at(4096);
    fake_kernel_base = report_chosen_base;
    base_of_next = 4096;
    work of = load_work(w);
    for (int left = 0; left < 60; left++) {
        zt_hotspots_config hotspots = zt_hotspots_config_default();
        hotspots.no_thread = 1;
        zt_profiler *profiler = open_profiler(w, &config);
        ok(zt_trace_start(profiler, NULL));
        allocations_left = left;
        ze_result_t result = zt_hotspots_start(profiler, &hotspots);
        ze_kernel_handle_t hot = make_kernel(&of, "hot");
        nap();
        nap();
        zt_collect(profiler, 0);
        zt_hotspots_find_lines(profiler);
        ok(zeKernelDestroy(hot));
        zt_hotspots_stop(profiler);
        allocations_left = -1;
        if (result != ZE_RESULT_SUCCESS)
            assert_result(result, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
        check_counts(profiler);
        written_report(profiler, ZT_FORMAT_JSON);
        close_profiler(w, profiler);
    }
    unload_work(&of);
}

static zt_profiler *started_by_another; /* by the first allocation after it is set, on another thread */
static long unfreed;

static void *start_hotspots(void *profiler) {
    zt_hotspots_config config = zt_hotspots_config_default();
    config.no_thread = 1;
    return (void *)(uintptr_t)zt_hotspots_start((zt_profiler *)profiler, &config);
}

static void *allocate_after_another(size_t size, void *user) {
    zt_profiler *profiler = started_by_another;
    if (profiler) {
        pthread_t thread;
        void *result;
        started_by_another = NULL;
        assert_int_equal(pthread_create(&thread, NULL, start_hotspots, profiler), 0);
        assert_int_equal(pthread_join(thread, &result), 0);
        assert_result((ze_result_t)(uintptr_t)result, ZE_RESULT_SUCCESS);
    }
    (void)user;
    __atomic_add_fetch(&unfreed, 1, __ATOMIC_RELAXED);
    return malloc(size);
}

static void count_release(void *memory, void *user) {
    (void)user;
    __atomic_sub_fetch(&unfreed, 1, __ATOMIC_RELAXED);
    free(memory);
}

static void two_threads_start_it_first(void **state) {
    world *w = (world *)*state;
    zt_config config = config_of(w);
    config.groups = "";
    config.allocator.allocate = allocate_after_another;
    config.allocator.release = count_release;
    unfreed = 0;
    gpu.behave(SOFTGPU_STALL_SAMPLING, 1);
    zt_profiler *profiler = open_profiler(w, &config);
    ok(zt_trace_start(profiler, NULL));
    started_by_another = profiler;
    ze_result_t result = (ze_result_t)(uintptr_t)start_hotspots(profiler);
    assert_result(result, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    assert_contains(zt_get_last_error(profiler), "already sampled");
    ok(zt_hotspots_stop(profiler));
    close_profiler(w, profiler);
    assert_int_equal(unfreed, 0);
}

/* ==== reports ============================================================================================= */

static void reports_show_lines(void **state) {
    world *w = (world *)*state;
    zt_profiler *profiler = open_sampling(w, NULL);
    work of = load_work(w);
    ze_kernel_handle_t hot = make_kernel(&of, "hot");
    sample_kernel(profiler, &of, hot, "hot", ENOUGH);
    ok(zeKernelDestroy(hot));
    unload_work(&of);
    const char *text = written_report(profiler, ZT_FORMAT_TABLE);
    assert_contains(text, "Hot spots in kernels");
    assert_contains(text, "hot hot.cl:1");
    text = written_report(profiler, ZT_FORMAT_JSON);
    assert_contains(text, "\"hotspots\":{\"group\":\"EuStallSampling\"");
    assert_contains(text, "\"kinds\":[\"Active\",\"PSDepStall\",");
    assert_contains(text, "tests/kernels/hot.cl\",\"lines\":[");
    assert_contains(text, "/* the hot line */");
    text = written_report(profiler, ZT_FORMAT_CSV);
    assert_contains(text, "\n\"hot\",\""); /* and the kind that the samples had */
    assert_contains(text, "\",\"EuStallSampling\",\"hotspot\",\"samples\",event,sum,");
    assert_contains(text, "tests/kernels/hot.cl:1");
    text = written_report(profiler, ZT_FORMAT_FOLDED);
    assert_contains(text, "hot;hot.cl:1");
    text = written_report(profiler, ZT_FORMAT_HTML);
    assert_contains(text, "id=\"hotspots\"");
    assert_contains(text, "\"hotspots\":{\"group\"");
    close_profiler(w, profiler);
}

/* Where regions have the kernel's time, that is divided among its places, which are lines if these are found. */
static void own_times_are_divided_among_places(void **state) {
    world *w = (world *)*state;
    zt_config config = config_of(w);
    work of = load_work(w);
    config.groups = "";
    gpu.behave(SOFTGPU_STALL_SAMPLING, 1);
    zt_profiler *profiler = open_profiler(w, &config);
    ok(zt_trace_start(profiler, NULL));
    ok(zt_hotspots_start(profiler, NULL));
    ze_kernel_handle_t hot = make_kernel(&of, "hot");
    zt_region step = zt_begin(profiler, w->immediate, "step");
    begin_work(&of, hot);
    AWAIT_MORE(profiler, matched);
    zt_end(&step);
    end_work(&of);
    ok(zt_collect(profiler, A_WHILE));
    double own = region_info(profiler, "hot").own_ns, sum = 0;
    const char *text = written_report(profiler, ZT_FORMAT_FOLDED);
    for (const char *line = text; line && *line;) {
        if (strncmp(line, "step;hot;", 9) == 0)
            sum += atof(strchr(line, ' '));
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    if (!(fabs(sum - own) < 20)) /* each place is rounded */
        fail_msg("%.0f of %.0f ns:\n%s", sum, own, text);
    ok(zeKernelDestroy(hot));
    unload_work(&of);
    close_profiler(w, profiler);
}

/* From now on, addr2line is a script, and the other programs do not exist. Returns the PATH from before. */
static char *fake_tool(const char *script) {
    char *path = strdup(getenv("PATH"));
    make_directory(NULL);
    FILE *file = fopen(in_directory("addr2line"), "w");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\n%s\n", script);
    assert_int_equal(fchmod(fileno(file), 0755), 0);
    fclose(file);
    setenv("PATH", test_directory, 1);
    return path;
}

static void end_tool(char *path) {
    setenv("PATH", path, 1);
    remove_directory(NULL);
    free(path);
}

/* Takes samples at two instructions of a kernel of a module that was created meanwhile. */
static void sample_two_instructions(zt_profiler *profiler, work *of) {
    of->module = load_module(of->w, "build/kernels/hot.so", NULL);
    ze_kernel_handle_t hot = make_kernel(of, "hot");
    sample_at(base_of_next + 8);
    AWAIT_MORE(profiler, matched);
    while (zt_get_hotspot_count(profiler) < 2) {
        sample_at(base_of_next + 16);
        AWAIT_MORE(profiler, matched);
    }
    ok(zeKernelDestroy(hot));
}

/* Opens a listed group, with a kernel at an address, and runs a script for its lines. */
static zt_profiler *open_with_tool(world *w, work *of, uint64_t base, const char *script) {
    base_of_next = base;
    fake_kernel_base = report_chosen_base;
    zt_profiler *profiler = open_listed(w, 0);
    sample_two_instructions(profiler, of);
    char *path = fake_tool(script);
    ok(zt_hotspots_find_lines(profiler));
    end_tool(path);
    return profiler;
}

static zt_hotspot_info hotspot_at(zt_profiler *profiler, uint64_t offset) {
    zt_hotspot_info info;
    memset(&info, 0, sizeof info);
    for (uint32_t i = 0; i < zt_get_hotspot_count(profiler) && !(info.samples && info.offset == offset); i++)
        ok(zt_get_hotspot(profiler, i, &info));
    assert_int_equal(info.offset, offset);
    return info;
}

/* Pipes that were made here, and whether another thread could have executed a program that inherits one. */
static int pipes_made, pipes_inherited;

int pipe(int ends[2]) {
    pipes_made++;
    pipes_inherited++;
    return (*(__typeof__(pipe) **)&(void *){dlsym(RTLD_NEXT, "pipe")})(ends);
}

int pipe2(int ends[2], int flags) {
    pipes_made++;
    pipes_inherited += !(flags & O_CLOEXEC);
    return (*(__typeof__(pipe2) **)&(void *){dlsym(RTLD_NEXT, "pipe2")})(ends, flags);
}

static void no_other_program_inherits_the_pipe(void **state) {
    world *w = (world *)*state;
    work of = load_work(w), sampled = {w, NULL, of.words};
    pipes_made = pipes_inherited = 0;
    zt_profiler *profiler = open_with_tool(w, &sampled, 0x1000, "while read -r a; do echo /k.cl:1; done");
    assert_int_equal(pipes_made, 1);
    assert_int_equal(pipes_inherited, 0);
    ok(zeModuleDestroy(sampled.module));
    unload_work(&of);
    close_profiler(w, profiler);
}

/* A kernel may lie at 0, too, in the addresses that the debug information has. */
static void lines_of_a_kernel_at_0(void **state) {
    world *w = (world *)*state;
    work of = load_work(w), sampled = {w, NULL, of.words};
    zt_profiler *profiler =
        open_with_tool(w, &sampled, 0,
                       "while read -r a; do case $a in 0x0) echo /k.cl:1;; 0x8) echo /k.cl:8;;\n"
                       "0x10) echo /k.cl:16;; *) echo '??:0';; esac; done");
    assert_int_equal(hotspot_at(profiler, 8).line, 8);
    assert_int_equal(hotspot_at(profiler, 16).line, 16);
    ok(zeModuleDestroy(sampled.module));
    unload_work(&of);
    close_profiler(w, profiler);
}

/* One absurd name does not cost the lines of the other instructions. */
static void a_name_that_is_too_long(void **state) {
    world *w = (world *)*state;
    work of = load_work(w), sampled = {w, NULL, of.words};
    zt_profiler *profiler =
        open_with_tool(w, &sampled, 4096,
                       "read -r a; n=0123456789abcdef; n=$n$n$n$n; n=$n$n$n$n; n=$n$n$n$n;\n"
                       "n=$n$n$n$n; n=$n$n$n$n; echo /$n:1; read -r a; echo /k.cl:16");
    assert_int_equal(hotspot_at(profiler, 8).line, 0);
    assert_int_equal(hotspot_at(profiler, 16).line, 16);
    ok(zeModuleDestroy(sampled.module));
    unload_work(&of);
    close_profiler(w, profiler);
}

/* Names that try to be more than names. */
static void a_name_that_is_hostile(void **state) {
    world *w = (world *)*state;
    work of = load_work(w), sampled = {w, NULL, of.words};
    zt_profiler *profiler = open_with_tool(
        w, &sampled, 4096, "while read -r a; do printf '/\\033[2J</script><b>\\033[2J;.cl:7\\n'; done");
    assert_int_equal(hotspot_at(profiler, 8).line, 7);
    static const zt_format formats[] = {ZT_FORMAT_TABLE, ZT_FORMAT_JSON, ZT_FORMAT_FOLDED, ZT_FORMAT_HTML};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        assert_null(strchr(written_report(profiler, formats[i]), 033));
    assert_null(strstr(written_report(profiler, ZT_FORMAT_HTML), "</script><b>"));
    assert_contains(written_report(profiler, ZT_FORMAT_FOLDED), ";script><b> [2J:.cl:7 ");
    ok(zeModuleDestroy(sampled.module));
    unload_work(&of);
    close_profiler(w, profiler);
}

/* An allocator that lets samples come between what a report reads. */
static zt_profiler *sampled_meanwhile;

static void *allocate_slowly(size_t size, void *user) {
    zt_profiler *profiler = pthread_equal(pthread_self(), *(pthread_t *)user) ? sampled_meanwhile : NULL;
    if (profiler) {
        uint64_t before = zt_hotspots_get_counts(profiler).matched;
        for (int i = 0; i < 20000 && zt_hotspots_get_counts(profiler).matched <= before; i++)
            nap();
    }
    return malloc(size);
}

static void release_memory(void *memory, void *user) {
    (void)user;
    free(memory);
}

/* Figures of one report are of one moment, though samples go on. */
static void reports_while_samples_come(void **state) {
    world *w = (world *)*state;
    zt_config config = config_of(w);
    pthread_t self = pthread_self();
    const zt_allocator allocator = {allocate_slowly, release_memory, &self};
    work of = load_work(w);
    config.groups = "";
    config.allocator = allocator;
    base_of_next = 4096;
    fake_kernel_base = report_chosen_base;
    list_group(ZET_VALUE_TYPE_UINT64);
    sample_at(base_of_next + 8);
    gpu.behave(SOFTGPU_STALL_SAMPLING, 1);
    zt_profiler *profiler = open_profiler(w, &config);
    ok(zt_trace_start(profiler, NULL));
    ok(zt_hotspots_start(profiler, NULL));
    ze_kernel_handle_t hot = make_kernel(&of, "hot");
    AWAIT_MORE(profiler, matched);
    sampled_meanwhile = profiler;
    const char *text = strstr(written_report(profiler, ZT_FORMAT_JSON), "\"hotspots\":");
    sampled_meanwhile = NULL;
    assert_non_null(text);
    const char *matched = strstr(text, "\"matched\":"), *kernel = strstr(text, "\"name\":\"hot\"");
    assert_true(matched && kernel);
    assert_int_equal(strtoull(matched + 10, NULL, 10),
                     strtoull(strstr(kernel, "\"samples\":") + 10, NULL, 10));
    assert_contains(kernel, "\"share\":1,");
    ok(zeKernelDestroy(hot));
    unload_work(&of);
    close_profiler(w, profiler);
}

/* Programs are run without a trace in the application: no child is left, and none is needed. */
static void lines_without_the_programs(void **state) {
    world *w = (world *)*state;
    char *path = strdup(getenv("PATH"));
    zt_profiler *profiler = open_sampling(w, NULL);
    work of = load_work(w);
    ze_kernel_handle_t hot = make_kernel(&of, "hot");
    sample_kernel(profiler, &of, hot, "hot", ENOUGH);
    setenv("PATH", "/nonexistent", 1);
    assert_contains(written_report(profiler, ZT_FORMAT_TABLE), "install addr2line or llvm-symbolizer");
    zt_hotspot_info info;
    ok(zt_get_hotspot(profiler, 0, &info));
    assert_string_equal(info.file, "");
    unsetenv("PATH");
    assert_contains(written_report(profiler, ZT_FORMAT_FOLDED), "hot;+0x");
    setenv("PATH", path, 1);
    signal(SIGCHLD, SIG_IGN); /* the system waits for children */
    assert_null(strstr(written_report(profiler, ZT_FORMAT_CSV), "install addr2line"));
    signal(SIGCHLD, SIG_DFL);
    ok(zt_get_hotspot(profiler, 0, &info));
    assert_contains(info.file, "hot.cl");
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* there is no child */
    free(path);
    ok(zeKernelDestroy(hot));
    unload_work(&of);
    close_profiler(w, profiler);
}

static void debug_information_is_limited(void **state) {
    world *w = (world *)*state;
    zt_hotspots_config config = zt_hotspots_config_default();
    config.debug_limit = 1;
    zt_profiler *profiler = open_sampling(w, &config);
    work of = load_work(w);
    ze_kernel_handle_t hot = make_kernel(&of, "hot");
    sample_kernel(profiler, &of, hot, "hot", ENOUGH);
    ok(zeKernelDestroy(hot));
    unload_work(&of);
    assert_contains(written_report(profiler, ZT_FORMAT_TABLE), "zt_hotspots_config.debug_limit");
    close_profiler(w, profiler);
}

/* ==== programs ============================================================================================ */

/* Runs a program on a device without sanitizers, in a directory of its own, and returns what it has printed.
 */
static const char *run_program(const char *variables, const char *name, const char *file) {
    static char text[1 << 18];
    char program[4096], device[4096], command[4 * 4096];
    find_file(name, program, sizeof program);
    find_file("build/libze_softgpu.so", device, sizeof device);
    snprintf(command, sizeof command,
             "cd '%s' && exec env ZE_ENABLE_ALT_DRIVERS='%s' ZET_ENABLE_METRICS=1 ZE_ENABLE_TRACING_LAYER=1 "
             "SOFTGPU_BEHAVE=STALL_SAMPLING %s '%s' >output 2>&1",
             test_directory, device, variables, program);
    int status = system(command);
    FILE *output = fopen(in_directory(status == 0 ? file : "output"), "r");
    assert_non_null(output);
    text[fread(text, 1, sizeof text - 1, output)] = 0;
    fclose(output);
    if (status != 0)
        fail_msg("status 0x%x:\n%s", (unsigned)status, text);
    return text;
}

/* The example fails unless the costly line of its kernel has most samples. */
static void the_dear_line_of_the_example(void **state) {
    (void)state;
    const char *text = run_program("", "build/examples/hotspots", "output");
    assert_contains(text, "results: right");
    assert_contains(text, "/* the costly line */");
}

static void a_program_that_nobody_changed(void **state) {
    (void)state;
    char library[4096], variables[3 * 4096];
    find_file("build/libzt_auto.so", library, sizeof library);
    snprintf(variables, sizeof variables, "LD_PRELOAD='%s' ZT_HOTSPOTS=1 ZT_AUTO=run.json", library);
    const char *text = run_program(variables, "build/examples/simulate", "run.json");
    assert_contains(text, "\"name\":\"saxpy\"");
    assert_contains(text, "\"hotspots\":{\"group\":\"EuStallSampling\"");
    assert_contains(text, "saxpy.cl\",\"lines\":[");
}

static void bad_arguments(void **state) {
    world *w = (world *)*state;
    zt_profiler *profiler = open_sampling(w, NULL);
    zt_hotspot_info info;
    memset(&info, 0xFF, sizeof info);
    assert_result(zt_get_hotspot(profiler, 0, &info), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_string_equal(info.kernel, "");
    assert_string_equal(info.file, "");
    assert_int_equal(info.samples, 0);
    assert_result(zt_get_hotspot(profiler, 0, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    ok(zt_get_hotspot(NULL, 0, &info));
    ok(zt_hotspots_start(NULL, NULL));
    ok(zt_hotspots_stop(NULL));
    ok(zt_hotspots_find_lines(NULL));
    assert_int_equal(zt_get_hotspot_count(NULL), 0);
    assert_int_equal(zt_hotspots_get_counts(NULL).samples, 0);
    close_profiler(w, profiler);
}

static int start_with_tracing(void **state) {
    setenv("ZE_ENABLE_TRACING_LAYER", "1", 1);
    return start(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(the_hot_line_is_on_top),
        TEST(two_kernels_are_told_apart),
        TEST(kernels_created_before_are_known),
        TEST(all_kernels_of_a_launch_are_known),
        TEST(a_destroyed_kernel_keeps_its_samples),
        TEST(another_kernel_at_its_place),
        TEST(several_handles_of_a_kernel),
        TEST(what_no_kernel_has_is_counted),
        TEST(addresses_are_limited),
        TEST(what_the_device_drops_is_counted),
        TEST(what_cannot_be_used_is_counted),
        TEST(an_address_that_is_none),
        TEST(stopped_threads_are_where_the_time_goes),
        TEST(no_thread_stays_stopped),
        TEST(why_threads_cannot_be_stopped),
        TEST(a_stop_without_an_answer_is_dropped),
        TEST(without_the_group_the_reason_is_known),
        TEST(without_addresses_the_reason_is_known),
        TEST(it_needs_a_tracer),
        TEST(it_starts_and_stops_many_times),
        TEST(beside_a_stream_and_queries),
        TEST(one_at_a_time_on_a_device),
        TEST(tiles_are_sampled_one_by_one),
        TEST(it_is_closed_and_forked_while_it_runs),
        TEST(kernels_come_and_go_meanwhile),
        TEST(modules_leave_nothing),
        TEST(memory_runs_out_anywhere),
        TEST(two_threads_start_it_first),
        TEST(reports_show_lines),
        TEST(own_times_are_divided_among_places),
        TEST(lines_without_the_programs),
        TEST(reports_while_samples_come),
        TEST(no_other_program_inherits_the_pipe),
        TEST(lines_of_a_kernel_at_0),
        TEST(a_name_that_is_too_long),
        TEST(a_name_that_is_hostile),
        TEST(debug_information_is_limited),
        TEST(bad_arguments),
        cmocka_unit_test_setup_teardown(the_dear_line_of_the_example, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(a_program_that_nobody_changed, make_directory, remove_directory),
    };
    return cmocka_run_group_tests(tests, start_with_tracing, NULL);
}
