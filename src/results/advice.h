/* What limits a region, and what to do. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"
#include "results/roles.h"

/* Of a figure to the threshold of a rule. */
typedef enum zt__relation { ZT__NO_CONDITION, ZT__BELOW, ZT__AT_LEAST } zt__relation;

/* Finds what limits a region. Counters are not exact to the last percent, so only traffic of 110% of the peak or
   more shows that the peak is wrong. */
ZT__PRIVATE void zt__find_limit(zt_profiler *profiler, const zt__advice *advice, zt__subject subject,
                                zt_limit_info *info);
