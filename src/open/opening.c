/* zt_open and zt_close. */

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/memory.h"
#include "base/platform.h"
#include "base/shared.h"
#include "base/system.h"
#include "base/text.h"
#include "base/threads.h"
#include "metrics/activation.h"
#include "metrics/availability.h"
#include "metrics/driver.h"
#include "metrics/groups.h"
#include "metrics/selection.h"
#include "open/requests.h"
#include "regions/collecting.h"
#include "regions/columns.h"
#include "regions/configuration.h"
#include "regions/creation.h"
#include "regions/ending.h"
#include "regions/entering.h"
#include "regions/first_query.h"
#include "regions/probes.h"
#include "regions/profiler.h"
#include "regions/reporting.h"
#include "results/attribution.h"
#include "results/baseline.h"
#include "results/clocks.h"
#include "results/timeline.h"
#include "streams/power.h"

/* Describes the metrics of the selected groups, distributes the groups over the passes, and finds the
   metrics that are flags of lost samples. Returns 0 without memory. */
static int zt__describe_selection(zt_profiler *profiler) {
    const zt_allocator *allocator = &profiler->config.allocator;
    zt__selection *selection = &profiler->selection;
    static const struct {
        const char *name;
        zt_cause cause;
    } flags[] = {
        {"ReportError", ZT_LOST_REPORT_ERROR},
        {"ReportLost", ZT_LOST_REPORT_LOST},
        {"ReportWithoutWorkload", ZT_LOST_REPORT_WITHOUT_WORKLOAD},
        {"ReportInconsistent", ZT_LOST_REPORT_INCONSISTENT},
        {"ReportContextMismatch", ZT_LOST_REPORT_CONTEXT_MISMATCH},
        {"ReportQueryModeMismatch", ZT_LOST_REPORT_QUERY_MODE_MISMATCH},
        {"OverrunOccured", ZT_LOST_OVERRUN},
        {"QuerySplitOccurred", ZT_LOST_QUERY_SPLIT},
    };
    uint32_t pass, g, m, i, tile, first_group = 0, tiles = selection->groups[0].tiles;
    profiler->pass_count = selection->pass_count;
    profiler->tile_count = tiles > 1 ? tiles : 0;
    profiler->metric_count = selection->metric_count;
    profiler->metrics =
        (zt_metric *)zt__allocate(allocator, profiler->metric_count, sizeof *profiler->metrics);
    profiler->lost_flags = (zt__lost_flag *)zt__allocate(allocator, (size_t)profiler->metric_count * tiles,
                                                         sizeof *profiler->lost_flags);
    if (!profiler->metrics || !profiler->lost_flags) {
        return 0;
    }
    for (pass = 0; pass < profiler->pass_count; pass++) {
        zt__pass *to = &profiler->passes[pass];
        to->groups = &selection->groups[first_group];
        to->group_count = selection->pass_sizes[pass];
        first_group += to->group_count;
        for (g = 0; g < to->group_count; g++) {
            for (m = 0; m < to->groups[g].metric_count; m++) {
                uint32_t index = to->groups[g].first_metric + m;
                zt_metric *metric = &profiler->metrics[index];
                zt__describe_metric(&to->groups[g], m, metric);
                metric->pass = pass;
                if (to->time_metric == UINT32_MAX && strcmp(metric->name, "GpuTime") == 0 &&
                    strcmp(metric->units, "ns") == 0) {
                    to->time_metric = index;
                }
            }
        }
        profiler->is_stamped |= to->time_metric == UINT32_MAX;
    }
    for (m = 0; m < profiler->metric_count; m++) {
        int is_flag = profiler->metrics[m].aggregation == ZT_AGGREGATE_FLAG;
        for (i = 0; is_flag && i < ZT__COUNT_OF(flags); i++) {
            if (strcmp(profiler->metrics[m].name, flags[i].name) != 0) {
                continue;
            }
            for (tile = 0; tile < tiles; tile++) {
                zt__lost_flag *flag = &profiler->lost_flags[profiler->lost_flag_count++];
                flag->column = profiler->tile_count ? zt__tile_column(profiler, tile, m) : 1 + m;
                flag->cause = flags[i].cause;
            }
        }
    }
    return 1;
}

/* Selects and activates the metric groups, and makes the first probes: whether metrics can be used shows
   only when query pools are created. On failure, one pass without groups remains. */
static ze_result_t zt__open_metrics(zt_profiler *profiler) {
    zt__pass *pass = &profiler->passes[0];
    zet_metric_query_pool_handle_t pool = NULL;
    zt__counter_holder holder;
    const char *call = "config.allocator";
    uint32_t i;
    ze_result_t result =
        zt__select_groups(&profiler->config.allocator, &profiler->diagnostics, &profiler->driver,
                          profiler->device, &profiler->config, &profiler->selection, &profiler->availability);
    if (result != ZE_RESULT_SUCCESS || profiler->selection.group_count == 0) {
        return result;
    }
    holder.text[0] = 0;
    if (!zt__describe_selection(profiler)) {
        result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    } else {
        /* If another tool uses the counters, activation would take them from it, but a query pool is refused.
           So one is created first. Other errors are left to the calls that follow. */
        call = "zetMetricQueryPoolCreate";
        result = zt__create_query_pool(profiler->context, profiler->device,
                                       profiler->selection.groups[0].handle, 1, &pool);
        if (result == ZE_RESULT_SUCCESS) {
            zt__destroy_query_pool(pool);
        } else if (result != ZE_RESULT_ERROR_NOT_AVAILABLE &&
                   result != ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE) {
            result = ZE_RESULT_SUCCESS;
        }
    }
    if (result == ZE_RESULT_SUCCESS) {
        profiler->is_stamped |= profiler->config.timeline != 0;
        result = zt__activate_pass(profiler, pass, &holder, &call);
    }
    if (result == ZE_RESULT_SUCCESS) {
        return result;
    }
    profiler->availability =
        zt__report_refusal(&profiler->diagnostics, profiler->device, ZT__FOR_REGIONS, result, call, &holder);
    zt__free_selection(&profiler->config.allocator, &profiler->selection);
    profiler->metric_count = profiler->lost_flag_count = profiler->tile_count = 0;
    profiler->pass_count = 1;
    for (i = 0; i < ZT__MAX_PASSES; i++) {
        profiler->passes[i].groups = NULL;
        profiler->passes[i].group_count = 0;
        profiler->passes[i].time_metric = UINT32_MAX;
    }
    return result;
}

/* Ends what a profiler measures with. Its results stay. */
static void zt__end_profiler(zt_profiler *profiler) {
    zt__detach_profiler(profiler);
    zt__unregister_profiler(profiler); /* a detached one is registered: its reports are written later */
}

/* Frees the results of a profiler that has ended. */
static void zt__free_results(zt_profiler *profiler) {
    zt__close_timeline(profiler);
    zt__close_power(profiler);
    zt__free_baseline(profiler);
    /* Optional parts of a profiler, which set these functions when they are made. */
    if (profiler->free_watch) {
        profiler->free_watch(profiler);
    }
    if (profiler->free_hotspots) {
        profiler->free_hotspots(profiler);
    }
    if (profiler->free_tracer) {
        profiler->free_tracer(profiler);
    }
    if (profiler->free_memory) {
        profiler->free_memory(profiler);
    }
    if (profiler->free_kernels) {
        profiler->free_kernels(profiler);
    }
    zt__free_profiler(profiler);
}

/* Reads the resolution and width of the device's time stamps, and the facts about device and program that
   reports have. Facts that cannot be found out stay unknown. */
static ze_result_t zt__read_device(zt_profiler *profiler) {
    const zt__driver *driver = &profiler->driver;
    zt__facts *facts = &profiler->facts;
    ze_driver_handle_t handle;
    ze_driver_properties_t of_driver;
    ze_device_properties_t properties;
    ze_pci_ext_properties_t pci;
    uint32_t i, used = 0, tiles = 0;
    time_t now = time(NULL);
    ze_result_t result;
    memset(&properties, 0, sizeof properties);
    properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2; /* the resolution is in cycles a second */
    result = zeDeviceGetProperties(profiler->device, &properties);
    if (result != ZE_RESULT_SUCCESS) {
        return zt__check(&profiler->diagnostics, result, "zeDeviceGetProperties",
                         "Pass a device of an initialised driver.");
    }
    ZT__END_TEXT(properties.name);
    zt__copy_text(profiler->device_name, sizeof profiler->device_name, properties.name,
                  strlen(properties.name));
    profiler->ns_per_tick = properties.timerResolution ? 1e9 / (double)properties.timerResolution : 1.0;
    profiler->tick_mask = zt__mask_of_bits(properties.timestampValidBits);
    profiler->kernel_tick_mask = zt__mask_of_bits(properties.kernelTimestampValidBits);
    profiler->tiles_stamped = 1;
    if (driver->zeEventQueryTimestampsExp &&
        zeDeviceGetSubDevices(profiler->device, &tiles, NULL) == ZE_RESULT_SUCCESS && tiles > 1 &&
        tiles <= ZT__MAX_TILES) {
        profiler->tiles_stamped = tiles;
    }
    memset(&of_driver, 0, sizeof of_driver);
    of_driver.stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES;
    handle = zt__find_driver(profiler->device);
    if (handle && zeDriverGetProperties(handle, &of_driver) == ZE_RESULT_SUCCESS) {
        /* Intel's drivers put major, minor and build into 8, 8 and 16 bits. */
        uint32_t version = of_driver.driverVersion;
        snprintf(facts->driver_version, sizeof facts->driver_version, "%u.%u.%u", (unsigned)(version >> 24),
                 (unsigned)(version >> 16 & 0xFF), (unsigned)(version & 0xFFFF));
    }
    memset(&pci, 0, sizeof pci);
    pci.stype = ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES;
    if (driver->zeDevicePciGetPropertiesExt &&
        driver->zeDevicePciGetPropertiesExt(profiler->device, &pci) == ZE_RESULT_SUCCESS) {
        snprintf(facts->pci_address, sizeof facts->pci_address, "%04x:%02x:%02x.%x",
                 (unsigned)pci.address.domain, (unsigned)pci.address.bus, (unsigned)pci.address.device,
                 (unsigned)pci.address.function);
    }
    for (i = 0; i < sizeof properties.uuid.id; i++) {
        used += (uint32_t)snprintf(facts->uuid + used, sizeof facts->uuid - used, "%s%02x",
                                   i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", properties.uuid.id[i]);
    }
    zt__read_program(facts->program, sizeof facts->program);
    facts->core_clock_mhz = properties.coreClockRate;
    facts->timer_hz = properties.timerResolution;
    facts->opened_s = now > 0 ? (uint64_t)now : 0;
    return result;
}

/* As zt_open, with a complete configuration. Earlier parts call it by `open_configured`. */
static ze_result_t zt__open_configured(ze_context_handle_t context, ze_device_handle_t device,
                                       const zt_config *complete, zt_profiler **profiler) {
    zt_profiler *opened = zt__create_profiler(complete);
    zt__diagnostics *diagnostics;
    const char *call;
    ze_result_t result;
    if (!opened) {
        return zt__report_no_memory(NULL, "zt_open", "the profiler");
    }
    diagnostics = &opened->diagnostics;
    opened->context = context;
    opened->device = opened->opened_device = device;
    opened->opened_ns = zt__now_ns();
    zt__load_driver(&opened->driver);
    result = zt__check_process(diagnostics, "zt_open");
    if (result != ZE_RESULT_SUCCESS) {
        /* reported */
    } else if (!zt__register_profiler(opened)) {
        result = zt__report(diagnostics, TOO_MANY_PROFILERS, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY,
                            (unsigned)ZT__MAX_PROFILERS);
    } else if (!zt__keep_columns(opened, complete)) {
        result = zt__report_no_memory(diagnostics, "zt_open", "config.columns");
    } else {
        ZT__INTERNAL(result = zt__read_device(opened));
    }
    if (result == ZE_RESULT_SUCCESS) {
        ZT__INTERNAL(result = zt__open_metrics(opened));
        if (opened->availability == ZT_TIMES_BY_CHOICE) { /* no failure, so nothing is logged */
            zt__copy_text(opened->availability_text.text, sizeof opened->availability_text.text,
                          zt__format_TIMES_BY_CHOICE, strlen(zt__format_TIMES_BY_CHOICE));
            if (complete->require_metrics) {
                result = zt__report(diagnostics, TIMES_BY_CHOICE, ZE_RESULT_ERROR_INVALID_ARGUMENT);
            }
        } else if (result != ZE_RESULT_SUCCESS) {
            opened->availability_text = diagnostics->last;
            if (!complete->require_metrics && !zt__is_device_lost(diagnostics)) {
                result = ZE_RESULT_SUCCESS; /* times are measured */
            }
        }
    }
    if (result == ZE_RESULT_SUCCESS && opened->selection.group_count == 0) {
        opened->is_stamped = 1;
        result = zt__make_probes(opened, &opened->passes[0], &call);
        zt__check(diagnostics, result, call, "No region can be measured on this device.");
    }
    if (result == ZE_RESULT_SUCCESS) {
        opened->keeps_latencies = complete->timeline > 0;
        if (zt__lay_out_columns(opened)) {
            opened->batch.rows = (double *)zt__allocate(
                &complete->allocator, (size_t)ZT__BATCH * opened->row_length, sizeof *opened->batch.rows);
        }
        if (!opened->batch.rows) {
            result = zt__report_no_memory(diagnostics, "zt_open", "statistics");
        }
    }
    if (result == ZE_RESULT_SUCCESS && complete->timeline) {
        ZT__INTERNAL(result = zt__open_timeline(opened));
    }
    if (result == ZE_RESULT_SUCCESS && complete->power) {
        ZT__INTERNAL(result = zt__open_power(opened));
    }
    if (result == ZE_RESULT_SUCCESS && complete->baseline && *complete->baseline &&
        !zt__read_baseline(opened, complete->baseline)) {
        result = zt__report_no_memory(diagnostics, "zt_open", "config.baseline");
    }
    if (result == ZE_RESULT_SUCCESS && complete->with && !zt__join_reporting(opened, complete->with)) {
        result = zt__report_no_memory(diagnostics, "zt_open", "config.with");
    }
    opened->config.with = NULL;
    /* The application's texts need not outlive this call. */
    opened->config.groups = opened->config.metrics = opened->config.columns = opened->config.baseline = NULL;
    if (result != ZE_RESULT_SUCCESS) {
        zt__keep_error(diagnostics, result);
        zt__end_profiler(opened);
        zt__free_results(opened);
        return result;
    }
    if (complete->thread && !zt__start_thread(&opened->thread, zt__run_collecting_thread, opened)) {
        opened->config.thread = 0;
#ifdef ZETOOLS_NO_THREADS
        zt__report(diagnostics, NO_THREAD, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                   " (ZETOOLS_NO_THREADS is defined)");
#else
        zt__report(diagnostics, NO_THREAD, ZE_RESULT_ERROR_NOT_AVAILABLE, "");
#endif
    }
    zt__start_power(opened);
    opened->open_configured = zt__open_configured;
    zt__start_listening(opened);
    *profiler = opened;
    return result;
}

ZT_API ze_result_t zt_open(ze_context_handle_t context, ze_device_handle_t device, const zt_config *config,
                           zt_profiler **profiler) {
    zt_config complete = zt__complete_config(config);
    ze_result_t result;
    if (!profiler) {
        return zt__report_null(NULL, "zt_open", "profiler");
    }
    *profiler = NULL;
    result = zt__check_opening("zt_open", context, device, config ? &config->allocator : NULL);
    if (result == ZE_RESULT_SUCCESS && complete.with &&
        (!zt__is_registered(complete.with) || !complete.with->opened_device)) {
        result = zt__report(NULL, BAD_WITH, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    }
    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }
    if (!complete.timeline && zt__shows_timeline(zt__get_variable("ZT_REPORT"))) {
        complete.timeline = ZT__REPORT_TIMELINE;
    }
    result = zt__open_configured(context, device, &complete, profiler);
    if (result == ZE_RESULT_SUCCESS) {
        zt__read_environment(*profiler);
    }
    return result;
}

ZT_API void zt_close(zt_profiler *profiler) {
    zt_profiler *unneeded;
    zt__held held;
    /* A profiler that is not registered is closed already, or belongs to the parent process of a fork. */
    if (!profiler || !zt__is_registered(profiler) || zt__refuse_inside_callback(profiler, "zt_close") ||
        zt__is_inside_log(&profiler->diagnostics, "zt_close")) {
        return;
    }
    if (!zt__stop_listening(profiler)) {
        zt__report(&profiler->diagnostics, THREAD_HANGS, ZE_RESULT_NOT_READY, "zt_close");
        return;
    }
    if (profiler->end_watch && !profiler->end_watch(profiler)) {
        return;
    }
    if (profiler->stop_tracing && !profiler->stop_tracing(profiler)) {
        return;
    }
    if (!zt__stop_thread(&profiler->thread) || !zt__stop_power(profiler)) {
        zt__report(&profiler->diagnostics, THREAD_HANGS, ZE_RESULT_NOT_READY, "zt_close");
        return;
    }
    profiler->config.thread = 0; /* from here on, this thread collects */
    if (profiler->device) {
        zt__collect_what_runs(profiler);
    }
    if (!zt__detach_streams(profiler, zt__deadline(profiler->config.wait_timeout_ns))) {
        zt__report(&profiler->diagnostics, ROWS_BUSY, ZE_RESULT_NOT_READY);
        return;
    }
    if (profiler->device) {
        zt__abandon_recordings(profiler, "zt_close");
    }
    if (profiler->reports && !zt__is_reported_by_other(profiler)) {
        zt__write_reports(profiler, profiler->reports, profiler->report_number, 0);
    }
    zt__finish_power(profiler);
    held = zt__hold_reporting(profiler, UINT64_MAX); /* those who hold the lock have a deadline */
    zt__end_profiler(profiler);
    unneeded = zt__leave_reporting(profiler, held);
    while (unneeded) {
        profiler = unneeded;
        unneeded = profiler->next_reporting;
        zt__free_results(profiler);
    }
}
