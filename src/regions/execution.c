/* zt_execute, and executions that a tracer observes. */

#include "regions/execution.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/platform.h"
#include "base/shared.h"
#include "base/threads.h"
#include "regions/collecting.h"
#include "regions/kept_events.h"
#include "regions/names.h"
#include "regions/profiler.h"
#include "regions/slots.h"

/* Returns whether a list has regions that are on their way, or samples of an execution without zt_execute.
   Such an execution has signalled the event of the last slot, since that ends after all others. If the list
   was reset and recorded anew since then, the last slot is new, and the first one may be of the old
   recording: so its event is queried, too, unless it is known to have run. No mutex is held. */
static int zt__has_unread_regions(zt_profiler *profiler, ze_command_list_handle_t handle) {
    const zt__list *list;
    const zt__slot *slot, *first = NULL, *last = NULL;
    ze_event_handle_t events[2] = {NULL, NULL};
    int has_unread;
    uint32_t i;
    zt__lock(&profiler->mutex);
    list = zt__find_list(profiler, handle);
    has_unread = list && (zt__is_on_its_way(list) || zt__awaits_ends(list));
    for (slot = list ? list->first : NULL; slot && !has_unread; slot = slot->next) {
        if ((slot->state == ZT__SLOT_RECORDED || slot->state == ZT__SLOT_ARMED || zt__shows_end(slot)) &&
            !zt__is_final(slot) && slot->measurement < ZT__KEPT_EVENT_STAMPS) {
            first = first ? first : slot;
            last = slot;
            has_unread |= slot->failing_since_ns != 0; /* it has signalled, and was not read then */
        }
    }
    if (first) {
        events[0] = last->event;
        events[1] = first != last && first->state != ZT__SLOT_ARMED ? first->event : NULL;
    }
    zt__unlock(&profiler->mutex);
    for (i = 0; i < 2 && events[i] && !has_unread; i++) {
        ze_result_t result;
        ZT__INTERNAL(result = zeEventQueryStatus(events[i]));
        has_unread = result != ZE_RESULT_NOT_READY; /* a failed call is repeated */
    }
    return has_unread;
}

ZT__PRIVATE void zt__finish_list(zt_profiler *profiler, ze_command_list_handle_t handle, uint64_t deadline,
                                 int waits) {
    int has_unread = zt__has_unread_regions(profiler, handle);
    const zt__list *list;
    const zt__slot *slot = NULL;
    zt__wait wait = zt__wait_until(deadline);
    while (has_unread) {
        if (!zt__try_collect(profiler, handle, 1) && !waits) {
            zt__collect_until(profiler, ZT__ONE_COLLECTION, deadline);
        }
        has_unread = zt__has_unread_regions(profiler, handle);
        if (has_unread && (!waits || !zt__wait_again(&wait))) {
            break;
        }
    }
    zt__lock(&profiler->mutex);
    if (!has_unread && profiler->state_counts[ZT__SLOT_PARTIAL]) {
        list = zt__find_list(profiler, handle);
        slot = list ? list->first : NULL;
    }
    while (slot && !(slot->state == ZT__SLOT_PARTIAL && slot->needs_reset && zt__is_complete(slot))) {
        slot = slot->next;
    }
    zt__unlock(&profiler->mutex);
    if (slot) {
        zt__collect_until(profiler, ZT__ONE_COLLECTION, deadline);
    }
}

/* Locks the mutex at a moment when no other thread reads these lists. No sample or log function runs while
   slots are READING, so the wait is short. */
static void zt__lock_unread_lists(zt_profiler *profiler, uint32_t count,
                                  const ze_command_list_handle_t *lists) {
    enum { LONGEST_NS = 1000000000 };
    zt__wait wait = zt__wait_until(zt__deadline(LONGEST_NS));
    int is_read, goes_on = 1;
    uint32_t i;
    zt__lock(&profiler->mutex);
    do {
        is_read = 0;
        for (i = 0; i < count && profiler->state_counts[ZT__SLOT_READING] && !is_read; i++) {
            const zt__list *list = zt__find_list(profiler, lists[i]);
            const zt__slot *slot;
            for (slot = list ? list->first : NULL; slot && !is_read; slot = slot->next) {
                is_read = slot->state == ZT__SLOT_READING;
            }
        }
        if (is_read) {
            zt__unlock(&profiler->mutex);
            goes_on = zt__wait_again(&wait);
            zt__lock(&profiler->mutex);
        }
    } while (is_read && goes_on);
}

/* Returns the cause by which an execution loses the sample of a slot that it finds neither RECORDED nor
   ARMED. */
static zt_cause zt__loss_by_execution(zt__slot_state state) {
    return state == ZT__SLOT_RETIRED || state == ZT__SLOT_PARTIAL ? ZT_LOST_READ_FAILED : ZT_LOST_OVERWRITTEN;
}

ZT__PRIVATE void zt__note_idle_queue(zt_profiler *profiler, ze_command_queue_handle_t queue) {
    zt__list *list;
    zt__lock(&profiler->mutex);
    for (list = profiler->lists; list; list = list->next) {
        if (list->overlaps && list->queue == queue && list->state == ZT__LIST_SUBMITTED) {
            list->overlaps = 0;
        }
    }
    zt__unlock(&profiler->mutex);
}

/* If executions of a list have overlapped, all on this queue as far as can be told, queries whether all have
   ended. Returns whether they have: then the samples that are read next are those of the last one. No mutex is
   held. */
static int zt__end_overlaps(zt_profiler *profiler, ze_command_queue_handle_t queue,
                            ze_command_list_handle_t handle) {
    ze_result_t result = ZE_RESULT_NOT_READY;
    const zt__list *list;
    int overlaps;
    zt__lock(&profiler->mutex);
    list = zt__find_list(profiler, handle);
    overlaps = list && list->overlaps && queue && list->queue == queue && list->state == ZT__LIST_SUBMITTED;
    zt__unlock(&profiler->mutex);
    if (overlaps) {
        ZT__INTERNAL(result = zeCommandQueueSynchronize(queue, 0));
    }
    if (result == ZE_RESULT_SUCCESS) {
        zt__note_idle_queue(profiler, queue);
    }
    return result == ZE_RESULT_SUCCESS;
}

/* Moves the slots of a list that is about to be executed to PENDING. With the mutex held. */
static void zt__submit_slots(zt_profiler *profiler, zt__list *list, ze_command_queue_handle_t queue,
                             uint64_t now) {
    uint32_t thread = profiler->timeline ? zt__get_thread_number() : 0;
    zt__slot *slot = list->first;
    int is_repeated = list->submissions++ > 0; /* the call names the list again */
    if (!is_repeated) {
        list->overwritten = 0;
        list->ran_before = list->ran_up_to;
        list->complete_before = list->complete_up_to;
        list->overlapped_before = list->overlaps;
    }
    if (list->state == ZT__LIST_UNKNOWN || list->state == ZT__LIST_UNOBSERVED) {
        /* It may have run without zt_execute. Slots that have run while later ones have not belong to an
           immediate list that had this handle, to a recording before a reset, or to an execution that is
           still running. They are not submitted. */
        while (slot && slot->state != ZT__SLOT_RECORDED) {
            slot = slot->next;
        }
        if (slot) {
            uint64_t number = list->ran_up_to < slot->number ? list->ran_up_to : slot->number - 1;
            if (number > list->unsubmitted_up_to) {
                list->unsubmitted_up_to = number;
            }
        }
    }
    list->overlaps |= zt__awaits_ends(list);
    for (slot = list->first; slot; slot = slot->next) {
        int is_submitted = !zt__is_final(slot) && slot->number > list->unsubmitted_up_to && !slot->is_dropped;
        if (!is_repeated) {
            slot->submitted_from = is_submitted ? slot->state : ZT__SLOT_FREE;
        }
        slot->needs_reset = 1;
        if (!is_submitted) {
            continue;
        }
        if (slot->state == ZT__SLOT_RECORDED || slot->state == ZT__SLOT_ARMED) {
            slot->submitted_ns = now;
            slot->origin.submitted_by = thread;
            slot->origin.executions++;
            zt__move_slot(profiler, slot, ZT__SLOT_PENDING);
        } else {
            zt_cause cause = zt__loss_by_execution(slot->state);
            zt__count_begun(profiler, slot->path, 1);
            zt__count_lost(profiler, slot, cause, 1);
            slot->overwritten += cause == ZT_LOST_OVERWRITTEN;
            list->overwritten += cause == ZT_LOST_OVERWRITTEN;
            list->overlaps |= cause == ZT_LOST_OVERWRITTEN;
        }
    }
    list->queue = list->overlaps && list->queue != queue ? NULL : queue;
    list->complete_up_to = 0;
    list->ran_up_to = list->ended;
    if (list->state != ZT__LIST_UNOBSERVED) {
        zt__move_list(profiler, list, ZT__LIST_SUBMITTED);
    }
}

ZT__PRIVATE void zt__before_execution(zt_profiler *profiler, ze_command_queue_handle_t queue, uint32_t count,
                                      const ze_command_list_handle_t *lists, int waits, const char *call) {
    uint64_t now, deadline = zt__deadline(profiler->config.wait_timeout_ns);
    uint32_t i;
    zt__list *list;
    /* Inside a function that the collector calls, nothing can be read before it is overwritten. */
    if (zt__refuse_inside_callback(profiler, call)) {
        zt__lock(&profiler->mutex);
        for (i = 0; i < count; i++) {
            list = zt__find_list(profiler, lists[i]);
            if (list && list->state != ZT__LIST_IMMEDIATE) {
                zt__move_list(profiler, list, ZT__LIST_UNOBSERVED);
            }
        }
        zt__unlock(&profiler->mutex);
        return;
    }
    for (i = 0; i < count; i++) {
        /* Before anything is read, because times that are read while executions may still overlap are lost. */
        zt__end_overlaps(profiler, queue, lists[i]);
        zt__finish_list(profiler, lists[i], deadline, waits);
        if (zt__end_overlaps(profiler, queue, lists[i])) {
            zt__try_collect(profiler, lists[i], 1);
        }
        zt__note_earlier_signals(profiler, lists[i]);
    }
    zt__lock_unread_lists(profiler, count, lists);
    now = zt__now_ns();
    profiler->has_submitted = 1;
    for (i = 0; i < count; i++) {
        list = zt__find_list(profiler, lists[i]);
        if (list && list->state != ZT__LIST_IMMEDIATE) {
            zt__submit_slots(profiler, list, queue, now);
        }
    }
    if (profiler->lists_executed) {
        profiler->lists_executed(profiler, now);
    }
    zt__unlock(&profiler->mutex);
}

/* Reverts what zt__submit_slots has changed in slots, after the driver has refused the execution. Called once
   for each call of zt__submit_slots. The state of the list, its queue and `unsubmitted_up_to` stay. With the
   mutex held. */
static void zt__retract_slots(zt_profiler *profiler, zt__list *list) {
    int is_last = --list->submissions == 0;
    zt__slot *slot;
    for (slot = list->first; slot; slot = slot->next) {
        zt__slot_state from = slot->submitted_from;
        if (is_last) {
            slot->submitted_from = ZT__SLOT_FREE;
        }
        if (is_last && (from == ZT__SLOT_RECORDED || from == ZT__SLOT_ARMED)) {
            slot->origin.executions--;
            if (slot->state == ZT__SLOT_PENDING) {
                zt__move_slot(profiler, slot, from);
            }
        } else if (from != ZT__SLOT_FREE) { /* a loss was counted */
            zt_cause cause = zt__loss_by_execution(from);
            slot->overwritten -= cause == ZT_LOST_OVERWRITTEN;
            zt__count_begun(profiler, slot->path, -1);
            zt__count_lost(profiler, slot, cause, -1);
        }
    }
    list->ran_up_to = list->ran_before;
    list->complete_up_to = list->complete_before;
    list->overlaps = list->overlapped_before;
}

ZT__PRIVATE void zt__after_execution(zt_profiler *profiler, uint32_t count,
                                     const ze_command_list_handle_t *lists, int is_refused,
                                     const char *call) {
    uint32_t i, overwritten = 0;
    int wakes_thread;
    if (zt__is_owner(&profiler->collector)) {
        return; /* zt__before_execution has moved no slot */
    }
    if (is_refused) {
        zt__lock_unread_lists(profiler, count, lists);
    } else {
        zt__lock(&profiler->mutex);
    }
    if (profiler->lists_executed) {
        profiler->lists_executed(profiler, 0);
    }
    for (i = 0; i < count; i++) {
        zt__list *list = zt__find_list(profiler, lists[i]);
        if (!list || list->submissions == 0) {
            continue;
        }
        if (is_refused) {
            zt__retract_slots(profiler, list);
        } else {
            overwritten += list->overwritten;
            list->submissions = 0;
        }
        list->overwritten = 0;
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
        zt__before_execution(profiler, queue, end - first, lists + first, 1, "zt_execute");
        zt__executing_for = profiler;
        result =
            zeCommandQueueExecuteCommandLists(queue, end - first, lists + first, end == count ? fence : NULL);
        zt__executing_for = outer;
        zt__after_execution(profiler, end - first, lists + first, result != ZE_RESULT_SUCCESS, "zt_execute");
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
