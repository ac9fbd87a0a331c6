/* How much memory the application uses, in all and by phase. */

#include "tracer/memory_use.h"

#include "base/compiler.h"
#include "base/memory.h"
#include "base/platform.h"
#include "regions/names.h"
#include "regions/profiler.h"
#include "regions/reporting.h"
#include "results/timeline.h"

#ifdef ZETOOLS_TRACER

/* ---- what was in use: with the mutex held ---------------------------------------------------------------- */

/* Merges the two steps that follow each other and differ least, of which the higher one counts. There are 1,024 at most,
   so a peak is too high by at most 0.2% of the highest. */
static void zt__merge_steps(zt__memory_use *use) {
    uint64_t least = UINT64_MAX;
    uint32_t i, merged = 0;
    for (i = 0; i + 1 < use->step_count; i++) {
        if (use->steps[i].bytes - use->steps[i + 1].least < least) {
            least = use->steps[i].bytes - use->steps[i + 1].least;
            merged = i;
        }
    }
    use->steps[merged].until_ns = use->steps[merged + 1].until_ns;
    use->steps[merged].least = use->steps[merged + 1].least;
    use->step_count--;
    memmove(&use->steps[merged + 1], &use->steps[merged + 2],
            (use->step_count - merged - 1) * sizeof *use->steps);
}

/* Notes that so many bytes are in use from now on. Steps that end now and are lower are removed: the peak since any time
   is one of the steps that are left. */
static void zt__add_step(zt__memory_use *use, uint64_t bytes, uint64_t now) {
    zt__memory_step step = {bytes, bytes, UINT64_MAX};
    use->steps[use->step_count - 1].until_ns = now;
    while (use->step_count > 0 && use->steps[use->step_count - 1].bytes <= step.bytes) {
        use->step_count--;
    }
    if (use->step_count == ZT__MEMORY_STEPS) {
        zt__merge_steps(use);
    }
    use->steps[use->step_count++] = step;
}

/* Returns the most bytes that were in use at once since a time. */
static uint64_t zt__peak_since(const zt__memory_use *use, uint64_t ns) {
    uint32_t i = use->step_count - 1; /* the last one has not ended */
    while (i > 0 && use->steps[i - 1].until_ns >= ns) {
        i--;
    }
    return use->steps[i].bytes;
}

static void zt__keep_change(zt_profiler *profiler, uint64_t now) {
    zt__memory_use *use = profiler->memory;
    if (use->changes) {
        zt__memory_change *change = &use->changes[use->change_count++ % use->change_capacity];
        change->ns = now;
        change->bytes = profiler->memory_info.bytes;
        change->host_bytes = profiler->memory_info.host_bytes;
    }
}

/* Notes that `bytes` more are in use, or with `is_freed` less. */
static void zt__change_use(zt_profiler *profiler, uint64_t bytes, int is_host, int is_freed) {
    zt_memory_info *info = &profiler->memory_info;
    uint64_t *now_in_use = is_host ? &info->host_bytes : &info->bytes;
    uint64_t *peak = is_host ? &info->host_peak_bytes : &info->peak_bytes;
    uint64_t now = zt__now_ns();
    *now_in_use += is_freed ? 0 - bytes : bytes;
    if (*now_in_use > *peak) {
        *peak = *now_in_use;
    }
    if (!is_host) {
        zt__add_step(profiler->memory, info->bytes, now);
    }
    zt__keep_change(profiler, now);
}

/* Called when a phase of this thread ends. */
static void zt__end_phase_memory(zt_profiler *profiler, zt__path *path, uint64_t begin_ns) {
    const zt__memory_use *use = profiler->memory;
    uint64_t peak;
    if (!use->is_watched) {
        return;
    }
    peak = zt__peak_since(use, begin_ns);
    if (peak > path->memory.peak_bytes) {
        path->memory.peak_bytes = peak;
    }
    path->memory.end_bytes = profiler->memory_info.bytes;
    path->memory.is_watched = path->memory.has_ended = 1;
}

/* ---- watching -------------------------------------------------------------------------------------------- */

/* What was allocated in a phase before counts as neither freed nor not freed. With the mutex held. */
static void zt__forget_unfreed(zt__path *path) {
    path->memory.allocations -= path->memory.unfreed;
    path->memory.unfreed = path->memory.unfreed_bytes = 0;
}

static void zt__free_memory_use(zt_profiler *profiler) {
    zt__memory_use *use = profiler->memory;
    profiler->memory = NULL;
    if (use) {
        zt__free(&profiler->config.allocator, use->changes);
        zt__free(&profiler->config.allocator, use);
    }
}

ZT__PRIVATE int zt__prepare_memory_use(zt_profiler *profiler) {
    const zt_allocator *allocator = &profiler->config.allocator;
    uint32_t capacity = profiler->timeline ? profiler->config.timeline : 0;
    zt__memory_use *use;
    if (profiler->memory) { /* changed only by those who start a tracer, one after the other */
        return 1;
    }
    use = (zt__memory_use *)zt__allocate(allocator, 1, sizeof *use);
    if (use && capacity) {
        use->changes = (zt__memory_change *)zt__allocate(allocator, capacity, sizeof *use->changes);
        use->change_capacity = capacity;
    }
    if (!use || (capacity && !use->changes)) {
        zt__free(allocator, use);
        return 0;
    }
    zt__lock(&profiler->mutex);
    profiler->memory = use;
    profiler->memory_phase_ended = zt__end_phase_memory;
    profiler->free_memory = zt__free_memory_use;
    zt__unlock(&profiler->mutex);
    return 1;
}

ZT__PRIVATE void zt__watch_memory(zt_profiler *profiler) {
    zt__memory_use *use = profiler->memory;
    zt_memory_info *info = &profiler->memory_info;
    uint32_t i;
    zt__lock(&profiler->mutex);
    for (i = 0; i < profiler->path_count; i++) {
        zt__forget_unfreed(zt__path_at(profiler, i));
    }
    zt__forget_unfreed(&profiler->root);
    info->allocations -= info->unfreed;
    info->unfreed = info->unfreed_bytes = info->bytes = info->host_bytes = 0;
    info->is_watched = use->is_watched = 1;
    memset(&use->steps[0], 0, sizeof use->steps[0]);
    use->steps[0].until_ns = UINT64_MAX;
    use->step_count = 1;
    zt__keep_change(profiler, zt__now_ns());
    zt__unlock(&profiler->mutex);
}

ZT__PRIVATE void zt__stop_watching_memory(zt_profiler *profiler) {
    zt__lock(&profiler->mutex);
    if (profiler->memory) {
        profiler->memory->is_watched = 0;
    }
    zt__unlock(&profiler->mutex);
}

ZT__PRIVATE int zt__is_memory_watched(zt_profiler *profiler) {
    int is_watched;
    if (profiler->joined) {
        return profiler->joined->watches_memory;
    }
    zt__lock(&profiler->mutex);
    is_watched = profiler->memory && profiler->memory->is_watched;
    zt__unlock(&profiler->mutex);
    return is_watched;
}

ZT__PRIVATE void zt__count_allocation(zt_profiler *profiler, zt__path *phase, uint64_t bytes, int is_host) {
    zt__lock(&profiler->mutex);
    phase->memory.is_watched = 1;
    phase->memory.allocations++;
    phase->memory.unfreed++;
    phase->memory.unfreed_bytes += bytes;
    profiler->memory_info.allocations++;
    profiler->memory_info.unfreed++;
    profiler->memory_info.unfreed_bytes += bytes;
    zt__change_use(profiler, bytes, is_host, 0);
    zt__unlock(&profiler->mutex);
}

ZT__PRIVATE void zt__count_free(zt_profiler *profiler, zt__path *phase, uint64_t bytes, int is_host) {
    zt__lock(&profiler->mutex);
    phase->memory.unfreed--;
    phase->memory.unfreed_bytes -= bytes;
    profiler->memory_info.unfreed--;
    profiler->memory_info.unfreed_bytes -= bytes;
    zt__change_use(profiler, bytes, is_host, 1);
    zt__unlock(&profiler->mutex);
}

ZT__PRIVATE void zt__count_unseen_allocation(zt_profiler *profiler) {
    zt__lock(&profiler->mutex);
    profiler->memory_info.unseen++;
    zt__unlock(&profiler->mutex);
}

/* ---- for reports ----------------------------------------------------------------------------------------- */

ZT__PRIVATE void zt__get_kept_changes(zt_profiler *profiler, uint64_t *first, uint64_t *end) {
    *first = *end = 0;
    zt__lock(&profiler->mutex);
    if (profiler->memory && profiler->memory->changes) {
        *end = profiler->memory->change_count;
        *first = zt__oldest_kept(*end, profiler->memory->change_capacity);
    }
    zt__unlock(&profiler->mutex);
}

ZT__PRIVATE int zt__copy_kept_change(zt_profiler *profiler, uint64_t index, zt__memory_change *change) {
    const zt__memory_use *use = profiler->memory;
    int is_kept;
    zt__lock(&profiler->mutex);
    is_kept = use->change_count - index <= use->change_capacity;
    if (is_kept) {
        *change = use->changes[index % use->change_capacity];
    }
    zt__unlock(&profiler->mutex);
    return is_kept;
}

#endif
