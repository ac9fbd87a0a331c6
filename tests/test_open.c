/* Opening a profiler: groups, availability and its remedies, several profilers on one device. */
#define _GNU_SOURCE
#include "fixture.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static void fail_to_open(world *w, const zt_config *config, ze_result_t expected) {
    zt_profiler *profiler = (zt_profiler *)w;
    assert_result(zt_open(w->context, w->device, config, &profiler), expected);
    assert_null(profiler);
    assert_result(last_result(), expected);
}

/* Opening succeeds without metrics, and regions have times. The reason is logged once, and its text contains
   `part`. If metrics are required, opening fails. */
static void expect_times(world *w, zt_config config, zt_availability reason, const char *part,
                         ze_result_t result) {
    const char *text = NULL;
    int before = w->message_count;
    zt_profiler *profiler = open_profiler(w, &config);
    text = zt_get_info(profiler).availability_text;
    assert_int_equal(zt_get_info(profiler).availability, reason);
    assert_contains(text, part);
    assert_int_equal(w->message_count, before + 1);
    assert_contains(w->messages[before], part);
    run(w, profiler, "timed");
    run(w, profiler, "timed");
    collect_all(profiler);
    assert_int_equal(region_info(profiler, "timed").count, 2);
    assert_int_equal(region_info(profiler, "timed").time_ns.count, 2);
    assert_int_equal(zt_get_info(profiler).metric_count, 0);
    assert_int_equal(w->message_count, before + 1);
    close_profiler(w, profiler);

    config.require_metrics = 1;
    fail_to_open(w, &config, result);
    text = zt_last_error(NULL);
    assert_true(last_result() == result);
    assert_contains(text, part);
    check_work(w);
}

static uint32_t metrics_of(world *w, const char *group, zet_metric_group_sampling_type_flags_t type) {
    zet_metric_group_properties_t properties = {
        ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES, NULL, "", "", 0, 0, 0};
    ok(zetMetricGroupGetProperties(find_group(w, group, type), &properties));
    return properties.metricCount;
}

static void test_default_group_is_compute_basic(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_on(w, w->device, NULL);
    assert_int_equal(zt_get_info(profiler).availability, ZT_AVAILABLE);
    assert_string_equal(zt_get_metric(profiler, 0)->group, "ComputeBasic");
    assert_int_equal(zt_get_info(profiler).metric_count,
                     metrics_of(w, "ComputeBasic", ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED));
}

/* F1: the TIME group of the same name comes first and has fewer metrics. */
static void test_event_based_group_of_two_with_one_name(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "MemoryProfile");
    uint32_t event = metrics_of(w, "MemoryProfile", ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED);
    assert_int_not_equal(event,
                         metrics_of(w, "MemoryProfile", ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED));
    assert_int_equal(zt_get_info(profiler).metric_count, event);
}

static void test_group_find_by_name_and_type(void **state) {
    world *w = *state;
    zet_metric_group_sampling_type_flags_t types[] = {ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED,
                                                      ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED};
    for (int i = 0; i < 2; i++) {
        zet_metric_group_handle_t group = NULL;
        ok(zt_find_group(w->device, "HostScheduler", types[i], &group));
        assert_ptr_equal(group, find_group(w, "HostScheduler", types[i]));
    }
}

static void test_nearest_names_of_an_unknown_group(void **state) {
    world *w = *state;
    const char *text = NULL;
    zet_metric_group_handle_t group = NULL;
    assert_result(
        zt_find_group(w->device, "ComputeBasik", ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED, &group),
        ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_null(group);
    text = zt_last_error(NULL);
    assert_result(last_result(), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_contains(text, "ComputeBasik");
    assert_contains(text, "ComputeBasic");
}

static void test_groups_of_two_domains_together(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic, HostScheduler");
    zet_metric_group_sampling_type_flags_t event = ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED;
    uint32_t compute = metrics_of(w, "ComputeBasic", event);
    assert_int_equal(zt_get_info(profiler).metric_count, compute + metrics_of(w, "HostScheduler", event));
    assert_string_equal(zt_get_metric(profiler, 0)->group, "ComputeBasic");
    assert_string_equal(zt_get_metric(profiler, compute)->group, "HostScheduler");
    run(w, profiler, "both");
    collect_all(profiler);
    for (uint32_t i = 0; i < zt_get_info(profiler).metric_count; i++) {
        zt_stats stats;
        ok(zt_get_stats(profiler, 0, i, &stats));
        assert_int_equal(stats.count, 1);
    }
    check_work(w);
}

/* F7: the driver would accept both and activate only the last. */
static void test_groups_of_one_domain_are_refused(void **state) {
    world *w = *state;
    const char *text = NULL;
    zt_config config = config_of(w);
    config.groups = "ComputeBasic,MemoryProfile";
    config.require_metrics = 1;
    gpu.behave(SOFTGPU_LAST_OF_DOMAIN_WINS, 1);
    gpu.reset_calls();
    fail_to_open(w, &config, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    text = zt_last_error(NULL);
    assert_contains(text, "ComputeBasic");
    assert_contains(text, "MemoryProfile");
    assert_int_equal(calls("zetContextActivateMetricGroups"), 0);
    config.require_metrics = 0;
    expect_times(w, config, ZT_GROUPS_CONFLICT, "MemoryProfile", ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

static void test_unknown_group(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "MemoryProfil";
    expect_times(w, config, ZT_NO_SUCH_GROUP, "MemoryProfile", ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_true(heard(w, "'MemoryProfil'") || heard(w, "\"MemoryProfil\""));
}

/* F19: an IP-sampling group cannot be queried. */
static void test_group_that_is_not_event_based(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    gpu.behave(SOFTGPU_STALL_SAMPLING, 1);
    config.groups = "EuStallSampling";
    expect_times(w, config, ZT_NO_SUCH_GROUP, "EuStallSampling", ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

static void test_environment_overrides_groups(void **state) {
    NOT_ON_WINDOWS("variables of the environment cannot be empty there");
    world *w = *state;
    zt_config config = config_of(w);
    setenv("ZT_GROUPS", "HostScheduler", 1);
    config.groups = "ComputeBasic";
    zt_profiler *profiler = open_profiler(w, &config);
    assert_string_equal(zt_get_metric(profiler, 0)->group, "HostScheduler");
    close_profiler(w, profiler);
    setenv("ZT_GROUPS", "", 1);
    profiler = open_profiler(w, &config);
    assert_int_equal(zt_get_info(profiler).availability, ZT_TIMES_BY_CHOICE);
}

/* F20: drivers may refuse to calculate for a root device with several tiles. No sample may be uncounted. */
static void test_device_with_tiles(void **state) {
    world *w = *state;
    gpu.set_devices(1, 2);
    zt_config config = config_of(w);
    zt_profiler *profiler = open_profiler(w, &config);
    for (int i = 0; i < 5; i++)
        run(w, profiler, "tiles");
    zt_collect(profiler, A_WHILE);
    check_identity(profiler);
    zt_counts counts = zt_get_info(profiler).counts;
    assert_int_equal(counts.begun, 5);
    assert_int_equal(counts.collected + counts.lost, 5);
    check_work(w);
}

/* The application has chosen it, so nothing is reported. */
static void test_times_by_choice(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "";
    zt_profiler *profiler = open_profiler(w, &config);
    assert_int_equal(zt_get_info(profiler).availability, ZT_TIMES_BY_CHOICE);
    assert_int_equal(w->message_count, 0);
    assert_int_equal(zt_get_info(profiler).metric_count, 0);
    run(w, profiler, "timed");
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    assert_int_equal(calls("zetContextActivateMetricGroups"), 0);
    assert_int_equal(calls("zetMetricQueryPoolCreate"), 0);
    config.require_metrics = 1; /* which contradicts that */
    fail_to_open(w, &config, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_contains(zt_last_error(NULL), "[TIMES_BY_CHOICE]");
}

/* F2: if loader and driver cannot enable metrics at run time, the message names the remedy. */
static void test_metrics_not_enabled(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    gpu.behave(SOFTGPU_METRICS_NOT_ENABLED, 1);
    inject("zetDeviceEnableMetricsExp", 1, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    zt_profiler *profiler = open_profiler(w, &config);
    const char *text = NULL;
    text = zt_get_info(profiler).availability_text;
    assert_int_equal(zt_get_info(profiler).availability, ZT_NOT_ENABLED);
    assert_contains(text, "ZET_ENABLE_METRICS");
    assert_contains(text, "zeInit");
    assert_int_equal(heard(w, "ZET_ENABLE_METRICS"), 1);
    run(w, profiler, "timed");
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));

    config.require_metrics = 1;
    inject("zetDeviceEnableMetricsExp", 1, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    fail_to_open(w, &config, ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE);

    /* Other drivers return this. */
    inject("zetMetricGroupGet", 1, ZE_RESULT_ERROR_UNINITIALIZED);
    inject("zetDeviceEnableMetricsExp", 1, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    fail_to_open(w, &config, ZE_RESULT_ERROR_UNINITIALIZED);
    assert_contains(zt_last_error(NULL), "ZET_ENABLE_METRICS");
}

static void test_metrics_are_enabled_at_run_time(void **state) {
    world *w = *state;
    if (!dlsym(RTLD_DEFAULT, "zetDeviceEnableMetricsExp"))
        skip(); /* this loader has no such function */
    gpu.behave(SOFTGPU_METRICS_NOT_ENABLED, 1);
    uint32_t count = 0;
    assert_result(zetMetricGroupGet(w->device, &count, NULL), ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE);
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    assert_int_equal(calls("zetDeviceEnableMetricsExp"), 1);
    run(w, profiler, "measured");
    collect_all(profiler);
    assert_int_equal(stats_of(profiler, "measured", "GpuTime").count, 1);
}

/* F3: permissions are not the cause. */
static void test_metric_library_missing(void **state) {
    world *w = *state;
    gpu.behave(SOFTGPU_NO_METRIC_LIBRARY, 1);
    expect_times(w, config_of(w), ZT_LIBRARY_MISSING, "libigdmd", ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE);
    gpu.behave(SOFTGPU_NO_METRIC_LIBRARY, 0);
    gpu.behave(SOFTGPU_ONLY_STALL_SAMPLING, 1);
    expect_times(w, config_of(w), ZT_LIBRARY_MISSING, "libigdmd", ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE);
    assert_int_equal(heard(w, "paranoid"), 0);
}

/* F4, F39: a driver returns the same without permission and while another process has the counters. Who the user
   is decides nothing: root may lack CAP_PERFMON, and others may have it. */
static void test_no_permission_or_in_use(void **state) {
    world *w = *state;
    for (uint32_t held = 0; held < 2; held++) {
        gpu.behave(SOFTGPU_NO_PERMISSION, !held);
        gpu.behave(SOFTGPU_COUNTERS_HELD, held);
        expect_times(w, config_of(w), ZT_NO_PERMISSION, "no permission to use metrics",
                     ZE_RESULT_ERROR_INVALID_ARGUMENT);
        expect_times(w, config_of(w), ZT_NO_PERMISSION, "in use by another process",
                     ZE_RESULT_ERROR_INVALID_ARGUMENT);
    }
    assert_int_equal(heard(w, "libigdmd"), 0);
}

/* A driver that lacks permission when groups are activated says so. That is believed, whatever a file of the system
   says. */
static void test_permission_to_activate(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    const ze_result_t denied = ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS;
    for (int i = 0; i < 4; i++) {
        config.require_metrics = i % 2;
        assume_reserved(i < 2 ? "1" : "0");
        inject("zetContextActivateMetricGroups", 1, denied);
        if (i % 2) {
            fail_to_open(w, &config, denied);
        } else {
            zt_profiler *profiler = open_profiler(w, &config);
            assert_int_equal(zt_get_info(profiler).availability, ZT_NO_PERMISSION);
            assert_contains(w->messages[w->message_count - 1], zt_get_info(profiler).availability_text);
            close_profiler(w, profiler);
        }
        const char *message = i % 2 ? zt_last_error(NULL) : w->messages[w->message_count - 1];
        assert_contains(message, "[NO_PERMISSION] zetContextActivateMetricGroups failed: "
                                 "ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS");
        assert_null(strstr(message, "in use"));
    }
    assert_int_equal(zt_get_info(open_groups(w, "ComputeBasic")).availability, ZT_AVAILABLE);
}

/* The message has a file that reserves the counters. If none does, permission is not the cause. */
static void test_files_that_reserve_counters(void **state) {
    NOT_ON_WINDOWS("there are no such files");
    static const char last[] = "write 0 to /proc/sys/dev/i915/perf_stream_paranoid, or run with CAP_PERFMON";
    static const char *const reserving[] = {"1", "2", "?"}, *const others[] = {NULL, "0"};
    world *w = *state;
    gpu.behave(SOFTGPU_NO_PERMISSION, 1);
    for (int i = 0; i < 3; i++) {
        assume_reserved(reserving[i]);
        expect_times(w, config_of(w), ZT_NO_PERMISSION, last, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    }
    w->message_count = 0;
    for (int i = 0; i < 2; i++) {
        assume_reserved(others[i]);
        expect_times(w, config_of(w), ZT_IN_USE, "in use by another process",
                     ZE_RESULT_ERROR_INVALID_ARGUMENT);
    }
    assert_int_equal(heard(w, "paranoid"), 0);
}

static zet_metric_streamer_handle_t open_streamer(world *w, const char *name, ze_result_t expected) {
    zet_metric_group_handle_t group = find_group(w, name, ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED);
    zet_metric_streamer_desc_t desc = {ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC, NULL, 100, 1000000};
    zet_metric_streamer_handle_t streamer = NULL;
    assert_result(zetMetricStreamerOpen(w->context, w->device, group, &desc, NULL, &streamer), expected);
    return streamer;
}

/* F21 */
static void test_counters_in_use(void **state) {
    world *w = *state;
    zet_metric_group_handle_t group =
        find_group(w, "ComputeBasic", ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED);
    ok(zetContextActivateMetricGroups(w->context, w->device, 1, &group));
    zet_metric_streamer_handle_t streamer = open_streamer(w, "ComputeBasic", ZE_RESULT_SUCCESS);
    expect_times(w, config_of(w), ZT_IN_USE, "", ZE_RESULT_ERROR_NOT_AVAILABLE);
    ok(zetMetricStreamerClose(streamer));
    ok(zetContextActivateMetricGroups(w->context, w->device, 0, NULL));
    gpu.forget_findings(); /* activation replaces the whole set (F7), and cannot be queried */
}

/* If a driver refuses a query pool because somebody uses the counters, no group is activated: that would take them
   away. */
static void test_counters_in_use_are_not_taken(void **state) {
    static const ze_result_t results[] = {ZE_RESULT_ERROR_NOT_AVAILABLE,
                                          ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE};
    world *w = *state;
    for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
        gpu.reset_calls();
        inject("zetMetricQueryPoolCreate", 1, results[i]);
        zt_profiler *profiler = open_profiler(w, NULL);
        assert_int_equal(zt_get_info(profiler).availability, ZT_IN_USE);
        assert_contains(zt_get_info(profiler).availability_text, "zetMetricQueryPoolCreate");
        assert_int_equal(calls("zetContextActivateMetricGroups"), 0);
        close_profiler(w, profiler);
    }
}

/* Who is named as the user of the counters is a stream of this device, and not one of another. */
static void test_streams_of_this_and_another_device(void **state) {
    NOT_ON_WINDOWS("permission may be the cause there, too");
    world *w = *state;
    ze_device_handle_t devices[2];
    uint32_t count = 2;
    zt_stream_config stream_config = {0};
    zt_config config = config_of(w);
    gpu.set_devices(2, 0);
    ok(zeDeviceGet(w->driver, &count, devices));
    stream_config.group = "HostScheduler";
    config.groups = "ComputeBasic";
    assume_reserved("0");
    for (int i = 0; i < 2; i++) {
        zt_stream *stream = NULL;
        ok(zt_stream_open(w->context, devices[i], &stream_config, &stream));
        gpu.behave(SOFTGPU_COUNTERS_HELD, 1);
        zt_profiler *profiler = open_on(w, devices[0], &config);
        gpu.behave(SOFTGPU_COUNTERS_HELD, 0);
        assert_int_equal(zt_get_info(profiler).availability, ZT_IN_USE);
        assert_contains(zt_get_info(profiler).availability_text,
                        i == 0 ? "in use by group 'HostScheduler' of a stream of this process"
                               : "in use by another process, or a stream or query of this program's own");
        close_profiler(w, profiler);
        zt_stream_close(stream, NULL, NULL, NULL);
    }
}

static void test_groups_are_deactivated_at_close(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic,HostScheduler");
    close_profiler(w, profiler);
    open_streamer(w, "ComputeBasic", ZE_RESULT_NOT_READY);
    open_streamer(w, "HostScheduler", ZE_RESULT_NOT_READY);
}

/* If opening fails after activation, the groups are deactivated. */
static void test_groups_are_deactivated_after_failure(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.require_metrics = 1;
    inject("zetMetricQueryPoolCreate", 2, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    fail_to_open(w, &config, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    open_streamer(w, "ComputeBasic", ZE_RESULT_NOT_READY);
}

/* For a query pool without permission, drivers return INVALID_ARGUMENT. From other calls it has its usual
   meaning. */
static void test_invalid_argument_is_no_lack_of_permission(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    const char *functions[] = {"zetMetricGroupGet", "zetMetricGroupGetProperties", "zetMetricGet",
                               "zetContextActivateMetricGroups", "zeEventPoolCreate"};
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        const char *text;
        for (int unknown = 0; unknown < 2; unknown++) { /* it has this meaning for streams */
            inject(functions[i], 1, unknown ? ZE_RESULT_ERROR_UNKNOWN : ZE_RESULT_ERROR_INVALID_ARGUMENT);
            zt_profiler *profiler = open_profiler(w, &config);
            text = zt_get_info(profiler).availability_text;
            assert_int_equal(zt_get_info(profiler).availability, ZT_NOT_SUPPORTED);
            assert_contains(text, functions[i]);
            close_profiler(w, profiler);
        }
    }
}

static void test_driver_without_metrics(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    inject("zetMetricGroupGet", 1, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    zt_profiler *profiler = open_profiler(w, &config);
    const char *text = NULL;
    text = zt_get_info(profiler).availability_text;
    assert_int_equal(zt_get_info(profiler).availability, ZT_NOT_SUPPORTED);
    assert_contains(text, "zetMetricGroupGet");
    assert_contains(text, "ZE_RESULT_ERROR_UNSUPPORTED_FEATURE");
    run(w, profiler, "timed");
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
}

static void test_device_lost_before_open(void **state) {
    world *w = *state;
    zt_profiler *profiler = NULL;
    gpu.lose_device();
    zt_config config = config_of(w);
    assert_result(zt_open(w->context, w->device, &config, &profiler), ZE_RESULT_ERROR_DEVICE_LOST);
    assert_null(profiler);
    gpu.restore_device();
}

static void expect_measured(world *w, zt_profiler *profiler, const char *metric, uint64_t count) {
    run(w, profiler, "measured");
    collect_all(profiler);
    zt_stats stats = stats_of(profiler, "measured", metric);
    assert_int_equal(stats.count, count);
    assert_counts(profiler, counted(count, count, 0, 0, 0));
}

static void test_two_profilers_with_one_group(void **state) {
    world *w = *state;
    zt_profiler *first = open_groups(w, "ComputeBasic");
    zt_profiler *second = open_groups(w, "ComputeBasic");
    expect_measured(w, first, "GpuTime", 1);
    expect_measured(w, second, "GpuTime", 1);
    close_profiler(w, second);
    expect_measured(w, first, "GpuTime", 2);
}

/* F7, F8: an activation replaces the whole set, and queries of other groups are never ready. */
static void test_two_profilers_with_two_domains(void **state) {
    world *w = *state;
    zt_profiler *first = open_groups(w, "ComputeBasic");
    zt_profiler *second = open_groups(w, "HostScheduler");
    const char *host_metric = zt_get_metric(second, 0)->name;
    expect_measured(w, first, "GpuTime", 1);
    expect_measured(w, second, host_metric, 1);
    close_profiler(w, first);
    expect_measured(w, second, host_metric, 2);
}

static void test_two_profilers_cannot_share_a_domain(void **state) {
    world *w = *state;
    zt_profiler *first = open_groups(w, "ComputeBasic");
    zt_config config = config_of(w);
    config.groups = "MemoryProfile";
    zt_profiler *second = open_profiler(w, &config);
    assert_int_equal(zt_get_info(second).availability, ZT_IN_USE);
    assert_int_equal(heard(w, "[COUNTERS_HELD] zt_open: "), 1);
    assert_int_equal(heard(w, "ComputeBasic"), 1); /* it has the domain */
    expect_measured(w, first, "GpuTime", 1);
    run(w, second, "timed");
    collect_all(second);
    assert_counts(second, counted(1, 1, 0, 0, 0));
    close_profiler(w, second);
    expect_measured(w, first, "GpuTime", 2);
}

/* Regions of two profilers in turn and inside each other, on one list. */
static void test_two_profilers_on_one_list(void **state) {
    world *w = *state;
    zt_profiler *first = open_groups(w, "ComputeBasic");
    zt_profiler *second = open_groups(w, "ComputeBasic");
    for (int i = 0; i < 20; i++) {
        zt_region outer = zt_begin(first, w->immediate, "outer");
        zt_region inner = zt_begin(second, w->immediate, "inner");
        launch(w, w->immediate);
        zt_end(&inner);
        zt_end(&outer);
    }
    finish_immediate(w, w->immediate);
    collect_all(first);
    collect_all(second);
    assert_counts(first, counted(20, 20, 0, 0, 0));
    assert_counts(second, counted(20, 20, 0, 0, 0));
    assert_true(stats_of(first, "outer", "GPGPU_THREADGROUP_COUNT").sum == 20 * WORK_GROUPS);
    assert_true(stats_of(second, "inner", "GPGPU_THREADGROUP_COUNT").sum == 20 * WORK_GROUPS);
    check_work(w);
}

static void create_immediate_on(world *w, ze_device_handle_t device, ze_command_list_handle_t *list) {
    ze_device_handle_t own = w->device;
    w->device = device;
    create_immediate(w, list);
    w->device = own;
}

/* Activation is per device, so the profilers do not conflict. */
static void test_two_devices(void **state) {
    world *w = *state;
    ze_device_handle_t devices[2];
    ze_command_list_handle_t list;
    uint32_t count = 2;
    gpu.set_devices(2, 0);
    ok(zeDeviceGet(w->driver, &count, devices));
    assert_int_equal(count, 2);
    zt_config config = config_of(w);
    zt_profiler *first = open_groups(w, "ComputeBasic");
    config.groups = "MemoryProfile";
    zt_profiler *second = open_on(w, devices[1], &config);
    assert_int_equal(zt_get_info(second).availability, ZT_AVAILABLE);
    create_immediate_on(w, devices[1], &list);
    for (int i = 0; i < 5; i++) {
        run(w, first, "here");
        zt_region region = zt_begin(second, list, "there");
        ok(zeCommandListAppendMemoryCopy(list, w->ones, w->ones + 1, sizeof(float), NULL, 0, NULL));
        zt_end(&region);
        finish_immediate(w, list);
    }
    collect_all(first);
    collect_all(second);
    assert_counts(first, counted(5, 5, 0, 0, 0));
    assert_counts(second, counted(5, 5, 0, 0, 0));
    ok(zt_release(second, list));
    close_profiler(w, second);
    ok(zeCommandListDestroy(list));
    run(w, first, "here");
    collect_all(first);
    assert_counts(first, counted(6, 6, 0, 0, 0));
    check_work(w);
}

/* A sub-device is a device of its own. */
static void test_sub_device(void **state) {
    world *w = *state;
    ze_device_handle_t sub[2];
    uint32_t count = 2;
    gpu.set_devices(1, 2);
    ok(zeDeviceGetSubDevices(w->device, &count, sub));
    assert_int_equal(count, 2);
    zt_config config = config_of(w);
    zt_profiler *profiler = open_on(w, sub[1], &config);
    assert_int_equal(zt_get_info(profiler).availability, ZT_AVAILABLE);

    ze_command_list_handle_t list;
    create_immediate_on(w, sub[1], &list);
    append(w, profiler, list, "tile");
    finish_immediate(w, list);
    w->launches++;
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    assert_true(stats_of(profiler, "tile", "GPGPU_THREADGROUP_COUNT").sum == WORK_GROUPS);
    ok(zeCommandListDestroy(list));
    check_work(w);
}

static zt_profiler *open_group_on(world *w, ze_device_handle_t device, const char *group) {
    zt_config config = config_of(w);
    config.groups = group;
    return open_on(w, device, &config);
}

/* A device and its sub-devices have the same counters. */
static void test_device_and_sub_device_cannot_share_a_domain(void **state) {
    world *w = *state;
    ze_device_handle_t sub[2];
    uint32_t count = 2;
    gpu.set_devices(1, 2);
    ok(zeDeviceGetSubDevices(w->device, &count, sub));
    for (int turn = 0; turn < 2; turn++) {
        zt_profiler *first = open_group_on(w, turn ? sub[1] : w->device, "ComputeBasic");
        zt_profiler *second = open_group_on(w, turn ? w->device : sub[1], "MemoryProfile");
        assert_int_equal(zt_get_info(first).availability, ZT_AVAILABLE);
        assert_int_equal(zt_get_info(second).availability, ZT_IN_USE);
        assert_contains(zt_get_info(second).availability_text,
                        "'ComputeBasic' of a profiler of this process");
        close_profiler(w, first);
        close_profiler(w, second);
    }
    zt_profiler *first = open_group_on(w, sub[0], "ComputeBasic");
    zt_profiler *second = open_group_on(w, sub[1], "MemoryProfile"); /* these have no counters in common */
    assert_int_equal(zt_get_info(first).availability, ZT_AVAILABLE);
    assert_int_equal(zt_get_info(second).availability, ZT_AVAILABLE);
}

/* F5 */
static void test_nearest_names_of_an_unknown_metric(void **state) {
    world *w = *state;
    const char *text = NULL;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    assert_int_not_equal(zt_find_metric(profiler, "GpuTime"), UINT32_MAX);
    assert_int_equal(zt_find_metric(profiler, "GpuTimes"), UINT32_MAX);
    text = zt_get_info(profiler).error;
    assert_result(last_result(), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_contains(text, "GpuTimes");
    assert_contains(text, "'GpuTime'");
}

/* F5: names of metrics of another device leave regions with times. */
static void test_metric_names_of_another_device(void **state) {
    world *w = *state;
    gpu.behave(SOFTGPU_METRIC_NAMES_DIFFER, 1);
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    run(w, profiler, "measured");
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    assert_int_equal(region_info(profiler, "measured").time_ns.count, 1);
}

static void test_metric_properties(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic,HostScheduler");
    int without_units = 0;
    for (uint32_t i = 0; i < zt_get_info(profiler).metric_count; i++) {
        const zt_metric *metric = zt_get_metric(profiler, i);
        assert_non_null(metric->group);
        assert_non_null(metric->component);
        assert_non_null(metric->description);
        assert_true(strlen(metric->name) > 0);
        assert_ptr_equal(zt_get_metric(profiler, i), metric);
        without_units += metric->units[0] == 0;
    }
    assert_true(without_units > 0);
    assert_null(zt_get_metric(profiler, zt_get_info(profiler).metric_count));
}

static int append_text(const void *bytes, size_t size, void *user) {
    char *text = (char *)user;
    size_t length = strlen(text);
    if (length + size >= 65536)
        return 1;
    memcpy(text + length, bytes, size);
    text[length + size] = 0;
    return 0;
}

/* Where the description of a metric begins: behind the first word for an aggregation. */
static size_t description_column(const char *line) {
    static const char *const words[] = {" sum   ", " mean  ", " flag  ", " none  "};
    size_t first = strlen(line);
    for (int i = 0; i < 4; i++) {
        const char *word = strstr(line, words[i]);
        if (word && (size_t)(word - line) + 7 < first)
            first = (size_t)(word - line) + 7;
    }
    return first;
}

static void test_listing_of_groups(void **state) {
    world *w = *state;
    static char groups[65536], metrics[65536];
    groups[0] = metrics[0] = 0;
    ok(zt_write_groups(w->device, 0, append_text, groups));
    assert_contains(groups, "ComputeBasic");
    assert_contains(groups, "MemoryProfile");
    assert_contains(groups, "HostScheduler");
    assert_null(strstr(groups, "AvgGpuCoreFrequencyMHz"));
    ok(zt_write_groups(w->device, 1, append_text, metrics));
    assert_contains(metrics, "HostScheduler");
    assert_contains(metrics, "AvgGpuCoreFrequencyMHz");
    assert_contains(metrics, "MHz");
    assert_contains(metrics,
                    "    COMMAND_PARSER_COMPUTE_ENGINE_DISPATCH_KERNEL_COUNT "); /* to be copied from here */
    size_t column = 0;
    for (char *line = strtok(metrics, "\n"); line; line = strtok(NULL, "\n")) {
        if (strncmp(line, "    ", 4) != 0 || strchr("0123456789", line[5])) {
            column = 0; /* of a group */
            continue;
        }
        assert_int_not_equal(line[4], ' ');
        size_t here = description_column(line);
        column = column ? column : here;
        assert_int_equal(here, column); /* descriptions of a group stand below each other */
        assert_int_not_equal(line[here], ' ');
    }
}

/* F3: without metric libraries there is nothing, or instruction sampling alone, to be listed: the cause is
   told. */
static void test_listing_without_counters(void **state) {
    NOT_ON_WINDOWS("the device samples no instructions there");
    world *w = *state;
    static char groups[65536];
    groups[0] = 0;
    gpu.behave(SOFTGPU_NO_METRIC_LIBRARY, 1);
    assert_result(zt_write_groups(w->device, 0, append_text, groups), ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE);
    assert_string_equal(groups, "");
    assert_contains(zt_last_error(NULL), "libigdmd");
    gpu.behave(SOFTGPU_NO_METRIC_LIBRARY, 0);
    gpu.behave(SOFTGPU_ONLY_STALL_SAMPLING, 1);
    assert_result(zt_write_groups(w->device, 0, append_text, groups), ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE);
    assert_contains(groups, "instructions");
    assert_contains(groups, "EuStallSampling");
    assert_contains(zt_last_error(NULL), "libigdmd");
}

/* F34: instruction sampling is time-based, but its rows are for addresses, not for periods. */
static void test_instruction_sampling_is_no_stream(void **state) {
    NOT_ON_WINDOWS("the device samples no instructions there");
    world *w = *state;
    zet_metric_group_handle_t group = NULL;
    zt_stream *stream = (zt_stream *)w;
    zt_stream_config config = {0};
    gpu.behave(SOFTGPU_STALL_SAMPLING, 1);
    config.group = "EuStallSampling";
    assert_result(zt_stream_open(w->context, w->device, &config, &stream), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_null(stream);
    assert_contains(zt_last_error(NULL), "'EuStallSampling' samples instructions");
    ok(zt_find_group(w->device, "EuStallSampling", ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED, &group));
    assert_non_null(group); /* for callers that calculate it themselves */
}

/* A message begins with its identifier, has the result of the failed call, and is logged once. */
static void test_messages(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    for (int i = 0; i < 3; i++) {
        inject("zetCommandListAppendMetricQueryBegin", 1, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
        run(w, profiler, "refused");
    }
    assert_int_equal(w->message_count, 1);
    assert_int_equal(w->message_results[0], ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_contains(w->messages[0], "zetCommandListAppendMetricQueryBegin");
    assert_contains(w->messages[0], "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY");
    assert_true(strcspn(w->messages[0], ": ") > 3);
    const char *text = NULL;
    text = zt_get_info(profiler).error;
    assert_result(last_result(), ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_string_equal(text, w->messages[0]);
    assert_int_equal(zt_get_info(profiler).causes[ZT_DROPPED_APPEND_FAILED].count, 3);
    check_work(w);
}

static void test_result_names(void **state) {
    (void)state;
    assert_string_equal(zt_result_name(ZE_RESULT_SUCCESS), "ZE_RESULT_SUCCESS");
    assert_string_equal(zt_result_name(ZE_RESULT_NOT_READY), "ZE_RESULT_NOT_READY");
    assert_string_equal(zt_result_name(ZE_RESULT_ERROR_DEVICE_LOST), "ZE_RESULT_ERROR_DEVICE_LOST");
    assert_string_equal(zt_result_name((ze_result_t)0x70020001), "ZE_RESULT_WARNING_DROPPED_DATA");
    /* Of a newer driver than the headers. */
    assert_string_equal(zt_result_name((ze_result_t)0x78000020),
                        "ZE_RESULT_ERROR_SURVIVABILITY_MODE_DETECTED");
    assert_string_equal(zt_result_name(ZE_RESULT_ERROR_UNKNOWN), "ZE_RESULT_ERROR_UNKNOWN");
    assert_non_null(zt_result_name((ze_result_t)0x12345678));
}

/* Each of the specification's results has a name of its own. */
static void test_every_result_has_a_name(void **state) {
    static const struct {
        uint32_t first, last;
    } ranges[] = {{0, 1},
                  {0x70000001, 0x70000007},
                  {0x7ff00001, 0x7ff00006},
                  {0x70010000, 0x70010001},
                  {0x70020000, 0x70020001},
                  {0x78000001, 0x7800002a},
                  {0x7ffffffe, 0x7ffffffe}};
    const char *names[80];
    int count = 0;
    (void)state;
    for (size_t range = 0; range < sizeof ranges / sizeof *ranges; range++) {
        for (uint32_t value = ranges[range].first; value <= ranges[range].last; value++) {
            const char *name = zt_result_name((ze_result_t)value);
            assert_int_equal(strncmp(name, "ZE_RESULT_", 10), 0);
            for (int i = 0; i < count; i++)
                assert_string_not_equal(name, names[i]);
            names[count++] = name;
        }
    }
}

static void test_cause_names(void **state) {
    const zt_info info = zt_get_info(NULL);
    (void)state;
    for (int a = 0; a < ZT_CAUSE_COUNT; a++) {
        assert_true(strlen(info.causes[a].name) > 0);
        for (int b = 0; b < a; b++)
            assert_string_not_equal(info.causes[a].name, info.causes[b].name);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_default_group_is_compute_basic),
        TEST(test_event_based_group_of_two_with_one_name),
        TEST(test_group_find_by_name_and_type),
        TEST(test_nearest_names_of_an_unknown_group),
        TEST(test_groups_of_two_domains_together),
        TEST(test_groups_of_one_domain_are_refused),
        TEST(test_unknown_group),
        TEST(test_group_that_is_not_event_based),
        TEST(test_environment_overrides_groups),
        TEST(test_times_by_choice),
        TEST(test_metrics_not_enabled),
        TEST(test_metrics_are_enabled_at_run_time),
        TEST(test_metric_library_missing),
        TEST(test_no_permission_or_in_use),
        TEST(test_permission_to_activate),
        TEST(test_files_that_reserve_counters),
        TEST(test_counters_in_use),
        TEST(test_counters_in_use_are_not_taken),
        TEST(test_streams_of_this_and_another_device),
        TEST(test_groups_are_deactivated_at_close),
        TEST(test_groups_are_deactivated_after_failure),
        TEST(test_invalid_argument_is_no_lack_of_permission),
        TEST(test_driver_without_metrics),
        TEST(test_device_lost_before_open),
        TEST(test_two_profilers_with_one_group),
        TEST(test_two_profilers_with_two_domains),
        TEST(test_two_profilers_cannot_share_a_domain),
        TEST(test_two_profilers_on_one_list),
        TEST(test_two_devices),
        TEST(test_sub_device),
        TEST(test_device_and_sub_device_cannot_share_a_domain),
        TEST(test_device_with_tiles),
        TEST(test_nearest_names_of_an_unknown_metric),
        TEST(test_metric_names_of_another_device),
        TEST(test_metric_properties),
        TEST(test_listing_of_groups),
        TEST(test_listing_without_counters),
        TEST(test_instruction_sampling_is_no_stream),
        TEST(test_messages),
        TEST(test_result_names),
        TEST(test_every_result_has_a_name),
        TEST(test_cause_names),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
