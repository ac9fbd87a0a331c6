/* Modules and kernels that exist, their names and binaries. */

#include "modules/loaded.h"

#include "base/compiler.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/platform.h"

#ifdef ZETOOLS_TRACER

/* ---- what is loaded -------------------------------------------------------------------------------------- */

ZT__PRIVATE void *zt__find_or_add_record(const zt__loaded *loaded, zt__map *map, const void *handle,
                                         size_t size) {
    void *found = zt__map_find(map, &handle, sizeof handle), *made;
    int has_room;
    if (found) {
        return found;
    }
    zt__unlock(loaded->mutex);
    made = zt__allocate(loaded->allocator, 1, size);
    zt__lock(loaded->mutex);
    has_room = made && zt__map_make_room(map, loaded->allocator, loaded->mutex);
    found = zt__map_find(map, &handle, sizeof handle); /* another thread may have added it */
    if (!found && has_room) {
        memcpy(made, &handle, sizeof handle);
        zt__map_add(map, made, sizeof handle, made);
        return made;
    }
    zt__unlock(loaded->mutex);
    zt__free(loaded->allocator, made);
    zt__lock(loaded->mutex);
    return found;
}

/* ---- names and binaries ---------------------------------------------------------------------------------- */

ZT__PRIVATE void *zt__allocate_with_name(const zt_allocator *allocator, size_t size,
                                         ze_kernel_handle_t kernel) {
    enum { LONGEST_NAME = 1 << 20 };
    size_t name_size = 0;
    char *record;
    if (zeKernelGetName(kernel, &name_size, NULL) != ZE_RESULT_SUCCESS || name_size > LONGEST_NAME) {
        name_size = 0;
    }
    record = (char *)zt__allocate(allocator, 1, size + name_size + 1);
    if (record && name_size && zeKernelGetName(kernel, &name_size, record + size) != ZE_RESULT_SUCCESS) {
        record[size] = 0;
    }
    return record;
}

/* Calls one of two functions of the driver, which take the same arguments. */
static ze_result_t zt__query_binary(ze_module_handle_t module, int is_debug, size_t *size, uint8_t *bytes) {
    return is_debug ? zetModuleGetDebugInfo((zet_module_handle_t)module,
                                            ZET_MODULE_DEBUG_INFO_FORMAT_ELF_DWARF, size, bytes)
                    : zeModuleGetNativeBinary(module, size, bytes);
}

ZT__PRIVATE ze_result_t zt__read_binary(const zt_allocator *allocator, ze_module_handle_t module,
                                        int is_debug, size_t most, zt__binary *binary) {
    size_t room;
    ze_result_t result;
    binary->bytes = NULL;
    binary->size = 0;
    result = zt__query_binary(module, is_debug, &binary->size, NULL);
    if (result != ZE_RESULT_SUCCESS) {
        binary->size = 0;
    }
    if (binary->size == 0) {
        return result;
    }
    room = binary->size;
    binary->bytes = room <= most ? (uint8_t *)zt__allocate(allocator, room, 1) : NULL;
    if (!binary->bytes) {
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    result = zt__query_binary(module, is_debug, &binary->size, binary->bytes);
    binary->size = binary->size < room ? binary->size : room;
    if (result != ZE_RESULT_SUCCESS) {
        zt__free(allocator, binary->bytes);
        binary->bytes = NULL;
    }
    return result;
}

#endif
