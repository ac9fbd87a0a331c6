/* Which slots are read, and what the driver returns of each. */

#include "regions/reading.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/memory.h"
#include "base/platform.h"
#include "metrics/driver.h"
#include "metrics/groups.h"
#include "regions/profiler.h"
#include "regions/slots.h"

/* ---- choosing slots: with the mutex held ----------------------------------------------------------------- */

ZT__PRIVATE void zt__enter_list(zt_profiler *profiler, zt__collection *collection, zt__list *list) {
    collection->list = list;
    collection->slot = list ? list->first : NULL;
    memset(collection->is_blocked, 0, sizeof collection->is_blocked);
    ZT__INVARIANT(!list || (list->ran_up_to <= list->ended && list->final_up_to <= list->ended &&
                            list->complete_up_to <= list->ended && list->unsubmitted_up_to <= list->ended &&
                            list->destroyed_up_to <= list->ended));
    /* When all slots of a list are final and none is in flight, the device is done with the list. */
    if (list && profiler->state_counts[ZT__SLOT_PARTIAL] && list->final_up_to == list->ended &&
        !zt__is_on_its_way(list) && !zt__awaits_ends(list)) {
        list->complete_up_to = list->ended;
    }
}

ZT__PRIVATE int zt__fill_batch(zt_profiler *profiler, zt__collection *collection) {
    zt__batch *batch = &profiler->batch;
    batch->count = 0;
    while (collection->list && batch->count < ZT__BATCH) {
        zt__slot *slot = collection->slot;
        int is_chosen = 0; /* it may be ready to be read, or is PARTIAL and can be reset */
        if (!slot) {
            zt__enter_list(profiler, collection, collection->one_list ? NULL : collection->list->next);
            continue;
        }
        if (slot->state == ZT__SLOT_PENDING || slot->state == ZT__SLOT_RECORDED ||
            slot->state == ZT__SLOT_ARMED) {
            is_chosen = collection->thorough || zt__is_final(slot) || !collection->is_blocked[slot->state];
        } else if (slot->state == ZT__SLOT_PARTIAL) {
            is_chosen =
                (zt__is_complete(slot) && (slot->needs_reset || zt__is_final(slot))) ||
                (zt__shows_end(slot) && (collection->thorough || !collection->is_blocked[slot->state]));
        }
        if (is_chosen && batch->count > 0 && batch->pass != &profiler->passes[slot->pass]) {
            break; /* this slot begins the next batch */
        }
        collection->slot = slot->next;
        if (is_chosen) {
            zt__reading *reading = &batch->readings[batch->count++];
            memset(reading, 0, sizeof *reading);
            batch->pass = &profiler->passes[slot->pass];
            reading->slot = slot;
            reading->from = slot->state;
            reading->kept = slot->kept;
            reading->is_final = zt__is_final(slot);
            reading->is_immediate = collection->list->state == ZT__LIST_IMMEDIATE;
            reading->is_gone = slot->state == ZT__SLOT_PENDING
                                   ? zt__is_complete(slot) && !reading->is_immediate
                                   : zt__is_final(slot) && slot->state != ZT__SLOT_PARTIAL;
            reading->is_submitted = slot->state == ZT__SLOT_PENDING ||
                                    (slot->state == ZT__SLOT_PARTIAL && zt__is_submitted(slot));
            reading->condition =
                slot->state == ZT__SLOT_PARTIAL && zt__is_complete(slot) ? ZT__NOT_RESET : ZT__NOT_READY;
            reading->cause = ZT_CAUSE_COUNT;
            if (slot->spans_passes) {
                reading->cause = ZT_LOST_OTHER_PASS;
            }
            if (slot->copy_may_be_late || (slot->measurement == ZT__KEPT_EVENT_COPY && slot->was_signalled)) {
                reading->cause = ZT_LOST_EVENT;
            }
            if (batch->pass->group_count == 0 && collection->list->overlaps) {
                reading->cause = ZT_LOST_OVERWRITTEN; /* its time stamps may be of two executions */
            }
            zt__move_slot(profiler, slot, ZT__SLOT_READING);
        } else if (slot->state == ZT__SLOT_RETIRED && zt__is_final(slot)) {
            zt__unbind_slot(slot);
        }
    }
    return batch->count > 0;
}

/* ---- reading: no mutex held ------------------------------------------------------------------------------ */

ZT__PRIVATE int zt__ensure_room(const zt_profiler *profiler, void **memory, size_t *held, size_t count,
                                size_t size) {
    if (*held < count) {
        zt__free(&profiler->config.allocator, *memory);
        *memory = zt__allocate(&profiler->config.allocator, count, size);
        *held = *memory ? count : 0;
    }
    return *held >= count;
}

ZT__PRIVATE void zt__lose(zt__reading *reading, zt_cause cause) {
    reading->outcome = ZT__LOST;
    reading->cause = cause;
}

/* Called when reading a slot fails. Returns whether it has failed for so long that the sample is lost. The
   first call starts that time. */
static int zt__has_failed_for_long(zt__slot *slot) {
    enum { LONGEST_NS = 20000000 };
    uint64_t now = zt__now_ns();
    if (!slot->failing_since_ns) {
        slot->failing_since_ns = now;
    }
    return now - slot->failing_since_ns >= LONGEST_NS;
}

/* The device is lost. An ARMED or a PARTIAL slot owes no sample. */
static void zt__lose_to_device(zt__reading *reading) {
    if (reading->from == ZT__SLOT_PARTIAL) {
        reading->slot->shows_end = 0; /* its event is not awaited any more */
    } else if (reading->from != ZT__SLOT_ARMED) {
        zt__lose(reading, ZT_LOST_DEVICE);
        reading->condition = ZT__NOT_RESET;
    }
}

/* Reads the reports of a slot whose event has signalled. */
static void zt__read_reports(zt_profiler *profiler, zt__reading *reading) {
    enum { LARGEST_REPORT = 1 << 24 }; /* bytes. Those of Intel's devices have less than 10,000 */
    zt__batch *batch = &profiler->batch;
    zt__slot *slot = reading->slot;
    ze_result_t result = ZE_RESULT_SUCCESS;
    uint32_t g;
    for (g = 0; g < batch->pass->group_count && result == ZE_RESULT_SUCCESS; g++) {
        zt__group *group = &batch->pass->groups[g];
        void *raw = batch->raw[g];
        size_t size = 0;
        reading->call = "zetMetricQueryGetData";
        if (group->report_size == 0) {
            result = zetMetricQueryGetData(slot->queries[g], &size, NULL);
            if (result == ZE_RESULT_SUCCESS && size == 0) {
                result = ZE_RESULT_NOT_READY;
            } else if (result == ZE_RESULT_SUCCESS && size > LARGEST_REPORT) {
                result = ZE_RESULT_ERROR_INVALID_SIZE;
            } else if (result == ZE_RESULT_SUCCESS) {
                group->report_size = size;
            }
        }
        if (result == ZE_RESULT_SUCCESS &&
            !zt__ensure_room(profiler, &raw, &batch->raw_size[g], ZT__BATCH * group->report_size, 1)) {
            reading->call = "config.allocator";
            result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
        }
        batch->raw[g] = (uint8_t *)raw;
        if (result == ZE_RESULT_SUCCESS) {
            size = group->report_size;
            result = zetMetricQueryGetData(slot->queries[g], &size,
                                           batch->raw[g] + batch->report_count * group->report_size);
            if (result == ZE_RESULT_SUCCESS && size != group->report_size) {
                result = ZE_RESULT_ERROR_INVALID_SIZE;
            }
        }
    }
    if (result == ZE_RESULT_SUCCESS) {
        reading->outcome = ZT__READ;
        reading->report = batch->report_count++;
        reading->times.list = slot->list->handle;
        reading->times.not_before_ns = slot->not_before_ns;
        reading->times.is_kernel = slot->measurement != ZT__SURROUNDING_COMMANDS;
        /* Atomic, because the list may run again without zt_execute. */
        if (slot->stamps && !reading->times.is_kernel) {
            reading->times.begin_ticks = zt__load(&slot->stamps[0]);
            reading->times.end_ticks = zt__load(&slot->stamps[1]);
        }
    } else if (result == ZE_RESULT_NOT_READY || result == ZE_RESULT_ERROR_UNKNOWN) {
        /* Drivers return UNKNOWN where the specification says NOT_READY. Some data never arrives, and none
           arrives while other groups are active. */
        if (zt__has_failed_for_long(slot)) {
            zt__lose(reading,
                     slot->pass == profiler->active_pass ? ZT_LOST_NEVER_DELIVERED : ZT_LOST_OTHER_PASS);
        } else {
            reading->condition = ZT__NOT_READY;
        }
    } else {
        reading->result = result;
        if (zt__means_device_loss(result)) {
            zt__store(&profiler->diagnostics.device_lost, 1);
        }
        zt__lose(reading, zt__means_device_loss(result) ? ZT_LOST_DEVICE : ZT_LOST_READ_FAILED);
    }
}

ZT__PRIVATE ze_result_t zt__query_kernel_stamps(const zt_profiler *profiler, ze_event_handle_t event,
                                                zt__sample_times *times, const char **call) {
    ze_kernel_timestamp_result_t tiles[ZT__MAX_TILES];
    uint32_t i, count = profiler->tiles_stamped;
    /* Durations are cut to 62 bits, so that a sum of two is below 2^63, whatever the time stamps are. */
    uint64_t first, mask = profiler->kernel_tick_mask & UINT64_MAX >> 2;
    int64_t begin = 0, end = 0; /* ticks since `first` */
    ze_result_t result;
    memset(tiles, 0, sizeof tiles);
    *call = "zeEventQueryStatus"; /* the other two succeed before the time stamps are there */
    result = zeEventQueryStatus(event);
    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }
    if (count > 1) {
        *call = "zeEventQueryTimestampsExp";
        result = profiler->driver.zeEventQueryTimestampsExp(event, profiler->device, &count, tiles);
        if (result == ZE_RESULT_SUCCESS && count > 0 && count < profiler->tiles_stamped) {
            /* Drivers write nothing if there are fewer. */
            result = profiler->driver.zeEventQueryTimestampsExp(event, profiler->device, &count, tiles);
        }
        count = count < profiler->tiles_stamped ? count : profiler->tiles_stamped;
    }
    if (profiler->tiles_stamped == 1 || (result == ZE_RESULT_SUCCESS && count == 0)) {
        *call = "zeEventQueryKernelTimestamp";
        result = zeEventQueryKernelTimestamp(event, tiles);
        count = 1;
    }
    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }
    /* Time stamps may wrap around to 0 between one tile and another, and in a kernel. */
    first = tiles[0].global.kernelStart;
    for (i = 0; i < count; i++) {
        const ze_kernel_timestamp_data_t *tile = &tiles[i].global;
        uint64_t after = (tile->kernelStart - first) & mask;
        int64_t tile_begin =
            after <= mask / 2 ? (int64_t)after : -(int64_t)((first - tile->kernelStart) & mask);
        int64_t tile_end = tile_begin + (int64_t)((tile->kernelEnd - tile->kernelStart) & mask);
        begin = tile_begin < begin ? tile_begin : begin;
        end = tile_end > end ? tile_end : end;
    }
    times->begin_ticks = first + (uint64_t)begin;
    times->end_ticks = first + (uint64_t)end;
    return result;
}

ZT__PRIVATE ze_result_t zt__read_kept_stamps(const zt_profiler *profiler, ze_event_handle_t event,
                                             int was_signalled, uint64_t signalled_end,
                                             zt__sample_times *times, const char **call) {
    ze_result_t result = zt__query_kernel_stamps(profiler, event, times, call);
    if (result != ZE_RESULT_SUCCESS || !was_signalled) {
        return result;
    }
    return times->end_ticks == signalled_end ? ZE_RESULT_NOT_READY
                                             : zt__query_kernel_stamps(profiler, event, times, call);
}

ZT__PRIVATE int zt__has_all_stamps(const uint64_t *stamps) {
    uint32_t i = 0;
    while (stamps && i < ZT__STAMPS && zt__load(&stamps[i]) != UINT64_MAX) {
        i++;
    }
    return i == ZT__STAMPS;
}

/* Queries whether the device is done with the commands of a slot, and then reads its reports. */
static void zt__read_slot(zt_profiler *profiler, zt__reading *reading) {
    zt__slot *slot = reading->slot;
    zt__sample_times *times = &reading->times;
    /* The time stamps of a launch cannot be read any more from the event of the application. */
    int has_lost_event = reading->from == ZT__SLOT_PENDING && slot->measurement == ZT__KEPT_EVENT_STAMPS &&
                         !reading->kept && !slot->has_saved_stamps;
    int is_copied = zt__has_all_stamps(slot->stamps);
    ze_result_t result = ZE_RESULT_NOT_READY;
    if (zt__is_device_lost(&profiler->diagnostics)) {
        zt__lose_to_device(reading);
        return;
    }
    if (has_lost_event) {
        zt__lose(reading, ZT_LOST_EVENT);
        reading->condition = ZT__NOT_RESET;
        return;
    }

    if (slot->measurement == ZT__SURROUNDING_COMMANDS) {
        reading->call = "zeEventQueryStatus";
        result = zeEventQueryStatus(slot->event);
    } else if (slot->measurement == ZT__EVENT_STAMPS ||
               (slot->measurement == ZT__COPIED_STAMPS && is_copied)) {
        result = zt__query_kernel_stamps(profiler, slot->event, times, &reading->call);
    } else if (slot->measurement == ZT__KEPT_EVENT_COPY && is_copied) {
        times->begin_ticks = slot->stamps[0];
        times->end_ticks = slot->stamps[1];
        result = ZE_RESULT_SUCCESS;
    } else if (slot->measurement == ZT__KEPT_EVENT_STAMPS && slot->has_saved_stamps) {
        times->begin_ticks = slot->saved_stamps[0];
        times->end_ticks = slot->saved_stamps[1];
        result = ZE_RESULT_SUCCESS;
    } else if (slot->measurement == ZT__KEPT_EVENT_STAMPS && reading->from == ZT__SLOT_PENDING) {
        /* All executions are submitted by zt_execute or seen by the tracer, which then reads the event. So
           what has signalled it is the last one. */
        result = zt__read_kept_stamps(profiler, reading->kept, slot->was_signalled, slot->signalled_end,
                                      times, &reading->call);
    }

    if (result == ZE_RESULT_SUCCESS) {
        reading->has_signalled = 1;
        reading->condition = ZT__NOT_RESET;
        if (reading->from != ZT__SLOT_PARTIAL && reading->cause != ZT_CAUSE_COUNT) {
            zt__lose(reading, reading->cause);
        } else if (reading->from != ZT__SLOT_PARTIAL) {
            zt__read_reports(profiler, reading);
        }
    } else if (result == ZE_RESULT_NOT_READY) {
        slot->failing_since_ns = 0;
        reading->condition = reading->is_gone ? ZT__NEVER_RUNS : ZT__NOT_READY;
    } else {
        reading->result = result;
        if (zt__means_device_loss(result)) {
            zt__store(&profiler->diagnostics.device_lost, 1);
            zt__lose_to_device(reading);
        } else if (reading->from != ZT__SLOT_PARTIAL && zt__has_failed_for_long(slot)) {
            zt__lose(reading, ZT_LOST_READ_FAILED);
            reading->condition = ZT__STILL_USED; /* the device may still execute it */
            slot->may_be_written = 1;
        }
    }
}

ZT__PRIVATE void zt__read_batch(zt_profiler *profiler, zt__collection *collection) {
    enum { MOST_NOT_READY = 32 };
    zt__batch *batch = &profiler->batch;
    const zt__list *list = NULL;
    int is_blocked[ZT__SLOT_STATE_COUNT];
    uint64_t seen_ns;
    uint32_t i, s, not_ready = 0;
    batch->report_count = 0;
    memset(is_blocked, 0, sizeof is_blocked);
    for (i = 0; i < batch->count; i++) {
        zt__reading *reading = &batch->readings[i];
        zt__slot *slot = reading->slot;
        if (slot->list != list) {
            list = slot->list;
            memset(is_blocked, 0, sizeof is_blocked);
            not_ready = 0;
        }
        if (reading->condition == ZT__NOT_READY &&
            (collection->thorough || reading->is_final || !is_blocked[reading->from])) {
            zt__read_slot(profiler, reading);
            if (reading->condition == ZT__NOT_READY && !slot->failing_since_ns) {
                is_blocked[reading->from] |= !slot->is_unordered || ++not_ready == MOST_NOT_READY;
            }
        }
        if (reading->condition == ZT__NOT_RESET && !zt__is_device_lost(&profiler->diagnostics)) {
            const char *call;
            ze_result_t result = ZE_RESULT_SUCCESS;
            slot->failing_since_ns = 0;
            slot->spans_passes = 0;
            slot->has_saved_stamps = slot->was_signalled = 0;
            if (slot->measurement < ZT__KEPT_EVENT_STAMPS) { /* else its own event is not used */
                result = zt__reset_handles(batch->pass, slot, &call);
            }
            for (s = 0; s < ZT__STAMPS && slot->measurement == ZT__KEPT_EVENT_COPY; s++) {
                zt__store(&slot->stamps[s], UINT64_MAX);
            }
            slot->needs_reset = result != ZE_RESULT_SUCCESS;
            if (slot->needs_reset) {
                reading->result = result;
                reading->call = call;
                slot->shows_end = 0; /* the event may have signalled before the next execution */
            } else {
                reading->condition = ZT__RESET;
            }
        }
    }
    seen_ns = zt__now_ns();
    for (i = 0; i < batch->count; i++) {
        batch->readings[i].times.not_after_ns = seen_ns;
    }
    if (list == collection->list) { /* it continues in the next batch */
        memcpy(collection->is_blocked, is_blocked, sizeof is_blocked);
    }
}
