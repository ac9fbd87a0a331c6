/* What was read and calculated is counted, and added to the statistics of its path. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"

/* Makes room for `more` samples of the path of a reading and of the phases that count it. Called by the thread that
   holds the collector, without the mutex. Returns 0 without memory. */
ZT__PRIVATE int zt__reserve_room(zt_profiler *profiler, const zt__reading *reading, uint64_t more);

/* Counts what has become of a reading. With the mutex held. */
ZT__PRIVATE void zt__count_reading(zt_profiler *profiler, zt__reading *reading, double *row);

/* Adds the samples of the batch to the statistics of their paths and of the phases that count them. With the mutex
   held. */
ZT__PRIVATE void zt__add_batch(zt_profiler *profiler);

/* Adds the entries that are over to the statistics of their phases. The collector is held; the mutex is unlocked
   meanwhile. */
ZT__PRIVATE void zt__add_ended_entries(zt_profiler *profiler);

/* Does so at once, unless another thread collects: then that thread does. No mutex is held. */
ZT__PRIVATE void zt__try_add_ended_entries(zt_profiler *profiler);
