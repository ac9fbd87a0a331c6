/* What becomes of samples in flight when a profiler is closed, or its context is destroyed. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"

/* Deactivates the metric groups of a profiler. A tracer that is live holds executions meanwhile. */
ZT__PRIVATE void zt__release_counters(zt_profiler *profiler);

/* Leaves the lists that are not known to be reset or destroyed to the application, which may go on executing them unseen:
   what is on its way there is lost, and what the device may write to is never freed. Returns how many probes have
   something there. No other thread uses the profiler. */
ZT__PRIVATE uint64_t zt__leave_lists(zt_profiler *profiler);

/* Destroys the events and queries of a profiler, which measures nothing any more. Its samples have been collected or
   abandoned. No other thread uses it. */
ZT__PRIVATE void zt__destroy_probes(zt_profiler *profiler);

/* Releases everything of the device, and keeps the results. The profiler is registered again, and so has
   another identifier: zt_end does nothing for regions that were begun before. */
ZT__PRIVATE void zt__detach_profiler(zt_profiler *profiler);

/* Releases nothing, because the context may be destroyed already, and keeps the results. Samples in flight are lost.
   `call` as below. */
ZT__PRIVATE void zt__leave_device(zt_profiler *profiler, const char *call);

/* Counts what is still in flight: regions that are not ended are dropped, and samples on their way are lost.
   Marks what the device may still write to. By the conditions of zt_close, a recording that was read, or not seen
   to run, is not running. `call` is zt_close, or the call that destroys the context of the profiler. */
ZT__PRIVATE void zt__abandon_recordings(zt_profiler *profiler, const char *call);

/* Collects until nothing is known to be on its way, also no region that was dropped, but no longer than the
   configured time. */
ZT__PRIVATE void zt__collect_what_runs(zt_profiler *profiler);
