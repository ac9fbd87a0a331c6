/* zt_execute, and executions that a tracer observes. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"

/* Reads the samples of earlier executions of a list. With `waits`, waits for them until the deadline; else
   waits only for other threads that collect. Also resets slots of the list that are PARTIAL and complete. */
ZT__PRIVATE void zt__finish_list(zt_profiler *profiler, ze_command_list_handle_t handle, uint64_t deadline,
                                 int waits);

/* Called when a queue has been seen to be idle after the last execution on it: executions of lists that have
   overlapped there have ended, and the samples that are read next are those of the last one. */
ZT__PRIVATE void zt__note_idle_queue(zt_profiler *profiler, ze_command_queue_handle_t queue);

/* Prepares for an execution by zt_execute, or one that a tracer sees: reads the samples of the last execution
   before this one overwrites them, and moves the slots to PENDING. `queue` is NULL if it is not known. With
   `waits`, samples that are on their way are waited for. `call` is what the application has called. */
ZT__PRIVATE void zt__before_execution(zt_profiler *profiler, ze_command_queue_handle_t queue, uint32_t count,
                                      const ze_command_list_handle_t *lists, int waits, const char *call);

/* Completes zt__before_execution when it is known whether the driver has refused the execution. */
ZT__PRIVATE void zt__after_execution(zt_profiler *profiler, uint32_t count,
                                     const ze_command_list_handle_t *lists, int is_refused, const char *call);

extern ZT__THREAD_LOCAL const zt_profiler *zt__executing_for;
