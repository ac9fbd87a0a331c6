/* OpenMetrics text: other programs read back the figures that the library has, and Prometheus's own tool
   accepts it. */
#define _GNU_SOURCE
#include "fixture.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int open_directory(void **state) {
    return make_directory(state) == 0 ? open_world(state) : -1;
}

static int close_directory(void **state) {
    return remove_directory(state) == 0 ? close_world(state) : -1;
}

#define IN_DIRECTORY(function) cmocka_unit_test_setup_teardown(function, open_directory, close_directory)

/* Runs a command of other programs, which must not run under the loader of a test. */
static int run_outside(const char *command) {
    char whole[5 * PATH_MAX];
    snprintf(whole, sizeof whole, "unset LD_LIBRARY_PATH LD_PRELOAD; %s", command);
    return system(whole);
}

static void put_name(FILE *file, const char *kind, const char *name) {
    fprintf(file, "%s\t", kind);
    for (; *name; name++)
        fprintf(file, "%02x", (unsigned char)*name);
}

static const char *aggregation_of(const zt_metric *metric) {
    static const char *const names[] = {"sum", "mean", "flag", "none"};
    return names[metric->aggregation];
}

/* How many streams, each of the same group, the profiler of the test has had. */
static uint32_t streams_of_profiler;

static void put_summary(FILE *file, const char *kind, const char *region, const zt_stats *stats) {
    put_name(file, kind, region);
    fprintf(file, "\t%llu\t%a\t%a\t%a\t%a\t%a\n", (unsigned long long)stats->count, stats->sum, stats->min,
            stats->median, stats->p95, stats->max);
}

static void put_region(const zt_profiler *profiler, uint32_t index, FILE *file) {
    zt_region_info info;
    zt_stats stats;
    ok(zt_get_region(profiler, index, &info));
    put_summary(file, "gpu_time", info.name, &info.time_ns);
    ok(zt_get_stats(profiler, index, ZT_QUEUE_LATENCY, &stats));
    put_summary(file, "queue_latency", info.name, &stats);
    ok(zt_get_stats(profiler, index, ZT_LAUNCH_LATENCY, &stats));
    put_summary(file, "launch_latency", info.name, &stats);
    if (info.count && !isnan(info.own_ns)) {
        put_name(file, "own", info.name);
        fprintf(file, "\t%a\n", info.own_ns);
    }
    zt_limit_info limit;
    ok(zt_get_limit(profiler, index, &limit));
    put_name(file, "of_peak", info.name);
    fprintf(file, "\t%a\t%a\t%a\t%a\n", limit.bandwidth, limit.compute, limit.xmx, limit.occupancy);
    put_name(file, "lost", info.name);
    fprintf(file, "\t%llu\t%llu\n", (unsigned long long)info.lost, (unsigned long long)info.dropped);
    for (uint32_t i = 0; i < zt_get_info(profiler).pass_count && zt_get_info(profiler).metric_count > 0;
         i++) {
        ok(zt_get_stats(profiler, index, ZT_PASS_TIME(i), &stats));
        if (!isnan(stats.sum)) {
            put_name(file, "pass", info.name);
            fprintf(file, "\t%u\t%a\n", i, stats.sum);
        }
    }
    for (uint32_t i = 0; i < zt_get_info(profiler).metric_count; i++) {
        const zt_metric *metric = zt_get_metric(profiler, i);
        ok(zt_get_stats(profiler, index, i, &stats));
        put_name(file, "metric", info.name);
        fprintf(file, "\t%s\t%s\t%s\t%s\t%u\t%a\n", metric->group, metric->name, metric->units,
                aggregation_of(metric), metric->pass,
                metric->aggregation == ZT_AGGREGATE_MEAN ? stats.mean : stats.sum);
        for (uint32_t tile = 0; tile < zt_get_info(profiler).tile_count; tile++) {
            ok(zt_get_stats(profiler, index, ZT_TILE(tile, i), &stats));
            put_name(file, "tile", info.name);
            fprintf(file, "\t%s\t%s\t%s\t%s\t%u\t%a\t%u\n", metric->group, metric->name, metric->units,
                    aggregation_of(metric), metric->pass,
                    metric->aggregation == ZT_AGGREGATE_MEAN ? stats.mean : stats.sum, tile);
        }
    }
    for (uint32_t i = 0; i < zt_get_info(profiler).streamed_count; i++) {
        const zt_metric *metric = zt_get_metric(profiler, ZT_STREAMED(i));
        zt_stats streamed;
        ok(zt_get_stats(profiler, index, ZT_STREAMED(i), &streamed));
        for (int is_peak = 0; is_peak < 2; is_peak++) {
            put_name(file, "streamed", info.name);
            fprintf(file, "\t%s\t%s\t%s\t%s\t%s\t%a\t%u\n", metric->group, metric->name, metric->units,
                    aggregation_of(metric), is_peak ? "peak" : "mean", is_peak ? streamed.max : streamed.mean,
                    1 + i / (zt_get_info(profiler).streamed_count / streams_of_profiler));
        }
    }
}

static void write_expected(const zt_profiler *profiler, const world *w, const char *path) {
    FILE *file = fopen(path, "w");
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    zt_counts counts = zt_get_info(profiler).counts;
    assert_non_null(file);
    ok(zeDeviceGetProperties(w->device, &properties));
    assert_true(zt_get_info(profiler).availability <= ZT_TIMES_BY_CHOICE);
    fprintf(file, "info\t%s\t%s\n", properties.name,
            zt_get_info(profiler).availability == ZT_AVAILABLE ? "available" : "times_by_choice");
    fprintf(file, "counts\t%llu\t%llu\t%llu\n", (unsigned long long)counts.collected,
            (unsigned long long)counts.in_flight, (unsigned long long)counts.unobserved_lists);
    for (int i = 0; i < ZT_CAUSE_COUNT; i++)
        fprintf(file, "cause\t%s\t%s\t%llu\n", i < ZT_DROPPED_NO_PROBE ? "lost" : "dropped",
                zt_get_info(NULL).causes[(zt_cause)i].name,
                (unsigned long long)zt_get_info(profiler).causes[(zt_cause)i].count);
    zt_trace_counts launches = zt_get_info(profiler).launches;
    if (launches.launches > 0)
        for (int i = 0; i < ZT_UNMEASURED_COUNT; i++)
            fprintf(file, "launches\t%s\t%llu\n", launches.unmeasured[i].name,
                    (unsigned long long)launches.unmeasured[i].count);
    for (uint32_t i = 0; i < zt_get_info(profiler).region_count; i++)
        put_region(profiler, i, file);
    for (uint32_t i = 0; i < zt_get_info(profiler).call_count; i++) {
        zt_call_info call;
        ok(zt_get_call(profiler, i, &call));
        fprintf(file, "call\t%s\t%llu\t%llu\n", call.name, (unsigned long long)call.count,
                (unsigned long long)call.errors);
    }
    fclose(file);
}

/* Writes a report, and has it read back. */
static void check_report(const zt_profiler *profiler, const world *w) {
    char script[PATH_MAX], command[2 * PATH_MAX];
    const char *report = in_directory("run.prom"), *expected = in_directory("expected");
    ok(zt_report(profiler, report));
    write_expected(profiler, w, expected);
    find_file("tests/check_openmetrics.py", script, sizeof script);
    snprintf(command, sizeof command, "python3 '%s' '%s' '%s' >&2", script, report, expected);
    if (run_outside(command) != 0)
        fail_msg("%s was not read back", report);
}

static void test_figures_are_read_back(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic,HostScheduler");
    for (int i = 0; i < 40; i++)
        run(w, profiler, i % 3 ? "often" : "seldom");
    collect_all(profiler);
    check_report(profiler, w);
}

/* Own times add up to the GPU time of all. They are left out while they are not known. */
static void test_own_times(void **state) {
    world *w = *state;
    static const char family[] = "zetools_region_own_gpu_time_seconds_total{region=\"outer\"}";
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    zt_region outer = zt_begin(profiler, w->immediate, "outer");
    append(w, profiler, w->immediate, "inner");
    zt_end(&outer);
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    check_report(profiler, w);
    assert_contains(written_report(profiler, ZT_FORMAT_OPENMETRICS), family);
    outer = zt_begin(profiler, w->immediate, "outer");
    check_report(profiler, w);
    assert_null(strstr(written_report(profiler, ZT_FORMAT_OPENMETRICS), family));
    zt_end(&outer);
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    check_report(profiler, w);
}

static void test_metrics_of_a_real_device(void **state) {
    world *w = *state;
    gpu.behave(SOFTGPU_B580_METRICS, 1);
    gpu.set_metric("XVE_STALL", 25.0);
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    run(w, profiler, "region");
    collect_all(profiler);
    check_report(profiler, w);
    const char *text = written_report(profiler, ZT_FORMAT_OPENMETRICS);
    assert_contains(text, "\nzetools_metric_xve_stall_ratio{region=\"region\",metric=\"XVE_STALL\",group=\""
                          "ComputeBasic\"} 0.25\n");
    assert_contains(text, "\n# TYPE zetools_metric_avg_gpu_core_frequency_hertz gauge\n"
                          "# UNIT zetools_metric_avg_gpu_core_frequency_hertz hertz\n");
    assert_contains(text, "\nzetools_metric_gpu_memory_byte_read_rate_bytes_per_second{");
}

/* Names that differ in their letters alone, and those that end like what OpenMetrics appends. */
static void test_names_of_metrics_that_would_clash(void **state) {
    static const softgpu_metric metrics[] = {
        {"HITs", "Own", "", ZET_METRIC_TYPE_RAW, ZET_VALUE_TYPE_UINT64}, /* not combined */
        {"HITS", "Own", "", ZET_METRIC_TYPE_EVENT, ZET_VALUE_TYPE_UINT64},
        {"Hits", "Own", "", ZET_METRIC_TYPE_RATIO, ZET_VALUE_TYPE_FLOAT32},
        {"hits", "Own", "", ZET_METRIC_TYPE_EVENT, ZET_VALUE_TYPE_UINT64},
        {"WORK_COUNT", "Own", "", ZET_METRIC_TYPE_EVENT, ZET_VALUE_TYPE_UINT64},
        {"Share of work, total", "Own", "", ZET_METRIC_TYPE_RATIO, ZET_VALUE_TYPE_FLOAT32},
        {"SENDS", "Own", "EU sends", ZET_METRIC_TYPE_EVENT, ZET_VALUE_TYPE_UINT64},
    };
    world *w = *state;
    assert_true(gpu.list_metrics("Own", metrics, sizeof metrics / sizeof *metrics));
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++)
        assert_true(gpu.set_metric(metrics[i].name, (double)i));
    zt_profiler *profiler = open_groups(w, "Own");
    run(w, profiler, "region");
    collect_all(profiler);
    ok(zt_report(profiler, in_directory("run.prom")));
    const char *text = written_report(profiler, ZT_FORMAT_OPENMETRICS);
    const char *const samples[][2] = {
        {"hits_total", "metric=\"HITS\",group=\"Own\"} 1"},
        {"hits_gauge", "metric=\"Hits\",group=\"Own\"} 2"},
        {"hits_total", "metric=\"hits\",group=\"Own\"} 3"},
        {"work_count_value_total", "metric=\"WORK_COUNT\",group=\"Own\"} 4"},
        {"share_of_work_total_value", "metric=\"Share of work, total\",group=\"Own\"} 5"},
        {"sends_eu_sends_total", "metric=\"SENDS\",group=\"Own\"} 6"}};
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        char line[192];
        snprintf(line, sizeof line, "\nzetools_metric_%s{region=\"region\",%s\n", samples[i][0],
                 samples[i][1]);
        assert_contains(text, line);
    }
    check_report(profiler, w);
    close_profiler(w, profiler);
}

/* Names have letters, digits and single underscores alone, and figures are in base units. */
static void test_names_and_units_of_metrics(void **state) {
    static const softgpu_metric metrics[] = {
        {"_Odd{Name}_", "Own", "", ZET_METRIC_TYPE_RATIO, ZET_VALUE_TYPE_FLOAT64},
        {"L3[Bandwidth", "Own", "KBpS", ZET_METRIC_TYPE_THROUGHPUT, ZET_VALUE_TYPE_FLOAT64},
        {"\xc3\x9c"
         "berZeit",
         "Own", "ms", ZET_METRIC_TYPE_RATIO, ZET_VALUE_TYPE_FLOAT64},
        {"Load", "Own", "%", ZET_METRIC_TYPE_RATIO, ZET_VALUE_TYPE_FLOAT64},
        {"ClockGHz", "Own", "GHz", ZET_METRIC_TYPE_RATIO, ZET_VALUE_TYPE_FLOAT64},
        {"PowerW", "Own", "W", ZET_METRIC_TYPE_RATIO, ZET_VALUE_TYPE_FLOAT64},
        {"Change", "Own", "", ZET_METRIC_TYPE_RATIO, ZET_VALUE_TYPE_FLOAT64},
        {"Density", "Own", "/cm", ZET_METRIC_TYPE_RATIO, ZET_VALUE_TYPE_FLOAT64},
    };
    static const double values[] = {1, 2002, 250, 50, 2.5, 150, -0.25, 3};
    static const char *const samples[] = {
        "odd_name{region=\"region\",metric=\"_Odd{Name}_\",group=\"Own\"} 1",
        "l3_bandwidth_bytes_per_second{region=\"region\",metric=\"L3[Bandwidth\",group=\"Own\"} 2002000",
        ("ber_zeit_seconds{region=\"region\",metric=\"\xc3\x9c"
         "berZeit\",group=\"Own\"} 0.25"),
        "load_ratio{region=\"region\",metric=\"Load\",group=\"Own\"} 0.5",
        "clock_hertz{region=\"region\",metric=\"ClockGHz\",group=\"Own\"} 2500000000",
        "power_watts{region=\"region\",metric=\"PowerW\",group=\"Own\"} 150",
        "change{region=\"region\",metric=\"Change\",group=\"Own\"} -0.25",
        "density_cm{region=\"region\",metric=\"Density\",group=\"Own\"} 3"};
    world *w = *state;
    assert_true(gpu.list_metrics("Own", metrics, sizeof metrics / sizeof *metrics));
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++)
        assert_true(gpu.set_metric(metrics[i].name, values[i]));
    zt_profiler *profiler = open_groups(w, "Own");
    run(w, profiler, "region");
    collect_all(profiler);
    ok(zt_report(profiler, in_directory("run.prom")));
    const char *text = written_report(profiler, ZT_FORMAT_OPENMETRICS);
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        char line[192];
        snprintf(line, sizeof line, "\nzetools_metric_%s\n", samples[i]);
        assert_contains(text, line);
    }
    assert_contains(text, "\n# HELP zetools_metric_change Change\n"); /* there is no description */
    check_report(profiler, w);
    close_profiler(w, profiler);
}

/* A counter cannot have a negative figure, so there is none. */
static void test_a_negative_count(void **state) {
    static const softgpu_metric metrics[] = {
        {"Balance", "Own", "", ZET_METRIC_TYPE_EVENT, ZET_VALUE_TYPE_FLOAT64},
        {"Credit", "Own", "", ZET_METRIC_TYPE_EVENT, ZET_VALUE_TYPE_FLOAT64}};
    world *w = *state;
    assert_true(gpu.list_metrics("Own", metrics, 2));
    assert_true(gpu.set_metric("Balance", -1) && gpu.set_metric("Credit", 1));
    zt_profiler *profiler = open_groups(w, "Own");
    run(w, profiler, "region");
    collect_all(profiler);
    const char *text = written_report(profiler, ZT_FORMAT_OPENMETRICS);
    assert_contains(text, "\nzetools_metric_credit_total{");
    assert_null(strstr(text, "metric=\"Balance\""));
    assert_true(stats_of(profiler, "region", "Balance").sum == -1);
    close_profiler(w, profiler);
}

/* A unit of which more letters are needed than it may have is cut. */
static void test_a_long_unit(void **state) {
    char units[256] = "", line[512];
    for (size_t i = 0; i + 1 < sizeof units; i++)
        units[i] = i % 2 ? 'B' : 'a';
    const softgpu_metric metric = {"Own", "Own", units, ZET_METRIC_TYPE_RATIO, ZET_VALUE_TYPE_FLOAT64};
    world *w = *state;
    assert_true(gpu.list_metrics("Own", &metric, 1));
    zt_profiler *profiler = open_groups(w, "Own");
    run(w, profiler, "region");
    collect_all(profiler);
    const char *text =
        strstr(written_report(profiler, ZT_FORMAT_OPENMETRICS), "# UNIT zetools_metric_own_a_ba_b");
    assert_non_null(text);
    assert_int_equal(sscanf(text, "# UNIT zetools_metric_own_%*s %511s", line), 1);
    assert_in_range(strlen(line), 250, sizeof units - 1);
    ok(zt_report(profiler, in_directory("run.prom"))); /* which stays valid */
    close_profiler(w, profiler);
}

static void test_times_alone(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "";
    zt_profiler *profiler = open_profiler(w, &config);
    run(w, profiler, "timed");
    collect_all(profiler);
    check_report(profiler, w);
}

static void test_without_regions(void **state) {
    check_report(open_groups(*state, "ComputeBasic"), *state);
}

/* A name with a semicolon and two names inside each other are two series. */
static void test_names_of_paths(void **state) {
    static const char sample[] = "\nzetools_region_gpu_time_seconds_count{region=\"kernel\",path=\"%s\"} 1\n";
    static const char *const paths[] = {"a:b;kernel", "a;b;kernel"};
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    ZT_PHASE("a;b")
        run(w, profiler, "kernel");
    ZT_PHASE("a")
        ZT_PHASE("b")
            run(w, profiler, "kernel");
    collect_all(profiler);
    ok(zt_report(profiler, in_directory("run.prom"))); /* which is valid */
    const char *text = written_report(profiler, ZT_FORMAT_OPENMETRICS);
    for (int i = 0; i < 2; i++) {
        char line[128];
        snprintf(line, sizeof line, sample, paths[i]);
        assert_contains(text, line);
    }
    text = written_report(profiler, ZT_FORMAT_CSV);
    assert_contains(text, "\n\"a:b;kernel\",\"GPU time\"");
    assert_contains(text, "\n\"a;b;kernel\",\"GPU time\"");
}

static void test_names_of_all_kinds(void **state) {
    static const char *const names[] = {"",       "with \"quotes\"", "back\\slash", "two\nlines",
                                        "a,b{c}", "caf\xC3\xA9",     "\xFF",        "\xFE\xC3(",
                                        "\\xFF",  "\\x5CxFF",        "tab\t",       "return\r"};
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "MemoryProfile");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        run(w, profiler, names[i]);
    collect_all(profiler);
    check_report(profiler, w);
    assert_contains(written_report(profiler, ZT_FORMAT_OPENMETRICS),
                    "{region=\"with \\\"quotes\\\"\",metric=\"GpuTime\",");
}

static void test_losses_by_cause(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    gpu.behave(SOFTGPU_REPORT_LOST, 1);
    run(w, profiler, "lost");
    collect_all(profiler);
    gpu.behave(SOFTGPU_REPORT_LOST, 0);
    inject("zetCommandListAppendMetricQueryBegin", 1, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    run(w, profiler, "dropped");
    run(w, profiler, "measured");
    collect_all(profiler);
    check_report(profiler, w);
    const char *text = written_report(profiler, ZT_FORMAT_OPENMETRICS);
    assert_contains(text, "\nzetools_lost_samples_total{cause=\"report lost\"} 1\n");
    assert_contains(text, "\nzetools_dropped_samples_total{cause=\"append failed\"} 1\n");
    w->message_count = 0;
}

static void test_passes(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "ComputeBasic,MemoryProfile";
    config.max_passes = 2;
    zt_profiler *profiler = open_profiler(w, &config);
    ZT_PASSES(profiler) {
        run(w, profiler, "repeated");
        collect_all(profiler);
    }
    check_report(profiler, w);
    assert_contains(written_report(profiler, ZT_FORMAT_OPENMETRICS), ",group=\"MemoryProfile\",pass=\"1\"}");
}

static void test_tiles(void **state) {
    world *w = *state;
    gpu.set_devices(1, 2);
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    run(w, profiler, "some");
    run(w, profiler, "other");
    collect_all(profiler);
    assert_int_equal(zt_get_info(profiler).tile_count, 2);
    check_report(profiler, w);
    assert_contains(written_report(profiler, ZT_FORMAT_OPENMETRICS),
                    "\nzetools_tile_metric_gpu_time_seconds_total{region=\"some\",metric=\"GpuTime\",group="
                    "\"ComputeBasic\",tile=\"1\"} ");
}

/* Two streams, one after the other, of the same metrics: their samples are told apart. */
static void test_streams(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "";
    config.timeline = 100;
    zt_profiler *profiler = open_profiler(w, &config);
    for (int i = 0; i < 2; i++)
        stream_marked_region(w, profiler);
    streams_of_profiler = 2;
    check_report(profiler, w);
    const char *text = written_report(profiler, ZT_FORMAT_OPENMETRICS);
    assert_contains(text, "\n# TYPE zetools_streamed_peak_gpu_busy_ratio gauge\n");
    assert_contains(text, ",stream=\"2\"} ");
}

/* Figures of streams are of no pass. */
static void test_a_stream_beside_passes(void **state) {
    world *w = *state;
    zt_stream_config stream = {0};
    zt_config config = config_of(w);
    zt_stream *opened = NULL;
    config.groups = "ComputeBasic,MemoryProfile";
    config.max_passes = 2;
    config.timeline = 10;
    stream.profiler = open_profiler(w, &config);
    stream.group = "HostScheduler";
    ok(zt_stream_open(w->context, w->device, &stream, &opened));
    ZT_PASSES(stream.profiler) {
        zt_region region = zt_begin(stream.profiler, w->immediate, "marked");
        for (int i = 0; i < 2; i++) {
            ok(zt_stream_mark(opened, w->immediate, "step"));
            launch(w, w->immediate);
        }
        zt_end(&region);
        ok(zt_stream_mark(opened, w->immediate, "end"));
        finish_immediate(w, w->immediate);
        collect_all(stream.profiler);
    }
    zt_stream_close(opened, NULL, NULL, NULL);
    collect_all(stream.profiler);
    streams_of_profiler = 1;
    check_report(stream.profiler, w);
    assert_contains(written_report(stream.profiler, ZT_FORMAT_OPENMETRICS),
                    ",group=\"HostScheduler\",stream=\"1\"} ");
}

/* A flag of a stream has neither mean nor peak. */
static void test_a_flag_of_a_stream(void **state) {
    static const softgpu_metric metrics[] = {
        {"Failed", "Own", "", ZET_METRIC_TYPE_FLAG, ZET_VALUE_TYPE_BOOL8},
        {"Load", "Own", "percent", ZET_METRIC_TYPE_RATIO, ZET_VALUE_TYPE_FLOAT64}};
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "";
    config.timeline = 100;
    assert_true(gpu.list_metrics("ComputeBasic", metrics, 2)); /* instead of that of the device */
    assert_true(gpu.set_metric("Load", 50));
    zt_profiler *profiler = open_profiler(w, &config);
    stream_marked_region(w, profiler);
    streams_of_profiler = 1;
    check_report(profiler, w);
    const char *text = written_report(profiler, ZT_FORMAT_OPENMETRICS);
    assert_contains(
        text, "\nzetools_streamed_peak_load_ratio{region=\"marked\",metric=\"Load\",group=\"ComputeBasic\","
              "stream=\"1\"} 0.5\n");
    assert_null(strstr(text, "metric=\"Failed\""));
    close_profiler(w, profiler);
}

static void test_calls(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    zt_trace_config config = {0};
    config.calls = "zeCommandListHostSynchronize,zeCommandListAppendLaunchKernel,zeEventQueryStatus";
    ok(zt_trace_start(profiler, &config));
    launch(w, w->immediate);
    finish_immediate(w, w->immediate);
    ok(zt_trace_stop(profiler));
    collect_all(profiler);
    assert_true(zt_get_info(profiler).call_count > 0);
    check_report(profiler, w);
}

/* ==== Prometheus ========================================================================================== */

/* Which has the packages of the system, whatever else there is. */
#define SYSTEMS_PYTHON "PATH=/usr/bin:$PATH python3"

/* What the parser of Prometheus's client for Python reads is what the parser of these tests reads. */
static void compare_with_prometheus(const zt_profiler *profiler, const world *w) {
    char script[PATH_MAX], command[2 * PATH_MAX];
    if (run_outside(SYSTEMS_PYTHON " -c 'import prometheus_client.openmetrics.parser' 2>/dev/null") != 0) {
        print_message(
            "skipped: Python has no prometheus_client (Debian's package python3-prometheus-client), "
            "so run.prom is not read by it\n");
        skip();
    }
    check_report(profiler, w);
    find_file("tests/check_openmetrics.py", script, sizeof script);
    snprintf(command, sizeof command, SYSTEMS_PYTHON " '%s' --prometheus '%s' >&2", script,
             in_directory("run.prom"));
    assert_int_equal(run_outside(command), 0);
}

static void test_parser_of_prometheus(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic,HostScheduler");
    run(w, profiler, "with \"quotes\"\nand \\ more");
    run(w, profiler, "\xFF");
    collect_all(profiler);
    compare_with_prometheus(profiler, w);
}

static void test_parser_of_prometheus_with_metrics_of_a_real_device(void **state) {
    world *w = *state;
    gpu.behave(SOFTGPU_B580_METRICS, 1);
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    run(w, profiler, "region");
    collect_all(profiler);
    compare_with_prometheus(profiler, w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(test_figures_are_read_back),
        IN_DIRECTORY(test_own_times),
        IN_DIRECTORY(test_metrics_of_a_real_device),
        IN_DIRECTORY(test_names_of_metrics_that_would_clash),
        IN_DIRECTORY(test_names_and_units_of_metrics),
        IN_DIRECTORY(test_a_negative_count),
        IN_DIRECTORY(test_a_long_unit),
        IN_DIRECTORY(test_times_alone),
        IN_DIRECTORY(test_without_regions),
        IN_DIRECTORY(test_names_of_paths),
        IN_DIRECTORY(test_names_of_all_kinds),
        IN_DIRECTORY(test_losses_by_cause),
        IN_DIRECTORY(test_passes),
        IN_DIRECTORY(test_tiles),
        IN_DIRECTORY(test_streams),
        IN_DIRECTORY(test_a_stream_beside_passes),
        IN_DIRECTORY(test_a_flag_of_a_stream),
        IN_DIRECTORY(test_calls),
        IN_DIRECTORY(test_parser_of_prometheus),
        IN_DIRECTORY(test_parser_of_prometheus_with_metrics_of_a_real_device),
    };
    setenv("ZE_ENABLE_TRACING_LAYER", "1", 0); /* for loaders before 1.15.7 */
    return cmocka_run_group_tests(tests, start, NULL);
}
