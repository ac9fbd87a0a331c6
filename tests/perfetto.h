/* Traces in Perfetto's own format, read by a library for Protocol Buffers. */
#ifndef TESTS_PERFETTO_H
#define TESTS_PERFETTO_H

#include "fixture.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether Python has that library: Debian's package python3-protobuf. */
int can_read_perfetto(void);

/* Runs check_perfetto.py with arguments for the shell, and returns what it prints. Fails where it does. */
const char *check_perfetto(const char *arguments);

/* Writes the trace of a profiler in Perfetto's format, and compares it with the one in JSON, which was written just now.
   Time is held: else each report compares the clocks, and places on the timeline what was measured last anew.
   Returns what check_perfetto.py prints; "" where it cannot read the trace. */
const char *compare_with_perfetto(const zt_profiler *profiler, const char *trace);

/* The same, with a trace in JSON that is written now. */
const char *compare_traces(const zt_profiler *profiler);

#ifdef __cplusplus
}
#endif

#endif
