/* zt_debug_read, zt_debug_write: memory of the device, and registers. */

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/system.h"
#include "debug/debugger.h"
#include "debug/events.h"
#include "debug/registers.h"
#include "debug/threads.h"

#ifdef ZETOOLS_DEBUG

/* Reads or writes: one of the two pointers is NULL. `session` is held, and its events are read. */
static ze_result_t zt__access_memory(zt_debugger *debugger, const char *call, zt_debug_thread thread,
                                     uint32_t space, uint64_t address, void *to, const void *from,
                                     size_t size) {
    zet_debug_memory_space_desc_t desc;
    ze_result_t result;
    memset(&desc, 0, sizeof desc);
    desc.stype = ZET_STRUCTURE_TYPE_DEBUG_MEMORY_SPACE_DESC;
    desc.type = space == ZT_DEBUG_SLM ? ZET_DEBUG_MEMORY_SPACE_TYPE_SLM : ZET_DEBUG_MEMORY_SPACE_TYPE_DEFAULT;
    desc.address = address;
    result = to ? zetDebugReadMemory(debugger->handle, zt__to_device_thread(thread), &desc, size, to)
                : zetDebugWriteMemory(debugger->handle, zt__to_device_thread(thread), &desc, size, from);
    return zt__check_access(debugger, result, call, to ? "zetDebugReadMemory" : "zetDebugWriteMemory",
                            "The thread is not stopped, or has no memory at this address. Stop it "
                            "first, and check the address.");
}

/* Reads or writes memory or registers: one of the two pointers is NULL. */
static ze_result_t zt__access(zt_debugger *debugger, const char *call, zt_debug_thread thread, uint32_t space,
                              uint64_t address, void *to, const void *from, size_t size) {
    const zt_debug_registers *set = NULL;
    ze_result_t result;
    if (!debugger || (size == 0 && (to || from))) {
        return ZE_RESULT_SUCCESS;
    }
    if (!to && !from) {
        return zt__report_null(&debugger->diagnostics, call, "bytes");
    }
    if (space > ZT_DEBUG_SLM) {
        set = zt__find_space(debugger, call, space, address, size, from != NULL);
        if (!set) {
            return ZE_RESULT_ERROR_INVALID_ARGUMENT;
        }
    }
    result = zt__begin_session_call(debugger, call);
    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }
    result = zt__read_events(debugger, call);
    if (result == ZE_RESULT_SUCCESS && set) {
        result = zt__access_registers(debugger, call, thread, set, (uint32_t)(address / set->bytes),
                                      (uint32_t)(size / set->bytes), to ? to : (void *)(uintptr_t)from,
                                      from != NULL);
    } else if (result == ZE_RESULT_SUCCESS) {
        result = zt__access_memory(debugger, call, thread, space, address, to, from, size);
    }
    zt__end_session_call(debugger);
    return result;
}

ZT_API ze_result_t zt_debug_read(zt_debugger *debugger, zt_debug_thread thread, uint32_t space,
                                 uint64_t address, void *bytes, size_t size) {
    return zt__access(debugger, "zt_debug_read", thread, space, address, bytes, NULL, size);
}

ZT_API ze_result_t zt_debug_write(zt_debugger *debugger, zt_debug_thread thread, uint32_t space,
                                  uint64_t address, const void *bytes, size_t size) {
    return zt__access(debugger, "zt_debug_write", thread, space, address, NULL, bytes, size);
}

#endif
