/* Events of the application that measure a launch: their stamps are read before the event changes. */

#include "regions/kept_events.h"

#include "base/compiler.h"
#include "base/platform.h"
#include "base/shared.h"
#include "base/threads.h"
#include "regions/names.h"
#include "regions/profiler.h"
#include "regions/reading.h"
#include "regions/slots.h"

ZT__PRIVATE int zt__save_kept_stamps(zt_profiler *profiler, zt__slot *slot, ze_event_handle_t event,
                                     zt__event_change change) {
    enum { LONGEST_NS = 1000000000 };
    zt__wait wait = zt__wait_until(zt__deadline(LONGEST_NS));
    zt__sample_times times;
    ze_result_t result = ZE_RESULT_NOT_READY;
    const char *call;
    int is_queried = 0, goes_on, may_signal;
    zt__lock(&profiler->mutex);
    for (;;) {
        /* No function of the application runs while slots are READING, or while the watch queries, so the
           wait is short. */
        int is_read =
            profiler->watch_queries_kept || (slot->kept == event && slot->state == ZT__SLOT_READING);
        int is_due = !is_read && !is_queried && slot->kept == event && slot->state == ZT__SLOT_PENDING &&
                     slot->measurement == ZT__KEPT_EVENT_STAMPS && !slot->has_saved_stamps;
        if (!is_read && !is_due) {
            break;
        }
        zt__unlock(&profiler->mutex);
        if (is_due) {
            ZT__INTERNAL(result = zt__read_kept_stamps(profiler, event, slot->was_signalled,
                                                       slot->signalled_end, &times, &call));
            is_queried = 1;
        }
        goes_on = is_due || zt__wait_again(&wait);
        zt__lock(&profiler->mutex);
        if (!goes_on) {
            break;
        }
    }
    may_signal = slot->kept == event && !slot->has_saved_stamps;
    if (may_signal && slot->state == ZT__SLOT_PENDING && result == ZE_RESULT_SUCCESS) {
        slot->saved_stamps[0] = times.begin_ticks;
        slot->saved_stamps[1] = times.end_ticks;
        slot->has_saved_stamps = 1;
        may_signal = 0;
    }
    if (slot->kept == event) {
        int is_immediate = slot->list->state == ZT__LIST_IMMEDIATE;
        if (change == ZT__EVENT_ENDS ||
            (change == ZT__EVENT_RESET && slot->has_saved_stamps && is_immediate) ||
            (change == ZT__EVENT_SIGNALLED && (is_immediate || slot->measurement == ZT__KEPT_EVENT_STAMPS))) {
            slot->kept = NULL;
        }
    }
    zt__unlock(&profiler->mutex);
    return may_signal;
}

ZT__PRIVATE void zt__note_earlier_signals(zt_profiler *profiler, ze_command_list_handle_t handle) {
    zt__slot *slots[ZT__BATCH], *slot;
    ze_event_handle_t events[ZT__BATCH];
    uint64_t done = 0;
    uint32_t i, count;
    do {
        const zt__list *list;
        count = 0;
        zt__lock(&profiler->mutex);
        list = zt__find_list(profiler, handle);
        for (slot = list && list->keeps_events ? list->first : NULL; slot && count < ZT__BATCH;
             slot = slot->next) {
            if (slot->kept && slot->number > done && !zt__is_final(slot)) {
                slots[count] = slot;
                events[count++] = slot->kept;
                done = slot->number;
            } else if (slot->measurement == ZT__KEPT_EVENT_COPY && !slot->kept &&
                       (slot->state == ZT__SLOT_RECORDED || slot->state == ZT__SLOT_ARMED)) {
                slot->was_signalled = 1;
            }
        }
        zt__unlock(&profiler->mutex);
        for (i = 0; i < count; i++) {
            zt__sample_times times;
            const char *call;
            ze_result_t result;
            ZT__INTERNAL(result = zt__query_kernel_stamps(profiler, events[i], &times, &call));
            zt__lock(&profiler->mutex);
            if (slots[i]->kept == events[i] &&
                (slots[i]->state == ZT__SLOT_RECORDED || slots[i]->state == ZT__SLOT_ARMED)) {
                slots[i]->was_signalled = result != ZE_RESULT_NOT_READY;
                slots[i]->signalled_end = result == ZE_RESULT_SUCCESS ? times.end_ticks : 0;
                if (slots[i]->was_signalled && slots[i]->measurement == ZT__KEPT_EVENT_STAMPS &&
                    (result != ZE_RESULT_SUCCESS || profiler->tiles_stamped > 1)) {
                    slots[i]->kept = NULL; /* its new time stamps cannot be told from the old ones */
                }
            }
            zt__unlock(&profiler->mutex);
        }
    } while (count == ZT__BATCH);
}
