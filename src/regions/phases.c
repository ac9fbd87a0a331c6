/* Phases: their paths and entries in a profiler. */

#include "regions/phases.h"

#include "base/compiler.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/phase_stack.h"
#include "base/platform.h"
#include "base/shared.h"
#include "base/threads.h"
#include "regions/names.h"
#include "regions/profiler.h"

/* ---- paths ----------------------------------------------------------------------------------------------- */

ZT__PRIVATE zt__path *zt__known_path_of_phase(const zt_profiler *profiler, const zt__phase *phase) {
    return phase && phase->index < profiler->phase_path_count ? profiler->phase_paths[phase->index] : NULL;
}

/* Makes room for the path of a phase in profiler->phase_paths. Returns 0 without memory. */
static int zt__make_phase_room(zt_profiler *profiler, const zt__phase *phase) {
    const zt_allocator *allocator = &profiler->config.allocator;
    while (phase->index >= profiler->phase_path_count) {
        uint32_t before = profiler->phase_path_count, count = before ? before * 2 : 64;
        zt__path **unused;
        zt__unlock(&profiler->mutex);
        unused = (zt__path **)zt__allocate(allocator, count, sizeof *unused);
        zt__lock(&profiler->mutex);
        if (!unused) {
            return phase->index < profiler->phase_path_count;
        }
        if (profiler->phase_path_count == before) { /* else another thread was faster */
            zt__path **paths = unused;
            unused = profiler->phase_paths;
            if (before) {
                memcpy(paths, unused, before * sizeof *paths);
            }
            profiler->phase_paths = paths;
            profiler->phase_path_count = count;
        }
        zt__unlock(&profiler->mutex);
        zt__free(allocator, unused);
        zt__lock(&profiler->mutex);
    }
    return 1;
}

ZT__PRIVATE zt__path *zt__find_or_add_path_of_phase(zt_profiler *profiler, const zt__phase *phase) {
    zt__path *path = zt__known_path_of_phase(profiler, phase), *outer;
    zt__region_record *record;
    zt_cause cause;
    if (path || !phase) {
        return path ? path : &profiler->root;
    }
    outer = zt__find_or_add_path_of_phase(profiler, phase->outer);
    if (phase->outer && outer != zt__known_path_of_phase(profiler, phase->outer)) {
        return outer;
    }
    record = zt__find_or_add_phase_record(profiler, phase->name, &cause);
    path = record ? zt__find_or_add_path(profiler, outer, record) : NULL;
    if (!path || path->key.region != record || path->key.outer != outer ||
        !zt__make_phase_room(profiler, phase)) {
        return outer; /* without memory, or there are too many paths */
    }
    profiler->phase_paths[phase->index] = path;
    return path;
}

ZT__PRIVATE zt__path *zt__place_path(zt_profiler *profiler, zt__path *phase, zt__path *path) {
    zt__path *outer, *placed;
    if (zt__is_phase_or_root(path)) {
        return phase;
    }
    outer = zt__place_path(profiler, phase, path->key.outer);
    placed = outer ? zt__find_or_add_path(profiler, outer, path->key.region) : NULL;
    if (placed) {
        placed->outlives_outer |= path->outlives_outer;
        placed->is_own_unknown |= path->is_own_unknown;
    }
    return placed;
}

/* Returns whether a phase is around a region in `outer_phase`, which may be NULL: then its figures include those of the
   region, and of what ran inside. */
static int zt__counts_region(const zt__path *phase, const zt__path *outer_phase) {
    while (outer_phase && outer_phase != phase) {
        outer_phase = outer_phase->key.outer;
    }
    return outer_phase != NULL;
}

ZT__PRIVATE zt__path *zt__next_counting(const zt__path *path, const zt__path *outer_phase) {
    zt__path *phase = zt__phase_of(path->key.outer);
    return phase->depth > 0 && !zt__counts_region(phase, outer_phase) ? phase : NULL;
}

/* ---- entries --------------------------------------------------------------------------------------------- */

/* Makes room for the entries of a stack. Without memory there may be none, and then entries around are incomplete. */
static void zt__make_entry_room(zt_profiler *profiler) {
    const zt_allocator *allocator = &profiler->config.allocator;
    int has_memory = 1;
    while (profiler->free_entry_count < ZT__MAX_PHASE_DEPTH && has_memory) {
        zt__entry_block *block;
        uint32_t i;
        zt__unlock(&profiler->mutex);
        block = (zt__entry_block *)zt__allocate(allocator, 1, sizeof *block);
        zt__lock(&profiler->mutex);
        has_memory = block != NULL;
        for (i = 0; i < ZT__ENTRIES_PER_BLOCK && block; i++) {
            zt__free_entry(profiler, &block->entries[i]);
        }
        if (block) {
            block->next = profiler->entry_blocks;
            profiler->entry_blocks = block;
        }
    }
    zt__map_make_room_for(&profiler->entries, ZT__MAX_PHASE_DEPTH, allocator, &profiler->mutex);
}

ZT__PRIVATE zt__entry *zt__find_entry(const zt_profiler *profiler, const uint32_t *number) {
    return *number ? (zt__entry *)zt__map_find(&profiler->entries, number, sizeof *number) : NULL;
}

static void zt__mark_incomplete(zt__entry *entry) {
    for (; entry; entry = entry->outer) {
        entry->is_incomplete = 1;
    }
}

ZT__PRIVATE void zt__count_from(zt__phase_frame *frame, uint64_t since_ns) {
    if (frame->begun_ns < since_ns) {
        frame->begun_ns = since_ns;
        frame->inner_ns = 0;
    }
}

/* Returns the entry of a frame, added if it is new. Without memory, and for the same phase once more, returns the one
   around. Adopted entries are never added: not found means over. */
static zt__entry *zt__entry_of_frame(zt_profiler *profiler, zt__phase_frame *frame, zt__entry *outer) {
    zt__path *path = zt__known_path_of_phase(profiler, frame->phase);
    zt__entry *entry = zt__find_entry(profiler, &frame->entry);
    if (entry || frame->kind == ZT__PHASE_FRAME_ADOPTED) {
        return entry;
    }
    if (frame->kind == ZT__PHASE_FRAME_SAME || !path) {
        return outer;
    }
    if (!profiler->free_entries || zt__map_is_full(&profiler->entries)) {
        zt__mark_incomplete(outer);
        return outer;
    }
    if (!frame->entry) {
        frame->entry = zt__number_entry();
    }
    entry = profiler->free_entries;
    profiler->free_entries = entry->next;
    profiler->free_entry_count--;
    memset(entry, 0, sizeof *entry);
    entry->number = frame->entry;
    entry->path = path;
    entry->outer = outer;
    entry->is_open = 1;
    zt__count_from(frame, profiler->listening_since_ns);
    entry->begun_ns = frame->begun_ns;
    entry->thread = zt__get_thread_number();
    frame->parts++;
    if (outer) {
        outer->uses++;
    }
    zt__map_add(&profiler->entries, &entry->number, sizeof entry->number, entry);
    return entry;
}

ZT__PRIVATE zt__entry *zt__current_entry(zt_profiler *profiler) {
    zt__phase_stack *stack = zt__get_phase_stack();
    zt__phase_frame *top = zt__top_of_stack(stack), *frame = top;
    zt__entry *entry = NULL;
    while (frame && frame->kind != ZT__PHASE_FRAME_ADOPTED && frame != stack->frames) {
        frame--; /* an adopted one knows those around it */
    }
    for (; frame && frame <= top; frame++) {
        entry = zt__entry_of_frame(profiler, frame, entry);
    }
    return entry;
}

ZT__PRIVATE void zt__free_entry(zt_profiler *profiler, zt__entry *entry) {
    entry->next = profiler->free_entries;
    profiler->free_entries = entry;
    profiler->free_entry_count++;
}

/* Removes an entry that is over, and those around it that then are, too. */
static void zt__remove_if_over(zt_profiler *profiler, zt__entry *entry) {
    while (entry && !entry->is_open && entry->uses == 0) {
        zt__entry *outer = entry->outer;
        zt__map_remove(&profiler->entries, &entry->number, sizeof entry->number);
        if (entry->whole || entry->has_work || entry->is_incomplete) {
            entry->next = profiler->ended_entries;
            profiler->ended_entries = entry;
        } else {
            zt__free_entry(profiler, entry);
        }
        if (outer) {
            outer->uses--;
        }
        entry = outer;
    }
}

ZT__PRIVATE int zt__join_entries(const zt_profiler *profiler, zt__entry *first, zt__entry *part) {
    if (!first->whole) {
        const zt_allocator *allocator = &profiler->config.allocator;
        first->whole = (zt__whole_entry *)zt__allocate(allocator, 1, sizeof *first->whole);
        if (!first->whole) {
            return 0;
        }
        zt__create_mutex(&first->whole->mutex);
        first->whole->allocator = *allocator;
        first->whole->parts = 1;
    }
    part->whole = first->whole;
    part->whole->parts++;
    return 1;
}

ZT__PRIVATE int zt__leave_whole_entry(zt__entry *part) {
    zt__whole_entry *whole = part->whole;
    zt_allocator allocator = whole->allocator;
    int is_last;
    part->whole = NULL;
    zt__lock(&whole->mutex);
    whole->is_incomplete |= part->is_incomplete;
    whole->has_work |= part->has_work;
    whole->gpu_ns += part->gpu_ns;
    is_last = --whole->parts == 0;
    zt__unlock(&whole->mutex);
    if (is_last) {
        part->is_incomplete = whole->is_incomplete;
        part->has_work = whole->has_work;
        part->gpu_ns = whole->gpu_ns;
        zt__destroy_mutex(&whole->mutex);
        zt__free(&allocator, whole);
    }
    return is_last;
}

ZT__PRIVATE void zt__end_entry(zt_profiler *profiler, const uint32_t *number) {
    zt__entry *entry = zt__find_entry(profiler, number);
    if (entry) {
        entry->is_open = 0;
        zt__remove_if_over(profiler, entry);
    }
}

ZT__PRIVATE zt__entry *zt__use_entry(zt__entry *entry) {
    if (entry) {
        entry->uses++;
    }
    return entry;
}

ZT__PRIVATE void zt__release_entry(zt_profiler *profiler, zt__entry **place) {
    zt__entry *entry = *place;
    *place = NULL;
    if (entry) {
        entry->uses--;
        zt__remove_if_over(profiler, entry);
    }
}

ZT__PRIVATE void zt__miss_in_phases(zt_profiler *profiler, zt__entry **place) {
    zt__mark_incomplete(*place);
    zt__release_entry(profiler, place);
}

ZT__PRIVATE void zt__add_to_entries(zt_profiler *profiler, const zt__path *outer_phase, zt__entry **place,
                                    double gpu_ns) {
    zt__entry *entry;
    if (zt__is_nan(gpu_ns)) {
        zt__miss_in_phases(profiler, place);
        return;
    }
    for (entry = *place; entry && !zt__counts_region(entry->path, outer_phase); entry = entry->outer) {
        entry->has_work = 1;
        entry->gpu_ns += gpu_ns;
    }
    zt__release_entry(profiler, place);
}

/* ---- what is submitted ----------------------------------------------------------------------------------- */

ZT__PRIVATE zt__path *zt__prepare_phase(zt_profiler *profiler) {
    const zt__phase_frame *top = zt__get_top_frame();
    if (!top) {
        return &profiler->root;
    }
    zt__make_entry_room(profiler);
    return zt__find_or_add_path_of_phase(profiler, top->phase);
}

ZT__PRIVATE void zt__prepare_recording_for_phase(zt_profiler *profiler, zt__list *list) {
    zt__recording *recording;
    zt__path *phase;
    zt__probe *probe;
    if (profiler->config.phases_at_append) {
        return;
    }
    list->open_count++; /* keeps the record of the list while the mutex is unlocked */
    phase = zt__prepare_phase(profiler);
    recording = list->current;
    if (recording && !recording->is_queue) {
        recording->next_phase = phase;
    }
    for (probe = recording && recording->phase != phase ? recording->first : NULL; probe;
         probe = probe->next) {
        probe->placed = zt__place_path(profiler, phase, probe->path);
    }
    list->open_count--;
}

ZT__PRIVATE void zt__move_into_phase(zt_profiler *profiler, zt__recording *recording) {
    zt__path *phase = recording->next_phase;
    const zt__phase_frame *top = zt__get_top_frame();
    int moves = recording->phase != phase;
    zt__entry *entry;
    zt__probe *probe;
    if (profiler->config.phases_at_append || !phase) {
        return;
    }
    entry = zt__use_entry(zt__current_entry(profiler));
    recording->phase = phase;
    for (probe = recording->first; probe; probe = probe->next) {
        zt__path *placed = moves ? probe->placed : NULL;
        /* NULL: none, or it has ended before. Else it is in the recording. */
        const zt__probe *outer = probe->outer;
        int is_inside = !zt__is_phase_or_root(probe->path->key.outer);
        /* What is due was counted at its end, because its list may have been immediate. */
        if (placed && probe->is_due) {
            probe->path->missing--;
            placed->missing++;
        }
        if (placed) {
            probe->path = placed;
        } else if (moves) {
            recording->phase = NULL; /* without memory: the next execution tries again */
        }
        if (probe->is_dropped) {
            zt__mark_incomplete(entry); /* a region around others may be missing */
            continue;
        }
        profiler->moved_samples += probe->appended_in && (!top || probe->appended_in != top->phase);
        zt__release_entry(profiler, &probe->entry);
        probe->entry = zt__use_entry(entry);
        while (is_inside && outer && outer->is_dropped) {
            outer = outer->outer;
            is_inside = outer != NULL;
        }
        probe->outer_phase = is_inside ? zt__phase_of(probe->path) : NULL;
    }
    zt__release_entry(profiler, &entry);
}
