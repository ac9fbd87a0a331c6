/* Answers a watch: attaches, waits for a fault, stops threads and reports where they are. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "debug/debugger.h"

#ifdef ZETOOLS_DEBUG

/* A watch is a thread that looks which regions the device does not finish. When one hangs, it stops the
   threads of the device by a debugger, and reports where they are. The debugger is used by the functions
   here, which serve requests of the watch: on its thread or, where a process may not debug itself, in a
   helper process. */

typedef enum zt__watch_call {
    ZT__WATCH_ATTACH,
    ZT__WATCH_AWAIT, /* waits for a fault. Meanwhile events are acknowledged */
    ZT__WATCH_STOP   /* stops all threads and finds where they are. Resumes them, unless they are to stay */
} zt__watch_call;

typedef struct zt__watch_request {
    zt__watch_call call;
    uint32_t process; /* to attach to */
    uint8_t device[ZE_MAX_DEVICE_UUID_SIZE];
    uint64_t timeout_ns;
    int is_fault; /* the threads are stopped because of one */
    int leave_stopped;
} zt__watch_request;

/* An instruction at which threads were. */
typedef struct zt__found_place {
    uint64_t address, offset;
    uint32_t threads, line;
    char kernel[256], file[256];
} zt__found_place;

typedef struct zt__watch_answer {
    ze_result_t result;
    uint32_t process; /* that answers */
    char reason[512]; /* if `result` is not SUCCESS */
    int is_over;      /* the session: somebody else has detached it, or it was lost */

    /* what the device has reported since the last request */
    int has_faulted, has_page_fault;
    uint64_t fault_address;
    uint32_t fault_reason;

    /* of ZT__WATCH_STOP */
    uint32_t stopped, unavailable, elsewhere;
    uint64_t stopped_ns; /* how long the threads were stopped */
    uint32_t place_count;
    zt__found_place places[ZT_MAX_PLACES]; /* the last member: a message has those that are there */
} zt__watch_answer;

typedef struct zt__watch_server {
    zt_debugger *debugger;
    const zt_allocator *allocator;
    ze_device_handle_t device;
    const int *is_ending;     /* nobody waits for long answers any more. Atomic */
    zt__watch_answer *answer; /* of the request that is being served */
    int has_pending_fault;    /* a page fault came while threads were being stopped, with: */
    uint64_t pending_address;
    uint32_t pending_reason;
} zt__watch_server;

/* Serves a request: on the thread of the watch, or in a helper. */
ZT__PRIVATE void zt__serve_watch(zt__watch_server *server, const zt__watch_request *request,
                                 zt__watch_answer *answer);

#endif
