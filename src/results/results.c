/* zt_get_region and the like: counts and statistics of regions. */

#include "results/results.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/platform.h"
#include "base/text.h"
#include "metrics/driver.h"
#include "metrics/statistics.h"
#include "regions/columns.h"
#include "regions/names.h"
#include "regions/profiler.h"
#include "results/baseline.h"
#include "results/phase_times.h"

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

ZT__PRIVATE uint32_t zt__read_locked(const zt_profiler *profiler, const uint32_t *number) {
    uint32_t read;
    zt__lock(&zt__mutable(profiler)->mutex);
    read = *number;
    zt__unlock(&zt__mutable(profiler)->mutex);
    return read;
}

ZT__PRIVATE uint32_t zt__get_region_count(const zt_profiler *profiler) {
    return profiler ? zt__read_locked(profiler, &profiler->region_count) : 0;
}

ZT__PRIVATE ze_result_t zt__report_index(const zt_profiler *profiler, const char *call, const char *what,
                                         uint32_t index) {
    zt__diagnostics *diagnostics;
    if (!profiler) {
        return ZE_RESULT_SUCCESS;
    }
    diagnostics = &zt__mutable(profiler)->diagnostics;
    return index == UINT32_MAX ? zt__report(diagnostics, NO_INDEX, ZE_RESULT_ERROR_INVALID_ARGUMENT, call)
                               : zt__report(diagnostics, BAD_INDEX, ZE_RESULT_ERROR_INVALID_ARGUMENT, call,
                                            (unsigned)index, what);
}

/* ---- statistics ------------------------------------------------------------------------------------------ */

ZT__PRIVATE zt__subject zt__subject_at(zt_profiler *profiler, uint32_t index) {
    zt__subject subject = {NULL, NULL};
    zt__lock(&profiler->mutex);
    if (index < profiler->region_count) {
        subject.region = profiler->regions[index];
    } else if (index >= ZT_PATH(0) && index - ZT_PATH(0) < profiler->path_count) {
        subject.path = zt__path_at(profiler, index - ZT_PATH(0));
        subject.region = subject.path->key.region;
    }
    zt__unlock(&profiler->mutex);
    return subject;
}

ZT__PRIVATE zt__subject zt__get_subject(const zt_profiler *profiler, const char *call, uint32_t index,
                                        const char *what, const void *out, ze_result_t *result) {
    zt__subject subject = {NULL, NULL};
    *result = ZE_RESULT_SUCCESS;
    if (profiler && !out) {
        *result = zt__report_null(&zt__mutable(profiler)->diagnostics, call, what);
    } else if (profiler) {
        subject = zt__subject_at(zt__mutable(profiler), index);
        if (!subject.region) {
            *result = index < ZT_PATH(0) || index == UINT32_MAX
                          ? zt__report_index(profiler, call, "region", index)
                          : zt__report_index(profiler, call, "path", index - ZT_PATH(0));
        }
    }
    return subject;
}

/* Returns the path of a subject after `path`, or the first for NULL; NULL at the end. A phase inside of itself is left
   out of the phase. The mutex is held. */
static const zt__path *zt__next_of(zt__subject subject, const zt__path *path) {
    if (subject.path) {
        return path ? NULL : subject.path;
    }
    do {
        path = path ? path->next : subject.region->paths;
    } while (path && path->is_repeated && subject.region->is_phase);
    return path;
}

/* Returns the next path inside `outer` after `path`, from which it goes in or not; NULL after the last. The mutex is
   held. */
static const zt__path *zt__next_inside(const zt__path *outer, const zt__path *path) {
    const zt__path *next = path->inner;
    for (; !next && path != outer; path = path->key.outer) {
        next = path->next_inner;
    }
    return next;
}

/* Returns whether a column is of entries instead of samples: the GPU time of a phase. */
static int zt__is_of_entries(zt__subject subject, uint32_t column) {
    return column == 0 && subject.region->is_phase;
}

/* Returns the statistics that have a column, of a path of a subject. */
static const zt__statistics *zt__statistics_with(zt__subject subject, uint32_t column, const zt__path *path) {
    return zt__is_of_entries(subject, column) ? &path->entries : &path->statistics;
}

ZT__PRIVATE void zt__add_power(zt__power_sums *to, const zt__power_sums *from, double factor) {
    uint32_t i;
    to->joules += factor * from->joules;
    to->energy_s += factor * from->energy_s;
    to->throttled_s += factor * from->throttled_s;
    to->clock_s += factor * from->clock_s;
    for (i = 0; i < ZT_THROTTLE_REASONS; i++) {
        to->throttled_by_s[i] += factor * from->throttled_by_s[i];
    }
    to->megahertz_s += factor * from->megahertz_s;
    to->awake_s += factor * from->awake_s;
}

ZT__PRIVATE double zt__known_sum(double sum, double known_s, double seconds) {
    const double least_part = 0.99;
    return known_s > 0 && known_s >= least_part * seconds ? sum : zt__nan();
}

ZT__PRIVATE void zt__divide_power(const zt__power_sums *sums, double seconds, double *joules, double *watts,
                                  double *throttled, double *throttled_by, double *mhz) {
    uint32_t i;
    *joules = zt__known_sum(sums->joules, sums->energy_s, seconds);
    *watts = sums->energy_s > 0 ? sums->joules / sums->energy_s : zt__nan();
    *throttled = sums->clock_s > 0 ? sums->throttled_s / sums->clock_s : zt__nan();
    for (i = 0; i < ZT_THROTTLE_REASONS; i++) {
        throttled_by[i] = sums->clock_s > 0 ? sums->throttled_by_s[i] / sums->clock_s : zt__nan();
    }
    *mhz = sums->awake_s > 0 ? sums->megahertz_s / sums->awake_s : zt__nan();
}

ZT__PRIVATE void zt__add_allocations(zt__phase_memory *to, const zt__phase_memory *from) {
    to->is_watched |= from->is_watched;
    to->allocations += from->allocations;
    to->unfreed += from->unfreed;
    to->unfreed_bytes += from->unfreed_bytes;
}

ZT__PRIVATE void zt__raise_memory_in_use(zt__phase_memory *to, const zt__phase_memory *from) {
    to->has_ended |= from->has_ended;
    to->peak_bytes = from->peak_bytes > to->peak_bytes ? from->peak_bytes : to->peak_bytes;
    to->end_bytes = from->end_bytes > to->end_bytes ? from->end_bytes : to->end_bytes;
}

ZT__PRIVATE zt__totals zt__add_up(zt__subject subject) {
    const zt__path *path = NULL;
    zt__totals totals;
    memset(&totals, 0, sizeof totals);
    totals.is_phase = subject.region->is_phase;
    if (!subject.path && !totals.is_phase) {
        totals.lost = subject.region->lost;
        totals.dropped = subject.region->dropped;
    }
    while ((path = zt__next_of(subject, path)) != NULL) {
        const zt__path *inner = subject.path || totals.is_phase ? path : NULL;
        totals.count += path->statistics.count;
        totals.with_metrics += path->with_metrics;
        totals.bytes += path->bytes;
        totals.bytes_ns += path->bytes_ns;
        if (totals.launch_error_ns < path->launch_error_ns) {
            totals.launch_error_ns = path->launch_error_ns;
        }
        totals.entered += path->entered;
        totals.incomplete += path->incomplete;
        totals.host_ns += (double)path->host_ns;
        totals.host_own_ns += (double)path->host_own_ns;
        totals.host_wait_ns += path->host_wait_ns;
        if (totals.is_phase) {
            zt__add_power(&totals.power, &path->power, 1);
        }
        totals.power_s += path->power_s;
        zt__raise_memory_in_use(&totals.memory, &path->memory);
        while (inner) {
            zt__add_allocations(&totals.memory, &inner->memory);
            totals.lost += inner->lost;
            totals.dropped += inner->dropped;
            inner = totals.is_phase ? zt__next_inside(path, inner) : NULL;
        }
    }
    if (!(totals.host_ns > 0)) {
        totals.host_wait_ns = zt__nan();
    }
    return totals;
}

ZT__PRIVATE zt__moments zt__sum_moments(zt__subject subject, uint32_t column) {
    const zt__path *path = NULL;
    zt__moments sum;
    memset(&sum, 0, sizeof sum);
    while ((path = zt__next_of(subject, path)) != NULL) {
        const zt__statistics *statistics = zt__statistics_with(subject, column, path);
        if (statistics->moments) {
            zt__merge_moments(&sum, &statistics->moments[column]);
        }
    }
    return sum;
}

ZT__PRIVATE void zt__sum_time_counts(zt__subject subject, uint64_t counts[ZT__TIME_BUCKETS]) {
    const zt__path *path = NULL;
    uint32_t i;
    memset(counts, 0, ZT__TIME_BUCKETS * sizeof *counts);
    while ((path = zt__next_of(subject, path)) != NULL) {
        const zt__statistics *statistics = zt__statistics_with(subject, 0, path);
        for (i = 0; i < ZT__TIME_BUCKETS; i++) {
            counts[i] += statistics->time_counts[i];
        }
    }
}

ZT__PRIVATE zt__moments zt__sum_streamed(zt__subject subject, uint32_t metric) {
    const zt__path *path = NULL;
    zt__moments sum;
    memset(&sum, 0, sizeof sum);
    while ((path = zt__next_of(subject, path)) != NULL) {
        if (metric < path->streamed_count) {
            zt__merge_moments(&sum, &path->streamed[metric]);
        }
    }
    return sum;
}

ZT__PRIVATE double zt__time_of(const zt__path *path) {
    return path->statistics.moments ? path->statistics.moments[0].sum : 0;
}

static const zt__sample_layout *zt__layout_with(const zt_profiler *profiler, zt__subject subject,
                                                uint32_t column) {
    return zt__is_of_entries(subject, column) ? &profiler->entry_layout : &profiler->layout;
}

/* Locks the mutex, and copies the kept values of a column. Each call allocates room, because several threads may
   call at once. Returns NULL if no values are kept, or without memory: then `has_memory` is 0. */
static zt__kept_value *zt__lock_with_values(zt_profiler *profiler, zt__subject subject, uint32_t column,
                                            uint32_t *count, int *has_memory) {
    const zt_allocator *allocator = &profiler->config.allocator;
    const zt__sample_layout *layout = zt__layout_with(profiler, subject, column);
    const zt__path *path;
    zt__kept_value *values = NULL;
    uint64_t room = 0, kept;
    *count = 0;
    *has_memory = 1;
    for (;;) {
        kept = 0;
        zt__lock(&profiler->mutex);
        for (path = NULL; zt__is_kept(layout, column) && (path = zt__next_of(subject, path)) != NULL;) {
            kept += zt__statistics_with(subject, column, path)->kept;
        }
        if (kept <= room) {
            break;
        }
        room = kept + kept / 8; /* more may be collected meanwhile */
        zt__unlock(&profiler->mutex);
        zt__free(allocator, values);
        values = (zt__kept_value *)zt__allocate(allocator, (size_t)room, sizeof *values);
        if (!values) {
            *has_memory = 0;
            zt__lock(&profiler->mutex);
            return NULL;
        }
    }
    for (path = NULL; values && (path = zt__next_of(subject, path)) != NULL;) {
        *count +=
            zt__copy_column(layout, zt__statistics_with(subject, column, path), column, values + *count);
    }
    return values;
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

ZT__PRIVATE int zt__get_column(zt_profiler *profiler, zt__subject subject, uint32_t column, zt_stats *stats,
                               zt__kept_value **values, uint32_t *count) {
    zt_aggregation aggregation = profiler->layout.aggregations[column];
    uint32_t kept_count = 0, time_column = zt__time_column(profiler, column);
    int has_memory = 1, is_combined = aggregation == ZT_AGGREGATE_SUM || aggregation == ZT_AGGREGATE_MEAN;
    int is_sorted = 0, is_launch_latency = column == zt__latency_column(profiler, ZT__LAUNCH_LATENCY);
    double median = zt__nan(), p95 = zt__nan(), time_ns;
    zt__kept_value *kept = NULL;
    zt__moments moments;
    zt__totals totals;
    zt__lock(&profiler->mutex);
    if (subject.path && is_combined && !values) {
        is_sorted = zt__get_sorted_quantiles(zt__layout_with(profiler, subject, column),
                                             zt__statistics_with(subject, column, subject.path), column,
                                             &median, &p95);
    }
    if (!is_sorted) {
        zt__unlock(&profiler->mutex);
        kept = zt__lock_with_values(profiler, subject, column, &kept_count, &has_memory);
    }
    moments = zt__sum_moments(subject, column);
    time_ns = time_column == UINT32_MAX ? zt__nan() : zt__sum_moments(subject, time_column).sum;
    totals.launch_error_ns = 0;
    if (is_launch_latency) {
        totals = zt__add_up(subject);
    }
    zt__unlock(&profiler->mutex);
    zt__get_moments(aggregation, &moments, stats);
    if (is_sorted) {
        stats->median = median;
        stats->p95 = p95;
    } else {
        zt__add_quantiles(aggregation, kept, kept_count, stats);
    }
    if (aggregation != ZT_AGGREGATE_SUM) {
        stats->rate = stats->mean;
    } else if (zt__is_positive(time_ns)) {
        stats->rate = stats->sum / time_ns * 1e9;
    }
    if (is_launch_latency) {
        zt__hide_uncertain(stats, totals.launch_error_ns);
    }
    if (values) {
        *values = kept;
        *count = kept_count;
    } else {
        zt__free(&profiler->config.allocator, kept);
    }
    return has_memory;
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
    double own_ns = zt__time_of(path);
    uint64_t missing = path->inner ? path->missing : 0;
    const zt__path *inner;
    if (path->key.region->is_phase) {
        if (estimate) {
            *estimate = 0;
        }
        return zt__nan();
    }
    for (inner = path->inner; inner; inner = inner->next_inner) {
        own_ns -= zt__time_of(inner);
        missing += inner->missing;
    }
    if (estimate) {
        *estimate = zt__is_positive(own_ns) ? own_ns : 0;
    }
    /* Below 0, the device has measured the region or those inside it wrongly. */
    return path->is_own_unknown || missing || own_ns < 0 ? zt__nan() : own_ns;
}

ZT__PRIVATE void zt__get_times(const zt_profiler *profiler, zt__subject subject, zt_region_info *info) {
    const zt__path *path = zt__next_of(subject, NULL), *outer = path ? path->key.outer : &profiler->root;
    int is_same = 1;
    info->own_ns = info->total_ns = 0;
    for (; path; path = zt__next_of(subject, path)) {
        info->own_ns += zt__get_own_time(path, NULL);
        if (subject.path || !path->is_repeated) {
            info->total_ns += zt__time_of(path);
        } else if (path->outlives_outer) {
            info->total_ns = zt__nan();
        }
        is_same &= path->key.outer->key.region == outer->key.region;
    }
    info->parent = UINT32_MAX;
    if (is_same && outer->depth > 0) {
        info->parent = subject.path ? ZT_PATH(outer->index) : outer->key.region->index;
    }
}

ZT__PRIVATE uint32_t zt__get_path_count(const zt_profiler *profiler) {
    return profiler ? zt__read_locked(profiler, &profiler->path_count) : 0;
}

ZT__PRIVATE zt_memory_info zt__get_memory_info(const zt_profiler *profiler) {
    zt_profiler *locked = zt__mutable(profiler);
    zt_memory_info info;
    zt__lock(&locked->mutex);
    info = profiler->memory_info;
    zt__unlock(&locked->mutex);
    return info;
}

ZT__PRIVATE void zt__fill_totals(const zt__totals *totals, zt_region_info *info) {
    info->count = totals->count;
    info->lost = totals->lost;
    info->dropped = totals->dropped;
    info->is_phase = totals->is_phase;
    info->entered = totals->entered;
    info->incomplete = totals->incomplete;
    info->host_ns = totals->entered > 0 ? totals->host_ns : zt__nan();
    info->host_own_ns = totals->entered > 0 ? totals->host_own_ns : zt__nan();
    info->host_wait_ns = totals->host_wait_ns;
    info->busy_ns = zt__nan();
    zt__divide_power(&totals->power, totals->power_s, &info->joules, &info->watts, &info->throttled,
                     info->throttled_by, &info->mhz);
    info->allocations = totals->memory.allocations;
    info->unfreed = totals->memory.unfreed;
    info->unfreed_bytes = totals->memory.is_watched ? (double)totals->memory.unfreed_bytes : zt__nan();
    info->peak_bytes = totals->memory.has_ended ? (double)totals->memory.peak_bytes : zt__nan();
    info->end_bytes = totals->memory.has_ended ? (double)totals->memory.end_bytes : zt__nan();
    info->with_metrics = totals->with_metrics;
    info->bytes = totals->bytes;
    info->bytes_per_second =
        zt__is_positive(totals->bytes_ns) ? (double)totals->bytes / totals->bytes_ns * 1e9 : zt__nan();
}

/* Returns the path of a name, such as "step;solve", whose end is `end`: a phase rather than a region. NULL if there is
   none. The mutex is held. */
static const zt__path *zt__find_path_by_name(const zt_profiler *profiler, const char *name, const char *end) {
    const zt__path *path, *found = NULL;
    uint32_t i;
    for (i = 0; i < profiler->path_count && !(found && found->key.region->is_phase); i++) {
        const char *rest = end;
        path = zt__path_at(profiler, i);
        while (path->depth > 0) {
            size_t length = strlen(path->key.region->name), left = (size_t)(rest - name);
            if (length > left || memcmp(rest - length, path->key.region->name, length) != 0 ||
                (path->depth > 1 && (length == left || rest[-(ptrdiff_t)length - 1] != ';'))) {
                break;
            }
            rest -= length + (path->depth > 1);
            path = path->key.outer;
        }
        if (path->depth == 0 && rest == name && (!found || zt__path_at(profiler, i)->key.region->is_phase)) {
            found = zt__path_at(profiler, i);
        }
    }
    return found;
}

ZT_API uint32_t zt_find_path(const zt_profiler *profiler, const char *name) {
    zt_profiler *locked = zt__mutable(profiler);
    const zt__region_record *region;
    const zt__path *path = NULL;
    uint32_t index = UINT32_MAX;
    if (!profiler || !name) {
        return index;
    }
    zt__lock(&locked->mutex);
    region = (const zt__region_record *)zt__map_find(&profiler->names, name, strlen(name));
    if (!region) {
        region = (const zt__region_record *)zt__map_find(&profiler->phase_names, name, strlen(name));
    }
    if (region) {
        index = region->index;
    } else {
        path = zt__find_path_by_name(profiler, name + (*name == ';'), name + strlen(name));
    }
    zt__unlock(&locked->mutex);
    return path ? ZT_PATH(path->index) : index;
}

ZT_API ze_result_t zt_get_region(const zt_profiler *profiler, uint32_t region, zt_region_info *info) {
    zt_profiler *locked = zt__mutable(profiler);
    zt__subject subject;
    zt__totals totals;
    zt__busy_phases busy;
    ze_result_t result;
    zt_stats pass_times[ZT__MAX_PASSES];
    uint32_t pass, i;
    if (info) {
        memset(info, 0, sizeof *info);
        info->name = "";
        info->region = info->parent = UINT32_MAX;
        info->own_ns = info->total_ns = info->bytes_per_second = zt__nan();
        info->host_ns = info->host_own_ns = info->host_wait_ns = zt__nan();
        info->busy_ns = info->joules = info->watts = info->throttled = info->mhz = zt__nan();
        info->unfreed_bytes = info->peak_bytes = info->end_bytes = zt__nan();
        info->change = info->change_low = info->change_high = zt__nan();
        for (i = 0; i < ZT_THROTTLE_REASONS; i++) {
            info->throttled_by[i] = zt__nan();
        }
        zt__clear_stats(&info->time_ns);
    }
    subject = zt__get_subject(profiler, "zt_get_region", region, "info", info, &result);
    if (!subject.region) {
        return result;
    }
    info->name = subject.region->name;
    info->region = subject.region->index;
    info->device = subject.path ? subject.path->device : 0;
    zt__lock(&locked->mutex);
    totals = zt__add_up(subject);
    zt__get_times(profiler, subject, info);
    zt__unlock(&locked->mutex);
    zt__fill_totals(&totals, info);
    zt__get_column(locked, subject, 0, &info->time_ns, NULL, NULL);
    zt__compare_with_baseline(profiler, subject.region, subject.path, info);
    for (pass = 0; pass < profiler->pass_count && profiler->pass_count > 1; pass++) {
        zt__get_column(locked, subject, zt__pass_time_column(profiler, pass), &pass_times[pass], NULL, NULL);
    }
    info->differs = profiler->pass_count > 1 ? zt__find_differences(profiler, pass_times) : 0;
    if (info->is_phase) {
        zt__measure_busy_phases(locked, &busy); /* without memory nothing is known */
        info->busy_ns = zt__get_busy_time(&busy, subject.region, subject.path);
        zt__free(&locked->config.allocator, busy.paths);
    }
    return result;
}

/* ---- regions, for reports and merging -------------------------------------------------------------------- */

ZT__PRIVATE const zt__region_record *zt__record_at(zt_profiler *profiler, uint32_t region) {
    const zt__region_record *record;
    zt__lock(&profiler->mutex);
    record = profiler->regions[region];
    zt__unlock(&profiler->mutex);
    return record;
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
        return "[NO_PROFILER] there is no profiler: zt_last_error has the reason.";
    case ZT_DEVICE_LOST:
        return "[DEVICE_LOST] the device is lost. Open a new profiler when it is back.";
    default:
        return profiler->availability_text.text;
    }
}
