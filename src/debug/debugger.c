/* What a debugger is made of, and how its calls begin and end. */

#include "debug/debugger.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/platform.h"
#include "base/shared.h"
#include "base/threads.h"

#ifdef ZETOOLS_DEBUG

ZT__PRIVATE const ze_device_thread_t zt__all_threads = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};

ZT__PRIVATE int zt__lock_session(zt_debugger *debugger, uint64_t deadline) {
    int is_locked;
    zt__add(&debugger->wanting, 1);
    is_locked = zt__lock_until(&debugger->session, deadline);
    zt__add(&debugger->wanting, UINT32_MAX);
    return is_locked;
}

ZT__PRIVATE ze_result_t zt__report_closing(zt_debugger *debugger, const char *call) {
    return zt__report(&debugger->diagnostics, DEBUG_CLOSING, ZE_RESULT_ERROR_NOT_AVAILABLE, call);
}

ZT__PRIVATE ze_result_t zt__begin_debug_call(zt_debugger *debugger, const char *call) {
    if (zt__is_owner(&debugger->session)) {
        return zt__report(&debugger->diagnostics, DEBUG_INSIDE_CALLBACK, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                          call);
    }
    if (debugger->process != zt__find_process()) {
        return zt__report(NULL, DEBUG_FORKED, ZE_RESULT_ERROR_NOT_AVAILABLE, call);
    }
    zt__add(&debugger->users, 1);
    if (zt__load(&debugger->is_closing)) {
        zt__report_closing(debugger, call);
        zt__add(&debugger->users, UINT32_MAX);
        return ZE_RESULT_ERROR_NOT_AVAILABLE;
    }
    return ZE_RESULT_SUCCESS;
}

ZT__PRIVATE void zt__end_debug_call(zt_debugger *debugger) {
    zt__add(&debugger->users, UINT32_MAX);
}

ZT__PRIVATE ze_result_t zt__report_over(zt_debugger *debugger, const char *call) {
    return zt__report(&debugger->diagnostics, DEBUG_OVER, ZE_RESULT_ERROR_NOT_AVAILABLE, call,
                      (unsigned)debugger->pid);
}

ZT__PRIVATE ze_result_t zt__begin_session_call(zt_debugger *debugger, const char *call) {
    ze_result_t result = zt__begin_debug_call(debugger, call);
    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }
    if (!zt__lock_session(debugger, zt__deadline(debugger->config.wait_timeout_ns))) {
        zt__end_debug_call(debugger);
        return zt__report(&debugger->diagnostics, DEBUG_BUSY, ZE_RESULT_NOT_READY, call);
    }
    return result;
}

ZT__PRIVATE void zt__end_session_call(zt_debugger *debugger) {
    zt__unlock_timed(&debugger->session);
    zt__end_debug_call(debugger);
}

ZT__PRIVATE void zt__yield_session(void) {
    zt__sleep(1000000);
}

ZT__PRIVATE ze_result_t zt__check_debug(zt_debugger *debugger, ze_result_t result, const char *call) {
    if (zt__means_device_loss(result)) {
        zt__store(&debugger->diagnostics.device_lost, 1);
        return zt__report(&debugger->diagnostics, DEBUGGED_DEVICE_LOST, result, call, zt_result_name(result));
    }
    return zt__check(&debugger->diagnostics, result, call, "Try again; if it persists, update the driver.");
}

#endif
