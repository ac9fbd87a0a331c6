/* The software device's instruction sampling: where its kernels are, in reports as those of a real device. */
#define _GNU_SOURCE
#include "values.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

static uint8_t raw[MOST * REPORT];

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

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_the_group_is_as_a_real_one),    TEST(test_reports_are_summed_by_address),
        TEST(test_a_report_tells_of_lost_ones),   TEST(test_the_calculation_is_strict),
        TEST(test_the_hot_loop_is_in_its_kernel),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
