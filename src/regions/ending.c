/* What becomes of samples in flight when a profiler is closed, or its context is destroyed. */

#include "regions/ending.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/platform.h"
#include "base/shared.h"
#include "base/threads.h"
#include "metrics/driver.h"
#include "regions/collecting.h"
#include "regions/creation.h"
#include "regions/first_query.h"
#include "regions/profiler.h"
#include "regions/slots.h"

ZT__PRIVATE void zt__detach_profiler(zt_profiler *profiler) {
    const zt__pass *pass = &profiler->passes[profiler->active_pass];
    uint64_t deadline = zt__deadline(profiler->config.wait_timeout_ns);
    zt__list *list;
    uint32_t i;
    zt__unregister_profiler(profiler);
    for (i = 0; i < ZT__MAX_PASSES; i++) {
        ZT__INTERNAL(zt__finish_first_query(profiler, &profiler->passes[i], deadline));
    }
    while (profiler->blocks) {
        zt__slot_block *block = profiler->blocks;
        profiler->blocks = block->next;
        ZT__INTERNAL(zt__destroy_block(profiler, block));
    }
    if (profiler->device) {
        zt__deactivate_groups(profiler, pass, pass->group_count);
    }
    for (list = profiler->lists; list; list = list->next) {
        list->first = list->last = NULL;
    }
    for (i = 0; i <= ZT__TIMES_PASS; i++) {
        profiler->passes[i].first_free = NULL;
    }
    memset(profiler->state_counts, 0, sizeof profiler->state_counts);
    profiler->device = NULL;
    profiler->context = NULL;
    zt__register_profiler(profiler);
}

/* Returns whether a list may be running unseen: it runs without zt_execute, or may be immediate. */
static int zt__may_run_unseen(const zt__list *list) {
    return list->state == ZT__LIST_UNKNOWN || list->state == ZT__LIST_UNOBSERVED;
}

ZT__PRIVATE void zt__abandon_slots(zt_profiler *profiler, const char *call) {
    const char *not_ended = NULL;
    unsigned long long unfinished = 0, running = 0;
    zt__slot_block *block;
    uint32_t i;
    int may_run;
    zt__lock(&profiler->mutex);
    for (block = profiler->blocks; block; block = block->next) {
        for (i = 0; i < block->count; i++) {
            zt__slot *slot = &block->slots[i];
            switch (slot->state) {
            case ZT__SLOT_OPEN:
                not_ended = slot->region->name;
                zt__count_dropped(profiler, slot->region, slot->list, slot->submitted_ns,
                                  ZT_DROPPED_NOT_CLOSED);
                zt__leave_nesting(profiler, slot);
                zt__add(&slot->generation, 1);
                break;
            case ZT__SLOT_PENDING:
                unfinished++;
                zt__count_lost(profiler, slot, ZT_LOST_NEVER_DELIVERED, 1);
                break;
            case ZT__SLOT_RECORDED:
                if (zt__may_run_unseen(slot->list)) {
                    break;
                }
                zt__unbind_slot(slot);
                zt__free_slot(profiler, slot);
                continue;
            case ZT__SLOT_PARTIAL:
                /* The device may still execute what it has on its list. */
                may_run = zt__is_submitted(slot);
                if (zt__may_run_unseen(slot->list)) {
                    may_run = slot->is_dropped && slot->needs_reset && !zt__is_complete(slot) &&
                              (slot->list->state == ZT__LIST_UNOBSERVED ||
                               slot->number > slot->list->ran_up_to); /* else it has run */
                }
                if (!may_run) {
                    continue;
                }
                running++;
                break;
            default:
                continue;
            }
            /* Around a launch that signals an event of the application, the device writes nothing. */
            slot->may_be_written = slot->measurement != ZT__KEPT_EVENT_STAMPS;
            zt__move_slot(profiler, slot, ZT__SLOT_RETIRED);
        }
    }
    zt__unlock(&profiler->mutex);
    if (not_ended) {
        zt__report(&profiler->diagnostics, REGION_NOT_ENDED, ZE_RESULT_ERROR_INVALID_ARGUMENT, call,
                   not_ended);
    }
    if (unfinished) {
        zt__report(&profiler->diagnostics, NOT_FINISHED, ZE_RESULT_NOT_READY, call, unfinished);
    }
    if (running && !zt__is_device_lost(&profiler->diagnostics)) {
        zt__report(&profiler->diagnostics, DROPPED_RUNNING, ZE_RESULT_NOT_READY, call, running);
    }
}

ZT__PRIVATE void zt__collect_what_runs(zt_profiler *profiler) {
    const uint64_t brief_ns = 20000000;
    uint64_t timeout_ns = profiler->config.wait_timeout_ns;
    zt__wait wait = zt__wait_until(zt__deadline(timeout_ns));
    zt__collect_until(profiler, ZT__ALL_SAMPLES, zt__deadline(timeout_ns < brief_ns ? timeout_ns : brief_ns));
    for (;;) {
        const zt__list *list;
        int is_running;
        zt__lock(&profiler->mutex);
        is_running = profiler->state_counts[ZT__SLOT_PENDING] || profiler->state_counts[ZT__SLOT_READING];
        list = profiler->state_counts[ZT__SLOT_PARTIAL] ? profiler->lists : NULL;
        for (; list && !is_running; list = list->next) {
            is_running = zt__awaits_ends(list);
        }
        zt__unlock(&profiler->mutex);
        if (!is_running || !zt__wait_again(&wait)) {
            return;
        }
        zt__try_collect(profiler, NULL, 1);
    }
}
