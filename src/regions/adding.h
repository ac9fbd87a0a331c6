/* What was read and calculated is counted, and added to the statistics of its region. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"

/* Counts what has become of a reading. With the mutex held. */
ZT__PRIVATE void zt__count_reading(zt_profiler *profiler, const zt__reading *reading, double *row);
