/* Ranges that a program announces to other tools, as phases: a stack a thread. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"

#if defined(ZETOOLS_CONNECTORS) && !defined(_WIN32)

/* A function that the program, or a library of it, looks up by name. */
#define ZT__EXPORTED __attribute__((visibility("default")))

typedef enum zt__range_kind {
    ZT__RANGE_TASK, /* the others have identifiers, and may end on another thread */
    ZT__RANGE_REGION,
    ZT__RANGE_FRAME,
    ZT__RANGE_KOKKOS
} zt__range_kind;

/* What the end of a range has in common with its begin. */
typedef struct zt__range_key {
    zt__range_kind kind;
    uint64_t domain; /* a hash of its name */
    uint64_t id[3];
} zt__range_key;

/* Begins a range of the calling thread. It is a phase, unless phases are paused. */
ZT__PRIVATE void zt__begin_range(const zt__range_key *key, const char *name);

/* Ends the innermost range with this key, which lasts until those in it have ended, too. Returns 0 if this thread has not
   begun it: then the thread that has ends it, unless it is a task, when it next begins or ends a range. */
ZT__PRIVATE int zt__end_range(const zt__range_key *key);

/* Counts a range that is no phase, or ends on another thread. The first is named by a message at exit. Names may be
   NULL. */
ZT__PRIVATE void zt__note_range(const char *name, const char *domain);

/* Keeps this code loaded, and prints what zt__note_range has noted at exit. Later calls have no effect. */
ZT__PRIVATE void zt__start_ranges(void);

/* Pauses, or resumes, both or one of ZT__PAUSED_PHASES and ZT__PAUSED_LAUNCHES. */
ZT__PRIVATE void zt__pause(uint32_t what, int is_paused);

#endif
