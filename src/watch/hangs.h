/* Which regions run too long, and the report of a hang. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"
#include "watch/watch.h"

#ifdef ZETOOLS_DEBUG

/* Finds the first region of a list that the device has not finished, and records in the list which it is and
   since when. Returns 0 if there is none.

   Probes are queried without the mutex. One may be collected and used again meanwhile, but it lives until
   zt_close. */
ZT__PRIVATE int zt__find_running(zt_profiler *profiler, ze_command_list_handle_t handle,
                                 zt__running *running);

/* Returns whether a region is still the first of its list that the device has not finished. */
ZT__PRIVATE int zt__still_runs(zt__watch *watch, const zt__running *running);

/* Reports that a region hangs, with the first regions of the lists that have work: those of `watch->running`. */
ZT__PRIVATE void zt__report_hang(zt__watch *watch, const zt__running *hang, uint32_t running_count);

/* Returns whether a region has run too long. */
ZT__PRIVATE int zt__has_hung(const zt__watch *watch, const zt__running *running, uint64_t now);

#endif
