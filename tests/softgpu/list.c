/* Command lists, and the tapes that they write their commands to. */
#include "work.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 1 << 16 };

/* ---- tapes --------------------------------------------------------------------------------------------- */

static size_t used_of(const sg_chunk *chunk) {
    return atomic_load_explicit(&chunk->used, memory_order_relaxed);
}

static sg_chunk *next_of(const sg_chunk *chunk) {
    return atomic_load_explicit(&chunk->next, memory_order_relaxed);
}

static sg_chunk *chunk_with_room(sg_tape *tape, size_t bytes) {
    sg_chunk *chunk = atomic_exchange(&tape->spare, NULL);
    if (chunk && chunk->capacity < bytes) {
        free(chunk);
        chunk = NULL;
    }
    if (!chunk) {
        size_t capacity = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
        chunk = malloc(sizeof *chunk + capacity);
        if (!chunk)
            return NULL;
        chunk->capacity = capacity;
    }
    atomic_store_explicit(&chunk->used, 0, memory_order_relaxed);
    return chunk;
}

/* Goes on to the next chunk: one that a reset left, or another. */
static sg_chunk *extend(sg_tape *tape, size_t bytes) {
    sg_chunk *left = tape->last ? next_of(tape->last) : NULL;
    if (left && left->capacity >= bytes)
        return tape->last = left;
    sg_chunk *chunk = chunk_with_room(tape, bytes);
    if (!chunk)
        return NULL;
    atomic_store_explicit(&chunk->next, left, memory_order_relaxed);
    if (tape->last)
        atomic_store_explicit(&tape->last->next, chunk, memory_order_relaxed);
    else
        tape->first = chunk;
    return tape->last = chunk;
}

static void *reserve(sg_tape *tape, size_t bytes) {
    sg_chunk *chunk = tape->last;
    if (!chunk || chunk->capacity - used_of(chunk) < bytes)
        chunk = extend(tape, bytes);
    return chunk ? chunk->bytes + used_of(chunk) : NULL;
}

static void commit(sg_tape *tape, size_t bytes) {
    atomic_store_explicit(&tape->last->used, used_of(tape->last) + bytes, memory_order_relaxed);
    ++tape->written;
}

static void publish(sg_tape *tape) {
    atomic_store(&tape->published, tape->written);
}

static void rewind_tape(sg_tape *tape) {
    for (sg_chunk *chunk = tape->first; chunk; chunk = next_of(chunk))
        atomic_store_explicit(&chunk->used, 0, memory_order_relaxed);
    tape->last = tape->first;
    tape->written = 0;
    publish(tape);
}

static void free_tape(sg_tape *tape, sg_chunk *first) {
    while (first) {
        sg_chunk *next = next_of(first);
        free(first);
        first = next;
    }
    free(atomic_exchange(&tape->spare, NULL));
}

static void give_chunk_back(sg_tape *tape, sg_chunk *chunk) {
    free(atomic_exchange(&tape->spare, chunk));
}

sg_command *sg_tape_peek(sg_tape *tape, sg_cursor *cursor, bool give_back) {
    if (cursor->played >= atomic_load(&tape->published))
        return NULL;
    if (!cursor->chunk)
        cursor->chunk = tape->first;
    while (cursor->offset == used_of(cursor->chunk)) {
        sg_chunk *played_out = cursor->chunk;
        cursor->chunk = next_of(played_out);
        cursor->offset = 0;
        if (give_back)
            give_chunk_back(tape, played_out);
    }
    return (sg_command *)(void *)(cursor->chunk->bytes + cursor->offset);
}

void sg_tape_step(sg_cursor *cursor, const sg_command *command) {
    cursor->offset += command->bytes;
    ++cursor->played;
}

/* ---- appending ----------------------------------------------------------------------------------------- */

static ze_result_t use_event(sg_event_use *use, ze_event_handle_t handle) {
    sg_event *event = sg_event_of(handle);
    if (!event)
        return ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT;
    *use = (sg_event_use){event, event->object.serial, sg_event_point(event)};
    return ZE_RESULT_SUCCESS;
}

static ze_result_t use_events(sg_command *command, const sg_append *append) {
    ze_result_t result = ZE_RESULT_SUCCESS;
    command->signal = (sg_event_use){.event = NULL};
    command->wait_count = append->wait_count;
    if (append->signal)
        result = use_event(&command->signal, append->signal);
    for (uint32_t i = 0; i < append->wait_count && result == ZE_RESULT_SUCCESS; ++i)
        result = use_event(&command->waits[i], append->waits[i]);
    return result;
}

static ze_result_t write_command(sg_list *list, const sg_append *append) {
    size_t before = (sizeof(sg_command) + append->wait_count * sizeof(sg_event_use) + 15) & ~(size_t)15;
    size_t bytes = (before + append->size + 15) & ~(size_t)15;
    sg_command *command = reserve(&list->tape, bytes);
    if (!command)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    ze_result_t result = use_events(command, append);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    command->bytes = bytes;
    command->run = append->run;
    command->recorded = NULL;
    command->ends_recorded = false;
    command->is_kernel = append->is_kernel;
    command->code = append->code;
    command->order = list->is_in_order ? SG_IN_ORDER | SG_AT_HOME : append->order;
    command->argument = (char *)command + before;
    if (append->size)
        memcpy(command->argument, append->argument, append->size);
    commit(&list->tape, bytes);
    if (append->signal) {
        sg_event_append(command->signal.event, list, list->commands_submitted + list->tape.written);
        list->has_counter_based |= command->signal.event->is_counter_based;
    }
    return ZE_RESULT_SUCCESS;
}

/* The signals of its counter-based events are now those of this execution. */
void sg_list_submit(sg_list *list) {
    sg_cursor cursor = {NULL, 0, 0};
    sg_queries_use(list);
    for (sg_command *command;
         list->has_counter_based && (command = sg_tape_peek(&list->tape, &cursor, false));) {
        sg_tape_step(&cursor, command);
        if (command->signal.event && sg_object_is(&command->signal.event->object, command->signal.serial))
            sg_event_append(command->signal.event, list, list->commands_submitted + cursor.played);
    }
    atomic_fetch_add(&list->commands_submitted, list->tape.written);
}

static ze_result_t submit_written(sg_list *list) {
    atomic_store(&list->lane.submitted, list->tape.written);
    publish(&list->tape);
    sg_root_ring(list->device->root);
    return list->synchronous ? sg_lane_wait(&list->lane, UINT64_MAX) : ZE_RESULT_SUCCESS;
}

/* At once, on this thread: with CHEAP_CALLS. */
static ze_result_t run_in_caller(sg_list *list, const sg_append *append) {
    sg_event *event = append->signal ? sg_event_of(append->signal) : NULL;
    sg_execution execution = {
        .device = list->device, .list = list, .immediate = true, .engine = list->lane.engine};
    if (append->signal && !event)
        return ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT;
    if (append->run)
        append->run(&execution, (void *)append->argument);
    if (event) {
        sg_event_append(event, NULL, 0);
        atomic_store(&event->signalled, 1);
    }
    return ZE_RESULT_SUCCESS;
}

static bool runs_in_caller(const sg_list *list, const sg_append *append) {
    return list->is_immediate && sg_behaviour_is_on(SOFTGPU_CHEAP_CALLS) && !append->wait_count &&
           !append->held && sg_lane_is_idle(&list->lane) && list->tape.written == list->lane.submitted;
}

/* The specification does not say what a command for a closed list answers. */
static ze_result_t closed_result(void) {
    return sg_behaviour_is_on(SOFTGPU_CLOSED_LISTS_IGNORE) ? ZE_RESULT_SUCCESS
                                                           : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

static ze_result_t check_signal(const sg_list *list, ze_event_handle_t handle) {
    const sg_event *event = handle ? sg_event_of(handle) : NULL;
    return !event || sg_event_fits(event, list) ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

/* Lists of several threads may take part in a capture. */
static pthread_mutex_t capture_lock = PTHREAD_MUTEX_INITIALIZER;

static ze_result_t write_captured(sg_list *graph, const sg_append *append) {
    pthread_mutex_lock(&capture_lock);
    ze_result_t result = write_command(graph, append);
    pthread_mutex_unlock(&capture_lock);
    return result;
}

ze_result_t sg_list_append(ze_command_list_handle_t handle, const sg_append *append) {
    enum { SUBMISSION_NS = 1300 }; /* with real costs */
    sg_list *list = sg_list_of(handle);
    SG_NEED_HANDLE(list);
    if (list->is_immediate && sg_costs_are_real())
        sg_spend(SUBMISSION_NS);
    if (append->wait_count && !append->waits)
        return ZE_RESULT_ERROR_INVALID_SIZE;
    if (list->closed)
        return closed_result();
    ze_result_t result = check_signal(list, append->signal);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    sg_list *graph = sg_graph_captures(list, append);
    if (graph)
        return write_captured(graph, append);
    if (runs_in_caller(list, append))
        return run_in_caller(list, append);
    result = write_command(list, append);
    if (result == ZE_RESULT_SUCCESS && list->is_immediate && !append->held)
        result = submit_written(list);
    return result;
}

/* ---- recorded lists on an immediate one ------------------------------------------------------------------ */

/* The copy shares the argument with the original: what a command keeps there, it keeps for all executions. */
static ze_result_t write_copy(sg_list *list, sg_list *recorded, const sg_command *original,
                              bool ends_recorded) {
    size_t bytes = (sizeof *original + original->wait_count * sizeof(sg_event_use) + 15) & ~(size_t)15;
    sg_command *copy = reserve(&list->tape, bytes);
    if (!copy)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    memcpy(copy, original, sizeof *original + original->wait_count * sizeof(sg_event_use));
    copy->bytes = bytes;
    copy->recorded = recorded;
    copy->ends_recorded = ends_recorded;
    commit(&list->tape, bytes);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t write_end(sg_list *list, sg_list *recorded) {
    const sg_command end = {.order = SG_IN_ORDER};
    ze_result_t result = write_copy(list, recorded, &end, true);
    if (result == ZE_RESULT_SUCCESS)
        atomic_fetch_add(&recorded->executions, 1);
    return result;
}

static ze_result_t write_commands(sg_list *list, sg_list *recorded, sg_list *from) {
    sg_cursor cursor = {NULL, 0, 0};
    ze_result_t result = ZE_RESULT_SUCCESS;
    for (sg_command *command;
         result == ZE_RESULT_SUCCESS && (command = sg_tape_peek(&from->tape, &cursor, false));) {
        result = write_copy(list, recorded, command, false);
        sg_tape_step(&cursor, command);
    }
    return result;
}

static ze_result_t write_recorded(sg_list *list, sg_list *recorded) {
    ze_result_t result = write_commands(list, recorded, recorded);
    return result == ZE_RESULT_SUCCESS ? write_end(list, recorded) : result;
}

/* They become commands of the graph. */
static ze_result_t capture_lists(sg_list *graph, uint32_t count, ze_command_list_handle_t *lists,
                                 const sg_append *events) {
    sg_append begin = {.wait_count = events->wait_count, .waits = events->waits, .order = SG_IN_ORDER};
    sg_append end = {.signal = events->signal, .order = SG_IN_ORDER};
    pthread_mutex_lock(&capture_lock);
    ze_result_t result = write_command(graph, &begin);
    for (uint32_t i = 0; i < count && result == ZE_RESULT_SUCCESS; ++i)
        result = write_commands(graph, NULL, sg_list_of(lists[i]));
    if (result == ZE_RESULT_SUCCESS)
        result = write_command(graph, &end);
    pthread_mutex_unlock(&capture_lock);
    return result;
}

ze_result_t sg_zeCommandListImmediateAppendCommandListsExp(ze_command_list_handle_t handle,
                                                           uint32_t list_count,
                                                           ze_command_list_handle_t *lists,
                                                           ze_event_handle_t signal, uint32_t wait_count,
                                                           ze_event_handle_t *waits) {
    sg_list *list = sg_list_of(handle);
    SG_NEED_HANDLE(list);
    SG_NEED_POINTER(lists);
    if (!list->is_immediate)
        return ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE;
    if (wait_count && !waits)
        return ZE_RESULT_ERROR_INVALID_SIZE;
    if (list->closed)
        return closed_result();
    ze_result_t result = check_signal(list, signal);
    for (uint32_t i = 0; i < list_count && result == ZE_RESULT_SUCCESS; ++i)
        result = sg_check_execution(sg_list_of(lists[i]), list->object.parent, list->device, list->ordinal);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    const sg_append events = {.signal = signal, .wait_count = wait_count, .waits = waits};
    sg_list *graph = sg_graph_captures(list, &events);
    if (graph)
        return capture_lists(graph, list_count, lists, &events);
    for (uint32_t i = 0; i < list_count; ++i)
        sg_list_submit(sg_list_of(lists[i]));
    result =
        write_command(list, &(sg_append){.wait_count = wait_count, .waits = waits, .order = SG_IN_ORDER});
    for (uint32_t i = 0; i < list_count && result == ZE_RESULT_SUCCESS; ++i)
        result = write_recorded(list, sg_list_of(lists[i]));
    if (result == ZE_RESULT_SUCCESS)
        result = write_command(list, &(sg_append){.signal = signal, .order = SG_IN_ORDER});
    return result == ZE_RESULT_SUCCESS ? submit_written(list) : result;
}

ze_result_t sg_zeCommandListImmediateAppendCommandListsWithParameters(
    ze_command_list_handle_t list, uint32_t list_count, ze_command_list_handle_t *lists,
    const void *extension, ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits) {
    if (extension)
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    return sg_zeCommandListImmediateAppendCommandListsExp(list, list_count, lists, signal, wait_count, waits);
}

/* ---- a list's life ------------------------------------------------------------------------------------- */

/* Lists are out of order unless they are asked to be in order, where the engines are concurrent. */
static ze_result_t create_list(ze_context_handle_t context, ze_device_handle_t device, uint32_t ordinal,
                               bool in_order, sg_list **out_list) {
    sg_object *owner = sg_context_of(context);
    SG_NEED_HANDLE(owner);
    if (ordinal >= SG_ORDINAL_COUNT)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    sg_list *list = sg_object_create(SG_LIST, sizeof *list, owner);
    if (!list)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    list->device = sg_device_of(device);
    list->ordinal = ordinal;
    list->was_made_in_order = in_order;
    list->is_in_order = in_order || !sg_behaviour_is_on(SOFTGPU_CONCURRENT_ENGINES);
    *out_list = list;
    return ZE_RESULT_SUCCESS;
}

/* ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_LIST_EXP_DESC, which the oldest headers do not have. */
enum { MUTABLE_LIST_DESC = 0x00020016 };

ze_result_t sg_zeCommandListCreate(ze_context_handle_t context, ze_device_handle_t device,
                                   const ze_command_list_desc_t *desc, ze_command_list_handle_t *out_list) {
    SG_NEED_HANDLE(sg_device_of(device));
    SG_NEED_POINTER(desc);
    SG_NEED_POINTER(out_list);
    if (desc->flags & ~0x3fu)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    sg_list *list;
    ze_result_t result =
        create_list(context, device, desc->commandQueueGroupOrdinal, desc->flags & SG_LIST_IN_ORDER, &list);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    list->flags = desc->flags;
    for (const ze_base_desc_t *next = desc->pNext; next; next = next->pNext)
        list->is_mutable |= (int)next->stype == MUTABLE_LIST_DESC;
    *out_list = (ze_command_list_handle_t)list;
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeCommandListCreateImmediate(ze_context_handle_t context, ze_device_handle_t device,
                                            const ze_command_queue_desc_t *desc,
                                            ze_command_list_handle_t *out_list) {
    SG_NEED_HANDLE(sg_device_of(device));
    SG_NEED_POINTER(desc);
    SG_NEED_POINTER(out_list);
    sg_list *list = NULL;
    ze_result_t result = sg_check_queue_desc(desc);
    if (result == ZE_RESULT_SUCCESS)
        result = create_list(context, device, desc->ordinal, desc->flags & SG_QUEUE_IN_ORDER, &list);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    list->is_immediate = true;
    list->index = desc->index;
    list->queue_flags = desc->flags;
    list->synchronous = desc->mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
    result = sg_lane_open(&list->lane, list->device, desc->ordinal, desc->index, list);
    if (result == ZE_RESULT_SUCCESS)
        *out_list = (ze_command_list_handle_t)list;
    else
        sg_object_destroy(list);
    return result;
}

static bool is_idle(const sg_list *list) {
    return list->is_immediate ? sg_lane_is_idle(&list->lane) : atomic_load(&list->executions) == 0;
}

static ze_result_t need_idle(const sg_list *list, const char *action) {
    if (!is_idle(list))
        sg_device_settle(list->device);
    if (is_idle(list))
        return ZE_RESULT_SUCCESS;
    sg_finding("a LIST %s while the device executes it", action);
    return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
}

ze_result_t sg_zeCommandListDestroy(ze_command_list_handle_t handle) {
    sg_list *list = sg_list_of(handle);
    if (!list)
        return sg_object_refuse(handle, SG_LIST);
    if (list->is_immediate && sg_behaviour_is_on(SOFTGPU_DESTROY_WAITS))
        sg_lane_wait(&list->lane, UINT64_MAX);
    ze_result_t result = need_idle(list, "destroyed");
    if (result != ZE_RESULT_SUCCESS)
        return result;
    sg_chunk *first = list->tape.first;
    if (list->is_immediate) {
        sg_lane_close(&list->lane);
        first = list->lane.retired.chunk ? list->lane.retired.chunk : first;
    }
    free_tape(&list->tape, first);
    sg_object_destroy(list);
    return ZE_RESULT_SUCCESS;
}

/* An immediate list need not be closed or reset; where it is, it behaves as any list. To close a list twice is no
 * mistake. */
ze_result_t sg_zeCommandListClose(ze_command_list_handle_t handle) {
    sg_list *list = sg_list_of(handle);
    SG_NEED_HANDLE(list);
    if (!list->is_immediate)
        publish(&list->tape);
    list->closed = true;
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeCommandListReset(ze_command_list_handle_t handle) {
    sg_list *list = sg_list_of(handle);
    SG_NEED_HANDLE(list);
    ze_result_t result = need_idle(list, "reset");
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (!list->is_immediate) {
        rewind_tape(&list->tape);
        list->has_counter_based = false;
    }
    list->closed = false;
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeCommandListHostSynchronize(ze_command_list_handle_t handle, uint64_t timeout) {
    sg_list *list = sg_list_of(handle);
    SG_NEED_HANDLE(list);
    return list->is_immediate ? sg_lane_wait(&list->lane, timeout) : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

/* ---- what a list is ------------------------------------------------------------------------------------ */

SG_GETTER(zeCommandListGetDeviceHandle, sg_list_of, ze_command_list_handle_t, ze_device_handle_t,
          object->device)
SG_GETTER(zeCommandListGetContextHandle, sg_list_of, ze_command_list_handle_t, ze_context_handle_t,
          object->object.parent)
SG_GETTER(zeCommandListGetOrdinal, sg_list_of, ze_command_list_handle_t, uint32_t, object->ordinal)
SG_GETTER(zeCommandListGetFlags, sg_list_of, ze_command_list_handle_t, ze_command_list_flags_t, object->flags)
SG_GETTER(zeCommandListIsImmediate, sg_list_of, ze_command_list_handle_t, ze_bool_t, object->is_immediate)

ze_result_t sg_zeCommandListImmediateGetIndex(ze_command_list_handle_t handle, uint32_t *index) {
    const sg_list *list = sg_list_of(handle);
    SG_NEED_HANDLE(list);
    SG_NEED_POINTER(index);
    if (!list->is_immediate)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    *index = list->index;
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeCommandListImmediateGetFlags(ze_command_list_handle_t handle,
                                              ze_command_queue_flags_t *flags) {
    const sg_list *list = sg_list_of(handle);
    SG_NEED_HANDLE(list);
    SG_NEED_POINTER(flags);
    if (!list->is_immediate)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    *flags = list->queue_flags;
    return ZE_RESULT_SUCCESS;
}

/* Commands are not mutable in fact, but have identifiers: their numbers on the list. */
ze_result_t sg_zeCommandListGetNextCommandIdExp(ze_command_list_handle_t handle, const void *desc,
                                                uint64_t *id) {
    sg_list *list = sg_list_of(handle);
    SG_NEED_HANDLE(list);
    SG_NEED_POINTER(desc);
    SG_NEED_POINTER(id);
    if (!list->is_mutable || list->closed)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    *id = list->tape.written + 1;
    return ZE_RESULT_SUCCESS;
}

/* ---- barriers and timestamps --------------------------------------------------------------------------- */

/* Its order is all that it does. */
static void run_barrier(sg_execution *execution, void *argument) {
    (void)argument;
    sg_count(sg_tile_for(execution->device, 0), SG_LIST_BARRIERS, 1);
    sg_count(sg_tile_for(execution->device, 0), SG_FLUSHES, 1);
}

ze_result_t sg_zeCommandListAppendBarrier(ze_command_list_handle_t list, ze_event_handle_t signal,
                                          uint32_t wait_count, ze_event_handle_t *waits) {
    return sg_list_append(list, &(sg_append){.run = run_barrier,
                                             .signal = signal,
                                             .wait_count = wait_count,
                                             .waits = waits,
                                             .order = sg_barrier_order(wait_count)});
}

ze_result_t sg_zeCommandListAppendMemoryRangesBarrier(ze_command_list_handle_t list, uint32_t range_count,
                                                      const size_t *sizes, const void **ranges,
                                                      ze_event_handle_t signal, uint32_t wait_count,
                                                      ze_event_handle_t *waits) {
    (void)range_count;
    SG_NEED_HANDLE(sg_list_of(list));
    SG_NEED_POINTER(sizes);
    SG_NEED_POINTER(ranges);
    return sg_zeCommandListAppendBarrier(list, signal, wait_count, waits);
}

static void run_write_timestamp(sg_execution *execution, void *argument) {
    uint64_t **destination = argument;
    __atomic_store_n(*destination, sg_ticks_at(execution->start ? execution->start : sg_now()),
                     __ATOMIC_RELEASE);
}

ze_result_t sg_zeCommandListAppendWriteGlobalTimestamp(ze_command_list_handle_t list, uint64_t *destination,
                                                       ze_event_handle_t signal, uint32_t wait_count,
                                                       ze_event_handle_t *waits) {
    SG_NEED_HANDLE(sg_list_of(list));
    SG_NEED_POINTER(destination);
    if ((uintptr_t)destination % sizeof *destination)
        return ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT;
    return sg_list_append(list, &(sg_append){.run = run_write_timestamp,
                                             .argument = &destination,
                                             .size = sizeof destination,
                                             .signal = signal,
                                             .wait_count = wait_count,
                                             .waits = waits});
}
