/* zt_begin and zt_end. */

#include "regions/regions.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/platform.h"
#include "base/shared.h"
#include "base/threads.h"
#include "regions/collecting.h"
#include "regions/creation.h"
#include "regions/names.h"
#include "regions/profiler.h"
#include "regions/slots.h"

#define ZT__APPEND_REMEDY                                                                                    \
    "The region is not measured. The list must be open for commands, and of the profiler's context."

/* ---- beginning ------------------------------------------------------------------------------------------- */

ZT__PRIVATE zt__list_state zt__query_list_kind(const zt_profiler *profiler, ze_command_list_handle_t handle) {
    ze_bool_t is_immediate = 0;
    ze_result_t result = ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    if (profiler->driver.zeCommandListIsImmediate) {
        ZT__INTERNAL(result = profiler->driver.zeCommandListIsImmediate(handle, &is_immediate));
    }
    if (result != ZE_RESULT_SUCCESS) {
        return ZT__LIST_UNKNOWN;
    }
    return is_immediate ? ZT__LIST_IMMEDIATE : ZT__LIST_RECORDED;
}

/* Updates what is known about a list when a region is begun on it. Returns whether slots have become final.
   With the mutex held. */
static int zt__note_begin(zt_profiler *profiler, zt__list *list, zt__list_state kind) {
    uint64_t final_before = list->final_up_to, complete;
    if (list->state == ZT__LIST_UNKNOWN) {
        zt__move_list(profiler, list, kind);
    } else if (kind != ZT__LIST_UNKNOWN &&
               (kind == ZT__LIST_IMMEDIATE) != (list->state == ZT__LIST_IMMEDIATE)) {
        list->final_up_to = list->complete_up_to = list->ended; /* the list with this handle was destroyed */
        zt__move_list(profiler, list, kind);
    } else if (kind == ZT__LIST_UNKNOWN && list->state == ZT__LIST_IMMEDIATE &&
               profiler->driver.zeCommandListIsImmediate) {
        /* The query has failed, and the handle may be that of a recorded list now. */
        zt__move_list(profiler, list, kind);
    }
    /* A recorded list that has run accepts commands only after a reset. An immediate list never runs commands
       twice. Slots that ended after the newest one that has run may belong to the recording that goes on. */
    if (list->ran_up_to > list->final_up_to) {
        list->final_up_to = list->ran_up_to;
    }
    /* A recorded list is not reset before the device is done with it. An immediate list may be in use. */
    complete = kind == ZT__LIST_RECORDED ? list->final_up_to : list->ran_up_to;
    if (complete > list->complete_up_to) {
        list->complete_up_to = complete;
    }
    list->overlaps = 0;
    return list->final_up_to > final_before;
}

/* Returns the pass whose slots a region uses. With the mutex held. */
static zt__pass *zt__pass_to_measure(zt_profiler *profiler, int times_alone) {
    int is_extra = times_alone && profiler->metric_count > 0;
    return &profiler->passes[is_extra ? (uint32_t)ZT__TIMES_PASS : profiler->active_pass];
}

/* Collects because zt_begin has found no free slot. If this shows that slots of the list have run, they are
   final, and the next collection frees them. Returns whether there are free slots. No mutex is held. */
static int zt__free_slots_for(zt_profiler *profiler, zt__list *list, zt__list_state kind, int times_alone,
                              int waits) {
    uint64_t deadline = zt__deadline(profiler->config.wait_timeout_ns);
    int has_free, more_are_final;
    do {
        if (waits) {
            zt__collect_until(profiler, ZT__ONE_COLLECTION, deadline);
        } else {
            zt__try_collect(profiler, NULL, 0);
        }
        zt__lock(&profiler->mutex);
        has_free = zt__pass_to_measure(profiler, times_alone)->first_free != NULL;
        more_are_final = zt__note_begin(profiler, list, kind);
        zt__unlock(&profiler->mutex);
    } while (!has_free && more_are_final);
    return has_free;
}

/* Provides free slots: collects, then makes more slots, and at config.max_slots waits for another collection.
   Returns ZT_CAUSE_COUNT, or the cause if there are still none. No mutex is held. */
static zt_cause zt__provide_slots(zt_profiler *profiler, zt__list *list, zt__list_state kind,
                                  int times_alone) {
    static const char remedy[] = "No slots can be added now. Regions that find none are dropped.";
    enum { PAUSE_AFTER_FAILURE_NS = 100000000 };
    uint64_t now = zt__now_ns();
    zt__pass *pass;
    const char *call;
    int may_grow;
    ze_result_t result;
    if (zt__free_slots_for(profiler, list, kind, times_alone, 0)) {
        return ZT_CAUSE_COUNT;
    }
    zt__lock(&profiler->mutex);
    may_grow = now >= profiler->no_growth_until_ns;
    pass = zt__pass_to_measure(profiler, times_alone);
    zt__unlock(&profiler->mutex);
    if (!may_grow) {
        return ZT_DROPPED_NO_MEMORY;
    }
    result = zt__make_slots(profiler, pass, &call);
    if (result == ZE_RESULT_SUCCESS) {
        return ZT_CAUSE_COUNT;
    }
    if (call) {
        zt__lock(&profiler->mutex);
        profiler->no_growth_until_ns = now + PAUSE_AFTER_FAILURE_NS;
        zt__unlock(&profiler->mutex);
        zt__check(&profiler->diagnostics, result, call, remedy);
        return ZT_DROPPED_NO_MEMORY;
    }
    /* There are config.max_slots. */
    return zt__free_slots_for(profiler, list, kind, times_alone, 1) ? ZT_CAUSE_COUNT : ZT_DROPPED_NO_SLOT;
}

/* Counts a region that zt_begin drops before it looks up the name. */
static void zt__drop_at_begin(zt_profiler *profiler, zt_cause cause) {
    zt__lock(&profiler->mutex);
    profiler->counts.begun++;
    zt__count_dropped(profiler, NULL, NULL, zt__now_ns(), cause);
    zt__unlock(&profiler->mutex);
}

ZT__PRIVATE void zt__drop_open_slot(zt_profiler *profiler, zt__slot *slot, zt_cause cause, int has_commands) {
    zt__count_dropped(profiler, slot->region, slot->list, slot->submitted_ns, cause);
    zt__leave_nesting(profiler, slot);
    zt__add(&slot->generation, 1);
    slot->is_dropped = slot->needs_reset = 1;
    if (has_commands) {
        zt__move_slot(profiler, slot, ZT__SLOT_PARTIAL);
        zt__bind_slot(slot);
    } else {
        slot->list->open_count--;
        zt__free_slot(profiler, slot);
    }
}

/* Appends a time stamp of the device. With `after_work`, a barrier before it makes it wait for earlier
   commands. On failure, `*call` is the call that failed. */
static ze_result_t zt__append_stamp(ze_command_list_handle_t list, uint64_t *stamp, int after_work,
                                    ze_event_handle_t signal, int *has_commands, const char **call) {
    ze_result_t result = ZE_RESULT_SUCCESS;
    *call = "zeCommandListAppendBarrier";
    if (after_work) {
        ZT__INTERNAL(result = zeCommandListAppendBarrier(list, NULL, 0, NULL));
    }
    if (result == ZE_RESULT_SUCCESS) {
        *has_commands |= after_work;
        *call = "zeCommandListAppendWriteGlobalTimestamp";
        ZT__INTERNAL(result = zeCommandListAppendWriteGlobalTimestamp(list, stamp, signal, 0, NULL));
        *has_commands |= result == ZE_RESULT_SUCCESS;
    }
    return result;
}

/* Called after the begin or the end of a region was appended. If the driver has refused a command, appends a
   barrier with the event of the slot, which shows when the device is done with the commands before it. The
   message comes last, because the log function may destroy the list. */
static ze_result_t zt__complete_append(zt_profiler *profiler, zt__slot *slot, ze_command_list_handle_t list,
                                       ze_result_t result, const char *call, int has_commands) {
    ze_result_t marked = ZE_RESULT_NOT_READY;
    if (result != ZE_RESULT_SUCCESS && has_commands && !zt__means_device_loss(result)) {
        ZT__INTERNAL(marked = zeCommandListAppendBarrier(list, slot->event, 0, NULL));
    }
    slot->shows_end = marked == ZE_RESULT_SUCCESS;
    return zt__check(&profiler->diagnostics, result, call, ZT__APPEND_REMEDY);
}

/* Opens a slot for a region. If there is none, returns NULL, and counts the region as dropped by `*cause`. */
static zt__slot *zt__open_slot(zt_profiler *profiler, ze_command_list_handle_t handle, zt__list_state kind,
                               const char *name, int times_alone, zt_cause *cause) {
    enum { TRIES = 4 };
    zt__region_record *region;
    zt__path *path = NULL;
    zt__list *list;
    zt__slot *slot = NULL;
    uint32_t tries;
    *cause = ZT_DROPPED_NO_MEMORY;
    zt__lock(&profiler->mutex);
    region = zt__find_or_add_region(profiler, name, cause);
    list = zt__find_list(profiler, handle);
    if (region && !list) {
        list = zt__add_list(profiler, handle);
    }
    if (region && list) {
        list->open_count++; /* keeps the record of the list while the mutex is unlocked */
        zt__note_begin(profiler, list, kind);
        *cause = ZT_CAUSE_COUNT;
        for (tries = 0; !slot && *cause == ZT_CAUSE_COUNT; tries++) {
            /* Found anew in each try, because callbacks in zt__provide_slots may begin and end regions. */
            path = zt__find_or_add_path(profiler, list->innermost ? list->innermost->path : &profiler->root,
                                        region);
            slot = path ? zt__pop_free_slot(zt__pass_to_measure(profiler, times_alone)) : NULL;
            if (!path) {
                *cause = ZT_DROPPED_NO_MEMORY;
            } else if (!slot && tries == TRIES) {
                *cause = ZT_DROPPED_NO_SLOT; /* other threads have acquired the new slots */
            } else if (!slot) {
                zt__unlock(&profiler->mutex);
                *cause = zt__provide_slots(profiler, list, kind, times_alone);
                zt__lock(&profiler->mutex);
            }
        }
        list->open_count--;
    }

    if (slot) {
        slot->path = path;
        slot->outer = list->innermost;
        list->innermost = slot;
        zt__move_slot(profiler, slot, ZT__SLOT_OPEN);
        /* No zt_region of the slot is valid, so no zt_end increases it meanwhile. */
        zt__store(&slot->generation, zt__load(&slot->generation) + 1);
        slot->activation = profiler->activation;
        slot->list = list;
        slot->region = region;
        slot->is_dropped = slot->needs_reset = slot->shows_end = 0;
        slot->measurement = ZT__SURROUNDING_COMMANDS;
        slot->is_unordered = slot->trails_event = 0;
        slot->was_signalled = slot->has_saved_stamps = slot->copy_may_be_late = 0;
        slot->overwritten = 0;
        slot->bytes = 0;
        /* A recording is submitted after its first region is begun, so the clock is read once for all regions
           of it. Timelines show when each region was begun. */
        if (profiler->timeline || list->state == ZT__LIST_IMMEDIATE || list->state == ZT__LIST_UNKNOWN ||
            list->ended == list->final_up_to) {
            list->begun_ns = zt__now_ns();
        }
        slot->submitted_ns = slot->not_before_ns = list->begun_ns;
        list->open_count++;
    } else {
        profiler->counts.begun++;
        zt__count_dropped(profiler, region, list, zt__now_ns(), *cause);
        if (list && list->innermost) {
            list->innermost->path->is_own_unknown = 1;
        }
    }
    zt__unlock(&profiler->mutex);
    return slot;
}

ZT__PRIVATE zt_region zt__begin_region(zt_profiler *profiler, ze_command_list_handle_t list,
                                       zt__list_state kind, const char *name, int times_alone) {
    zt_region region = {NULL, 0, 0, 0};
    uint64_t states[ZT__SLOT_STATE_COUNT];
    const char *open;
    zt__slot *slot;
    zt_cause cause;
    if (zt__is_device_lost(&profiler->diagnostics)) {
        zt__drop_at_begin(profiler, ZT_DROPPED_DEVICE_LOST);
        return region;
    }
    slot = zt__open_slot(profiler, list, kind, name, times_alone, &cause);
    if (!slot && cause == ZT_DROPPED_NO_SLOT) {
        zt__count_states(profiler, states);
        open = zt__name_open_region(profiler);
        if (open && states[ZT__SLOT_OPEN] * 2 >= profiler->config.max_slots) {
            zt__report(&profiler->diagnostics, SLOTS_NOT_ENDED, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY,
                       (unsigned)profiler->config.max_slots, (unsigned)states[ZT__SLOT_OPEN], open, name);
            return region;
        }
        zt__report(&profiler->diagnostics, NO_SLOT, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY,
                   (unsigned)profiler->config.max_slots,
                   (unsigned)(states[ZT__SLOT_RECORDED] + states[ZT__SLOT_ARMED]), name);
    } else if (!slot && cause == ZT_DROPPED_TOO_MANY_NAMES) {
        zt__report(&profiler->diagnostics, TOO_MANY_NAMES, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "zt_begin",
                   (unsigned)ZT__MAX_REGIONS);
    } else if (!slot) {
        zt__report_no_memory(&profiler->diagnostics, "zt_begin", "a region");
    }
    if (!slot) {
        return region;
    }
    if (profiler->timeline) {
        memset(&slot->origin, 0, sizeof slot->origin);
        slot->origin.list_name = slot->list->name;
        slot->origin.appended_by = slot->origin.submitted_by = zt__get_thread_number();
        slot->origin.appended_ns = slot->submitted_ns;
    }
    region.generation = zt__load(&slot->generation);
    region.slot = slot;
    region.profiler = profiler->id;
    return region;
}

ZT__PRIVATE zt_region zt__begin_on(zt_profiler *profiler, ze_command_list_handle_t list, zt__list_state kind,
                                   const char *name, int times_alone) {
    zt_region region = zt__begin_region(profiler, list, kind, name, times_alone);
    zt__slot *slot = (zt__slot *)region.slot;
    const zt__pass *pass;
    const char *call = NULL;
    int has_commands = 0;
    uint32_t g;
    ze_result_t result = ZE_RESULT_SUCCESS;
    if (!slot) {
        return region;
    }
    pass = &profiler->passes[slot->pass];
    for (g = 0; g < pass->group_count && result == ZE_RESULT_SUCCESS; g++) {
        call = "zetCommandListAppendMetricQueryBegin";
        result = zetCommandListAppendMetricQueryBegin(list, slot->queries[g]);
        has_commands |= result == ZE_RESULT_SUCCESS;
    }
    if (slot->stamps && result == ZE_RESULT_SUCCESS) {
        result = zt__append_stamp(list, &slot->stamps[0], pass->group_count == 0, NULL, &has_commands, &call);
    }
    if (zt__complete_append(profiler, slot, list, result, call, has_commands) != ZE_RESULT_SUCCESS) {
        zt__lock(&profiler->mutex);
        /* The log function may have released the list, which has dropped the region. */
        if (slot->state == ZT__SLOT_OPEN && zt__load(&slot->generation) == region.generation) {
            zt__drop_open_slot(profiler, slot, ZT_DROPPED_APPEND_FAILED, has_commands);
        }
        zt__unlock(&profiler->mutex);
        region.slot = NULL;
    }
    return region;
}

ZT_API zt_region zt_begin(zt_profiler *profiler, ze_command_list_handle_t list, const char *name) {
    static const zt_region none = {NULL, 0, 0, 0};
    if (!profiler || !profiler->device) {
        return none;
    }
    if (!list) {
        zt__drop_at_begin(profiler, ZT_DROPPED_APPEND_FAILED);
        zt__report_null_handle(&profiler->diagnostics, "zt_begin", "list");
        return none;
    }
    return zt__begin_on(profiler, list, zt__query_list_kind(profiler, list), zt__shown_name(name), 0);
}

/* ---- ending ---------------------------------------------------------------------------------------------- */

ZT__PRIVATE void zt__end(zt_region *region, int refused) {
    zt__slot *slot = (zt__slot *)region->slot;
    zt_profiler *profiler = slot ? zt__find_profiler(region->profiler) : NULL;
    const char *call = NULL;
    int is_due = 0, wakes_thread = 0, has_commands;
    uint32_t g;
    ze_result_t result = ZE_RESULT_SUCCESS;
    region->slot = NULL;
    if (!profiler) {
        return;
    }
    if (!zt__increment_if(&slot->generation, region->generation)) {
        return; /* it was dropped, or a copy of this zt_region has ended it */
    }
    has_commands = slot->measurement == ZT__SURROUNDING_COMMANDS;
    if (has_commands) {
        const zt__pass *pass = &profiler->passes[slot->pass];
        ze_command_list_handle_t list = slot->list->handle;
        /* The last command signals the event: then the others are complete, too. */
        if (slot->stamps) {
            result = zt__append_stamp(list, &slot->stamps[1], 1, pass->group_count ? NULL : slot->event,
                                      &has_commands, &call);
        }
        for (g = pass->group_count; g-- > 0 && result == ZE_RESULT_SUCCESS;) {
            call = "zetCommandListAppendMetricQueryEnd";
            /* It waits for no event, but the validation layer rejects a NULL pointer. */
            result = zetCommandListAppendMetricQueryEnd(list, slot->queries[g], g ? NULL : slot->event, 0,
                                                        &slot->event);
        }
        zt__complete_append(profiler, slot, list, result, call, has_commands);
    }
    zt__lock(&profiler->mutex);
    if (slot->state != ZT__SLOT_OPEN || zt__load(&slot->generation) != region->generation + 1) {
        /* The list was released meanwhile, which has dropped the region. */
    } else if (result != ZE_RESULT_SUCCESS || refused) {
        slot->shows_end |= result == ZE_RESULT_SUCCESS;
        zt__drop_open_slot(profiler, slot, ZT_DROPPED_APPEND_FAILED, has_commands);
    } else {
        zt__list_state kind = slot->list->state;
        if (profiler->timeline) {
            uint64_t append_ns = zt__now_ns() - slot->submitted_ns;
            slot->origin.append_ns = append_ns < UINT32_MAX ? (uint32_t)append_ns : UINT32_MAX;
        }
        slot->spans_passes = slot->activation != profiler->activation && slot->pass != ZT__TIMES_PASS;
        zt__leave_nesting(profiler, slot);
        zt__move_slot(profiler, slot, kind == ZT__LIST_IMMEDIATE ? ZT__SLOT_PENDING : ZT__SLOT_RECORDED);
        zt__bind_slot(slot);
        if (kind == ZT__LIST_IMMEDIATE || kind == ZT__LIST_UNKNOWN) {
            profiler->uncollected++;
            is_due = !profiler->config.thread && profiler->uncollected >= ZT__BATCH;
            wakes_thread = zt__must_wake_thread(profiler);
        }
    }
    zt__unlock(&profiler->mutex);
    if (is_due) {
        zt__try_collect(profiler, NULL, 0);
    }
    if (wakes_thread) {
        zt__wake_thread(&profiler->thread);
    }
}

ZT_API void zt_end(zt_region *region) {
    if (region) {
        zt__end(region, 0);
    }
}
