/* The kernels of a profiler; zt_get_kernel. */

#include "modules/kernels.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/platform.h"
#include "metrics/driver.h"
#include "modules/kernel_facts.h"
#include "modules/loaded.h"
#include "modules/occupancy.h"
#include "regions/profiler.h"
#include "results/results.h"

#ifdef ZETOOLS_TRACER

/* ---- the kernels of a profiler --------------------------------------------------------------------------- */

/* Called by zt_close. */
static void zt__free_kernels(zt_profiler *profiler) {
    const zt_allocator *allocator = &profiler->config.allocator;
    zt__kernels *kernels = profiler->kernels;
    uint32_t i;
    for (i = 0; i < kernels->count; i++) {
        zt__free(allocator, kernels->in_order[i]);
    }
    zt__map_free(&kernels->map, allocator);
    zt__free(allocator, kernels);
    profiler->kernels = NULL;
}

ZT__PRIVATE zt__kernel *zt__find_or_add_kernel(zt_profiler *profiler, ze_kernel_handle_t handle,
                                               const zt__kernel_facts *described) {
    const zt_allocator *allocator = &profiler->config.allocator;
    zt__kernels *kernels = zt__load(&profiler->kernels);
    ze_device_compute_properties_t compute;
    ze_device_properties_t device;
    zt__kernel *found, *made;
    size_t length;
    int has_room;
    if (!kernels) { /* it is the first kernel */
        kernels = (zt__kernels *)zt__allocate(allocator, 1, sizeof *kernels);
        if (!kernels) {
            return NULL;
        }
        memset(&device, 0, sizeof device);
        memset(&compute, 0, sizeof compute);
        device.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
        compute.stype = ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES;
        if (zeDeviceGetProperties(profiler->device, &device) == ZE_RESULT_SUCCESS) {
            kernels->limits.threads_per_eu = device.numThreadsPerEU;
            kernels->limits.eus_per_subslice = device.numEUsPerSubslice;
            kernels->limits.subslices = device.numSubslicesPerSlice * device.numSlices;
        }
        if (zeDeviceGetComputeProperties(profiler->device, &compute) == ZE_RESULT_SUCCESS) {
            kernels->limits.slm_bytes = compute.maxSharedLocalMemory;
        }
        zt__lock(&profiler->mutex);
        if (!profiler->kernels) {
            profiler->free_kernels = zt__free_kernels;
            zt__store(&profiler->kernels, kernels);
            kernels = NULL;
        }
        zt__unlock(&profiler->mutex);
        zt__free(allocator, kernels); /* another thread was faster */
        kernels = zt__load(&profiler->kernels);
    }
    made = (zt__kernel *)zt__allocate_with_name(allocator, sizeof *made + sizeof made->facts, handle);
    if (!made) {
        return NULL;
    }

    /* The key, behind the record: the facts, and the name. */
    made->name = (const char *)(made + 1) + sizeof made->facts;
    made->facts = *described;
    zt__query_kernel(&profiler->driver, handle, &made->facts);
    memcpy(made + 1, &made->facts, sizeof made->facts);
    length = sizeof made->facts + strlen(made->name);
    zt__lock(&profiler->mutex);
    has_room = zt__map_make_room(&kernels->map, allocator, &profiler->mutex);
    found = (zt__kernel *)zt__map_find(&kernels->map, made + 1, length);
    if (!found && has_room && kernels->count < ZT__MAX_KERNELS) {
        zt__map_add(&kernels->map, made + 1, length, made);
        found = kernels->in_order[kernels->count++] = made;
        made = NULL;
    }
    zt__unlock(&profiler->mutex);
    zt__free(allocator, made);
    return found;
}

/* Returns the index of a shape among the first `count`, or `count`. */
static uint32_t zt__find_shape(const zt__kernel *kernel, uint32_t count, const zt_kernel_shape *shape) {
    uint32_t i = 0;
    while (i < count &&
           (memcmp(kernel->shapes[i].group_size, shape->group_size, sizeof shape->group_size) != 0 ||
            memcmp(kernel->shapes[i].group_count, shape->group_count, sizeof shape->group_count) != 0)) {
        i++;
    }
    return i;
}

/* Adds recent launches to the counts of a kernel, before these are read. The mutex is held. */
static void zt__add_recent_launches(zt__kernel *kernel) {
    uint32_t i, recent;
    for (i = 0; i < kernel->shape_count; i++) {
        recent = zt__load(&kernel->recent[i]);
        zt__add(&kernel->recent[i], 0 - recent);
        kernel->shapes[i].launches += recent;
        kernel->launches += recent;
    }
}

ZT__PRIVATE void zt__copy_record(zt__kernel *kernel, zt__kernel *copy) {
    zt__add_recent_launches(kernel);
    memset(copy, 0, sizeof *copy);
    memcpy(copy, kernel, offsetof(zt__kernel, recent)); /* which other threads change meanwhile */
}

/* A launch of a known shape is counted without the mutex, so that a traced launch locks fewer. Not all machines add 64
   bits atomically, so 32 bits are added, which go into the counts before they overflow. */
ZT__PRIVATE void zt__count_kernel(zt_profiler *profiler, zt__kernel *kernel, const zt_kernel_shape *shape) {
    enum { MOST_RECENT = 64 };
    uint32_t count = kernel ? zt__load(&kernel->shape_count) : 0;
    uint32_t i = kernel ? zt__find_shape(kernel, count, shape) : 0;
    if (i < count && zt__add(&kernel->recent[i], 1) < MOST_RECENT) {
        return;
    }
    zt__lock(&profiler->mutex);
    if (!kernel) {
        profiler->unknown_launches++;
    } else if (i < count) {
        zt__add_recent_launches(kernel);
    } else {
        i = zt__find_shape(kernel, kernel->shape_count, shape);
        if (i == ZT_KERNEL_SHAPES) {
            kernel->launches++;
            kernel->other_launches++;
        } else {
            if (i == kernel->shape_count) {
                kernel->shapes[i] = *shape;
                kernel->shapes[i].launches = 0;
                zt__store(&kernel->shape_count, i + 1);
            }
            zt__add(&kernel->recent[i], 1);
        }
    }
    zt__unlock(&profiler->mutex);
}

/* ---- results --------------------------------------------------------------------------------------------- */

ZT__PRIVATE uint32_t zt__get_kernel_count(const zt_profiler *profiler) {
    zt_profiler *locked = zt__mutable(profiler);
    uint32_t count;
    if (!profiler) {
        return 0;
    }
    zt__lock(&locked->mutex);
    count = locked->kernels ? locked->kernels->count : 0;
    zt__unlock(&locked->mutex);
    return count;
}

ZT_API ze_result_t zt_get_kernel(const zt_profiler *profiler, uint32_t kernel, zt_kernel_info *info) {
    zt_profiler *locked = zt__mutable(profiler);
    const zt__region_record *region;
    const zt__kernels *kernels;
    zt__kernel *found;
    uint32_t i, j;
    if (!info) {
        return profiler ? zt__report_null(&locked->diagnostics, "zt_get_kernel", "info") : ZE_RESULT_SUCCESS;
    }
    memset(info, 0, sizeof *info);
    info->name = "";
    info->region = UINT32_MAX;
    info->simd_width = info->registers = info->slm_bytes = info->private_bytes = UINT32_MAX;
    info->spill_bytes = info->barriers = info->arguments = info->code_bytes = UINT32_MAX;
    info->profile_flags = UINT32_MAX;
    info->occupancy = zt__nan();
    if (!profiler) {
        return ZE_RESULT_SUCCESS;
    }
    zt__lock(&locked->mutex);
    kernels = locked->kernels;
    found = kernels && kernel < kernels->count ? kernels->in_order[kernel] : NULL;
    if (found) {
        zt__add_recent_launches(found);
        info->name = found->name;
        info->module = found->facts.module;
        info->launches = found->launches;
        info->simd_width = found->facts.simd_width;
        info->registers = found->facts.registers;
        info->slm_bytes = found->facts.slm_bytes;
        info->private_bytes = found->facts.private_bytes;
        info->spill_bytes = found->facts.spill_bytes;
        info->barriers = found->facts.barriers;
        info->arguments = found->facts.arguments;
        info->code_bytes = found->facts.code_bytes;
        info->profile_flags = found->facts.profile_flags;
        memcpy(info->required_group_size, found->facts.required_group_size, sizeof info->required_group_size);
        info->other_launches = found->other_launches;
        info->shape_count = found->shape_count;
        for (i = 0; i < found->shape_count; i++) { /* in descending order of their launches */
            for (j = i; j > 0 && info->shapes[j - 1].launches < found->shapes[i].launches; j--) {
                info->shapes[j] = info->shapes[j - 1];
            }
            info->shapes[j] = found->shapes[i];
        }
        region = (const zt__region_record *)zt__map_find(&locked->names, found->name, strlen(found->name));
        info->region = region ? region->index : UINT32_MAX;
    }
    zt__unlock(&locked->mutex);
    if (!found) {
        return zt__report_index(profiler, "zt_get_kernel", "kernel", kernel);
    }
    for (i = 0; i < info->shape_count; i++) {
        zt_kernel_shape *shape = &info->shapes[i];
        const zt__filling filling = zt__fill_subslice(&kernels->limits, &found->facts, shape->group_size);
        double count =
            (double)shape->group_count[0] * (double)shape->group_count[1] * (double)shape->group_count[2];
        shape->groups_per_subslice = filling.groups;
        shape->occupancy = shape->waves = zt__nan();
        if (filling.groups != UINT32_MAX) {
            shape->occupancy = (double)filling.groups * filling.threads / filling.slots;
        }
        if (filling.groups != UINT32_MAX && count > 0 && kernels->limits.subslices) {
            shape->waves = count / ((double)filling.groups * kernels->limits.subslices);
        }
    }
    info->occupancy = info->shapes[0].occupancy;
    zt__advise_kernel(&kernels->limits, &found->facts, &info->shapes[0], info->advice, sizeof info->advice);
    return ZE_RESULT_SUCCESS;
}

#endif
