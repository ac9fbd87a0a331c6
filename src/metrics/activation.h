/* Activation of metric groups, once in a process. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "metrics/availability.h"
#include "metrics/groups.h"

/* Called around a call that executes lists. Groups are not activated meanwhile: drivers do not expect that. */
ZT__PRIVATE void zt__begin_submission(void);

ZT__PRIVATE void zt__end_submission(void);

/* Activates a group in addition to those that this process has activated. Profilers share a group; a stream
   has its group alone. Returns HANDLE_OBJECT_IN_USE if the domain is in use by a profiler or stream of this
   process that cannot share it; `holder` then names it, and is empty otherwise. */
ZT__PRIVATE ze_result_t zt__activate_group(ze_context_handle_t context, ze_device_handle_t device,
                                           const zt__group *group, int is_streamed,
                                           zt__counter_holder *holder);

/* Deactivates a group unless it has other users. The device must be that on which it was activated. */
ZT__PRIVATE ze_result_t zt__deactivate_group(ze_context_handle_t context, ze_device_handle_t device,
                                             const zt__group *group);
