/* zt_trace_start, zt_trace_stop; zt_replace, which may create the tracer. */

#pragma once

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/system.h"
#include "tracer/tracer.h"

#ifdef ZETOOLS_TRACER

/* Makes a tracer live, with a configuration or, if it is NULL, the default. */
ZT__PRIVATE ze_result_t zt__start_tracer(zt__tracer *tracer, const zt_trace_config *given, uint32_t timeline);

/* Stops the sampling of hot spots, which depends on the tracer. While calls are still observed, measures no more
   launches, and waits for those that the application may find signalled before they are read. */
ZT__PRIVATE ze_result_t zt__stop_measuring(zt__tracer *tracer, const char *caller);

/* Stops measuring, releases the events that probes keep, and stops the tracer. At last waits for calls in progress on other threads, with a
   deadline of their own: most of them end at once, also where a launch has used up the first one. */
ZT__PRIVATE ze_result_t zt__stop_tracer(zt__tracer *tracer, const char *caller);

ZT__PRIVATE zt__tracer *zt__create_tracer(const zt_allocator *allocator, zt__diagnostics *diagnostics,
                                          uint64_t wait_timeout_ns);

/* Frees a tracer, which has no call in progress. */
ZT__PRIVATE void zt__destroy_tracer(zt__tracer *tracer);

#endif
