/* Rows of attached streams are added to the samples in which they lie. Opens the timeline. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"
#include "results/timeline.h"

/* As in zt_info. */
ZT__PRIVATE uint32_t zt__get_streamed_count(const zt_profiler *profiler);

/* Returns a streamed metric whose index is below that count, and stores the number of its stream, from 1. */
ZT__PRIVATE const zt_metric *zt__streamed_metric_at(const zt_profiler *profiler, uint32_t index,
                                                    uint32_t *stream);

/* Attributes the rows of a stream that was read. Another thread may close the profiler meanwhile: it waits
   until `is_attributing` is 0. */
ZT__PRIVATE void zt__attribute_rows_of_stream(zt__stream_data *data);

/* Detaches all streams, so that threads that read them no longer use the profiler. Their data stays until all
   are detached, because a thread that attributes the rows of one stream reads those of the others. Returns 0
   if such a thread does not finish before the deadline. */
ZT__PRIVATE int zt__detach_streams(zt_profiler *profiler, uint64_t deadline);

/* Creates the timeline, and sets the functions by which the profiler calls it. If the clocks cannot be
   compared, reports this and succeeds without a timeline. On failure, the caller destroys the profiler. */
ZT__PRIVATE ze_result_t zt__open_timeline(zt_profiler *profiler);
