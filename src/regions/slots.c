/* The states of slots, the slots of a list, and what a slot has of the device. */

#include "regions/slots.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/memory.h"
#include "base/platform.h"
#include "base/shared.h"
#include "metrics/driver.h"
#include "regions/profiler.h"

/* ---- states: with the mutex held ------------------------------------------------------------------------- */

ZT__PRIVATE void zt__count_begun(zt_profiler *profiler, zt__path *path, int change) {
    profiler->counts.begun += (uint64_t)change;
    path->missing += (uint64_t)change;
}

ZT__PRIVATE void zt__move_slot(zt_profiler *profiler, zt__slot *slot, zt__slot_state to) {
    zt__transition transition = (zt__transition)zt__transitions[slot->state][to];
    ZT__INVARIANT(transition != ZT__NO);
    if (transition == ZT__BEGINS) {
        zt__count_begun(profiler, slot->path, 1);
    } else if (transition == ZT__BACK) {
        zt__count_begun(profiler, slot->path, -1);
    }
    profiler->state_counts[slot->state]--;
    profiler->state_counts[to]++;
    slot->state = to;
}

ZT__PRIVATE void zt__move_list(zt_profiler *profiler, zt__list *list, zt__list_state to) {
    if (to == ZT__LIST_UNOBSERVED && list->state != to) {
        profiler->counts.unobserved_lists++;
    }
    list->state = to;
}

ZT__PRIVATE int zt__is_final(const zt__slot *slot) {
    return slot->number <= slot->list->final_up_to;
}

ZT__PRIVATE int zt__is_complete(const zt__slot *slot) {
    return slot->number <= slot->list->complete_up_to;
}

ZT__PRIVATE int zt__is_submitted(const zt__slot *slot) {
    return slot->needs_reset && !zt__is_complete(slot) &&
           (slot->list->state == ZT__LIST_IMMEDIATE || slot->number <= slot->list->ran_up_to);
}

ZT__PRIVATE int zt__shows_end(const zt__slot *slot) {
    return slot->state == ZT__SLOT_PARTIAL && slot->shows_end && !slot->list->overlaps;
}

ZT__PRIVATE int zt__ran_unobserved(const zt__slot *slot) {
    const zt__list *list = slot->list;
    return slot->number > list->destroyed_up_to ? list->state == ZT__LIST_UNOBSERVED
                                                : list->destroyed_was_unobserved;
}

ZT__PRIVATE int zt__awaits_ends(const zt__list *list) {
    const zt__slot *slot = list->first;
    while (slot && !(zt__shows_end(slot) && zt__is_submitted(slot))) {
        slot = slot->next;
    }
    return slot != NULL;
}

ZT__PRIVATE int zt__is_on_its_way(const zt__list *list) {
    const zt__slot *slot = list->first;
    while (slot && slot->state != ZT__SLOT_PENDING && slot->state != ZT__SLOT_READING) {
        slot = slot->next;
    }
    return slot != NULL;
}

ZT__PRIVATE void zt__count_lost(zt_profiler *profiler, const zt__slot *slot, zt_cause cause, int by) {
    profiler->counts.lost += (uint64_t)by;
    profiler->causes[cause] += (uint64_t)by;
    slot->region->lost += (uint64_t)by;
    if (profiler->sample_missing) {
        zt__missing missing = {
            slot->region, slot->list->handle, slot->origin.list_name, slot->submitted_ns, cause, 1, 0};
        profiler->sample_missing(profiler, &missing, by);
    }
}

ZT__PRIVATE void zt__count_dropped(zt_profiler *profiler, zt__region_record *region, const zt__list *list,
                                   uint64_t since_ns, zt_cause cause) {
    profiler->counts.dropped++;
    profiler->causes[cause]++;
    if (region) {
        region->dropped++;
    }
    if (profiler->sample_missing) {
        zt__missing missing = {
            region, list ? list->handle : NULL, list ? list->name : NULL, since_ns, cause, 1, 0};
        profiler->sample_missing(profiler, &missing, 1);
    }
}

ZT__PRIVATE void zt__count_states(const zt_profiler *profiler, uint64_t counts[ZT__SLOT_STATE_COUNT]) {
    zt_profiler *locked = zt__mutable(profiler);
    uint32_t state;
    zt__lock(&locked->mutex);
    for (state = 0; state < ZT__SLOT_STATE_COUNT; state++) {
        counts[state] = locked->state_counts[state];
    }
    zt__unlock(&locked->mutex);
}

ZT__PRIVATE const char *zt__name_open_region(const zt_profiler *profiler) {
    zt_profiler *locked = zt__mutable(profiler);
    const zt__list *list;
    const char *name;
    zt__lock(&locked->mutex);
    list = locked->state_counts[ZT__SLOT_OPEN] ? locked->lists : NULL;
    while (list && !list->innermost) {
        list = list->next;
    }
    name = list ? list->innermost->region->name : NULL;
    zt__unlock(&locked->mutex);
    return name;
}

/* ---- the slots of a list, and free ones: with the mutex held --------------------------------------------- */

ZT__PRIVATE void zt__leave_nesting(zt_profiler *profiler, zt__slot *slot) {
    zt__slot **place = &slot->list->innermost;
    if (*place != slot) {
        (slot->outer ? slot->outer->path : &profiler->root)->is_own_unknown = 1;
        slot->path->is_own_unknown = 1;
    }
    for (; *place != slot; place = &(*place)->outer) {
        (*place)->path->outlives_outer = 1;
    }
    *place = slot->outer;
}

ZT__PRIVATE void zt__bind_slot(zt__slot *slot) {
    zt__list *list = slot->list;
    slot->number = ++list->ended;
    list->open_count--;
    slot->next = NULL;
    slot->previous = list->last;
    if (list->last) {
        list->last->next = slot;
    } else {
        list->first = slot;
    }
    list->last = slot;
}

ZT__PRIVATE void zt__unbind_slot(zt__slot *slot) {
    zt__list *list = slot->list;
    if (slot->previous) {
        slot->previous->next = slot->next;
    } else {
        list->first = slot->next;
    }
    if (slot->next) {
        slot->next->previous = slot->previous;
    } else {
        list->last = slot->previous;
    }
    slot->list = NULL;
}

ZT__PRIVATE void zt__push_free_slot(zt_profiler *profiler, zt__slot *slot) {
    zt__pass *pass = &profiler->passes[slot->pass];
    slot->next = NULL;
    if (pass->first_free) {
        pass->last_free->next = slot;
    } else {
        pass->first_free = slot;
    }
    pass->last_free = slot;
}

ZT__PRIVATE zt__slot *zt__pop_free_slot(zt__pass *pass) {
    zt__slot *slot = pass->first_free;
    if (slot) {
        pass->first_free = slot->next;
    }
    return slot;
}

ZT__PRIVATE void zt__free_slot(zt_profiler *profiler, zt__slot *slot) {
    zt__move_slot(profiler, slot, ZT__SLOT_FREE);
    slot->list = NULL;
    slot->kept = NULL;
    zt__push_free_slot(profiler, slot);
}

/* ---- making and resetting slots: no mutex held ----------------------------------------------------------- */

ZT__PRIVATE void zt__destroy_block(zt_profiler *profiler, zt__slot_block *block) {
    const zt_allocator *allocator = &profiler->config.allocator;
    int may_be_written = 0;
    uint32_t i, g;
    for (i = 0; i < block->count && block->slots; i++) {
        may_be_written |= block->slots[i].may_be_written;
    }
    /* Memory that the device may still write to is not freed: a leak is better than a crash. */
    if (!may_be_written || zt__is_device_lost(&profiler->diagnostics)) {
        for (i = 0; i < block->count && block->slots; i++) {
            for (g = 0; g < ZT__MAX_GROUPS_IN_PASS; g++) {
                if (block->slots[i].queries[g]) {
                    zetMetricQueryDestroy(block->slots[i].queries[g]);
                }
            }
            if (block->slots[i].event) {
                zeEventDestroy(block->slots[i].event);
            }
        }
        for (g = 0; g < ZT__MAX_GROUPS_IN_PASS; g++) {
            if (block->query_pools[g]) {
                zetMetricQueryPoolDestroy(block->query_pools[g]);
            }
        }
        if (block->event_pool) {
            zeEventPoolDestroy(block->event_pool);
        }
        if (block->stamps) {
            zeMemFree(profiler->context, block->stamps);
        }
    }
    zt__free(allocator, block->slots);
    zt__free(allocator, block);
}

ZT__PRIVATE ze_result_t zt__reset_handles(const zt__pass *pass, const zt__slot *slot, const char **call) {
    ze_result_t result;
    uint32_t g;
    *call = "zeEventHostReset";
    result = zeEventHostReset(slot->event);
    for (g = 0; g < pass->group_count && result == ZE_RESULT_SUCCESS; g++) {
        *call = "zetMetricQueryReset";
        result = zetMetricQueryReset(slot->queries[g]);
    }
    return result;
}

ZT__PRIVATE ze_result_t zt__make_slots(zt_profiler *profiler, zt__pass *pass, const char **call) {
    const zt_allocator *allocator = &profiler->config.allocator;
    int needs_stamps = profiler->is_stamped || pass->group_count == 0;
    zet_metric_query_pool_desc_t query_pool;
    ze_event_pool_desc_t event_pool;
    ze_host_mem_alloc_desc_t memory;
    ze_event_desc_t event;
    zt__slot_block *block;
    uint32_t count, i, g;
    ze_result_t result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    zt__lock(&profiler->mutex);
    count = profiler->config.max_slots - pass->slot_count;
    if (count > profiler->config.slots_per_step) {
        count = profiler->config.slots_per_step;
    }
    pass->slot_count += count; /* now, so that several threads together do not make too many */
    zt__unlock(&profiler->mutex);
    if (count == 0) {
        *call = NULL;
        return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    *call = "config.allocator";
    block = (zt__slot_block *)zt__allocate(allocator, 1, sizeof *block);
    if (block) {
        block->count = count;
        block->slots = (zt__slot *)zt__allocate(allocator, count, sizeof *block->slots);
        result = block->slots ? ZE_RESULT_SUCCESS : result;
    }

    memset(&query_pool, 0, sizeof query_pool);
    query_pool.stype = ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC;
    query_pool.type = ZET_METRIC_QUERY_POOL_TYPE_PERFORMANCE;
    query_pool.count = count;
    for (g = 0; g < pass->group_count && result == ZE_RESULT_SUCCESS; g++) {
        *call = "zetMetricQueryPoolCreate";
        result = zetMetricQueryPoolCreate(profiler->context, profiler->device, pass->groups[g].handle,
                                          &query_pool, &block->query_pools[g]);
    }
    if (result == ZE_RESULT_SUCCESS) {
        memset(&event_pool, 0, sizeof event_pool);
        event_pool.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC;
        event_pool.flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE;
        if (pass->group_count == 0) { /* for launches that are measured by their event */
            event_pool.flags |= ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP;
        }
        event_pool.count = count;
        *call = "zeEventPoolCreate";
        ZT__INTERNAL(result = zeEventPoolCreate(profiler->context, &event_pool, 1, &profiler->device,
                                                &block->event_pool));
    }
    if (result == ZE_RESULT_SUCCESS && needs_stamps) {
        memset(&memory, 0, sizeof memory);
        memory.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC;
        *call = "zeMemAllocHost";
        ZT__INTERNAL(result = zeMemAllocHost(profiler->context, &memory,
                                             (size_t)count * ZT__STAMPS * sizeof *block->stamps,
                                             ZT__STAMPS * sizeof *block->stamps, (void **)&block->stamps));
    }
    memset(&event, 0, sizeof event);
    event.stype = ZE_STRUCTURE_TYPE_EVENT_DESC;
    event.signal = ZE_EVENT_SCOPE_FLAG_HOST;
    event.wait = ZE_EVENT_SCOPE_FLAG_HOST;
    for (i = 0; i < count && result == ZE_RESULT_SUCCESS; i++) {
        zt__slot *slot = &block->slots[i];
        slot->pass = pass->index;
        if (needs_stamps) {
            slot->stamps = block->stamps + ZT__STAMPS * (size_t)i;
            memset(slot->stamps, 0xFF, ZT__STAMPS * sizeof *slot->stamps); /* not written */
        }
        *call = "zetMetricQueryCreate";
        for (g = 0; g < pass->group_count && result == ZE_RESULT_SUCCESS; g++) {
            result = zetMetricQueryCreate(block->query_pools[g], i, &slot->queries[g]);
        }
        if (result == ZE_RESULT_SUCCESS) {
            *call = "zeEventCreate";
            event.index = i;
            ZT__INTERNAL(result = zeEventCreate(block->event_pool, &event, &slot->event));
        }
    }
    if (block && result != ZE_RESULT_SUCCESS) {
        ZT__INTERNAL(zt__destroy_block(profiler, block));
    }

    zt__lock(&profiler->mutex);
    if (result == ZE_RESULT_SUCCESS) {
        for (i = 0; i < count; i++) {
            zt__push_free_slot(profiler, &block->slots[i]);
        }
        profiler->state_counts[ZT__SLOT_FREE] += count;
        block->next = profiler->blocks;
        profiler->blocks = block;
    } else {
        pass->slot_count -= count;
    }
    zt__unlock(&profiler->mutex);
    return result;
}
