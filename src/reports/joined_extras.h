/* What a report of several profilers has of a tracer, of streams and of an earlier run. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "reports/joining_parts.h"

/* Decides which members power and memory are taken from, before anything is. */
ZT__PRIVATE void zt__find_sources(zt__joining *joining);

/* Adds what is not added path by path. Returns 0 without memory. */
ZT__PRIVATE int zt__join_extras(zt__joining *joining);

/* Frees it. */
ZT__PRIVATE void zt__free_joined_extras(zt_profiler *joined);
