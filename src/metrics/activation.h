/* Activation of groups in a process, and calculation of raw data. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "metrics/availability.h"
#include "metrics/driver.h"
#include "metrics/groups.h"

/* Activates a group in addition to those that this process has activated. Profilers share a group; a stream
   has its group alone. Returns HANDLE_OBJECT_IN_USE if the domain is in use by a profiler or stream of this
   process that cannot share it; `holder` then names it, and is empty otherwise. */
ZT__PRIVATE ze_result_t zt__activate_group(ze_context_handle_t context, ze_device_handle_t device,
                                           const zt__group *group, int is_streamed,
                                           zt__counter_holder *holder);

/* Deactivates a group unless it has other users. The device must be that on which it was activated. */
ZT__PRIVATE ze_result_t zt__deactivate_group(ze_context_handle_t context, ze_device_handle_t device,
                                             const zt__group *group);

/* Calculates `count` reports of one group, which follow each other in `raw`. For each report, `values` has
   room for the metrics of each tile. The mutex of the process is locked, because drivers cannot calculate on
   two threads at once, not even different groups. */
ZT__PRIVATE ze_result_t zt__calculate_reports(const zt__driver *driver, const zt__group *group,
                                              const uint8_t *raw, uint32_t count, zet_typed_value_t *values);
