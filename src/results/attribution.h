/* Rows of attached streams within samples; opening and closing a timeline. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"
#include "results/timeline.h"

/* Returns the attached stream after `before`, or the first if that is NULL; NULL at the end. The data of
   streams stays until the profiler is closed. `group` and `metrics` may be read without a lock. */
ZT__PRIVATE zt__stream_data *zt__next_attached_stream(zt_profiler *profiler, zt__stream_data *before);

/* Attributes the rows of a stream that was read. Another thread may close the profiler meanwhile: it waits
   until `is_attributing` is 0. */
ZT__PRIVATE void zt__attribute_rows_of_stream(zt__stream_data *data);

/* Detaches all streams, so that threads that read them no longer use the profiler. Their data stays until all
   are detached, because a thread that attributes the rows of one stream reads those of the others. Returns 0
   if such a thread does not finish before the deadline. */
ZT__PRIVATE int zt__detach_streams(zt_profiler *profiler, uint64_t deadline);

/* Releases the timeline and the data of the streams, which are detached. */
ZT__PRIVATE void zt__close_timeline(zt_profiler *profiler);

/* If the clocks cannot be compared, reports this and succeeds without a timeline. On failure, the caller
   destroys the profiler. */
ZT__PRIVATE ze_result_t zt__open_timeline(zt_profiler *profiler);
