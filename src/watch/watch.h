/* What a watch is made of: a thread that looks which regions the device does not finish. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "base/threads.h"
#include "regions/profiler.h"

#ifdef ZETOOLS_DEBUG

enum { ZT__SHOWN_LISTS = 32, ZT__WATCH_TEXT = 1 << 14 };

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
    zt_watch_info info; /* guarded by the profiler's mutex */

    /* used by the thread alone, while it runs */
    ze_command_list_handle_t *lists;
    uint32_t list_capacity;
    zt__running running[ZT__SHOWN_LISTS]; /* the first of each list, for the report */
    uint64_t not_before_ns;               /* nothing counts as running since before: then a hang ended */
    int is_hanging;                       /* `hang` was reported, and has not ended */
    zt__running hang;
    char text[ZT__WATCH_TEXT];
} zt__watch;

/* As in zt_info. */
ZT__PRIVATE zt_watch_info zt__get_watch_info(const zt_profiler *profiler);

#endif
