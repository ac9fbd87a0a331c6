/* zt_auto: tracing that reports at exit. */

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/memory.h"
#include "base/paths.h"
#include "base/platform.h"
#include "base/programs.h"
#include "base/shared.h"
#include "base/system.h"
#include "base/text.h"
#include "open/requests.h"
#include "regions/configuration.h"
#include "reports/facts.h"
#include "reports/joining.h"
#include "reports/notes.h"
#include "results/results.h"
#include "tracer/dispatcher.h"
#include "tracer/sampling.h"
#include "tracer/starting.h"
#include "tracer/tracer.h"

#ifdef ZETOOLS_TRACER

/* What zt_auto keeps until exit. The strings of `config` and `report` are copies. */
typedef struct zt__auto {
    zt__tracer *tracer; /* NULL: nothing is traced */
    long process;       /* that called zt_auto: a forked child reports nothing */
    zt_config config;   /* of each profiler */
    const char *report; /* the path of the first report, or "-" */
} zt__auto;

static zt__auto zt__automatic;

/* Replaces a string of the application, which need not outlive zt_auto, by a copy. Without memory, stores
   NULL and returns 0. */
static int zt__keep_text(const char **text) {
    if (!*text) {
        return 1;
    }
    *text = zt__duplicate_text(&zt__default_allocator, *text);
    return *text != NULL;
}

static void zt__clear_auto(void) {
    zt__free(&zt__default_allocator, (void *)(uintptr_t)zt__automatic.report);
    zt__free(&zt__default_allocator, (void *)(uintptr_t)zt__automatic.config.groups);
    zt__free(&zt__default_allocator, (void *)(uintptr_t)zt__automatic.config.metrics);
    zt__free(&zt__default_allocator, (void *)(uintptr_t)zt__automatic.config.columns);
    zt__free(&zt__default_allocator, (void *)(uintptr_t)zt__automatic.config.baseline);
    memset(&zt__automatic, 0, sizeof zt__automatic);
}

static void zt__print_auto_note(zt__document *document, const char *text) {
    (void)document;
    zt__print_message("zt_auto: %s", text);
}

/* Writes one report of each format, which has all contexts and devices: the first profiler reports for all. */
static void zt__write_auto_reports(zt__tracer *tracer) {
    zt__traced_device *device;
    const char *reports = zt__automatic.report;
    zt_profiler *first = NULL;
    zt__file_path path;
    uint32_t regions = 0;
    int is_table_seen = 0;
    while (zt__next_path(&reports, &path)) {
        is_table_seen |= zt__find_standard_stream(path.text) != NULL;
    }
    for (device = tracer->devices; device; device = device->next) {
        if (device->profiler) {
            if (!device->is_detached) {
                zt_collect(device->profiler, tracer->wait_timeout_ns);
            }
            first = first ? first : device->profiler;
            regions += zt__get_region_count(device->profiler);
        }
    }
    if (first) {
        zt__write_reports(first, zt__automatic.report, zt__add(&zt__get_process()->automatic, 1), 1);
    }
    if (first && regions == 0 && !is_table_seen) { /* a table states why */
        zt__document document;
        ze_result_t result;
        memset(&document, 0, sizeof document);
        document.profiler = zt__join_profilers(first, "zt_auto", &result);
        if (document.profiler) {
            zt__note_why_empty(&document, zt__print_auto_note);
            zt__note_elsewhere(&document, zt__print_auto_note);
            zt__free_joined(document.profiler);
        }
    }
}

/* Writes the reports. Runs at exit, while loader and driver are still there: functions of atexit run in
   reverse order, and zt_auto has called zeInit before it registered this one. */
static void zt__end_auto(void) {
    zt__tracer *tracer = zt__automatic.tracer;
    zt__traced_device *device;
    zt_profiler *first = NULL;
    int is_sampling = 0;
    if (!tracer || zt__automatic.process != zt__get_process_id()) {
        return;
    }
    if (zt__is_inside_hook()) {
        zt__print_message("zt_auto: there is no report, because a callback has called exit. Return from "
                          "callbacks.");
        return;
    }
    zt__stop_tracer(tracer, "zt_auto");
    zt__write_auto_reports(tracer);
    for (device = tracer->devices; device; device = device->next) {
        is_sampling |= device->profiler && zt__is_sampling(device->profiler);
    }
    if (!tracer->devices) {
        zt__print_message("zt_auto: this process created no command list afterwards, so there is no report.");
    }
    if (tracer->open_failures) {
        zt__print_message("zt_auto did not measure %u of the contexts and devices. The first: %s",
                          (unsigned)tracer->open_failures, tracer->open_failure.text);
    }
    if (is_sampling || !zt__abandon_calls(tracer)) {
        return; /* another thread still needs the tracer and its profilers */
    }
    for (device = tracer->devices; device; device = device->next) {
        if (device->profiler && first) { /* the first, which may report for all once more, comes last */
            zt_close(device->profiler);
        }
        first = first ? first : device->profiler;
    }
    zt_close(first);
    zt__destroy_tracer(tracer);
    zt__clear_auto();
}

static ze_result_t zt__start_auto(const zt_auto_config *given) {
    static int ends_at_exit;
    zt_auto_config config;
    const char *path = zt__get_variable("ZT_AUTO"), *hotspots = zt__get_variable("ZT_HOTSPOTS");
    zt_config *kept = &zt__automatic.config, complete;
    ze_result_t(ZE_APICALL * enable_layer)(void);
    zt__tracer *tracer = NULL;
    ze_result_t result;
    int has_memory;
    zt__copy_config(&config, given, sizeof config);
    if (!path || strcmp(path, "1") == 0) {
        path = config.report && *config.report ? config.report : "-";
    }
    if (zt__is_off(path) || (zt__automatic.tracer && zt__automatic.process == zt__get_process_id())) {
        return ZE_RESULT_SUCCESS;
    }
    result = zt__check_reports(NULL, "zt_auto", path);
    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }

    /* zeInit reads these variables: the driver the first one, and the second one a loader that cannot enable
       its tracing layer later. */
    if (config.trace.profile_flags || zt__get_variable("ZT_PROFILE_FLAGS")) {
        zt__set_variable("ZET_ENABLE_PROGRAM_INSTRUMENTATION", "1", 0);
    }
    zt__find_loader_symbol("zelEnableTracingLayer", (void *)&enable_layer);
    if (!enable_layer) {
        zt__set_variable("ZE_ENABLE_TRACING_LAYER", "1", 0);
    }
    result = zeInit(0);
    if (result != ZE_RESULT_SUCCESS) {
        const char *advice = "Install a Level Zero driver.";
        if (result == ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS) { /* no access to the device node */
            advice = "This user may not use the device: add them to the group of /dev/dri/renderD*, which is "
                     "render or video.";
        } else if (zt__get_variable("ZE_ENABLE_ALT_DRIVERS")) {
            advice = "The driver is the one that ZE_ENABLE_ALT_DRIVERS names: check its path.";
        }
        return zt__report(NULL, CALL_FAILED, result, "zeInit", zt_result_name(result), advice);
    }

    zt__automatic.report = path;
    *kept = config.profiler;
    if (!kept->timeline && zt__shows_timeline(path)) {
        kept->timeline = ZT__REPORT_TIMELINE;
    }
    has_memory = zt__keep_text(&zt__automatic.report);
    has_memory &= zt__keep_text(&kept->groups);
    has_memory &= zt__keep_text(&kept->metrics);
    has_memory &= zt__keep_text(&kept->columns);
    has_memory &= zt__keep_text(&kept->baseline);
    complete = zt__complete_config(kept); /* for the tracer; zt_open completes `kept` itself */
    if (has_memory) {
        tracer = zt__create_tracer(&complete.allocator, NULL, complete.wait_timeout_ns);
    }
    if (!tracer) {
        zt__clear_auto();
        return zt__report_no_memory(NULL, "zt_auto", "the tracer and its configuration");
    }
    tracer->automatic = kept;
    tracer->samples_hotspots = hotspots ? !zt__is_off(hotspots) : config.hotspots;
    result = zt__start_tracer(tracer, &config.trace, complete.timeline);
    if (result != ZE_RESULT_SUCCESS) {
        zt__destroy_tracer(tracer);
        zt__clear_auto();
        return result;
    }
    zt__automatic.process = zt__get_process_id();
    zt__automatic.tracer = tracer;
    if (!ends_at_exit) {
        ends_at_exit = atexit(zt__end_auto) == 0;
    }
    return ZE_RESULT_SUCCESS;
}

ZT_API ze_result_t zt_auto(const zt_auto_config *config) {
    ze_result_t result = zt__start_auto(config);
#ifdef ZETOOLS_CONNECTORS
    if (result == ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE) {
        return result; /* ITT and Kokkos name phases for the tracer that runs, too */
    }
#endif
    if (result != ZE_RESULT_SUCCESS) {
        const char *message = zt__default_log() ? "" : zt_last_error(NULL); /* or printed already */
        zt__print_message("zt_auto: nothing is traced.%s%s", *message ? " " : "", message);
    }
    return result;
}

#endif
