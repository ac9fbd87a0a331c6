/* Modules that the debugged process has loaded. */

#include "debug/modules.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/memory.h"
#include "debug/debugger.h"

#ifdef ZETOOLS_DEBUG

/* ---- modules: with `session` held ------------------------------------------------------------------------ */

ZT__PRIVATE int zt__is_same_place(const zet_debug_event_info_module_t *a,
                                  const zet_debug_event_info_module_t *b) {
    return a->format == b->format && a->moduleBegin == b->moduleBegin && a->moduleEnd == b->moduleEnd &&
           a->load == b->load;
}

ZT__PRIVATE void zt__add_debug_module(zt_debugger *debugger, const zet_debug_event_info_module_t *place) {
    const zt_allocator *allocator = &debugger->config.allocator;
    const size_t limit = debugger->config.module_limit;
    const uint64_t size = place->moduleEnd - place->moduleBegin;
    zt__debug_module *made = (zt__debug_module *)zt__allocate(allocator, 1, sizeof *made), *known;
    zet_debug_memory_space_desc_t desc;
    ze_result_t result = ZE_RESULT_ERROR_INVALID_SIZE;
    if (!made) {
        zt__report_no_memory(&debugger->diagnostics, "zetDebugReadEvent", "a module");
        return;
    }
    made->place = *place;

    /* Its ELF file is in the memory of the process. */
    if (place->moduleBegin < place->moduleEnd && size <= limit) {
        memset(&desc, 0, sizeof desc);
        desc.stype = ZET_STRUCTURE_TYPE_DEBUG_MEMORY_SPACE_DESC;
        desc.type = ZET_DEBUG_MEMORY_SPACE_TYPE_DEFAULT;
        desc.address = place->moduleBegin;
        made->bytes = (uint8_t *)zt__allocate(allocator, (size_t)size, 1);
        result = made->bytes
                     ? zetDebugReadMemory(debugger->handle, zt__all_threads, &desc, (size_t)size, made->bytes)
                     : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (result == ZE_RESULT_SUCCESS) {
        made->size = (size_t)size;
    } else {
        zt__free(allocator, made->bytes);
        made->bytes = NULL;
        zt__report(&debugger->diagnostics, MODULE_NOT_READ, result, "zetDebugReadMemory",
                   (unsigned long long)size, zt_result_name(result));
    }

    /* One that was at the same place and had the same bytes is the same module. */
    known = debugger->modules;
    while (known && (!zt__is_same_place(&known->place, place) || known->size != made->size ||
                     (made->bytes && memcmp(known->bytes, made->bytes, made->size) != 0))) {
        known = known->next;
    }
    if (known) {
        known->is_unloaded = 0;
        zt__free(allocator, made->bytes);
        zt__free(allocator, made);
        return;
    }
    made->number = ++debugger->module_count;
    made->next = debugger->modules;
    debugger->modules = made;
    debugger->module_bytes += sizeof *made + made->size;

    /* To make room, unloaded modules that nobody uses are removed, the oldest first. */
    while (debugger->module_bytes > limit) {
        zt__debug_module **link, **oldest = NULL, *removed;
        for (link = &debugger->modules; *link; link = &(*link)->next) {
            if ((*link)->is_unloaded && (*link)->users == 0) {
                oldest = link;
            }
        }
        if (!oldest) {
            break;
        }
        removed = *oldest;
        *oldest = removed->next;
        debugger->module_bytes -= sizeof *removed + removed->size;
        zt__free(allocator, removed->bytes);
        zt__free(allocator, removed);
    }
    if (debugger->module_bytes > limit && made->bytes) {
        zt__free(allocator, made->bytes);
        debugger->module_bytes -= made->size;
        made->bytes = NULL;
        made->size = 0;
        zt__report(&debugger->diagnostics, MODULE_NOT_READ, ZE_RESULT_ERROR_INVALID_SIZE,
                   "zetDebugReadMemory", (unsigned long long)size, "others need the room");
    }
}

#endif
