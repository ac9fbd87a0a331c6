/* zt_execute, and executions that a tracer observes. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"

/* Called when a queue has been seen to be idle after the last execution on it: overlapping executions of lists
   have ended there, and what is read next is the last of them. */
ZT__PRIVATE void zt__note_idle_queue(zt_profiler *profiler, ze_command_queue_handle_t queue);

/* Called when a tracer stops: from now on, lists may be reset or destroyed unseen. */
ZT__PRIVATE void zt__note_unseen_resets(zt_profiler *profiler);

/* Called before lists are executed by zt_execute, or as a tracer sees: reads what the execution would overwrite.
   `queue` is NULL if it is not known. With `waits`, samples that are on their way are waited for. `by_tracer`: a
   tracer has seen it. `call` is what the application has called. */
ZT__PRIVATE void zt__before_execution(zt_profiler *profiler, ze_command_queue_handle_t queue, uint32_t count,
                                      const ze_command_list_handle_t *lists, int waits, int by_tracer,
                                      const char *call);

/* Called when the driver has accepted or refused the execution. */
ZT__PRIVATE void zt__after_execution(zt_profiler *profiler, ze_command_queue_handle_t queue, uint32_t count,
                                     const ze_command_list_handle_t *lists, int is_refused, const char *call);

extern ZT__THREAD_LOCAL const zt_profiler *zt__executing_for;
