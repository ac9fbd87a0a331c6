/* Bad input causes an error with a message that includes the remedy, or a counted drop; never a crash or
   unwanted output. The results of the application are right. */
#define _GNU_SOURCE
#include "rows.h"
#include "values.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ==== a driver that lies, between the library and the loader ============================================= */

/* clang-format off */
static enum lie {
    HONEST,
    CONTINUED_TEXTS, /* are no UTF-8: each byte continues a character that never began */
    EMPTY_TEXTS,     /* no metric has a unit or a description */
    ENDLESS_TEXTS,  /* names are as long as their arrays, without a 0 */
    RAISED_COUNTS,  /* more is returned than there was room for */
    HUGE_REPORTS,
    RAISED_SIZES,   /* more bytes are read than there was room for */
    FASTEST_CLOCK,
    STOPPED_CLOCK,
    JUMPING_STAMPS,  /* of kernels, as far apart as they can be */
    NO_METRICS,      /* are in any group */
    LATE_NO_METRICS, /* they were counted before */
    NULL_UNITS,      /* a null pointer was printed where there is no unit */
    ODD_UNITS,       /* GpuTime is in microseconds, GpuCoreClocks in "cycles per tile" */
    RATE_UNITS,      /* GpuCoreClocks is in "cycles/s" */
    NUMBERED_GROUPS, /* are called G0, G1, ..., are all of both sampling types, and have a domain each */
    UNKNOWN_VALUES,  /* have a type that nobody knows */
    FEWER_VALUES,    /* than the report has */
    IDLE_TILE,       /* the last one, which has no values */
    TIMELESS_TILE,   /* the last one, whose GpuTime is 0 */
    EMPTY_REPORTS,
    SHORT_REPORTS,    /* than they were before */
    NO_PERIOD,        /* is returned of a stream */
    UNDESCRIBED_CLOCK,
    ENDLESS_REPORTS,  /* of a stream: the first one again and again, as many as there is room for */
    NO_REASONS,       /* of rows */
    EQUAL_REASONS,
    MISSING_REASONS,  /* the first row with a number of a marker has none, the others have equal ones */
    WIDE_MARKERS,     /* their numbers have more than 32 bits */
    WRONG_TILES,      /* are listed by a call that fails: the devices that are no tiles */
    NO_LENGTHS        /* of rows: they last no time */
} lie;
static uint32_t numbered; /* groups */
static uint32_t marker_metric, reason_metric, length_metric, row_metrics; /* of the values that lies are about */
static uint32_t busy_metric, clock_metric, changing_rows; /* 0 rows: they do not change */
static uint64_t endless_reports;
static uint32_t last_number; /* of a marker */
static uint32_t unlisted; /* devices that the library took for listed ones */
static ze_device_handle_t no_tiles[2];
/* clang-format on */

/* Each test runs with its output captured: there must be none. */
static int open_silent(void **state) {
    int result = open_world(state);
    capture_output();
    return result;
}

static int close_silent(void **state) {
    size_t size = captured_output();
    int result;
    lie = HONEST;
    row_metrics = changing_rows = 0;
    result = close_streams(state);
    assert_int_equal(size, 0);
    return result;
}

#define SILENT(function) cmocka_unit_test_setup_teardown(function, open_silent, close_silent)

/* The library does not destroy what the device may still use: a leak is better than a crash. */
static int open_leaking(void **state) {
    int result = open_leaky_world(state);
    capture_output();
    return result;
}

static int close_leaking(void **state) {
    size_t size = captured_output();
    int result = abandon_world(state);
    assert_int_equal(size, 0);
    return result;
}

#define LEAKING(function) cmocka_unit_test_setup_teardown(function, open_leaking, close_leaking)

static int discard(const void *bytes, size_t size, void *user) {
    (void)bytes, (void)size, (void)user;
    return 0;
}

#define FILL(array)                                                                                          \
    (void)((lie == ENDLESS_TEXTS && memset(array, 'x', sizeof(array))) ||                                    \
           (lie == CONTINUED_TEXTS && memset(array, 0x80, sizeof(array) / 2)))

ze_result_t zetMetricGroupGet(zet_device_handle_t device, uint32_t *count,
                              zet_metric_group_handle_t *groups) {
    ze_result_t result = REAL(zetMetricGroupGet)(device, count, groups);
    numbered = 0;
    *count += lie == RAISED_COUNTS && groups ? 1000 : 0;
    return result;
}

ze_result_t zetMetricGroupGetProperties(zet_metric_group_handle_t group,
                                        zet_metric_group_properties_t *properties) {
    ze_result_t result = REAL(zetMetricGroupGetProperties)(group, properties);
    FILL(properties->name);
    FILL(properties->description);
    if (lie == NUMBERED_GROUPS) {
        snprintf(properties->name, sizeof properties->name, "G%u", numbered);
        properties->domain = numbered++;
        properties->samplingType = BY_EVENT | BY_TIME;
    }
    if (lie == UNDESCRIBED_CLOCK && properties->pNext) /* stype, pNext, timerResolution, timestampValidBits */
        memset((char *)properties->pNext + 2 * sizeof(void *), 0, 2 * sizeof(uint64_t));
    return result;
}

ze_result_t zetMetricGet(zet_metric_group_handle_t group, uint32_t *count, zet_metric_handle_t *metrics) {
    ze_result_t result = REAL(zetMetricGet)(group, count, metrics);
    *count += lie == RAISED_COUNTS && metrics ? 1000 : 0;
    *count = lie == NO_METRICS || (lie == LATE_NO_METRICS && metrics) ? 0 : *count;
    return result;
}

ze_result_t zetMetricGetProperties(zet_metric_handle_t metric, zet_metric_properties_t *properties) {
    ze_result_t result = REAL(zetMetricGetProperties)(metric, properties);
    FILL(properties->name);
    FILL(properties->description);
    FILL(properties->component);
    FILL(properties->resultUnits);
    if (lie == EMPTY_TEXTS)
        properties->resultUnits[0] = properties->description[0] = 0;
    if (lie == NULL_UNITS && !properties->resultUnits[0])
        strcpy(properties->resultUnits, "(null)");
    if (lie == ODD_UNITS && strcmp(properties->name, "GpuTime") == 0)
        strcpy(properties->resultUnits, "us");
    if (lie == ODD_UNITS && strcmp(properties->name, "GpuCoreClocks") == 0)
        strcpy(properties->resultUnits, "cycles per tile");
    if (lie == RATE_UNITS && strcmp(properties->name, "GpuCoreClocks") == 0)
        strcpy(properties->resultUnits, "cycles/s");
    if (lie == NO_REASONS && strcmp(properties->name, "ReportReason") == 0)
        strcpy(properties->name, "Reason");
    return result;
}

ze_result_t zeDeviceGetProperties(ze_device_handle_t device, ze_device_properties_t *properties) {
    ze_result_t result = REAL(zeDeviceGetProperties)(device, properties);
    FILL(properties->name);
    if (lie == FASTEST_CLOCK || lie == STOPPED_CLOCK)
        properties->timerResolution = lie == FASTEST_CLOCK ? UINT64_MAX : 0;
    return result;
}

ze_result_t zeDeviceGetCommandQueueGroupProperties(ze_device_handle_t device, uint32_t *count,
                                                   ze_command_queue_group_properties_t *properties) {
    ze_result_t result = REAL(zeDeviceGetCommandQueueGroupProperties)(device, count, properties);
    for (uint32_t i = 0; lie == RAISED_COUNTS && i < *count; i++)
        properties[i].flags = 0;
    *count += lie == RAISED_COUNTS ? 1000 : 0;
    return result;
}

ze_result_t zetMetricQueryGetData(zet_metric_query_handle_t query, size_t *size, uint8_t *data) {
    ze_result_t result = REAL(zetMetricQueryGetData)(query, size, data);
    if (lie == HUGE_REPORTS && !data)
        *size = SIZE_MAX / 64 + 2; /* 64 of them seem to need few bytes */
    if (lie == EMPTY_REPORTS && !data)
        *size = 0;
    if (lie == SHORT_REPORTS && data)
        *size -= 1;
    return result;
}

ze_result_t zetMetricStreamerReadData(zet_metric_streamer_handle_t streamer, uint32_t most, size_t *size,
                                      uint8_t *data) {
    static uint8_t report[1024];
    static size_t report_size;
    size_t room = *size;
    ze_result_t result = REAL(zetMetricStreamerReadData)(streamer, most, size, data);
    if (lie == RAISED_SIZES && data)
        *size = SIZE_MAX / 2;
    if (lie == HUGE_REPORTS && !data)
        *size = 1 << 20;
    if (lie == EMPTY_REPORTS && !data)
        *size = 0;
    if (lie == ENDLESS_REPORTS && !data) {
        report_size = *size;
        endless_reports = 0;
    }
    if (lie == ENDLESS_REPORTS && data && (endless_reports || *size)) {
        if (!endless_reports)
            memcpy(report, data, report_size);
        for (*size = 0; *size + report_size <= room; *size += report_size, endless_reports++)
            memcpy(data + *size, report, report_size);
        result = ZE_RESULT_SUCCESS;
    }
    return result;
}

ze_result_t zetMetricStreamerOpen(zet_context_handle_t context, zet_device_handle_t device,
                                  zet_metric_group_handle_t group, zet_metric_streamer_desc_t *desc,
                                  ze_event_handle_t event, zet_metric_streamer_handle_t *streamer) {
    ze_result_t result = REAL(zetMetricStreamerOpen)(context, device, group, desc, event, streamer);
    if (lie == NO_PERIOD)
        desc->samplingPeriod = 0;
    return result;
}

ze_result_t zeEventQueryKernelTimestamp(ze_event_handle_t event, ze_kernel_timestamp_result_t *stamp) {
    ze_result_t result = REAL(zeEventQueryKernelTimestamp)(event, stamp);
    if (lie == JUMPING_STAMPS) {
        stamp->global.kernelStart = 1;
        stamp->global.kernelEnd = 0;
    }
    return result;
}

ze_result_t zeDriverGet(uint32_t *count, ze_driver_handle_t *drivers) {
    ze_result_t result = REAL(zeDriverGet)(count, drivers);
    *count += lie == RAISED_COUNTS ? 1000 : 0;
    return result;
}

ze_result_t zeDeviceGet(ze_driver_handle_t driver, uint32_t *count, ze_device_handle_t *devices) {
    ze_result_t result = REAL(zeDeviceGet)(driver, count, devices);
    *count += lie == RAISED_COUNTS ? 1000 : 0;
    return result;
}

ze_result_t zeDeviceGetSubDevices(ze_device_handle_t device, uint32_t *count, ze_device_handle_t *tiles) {
    ze_result_t result = REAL(zeDeviceGetSubDevices)(device, count, tiles);
    unlisted += result != ZE_RESULT_SUCCESS;
    *count += lie == RAISED_COUNTS ? 1000 : 0;
    if (lie == WRONG_TILES && tiles) {
        memcpy(tiles, no_tiles, sizeof no_tiles);
        *count = 2;
        result = ZE_RESULT_ERROR_UNKNOWN;
    }
    return result;
}

ze_result_t zetMetricGroupCalculateMetricValues(zet_metric_group_handle_t group,
                                                zet_metric_group_calculation_type_t type, size_t size,
                                                const uint8_t *raw, uint32_t *count,
                                                zet_typed_value_t *values) {
    ze_result_t result = REAL(zetMetricGroupCalculateMetricValues)(group, type, size, raw, count, values);
    for (uint32_t i = 0; values && lie == UNKNOWN_VALUES && i < *count; i += 2)
        values[i].type = (zet_value_type_t)77;
    for (uint32_t i = 0; values && row_metrics && i + row_metrics <= *count; i += row_metrics) {
        int is_missing = lie == MISSING_REASONS && values[i + marker_metric].value.ui32 != last_number;
        last_number = values[i + marker_metric].value.ui32;
        if (lie == WIDE_MARKERS) {
            zet_typed_value_t *marker = &values[i + marker_metric];
            if (marker->type == ZET_VALUE_TYPE_UINT32)
                marker->value.ui64 = marker->value.ui32;
            marker->type = ZET_VALUE_TYPE_UINT64;
            marker->value.ui64 |= UINT64_C(1) << 40;
        }
        if (lie == EQUAL_REASONS || lie == MISSING_REASONS) {
            values[i + reason_metric].type = is_missing ? (zet_value_type_t)77 : ZET_VALUE_TYPE_UINT64;
            values[i + reason_metric].value.ui64 = 3;
        }
        if (lie == NO_LENGTHS) {
            values[i + length_metric].type = ZET_VALUE_TYPE_UINT64;
            values[i + length_metric].value.ui64 = 0;
        }
    }
    for (uint32_t i = 0; values && changing_rows && i + row_metrics <= *count; i += row_metrics) {
        zet_typed_value_t *busy = &values[i + busy_metric], *clocks = &values[i + clock_metric];
        busy->type = clocks->type = changing_rows % 3 ? ZET_VALUE_TYPE_UINT64 : (zet_value_type_t)77;
        busy->value.ui64 = clocks->value.ui64 = 10 + changing_rows++ % 80;
        if (changing_rows % 5 == 0)
            clocks->type = (zet_value_type_t)77;
    }
    *count -= values && lie == FEWER_VALUES;
    return result;
}

/* The library looks this up, so that replace_symbol() puts it in place of the loader's. */
static ze_result_t ZE_APICALL calculate_for_tiles(zet_metric_group_handle_t group,
                                                  zet_metric_group_calculation_type_t type, size_t size,
                                                  const uint8_t *raw, uint32_t *sets, uint32_t *total,
                                                  uint32_t *counts, zet_typed_value_t *values) {
    ze_result_t result = REAL(zetMetricGroupCalculateMultipleMetricValuesExp)(group, type, size, raw, sets,
                                                                              total, counts, values);
    if (lie == TIMELESS_TILE && result == ZE_RESULT_SUCCESS)
        values[counts[0]].value.ui64 = 0; /* GpuTime is the first */
    counts[*sets - 1] -= lie == FEWER_VALUES;
    *sets += lie == RAISED_COUNTS ? 1000 : 0;
    *sets -= lie == IDLE_TILE;
    return result;
}

/* ==== NULL in every place ================================================================================= */

static void test_null_profiler_is_inert(void **state) {
    world *w = *state;
    zt_region_info info;
    zt_stats stats;
    const char *text = NULL;
    gpu.reset_calls();
    zt_region region = zt_begin(NULL, w->immediate, "nothing");
    zt_end(&region);
    ok(zt_collect(NULL, A_WHILE));
    ok(zt_release(NULL, w->list));
    ok(zt_release(NULL, NULL));
    zt_counts counts = zt_get_info(NULL).counts;
    assert_int_equal(counts.begun + counts.collected + counts.lost + counts.dropped + counts.in_flight, 0);
    assert_int_equal(zt_get_info(NULL).causes[ZT_LOST_REPORT_ERROR].count, 0);
    assert_int_equal(zt_get_info(NULL).region_count, 0);
    assert_int_equal(zt_get_info(NULL).metric_count, 0);
    assert_null(zt_get_metric(NULL, 0));
    assert_int_equal(zt_find_metric(NULL, "GpuTime"), UINT32_MAX);
    ok(zt_get_region(NULL, 0, &info));
    assert_int_equal(info.count, 0);
    assert_int_equal(info.parent, UINT32_MAX);
    zt_region_info path;
    assert_int_equal(zt_get_info(NULL).path_count, 0);
    ok(zt_get_region(NULL, ZT_PATH(0), &path));
    assert_int_equal(path.count, 0);
    assert_int_equal(path.parent, UINT32_MAX);
    ok(zt_get_stats(NULL, 0, 0, &stats));
    assert_int_equal(stats.count, 0);
    ok(zt_get_stats(NULL, 0, ZT_LAUNCH_LATENCY, &stats));
    assert_int_equal(stats.count, 0);
    assert_int_equal(zt_get_timeline(NULL).overlap.samples, 0);
    ok(zt_report(NULL, "/nowhere/at/all.csv"));
    ok(zt_report(NULL, "-"));
    ok(zt_write(NULL, ZT_FORMAT_JSON, discard, NULL));
    text = zt_get_info(NULL).availability_text;
    assert_int_equal(zt_get_info(NULL).availability, ZT_AVAILABILITY_UNKNOWN);
    assert_non_null(text);
    zt_close(NULL);
    assert_int_equal(calls(NULL), 0);
    launch(w, w->list);
    ok(zeCommandListClose(w->list));
    execute(w, NULL, w->list);
    check_work(w);
}

static void test_null_region(void **state) {
    (void)state;
    zt_end(NULL);
}

static void test_zero_region(void **state) {
    (void)state;
    zt_region region;
    memset(&region, 0, sizeof region);
    zt_end(&region);
    zt_end(&region);
}

static void test_null_at_open(void **state) {
    world *w = *state;
    zt_profiler *profiler = (zt_profiler *)w;
    const char *text = NULL;
    assert_result(zt_open(w->context, w->device, NULL, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    text = zt_last_error(NULL);
    assert_result(last_result(), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    assert_contains(text, "zt_open");
    assert_result(zt_open(NULL, w->device, NULL, &profiler), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    assert_null(profiler);
    profiler = (zt_profiler *)w;
    assert_result(zt_open(w->context, NULL, NULL, &profiler), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    assert_null(profiler);
    text = zt_last_error(NULL);
    assert_contains(text, "zt_open");
}

static void test_null_arguments(void **state) {
    world *w = *state;
    const ze_result_t null_pointer = ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    zet_metric_group_handle_t group;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    run(w, profiler, "region");
    collect_all(profiler);
    assert_result(zt_get_region(profiler, 0, NULL), null_pointer);
    assert_result(zt_get_region(profiler, ZT_PATH(0), NULL), null_pointer);
    assert_result(zt_get_stats(profiler, 0, 0, NULL), null_pointer);
    assert_result(zt_get_stats(profiler, 0, ZT_PASS_TIME(0), NULL), null_pointer);
    assert_result(zt_get_stats(profiler, 0, 7777, NULL), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_result(zt_get_stats(profiler, 0, ZT_PASS_TIME(7777), NULL), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_result(zt_get_stats(profiler, 0, ZT_TILE(7777, 0), NULL), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_result(zt_get_stats(profiler, 0, ZT_TILE(0, 7777), NULL), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_result(zt_get_stats(profiler, 0, ZT_QUEUE_LATENCY, NULL), null_pointer);
    assert_result(zt_report(profiler, NULL), null_pointer);
    assert_result(zt_write(profiler, ZT_FORMAT_CSV, NULL, NULL), null_pointer);
    assert_int_equal(zt_find_metric(profiler, NULL), UINT32_MAX);
    assert_int_equal(zt_get_info(profiler).availability, ZT_AVAILABLE);
    assert_result(
        zt_find_group(NULL, "ComputeBasic", ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED, &group),
        ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    assert_result(zt_find_group(w->device, NULL, ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED, &group),
                  null_pointer);
    assert_result(
        zt_find_group(w->device, "ComputeBasic", ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED, NULL),
        null_pointer);
    assert_result(zt_write_groups(w->device, 0, NULL, NULL), null_pointer);
    assert_result(zt_write_groups(NULL, 0, discard, NULL), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    check_work(w);
}

static void test_null_list(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    zt_region region = zt_begin(profiler, NULL, "nowhere");
    zt_end(&region);
    check_identity(profiler);
    zt_counts counts = zt_get_info(profiler).counts;
    assert_int_equal(counts.in_flight, 0);
    assert_int_equal(counts.dropped, counts.begun);
    zt_release(profiler, NULL);
    check_identity(profiler);
}

static void test_null_at_execute(void **state) {
    world *w = *state;
    ze_command_list_handle_t none = NULL;
    if (loader_wraps_handles())
        skip(); /* the loader itself dereferences the lists */
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    assert_true(zt_execute(profiler, NULL, 1, &w->list, NULL) != ZE_RESULT_SUCCESS);
    assert_true(zt_execute(profiler, w->queue, 1, NULL, NULL) != ZE_RESULT_SUCCESS);
    assert_true(zt_execute(profiler, w->queue, 0, &w->list, NULL) != ZE_RESULT_SUCCESS);
    assert_true(zt_execute(profiler, w->queue, 1, &none, NULL) != ZE_RESULT_SUCCESS);
    assert_counts(profiler, counted(0, 0, 0, 0, 0));
}

static void test_indices_out_of_range(void **state) {
    world *w = *state;
    zt_region_info info;
    zt_stats stats;
    zt_region_info path;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    assert_result(zt_get_region(profiler, 0, &info), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_result(zt_get_region(profiler, ZT_PATH(0), &path), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    run(w, profiler, "region");
    collect_all(profiler);
    assert_result(zt_get_region(profiler, 1, &info), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_result(zt_get_region(profiler, UINT32_MAX, &info), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_result(zt_get_stats(profiler, 1, 0, &stats), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_result(zt_get_stats(profiler, 1, ZT_QUEUE_LATENCY, &stats), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_result(zt_get_stats(profiler, 0, ZT_LAUNCH_LATENCY + 1, &stats), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_contains(zt_get_info(profiler).error, "metric_count of zt_get_info()");
    assert_result(zt_get_stats(profiler, 0, zt_get_info(profiler).metric_count, &stats),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_null(zt_get_metric(profiler, UINT32_MAX));
    assert_true(zt_write(profiler, (zt_format)77, discard, NULL) != ZE_RESULT_SUCCESS);
    check_work(w);
}

/* If there are no values to fill in, counts are 0 and figures NaN. */
static void check_empty(zt_profiler *profiler, ze_result_t expected) {
    zt_stats stats;
    zt_stats streamed;
    zt_call_info call;
    memset(&stats, 0x55, sizeof stats);
    assert_result(zt_get_stats(profiler, 7, 0, &stats), expected);
    assert_true(stats.count == 0 && isnan(stats.sum) && isnan(stats.p95));
    memset(&stats, 0x55, sizeof stats);
    assert_result(zt_get_stats(profiler, 7, ZT_PASS_TIME(0), &stats), expected);
    assert_true(stats.count == 0 && isnan(stats.sum) && isnan(stats.p95));
    memset(&stats, 0x55, sizeof stats);
    assert_result(zt_get_stats(profiler, 0, ZT_TILE(7, 0), &stats), expected);
    assert_true(stats.count == 0 && isnan(stats.sum) && isnan(stats.p95));
    memset(&streamed, 0x55, sizeof streamed);
    assert_result(zt_get_stats(profiler, 0, ZT_STREAMED(7), &streamed), expected);
    assert_true(streamed.count == 0 && isnan(streamed.mean) && isnan(streamed.max));
    memset(&call, 0x55, sizeof call);
    assert_result(zt_get_call(profiler, 7, &call), expected);
    assert_true(call.count == 0 && call.errors == 0 && call.time_ns.count == 0 && isnan(call.time_ns.sum));
    assert_string_equal(call.name, "");
}

static void test_nothing_to_fill_in(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    run(w, profiler, "region");
    collect_all(profiler);
    check_empty(NULL, ZE_RESULT_SUCCESS);
    check_empty(profiler, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    check_work(w);
}

/* A message about an index names the function that returns the count. */
static void test_indices_and_their_counts(void **state) {
    world *w = *state;
    zt_region_info path;
    zt_stats stats;
    zt_stats streamed;
    zt_call_info call;
    zt_hotspot_info hotspot;
    const char *text;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    run(w, profiler, "region");
    collect_all(profiler);
    zt_get_stats(profiler, 7, 0, &stats);
    text = zt_get_info(profiler).error;
    assert_contains(text, "[BAD_INDEX] zt_get_stats: ");
    assert_contains(text, "region_count of zt_get_info()");
    zt_get_stats(profiler, zt_find_path(profiler, "no region"), 0, &stats);
    text = zt_get_info(profiler).error;
    assert_contains(text, "[NO_INDEX] zt_get_stats: the index is UINT32_MAX");
    zt_get_region(profiler, ZT_PATH(700), &path);
    zt_get_stats(profiler, 0, zt_find_metric(profiler, "no metric"), &stats);
    text = zt_get_info(profiler).error;
    assert_contains(text, "[NO_INDEX] zt_get_stats: the index is UINT32_MAX");
    zt_get_region(profiler, ZT_PATH(700), &path);
    text = zt_get_info(profiler).error;
    assert_contains(text, "path_count of zt_get_info()");
    zt_get_stats(profiler, 0, 700, &stats);
    text = zt_get_info(profiler).error;
    assert_contains(text, "700");
    assert_contains(text, "metric_count of zt_get_info()");
    zt_get_stats(profiler, 0, ZT_PASS_TIME(7), &stats);
    text = zt_get_info(profiler).error;
    assert_contains(text, "pass_count of zt_get_info()");
    zt_get_stats(profiler, 0, ZT_TILE(7, 0), &stats);
    text = zt_get_info(profiler).error;
    assert_contains(text, "tile_count of zt_get_info()");
    zt_get_stats(profiler, 0, ZT_STREAMED(7), &streamed);
    text = zt_get_info(profiler).error;
    assert_contains(text, "index 7 is too high");
    assert_contains(text, "streamed_count of zt_get_info()");
    zt_get_call(profiler, 7, &call);
    text = zt_get_info(profiler).error;
    assert_contains(text, "call_count of zt_get_info()");
    zt_get_hotspot(profiler, 7, &hotspot);
    text = zt_get_info(profiler).error;
    assert_contains(text, "hotspot_count of zt_get_info()");
    check_work(w);
}

/* ==== names =============================================================================================== */

static void test_name_of_ten_thousand_characters(void **state) {
    world *w = *state;
    char *name = (char *)malloc(10001), *other = (char *)malloc(10001);
    assert_true(name && other);
    memset(name, 'n', 10000);
    name[10000] = 0;
    memcpy(other, name, 10001);
    other[9999] = 'm';
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    run(w, profiler, name);
    run(w, profiler, other);
    run(w, profiler, name);
    collect_all(profiler);
    assert_int_equal(zt_get_info(profiler).region_count, 2);
    assert_int_equal(region_info(profiler, name).count, 2);
    assert_int_equal(region_info(profiler, other).count, 1);
    free(name);
    free(other);
    check_work(w);
}

static void test_empty_names(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    run(w, profiler, "");
    run(w, profiler, NULL);
    collect_all(profiler);
    assert_int_equal(zt_get_info(profiler).region_count, 1);
    assert_int_equal(region_info(profiler, "(unnamed)").count, 2);
    check_work(w);
}

static void test_names_are_kept_as_they_are(void **state) {
    world *w = *state;
    const char *names[] = {"\"quoted\"",    "a,b",    "two\nlines",         "\xff\xfe\x80",
                           "\r\n\t\\",      "%s%n%d", "a\xF4\x90\x80\x80z", "b\xF1\x80\x80\x80z",
                           "c\xED\xA0\x80z"};
    enum { NAMES = sizeof names / sizeof names[0] };
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    for (int i = 0; i < NAMES; i++)
        run(w, profiler, names[i]);
    collect_all(profiler);
    /* What is no character is replaced in tables: above U+10FFFF, and a half of a pair of UTF-16. */
    assert_contains(written_report(profiler, ZT_FORMAT_TABLE),
                    "\na\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDz ");
    assert_contains(written_report(profiler, ZT_FORMAT_TABLE), "\nb\xF1\x80\x80\x80z ");
    assert_contains(written_report(profiler, ZT_FORMAT_TABLE), "\nc\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDz ");
    for (uint32_t i = 0; i < NAMES; i++) {
        zt_region_info info;
        ok(zt_get_region(profiler, i, &info));
        assert_string_equal(info.name, names[i]);
    }
    check_work(w);
}

/* Names with a counter in them: beyond 65,536 they are dropped, which is logged once. */
static void test_too_many_names(void **state) {
    const uint32_t most = 65536;
    world *w = *state;
    char name[16];
    zt_config config = config_of(w);
    config.groups = "";
    config.probes_per_step = config.max_probes = 1;
    zt_profiler *profiler = open_profiler(w, &config);
    zt_region held = zt_begin(profiler, w->immediate, "0"); /* has the only probe */
    for (uint32_t i = 1; i < most + 10; i++) {
        snprintf(name, sizeof name, "%u", i);
        zt_region region = zt_begin(profiler, w->immediate, name);
        zt_end(&region);
    }
    zt_end(&held);
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    assert_int_equal(zt_get_info(profiler).region_count, most);
    /* One of the names is "(other)", for those on more paths than there are statistics of. */
    assert_int_equal(zt_get_info(profiler).causes[ZT_DROPPED_TOO_MANY_NAMES].count, 10 + 1);
    assert_int_equal(zt_get_info(profiler).causes[ZT_DROPPED_NO_PROBE].count, most - 1 - 1);
    assert_counts(profiler, counted(most + 10, 1, 0, most + 9, 0));
    assert_int_equal(heard(w, "65536"), 1);
    assert_result(zt_set_operations(profiler, "one more", 1), ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    assert_contains(zt_get_info(profiler).error, "zt_set_operations: more than 65536 names of regions.");
    ok(zt_set_operations(profiler, "1", 1));
    assert_int_equal(zt_get_info(profiler).region_count, most);
}

/* ==== groups ============================================================================================== */

static void test_malformed_group_lists(void **state) {
    world *w = *state;
    const char *lists[] = {",",
                           ",,,",
                           "ComputeBasic,",
                           ",ComputeBasic",
                           "ComputeBasic,,HostScheduler",
                           " ComputeBasic ",
                           "ComputeBasic,ComputeBasic",
                           "\xff",
                           "%s%s%n",
                           "a,b,c,d,e,f,g,h,i,j"};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        const char *text = NULL;
        zt_config config = config_of(w);
        config.groups = lists[i];
        zt_profiler *profiler = open_profiler(w, &config);
        text = zt_get_info(profiler).availability_text;
        assert_non_null(text);
        run(w, profiler, "region");
        collect_all(profiler);
        assert_counts(profiler, counted(1, 1, 0, 0, 0));
        close_profiler(w, profiler);
    }
    check_work(w);
}

static void test_group_name_of_ten_thousand_characters(void **state) {
    world *w = *state;
    static char name[10001];
    memset(name, 'n', 10000);
    zt_config config = config_of(w);
    config.groups = name;
    zt_profiler *profiler = open_profiler(w, &config);
    assert_int_equal(zt_get_info(profiler).availability, ZT_NO_SUCH_GROUP);
    assert_int_equal(zt_find_metric(profiler, name), UINT32_MAX);
    close_profiler(w, profiler);
    setenv("ZT_GROUPS", name, 1);
    profiler = open_profiler(w, NULL);
    assert_int_equal(zt_get_info(profiler).availability, ZT_NO_SUCH_GROUP);
}

static void test_extreme_configuration(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.probes_per_step = 1;
    config.max_probes = 1;
    config.samples = 1;
    zt_profiler *profiler = open_profiler(w, &config);
    for (int i = 0; i < 5; i++) {
        run(w, profiler, "one");
        collect_all(profiler);
    }
    assert_counts(profiler, counted(5, 5, 0, 0, 0));
    close_profiler(w, profiler);
    config.probes_per_step = 1000;
    config.max_probes = 3;
    profiler = open_profiler(w, &config);
    for (int i = 0; i < 5; i++)
        append(w, profiler, w->list, "few");
    assert_counts(profiler, counted(2 + maybe_running(3), 0, 0, 2, maybe_running(3)));
    ok(zt_release(profiler, w->list));
    close_profiler(w, profiler);
    config.samples = UINT32_MAX;
    config.max_probes = config.probes_per_step = 0; /* the defaults */
    profiler = open_profiler(w, &config);
    for (int i = 0; i < 5; i++)
        run(w, profiler, "many");
    collect_all(profiler);
    assert_counts(profiler, counted(5, 5, 0, 0, 0));
    zt_stats stats = region_info(profiler, "many").time_ns;
    assert_true(stats.min <= stats.median && stats.median <= stats.p95 && stats.p95 <= stats.max);
    check_work(w);
}

/* Without the calls that find the driver of a device, its version is not known. */
static void test_unknown_driver(void **state) {
    static const char *const functions[] = {"zeDeviceGet", "zeDriverGetProperties"};
    world *w = *state;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        inject(functions[i], 1, ZE_RESULT_ERROR_UNKNOWN);
        zt_profiler *profiler = open_groups(w, "ComputeBasic");
        inject(functions[i], 0, ZE_RESULT_SUCCESS);
        run(w, profiler, "region");
        collect_all(profiler);
        assert_null(strstr(written_report(profiler, ZT_FORMAT_TABLE), "river 0."));
        assert_int_equal(region_info(profiler, "region").count, 1);
        close_profiler(w, profiler);
    }
    check_work(w);
}

/* ==== regions ============================================================================================= */

static void test_region_closed_twice(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    gpu.reset_calls();
    zt_region region = zt_begin(profiler, w->immediate, "twice");
    zt_region copy = region;
    launch(w, w->immediate);
    zt_end(&region);
    zt_end(&region);
    zt_end(&copy);
    assert_int_equal(calls("zetCommandListAppendMetricQueryEnd"), 1);
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    run(w, profiler, "next"); /* may have the same probe */
    zt_end(&copy);
    zt_end(&region);
    collect_all(profiler);
    assert_counts(profiler, counted(2, 2, 0, 0, 0));
    check_work(w);
}

/* The probe is another region's now, which an old copy must not end. */
static void test_old_copy_does_not_end_another(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.probes_per_step = config.max_probes = 1;
    zt_profiler *profiler = open_profiler(w, &config);
    gpu.reset_calls();
    zt_region old = zt_begin(profiler, w->immediate, "old");
    zt_region copy = old;
    zt_end(&old);
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    zt_region now = zt_begin(profiler, w->immediate, "now");
    zt_end(&copy);
    assert_int_equal(calls("zetCommandListAppendMetricQueryEnd"), 1);
    launch(w, w->immediate);
    zt_end(&now);
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    assert_true(stats_of(profiler, "now", "GPGPU_THREADGROUP_COUNT").sum == WORK_GROUPS);
    check_work(w);
}

/* Named below the table. Collecting does not wait for it, and it is not counted, until the list is released. */
static void test_region_never_closed(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    zt_region open = zt_begin(profiler, w->immediate, "left open");
    launch(w, w->immediate);
    finish_immediate(w, w->immediate);
    run(w, profiler, "closed");
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    assert_int_equal(w->message_count, 0);
    assert_contains(written_report(profiler, ZT_FORMAT_TABLE),
                    "1 sample is not ended, such as 'left open'. Call");
    ok(zt_release(profiler, w->immediate));
    ok(zt_collect(profiler, 0));
    assert_counts(profiler, counted(2, 1, 0, 1, 0));
    assert_int_equal(zt_get_info(profiler).causes[ZT_DROPPED_NOT_CLOSED].count, 1);
    zt_end(&open);
    assert_counts(profiler, counted(2, 1, 0, 1, 0));
    check_work(w);
}

/* A region that is ended late is measured like any other. */
static void test_region_closed_late(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    zt_region open = zt_begin(profiler, w->immediate, "late");
    launch(w, w->immediate);
    ok(zt_collect(profiler, 1000000));
    assert_counts(profiler, counted(0, 0, 0, 0, 0));
    zt_end(&open);
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    check_work(w);
}

static void test_region_never_closed_on_a_list_that_is_released(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    zt_region open = zt_begin(profiler, w->list, "left open");
    launch(w, w->list);
    ok(zeCommandListClose(w->list));
    execute(w, profiler, w->list);
    ok(zt_release(profiler, w->list));
    ok(zt_collect(profiler, 0));
    assert_int_equal(zt_get_info(profiler).counts.in_flight, 0);
    check_identity(profiler);
    zt_end(&open);
    reset_list(w->list);
    check_identity(profiler);
    check_work(w);
}

static void *end_region(void *argument) {
    zt_end((zt_region *)argument);
    return NULL;
}

static void test_region_closed_on_another_thread(void **state) {
    world *w = *state;
    pthread_t thread;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    zt_region region = zt_begin(profiler, w->immediate, "handed over");
    launch(w, w->immediate);
    assert_int_equal(pthread_create(&thread, NULL, end_region, &region), 0);
    pthread_join(thread, NULL);
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    assert_true(stats_of(profiler, "handed over", "GPGPU_THREADGROUP_COUNT").sum == WORK_GROUPS);
    check_work(w);
}

/* Two threads end one region: it ends once. */
static void test_region_closed_by_two_threads_at_once(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    gpu.reset_calls();
    for (int i = 0; i < 50; i++) {
        pthread_t thread;
        zt_region region = zt_begin(profiler, w->immediate, "contested"), copy = region;
        launch(w, w->immediate);
        assert_int_equal(pthread_create(&thread, NULL, end_region, &copy), 0);
        zt_end(&region);
        pthread_join(thread, NULL);
    }
    assert_int_equal(calls("zetCommandListAppendMetricQueryEnd"), 50);
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    assert_counts(profiler, counted(50, 50, 0, 0, 0));
    check_work(w);
}

/* The list of an open region is executed. */
static void test_list_executed_with_an_open_region(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    zt_region region = zt_begin(profiler, w->list, "open");
    launch(w, w->list);
    ok(zeCommandListClose(w->list));
    execute(w, profiler, w->list);
    zt_end(&region); /* the list is closed: the driver refuses */
    check_identity(profiler);
    zt_collect(profiler, 1000000);
    check_identity(profiler);
    ok(zt_release(profiler, w->list));
    ok(zt_collect(profiler, 0));
    assert_int_equal(zt_get_info(profiler).counts.in_flight, 0);
    assert_int_equal(zt_get_info(profiler).counts.collected, 0);
    check_identity(profiler);
    check_work(w);
}

static void test_region_on_a_closed_list(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    launch(w, w->list);
    ok(zeCommandListClose(w->list));
    zt_region region = zt_begin(profiler, w->list, "too late");
    zt_end(&region);
    assert_counts(profiler, counted(1, 0, 0, 1, 0));
    assert_int_equal(zt_get_info(profiler).causes[ZT_DROPPED_APPEND_FAILED].count, 1);
    assert_int_equal(heard(w, "zetCommandListAppendMetricQueryBegin"), 1);
    execute(w, profiler, w->list);
    check_work(w);
}

/* ==== functions of the application that call back ======================================================== */

typedef struct caller {
    zt_profiler *profiler;
    ze_command_list_handle_t list;
    int called;
} caller;

static void call_back(int result, const char *text, void *user) {
    caller *me = (caller *)user;
    zt_region region;
    (void)result, (void)text;
    me->called++;
    zt_get_info(me->profiler);
    zt_last_error(NULL);
    zt_collect(me->profiler, 0);
    region = zt_begin(me->profiler, me->list, "from the log function");
    zt_end(&region);
}

/* No mutex is held while the log function runs, wherever the message comes from. */
static void test_log_function_may_use_the_library(void **state) {
    world *w = *state;
    caller me = {NULL, w->immediate, 0};
    zt_config config = config_of(w);
    config.log = call_back;
    config.log_user = &me;
    me.profiler = open_profiler(w, &config);
    gpu.behave(SOFTGPU_REPORT_LOST, 2);
    for (int i = 0; i < 4; i++)
        run(w, me.profiler, "some");
    zt_collect(me.profiler, A_WHILE);
    inject("zetMetricQueryGetData", 1, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    run(w, me.profiler, "some");
    zt_collect(me.profiler, A_WHILE);
    inject("zetCommandListAppendMetricQueryBegin", 1, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    run(w, me.profiler, "some");
    gpu.behave(SOFTGPU_REPORT_LOST, 0);
    finish_immediate(w, w->immediate);
    collect_all(me.profiler);
    assert_true(me.called >= 2);
    assert_int_equal(zt_get_info(me.profiler).counts.in_flight, 0);
    check_work(w);
}

/* ==== closing ============================================================================================= */

static void test_profiler_closed_with_regions_in_flight(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    for (int i = 0; i < 20; i++) {
        append(w, profiler, w->immediate, "in flight");
        w->launches++;
    }
    if (can_tell_immediate()) /* else it may be an immediate list that is still running */
        append(w, profiler, w->list, "never executed");
    close_profiler(w, profiler);
    assert_int_equal(w->message_count, 0);
    check_work(w);
}

/* Closing does not wait and reports nothing: the lists can be reset and destroyed afterwards. */
static void test_profiler_closed_with_a_recording_that_never_ran(void **state) {
    world *w = *state;
    for (int ran = 0; ran < 2; ran++) {
        zt_config config = config_of(w);
        config.groups = "ComputeBasic";
        config.wait_timeout_ns = 10 * A_WHILE;
        zt_profiler *profiler = NULL;
        if (zt_open(w->context, w->device, &config, &profiler) != ZE_RESULT_SUCCESS)
            fail_msg("%s", zt_last_error(NULL));
        if (ran)
            run(w, profiler, "ran");
        append(w, profiler, w->list, "never");
        append(w, profiler, w->list, "never");
        ok(zeCommandListClose(w->list));
        close_in_time(w, profiler);
        assert_int_equal(w->message_count, 0);
        reset_list(w->list);
    }
    check_work(w);
}

/* The second call finds no such profiler. */
static void test_profiler_closed_twice(void **state) {
    world *w = *state;
    zt_profiler *first = open_groups(w, "ComputeBasic"), *second;
    run(w, first, "region");
    close_profiler(w, first);
    gpu.reset_calls();
    zt_close(first);
    zt_close(first);
    assert_int_equal(calls(NULL), 0);
    second = open_groups(w, "ComputeBasic");
    run(w, second, "region");
    collect_all(second);
    assert_counts(second, counted(1, 1, 0, 0, 0));
    check_work(w);
}

/* ==== messages of several threads ========================================================================= */

static void *fail_often(void *argument) {
    zt_profiler *profiler = (zt_profiler *)argument;
    zt_stats stats;
    for (uint32_t i = 0; i < 200; i++) {
        zt_get_stats(profiler, 1000 * i + 7, 0, &stats);
        zt_get_stats(profiler, 0, ZT_PASS_TIME(i + 7), &stats);
        if (strlen(zt_get_info(profiler).error) == 0)
            return profiler;
    }
    return NULL;
}

/* The text is this thread's own copy, until this thread calls the library again. */
static void test_text_of_an_error_stays(void **state) {
    world *w = *state;
    zt_stats stats;
    char kept[1024];
    pthread_t threads[2];
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    run(w, profiler, "region");
    collect_all(profiler);
    zt_get_stats(profiler, 123456, 0, &stats);
    const char *text = zt_get_info(profiler).error;
    assert_contains(text, "123456");
    snprintf(kept, sizeof kept, "%s", text);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, fail_often, profiler), 0);
    int changed = 0;
    for (int i = 0; i < 1000; i++)
        changed += strcmp(text, kept) != 0;
    for (int i = 0; i < 2; i++)
        join_in_time(w, threads[i]);
    assert_int_equal(changed, 0);
    assert_string_equal(text, kept);
    zt_get_stats(profiler, 0, 700, &stats);
    assert_contains(zt_get_info(profiler).error, "700");
    assert_result(last_result(), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    check_work(w);
}

static void test_profiler_closed_with_an_open_region(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    zt_region open = zt_begin(profiler, w->immediate, "open");
    launch(w, w->immediate);
    close_profiler(w, profiler);
    assert_int_equal(heard(w, "'open'"), 1);
    zt_end(&open);
    zt_end(&open);
    check_work(w);
    assert_int_equal(gpu.findings(), 0);
}

/* The device hangs. Closing ends in time, and destroys nothing that the device still uses. */
static void test_profiler_closed_while_the_device_is_stuck(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_with_timeout(w, 100000000);
    ze_event_handle_t gate = append_gate(w, w->immediate);
    append(w, profiler, w->immediate, "stuck");
    w->launches++;
    close_profiler(w, profiler);
    /* where the loader cannot tell the list's kind, it may be a recorded one that never ran */
    assert_int_equal(heard(w, "wait_timeout_ns"), can_tell_immediate() ? 1 : 0);
    ok(zeEventHostSignal(gate));
    check_work(w);
    assert_int_equal(gpu.findings(), 0);
    ok(zeEventDestroy(gate));
}

/* Timeouts are in nanoseconds. Who takes them for milliseconds is told how short they were. */
static void test_timeout_in_other_units(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    ze_event_handle_t gate = append_gate(w, w->list);
    append(w, profiler, w->list, "held");
    ok(zeCommandListClose(w->list));
    ok(zt_execute(profiler, w->queue, 1, &w->list, NULL));
    w->launches++;
    ok(zt_collect(profiler, 0));
    assert_string_equal(zt_get_info(profiler).error, "");
    assert_result(zt_collect(profiler, 1000), ZE_RESULT_NOT_READY);
    assert_contains(zt_get_info(profiler).error, "timeout of 1000 ns");
    assert_result(zt_collect(profiler, 2000), ZE_RESULT_NOT_READY);
    assert_contains(zt_get_info(profiler).error, "timeout of 2000 ns");
    assert_int_equal(w->message_count, 1);
    ok(zeEventHostSignal(gate));
    check_work(w);
    ok(zeEventDestroy(gate));
}

/* The message names the cause, and not only the result of the call. */
static void test_context_destroyed_before_its_profiler(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.probes_per_step = 1;
    zt_profiler *profiler = open_profiler(w, &config);
    inject("zeEventPoolCreate", 1,
           ZE_RESULT_ERROR_INVALID_NULL_HANDLE); /* as if the context were destroyed */
    for (int i = 0; i < 3; i++)
        append(w, profiler, w->list, "region");
    ok(zeCommandListClose(w->list));
    execute(w, profiler, w->list);
    w->launches += 3;
    assert_int_equal(
        heard(w, "ZE_RESULT_ERROR_INVALID_NULL_HANDLE. A context, device or list was destroyed before "
                 "the profiler"),
        1);
    check_work(w);
}

/* Each failure is logged, although several are of one kind. What differs in numbers alone is the same, and no more
   than eight of a kind are logged. */
static void test_each_message_is_logged(void **state) {
    world *w = *state;
    zt_region_info info;
    char name[] = "Foo?";
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    for (int i = 0; i < 2; i++) {
        assert_result(zt_report(profiler, "/nonexistent/a.csv"), ZE_RESULT_ERROR_UNKNOWN);
        assert_result(zt_report(profiler, "/nonexistent/b.json"), ZE_RESULT_ERROR_UNKNOWN);
        assert_int_equal(zt_find_metric(profiler, "GpuTimeX"), UINT32_MAX);
        assert_int_equal(zt_find_metric(profiler, "Foo"), UINT32_MAX);
        assert_int_equal(w->message_count, 4);
    }
    for (uint32_t i = 0; i < 20; i++) {
        assert_result(zt_get_region(profiler, 100 + i, &info), ZE_RESULT_ERROR_INVALID_ARGUMENT);
        name[3] = (char)('a' + i);
        assert_int_equal(zt_find_metric(profiler, name), UINT32_MAX);
        assert_contains(zt_get_info(profiler).error, name);
    }
    assert_int_equal(heard(w, "[BAD_INDEX]"), 1);
    assert_int_equal(heard(w, "[NO_SUCH_METRIC]"), 8);
}

static void test_too_many_profilers(void **state) {
    enum { TRIED = 300 };
    world *w = *state;
    const char *text = NULL;
    zt_profiler *opened[TRIED];
    uint32_t count = 0;
    zt_config config = config_of(w);
    config.groups = "";
    config.probes_per_step = config.max_probes = 1;
    while (count < TRIED && zt_open(w->context, w->device, &config, &opened[count]) == ZE_RESULT_SUCCESS)
        count++;
    assert_int_equal(count, 256);
    assert_null(opened[count]);
    text = zt_last_error(NULL);
    assert_contains(text, "256");
    while (count > 0)
        zt_close(opened[--count]);
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    run(w, profiler, "after all");
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    check_work(w);
}

/* An open region of a closed profiler is not mistaken for one of the next profiler. */
static void test_region_of_a_closed_profiler(void **state) {
    world *w = *state;
    zt_profiler *first = open_groups(w, "ComputeBasic");
    zt_region old = zt_begin(first, w->immediate, "old");
    close_profiler(w, first);
    zt_profiler *second = open_groups(w, "ComputeBasic");
    zt_region now = zt_begin(second, w->immediate, "now");
    gpu.reset_calls();
    zt_end(&old);
    assert_int_equal(calls("zetCommandListAppendMetricQueryEnd"), 0);
    launch(w, w->immediate);
    zt_end(&now);
    finish_immediate(w, w->immediate);
    collect_all(second);
    assert_counts(second, counted(1, 1, 0, 0, 0));
    check_work(w);
    assert_int_equal(gpu.findings(), 0);
}

static void test_list_destroyed_before_its_regions_were_collected(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    for (int i = 0; i < 5; i++) {
        ze_command_list_handle_t list;
        create_list(w, &list);
        append(w, profiler, list, "orphan");
        ok(zeCommandListClose(list));
        execute(w, profiler, list);
        w->launches++;
        ok(zeCommandListDestroy(list));
        check_identity(profiler);
    }
    ok(zt_collect(profiler, A_WHILE));
    check_identity(profiler);
    assert_int_equal(region_info(profiler, "orphan").count, 5);
    run(w, profiler, "then");
    collect_all(profiler);
    assert_int_equal(region_info(profiler, "then").count, 1);
    check_work(w);
}

static void test_immediate_list_destroyed_before_its_regions_were_collected(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    ze_command_list_handle_t list;
    create_immediate(w, &list);
    append(w, profiler, list, "orphan");
    w->launches++;
    finish_immediate(w, list);
    ok(zeCommandListDestroy(list));
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    check_work(w);
}

static void test_list_destroyed_that_never_ran(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    ze_command_list_handle_t list;
    create_list(w, &list);
    append(w, profiler, list, "never");
    ok(zeCommandListDestroy(list));
    zt_collect(profiler, 1000000);
    check_identity(profiler);
    ok(zt_release(profiler, list)); /* late; but the handle is only compared */
    ok(zt_collect(profiler, 0));
    assert_counts(profiler, counted(0, 0, 0, 0, 0));
    check_work(w);
}

/* ==== a driver that lies ================================================================================== */

static int see_no_row(const zt_row *row, void *user) {
    (void)row, (void)user;
    return 0;
}

/* Everything that reads what the driver lies about. Regions are collected, lost or dropped. */
static void profile_with_lie(world *w, enum lie told, const char *groups) {
    zt_config config = config_of(w);
    zt_stream_config stream_config = {0};
    zt_stream *stream = NULL;
    config.groups = groups;
    config.timeline = 16;
    stream_config.group = "ComputeBasic";
    lie = told;
    zt_write_groups(w->device, 1, discard, NULL);
    zt_profiler *profiler = open_profiler(w, &config);
    for (int i = 0; i < 3; i++) {
        run(w, profiler, "region");
        zt_collect(profiler, 0);
    }
    if (zt_stream_open(w->context, w->device, &stream_config, &stream) == ZE_RESULT_SUCCESS) {
        run(w, profiler, "streamed");
        zt_stream_read(stream, 0, see_no_row, NULL);
        zt_stream_close(stream, see_no_row, NULL, NULL);
    }
    zt_collect(profiler, 100000000);
    check_identity(profiler);
    assert_contains(written_report(profiler, ZT_FORMAT_TABLE), "region");
    close_profiler(w, profiler);
    lie = HONEST;
    check_work(w);
}

static void test_texts_of_a_driver_without_an_end(void **state) {
    world *w = *state;
    char name[ZET_MAX_METRIC_NAME];
    profile_with_lie(w, ENDLESS_TEXTS, NULL);
    lie = ENDLESS_TEXTS;
    zt_profiler *profiler = open_profiler(w, NULL);
    assert_int_equal(zt_get_info(profiler).availability, ZT_AVAILABLE);
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = 0;
    assert_string_equal(zt_get_metric(profiler, 0)->name, name);
    lie = HONEST;
}

static void test_texts_of_a_driver_that_are_no_utf8(void **state) {
    world *w = *state;
    profile_with_lie(w, CONTINUED_TEXTS, NULL);
    zt_config config = config_of(w);
    char name[ZET_MAX_METRIC_NAME / 2 + 1] = "";
    memset(name, 0x80, sizeof name - 1);
    config.columns = name;
    lie = CONTINUED_TEXTS;
    zt_profiler *profiler = open_profiler(w, &config);
    run(w, profiler, "region");
    collect_all(profiler);
    assert_contains(written_report(profiler, ZT_FORMAT_TABLE), "region ");
    assert_contains(written_report(profiler, ZT_FORMAT_TABLE), "...\nregion ");
    lie = HONEST;
}

static void test_groups_without_metrics(void **state) {
    world *w = *state;
    const enum lie told[] = {NO_METRICS, LATE_NO_METRICS};
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        profile_with_lie(w, told[i], "ComputeBasic");
        lie = told[i];
        zt_profiler *profiler = open_profiler(w, NULL);
        assert_int_equal(zt_get_info(profiler).availability, ZT_NOT_SUPPORTED);
        assert_contains(zt_get_info(profiler).availability_text,
                        "zetMetricGet failed: ZE_RESULT_ERROR_UNKNOWN");
        close_profiler(w, profiler);
        lie = HONEST;
    }
}

/* Of a unit that is no unit, there is none. What is per something else does not add up. */
static void test_odd_units(void **state) {
    static const struct {
        enum lie told;
        const char *metric, *units;
        zt_aggregation aggregation;
    } cases[] = {
        {HONEST, "WORK_ITEMS_PER_GROUP", "", ZT_AGGREGATE_MEAN},
        {NULL_UNITS, "WORK_ITEMS_PER_GROUP", "", ZT_AGGREGATE_MEAN},
        {HONEST, "GpuCoreClocks", "cycles", ZT_AGGREGATE_SUM},
        {ODD_UNITS, "GpuCoreClocks", "cycles per tile", ZT_AGGREGATE_MEAN},
        {RATE_UNITS, "GpuCoreClocks", "cycles/s", ZT_AGGREGATE_MEAN},
    };
    world *w = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        lie = cases[i].told;
        zt_profiler *profiler = open_groups(w, "ComputeBasic");
        const zt_metric *metric = zt_get_metric(profiler, zt_find_metric(profiler, cases[i].metric));
        assert_string_equal(metric->units, cases[i].units);
        assert_int_equal(metric->aggregation, cases[i].aggregation);
        close_profiler(w, profiler);
    }
    lie = HONEST;
}

/* If GpuTime is not in nanoseconds, the time of a region is that of its time stamps. */
static void test_time_in_another_unit(void **state) {
    world *w = *state;
    lie = ODD_UNITS;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    run_at_least(w, profiler, "region", 1e6);
    collect_all(profiler);
    double time = region_info(profiler, "region").time_ns.sum;
    double driver_time = stats_of(profiler, "region", "GpuTime").sum;
    assert_true(time >= 1e6 && time < 1e12 && driver_time >= 1e6);
    assert_true(time != driver_time);
    lie = HONEST;
    check_work(w);
}

/* Twice as many groups as a profiler has room for. */
static void test_many_groups(void **state) {
    world *w = *state;
    char groups[256] = "G0";
    static kept_text text;
    zt_config config = config_of(w);
    gpu.behave(SOFTGPU_MANY_SETS, 1);
    gpu.behave(SOFTGPU_LAST_OF_DOMAIN_WINS, 1);
    lie = NUMBERED_GROUPS;
    ok(zt_write_groups(w->device, 0, keep_text, &text));
    assert_contains(text.bytes, "    33  event+time ");
    for (int i = 1; i < 33; i++)
        snprintf(groups + strlen(groups), sizeof groups - strlen(groups), ",G%d", i);
    config.groups = groups;
    config.max_passes = 16;
    zt_profiler *profiler = open_profiler(w, &config);
    assert_int_equal(zt_get_info(profiler).availability, ZT_GROUPS_CONFLICT);
    assert_contains(zt_get_info(profiler).availability_text, "more than 32 metric groups are named");
    close_profiler(w, profiler);

    /* Nine domains do not conflict, but a pass has room for eight groups. */
    config.groups = "G1,G3,G5,G7,G9,G11,G13,G15,G17";
    hide_symbol("zetDeviceGetConcurrentMetricGroupsExp"); /* which knows the true domains */
    profiler = open_profiler(w, &config);
    hide_symbol(NULL);
    assert_int_equal(zt_get_info(profiler).availability, ZT_AVAILABLE);
    assert_int_equal(zt_get_info(profiler).pass_count, 2);
    uint32_t last = zt_get_info(profiler).metric_count - 1;
    assert_string_equal(zt_get_metric(profiler, last)->group, "G17");
    assert_int_equal(zt_get_metric(profiler, last)->pass, 1);
    for (uint32_t i = 0; i < last; i++)
        assert_int_equal(zt_get_metric(profiler, i)->pass,
                         strcmp(zt_get_metric(profiler, i)->group, "G17") == 0);
    lie = HONEST;
}

/* A group that can be used in both ways is used by regions or by a stream. */
static void test_group_of_both_sampling_types(void **state) {
    world *w = *state;
    zt_stream_config stream_config = {0};
    zt_stream *stream = NULL;
    lie = NUMBERED_GROUPS;
    zt_profiler *profiler = open_groups(w, "G1");
    stream_config.group = "G1";
    assert_result(zt_stream_open(w->context, w->device, &stream_config, &stream),
                  ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    assert_null(stream);
    assert_contains(zt_last_error(NULL), "in use by group 'G1' of a profiler of this process");
    run(w, profiler, "measured");
    collect_all(profiler);
    assert_int_equal(stats_of(profiler, "measured", "GpuTime").count, 1);
    close_profiler(w, profiler);

    stream_config.group = "G0"; /* of the device, it is time-based */
    ok(zt_stream_open(w->context, w->device, &stream_config, &stream));
    zt_config config = config_of(w);
    config.groups = "G0";
    profiler = open_profiler(w, &config);
    assert_int_equal(zt_get_info(profiler).availability, ZT_IN_USE);
    assert_contains(zt_get_info(profiler).availability_text,
                    "in use by group 'G0' of a stream of this process");
    zt_stream_close(stream, see_no_row, NULL, NULL);
    lie = HONEST;
    check_work(w);
}

static void test_values_of_an_unknown_type(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    lie = UNKNOWN_VALUES;
    run(w, profiler, "region");
    collect_all(profiler);
    lie = HONEST;
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    for (uint32_t i = 0; i < zt_get_info(profiler).metric_count; i++) {
        zt_stats stats;
        ok(zt_get_stats(profiler, 0, i, &stats));
        if (zt_get_metric(profiler, i)->aggregation != ZT_AGGREGATE_NONE)
            assert_int_equal(stats.count, i % 2);
    }
    check_work(w);
}

/* The first metric is the GPU time. In a trace, the time stamps show how long the region lasted, and there
   is no figure for what nobody knows. */
static void test_a_trace_without_the_gpu_time(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.timeline = 100;
    zt_profiler *profiler = open_profiler(w, &config);
    assert_string_equal(zt_get_metric(profiler, 0)->name, "GpuTime");
    lie = UNKNOWN_VALUES;
    run(w, profiler, "region");
    collect_all(profiler);
    lie = HONEST;
    assert_int_equal(zt_get_timeline(profiler).samples, 1);
    const char *text = written_report(profiler, ZT_FORMAT_TRACE);
    assert_contains(text, "{\"ph\":\"X\",\"name\":\"region\",");
    assert_contains(text, "\"cat\":\"region\",\"args\":{\"");
    assert_null(strstr(text, "GPU time [ns]"));
    check_work(w);
}

/* Reports that cannot be used lose their samples, and no others. */
static void test_reports_that_cannot_be_used(void **state) {
    static const struct {
        enum lie told;
        zt_cause cause;
        int from_the_first;
    } cases[] = {
        {FEWER_VALUES, ZT_LOST_READ_FAILED, 0},
        {SHORT_REPORTS, ZT_LOST_READ_FAILED, 0},
        {EMPTY_REPORTS, ZT_LOST_NEVER_DELIVERED, 1},
    };
    world *w = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t earlier = cases[i].from_the_first ? 0 : 1;
        zt_profiler *profiler = open_groups(w, "ComputeBasic");
        if (earlier) {
            run(w, profiler, "region");
            collect_all(profiler);
        }
        lie = cases[i].told;
        run(w, profiler, "region");
        for (int tries = 0; tries < 1000 && zt_get_info(profiler).counts.in_flight > 0; tries++) {
            zt_collect(profiler, 0);
            pass_time(1000000);
        }
        lie = HONEST;
        assert_counts(profiler, counted(earlier + 1, earlier, 1, 0, 0));
        assert_int_equal(zt_get_info(profiler).causes[cases[i].cause].count, 1);
        run(w, profiler, "region");
        collect_all(profiler);
        assert_counts(profiler, counted(earlier + 2, earlier + 1, 1, 0, 0));
        close_profiler(w, profiler);
    }
    check_work(w);
}

/* The value of a metric in the only sample of "region": of a tile, or of the whole for UINT32_MAX. */
static double tile_value(const zt_profiler *profiler, uint32_t tile, const char *metric) {
    zt_stats stats;
    uint32_t index = zt_find_metric(profiler, metric), region = find_region(profiler, "region");
    if (tile == UINT32_MAX)
        ok(zt_get_stats(profiler, region, index, &stats));
    else
        ok(zt_get_stats(profiler, region, ZT_TILE(tile, index), &stats));
    assert_true(stats.count <= 1);
    return stats.count ? stats.mean : (double)NAN;
}

static zt_profiler *run_on_tiles(world *w, enum lie told) {
    lie = told;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    run(w, profiler, "region");
    collect_all(profiler);
    lie = HONEST;
    assert_int_equal(zt_get_info(profiler).tile_count, 2);
    return profiler;
}

/* A mean of the whole is that of the tiles that have a time: what others have does not count. */
static void test_tiles_without_figures(void **state) {
    const uint32_t whole = UINT32_MAX;
    const char *const mean = "AvgGpuCoreFrequencyMHz";
    world *w = *state;
    gpu.set_devices(1, 2);
    replace_symbol("zetMetricGroupCalculateMultipleMetricValuesExp", (any_function)calculate_for_tiles);

    zt_profiler *profiler = run_on_tiles(w, IDLE_TILE);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    assert_true(isnan(tile_value(profiler, 1, mean)) && isnan(tile_value(profiler, 1, "WORK_ITEM_COUNT")));
    assert_close(tile_value(profiler, whole, mean), tile_value(profiler, 0, mean));
    assert_close(tile_value(profiler, whole, "WORK_ITEM_COUNT"), tile_value(profiler, 0, "WORK_ITEM_COUNT"));

    profiler = run_on_tiles(w, TIMELESS_TILE);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    assert_close(tile_value(profiler, whole, mean), tile_value(profiler, 0, mean));
    assert_close(tile_value(profiler, whole, "WORK_ITEM_COUNT"),
                 tile_value(profiler, 0, "WORK_ITEM_COUNT") + tile_value(profiler, 1, "WORK_ITEM_COUNT"));

    profiler = run_on_tiles(w, ODD_UNITS); /* no metric is the time, so all tiles have the same weight */
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    assert_close(tile_value(profiler, whole, mean),
                 (tile_value(profiler, 0, mean) + tile_value(profiler, 1, mean)) / 2);

    lie = FEWER_VALUES;
    profiler = open_groups(w, "ComputeBasic");
    run(w, profiler, "region");
    collect_all(profiler);
    assert_counts(profiler, counted(1, 0, 1, 0, 0));
    assert_int_equal(zt_get_info(profiler).causes[ZT_LOST_READ_FAILED].count, 1);
    lie = HONEST;
    run(w, profiler, "region");
    lie = RAISED_COUNTS;
    collect_all(profiler);
    lie = HONEST;
    assert_counts(profiler, counted(2, 1, 1, 0, 0));
    assert_true(tile_value(profiler, 1, "WORK_ITEM_COUNT") > 0 || tile_value(profiler, 0, mean) > 0);
    check_work(w);
}

/* Without the function that calculates for tiles, or with more tiles than the library has room for, the
   driver refuses to calculate reports of a root device. */
static void test_tiles_that_are_not_told_apart(void **state) {
    world *w = *state;
    gpu.set_devices(1, 2);
    for (int i = 0; i < 2; i++) {
        hide_symbol(i ? NULL : "zetMetricGroupCalculateMultipleMetricValuesExp");
        lie = i ? RAISED_COUNTS : HONEST;
        zt_profiler *profiler = open_groups(w, "ComputeBasic");
        lie = HONEST;
        hide_symbol(NULL);
        assert_int_equal(zt_get_info(profiler).tile_count, 0);
        run(w, profiler, "region");
        collect_all(profiler);
        assert_counts(profiler, counted(1, 0, 1, 0, 0));
        assert_int_equal(zt_get_info(profiler).causes[ZT_LOST_READ_FAILED].count, 1);
        assert_int_equal(heard(w, "zetMetricGroupCalculateMetricValues failed"), i + 1);
        close_profiler(w, profiler);
    }
    check_work(w);
}

/* More drivers, devices and tiles are counted than are listed: what is not listed is not used. */
static void test_devices_beyond_the_room(void **state) {
    world *w = *state;
    ze_device_handle_t devices[2];
    uint32_t count = 2;
    zt_config config = config_of(w);
    gpu.set_devices(2, 2);
    ok(zeDeviceGet(w->driver, &count, devices));
    config.groups = "ComputeBasic";
    gpu.set_devices(1, 0); /* the second is not among the listed ones any more */
    lie = RAISED_COUNTS;
    unlisted = 0;
    for (int i = 0; i < 2; i++)
        assert_int_equal(zt_get_info(open_on(w, devices[i], &config)).availability, ZT_AVAILABLE);
    lie = HONEST;
    assert_int_equal(unlisted, 0);
}

/* Two devices that are not known to be tiles of each other have counters of their own. */
static void test_tiles_that_cannot_be_listed(void **state) {
    world *w = *state;
    uint32_t count = 2;
    zt_config config = config_of(w);
    zt_profiler *profilers[2];
    gpu.set_devices(2, 0);
    ok(zeDeviceGet(w->driver, &count, no_tiles));
    config.groups = "ComputeBasic";
    lie = WRONG_TILES;
    for (int i = 0; i < 2; i++) {
        profilers[i] = open_on(w, no_tiles[i], &config);
        assert_int_equal(zt_get_info(profilers[i]).availability, ZT_AVAILABLE);
    }
    for (int i = 0; i < 2; i++)
        close_profiler(w, profilers[i]);
    lie = HONEST;
}

static int stop_at_once(const void *bytes, size_t size, void *user) {
    (void)bytes, (void)size, (void)user;
    return 1;
}

/* A column without any text has no width. */
static void test_listing_without_texts(void **state) {
    world *w = *state;
    static kept_text text;
    lie = EMPTY_TEXTS;
    text.used = 0;
    ok(zt_write_groups(w->device, 1, keep_text, &text));
    lie = HONEST;
    const char *line = strstr(text.bytes, "    GpuCoreClocks ");
    assert_non_null(line);
    assert_memory_equal(strchr(line, '\n') - 5, "  sum", 5);
    assert_null(strstr(text.bytes, " \n"));
}

static void test_listing_that_is_stopped(void **state) {
    world *w = *state;
    assert_result(zt_write_groups(w->device, 1, stop_at_once, NULL), ZE_RESULT_ERROR_UNKNOWN);
    assert_contains(zt_last_error(NULL), "[WRITE_STOPPED] zt_write_groups");
    inject("zetMetricGet", 1, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    assert_result(zt_write_groups(w->device, 1, discard, NULL), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    assert_contains(zt_last_error(NULL), "zetMetricGet");
}

static void test_counts_of_a_driver_beyond_the_room(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "ComputeBasic";
    zt_profiler *honest = open_profiler(w, &config);
    uint32_t metrics = zt_get_info(honest).metric_count;
    close_profiler(w, honest);
    lie = RAISED_COUNTS;
    zt_profiler *profiler = open_profiler(w, &config);
    assert_int_equal(zt_get_info(profiler).availability, ZT_AVAILABLE);
    assert_int_equal(zt_get_info(profiler).metric_count, metrics);
    close_profiler(w, profiler);
    profile_with_lie(w, RAISED_COUNTS, "ComputeBasic,MemoryProfile");
}

static void test_reports_of_a_size_that_no_memory_has(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "ComputeBasic";
    zt_profiler *profiler = open_profiler(w, &config);
    lie = HUGE_REPORTS;
    run(w, profiler, "lost");
    zt_collect(profiler, 0);
    lie = HONEST;
    assert_counts(profiler, counted(1, 0, 1, 0, 0));
    assert_int_equal(zt_get_info(profiler).causes[ZT_LOST_READ_FAILED].count, 1);
    run(w, profiler, "collected");
    collect_all(profiler);
    assert_counts(profiler, counted(2, 1, 1, 0, 0));
    check_work(w);
}

static void test_rows_beyond_the_room(void **state) {
    world *w = *state;
    zt_stream_config config = {0};
    zt_stream *stream = NULL;
    config.group = "ComputeBasic";
    ok(zt_stream_open(w->context, w->device, &config, &stream));
    lie = RAISED_SIZES;
    ze_result_t result = ZE_RESULT_SUCCESS;
    for (int i = 0; i < 1000 && result != ZE_RESULT_ERROR_INVALID_SIZE; i++) {
        launch(w, w->immediate);
        finish_immediate(w, w->immediate);
        nap();
        result = zt_stream_read(stream, 0, see_no_row, NULL);
    }
    lie = HONEST;
    assert_result(result, ZE_RESULT_ERROR_INVALID_SIZE);
    zt_stream_close(stream, see_no_row, NULL, NULL);
    check_work(w);
}

static zt_stream *open_liar(world *w, enum lie told, uint32_t period_ns) {
    zt_stream_config config = stream_config_of(w);
    config.group = "ComputeBasic";
    config.period_ns = period_ns;
    lie = told;
    zt_stream *stream = open_stream_with(w, &config);
    row_metrics = zt_stream_get_info(stream).metric_count;
    marker_metric = zt_stream_find_metric(stream, "StreamMarker");
    reason_metric = zt_stream_find_metric(stream, "ReportReason");
    return stream;
}

/* Two of its reports need more room than there is. */
static void test_reports_of_a_stream_that_are_huge(void **state) {
    world *w = *state;
    zt_stream_config config = {0};
    zt_stream *stream = NULL;
    config.memory_limit = 1 << 19;
    lie = HUGE_REPORTS;
    assert_result(zt_stream_open(w->context, w->device, &config, &stream), ZE_RESULT_ERROR_INVALID_SIZE);
    assert_null(stream);
    assert_contains(zt_last_error(NULL), "config.memory_limit");
}

static void test_streams_that_are_not_described(void **state) {
    world *w = *state;
    zt_stream *stream = open_liar(w, NO_PERIOD, 1000000);
    assert_int_equal(zt_stream_get_info(stream).period_ns, 1000000);
    read_rows(stream, rows_of(stream), 3);
    close_rows(stream, NULL);
    gpu.reset_calls();
    stream = open_liar(w, UNDESCRIBED_CLOCK, 1000000); /* it is the device's */
    rows *kept = rows_of(stream);
    read_rows(stream, kept, 3);
    check_rows(kept);
    assert_int_equal(calls("zetMetricGroupGetGlobalTimestampsExp"), 0);
    close_rows(stream, NULL);
}

/* A device that does not know the size of its reports before there is one may return 0. */
static void test_reports_of_a_stream_that_are_empty(void **state) {
    world *w = *state;
    zt_stream *stream = open_liar(w, EMPTY_REPORTS, 1000000);
    assert_result(zt_stream_read(stream, 0, see_no_row, NULL), ZE_RESULT_NOT_READY);
    lie = HONEST;
    rows *kept = rows_of(stream);
    read_rows(stream, kept, 3);
    check_rows(kept);
    close_rows(stream, NULL);
}

static void find_lingering_markers(world *w, enum lie told) {
    zt_stream *stream = open_liar(w, told, 1000000);
    rows *kept = rows_of(stream);
    read_rows(stream, kept, 2);
    for (int i = 0; i < 4; i++) {
        mark_now(w, stream, i % 2 ? "odd" : "even");
        finish_immediate(w, w->immediate);
        read_rows(stream, kept, kept->count + 5);
    }
    close_rows(stream, kept);
    uint32_t found = 0;
    for (uint32_t i = 0; i < kept->count; i++)
        if (kept->kept[i].marker[0])
            assert_string_equal(kept->kept[i].marker, found++ % 2 ? "odd" : "even");
    assert_int_equal(found, 4);
}

/* With one reason for all rows, or none for those of markers, a row that has the number of the last marker has no
   marker of its own. */
static void test_markers_that_linger(void **state) {
    world *w = *state;
    gpu.behave(SOFTGPU_STREAM_MARKER_LINGERS, 1);
    find_lingering_markers(w, EQUAL_REASONS);
    find_lingering_markers(w, MISSING_REASONS);
}

static int stop_at_first_row(const zt_row *row, void *user) {
    (void)row, (void)user;
    return 1;
}

/* Each call ends, though the device always has more. Its rows are of no length: nothing was measured in them. */
static void test_a_stream_without_an_end(void **state) {
    enum { LIMIT = 1 << 16 };
    world *w = *state;
    zt_config times = config_of(w);
    zt_stream_config config = stream_config_of(w);
    times.groups = "";
    times.timeline = 16;
    zt_profiler *profiler = config.profiler = open_profiler(w, &times);
    config.group = "ComputeBasic";
    config.memory_limit = LIMIT;
    lie = ENDLESS_REPORTS;
    zt_stream *stream = open_stream_with(w, &config);
    ok(zt_stream_read(stream, A_WHILE, stop_at_first_row, NULL));
    assert_int_equal(zt_stream_get_info(stream).counts.rows, 1);
    ok(zt_stream_read(stream, 0, see_no_row, NULL));
    check_stream_counts(zt_stream_get_info(stream).counts);
    zt_stream_counts counts = close_rows(stream, NULL);
    assert_int_equal(counts.reports, endless_reports);
    lie = HONEST;
    const char *text = written_report(profiler, ZT_FORMAT_TRACE);
    assert_contains(text, "earlier rows are not kept");
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf"));
}

typedef struct counted_events {
    uint32_t matched, counters; /* characters of the begin of an event, and events */
} counted_events;

static int count_counters(const void *bytes, size_t size, void *user) {
    static const char wanted[] = "\"ph\":\"C\"";
    counted_events *events = (counted_events *)user;
    const char *text = (const char *)bytes;
    for (size_t i = 0; i < size; i++) {
        events->matched = text[i] == wanted[events->matched] ? events->matched + 1 : text[i] == '"';
        if (events->matched == strlen(wanted)) {
            events->counters++;
            events->matched = 0;
        }
    }
    return 0;
}

/* More rows than a trace shows are merged, also if they have no length or no values, but not across a gap. */
static void test_rows_of_no_length_are_merged(void **state) {
    enum { MOST_EVENTS = 80000 };
    world *w = *state;
    zt_config times = config_of(w);
    zt_stream_config config = stream_config_of(w);
    counted_events events = {0, 0};
    times.groups = "";
    times.timeline = 16;
    times.columns = "GPU_BUSY,AvgGpuCoreFrequencyMHz";
    zt_profiler *profiler = config.profiler = open_profiler(w, &times);
    config.group = "ComputeBasic";
    config.memory_limit = 1 << 16;
    config.timeline_rows = 90001;
    lie = ENDLESS_REPORTS;
    zt_stream *stream = open_stream_with(w, &config);
    row_metrics = zt_stream_get_info(stream).metric_count;
    busy_metric = zt_stream_find_metric(stream, "GPU_BUSY");
    clock_metric = zt_stream_find_metric(stream, "AvgGpuCoreFrequencyMHz");
    assert_true(busy_metric < row_metrics && clock_metric < row_metrics);
    changing_rows = 1;
    ok(zt_stream_read(stream, A_WHILE, see_no_row, NULL));
    inject("zetMetricGroupCalculateMetricValues", 1000, ZE_RESULT_ERROR_UNKNOWN); /* a gap */
    assert_true(close_rows(stream, NULL).rows >= config.timeline_rows);
    assert_int_equal(heard(w, "[NOT_CALCULATED]"), 1);
    changing_rows = 0;
    lie = HONEST;
    ok(zt_write(profiler, ZT_FORMAT_TRACE, count_counters, &events));
    assert_in_range(events.counters, MOST_EVENTS / 4, MOST_EVENTS);
}

/* A mean over rows is weighted by their time. If they have none, it is not known; how many there are is. */
static void test_rows_that_last_no_time(void **state) {
    world *w = *state;
    zt_stats streamed;
    zt_config config = config_of(w);
    config.groups = "";
    config.timeline = 100;
    zt_profiler *profiler = open_profiler(w, &config);
    zt_stream_config of_stream = stream_config_of(w);
    of_stream.profiler = profiler;
    of_stream.period_ns = SLOW_PERIOD;
    zt_stream *stream = open_stream_with(w, &of_stream);
    row_metrics = zt_stream_get_info(stream).metric_count;
    length_metric = zt_stream_find_metric(stream, "GpuTime");
    lie = NO_LENGTHS;
    mark_now(w, stream, "before");
    mark_now(w, stream, "before");
    zt_region region = zt_begin(profiler, w->immediate, "region");
    for (int i = 0; i < 2; i++) {
        launch(w, w->immediate);
        mark_now(w, stream, "inside");
    }
    zt_end(&region);
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    uint32_t busy = zt_stream_find_metric(stream, "GPU_BUSY");
    close_rows(stream, NULL);
    lie = HONEST;
    ok(zt_get_stats(profiler, 0, ZT_STREAMED(busy), &streamed));
    assert_int_equal(streamed.count, 2);
    assert_true(isnan(streamed.mean));
    assert_true(streamed.max > 0);
    check_work(w);
}

/* What the names of markers are found by: a number that differs from the last one, or the reason. */
static void test_markers_that_cannot_be_told_apart(void **state) {
    static const enum lie lies[] = {NO_REASONS, EQUAL_REASONS, WIDE_MARKERS};
    static const char *const names[] = {"a", "b", "b", "a"};
    world *w = *state;
    for (int i = 0; i < 3; i++) {
        char found[8] = "";
        zt_stream *stream = open_liar(w, lies[i], SLOW_PERIOD);
        rows *kept = rows_of(stream);
        mark_now(w, stream, "first"); /* which may be missing */
        finish_immediate(w, w->immediate);
        mark_now(w, stream, "second");
        for (int k = 0; k < 4; k++)
            mark_now(w, stream, names[k]);
        finish_immediate(w, w->immediate);
        close_rows(stream, kept);
        for (uint32_t k = 0; k < kept->count; k++)
            if (kept->kept[k].marker[0] && !kept->kept[k].marker[1])
                strcat(found, kept->kept[k].marker);
        assert_string_equal(found, lies[i] == WIDE_MARKERS ? "" : lies[i] == NO_REASONS ? "aba" : "abba");
    }
}

static void test_clock_that_cannot_be(void **state) {
    world *w = *state;
    profile_with_lie(w, FASTEST_CLOCK, "ComputeBasic");
    profile_with_lie(w, FASTEST_CLOCK, "");
    profile_with_lie(w, STOPPED_CLOCK, "ComputeBasic");
    profile_with_lie(w, STOPPED_CLOCK, "");
    profile_with_lie(w, JUMPING_STAMPS, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SILENT(test_null_profiler_is_inert),
        SILENT(test_null_region),
        SILENT(test_zero_region),
        SILENT(test_null_at_open),
        SILENT(test_null_arguments),
        SILENT(test_null_list),
        SILENT(test_null_at_execute),
        SILENT(test_indices_out_of_range),
        SILENT(test_nothing_to_fill_in),
        SILENT(test_indices_and_their_counts),
        SILENT(test_name_of_ten_thousand_characters),
        SILENT(test_empty_names),
        SILENT(test_names_are_kept_as_they_are),
        SILENT(test_too_many_names),
        SILENT(test_malformed_group_lists),
        SILENT(test_group_name_of_ten_thousand_characters),
        SILENT(test_extreme_configuration),
        SILENT(test_unknown_driver),
        SILENT(test_texts_of_a_driver_without_an_end),
        SILENT(test_texts_of_a_driver_that_are_no_utf8),
        SILENT(test_groups_without_metrics),
        SILENT(test_odd_units),
        SILENT(test_time_in_another_unit),
        SILENT(test_many_groups),
        SILENT(test_group_of_both_sampling_types),
        SILENT(test_values_of_an_unknown_type),
        SILENT(test_a_trace_without_the_gpu_time),
        SILENT(test_reports_that_cannot_be_used),
        SILENT(test_tiles_without_figures),
        SILENT(test_tiles_that_are_not_told_apart),
        SILENT(test_devices_beyond_the_room),
        SILENT(test_tiles_that_cannot_be_listed),
        SILENT(test_listing_without_texts),
        SILENT(test_listing_that_is_stopped),
        SILENT(test_counts_of_a_driver_beyond_the_room),
        SILENT(test_reports_of_a_size_that_no_memory_has),
        SILENT(test_rows_beyond_the_room),
        SILENT(test_reports_of_a_stream_that_are_huge),
        SILENT(test_reports_of_a_stream_that_are_empty),
        SILENT(test_markers_that_linger),
        SILENT(test_streams_that_are_not_described),
        SILENT(test_a_stream_without_an_end),
        SILENT(test_rows_of_no_length_are_merged),
        SILENT(test_rows_that_last_no_time),
        SILENT(test_markers_that_cannot_be_told_apart),
        SILENT(test_clock_that_cannot_be),
        SILENT(test_region_closed_twice),
        SILENT(test_old_copy_does_not_end_another),
        SILENT(test_region_never_closed),
        SILENT(test_region_closed_late),
        SILENT(test_region_never_closed_on_a_list_that_is_released),
        SILENT(test_region_closed_on_another_thread),
        SILENT(test_region_closed_by_two_threads_at_once),
        SILENT(test_log_function_may_use_the_library),
        SILENT(test_timeout_in_other_units),
        SILENT(test_context_destroyed_before_its_profiler),
        SILENT(test_each_message_is_logged),
        SILENT(test_too_many_profilers),
        SILENT(test_list_executed_with_an_open_region),
        SILENT(test_region_on_a_closed_list),
        SILENT(test_profiler_closed_with_regions_in_flight),
        LEAKING(test_profiler_closed_with_a_recording_that_never_ran),
        SILENT(test_profiler_closed_twice),
        SILENT(test_text_of_an_error_stays),
        LEAKING(test_profiler_closed_with_an_open_region),
        LEAKING(test_profiler_closed_while_the_device_is_stuck),
        LEAKING(test_region_of_a_closed_profiler),
        SILENT(test_list_destroyed_before_its_regions_were_collected),
        SILENT(test_immediate_list_destroyed_before_its_regions_were_collected),
        SILENT(test_list_destroyed_that_never_ran),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
