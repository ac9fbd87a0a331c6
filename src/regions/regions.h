/* zt_begin and zt_end. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"

/* Queries whether a list is immediate. Returns UNKNOWN with loaders before 1.16, which lack the call. Each
   zt_begin queries it, because a handle can come back as a list of another kind. */
ZT__PRIVATE zt__list_state zt__query_list_kind(const zt_profiler *profiler, ze_command_list_handle_t handle);

/* Drops an open region. If it has commands on the list, the slot stays bound to the list. With the mutex
   held. */
ZT__PRIVATE void zt__drop_open_slot(zt_profiler *profiler, zt__slot *slot, zt_cause cause, int has_commands);

/* Opens a region, without commands. With `times_alone`, it has no metrics. If it is dropped, `slot` is NULL,
   and the cause was reported, but for a lost device, which is reported where that is noticed. */
ZT__PRIVATE zt_region zt__begin_region(zt_profiler *profiler, ze_command_list_handle_t list,
                                       zt__list_state kind, const char *name, int times_alone);

/* As zt_begin, on a list of this kind. */
ZT__PRIVATE zt_region zt__begin_on(zt_profiler *profiler, ze_command_list_handle_t list, zt__list_state kind,
                                   const char *name, int times_alone);

/* Ends a region. With `refused`, there is no sample: the driver has refused the command in the region. */
ZT__PRIVATE void zt__end(zt_region *region, int refused);
