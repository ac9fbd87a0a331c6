/* Hot spots where the device cannot sample: threads are stopped and looked at. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "streams/stream.h"
#include "tracer/hotspots.h"

#ifdef ZETOOLS_TRACER

#ifdef ZETOOLS_DEBUG

/* Ends what zt__start_stops has begun. Closing the debugger resumes all threads. */
ZT__PRIVATE void zt__end_stops(zt__hotspots *hotspots);

/* The only step of the thread. Stops all threads of the device, reads where they are, resumes them, and adds
   a sample to each address, until they cannot be stopped or resumed any more. Holds `reading` for each stop,
   so that no kernel is destroyed meanwhile. It ends the stops itself: at exit nothing else would acknowledge
   events, for which the program might wait. */
ZT__PRIVATE int zt__run_stopping_thread(void *user);
#endif

/* Prepares a stream without a streamer, whose thread stops threads of the device: attaches to this process.
 */
ZT__PRIVATE ze_result_t zt__start_stops(zt__hotspots *hotspots, zt_stream *stream);

#endif
