/* What a profiler is made of: probes, recordings, lists, regions, paths, passes. */

#pragma once

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/map.h"
#include "base/platform.h"
#include "base/shared.h"
#include "base/system.h"
#include "base/threads.h"
#include "base/timing.h"
#include "metrics/driver.h"
#include "metrics/groups.h"
#include "metrics/selection.h"
#include "metrics/statistics.h"

enum {
    ZT__MAX_REGIONS = 65536,
    ZT__MAX_PATHS = 16384, /* and one more in each phase and in none, for the samples of all others: */
    ZT__MOST_PATHS = 2 * ZT__MAX_PATHS + 1,
    ZT__PATHS_PER_BLOCK = 128,
    ZT__MAX_DEPTH = 128,             /* of paths: phases and regions */
    ZT__ENTRIES_PER_BLOCK = 128,     /* more than a stack of phases is deep */
    ZT__TIMES_PASS = ZT__MAX_PASSES, /* of probes for times alone, where other probes have metrics */
    ZT__STAMPS = 2                   /* of a probe */
};

/* The library's own tests define this to stop where an invariant does not hold. */
#ifndef ZT__INVARIANT
#define ZT__INVARIANT(condition) ((void)0)
#endif

typedef struct zt__list zt__list;

typedef struct zt__probe zt__probe;

typedef struct zt__recording zt__recording;

typedef struct zt__sample_times zt__sample_times;

/* The page THE LIFE OF A RECORDING explains each state. */
typedef enum zt__recording_state {
    ZT__RECORDING_OPEN,
    ZT__RECORDING_READY,
    ZT__RECORDING_SUBMITTING,
    ZT__RECORDING_SUBMITTED,
    ZT__RECORDING_READING,
    ZT__RECORDING_DIRTY,
    ZT__RECORDING_CLOSED,
    ZT__RECORDING_STATES
} zt__recording_state;

/* How the last execution of a recording overlaps with those before it, which were not read. */
typedef enum zt__overlap {
    ZT__OVERLAPS_NONE,
    ZT__OVERLAPS_IN_ORDER, /* all are on one queue or list: the last one can be read */
    ZT__OVERLAPS_MIXED     /* nothing shows which execution a sample would be of: all are lost */
} zt__overlap;

/* What the event of the first probe of a recording shows. */
typedef enum zt__first_shows {
    ZT__FIRST_SHOWS_NOTHING,
    ZT__FIRST_WAS_NEW, /* it had not signalled when the recording was submitted */
    ZT__FIRST_HAS_RUN /* it has signalled since. So its list was not reset after it was appended: all have run */
} zt__first_shows;

/* How a probe is read and reset: by the commands around its region, or by what a later floor sets. */
typedef struct zt__way {
    /* Returns SUCCESS if the device is done with what the probe measures, and then stores when that ran, unless
       `times` is NULL; NOT_READY if it is not done; INVALID_SYNCHRONIZATION_OBJECT if what shows this was
       taken away; else the result of the call that failed. With `has_ended`, the device is known to be done with what
       the library has appended: it need not be asked. */
    ze_result_t (*read)(zt_profiler *profiler, zt__probe *probe, int has_ended, zt__sample_times *times,
                        const char **call);
    ze_result_t (*reset)(zt_profiler *profiler, zt__probe *probe, const char **call);
    int is_foreign; /* the device writes nothing that is the library's */
} zt__way;

typedef struct zt__path zt__path;

/* A region or a phase, which its name identifies. Its statistics are those of its paths together. */
typedef struct zt__region_record {
    const char *name;
    uint32_t index;
    int is_phase;
    zt__path *paths;                    /* on which it was begun, the newest first */
    struct zt__region_record *follower; /* that was begun after it on a list, the last time. Or NULL */
    uint64_t lost, dropped;
    double operations; /* of a sample; 0: not known */
} zt__region_record;

/* Two regions are on the same path if they have the same name and are inside regions on the same path. */
typedef struct zt__path_key {
    zt__path *outer; /* of the region around it, or the profiler's root */
    zt__region_record *region;
} zt__path_key;

/* Memory that the application has allocated in a phase, or in none, as far as a tracer has watched it. */
typedef struct zt__phase_memory {
    int is_watched;       /* it was, when something was allocated in the phase, or the phase has ended */
    uint64_t allocations; /* that were made in it, */
    uint64_t unfreed, unfreed_bytes;
    int has_ended;                  /* the next two are known: what was in use on the device, */
    uint64_t peak_bytes, end_bytes; /* at most while it was open, and when it last ended */
} zt__phase_memory;

/* What was read of energy, clock and throttling, summed over time. */
typedef struct zt__power_sums {
    double joules, energy_s;     /* and for how many seconds that is known, as in the next line */
    double throttled_s, clock_s; /* seconds in which the clock was throttled */
    double throttled_by_s[ZT_THROTTLE_REASONS];
    double megahertz_s, awake_s; /* the clock while it was not 0, weighted by time */
} zt__power_sums;

/* What was collected of a region inside certain others, or of a phase. Phases stand outside regions. Paths neither
   move nor disappear. */
struct zt__path {
    zt__path_key key;
    uint32_t index, depth; /* a path inside no other has depth 1 */
    zt__path *next;        /* of the same region */
    zt__path *inner;       /* the paths directly inside, the newest first, */
    zt__path *next_inner;  /* and the next of those in key.outer */
    int is_repeated;       /* its region is also one of those around it */
    uint32_t device;       /* of a report of several devices: its number, from 1; 0: it is of none */
    int outlives_outer;    /* a region on it has ended after the one around that */
    int is_own_unknown;    /* regions directly inside were not measured, or have outlived it */
    uint64_t lost, dropped;
    uint64_t missing;       /* samples in flight, lost or dropped, and without a GPU time; open regions */
    uint64_t kept;          /* collected samples that are on the timeline */
    uint64_t with_metrics;  /* collected samples that have metrics */
    uint64_t bytes;         /* that collected samples have copied or filled, */
    double bytes_ns;        /* and the GPU time of these samples */
    double launch_error_ns; /* the largest error of a launch latency */
    /* Of a phase, this and what is above are of all that was submitted in it, but for what ran inside of a region that
       counts in it, too. */
    zt__statistics statistics;
    zt__moments *streamed; /* for each metric of attached streams */
    uint32_t streamed_count;

    /* of a phase */
    zt__statistics entries;        /* the GPU times of its entries */
    uint64_t entered;              /* how often it was begun and ended */
    uint64_t incomplete;           /* entries with samples that are lost, dropped or without a GPU time */
    uint64_t host_ns, host_own_ns; /* of these entries: all, and outside of the phases inside */
    double host_wait_ns;           /* of host_ns, waiting for the device. NaN: not known of all entries */
    zt__power_sums power;          /* of those that are long enough, */
    double power_s;                /* and the seconds of all since power is read */
    zt__phase_memory memory;       /* also of the root */
};

/* An entry of a phase with work of several profilers that report together on one device: contexts of it. Each profiler has
   its part; that whose part is over last counts the whole. */
typedef struct zt__whole_entry {
    zt_allocator allocator;
    zt__mutex mutex;
    uint32_t parts; /* that are not over */
    int is_incomplete, has_work;
    double gpu_ns; /* of the parts that are over */
} zt__whole_entry;

/* One entry of a phase, from its begin until it has ended and all that was submitted in it is collected. */
typedef struct zt__entry {
    struct zt__entry *next; /* in the pool, or among those that have ended */
    uint32_t number;        /* in the process */
    zt__path *path;
    struct zt__entry *outer; /* of the phase around it, or NULL */
    zt__whole_entry *whole;  /* of which this is a part. NULL: it is all */
    uint32_t uses;           /* samples that are not collected, open regions, and entries inside */
    int is_open, is_incomplete, has_work;
    double gpu_ns;
    uint64_t begun_ns; /* host time, */
    uint32_t thread;   /* and thread of the system, as in zt__phase_frame and zt__phase_span */
} zt__entry;

/* What a region is around. */
typedef enum zt__region_kind {
    ZT__REGION_OF_APPLICATION, /* begun by the application, around no other region */
    ZT__REGION_AROUND_OTHERS,  /* begun by the application, around others */
    ZT__REGION_OF_KERNEL,      /* or a graph; this and the next by the tracer */
    ZT__REGION_OF_COPY,
    ZT__REGION_OF_SYNC /* a barrier, or a wait for events */
} zt__region_kind;

/* Where a region comes from, for the timeline. Threads are those of the system; 0 is not known. */
typedef struct zt__origin {
    const char *list_name; /* or NULL */
    uint32_t appended_by;  /* the thread that began it */
    uint32_t submitted_by; /* that thread, or the one that has executed its list */
    uint32_t append_ns;    /* from its begin to its end on the host */
    uint32_t executions;   /* of its list. After the first, submitted_ns is of that call */
    uint32_t entry;        /* number of the entry of a phase in which it was submitted; 0: none */
    uint64_t appended_ns;  /* host time of its begin */
    zt__region_kind kind;
    uint32_t group_count[3], group_size[3]; /* of a launch that was traced; 0: not known */
} zt__origin;

/* What one sample needs. It has no state of its own: it is in the pool of its pass, open, or in a recording. */
struct zt__probe {
    zt__probe *next; /* in the pool or the recording */
    zt__region_record *region;
    zt__path *path;   /* of the region, or of those that have no path of their own */
    zt__list *list;   /* while it is open: its list, */
    zt__probe *outer; /* and the region around it, or NULL */
    zt__entry *entry; /* of its sample, until that is collected. NULL: none */
    const zt__path
        *outer_phase; /* of a region around it, whose time includes that of the sample. NULL: none */
    const zt__phase *appended_in; /* the phase in which it was begun, or NULL */
    uint64_t number;              /* its position among all regions that have ended on the list */
    uint64_t owed;                /* the place of its sample among profiler->owed */
    uint32_t generation; /* Atomic. Increased when a region begins, ends or is dropped: a zt_region with
                            another one is stale */
    uint32_t activation; /* profiler->activation when the region was begun */
    const zt__way *way;
    int is_due;       /* its sample is counted as begun, and not yet as collected, lost or dropped */
    int is_read;      /* in a queue: by the visit that is in progress, which clears is_due at its end */
    int is_settled;   /* all of the last execution was read, and reset */
    int is_dropped;   /* its commands are not all on the list: it has no sample */
    int shows_end;    /* `way->read` shows when the device is done with it */
    int is_unordered; /* it may end before what is before it on the list */
    int spans_passes; /* the region was begun in one pass, and ended in another: its sample is lost */
    int has_trail;    /* commands of the library follow a launch that signals an event of the application */
    int is_retired;   /* it is never used again */
    int needs_reset; /* it is read, but not reset: the driver has refused, or the device may not have begun it */
    int may_be_written;        /* the device may still write to it: its pools are never destroyed */
    uint32_t failures;         /* how often in a row the driver has failed to read or reset it */
    uint64_t failing_since_ns; /* the host time of the first of these */
    uint64_t begun_ns;         /* host time; it was begun at this time or later */
    uint64_t bytes;            /* that its command copies or fills; 0: none, or not known */
    uint32_t submissions;      /* of its list that were counted. Atomic */

    /* constant */
    uint32_t pass; /* its queries are of this pass's groups */
    ze_event_handle_t event;
    uint64_t *stamps; /* begin and end: two time stamps of the device, or NULL */
    zet_metric_query_handle_t queries[ZT__MAX_GROUPS_IN_PASS];

    /* of few */
    zt__path *placed; /* its path in recording->next_phase; NULL without memory */
    int source_state; /* this and the next two are the way's: what it has of an event that it has borrowed */
    void *source;
    ze_event_handle_t borrowed;
    zt__origin origin; /* with a timeline; written by the thread that uses the list */
};

typedef struct zt__entry_block {
    struct zt__entry_block *next;
    zt__entry entries[ZT__ENTRIES_PER_BLOCK];
} zt__entry_block;

/* Probes are made in blocks. */
typedef struct zt__probe_block {
    struct zt__probe_block *next;
    ze_event_pool_handle_t event_pool;
    zet_metric_query_pool_handle_t query_pools[ZT__MAX_GROUPS_IN_PASS];
    uint64_t *stamps;
    uint32_t count;
    zt__probe *probes;
} zt__probe_block;

/* The first query of a pass: see zt__run_first_query(). */
typedef struct zt__first_query {
    zt__probe *probe; /* NULL: there is none, or it is complete */
    ze_command_queue_handle_t queue;
    ze_command_list_handle_t list;
} zt__first_query;

/* Groups that are active together, and the probes for them. */
typedef struct zt__pass {
    zt__group *groups;
    uint32_t group_count;
    uint32_t index;
    uint32_t time_metric; /* GpuTime among the profiler's metrics, or UINT32_MAX */
    uint32_t probe_count; /* probes that are made or being made */
    zt__probe *first_free;
    zt__first_query first_query; /* the device may still execute it */
} zt__pass;

/* A chain of recordings. */
typedef struct zt__chain {
    zt__recording *first, *last;
} zt__chain;

/* The probes of a list between two resets, or those of an immediate list that were not read yet: a queue. */
struct zt__recording {
    zt__recording *next_of_all;     /* in use or not; never freed before the profiler */
    zt__recording *next, *previous; /* in its chain, or in that of unused ones (`next` only) */
    zt__chain *chain;               /* NULL: in none */
    zt__list *list;                 /* NULL: closed */
    ze_command_list_handle_t handle;

    zt__recording_state state;      /* changed only by zt__move_recording */
    zt__recording_state next_state; /* after SUBMITTING or READING */
    int is_queue;
    int may_be_reset; /* the tracer that has seen it was stopped: its list may have been reset unseen, so later
                          executions are treated as unreported */
    int is_look_due;  /* the next visit looks for an execution that nobody has reported, when all is read */
    int has_ended;    /* the device is done with the last execution, */
    int has_run;      /* and at least one probe was seen to be of it. If none is, the list was reset unseen */
    int is_unordered;            /* some of its probes are */
    zt__overlap overlap;         /* of the last execution with those before it */
    zt__first_shows first_shows; /* of the last execution, or of the one that is about to be submitted */
    int ran_again;               /* it ran unreported, and not for the first time */
    int ran_unreported;          /* it ran at all, and its list is counted as such */
    uint32_t calls;              /* of the driver that are in progress with it */
    uint64_t executions;         /* that zt_execute or a tracer has submitted */
    uint32_t visit;              /* the collection that has visited it last */
    uint32_t due;                /* samples that its probes owe */
    zt__probe *first, *last;     /* in the order in which they ended */
    zt__probe *unread;           /* the first that is not settled, or one before it */
    zt__probe *witness;          /* the last that shows its end and is in order, or NULL */
    zt__probe *polled;           /* those before it that are not in order have ended */

    /* of the last execution */
    zt__path *phase; /* in which all of its probes are. NULL: not in one */
    zt__path
        *next_phase;     /* in which they will be when the driver has accepted the call that is in progress */
    const void *runs_on; /* the queue, or the immediate list that it was appended to */
    uint64_t submitted_ns; /* host time */
    uint64_t call_ns;      /* the same, of the call that is in progress */
    uint32_t thread;
};

/* Whether a list is immediate. */
typedef enum zt__list_kind {
    ZT__LIST_UNKNOWN, /* that cannot be queried, or the query has failed: it is treated as recorded */
    ZT__LIST_RECORDED,
    ZT__LIST_IMMEDIATE
} zt__list_kind;

struct zt__list {
    ze_command_list_handle_t handle;
    const char *name; /* of zt_name_list, or NULL */
    zt__list_kind kind;
    int ran_unreported;   /* and is counted as such */
    int may_be_destroyed; /* a call was about to destroy it, and may have been refused */
    zt__list *next;
    zt__recording *current;    /* its recording or queue, or NULL */
    zt__region_record *latest; /* that was begun, or NULL */
    zt__probe *innermost;      /* the open region that was begun last; `outer` leads to the others. Or NULL */
    uint32_t open_count;       /* regions begun and not ended, or being begun: they keep this record */
    uint64_t ended;            /* regions that ended */
    uint64_t begun_ns;         /* host time when the first region of the recording was begun, or earlier */

    /* for a watch, when it last looked: the first region that had not ended, its submission, and since when
       it is known to be the first; and the regions up to which all had, with the last submission of these */
    uint64_t watched_number, watched_submission_ns, watched_since_ns;
    uint64_t watched_ended_up_to, watched_ended_ns;
};

/* A metric of a report: if it is not 0, the sample is lost. */
typedef struct zt__lost_flag {
    uint32_t column;
    zt_cause cause;
} zt__lost_flag;

/* When a sample ran, for the timeline. */
struct zt__sample_times {
    ze_command_list_handle_t list;
    const void *runs_on;             /* as that of its recording; NULL: its list is immediate, or not known */
    uint64_t begin_ticks, end_ticks; /* time stamps of the device */
    int is_kernel;                   /* they are those of a kernel, else global ones */
    uint64_t not_before_ns;          /* host time; it was submitted at this time or later */
    uint64_t not_after_ns;           /* host time; it was complete at this time */
};

/* Samples that are missing on the timeline: of one region, one after the other, for one reason. */
typedef struct zt__missing {
    const zt__region_record *region; /* NULL: not known, like the next */
    zt__path *path;
    ze_command_list_handle_t list; /* NULL: not known */
    const char *list_name;         /* or NULL */
    uint64_t since_ns;             /* host time at which the first was submitted, or begun and dropped */
    zt_cause cause;                /* ZT_CAUSE_COUNT: its time is uncertain */
    uint32_t count;
    uint64_t kept_before; /* samples that were kept, ever, when the last of these was found missing */
} zt__missing;

/* A phase that has ended. */
typedef struct zt__phase_span {
    uint64_t begin_ns, end_ns; /* host time */
    uint32_t path, thread;
    uint32_t entry, outer_entry; /* numbers of this entry and of that of the phase around it; 0: nothing was
                                    submitted in it, or there is none around it */
} zt__phase_span;

/* What becomes of the sample of a probe that is read. */
typedef enum zt__outcome {
    ZT__NO_SAMPLE, /* there is none, or none yet */
    ZT__READ,
    ZT__MISSED /* lost or dropped */
} zt__outcome;

/* What is expected of a probe. */
typedef enum zt__owed {
    ZT__OWED_SAMPLE,    /* a sample, which is counted as begun */
    ZT__OWED_UNCOUNTED, /* one of the first execution that nobody has reported: it is measured */
    ZT__OWED_AGAIN,     /* one of a later execution that nobody has reported: it is counted as lost */
    ZT__OWED_NOTHING,   /* nothing: it was dropped, or its sample is counted already */
    ZT__OWED_COUNT
} zt__owed;

/* What the collector has read of a probe, which another region may use by the time that it is calculated. */
typedef struct zt__reading {
    zt__outcome outcome;
    zt_cause cause; /* why the sample is lost or dropped */
    zt__path *path;
    zt__region_record *region;
    zt__entry *entry; /* this and the next as those of the probe */
    const zt__path *outer_phase;
    int never_began;     /* it was counted as begun because its list may have been immediate, and never ran */
    zt__owed owed;       /* by the probe: UNCOUNTED and AGAIN are counted as begun with the reading */
    int is_unreported;   /* for the message: its list is known to be recorded, and ran unreported */
    int knows_execution; /* it is of the execution that was submitted last */
    uint64_t submitted_ns, bytes;
    double launch_error_ns; /* of its launch latency */
    uint32_t report;        /* index among the reports of the batch */
    ze_result_t result;     /* of the driver call that failed, or SUCCESS */
    const char *call;
    zt__sample_times times;
    uint64_t begin_ns, end_ns; /* host time when it ran, with a timeline */
    zt__origin origin;
} zt__reading;

/* What is calculated together. Only the thread that holds the collector uses this. */
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
    uint64_t packed_s; /* when its statistics were packed, if it was unpacked */
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
    ze_device_handle_t opened_device; /* the same, and stays */
    uint32_t place, tile;             /* of it: zt__find_device_place. Known once it reports with others */
    struct zt__reporting *reporting;  /* with others; NULL: with none. Atomic */
    zt_profiler *next_reporting;      /* atomic */
    int is_closed;                    /* its results are kept for the report of another */
    struct zt__joined *joined; /* it is a report of several profilers: see reports/joining.h. Else NULL */
    zt_config config;          /* with defaults filled in; after zt_open, its lists of names are NULL */
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
    zt__sample_layout entry_layout; /* of an entry of a phase: GPU time */
    uint32_t row_length;            /* columns of a sample */
    int keeps_latencies;            /* for quantiles */
    uint32_t *kept_columns;         /* of the layout */
    zt_aggregation *column_aggregations;
    char *columns;          /* of the table, from the configuration; NULL: as many as fit */
    char *reports;          /* of ZT_REPORT, to be written when the profiler is closed; NULL: none */
    uint32_t report_number; /* 1 for the first profiler that has such reports */
    uint8_t *unpacked;      /* texts, moments and kept samples of a profiler from zt_unpack */
    zt__pass passes[ZT__MAX_PASSES + 1]; /* the last, ZT__TIMES_PASS, has probes without queries */

    uint64_t opened_ns; /* host time; 0: not known */

    zt__timed_mutex collector; /* reading, calculating, delivering: one thread at a time */
    zt__batch batch;           /* guarded by the collector, like the next */
    uint32_t collections;      /* completed. Atomic */

    zt__mutex mutex; /* guards what follows; held for bookkeeping only */
    zt_counts counts;
    zt__busy_calls begins, ends, executions; /* calls of the application, without what is slow inside: */
    zt__busy_calls slow;                     /* collecting, and making probes */
    zt__peaks peaks;
    int peaks_are_overridden; /* by ZT_PEAKS */
    uint64_t causes[ZT_CAUSE_COUNT];
    uint64_t awaited;      /* samples in flight, but for those of DIRTY recordings */
    uint64_t owed;         /* samples that were counted as begun, ever */
    uint32_t open_regions; /* begun, and not ended or dropped */
    zt__probe_block *blocks;
    uint64_t no_growth_until_ns; /* making probes has failed: it is not tried again before this time */
    uint32_t active_pass;
    int has_released_counters; /* its metric groups are not active any more */
    uint32_t activation;       /* number of changes of the pass */
    int returns_to_first_pass; /* the return has failed, and is tried again by zt_collect */
    zt__map names;             /* to the records of regions, */
    zt__map phase_names;       /* and of phases */
    zt__region_record **regions;
    uint32_t region_count, region_capacity;
    zt__map path_map; /* to paths, by their keys */
    zt__path *path_blocks[ZT__MOST_PATHS / ZT__PATHS_PER_BLOCK + 1];
    uint32_t path_count, path_capacity;
    zt__path root;          /* around all paths */
    zt__path **phase_paths; /* by zt__phase.index; NULL: not known yet */
    uint32_t phase_path_count;
    zt__map entries; /* that are open or have samples to be collected, by their numbers */
    zt__entry_block *entry_blocks;
    zt__entry *free_entries, *ended_entries;
    uint32_t free_entry_count;
    int takes_phases; /* phases are reported to it. Atomic */
    uint64_t
        listening_since_ns; /* host time since which they are to this one or others. Constant from then on */
    uint64_t cleared_ns;    /* host time of the last zt_clear: entries that were begun before do not count */
    uint64_t moved_samples; /* submitted in another phase than appended in */
    zt__map list_map;       /* to lists */
    zt__map list_names;     /* of zt_name_list, to themselves; each stays until the profiler is closed */
    zt__list *lists;
    zt__list *latest_list;  /* that was looked up, or NULL */
    zt__list *unused_lists; /* records for reuse */
    uint32_t list_count, lists_after_cleaning;
    zt__recording *all_recordings, *unused_recordings;
    zt__chain in_flight;         /* what a collection visits */
    zt__chain idle;              /* OPEN or READY */
    uint32_t dirty_count;        /* recordings that are DIRTY */
    uint32_t visits;             /* collections that were begun */
    uint32_t uncollected;        /* regions ended on immediate lists since the last collection began */
    int is_delivering;           /* the collector delivers samples to the application */
    int thread_is_idle;          /* the thread below sleeps for long, so it has to be woken */
    uint64_t begun_at_last_look; /* counts.begun when the thread last ran */
    zt__thread thread;           /* collects, with config.thread */

    /* data of later floors, and functions that these set because this floor has to call them */
    struct zt__timeline *timeline;
    struct zt__stream_data *attached_streams; /* also those that are closed; guarded by the mutex */
    uint32_t streamed_count;                  /* metrics of all of them */
    struct zt__power *power;                  /* NULL: it is not read */
    struct zt__baseline *baseline;            /* NULL: no earlier run is compared */
    struct zt__tracer *tracer;
    void (*before_collection)(zt_profiler *profiler); /* no mutex held */
    void (*batch_collected)(zt_profiler *profiler);   /* no mutex held */
    void (*sample_collected)(zt_profiler *profiler, zt__reading *reading,
                             double *row); /* fills in times and latencies. mutex held */
    void (*sample_missing)(zt_profiler *profiler, const zt__missing *missing); /* mutex held */
    /* A call begins to execute lists, or with 0 this thread's call has returned. mutex held */
    void (*lists_executed)(zt_profiler *profiler, uint64_t begin_ns);
    void (*phase_ended)(zt_profiler *profiler, const zt__phase_span *span); /* mutex held */
    /* The same, with config.power. mutex held */
    void (*phase_took)(zt_profiler *profiler, zt__path *path, uint64_t begin_ns, uint64_t end_ns);
    struct zt__memory_use *memory; /* NULL: a tracer has never watched it */
    zt_memory_info memory_info;    /* of profilers that were merged, too. The mutex guards both */
    /* A phase of this thread has ended. NULL: memory is not watched. mutex held */
    void (*memory_phase_ended)(zt_profiler *profiler, zt__path *path, uint64_t begin_ns);
    void (*free_memory)(zt_profiler *profiler);
    void (*check_tracing)(zt_profiler *profiler); /* by zt_collect and for reports. Atomic. No mutex held */
    int (*stop_tracing)(zt_profiler *profiler);   /* returns 0 if the profiler cannot be closed now */
    void (*free_tracer)(zt_profiler *profiler);
    /* What is on a list never runs again: returns the events that were borrowed for it. No mutex held */
    void (*return_events)(zt_profiler *profiler, ze_command_list_handle_t list);
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
