/* How much memory the application uses, in all and by phase. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"

#ifdef ZETOOLS_TRACER

enum { ZT__MEMORY_STEPS = 1024 };

/* `until_ns` is the last time at which `bytes` were in use: later, fewer were. */
typedef struct zt__memory_step {
    uint64_t bytes;
    uint64_t least; /* steps that differed little were merged into this one: the lowest of them */
    uint64_t until_ns;
} zt__memory_step;

/* What was in use after a change. */
typedef struct zt__memory_change {
    uint64_t ns; /* host time */
    uint64_t bytes, host_bytes;
} zt__memory_change;

/* The memory of a profiler's device, as far as the tracer has seen it allocated. Guarded by the profiler's mutex. */
typedef struct zt__memory_use {
    int is_watched;      /* now */
    uint32_t step_count; /* at least 1: the last step is what is in use now */
    zt__memory_step
        steps[ZT__MEMORY_STEPS]; /* from the highest to the lowest, the highest being the oldest */
    zt__memory_change *changes;  /* with a timeline: a ring of the newest. Or NULL */
    uint32_t change_capacity;
    uint64_t change_count; /* written so far */
} zt__memory_use;

/* No mutex is held in any of these functions. */

/* Called first. Returns 0 without memory. */
ZT__PRIVATE int zt__prepare_memory_use(zt_profiler *profiler);

/* From now on memory is watched. What was seen before is forgotten, because it may have been freed unseen. */
ZT__PRIVATE void zt__watch_memory(zt_profiler *profiler);

/* Memory is not watched any more: figures stay as they are. */
ZT__PRIVATE void zt__stop_watching_memory(zt_profiler *profiler);

ZT__PRIVATE int zt__is_memory_watched(zt_profiler *profiler);

/* Count an allocation, which was made in a phase (or none: the root), and that it was freed. */
ZT__PRIVATE void zt__count_allocation(zt_profiler *profiler, zt__path *phase, uint64_t bytes, int is_host);

ZT__PRIVATE void zt__count_free(zt_profiler *profiler, zt__path *phase, uint64_t bytes, int is_host);

/* Counts an allocation for which there was no room. */
ZT__PRIVATE void zt__count_unseen_allocation(zt_profiler *profiler);

/* Get the changes that are kept for the timeline, as zt__get_kept_calls and zt__copy_kept_call do with calls. */
ZT__PRIVATE void zt__get_kept_changes(zt_profiler *profiler, uint64_t *first, uint64_t *end);

ZT__PRIVATE int zt__copy_kept_change(zt_profiler *profiler, uint64_t index, zt__memory_change *change);

#endif
