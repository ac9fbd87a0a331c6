/* ZT_PASSES: activates the groups of one pass after another. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"

/* Tries again to return to the groups of the first pass, if that has failed after ZT_PASSES. */
ZT__PRIVATE void zt__return_to_first_pass(zt_profiler *profiler);
