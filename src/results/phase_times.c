/* Times in phases: when what was submitted in each ran, when nothing did, and when the host waited. */

#include "results/phase_times.h"

#include "base/compiler.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/platform.h"
#include "regions/names.h"
#include "regions/profiler.h"
#include "results/clocks.h"
#include "results/overlap.h"
#include "results/timeline.h"

/* ---- the time in which samples of a phase ran ------------------------------------------------------------ */

/* Marks the phases around samples that are missing on the timeline. With the mutex held. */
static void zt__mark_unknown_phases(const zt_profiler *profiler, zt__busy_phases *busy) {
    uint32_t i;
    for (i = 0; i < busy->path_count; i++) {
        const zt__path *path = zt__path_at(profiler, i), *outer = path;
        int is_missing = path->missing > 0 || path->lost > 0 || path->dropped > 0 ||
                         (!path->key.region->is_phase && path->kept != path->statistics.count);
        for (; is_missing && outer->depth > 0; outer = outer->key.outer) {
            busy->paths[outer->index].is_unknown = 1;
            busy->regions[outer->key.region->index].is_unknown = 1;
        }
    }
}

ZT__PRIVATE int zt__measure_busy_phases(zt_profiler *profiler, zt__busy_phases *busy) {
    const zt_allocator *allocator = &profiler->config.allocator;
    zt__intervals intervals;
    size_t i;
    memset(busy, 0, sizeof *busy);
    if (!profiler->timeline) {
        return 1;
    }
    if (!zt__copy_intervals(profiler, &intervals)) {
        return 0;
    }
    zt__lock(&profiler->mutex);
    busy->path_count = profiler->path_count; /* also those of the samples above */
    busy->region_count = profiler->region_count;
    zt__unlock(&profiler->mutex);
    busy->paths = (zt__busy_phase *)zt__allocate(allocator, (size_t)busy->path_count + busy->region_count + 1,
                                                 sizeof *busy->paths);
    busy->regions = busy->paths ? busy->paths + busy->path_count : NULL;
    for (i = 0; i < intervals.count && busy->paths; i++) {
        const zt__interval *interval = &intervals.of_samples[i];
        const zt__path *path = interval->path;
        for (; path->depth > 0; path = path->key.outer) {
            if (path->key.region->is_phase) {
                zt__extend_cover(&busy->paths[path->index].cover, interval);
                zt__extend_cover(&busy->regions[path->key.region->index].cover, interval);
            }
        }
    }
    if (busy->paths) {
        zt__lock(&profiler->mutex);
        zt__mark_unknown_phases(profiler, busy);
        zt__unlock(&profiler->mutex);
    }
    zt__free(allocator, intervals.of_samples);
    return busy->paths != NULL;
}

ZT__PRIVATE double zt__get_busy_time(const zt__busy_phases *busy, const zt__region_record *region,
                                     const zt__path *path) {
    const zt__busy_phase *phase = NULL;
    if (path && path->index < busy->path_count) {
        phase = &busy->paths[path->index];
    } else if (!path && region->index < busy->region_count) {
        phase = &busy->regions[region->index];
    }
    return region->is_phase && phase && !phase->is_unknown ? (double)phase->cover.covered_ns : zt__nan();
}

/* ---- the time in which nothing ran during a phase -------------------------------------------------------- */

/* A time in which the device was busy all along. */
typedef struct zt__busy_block {
    uint64_t begin_ns, end_ns;
    uint64_t before_ns; /* the lengths of all blocks before it */
} zt__busy_block;

/* An entry of a phase, in device time. */
typedef struct zt__phase_entry {
    uint64_t begin_ns, end_ns, idle_ns;
    uint64_t kept; /* its place among the phases that have ended, ever: inner ones end first */
    uint32_t path, thread;
    uint32_t outer; /* the entry around it on its thread, or UINT32_MAX */
} zt__phase_entry;

/* Merges intervals into blocks, of which there is room for as many. Where kernels or copies are known, what is around
   others does not count. Returns how many blocks there are. */
static size_t zt__merge_into_blocks(const zt__intervals *intervals, zt__busy_block *blocks) {
    size_t i, count = 0;
    int knows_commands = 0;
    for (i = 0; i < intervals->count; i++) {
        zt__region_kind kind = intervals->of_samples[i].kind;
        knows_commands |= kind == ZT__REGION_OF_KERNEL || kind == ZT__REGION_OF_COPY;
    }
    for (i = 0; i < intervals->count; i++) {
        const zt__interval *interval = &intervals->of_samples[i];
        zt__busy_block *last = count ? &blocks[count - 1] : NULL;
        if (knows_commands && interval->kind == ZT__REGION_AROUND_OTHERS) {
            continue;
        }
        if (last && interval->begin_ns <= last->end_ns) {
            last->end_ns = interval->end_ns > last->end_ns ? interval->end_ns : last->end_ns;
            continue;
        }
        blocks[count].begin_ns = interval->begin_ns;
        blocks[count].end_ns = interval->end_ns;
        blocks[count].before_ns = last ? last->before_ns + (last->end_ns - last->begin_ns) : 0;
        count++;
    }
    return count;
}

/* Returns how long the device was busy before a time. */
static uint64_t zt__busy_before(const zt__busy_block *blocks, size_t count, uint64_t time_ns) {
    size_t low = 0, high = count; /* the first block that begins at this time or later is in between */
    const zt__busy_block *last;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (blocks[middle].begin_ns < time_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == 0) {
        return 0;
    }
    last = &blocks[low - 1];
    return last->before_ns + (last->end_ns < time_ns ? last->end_ns : time_ns) - last->begin_ns;
}

/* For qsort: orders by thread and begin, with outer entries before inner ones. */
static int zt__compare_entries_of_phases(const void *a, const void *b) {
    const zt__phase_entry *one = (const zt__phase_entry *)a, *other = (const zt__phase_entry *)b;
    if (one->thread != other->thread) {
        return one->thread < other->thread ? -1 : 1;
    }
    if (one->begin_ns != other->begin_ns) {
        return one->begin_ns < other->begin_ns ? -1 : 1;
    }
    return one->kept > other->kept ? -1 : one->kept < other->kept;
}

/* Copies the entries of phases that have begun since the profiler was opened, and since `since_ns`. Returns how many
   there are. */
static size_t zt__copy_entries(zt_profiler *profiler, uint64_t since_ns, zt__phase_entry *entries,
                               size_t room) {
    const zt__timeline *timeline = profiler->timeline;
    uint64_t i, written;
    size_t count = 0;
    zt__lock(&profiler->mutex);
    written = timeline->phases_written;
    zt__unlock(&profiler->mutex);
    for (i = zt__oldest_kept(written, timeline->capacity); i < written && count < room; i++) {
        const zt__phase_span *span = &timeline->phases[i % timeline->capacity];
        zt__phase_entry *entry = &entries[count];
        zt__lock(&profiler->mutex);
        entry->begin_ns =
            zt__convert_time(&timeline->clock, span->begin_ns, ZT__HOST_CLOCK, ZT__DEVICE_CLOCK);
        entry->end_ns = zt__convert_time(&timeline->clock, span->end_ns, ZT__HOST_CLOCK, ZT__DEVICE_CLOCK);
        entry->kept = i;
        entry->path = span->path;
        entry->thread = span->thread;
        count += span->begin_ns >= timeline->opened_ns && entry->begin_ns >= since_ns &&
                 i >= zt__oldest_kept(timeline->phases_written, timeline->capacity);
        zt__unlock(&profiler->mutex);
    }
    if (count > 0) {
        qsort(entries, count, sizeof *entries, zt__compare_entries_of_phases);
    }
    return count;
}

/* Adds the idle time of each entry to that of its path. */
static void zt__add_idle_times(zt__phase_entry *entries, size_t count, const zt__busy_block *blocks,
                               size_t block_count, zt__phase_parts *idle) {
    uint32_t outer = UINT32_MAX;
    size_t i;
    for (i = 0; i < count; i++) {
        zt__phase_entry *entry = &entries[i];
        zt__phase_part *phase = &idle->paths[entry->path];
        uint64_t length_ns = entry->end_ns - entry->begin_ns;
        while (outer != UINT32_MAX &&
               (entries[outer].thread != entry->thread || entries[outer].end_ns <= entry->begin_ns)) {
            outer = entries[outer].outer;
        }
        entry->idle_ns = length_ns - (zt__busy_before(blocks, block_count, entry->end_ns) -
                                      zt__busy_before(blocks, block_count, entry->begin_ns));
        phase->host_ns += (double)length_ns;
        phase->part_ns += (double)entry->idle_ns;
        phase->own_part_ns += (double)entry->idle_ns;
        if (outer == UINT32_MAX) {
            idle->host_ns += (double)length_ns;
        } else {
            idle->paths[entries[outer].path].own_part_ns -= (double)entry->idle_ns;
        }
        entry->outer = outer;
        outer = (uint32_t)i;
    }
}

ZT__PRIVATE int zt__measure_idle_phases(zt_profiler *profiler, zt__phase_parts *idle) {
    const zt_allocator *allocator = &profiler->config.allocator;
    zt__intervals intervals;
    zt__busy_block *blocks;
    zt__phase_entry *entries;
    size_t room, count;
    int has_memory;
    memset(idle, 0, sizeof *idle);
    if (!profiler->timeline) {
        return 1;
    }
    if (!zt__copy_intervals(profiler, &intervals)) {
        return 0;
    }
    if (intervals.missing > 0 || intervals.count == 0) {
        zt__free(allocator, intervals.of_samples);
        return 1;
    }
    zt__lock(&profiler->mutex);
    room = (size_t)(profiler->timeline->phases_written < profiler->timeline->capacity
                        ? profiler->timeline->phases_written
                        : profiler->timeline->capacity);
    zt__unlock(&profiler->mutex);
    blocks = (zt__busy_block *)zt__allocate(allocator, intervals.count, sizeof *blocks);
    entries = (zt__phase_entry *)zt__allocate(allocator, room + 1, sizeof *entries);
    count = entries ? zt__copy_entries(profiler, intervals.since_ns, entries, room) : 0;
    zt__lock(&profiler->mutex);
    idle->path_count = profiler->path_count; /* also those of the entries above */
    zt__unlock(&profiler->mutex);
    idle->paths = (zt__phase_part *)zt__allocate(allocator, idle->path_count, sizeof *idle->paths);
    has_memory = blocks && entries && idle->paths;
    if (has_memory) {
        zt__add_idle_times(entries, count, blocks, zt__merge_into_blocks(&intervals, blocks), idle);
    }
    zt__free(allocator, intervals.of_samples);
    zt__free(allocator, blocks);
    zt__free(allocator, entries);
    return has_memory;
}

/* ---- the time in which the host waited for the device ----------------------------------------------------- */

ZT__PRIVATE int zt__measure_waits(zt_profiler *profiler, zt__phase_parts *waits) {
    uint32_t i;
    memset(waits, 0, sizeof *waits);
    zt__lock(&profiler->mutex);
    waits->path_count = profiler->path_count;
    zt__unlock(&profiler->mutex);
    waits->paths = (zt__phase_part *)zt__allocate(&profiler->config.allocator, (size_t)waits->path_count + 1,
                                                  sizeof *waits->paths);
    if (!waits->paths) {
        return 0;
    }
    zt__lock(&profiler->mutex);
    for (i = 0; i < waits->path_count; i++) {
        const zt__path *path = zt__path_at(profiler, i), *outer = path->key.outer;
        waits->host_ns += outer->depth == 0 ? (double)path->host_ns : 0;
        if (zt__is_nan(path->host_wait_ns)) {
            continue;
        }
        waits->paths[i].host_ns = (double)path->host_ns;
        waits->paths[i].part_ns = path->host_wait_ns;
        waits->paths[i].own_part_ns += path->host_wait_ns;
        if (outer->depth > 0) {
            waits->paths[outer->index].own_part_ns -= path->host_wait_ns;
        }
    }
    zt__unlock(&profiler->mutex);
    return 1;
}
