/* The software device's metric groups, queries and calculation: as the specification says and, where asked
   for, as real drivers do. */
#include "values.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VALUES ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES
#define MAXIMA ZET_METRIC_GROUP_CALCULATION_TYPE_MAX_METRIC_VALUES
enum { REPORT_ROOM = 1 << 14 };

/* ==== pools and queries =============================================================================== */

static ze_result_t try_pool(world *w, ze_device_handle_t device, zet_metric_group_handle_t group,
                            uint32_t count, zet_metric_query_pool_handle_t *pool) {
    zet_metric_query_pool_desc_t desc = {ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC, NULL,
                                         ZET_METRIC_QUERY_POOL_TYPE_PERFORMANCE, count};
    return zetMetricQueryPoolCreate(w->context, device, group, &desc, pool);
}

enum { QUERIES = 4 };

/* An active group, a pool of it, and queries. */
typedef struct bench {
    world *w;
    ze_device_handle_t device;
    zet_metric_group_handle_t group;
    zet_metric_query_pool_handle_t pool;
    zet_metric_query_handle_t queries[QUERIES];
    size_t size; /* of one query's data */
} bench;

static bench open_bench_on(world *w, ze_device_handle_t device, const char *name) {
    bench b = {.w = w, .device = device, .group = group_of(device, name, BY_EVENT)};
    activate(w, device, 1, &b.group);
    ok(try_pool(w, device, b.group, QUERIES, &b.pool));
    for (uint32_t i = 0; i < QUERIES; i++)
        ok(zetMetricQueryCreate(b.pool, i, &b.queries[i]));
    ok(zetMetricQueryGetData(b.queries[0], &b.size, NULL));
    assert_in_range(b.size, 1, REPORT_ROOM);
    return b;
}

static bench open_bench(world *w, const char *name) {
    return open_bench_on(w, w->device, name);
}

static void close_bench(bench *b) {
    for (uint32_t i = 0; i < QUERIES; i++)
        ok(zetMetricQueryDestroy(b->queries[i]));
    ok(zetMetricQueryPoolDestroy(b->pool));
    deactivate(b->w, b->device);
}

static void begin(ze_command_list_handle_t list, zet_metric_query_handle_t query) {
    ok(zetCommandListAppendMetricQueryBegin(list, query));
}

/* The validation layer of old loaders wants a place of no events. */
static void end_with(ze_command_list_handle_t list, zet_metric_query_handle_t query,
                     ze_event_handle_t signal) {
    ze_event_handle_t none = NULL;
    ok(zetCommandListAppendMetricQueryEnd(list, query, signal, 0, &none));
}

static void end(ze_command_list_handle_t list, zet_metric_query_handle_t query) {
    end_with(list, query, NULL);
}

/* A query around one launch on the immediate list, done. */
static void measure(bench *b, uint32_t index) {
    begin(b->w->immediate, b->queries[index]);
    launch(b->w, b->w->immediate);
    end(b->w->immediate, b->queries[index]);
    finish_immediate(b->w, b->w->immediate);
}

static ze_result_t try_read(bench *b, uint32_t index, uint8_t raw[REPORT_ROOM]) {
    size_t size = REPORT_ROOM;
    ze_result_t result = zetMetricQueryGetData(b->queries[index], &size, raw);
    if (result == ZE_RESULT_SUCCESS)
        assert_int_equal(size, b->size);
    return result;
}

static zet_typed_value_t *values_of(bench *b, uint32_t index) {
    uint8_t raw[REPORT_ROOM];
    uint32_t sets;
    ok(try_read(b, index, raw));
    zet_typed_value_t *values = calculate(b->group, raw, b->size, &sets);
    assert_int_equal(sets, 1);
    return values;
}

static double read_one(bench *b, uint32_t index, const char *metric) {
    zet_typed_value_t *values = values_of(b, index);
    double value = value_in(b->group, values, metric);
    free(values);
    return value;
}

/* The findings of a mistake that was made on purpose. */
static void expect_findings(uint64_t count) {
    assert_int_equal(gpu.findings(), count);
    gpu.forget_findings();
}

/* ==== groups ========================================================================================== */

static void each_set_is_listed_twice_time_first(void **state) {
    world *w = (world *)*state;
    static const char *const names[] = {"ComputeBasic", "MemoryProfile", "HostScheduler"};
    static const uint32_t domains[] = {0, 0, 1};
    zet_metric_group_handle_t groups[8];
    uint32_t count = 0;
    ok(zetMetricGroupGet(w->device, &count, NULL));
    assert_int_equal(count, 6);
    count = 8;
    ok(zetMetricGroupGet(w->device, &count, groups));
    assert_int_equal(count, 6);
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_group_properties_t properties = {.stype = ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES};
        ok(zetMetricGroupGetProperties(groups[i], &properties));
        assert_string_equal(properties.name, names[i / 2]);
        assert_int_equal(properties.samplingType, i % 2 ? BY_EVENT : BY_TIME);
        assert_int_equal(properties.domain, domains[i / 2]);
        assert_int_equal(properties.metricCount, metrics_in(groups[i]));
        if (i % 2)
            assert_true(metrics_in(groups[i]) > metrics_in(groups[i - 1]));
    }
}

static void fewer_are_given_than_there_are(void **state) {
    world *w = (world *)*state;
    zet_metric_group_handle_t all[6], some[6] = {NULL};
    zet_metric_handle_t metrics[4] = {NULL};
    uint32_t count = 6, few = 2, three = 3;
    ok(zetMetricGroupGet(w->device, &count, all));
    ok(zetMetricGroupGet(w->device, &few, some));
    assert_int_equal(few, 2);
    assert_memory_equal(all, some, 2 * sizeof *all);
    assert_null(some[2]);
    ok(zetMetricGet(all[0], &three, metrics));
    assert_int_equal(three, 3);
    assert_null(metrics[3]);
}

static void every_kind_of_metric_occurs(void **state) {
    world *w = (world *)*state;
    bool values[5] = {false}, types[8] = {false}, no_units = false;
    zet_metric_group_handle_t groups[6];
    uint32_t count = 6;
    ok(zetMetricGroupGet(w->device, &count, groups));
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < metrics_in(groups[i]); k++) {
            zet_metric_properties_t metric = metric_at(groups[i], k);
            assert_int_equal(index_of(groups[i], metric.name), k);
            assert_true(metric.name[0] && metric.description[0] && metric.component[0]);
            values[metric.resultType] = true;
            types[metric.metricType] = true;
            no_units = no_units || !metric.resultUnits[0];
        }
    for (uint32_t i = 0; i < 5; i++)
        assert_true(values[i]);
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(types[i], i != ZET_METRIC_TYPE_EVENT_WITH_RANGE);
    assert_true(no_units);
}

static void extensions_are_filled_or_left_alone(void **state) {
    world *w = (world *)*state;
    /* The validation layer of loader 1.20.6 refuses types that it does not know. */
    const bool checked = getenv("ZE_ENABLE_PARAMETER_VALIDATION");
    struct {
        uint32_t stype;
        void *next;
        uint64_t resolution, bits;
    } unknown = {0x7abcdef0, NULL, 7, 7}, timestamps = {9, checked ? NULL : &unknown, 0, 0};
    zet_metric_group_properties_t properties = {.stype = ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES,
                                                .pNext = &timestamps};
    gpu.set_timestamps(36, 19200000);
    ok(zetMetricGroupGetProperties(group_of(w->device, "ComputeBasic", BY_EVENT), &properties));
    assert_int_equal(timestamps.resolution, 19200000);
    assert_int_equal(timestamps.bits, 36);
    assert_int_equal(unknown.resolution, 7);
}

static uint32_t groups_listed(world *w) {
    uint32_t count = 0;
    ok(zetMetricGroupGet(w->device, &count, NULL));
    return count;
}

static void metrics_can_be_missing(void **state) {
    NOT_ON_WINDOWS("the device samples no instructions there");
    world *w = (world *)*state;
    gpu.behave(SOFTGPU_STALL_SAMPLING, 1);
    assert_int_equal(groups_listed(w), 7);
    assert_non_null(group_of(w->device, "EuStallSampling", BY_TIME));
    gpu.behave(SOFTGPU_ONLY_STALL_SAMPLING, 1);
    assert_int_equal(groups_listed(w), 1);
    gpu.reset();
    gpu.behave(SOFTGPU_NO_METRIC_LIBRARY, 1);
    assert_int_equal(groups_listed(w), 0);
}

typedef ze_result_t (*device_function)(zet_device_handle_t device);

static void metrics_can_be_enabled_at_run_time(void **state) {
    world *w = (world *)*state;
    device_function enable, disable;
    *(void **)&enable = newer_function("zetDeviceEnableMetricsExp", "zetGetDeviceExpProcAddrTable", 2);
    *(void **)&disable = newer_function("zetDeviceDisableMetricsExp", "zetGetDeviceExpProcAddrTable", 3);
    uint32_t count = 0;
    gpu.behave(SOFTGPU_METRICS_NOT_ENABLED, 1);
    assert_result(zetMetricGroupGet(w->device, &count, NULL), ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE);
    ok(enable(w->device));
    assert_int_equal(groups_listed(w), 6);
    bench b = open_bench(w, "ComputeBasic");
    assert_result(disable(w->device), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    close_bench(&b);
    activate_one(w, b.group);
    assert_result(disable(w->device), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    deactivate(w, w->device);
    ok(disable(w->device));
    assert_int_equal(groups_listed(w), 6);
    assert_result(zetContextActivateMetricGroups(w->context, w->device, 1, &b.group),
                  ZE_RESULT_ERROR_UNINITIALIZED);
    assert_result(try_pool(w, w->device, b.group, 1, &b.pool), ZE_RESULT_ERROR_UNINITIALIZED);
    ok(enable(w->device));
    assert_int_equal(groups_listed(w), 6);
}

/* A second copy of the driver, as another process would have it. */
static void *load_copy_of_driver(void) {
    char path[] = "/tmp/softgpu-XXXXXX.so", bytes[4096];
    int copy = mkstemps(path, 3);
    FILE *driver = fopen(driver_path(), "rb");
    assert_true(copy >= 0 && driver);
    for (size_t size; (size = fread(bytes, 1, sizeof bytes, driver)) > 0;)
        assert_int_equal(write(copy, bytes, size), size);
    fclose(driver);
    close(copy);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    unlink(path);
    assert_non_null(library);
    return library;
}

static void *first_in_table(void *library, const char *table) {
    ze_result_t (*fill)(ze_api_version_t version, void *table);
    void *functions[64] = {NULL};
    *(void **)&fill = dlsym(library, table);
    ok(fill((ze_api_version_t)ZE_MAKE_VERSION(1, 4), functions));
    return functions[0];
}

/* What zetMetricGroupGet answers in a process that has this in its environment. */
static ze_result_t groups_with_variable(const char *value) {
    void *library = load_copy_of_driver();
    ze_result_t (*init)(ze_init_flags_t flags);
    ze_result_t (*get_drivers)(uint32_t * count, ze_driver_handle_t * drivers);
    ze_result_t (*get_devices)(ze_driver_handle_t driver, uint32_t * count, ze_device_handle_t * devices);
    ze_result_t (*get_groups)(zet_device_handle_t device, uint32_t * count,
                              zet_metric_group_handle_t * groups);
    *(void **)&init = first_in_table(library, "zeGetGlobalProcAddrTable");
    *(void **)&get_drivers = first_in_table(library, "zeGetDriverProcAddrTable");
    *(void **)&get_devices = first_in_table(library, "zeGetDeviceProcAddrTable");
    *(void **)&get_groups = first_in_table(library, "zetGetMetricGroupProcAddrTable");
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    uint32_t one = 1, count = 0;
    if (value)
        setenv("ZET_ENABLE_METRICS", value, 1);
    else
        unsetenv("ZET_ENABLE_METRICS");
    ok(init(0));
    setenv("ZET_ENABLE_METRICS", "1", 1);
    ok(get_drivers(&one, &driver));
    ok(get_devices(driver, &one, &device));
    ze_result_t result = get_groups(device, &count, NULL);
    dlclose(library);
    return result;
}

static void metrics_are_enabled_by_the_environment(void **state) {
    (void)state;
    assert_result(groups_with_variable(NULL), ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE);
    assert_result(groups_with_variable("0"), ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE);
    assert_result(groups_with_variable("1"), ZE_RESULT_SUCCESS);
}

static void metrics_are_enabled_for_each_root_device(void **state) {
    world *w = (world *)*state;
    device_function enable;
    ze_device_handle_t devices[2], tile;
    uint32_t count = 2, one = 1;
    *(void **)&enable = newer_function("zetDeviceEnableMetricsExp", "zetGetDeviceExpProcAddrTable", 2);
    gpu.set_devices(2, 2);
    gpu.behave(SOFTGPU_METRICS_NOT_ENABLED, 1);
    ok(zeDeviceGet(w->driver, &count, devices));
    ok(zeDeviceGetSubDevices(devices[1], &one, &tile));
    ok(enable(devices[1]));
    count = 0;
    assert_result(zetMetricGroupGet(devices[0], &count, NULL), ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE);
    ok(zetMetricGroupGet(devices[1], &count, NULL));
    assert_int_equal(count, 6);
    count = 0;
    ok(zetMetricGroupGet(tile, &count, NULL));
    assert_int_equal(count, 6);
}

static void names_can_differ(void **state) {
    world *w = (world *)*state;
    zet_metric_group_handle_t group = group_of(w->device, "ComputeBasic", BY_EVENT);
    uint32_t busy = index_of(group, "GPU_BUSY");
    gpu.behave(SOFTGPU_METRIC_NAMES_DIFFER, 1);
    assert_string_equal(metric_at(group, busy).name, "GpuBusy");
}

/* ==== activation ====================================================================================== */

static void groups_of_one_domain_exclude_each_other(void **state) {
    world *w = (world *)*state;
    zet_metric_group_handle_t groups[] = {group_of(w->device, "ComputeBasic", BY_EVENT),
                                          group_of(w->device, "HostScheduler", BY_EVENT),
                                          group_of(w->device, "MemoryProfile", BY_EVENT)};
    ok(zetContextActivateMetricGroups(w->context, w->device, 2, groups));
    assert_result(zetContextActivateMetricGroups(w->context, w->device, 3, groups),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    groups[2] = group_of(w->device, "ComputeBasic", BY_TIME);
    assert_result(zetContextActivateMetricGroups(w->context, w->device, 3, groups),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_result(zetContextActivateMetricGroups(w->context, w->device, 1, NULL),
                  ZE_RESULT_ERROR_INVALID_SIZE);
    deactivate(w, w->device);
}

static void the_last_of_a_domain_can_win(void **state) {
    world *w = (world *)*state;
    gpu.behave(SOFTGPU_LAST_OF_DOMAIN_WINS, 1);
    bench b = open_bench(w, "MemoryProfile");
    zet_metric_group_handle_t groups[] = {group_of(w->device, "ComputeBasic", BY_EVENT), b.group};
    activate(w, w->device, 2, groups);
    measure(&b, 0);
    assert_true(read_one(&b, 0, "GpuTime") > 0);
    close_bench(&b);
}

static void a_group_belongs_to_its_device(void **state) {
    world *w = (world *)*state;
    ze_device_handle_t sub_devices[2];
    zet_metric_query_pool_handle_t pool;
    uint32_t count = 2;
    gpu.set_devices(1, 2);
    ok(zeDeviceGetSubDevices(w->device, &count, sub_devices));
    zet_metric_group_handle_t group = group_of(w->device, "ComputeBasic", BY_EVENT);
    assert_result(zetContextActivateMetricGroups(w->context, sub_devices[0], 1, &group),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_result(try_pool(w, sub_devices[0], group, 1, &pool), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

/* A query whose group was not active when it ran is never ready, and is no error (F8). */
static void inactive_groups_measure_nothing(void **state) {
    world *w = (world *)*state;
    uint8_t raw[REPORT_ROOM];
    bench b = open_bench(w, "ComputeBasic");
    deactivate(w, w->device);
    measure(&b, 0);
    assert_result(try_read(&b, 0, raw), ZE_RESULT_NOT_READY);
    activate_one(w, group_of(w->device, "ComputeBasic", BY_TIME));
    measure(&b, 1);
    assert_result(try_read(&b, 1, raw), ZE_RESULT_NOT_READY);
    activate_one(w, b.group);
    measure(&b, 2);
    ok(try_read(&b, 2, raw));
    begin(w->immediate, b.queries[3]);
    finish_immediate(w, w->immediate);
    deactivate(w, w->device);
    end(w->immediate, b.queries[3]);
    finish_immediate(w, w->immediate);
    assert_result(try_read(&b, 3, raw), ZE_RESULT_NOT_READY);
    close_bench(&b);
}

/* What is active when the list is executed counts, with real drivers; strictly, it has to be when it is
 * recorded. */
static void activation_can_take_effect_at_execution(void **state) {
    world *w = (world *)*state;
    uint8_t raw[REPORT_ROOM];
    bench b = open_bench(w, "ComputeBasic");
    deactivate(w, w->device);
    begin(w->list, b.queries[0]);
    end(w->list, b.queries[0]);
    ok(zeCommandListClose(w->list));
    activate_one(w, b.group);
    execute_unprofiled(w, w->list);
    assert_result(try_read(&b, 0, raw), ZE_RESULT_NOT_READY);
    ok(zetMetricQueryReset(b.queries[0]));
    gpu.behave(SOFTGPU_ACTIVATE_AT_EXECUTION, 1);
    execute_unprofiled(w, w->list);
    ok(try_read(&b, 0, raw));
    close_bench(&b);
}

/* ==== what is measured ================================================================================ */

static void a_launch_is_measured(void **state) {
    world *w = (world *)*state;
    bench b = open_bench(w, "ComputeBasic");
    measure(&b, 0);
    zet_typed_value_t *v = values_of(&b, 0);
    assert_true(value_in(b.group, v, "GpuTime") > 0);
    assert_true(value_in(b.group, v, "GpuCoreClocks") > 0);
    assert_true(value_in(b.group, v, "AvgGpuCoreFrequencyMHz") > 0);
    assert_true(value_in(b.group, v, "GPU_BUSY") > 0 && value_in(b.group, v, "GPU_BUSY") <= 100);
    assert_true(value_in(b.group, v, "COMMAND_PARSER_COPY_ENGINE_BUSY") == 0);
    assert_true(value_in(b.group, v, "GPGPU_THREADGROUP_COUNT") == WORK_GROUPS);
    assert_true(value_in(b.group, v, "WORK_ITEM_COUNT") == WORK_ITEMS);
    assert_true(value_in(b.group, v, "WORK_ITEMS_PER_GROUP") == WORK_ITEMS / WORK_GROUPS);
    assert_true(value_in(b.group, v, "COMMAND_PARSER_COMPUTE_ENGINE_DISPATCH_KERNEL_COUNT") == 1);
    assert_true(value_in(b.group, v, "LOAD_STORE_CACHE_BYTE_READ") == 2 * sizeof(float) * WORK_ITEMS);
    assert_true(value_in(b.group, v, "LOAD_STORE_CACHE_BYTE_WRITE") == sizeof(float) * WORK_ITEMS);
    assert_true(value_in(b.group, v, "GPU_MEMORY_BYTE_READ") == 2 * sizeof(float) * WORK_ITEMS);
    assert_true(value_in(b.group, v, "GPU_MEMORY_BYTE_READ_RATE") > 0);
    assert_true(value_in(b.group, v, "SLM_BYTE_READ") == 0);
    assert_true(value_in(b.group, v, "ReportsCount") == 1);
    assert_true(value_in(b.group, v, "ReportError") == 0);
    free(v);
    check_work(w);
    close_bench(&b);
}

static void copies_and_fills_are_measured(void **state) {
    world *w = (world *)*state;
    enum { BYTES = 128 * sizeof(float) };
    float nothing = 0;
    bench b = open_bench(w, "MemoryProfile");
    begin(w->immediate, b.queries[0]);
    ok(zeCommandListAppendMemoryCopy(w->immediate, w->sums, w->ones, BYTES, NULL, 0, NULL));
    ok(zeCommandListAppendMemoryFill(w->immediate, w->sums, &nothing, sizeof nothing, BYTES, NULL, 0, NULL));
    ok(zeCommandListAppendMemoryFill(w->immediate, w->sums, &nothing, sizeof nothing, BYTES, NULL, 0, NULL));
    end(w->immediate, b.queries[0]);
    finish_immediate(w, w->immediate);
    zet_typed_value_t *v = values_of(&b, 0);
    assert_true(value_in(b.group, v, "COPY_COMMAND_COUNT") == 1);
    assert_true(value_in(b.group, v, "COPY_BYTE_COUNT") == BYTES);
    assert_true(value_in(b.group, v, "FILL_COMMAND_COUNT") == 2);
    assert_true(value_in(b.group, v, "FILL_BYTE_COUNT") == 2 * BYTES);
    assert_true(value_in(b.group, v, "GPU_MEMORY_BYTE_READ") == BYTES);
    assert_true(value_in(b.group, v, "GPU_MEMORY_BYTE_WRITE") == 3 * BYTES);
    assert_true(value_in(b.group, v, "MEMORY_READ_SHARE") == 25);
    free(v);
    close_bench(&b);
}

static void the_device_thread_is_measured(void **state) {
    NOT_ON_WINDOWS("processor times of threads are too coarse there");
    world *w = (world *)*state;
    bench b = open_bench(w, "HostScheduler");
    measure(&b, 0);
    zet_typed_value_t *v = values_of(&b, 0);
    assert_true(value_in(b.group, v, "HOST_CPU_TIME") > 0);
    assert_true(value_in(b.group, v, "HOST_CPU_BUSY") > 0);
    free(v);
    close_bench(&b);
}

static void groups_of_two_domains_measure_together(void **state) {
    world *w = (world *)*state;
    bench a = open_bench(w, "ComputeBasic"), b = open_bench(w, "HostScheduler");
    zet_metric_group_handle_t both[] = {a.group, b.group};
    activate(w, w->device, 2, both);
    begin(w->immediate, a.queries[0]);
    measure(&b, 0);
    end(w->immediate, a.queries[0]);
    finish_immediate(w, w->immediate);
    assert_true(read_one(&a, 0, "GPGPU_THREADGROUP_COUNT") == WORK_GROUPS);
    assert_true(read_one(&a, 0, "GpuTime") >= read_one(&b, 0, "GpuTime"));
    close_bench(&a);
    close_bench(&b);
}

static void queries_nest_and_overlap(void **state) {
    world *w = (world *)*state;
    bench b = open_bench(w, "ComputeBasic");
    begin(w->immediate, b.queries[0]);
    launch(w, w->immediate);
    begin(w->immediate, b.queries[1]);
    launch(w, w->immediate);
    begin(w->immediate, b.queries[2]);
    launch(w, w->immediate);
    end(w->immediate, b.queries[1]);
    launch(w, w->immediate);
    end(w->immediate, b.queries[2]);
    end(w->immediate, b.queries[0]);
    finish_immediate(w, w->immediate);
    assert_true(read_one(&b, 0, "GPGPU_THREADGROUP_COUNT") == 4 * WORK_GROUPS);
    assert_true(read_one(&b, 1, "GPGPU_THREADGROUP_COUNT") == 2 * WORK_GROUPS);
    assert_true(read_one(&b, 2, "GPGPU_THREADGROUP_COUNT") == 2 * WORK_GROUPS);
    close_bench(&b);
}

/* The begin's clock wraps as the device's does. */
static void begin_times_wrap(void **state) {
    world *w = (world *)*state;
    gpu.set_timestamps(32, 1000000000);
    gpu.set_clock(UINT32_MAX - 1000);
    bench b = open_bench(w, "ComputeBasic");
    measure(&b, 0);
    assert_true(read_one(&b, 0, "QueryBeginTime") <= (double)UINT32_MAX);
    close_bench(&b);
}

static uint64_t read_begin(bench *b, uint32_t index) {
    zet_typed_value_t *values = values_of(b, index);
    uint64_t ticks = values[index_of(b->group, "QueryBeginTime")].value.ui64;
    free(values);
    return ticks;
}

/* Beyond 2^53 a double has not all their bits; at 2^56 they wrap. */
static void metrics_can_have_a_clock_of_their_own(void **state) {
    world *w = (world *)*state;
    bench b = open_bench(w, "ComputeBasic");
    gpu.set_timestamps(32, 1000000000);
    gpu.set_metric_clock(56, UINT64_C(3) << 53);
    measure(&b, 0);
    assert_in_range(read_begin(&b, 0), UINT64_C(3) << 53, (UINT64_C(3) << 53) + A_WHILE);
    gpu.set_metric_clock(56, (UINT64_C(1) << 56) - 1);
    measure(&b, 1);
    assert_in_range(read_begin(&b, 1), 0, A_WHILE);
    gpu.set_metric_clock(0, 0);
    measure(&b, 2);
    assert_in_range(read_begin(&b, 2), 0, UINT32_MAX);
    close_bench(&b);
}

static void global_timestamps_are_those_of_the_device(void **state) {
    world *w = (world *)*state;
    typedef ze_result_t (*timestamps_function)(zet_metric_group_handle_t, ze_bool_t, uint64_t *, uint64_t *);
    timestamps_function get;
    uint64_t global, metric, host, device;
    *(void **)&get =
        newer_function("zetMetricGroupGetGlobalTimestampsExp", "zetGetMetricGroupExpProcAddrTable", 1);
    zet_metric_group_handle_t group = group_of(w->device, "ComputeBasic", BY_TIME);
    gpu.set_timestamps(64, 1000000);
    ok(get(group, 0, &global, &metric));
    assert_int_equal(global, metric);
    ok(zeDeviceGetGlobalTimestamps(w->device, &host, &device));
    assert_true(device >= metric);
    ok(get(group, 1, &global, &metric));
    assert_true(global >= host && metric >= device);
    gpu.set_metric_clock(56, UINT64_C(1) << 55);
    ok(get(group, 0, &global, &metric));
    assert_true(global < UINT64_C(1) << 55 && metric >= UINT64_C(1) << 55);
    assert_result(get(group, 0, NULL, &metric), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
}

/* ==== queries: states and mistakes ==================================================================== */

static void pools_are_checked(void **state) {
    NOT_ON_WINDOWS("the device samples no instructions there");
    world *w = (world *)*state;
    zet_metric_query_pool_handle_t pool = NULL;
    zet_metric_group_handle_t by_event = group_of(w->device, "ComputeBasic", BY_EVENT);
    zet_metric_group_handle_t by_time = group_of(w->device, "ComputeBasic", BY_TIME);
    zet_metric_query_pool_desc_t desc = {ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC, NULL,
                                         (zet_metric_query_pool_type_t)7, 1};
    assert_result(try_pool(w, w->device, by_time, 1, &pool), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_result(try_pool(w, w->device, by_event, 0, &pool), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_result(try_pool(w, w->device, NULL, 1, &pool), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    assert_result(try_pool(w, w->device, by_event, 1, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    assert_result(zetMetricQueryPoolCreate(w->context, w->device, by_event, &desc, &pool),
                  ZE_RESULT_ERROR_INVALID_ENUMERATION);
    gpu.behave(SOFTGPU_STALL_SAMPLING, 1);
    assert_result(try_pool(w, w->device, group_of(w->device, "EuStallSampling", BY_TIME), 1, &pool),
                  ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    gpu.behave(SOFTGPU_NO_PERMISSION, 1);
    activate_one(w, by_event);
    assert_result(try_pool(w, w->device, by_event, 1, &pool), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    gpu.behave(SOFTGPU_NO_PERMISSION, 0);
    gpu.behave(SOFTGPU_COUNTERS_HELD, 1);
    assert_result(try_pool(w, w->device, by_event, 1, &pool), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    deactivate(w, w->device);
}

static void a_place_has_one_query(void **state) {
    world *w = (world *)*state;
    zet_metric_query_handle_t again = NULL;
    bench b = open_bench(w, "ComputeBasic");
    ok(zetMetricQueryCreate(b.pool, 1, &again));
    assert_ptr_equal(again, b.queries[1]);
    assert_result(zetMetricQueryCreate(b.pool, QUERIES, &again), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_result(zetMetricQueryCreate(b.pool, 0, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    close_bench(&b);
}

static void wrong_destruction_is_found(void **state) {
    world *w = (world *)*state;
    zet_metric_query_handle_t query;
    bench b = open_bench(w, "ComputeBasic");
    assert_result(zetMetricQueryPoolDestroy(b.pool), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    expect_findings(1);
    query = b.queries[0];
    close_bench(&b);
    assert_result(zetMetricQueryDestroy(query), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    assert_result(zetMetricQueryPoolDestroy(b.pool), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    expect_findings(2);
    assert_result(zetMetricQueryReset(query), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    assert_result(zetCommandListAppendMetricQueryBegin(w->immediate, query),
                  ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
}

static void data_have_sizes(void **state) {
    world *w = (world *)*state;
    uint8_t raw[REPORT_ROOM];
    bench b = open_bench(w, "ComputeBasic");
    size_t size = b.size;
    assert_result(zetMetricQueryGetData(b.queries[0], &size, raw), ZE_RESULT_NOT_READY);
    gpu.behave(SOFTGPU_UNKNOWN_FOR_NOT_READY, 1);
    assert_result(zetMetricQueryGetData(b.queries[0], &size, raw), ZE_RESULT_ERROR_UNKNOWN);
    measure(&b, 0);
    size = b.size - 1;
    assert_result(zetMetricQueryGetData(b.queries[0], &size, raw), ZE_RESULT_ERROR_INVALID_SIZE);
    size = b.size;
    assert_result(zetMetricQueryGetData(b.queries[0], &size, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    assert_result(zetMetricQueryGetData(b.queries[0], NULL, raw), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    size = REPORT_ROOM;
    ok(zetMetricQueryGetData(b.queries[0], &size, raw));
    assert_int_equal(size, b.size);
    ok(zetMetricQueryReset(b.queries[0]));
    assert_result(zetMetricQueryGetData(b.queries[0], &size, raw), ZE_RESULT_ERROR_UNKNOWN);
    close_bench(&b);
}

static void reuse_without_reset_is_found(void **state) {
    world *w = (world *)*state;
    bench b = open_bench(w, "ComputeBasic");
    measure(&b, 0);
    double first = read_one(&b, 0, "ReportId");
    ok(zetMetricQueryReset(b.queries[0]));
    measure(&b, 0);
    expect_findings(0);
    assert_true(read_one(&b, 0, "ReportId") > first);
    measure(&b, 0);
    expect_findings(1);
    close_bench(&b);
}

static void an_end_without_a_begin_is_never_ready(void **state) {
    world *w = (world *)*state;
    uint8_t raw[REPORT_ROOM];
    bench b = open_bench(w, "ComputeBasic");
    end(w->immediate, b.queries[0]);
    finish_immediate(w, w->immediate);
    assert_result(try_read(&b, 0, raw), ZE_RESULT_NOT_READY);
    expect_findings(1);
    close_bench(&b);
}

static void queries_stay_with_their_device_and_context(void **state) {
    world *w = (world *)*state;
    ze_context_desc_t desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, NULL, 0};
    ze_command_list_desc_t list_desc = {ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, NULL, 0, 0};
    ze_context_handle_t context;
    ze_command_list_handle_t list;
    bench b = open_bench(w, "ComputeBasic");
    ok(zeContextCreate(w->driver, &desc, &context));
    ok(zeCommandListCreate(context, w->device, &list_desc, &list));
    assert_result(zetCommandListAppendMetricQueryBegin(list, b.queries[0]), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    ok(zeCommandListDestroy(list));
    ok(zeContextDestroy(context));
    assert_result(zetCommandListAppendMetricQueryBegin(NULL, b.queries[0]),
                  ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    assert_result(zetCommandListAppendMetricQueryBegin(w->list, NULL), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    /* INVALID_SIZE; a layer in between may call it a null pointer. */
    assert_int_not_equal(zetCommandListAppendMetricQueryEnd(w->list, b.queries[0], NULL, 1, NULL),
                         ZE_RESULT_SUCCESS);
    close_bench(&b);
}

static void a_destroyed_query_in_a_list_is_found(void **state) {
    world *w = (world *)*state;
    bench b = open_bench(w, "ComputeBasic");
    begin(w->list, b.queries[0]);
    end(w->list, b.queries[0]);
    ok(zeCommandListClose(w->list));
    close_bench(&b);
    execute_unprofiled(w, w->list);
    expect_findings(2);
}

static void a_query_can_wait_for_events(void **state) {
    world *w = (world *)*state;
    uint8_t raw[REPORT_ROOM];
    ze_event_handle_t gate;
    bench b = open_bench(w, "ComputeBasic");
    create_event(w, 1, &gate);
    begin(w->immediate, b.queries[0]);
    ok(zetCommandListAppendMetricQueryEnd(w->immediate, b.queries[0], w->done, 1, &gate));
    assert_result(try_read(&b, 0, raw), ZE_RESULT_NOT_READY);
    ok(zeEventHostSignal(gate));
    ok(zeEventHostSynchronize(w->done, A_WHILE));
    ok(zeEventHostReset(w->done));
    ok(try_read(&b, 0, raw));
    ok(zeEventDestroy(gate));
    ok(zetCommandListAppendMetricMemoryBarrier(w->immediate));
    finish_immediate(w, w->immediate);
    close_bench(&b);
}

static void a_lost_device_answers_so_and_can_be_cleaned_up(void **state) {
    world *w = (world *)*state;
    uint8_t raw[REPORT_ROOM];
    bench b = open_bench(w, "ComputeBasic");
    gpu.lose_device();
    assert_result(zetCommandListAppendMetricQueryBegin(w->immediate, b.queries[0]),
                  ZE_RESULT_ERROR_DEVICE_LOST);
    assert_result(try_read(&b, 0, raw), ZE_RESULT_ERROR_DEVICE_LOST);
    gpu.restore_device();
    close_bench(&b);
}

/* ==== as real drivers are ============================================================================= */

static void an_end_without_event_can_be_held_back(void **state) {
    world *w = (world *)*state;
    uint8_t raw[REPORT_ROOM];
    bench b = open_bench(w, "ComputeBasic");
    gpu.behave(SOFTGPU_QUERY_END_HELD, 1);
    begin(w->immediate, b.queries[0]);
    end(w->immediate, b.queries[0]);
    for (int i = 0; i < 20; i++) {
        nap();
        assert_result(try_read(&b, 0, raw), ZE_RESULT_NOT_READY);
    }
    finish_immediate(w, w->immediate);
    ok(try_read(&b, 0, raw));
    close_bench(&b);
}

static void a_struck_report_has_zeros_and_its_flag(void **state) {
    world *w = (world *)*state;
    static const struct {
        enum softgpu_behaviour behaviour;
        const char *flag;
    } flags[] = {
        {SOFTGPU_REPORT_ERROR, "ReportError"},
        {SOFTGPU_REPORT_LOST, "ReportLost"},
        {SOFTGPU_REPORT_WITHOUT_WORKLOAD, "ReportWithoutWorkload"},
        {SOFTGPU_REPORT_INCONSISTENT, "ReportInconsistent"},
        {SOFTGPU_REPORT_CONTEXT_MISMATCH, "ReportContextMismatch"},
        {SOFTGPU_REPORT_QUERY_MODE_MISMATCH, "ReportQueryModeMismatch"},
        {SOFTGPU_REPORT_OVERRUN, "OverrunOccured"},
        {SOFTGPU_REPORT_QUERY_SPLIT, "QuerySplitOccurred"},
    };
    bench b = open_bench(w, "ComputeBasic");
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        gpu.behave(flags[i].behaviour, 2);
        for (uint32_t k = 0; k < QUERIES; k++) {
            measure(&b, k);
            bool struck = k % 2 == 1;
            assert_true(read_one(&b, k, flags[i].flag) == struck);
            assert_true((read_one(&b, k, "GpuTime") == 0) == struck);
            assert_true((read_one(&b, k, "GPGPU_THREADGROUP_COUNT") == 0) == struck);
            ok(zetMetricQueryReset(b.queries[k]));
        }
        gpu.behave(flags[i].behaviour, 0);
    }
    close_bench(&b);
}

static void data_of_an_immediate_list_can_stay_away(void **state) {
    world *w = (world *)*state;
    uint8_t raw[REPORT_ROOM];
    bench b = open_bench(w, "ComputeBasic");
    gpu.behave(SOFTGPU_NEVER_DELIVERED, 3);
    for (uint32_t k = 0; k < 3; k++) {
        measure(&b, k);
        assert_result(try_read(&b, k, raw), k == 2 ? ZE_RESULT_NOT_READY : ZE_RESULT_SUCCESS);
    }
    gpu.behave(SOFTGPU_NEVER_DELIVERED, 1);
    begin(w->list, b.queries[3]);
    end(w->list, b.queries[3]);
    ok(zeCommandListClose(w->list));
    execute_unprofiled(w, w->list);
    ok(try_read(&b, 3, raw));
    close_bench(&b);
}

/* Executed again, the list waits in the middle of its query: the old report can still be there. */
static void a_replay_can_leave_the_old_report(void **state) {
    world *w = (world *)*state;
    uint8_t raw[REPORT_ROOM];
    ze_event_handle_t gate;
    bench b = open_bench(w, "ComputeBasic");
    create_event(w, 1, &gate);
    begin(w->list, b.queries[0]);
    ok(zeCommandListAppendSignalEvent(w->list, w->done));
    ok(zeCommandListAppendWaitOnEvents(w->list, 1, &gate));
    end(w->list, b.queries[0]);
    ok(zeCommandListClose(w->list));
    for (int stale = 0; stale < 2; stale++) {
        gpu.behave(SOFTGPU_STALE_REPLAY, (uint32_t)stale);
        ok(zeEventHostSignal(gate));
        execute_unprofiled(w, w->list);
        double first = read_one(&b, 0, "ReportId");
        ok(zetMetricQueryReset(b.queries[0]));
        ok(zeEventHostReset(gate));
        ok(zeEventHostReset(w->done));
        ok(zeCommandQueueExecuteCommandLists(w->queue, 1, &w->list, NULL));
        ok(zeEventHostSynchronize(w->done, A_WHILE));
        assert_result(try_read(&b, 0, raw), stale ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY);
        if (stale)
            assert_true(read_one(&b, 0, "ReportId") == first);
        ok(zeEventHostSignal(gate));
        finish_queue(w);
        assert_true(read_one(&b, 0, "ReportId") > first);
        ok(zetMetricQueryReset(b.queries[0]));
        ok(zeEventHostReset(w->done));
    }
    ok(zeEventDestroy(gate));
    close_bench(&b);
}

/* Query 0 around query 1, each around launches of their own. */
static void record_nested(bench *b) {
    world *w = b->w;
    begin(w->list, b->queries[0]);
    launch(w, w->list);
    begin(w->list, b->queries[1]);
    launch(w, w->list);
    end(w->list, b->queries[1]);
    end(w->list, b->queries[0]);
    ok(zeCommandListClose(w->list));
}

static void execute_with_queries_reset(bench *b) {
    ok(zetMetricQueryReset(b->queries[0]));
    ok(zetMetricQueryReset(b->queries[1]));
    execute_unprofiled(b->w, b->w->list);
}

/* 2^64 ticks too many, in nanoseconds. */
static void expect_overflow(bench *b, uint32_t index) {
    assert_in_range((uint64_t)read_one(b, index, "GpuTime"), UINT64_C(960767920505),
                    UINT64_C(960767920506) + A_WHILE);
    assert_true(read_one(b, index, "AvgGpuCoreFrequencyMHz") == 0);
    assert_true(read_one(b, index, "CoreFrequencyMHz") == 0);
    assert_true(read_one(b, index, "ReportError") == 0);
    assert_true(read_one(b, index, "GPGPU_THREADGROUP_COUNT") == 2 * WORK_GROUPS);
}

static void expect_true_time(bench *b, uint32_t index) {
    assert_true(read_one(b, index, "GpuTime") < (double)A_WHILE);
    assert_true(read_one(b, index, "CoreFrequencyMHz") > 0);
}

static void an_outer_query_can_overflow_in_a_replay(void **state) {
    world *w = (world *)*state;
    bench b = open_bench(w, "ComputeBasic");
    gpu.behave(SOFTGPU_NESTED_REPLAY_OVERFLOWS, 1);
    record_nested(&b);
    execute_with_queries_reset(&b);
    expect_true_time(&b, 0);
    expect_true_time(&b, 1);
    execute_with_queries_reset(&b);
    expect_overflow(&b, 0);
    expect_true_time(&b, 1);
    execute_with_queries_reset(&b);
    expect_overflow(&b, 0);
    gpu.behave(SOFTGPU_NESTED_REPLAY_OVERFLOWS, 0);
    execute_with_queries_reset(&b);
    expect_true_time(&b, 0);
    close_bench(&b);
}

/* ==== the first use after an activation =============================================================== */

typedef struct user {
    bench *b;
    uint32_t index;
    ze_command_list_handle_t list; /* immediate, or recorded and closed */
    ze_command_queue_handle_t queue;
} user;

static void *use_query(void *argument) {
    const user *u = (const user *)argument;
    if (u->queue) {
        ze_command_list_handle_t list = u->list;
        zeCommandQueueExecuteCommandLists(u->queue, 1, &list, NULL);
        zeCommandQueueSynchronize(u->queue, A_WHILE);
    } else {
        zetCommandListAppendMetricQueryBegin(u->list, u->b->queries[u->index]);
        zetCommandListAppendMetricQueryEnd(u->list, u->b->queries[u->index], NULL, 0, NULL);
    }
    return NULL;
}

/* The second, on a thread of its own, between begin and end of the first. */
static void use_at_once(user users[2]) {
    pthread_t thread;
    begin(users[0].list, users[0].b->queries[users[0].index]);
    assert_int_equal(pthread_create(&thread, NULL, use_query, &users[1]), 0);
    pthread_join(thread, NULL);
    end(users[0].list, users[0].b->queries[users[0].index]);
}

/* Both threads' queries were not reset: that one is found too, where they begin again. */
static void prepare_users(bench *b, user users[2]) {
    finish_immediate(b->w, users[0].list);
    for (uint32_t i = 0; i < 2; i++)
        ok(zetMetricQueryReset(b->queries[i]));
}

static void first_uses_at_once_are_found(void **state) {
    world *w = (world *)*state;
    ze_command_list_handle_t other;
    gpu.behave(SOFTGPU_ACTIVATE_AT_FIRST_USE, 1);
    bench b = open_bench(w, "ComputeBasic");
    create_immediate(w, &other);
    user users[2] = {{&b, 0, w->immediate, NULL}, {&b, 1, other, NULL}};
    use_at_once(users);
    finish_immediate(w, other);
    prepare_users(&b, users);
    assert_true(gpu.findings() > 0);
    gpu.forget_findings();
    activate_one(w, b.group);
    measure(&b, 2); /* alone */
    use_at_once(users);
    finish_immediate(w, other);
    prepare_users(&b, users);
    expect_findings(0);
    activate_one(w, b.group);
    begin(w->list, b.queries[1]);
    end(w->list, b.queries[1]);
    ok(zeCommandListClose(w->list));
    users[1] = (user){&b, 1, w->list, w->queue};
    use_at_once(users);
    prepare_users(&b, users);
    assert_true(gpu.findings() > 0);
    gpu.forget_findings();
    ok(zeCommandListDestroy(other));
    close_bench(&b);
}

static void one_thread_may_be_the_first_alone(void **state) {
    world *w = (world *)*state;
    gpu.behave(SOFTGPU_ACTIVATE_AT_FIRST_USE, 1);
    bench b = open_bench(w, "ComputeBasic");
    begin(w->immediate, b.queries[0]);
    measure(&b, 1);
    end(w->immediate, b.queries[0]);
    finish_immediate(w, w->immediate);
    record_nested(&b);
    execute_with_queries_reset(&b);
    expect_findings(0);
    close_bench(&b);
}

typedef struct executor {
    world *w;
    int *is_over;
    int is_at_work;
} executor;

static void *execute_without_end(void *argument) {
    executor *of = (executor *)argument;
    while (!__atomic_load_n(of->is_over, __ATOMIC_SEQ_CST)) {
        ok_on_thread(zeCommandQueueExecuteCommandLists(of->w->queue, 1, &of->w->list, NULL));
        ok_on_thread(zeCommandQueueSynchronize(of->w->queue, A_WHILE));
        __atomic_store_n(&of->is_at_work, 1, __ATOMIC_SEQ_CST);
    }
    return NULL;
}

static void activations_beside_executions_are_found(void **state) {
    world *w = (world *)*state;
    int is_over = 0;
    executor of = {w, &is_over, 0};
    pthread_t thread;
    zet_metric_group_handle_t group = group_of(w->device, "ComputeBasic", BY_EVENT);
    gpu.behave(SOFTGPU_ACTIVATION_RACES, 1);
    ok(zeCommandListClose(w->list));
    assert_int_equal(pthread_create(&thread, NULL, execute_without_end, &of), 0);
    await(&of.is_at_work);
    activate_one(w, group);
    assert_true(gpu.findings() > 0);
    gpu.forget_findings();
    zet_metric_query_pool_handle_t pool;
    ok(try_pool(w, w->device, group, 1, &pool));
    assert_true(gpu.findings() > 0);
    gpu.forget_findings();
    ok(zetMetricQueryPoolDestroy(pool));
    assert_true(gpu.findings() > 0);
    gpu.forget_findings();
    deactivate(w, w->device);
    assert_true(gpu.findings() > 0);
    __atomic_store_n(&is_over, 1, __ATOMIC_SEQ_CST);
    pthread_join(thread, NULL);
    assert_no_noted_failure();
    gpu.forget_findings();
    ok(zeCommandQueueExecuteCommandLists(w->queue, 1, &w->list, NULL));
    activate_one(w, group); /* on one thread, and while the device is at work */
    deactivate(w, w->device);
    finish_queue(w);
    expect_findings(0);
}

static void the_timestamp_of_a_query_can_be_nonsense(void **state) {
    world *w = (world *)*state;
    ze_kernel_timestamp_result_t time;
    bench b = open_bench(w, "ComputeBasic");
    gpu.behave(SOFTGPU_UNDEFINED_QUERY_TIMESTAMP, 1);
    begin(w->immediate, b.queries[0]);
    end_with(w->immediate, b.queries[0], w->done);
    ok(zeEventHostSynchronize(w->done, A_WHILE));
    ok(zeEventQueryKernelTimestamp(w->done, &time));
    assert_true(time.global.kernelEnd < time.global.kernelStart);
    close_bench(&b);
}

/* ==== calculation ===================================================================================== */

static bool same_value(zet_typed_value_t a, zet_typed_value_t b) {
    return a.type == b.type && number(a) == number(b);
}

/* Reports of all queries, one after the other. */
static uint8_t *concatenated(bench *b) {
    uint8_t *raw = (uint8_t *)malloc(QUERIES * b->size);
    assert_non_null(raw);
    for (uint32_t i = 0; i < QUERIES; i++) {
        size_t size = b->size;
        measure(b, i);
        ok(zetMetricQueryGetData(b->queries[i], &size, raw + i * b->size));
    }
    return raw;
}

static void reports_can_be_calculated_together(void **state) {
    world *w = (world *)*state;
    uint32_t sets, one;
    bench b = open_bench(w, "ComputeBasic");
    uint32_t metrics = metrics_in(b.group);
    uint8_t *raw = concatenated(&b);
    zet_typed_value_t *together = calculate(b.group, raw, QUERIES * b.size, &sets);
    assert_int_equal(sets, QUERIES);
    for (uint32_t i = 0; i < QUERIES; i++) {
        zet_typed_value_t *alone = calculate(b.group, raw + i * b.size, b.size, &one);
        assert_int_equal(one, 1);
        for (uint32_t k = 0; k < metrics; k++) {
            assert_true(same_value(alone[k], together[i * metrics + k]));
            assert_int_equal(alone[k].type, metric_at(b.group, k).resultType);
        }
        free(alone);
    }
    free(together);
    free(raw);
    close_bench(&b);
}

static void calculation_truncates_and_checks(void **state) {
    world *w = (world *)*state;
    zet_typed_value_t values[256];
    bench b = open_bench(w, "ComputeBasic");
    zet_metric_group_handle_t other = group_of(w->device, "MemoryProfile", BY_EVENT);
    uint32_t metrics = metrics_in(b.group), count = metrics + 3;
    uint8_t *raw = concatenated(&b);
    memset(values, 0x55, sizeof values);
    ok(zetMetricGroupCalculateMetricValues(b.group, VALUES, 2 * b.size, raw, &count, values));
    assert_int_equal(count, metrics + 3);
    assert_int_equal(values[count].type, 0x55555555);
    count = 256;
    ok(zetMetricGroupCalculateMetricValues(b.group, VALUES, b.size, raw, &count, values));
    assert_int_equal(count, metrics);
#define REFUSED(group, type, size, data, count, values, expected)                                            \
    assert_result(zetMetricGroupCalculateMetricValues(group, (zet_metric_group_calculation_type_t)(type),    \
                                                      size, data, count, values),                            \
                  ZE_RESULT_ERROR_##expected)
    REFUSED(b.group, VALUES, b.size - 1, raw, &count, values, INVALID_SIZE);
    REFUSED(b.group, VALUES, b.size + 8, raw, &count, values, INVALID_SIZE);
    REFUSED(b.group, VALUES, 0, raw, &count, values, INVALID_SIZE);
    REFUSED(b.group, VALUES, b.size, NULL, &count, values, INVALID_NULL_POINTER);
    REFUSED(b.group, VALUES, b.size, raw, NULL, values, INVALID_NULL_POINTER);
    REFUSED(b.group, VALUES, b.size, raw, &count, NULL, INVALID_NULL_POINTER);
    REFUSED(b.group, 2, b.size, raw, &count, values, INVALID_ENUMERATION);
    REFUSED(other, VALUES, b.size, raw, &count, values, INVALID_ARGUMENT);
    REFUSED(NULL, VALUES, b.size, raw, &count, values, INVALID_NULL_HANDLE);
    memset(raw, 0xaa, b.size);
    REFUSED(b.group, VALUES, b.size, raw, &count, values, INVALID_ARGUMENT);
#undef REFUSED
    free(raw);
    close_bench(&b);
}

static void maxima_have_values(void **state) {
    world *w = (world *)*state;
    uint8_t raw[REPORT_ROOM];
    zet_typed_value_t values[64];
    uint32_t count = 64;
    bench b = open_bench(w, "ComputeBasic");
    measure(&b, 0);
    ok(try_read(&b, 0, raw));
    ok(zetMetricGroupCalculateMetricValues(b.group, MAXIMA, b.size, raw, &count, values));
    assert_int_equal(count, metrics_in(b.group));
    assert_true(value_in(b.group, values, "GPU_BUSY") == 100);
    close_bench(&b);
}

typedef struct calculation {
    bench *b;
    const uint8_t *raw;
} calculation;

static void *calculate_often(void *argument) {
    const calculation *c = (const calculation *)argument;
    zet_typed_value_t values[64];
    for (int i = 0; i < 20; i++) {
        uint32_t count = 64;
        zetMetricGroupCalculateMetricValues(c->b->group, VALUES, c->b->size, c->raw, &count, values);
    }
    return NULL;
}

/* A real driver would corrupt its heap. */
static void two_threads_that_calculate_are_found(void **state) {
    world *w = (world *)*state;
    uint8_t raw[REPORT_ROOM];
    pthread_t threads[2];
    bench b = open_bench(w, "ComputeBasic");
    calculation c = {&b, raw};
    measure(&b, 0);
    ok(try_read(&b, 0, raw));
    gpu.behave(SOFTGPU_SLOW_CALCULATION, 1);
    calculate_often(&c);
    expect_findings(0);
    /* On a busy machine the one may have ended before the other begins. */
    for (uint64_t end = now_ns() + A_WHILE; gpu.findings() == 0 && now_ns() < end;) {
        for (int i = 0; i < 2; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, calculate_often, &c), 0);
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
    }
    assert_true(gpu.findings() > 0);
    gpu.forget_findings();
    close_bench(&b);
}

static void tiles_have_a_set_each(void **state) {
    world *w = (world *)*state;
    uint8_t raw[REPORT_ROOM];
    zet_typed_value_t values[128];
    uint32_t sets = 0, total = 0, counts[4] = {0};
    gpu.set_devices(1, 2);
    bench b = open_bench(w, "ComputeBasic");
    uint32_t metrics = metrics_in(b.group);
    measure(&b, 0);
    ok(try_read(&b, 0, raw));
    assert_result(zetMetricGroupCalculateMetricValues(b.group, VALUES, b.size, raw, &total, NULL),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
#define SETS(size, sets, total, counts, values)                                                              \
    zetMetricGroupCalculateMultipleMetricValuesExp(b.group, VALUES, size, raw, sets, total, counts, values)
    ok(SETS(b.size, &sets, &total, NULL, NULL));
    assert_int_equal(sets, 2);
    assert_int_equal(total, 2 * metrics);
    ok(SETS(b.size, &sets, &total, counts, values));
    assert_int_equal(counts[0], metrics);
    assert_int_equal(counts[1], metrics);
    assert_true(value_in(b.group, values, "GPGPU_THREADGROUP_COUNT") +
                    value_in(b.group, values + metrics, "GPGPU_THREADGROUP_COUNT") ==
                WORK_GROUPS);
    assert_true(value_in(b.group, values, "GpuTime") > 0);
    total = metrics + 1;
    ok(SETS(b.size, &sets, &total, counts, values));
    assert_int_equal(total, metrics + 1);
    assert_result(SETS(b.size - 8, &sets, &total, counts, values), ZE_RESULT_ERROR_INVALID_SIZE);
    assert_result(SETS(b.size, NULL, &total, counts, values), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    close_bench(&b);
}

static void a_single_tile_has_one_set(void **state) {
    world *w = (world *)*state;
    uint8_t raw[REPORT_ROOM];
    zet_typed_value_t values[64];
    uint32_t sets = 0, total = 0, counts[1];
    bench b = open_bench(w, "ComputeBasic");
    measure(&b, 0);
    ok(try_read(&b, 0, raw));
    ok(SETS(b.size, &sets, &total, NULL, NULL));
    assert_int_equal(sets, 1);
    ok(SETS(b.size, &sets, &total, counts, values));
    assert_int_equal(counts[0], metrics_in(b.group));
    close_bench(&b);
}
#undef SETS

static void a_sub_device_measures_itself(void **state) {
    world *w = (world *)*state;
    ze_device_handle_t tiles[2];
    ze_command_list_handle_t list;
    ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    uint32_t count = 2;
    gpu.set_devices(1, 2);
    ok(zeDeviceGetSubDevices(w->device, &count, tiles));
    ok(zeCommandListCreateImmediate(w->context, tiles[1], &desc, &list));
    bench here = open_bench_on(w, tiles[1], "ComputeBasic"),
          there = open_bench_on(w, tiles[0], "ComputeBasic");
    assert_result(zetCommandListAppendMetricQueryBegin(list, there.queries[0]),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    begin(list, here.queries[0]);
    launch_kernel(list, w->kernel);
    end(list, here.queries[0]);
    finish_immediate(w, list);
    assert_true(read_one(&here, 0, "GPGPU_THREADGROUP_COUNT") == WORK_GROUPS);
    close_bench(&here);
    close_bench(&there);
    ok(zeCommandListDestroy(list));
}

/* ==== the metrics of a B580 =========================================================================== */

typedef struct expected_metric {
    const char *name, *component, *units;
    unsigned samplings;
    zet_metric_type_t type;
    zet_value_type_t value;
} expected_metric;

enum { EVENT = BY_EVENT, TIME = BY_TIME, BOTH = BY_EVENT | BY_TIME };
static const expected_metric b580[] = {
#define B580_METRIC(name, component, type, value, units, samplings, source, description)                     \
    {#name, component, units, samplings, ZET_METRIC_TYPE_##type, ZET_VALUE_TYPE_##value},
#include "softgpu/b580.def"
#undef B580_METRIC
};

/* In order, and no others. Returns how many. */
static uint32_t check_b580_group(zet_metric_group_handle_t group, unsigned sampling) {
    uint32_t count = 0;
    for (size_t i = 0; i < sizeof b580 / sizeof *b580; i++) {
        if (!(b580[i].samplings & sampling))
            continue;
        zet_metric_properties_t metric = metric_at(group, count++);
        assert_string_equal(metric.name, b580[i].name);
        assert_string_equal(metric.component, b580[i].component);
        assert_string_equal(metric.resultUnits, b580[i].units);
        assert_int_equal(metric.metricType, b580[i].type);
        assert_int_equal(metric.resultType, b580[i].value);
        assert_true(metric.description[0]);
    }
    assert_int_equal(metrics_in(group), count);
    return count;
}

static void the_metrics_of_a_b580_can_be_listed(void **state) {
    world *w = (world *)*state;
    zet_metric_group_handle_t own = group_of(w->device, "ComputeBasic", BY_EVENT);
    gpu.behave(SOFTGPU_B580_METRICS, 1);
    zet_metric_group_handle_t by_event = group_of(w->device, "ComputeBasic", BY_EVENT);
    assert_int_equal(check_b580_group(by_event, BY_EVENT), 83);
    assert_int_equal(check_b580_group(group_of(w->device, "ComputeBasic", BY_TIME), BY_TIME), 69);
    each_set_is_listed_twice_time_first(state);
    gpu.behave(SOFTGPU_B580_METRICS, 0);
    assert_ptr_equal(group_of(w->device, "ComputeBasic", BY_EVENT), own);
    assert_ptr_not_equal(by_event, own);
}

static bench open_b580(world *w) {
    gpu.behave(SOFTGPU_B580_METRICS, 1);
    return open_bench(w, "ComputeBasic");
}

static void a_b580_measures_what_the_device_can(void **state) {
    world *w = (world *)*state;
    bench b = open_b580(w);
    begin(w->immediate, b.queries[0]);
    launch(w, w->immediate);
    ok(zetCommandListAppendMetricMemoryBarrier(w->immediate));
    end(w->immediate, b.queries[0]);
    finish_immediate(w, w->immediate);
    zet_typed_value_t *v = values_of(&b, 0);
    double nanoseconds = value_in(b.group, v, "GpuTime"), bytes = 2 * sizeof(float) * WORK_ITEMS;
    assert_true(nanoseconds > 0 && value_in(b.group, v, "GpuCoreClocks") > 0);
    assert_true(value_in(b.group, v, "AvgGpuCoreFrequencyMHz") == value_in(b.group, v, "CoreFrequencyMHz"));
    assert_true(value_in(b.group, v, "GPU_BUSY") > 0 && value_in(b.group, v, "GPU_BUSY") <= 100);
    assert_true(value_in(b.group, v, "COMMAND_PARSER_COMPUTE_ENGINE_BUSY") > 0);
    assert_true(value_in(b.group, v, "COMMAND_PARSER_COPY_ENGINE_BUSY") == 0);
    assert_true(value_in(b.group, v, "COMMAND_PARSER_FLUSH_COUNT") == 1);
    assert_true(value_in(b.group, v, "COMMAND_PARSER_COMPUTE_ENGINE_DISPATCH_KERNEL_COUNT") == 1);
    assert_true(value_in(b.group, v, "GPGPU_THREADGROUP_COUNT") == WORK_GROUPS);
    assert_true(value_in(b.group, v, "LOAD_STORE_CACHE_BYTE_READ") == bytes);
    assert_true(value_in(b.group, v, "LOAD_STORE_CACHE_BYTE_WRITE") == bytes / 2);
    assert_true(value_in(b.group, v, "GPU_MEMORY_BYTE_READ") == bytes);
    assert_true(value_in(b.group, v, "GPU_MEMORY_BYTE_WRITE") == bytes / 2);
    assert_true(value_in(b.group, v, "GPU_MEMORY_BYTE_READ_RATE") == (double)(float)(bytes / nanoseconds));
    assert_true(value_in(b.group, v, "GPU_MEMORY_BYTE_WRITE_RATE") ==
                (double)(float)(bytes / 2 / nanoseconds));
    assert_true(value_in(b.group, v, "SLM_BYTE_READ") == 0);
    assert_true(value_in(b.group, v, "XVE_ACTIVE") == 0 && value_in(b.group, v, "L3_HIT") == 0);
    assert_true(value_in(b.group, v, "ReportsCount") == 1 && value_in(b.group, v, "ReportError") == 0);
    free(v);
    close_bench(&b);
}

static void give(const char *metric, double value) {
    assert_true(gpu.set_metric(metric, value));
}

/* A report carries what was given when it was made, with the types of the list. */
static void a_b580_reports_what_a_test_gives(void **state) {
    world *w = (world *)*state;
    uint32_t sets;
    bench b = open_b580(w);
    uint32_t metrics = metrics_in(b.group);
    uint8_t *raw = (uint8_t *)malloc(2 * b.size);
    assert_non_null(raw);
    give("XVE_ACTIVE", 62.5);
    give("XVE_STALL", 30);
    give("L3_HIT", 1e12);
    give("MidQueryTimer", 1);
    measure(&b, 0);
    give("XVE_STALL", 75.25);
    measure(&b, 1);
    give("XVE_STALL", 0);
    ok(try_read(&b, 0, raw));
    ok(try_read(&b, 1, raw + b.size));
    zet_typed_value_t *v = calculate(b.group, raw, 2 * b.size, &sets);
    assert_int_equal(sets, 2);
    for (uint32_t i = 0; i < sets; i++) {
        const zet_typed_value_t *set = v + i * metrics;
        assert_true(value_in(b.group, set, "XVE_ACTIVE") == 62.5);
        assert_true(value_in(b.group, set, "XVE_STALL") == (i ? 75.25 : 30));
        assert_true(value_in(b.group, set, "L3_HIT") == 1e12);
        assert_true(value_in(b.group, set, "MidQueryTimer") == 1);
        assert_true(value_in(b.group, set, "L3_MISS") == 0 && value_in(b.group, set, "MidQueryC6") == 0);
        assert_true(value_in(b.group, set, "GPGPU_THREADGROUP_COUNT") == WORK_GROUPS);
        for (uint32_t k = 0; k < metrics; k++)
            assert_int_equal(set[k].type, metric_at(b.group, k).resultType);
    }
    free(v);
    free(raw);
    close_bench(&b);
}

static void only_what_is_not_measured_can_be_given(void **state) {
    (void)state;
    assert_false(gpu.set_metric("GpuTime", 1));
    assert_false(gpu.set_metric("ReportError", 1));
    assert_false(gpu.set_metric("no metric", 1));
    assert_false(gpu.set_metric("L3_HIT", -1));
    assert_false(gpu.set_metric("MidQueryC6", 2));
    assert_true(gpu.set_metric("XVE_STALL", -1)); /* as hardware with an overflow would */
}

static void given_values_are_forgotten(void **state) {
    world *w = (world *)*state;
    give("XVE_STALL", 30);
    gpu.reset();
    bench b = open_b580(w);
    measure(&b, 0);
    assert_true(read_one(&b, 0, "XVE_STALL") == 0);
    close_bench(&b);
}

static void a_struck_report_carries_nothing_given(void **state) {
    world *w = (world *)*state;
    bench b = open_b580(w);
    give("XVE_STALL", 30);
    gpu.behave(SOFTGPU_REPORT_LOST, 1);
    measure(&b, 0);
    assert_true(read_one(&b, 0, "ReportLost") == 1);
    assert_true(read_one(&b, 0, "XVE_STALL") == 0);
    close_bench(&b);
}

static void tiles_of_a_b580_have_a_set_each(void **state) {
    world *w = (world *)*state;
    uint8_t raw[REPORT_ROOM];
    zet_typed_value_t values[2 * 83];
    uint32_t sets = 2, total = 2 * 83, counts[2];
    gpu.set_devices(1, 2);
    bench b = open_b580(w);
    give("XVE_STALL", 30);
    give("MidQueryMmioTrigger", 1);
    measure(&b, 0);
    ok(try_read(&b, 0, raw));
    ok(zetMetricGroupCalculateMultipleMetricValuesExp(b.group, VALUES, b.size, raw, &sets, &total, counts,
                                                      values));
    assert_int_equal(sets, 2);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(counts[i], 83);
        assert_true(value_in(b.group, values + i * 83, "XVE_STALL") == 30);
        assert_true(value_in(b.group, values + i * 83, "MidQueryMmioTrigger") == 1);
    }
    close_bench(&b);
}

/* Beside the others, or instead of one. */
static void a_test_can_list_metrics_of_its_own(void **state) {
    world *w = (world *)*state;
    static const softgpu_metric metrics[] = {
        {"PIXIES", "Magic", "wingbeats", ZET_METRIC_TYPE_EVENT, ZET_VALUE_TYPE_UINT32},
        {"PIXIE_SHARE", "Magic", "percent", ZET_METRIC_TYPE_RATIO, ZET_VALUE_TYPE_FLOAT64},
        {"PIXIES_LOST", "Magic", "", ZET_METRIC_TYPE_FLAG, ZET_VALUE_TYPE_BOOL8},
    };
    uint32_t others = groups_listed(w);
    assert_true(gpu.list_metrics("Pixies", metrics, 3));
    assert_int_equal(groups_listed(w), others + 2);
    bench b = open_bench(w, "Pixies");
    uint32_t first = metrics_in(b.group) - 3;
    give("PIXIES", 4e9);
    give("PIXIE_SHARE", 12.3);
    give("PIXIES_LOST", 1);
    measure(&b, 0);
    zet_typed_value_t *v = values_of(&b, 0);
    for (uint32_t i = 0; i < 3; i++) {
        zet_metric_properties_t metric = metric_at(b.group, first + i);
        assert_string_equal(metric.name, metrics[i].name);
        assert_string_equal(metric.component, metrics[i].component);
        assert_string_equal(metric.resultUnits, metrics[i].units);
        assert_int_equal(metric.metricType, metrics[i].type);
        assert_int_equal(metric.resultType, metrics[i].value_type);
        assert_int_equal(v[first + i].type, metrics[i].value_type);
    }
    assert_true(value_in(b.group, v, "PIXIES") == 4e9);
    assert_true(value_in(b.group, v, "PIXIE_SHARE") == 12.3);
    assert_true(value_in(b.group, v, "PIXIES_LOST") == 1);
    assert_true(value_in(b.group, v, "GpuTime") > 0);
    free(v);
    close_bench(&b);
    assert_true(gpu.list_metrics("ComputeBasic", metrics, 1));
    assert_int_equal(groups_listed(w), others);
    assert_ptr_equal(group_of(w->device, "ComputeBasic", BY_EVENT), b.group);
    assert_int_equal(metrics_in(b.group), first + 1);
    b = open_bench(w, "ComputeBasic");
    measure(&b, 0);
    assert_true(read_one(&b, 0, "PIXIES") == 0);
    close_bench(&b);
    assert_false(gpu.set_metric("PIXIE_SHARE", 1));
    gpu.reset();
    assert_int_equal(groups_listed(w), others);
    assert_ptr_not_equal(group_of(w->device, "ComputeBasic", BY_EVENT), b.group);
    assert_false(gpu.list_metrics("Pixies", metrics, 33));
    assert_true(gpu.list_metrics("Pixies", metrics, 3));
    assert_true(gpu.list_metrics(NULL, NULL, 0));
    assert_int_equal(groups_listed(w), others);
    gpu.reset();
}

typedef struct weighted {
    uint32_t stall; /* its index */
    double time, product;
} weighted;

static void add_weighted(const zt_sample *sample, void *sums) {
    weighted *sum = (weighted *)sums;
    sum->time += sample->gpu_time_ns;
    sum->product += sample->gpu_time_ns * sample->values[sum->stall];
}

/* The mean of a share, by the GPU time of its samples. */
static void the_library_weighs_what_is_given(void **state) {
    world *w = (world *)*state;
    weighted sum = {0, 0, 0};
    zt_config config = config_of(w);
    gpu.behave(SOFTGPU_B580_METRICS, 1);
    config.groups = "ComputeBasic";
    config.sample = add_weighted;
    config.sample_user = &sum;
    zt_profiler *profiler = open_profiler(w, &config);
    while (strcmp(zt_get_metric(profiler, sum.stall)->name, "XVE_STALL") != 0)
        sum.stall++;
    for (uint32_t i = 0; i < 4; i++) {
        give("XVE_STALL", 20 * i);
        give("L3_HIT", 1000 * i);
        ZT_REGION(profiler, w->immediate, "region") {
            for (uint32_t k = 0; k <= i; k++)
                launch(w, w->immediate);
        }
        finish_immediate(w, w->immediate);
    }
    collect_all(profiler);
    zt_stats stall = stats_of(profiler, "region", "XVE_STALL");
    assert_int_equal(stall.count, 4);
    assert_close(stall.min, 0);
    assert_close(stall.max, 60);
    assert_close(stall.mean, sum.product / sum.time);
    assert_close(stats_of(profiler, "region", "L3_HIT").sum, 6000);
    assert_close(stats_of(profiler, "region", "GPGPU_THREADGROUP_COUNT").sum, 10 * WORK_GROUPS);
}

/* ==== concurrent groups =============================================================================== */

typedef ze_result_t (*concurrent_function)(zet_device_handle_t, uint32_t, zet_metric_group_handle_t *,
                                           uint32_t *, uint32_t *);

static void concurrent_groups_are_sorted_into_rounds(void **state) {
    world *w = (world *)*state;
    concurrent_function get;
    uint32_t rounds = 0, counts[3];
    zet_metric_group_handle_t compute = group_of(w->device, "ComputeBasic", BY_EVENT);
    zet_metric_group_handle_t memory = group_of(w->device, "MemoryProfile", BY_EVENT);
    zet_metric_group_handle_t host = group_of(w->device, "HostScheduler", BY_EVENT);
    zet_metric_group_handle_t groups[] = {compute, memory, host}, sorted[] = {compute, host, memory};
    *(void **)&get =
        newer_function("zetDeviceGetConcurrentMetricGroupsExp", "zetGetDeviceExpProcAddrTable", 0);
    ok(get(w->device, 3, groups, NULL, &rounds));
    assert_int_equal(rounds, 2);
    ok(get(w->device, 3, groups, counts, &rounds));
    assert_int_equal(rounds, 2);
    assert_int_equal(counts[0], 2);
    assert_int_equal(counts[1], 1);
    assert_memory_equal(groups, sorted, sizeof groups);
    assert_result(get(w->device, 3, NULL, counts, &rounds), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    groups[1] = NULL;
    assert_result(get(w->device, 3, groups, counts, &rounds), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
}

/* ==== bad handles ===================================================================================== */

static void handles_are_checked(void **state) {
    world *w = (world *)*state;
    uint32_t count = 0, not_an_object = 0;
    size_t size = 0;
    zet_metric_group_properties_t group = {.stype = ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES};
    zet_metric_properties_t metric = {.stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES};
    zet_metric_group_handle_t by_event = group_of(w->device, "ComputeBasic", BY_EVENT);
#define BAD_HANDLE(call) assert_result(call, ZE_RESULT_ERROR_INVALID_NULL_HANDLE)
#define BAD_POINTER(call) assert_result(call, ZE_RESULT_ERROR_INVALID_NULL_POINTER)
    BAD_HANDLE(zetMetricGroupGet(NULL, &count, NULL));
    BAD_HANDLE(zetMetricGroupGet((zet_device_handle_t)w->context, &count, NULL));
    BAD_HANDLE(zetMetricGroupGet((zet_device_handle_t)&not_an_object, &count, NULL));
    BAD_POINTER(zetMetricGroupGet(w->device, NULL, NULL));
    BAD_HANDLE(zetMetricGroupGetProperties(NULL, &group));
    BAD_HANDLE(zetMetricGroupGetProperties((zet_metric_group_handle_t)w->device, &group));
    BAD_POINTER(zetMetricGroupGetProperties(by_event, NULL));
    BAD_HANDLE(zetMetricGet(NULL, &count, NULL));
    BAD_POINTER(zetMetricGet(by_event, NULL, NULL));
    BAD_HANDLE(zetMetricGetProperties((zet_metric_handle_t)by_event, &metric));
    BAD_HANDLE(zetContextActivateMetricGroups(NULL, w->device, 0, NULL));
    BAD_HANDLE(zetContextActivateMetricGroups(w->context, NULL, 0, NULL));
    BAD_HANDLE(zetMetricQueryCreate(NULL, 0, NULL));
    BAD_HANDLE(zetMetricQueryGetData(NULL, &size, NULL));
    BAD_HANDLE(zetMetricQueryReset(NULL));
    BAD_HANDLE(zetMetricQueryDestroy(NULL));
    BAD_HANDLE(zetMetricQueryPoolDestroy(NULL));
    BAD_HANDLE(zetCommandListAppendMetricMemoryBarrier(NULL));
    count = 1;
    BAD_POINTER(zetMetricGroupGet(w->device, &count, NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(each_set_is_listed_twice_time_first),
        TEST(fewer_are_given_than_there_are),
        TEST(every_kind_of_metric_occurs),
        TEST(extensions_are_filled_or_left_alone),
        TEST(metrics_can_be_missing),
        TEST(metrics_can_be_enabled_at_run_time),
        TEST(metrics_are_enabled_by_the_environment),
        TEST(metrics_are_enabled_for_each_root_device),
        TEST(names_can_differ),
        TEST(groups_of_one_domain_exclude_each_other),
        TEST(the_last_of_a_domain_can_win),
        TEST(a_group_belongs_to_its_device),
        TEST(inactive_groups_measure_nothing),
        TEST(activation_can_take_effect_at_execution),
        TEST(a_launch_is_measured),
        TEST(copies_and_fills_are_measured),
        TEST(the_device_thread_is_measured),
        TEST(groups_of_two_domains_measure_together),
        TEST(queries_nest_and_overlap),
        TEST(begin_times_wrap),
        TEST(metrics_can_have_a_clock_of_their_own),
        TEST(global_timestamps_are_those_of_the_device),
        TEST(pools_are_checked),
        TEST(a_place_has_one_query),
        TEST(wrong_destruction_is_found),
        TEST(data_have_sizes),
        TEST(reuse_without_reset_is_found),
        TEST(an_end_without_a_begin_is_never_ready),
        TEST(queries_stay_with_their_device_and_context),
        TEST(a_destroyed_query_in_a_list_is_found),
        TEST(a_query_can_wait_for_events),
        TEST(a_lost_device_answers_so_and_can_be_cleaned_up),
        TEST(an_end_without_event_can_be_held_back),
        TEST(a_struck_report_has_zeros_and_its_flag),
        TEST(data_of_an_immediate_list_can_stay_away),
        TEST(a_replay_can_leave_the_old_report),
        TEST(an_outer_query_can_overflow_in_a_replay),
        TEST(first_uses_at_once_are_found),
        TEST(one_thread_may_be_the_first_alone),
        TEST(activations_beside_executions_are_found),
        TEST(the_timestamp_of_a_query_can_be_nonsense),
        TEST(reports_can_be_calculated_together),
        TEST(calculation_truncates_and_checks),
        TEST(maxima_have_values),
        TEST(two_threads_that_calculate_are_found),
        TEST(tiles_have_a_set_each),
        TEST(a_single_tile_has_one_set),
        TEST(a_sub_device_measures_itself),
        TEST(the_metrics_of_a_b580_can_be_listed),
        TEST(a_b580_measures_what_the_device_can),
        TEST(a_b580_reports_what_a_test_gives),
        TEST(only_what_is_not_measured_can_be_given),
        TEST(given_values_are_forgotten),
        TEST(a_struck_report_carries_nothing_given),
        TEST(tiles_of_a_b580_have_a_set_each),
        TEST(a_test_can_list_metrics_of_its_own),
        TEST(the_library_weighs_what_is_given),
        TEST(concurrent_groups_are_sorted_into_rounds),
        TEST(handles_are_checked),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
