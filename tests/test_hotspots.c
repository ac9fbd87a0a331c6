/* Hot spots: samples of instructions, given to the kernels and source lines where they were taken. */
#define _GNU_SOURCE
#include "fixture.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GROUPS = 400000, ROUNDS = 20000, ENOUGH = 40, FIRST_LINE = 7, LAST_LINE = 12 /* of hot in hot.cl */ };

/* ==== what the driver answers ============================================================================== */

/* What is not 0 happens beside, or instead of, what the software device does. */
static struct pretended {
    zt_profiler *profiler;
    void (*at_read)(zt_profiler *profiler);    /* before reports are read: called once, as the next two */
    void (*at_pipe)(zt_profiler *profiler);    /* before a program is run */
    void (*at_tmpfile)(zt_profiler *profiler); /* before its input is written */
    int interrupted_polls;                     /* so many, by signals */
    int polls_until_late; /* not 0: of those with a limit, this one takes longer than the library waits */
    int repeats_reports;  /* as many as there is room for */
    uint8_t report[1024];
    size_t report_size; /* 0: there was none yet */
    uint64_t reports, reads;
    native_binary debug; /* of every module */
    const char *kernel_name;
    int has_no_address;      /* the group that samples instructions has one for the first query alone */
    int holds_other_threads; /* in zeEventQueryStatus */
    int is_held;
    pthread_t main;
} pretended;

static int open_pretended(void **state) {
    memset(&pretended, 0, sizeof pretended);
    return open_world(state);
}

static int close_pretended(void **state) {
    memset(&pretended, 0, sizeof pretended);
    return close_world(state);
}

#define PRETENDED(function) cmocka_unit_test_setup_teardown(function, open_pretended, close_pretended)

static void call_pretended(void (**function)(zt_profiler *profiler)) {
    void (*called)(zt_profiler * profiler) = *function;
    if (called) {
        *function = NULL;
        called(pretended.profiler);
    }
}

ze_result_t ZE_APICALL zetMetricStreamerReadData(zet_metric_streamer_handle_t streamer, uint32_t most,
                                                 size_t *size, uint8_t *bytes) {
    size_t room = *size;
    if (bytes)
        call_pretended(&pretended.at_read);
    ze_result_t result = REAL(zetMetricStreamerReadData)(streamer, most, size, bytes);
    if (bytes && pretended.repeats_reports) {
        int is_read = result == ZE_RESULT_SUCCESS || result == ZE_RESULT_WARNING_DROPPED_DATA;
        if (is_read && *size && !pretended.report_size) {
            ok(REAL(zetMetricStreamerReadData)(streamer, 1, &pretended.report_size, NULL));
            assert_in_range(pretended.report_size, 1, sizeof pretended.report);
            assert_true(*size >= pretended.report_size);
            memcpy(pretended.report, bytes, pretended.report_size);
        }
        if (pretended.report_size) {
            *size = is_read ? *size : 0;
            result = ZE_RESULT_SUCCESS;
            for (; *size + pretended.report_size <= room; *size += pretended.report_size)
                memcpy(bytes + *size, pretended.report, pretended.report_size);
            pretended.reports += *size / pretended.report_size;
            pretended.reads++;
        }
    }
    return result;
}

ze_result_t ZE_APICALL zetModuleGetDebugInfo(zet_module_handle_t module,
                                             zet_module_debug_info_format_t format, size_t *size,
                                             uint8_t *info) {
    if (!pretended.debug.bytes)
        return REAL(zetModuleGetDebugInfo)(module, format, size, info);
    if (info)
        memcpy(info, pretended.debug.bytes, *size);
    *size = pretended.debug.size;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeKernelGetName(ze_kernel_handle_t kernel, size_t *size, char *name) {
    if (!pretended.kernel_name)
        return REAL(zeKernelGetName)(kernel, size, name);
    *size = strlen(pretended.kernel_name) + 1;
    if (name)
        strcpy(name, pretended.kernel_name);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zetMetricGetProperties(zet_metric_handle_t metric,
                                              zet_metric_properties_t *properties) {
    ze_result_t result = REAL(zetMetricGetProperties)(metric, properties);
    if (pretended.has_no_address && properties->metricType == ZET_METRIC_TYPE_IP_EXP &&
        pretended.has_no_address++ > 1)
        properties->metricType = ZET_METRIC_TYPE_EVENT;
    return result;
}

ze_result_t ZE_APICALL zeEventQueryStatus(ze_event_handle_t event) {
    if (__atomic_load_n(&pretended.holds_other_threads, __ATOMIC_ACQUIRE) &&
        !pthread_equal(pthread_self(), pretended.main)) {
        __atomic_store_n(&pretended.is_held, 1, __ATOMIC_RELEASE);
        while (__atomic_load_n(&pretended.holds_other_threads, __ATOMIC_ACQUIRE))
            nap();
    }
    return REAL(zeEventQueryStatus)(event);
}

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
    for (uint32_t i = 0; i < zt_get_info(profiler).hotspot_count; i++) {
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
        zt_hotspots_counts counts = zt_get_info(profiler).hotspots;
        fail_msg("%llu samples, %llu outside, %llu ambiguous, %llu discarded: %s",
                 (unsigned long long)counts.samples, (unsigned long long)counts.outside,
                 (unsigned long long)counts.ambiguous, (unsigned long long)counts.discarded,
                 zt_get_info(profiler).error);
    }
}

static zt_profiler *open_tracing(world *w) {
    zt_config times = config_of(w);
    zt_trace_config trace = {0};
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

static uint64_t sum_of_samples(const zt_profiler *profiler) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < zt_get_info(profiler).hotspot_count; i++) {
        zt_hotspot_info info;
        ok(zt_get_hotspot(profiler, i, &info));
        sum += info.samples;
    }
    return sum;
}

/* Samples that come between two of these questions are asked for again. */
static void check_counts(const zt_profiler *profiler) {
    zt_hotspots_counts before, counts = zt_get_info(profiler).hotspots;
    uint64_t matched, end = now_ns() + A_WHILE;
    do {
        before = counts;
        matched = sum_of_samples(profiler);
        counts = zt_get_info(profiler).hotspots;
    } while (counts.samples != before.samples && now_ns() < end);
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
    zt_hotspots_config config = {0};
    config.no_thread = 1;
    config.period_ns = 1000000;
    config.addresses = addresses;
    list_group(ZET_VALUE_TYPE_UINT64);
    return open_sampling(w, &config);
}

/* Collects until a count is higher than before; bounded, as all waiting. */
#define AWAIT_MORE(profiler, count)                                                                          \
    do {                                                                                                     \
        uint64_t before_ = zt_get_info(profiler).hotspots.count;                                             \
        for (int i_ = 0; i_ < 20000 && zt_get_info(profiler).hotspots.count <= before_; i_++) {              \
            nap();                                                                                           \
            zt_collect(profiler, 0);                                                                         \
        }                                                                                                    \
        assert_true(zt_get_info(profiler).hotspots.count > before_);                                         \
    } while (0)

static uint64_t base_of_next; /* of a kernel whose address is queried */

static ze_result_t report_chosen_base(ze_kernel_handle_t kernel, uint64_t *base) {
    (void)kernel;
    *base = base_of_next;
    return ZE_RESULT_SUCCESS;
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

/* ==== kernels and lines =================================================================================== */

static void the_hot_line_is_on_top(void **state) {
    world *w = (world *)*state;
    zt_profiler *profiler = open_sampling(w, NULL);
    work of = load_work(w);
    ze_kernel_handle_t hot = make_kernel(&of, "hot");
    sample_kernel(profiler, &of, hot, "hot", ENOUGH);
    ok(zt_hotspots_stop(profiler));
    check_counts(profiler);
    double share = 0;
    for (uint32_t i = 0; i < zt_get_info(profiler).hotspot_count; i++) {
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
    zt_hotspots_config config = {0};
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
    ok(zt_hotspots_stop(profiler));
    zt_hotspot_info info;
    ok(zt_get_hotspot(profiler, 0, &info));
    assert_string_equal(info.kernel, "hot");
    assert_contains(info.file, "hot.cl");
    assert_result(zt_hotspots_start(profiler, NULL), ZE_RESULT_NOT_READY);
    assert_contains(zt_get_info(profiler).error, "[NOT_TRACING]");
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
    uint64_t before = zt_get_info(profiler).hotspots.matched;
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
    base_of_next += 0x10000;
    ze_kernel_handle_t spin = make_kernel(&of, "spin");
    sample_at(base_of_next - 0x10000);
    AWAIT_MORE(profiler, ambiguous);
    sample_at(base_of_next - 8);
    AWAIT_MORE(profiler, outside);
    assert_int_equal(zt_get_info(profiler).hotspot_count, 0);
    sample_at(base_of_next);
    AWAIT_MORE(profiler, matched);
    assert_int_equal(samples_of(profiler, "spin"), zt_get_info(profiler).hotspots.matched);
    check_counts(profiler);
    assert_int_equal(zt_get_info(profiler).hotspots.no_room, 0);
    const char *table = written_report(profiler, ZT_FORMAT_CSV);
    assert_contains(table, "are in no known kernel");
    assert_contains(table, "are where two kernels lie");
    ok(zeKernelDestroy(hot));
    ok(zeKernelDestroy(warm));
    ok(zeKernelDestroy(spin));
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
    assert_int_equal(zt_get_info(profiler).hotspot_count, 1);
    check_counts(profiler);
    ok(zt_hotspots_stop(profiler));
    zt_hotspots_config config = {0};
    config.no_thread = 1;
    ok(zt_hotspots_start(profiler, &config)); /* with room for more */
    AWAIT_MORE(profiler, matched);
    assert_int_equal(zt_get_info(profiler).hotspot_count, 2);
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
    zt_hotspots_config config = {0};
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

/* A report that has none is of no instruction, whatever its address. */
static void an_address_without_samples(void **state) {
    world *w = (world *)*state;
    work of = load_work(w);
    base_of_next = UINT64_C(0x500001000);
    fake_kernel_base = report_chosen_base;
    zt_profiler *profiler = open_listed(w, 0);
    ze_kernel_handle_t hot = make_kernel(&of, "hot");
    assert_true(gpu.set_metric("Active", 0));
    assert_true(gpu.set_metric("SbidStall", 0));
    sample_at(base_of_next);
    gpu.reset_calls();
    for (int i = 0; i < 20000 && calls("zetMetricGroupCalculateMultipleMetricValuesExp") < 3; i++) {
        nap();
        zt_collect(profiler, 0);
    }
    assert_true(calls("zetMetricGroupCalculateMultipleMetricValuesExp") >= 3);
    sample_at(base_of_next + 8);
    assert_true(gpu.set_metric("Active", 1));
    AWAIT_MORE(profiler, matched);
    zt_hotspot_info info;
    assert_int_equal(zt_get_info(profiler).hotspot_count, 1);
    ok(zt_get_hotspot(profiler, 0, &info));
    assert_int_equal(info.offset, 8);
    check_counts(profiler);
    ok(zeKernelDestroy(hot));
    unload_work(&of);
    close_profiler(w, profiler);
}

/* A device may not know the size of its reports before there is one. */
static void the_size_of_reports_comes_later(void **state) {
    world *w = (world *)*state;
    inject("zetMetricStreamerReadData", 1, ZE_RESULT_NOT_READY);
    zt_profiler *profiler = open_listed(w, 0);
    inject("zetMetricStreamerReadData", 1, ZE_RESULT_NOT_READY);
    ok(zt_collect(profiler, 0));
    assert_int_equal(zt_get_info(profiler).hotspots.samples, 0);
    AWAIT_MORE(profiler, outside);
    check_counts(profiler);
    close_profiler(w, profiler);
}

/* A calculation whose counts are not what they should be. */
static enum { NO_LIE, MANY_SETS, TOO_MANY_VALUES, PART_OF_A_ROW } calculation_lie;

static ze_result_t ZE_APICALL calculate_wrongly(zet_metric_group_handle_t group,
                                                zet_metric_group_calculation_type_t type, size_t size,
                                                const uint8_t *raw, uint32_t *sets, uint32_t *total,
                                                uint32_t *counts, zet_typed_value_t *values) {
    ze_result_t result = REAL(zetMetricGroupCalculateMultipleMetricValuesExp)(group, type, size, raw, sets,
                                                                              total, counts, values);
    if (calculation_lie == MANY_SETS)
        *sets = 100000;
    if (calculation_lie == PART_OF_A_ROW)
        counts[0]--;
    if (calculation_lie == TOO_MANY_VALUES) {
        *sets = 2;
        counts[0] = counts[1] = UINT32_MAX;
    }
    return result;
}

static void calculations_that_cannot_be_right(void **state) {
    world *w = (world *)*state;
    replace_symbol("zetMetricGroupCalculateMultipleMetricValuesExp", (any_function)calculate_wrongly);
    calculation_lie = NO_LIE;
    zt_profiler *profiler = open_listed(w, 0);
    for (uint32_t lie = MANY_SETS; lie <= PART_OF_A_ROW; lie++) {
        calculation_lie = lie;
        AWAIT_MORE(profiler, discarded);
        calculation_lie = NO_LIE;
        AWAIT_MORE(profiler, outside);
    }
    assert_true(heard(w, "[NOT_CALCULATED]") > 0);
    check_counts(profiler);
    close_profiler(w, profiler);
}

/* Then it is left to the next call, so that each ends. */
static void a_device_that_always_has_more(void **state) {
    world *w = (world *)*state;
    zt_hotspots_config config = {0};
    config.no_thread = 1;
    config.memory_limit = 1 << 16;
    list_group(ZET_VALUE_TYPE_UINT64);
    pretended.repeats_reports = 1;
    zt_profiler *profiler = open_sampling(w, &config);
    AWAIT_MORE(profiler, outside);
    for (int i = 0; i < 3; i++) {
        pretended.reads = 0;
        zt_collect(profiler, 0);
        assert_in_range(pretended.reads, 2, 1000);
        assert_int_equal(zt_get_info(profiler).hotspots.samples, 3 * pretended.reports);
    }
    pretended.reads = 0;
    ok(zt_hotspots_stop(profiler));
    assert_in_range(pretended.reads, 2, 1000);
    assert_int_equal(zt_get_info(profiler).hotspots.samples, 3 * pretended.reports);
    assert_int_equal(zt_get_info(profiler).hotspots.discarded, 0);
    check_counts(profiler);
    close_profiler(w, profiler);
}

/* ==== where a kernel lies ================================================================================= */

/* What the driver answers of a kernel's instructions. */
static enum {
    NO_SIZE,
    NO_ANSWER,
    NO_BYTES,
    AT_SECOND_ATTEMPT, /* by the loader's function, and not by the driver's */
    NO_SIZE_WITH_BYTES,
    MORE_WITH_BYTES, /* than it said at first */
    ALL_THE_SAME     /* all kernels have the same */
} binary_answer;
enum { BINARY_SIZE = 64 };
static int binary_attempts;

static ze_result_t ZE_APICALL get_chosen_binary(ze_kernel_handle_t kernel, size_t *size, uint8_t *bytes) {
    (void)kernel;
    if (binary_answer == NO_ANSWER || (bytes && binary_answer == NO_BYTES) ||
        (binary_answer == AT_SECOND_ATTEMPT && ++binary_attempts == 1))
        return ZE_RESULT_ERROR_UNKNOWN;
    if (bytes)
        memset(bytes, 7, *size < BINARY_SIZE ? *size : BINARY_SIZE);
    *size = binary_answer == NO_SIZE || (bytes && binary_answer == NO_SIZE_WITH_BYTES) ? 0
            : bytes && binary_answer == MORE_WITH_BYTES                                ? 1 << 20
                                                                                       : BINARY_SIZE;
    return ZE_RESULT_SUCCESS;
}

/* Asserts that samples at an offset of a new kernel belong to it, or to none. */
static void place_and_sample(world *w, const char *name, uint64_t offset, int is_known) {
    work of = load_work(w);
    base_of_next = UINT64_C(0x500001000);
    fake_kernel_base = report_chosen_base;
    zt_profiler *profiler = open_listed(w, 0);
    pretended.kernel_name = name;
    ze_kernel_handle_t hot = make_kernel(&of, "hot");
    pretended.kernel_name = NULL;
    AWAIT_MORE(profiler, outside);
    uint64_t outside = zt_get_info(profiler).hotspots.outside;
    sample_at(base_of_next + offset);
    if (is_known) {
        AWAIT_MORE(profiler, matched);
        assert_true(samples_of(profiler, name ? name : "hot") > 0);
    } else {
        while (zt_get_info(profiler).hotspots.outside < outside + 30)
            AWAIT_MORE(profiler, outside);
        assert_int_equal(zt_get_info(profiler).hotspots.matched, 0);
    }
    check_counts(profiler);
    ok(zeKernelDestroy(hot));
    unload_work(&of);
    close_profiler(w, profiler);
}

/* The driver does not return a kernel's instructions: the module has them, under the name of the function. */
static void instructions_that_the_module_has(void **state) {
    world *w = (world *)*state;
    replace_symbol("zeKernelGetBinaryExp", (any_function)get_chosen_binary);
    for (uint32_t answer = NO_SIZE; answer <= NO_BYTES; answer++) {
        binary_answer = answer;
        place_and_sample(w, "sg_run_hot", 16, 1);
    }
    place_and_sample(w, "absent", 16, 0);
    binary_answer = AT_SECOND_ATTEMPT;
    binary_attempts = 0;
    place_and_sample(w, "absent", 16, 1);
    binary_answer = NO_ANSWER;
    inject("zeModuleGetNativeBinary", 1, ZE_RESULT_ERROR_UNKNOWN);
    place_and_sample(w, "sg_run_hot", 16, 0);
}

/* A kernel has the size for which there were bytes. */
static void a_size_that_changes(void **state) {
    world *w = (world *)*state;
    replace_symbol("zeKernelGetBinaryExp", (any_function)get_chosen_binary);
    binary_answer = NO_SIZE_WITH_BYTES;
    place_and_sample(w, NULL, 0, 0);
    binary_answer = MORE_WITH_BYTES;
    place_and_sample(w, NULL, BINARY_SIZE - 8, 1);
    place_and_sample(w, NULL, BINARY_SIZE, 0);
}

/* Without its instructions and its module, a kernel is not known. */
static void instructions_of_no_known_module(void **state) {
    world *w = (world *)*state;
    zt_config times = config_of(w);
    zt_hotspots_config config = {0};
    work of = load_work(w);
    ze_kernel_handle_t hot = make_kernel(&of, "hot");
    replace_symbol("zeKernelGetBinaryExp", (any_function)get_chosen_binary);
    binary_answer = NO_ANSWER;
    base_of_next = UINT64_C(0x500001000);
    fake_kernel_base = report_chosen_base;
    list_group(ZET_VALUE_TYPE_UINT64);
    gpu.behave(SOFTGPU_STALL_SAMPLING, 1);
    times.groups = "";
    config.no_thread = 1;
    zt_profiler *profiler = open_profiler(w, &times);
    ok(zt_trace_start(profiler, NULL));
    ok(zt_hotspots_start(profiler, &config));
    sample_at(base_of_next + 8);
    begin_work(&of, hot);
    AWAIT_MORE(profiler, outside);
    end_work(&of);
    assert_int_equal(zt_get_info(profiler).hotspots.matched, 0);
    ok(zeKernelDestroy(hot));
    unload_work(&of);
    close_profiler(w, profiler);
}

/* Kernels that have the same instructions are told apart by their names. */
static void the_same_instructions_by_two_names(void **state) {
    world *w = (world *)*state;
    const uint64_t base = UINT64_C(0x500001000);
    replace_symbol("zeKernelGetBinaryExp", (any_function)get_chosen_binary);
    binary_answer = ALL_THE_SAME;
    work of = load_work(w);
    base_of_next = base;
    fake_kernel_base = report_next_base;
    zt_profiler *profiler = open_listed(w, 0);
    ze_kernel_handle_t hot = make_kernel(&of, "hot"), warm = make_kernel(&of, "warm");
    sample_at(base + 8);
    AWAIT_MORE(profiler, matched);
    assert_int_equal(samples_of(profiler, "hot"), zt_get_info(profiler).hotspots.matched);
    sample_at(base + 0x10000 + 8);
    for (int i = 0; i < 20000 && samples_of(profiler, "warm") == 0; i++)
        AWAIT_MORE(profiler, matched);
    assert_int_equal(zt_get_info(profiler).hotspot_count, 2);
    check_counts(profiler);
    ok(zeKernelDestroy(hot));
    ok(zeKernelDestroy(warm));
    unload_work(&of);
    close_profiler(w, profiler);
}

static void kernels_of_another_device(void **state) {
    world *w = (world *)*state;
    ze_device_handle_t devices[2];
    uint32_t count = 2;
    gpu.set_devices(2, 0);
    ok(zeDeviceGet(w->driver, &count, devices));
    world other = *w;
    other.device = devices[devices[0] == w->device];
    base_of_next = UINT64_C(0x500001000);
    fake_kernel_base = report_chosen_base;
    zt_profiler *profiler = open_listed(w, 0);
    work of = load_work(&other);
    ze_kernel_handle_t hot = make_kernel(&of, "hot");
    sample_at(base_of_next + 8);
    for (uint64_t i = 0; i < 5; i++)
        AWAIT_MORE(profiler, outside);
    assert_int_equal(zt_get_info(profiler).hotspots.matched, 0);
    ok(zeKernelDestroy(hot));
    unload_work(&of);
    close_profiler(w, profiler);
}

static ze_result_t refuse_to_translate(int type, void *handle, void **translated) {
    (void)type, (void)handle, (void)translated;
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

/* The driver's functions need its own handles. A loader that cannot tell them does not wrap any. */
static void handles_of_the_driver(void **state) {
    world *w = (world *)*state;
    replace_symbol("zelLoaderTranslateHandle", (any_function)refuse_to_translate);
    place_and_sample(w, NULL, 8, 0);
    if (loader_wraps_handles())
        return;
    replace_symbol("zelLoaderTranslateHandle", NULL);
    place_and_sample(w, NULL, 8, 1);
}

/* A kernel that the driver did not destroy is known again when it is launched. */
static void a_kernel_that_could_not_be_destroyed(void **state) {
    world *w = (world *)*state;
    zt_config times = config_of(w);
    zt_hotspots_config config = {0};
    base_of_next = UINT64_C(0x500001000);
    fake_kernel_base = report_chosen_base;
    list_group(ZET_VALUE_TYPE_UINT64);
    gpu.behave(SOFTGPU_STALL_SAMPLING, 1);
    times.groups = "";
    config.no_thread = 1;
    zt_profiler *profiler = open_profiler(w, &times);
    ok(zt_trace_start(profiler, NULL));
    work of = load_work(w);
    ze_kernel_handle_t hot = make_kernel(&of, "hot");
    inject("zeKernelDestroy", 1, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    assert_result(zeKernelDestroy(hot), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    ok(zt_hotspots_start(profiler, &config));
    sample_at(base_of_next + 8);
    for (int i = 0; i < 3; i++)
        AWAIT_MORE(profiler, outside);
    assert_int_equal(zt_get_info(profiler).hotspots.matched, 0);
    begin_work(&of, hot);
    AWAIT_MORE(profiler, matched);
    end_work(&of);
    assert_true(samples_of(profiler, "hot") > 0);
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
    assert_contains(zt_get_info(profiler).error, "[NO_INSTRUCTION_SAMPLING]");
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
    assert_contains(zt_get_info(profiler).error, "zexKernelGetBaseAddress");
    close_profiler(w, profiler);
}

static void without_the_calculation_the_reason_is_known(void **state) {
    world *w = (world *)*state;
    hide_symbol("zetMetricGroupCalculateMultipleMetricValuesExp");
    zt_profiler *profiler = open_tracing(w);
    assert_result(zt_hotspots_start(profiler, NULL), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    assert_contains(zt_get_info(profiler).error,
                    "the loader has no zetMetricGroupCalculateMultipleMetricValuesExp");
    hide_symbol(NULL);
    close_profiler(w, profiler);
}

static void refuses_the_counts(zt_profiler *profiler, const zt_hotspots_config *config, const char *reason) {
    assert_result(zt_hotspots_start(profiler, config), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    assert_contains(zt_get_info(profiler).error, "[NO_ADDRESSES]");
    assert_contains(zt_get_info(profiler).error, reason);
}

/* What was counted at the first start is what the figures are of. Refused starts have none. */
static void counts_are_those_of_the_first_start(void **state) {
    world *w = (world *)*state;
    static const softgpu_metric no_counts[] = {
        {"IP", "XVE", "Address", ZET_METRIC_TYPE_IP_EXP, ZET_VALUE_TYPE_UINT64},
        {"Ratio", "XVE", "Percent", ZET_METRIC_TYPE_RATIO, ZET_VALUE_TYPE_FLOAT64},
        {"Bytes", "XVE", "Bytes", ZET_METRIC_TYPE_EVENT, ZET_VALUE_TYPE_UINT64},
    };
    static const softgpu_metric fewer[] = {
        {"IP", "XVE", "Address", ZET_METRIC_TYPE_IP_EXP, ZET_VALUE_TYPE_UINT64},
        {"Active", "XVE", "Events", ZET_METRIC_TYPE_EVENT, ZET_VALUE_TYPE_UINT64},
    };
    static const softgpu_metric others[] = {
        {"IP", "XVE", "Address", ZET_METRIC_TYPE_IP_EXP, ZET_VALUE_TYPE_UINT64},
        {"Active", "XVE", "Events", ZET_METRIC_TYPE_EVENT, ZET_VALUE_TYPE_UINT64},
        {"PipeStall", "XVE", "Events", ZET_METRIC_TYPE_EVENT, ZET_VALUE_TYPE_UINT64},
    };
    const char *otherwise = "others than at the first start";
    zt_hotspots_config config = {0};
    config.no_thread = 1;
    config.period_ns = 1000000;
    work of = load_work(w);
    base_of_next = UINT64_C(0x500001000);
    fake_kernel_base = report_chosen_base;
    zt_profiler *profiler = open_tracing(w);
    gpu.behave(SOFTGPU_STALL_SAMPLING, 0);
    assert_true(gpu.list_metrics("Listed", no_counts, 3));
    refuses_the_counts(profiler, &config, "the metric group has no counts");
    assert_true(gpu.list_metrics("Listed", &others[1], 2));
    assert_true(zt_hotspots_start(profiler, &config) != ZE_RESULT_SUCCESS); /* it has no address */

    list_group(ZET_VALUE_TYPE_UINT64);
    sample_at(base_of_next);
    ok(zt_hotspots_start(profiler, &config));
    ze_kernel_handle_t hot = make_kernel(&of, "hot");
    AWAIT_MORE(profiler, matched);
    ok(zt_hotspots_stop(profiler));
    zt_hotspot_info info;
    ok(zt_get_hotspot(profiler, 0, &info));
    assert_int_equal(info.stall_count, 1);
    assert_string_equal(info.stalls[0].name, "SbidStall");
    assert_int_equal(info.active + info.stalls[0].samples, info.samples);
    assert_int_equal(info.stalls[0].samples, 2 * info.active);

    assert_true(gpu.list_metrics("Listed", fewer, 2));
    refuses_the_counts(profiler, &config, otherwise);
    assert_true(gpu.list_metrics("Listed", others, 3));
    refuses_the_counts(profiler, &config, otherwise);
    list_group(ZET_VALUE_TYPE_UINT64);
    sample_at(base_of_next);
    ok(zt_hotspots_start(profiler, &config));
    AWAIT_MORE(profiler, matched);
    assert_int_equal(zt_get_info(profiler).hotspot_count, 1);
    ok(zeKernelDestroy(hot));
    check_counts(profiler);
    unload_work(&of);
    close_profiler(w, profiler);
}

/* Without Active, that is 0. */
static void more_kinds_of_stall_than_there_is_room_for(void **state) {
    world *w = (world *)*state;
    enum { MANY = ZT_MAX_STALLS + 5 };
    static char names[MANY][16];
    softgpu_metric metrics[1 + MANY] = {
        {"IP", "XVE", "Address", ZET_METRIC_TYPE_IP_EXP, ZET_VALUE_TYPE_UINT64}};
    zt_hotspots_config config = {0};
    zt_hotspot_info info;
    config.no_thread = 1;
    config.period_ns = 1000000;
    for (int i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof names[i], "Stall%d", i);
        metrics[1 + i] =
            (softgpu_metric){names[i], "XVE", "Events", ZET_METRIC_TYPE_EVENT, ZET_VALUE_TYPE_UINT64};
    }
    assert_true(gpu.list_metrics("Listed", metrics, 1 + MANY));
    for (int i = 0; i < MANY; i++)
        assert_true(gpu.set_metric(names[i], i + 1));
    work of = load_work(w);
    base_of_next = UINT64_C(0x500001000);
    fake_kernel_base = report_chosen_base;
    sample_at(base_of_next);
    zt_profiler *profiler = open_sampling(w, &config);
    ze_kernel_handle_t hot = make_kernel(&of, "hot");
    AWAIT_MORE(profiler, matched);
    ok(zt_hotspots_stop(profiler));
    ok(zt_get_hotspot(profiler, 0, &info));
    assert_int_equal(info.active, 0);
    assert_int_equal(info.stall_count, ZT_MAX_STALLS);
    const uint64_t rows = info.samples / (ZT_MAX_STALLS * (ZT_MAX_STALLS + 1) / 2);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < info.stall_count; i++) {
        int number = atoi(info.stalls[i].name + strlen("Stall"));
        assert_in_range(number, 0, ZT_MAX_STALLS - 1);
        assert_int_equal(info.stalls[i].samples, rows * ((uint64_t)number + 1));
        sum += info.stalls[i].samples;
    }
    assert_int_equal(sum, info.samples);
    ok(zeKernelDestroy(hot));
    unload_work(&of);
    close_profiler(w, profiler);
}

static void metrics_that_change(void **state) {
    world *w = (world *)*state;
    zt_profiler *profiler = open_tracing(w);
    list_group(ZET_VALUE_TYPE_UINT64);
    pretended.has_no_address = 1;
    assert_result(zt_hotspots_start(profiler, NULL), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    assert_contains(zt_get_info(profiler).error, "[NO_ADDRESSES]");
    pretended.has_no_address = 0;
    ok(zt_hotspots_start(profiler, NULL));
    close_profiler(w, profiler);
}

static struct { ze_result_t collected, stopped, started, reported; } meanwhile;

static void *use_on_thread(void *profiler) {
    meanwhile.collected = zt_collect(profiler, 0);
    meanwhile.started = zt_hotspots_start(profiler, NULL);
    meanwhile.stopped = zt_hotspots_stop(profiler);
    return NULL;
}

static void use_meanwhile(zt_profiler *profiler) {
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, use_on_thread, profiler), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

static zt_profiler *open_impatient(world *w) {
    zt_config times = config_of(w);
    zt_trace_config trace = {0};
    zt_hotspots_config config = {0};
    config.no_thread = 1;
    times.groups = "";
    times.wait_timeout_ns = 1000000;
    trace.no_launches = 1;
    gpu.behave(SOFTGPU_STALL_SAMPLING, 1);
    list_group(ZET_VALUE_TYPE_UINT64);
    zt_profiler *profiler = pretended.profiler = open_profiler(w, &times);
    ok(zt_trace_start(profiler, &trace));
    ok(zt_hotspots_start(profiler, &config));
    return profiler;
}

/* While one thread reads samples, which may take long, another does not read them, and cannot stop. */
static void another_thread_uses_it_meanwhile(void **state) {
    world *w = (world *)*state;
    zt_profiler *profiler = open_impatient(w);
    memset(&meanwhile, 0xFF, sizeof meanwhile);
    pretended.at_read = use_meanwhile;
    ok(zt_collect(profiler, 0));
    ok(meanwhile.collected);
    assert_result(meanwhile.started, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    assert_result(meanwhile.stopped, ZE_RESULT_NOT_READY);
    assert_int_equal(heard(w, "[STILL_SAMPLING]"), 2); /* of the start and of the stop */
    AWAIT_MORE(profiler, outside);                     /* it goes on */
    ok(zt_hotspots_stop(profiler));
    close_profiler(w, profiler);
}

static void *stop_on_thread(void *profiler) {
    __atomic_store_n(&pretended.is_held, 1, __ATOMIC_RELEASE);
    return (void *)(uintptr_t)zt_hotspots_stop((zt_profiler *)profiler);
}

static pthread_t stopping;

/* It waits for the thread that stops already, most likely. */
static void stop_meanwhile(zt_profiler *profiler) {
    assert_int_equal(pthread_create(&stopping, NULL, stop_on_thread, profiler), 0);
    await(&pretended.is_held);
    for (int i = 0; i < 20; i++)
        nap();
}

static void two_threads_stop_it(void **state) {
    world *w = (world *)*state;
    zt_profiler *profiler = open_listed(w, 0);
    void *result;
    pretended.profiler = profiler;
    pretended.at_read = stop_meanwhile;
    ok(zt_hotspots_stop(profiler));
    assert_int_equal(pthread_join(stopping, &result), 0);
    assert_result((ze_result_t)(uintptr_t)result, ZE_RESULT_SUCCESS);
    assert_int_equal(heard(w, "[STILL_SAMPLING]"), 0);
    close_profiler(w, profiler);
}

/* What the thread uses stays, until it comes back. */
static void the_thread_hangs_in_the_driver(void **state) {
    world *w = (world *)*state;
    for (int is_closed = 0; is_closed < 2; is_closed++) {
        pthread_t passing;
        int is_over = 0;
        ze_result_t result = ZE_RESULT_NOT_READY;
        pretended.main = pthread_self();
        pretended.is_held = 0;
        zt_profiler *profiler = open_sampling(w, NULL);
        int heard_before = heard(w, "[STILL_SAMPLING]");
        __atomic_store_n(&pretended.holds_other_threads, 1, __ATOMIC_RELEASE);
        await(&pretended.is_held);
        assert_int_equal(pthread_create(&passing, NULL, pass_much_time, &is_over), 0);
        if (is_closed)
            zt_close(profiler);
        else
            result = zt_hotspots_stop(profiler);
        __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
        join_in_time(w, passing);
        __atomic_store_n(&pretended.holds_other_threads, 0, __ATOMIC_RELEASE);
        assert_result(result, ZE_RESULT_NOT_READY);
        assert_int_equal(heard(w, "[STILL_SAMPLING]"), heard_before + 1);
        assert_result(zt_hotspots_start(profiler, NULL), is_closed
                                                             ? ZE_RESULT_NOT_READY /* its tracer is stopped */
                                                             : ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
        ok(zt_hotspots_stop(profiler));
        check_counts(profiler);
        close_profiler(w, profiler);
    }
}

/* Then zt_collect reads. */
static void no_thread_can_be_started(void **state) {
    world *w = (world *)*state;
    zt_profiler *profiler = open_tracing(w);
    list_group(ZET_VALUE_TYPE_UINT64);
    refused_threads = 1;
    ok(zt_hotspots_start(profiler, NULL));
    assert_int_equal(refused_threads, 0);
    AWAIT_MORE(profiler, outside);
    close_profiler(w, profiler);
}

/* A log function that is called while samples are read. */
static struct {
    zt_profiler *profiler;
    ze_result_t stopped, started;
    int count;
} inside_log;

static void log_and_stop(int result, const char *message, void *user) {
    (void)result, (void)user;
    if (!strstr(message, "[SAMPLES_DROPPED]"))
        return;
    inside_log.count++;
    inside_log.stopped = zt_hotspots_stop(inside_log.profiler);
    inside_log.started = zt_hotspots_start(inside_log.profiler, NULL);
}

static void the_log_must_not_stop_it(void **state) {
    world *w = (world *)*state;
    zt_hotspots_config config = {0};
    zt_config times = config_of(w);
    zt_trace_config trace = {0};
    inside_log.count = 0;
    config.no_thread = 1;
    config.period_ns = 1000000;
    times.groups = "";
    times.log = log_and_stop;
    times.wait_timeout_ns = 1000000;
    trace.no_launches = 1;
    gpu.behave(SOFTGPU_STALL_SAMPLING, 1);
    list_group(ZET_VALUE_TYPE_UINT64);
    zt_profiler *profiler = inside_log.profiler = open_profiler(w, &times);
    ok(zt_trace_start(profiler, &trace));
    ok(zt_hotspots_start(profiler, &config));
    inject("zetMetricGroupCalculateMultipleMetricValuesExp", 1, ZE_RESULT_WARNING_DROPPED_DATA);
    AWAIT_MORE(profiler, drops);
    assert_int_equal(inside_log.count, 1);
    assert_result(inside_log.stopped, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    assert_result(inside_log.started, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    AWAIT_MORE(profiler, outside); /* it goes on */
    ok(zt_hotspots_stop(profiler));
    close_profiler(w, profiler);
}

static void it_needs_a_tracer(void **state) {
    world *w = (world *)*state;
    gpu.behave(SOFTGPU_STALL_SAMPLING, 1);
    zt_profiler *profiler = open_profiler(w, NULL);
    assert_result(zt_hotspots_start(profiler, NULL), ZE_RESULT_NOT_READY);
    assert_contains(zt_get_info(profiler).error, "[NOT_TRACING]");
    assert_int_equal(zt_get_info(profiler).hotspot_count, 0);
    ok(zt_hotspots_stop(profiler));
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
        assert_contains(zt_get_info(profiler).error, "[SAMPLING_ALREADY]");
        sample_kernel(profiler, &of, hot, "hot", 3);
        ok(zt_hotspots_stop(profiler));
        ok(zt_hotspots_stop(profiler));
        uint64_t samples = zt_get_info(profiler).hotspots.samples;
        ok(zt_collect(profiler, 0));
        assert_int_equal(zt_get_info(profiler).hotspots.samples, samples);
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
    zt_stream_config config = {0};
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
    assert_true(end_stream(stream, NULL, NULL).reports > 0);
    ok(zeKernelDestroy(hot));
    unload_work(&of);
    close_profiler(w, profiler);
}

static void one_at_a_time_on_a_device(void **state) {
    world *w = (world *)*state;
    zt_config config = config_of(w);
    config.groups = "";
    zt_profiler *first = open_sampling(w, NULL), *second = open_profiler(w, &config);
    assert_result(zt_hotspots_start(second, NULL), ZE_RESULT_NOT_READY); /* it does not trace */
    ok(zt_trace_stop(first));
    ok(zt_trace_start(second, NULL));
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
    assert_contains(zt_get_info(profiler).error, "Open a profiler on each sub-device");
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
        _exit(zt_get_info(profiler).hotspots.drops == 0 ? 0 : 1);
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
    enum { LEFT = 60 };
    static kept_text report;
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
    for (int left = 0; left < LEFT; left++) {
        zt_hotspots_config hotspots = {0};
        hotspots.no_thread = 1;
        zt_profiler *profiler = open_profiler(w, &config);
        ok(zt_trace_start(profiler, NULL));
        allocations_left = left;
        ze_result_t result = zt_hotspots_start(profiler, &hotspots);
        ze_kernel_handle_t hot = make_kernel(&of, "hot");
        nap();
        nap();
        zt_collect(profiler, 0);
        ok(zeKernelDestroy(hot));
        zt_hotspots_stop(profiler);
        allocations_left = -1;
        if (result != ZE_RESULT_SUCCESS)
            assert_result(result, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
        check_counts(profiler);
        written_report(profiler, ZT_FORMAT_JSON);
        for (int n = left + 1 < LEFT ? left : 0; n <= left; n++) {
            allocations_left = n;
            report.used = 0;
            result = zt_write(profiler, ZT_FORMAT_TABLE, keep_text, &report);
            allocations_left = -1;
            if (result != ZE_RESULT_SUCCESS)
                assert_result(result, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
        }
        close_profiler(w, profiler);
    }
    unload_work(&of);
}

static zt_profiler *started_by_another; /* by the first allocation after it is set, on another thread */
static long unfreed;

static void *start_hotspots(void *profiler) {
    zt_hotspots_config config = {0};
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
    assert_contains(zt_get_info(profiler).error, "already sampled");
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

/* Gives samples of an instruction, and collects until they are there. */
static void give(zt_profiler *profiler, const char *metric, uint64_t address, uint32_t count) {
    uint64_t wanted = zt_get_info(profiler).hotspots.matched + count;
    assert_true(gpu.give_samples(metric, address, count));
    for (int i = 0; i < 20000 && zt_get_info(profiler).hotspots.matched < wanted; i++) {
        nap();
        zt_collect(profiler, 0);
    }
    assert_int_equal(zt_get_info(profiler).hotspots.matched, wanted);
}

/* Kernels that are not launched. Each has a base. */
enum { KERNELS = 5, FIRST_BASE = 0x10000, NEXT_BASE = 0x1000 };

typedef struct given {
    ze_module_handle_t modules[KERNELS];
    ze_kernel_handle_t kernels[KERNELS];
} given;

static zt_profiler *open_given(world *w, given *of) {
    static const char *const files[KERNELS] = {"hot", "hot", "saxpy", "reduce", "cbrt"},
                             *const names[KERNELS] = {"warm", "hot", "saxpy", "reduce", "cbrt"};
    zt_hotspots_config config = {0};
    config.no_thread = 1;
    fake_kernel_base = report_chosen_base;
    zt_profiler *profiler = open_sampling(w, &config);
    for (int i = 0; i < KERNELS; i++) {
        ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = names[i]};
        char path[64];
        snprintf(path, sizeof path, "build/kernels/%s.so", files[i]);
        base_of_next = FIRST_BASE + (uint64_t)i * NEXT_BASE;
        of->modules[i] = load_module(w, path, NULL);
        ok(zeKernelCreate(of->modules[i], &desc, &of->kernels[i]));
    }
    return profiler;
}

static void close_given(world *w, zt_profiler *profiler, const given *of) {
    for (int i = 0; i < KERNELS; i++) {
        ok(zeKernelDestroy(of->kernels[i]));
        ok(zeModuleDestroy(of->modules[i]));
    }
    close_profiler(w, profiler);
}

/* More places than a table shows, in kernels of which some have as many samples. */
static void a_table_of_many_places(void **state) {
    world *w = (world *)*state;
    enum { PLACES = 5 };
    given of;
    zt_profiler *profiler = open_given(w, &of);
    for (uint32_t kernel = 0; kernel < KERNELS; kernel++)
        for (uint32_t place = 0; place < PLACES; place++)
            give(profiler, "SbidStall", FIRST_BASE + kernel * NEXT_BASE + 8 * place, 10);
    give(profiler, "SendStall", FIRST_BASE + 16, 30);
    give(profiler, "Active", FIRST_BASE + 16, 10);
    give(profiler, "SbidStall", FIRST_BASE + 24, 20); /* most of its samples, */
    give(profiler, "SendStall", FIRST_BASE + 24, 5);
    give(profiler, "Active", FIRST_BASE + NEXT_BASE + 40, 33); /* never stalled */
    char *path = fake_tool("while read -r a; do echo '??:0'; done");
    const char *text = written_report(profiler, ZT_FORMAT_TABLE);
    assert_contains(text, "There are 6 more: write CSV, JSON or HTML, which have all.\n");
    assert_contains(text,
                    "\nwarm +0x10     14.4       50      20  SendStall     60.0\n"); /* of 348 samples */
    assert_contains(text, "\nwarm +0x18     10.1       35       0  SbidStall     85.7\n");
    assert_contains(text, "\nhot +0x28       9.5       33     100          -        -\n");
    assert_contains(text, "\nhot +0x0        2.9       10       0  SbidStall    100.0\n");
    text = strstr(written_report(profiler, ZT_FORMAT_JSON), "\"kinds\":[\"Active\",");
    assert_non_null(text);
    static const char *const order[] = {"warm", "hot", "cbrt", "reduce", "saxpy"};
    for (int i = 0; i < KERNELS; i++) { /* most samples first, and then by name */
        char name[32];
        snprintf(name, sizeof name, "{\"name\":\"%s\",\"size\":", order[i]);
        text = strstr(text, "\n{\"name\":");
        assert_non_null(text);
        assert_memory_equal(text + 1, name, strlen(name));
        text++;
    }
    assert_contains(written_report(profiler, ZT_FORMAT_FOLDED), "warm;+0x10 50\n");
    assert_contains(written_report(profiler, ZT_FORMAT_CSV), ",\"+0x10\",hotspot,\n");
    end_tool(path);
    close_given(w, profiler, &of);
}

/* Kernels of two modules may have one name and as many samples: they stay apart. Names of C++ are shown as
   people write them. */
static void kernels_of_one_name(void **state) {
    world *w = (world *)*state;
    enum { ONE_NAME = 2, PLACES = 4 };
    static const char *const files[] = {"saxpy", "replacements", "cpp"};
    static const char *const names[] = {"saxpy", "saxpy", "_Z5scalePf"};
    ze_module_handle_t modules[3];
    ze_kernel_handle_t kernels[3];
    zt_hotspots_config config = {0};
    config.no_thread = 1;
    fake_kernel_base = report_chosen_base;
    zt_profiler *profiler = open_sampling(w, &config);
    for (int i = 0; i < 3; i++) {
        char path[64];
        snprintf(path, sizeof path, "build/kernels/%s.so", files[i]);
        base_of_next = FIRST_BASE + (uint64_t)i * NEXT_BASE;
        modules[i] = load_module(w, path, NULL);
        kernels[i] = kernel_in(modules[i], names[i]);
    }
    for (uint32_t place = 0; place < PLACES; place++) /* in turn */
        for (uint32_t i = 0; i < ONE_NAME; i++)
            give(profiler, "SbidStall",
                 FIRST_BASE + ((i + place) % 2) * NEXT_BASE + 8 * (ONE_NAME * place + (i + place) % 2), 5);
    give(profiler, "SbidStall", FIRST_BASE + 2 * NEXT_BASE, 21); /* most, and last */
    char *path = fake_tool("n=0; while read -r a; do n=$((n + 600)); echo ${0%/*}/far.cl:$n; done");
    FILE *file = fopen(in_directory("far.cl"), "w");
    assert_non_null(file);
    for (int i = 1; i <= 3000; i++)
        fprintf(file, "far %d\n", i);
    fclose(file);
    const char *text = strstr(written_report(profiler, ZT_FORMAT_JSON), "\"kinds\":[\"Active\",");
    assert_non_null(text);
    int count = 0;
    for (const char *at = text; (at = strstr(at, "\n{\"name\":\"")) != NULL; at++)
        count++;
    assert_int_equal(count, 3);
    assert_contains(text, "\n{\"name\":\"_Z5scalePf\"");
    assert_true(strstr(text, "_Z5scalePf") < strstr(text, "\"saxpy\""));
    for (int i = 0; i < ONE_NAME; i++) {
        text = strstr(text, "\n{\"name\":\"saxpy\"");
        assert_non_null(text);
        assert_contains(text, "\"samples\":20,\"share\":");
        uint32_t odd = strstr(text, "\"offset\":8,") && strstr(text, "\"offset\":8,") < strstr(text, "]},");
        for (uint32_t place = 0; place < PLACES; place++) {
            char offset[32];
            snprintf(offset, sizeof offset, "\"offset\":%u,", (unsigned)(8 * (ONE_NAME * place + odd)));
            text = strstr(text, offset);
            assert_non_null(text);
        }
    }
    assert_contains(text, "\n{\"line\":600,\"text\":\"far 600\",\"samples\":5,");
    assert_contains(text, "\n{\"line\":2400,\"text\":\"far 2400\",\"samples\":5,");
    assert_null(strstr(text, "\"far 601\"")); /* too many lines are between them */
    if (dlsym(RTLD_DEFAULT, "__cxa_demangle"))
        assert_contains(written_report(profiler, ZT_FORMAT_TABLE), "\nscale(float*) far.cl:600 ");
    end_tool(path);
    for (int i = 0; i < 3; i++) {
        ok(zeKernelDestroy(kernels[i]));
        ok(zeModuleDestroy(modules[i]));
    }
    close_profiler(w, profiler);
}

/* Lines of several files, which have lines of any length, or end too early, or are not there. */
static void sources_of_any_kind(void **state) {
    world *w = (world *)*state;
    static char expected[1024];
    given of;
    zt_profiler *profiler = open_given(w, &of);
    for (uint32_t place = 0; place < 7; place++)
        give(profiler, "SbidStall", FIRST_BASE + 8 * place, 1 + place);
    char *path = fake_tool("d=${0%/*}; while read -r a; do case $a in *00) echo $d/long.cl:1;;\n"
                           "*08) echo $d/long.cl:2;; *10) echo $d/long.cl:7;; *18) echo $d/absent.cl:2;;\n"
                           "*20) echo $d:2;; *28) echo $d/late.cl:9;;\n"
                           "*30) echo $d/large.cl:1;; *) echo '??:0';; esac; done");
    FILE *file = fopen(in_directory("long.cl"), "w");
    assert_non_null(file);
    for (int i = 0; i < 2000; i++)
        putc('x', file);
    fputs("\nthe second line\nthe third line\n", file);
    for (int i = 0; i < 510; i++)
        putc('y', file);
    fputs("\nthe fifth line\n", file);
    fclose(file);
    file = fopen(in_directory("late.cl"), "w");
    assert_non_null(file);
    for (int i = 1; i <= 20; i++)
        fprintf(file, "late %d\n", i);
    fclose(file);
    file = fopen(in_directory("large.cl"), "w");
    assert_non_null(file);
    fputs("a line of a large file\n", file);
    assert_int_equal(fflush(file), 0);
    assert_int_equal(ftruncate(fileno(file), (64 << 20) + 1), 0);
    fclose(file);
    const char *text = written_report(profiler, ZT_FORMAT_JSON);
    size_t used = (size_t)snprintf(expected, sizeof expected, "\n{\"line\":1,\"text\":\"");
    memset(expected + used, 'x', 511);
    snprintf(expected + used + 511, sizeof expected - used - 511, "\",\"samples\":1,");
    assert_contains(text, expected);
    assert_contains(text, "\n{\"line\":2,\"text\":\"the second line\",\"samples\":2,");
    assert_contains(text, "\n{\"line\":3,\"text\":\"the third line\",\"samples\":0}");
    assert_contains(text, "\n{\"line\":7,\"samples\":3,");
    snprintf(expected, sizeof expected, "\"file\":\"%s/absent.cl\",\"lines\":[\n{\"line\":2,\"samples\":4,",
             test_directory);
    assert_contains(text, expected);
    snprintf(expected, sizeof expected, "\"file\":\"%s\",\"lines\":[\n{\"line\":2,\"samples\":5,",
             test_directory);
    assert_contains(text, expected); /* a directory */
    snprintf(expected, sizeof expected, "\"file\":\"%s/large.cl\",\"lines\":[\n{\"line\":1,\"samples\":7,",
             test_directory);
    assert_contains(text, expected); /* too large to be read */
    used = (size_t)snprintf(expected, sizeof expected, "\n{\"line\":4,\"text\":\"");
    memset(expected + used, 'y', 510); /* as many as are read at once */
    snprintf(expected + used + 510, sizeof expected - used - 510,
             "\",\"samples\":0},\n{\"line\":5,\"text\":\"the fifth line\",\"samples\":0}");
    assert_contains(text, expected);
    snprintf(expected, sizeof expected,
             "/late.cl\",\"lines\":[\n{\"line\":7,\"text\":\"late 7\",\"samples\":0},");
    assert_contains(text, expected);
    assert_contains(text, "\n{\"line\":11,\"text\":\"late 11\",\"samples\":0}]}");
    end_tool(path);
    close_given(w, profiler, &of);
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
    ze_kernel_handle_t warm = make_kernel(&of, "warm"); /* which has its own places */
    begin_work(&of, warm);
    AWAIT_MORE(profiler, matched);
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
    ok(zeKernelDestroy(warm));
    ok(zeKernelDestroy(hot));
    unload_work(&of);
    close_profiler(w, profiler);
}

/* Takes samples at two instructions of a kernel of a module that was created meanwhile. */
static void sample_two_instructions(zt_profiler *profiler, work *of) {
    of->module = load_module(of->w, "build/kernels/hot.so", NULL);
    ze_kernel_handle_t hot = make_kernel(of, "hot");
    sample_at(base_of_next + 8);
    AWAIT_MORE(profiler, matched);
    while (zt_get_info(profiler).hotspot_count < 2) {
        sample_at(base_of_next + 16);
        AWAIT_MORE(profiler, matched);
    }
    ok(zeKernelDestroy(hot));
}

/* A listed group with samples at two instructions of a kernel, for whose lines a script is run. */
typedef struct looked_up {
    work of, sampled;
    zt_profiler *profiler;
} looked_up;

static looked_up look_up(world *w, uint64_t base, const char *script) {
    looked_up lines = {.of = load_work(w), .sampled = {.w = w}};
    lines.sampled.words = lines.of.words;
    base_of_next = base;
    fake_kernel_base = report_chosen_base;
    lines.profiler = open_listed(w, 0);
    sample_two_instructions(lines.profiler, &lines.sampled);
    char *path = fake_tool(script);
    ok(zt_hotspots_stop(lines.profiler));
    end_tool(path);
    return lines;
}

static void end_look_up(looked_up *lines) {
    ok(zeModuleDestroy(lines->sampled.module));
    unload_work(&lines->of);
    close_profiler(lines->sampled.w, lines->profiler);
}

static zt_hotspot_info hotspot_at(zt_profiler *profiler, uint64_t offset) {
    zt_hotspot_info info;
    memset(&info, 0, sizeof info);
    for (uint32_t i = 0; i < zt_get_info(profiler).hotspot_count && !(info.samples && info.offset == offset);
         i++)
        ok(zt_get_hotspot(profiler, i, &info));
    assert_int_equal(info.offset, offset);
    return info;
}

/* Of the two instructions; 0 and "": none. */
static void expect_lines(const looked_up *lines, uint32_t first, const char *first_file, uint32_t second,
                         const char *second_file) {
    assert_int_equal(hotspot_at(lines->profiler, 8).line, first);
    assert_string_equal(hotspot_at(lines->profiler, 8).file, first_file);
    assert_int_equal(hotspot_at(lines->profiler, 16).line, second);
    assert_string_equal(hotspot_at(lines->profiler, 16).file, second_file);
}

/* Pipes that were made here, and whether another thread could have executed a program that inherits one or a
   file of the tool. */
static int pipes_made, pipes_inherited, files_inherited;
static FILE *temporary; /* the last one */

FILE *tmpfile(void) {
    call_pretended(&pretended.at_tmpfile);
    return temporary = REAL(tmpfile)();
}

int pipe(int ends[2]) {
    pipes_made++;
    pipes_inherited++;
    return REAL(pipe)(ends);
}

int pipe2(int ends[2], int flags) {
    call_pretended(&pretended.at_pipe);
    pipes_made++;
    pipes_inherited += !(flags & O_CLOEXEC);
    files_inherited += temporary && !(fcntl(fileno(temporary), F_GETFD) & FD_CLOEXEC);
    temporary = NULL;
    return REAL(pipe2)(ends, flags);
}

int poll(struct pollfd *descriptors, nfds_t count, int milliseconds) {
    if (pretended.interrupted_polls > 0) {
        pretended.interrupted_polls--;
        errno = EINTR;
        return -1;
    }
    if (milliseconds >= 0 && pretended.polls_until_late > 0 && --pretended.polls_until_late == 0) {
        pass_time(UINT64_C(1000000) * (uint64_t)milliseconds);
        return 0;
    }
    return REAL(poll)(descriptors, count, milliseconds);
}

static void no_other_program_inherits_what_a_tool_has(void **state) {
    world *w = (world *)*state;
    pipes_made = pipes_inherited = files_inherited = 0;
    looked_up lines = look_up(w, 0x1000, "while read -r a; do echo /k.cl:1; done");
    assert_int_equal(pipes_made, 1);
    assert_int_equal(pipes_inherited, 0);
    assert_int_equal(files_inherited, 0);
    end_look_up(&lines);
}

static void signals_come_while_a_program_runs(void **state) {
    world *w = (world *)*state;
    pretended.interrupted_polls = 3;
    looked_up lines = look_up(w, 0x1000, "while read -r a; do echo /k.cl:5; done");
    assert_int_equal(pretended.interrupted_polls, 0);
    expect_lines(&lines, 5, "/k.cl", 5, "/k.cl");
    end_look_up(&lines);
}

/* What it has printed until then counts, and it is killed. */
static void a_program_takes_too_long(void **state) {
    world *w = (world *)*state;
    pretended.polls_until_late = 2;
    looked_up lines = look_up(w, 0x1000, "echo /k.cl:5; exec /bin/sleep 1000");
    assert_int_equal(pretended.polls_until_late, 0);
    expect_lines(&lines, 5, "/k.cl", 0, "");
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* there is no child */
    assert_int_equal(errno, ECHILD);
    end_look_up(&lines);
}

static void limit_files(zt_profiler *profiler) {
    struct rlimit limit;
    (void)profiler;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = 1000;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* Files may not be as large as the debug information: there are no lines, and the program goes on. */
static void lines_above_the_limit_of_files(void **state) {
    static const char script[] = "while read -r a; do echo /k.cl:1; done";
    world *w = (world *)*state;
    struct rlimit unlimited;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &unlimited), 0);
    pretended.at_tmpfile = limit_files;
    looked_up lines = look_up(w, 4096, script);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &unlimited), 0);
    assert_int_equal(hotspot_at(lines.profiler, 8).line, 0);
    char *path = fake_tool(script);
    ok(zt_hotspots_stop(lines.profiler));
    end_tool(path);
    assert_int_equal(hotspot_at(lines.profiler, 8).line, 1);
    end_look_up(&lines);
}

/* A kernel may lie at 0, too, in the addresses that the debug information has. */
static void lines_of_a_kernel_at_0(void **state) {
    world *w = (world *)*state;
    looked_up lines = look_up(w, 0,
                              "while read -r a; do case $a in 0x0) echo /k.cl:1;; 0x8) echo /k.cl:8;;\n"
                              "0x10) echo /k.cl:16;; *) echo '??:0';; esac; done");
    expect_lines(&lines, 8, "/k.cl", 16, "/k.cl");
    end_look_up(&lines);
}

/* One absurd name does not cost the lines of the other instructions. */
static void a_name_that_is_too_long(void **state) {
    world *w = (world *)*state;
    looked_up lines = look_up(w, 4096,
                              "read -r a; n=0123456789abcdef; n=$n$n$n$n; n=$n$n$n$n; n=$n$n$n$n;\n"
                              "n=$n$n$n$n; n=$n$n$n$n; echo /$n:1; read -r a; echo /k.cl:16");
    expect_lines(&lines, 0, "", 16, "/k.cl");
    end_look_up(&lines);
}

/* A name ends where its line does, and has no character 0. The program finds its own libraries. */
static void a_name_with_a_zero(void **state) {
    world *w = (world *)*state;
    const char *libraries = getenv("LD_LIBRARY_PATH");
    char *before = libraries ? strdup(libraries) : NULL;
    setenv("LD_LIBRARY_PATH", "/nonexistent:/libraries", 1);
    looked_up lines = look_up(w, 4096,
                              "read -r a; printf '/k.cl\\000:8\\n'; read -r a;\n"
                              "echo $LD_LIBRARY_PATH:16");
    if (before)
        setenv("LD_LIBRARY_PATH", before, 1);
    else
        unsetenv("LD_LIBRARY_PATH");
    free(before);
    expect_lines(&lines, 0, "", 16, "/nonexistent:/libraries");
    end_look_up(&lines);
}

/* It would run with the rights of the program, and is whatever its user has put into the PATH. */
static void no_program_with_extra_rights(void **state) {
    world *w = (world *)*state;
    assume_extra_rights(1);
    looked_up lines = look_up(w, 4096, "while read -r a; do echo /k.cl:5; done");
    assert_int_equal(hotspot_at(lines.profiler, 8).line, 0);
    assert_string_equal(hotspot_at(lines.profiler, 8).file, "");
    end_look_up(&lines);
}

/* A list of libraries that is longer than is passed on is not passed on in part. */
static void libraries_that_are_too_many(void **state) {
    world *w = (world *)*state;
    static char much[5000];
    const char *libraries = getenv("LD_LIBRARY_PATH");
    char *before = libraries ? strdup(libraries) : NULL;
    memset(much, ':', sizeof much - 1);
    setenv("LD_LIBRARY_PATH", much, 1);
    looked_up lines = look_up(w, 4096, "while read -r a; do echo /${LD_LIBRARY_PATH-none}.cl:5; done");
    if (before)
        setenv("LD_LIBRARY_PATH", before, 1);
    else
        unsetenv("LD_LIBRARY_PATH");
    free(before);
    assert_int_equal(hotspot_at(lines.profiler, 8).line, 5);
    assert_string_equal(hotspot_at(lines.profiler, 8).file, "/none.cl");
    end_look_up(&lines);
}

/* What is no place in a file is none; the next address has its own line, and lines of nobody are ignored. */
static void lines_that_are_none(void **state) {
    world *w = (world *)*state;
    static const char *const printed[] = {":5",           "/k.cl",   "/k.cl:",           "/k.cl:0",
                                          "/k.cl:nobody", "'??:12'", "/k.cl:4294967296", "''"};
    for (size_t i = 0; i < sizeof printed / sizeof *printed; i++) {
        char script[128];
        snprintf(script, sizeof script, "read -r a; echo %s; read -r a; echo /k.cl:16; echo /more.cl:17",
                 printed[i]);
        looked_up lines = look_up(w, 4096, script);
        expect_lines(&lines, 0, "", 16, "/k.cl");
        end_look_up(&lines);
    }
}

/* Names that try to be more than names. */
static void a_name_that_is_hostile(void **state) {
    world *w = (world *)*state;
    looked_up lines =
        look_up(w, 4096, "while read -r a; do printf '/\\033[2J</script><b>\\033[2J;.cl:7\\n'; done");
    assert_int_equal(hotspot_at(lines.profiler, 8).line, 7);
    static const zt_format formats[] = {ZT_FORMAT_TABLE, ZT_FORMAT_JSON, ZT_FORMAT_FOLDED, ZT_FORMAT_HTML};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        assert_null(strchr(written_report(lines.profiler, formats[i]), 033));
    assert_null(strstr(written_report(lines.profiler, ZT_FORMAT_HTML), "</script><b>"));
    assert_contains(written_report(lines.profiler, ZT_FORMAT_FOLDED), ";script><b> [2J:.cl:7 ");
    end_look_up(&lines);
}

/* An allocator that lets samples come between what a report reads. None come where the library holds the lock
   that the thread needs which reads them: that is waited for briefly. */
static zt_profiler *sampled_meanwhile;

static void *allocate_slowly(size_t size, void *user) {
    zt_profiler *profiler = pthread_equal(pthread_self(), *(pthread_t *)user) ? sampled_meanwhile : NULL;
    if (profiler) {
        uint64_t before = zt_get_info(profiler).hotspots.matched;
        for (int i = 0; i < 50 && zt_get_info(profiler).hotspots.matched <= before; i++)
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
    char *much = (char *)malloc(5000);
    assert_non_null(much);
    memset(much, ':', 4999);
    much[4999] = 0;
    setenv("PATH", much, 1); /* longer than is passed on */
    assert_contains(written_report(profiler, ZT_FORMAT_FOLDED), "hot;+0x");
    setenv("PATH", path, 1);
    free(much);
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
    zt_hotspots_config config = {0};
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

/* Debug information may have the addresses of the device. What does not describe the kernel has those or none. */
static void lines_by_addresses_of_the_device(void **state) {
    world *w = (world *)*state;
    static uint8_t garbage[100];
    native_binary other = read_binary("build/kernels/saxpy.so");
    for (int is_elf = 0; is_elf < 2; is_elf++) {
        pretended.debug = is_elf ? other : (native_binary){garbage, sizeof garbage};
        looked_up lines = look_up(w, 0x1000,
                                  "while read -r a; do case $a in 0x1008) echo /k.cl:8;;\n"
                                  "*) echo '??:0';; esac; done");
        expect_lines(&lines, 8, "/k.cl", 0, "");
        end_look_up(&lines);
    }
    free(other.bytes);
}

/* Debug information of which a test chooses where the functions are. Its code has the instructions of ALL_THE_SAME,
   and as many others before them. */
typedef struct debug_file {
    Elf64_Ehdr header;
    Elf64_Shdr sections[5];
    Elf64_Sym symbols[2];
    char names[32];
    uint8_t code[2 * BINARY_SIZE];
} debug_file;

enum { OF_TEXT_HOT = 1, OF_HOT = 7, OF_OTHER = 11 }; /* among the names */
enum { CODE = 1, UNUSED, SYMBOLS, NAMES };           /* the sections */
enum { CODE_ADDRESS = 0x2000 };

static debug_file make_debug_file(uint16_t type) {
    debug_file made = {.header = {.e_ident = {0x7F, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                                  .e_type = type,
                                  .e_shoff = offsetof(debug_file, sections),
                                  .e_shentsize = sizeof(Elf64_Shdr),
                                  .e_shnum = sizeof made.sections / sizeof *made.sections,
                                  .e_shstrndx = NAMES},
                       .sections = {[CODE] = {.sh_type = SHT_PROGBITS,
                                              .sh_addr = CODE_ADDRESS,
                                              .sh_offset = offsetof(debug_file, code),
                                              .sh_size = sizeof made.code},
                                    [SYMBOLS] = {.sh_type = SHT_SYMTAB,
                                                 .sh_offset = offsetof(debug_file, symbols),
                                                 .sh_size = sizeof made.symbols,
                                                 .sh_link = NAMES},
                                    [NAMES] = {.sh_type = SHT_STRTAB,
                                               .sh_offset = offsetof(debug_file, names),
                                               .sh_size = sizeof made.names}},
                       .names = "\0.text.hot\0other"};
    memset(made.code + BINARY_SIZE, 7, BINARY_SIZE);
    return made;
}

static Elf64_Sym function_symbol(uint32_t name, uint64_t value, uint64_t size) {
    return (Elf64_Sym){.st_name = name,
                       .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                       .st_shndx = CODE,
                       .st_value = value,
                       .st_size = size};
}

/* Asserts that a kernel `hot` has the lines of an address of its debug information. */
static void expect_lines_at(world *w, const debug_file *file, uint64_t address) {
    char script[200];
    binary_answer = ALL_THE_SAME;
    pretended.debug = (native_binary){(uint8_t *)(uintptr_t)file, sizeof *file};
    snprintf(script, sizeof script,
             "while read -r a; do case $a in 0x%llx) echo /k.cl:8;; 0x%llx) echo /k.cl:16;;\n"
             "*) echo '??:0';; esac; done",
             (unsigned long long)(address + 8), (unsigned long long)(address + 16));
    looked_up lines = look_up(w, 0x100000, script);
    expect_lines(&lines, 8, "/k.cl", 16, "/k.cl");
    end_look_up(&lines);
}

/* The symbols of a relocatable file have addresses from the beginning of their section. */
static void lines_by_a_relocatable_file(void **state) {
    debug_file file = make_debug_file(ET_REL);
    replace_symbol("zeKernelGetBinaryExp", (any_function)get_chosen_binary);
    file.symbols[1] = function_symbol(OF_OTHER, BINARY_SIZE, BINARY_SIZE);
    expect_lines_at((world *)*state, &file, CODE_ADDRESS + BINARY_SIZE);
}

/* A kernel is not another function that has the size of its instructions. */
static void lines_beside_a_function_of_the_same_size(void **state) {
    debug_file file = make_debug_file(ET_EXEC);
    replace_symbol("zeKernelGetBinaryExp", (any_function)get_chosen_binary);
    file.symbols[0] = function_symbol(OF_OTHER, CODE_ADDRESS, BINARY_SIZE);
    file.symbols[1] = function_symbol(OF_OTHER, CODE_ADDRESS + BINARY_SIZE, BINARY_SIZE);
    expect_lines_at((world *)*state, &file, CODE_ADDRESS + BINARY_SIZE);
}

/* Sections of the kernel's name that are empty or damaged are none: the function of that name counts. */
static void lines_beside_damaged_sections(void **state) {
    static const struct {
        uint64_t offset, size;
    } damages[] = {{sizeof(debug_file), 0},
                   {sizeof(debug_file) + 1, 0},
                   {UINT64_MAX, BINARY_SIZE},
                   {sizeof(debug_file) - BINARY_SIZE, BINARY_SIZE + 1},
                   {sizeof(debug_file) - BINARY_SIZE, UINT64_MAX}};
    replace_symbol("zeKernelGetBinaryExp", (any_function)get_chosen_binary);
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        debug_file file = make_debug_file(ET_EXEC);
        file.sections[UNUSED] = (Elf64_Shdr){.sh_name = OF_TEXT_HOT,
                                             .sh_type = SHT_PROGBITS,
                                             .sh_addr = 0x9000,
                                             .sh_offset = damages[i].offset,
                                             .sh_size = damages[i].size};
        file.symbols[1] = function_symbol(OF_HOT, CODE_ADDRESS, BINARY_SIZE / 2);
        expect_lines_at((world *)*state, &file, CODE_ADDRESS);
    }
}

static int ignore_bytes(const void *bytes, size_t size, void *user) {
    (void)bytes, (void)size, (void)user;
    return 0;
}

static void *stop_and_report_on_thread(void *profiler) {
    meanwhile.stopped = zt_hotspots_stop((zt_profiler *)profiler);
    meanwhile.reported = zt_write((zt_profiler *)profiler, ZT_FORMAT_CSV, ignore_bytes, NULL);
    return NULL;
}

static void stop_and_report_meanwhile(zt_profiler *profiler) {
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, stop_and_report_on_thread, profiler), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

/* While a report finds lines, a stop waits for it, and another report does without. */
static void two_threads_find_lines(void **state) {
    world *w = (world *)*state;
    work of = load_work(w), sampled = {w, NULL, of.words};
    base_of_next = 0x1000;
    fake_kernel_base = report_chosen_base;
    zt_profiler *profiler = open_impatient(w);
    sample_two_instructions(profiler, &sampled);
    pretended.at_pipe = stop_and_report_meanwhile;
    char *path = fake_tool("while read -r a; do echo /k.cl:5; done");
    assert_contains(written_report(profiler, ZT_FORMAT_CSV), "/k.cl");
    end_tool(path);
    assert_result(meanwhile.stopped, ZE_RESULT_NOT_READY);
    ok(meanwhile.reported);
    assert_int_equal(hotspot_at(profiler, 8).line, 5);
    assert_int_equal(hotspot_at(profiler, 16).line, 5);
    ok(zeModuleDestroy(sampled.module));
    unload_work(&of);
    close_profiler(w, profiler);
}

/* Loads a module, takes samples in a kernel of it, and destroys both. */
static void sample_and_unload(world *w, zt_profiler *profiler, const char *file, const char *name) {
    ze_module_handle_t module = load_module(w, file, NULL);
    base_of_next += 0x10000;
    ze_kernel_handle_t kernel = kernel_in(module, name);
    give(profiler, "SbidStall", base_of_next + 8, 10);
    ok(zeKernelDestroy(kernel));
    ok(zeModuleDestroy(module));
}

/* Without memory for one, none is looked up any more. They are there when memory is. */
static void lines_of_two_modules_without_memory(void **state) {
    world *w = (world *)*state;
    zt_config times = config_of(w);
    zt_hotspots_config config = {0};
    times.groups = "";
    times.allocator = scarce_allocator();
    config.no_thread = 1;
    fake_kernel_base = report_chosen_base;
    base_of_next = 0;
    gpu.behave(SOFTGPU_STALL_SAMPLING, 1);
    zt_profiler *profiler = open_profiler(w, &times);
    ok(zt_trace_start(profiler, NULL));
    ok(zt_hotspots_start(profiler, &config));
    sample_and_unload(w, profiler, "build/kernels/hot.so", "hot");
    sample_and_unload(w, profiler, "build/kernels/saxpy.so", "saxpy");
    ok(zt_trace_stop(profiler)); /* stops sampling, and finds no lines */
    char *path = fake_tool("while read -r a; do echo /k.cl:5; done");
    for (int left = 0; left < 2; left++) {
        allocations_left = left;
        assert_result(zt_hotspots_stop(profiler), ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
        allocations_left = -1;
    }
    ok(zt_hotspots_stop(profiler));
    end_tool(path);
    assert_int_equal(zt_get_info(profiler).hotspot_count, 2);
    for (uint32_t i = 0; i < 2; i++) {
        zt_hotspot_info info;
        ok(zt_get_hotspot(profiler, i, &info));
        assert_int_equal(info.line, 5);
    }
    close_profiler(w, profiler);
}

static int append_to_text(const void *bytes, size_t size, void *user) {
    char **text = (char **)user;
    size_t before = *text ? strlen(*text) : 0;
    *text = (char *)realloc(*text, before + size + 1);
    memcpy(*text + before, bytes, size);
    (*text)[before + size] = 0;
    return 0;
}

/* Samples at one instruction of a kernel, with two profilers of which the first reports for both, are one hot spot. */
static void hotspots_in_one_report(void **state) {
    world *w = (world *)*state;
    zt_config times = config_of(w);
    zt_hotspots_config config = {0};
    zt_profiler *profilers[2];
    char *text = NULL, *spots;
    times.groups = "";
    config.no_thread = 1;
    fake_kernel_base = report_chosen_base;
    gpu.behave(SOFTGPU_STALL_SAMPLING, 1);
    for (int i = 0; i < 2; i++) {
        times.with = i ? profilers[0] : NULL;
        profilers[i] = open_profiler(w, &times);
        base_of_next = 0;
        ok(zt_trace_start(profilers[i], NULL));
        ok(zt_hotspots_start(profilers[i], &config));
        sample_and_unload(w, profilers[i], "build/kernels/hot.so", "hot");
        ok(zt_hotspots_stop(profilers[i]));
        ok(zt_trace_stop(profilers[i]));
        assert_int_equal(zt_get_info(profilers[i]).hotspot_count, 1);
    }
    close_profiler(w, profilers[1]);
    ok(zt_write(profilers[0], ZT_FORMAT_JSON, append_to_text, &text));
    spots = strstr(text, "\"hotspots\":{");
    assert_non_null(spots);
    assert_non_null(strstr(spots, "\"counts\":{\"samples\":20,\"matched\":20,"));
    assert_non_null(strstr(spots, "\"samples\":20,"));
    free(text);
    close_profiler(w, profilers[0]);
}

/* Samples of one profiler are shown, and why another one has none is of that part alone. */
static void a_refusal_beside_samples(void **state) {
    world *w = (world *)*state;
    zt_config times = config_of(w);
    zt_hotspots_config config = {0};
    zt_profiler *profilers[2];
    const char *report;
    times.groups = "";
    config.no_thread = 1;
    fake_kernel_base = report_chosen_base;
    gpu.behave(SOFTGPU_STALL_SAMPLING, 1);
    for (int i = 0; i < 2; i++) {
        times.with = i ? profilers[0] : NULL;
        profilers[i] = open_profiler(w, &times);
        base_of_next = 0;
        ok(zt_trace_start(profilers[i], NULL));
        if (i)
            inject("zetMetricStreamerOpen", 1, ZE_RESULT_ERROR_NOT_AVAILABLE);
        assert_int_equal(zt_hotspots_start(profilers[i], &config) == ZE_RESULT_SUCCESS, !i);
        if (!i)
            sample_and_unload(w, profilers[i], "build/kernels/hot.so", "hot");
        ok(zt_hotspots_stop(profilers[i]));
        ok(zt_trace_stop(profilers[i]));
    }
    report = written_report(profilers[0], ZT_FORMAT_CSV);
    assert_contains(report,
                    "Hot spots are not of all contexts, devices or times, because sampling was refused: ");
    assert_null(strstr(report, "Hot spots were not sampled"));
    close_profiler(w, profilers[1]);
    close_profiler(w, profilers[0]);
}

/* Each start has a limit of its own. What a module has no room for, another has not either. */
static void debug_limits_of_several_starts(void **state) {
    world *w = (world *)*state;
    zt_hotspots_config none = {0}, enough = {0};
    zt_hotspot_info info;
    none.no_thread = enough.no_thread = 1;
    none.debug_limit = 1;
    fake_kernel_base = report_chosen_base;
    base_of_next = 0;
    zt_profiler *profiler = open_sampling(w, &none);
    char *path = fake_tool("while read -r a; do echo /k.cl:5; done");
    sample_and_unload(w, profiler, "build/kernels/hot.so", "hot");
    ok(zt_hotspots_stop(profiler));
    ok(zt_hotspots_start(profiler, &enough));
    sample_and_unload(w, profiler, "build/kernels/saxpy.so", "saxpy");
    ok(zt_hotspots_stop(profiler));
    ok(zt_hotspots_start(profiler, &none)); /* there is more already */
    sample_and_unload(w, profiler, "build/kernels/reduce.so", "reduce");
    ok(zt_hotspots_stop(profiler));
    end_tool(path);
    assert_int_equal(zt_get_info(profiler).hotspot_count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        ok(zt_get_hotspot(profiler, i, &info));
        assert_int_equal(info.line, strcmp(info.kernel, "saxpy") == 0 ? 5 : 0);
    }
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
    const char *text = run_program("", "build/examples-O0/hotspots", "output");
    assert_contains(text, "results: right");
    assert_contains(text, "/* the costly line */");
}

static void a_program_that_nobody_changed(void **state) {
    (void)state;
    char library[4096], variables[3 * 4096];
    find_file("build/examples-O0/libzt_auto.so", library, sizeof library);
    snprintf(variables, sizeof variables, "LD_PRELOAD='%s' ZT_HOTSPOTS=1 ZT_AUTO=run.json", library);
    const char *text = run_program(variables, "build/examples-O0/simulate", "run.json");
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
    ok(zt_get_hotspot(NULL, 0, NULL));
    ok(zt_hotspots_start(NULL, NULL));
    ok(zt_hotspots_stop(NULL));
    assert_int_equal(zt_get_info(NULL).hotspot_count, 0);
    assert_int_equal(zt_get_info(NULL).hotspots.samples, 0);
    close_profiler(w, profiler);
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
        PRETENDED(an_address_without_samples),
        PRETENDED(the_size_of_reports_comes_later),
        PRETENDED(calculations_that_cannot_be_right),
        PRETENDED(a_device_that_always_has_more),
        PRETENDED(instructions_that_the_module_has),
        PRETENDED(a_size_that_changes),
        PRETENDED(instructions_of_no_known_module),
        PRETENDED(the_same_instructions_by_two_names),
        PRETENDED(kernels_of_another_device),
        PRETENDED(handles_of_the_driver),
        PRETENDED(a_kernel_that_could_not_be_destroyed),
        TEST(without_the_group_the_reason_is_known),
        TEST(without_addresses_the_reason_is_known),
        TEST(without_the_calculation_the_reason_is_known),
        TEST(counts_are_those_of_the_first_start),
        TEST(more_kinds_of_stall_than_there_is_room_for),
        PRETENDED(metrics_that_change),
        PRETENDED(another_thread_uses_it_meanwhile),
        PRETENDED(two_threads_stop_it),
        PRETENDED(the_thread_hangs_in_the_driver),
        PRETENDED(no_thread_can_be_started),
        TEST(the_log_must_not_stop_it),
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
        TEST(a_table_of_many_places),
        TEST(kernels_of_one_name),
        TEST(sources_of_any_kind),
        TEST(own_times_are_divided_among_places),
        TEST(lines_without_the_programs),
        TEST(reports_while_samples_come),
        TEST(no_other_program_inherits_what_a_tool_has),
        PRETENDED(signals_come_while_a_program_runs),
        PRETENDED(a_program_takes_too_long),
        PRETENDED(lines_above_the_limit_of_files),
        TEST(lines_of_a_kernel_at_0),
        TEST(a_name_that_is_too_long),
        TEST(a_name_with_a_zero),
        TEST(libraries_that_are_too_many),
        TEST(no_program_with_extra_rights),
        TEST(lines_that_are_none),
        TEST(a_name_that_is_hostile),
        PRETENDED(lines_by_addresses_of_the_device),
        PRETENDED(lines_by_a_relocatable_file),
        PRETENDED(lines_beside_a_function_of_the_same_size),
        PRETENDED(lines_beside_damaged_sections),
        PRETENDED(two_threads_find_lines),
        PRETENDED(lines_of_two_modules_without_memory),
        PRETENDED(hotspots_in_one_report),
        PRETENDED(a_refusal_beside_samples),
        PRETENDED(debug_limits_of_several_starts),
        TEST(debug_information_is_limited),
        TEST(bad_arguments),
        cmocka_unit_test_setup_teardown(the_dear_line_of_the_example, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(a_program_that_nobody_changed, make_directory, remove_directory),
    };
    return cmocka_run_group_tests(tests, start_traced, NULL);
}
