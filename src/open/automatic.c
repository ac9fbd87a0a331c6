/* zt_auto: tracing that reports at exit, or when a signal ends it. */

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/memory.h"
#include "base/paths.h"
#include "base/platform.h"
#include "base/programs.h"
#include "base/shared.h"
#include "base/system.h"
#include "base/text.h"
#include "base/threads.h"
#include "metrics/driver.h"
#include "open/requests.h"
#include "regions/columns.h"
#include "regions/configuration.h"
#include "regions/creation.h"
#include "regions/ending.h"
#include "reports/facts.h"
#include "reports/joining.h"
#include "reports/notes.h"
#include "results/results.h"
#include "tracer/dispatcher.h"
#include "tracer/hotspot_control.h"
#include "tracer/lists.h"
#include "tracer/registration.h"
#include "tracer/sampling.h"
#include "tracer/starting.h"
#include "tracer/tracer.h"
#include "tracer/unmeasured.h"

#ifdef ZETOOLS_TRACER

enum { ZT__CONFIG_TEXTS = 9, ZT__AUTO_TEXTS = ZT__CONFIG_TEXTS + ZT__MAX_HOOKS };

/* What zt_auto keeps until exit. The strings of `config`, `trace` and `report`, and the hooks, are copies. */
typedef struct zt__auto {
    zt__tracer *tracer; /* NULL: nothing is traced */
    long process;       /* that called zt_auto: a forked child reports nothing. 0: nothing is kept */
    zt_config config;   /* of each profiler */
    zt_trace_config trace;
    zt_hook hooks[ZT__MAX_HOOKS];
    int samples_hotspots;
    const char *report;       /* the path of the first report, or "-" */
    uint64_t since_s;         /* when zt_auto was called, in seconds since 1970 */
    const char *signal;       /* that starts and ends tracing. NULL: tracing begins in zt_auto */
    zt__system_thread thread; /* waits for it */
    int has_thread;
    int has_obstacle; /* the program keeps the signal from the library, and a message says so */
    int is_ending;    /* the process exits */
} zt__auto;

static zt__auto zt__automatic;

/* Held while tracing begins or ends. */
static zt__timed_mutex zt__beginning = {ZT__MUTEX_INITIALIZER, 0, 0};

/* Replaces a string of the application, which need not outlive zt_auto, by a copy. Without memory, stores
   NULL and returns 0. */
static int zt__keep_text(const char **text) {
    if (!*text) {
        return 1;
    }
    *text = zt__duplicate_text(&zt__default_allocator, *text);
    return *text != NULL;
}

/* Stores where the strings of the application are kept. */
static void zt__list_texts(zt__auto *automatic, const char **texts[ZT__AUTO_TEXTS]) {
    const char **kept[ZT__CONFIG_TEXTS] = {
        &automatic->report,         &automatic->signal,         &automatic->config.groups,
        &automatic->config.metrics, &automatic->config.columns, &automatic->config.baseline,
        &automatic->trace.names,    &automatic->trace.calls,    &automatic->trace.modules};
    uint32_t i;
    memcpy((void *)texts, (const void *)kept, sizeof kept);
    for (i = 0; i < ZT__MAX_HOOKS; i++) {
        texts[ZT__COUNT_OF(kept) + i] = &automatic->hooks[i].call;
    }
}

static void zt__clear_auto(void) {
    const char **texts[ZT__AUTO_TEXTS];
    uint32_t i;
    zt__list_texts(&zt__automatic, texts);
    for (i = 0; i < ZT__AUTO_TEXTS; i++) {
        zt__free(&zt__default_allocator, (void *)(uintptr_t)*texts[i]);
    }
    memset(&zt__automatic, 0, sizeof zt__automatic);
}

/* Keeps a configuration. Returns 0 without memory. */
static int zt__keep_auto(const zt_auto_config *config, const char *report, const char *signal) {
    const char **texts[ZT__AUTO_TEXTS], *hotspots = zt__get_variable("ZT_HOTSPOTS");
    uint32_t i;
    int has_memory = 1;
    memset(&zt__automatic, 0, sizeof zt__automatic); /* a forked child has what its parent has kept */
    zt__automatic.report = report;
    zt__automatic.signal = signal;
    zt__automatic.since_s = (uint64_t)time(NULL);
    zt__automatic.config = config->profiler;
    if (!zt__automatic.config.timeline && zt__shows_timeline(report)) {
        zt__automatic.config.timeline = ZT__REPORT_TIMELINE;
    }
    zt__automatic.trace = config->trace;
    if (config->trace.hooks && config->trace.hook_count <= ZT__MAX_HOOKS) { /* else the start refuses them */
        memcpy(zt__automatic.hooks, config->trace.hooks, config->trace.hook_count * sizeof(zt_hook));
        zt__automatic.trace.hooks = zt__automatic.hooks;
    }
    zt__automatic.samples_hotspots = hotspots ? !zt__is_off(hotspots) : config->hotspots;
    zt__list_texts(&zt__automatic, texts);
    for (i = 0; i < ZT__AUTO_TEXTS; i++) {
        has_memory &= zt__keep_text(texts[i]);
    }
    return has_memory;
}

/* ---- reports ---------------------------------------------------------------------------------------------- */

static void zt__print_auto_note(zt__document *document, const char *text) {
    (void)document;
    zt__print_message("zt_auto: %s", text);
}

/* Writes the packed statistics of a process that has launched nothing, because those of the other ranks are compared with
   them. Not over a file, since other processes of a rank, such as a shell, have its name, too; and not where the name is of
   no rank. Returns whether it has. */
static int zt__write_idle_rank(void) {
    const char *reports = zt__automatic.report;
    zt_config config = zt__complete_config(&zt__automatic.config);
    zt_profiler *idle = zt__create_profiler(&config);
    zt__file_properties there;
    zt__file_path path;
    int is_written = 0, has_memory = idle && zt__lay_out_columns(idle);
    while (has_memory && zt__next_path(&reports, &path)) {
        const zt__suffix *suffix = zt__find_suffix(path.text);
        if (!suffix || suffix->kind != ZT__OF_PACK || path.is_of_process ||
            zt__get_file_properties(path.text, &there)) {
            continue;
        }
        zt__read_program(idle->facts.program, sizeof idle->facts.program);
        idle->facts.opened_s = zt__automatic.since_s;
        idle->availability = ZT_AVAILABILITY_UNKNOWN;
        zt__write_reports(idle, path.text, 1, 1);
        is_written = 1;
    }
    if (idle) {
        zt__free_profiler(idle);
    }
    return is_written;
}

static void zt__print_why_no_device(zt__tracer *tracer) {
    zt_trace_counts counts;
    uint64_t executions;
    char text[320];
    uint32_t i;
    zt__lock(&tracer->mutex);
    counts = tracer->counts;
    executions = tracer->unseen_executions;
    zt__unlock(&tracer->mutex);
    if (zt__load(&tracer->was_layer_off)) {
        zt__print_message("zt_auto: " ZT__LAYER_WAS_OFF " So there is no report.");
    } else if (counts.launches) {
        for (i = 0; i < ZT_UNMEASURED_COUNT; i++) {
            if (zt__describe_unmeasured(&counts, (zt_unmeasured)i, text, sizeof text)) {
                zt__print_message("zt_auto: %s So there is no report.", text);
            }
        }
    } else if (executions) {
        zt__print_message("zt_auto: " ZT__UNSEEN_EXECUTIONS " So there is no report.",
                          (unsigned long long)executions);
    } else if (zt__automatic.signal) {
        zt__print_message(
            "zt_auto: this process used no command list while it was traced, so there is no report.");
    } else if (tracer->open_failures || !zt__write_idle_rank()) {
        zt__print_message("zt_auto: this process created no command list afterwards, so there is no report.");
    } else {
        zt__print_message(
            "zt_auto: this process created no command list afterwards, so its statistics are empty.");
    }
}

/* Writes one report of each format, which has all contexts and devices: the first profiler reports for all. */
static void zt__write_auto_reports(zt__tracer *tracer) {
    zt__traced_device *device;
    const char *reports = zt__automatic.report;
    zt_profiler *first = NULL;
    zt__file_path path;
    int has_regions = 0, is_table_seen = 0;
    while (zt__next_path(&reports, &path)) {
        is_table_seen |= zt__find_standard_stream(path.text) != NULL;
    }
    for (device = tracer->devices; device; device = device->next) {
        if (device->profiler) {
            if (!device->is_detached) {
                zt_collect(device->profiler, tracer->wait_timeout_ns);
            }
            first = first ? first : device->profiler;
            has_regions |= zt__has_regions(device->profiler);
        }
    }
    if (first) {
        zt__write_reports(first, zt__automatic.report, zt__add(&zt__get_process()->automatic, 1), 1);
    }
    if (first && !has_regions && !is_table_seen) { /* a table states why */
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
    if (!tracer->devices) {
        zt__print_why_no_device(tracer);
    }
    if (tracer->open_failures) {
        zt__print_message("zt_auto did not measure %u of the contexts and devices. The first: %s",
                          (unsigned)tracer->open_failures, tracer->open_failure.text);
    }
}

/* ---- beginning and ending --------------------------------------------------------------------------------- */

static ze_result_t zt__begin_auto(void) {
    zt_config complete = zt__complete_config(&zt__automatic.config); /* zt_open completes `config` itself */
    zt__tracer *tracer = zt__create_tracer(&complete.allocator, NULL, complete.wait_timeout_ns);
    zt__driver driver;
    ze_result_t result;
    if (!tracer) {
        return zt__report_no_memory(NULL, "zt_auto", "the tracer and its configuration");
    }
    if (complete.power && !zt__is_management_of_core()) {
        zt__load_driver(&driver);
        zt__init_management(&driver); /* before tracing; zt_open reports failures */
    }
    tracer->automatic = &zt__automatic.config;
    tracer->samples_hotspots = zt__automatic.samples_hotspots;
    result = zt__start_tracer(tracer, &zt__automatic.trace, complete.timeline);
    if (result != ZE_RESULT_SUCCESS) {
        zt__destroy_tracer(tracer);
        return result;
    }
    zt__automatic.tracer = tracer;
    return ZE_RESULT_SUCCESS;
}

/* Detaches a tracer that was stopped from calls that are still in the driver. Returns 0 if another thread still
   needs the tracer or its profilers. */
static int zt__detach_auto(zt__tracer *tracer) {
    zt__traced_device *device;
    int is_needed = 0;
    for (device = tracer->devices; device; device = device->next) {
        is_needed |= device->profiler &&
                     (zt__is_sampling(device->profiler) || !zt__stop_thread(&device->profiler->thread));
    }
    return !is_needed && zt__abandon_calls(tracer);
}

/* Closes the profilers of a tracer that was detached, and destroys it. */
static void zt__close_auto(void) {
    zt__tracer *tracer = zt__automatic.tracer;
    zt__traced_device *device;
    zt_profiler *first = NULL;
    for (device = tracer->devices; device; device = device->next) {
        if (device->profiler && first) { /* the first, which may report for all once more, comes last */
            zt_close(device->profiler);
        }
        first = first ? first : device->profiler;
    }
    zt_close(first);
    zt__destroy_tracer(tracer);
    zt__automatic.tracer = NULL;
}

/* If the loader has not called the tracer for a time, contexts may have been destroyed unseen. So nothing that belongs to
   them is used again, and what was on its way is lost. */
static void zt__leave_unseen_contexts(zt__tracer *tracer) {
    zt__traced_device *device;
    zt__check_layer(tracer);
    if (!zt__load(&tracer->was_layer_off)) {
        return;
    }
    for (device = zt__load(&tracer->devices); device; device = zt__load(&device->next)) {
        if (!zt__load(&device->is_detached)) {
            zt__store(&device->is_detached, 1);
            if (device->profiler) {
                zt__stop_sampling(device->profiler, "zt_auto");
                zt__leave_device(device->profiler, "zt_auto");
            }
        }
    }
}

/* Stops tracing in a process that goes on, and may execute lists meanwhile. Groups are deactivated while the tracer
   still observes executions, so that these wait for it. */
static void zt__stop_auto(zt__tracer *tracer) {
    zt__traced_device *device;
    zt__leave_unseen_contexts(tracer);
    zt__stop_measuring(tracer, "zt_auto");
    if (zt__lock_until(&tracer->opening, zt__deadline(tracer->wait_timeout_ns))) {
        zt__unlock_timed(&tracer->opening); /* from here on, no profiler is opened */
    }
    for (device = zt__next_measured(tracer, NULL); device; device = zt__next_measured(tracer, device)) {
        zt_collect(device->profiler, tracer->wait_timeout_ns);
        zt__release_counters(device->profiler);
    }
    zt__stop_tracer(tracer, "zt_auto");
}

/* Leaves the lists and contexts of a process that goes on, and may destroy them while reports are written. Returns how
   many probes stay. */
static uint64_t zt__leave_process(zt__tracer *tracer) {
    zt__traced_device *device;
    uint64_t left = 0;
    for (device = zt__next_measured(tracer, NULL); device; device = zt__next_measured(tracer, device)) {
        device->profiler->config.thread = 0; /* it has ended */
        left += zt__leave_lists(device->profiler);
        zt__collect_what_runs(device->profiler);
        zt__abandon_recordings(device->profiler, "zt_auto");
        zt__destroy_probes(device->profiler);
    }
    return left;
}

/* Reports, once, why the signal does not reach the library any more. */
static void zt__report_obstacle(zt__signal_refusal obstacle) {
    static const struct {
        zt__signal_refusal obstacle;
        const char *reason, *exception;
    } obstacles[] = {{ZT__SIGNAL_HANDLED, "the program has installed a handler of its own",
                      ", unless this handler calls the previous one"},
                     {ZT__SIGNAL_IGNORED, "the program ignores it", ""},
                     {ZT__SIGNAL_BLOCKED, "all threads block it", ""}};
    uint32_t i;
    for (i = 0; i < ZT__COUNT_OF(obstacles) && !zt__automatic.has_obstacle; i++) {
        if (obstacle == obstacles[i].obstacle) {
            zt__automatic.has_obstacle = 1;
            zt__report(NULL, SIGNAL_IN_VAIN, ZE_RESULT_ERROR_NOT_AVAILABLE, zt__automatic.signal,
                       obstacles[i].reason, obstacles[i].exception);
            if (!zt__default_log()) {
                zt__print_message("%s", zt_last_error(NULL));
            }
        }
    }
}

/* Writes the reports. Runs at exit, while loader and driver are still there: functions of atexit run in
   reverse order, and zt_auto has called zeInit before it registered this one. */
static void zt__end_auto(void) {
    const uint64_t longest_ns = UINT64_C(30000000000);
    zt__signal_refusal obstacle;
    zt__tracer *tracer;
    if (!zt__automatic.process || zt__automatic.process != zt__get_process_id()) {
        return;
    }
    if (zt__is_inside_hook() || zt__is_owner(&zt__beginning)) {
        zt__print_message("zt_auto: there is no report, because a callback has called exit. Return from "
                          "callbacks.");
        return;
    }
    if (!zt__lock_until(&zt__beginning, zt__deadline(longest_ns))) {
        zt__print_message(
            "zt_auto: a report was still being written 30 seconds after exit, and is not complete.");
        return;
    }
    tracer = zt__automatic.tracer;
    zt__automatic.is_ending = 1;
    if (tracer) {
        zt__leave_unseen_contexts(tracer);
        zt__stop_tracer(tracer, "zt_auto");
        zt__write_auto_reports(tracer);
    }
    zt__unlock_timed(&zt__beginning);
    if (zt__automatic.has_thread) {
        zt__end_await();
        zt__join_system_thread(zt__automatic.thread);
        obstacle = zt__find_signal_obstacle();
        if (obstacle != ZT__SIGNAL_BLOCKED || zt__is_signal_pending()) {
            zt__report_obstacle(obstacle);
        }
    }
    if (tracer && (!zt__detach_auto(tracer) || zt__load(&tracer->was_layer_off))) {
        return;
    }
    if (tracer) {
        zt__close_auto();
    }
    zt__clear_auto();
}

static void zt__print_why_nothing(void) {
    const char *message = zt__default_log() ? "" : zt_last_error(NULL); /* or printed already */
    zt__print_message("zt_auto: nothing is traced.%s%s", *message ? " " : "", message);
}

/* ---- by a signal ------------------------------------------------------------------------------------------ */

#ifndef ZETOOLS_NO_THREADS

/* Writes the reports, and closes what a tracer that was stopped has made. */
static void zt__end_look(zt__tracer *tracer) {
    uint64_t left;
    if (!zt__detach_auto(tracer)) {
        zt__print_message(
            "zt_auto: nothing is traced any more, but a thread still runs in the library. The next %s writes "
            "the reports.",
            zt__automatic.signal);
        return;
    }
    left = zt__leave_process(tracer);
    zt__write_auto_reports(tracer);
    if (left) {
        zt__print_message(
            "zt_auto: %llu launch%s on lists that were recorded while tracing %s, because these lists may be "
            "executed again.",
            (unsigned long long)left, left == 1 ? "" : "es",
            left == 1 ? "keeps its event" : "keep their events");
    }
    if (zt__load(&tracer->was_layer_off)) {
        zt__automatic.tracer = NULL;
    } else {
        zt__close_auto();
    }
    zt__print_message("zt_auto: tracing has ended.");
}

/* Begins to trace, or stops it and writes the reports. */
static void zt__follow_signal(void) {
    zt__tracer *tracer = zt__automatic.tracer;
    if (tracer) {
        zt__stop_auto(tracer);
        zt__end_look(tracer);
    } else if (zt__begin_auto() == ZE_RESULT_SUCCESS) {
        zt__print_message("zt_auto: tracing has begun. The next %s ends it.", zt__automatic.signal);
    } else {
        zt__print_why_nothing();
    }
}

static ZT__THREAD_RESULT ZT__THREAD_CALL zt__follow_signals(void *argument) {
    const uint32_t longest_s = 64;
    uint32_t seconds = 1;
    zt__signal_refusal obstacle = ZT__SIGNAL_CAUGHT, before;
    int goes_on = 1;
    (void)argument;
    do {
        if (!zt__await_signal(seconds)) {
            /* Threads block signals for a moment when they start others: such an obstacle is seen once. */
            seconds = seconds < longest_s ? 2 * seconds : seconds;
            before = obstacle;
            obstacle = zt__find_signal_obstacle();
            if (obstacle == before) {
                zt__report_obstacle(obstacle);
            }
            continue;
        }
        zt__lock_until(&zt__beginning, UINT64_MAX);
        goes_on = !zt__automatic.is_ending;
        if (goes_on) {
            zt__follow_signal();
        }
        zt__unlock_timed(&zt__beginning);
    } while (goes_on);
    return 0;
}

#endif

/* Begins to wait for the signal. */
static ze_result_t zt__await_signals(void) {
#ifdef ZETOOLS_NO_THREADS
    return zt__report(NULL, NO_SIGNAL, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, zt__automatic.signal,
                      "ZETOOLS_NO_THREADS is defined");
#else
    static const struct {
        ze_result_t result;
        const char *reason;
    } refusals[] = {
        {ZE_RESULT_ERROR_NOT_AVAILABLE, "the system starts no thread"}, /* CAUGHT */
        {ZE_RESULT_ERROR_INVALID_ARGUMENT, "it is neither USR1 nor USR2"},
        {ZE_RESULT_ERROR_NOT_AVAILABLE,
         "the program has a handler for it: choose the other of USR1 and USR2"},
        {ZE_RESULT_ERROR_NOT_AVAILABLE, "it is ignored: choose the other of USR1 and USR2"},
        {ZE_RESULT_ERROR_NOT_AVAILABLE,
         "the thread that calls zt_auto blocks it: choose the other of USR1 and USR2"},
        {ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "this system has no such signals"},
    };
    zt__signal_refusal refusal = zt__catch_signal(zt__automatic.signal);
    if (refusal == ZT__SIGNAL_CAUGHT) {
        zt__automatic.has_thread = zt__create_thread(&zt__automatic.thread, zt__follow_signals, NULL);
        if (zt__automatic.has_thread) {
            return ZE_RESULT_SUCCESS;
        }
        zt__release_signal();
    }
    return zt__report(NULL, NO_SIGNAL, refusals[refusal].result, zt__automatic.signal,
                      refusals[refusal].reason);
#endif
}

/* ---- zt_auto ---------------------------------------------------------------------------------------------- */

static ze_result_t zt__start_auto(const zt_auto_config *given) {
    static const zt__timed_mutex unlocked = {ZT__MUTEX_INITIALIZER, 0, 0};
    static int ends_at_exit;
    zt_auto_config config;
    const char *path = zt__get_variable("ZT_AUTO"), *signal = zt__get_variable("ZT_AUTO_SIGNAL");
    ze_result_t(ZE_APICALL * enable_layer)(void);
    ze_result_t result;
    zt__copy_config(&config, given, sizeof config);
    if (!path || strcmp(path, "1") == 0) {
        path = config.report && *config.report ? config.report : "-";
    }
    if (!signal) {
        signal = config.signal;
    }
    if (zt__is_off(path) || (zt__automatic.process && zt__automatic.process == zt__get_process_id())) {
        return ZE_RESULT_SUCCESS;
    }
    result = zt__check_reports(NULL, "zt_auto", path);
    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }

    /* zeInit reads these variables. The driver reads the first one. The second one enables the tracing layer of loaders
       that cannot do so later, and keeps it in those that can: see zt__enable_layer_again. Between looks it is off. */
    if (config.trace.profile_flags || zt__get_variable("ZT_PROFILE_FLAGS")) {
        zt__set_variable("ZET_ENABLE_PROGRAM_INSTRUMENTATION", "1", 0);
    }
    zt__find_loader_symbol("zelEnableTracingLayer", (void *)&enable_layer);
    if (!enable_layer || !signal || !*signal) {
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

    zt__beginning = unlocked; /* a forked child may have inherited it while it was locked */
    if (!zt__keep_auto(&config, path, signal && *signal ? signal : NULL)) {
        zt__clear_auto();
        return zt__report_no_memory(NULL, "zt_auto", "the tracer and its configuration");
    }
    result = zt__begin_auto();
    if (result == ZE_RESULT_SUCCESS && zt__automatic.signal) {
        /* Mistakes in the configuration show now, and not when the process is looked at days later. */
        zt__stop_auto(zt__automatic.tracer);
        if (zt__detach_auto(zt__automatic.tracer)) {
            zt__leave_process(zt__automatic.tracer);
            zt__close_auto();
            result = zt__await_signals();
        } else {
            result = zt__report(NULL, CALLS_IN_PROGRESS, ZE_RESULT_NOT_READY, "zt_auto");
        }
    }
    if (result != ZE_RESULT_SUCCESS) {
        zt__clear_auto();
        return result;
    }
    zt__automatic.process = zt__get_process_id();
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
        zt__print_why_nothing();
    }
    return result;
}

#endif
