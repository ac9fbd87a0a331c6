/* zt_pack and zt_unpack. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"

/* Copies the configured columns of the table, because the application's text need not outlive the call.
   Returns 0 without memory. */
ZT__PRIVATE int zt__keep_columns(zt_profiler *profiler, const zt_config *config);
