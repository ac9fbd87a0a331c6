/* zt_release and zt_reset: lists whose commands never run again. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"

/* How a list ends. */
typedef enum zt__list_end {
    ZT__BY_RESET,
    ZT__BY_RELEASE, /* or because its handle has come back */
    ZT__BY_DESTROY  /* and its handle may have come back since then */
} zt__list_end;

/* Closes the recording of a list that is reset or destroyed. Open regions are dropped. */
ZT__PRIVATE void zt__end_list(zt_profiler *profiler, ze_command_list_handle_t handle, zt__list_end by,
                              const char *call);
