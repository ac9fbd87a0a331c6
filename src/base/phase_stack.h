/* The phases that are open: a stack a thread, for all copies of this header in a process. */

#pragma once

#include "base/compiler.h"
#include "base/shared.h"
#include "base/system.h"

enum { ZT__MAX_PHASE_DEPTH = 64 };

typedef enum zt__phase_frame_kind {
    ZT__PHASE_FRAME_BEGUN,
    ZT__PHASE_FRAME_ADOPTED, /* another thread has begun it */
    ZT__PHASE_FRAME_SAME     /* the phase could not be added: it is the one around it */
} zt__phase_frame_kind;

/* A phase that a thread is in. */
typedef struct zt__phase_frame {
    const zt__phase *phase; /* NULL: none, of a thread that was in none, or without memory */
    zt__phase_frame_kind kind;
    uint32_t entry;    /* number of this entry among those of the process; 0: nobody has needed one yet */
    uint32_t parts;    /* profilers that have needed it */
    uint64_t begun_ns; /* host time; before zt_profiler.listening_since_ns, as 0 is, it counts from then on */
    uint64_t inner_ns; /* host time of the phases that the thread was in inside, since begun_ns */
    uint64_t waited_ns; /* host time in which the thread waited for the device, as far as a tracer is on */
    uint32_t tracer_changes; /* process->tracer_changes at its begin; 0: no profiler was open */
} zt__phase_frame;

typedef struct zt__phase_stack {
    uint32_t depth; /* may be higher than the number of frames: what is deeper belongs to the last of them */
    zt__phase_frame frames[ZT__MAX_PHASE_DEPTH];
} zt__phase_stack;

/* Returns the stack of the calling thread in the process of this block, which may be NULL: after a fork, it is empty. */
ZT__PRIVATE zt__phase_stack *zt__stack_of_process(zt__process *process);

/* The same in this process. */
ZT__PRIVATE zt__phase_stack *zt__get_phase_stack(void);

/* Returns the frame of a stack that was begun last, or NULL if there is none. */
ZT__PRIVATE zt__phase_frame *zt__top_of_stack(zt__phase_stack *stack);

/* The same of the calling thread. */
ZT__PRIVATE zt__phase_frame *zt__get_top_frame(void);

/* Returns the phase of a name inside another one, which is NULL for none. Beyond the limits, or without memory, returns
   the other one. */
ZT__PRIVATE const zt__phase *zt__find_or_add_phase(zt__process *process, const zt__phase *outer,
                                                   const char *name);

/* Returns whether there are ZT__MAX_PHASES. */
ZT__PRIVATE int zt__are_phases_full(void);

/* Returns a number for the next entry of a phase in this process. */
ZT__PRIVATE uint32_t zt__number_entry(void);
