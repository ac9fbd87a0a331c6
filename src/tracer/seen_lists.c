/* Lists, queues and contexts, before and after calls. */

#include "tracer/seen_lists.h"

#include "base/compiler.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/platform.h"
#include "base/threads.h"
#include "metrics/activation.h"
#include "regions/adding.h"
#include "regions/collecting.h"
#include "regions/ending.h"
#include "regions/names.h"
#include "regions/profiler.h"
#include "regions/regions.h"
#include "regions/resets.h"
#include "regions/submitting.h"
#include "results/roofline.h"
#include "tracer/calls.h"
#include "tracer/events.h"
#include "tracer/frames.h"
#include "tracer/graphs.h"
#include "tracer/hotspot_control.h"
#include "tracer/lists.h"
#include "tracer/memory.h"
#include "tracer/tracer.h"

#ifdef ZETOOLS_TRACER

/* Closes what was recorded on a list, in all profilers of the tracer. */
static void zt__end_list_everywhere(zt__tracer *tracer, ze_command_list_handle_t list, zt__list_end by,
                                    const char *call) {
    zt__traced_device *device = zt__next_measured(tracer, NULL);
    for (; device; device = zt__next_measured(tracer, device)) {
        zt__end_list(device->profiler, list, by, call);
        zt__try_collect(device->profiler, list);
    }
}

ZT__PRIVATE void zt__after_list_create(zt__frame *frame) {
    zt__tracer *tracer = frame->tracer;
    ze_context_handle_t context;
    ze_device_handle_t device;
    ze_command_list_handle_t list;
    zt__traced_device *traced;
    zt__known_list *known;
    zt__list_kind kind;
    uint32_t ordinal, is_in_order, is_cloneable = 0;
    if (frame->call == ZT__CALL_CommandListCreate) {
        const ze_command_list_create_params_t *p = ZT__PARAMETERS(frame, ze_command_list_create_params_t);
        context = *p->phContext;
        device = *p->phDevice;
        list = **p->pphCommandList;
        ordinal = (*p->pdesc)->commandQueueGroupOrdinal;
        is_cloneable = (*p->pdesc)->flags & ZT__LIST_FLAG_CLONEABLE;
        is_in_order = (*p->pdesc)->flags & ZT__LIST_FLAG_IN_ORDER;
        kind = ZT__LIST_RECORDED;
    } else {
        const ze_command_list_create_immediate_params_t *p =
            ZT__PARAMETERS(frame, ze_command_list_create_immediate_params_t);
        context = *p->phContext;
        device = *p->phDevice;
        list = **p->pphCommandList;
        ordinal = (*p->paltdesc)->ordinal;
        is_in_order = (*p->paltdesc)->flags & ZT__QUEUE_FLAG_IN_ORDER;
        kind = ZT__LIST_IMMEDIATE;
    }
    traced = zt__find_or_open_device(tracer, context, device);
    /* The call that has destroyed the list with this handle may not have returned to its thread yet. */
    zt__end_list_everywhere(tracer, list, ZT__BY_RELEASE, "zeCommandListDestroy");
    zt__lock(&tracer->mutex);
    known = zt__remember_list(tracer, list, traced, ordinal);
    if (known) {
        known->kind = kind;
        known->is_in_order = is_in_order != 0;
        known->is_cloneable = is_cloneable != 0;
    }
    zt__unlock(&tracer->mutex);
}

ZT__PRIVATE void zt__after_list_change(zt__frame *frame) {
    zt__tracer *tracer = frame->tracer;
    ze_command_list_handle_t handle = *ZT__PARAMETERS(frame, zt__list_params)->phCommandList;
    zt__call_kind kind = zt__kind_of_call(frame->call);
    zt__known_list *list;
    zt__query_unknown_list(tracer, handle);
    zt__lock(&tracer->mutex);
    if (kind == ZT__KIND_CAPTURE_END && *ZT__PARAMETERS(frame, zt__end_capture_params)->pphGraph) {
        zt__store_content(tracer, handle, **ZT__PARAMETERS(frame, zt__end_capture_params)->pphGraph);
    }
    list = zt__find_known_list(tracer, handle);
    if (list && kind == ZT__KIND_GET_COMMAND_ID) {
        list->has_command_ids = 1;
    } else if (list) {
        zt__set_captured(tracer, list, kind == ZT__KIND_CAPTURE_BEGIN);
    }
    zt__unlock(&tracer->mutex);
}

ZT__PRIVATE int zt__has_unread_launches(zt_profiler *profiler, ze_command_list_handle_t handle) {
    const zt__recording *recording;
    const zt__probe *probe = NULL;
    int is_reading = 0; /* then the recording is the collector's, and may have some */
    zt__lock(&profiler->mutex);
    for (recording = profiler->in_flight.first; recording && !probe && !is_reading;
         recording = recording->next) {
        if (!recording->due || (handle && recording->handle != handle)) {
            continue;
        }
        is_reading = recording->state == ZT__RECORDING_READING;
        /* Of what has ended, only the collector has something to do. */
        probe = is_reading || recording->has_ended ? NULL : recording->first;
        while (probe && !(probe->is_due && (probe->has_trail || probe->way->is_foreign))) {
            probe = probe->next;
        }
    }
    zt__unlock(&profiler->mutex);
    return is_reading || probe != NULL;
}

/* Called before a list is reset or destroyed. The application may do that as soon as its own events have
   signalled, so this waits for commands of the library that follow them, and reads the events. */
static void zt__await_unread_launches(zt__tracer *tracer, ze_command_list_handle_t list) {
    uint64_t deadline = zt__deadline(tracer->wait_timeout_ns);
    zt__traced_device *device = zt__next_measured(tracer, NULL);
    for (; device; device = zt__next_measured(tracer, device)) {
        zt_profiler *profiler = device->profiler;
        zt__wait wait = zt__wait_until(deadline);
        while (!zt__is_owner(&profiler->collector) && zt__has_unread_launches(profiler, list)) {
            zt__try_collect(profiler, list);
            if (!zt__wait_again(&wait)) {
                break;
            }
        }
    }
}

ZT__PRIVATE void zt__before_list_reset(zt__frame *frame) {
    zt__await_unread_launches(frame->tracer,
                              *ZT__PARAMETERS(frame, ze_command_list_reset_params_t)->phCommandList);
}

ZT__PRIVATE void zt__after_list_reset(zt__frame *frame) {
    zt__end_list_everywhere(frame->tracer,
                            *ZT__PARAMETERS(frame, ze_command_list_reset_params_t)->phCommandList,
                            ZT__BY_RESET, "zeCommandListReset");
}

ZT__PRIVATE void zt__before_list_destroy(zt__frame *frame) {
    zt__tracer *tracer = frame->tracer;
    ze_command_list_handle_t handle = *ZT__PARAMETERS(frame, ze_command_list_destroy_params_t)->phCommandList;
    zt__traced_device *device = zt__next_measured(tracer, NULL);
    zt__known_list *known;
    zt__list *list;
    zt__lock(&tracer->mutex);
    known = zt__find_known_list(tracer, handle);
    if (known) {
        known->may_be_destroyed = 1;
    }
    zt__unlock(&tracer->mutex);
    zt__await_unread_launches(tracer, handle);
    for (; device; device = zt__next_measured(tracer, device)) {
        zt__lock(&device->profiler->mutex);
        list = zt__find_list(device->profiler, handle);
        if (list) {
            list->may_be_destroyed = 1;
        }
        zt__unlock(&device->profiler->mutex);
    }
}

ZT__PRIVATE void zt__after_list_destroy(zt__frame *frame) {
    zt__tracer *tracer = frame->tracer;
    ze_command_list_handle_t list = *ZT__PARAMETERS(frame, ze_command_list_destroy_params_t)->phCommandList;
    const void *handle = list;
    zt__known_list *known;
    zt__end_list_everywhere(tracer, list, ZT__BY_DESTROY, "zeCommandListDestroy");
    zt__lock(&tracer->mutex);
    known = zt__find_known_list(tracer, list);
    if (known && known->may_be_destroyed) {
        zt__set_captured(tracer, known, 0);
        zt__map_remove(&tracer->lists, &handle, sizeof handle);
    } else {
        known = NULL;
    }
    zt__unlock(&tracer->mutex);
    zt__free(&tracer->allocator, known);
}

ZT__PRIVATE void zt__observe_execution(zt__frame *frame, const ze_result_t *result) {
    const ze_command_list_handle_t *lists;
    ze_command_queue_handle_t queue = NULL;
    const void *runs_on;
    uint32_t i, count;
    zt__traced_device *device = zt__next_measured(frame->tracer, NULL);
    if (frame->call == ZT__CALL_CommandQueueExecuteCommandLists) {
        queue = *ZT__PARAMETERS(frame, ze_command_queue_execute_command_lists_params_t)->phCommandQueue;
        runs_on = queue;
        lists = *ZT__PARAMETERS(frame, ze_command_queue_execute_command_lists_params_t)->pphCommandLists;
        count = *ZT__PARAMETERS(frame, ze_command_queue_execute_command_lists_params_t)->pnumCommandLists;
    } else {
        /* The parameters of both calls begin with these. */
        const zt__append_lists_params *p = ZT__PARAMETERS(frame, zt__append_lists_params);
        const zt__known_list *known;
        lists = *p->pphCommandLists;
        count = *p->pnumCommandLists;
        runs_on = *p->phCommandListImmediate;
        zt__lock(&frame->tracer->mutex);
        known = zt__find_known_list(frame->tracer, *p->phCommandListImmediate);
        if (known && known->is_captured) {
            count = 0; /* they go into a graph */
        }
        zt__unlock(&frame->tracer->mutex);
    }
    if (!result && lists) {
        zt__lock(&frame->tracer->mutex);
        for (i = 0; i < count; i++) {
            frame->tracer->unseen_executions += !zt__find_known_list(frame->tracer, lists[i]);
        }
        zt__unlock(&frame->tracer->mutex);
    }
    for (; lists && count && device; device = zt__next_measured(frame->tracer, device)) {
        if (device->profiler == zt__executing_for) {
            continue;
        }
        if (result) {
            zt__after_execution(device->profiler, runs_on, count, lists, *result != ZE_RESULT_SUCCESS,
                                zt__call_name(frame->call));
        } else {
            /* Without metrics it does not wait, so that executions may follow each other at once. */
            zt__before_execution(device->profiler, queue, count, lists,
                                 device->profiler->passes[0].group_count > 0, 1, zt__call_name(frame->call));
        }
    }
}

ZT__PRIVATE void zt__before_execute(zt__frame *frame) {
    zt__tracer *tracer = frame->tracer;
    int is_once;
    zt__read_command(frame->call, frame->parameters, &frame->command);
    zt__lock(&tracer->mutex);
    tracer->executions++;
    is_once = zt__signals_once(tracer, zt__find_known_list(tracer, frame->command.list));
    zt__unlock(&tracer->mutex);
    if (tracer->borrows_events && frame->command.signal && *frame->command.signal) {
        zt__note_signal(tracer, *frame->command.signal, is_once);
    }
    zt__observe_execution(frame, NULL);
    zt__begin_submission();
    frame->is_submission = 1;
}

ZT__PRIVATE void zt__before_queue_synchronize(zt__frame *frame) {
    zt__lock(&frame->tracer->mutex);
    frame->executions = frame->tracer->executions;
    zt__unlock(&frame->tracer->mutex);
}

ZT__PRIVATE void zt__after_queue_synchronize(zt__frame *frame) {
    zt__tracer *tracer = frame->tracer;
    zt__traced_device *device = zt__next_measured(tracer, NULL);
    int is_idle;
    zt__lock(&tracer->mutex);
    is_idle = frame->executions == tracer->executions;
    zt__unlock(&tracer->mutex);
    for (; device && is_idle; device = zt__next_measured(tracer, device)) {
        /* The parameters of both calls begin with a handle. */
        zt__note_idle(device->profiler,
                      *ZT__PARAMETERS(frame, ze_command_queue_synchronize_params_t)->phCommandQueue);
    }
}

ZT__PRIVATE void zt__before_queue_destroy(zt__frame *frame) {
    zt__tracer *tracer = frame->tracer;
    zt__traced_device *device = zt__next_measured(tracer, NULL);
    while (device && !zt__has_unread_launches(device->profiler, NULL)) {
        device = zt__next_measured(tracer, device);
    }
    if (device) {
        zeCommandQueueSynchronize(*ZT__PARAMETERS(frame, ze_command_queue_destroy_params_t)->phCommandQueue,
                                  tracer->wait_timeout_ns);
    }
}

/* From here on, nothing is measured in a context, and no thread begins to sample in it. */
static void zt__detach_device(zt__tracer *tracer, zt__traced_device *device) {
    int is_locked = zt__lock_until(&tracer->opening, zt__deadline(tracer->wait_timeout_ns));
    zt__store(&device->is_detached, 1);
    if (device->profiler) {
        zt__stop_sampling(device->profiler, "zeContextDestroy");
    }
    if (is_locked) {
        zt__unlock_timed(&tracer->opening);
    }
}

ZT__PRIVATE void zt__before_context_destroy(zt__frame *frame) {
    ze_context_handle_t context = *ZT__PARAMETERS(frame, ze_context_destroy_params_t)->phContext;
    zt__traced_device *device = frame->tracer->automatic ? zt__load(&frame->tracer->devices) : NULL;
    zt__peaks peaks;
    int is_locked;
    zt__return_events(frame->tracer, NULL, context, NULL);
    zt__note_context_destroy(frame->tracer, context);
    for (; device; device = zt__load(&device->next)) {
        if (device->context == context && !zt__load(&device->is_detached)) {
            zt__detach_device(frame->tracer, device);
            if (device->profiler) {
                zt__stop_thread(&device->profiler->thread);
                if (device->profiler->config.thread) { /* others read it meanwhile */
                    zt__store(&device->profiler->config.thread, 0);
                }
                zt__collect_what_runs(device->profiler);
                is_locked = zt__lock_until(&device->profiler->collector,
                                           zt__deadline(frame->tracer->wait_timeout_ns));
                zt__abandon_recordings(device->profiler, "zeContextDestroy");
                peaks = zt__get_peaks(device->profiler); /* the device cannot be queried later */
                zt__lock(&device->profiler->mutex);
                device->profiler->peaks = peaks;
                zt__add_ended_entries(device->profiler);
                zt__unlock(&device->profiler->mutex);
                zt__detach_profiler(device->profiler);
                if (is_locked) {
                    zt__unlock_timed(&device->profiler->collector);
                }
                zt__sample_in_another_context(frame->tracer, device->device);
            }
        }
    }
}

#endif
