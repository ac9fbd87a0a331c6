/* Threads of the device: numbers and patterns, which are stopped, and resuming them. */

#include "debug/threads.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/memory.h"
#include "debug/debugger.h"

#ifdef ZETOOLS_DEBUG

/* ---- threads: with `session` held ------------------------------------------------------------------------ */

ZT__PRIVATE ze_device_thread_t zt__to_device_thread(zt_debug_thread from) {
    ze_device_thread_t thread;
    thread.slice = from.slice;
    thread.subslice = from.subslice;
    thread.eu = from.eu;
    thread.thread = from.thread;
    return thread;
}

ZT__PRIVATE zt_debug_thread zt__to_debug_thread(ze_device_thread_t from) {
    zt_debug_thread thread;
    thread.slice = from.slice;
    thread.subslice = from.subslice;
    thread.eu = from.eu;
    thread.thread = from.thread;
    return thread;
}

ZT__PRIVATE zt_debug_thread zt__get_debug_thread(const zt_debugger *debugger, uint32_t number) {
    const zt_debug_thread *size = &debugger->size;
    zt_debug_thread thread;
    thread.thread = number % size->thread;
    number /= size->thread;
    thread.eu = number % size->eu;
    number /= size->eu;
    thread.subslice = number % size->subslice;
    thread.slice = number / size->subslice;
    return thread;
}

ZT__PRIVATE int zt__selects(zt_debug_thread pattern, zt_debug_thread thread) {
    return (pattern.slice == ZT_DEBUG_ALL || pattern.slice == thread.slice) &&
           (pattern.subslice == ZT_DEBUG_ALL || pattern.subslice == thread.subslice) &&
           (pattern.eu == ZT_DEBUG_ALL || pattern.eu == thread.eu) &&
           (pattern.thread == ZT_DEBUG_ALL || pattern.thread == thread.thread);
}

ZT__PRIVATE void zt__set_held(zt_debugger *debugger, zt_debug_thread threads, int is_held) {
    uint32_t i;
    for (i = 0; i < debugger->thread_count; i++) {
        if (zt__selects(threads, zt__get_debug_thread(debugger, i))) {
            debugger->held[i] = (uint8_t)is_held;
        }
    }
}

ZT__PRIVATE ze_result_t zt__each_stopped(zt_debugger *debugger, const char *call, zt_debug_thread threads,
                                         zt__thread_fn function, void *user) {
    const zt_debug_registers *probe = NULL;
    ze_result_t result = ZE_RESULT_SUCCESS;
    uint32_t i;
    void *bytes;
    for (i = 0; i < debugger->set_count; i++) {
        const zt_debug_registers *set = &debugger->sets[i];
        if (set->is_readable && (!probe || set->bytes < probe->bytes)) {
            probe = set;
        }
    }
    if (!probe) {
        return zt__report(&debugger->diagnostics, NO_REGISTER, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, call,
                          "*");
    }
    bytes = zt__allocate(&debugger->config.allocator, 1, probe->bytes);
    if (!bytes) {
        return zt__report_no_memory(&debugger->diagnostics, call, "a register");
    }
    for (i = 0; i < debugger->thread_count && result == ZE_RESULT_SUCCESS; i++) {
        zt_debug_thread thread = zt__get_debug_thread(debugger, i);
        if (!zt__selects(threads, thread)) {
            continue;
        }
        result =
            zetDebugReadRegisters(debugger->handle, zt__to_device_thread(thread), probe->type, 0, 1, bytes);
        if (result == ZE_RESULT_SUCCESS) {
            function(user, i);
        } else if (result == ZE_RESULT_ERROR_NOT_AVAILABLE ||
                   result == ZE_RESULT_ERROR_INVALID_ARGUMENT) { /* a subslice that is missing */
            result = ZE_RESULT_SUCCESS;
        }
    }
    zt__free(&debugger->config.allocator, bytes);
    return zt__check_debug(debugger, result, "zetDebugReadRegisters");
}

ZT__PRIVATE int zt__is_covered(const zt_debugger *debugger, uint32_t number) {
    const zt_debug_thread thread = zt__get_debug_thread(debugger, number);
    uint32_t i;
    for (i = 0; i < ZT__DEBUG_INTERRUPTS; i++) {
        const zt__interrupt *interrupt = &debugger->interrupts[i];
        if (interrupt->is_used && interrupt->waiting &&
            zt__selects(zt__to_debug_thread(interrupt->threads), thread)) {
            return 1;
        }
    }
    return debugger->held[number];
}

ZT__PRIVATE ze_result_t zt__resume(zt_debugger *debugger, ze_device_thread_t threads) {
    ze_result_t result = ZE_RESULT_SUCCESS;
    int tries;
    for (tries = 0; tries < ZT__DEBUG_TRIES; tries++) {
        result = zetDebugResume(debugger->handle, threads);
        if (result == ZE_RESULT_ERROR_NOT_AVAILABLE) {
            return ZE_RESULT_SUCCESS;
        }
        if (result == ZE_RESULT_SUCCESS || zt__means_device_loss(result)) {
            break;
        }
    }
    return zt__check_debug(debugger, result, "zetDebugResume");
}

ZT__PRIVATE void zt__resume_uncovered(void *user, uint32_t number) {
    zt_debugger *debugger = (zt_debugger *)user;
    if (!zt__is_covered(debugger, number)) {
        zt__resume(debugger, zt__to_device_thread(zt__get_debug_thread(debugger, number)));
    }
}

#endif
