/* Creates, frees and registers profilers. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"

/* Returns a profiler that measures nothing yet, or NULL without memory. */
ZT__PRIVATE zt_profiler *zt__create_profiler(const zt_config *complete);

ZT__PRIVATE void zt__free_profiler(zt_profiler *profiler);

/* Adds a profiler to those of the process, so that zt_end recognises a region whose profiler is closed.
   Returns 0 if there are too many, or the process has no block. */
ZT__PRIVATE int zt__register_profiler(zt_profiler *profiler);

/* Returns whether a profiler is open in this process. Profilers of the parent process are not. */
ZT__PRIVATE int zt__is_registered(const zt_profiler *profiler);

/* Returns the open profiler with this identifier, or NULL. Looks at no other profiler, because another thread
   may be closing it. */
ZT__PRIVATE zt_profiler *zt__find_profiler(uint32_t id);

ZT__PRIVATE void zt__unregister_profiler(zt_profiler *profiler);
