/* Making probes, and what they have of the device. */

#include "regions/probes.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/memory.h"
#include "base/platform.h"
#include "base/shared.h"
#include "metrics/activation.h"
#include "metrics/driver.h"
#include "regions/profiler.h"
#include "regions/recordings.h"

/* ---- reading and resetting ------------------------------------------------------------------------------- */

/* In place of a time stamp that the device has not written. */
#define ZT__NO_STAMP UINT64_MAX

static ze_result_t zt__read_stamps(zt_profiler *profiler, zt__probe *probe, int has_ended,
                                   zt__sample_times *times, const char **call) {
    ze_result_t result = has_ended ? ZE_RESULT_SUCCESS : zeEventQueryStatus(probe->event);
    /* Atomic, because the list may run again unreported. */
    uint64_t end_ticks = probe->stamps ? zt__load(&probe->stamps[1]) : 0;
    (void)profiler;
    *call = "zeEventQueryStatus";
    if (result == ZE_RESULT_SUCCESS && end_ticks == ZT__NO_STAMP && !probe->is_dropped) {
        return ZE_RESULT_NOT_READY; /* drivers report SUCCESS of events that the host has reset */
    }
    if (result == ZE_RESULT_SUCCESS && times && probe->stamps) {
        times->begin_ticks = zt__load(&probe->stamps[0]);
        times->end_ticks = end_ticks;
    }
    return result;
}

ZT__PRIVATE ze_result_t zt__reset_probe(zt_profiler *profiler, zt__probe *probe, const char **call) {
    const zt__pass *pass = &profiler->passes[probe->pass];
    ze_result_t result;
    uint32_t g;
    *call = "zeEventHostReset";
    result = zeEventHostReset(probe->event);
    if (probe->stamps) {
        zt__store(&probe->stamps[1], ZT__NO_STAMP);
    }
    for (g = 0; g < pass->group_count && result == ZE_RESULT_SUCCESS; g++) {
        *call = "zetMetricQueryReset";
        result = zetMetricQueryReset(probe->queries[g]);
    }
    return result;
}

ZT__PRIVATE const zt__way zt__by_commands = {zt__read_stamps, zt__reset_probe, 0};

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

/* ---- making and destroying ------------------------------------------------------------------------------- */

ZT__PRIVATE void zt__destroy_block(zt_profiler *profiler, zt__probe_block *block) {
    const zt_allocator *allocator = &profiler->config.allocator;
    int may_be_written = 0;
    uint32_t i, g;
    for (i = 0; i < block->count && block->probes; i++) {
        may_be_written |= block->probes[i].may_be_written;
    }
    /* Memory that the device may still write to is not freed: a leak is better than a crash. */
    if (!may_be_written || zt__is_device_lost(&profiler->diagnostics)) {
        for (i = 0; i < block->count && block->probes; i++) {
            for (g = 0; g < ZT__MAX_GROUPS_IN_PASS; g++) {
                if (block->probes[i].queries[g]) {
                    zetMetricQueryDestroy(block->probes[i].queries[g]);
                }
            }
            if (block->probes[i].event) {
                zeEventDestroy(block->probes[i].event);
            }
        }
        for (g = 0; g < ZT__MAX_GROUPS_IN_PASS; g++) {
            if (block->query_pools[g]) {
                zt__destroy_query_pool(block->query_pools[g]);
            }
        }
        if (block->event_pool) {
            zeEventPoolDestroy(block->event_pool);
        }
        if (block->stamps) {
            zeMemFree(profiler->context, block->stamps);
        }
    }
    zt__free(allocator, block->probes);
    zt__free(allocator, block);
}

ZT__PRIVATE ze_result_t zt__make_probes(zt_profiler *profiler, zt__pass *pass, const char **call) {
    const zt_allocator *allocator = &profiler->config.allocator;
    int needs_stamps = profiler->is_stamped || pass->group_count == 0;
    ze_event_pool_desc_t event_pool;
    ze_host_mem_alloc_desc_t memory;
    ze_event_desc_t event;
    zt__probe_block *block;
    uint32_t count, i, g;
    ze_result_t result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    zt__lock(&profiler->mutex);
    count = profiler->config.max_probes - pass->probe_count;
    if (count > profiler->config.probes_per_step) {
        count = profiler->config.probes_per_step;
    }
    pass->probe_count += count; /* now, so that several threads together do not make too many */
    zt__unlock(&profiler->mutex);
    if (count == 0) {
        *call = NULL;
        return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    *call = "config.allocator";
    block = (zt__probe_block *)zt__allocate(allocator, 1, sizeof *block);
    if (block) {
        block->count = count;
        block->probes = (zt__probe *)zt__allocate(allocator, count, sizeof *block->probes);
        result = block->probes ? ZE_RESULT_SUCCESS : result;
    }

    for (g = 0; g < pass->group_count && result == ZE_RESULT_SUCCESS; g++) {
        *call = "zetMetricQueryPoolCreate";
        result = zt__create_query_pool(profiler->context, profiler->device, pass->groups[g].handle, count,
                                       &block->query_pools[g]);
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
        zt__probe *probe = &block->probes[i];
        probe->pass = pass->index;
        probe->way = &zt__by_commands;
        if (needs_stamps) {
            probe->stamps = block->stamps + ZT__STAMPS * (size_t)i;
            probe->stamps[0] = probe->stamps[1] = ZT__NO_STAMP;
        }
        *call = "zetMetricQueryCreate";
        for (g = 0; g < pass->group_count && result == ZE_RESULT_SUCCESS; g++) {
            result = zetMetricQueryCreate(block->query_pools[g], i, &probe->queries[g]);
        }
        if (result == ZE_RESULT_SUCCESS) {
            *call = "zeEventCreate";
            event.index = i;
            ZT__INTERNAL(result = zeEventCreate(block->event_pool, &event, &probe->event));
        }
    }
    if (block && result != ZE_RESULT_SUCCESS) {
        ZT__INTERNAL(zt__destroy_block(profiler, block));
    }

    zt__lock(&profiler->mutex);
    if (result == ZE_RESULT_SUCCESS) {
        for (i = 0; i < count; i++) {
            zt__free_probe(profiler, &block->probes[i]);
        }
        block->next = profiler->blocks;
        profiler->blocks = block;
    } else {
        pass->probe_count -= count;
    }
    zt__unlock(&profiler->mutex);
    return result;
}
