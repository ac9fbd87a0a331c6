/* Bad input causes an error with a message that includes the remedy, or a counted drop; never a crash or
   unwanted output. The results of the application are right. */
#define _GNU_SOURCE
#include "fixture.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Each test runs with its output captured: there must be none. */
static int open_silent(void **state) {
    int result = open_world(state);
    capture_output();
    return result;
}

static int close_silent(void **state) {
    size_t size = captured_output();
    int result = close_world(state);
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

/* ==== a driver that lies, between the library and the loader ============================================= */

/* clang-format off */
static enum lie {
    HONEST,
    ENDLESS_TEXTS,  /* names are as long as their arrays, without a 0 */
    RAISED_COUNTS,  /* more is returned than there was room for */
    HUGE_REPORTS,
    RAISED_SIZES,   /* more bytes are read than there was room for */
    FASTEST_CLOCK,
    JUMPING_STAMPS  /* of kernels, as far apart as they can be */
} lie;
/* clang-format on */

#define REAL(name) (*(__typeof__(name) **)&(void *){dlsym(RTLD_NEXT, #name)})
#define FILL(array) (void)(lie == ENDLESS_TEXTS && memset(array, 'x', sizeof(array)))

ze_result_t zetMetricGroupGet(zet_device_handle_t device, uint32_t *count,
                              zet_metric_group_handle_t *groups) {
    ze_result_t result = REAL(zetMetricGroupGet)(device, count, groups);
    *count += lie == RAISED_COUNTS && groups ? 1000 : 0;
    return result;
}

ze_result_t zetMetricGroupGetProperties(zet_metric_group_handle_t group,
                                        zet_metric_group_properties_t *properties) {
    ze_result_t result = REAL(zetMetricGroupGetProperties)(group, properties);
    FILL(properties->name);
    FILL(properties->description);
    return result;
}

ze_result_t zetMetricGet(zet_metric_group_handle_t group, uint32_t *count, zet_metric_handle_t *metrics) {
    ze_result_t result = REAL(zetMetricGet)(group, count, metrics);
    *count += lie == RAISED_COUNTS && metrics ? 1000 : 0;
    return result;
}

ze_result_t zetMetricGetProperties(zet_metric_handle_t metric, zet_metric_properties_t *properties) {
    ze_result_t result = REAL(zetMetricGetProperties)(metric, properties);
    FILL(properties->name);
    FILL(properties->description);
    FILL(properties->component);
    FILL(properties->resultUnits);
    return result;
}

ze_result_t zeDeviceGetProperties(ze_device_handle_t device, ze_device_properties_t *properties) {
    ze_result_t result = REAL(zeDeviceGetProperties)(device, properties);
    FILL(properties->name);
    if (lie == FASTEST_CLOCK)
        properties->timerResolution = UINT64_MAX;
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
    return result;
}

ze_result_t zetMetricStreamerReadData(zet_metric_streamer_handle_t streamer, uint32_t most, size_t *size,
                                      uint8_t *data) {
    ze_result_t result = REAL(zetMetricStreamerReadData)(streamer, most, size, data);
    if (lie == RAISED_SIZES && data)
        *size = SIZE_MAX / 2;
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
    zt_counts counts = zt_get_counts(NULL);
    assert_int_equal(counts.begun + counts.collected + counts.lost + counts.dropped + counts.in_flight, 0);
    assert_int_equal(zt_get_cause(NULL, ZT_LOST_REPORT_ERROR), 0);
    assert_int_equal(zt_get_region_count(NULL), 0);
    assert_int_equal(zt_get_metric_count(NULL), 0);
    assert_null(zt_get_metric(NULL, 0));
    assert_int_equal(zt_find_metric(NULL, "GpuTime"), UINT32_MAX);
    ok(zt_get_region(NULL, 0, &info));
    assert_int_equal(info.count, 0);
    assert_int_equal(info.parent, UINT32_MAX);
    zt_path_info path;
    assert_int_equal(zt_get_path_count(NULL), 0);
    ok(zt_get_path(NULL, 0, &path));
    assert_int_equal(path.count, 0);
    assert_int_equal(path.parent, UINT32_MAX);
    ok(zt_get_stats(NULL, 0, 0, &stats));
    assert_int_equal(stats.count, 0);
    ok(zt_get_latency(NULL, 0, ZT_LATENCY_LAUNCH, &stats));
    assert_int_equal(stats.count, 0);
    assert_int_equal(zt_get_overlap(NULL).samples, 0);
    ok(zt_report(NULL, "/nowhere/at/all.csv"));
    ok(zt_report(NULL, "-"));
    ok(zt_write(NULL, ZT_FORMAT_JSON, discard, NULL));
    text = zt_get_availability_text(NULL);
    assert_int_equal(zt_get_availability(NULL), ZT_AVAILABILITY_UNKNOWN);
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
    text = zt_get_last_error(NULL);
    assert_result(zt_get_last_result(NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    assert_contains(text, "zt_open");
    assert_result(zt_open(NULL, w->device, NULL, &profiler), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    assert_null(profiler);
    profiler = (zt_profiler *)w;
    assert_result(zt_open(w->context, NULL, NULL, &profiler), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    assert_null(profiler);
    text = zt_get_last_error(NULL);
    assert_contains(text, "zt_open");
    zt_get_last_result(NULL);
}

static void test_null_arguments(void **state) {
    world *w = *state;
    const ze_result_t null_pointer = ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    zet_metric_group_handle_t group;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    run(w, profiler, "region");
    collect_all(profiler);
    assert_result(zt_get_region(profiler, 0, NULL), null_pointer);
    assert_result(zt_get_path(profiler, 0, NULL), null_pointer);
    assert_result(zt_get_stats(profiler, 0, 0, NULL), null_pointer);
    assert_result(zt_get_latency(profiler, 0, ZT_LATENCY_QUEUE, NULL), null_pointer);
    assert_result(zt_report(profiler, NULL), null_pointer);
    assert_result(zt_write(profiler, ZT_FORMAT_CSV, NULL, NULL), null_pointer);
    assert_int_equal(zt_find_metric(profiler, NULL), UINT32_MAX);
    assert_int_equal(zt_get_availability(profiler), ZT_AVAILABLE);
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
    zt_counts counts = zt_get_counts(profiler);
    assert_int_equal(counts.in_flight, 0);
    assert_int_equal(counts.dropped, counts.begun);
    zt_release(profiler, NULL);
    check_identity(profiler);
}

static void test_null_at_execute(void **state) {
    world *w = *state;
    ze_command_list_handle_t none = NULL;
    if (getenv("ZE_ENABLE_LOADER_INTERCEPT"))
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
    zt_path_info path;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    assert_result(zt_get_region(profiler, 0, &info), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_result(zt_get_path(profiler, 0, &path), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    run(w, profiler, "region");
    collect_all(profiler);
    assert_result(zt_get_region(profiler, 1, &info), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_result(zt_get_region(profiler, UINT32_MAX, &info), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_result(zt_get_stats(profiler, 1, 0, &stats), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_result(zt_get_latency(profiler, 1, ZT_LATENCY_QUEUE, &stats), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_result(zt_get_latency(profiler, 0, ZT_LATENCY_COUNT, &stats), ZE_RESULT_ERROR_INVALID_ENUMERATION);
    assert_contains(zt_get_last_error(profiler), "2 is not a zt_latency");
    assert_result(zt_get_stats(profiler, 0, zt_get_metric_count(profiler), &stats),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_null(zt_get_metric(profiler, UINT32_MAX));
    assert_int_equal(zt_get_cause(profiler, ZT_CAUSE_COUNT), 0);
    assert_int_equal(zt_get_cause(profiler, (zt_cause)-1), 0);
    assert_non_null(zt_cause_name((zt_cause)-1));
    assert_true(zt_write(profiler, (zt_format)77, discard, NULL) != ZE_RESULT_SUCCESS);
    check_work(w);
}

/* If there are no values to fill in, counts are 0 and figures NaN. */
static void check_empty(zt_profiler *profiler, ze_result_t expected) {
    zt_stats stats;
    zt_streamed streamed;
    zt_call_info call;
    memset(&stats, 0x55, sizeof stats);
    assert_result(zt_get_stats(profiler, 7, 0, &stats), expected);
    assert_true(stats.count == 0 && isnan(stats.sum) && isnan(stats.p95));
    memset(&stats, 0x55, sizeof stats);
    assert_result(zt_get_pass(profiler, 7, 0, &stats), expected);
    assert_true(stats.count == 0 && isnan(stats.sum) && isnan(stats.p95));
    memset(&stats, 0x55, sizeof stats);
    assert_result(zt_get_tile_stats(profiler, 0, 7, 0, &stats), expected);
    assert_true(stats.count == 0 && isnan(stats.sum) && isnan(stats.p95));
    memset(&streamed, 0x55, sizeof streamed);
    assert_result(zt_get_streamed(profiler, 0, 7, &streamed), expected);
    assert_true(streamed.rows == 0 && isnan(streamed.mean) && isnan(streamed.peak));
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
    zt_path_info path;
    zt_stats stats;
    zt_streamed streamed;
    zt_call_info call;
    zt_hotspot_info hotspot;
    const char *text;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    run(w, profiler, "region");
    collect_all(profiler);
    zt_get_stats(profiler, 7, 0, &stats);
    text = zt_get_last_error(profiler);
    assert_contains(text, "[BAD_INDEX] zt_get_stats: ");
    assert_contains(text, "zt_get_region_count()");
    zt_get_path(profiler, 700, &path);
    text = zt_get_last_error(profiler);
    assert_contains(text, "zt_get_path_count()");
    zt_get_stats(profiler, 0, 700, &stats);
    text = zt_get_last_error(profiler);
    assert_contains(text, "700");
    assert_contains(text, "zt_get_metric_count()");
    zt_get_pass(profiler, 0, 7, &stats);
    text = zt_get_last_error(profiler);
    assert_contains(text, "zt_get_pass_count()");
    zt_get_tile_stats(profiler, 0, 7, 0, &stats);
    text = zt_get_last_error(profiler);
    assert_contains(text, "zt_get_tile_count()");
    zt_get_streamed(profiler, 0, 7, &streamed);
    text = zt_get_last_error(profiler);
    assert_contains(text, "zt_get_streamed_count()");
    zt_get_call(profiler, 7, &call);
    text = zt_get_last_error(profiler);
    assert_contains(text, "zt_get_call_count()");
    zt_get_hotspot(profiler, 7, &hotspot);
    text = zt_get_last_error(profiler);
    assert_contains(text, "zt_get_hotspot_count()");
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
    assert_int_equal(zt_get_region_count(profiler), 2);
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
    assert_int_equal(zt_get_region_count(profiler), 1);
    assert_int_equal(region_info(profiler, "(unnamed)").count, 2);
    check_work(w);
}

static void test_names_are_kept_as_they_are(void **state) {
    world *w = *state;
    const char *names[] = {"\"quoted\"", "a,b", "two\nlines", "\xff\xfe\x80", "\r\n\t\\", "%s%n%d"};
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    for (int i = 0; i < 6; i++)
        run(w, profiler, names[i]);
    collect_all(profiler);
    for (uint32_t i = 0; i < 6; i++) {
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
    config.slots_per_step = config.max_slots = 1;
    zt_profiler *profiler = open_profiler(w, &config);
    zt_region held = zt_begin(profiler, w->immediate, "0"); /* has the only slot */
    for (uint32_t i = 1; i < most + 10; i++) {
        snprintf(name, sizeof name, "%u", i);
        zt_region region = zt_begin(profiler, w->immediate, name);
        zt_end(&region);
    }
    zt_end(&held);
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    assert_int_equal(zt_get_region_count(profiler), most);
    assert_int_equal(zt_get_cause(profiler, ZT_DROPPED_TOO_MANY_NAMES), 10);
    assert_int_equal(zt_get_cause(profiler, ZT_DROPPED_NO_SLOT), most - 1);
    assert_counts(profiler, counted(most + 10, 1, 0, most + 9, 0));
    assert_int_equal(heard(w, "65536"), 1);
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
        text = zt_get_availability_text(profiler);
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
    assert_int_equal(zt_get_availability(profiler), ZT_NO_SUCH_GROUP);
    assert_int_equal(zt_find_metric(profiler, name), UINT32_MAX);
    close_profiler(w, profiler);
    setenv("ZT_GROUPS", name, 1);
    profiler = open_profiler(w, NULL);
    assert_int_equal(zt_get_availability(profiler), ZT_NO_SUCH_GROUP);
}

static void test_extreme_configuration(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.slots_per_step = 1;
    config.max_slots = 1;
    config.samples = 1;
    zt_profiler *profiler = open_profiler(w, &config);
    for (int i = 0; i < 5; i++) {
        run(w, profiler, "one");
        collect_all(profiler);
    }
    assert_counts(profiler, counted(5, 5, 0, 0, 0));
    close_profiler(w, profiler);
    config.slots_per_step = 1000;
    config.max_slots = 3;
    profiler = open_profiler(w, &config);
    for (int i = 0; i < 5; i++)
        append(w, profiler, w->list, "few");
    assert_int_equal(zt_get_counts(profiler).in_flight, 3);
    ok(zt_release(profiler, w->list));
    close_profiler(w, profiler);
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
    run(w, profiler, "next"); /* may have the same slot */
    zt_end(&copy);
    zt_end(&region);
    collect_all(profiler);
    assert_counts(profiler, counted(2, 2, 0, 0, 0));
    check_work(w);
}

/* The slot is another region's now, which an old copy must not end. */
static void test_old_copy_does_not_end_another(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.slots_per_step = config.max_slots = 1;
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

/* Found at collection and reported, in the log and below the table; in flight until the profiler closes. */
static void test_region_never_closed(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    zt_region open = zt_begin(profiler, w->immediate, "left open");
    launch(w, w->immediate);
    finish_immediate(w, w->immediate);
    run(w, profiler, "closed");
    ok(zt_collect(profiler, 0)); /* it may be ended yet */
    assert_int_equal(w->message_count, 0);
    assert_result(zt_collect(profiler, 1000000), ZE_RESULT_NOT_READY);
    assert_result(zt_collect(profiler, 1000000), ZE_RESULT_NOT_READY);
    assert_counts(profiler, counted(2, 1, 0, 0, 1));
    assert_int_equal(heard(w, "[REGION_OPEN]"), 1);
    assert_int_equal(heard(w, "left open"), 1);
    assert_contains(written_report(profiler, ZT_FORMAT_TABLE), "not ended");
    ok(zt_release(profiler, w->immediate));
    ok(zt_collect(profiler, 0));
    assert_counts(profiler, counted(2, 1, 0, 1, 0));
    assert_int_equal(zt_get_cause(profiler, ZT_DROPPED_NOT_CLOSED), 1);
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
    assert_result(zt_collect(profiler, 1000000), ZE_RESULT_NOT_READY);
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
    assert_int_equal(zt_get_counts(profiler).in_flight, 0);
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
    assert_int_equal(zt_get_counts(profiler).in_flight, 0);
    assert_int_equal(zt_get_counts(profiler).collected, 0);
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
    assert_int_equal(zt_get_cause(profiler, ZT_DROPPED_APPEND_FAILED), 1);
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
    zt_get_counts(me->profiler);
    zt_get_last_result(me->profiler);
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
    assert_int_equal(zt_get_counts(me.profiler).in_flight, 0);
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

typedef struct closing {
    zt_profiler *profiler;
} closing;

static void *close_it(void *argument) {
    zt_close(((closing *)argument)->profiler);
    return NULL;
}

/* Closing does not wait and reports nothing: the lists can be reset and destroyed afterwards. */
static void test_profiler_closed_with_a_recording_that_never_ran(void **state) {
    world *w = *state;
    for (int ran = 0; ran < 2; ran++) {
        zt_config config = config_of(w);
        config.groups = "ComputeBasic";
        config.wait_timeout_ns = 10 * A_WHILE;
        closing it = {NULL};
        if (zt_open(w->context, w->device, &config, &it.profiler) != ZE_RESULT_SUCCESS)
            fail_msg("%s", zt_get_last_error(NULL));
        if (ran)
            run(w, it.profiler, "ran");
        append(w, it.profiler, w->list, "never");
        append(w, it.profiler, w->list, "never");
        ok(zeCommandListClose(w->list));
        run_in_time(w, close_it, &it);
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
        zt_get_pass(profiler, 0, i + 7, &stats);
        if (strlen(zt_get_last_error(profiler)) == 0)
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
    const char *text = zt_get_last_error(profiler);
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
    assert_contains(zt_get_last_error(profiler), "700");
    assert_result(zt_get_last_result(profiler), ZE_RESULT_ERROR_INVALID_ARGUMENT);
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

static void test_too_many_profilers(void **state) {
    enum { TRIED = 300 };
    world *w = *state;
    const char *text = NULL;
    zt_profiler *opened[TRIED];
    uint32_t count = 0;
    zt_config config = config_of(w);
    config.groups = "";
    config.slots_per_step = config.max_slots = 1;
    while (count < TRIED && zt_open(w->context, w->device, &config, &opened[count]) == ZE_RESULT_SUCCESS)
        count++;
    assert_int_equal(count, 256);
    assert_null(opened[count]);
    text = zt_get_last_error(NULL);
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
    zt_stream_config stream_config = zt_stream_config_default();
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
        zt_stream_close(stream, see_no_row, NULL);
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
    assert_int_equal(zt_get_availability(profiler), ZT_AVAILABLE);
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = 0;
    assert_string_equal(zt_get_metric(profiler, 0)->name, name);
    lie = HONEST;
}

static void test_counts_of_a_driver_beyond_the_room(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "ComputeBasic";
    zt_profiler *honest = open_profiler(w, &config);
    uint32_t metrics = zt_get_metric_count(honest);
    close_profiler(w, honest);
    lie = RAISED_COUNTS;
    zt_profiler *profiler = open_profiler(w, &config);
    assert_int_equal(zt_get_availability(profiler), ZT_AVAILABLE);
    assert_int_equal(zt_get_metric_count(profiler), metrics);
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
    assert_int_equal(zt_get_cause(profiler, ZT_LOST_READ_FAILED), 1);
    run(w, profiler, "collected");
    collect_all(profiler);
    assert_counts(profiler, counted(2, 1, 1, 0, 0));
    check_work(w);
}

static void test_rows_beyond_the_room(void **state) {
    world *w = *state;
    zt_stream_config config = zt_stream_config_default();
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
    zt_stream_close(stream, see_no_row, NULL);
    check_work(w);
}

static void test_clock_that_cannot_be(void **state) {
    world *w = *state;
    profile_with_lie(w, FASTEST_CLOCK, "ComputeBasic");
    profile_with_lie(w, FASTEST_CLOCK, "");
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
        SILENT(test_texts_of_a_driver_without_an_end),
        SILENT(test_counts_of_a_driver_beyond_the_room),
        SILENT(test_reports_of_a_size_that_no_memory_has),
        SILENT(test_rows_beyond_the_room),
        SILENT(test_clock_that_cannot_be),
        SILENT(test_region_closed_twice),
        SILENT(test_old_copy_does_not_end_another),
        SILENT(test_region_never_closed),
        SILENT(test_region_closed_late),
        SILENT(test_region_never_closed_on_a_list_that_is_released),
        SILENT(test_region_closed_on_another_thread),
        SILENT(test_region_closed_by_two_threads_at_once),
        SILENT(test_log_function_may_use_the_library),
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
