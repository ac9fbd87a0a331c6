/* zt_stream_open, zt_stream_read, zt_stream_mark, zt_stream_close. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "streams/stream.h"

/* Frees a stream, also one that is not opened completely. The profiler keeps what it shares with the stream.
 */
ZT__PRIVATE void zt__destroy_stream(zt_stream *stream);
