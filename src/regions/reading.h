/* A visit to a recording: what has ended is read and reset. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/deciding.h"
#include "regions/profiler.h"

/* One visit to a recording: what it starts from, and what it finds. */
typedef struct zt__visit {
    zt__recording *recording;
    zt__probe *first, *last; /* its probes that were not read, when the visit began */
    int reads_front;  /* it is OPEN, and its list may be immediate: what has ended is read from the front */
    int is_over;      /* of a queue: the device is done with all of it */
    uint32_t counted; /* samples that were read, and were counted as begun before */
    int finds_run;    /* an execution that nobody has reported */
    zt__asked asked;  /* whether the execution has ended */
    int settles;      /* at least one probe */
} zt__visit;

/* Reads the probes of a recording that is READING, if its last execution has ended, and resets them. If its list may
   be immediate, reads what has ended at its front. Returns 0 if the batch had no room for what else may have ended.
   Only the collector does this, without the mutex. */
ZT__PRIVATE int zt__visit_recording(zt_profiler *profiler, zt__visit *visit);

/* Reads what has ended of a queue. Stops at the first probe in order that has not ended; polls up to 32 of those that
   are not in order. A probe that does not show its end has ended when one in order after it has. As
   zt__visit_recording otherwise. */
ZT__PRIVATE int zt__visit_front(zt_profiler *profiler, zt__visit *visit);

/* Returns whether the device is done with the execution of a recording: SUCCESS, NOT_READY, or the result of
   the call that failed. What is OPEN or READY may be queried, too. No mutex is held. */
ZT__PRIVATE ze_result_t zt__query_end(zt_profiler *profiler, const zt__recording *recording,
                                      zt__probe **polled, const char **call);

/* Ensures that `*memory` has room for `count` elements. Its contents are lost. Returns 0 without memory. */
ZT__PRIVATE int zt__ensure_room(const zt_profiler *profiler, void **memory, size_t *held, size_t count,
                                size_t size);

ZT__PRIVATE void zt__lose(zt__reading *reading, zt_cause cause);
