/* What a timeline holds: when its samples cover the device, and which ran at once. */

#include "results/overlap.h"

#include "base/compiler.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/platform.h"
#include "regions/names.h"
#include "regions/profiler.h"
#include "regions/reporting.h"
#include "results/timeline.h"

/* ---- the time of the device that samples cover ----------------------------------------------------------- */

static int zt__compare_intervals(const void *a, const void *b) {
    const zt__interval *one = (const zt__interval *)a, *other = (const zt__interval *)b;
    return one->begin_ns < other->begin_ns ? -1 : one->begin_ns > other->begin_ns;
}

ZT__PRIVATE void zt__extend_cover(zt__cover *cover, const zt__interval *interval) {
    uint64_t begin_ns = interval->begin_ns > cover->until_ns ? interval->begin_ns : cover->until_ns;
    cover->count++;
    if (interval->end_ns > begin_ns) {
        cover->covered_ns += interval->end_ns - begin_ns;
        cover->until_ns = interval->end_ns;
    }
}

ZT__PRIVATE int zt__copy_intervals(zt_profiler *profiler, zt__intervals *intervals) {
    enum { AT_ONCE = 1024 };
    const zt__timeline *timeline = profiler->timeline;
    uint64_t i, end, first, gap;
    memset(intervals, 0, sizeof *intervals);
    zt__lock(&profiler->mutex); /* samples on their way now may be kept too late to be copied below */
    intervals->missing = profiler->awaited;
    zt__unlock(&profiler->mutex);
    zt__get_kept_samples(profiler, &i, &end);
    if (i < end) {
        intervals->of_samples = (zt__interval *)zt__allocate(&profiler->config.allocator, (size_t)(end - i),
                                                             sizeof *intervals->of_samples);
    }
    if (i < end && !intervals->of_samples) {
        return 0;
    }
    while (i < end) {
        uint32_t locked;
        zt__lock(&profiler->mutex);
        if (i < zt__oldest_sample(timeline)) {
            i = zt__oldest_sample(timeline);
        }
        for (locked = 0; locked < AT_ONCE && i < end; locked++, i++) {
            const zt__timeline_sample *sample = &timeline->samples[i % timeline->capacity];
            zt__interval *interval = &intervals->of_samples[intervals->count];
            interval->begin_ns = interval->beside_ns = sample->begin_ns;
            interval->end_ns = sample->end_ns;
            interval->path = zt__path_at(profiler, sample->path);
            interval->kind = sample->origin.kind;
            interval->is_outermost = zt__is_phase_or_root(interval->path->key.outer);
            intervals->count += sample->origin.kind != ZT__REGION_OF_SYNC;
        }
        if (i >= end) {
            intervals->since_ns = timeline->replaced_until_ns;
            first = zt__oldest_sample(timeline);
            gap = zt__oldest_kept(timeline->missing_written, ZT__MISSING_KEPT);
            for (; gap < timeline->missing_written; gap++) {
                const zt__missing *missing = &timeline->missing[gap % ZT__MISSING_KEPT];
                intervals->missing += first == 0 || missing->kept_before > first ? missing->count : 0;
            }
        }
        zt__unlock(&profiler->mutex);
    }
    if (intervals->count > 0) {
        qsort(intervals->of_samples, intervals->count, sizeof *intervals->of_samples, zt__compare_intervals);
    }
    return 1;
}

/* ---- samples that ran at once ---------------------------------------------------------------------------- */

/* Outermost samples that are added in the order of their begins. */
typedef struct zt__sweep {
    zt__interval *running[64]; /* those that end last, if there are more */
    uint32_t count;
    uint64_t last_end_ns;   /* of all so far */
    uint64_t at_once_until; /* up to here, it is counted when several ran */
    double sum_ns, at_once_ns;
} zt__sweep;

/* Counts that a sample has run beside others up to this time. */
static void zt__extend_beside(zt__interval *interval, uint64_t until_ns, zt__at_once *paths,
                              uint32_t path_count) {
    if (until_ns > interval->beside_ns) {
        if (interval->path->index < path_count && paths) {
            paths[interval->path->index].ns += (double)(until_ns - interval->beside_ns);
        }
        interval->beside_ns = until_ns;
    }
}

static void zt__add_to_sweep(zt__sweep *sweep, zt__interval *added, zt__at_once *paths, uint32_t path_count) {
    uint64_t until_ns = added->end_ns < sweep->last_end_ns ? added->end_ns : sweep->last_end_ns;
    uint64_t from_ns = added->begin_ns > sweep->at_once_until ? added->begin_ns : sweep->at_once_until;
    uint32_t i, kept = 0, first = 0;
    if (until_ns > from_ns) {
        sweep->at_once_ns += (double)(until_ns - from_ns);
        sweep->at_once_until = until_ns;
    }
    for (i = 0; i < sweep->count; i++) {
        zt__interval *running = sweep->running[i];
        if (running->end_ns > added->begin_ns) {
            uint64_t both_ns = running->end_ns < added->end_ns ? running->end_ns : added->end_ns;
            if (running->beside_ns < added->begin_ns) {
                running->beside_ns = added->begin_ns;
            }
            zt__extend_beside(running, both_ns, paths, path_count);
            zt__extend_beside(added, both_ns, paths, path_count);
            sweep->running[kept] = running;
            first = running->end_ns < sweep->running[first]->end_ns ? kept : first;
            kept++;
        }
    }
    if (kept == ZT__COUNT_OF(sweep->running)) {
        sweep->running[first] = sweep->running[--kept];
    }
    sweep->running[kept++] = added;
    sweep->count = kept;
    sweep->last_end_ns = added->end_ns > sweep->last_end_ns ? added->end_ns : sweep->last_end_ns;
    sweep->sum_ns += (double)(added->end_ns - added->begin_ns);
    if (added->path->index < path_count && paths) {
        paths[added->path->index].of_ns += (double)(added->end_ns - added->begin_ns);
    }
}

/* ---- all of it ------------------------------------------------------------------------------------------- */

/* What ran on a device in a part of the time of all. */
typedef struct zt__device_cover {
    double both_ns; /* kernels and copies at once */
    double outermost_ns, covered_ns, at_once_ns;
} zt__device_cover;

/* Measures what ran on a device, by the number that its paths have; 0: there is one. */
static zt__device_cover zt__cover_device(zt__intervals *intervals, uint32_t device, uint64_t begin_ns,
                                         zt__at_once *paths, uint32_t path_count) {
    zt__cover kernels, copies, either, outermost; /* the third is of kernels and copies */
    zt__device_cover cover;
    zt__sweep sweep;
    size_t i;
    memset(&sweep, 0, sizeof sweep);
    memset(&outermost, 0, sizeof outermost);
    outermost.until_ns = begin_ns;
    kernels = copies = either = outermost;
    for (i = 0; i < intervals->count; i++) {
        zt__interval *interval = &intervals->of_samples[i];
        if (interval->end_ns < begin_ns || interval->path->device != device) {
            continue;
        }
        if (interval->kind == ZT__REGION_OF_KERNEL || interval->kind == ZT__REGION_OF_COPY) {
            zt__extend_cover(interval->kind == ZT__REGION_OF_KERNEL ? &kernels : &copies, interval);
            zt__extend_cover(&either, interval);
        }
        if (interval->is_outermost) {
            if (interval->begin_ns < begin_ns) { /* as the time begins then */
                interval->begin_ns = interval->beside_ns = begin_ns;
            }
            zt__extend_cover(&outermost, interval);
            zt__add_to_sweep(&sweep, interval, paths, path_count);
        }
    }
    cover.both_ns = (double)(kernels.covered_ns + copies.covered_ns - either.covered_ns);
    cover.outermost_ns = sweep.sum_ns;
    cover.covered_ns = (double)outermost.covered_ns;
    cover.at_once_ns = sweep.at_once_ns;
    return cover;
}

/* Of several devices, span, busy and idle times are of all together: one of them is busy. What runs at once does so on one
   device, and these times are added up. */
ZT__PRIVATE int zt__measure_coverage(zt_profiler *profiler, zt__coverage *coverage, zt__at_once *paths,
                                     uint32_t path_count) {
    zt_overlap *overlap = &coverage->overlap;
    zt__cover all, innermost, kernels, copies;
    zt__intervals intervals;
    zt__device_cover sum;
    uint64_t begin_ns = 0, end_ns = 0;
    uint32_t device, last_device;
    size_t i;
    int has_memory;
    memset(coverage, 0, sizeof *coverage);
    overlap->span_ns = overlap->busy_ns = overlap->kernel_ns = zt__nan();
    overlap->copy_ns = overlap->both_ns = overlap->idle_ns = overlap->at_once_ns = zt__nan();
    coverage->outermost_ns = coverage->covered_ns = coverage->wall_share = zt__nan();
    if (!profiler || !profiler->timeline) {
        return 1;
    }
    has_memory = zt__copy_intervals(profiler, &intervals);
    if (intervals.count > 0) {
        begin_ns = intervals.of_samples[0].begin_ns;
    }
    if (begin_ns < intervals.since_ns) {
        begin_ns = intervals.since_ns;
    }
    memset(&all, 0, sizeof all);
    all.until_ns = begin_ns;
    innermost = kernels = copies = all;
    for (i = 0; i < intervals.count; i++) {
        const zt__interval *interval = &intervals.of_samples[i];
        if (interval->end_ns < begin_ns) {
            continue;
        }
        overlap->samples++;
        end_ns = interval->end_ns > end_ns ? interval->end_ns : end_ns;
        zt__extend_cover(&all, interval);
        if (interval->kind != ZT__REGION_AROUND_OTHERS) {
            zt__extend_cover(&innermost, interval);
        }
        if (interval->kind == ZT__REGION_OF_KERNEL || interval->kind == ZT__REGION_OF_COPY) {
            zt__extend_cover(interval->kind == ZT__REGION_OF_KERNEL ? &kernels : &copies, interval);
        }
    }
    memset(&sum, 0, sizeof sum);
    last_device = zt__count_devices(profiler);
    for (device = last_device > 1 ? 1 : 0; device <= (last_device > 1 ? last_device : 0); device++) {
        zt__device_cover cover = zt__cover_device(&intervals, device, begin_ns, paths, path_count);
        sum.both_ns += cover.both_ns;
        sum.outermost_ns += cover.outermost_ns;
        sum.covered_ns += cover.covered_ns;
        sum.at_once_ns += cover.at_once_ns;
    }
    zt__free(&profiler->config.allocator, intervals.of_samples);
    overlap->missing = intervals.missing;
    if (overlap->samples > 0) {
        overlap->span_ns = (double)(end_ns - begin_ns);
    }
    if (overlap->samples > 0 && !overlap->missing) {
        overlap->busy_ns = (double)(kernels.count + copies.count > 0 ? innermost : all).covered_ns;
        overlap->kernel_ns = (double)kernels.covered_ns;
        overlap->copy_ns = (double)copies.covered_ns;
        overlap->both_ns = sum.both_ns;
        overlap->idle_ns = overlap->span_ns - overlap->busy_ns;
        overlap->at_once_ns = sum.at_once_ns;
        coverage->outermost_ns = sum.outermost_ns;
        coverage->covered_ns = sum.covered_ns;
        if (overlap->samples > 1 && end_ns > begin_ns && last_device == 1) {
            coverage->wall_share = 100 * (double)all.covered_ns / overlap->span_ns;
        }
    }
    return has_memory;
}

ZT__PRIVATE zt__coverage zt__get_coverage(zt_profiler *profiler) {
    zt__timeline *timeline = profiler ? profiler->timeline : NULL;
    zt__coverage coverage;
    uint64_t changes, in_flight;
    int is_current, has_memory;
    if (!timeline) {
        zt__measure_coverage(profiler, &coverage, NULL, 0);
        return coverage;
    }
    zt__lock(&profiler->mutex);
    changes = timeline->changes;
    in_flight = profiler->awaited;
    coverage = timeline->coverage;
    is_current =
        changes > 0 && timeline->coverage_changes == changes && timeline->coverage_in_flight == in_flight;
    zt__unlock(&profiler->mutex);
    if (!is_current) {
        has_memory = zt__measure_coverage(profiler, &coverage, NULL, 0);
        zt__lock(&profiler->mutex);
        if (has_memory && changes > 0) {
            timeline->coverage = coverage;
            timeline->coverage_changes = changes;
            timeline->coverage_in_flight = in_flight;
        }
        zt__unlock(&profiler->mutex);
    }
    return coverage;
}

/* ---- public ---------------------------------------------------------------------------------------------- */

ZT_API zt_timeline_info zt_get_timeline(const zt_profiler *profiler) {
    zt_timeline_info info;
    zt_profiler *locked = zt__mutable(profiler);
    zt__stream_data *data = NULL;
    uint64_t first, end;
    memset(&info, 0, sizeof info);
    info.overlap = zt__get_coverage(locked).overlap;
    if (!profiler || !profiler->timeline) {
        return info;
    }
    info.lost_samples = zt__get_kept_samples(locked, &first, &end);
    info.samples = end - first;
    zt__lock(&locked->mutex);
    info.lost_samples += locked->timeline->ambiguous;
    info.pairs = locked->timeline->clock.pair_count;
    zt__unlock(&locked->mutex);
    while ((data = zt__next_attached_stream(locked, data)) != NULL) {
        zt__get_kept_rows(data, &first, &end);
        info.rows += end - first;
        info.lost_rows += first;
    }
    return info;
}
