/* zt_get_region, zt_get_stats and the like: counts and statistics of regions. */

#include "results/results.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/platform.h"
#include "base/text.h"
#include "metrics/driver.h"
#include "metrics/statistics.h"
#include "regions/columns.h"
#include "regions/names.h"
#include "regions/profiler.h"

/* ---- counts and descriptions ----------------------------------------------------------------------------- */

ZT__PRIVATE zt_counts zt__get_counts(const zt_profiler *profiler) {
    zt_profiler *locked = zt__mutable(profiler);
    zt_counts counts;
    memset(&counts, 0, sizeof counts);
    if (profiler) {
        zt__lock(&locked->mutex);
        counts = profiler->counts;
        zt__unlock(&locked->mutex);
        counts.in_flight = counts.begun - counts.collected - counts.lost - counts.dropped;
    }
    return counts;
}

ZT__PRIVATE uint64_t zt__get_cause(const zt_profiler *profiler, zt_cause cause) {
    zt_profiler *locked = zt__mutable(profiler);
    uint64_t count;
    zt__lock(&locked->mutex);
    count = profiler->causes[cause];
    zt__unlock(&locked->mutex);
    return count;
}

ZT__PRIVATE uint32_t zt__get_region_count(const zt_profiler *profiler) {
    zt_profiler *locked = zt__mutable(profiler);
    uint32_t count;
    if (!profiler) {
        return 0;
    }
    zt__lock(&locked->mutex);
    count = profiler->region_count;
    zt__unlock(&locked->mutex);
    return count;
}

ZT_API const zt_metric *zt_get_metric(const zt_profiler *profiler, uint32_t metric) {
    return profiler && metric < profiler->metric_count ? &profiler->metrics[metric] : NULL;
}

static const char *zt__metric_name_at(const void *metrics, uint32_t index) {
    return ((const zt_metric *)metrics)[index].name;
}

ZT__PRIVATE uint32_t zt__find_metric(zt__diagnostics *diagnostics, const char *call, const zt_metric *metrics,
                                     uint32_t count, const char *name, zt__nearest *nearest) {
    zt__nearest found;
    uint32_t i;
    for (i = 0; i < count; i++) {
        if (strcmp(metrics[i].name, name) == 0) {
            return i;
        }
    }
    found = zt__find_nearest(name, metrics, count, zt__metric_name_at);
    zt__report(diagnostics, NO_SUCH_METRIC, ZE_RESULT_ERROR_INVALID_ARGUMENT, call, name, found.text);
    if (nearest) {
        *nearest = found;
    }
    return UINT32_MAX;
}

ZT_API uint32_t zt_find_metric(const zt_profiler *profiler, const char *name) {
    if (!profiler || !name) {
        return UINT32_MAX;
    }
    return zt__find_metric(&zt__mutable(profiler)->diagnostics, "zt_find_metric", profiler->metrics,
                           profiler->metric_count, name, NULL);
}

ZT__PRIVATE ze_result_t zt__report_index(const zt_profiler *profiler, const char *call, const char *what,
                                         uint32_t index) {
    if (!profiler) {
        return ZE_RESULT_SUCCESS;
    }
    return zt__report(&zt__mutable(profiler)->diagnostics, BAD_INDEX, ZE_RESULT_ERROR_INVALID_ARGUMENT, call,
                      (unsigned)index, what);
}

/* ---- statistics ------------------------------------------------------------------------------------------ */

ZT__PRIVATE const zt__region_record *zt__get_record(const zt_profiler *profiler, const char *call,
                                                    uint32_t region, const char *what, const void *out,
                                                    ze_result_t *result) {
    zt_profiler *locked = zt__mutable(profiler);
    const zt__region_record *record = NULL;
    *result = ZE_RESULT_SUCCESS;
    if (!profiler) {
        return NULL;
    }
    if (!out) {
        *result = zt__report_null(&locked->diagnostics, call, what);
        return NULL;
    }
    zt__lock(&locked->mutex);
    if (region < profiler->region_count) {
        record = profiler->regions[region];
    }
    zt__unlock(&locked->mutex);
    if (!record) {
        *result = zt__report_index(profiler, call, "region", region);
    }
    return record;
}

ZT__PRIVATE uint64_t zt__collected(const zt_profiler *profiler, const zt__statistics *statistics) {
    uint64_t collected = 0;
    uint32_t pass;
    for (pass = 0; pass < profiler->pass_count; pass++) {
        collected += statistics->seen[pass];
    }
    return collected;
}

/* Returns room for the kept values of so many columns of statistics, with the mutex locked, so that they fit
   until it is unlocked. Each call allocates it, because several threads may call at once. Returns NULL if no
   values are kept, or without memory: then there are no quantiles. */
static double *zt__lock_with_room(zt_profiler *profiler, const zt__statistics *statistics, uint32_t columns) {
    const zt_allocator *allocator = &profiler->config.allocator;
    double *values = NULL;
    uint32_t room = 0;
    zt__lock(&profiler->mutex);
    while (statistics->kept > room) {
        room = statistics->capacity;
        zt__unlock(&profiler->mutex);
        zt__free(allocator, values);
        values = (double *)zt__allocate(allocator, room, columns * sizeof *values);
        zt__lock(&profiler->mutex);
        if (!values) {
            break;
        }
    }
    return values;
}

ZT__PRIVATE uint32_t zt__find_differences(const zt_profiler *profiler, const zt_stats *pass_times) {
    uint64_t fewest = UINT64_MAX, most = 0;
    double shortest = 0, longest = 0;
    uint32_t pass, measured = 0, differs = 0;
    for (pass = 0; pass < profiler->pass_count; pass++) {
        const zt_stats *time = &pass_times[pass];
        if (time->count < fewest) {
            fewest = time->count;
        }
        if (time->count > most) {
            most = time->count;
        }
        if (zt__is_nan(time->median)) {
            continue;
        }
        if (measured == 0 || time->median < shortest) {
            shortest = time->median;
        }
        if (measured == 0 || time->median > longest) {
            longest = time->median;
        }
        measured++;
    }
    if (fewest != most) {
        differs |= fewest == 0 ? ZT_DIFFERS_MISSING : ZT_DIFFERS_COUNT;
    }
    if (longest - shortest > profiler->config.pass_tolerance * shortest) {
        differs |= ZT_DIFFERS_TIME;
    }
    return differs;
}

ZT__PRIVATE double zt__get_own_time(const zt__path *path, double *estimate) {
    double own_ns = path->time_ns;
    uint64_t missing = path->inner ? path->missing : 0;
    const zt__path *inner;
    for (inner = path->inner; inner; inner = inner->next_inner) {
        own_ns -= inner->time_ns;
        missing += inner->missing;
    }
    if (estimate) {
        *estimate = zt__is_positive(own_ns) ? own_ns : 0;
    }
    /* Below 0, the device has measured the region or those inside it wrongly. */
    return path->is_own_unknown || missing || own_ns < 0 ? zt__nan() : own_ns;
}

ZT__PRIVATE void zt__add_paths(const zt_profiler *profiler, const zt__region_record *record,
                               zt_region_info *info) {
    const zt__path *path, *outer = record->paths ? record->paths->key.outer : &profiler->root;
    int is_same = 1;
    info->own_ns = info->total_ns = 0;
    for (path = record->paths; path; path = path->next) {
        info->own_ns += zt__get_own_time(path, NULL);
        if (!path->is_repeated) {
            info->total_ns += path->time_ns;
        } else if (path->outlives_outer) {
            info->total_ns = zt__nan();
        }
        is_same &= path->key.outer->key.region == outer->key.region;
    }
    info->parent = is_same && outer->depth > 0 ? outer->key.region->index : UINT32_MAX;
}

ZT__PRIVATE void zt__add_bytes(const zt__region_record *record, zt_region_info *info) {
    info->bytes = record->bytes;
    info->bytes_per_second =
        zt__is_positive(record->bytes_ns) ? (double)record->bytes / record->bytes_ns * 1e9 : zt__nan();
}

ZT__PRIVATE uint32_t zt__get_path_count(const zt_profiler *profiler) {
    zt_profiler *locked = zt__mutable(profiler);
    uint32_t count;
    if (!profiler) {
        return 0;
    }
    zt__lock(&locked->mutex);
    count = profiler->path_count;
    zt__unlock(&locked->mutex);
    return count;
}

ZT_API ze_result_t zt_get_path(const zt_profiler *profiler, uint32_t path, zt_path_info *info) {
    zt_profiler *locked = zt__mutable(profiler);
    const zt__path *found = NULL;
    if (info) {
        memset(info, 0, sizeof *info);
        info->parent = UINT32_MAX;
        info->total_ns = info->own_ns = zt__nan();
    }
    if (!profiler) {
        return ZE_RESULT_SUCCESS;
    }
    if (!info) {
        return zt__report_null(&locked->diagnostics, "zt_get_path", "info");
    }
    zt__lock(&locked->mutex);
    if (path < profiler->path_count) {
        found = zt__path_at(profiler, path);
        info->region = found->key.region->index;
        info->parent = found->depth > 1 ? found->key.outer->index : UINT32_MAX;
        info->count = found->count;
        info->total_ns = found->time_ns;
        info->own_ns = zt__get_own_time(found, NULL);
    }
    zt__unlock(&locked->mutex);
    return found ? ZE_RESULT_SUCCESS : zt__report_index(profiler, "zt_get_path", "path", path);
}

ZT_API ze_result_t zt_get_region(const zt_profiler *profiler, uint32_t region, zt_region_info *info) {
    zt_profiler *locked = zt__mutable(profiler);
    const zt__region_record *record;
    ze_result_t result;
    zt_stats pass_times[ZT__MAX_PASSES];
    uint32_t pass, kept = 0;
    double *values;
    if (info) {
        memset(info, 0, sizeof *info);
        info->name = "";
        info->parent = UINT32_MAX;
        info->own_ns = info->total_ns = info->bytes_per_second = zt__nan();
        zt__clear_stats(&info->time_ns);
    }
    record = zt__get_record(profiler, "zt_get_region", region, "info", info, &result);
    if (!record) {
        return result;
    }
    values = zt__lock_with_room(locked, &record->times, 1);
    info->name = record->name;
    info->lost = record->lost;
    info->dropped = record->dropped;
    info->count = zt__collected(profiler, &record->times);
    info->with_metrics = zt__collected(profiler, &record->statistics);
    zt__add_paths(profiler, record, info);
    zt__add_bytes(record, info);
    zt__get_moments(&profiler->times_layout, &record->times, 0, &info->time_ns);
    if (values) {
        kept = zt__copy_column(&profiler->times_layout, &record->times, 0, values);
    }
    zt__unlock(&locked->mutex);
    zt__add_quantiles(&profiler->times_layout, 0, values, kept, &info->time_ns);
    zt__free(&profiler->config.allocator, values);
    for (pass = 0; pass < profiler->pass_count && profiler->pass_count > 1; pass++) {
        zt_get_pass(profiler, region, pass, &pass_times[pass]);
    }
    info->differs = profiler->pass_count > 1 ? zt__find_differences(profiler, pass_times) : 0;
    return result;
}

ZT__PRIVATE ze_result_t zt__get_column(const zt_profiler *profiler, const char *call, uint32_t region,
                                       const zt__sample_layout *layout, uint32_t column, zt_stats *stats) {
    zt_profiler *locked = zt__mutable(profiler);
    ze_result_t result;
    const zt__region_record *record = zt__get_record(profiler, call, region, "stats", stats, &result);
    const zt__statistics *statistics;
    uint32_t kept = 0;
    double *values;
    if (!record) {
        return result;
    }
    statistics = layout == &profiler->times_layout ? &record->times : &record->statistics;
    values = zt__lock_with_room(locked, statistics, 1);
    zt__get_moments(layout, statistics, column, stats);
    if (values) {
        kept = zt__copy_column(layout, statistics, column, values);
    }
    zt__unlock(&locked->mutex);
    zt__add_quantiles(layout, column, values, kept, stats);
    zt__free(&profiler->config.allocator, values);
    return result;
}

ZT_API ze_result_t zt_get_stats(const zt_profiler *profiler, uint32_t region, uint32_t metric,
                                zt_stats *stats) {
    if (stats) {
        zt__clear_stats(stats);
    }
    if (!profiler || metric >= profiler->metric_count) {
        return zt__report_index(profiler, "zt_get_stats", "metric", metric);
    }
    return zt__get_column(profiler, "zt_get_stats", region, &profiler->layout, metric + 1, stats);
}

ZT_API ze_result_t zt_get_pass(const zt_profiler *profiler, uint32_t region, uint32_t pass,
                               zt_stats *time_ns) {
    if (time_ns) {
        zt__clear_stats(time_ns);
    }
    if (!profiler || pass >= profiler->pass_count) {
        return zt__report_index(profiler, "zt_get_pass", "pass", pass);
    }
    if (profiler->metric_count == 0) {
        return zt__get_column(profiler, "zt_get_pass", region, &profiler->times_layout, 0, time_ns);
    }
    return zt__get_column(profiler, "zt_get_pass", region, &profiler->layout,
                          zt__pass_time_column(profiler, pass), time_ns);
}

ZT_API ze_result_t zt_get_tile_stats(const zt_profiler *profiler, uint32_t region, uint32_t tile,
                                     uint32_t metric, zt_stats *stats) {
    if (stats) {
        zt__clear_stats(stats);
    }
    if (!profiler || metric >= profiler->metric_count) {
        return zt__report_index(profiler, "zt_get_tile_stats", "metric", metric);
    }
    if (tile >= profiler->tile_count) {
        return zt__report_index(profiler, "zt_get_tile_stats", "tile", tile);
    }
    return zt__get_column(profiler, "zt_get_tile_stats", region, &profiler->layout,
                          zt__tile_column(profiler, tile, metric), stats);
}

ZT__PRIVATE void zt__hide_uncertain(zt_stats *stats, double error_ns) {
    double *const figures[] = {&stats->mean, &stats->min, &stats->max, &stats->median, &stats->p95};
    uint32_t i;
    for (i = 0; i < ZT__COUNT_OF(figures); i++) {
        if (!zt__is_nan(*figures[i]) && *figures[i] <= error_ns) {
            *figures[i] = zt__nan();
        }
    }
    if (zt__is_nan(stats->mean)) {
        stats->sum = stats->stddev = zt__nan();
    }
}

ZT_API ze_result_t zt_get_latency(const zt_profiler *profiler, uint32_t region, zt_latency latency,
                                  zt_stats *stats) {
    zt_profiler *locked = zt__mutable(profiler);
    double error_ns;
    ze_result_t result;
    if (stats) {
        zt__clear_stats(stats);
    }
    if (!profiler) {
        return ZE_RESULT_SUCCESS;
    }
    if ((uint32_t)latency >= ZT_LATENCY_COUNT) {
        return zt__report(&locked->diagnostics, BAD_LATENCY, ZE_RESULT_ERROR_INVALID_ENUMERATION,
                          (int)latency);
    }
    result = zt__get_column(profiler, "zt_get_latency", region, &profiler->times_layout,
                            1 + (uint32_t)latency, stats);
    if (result == ZE_RESULT_SUCCESS && latency == ZT_LATENCY_LAUNCH) {
        zt__lock(&locked->mutex);
        error_ns = profiler->regions[region]->launch_error_ns;
        zt__unlock(&locked->mutex);
        zt__hide_uncertain(stats, error_ns);
    }
    return result;
}

ZT_API double zt_get_rate(const zt_profiler *profiler, uint32_t region, uint32_t metric) {
    const zt_metric *described = zt_get_metric(profiler, metric);
    zt_stats stats, time;
    if (!described || region >= zt__get_region_count(profiler) ||
        zt_get_stats(profiler, region, metric, &stats) != ZE_RESULT_SUCCESS ||
        zt_get_pass(profiler, region, described->pass, &time) != ZE_RESULT_SUCCESS) {
        return zt__nan();
    }
    if (described->aggregation != ZT_AGGREGATE_SUM) {
        return stats.mean;
    }
    return zt__is_positive(time.sum) ? stats.sum / time.sum * 1e9 : zt__nan();
}

/* ---- regions, for reports and merging -------------------------------------------------------------------- */

ZT__PRIVATE const zt__region_record *zt__record_at(zt_profiler *profiler, uint32_t region) {
    const zt__region_record *record;
    zt__lock(&profiler->mutex);
    record = profiler->regions[region];
    zt__unlock(&profiler->mutex);
    return record;
}

ZT__PRIVATE int zt__copy_statistics(zt_profiler *profiler, const zt__sample_layout *layout,
                                    const zt__statistics *from, zt__statistics *copy) {
    const zt_allocator *allocator = &profiler->config.allocator;
    uint32_t columns = layout->column_count;
    zt__moments *moments = (zt__moments *)zt__allocate(allocator, columns, sizeof *moments);
    double *rows = zt__lock_with_room(profiler, from, columns);
    int has_room = moments && (rows || from->kept == 0);
    memset(copy, 0, sizeof *copy);
    if (has_room && from->moments) {
        *copy = *from;
        copy->moments = (zt__moments *)memcpy(moments, from->moments, columns * sizeof *moments);
        copy->rows = rows;
        copy->capacity = from->kept;
        if (from->kept > 0) {
            memcpy(rows, from->rows, (size_t)from->kept * columns * sizeof *rows);
        }
    }
    zt__unlock(&profiler->mutex);
    if (!copy->moments) {
        zt__free(allocator, moments);
        zt__free(allocator, rows);
    }
    return has_room;
}

/* ---- availability and errors ----------------------------------------------------------------------------- */

ZT__PRIVATE zt_availability zt__get_availability(const zt_profiler *profiler) {
    if (!profiler) {
        return ZT_AVAILABILITY_UNKNOWN;
    }
    if (profiler->device && zt__is_device_lost(&profiler->diagnostics)) {
        return ZT_DEVICE_LOST;
    }
    return profiler->availability;
}

ZT__PRIVATE const char *zt__get_availability_text(const zt_profiler *profiler) {
    switch (zt__get_availability(profiler)) {
    case ZT_AVAILABLE:
        return "[AVAILABLE] metrics are measured.";
    case ZT_AVAILABILITY_UNKNOWN:
        return "[NO_PROFILER] there is no profiler: zt_get_last_error(NULL) has the reason.";
    case ZT_DEVICE_LOST:
        return "[DEVICE_LOST] the device is lost. Open a new profiler when it is back.";
    default:
        return profiler->availability_text.text;
    }
}

ZT_API const char *zt_get_last_error(const zt_profiler *profiler) {
    return zt__get_last_error(zt__diagnostics_of(profiler));
}

ZT_API ze_result_t zt_get_last_result(const zt_profiler *profiler) {
    return zt__get_last_message(zt__diagnostics_of(profiler)).result;
}
