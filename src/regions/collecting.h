/* Collections, and the thread that makes them: recordings are visited, and what was read is calculated, counted and delivered. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"

/* What zt__collect_until waits for. */
typedef enum zt__goal {
    ZT__ONE_COLLECTION, /* what is ready when zt__collect_until is called is read */
    ZT__ALL_SAMPLES     /* besides, no sample that was submitted is in flight, or being delivered */
} zt__goal;

/* Collects now, from one list, or from all if `handle` is NULL, unless another thread collects. With
   config.thread, only the library's thread collects: wakes it instead. Returns whether this thread has
   collected. */
ZT__PRIVATE int zt__try_collect(zt_profiler *profiler, ze_command_list_handle_t handle);

/* Collects until the goal is reached. Returns 0 if the deadline passes first, or if this thread holds the
   collector. */
ZT__PRIVATE int zt__collect_until(zt_profiler *profiler, zt__goal goal, uint64_t deadline);

/* Requests to look at each recording that nobody has reported as executed. */
ZT__PRIVATE void zt__request_looks(zt_profiler *profiler);

/* Checks that a tracer of this profiler is still called. */
ZT__PRIVATE void zt__check_tracing(zt_profiler *profiler);

/* Looks at what nobody has reported, and collects what is ready. */
ZT__PRIVATE void zt__collect_ready(zt_profiler *profiler);

/* Reports and returns 1 if this thread holds the collector, that is, `call` was called from the sample or log
   function. */
ZT__PRIVATE int zt__refuse_inside_callback(zt_profiler *profiler, const char *call);

/* Sleeps until there is something to collect, and collects. */
ZT__PRIVATE int zt__run_collecting_thread(void *user);

/* Returns whether the caller has to wake the thread, because it sleeps for long. Only one caller gets 1. With
   the mutex held. */
ZT__PRIVATE int zt__must_wake_thread(zt_profiler *profiler);
