/* Activation of the groups of a pass, and the first query, which shows whether they work. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "metrics/availability.h"
#include "regions/profiler.h"

ZT__PRIVATE void zt__deactivate_groups(zt_profiler *profiler, const zt__pass *pass, uint32_t count);

/* Activates all groups of a pass, or none. On HANDLE_OBJECT_IN_USE, `holder` names who uses the counters. */
ZT__PRIVATE ze_result_t zt__activate_groups(zt_profiler *profiler, const zt__pass *pass,
                                            zt__counter_holder *holder);

/* Activates the groups of a pass, makes its probes, and runs its first query, which makes the activation real: until then,
   executions are held. On failure, no group is active, and `*call` is the call that failed; as for zt__activate_groups,
   `holder` names who uses the counters. */
ZT__PRIVATE ze_result_t zt__activate_pass(zt_profiler *profiler, zt__pass *pass, zt__counter_holder *holder,
                                          const char **call);

/* Destroys what the first query of a pass was made of, if it was not complete in time and is now, or will be
   before the deadline. Returns 0 while the device may still use it. */
ZT__PRIVATE int zt__finish_first_query(zt_profiler *profiler, zt__pass *pass, uint64_t deadline);

/* Runs one query of each group on a command list of its own, on a queue of the first group of queues that can
   compute. Drivers complete an activation in the first execution that uses it, and take no lock there. So
   that execution has to finish before several threads use the groups. If it fails, regions are still
   measured. Without groups, it is a barrier, of which `*stamps` gets the kernel time stamps. Returns whether
   it has run. What the device may still use after the configured time is kept with the pass, for
   zt__finish_first_query(). */
ZT__PRIVATE int zt__run_first_query(zt_profiler *profiler, zt__pass *pass,
                                    ze_kernel_timestamp_result_t *stamps);
