/* Events of the application, before and after calls that create, signal, reset or destroy them. */

#include "tracer/events.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/platform.h"
#include "modules/loaded.h"
#include "regions/kept_events.h"
#include "regions/profiler.h"
#include "tracer/calls.h"
#include "tracer/frames.h"
#include "tracer/tracer.h"

#ifdef ZETOOLS_TRACER

/* A launch with an event of the application is measured by the time stamps of that event, if they can be read
   on the host and every call that changes the event is seen. In this order:

     zeEventPoolCreate    gets the flag for kernel time stamps, if such events may be kept
     zeEventCreate        the event has a record, from here to its destruction
     a launch             a slot becomes its keeper, if it has none and no other command may signal it. The
                          slot reads the time stamps when it is collected
     another signal       (of a command or of the host) The time stamps are saved first if the launch has
                          signalled; otherwise the sample is lost, and no slot keeps the event again, because
                          that launch may signal it later. The event has no keeper afterwards, and none until
                          the host resets it
     a reset              On the host: the time stamps are saved first if the launch has signalled; otherwise
                          the slot keeps the event. In a list: a barrier that waits for the event, a copy of
                          the time stamps and a barrier are appended before the reset
     zeEventDestroy, zeEventPoolDestroy
                          The time stamps are saved first if the launch has signalled; otherwise the sample is
                          lost. No slot keeps the event again, also if the driver refuses
     zt_trace_stop        slots no longer keep events, because nothing of this is seen any more

   The record of an event names its keeper, under the mutex of the tracer. A slot names the event that it keeps,
   under the mutex of the profiler. No thread holds both. */

/* Returns whether time stamps of events can be read on the host, and every signal of them is seen. */
static int zt__pool_allows_keeping(const ze_event_pool_desc_t *desc) {
    return !desc->pNext && (desc->flags & ZE_EVENT_POOL_FLAG_HOST_VISIBLE) &&
           !(desc->flags & ((uint32_t)ZE_EVENT_POOL_FLAG_IPC | ZT__POOL_FLAG_MAPPED));
}

ZT__PRIVATE void zt__before_pool_create(zt__frame *frame) {
    const ze_event_pool_create_params_t *p = ZT__PARAMETERS(frame, ze_event_pool_create_params_t);
    const ze_event_pool_desc_t *given = *p->pdesc;
    if (frame->tracer->keeps_events && given && zt__pool_allows_keeping(given) &&
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
    zt__lock(&tracer->mutex);
    known = (zt__known_pool *)zt__find_or_add_record(&tracer->loaded, &tracer->pools, **p->pphEventPool,
                                                     sizeof *known);
    if (known) {
        known->has_stamps = ((*p->pdesc)->flags & ZT__POOL_FLAGS_STAMPED) != 0;
        known->may_be_kept = tracer->keeps_events && zt__pool_allows_keeping(*p->pdesc) &&
                             (known->has_stamps || frame->pool_desc);
    }
    zt__unlock(&tracer->mutex);
}

ZT__PRIVATE void zt__after_event_create(zt__frame *frame) {
    zt__tracer *tracer = frame->tracer;
    zt__known_event *event;
    if (frame->call == ZT__CALL_EventCounterBasedCreate) {
        const zt__event_counter_based_create_params *p =
            ZT__PARAMETERS(frame, zt__event_counter_based_create_params);
        zt__forget_handle(tracer, &tracer->events, **p->pphEvent);
        zt__lock(&tracer->mutex);
        event = zt__remember_event(tracer, **p->pphEvent);
        if (event) {
            event->has_stamps = *p->pdesc && ((*p->pdesc)->flags & ZT__EVENT_FLAGS_STAMPED);
        }
        zt__unlock(&tracer->mutex);
    } else {
        const ze_event_create_params_t *p = ZT__PARAMETERS(frame, ze_event_create_params_t);
        const zt__known_pool *known;
        zt__known_pool pool = {NULL, 0, 0};
        zt__forget_handle(tracer, &tracer->events, **p->pphEvent);
        zt__lock(&tracer->mutex);
        known = zt__find_pool(tracer, *p->phEventPool);
        if (known) {
            pool = *known; /* it may be stale when the event has a record */
        }
        event = known ? zt__remember_event(tracer, **p->pphEvent) : NULL;
        if (event) {
            event->has_stamps = pool.has_stamps;
            event->may_be_kept = pool.may_be_kept;
            event->pool = *p->phEventPool;
        }
        zt__unlock(&tracer->mutex);
    }
}

/* As zt__save_kept_stamps, for the slot that keeps the event, if there is one. */
static int zt__save_stamps_of_event(zt__tracer *tracer, ze_event_handle_t event, zt__event_change change) {
    zt__known_event *known;
    zt__slot *keeper = NULL;
    zt_profiler *owner = NULL;
    int may_signal, is_kept;
    zt__lock(&tracer->mutex);
    known = zt__find_event(tracer, event);
    if (known) {
        keeper = known->keeper;
        owner = known->keeper_owner;
        known->keeper = change == ZT__EVENT_ENDS ? NULL : keeper;
    }
    zt__unlock(&tracer->mutex);
    if (!keeper) {
        return 0;
    }
    may_signal = zt__save_kept_stamps(owner, keeper, event, change);
    if (change == ZT__EVENT_SIGNALLED) {
        zt__lock(&owner->mutex);
        is_kept = keeper->kept == event;
        zt__unlock(&owner->mutex);
        zt__lock(&tracer->mutex);
        known = zt__find_event(tracer, event);
        if (known && known->keeper == keeper && !is_kept) {
            known->keeper = NULL;
        }
        zt__unlock(&tracer->mutex);
    }
    return may_signal;
}

/* Counts commands that signal an event and are not measured by it. No mutex is held. */
static void zt__count_signals(zt__tracer *tracer, ze_event_handle_t event, uint32_t count) {
    zt__known_event *known;
    zt__lock(&tracer->mutex);
    known = zt__find_event(tracer, event);
    if (known && known->other_signals < 2) {
        known->other_signals += count;
    }
    zt__unlock(&tracer->mutex);
}

ZT__PRIVATE void zt__before_event_change(zt__frame *frame) {
    zt__tracer *tracer = frame->tracer;
    ze_event_handle_t event = *ZT__PARAMETERS(frame, ze_event_host_reset_params_t)->phEvent;
    zt__known_event *known;
    int is_reset = frame->call == ZT__CALL_EventHostReset, has_other;
    if (!is_reset) { /* before the keeper is looked up: a launch may become it meanwhile, which checks this */
        zt__count_signals(tracer, event, 1);
    }
    if (zt__save_stamps_of_event(tracer, event, is_reset ? ZT__EVENT_RESET : ZT__EVENT_SIGNALLED) &&
        !is_reset) {
        zt__count_signals(tracer, event, 1); /* the launch may signal it later */
    }
    zt__lock(&tracer->mutex);
    known = zt__find_event(tracer, event);
    has_other = is_reset && known && known->other_signals == 1;
    zt__unlock(&tracer->mutex);
    if (has_other && zeEventQueryStatus(event) == ZE_RESULT_SUCCESS) {
        zt__lock(&tracer->mutex);
        known = zt__find_event(tracer, event);
        if (known && known->other_signals == 1) {
            known->other_signals = 0;
        }
        zt__unlock(&tracer->mutex);
    }
}

ZT__PRIVATE void zt__before_event_reset(zt__frame *frame) {
    zt__tracer *tracer = frame->tracer;
    const ze_command_list_append_event_reset_params_t *p =
        ZT__PARAMETERS(frame, ze_command_list_append_event_reset_params_t);
    ze_command_list_handle_t list = *p->phCommandList;
    ze_event_handle_t event = *p->phEvent;
    const zt__known_event *known;
    zt__slot *slot;
    zt_profiler *profiler;
    ze_result_t result = ZE_RESULT_NOT_READY;
    const char *call = "zeCommandListAppendBarrier";
    int is_measured = 0, has_copy = 0;
    uint32_t i;
    zt__save_stamps_of_event(tracer, event, ZT__EVENT_RESET);
    zt__lock(&tracer->mutex);
    known = zt__find_event(tracer, event);
    slot = known ? known->keeper : NULL;
    profiler = known ? known->keeper_owner : NULL;
    zt__unlock(&tracer->mutex);
    if (slot) {
        zt__lock(&profiler->mutex);
        is_measured = slot->kept == event && slot->measurement == ZT__KEPT_EVENT_STAMPS &&
                      !slot->has_saved_stamps && !slot->was_signalled && slot->list->handle == list &&
                      (slot->state == ZT__SLOT_PENDING || slot->state == ZT__SLOT_RECORDED) &&
                      profiler->tiles_stamped == 1;
        if (is_measured) { /* A slot without metrics has `stamps`. */
            slot->measurement = ZT__KEPT_EVENT_COPY;
            for (i = 0; i < ZT__STAMPS; i++) {
                zt__store(&slot->stamps[i], UINT64_MAX);
            }
        }
        zt__unlock(&profiler->mutex);
    }

    if (is_measured) {
        result = zeCommandListAppendBarrier(list, NULL, 1, &event);
        if (result == ZE_RESULT_SUCCESS) {
            call = "zeCommandListAppendQueryKernelTimestamps";
            result =
                zeCommandListAppendQueryKernelTimestamps(list, 1, &event, slot->stamps, NULL, NULL, 0, NULL);
            has_copy = result == ZE_RESULT_SUCCESS;
        }
        if (has_copy) {
            call = "zeCommandListAppendBarrier";
            result = zeCommandListAppendBarrier(list, NULL, 0, NULL);
        }
    }
    if (is_measured && result != ZE_RESULT_SUCCESS) {
        zt__lock(&profiler->mutex);
        if (has_copy) {
            slot->copy_may_be_late = 1;
        } else {
            slot->measurement = ZT__KEPT_EVENT_STAMPS;
        }
        zt__unlock(&profiler->mutex);
    }

    if (result != ZE_RESULT_SUCCESS) {
        zt__save_stamps_of_event(tracer, event, ZT__EVENT_SIGNALLED);
    }
    zt__count_signals(tracer, event, 2);
    if (is_measured) {
        zt__check(&profiler->diagnostics, result, call,
                  "A launch is not measured, because its event is reset.");
    }
}

ZT__PRIVATE void zt__before_event_destroy(zt__frame *frame) {
    ze_event_handle_t event = *ZT__PARAMETERS(frame, ze_event_destroy_params_t)->phEvent;
    zt__save_stamps_of_event(frame->tracer, event, ZT__EVENT_ENDS);
    zt__forget_handle(frame->tracer, &frame->tracer->events, event);
}

ZT__PRIVATE void zt__release_kept_events(zt__tracer *tracer, ze_event_pool_handle_t pool,
                                         const zt_profiler *owner) {
    const void *handle = pool;
    uint32_t i;
    int is_complete;
    do { /* again, because the table may change while the mutex is unlocked */
        is_complete = 1;
        zt__lock(&tracer->mutex);
        for (i = 0; i < tracer->events.capacity; i++) {
            const zt__known_event *known = (const zt__known_event *)tracer->events.entries[i].value;
            if (known && known->keeper && (!pool || known->pool == handle) &&
                (!owner || known->keeper_owner == owner)) {
                ze_event_handle_t event;
                memcpy(&event, &known->handle, sizeof event);
                zt__unlock(&tracer->mutex);
                zt__save_stamps_of_event(tracer, event, ZT__EVENT_ENDS);
                is_complete = 0;
                zt__lock(&tracer->mutex);
            }
        }
        zt__unlock(&tracer->mutex);
    } while (!is_complete);
}

ZT__PRIVATE void zt__before_pool_destroy(zt__frame *frame) {
    zt__tracer *tracer = frame->tracer;
    ze_event_pool_handle_t pool = *ZT__PARAMETERS(frame, ze_event_pool_destroy_params_t)->phEventPool;
    const void *handle = pool;
    uint32_t i;
    zt__release_kept_events(tracer, pool, NULL);
    zt__lock(&tracer->mutex);
    for (i = 0; i < tracer->events.capacity; i++) {
        zt__known_event *known = (zt__known_event *)tracer->events.entries[i].value;
        if (known && known->pool == handle) {
            known->may_be_kept = 0; /* if the driver refuses, launches that were recorded may signal it */
        }
    }
    zt__unlock(&tracer->mutex);
    zt__forget_handle(tracer, &tracer->pools, pool);
}

/* Returns the event of the application that a command signals, or NULL. */
static ze_event_handle_t zt__find_signalled(const zt__frame *frame, const zt__command *command) {
    return frame->signal ? frame->signalled : command->signal ? *command->signal : NULL;
}

ZT__PRIVATE void zt__save_stamps_before_signal(zt__frame *frame) {
    zt__command command;
    ze_event_handle_t event;
    zt__read_command(frame->call, frame->parameters, &command);
    event = zt__find_signalled(frame, &command);
    if (event && zt__save_stamps_of_event(frame->tracer, event, ZT__EVENT_SIGNALLED)) {
        zt__count_signals(frame->tracer, event, 2); /* both commands may signal it later */
    }
}

ZT__PRIVATE void zt__note_signal(zt__frame *frame) {
    zt__tracer *tracer = frame->tracer;
    const zt__known_list *list;
    zt__command command;
    ze_event_handle_t event;
    int is_signalled_once;
    zt__read_command(frame->call, frame->parameters, &command);
    event = zt__find_signalled(frame, &command);
    if (event && !frame->has_kept_event) {
        zt__lock(&tracer->mutex);
        list = zt__find_known_list(tracer, command.list);
        is_signalled_once = list && list->kind == ZT__LIST_IMMEDIATE && !list->is_captured;
        zt__unlock(&tracer->mutex);
        zt__count_signals(tracer, event, is_signalled_once ? 1 : 2);
        /* Another thread may have appended a launch that is measured by it since
           zt__save_stamps_before_signal. */
        if (zt__save_stamps_of_event(tracer, event, ZT__EVENT_SIGNALLED)) {
            zt__count_signals(tracer, event, 2);
        }
    }
}

#endif
