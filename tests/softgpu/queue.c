/* Command queues and fences. */
#include "work.h"

#include <stdlib.h>

uint32_t sg_queues_of(uint32_t ordinal) {
    return ordinal == SG_COPY_ORDINAL ? SG_COPY_ENGINES : SG_COMPUTE_ENGINES;
}

/* Priorities and the hint to offload copies are accepted, and ignored: the engines serve their queues in turns. */
ze_result_t sg_check_queue_desc(const ze_command_queue_desc_t *desc) {
    if (desc->flags & ~0x7u || desc->mode > ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS ||
        desc->priority > ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    if (desc->ordinal >= SG_ORDINAL_COUNT || desc->index >= sg_queues_of(desc->ordinal))
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeCommandQueueCreate(ze_context_handle_t context, ze_device_handle_t device_handle,
                                    const ze_command_queue_desc_t *desc,
                                    ze_command_queue_handle_t *out_queue) {
    sg_object *owner = sg_context_of(context);
    sg_device *device = sg_device_of(device_handle);
    SG_NEED_HANDLE(owner);
    SG_NEED_HANDLE(device);
    SG_NEED_POINTER(desc);
    SG_NEED_POINTER(out_queue);
    ze_result_t result = sg_check_queue_desc(desc);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    sg_queue *queue = sg_object_create(SG_QUEUE, sizeof *queue, owner);
    if (!queue)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    queue->ordinal = desc->ordinal;
    queue->index = desc->index;
    queue->mode = desc->mode;
    result = sg_lane_open(&queue->lane, device, desc->ordinal, desc->index, NULL);
    if (result == ZE_RESULT_SUCCESS)
        *out_queue = (ze_command_queue_handle_t)queue;
    else
        sg_object_destroy(queue);
    return result;
}

ze_result_t sg_zeCommandQueueDestroy(ze_command_queue_handle_t handle) {
    sg_queue *queue = sg_queue_of(handle);
    if (!queue)
        return sg_object_refuse(handle, SG_QUEUE);
    if (!sg_lane_is_idle(&queue->lane))
        sg_device_settle(queue->lane.device);
    if (!sg_lane_is_idle(&queue->lane)) {
        sg_finding("a QUEUE destroyed while it has work");
        return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
    }
    sg_lane_close(&queue->lane);
    sg_object_destroy(queue);
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeCommandQueueSynchronize(ze_command_queue_handle_t handle, uint64_t timeout) {
    sg_queue *queue = sg_queue_of(handle);
    SG_NEED_HANDLE(queue);
    return sg_lane_wait(&queue->lane, timeout);
}

SG_GETTER(zeCommandQueueGetOrdinal, sg_queue_of, ze_command_queue_handle_t, uint32_t, object->ordinal)
SG_GETTER(zeCommandQueueGetIndex, sg_queue_of, ze_command_queue_handle_t, uint32_t, object->index)

/* ---- execution ----------------------------------------------------------------------------------------- */

ze_result_t sg_check_execution(const sg_list *list, const sg_object *context, const sg_device *device,
                               uint32_t ordinal) {
    SG_NEED_HANDLE(list);
    if (list->is_immediate || list->ordinal != ordinal)
        return ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE;
    if (!list->closed || list->device->root != device->root || list->object.parent != context)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    return ZE_RESULT_SUCCESS;
}

static sg_fence *fence_of(ze_fence_handle_t handle) {
    return sg_object_check(handle, SG_FENCE);
}

static ze_result_t check_fence(const sg_queue *queue, ze_fence_handle_t handle) {
    sg_fence *fence = fence_of(handle);
    if (handle && (!fence || fence->object.parent != &queue->object || atomic_load(&fence->signalled)))
        return ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT;
    return ZE_RESULT_SUCCESS;
}

/* The lane's lock is held. */
static bool make_room(sg_lane *lane, uint32_t more) {
    uint64_t submitted = atomic_load(&lane->submitted);
    uint64_t needed = submitted - lane->entries_taken + more;
    if (needed <= lane->capacity)
        return true;
    uint32_t capacity = lane->capacity ? lane->capacity : 16;
    while (capacity < needed)
        capacity *= 2;
    sg_entry *entries = calloc(capacity, sizeof *entries);
    if (!entries)
        return false;
    for (uint64_t i = lane->entries_taken; i < submitted; ++i)
        entries[i % capacity] = lane->entries[i % lane->capacity];
    free(lane->entries);
    lane->entries = entries;
    lane->capacity = capacity;
    return true;
}

static ze_result_t submit(sg_lane *lane, uint32_t count, ze_command_list_handle_t *lists, sg_fence *fence) {
    pthread_mutex_lock(&lane->lock);
    bool room = make_room(lane, count);
    for (uint32_t i = 0; room && i < count; ++i) {
        sg_entry entry = {.list = sg_list_of(lists[i]), .fence = i + 1 == count ? fence : NULL};
        atomic_fetch_add(&entry.list->executions, 1);
        lane->entries[(atomic_load(&lane->submitted) + i) % lane->capacity] = entry;
    }
    if (room && fence)
        atomic_fetch_add(&fence->pending, 1);
    if (room)
        atomic_fetch_add(&lane->submitted, count);
    pthread_mutex_unlock(&lane->lock);
    return room ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

ze_result_t sg_zeCommandQueueExecuteCommandLists(ze_command_queue_handle_t handle, uint32_t list_count,
                                                 ze_command_list_handle_t *lists, ze_fence_handle_t fence) {
    sg_queue *queue = sg_queue_of(handle);
    SG_NEED_HANDLE(queue);
    SG_NEED_POINTER(lists);
    if (!list_count)
        return ZE_RESULT_ERROR_INVALID_SIZE;
    ze_result_t result = check_fence(queue, fence);
    for (uint32_t i = 0; i < list_count && result == ZE_RESULT_SUCCESS; ++i)
        result = sg_check_execution(sg_list_of(lists[i]), queue->object.parent, queue->lane.device,
                                    queue->ordinal);
    sg_root *root = queue->lane.device->root;
    sg_racer racer = atomic_exchange(&root->has_due_activation, false) ? SG_ACTIVATION : SG_SUBMISSION;
    bool is_counted = sg_race_begin(root, racer);
    for (uint32_t i = 0; i < list_count && result == ZE_RESULT_SUCCESS; ++i)
        sg_list_submit(sg_list_of(lists[i]));
    if (result == ZE_RESULT_SUCCESS)
        result = submit(&queue->lane, list_count, lists, fence_of(fence));
    sg_race_end(root, racer, is_counted);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    sg_root_ring(root);
    return queue->mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS ? sg_lane_wait(&queue->lane, UINT64_MAX)
                                                            : ZE_RESULT_SUCCESS;
}

/* ---- fences -------------------------------------------------------------------------------------------- */

ze_result_t sg_zeFenceCreate(ze_command_queue_handle_t handle, const ze_fence_desc_t *desc,
                             ze_fence_handle_t *out_fence) {
    sg_queue *queue = sg_queue_of(handle);
    SG_NEED_HANDLE(queue);
    SG_NEED_POINTER(desc);
    SG_NEED_POINTER(out_fence);
    if (desc->flags & ~0x1u)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    sg_fence *fence = sg_object_create(SG_FENCE, sizeof *fence, queue);
    if (!fence)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    atomic_store(&fence->signalled, desc->flags & ZE_FENCE_FLAG_SIGNALED);
    *out_fence = (ze_fence_handle_t)fence;
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeFenceDestroy(ze_fence_handle_t handle) {
    sg_fence *fence = fence_of(handle);
    if (!fence)
        return sg_object_refuse(handle, SG_FENCE);
    if (atomic_load(&fence->pending))
        sg_device_settle(((sg_queue *)fence->object.parent)->lane.device);
    if (atomic_load(&fence->pending)) {
        sg_finding("a FENCE destroyed before it was signalled");
        return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
    }
    sg_object_destroy(fence);
    return ZE_RESULT_SUCCESS;
}

static bool fence_is_signalled(void *argument) {
    sg_fence *fence = argument;
    return atomic_load(&fence->signalled);
}

ze_result_t sg_zeFenceHostSynchronize(ze_fence_handle_t handle, uint64_t timeout) {
    sg_fence *fence = fence_of(handle);
    SG_NEED_HANDLE(fence);
    return sg_wait(fence_is_signalled, fence, timeout);
}

ze_result_t sg_zeFenceQueryStatus(ze_fence_handle_t handle) {
    return sg_zeFenceHostSynchronize(handle, 0);
}

ze_result_t sg_zeFenceReset(ze_fence_handle_t handle) {
    sg_fence *fence = fence_of(handle);
    SG_NEED_HANDLE(fence);
    atomic_store(&fence->signalled, false);
    return ZE_RESULT_SUCCESS;
}
