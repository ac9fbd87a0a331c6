/* Counters of a trace: power, and memory in use. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "base/writer.h"
#include "regions/profiler.h"

enum {
    ZT__COUNTER_DIGITS = 5,    /* of the values of counters */
    ZT__COUNTER_EVENTS = 80000 /* the most of a kind in a trace. Beyond that, rows are merged */
};

/* Writes the value of a counter from a time on, unless it is not known. */
ZT__PRIVATE void zt__write_counter(zt__writer *writer, long device, const char *name, uint64_t ns,
                                   double value);

/* Writes what was read with config.power. A value holds from one step to the next. */
ZT__PRIVATE void zt__write_power(zt_profiler *profiler, zt__writer *writer, long device);

#ifdef ZETOOLS_TRACER

/* Writes the memory in use. If there are more changes than ZT__COUNTER_EVENTS, each stands for several, the highest of
   them, but the last, which stands alone. */
ZT__PRIVATE void zt__write_memory_counters(zt_profiler *profiler, zt__writer *writer, long device);
#endif
