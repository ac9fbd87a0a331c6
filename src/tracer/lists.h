/* Devices and lists that are measured. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"
#include "tracer/tracer.h"

#ifdef ZETOOLS_TRACER

/* Adds a device to the end of the tracer's list. Copy engines are the queue groups that cannot execute metric
   queries. Called by one thread at a time, while others may read. Returns NULL without memory. */
ZT__PRIVATE zt__traced_device *zt__add_device(zt__tracer *tracer, ze_context_handle_t context,
                                              ze_device_handle_t device, zt_profiler *profiler);

ZT__PRIVATE int zt__is_measured(const zt__traced_device *device);

/* Returns the next device that is measured, or the first if `device` is NULL. Returns NULL after the last. */
ZT__PRIVATE zt__traced_device *zt__next_measured(zt__tracer *tracer, zt__traced_device *device);

/* Returns the record of a context and device, or NULL if nothing measures their lists. Under zt_auto, a
   profiler is opened for those that are new. If that fails, they are added without one, so that it is not
   tried again. */
ZT__PRIVATE zt__traced_device *zt__find_or_open_device(zt__tracer *tracer, ze_context_handle_t context,
                                                       ze_device_handle_t device);

/* Called when the context is destroyed that sampled the instructions of a device for zt_auto. Another one of the device
   goes on, if there is one. */
ZT__PRIVATE void zt__sample_in_another_context(zt__tracer *tracer, ze_device_handle_t device);

/* Returns the record of a list, with what is known now. `device` is NULL if the list is not measured. The
   mutex is held. Returns NULL without memory. */
ZT__PRIVATE zt__known_list *zt__remember_list(zt__tracer *tracer, ze_command_list_handle_t list,
                                              zt__traced_device *device, uint32_t ordinal);

/* Adds the record of a list that was created before the start, for which the driver is queried. If it cannot
   return context and device, the list is assumed to be of the profiler's, or of the first device under
   zt_auto if there is no second. Does nothing if there is a record. No mutex is held. */
ZT__PRIVATE void zt__query_unknown_list(zt__tracer *tracer, ze_command_list_handle_t list);

#endif
