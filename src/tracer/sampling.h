/* Hot spots: samples of instructions, read and added up. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"
#include "tracer/hotspots.h"

#ifdef ZETOOLS_TRACER

/* Reads and adds up what the device has. The number of reads is limited, because it may always have more. */
ZT__PRIVATE void zt__read_samples(zt__hotspots *hotspots);

ZT__PRIVATE int zt__is_sampling(const zt_profiler *profiler);

/* Locks `reading` for the configured time, if something is sampled. Returns 0 if nothing is, if another
   thread holds it for longer, or if this one does. */
ZT__PRIVATE int zt__begin_reading(zt__hotspots *hotspots);

/* Called by zt_collect. Reads, unless the library's own thread does, or another thread is reading now. */
ZT__PRIVATE void zt__collect_hotspots(zt_profiler *profiler);

/* The step of the thread that reads. */
ZT__PRIVATE int zt__run_sampling_thread(void *user);

#endif
