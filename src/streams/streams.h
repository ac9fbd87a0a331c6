/* zt_stream_open, zt_stream_read, zt_stream_mark, zt_stream_close. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "streams/stream.h"

/* Allocates a stream, and completes its configuration. Creates nothing on the device. `given` may be NULL.
   Returns NULL without memory. */
ZT__PRIVATE zt_stream *zt__create_stream(ze_context_handle_t context, ze_device_handle_t device,
                                         const zt_stream_config *given);

/* Frees a stream, also one that is not opened completely. The profiler keeps what it shares with the
   stream. */
ZT__PRIVATE void zt__destroy_stream(zt_stream *stream);
