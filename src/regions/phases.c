/* Phases: what a thread submits belongs to those that it is in. */

#include "regions/phases.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/phase_stack.h"
#include "base/platform.h"
#include "base/shared.h"
#include "base/threads.h"
#include "regions/names.h"
#include "regions/profiler.h"

/* ---- paths: with the mutex held -------------------------------------------------------------------------- */

static zt__path *zt__known_path_of_phase(const zt_profiler *profiler, const zt__phase *phase) {
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

/* Returns the path of a phase, added if it is new; or the profiler's root without memory. */
static zt__path *zt__path_of_phase(zt_profiler *profiler, const zt__phase *phase) {
    zt__path *path = zt__known_path_of_phase(profiler, phase), *outer;
    zt__region_record *record;
    zt_cause cause;
    if (path || !phase || phase->depth == 0) {
        return path ? path : &profiler->root;
    }
    outer = zt__path_of_phase(profiler, phase->outer);
    record = zt__find_or_add_phase_record(profiler, phase->name, &cause);
    path = record ? zt__find_or_add_path(profiler, outer, record) : NULL;
    if (!path || !path->key.region->is_phase) {
        return outer; /* without memory, or among the samples of too many paths */
    }
    if (zt__make_phase_room(profiler, phase)) {
        profiler->phase_paths[phase->index] = path;
    }
    return path;
}

ZT__PRIVATE int zt__is_phase(const zt__path *path) {
    return path->depth == 0 || path->key.region->is_phase;
}

ZT__PRIVATE zt__path *zt__place_path(zt_profiler *profiler, zt__path *phase, zt__path *path) {
    zt__path *outer, *placed;
    if (zt__is_phase(path)) {
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

ZT__PRIVATE zt__path *zt__phase_of(zt__path *path) {
    while (!zt__is_phase(path)) {
        path = path->key.outer;
    }
    return path;
}

/* As zt__place_path, but adds nothing: NULL if there is no such path. */
static zt__path *zt__find_placed(const zt_profiler *profiler, zt__path *phase, const zt__path *path) {
    zt__path *outer;
    if (zt__is_phase(path)) {
        return phase;
    }
    outer = zt__find_placed(profiler, phase, path->key.outer);
    return outer ? zt__find_path(profiler, outer, path->key.region) : NULL;
}

/* ---- entries: with the mutex held ------------------------------------------------------------------------ */

static int zt__make_entry_room(zt_profiler *profiler) {
    const zt_allocator *allocator = &profiler->config.allocator;
    while (profiler->free_entry_count < ZT__MAX_PHASE_DEPTH) {
        zt__entry_block *block;
        uint32_t i;
        zt__unlock(&profiler->mutex);
        block = (zt__entry_block *)zt__allocate(allocator, 1, sizeof *block);
        zt__lock(&profiler->mutex);
        if (!block) {
            return 0;
        }
        block->next = profiler->entry_blocks;
        profiler->entry_blocks = block;
        for (i = 0; i < ZT__ENTRIES_PER_BLOCK; i++) {
            block->entries[i].next = profiler->free_entries;
            profiler->free_entries = &block->entries[i];
        }
        profiler->free_entry_count += ZT__ENTRIES_PER_BLOCK;
    }
    return zt__map_make_room(&profiler->entries, allocator, &profiler->mutex);
}

static zt__entry *zt__find_entry(const zt_profiler *profiler, const uint32_t *number) {
    return *number ? (zt__entry *)zt__map_find(&profiler->entries, number, sizeof *number) : NULL;
}

/* Returns the entry of a frame, added if it is new; NULL without memory. One that was adopted is never added: if it is
   not there, it is over. */
static zt__entry *zt__entry_of_frame(zt_profiler *profiler, zt__phase_frame *frame, zt__entry *outer) {
    zt__entry *entry = zt__find_entry(profiler, &frame->entry);
    if (frame->kind == ZT__PHASE_FRAME_SAME) {
        return outer;
    }
    if (entry || frame->kind == ZT__PHASE_FRAME_ADOPTED || !profiler->free_entries ||
        zt__map_is_full(&profiler->entries)) {
        return entry;
    }
    if (!frame->entry) {
        frame->entry = zt__number_entry();
    }
    entry = profiler->free_entries;
    profiler->free_entries = entry->next;
    profiler->free_entry_count--;
    memset(entry, 0, sizeof *entry);
    entry->number = frame->entry;
    entry->path = zt__known_path_of_phase(profiler, frame->phase);
    entry->outer = outer;
    entry->is_open = 1;
    if (outer) {
        outer->uses++;
    }
    zt__map_add(&profiler->entries, &entry->number, sizeof entry->number, entry);
    return entry;
}

/* Returns the entry of the phase that the calling thread is in, or NULL. */
static zt__entry *zt__current_entry(zt_profiler *profiler) {
    zt__phase_frame *top = zt__get_top_frame(), *frame = top;
    zt__entry *entry = NULL;
    while (frame && frame->kind != ZT__PHASE_FRAME_ADOPTED && frame != zt__get_phase_stack()->frames) {
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
static void zt__end_if_over(zt_profiler *profiler, zt__entry *entry) {
    while (entry && !entry->is_open && entry->uses == 0) {
        zt__entry *outer = entry->outer;
        zt__map_remove(&profiler->entries, &entry->number, sizeof entry->number);
        if (entry->path && entry->is_incomplete) {
            entry->path->incomplete++;
        }
        if (entry->path && entry->has_work && !entry->is_incomplete) {
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

static zt__entry *zt__use_entry(zt__entry *entry) {
    if (entry) {
        entry->uses++;
    }
    return entry;
}

ZT__PRIVATE void zt__join_entry(zt_profiler *profiler, zt__probe *probe) {
    probe->entry = zt__use_entry(zt__current_entry(profiler));
}

ZT__PRIVATE void zt__forget_entry(zt_profiler *profiler, zt__entry **place) {
    zt__entry *entry = *place;
    *place = NULL;
    if (entry) {
        entry->uses--;
        zt__end_if_over(profiler, entry);
    }
}

ZT__PRIVATE void zt__leave_entry(zt_profiler *profiler, zt__entry *entry, const zt__entry *outer_entry,
                                 double gpu_ns) {
    zt__entry *each;
    if (!entry) {
        return;
    }
    for (each = entry; each && each != outer_entry; each = each->outer) {
        if (zt__is_nan(gpu_ns)) {
            each->is_incomplete = 1;
        } else {
            each->has_work = 1;
            each->gpu_ns += gpu_ns;
        }
    }
    entry->uses--;
    zt__end_if_over(profiler, entry);
}

/* ---- what is submitted: with the mutex held -------------------------------------------------------------- */

ZT__PRIVATE zt__path *zt__enter_phase(zt_profiler *profiler) {
    const zt__phase_frame *top = zt__get_top_frame();
    if (!top) {
        return &profiler->root;
    }
    zt__make_entry_room(profiler);
    return zt__path_of_phase(profiler, top->phase);
}

/* Returns the path that zt__enter_phase has returned before on this thread. */
static zt__path *zt__current_phase(zt_profiler *profiler) {
    const zt__phase_frame *top = zt__get_top_frame();
    const zt__phase *phase = top ? top->phase : NULL;
    zt__path *path = NULL;
    for (; phase && !path; phase = phase->outer) { /* without memory, what has a path is around it */
        path = zt__known_path_of_phase(profiler, phase);
    }
    return path ? path : &profiler->root;
}

ZT__PRIVATE void zt__prepare_phase(zt_profiler *profiler, zt__list *list) {
    zt__path *phase;
    zt__probe *probe;
    if (profiler->config.phases_at_append) {
        return;
    }
    list->open_count++; /* keeps the record of the list while the mutex is unlocked */
    phase = zt__enter_phase(profiler);
    if (list->current && list->current->phase != phase) {
        for (probe = list->current->first; probe; probe = probe->next) {
            zt__place_path(profiler, phase, probe->path);
        }
    }
    list->open_count--;
}

ZT__PRIVATE void zt__move_into_phase(zt_profiler *profiler, zt__recording *recording) {
    zt__path *phase = zt__current_phase(profiler);
    const zt__phase_frame *top = zt__get_top_frame();
    zt__entry *entry;
    zt__probe *probe;
    if (profiler->config.phases_at_append) {
        return;
    }
    entry = zt__current_entry(profiler);
    zt__use_entry(entry);
    for (probe = recording->first; probe; probe = probe->next) {
        zt__path *placed = recording->phase == phase ? NULL : zt__find_placed(profiler, phase, probe->path);
        if (placed &&
            probe->is_due) { /* it was counted at its end, because its list may have been immediate */
            probe->path->missing--;
            placed->missing++;
        }
        probe->path = placed ? placed : probe->path;
        if (probe->is_dropped) {
            continue;
        }
        profiler->moved_samples += probe->appended_in && (!top || probe->appended_in != top->phase);
        zt__forget_entry(profiler, &probe->entry);
        probe->entry = zt__use_entry(entry);
        probe->outer_entry = zt__is_phase(probe->path->key.outer) ? NULL : entry;
    }
    zt__forget_entry(profiler, &entry);
    recording->phase = phase;
}

/* ---- the threads of the application ---------------------------------------------------------------------- */

ZT__PRIVATE void zt__start_listening(zt_profiler *profiler) {
    zt__process *process = zt__get_process();
    zt__store(&profiler->takes_phases, 1);
    zt__add(&process->listeners, 1);
}

ZT__PRIVATE void zt__stop_listening(zt_profiler *profiler) {
    zt__process *process = zt__get_process();
    zt__wait wait = zt__wait_until(UINT64_MAX);
    int goes_on = process != NULL;
    if (process && zt__load(&profiler->takes_phases)) {
        zt__add(&process->listeners, UINT32_MAX); /* one less */
    }
    while (goes_on && zt__add(&process->listener_users[profiler->id % ZT__MAX_PROFILERS], 0) > 0) {
        goes_on = zt__wait_again(&wait);
    }
}

/* A walk over the profilers that phases are reported to. */
typedef struct zt__listeners {
    zt__process *process; /* NULL: there are none */
    uint32_t next, left;
    uint32_t *users; /* of the profiler that is visited */
} zt__listeners;

static zt__listeners zt__find_listeners(void) {
    zt__listeners listeners = {zt__get_process(), 0, 0, NULL};
    if (listeners.process) {
        listeners.left = zt__load(&listeners.process->listeners);
    }
    return listeners;
}

/* Returns the next profiler, which is not freed until the next call; NULL after the last. */
static zt_profiler *zt__next_listener(zt__listeners *listeners) {
    zt__process *process = listeners->process;
    if (listeners->users) {
        zt__add(listeners->users, UINT32_MAX);
    }
    for (; listeners->left > 0 && listeners->next < ZT__MAX_PROFILERS; listeners->next++) {
        zt_profiler *profiler = NULL;
        if (zt__load(&process->profilers[listeners->next])) {
            listeners->users = &process->listener_users[listeners->next];
            zt__add(listeners->users, 1);
            profiler = zt__load(&process->profilers[listeners->next]); /* it may just have been closed */
            if (profiler && zt__load(&profiler->takes_phases)) {
                listeners->left--;
                listeners->next++;
                return profiler;
            }
            zt__add(listeners->users, UINT32_MAX);
        }
    }
    listeners->users = NULL;
    return NULL;
}

/* Adds a frame to a stack. If the stack is full, what is deeper belongs to its last frame. */
static void zt__push_frame(zt__phase_stack *stack, const zt__phase *phase, uint32_t entry,
                           zt__phase_frame_kind kind) {
    zt__process *process = zt__get_process();
    uint32_t depth = stack->depth++;
    if (depth < ZT__MAX_PHASE_DEPTH) {
        zt__phase_frame *frame = &stack->frames[depth];
        frame->phase = phase;
        frame->kind = kind;
        frame->entry = entry;
        frame->begun_ns = process && zt__load(&process->listeners) ? zt__now_ns() : 0;
        frame->inner_ns = 0;
    }
}

ZT_API void zt_phase_begin(const char *name) {
    zt__phase_stack *stack = zt__get_phase_stack();
    const zt__phase_frame *around = zt__top_of_stack(stack);
    const zt__phase *outer = around ? around->phase : NULL;
    const zt__phase *phase = zt__find_or_add_phase(outer, zt__shown_name(name));
    zt__push_frame(stack, phase, 0, outer && phase == outer ? ZT__PHASE_FRAME_SAME : ZT__PHASE_FRAME_BEGUN);
}

/* Notes in a profiler that a phase of this thread has ended. */
static void zt__end_phase(zt_profiler *profiler, const zt__phase_frame *frame, uint64_t now) {
    zt__entry *entry;
    zt__path *path;
    zt__lock(&profiler->mutex);
    path = zt__path_of_phase(profiler, frame->phase);
    entry = zt__find_entry(profiler, &frame->entry);
    if (entry) {
        entry->is_open = 0;
        zt__end_if_over(profiler, entry);
    }
    if (path->depth > 0) {
        path->entered++;
    }
    if (path->depth > 0 && frame->begun_ns) {
        path->host_ns += now - frame->begun_ns;
        path->host_own_ns += now - frame->begun_ns - frame->inner_ns;
        if (profiler->phase_ended) {
            zt__phase_span span = {frame->begun_ns,         now,          path->index,
                                   zt__get_thread_number(), frame->entry, 0};
            const zt__phase_frame *around = zt__get_top_frame();
            while (around && around->kind == ZT__PHASE_FRAME_SAME) {
                around--;
            }
            span.outer_entry = around ? around->entry : 0;
            profiler->phase_ended(profiler, &span);
        }
    }
    zt__unlock(&profiler->mutex);
}

ZT_API void zt_phase_end(void) {
    zt__phase_stack *stack = zt__get_phase_stack();
    zt__listeners listeners = zt__find_listeners();
    zt__phase_frame *frame, *around;
    zt_profiler *profiler;
    uint64_t now;
    if (stack->depth == 0) {
        while ((profiler = zt__next_listener(&listeners)) != NULL) {
            zt__report(&profiler->diagnostics, PHASE_NOT_BEGUN, ZE_RESULT_ERROR_INVALID_ARGUMENT);
        }
        return;
    }
    if (--stack->depth >= ZT__MAX_PHASE_DEPTH || listeners.left == 0) {
        return;
    }
    frame = &stack->frames[stack->depth];
    around = zt__top_of_stack(stack);
    now = zt__now_ns();
    if (around && frame->kind == ZT__PHASE_FRAME_SAME) {
        around->inner_ns += frame->inner_ns;
    } else if (around && frame->begun_ns) {
        around->inner_ns += now - frame->begun_ns;
    }
    while (frame->kind == ZT__PHASE_FRAME_BEGUN && (profiler = zt__next_listener(&listeners)) != NULL) {
        zt__end_phase(profiler, frame, now);
    }
}

ZT_API zt_phase zt_phase_current(void) {
    zt__listeners listeners = zt__find_listeners();
    const zt__phase_frame *top = zt__get_top_frame();
    zt_profiler *profiler;
    zt_phase current = {NULL, 0};
    /* Its entry is added now, so that other threads find it until it is over. */
    while (top && (profiler = zt__next_listener(&listeners)) != NULL) {
        zt__lock(&profiler->mutex);
        zt__enter_phase(profiler);
        zt__current_entry(profiler);
        zt__unlock(&profiler->mutex);
    }
    while (top && top->kind == ZT__PHASE_FRAME_SAME) {
        top--;
    }
    if (top) {
        current.phase = top->phase;
        current.entry = top->entry;
    }
    return current;
}

ZT_API void zt_phase_adopt(zt_phase phase) {
    zt__push_frame(zt__get_phase_stack(), (const zt__phase *)phase.phase, phase.entry,
                   ZT__PHASE_FRAME_ADOPTED);
}
