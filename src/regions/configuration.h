/* Completes configurations: the environment and the defaults. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"

enum { ZT__MAX_SAMPLES = 1 << 20 }; /* that config.samples keeps of a path at the most */

/* Returns the application's configuration, which may be NULL, with the environment and the defaults. */
ZT__PRIVATE zt_config zt__complete_config(const zt_config *given);

/* Returns whether this is a value of ZT_PHASES_AT. NULL is none. */
ZT__PRIVATE int zt__is_phases_at(const char *value);

/* Copies the configured columns of the table, because the application's text need not outlive the call.
   Returns 0 without memory. */
ZT__PRIVATE int zt__keep_columns(zt_profiler *profiler, const zt_config *config);
