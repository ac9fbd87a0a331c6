/* The software device's inside: what its files share. The outside is Level Zero itself and softgpu_control.h.
 *
 *   object.c   live handles, and the ledger      control.c   behaviours, faults, calls, the clock
 *   driver.c   dispatch tables, driver, devices  memory.c    contexts, allocations, copies
 *   module.c   modules, kernels, launches        list.c      command lists
 *   queue.c    queues and fences                 lane.c      which command may start when
 *   event.c    event pools and events            thread.c    the engines
 *   counters.c what devices count                graph.c     command graphs
 *   binary.c   what modules are made of     elf.c  windows.c  what differs between systems; see system.h
 *   debug.c  target.c  agent.c  remote.c  stop.c  registers.c    program debug: see debug.h
 *   signals.c              signals to the engines
 *   sysman.c   energy, clocks, temperature
 *   metrics.c  calculate.c  queries.c  streamers.c  sampling.c    the tools functions: see metrics.h
 */
#ifndef SOFTGPU_H
#define SOFTGPU_H

#include <level_zero/ze_api.h>
#include <level_zero/zes_api.h>
#include <level_zero/zet_api.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "softgpu_control.h"
#include "system.h"

#pragma GCC visibility push(hidden)

/* ---- objects --------------------------------------------------------------------------------------------
 *
 * A handle is the address of an object that begins with an sg_object. Objects live in slabs that are never
 * given back, one type a slab, so that any address can be asked whether it is a live object, without touching
 * memory that is not ours. Addresses of destroyed objects are used again as late as possible; with
 * HANDLES_COME_BACK, at once. */

/* clang-format off */
#define SG_TYPES(X)                                                                                          \
    X(DRIVER) X(DEVICE) X(CONTEXT) X(QUEUE) X(LIST) X(FENCE) X(EVENT_POOL) X(EVENT) X(MODULE) X(BUILD_LOG)   \
    X(KERNEL) X(METRIC_GROUP) X(METRIC) X(STREAMER) X(QUERY_POOL) X(QUERY) X(GRAPH)           \
    X(EXECUTABLE_GRAPH) X(DEBUG_SESSION)
/* clang-format on */

typedef enum sg_type {
#define SG_ENUMERATOR(name) SG_##name,
    SG_TYPES(SG_ENUMERATOR)
#undef SG_ENUMERATOR
        SG_TYPE_COUNT
} sg_type;

typedef struct sg_object {
    sg_type type;
    _Atomic uint32_t alive;
    uint64_t serial; /* never the same for two objects */
    struct sg_object *parent;
    uint64_t parent_serial;
    _Atomic uint32_t children;
    struct sg_object *next_free;
} sg_object;

/* What threads do to one object shall not slow others down that use its neighbour. */
enum { SG_CACHE_LINE = 64 };

static inline size_t sg_whole_lines(size_t bytes) {
    return (bytes + SG_CACHE_LINE - 1) & ~(size_t)(SG_CACHE_LINE - 1);
}

/* Zeroed but for its header. The size is the same for all objects of a type. NULL: out of memory. A parent,
 * where there is one, may not be destroyed before its children: that is a finding. */
void *sg_object_create(sg_type type, size_t size, void *parent);
void sg_object_destroy(void *object);

/* The object if the handle is a live one of the type, or NULL. */
void *sg_object_check(const void *handle, sg_type type);

/* What a destroy function says to a handle that sg_object_check() refused: notes a double destruction. */
ze_result_t sg_object_refuse(const void *handle, sg_type type);

/* A destroy function, where there is nothing to undo: destroys or refuses. */
ze_result_t sg_object_end(const void *handle, sg_type type);

/* Is it still the object that had this serial number? For commands that outlive what they refer to. */
static inline bool sg_object_is(const sg_object *object, uint64_t serial) {
    return atomic_load_explicit(&object->alive, memory_order_acquire) && object->serial == serial;
}

/* Calls visit(object, argument) for each live object of a type. */
void sg_object_each(sg_type type, void (*visit)(void *object, void *argument), void *argument);

void sg_objects_unload(void);

/* A finding for the ledger: something that an application must not do. */
void sg_finding(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Allocations and other things that are no objects: +1 and -1. */
void sg_ledger_count_memory(int change);

/* ---- control --------------------------------------------------------------------------------------------
 */

/* Is it one of the occasions at which the device behaves like this? Counts the occasion. */
bool sg_behaves(enum softgpu_behaviour behaviour);

/* What softgpu_set_shape() has given. */
bool sg_given_shape(uint32_t shape[4]);

/* Is the behaviour on at all? Counts nothing. */
bool sg_behaviour_is_on(enum softgpu_behaviour behaviour);

bool sg_is_lost(void);

/* On an engine's thread: it is, by what a command has done. */
void sg_note_loss(void);

/* METRICS_NOT_ENABLED counts again, on all devices. */
void sg_metrics_forget_switches(void);

/* Metrics that tests listed are gone, values that they set are 0 again. */
void sg_metrics_forget_given(void);

/* Takes everything that is queued off all queues, undone. */
void sg_drop_all_work(void);

enum { SG_MAX_DEVICES = 8, SG_MAX_SUB_DEVICES = 4 };
uint32_t sg_device_count(void);
uint32_t sg_sub_device_count(void);

/* Reads the environment, once. The result is what zeInit answers. */
ze_result_t sg_control_init(void);

/* The functions of functions.def. */
typedef enum sg_function {
#define SG_FUNCTION(table, slot, version, kind, name, parameters, arguments) SG_CALL_##name,
#include "functions.def"
#undef SG_FUNCTION
    SG_FUNCTION_COUNT
} sg_function;

/* As ze_init_driver_type_desc_t, which the oldest headers do not have. */
struct sg_init_driver_type_desc {
    ze_structure_type_t stype;
    const void *next;
    uint32_t flags;
};

/* As ze_event_query_kernel_timestamps_results_ext_properties_t, which the oldest headers do not have. */
struct sg_kernel_timestamps_results {
    ze_structure_type_t stype;
    void *next;
    ze_kernel_timestamp_result_t *kernel;
    ze_kernel_timestamp_result_t *synchronized; /* the same structure under another name: ns of the host */
};

/* As ze_event_counter_based_desc_t, which older headers do not have. */
struct sg_event_counter_based_desc {
    ze_structure_type_t stype;
    const void *next;
    uint32_t flags;
    ze_event_scope_flags_t signal, wait;
};

/* As ze_group_size_t, which the oldest headers do not have. */
typedef struct sg_group_size {
    uint32_t x, y, z;
} sg_group_size;

#define SG_FUNCTION(table, slot, version, kind, name, parameters, arguments) ze_result_t sg_##name parameters;
#include "functions.def"
#undef SG_FUNCTION

typedef enum sg_kind { SG_KIND_HOST, SG_KIND_DEVICE } sg_kind;

/* Every call begins with this: counts it, and answers what a fault or the loss of the device wants answered.
 */
ze_result_t sg_enter(sg_function function, sg_kind kind);

/* What calls are to cost, spent by waiting busily. */
void sg_spend(uint64_t nanoseconds);
uint32_t sg_report_cost(void);
bool sg_costs_are_real(void);

/* ---- time -----------------------------------------------------------------------------------------------
 *
 * One clock for all devices. Nanoseconds are those of CLOCK_MONOTONIC. Ticks are as the device counts them,
 * with no more than the valid bits. */

uint64_t sg_read_clock(clockid_t clock);
uint64_t sg_now(void);
uint64_t sg_shown_now(void); /* what calls return: a test may hold it */
uint64_t sg_ticks_at(uint64_t nanoseconds);
uint32_t sg_timestamp_bits(void);
uint64_t sg_ticks_per_second(void);

/* Of the time stamps of kernels. */
uint64_t sg_kernel_ticks_at(uint64_t nanoseconds);
uint32_t sg_kernel_timestamp_bits(void);

/* Of the time stamps of metrics. */
uint64_t sg_metric_ticks_at(uint64_t nanoseconds);
uint32_t sg_metric_timestamp_bits(void);

/* Waits (for whatever sg_progress() announces) until done(argument) or the time is up or the device is lost:
 * SUCCESS, NOT_READY or DEVICE_LOST. A timeout of 0 asks once, UINT64_MAX is no limit. */
ze_result_t sg_wait(bool (*done)(void *argument), void *argument, uint64_t timeout);

/* Something that a host thread may wait for has happened. What changed was stored sequentially consistent. */
void sg_progress(void);

/* A condition variable whose time is sg_now()'s. */
void sg_condition_init(pthread_cond_t *condition);

/* ---- devices and what they count ------------------------------------------------------------------------
 */

typedef enum sg_counter {
    SG_KERNELS, /* launches */
    SG_GROUPS,
    SG_ITEMS,
    SG_KERNEL_BYTES_READ, /* by LOAD of the kernels, and so on */
    SG_KERNEL_BYTES_WRITTEN,
    SG_LOCAL_BYTES_READ,
    SG_LOCAL_BYTES_WRITTEN,
    SG_GROUP_BARRIERS, /* one for each work-group that passes one */
    SG_COPIES,
    SG_COPY_BYTES_READ,
    SG_COPY_BYTES_WRITTEN,
    SG_FILLS,
    SG_FILL_BYTES_WRITTEN,
    SG_COMMANDS,
    SG_LIST_BARRIERS,
    SG_FLUSHES,
    SG_COMPUTE_BUSY_NS, /* commands of the compute queues */
    SG_COPY_BUSY_NS,    /* commands of the copy queues */
    SG_TIME_NS,
    SG_CYCLES, /* of the processor's time stamp counter */
    /* The engine threads' own, with SG_WITH_THREAD alone: */
    SG_CPU_NS,
    SG_MINOR_FAULTS,
    SG_MAJOR_FAULTS,
    SG_VOLUNTARY_SWITCHES,
    SG_INVOLUNTARY_SWITCHES,
    SG_COUNTER_COUNT
} sg_counter;

typedef enum sg_engine { SG_COMPUTE_ENGINE, SG_COPY_ENGINE, SG_ENGINE_COUNT } sg_engine;

typedef struct sg_root sg_root;
struct sg_metrics;

typedef struct sg_device {
    sg_object object;
    uint32_t index;             /* of the root device, or of the sub-device in its root */
    struct sg_device *parent;   /* NULL in a root device */
    sg_root *root;              /* engines and queues, shared by a root and its sub-devices */
    struct sg_metrics *metrics; /* for metrics.c */
    _Atomic uint64_t counters[SG_COUNTER_COUNT];  /* written by the engine threads */
    _Atomic uint64_t busy_since[SG_ENGINE_COUNT]; /* 0: idle */
    uint32_t running[SG_ENGINE_COUNT];            /* commands; under the root's lock */
    _Atomic uint64_t busy_version;
    _Atomic uint32_t queues; /* and immediate lists */
} sg_device;

sg_device *sg_device_at(uint32_t index);                             /* a root device */
sg_device *sg_sub_device_at(sg_device *root_device, uint32_t index); /* NULL: no such sub-device */

/* All counters at this moment, monotone. In a command they are exact as far as no other engine is at work;
 * from any other thread they are what the device has got to, a running kernel included to its last finished
 * work-group. SG_WITH_THREAD costs system calls. */
enum { SG_WITH_THREAD = 1 };
void sg_snapshot(sg_device *device, unsigned flags, uint64_t counters[SG_COUNTER_COUNT]);

/* While someone watches (+1, later -1), each engine thread publishes its faults and switches after each
 * command, for snapshots taken by other threads. */
void sg_watch_thread(sg_device *device, int change);

/* Between pause and resume no command starts, and only kernels run: a command of another kind that runs is
 * waited for. For short stretches only: to destroy what such commands may be using. */
void sg_device_pause(sg_device *device);
void sg_device_resume(sg_device *device);

/* Signals are the application's: its own threads shall have them, and not this one. */
bool sg_thread_start(pthread_t *thread, void *(*function)(void *), void *argument);

/* Called once when the driver is unloaded, in the order of registration, with the engines stopped. */
void sg_at_unload(void (*function)(void));

/* ---- events ----------------------------------------------------------------------------------------------
 */

/* When a counter-based event is signalled: so many commands of a list are done, in all its executions. No list:
 * at once. */
typedef struct sg_tracking_point {
    struct sg_list *list;
    uint64_t serial, number;
} sg_tracking_point;

typedef struct sg_event_pool {
    sg_object object;
    bool is_counter_based;
    uint32_t counter_based_flags;
    uint32_t count;
    ze_event_pool_flags_t flags;
    _Atomic uint8_t *taken; /* which places have an event */
} sg_event_pool;

/* The capture in which a list takes part, or in which a signal was appended. It may be over. */
typedef struct sg_graph sg_graph;
typedef struct sg_captured {
    sg_graph *graph;
    uint64_t serial;
} sg_captured;

typedef struct sg_event {
    sg_object object;
    sg_event_pool *pool; /* NULL: none, it was made counter-based */
    bool is_counter_based;
    uint32_t counter_based_flags;
    sg_tracking_point point; /* of its last signal, where it is counter-based; under a lock of event.c */
    uint32_t index;
    _Atomic uint32_t signalled;
    _Atomic bool is_in_order, is_immediate; /* the list of the last command that was to signal it */
    _Atomic bool is_half_written;           /* that command runs: with HALF_WRITTEN_STAMPS */
    _Atomic bool is_stale;                  /* the host has reset it since: with RESET_STAMPS_SPIN */
    /* Ticks of the kernels' clock, valid once signalled: of the command, then of its part on each tile. */
    _Atomic uint64_t starts[1 + SG_MAX_SUB_DEVICES], ends[1 + SG_MAX_SUB_DEVICES];
    _Atomic uint64_t host_starts[1 + SG_MAX_SUB_DEVICES], host_ends[1 + SG_MAX_SUB_DEVICES]; /* ns */
    _Atomic uint32_t tiles; /* that the command ran on, of several; 0: one */
    /* What the host has seen of the ticks: with TILE_STAMPS_UNCHECKED. */
    _Atomic uint64_t seen_starts[1 + SG_MAX_SUB_DEVICES], seen_ends[1 + SG_MAX_SUB_DEVICES];
    sg_captured captured;
} sg_event;

/* Counter-based events: the last signal that was appended, and has it come? */
sg_tracking_point sg_event_point(const sg_event *event);
bool sg_point_is_reached(sg_tracking_point point);

typedef struct sg_interval {
    uint64_t start, end; /* ns */
} sg_interval;

/* Adds a command with time stamps to the device's account (softgpu_get_stamped). */
void sg_account_stamps(const sg_interval *times);

/* Can a command of the list signal it? */
bool sg_event_fits(const sg_event *event, const struct sg_list *list);

/* The n-th command of a list will signal it; no list: it is done. And: that command starts. */
void sg_event_append(sg_event *event, struct sg_list *list, uint64_t number);
void sg_event_start(sg_event *event, uint64_t start);

/* Signals it and wakes who waits for it, on the host and on all devices. The times of the tiles follow that
 * of the whole. */
void sg_event_signal(sg_event *event, const sg_interval *times, uint32_t tiles);

/* ---- command lists ---------------------------------------------------------------------------------------
 */

typedef struct sg_queue sg_queue;
typedef struct sg_list sg_list;

/* What a command knows while it runs on an engine thread. */
typedef struct sg_execution {
    sg_device *device; /* of the queue: a root or a sub-device */
    sg_list *list;
    bool immediate;
    sg_engine engine;
    uint64_t start, end; /* ns; when run() has returned, end is set. A nonzero end is kept */
    sg_interval tiles[SG_MAX_SUB_DEVICES]; /* its part on each; an end of 0: as the whole */
    uint32_t busy_tiles;                   /* bits: those that it keeps busy */
    bool has_failed;                       /* the command never ends, and the device is lost */
} sg_execution;

typedef void (*sg_run)(sg_execution *execution, void *argument);

/* What orders a command on its list, beside its wait events. On an in-order list every one is SG_IN_ORDER and
 * SG_AT_HOME. */
enum {
    SG_AFTER_ALL = 1, /* starts when all commands before it are done */
    SG_BLOCKS = 2,    /* no command behind it starts before it is done */
    SG_IN_ORDER = SG_AFTER_ALL | SG_BLOCKS,
    SG_AT_HOME = 4 /* runs on the engine that the queue's index names, and on no other */
};

/* Of a barrier: with wait events, these alone are waited for. */
static inline unsigned sg_barrier_order(uint32_t wait_count) {
    return wait_count ? SG_BLOCKS : SG_IN_ORDER;
}

/* A command: run(execution, argument) is called on an engine thread, when its order allows and the wait
 * events are signalled, with a copy of the argument; then the signal event is signalled. */
typedef struct sg_append {
    sg_run run;
    const void *argument;
    size_t size;
    ze_event_handle_t signal;
    uint32_t wait_count;
    ze_event_handle_t *waits;
    bool held; /* on an immediate list: not submitted before the next command that is not held */
    bool is_kernel;
    unsigned order;             /* of SG_AFTER_ALL, SG_BLOCKS */
    const struct sg_code *code; /* that it runs, or NULL */
} sg_append;

/* Checks list and events, and appends; on a synchronous immediate list, waits for it. */
ze_result_t sg_list_append(ze_command_list_handle_t list, const sg_append *command);

/* The list of a graph that records a command instead of the device running it, or NULL. */
sg_list *sg_graph_captures(sg_list *list, const sg_append *command);

/* ---- typed handles: NULL unless it is a live object of that type
 * ------------------------------------------- */

#define SG_HANDLE(function, structure, handle_type, type)                                                    \
    static inline structure *function(handle_type handle) {                                                  \
        return sg_object_check(handle, type);                                                                \
    }
SG_HANDLE(sg_driver_of, sg_object, ze_driver_handle_t, SG_DRIVER)
SG_HANDLE(sg_device_of, sg_device, ze_device_handle_t, SG_DEVICE)
SG_HANDLE(sg_context_of, sg_object, ze_context_handle_t, SG_CONTEXT)
SG_HANDLE(sg_queue_of, sg_queue, ze_command_queue_handle_t, SG_QUEUE)
SG_HANDLE(sg_list_of, sg_list, ze_command_list_handle_t, SG_LIST)
SG_HANDLE(sg_event_pool_of, sg_event_pool, ze_event_pool_handle_t, SG_EVENT_POOL)
SG_HANDLE(sg_event_of, sg_event, ze_event_handle_t, SG_EVENT)

/* The first lines of most functions. */
#define SG_NEED_HANDLE(object)                                                                               \
    do {                                                                                                     \
        if (!(object))                                                                                       \
            return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;                                                      \
    } while (0)
#define SG_NEED_POINTER(pointer)                                                                             \
    do {                                                                                                     \
        if (!(pointer))                                                                                      \
            return ZE_RESULT_ERROR_INVALID_NULL_POINTER;                                                     \
    } while (0)

/* A function that answers one thing about an object. */
#define SG_GETTER(function, object_of, handle_type, answer_type, answered)                                   \
    ze_result_t sg_##function(handle_type handle, answer_type *answer) {                                     \
        const __typeof__(*object_of(handle)) *object = object_of(handle);                                    \
        SG_NEED_HANDLE(object);                                                                              \
        SG_NEED_POINTER(answer);                                                                             \
        *answer = (answer_type)(answered);                                                                   \
        return ZE_RESULT_SUCCESS;                                                                            \
    }

/* The two-call idiom: 0 asks for the number; else *count becomes the number that is given. */
static inline uint32_t sg_clamp_count(uint32_t *count, uint32_t available) {
    uint32_t given = *count < available ? *count : available;
    *count = *count == 0 ? available : given;
    return given;
}

#pragma GCC visibility pop

#endif
