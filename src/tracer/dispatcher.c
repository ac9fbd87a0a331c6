/* From a callback of the loader to the tracer: prologue and epilogue. */

#include "tracer/dispatcher.h"
#include "metrics/activation.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/memory.h"
#include "base/phase_stack.h"
#include "base/platform.h"
#include "base/shared.h"
#include "regions/profiler.h"
#include "regions/regions.h"
#include "tracer/call_times.h"
#include "tracer/calls.h"
#include "tracer/events.h"
#include "tracer/frames.h"
#include "tracer/graphs.h"
#include "tracer/launches.h"
#include "tracer/memory.h"
#include "tracer/seen_lists.h"
#include "tracer/seen_modules.h"
#include "tracer/tracer.h"
#include "tracer/unmeasured.h"

#ifdef ZETOOLS_TRACER

ZT__PRIVATE zt__dispatcher zt__dispatch;

static void zt__after_get_extension(zt__frame *frame) {
    zt__dispatch.wrap_extension(frame->tracer,
                                ZT__PARAMETERS(frame, ze_driver_get_extension_function_address_params_t));
}

ZT__PRIVATE const zt__kind_steps zt__steps_of_kind[ZT__KIND_COUNT] = {
#define X(name, before, after, needed) {before, after, needed},
    ZT__KINDS(X)
#undef X
};

ZT__PRIVATE zt__mutex zt__dispatch_setup = ZT__MUTEX_INITIALIZER;

ZT__PRIVATE zt__mutex zt__dispatch_mutex = ZT__MUTEX_INITIALIZER;

/* The frame of the traced call that this thread is in, or NULL. */
ZT__PRIVATE ZT__THREAD_LOCAL zt__frame *zt__current_call;

/* The registration from which zt__callbacks_come expects a callback on this thread, or 0. */
ZT__PRIVATE ZT__THREAD_LOCAL uintptr_t zt__awaited_registration;

/* Returns the estimated time of the last call of a frame, and of those for which it stands. */
static uint64_t zt__callback_ns_of(const zt__frame *frame) {
    return frame->timing.weight * frame->timing.ns;
}

ZT__PRIVATE uint64_t zt__get_callback_ns(const zt__tracer *tracer) {
    const zt__frame *frame;
    uint64_t ns;
    zt__lock(&zt__dispatch_mutex);
    ns = tracer->callback_ns;
    for (frame = zt__dispatch.frames; frame; frame = frame->next) {
        if (zt__load(&frame->state) == ZT__FRAME_UNUSED && frame->tracer == tracer) {
            ns += zt__callback_ns_of(frame);
        }
    }
    zt__unlock(&zt__dispatch_mutex);
    return ns;
}

ZT__PRIVATE int zt__is_inside_hook(void) {
    const zt__frame *frame = zt__current_call;
    return frame && zt__load(&frame->state) == ZT__FRAME_CALLBACK;
}

/* ---- before a call -------------------------------------------------------------------------------------- */

/* Begins a call of the live tracer, with a frame. Frames come from malloc, because they may outlive the
   application's allocator. Returns NULL if the call is not observed, or without memory. */
static zt__frame *zt__begin_call(zt__call call, void *parameters) {
    zt__frame *frame, *added = NULL;
    zt__tracer *tracer;
    zt__timing timing;
    zt__start_timing(&zt__dispatch.call_count, &timing);
    for (;;) {
        zt__lock(&zt__dispatch_mutex);
        if (added) {
            added->next = zt__dispatch.frames;
            zt__dispatch.frames = added;
        }
        tracer = zt__dispatch.tracer;
        frame = zt__dispatch.frames;
        while (frame && zt__load(&frame->state) != ZT__FRAME_UNUSED) {
            frame = frame->next;
        }
        if (frame || !tracer || !tracer->observed[call]) {
            break;
        }
        zt__unlock(&zt__dispatch_mutex); /* while a frame is allocated, the tracer may stop */
        added = (zt__frame *)zt__allocate(&zt__default_allocator, 1, sizeof *added);
        if (!added) { /* a wait may be missing in the phases that are open */
            zt__add(&zt__get_process()->tracer_changes, 2);
            return NULL;
        }
    }
    if (!tracer || !tracer->observed[call]) {
        zt__unlock(&zt__dispatch_mutex);
        return NULL;
    }
    if (frame->tracer == tracer) { /* else that of its last call is not there any more */
        tracer->callback_ns += zt__callback_ns_of(frame);
    }
    zt__store(&frame->state, ZT__FRAME_CALLBACK);
    frame->tracer = tracer;
    frame->call = call;
    frame->parameters = parameters;
    frame->timing = timing;
    zt__store(&frame->has_region, 0);
    frame->wait_count = NULL;
    frame->build.place = NULL;
    frame->build.trial = ZE_RESULT_SUCCESS;
    frame->signal = NULL;
    frame->marker = NULL;
    frame->is_borrowed = frame->is_submission = 0;
    frame->unmeasured = ZT_UNMEASURED_COUNT;
    frame->kernel_before_hooks = NULL;
    frame->kernel.name = NULL;
    frame->pool_desc = NULL;
    zt__unlock(&zt__dispatch_mutex);
    return frame;
}

/* Does what a tracer does before a call, for which it has a frame. */
static void zt__before_call(zt__frame *frame, void **instance) {
    zt__call call = frame->call;
    zt__call_kind kind = zt__kind_of_call(call);
    zt__tracer *tracer;
    void *parameters = frame->parameters;
    uint32_t i;
    *instance = frame;
    zt__current_call = frame;
    tracer = frame->tracer;
    if (kind == ZT__KIND_LAUNCH && tracer->hook_count) {
        zt__command command;
        zt__read_command(call, parameters, &command);
        frame->kernel_before_hooks = command.kernel;
    } else if (kind == ZT__KIND_KERNEL_DESTROY) { /* a hook may destroy another one in its place */
        frame->kernel_before_hooks = *ZT__PARAMETERS(frame, ze_kernel_destroy_params_t)->phKernel;
        zt__note_kernel_destroy(tracer, frame->kernel_before_hooks);
    }
    for (i = 0; i < tracer->hook_count; i++) {
        const zt__traced_hook *hook = &tracer->hooks[i];
        frame->instances[i] = NULL;
        if (hook->call == call && hook->prologue) {
            zt__pause_timing(&frame->timing);
            hook->prologue(parameters, ZE_RESULT_SUCCESS, hook->user, &frame->instances[i]);
            zt__resume_timing(&frame->timing);
        }
    }
    if (zt__steps_of_kind[kind].before && !tracer->only_waits[call]) {
        zt__steps_of_kind[kind].before(frame);
    }
    frame->waits_in = zt__is_wait(call) ? zt__get_top_frame() : NULL;
    frame->begin_ns = tracer->timed[call] || frame->waits_in ? zt__now_ns() : 0;
    zt__pause_timing(&frame->timing);
    zt__store(&frame->state, tracer->only_waits[call] ? ZT__FRAME_ABANDONED : ZT__FRAME_DRIVER);
}

/* Returns whether a call of the application begins that may be observed. A thread is in one traced call at a time:
   what the tracer, a hook or the driver calls inside of it is not observed. */
static int zt__may_begin(zt__call call) {
    return zt__load(&zt__dispatch.observed[call]) && zt__get_depth() == 0 && !zt__current_call;
}

static void zt__prologue(zt__call call, void *parameters, uintptr_t registration, void **instance) {
    zt__frame *frame;
    *instance = NULL;
    if (zt__awaited_registration == registration) {
        zt__awaited_registration = 0;
    }
    frame = zt__may_begin(call) ? zt__begin_call(call, parameters) : NULL;
    if (frame) {
        zt__before_call(frame, instance);
    }
}

/* Counts a launch that is not measured, and gives the frame back. */
static void zt__end_unmeasured(zt__frame *frame, zt_unmeasured cause) {
    zt__tracer *tracer = frame->tracer;
    zt__lock(&tracer->mutex);
    if (tracer->measured[frame->call] && !tracer->is_stopping) {
        zt__count_unmeasured(tracer, cause);
    }
    zt__unlock(&tracer->mutex);
    zt__store(&frame->state, ZT__FRAME_UNUSED);
}

/* Returns whether handles of the driver, which its functions take, are those of the loader. A loader that cannot
   translate them does not wrap any. */
static int zt__has_plain_handles(zt__tracer *tracer) {
    enum { LOADER_HANDLE_DEVICE = 1 };
    const zt__traced_device *device = zt__load(&tracer->devices);
    void *translated = NULL;
    if (!device || !device->profiler) {
        return 0;
    }
    return !device->profiler->driver.zelLoaderTranslateHandle ||
           (device->profiler->driver.zelLoaderTranslateHandle(LOADER_HANDLE_DEVICE, device->device,
                                                              &translated) == ZE_RESULT_SUCCESS &&
            translated == (void *)device->device);
}

ZT__PRIVATE void zt__begin_by_pointer(zt__call call, void *parameters, void **instance) {
    zt__frame *frame = zt__may_begin(call) ? zt__begin_call(call, parameters) : NULL;
    zt__command command;
    int is_known;
    *instance = NULL;
    if (!frame) {
        return;
    }
    zt__read_command(call, parameters, &command);
    zt__lock(&frame->tracer->mutex);
    is_known = zt__find_known_list(frame->tracer, command.list) != NULL;
    zt__unlock(&frame->tracer->mutex);
    if (is_known || zt__has_plain_handles(frame->tracer)) {
        zt__before_call(frame, instance);
    } else {
        zt__end_unmeasured(frame, ZT_UNMEASURED_DRIVER_HANDLE);
    }
}

ZT__PRIVATE void zt__note_signal_by_pointer(ze_command_list_handle_t list, ze_event_handle_t signal) {
    zt__call call = ZT__CALL_CommandListAppendSignalEvent;
    zt__frame *frame = signal && zt__may_begin(call) ? zt__begin_call(call, NULL) : NULL;
    zt__tracer *tracer;
    int is_once;
    if (!frame) {
        return;
    }
    tracer = frame->tracer;
    zt__lock(&tracer->mutex);
    is_once = zt__signals_once(tracer, zt__find_known_list(tracer, list));
    zt__unlock(&tracer->mutex);
    zt__note_signal(tracer, signal, is_once);
    zt__store(&frame->state, ZT__FRAME_UNUSED);
}

ZT__PRIVATE void zt__count_by_pointer(zt_unmeasured cause) {
    zt__call call = ZT__CALL_CommandListAppendLaunchKernel;
    zt__frame *frame = zt__may_begin(call) ? zt__begin_call(call, NULL) : NULL;
    if (frame) {
        zt__end_unmeasured(frame, cause);
    }
}

/* ---- after a call --------------------------------------------------------------------------------------- */

/* What a tracer does when a call has returned. */
static void zt__after_call(zt__frame *frame, ze_result_t result, uint64_t end_ns) {
    zt__tracer *tracer = frame->tracer;
    zt__call_kind kind = zt__kind_of_call(frame->call);
    uint32_t i;
    if (tracer->timed[frame->call]) {
        zt__count_call(tracer, frame->call, frame->begin_ns, end_ns, result);
    }
    if (frame->has_region) {
        zt__end(&frame->region, result != ZE_RESULT_SUCCESS, 1);
    }
    if (kind == ZT__KIND_EXECUTE) {
        zt__observe_execution(frame, &result);
    } else if (result == ZE_RESULT_SUCCESS && zt__steps_of_kind[kind].after_success) {
        zt__steps_of_kind[kind].after_success(frame);
    }
    for (i = tracer->hook_count; i > 0; i--) {
        const zt__traced_hook *hook = &tracer->hooks[i - 1];
        if (hook->call == frame->call && hook->epilogue) {
            zt__pause_timing(&frame->timing);
            hook->epilogue(frame->parameters, (int)result, hook->user, &frame->instances[i - 1]);
            zt__resume_timing(&frame->timing);
        }
    }
    if (kind == ZT__KIND_KERNEL_CREATE && result == ZE_RESULT_SUCCESS) {
        zt__after_kernel_create(frame);
    }
}

static void zt__epilogue(ze_result_t result, void **instance) {
    zt__frame *frame = (zt__frame *)*instance;
    uint64_t end_ns;
    int is_abandoned; /* its tracer may be destroyed */
    if (!frame || frame != zt__current_call) {
        return;
    }
    end_ns = frame->begin_ns ? zt__now_ns() : 0;
    zt__resume_timing(&frame->timing);
    if (frame->waits_in) {
        frame->waits_in->waited_ns += end_ns - frame->begin_ns;
    }
    is_abandoned = !zt__change_if(&frame->state, ZT__FRAME_DRIVER, ZT__FRAME_CALLBACK);

    /* First, signal the events that the application may wait for. A tracer that was destroyed meanwhile is not
       needed: its probe is still there. */
    zt__signal_after_launch(frame, result);
    if (frame->is_submission) {
        zt__end_submission();
    }
    if (frame->wait_count) {
        *frame->wait_count = frame->waits;
    }
    if (frame->pool_desc) {
        *frame->pool_desc = frame->given_pool;
    }
    if (frame->build.place) {
        *frame->build.place = frame->build.before;
        zt__free(&zt__default_allocator, frame->build.changed);
    }
    if (!is_abandoned) {
        zt__after_call(frame, result, end_ns);
        zt__pause_timing(&frame->timing);
    }
    zt__current_call = NULL;
    zt__store(&frame->state, ZT__FRAME_UNUSED);
}

ZT__PRIVATE void zt__end_by_pointer(ze_result_t result, void **instance) {
    zt__epilogue(result, instance);
}

/* ---- callbacks of the loader ---------------------------------------------------------------------------- */

#define X(name)                                                                                              \
    static void ZE_APICALL zt__before_##name(void *parameters, ze_result_t result, void *user,               \
                                             void **instance) {                                              \
        (void)result;                                                                                        \
        zt__prologue(ZT__CALL_##name, parameters, (uintptr_t)user, instance);                                \
    }                                                                                                        \
    static void ZE_APICALL zt__after_##name(void *parameters, ze_result_t result, void *user,                \
                                            void **instance) {                                               \
        (void)parameters, (void)user;                                                                        \
        zt__epilogue(result, instance);                                                                      \
    }
ZT__CALLS(X)
#undef X

ZT__PRIVATE const zt__callbacks zt__callbacks_of[ZT__CALL_COUNT] = {
#define X(name) {zt__before_##name, zt__after_##name},
    ZT__CALLS(X)
#undef X
};

/* ---- calls in progress ---------------------------------------------------------------------------------- */

ZT__PRIVATE int zt__has_calls_in_progress(const zt__tracer *tracer, int only_measured) {
    const zt__frame *frame;
    int found = 0;
    zt__lock(&zt__dispatch_mutex);
    for (frame = zt__dispatch.frames; frame && !found; frame = frame->next) {
        uint32_t state = zt__load(&frame->state);
        found = frame->tracer == tracer && (state == ZT__FRAME_CALLBACK || state == ZT__FRAME_DRIVER) &&
                (!only_measured || zt__load(&frame->has_region));
    }
    zt__unlock(&zt__dispatch_mutex);
    return found;
}

ZT__PRIVATE int zt__abandon_calls(const zt__tracer *tracer) {
    zt__frame *frame;
    int is_running = 0;
    zt__lock(&zt__dispatch_mutex);
    for (frame = zt__dispatch.frames; frame; frame = frame->next) {
        is_running |= frame->tracer == tracer && zt__load(&frame->state) == ZT__FRAME_CALLBACK;
    }
    for (frame = zt__dispatch.frames; frame && !is_running; frame = frame->next) {
        is_running = frame->tracer == tracer &&
                     !zt__change_if(&frame->state, ZT__FRAME_DRIVER, ZT__FRAME_ABANDONED) &&
                     zt__load(&frame->state) == ZT__FRAME_CALLBACK; /* it has just returned */
    }
    zt__unlock(&zt__dispatch_mutex);
    return !is_running;
}

ZT__PRIVATE void zt__forget_tracer(const zt__tracer *tracer) {
    zt__frame *frame;
    zt__lock(&zt__dispatch_mutex);
    for (frame = zt__dispatch.frames; frame; frame = frame->next) {
        if (frame->tracer == tracer) {
            frame->tracer = NULL;
        }
    }
    zt__unlock(&zt__dispatch_mutex);
}

#endif
