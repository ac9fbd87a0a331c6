/* Program debug. A session has two halves, which may be in two processes: the tool's (debug.c), which the
 * debug functions are called in, and that of the process which is debugged, its target (target.c). The tool
 * sends requests; the target answers them, and sends events through a socket that both halves have an end of.
 */
#ifndef SOFTGPU_DEBUG_H
#define SOFTGPU_DEBUG_H

#include "module.h"

#pragma GCC visibility push(hidden)

/* ---- for modules, queues and commands: what the target tells a tool --------------------------------------- */

/* Does the device let itself be debugged, in this process? One load. */
static inline bool sg_debug_is_enabled(void) {
    return !sg_behaviour_is_on(SOFTGPU_DEBUG_NOT_ENABLED);
}

/* A module is there, or is about to go. Modules of equal binaries share their code, which is loaded with the
 * first of them. */
void sg_debug_module_created(const sg_module *module);
void sg_debug_module_destroyed(const sg_module *module);

/* A queue or an immediate list of a device is there (+1), or no longer (-1). */
void sg_debug_count_queues(sg_device *device, int change);

/* Until the tool acknowledges that it was loaded, code does not run on a device. */
static inline bool sg_debug_holds(const sg_code *code, const sg_root *root) {
    return atomic_load_explicit(&code->holders[root->device->index], memory_order_relaxed) != 0;
}

/* The device is lost: stopped threads go on, and whoever waits for an event learns it. */
void sg_debug_device_lost(void);

/* Before the engines end. */
void sg_debug_unload(void);

/* ---- between the halves ----------------------------------------------------------------------------------- */

typedef enum sg_debug_call {
    SG_DEBUG_ATTACH,
    SG_DEBUG_DETACH,
    SG_DEBUG_SEND_BACKLOG,
    SG_DEBUG_ACKNOWLEDGE,
    SG_DEBUG_INTERRUPT,
    SG_DEBUG_RESUME,
    SG_DEBUG_FIND_THREAD,
    SG_DEBUG_READ_MEMORY,
    SG_DEBUG_WRITE_MEMORY,
    SG_DEBUG_READ_REGISTERS,
    SG_DEBUG_WRITE_REGISTERS,
} sg_debug_call;

/* What a tool wants of a target: the members that the call needs. */
typedef struct sg_debug_request {
    sg_debug_call call;
    uint32_t device, sub_device; /* by index; UINT32_MAX: the root device */
    uint64_t session;            /* its number, given by its attachment */
    zet_debug_event_t event;
    ze_device_thread_t thread;
    uint32_t type, start, count; /* of memory or registers */
    uint64_t address, size;      /* of memory; at once, no more than SG_DEBUG_CHUNK */
} sg_debug_request;

#define SG_ROOT_DEVICE UINT32_MAX

/* Beside those of the specification: the end of a session, and the loss of the device. */
enum { SG_DEBUG_EVENT_LOST = 0x10000 };

enum { SG_DEBUG_CHUNK = 1 << 15 };

/* Answers a request in the process that is debugged. An attachment is given the tool's end of the events;
 * `bytes` are those of memory or registers. */
ze_result_t sg_debug_serve(sg_debug_request *request, int *events, uint8_t *bytes);

#pragma GCC visibility pop

#endif
