/* Event pools and events. */
#include "work.h"

#include <stdlib.h>

/* Descriptors that the oldest headers do not have, and flags of counter-based events, likewise. */
enum {
    MAPPED_TIMESTAMP = 1 << 3, /* of a pool */
    COUNTER_BASED_POOL_DESC = 0x00020014,
    EXTERNAL_SYNC_DESC = 0x0002003b,
    EXTERNAL_STORAGE_DESC = 0x0002003f,
    CB_IMMEDIATE = 1 << 0,
    CB_NON_IMMEDIATE = 1 << 1,
    CB_HOST_VISIBLE = 1 << 2,
    CB_DEVICE_TIMESTAMP = 1 << 4,
    CB_HOST_TIMESTAMP = 1 << 5,
    CB_ALL = 0x7f,
    CB_LISTS = CB_IMMEDIATE | CB_NON_IMMEDIATE,
    CB_OFFERED = CB_LISTS | CB_HOST_VISIBLE | CB_DEVICE_TIMESTAMP | CB_HOST_TIMESTAMP
};

/* ze_event_pool_counter_based_exp_desc_t */
typedef struct counter_based_pool_desc {
    ze_base_desc_t base;
    uint32_t flags;
} counter_based_pool_desc;

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
    for (const ze_base_desc_t *next = desc->pNext; next; next = next->pNext)
        if ((int)next->stype == COUNTER_BASED_POOL_DESC) {
            pool->is_counter_based = true;
            pool->counter_based_flags = ((const counter_based_pool_desc *)(const void *)next)->flags;
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

SG_GETTER(zeEventPoolGetContextHandle, sg_event_pool_of, ze_event_pool_handle_t, ze_context_handle_t,
          object->object.parent)

/* Real drivers crash: an event without a pool has this one. */
ze_result_t sg_zeEventPoolGetFlags(ze_event_pool_handle_t handle, ze_event_pool_flags_t *flags) {
    const sg_event_pool *pool = sg_event_pool_of(handle);
    if (!handle)
        sg_finding("zeEventPoolGetFlags of no EVENT_POOL");
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
    event->is_counter_based = pool->is_counter_based;
    event->counter_based_flags = pool->counter_based_flags & CB_LISTS;
    event->index = desc->index;
    *out_event = (ze_event_handle_t)event;
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeEventDestroy(ze_event_handle_t handle) {
    sg_event *event = sg_event_of(handle);
    if (!event)
        return sg_object_refuse(handle, SG_EVENT);
    if (event->pool && sg_object_is(&event->pool->object, event->object.parent_serial))
        atomic_store(&event->pool->taken[event->index], 0);
    sg_object_destroy(event);
    return ZE_RESULT_SUCCESS;
}

SG_GETTER(zeEventGetEventPool, sg_event_of, ze_event_handle_t, ze_event_pool_handle_t, object->pool)

/* ---- counter-based events ------------------------------------------------------------------------------
 *
 * Such an event is signalled when the command whose signal it was last is done, which is seen by the commands
 * that its list has completed. Nobody resets it, and who waits for it waits for the signal that was the last
 * when the wait was appended. Each execution of a recorded list signals its events anew. */

static ze_result_t check_counter_based(const struct sg_event_counter_based_desc *desc) {
    const uint32_t both = CB_DEVICE_TIMESTAMP | CB_HOST_TIMESTAMP;
    if (desc->flags & ~(uint32_t)CB_ALL || (desc->signal | desc->wait) & ~0x7u ||
        (desc->flags & both) == both)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    if (desc->flags & ~(uint32_t)CB_OFFERED)
        return ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
    for (const ze_base_desc_t *next = desc->next; next; next = next->pNext)
        if ((int)next->stype == EXTERNAL_SYNC_DESC || (int)next->stype == EXTERNAL_STORAGE_DESC)
            return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeEventCounterBasedCreate(ze_context_handle_t context_handle, ze_device_handle_t device,
                                         const struct sg_event_counter_based_desc *desc,
                                         ze_event_handle_t *out_event) {
    sg_object *context = sg_context_of(context_handle);
    SG_NEED_HANDLE(context);
    SG_NEED_HANDLE(sg_device_of(device));
    SG_NEED_POINTER(desc);
    SG_NEED_POINTER(out_event);
    ze_result_t result = check_counter_based(desc);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    sg_event *event = sg_object_create(SG_EVENT, sizeof *event, context);
    if (!event)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    event->is_counter_based = true;
    event->counter_based_flags = desc->flags;
    *out_event = (ze_event_handle_t)event;
    return ZE_RESULT_SUCCESS;
}

/* Intel's extension, of before the function above. */
ze_result_t sg_zexCounterBasedEventCreate2(ze_context_handle_t context, ze_device_handle_t device,
                                           const struct sg_event_counter_based_desc *desc,
                                           ze_event_handle_t *out_event) {
    static const struct sg_event_counter_based_desc usual = {.flags = CB_IMMEDIATE | CB_NON_IMMEDIATE |
                                                                      CB_HOST_VISIBLE,
                                                             .signal = ZE_EVENT_SCOPE_FLAG_HOST,
                                                             .wait = ZE_EVENT_SCOPE_FLAG_DEVICE};
    return sg_zeEventCounterBasedCreate(context, device, desc ? desc : &usual, out_event);
}

/* Of before that one. Counters in memory of the application are not supported. */
ze_result_t sg_zexCounterBasedEventCreate(ze_context_handle_t context, ze_device_handle_t device,
                                          uint64_t *device_address, uint64_t *host_address, uint64_t value,
                                          const ze_event_desc_t *desc, ze_event_handle_t *out_event) {
    (void)value;
    if (!desc)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    if (device_address && host_address)
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    const struct sg_event_counter_based_desc both = {.next = desc->pNext,
                                                     .flags = CB_IMMEDIATE | CB_NON_IMMEDIATE,
                                                     .signal = desc->signal,
                                                     .wait = desc->wait};
    return sg_zeEventCounterBasedCreate(context, device, &both, out_event);
}

SG_GETTER(zeEventGetCounterBasedFlags, sg_event_of, ze_event_handle_t, uint32_t, object->counter_based_flags)

static pthread_mutex_t points_lock = PTHREAD_MUTEX_INITIALIZER;

sg_tracking_point sg_event_point(const sg_event *event) {
    sg_tracking_point point = {NULL, 0, 0};
    if (!event->is_counter_based)
        return point;
    pthread_mutex_lock(&points_lock);
    point = event->point;
    pthread_mutex_unlock(&points_lock);
    return point;
}

/* Lists in order, of the kinds that it was created for: without a flag, immediate ones. */
bool sg_event_fits(const sg_event *event, const sg_list *list) {
    uint32_t kinds = event->counter_based_flags & CB_LISTS ? event->counter_based_flags : CB_IMMEDIATE;
    return !event->is_counter_based ||
           (list->was_made_in_order && kinds & (list->is_immediate ? CB_IMMEDIATE : CB_NON_IMMEDIATE));
}

void sg_event_append(sg_event *event, sg_list *list, uint64_t number) {
    atomic_store(&event->is_in_order, list && list->was_made_in_order);
    atomic_store(&event->is_immediate, list && list->is_immediate);
    atomic_store(&event->is_stale, false);
    if (!event->is_counter_based)
        return;
    pthread_mutex_lock(&points_lock);
    event->point = (sg_tracking_point){list, list ? list->object.serial : 0, number};
    pthread_mutex_unlock(&points_lock);
}

static uint64_t completed_by(const sg_list *list) {
    return atomic_load(list->is_immediate ? &list->lane.completed : &list->commands_done);
}

/* A list is destroyed when all its commands are done. */
bool sg_point_is_reached(sg_tracking_point point) {
    return !point.list || !sg_object_is(&point.list->object, point.serial) ||
           completed_by(point.list) >= point.number;
}

static bool is_signalled(const sg_event *event) {
    return event->is_counter_based ? sg_point_is_reached(sg_event_point(event))
                                   : atomic_load(&event->signalled) != 0;
}

static bool has_timestamps(const sg_event *event) {
    if (!event->pool)
        return event->counter_based_flags & (CB_DEVICE_TIMESTAMP | CB_HOST_TIMESTAMP);
    return event->pool->flags & (ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP | MAPPED_TIMESTAMP);
}

static void copy_ticks(_Atomic uint64_t *to, const _Atomic uint64_t *from) {
    for (uint32_t i = 0; i <= SG_MAX_SUB_DEVICES; ++i)
        atomic_store_explicit(&to[i], from ? atomic_load_explicit(&from[i], memory_order_relaxed) : 0,
                              memory_order_relaxed);
}

/* What the host is told, who then has seen its ticks. */
static bool seems_signalled(void *argument) {
    sg_event *event = argument;
    if (!is_signalled(event))
        return atomic_load(&event->is_stale);
    copy_ticks(event->seen_starts, event->starts);
    copy_ticks(event->seen_ends, event->ends);
    return true;
}

/* ---- signalling, and waiting for it -------------------------------------------------------------------- */

void sg_event_start(sg_event *event, uint64_t start) {
    if (!sg_behaviour_is_on(SOFTGPU_HALF_WRITTEN_STAMPS) || !atomic_load(&event->is_in_order))
        return;
    atomic_store(&event->starts[0], sg_kernel_ticks_at(start));
    atomic_store(&event->ends[0], 0);
    atomic_store(&event->is_half_written, true);
}

void sg_event_signal(sg_event *event, const sg_interval *times, uint32_t tiles) {
    for (uint32_t i = 0; i <= tiles; ++i) {
        atomic_store_explicit(&event->starts[i], sg_kernel_ticks_at(times[i].start), memory_order_relaxed);
        atomic_store_explicit(&event->ends[i], sg_kernel_ticks_at(times[i].end), memory_order_relaxed);
        atomic_store_explicit(&event->host_starts[i], times[i].start, memory_order_relaxed);
        atomic_store_explicit(&event->host_ends[i], times[i].end, memory_order_relaxed);
    }
    atomic_store_explicit(&event->tiles, tiles, memory_order_relaxed);
    if (has_timestamps(event))
        sg_account_stamps(&times[0]);
    atomic_store(&event->is_half_written, false);
    atomic_store(&event->signalled, 1);
    sg_progress();
    sg_ring_all();
}

ze_result_t sg_zeEventHostSignal(ze_event_handle_t handle) {
    sg_event *event = sg_event_of(handle);
    SG_NEED_HANDLE(event);
    if (event->is_counter_based)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    uint64_t now = sg_now();
    sg_event_signal(event, &(sg_interval){now, now}, 0);
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeEventHostReset(ze_event_handle_t handle) {
    sg_event *event = sg_event_of(handle);
    SG_NEED_HANDLE(event);
    if (event->is_counter_based)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    atomic_store(&event->signalled, 0);
    copy_ticks(event->seen_starts, NULL);
    copy_ticks(event->seen_ends, NULL);
    if (sg_behaviour_is_on(SOFTGPU_RESET_STAMPS_SPIN) && has_timestamps(event))
        atomic_store(&event->is_stale, atomic_load(&event->is_in_order) && atomic_load(&event->is_immediate));
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeEventQueryStatus(ze_event_handle_t handle) {
    enum { PAUSE_NS = 1200 }; /* with real costs: drivers pause before they say no */
    sg_event *event = sg_event_of(handle);
    SG_NEED_HANDLE(event);
    if (seems_signalled(event))
        return ZE_RESULT_SUCCESS;
    if (sg_costs_are_real())
        sg_spend(PAUSE_NS);
    return ZE_RESULT_NOT_READY;
}

ze_result_t sg_zeEventHostSynchronize(ze_event_handle_t handle, uint64_t timeout) {
    sg_event *event = sg_event_of(handle);
    SG_NEED_HANDLE(event);
    return sg_wait(seems_signalled, event, timeout);
}

/* ---- timestamps ---------------------------------------------------------------------------------------- */

static ze_kernel_timestamp_result_t host_times_of(const sg_event *event, uint32_t index) {
    ze_kernel_timestamp_data_t data = {
        .kernelStart = atomic_load_explicit(&event->host_starts[index], memory_order_relaxed),
        .kernelEnd = atomic_load_explicit(&event->host_ends[index], memory_order_relaxed),
    };
    return (ze_kernel_timestamp_result_t){.global = data, .context = data};
}

/* 0: the command's; from 1, its part on a tile. The context is always active, and its clock the global one.
 */
static ze_kernel_timestamp_result_t timestamps_of(const sg_event *event, uint32_t index) {
    if (event->counter_based_flags & CB_HOST_TIMESTAMP)
        return host_times_of(event, index);
    ze_kernel_timestamp_data_t data = {
        .kernelStart = atomic_load_explicit(&event->starts[index], memory_order_relaxed),
        .kernelEnd = atomic_load_explicit(&event->ends[index], memory_order_relaxed),
    };
    return (ze_kernel_timestamp_result_t){.global = data, .context = data};
}

ze_result_t sg_zeEventQueryKernelTimestamp(ze_event_handle_t handle,
                                           ze_kernel_timestamp_result_t *destination) {
    sg_event *event = sg_event_of(handle);
    SG_NEED_HANDLE(event);
    SG_NEED_POINTER(destination);
    if (!has_timestamps(event))
        return ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT;
    if (atomic_load(&event->is_stale))
        sg_finding("zeEventQueryKernelTimestamp of an EVENT that was reset, for which a driver spins");
    if (atomic_load(&event->is_stale) || (!seems_signalled(event) && !atomic_load(&event->is_half_written)))
        return ZE_RESULT_NOT_READY;
    *destination = timestamps_of(event, 0);
    return ZE_RESULT_SUCCESS;
}

/* Of each tile: for a root device, of all that it ran on; for a sub-device, its own. */
static uint32_t tiles_of(const sg_event *event, const sg_device *device, uint32_t *first) {
    uint32_t tiles = atomic_load_explicit(&event->tiles, memory_order_relaxed);
    *first = tiles ? 1 + (device->parent ? device->index : 0) : 0;
    return device->parent || !tiles ? 1 : tiles;
}

static ze_result_t find_timestamps(sg_event *event, ze_device_handle_t device_handle, uint32_t *count,
                                   uint32_t *first) {
    const sg_device *device = sg_device_of(device_handle);
    SG_NEED_HANDLE(event);
    SG_NEED_HANDLE(device);
    SG_NEED_POINTER(count);
    if (!has_timestamps(event))
        return ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT;
    if (!is_signalled(event))
        return ZE_RESULT_NOT_READY;
    sg_clamp_count(count, tiles_of(event, device, first));
    return ZE_RESULT_SUCCESS;
}

/* With TILE_STAMPS_UNCHECKED. */
static ze_result_t copy_seen(const sg_event *event, ze_device_handle_t device_handle, uint32_t *count,
                             ze_kernel_timestamp_result_t *timestamps) {
    const sg_device *device = sg_device_of(device_handle);
    uint32_t first;
    SG_NEED_HANDLE(event);
    SG_NEED_HANDLE(device);
    SG_NEED_POINTER(count);
    uint32_t there = tiles_of(event, device, &first);
    if (!*count || *count > there)
        *count = there;
    else
        for (uint32_t i = 0; timestamps && i < *count; ++i) {
            ze_kernel_timestamp_data_t seen = {atomic_load(&event->seen_starts[first + i]),
                                               atomic_load(&event->seen_ends[first + i])};
            timestamps[i] = (ze_kernel_timestamp_result_t){seen, seen};
        }
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeEventQueryTimestampsExp(ze_event_handle_t handle, ze_device_handle_t device, uint32_t *count,
                                         ze_kernel_timestamp_result_t *timestamps) {
    sg_event *event = sg_event_of(handle);
    uint32_t first = 0;
    bool asks = count && *count == 0;
    if (sg_behaviour_is_on(SOFTGPU_TILE_STAMPS_UNCHECKED))
        return copy_seen(event, device, count, timestamps);
    ze_result_t result = find_timestamps(event, device, count, &first);
    for (uint32_t i = 0; result == ZE_RESULT_SUCCESS && !asks && timestamps && i < *count; ++i)
        timestamps[i] = timestamps_of(event, first + i);
    return result;
}

ze_result_t sg_zeEventQueryKernelTimestampsExt(ze_event_handle_t handle, ze_device_handle_t device,
                                               uint32_t *count,
                                               struct sg_kernel_timestamps_results *results) {
    sg_event *event = sg_event_of(handle);
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
    if (event->is_counter_based)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    sg_event_use use = {.event = event, .serial = event->object.serial};
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

/* The host may look at the memory at any time. */
static void write_timestamps(ze_kernel_timestamp_result_t *to, ze_kernel_timestamp_result_t times) {
    __atomic_store_n(&to->global.kernelStart, times.global.kernelStart, __ATOMIC_RELEASE);
    __atomic_store_n(&to->global.kernelEnd, times.global.kernelEnd, __ATOMIC_RELEASE);
    __atomic_store_n(&to->context.kernelStart, times.context.kernelStart, __ATOMIC_RELEASE);
    __atomic_store_n(&to->context.kernelEnd, times.context.kernelEnd, __ATOMIC_RELEASE);
}

static void run_timestamp_queries(sg_execution *execution, void *argument) {
    (void)execution;
    const timestamp_queries *queries = argument;
    for (uint32_t i = 0; i < queries->count; ++i) {
        const timestamp_query *query = &queries->each[i];
        if (sg_object_is(&query->event.event->object, query->event.serial))
            write_timestamps(query->destination, timestamps_of(query->event.event, 0));
    }
}

static ze_result_t fill_queries(timestamp_queries *queries, ze_event_handle_t *events, void *destination,
                                const size_t *offsets) {
    for (uint32_t i = 0; i < queries->count; ++i) {
        sg_event *event = sg_event_of(events[i]);
        if (!event || !has_timestamps(event))
            return ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT;
        size_t offset = offsets ? offsets[i] : i * sizeof(ze_kernel_timestamp_result_t);
        queries->each[i].destination = (void *)((char *)destination + offset);
        queries->each[i].event = (sg_event_use){.event = event, .serial = event->object.serial};
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
