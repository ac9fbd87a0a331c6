/* Hot spots: where kernels lie on the device. Samples are read before one is unloaded. */

#include "tracer/sampled_kernels.h"

#include "base/compiler.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/platform.h"
#include "base/threads.h"
#include "metrics/availability.h"
#include "metrics/driver.h"
#include "modules/elf.h"
#include "modules/loaded.h"
#include "tracer/hotspots.h"
#include "tracer/sampling.h"

#ifdef ZETOOLS_TRACER

/* Finds the size of a kernel, and what its instructions are, by a function of the driver or the loader, which
   may be NULL. `kernel` is the handle that it knows. Returns 0 if that fails. */
static int zt__read_kernel_binary(const zt_allocator *allocator, zt__get_binary_fn get_binary,
                                  ze_kernel_handle_t kernel, zt__code *code) {
    uint8_t *bytes = NULL;
    size_t room = 0, size;
    int is_known;
    if (get_binary && get_binary(kernel, &room, NULL) == ZE_RESULT_SUCCESS && room > 0) {
        bytes = (uint8_t *)zt__allocate(allocator, room, 1);
    }
    size = room;
    is_known = bytes && get_binary(kernel, &size, bytes) == ZE_RESULT_SUCCESS;
    size = size < room ? size : room;
    if (is_known) {
        code->size = size;
        code->hash = zt__hash(bytes, size);
    }
    zt__free(allocator, bytes);
    return is_known;
}

/* Returns the record of a kernel, which is added if there is none. `handle` is NULL if its module is not
   known. A record of a module that nothing uses any more is used again. NULL without memory. */
static zt__sampled_kernel *zt__add_sampled_kernel(zt__hotspots *hotspots, const char *name,
                                                  const zt__code *code, ze_module_handle_t handle) {
    size_t size = strlen(name) + 1;
    zt__sampled_module *module = NULL, *unused = NULL, *made_module = NULL;
    zt__sampled_kernel *kernel;
    zt__sampled_kernel *made =
        (zt__sampled_kernel *)zt__allocate(&hotspots->allocator, 1, sizeof *made + size);
    if (handle) {
        made_module = (zt__sampled_module *)zt__allocate(&hotspots->allocator, 1, sizeof *made_module);
    }
    zt__lock(&hotspots->mutex);
    kernel = hotspots->kernels;
    while (kernel && (kernel->code.hash != code->hash || strcmp(kernel->name, name) != 0)) {
        kernel = kernel->next;
    }
    if (!kernel && made) {
        kernel = made;
        made = NULL;
        kernel->name = (char *)memcpy(kernel + 1, name, size);
        kernel->code = *code;
        kernel->debug_address = UINT64_MAX;
        kernel->next = hotspots->kernels;
        hotspots->kernels = kernel;
    }
    for (module = handle ? hotspots->modules : NULL; module && module->handle != handle;
         module = module->next) {
        if (!module->handle && !module->debug && module->kernel_count == 0) {
            unused = module;
        }
    }
    if (handle && !module && !unused && made_module) {
        unused = made_module;
        made_module = NULL;
        unused->next = hotspots->modules;
        hotspots->modules = unused;
    }
    if (handle && !module && unused) {
        module = unused;
        module->handle = handle;
        module->is_read = 0;
    }
    if (kernel && module && !(kernel->module && kernel->module->debug)) {
        zt__set_module(kernel, module);
    }
    zt__unlock(&hotspots->mutex);
    zt__free(&hotspots->allocator, made);
    zt__free(&hotspots->allocator, made_module);
    return kernel;
}

ZT__PRIVATE void zt__keep_debug_info(zt__hotspots *hotspots, ze_module_handle_t handle, int is_last) {
    zt__sampled_module *module;
    zt__lock(&hotspots->mutex);
    module = hotspots->modules;
    zt__unlock(&hotspots->mutex);
    for (; module; module = module->next) { /* new ones are added before the first */
        zt__sampled_kernel *kernel;
        int has_samples = 0, is_meant;
        zt__lock(&hotspots->mutex);
        is_meant = module->handle && (!handle || module->handle == handle);
        for (kernel = hotspots->kernels; kernel; kernel = kernel->next) {
            has_samples |= kernel->module == module && kernel->samples > 0;
        }
        zt__unlock(&hotspots->mutex);
        if (is_meant && has_samples && !module->is_read) {
            size_t limit = hotspots->config.debug_limit, kept = hotspots->debug_bytes;
            size_t room = kept < limit ? limit - kept : 0;
            zt__binary debug;
            zt__read_binary(&hotspots->allocator, module->handle, 1, room, &debug);
            zt__lock(&hotspots->mutex);
            hotspots->has_skipped_debug |= debug.size > room;
            module->debug = debug.bytes;
            module->debug_size = debug.bytes ? debug.size : 0;
            module->is_read = 1;
            hotspots->debug_bytes += module->debug_size;
            zt__unlock(&hotspots->mutex);
        }
        zt__lock(&hotspots->mutex);
        for (kernel = hotspots->kernels; kernel && is_meant && is_last; kernel = kernel->next) {
            if (kernel->module == module && kernel->samples == 0) {
                zt__set_module(kernel, NULL);
            }
        }
        if (is_meant && is_last) {
            module->handle = NULL;
        }
        zt__unlock(&hotspots->mutex);
    }
}

ZT__PRIVATE void zt__before_unload(zt__hotspots *hotspots, ze_module_handle_t module) {
    if (zt__begin_reading(hotspots)) {
        zt__read_samples(hotspots);
        if (module) {
            zt__keep_debug_info(hotspots, module, 1);
        }
        zt__unlock_timed(&hotspots->reading);
    }
}

ZT__PRIVATE void zt__place_kernel(zt__hotspots *hotspots, const zt__loaded_kernel *loaded) {
    const zt__driver *driver = &hotspots->profiler->driver;
    const zt_allocator *allocator = &hotspots->allocator;
    ze_kernel_handle_t kernel = (ze_kernel_handle_t)(uintptr_t)loaded->handle, of_driver;
    void *translated = kernel;
    char *name;
    zt__place place = {0, 0, NULL}, *places = NULL, *before;
    zt__code code = {0, 0};
    uint32_t i, room = 0, count = 0;
    int is_known, is_replacing = 0;
    if (loaded->device && !zt__share_counters(loaded->device, hotspots->profiler->device)) {
        return;
    }
    if (driver->zelLoaderTranslateHandle &&
        driver->zelLoaderTranslateHandle(ZT__LOADER_HANDLE_KERNEL, kernel, &translated) !=
            ZE_RESULT_SUCCESS) {
        return;
    }
    of_driver = (ze_kernel_handle_t)translated;
    if (hotspots->get_base(of_driver, &place.base) != ZE_RESULT_SUCCESS) {
        return;
    }
    name = (char *)zt__allocate_with_name(allocator, 0, kernel);
    /* The loader may lack zeKernelGetBinaryExp, or refuse to return a size, and the driver may export it or
       not; without it, the native binary of the module has the instructions. */
    is_known = name && (zt__read_kernel_binary(allocator, hotspots->get_binary, of_driver, &code) ||
                        zt__read_kernel_binary(allocator, driver->zeKernelGetBinaryExp, kernel, &code));
    if (name && !is_known && loaded->module) {
        zt__binary binary;
        uint64_t address;
        zt__elf elf;
        zt__read_binary(allocator, loaded->module, 0, SIZE_MAX, &binary);
        is_known = zt__open_elf(binary.bytes, binary.size, &elf) &&
                   zt__find_in_elf(&elf, name, NULL, &address, &code);
        zt__free(allocator, binary.bytes);
    }
    if (is_known && code.size > 0 && code.size <= UINT32_MAX) {
        place.size = code.size;
        place.kernel = zt__add_sampled_kernel(hotspots, name, &code, loaded->module);
    }
    zt__free(allocator, name);
    if (!place.kernel) {
        return;
    }

    /* What was sampled in another kernel that was there before is read first. */
    zt__lock(&hotspots->mutex);
    for (i = 0; i < hotspots->place_count; i++) {
        const zt__place *other = &hotspots->places[i];
        is_replacing |= zt__replaces(&place, other) && other->kernel != place.kernel;
    }
    zt__unlock(&hotspots->mutex);
    if (is_replacing) {
        zt__before_unload(hotspots, NULL);
    }

    /* Replace the table by one with this place, at its position, and without those that it replaces. */
    zt__lock(&hotspots->mutex);
    while (room <= hotspots->place_count) { /* other threads may add places meanwhile */
        room = hotspots->place_count + 1;
        zt__unlock(&hotspots->mutex);
        zt__free(allocator, places);
        places = (zt__place *)zt__allocate(allocator, room, sizeof *places);
        if (!places) {
            return;
        }
        zt__lock(&hotspots->mutex);
    }
    before = hotspots->places;
    for (i = 0; i < hotspots->place_count; i++) {
        if (!zt__replaces(&place, &before[i])) {
            places[count++] = before[i];
        }
    }
    for (i = count++; i > 0 && (uint32_t)places[i - 1].base > (uint32_t)place.base; i--) {
        places[i] = places[i - 1];
    }
    places[i] = place;
    place.kernel->base = place.base;
    hotspots->places = places;
    hotspots->place_count = count;
    /* If any two overlap, so do two neighbours; the last one and the first are that, too. */
    hotspots->places_overlap = 0;
    for (i = 0; i < count && count > 1; i++) {
        hotspots->places_overlap |= zt__has_address(&places[i], (uint32_t)places[(i + 1) % count].base);
    }
    zt__unlock(&hotspots->mutex);
    zt__free(allocator, before);
}

#endif
