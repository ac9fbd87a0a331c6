/* zt_execute, and executions that a tracer observes. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"

/* Called when the application has waited for a queue, or for an immediate list, and has executed nothing since:
   executions that overlapped there have ended, and the last of them can be read. */
ZT__PRIVATE void zt__note_idle(zt_profiler *profiler, const void *runs_on);

/* Called when a tracer stops: from now on, lists may be reset or destroyed unseen. */
ZT__PRIVATE void zt__note_unseen_resets(zt_profiler *profiler);

/* Called before lists are executed by zt_execute, or as a tracer sees: reads what the execution would overwrite.
   `queue` is NULL if it is not known. With `waits`, samples that are on their way are waited for. `by_tracer`: a
   tracer has seen it. `call` is what the application has called. */
ZT__PRIVATE void zt__before_execution(zt_profiler *profiler, ze_command_queue_handle_t queue, uint32_t count,
                                      const ze_command_list_handle_t *lists, int waits, int by_tracer,
                                      const char *call);

/* Called when the driver has accepted or refused the execution on a queue or on an immediate list. */
ZT__PRIVATE void zt__after_execution(zt_profiler *profiler, const void *runs_on, uint32_t count,
                                     const ze_command_list_handle_t *lists, int is_refused, const char *call);

extern ZT__THREAD_LOCAL const zt_profiler *zt__executing_for;
