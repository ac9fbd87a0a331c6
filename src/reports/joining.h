/* A report of several profilers: they are joined into one that is only read. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"

/* Returns what a report of a profiler shows: the profiler itself or, if it reports for others that have results, a
   profiler made of all of them, which zt__free_joined frees. Counts, times and bytes are added up. Where there are
   several devices, each is the outermost phase of the paths of what ran on it; how often and how long the program was in
   a phase is of no device, and stands on the path of the phase without one. NULL: that has failed, which is reported. */
ZT__PRIVATE zt_profiler *zt__join_profilers(zt_profiler *profiler, const char *call, ze_result_t *result);

/* Returns whether something was measured, lost or dropped: every profiler has all phases of the program. */
ZT__PRIVATE int zt__has_regions(zt_profiler *profiler);

/* Frees a profiler that zt__join_profilers has made. Of any other, does nothing. */
ZT__PRIVATE void zt__free_joined(zt_profiler *joined);

/* Collects what is ready of all profilers that a profiler reports for, and of itself. */
ZT__PRIVATE void zt__collect_reported(zt_profiler *profiler);
