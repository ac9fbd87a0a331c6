/* How work gets from command lists to the engines: tapes of commands, lanes that play them.
 * Shared by list.c, queue.c, lane.c, thread.c, module.c and driver.c. */
#ifndef SOFTGPU_WORK_H
#define SOFTGPU_WORK_H

#include "softgpu.h"
#include <setjmp.h>
#include <sys/types.h>

#pragma GCC visibility push(hidden)

typedef struct sg_event_use {
    sg_event *event;
    uint64_t serial;
    sg_tracking_point point; /* to wait for, where the event is counter-based */
} sg_event_use;

typedef struct sg_command {
    size_t bytes; /* of the whole record */
    sg_run run;
    void *argument; /* behind the waits */
    sg_event_use signal;
    sg_list *recorded;  /* the list that it was recorded on, where it runs on an immediate one; or NULL */
    bool ends_recorded; /* it is the last of that list's commands */
    bool is_kernel;
    const struct sg_code *code; /* that it runs, or NULL */
    unsigned order;             /* of SG_AFTER_ALL, SG_BLOCKS */
    uint32_t wait_count;
    sg_event_use waits[];
} sg_command;

/* A chain of chunks, written by one thread while another may be playing it. A command keeps its address. Only
 * published commands may be played. */
typedef struct sg_chunk {
    struct sg_chunk *_Atomic next;
    size_t capacity;
    _Atomic size_t used;
    _Alignas(16) char bytes[];
} sg_chunk;

typedef struct sg_tape {
    sg_chunk *first, *last;
    struct sg_chunk *_Atomic spare; /* played out, to be written again: immediate lists */
    uint64_t written;
    _Atomic uint64_t published;
} sg_tape;

typedef struct sg_cursor {
    sg_chunk *chunk;
    size_t offset;
    uint64_t played;
} sg_cursor;

/* The list and, when the last of a call's lists is done, its fence. */
typedef struct sg_entry {
    sg_list *list;
    struct sg_fence *fence;
} sg_entry;

/* A command that was taken off a tape. */
typedef struct sg_flight {
    sg_command *command;
    sg_list *list;
    bool is_started, is_done;
} sg_flight;

/* A stream of commands that engines play: an immediate list, or the lists of a queue, one after the other. Of
 * its next commands, so many are looked at for one that may start. */
enum { SG_WINDOW = 32 };

typedef struct sg_lane {
    struct sg_lane *next;
    sg_device *device;
    sg_engine engine;
    uint32_t engines, home; /* bits: the engines that may serve it, and the one that has what is in order */
    sg_list *immediate;     /* or NULL: then the entries count */
    sg_cursor fetched, retired;   /* the second of an immediate list */
    sg_flight flights[SG_WINDOW]; /* a ring, by number */
    uint64_t first_flight, end_flight;
    bool has_entry; /* the one that is being played */
    sg_entry entry;
    _Atomic uint64_t submitted, completed; /* commands of an immediate list, entries of a queue */
    pthread_mutex_t lock;                  /* of the entries: a ring */
    sg_entry *entries;
    uint32_t capacity;
    uint64_t entries_taken;
} sg_lane;

struct sg_queue {
    sg_object object;
    uint32_t ordinal, index;
    ze_command_queue_mode_t mode;
    sg_lane lane;
};

typedef struct sg_fence {
    sg_object object;
    _Atomic bool signalled;
    _Atomic uint32_t pending; /* submissions that will signal it */
} sg_fence;

struct sg_list {
    sg_object object;
    sg_device *device;
    uint32_t ordinal, index;
    ze_command_list_flags_t flags;        /* 0 for an immediate list, */
    ze_command_queue_flags_t queue_flags; /* which has those of a queue */
    bool closed;
    bool synchronous;
    bool is_in_order;
    bool was_made_in_order;      /* and is not so by the default: counter-based events can be its signals */
    _Atomic uint32_t executions; /* submitted and not done */
    bool has_counter_based;      /* signals; for a recorded list, as the next two: */
    _Atomic uint64_t commands_submitted, commands_done; /* in all executions, also before a reset */
    sg_tape tape;
    bool is_immediate;
    bool is_mutable;
    sg_captured captured;
    sg_lane lane; /* of an immediate list */
};

/* The engines of a root device, as its queue groups list them: first those that compute. */
enum { SG_COMPUTE_ENGINES = 2, SG_COPY_ENGINES = 1, SG_ENGINES = SG_COMPUTE_ENGINES + SG_COPY_ENGINES };

/* Where a thread is, for tools that stop it: a futex. */
typedef enum sg_stop_state {
    SG_OUTSIDE,        /* of all launches, or it cannot be stopped */
    SG_BETWEEN_GROUPS, /* of a launch */
    SG_IN_KERNEL,
    SG_STOPPED
} sg_stop_state;

/* For stop.c: the thread itself writes what it is about before it is in that state. */
typedef struct sg_stop {
    _Atomic sg_stop_state state;
    _Atomic bool is_asked;       /* to stop */
    _Atomic bool is_killed;      /* it shall end where it is */
    sg_device *_Atomic tile;     /* that the work-group runs for */
    struct softgpu_group *group; /* the work-group */
    void *context;               /* of the handler in which it is stopped */
    bool is_wanted;              /* for target.c: somebody has asked for it */
    bool is_fault;               /* it did not stop, but could not go on */
    bool must_end;               /* it shall not try that again */
    zet_debug_page_fault_reason_t reason;
    uintptr_t fault_at, fault_address; /* the last of the work-group: the instruction, and what it accessed */
    sigjmp_buf end;                    /* of the kernel */
} sg_stop;

typedef struct sg_engine_thread {
    sg_root *root;
    uint32_t bit;
    pthread_t thread;
    clockid_t cpu_clock;                      /* set by the thread */
    _Atomic bool cpu_clock_is_set;            /* likewise */
    _Atomic uint64_t usage[SG_COUNTER_COUNT]; /* of its counters, those from SG_MINOR_FAULTS on */
    /* For sampling.c: who asks where it is, and the tile that a kernel runs for, or NULL. */
    struct sg_sample *_Atomic asked;
    sg_device *_Atomic works_for;
    bool is_sampled;
    pid_t number; /* by which the system knows the thread; set before it can be asked */
    sg_stop stop;
} sg_engine_thread;

typedef enum sg_racer { SG_ACTIVATION, SG_SUBMISSION, SG_RACERS } sg_racer;

/* One for each root device: its engines and the lanes that they serve. */
struct sg_root {
    sg_device *device;
    sg_device *sub_devices[SG_MAX_SUB_DEVICES];
    pthread_mutex_t lock;        /* of all lanes, while one looks for a command, starts or finishes it */
    sg_lane *lanes, *turn;       /* the second: where to look first */
    uint32_t executing, holding; /* commands; the second without kernels */
    bool is_paused;
    pthread_cond_t finished; /* a command, while paused */
    pthread_mutex_t pause_lock;
    pthread_mutex_t bell_lock;
    pthread_cond_t bell;
    _Atomic uint64_t rings;
    _Atomic uint32_t asleep;
    _Atomic bool started, stopping;
    _Atomic bool is_concurrent; /* more than one engine has a thread */
    pid_t process;              /* in which the threads were started */
    _Atomic int32_t watchers;
    _Atomic int32_t samplers; /* that want to know where its engines are */
    _Atomic uint32_t tools;   /* that are attached to it, or to a sub-device */
    _Atomic uint32_t racers[SG_RACERS];
    _Atomic bool has_due_activation; /* the next execution makes it real */
    sg_engine_thread engines[SG_ENGINES];
    _Atomic uint32_t engine_count; /* that have a thread */
};

/* May the list be executed by a queue or an immediate list of this context, root device and ordinal? */
ze_result_t sg_check_execution(const sg_list *list, const sg_object *context, const sg_device *device,
                               uint32_t ordinal);

sg_root *sg_root_at(uint32_t index);
void sg_root_stop(sg_root *root);
bool sg_is_stopping(const sg_device *device); /* a running kernel gives up */

/* The first command that was not played, or NULL; and: it is played. An immediate list's tape has its chunks
 * back once they are played. The tape may be written meanwhile. */
sg_command *sg_tape_peek(sg_tape *tape, sg_cursor *cursor, bool give_back);
void sg_tape_step(sg_cursor *cursor, const sg_command *command);

/* Lanes. Creating one starts the engines that serve it, where they do not run yet. */
ze_result_t sg_lane_open(sg_lane *lane, sg_device *device, uint32_t ordinal, uint32_t index,
                         sg_list *immediate);
void sg_lane_close(sg_lane *lane);
bool sg_lane_is_idle(const sg_lane *lane);
ze_result_t sg_lane_wait(sg_lane *lane, uint64_t timeout);

/* With the root's lock held: a command that the engine may start now, and its lane; it is done; and all that
 * is queued is dropped, while nothing is executed. */
sg_flight *sg_next_flight(sg_root *root, uint32_t engine_bit, sg_lane **lane);
void sg_lane_finish(sg_lane *lane, sg_flight *flight);
void sg_lane_drop(sg_lane *lane);

/* Threads for the first engines of a root device. Its lock is held. */
ze_result_t sg_root_start(sg_root *root, uint32_t engines);

/* Lets the engines finish the command whose event or fence the host may have seen signalled already. */
void sg_device_settle(sg_device *device);
void sg_root_ring(sg_root *root);
void sg_ring_all(void);

/* Queue groups: the compute engines', then the copy engines'. */
enum { SG_COMPUTE_ORDINAL, SG_COPY_ORDINAL, SG_ORDINAL_COUNT };
uint32_t sg_queues_of(uint32_t ordinal);
ze_result_t sg_check_queue_desc(const ze_command_queue_desc_t *desc);

/* Flags of lists and of immediate ones, which the oldest headers do not have. */
enum { SG_LIST_IN_ORDER = 1 << 3, SG_QUEUE_IN_ORDER = 1 << 1 };

/* The rest is for engine threads. Counts for the device, and for the root device that it belongs to. */
void sg_count(sg_device *device, sg_counter counter, uint64_t amount);

/* Where a root device with sub-devices has its n-th piece of work done; any other device does it itself. */
sg_device *sg_tile_for(sg_device *device, uint64_t n);

/* A slice is a tile; an engine that computes is the first thread of an EU in each. */
uint32_t sg_slices_of(const sg_device *device);

/* With the root's lock held. The second returns the time now. */
void sg_busy_begin(sg_execution *execution);
uint64_t sg_busy_end(const sg_execution *execution);

/* Of the calling thread, if it is an engine. */
void sg_publish_thread_counters(void);
extern _Thread_local sg_engine_thread *sg_own_engine;

/* Before the thread is started. */
void sg_engine_prepare_sampling(sg_engine_thread *engine);

/* Before a recorded list is submitted, on the thread that does. */
void sg_list_submit(sg_list *list);

/* With ACTIVATION_RACES: calls that must not be under way at the same time. The first returns what the second
 * needs. */
bool sg_race_begin(sg_root *root, sg_racer racer);
void sg_race_end(sg_root *root, sg_racer racer, bool has_begun);

/* For that: with ACTIVATE_AT_FIRST_USE, its queries may be the first. */
void sg_queries_use(sg_list *list);

/* ---- memory and modules -------------------------------------------------------------------------------- */

enum { SG_MAX_ALIGNMENT = 1 << 21, SG_MAX_FILL_PATTERN = 128, SG_MAX_GROUP_SIZE = 1024 };

/* An item is a thread, and all items of the largest group live at the same time: the one subslice has a place
 * for each. */
enum { SG_THREADS_PER_EU = 8, SG_EUS = SG_MAX_GROUP_SIZE / SG_THREADS_PER_EU, SG_MAX_LOCAL_MEMORY = 1 << 16 };
#define SG_MAX_ALLOCATION ((uint64_t)1 << 32)

/* Does [pointer, pointer + size) stay within the allocation that it begins in, if it begins in one? */
bool sg_memory_holds(const void *pointer, size_t size);
bool sg_memory_is_known(const void *pointer);
void sg_memory_unload(void);
void sg_modules_unload(void);

#pragma GCC visibility pop

#endif
