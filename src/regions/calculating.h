/* Rows of figures, from what was read. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"

/* Calculates the reports of the batch, and fills a row for each. The reports of a group are calculated in one
   call. If that fails, they are calculated one by one, so that a bad report loses only its own sample. No mutex
   is held. */
ZT__PRIVATE void zt__calculate_batch(zt_profiler *profiler);
