/* How long calls of the library keep threads of the program busy. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "base/threads.h"

/* Of calls of one kind. Their first sixteen are measured, and then one in sixteen, which stands for sixteen. */
typedef struct zt__busy_calls {
    uint32_t count; /* atomic; not exact where threads meet. It wraps */
    uint64_t ns;    /* estimated, of all; guarded by the owner's mutex */
} zt__busy_calls;

/* The timing of a call: without other timings inside of it, and without what happens while it is paused. */
typedef struct zt__timing {
    uint32_t weight;    /* for how many calls it stands; 0: this one is not measured */
    uint64_t since_ns;  /* when it was started or resumed, */
    uint64_t before_ns; /* and zt__spent_ns at that time */
    uint64_t ns;        /* so far */
} zt__timing;

/* Starts the timing of a call, if it is one of those to measure. `count` is that of zt__busy_calls. */
ZT__PRIVATE void zt__start_timing(uint32_t *count, zt__timing *timing);

/* Starts a timing that stands for itself: of what is slow and seldom. */
ZT__PRIVATE void zt__start_slow_timing(zt__timing *timing);

ZT__PRIVATE void zt__pause_timing(zt__timing *timing);

ZT__PRIVATE void zt__resume_timing(zt__timing *timing);

/* Ends a timing that is not paused, and adds it to that of all calls. */
ZT__PRIVATE void zt__end_timing(zt__busy_calls *calls, zt__mutex *mutex, zt__timing *timing);
