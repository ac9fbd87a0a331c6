/* Counters of a trace: power, and memory in use. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "reports/trace_sink.h"

enum {
    ZT__COUNTER_DIGITS = 5,    /* of the values of counters */
    ZT__COUNTER_EVENTS = 80000 /* the most of a kind in a trace. Beyond that, rows are merged */
};

/* Writes what was read with config.power. A value holds from one step to the next. */
ZT__PRIVATE void zt__write_power(zt__trace_sink *sink, zt_profiler *reader, uint32_t number);

#ifdef ZETOOLS_TRACER

/* Writes the memory in use. If there are more changes than ZT__COUNTER_EVENTS, each stands for several, the highest of
   them, but the last, which stands alone. */
ZT__PRIVATE void zt__write_memory_counters(zt__trace_sink *sink, zt_profiler *watcher, uint32_t number);
#endif
