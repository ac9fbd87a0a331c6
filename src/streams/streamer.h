/* Opens the driver's streamer, and reads its reports into the ring. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "streams/stream.h"

/* Finds the configured group; if none is configured, ComputeBasic, or else the first that is time-based. For
   hot spots, the one that samples instructions. Refuses a device with several tiles, whose reports have a
   header, so that only one at a time could be calculated. */
ZT__PRIVATE ze_result_t zt__find_stream_group(zt_stream *stream);

/* Loads the metrics, and finds those from which a row has its time, length and marker. */
ZT__PRIVATE ze_result_t zt__load_stream_metrics(zt_stream *stream);

/* Allocates config.memory_limit: up to a quarter for calculated values, the rest for reports. Rows that are
   kept for a profiler need more than that. */
ZT__PRIVATE ze_result_t zt__make_room_for_rows(zt_stream *stream);

/* Activates the group, relates the clock of its metrics to that of the host, and starts sampling. If the
   driver does not describe this clock, or cannot read it, the clock of the device is used. If that cannot be
   read either, rows are assumed to follow each other from now on, a period each. */
ZT__PRIVATE ze_result_t zt__open_streamer(zt_stream *stream);

/* Reads until the device has no more, or the ring has no room, but at most a few times. Returns whether the
   device may have more. */
ZT__PRIVATE int zt__fill_ring(zt_stream *stream);

/* Returns whether the device has signalled its event since the last call. The event is polled, because a wait
   in the driver may be a busy wait. */
ZT__PRIVATE int zt__was_notified(zt_stream *stream);
