/* What becomes of samples in flight when a profiler is closed, or its context is destroyed. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"

/* Releases everything of the device, and keeps the results. The profiler is registered again, and so has
   another identifier: zt_end does nothing for regions that were begun before. */
ZT__PRIVATE void zt__detach_profiler(zt_profiler *profiler);

/* Counts the samples that are still in flight. Regions that are not ended are dropped, samples on their
   way are lost, and recorded regions that never ran are no longer counted as begun. Slots that the device
   may still write to become RETIRED. An ARMED slot has run, and by the conditions of zt_close its list is
   not running. `call` is zt_close, or the call that destroys the context of the profiler. */
ZT__PRIVATE void zt__abandon_slots(zt_profiler *profiler, const char *call);

/* Collects until no region is known to be on its way, also none that was dropped, but no longer than the
   configured time. Recorded regions whose execution is not submitted are waited for only briefly, because
   most likely they will never run. */
ZT__PRIVATE void zt__collect_what_runs(zt_profiler *profiler);
