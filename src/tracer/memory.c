/* Calls that allocate and free memory of a device. */

#include "tracer/memory.h"

#include "base/compiler.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/platform.h"
#include "regions/phases.h"
#include "regions/profiler.h"
#include "tracer/calls.h"
#include "tracer/frames.h"
#include "tracer/lists.h"
#include "tracer/memory_use.h"
#include "tracer/tracer.h"

#ifdef ZETOOLS_TRACER

/* What the application has allocated, and not freed. */
typedef struct zt__allocation {
    const void *pointer;       /* the key */
    zt__traced_device *device; /* to which it is counted */
    zt__path *phase;           /* in which it was made, or the root */
    uint64_t bytes;
    int is_host;
    int may_be_freed;            /* a call was about to free it, and may have been refused */
    struct zt__allocation *next; /* of those that are freed with their context */
} zt__allocation;

/* What a call has allocated. */
typedef struct zt__allocated {
    ze_context_handle_t context;
    ze_device_handle_t device; /* NULL: that of the context */
    const void *pointer;
    uint64_t bytes;
    int is_host;
} zt__allocated;

static zt__allocated zt__read_allocation(const zt__frame *frame) {
    zt__allocated made = {NULL, NULL, NULL, 0, 0};
    if (frame->call == ZT__CALL_MemAllocDevice) {
        const ze_mem_alloc_device_params_t *p = ZT__PARAMETERS(frame, ze_mem_alloc_device_params_t);
        made.context = *p->phContext;
        made.device = *p->phDevice;
        made.bytes = *p->psize;
        made.pointer = **p->ppptr;
    } else if (frame->call == ZT__CALL_MemAllocShared) {
        const ze_mem_alloc_shared_params_t *p = ZT__PARAMETERS(frame, ze_mem_alloc_shared_params_t);
        made.context = *p->phContext;
        made.device = *p->phDevice;
        made.bytes = *p->psize;
        made.pointer = **p->ppptr;
    } else {
        const ze_mem_alloc_host_params_t *p = ZT__PARAMETERS(frame, ze_mem_alloc_host_params_t);
        made.context = *p->phContext;
        made.bytes = *p->psize;
        made.pointer = **p->ppptr;
        made.is_host = 1;
    }
    return made;
}

/* Returns the device to which an allocation is counted, or NULL. What is of no device counts to the first of its
   context. */
static zt__traced_device *zt__find_owner(zt__tracer *tracer, const zt__allocated *made) {
    zt__traced_device *device = NULL;
    if (made->device) {
        device = zt__find_or_open_device(tracer, made->context, made->device);
        return zt__is_measured(device) ? device : NULL;
    }
    do {
        device = zt__next_measured(tracer, device);
    } while (device && device->context != made->context);
    return device;
}

/* Frees the record of an allocation that is freed. NULL: there is none. */
static void zt__end_allocation(zt__tracer *tracer, zt__allocation *allocation) {
    if (allocation) {
        zt__count_free(allocation->device->profiler, allocation->phase, allocation->bytes,
                       allocation->is_host);
        zt__free(&tracer->allocator, allocation);
    }
}

/* Removes the record of an allocation, and returns it; or NULL. The memory mutex is held. */
static zt__allocation *zt__remove_allocation(zt__tracer *tracer, const void *pointer) {
    zt__allocation *found = (zt__allocation *)zt__map_find(&tracer->allocations, &pointer, sizeof pointer);
    if (found) {
        zt__map_remove(&tracer->allocations, &pointer, sizeof pointer);
    }
    return found;
}

ZT__PRIVATE void zt__after_allocation(zt__frame *frame) {
    zt__tracer *tracer = frame->tracer;
    const zt__allocated made = zt__read_allocation(frame);
    zt__traced_device *device = zt__find_owner(tracer, &made);
    zt__allocation *added, *replaced;
    zt__path *phase;
    int has_room;
    if (!made.pointer || !device || !zt__is_memory_watched(device->profiler)) {
        return;
    }
    zt__lock(&device->profiler->mutex);
    phase = zt__prepare_phase(device->profiler);
    zt__unlock(&device->profiler->mutex);
    added = (zt__allocation *)zt__allocate(&tracer->allocator, 1, sizeof *added);
    zt__lock(&tracer->memory_mutex);
    has_room = added && zt__map_make_room(&tracer->allocations, &tracer->allocator, &tracer->memory_mutex) &&
               tracer->allocations.count < ZT__MAX_ALLOCATIONS;
    /* The call that has freed memory at this address may not have returned to its thread yet. */
    replaced = zt__remove_allocation(tracer, made.pointer);
    if (has_room) {
        added->pointer = made.pointer;
        added->device = device;
        added->phase = phase;
        added->bytes = made.bytes;
        added->is_host = made.is_host;
        zt__map_add(&tracer->allocations, &added->pointer, sizeof added->pointer, added);
    }
    zt__unlock(&tracer->memory_mutex);
    zt__end_allocation(tracer, replaced);
    if (has_room) {
        zt__count_allocation(device->profiler, phase, made.bytes, made.is_host);
    } else {
        zt__free(&tracer->allocator, added);
        zt__count_unseen_allocation(device->profiler);
    }
}

static const void *zt__freed_pointer(const zt__frame *frame) {
    return frame->call == ZT__CALL_MemFreeExt ? *ZT__PARAMETERS(frame, ze_mem_free_ext_params_t)->pptr
                                              : *ZT__PARAMETERS(frame, ze_mem_free_params_t)->pptr;
}

ZT__PRIVATE void zt__before_free(zt__frame *frame) {
    zt__tracer *tracer = frame->tracer;
    const void *pointer = zt__freed_pointer(frame);
    zt__allocation *found;
    zt__lock(&tracer->memory_mutex);
    found = (zt__allocation *)zt__map_find(&tracer->allocations, &pointer, sizeof pointer);
    if (found) {
        found->may_be_freed = 1;
    }
    zt__unlock(&tracer->memory_mutex);
}

ZT__PRIVATE void zt__after_free(zt__frame *frame) {
    zt__tracer *tracer = frame->tracer;
    const void *pointer = zt__freed_pointer(frame);
    zt__allocation *found;
    zt__lock(&tracer->memory_mutex);
    found = (zt__allocation *)zt__map_find(&tracer->allocations, &pointer, sizeof pointer);
    if (found && found->may_be_freed) { /* else another thread has allocated at the same address since */
        zt__map_remove(&tracer->allocations, &pointer, sizeof pointer);
    } else {
        found = NULL;
    }
    zt__unlock(&tracer->memory_mutex);
    zt__end_allocation(tracer, found);
}

ZT__PRIVATE void zt__note_context_destroy(zt__tracer *tracer, ze_context_handle_t context) {
    uint32_t i;
    zt__lock(&tracer->memory_mutex);
    for (i = 0; i < tracer->allocations.capacity; i++) {
        zt__allocation *allocation = (zt__allocation *)tracer->allocations.entries[i].value;
        if (allocation && allocation->device->context == context) {
            allocation->may_be_freed = 1;
        }
    }
    zt__unlock(&tracer->memory_mutex);
}

ZT__PRIVATE void zt__after_context_destroy(zt__frame *frame) {
    zt__tracer *tracer = frame->tracer;
    ze_context_handle_t context = *ZT__PARAMETERS(frame, ze_context_destroy_params_t)->phContext;
    zt__allocation *freed = NULL, *next;
    uint32_t i = 0;
    zt__lock(&tracer->memory_mutex);
    while (i < tracer->allocations.capacity) {
        zt__allocation *allocation = (zt__allocation *)tracer->allocations.entries[i].value;
        if (allocation && allocation->device->context == context && allocation->may_be_freed) {
            zt__remove_allocation(tracer, allocation->pointer); /* another may move to its place */
            allocation->next = freed;
            freed = allocation;
        } else {
            i++;
        }
    }
    zt__unlock(&tracer->memory_mutex);
    for (; freed; freed = next) {
        next = freed->next;
        zt__end_allocation(tracer, freed);
    }
}

#endif
