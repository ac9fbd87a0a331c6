/* What a watch is made of. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "base/threads.h"
#include "regions/profiler.h"
#include "watch/server.h"

#ifdef ZETOOLS_DEBUG

enum { ZT__WATCH_TEXT = 1 << 15 };

/* The first region of a list that the device has not finished. */
typedef struct zt__running {
    const zt__region_record *region;
    ze_command_list_handle_t list;
    uint64_t number, submission_ns; /* these distinguish its executions */
    uint64_t since_ns;              /* host time at which it was found to be the first of its list */
    zt__probe *probe;               /* with `way`, shows whether it has ended */
    const zt__way *way;
} zt__running;

typedef struct zt__watch {
    zt_profiler *profiler;
    zt_watch_config config;
    char *path; /* of the file; NULL: none */
    zt__thread thread;
    int has_tried_to_attach; /* the first attempt is over. Atomic, like the next */
    int is_explaining;       /* threads are being stopped, or their places looked up */
    zt_watch_info info;      /* guarded by the profiler's mutex */

    /* used by the thread alone, while it runs */
    zt__watch_server server;
    int socket;  /* to the helper, or -1 */
    long helper; /* 0: it has not reported yet */
    ze_command_list_handle_t *lists;
    uint32_t list_capacity;
    uint64_t not_before_ns; /* nothing counts as running since before: then a hang ended, or a fault was
                               reported */
    int is_hanging;         /* `hang` was reported, and has not ended */
    zt__running hang;
    int has_page_fault;  /* the last fault that was reported was a page fault */
    uint64_t last_fault; /* its address */
    zt__watch_answer answer;
    zt_hang_place places[ZT_MAX_PLACES];
    char text[ZT__WATCH_TEXT];
} zt__watch;

ZT__PRIVATE int zt__is_ending(zt__watch *watch);

extern const char *const zt__watch_stopped;

#endif
