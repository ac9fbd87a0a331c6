/* zt_merge: statistics of several profilers. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"

/* Adds what was lost and dropped. The mutex is held. */
ZT__PRIVATE void zt__add_causes(zt_profiler *into, const uint64_t *causes, uint64_t unobserved_lists);
