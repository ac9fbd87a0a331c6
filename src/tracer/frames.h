/* A call in progress, as the tracer observes it. */

#pragma once

#include "base/compiler.h"
#include "base/phase_stack.h"
#include "base/system.h"
#include "base/timing.h"
#include "modules/loaded.h"
#include "regions/profiler.h"
#include "tracer/calls.h"
#include "tracer/profiled_builds.h"
#include "tracer/tracer.h"

#ifdef ZETOOLS_TRACER

/* The state of a frame. A frame goes from UNUSED to CALLBACK, DRIVER, CALLBACK again and back to UNUSED,
   or from DRIVER to ABANDONED and UNUSED if the tracer is destroyed meanwhile. A frame that only measures a wait goes
   from CALLBACK to ABANDONED, so that a stop does not wait for threads that wait. The thread that makes the call makes
   all changes but that from DRIVER to ABANDONED. The first one is made under the dispatcher's mutex; who leaves DRIVER
   changes it only if it is still that. So a tracer is not destroyed while a callback uses it. */
typedef enum zt__frame_state {
    ZT__FRAME_UNUSED,
    ZT__FRAME_CALLBACK, /* a prologue or epilogue runs, and needs the tracer */
    ZT__FRAME_DRIVER,   /* the call is in the driver; its epilogue will need the tracer */
    ZT__FRAME_ABANDONED /* the call is in the driver; its epilogue will not need the tracer */
} zt__frame_state;

/* A call in progress. Frames are used again but never freed, because a call may end after its tracer was
   destroyed. */
typedef struct zt__frame {
    struct zt__frame *next; /* of all frames, in use or not */
    uint32_t state;         /* a zt__frame_state. Atomic */
    zt__tracer *tracer;
    zt__call call;
    void *parameters; /* of the call: a ze_..._params_t */

    zt__timing timing;              /* of the prologue and the epilogue */
    uint64_t begin_ns;              /* 0: the call is not timed */
    zt__phase_frame *waits_in;      /* the phase in which the host waits for the device, or NULL */
    void *instances[ZT__MAX_HOOKS]; /* what a prologue of the application stores for its epilogue */

    /* What was done before the call, and is ended or undone after it. */
    zt_region region;
    int has_region;            /* atomic; changes to 1 under the mutex of the tracer */
    uint32_t *wait_count;      /* the call's parameter, if it was set to 0; else NULL */
    uint32_t waits;            /* its value before */
    ze_event_handle_t *signal; /* the call's parameter, if it was set to the event of the probe; else NULL */
    ze_event_handle_t signalled; /* its value before: an event of the application, or NULL */
    ze_event_handle_t marker;    /* an event of the library to be signalled after the call, or NULL */
    int is_borrowed;             /* the event of the application that it signals measures it */
    int is_submission;           /* zt__begin_submission was called */
    uint64_t executions;         /* of a zeCommandQueueSynchronize: tracer->executions before it */
    ze_event_pool_desc_t pool;   /* of a zeEventPoolCreate: what the driver gets */
    const ze_event_pool_desc_t **pool_desc; /* the call's parameter, if it was set to that; else NULL */
    const ze_event_pool_desc_t *given_pool; /* its value before */
    zt__build build;                        /* of a zeModuleCreate */
    ze_module_handle_t module;  /* of a zeKernelCreate that has succeeded: the module of the kernel, */
    ze_kernel_handle_t created; /* which is this one, unless a hook puts another in its place */

    /* Of a launch or a zeKernelDestroy: what the application has passed. Hooks may put another in its place. */
    ze_kernel_handle_t kernel_before_hooks;

    zt__command command;      /* of a call that appends one: what zt__read_command has read */
    zt_unmeasured unmeasured; /* why it cannot be measured, as it was counted. ZT_UNMEASURED_COUNT: it can */

    /* Of a launch: how it is counted when the driver has appended it. */
    zt_profiler *counted_for; /* NULL: it is not */
    int knows_kernel;         /* the kernel is the application's, and not that of a hook */
    zt__loaded_kernel kernel; /* the first, when the launch was selected. Its name is NULL: not known */
} zt__frame;

/* The parameters of the call of a frame. */
#define ZT__PARAMETERS(frame, type) ((const type *)(frame)->parameters)

/* Returns one of the kernels of a launch. */
ZT__PRIVATE ze_kernel_handle_t zt__launched_kernel(const zt__frame *frame, const zt__command *command,
                                                   uint32_t index);

#endif
