/* What a tracer knows: devices, lists, pools, events, names, times of calls. */

#pragma once

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/map.h"
#include "base/platform.h"
#include "base/shared.h"
#include "base/system.h"
#include "base/threads.h"
#include "metrics/statistics.h"
#include "modules/loaded.h"
#include "regions/profiler.h"
#include "tracer/calls.h"
#include "tracer/module_files.h"

#ifdef ZETOOLS_TRACER

enum {
    ZT__MAX_HOOKS = 16,
    ZT__MAX_RETIRED = 1024, /* tracer objects of the loader. Beyond it, a stop does not change them */
    ZT__KEPT_CALLS = 512,   /* of each call, for quantiles */
    /* Flags that older headers lack. */
    ZT__LIST_FLAG_IN_ORDER = 1 << 3, /* ZE_COMMAND_LIST_FLAG_IN_ORDER, since Level Zero 1.9 */
    ZT__POOL_FLAG_MAPPED = 1 << 3,   /* ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP, since Level Zero 1.4 */
    ZT__POOL_FLAGS_STAMPED = ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP | ZT__POOL_FLAG_MAPPED,
    ZT__LIST_FLAG_CLONEABLE = 1 << 4, /* ZE_COMMAND_LIST_FLAG_EXP_CLONEABLE, since Level Zero 1.9 */
    ZT__QUEUE_FLAG_IN_ORDER = 1 << 1, /* ZE_COMMAND_QUEUE_FLAG_IN_ORDER, since Level Zero 1.9 */
    /* ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP and _HOST_TIMESTAMP */
    ZT__EVENT_FLAGS_STAMPED = 1 << 4 | 1 << 5,
    /* Results of a query whether a list is captured, since Level Zero 1.15 */
    ZT__QUERY_TRUE = 0x78000022,
    ZT__QUERY_FALSE = 0x78000023,
    ZT__GRAPH_KERNELS = 4 /* whose names are in that of a graph */
};

/* A context and device whose lists are measured. */
typedef struct zt__traced_device {
    struct zt__traced_device *next; /* atomic */
    ze_context_handle_t context;
    ze_device_handle_t device;
    zt_profiler *profiler;     /* NULL: it could not be opened */
    uint32_t copy_only_groups; /* a bit for each queue group that cannot execute metric queries */
    int is_detached;           /* its context is destroyed. Atomic */
    uint64_t copies_seen;      /* by zt_auto, where copies are not measured; with the tracer's mutex */
} zt__traced_device;

/* The name of a kernel, copy or graph, and what the filter needs to know. */
typedef struct zt__kernel_name {
    char *text;
    int is_selected;         /* by zt_trace_config.names */
    uint64_t seen, measured; /* launches */
    uint32_t graph;          /* the number of the graph; 0: it is not that of one */
    int is_free;             /* the graph is destroyed */
} zt__kernel_name;

/* Launches that were captured into a graph, as far as they were seen. */
typedef struct zt__graph_content {
    uint32_t kernel_count, other_launches; /* the second: of other kernels */
    int is_selected;                       /* one of the kernels is */
    struct {
        const zt__kernel_name *name;
        uint32_t launches;
    } kernels[ZT__GRAPH_KERNELS]; /* in the order of their first launches */
} zt__graph_content;

/* What is known of a graph, or of an executable one. */
typedef struct zt__known_graph {
    const void *handle;        /* the key */
    zt__kernel_name *name;     /* of an executable one; else NULL */
    zt__graph_content content; /* of the other */
} zt__known_graph;

/* What is known of a command list. */
typedef struct zt__known_list {
    const void *handle;        /* the key */
    zt__traced_device *device; /* NULL: it is not measured */
    zt__list_kind kind;        /* UNKNOWN, RECORDED or IMMEDIATE */
    int may_be_destroyed;      /* a call was about to destroy it, and may have been refused */
    int is_in_order;           /* 0: it is not, or that is not known */

    /* why its commands cannot be measured */
    int is_of_unknown_device; /* it was created before tracing, and the loader cannot query it */
    int is_copy_only;         /* it cannot execute metric queries */
    int is_captured;          /* its commands go into a graph, by zeCommandListBegin...Capture...Ext */
    int is_cloneable;         /* its clones would write to the same queries and events */
    int has_command_ids;      /* the application has queried the identifier of a command to come */

    zt__graph_content content; /* while it is captured: so far */
} zt__known_list;

/* What is known of an event pool. */
typedef struct zt__known_pool {
    const void *handle; /* the key */
    ze_context_handle_t context;
    int has_stamps;         /* kernel time stamps that the application may read */
    zt_serialised obstacle; /* why its events cannot be borrowed. IN_USE: they can */
} zt__known_pool;

/* Whether a launch can be measured by an event of the application; see events.c. */
typedef enum zt__event_state {
    ZT__EVENT_IDLE,     /* it is not signalled, and no command may signal it */
    ZT__EVENT_BORROWED, /* one launch signals it, and is measured by it */
    ZT__EVENT_USED,     /* one command signals it, or has, and the host has not reset it since */
    ZT__EVENT_SHARED,   /* it may be signalled at any time: it is never borrowed */
    ZT__EVENT_STATES
} zt__event_state;

/* What is known of an event. */
typedef struct zt__known_event {
    const void *handle;          /* the key */
    const void *pool;            /* NULL: it was created before the start, or has none */
    ze_context_handle_t context; /* likewise */
    int has_stamps;              /* as of its pool */
    zt_serialised obstacle;      /* likewise */
    zt__event_state state;
    int has_signalled; /* while it is USED: the command has signalled it */
    int is_in_use;     /* a thread reads or changes it, and may have unlocked the mutex to ask the driver */

    /* while it is BORROWED */
    zt__probe *probe;
    ze_command_list_handle_t list;
    int is_recorded; /* the list is: the event stays BORROWED until that is reset */
    int has_marker;  /* the event of the probe is signalled after it, and shows when the launch has ended */
    int was_read;    /* its time stamps, and the host has not reset it since */
    uint32_t read_submission; /* probe->submissions at that time */
} zt__known_event;

/* The statistics of a call that is timed. */
typedef struct zt__timed_call {
    zt__call call;
    uint64_t errors;
    zt__statistics statistics;
} zt__timed_call;

/* One execution of a call, for the timeline. */
typedef struct zt__host_span {
    uint64_t begin_ns, duration_ns;
    uint32_t call;   /* a zt__call */
    uint32_t thread; /* of the system */
} zt__host_span;

/* A copy of a zt_hook. */
typedef struct zt__traced_hook {
    zt__call call;
    zt_hook_fn prologue, epilogue;
    void *user;
} zt__traced_hook;

/* Fields that are marked as atomic are also read without a lock. */
typedef struct zt__tracer {
    zt_allocator allocator;
    zt__diagnostics *diagnostics; /* of the profiler; NULL under zt_auto, for those of the thread */
    uint64_t wait_timeout_ns;
    void (*check_layer)(zt_profiler *profiler); /* the `check_tracing` of profilers */

    int is_live;      /* atomic */
    int start_result; /* of the last start. Atomic */

    /* The configuration, which changes only while the tracer is not live. */
    uint8_t measured[ZT__CALL_COUNT];   /* launches and copies that become regions */
    uint8_t timed[ZT__CALL_COUNT];      /* zt_trace_config.calls */
    uint8_t observed[ZT__CALL_COUNT];   /* these and all others that the tracer needs callbacks for */
    uint8_t only_waits[ZT__CALL_COUNT]; /* observed for the time alone in which the host waits in phases */
    char *names;                        /* zt_trace_config.names */
    uint32_t every;
    uint64_t limit;
    uint32_t timeline; /* how many samples the profilers keep */
    uint32_t hook_count;
    zt__traced_hook hooks[ZT__MAX_HOOKS];
    zt__modules modules; /* has a mutex of its own */
    /* Queries of lists that were created before the start. NULL: the loader lacks them. */
    ze_result_t(ZE_APICALL *get_context)(ze_command_list_handle_t, ze_context_handle_t *);
    ze_result_t(ZE_APICALL *get_device)(ze_command_list_handle_t, ze_device_handle_t *);
    ze_result_t(ZE_APICALL *get_ordinal)(ze_command_list_handle_t, uint32_t *);
    ze_result_t(ZE_APICALL *get_list_flags)(ze_command_list_handle_t, uint32_t *);
    ze_result_t(ZE_APICALL *get_queue_flags)(ze_command_list_handle_t, uint32_t *); /* of immediate ones */
    /* Queries of events and pools that were created before the start; likewise. */
    ze_result_t(ZE_APICALL *get_pool)(ze_event_handle_t, ze_event_pool_handle_t *);
    ze_result_t(ZE_APICALL *get_pool_flags)(ze_event_pool_handle_t, ze_event_pool_flags_t *);
    /* ZT__QUERY_TRUE while a list is captured into a graph. NULL: the loader has no graphs. */
    ze_result_t(ZE_APICALL *query_capture)(ze_command_list_handle_t);

    const zt_config *automatic; /* of zt_auto: how to open profilers for new devices; else NULL */
    zt__timed_mutex opening;
    zt__traced_device *devices; /* atomic; only ever grows */

    zt__mutex mutex;                        /* guards what follows */
    zt__loaded loaded;                      /* has no mutex of its own */
    zt__map kernel_names;                   /* by their text */
    zt__map lists;                          /* by handle */
    zt__map graphs;                         /* likewise */
    uint32_t graph_count;                   /* that were named, since the tracer was created */
    uint32_t captures;                      /* lists that are captured */
    ze_command_list_handle_t last_captured; /* the list whose capture was begun last, or NULL */
    int borrows_events;                     /* launches may be measured by events of the application */
    uint64_t executions;                    /* of lists, so far */
    uint64_t unseen_executions;             /* of lists on which nothing was appended since the start */
    int is_stopping;                        /* no more launches are measured */
    zt_trace_counts counts;
    uint64_t callback_ns;    /* zt__get_callback_ns, but for the last call of each frame. Guarded by the
                             dispatcher's mutex */
    int was_layer_off;       /* while tracing. Atomic */
    int has_unseen_pointers; /* the application has pointers that launch, and are not wrapped. Atomic */
    zt__timed_call *timed_calls[ZT__CALL_COUNT];   /* by zt__call; NULL: not seen yet */
    zt__timed_call *by_appearance[ZT__CALL_COUNT]; /* the same, in the order of their first calls */
    uint32_t timed_call_count;
    zt__host_span *spans; /* a ring of the newest calls, or NULL */
    uint32_t span_capacity;
    uint64_t span_count;           /* written so far */
    zt__message_text open_failure; /* of zt_auto: the first message */
    uint32_t open_failures;        /* how many profilers could not be opened */

    zt__mutex event_mutex; /* guards what follows */
    zt__map pools, events; /* by handle */
    uint32_t forgotten_events;

    int watches_memory;     /* zt_trace_config.memory. Changes only while the tracer is not live */
    zt__mutex memory_mutex; /* guards what follows */
    zt__map allocations;    /* that the application has not freed, by their addresses */

    int samples_hotspots; /* zt_auto samples those of each device. Constant */
} zt__tracer;

/* Returns the call of the application that starts the tracer, for messages. */
ZT__PRIVATE const char *zt__starting_call(const zt__tracer *tracer);

/* "The mutex is held", here and in the chapters after this one, is that of the tracer. Functions that add a
   record unlock it while the application's allocator runs: pointers to other records may then be stale. */

/* Return the record of a handle, or NULL. The mutex is held. */
ZT__PRIVATE zt__known_list *zt__find_known_list(const zt__tracer *tracer, ze_command_list_handle_t list);

ZT__PRIVATE zt__loaded_module *zt__find_loaded_module(const zt__tracer *tracer, ze_module_handle_t module);

ZT__PRIVATE zt__loaded_kernel *zt__find_loaded_kernel(const zt__tracer *tracer, ze_kernel_handle_t kernel);

/* Returns the record of a kernel, which is added if there is none. The mutex is held. Returns NULL without
   memory. */
ZT__PRIVATE zt__loaded_kernel *zt__remember_kernel(zt__tracer *tracer, ze_kernel_handle_t kernel);

/* Returns whether a command on a list, or on NULL, is executed once: the list is immediate, and no list is captured,
   because others join a capture by waiting. The mutex is held. */
ZT__PRIVATE int zt__signals_once(const zt__tracer *tracer, const zt__known_list *list);

/* Stores whether a capture into a graph has begun on a list. The mutex is held. */
ZT__PRIVATE void zt__set_captured(zt__tracer *tracer, zt__known_list *list, int is_captured);

/* Frees the record of a handle, if there is one. No mutex is held. */
ZT__PRIVATE void zt__forget_handle(zt__tracer *tracer, zt__map *map, const void *handle);

/* Frees what was learned with an earlier configuration. What was not observed since the last stop may have
   changed it. */
ZT__PRIVATE void zt__forget_everything(zt__tracer *tracer);

#endif
