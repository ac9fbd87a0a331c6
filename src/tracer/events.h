/* Events of the application, before and after calls that create, signal, reset or destroy them. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "tracer/frames.h"
#include "tracer/tracer.h"

#ifdef ZETOOLS_TRACER

/* Called before a pool is created: adds kernel time stamps to its events, if slots may keep them. */
ZT__PRIVATE void zt__before_pool_create(zt__frame *frame);

ZT__PRIVATE void zt__after_pool_create(zt__frame *frame);

/* The handle may be that of an earlier event, the destruction of which was not observed: a hook may destroy it,
   or it went with its pool. A counter-based event has no pool, and is never kept. */
ZT__PRIVATE void zt__after_event_create(zt__frame *frame);

/* Called before the host resets or signals an event. Both calls have the same parameters. */
ZT__PRIVATE void zt__before_event_change(zt__frame *frame);

/* Called before a reset of an event is appended. If a launch earlier on the list is measured by the event,
   appends a barrier that waits for the event, a copy of its time stamps, and a barrier. The copy itself does
   not wait: if the second barrier is refused, the reset may overtake the copy, which would then never run. */
ZT__PRIVATE void zt__before_event_reset(zt__frame *frame);

ZT__PRIVATE void zt__before_event_destroy(zt__frame *frame);

/* Makes slots no longer keep events: those of a pool (NULL: all) for a profiler (NULL: any). Time stamps of launches that
   have signalled are saved; samples of others are lost. No mutex is held. */
ZT__PRIVATE void zt__release_kept_events(zt__tracer *tracer, ze_event_pool_handle_t pool,
                                         const zt_profiler *owner);

/* The driver may destroy events of the pool that the application has not destroyed. */
ZT__PRIVATE void zt__before_pool_destroy(zt__frame *frame);

/* Called before a command that signals an event is appended, and before the tracer chooses how to measure it.
   Saves what another launch has left in the event. */
ZT__PRIVATE void zt__save_stamps_before_signal(zt__frame *frame);

/* Called before a command that signals an event is appended, and after the tracer has chosen how to measure
   it. Counts its signal, unless the command is measured by that event. */
ZT__PRIVATE void zt__note_signal(zt__frame *frame);

#endif
