/* From a callback of the loader to the tracer: prologue and epilogue. */

#pragma once

#include "base/compiler.h"
#include "base/platform.h"
#include "base/system.h"
#include "tracer/calls.h"
#include "tracer/frames.h"
#include "tracer/tracer.h"

#ifdef ZETOOLS_TRACER

/* The loader calls a prologue before and an epilogue after each traced call of the process, for the live tracer.
   There is one at a time, whichever copy of this header it is of: that of a profiler, or of zt_auto, which has a
   profiler for each context and device. The page LOCKS has its locks. */

/* What is done before and after a call of a kind; see ZT__KINDS. */
typedef struct zt__kind_steps {
    void (*before)(zt__frame *frame);
    void (*after_success)(zt__frame *frame);
    uint32_t needed; /* ZT__ALWAYS and so on; 0: only observed if the configuration names the call */
} zt__kind_steps;

/* Callbacks are registered with a tracer object of the loader, which cannot be changed once it was enabled. So
   a change of the traced calls needs another object. Disabled objects are retired, never destroyed, at two
   kilobytes each, because zelTracerDestroy waits without limit for the calls that other threads are in. */
typedef struct zt__dispatcher {
    /* guarded by zt__dispatch_setup: */
    zel_tracer_handle_t handle;                   /* the loader's tracer object, or NULL */
    uintptr_t registration;                       /* its number, which is passed to its callbacks */
    uint8_t registered[ZT__CALL_COUNT];           /* the calls that it has callbacks for */
    ze_result_t(ZE_APICALL *disable_layer)(void); /* NULL: the layer was not enabled here */
    zel_tracer_handle_t retired[ZT__MAX_RETIRED]; /* so that leak checkers find them referenced */
    uint32_t retired_count;
    int handles_fork;

    /* guarded by zt__dispatch_mutex: */
    zt__tracer *tracer; /* the live one, or NULL; changed with both locks */
    zt__frame *frames;  /* all, in use or not */

    /* Is called after zeDriverGetExtensionFunctionAddress: zt__wrap_extension. Set before a tracer is live. */
    void (*wrap_extension)(zt__tracer *tracer,
                           const ze_driver_get_extension_function_address_params_t *parameters);

    uint32_t call_count; /* that were observed. Atomic; not exact where threads meet */

    uint8_t observed[ZT__CALL_COUNT]; /* by the live tracer. Atomic; changed with both locks */
} zt__dispatcher;

/* The loader does not pass which call it is, so each call has its own functions. */
typedef void(ZE_APICALL *zt__callback)(void *parameters, ze_result_t result, void *user, void **instance);

typedef struct zt__callbacks {
    zt__callback before, after;
} zt__callbacks;

/* Returns the estimated time for which prologues and epilogues of a tracer have kept threads of the program busy. */
ZT__PRIVATE uint64_t zt__get_callback_ns(const zt__tracer *tracer);

/* Returns whether a prologue or epilogue runs on this thread, so that a hook may be the caller. */
ZT__PRIVATE int zt__is_inside_hook(void);

/* Begin and end a launch through a pointer of the driver's, as prologue and epilogue of a call of the loader. If its
   handles may not be those of the loader, the launch is counted, and not measured. */
ZT__PRIVATE void zt__begin_by_pointer(zt__call call, void *parameters, void **instance);

ZT__PRIVATE void zt__end_by_pointer(ze_result_t result, void **instance);

/* Notes that a command, which is about to be appended through a pointer and not measured, signals an event. The event may
   be NULL. */
ZT__PRIVATE void zt__note_signal_by_pointer(ze_command_list_handle_t list, ze_event_handle_t signal);

/* Counts a launch that was appended through a pointer and is not measured. */
ZT__PRIVATE void zt__count_by_pointer(zt_unmeasured cause);

/* Returns whether a thread is in a call that this tracer observes, in the driver or in a callback; or only in
   one that it measures. */
ZT__PRIVATE int zt__has_calls_in_progress(const zt__tracer *tracer, int only_measured);

/* Detaches the tracer from calls that are still in the driver, before it is destroyed. Returns 0 if one
   of its callbacks is running, which still needs it. If that has just begun, some calls are detached. */
ZT__PRIVATE int zt__abandon_calls(const zt__tracer *tracer);

/* Called when a tracer is destroyed: a later one may have its address, and has had none of its calls. */
ZT__PRIVATE void zt__forget_tracer(const zt__tracer *tracer);

extern const zt__kind_steps zt__steps_of_kind[ZT__KIND_COUNT];

extern zt__dispatcher zt__dispatch;

extern zt__mutex zt__dispatch_setup;

extern zt__mutex zt__dispatch_mutex;

extern ZT__THREAD_LOCAL zt__frame *zt__current_call;

extern ZT__THREAD_LOCAL uintptr_t zt__awaited_registration;

extern const zt__callbacks zt__callbacks_of[ZT__CALL_COUNT];

#endif
