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
#include "regions/phases.h"
#include "regions/profiler.h"
#include "regions/reading.h"
#include "regions/recordings.h"

/* ---- before -----------------------------------------------------------------------------------------------*/

/* Returns the recording of a list, unless it is a queue. With the mutex held. */
static zt__recording *zt__find_recording(zt_profiler *profiler, ze_command_list_handle_t handle) {
    const zt__list *list = zt__find_list(profiler, handle);
    return list && list->current && !list->current->is_queue ? list->current : NULL;
}

/* Returns whether a recording has samples that can be read, now or later. With the mutex held. */
static int zt__is_unread(const zt__recording *recording) {
    return recording->chain &&
           (recording->state == ZT__RECORDING_SUBMITTED || recording->state == ZT__RECORDING_READING ||
            recording->is_look_due || recording->has_ended);
}

/* Returns whether data of an OPEN recording comes later than its event. With the mutex held. */
static int zt__has_late_data(const zt__recording *recording) {
    return recording->state == ZT__RECORDING_OPEN && recording->unread && recording->unread->failures > 0;
}

/* Returns whether an execution was submitted and not read. */
static int zt__is_on_its_way(const zt__recording *recording) {
    return recording->state == ZT__RECORDING_SUBMITTED || recording->state == ZT__RECORDING_DIRTY;
}

/* Returns whether the device is done with the last execution of a recording. `copy` is a copy of the recording; its
   probes stay, because the caller executes its list. Where no event shows the end, because executions have overlapped
   or the list was reset unseen, the queue is queried, which the application names in this call. With `looks`, also
   executions that nobody has reported are looked for. No mutex is held. */
static int zt__is_over(zt_profiler *profiler, ze_command_queue_handle_t queue, zt__recording *copy,
                       int looks) {
    ze_result_t result = ZE_RESULT_NOT_READY;
    const char *call;
    if (copy->state == ZT__RECORDING_SUBMITTED || (looks && zt__may_have_run(copy))) {
        ZT__INTERNAL(result = zt__query_end(profiler, copy, &copy->polled, &call));
    }
    if (result != ZE_RESULT_SUCCESS && zt__is_on_its_way(copy) && queue && copy->runs_on == queue &&
        copy->overlap != ZT__OVERLAPS_MIXED) {
        ZT__INTERNAL(result = zeCommandQueueSynchronize(queue, 0));
    }
    return result == ZE_RESULT_SUCCESS;
}

/* Notes that the device is done with the last execution of a recording. With the mutex held. */
static void zt__note_end(zt_profiler *profiler, zt__recording *recording) {
    recording->has_ended = 1;
    zt__chain_recording(profiler, recording);
}

/* Returns whether probes at the front of a recording may have ended, because its list may be immediate. With the mutex
   held. */
static int zt__may_have_front(const zt__recording *recording) {
    return recording->state == ZT__RECORDING_OPEN && recording->unread &&
           recording->list->kind == ZT__LIST_UNKNOWN;
}

/* Returns the first probe of a recording that may have run unreported, if its event shows whether it has. Else NULL. With
   the mutex held. */
static zt__probe *zt__first_to_ask(const zt__recording *recording) {
    zt__probe *first = zt__may_have_run(recording) ? recording->first : NULL;
    return first && first->shows_end && !first->is_unordered && !first->needs_reset ? first : NULL;
}

/* Notes whether the last execution of a list is over, and with `looks` requests a look at what nobody has reported.
   Returns whether to collect: it is over, or a look is due; with `waits`, also while it runs. No mutex is held. */
static int zt__note_if_over(zt_profiler *profiler, ze_command_queue_handle_t queue,
                            ze_command_list_handle_t handle, int waits, int looks) {
    zt__recording *recording, copy;
    zt__probe *first = NULL;
    int is_over, must_collect = 0;
    ze_result_t result;
    const char *call;
    zt__lock(&profiler->mutex);
    zt__find_list_at_rest(profiler, handle); /* a visit may have looked just before the device was done */
    recording = zt__find_recording(profiler, handle);
    if (recording) {
        copy = *recording;
        first = zt__first_to_ask(recording);
    }
    zt__unlock(&profiler->mutex);
    if (!recording) {
        return 0;
    }
    is_over = copy.has_ended || zt__is_over(profiler, queue, &copy, looks);
    if (!is_over && first) {
        ZT__INTERNAL(result = first->way->read(profiler, first, 0, NULL, &call));
        first = result == ZE_RESULT_NOT_READY ? first : NULL;
    }

    zt__lock(&profiler->mutex);
    zt__find_list_at_rest(profiler, handle);
    recording = zt__find_recording(profiler, handle);
    if (recording) {
        int is_same = recording->executions == copy.executions;
        if (is_over && is_same && zt__is_on_its_way(recording)) {
            zt__note_end(profiler, recording);
        } else if (!is_over && is_same && first && zt__first_to_ask(recording) == first) {
            recording->first_shows = ZT__FIRST_WAS_NEW;
        }
        if (is_over || zt__has_late_data(recording) || (looks && zt__may_have_front(recording))) {
            zt__request_look(profiler, recording);
        }
        must_collect = zt__is_unread(recording) && (waits || recording->is_look_due || recording->has_ended);
    }
    zt__unlock(&profiler->mutex);
    return must_collect;
}

/* Reads what is left of the last execution of a list. No mutex is held. */
static void zt__finish_list(zt_profiler *profiler, ze_command_queue_handle_t queue,
                            ze_command_list_handle_t handle, uint64_t deadline, int waits) {
    zt__wait wait = zt__wait_until(deadline);
    int goes_on = 1, looks = 1;
    while (goes_on && zt__note_if_over(profiler, queue, handle, waits, looks)) {
        zt__try_collect(profiler, handle);
        looks = 0;
        goes_on = zt__wait_again(&wait); /* another thread may hold the collector */
    }
}

ZT__PRIVATE void zt__note_idle(zt_profiler *profiler, const void *runs_on) {
    zt__recording *recording;
    zt__lock(&profiler->mutex);
    recording = profiler->dirty_count ? profiler->all_recordings : NULL;
    for (; recording; recording = recording->next_of_all) {
        if (recording->state == ZT__RECORDING_DIRTY && recording->runs_on == runs_on &&
            recording->overlap != ZT__OVERLAPS_MIXED) {
            zt__note_end(profiler, recording);
        }
    }
    zt__unlock(&profiler->mutex);
}

/* Called before the driver executes a list: drops its open regions, and moves its recording to SUBMITTING. With the
   mutex held. */
static void zt__submit_recording(zt_profiler *profiler, zt__list *list, uint64_t now, int by_tracer) {
    zt__recording *recording;
    zt__drop_open_regions(profiler, list);
    zt__prepare_recording_for_phase(profiler, list);
    zt__await_reading(profiler, list);
    recording = list->current;
    if (recording && recording->may_be_reset && by_tracer) {
        recording->first_shows = ZT__FIRST_SHOWS_NOTHING;
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
        zt__finish_list(profiler, queue, lists[i], deadline, waits);
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

/* Counts the samples of an execution that the driver has accepted. Returns how many it overwrites. With the mutex
   held. */
static uint32_t zt__count_execution(zt_profiler *profiler, zt__recording *recording, const void *runs_on) {
    int overlaps = recording->next_state == ZT__RECORDING_SUBMITTED ||
                   recording->next_state == ZT__RECORDING_DIRTY || recording->has_ended;
    uint32_t overwritten = overlaps ? zt__lose_samples(profiler, recording, ZT_LOST_OVERWRITTEN) : 0;
    zt__probe *probe;
    recording->overlap = overlaps ? zt__overlap_with(recording, runs_on) : ZT__OVERLAPS_NONE;
    if (overlaps) {
        recording->first_shows = ZT__FIRST_SHOWS_NOTHING;
    }
    recording->runs_on = runs_on;
    recording->thread = profiler->timeline || profiler->config.sample ? zt__get_thread_number() : 0;
    recording->list->kind = ZT__LIST_RECORDED;
    recording->submitted_ns = recording->call_ns;
    recording->executions++;
    recording->has_ended = recording->has_run = recording->is_look_due = 0;
    recording->unread = recording->polled = recording->first;
    zt__move_into_phase(profiler, recording);
    for (probe = recording->first; probe; probe = probe->next) {
        if (probe->is_due && probe->failures > 0) { /* it is of an earlier one, and its data are late */
            zt__lose_sample(profiler, recording, probe, ZT_LOST_OVERWRITTEN);
        }
        probe->is_settled = 0;
        probe->failures = 0;
        zt__store(&probe->submissions, probe->submissions + 1);
        if (probe->is_dropped) {
            continue;
        }
        if (!probe->is_due) { /* else it was counted at its end, because its list may have been immediate */
            zt__owe_sample(profiler, recording, probe);
        }
        if (probe->needs_reset || probe->is_retired) {
            zt__lose_sample(profiler, recording, probe, ZT_LOST_READ_FAILED);
        } else if (probe->spans_passes ||
                   (probe->pass != profiler->active_pass && probe->pass != ZT__TIMES_PASS)) {
            zt__lose_sample(profiler, recording, probe, ZT_LOST_OTHER_PASS);
        }
    }
    if (recording->overlap == ZT__OVERLAPS_MIXED) {
        overwritten += zt__lose_samples(profiler, recording, ZT_LOST_OVERWRITTEN);
    }
    recording->next_state = overlaps ? ZT__RECORDING_DIRTY : ZT__RECORDING_SUBMITTED;
    return overwritten;
}

/* A list that was executed is not immediate: the list that was has been destroyed, and has left its handle. With the
   mutex held. */
static void zt__forget_immediate(zt_profiler *profiler, ze_command_list_handle_t handle) {
    zt__list *list = zt__find_list(profiler, handle);
    if (list && list->kind == ZT__LIST_IMMEDIATE) {
        zt__drop_open_regions(profiler, list);
        zt__close_recording(profiler, list);
        list->kind = ZT__LIST_RECORDED;
    }
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
        zt__recording *recording;
        if (!is_refused) {
            zt__forget_immediate(profiler, lists[i]);
        }
        recording = zt__find_recording(profiler, lists[i]);
        if (!recording || recording->state != ZT__RECORDING_SUBMITTING) {
            continue; /* it had no region, or was closed meanwhile */
        }
        if (!is_refused) {
            overwritten += zt__count_execution(profiler, recording, runs_on);
        }
        if (--recording->calls == 0) {
            zt__move_recording(profiler, recording, recording->next_state);
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
    zt__timing timing;
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
    zt__start_timing(&profiler->executions.count, &timing);
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
        zt__pause_timing(&timing);
        result =
            zeCommandQueueExecuteCommandLists(queue, end - first, lists + first, end == count ? fence : NULL);
        zt__resume_timing(&timing);
        zt__end_submission();
        zt__executing_for = outer;
        zt__after_execution(profiler, queue, end - first, lists + first, result != ZE_RESULT_SUCCESS,
                            "zt_execute");
        if (result == ZE_RESULT_SUCCESS) {
            first = end;
        }
    } while (result == ZE_RESULT_SUCCESS && first < count);
    zt__end_timing(&profiler->executions, &profiler->mutex, &timing);
    if (first > 0) {
        snprintf(remedy, sizeof remedy, "Lists executed: the first %u of %u. The others were not executed.",
                 first, count);
    }
    return zt__check(&profiler->diagnostics, result, "zeCommandQueueExecuteCommandLists", remedy);
}
