/* zt_get_overlap: when samples cover the device. */

#include "results/overlap.h"

#include "base/compiler.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/platform.h"
#include "regions/profiler.h"
#include "results/timeline.h"

/* ---- the time of the device that samples cover ----------------------------------------------------------- */

static int zt__compare_intervals(const void *a, const void *b) {
    const zt__interval *one = (const zt__interval *)a, *other = (const zt__interval *)b;
    return one->begin_ns < other->begin_ns ? -1 : one->begin_ns > other->begin_ns;
}

/* The union of intervals that are added in the order of their begins. */
typedef struct zt__cover {
    uint64_t until_ns; /* up to here, all is counted */
    uint64_t covered_ns;
    uint64_t count; /* of the intervals */
} zt__cover;

static void zt__extend_cover(zt__cover *cover, const zt__interval *interval) {
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
        if (i < zt__oldest_kept(timeline->written, timeline->capacity)) {
            i = zt__oldest_kept(timeline->written, timeline->capacity);
        }
        for (locked = 0; locked < AT_ONCE && i < end; locked++, i++) {
            const zt__timeline_sample *sample = &timeline->samples[i % timeline->capacity];
            zt__interval *interval = &intervals->of_samples[intervals->count];
            interval->begin_ns = sample->begin_ns;
            interval->end_ns = sample->end_ns;
            interval->kind = sample->origin.kind;
            intervals->count++;
        }
        if (i >= end) {
            intervals->since_ns = timeline->replaced_until_ns;
            first = zt__oldest_kept(timeline->written, timeline->capacity);
            gap = zt__oldest_kept(timeline->missing_written, ZT__MISSING_KEPT);
            for (; gap < timeline->missing_written; gap++) {
                const zt__missing *missing = &timeline->missing[gap % ZT__MISSING_KEPT];
                intervals->missing += first == 0 || missing->kept_before > first ? missing->count : 0;
            }
        }
        zt__unlock(&profiler->mutex);
    }
    return 1;
}

ZT__PRIVATE int zt__measure_overlap(zt_profiler *profiler, zt_overlap *overlap) {
    zt__cover all, innermost, kernels, copies, either; /* the last is of kernels and copies */
    zt__intervals intervals;
    uint64_t begin_ns = 0, end_ns = 0;
    size_t i, count = 0;
    int has_memory;
    memset(overlap, 0, sizeof *overlap);
    overlap->span_ns = overlap->busy_ns = overlap->kernel_ns = zt__nan();
    overlap->copy_ns = overlap->both_ns = overlap->idle_ns = zt__nan();
    if (!profiler || !profiler->timeline) {
        return 1;
    }
    has_memory = zt__copy_intervals(profiler, &intervals);
    for (i = 0; i < intervals.count; i++) {
        if (intervals.of_samples[i].kind != ZT__REGION_OF_SYNC) { /* there, the device only waits */
            intervals.of_samples[count++] = intervals.of_samples[i];
        }
    }
    if (count > 0) {
        qsort(intervals.of_samples, count, sizeof *intervals.of_samples, zt__compare_intervals);
        begin_ns = intervals.of_samples[0].begin_ns;
    }
    if (begin_ns < intervals.since_ns) {
        begin_ns = intervals.since_ns;
    }
    memset(&all, 0, sizeof all);
    all.until_ns = begin_ns;
    innermost = kernels = copies = either = all;
    for (i = 0; i < count; i++) {
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
            zt__extend_cover(&either, interval);
        }
    }
    zt__free(&profiler->config.allocator, intervals.of_samples);
    overlap->missing = intervals.missing;
    if (overlap->samples > 0) {
        overlap->span_ns = (double)(end_ns - begin_ns);
    }
    if (overlap->samples > 0 && !overlap->missing) {
        overlap->busy_ns = (double)(either.count > 0 ? innermost : all).covered_ns;
        overlap->kernel_ns = (double)kernels.covered_ns;
        overlap->copy_ns = (double)copies.covered_ns;
        overlap->both_ns = (double)(kernels.covered_ns + copies.covered_ns - either.covered_ns);
        overlap->idle_ns = overlap->span_ns - overlap->busy_ns;
    }
    return has_memory;
}

/* ---- public ---------------------------------------------------------------------------------------------- */

ZT_API zt_overlap zt_get_overlap(const zt_profiler *profiler) {
    zt_overlap overlap;
    zt__measure_overlap(zt__mutable(profiler), &overlap);
    return overlap;
}
