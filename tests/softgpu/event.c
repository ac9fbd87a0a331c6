/* Event pools and events. */
#include "work.h"

#include <stdlib.h>

ze_result_t sg_zeEventPoolCreate(ze_context_handle_t context, const ze_event_pool_desc_t *desc,
                                 uint32_t device_count, ze_device_handle_t *devices,
                                 ze_event_pool_handle_t *out_pool) {
    sg_object *owner = sg_context_of(context);
    SG_NEED_HANDLE(owner);
    SG_NEED_POINTER(desc);
    SG_NEED_POINTER(out_pool);
    if (desc->flags & ~0xfu)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    if (!desc->count || (!devices && device_count))
        return ZE_RESULT_ERROR_INVALID_SIZE;
    for (uint32_t i = 0; i < device_count; ++i)
        SG_NEED_HANDLE(sg_device_of(devices[i]));
    _Atomic uint8_t *taken = calloc(desc->count, sizeof *taken);
    sg_event_pool *pool = taken ? sg_object_create(SG_EVENT_POOL, sizeof *pool, owner) : NULL;
    if (!pool) {
        free((void *)taken);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    pool->count = desc->count;
    pool->flags = desc->flags;
    pool->taken = taken;
    *out_pool = (ze_event_pool_handle_t)pool;
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeEventPoolDestroy(ze_event_pool_handle_t handle) {
    sg_event_pool *pool = sg_event_pool_of(handle);
    if (!pool)
        return sg_object_refuse(handle, SG_EVENT_POOL);
    free((void *)pool->taken);
    pool->taken = NULL;
    sg_object_destroy(pool);
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeEventPoolGetContextHandle(ze_event_pool_handle_t handle, ze_context_handle_t *context) {
    const sg_event_pool *pool = sg_event_pool_of(handle);
    SG_NEED_HANDLE(pool);
    SG_NEED_POINTER(context);
    *context = (ze_context_handle_t)pool->object.parent;
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeEventPoolGetFlags(ze_event_pool_handle_t handle, ze_event_pool_flags_t *flags) {
    const sg_event_pool *pool = sg_event_pool_of(handle);
    SG_NEED_HANDLE(pool);
    SG_NEED_POINTER(flags);
    *flags = pool->flags;
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeEventCreate(ze_event_pool_handle_t handle, const ze_event_desc_t *desc,
                             ze_event_handle_t *out_event) {
    sg_event_pool *pool = sg_event_pool_of(handle);
    SG_NEED_HANDLE(pool);
    SG_NEED_POINTER(desc);
    SG_NEED_POINTER(out_event);
    if ((desc->signal | desc->wait) & ~0x7u)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    if (desc->index >= pool->count)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    if (atomic_exchange(&pool->taken[desc->index], 1)) {
        sg_finding("two EVENTs at one place of a pool");
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    sg_event *event = sg_object_create(SG_EVENT, sizeof *event, pool);
    if (!event) {
        atomic_store(&pool->taken[desc->index], 0);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    event->pool = pool;
    event->index = desc->index;
    *out_event = (ze_event_handle_t)event;
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeEventDestroy(ze_event_handle_t handle) {
    sg_event *event = sg_event_of(handle);
    if (!event)
        return sg_object_refuse(handle, SG_EVENT);
    if (sg_object_is(&event->pool->object, event->object.parent_serial))
        atomic_store(&event->pool->taken[event->index], 0);
    sg_object_destroy(event);
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeEventGetEventPool(ze_event_handle_t handle, ze_event_pool_handle_t *pool) {
    const sg_event *event = sg_event_of(handle);
    SG_NEED_HANDLE(event);
    SG_NEED_POINTER(pool);
    *pool = (ze_event_pool_handle_t)event->pool;
    return ZE_RESULT_SUCCESS;
}

/* ---- signalling, and waiting for it -------------------------------------------------------------------- */

void sg_event_signal(sg_event *event, const sg_interval *times, uint32_t tiles) {
    for (uint32_t i = 0; i <= tiles; ++i) {
        atomic_store_explicit(&event->starts[i], sg_kernel_ticks_at(times[i].start), memory_order_relaxed);
        atomic_store_explicit(&event->ends[i], sg_kernel_ticks_at(times[i].end), memory_order_relaxed);
        atomic_store_explicit(&event->host_starts[i], times[i].start, memory_order_relaxed);
        atomic_store_explicit(&event->host_ends[i], times[i].end, memory_order_relaxed);
    }
    atomic_store_explicit(&event->tiles, tiles, memory_order_relaxed);
    atomic_store(&event->signalled, 1);
    sg_progress();
    sg_ring_all();
}

ze_result_t sg_zeEventHostSignal(ze_event_handle_t handle) {
    sg_event *event = sg_event_of(handle);
    SG_NEED_HANDLE(event);
    uint64_t now = sg_now();
    sg_event_signal(event, &(sg_interval){now, now}, 0);
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeEventHostReset(ze_event_handle_t handle) {
    sg_event *event = sg_event_of(handle);
    SG_NEED_HANDLE(event);
    atomic_store(&event->signalled, 0);
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeEventQueryStatus(ze_event_handle_t handle) {
    sg_event *event = sg_event_of(handle);
    SG_NEED_HANDLE(event);
    return atomic_load(&event->signalled) ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}

static bool is_signalled(void *argument) {
    sg_event *event = argument;
    return atomic_load(&event->signalled);
}

ze_result_t sg_zeEventHostSynchronize(ze_event_handle_t handle, uint64_t timeout) {
    sg_event *event = sg_event_of(handle);
    SG_NEED_HANDLE(event);
    return sg_wait(is_signalled, event, timeout);
}

/* ---- timestamps ---------------------------------------------------------------------------------------- */

/* 0: the command's; from 1, its part on a tile. The context is always active, and its clock the global one.
 */
static ze_kernel_timestamp_result_t timestamps_of(const sg_event *event, uint32_t index) {
    ze_kernel_timestamp_data_t data = {
        .kernelStart = atomic_load_explicit(&event->starts[index], memory_order_relaxed),
        .kernelEnd = atomic_load_explicit(&event->ends[index], memory_order_relaxed),
    };
    return (ze_kernel_timestamp_result_t){.global = data, .context = data};
}

static bool has_timestamps(const sg_event *event) {
    return event && event->pool->flags & ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP;
}

ze_result_t sg_zeEventQueryKernelTimestamp(ze_event_handle_t handle,
                                           ze_kernel_timestamp_result_t *destination) {
    sg_event *event = sg_event_of(handle);
    SG_NEED_HANDLE(event);
    SG_NEED_POINTER(destination);
    if (!has_timestamps(event))
        return ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT;
    if (!atomic_load(&event->signalled))
        return ZE_RESULT_NOT_READY;
    *destination = timestamps_of(event, 0);
    return ZE_RESULT_SUCCESS;
}

/* Of each tile: for a root device, of all that it ran on; for a sub-device, its own. */
static ze_result_t find_timestamps(const sg_event *event, ze_device_handle_t device_handle, uint32_t *count,
                                   uint32_t *first) {
    const sg_device *device = sg_device_of(device_handle);
    SG_NEED_HANDLE(event);
    SG_NEED_HANDLE(device);
    SG_NEED_POINTER(count);
    if (!has_timestamps(event))
        return ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT;
    if (!atomic_load(&event->signalled))
        return ZE_RESULT_NOT_READY;
    uint32_t tiles = atomic_load_explicit(&event->tiles, memory_order_relaxed);
    *first = tiles ? 1 + (device->parent ? device->index : 0) : 0;
    sg_clamp_count(count, device->parent || !tiles ? 1 : tiles);
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeEventQueryTimestampsExp(ze_event_handle_t handle, ze_device_handle_t device, uint32_t *count,
                                         ze_kernel_timestamp_result_t *timestamps) {
    const sg_event *event = sg_event_of(handle);
    uint32_t first = 0;
    bool asks = count && *count == 0;
    ze_result_t result = find_timestamps(event, device, count, &first);
    for (uint32_t i = 0; result == ZE_RESULT_SUCCESS && !asks && timestamps && i < *count; ++i)
        timestamps[i] = timestamps_of(event, first + i);
    return result;
}

static ze_kernel_timestamp_result_t host_times_of(const sg_event *event, uint32_t index) {
    ze_kernel_timestamp_data_t data = {
        .kernelStart = atomic_load_explicit(&event->host_starts[index], memory_order_relaxed),
        .kernelEnd = atomic_load_explicit(&event->host_ends[index], memory_order_relaxed),
    };
    return (ze_kernel_timestamp_result_t){.global = data, .context = data};
}

ze_result_t sg_zeEventQueryKernelTimestampsExt(ze_event_handle_t handle, ze_device_handle_t device,
                                               uint32_t *count,
                                               struct sg_kernel_timestamps_results *results) {
    const sg_event *event = sg_event_of(handle);
    uint32_t first = 0;
    bool asks = count && *count == 0;
    ze_result_t result = find_timestamps(event, device, count, &first);
    for (uint32_t i = 0; result == ZE_RESULT_SUCCESS && !asks && results && i < *count; ++i) {
        if (results->kernel)
            results->kernel[i] = timestamps_of(event, first + i);
        if (results->synchronized)
            results->synchronized[i] = host_times_of(event, first + i);
    }
    return result;
}

/* ---- commands ------------------------------------------------------------------------------------------ */

static void run_event_reset(sg_execution *execution, void *argument) {
    (void)execution;
    sg_event_use *use = argument;
    if (sg_object_is(&use->event->object, use->serial))
        atomic_store(&use->event->signalled, 0);
}

ze_result_t sg_zeCommandListAppendSignalEvent(ze_command_list_handle_t list, ze_event_handle_t event) {
    SG_NEED_HANDLE(sg_list_of(list));
    SG_NEED_HANDLE(sg_event_of(event));
    return sg_list_append(list, &(sg_append){.signal = event, .order = SG_AFTER_ALL});
}

ze_result_t sg_zeCommandListAppendWaitOnEvents(ze_command_list_handle_t list, uint32_t event_count,
                                               ze_event_handle_t *events) {
    SG_NEED_HANDLE(sg_list_of(list));
    SG_NEED_POINTER(events);
    return sg_list_append(list, &(sg_append){.wait_count = event_count, .waits = events, .order = SG_BLOCKS});
}

ze_result_t sg_zeCommandListAppendEventReset(ze_command_list_handle_t list, ze_event_handle_t handle) {
    SG_NEED_HANDLE(sg_list_of(list));
    sg_event *event = sg_event_of(handle);
    SG_NEED_HANDLE(event);
    sg_event_use use = {event, event->object.serial};
    return sg_list_append(
        list,
        &(sg_append){.run = run_event_reset, .argument = &use, .size = sizeof use, .order = SG_IN_ORDER});
}

typedef struct timestamp_query {
    ze_kernel_timestamp_result_t *destination;
    sg_event_use event;
} timestamp_query;

typedef struct timestamp_queries {
    uint32_t count;
    timestamp_query each[];
} timestamp_queries;

static void run_timestamp_queries(sg_execution *execution, void *argument) {
    (void)execution;
    const timestamp_queries *queries = argument;
    for (uint32_t i = 0; i < queries->count; ++i) {
        const timestamp_query *query = &queries->each[i];
        if (sg_object_is(&query->event.event->object, query->event.serial))
            *query->destination = timestamps_of(query->event.event, 0);
    }
}

static ze_result_t fill_queries(timestamp_queries *queries, ze_event_handle_t *events, void *destination,
                                const size_t *offsets) {
    for (uint32_t i = 0; i < queries->count; ++i) {
        sg_event *event = sg_event_of(events[i]);
        if (!has_timestamps(event))
            return ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT;
        size_t offset = offsets ? offsets[i] : i * sizeof(ze_kernel_timestamp_result_t);
        queries->each[i].destination = (void *)((char *)destination + offset);
        queries->each[i].event = (sg_event_use){event, event->object.serial};
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeCommandListAppendQueryKernelTimestamps(ze_command_list_handle_t list, uint32_t event_count,
                                                        ze_event_handle_t *events, void *destination,
                                                        const size_t *offsets, ze_event_handle_t signal,
                                                        uint32_t wait_count, ze_event_handle_t *waits) {
    SG_NEED_HANDLE(sg_list_of(list));
    SG_NEED_POINTER(events);
    SG_NEED_POINTER(destination);
    size_t size = sizeof(timestamp_queries) + event_count * sizeof(timestamp_query);
    timestamp_queries *queries = malloc(size);
    if (!queries)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    queries->count = event_count;
    ze_result_t result = fill_queries(queries, events, destination, offsets);
    if (result == ZE_RESULT_SUCCESS)
        result = sg_list_append(list, &(sg_append){.run = run_timestamp_queries,
                                                   .argument = queries,
                                                   .size = size,
                                                   .signal = signal,
                                                   .wait_count = wait_count,
                                                   .waits = waits});
    free(queries);
    return result;
}
