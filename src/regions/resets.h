/* zt_release and zt_reset: lists whose commands never run again. Their slots are freed by the next collection. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"
#include "regions/regions.h"

/* How a list ends. */
typedef enum zt__list_end {
    ZT__BY_RESET,
    ZT__BY_RELEASE, /* or because its handle has come back */
    ZT__BY_DESTROY  /* and its handle may have come back since then */
} zt__list_end;

/* Updates what is known about a list when it is reset or destroyed. Slots that have ended are final, and the
   next collection frees them. Open regions are dropped. */
ZT__PRIVATE void zt__mark_list_final(zt_profiler *profiler, ze_command_list_handle_t handle, zt__list_end by,
                                     const char *call);
