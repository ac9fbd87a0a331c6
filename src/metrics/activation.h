/* Activation of metric groups, once in a process. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "metrics/availability.h"
#include "metrics/groups.h"

/* Called around a call that executes lists, which is held while counters are opened and closed. */
ZT__PRIVATE void zt__begin_submission(void);

ZT__PRIVATE void zt__end_submission(void);

/* Waits until no list is being executed, and holds what would be: drivers open and close counters without a lock, and an
   activation becomes real in the next execution, whoever executes. One thread does so at a time. Neither it nor what it
   holds waits longer than a second. Nests. No mutex is held. */
ZT__PRIVATE void zt__hold_submissions(void);

ZT__PRIVATE void zt__let_submissions_go(void);

/* Activates a group in addition to those that this process has activated. Profilers share a group; a stream
   has its group alone. Returns HANDLE_OBJECT_IN_USE if the domain is in use by a profiler or stream of this
   process that cannot share it; `holder` then names it, and is empty otherwise. */
ZT__PRIVATE ze_result_t zt__activate_group(ze_context_handle_t context, ze_device_handle_t device,
                                           const zt__group *group, int is_streamed,
                                           zt__counter_holder *holder);

/* Deactivates a group unless it has other users. The device must be that on which it was activated. */
ZT__PRIVATE ze_result_t zt__deactivate_group(ze_context_handle_t context, ze_device_handle_t device,
                                             const zt__group *group);

/* Creates a pool of queries for a group: drivers open the counters for it. */
ZT__PRIVATE ze_result_t zt__create_query_pool(ze_context_handle_t context, ze_device_handle_t device,
                                              zet_metric_group_handle_t group, uint32_t count,
                                              zet_metric_query_pool_handle_t *pool);

ZT__PRIVATE void zt__destroy_query_pool(zet_metric_query_pool_handle_t pool);
