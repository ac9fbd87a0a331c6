/* Events of a debug session: reading, acknowledging, delivering. */

#include "debug/events.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/platform.h"
#include "base/threads.h"
#include "debug/debugger.h"
#include "debug/modules.h"
#include "debug/threads.h"

#ifdef ZETOOLS_DEBUG

/* ---- events: with `session` held -------------------------------------------------------------------------- */

/* Acknowledges an event that needs it. */
static ze_result_t zt__acknowledge(zt_debugger *debugger, const zet_debug_event_t *event) {
    ze_result_t result = ZE_RESULT_SUCCESS;
    int tries;
    if (!(event->flags & ZET_DEBUG_EVENT_FLAG_NEED_ACK) || debugger->is_over) {
        return result;
    }
    for (tries = 0; tries < ZT__DEBUG_TRIES; tries++) {
        result = zetDebugAcknowledgeEvent(debugger->handle, event);
        if (result == ZE_RESULT_SUCCESS || zt__means_device_loss(result)) {
            break;
        }
    }
    /* With these results drivers refuse an event that they no longer wait for: an equal one was acknowledged,
       or its module has been unloaded meanwhile. */
    if (result == ZE_RESULT_ERROR_INVALID_ARGUMENT || result == ZE_RESULT_ERROR_UNINITIALIZED) {
        return ZE_RESULT_SUCCESS;
    }
    return zt__check_debug(debugger, result, "zetDebugAcknowledgeEvent");
}

ZT__PRIVATE ze_result_t zt__read_event(zt_debugger *debugger, const char *call, uint64_t milliseconds) {
    zet_debug_event_t event;
    const ze_device_thread_t *reported = &event.info.thread.thread; /* by an event about threads */
    zt_debug_thread threads;
    zt__debug_module *module;
    uint32_t i;
    int is_answer = 0, is_late = 0, is_covered = 0;
    ze_result_t result;
    if (debugger->is_over) {
        return ZE_RESULT_ERROR_NOT_AVAILABLE;
    }
    if (debugger->event_count == ZT__DEBUG_EVENTS) {
        return ZE_RESULT_NOT_READY;
    }
    memset(&event, 0, sizeof event);
    result = zetDebugReadEvent(debugger->handle, milliseconds, &event);
    if (result == ZE_RESULT_NOT_READY) {
        return result;
    }
    if (result != ZE_RESULT_SUCCESS) {
        return zt__check_debug(debugger, result, "zetDebugReadEvent");
    }
    switch ((uint32_t)event.type) {
    case ZET_DEBUG_EVENT_TYPE_DETACHED:
        debugger->is_over = 1;
        break;
    case ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED:
    case ZET_DEBUG_EVENT_TYPE_THREAD_UNAVAILABLE:
        threads = zt__to_debug_thread(*reported);
        for (i = 0; i < ZT__DEBUG_INTERRUPTS; i++) {
            zt__interrupt *interrupt = &debugger->interrupts[i];
            if (interrupt->is_used && memcmp(&interrupt->threads, reported, sizeof *reported) == 0) {
                is_answer = interrupt->is_answered = 1;
                interrupt->is_used = interrupt->waiting > 0;
                is_late |= interrupt->waiting == 0;
            }
        }
        if (event.type == ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED && !is_answer) { /* by a fault */
            zt__set_held(debugger, threads, 1);
        } else if (event.type == ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED && is_late) {
            /* No thread waits for this stop any more: what no other stop covers is resumed. */
            for (i = 0; i < debugger->thread_count && !is_covered; i++) {
                is_covered =
                    zt__selects(threads, zt__get_debug_thread(debugger, i)) && zt__is_covered(debugger, i);
            }
            if (is_covered) {
                zt__each_stopped(debugger, call, threads, zt__resume_uncovered, debugger);
            } else {
                zt__resume(debugger, *reported);
            }
        }
        break;
    case ZET_DEBUG_EVENT_TYPE_MODULE_LOAD:
        zt__add_debug_module(debugger, &event.info.module);
        break;
    case ZET_DEBUG_EVENT_TYPE_MODULE_UNLOAD:
        /* Threads may still be stopped in it, so the record is kept. */
        for (module = debugger->modules; module; module = module->next) {
            module->is_unloaded |= zt__is_same_place(&module->place, &event.info.module);
        }
        break;
    default:
        break;
    }
    debugger->events[(debugger->first_event + debugger->event_count++) % ZT__DEBUG_EVENTS] = event;
    return result;
}

ZT__PRIVATE ze_result_t zt__read_events(zt_debugger *debugger, const char *call) {
    ze_result_t result;
    do {
        result = zt__read_event(debugger, call, 0);
    } while (result == ZE_RESULT_SUCCESS);
    if (debugger->is_over) {
        return zt__report_over(debugger, call);
    }
    return result == ZE_RESULT_NOT_READY ? ZE_RESULT_SUCCESS : result;
}

ZT__PRIVATE ze_result_t zt__check_access(zt_debugger *debugger, ze_result_t result, const char *call,
                                         const char *driver_call, const char *remedy) {
    if (result != ZE_RESULT_ERROR_NOT_AVAILABLE) {
        return zt__check_debug(debugger, result, driver_call);
    }
    if (zt__read_events(debugger, call) == ZE_RESULT_SUCCESS) {
        zt__check(&debugger->diagnostics, result, driver_call, remedy);
    }
    return result;
}

ZT__PRIVATE void zt__acknowledge_all(zt_debugger *debugger) {
    if (debugger->has_owed) {
        debugger->has_owed = 0;
        zt__acknowledge(debugger, &debugger->owed);
    }
    for (; debugger->event_count > 0; debugger->event_count--) {
        zt__acknowledge(debugger, &debugger->events[debugger->first_event]);
        debugger->first_event = (debugger->first_event + 1) % ZT__DEBUG_EVENTS;
    }
}

/* ---- delivering ------------------------------------------------------------------------------------------ */

ZT__PRIVATE uint64_t zt__event_wait_ms(const zt_debugger *debugger, uint64_t deadline) {
    uint64_t now = zt__now_ns(), left = now < deadline ? deadline - now : 0;
    uint64_t milliseconds = left / 1000000 + (left % 1000000 != 0);
    if (zt__load(&debugger->wanting)) {
        return 0;
    }
    return milliseconds < ZT__DEBUG_POLL_MS ? milliseconds : (uint64_t)ZT__DEBUG_POLL_MS;
}

/* Acknowledges an event when the application's function has returned from it. If that fails, the next
   zt_debug_wait tries again. `delivering` is held. */
static ze_result_t zt__finish_event(zt_debugger *debugger, const zet_debug_event_t *event) {
    ze_result_t result;
    if (zt__lock_session(debugger, zt__deadline(debugger->config.wait_timeout_ns))) {
        result = zt__acknowledge(debugger, event);
        zt__unlock_timed(&debugger->session);
    } else {
        result = zt__report(&debugger->diagnostics, DEBUG_BUSY, ZE_RESULT_NOT_READY, "zt_debug_wait");
    }
    debugger->has_owed = result != ZE_RESULT_SUCCESS;
    if (debugger->has_owed) {
        debugger->owed = *event;
    }
    return result;
}

/* Converts an event of the driver. The types are numbered as ZET_DEBUG_EVENT_TYPE_ are. */
static zt_debug_event zt__to_debug_event(const zet_debug_event_t *from) {
    static const char *const names[ZT_DEBUG_EVENT_COUNT] = {
        "other",         "detached",        "process entry",       "process exit", "module load",
        "module unload", "threads stopped", "threads unavailable", "page fault",
    };
    zt_debug_event event;
    memset(&event, 0, sizeof event);
    if ((uint32_t)from->type < ZT_DEBUG_EVENT_COUNT) {
        event.type = (zt_debug_event_type)from->type;
    }
    event.name = names[event.type];
    event.is_held = (from->flags & ZET_DEBUG_EVENT_FLAG_NEED_ACK) != 0;
    if (event.type == ZT_DEBUG_DETACHED) {
        event.reason = (uint32_t)from->info.detached.reason;
    } else if (event.type == ZT_DEBUG_MODULE_LOAD || event.type == ZT_DEBUG_MODULE_UNLOAD) {
        event.begin = from->info.module.moduleBegin;
        event.end = from->info.module.moduleEnd;
        event.load = from->info.module.load;
    } else if (event.type == ZT_DEBUG_THREADS_STOPPED || event.type == ZT_DEBUG_THREADS_UNAVAILABLE) {
        event.threads = zt__to_debug_thread(from->info.thread.thread);
    } else if (event.type == ZT_DEBUG_PAGE_FAULT) {
        event.address = from->info.page_fault.address;
        event.mask = from->info.page_fault.mask;
        event.reason = (uint32_t)from->info.page_fault.reason;
    }
    return event;
}

ZT_API ze_result_t zt_debug_wait(zt_debugger *debugger, uint64_t timeout_ns, zt_debug_fn function,
                                 void *user) {
    const char *call = "zt_debug_wait";
    uint64_t deadline = zt__deadline(timeout_ns);
    uint32_t delivered = 0;
    int is_locked, is_done = 0;
    ze_result_t result;
    if (!debugger) {
        return ZE_RESULT_SUCCESS;
    }
    if (zt__is_owner(&debugger->delivering)) {
        return zt__report(&debugger->diagnostics, DEBUG_INSIDE_CALLBACK, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                          call);
    }
    result = zt__begin_debug_call(debugger, call);
    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }
    is_locked = zt__lock_until(&debugger->delivering, deadline);
    result = is_locked ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
    if (is_locked && debugger->has_owed) {
        debugger->next = debugger->owed;
        result = zt__finish_event(debugger, &debugger->next);
    }
    while (result == ZE_RESULT_SUCCESS && !is_done) {
        uint64_t until = delivered ? 0 : deadline;
        int has_event = 0;
        result = ZE_RESULT_NOT_READY;
        if (zt__lock_until(&debugger->session, until)) {
            if (debugger->event_count == 0) {
                result = zt__read_event(debugger, call, zt__event_wait_ms(debugger, until));
            }
            has_event = debugger->event_count > 0;
            if (has_event) {
                debugger->next = debugger->events[debugger->first_event];
                debugger->first_event = (debugger->first_event + 1) % ZT__DEBUG_EVENTS;
                debugger->event_count--;
            }
            zt__unlock_timed(&debugger->session);
        }
        if (has_event) {
            zt_debug_event event = zt__to_debug_event(&debugger->next);
            is_done = function && function(debugger, &event, user) != 0;
            is_done |= ++delivered == ZT__DEBUG_EVENTS;
            result = zt__finish_event(debugger, &debugger->next);
        } else if (delivered && (result == ZE_RESULT_NOT_READY || result == ZE_RESULT_ERROR_NOT_AVAILABLE)) {
            is_done = 1; /* there are no more, or the last one was DETACHED */
            result = ZE_RESULT_SUCCESS;
        } else if (result == ZE_RESULT_NOT_READY && zt__now_ns() < deadline &&
                   !zt__load(&debugger->is_closing)) {
            zt__yield_session();
            result = ZE_RESULT_SUCCESS;
        }
    }
    if (is_locked) {
        zt__unlock_timed(&debugger->delivering);
    }
    if (result == ZE_RESULT_ERROR_NOT_AVAILABLE) {
        zt__report_over(debugger, call);
    } else if (result == ZE_RESULT_NOT_READY && zt__load(&debugger->is_closing)) {
        result = zt__report_closing(debugger, call);
    }
    zt__end_debug_call(debugger);
    return result;
}

#endif
