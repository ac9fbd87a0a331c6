/* The phases that are open: a stack a thread, for all copies of this header in a process. */

#include "base/phase_stack.h"

#include "base/compiler.h"
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

ZT__PRIVATE zt__phase_stack *zt__get_phase_stack(void) {
    zt__process *process = zt__get_process();
    if (!zt__known_phase_stack || process != zt__process_of_stack) {
        zt__known_phase_stack = zt__find_phase_stack(process);
        zt__process_of_stack = process;
    }
    return zt__known_phase_stack;
}

ZT__PRIVATE zt__phase_frame *zt__top_of_stack(zt__phase_stack *stack) {
    uint32_t depth = stack->depth < ZT__MAX_PHASE_DEPTH ? stack->depth : (uint32_t)ZT__MAX_PHASE_DEPTH;
    return depth ? &stack->frames[depth - 1] : NULL;
}

ZT__PRIVATE zt__phase_frame *zt__get_top_frame(void) {
    return zt__top_of_stack(zt__get_phase_stack());
}

/* Returns the phase of a name among those from `first` on, up to but not including `end`. */
static zt__phase *zt__find_phase(zt__phase *first, const zt__phase *end, const char *name) {
    while (first != end && strcmp(first->name, name) != 0) {
        first = first->next_inner;
    }
    return first != end ? first : NULL;
}

/* Adds a phase at the front of those inside `outer`, without a lock: another thread may add the same meanwhile, which
   is then found among those that have come before it. */
static zt__phase *zt__add_phase(zt__process *process, zt__phase *outer, const char *name) {
    zt__phase *first = zt__load(&outer->inner), *seen = NULL, *found = zt__find_phase(first, NULL, name);
    size_t size = strlen(name) + 1;
    zt__phase *added;
    if (found || zt__load(&process->phase_count) >= ZT__MAX_PHASES) {
        return found;
    }
    added = (zt__phase *)malloc(sizeof *added + size);
    if (!added) {
        return NULL;
    }
    memset(added, 0, sizeof *added);
    added->outer = outer;
    added->depth = outer->depth + 1;
    added->index = zt__add(&process->phase_count, 1);
    added->name = (const char *)memcpy(added + 1, name, size);
    do {
        seen = first;
        added->next_inner = first;
        if (zt__change_pointer_if((void **)&outer->inner, first, added)) {
            return added;
        }
        first = zt__load(&outer->inner);
        found = zt__find_phase(first, seen, name);
    } while (!found);
    free(added);
    return found;
}

ZT__PRIVATE const zt__phase *zt__find_or_add_phase(const zt__phase *outer, const char *name) {
    zt__process *process = outer ? NULL : zt__get_process();
    zt__phase *around = outer ? (zt__phase *)(uintptr_t)outer : process ? &process->phases : NULL;
    zt__phase *phase = around ? zt__load(&around->latest) : NULL;
    if (phase && strcmp(phase->name, name) == 0) {
        return phase;
    }
    process = zt__get_process();
    phase = around && around->depth < ZT__MAX_PHASE_DEPTH ? zt__add_phase(process, around, name) : NULL;
    if (phase) {
        zt__store(&around->latest, phase);
        return phase;
    }
    return around && around->outer ? around : NULL;
}

ZT__PRIVATE uint32_t zt__number_entry(void) {
    zt__process *process = zt__get_process();
    uint32_t number = process ? zt__add(&process->entries, 1) : 0;
    return process && !number ? zt__add(&process->entries, 1) : number; /* 0 stands for none */
}
