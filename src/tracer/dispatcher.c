/* From a callback of the loader to the tracers: prologue and epilogue. */

#include "tracer/dispatcher.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/memory.h"
#include "base/platform.h"
#include "base/shared.h"
#include "regions/profiler.h"
#include "regions/regions.h"
#include "tracer/call_times.h"
#include "tracer/calls.h"
#include "tracer/events.h"
#include "tracer/frames.h"
#include "tracer/launches.h"
#include "tracer/seen_lists.h"
#include "tracer/seen_modules.h"
#include "tracer/tracer.h"

#ifdef ZETOOLS_TRACER

ZT__PRIVATE const zt__kind_steps zt__steps_of_kind[ZT__KIND_COUNT] = {
#define X(name, before, after, needed) {before, after, needed},
    ZT__KINDS(X)
#undef X
};

ZT__PRIVATE zt__dispatcher zt__dispatch;

ZT__PRIVATE zt__mutex zt__dispatch_setup = ZT__MUTEX_INITIALIZER;

ZT__PRIVATE zt__mutex zt__dispatch_mutex = ZT__MUTEX_INITIALIZER;

/* The first frame of the traced call that this thread is in, or NULL. */
ZT__PRIVATE ZT__THREAD_LOCAL zt__frame *zt__current_call;

/* The registration from which zt__callbacks_come expects a callback on this thread, or 0. */
ZT__PRIVATE ZT__THREAD_LOCAL uintptr_t zt__awaited_registration;

ZT__PRIVATE int zt__is_inside_hook(void) {
    const zt__frame *frame = zt__current_call;
    while (frame && zt__load(&frame->state) != ZT__FRAME_CALLBACK) {
        frame = frame->next;
    }
    return frame != NULL;
}

/* ---- before a call -------------------------------------------------------------------------------------- */

/* Begins a call, with a frame for each live tracer that observes it. Frames come from malloc, because they
   may outlive the application's allocator. While one is allocated, the mutex is unlocked, and tracers may
   start. Returns the first frame, or NULL if there is none. */
static zt__frame *zt__begin_call(zt__call call, void *parameters) {
    zt__frame *first = NULL, *last = NULL, *frame;
    zt__tracer *tracer;
    zt__lock(&zt__dispatch_mutex);
    for (;;) {
        uint32_t unused = 0;
        for (frame = zt__dispatch.frames; frame; frame = frame->next_of_all) {
            unused += zt__load(&frame->state) == ZT__FRAME_UNUSED;
        }
        if (unused >= zt__dispatch.tracer_count) {
            break;
        }
        zt__unlock(&zt__dispatch_mutex);
        frame = (zt__frame *)zt__allocate(&zt__default_allocator, 1, sizeof *frame);
        if (!frame) {
            return NULL;
        }
        zt__lock(&zt__dispatch_mutex);
        frame->next_of_all = zt__dispatch.frames;
        zt__dispatch.frames = frame;
    }
    frame = zt__dispatch.frames;
    for (tracer = zt__dispatch.tracers; tracer; tracer = tracer->next) {
        if (!tracer->observed[call]) {
            continue;
        }
        while (zt__load(&frame->state) != ZT__FRAME_UNUSED) {
            frame = frame->next_of_all;
        }
        zt__store(&frame->state, ZT__FRAME_CALLBACK);
        frame->tracer = tracer;
        frame->call = call;
        frame->parameters = parameters;
        zt__store(&frame->has_region, 0);
        frame->wait_count = NULL;
        frame->build.place = NULL;
        frame->build.trial = ZE_RESULT_SUCCESS;
        frame->signal = NULL;
        frame->marker = NULL;
        frame->is_lent = 0;
        frame->kernel_before_hooks = NULL;
        frame->pool_desc = NULL;
        memset(frame->instances, 0, tracer->hook_count * sizeof *frame->instances);
        frame->next = NULL;
        frame->previous = last;
        if (last) {
            last->next = frame;
        } else {
            first = frame;
        }
        last = frame;
    }
    zt__unlock(&zt__dispatch_mutex);
    return first;
}

static void zt__prologue(zt__call call, void *parameters, uintptr_t registration, void **instance) {
    zt__call_kind kind = zt__kind_of_call(call);
    zt__frame *first, *frame;
    uint64_t begin_ns;
    uint32_t i;
    int is_timed = 0;
    *instance = NULL;
    if (zt__awaited_registration == registration) {
        zt__awaited_registration = 0;
    }
    /* A thread is in one traced call at a time: the loader does not call back for calls inside of it. So
       if there is one already, this is the same call, from the second of two enabled registrations. */
    if (!zt__load(&zt__dispatch.observed[call]) || zt__get_depth() > 0 || zt__current_call) {
        return;
    }
    first = zt__begin_call(call, parameters);
    if (!first) {
        return;
    }
    *instance = first;
    zt__current_call = first;
    zt__change_depth(1);
    for (frame = first; frame; frame = frame->next) {
        zt__tracer *tracer = frame->tracer;
        is_timed |= tracer->timed[call];
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
            if (hook->call == call && hook->prologue) {
                hook->prologue(parameters, ZE_RESULT_SUCCESS, hook->user, &frame->instances[i]);
            }
        }
        if (zt__steps_of_kind[kind].before) {
            zt__steps_of_kind[kind].before(frame);
        }
    }
    zt__change_depth(-1);
    begin_ns = is_timed ? zt__now_ns() : 0;
    for (frame = first; frame; frame = frame->next) {
        frame->begin_ns = begin_ns;
        zt__store(&frame->state, ZT__FRAME_DRIVER);
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
        zt__end(&frame->region, result != ZE_RESULT_SUCCESS);
    }
    if (kind == ZT__KIND_EXECUTE) {
        zt__observe_execution(frame, &result);
    } else if (result == ZE_RESULT_SUCCESS && zt__steps_of_kind[kind].after_success) {
        zt__steps_of_kind[kind].after_success(frame);
    }
    for (i = tracer->hook_count; i > 0; i--) {
        const zt__traced_hook *hook = &tracer->hooks[i - 1];
        if (hook->call == frame->call && hook->epilogue) {
            hook->epilogue(frame->parameters, (int)result, hook->user, &frame->instances[i - 1]);
        }
    }
    if (kind == ZT__KIND_KERNEL_CREATE && result == ZE_RESULT_SUCCESS) {
        zt__after_kernel_create(frame);
    }
}

static void zt__epilogue(ze_result_t result, void **instance) {
    zt__frame *first = (zt__frame *)*instance, *last = NULL, *frame, *next;
    uint64_t end_ns;
    if (!first || first != zt__current_call) {
        return;
    }
    end_ns = first->begin_ns ? zt__now_ns() : 0;
    zt__lock(&zt__dispatch_mutex);
    for (frame = first; frame; frame = frame->next) {
        if (frame->state == ZT__FRAME_DRIVER) { /* else its tracer was destroyed */
            zt__store(&frame->state, ZT__FRAME_CALLBACK);
        }
        last = frame;
    }
    zt__unlock(&zt__dispatch_mutex);
    zt__change_depth(1);

    /* First, signal the events that the application may wait for. A tracer that was destroyed meanwhile is not
       needed: its probe is still there. */
    for (frame = last; frame; frame = frame->previous) {
        zt__signal_after_launch(frame, result);
    }

    for (frame = last; frame; frame = frame->previous) {
        if (frame->wait_count) { /* of the application, so also if the tracer was destroyed */
            *frame->wait_count = frame->waits;
        }
        if (frame->pool_desc) {
            *frame->pool_desc = frame->given_pool;
        }
        if (frame->build.place) { /* likewise */
            *frame->build.place = frame->build.before;
            zt__free(&zt__default_allocator, frame->build.changed);
        }
        if (frame->state == ZT__FRAME_CALLBACK) {
            zt__after_call(frame, result, end_ns);
        }
    }
    zt__change_depth(-1);
    zt__current_call = NULL;
    for (frame = first; frame; frame = next) {
        next = frame->next; /* before another thread uses the frame */
        zt__store(&frame->state, ZT__FRAME_UNUSED);
    }
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
    for (frame = zt__dispatch.frames; frame && !found; frame = frame->next_of_all) {
        zt__frame_state state = zt__load(&frame->state);
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
    for (frame = zt__dispatch.frames; frame; frame = frame->next_of_all) {
        is_running |= frame->tracer == tracer && zt__load(&frame->state) == ZT__FRAME_CALLBACK;
    }
    for (frame = zt__dispatch.frames; frame && !is_running; frame = frame->next_of_all) {
        if (frame->tracer == tracer && zt__load(&frame->state) == ZT__FRAME_DRIVER) {
            zt__store(&frame->state, ZT__FRAME_ABANDONED);
        }
    }
    zt__unlock(&zt__dispatch_mutex);
    return !is_running;
}

#endif
