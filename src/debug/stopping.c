/* zt_debug_stop, zt_debug_resume, zt_debug_get_threads. */

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/platform.h"
#include "base/threads.h"
#include "debug/debugger.h"
#include "debug/events.h"
#include "debug/registers.h"
#include "debug/threads.h"

#ifdef ZETOOLS_DEBUG

/* Tells the device to stop threads. `*interrupt` receives the record to wait for: that of an earlier stop of
   the same threads which is not answered, or a new one. NULL: the device has nothing to stop. `session` is
   held. */
static ze_result_t zt__interrupt_threads(zt_debugger *debugger, ze_device_thread_t threads,
                                         zt__interrupt **interrupt) {
    zt__interrupt *found = NULL, *unused = NULL;
    ze_result_t result = zt__read_events(debugger, "zt_debug_stop");
    uint32_t i;
    *interrupt = NULL;
    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }
    for (i = 0; i < ZT__DEBUG_INTERRUPTS && !found; i++) {
        zt__interrupt *record = &debugger->interrupts[i];
        if (!record->is_used) {
            unused = record;
        } else if (!record->is_answered && memcmp(&record->threads, &threads, sizeof threads) == 0) {
            found = record;
        }
    }
    if (!found && !unused) {
        return zt__report(&debugger->diagnostics, TOO_MANY_STOPS, ZE_RESULT_ERROR_NOT_AVAILABLE,
                          (unsigned)ZT__DEBUG_INTERRUPTS);
    }
    if (!found || found->waiting == 0) { /* the answer to an earlier stop may have been lost */
        result = zetDebugInterrupt(debugger->handle, threads);
    }
    if (result == ZE_RESULT_ERROR_NOT_AVAILABLE && !found) {
        return zt__read_events(debugger, "zt_debug_stop");
    }
    if (result != ZE_RESULT_SUCCESS && result != ZE_RESULT_ERROR_NOT_AVAILABLE) {
        return zt__check_debug(debugger, result, "zetDebugInterrupt");
    }
    if (!found) {
        found = unused;
        memset(found, 0, sizeof *found);
        found->threads = threads;
        found->is_used = 1;
    }
    found->waiting++;
    *interrupt = found;
    return ZE_RESULT_SUCCESS;
}

/* A zt__thread_fn. `user` is the debugger. */
static void zt__hold_thread(void *user, uint32_t number) {
    ((zt_debugger *)user)->held[number] = 1;
}

ZT_API ze_result_t zt_debug_stop(zt_debugger *debugger, zt_debug_thread threads, uint64_t timeout_ns,
                                 zt_debug_stops *stops) {
    const char *call = "zt_debug_stop";
    uint64_t deadline = zt__deadline(timeout_ns);
    zt__interrupt *interrupt;
    uint32_t i;
    ze_result_t result;
    if (stops) {
        memset(stops, 0, sizeof *stops);
    }
    if (!debugger) {
        return ZE_RESULT_SUCCESS;
    }
    result = zt__begin_session_call(debugger, call);
    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }
    result = zt__interrupt_threads(debugger, zt__to_device_thread(threads), &interrupt);
    while (interrupt && !interrupt->is_answered &&
           (result == ZE_RESULT_SUCCESS || result == ZE_RESULT_NOT_READY)) {
        uint64_t now = zt__now_ns();
        result = zt__read_event(debugger, call, zt__event_wait_ms(debugger, deadline));
        if (result != ZE_RESULT_NOT_READY) {
            continue;
        }
        if (now >= deadline || zt__load(&debugger->is_closing)) {
            break;
        }
        /* Another thread may have to deliver events, to make room for the answer. */
        zt__unlock_timed(&debugger->session);
        zt__yield_session();
        zt__lock_session(debugger, UINT64_MAX);
    }
    if (interrupt) {
        interrupt->waiting--;
        if (interrupt->is_answered) {
            interrupt->is_used = interrupt->waiting > 0;
            result = ZE_RESULT_SUCCESS;
        } else if (debugger->is_over) {
            result = zt__report_over(debugger, call);
        } else if (zt__load(&debugger->is_closing)) {
            result = zt__report_closing(debugger, call);
        } else if (result == ZE_RESULT_NOT_READY) {
            zt__report(&debugger->diagnostics, NO_ANSWER, result);
        }
    }
    if (result ==
        ZE_RESULT_SUCCESS) { /* without `stops`, all are held: it is not queried which are stopped */
        zt__set_held(debugger, threads, stops == NULL);
    }
    if (result == ZE_RESULT_SUCCESS && stops) {
        result = zt__each_stopped(debugger, call, threads, zt__hold_thread, debugger);
        for (i = 0; i < debugger->thread_count; i++) {
            if (zt__selects(threads, zt__get_debug_thread(debugger, i))) {
                stops->stopped += debugger->held[i];
                stops->unavailable += !debugger->held[i];
            }
        }
    }
    zt__end_session_call(debugger);
    return result;
}

/* A zt__thread_fn. `user` is a uint32_t. */
static void zt__count_thread(void *user, uint32_t number) {
    (void)number;
    ++*(uint32_t *)user;
}

ZT_API ze_result_t zt_debug_resume(zt_debugger *debugger, zt_debug_thread threads) {
    enum { MOST_ATTEMPTS = 3 };
    const char *call = "zt_debug_resume";
    ze_device_thread_t selected = zt__to_device_thread(threads);
    uint32_t stopped, attempts = 0;
    ze_result_t result;
    if (!debugger) {
        return ZE_RESULT_SUCCESS;
    }
    result = zt__begin_session_call(debugger, call);
    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }
    result = zt__read_events(debugger, call);
    while (result == ZE_RESULT_SUCCESS) {
        result = zetDebugResume(debugger->handle, selected);
        if (result != ZE_RESULT_ERROR_NOT_AVAILABLE) {
            zt__check_debug(debugger, result, "zetDebugResume");
            break;
        }
        /* None of them was stopped, or the driver could not resume those that are. What has stopped since
           then, for another thread of this program, is resumed by the next attempt. */
        stopped = 0;
        result = zt__read_events(debugger, call);
        if (result == ZE_RESULT_SUCCESS) {
            result = zt__each_stopped(debugger, call, threads, zt__count_thread, &stopped);
        }
        if (stopped == 0) {
            break;
        }
        if (++attempts == MOST_ATTEMPTS) {
            result = zt__check_debug(debugger, ZE_RESULT_ERROR_NOT_AVAILABLE, "zetDebugResume");
        }
    }
    if (result == ZE_RESULT_SUCCESS) {
        zt__set_held(debugger, threads, 0);
    }
    zt__end_session_call(debugger);
    return result;
}

/* Where zt_debug_get_threads stores what it finds. */
typedef struct zt__stopped_list {
    const zt_debugger *debugger;
    zt_debug_thread_info *threads;
    uint32_t room, count;
} zt__stopped_list;

/* A zt__thread_fn. `user` is a zt__stopped_list. */
static void zt__store_thread(void *user, uint32_t number) {
    zt__stopped_list *out = (zt__stopped_list *)user;
    if (out->count < out->room) {
        out->threads[out->count].thread = zt__get_debug_thread(out->debugger, number);
    }
    out->count++;
}

ZT_API ze_result_t zt_debug_get_threads(zt_debugger *debugger, zt_debug_thread_info *threads,
                                        uint32_t *count) {
    const char *call = "zt_debug_get_threads";
    const zt_debug_thread all = {ZT_DEBUG_ALL, ZT_DEBUG_ALL, ZT_DEBUG_ALL, ZT_DEBUG_ALL};
    zt__stopped_list out = {debugger, threads, 0, 0};
    uint32_t i;
    ze_result_t result;
    if (!count) {
        return debugger ? zt__report_null(&debugger->diagnostics, call, "count") : ZE_RESULT_SUCCESS;
    }
    out.room = threads ? *count : 0;
    *count = 0;
    if (!debugger) {
        return ZE_RESULT_SUCCESS;
    }
    result = zt__begin_session_call(debugger, call);
    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }
    result = zt__read_events(debugger, call);
    if (result == ZE_RESULT_SUCCESS) {
        result = zt__each_stopped(debugger, call, all, zt__store_thread, &out);
    }
    for (i = 0; i < out.count && i < out.room && result == ZE_RESULT_SUCCESS; i++) {
        result = zt__read_address(debugger, call, threads[i].thread, &threads[i].address);
    }
    zt__end_session_call(debugger);
    *count = result == ZE_RESULT_SUCCESS ? out.count : 0;
    return result;
}

#endif
