/* Events of the application, before and after calls that create, signal, reset or destroy them. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "tracer/frames.h"
#include "tracer/tracer.h"

#ifdef ZETOOLS_TRACER

/* Called before a pool is created: adds kernel time stamps to its events, if they may be borrowed. */
ZT__PRIVATE void zt__before_pool_create(zt__frame *frame);

ZT__PRIVATE void zt__after_pool_create(zt__frame *frame);

/* The handle may be that of an earlier event, the destruction of which was not observed: a hook may destroy it,
   or it went with its pool. A counter-based event has no pool, and is never borrowed. */
ZT__PRIVATE void zt__after_event_create(zt__frame *frame);

/* Called before the host resets or signals an event. Both calls have the same parameters. */
ZT__PRIVATE void zt__before_event_change(zt__frame *frame);

/* Called before a reset of an event is appended. */
ZT__PRIVATE void zt__before_event_reset(zt__frame *frame);

ZT__PRIVATE void zt__before_event_destroy(zt__frame *frame);

/* The driver may destroy events of the pool that the application has not destroyed. */
ZT__PRIVATE void zt__before_pool_destroy(zt__frame *frame);

/* Returns borrowed events: those of a pool, of a context, or for launches on a list; with NULL for each, all. Time
   stamps of launches that have ended are saved; samples of others are lost. No mutex is held. */
ZT__PRIVATE void zt__return_events(zt__tracer *tracer, const void *pool, ze_context_handle_t context,
                                   ze_command_list_handle_t list);

/* The `return_events` of a profiler. */
ZT__PRIVATE void zt__return_events_of_list(zt_profiler *profiler, ze_command_list_handle_t list);

/* Returns whether an event can be borrowed now. */
ZT__PRIVATE int zt__can_be_borrowed(zt__tracer *tracer, ze_event_handle_t event);

/* How a command without metrics is measured; launches.c has the rules. */
typedef enum zt__measurement { ZT__BARRIERS, ZT__OWN, ZT__BORROWED } zt__measurement;

/* Decides how a launch is measured that signals an event. With BORROWED, the probe has borrowed the event, which then
   measures the launch; with BARRIERS, `*obstacle` is why not. The launch is not appended yet, so nobody reads the event.
   The driver may be queried. With `is_once`, the launch signals its event once. */
ZT__PRIVATE zt__measurement zt__borrow_event(zt__tracer *tracer, ze_event_handle_t event,
                                             zt_profiler *profiler, zt__probe *probe,
                                             const zt__known_list *list, int is_once,
                                             zt_serialised *obstacle);

/* Called when the driver has refused the launch. */
ZT__PRIVATE void zt__return_refused_event(zt__tracer *tracer, ze_event_handle_t event);

/* Called before a command is appended that signals an event, and is not measured by it. `is_once`: it does so
   once. */
ZT__PRIVATE void zt__note_signal(zt__tracer *tracer, ze_event_handle_t event, int is_once);

/* A launch that signals an event of the application, with time stamps. */
extern const zt__way zt__by_borrowed_event;

/* The same, with a signal of the event of the probe after it. */
extern const zt__way zt__by_marked_event;

#endif
