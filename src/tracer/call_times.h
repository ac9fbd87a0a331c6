/* Host times of calls. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "metrics/statistics.h"
#include "tracer/calls.h"
#include "tracer/tracer.h"

#ifdef ZETOOLS_TRACER

ZT__PRIVATE void zt__free_timed_call(const zt_allocator *allocator, zt__timed_call *timed);

/* Adds one execution of a call to its statistics, and to the newest calls of the timeline. All memory for the
   statistics of a call is allocated at once, because samples are added under the mutex. No mutex is held. */
ZT__PRIVATE void zt__count_call(zt__tracer *tracer, zt__call call, uint64_t begin_ns, uint64_t end_ns,
                                ze_result_t result);

/* Starts the statistics of all calls anew. No mutex is held. */
ZT__PRIVATE void zt__clear_calls(zt__tracer *tracer);

extern const zt__sample_layout zt__call_layout;

#endif
