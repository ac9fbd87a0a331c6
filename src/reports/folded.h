/* run.folded: stacks of nested regions, for flame graphs. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "reports/facts.h"

/* Writes a line for each path: the names of the regions on it, and its own time in nanoseconds. Where that is
   not known, it is estimated from the samples that were collected, and the last frame is "(estimate)". The own
   time of a kernel with hot spots is divided among these. If no path has a time, the hot spots are written with
   their numbers of samples. */
ZT__PRIVATE void zt__write_folded(zt__document *document);
