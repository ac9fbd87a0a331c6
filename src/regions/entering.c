/* The threads of the application begin and end phases. */

#include "regions/entering.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/numbers.h"
#include "base/phase_stack.h"
#include "base/platform.h"
#include "base/shared.h"
#include "base/threads.h"
#include "regions/adding.h"
#include "regions/names.h"
#include "regions/phases.h"
#include "regions/profiler.h"
#include "regions/reporting.h"

/* A walk over the profilers that phases are reported to. */
typedef struct zt__listeners {
    zt__process *process; /* NULL: there are none */
    uint32_t next, end;
    uint32_t *users; /* of the profiler that is visited */
} zt__listeners;

static zt__listeners zt__find_listeners(void) {
    zt__listeners listeners = {zt__get_process(), 0, 0, NULL};
    if (listeners.process) {
        listeners.end =
            zt__load(&listeners.process->listeners) ? zt__load(&listeners.process->profiler_places) : 0;
    }
    return listeners;
}

/* Returns the next profiler, which is not freed until the next call; NULL after the last. */
static zt_profiler *zt__next_listener(zt__listeners *listeners) {
    zt__process *process = listeners->process;
    if (listeners->users) {
        zt__add(listeners->users, UINT32_MAX);
    }
    for (; listeners->next < listeners->end; listeners->next++) {
        zt_profiler *profiler = NULL;
        if (zt__load(&process->profilers[listeners->next])) {
            listeners->users = &process->listener_users[listeners->next];
            zt__add(listeners->users, 1);
            profiler = zt__load(&process->profilers[listeners->next]); /* it may just have been closed */
            if (profiler && zt__load(&profiler->takes_phases)) {
                listeners->next++;
                return profiler;
            }
            zt__add(listeners->users, UINT32_MAX);
        }
    }
    listeners->users = NULL;
    return NULL;
}

ZT__PRIVATE void zt__start_listening(zt_profiler *profiler) {
    zt__process *process = zt__get_process();
    zt__listeners listeners = zt__find_listeners();
    const zt_profiler *other;
    profiler->listening_since_ns = zt__now_ns();
    while ((other = zt__next_listener(&listeners)) != NULL) {
        profiler->listening_since_ns = other->listening_since_ns;
    }
    zt__store(&profiler->takes_phases, 1);
    zt__add(&process->listeners, 1);
}

ZT__PRIVATE int zt__stop_listening(zt_profiler *profiler) {
    enum { LONGEST_NS = 2000000000 };
    zt__process *process = zt__find_process();
    zt__wait wait = zt__wait_until(zt__deadline(LONGEST_NS));
    if (!process || !profiler->takes_phases) {
        return 1;
    }
    zt__store(&profiler->takes_phases, 0);
    while (zt__add(&process->listener_users[profiler->id % ZT__MAX_PROFILERS], 0) > 0) {
        if (!zt__wait_again(&wait)) {
            zt__store(&profiler->takes_phases, 1);
            return 0;
        }
    }
    zt__add(&process->listeners, UINT32_MAX); /* one less */
    return 1;
}

/* Adds a frame to a stack. If the stack is full, what is deeper belongs to its last frame. */
static void zt__push_frame(const zt__process *process, zt__phase_stack *stack, const zt__phase *phase,
                           uint32_t entry, zt__phase_frame_kind kind) {
    uint32_t depth = stack->depth++;
    if (depth < ZT__MAX_PHASE_DEPTH) {
        zt__phase_frame *frame = &stack->frames[depth];
        int is_heard = process && zt__load(&process->listeners);
        frame->phase = phase;
        frame->kind = kind;
        frame->entry = entry;
        frame->parts = 0;
        frame->begun_ns = is_heard ? zt__now_ns() : 0;
        frame->inner_ns = frame->waited_ns = 0;
        frame->tracer_changes = is_heard ? zt__load(&process->tracer_changes) : 0;
    }
}

ZT_API void zt_phase_begin(const char *name) {
    zt__process *process = zt__get_process();
    zt__phase_stack *stack = zt__stack_of_process(process);
    const zt__phase_frame *around = zt__top_of_stack(stack);
    const zt__phase *outer = around ? around->phase : NULL;
    const zt__phase *phase = zt__find_or_add_phase(process, outer, zt__shown_name(name));
    int is_added = phase != outer;
    zt__push_frame(process, stack, phase, 0,
                   outer && !is_added ? ZT__PHASE_FRAME_SAME : ZT__PHASE_FRAME_BEGUN);
    if (!is_added && zt__are_phases_full()) {
        zt__listeners listeners = zt__find_listeners();
        zt_profiler *profiler;
        while ((profiler = zt__next_listener(&listeners)) != NULL) {
            zt__report(&profiler->diagnostics, TOO_MANY_PHASES, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY,
                       (unsigned)ZT__MAX_PHASES, zt__shown_name(name));
        }
    }
}

/* Returns the frame of the innermost phase of this thread, or NULL. Frames that repeat a phase are not entries. */
static zt__phase_frame *zt__get_top_entered(void) {
    zt__phase_frame *top = zt__get_top_frame();
    while (top && top->kind == ZT__PHASE_FRAME_SAME) {
        top--;
    }
    return top;
}

/* Notes in a profiler that a phase of this thread has ended, unless it was begun before zt_clear. An entry that is over
   then is added to the statistics at once, unless another thread collects: then that thread adds it. `is_traced`: a
   tracer was on all the time. */
static void zt__end_phase(zt_profiler *profiler, const zt__phase_frame *frame, uint64_t now, int is_traced) {
    zt__path *path;
    int has_ended;
    zt__lock(&profiler->mutex);
    zt__find_or_add_path_of_phase(profiler, frame->phase);
    path = zt__known_path_of_phase(profiler, frame->phase);
    zt__end_entry(profiler, &frame->entry);
    if (frame->begun_ns < profiler->cleared_ns) {
        path = NULL;
    }
    if (path) {
        path->entered++;
    }
    if (path && profiler->memory_phase_ended) {
        profiler->memory_phase_ended(profiler, path, frame->begun_ns);
    }
    if (path) {
        path->host_ns += now - frame->begun_ns;
        path->host_own_ns += now - frame->begun_ns - frame->inner_ns;
        path->host_wait_ns += is_traced ? (double)frame->waited_ns : zt__nan();
        if (profiler->phase_ended) {
            zt__phase_span span = {frame->begun_ns,         now,          path->index,
                                   zt__get_thread_number(), frame->entry, 0};
            const zt__phase_frame *around = zt__get_top_entered();
            span.outer_entry = around ? around->entry : 0;
            profiler->phase_ended(profiler, &span);
        }
        if (profiler->phase_took) {
            profiler->phase_took(profiler, path, frame->begun_ns, now);
        }
    }
    has_ended = profiler->ended_entries != NULL;
    zt__unlock(&profiler->mutex);
    if (has_ended) {
        zt__try_add_ended_entries(profiler);
    }
}

/* Returns the part that a profiler has of the entry of a frame, or NULL. It stays until the phase ends. */
static zt__entry *zt__find_part(zt_profiler *profiler, const zt__phase_frame *frame) {
    zt__entry *part;
    zt__lock(&profiler->mutex);
    part = zt__find_entry(profiler, &frame->entry);
    zt__unlock(&profiler->mutex);
    return part;
}

/* Makes one entry of the parts that profilers have which report together on one device. Where that cannot be, because one
   is closed or there is no memory, they are incomplete. Called before the phase of this thread ends. */
static void zt__join_parts(const zt__phase_frame *frame) {
    zt__listeners all = zt__find_listeners();
    zt_profiler *profiler, *other;
    zt__entry *part, *first;
    uint32_t found = 0;
    int has_memory = 1;
    while ((profiler = zt__next_listener(&all)) != NULL) {
        zt__listeners others = zt__find_listeners();
        part = zt__find_part(profiler, frame);
        first = NULL;
        while ((other = zt__next_listener(&others)) != NULL) {
            if (!first && (other == profiler || zt__report_on_one_device(other, profiler))) {
                first = zt__find_part(other, frame);
            }
        }
        if (part && first && first != part) {
            has_memory &= zt__join_entries(profiler, first, part);
        }
        found += part != NULL;
    }
    all = zt__find_listeners();
    while ((found < frame->parts || !has_memory) && (profiler = zt__next_listener(&all)) != NULL) {
        zt__lock(&profiler->mutex);
        part = zt__find_entry(profiler, &frame->entry);
        if (part) {
            part->is_incomplete = 1;
        }
        zt__unlock(&profiler->mutex);
    }
}

ZT_API void zt_phase_end(void) {
    zt__phase_stack *stack = zt__get_phase_stack();
    zt__listeners listeners = zt__find_listeners();
    zt__phase_frame *frame, *around;
    zt_profiler *profiler;
    uint64_t now;
    int is_traced;
    if (stack->depth == 0) {
        while ((profiler = zt__next_listener(&listeners)) != NULL) {
            zt__report(&profiler->diagnostics, PHASE_NOT_BEGUN, ZE_RESULT_ERROR_INVALID_ARGUMENT);
        }
        return;
    }
    if (--stack->depth >= ZT__MAX_PHASE_DEPTH || listeners.end == 0) {
        return;
    }
    frame = &stack->frames[stack->depth];
    around = zt__top_of_stack(stack);
    now = zt__now_ns();
    is_traced = (frame->tracer_changes & 1) != 0 &&
                frame->tracer_changes == zt__load(&listeners.process->tracer_changes);
    if (around) {
        around->waited_ns += frame->waited_ns;
    }
    if (frame->parts > 1) {
        zt__join_parts(frame);
    }
    while ((profiler = zt__next_listener(&listeners)) != NULL) {
        uint64_t since_ns = profiler->listening_since_ns < now ? profiler->listening_since_ns : now;
        zt__count_from(frame, since_ns);
        if (around) {
            zt__count_from(around, since_ns);
        }
        if (frame->kind == ZT__PHASE_FRAME_BEGUN) {
            zt__end_phase(profiler, frame, now, is_traced);
        }
    }
    if (around && frame->phase == around->phase) { /* it is no other phase */
        around->inner_ns += frame->inner_ns;
    } else if (around && frame->begun_ns) {
        around->inner_ns += now - frame->begun_ns;
    }
}

ZT_API zt_phase zt_phase_current(void) {
    zt__listeners listeners = zt__find_listeners();
    zt__phase_frame *top = zt__get_top_frame();
    zt_profiler *profiler;
    zt_phase current = {NULL, 0};
    /* Its entry is added now, so that other threads find it until it is over. */
    while (top && (profiler = zt__next_listener(&listeners)) != NULL) {
        zt__lock(&profiler->mutex);
        zt__prepare_phase(profiler);
        zt__current_entry(profiler);
        zt__unlock(&profiler->mutex);
    }
    top = zt__get_top_entered();
    if (top) {
        current.phase = top->phase;
        current.entry = top->entry;
    }
    return current;
}

ZT_API void zt_phase_adopt(zt_phase phase) {
    zt__process *process = zt__get_process();
    const zt__phase *adopted = (const zt__phase *)phase.phase;
    if (adopted && (!process || zt__load(&process->phases[adopted->index]) != adopted)) {
        adopted = NULL; /* of the process that has forked this one */
        phase.entry = 0;
    }
    zt__push_frame(process, zt__get_phase_stack(), adopted, phase.entry, ZT__PHASE_FRAME_ADOPTED);
}
