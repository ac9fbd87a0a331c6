/* How work gets from command lists to the device thread: tapes of commands, lanes that play them.
 * Shared by list.c, queue.c, module.c and driver.c. */
#ifndef SOFTGPU_WORK_H
#define SOFTGPU_WORK_H

#include "softgpu.h"
#include <sys/types.h>

#pragma GCC visibility push(hidden)

typedef struct sg_event_use {
    sg_event *event;
    uint64_t serial;
} sg_event_use;

typedef struct sg_command {
    size_t bytes; /* of the whole record */
    sg_run run;
    void *argument; /* behind the waits */
    sg_event_use signal;
    sg_list *recorded;  /* the list that it was recorded on, where it runs on an immediate one; or NULL */
    bool ends_recorded; /* it is the last of that list's commands */
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

/* An in-order stream of commands that the device thread plays: an immediate list, or the lists of a queue. */
typedef struct sg_lane {
    struct sg_lane *_Atomic next;
    sg_device *device;
    sg_engine engine;
    sg_list *immediate; /* or NULL: then the entries count */
    sg_cursor cursor;
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
    bool closed;
    bool synchronous;
    _Atomic uint32_t executions; /* submitted and not done */
    sg_tape tape;
    bool is_immediate;
    bool is_mutable;
    sg_captured captured;
    sg_lane lane; /* of an immediate list */
};

/* One for each root device: its thread and the lanes it serves. */
struct sg_root {
    sg_device *device;
    sg_device *sub_devices[SG_MAX_SUB_DEVICES];
    pthread_mutex_t lanes_lock; /* of those who add and remove */
    sg_lane *_Atomic lanes;
    pthread_mutex_t running; /* held while commands are looked at or executed */
    _Atomic uint32_t pauses;
    pthread_mutex_t bell_lock;
    pthread_cond_t bell;
    _Atomic uint64_t rings;
    _Atomic bool asleep, started, stopping;
    pid_t process; /* in which the thread was started */
    _Atomic int32_t watchers;
    pthread_t thread, thread_self; /* the second set by the thread */
    clockid_t cpu_clock;           /* likewise */
    _Atomic bool cpu_clock_is_set;
};

/* May the list be executed by a queue or an immediate list of this context, root device and ordinal? */
ze_result_t sg_check_execution(const sg_list *list, const sg_object *context, const sg_device *device,
                               uint32_t ordinal);

sg_root *sg_root_at(uint32_t index);
void sg_root_stop(sg_root *root);
bool sg_is_stopping(const sg_device *device); /* a running kernel gives up */

/* The first command that was not played, or NULL; and: it is played. An immediate list's tape has its chunks
 * back once they are played. */
sg_command *sg_tape_peek(sg_tape *tape, sg_cursor *cursor, bool give_back);
void sg_tape_step(sg_cursor *cursor, const sg_command *command);

/* Lanes. Creating one starts the device thread, where it does not run yet. */
ze_result_t sg_lane_open(sg_lane *lane, sg_device *device, uint32_t ordinal, sg_list *immediate);
void sg_lane_close(sg_lane *lane);
bool sg_lane_is_idle(const sg_lane *lane);

/* Lets the device thread finish the command whose event or fence the host may have seen signalled already. */
void sg_device_settle(sg_device *device);
ze_result_t sg_lane_wait(sg_lane *lane, uint64_t timeout);
void sg_root_ring(sg_root *root);
void sg_ring_all(void);

/* Queue groups: the compute engine's, then the copy engine's. */
enum { SG_COMPUTE_ORDINAL, SG_COPY_ORDINAL, SG_ORDINAL_COUNT, SG_QUEUES_PER_GROUP = 4 };
ze_result_t sg_check_queue_desc(const ze_command_queue_desc_t *desc);

/* The rest is for the device thread. Counts for the device, and for the root device that it belongs to. */
void sg_count(sg_device *device, sg_counter counter, uint64_t amount);

/* Where a root device with sub-devices has its n-th piece of work done; any other device does it itself. */
sg_device *sg_tile_for(sg_device *device, uint64_t n);

void sg_busy_begin(sg_device *device, sg_engine engine, uint64_t now);
uint64_t sg_busy_end(sg_device *device, sg_engine engine); /* the time now */
void sg_publish_thread_counters(sg_root *root);

/* Before a list is submitted, on the thread that does: with ACTIVATE_AT_FIRST_USE, its queries may be the
 * first. */
void sg_queries_use(sg_list *list);

/* ---- memory and modules -------------------------------------------------------------------------------- */

enum { SG_MAX_ALIGNMENT = 1 << 21, SG_MAX_FILL_PATTERN = 128, SG_MAX_GROUP_SIZE = 1024 };
#define SG_MAX_ALLOCATION ((uint64_t)1 << 32)

/* Does [pointer, pointer + size) stay within the allocation that it begins in, if it begins in one? */
bool sg_memory_holds(const void *pointer, size_t size);
bool sg_memory_is_known(const void *pointer);
void sg_memory_unload(void);
void sg_modules_unload(void);

#pragma GCC visibility pop

#endif
