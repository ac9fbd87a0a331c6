/* Registration of callbacks with the loader. */

#include "tracer/registration.h"

#include "base/compiler.h"
#include "base/platform.h"
#include "base/programs.h"
#include "base/shared.h"
#include "tracer/calls.h"
#include "tracer/dispatcher.h"
#include "tracer/frames.h"
#include "tracer/tracer.h"

#ifdef ZETOOLS_TRACER

/* Makes a call to find out whether callbacks come. With the tracing layer off, none come, although
   registration succeeds. */
static int zt__callbacks_come(uintptr_t registration) {
    uint32_t count = 0;
    zt__awaited_registration = registration;
    ZT__INTERNAL(zeDriverGet(&count, NULL));
    if (zt__awaited_registration == 0) {
        return 1;
    }
    zt__awaited_registration = 0;
    return 0;
}

/* Stores whether callbacks come to this thread. */
static ZT__THREAD_RESULT ZT__THREAD_CALL zt__test_callbacks(void *come) {
    *(int *)come = zt__callbacks_come(zt__dispatch.registration);
    return 0;
}

/* Returns whether the layer is off. The loader traces no calls of a thread that is in a callback of any tracer or exits,
   so another thread is asked, too. */
static int zt__is_layer_off(void) {
    int come = 0;
    zt__test_callbacks(&come);
    return !come && zt__run_on_thread(zt__test_callbacks, &come) && !come;
}

ZT__PRIVATE void zt__check_layer(zt__tracer *tracer) {
    if (!zt__load(&tracer->is_live)) {
        return;
    }
    zt__lock(&zt__dispatch_setup);
    if (zt__load(&tracer->is_live) && zt__is_layer_off()) {
        zt__enable_layer_again();
        zt__store(&tracer->was_layer_off, 1);
    }
    zt__unlock(&zt__dispatch_setup);
}

ZT__PRIVATE void zt__check_layer_of(zt_profiler *profiler) {
    zt__tracer *tracer = zt__load(&profiler->tracer);
    if (tracer) {
        zt__check_layer(tracer);
    }
}

/* Disables a tracer object of the loader for good. */
static void zt__retire(zel_tracer_handle_t handle) {
    zelTracerSetEnabled(handle, 0);
    zt__dispatch.retired[zt__dispatch.retired_count++ % ZT__MAX_RETIRED] = handle;
}

ZT__PRIVATE ze_result_t zt__register_calls(const zt__tracer *tracer) {
    static uintptr_t last_registration;
    ze_result_t(ZE_APICALL * register_callback)(zel_tracer_handle_t, zel_tracer_reg_t, zt__callback);
    uint8_t calls[ZT__CALL_COUNT];
    zel_tracer_handle_t handle = NULL;
    zel_tracer_desc_t desc;
    ze_result_t result;
    uint32_t call;
    memcpy(calls, tracer->observed, sizeof calls);
    calls[ZT__CALL_DriverGet] = 1;
    if (zt__dispatch.handle && memcmp(zt__dispatch.registered, calls, sizeof calls) == 0) {
        return zt__callbacks_come(zt__dispatch.registration) ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
    }
    memset(&desc, 0, sizeof desc);
    desc.stype = ZEL_STRUCTURE_TYPE_TRACER_DESC;
    desc.pUserData = (void *)++last_registration;
    result = zelTracerCreate(&desc, &handle);
    for (call = 0; call < ZT__CALL_COUNT && result == ZE_RESULT_SUCCESS; call++) {
        char symbol[128];
        if (!calls[call]) {
            continue;
        }
        snprintf(symbol, sizeof symbol, "zelTracer%sRegisterCallback", zt__call_name(call) + strlen("ze"));
        zt__find_loader_symbol(symbol, (void *)&register_callback);
        if (register_callback) {
            result = register_callback(handle, ZEL_REGISTER_PROLOGUE, zt__callbacks_of[call].before);
        }
        if (register_callback && result == ZE_RESULT_SUCCESS) {
            result = register_callback(handle, ZEL_REGISTER_EPILOGUE, zt__callbacks_of[call].after);
        }
    }
    if (result == ZE_RESULT_SUCCESS) {
        result = zelTracerSetEnabled(handle, 1);
    }
    if (result == ZE_RESULT_SUCCESS && !zt__callbacks_come(last_registration)) {
        result = ZE_RESULT_NOT_READY;
    }
    if (result == ZE_RESULT_SUCCESS) {
        if (zt__dispatch.handle) {
            zt__retire(zt__dispatch.handle);
        }
        zt__dispatch.handle = handle;
        zt__dispatch.registration = last_registration;
        memcpy(zt__dispatch.registered, calls, sizeof calls);
    } else if (handle && (zt__dispatch.handle || zt__dispatch.retired_count)) {
        zt__retire(handle);
    } else if (handle) { /* nothing was traced yet, so there is no call for which zelTracerDestroy waits */
        zelTracerSetEnabled(handle, 0);
        zelTracerDestroy(handle);
    }
    return result;
}

ZT__PRIVATE void zt__disable_layer(void) {
    if (zt__dispatch.disable_layer) {
        zt__dispatch.disable_layer();
        zt__dispatch.disable_layer = NULL;
    }
    if (zt__dispatch.handle && zt__dispatch.retired_count < ZT__MAX_RETIRED &&
        zt__callbacks_come(zt__dispatch.registration)) {
        zt__retire(zt__dispatch.handle);
        zt__dispatch.handle = NULL;
    }
}

ZT__PRIVATE void zt__forget_tracers(void) {
    static const zt__mutex unlocked = ZT__MUTEX_INITIALIZER;
    zt__frame *frame;
    zt__tracer *tracer = zt__dispatch.tracer;
    zt__dispatch_setup = unlocked;
    zt__dispatch_mutex = unlocked;
    if (tracer) {
        tracer->is_live = tracer->loaded.is_observed = 0;
        tracer->mutex = tracer->event_mutex = tracer->memory_mutex = tracer->modules.mutex = unlocked;
    }
    zt__dispatch.tracer = NULL;
    memset(zt__dispatch.observed, 0, sizeof zt__dispatch.observed);
    for (frame = zt__dispatch.frames; frame; frame = frame->next) {
        frame->state = ZT__FRAME_UNUSED;
    }
    zt__current_call = NULL;
}

ZT__PRIVATE void zt__set_live(zt__tracer *tracer, int is_live) {
    uint32_t call, *changes = &zt__get_process()->tracer_changes;
    zt__lock(&zt__dispatch_mutex);
    zt__dispatch.tracer = is_live ? tracer : NULL;
    if (!is_live) {
        zt__add(changes, 1);
    }
    for (call = 0; call < ZT__CALL_COUNT; call++) {
        zt__store(&zt__dispatch.observed[call], is_live ? tracer->observed[call] : (uint8_t)0);
    }
    if (is_live) {
        zt__add(changes, 1);
    }
    zt__store(&tracer->is_live, is_live);
    zt__store(&tracer->loaded.is_observed, is_live);
    zt__unlock(&zt__dispatch_mutex);
}

#endif
