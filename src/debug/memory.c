/* zt_debug_read, zt_debug_write: memory of the device. */

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/system.h"
#include "debug/debugger.h"
#include "debug/events.h"
#include "debug/stopping.h"
#include "debug/threads.h"

#ifdef ZETOOLS_DEBUG

/* Reads or writes: one of the two pointers is NULL. */
static ze_result_t zt__access_memory(zt_debugger *debugger, const char *call, zt_debug_thread thread,
                                     zt_debug_space space, uint64_t address, void *to, const void *from,
                                     size_t size) {
    const char *driver_call = to ? "zetDebugReadMemory" : "zetDebugWriteMemory";
    zet_debug_memory_space_desc_t desc;
    ze_result_t result;
    memset(&desc, 0, sizeof desc);
    desc.stype = ZET_STRUCTURE_TYPE_DEBUG_MEMORY_SPACE_DESC;
    desc.type = space == ZT_DEBUG_SLM ? ZET_DEBUG_MEMORY_SPACE_TYPE_SLM : ZET_DEBUG_MEMORY_SPACE_TYPE_DEFAULT;
    desc.address = address;
    if (!debugger || (size == 0 && (to || from))) {
        return ZE_RESULT_SUCCESS;
    }
    if (!to && !from) {
        return zt__report_null(&debugger->diagnostics, call, "bytes");
    }
    result = zt__begin_session_call(debugger, call);
    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }
    result = zt__read_events(debugger, call);
    if (result == ZE_RESULT_SUCCESS) {
        result = to ? zetDebugReadMemory(debugger->handle, zt__to_device_thread(thread), &desc, size, to)
                    : zetDebugWriteMemory(debugger->handle, zt__to_device_thread(thread), &desc, size, from);
        result = zt__check_access(debugger, result, call, driver_call,
                                  "The thread is not stopped, or has no memory at this address. Stop it "
                                  "first, and check the address.");
    }
    zt__end_session_call(debugger);
    return result;
}

ZT_API ze_result_t zt_debug_read(zt_debugger *debugger, zt_debug_thread thread, zt_debug_space space,
                                 uint64_t address, void *bytes, size_t size) {
    return zt__access_memory(debugger, "zt_debug_read", thread, space, address, bytes, NULL, size);
}

ZT_API ze_result_t zt_debug_write(zt_debugger *debugger, zt_debug_thread thread, zt_debug_space space,
                                  uint64_t address, const void *bytes, size_t size) {
    return zt__access_memory(debugger, "zt_debug_write", thread, space, address, NULL, bytes, size);
}

#endif
