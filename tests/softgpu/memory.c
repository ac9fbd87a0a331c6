/* Contexts, allocations, and the commands that copy and fill. */
#include "work.h"

#include <stdlib.h>
#include <string.h>

/* ---- contexts ------------------------------------------------------------------------------------------ */

ze_result_t sg_zeContextCreate(ze_driver_handle_t driver_handle, const ze_context_desc_t *desc,
                               ze_context_handle_t *out_context) {
    return sg_zeContextCreateEx(driver_handle, desc, 0, NULL, out_context);
}

ze_result_t sg_zeContextCreateEx(ze_driver_handle_t driver_handle, const ze_context_desc_t *desc,
                                 uint32_t device_count, ze_device_handle_t *devices,
                                 ze_context_handle_t *out_context) {
    sg_object *driver = sg_driver_of(driver_handle);
    SG_NEED_HANDLE(driver);
    SG_NEED_POINTER(desc);
    SG_NEED_POINTER(out_context);
    if (desc->flags & ~0x1u)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    if (!devices && device_count)
        return ZE_RESULT_ERROR_INVALID_SIZE;
    for (uint32_t i = 0; i < device_count; ++i)
        SG_NEED_HANDLE(sg_device_of(devices[i]));
    *out_context = sg_object_create(SG_CONTEXT, sizeof(sg_object), driver);
    return *out_context ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

ze_result_t sg_zeContextDestroy(ze_context_handle_t handle) {
    return sg_object_end(handle, SG_CONTEXT);
}

ze_result_t sg_zeContextGetStatus(ze_context_handle_t handle) {
    SG_NEED_HANDLE(sg_context_of(handle));
    return sg_is_lost() ? ZE_RESULT_ERROR_DEVICE_LOST : ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeContextSystemBarrier(ze_context_handle_t context, ze_device_handle_t device) {
    SG_NEED_HANDLE(sg_context_of(context));
    SG_NEED_HANDLE(sg_device_of(device));
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeContextMakeMemoryResident(ze_context_handle_t context, ze_device_handle_t device, void *ptr,
                                           size_t size) {
    SG_NEED_HANDLE(sg_context_of(context));
    SG_NEED_HANDLE(sg_device_of(device));
    SG_NEED_POINTER(ptr);
    return size ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_SIZE;
}

ze_result_t sg_zeContextEvictMemory(ze_context_handle_t context, ze_device_handle_t device, void *ptr,
                                    size_t size) {
    return sg_zeContextMakeMemoryResident(context, device, ptr, size);
}

/* ---- what is allocated --------------------------------------------------------------------------------- */

typedef struct allocation {
    char *base;
    size_t size;
    ze_memory_type_t type;
    uint64_t id;
    sg_object *context;
    sg_device *device;
} allocation;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static allocation *allocations; /* by address */
static size_t allocation_count, allocation_capacity;
static uint64_t last_id;

/* How many begin at or below the address. */
static size_t place_after(const void *pointer) {
    size_t low = 0, high = allocation_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((uintptr_t)allocations[middle].base <= (uintptr_t)pointer)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static allocation *find(const void *pointer) {
    size_t place = place_after(pointer);
    if (!place || (uintptr_t)pointer - (uintptr_t)allocations[place - 1].base >= allocations[place - 1].size)
        return NULL;
    return &allocations[place - 1];
}

/* A copy of what is found; no base: nothing. */
static allocation look_up(const void *pointer) {
    pthread_mutex_lock(&lock);
    const allocation *found = find(pointer);
    allocation copy = found ? *found : (allocation){0};
    pthread_mutex_unlock(&lock);
    return copy;
}

bool sg_memory_is_known(const void *pointer) {
    return look_up(pointer).base != NULL;
}

bool sg_memory_holds(const void *pointer, size_t size) {
    allocation in = look_up(pointer);
    return !in.base || size <= in.size - ((uintptr_t)pointer - (uintptr_t)in.base);
}

static bool add(allocation added) {
    pthread_mutex_lock(&lock);
    bool room = allocation_count < allocation_capacity;
    if (!room) {
        size_t capacity = allocation_capacity ? 2 * allocation_capacity : 64;
        allocation *grown = realloc(allocations, capacity * sizeof *grown);
        room = grown != NULL;
        if (room) {
            allocations = grown;
            allocation_capacity = capacity;
        }
    }
    if (room) {
        size_t place = place_after(added.base);
        memmove(&allocations[place + 1], &allocations[place], (allocation_count - place) * sizeof added);
        added.id = ++last_id;
        allocations[place] = added;
        ++allocation_count;
    }
    pthread_mutex_unlock(&lock);
    return room;
}

static bool take_out(const void *base) {
    pthread_mutex_lock(&lock);
    allocation *found = find(base);
    bool there = found && found->base == base;
    if (there) {
        --allocation_count;
        memmove(found, found + 1, (allocation_count - (size_t)(found - allocations)) * sizeof *found);
    }
    pthread_mutex_unlock(&lock);
    return there;
}

void sg_memory_unload(void) {
    free(allocations);
    allocations = NULL;
    allocation_count = allocation_capacity = 0;
}

/* ---- allocating ---------------------------------------------------------------------------------------- */

static ze_result_t allocate(ze_memory_type_t type, sg_object *context, sg_device *device, size_t size,
                            size_t alignment, void **pointer) {
    SG_NEED_HANDLE(context);
    SG_NEED_POINTER(pointer);
    if (!size || size > SG_MAX_ALLOCATION)
        return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
    if (alignment & (alignment - 1) || alignment > SG_MAX_ALIGNMENT)
        return ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT;
    void *base;
    if (posix_memalign(&base, alignment > 64 ? alignment : 64, size))
        return type == ZE_MEMORY_TYPE_DEVICE ? ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY
                                             : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    if (!add((allocation){.base = base, .size = size, .type = type, .context = context, .device = device})) {
        sg_free_aligned(base);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    sg_ledger_count_memory(+1);
    *pointer = base;
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeMemAllocHost(ze_context_handle_t context, const ze_host_mem_alloc_desc_t *desc, size_t size,
                              size_t alignment, void **pointer) {
    SG_NEED_POINTER(desc);
    if (desc->flags & ~0x1fu)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    return allocate(ZE_MEMORY_TYPE_HOST, sg_context_of(context), NULL, size, alignment, pointer);
}

ze_result_t sg_zeMemAllocDevice(ze_context_handle_t context, const ze_device_mem_alloc_desc_t *desc,
                                size_t size, size_t alignment, ze_device_handle_t device, void **pointer) {
    SG_NEED_HANDLE(sg_device_of(device));
    SG_NEED_POINTER(desc);
    if (desc->flags & ~0x7u)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    return allocate(ZE_MEMORY_TYPE_DEVICE, sg_context_of(context), sg_device_of(device), size, alignment,
                    pointer);
}

ze_result_t sg_zeMemAllocShared(ze_context_handle_t context, const ze_device_mem_alloc_desc_t *device_desc,
                                const ze_host_mem_alloc_desc_t *host_desc, size_t size, size_t alignment,
                                ze_device_handle_t device, void **pointer) {
    if (device)
        SG_NEED_HANDLE(sg_device_of(device));
    SG_NEED_POINTER(device_desc);
    SG_NEED_POINTER(host_desc);
    if (device_desc->flags & ~0x7u || host_desc->flags & ~0x1fu)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    return allocate(ZE_MEMORY_TYPE_SHARED, sg_context_of(context), sg_device_of(device), size, alignment,
                    pointer);
}

ze_result_t sg_zeMemFree(ze_context_handle_t context, void *ptr) {
    SG_NEED_HANDLE(sg_context_of(context));
    SG_NEED_POINTER(ptr);
    if (!take_out(ptr)) {
        sg_finding("memory freed that is not allocated");
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    sg_free_aligned(ptr);
    sg_ledger_count_memory(-1);
    return ZE_RESULT_SUCCESS;
}

/* Frees at once, whatever the policy. */
ze_result_t sg_zeMemFreeExt(ze_context_handle_t context, const ze_memory_free_ext_desc_t *desc, void *ptr) {
    SG_NEED_POINTER(desc);
    return sg_zeMemFree(context, ptr);
}

ze_result_t sg_zeMemGetAllocProperties(ze_context_handle_t context, const void *ptr,
                                       ze_memory_allocation_properties_t *properties,
                                       ze_device_handle_t *out_device) {
    const sg_object *owner = sg_context_of(context);
    SG_NEED_HANDLE(owner);
    SG_NEED_POINTER(ptr);
    SG_NEED_POINTER(properties);
    allocation in = look_up(ptr);
    if (in.context != owner)
        in = (allocation){0};
    properties->type = in.base ? in.type : ZE_MEMORY_TYPE_UNKNOWN;
    properties->id = in.id;
    properties->pageSize = 4096;
    if (out_device)
        *out_device = (ze_device_handle_t)in.device;
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeMemGetAddressRange(ze_context_handle_t context, const void *ptr, void **out_base,
                                    size_t *size) {
    SG_NEED_HANDLE(sg_context_of(context));
    SG_NEED_POINTER(ptr);
    allocation in = look_up(ptr);
    if (!in.base)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    if (out_base)
        *out_base = in.base;
    if (size)
        *size = in.size;
    return ZE_RESULT_SUCCESS;
}

/* ---- copying ------------------------------------------------------------------------------------------- */

/* Rows of bytes, one plane after the other; a plain copy is one row. */
typedef struct copy {
    char *destination;
    const char *source;
    size_t row_bytes, rows, planes;
    size_t destination_pitch, destination_slice, source_pitch, source_slice;
} copy;

static void run_copy(sg_execution *execution, void *argument) {
    const copy *what = argument;
    for (size_t plane = 0; plane < what->planes; ++plane)
        for (size_t row = 0; row < what->rows; ++row)
            memmove(what->destination + plane * what->destination_slice + row * what->destination_pitch,
                    what->source + plane * what->source_slice + row * what->source_pitch, what->row_bytes);
    sg_device *tile = sg_tile_for(execution->device, 0);
    uint64_t bytes = what->row_bytes * what->rows * what->planes;
    sg_count(tile, SG_COPIES, 1);
    sg_count(tile, SG_COPY_BYTES_READ, bytes);
    sg_count(tile, SG_COPY_BYTES_WRITTEN, bytes);
}

static size_t extent(const copy *what, size_t pitch, size_t slice) {
    bool empty = !what->row_bytes || !what->rows || !what->planes;
    return empty ? 0 : (what->planes - 1) * slice + (what->rows - 1) * pitch + what->row_bytes;
}

static ze_result_t append_copy(ze_command_list_handle_t list, const copy *what, ze_event_handle_t signal,
                               uint32_t wait_count, ze_event_handle_t *waits) {
    if (!sg_memory_holds(what->destination, extent(what, what->destination_pitch, what->destination_slice)) ||
        !sg_memory_holds(what->source, extent(what, what->source_pitch, what->source_slice)))
        return ZE_RESULT_ERROR_INVALID_SIZE;
    return sg_list_append(list, &(sg_append){.run = run_copy,
                                             .argument = what,
                                             .size = sizeof *what,
                                             .signal = signal,
                                             .wait_count = wait_count,
                                             .waits = waits});
}

ze_result_t sg_zeCommandListAppendMemoryCopy(ze_command_list_handle_t list, void *destination,
                                             const void *source, size_t size, ze_event_handle_t signal,
                                             uint32_t wait_count, ze_event_handle_t *waits) {
    SG_NEED_HANDLE(sg_list_of(list));
    SG_NEED_POINTER(destination);
    SG_NEED_POINTER(source);
    copy what = {
        .destination = destination, .source = source, .row_bytes = size, .rows = size ? 1 : 0, .planes = 1};
    return append_copy(list, &what, signal, wait_count, waits);
}

/* The device has no images, so that there is none to copy. */
static ze_result_t refuse_image(ze_command_list_handle_t list, ze_image_handle_t image) {
    SG_NEED_HANDLE(sg_list_of(list));
    SG_NEED_HANDLE(image);
    return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
}

ze_result_t sg_zeCommandListAppendImageCopy(ze_command_list_handle_t list, ze_image_handle_t destination,
                                            ze_image_handle_t source, ze_event_handle_t signal,
                                            uint32_t wait_count, ze_event_handle_t *waits) {
    (void)source, (void)signal, (void)wait_count, (void)waits;
    return refuse_image(list, destination);
}

ze_result_t sg_zeCommandListAppendImageCopyRegion(ze_command_list_handle_t list,
                                                  ze_image_handle_t destination, ze_image_handle_t source,
                                                  const ze_image_region_t *destination_region,
                                                  const ze_image_region_t *source_region,
                                                  ze_event_handle_t signal, uint32_t wait_count,
                                                  ze_event_handle_t *waits) {
    (void)source, (void)destination_region, (void)source_region, (void)signal, (void)wait_count, (void)waits;
    return refuse_image(list, destination);
}

ze_result_t sg_zeCommandListAppendImageCopyToMemory(ze_command_list_handle_t list, void *destination,
                                                    ze_image_handle_t source, const ze_image_region_t *region,
                                                    ze_event_handle_t signal, uint32_t wait_count,
                                                    ze_event_handle_t *waits) {
    (void)destination, (void)region, (void)signal, (void)wait_count, (void)waits;
    return refuse_image(list, source);
}

ze_result_t sg_zeCommandListAppendImageCopyFromMemory(ze_command_list_handle_t list,
                                                      ze_image_handle_t destination, const void *source,
                                                      const ze_image_region_t *region,
                                                      ze_event_handle_t signal, uint32_t wait_count,
                                                      ze_event_handle_t *waits) {
    (void)source, (void)region, (void)signal, (void)wait_count, (void)waits;
    return refuse_image(list, destination);
}

ze_result_t sg_zeCommandListAppendImageCopyToMemoryExt(ze_command_list_handle_t list, void *destination,
                                                       ze_image_handle_t source,
                                                       const ze_image_region_t *region, uint32_t row_pitch,
                                                       uint32_t slice_pitch, ze_event_handle_t signal,
                                                       uint32_t wait_count, ze_event_handle_t *waits) {
    (void)destination, (void)region, (void)row_pitch, (void)slice_pitch;
    (void)signal, (void)wait_count, (void)waits;
    return refuse_image(list, source);
}

ze_result_t sg_zeCommandListAppendImageCopyFromMemoryExt(ze_command_list_handle_t list,
                                                         ze_image_handle_t destination, const void *source,
                                                         const ze_image_region_t *region, uint32_t row_pitch,
                                                         uint32_t slice_pitch, ze_event_handle_t signal,
                                                         uint32_t wait_count, ze_event_handle_t *waits) {
    (void)source, (void)region, (void)row_pitch, (void)slice_pitch;
    (void)signal, (void)wait_count, (void)waits;
    return refuse_image(list, destination);
}

/* Memory of all contexts is that of the process. */
ze_result_t sg_zeCommandListAppendMemoryCopyFromContext(ze_command_list_handle_t list, void *destination,
                                                        ze_context_handle_t context, const void *source,
                                                        size_t size, ze_event_handle_t signal,
                                                        uint32_t wait_count, ze_event_handle_t *waits) {
    if (context)
        SG_NEED_HANDLE(sg_context_of(context));
    return sg_zeCommandListAppendMemoryCopy(list, destination, source, size, signal, wait_count, waits);
}

ze_result_t sg_zeCommandListAppendMemoryCopyWithParameters(ze_command_list_handle_t list, void *destination,
                                                           const void *source, size_t size,
                                                           const void *extension, ze_event_handle_t signal,
                                                           uint32_t wait_count, ze_event_handle_t *waits) {
    if (extension)
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    return sg_zeCommandListAppendMemoryCopy(list, destination, source, size, signal, wait_count, waits);
}

static bool regions_match(const ze_copy_region_t *a, const ze_copy_region_t *b) {
    return a->width == b->width && a->height == b->height && a->depth == b->depth;
}

static size_t start_of(const ze_copy_region_t *region, size_t pitch, size_t slice) {
    return region->originZ * slice + region->originY * pitch + region->originX;
}

ze_result_t sg_zeCommandListAppendMemoryCopyRegion(ze_command_list_handle_t list, void *destination,
                                                   const ze_copy_region_t *destination_region,
                                                   uint32_t destination_pitch, uint32_t destination_slice,
                                                   const void *source, const ze_copy_region_t *source_region,
                                                   uint32_t source_pitch, uint32_t source_slice,
                                                   ze_event_handle_t signal, uint32_t wait_count,
                                                   ze_event_handle_t *waits) {
    SG_NEED_HANDLE(sg_list_of(list));
    SG_NEED_POINTER(destination);
    SG_NEED_POINTER(destination_region);
    SG_NEED_POINTER(source);
    SG_NEED_POINTER(source_region);
    if (!regions_match(destination_region, source_region))
        return ZE_RESULT_ERROR_INVALID_SIZE;
    copy what = {
        .destination =
            (char *)destination + start_of(destination_region, destination_pitch, destination_slice),
        .source = (const char *)source + start_of(source_region, source_pitch, source_slice),
        .row_bytes = source_region->width,
        .rows = source_region->height ? source_region->height : 1,
        .planes = source_region->depth ? source_region->depth : 1,
        .destination_pitch = destination_pitch,
        .destination_slice = destination_slice,
        .source_pitch = source_pitch,
        .source_slice = source_slice,
    };
    return append_copy(list, &what, signal, wait_count, waits);
}

/* ---- filling ------------------------------------------------------------------------------------------- */

typedef struct fill {
    char *destination;
    size_t size;
    size_t pattern_size;
    char pattern[SG_MAX_FILL_PATTERN];
} fill;

static void run_fill(sg_execution *execution, void *argument) {
    const fill *what = argument;
    if (what->pattern_size == 1)
        memset(what->destination, what->pattern[0], what->size);
    else
        for (size_t done = 0; done < what->size; done += what->pattern_size) {
            size_t left = what->size - done;
            memcpy(what->destination + done, what->pattern,
                   left < what->pattern_size ? left : what->pattern_size);
        }
    sg_count(sg_tile_for(execution->device, 0), SG_FILLS, 1);
    sg_count(sg_tile_for(execution->device, 0), SG_FILL_BYTES_WRITTEN, what->size);
}

ze_result_t sg_zeCommandListAppendMemoryFill(ze_command_list_handle_t list, void *ptr, const void *pattern,
                                             size_t pattern_size, size_t size, ze_event_handle_t signal,
                                             uint32_t wait_count, ze_event_handle_t *waits) {
    SG_NEED_HANDLE(sg_list_of(list));
    SG_NEED_POINTER(ptr);
    SG_NEED_POINTER(pattern);
    if (!pattern_size || pattern_size & (pattern_size - 1) || pattern_size > SG_MAX_FILL_PATTERN ||
        !sg_memory_holds(ptr, size))
        return ZE_RESULT_ERROR_INVALID_SIZE;
    fill what = {.destination = ptr, .size = size, .pattern_size = pattern_size};
    memcpy(what.pattern, pattern, pattern_size);
    return sg_list_append(list, &(sg_append){.run = run_fill,
                                             .argument = &what,
                                             .size = sizeof what,
                                             .signal = signal,
                                             .wait_count = wait_count,
                                             .waits = waits});
}

ze_result_t sg_zeCommandListAppendMemoryFillWithParameters(ze_command_list_handle_t list, void *ptr,
                                                           const void *pattern, size_t pattern_size,
                                                           size_t size, const void *extension,
                                                           ze_event_handle_t signal, uint32_t wait_count,
                                                           ze_event_handle_t *waits) {
    if (extension)
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    return sg_zeCommandListAppendMemoryFill(list, ptr, pattern, pattern_size, size, signal, wait_count,
                                            waits);
}

/* ---- hints: all memory is the host's ------------------------------------------------------------------- */

ze_result_t sg_zeCommandListAppendMemoryPrefetch(ze_command_list_handle_t list, const void *ptr,
                                                 size_t size) {
    (void)size;
    SG_NEED_HANDLE(sg_list_of(list));
    SG_NEED_POINTER(ptr);
    return sg_list_append(list, &(sg_append){0});
}

ze_result_t sg_zeCommandListAppendMemAdvise(ze_command_list_handle_t list, ze_device_handle_t device,
                                            const void *ptr, size_t size, ze_memory_advice_t advice) {
    SG_NEED_HANDLE(sg_device_of(device));
    if (advice > ZE_MEMORY_ADVICE_BIAS_UNCACHED)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    return sg_zeCommandListAppendMemoryPrefetch(list, ptr, size);
}
