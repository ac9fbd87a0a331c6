/* The reader thread; from reports in the ring to rows with times of the host, and their delivery. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "streams/stream.h"

/* What receives the rows of one read. */
typedef struct zt__receiver {
    zt_row_fn function; /* or NULL */
    void *user;
    uint64_t row_count; /* valid rows so far, also those that were discarded */
    int has_stopped;    /* `function` has returned nonzero */
} zt__receiver;

/* Called by the reader thread. Sleeps until the device signals its event, but no longer than ten
   milliseconds, because it may signal nothing. The event is polled four times as often as it is expected. */
ZT__PRIVATE void zt__sleep_until_notified(zt_stream *stream);

/* The step of the reader thread. */
ZT__PRIVATE int zt__run_reader_thread(void *user);

/* Finds the next reports to calculate: those that lie one after the other in the ring, as many as can be
   calculated at once. Returns how many there are. */
ZT__PRIVATE uint32_t zt__find_waiting(zt_stream *stream, const uint8_t **raw);

/* Reports that reports could not be calculated, and that the next read may not begin with a whole one. */
ZT__PRIVATE void zt__report_not_calculated(zt_stream *stream, ze_result_t result, const char *call);

/* Delivers all rows that there are to the receiver, and to the profiler of an attached stream. With
   `reads_device`, reads from the device before, until it has no more; but only so many times, as it may
   always have more. */
ZT__PRIVATE void zt__deliver_all(zt_stream *stream, zt__receiver *receiver, int reads_device);
