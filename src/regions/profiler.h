/* What a profiler is made of: slots, lists, regions, paths, passes. */

#pragma once

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/map.h"
#include "base/platform.h"
#include "base/shared.h"
#include "base/system.h"
#include "base/threads.h"
#include "metrics/driver.h"
#include "metrics/groups.h"
#include "metrics/selection.h"
#include "metrics/statistics.h"

enum {
    ZT__BATCH = 64,
    ZT__MAX_REGIONS = 65536,
    ZT__MAX_PATHS = 16384, /* and one more, for the samples of all others */
    ZT__PATHS_PER_BLOCK = 128,
    ZT__MAX_DEPTH = 64,
    ZT__TIMES_PASS = ZT__MAX_PASSES, /* of slots for times alone, where other slots have metrics */
    ZT__STAMPS = 4 /* of a slot: begin and end of its region, or a ze_kernel_timestamp_result_t */
};

/* The library's own tests define this to stop where an invariant does not hold. */
#ifndef ZT__INVARIANT
#define ZT__INVARIANT(condition) ((void)0)
#endif

typedef struct zt__list zt__list;

typedef struct zt__slot zt__slot;

/* The page THE LIFE OF A SLOT explains each state. */
typedef enum zt__slot_state {
    ZT__SLOT_FREE,
    ZT__SLOT_OPEN,
    ZT__SLOT_RECORDED,
    ZT__SLOT_PENDING,
    ZT__SLOT_READING,
    ZT__SLOT_ARMED,
    ZT__SLOT_PARTIAL,
    ZT__SLOT_RETIRED,
    ZT__SLOT_STATE_COUNT
} zt__slot_state;

/* Whether a slot may go from one state to another, and whether that counts one more sample as begun
   (ZT__BEGINS) or one less (ZT__BACK). */
typedef enum zt__transition { ZT__NO, ZT__OK, ZT__BEGINS, ZT__BACK } zt__transition;

/* In which condition the collector leaves a slot. */
typedef enum zt__slot_condition {
    ZT__NOT_READY,  /* it is read again */
    ZT__NEVER_RUNS, /* it has not run since it was last read, and never will */
    ZT__RESET,
    ZT__NOT_RESET,
    ZT__STILL_USED, /* the device may still write to it */
    ZT__CONDITION_COUNT
} zt__slot_condition;

/* What measures a slot. */
typedef enum zt__measurement {
    ZT__SURROUNDING_COMMANDS, /* queries or time stamps, appended before and after the work */
    ZT__EVENT_STAMPS,         /* the time stamps of the kernel in the event that its launch signals */
    ZT__COPIED_STAMPS,        /* the same, copied by a command that waits for the event: until it has run, the
                                 event must not be reset */
    ZT__KEPT_EVENT_STAMPS,    /* the same in an event of the application, which the launch signals */
    ZT__KEPT_EVENT_COPY       /* the same, copied before a command resets that event */
} zt__measurement;

typedef struct zt__path zt__path;

/* A region, which its name identifies. Its statistics are those of its paths together. */
typedef struct zt__region_record {
    const char *name;
    uint32_t index;
    zt__path *paths; /* on which it was begun, the newest first */
    uint64_t lost, dropped;
    double operations; /* of a sample; 0: not known */
} zt__region_record;

/* Two regions are on the same path if they have the same name and are inside regions on the same path. */
typedef struct zt__path_key {
    zt__path *outer; /* of the region around it, or the profiler's root */
    zt__region_record *region;
} zt__path_key;

/* What was collected of a region inside certain others. Paths neither move nor disappear. */
struct zt__path {
    zt__path_key key;
    uint32_t index, depth;  /* a path inside no other has depth 1 */
    zt__path *next;         /* of the same region */
    zt__path *inner;        /* the paths directly inside, the newest first, */
    zt__path *next_inner;   /* and the next of those in key.outer */
    int is_repeated;        /* its region is also one of those around it */
    int outlives_outer;     /* a region on it has ended after the one around that */
    int is_own_unknown;     /* regions directly inside were not measured, or have outlived it */
    uint64_t missing;       /* samples in flight, lost or dropped, and without a GPU time */
    uint64_t with_metrics;  /* collected samples that have metrics */
    uint64_t bytes;         /* that collected samples have copied or filled, */
    double bytes_ns;        /* and the GPU time of these samples */
    double launch_error_ns; /* the largest error of a launch latency */
    zt__statistics statistics;
    zt__moments *streamed; /* for each metric of attached streams */
    uint32_t streamed_count;
};

/* What a region is around. */
typedef enum zt__region_kind {
    ZT__REGION_OF_APPLICATION, /* begun by the application, around no other region */
    ZT__REGION_AROUND_OTHERS,  /* begun by the application, around others */
    ZT__REGION_OF_KERNEL,      /* this and the next by the tracer */
    ZT__REGION_OF_COPY,
    ZT__REGION_OF_SYNC /* a barrier, or a wait for events */
} zt__region_kind;

/* Where a region comes from, for the timeline. Threads are those of the system; 0 is not known. */
typedef struct zt__origin {
    const char *list_name; /* or NULL */
    uint32_t appended_by;  /* the thread that began it */
    uint32_t submitted_by; /* that thread, or the one that has executed its list */
    uint32_t append_ns;    /* from its begin to its end on the host */
    uint32_t executions;   /* of its list. After the first, slot->submitted_ns is of that call */
    uint64_t appended_ns;  /* host time of its begin */
    zt__region_kind kind;
    uint32_t group_count[3], group_size[3]; /* of a launch that was traced; 0: not known */
} zt__origin;

struct zt__slot {
    zt__slot_state state;      /* changed only by zt__move_slot */
    zt__slot *next, *previous; /* in the chain of free slots (`next` only), or in that of its list */

    /* its region, and the list that has its commands */
    zt__region_record *region;
    zt__path *path;      /* of that region */
    zt__slot *outer;     /* while it is open: the region around it, or NULL */
    zt__list *list;      /* NULL: no list has its commands */
    uint64_t number;     /* its list numbers its slots from 1 as they end */
    uint32_t generation; /* Atomic. Increased when a region begins, ends or is dropped: a zt_region with
                            another one is stale */
    uint32_t activation; /* profiler->activation when the region was begun */
    int spans_passes;    /* the region has begun in one pass and ended in another: its sample will be lost */
    int is_dropped;      /* the region was dropped, so it lacks commands: no sample is ever read */
    zt__measurement measurement;
    /* an event of the application whose time stamps are to be read, or NULL. Before a call destroys, resets
       or signals it, the tracer reads them if it has signalled. While the slot is READING, and while the watch
       queries such events, that call waits */
    ze_event_handle_t kept;
    int was_signalled;        /* it had signalled before the launch, */
    uint64_t signalled_end;   /* with time stamps of which this is the end */
    int has_saved_stamps;     /* the time stamps of the launch were read, */
    uint64_t saved_stamps[2]; /* and these are begin and end */
    int copy_may_be_late;     /* a reset of the event may overtake the copy: the sample will be lost */
    int trails_event;         /* its last command follows a launch for which the application has an event */
    int is_unordered;       /* its event may signal before the work that is before it on the list has ended */
    uint64_t submitted_ns;  /* host time; it was begun, or zt_execute was called, at this time or later */
    uint64_t not_before_ns; /* host time; what is read next was submitted at this time or later, also if
                               zt_execute did not submit it */
    uint64_t bytes;         /* that its command copies or fills; 0: none, or not known */

    /* for zt_execute: the state in which it found the slot, or FREE if it has not submitted the slot */
    zt__slot_state submitted_from;
    uint32_t overwritten; /* executions whose samples it has counted as overwritten */

    /* for the collector */
    uint64_t failing_since_ns; /* host time since which reading it fails, or 0. It is lost if that goes on */
    int needs_reset;           /* while PARTIAL: it may have run since it was last reset */
    int shows_end;             /* while PARTIAL: its event signals when its commands are complete */
    int may_be_written; /* RETIRED, and the device may still write to it: its pools are never destroyed */

    /* constant */
    uint32_t pass; /* its queries are of this pass's groups */
    ze_event_handle_t event;
    uint64_t *stamps; /* ZT__STAMPS time stamps of the device, or NULL */
    zet_metric_query_handle_t queries[ZT__MAX_GROUPS_IN_PASS];

    zt__origin origin; /* with a timeline; written by the thread that uses the list */
};

/* Slots are made in blocks. */
typedef struct zt__slot_block {
    struct zt__slot_block *next;
    ze_event_pool_handle_t event_pool;
    zet_metric_query_pool_handle_t query_pools[ZT__MAX_GROUPS_IN_PASS];
    uint64_t *stamps;
    uint32_t count;
    zt__slot *slots;
} zt__slot_block;

/* The first query of a pass: see zt__run_first_query(). */
typedef struct zt__first_query {
    zt__slot *slot; /* NULL: there is none, or it is complete */
    ze_command_queue_handle_t queue;
    ze_command_list_handle_t list;
} zt__first_query;

/* Groups that are active together, and the slots for them. */
typedef struct zt__pass {
    zt__group *groups;
    uint32_t group_count;
    uint32_t index;
    uint32_t time_metric; /* GpuTime among the profiler's metrics, or UINT32_MAX */
    uint32_t slot_count;  /* slots that are made or being made */
    zt__slot *first_free, *last_free;
    zt__first_query first_query; /* the device may still execute it */
} zt__pass;

/* What is known about a command list. */
typedef enum zt__list_state {
    ZT__LIST_UNKNOWN,    /* its kind cannot be told, or the query has failed: it is treated as recorded */
    ZT__LIST_RECORDED,   /* recorded, and not known to have run */
    ZT__LIST_SUBMITTED,  /* recorded, and submitted by zt_execute or seen by a tracer */
    ZT__LIST_UNOBSERVED, /* recorded, and known to have run by other means */
    ZT__LIST_IMMEDIATE
} zt__list_state;

struct zt__list {
    ze_command_list_handle_t handle;
    const char *name;     /* of zt_name_list, or NULL */
    zt__list_state state; /* changed only by zt__move_list */
    zt__list *next;
    zt__slot *first, *last; /* slots that ended and still belong to the list, in order of their numbers */
    zt__slot *innermost;    /* the open region that was begun last; `outer` leads to the others. Or NULL */
    uint32_t open_count;    /* regions begun and not ended, or being begun: they keep this record */
    uint64_t begun_ns;      /* host time when the first region of the recording was begun, or earlier */

    /* Numbers of slots. None is higher than `ended`. */
    uint64_t ended;          /* the slot that ended last */
    uint64_t ran_up_to;      /* the last slot whose event has signalled, or that zt_execute has submitted */
    uint64_t final_up_to;    /* all slots up to this one are final, */
    uint64_t complete_up_to; /* or complete: see THE LIFE OF A SLOT */
    uint64_t unsubmitted_up_to; /* zt_execute submits no slot up to this one: it may have been recorded before
                                   a reset that was not seen */

    /* Handles come back. What is read late of a destroyed list says nothing about the next one. */
    uint64_t destroyed_up_to;     /* the last slot of the list that had this handle before */
    int destroyed_was_unobserved; /* that list was UNOBSERVED, and is counted as such */
    int may_be_destroyed;         /* a call was about to destroy it, and may have been refused */

    int keeps_events; /* slots of it have kept events of the application */

    /* for the last zt_execute */
    uint32_t submissions; /* how often the call that is being made names the list */
    int overlaps;         /* it was submitted before the one before it was known to be complete, so events do
                             not show which of them has ended. Until a region is begun, or their queue is
                             seen to be idle */
    uint32_t overwritten; /* samples of the execution before it that it overwrites */
    uint64_t ran_before, complete_before; /* the numbers before it, restored if the driver refuses it */
    int overlapped_before;
    ze_command_queue_handle_t queue; /* of the last execution and, if executions overlap, of all of these.
                                        NULL: not known, or not the same */

    /* for a watch, when it last looked: the first slot that had not signalled, its submission, and since when
       it is known to be the first; and the slots up to which all had, with the last submission of these */
    uint64_t watched_number, watched_submission_ns, watched_since_ns;
    uint64_t watched_signalled_up_to, watched_signalled_ns;
};

/* A metric of a report: if it is not 0, the sample is lost. */
typedef struct zt__lost_flag {
    uint32_t column;
    zt_cause cause;
} zt__lost_flag;

/* When a sample ran, for the timeline. */
typedef struct zt__sample_times {
    ze_command_list_handle_t list;
    uint64_t begin_ticks, end_ticks; /* time stamps of the device */
    int is_kernel;                   /* they are those of a kernel, else global ones */
    uint64_t not_before_ns;          /* host time; slot->not_before_ns */
    uint64_t not_after_ns;           /* host time; it was complete at this time */
} zt__sample_times;

/* Samples that are missing on the timeline: of one region, one after the other, for one reason. */
typedef struct zt__missing {
    const zt__region_record *region; /* NULL: not known */
    ze_command_list_handle_t list;   /* NULL: not known */
    const char *list_name;           /* or NULL */
    uint64_t since_ns;               /* host time at which the first was submitted, or begun and dropped */
    zt_cause cause;                  /* ZT_CAUSE_COUNT: its time is uncertain */
    uint32_t count;
    uint64_t kept_before; /* samples that were kept, ever, when the last of these was found missing */
} zt__missing;

/* What becomes of the sample of a slot that is read. */
typedef enum zt__outcome {
    ZT__NO_SAMPLE, /* there is none, or none yet */
    ZT__READ,
    ZT__LOST
} zt__outcome;

/* A slot that the collector reads. */
typedef struct zt__reading {
    zt__slot *slot;
    zt__slot_state from;
    ze_event_handle_t kept; /* slot->kept */
    int is_final;           /* it was, before its event was queried */
    int is_immediate;       /* its list was then. Later the handle of that may have come back */
    int is_gone;            /* unless its event has signalled, its condition is NEVER_RUNS */
    int is_submitted;       /* this execution was, or its list is immediate */
    int has_signalled;      /* its event has, after this execution */
    zt__slot_condition condition;
    zt__outcome outcome;
    zt_cause cause;     /* why its sample is lost, or will be when it is read; or ZT_CAUSE_COUNT */
    ze_result_t result; /* of the driver call that failed, or SUCCESS */
    const char *call;
    uint32_t report; /* index among the reports of the batch */
    zt__region_record *region;
    int is_unobserved; /* for the message: its sample shows that its list ran without zt_execute */
    zt__sample_times times;
} zt__reading;

/* The slots that are read and calculated together. Only the thread that holds the collector uses this. */
typedef struct zt__batch {
    uint32_t count;
    const zt__pass *pass; /* all are of one pass */
    zt__reading readings[ZT__BATCH];
    uint32_t report_count;
    uint8_t *raw[ZT__MAX_GROUPS_IN_PASS]; /* for each group, the reports one after the other */
    size_t raw_size[ZT__MAX_GROUPS_IN_PASS];
    zet_typed_value_t *values[ZT__MAX_GROUPS_IN_PASS]; /* and the values calculated from them */
    size_t value_count[ZT__MAX_GROUPS_IN_PASS];
    double *rows; /* one for each reading */
} zt__batch;

/* What was measured where and when, for those who read a report later. "" and 0: not known. */
typedef struct zt__facts {
    char driver_version[32];
    char uuid[40];
    char pci_address[32];
    char program[1024]; /* its command line */
    uint32_t core_clock_mhz;
    uint64_t timer_hz; /* of the device's time stamps */
    uint64_t opened_s; /* when the profiler was opened, in seconds since 1970 (UTC) */
} zt__facts;

/* What the device can do at the most, a second; 0: not known. */
typedef struct zt__peaks {
    double bytes, operations;
    char source[64];
} zt__peaks;

struct zt_profiler {
    uint32_t id; /* index among the process's profilers, plus ZT__MAX_PROFILERS * a serial number */
    ze_context_handle_t context; /* NULL, like the device, where the profiler has only results */
    ze_device_handle_t device;
    zt_config config; /* with defaults filled in; after zt_open, its lists of names are NULL */
    zt__driver driver;
    zt__diagnostics diagnostics;
    zt_availability availability;
    zt__message_text availability_text;
    char device_name[ZE_MAX_DEVICE_NAME];
    zt__facts facts;
    double ns_per_tick;        /* of the device's time stamps */
    uint64_t tick_mask;        /* of the global ones, */
    uint64_t kernel_tick_mask; /* and of those of kernels */
    uint32_t tiles_stamped; /* on so many tiles a kernel has time stamps of its own. 1: no separate tiles */
    int is_stamped;         /* regions write time stamps of the device */

    /* what is measured: constant once the profiler is open */
    zt__selection selection;
    zt_metric *metrics;
    uint32_t metric_count;
    zt__lost_flag *lost_flags;
    uint32_t lost_flag_count;
    uint32_t pass_count;
    uint32_t tile_count;      /* 0 if the device has no separate tiles */
    zt__sample_layout layout; /* of a sample: GPU time; metrics; GPU time of the samples with the metrics of
                                 each pass, if there are metrics; metrics of each tile, if any; latencies */
    uint32_t row_length;      /* its columns */
    int keeps_latencies;      /* for quantiles */
    uint32_t *kept_columns;   /* of the layout */
    zt_aggregation *column_aggregations;
    char *columns;          /* of the table, from the configuration; NULL: as many as fit */
    char *reports;          /* of ZT_REPORT, to be written when the profiler is closed; NULL: none */
    uint32_t report_number; /* 1 for the first profiler that has such reports */
    char *strings;          /* the texts of the metrics, in a profiler from zt_unpack */
    zt__pass passes[ZT__MAX_PASSES + 1]; /* the last, ZT__TIMES_PASS, has slots without queries */

    zt__timed_mutex collector; /* reading, calculating, delivering: one thread at a time */
    zt__batch batch;           /* guarded by the collector, like the next */
    uint32_t collections;      /* completed. Atomic */

    zt__mutex mutex; /* guards what follows; held for bookkeeping only */
    zt_counts counts;
    zt__peaks peaks;
    int peaks_are_overridden; /* by ZT_PEAKS */
    uint64_t causes[ZT_CAUSE_COUNT];
    uint32_t state_counts[ZT__SLOT_STATE_COUNT]; /* slots in each state */
    zt__slot_block *blocks;
    uint64_t no_growth_until_ns; /* making slots has failed: it is not tried again before this time */
    uint32_t active_pass;
    uint32_t activation; /* number of changes of the pass */
    zt__map names;       /* to region records */
    zt__region_record **regions;
    uint32_t region_count, region_capacity;
    zt__map path_map; /* to paths, by their keys */
    zt__path *path_blocks[ZT__MAX_PATHS / ZT__PATHS_PER_BLOCK + 1];
    uint32_t path_count, path_capacity;
    zt__path root;      /* around all paths */
    zt__map list_map;   /* to lists */
    zt__map list_names; /* of zt_name_list, to themselves; each stays until the profiler is closed */
    zt__list *lists;
    zt__list *unused_lists; /* records for reuse */
    uint32_t list_count, lists_after_cleaning;
    int has_submitted;    /* zt_execute has submitted a list, or the tracer has seen it */
    uint32_t uncollected; /* regions ended on lists that may be immediate since the last collection began */
    int is_delivering;    /* the collector delivers samples to the application */
    int thread_is_idle;   /* the thread below sleeps for long, so it has to be woken */
    uint64_t begun_at_last_look; /* counts.begun when the thread last ran */
    int thread_is_thorough;      /* the next collection of the thread is thorough */
    zt__thread thread;           /* collects, with config.thread */
    int watch_queries_kept;      /* the watch queries events of the application that slots keep */

    /* data of later floors, and functions that these set because this floor has to call them */
    struct zt__timeline *timeline;
    struct zt__stream_data *attached_streams; /* also those that are closed; guarded by the mutex */
    uint32_t streamed_count;                  /* metrics of all of them */
    struct zt__tracer *tracer;
    void (*before_collection)(zt_profiler *profiler); /* no mutex held */
    void (*batch_collected)(zt_profiler *profiler);   /* no mutex held */
    void (*sample_collected)(zt_profiler *profiler, const zt__reading *reading,
                             double *row); /* fills in the latencies. mutex held */
    /* A sample is missing, or with `by` -1 it is not after all. mutex held */
    void (*sample_missing)(zt_profiler *profiler, const zt__missing *missing, int by);
    /* A call begins to execute lists, or with 0 this thread's call has returned. mutex held */
    void (*lists_executed)(zt_profiler *profiler, uint64_t begin_ns);
    int (*stop_tracing)(zt_profiler *profiler); /* returns 0 if the profiler cannot be closed now */
    void (*free_tracer)(zt_profiler *profiler);
    struct zt__loaded *loaded; /* of the tracer. Atomic, like the next two */
    struct zt__hotspots *hotspots;
    void (*collect_hotspots)(zt_profiler *profiler); /* reads samples of instructions. No mutex held */
    void (*free_hotspots)(zt_profiler *profiler);
    struct zt__kernels *kernels; /* NULL: none is known. Atomic */
    void (*free_kernels)(zt_profiler *profiler);
    uint64_t unknown_launches; /* of kernels for which there was no room; guarded by the mutex */
    struct zt__watch *watch;   /* from the first zt_watch on. Atomic */
    int (*end_watch)(zt_profiler *profiler); /* returns 0 if its thread hangs */
    void (*free_watch)(zt_profiler *profiler);
    ze_result_t (*open_configured)(ze_context_handle_t context, ze_device_handle_t device,
                                   const zt_config *complete,
                                   zt_profiler **profiler); /* zt__open_configured */
};

/* Public functions that only read take a constant profiler, but have to lock it. */
ZT__PRIVATE zt_profiler *zt__mutable(const zt_profiler *profiler);

ZT__PRIVATE zt__diagnostics *zt__diagnostics_of(const zt_profiler *profiler);

ZT__PRIVATE const zt_allocator *zt__allocator_of(const zt_profiler *profiler);

extern const unsigned char zt__transitions[ZT__SLOT_STATE_COUNT][ZT__SLOT_STATE_COUNT];

extern const unsigned char zt__states_after_reading[ZT__CONDITION_COUNT][3];
