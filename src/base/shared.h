/* The block that all copies of this header in a process share, and what belongs to a thread. */

#pragma once

#include "base/compiler.h"
#include "base/platform.h"
#include "base/system.h"

/* All copies of this header in a process share one block of memory (COPIES OF THE HEADER in the manual). They
   find it by an environment variable, as OpenMP runtimes do. Its value consists of the process identifier, a
   hash of random bytes that exec changes, and the address of the block. The hash is needed because exec keeps
   both the identifier and the environment. The number in the variable's name changes with the layout of the
   block. */

enum { ZT__MAX_PROFILERS = 256, ZT__MAX_ACTIVE_GROUPS = 64, ZT__MAX_ATTACHMENTS = 64 };

/* A metric group that profilers or a stream of this process have activated. */
typedef struct zt__active_group {
    ze_device_handle_t device;
    zet_metric_group_handle_t group;
    uint32_t domain;
    uint32_t users;  /* 0: the entry is free */
    int is_streamed; /* a stream uses it, and does not share it */
    char name[ZET_MAX_METRIC_GROUP_NAME];
} zt__active_group;

/* A device and a process that a debugger of this process is attached to. */
typedef struct zt__attachment {
    ze_device_handle_t device; /* NULL: the entry is free */
    uint32_t pid;
} zt__attachment;

enum { ZT__MAX_PHASES = 4096, ZT__PHASE_PLACES = 2 * ZT__MAX_PHASES };

/* A name inside certain others. There is one for each such path in the process, for as long as that lives. */
typedef struct zt__phase {
    const struct zt__phase *outer; /* NULL: none */
    struct zt__phase *latest; /* the one directly inside that was begun last: a guess. NULL: none. Atomic */
    const char *name;         /* a copy */
    uint32_t index;           /* its place among all phases */
    uint32_t depth;           /* 1: it is inside no other */
} zt__phase;

/* What is not measured while it is paused: ranges that other interfaces begin, and launches that are traced. */
enum { ZT__PAUSED_PHASES = 1, ZT__PAUSED_LAUNCHES = 2 };

typedef struct zt__process {
    zt__mutex mutex;      /* guards groups, profilers and attachments, and activation and calculation in the
                             driver */
    zt__thread_key depth; /* how many ZT__INTERNAL sections a thread is in */
    zt__active_group active_groups[ZT__MAX_ACTIVE_GROUPS];
    zt__attachment attachments[ZT__MAX_ATTACHMENTS];
    zt_profiler *profilers[ZT__MAX_PROFILERS]; /* those that are open. Atomic: found without the mutex */
    uint32_t profiler_ids[ZT__MAX_PROFILERS];  /* of each. Atomic, for the same reason */
    uint32_t serial;                           /* of the profiler opened last */
    uint32_t tracers;                          /* that are live: 0 or 1. Atomic */
    uint32_t tracer_changes;                   /* odd while one observes calls; see zt__set_live. Atomic */
    uint32_t submissions; /* calls that execute lists and are in the driver. Atomic, like the next two */
    uint32_t activations; /* threads that hold these, */
    uint32_t is_held;     /* and whether one of them opens or closes counters */
    uint32_t reporting, automatic;       /* profilers that report by ZT_REPORT, by zt_auto, so far.
                                                  Atomic */
    zt__phase *phases[ZT__PHASE_PLACES]; /* by a hash; NULL: free. Atomic, like the next two */
    zt__phase *latest_phase;             /* the one inside no other that was begun last: a guess */
    uint32_t phase_count;
    zt__thread_key phase_stack; /* the stack of phases of a thread */
    uint32_t entries;           /* of phases that were numbered. Atomic */
    uint32_t profiler_places;   /* `profilers` up to here may be used. Atomic */
    uint32_t listeners;         /* profilers that phases are reported to. Atomic, like the next */
    uint32_t listener_users[ZT__MAX_PROFILERS]; /* threads that are reporting a phase to a profiler */
    uint32_t paused; /* what other interfaces have paused, as ZT__PAUSED_ bits. Atomic */
} zt__process;

/* Returns whether something of ZT__PAUSED_ is paused. */
ZT__PRIVATE int zt__is_paused(uint32_t what);

/* Runs a statement whose driver calls the tracer ignores. Calls of the tools interface (zet...) do not need
   this, because the loader does not trace them. */
#define ZT__INTERNAL(statement)                                                                              \
    do {                                                                                                     \
        zt__change_depth(1);                                                                                 \
        statement;                                                                                           \
        zt__change_depth(-1);                                                                                \
    } while (0)

typedef struct zt__message_text {
    ze_result_t result;
    char text[1024];
} zt__message_text;

/* Returns the block of this process, or NULL if there is none, as in a forked child that has opened nothing.
   Sets no variable of the environment: a thread may have held the C library's lock of it at the fork. */
ZT__PRIVATE zt__process *zt__find_process(void);

/* Returns the block of this process, and creates it if there is none. Returns NULL without memory. */
ZT__PRIVATE zt__process *zt__get_process(void);

/* Returns how many ZT__INTERNAL sections this thread is in. */
ZT__PRIVATE uintptr_t zt__get_depth(void);

ZT__PRIVATE void zt__change_depth(int by);
