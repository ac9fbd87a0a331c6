/* zt_get_call, zt_get_hotspot: what was traced, as numbers. */

#include "tracer/results.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/numbers.h"
#include "base/platform.h"
#include "metrics/statistics.h"
#include "regions/profiler.h"
#include "results/timeline.h"
#include "tracer/call_times.h"
#include "tracer/calls.h"
#include "tracer/hotspots.h"
#include "tracer/tracer.h"
#include "tracer/unmeasured.h"

#ifdef ZETOOLS_TRACER

/* ---- hot spots ------------------------------------------------------------------------------------------ */

ZT__PRIVATE zt_hotspots_counts zt__get_hotspot_counts(const zt_profiler *profiler) {
    zt__hotspots *hotspots = zt__hotspots_of(profiler);
    zt_hotspots_counts counts;
    memset(&counts, 0, sizeof counts);
    if (hotspots) {
        zt__lock(&hotspots->mutex);
        counts = hotspots->counts;
        zt__unlock(&hotspots->mutex);
    }
    return counts;
}

ZT__PRIVATE uint32_t zt__get_hotspot_count(const zt_profiler *profiler) {
    zt__hotspots *hotspots = zt__hotspots_of(profiler);
    uint32_t count = 0;
    if (hotspots) {
        zt__lock(&hotspots->mutex);
        count = hotspots->spot_count;
        zt__unlock(&hotspots->mutex);
    }
    return count;
}

ZT_API ze_result_t zt_get_hotspot(const zt_profiler *profiler, uint32_t index, zt_hotspot_info *info) {
    zt__hotspots *hotspots = zt__hotspots_of(profiler);
    const zt__spot *spot;
    uint32_t i;
    if (!info) {
        return profiler ? zt__report_null(&zt__mutable(profiler)->diagnostics, "zt_get_hotspot", "info")
                        : ZE_RESULT_SUCCESS;
    }
    memset(info, 0, sizeof *info);
    info->kernel = info->file = "";
    info->share = zt__nan();
    if (!profiler) {
        return ZE_RESULT_SUCCESS;
    }
    if (index >= zt__get_hotspot_count(profiler)) {
        return zt__report(&zt__mutable(profiler)->diagnostics, BAD_INDEX, ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "zt_get_hotspot", (unsigned)index, "hotspot");
    }
    zt__lock(&hotspots->mutex);
    spot = hotspots->spots[index];
    info->kernel = spot->key.kernel->name;
    info->offset = spot->key.offset;
    info->samples = spot->samples;
    info->share = (double)spot->samples / (double)hotspots->counts.matched;
    info->file = spot->file;
    info->line = spot->line;
    for (i = 0; i < hotspots->count_count; i++) {
        if (i == hotspots->active_count) {
            info->active = spot->counts[i];
        } else {
            info->stalls[info->stall_count].name = hotspots->count_names[i];
            info->stalls[info->stall_count++].samples = spot->counts[i];
        }
    }
    zt__unlock(&hotspots->mutex);
    return ZE_RESULT_SUCCESS;
}

/* ---- launches and calls --------------------------------------------------------------------------------- */

ZT__PRIVATE zt_trace_counts zt__get_launch_counts(const zt_profiler *profiler) {
    zt__tracer *tracer = profiler ? zt__load(&profiler->tracer) : NULL;
    zt_trace_counts counts;
    memset(&counts, 0, sizeof counts);
    if (tracer) {
        zt__lock(&tracer->mutex);
        counts = tracer->counts;
        zt__unlock(&tracer->mutex);
        counts.replaced = zt__load(&tracer->modules.replaced);
    }
    zt__name_causes(&counts);
    return counts;
}

ZT__PRIVATE uint32_t zt__get_call_count(const zt_profiler *profiler) {
    zt__tracer *tracer = profiler ? zt__load(&profiler->tracer) : NULL;
    uint32_t count = 0;
    if (tracer) {
        zt__lock(&tracer->mutex);
        count = tracer->timed_call_count;
        zt__unlock(&tracer->mutex);
    }
    return count;
}

ZT_API ze_result_t zt_get_call(const zt_profiler *profiler, uint32_t index, zt_call_info *info) {
    zt__kept_value kept[ZT__KEPT_CALLS];
    zt__tracer *tracer;
    const zt__timed_call *timed;
    uint32_t count;
    if (!info) {
        return profiler ? zt__report_null(&zt__mutable(profiler)->diagnostics, "zt_get_call", "info")
                        : ZE_RESULT_SUCCESS;
    }
    memset(info, 0, sizeof *info);
    info->name = "";
    zt__clear_stats(&info->time_ns);
    if (!profiler) {
        return ZE_RESULT_SUCCESS;
    }
    if (index >= zt__get_call_count(profiler)) {
        return zt__report(&zt__mutable(profiler)->diagnostics, BAD_INDEX, ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "zt_get_call", (unsigned)index, "call");
    }
    tracer = zt__load(&profiler->tracer);
    zt__lock(&tracer->mutex);
    timed = tracer->by_appearance[index];
    info->name = zt__call_name(timed->call);
    info->errors = timed->errors;
    zt__get_moments(ZT_AGGREGATE_SUM, timed->statistics.moments, &info->time_ns);
    count = zt__copy_column(&zt__call_layout, &timed->statistics, 0, kept);
    zt__unlock(&tracer->mutex);
    info->count = info->time_ns.count;
    zt__add_quantiles(ZT_AGGREGATE_SUM, kept, count, &info->time_ns);
    return ZE_RESULT_SUCCESS;
}

ZT__PRIVATE uint32_t zt__calls_to_report(const zt_profiler *profiler) {
    zt__tracer *tracer = zt__load(&profiler->tracer);
    zt__traced_device *device = tracer ? zt__load(&tracer->devices) : NULL;
    while (device && !device->profiler) {
        device = zt__load(&device->next);
    }
    return profiler->joined || (device && device->profiler == profiler) ? zt__get_call_count(profiler) : 0;
}

ZT__PRIVATE void zt__get_kept_calls(const zt_profiler *profiler, uint64_t *first, uint64_t *end) {
    zt__tracer *tracer = zt__load(&profiler->tracer);
    *first = *end = 0;
    if (tracer && zt__calls_to_report(profiler)) {
        zt__lock(&tracer->mutex);
        *end = tracer->span_count;
        *first = zt__oldest_kept(*end, tracer->span_capacity);
        zt__unlock(&tracer->mutex);
    }
}

ZT__PRIVATE int zt__copy_kept_call(const zt_profiler *profiler, uint64_t index, zt__kept_call *call) {
    zt__tracer *tracer = zt__load(&profiler->tracer);
    int is_kept;
    zt__lock(&tracer->mutex);
    is_kept = tracer->span_count - index <= tracer->span_capacity;
    if (is_kept) {
        const zt__host_span *span = &tracer->spans[index % tracer->span_capacity];
        call->name = zt__call_name(span->call);
        call->begin_ns = span->begin_ns;
        call->end_ns = span->begin_ns + span->duration_ns;
        call->thread = span->thread;
    }
    zt__unlock(&tracer->mutex);
    return is_kept;
}

#endif
