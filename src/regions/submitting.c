/* zt_execute, and executions that a tracer observes. */

#include "regions/submitting.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/platform.h"
#include "base/shared.h"
#include "base/threads.h"
#include "metrics/activation.h"
#include "regions/collecting.h"
#include "regions/names.h"
#include "regions/profiler.h"
#include "regions/reading.h"
#include "regions/recordings.h"

/* ---- before -----------------------------------------------------------------------------------------------*/

/* Returns the recording of a list, unless it is a queue. With the mutex held. */
static zt__recording *zt__find_recording(const zt_profiler *profiler, ze_command_list_handle_t handle) {
    const zt__list *list = zt__find_list(profiler, handle);
    return list && list->current && !list->current->is_queue ? list->current : NULL;
}

/* The same. The mutex is unlocked while the recording is READING: a visit may have looked just before the device was
   done. */
static zt__recording *zt__await_recording(zt_profiler *profiler, ze_command_list_handle_t handle) {
    const zt__list *list = zt__find_list(profiler, handle);
    if (list) {
        zt__await_reading(profiler, list);
    }
    return zt__find_recording(profiler, handle);
}

/* Returns whether a recording has samples that can be read, now or later. With the mutex held. */
static int zt__is_unread(zt_profiler *profiler, zt__recording *recording) {
    if (recording && recording->state == ZT__RECORDING_OPEN && recording->unread &&
        recording->unread->failures) {
        zt__request_look(profiler, recording); /* its data comes later than its event */
    }
    return recording && recording->chain &&
           (recording->state == ZT__RECORDING_SUBMITTED || recording->state == ZT__RECORDING_READING ||
            recording->is_looked_at || recording->has_ended);
}

/* Asks the device, without the collector, whether it is done with the last execution of a list: READY and OPEN
   ones may have run unreported. Returns whether it is, and in `*executions` the number of the last. The probes of
   the recording stay, because the caller executes the list. No mutex is held. */
static int zt__has_run(zt_profiler *profiler, ze_command_list_handle_t handle, uint32_t *executions) {
    zt__recording copy;
    const zt__recording *recording;
    const char *call;
    ze_result_t result = ZE_RESULT_NOT_READY;
    *executions = 0;
    zt__lock(&profiler->mutex);
    recording = zt__await_recording(profiler, handle);
    if (recording && recording->state != ZT__RECORDING_DIRTY && recording->state != ZT__RECORDING_READING) {
        copy = *recording;
        recording = &copy;
        *executions = copy.executions;
        if (copy.has_ended) {
            result = ZE_RESULT_SUCCESS;
        }
    } else {
        recording = NULL;
    }
    zt__unlock(&profiler->mutex);
    if (recording && result != ZE_RESULT_SUCCESS) {
        ZT__INTERNAL(result = zt__query_end(profiler, recording, &copy.polled, &call));
    }
    return result == ZE_RESULT_SUCCESS;
}

/* Reads what is left of the last execution of a list, and of one that nobody has reported. With `waits`, waits
   until the device is done with it; else only for the collector, if the device is. */
static void zt__finish_list(zt_profiler *profiler, ze_command_list_handle_t handle, uint64_t deadline,
                            int waits) {
    zt__wait wait = zt__wait_until(deadline);
    zt__recording *recording;
    uint32_t executions;
    int has_run = zt__has_run(profiler, handle, &executions), is_unread;
    zt__lock(&profiler->mutex);
    recording = zt__await_recording(profiler, handle);
    if (recording && has_run && recording->state == ZT__RECORDING_SUBMITTED &&
        recording->executions == executions) {
        recording->has_ended = 1; /* so it is not asked once more */
    }
    /* Of what may be immediate, the first may have ended, and the last not. */
    if (recording && (has_run || (recording->unread && recording->list->kind == ZT__LIST_UNKNOWN))) {
        zt__request_look(profiler, recording);
        has_run = 1;
    }
    has_run |= recording && recording->has_ended;
    is_unread = zt__is_unread(profiler, recording) && (waits || has_run);
    zt__unlock(&profiler->mutex);
    while (is_unread) {
        zt__try_collect(profiler, handle);
        zt__lock(&profiler->mutex);
        is_unread = zt__is_unread(profiler, zt__find_recording(profiler, handle));
        zt__unlock(&profiler->mutex);
        is_unread = is_unread && zt__wait_again(&wait);
    }
}

/* If executions of a list have overlapped, asks their queue, which the application names in this call, whether
   it is idle. No mutex is held. */
static void zt__end_overlap(zt_profiler *profiler, ze_command_queue_handle_t queue,
                            ze_command_list_handle_t handle) {
    zt__recording *recording;
    ze_result_t result = ZE_RESULT_NOT_READY;
    uint32_t executions = 0;
    int overlaps;
    zt__lock(&profiler->mutex);
    recording = zt__find_recording(profiler, handle);
    overlaps = recording && recording->state == ZT__RECORDING_DIRTY && queue && recording->runs_on == queue &&
               !recording->has_ended;
    executions = overlaps ? recording->executions : 0;
    zt__unlock(&profiler->mutex);
    if (overlaps) {
        ZT__INTERNAL(result = zeCommandQueueSynchronize(queue, 0));
    }
    if (result != ZE_RESULT_SUCCESS) {
        return;
    }
    zt__lock(&profiler->mutex);
    recording = zt__find_recording(profiler, handle);
    if (recording && recording->state == ZT__RECORDING_DIRTY &&
        recording->executions == executions) { /* no other thread has executed it since */
        recording->has_ended = 1;
        zt__chain_recording(profiler, recording);
    }
    zt__unlock(&profiler->mutex);
}

ZT__PRIVATE void zt__note_idle(zt_profiler *profiler, const void *runs_on) {
    zt__recording *recording;
    zt__lock(&profiler->mutex);
    recording = profiler->dirty_count ? profiler->all_recordings : NULL;
    for (; recording; recording = recording->next_of_all) {
        if (recording->state == ZT__RECORDING_DIRTY && recording->runs_on == runs_on) {
            recording->has_ended = 1;
            zt__chain_recording(profiler, recording);
        }
    }
    zt__unlock(&profiler->mutex);
}

/* Begins a call of the driver with a recording. With the mutex held. */
static void zt__submit_recording(zt_profiler *profiler, zt__list *list, uint64_t now, int by_tracer) {
    zt__recording *recording;
    while (list->innermost) {
        zt__drop_region(profiler, list->innermost, ZT_DROPPED_NOT_CLOSED, 1);
    }
    zt__await_reading(profiler, list);
    recording = list->current;
    if (recording && recording->may_be_reset && by_tracer) {
        zt__request_look(profiler, recording); /* as if nobody had reported it */
    } else if (recording && !recording->is_queue && recording->state != ZT__RECORDING_READING) {
        recording->calls++;
        recording->call_ns = now;
        if (recording->state != ZT__RECORDING_SUBMITTING) {
            zt__move_recording(profiler, recording, ZT__RECORDING_SUBMITTING);
        }
    }
}

ZT__PRIVATE void zt__note_unseen_resets(zt_profiler *profiler) {
    zt__recording *recording;
    zt__lock(&profiler->mutex);
    for (recording = profiler->all_recordings; recording; recording = recording->next_of_all) {
        recording->may_be_reset = recording->list && !recording->is_queue;
    }
    zt__unlock(&profiler->mutex);
}

ZT__PRIVATE void zt__before_execution(zt_profiler *profiler, ze_command_queue_handle_t queue, uint32_t count,
                                      const ze_command_list_handle_t *lists, int waits, int by_tracer,
                                      const char *call) {
    uint64_t now, deadline = zt__deadline(profiler->config.wait_timeout_ns);
    uint32_t i;
    /* Inside a function that the collector calls, nothing can be read before it is overwritten. */
    int can_read = !zt__refuse_inside_callback(profiler, call);
    for (i = 0; i < count && can_read; i++) {
        zt__end_overlap(profiler, queue, lists[i]);
        zt__finish_list(profiler, lists[i], deadline, waits);
    }
    now = zt__now_ns();
    zt__lock(&profiler->mutex);
    for (i = 0; i < count; i++) {
        zt__list *list = zt__find_list(profiler, lists[i]);
        if (list && list->kind != ZT__LIST_IMMEDIATE) {
            zt__submit_recording(profiler, list, now, by_tracer);
        }
    }
    if (profiler->lists_executed) {
        profiler->lists_executed(profiler, now);
    }
    zt__unlock(&profiler->mutex);
}

/* ---- after ------------------------------------------------------------------------------------------------*/

/* Counts an execution that the driver has accepted. Returns how many samples it overwrites. With the mutex
   held. */
static uint32_t zt__accept_execution(zt_profiler *profiler, zt__recording *recording, const void *runs_on) {
    int overlaps = recording->before == ZT__RECORDING_SUBMITTED || recording->before == ZT__RECORDING_DIRTY ||
                   recording->has_ended;
    uint32_t overwritten = overlaps ? zt__lose_samples(profiler, recording, ZT_LOST_OVERWRITTEN) : 0;
    if (overlaps && recording->runs_on != runs_on) {
        recording->is_mixed = 1;
    }
    recording->is_overlapped = overlaps;
    recording->runs_on = runs_on;
    recording->thread = profiler->timeline ? zt__get_thread_number() : 0;
    recording->list->kind = ZT__LIST_RECORDED;
    zt__count_execution(profiler, recording);
    if (recording->is_mixed) { /* nothing shows which execution a sample would be of */
        overwritten += zt__lose_samples(profiler, recording, ZT_LOST_OVERWRITTEN);
    }
    recording->before = overlaps ? ZT__RECORDING_DIRTY : ZT__RECORDING_SUBMITTED;
    return overwritten;
}

ZT__PRIVATE void zt__after_execution(zt_profiler *profiler, const void *runs_on, uint32_t count,
                                     const ze_command_list_handle_t *lists, int is_refused,
                                     const char *call) {
    uint32_t i, overwritten = 0;
    int wakes_thread;
    zt__lock(&profiler->mutex);
    if (profiler->lists_executed) {
        profiler->lists_executed(profiler, 0);
    }
    for (i = 0; i < count; i++) {
        zt__recording *recording = zt__find_recording(profiler, lists[i]);
        if (!recording || recording->state != ZT__RECORDING_SUBMITTING) {
            continue; /* it had no region, or was closed meanwhile */
        }
        if (!is_refused) {
            overwritten += zt__accept_execution(profiler, recording, runs_on);
        }
        if (--recording->calls == 0) {
            zt__move_recording(profiler, recording, recording->before);
        }
    }
    wakes_thread = !is_refused && zt__must_wake_thread(profiler);
    zt__unlock(&profiler->mutex);
    if (wakes_thread) {
        zt__wake_thread(&profiler->thread);
    }
    if (overwritten) {
        zt__report(&profiler->diagnostics, OVERWRITTEN, ZE_RESULT_WARNING_DROPPED_DATA, call);
    }
}

/* The profiler for which this thread is inside zt_execute: the tracer ignores that execution. */
ZT__PRIVATE ZT__THREAD_LOCAL const zt_profiler *zt__executing_for;

ZT_API ze_result_t zt_execute(zt_profiler *profiler, ze_command_queue_handle_t queue, uint32_t count,
                              ze_command_list_handle_t *lists, ze_fence_handle_t fence) {
    const zt_profiler *outer = zt__executing_for; /* a hook may execute lists inside of an execution */
    char remedy[96] = "The lists were not executed.";
    uint32_t first = 0, end, i;
    int is_repeated;
    ze_result_t result;
    /* Some loaders dereference these before any driver can refuse them. */
    if (profiler && !queue) {
        return zt__report_null_handle(&profiler->diagnostics, "zt_execute", "queue");
    }
    if (profiler && !lists) {
        return zt__report_null(&profiler->diagnostics, "zt_execute", "lists");
    }
    if (!profiler || !profiler->device || zt__is_device_lost(&profiler->diagnostics)) {
        zt__executing_for = NULL;
        result = zeCommandQueueExecuteCommandLists(queue, count, lists, fence);
        zt__executing_for = outer;
        return result;
    }
    do {
        /* A part ends before the first list that it would name twice, so that each execution is measured. */
        is_repeated = 0;
        for (end = first; end < count && !is_repeated; end += !is_repeated) {
            for (i = first; i < end; i++) {
                is_repeated |= lists[i] == lists[end];
            }
        }
        zt__before_execution(profiler, queue, end - first, lists + first, 1, 0, "zt_execute");
        zt__executing_for = profiler;
        zt__begin_submission();
        result =
            zeCommandQueueExecuteCommandLists(queue, end - first, lists + first, end == count ? fence : NULL);
        zt__end_submission();
        zt__executing_for = outer;
        zt__after_execution(profiler, queue, end - first, lists + first, result != ZE_RESULT_SUCCESS,
                            "zt_execute");
        if (result == ZE_RESULT_SUCCESS) {
            first = end;
        }
    } while (result == ZE_RESULT_SUCCESS && first < count);
    if (first > 0) {
        snprintf(remedy, sizeof remedy, "Lists executed: the first %u of %u. The others were not executed.",
                 first, count);
    }
    return zt__check(&profiler->diagnostics, result, "zeCommandQueueExecuteCommandLists", remedy);
}
