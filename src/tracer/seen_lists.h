/* Lists, queues and contexts, before and after calls. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"
#include "tracer/frames.h"
#include "tracer/tracer.h"

#ifdef ZETOOLS_TRACER

ZT__PRIVATE void zt__after_list_create(zt__frame *frame);

/* After a call that changes whether the commands of a list can be measured. */
ZT__PRIVATE void zt__after_list_change(zt__frame *frame);

/* Returns whether a launch that signals an event of the application has not been read yet, and is measured by
   this event or has commands of the library after it: on a list, or on any if `handle` is NULL. */
ZT__PRIVATE int zt__has_unread_launches(zt_profiler *profiler, ze_command_list_handle_t handle);

ZT__PRIVATE void zt__before_list_reset(zt__frame *frame);

ZT__PRIVATE void zt__after_list_reset(zt__frame *frame);

/* The driver may refuse. So a list is over only after the call, when its handle may already be that of a new
   list: then zt__after_list_create has closed what was on the old one. */
ZT__PRIVATE void zt__before_list_destroy(zt__frame *frame);

ZT__PRIVATE void zt__after_list_destroy(zt__frame *frame);

/* Called before and after lists are executed. `result` is NULL before. An execution by zt_execute is left out
   for its own profiler, for which zt_execute does the same. */
ZT__PRIVATE void zt__observe_execution(zt__frame *frame, const ze_result_t *result);

ZT__PRIVATE void zt__before_execute(zt__frame *frame);

ZT__PRIVATE void zt__before_queue_synchronize(zt__frame *frame);

/* Called after a queue was synchronised: it is idle, unless lists were executed meanwhile. */
ZT__PRIVATE void zt__after_queue_synchronize(zt__frame *frame);

/* The application may destroy a queue as soon as its own events have signalled, so this waits for commands of
   the library that follow them. */
ZT__PRIVATE void zt__before_queue_destroy(zt__frame *frame);

/* Under zt_auto, the profilers of the context collect, destroy their objects of it, and keep their results
   for the report. */
ZT__PRIVATE void zt__before_context_destroy(zt__frame *frame);

#endif
