/* How long the library itself has kept threads of the program busy. */

#pragma once

#include "base/compiler.h"
#include "regions/profiler.h"

/* Sets the time since zt_open, and for how long the library has kept threads of the program busy, as in zt_info; NaN if
   they are not known. */
ZT__PRIVATE void zt__measure_own_time(const zt_profiler *profiler, double *open_ns, double *busy_ns);
