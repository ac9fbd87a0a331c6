/* Events of the application, before and after calls that create, signal, reset or destroy them. */

#include "tracer/events.h"

#include "base/compiler.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/platform.h"
#include "base/threads.h"
#include "modules/loaded.h"
#include "regions/probes.h"
#include "regions/profiler.h"
#include "tracer/calls.h"
#include "tracer/frames.h"
#include "tracer/tracer.h"

#ifdef ZETOOLS_TRACER

/* An event of the application that is BORROWED measures the launch that signals it. zt__change_event has the table by
   which events change. What the stamps of a BORROWED event become before it changes:

     another signal, a reset in a list, destruction, the end of its list
                      saved if the launch has ended; else the sample is lost
     a reset by the host
                      saved if the launch has ended; else nothing changes, or, with a marker, the sample is lost. On a
                      recorded list, the event stays BORROWED

   The status of an event is asked before its time stamps, and neither before the launch was appended, nor after
   the host has reset it.

   The driver is asked without the mutex. Meanwhile the event is in use: what would read, change or destroy it
   waits, but no longer than a second. After that, the sample is lost, and the event SHARED. */

/* What a probe has of the event that it has borrowed (`source_state`). */
enum { ZT__SOURCE_NONE, ZT__SOURCE_BORROWED, ZT__SOURCE_SAVED, ZT__SOURCE_LOST };

/* ---- records: with the mutex of events held --------------------------------------------------------------- */

static zt__known_event *zt__find_event(const zt__tracer *tracer, ze_event_handle_t event) {
    const void *handle = event;
    return (zt__known_event *)zt__map_find(&tracer->events, &handle, sizeof handle);
}

/* Returns the record of a handle, which is added if there is none, or NULL without memory. The mutex is unlocked
   while the allocator runs. */
static void *zt__remember(zt__tracer *tracer, zt__map *map, const void *handle, size_t size) {
    zt__loaded events;
    memset(&events, 0, sizeof events);
    events.allocator = &tracer->allocator;
    events.mutex = &tracer->event_mutex;
    return zt__find_or_add_record(&events, map, handle, size);
}

static ze_event_handle_t zt__handle_of(const zt__known_event *event) {
    ze_event_handle_t handle;
    memcpy(&handle, &event->handle, sizeof handle);
    return handle;
}

/* What happens to an event. */
typedef enum zt__event_change {
    ZT__IS_CREATED,
    ZT__IS_BORROWED,        /* by a launch that is about to be appended */
    ZT__IS_REFUSED,         /* this launch */
    ZT__IS_READ,            /* the time stamps of a launch that is not on a recorded list */
    ZT__IS_SIGNALLED,       /* by another command, once */
    ZT__IS_SIGNALLED_OFTEN, /* by a command that may be executed again; or a list resets it */
    ZT__IS_RESET,           /* by the host, after it has signalled */
    ZT__IS_RESET_EARLY,     /* by the host, before that */
    ZT__IS_OVER,            /* the list of its launch, after that has ended */
    ZT__IS_OVER_EARLY,      /* the same, but the launch has not run */
    ZT__IS_OUT_OF_SIGHT, /* nobody has seen its creation, or a thread has used it for too long; or it is destroyed */
    ZT__EVENT_CHANGES
} zt__event_change;

/* Changes the state of an event, for which nothing else does. If it is not BORROWED any more and the stamps are not
   saved, the sample is lost. */
static void zt__change_event(zt__known_event *event, zt__event_change change) {
    /* clang-format off */
    static const uint8_t table[ZT__EVENT_CHANGES][ZT__EVENT_STATES] = {
        /* if it was                  IDLE                BORROWED            USED              SHARED */
        /* created */                {ZT__EVENT_IDLE,     ZT__EVENT_IDLE,     ZT__EVENT_IDLE,   ZT__EVENT_IDLE},
        /* borrowed */               {ZT__EVENT_BORROWED, ZT__EVENT_BORROWED, ZT__EVENT_USED,   ZT__EVENT_SHARED},
        /* refused */                {ZT__EVENT_IDLE,     ZT__EVENT_IDLE,     ZT__EVENT_USED,   ZT__EVENT_SHARED},
        /* read */                   {ZT__EVENT_IDLE,     ZT__EVENT_USED,     ZT__EVENT_USED,   ZT__EVENT_SHARED},
        /* signalled */              {ZT__EVENT_USED,     ZT__EVENT_SHARED,   ZT__EVENT_SHARED, ZT__EVENT_SHARED},
        /* signalled often */        {ZT__EVENT_SHARED,   ZT__EVENT_SHARED,   ZT__EVENT_SHARED, ZT__EVENT_SHARED},
        /* reset */                  {ZT__EVENT_IDLE,     ZT__EVENT_IDLE,     ZT__EVENT_IDLE,   ZT__EVENT_SHARED},
        /* reset early */            {ZT__EVENT_SHARED,   ZT__EVENT_SHARED,   ZT__EVENT_SHARED, ZT__EVENT_SHARED},
        /* over */                   {ZT__EVENT_IDLE,     ZT__EVENT_USED,     ZT__EVENT_USED,   ZT__EVENT_SHARED},
        /* over early */             {ZT__EVENT_IDLE,     ZT__EVENT_IDLE,     ZT__EVENT_USED,   ZT__EVENT_SHARED},
        /* out of sight */           {ZT__EVENT_SHARED,   ZT__EVENT_SHARED,   ZT__EVENT_SHARED, ZT__EVENT_SHARED},
    };
    /* clang-format on */
    zt__event_state to = (zt__event_state)table[change][event->state];
    if (event->state == ZT__EVENT_BORROWED && to != ZT__EVENT_BORROWED) {
        if (event->probe->source_state == ZT__SOURCE_BORROWED) {
            event->probe->source_state = ZT__SOURCE_LOST;
        }
        event->probe = NULL;
    }
    event->state = to;
    event->has_signalled = change == ZT__IS_READ || change == ZT__IS_OVER;
}

/* Begins the use of an event by this thread alone. Returns its record, which stays until the use ends, or NULL:
   there is none, or it was in use for too long. The mutex is unlocked while another thread uses the event. */
static zt__known_event *zt__begin_event_use(zt__tracer *tracer, ze_event_handle_t handle) {
    enum { LONGEST_NS = 1000000000 };
    zt__known_event *event = zt__find_event(tracer, handle);
    zt__wait wait;
    int goes_on = 1;
    if (event && event->is_in_use) {
        wait = zt__wait_until(zt__deadline(LONGEST_NS));
    }
    while (event && event->is_in_use && goes_on) {
        zt__unlock(&tracer->event_mutex);
        goes_on = zt__wait_again(&wait);
        zt__lock(&tracer->event_mutex);
        event = zt__find_event(tracer, handle);
    }
    if (event && event->is_in_use) {
        zt__change_event(event, ZT__IS_OUT_OF_SIGHT);
        return NULL;
    }
    if (event) {
        event->is_in_use = 1;
    }
    return event;
}

/* `event` may be NULL. */
static void zt__end_event_use(zt__known_event *event) {
    if (event) {
        event->is_in_use = 0;
    }
}

/* Asks whether the command has ended that signals an event, and, unless `profiler` is NULL, when it ran. The event
   is in use by this thread. The mutex is unlocked meanwhile. */
static ze_result_t zt__query_event(zt__tracer *tracer, const zt_profiler *profiler, ze_event_handle_t event,
                                   zt__sample_times *times, const char **call) {
    ze_result_t result;
    zt__unlock(&tracer->event_mutex);
    if (profiler) {
        times->is_kernel = 1;
        result = zt__query_kernel_stamps(profiler, event, times, call);
    } else {
        *call = "zeEventQueryStatus";
        result = zeEventQueryStatus(event);
    }
    zt__lock(&tracer->event_mutex);
    return result;
}

/* Saves the time stamps of an event that is BORROWED, before it changes. The event is in use by this thread. Returns
   whether the launch has ended. */
static int zt__save_stamps(zt__tracer *tracer, zt__known_event *event) {
    zt__probe *probe = event->probe;
    zt__sample_times times;
    const char *call;
    int has_ended = event->was_read;
    if (!has_ended && zt__query_event(tracer, (const zt_profiler *)probe->source, zt__handle_of(event),
                                      &times, &call) == ZE_RESULT_SUCCESS) {
        has_ended = 1;
        if (event->probe == probe) { /* else another thread has waited for too long */
            probe->stamps[0] = times.begin_ticks;
            probe->stamps[1] = times.end_ticks;
            probe->source_state = ZT__SOURCE_SAVED;
        }
    }
    return has_ended;
}

/* Saves the stamps of an event, if it is BORROWED and its launch has ended, and returns whether it has. The event changes
   next. It is in use by this thread. */
static int zt__return_event(zt__tracer *tracer, zt__known_event *event) {
    return event->state == ZT__EVENT_BORROWED && event->probe->source_state == ZT__SOURCE_BORROWED &&
           zt__save_stamps(tracer, event);
}

/* ---- how a probe reads it --------------------------------------------------------------------------------- */

/* Returns whether a probe has an event, or NULL. The mutex of events is held. */
static int zt__has_event(const zt__probe *probe, const zt__known_event *event) {
    return event && probe->source_state == ZT__SOURCE_BORROWED && event->state == ZT__EVENT_BORROWED &&
           event->probe == probe;
}

static ze_result_t zt__read_borrowed_event(zt_profiler *profiler, zt__probe *probe, int has_ended,
                                           zt__sample_times *times, const char **call) {
    zt__tracer *tracer = zt__load(&profiler->tracer);
    zt__known_event *event;
    ze_result_t result = ZE_RESULT_SUCCESS;
    (void)has_ended; /* it is known of the event of the probe alone */
    *call = "zeEventQueryStatus";
    if (probe->has_trail) { /* its own event follows, whatever happens to the other */
        result = zeEventQueryStatus(probe->event);
    }
    if (result != ZE_RESULT_SUCCESS || !tracer) {
        return result;
    }
    result = ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT;
    zt__lock(&tracer->event_mutex);
    event = probe->source_state == ZT__SOURCE_BORROWED ? zt__begin_event_use(tracer, probe->borrowed) : NULL;
    if (zt__has_event(probe, event) && !event->was_read) {
        /* If it was read, its time stamps may be those of the execution before. */
        result = zt__query_event(tracer, times ? profiler : NULL, probe->borrowed, times, call);
    }
    zt__end_event_use(event);
    if (probe->source_state == ZT__SOURCE_LOST) {
        result = ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT;
    } else if (probe->source_state == ZT__SOURCE_SAVED) {
        result = ZE_RESULT_SUCCESS;
        if (times) {
            times->begin_ticks = probe->stamps[0];
            times->end_ticks = probe->stamps[1];
            times->is_kernel = 1;
        }
    }
    zt__unlock(&tracer->event_mutex);
    return result;
}

static ze_result_t zt__reset_borrowed_event(zt_profiler *profiler, zt__probe *probe, const char **call) {
    zt__tracer *tracer = zt__load(&profiler->tracer);
    zt__known_event *event;
    ze_result_t result = ZE_RESULT_SUCCESS;
    *call = "zeEventHostReset";
    if (probe->has_trail) {
        result = zeEventHostReset(probe->event);
    }
    if (!tracer || result != ZE_RESULT_SUCCESS) {
        return result;
    }
    zt__lock(&tracer->event_mutex);
    event = probe->source_state == ZT__SOURCE_BORROWED ? zt__begin_event_use(tracer, probe->borrowed) : NULL;
    if (probe->source_state == ZT__SOURCE_SAVED || probe->source_state == ZT__SOURCE_LOST) {
        /* Of a recorded list, the event may still be borrowed for the next execution. */
        probe->source_state = ZT__SOURCE_BORROWED;
        if (!zt__has_event(probe, zt__find_event(tracer, probe->borrowed))) {
            probe->source_state = ZT__SOURCE_LOST;
        }
    } else if (zt__has_event(probe, event) && event->is_recorded) {
        event->was_read = 1;
        event->read_submission = zt__load(&probe->submissions);
    } else if (zt__has_event(probe, event)) {
        probe->source_state = ZT__SOURCE_NONE;
        zt__change_event(event, ZT__IS_READ);
    }
    zt__end_event_use(event);
    zt__unlock(&tracer->event_mutex);
    return result;
}

ZT__PRIVATE const zt__way zt__by_borrowed_event = {zt__read_borrowed_event, zt__reset_borrowed_event, 1};

ZT__PRIVATE const zt__way zt__by_marked_event = {zt__read_borrowed_event, zt__reset_borrowed_event, 0};

/* ---- borrowing -------------------------------------------------------------------------------------------- */

ZT__PRIVATE int zt__can_be_borrowed(zt__tracer *tracer, ze_event_handle_t event) {
    const zt__known_event *known;
    int can_be_borrowed;
    zt__lock(&tracer->event_mutex);
    known = zt__find_event(tracer, event);
    can_be_borrowed = known && known->obstacle == ZT_SERIALISED_IN_USE && known->state == ZT__EVENT_IDLE;
    zt__unlock(&tracer->event_mutex);
    return can_be_borrowed;
}

/* Adds the record of an event that was created before the start, or by a call that nobody sees. The driver is
   queried. An event that is counter-based has no pool; whether it has time stamps is not known. Returns whether the
   application may read kernel time stamps of it. */
static int zt__query_unknown_event(zt__tracer *tracer, ze_event_handle_t event) {
    ze_event_pool_handle_t pool = NULL;
    ze_event_pool_flags_t flags = 0;
    zt__known_event *known;
    int has_stamps = !tracer->get_pool || !tracer->get_pool_flags ||
                     tracer->get_pool(event, &pool) != ZE_RESULT_SUCCESS || !pool ||
                     tracer->get_pool_flags(pool, &flags) != ZE_RESULT_SUCCESS ||
                     (flags & ZT__POOL_FLAGS_STAMPED);
    zt__lock(&tracer->event_mutex);
    known = (zt__known_event *)zt__remember(tracer, &tracer->events, event, sizeof *known);
    if (known) {
        known->has_stamps = has_stamps;
        known->obstacle = ZT_SERIALISED_UNSEEN_EVENT;
        zt__change_event(known, ZT__IS_OUT_OF_SIGHT);
    }
    zt__unlock(&tracer->event_mutex);
    return has_stamps;
}

/* A command signals an event, which is in use by this thread. */
static void zt__signal_event(zt__tracer *tracer, zt__known_event *event, int is_once) {
    zt__return_event(tracer, event);
    zt__change_event(event, is_once ? ZT__IS_SIGNALLED : ZT__IS_SIGNALLED_OFTEN);
}

ZT__PRIVATE zt__measurement zt__borrow_event(zt__tracer *tracer, ze_event_handle_t event,
                                             zt_profiler *profiler, zt__probe *probe,
                                             const zt__known_list *list, int is_once,
                                             zt_serialised *obstacle) {
    zt__measurement measurement = ZT__BARRIERS;
    zt__known_event *known;
    zt__lock(&tracer->event_mutex);
    known = zt__begin_event_use(tracer, event);
    *obstacle = known ? known->obstacle : ZT_SERIALISED_UNSEEN_EVENT;
    if (known && list->is_in_order && !known->has_stamps) {
        measurement = ZT__OWN;
        zt__signal_event(tracer, known, is_once); /* a signal of it follows the launch */
    } else if (known && *obstacle == ZT_SERIALISED_IN_USE && known->state == ZT__EVENT_IDLE) {
        zt__change_event(known, ZT__IS_BORROWED);
        known->probe = probe;
        known->list = probe->list->handle;
        known->is_recorded = list->kind != ZT__LIST_IMMEDIATE;
        known->has_marker = list->is_in_order;
        known->was_read = 0;
        probe->borrowed = event;
        probe->source = profiler;
        probe->source_state = ZT__SOURCE_BORROWED;
        measurement = ZT__BORROWED;
    }
    zt__end_event_use(known);
    zt__unlock(&tracer->event_mutex);
    if (!known && !zt__query_unknown_event(tracer, event) && list->is_in_order) {
        measurement = ZT__OWN;
    }
    return measurement;
}

ZT__PRIVATE void zt__return_refused_event(zt__tracer *tracer, ze_event_handle_t event) {
    zt__known_event *known;
    zt__lock(&tracer->event_mutex);
    known = zt__find_event(tracer, event);
    if (known && known->state == ZT__EVENT_BORROWED) {
        known->probe->source_state = ZT__SOURCE_NONE;
        zt__change_event(known, ZT__IS_REFUSED);
    }
    zt__unlock(&tracer->event_mutex);
}

ZT__PRIVATE void zt__return_events(zt__tracer *tracer, const void *pool, ze_context_handle_t context,
                                   ze_command_list_handle_t list) {
    uint32_t i, capacity, forgotten;
    zt__lock(&tracer->event_mutex);
    for (i = 0; i < tracer->events.capacity; i++) {
        zt__known_event *event = (zt__known_event *)tracer->events.entries[i].value;
        if (!event || (pool && event->pool != pool) || (context && event->context != context) ||
            (list && event->list != list)) {
            continue;
        }
        if (!list) { /* it is destroyed, or nobody observes it any more */
            event->obstacle = ZT_SERIALISED_UNSEEN_EVENT;
        }
        if (event->state != ZT__EVENT_BORROWED) {
            continue;
        }
        capacity = tracer->events.capacity;
        forgotten = tracer->forgotten_events;
        event = zt__begin_event_use(tracer, zt__handle_of(event));
        if (event && event->state == ZT__EVENT_BORROWED) {
            int has_ended = zt__return_event(tracer, event);
            zt__change_event(event, has_ended ? ZT__IS_OVER : ZT__IS_OVER_EARLY);
        }
        zt__end_event_use(event);
        if (tracer->events.capacity != capacity || tracer->forgotten_events != forgotten) {
            i = UINT32_MAX; /* others were moved meanwhile: from the start */
        }
    }
    zt__unlock(&tracer->event_mutex);
}

ZT__PRIVATE void zt__return_events_of_list(zt_profiler *profiler, ze_command_list_handle_t list) {
    zt__return_events(profiler->tracer, NULL, NULL, list);
}

/* ---- signals and resets ----------------------------------------------------------------------------------- */

ZT__PRIVATE void zt__note_signal(zt__tracer *tracer, ze_event_handle_t event, int is_once) {
    zt__known_event *known;
    zt__lock(&tracer->event_mutex);
    known = zt__begin_event_use(tracer, event);
    if (known) {
        zt__signal_event(tracer, known, is_once);
    }
    zt__end_event_use(known);
    zt__unlock(&tracer->event_mutex);
}

/* The host is about to reset an event, which is in use by this thread. The mutex of events is held. */
static void zt__note_host_reset(zt__tracer *tracer, zt__known_event *event) {
    const char *call;
    if (event->state == ZT__EVENT_USED) {
        int has_signalled = event->has_signalled || zt__query_event(tracer, NULL, zt__handle_of(event), NULL,
                                                                    &call) == ZE_RESULT_SUCCESS;
        zt__change_event(event, has_signalled ? ZT__IS_RESET : ZT__IS_RESET_EARLY);
    } else if (event->state == ZT__EVENT_BORROWED && event->is_recorded) {
        /* It stays borrowed for the next execution. The sample of the last one is saved, unless it was read. It is lost if
           the list was executed again since it was read, because nothing shows whose time stamps these are; and, with a
           marker, if it has not ended. */
        zt__probe *probe = event->probe;
        int has_run_again = event->was_read && zt__load(&probe->submissions) != event->read_submission;
        if (probe->source_state == ZT__SOURCE_BORROWED &&
            (has_run_again || (!zt__save_stamps(tracer, event) && event->has_marker)) &&
            event->probe == probe) {
            probe->source_state = ZT__SOURCE_LOST;
        }
        event->was_read = 0;
    } else if (event->state == ZT__EVENT_BORROWED) {
        int has_ended = zt__save_stamps(tracer, event);
        if (has_ended || event->has_marker) {
            zt__change_event(event, has_ended ? ZT__IS_RESET : ZT__IS_RESET_EARLY);
        }
    }
}

ZT__PRIVATE void zt__before_event_change(zt__frame *frame) {
    zt__tracer *tracer = frame->tracer;
    ze_event_handle_t event = *ZT__PARAMETERS(frame, ze_event_host_reset_params_t)->phEvent;
    zt__known_event *known;
    if (frame->call != ZT__CALL_EventHostReset) {
        zt__note_signal(tracer, event, 1);
        return;
    }
    zt__lock(&tracer->event_mutex);
    known = zt__begin_event_use(tracer, event);
    if (known) {
        zt__note_host_reset(tracer, known);
    }
    zt__end_event_use(known);
    zt__unlock(&tracer->event_mutex);
}

ZT__PRIVATE void zt__before_event_reset(zt__frame *frame) {
    zt__note_signal(frame->tracer,
                    *ZT__PARAMETERS(frame, ze_command_list_append_event_reset_params_t)->phEvent, 0);
}

/* ---- creation and destruction ----------------------------------------------------------------------------- */

/* Returns why events of a pool cannot be borrowed, or ZT_SERIALISED_IN_USE: their time stamps can be read on the host, and
   every signal of them is seen. */
static zt_serialised zt__find_pool_obstacle(const ze_event_pool_desc_t *desc) {
    if (desc->pNext) {
        return ZT_SERIALISED_EXTENDED;
    }
    if (!(desc->flags & ZE_EVENT_POOL_FLAG_HOST_VISIBLE)) {
        return ZT_SERIALISED_INVISIBLE;
    }
    if (desc->flags & ZE_EVENT_POOL_FLAG_IPC) {
        return ZT_SERIALISED_SHARED;
    }
    return desc->flags & ZT__POOL_FLAG_MAPPED ? ZT_SERIALISED_MAPPED : ZT_SERIALISED_IN_USE;
}

ZT__PRIVATE void zt__before_pool_create(zt__frame *frame) {
    const ze_event_pool_create_params_t *p = ZT__PARAMETERS(frame, ze_event_pool_create_params_t);
    const ze_event_pool_desc_t *given = *p->pdesc;
    if (frame->tracer->borrows_events && given && zt__find_pool_obstacle(given) == ZT_SERIALISED_IN_USE &&
        !(given->flags & ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP)) {
        ze_event_pool_handle_t trial =
            NULL; /* if the driver refuses the flag, the application's call succeeds */
        frame->pool = *given;
        frame->pool.flags |= ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP;
        if (zeEventPoolCreate(*p->phContext, &frame->pool, *p->pnumDevices, *p->pphDevices, &trial) ==
            ZE_RESULT_SUCCESS) {
            zeEventPoolDestroy(trial);
            frame->pool_desc = p->pdesc;
            frame->given_pool = given;
            *p->pdesc = &frame->pool;
        }
    }
}

ZT__PRIVATE void zt__after_pool_create(zt__frame *frame) {
    zt__tracer *tracer = frame->tracer;
    const ze_event_pool_create_params_t *p = ZT__PARAMETERS(frame, ze_event_pool_create_params_t);
    zt__known_pool *known;
    zt__lock(&tracer->event_mutex);
    known = (zt__known_pool *)zt__remember(tracer, &tracer->pools, **p->pphEventPool, sizeof *known);
    if (known) {
        known->context = *p->phContext;
        known->has_stamps = ((*p->pdesc)->flags & ZT__POOL_FLAGS_STAMPED) != 0;
        known->obstacle = zt__find_pool_obstacle(*p->pdesc);
        if (known->obstacle == ZT_SERIALISED_IN_USE && !known->has_stamps && !frame->pool_desc) {
            known->obstacle = ZT_SERIALISED_NO_STAMPS;
        }
    }
    zt__unlock(&tracer->event_mutex);
}

ZT__PRIVATE void zt__after_event_create(zt__frame *frame) {
    zt__tracer *tracer = frame->tracer;
    ze_event_handle_t handle;
    zt__known_event *event;
    zt__known_pool pool;
    int is_known = 1;
    memset(&pool, 0, sizeof pool);
    if (frame->call == ZT__CALL_EventCounterBasedCreate) {
        const zt__event_counter_based_create_params *p =
            ZT__PARAMETERS(frame, zt__event_counter_based_create_params);
        handle = **p->pphEvent;
        pool.obstacle = ZT_SERIALISED_COUNTER_BASED;
        pool.has_stamps = *p->pdesc && ((*p->pdesc)->flags & ZT__EVENT_FLAGS_STAMPED);
    } else {
        const ze_event_create_params_t *p = ZT__PARAMETERS(frame, ze_event_create_params_t);
        const void *key = *p->phEventPool;
        const zt__known_pool *known;
        handle = **p->pphEvent;
        zt__lock(&tracer->event_mutex);
        known = (const zt__known_pool *)zt__map_find(&tracer->pools, &key, sizeof key);
        is_known = known != NULL;
        if (known) {
            pool = *known;
        }
        zt__unlock(&tracer->event_mutex);
    }
    zt__lock(&tracer->event_mutex);
    event = zt__begin_event_use(tracer, handle);
    if (event) { /* an earlier event with this handle is gone: it is not asked any more */
        zt__change_event(event, ZT__IS_CREATED);
        memset(event, 0, sizeof *event);
        event->handle = handle;
    }
    event =
        is_known ? (zt__known_event *)zt__remember(tracer, &tracer->events, handle, sizeof *event) : event;
    if (event) {
        event->has_stamps = is_known ? pool.has_stamps : 1;
        event->obstacle = is_known ? pool.obstacle : ZT_SERIALISED_UNSEEN_EVENT;
        event->pool = pool.handle;
        event->context = pool.context;
    }
    zt__unlock(&tracer->event_mutex);
}

/* The record of the event is freed, unless the driver is still asked about it. */
ZT__PRIVATE void zt__before_event_destroy(zt__frame *frame) {
    zt__tracer *tracer = frame->tracer;
    const void *handle = *ZT__PARAMETERS(frame, ze_event_destroy_params_t)->phEvent;
    zt__known_event *known;
    zt__lock(&tracer->event_mutex);
    known = zt__begin_event_use(tracer, *ZT__PARAMETERS(frame, ze_event_destroy_params_t)->phEvent);
    if (known) {
        zt__return_event(tracer, known);
        zt__change_event(known, ZT__IS_OUT_OF_SIGHT);
        zt__map_remove(&tracer->events, &handle, sizeof handle);
        tracer->forgotten_events++;
    }
    zt__unlock(&tracer->event_mutex);
    zt__free(&tracer->allocator, known);
}

ZT__PRIVATE void zt__before_pool_destroy(zt__frame *frame) {
    zt__tracer *tracer = frame->tracer;
    const void *handle = *ZT__PARAMETERS(frame, ze_event_pool_destroy_params_t)->phEventPool;
    void *known;
    zt__return_events(tracer, handle, NULL, NULL);
    zt__lock(&tracer->event_mutex);
    known = zt__map_find(&tracer->pools, &handle, sizeof handle);
    zt__map_remove(&tracer->pools, &handle, sizeof handle);
    zt__unlock(&tracer->event_mutex);
    zt__free(&tracer->allocator, known);
}

#endif
