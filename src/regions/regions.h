/* zt_begin and zt_end. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"

/* Queries whether a list is immediate. Returns UNKNOWN with loaders before 1.16, which lack the call. */
ZT__PRIVATE zt__list_kind zt__query_list_kind(const zt_profiler *profiler, ze_command_list_handle_t handle);

/* Opens a region, without commands. `kind` is UNKNOWN if the driver is to be asked. With `times_alone`, it has
   no metrics. If it is dropped, `probe` is NULL, and the cause was reported, but for a lost device, which is
   reported where that is noticed. */
ZT__PRIVATE zt_region zt__begin_region(zt_profiler *profiler, ze_command_list_handle_t list,
                                       zt__list_kind kind, const char *name, int times_alone);

/* Appends the commands with which a region begins. If the driver refuses them, the region is dropped, and
   `probe` is NULL. */
ZT__PRIVATE void zt__append_begin(zt_profiler *profiler, zt_region *region);

/* Ends a region. With `refused`, there is no sample: the driver has refused the command in the region. `by_tracer`:
   the tracer has begun it. */
ZT__PRIVATE void zt__end(zt_region *region, int refused, int by_tracer);
