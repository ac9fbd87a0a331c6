/* The phases that are open: a stack a thread, for all copies of this header in a process. */

#include "base/phase_stack.h"

#include "base/compiler.h"
#include "base/map.h"
#include "base/platform.h"
#include "base/shared.h"

/* The stack of a thread is that of the copy that was first to need it. Others find it by the key. */
static ZT__THREAD_LOCAL zt__phase_stack zt__own_phase_stack;
static ZT__THREAD_LOCAL zt__phase_stack *zt__known_phase_stack;
static ZT__THREAD_LOCAL zt__process *zt__process_of_stack; /* another one after a fork */

static zt__phase_stack *zt__find_phase_stack(zt__process *process) {
    zt__phase_stack *stack = process ? (zt__phase_stack *)zt__get_thread_value(process->phase_stack) : NULL;
    if (!stack) {
        stack = &zt__own_phase_stack;
        stack->depth = 0; /* a forked child is in no phase of its parent */
        if (process && zt__set_thread_value(process->phase_stack, stack)) {
            zt__keep_loaded(); /* other copies refer to it for as long as the thread lives */
        }
    }
    return stack;
}

ZT__PRIVATE zt__phase_stack *zt__stack_of_process(zt__process *process) {
    if (!zt__known_phase_stack || process != zt__process_of_stack) {
        zt__known_phase_stack = zt__find_phase_stack(process);
        zt__process_of_stack = process;
    }
    return zt__known_phase_stack;
}

ZT__PRIVATE zt__phase_stack *zt__get_phase_stack(void) {
    return zt__stack_of_process(zt__get_process());
}

ZT__PRIVATE zt__phase_frame *zt__top_of_stack(zt__phase_stack *stack) {
    uint32_t depth = stack->depth < ZT__MAX_PHASE_DEPTH ? stack->depth : (uint32_t)ZT__MAX_PHASE_DEPTH;
    return depth ? &stack->frames[depth - 1] : NULL;
}

ZT__PRIVATE zt__phase_frame *zt__get_top_frame(void) {
    return zt__top_of_stack(zt__get_phase_stack());
}

static int zt__is_phase_of(const zt__phase *phase, const zt__phase *outer, const char *name) {
    return phase->outer == outer && strcmp(phase->name, name) == 0;
}

/* Returns a new phase, or NULL without memory. */
static zt__phase *zt__make_phase(const zt__phase *outer, const char *name) {
    size_t size = strlen(name) + 1;
    zt__phase *made = (zt__phase *)malloc(sizeof *made + size);
    if (made) {
        memset(made, 0, sizeof *made);
        made->outer = outer;
        made->depth = outer ? outer->depth + 1 : 1;
        made->name = (const char *)memcpy(made + 1, name, size);
    }
    return made;
}

/* Returns the phase of a name inside another one, added if it is new; NULL beyond the limits, or without memory. There is
   no lock: another thread that adds the same phase meets this one at the same place. */
static zt__phase *zt__look_up_phase(zt__process *process, const zt__phase *outer, const char *name) {
    uint32_t place = (uint32_t)zt__hash(name, strlen(name)) + (outer ? outer->index * 2654435761u : 0);
    zt__phase *made = NULL, *found;
    int may_add = !outer || outer->depth < ZT__MAX_PHASE_DEPTH;
    for (place %= ZT__PHASE_PLACES;;) {
        found = zt__load(&process->phases[place]);
        if (found && zt__is_phase_of(found, outer, name)) {
            break;
        }
        if (found) {
            place = (place + 1) % ZT__PHASE_PLACES;
            continue;
        }
        may_add = may_add && zt__load(&process->phase_count) < ZT__MAX_PHASES;
        made = made || !may_add ? made : zt__make_phase(outer, name);
        if (!made || !may_add) {
            break;
        }
        made->index = place;
        if (zt__change_pointer_if((void **)&process->phases[place], NULL, made)) {
            zt__add(&process->phase_count, 1);
            return made;
        }
    }
    free(made);
    return found;
}

ZT__PRIVATE const zt__phase *zt__find_or_add_phase(zt__process *process, const zt__phase *outer,
                                                   const char *name) {
    zt__phase **latest, *phase;
    if (!process) {
        return outer;
    }
    latest = outer ? &((zt__phase *)(uintptr_t)outer)->latest : &process->latest_phase;
    phase = zt__load(latest);
    if (phase && strcmp(phase->name, name) == 0) {
        return phase;
    }
    phase = zt__look_up_phase(process, outer, name);
    if (phase) {
        zt__store(latest, phase);
    }
    return phase ? phase : outer;
}

ZT__PRIVATE int zt__are_phases_full(void) {
    zt__process *process = zt__get_process();
    return process && zt__load(&process->phase_count) >= ZT__MAX_PHASES;
}

ZT__PRIVATE uint32_t zt__number_entry(void) {
    zt__process *process = zt__get_process();
    uint32_t number = process ? zt__add(&process->entries, 1) : 0;
    return process && !number ? zt__add(&process->entries, 1) : number; /* 0 stands for none */
}
