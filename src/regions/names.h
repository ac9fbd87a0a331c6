/* Regions by name, paths, lists by handle, and names of lists. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"

/* The region that stands, in each phase and in none, for those that are begun on more than ZT__MAX_PATHS paths. */
#define ZT__OTHER_REGION "(other)"

ZT__PRIVATE const char *zt__shown_name(const char *name);

/* What follows is called with the mutex held. What adds something unlocks it while memory is allocated. */

/* Returns the region with this name if it was begun last time, too, after the latest region of a list; else NULL. The
   list may be NULL. */
ZT__PRIVATE zt__region_record *zt__guess_region(const zt__list *list, const char *name);

/* Returns the region with this name, added if it is new; or NULL and the cause if it cannot be added. */
ZT__PRIVATE zt__region_record *zt__find_or_add_region(zt_profiler *profiler, const char *name,
                                                      zt_cause *cause);

/* The same of a phase. A region and a phase may have the same name. */
ZT__PRIVATE zt__region_record *zt__find_or_add_phase_record(zt_profiler *profiler, const char *name,
                                                            zt_cause *cause);

/* Returns a path by its index. Paths are in blocks, so that they need not move. */
ZT__PRIVATE zt__path *zt__path_at(const zt_profiler *profiler, uint32_t index);

ZT__PRIVATE int zt__is_phase_or_root(const zt__path *path);

/* Returns the phase of a path, or the root. */
ZT__PRIVATE zt__path *zt__phase_of(zt__path *path);

/* Returns the path of a region inside another path, added if it is new, or NULL without memory. If regions
   are nested too deeply, such as where many are never ended, it is that of the region in their phase, inside no other. If
   there are too many paths, it is that, too, or else the path of ZT__OTHER_REGION in their phase; for a phase then
   returns `outer`. */
ZT__PRIVATE zt__path *zt__find_or_add_path(zt_profiler *profiler, zt__path *outer, zt__region_record *region);

/* Returns NULL if there is none. */
ZT__PRIVATE zt__list *zt__find_list(zt_profiler *profiler, ze_command_list_handle_t handle);

/* Adds a list that zt__find_list has not found. Returns NULL without memory. */
ZT__PRIVATE zt__list *zt__add_list(zt_profiler *profiler, ze_command_list_handle_t handle);
