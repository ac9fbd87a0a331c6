/* What a debugger is made of, and how its calls begin and end. */

#pragma once

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/map.h"
#include "base/platform.h"
#include "base/shared.h"
#include "base/system.h"
#include "base/threads.h"

#ifdef ZETOOLS_DEBUG

/* A debugger has one session with the driver. Level Zero does not promise that the functions of a session may
   be called by several threads at once, so `session` is locked for each of these calls. A thread that waits
   for events holds it for a few milliseconds at a time, and not at all while other threads want it.

   Whoever reads an event records what it means for stops and modules, and queues it for zt_debug_wait, which
   delivers events in their order. So a stop may read the events of others, and zt_debug_where knows modules
   whose events are not delivered yet.

   Locks: `delivering` is held by the thread that delivers events, also while the application's function runs,
   and is locked before `session`. `session` guards the session and all that is recorded. Log function and
   allocator may be called while it is held. `mutex` guards messages. */

enum {
    ZT__DEBUG_EVENTS = 1024,       /* that wait to be delivered. What does not fit stays in the driver */
    ZT__DEBUG_INTERRUPTS = 16,     /* patterns of threads that are being stopped */
    ZT__DEBUG_THREADS = 1 << 20,   /* of a device, by what its driver reports */
    ZT__DEBUG_REGISTERS = 1 << 16, /* of a set, and bytes of a register, likewise */
    ZT__DEBUG_SETS = 64,           /* kinds of registers, likewise */
    ZT__DEBUG_POLL_MS = 10,        /* the longest time that a thread waits in the driver for an event */
    ZT__DEBUG_LINES = 64,          /* source lines that are remembered */
    ZT__DEBUG_TRIES = 3            /* of what must not fail, such as acknowledging an event */
};

/* A module that was loaded. */
typedef struct zt__debug_module {
    struct zt__debug_module *next; /* an older one */
    zet_debug_event_info_module_t place;
    uint8_t *bytes; /* its ELF file. NULL: not read */
    size_t size;
    uint64_t number;
    int is_unloaded;
    uint32_t users; /* threads that look up its source lines: it is not freed. Guarded by `session` */
} zt__debug_module;

/* A pattern of threads that zt_debug_stop has told the device to stop. */
typedef struct zt__interrupt {
    ze_device_thread_t threads;
    int is_used;
    int is_answered;
    uint32_t waiting; /* threads that wait for the answer. 0: threads that stop are resumed */
} zt__interrupt;

/* A source line that was looked up. */
typedef struct zt__known_line {
    uint64_t module;  /* its number; 0: none */
    uint64_t address; /* in its file */
    const char *file;
    uint32_t line;
} zt__known_line;

struct zt_debugger {
    zt__process *process;
    zt_debug_config config;
    ze_device_handle_t device;
    uint32_t pid;
    zt_debug_thread size; /* of the device: slices, subslices of a slice, and so on */
    zt_debug_registers *sets;
    uint32_t set_count;
    uint32_t users;   /* threads in calls. Atomic, like the next two */
    uint32_t wanting; /* threads that want to lock `session` */
    int is_closing;

    zt__mutex mutex;
    zt__diagnostics diagnostics;

    zt__timed_mutex delivering; /* guards the next */
    zet_debug_event_t next;     /* the newest that was delivered */
    zet_debug_event_t owed;     /* one that was delivered, and could not be acknowledged, */
    int has_owed;               /* if there is one */

    zt__timed_mutex session; /* guards what follows */
    zet_debug_session_handle_t handle;
    int is_over;               /* an event has reported that the session is detached */
    zet_debug_event_t *events; /* a ring */
    uint32_t first_event, event_count;
    zt__interrupt interrupts[ZT__DEBUG_INTERRUPTS];
    uint8_t *held; /* for each thread of the device: it was stopped, by a stop or a fault, and not resumed */
    uint32_t thread_count;
    zt__debug_module *modules; /* the newest first */
    size_t module_bytes;
    uint64_t module_count; /* so far */
    zt__known_line lines[ZT__DEBUG_LINES];
    uint32_t line_count; /* so far */
    zt__map texts;       /* names of kernels and files, by themselves. Guarded by `mutex` */
};

/* Locks the session until the deadline. Other threads that hold it in order to wait for events give way.
   Returns 0 if the deadline has passed. */
ZT__PRIVATE int zt__lock_session(zt_debugger *debugger, uint64_t deadline);

/* Reports that another thread closes the debugger. */
ZT__PRIVATE ze_result_t zt__report_closing(zt_debugger *debugger, const char *call);

/* Begins a call of the application, unless the debugger is being closed or its callback runs on this thread
   while the session is locked. The call ends with zt__end_debug_call. */
ZT__PRIVATE ze_result_t zt__begin_debug_call(zt_debugger *debugger, const char *call);

ZT__PRIVATE void zt__end_debug_call(zt_debugger *debugger);

/* Reports that the session is over. */
ZT__PRIVATE ze_result_t zt__report_over(zt_debugger *debugger, const char *call);

/* Begins a call of the application, as zt__begin_debug_call does, and locks the session. */
ZT__PRIVATE ze_result_t zt__begin_session_call(zt_debugger *debugger, const char *call);

ZT__PRIVATE void zt__end_session_call(zt_debugger *debugger);

/* Sleeps while the session is unlocked, so that other threads can lock it. A driver may return NOT_READY at
   once instead of waiting, so this also limits how often it is queried. */
ZT__PRIVATE void zt__yield_session(void);

/* Reports a call of the driver unless it has succeeded. */
ZT__PRIVATE ze_result_t zt__check_debug(zt_debugger *debugger, ze_result_t result, const char *call);

extern const ze_device_thread_t zt__all_threads;

#endif
