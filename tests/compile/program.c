/* Uses every public name once, with no profiler, on which everything is inert: so it needs no device.
   Compiles as C and as C++. The matrix decides what is defined:

   ZETOOLS_IMPLEMENTATION, ZETOOLS_STATIC, ZETOOLS_DISABLE, ...   the options of zetools.h
   NO_LEVEL_ZERO                                                  the Level Zero headers are out of reach */
#include "zetools.h"
#include "zetools.h" /* a repeated include is harmless */

#ifndef NO_LEVEL_ZERO
#include <level_zero/zet_api.h>
#endif
#include <math.h>
#include <stdio.h>
#include <string.h>

#if !defined(__STRICT_ANSI__) && !defined(M_PI)
#error "zetools.h hides from the application what the C library offers"
#endif

static int failures;

#define EXPECT(condition)                                                                                    \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            failures++;                                                                                      \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                          \
        }                                                                                                    \
    } while (0)

static int write_nothing(const void *bytes, size_t size, void *user) {
    (void)bytes, (void)size, (void)user;
    return 0;
}

static void *allocate_nothing(size_t size, void *user) {
    (void)size, (void)user;
    return NULL;
}

static void release_nothing(void *memory, void *user) {
    (void)memory, (void)user;
}

static void log_nothing(int result, const char *text, void *user) {
    (void)result, (void)text, (void)user;
}

static void ignore_sample(const zt_sample *sample, void *user) {
    (void)sample, (void)user;
}

static zt_config every_field_set(void) {
#ifdef __cplusplus
    zt_config config = {};
#else
    zt_config config = {0};
#endif
    config.groups = "ComputeBasic";
    config.metrics = "GpuTime";
    config.columns = "GpuTime";
    config.max_passes = 2;
    config.pass_tolerance = 0.2;
    config.require_metrics = 1;
    config.probes_per_step = 1;
    config.max_probes = 2;
    config.samples = 3;
    config.timeline = 5;
    config.wait_timeout_ns = 4;
    config.log = log_nothing;
    config.log_user = NULL;
    config.sample = ignore_sample;
    config.sample_user = NULL;
    config.allocator.allocate = allocate_nothing;
    config.allocator.release = release_nothing;
    config.allocator.user = NULL;
    return config;
}

/* With ZETOOLS_DISABLE a figure is NaN, so that whoever compares it with another takes neither for better. */
#ifdef ZETOOLS_DISABLE
#define EXPECT_FIGURE(figure) EXPECT((figure) != (figure))
enum { IS_MEASURING = 0 };
#else
#define EXPECT_FIGURE(figure) (void)(figure)
enum { IS_MEASURING = 1 };
#endif

static void open_fails_on_no_device(zt_profiler **profiler) {
    zt_config config = every_field_set();
    int result = (int)zt_open(NULL, NULL, &config, profiler);
    EXPECT(*profiler == NULL);
#ifdef ZETOOLS_DISABLE
    EXPECT(result == 0);
#else
    EXPECT(result != 0);
#endif
}

static void regions_run_their_body_once(zt_profiler *profiler) {
    int runs = 0;
    ZT_REGION(profiler, NULL, "statement")
    runs++;
    ZT_REGION(profiler, NULL, "outer") {
        ZT_REGION(profiler, NULL, "inner") {
            runs++;
        }
    }
    EXPECT(runs == 2);

    ZT_REGION(profiler, NULL, "left early") {
        if (runs == 2)
            break;
        runs++;
    }
    EXPECT(runs == 2);

#if defined(__cplusplus) || defined(__GNUC__)
    ZT_SCOPE(profiler, NULL, "scope");
    ZT_SCOPE(profiler, NULL, "another");
#endif

    zt_region region = zt_begin(profiler, NULL, "by hand");
    zt_end(&region);
    zt_end(&region);
    zt_end(NULL);
}

static void everything_accepts_no_profiler(zt_profiler *profiler) {
    const char *text = NULL;
    zt_region_info path;
    zt_region_info info;
    zt_stats stats;
    memset(&info, 0, sizeof info);
    memset(&stats, 0, sizeof stats);

    EXPECT(zt_collect(profiler, 0) == 0);
    EXPECT(zt_collect(profiler, 1000) == 0);
    EXPECT(zt_name_list(profiler, NULL, "name") == 0);
    EXPECT(zt_clear(profiler) == 0);
    EXPECT(zt_release(profiler, NULL) == 0);
    zt_counts counts = zt_get_info(profiler).counts;
    EXPECT(counts.begun + counts.collected + counts.lost + counts.dropped + counts.in_flight == 0);
    EXPECT(zt_get_info(profiler).causes[ZT_LOST_NEVER_DELIVERED].count == 0);
    EXPECT(zt_get_info(NULL).causes[ZT_DROPPED_NO_PROBE].name != NULL);
    EXPECT(zt_get_info(profiler).region_count == 0);
    EXPECT(zt_get_info(profiler).metric_count == 0);
    EXPECT(zt_get_metric(profiler, 0) == NULL);
    EXPECT(zt_find_metric(profiler, "GpuTime") == UINT32_MAX);
    (void)zt_get_region(profiler, 0, &info);
    (void)zt_get_region(profiler, ZT_PATH(0), &path);
    EXPECT(info.parent == UINT32_MAX && path.parent == UINT32_MAX && zt_get_info(profiler).path_count == 0);
    (void)zt_get_stats(profiler, 0, 0, &stats);
    (void)zt_get_stats(profiler, 0, ZT_LAUNCH_LATENCY, &stats);
    EXPECT(zt_get_timeline(profiler).overlap.samples == 0);
    EXPECT(info.count == 0 && stats.count == 0);
    EXPECT_FIGURE(stats.median);
    EXPECT_FIGURE(stats.rate);
    EXPECT_FIGURE(info.time_ns.mean);
    EXPECT_FIGURE(info.total_ns);
    EXPECT_FIGURE(path.own_ns);
    EXPECT_FIGURE(zt_get_timeline(profiler).overlap.busy_ns);
    EXPECT_FIGURE(zt_get_timeline(profiler).overlap.at_once_ns);
    EXPECT(info.name != NULL && info.name[0] == 0);
    EXPECT(zt_report(profiler, "-") == 0);
    EXPECT(zt_write(profiler, ZT_FORMAT_JSON, write_nothing, NULL) == 0);
    text = zt_get_info(profiler).availability_text;
    EXPECT(zt_get_info(profiler).availability == ZT_AVAILABILITY_UNKNOWN);
    EXPECT(text != NULL);
    text = zt_get_info(profiler).error;
    EXPECT(text != NULL && text[0] == 0);
    text = zt_last_error(NULL);
    EXPECT(text != NULL);
    zt_close(profiler);
}

static void passes_run_their_body_once(zt_profiler *profiler) {
    int runs = 0;
    ZT_PASSES(profiler) runs++;
    ZT_PASSES(profiler) {
        if (runs == 1)
            break;
        runs++;
    }
    EXPECT(runs == 1);
    EXPECT(zt_get_info(profiler).pass_count == 1);
    EXPECT(zt_get_info(profiler).tile_count == 0);

    zt_stats stats;
    memset(&stats, 0, sizeof stats);
    EXPECT(zt_get_stats(profiler, 0, ZT_PASS_TIME(0), &stats) == 0);
    EXPECT(zt_get_stats(profiler, 0, ZT_TILE(0, 0), &stats) == 0);
    EXPECT(stats.count == 0);
    EXPECT_FIGURE(stats.mean);
}

static void statistics_of_no_profiler(zt_profiler *profiler) {
    size_t size = 1;
    zt_profiler *unpacked = NULL;
    EXPECT(zt_merge(profiler, profiler) == 0);
    EXPECT(zt_pack(profiler, NULL, &size) == 0);
    EXPECT(size == 0);
    (void)zt_unpack(NULL, 0, NULL, &unpacked);
    EXPECT(unpacked == NULL);
}

static void limits_of_no_profiler(zt_profiler *profiler) {
    zt_limit_info limit;
    memset(&limit, 1, sizeof limit);
    EXPECT(zt_get_limit(profiler, 0, &limit) == 0);
    EXPECT(limit.limit == ZT_LIMIT_UNKNOWN && limit.name != NULL && !limit.text[0] && !limit.missing[0]);
    EXPECT(zt_find_path(profiler, "region") == UINT32_MAX);
    EXPECT(zt_set_peaks(profiler, 1, 1, NULL) == 0);
    EXPECT(zt_set_operations(profiler, "region", 1) == 0);
}

static zt_bench_result result; /* too large for some stacks */
static zt_comparison comparison;

static double take_a_microsecond(void *user) {
    (void)user;
    return 1000;
}

static int run_nothing(zt_profiler *profiler, void *user) {
    (void)profiler, (void)user;
    return 0;
}

static void benchmarks_of_no_profiler(zt_profiler *profiler) {
    zt_bench_config config;
    zt_bench_changes changes;
    memset(&config, 0, sizeof config);
    config.run = run_nothing;
    EXPECT((zt_bench(profiler, &config, &result) == 0) == IS_MEASURING);
    EXPECT(result.end == ZT_BENCH_NOT_RUN && result.count == 0 && result.region == UINT32_MAX);
    config.measure = take_a_microsecond;
    EXPECT((zt_compare(profiler, &config, &config, &comparison) == 0) == IS_MEASURING);
    EXPECT(comparison.differs == 0);
    EXPECT(IS_MEASURING || strstr(zt_last_error(NULL), "ZETOOLS_DISABLE"));
    EXPECT_FIGURE(result.median);
    EXPECT_FIGURE(result.precision);
    EXPECT_FIGURE(comparison.a.median);
    EXPECT_FIGURE(comparison.ratio);
    EXPECT(zt_write_benches(profiler, &result, 1, write_nothing, NULL) == 0);
    EXPECT(zt_report_benches(profiler, &result, 1, "/dev/null") == 0);
    memset(&changes, 1, sizeof changes);
    (void)zt_compare_benches(profiler, &result, 1, "/dev/null", NULL, &changes);
    EXPECT(changes.slower == 0 && changes.missing == 0);
    EXPECT(strcmp(result.ended_by, "not run") == 0);
}

static void the_rest_has_no_profiler(void) {
    EXPECT(ZETOOLS_VERSION_MAJOR + ZETOOLS_VERSION_MINOR + ZETOOLS_VERSION_PATCH > 0);
#ifdef NO_LEVEL_ZERO
    EXPECT(zt_result_name(0) != NULL);
#else
    zet_metric_group_handle_t group = NULL;
    EXPECT(zt_result_name(ZE_RESULT_NOT_READY) != NULL);
    (void)zt_find_group(NULL, "ComputeBasic", ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED, &group);
    EXPECT(group == NULL);
    if (failures < 0) /* it has to compile: newer loaders dereference the queue */
        (void)zt_execute((zt_profiler *)NULL, NULL, 0, NULL, NULL);
#endif
    (void)zt_write_groups(NULL, 0, write_nothing, NULL);
}

static int stop_at_once(const zt_row *row, void *user) {
    (void)row, (void)user;
    return 1;
}

static zt_stream_config every_field_of_a_stream(void) {
    zt_stream_config config;
    memset(&config, 0, sizeof config);
    config.group = "ComputeBasic";
    config.period_ns = 1;
    config.notify_reports = 2;
    config.memory_limit = 3;
    config.thread = 1;
    config.profiler = NULL;
    config.timeline_rows = 4;
    config.log = log_nothing;
    config.log_user = NULL;
    config.allocator.allocate = allocate_nothing;
    config.allocator.release = release_nothing;
    config.allocator.user = NULL;
    return config;
}

static void streams_accept_nothing(void) {
    zt_stream_config config = every_field_of_a_stream();
    zt_stream *stream = NULL;
    (void)zt_stream_open(NULL, NULL, &config, &stream);
    EXPECT(stream == NULL);
    EXPECT(zt_stream_read(stream, 1000, stop_at_once, NULL) == 0);
    EXPECT(zt_stream_mark(stream, NULL, "name") == 0);
    zt_stream_info info = zt_stream_get_info(stream);
    zt_stream_counts counts = info.counts;
    EXPECT(counts.reports + counts.rows + counts.discarded + counts.waiting == 0);
    EXPECT(counts.gaps + counts.dropped == 0);
    EXPECT(info.group != NULL && info.period_ns + info.notify_reports == 0);
    EXPECT(info.memory == 0 && info.thread_cpu_ns == 0);
    EXPECT(info.metric_count == 0 && info.metrics == NULL && info.error != NULL);
    EXPECT(zt_stream_find_metric(stream, "GpuTime") == UINT32_MAX);
    EXPECT(zt_stream_close(stream, stop_at_once, NULL, &counts) == 0);
    EXPECT(counts.rows == 0);
}

static void timelines_accept_no_profiler(zt_profiler *profiler) {
    zt_stats streamed = {0, 0, 0, 0, 0, 0, 0, 0, 0};
    zt_timeline_info info = zt_get_timeline(profiler);
    EXPECT(info.samples + info.rows + info.lost_samples + info.lost_rows + info.pairs == 0);
    EXPECT(zt_get_info(profiler).streamed_count == 0);
    EXPECT(zt_get_metric(profiler, ZT_STREAMED(0)) == NULL && zt_get_metric(profiler, ZT_GPU_TIME) == NULL);
    EXPECT(zt_get_stats(profiler, 0, ZT_STREAMED(0), &streamed) == 0);
    EXPECT(streamed.count == 0);
    EXPECT(zt_write(profiler, ZT_FORMAT_TRACE, write_nothing, NULL) == 0);
}

static void the_tracer_accepts_no_profiler(zt_profiler *profiler) {
    (void)profiler;
#ifdef ZETOOLS_TRACER
    zt_trace_config config;
    zt_auto_config automatic;
    zt_call_info info;
    zt_hotspots_config sampling;
    zt_hotspot_info hotspot;
    zt_kernel_info kernel;
    zt_hook hook = {"zeKernelCreate", NULL, NULL, NULL};
    memset(&config, 0, sizeof config);
    memset(&automatic, 0, sizeof automatic);
    memset(&sampling, 0, sizeof sampling);
    memset(&info, 0, sizeof info);
    memset(&kernel, 0, sizeof kernel);
    memset(&hotspot, 0, sizeof hotspot);
    sampling.no_thread = 1;
    config.names = "*";
    config.calls = "zeEvent*";
    config.hooks = &hook;
    config.hook_count = 1;
    automatic.report = "-";
    config.modules = "modules";
    EXPECT(zt_replace(profiler, "gemm*", NULL, "gemm") == 0);
    EXPECT(zt_trace_start(profiler, &config) == 0);
    EXPECT(zt_trace_stop(profiler) == 0);
    EXPECT(zt_get_info(profiler).launches.launches == 0);
    EXPECT(zt_get_info(profiler).call_count == 0);
    EXPECT(zt_get_call(profiler, 0, &info) == 0 && info.count == 0);
    EXPECT(info.name != NULL && info.name[0] == 0);
    EXPECT_FIGURE(info.time_ns.mean);
    EXPECT(zt_hotspots_start(profiler, &sampling) == 0);
    EXPECT(zt_hotspots_stop(profiler) == 0);
    EXPECT(zt_get_info(profiler).hotspots.samples == 0);
    EXPECT(zt_get_info(profiler).hotspot_count == 0);
    EXPECT(zt_get_hotspot(profiler, 0, &hotspot) == 0 && hotspot.samples == 0);
    EXPECT(hotspot.kernel != NULL && hotspot.kernel[0] == 0);
    EXPECT(zt_get_info(profiler).kernel_count == 0);
    EXPECT(zt_get_kernel(profiler, 0, &kernel) == 0 && kernel.launches == 0);
    EXPECT(kernel.name != NULL && kernel.name[0] == 0 && kernel.region == UINT32_MAX);
    EXPECT(kernel.simd_width == UINT32_MAX && kernel.code_bytes == UINT32_MAX);
    EXPECT(hotspot.share != hotspot.share);
    (void)zt_auto(&automatic);
#endif
}

static void a_debugger_may_be_null(void) {
#ifdef ZETOOLS_DEBUG
    const zt_debug_thread all = {ZT_DEBUG_ALL, ZT_DEBUG_ALL, ZT_DEBUG_ALL, ZT_DEBUG_ALL};
    zt_debug_config config;
    zt_debugger *debugger = NULL;
    zt_debug_stops stops;
    zt_debug_registers found;
    zt_debug_place place;
    zt_debug_fn function = NULL;
    zt_debug_thread_info thread;
    uint32_t count = 1, word = 1;
    zt_watch_config watch;
    memset(&config, 0, sizeof config);
    memset(&watch, 0, sizeof watch);
    config.no_lines = 1;
    (void)zt_debug_open(NULL, 0, &config, &debugger);
    EXPECT(debugger == NULL);
    EXPECT(zt_debug_wait(debugger, 0, function, NULL) == 0);
    EXPECT(zt_debug_stop(debugger, all, 0, &stops) == 0 && stops.stopped == 0);
    EXPECT(zt_debug_resume(debugger, all) == 0);
    EXPECT(zt_debug_get_threads(debugger, &thread, &count) == 0 && count == 0);
    EXPECT(zt_debug_read(debugger, all, ZT_DEBUG_MEMORY, 0, &word, sizeof word) == 0);
    EXPECT(zt_debug_write(debugger, all, ZT_DEBUG_SLM, 0, &word, sizeof word) == 0);
    count = 1;
    EXPECT(zt_debug_get_registers(debugger, "cr0", &found, &count) == 0 && count == 0);
    EXPECT(zt_debug_where(debugger, 0, &place) == 0 && place.kernel != NULL && place.kernel[0] == 0);
    EXPECT(zt_debug_close(debugger) == 0);
    EXPECT(zt_watch(NULL, &watch) == 0);
    EXPECT(zt_watch_stop(NULL) == 0);
    EXPECT(!zt_get_info(NULL).watch.is_watching);
#endif
}

int main(void) {
    zt_profiler *profiler = NULL;
    open_fails_on_no_device(&profiler);
    regions_run_their_body_once(profiler);
    passes_run_their_body_once(profiler);
    statistics_of_no_profiler(profiler);
    limits_of_no_profiler(profiler);
    benchmarks_of_no_profiler(profiler);
    streams_accept_nothing();
    timelines_accept_no_profiler(profiler);
    everything_accepts_no_profiler(profiler);
    the_tracer_accepts_no_profiler(profiler);
    a_debugger_may_be_null();
    the_rest_has_no_profiler();
    return failures != 0;
}
