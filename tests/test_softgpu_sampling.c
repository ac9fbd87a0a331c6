/* The software device's instruction sampling: where its kernels are, in reports as those of a real device. */
#define _GNU_SOURCE
#include "values.h"

#include <elf.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The part of its own samples that a kernel has at least. ThreadSanitizer's functions have many. */
#define MOSTLY (INSTRUMENTED ? 0.5 : 0.9)
#define VALUES ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES

enum {
    PERIOD = 100000,
    OFTENEST = 10000,
    ENOUGH = 50, /* samples */
    REPORT = 64,
    METRICS = 11,
    MOST = 8192, /* reports at once */
    GROUPS = 200000,
    ROUNDS = 20000, /* of a group, some ten microseconds */
    IP = 0
};

static const char *const names[METRICS] = {
    "IP",        "Active",    "PSDepStall", "ControlStall",    "PipeStall",  "SendStall",
    "DistStall", "SbidStall", "SyncStall",  "InstrFetchStall", "OtherStall",
};

/* ==== work ================================================================================================ */

typedef struct work {
    world *w;
    ze_device_handle_t device;
    ze_module_handle_t module;
    ze_command_list_handle_t list;
    uint32_t *words;
    uint64_t base, size; /* of the kernel that was launched last */
} work;

static work load_work(world *w, ze_device_handle_t device) {
    work of = {.w = w, .device = device};
    char path[4096];
    find_file("build/kernels/hot.so", path, sizeof path);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    static uint8_t binary[1 << 18];
    size_t size = fread(binary, 1, sizeof binary, file);
    fclose(file);
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = ZE_MODULE_FORMAT_NATIVE,
                             .inputSize = size,
                             .pInputModule = binary};
    ok(zeModuleCreate(w->context, device, &desc, &of.module, NULL));
    ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                     .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    ok(zeCommandListCreateImmediate(w->context, device, &queue, &of.list));
    ze_device_mem_alloc_desc_t device_desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    ze_host_mem_alloc_desc_t host_desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    void *memory = NULL;
    ok(zeMemAllocShared(w->context, &device_desc, &host_desc, 64, 64, device, &memory));
    memset(memory, 0, 64);
    of.words = memory;
    return of;
}

static void find_code(world *w, ze_kernel_handle_t kernel, uint64_t *base, uint64_t *size) {
    ze_result_t (*get_base)(ze_kernel_handle_t, uint64_t *);
    ze_result_t (*get_binary)(ze_kernel_handle_t, size_t *, uint8_t *);
    size_t bytes = 0;
    ok(zeDriverGetExtensionFunctionAddress(w->driver, "zexKernelGetBaseAddress", (void **)&get_base));
    ok(zeDriverGetExtensionFunctionAddress(w->driver, "zeKernelGetBinaryExp", (void **)&get_binary));
    ok(get_base(kernel, base));
    ok(get_binary(kernel, &bytes, NULL));
    *size = bytes;
}

/* Runs until finish(). */
static void begin(work *of, const char *name) {
    ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
    ze_kernel_handle_t kernel;
    ze_group_count_t groups = {GROUPS, 1, 1};
    uint32_t rounds = ROUNDS;
    __atomic_store_n(of->words, 0, __ATOMIC_RELAXED);
    ok(zeKernelCreate(of->module, &desc, &kernel));
    find_code(of->w, kernel, &of->base, &of->size);
    ok(zeKernelSetArgumentValue(kernel, 0, sizeof of->words, &of->words));
    ok(zeKernelSetArgumentValue(kernel, 1, sizeof rounds, &rounds));
    ok(zeCommandListAppendLaunchKernel(of->list, kernel, &groups, NULL, 0, NULL));
    ok(zeKernelDestroy(kernel));
}

static void finish(work *of) {
    __atomic_store_n(of->words, 1, __ATOMIC_RELAXED);
    finish_immediate(of->w, of->list);
}

static void unload_work(work *of) {
    ok(zeMemFree(of->w->context, of->words));
    ok(zeCommandListDestroy(of->list));
    ok(zeModuleDestroy(of->module));
}

/* ==== a stream of samples ================================================================================= */

typedef ze_result_t (*calculate_function)(zet_metric_group_handle_t group,
                                          zet_metric_group_calculation_type_t type, size_t size,
                                          const uint8_t *raw, uint32_t *set_count, uint32_t *total_count,
                                          uint32_t *counts, zet_typed_value_t *values);

static calculate_function calculate_multiple(void) {
    calculate_function function;
    *(void **)&function = newer_function("zetMetricGroupCalculateMultipleMetricValuesExp",
                                         "zetGetMetricGroupExpProcAddrTable", 0);
    return function;
}

static zet_metric_group_handle_t stalls(ze_device_handle_t device) {
    gpu.behave(SOFTGPU_STALL_SAMPLING, 1);
    return group_of(device, "EuStallSampling", BY_TIME);
}

static ze_result_t try_open(world *w, ze_device_handle_t device, uint32_t period, uint32_t notify,
                            ze_event_handle_t event, zet_metric_streamer_handle_t *streamer) {
    zet_metric_streamer_desc_t desc = {ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC, NULL, notify, period};
    return zetMetricStreamerOpen(w->context, device, stalls(device), &desc, event, streamer);
}

static zet_metric_streamer_handle_t open_samples(world *w, ze_device_handle_t device, uint32_t period) {
    zet_metric_streamer_handle_t streamer;
    zet_metric_group_handle_t group = stalls(device);
    activate(w, device, 1, &group);
    ok(try_open(w, device, period, 1, NULL, &streamer));
    return streamer;
}

static void close_samples(world *w, ze_device_handle_t device, zet_metric_streamer_handle_t streamer) {
    ok(zetMetricStreamerClose(streamer));
    deactivate(w, device);
}

static uint8_t raw[MOST * REPORT]; /* as much as can be read at once */

/* Reads until there are so many reports, or more; returns the size of them all. */
static size_t read_samples(zet_metric_streamer_handle_t streamer, size_t reports) {
    uint64_t end = now_ns() + A_WHILE;
    size_t size = 0;
    while (size < reports * REPORT) {
        size_t more = sizeof raw - size;
        ok(zetMetricStreamerReadData(streamer, UINT32_MAX, &more, raw + size));
        size += more;
        if (now_ns() > end)
            fail_msg("%zu bytes of samples, and no more", size);
        nap();
    }
    return size;
}

typedef struct row {
    uint64_t of[METRICS];
} row;

static uint64_t samples_in(const row *of) {
    uint64_t sum = 0;
    for (int i = IP + 1; i < METRICS; i++)
        sum += of->of[i];
    return sum;
}

/* The rows of samples of a device without tiles, in the order of their addresses. */
static uint32_t rows_of(zet_metric_group_handle_t group, size_t size, row rows[MOST]) {
    static zet_typed_value_t values[MOST * METRICS];
    uint32_t sets = 0, total = 0, count = 0;
    ok(calculate_multiple()(group, VALUES, size, raw, &sets, &total, NULL, NULL));
    assert_int_equal(sets, 1);
    assert_int_equal(total, size / REPORT * METRICS);
    assert_in_range(total, 1, sizeof values / sizeof *values);
    ok(calculate_multiple()(group, VALUES, size, raw, &sets, &total, &count, values));
    assert_int_equal(count, total);
    assert_int_equal(total % METRICS, 0);
    for (uint32_t i = 0; i < total; i++) {
        assert_int_equal(values[i].type, ZET_VALUE_TYPE_UINT64);
        rows[i / METRICS].of[i % METRICS] = values[i].value.ui64;
    }
    return total / METRICS;
}

static row rows[MOST];

/* The kernel's part of all samples, each of which is an address of its 29 bits. */
static double share_of(uint32_t count, uint64_t base, uint64_t size) {
    uint64_t inside = 0, all = 0;
    for (uint32_t i = 0; i < count; i++) {
        assert_true(rows[i].of[IP] < UINT64_C(1) << 29);
        uint32_t offset = (uint32_t)(rows[i].of[IP] << 3) - (uint32_t)(base & ~UINT64_C(7));
        inside += offset < size ? samples_in(&rows[i]) : 0;
        all += samples_in(&rows[i]);
    }
    return (double)inside / (double)all;
}

/* ==== the group =========================================================================================== */

static void test_the_group_is_as_a_real_one(void **state) {
    world *w = *state;
    assert_null(group_of(w->device, "EuStallSampling", BY_TIME));
    zet_metric_group_handle_t group = stalls(w->device);
    assert_null(group_of(w->device, "EuStallSampling", BY_EVENT));
    assert_int_equal(metrics_in(group), METRICS);
    for (uint32_t i = 0; i < METRICS; i++) {
        zet_metric_properties_t metric = metric_at(group, i);
        assert_string_equal(metric.name, names[i]);
        assert_string_equal(metric.resultUnits, i == IP ? "Address" : "Events");
        assert_int_equal(metric.metricType, i == IP ? ZET_METRIC_TYPE_IP_EXP : ZET_METRIC_TYPE_EVENT);
        assert_int_equal(metric.resultType, ZET_VALUE_TYPE_UINT64);
    }
}

/* A report of the layout of Intel's Xe2: from bit 0 an address, from bit 29 eight bits for each count. */
static void write_report(uint8_t *to, uint32_t address, int class, uint8_t samples, int dropped) {
    static const unsigned bits[METRICS] = {0, 101, 29, 45, 53, 61, 69, 77, 85, 93, 37};
    memset(to, 0, REPORT);
    for (unsigned i = 0; i < 29; i++)
        to[i / 8] |= (uint8_t)((address >> i & 1) << i % 8);
    for (unsigned i = 0, bit = bits[class]; i < 8; i++, bit++)
        to[bit / 8] |= (uint8_t)((samples >> i & 1) << bit % 8);
    to[14] |= 1;
    to[51] |= (uint8_t)(dropped != 0);
}

static void test_reports_are_summed_by_address(void **state) {
    world *w = *state;
    zet_metric_group_handle_t group = stalls(w->device);
    for (int i = 1; i < METRICS; i++)
        write_report(raw + (i - 1) * REPORT, i % 2 ? 0x1fffffff : 5, i, (uint8_t)(200 + i), 0);
    for (int i = 1; i < METRICS; i++)
        write_report(raw + (METRICS + i - 2) * REPORT, i % 2 ? 0x1fffffff : 5, i, 100, 0);
    assert_int_equal(rows_of(group, (METRICS - 1) * 2 * REPORT, rows), 2);
    assert_int_equal(rows[0].of[IP], 5);
    assert_int_equal(rows[1].of[IP], 0x1fffffff);
    for (uint64_t i = 1; i < METRICS; i++) {
        assert_int_equal(rows[i % 2].of[i], 300 + i);
        assert_int_equal(rows[(i + 1) % 2].of[i], 0);
    }
}

/* The values are valid all the same. */
static void test_a_report_tells_of_lost_ones(void **state) {
    world *w = *state;
    zet_metric_group_handle_t group = stalls(w->device);
    zet_typed_value_t values[3 * METRICS];
    uint32_t sets = 1, total = 3 * METRICS, count = 0;
    for (uint32_t i = 0; i < 3; i++)
        write_report(raw + i * REPORT, 7 - i, 1, 3, i == 1);
    assert_result(calculate_multiple()(group, VALUES, 3 * REPORT, raw, &sets, &total, &count, values),
                  ZE_RESULT_WARNING_DROPPED_DATA);
    assert_int_equal(total, 3 * METRICS);
    assert_int_equal(count, total);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(values[i * METRICS].value.ui64, 5 + i);
}

static void test_the_calculation_is_strict(void **state) {
    world *w = *state;
    zet_metric_group_handle_t group = stalls(w->device);
    zet_typed_value_t values[2 * METRICS];
    uint32_t sets = 1, total = METRICS + 2, count = 0, one = METRICS;
    const zet_metric_group_calculation_type_t most = ZET_METRIC_GROUP_CALCULATION_TYPE_MAX_METRIC_VALUES;
    write_report(raw, 1, 1, 1, 0);
    write_report(raw + REPORT, 2, 1, 1, 0);
    ok(calculate_multiple()(group, VALUES, 2 * REPORT, raw, &sets, &total, &count, values));
    assert_int_equal(total, METRICS + 2); /* as many as there is room for */
    assert_result(calculate_multiple()(group, VALUES, REPORT + 1, raw, &sets, &total, &count, values),
                  ZE_RESULT_ERROR_INVALID_SIZE);
    assert_result(calculate_multiple()(group, most, REPORT, raw, &sets, &total, &count, values),
                  ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    assert_result(zetMetricGroupCalculateMetricValues(group, VALUES, REPORT, raw, &one, values),
                  ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    raw[14] = 0; /* the end flag, which each report has */
    assert_result(calculate_multiple()(group, VALUES, REPORT, raw, &sets, &total, &count, values),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

/* ==== where kernels are =================================================================================== */

static void test_the_hot_loop_is_in_its_kernel(void **state) {
    world *w = *state;
    work of = load_work(w, w->device);
    zet_metric_streamer_handle_t streamer = open_samples(w, w->device, PERIOD);
    begin(&of, "hot");
    size_t size = read_samples(streamer, ENOUGH);
    finish(&of);
    uint32_t count = rows_of(stalls(w->device), size, rows), top = 0;
    for (uint32_t i = 1; i < count; i++) {
        assert_true(rows[i].of[IP] > rows[i - 1].of[IP]);
        top = samples_in(&rows[i]) > samples_in(&rows[top]) ? i : top;
    }
    uint32_t offset = (uint32_t)(rows[top].of[IP] << 3) - (uint32_t)of.base;
    assert_true(offset < of.size);
    assert_true(share_of(count, of.base, of.size) > MOSTLY);
    close_samples(w, w->device, streamer);
    unload_work(&of);
}

static void test_each_kernel_has_samples_of_its_own(void **state) {
    world *w = *state;
    work of = load_work(w, w->device);
    zet_metric_group_handle_t group = stalls(w->device);
    zet_metric_streamer_handle_t streamer = open_samples(w, w->device, PERIOD);
    begin(&of, "hot");
    const uint64_t hot = of.base, hot_size = of.size;
    size_t size = read_samples(streamer, ENOUGH);
    finish(&of);
    close_samples(w, w->device, streamer);
    assert_true(share_of(rows_of(group, size, rows), hot, hot_size) > MOSTLY);

    streamer = open_samples(w, w->device, PERIOD);
    begin(&of, "warm");
    assert_true(of.base >= hot + hot_size || of.base + of.size <= hot);
    size = read_samples(streamer, ENOUGH);
    finish(&of);
    close_samples(w, w->device, streamer);
    uint32_t count = rows_of(group, size, rows);
    assert_true(share_of(count, of.base, of.size) > MOSTLY);
    assert_true(share_of(count, hot, hot_size) == 0);
    unload_work(&of);
}

/* Two engines at the same time, each with a kernel. */
static void test_engines_are_sampled_side_by_side(void **state) {
    world *w = *state;
    gpu.behave(SOFTGPU_CONCURRENT_ENGINES, 1);
    work first = load_work(w, w->device), second = load_work(w, w->device);
    zet_metric_streamer_handle_t streamer = open_samples(w, w->device, PERIOD);
    uint64_t end = now_ns() + A_WHILE;
    double shares[2] = {0, 0};
    begin(&first, "hot");
    begin(&second, "warm");
    while (shares[0] == 0 || shares[1] == 0) {
        uint32_t count = rows_of(stalls(w->device), read_samples(streamer, ENOUGH), rows);
        shares[0] = share_of(count, first.base, first.size);
        shares[1] = share_of(count, second.base, second.size);
        assert_true(now_ns() < end);
    }
    assert_true(shares[0] + shares[1] > MOSTLY);
    finish(&first);
    finish(&second);
    close_samples(w, w->device, streamer);
    unload_work(&first);
    unload_work(&second);
}

static void test_a_spinning_kernel_waits(void **state) {
    world *w = *state;
    work of = load_work(w, w->device);
    zet_metric_streamer_handle_t streamer = open_samples(w, w->device, PERIOD);
    uint64_t waits = 0, end = now_ns() + A_WHILE;
    begin(&of, "spin");
    while (waits == 0) {
        uint32_t count = rows_of(stalls(w->device), read_samples(streamer, ENOUGH), rows);
        for (uint32_t i = 0; i < count; i++)
            waits += rows[i].of[8];
        assert_true(now_ns() < end);
    }
    finish(&of);
    close_samples(w, w->device, streamer);
    unload_work(&of);
}

/* A function of the program, which the kernel calls. */
static uint32_t stopped;
static float busy_function(float x) {
    for (int i = 0; i < ROUNDS && !__atomic_load_n(&stopped, __ATOMIC_RELAXED); i++)
        x = x * 0.5f + 1;
    return x;
}

static void test_code_outside_of_the_kernel_is_reported_as_it_is(void **state) {
    world *w = *state;
    float (*called)(float) = busy_function;
    ze_kernel_desc_t kernel_desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "apply"};
    ze_module_handle_t module = load_module(w, "build/kernels/functions.so", NULL);
    ze_kernel_handle_t kernel;
    uint64_t base, bytes;
    ze_group_count_t groups = {GROUPS, 1, 1};
    ok(zeKernelCreate(module, &kernel_desc, &kernel));
    find_code(w, kernel, &base, &bytes);
    zet_metric_streamer_handle_t streamer = open_samples(w, w->device, PERIOD);
    stopped = 0;
    void *memory;
    ze_device_mem_alloc_desc_t device_desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    ok(zeMemAllocDevice(w->context, &device_desc, GROUPS * sizeof(float), 64, w->device, &memory));
    memset(memory, 0, GROUPS * sizeof(float));
    ok(zeKernelSetArgumentValue(kernel, 0, sizeof memory, &memory));
    ok(zeKernelSetArgumentValue(kernel, 1, sizeof called, &called));
    ok(zeCommandListAppendLaunchKernel(w->immediate, kernel, &groups, NULL, 0, NULL));
    uint32_t count = rows_of(stalls(w->device), read_samples(streamer, ENOUGH), rows);
    __atomic_store_n(&stopped, 1, __ATOMIC_RELAXED);
    finish_immediate(w, w->immediate);
    assert_true(share_of(count, base, bytes) < 0.5);
    close_samples(w, w->device, streamer);
    ok(zeMemFree(w->context, memory));
    ok(zeKernelDestroy(kernel));
    ok(zeModuleDestroy(module));
}

/* Copies and fills, and the time between kernels. */
static void test_nothing_but_kernels_is_sampled(void **state) {
    world *w = *state;
    zet_metric_streamer_handle_t streamer = open_samples(w, w->device, OFTENEST);
    size_t size = sizeof raw;
    for (int i = 0; i < 100; i++) {
        ok(zeCommandListAppendMemoryCopy(w->immediate, w->sums, w->ones, sizeof *w->ones, NULL, 0, NULL));
        finish_immediate(w, w->immediate);
        nap();
    }
    ok(zetMetricStreamerReadData(streamer, UINT32_MAX, &size, raw));
    assert_int_equal(size, 0);
    close_samples(w, w->device, streamer);
    memset(w->sums, 0, sizeof *w->sums);
}

/* What the CPU does not tell. */
static void test_a_test_gives_samples(void **state) {
    world *w = *state;
    const uint64_t address = UINT64_C(0x7fff12345678);
    assert_false(gpu.give_samples("SbidStall", address, 7)); /* no streamer */
    zet_metric_streamer_handle_t streamer = open_samples(w, w->device, OFTENEST);
    assert_true(gpu.give_samples("SbidStall", address, 7));
    assert_true(gpu.give_samples("SbidStall", address + 7, 255));
    assert_true(gpu.give_samples("Active", address + 8, 1));
    assert_false(gpu.give_samples("Stall", address, 1));
    assert_false(gpu.give_samples("IP", address, 1));
    assert_false(gpu.give_samples("Active", address, 256));
    assert_false(gpu.give_samples("Active", address, 0));
    size_t size = sizeof raw;
    ok(zetMetricStreamerReadData(streamer, UINT32_MAX, &size, raw));
    assert_int_equal(rows_of(stalls(w->device), size, rows), 2);
    assert_int_equal(rows[0].of[IP], (address & UINT32_MAX) >> 3);
    assert_int_equal(rows[0].of[7], 262);
    assert_int_equal(samples_in(&rows[0]), 262);
    assert_int_equal(rows[1].of[1], 1);
    close_samples(w, w->device, streamer);
}

/* ==== streamers =========================================================================================== */

static void await_event(ze_event_handle_t event) {
    ok(zeEventHostSynchronize(event, A_WHILE));
    ok(zeEventHostReset(event));
}

/* The number of reports is the streamer's capacity: with the second notification, there were more. */
static void test_what_does_not_fit_is_dropped(void **state) {
    world *w = *state;
    work of = load_work(w, w->device);
    zet_metric_group_handle_t group = stalls(w->device);
    zet_metric_streamer_handle_t streamer;
    ze_event_handle_t event;
    size_t size = 0, room = sizeof raw;
    zet_typed_value_t values[METRICS * 16];
    create_event(w, 2, &event);
    activate_one(w, group);
    ok(try_open(w, w->device, OFTENEST, MOST, event, &streamer));
    ok(zetMetricStreamerReadData(streamer, UINT32_MAX, &size, NULL));
    assert_in_range(size, 64 * REPORT, room);
    assert_int_equal(size % REPORT, 0);
    begin(&of, "hot");
    await_event(event);
    await_event(event);
    assert_result(zetMetricStreamerReadData(streamer, UINT32_MAX, &room, raw),
                  ZE_RESULT_WARNING_DROPPED_DATA);
    assert_int_equal(room, size);
    assert_in_range(rows_of(group, room, rows), 1, room / REPORT); /* none of these tells of lost ones */
    read_samples(streamer, 1);
    finish(&of);
    uint32_t sets = 1, total = METRICS, count = 0;
    assert_result(calculate_multiple()(group, VALUES, REPORT, raw, &sets, &total, &count, values),
                  ZE_RESULT_WARNING_DROPPED_DATA); /* the first one behind them does */
    assert_int_equal(count, METRICS);
    ok(zeEventDestroy(event));
    close_samples(w, w->device, streamer);
    unload_work(&of);
}

/* Of another stream, which may have missed some. */
static void await_rows(zet_metric_streamer_handle_t stream) {
    uint64_t end = now_ns() + A_WHILE;
    size_t size = 0;
    while (size == 0) {
        size = sizeof raw;
        ze_result_t result = zetMetricStreamerReadData(stream, UINT32_MAX, &size, raw);
        assert_true(result == ZE_RESULT_SUCCESS || result == ZE_RESULT_WARNING_DROPPED_DATA);
        assert_true(now_ns() < end);
        nap();
    }
}

static void test_it_goes_beside_streams_and_queries(void **state) {
    world *w = *state;
    work of = load_work(w, w->device);
    gpu.behave(SOFTGPU_STREAMERS_EXCLUDE_QUERIES, 1);
    zet_metric_group_handle_t groups[] = {stalls(w->device), group_of(w->device, "ComputeBasic", BY_EVENT),
                                          group_of(w->device, "HostScheduler", BY_TIME)};
    zet_metric_query_pool_desc_t pool_desc = {ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC, NULL,
                                              ZET_METRIC_QUERY_POOL_TYPE_PERFORMANCE, 1};
    zet_metric_streamer_desc_t desc = {ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC, NULL, 1, PERIOD};
    zet_metric_streamer_handle_t samples, again, stream;
    zet_metric_query_pool_handle_t pool;
    zet_metric_query_handle_t query;
    uint8_t report[4096];
    size_t size = sizeof report;
    activate(w, w->device, 3, groups);
    ok(try_open(w, w->device, PERIOD, 1, NULL, &samples));
    assert_result(try_open(w, w->device, PERIOD, 1, NULL, &again), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    ok(zetMetricQueryPoolCreate(w->context, w->device, groups[1], &pool_desc, &pool));
    ok(zetMetricQueryCreate(pool, 0, &query));
    ok(zetCommandListAppendMetricQueryBegin(of.list, query));
    begin(&of, "hot");
    read_samples(samples, ENOUGH);
    finish(&of);
    /* It waits for no event, but the validation layer rejects a NULL pointer. */
    ok(zetCommandListAppendMetricQueryEnd(of.list, query, NULL, 0, &w->done));
    finish_immediate(w, of.list);
    ok(zetMetricQueryGetData(query, &size, report));
    ok(zetMetricQueryDestroy(query));
    ok(zetMetricQueryPoolDestroy(pool));
    ok(zetMetricStreamerOpen(w->context, w->device, groups[2], &desc, NULL, &stream));
    begin(&of, "hot");
    read_samples(samples, ENOUGH);
    await_rows(stream);
    finish(&of);
    ok(zetMetricStreamerClose(stream));
    assert_result(zetCommandListAppendMetricStreamerMarker(of.list, samples, 1),
                  ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    close_samples(w, w->device, samples);
    unload_work(&of);
}

static void test_streamers_come_and_go(void **state) {
    world *w = *state;
    work of = load_work(w, w->device);
    zet_metric_group_handle_t group = stalls(w->device);
    activate_one(w, group);
    begin(&of, "hot");
    for (int i = 0; i < OFTEN(1000); i++) {
        zet_metric_streamer_handle_t streamer;
        ok(try_open(w, w->device, OFTENEST, 1, NULL, &streamer));
        if (i % 100 == 0)
            read_samples(streamer, 1);
        ok(zetMetricStreamerClose(streamer));
    }
    finish(&of);
    deactivate(w, w->device);
    unload_work(&of);
}

/* ==== tiles =============================================================================================== */

typedef struct part_header {
    uint32_t magic, tile;
    uint64_t bytes;
} part_header;

/* A root device's data has a part for each tile, and each tile a set of values. */
static void test_tiles_have_sets_of_their_own(void **state) {
    world *w = *state;
    static zet_typed_value_t values[MOST * METRICS];
    uint32_t counts[2] = {0, 0}, sets = 2, total = MOST * METRICS;
    size_t size = 0;
    uint64_t end = now_ns() + A_WHILE;
    gpu.set_devices(1, 2);
    work of = load_work(w, w->device);
    zet_metric_group_handle_t group = stalls(w->device);
    zet_metric_streamer_handle_t streamer = open_samples(w, w->device, PERIOD);
    begin(&of, "hot");
    while (counts[0] == 0 || counts[1] == 0) {
        read_samples(streamer, ENOUGH);
        for (size = 0; size == 0; nap()) {
            size = sizeof raw;
            ok(zetMetricStreamerReadData(streamer, UINT32_MAX, &size, raw));
            assert_true(now_ns() < end);
        }
        assert_int_equal(size % REPORT, 2 * sizeof(part_header));
        sets = total = 0;
        ok(calculate_multiple()(group, VALUES, size, raw, &sets, &total, NULL, NULL));
        assert_int_equal(sets, 2);
        assert_int_equal(total, size / REPORT * METRICS);
        ok(calculate_multiple()(group, VALUES, size, raw, &sets, &total, counts, values));
        assert_int_equal(sets, 2);
        assert_int_equal(total, counts[0] + counts[1]);
    }
    finish(&of);
    assert_result(calculate_multiple()(group, VALUES, size - 1, raw, &sets, &total, counts, values),
                  ZE_RESULT_ERROR_INVALID_SIZE);
    close_samples(w, w->device, streamer);
    unload_work(&of);
}

/* Both see what runs on the root device; what runs on one of them is that one's alone. */
static void test_a_tile_has_its_own_samples(void **state) {
    world *w = *state;
    ze_device_handle_t tiles[2];
    zet_metric_streamer_handle_t streamers[2];
    uint32_t count = 2;
    size_t size = sizeof raw;
    gpu.set_devices(1, 2);
    ok(zeDeviceGetSubDevices(w->device, &count, tiles));
    work whole = load_work(w, w->device), of = load_work(w, tiles[1]);
    for (int i = 0; i < 2; i++)
        streamers[i] = open_samples(w, tiles[i], PERIOD);
    begin(&of, "hot");
    read_samples(streamers[1], ENOUGH);
    finish(&of);
    ok(zetMetricStreamerReadData(streamers[0], UINT32_MAX, &size, raw));
    assert_int_equal(size, 0);
    begin(&whole, "hot");
    for (int i = 0; i < 2; i++)
        read_samples(streamers[i], ENOUGH);
    finish(&whole);
    for (int i = 0; i < 2; i++)
        close_samples(w, tiles[i], streamers[i]);
    unload_work(&whole);
    unload_work(&of);
}

/* ==== the host ============================================================================================ */

static int signals_of_the_application;

static void note_signal(int number) {
    (void)number;
    __atomic_fetch_add(&signals_of_the_application, 1, __ATOMIC_RELAXED);
}

/* How many real-time signals have a handler. */
static int handled_signals(void) {
    int count = 0;
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++) {
        struct sigaction now;
        ok(sigaction(number, NULL, &now) ? ZE_RESULT_ERROR_UNKNOWN : ZE_RESULT_SUCCESS);
        count += now.sa_handler != SIG_DFL;
    }
    return count;
}

/* A wait that any signal would end. */
static void test_the_program_sees_no_signal(void **state) {
    world *w = *state;
    work of = load_work(w, w->device);
    struct sigaction own = {.sa_handler = note_signal}, now;
    const uint32_t deaf = count_deaf_threads();
    const int before = handled_signals();
    sigaction(SIGRTMAX, &own, NULL);
    zet_metric_streamer_handle_t streamer = open_samples(w, w->device, OFTENEST);
    begin(&of, "hot");
    for (size_t size = 0, more = sizeof raw; size < ENOUGH * REPORT; size += more, more = sizeof raw) {
        assert_int_equal(poll(NULL, 0, 1), 0);
        ok(zetMetricStreamerReadData(streamer, UINT32_MAX, &more, raw));
    }
    assert_int_equal(handled_signals(), before + 2);
    finish(&of);
    close_samples(w, w->device, streamer);
    assert_int_equal(handled_signals(), before + 1);
    assert_int_equal(count_deaf_threads(), deaf);
    sigaction(SIGRTMAX, NULL, &now);
    assert_true(now.sa_handler == note_signal);
    assert_int_equal(signals_of_the_application, 0);
    signal(SIGRTMAX, SIG_DFL);
    unload_work(&of);
}

/* The device no longer samples, and leaves the handler alone. */
static void test_a_handler_of_the_program_is_left_alone(void **state) {
    world *w = *state;
    work of = load_work(w, w->device);
    struct sigaction own = {.sa_handler = note_signal}, now;
    zet_metric_streamer_handle_t streamer = open_samples(w, w->device, OFTENEST);
    begin(&of, "hot");
    read_samples(streamer, 1);
    sigaction(SIGRTMAX, NULL, &now);
    assert_true(now.sa_flags & SA_SIGINFO);
    sigaction(SIGRTMAX, &own, NULL);
    finish(&of);
    const int noted = signals_of_the_application;
    begin(&of, "hot");
    for (int i = 0; i < 20; i++)
        nap();
    finish(&of);
    close_samples(w, w->device, streamer);
    sigaction(SIGRTMAX, NULL, &now);
    assert_true(now.sa_handler == note_signal);
    assert_int_equal(signals_of_the_application, noted);
    signal(SIGRTMAX, SIG_DFL);
    streamer = open_samples(w, w->device, OFTENEST); /* and samples again */
    begin(&of, "hot");
    read_samples(streamer, 1);
    finish(&of);
    close_samples(w, w->device, streamer);
    unload_work(&of);
}

/* ==== lines of source ===================================================================================== */

/* The value of a symbol of the ELF that holds the debug information. */
static uint64_t symbol_value(const uint8_t *elf, const char *name) {
    ElfW(Ehdr) header;
    memcpy(&header, elf, sizeof header);
    for (unsigned i = 0; i < header.e_shnum; i++) {
        ElfW(Shdr) table, strings;
        ElfW(Sym) symbol;
        memcpy(&table, elf + header.e_shoff + i * sizeof table, sizeof table);
        memcpy(&strings, elf + header.e_shoff + table.sh_link * sizeof strings, sizeof strings);
        for (size_t k = 0; table.sh_type == SHT_SYMTAB && k < table.sh_size / sizeof symbol; k++) {
            memcpy(&symbol, elf + table.sh_offset + k * sizeof symbol, sizeof symbol);
            if (!strcmp((const char *)elf + strings.sh_offset + symbol.st_name, name))
                return symbol.st_value;
        }
    }
    fail_msg("no symbol %s", name);
    return 0;
}

static unsigned line_in(const char *source, const char *text) {
    char path[4096], line[256];
    unsigned number = 1;
    find_file(source, path, sizeof path);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) && !strstr(line, text))
        number++;
    fclose(file);
    return number;
}

/* Where the module's debug information is given to addr2line, as sampling.c says. */
static void test_the_hot_address_is_in_the_hot_line(void **state) {
    world *w = *state;
    work of = load_work(w, w->device);
    const zet_module_debug_info_format_t format = ZET_MODULE_DEBUG_INFO_FORMAT_ELF_DWARF;
    size_t size = 0;
    if (system("addr2line --version >/dev/null 2>&1"))
        skip();
    ok(zetModuleGetDebugInfo((zet_module_handle_t)of.module, format, &size, NULL));
    uint8_t *elf = malloc(size);
    assert_non_null(elf);
    ok(zetModuleGetDebugInfo((zet_module_handle_t)of.module, format, &size, elf));
    const char *path = in_directory("hot.elf");
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(elf, 1, size, file), size);
    fclose(file);

    zet_metric_streamer_handle_t streamer = open_samples(w, w->device, PERIOD);
    begin(&of, "hot");
    uint32_t count = rows_of(stalls(w->device), read_samples(streamer, ENOUGH), rows);
    finish(&of);
    close_samples(w, w->device, streamer);
    const unsigned hot = line_in("tests/kernels/hot.cl", "the hot line");
    uint64_t in_hot_line = 0, in_kernel = 0;
    for (uint32_t i = 0; i < count; i++) {
        char command[256], line[256] = "";
        uint32_t offset = (uint32_t)(rows[i].of[IP] << 3) - (uint32_t)of.base;
        if (offset >= of.size)
            continue;
        snprintf(command, sizeof command, "addr2line -e '%s' 0x%llx", path,
                 (unsigned long long)(symbol_value(elf, "sg_run_hot") + offset));
        FILE *output = popen(command, "r");
        assert_non_null(output);
        assert_non_null(fgets(line, sizeof line, output));
        assert_int_equal(pclose(output), 0);
        assert_contains(line, "hot.cl:");
        unsigned long number = strtoul(strrchr(line, ':') + 1, NULL, 10);
        in_kernel += samples_in(&rows[i]);
        in_hot_line += number == hot ? samples_in(&rows[i]) : 0;
    }
    assert_true(in_hot_line * 2 > in_kernel);
    free(elf);
    unload_work(&of);
}

static int start_with_directory(void **state) {
    return make_directory(state) == 0 ? start(state) : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_the_group_is_as_a_real_one),
        TEST(test_reports_are_summed_by_address),
        TEST(test_a_report_tells_of_lost_ones),
        TEST(test_the_calculation_is_strict),
        TEST(test_the_hot_loop_is_in_its_kernel),
        TEST(test_each_kernel_has_samples_of_its_own),
        TEST(test_engines_are_sampled_side_by_side),
        TEST(test_a_spinning_kernel_waits),
        TEST(test_code_outside_of_the_kernel_is_reported_as_it_is),
        TEST(test_nothing_but_kernels_is_sampled),
        TEST(test_a_test_gives_samples),
        TEST(test_what_does_not_fit_is_dropped),
        TEST(test_it_goes_beside_streams_and_queries),
        TEST(test_streamers_come_and_go),
        TEST(test_tiles_have_sets_of_their_own),
        TEST(test_a_tile_has_its_own_samples),
        TEST(test_the_program_sees_no_signal),
        TEST(test_a_handler_of_the_program_is_left_alone),
        TEST(test_the_hot_address_is_in_the_hot_line),
    };
    return cmocka_run_group_tests(tests, start_with_directory, remove_directory);
}
