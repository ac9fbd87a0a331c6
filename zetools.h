/* zetools.h - an application profiles its own GPU work, through oneAPI Level Zero's tools interface.

   SPDX-License-Identifier: MIT
   The licence is at the end of this file.

   ==========================================================================================================
   MANUAL
   ==========================================================================================================

   USE

       In one C or C++ file:

           #define ZETOOLS_IMPLEMENTATION
           #include "zetools.h"

       and `#include "zetools.h"` wherever else it is wanted, with <level_zero/zet_api.h> where the program
       itself calls functions of the tools interface. Link with -lze_loader (and, before glibc 2.34, with -ldl
       -lpthread). Give the Level Zero headers as system headers: they redefine typedefs.

           zt_config config = zt_config_default();
           config.groups = "ComputeBasic";
           zt_profiler *profiler;
           zt_open(context, device, &config, &profiler);

           ZT_REGION(profiler, list, "saxpy")
               zeCommandListAppendLaunchKernel(list, saxpy, &groups, NULL, 0, NULL);
           ...
           zt_collect(profiler, 0);
           zt_report(profiler, "-");
           zt_close(profiler);

       Metrics have to be enabled in the driver: the library does that where loader and driver can; elsewhere
       set ZET_ENABLE_METRICS=1 in the environment before zeInit. Where there are no metrics, regions have
       times, zt_get_availability() tells why, and nothing else changes.

   TERMS

       metric group   a set of metrics that the device can measure at once. Groups of different domains can
                      be active together, two of one domain cannot
       region         a named stretch of a command list. Its name is its identity: instances of one name
                      share their statistics
       instance       one execution of a region. Every figure is made of instances
       slot           what an instance in flight needs: a metric query for each group, and an event

   WHAT A REGION MEASURES, AND WHAT IT COSTS THE WORK

       The metric query of a region begins when the commands before it are complete, and commands after it
       wait for its end. So a region serialises the work around it: kernels that would overlap do not.
       Measure stretches that matter rather than every kernel of a pipeline that lives from overlap.
       Regions nest, and may overlap.

   COMMAND LISTS

       An instance on an immediate list ends with its collection. On a recorded list it stays bound to the
       list, ready to be executed again, until the list is reset or destroyed. Three rules:

       - Execute recorded lists with zt_execute(): it reads what their last execution left first, so that
         every execution counts. A list that is executed twice by other means without a zt_collect()
         between gives one instance, for the second execution overwrites the first.
       - After a list was reset or destroyed, call zt_release(). It takes back what never ran. A region
         that is begun on a list whose earlier regions have run shows that the list was reset, or is
         immediate; so a program that forgets zt_release() loses no slots, only exactness of `begun`.
       - Before loader 1.16 nobody can tell whether a list is immediate. Then the slots of an immediate
         list are given back by the next region on it, or by zt_release(): call that when the list is
         destroyed, and for recorded lists that never ran before zt_close(), which else takes them for
         immediate ones: it waits for them, and leaves their pools to the device. From 1.16 on an
         immediate list needs zt_release() only when it is destroyed.

       As everywhere in Level Zero, one command list must not be used by two threads at a time. Different
       lists may: zt_begin and zt_end are safe from any thread. After 64 regions that were ended on an
       immediate list, the next zt_begin on it reads what is ready: each thread does so for the lists that
       it uses, and zt_collect is for results at a certain time.

   TRACING, with ZETOOLS_TRACER

       zt_trace_start() makes a region of every kernel launch of the process that goes to a list of the
       profiler's context and device, named by the kernel, with no change to the code that launches:

           zt_trace_start(profiler, NULL);
           solve(...);                       a library that knows nothing of this
           zt_trace_stop(profiler);
           zt_report(profiler, "-");

       It works through the loader's tracing layer. Loaders from 1.15.7 on turn that on when they are asked;
       older ones want ZE_ENABLE_TRACING_LAYER=1 in the environment before zeInit. Where the layer is off
       everything seems to succeed and no callback ever comes, so the start makes a call of its own to see.

       While it runs, lists are observed too, so that neither zt_release() nor zt_execute() is needed: what
       the last execution of a list left is read before it is executed again (which waits for that execution,
       as zt_execute does), and a list that is reset or destroyed gives its slots back. Lists created before
       the start are taken for the profiler's, where the driver cannot tell their context and device.
       Launches are counted when they are appended: "every n-th" is of those, whatever is executed later. A
       launch that the driver refuses is counted as dropped.

       config.calls times calls of the application; reports have them below the regions, and the timeline a
       track for each thread, where the profiler's config.timeline is set. What the library
       and the hooks call is neither timed nor traced.

       config.hooks are the application's own callbacks. Around one call this runs: its prologues in the
       order of the array, what the tracer does before, the call, what the tracer does after, and the
       epilogues in reverse order. So what a prologue changes is what is measured, and a kernel handle that an
       epilogue of zeKernelCreate replaces goes by the name of the kernel that it is. Hooks run on the thread
       that calls, must return normally, and not stop the tracer.

       zt_auto(NULL) does all this for whatever the process creates, and reports at exit: a table, or what
       ZT_AUTO says. Call it first thing in main.

   AGGREGATION

       Type and unit of a metric decide (zt_aggregation): counts, cycles, bytes and times add up; percent,
       frequencies, rates and ratios are averaged, weighted by GPU time; flags count how often they were
       set; time stamps and raw values are not aggregated. What does not apply to a metric is NaN, and is
       left empty in reports. Median and 95th percentile are interpolated linearly between neighbours. They
       are exact up to config.samples instances of a region, and beyond estimated from as many instances
       drawn evenly: with 512, the rank of the median has a standard error of 2.2 points, that of the 95th
       percentile of 1.0.

   STREAMS

       A stream samples the device by the clock while the application runs: zt_stream_open(), then
       zt_stream_read() now and then, or, with config.reader, a thread of the library's own that reads before
       the device's memory can fill; zt_stream_close(). A row is one period: time stamp, values in the order
       of the metrics, and the name of a marker, where zt_stream_mark() put one into a command list. All
       memory is taken at opening.

       Streams and regions with metrics exclude each other on a domain of the device, on some drivers on the
       whole device: whichever comes second is told who holds the counters. Regions of times alone
       (config.groups = "") and a stream always go together.

       reports = rows + discarded + waiting, at any time. Discarded: read, and not given to anybody: the
       first row of each capture, which spans from the capture before, with its marker, if it has one; what
       the driver could not calculate; what was left at closing. What the device dropped before it was read
       is counted as gaps, and, by the time that they lasted, as an estimate of reports. What it kept is kept.

   THE TIMELINE

       With config.timeline, instances of regions keep their begin and end, the newest so many. Device clock
       and host clock (CLOCK_MONOTONIC) are compared at opening, at collecting and at reporting; between these
       pairs times are interpolated, so that a drift is corrected. A report to "run.trace.json" is in the
       Trace Event format, which Perfetto and Chrome read: a track for each command list, with the metrics of
       an instance as its arguments, counter tracks of each stream attached to the profiler
       (zt_stream_config.profiler), and markers as instants. Regions that overlap without being nested are
       put on tracks of their own.

       Attribution: a row of an attached stream belongs to an instance when the middle of its period is
       within begin and end. Over its rows each region has the mean and the peak of each streamed metric
       (zt_get_streamed). Regions that overlap share: each has the whole row, whatever part of it was its
       doing, so that the figures of a nested region are also in those of the outer one. A region that is
       shorter than the period has rows by chance: few instances have one, many make a fair sample. Instances
       and rows meet in the memory that both are kept in: what is collected, or read, later than
       config.timeline instances or config.timeline_rows rows afterwards finds nothing.

   WHAT IS LOST IS COUNTED

       begun = collected + lost + dropped + in_flight, at any time. Lost: it ran, and hardware or driver
       did not deliver a figure that can be trusted. Dropped: it was not measured (no slot, no memory, a
       failed call). Both are counted by cause (zt_get_cause) and left out of the statistics.

   PASSES

       Groups of one domain cannot be active together. With config.max_passes above 1, config.groups may name
       more groups than fit, and ZT_PASSES repeats the work, once for each set of groups that does:

           ZT_PASSES(profiler) {
               step();                            submits its work with zt_execute, or waits for it
           }

       Results come together by the name of a region and the order of its occurrences, so the statement has to
       do the same work each time, and to record the lists that it executes: a region that ran with the groups
       of another pass than it was begun in is counted as lost. Where passes differ (a region is missing, its
       count changed, its GPU time moved by more than config.pass_tolerance), reports say so beside the
       figures: values of different passes should then not be compared. Outside of ZT_PASSES the groups of the
       first pass are active.

   TILES

       On a root device of several tiles a region has the metrics of each tile (zt_get_tile_stats) and of the
       whole: counts and bytes add up over tiles, of times and clock cycles the longest counts, means are
       weighted by the GPU time of the tiles, and what is not aggregated is that of the first tile.

   PACKED STATISTICS

       What zt_pack writes, so that programs on many machines can gather their figures. Little-endian; u32 and
       u64 are unsigned, f64 is a double of IEEE 754, text is a u32 length and so many bytes.

           "ZTPK"; u32 layout: 1; u64 size of the whole; u64 check: FNV-1a over all that follows
           u32 metrics, regions, passes, tiles, most instances kept; u32 availability; text of it; text device
           u32 causes; that many u64 counts
           each metric: text name, group, component, units, description; u32 type, aggregation, pass
           each region: text name; u64 collected, lost, dropped
               each column: u64 count; f64 sum of weights, sum, mean, sum of squared distances, min, max
               u32 kept instances; each: an f64 a column, NaN where there is no value

       Columns are GPU time; the metrics; where there are several passes, the GPU time of each; where
       there are tiles, the metrics of each.

   THREADS

       Functions that take a profiler may be called from several threads at once, but for zt_open and
       zt_close. Nothing blocks but zt_collect with a timeout; zt_execute, which waits for the last
       execution of the lists that it is to execute; zt_release and zt_close, which wait for work that is
       known to run; zt_begin where all config.max_slots are used and another thread is just reading its
       list; zt_trace_stop, which waits for calls in progress; those five no longer than
       config.wait_timeout_ns. zt_bench and zt_compare wait for their runs, for each no longer than that.
       zt_stream_read waits no longer than it is told. One thread reads a stream at a time. zt_stream_close
       ends a read that waits on another thread. A profiler that streams are attached to is not to be closed
       while one of them is read.

       Calculation is the dearest part of a collection that can be moved. config.deferred leaves it for
       later, config.deferred_thread to a thread of the library's own, which lives from zt_open to zt_close,
       blocks all signals, and ends with the process.

   ENVIRONMENT

       ZT_GROUPS      overrides config.groups
       ZT_METRICS     overrides config.metrics. Where only one of the two is set, the configuration's other
                      does not count
       ZT_COLUMNS     overrides config.columns
       COLUMNS        how wide a table on standard output may be, where that is no terminal: 100
       ZT_AUTO        where the report of zt_auto() goes: "table", or a path as for zt_report; "1": where its
                      configuration says; "off", "0" or "": tracing is off. Reports of further contexts and
                      devices are numbered: run.csv, run.2.csv

   OPTIONS, to be defined before the header is included

       ZETOOLS_IMPLEMENTATION   in one file of the program: the functions themselves. Without it: their
                                declarations
       ZETOOLS_DISABLE          everything empty: no code, no Level Zero needed, the program unchanged. In
                                every file of the program or in none
       ZETOOLS_TRACER           the tracer (see TRACING). In each file that uses it, above all where
                                ZETOOLS_IMPLEMENTATION is defined
       ZETOOLS_STATIC           the functions are static. For a library that must not export them: all that it
                                exports then are some ten weak variables (zt__...), of which a process has
                                one each. Needs ZETOOLS_IMPLEMENTATION in each file that uses them
       ZETOOLS_NO_THREADS       the library starts no thread: zt_stream_config.reader is refused, and
                                config.deferred_thread has no effect. For programs that must not have threads
                                of others. Streams have to be polled
*/
#ifndef ZETOOLS_H
#define ZETOOLS_H

#define ZETOOLS_VERSION_MAJOR 0
#define ZETOOLS_VERSION_MINOR 1
#define ZETOOLS_VERSION_PATCH 0
#define ZETOOLS_VERSION "0.1.0"

/* In strict ISO modes the C library hides what the implementation needs, unless it is asked first. In others
   it hides nothing, unless it is asked: the application's other headers are not to lose anything by this. */
#if defined(ZETOOLS_IMPLEMENTATION) && !defined(ZETOOLS_DISABLE) && defined(__STRICT_ANSI__) &&              \
    !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include <stddef.h>
#include <stdint.h>

#ifndef ZETOOLS_DISABLE
#include <level_zero/ze_api.h>
#define ZT__HAVE_LEVEL_ZERO 1
#elif defined(__has_include)
#if __has_include(<level_zero/ze_api.h>)
#include <level_zero/ze_api.h>
#define ZT__HAVE_LEVEL_ZERO 1
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define ZT__UNUSED __attribute__((unused))
#else
#define ZT__UNUSED
#endif

#ifdef ZETOOLS_STATIC
#define ZT_API static ZT__UNUSED
#else
#define ZT_API extern
#endif

/* ==== types =============================================================================================== */

/* A profiler: one context, one device or sub-device. Since 0.1. */
typedef struct zt_profiler zt_profiler;

/* A metric group: the same type as zet_metric_group_handle_t. The header that has that costs a compiler more
   than all of this, and is included with the implementation alone. Since 0.1. */
typedef struct _zet_metric_group_handle_t *zt_group;

/* An open region, by value. Its fields are private. A copy is the same region. Since 0.1. */
typedef struct zt_region {
    void *slot;
    uint32_t generation;
    uint32_t profiler;
    uint32_t body;
} zt_region;

/* The state of a ZT_PASSES. Its fields are private. Since 0.1. */
typedef struct zt_passes {
    zt_profiler *profiler;
    uint32_t next;
    uint32_t runs;
} zt_passes;

/* What a message is about, how grave it is being in `result`. `text` names the call that failed, its result
   and what to do, and begins with the identifier of the message. Called once for each kind of message, on the
   thread that it comes up on. It may call what a zt_sample_fn may. Since 0.1. */
typedef void (*zt_log_fn)(int result, const char *text, void *user);

/* One collected instance. Pointers live as long as the call. Since 0.1. */
typedef struct zt_sample {
    const char *name;      /* of the region */
    uint32_t region;       /* its index, for zt_get_region */
    uint32_t metric_count; /* as zt_get_metric_count */
    double gpu_time_ns;
    const double *values; /* in the order of zt_get_metric. NaN: not measured */
    uint32_t pass;        /* from 0: others than its metrics are not measured */
} zt_sample;

/* Is given each collected instance, on the thread that collects. It may call zt_begin, zt_end and the
   zt_get functions; those that collect answer HANDLE_OBJECT_IN_USE inside it. Since 0.1. */
typedef void (*zt_sample_fn)(const zt_sample *sample, void *user);

/* Takes the bytes of a report. Returns 0, or anything else to stop. Since 0.1. */
typedef int (*zt_write_fn)(const void *bytes, size_t size, void *user);

/* Memory from the application. Both functions or none; `allocate` may return NULL. Since 0.1. */
typedef struct zt_allocator {
    void *(*allocate)(size_t size, void *user);
    void (*release)(void *memory, void *user);
    void *user;
} zt_allocator;

/* Take it from zt_config_default() and change what is to differ. 0 and NULL mean the default. Since 0.1. */
typedef struct zt_config {
    const char *groups;  /* Metric groups, a comma list of names, 32 at the most. NULL: those that `metrics`
                            need, else "ComputeBasic", or the first group that is event-based. "": times
                            only, whatever `metrics` says. The environment's ZT_GROUPS overrides it. */
    const char *metrics; /* Metrics that are wanted, a comma list of names, 64 at the most: the fewest groups
                            that have them all are measured, beside those of `groups`. NULL: the groups
                            decide. The environment's ZT_METRICS overrides it. */
    const char *columns; /* Metrics in the table, a comma list of names. NULL: those of `metrics`, else as
                            many as fit. The environment's ZT_COLUMNS overrides it. CSV and JSON have all of
                            them anyway. */
    uint32_t max_passes; /* So many passes at the most, up to 16, for a program that repeats its work with
                            ZT_PASSES: 1, and groups that cannot be active together are refused. */
    double pass_tolerance; /* A region whose GPU time moves by more than this share between passes is
                              reported: 0.1. */
    int require_metrics;   /* Not 0: zt_open fails where there are no metrics. 0: it goes on with times. */

    uint32_t slots_per_step; /* Slots are made in steps of so many: 256. Fewer save device memory where few
                                regions are in flight. */
    uint32_t max_slots;      /* So many at the most, 16384. Regions beyond are dropped and counted. Raise it
                                for recorded lists with more regions than this. */
    uint32_t samples;        /* Instances kept of each region for median and 95th percentile, which are exact
                                up to here: 512, and 1,048,576 at the most. Memory of a region: 8 bytes a
                                metric and kept instance, and 184 a metric. */

    uint32_t deferred; /* The raw reports of so many instances, in steps of 64, are kept, and calculated when
                          there is no more room or when results are asked for: 0, calculated when collected.
                          For threads that have no time to lose. Memory: the size of a report each. */
    int deferred_thread; /* Not 0: they are calculated on a thread of the library's own, as soon as 64 are
                            there; the sample function is called on it. `deferred` is then 4096 by default.
                            0, and with ZETOOLS_NO_THREADS: on the threads that collect or ask. */

    uint32_t timeline; /* Instances kept for the timeline of a .trace.json report, and to meet the rows
                          of streams: the newest so many. 0: none. Each region costs two time stamps
                          more, each kept instance 40 bytes and 8 a metric. */

    uint64_t wait_timeout_ns; /* The longest wait of zt_execute, zt_release, zt_close and zt_trace_stop, of
                                 zt_begin for a slot, and of each run of a benchmark, in nanoseconds: 1
                                 second. */

    zt_log_fn log; /* Is told what went wrong, once a kind. NULL: nobody is, and zt_get_last_error has it. */
    void *log_user;
    zt_sample_fn sample; /* Is given every instance. NULL: nobody is. */
    void *sample_user;
    zt_allocator allocator; /* NULL functions: malloc and free. */
} zt_config;

/* Why there are metrics, or not. Since 0.1. */
typedef enum zt_availability {
    ZT_AVAILABLE = 0,       /* metrics are measured */
    ZT_TIMES_BY_CHOICE,     /* config.groups is "" */
    ZT_NOT_ENABLED,         /* the driver's metrics are not enabled */
    ZT_LIBRARY_MISSING,     /* the driver lacks its metric library */
    ZT_NO_PERMISSION,       /* the system reserves metrics for privileged users */
    ZT_IN_USE,              /* someone else uses the device's counters */
    ZT_NO_SUCH_GROUP,       /* no event-based group of that name */
    ZT_NO_SUCH_METRIC,      /* no event-based group has a metric of that name */
    ZT_GROUPS_CONFLICT,     /* two of the groups share a domain, or they need too many passes */
    ZT_NOT_SUPPORTED,       /* the driver or the device has no metrics, or a call failed unexpectedly */
    ZT_DEVICE_LOST,         /* the device is gone */
    ZT_AVAILABILITY_UNKNOWN /* there is no profiler */
} zt_availability;

/* Causes by which instances are lost or dropped. Since 0.1. */
typedef enum zt_cause {
    /* lost: flags in the report of the device */
    ZT_LOST_REPORT_ERROR,
    ZT_LOST_REPORT_LOST,
    ZT_LOST_REPORT_WITHOUT_WORKLOAD,
    ZT_LOST_REPORT_INCONSISTENT,
    ZT_LOST_REPORT_CONTEXT_MISMATCH,
    ZT_LOST_REPORT_QUERY_MODE_MISMATCH,
    ZT_LOST_OVERRUN,
    ZT_LOST_QUERY_SPLIT,
    /* lost: other */
    ZT_LOST_NEVER_DELIVERED, /* the event signalled, the data never came */
    ZT_LOST_OVERWRITTEN,     /* executed again before it was read */
    ZT_LOST_OTHER_PASS,      /* begun or recorded in another pass than that in which it ran */
    ZT_LOST_READ_FAILED,     /* the driver refused to give or calculate the data */
    ZT_LOST_DEVICE,          /* the device was lost */
    /* dropped */
    ZT_DROPPED_NO_SLOT,        /* more regions in flight than config.max_slots */
    ZT_DROPPED_NO_MEMORY,      /* slots or statistics could not be made */
    ZT_DROPPED_TOO_MANY_NAMES, /* more than 65,536 names */
    ZT_DROPPED_APPEND_FAILED,  /* the driver refused a command of the region, or the list was NULL */
    ZT_DROPPED_NOT_CLOSED,     /* the list was released, or the profiler closed, before the region was */
    ZT_DROPPED_DEVICE_LOST,    /* begun after the device was lost */
    ZT_CAUSE_COUNT
} zt_cause;

/* Of reports. Since 0.1. */
typedef enum zt_format { ZT_FORMAT_TABLE, ZT_FORMAT_CSV, ZT_FORMAT_JSON, ZT_FORMAT_TRACE } zt_format;

/* How the values of a metric are put together. Since 0.1. */
typedef enum zt_aggregation {
    ZT_AGGREGATE_SUM,  /* adds up: sum, and mean an instance */
    ZT_AGGREGATE_MEAN, /* the mean weighted by GPU time; no sum */
    ZT_AGGREGATE_FLAG, /* sum: in how many instances it was set */
    ZT_AGGREGATE_NONE  /* neither: count, minimum and maximum alone */
} zt_aggregation;

/* A metric. Strings are never NULL and live as long as the profiler. Since 0.1. */
typedef struct zt_metric {
    const char *name;
    const char *group;
    const char *component;
    const char *units; /* "" where it has none */
    const char *description;
    int type; /* a zet_metric_type_t */
    zt_aggregation aggregation;
    uint32_t pass; /* that measures it, from 0 */
} zt_metric;

/* Statistics of one metric over the instances of one region, in the units of the metric. What does not apply
   is NaN. `count` is the number of instances that have the metric. Since 0.1. */
typedef struct zt_stats {
    uint64_t count;
    double sum, mean, stddev, min, max, median, p95;
} zt_stats;

/* How the passes of ZT_PASSES differ in a region, as bits. Metrics of passes that differ should not be
   compared with each other. Since 0.1. */
enum {
    ZT_DIFFERS_MISSING = 1, /* not in every pass */
    ZT_DIFFERS_COUNT = 2,   /* not as often in every pass */
    ZT_DIFFERS_TIME = 4     /* the median GPU time moved by more than config.pass_tolerance */
};

/* A region. The name lives as long as the profiler. Since 0.1. */
typedef struct zt_region_info {
    const char *name;
    uint64_t count; /* instances collected */
    uint64_t lost;  /* and those that were not */
    uint64_t dropped;
    zt_stats time_ns; /* GPU time in nanoseconds, of all passes */
    uint32_t differs; /* ZT_DIFFERS_... between passes; 0: nothing */
} zt_region_info;

/* begun = collected + lost + dropped + in_flight. Since 0.1. */
typedef struct zt_counts {
    uint64_t begun, collected, lost, dropped, in_flight;
} zt_counts;

/* ---- streams --------------------------------------------------------------------------------------------- */

/* A stream: one metric group, sampled by the clock. Since 0.1. */
typedef struct zt_stream zt_stream;

/* One period. Pointers live as long as the call. Since 0.1. */
typedef struct zt_row {
    uint64_t time_ns;   /* its begin, by CLOCK_MONOTONIC of the host */
    uint64_t device_ns; /* the same moment on the clock of the device's metrics, unwrapped */
    uint32_t metric_count;
    const double *values; /* in the order of zt_stream_get_metric. NaN: not measured */
    const char *marker;   /* the name given to zt_stream_mark, or NULL */
} zt_row;

/* Is given each row, on the thread that reads. Returns 0 to go on, anything else to stop: the rows after it
   wait for the next read. It may call zt_stream_mark and the functions that ask. Since 0.1. */
typedef int (*zt_row_fn)(const zt_row *row, void *user);

/* Take it from zt_stream_config_default() and change what is to differ. 0 and NULL mean the default.
   Since 0.1. */
typedef struct zt_stream_config {
    const char *group;       /* A metric group that is time-based. NULL: "ComputeBasic", or the first. */
    uint32_t period_ns;      /* From row to row: 1 millisecond. The driver rounds it, see zt_stream_info. */
    uint32_t notify_reports; /* The device says when so many have come, and ends the wait of a read: as many
                                as come in 10 milliseconds. Fewer make rows arrive sooner, and cost more. */
    size_t memory_limit;     /* Bytes for reports and their calculation, taken at opening: 8 MiB. */
    int reader;              /* Not 0: a thread of the library's own reads from the device into this memory,
                                so that an application that seldom calls zt_stream_read loses nothing. */

    zt_profiler *profiler;  /* Whose timeline and regions are to have the rows; it needs config.timeline.
                               NULL: nobody's. */
    uint32_t timeline_rows; /* Rows kept for it, the newest: 16384. 8 bytes a row and metric. */

    zt_log_fn log; /* As in zt_config. The reader thread calls it too. */
    void *log_user;
    zt_allocator allocator;
} zt_stream_config;

/* What became of the configuration. Since 0.1. */
typedef struct zt_stream_info {
    const char *group;
    uint32_t period_ns; /* as the driver made them */
    uint32_t notify_reports;
    size_t memory;          /* bytes taken for reports and their calculation */
    uint64_t reader_cpu_ns; /* processor time of the reader thread so far */
} zt_stream_info;

/* reports = rows + discarded + waiting. Since 0.1. */
typedef struct zt_stream_counts {
    uint64_t reports;   /* read from the device */
    uint64_t rows;      /* given to a function or to a profiler */
    uint64_t discarded; /* given to nobody */
    uint64_t waiting;   /* to be given */
    uint64_t gaps;      /* how often the device said that it had dropped data */
    uint64_t dropped;   /* reports that are missing in these gaps, by the time that they lasted */
} zt_stream_counts;

/* What the rows within a region's instances say of one streamed metric. NaN where there are none.
   Since 0.1. */
typedef struct zt_streamed {
    uint64_t rows;
    double mean, peak;
} zt_streamed;

/* What a timeline holds. Since 0.1. */
typedef struct zt_timeline_info {
    uint64_t instances, rows;           /* kept */
    uint64_t lost_instances, lost_rows; /* overwritten by newer ones */
    uint32_t pairs;                     /* by which device clock and host clock are related */
} zt_timeline_info;

#ifdef ZETOOLS_TRACER
#define ZT__TRACER_DECLARED 1

/* A callback of the application's around a call (see TRACING). `parameters` is a structure of the addresses
   of the call's parameters, such as a ze_kernel_create_params_t; in a prologue they may be changed. `result`
   is a ze_result_t, in a prologue always SUCCESS. `user` is as given in zt_hook. `instance` is NULL at first;
   what the prologue puts there, the epilogue of the same call finds. Since 0.1. */
typedef void (*zt_hook_fn)(void *parameters, int result, void *user, void **instance);

/* The application's callbacks for one call; either may be NULL. Since 0.1. */
typedef struct zt_hook {
    const char *call; /* "zeKernelCreate" */
    zt_hook_fn prologue;
    zt_hook_fn epilogue;
    void *user;
} zt_hook;

/* What a tracer does. Take it from zt_trace_config_default(). 0 and NULL mean the default. Since 0.1. */
typedef struct zt_trace_config {
    const char *names; /* Kernels to measure, a comma list of patterns with * and ?; what fits a pattern that
                          begins with '!' is not: "gemm*,!*_tail". NULL: all. */
    uint32_t every;    /* Of each name, the first launch is measured, and then every so many-th: 1. Fewer cost
                          less. */
    uint64_t limit;    /* And no more than so many of each name. 0: no limit. */
    int copies;        /* Not 0: copies and fills are measured too, named "MemoryCopy", "MemoryFill", ... */
    int no_launches;   /* Not 0: no region is made by itself; lists are observed all the same. */
    const char *calls; /* Calls to count and time, a comma list of patterns: "zeEvent*,zeCommandQueue*". NULL:
                          none, "*": all. Others stay as fast as they were. */
    const zt_hook *hooks; /* The application's own callbacks, up to 16. */
    uint32_t hook_count;
} zt_trace_config;

/* Launches (and copies, where they are measured) that a tracer saw: launches = measured + filtered +
   elsewhere. What became of the measured ones is in zt_counts. Since 0.1. */
typedef struct zt_trace_counts {
    uint64_t launches;
    uint64_t measured;  /* a region was begun */
    uint64_t filtered;  /* left out by the configuration */
    uint64_t elsewhere; /* on lists of another context or device, or on none */
} zt_trace_counts;

/* A call that was timed. Since 0.1. */
typedef struct zt_call_info {
    const char *name;
    uint64_t count;
    uint64_t errors;  /* results other than SUCCESS, NOT_READY and warnings */
    zt_stats time_ns; /* host time of a call */
} zt_call_info;

/* Automatic tracing. Take it from zt_auto_config_default(). Since 0.1. */
typedef struct zt_auto_config {
    const char *report; /* Where the report goes: a path, as for zt_report; NULL: a table on standard output.
                           The environment's ZT_AUTO overrides it. */
    zt_config profiler; /* Of each context and device. Lists of names are copied, up to 1023 bytes of each.
                           Functions and their user pointers live until exit. */
    zt_trace_config trace;
} zt_auto_config;

#endif /* ZETOOLS_TRACER */

/* ---- benchmarks ---- */

/* What is to be benchmarked, and how well. 0 and NULL mean the default. Since 0.1. */
typedef struct zt_bench_config {
    const char *name; /* For people. NULL: that of the region; where there is none, "the benchmark", and in a
                         comparison "a" or "b". */
    int (*run)(zt_profiler *profiler, void *user); /* Records and submits the work once, with a region of the
                                                      profiler that it is given around what is to be timed.
                                                      Not 0: it failed. */
    double (*measure)(void *user); /* Instead of `run`, for what is timed by other means: does it once, and
                                      returns the nanoseconds that it took. Negative: it failed. */
    void *user;
    const char *region; /* whose GPU time is a sample, added up where it runs several times. NULL: the first
                           of the work */
    double (*frequency)(void *user); /* The device's frequency now, in MHz. NULL: from the system's management
                                        interface (ZES_ENABLE_SYSMAN=1 before zeInit), where it tells. */
    uint32_t warm_up;                /* runs before the first sample: 3 */
    uint32_t min_samples;            /* 10, and never fewer, however long they take */
    uint32_t max_samples;            /* 1000, and never more */
    uint64_t max_time_ns;  /* no sample is begun so long after the warm-up, but for min_samples; nor a run of
                              the warm-up so long after its begin, but for the first three: 10 seconds */
    double precision;      /* enough when the half-width of the median's interval is this share of it: 0.01 */
    double max_change;     /* a sample whose frequency is off by more than this share is marked: 0.02 */
    uint32_t counter_runs; /* runs with counters, of each pass: 5 */
} zt_bench_config;

/* Which condition ended a benchmark. Since 0.1. */
typedef enum zt_bench_end {
    ZT_BENCH_NOT_RUN, /* there is no profiler, or it failed */
    ZT_BENCH_PRECISE, /* the interval is as narrow as was asked for */
    ZT_BENCH_NOISE,   /* twice the samples did not make the interval narrower */
    ZT_BENCH_TIME,    /* time was up */
    ZT_BENCH_FULL     /* there were max_samples */
} zt_bench_end;

enum { ZT_BENCH_SAMPLES = 1000, ZT_BENCH_OUTLIER = 1, ZT_BENCH_CHANGED = 2 };

/* What a benchmark found; times in nanoseconds. What does not apply is NaN. About 9 kB. Since 0.1. */
typedef struct zt_bench_result {
    char name[64];
    zt_bench_end end;
    uint32_t count;    /* samples */
    uint32_t outliers; /* further than 1.5 times the quartiles' distance from them. They count all the same */
    uint32_t changed;  /* at another frequency. They count all the same */
    double median;     /* and */
    double low, high;  /* its interval, by the sign test: at least 95% */
    double quartile1, quartile3;
    double min, max;
    double precision;                      /* half the interval, as a share of the median */
    double frequency_mhz;                  /* median. NaN: nobody tells */
    uint32_t counter_runs;                 /* in each pass */
    double counter_median;                 /* with counters */
    double perturbation;                   /* time with counters by time without */
    uint32_t region;                       /* of the profiler, for zt_get_rate; UINT32_MAX: none */
    double samples[ZT_BENCH_SAMPLES];      /* in the order in which they were taken */
    unsigned char marks[ZT_BENCH_SAMPLES]; /* ZT_BENCH_OUTLIER, ZT_BENCH_CHANGED */
} zt_bench_result;

/* Two variants, run in turn. Since 0.1. */
typedef struct zt_comparison {
    zt_bench_result a, b;
    double ratio;     /* median of b by median of a */
    double low, high; /* its interval: at least 95% */
    int differs;      /* 0: no difference shown */
} zt_comparison;

#ifndef ZETOOLS_DISABLE

/* ==== interface =========================================================================================== */

/* Every function accepts NULL for the profiler, or the stream, and is then inert: it does nothing, and
   returns ZE_RESULT_SUCCESS, 0, or what says that there is nothing: UINT32_MAX for an index, NaN for a
   figure. A structure that it was to fill in is empty, likewise when it fails. zt_execute still executes the
   lists, ZT_PASSES still runs its statement, once, as zt_get_pass_count says. */

/* The version of the implementation, "major.minor.patch". Any thread. Since 0.1. */
ZT_API const char *zt_version(void);

/* A configuration with every field at its default. Any thread. Since 0.1. */
ZT_API zt_config zt_config_default(void);

/* Opens a profiler on a device, or sub-device, of an initialised driver.
   config   NULL for the defaults
   profiler receives the profiler, or NULL on failure, on which everything else is inert
   Returns SUCCESS also where there are no metrics, unless config.require_metrics is set: then the result of
   the call that refused them, or INVALID_ARGUMENT where the groups or metrics that were asked for cannot be
   had. OUT_OF_HOST_MEMORY also for more than 256 profilers at once. zt_get_last_error(NULL) has the text
   of this thread's last failure. Not from two threads for one device at once. Since 0.1. */
ZT_API ze_result_t zt_open(ze_context_handle_t context, ze_device_handle_t device, const zt_config *config,
                           zt_profiler **profiler);

/* Collects what is finished, waiting no longer than config.wait_timeout_ns for work that is known to run, and
   frees everything. Recorded lists that hold regions must not be executed after it. Regions that are still
   open may be ended after it: that does nothing. No other thread may be using the profiler. Where the sample
   function holds up config.deferred_thread for 2 seconds, all stays, and it is to be called again.
   Since 0.1. */
ZT_API void zt_close(zt_profiler *profiler);

/* Begins a region on a command list that is open for recording, or immediate. Any thread.
   name  is copied. NULL and "" are shown as "(unnamed)"
   Never fails as far as the application is concerned: an instance that cannot be measured is counted as
   dropped. Since 0.1. */
ZT_API zt_region zt_begin(zt_profiler *profiler, ze_command_list_handle_t list, const char *name);

/* Ends a region. Any thread that may use its list. Ending it again, or a copy of it, does nothing; so does
   NULL, and a region whose profiler was closed. Since 0.1. */
ZT_API void zt_end(zt_region *region);

/* Reads what the device has finished and adds it to the statistics. Any thread.
   timeout_ns  0: what is ready, without ever blocking (what another thread is calculating meanwhile is
               left to it); otherwise, wait for all that is in flight, so long at the most
   Returns SUCCESS; with a timeout, NOT_READY when the time was up and instances are still in flight, or when
   all that is left are regions that nobody ended; DEVICE_LOST. Since 0.1. */
ZT_API ze_result_t zt_collect(zt_profiler *profiler, uint64_t timeout_ns);

/* Tells that a list was, or is about to be, reset or destroyed, and that the device is done with it. Collects
   what has run, takes back what never did, and gives back the slots. Any thread that may use the list.
   Returns SUCCESS, also for a list without regions; NOT_READY where its work was still running after
   config.wait_timeout_ns, and is counted as lost; INVALID_NULL_HANDLE. Since 0.1. */
ZT_API ze_result_t zt_release(zt_profiler *profiler, ze_command_list_handle_t list);

/* zeCommandQueueExecuteCommandLists, with the results of the lists' last execution read first: waits for that
   execution to end, no longer than config.wait_timeout_ns, after which it is counted as lost. The lists are
   executed in any case. Returns what the driver returns. Any thread that may use queue and lists. Since 0.1.
 */
ZT_API ze_result_t zt_execute(zt_profiler *profiler, ze_command_queue_handle_t queue, uint32_t count,
                              ze_command_list_handle_t *lists, ze_fence_handle_t fence);

/* Passes over the sets of groups that fit together: 1 where nothing has to be repeated. Any thread.
   Since 0.1. */
ZT_API uint32_t zt_get_pass_count(const zt_profiler *profiler);

/* GPU time of a region in one pass, from 0. Any thread.
   Returns INVALID_ARGUMENT for an index out of range, INVALID_NULL_POINTER. Since 0.1. */
ZT_API ze_result_t zt_get_pass(const zt_profiler *profiler, uint32_t region, uint32_t pass,
                               zt_stats *time_ns);

/* What ZT_PASSES is made of. Next returns 0 when there are no more passes; end goes back to the first.
   One thread. Since 0.1. */
ZT_API zt_passes zt_passes_begin(zt_profiler *profiler);
ZT_API int zt_passes_next(zt_passes *passes);
ZT_API void zt_passes_end(zt_passes *passes);

/* Tiles of a root device whose values are told apart: 0 where there are none. Any thread. Since 0.1. */
ZT_API uint32_t zt_get_tile_count(const zt_profiler *profiler);

/* As zt_get_stats, of one tile, from 0. Any thread. Since 0.1. */
ZT_API ze_result_t zt_get_tile_stats(const zt_profiler *profiler, uint32_t region, uint32_t tile,
                                     uint32_t metric, zt_stats *stats);

/* How many instances there were, and what became of them. Any thread. Since 0.1. */
ZT_API zt_counts zt_get_counts(const zt_profiler *profiler);

/* How many instances were lost or dropped by one cause. Any thread. Since 0.1. */
ZT_API uint64_t zt_get_cause(const zt_profiler *profiler, zt_cause cause);

/* "report error", "no slot", ...: never NULL. Any thread. Since 0.1. */
ZT_API const char *zt_cause_name(zt_cause cause);

/* Distinct names of regions so far. Any thread. Since 0.1. */
ZT_API uint32_t zt_get_region_count(const zt_profiler *profiler);

/* Metrics of all active groups; constant for a profiler. Any thread. Since 0.1. */
ZT_API uint32_t zt_get_metric_count(const zt_profiler *profiler);

/* A metric by its index below zt_get_metric_count, else NULL. Any thread. Since 0.1. */
ZT_API const zt_metric *zt_get_metric(const zt_profiler *profiler, uint32_t metric);

/* The index of a metric by name, or UINT32_MAX; zt_get_last_error then has the nearest names. Any thread.
   Since 0.1. */
ZT_API uint32_t zt_find_metric(const zt_profiler *profiler, const char *name);

/* A region by its index below zt_get_region_count; regions are in order of first appearance. Any thread.
   Returns INVALID_ARGUMENT for another index, INVALID_NULL_POINTER. Since 0.1. */
ZT_API ze_result_t zt_get_region(const zt_profiler *profiler, uint32_t region, zt_region_info *info);

/* Statistics of a metric over the collected instances of a region. Any thread.
   Returns INVALID_ARGUMENT for an index out of range, INVALID_NULL_POINTER. Since 0.1. */
ZT_API ze_result_t zt_get_stats(const zt_profiler *profiler, uint32_t region, uint32_t metric,
                                zt_stats *stats);

/* A metric of a region by the GPU time of its own pass: what adds up, in units a second; what is averaged,
   the average. So metrics of different passes can be set against each other. NaN where there is none. Any
   thread. Since 0.1. */
ZT_API double zt_get_rate(const zt_profiler *profiler, uint32_t region, uint32_t metric);

/* Benchmarks work: warms up; takes samples without metric queries, at least ten, until the interval of the
   median is narrow, or twice the samples make it no narrower, or time is up; then runs the passes of the
   profiler, whose statistics get the counters. With `measure`, the profiler may be NULL. One thread.
   Returns INVALID_NULL_POINTER, OUT_OF_HOST_MEMORY, NOT_READY where a run gave no sample, tried four times.
   Since 0.1. */
ZT_API ze_result_t zt_bench(zt_profiler *profiler, const zt_bench_config *config, zt_bench_result *result);

/* Compares two variants: runs them in turn, and tells the ratio of their medians, and whether it is
   distinguishable from 1. Samples, time and precision are those of `a`; precision is that of the ratio.
   As zt_bench. Since 0.1. */
ZT_API ze_result_t zt_compare(zt_profiler *profiler, const zt_bench_config *a, const zt_bench_config *b,
                              zt_comparison *result);

/* Writes a result for people; with a profiler, also the rates of its metrics, but for those that are 0 or do
   not apply. Returns INVALID_NULL_POINTER, or UNKNOWN when the function stopped it. Since 0.1. */
ZT_API ze_result_t zt_write_bench(const zt_profiler *profiler, const zt_bench_result *result,
                                  zt_write_fn write, void *user);
ZT_API ze_result_t zt_write_comparison(const zt_comparison *result, zt_write_fn write, void *user);

/* "precise", "noise", ...: never NULL. Since 0.1. */
ZT_API const char *zt_bench_end_name(zt_bench_end end);

/* Adds the statistics of one profiler to those of another, which has to measure the same metrics: of tiles,
   threads or programs. What is in flight is not added. Any thread.
   Returns INVALID_ARGUMENT where they do not measure the same, OUT_OF_HOST_MEMORY: then no figure has
   changed, though `into` may have names of regions without instances. Since 0.1. */
ZT_API ze_result_t zt_merge(zt_profiler *into, const zt_profiler *from);

/* Writes all statistics into a flat buffer, for a file or for another machine; see PACKED STATISTICS.
   buffer  NULL: `size` receives the size that is needed
   size    the room in the buffer, and then what was used
   Any thread. Returns INVALID_SIZE where there is too little room, and `size` what is needed;
   INVALID_NULL_POINTER. Since 0.1. */
ZT_API ze_result_t zt_pack(const zt_profiler *profiler, void *buffer, size_t *size);

/* Makes a profiler of packed statistics: it has no device and measures nothing, but all that asks, reports,
   merges, packs and closes works with it.
   config    its log function, allocator, table columns and pass_tolerance count. NULL for the defaults
   profiler  receives the profiler, or NULL
   Any thread. Returns UNSUPPORTED_VERSION for a newer layout, INVALID_SIZE for a buffer that is cut off,
   INVALID_ARGUMENT for one that is damaged, OUT_OF_HOST_MEMORY, INVALID_NULL_POINTER. Since 0.1. */
ZT_API ze_result_t zt_unpack(const void *buffer, size_t size, const zt_config *config,
                             zt_profiler **profiler);

/* Writes a report: the format by suffix, .csv, .trace.json or .json, anything else a table; "-" is a table on
   standard output, as wide as the terminal; other tables keep to 100 columns, unless config.columns asks for
   more. A file is written beside the target and renamed, so that nobody reads half of it; pipes and devices
   are written to. A trace has what the timeline holds: without config.timeline it is empty. Any thread.
   Returns INVALID_NULL_POINTER, or UNKNOWN with the system's reason in zt_get_last_error. Since 0.1. */
ZT_API ze_result_t zt_report(const zt_profiler *profiler, const char *path);

/* Gives the bytes of a report to a function. Any thread. Returns INVALID_NULL_POINTER, INVALID_ENUMERATION,
   or UNKNOWN when the function stopped it. Since 0.1. */
ZT_API ze_result_t zt_write(const zt_profiler *profiler, zt_format format, zt_write_fn write, void *user);

/* Whether metrics are measured; if not, why, and in `text` (which may be NULL) what to do about it.
   Any thread. Since 0.1. */
ZT_API zt_availability zt_get_availability(const zt_profiler *profiler);

/* The reason of zt_get_availability, and what to do about it: never NULL. Any thread. Since 0.1. */
ZT_API const char *zt_get_availability_text(const zt_profiler *profiler);

/* The result of the last call that failed inside the library, and in `text` (which may be NULL) the message.
   With a NULL profiler: the last failure of this thread's calls without a profiler, zt_open above all.
   SUCCESS and "" where nothing has failed. The text is valid until the next failure. Any thread.
   Since 0.1. */
ZT_API const char *zt_get_last_error(const zt_profiler *profiler);

/* The result of that call; SUCCESS where nothing has failed. Any thread. Since 0.1. */
ZT_API ze_result_t zt_get_last_result(const zt_profiler *profiler);

/* "ZE_RESULT_NOT_READY" for ZE_RESULT_NOT_READY, and so on: never NULL. Any thread. Since 0.1. */
ZT_API const char *zt_result_name(ze_result_t result);

/* Finds a metric group of a device by name and sampling type, a zet_metric_group_sampling_type_flags_t. Any
   thread. Returns INVALID_ARGUMENT where there is none; zt_get_last_error(NULL) has the nearest names.
   Otherwise what the driver answered, INVALID_NULL_HANDLE, INVALID_NULL_POINTER. Since 0.1. */
ZT_API ze_result_t zt_find_group(ze_device_handle_t device, const char *name, uint32_t type, zt_group *group);

/* Writes a listing of a device's metric groups for people, with their metrics where `metrics` is not 0.
   Any thread. Returns what the driver answered, UNKNOWN when the function stopped it, INVALID_NULL_HANDLE,
   INVALID_NULL_POINTER. Since 0.1. */
ZT_API ze_result_t zt_write_groups(ze_device_handle_t device, int metrics, zt_write_fn write, void *user);

/* ---- streams --------------------------------------------------------------------------------------------- */

/* A configuration with every field at its default. Any thread. Since 0.1. */
ZT_API zt_stream_config zt_stream_config_default(void);

/* Opens a stream on a device, or sub-device, of an initialised driver. It samples from now on.
   config  NULL for the defaults
   stream  receives the stream, or NULL on failure, on which everything else is inert
   Returns NOT_AVAILABLE or HANDLE_OBJECT_IN_USE where the counters are in use: the message names who has
   them; INVALID_ARGUMENT where there is no such group, or the profiler keeps no timeline; INVALID_SIZE for a
   memory_limit that is too low; UNSUPPORTED_FEATURE for a reader with ZETOOLS_NO_THREADS; otherwise the
   result of the call that failed. zt_get_last_error(NULL) has the text. Not from two threads for one
   device at once. Since 0.1. */
ZT_API ze_result_t zt_stream_open(ze_context_handle_t context, ze_device_handle_t device,
                                  const zt_stream_config *config, zt_stream **stream);

/* Hands out the rows that are there, all of them, and waits for the first where there is none.
   timeout_ns  the longest wait; 0: none
   function    NULL: nobody; an attached profiler has the rows all the same
   Returns NOT_READY when the time was up and there was no row, NOT_AVAILABLE when the stream was closed
   meanwhile, DEVICE_LOST when there are no more rows, HANDLE_OBJECT_IN_USE inside a function that is given
   rows. Any thread, one at a time. Since 0.1. */
ZT_API ze_result_t zt_stream_read(zt_stream *stream, uint64_t timeout_ns, zt_row_fn function, void *user);

/* Puts a marker into a command list. The row that follows its execution has the name, unless that is the
   first of a capture, which nobody is given. The stream must be open when the list is executed. Any thread
   that may use the list.
   name  is copied. NULL and "" are shown as "(unnamed)". 4096 different names at the most
   Returns UNSUPPORTED_FEATURE where the group has no metric for it. Since 0.1. */
ZT_API ze_result_t zt_stream_mark(zt_stream *stream, ze_command_list_handle_t list, const char *name);

/* Ends a read that waits, reads what is left and hands it out, and frees everything. Where that read does not
   end within 10 seconds, the stream is left as it is.
   function  as for zt_stream_read
   Returns the final counts. Any thread, but not from a function that is given rows. Since 0.1. */
ZT_API zt_stream_counts zt_stream_close(zt_stream *stream, zt_row_fn function, void *user);

/* What became of the configuration. Any thread. Since 0.1. */
ZT_API zt_stream_info zt_stream_get_info(const zt_stream *stream);

/* What became of the reports. Any thread. Since 0.1. */
ZT_API zt_stream_counts zt_stream_get_counts(const zt_stream *stream);

/* The metrics of a row; constant for a stream. Any thread. Since 0.1. */
ZT_API uint32_t zt_stream_get_metric_count(const zt_stream *stream);

/* A metric by its index below zt_stream_get_metric_count, else NULL. Any thread. Since 0.1. */
ZT_API const zt_metric *zt_stream_get_metric(const zt_stream *stream, uint32_t metric);

/* The index of a metric by name, or UINT32_MAX; zt_stream_get_last_error then has the nearest names. Any
   thread. Since 0.1. */
ZT_API uint32_t zt_stream_find_metric(const zt_stream *stream, const char *name);

/* As zt_get_last_error. Any thread. Since 0.1. */
ZT_API const char *zt_stream_get_last_error(const zt_stream *stream);

/* As zt_get_last_result. Any thread. Since 0.1. */
ZT_API ze_result_t zt_stream_get_last_result(const zt_stream *stream);

/* Metrics of all streams that are, or were, attached to a profiler. Any thread. Since 0.1. */
ZT_API uint32_t zt_get_streamed_count(const zt_profiler *profiler);

/* A streamed metric by its index below zt_get_streamed_count, else NULL. Any thread. Since 0.1. */
ZT_API const zt_metric *zt_get_streamed_metric(const zt_profiler *profiler, uint32_t metric);

/* What the rows within the instances of a region say of a streamed metric: of instances that were collected,
   and ended before the last row that was read. Any thread.
   Returns INVALID_ARGUMENT for an index out of range, INVALID_NULL_POINTER. Since 0.1. */
ZT_API ze_result_t zt_get_streamed(const zt_profiler *profiler, uint32_t region, uint32_t metric,
                                   zt_streamed *streamed);

/* What the timeline holds. Any thread. Since 0.1. */
ZT_API zt_timeline_info zt_get_timeline(const zt_profiler *profiler);

#ifdef ZETOOLS_TRACER

/* ==== interface: the tracer =============================================================================== */

/* A configuration with every field at its default. Any thread. Since 0.1. */
ZT_API zt_trace_config zt_trace_config_default(void);

/* Begins to measure launches by themselves, as `config` says; NULL is the default. What it refers to is
   copied, but for what the hooks point to. Not from two threads for one profiler at once. Returns
   DEPENDENCY_UNAVAILABLE where the loader's tracing layer is off (zt_get_last_error tells what to do),
   INVALID_ARGUMENT for a call that cannot be traced, INVALID_SIZE for more than 16 hooks, NOT_READY while a
   call of an earlier trace is in progress, HANDLE_OBJECT_IN_USE if it traces already. Since 0.1. */
ZT_API ze_result_t zt_trace_start(zt_profiler *profiler, const zt_trace_config *config);

/* Ends it, after which no callback runs any more. Waits for calls that other threads have in progress, no
   longer than config.wait_timeout_ns. Results stay. Lists that were recorded may go on to be executed, by
   zt_execute. zt_close does it too.
   Returns NOT_READY where a call was still in progress when the time was up: it ends untroubled;
   HANDLE_OBJECT_IN_USE inside a hook. Since 0.1. */
ZT_API ze_result_t zt_trace_stop(zt_profiler *profiler);

/* How many launches were seen since the first start, and what was done with them. Any thread. Since 0.1. */
ZT_API zt_trace_counts zt_trace_get_counts(const zt_profiler *profiler);

/* Calls timed so far, of different names. Any thread. Since 0.1. */
ZT_API uint32_t zt_get_call_count(const zt_profiler *profiler);

/* A call by its index below zt_get_call_count; calls are in order of first appearance. Any thread.
   Returns INVALID_ARGUMENT for another index, INVALID_NULL_POINTER. Since 0.1. */
ZT_API ze_result_t zt_get_call(const zt_profiler *profiler, uint32_t call, zt_call_info *info);

/* The default configuration of automatic tracing. Since 0.1. */
ZT_API zt_auto_config zt_auto_config_default(void);

/* From here to the end of the process: opens a profiler on each context and device in which a command list is
   created, traces, and writes a report at exit. Calls zeInit. NULL is the default configuration. Calling it
   again does nothing; so does a call with ZT_AUTO=off in the environment. A report that cannot be written is
   told to config->profiler.log alone.
   Returns SUCCESS, or the result of zeInit or zt_trace_start. One thread. Since 0.1. */
ZT_API ze_result_t zt_auto(const zt_auto_config *config);

#endif /* ZETOOLS_TRACER */

#else /* ZETOOLS_DISABLE */

/* ==== interface, disabled ================================================================================= */

#ifdef ZT__HAVE_LEVEL_ZERO
#define ZT__RESULT ze_result_t
#else
#define ZT__RESULT int
#endif
#define ZT__OFF static inline ZT__UNUSED

ZT__OFF const char *zt_version(void) {
    return ZETOOLS_VERSION;
}
ZT__OFF zt_config zt_config_default(void) {
    static zt_config zero;
    return zero;
}
ZT__OFF ZT__RESULT zt_open(const void *context, const void *device, const zt_config *config,
                           zt_profiler **profiler) {
    (void)context, (void)device, (void)config;
    if (profiler)
        *profiler = NULL;
    return (ZT__RESULT)0;
}
ZT__OFF void zt_close(zt_profiler *profiler) {
    (void)profiler;
}
ZT__OFF zt_region zt_begin(zt_profiler *profiler, const void *list, const char *name) {
    zt_region region = {NULL, 0, 0, 0};
    (void)profiler, (void)list, (void)name;
    return region;
}
ZT__OFF void zt_end(zt_region *region) {
    (void)region;
}
ZT__OFF ZT__RESULT zt_collect(zt_profiler *profiler, uint64_t timeout_ns) {
    (void)profiler, (void)timeout_ns;
    return (ZT__RESULT)0;
}
ZT__OFF ZT__RESULT zt_release(zt_profiler *profiler, const void *list) {
    (void)profiler, (void)list;
    return (ZT__RESULT)0;
}
#define zt_execute(profiler, queue, count, lists, fence)                                                     \
    ((void)sizeof(profiler), zeCommandQueueExecuteCommandLists(queue, count, lists, fence))
ZT__OFF uint32_t zt_get_pass_count(const zt_profiler *profiler) {
    (void)profiler;
    return 1;
}
ZT__OFF ZT__RESULT zt_get_pass(const zt_profiler *profiler, uint32_t region, uint32_t pass,
                               zt_stats *time_ns) {
    static zt_stats zero;
    (void)profiler, (void)region, (void)pass;
    if (time_ns)
        *time_ns = zero;
    return (ZT__RESULT)0;
}
ZT__OFF zt_passes zt_passes_begin(zt_profiler *profiler) {
    zt_passes passes = {NULL, 0, 0};
    (void)profiler;
    return passes;
}
ZT__OFF int zt_passes_next(zt_passes *passes) {
    return passes->runs++ == 0;
}
ZT__OFF void zt_passes_end(zt_passes *passes) {
    (void)passes;
}
ZT__OFF uint32_t zt_get_tile_count(const zt_profiler *profiler) {
    (void)profiler;
    return 0;
}
ZT__OFF ZT__RESULT zt_get_tile_stats(const zt_profiler *profiler, uint32_t region, uint32_t tile,
                                     uint32_t metric, zt_stats *stats) {
    static zt_stats zero;
    (void)profiler, (void)region, (void)tile, (void)metric;
    if (stats)
        *stats = zero;
    return (ZT__RESULT)0;
}
ZT__OFF zt_counts zt_get_counts(const zt_profiler *profiler) {
    zt_counts counts = {0, 0, 0, 0, 0};
    (void)profiler;
    return counts;
}
ZT__OFF uint64_t zt_get_cause(const zt_profiler *profiler, zt_cause cause) {
    (void)profiler, (void)cause;
    return 0;
}
ZT__OFF const char *zt_cause_name(zt_cause cause) {
    (void)cause;
    return "";
}
ZT__OFF uint32_t zt_get_region_count(const zt_profiler *profiler) {
    (void)profiler;
    return 0;
}
ZT__OFF uint32_t zt_get_metric_count(const zt_profiler *profiler) {
    (void)profiler;
    return 0;
}
ZT__OFF const zt_metric *zt_get_metric(const zt_profiler *profiler, uint32_t metric) {
    (void)profiler, (void)metric;
    return NULL;
}
ZT__OFF uint32_t zt_find_metric(const zt_profiler *profiler, const char *name) {
    (void)profiler, (void)name;
    return UINT32_MAX;
}
ZT__OFF ZT__RESULT zt_get_region(const zt_profiler *profiler, uint32_t region, zt_region_info *info) {
    static zt_region_info zero;
    (void)profiler, (void)region;
    if (info) {
        *info = zero;
        info->name = "";
    }
    return (ZT__RESULT)0;
}
ZT__OFF ZT__RESULT zt_get_stats(const zt_profiler *profiler, uint32_t region, uint32_t metric,
                                zt_stats *stats) {
    static zt_stats zero;
    (void)profiler, (void)region, (void)metric;
    if (stats)
        *stats = zero;
    return (ZT__RESULT)0;
}
ZT__OFF double zt_get_rate(const zt_profiler *profiler, uint32_t region, uint32_t metric) {
    (void)profiler, (void)region, (void)metric;
    return 0;
}
ZT__OFF ZT__RESULT zt_bench(zt_profiler *profiler, const zt_bench_config *config, zt_bench_result *result) {
    static zt_bench_result zero;
    (void)profiler, (void)config;
    if (result) {
        *result = zero;
        result->region = UINT32_MAX;
    }
    return (ZT__RESULT)0;
}
ZT__OFF ZT__RESULT zt_compare(zt_profiler *profiler, const zt_bench_config *a, const zt_bench_config *b,
                              zt_comparison *result) {
    static zt_comparison zero;
    (void)profiler, (void)a, (void)b;
    if (result)
        *result = zero;
    return (ZT__RESULT)0;
}
ZT__OFF ZT__RESULT zt_write_bench(const zt_profiler *profiler, const zt_bench_result *result,
                                  zt_write_fn write, void *user) {
    (void)profiler, (void)result, (void)write, (void)user;
    return (ZT__RESULT)0;
}
ZT__OFF ZT__RESULT zt_write_comparison(const zt_comparison *result, zt_write_fn write, void *user) {
    (void)result, (void)write, (void)user;
    return (ZT__RESULT)0;
}
ZT__OFF const char *zt_bench_end_name(zt_bench_end end) {
    (void)end;
    return "";
}
ZT__OFF ZT__RESULT zt_merge(zt_profiler *into, const zt_profiler *from) {
    (void)into, (void)from;
    return (ZT__RESULT)0;
}
ZT__OFF ZT__RESULT zt_pack(const zt_profiler *profiler, void *buffer, size_t *size) {
    (void)profiler, (void)buffer;
    if (size)
        *size = 0;
    return (ZT__RESULT)0;
}
ZT__OFF ZT__RESULT zt_unpack(const void *buffer, size_t size, const zt_config *config,
                             zt_profiler **profiler) {
    (void)buffer, (void)size, (void)config;
    if (profiler)
        *profiler = NULL;
    return (ZT__RESULT)0;
}
ZT__OFF ZT__RESULT zt_report(const zt_profiler *profiler, const char *path) {
    (void)profiler, (void)path;
    return (ZT__RESULT)0;
}
ZT__OFF ZT__RESULT zt_write(const zt_profiler *profiler, zt_format format, zt_write_fn write, void *user) {
    (void)profiler, (void)format, (void)write, (void)user;
    return (ZT__RESULT)0;
}
ZT__OFF zt_availability zt_get_availability(const zt_profiler *profiler) {
    (void)profiler;
    return ZT_AVAILABILITY_UNKNOWN;
}
ZT__OFF const char *zt_get_availability_text(const zt_profiler *profiler) {
    (void)profiler;
    return "";
}
ZT__OFF const char *zt_get_last_error(const zt_profiler *profiler) {
    (void)profiler;
    return "";
}
ZT__OFF ZT__RESULT zt_get_last_result(const zt_profiler *profiler) {
    (void)profiler;
    return (ZT__RESULT)0;
}
ZT__OFF const char *zt_result_name(int result) {
    (void)result;
    return "";
}
ZT__OFF ZT__RESULT zt_find_group(const void *device, const char *name, uint32_t type, zt_group *group) {
    (void)device, (void)name, (void)type;
    if (group)
        *group = NULL;
    return (ZT__RESULT)0;
}
ZT__OFF ZT__RESULT zt_write_groups(const void *device, int metrics, zt_write_fn write, void *user) {
    (void)device, (void)metrics, (void)write, (void)user;
    return (ZT__RESULT)0;
}
ZT__OFF zt_stream_config zt_stream_config_default(void) {
    static zt_stream_config zero;
    return zero;
}
ZT__OFF ZT__RESULT zt_stream_open(const void *context, const void *device, const zt_stream_config *config,
                                  zt_stream **stream) {
    (void)context, (void)device, (void)config;
    if (stream)
        *stream = NULL;
    return (ZT__RESULT)0;
}
ZT__OFF ZT__RESULT zt_stream_read(zt_stream *stream, uint64_t timeout_ns, zt_row_fn function, void *user) {
    (void)stream, (void)timeout_ns, (void)function, (void)user;
    return (ZT__RESULT)0;
}
ZT__OFF ZT__RESULT zt_stream_mark(zt_stream *stream, const void *list, const char *name) {
    (void)stream, (void)list, (void)name;
    return (ZT__RESULT)0;
}
ZT__OFF zt_stream_counts zt_stream_close(zt_stream *stream, zt_row_fn function, void *user) {
    static zt_stream_counts zero;
    (void)stream, (void)function, (void)user;
    return zero;
}
ZT__OFF zt_stream_info zt_stream_get_info(const zt_stream *stream) {
    zt_stream_info info = {"", 0, 0, 0, 0};
    (void)stream;
    return info;
}
ZT__OFF zt_stream_counts zt_stream_get_counts(const zt_stream *stream) {
    static zt_stream_counts zero;
    (void)stream;
    return zero;
}
ZT__OFF uint32_t zt_stream_get_metric_count(const zt_stream *stream) {
    (void)stream;
    return 0;
}
ZT__OFF const zt_metric *zt_stream_get_metric(const zt_stream *stream, uint32_t metric) {
    (void)stream, (void)metric;
    return NULL;
}
ZT__OFF uint32_t zt_stream_find_metric(const zt_stream *stream, const char *name) {
    (void)stream, (void)name;
    return UINT32_MAX;
}
ZT__OFF const char *zt_stream_get_last_error(const zt_stream *stream) {
    (void)stream;
    return "";
}
ZT__OFF ZT__RESULT zt_stream_get_last_result(const zt_stream *stream) {
    (void)stream;
    return (ZT__RESULT)0;
}
ZT__OFF uint32_t zt_get_streamed_count(const zt_profiler *profiler) {
    (void)profiler;
    return 0;
}
ZT__OFF const zt_metric *zt_get_streamed_metric(const zt_profiler *profiler, uint32_t metric) {
    (void)profiler, (void)metric;
    return NULL;
}
ZT__OFF ZT__RESULT zt_get_streamed(const zt_profiler *profiler, uint32_t region, uint32_t metric,
                                   zt_streamed *streamed) {
    static zt_streamed zero;
    (void)profiler, (void)region, (void)metric;
    if (streamed)
        *streamed = zero;
    return (ZT__RESULT)0;
}
ZT__OFF zt_timeline_info zt_get_timeline(const zt_profiler *profiler) {
    static zt_timeline_info zero;
    (void)profiler;
    return zero;
}

#ifdef ZETOOLS_TRACER
ZT__OFF zt_trace_config zt_trace_config_default(void) {
    static zt_trace_config zero;
    return zero;
}
ZT__OFF ZT__RESULT zt_trace_start(zt_profiler *profiler, const zt_trace_config *config) {
    (void)profiler, (void)config;
    return (ZT__RESULT)0;
}
ZT__OFF ZT__RESULT zt_trace_stop(zt_profiler *profiler) {
    (void)profiler;
    return (ZT__RESULT)0;
}
ZT__OFF zt_trace_counts zt_trace_get_counts(const zt_profiler *profiler) {
    zt_trace_counts counts = {0, 0, 0, 0};
    (void)profiler;
    return counts;
}
ZT__OFF uint32_t zt_get_call_count(const zt_profiler *profiler) {
    (void)profiler;
    return 0;
}
ZT__OFF ZT__RESULT zt_get_call(const zt_profiler *profiler, uint32_t call, zt_call_info *info) {
    static zt_call_info zero;
    (void)profiler, (void)call;
    if (info) {
        *info = zero;
        info->name = "";
    }
    return (ZT__RESULT)0;
}
ZT__OFF zt_auto_config zt_auto_config_default(void) {
    static zt_auto_config zero;
    return zero;
}
ZT__OFF ZT__RESULT zt_auto(const zt_auto_config *config) {
    (void)config;
    return (ZT__RESULT)0;
}
#endif /* ZETOOLS_TRACER */
#endif /* ZETOOLS_DISABLE */

/* ==== regions that close themselves ======================================================================= */

/* ZT_REGION(profiler, list, name) statement
       makes a region of the statement. In C++ and in GNU C it is closed however the statement is left: by its
       end, break, goto, return or an exception. In plain ISO C it cannot see an early return or goto.
       `break` and `continue` leave the region alone, not a loop around it.
   ZT_SCOPE(profiler, list, name);
       makes a region of the rest of the block. C++ and GNU C. Since 0.1.
   ZT_PASSES(profiler) statement
       runs the statement once for each set of metric groups that fit together, and once where there is
       nothing to repeat. `break` leaves it; what is left early is repeated from the first pass on next time.
       Not to be nested. Since 0.1. */

#define ZT__JOIN2(a, b) a##b
#define ZT__JOIN(a, b) ZT__JOIN2(a, b)
#ifdef __COUNTER__ /* for several regions on one line */
#define ZT__NAME(prefix) ZT__JOIN(prefix, __COUNTER__)
#else
#define ZT__NAME(prefix) ZT__JOIN(prefix, __LINE__)
#endif

#ifndef ZETOOLS_DISABLE
/* Without a profiler, a region costs a comparison. */
static inline ZT__UNUSED zt_region zt__open_region(zt_profiler *profiler, ze_command_list_handle_t list,
                                                   const char *name) {
    static const zt_region none = {NULL, 0, 0, 0};
    return profiler ? zt_begin(profiler, list, name) : none;
}
static inline ZT__UNUSED void zt__close_region(zt_region *region) {
    if (region->slot)
        zt_end(region);
}
#endif

/* The statement of a ZT_REGION runs once, measured or not. */
static inline ZT__UNUSED int zt__body(zt_region *region) {
    return region->body++ == 0;
}

#ifdef ZETOOLS_DISABLE
#define ZT__PASSES(once, profiler) for (int once = ((void)sizeof(profiler), 1); once; once = 0)
#define ZT_PASSES(profiler) ZT__PASSES(ZT__NAME(zt__once), profiler)
#define ZT__REGION(once, profiler, list, name)                                                               \
    for (int once = ((void)sizeof(profiler), (void)sizeof(list), (void)sizeof(name), 1); once; once = 0)
#define ZT_REGION(profiler, list, name) ZT__REGION(ZT__NAME(zt__once), profiler, list, name)
#define ZT_SCOPE(profiler, list, name) ((void)sizeof(profiler), (void)sizeof(list), (void)sizeof(name))
#elif defined(__cplusplus)
#define ZT__REGION(scope, profiler, list, name)                                                              \
    for (zt_scope scope(profiler, list, name); zt__body(&scope.region);)
#define ZT_REGION(profiler, list, name) ZT__REGION(ZT__NAME(zt__region), profiler, list, name)
#define ZT_SCOPE(profiler, list, name) zt_scope ZT__NAME(zt__scope)(profiler, list, name)
#define ZT__PASSES(passes, profiler) for (zt__all_passes passes(profiler); zt_passes_next(&passes.state);)
#define ZT_PASSES(profiler) ZT__PASSES(ZT__NAME(zt__passes), profiler)
#elif defined(__GNUC__)
#define ZT__GUARD __attribute__((cleanup(zt__close_region)))
#define ZT__REGION(region, profiler, list, name)                                                             \
    for (zt_region region ZT__GUARD = zt__open_region(profiler, list, name); zt__body(&region);)
#define ZT_REGION(profiler, list, name) ZT__REGION(ZT__NAME(zt__region), profiler, list, name)
#define ZT_SCOPE(profiler, list, name)                                                                       \
    zt_region ZT__NAME(zt__scope)                                                                            \
    ZT__GUARD ZT__UNUSED = zt__open_region(profiler, list, name)
#define ZT__PASSES(passes, profiler)                                                                         \
    for (zt_passes passes __attribute__((cleanup(zt_passes_end))) = zt_passes_begin(profiler);               \
         zt_passes_next(&passes);)
#define ZT_PASSES(profiler) ZT__PASSES(ZT__NAME(zt__passes), profiler)
#else
#define ZT__PASSES(passes, profiler)                                                                         \
    for (zt_passes passes = zt_passes_begin(profiler); zt_passes_next(&passes);)
#define ZT_PASSES(profiler) ZT__PASSES(ZT__NAME(zt__passes), profiler)
#define ZT__REGION(region, profiler, list, name)                                                             \
    for (zt_region region = zt__open_region(profiler, list, name); zt__body(&region);                        \
         zt__close_region(&region))
#define ZT_REGION(profiler, list, name) ZT__REGION(ZT__NAME(zt__region), profiler, list, name)
#endif

#ifdef __cplusplus
} /* extern "C" */

#ifndef ZETOOLS_DISABLE
/* A region for the lifetime of an object. Neither copied nor moved. Since 0.1. */
struct zt_scope {
    zt_region region;
    zt_scope(zt_profiler *profiler, ze_command_list_handle_t list, const char *name)
        : region(zt__open_region(profiler, list, name)) {}
    ~zt_scope() { zt__close_region(&region); }
    zt_scope(const zt_scope &) = delete;
    zt_scope &operator=(const zt_scope &) = delete;
};

/* What ZT_PASSES is in C++. */
struct zt__all_passes {
    zt_passes state;
    explicit zt__all_passes(zt_profiler *profiler) : state(zt_passes_begin(profiler)) {}
    ~zt__all_passes() { zt_passes_end(&state); }
    zt__all_passes(const zt__all_passes &) = delete;
    zt__all_passes &operator=(const zt__all_passes &) = delete;
};
#else
struct zt_scope {
    zt_scope(const zt_profiler *, const void *, const char *) {}
    ~zt_scope() {}
    zt_scope(const zt_scope &) = delete;
    zt_scope &operator=(const zt_scope &) = delete;
};
#endif
#endif

#endif /* ZETOOLS_H */

/* ========================================================================================================== */
/* IMPLEMENTATION */
/*                                                                                                            */
/* Floors, each built on those above it. Search for their tags: */
/*   >>platform >>memory >>diagnostics >>driver >>groups >>slots >>statistics >>regions >>timeline */
/*   >>harvest >>passes >>merging >>streams >>tracer >>bench >>reports >>public */
/* ========================================================================================================== */

#if defined(ZETOOLS_IMPLEMENTATION) && !defined(ZETOOLS_DISABLE) && !defined(ZT__IMPLEMENTED)
#define ZT__IMPLEMENTED

#if defined(ZETOOLS_TRACER) && !defined(ZT__TRACER_DECLARED)
#error "ZETOOLS_TRACER came too late: define it before zetools.h is included for the first time in this file"
#endif

#include <level_zero/zes_api.h>
#include <level_zero/zet_api.h>
#ifdef ZETOOLS_TRACER
#include <level_zero/layers/zel_tracing_api.h>
#include <level_zero/layers/zel_tracing_register_cb.h>
#endif

#include <dlfcn.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* What is not there is NaN in here, also in programs that tell the compiler that no value is (-ffast-math,
   and by default with some compilers): zt__is_nan() is by bits, and this is for compilers that go further. */
#if defined(__clang__)
#pragma float_control(precise, on, push)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Most functions run seldom, and are made small: ZT__FN. ZT__HOT are those that run for each region, row or
   traced call. ZT__APART are not taken into others: what is hot would be made small in what is not. ZT__ONCE
   have one copy of their code, however they are called. */
#if defined(__GNUC__)
#define ZT__ONCE __attribute__((noinline))
#else
#define ZT__ONCE
#endif
#if defined(__clang__)
#define ZT__FN static ZT__UNUSED __attribute__((cold, minsize))
#define ZT__HOT static ZT__UNUSED __attribute__((hot))
#define ZT__APART __attribute__((noinline))
#elif defined(__GNUC__) && __GNUC__ >= 8
#define ZT__FN static ZT__UNUSED __attribute__((cold))
#define ZT__HOT static ZT__UNUSED __attribute__((hot))
#define ZT__APART __attribute__((noipa))
#else
#define ZT__FN static ZT__UNUSED
#define ZT__HOT static ZT__UNUSED
#define ZT__APART
#endif

/* Compilers take code that calls a cold function for cold too. The application's code is not to be made slow
   by that where it is in one file with the implementation: there it is compiled as if that was in another. */
#undef ZT_API
#ifdef ZETOOLS_STATIC
#define ZT_API static ZT__UNUSED ZT__APART
#else
#define ZT_API extern ZT__APART
#endif

#define ZT__COUNT_OF(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

/* ==== >>platform: clock, sleep, locks, atomics, symbols =================================================== */

/* In strict ISO modes, where other headers came first, these are hidden though they exist. */
#ifndef CLOCK_MONOTONIC
#define CLOCK_MONOTONIC 1
#define CLOCK_REALTIME 0
int clock_gettime(int clock, struct timespec *now);
int nanosleep(const struct timespec *wanted, struct timespec *left);
int setenv(const char *name, const char *value, int overwrite);
#endif
#ifndef CLOCK_THREAD_CPUTIME_ID
#define CLOCK_THREAD_CPUTIME_ID 3
#endif

/* What has to be one for the whole process, however many files or libraries hold a copy of this header: weak
   symbols of one name are one object. The number changes when their layout does. */
#define ZT__PROCESS_WIDE __attribute__((weak))

typedef pthread_mutex_t zt__mutex;

ZT__HOT uint64_t zt__clock_ns(int clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

ZT__HOT uint64_t zt__now_ns(void) {
    return zt__clock_ns(CLOCK_MONOTONIC);
}

ZT__FN void zt__sleep_ns(uint64_t ns) {
    struct timespec wanted;
    wanted.tv_sec = (time_t)(ns / 1000000000u);
    wanted.tv_nsec = (long)(ns % 1000000000u);
    nanosleep(&wanted, NULL);
}

/* A point in time that waits end at, safe from overflow. */
ZT__FN uint64_t zt__deadline(uint64_t timeout_ns) {
    uint64_t now = zt__now_ns();
    return timeout_ns > UINT64_MAX - now ? UINT64_MAX : now + timeout_ns;
}

/* Sleeps a little, longer each time, and never past the deadline. Returns 0 when that has come. */
ZT__FN int zt__pause_until(uint64_t deadline, uint64_t *pause_ns) {
    uint64_t now = zt__now_ns();
    if (now >= deadline)
        return 0;
    *pause_ns = *pause_ns ? *pause_ns * 2 : 10000;
    if (*pause_ns > 1000000)
        *pause_ns = 1000000;
    zt__sleep_ns(*pause_ns < deadline - now ? *pause_ns : deadline - now);
    return 1;
}

ZT__HOT int zt__try_lock(zt__mutex *mutex) {
    return pthread_mutex_trylock(mutex) == 0;
}

/* What is locked is locked for instants: to try again costs less than to sleep and be woken. */
ZT__FN void zt__await_lock(zt__mutex *mutex) {
    int tries = 1000;
    while (tries-- > 0)
        if (zt__try_lock(mutex))
            return;
    pthread_mutex_lock(mutex);
}

ZT__HOT ZT__APART void zt__lock(zt__mutex *mutex) {
    if (!zt__try_lock(mutex))
        zt__await_lock(mutex);
}

ZT__HOT void zt__unlock(zt__mutex *mutex) {
    pthread_mutex_unlock(mutex);
}

/* A number that differs between any two threads alive. */
static __thread char zt__thread_mark;
ZT__HOT uintptr_t zt__thread_id(void) {
    return (uintptr_t)&zt__thread_mark;
}

/* Threads have numbers below ZT__SHELVES, so that what one of them uses again is what its caches have. */
enum { ZT__SHELVES = 16 };
ZT__PROCESS_WIDE uint32_t zt__thread_count_1;

ZT__HOT uint32_t zt__thread_shelf(void) {
    static __thread uint32_t number;
    if (number == 0)
        number = __atomic_add_fetch(&zt__thread_count_1, 1, __ATOMIC_RELAXED);
    return number % ZT__SHELVES;
}

/* A lock whose owner notices that it has it already: functions of the application run under it, and may call
   back. */
typedef struct zt__owned {
    zt__mutex mutex;
    uintptr_t owner;
} zt__owned;

/* How deep this thread is inside the library: calls made there are not the application's, and a tracer leaves
   them alone. */
ZT__PROCESS_WIDE __thread uint32_t zt__inside_1;

#define zt__load(pointer) __atomic_load_n(pointer, __ATOMIC_ACQUIRE)
#define zt__store(pointer, value) __atomic_store_n(pointer, value, __ATOMIC_RELEASE)

#define zt__count_up(pointer) __atomic_add_fetch(pointer, 1, __ATOMIC_RELAXED)

/* Guards what is done in a few instructions: to take it is one exchange, and to give it back a store. Who
   does not get it tries again, and then sleeps, so that a thread of less priority that has it can go on. */
typedef uint32_t zt__latch;

ZT__FN void zt__await_latch(zt__latch *latch) {
    uint32_t tries = 0;
    do {
        while (__atomic_load_n(latch, __ATOMIC_RELAXED))
            if (++tries % 16384 == 0)
                zt__sleep_ns(1000);
    } while (__atomic_exchange_n(latch, 1, __ATOMIC_ACQUIRE));
}

ZT__HOT void zt__take(zt__latch *latch) {
    if (__atomic_exchange_n(latch, 1, __ATOMIC_ACQUIRE))
        zt__await_latch(latch);
}

ZT__HOT void zt__give(zt__latch *latch) {
    zt__store(latch, 0);
}

ZT__HOT int zt__owns(const zt__owned *owned) {
    return zt__load(&owned->owner) == zt__thread_id();
}

/* Returns 0, without locking, where this thread owns it already. */
ZT__FN int zt__own(zt__owned *owned) {
    if (zt__owns(owned))
        return 0;
    zt__lock(&owned->mutex);
    zt__store(&owned->owner, zt__thread_id());
    return 1;
}

/* Returns 0 also where another thread owns it. */
ZT__FN int zt__try_own(zt__owned *owned) {
    if (zt__owns(owned) || !zt__try_lock(&owned->mutex))
        return 0;
    zt__store(&owned->owner, zt__thread_id());
    return 1;
}

ZT__FN void zt__disown(zt__owned *owned) {
    zt__store(&owned->owner, (uintptr_t)0);
    zt__unlock(&owned->mutex);
}

/* ---- threads of the library's own ------------------------------------------------------------------------ */

/* A thread that takes one step after the other until a step returns 0 or the thread is stopped. A step may
   not last. Between steps it can wait for a bell. */
typedef struct zt__thread {
    int runs; /* atomic, as the next two */
    int stops, ended;
#ifndef ZETOOLS_NO_THREADS
    struct zt__thread *next;
    int (*step)(void *user);
    void *user;
    pthread_t handle;
    zt__mutex lock;
    pthread_cond_t bell;
    int rung;
#endif
} zt__thread;

#ifndef ZETOOLS_NO_THREADS

/* The driver is unloaded when the process exits, so these threads must end before. */
static zt__mutex zt__threads_lock = PTHREAD_MUTEX_INITIALIZER;
static zt__thread *zt__threads;
static int zt__ends_threads;

ZT__FN void *zt__run_thread(void *argument) {
    zt__thread *thread = (zt__thread *)argument;
    while (!zt__load(&thread->stops) && thread->step(thread->user))
        ;
    zt__store(&thread->ended, 1);
    return NULL;
}

ZT__FN void zt__ring(zt__thread *thread) {
    int was_rung;
    zt__lock(&thread->lock);
    was_rung = thread->rung;
    thread->rung = 1;
    zt__unlock(&thread->lock);
    if (!was_rung)
        pthread_cond_signal(&thread->bell);
}

/* Waits, a second at the most. Returns whether somebody rang. */
ZT__FN int zt__await_bell(zt__thread *thread) {
    struct timespec until;
    int rung;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    zt__lock(&thread->lock);
    if (!thread->rung)
        pthread_cond_timedwait(&thread->bell, &thread->lock, &until);
    rung = thread->rung;
    thread->rung = 0;
    zt__unlock(&thread->lock);
    return rung;
}

/* Signals are the application's: its own threads shall have them. */
ZT__FN int zt__create_thread(zt__thread *thread) {
    int failed;
#ifdef SIG_SETMASK
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
#endif
    failed = pthread_create(&thread->handle, NULL, zt__run_thread, thread);
#ifdef SIG_SETMASK
    pthread_sigmask(SIG_SETMASK, &before, NULL);
#endif
    return !failed;
}

/* With the threads locked. Returns 0 where the driver, or the application's function, does not give the
   thread back: then it is left alone, with all that it uses, and can be joined later. */
ZT__FN int zt__join_thread(zt__thread *thread) {
    uint64_t pause = 0, deadline = zt__deadline(2000000000u);
    zt__thread **place = &zt__threads;
    while (*place && *place != thread)
        place = &(*place)->next;
    if (*place)
        *place = thread->next;
    zt__store(&thread->stops, 1);
    zt__ring(thread);
    while (!zt__load(&thread->ended))
        if (!zt__pause_until(deadline, &pause))
            return 0;
    pthread_join(thread->handle, NULL);
    zt__store(&thread->runs, 0);
    return 1;
}

ZT__FN void zt__end_threads(void) {
    zt__lock(&zt__threads_lock);
    while (zt__threads)
        zt__join_thread(zt__threads);
    zt__unlock(&zt__threads_lock);
}

ZT__FN int zt__start_thread(zt__thread *thread, int (*step)(void *user), void *user) {
    int started;
    thread->step = step;
    thread->user = user;
    pthread_mutex_init(&thread->lock, NULL);
    pthread_cond_init(&thread->bell, NULL);
    zt__lock(&zt__threads_lock);
    if (!zt__ends_threads)
        zt__ends_threads = atexit(zt__end_threads) == 0;
    zt__store(&thread->runs, 1);
    started = zt__ends_threads && zt__create_thread(thread);
    if (started) {
        thread->next = zt__threads;
        zt__threads = thread;
    } else {
        zt__store(&thread->runs, 0);
    }
    zt__unlock(&zt__threads_lock);
    return started;
}

/* Returns as zt__join_thread; 1 also where none runs. */
ZT__FN int zt__stop_thread(zt__thread *thread) {
    int stopped = 1;
    zt__lock(&zt__threads_lock);
    if (zt__load(&thread->runs))
        stopped = zt__join_thread(thread);
    zt__unlock(&zt__threads_lock);
    return stopped;
}

#else

ZT__FN void zt__ring(zt__thread *thread) {
    (void)thread;
}

ZT__FN int zt__await_bell(zt__thread *thread) {
    (void)thread;
    return 0;
}

ZT__FN int zt__start_thread(zt__thread *thread, int (*step)(void *user), void *user) {
    (void)thread, (void)step, (void)user;
    return 0;
}

ZT__FN int zt__stop_thread(zt__thread *thread) {
    (void)thread;
    return 1;
}

#endif

/* Copies the address of a function of the loaded libraries to the pointer at `function`, or NULL. */
ZT__FN void zt__find_symbol(const char *name, void *function) {
    void *program = dlopen(NULL, RTLD_LAZY);
    void *symbol = program ? dlsym(program, name) : NULL;
    memcpy(function, &symbol, sizeof symbol); /* ISO C has no cast from object to function */
    if (program)
        dlclose(program);
}

/* Of numbers that fit into an integer. */
ZT__HOT double zt__floor(double number) {
    double whole = (double)(int64_t)number;
    return whole > number ? whole - 1 : whole;
}

/* Counts and times fit into a signed integer, which converts in one instruction. */
ZT__HOT double zt__to_double(uint64_t count) {
    return (double)(int64_t)count;
}

ZT__HOT uint64_t zt__to_count(double number) {
    return (uint64_t)(int64_t)number;
}

/* The numbers by their bits: without sign, those of infinity, and of what is none. */
#define ZT__INFINITE UINT64_C(0xffe0000000000000)

ZT__HOT uint64_t zt__without_sign(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits << 1;
}

ZT__HOT ZT__ONCE int zt__is_nan(double value) {
    return zt__without_sign(value) > ZT__INFINITE;
}

ZT__HOT int zt__is_finite(double value) {
    return zt__without_sign(value) < ZT__INFINITE;
}

ZT__HOT double zt__if_finite(double value) {
    return zt__is_finite(value) ? value : (double)NAN;
}

/* By bits: none is 0 less one, those of a negative number are beyond, and so are those of no number. */
ZT__HOT int zt__is_positive(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits - 1 < ZT__INFINITE / 2;
}

/* Whether the one number is below the other; what is none is neither below nor above. */
ZT__FN int zt__is_below(double lower, double higher) {
    return !zt__is_nan(lower) && !zt__is_nan(higher) && lower < higher;
}

/* The square root by Newton's method, from half the exponent: for this alone nobody should have to link with
   the mathematics library. */
ZT__FN double zt__sqrt(double square) {
    double root;
    uint64_t bits;
    int i;
    if (!zt__is_positive(square))
        return zt__is_nan(square) ? square : 0;
    memcpy(&bits, &square, sizeof bits);
    bits = (bits >> 1) + (UINT64_C(0x3ff) << 51);
    memcpy(&root, &bits, sizeof root);
    for (i = 0; i < 5; i++)
        root = 0.5 * (root + square / root);
    return root;
}

/* ==== >>memory: everything comes from the application's allocator, zeroed ================================= */

ZT__FN void *zt__malloc(size_t size, void *user) {
    (void)user;
    return malloc(size);
}

ZT__FN void zt__mfree(void *memory, void *user) {
    (void)user;
    free(memory);
}

static const zt_allocator zt__default_allocator = {zt__malloc, zt__mfree, NULL};

ZT__FN void *zt__allocate(const zt_allocator *allocator, size_t count, size_t size) {
    void *memory;
    if (count == 0 || size > SIZE_MAX / count)
        return NULL;
    memory = allocator->allocate(count * size, allocator->user);
    if (memory)
        memset(memory, 0, count * size);
    return memory;
}

ZT__FN void zt__free(const zt_allocator *allocator, void *memory) {
    if (memory)
        allocator->release(memory, allocator->user);
}

/* ==== >>diagnostics: one list of messages ================================================================= */

/* Identifier and text. A text begins with the call that failed, and ends with what to do. */
#define ZT__MESSAGES(X)                                                                                      \
    X(CALL_FAILED, "%s failed: %s (0x%08x). %s")                                                             \
    X(NULL_ARGUMENT, "%s: %s is NULL. Pass a valid one.")                                                    \
    X(BAD_ALLOCATOR, "%s: config.allocator has only one of its two functions. Give both or none.")           \
    X(NO_MEMORY, "%s: out of memory for %s. Free some, or lower config.max_slots and config.samples.")       \
    X(TOO_MANY_PROFILERS, "zt_open: %u profilers are open in this process. Close some.")                     \
    X(TOO_MANY_GROUPS, "zt_open: more than %u metric groups are named. Name fewer.")                         \
    X(METRICS_NOT_ENABLED,                                                                                   \
      "zetMetricGroupGet failed: %s. Metrics are not enabled in the driver, and it has "                     \
      "no zetDeviceEnableMetricsExp that works: set ZET_ENABLE_METRICS=1 in the "                            \
      "environment before zeInit.")                                                                          \
    X(METRIC_LIBRARY_MISSING, "zetMetricGroupGet: the device lists no counters (%u groups in all). The "     \
                              "driver's metric libraries are missing: install Intel Metrics Discovery and "  \
                              "Metrics Library (libigdmd, libigdml) for this driver.")                       \
    X(NO_PERMISSION, "%s failed: %s. The system reserves metrics for privileged users: as root, write 0 to " \
                     "%s, or run with CAP_PERFMON.")                                                         \
    X(COUNTERS_IN_USE, "%s failed: %s. The device's counters are in use by %s: close it, then open again.")  \
    X(NO_SUCH_GROUP, "zt_open: the device has no event-based metric group '%.64s'. Nearest: %s.")            \
    X(GROUP_NOT_FOUND, "zt_find_group: the device has no such metric group '%.64s' of that sampling type. "  \
                       "Nearest: %s.")                                                                       \
    X(GROUPS_CONFLICT, "zt_open: metric groups '%s' and '%s' share domain %u, so they cannot be active "     \
                       "together. Name one of them, or repeat the work with ZT_PASSES and raise "            \
                       "config.max_passes.")                                                                 \
    X(TOO_MANY_PASSES, "zt_open: the metric groups need %u passes, and config.max_passes is %u. Name fewer " \
                       "groups, or raise it.")                                                               \
    X(TOO_MANY_METRICS, "zt_open: config.metrics names more than %u metrics. Name fewer.")                   \
    X(PASS_FAILED,                                                                                           \
      "ZT_PASSES: pass %u is left out, its metric groups could not be activated: %s. In the way: "           \
      "%s. Close that, then repeat.")                                                                        \
    X(METRICS_UNAVAILABLE, "%s failed: %s. Metrics cannot be measured on this device; regions have times.")  \
    X(TIMES_BY_CHOICE, "zt_open: no metric groups were asked for; regions have times. Name some in "         \
                       "config.groups or ZT_GROUPS.")                                                        \
    X(DEVICE_LOST,                                                                                           \
      "%s: the device is lost (%s). What was in flight is counted as lost; open a new profiler "             \
      "when the device is back.")                                                                            \
    X(NO_THREAD,                                                                                             \
      "zt_open: no thread could be started for config.deferred_thread: what is deferred is "                 \
      "calculated on the threads that collect or ask. Lower the number of threads, or build without "        \
      "ZETOOLS_NO_THREADS.")                                                                                 \
    X(NO_SUCH_METRIC, "%s: there is no metric '%.64s'. Nearest: %s.")                                        \
    X(NO_SLOT, "zt_begin: all %u slots are in flight, region '%.64s' is not measured. Call zt_collect() "    \
               "more often, zt_release() for lists that were reset, or raise config.max_slots.")             \
    X(TOO_MANY_NAMES, "zt_begin: more than %u names of regions. Do not put counters into names.")            \
    X(REGION_NOT_CLOSED, "%s: region '%.64s' was begun on this list and not ended. Call zt_end() for it.")   \
    X(REGION_OPEN, "zt_collect: region '%.64s' is still open, and is not collected. Call zt_end() for it.")  \
    X(OVERWRITTEN, "zt_execute: the last execution of a list was not finished in time, its results are "     \
                   "overwritten. Raise config.wait_timeout_ns, or execute other lists in between.")          \
    X(SAMPLE_LOST, "zt_collect: an instance of region '%.64s' is lost: %s. It is counted, and kept out of "  \
                   "the statistics.")                                                                        \
    X(NOT_FINISHED, "%s: work was still running when the time was up; its regions are counted as lost. "     \
                    "Synchronise with the device before, or raise config.wait_timeout_ns.")                  \
    X(INSIDE_CALLBACK, "%s was called from the sample or log function, which runs while samples are "        \
                       "collected. Call it elsewhere.")                                                      \
    X(BAD_INDEX, "%s: index %u is too high. Ask zt_get_%s_count() first.")                                       \
    X(CANNOT_WRITE, "zt_report: cannot write '%.512s': %s. Check the directory and its permissions.")        \
    X(WRITE_STOPPED, "zt_write: the write function answered that it cannot go on.")                          \
    X(NOTHING_TO_BENCH, "%s: config.run and config.measure are both NULL. Give one.")                        \
    X(NO_BENCH_SAMPLE,                                                                                       \
      "%s: '%.64s' gave no sample: %s. Put a region of the profiler that it is given around "                \
      "the work, and see that the work ends.")                                                               \
    X(LAYOUTS_DIFFER,                                                                                        \
      "zt_merge: the profilers do not measure the same: %s. Open both with the same groups.")                \
    X(MERGE_SELF, "zt_merge: a profiler cannot be merged into itself.")                                      \
    X(BAD_PACK, "zt_unpack: %s. Pass what zt_pack wrote, whole and unchanged.")                              \
    X(NEWER_PACK, "zt_unpack: the buffer has layout %u, this is zetools " ZETOOLS_VERSION                    \
                  ", which reads layout %u. Use the newer version here too.")                                \
    X(BUFFER_TOO_SMALL, "zt_pack: the buffer has %llu bytes, and %llu are needed. Ask for the size with a "  \
                        "NULL buffer, while nothing is collected.")                                          \
    X(BAD_FORMAT, "zt_write: %d is no zt_format.")                                                           \
    X(CLOCKS_UNRELATED, "%s failed: %s. Device time and host time cannot be related, so there is no "        \
                        "timeline. Update loader and driver, or set config.timeline to 0.")                  \
    X(NO_SUCH_TIMED_GROUP, "zt_stream_open: the device has no time-based metric group '%.64s'. "             \
                           "Nearest: %s.")                                                                   \
    X(MEMORY_LIMIT, "%s: config.memory_limit is %lu bytes, and group '%s' needs %lu. Raise it.")             \
    X(NO_TIMELINE, "zt_stream_open: config.profiler keeps no timeline. Set its config.timeline.")            \
    X(NO_READER, "zt_stream_open: config.reader is set, and %s. Call zt_stream_read() often instead.")       \
    X(STREAM_GAP, "zetMetricStreamerReadData: the device dropped data, for they were not read in time. "     \
                  "Call zt_stream_read() more often, set config.reader, or raise config.period_ns.")         \
    X(NOT_CALCULATED, "zetMetricGroupCalculateMetricValues failed: %s. These reports are discarded. On a "   \
                      "device of several tiles, open a stream on each sub-device.")                          \
    X(STREAM_BUSY, "%s: the stream is being read. Do not call this from the function that is given rows, "   \
                   "nor from two threads at once.")                                                          \
    X(CANNOT_MARK, "zt_stream_mark: '%.64s' is not marked: %s.")                                             \
    X(THREAD_HANGS, "%s: a thread of the library's own does not return from the driver, or from "            \
                    "config.sample. All is left as it is. Close it again later.")                            \
    ZT__TRACER_MESSAGES(X)

#ifdef ZETOOLS_TRACER
#define ZT__TRACER_MESSAGES(X)                                                                               \
    X(TRACING_OFF, "zt_trace_start: no callback came (%s), so the loader's tracing layer is off. Set "       \
                   "ZE_ENABLE_TRACING_LAYER=1 in the environment before zeInit, and install the loader's "   \
                   "libze_tracing_layer.")                                                                   \
    X(TRACING_ALREADY, "zt_trace_start: this profiler traces already. Call zt_trace_stop() first.")          \
    X(NO_SUCH_CALL, "zt_trace_start: there is no call '%.64s' to be traced. Nearest: %s.")                   \
    X(BAD_HOOKS, "zt_trace_start: config.hooks is NULL, or has more than %u. Give fewer.")                   \
    X(INSIDE_HOOK, "%s was called from a callback of the tracer, for which it would have to wait. Call it "  \
                   "elsewhere.")                                                                             \
    X(CALLS_IN_PROGRESS, "zt_trace_stop: a traced call was still in progress when the time was up. The "     \
                         "tracer stays, switched off, until that call ends; raise config.wait_timeout_ns "   \
                         "or end the wait in it.")
#else
#define ZT__TRACER_MESSAGES(X)
#endif

typedef enum zt__message {
#define X(identifier, text) ZT__##identifier,
    ZT__MESSAGES(X)
#undef X
        ZT__MESSAGE_COUNT
} zt__message;

typedef struct zt__text {
    ze_result_t result;
    char text[1024];
} zt__text;

typedef struct zt__diagnostics {
    zt__mutex lock;
    zt__text last;
    uint8_t said[ZT__MESSAGE_COUNT]; /* each is logged once */
    zt_log_fn log;
    void *user;
} zt__diagnostics;

static __thread zt__text zt__thread_error; /* of calls that have no profiler */

/* The names of the causes, in the order of zt_cause. */
ZT_API const char *zt_cause_name(zt_cause cause) {
    static const char *const names[ZT_CAUSE_COUNT] = {
        "report error",
        "report lost",
        "report without workload",
        "report inconsistent",
        "context mismatch",
        "mode mismatch",
        "overrun",
        "query split",
        "never delivered",
        "overwritten",
        "begun in another pass",
        "read failed",
        "device lost",
        "no slot",
        "no memory",
        "too many names",
        "append failed",
        "not closed",
        "begun after device loss",
    };
    return (unsigned)cause < ZT_CAUSE_COUNT ? names[cause] : "unknown";
}

#define ZT__RESULTS(X)                                                                                       \
    X(SUCCESS)                                                                                               \
    X(NOT_READY)                                                                                             \
    X(ERROR_DEVICE_LOST)                                                                                     \
    X(ERROR_OUT_OF_HOST_MEMORY)                                                                              \
    X(ERROR_OUT_OF_DEVICE_MEMORY)                                                                            \
    X(ERROR_MODULE_BUILD_FAILURE)                                                                            \
    X(ERROR_MODULE_LINK_FAILURE)                                                                             \
    X(ERROR_DEVICE_REQUIRES_RESET)                                                                           \
    X(ERROR_DEVICE_IN_LOW_POWER_STATE)                                                                       \
    X(ERROR_INSUFFICIENT_PERMISSIONS)                                                                        \
    X(ERROR_NOT_AVAILABLE)                                                                                   \
    X(ERROR_DEPENDENCY_UNAVAILABLE)                                                                          \
    X(WARNING_DROPPED_DATA)                                                                                  \
    X(ERROR_UNINITIALIZED)                                                                                   \
    X(ERROR_UNSUPPORTED_VERSION)                                                                             \
    X(ERROR_UNSUPPORTED_FEATURE)                                                                             \
    X(ERROR_INVALID_ARGUMENT)                                                                                \
    X(ERROR_INVALID_NULL_HANDLE)                                                                             \
    X(ERROR_HANDLE_OBJECT_IN_USE)                                                                            \
    X(ERROR_INVALID_NULL_POINTER)                                                                            \
    X(ERROR_INVALID_SIZE)                                                                                    \
    X(ERROR_UNSUPPORTED_SIZE)                                                                                \
    X(ERROR_UNSUPPORTED_ALIGNMENT)                                                                           \
    X(ERROR_INVALID_SYNCHRONIZATION_OBJECT)                                                                  \
    X(ERROR_INVALID_ENUMERATION)                                                                             \
    X(ERROR_UNSUPPORTED_ENUMERATION)                                                                         \
    X(ERROR_UNSUPPORTED_IMAGE_FORMAT)                                                                        \
    X(ERROR_INVALID_NATIVE_BINARY)                                                                           \
    X(ERROR_INVALID_GLOBAL_NAME)                                                                             \
    X(ERROR_INVALID_KERNEL_NAME)                                                                             \
    X(ERROR_INVALID_FUNCTION_NAME)                                                                           \
    X(ERROR_INVALID_GROUP_SIZE_DIMENSION)                                                                    \
    X(ERROR_INVALID_GLOBAL_WIDTH_DIMENSION)                                                                  \
    X(ERROR_INVALID_KERNEL_ARGUMENT_INDEX)                                                                   \
    X(ERROR_INVALID_KERNEL_ARGUMENT_SIZE)                                                                    \
    X(ERROR_INVALID_KERNEL_ATTRIBUTE_VALUE)                                                                  \
    X(ERROR_INVALID_MODULE_UNLINKED)                                                                         \
    X(ERROR_INVALID_COMMAND_LIST_TYPE)                                                                       \
    X(ERROR_OVERLAPPING_REGIONS)                                                                             \
    X(ERROR_UNKNOWN)

/* Names stand in one text, each with its end, in the order of the results. */
ZT_API const char *zt_result_name(ze_result_t result) {
#define X(name) ZE_RESULT_##name,
    static const ze_result_t results[] = {ZT__RESULTS(X)};
#undef X
#define X(name) "ZE_RESULT_" #name "\0"
    static const char names[] = ZT__RESULTS(X) "a result without a name";
#undef X
    const char *name = names;
    uint32_t i;
    for (i = 0; i < ZT__COUNT_OF(results) && results[i] != result; i++)
        name += strlen(name) + 1;
    return name;
}

/* The texts of the messages stand one behind the other, each with its end. */
ZT__FN const char *zt__text_of(int message) {
#define X(identifier, text) char identifier[sizeof("[" #identifier "] " text)];
    static const struct {
        ZT__MESSAGES(X)
    } texts = {
#undef X
#define X(identifier, text) "[" #identifier "] " text,
        ZT__MESSAGES(X)
#undef X
    };
    const char *text = (const char *)&texts;
    while (message-- > 0)
        text += strlen(text) + 1;
    return text;
}

/* Keeps a message as the last one, and logs the first of its kind. Not to be called with the state or the
   results locked: the application's log function runs. */
ZT__FN void zt__say(zt__diagnostics *diagnostics, ze_result_t result, int message, ...) {
    zt__text now;
    int first;
    va_list arguments;
    va_start(arguments, message);
    vsnprintf(now.text, sizeof now.text, zt__text_of(message), arguments);
    va_end(arguments);
    now.result = result;
    if (!diagnostics) {
        zt__thread_error = now;
        return;
    }
    zt__lock(&diagnostics->lock);
    diagnostics->last = now;
    first = result != ZE_RESULT_SUCCESS && !diagnostics->said[message];
    diagnostics->said[message] = 1;
    zt__unlock(&diagnostics->lock);
    if (first && diagnostics->log)
        diagnostics->log((int)result, now.text, diagnostics->user);
}

ZT__FN int zt__is_lost(ze_result_t result) {
    return result == ZE_RESULT_ERROR_DEVICE_LOST || result == ZE_RESULT_ERROR_DEVICE_REQUIRES_RESET;
}

/* The message for a call that failed with no particular meaning. A lost device is remembered. */
ZT__FN void zt__say_failed(zt__diagnostics *diagnostics, int *lost, ze_result_t result, const char *call,
                           const char *remedy) {
    int message = zt__is_lost(result) ? ZT__DEVICE_LOST : ZT__CALL_FAILED;
    if (message == ZT__DEVICE_LOST)
        zt__store(lost, 1);
    zt__say(diagnostics, result, message, call, zt_result_name(result), (unsigned)result, remedy);
}

ZT__FN void zt__say_null(zt__diagnostics *diagnostics, const char *call, const char *what) {
    zt__say(diagnostics, ZE_RESULT_ERROR_INVALID_NULL_POINTER, ZT__NULL_ARGUMENT, call, what);
}

ZT__FN void zt__say_no_handle(zt__diagnostics *diagnostics, const char *call, const char *what) {
    zt__say(diagnostics, ZE_RESULT_ERROR_INVALID_NULL_HANDLE, ZT__NULL_ARGUMENT, call, what);
}

ZT__FN void zt__say_no_memory(zt__diagnostics *diagnostics, const char *call, const char *what) {
    zt__say(diagnostics, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, ZT__NO_MEMORY, call, what);
}

/* The same as values: the result that a function fails with when it has said so. Macros, for what the
   compiler sees of a result need not be looked at again. */
#define zt__fail(diagnostics, result, ...) (zt__say(diagnostics, result, __VA_ARGS__), (ze_result_t)(result))
#define zt__fail_null(...) (zt__say_null(__VA_ARGS__), (ze_result_t)ZE_RESULT_ERROR_INVALID_NULL_POINTER)
#define zt__fail_no_handle(...)                                                                              \
    (zt__say_no_handle(__VA_ARGS__), (ze_result_t)ZE_RESULT_ERROR_INVALID_NULL_HANDLE)
#define zt__fail_no_memory(...)                                                                              \
    (zt__say_no_memory(__VA_ARGS__), (ze_result_t)ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY)

/* How far two names are apart: edits, letter case not counting. Only the first 63 letters matter. */
ZT__FN uint32_t zt__distance(const char *a, const char *b) {
    enum { LONGEST = 63 };
    uint32_t row[LONGEST + 1];
    uint32_t i, j, columns = 0;
    for (row[0] = 0; b[columns] && columns < LONGEST; row[columns] = columns)
        columns++;
    for (i = 0; a[i] && i < LONGEST; i++) {
        uint32_t diagonal = row[0];
        row[0] = i + 1;
        for (j = 0; j < columns; j++) {
            uint32_t same = (a[i] | 32) == (b[j] | 32) ? 0 : 1;
            uint32_t best = diagonal + same;
            if (row[j] + 1 < best)
                best = row[j] + 1;
            diagonal = row[j + 1];
            if (diagonal + 1 < best)
                best = diagonal + 1;
            row[j + 1] = best;
        }
    }
    return row[columns];
}

/* The three names nearest to `wanted`, for a message: ZT__NEAREST bytes. `name_of` gives a name by index. */
enum { ZT__NEAREST = 320 };
typedef const char *(*zt__name_fn)(const void *names, uint32_t index);

ZT__FN void zt__nearest(const char *wanted, const void *names, uint32_t count, zt__name_fn name_of,
                        char *out) {
    enum { SHOWN = 3 };
    const char *shown[SHOWN];
    uint32_t found, i, j;
    size_t used = 0;
    strcpy(out, "none, for there are no names at all");
    for (found = 0; found < SHOWN; found++) {
        uint32_t least = UINT32_MAX;
        for (i = 0; i < count; i++) {
            const char *name = name_of(names, i);
            uint32_t distance = zt__distance(wanted, name);
            for (j = 0; j < found && strcmp(shown[j], name) != 0; j++)
                ;
            if (j < found || distance >= least) /* listed already, or no nearer */
                continue;
            least = distance;
            shown[found] = name;
        }
        if (least == UINT32_MAX)
            return;
        used +=
            (size_t)snprintf(out + used, ZT__NEAREST - used, "%s'%.80s'", found ? ", " : "", shown[found]);
    }
}

/* ==== >>driver: what is newer than Level Zero 1.0, and may be absent ====================================== */

#define ZT__OPTIONAL_FUNCTIONS(X)                                                                            \
    X(zeDeviceGetGlobalTimestamps, device_clock,                                                             \
      (ze_device_handle_t device, uint64_t * host, uint64_t * ticks))                                        \
    X(zetMetricGroupGetGlobalTimestampsExp, metric_clock,                                                    \
      (zet_metric_group_handle_t group, ze_bool_t of_host, uint64_t * global, uint64_t * ticks))             \
    X(zeCommandListIsImmediate, is_immediate, (ze_command_list_handle_t list, ze_bool_t * is))               \
    X(zesDeviceEnumFrequencyDomains, frequencies,                                                            \
      (zes_device_handle_t device, uint32_t * count, zes_freq_handle_t * domains))                           \
    X(zesFrequencyGetState, frequency, (zes_freq_handle_t domain, zes_freq_state_t * state))                 \
    X(zetDeviceEnableMetricsExp, enable_metrics, (ze_device_handle_t device))                                \
    X(zetDeviceGetConcurrentMetricGroupsExp, get_concurrent,                                                 \
      (ze_device_handle_t device, uint32_t group_count, zet_metric_group_handle_t * groups,                  \
       uint32_t * counts, uint32_t * concurrent_count))                                                      \
    X(zetMetricGroupCalculateMultipleMetricValuesExp, calculate_multiple,                                    \
      (zet_metric_group_handle_t group, zet_metric_group_calculation_type_t type, size_t raw_size,           \
       const uint8_t *raw, uint32_t *set_count, uint32_t *value_count, uint32_t *counts,                     \
       zet_typed_value_t *values))

typedef struct zt__driver {
#define X(symbol, member, parameters) ze_result_t(ZE_APICALL *member) parameters;
    ZT__OPTIONAL_FUNCTIONS(X)
#undef X
} zt__driver;

/* Names stand in one text, each with its end, in the order of the members. */
ZT__FN void zt__load_driver(zt__driver *driver) {
#define X(symbol, member, parameters) #symbol "\0"
    static const char names[] = ZT__OPTIONAL_FUNCTIONS(X);
#undef X
    char *member = (char *)driver;
    const char *name;
    for (name = names; *name; name += strlen(name) + 1) {
        zt__find_symbol(name, member);
        member += sizeof driver->device_clock;
    }
}

/* ==== >>groups: look-up, activation, metrics ============================================================== */

enum { ZT__MAX_GROUPS = 32, ZT__MAX_TOGETHER = 8, ZT__MAX_PASSES = 16, ZT__MAX_ACTIVE = 64 };
enum { ZT__MAX_TILES = 16, ZT__MAX_WANTED = 64, ZT__MAX_SAMPLES = 1 << 20 };

/* All metric groups of a device. */
typedef struct zt__catalog {
    uint32_t count;
    zet_metric_group_handle_t *handles;
    zet_metric_group_properties_t *properties;
} zt__catalog;

ZT__FN void zt__close_catalog(const zt_allocator *allocator, zt__catalog *catalog) {
    zt__free(allocator, catalog->handles);
    zt__free(allocator, catalog->properties);
    memset(catalog, 0, sizeof *catalog);
}

ZT__FN ze_result_t zt__count_groups(const zt__driver *driver, ze_device_handle_t device, uint32_t *count) {
    ze_result_t result;
    *count = 0;
    result = zetMetricGroupGet(device, count, NULL);
    if (result != ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE && result != ZE_RESULT_ERROR_UNINITIALIZED)
        return result;
    if (!driver->enable_metrics || driver->enable_metrics(device) != ZE_RESULT_SUCCESS)
        return result;
    *count = 0;
    return zetMetricGroupGet(device, count, NULL);
}

/* Lists a device's groups, enabling metrics where that can be done at run time. */
ZT__FN ze_result_t zt__open_catalog(const zt_allocator *allocator, const zt__driver *driver,
                                    ze_device_handle_t device, zt__catalog *catalog, const char **call) {
    uint32_t i;
    ze_result_t result;
    memset(catalog, 0, sizeof *catalog);
    *call = "zetMetricGroupGet";
    result = zt__count_groups(driver, device, &catalog->count);
    if (result != ZE_RESULT_SUCCESS || catalog->count == 0)
        return result;
    catalog->handles =
        (zet_metric_group_handle_t *)zt__allocate(allocator, catalog->count, sizeof *catalog->handles);
    catalog->properties =
        (zet_metric_group_properties_t *)zt__allocate(allocator, catalog->count, sizeof *catalog->properties);
    result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    if (catalog->handles && catalog->properties)
        result = zetMetricGroupGet(device, &catalog->count, catalog->handles);
    for (i = 0; i < catalog->count && result == ZE_RESULT_SUCCESS; i++) {
        *call = "zetMetricGroupGetProperties";
        catalog->properties[i].stype = ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES;
        result = zetMetricGroupGetProperties(catalog->handles[i], &catalog->properties[i]);
    }
    if (result != ZE_RESULT_SUCCESS)
        zt__close_catalog(allocator, catalog);
    return result;
}

/* The index of the group of that name and type, else of the first of that type when `name` is NULL, else
   UINT32_MAX. */
ZT__FN uint32_t zt__find_group(const zt__catalog *catalog, const char *name, size_t length,
                               zet_metric_group_sampling_type_flags_t type) {
    uint32_t i;
    for (i = 0; i < catalog->count; i++) {
        const zet_metric_group_properties_t *group = &catalog->properties[i];
        if (!(group->samplingType & type))
            continue;
        if (!name || (strlen(group->name) == length && memcmp(group->name, name, length) == 0))
            return i;
    }
    return UINT32_MAX;
}

/* Activation is per device and process-wide, and each call replaces the set (driver-wide, whatever the
   context). So what the profilers and streams of this process need is kept here, and activated together. */
typedef struct zt__active_group {
    ze_device_handle_t device;
    zet_metric_group_handle_t group;
    uint32_t domain;
    uint32_t users;
    int streamed; /* by a stream, which shares it with nobody; else by profilers */
    char name[ZET_MAX_METRIC_GROUP_NAME];
} zt__active_group;

/* Who holds a group, for a message. */
typedef struct zt__holder {
    char text[ZET_MAX_METRIC_GROUP_NAME + 64];
} zt__holder;

ZT__PROCESS_WIDE zt__mutex zt__process_lock_1 = PTHREAD_MUTEX_INITIALIZER;
ZT__PROCESS_WIDE zt__mutex zt__calculation_lock_1 = PTHREAD_MUTEX_INITIALIZER;
ZT__PROCESS_WIDE zt__active_group zt__active_2[ZT__MAX_ACTIVE];

/* Activates what is wanted on a device. With the process locked. */
ZT__FN ze_result_t zt__activate_wanted(ze_context_handle_t context, ze_device_handle_t device) {
    zet_metric_group_handle_t groups[ZT__MAX_ACTIVE];
    uint32_t i, count = 0;
    for (i = 0; i < ZT__MAX_ACTIVE; i++)
        if (zt__active_2[i].users && zt__active_2[i].device == device)
            groups[count++] = zt__active_2[i].group;
    return zetContextActivateMetricGroups(context, device, count, count ? groups : NULL);
}

/* The entry of a group; else one that shares its domain; else a free one; else NULL. */
ZT__FN zt__active_group *zt__find_active(ze_device_handle_t device, uint32_t domain) {
    zt__active_group *unused = NULL;
    uint32_t i;
    for (i = 0; i < ZT__MAX_ACTIVE; i++) {
        zt__active_group *entry = &zt__active_2[i];
        if (entry->users && entry->device == device && entry->domain == domain)
            return entry;
        if (!entry->users && !unused)
            unused = entry;
    }
    return unused;
}

ZT__FN ZT__ONCE void zt__name_holder(const zt__active_group *entry, zt__holder *holder) {
    snprintf(holder->text, sizeof holder->text, "group '%s' of %s of this process", entry->name,
             entry->streamed ? "a stream" : "a profiler");
}

/* Some drivers let streams and queries not even share a device. Names who of this process uses the counters
   of a device in the other way; nobody is named where it is somebody else. */
ZT__FN void zt__find_rival(ze_device_handle_t device, int streamed, zt__holder *holder) {
    uint32_t i;
    snprintf(holder->text, sizeof holder->text,
             "another tool, or by a stream or query of this program's own");
    zt__lock(&zt__process_lock_1);
    for (i = 0; i < ZT__MAX_ACTIVE; i++)
        if (zt__active_2[i].users && zt__active_2[i].device == device && zt__active_2[i].streamed != streamed)
            zt__name_holder(&zt__active_2[i], holder);
    zt__unlock(&zt__process_lock_1);
}

/* Takes a group into the set of its device. On HANDLE_OBJECT_IN_USE, `holder` says what is in its way. */
ZT__FN ze_result_t zt__activate(ze_context_handle_t context, ze_device_handle_t device,
                                zet_metric_group_handle_t group,
                                const zet_metric_group_properties_t *properties, int streamed,
                                zt__holder *holder) {
    ze_result_t result = ZE_RESULT_SUCCESS;
    zt__active_group *entry;
    zt__lock(&zt__process_lock_1);
    entry = zt__find_active(device, properties->domain);
    if (!entry) {
        result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    } else if (entry->users && (entry->group != group || entry->streamed || streamed)) {
        zt__name_holder(entry, holder);
        result = ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
    } else if (entry->users++ == 0) {
        entry->device = device;
        entry->group = group;
        entry->domain = properties->domain;
        entry->streamed = streamed;
        memcpy(entry->name, properties->name, sizeof entry->name);
        result = zt__activate_wanted(context, device);
        if (result != ZE_RESULT_SUCCESS)
            entry->users = 0;
    }
    zt__unlock(&zt__process_lock_1);
    return result;
}

/* Gives a group back, on the very device it was activated on. */
ZT__FN ze_result_t zt__deactivate(ze_context_handle_t context, ze_device_handle_t device,
                                  zet_metric_group_handle_t group) {
    ze_result_t result = ZE_RESULT_SUCCESS;
    uint32_t i;
    zt__lock(&zt__process_lock_1);
    for (i = 0; i < ZT__MAX_ACTIVE; i++) {
        zt__active_group *entry = &zt__active_2[i];
        if (entry->users && entry->device == device && entry->group == group) {
            if (--entry->users == 0)
                result = zt__activate_wanted(context, device);
            break;
        }
    }
    zt__unlock(&zt__process_lock_1);
    return result;
}

/* Type *and* unit decide: drivers call percentages durations, and frequencies events. */
ZT__FN zt_aggregation zt__aggregation(zet_metric_type_t type, const char *units) {
    static const char *const additive[] = {"ns", "us", "ms", "s", "cycles", "events", "bytes", "messages"};
    uint32_t i;
    switch (type) {
    case ZET_METRIC_TYPE_RATIO:
    case ZET_METRIC_TYPE_THROUGHPUT:
        return ZT_AGGREGATE_MEAN;
    case ZET_METRIC_TYPE_FLAG:
        return ZT_AGGREGATE_FLAG;
    case ZET_METRIC_TYPE_DURATION:
    case ZET_METRIC_TYPE_EVENT:
    case ZET_METRIC_TYPE_EVENT_WITH_RANGE:
        for (i = 0; i < ZT__COUNT_OF(additive); i++)
            if (strcmp(units, additive[i]) == 0)
                return ZT_AGGREGATE_SUM;
        return *units ? ZT_AGGREGATE_MEAN : ZT_AGGREGATE_SUM;
    default:
        return ZT_AGGREGATE_NONE;
    }
}

/* The flags by which a report says that it is not to be trusted, and the causes they stand for. */
ZT__FN zt_cause zt__cause_of_flag(const char *name) {
    static const char *const flags[] = {
        "ReportError",           "ReportLost",
        "ReportWithoutWorkload", "ReportInconsistent",
        "ReportContextMismatch", "ReportQueryModeMismatch",
        "OverrunOccured",        "QuerySplitOccurred",
    };
    uint32_t i;
    for (i = 0; i < ZT__COUNT_OF(flags); i++)
        if (strcmp(name, flags[i]) == 0)
            return (zt_cause)(ZT_LOST_REPORT_ERROR + i);
    return ZT_CAUSE_COUNT;
}

/* Types that values usually have. */
typedef enum zt__usual { ZT__INTEGERS, ZT__REALS, ZT__FLAGS, ZT__OTHERS, ZT__USUAL_COUNT } zt__usual;

/* A group that is measured. Its metrics are a run of the profiler's columns. */
typedef struct zt__group {
    zet_metric_group_handle_t handle;
    zet_metric_group_properties_t properties;
    zet_metric_properties_t *metrics;
    uint32_t metric_count;
    uint32_t *by_type;              /* the metrics in the order of their types */
    uint32_t ends[ZT__USUAL_COUNT]; /* and where each type ends there */
    uint32_t first_column;
    uint32_t tiles;     /* sets of values that a report gives: 1, or one a tile of a root device */
    size_t report_size; /* 0 until the first report was seen. Atomic */
    zet_typed_value_t *values[ZT__SHELVES]; /* a shelf: room for what a thread calculates of a batch */
} zt__group;

ZT__FN zt__usual zt__usual_of(zet_value_type_t type) {
    if (type == ZET_VALUE_TYPE_UINT64)
        return ZT__INTEGERS;
    if (type == ZET_VALUE_TYPE_FLOAT32)
        return ZT__REALS;
    return type == ZET_VALUE_TYPE_BOOL8 ? ZT__FLAGS : ZT__OTHERS;
}

/* Sorts the metrics by the types of their values, for these are converted type by type. Returns 0 without
   memory. */
ZT__FN int zt__sort_by_type(const zt_allocator *allocator, zt__group *group) {
    uint32_t type, i, sorted = 0;
    group->by_type = (uint32_t *)zt__allocate(allocator, group->metric_count, sizeof *group->by_type);
    for (type = 0; type < ZT__USUAL_COUNT && group->by_type; type++) {
        for (i = 0; i < group->metric_count; i++)
            if ((uint32_t)zt__usual_of(group->metrics[i].resultType) == type)
                group->by_type[sorted++] = i;
        group->ends[type] = sorted;
    }
    return group->by_type != NULL;
}

ZT__FN ze_result_t zt__load_metrics(const zt_allocator *allocator, zt__group *group, const char **call) {
    zet_metric_handle_t *handles;
    uint32_t i, count = 0;
    ze_result_t result;
    *call = "zetMetricGet";
    result = zetMetricGet(group->handle, &count, NULL);
    if (result != ZE_RESULT_SUCCESS || count == 0)
        return result == ZE_RESULT_SUCCESS ? ZE_RESULT_ERROR_UNKNOWN : result;
    handles = (zet_metric_handle_t *)zt__allocate(allocator, count, sizeof *handles);
    group->metrics = (zet_metric_properties_t *)zt__allocate(allocator, count, sizeof *group->metrics);
    if (!handles || !group->metrics) {
        zt__free(allocator, handles);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    result = zetMetricGet(group->handle, &count, handles);
    for (i = 0; i < count && result == ZE_RESULT_SUCCESS; i++) {
        zet_metric_properties_t *metric = &group->metrics[i];
        *call = "zetMetricGetProperties";
        metric->stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES;
        result = zetMetricGetProperties(handles[i], metric);
        /* units can come as the text of a null pointer */
        if (strcmp(metric->resultUnits, "(null)") == 0)
            metric->resultUnits[0] = 0;
    }
    group->metric_count = count;
    zt__free(allocator, handles);
    if (result == ZE_RESULT_SUCCESS && !zt__sort_by_type(allocator, group))
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    return result;
}

/* The public description of a metric, from the driver's. */
ZT__FN ZT__ONCE void zt__make_metric(zt_metric *metric, const zt__group *group, uint32_t index) {
    const zet_metric_properties_t *from = &group->metrics[index];
    metric->name = from->name;
    metric->group = group->properties.name;
    metric->component = from->component;
    metric->units = from->resultUnits;
    metric->description = from->description;
    metric->type = (int)from->metricType;
    metric->aggregation = zt__aggregation(from->metricType, from->resultUnits);
    metric->pass = 0;
}

ZT__FN void zt__free_group(const zt_allocator *allocator, zt__group *group) {
    uint32_t i;
    zt__free(allocator, group->metrics);
    zt__free(allocator, group->by_type);
    for (i = 0; i < ZT__SHELVES; i++)
        zt__free(allocator, group->values[i]);
    memset(group, 0, sizeof *group);
}

/* The next name of a comma list, without blanks around it. Returns 0 at the end. */
ZT__FN int zt__next_name(const char **list, const char **name, size_t *length) {
    const char *p = *list;
    while (*p == ',' || *p == ' ')
        p++;
    *name = p;
    while (*p && *p != ',')
        p++;
    *list = p;
    while (p > *name && p[-1] == ' ')
        p--;
    *length = (size_t)(p - *name);
    return *length > 0;
}

/* Such a name as a text, cut off where there is no more room. */
ZT__FN void zt__copy_name(char *out, size_t room, const char *name, size_t length) {
    if (length >= room)
        length = room - 1;
    memcpy(out, name, length);
    out[length] = 0;
}

ZT__FN int zt__has_names(const char *list) {
    const char *name;
    size_t length;
    return list && zt__next_name(&list, &name, &length);
}

/* A value of any type as a number; NaN where it is none. */
ZT__HOT ZT__APART double zt__number(const zet_typed_value_t *value) {
    if (value->type == ZET_VALUE_TYPE_UINT64)
        return (double)value->value.ui64;
    if (value->type == ZET_VALUE_TYPE_FLOAT32)
        return zt__if_finite((double)value->value.fp32);
    if (value->type == ZET_VALUE_TYPE_BOOL8)
        return value->value.b8 ? 1.0 : 0.0;
    if (value->type == ZET_VALUE_TYPE_UINT32)
        return (double)value->value.ui32;
    return value->type == ZET_VALUE_TYPE_FLOAT64 ? zt__if_finite(value->value.fp64) : (double)NAN;
}

/* The values of a report as numbers. Type by type, as the driver described them, for to choose at each value
   costs more than the conversion; a value of another type is converted all the same. */
ZT__HOT void zt__numbers(const zt__group *group, const zet_typed_value_t *values, double *to) {
    const uint32_t *metric = group->by_type, *end = metric + group->ends[ZT__INTEGERS];
    for (; metric < end; metric++) {
        const zet_typed_value_t *value = &values[*metric];
        int64_t integer = (int64_t)value->value.ui64; /* processors convert signed ones */
        int usual = value->type == ZET_VALUE_TYPE_UINT64 && integer >= 0;
        to[*metric] = usual ? (double)integer : zt__number(value);
    }
    for (end = group->by_type + group->ends[ZT__REALS]; metric < end; metric++) {
        const zet_typed_value_t *value = &values[*metric];
        int usual = value->type == ZET_VALUE_TYPE_FLOAT32;
        to[*metric] = usual ? zt__if_finite((double)value->value.fp32) : zt__number(value);
    }
    for (end = group->by_type + group->ends[ZT__FLAGS]; metric < end; metric++) {
        const zet_typed_value_t *value = &values[*metric];
        int usual = value->type == ZET_VALUE_TYPE_BOOL8;
        to[*metric] = usual ? (double)(value->value.b8 != 0) : zt__number(value);
    }
    for (end = group->by_type + group->ends[ZT__OTHERS]; metric < end; metric++)
        to[*metric] = zt__number(&values[*metric]);
}

/* ==== >>slots: queries, events and time stamps, made in steps and used again ============================== */

enum {
    ZT__BATCH = 64,
    ZT__BATCHES = 4,
    ZT__DEFERRED = 4096,
    ZT__TRIES = 4,
    ZT__LIST_BUCKETS = 256,
    ZT__IDLE_LISTS = 64
};
enum { ZT__NAME_PAGE = 256, ZT__NAME_PAGES = 256, ZT__SITES = 64, ZT__LANES = 16, ZT__MAX_PROFILERS = 256 };

typedef struct zt__list zt__list;

/* What one region in flight needs. A slot is free, open (begun, not ended), or bound (ended, in the chain of
   its list). */
typedef struct zt__slot {
    struct zt__slot *next; /* free, or in the chain of its list */
    zt__list *list;        /* atomic */
    ze_event_handle_t event;
    uint64_t *stamps; /* two time stamps of the device, or NULL */
    uint32_t region;
    uint32_t generation; /* odd while open; a zt_region of another generation is stale. Atomic */
    uint32_t epoch;      /* of its list, when it was begun */
    uint32_t sight;      /* of the profiler; another: nobody tells what is done with its list */
    uint8_t pending;     /* an instance that is begun and not yet counted otherwise */
    uint8_t submitted;   /* known to be on its way to the device */
    uint8_t executed;    /* has run at least once since it was recorded */
    uint8_t tries;       /* how often the event was there, or not told of, and the data was not */
    uint8_t dead;        /* its commands are on the list in part: bound, and never read */
    uint8_t passed;      /* dead, and one that was bound after it has run: so what there is of it has */
    uint8_t unclean;     /* to be reset before it is used: some of its commands have run */
    uint8_t broken;      /* could not be reset: never read, and never used again */
    uint8_t retired;     /* the device may still write to it: never used again */
    uint8_t pass;        /* whose groups its queries are of */
    uint8_t torn;        /* the groups were changed while it was open */
    zet_metric_query_handle_t queries[ZT__MAX_TOGETHER];
} zt__slot;

/* Groups that are active together, and the slots for them. */
typedef struct zt__pass {
    zt__group *groups;
    uint32_t group_count;
    uint32_t index;       /* among those of the profiler */
    uint32_t time_metric; /* the column of GpuTime less one, or UINT32_MAX */
    uint32_t slot_count, max_slots;
} zt__pass;

/* Where a name stood when it was given last, and the region that it is of. */
typedef struct zt__site {
    const char *name;
    const char *known; /* the region's own copy: its record would come from another thread's cache */
    uint32_t region;
} zt__site;

/* Lists are dealt out to lanes, so that threads that use different lists do not meet: not at a latch, and not
   in memory. What is said of a list and of its bound slots is guarded by its lane, too. Who takes a lane and
   the profiler's state takes the state first. */
typedef struct zt__lane {
    zt__latch latch;
    uint32_t open; /* slots begun and not yet bound */
    uint64_t begun;
    zt__slot *free_slots[ZT__MAX_PASSES];
    uint32_t free_count[ZT__MAX_PASSES];
    zt__site sites[ZT__SITES];
    uint64_t apart[8];
} zt__lane;

typedef struct zt__step {
    struct zt__step *next;
    ze_event_pool_handle_t events;
    zet_metric_query_pool_handle_t queries[ZT__MAX_TOGETHER];
    const zt__pass *pass;
    uint64_t *stamps;
    uint32_t count;
    zt__slot *slots;
} zt__step;

typedef enum zt__kind {
    ZT__KIND_NOT_ASKED,
    ZT__KIND_UNKNOWN,
    ZT__KIND_RECORDED,
    ZT__KIND_IMMEDIATE
} zt__kind;

/* What is known of a command list. Its lane guards it; the profiler's state, what links it with others. */
struct zt__list {
    zt__list *next_in_bucket;        /* atomic */
    ze_command_list_handle_t handle; /* atomic */
    zt__lane *lane;                  /* for good */
    zt__list *next_active;
    zt__list *next_idle;
    uint8_t active; /* in the profiler's queue of lists with bound slots; by the state, too. Atomic */
    uint8_t queued; /* in its queue of idle lists, or was when it became used again; by the state, too */
    zt__kind kind;
    uint32_t epoch;          /* counts its recordings, as far as they can be told apart */
    uint32_t executed;       /* not 0: bound slots have run, or are about to */
    uint32_t open;           /* slots begun and not yet bound */
    uint32_t ended;          /* regions ended since it was last harvested */
    uint8_t announced;       /* about to be executed: what has never run is not asked */
    uint8_t unready;         /* has slots that are dead or broken. Atomic */
    uint8_t quiet;           /* what has run before was not executed again: it is not asked either */
    uint8_t idle;            /* released, and not used since */
    uint8_t busy;            /* claimed by one thread, which alone may walk and change its bound slots */
    uintptr_t reader;        /* the thread that claimed it last */
    zt__slot *first, **last; /* bound slots, in the order in which they were ended */
    zt__slot *taken;         /* those that the harvest is at */
    uint32_t taken_epoch;
    uint32_t newly_executed;
    uint64_t apart[8]; /* what another thread uses is in other cache lines */
};

/* Moments of one column over the instances of a region. */
typedef struct zt__moments {
    uint64_t count;
    double weight, sum, mean, m2, min, max;
} zt__moments;

/* A region by name. Column 0 is GPU time; the metrics follow; then, where there are several passes, the GPU
   time of each; then, where there are tiles, the metrics of each. */
typedef struct zt__record {
    char *name;
    uint64_t hash;
    size_t length; /* of the name */
    uint64_t lost, dropped;
    zt__moments *moments;
    double *rows;          /* the kept instances, row by row */
    double *block;         /* instances that are to be added to the moments, row by row */
    uint64_t seen;         /* instances in the statistics; this and what follows changes with each */
    uint32_t waiting;      /* rows of the block */
    uint32_t waiting_pass; /* in which they ran */
    uint32_t kept, capacity;
    zt__moments *streamed; /* of what streams measured meanwhile */
    uint32_t streamed_count;
    int listed; /* among those that may have instances waiting */
    struct zt__record *next_waiting;
} zt__record;

/* An instance that was read and is not calculated yet. */
typedef struct zt__entry {
    uint32_t region;
    double time_ns; /* from time stamps, or NaN */
    ze_command_list_handle_t list;
    uint64_t stamps[2];
    uint64_t read_ns; /* when, by the host; 0: there is no timeline */
} zt__entry;

/* Instances that are calculated together. */
typedef struct zt__batch {
    struct zt__batch *next;
    uint32_t count;
    zt__entry entries[ZT__BATCH];
    const zt__pass *pass; /* in which all of them ran */
    uint8_t closed;       /* has no room for instances of another pass */
    uint32_t shelf;       /* of the thread that fills it */
    size_t raw_size[ZT__MAX_TOGETHER];
    uint8_t *raw[ZT__MAX_TOGETHER];              /* of each group, the reports one after the other */
    zet_typed_value_t *values[ZT__MAX_TOGETHER]; /* and what was calculated of them */
    uint64_t apart[8];
} zt__batch;

/* A column that says, where it is not 0, that its instance is lost, and why. */
typedef struct zt__flag {
    uint32_t column;
    zt_cause cause;
} zt__flag;

typedef struct zt__timeline zt__timeline;
typedef struct zt__feed zt__feed;

struct zt_profiler {
    /* what is used in most places comes first, where instructions that use it are short */
    ze_context_handle_t context;
    ze_device_handle_t device;
    zt_metric *metrics;
    const zt__pass *pass;   /* that is active. Atomic */
    zt__flag *flags;        /* which, when set, say that an instance is lost */
    uint8_t *by_time;       /* a column: its mean is weighted by GPU time */
    zt__timeline *timeline; /* or NULL */
    struct zt__tracer *tracer;
    uint32_t metric_count;
    uint32_t pass_count;   /* 1 at the least */
    uint32_t tile_count;   /* 0: none to tell apart */
    uint32_t tile_column;  /* the first of tiles */
    uint32_t column_count; /* of all; this and what is before it comes with zt__lay_out_columns */
    uint32_t group_count;
    uint32_t flag_count;
    uint32_t id;
    uint32_t sight; /* counts the ends of tracing. Atomic */
    int stamped;    /* regions write time stamps */
    int lost;       /* the device, atomic */
    int detached;   /* it has nothing of the device any more, and results alone. Atomic */
    zt__diagnostics diagnostics;
    zt_config config;
    double ns_per_tick;
    uint64_t tick_mask;
    zt__driver driver;
    zt_availability availability;
    char *columns; /* that were asked for; NULL: as many as fit */
    char *texts;   /* of a profiler that was unpacked: what its metrics are called */
    char device_name[ZE_MAX_DEVICE_NAME];
    zt__text availability_text;
    zt__group groups[ZT__MAX_GROUPS]; /* in the order of their passes */
    zt__pass passes[ZT__MAX_PASSES];

    uint64_t apart[8];
    zt__lane lanes[ZT__LANES];
    zt__latch state;  /* what follows, for instants; no driver call is made under it */
    zt_counts counts; /* but for what is begun in lanes, and what is in flight */
    zt__step *steps;
    zt__list *lists[ZT__LIST_BUCKETS]; /* atomic */
    uint32_t next_lane;
    zt__list *active_first, **active_last;
    uint32_t active_count;
    zt__batch *open_batches; /* with room */
    zt__batch *full_batches, **last_full_batch;
    uint32_t batch_count, batch_limit;
    zt__list *idle_first, **idle_last;
    uint32_t idle_count;
    uint64_t causes[ZT_CAUSE_COUNT];
    zt__record *records[ZT__NAME_PAGES];
    uint32_t record_count;
    uint32_t *names; /* open addressing: index of the record plus one, or 0 */
    uint32_t name_capacity;

    uint32_t harvests; /* atomic */
    zt__owned growing; /* one thread makes slots */

    zt__owned settling;           /* one thread calculates for all; taken before the locks above and below */
    zt__latch desks[ZT__SHELVES]; /* whoever calculates has that of its shelf, and the values there */
    zt__thread settler;           /* calculates what is deferred */
    double *row;                  /* the one at hand, in the block of its region */
    uint64_t random;

    zt__mutex results; /* statistics and timeline */
    double *scratch;
    zt__record *waiting; /* regions that may have instances waiting to be added */
    zt__feed *feeds;     /* of the streams that are, or were, attached */
    uint32_t streamed_count;
};

/* The public functions lock also where they only look. */
ZT__FN zt_profiler *zt__mutable(const zt_profiler *profiler) {
    return (zt_profiler *)profiler;
}

ZT__HOT ZT__ONCE void zt__unlock_results(const zt_profiler *profiler) {
    zt__unlock(&zt__mutable(profiler)->results);
}

ZT__HOT int zt__is_gone(const zt_profiler *profiler) {
    return zt__load(&profiler->lost);
}

/* Remembers the first metric of a pass that is its GPU time. */
ZT__FN void zt__note_time(zt__pass *pass, const zt_metric *metric, uint32_t index) {
    if (pass->time_metric == UINT32_MAX && strcmp(metric->name, "GpuTime") == 0 &&
        strcmp(metric->units, "ns") == 0)
        pass->time_metric = index;
}

ZT__HOT uint32_t zt__region_count(const zt_profiler *profiler) {
    return zt__load(&profiler->record_count);
}

ZT__HOT uint32_t zt__pass_index(const zt_profiler *profiler) {
    return zt__load(&profiler->pass)->index;
}

ZT__FN void zt__note_failure(zt_profiler *profiler, ze_result_t result, const char *call,
                             const char *remedy) {
    zt__say_failed(&profiler->diagnostics, &profiler->lost, result, call, remedy);
}

/* Looks at the result of a driver call. */
ZT__HOT ze_result_t zt__check(zt_profiler *profiler, ze_result_t result, const char *call,
                              const char *remedy) {
    if (result != ZE_RESULT_SUCCESS)
        zt__note_failure(profiler, result, call, remedy);
    return result;
}

ZT__FN void zt__destroy_pools(zt_profiler *profiler, zt__step *step) {
    uint32_t i, g;
    for (i = 0; i < step->count && step->slots; i++) {
        zt__slot *slot = &step->slots[i];
        for (g = 0; g < step->pass->group_count; g++)
            if (slot->queries[g])
                zetMetricQueryDestroy(slot->queries[g]);
        if (slot->event)
            zeEventDestroy(slot->event);
    }
    for (g = 0; g < step->pass->group_count; g++)
        if (step->queries[g])
            zetMetricQueryPoolDestroy(step->queries[g]);
    if (step->events)
        zeEventPoolDestroy(step->events);
    if (step->stamps)
        zeMemFree(profiler->context, step->stamps);
}

/* Whether the device may still write to a slot of a step. Then its pools are left alone: a leak of a process
   whose device hangs is better than a crash. */
ZT__FN int zt__is_retired(const zt__step *step) {
    uint32_t i;
    for (i = 0; i < step->count && step->slots; i++)
        if (step->slots[i].retired)
            return 1;
    return 0;
}

ZT__FN void zt__destroy_step(zt_profiler *profiler, zt__step *step) {
    if (!zt__is_retired(step) || zt__is_gone(profiler))
        zt__destroy_pools(profiler, step);
    zt__free(&profiler->config.allocator, step->slots);
    zt__free(&profiler->config.allocator, step);
}

ZT__FN ze_result_t zt__make_pools(zt_profiler *profiler, zt__step *step, const char **call) {
    ze_event_pool_desc_t events;
    ze_host_mem_alloc_desc_t memory;
    zet_metric_query_pool_desc_t queries;
    uint32_t g;
    ze_result_t result = ZE_RESULT_SUCCESS;
    memset(&queries, 0, sizeof queries);
    queries.stype = ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC;
    queries.type = ZET_METRIC_QUERY_POOL_TYPE_PERFORMANCE;
    queries.count = step->count;
    *call = "zetMetricQueryPoolCreate";
    for (g = 0; g < step->pass->group_count && result == ZE_RESULT_SUCCESS; g++)
        result = zetMetricQueryPoolCreate(profiler->context, profiler->device, step->pass->groups[g].handle,
                                          &queries, &step->queries[g]);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    memset(&events, 0, sizeof events);
    events.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC;
    events.flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE;
    events.count = step->count;
    *call = "zeEventPoolCreate";
    result = zeEventPoolCreate(profiler->context, &events, 1, &profiler->device, &step->events);
    if (result != ZE_RESULT_SUCCESS || !profiler->stamped)
        return result;
    memset(&memory, 0, sizeof memory);
    memory.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC;
    *call = "zeMemAllocHost";
    return zeMemAllocHost(profiler->context, &memory, step->count * 2 * sizeof *step->stamps,
                          sizeof *step->stamps, (void **)&step->stamps);
}

ZT__FN ze_result_t zt__make_slots(zt__step *step, const char **call) {
    ze_event_desc_t event;
    uint32_t i, g;
    ze_result_t result = ZE_RESULT_SUCCESS;
    memset(&event, 0, sizeof event);
    event.stype = ZE_STRUCTURE_TYPE_EVENT_DESC;
    event.signal = ZE_EVENT_SCOPE_FLAG_HOST;
    event.wait = ZE_EVENT_SCOPE_FLAG_HOST;
    for (i = 0; i < step->count; i++) {
        zt__slot *slot = &step->slots[i];
        *call = "zetMetricQueryCreate";
        for (g = 0; g < step->pass->group_count && result == ZE_RESULT_SUCCESS; g++)
            result = zetMetricQueryCreate(step->queries[g], i, &slot->queries[g]);
        if (result != ZE_RESULT_SUCCESS)
            return result;
        *call = "zeEventCreate";
        event.index = i;
        result = zeEventCreate(step->events, &event, &slot->event);
        if (result != ZE_RESULT_SUCCESS)
            return result;
        slot->stamps = step->stamps ? step->stamps + 2 * (size_t)i : NULL;
        slot->pass = (uint8_t)step->pass->index;
    }
    return result;
}

/* Takes everything, to look at all lists at once. */
ZT__FN void zt__take_all(zt_profiler *profiler) {
    uint32_t i;
    zt__take(&profiler->state);
    for (i = 0; i < ZT__LANES; i++)
        zt__take(&profiler->lanes[i].latch);
}

ZT__FN void zt__give_all(zt_profiler *profiler) {
    uint32_t i;
    for (i = 0; i < ZT__LANES; i++)
        zt__give(&profiler->lanes[i].latch);
    zt__give(&profiler->state);
}

/* With the lane taken. */
ZT__HOT void zt__put_free(zt__lane *lane, zt__slot *slot) {
    slot->next = lane->free_slots[slot->pass];
    lane->free_slots[slot->pass] = slot;
    lane->free_count[slot->pass]++;
}

/* A free slot of a pass, or NULL. With the lane taken. */
ZT__HOT zt__slot *zt__take_free(zt__lane *lane, uint32_t pass) {
    zt__slot *slot = lane->free_slots[pass];
    if (!slot)
        return NULL;
    lane->free_slots[pass] = slot->next;
    lane->free_count[pass]--;
    return slot;
}

/* Takes half of the free slots of a lane that has so many. */
ZT__FN zt__slot *zt__take_half(zt__lane *lane, uint32_t pass, uint32_t least) {
    zt__slot *taken = NULL;
    uint32_t count;
    zt__take(&lane->latch);
    count = lane->free_count[pass] < least ? 0 : (lane->free_count[pass] + 1) / 2;
    for (; count > 0; count--) {
        zt__slot *slot = zt__take_free(lane, pass);
        slot->next = taken;
        taken = slot;
    }
    zt__give(&lane->latch);
    return taken;
}

/* Brings free slots of another lane, which has so many, into one that has none. Returns 0 where none has. */
ZT__FN int zt__share_free(zt_profiler *profiler, zt__lane *lane, uint32_t pass, uint32_t least) {
    zt__slot *taken = NULL;
    uint32_t i;
    for (i = 0; i < ZT__LANES && !taken; i++)
        if (&profiler->lanes[i] != lane)
            taken = zt__take_half(&profiler->lanes[i], pass, least);
    if (!taken)
        return 0;
    zt__take(&lane->latch);
    while (taken) {
        zt__slot *slot = taken;
        taken = slot->next;
        zt__put_free(lane, slot);
    }
    zt__give(&lane->latch);
    return 1;
}

ZT__FN uint32_t zt__count_free(zt__lane *lane, uint32_t pass) {
    uint32_t count;
    zt__take(&lane->latch);
    count = lane->free_count[pass];
    zt__give(&lane->latch);
    return count;
}

/* Makes one more step of slots. By one thread at a time, so that two do not make one each. */
ZT__FN ze_result_t zt__grow(zt_profiler *profiler, zt__pass *pass, zt__lane *lane, const char **call) {
    const zt_allocator *allocator = &profiler->config.allocator;
    zt__step *step = (zt__step *)zt__allocate(allocator, 1, sizeof *step);
    uint32_t i, room = pass->max_slots - pass->slot_count;
    ze_result_t result;
    *call = "malloc";
    if (!step)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    step->pass = pass;
    step->count = room < profiler->config.slots_per_step ? room : profiler->config.slots_per_step;
    step->slots = (zt__slot *)zt__allocate(allocator, step->count, sizeof *step->slots);
    result = step->slots ? zt__make_pools(profiler, step, call) : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    if (result == ZE_RESULT_SUCCESS)
        result = zt__make_slots(step, call);
    if (result != ZE_RESULT_SUCCESS) {
        zt__destroy_step(profiler, step);
        return result;
    }
    zt__take(&profiler->state);
    zt__take(&lane->latch);
    for (i = step->count; i-- > 0;)
        zt__put_free(lane, &step->slots[i]);
    zt__give(&lane->latch);
    step->next = profiler->steps;
    profiler->steps = step;
    pass->slot_count += step->count;
    zt__give(&profiler->state);
    return ZE_RESULT_SUCCESS;
}

/* Resets a slot's event and queries. Where that fails it is broken. */
ZT__HOT void zt__reset_slot(zt_profiler *profiler, zt__slot *slot) {
    static const char remedy[] = "This slot is not used again. Update the driver if it lasts.";
    uint32_t g;
    ze_result_t result;
    int failed;
    zt__inside_1++;
    result = zeEventHostReset(slot->event);
    zt__inside_1--;
    failed = zt__check(profiler, result, "zeEventHostReset", remedy) != ZE_RESULT_SUCCESS;
    for (g = 0; g < profiler->passes[slot->pass].group_count; g++) {
        result = zetMetricQueryReset(slot->queries[g]);
        failed |= zt__check(profiler, result, "zetMetricQueryReset", remedy) != ZE_RESULT_SUCCESS;
    }
    slot->broken = failed != 0;
    slot->unclean = 0;
}

/* ==== >>statistics: moments of everything, rows of some =================================================== */

ZT__HOT double zt__nan(void) {
    return (double)NAN;
}

/* The column of the GPU time that one pass measured. */
ZT__HOT uint32_t zt__time_column(const zt_profiler *profiler, uint32_t pass) {
    return profiler->pass_count == 1 ? 0 : 1 + profiler->metric_count + pass;
}

/* Where the columns begin, once it is known how many metrics, passes and tiles there are. */
ZT__FN void zt__lay_out_columns(zt_profiler *profiler) {
    profiler->tile_column =
        1 + profiler->metric_count + (profiler->pass_count == 1 ? 0 : profiler->pass_count);
    profiler->column_count = profiler->tile_column + profiler->tile_count * profiler->metric_count;
}

ZT__HOT uint32_t zt__tile_column(const zt_profiler *profiler, uint32_t tile, uint32_t metric) {
    return profiler->tile_column + tile * profiler->metric_count + metric;
}

/* The column into which the values of a metric of a tile go as they are measured. */
ZT__HOT uint32_t zt__measured_column(const zt_profiler *profiler, uint32_t tile, uint32_t metric) {
    return profiler->tile_count ? zt__tile_column(profiler, tile, metric) : metric + 1;
}

ZT__HOT uint32_t zt__column_count(const zt_profiler *profiler) {
    return profiler->column_count;
}

/* The metric that a column is of, or UINT32_MAX for GPU time. */
ZT__FN uint32_t zt__metric_of_column(const zt_profiler *profiler, uint32_t column) {
    if (column - 1 < profiler->metric_count)
        return column - 1;
    return column >= profiler->tile_column ? (column - profiler->tile_column) % profiler->metric_count
                                           : UINT32_MAX;
}

ZT__FN zt_aggregation zt__column_aggregation(const zt_profiler *profiler, uint32_t column) {
    uint32_t metric = zt__metric_of_column(profiler, column);
    return metric == UINT32_MAX ? ZT_AGGREGATE_SUM : profiler->metrics[metric].aggregation;
}

/* Whether a pass measures a column. */
ZT__FN int zt__is_measured(const zt_profiler *profiler, uint32_t column, uint32_t pass) {
    uint32_t metric = zt__metric_of_column(profiler, column);
    if (metric != UINT32_MAX)
        return profiler->metrics[metric].pass == pass;
    return column == 0 || column == zt__time_column(profiler, pass);
}

/* The last divisor, and one by it: divisions are what the statistics would else take longest for, and the
   columns of a region have few weights between them. */
typedef struct zt__inverse {
    double of, is;
} zt__inverse;

ZT__HOT double zt__by(double dividend, double divisor, zt__inverse *inverse) {
    if (divisor != inverse->of) {
        inverse->of = divisor;
        inverse->is = 1 / divisor;
    }
    return dividend * inverse->is;
}

/* Adds a value: West's weighted update of mean and spread, which does not cancel. */
ZT__HOT void zt__add_weighted(zt__moments *moments, double value, double weight, zt__inverse *inverse) {
    double distance = value - moments->mean;
    if (moments->count++ == 0)
        moments->min = moments->max = value;
    else if (value < moments->min)
        moments->min = value;
    else if (value > moments->max)
        moments->max = value;
    moments->sum += value;
    if (!zt__is_positive(weight))
        return;
    moments->weight += weight;
    moments->mean += zt__by(distance * weight, moments->weight, inverse);
    moments->m2 += weight * distance * (value - moments->mean);
}

ZT__HOT void zt__add_value(zt__moments *moments, double value, double weight) {
    zt__inverse inverse = {1, 1};
    zt__add_weighted(moments, value, weight, &inverse);
}

/* xorshift64*: good enough to draw samples, the same on every machine. */
ZT__HOT uint64_t zt__random(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545F4914F6CDD1D);
}

/* A number drawn below a limit that depends on nothing but the occurrence: each pass draws the same. */
ZT__HOT uint64_t zt__draw(const zt__record *record, uint64_t occurrence) {
    uint64_t state = (record->hash ^ (occurrence + 1) * UINT64_C(0x9E3779B97F4A7C15)) | 1;
    zt__random(&state);
    return zt__random(&state) % (occurrence + 1);
}

ZT__FN void zt__clear_row(double *row, uint32_t columns) {
    uint32_t column;
    for (column = 0; column < columns; column++)
        row[column] = zt__nan();
}

/* Makes room for more rows, up to the limit. Without memory, there is no more than before. */
ZT__FN void zt__grow_rows(zt_profiler *profiler, zt__record *record, uint32_t wanted) {
    const zt_allocator *allocator = &profiler->config.allocator;
    uint32_t columns = zt__column_count(profiler), capacity = record->capacity ? record->capacity : 8;
    double *rows;
    while (capacity < wanted)
        capacity *= 4;
    if (capacity > profiler->config.samples)
        capacity = profiler->config.samples;
    if (wanted <= record->capacity || capacity == record->capacity)
        return;
    rows = (double *)zt__allocate(allocator, (size_t)capacity * columns, sizeof *rows);
    if (!rows)
        return;
    if (record->kept)
        memcpy(rows, record->rows, (size_t)record->kept * columns * sizeof *rows);
    zt__free(allocator, record->rows);
    record->rows = rows;
    record->capacity = capacity;
}

/* The row in which an occurrence of a region is kept, or NULL. Beyond the limit every occurrence so far has
   the same chance to be among the kept: reservoir sampling. The passes keep the same occurrences, and so fill
   the same rows. */
ZT__HOT double *zt__row_for(zt_profiler *profiler, zt__record *record, uint64_t occurrence) {
    uint32_t columns = zt__column_count(profiler);
    uint64_t place = occurrence;
    if (place >= record->capacity && record->capacity < profiler->config.samples)
        zt__grow_rows(profiler, record, record->capacity + 1);
    if (place >= record->capacity)
        place = zt__draw(record, occurrence);
    if (place >= record->capacity)
        return NULL;
    for (; record->kept <= place; record->kept++)
        zt__clear_row(record->rows + (size_t)record->kept * columns, columns);
    return record->rows + place * columns;
}

/* Fills a kept row with what one of several passes measures of it. */
ZT__FN void zt__copy_measured(const zt_profiler *profiler, double *kept, uint32_t pass, const double *row) {
    uint32_t column, columns = zt__column_count(profiler);
    for (column = 0; column < columns; column++)
        if (zt__is_measured(profiler, column, pass))
            kept[column] = row[column];
}

/* ---- rows are added to the moments a block at a time ------------------------------------------------------- */

enum { ZT__BLOCK = 16 };

/* Two columns at once. */
typedef double zt__two __attribute__((vector_size(16)));

#ifdef __SSE2__
#define ZT__LOWER(a, b) _mm_min_pd(a, b)
#define ZT__HIGHER(a, b) _mm_max_pd(a, b)
#else
typedef int64_t zt__choice __attribute__((vector_size(16)));
#define ZT__CHOOSE(which, a, b) (zt__two)((which & (zt__choice)a) | (~which & (zt__choice)b))
#define ZT__LOWER(a, b) ZT__CHOOSE((a < b), a, b)
#define ZT__HIGHER(a, b) ZT__CHOOSE((a > b), a, b)
#endif

/* What a block adds to two columns. Distances are from a pivot near the values, so that nothing cancels. */
typedef struct zt__sums {
    zt__two pivot, distance, square, sum, min, max;
} zt__sums;

/* A block while it is added. Its rows have either weight in one sum of these: their number, and GPU time. */
typedef struct zt__block_view {
    const double *rows;
    uint32_t width, count;
    const uint8_t *by_time;        /* a column: which weight it has */
    zt__two weights[4][ZT__BLOCK]; /* for two columns, of which none, the first, the second, both have time */
    double weight[2];
    zt__inverse inverses[2];
} zt__block_view;

/* The columns of a row of a block: an even number. */
ZT__HOT uint32_t zt__block_width(const zt_profiler *profiler) {
    return (zt__column_count(profiler) + 1) & ~1u;
}

ZT__HOT void zt__sum_two(zt__sums *sums, const double *rows, uint32_t width, const zt__two *weights,
                         uint32_t count) {
    zt__two pivot = sums->pivot, distances = {0, 0}, squares = {0, 0}, sum = {0, 0}, min, max;
    uint32_t i;
    memcpy(&min, rows, sizeof min);
    max = min;
    for (i = 0; i < count; i++, rows += width) {
        zt__two value, distance, weighted;
        memcpy(&value, rows, sizeof value);
        distance = value - pivot;
        weighted = distance * weights[i];
        distances += weighted;
        squares += weighted * distance;
        sum += value;
        min = ZT__LOWER(min, value);
        max = ZT__HIGHER(max, value);
    }
    sums->distance = distances;
    sums->square = squares;
    sums->sum = sum;
    sums->min = min;
    sums->max = max;
}

ZT__HOT void zt__add_sums(zt__moments *moments, const zt__sums *sums, uint32_t lane, uint32_t count,
                          double weight, zt__inverse *inverse) {
    double distance = sums->distance[lane], shift;
    if (moments->count == 0 || sums->min[lane] < moments->min)
        moments->min = sums->min[lane];
    if (moments->count == 0 || sums->max[lane] > moments->max)
        moments->max = sums->max[lane];
    moments->count += count;
    moments->sum += sums->sum[lane];
    moments->weight += weight;
    if (!(moments->weight > 0))
        return;
    shift = zt__by(distance, moments->weight, inverse);
    moments->mean = sums->pivot[lane] + shift;
    moments->m2 += sums->square[lane] - distance * shift;
    if (moments->m2 < 0)
        moments->m2 = 0;
}

/* Adds the values of one column that are not all numbers, or not all have a weight. */
ZT__FN void zt__add_some(zt__moments *moments, const double *rows, uint32_t width, uint32_t column,
                         uint32_t count, uint32_t by_time) {
    uint32_t i;
    for (i = 0; i < count; i++, rows += width)
        if (!zt__is_nan(rows[column]))
            zt__add_value(moments, rows[column], by_time ? rows[0] : 1);
}

/* Gives the rows of a block their weights: 1, or the GPU time, or NaN where that is none. */
ZT__HOT void zt__weigh_block(zt__block_view *block) {
    const double *row = block->rows;
    uint32_t i, which;
    block->weight[0] = block->count;
    block->weight[1] = 0;
    for (i = 0; i < block->count; i++, row += block->width) {
        double time = row[0] >= 0 ? row[0] : zt__nan();
        for (which = 0; which < 4; which++) {
            block->weights[which][i][0] = which & 1 ? time : 1;
            block->weights[which][i][1] = which & 2 ? time : 1;
        }
        block->weight[1] += time;
    }
    for (i = 0; i < 2; i++)
        block->inverses[i].of = block->inverses[i].is = 1;
}

/* Keeps some rows of a block, or all. */
ZT__HOT void zt__keep_rows(zt_profiler *profiler, zt__record *record) {
    uint64_t occurrence = record->moments[zt__time_column(profiler, record->waiting_pass)].count;
    uint32_t i, width = zt__block_width(profiler);
    for (i = 0; i < record->waiting; i++) {
        const double *row = record->block + (size_t)i * width;
        double *kept = zt__row_for(profiler, record, occurrence + i);
        if (kept && profiler->pass_count == 1)
            memcpy(kept, row, zt__column_count(profiler) * sizeof *row);
        else if (kept)
            zt__copy_measured(profiler, kept, record->waiting_pass, row);
    }
}

/* Adds two columns of a block. */
ZT__HOT void zt__add_two(zt__block_view *block, zt__moments *moments, uint32_t column) {
    uint32_t by_time[2], lane;
    zt__sums sums;
    memcpy(&sums.pivot, block->rows + column, sizeof sums.pivot);
    for (lane = 0; lane < 2; lane++) {
        by_time[lane] = block->by_time[column + lane];
        if (moments[lane].weight > 0)
            sums.pivot[lane] = moments[lane].mean;
    }
    zt__sum_two(&sums, block->rows + column, block->width, block->weights[by_time[0] + 2 * by_time[1]],
                block->count);
    for (lane = 0; lane < 2; lane++)
        if (zt__is_finite(sums.distance[lane]))
            zt__add_sums(&moments[lane], &sums, lane, block->count, block->weight[by_time[lane]],
                         &block->inverses[by_time[lane]]);
        else
            zt__add_some(&moments[lane], block->rows, block->width, column + lane, block->count,
                         by_time[lane]);
}

/* Adds the instances of a region that wait. With the results locked. */
ZT__HOT void zt__add_block(zt_profiler *profiler, zt__record *record) {
    zt__block_view block;
    uint32_t column;
    block.rows = record->block;
    block.width = zt__block_width(profiler);
    block.count = record->waiting;
    block.by_time = profiler->by_time;
    zt__weigh_block(&block);
    zt__keep_rows(profiler, record);
    for (column = 0; column < block.width; column += 2)
        zt__add_two(&block, record->moments + column, column);
    record->seen += record->waiting;
    record->waiting = 0;
}

/* Room for the statistics of a region. Returns 0 without memory. */
ZT__HOT int zt__make_moments(zt_profiler *profiler, zt__record *record) {
    if (!record->moments)
        record->moments = (zt__moments *)zt__allocate(&profiler->config.allocator, zt__block_width(profiler),
                                                      sizeof *record->moments);
    return record->moments != NULL;
}

/* Room for the instances of a region that wait. Returns 0 without memory. */
ZT__HOT int zt__make_block(zt_profiler *profiler, zt__record *record) {
    if (!record->block)
        record->block =
            (double *)zt__allocate(&profiler->config.allocator, (size_t)ZT__BLOCK * zt__block_width(profiler),
                                   sizeof *record->block);
    return record->block != NULL;
}

/* Where the next instance of a region goes, in the one pass that its block is of. With the results locked.
   NULL without memory. */
ZT__HOT double *zt__next_row(zt_profiler *profiler, zt__record *record, uint32_t pass) {
    if (!zt__make_moments(profiler, record) || !zt__make_block(profiler, record))
        return NULL;
    if (record->waiting && record->waiting_pass != pass)
        zt__add_block(profiler, record);
    record->waiting_pass = pass;
    return record->block + (size_t)record->waiting * zt__block_width(profiler);
}

/* Adds the row that was put there. With the results locked. */
ZT__HOT void zt__add_row(zt_profiler *profiler, zt__record *record) {
    if (!record->listed) {
        record->listed = 1;
        record->next_waiting = profiler->waiting;
        profiler->waiting = record;
    }
    if (++record->waiting == ZT__BLOCK)
        zt__add_block(profiler, record);
}

/* Adds all that waits. With the results locked. */
ZT__FN void zt__add_waiting(zt_profiler *profiler) {
    while (profiler->waiting) {
        zt__record *record = profiler->waiting;
        profiler->waiting = record->next_waiting;
        record->listed = 0;
        if (record->waiting)
            zt__add_block(profiler, record);
    }
}

/* Locks the results to read them. */
ZT__FN void zt__lock_results(const zt_profiler *profiler) {
    zt_profiler *locked = zt__mutable(profiler);
    zt__lock(&locked->results);
    zt__add_waiting(locked);
}

/* Partly sorts: afterwards the value at `rank` is in its place, with none greater before it. */
ZT__FN void zt__select(double *values, uint32_t count, uint32_t rank) {
    uint32_t low = 0, high = count - 1;
    while (low < high) {
        double pivot = values[low + (high - low) / 2];
        uint32_t i = low, j = high;
        for (;;) {
            while (values[i] < pivot)
                i++;
            while (values[j] > pivot)
                j--;
            if (i >= j)
                break;
            {
                double swap = values[i];
                values[i++] = values[j];
                values[j--] = swap;
            }
        }
        if (rank <= j)
            high = j;
        else
            low = j + 1;
    }
}

/* A quantile, interpolated between the values beside it. */
ZT__FN double zt__quantile(double *values, uint32_t count, double share) {
    double position, low, high;
    uint32_t rank, i;
    if (count == 0)
        return zt__nan();
    position = share * (count - 1);
    rank = (uint32_t)position;
    zt__select(values, count, rank);
    low = values[rank];
    if (rank + 1 >= count)
        return low;
    high = values[rank + 1];
    for (i = rank + 2; i < count; i++)
        if (values[i] < high)
            high = values[i];
    return low + (high - low) * (position - rank);
}

ZT__FN void zt__clear_stats(zt_stats *stats) {
    if (!stats) /* which is for the caller to say */
        return;
    stats->count = 0;
    stats->sum = stats->mean = stats->stddev = stats->min = stats->max = stats->median = stats->p95 =
        zt__nan();
}

/* Statistics of one column, but for median and 95th percentile. With the results locked. */
ZT__FN void zt__moment_stats(const zt_profiler *profiler, const zt__record *record, uint32_t column,
                             zt_stats *stats) {
    const zt__moments *moments = record->moments ? &record->moments[column] : NULL;
    zt_aggregation aggregation = zt__column_aggregation(profiler, column);
    zt__clear_stats(stats);
    if (!moments || moments->count == 0)
        return;
    stats->count = moments->count;
    if (aggregation == ZT_AGGREGATE_SUM || aggregation == ZT_AGGREGATE_FLAG)
        stats->sum = moments->sum;
    if (aggregation == ZT_AGGREGATE_FLAG)
        return;
    stats->min = moments->min;
    stats->max = moments->max;
    if (aggregation != ZT_AGGREGATE_NONE && moments->weight > 0) {
        /* the weights stand for as many observations as there were instances */
        double count = zt__to_double(moments->count), freedom = moments->weight * (1.0 - 1.0 / count);
        stats->mean = aggregation == ZT_AGGREGATE_SUM ? moments->sum / count : moments->mean;
        stats->stddev = moments->count > 1 ? zt__sqrt(moments->m2 / freedom) : 0;
    }
}

/* Copies the kept values of one column. Returns how many. */
ZT__FN uint32_t zt__copy_values(const zt_profiler *profiler, const zt__record *record, uint32_t column,
                                double *to) {
    uint32_t i, count = 0, columns = zt__column_count(profiler);
    for (i = 0; i < record->kept; i++) {
        double value = record->rows[(size_t)i * columns + column];
        if (!zt__is_nan(value))
            to[count++] = value;
    }
    return count;
}

/* Statistics of one column. With the results locked. */
ZT__FN void zt__column_stats(const zt_profiler *profiler, const zt__record *record, uint32_t column,
                             zt_stats *stats) {
    zt_aggregation aggregation = zt__column_aggregation(profiler, column);
    uint32_t pass, count = 0;
    zt__moment_stats(profiler, record, column, stats);
    if (aggregation == ZT_AGGREGATE_FLAG || aggregation == ZT_AGGREGATE_NONE)
        return;
    if (column != 0)
        count = zt__copy_values(profiler, record, column, profiler->scratch);
    for (pass = 0; column == 0 && pass < profiler->pass_count; pass++)
        count +=
            zt__copy_values(profiler, record, zt__time_column(profiler, pass), profiler->scratch + count);
    stats->median = zt__quantile(profiler->scratch, count, 0.5);
    stats->p95 = zt__quantile(profiler->scratch, count, 0.95);
}

/* ==== >>regions: names, lists, begin and end ============================================================== */

ZT__HOT uint64_t zt__mix(uint64_t word) {
    word *= UINT64_C(0x9E3779B97F4A7C15);
    return word ^ word >> 32;
}

ZT__FN uint64_t zt__hash(const char *name, size_t length) {
    uint64_t hash = length, word;
    for (; length >= sizeof word; length -= sizeof word, name += sizeof word) {
        memcpy(&word, name, sizeof word);
        hash = zt__mix(hash ^ word);
    }
    for (word = 0; length > 0; length--)
        word = word << 8 | (unsigned char)name[length - 1];
    return zt__mix(hash ^ word);
}

ZT__HOT ZT__ONCE zt__record *zt__record_at(const zt_profiler *profiler, uint32_t index) {
    return &profiler->records[index / ZT__NAME_PAGE][index % ZT__NAME_PAGE];
}

/* Where a name stands, or is to be put. With the state locked, as all that follows up to zt_begin. */
ZT__FN uint32_t *zt__name_place(const zt_profiler *profiler, uint64_t hash, const char *name, size_t length) {
    uint32_t i = (uint32_t)hash & (profiler->name_capacity - 1);
    for (;; i = (i + 1) & (profiler->name_capacity - 1)) {
        const zt__record *record;
        if (profiler->names[i] == 0)
            return &profiler->names[i];
        record = zt__record_at(profiler, profiler->names[i] - 1);
        if (record->hash == hash && record->length == length && memcmp(record->name, name, length) == 0)
            return &profiler->names[i];
    }
}

ZT__FN int zt__grow_names(zt_profiler *profiler) {
    const zt_allocator *allocator = &profiler->config.allocator;
    uint32_t *old = profiler->names;
    uint32_t i, capacity = profiler->name_capacity ? profiler->name_capacity * 2 : 64;
    uint32_t *names = (uint32_t *)zt__allocate(allocator, capacity, sizeof *names);
    if (!names)
        return 0;
    profiler->names = names;
    profiler->name_capacity = capacity;
    for (i = 0; i < profiler->record_count; i++) {
        const zt__record *record = zt__record_at(profiler, i);
        *zt__name_place(profiler, record->hash, record->name, record->length) = i + 1;
    }
    zt__free(allocator, old);
    return 1;
}

/* Makes the record of a new name. Returns its index plus one, or 0 and the cause. */
ZT__FN uint32_t zt__add_name(zt_profiler *profiler, uint64_t hash, const char *name, size_t length,
                             zt_cause *cause) {
    const zt_allocator *allocator = &profiler->config.allocator;
    uint32_t index = profiler->record_count, page = index / ZT__NAME_PAGE;
    zt__record *record;
    *cause = page < ZT__NAME_PAGES ? ZT_DROPPED_NO_MEMORY : ZT_DROPPED_TOO_MANY_NAMES;
    if (page >= ZT__NAME_PAGES)
        return 0;
    if (!profiler->records[page])
        profiler->records[page] = (zt__record *)zt__allocate(allocator, ZT__NAME_PAGE, sizeof *record);
    if (!profiler->records[page])
        return 0;
    if ((index + 1) * 2 > profiler->name_capacity && !zt__grow_names(profiler))
        return 0;
    record = zt__record_at(profiler, index);
    record->name = (char *)zt__allocate(allocator, length + 1, 1);
    if (!record->name)
        return 0;
    memcpy(record->name, name, length);
    record->length = length;
    record->hash = hash;
    *zt__name_place(profiler, hash, name, length) = index + 1;
    zt__store(&profiler->record_count, index + 1);
    return index + 1;
}

/* What a region is called. */
ZT__HOT const char *zt__name_of(const char *name) {
    return name && *name ? name : "(unnamed)";
}

/* The index of a region's name, or UINT32_MAX and the cause. */
ZT__FN uint32_t zt__intern(zt_profiler *profiler, const char *name, zt_cause *cause) {
    size_t length = strlen(name);
    uint64_t hash = zt__hash(name, length);
    uint32_t found = 0;
    if (profiler->name_capacity)
        found = *zt__name_place(profiler, hash, name, length);
    if (!found)
        found = zt__add_name(profiler, hash, name, length, cause);
    return found - 1;
}

ZT__HOT zt__site *zt__site_of(zt__lane *lane, const char *name) {
    return &lane->sites[zt__mix((uintptr_t)name) % ZT__SITES];
}

/* The index of a name that a call site gave lately, or UINT32_MAX. A call site has its name in one place,
   which is remembered; what stands there now is compared, for it may be a buffer. With the lane taken. */
ZT__HOT uint32_t zt__recall(zt__lane *lane, const char *name) {
    const zt__site *site = zt__site_of(lane, name);
    return site->name == name && strcmp(site->known, name) == 0 ? site->region : UINT32_MAX;
}

/* The index of any name, which is remembered. With the lane taken, which this gives up meanwhile. */
ZT__FN uint32_t zt__learn(zt_profiler *profiler, zt__lane *lane, const char *name, zt_cause *cause) {
    zt__site site = {name, NULL, UINT32_MAX};
    zt__give(&lane->latch);
    zt__take(&profiler->state);
    site.region = zt__intern(profiler, name, cause);
    zt__give(&profiler->state);
    if (site.region != UINT32_MAX)
        site.known = zt__record_at(profiler, site.region)->name;
    zt__take(&lane->latch);
    if (site.known)
        *zt__site_of(lane, name) = site;
    return site.region;
}

ZT__HOT zt__list **zt__list_bucket(zt_profiler *profiler, ze_command_list_handle_t handle) {
    uint64_t hash = (uint64_t)(uintptr_t)handle * UINT64_C(0x9E3779B97F4A7C15);
    return &profiler->lists[hash >> 56 & (ZT__LIST_BUCKETS - 1)];
}

/* The record of a list, or NULL. Without the state it may be overlooked, and be another's soon. */
ZT__HOT zt__list *zt__find_list(zt_profiler *profiler, ze_command_list_handle_t handle) {
    zt__list *list = zt__load(zt__list_bucket(profiler, handle));
    while (list && zt__load(&list->handle) != handle)
        list = zt__load(&list->next_in_bucket);
    return list;
}

/* Makes a record that of a list. */
ZT__FN void zt__put_in_table(zt_profiler *profiler, zt__list *list, ze_command_list_handle_t handle) {
    zt__list **bucket = zt__list_bucket(profiler, handle);
    zt__store(&list->handle, handle);
    zt__store(&list->next_in_bucket, *bucket);
    zt__store(bucket, list);
}

/* Takes the record of an idle list out of the table. Returns 0 where the list is used again. */
ZT__FN int zt__discard_list(zt_profiler *profiler, zt__list *list) {
    zt__list **place = zt__list_bucket(profiler, list->handle);
    int idle;
    zt__take(&list->lane->latch);
    idle = list->idle;
    if (idle) {
        zt__store(&list->handle, NULL);
        list->kind = ZT__KIND_NOT_ASKED;
        while (*place != list)
            place = &(*place)->next_in_bucket;
        zt__store(place, list->next_in_bucket);
    }
    zt__give(&list->lane->latch);
    return idle;
}

/* An idle list's record for another list, where there are many: programs that make a new list each time would
   else need ever more. NULL where there are few. */
ZT__FN zt__list *zt__recycle_list(zt_profiler *profiler) {
    while (profiler->idle_count >= ZT__IDLE_LISTS) {
        zt__list *list = profiler->idle_first;
        profiler->idle_first = list->next_idle;
        if (!profiler->idle_first)
            profiler->idle_last = &profiler->idle_first;
        profiler->idle_count--;
        list->queued = 0;
        if (zt__discard_list(profiler, list))
            return list;
    }
    return NULL;
}

/* The record of a list that has none. NULL without memory. */
ZT__FN zt__list *zt__make_list(zt_profiler *profiler, ze_command_list_handle_t handle) {
    zt__list *list = zt__recycle_list(profiler);
    if (!list) {
        list = (zt__list *)zt__allocate(&profiler->config.allocator, 1, sizeof *list);
        if (!list)
            return NULL;
        list->last = &list->first;
        list->lane = &profiler->lanes[profiler->next_lane++ % ZT__LANES];
    }
    zt__put_in_table(profiler, list, handle);
    return list;
}

/* Sees that there is a record of a list, and that it is used; `kind` is UNKNOWN where that says nothing.
   Returns 0 without memory. */
ZT__FN int zt__note_kind(zt_profiler *profiler, ze_command_list_handle_t handle, zt__kind kind) {
    zt__list *list;
    zt__take(&profiler->state);
    list = zt__find_list(profiler, handle);
    if (!list)
        list = zt__make_list(profiler, handle);
    if (list) {
        zt__take(&list->lane->latch);
        if (kind != ZT__KIND_UNKNOWN || list->kind == ZT__KIND_NOT_ASKED)
            list->kind = kind;
        list->idle = 0;
        zt__give(&list->lane->latch);
    }
    zt__give(&profiler->state);
    return list != NULL;
}

/* The queue of lists with bound slots. */
ZT__FN void zt__push_active(zt_profiler *profiler, zt__list *list) {
    if (list->active)
        return;
    zt__store(&list->active, (uint8_t)1);
    list->next_active = NULL;
    *profiler->active_last = list;
    profiler->active_last = &list->next_active;
    profiler->active_count++;
}

ZT__FN void zt__queue_list(zt_profiler *profiler, zt__list *list) {
    zt__take(&profiler->state);
    zt__push_active(profiler, list);
    zt__give(&profiler->state);
}

ZT__FN void zt__remove_active(zt_profiler *profiler, zt__list *list) {
    zt__list **place = &profiler->active_first;
    if (!list->active)
        return;
    while (*place != list)
        place = &(*place)->next_active;
    *place = list->next_active;
    if (!*place)
        profiler->active_last = place;
    zt__store(&list->active, (uint8_t)0);
    profiler->active_count--;
}

ZT__FN zt__list *zt__pop_active(zt_profiler *profiler) {
    zt__list *list = profiler->active_first;
    if (list)
        zt__remove_active(profiler, list);
    return list;
}

/* Keeps the record of a list that was reset or destroyed, for the handle may come back. Nothing is bound to
   it. */
ZT__FN void zt__retire_list(zt_profiler *profiler, zt__list *list, int destroyed) {
    zt__remove_active(profiler, list);
    zt__take(&list->lane->latch);
    list->idle = 1;
    if (destroyed || list->kind == ZT__KIND_IMMEDIATE)
        list->kind = ZT__KIND_NOT_ASKED; /* destroyed: the handle may come back as another kind */
    zt__give(&list->lane->latch);
    if (!list->queued) {
        list->queued = 1;
        list->next_idle = NULL;
        *profiler->idle_last = list;
        profiler->idle_last = &list->next_idle;
        profiler->idle_count++;
    }
}

/* Whether a list is immediate: one question to the driver a list. */
ZT__FN ZT__ONCE zt__kind zt__ask_kind(const zt_profiler *profiler, ze_command_list_handle_t handle) {
    ze_bool_t immediate = 0;
    if (!profiler->driver.is_immediate ||
        profiler->driver.is_immediate(handle, &immediate) != ZE_RESULT_SUCCESS)
        return ZT__KIND_UNKNOWN;
    return immediate ? ZT__KIND_IMMEDIATE : ZT__KIND_RECORDED;
}

/* The record of a list, made when it is new, with its lane taken. NULL without memory. */
ZT__HOT zt__list *zt__enter_list(zt_profiler *profiler, ze_command_list_handle_t handle) {
    for (;;) {
        zt__list *list = zt__find_list(profiler, handle);
        zt__kind kind;
        if (list) {
            zt__take(&list->lane->latch);
            if (list->handle == handle && list->kind != ZT__KIND_NOT_ASKED) {
                list->idle = 0;
                return list;
            }
            zt__give(&list->lane->latch);
        }
        zt__inside_1++;
        kind = zt__ask_kind(profiler, handle);
        zt__inside_1--;
        if (!zt__note_kind(profiler, handle, kind))
            return NULL;
    }
}

/* Counts an instance as dropped. `record` may be NULL. */
ZT__FN void zt__count_dropped(zt_profiler *profiler, zt__record *record, zt_cause cause) {
    profiler->counts.dropped++;
    profiler->causes[cause]++;
    if (record)
        record->dropped++;
}

ZT__FN void zt__count_lost(zt_profiler *profiler, uint32_t region, zt_cause cause) {
    profiler->counts.lost++;
    profiler->causes[cause]++;
    zt__record_at(profiler, region)->lost++;
}

/* Makes the region of a slot stale, of which a copy may be ended meanwhile. */
ZT__HOT void zt__make_stale(zt__slot *slot) {
    uint32_t generation = zt__load(&slot->generation);
    if (generation & 1)
        zt__store(&slot->generation, generation + 1);
}

ZT__HOT void zt__free_slot(zt__slot *slot) {
    zt__lane *lane = slot->list->lane;
    zt__make_stale(slot);
    slot->unclean |= slot->dead;
    slot->pending = slot->submitted = slot->executed = slot->tries = slot->dead = slot->passed = slot->torn =
        0;
    zt__store(&slot->list, NULL);
    if (slot->broken)
        return;
    zt__put_free(lane, slot);
}

/* A region that is begun on a list that has run shows that the list is immediate or was reset: what has run
   will not run again. Returns whether it is so. */
ZT__HOT int zt__renew(zt__list *list) {
    int has_run = list->executed > 0;
    list->epoch += (uint32_t)has_run;
    list->executed = 0;
    return has_run;
}

/* Binds a free slot to a list. NULL where there is none. */
ZT__HOT zt__slot *zt__open_slot(zt_profiler *profiler, zt__list *list, uint32_t region) {
    zt__slot *slot = zt__take_free(list->lane, zt__pass_index(profiler));
    if (!slot)
        return NULL;
    zt__renew(list);
    zt__store(&slot->list, list);
    slot->epoch = list->epoch;
    slot->sight = zt__load(&profiler->sight);
    slot->region = region;
    slot->pending = 1;
    zt__store(&slot->generation, zt__load(&slot->generation) + 1);
    list->open++;
    list->lane->open++;
    list->lane->begun++;
    return slot;
}

/* Puts an ended slot into the chain of its list. Returns whether the list is to be queued for harvest. */
ZT__HOT int zt__bind_slot(zt__slot *slot) {
    zt__list *list = slot->list;
    slot->next = NULL;
    list->open--;
    list->ended++;
    list->lane->open--;
    *list->last = slot;
    list->last = &slot->next;
    return !list->busy && !zt__load(&list->active); /* whoever has it queues it again */
}

/* Of several threads that end what was begun in a slot, one succeeds. */
ZT__HOT int zt__end_generation(zt__slot *slot, uint32_t generation) {
    return __atomic_compare_exchange_n(&slot->generation, &generation, generation + 1, 0, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE);
}

/* Counts an instance in flight as dropped. */
ZT__FN void zt__drop_pending(zt_profiler *profiler, zt__slot *slot, zt_cause cause) {
    slot->pending = 0;
    zt__count_dropped(profiler, zt__record_at(profiler, slot->region), cause);
}

/* Drops a region whose commands could not all be appended. Where some were, the list holds them until it is
   reset, and so the slot stays bound to it. */
ZT__FN void zt__drop_unappended(zt_profiler *profiler, zt__slot *slot) {
    zt__list *list = slot->list;
    zt__take(&profiler->state);
    zt__take(&list->lane->latch);
    zt__drop_pending(profiler, slot, ZT_DROPPED_APPEND_FAILED);
    if (!slot->dead) {
        list->open--;
        list->lane->open--;
        zt__free_slot(slot);
    } else {
        zt__make_stale(slot);
        zt__store(&list->unready, (uint8_t)1);
        if (zt__bind_slot(slot))
            zt__push_active(profiler, list);
    }
    zt__give(&list->lane->latch);
    zt__give(&profiler->state);
}

#define ZT__REMEDY_APPEND                                                                                    \
    "The region is not measured. The list must be open for commands, and of this context."

/* A time stamp. `after_work`: it has to wait for the work before it, and no query has done so. */
ZT__FN ze_result_t zt__append_stamp(zt_profiler *profiler, ze_command_list_handle_t list, uint64_t *stamp,
                                    int after_work, ze_event_handle_t signal) {
    const char *call = "zeCommandListAppendBarrier";
    ze_result_t result = ZE_RESULT_SUCCESS;
    zt__inside_1++;
    if (after_work)
        result = zeCommandListAppendBarrier(list, NULL, 0, NULL);
    if (result == ZE_RESULT_SUCCESS) {
        call = "zeCommandListAppendWriteGlobalTimestamp";
        result = zeCommandListAppendWriteGlobalTimestamp(list, stamp, signal, 0, NULL);
    }
    zt__inside_1--;
    return zt__check(profiler, result, call, ZT__REMEDY_APPEND);
}

ZT__HOT ze_result_t zt__append_begin(zt_profiler *profiler, zt__slot *slot) {
    ze_command_list_handle_t list = slot->list->handle;
    uint32_t g;
    if (slot->unclean)
        zt__reset_slot(profiler, slot);
    if (slot->broken)
        return ZE_RESULT_ERROR_UNKNOWN;
    for (g = 0; g < profiler->passes[slot->pass].group_count; g++) {
        ze_result_t result = zetCommandListAppendMetricQueryBegin(list, slot->queries[g]);
        if (result != ZE_RESULT_SUCCESS)
            return zt__check(profiler, result, "zetCommandListAppendMetricQueryBegin", ZT__REMEDY_APPEND);
        slot->dead = 1; /* until the end is appended too */
    }
    return profiler->stamped
               ? zt__append_stamp(profiler, list, &slot->stamps[0], profiler->group_count == 0, NULL)
               : ZE_RESULT_SUCCESS;
}

/* The last command signals the event: those before it are then complete. */
ZT__HOT ze_result_t zt__append_end(zt_profiler *profiler, zt__slot *slot) {
    ze_command_list_handle_t list = slot->list->handle;
    ze_result_t result = ZE_RESULT_SUCCESS;
    uint32_t g;
    if (profiler->stamped)
        result =
            zt__append_stamp(profiler, list, &slot->stamps[1], 1, profiler->group_count ? NULL : slot->event);
    for (g = profiler->passes[slot->pass].group_count; g-- > 0 && result == ZE_RESULT_SUCCESS;) {
        /* no event is waited for, but the validation layer wants the pointer */
        result = zetCommandListAppendMetricQueryEnd(list, slot->queries[g], g ? NULL : slot->event, 0,
                                                    &slot->event);
        zt__check(profiler, result, "zetCommandListAppendMetricQueryEnd", ZT__REMEDY_APPEND);
    }
    slot->dead = result != ZE_RESULT_SUCCESS;
    return result;
}

/* ==== >>timeline: clocks, kept instances and rows, attribution ============================================ */

enum { ZT__PAIRS = 64, ZT__READINGS = 3, ZT__PAIR_DISTANCE = 1000, ZT__MAX_MARKS = 4096 };

/* One moment on both clocks. A double counts nanoseconds exactly for a hundred days. */
typedef struct zt__pair {
    double device_ns, host_ns;
    double error_ns; /* how far apart the two can be */
} zt__pair;

/* A clock of the device, against CLOCK_MONOTONIC. Its times are unwrapped from the first pair on. */
typedef struct zt__clock {
    ze_device_handle_t device;
    zet_metric_group_handle_t group; /* the clock of its metrics; NULL: the device's own */
    uint64_t mask;
    double ns_per_tick;
    double wrap_ns;     /* starts again from 0 so often; 0: never */
    double interval_ns; /* from pair to pair, at least */
    uint32_t count;
    zt__pair pairs[ZT__PAIRS];
} zt__clock;

ZT__FN ZT__ONCE void zt__start_clock(zt__clock *clock, ze_device_handle_t device,
                                     zet_metric_group_handle_t group, double ns_per_tick, uint64_t mask) {
    memset(clock, 0, sizeof *clock);
    clock->device = device;
    clock->group = group;
    clock->mask = mask;
    clock->ns_per_tick = ns_per_tick;
    clock->wrap_ns = mask == UINT64_MAX ? 0 : (zt__to_double(mask) + 1) * ns_per_tick;
    clock->interval_ns = 1e8;
    if (clock->wrap_ns > 0 && clock->wrap_ns / 8 < clock->interval_ns)
        clock->interval_ns = clock->wrap_ns / 8;
}

ZT__HOT double zt__ticks_to_ns(const zt__clock *clock, uint64_t ticks) {
    return (double)(ticks & clock->mask) * clock->ns_per_tick;
}

/* Reads both clocks, several times: the reading that took least is the truest. */
ZT__FN ze_result_t zt__read_clocks(const zt__driver *driver, const zt__clock *clock, zt__pair *pair) {
    uint64_t least = UINT64_MAX;
    uint32_t i;
    pair->device_ns = pair->host_ns = pair->error_ns = 0;
    if (clock->group ? !driver->metric_clock : !driver->device_clock)
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    for (i = 0; i < ZT__READINGS; i++) {
        uint64_t other = 0, ticks = 0, took, before;
        ze_result_t result;
        zt__inside_1++;
        before = zt__now_ns();
        result = clock->group ? driver->metric_clock(clock->group, 0, &other, &ticks)
                              : driver->device_clock(clock->device, &other, &ticks);
        took = zt__now_ns() - before;
        zt__inside_1--;
        if (result != ZE_RESULT_SUCCESS)
            return result;
        if (took >= least)
            continue;
        least = took;
        pair->device_ns = zt__ticks_to_ns(clock, ticks);
        pair->error_ns = zt__to_double(took) / 2;
        pair->host_ns = zt__to_double(before) + pair->error_ns;
    }
    return ZE_RESULT_SUCCESS;
}

/* Of the moments that a time of the device can mean, the one nearest to `about`. */
ZT__HOT ZT__ONCE double zt__unwrap(const zt__clock *clock, double raw_ns, double about_ns) {
    if (clock->wrap_ns <= 0)
        return raw_ns;
    return raw_ns + clock->wrap_ns * zt__floor((about_ns - raw_ns) / clock->wrap_ns + 0.5);
}

ZT__HOT const zt__pair *zt__last_pair(const zt__clock *clock) {
    return &clock->pairs[clock->count - 1];
}

/* Keeps every second pair, and takes half as many from now on. */
ZT__FN void zt__thin_pairs(zt__clock *clock) {
    uint32_t i;
    for (i = 0; i < ZT__PAIRS / 2; i++)
        clock->pairs[i] = clock->pairs[i * 2];
    clock->count = ZT__PAIRS / 2;
    if (clock->wrap_ns <= 0 || clock->interval_ns * 2 <= clock->wrap_ns / 8)
        clock->interval_ns *= 2;
}

/* Adds a pair, unwrapped, that is far enough from the last for the rate between them to be a thousandth off
   at the most. */
ZT__FN void zt__add_pair(zt__clock *clock, zt__pair *pair) {
    if (clock->count) {
        const zt__pair *last = zt__last_pair(clock);
        pair->device_ns =
            zt__unwrap(clock, pair->device_ns, last->device_ns + (pair->host_ns - last->host_ns));
        if (pair->device_ns <= last->device_ns ||
            pair->host_ns - last->host_ns < (double)ZT__PAIR_DISTANCE * (pair->error_ns + last->error_ns))
            return;
    }
    if (clock->count == ZT__PAIRS)
        zt__thin_pairs(clock);
    clock->pairs[clock->count++] = *pair;
}

ZT__FN int zt__is_pair_due(const zt__clock *clock) {
    return clock->count == 0 ||
           zt__to_double(zt__now_ns()) - zt__last_pair(clock)->host_ns >= clock->interval_ns;
}

/* Host time, between the pairs beside it; before and after all pairs, at the rate of them all. It never runs
   backwards, so that what is nested stays nested. */
ZT__HOT double zt__to_host(const zt__clock *clock, double device_ns) {
    const zt__pair *from = &clock->pairs[0], *to = zt__last_pair(clock), *near = from;
    uint32_t low = 0, high = clock->count - 1;
    if (clock->count == 1)
        return from->host_ns + (device_ns - from->device_ns);
    if (device_ns >= to->device_ns) {
        near = to;
    } else if (device_ns > from->device_ns) {
        while (high - low > 1) {
            uint32_t middle = (low + high) / 2;
            if (clock->pairs[middle].device_ns <= device_ns)
                low = middle;
            else
                high = middle;
        }
        near = from = &clock->pairs[low];
        to = &clock->pairs[high];
    }
    return near->host_ns + (device_ns - near->device_ns) *
                               ((to->host_ns - from->host_ns) / (to->device_ns - from->device_ns));
}

/* ---- instances ------------------------------------------------------------------------------------------- */

typedef struct zt__instance {
    double begin_ns, end_ns; /* of the device, unwrapped */
    ze_command_list_handle_t list;
    uint32_t region;
} zt__instance;

/* A ring of the newest instances. With the results locked. */
struct zt__timeline {
    uint32_t capacity;
    uint64_t written;    /* ever */
    uint64_t attributed; /* those before it have met their rows */
    zt__instance *instances;
    double *values; /* of each, all columns */
    zt__clock clock;
};

ZT__HOT uint64_t zt__oldest(uint64_t written, uint32_t capacity) {
    return written > capacity ? written - capacity : 0;
}

/* Compares the clocks, when it is time to. */
ZT__FN void zt__relate_clocks(zt_profiler *profiler, int now) {
    zt__timeline *timeline = profiler->timeline;
    zt__pair pair;
    int due;
    if (!timeline || zt__is_gone(profiler))
        return;
    zt__lock(&profiler->results);
    due = now || zt__is_pair_due(&timeline->clock);
    zt__unlock_results(profiler);
    if (!due || zt__read_clocks(&profiler->driver, &timeline->clock, &pair) != ZE_RESULT_SUCCESS)
        return;
    zt__lock(&profiler->results);
    zt__add_pair(&timeline->clock, &pair);
    zt__unlock_results(profiler);
}

/* Keeps the instance whose row is at hand. It was read less than half a turn of the device's clock after its
   end. */
ZT__FN void zt__keep_instance(zt_profiler *profiler, const zt__entry *entry) {
    zt__timeline *timeline = profiler->timeline;
    const zt__clock *clock = &timeline->clock;
    const zt__pair *last = zt__last_pair(clock);
    size_t place = (size_t)(timeline->written++ % timeline->capacity), columns = zt__column_count(profiler);
    zt__instance *instance = &timeline->instances[place];
    double begin = zt__ticks_to_ns(clock, entry->stamps[0]), end = zt__ticks_to_ns(clock, entry->stamps[1]);
    instance->end_ns =
        zt__unwrap(clock, end, last->device_ns + (zt__to_double(entry->read_ns) - last->host_ns));
    instance->begin_ns = zt__unwrap(clock, begin, instance->end_ns - entry->time_ns);
    instance->list = entry->list;
    instance->region = entry->region;
    memcpy(timeline->values + place * columns, profiler->row, columns * sizeof *profiler->row);
}

/* ---- rows of streams ------------------------------------------------------------------------------------- */

typedef struct zt__mark {
    uint64_t hash;
    char *name;
} zt__mark;

/* What a stream measures, and the newest of its rows. A stream has it first; attached, it becomes the
   profiler's when the stream is closed. A row is begin, end, number of the marker, values. */
struct zt__feed {
    zt__mutex lock; /* of rows and marks; after the results */
    zt__feed *next;
    zt_allocator allocator;
    zt_profiler *profiler; /* that it is attached to, or NULL */
    int open;              /* there are rows to come */
    uint32_t first;        /* of its metrics, among those of all feeds */
    zt_metric *metrics;
    uint32_t capacity;
    uint64_t written;
    double *rows;
    zt__mark *marks;
    uint32_t mark_count, mark_capacity;
    zt__group group;
};

enum { ZT__ROW_BEGIN, ZT__ROW_END, ZT__ROW_MARK, ZT__ROW_VALUES };

ZT__HOT size_t zt__row_width(const zt__feed *feed) {
    return (size_t)ZT__ROW_VALUES + feed->group.metric_count;
}

ZT__HOT double *zt__row_at(const zt__feed *feed, uint64_t index) {
    return feed->rows + (size_t)(index % feed->capacity) * zt__row_width(feed);
}

ZT__FN void zt__destroy_feed(zt__feed *feed) {
    zt_allocator allocator = feed->allocator;
    uint32_t i;
    for (i = 0; i < feed->mark_count; i++)
        zt__free(&allocator, feed->marks[i].name);
    zt__free(&allocator, feed->marks);
    zt__free(&allocator, feed->rows);
    zt__free(&allocator, feed->metrics);
    zt__free_group(&allocator, &feed->group);
    pthread_mutex_destroy(&feed->lock);
    zt__free(&allocator, feed);
}

ZT__FN int zt__grow_marks(zt__feed *feed) {
    uint32_t capacity = feed->mark_capacity ? feed->mark_capacity * 2 : 64;
    zt__mark *marks;
    if (feed->mark_count < feed->mark_capacity)
        return 1;
    if (capacity > ZT__MAX_MARKS)
        return 0;
    marks = (zt__mark *)zt__allocate(&feed->allocator, capacity, sizeof *marks);
    if (!marks)
        return 0;
    if (feed->mark_count)
        memcpy(marks, feed->marks, feed->mark_count * sizeof *marks);
    zt__free(&feed->allocator, feed->marks);
    feed->marks = marks;
    feed->mark_capacity = capacity;
    return 1;
}

/* The number that stands for a name in the device's reports, or 0. With the feed locked. */
ZT__HOT ZT__ONCE uint32_t zt__number_mark(zt__feed *feed, const char *name) {
    size_t length = strlen(name);
    uint64_t hash = zt__hash(name, length);
    uint32_t i;
    for (i = 0; i < feed->mark_count; i++)
        if (feed->marks[i].hash == hash && strcmp(feed->marks[i].name, name) == 0)
            return i + 1;
    if (!zt__grow_marks(feed))
        return 0;
    feed->marks[i].name = (char *)zt__allocate(&feed->allocator, length + 1, 1);
    if (!feed->marks[i].name)
        return 0;
    memcpy(feed->marks[i].name, name, length);
    feed->marks[i].hash = hash;
    return ++feed->mark_count;
}

/* The name of a number. NULL: there is none, or it is the marker of somebody else. */
ZT__HOT ZT__ONCE const char *zt__mark_name(zt__feed *feed, double number) {
    const char *name = NULL;
    zt__lock(&feed->lock);
    if (!zt__is_nan(number) && number >= 1 && number <= feed->mark_count)
        name = feed->marks[(uint32_t)number - 1].name;
    zt__unlock(&feed->lock);
    return name;
}

ZT__HOT double zt__row_middle(const double *row) {
    return row[ZT__ROW_BEGIN] + (row[ZT__ROW_END] - row[ZT__ROW_BEGIN]) / 2;
}

ZT__HOT void zt__keep_row(zt__feed *feed, double begin_ns, double length_ns, double mark,
                          const double *values) {
    double *row;
    zt__lock(&feed->lock);
    row = zt__row_at(feed, feed->written);
    row[ZT__ROW_BEGIN] = begin_ns;
    row[ZT__ROW_END] = begin_ns + length_ns;
    row[ZT__ROW_MARK] = mark;
    memcpy(row + ZT__ROW_VALUES, values, feed->group.metric_count * sizeof *values);
    feed->written++;
    zt__unlock(&feed->lock);
}

/* ---- attribution: rows meet instances. With the results locked ------------------------------------------- */

/* The first kept row whose middle is not before a time. With the feed locked. */
ZT__HOT uint64_t zt__find_row(const zt__feed *feed, double time_ns) {
    uint64_t low = zt__oldest(feed->written, feed->capacity), high = feed->written;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (zt__row_middle(zt__row_at(feed, middle)) < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Whether all rows of an instance that ends then have been read. */
ZT__HOT int zt__has_passed(zt__feed *feed, double end_ns) {
    int passed;
    zt__lock(&feed->lock);
    passed = !feed->open || (feed->written && zt__row_middle(zt__row_at(feed, feed->written - 1)) >= end_ns);
    zt__unlock(&feed->lock);
    return passed;
}

/* Room for the streamed metrics of a region. Returns 0 without memory. */
ZT__HOT int zt__need_streamed(zt_profiler *profiler, zt__record *record) {
    const zt_allocator *allocator = &profiler->config.allocator;
    zt__moments *streamed;
    if (record->streamed_count == profiler->streamed_count)
        return 1;
    streamed = (zt__moments *)zt__allocate(allocator, profiler->streamed_count, sizeof *streamed);
    if (!streamed)
        return 0;
    if (record->streamed_count)
        memcpy(streamed, record->streamed, record->streamed_count * sizeof *streamed);
    zt__free(allocator, record->streamed);
    record->streamed = streamed;
    record->streamed_count = profiler->streamed_count;
    return 1;
}

ZT__HOT void zt__attribute_rows(zt__feed *feed, zt__moments *streamed, double begin_ns, double end_ns) {
    uint64_t index;
    uint32_t m;
    zt__lock(&feed->lock);
    for (index = zt__find_row(feed, begin_ns); index < feed->written; index++) {
        const double *row = zt__row_at(feed, index);
        if (zt__row_middle(row) >= end_ns)
            break;
        for (m = 0; m < feed->group.metric_count; m++)
            if (!zt__is_nan(row[ZT__ROW_VALUES + m]))
                zt__add_value(&streamed[m], row[ZT__ROW_VALUES + m], 1.0);
    }
    zt__unlock(&feed->lock);
}

/* Returns 0 where a stream has not come so far yet. */
ZT__HOT int zt__attribute_instance(zt_profiler *profiler, const zt__instance *instance) {
    zt__record *record = zt__record_at(profiler, instance->region);
    double begin_ns = zt__to_host(&profiler->timeline->clock, instance->begin_ns);
    double end_ns = zt__to_host(&profiler->timeline->clock, instance->end_ns);
    zt__feed *feed;
    for (feed = profiler->feeds; feed; feed = feed->next)
        if (!zt__has_passed(feed, end_ns))
            return 0;
    if (profiler->feeds && zt__need_streamed(profiler, record))
        for (feed = profiler->feeds; feed; feed = feed->next)
            zt__attribute_rows(feed, record->streamed + feed->first, begin_ns, end_ns);
    return 1;
}

/* Gives what was kept since the last time its rows, as far as all streams have come. Locks by itself. */
ZT__FN void zt__attribute(zt_profiler *profiler) {
    zt__timeline *timeline = profiler->timeline;
    uint64_t oldest;
    if (!timeline)
        return;
    zt__lock(&profiler->results);
    oldest = zt__oldest(timeline->written, timeline->capacity);
    if (timeline->attributed < oldest)
        timeline->attributed = oldest;
    while (timeline->attributed < timeline->written &&
           zt__attribute_instance(profiler, &timeline->instances[timeline->attributed % timeline->capacity]))
        timeline->attributed++;
    zt__unlock_results(profiler);
}

/* ---- opening and closing --------------------------------------------------------------------------------- */

ZT__FN void zt__attach(zt_profiler *profiler, zt__feed *feed) {
    zt__feed **end = &profiler->feeds;
    zt__lock(&profiler->results);
    while (*end)
        end = &(*end)->next;
    *end = feed;
    feed->profiler = profiler;
    feed->open = 1;
    feed->first = profiler->streamed_count;
    profiler->streamed_count += feed->group.metric_count;
    zt__unlock_results(profiler);
}

/* The stream of a feed is closed: its rows are complete. */
ZT__FN void zt__complete_feed(zt__feed *feed) {
    zt_profiler *profiler = feed->profiler;
    zt__lock(&profiler->results);
    zt__lock(&feed->lock);
    feed->open = 0;
    zt__unlock(&feed->lock);
    zt__unlock_results(profiler);
    zt__attribute(profiler);
}

ZT__FN void zt__close_timeline(zt_profiler *profiler) {
    const zt_allocator *allocator = &profiler->config.allocator;
    while (profiler->feeds) {
        zt__feed *feed = profiler->feeds;
        profiler->feeds = feed->next;
        feed->profiler = NULL;
        if (!feed->open) /* else its stream has it again */
            zt__destroy_feed(feed);
    }
    if (!profiler->timeline)
        return;
    zt__free(allocator, profiler->timeline->instances);
    zt__free(allocator, profiler->timeline->values);
    zt__free(allocator, profiler->timeline);
    profiler->timeline = NULL;
}

/* Without clocks that can be related there is no timeline, which is said, and is no failure. */
ZT__FN ze_result_t zt__open_timeline(zt_profiler *profiler) {
    const zt_allocator *allocator = &profiler->config.allocator;
    zt__timeline *timeline = (zt__timeline *)zt__allocate(allocator, 1, sizeof *timeline);
    zt__pair pair;
    ze_result_t result;
    if (!timeline)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    profiler->timeline = timeline;
    timeline->capacity = profiler->config.timeline;
    timeline->instances =
        (zt__instance *)zt__allocate(allocator, timeline->capacity, sizeof *timeline->instances);
    timeline->values = (double *)zt__allocate(allocator, timeline->capacity,
                                              zt__column_count(profiler) * sizeof *timeline->values);
    if (!timeline->instances || !timeline->values)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    zt__start_clock(&timeline->clock, profiler->device, NULL, profiler->ns_per_tick, profiler->tick_mask);
    result = zt__read_clocks(&profiler->driver, &timeline->clock, &pair);
    if (result == ZE_RESULT_SUCCESS) {
        zt__add_pair(&timeline->clock, &pair);
        return result;
    }
    zt__close_timeline(profiler);
    if (zt__is_lost(result))
        return zt__check(profiler, result, "zeDeviceGetGlobalTimestamps", "");
    zt__say(&profiler->diagnostics, result, ZT__CLOCKS_UNRELATED, "zeDeviceGetGlobalTimestamps",
            zt_result_name(result));
    return ZE_RESULT_SUCCESS;
}

/* ==== >>harvest: read what is ready, calculate it together, count it ====================================== */

/* ---- calculating ----------------------------------------------------------------------------------------- */

/* Values of one report, of all tiles. */
ZT__HOT uint32_t zt__value_count(const zt__group *group) {
    return group->metric_count * group->tiles;
}

/* Calculates `count` reports of a batch from the `first` on. */
ZT__HOT ze_result_t zt__calculate_together(const zt__group *group, const uint8_t *raw, uint32_t first,
                                           uint32_t count, zet_typed_value_t *to) {
    uint32_t wanted = count * group->metric_count, values = wanted;
    ze_result_t result = zetMetricGroupCalculateMetricValues(
        group->handle, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, count * group->report_size,
        raw + first * group->report_size, &values, to + (size_t)first * group->metric_count);
    return result == ZE_RESULT_SUCCESS && values != wanted ? ZE_RESULT_ERROR_INVALID_SIZE : result;
}

/* Calculates one report of a root device, which has a header and gives a set of values a tile. Tiles that
   took no part give none: their values have a type that is no number. */
ZT__FN ze_result_t zt__calculate_tiles(const zt__driver *driver, const zt__group *group, const uint8_t *raw,
                                       uint32_t index, zet_typed_value_t *to) {
    zet_typed_value_t *values = to + (size_t)index * zt__value_count(group);
    uint32_t counts[ZT__MAX_TILES], sets = group->tiles, total = zt__value_count(group), i;
    ze_result_t result = driver->calculate_multiple(
        group->handle, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, group->report_size,
        raw + index * group->report_size, &sets, &total, counts, values);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    for (i = 0; i < sets && i < group->tiles; i++)
        if (counts[i] != group->metric_count)
            return ZE_RESULT_ERROR_INVALID_SIZE;
    for (i *= group->metric_count; i < zt__value_count(group); i++)
        values[i].type = ZET_VALUE_TYPE_FORCE_UINT32;
    return result;
}

/* Calculates `count` reports of a batch from the `first` on. Calculation is not thread-safe in the driver,
   not even on different groups, so one lock guards it for the whole process. Reports of tiles cannot be
   calculated together. */
ZT__HOT ze_result_t zt__calculate(const zt__driver *driver, const zt__group *group, const uint8_t *raw,
                                  uint32_t first, uint32_t count, zet_typed_value_t *to) {
    ze_result_t result = ZE_RESULT_SUCCESS;
    uint32_t i;
    zt__lock(&zt__calculation_lock_1);
    if (group->tiles == 1)
        result = zt__calculate_together(group, raw, first, count, to);
    else
        for (i = first; i < first + count && result == ZE_RESULT_SUCCESS; i++)
            result = zt__calculate_tiles(driver, group, raw, i, to);
    zt__unlock(&zt__calculation_lock_1);
    return result;
}

/* Where this thread puts what it calculates of a group. NULL without memory. */
ZT__FN zet_typed_value_t *zt__values_of(const zt_profiler *profiler, zt__group *group) {
    zet_typed_value_t **values = &group->values[zt__thread_shelf()];
    if (!*values)
        *values = (zet_typed_value_t *)zt__allocate(
            &profiler->config.allocator, (size_t)ZT__BATCH * zt__value_count(group), sizeof **values);
    return *values;
}

/* Calculates the reports of one group: all at once, and where that fails one by one, so that a bad report
   costs one instance. */
ZT__HOT void zt__calculate_batch(zt_profiler *profiler, uint32_t g, zt__batch *batch, zt_cause *causes) {
    zt__group *group = &batch->pass->groups[g];
    const uint8_t *raw = batch->raw[g];
    zet_typed_value_t *values = zt__values_of(profiler, group);
    uint32_t i;
    batch->values[g] = values;
    if (values && zt__calculate(&profiler->driver, group, raw, 0, batch->count, values) == ZE_RESULT_SUCCESS)
        return;
    for (i = 0; i < batch->count; i++) {
        ze_result_t result = values ? zt__calculate(&profiler->driver, group, raw, i, 1, values)
                                    : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
        if (result == ZE_RESULT_SUCCESS)
            continue;
        causes[i] = ZT_LOST_READ_FAILED;
        zt__check(profiler, result,
                  group->tiles == 1 ? "zetMetricGroupCalculateMetricValues"
                                    : "zetMetricGroupCalculateMultipleMetricValuesExp",
                  "The instance is counted as lost. Update the driver if it lasts.");
    }
}

/* The GPU time that a tile measured, as a weight. */
ZT__FN double zt__tile_time(const zt_profiler *profiler, const zt__pass *pass, uint32_t tile) {
    return pass->time_metric == UINT32_MAX
               ? 1.0
               : profiler->row[zt__tile_column(profiler, tile, pass->time_metric)];
}

/* Time passes, and clocks run, on all tiles at once; everything else that adds up, adds up over tiles. */
ZT__FN int zt__runs_everywhere(const char *units) {
    static const char *const clocks[] = {"ns", "us", "ms", "s", "cycles"};
    uint32_t i;
    for (i = 0; i < ZT__COUNT_OF(clocks); i++)
        if (strcmp(units, clocks[i]) == 0)
            return 1;
    return 0;
}

/* A metric of a whole root device, from those of its tiles in the row: times and flags are those of the
   longest, means are weighted by the GPU time of each, and what is not aggregated is the first tile's. */
ZT__FN double zt__whole(const zt_profiler *profiler, const zt__pass *pass, uint32_t metric) {
    const zt_metric *of = &profiler->metrics[metric];
    int largest = of->aggregation == ZT_AGGREGATE_FLAG || zt__runs_everywhere(of->units);
    double whole = zt__nan(), weights = 0;
    uint32_t tile;
    for (tile = 0; tile < profiler->tile_count; tile++) {
        double value = profiler->row[zt__tile_column(profiler, tile, metric)];
        double weight = zt__tile_time(profiler, pass, tile);
        if (zt__is_nan(value) || (of->aggregation == ZT_AGGREGATE_MEAN && !zt__is_positive(weight)))
            continue;
        if (zt__is_nan(whole))
            whole = value;
        else if (of->aggregation == ZT_AGGREGATE_MEAN)
            whole += (value - whole) * weight / (weights + weight);
        else if (of->aggregation != ZT_AGGREGATE_NONE)
            whole = !largest ? whole + value : value > whole ? value : whole;
        weights += weight;
    }
    return whole;
}

/* The cause for which the instance in the row is lost, or ZT_CAUSE_COUNT. */
ZT__HOT zt_cause zt__cause_of_row(const zt_profiler *profiler) {
    zt_cause cause = ZT_CAUSE_COUNT;
    uint32_t i;
    for (i = 0; i < profiler->flag_count; i++) {
        double value = profiler->row[profiler->flags[i].column];
        if (zt__is_positive(value))
            cause = profiler->flags[i].cause;
    }
    return cause;
}

/* Puts what the tiles measured together into the row. */
ZT__FN void zt__sum_tiles(zt_profiler *profiler, const zt__pass *pass) {
    uint32_t m;
    for (m = 0; m < profiler->metric_count; m++)
        profiler->row[m + 1] = zt__whole(profiler, pass, m);
}

/* Puts the values that one group measured into the row. */
ZT__HOT void zt__fill_group(zt_profiler *profiler, const zt__group *group, const zet_typed_value_t *values) {
    uint32_t tile;
    for (tile = 0; tile < group->tiles; tile++)
        zt__numbers(group, values + tile * group->metric_count,
                    profiler->row + zt__measured_column(profiler, tile, group->first_column));
}

/* The row of one instance of a batch. Returns the cause for which it is lost, or ZT_CAUSE_COUNT. */
ZT__HOT zt_cause zt__fill_row(zt_profiler *profiler, const zt__batch *batch, uint32_t index) {
    const zt__pass *pass = batch->pass;
    uint32_t g;
    if (profiler->pass_count > 1 || profiler->tile_count) /* else its groups fill it */
        zt__clear_row(profiler->row, zt__column_count(profiler));
    for (g = 0; g < pass->group_count; g++)
        zt__fill_group(profiler, &pass->groups[g],
                       batch->values[g] + (size_t)index * zt__value_count(&pass->groups[g]));
    if (profiler->tile_count)
        zt__sum_tiles(profiler, pass);
    profiler->row[0] = pass->time_metric == UINT32_MAX ? batch->entries[index].time_ns
                                                       : profiler->row[pass->time_metric + 1];
    profiler->row[zt__time_column(profiler, pass->index)] = profiler->row[0];
    return zt__cause_of_row(profiler);
}

/* Hands one instance to the application, which may ask for results meanwhile: then those before it are added,
   and the next row is another. */
ZT__FN void zt__give_sample(zt_profiler *profiler, uint32_t region, uint32_t pass) {
    zt__record *record = zt__record_at(profiler, region);
    double *row;
    zt_sample sample;
    sample.name = record->name;
    sample.region = region;
    sample.metric_count = profiler->metric_count;
    sample.gpu_time_ns = profiler->row[0];
    sample.values = profiler->row + 1;
    sample.pass = pass;
    zt__unlock(&profiler->results);
    profiler->config.sample(&sample, profiler->config.sample_user);
    zt__lock(&profiler->results);
    row = zt__next_row(profiler, record, pass);
    if (row != profiler->row)
        memcpy(row, profiler->row, zt__column_count(profiler) * sizeof *row);
}

/* Adds one instance of a batch to the statistics. Returns the cause for which it is not, or ZT_CAUSE_COUNT.
   With the results locked. */
ZT__HOT zt_cause zt__add_instance(zt_profiler *profiler, const zt__batch *batch, uint32_t index) {
    uint32_t region = batch->entries[index].region;
    zt__record *record = zt__record_at(profiler, region);
    zt_cause cause;
    profiler->row = zt__next_row(profiler, record, batch->pass->index);
    if (!profiler->row)
        return ZT_DROPPED_NO_MEMORY;
    cause = zt__fill_row(profiler, batch, index);
    if (cause != ZT_CAUSE_COUNT)
        return cause;
    if (profiler->config.sample)
        zt__give_sample(profiler, region, batch->pass->index);
    if (profiler->timeline)
        zt__keep_instance(profiler, &batch->entries[index]);
    zt__add_row(profiler, record);
    return ZT_CAUSE_COUNT;
}

/* Counts what became of a batch. */
ZT__HOT void zt__count_batch(zt_profiler *profiler, const zt__batch *batch, const zt_cause *causes) {
    uint32_t i;
    zt__take(&profiler->state);
    for (i = 0; i < batch->count; i++) {
        if (causes[i] == ZT_CAUSE_COUNT)
            profiler->counts.collected++;
        else if (causes[i] >= ZT_DROPPED_NO_SLOT)
            zt__count_dropped(profiler, zt__record_at(profiler, batch->entries[i].region), causes[i]);
        else
            zt__count_lost(profiler, batch->entries[i].region, causes[i]);
    }
    zt__give(&profiler->state);
}

ZT__FN void zt__say_lost(zt_profiler *profiler, uint32_t region, zt_cause cause) {
    zt__say(&profiler->diagnostics, ZE_RESULT_WARNING_DROPPED_DATA, ZT__SAMPLE_LOST,
            zt__record_at(profiler, region)->name, zt_cause_name(cause));
}

ZT__HOT ZT__APART void zt__settle_batch(zt_profiler *profiler, zt__batch *batch) {
    zt__latch *desk = &profiler->desks[zt__thread_shelf()];
    zt_cause causes[ZT__BATCH];
    uint32_t i, g;
    for (i = 0; i < batch->count; i++)
        causes[i] = ZT_CAUSE_COUNT;
    zt__take(desk);
    for (g = 0; g < batch->pass->group_count; g++)
        zt__calculate_batch(profiler, g, batch, causes);
    zt__lock(&profiler->results);
    for (i = 0; i < batch->count; i++)
        if (causes[i] == ZT_CAUSE_COUNT)
            causes[i] = zt__add_instance(profiler, batch, i);
    zt__unlock(&profiler->results);
    zt__give(desk);
    zt__count_batch(profiler, batch, causes);
    for (i = 0; i < batch->count; i++)
        if (causes[i] != ZT_CAUSE_COUNT)
            zt__say_lost(profiler, batch->entries[i].region, causes[i]);
}

/* ---- batches: what was read and is to be calculated ------------------------------------------------------- */

/* Where the first batch of a chain is that a thread of one shelf filled last, or any where `shelf` is
   ZT__SHELVES. */
ZT__FN zt__batch **zt__find_of(zt__batch **link, uint32_t shelf) {
    while (*link && shelf != ZT__SHELVES && (*link)->shelf != shelf)
        link = &(*link)->next;
    return link;
}

/* Takes such an open batch, or NULL. */
ZT__FN zt__batch *zt__find_open(zt_profiler *profiler, uint32_t shelf) {
    zt__batch **link = zt__find_of(&profiler->open_batches, shelf), *batch = *link;
    if (batch)
        *link = batch->next;
    return batch;
}

/* A batch with room. NULL where all are full, or without memory. */
ZT__FN zt__batch *zt__take_batch(zt_profiler *profiler) {
    zt__batch *batch;
    int make;
    zt__take(&profiler->state);
    batch = zt__find_open(profiler, zt__thread_shelf());
    make = !batch && profiler->batch_count < profiler->batch_limit;
    if (!batch && !make)
        batch = zt__find_open(profiler, ZT__SHELVES);
    profiler->batch_count += (uint32_t)make;
    zt__give(&profiler->state);
    if (make)
        batch = (zt__batch *)zt__allocate(&profiler->config.allocator, 1, sizeof *batch);
    if (batch) {
        batch->shelf = zt__thread_shelf();
    } else if (make) {
        zt__take(&profiler->state);
        profiler->batch_count--;
        zt__give(&profiler->state);
    }
    return batch;
}

/* Gives a batch back: to be calculated, or to be filled on if calculation is left for later. */
ZT__FN void zt__give_batch(zt_profiler *profiler, zt__batch *batch) {
    int full = batch->closed || batch->count == ZT__BATCH || (batch->count > 0 && !profiler->config.deferred);
    zt__take(&profiler->state);
    if (full) {
        batch->next = NULL;
        *profiler->last_full_batch = batch;
        profiler->last_full_batch = &batch->next;
    } else {
        batch->next = profiler->open_batches;
        profiler->open_batches = batch;
    }
    zt__give(&profiler->state);
    if (full && zt__load(&profiler->settler.runs))
        zt__ring(&profiler->settler);
}

/* Takes such a full batch, or NULL. */
ZT__FN zt__batch *zt__find_full(zt_profiler *profiler, uint32_t shelf) {
    zt__batch **link = zt__find_of(&profiler->full_batches, shelf), *batch = *link;
    if (!batch)
        return NULL;
    *link = batch->next;
    if (!*link)
        profiler->last_full_batch = link;
    return batch;
}

/* The next batch to be calculated, of a shelf or of any; with `all` also those that are not full. */
ZT__FN zt__batch *zt__next_to_settle(zt_profiler *profiler, int all, uint32_t shelf) {
    zt__batch *batch, **link;
    zt__take(&profiler->state);
    batch = zt__find_full(profiler, shelf);
    for (link = &profiler->open_batches; all && !batch && *link;) {
        if ((*link)->count) {
            batch = *link;
            *link = batch->next;
        } else {
            link = &(*link)->next;
        }
    }
    zt__give(&profiler->state);
    return batch;
}

ZT__FN void zt__settle_some(zt_profiler *profiler, int all, uint32_t shelf) {
    zt__batch *batch;
    while ((batch = zt__next_to_settle(profiler, all, shelf)) != NULL) {
        zt__settle_batch(profiler, batch);
        batch->count = 0;
        batch->closed = 0;
        zt__give_batch(profiler, batch);
    }
    zt__attribute(profiler);
}

/* With the settling owned, which this gives up. */
ZT__FN void zt__settle_owned(zt_profiler *profiler, int all) {
    zt__settle_some(profiler, all, ZT__SHELVES);
    zt__disown(&profiler->settling);
}

/* Calculates what was read, and adds it to the statistics. Inside the application's sample function this does
   nothing: the settling that called it goes on. */
ZT__FN void zt__settle(zt_profiler *profiler, int all) {
    if (zt__own(&profiler->settling))
        zt__settle_owned(profiler, all);
}

ZT__FN int zt__has_full_batch(zt_profiler *profiler) {
    int has;
    zt__take(&profiler->state);
    has = profiler->full_batches != NULL;
    zt__give(&profiler->state);
    return has;
}

/* Calculates full batches, unless another thread is at it, which then does these too. */
ZT__FN void zt__settle_full(zt_profiler *profiler) {
    while (zt__has_full_batch(profiler) && zt__try_own(&profiler->settling))
        zt__settle_owned(profiler, 0);
}

/* Calculates what this thread has read, beside other threads that do so: none does it for all, and what one
   has read does not move to the caches of another. But the application's function is given one instance at a
   time. */
ZT__FN void zt__settle_share(zt_profiler *profiler) {
    int alone = profiler->config.sample != NULL;
    if (alone && !zt__try_own(&profiler->settling))
        return;
    zt__settle_some(profiler, 0, zt__thread_shelf());
    if (alone)
        zt__disown(&profiler->settling);
}

/* What the library's own thread does. */
ZT__FN int zt__settle_when_rung(void *user) {
    zt_profiler *profiler = (zt_profiler *)user;
    if (zt__await_bell(&profiler->settler))
        zt__settle(profiler, 0);
    return 1;
}

/* What is asked for is calculated first. Returns 0 without a profiler. */
ZT__FN int zt__catch_up(const zt_profiler *profiler) {
    if (profiler && profiler->config.deferred)
        zt__settle(zt__mutable(profiler), 1);
    else if (profiler)
        zt__settle_full(zt__mutable(profiler));
    return profiler != NULL;
}

/* ---- reading --------------------------------------------------------------------------------------------- */

/* What one walk over lists carries along. */
typedef struct zt__hand {
    zt__batch *batch;
    zt__slot *freed;
    int thorough; /* asks every slot, and not only up to the first that is not ready */
} zt__hand;

ZT__FN void zt__hand_on(zt_profiler *profiler, zt__hand *hand) {
    zt__give_batch(profiler, hand->batch);
    hand->batch = NULL;
}

/* A batch with room for an instance of a pass. Returns 0 where there is none. */
ZT__FN int zt__find_batch(zt_profiler *profiler, const zt__pass *pass, zt__hand *hand) {
    for (;;) {
        if (!hand->batch)
            hand->batch = zt__take_batch(profiler);
        if (!hand->batch)
            return 0;
        if (hand->batch->count == 0)
            hand->batch->pass = pass;
        if (hand->batch->pass == pass)
            return 1;
        hand->batch->closed = 1;
        zt__hand_on(profiler, hand);
    }
}

/* Sees that the hand has a batch for a slot's instance. Returns 0 where other threads have them all. */
ZT__HOT int zt__batch_for(zt_profiler *profiler, const zt__slot *slot, zt__hand *hand) {
    const zt__pass *pass = &profiler->passes[slot->pass];
    if (hand->batch && hand->batch->pass == pass)
        return 1;
    if (zt__find_batch(profiler, pass, hand))
        return 1;
    zt__settle(profiler, 1);
    return zt__find_batch(profiler, pass, hand);
}

/* The size of a group's reports, which is the same for all of them. */
ZT__FN ze_result_t zt__size_reports(zt__group *group, zet_metric_query_handle_t query) {
    size_t size = 0;
    ze_result_t result = zetMetricQueryGetData(query, &size, NULL);
    if (result == ZE_RESULT_SUCCESS && size == 0)
        return ZE_RESULT_NOT_READY;
    if (result == ZE_RESULT_SUCCESS)
        zt__store(&group->report_size, size);
    return result;
}

/* Makes room for the reports of a group in an empty batch, whose last pass may have had smaller ones. */
ZT__FN int zt__make_raw(zt_profiler *profiler, zt__batch *batch, uint32_t g, size_t size) {
    zt__free(&profiler->config.allocator, batch->raw[g]);
    batch->raw[g] = (uint8_t *)zt__allocate(&profiler->config.allocator, ZT__BATCH, size);
    batch->raw_size[g] = batch->raw[g] ? size : 0;
    return batch->raw[g] != NULL;
}

ZT__HOT ze_result_t zt__read_report(zt_profiler *profiler, uint32_t g, const zt__slot *slot,
                                    zt__batch *batch) {
    zt__group *group = &batch->pass->groups[g];
    ze_result_t result = ZE_RESULT_SUCCESS;
    size_t size, expected;
    if (zt__load(&group->report_size) == 0)
        result = zt__size_reports(group, slot->queries[g]);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    size = expected = zt__load(&group->report_size);
    if (batch->raw_size[g] < expected && !zt__make_raw(profiler, batch, g, expected))
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    result = zetMetricQueryGetData(slot->queries[g], &size, batch->raw[g] + batch->count * expected);
    return result == ZE_RESULT_SUCCESS && size != expected ? ZE_RESULT_ERROR_INVALID_SIZE : result;
}

ZT__HOT ze_result_t zt__read_reports(zt_profiler *profiler, const zt__slot *slot, zt__batch *batch) {
    ze_result_t result = ZE_RESULT_SUCCESS;
    uint32_t g;
    for (g = 0; g < batch->pass->group_count && result == ZE_RESULT_SUCCESS; g++)
        result = zt__read_report(profiler, g, slot, batch);
    return result;
}

ZT__HOT void zt__add_to_batch(const zt_profiler *profiler, zt__batch *batch, const zt__slot *slot) {
    zt__entry *entry = &batch->entries[batch->count++];
    entry->region = slot->region;
    entry->list = slot->list->handle;
    entry->time_ns = zt__nan();
    if (!slot->stamps)
        return;
    memcpy(entry->stamps, slot->stamps, sizeof entry->stamps);
    entry->read_ns = profiler->timeline ? zt__now_ns() : 0;
    entry->time_ns =
        (double)((entry->stamps[1] - entry->stamps[0]) & profiler->tick_mask) * profiler->ns_per_tick;
}

typedef enum zt__outcome { ZT__WAITING, ZT__UNDELIVERED, ZT__READ, ZT__LOST } zt__outcome;

/* The driver does not say whether an instance is finished: it is asked again, and then given up, with its
   slot, which the device may still write to. */
ZT__FN zt__outcome zt__not_told(zt_profiler *profiler, zt__slot *slot, ze_result_t result, zt_cause *cause) {
    zt__check(profiler, result, "zeEventQueryStatus", "It is asked again, and then counted as lost.");
    if (++slot->tries < ZT__TRIES)
        return ZT__WAITING;
    *cause = ZT_LOST_READ_FAILED;
    slot->broken = slot->retired = 1;
    return ZT__LOST;
}

ZT__HOT ze_result_t zt__event_status(ze_event_handle_t event) {
    ze_result_t result;
    zt__inside_1++;
    result = zeEventQueryStatus(event);
    zt__inside_1--;
    return result;
}

/* Asks a slot's event, and reads its reports into the batch when it has signalled. */
ZT__HOT zt__outcome zt__read_slot(zt_profiler *profiler, zt__slot *slot, zt__batch *batch, zt_cause *cause) {
    const char *call = "zeEventQueryStatus";
    ze_result_t result = zt__is_gone(profiler) ? ZE_RESULT_ERROR_DEVICE_LOST : zt__event_status(slot->event);
    if (result == ZE_RESULT_NOT_READY) {
        slot->tries = 0; /* the driver tells again */
        return ZT__WAITING;
    }
    if (result != ZE_RESULT_SUCCESS && !zt__is_lost(result))
        return zt__not_told(profiler, slot, result, cause);
    if (result == ZE_RESULT_SUCCESS && slot->torn) {
        *cause = ZT_LOST_OTHER_PASS;
        return ZT__LOST;
    }
    if (result == ZE_RESULT_SUCCESS && batch->pass->group_count) {
        call = "zetMetricQueryGetData";
        result = zt__read_reports(profiler, slot, batch);
        /* drivers say UNKNOWN where the specification says NOT_READY */
        if (result == ZE_RESULT_NOT_READY || result == ZE_RESULT_ERROR_UNKNOWN) {
            *cause = slot->pass == zt__pass_index(profiler) ? ZT_LOST_NEVER_DELIVERED : ZT_LOST_OTHER_PASS;
            return ++slot->tries < ZT__TRIES ? ZT__UNDELIVERED : ZT__LOST;
        }
    }
    if (result != ZE_RESULT_SUCCESS) {
        zt__check(profiler, result, call, "The instance is counted as lost. Update the driver if it lasts.");
        *cause = zt__is_lost(result) ? ZT_LOST_DEVICE : ZT_LOST_READ_FAILED;
        return ZT__LOST;
    }
    zt__add_to_batch(profiler, batch, slot);
    return ZT__READ;
}

/* Makes a slot ready for its next execution or region. */
ZT__HOT void zt__rearm(zt_profiler *profiler, zt__slot *slot) {
    slot->pending = slot->submitted = slot->tries = slot->torn = 0;
    if (!zt__is_gone(profiler) && !slot->broken)
        zt__reset_slot(profiler, slot);
    if (slot->broken)
        zt__store(&slot->list->unready, (uint8_t)1);
}

/* Counts an instance that was announced by nobody: its recorded list was executed again without zt_execute.
 */
ZT__HOT void zt__count_begun(zt__lane *lane) {
    zt__take(&lane->latch);
    lane->begun++;
    zt__give(&lane->latch);
}

/* What follows the outcome of a slot: an instance lost is counted, a full batch handed on. */
ZT__HOT void zt__conclude(zt_profiler *profiler, zt__slot *slot, zt__outcome outcome, zt_cause cause,
                          zt__hand *hand) {
    if (!slot->pending)
        zt__count_begun(slot->list->lane);
    if (outcome == ZT__LOST) {
        zt__take(&profiler->state);
        zt__count_lost(profiler, slot->region, cause);
        zt__give(&profiler->state);
        zt__say_lost(profiler, slot->region, cause);
    }
    zt__rearm(profiler, slot);
    if (hand->batch->count == ZT__BATCH)
        zt__hand_on(profiler, hand);
}

/* Whether all that a bound slot has of commands has run. */
ZT__HOT int zt__has_run(const zt__slot *slot) {
    return slot->executed || slot->passed;
}

/* Whether a bound slot has nothing more to give, because its list was recorded anew since, and its last
   execution has been read. */
ZT__HOT int zt__is_spent(const zt__list *list, const zt__slot *slot) {
    return zt__has_run(slot) && slot->epoch != list->taken_epoch && !slot->pending;
}

/* What was bound before a slot that has run has run as well. */
ZT__HOT void zt__mark_passed(const zt__list *list, const zt__slot *slot) {
    zt__slot *earlier;
    for (earlier = list->taken; earlier && earlier != slot; earlier = earlier->next)
        earlier->passed = earlier->dead;
}

ZT__HOT int zt__is_in_sight(const zt_profiler *profiler, const zt__slot *slot) {
    return slot->sight == zt__load(&profiler->sight);
}

/* Looks at one bound slot. Returns 0 where those after it cannot be read either. */
ZT__HOT int zt__harvest_slot(zt_profiler *profiler, zt__list *list, zt__slot *slot, zt__hand *hand) {
    zt_cause cause = ZT_CAUSE_COUNT;
    zt__outcome outcome;
    if (slot->dead || slot->broken || (!slot->pending && zt__is_gone(profiler)))
        return 1;
    if (slot->pending ? list->announced && !slot->submitted && zt__is_in_sight(profiler, slot) : list->quiet)
        return 1;
    if (!zt__batch_for(profiler, slot, hand))
        return 0;
    outcome = zt__read_slot(profiler, slot, hand->batch, &cause);
    list->quiet |= outcome == ZT__WAITING && !slot->pending;
    if (outcome == ZT__READ || outcome == ZT__LOST) {
        zt__conclude(profiler, slot, outcome, cause, hand);
        list->newly_executed += !slot->executed && slot->epoch == list->taken_epoch;
        slot->executed = 1;
        if (zt__load(&list->unready))
            zt__mark_passed(list, slot);
    }
    return outcome != ZT__WAITING || hand->thorough || !slot->pending;
}

/* Walks the slots that were taken from one list; those that are done with are freed. */
ZT__HOT ZT__APART void zt__walk_list(zt_profiler *profiler, zt__list *list, zt__hand *hand) {
    zt__slot **link = &list->taken;
    int go_on = 1;
    while (*link && go_on) {
        zt__slot *slot = *link;
        if (!zt__is_spent(list, slot))
            go_on = zt__harvest_slot(profiler, list, slot, hand);
        if (zt__is_spent(list, slot) || (zt__has_run(slot) && list->kind == ZT__KIND_IMMEDIATE)) {
            *link = slot->next;
            slot->next = hand->freed;
            hand->freed = slot;
        } else {
            link = &slot->next;
        }
    }
}

/* Takes the bound slots of a claimed list, so that they can be walked without its lane. */
ZT__FN void zt__take_bound(zt__list *list) {
    zt__take(&list->lane->latch);
    list->taken = list->first;
    list->taken_epoch = list->epoch;
    list->newly_executed = 0;
    list->ended = 0;
    list->first = NULL;
    list->last = &list->first;
    zt__give(&list->lane->latch);
}

/* Puts back, before what was bound meanwhile, the slots that are still bound, and frees the others. */
ZT__FN void zt__put_back(zt__list *list, zt__hand *hand) {
    zt__slot **end = &list->taken;
    zt__take(&list->lane->latch);
    while (*end)
        end = &(*end)->next;
    *end = list->first;
    if (list->last == &list->first && end != &list->taken)
        list->last = end;
    list->first = list->taken;
    list->taken = NULL;
    if (list->kind != ZT__KIND_IMMEDIATE && list->epoch == list->taken_epoch)
        list->executed += list->newly_executed;
    while (hand->freed) {
        zt__slot *slot = hand->freed;
        hand->freed = slot->next;
        zt__free_slot(slot);
    }
    zt__give(&list->lane->latch);
}

/* Reads what is ready of a claimed list. */
ZT__FN void zt__harvest_list(zt_profiler *profiler, zt__list *list, zt__hand *hand) {
    list->quiet = 0;
    zt__take_bound(list);
    zt__walk_list(profiler, list, hand);
    zt__put_back(list, hand);
}

/* Claims a list whose lane is taken. Returns 0 where another has it. */
ZT__HOT int zt__claim_list(zt__list *list) {
    if (list->busy)
        return 0;
    list->busy = 1;
    list->reader = zt__thread_id();
    return 1;
}

/* The next list of the queue of lists with bound slots, claimed. NULL when each was seen once. */
ZT__FN zt__list *zt__claim_next(zt_profiler *profiler, uint32_t *left) {
    zt__list *list = NULL;
    zt__take(&profiler->state);
    if (*left > profiler->active_count)
        *left = profiler->active_count;
    while (*left > 0 && !list) {
        zt__list *next = zt__pop_active(profiler);
        --*left;
        zt__take(&next->lane->latch);
        if (next->first && zt__claim_list(next)) /* else whoever claimed it puts it into the queue again */
            list = next;
        zt__give(&next->lane->latch);
    }
    zt__give(&profiler->state);
    return list;
}

ZT__FN void zt__unclaim(zt_profiler *profiler, zt__list *list) {
    int more;
    zt__take(&list->lane->latch);
    list->busy = 0;
    more = list->first != NULL;
    zt__give(&list->lane->latch);
    if (more)
        zt__queue_list(profiler, list);
}

/* Claims a list, by handle, from whoever harvests it. NULL where it has no record, or the configured time is
   up. */
ZT__FN zt__list *zt__claim(zt_profiler *profiler, ze_command_list_handle_t handle) {
    uint64_t pause = 0, deadline = 0;
    for (;;) {
        zt__list *list;
        int claimed;
        zt__take(&profiler->state);
        list = zt__find_list(profiler, handle);
        zt__give(&profiler->state);
        if (!list)
            return NULL;
        zt__take(&list->lane->latch);
        claimed = list->handle == handle && zt__claim_list(list);
        zt__give(&list->lane->latch);
        if (claimed)
            return list;
        if (!deadline)
            deadline = zt__deadline(profiler->config.wait_timeout_ns);
        if (!zt__pause_until(deadline, &pause))
            return NULL;
    }
}

ZT__FN void zt__start_hand(zt__hand *hand, int thorough) {
    memset(hand, 0, sizeof *hand);
    hand->thorough = thorough;
}

/* Hands on what a walk has read. */
ZT__FN void zt__empty_hand(zt_profiler *profiler, zt__hand *hand) {
    if (hand->batch)
        zt__hand_on(profiler, hand);
}

/* Ends a walk: what was read is calculated, unless that is left for later. */
ZT__HOT void zt__end_hand(zt_profiler *profiler, zt__hand *hand) {
    zt__empty_hand(profiler, hand);
    if (!profiler->config.deferred)
        zt__settle_full(profiler);
}

/* Collects what is ready on all lists that nobody else is harvesting. Now and then thoroughly: a list that
   was reset and forgotten would else hide what follows on it. */
ZT__FN void zt__harvest(zt_profiler *profiler, int thorough) {
    enum { THOROUGH_EVERY = 64 };
    uint32_t left = UINT32_MAX;
    zt__list *list;
    zt__hand hand;
    zt__relate_clocks(profiler, 0);
    zt__start_hand(&hand, thorough || zt__count_up(&profiler->harvests) % THOROUGH_EVERY == 0);
    while ((list = zt__claim_next(profiler, &left)) != NULL) {
        zt__harvest_list(profiler, list, &hand);
        zt__unclaim(profiler, list);
    }
    zt__end_hand(profiler, &hand);
}

ZT__HOT int zt__slot_runs(const zt__list *list, const zt__slot *slot) {
    return slot->pending && (slot->submitted || slot->tries || list->kind == ZT__KIND_IMMEDIATE);
}

/* Whether a claimed list has an instance that is known to be on its way. */
ZT__FN int zt__is_running(const zt__list *list) {
    const zt__slot *slot;
    zt__take(&list->lane->latch);
    for (slot = list->first; slot && !zt__slot_runs(list, slot); slot = slot->next)
        ;
    zt__give(&list->lane->latch);
    return slot != NULL;
}

/* Harvests a claimed list until it is done, or the deadline has come: 0 is one of the configured time from
   now, that the caller can hand on. Returns 0 if time was up. */
ZT__FN int zt__finish(zt_profiler *profiler, zt__list *list, uint64_t *deadline) {
    uint64_t pause = 0;
    zt__hand hand;
    int running;
    do {
        zt__start_hand(&hand, 1);
        zt__harvest_list(profiler, list, &hand);
        zt__end_hand(profiler, &hand);
        running = zt__is_running(list);
        if (running && !*deadline)
            *deadline = zt__deadline(profiler->config.wait_timeout_ns);
    } while (running && zt__pause_until(*deadline, &pause));
    return !running;
}

/* Whether so many regions ended on a list that its own thread reads what is ready: what the thread that uses
   a list does for it, no other thread does, and nothing moves between their caches. */
ZT__HOT int zt__is_due(const zt__list *list) {
    return list->ended >= ZT__BATCH && list->kind != ZT__KIND_RECORDED && !list->busy;
}

/* Harvests such a list. With its lane taken, which this gives up meanwhile. */
ZT__FN void zt__harvest_due(zt_profiler *profiler, zt__list *list) {
    zt__hand hand;
    zt__claim_list(list);
    zt__give(&list->lane->latch);
    zt__relate_clocks(profiler, 0);
    zt__start_hand(&hand, 0);
    zt__harvest_list(profiler, list, &hand);
    zt__unclaim(profiler, list);
    zt__empty_hand(profiler, &hand);
    if (!profiler->config.deferred)
        zt__settle_share(profiler);
    zt__take(&list->lane->latch);
}

/* Makes one more step of slots for a lane in which few are free; where none can be made, other lanes give
   what they have. Returns the cause when there are none. */
ZT__FN zt_cause zt__grow_if_few(zt_profiler *profiler, zt__lane *lane) {
    zt__pass *pass = &profiler->passes[zt__pass_index(profiler)];
    zt_cause cause = ZT_DROPPED_NO_SLOT;
    uint32_t free_count = zt__count_free(lane, pass->index);
    if (free_count > profiler->config.slots_per_step / 2)
        return ZT_CAUSE_COUNT;
    if (pass->slot_count < pass->max_slots) {
        const char *call;
        ze_result_t result;
        zt__inside_1++;
        result = zt__grow(profiler, pass, lane, &call);
        zt__inside_1--;
        if (result == ZE_RESULT_SUCCESS)
            return ZT_CAUSE_COUNT;
        pass->max_slots = pass->slot_count; /* it will not be tried again */
        zt__check(profiler, result, call, "No more slots can be made; regions beyond are dropped.");
        cause = ZT_DROPPED_NO_MEMORY;
    }
    return free_count || zt__share_free(profiler, lane, pass->index, 1) ? ZT_CAUSE_COUNT : cause;
}

/* Waits while another thread reads a list, whose slots it will free. Returns 0 where there is none to wait
   for: not inside functions of the application, which the other may be waiting for. */
ZT__FN int zt__await_reader(zt_profiler *profiler, const zt__list *list) {
    uint64_t pause = 0, deadline = zt__deadline(profiler->config.wait_timeout_ns);
    int waits, waited = 0;
    do {
        zt__take(&list->lane->latch);
        waits = list->busy && list->reader != zt__thread_id() && !zt__owns(&profiler->settling);
        zt__give(&list->lane->latch);
        waited |= waits;
    } while (waits && zt__pause_until(deadline, &pause));
    return waited && !waits;
}

/* Frees slots by collecting, above all those of a list that a region is begun on, and makes more where that
   gives few. Returns the cause when there are none. */
ZT__FN zt_cause zt__make_room(zt_profiler *profiler, zt__list *list) {
    zt_cause cause;
    int has_run;
    if (!zt__own(&profiler->growing))
        return ZT_DROPPED_NO_SLOT; /* begun inside a function of the application that this called */
    zt__harvest(profiler, 0);
    zt__take(&list->lane->latch);
    has_run = zt__renew(list);
    zt__give(&list->lane->latch);
    if (has_run)
        zt__harvest(profiler, 0);
    cause = zt__grow_if_few(profiler, list->lane);
    zt__disown(&profiler->growing);
    return cause == ZT_DROPPED_NO_SLOT && zt__await_reader(profiler, list) ? ZT_CAUSE_COUNT : cause;
}

/* Takes back the slots of a claimed list that was reset or destroyed. */
ZT__FN void zt__unbind(zt_profiler *profiler, zt__list *list) {
    zt__slot *slot;
    zt__take(&profiler->state);
    zt__take(&list->lane->latch);
    while ((slot = list->first) != NULL) {
        list->first = slot->next;
        if (zt__slot_runs(list, slot)) {
            zt__count_lost(profiler, slot->region, ZT_LOST_NEVER_DELIVERED);
            slot->pending = 0;
            slot->retired = 1;
            continue;
        }
        list->lane->begun -= slot->pending; /* it never ran */
        zt__free_slot(slot);
    }
    list->last = &list->first;
    list->executed = 0;
    list->ended = 0;
    list->epoch++;
    list->announced = 0;
    zt__store(&list->unready, (uint8_t)0);
    zt__give(&list->lane->latch);
    zt__give(&profiler->state);
}

/* Takes the open slots of a list, or of all where `list` is NULL. Their regions are dropped. With the state
   taken, and the lane of the list, or all. */
ZT__FN zt__slot *zt__take_open(zt_profiler *profiler, const zt__list *list) {
    zt__slot *taken = NULL;
    zt__step *step;
    uint32_t i;
    for (step = !list || list->open ? profiler->steps : NULL; step; step = step->next)
        for (i = 0; i < step->count; i++) {
            zt__slot *slot = &step->slots[i];
            uint32_t generation = zt__load(&slot->generation);
            if (!(generation & 1) || (list && zt__load(&slot->list) != list) ||
                !zt__end_generation(slot, generation))
                continue;
            zt__drop_pending(profiler, slot, ZT_DROPPED_NOT_CLOSED);
            slot->list->open--;
            slot->list->lane->open--;
            slot->next = taken;
            taken = slot;
        }
    return taken;
}

/* Says that regions were not ended. */
ZT__FN void zt__say_not_ended(zt_profiler *profiler, const zt__slot *slot, const char *call) {
    if (slot)
        zt__say(&profiler->diagnostics, ZE_RESULT_ERROR_INVALID_ARGUMENT, ZT__REGION_NOT_CLOSED, call,
                zt__record_at(profiler, slot->region)->name);
}

/* Drops the regions that were begun on a list and never ended. */
ZT__FN void zt__drop_open(zt_profiler *profiler, zt__list *list, const char *call) {
    zt__slot *taken, *slot;
    zt__take(&profiler->state);
    zt__take(&list->lane->latch);
    taken = zt__take_open(profiler, list);
    zt__give(&list->lane->latch);
    zt__give(&profiler->state);
    zt__say_not_ended(profiler, taken, call);
    for (slot = taken; slot; slot = slot->next)
        zt__rearm(profiler, slot);
    zt__take(&list->lane->latch);
    while ((slot = taken) != NULL) {
        taken = slot->next;
        zt__free_slot(slot);
    }
    zt__give(&list->lane->latch);
}

/* Drops all regions that were never ended. Nobody says whether the device has come to them yet: their slots
   are left alone. */
ZT__FN void zt__drop_all_open(zt_profiler *profiler, const char *call) {
    zt__slot *taken, *slot;
    zt__take_all(profiler);
    taken = zt__take_open(profiler, NULL);
    for (slot = taken; slot; slot = slot->next)
        slot->retired = 1;
    zt__give_all(profiler);
    zt__say_not_ended(profiler, taken, call);
}

/* Resets, of a claimed list that is done, what only its next execution will use again: slots that are
   recorded in part, and those that could not be reset before. */
ZT__FN void zt__make_ready(zt_profiler *profiler, zt__list *list) {
    zt__hand hand;
    zt__slot *slot;
    if (!zt__load(&list->unready) || zt__is_gone(profiler))
        return;
    zt__start_hand(&hand, 0);
    zt__take_bound(list);
    for (slot = list->taken; slot; slot = slot->next)
        if (!slot->retired && (slot->dead || slot->broken))
            zt__reset_slot(profiler, slot);
    zt__put_back(list, &hand);
}

/* Counts an instance that is about to run in a slot that cannot be read. */
ZT__FN void zt__count_unread(zt_profiler *profiler, const zt__slot *slot) {
    slot->list->lane->begun++;
    zt__count_lost(profiler, slot->region, ZT_LOST_READ_FAILED);
}

/* Marks the instances of a claimed list that is about to be executed. Those that are still pending from an
   execution before are overwritten by this one: returns how many. */
ZT__FN uint32_t zt__announce(zt_profiler *profiler, zt__list *list) {
    uint32_t overwritten = 0;
    zt__slot *slot;
    zt__take(&profiler->state);
    zt__take(&list->lane->latch);
    list->kind = ZT__KIND_RECORDED;
    list->announced = 0;
    for (slot = list->first; slot; slot = slot->next) {
        if (slot->dead || !zt__is_in_sight(profiler, slot))
            continue;
        if (slot->broken) {
            zt__count_unread(profiler, slot);
            continue;
        }
        if (slot->pending && slot->submitted) {
            zt__count_lost(profiler, slot->region, ZT_LOST_OVERWRITTEN);
            slot->pending = 0;
            overwritten++;
        }
        list->lane->begun += !slot->pending;
        slot->pending = slot->submitted = 1;
        list->executed = 1; /* who records it after this has reset it, read or not */
    }
    zt__give(&list->lane->latch);
    zt__give(&profiler->state);
    return overwritten;
}

/* Takes the announcement back: the driver refused to execute. */
ZT__FN void zt__retract(zt__list *list) {
    zt__slot *slot;
    zt__take(&list->lane->latch);
    list->executed = 0;
    for (slot = list->first; slot; slot = slot->next) {
        list->executed += slot->executed;
        if (slot->dead || slot->broken)
            continue;
        slot->submitted = 0;
        if (slot->pending && slot->executed) {
            slot->pending = 0;
            list->lane->begun--;
        }
    }
    zt__give(&list->lane->latch);
}

/* ==== >>passes: one set of groups after the other ========================================================= */

ZT__FN void zt__deactivate_pass(zt_profiler *profiler, const zt__pass *pass, uint32_t count) {
    uint32_t g;
    for (g = 0; g < count; g++)
        zt__check(profiler, zt__deactivate(profiler->context, profiler->device, pass->groups[g].handle),
                  "zetContextActivateMetricGroups", "The groups may stay active.");
}

/* Activates the groups of a pass, or none. On HANDLE_OBJECT_IN_USE, `holder` is the group in the way. */
ZT__FN ze_result_t zt__activate_pass(zt_profiler *profiler, const zt__pass *pass, zt__holder *holder) {
    uint32_t g;
    holder->text[0] = 0;
    for (g = 0; g < pass->group_count; g++) {
        ze_result_t result = zt__activate(profiler->context, profiler->device, pass->groups[g].handle,
                                          &pass->groups[g].properties, 0, holder);
        if (result == ZE_RESULT_SUCCESS)
            continue;
        zt__deactivate_pass(profiler, pass, g);
        return result;
    }
    return ZE_RESULT_SUCCESS;
}

/* Regions that are open while the groups change have measured neither. With everything taken. */
ZT__FN void zt__tear_open(zt_profiler *profiler) {
    zt__step *step;
    uint32_t i;
    for (step = profiler->steps; step; step = step->next)
        for (i = 0; i < step->count; i++)
            if (zt__load(&step->slots[i].generation) & 1)
                step->slots[i].torn = 1;
}

/* Changes to a pass. By one thread at a time, and with what ran collected. */
ZT__FN ze_result_t zt__change_pass(zt_profiler *profiler, zt__pass *pass) {
    zt__holder holder;
    const zt__pass *before = profiler->pass;
    const char *call;
    ze_result_t result;
    zt__deactivate_pass(profiler, before, before->group_count);
    result = zt__activate_pass(profiler, pass, &holder);
    if (result == ZE_RESULT_SUCCESS && pass->slot_count == 0) {
        result = zt__grow(profiler, pass, &profiler->lanes[0], &call);
        if (result != ZE_RESULT_SUCCESS)
            zt__deactivate_pass(profiler, pass, pass->group_count);
    }
    if (result != ZE_RESULT_SUCCESS) {
        zt__say(&profiler->diagnostics, result, ZT__PASS_FAILED, (unsigned)(pass - profiler->passes),
                zt_result_name(result), holder.text[0] ? holder.text : "nobody who is known");
        zt__check(profiler, zt__activate_pass(profiler, before, &holder), "zetContextActivateMetricGroups",
                  "What is measured until the next ZT_PASSES is lost.");
        return result;
    }
    zt__take_all(profiler);
    zt__tear_open(profiler);
    zt__store(&profiler->pass, (const zt__pass *)pass);
    zt__give_all(profiler);
    return result;
}

ZT__FN int zt__anything_runs(zt_profiler *profiler) {
    const zt__list *list;
    const zt__slot *slot;
    uint32_t i;
    int runs = 0;
    zt__take_all(profiler);
    for (i = 0; i < ZT__LIST_BUCKETS; i++)
        for (list = profiler->lists[i]; list && !runs; list = list->next_in_bucket)
            for (slot = list->first, runs = list->busy; slot && !runs; slot = slot->next)
                runs = zt__slot_runs(list, slot);
    zt__give_all(profiler);
    return runs;
}

/* Collects until nothing is known to run, or the configured time is up. */
ZT__FN void zt__finish_all(zt_profiler *profiler) {
    uint64_t pause = 0, deadline = zt__deadline(profiler->config.wait_timeout_ns);
    do {
        zt__harvest(profiler, 1);
        if (!zt__anything_runs(profiler))
            return;
    } while (zt__pause_until(deadline, &pause));
    zt__say(&profiler->diagnostics, ZE_RESULT_NOT_READY, ZT__NOT_FINISHED, "ZT_PASSES");
}

/* Collects what the active pass has left, and goes to another. Inert without a profiler. */
ZT__FN ze_result_t zt__enter_pass(zt_profiler *profiler, uint32_t index) {
    ze_result_t result;
    if (!profiler || index == zt__pass_index(profiler))
        return ZE_RESULT_SUCCESS;
    zt__finish_all(profiler);
    if (!zt__own(&profiler->growing))
        return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
    zt__inside_1++;
    result = zt__change_pass(profiler, &profiler->passes[index]);
    zt__inside_1--;
    zt__disown(&profiler->growing);
    return result;
}

/* How the passes differ in a region. With the results locked. */
ZT__FN uint32_t zt__differences(const zt_profiler *profiler, const zt__record *record) {
    uint64_t fewest = UINT64_MAX, most = 0;
    double shortest = 0, longest = 0;
    uint32_t pass, differs = 0;
    if (profiler->pass_count == 1 || !record->moments)
        return 0;
    for (pass = 0; pass < profiler->pass_count; pass++) {
        zt_stats time;
        zt__column_stats(profiler, record, zt__time_column(profiler, pass), &time);
        fewest = time.count < fewest ? time.count : fewest;
        most = time.count > most ? time.count : most;
        if (time.count == 0)
            continue;
        shortest = shortest <= 0 || time.median < shortest ? time.median : shortest;
        longest = time.median > longest ? time.median : longest;
    }
    if (fewest != most)
        differs |= fewest == 0 ? ZT_DIFFERS_MISSING : ZT_DIFFERS_COUNT;
    if (longest - shortest > profiler->config.pass_tolerance * shortest)
        differs |= ZT_DIFFERS_TIME;
    return differs;
}

/* ==== >>merging: statistics of several profilers, in memory and packed ==================================== */

/* Locks two at once: always in the same order, so that two merges cannot wait for each other. */
ZT__FN void zt__lock_both(zt__mutex *a, zt__mutex *b) {
    zt__lock((uintptr_t)a < (uintptr_t)b ? a : b);
    zt__lock((uintptr_t)a < (uintptr_t)b ? b : a);
}

ZT__FN void zt__unlock_both(zt__mutex *a, zt__mutex *b) {
    zt__unlock(a);
    zt__unlock(b);
}

/* What two profilers do not have in common, or NULL. */
ZT__FN const char *zt__mismatch(const zt_profiler *a, const zt_profiler *b) {
    uint32_t i;
    if (a->metric_count != b->metric_count)
        return "one has more metrics";
    if (a->pass_count != b->pass_count)
        return "one has more passes";
    if (a->tile_count != b->tile_count)
        return "one has more tiles";
    for (i = 0; i < a->metric_count; i++) {
        const zt_metric *one = &a->metrics[i], *other = &b->metrics[i];
        if (strcmp(one->name, other->name) != 0 || strcmp(one->group, other->group) != 0 ||
            strcmp(one->units, other->units) != 0 || one->aggregation != other->aggregation ||
            one->pass != other->pass)
            return one->name;
    }
    return NULL;
}

/* How often a region occurred, in the pass in which it did most often. */
ZT__FN uint64_t zt__occurrences(const zt_profiler *profiler, const zt__record *record) {
    uint64_t most = 0;
    uint32_t pass;
    for (pass = 0; record->moments && pass < profiler->pass_count; pass++) {
        uint64_t count = record->moments[zt__time_column(profiler, pass)].count;
        most = count > most ? count : most;
    }
    return most;
}

/* The moments of two sets from the moments of each: Chan's update. */
ZT__FN void zt__merge_moments(zt__moments *into, const zt__moments *from) {
    double weight = into->weight + from->weight, distance = from->mean - into->mean;
    if (from->count == 0)
        return;
    if (into->count == 0) {
        *into = *from;
        return;
    }
    if (weight > 0) {
        into->mean += distance * (from->weight / weight);
        into->m2 += from->m2 + distance * distance * (into->weight * from->weight / weight);
    }
    into->weight = weight;
    into->count += from->count;
    into->sum += from->sum;
    into->min = from->min < into->min ? from->min : into->min;
    into->max = from->max > into->max ? from->max : into->max;
}

ZT__FN double zt__random_share(uint64_t *state) {
    return zt__to_double(zt__random(state) >> 11) / 9007199254740992.0;
}

/* How many kept rows of two regions stay, so that every instance of both has the same chance: all, where
   nothing is left out; else so many as drawing one after the other by weight gives, until there is no room or
   the region whose turn it is has no more. */
ZT__FN void zt__share_rows(zt_profiler *into, const zt__record *a, const zt__record *b, uint64_t of_a,
                           uint64_t of_b, uint32_t stay[2]) {
    double left[2], step[2];
    stay[0] = a->kept;
    stay[1] = b->kept;
    if (of_a + of_b <= into->config.samples && a->kept == of_a && b->kept == of_b)
        return;
    left[0] = zt__to_double(of_a);
    left[1] = zt__to_double(of_b);
    step[0] = a->kept ? left[0] / a->kept : 0;
    step[1] = b->kept ? left[1] / b->kept : 0;
    stay[0] = stay[1] = 0;
    while (stay[0] + stay[1] < into->config.samples) {
        int turn = zt__random_share(&into->random) * (left[0] + left[1]) >= left[0];
        if (stay[turn] == (turn ? b : a)->kept)
            return;
        stay[turn]++;
        left[turn] -= step[turn];
    }
}

/* Copies so many of a number of rows, drawn evenly, in their order. Returns where the next would go. */
ZT__FN double *zt__draw_rows(zt_profiler *into, double *to, const double *rows, uint32_t count,
                             uint32_t wanted) {
    size_t columns = zt__column_count(into);
    for (; wanted; rows += columns, count--) {
        if (zt__random_share(&into->random) * count >= wanted)
            continue;
        memmove(to, rows, columns * sizeof *rows);
        to += columns;
        wanted--;
    }
    return to;
}

/* Adds the statistics of a region to those of another. With the results of both locked, and room made. */
ZT__FN void zt__merge_record(zt_profiler *into, zt__record *a, const zt_profiler *from, const zt__record *b) {
    uint32_t column, stay[2];
    double *rows = a->rows;
    if (!b->moments)
        return;
    zt__share_rows(into, a, b, zt__occurrences(into, a), zt__occurrences(from, b), stay);
    rows = zt__draw_rows(into, rows, rows, a->kept, stay[0]);
    zt__draw_rows(into, rows, b->rows, b->kept, stay[1]);
    a->kept = stay[0] + stay[1];
    for (column = 0; column < zt__column_count(into); column++)
        zt__merge_moments(&a->moments[column], &b->moments[column]);
    a->seen += b->seen;
}

/* Makes room for what a region will have. With the results of both locked. Returns 0 without memory. */
ZT__FN int zt__prepare_record(zt_profiler *into, zt__record *a, const zt__record *b) {
    uint32_t wanted = a->kept + b->kept;
    if (wanted > into->config.samples)
        wanted = into->config.samples;
    zt__grow_rows(into, a, wanted);
    return zt__make_moments(into, a) && a->capacity >= wanted;
}

ZT__FN zt__record *zt__counterpart(zt_profiler *into, const zt__record *record) {
    zt_cause cause;
    uint32_t index;
    zt__take(&into->state);
    index = zt__intern(into, record->name, &cause);
    zt__give(&into->state);
    return index == UINT32_MAX ? NULL : zt__record_at(into, index);
}

/* Adds what is counted. What is in flight stays with its own profiler. */
ZT__FN void zt__merge_counts(zt_profiler *into, zt_profiler *from, uint64_t collected) {
    uint32_t i;
    zt__take(&into->state); /* no other merge can be at either: their results are locked */
    zt__take(&from->state);
    into->counts.collected += collected;
    into->counts.lost += from->counts.lost;
    into->counts.dropped += from->counts.dropped;
    into->counts.begun += collected + from->counts.lost + from->counts.dropped;
    for (i = 0; i < ZT_CAUSE_COUNT; i++)
        into->causes[i] += from->causes[i];
    for (i = 0; i < from->record_count; i++) {
        const zt__record *record = zt__record_at(from, i);
        uint32_t *place = zt__name_place(into, record->hash, record->name, record->length);
        if (*place) {
            zt__record_at(into, *place - 1)->lost += record->lost;
            zt__record_at(into, *place - 1)->dropped += record->dropped;
        }
    }
    zt__give(&from->state);
    zt__give(&into->state);
}

/* First the room for everything, so that nothing changes where there is too little. */
ZT__FN ze_result_t zt__merge_all(zt_profiler *into, zt_profiler *from) {
    uint64_t collected = 0;
    uint32_t i, regions, ready = 0;
    zt__lock_both(&into->results, &from->results);
    zt__add_waiting(into);
    zt__add_waiting(from);
    regions = zt__load(&from->record_count);
    for (; ready < regions; ready++) {
        const zt__record *record = zt__record_at(from, ready);
        zt__record *counterpart = zt__counterpart(into, record);
        if (!counterpart || !zt__prepare_record(into, counterpart, record))
            break;
    }
    for (i = 0; i < regions && ready == regions; i++) {
        const zt__record *record = zt__record_at(from, i);
        zt__merge_record(into, zt__counterpart(into, record), from, record);
        collected += record->seen;
    }
    if (ready == regions)
        zt__merge_counts(into, from, collected);
    zt__unlock_both(&into->results, &from->results);
    return ready == regions ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

/* ---- packing --------------------------------------------------------------------------------------------- */

enum { ZT__LAYOUT = 1, ZT__PACK_HEADER = 24 };
enum { ZT__MOMENTS_VALUES = sizeof(zt__moments) / 8 }; /* each of 8 bytes, and packed in their order */

/* Counts the bytes that do not fit. */
typedef struct zt__packer {
    uint8_t *bytes;
    size_t room, used;
} zt__packer;

ZT__FN void zt__pack_bytes(zt__packer *packer, const void *bytes, size_t size) {
    if (size && packer->used <= packer->room && size <= packer->room - packer->used)
        memcpy(packer->bytes + packer->used, bytes, size);
    packer->used += size;
}

ZT__FN void zt__pack_integer(zt__packer *packer, uint64_t value, uint32_t size) {
    uint8_t bytes[8];
    uint32_t i;
    for (i = 0; i < size; i++)
        bytes[i] = (uint8_t)(value >> 8 * i);
    zt__pack_bytes(packer, bytes, size);
}

ZT__FN void zt__pack_u32(zt__packer *packer, uint32_t value) {
    zt__pack_integer(packer, value, 4);
}

ZT__FN void zt__pack_u64(zt__packer *packer, uint64_t value) {
    zt__pack_integer(packer, value, 8);
}

/* Values of 8 bytes, whatever they are. `from` NULL: zeros. */
ZT__FN void zt__pack_values(zt__packer *packer, const void *from, size_t count) {
    size_t i;
    for (i = 0; i < count; i++) {
        uint64_t value = 0;
        if (from)
            memcpy(&value, (const char *)from + i * sizeof value, sizeof value);
        zt__pack_u64(packer, value);
    }
}

ZT__FN void zt__pack_text(zt__packer *packer, const char *text) {
    size_t length = strlen(text);
    zt__pack_u32(packer, (uint32_t)length);
    zt__pack_bytes(packer, text, length);
}

ZT__FN uint64_t zt__check_sum(const uint8_t *bytes, size_t size) {
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    size_t i;
    for (i = 0; i < size; i++)
        sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
    return sum;
}

ZT__FN void zt__pack_metric(zt__packer *packer, const zt_metric *metric) {
    zt__pack_text(packer, metric->name);
    zt__pack_text(packer, metric->group);
    zt__pack_text(packer, metric->component);
    zt__pack_text(packer, metric->units);
    zt__pack_text(packer, metric->description);
    zt__pack_u32(packer, (uint32_t)metric->type);
    zt__pack_u32(packer, (uint32_t)metric->aggregation);
    zt__pack_u32(packer, metric->pass);
}

ZT__FN void zt__pack_record(zt__packer *packer, const zt__record *record, uint32_t columns) {
    zt__pack_text(packer, record->name);
    zt__pack_u64(packer, record->seen);
    zt__pack_u64(packer, record->lost);
    zt__pack_u64(packer, record->dropped);
    zt__pack_values(packer, record->moments, (size_t)columns * ZT__MOMENTS_VALUES);
    zt__pack_u32(packer, record->kept);
    zt__pack_values(packer, record->rows, (size_t)record->kept * columns);
}

/* With state and results locked. */
ZT__FN void zt__pack_all(zt__packer *packer, const zt_profiler *profiler) {
    uint32_t i, columns = zt__column_count(profiler);
    zt__pack_u32(packer, profiler->metric_count);
    zt__pack_u32(packer, profiler->record_count);
    zt__pack_u32(packer, profiler->pass_count);
    zt__pack_u32(packer, profiler->tile_count);
    zt__pack_u32(packer, profiler->config.samples);
    zt__pack_u32(packer, (uint32_t)profiler->availability);
    zt__pack_text(packer, profiler->availability == ZT_AVAILABLE ? "" : profiler->availability_text.text);
    zt__pack_text(packer, profiler->device_name);
    zt__pack_u32(packer, ZT_CAUSE_COUNT);
    zt__pack_values(packer, profiler->causes, ZT_CAUSE_COUNT);
    for (i = 0; i < profiler->metric_count; i++)
        zt__pack_metric(packer, &profiler->metrics[i]);
    for (i = 0; i < profiler->record_count; i++)
        zt__pack_record(packer, zt__record_at(profiler, i), columns);
}

ZT__FN void zt__pack_head(uint8_t *bytes, size_t size) {
    zt__packer packer = {NULL, ZT__PACK_HEADER, 0};
    packer.bytes = bytes;
    zt__pack_bytes(&packer, "ZTPK", 4);
    zt__pack_u32(&packer, ZT__LAYOUT);
    zt__pack_u64(&packer, size);
    zt__pack_u64(&packer, zt__check_sum(bytes + ZT__PACK_HEADER, size - ZT__PACK_HEADER));
}

/* ---- unpacking: nothing in the buffer is believed --------------------------------------------------------- */

typedef struct zt__unpacker {
    const uint8_t *bytes;
    size_t size, used;
    int failed; /* there was less than was asked for, or it made no sense: all that follows is 0 */
    char *texts;
} zt__unpacker;

ZT__FN const uint8_t *zt__unpack_bytes(zt__unpacker *unpacker, size_t size) {
    const uint8_t *bytes = unpacker->bytes + unpacker->used;
    unpacker->failed |= size > unpacker->size - unpacker->used;
    if (unpacker->failed)
        return NULL;
    unpacker->used += size;
    return bytes;
}

ZT__FN uint64_t zt__unpack_integer(zt__unpacker *unpacker, uint32_t size) {
    const uint8_t *bytes = zt__unpack_bytes(unpacker, size);
    uint64_t value = 0;
    while (bytes && size-- > 0)
        value = value << 8 | bytes[size];
    return value;
}

ZT__FN uint64_t zt__unpack_u64(zt__unpacker *unpacker) {
    return zt__unpack_integer(unpacker, 8);
}

/* A number that may be no greater than `most`. */
ZT__FN uint32_t zt__unpack_u32(zt__unpacker *unpacker, uint32_t most) {
    uint32_t value = (uint32_t)zt__unpack_integer(unpacker, 4);
    unpacker->failed |= value > most;
    return unpacker->failed ? 0 : value;
}

ZT__FN void zt__unpack_values(zt__unpacker *unpacker, void *to, size_t count) {
    size_t i;
    for (i = 0; i < count; i++) {
        uint64_t value = zt__unpack_u64(unpacker);
        memcpy((char *)to + i * sizeof value, &value, sizeof value);
    }
}

/* A text, copied to where the texts of the profiler are: what ends it there takes less than its length did.
 */
ZT__FN const char *zt__unpack_text(zt__unpacker *unpacker) {
    uint32_t length = zt__unpack_u32(unpacker, UINT32_MAX);
    const uint8_t *bytes = zt__unpack_bytes(unpacker, length);
    char *text = unpacker->texts;
    if (!bytes)
        return "";
    memcpy(text, bytes, length);
    text[length] = 0;
    unpacker->texts += length + 1;
    return text;
}

ZT__FN void zt__unpack_metric(zt__unpacker *unpacker, const zt_profiler *profiler, zt_metric *metric) {
    metric->name = zt__unpack_text(unpacker);
    metric->group = zt__unpack_text(unpacker);
    metric->component = zt__unpack_text(unpacker);
    metric->units = zt__unpack_text(unpacker);
    metric->description = zt__unpack_text(unpacker);
    metric->type = (int)zt__unpack_u32(unpacker, INT32_MAX);
    metric->aggregation = (zt_aggregation)zt__unpack_u32(unpacker, ZT_AGGREGATE_NONE);
    metric->pass = zt__unpack_u32(unpacker, profiler->pass_count - 1);
}

ZT__FN ze_result_t zt__unpack_record(zt__unpacker *unpacker, zt_profiler *profiler) {
    uint32_t columns = zt__column_count(profiler), index = profiler->record_count;
    const char *name = zt__unpack_text(unpacker);
    zt__record *record;
    zt_cause cause;
    uint32_t found = unpacker->failed ? UINT32_MAX : zt__intern(profiler, zt__name_of(name), &cause);
    if (found != index) {
        unpacker->failed |= found != UINT32_MAX; /* a name that was there already */
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    record = zt__record_at(profiler, index);
    record->seen = zt__unpack_u64(unpacker);
    record->lost = zt__unpack_u64(unpacker);
    record->dropped = zt__unpack_u64(unpacker);
    if (!zt__make_moments(profiler, record))
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    zt__unpack_values(unpacker, record->moments, (size_t)columns * ZT__MOMENTS_VALUES);
    record->kept = zt__unpack_u32(unpacker, profiler->config.samples);
    if (record->kept > (unpacker->size - unpacker->used) / sizeof(double) / columns)
        unpacker->failed = 1;
    if (unpacker->failed || record->kept == 0)
        return ZE_RESULT_SUCCESS;
    record->capacity = record->kept;
    record->rows = (double *)zt__allocate(&profiler->config.allocator, (size_t)record->kept * columns,
                                          sizeof *record->rows);
    if (!record->rows)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    zt__unpack_values(unpacker, record->rows, (size_t)record->kept * columns);
    return ZE_RESULT_SUCCESS;
}

/* Sums of what the regions have. */
ZT__FN void zt__count_unpacked(zt_profiler *profiler) {
    uint32_t i;
    for (i = 0; i < profiler->record_count; i++)
        profiler->counts.collected += zt__record_at(profiler, i)->seen;
    for (i = 0; i < ZT_CAUSE_COUNT; i++)
        *(i < ZT_DROPPED_NO_SLOT ? &profiler->counts.lost : &profiler->counts.dropped) += profiler->causes[i];
    profiler->counts.begun = profiler->counts.collected + profiler->counts.lost + profiler->counts.dropped;
}

ZT__FN ze_result_t zt__unpack_all(zt__unpacker *unpacker, zt_profiler *profiler) {
    const zt_allocator *allocator = &profiler->config.allocator;
    ze_result_t result = ZE_RESULT_SUCCESS;
    uint32_t i, regions, most = (uint32_t)(unpacker->size < UINT32_MAX ? unpacker->size : UINT32_MAX);
    profiler->metric_count = zt__unpack_u32(unpacker, most / 32);
    regions = zt__unpack_u32(unpacker, ZT__NAME_PAGE * ZT__NAME_PAGES);
    profiler->pass_count = zt__unpack_u32(unpacker, ZT__MAX_PASSES);
    profiler->tile_count = zt__unpack_u32(unpacker, ZT__MAX_TILES);
    profiler->config.samples = zt__unpack_u32(unpacker, ZT__MAX_SAMPLES);
    profiler->availability = (zt_availability)zt__unpack_u32(unpacker, ZT_AVAILABILITY_UNKNOWN);
    snprintf(profiler->availability_text.text, sizeof profiler->availability_text.text, "%s",
             zt__unpack_text(unpacker));
    snprintf(profiler->device_name, sizeof profiler->device_name, "%s", zt__unpack_text(unpacker));
    unpacker->failed |= zt__unpack_u32(unpacker, ZT_CAUSE_COUNT) != ZT_CAUSE_COUNT ||
                        profiler->pass_count == 0 || profiler->config.samples == 0;
    zt__unpack_values(unpacker, profiler->causes, ZT_CAUSE_COUNT);
    if (unpacker->failed)
        return result;
    zt__lay_out_columns(profiler);
    profiler->metrics = (zt_metric *)zt__allocate(allocator, profiler->metric_count + 1, sizeof(zt_metric));
    profiler->scratch = (double *)zt__allocate(
        allocator, (size_t)profiler->config.samples * profiler->pass_count, sizeof(double));
    if (!profiler->metrics || !profiler->scratch)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (i = 0; i < profiler->metric_count; i++) {
        zt__unpack_metric(unpacker, profiler, &profiler->metrics[i]);
        zt__note_time(&profiler->passes[profiler->metrics[i].pass], &profiler->metrics[i], i);
    }
    for (i = 0; i < regions && !unpacker->failed && result == ZE_RESULT_SUCCESS; i++)
        result = zt__unpack_record(unpacker, profiler);
    unpacker->failed |= result == ZE_RESULT_SUCCESS && unpacker->used != unpacker->size;
    zt__count_unpacked(profiler);
    return result;
}

/* What is wrong with a buffer as a whole, or SUCCESS and its size. */
ZT__FN ze_result_t zt__check_pack(const uint8_t *bytes, size_t *size) {
    zt__unpacker head = {NULL, 0, 0, 0, NULL};
    uint64_t stated, sum;
    uint32_t layout;
    head.bytes = bytes;
    head.size = *size;
    if (*size >= 4 && memcmp(bytes, "ZTPK", 4) != 0)
        return zt__fail(NULL, ZE_RESULT_ERROR_INVALID_ARGUMENT, ZT__BAD_PACK, "this is no pack");
    head.used = *size < 4 ? *size : 4;
    layout = zt__unpack_u32(&head, UINT32_MAX);
    stated = zt__unpack_u64(&head);
    sum = zt__unpack_u64(&head);
    if (!head.failed && layout > ZT__LAYOUT)
        return zt__fail(NULL, ZE_RESULT_ERROR_UNSUPPORTED_VERSION, ZT__NEWER_PACK, (unsigned)layout,
                        (unsigned)ZT__LAYOUT);
    if (head.failed || stated > *size)
        return zt__fail(NULL, ZE_RESULT_ERROR_INVALID_SIZE, ZT__BAD_PACK, "the buffer is cut off");
    if (layout == 0 || stated < ZT__PACK_HEADER ||
        sum != zt__check_sum(bytes + ZT__PACK_HEADER, (size_t)stated - ZT__PACK_HEADER))
        return zt__fail(NULL, ZE_RESULT_ERROR_INVALID_ARGUMENT, ZT__BAD_PACK, "the buffer is damaged");
    *size = (size_t)stated;
    return ZE_RESULT_SUCCESS;
}

/* ==== >>streams: reports of the device into a ring, and out of it as rows ================================= */

enum { ZT__SLICE_NS = 10000000, ZT__MOST_ROUNDS = 1024, ZT__ROWS_AT_ONCE = 256 };

/* Who reads from the device fills the ring; who hands out, the owner, empties it. With a reader thread these
   are two threads, else one. */
struct zt_stream {
    ze_device_handle_t device;
    ze_context_handle_t context;
    zt__feed *feed;
    zt_stream_info info;
    uint32_t time_metric, length_metric, marker_metric; /* or UINT32_MAX */
    int activated;
    ze_event_pool_handle_t events;
    ze_event_handle_t event; /* the device notifies with it */
    zet_metric_streamer_handle_t streamer;
    int lost, closing, failure; /* atomic */
    int is_garbled;             /* what is in the ring does not begin where a report begins. Atomic */
    uint32_t users;             /* threads inside zt_stream_read, atomic */
    zt__diagnostics diagnostics;

    uint8_t *ring;
    size_t ring_size;
    size_t partial; /* bytes at its end of a report whose rest is to come. Of who reads from the device */

    zt__owned owned;    /* the right to hand out */
    zt__mutex lock;     /* of what follows */
    size_t report_size; /* 0 until the device has told it */
    uint32_t capacity;  /* of the ring, in reports */
    uint64_t read;      /* reports that came into the ring, ever; and that left it */
    uint64_t taken;
    uint64_t gap_from, gap_to; /* between these reports the device dropped some */
    zt_stream_counts counts;
    uint32_t row_next, row_count; /* rows that are calculated and not yet given */

    zet_typed_value_t *values; /* from here on the owner's */
    uint32_t values_at_once;   /* rows */
    double *row;
    uint64_t row_report; /* the report that the first row was made of */
    int has_begun;       /* the first row of the capture is behind */
    int has_time;
    double device_ns, time_ns; /* of the last row */

    uint64_t reader_cpu_ns; /* atomic */
    zt__thread reader;
    zt_stream_config config;
    zt__driver driver;
    zt__clock clock; /* the owner's */
};

ZT__FN ze_result_t zt__check_stream(zt_stream *stream, ze_result_t result, const char *call) {
    if (result != ZE_RESULT_SUCCESS)
        zt__say_failed(&stream->diagnostics, &stream->lost, result, call, "Update the driver if it lasts.");
    return result;
}

/* ---- from the device into the ring ----------------------------------------------------------------------- */

/* Asks how large a report is. A device may not know before there is one. */
ZT__FN ze_result_t zt__learn_report_size(zt_stream *stream) {
    size_t size = 0;
    ze_result_t result = zetMetricStreamerReadData(stream->streamer, 1, &size, NULL);
    if (result != ZE_RESULT_SUCCESS || size == 0)
        return result == ZE_RESULT_NOT_READY ? ZE_RESULT_SUCCESS : result;
    if (stream->ring_size / size < 2)
        return zt__fail(&stream->diagnostics, ZE_RESULT_ERROR_INVALID_SIZE, ZT__MEMORY_LIMIT,
                        "zt_stream_read", (unsigned long)stream->config.memory_limit, stream->info.group,
                        (unsigned long)(stream->config.memory_limit + 2 * size));
    zt__lock(&stream->lock);
    stream->capacity = (uint32_t)(stream->ring_size / size);
    stream->report_size = size;
    zt__unlock(&stream->lock);
    return result;
}

/* Where the next bytes are to go, and how many can. */
ZT__FN uint8_t *zt__free_bytes(zt_stream *stream, size_t *size) {
    uint64_t used, place, room;
    zt__lock(&stream->lock);
    used = stream->read - stream->taken;
    place = stream->read % stream->capacity;
    zt__unlock(&stream->lock);
    room = stream->capacity - used;
    if (room > stream->capacity - place)
        room = stream->capacity - place;
    *size = room ? (size_t)room * stream->report_size - stream->partial : 0;
    return stream->ring + (size_t)place * stream->report_size + stream->partial;
}

/* A read can end within a report: its rest comes first in the next. Where it did not, nothing that follows
   can be calculated, and the next read is taken to begin with a report. */
ZT__FN void zt__drop_partial(zt_stream *stream) {
    if (!zt__load(&stream->is_garbled))
        return;
    zt__store(&stream->is_garbled, 0);
    zt__lock(&stream->lock);
    stream->counts.reports += stream->partial > 0;
    stream->counts.discarded += stream->partial > 0;
    zt__unlock(&stream->lock);
    stream->partial = 0;
}

/* Counts what has come into the ring. */
ZT__FN void zt__take_bytes(zt_stream *stream, size_t size, int dropped) {
    uint64_t reports;
    size += stream->partial;
    reports = size / stream->report_size;
    stream->partial = size % stream->report_size;
    zt__lock(&stream->lock);
    if (dropped) {
        stream->counts.gaps++;
        if (stream->counts.gaps == 1 || stream->gap_to < stream->taken)
            stream->gap_from = stream->read;
        stream->gap_to = stream->read + reports;
    }
    stream->read += reports;
    stream->counts.reports += reports;
    zt__unlock(&stream->lock);
    if (dropped)
        zt__say(&stream->diagnostics, ZE_RESULT_WARNING_DROPPED_DATA, ZT__STREAM_GAP);
}

/* Reads once. `more` is set where the room was the limit. The warning that data were dropped comes with
   data. */
ZT__FN ze_result_t zt__read_some(zt_stream *stream, int *more) {
    size_t room, size;
    uint8_t *bytes;
    ze_result_t result = ZE_RESULT_SUCCESS;
    *more = 0;
    if (!stream->report_size)
        result = zt__learn_report_size(stream);
    if (result != ZE_RESULT_SUCCESS || !stream->report_size)
        return result;
    zt__drop_partial(stream);
    bytes = zt__free_bytes(stream, &room);
    *more = 1;
    if (room == 0)
        return result;
    size = room;
    result = zetMetricStreamerReadData(stream->streamer, UINT32_MAX, &size, bytes);
    if (result != ZE_RESULT_SUCCESS && result != ZE_RESULT_WARNING_DROPPED_DATA)
        return result;
    *more = size == room;
    zt__take_bytes(stream, size, result == ZE_RESULT_WARNING_DROPPED_DATA);
    return ZE_RESULT_SUCCESS;
}

/* Reads until the device has no more, or the ring has no room. Returns whether it had no room. */
ZT__FN int zt__fill_ring(zt_stream *stream) {
    int more = 1, rounds = 0;
    ze_result_t result = ZE_RESULT_SUCCESS;
    while (more && rounds++ < 4 && result == ZE_RESULT_SUCCESS && !zt__load(&stream->lost))
        result = zt__read_some(stream, &more);
    if (result == ZE_RESULT_NOT_READY)
        result = ZE_RESULT_SUCCESS;
    zt__store(&stream->failure, (int)zt__check_stream(stream, result, "zetMetricStreamerReadData"));
    return more && result == ZE_RESULT_SUCCESS;
}

/* Waits until the device notifies, or for a slice of time: what it forgets to say is seen all the same. */
ZT__FN void zt__await_notification(zt_stream *stream, uint64_t limit_ns) {
    uint64_t slice = limit_ns < ZT__SLICE_NS ? limit_ns : (uint64_t)ZT__SLICE_NS;
    const char *call = "zeEventHostSynchronize";
    ze_result_t result;
    zt__inside_1++;
    result = zeEventHostSynchronize(stream->event, slice);
    if (result == ZE_RESULT_SUCCESS) {
        call = "zeEventHostReset";
        result = zeEventHostReset(stream->event);
    }
    zt__inside_1--;
    if (result != ZE_RESULT_SUCCESS && result != ZE_RESULT_NOT_READY) {
        zt__check_stream(stream, result, call);
        zt__sleep_ns(slice / 10);
    }
}

/* ---- the reader thread ----------------------------------------------------------------------------------- */

ZT__FN int zt__read_ahead(void *user) {
    zt_stream *stream = (zt_stream *)user;
    if (zt__load(&stream->lost))
        return 0;
    zt__fill_ring(stream);
    zt__store(&stream->reader_cpu_ns, zt__clock_ns(CLOCK_THREAD_CPUTIME_ID));
    zt__await_notification(stream, ZT__SLICE_NS);
    return 1;
}

ZT__FN ze_result_t zt__start_reader(zt_stream *stream) {
    if (zt__start_thread(&stream->reader, zt__read_ahead, stream))
        return ZE_RESULT_SUCCESS;
#ifdef ZETOOLS_NO_THREADS
    return zt__fail(&stream->diagnostics, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, ZT__NO_READER,
                    "ZETOOLS_NO_THREADS is defined");
#else
    return zt__fail(&stream->diagnostics, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, ZT__NO_READER,
                    "the system starts no thread");
#endif
}

/* ---- from the ring to the application: the owner's ------------------------------------------------------- */

/* Takes the right to hand out. Returns NOT_READY where another thread kept it until the deadline. */
ZT__FN ze_result_t zt__own_stream(zt_stream *stream, uint64_t deadline, const char *call) {
    uint64_t pause = 0;
    if (zt__owns(&stream->owned))
        return zt__fail(&stream->diagnostics, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, ZT__STREAM_BUSY, call);
    while (!zt__try_lock(&stream->owned.mutex))
        if (!zt__pause_until(deadline, &pause))
            return ZE_RESULT_NOT_READY;
    zt__store(&stream->owned.owner, zt__thread_id());
    return ZE_RESULT_SUCCESS;
}

/* Reports that lie together in the ring, for one calculation. */
ZT__HOT uint32_t zt__next_reports(zt_stream *stream, uint8_t **reports) {
    uint64_t count, place;
    zt__lock(&stream->lock);
    count = stream->read - stream->taken;
    place = stream->capacity ? stream->taken % stream->capacity : 0;
    if (count > stream->capacity - place)
        count = stream->capacity - place;
    *reports = stream->ring + (size_t)place * stream->report_size;
    zt__unlock(&stream->lock);
    return count < stream->values_at_once ? (uint32_t)count : stream->values_at_once;
}

/* The rows that a calculation gave, given as many reports. A driver keeps state from call to call: the first
   call of a process gives one row less than reports, that of a later capture a row that begins in the capture
   before. So the first report of a capture gives no row. */
ZT__HOT void zt__accept_rows(zt_stream *stream, uint32_t reports, uint32_t rows) {
    uint32_t skipped = !stream->has_begun && rows == reports ? 1 : 0;
    stream->has_begun = 1;
    zt__lock(&stream->lock);
    stream->row_report = stream->taken + (reports - rows);
    stream->taken += reports;
    stream->row_next = skipped;
    stream->row_count = rows;
    stream->counts.discarded += reports - rows + skipped;
    zt__unlock(&stream->lock);
}

/* Calculates the next reports, with the lock of the whole process. Returns 0 where there are none. */
ZT__HOT int zt__calculate_rows(zt_stream *stream) {
    uint32_t metrics = stream->feed->group.metric_count, count;
    uint8_t *bytes;
    uint32_t reports = zt__next_reports(stream, &bytes);
    ze_result_t result;
    if (reports == 0)
        return 0;
    count = reports * metrics;
    zt__lock(&zt__calculation_lock_1);
    result = zetMetricGroupCalculateMetricValues(
        stream->feed->group.handle, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES,
        reports * stream->report_size, bytes, &count, stream->values);
    zt__unlock(&zt__calculation_lock_1);
    if (zt__is_lost(result))
        zt__check_stream(stream, result, "zetMetricGroupCalculateMetricValues");
    else if (result != ZE_RESULT_SUCCESS)
        zt__say(&stream->diagnostics, result, ZT__NOT_CALCULATED, zt_result_name(result));
    zt__store(&stream->is_garbled, result != ZE_RESULT_SUCCESS);
    zt__accept_rows(stream, reports, result == ZE_RESULT_SUCCESS ? count / metrics : 0);
    return 1;
}

/* The time of a row on the device's clock, later than that of the row before. */
ZT__HOT double zt__row_time(const zt_stream *stream, int after_gap) {
    const zt__clock *clock = &stream->clock;
    double last = stream->has_time ? stream->device_ns : clock->pairs[0].device_ns;
    double time, now = zt__last_pair(clock)->device_ns;
    if (stream->time_metric == UINT32_MAX) /* the group does not tell: periods, from opening on */
        return stream->has_time ? last + stream->info.period_ns : last;
    if (zt__is_nan(stream->row[stream->time_metric])) /* a row that does not */
        return last;
    time = zt__unwrap(clock, stream->row[stream->time_metric],
                      stream->has_time ? last + clock->wrap_ns / 2 : last);
    if (!stream->has_time)
        return time;
    if (after_gap && clock->wrap_ns > 0 && now > time)
        time += clock->wrap_ns * zt__floor((now - time) / clock->wrap_ns);
    return time > stream->device_ns ? time : stream->device_ns;
}

/* How many reports are missing before a row, if the device dropped any there. */
ZT__HOT uint64_t zt__missing(const zt_stream *stream, double device_ns) {
    double periods = (device_ns - stream->device_ns) / stream->info.period_ns;
    return stream->has_time && periods >= 1.5 ? zt__to_count(periods - 0.5) : 0;
}

/* Takes the next calculated row: its values into `row`, its times into the stream. Returns 0 where there is
   none. */
ZT__HOT int zt__take_row(zt_stream *stream, zt_row *row, int is_given) {
    uint32_t metrics = stream->feed->group.metric_count;
    const zet_typed_value_t *values = stream->values + (size_t)stream->row_next * metrics;
    uint64_t report = stream->row_report + stream->row_next;
    double device_ns, host_ns;
    int after_gap;
    if (stream->row_next == stream->row_count)
        return 0;
    zt__numbers(&stream->feed->group, values, stream->row);
    zt__lock(&stream->lock);
    after_gap = stream->counts.gaps && report >= stream->gap_from && report <= stream->gap_to;
    device_ns = zt__row_time(stream, after_gap);
    stream->counts.dropped += after_gap ? zt__missing(stream, device_ns) : 0;
    stream->row_next++;
    stream->counts.rows += is_given != 0;
    stream->counts.discarded += !is_given;
    zt__unlock(&stream->lock);
    host_ns = zt__to_host(&stream->clock, device_ns);
    stream->time_ns = host_ns > stream->time_ns ? host_ns : stream->time_ns;
    stream->device_ns = device_ns;
    stream->has_time = 1;
    row->time_ns = (uint64_t)stream->time_ns;
    row->device_ns = (uint64_t)device_ns;
    row->metric_count = metrics;
    row->values = stream->row;
    row->marker = stream->marker_metric == UINT32_MAX
                      ? NULL
                      : zt__mark_name(stream->feed, stream->row[stream->marker_metric]);
    return 1;
}

/* How long the period of a row was. */
ZT__HOT double zt__row_length(const zt_stream *stream) {
    return stream->length_metric == UINT32_MAX || zt__is_nan(stream->row[stream->length_metric])
               ? zt__to_double(stream->info.period_ns)
               : stream->row[stream->length_metric];
}

typedef struct zt__receiver {
    zt_row_fn function; /* or NULL */
    void *user;
    uint64_t given;
    int stopped;
} zt__receiver;

/* Gives the rows that are calculated. */
ZT__HOT void zt__give_rows(zt_stream *stream, zt__receiver *receiver) {
    zt__feed *feed = stream->feed;
    zt_row row;
    while (!receiver->stopped &&
           zt__take_row(stream, &row, receiver->function != NULL || feed->profiler != NULL)) {
        if (feed->profiler)
            zt__keep_row(feed, stream->time_ns, zt__row_length(stream),
                         row.marker ? stream->row[stream->marker_metric] : 0, row.values);
        receiver->given++;
        receiver->stopped = receiver->function && receiver->function(&row, receiver->user) != 0;
    }
}

ZT__FN void zt__relate_stream_clocks(zt_stream *stream) {
    zt__pair pair;
    if (zt__is_pair_due(&stream->clock) && !zt__load(&stream->lost) &&
        zt__read_clocks(&stream->driver, &stream->clock, &pair) == ZE_RESULT_SUCCESS)
        zt__add_pair(&stream->clock, &pair);
}

/* Gives what is in the ring by now, and what was calculated before. */
ZT__FN void zt__empty_ring(zt_stream *stream, zt__receiver *receiver) {
    uint64_t end;
    int more = 1;
    zt__lock(&stream->lock);
    end = stream->read;
    zt__unlock(&stream->lock);
    do {
        zt__give_rows(stream, receiver);
        more = !receiver->stopped && stream->taken < end && zt__calculate_rows(stream);
    } while (more);
}

/* Reads all there is and gives it. `reads`: from the device too, and not only from the ring. */
ZT__FN void zt__hand_out(zt_stream *stream, zt__receiver *receiver, int reads) {
    int more = 1, rounds = 0;
    zt__relate_stream_clocks(stream);
    while (more && !receiver->stopped && rounds++ < ZT__MOST_ROUNDS) {
        more = reads && zt__fill_ring(stream);
        zt__empty_ring(stream, receiver);
    }
    if (stream->feed->profiler)
        zt__attribute(stream->feed->profiler);
}

/* Hands out until there was something, or there is reason to stop. */
ZT__FN ze_result_t zt__read_until(zt_stream *stream, zt__receiver *receiver, uint64_t deadline) {
    uint64_t pause = 0;
    for (;;) {
        uint64_t now;
        int reads = !zt__load(&stream->reader.runs), failure;
        zt__hand_out(stream, receiver, reads);
        if (receiver->given)
            return ZE_RESULT_SUCCESS;
        if (zt__load(&stream->closing))
            return ZE_RESULT_ERROR_NOT_AVAILABLE;
        failure = zt__load(&stream->lost) ? (int)ZE_RESULT_ERROR_DEVICE_LOST : zt__load(&stream->failure);
        if (failure)
            return (ze_result_t)failure;
        now = zt__now_ns();
        if (now >= deadline)
            return ZE_RESULT_NOT_READY;
        if (reads)
            zt__await_notification(stream, deadline - now);
        else
            zt__pause_until(deadline, &pause);
    }
}

/* ==== >>tracer: what is known of names, kernels, lists and calls ========================================== */

#ifdef ZETOOLS_TRACER

/* The calls that a loader may be able to trace. */
/* clang-format off */
#define ZT__CALLS(X)                                                                                         \
    X(CommandListAppendBarrier) X(CommandListAppendEventReset) X(CommandListAppendGraphExt)                  \
    X(CommandListAppendHostFunction) X(CommandListAppendImageCopy)                                           \
    X(CommandListAppendImageCopyFromMemory) X(CommandListAppendImageCopyFromMemoryExt)                       \
    X(CommandListAppendImageCopyRegion) X(CommandListAppendImageCopyToMemory)                                \
    X(CommandListAppendImageCopyToMemoryExt) X(CommandListAppendLaunchCooperativeKernel)                     \
    X(CommandListAppendLaunchKernel) X(CommandListAppendLaunchKernelIndirect)                                \
    X(CommandListAppendLaunchKernelWithArguments) X(CommandListAppendLaunchKernelWithParameters)             \
    X(CommandListAppendLaunchMultipleKernelsIndirect) X(CommandListAppendMemAdvise)                          \
    X(CommandListAppendMemoryCopy) X(CommandListAppendMemoryCopyFromContext)                                 \
    X(CommandListAppendMemoryCopyRegion) X(CommandListAppendMemoryCopyWithParameters)                        \
    X(CommandListAppendMemoryFill) X(CommandListAppendMemoryFillWithParameters)                              \
    X(CommandListAppendMemoryPrefetch) X(CommandListAppendMemoryRangesBarrier)                               \
    X(CommandListAppendQueryKernelTimestamps) X(CommandListAppendSignalEvent)                                \
    X(CommandListAppendSignalExternalSemaphoreExt) X(CommandListAppendWaitExternalSemaphoreExt)              \
    X(CommandListAppendWaitOnEvents) X(CommandListAppendWriteGlobalTimestamp)                                \
    X(CommandListBeginCaptureIntoGraphExt) X(CommandListBeginGraphCaptureExt) X(CommandListClose)            \
    X(CommandListCreate) X(CommandListCreateCloneExp) X(CommandListCreateImmediate)                          \
    X(CommandListDestroy) X(CommandListEndGraphCaptureExt) X(CommandListGetContextHandle)                    \
    X(CommandListGetDeviceHandle) X(CommandListGetFlags) X(CommandListGetGraphExt)                           \
    X(CommandListGetNextCommandIdExp) X(CommandListGetNextCommandIdWithKernelsExp)                           \
    X(CommandListGetOrdinal) X(CommandListHostSynchronize) X(CommandListImmediateAppendCommandListsExp)      \
    X(CommandListImmediateAppendCommandListsWithParameters) X(CommandListImmediateGetFlags)                  \
    X(CommandListImmediateGetIndex) X(CommandListImmediateGetMode) X(CommandListImmediateGetPriority)        \
    X(CommandListIsGraphCaptureEnabledExt) X(CommandListIsImmediate) X(CommandListIsMutableExp)              \
    X(CommandListReset) X(CommandListUpdateMutableCommandKernelsExp)                                         \
    X(CommandListUpdateMutableCommandSignalEventExp) X(CommandListUpdateMutableCommandWaitEventsExp)         \
    X(CommandListUpdateMutableCommandsExp) X(CommandQueueCreate) X(CommandQueueDestroy)                      \
    X(CommandQueueExecuteCommandLists) X(CommandQueueGetFlags) X(CommandQueueGetIndex)                       \
    X(CommandQueueGetMode) X(CommandQueueGetOrdinal) X(CommandQueueGetPriority)                              \
    X(CommandQueueSynchronize) X(ContextCreate) X(ContextCreateEx) X(ContextDestroy)                         \
    X(ContextEvictImage) X(ContextEvictMemory) X(ContextGetStatus) X(ContextMakeImageResident)               \
    X(ContextMakeMemoryResident) X(ContextSystemBarrier) X(DeviceCanAccessPeer) X(DeviceGet)                 \
    X(DeviceGetAggregatedCopyOffloadIncrementValue) X(DeviceGetCacheProperties)                              \
    X(DeviceGetCommandQueueGroupProperties) X(DeviceGetComputeProperties)                                    \
    X(DeviceGetCounterBasedEventMaxValue) X(DeviceGetExternalMemoryProperties)                               \
    X(DeviceGetFabricVertexExp) X(DeviceGetGlobalTimestamps) X(DeviceGetImageProperties)                     \
    X(DeviceGetMemoryAccessProperties) X(DeviceGetMemoryProperties) X(DeviceGetModuleProperties)             \
    X(DeviceGetP2PProperties) X(DeviceGetProperties) X(DeviceGetRootDevice)                                  \
    X(DeviceGetRuntimeRequirements) X(DeviceGetRuntimeRequirementsKey) X(DeviceGetStatus)                    \
    X(DeviceGetSubDevices) X(DeviceGetVectorWidthPropertiesExt) X(DeviceImportExternalSemaphoreExt)          \
    X(DevicePciGetPropertiesExt) X(DeviceReleaseExternalSemaphoreExt) X(DeviceReserveCacheExt)               \
    X(DeviceSetCacheAdviceExt) X(DeviceSynchronize) X(DeviceValidateRuntimeRequirements) X(DriverGet)        \
    X(DriverGetApiVersion) X(DriverGetDefaultContext) X(DriverGetExtensionFunctionAddress)                   \
    X(DriverGetExtensionProperties) X(DriverGetIpcProperties) X(DriverGetLastErrorDescription)               \
    X(DriverGetProperties) X(DriverRTASFormatCompatibilityCheckExp)                                          \
    X(DriverRTASFormatCompatibilityCheckExt) X(EventCounterBasedCloseIpcHandle)                              \
    X(EventCounterBasedCreate) X(EventCounterBasedGetDeviceAddress) X(EventCounterBasedGetIpcHandle)         \
    X(EventCounterBasedOpenIpcHandle) X(EventCreate) X(EventDestroy) X(EventGetCounterBasedFlags)            \
    X(EventGetEventPool) X(EventGetSignalScope) X(EventGetWaitScope) X(EventHostReset)                       \
    X(EventHostSignal) X(EventHostSynchronize) X(EventPoolCloseIpcHandle) X(EventPoolCreate)                 \
    X(EventPoolDestroy) X(EventPoolGetContextHandle) X(EventPoolGetFlags) X(EventPoolGetIpcHandle)           \
    X(EventPoolOpenIpcHandle) X(EventPoolPutIpcHandle) X(EventQueryKernelTimestamp)                          \
    X(EventQueryKernelTimestampsExt) X(EventQueryStatus) X(EventQueryTimestampsExp)                          \
    X(ExecutableGraphDestroyExt) X(ExecutableGraphGetSourceGraphExt) X(FabricEdgeGetExp)                     \
    X(FabricEdgeGetPropertiesExp) X(FabricEdgeGetVerticesExp) X(FabricVertexGetDeviceExp)                    \
    X(FabricVertexGetExp) X(FabricVertexGetPropertiesExp) X(FabricVertexGetSubVerticesExp)                   \
    X(FenceCreate) X(FenceDestroy) X(FenceHostSynchronize) X(FenceQueryStatus) X(FenceReset)                 \
    X(GraphCreateExt) X(GraphDestroyExt) X(GraphDumpContentsExt) X(GraphGetPrimaryCommandListExt)            \
    X(GraphInstantiateExt) X(GraphIsEmptyExt) X(GraphSetDestructionCallbackExt) X(ImageCreate)               \
    X(ImageDestroy) X(ImageGetAllocPropertiesExt) X(ImageGetDeviceOffsetExp)                                 \
    X(ImageGetMemoryPropertiesExp) X(ImageGetProperties) X(ImageViewCreateExp) X(ImageViewCreateExt)         \
    X(Init) X(InitDrivers) X(KernelCreate) X(KernelDestroy) X(KernelGetAllocationPropertiesExp)              \
    X(KernelGetBinaryExp) X(KernelGetIndirectAccess) X(KernelGetName) X(KernelGetProperties)                 \
    X(KernelGetSourceAttributes) X(KernelSchedulingHintExp) X(KernelSetArgumentValue)                        \
    X(KernelSetCacheConfig) X(KernelSetGlobalOffsetExp) X(KernelSetGroupSize) X(KernelSetIndirectAccess)     \
    X(KernelSuggestGroupSize) X(KernelSuggestMaxCooperativeGroupCount) X(MemAllocDevice) X(MemAllocHost)     \
    X(MemAllocShared) X(MemCloseIpcHandle) X(MemFree) X(MemFreeExt) X(MemGetAddressRange)                    \
    X(MemGetAllocProperties) X(MemGetAtomicAccessAttributeExp) X(MemGetFileDescriptorFromIpcHandleExp)       \
    X(MemGetIpcHandle) X(MemGetIpcHandleFromFileDescriptorExp) X(MemGetIpcHandleWithProperties)              \
    X(MemGetPitchFor2dImage) X(MemOpenIpcHandle) X(MemPutIpcHandle) X(MemSetAtomicAccessAttributeExp)        \
    X(ModuleBuildLogDestroy) X(ModuleBuildLogGetString) X(ModuleCreate) X(ModuleDestroy)                     \
    X(ModuleDynamicLink) X(ModuleGetFunctionPointer) X(ModuleGetGlobalPointer) X(ModuleGetKernelNames)       \
    X(ModuleGetNativeBinary) X(ModuleGetProperties) X(ModuleInspectLinkageExt) X(PhysicalMemCreate)          \
    X(PhysicalMemDestroy) X(PhysicalMemGetProperties) X(RTASBuilderBuildExp) X(RTASBuilderBuildExt)          \
    X(RTASBuilderCommandListAppendCopyExt) X(RTASBuilderCreateExp) X(RTASBuilderCreateExt)                   \
    X(RTASBuilderDestroyExp) X(RTASBuilderDestroyExt) X(RTASBuilderGetBuildPropertiesExp)                    \
    X(RTASBuilderGetBuildPropertiesExt) X(RTASParallelOperationCreateExp)                                    \
    X(RTASParallelOperationCreateExt) X(RTASParallelOperationDestroyExp)                                     \
    X(RTASParallelOperationDestroyExt) X(RTASParallelOperationGetPropertiesExp)                              \
    X(RTASParallelOperationGetPropertiesExt) X(RTASParallelOperationJoinExp)                                 \
    X(RTASParallelOperationJoinExt) X(SamplerCreate) X(SamplerDestroy) X(VirtualMemFree)                     \
    X(VirtualMemGetAccessAttribute) X(VirtualMemMap) X(VirtualMemQueryPageSize) X(VirtualMemReserve)         \
    X(VirtualMemSetAccessAttribute) X(VirtualMemUnmap)
/* clang-format on */

typedef enum zt__api {
#define X(name) ZT__CALL_##name,
    ZT__CALLS(X)
#undef X
        ZT__CALL_COUNT
} zt__api;

ZT__FN const char *zt__call_name(uint32_t call) {
    static const char *const names[ZT__CALL_COUNT] = {
#define X(name) "ze" #name,
        ZT__CALLS(X)
#undef X
    };
    return names[call];
}

/* What a call means to the tracer. */
typedef enum zt__role {
    ZT__OTHER,
    ZT__PROBE,
    ZT__LIST_CREATE,
    ZT__LIST_CREATE_IMMEDIATE,
    ZT__LIST_RESET,
    ZT__LIST_DESTROY,
    ZT__EXECUTE,
    ZT__KERNEL_CREATE,
    ZT__KERNEL_DESTROY,
    ZT__LAUNCH,
    ZT__LAUNCH_MANY,
    ZT__COPY,
    ZT__CONTEXT_DESTROY
} zt__role;

ZT__HOT zt__role zt__role_of(uint32_t call) {
    switch ((zt__api)call) {
    case ZT__CALL_DriverGet:
        return ZT__PROBE;
    case ZT__CALL_CommandListCreate:
        return ZT__LIST_CREATE;
    case ZT__CALL_CommandListCreateImmediate:
        return ZT__LIST_CREATE_IMMEDIATE;
    case ZT__CALL_CommandListReset:
        return ZT__LIST_RESET;
    case ZT__CALL_CommandListDestroy:
        return ZT__LIST_DESTROY;
    case ZT__CALL_CommandQueueExecuteCommandLists:
    case ZT__CALL_CommandListImmediateAppendCommandListsExp:
    case ZT__CALL_CommandListImmediateAppendCommandListsWithParameters:
        return ZT__EXECUTE;
    case ZT__CALL_KernelCreate:
        return ZT__KERNEL_CREATE;
    case ZT__CALL_KernelDestroy:
        return ZT__KERNEL_DESTROY;
    case ZT__CALL_CommandListAppendLaunchKernel:
    case ZT__CALL_CommandListAppendLaunchCooperativeKernel:
    case ZT__CALL_CommandListAppendLaunchKernelIndirect:
    case ZT__CALL_CommandListAppendLaunchKernelWithArguments:
    case ZT__CALL_CommandListAppendLaunchKernelWithParameters:
        return ZT__LAUNCH;
    case ZT__CALL_CommandListAppendLaunchMultipleKernelsIndirect:
        return ZT__LAUNCH_MANY;
    case ZT__CALL_CommandListAppendMemoryCopy:
    case ZT__CALL_CommandListAppendMemoryCopyFromContext:
    case ZT__CALL_CommandListAppendMemoryCopyRegion:
    case ZT__CALL_CommandListAppendMemoryCopyWithParameters:
    case ZT__CALL_CommandListAppendMemoryFill:
    case ZT__CALL_CommandListAppendMemoryFillWithParameters:
    case ZT__CALL_CommandListAppendImageCopy:
    case ZT__CALL_CommandListAppendImageCopyFromMemory:
    case ZT__CALL_CommandListAppendImageCopyFromMemoryExt:
    case ZT__CALL_CommandListAppendImageCopyRegion:
    case ZT__CALL_CommandListAppendImageCopyToMemory:
    case ZT__CALL_CommandListAppendImageCopyToMemoryExt:
        return ZT__COPY;
    case ZT__CALL_ContextDestroy:
        return ZT__CONTEXT_DESTROY;
    default:
        return ZT__OTHER;
    }
}

/* From handles to what is known of them: open addressing, at most half full. */
typedef struct zt__map {
    const void **keys;
    void **values;
    uint32_t capacity, count;
} zt__map;

ZT__HOT uint32_t zt__map_home(const zt__map *map, const void *key) {
    uint64_t hash = (uint64_t)(uintptr_t)key * UINT64_C(0x9E3779B97F4A7C15);
    return (uint32_t)(hash >> 32) & (map->capacity - 1);
}

ZT__HOT uint32_t zt__map_place(const zt__map *map, const void *key) {
    uint32_t i = zt__map_home(map, key);
    while (map->keys[i] && map->keys[i] != key)
        i = (i + 1) & (map->capacity - 1);
    return i;
}

ZT__HOT void *zt__map_get(const zt__map *map, const void *key) {
    uint32_t i;
    if (!map->capacity)
        return NULL;
    i = zt__map_place(map, key);
    return map->keys[i] ? map->values[i] : NULL;
}

ZT__FN void zt__map_free(const zt_allocator *allocator, zt__map *map) {
    zt__free(allocator, (void *)map->keys);
    zt__free(allocator, (void *)map->values);
    memset(map, 0, sizeof *map);
}

ZT__FN int zt__map_grow(const zt_allocator *allocator, zt__map *map) {
    zt__map grown;
    uint32_t i;
    grown.capacity = map->capacity ? map->capacity * 2 : 64;
    grown.count = map->count;
    grown.keys = (const void **)zt__allocate(allocator, grown.capacity, sizeof *grown.keys);
    grown.values = (void **)zt__allocate(allocator, grown.capacity, sizeof *grown.values);
    if (!grown.keys || !grown.values) {
        zt__map_free(allocator, &grown);
        return 0;
    }
    for (i = 0; i < map->capacity; i++)
        if (map->keys[i]) {
            uint32_t place = zt__map_place(&grown, map->keys[i]);
            grown.keys[place] = map->keys[i];
            grown.values[place] = map->values[i];
        }
    zt__map_free(allocator, map);
    *map = grown;
    return 1;
}

/* Returns 0 without memory. */
ZT__FN int zt__map_put(const zt_allocator *allocator, zt__map *map, const void *key, void *value) {
    uint32_t i;
    if ((map->count + 1) * 2 > map->capacity && !zt__map_grow(allocator, map))
        return 0;
    i = zt__map_place(map, key);
    map->count += !map->keys[i];
    map->keys[i] = key;
    map->values[i] = value;
    return 1;
}

/* Removes a key, and closes the gap: what was displaced past it moves up. */
ZT__FN void zt__map_remove(zt__map *map, const void *key) {
    uint32_t gap, i;
    if (!map->capacity)
        return;
    gap = i = zt__map_place(map, key);
    if (!map->keys[gap])
        return;
    map->count--;
    for (;;) {
        i = (i + 1) & (map->capacity - 1);
        if (!map->keys[i])
            break;
        if (((i - zt__map_home(map, map->keys[i])) & (map->capacity - 1)) < ((i - gap) & (map->capacity - 1)))
            continue; /* it is not displaced past the gap */
        map->keys[gap] = map->keys[i];
        map->values[gap] = map->values[i];
        gap = i;
    }
    map->keys[gap] = NULL;
}

/* Whether a text is of a pattern, in which * stands for any letters and ? for one. */
ZT__FN int zt__matches(const char *pattern, size_t length, const char *text) {
    const char *end = pattern + length, *star = NULL, *retry = NULL;
    while (*text) {
        if (pattern < end && *pattern == '*') {
            star = ++pattern;
            retry = text;
        } else if (pattern < end && (*pattern == '?' || *pattern == *text)) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star;
            text = ++retry;
        } else {
            return 0;
        }
    }
    while (pattern < end && *pattern == '*')
        pattern++;
    return pattern == end;
}

/* Whether a comma list of patterns takes a name. A pattern after '!' takes it out. */
ZT__FN int zt__is_chosen(const char *list, const char *name) {
    const char *pattern;
    size_t length;
    int chosen = 1, asked = 0, matched = 0;
    while (list && zt__next_name(&list, &pattern, &length)) {
        if (*pattern == '!') {
            chosen &= !zt__matches(pattern + 1, length - 1, name);
        } else {
            asked = 1;
            matched |= zt__matches(pattern, length, name);
        }
    }
    return chosen && (matched || !asked);
}

/* What launches are called, and how far the filter has come with them. */
typedef struct zt__title {
    struct zt__title *next;
    uint64_t hash;
    uint64_t seen, taken;
    int chosen;
    char *name;
} zt__title;

enum {
    ZT__TITLE_BUCKETS = 64,
    ZT__TARGETS = 64,
    ZT__HOOKS = 16,
    ZT__FRAMES = 8,
    ZT__POSTS = 64,
    ZT__SPENT = 1024,
    ZT__CALL_SAMPLES = 512
};

/* One call, for the timeline. */
typedef struct zt__host_span {
    uint64_t begin_ns, duration_ns;
    uint32_t call;
    uint32_t thread; /* counted from 1 */
} zt__host_span;

/* Host time of one call. */
typedef struct zt__call {
    uint64_t errors;
    zt__moments time;
    double *kept; /* up to ZT__CALL_SAMPLES of them, drawn evenly */
} zt__call;

/* A context and device that are measured. */
typedef struct zt__target {
    ze_context_handle_t context;
    ze_device_handle_t device;
    zt_profiler *profiler; /* NULL: it could not be opened */
} zt__target;

typedef struct zt__tracer {
    zt_allocator allocator;
    zt__diagnostics *diagnostics; /* NULL: those of the thread */
    uint64_t wait_timeout_ns;
    struct zt__post *post; /* where callbacks find it; kept over a stop */
    ze_result_t(ZE_APICALL *context_of)(ze_command_list_handle_t, ze_context_handle_t *);
    ze_result_t(ZE_APICALL *device_of)(ze_command_list_handle_t, ze_device_handle_t *);
    ze_result_t(ZE_APICALL *disable_layer)(void); /* NULL: it was not enabled here */

    zt_trace_config config; /* its strings and hooks are copied here: */
    char *names;
    zt_hook hooks[ZT__HOOKS];
    uint32_t hook_calls[ZT__HOOKS];
    uint8_t timed[ZT__CALL_COUNT];

    zt__mutex opening;          /* one target is opened at a time */
    const zt_config *automatic; /* how to open profilers for what appears, or NULL */
    zt__target targets[ZT__TARGETS];
    uint32_t target_count; /* atomic */

    zt__mutex lock; /* what follows, for instants */
    zt__title *titles[ZT__TITLE_BUCKETS];
    zt__map kernels; /* to titles */
    zt__map lists;   /* to profilers, or &zt__elsewhere */
    zt_trace_counts counts;
    zt__call calls[ZT__CALL_COUNT];
    uint32_t called[ZT__CALL_COUNT]; /* those that were called, in order of appearance */
    uint32_t called_count;
    zt__host_span *spans; /* a ring of the newest calls, or NULL */
    uint32_t span_capacity;
    uint64_t span_count; /* written so far */
    uint64_t random;
    double scratch[ZT__CALL_SAMPLES];
} zt__tracer;

static char zt__elsewhere; /* stands for lists of devices that are not measured */

/* ---- names ----------------------------------------------------------------------------------------------- */

/* The title of a name, made when it is new. With the tracer locked. NULL without memory. */
ZT__FN zt__title *zt__find_title(zt__tracer *tracer, const char *name) {
    size_t length = strlen(name);
    uint64_t hash = zt__hash(name, length);
    zt__title **bucket = &tracer->titles[hash % ZT__TITLE_BUCKETS], *title;
    for (title = *bucket; title; title = title->next)
        if (title->hash == hash && strcmp(title->name, name) == 0)
            return title;
    title = (zt__title *)zt__allocate(&tracer->allocator, 1, sizeof *title + length + 1);
    if (!title)
        return NULL;
    title->name = (char *)(title + 1);
    memcpy(title->name, name, length);
    title->hash = hash;
    title->chosen = zt__is_chosen(tracer->names, name);
    title->next = *bucket;
    *bucket = title;
    return title;
}

ZT__FN zt__title *zt__need_title(zt__tracer *tracer, const char *name) {
    zt__title *title;
    zt__lock(&tracer->lock);
    title = zt__find_title(tracer, name);
    zt__unlock(&tracer->lock);
    return title;
}

ZT__FN zt__title *zt__learn_kernel(zt__tracer *tracer, ze_kernel_handle_t kernel, const char *name) {
    zt__title *title;
    zt__lock(&tracer->lock);
    title = zt__find_title(tracer, name);
    if (title && !zt__map_put(&tracer->allocator, &tracer->kernels, kernel, title))
        title = NULL;
    zt__unlock(&tracer->lock);
    return title;
}

/* The title of a kernel that was created before the start: the driver is asked for the name. */
ZT__FN zt__title *zt__ask_kernel(zt__tracer *tracer, ze_kernel_handle_t kernel) {
    char name[512];
    size_t size = 0;
    name[0] = 0;
    if (zeKernelGetName(kernel, &size, NULL) == ZE_RESULT_SUCCESS) {
        size = size < sizeof name ? size : sizeof name;
        if (zeKernelGetName(kernel, &size, name) != ZE_RESULT_SUCCESS)
            name[0] = 0;
        name[sizeof name - 1] = 0;
    }
    return zt__learn_kernel(tracer, kernel, name);
}

ZT__HOT zt__title *zt__title_of_kernel(zt__tracer *tracer, ze_kernel_handle_t kernel) {
    zt__title *title;
    if (!kernel)
        return NULL;
    zt__lock(&tracer->lock);
    title = (zt__title *)zt__map_get(&tracer->kernels, kernel);
    zt__unlock(&tracer->lock);
    return title ? title : zt__ask_kernel(tracer, kernel);
}

/* The title of a launch of several kernels: the name of the first, and how many more there are. */
ZT__HOT zt__title *zt__title_of_kernels(zt__tracer *tracer, uint32_t count,
                                        const ze_kernel_handle_t *kernels) {
    zt__title *title = count && kernels ? zt__title_of_kernel(tracer, kernels[0]) : NULL;
    char name[560];
    if (!title || count == 1)
        return title;
    snprintf(name, sizeof name, "%.512s +%u", title->name, (unsigned)(count - 1));
    return zt__need_title(tracer, name);
}

/* Whether the filter lets a launch pass. With the tracer locked. */
ZT__HOT int zt__passes_filter(zt__tracer *tracer, zt__title *title) {
    int passes = title->chosen && title->seen++ % tracer->config.every == 0 &&
                 (!tracer->config.limit || title->taken < tracer->config.limit);
    title->taken += (uint64_t)passes;
    tracer->counts.launches++;
    tracer->counts.filtered += !passes;
    return passes;
}

/* The title of a launch that is to be measured. NULL for others, which are counted. `title` is NULL where it
   could not be told. */
ZT__HOT zt__title *zt__filter_launch(zt__tracer *tracer, zt__title *title) {
    zt__lock(&tracer->lock);
    if (!title) {
        tracer->counts.launches++;
        tracer->counts.elsewhere++;
    } else if (!zt__passes_filter(tracer, title)) {
        title = NULL;
    }
    zt__unlock(&tracer->lock);
    return title;
}

/* The same for the launch of one kernel, with one look-up where the kernel is known. */
ZT__HOT zt__title *zt__filter_kernel(zt__tracer *tracer, ze_kernel_handle_t kernel) {
    zt__title *title;
    int passes;
    zt__lock(&tracer->lock);
    title = kernel ? (zt__title *)zt__map_get(&tracer->kernels, kernel) : NULL;
    passes = title && zt__passes_filter(tracer, title);
    zt__unlock(&tracer->lock);
    if (title)
        return passes ? title : NULL;
    return zt__filter_launch(tracer, kernel ? zt__ask_kernel(tracer, kernel) : NULL);
}

/* ---- calls ----------------------------------------------------------------------------------------------- */

/* Where to keep the time of a call, or NULL. With the tracer locked. */
ZT__HOT double *zt__place_for_time(zt__tracer *tracer, zt__call *call) {
    uint64_t drawn = call->time.count;
    if (!call->kept)
        call->kept = (double *)zt__allocate(&tracer->allocator, ZT__CALL_SAMPLES, sizeof *call->kept);
    if (drawn >= ZT__CALL_SAMPLES)
        drawn = zt__random(&tracer->random) % (drawn + 1);
    return call->kept && drawn < ZT__CALL_SAMPLES ? &call->kept[drawn] : NULL;
}

/* A result that tells of no mistake. */
ZT__HOT int zt__is_fine(ze_result_t result) {
    return result == ZE_RESULT_SUCCESS || result == ZE_RESULT_NOT_READY ||
           result == ZE_RESULT_WARNING_DROPPED_DATA;
}

/* The threads of the process, as the tracers come to see them. */
ZT__PROCESS_WIDE uint32_t zt__threads_1;

ZT__HOT uint32_t zt__thread_number(void) {
    static __thread uint32_t number;
    if (!number)
        number = __atomic_add_fetch(&zt__threads_1, 1, __ATOMIC_RELAXED);
    return number;
}

/* Keeps a call for the timeline. With the tracer locked. */
ZT__HOT void zt__keep_span(zt__tracer *tracer, uint32_t call, uint64_t begin_ns, uint64_t duration_ns) {
    zt__host_span *span;
    if (!tracer->spans)
        return;
    span = &tracer->spans[tracer->span_count++ % tracer->span_capacity];
    span->begin_ns = begin_ns;
    span->duration_ns = duration_ns;
    span->call = call;
    span->thread = zt__thread_number();
}

ZT__HOT void zt__count_call(zt__tracer *tracer, uint32_t index, uint64_t begin_ns, ze_result_t result) {
    zt__call *call = &tracer->calls[index];
    uint64_t ns = zt__now_ns() - begin_ns;
    double *place;
    zt__lock(&tracer->lock);
    zt__keep_span(tracer, index, begin_ns, ns);
    if (call->time.count == 0)
        tracer->called[tracer->called_count++] = index;
    place = zt__place_for_time(tracer, call);
    if (place)
        *place = (double)ns;
    zt__add_value(&call->time, (double)ns, 1);
    call->errors += !zt__is_fine(result);
    zt__unlock(&tracer->lock);
}

/* Statistics of the `index`-th call that appeared. */
ZT__FN zt_call_info zt__call_stats(zt__tracer *tracer, uint32_t index) {
    zt_call_info info;
    const zt__call *call;
    uint32_t kept;
    zt__lock(&tracer->lock);
    call = &tracer->calls[tracer->called[index]];
    info.name = zt__call_name(tracer->called[index]);
    info.count = info.time_ns.count = call->time.count;
    info.errors = call->errors;
    info.time_ns.sum = call->time.sum;
    info.time_ns.mean = call->time.mean;
    info.time_ns.stddev = call->time.count > 1 ? zt__sqrt(call->time.m2 / (double)(call->time.count - 1)) : 0;
    info.time_ns.min = call->time.min;
    info.time_ns.max = call->time.max;
    kept = call->time.count < ZT__CALL_SAMPLES ? (uint32_t)call->time.count : (uint32_t)ZT__CALL_SAMPLES;
    if (!call->kept)
        kept = 0;
    if (kept)
        memcpy(tracer->scratch, call->kept, kept * sizeof *call->kept);
    info.time_ns.median = zt__quantile(tracer->scratch, kept, 0.5);
    info.time_ns.p95 = zt__quantile(tracer->scratch, kept, 0.95);
    zt__unlock(&tracer->lock);
    return info;
}

#endif /* ZETOOLS_TRACER */

/* ==== >>bench: samples, the interval of their median, and when there are enough ============================= */

enum { ZT__LEAST_SAMPLES = 10, ZT__NOISE_FROM = 64 };

/* Samples, and the same in order of size. */
typedef struct zt__series {
    uint32_t count;
    double samples[ZT_BENCH_SAMPLES], sorted[ZT_BENCH_SAMPLES], mhz[ZT_BENCH_SAMPLES];
} zt__series;

ZT__FN void zt__add_sample(zt__series *series, double sample, double mhz) {
    uint32_t i = series->count;
    series->samples[i] = sample;
    series->mhz[i] = mhz;
    for (; i > 0 && series->sorted[i - 1] > sample; i--)
        series->sorted[i] = series->sorted[i - 1];
    series->sorted[i] = sample;
    series->count++;
}

ZT__FN double zt__sorted_quantile(const double *sorted, uint32_t count, double share) {
    double position = share * (count - 1);
    uint32_t rank = (uint32_t)position;
    if (rank + 1 >= count)
        return sorted[count - 1];
    return sorted[rank] + (sorted[rank + 1] - sorted[rank]) * (position - rank);
}

/* How many samples to leave out at either end, so that the rest holds the true median with a probability of
   97.5% or more: a sample is on either side of the median like a coin that falls. That much, for what stops
   when the interval is narrow is a little surer of itself than it may be; so 95% are left. */
ZT__FN uint32_t zt__sign_rank(uint32_t count) {
    double term = 1, below = 0;
    uint32_t i, rank = 0;
    for (i = 0; i < count; i++)
        term /= 2; /* so the fewest are 2^-1000, which a double still holds */
    for (i = 0; i < count / 2; i++) {
        below += term;
        if (below > 0.0125)
            break;
        rank = i + 1;
        term = term * (count - i) / (i + 1);
    }
    return rank;
}

/* The interval of the median, and half its width as a share of the median. */
ZT__FN double zt__interval(const double *sorted, uint32_t count, double *low, double *high) {
    uint32_t rank = zt__sign_rank(count);
    double median = zt__sorted_quantile(sorted, count, 0.5);
    *low = sorted[rank ? rank - 1 : 0];
    *high = sorted[count - (rank ? rank : 1)];
    return median > 0 ? (*high - *low) / 2 / median : zt__nan();
}

/* The stopping rule: looks at the interval now and then. */
typedef struct zt__rule {
    uint32_t least, most;
    double precision;
    uint64_t deadline;
    uint32_t next;   /* count at which it looks again */
    uint32_t halved; /* count at which noise is asked about next */
    double before;   /* precision at half that count */
} zt__rule;

ZT__FN uint32_t zt__clamp(uint32_t value, uint32_t least, uint32_t most) {
    return value < least ? least : value > most ? most : value;
}

ZT__FN uint64_t zt__bench_deadline(const zt_bench_config *config) {
    return zt__deadline(config->max_time_ns ? config->max_time_ns : UINT64_C(10000000000));
}

ZT__FN void zt__make_rule(zt__rule *rule, const zt_bench_config *config) {
    rule->least = zt__clamp(config->min_samples, ZT__LEAST_SAMPLES, ZT_BENCH_SAMPLES);
    rule->most = zt__clamp(config->max_samples ? config->max_samples : UINT32_MAX, ZT__LEAST_SAMPLES,
                           ZT_BENCH_SAMPLES);
    if (rule->least > rule->most)
        rule->least = rule->most;
    rule->precision = config->precision > 0 ? config->precision : 0.01;
    rule->deadline = zt__bench_deadline(config);
    rule->next = rule->least;
    rule->halved = ZT__NOISE_FROM;
    rule->before = zt__nan();
}

/* Whether there are enough samples, and why; ZT_BENCH_NOT_RUN: go on. To look at every sample would be to
   wait for a narrow interval until one comes by chance: it looks each time there is a quarter more. */
ZT__FN zt_bench_end zt__enough(zt__rule *rule, const double *sorted, uint32_t count) {
    double low, high;
    if (count < rule->least)
        return ZT_BENCH_NOT_RUN;
    if (count >= rule->next) {
        rule->next = count + count / 4 + 1;
        if (zt__is_below(zt__interval(sorted, count, &low, &high), rule->precision))
            return ZT_BENCH_PRECISE;
    }
    if (count == rule->halved) {
        double before = rule->before;
        rule->halved *= 2;
        rule->before = zt__interval(sorted, count, &low, &high);
        if (zt__is_below(0.95 * before, rule->before))
            return ZT_BENCH_NOISE;
    }
    if (count == rule->most)
        return ZT_BENCH_FULL;
    return zt__now_ns() >= rule->deadline ? ZT_BENCH_TIME : ZT_BENCH_NOT_RUN;
}

/* Marks samples that are far from the others, or taken at another frequency. */
ZT__FN void zt__mark_samples(zt_bench_result *result, const zt__series *series, double max_change) {
    double apart = result->quartile3 - result->quartile1;
    uint32_t i;
    for (i = 0; i < series->count; i++) {
        double sample = series->samples[i], change = series->mhz[i] / result->frequency_mhz - 1;
        int outlier = sample < result->quartile1 - 1.5 * apart || sample > result->quartile3 + 1.5 * apart;
        int changed = zt__is_below(max_change, change) || zt__is_below(change, -max_change);
        result->samples[i] = sample;
        result->marks[i] =
            (unsigned char)((outlier ? ZT_BENCH_OUTLIER : 0) | (changed ? ZT_BENCH_CHANGED : 0));
        result->outliers += (uint32_t)outlier;
        result->changed += (uint32_t)changed;
    }
}

/* The median of values of which some may be NaN. `scratch` has room for them all. */
ZT__FN double zt__median_of(const double *values, uint32_t count, double *scratch) {
    uint32_t i, known = 0;
    for (i = 0; i < count; i++)
        if (!zt__is_nan(values[i]))
            scratch[known++] = values[i];
    return zt__quantile(scratch, known, 0.5);
}

/* `unnamed` is its name where the configuration gives none. */
ZT__FN void zt__clear_result(zt_bench_result *result, const zt_bench_config *config, const char *unnamed) {
    const char *name = !config ? NULL : config->name ? config->name : config->region;
    memset(result, 0, sizeof *result);
    snprintf(result->name, sizeof result->name, "%s", name ? name : unnamed);
    result->median = result->low = result->high = result->quartile1 = result->quartile3 = zt__nan();
    result->min = result->max = result->precision = result->frequency_mhz = zt__nan();
    result->counter_median = result->perturbation = zt__nan();
    result->region = UINT32_MAX;
}

/* All that is told of a series. `scratch` has room for its samples. */
ZT__FN void zt__sum_up(zt_bench_result *result, const zt__series *series, double max_change,
                       double *scratch) {
    const double *sorted = series->sorted;
    result->count = series->count;
    if (series->count == 0)
        return;
    result->median = zt__sorted_quantile(sorted, series->count, 0.5);
    result->quartile1 = zt__sorted_quantile(sorted, series->count, 0.25);
    result->quartile3 = zt__sorted_quantile(sorted, series->count, 0.75);
    result->min = sorted[0];
    result->max = sorted[series->count - 1];
    result->precision = zt__interval(sorted, series->count, &result->low, &result->high);
    result->frequency_mhz = zt__median_of(series->mhz, series->count, scratch);
    zt__mark_samples(result, series, max_change > 0 ? max_change : 0.02);
}

/* ==== >>reports: table, CSV, JSON, trace ================================================================== */

ZT__FN int zt__write_file(const void *bytes, size_t size, void *file) {
    return fwrite(bytes, 1, size, (FILE *)file) != size;
}

/* Collects bytes and hands them on in blocks. */
typedef struct zt__writer {
    zt_write_fn write;
    void *user;
    int failed;
    size_t blanks; /* of a table, put when something follows them on the line */
    size_t used;
    char last; /* byte */
    char bytes[4096];
} zt__writer;

ZT__FN void zt__start_writer(zt__writer *writer, zt_write_fn write, void *user) {
    memset(writer, 0, sizeof *writer);
    writer->write = write;
    writer->user = user;
}

ZT__FN void zt__flush(zt__writer *writer) {
    if (writer->used && !writer->failed)
        writer->failed = writer->write(writer->bytes, writer->used, writer->user) != 0;
    writer->used = 0;
}

/* Hands on what is left. Returns `result`, unless the function stopped it. */
ZT__FN ze_result_t zt__end_writer(zt__writer *writer, zt__diagnostics *diagnostics, ze_result_t result) {
    zt__flush(writer);
    return writer->failed && result == ZE_RESULT_SUCCESS
               ? zt__fail(diagnostics, ZE_RESULT_ERROR_UNKNOWN, ZT__WRITE_STOPPED)
               : result;
}

ZT__FN void zt__put_bytes(zt__writer *writer, const char *bytes, size_t size) {
    while (size > 0) {
        size_t room = sizeof writer->bytes - writer->used;
        size_t part = size < room ? size : room;
        memcpy(writer->bytes + writer->used, bytes, part);
        writer->used += part;
        writer->last = bytes[part - 1];
        bytes += part;
        size -= part;
        if (writer->used == sizeof writer->bytes)
            zt__flush(writer);
    }
}

ZT__FN void zt__put(zt__writer *writer, const char *text) {
    zt__put_bytes(writer, text, strlen(text));
}

ZT__FN void zt__put_repeated(zt__writer *writer, char letter, size_t count) {
    while (count-- > 0)
        zt__put_bytes(writer, &letter, 1);
}

/* A number in the fewest digits that read back the same, with a point whatever the locale. */
ZT__FN void zt__put_number(zt__writer *writer, double number) {
    char digits[40], *from, *to;
    snprintf(digits, sizeof digits, "%.15g", number);
    if (strtod(digits, NULL) != number)
        snprintf(digits, sizeof digits, "%.17g", number);
    for (from = to = digits; *from; from++) {
        if (strchr("0123456789+-e", *from))
            *to++ = *from;
        else if (to == digits || to[-1] != '.')
            *to++ = '.';
    }
    *to = 0;
    zt__put(writer, digits);
}

/* The length of the UTF-8 sequence at `text`, and what it stands for; 0 where it is invalid. */
ZT__FN size_t zt__decode(const char *text, uint32_t *code) {
    const unsigned char *p = (const unsigned char *)text;
    size_t i, length = p[0] < 0x80 ? 1 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
    *code = length == 1 ? p[0] : p[0] & (0x7Fu >> length);
    if ((p[0] >= 0x80 && p[0] < 0xC2) || p[0] > 0xF4)
        return 0;
    for (i = 1; i < length; i++) {
        if ((p[i] & 0xC0) != 0x80)
            return 0;
        *code = *code << 6 | (p[i] & 0x3Fu);
    }
    if ((length == 3 && *code < 0x800) || (length == 4 && *code < 0x10000) || *code > 0x10FFFF ||
        (*code >= 0xD800 && *code < 0xE000))
        return 0;
    return length;
}

/* The next character of a text, as valid UTF-8: U+FFFD stands for a byte that is none. NULL at the end. */
ZT__FN const char *zt__next_char(const char **text, size_t *length, uint32_t *code) {
    const char *here = *text;
    if (!*here)
        return NULL;
    *length = zt__decode(here, code);
    *text = here + (*length ? *length : 1);
    if (*length)
        return here;
    *length = 3;
    *code = 0xFFFD;
    return "\xEF\xBF\xBD";
}

/* A text in quotes: a string of JSON, or a field of CSV, where quotes are doubled. */
ZT__FN void zt__put_quoted(zt__writer *writer, const char *text, int json) {
    const char *letter;
    size_t length;
    uint32_t code;
    zt__put(writer, "\"");
    while ((letter = zt__next_char(&text, &length, &code)) != NULL) {
        if (code == '"' || (json && code == '\\'))
            zt__put(writer, json ? "\\" : "\"");
        if (json && code < 0x20) {
            char escape[8];
            snprintf(escape, sizeof escape, "\\u%04x", (unsigned)code);
            zt__put(writer, escape);
        } else {
            zt__put_bytes(writer, letter, length);
        }
    }
    zt__put(writer, "\"");
}

/* In what the passes of a region differ: "no", or words with "+" between. */
ZT__FN void zt__put_differences(zt__writer *writer, uint32_t differs) {
    static const char *const words[] = {"missing", "count", "time"};
    uint32_t i, put = 0;
    for (i = 0; i < ZT__COUNT_OF(words); i++)
        if (differs >> i & 1) {
            zt__put(writer, put++ ? "+" : "");
            zt__put(writer, words[i]);
        }
    zt__put(writer, put ? "" : "no");
}

ZT__FN void zt__put_shown(zt__writer *writer, const char *text);

/* Puts a text in which % and a letter, or a digit, stand for an argument:
     s          const char *, for people
     j c        const char *, as a string of JSON, as a field of CSV
     u          uint64_t
     t          uint64_t, nanoseconds as microseconds
     d          uint64_t, what passes differ in
     n          double, in the fewest digits that read back the same
     0 ... 4    double, with so many decimals
     ,          none: a comma before a member or an element of JSON, but for the first
   and %% for one. */
ZT__FN void zt__print(zt__writer *writer, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    for (;; format += 2) {
        char digits[328]; /* a double has 309 before its point at the most */
        size_t plain = strcspn(format, "%");
        zt__put_bytes(writer, format, plain);
        format += plain;
        if (!*format)
            break;
        digits[0] = 0;
        if (format[1] == '%') {
            zt__put(writer, "%");
        } else if (format[1] == ',') {
            zt__put(writer, strchr("{[\n", writer->last) ? "" : ",");
        } else if (strchr("sjc", format[1])) {
            const char *text = va_arg(arguments, const char *);
            if (format[1] == 's')
                zt__put_shown(writer, text);
            else
                zt__put_quoted(writer, text, format[1] == 'j');
        } else if (strchr("utd", format[1])) {
            unsigned long long count = va_arg(arguments, uint64_t);
            if (format[1] == 'd')
                zt__put_differences(writer, (uint32_t)count);
            else if (format[1] == 'u')
                snprintf(digits, sizeof digits, "%llu", count);
            else
                snprintf(digits, sizeof digits, "%llu.%03u", count / 1000, (unsigned)(count % 1000));
        } else {
            double number = va_arg(arguments, double);
            if (format[1] == 'n')
                zt__put_number(writer, number);
            else
                snprintf(digits, sizeof digits, "%.*f", format[1] - '0', number);
        }
        zt__put(writer, digits);
    }
    va_end(arguments);
}

/* What a report shows: a copy of the statistics of one region at a time. */
typedef struct zt__report {
    zt__writer writer;
    const zt_profiler *profiler;
    zt_region_info info;
    uint32_t columns;
    zt_stats *stats; /* of each */
} zt__report;

ZT__FN void zt__write_csv_calls(zt__report *report);
ZT__FN void zt__write_json_calls(zt__report *report);
ZT__FN void zt__write_table_of_calls(zt__report *report);

/* Returns 0 for a name that was recorded and never ran: it has nothing to show. */
ZT__FN int zt__copy_region(zt__report *report, uint32_t region) {
    zt_profiler *profiler = zt__mutable(report->profiler);
    const zt__record *record = zt__record_at(profiler, region);
    uint32_t column;
    zt_get_region(profiler, region, &report->info);
    if (!report->info.count && !report->info.lost && !report->info.dropped)
        return 0;
    zt__lock_results(profiler);
    for (column = 0; column < report->columns; column++)
        zt__column_stats(profiler, record, column, &report->stats[column]);
    zt__unlock_results(profiler);
    return 1;
}

static const char *const zt__aggregation_names[] = {"sum", "mean", "flag", "none"};

ZT__FN const char *zt__type_name(int type) {
    static const char *const names[] = {
        "duration", "event", "event_with_range", "throughput", "timestamp", "flag", "ratio", "raw"};
    return type >= 0 && type < (int)ZT__COUNT_OF(names) ? names[type] : "other";
}

/* The figures of zt_stats after the count, in order, with a separator before each. */
ZT__FN void zt__put_stats(zt__writer *writer, const zt_stats *stats, int json) {
    static const char *const names[] = {"sum", "mean", "stddev", "min", "max", "median", "p95"};
    double values[ZT__COUNT_OF(names)];
    uint32_t i;
    memcpy(values, (const char *)stats + offsetof(zt_stats, sum), sizeof values);
    for (i = 0; i < ZT__COUNT_OF(names); i++) {
        zt__print(writer, json ? ",\"%s\":" : ",", names[i]);
        if (zt__is_finite(values[i]))
            zt__put_number(writer, values[i]);
        else if (json)
            zt__put(writer, "null");
    }
}

/* One line of CSV. `metric` is NULL for GPU time. */
ZT__FN void zt__put_csv_line(zt__writer *writer, const zt_region_info *region, const zt_metric *metric,
                             const char *tile, const zt_stats *stats) {
    static const zt_metric gpu_time = {"GPU time",       "", "", "ns", "", ZET_METRIC_TYPE_DURATION,
                                       ZT_AGGREGATE_SUM, 0};
    const zt_metric *shown = metric ? metric : &gpu_time;
    zt__print(writer, "%c,%c,%c,%c,%c,%s,%s,%u", region->name, shown->name, shown->group, shown->component,
              shown->units, zt__type_name(shown->type), zt__aggregation_names[shown->aggregation],
              stats->count);
    zt__put_stats(writer, stats, 0);
    zt__print(writer, metric ? ",%s,%u" : ",%s,all", tile, (uint64_t)shown->pass);
    zt__print(writer, ",%d\n", (uint64_t)region->differs);
}

ZT__FN void zt__write_csv(zt__report *report) {
    const zt_profiler *profiler = report->profiler;
    const zt_region_info *info = &report->info;
    uint32_t region, metric, part, regions = zt__region_count(profiler);
    zt__put(&report->writer, "region,metric,group,component,units,type,aggregation,"
                             "count,sum,mean,stddev,min,max,median,p95,tile,pass,differs\n");
    for (region = 0; region < regions; region++) {
        if (!zt__copy_region(report, region))
            continue;
        zt__put_csv_line(&report->writer, info, NULL, "all", &report->stats[0]);
        for (part = 0; part <= profiler->tile_count; part++) { /* all, and each tile */
            const zt_stats *stats = &report->stats[part ? zt__tile_column(profiler, part - 1, 0) : 1];
            char tile[16] = "all";
            if (part)
                snprintf(tile, sizeof tile, "%u", (unsigned)part - 1);
            for (metric = 0; metric < profiler->metric_count; metric++)
                zt__put_csv_line(&report->writer, info, &profiler->metrics[metric], tile, &stats[metric]);
        }
    }
    zt__write_csv_calls(report);
}

ZT__FN void zt__write_json_head(zt__report *report) {
    const zt_profiler *profiler = report->profiler;
    zt__writer *writer = &report->writer;
    zt_counts counts = zt_get_counts(profiler);
    const char *text;
    uint32_t i;
    text = zt_get_availability_text(profiler);
    zt__print(writer,
              "{\"zetools\":\"" ZETOOLS_VERSION "\",\n\"device\":%j,\n\"availability\":%j,\n"
              "\"counts\":{\"begun\":%u,\"collected\":%u,\"lost\":%u,\"dropped\":%u,\"in_flight\":%u},\n"
              "\"causes\":{",
              profiler->device_name, text, counts.begun, counts.collected, counts.lost, counts.dropped,
              counts.in_flight);
    for (i = 0; i < ZT_CAUSE_COUNT; i++)
        zt__print(writer, "%,\"%s\":%u", zt_cause_name((zt_cause)i), zt_get_cause(profiler, (zt_cause)i));
}

ZT__FN void zt__write_json_metrics(zt__report *report) {
    zt__writer *writer = &report->writer;
    uint32_t i;
    zt__put(writer, "},\n\"metrics\":[");
    for (i = 0; i < report->profiler->metric_count; i++) {
        const zt_metric *metric = &report->profiler->metrics[i];
        zt__print(
            writer,
            "%,\n{\"name\":%j,\"group\":%j,\"component\":%j,\"units\":%j,\"type\":%j,\"aggregation\":%j,"
            "\"pass\":%u,\"description\":%j}",
            metric->name, metric->group, metric->component, metric->units, zt__type_name(metric->type),
            zt__aggregation_names[metric->aggregation], (uint64_t)metric->pass, metric->description);
    }
}

ZT__FN void zt__put_json_stats(zt__writer *writer, const zt_stats *stats) {
    zt__print(writer, "{\"count\":%u", stats->count);
    zt__put_stats(writer, stats, 1);
    zt__put(writer, "}");
}

/* An array of the statistics of columns that follow each other. */
ZT__FN void zt__put_json_columns(zt__report *report, uint32_t first, uint32_t count) {
    uint32_t i;
    zt__put(&report->writer, "[");
    for (i = 0; i < count; i++) {
        zt__print(&report->writer, "%,\n");
        zt__put_json_stats(&report->writer, &report->stats[first + i]);
    }
    zt__put(&report->writer, "]");
}

/* GPU time of each pass, and the metrics of each tile, where there are several. */
ZT__FN void zt__put_json_parts(zt__report *report) {
    const zt_profiler *profiler = report->profiler;
    uint32_t tile;
    if (profiler->pass_count > 1) {
        zt__print(&report->writer,
                  ",\n\"differs\":\"%d\",\n\"pass_time_ns\":", (uint64_t)report->info.differs);
        zt__put_json_columns(report, zt__time_column(profiler, 0), profiler->pass_count);
    }
    if (profiler->tile_count == 0)
        return;
    zt__put(&report->writer, ",\n\"tiles\":[");
    for (tile = 0; tile < profiler->tile_count; tile++) {
        zt__print(&report->writer, "%,\n");
        zt__put_json_columns(report, zt__tile_column(profiler, tile, 0), profiler->metric_count);
    }
    zt__put(&report->writer, "]");
}

/* Statistics stand in the order of "metrics". */
ZT__FN void zt__write_json(zt__report *report) {
    const zt_profiler *profiler = report->profiler;
    zt__writer *writer = &report->writer;
    uint32_t region, regions = zt__region_count(profiler);
    zt__write_json_head(report);
    zt__write_json_metrics(report);
    zt__put(writer, "],\n\"regions\":[");
    for (region = 0; region < regions; region++) {
        if (!zt__copy_region(report, region))
            continue;
        zt__print(writer, "%,\n{\"name\":%j,\"count\":%u,\"lost\":%u,\"dropped\":%u,\n\"time_ns\":",
                  report->info.name, report->stats[0].count, report->info.lost, report->info.dropped);
        zt__put_json_stats(writer, &report->stats[0]);
        zt__put(writer, ",\n\"metrics\":");
        zt__put_json_columns(report, 1, profiler->metric_count);
        zt__put_json_parts(report);
        zt__put(writer, "}");
    }
    zt__put(writer, "]");
    zt__write_json_calls(report);
    zt__put(writer, "}\n");
}

ZT__FN const char *zt__metric_name(const void *metrics, uint32_t index) {
    return ((const zt_metric *)metrics)[index].name;
}

/* The index of a metric that a call was given the name of; or UINT32_MAX, and the nearest names are said. */
ZT__FN uint32_t zt__find_metric(zt__diagnostics *diagnostics, const zt_metric *metrics, uint32_t count,
                                const char *name, const char *call, char *nearest) {
    uint32_t i;
    for (i = 0; i < count; i++)
        if (strcmp(metrics[i].name, name) == 0)
            return i;
    zt__nearest(name, metrics, count, zt__metric_name, nearest);
    zt__say(diagnostics, ZE_RESULT_ERROR_INVALID_ARGUMENT, ZT__NO_SUCH_METRIC, call, name, nearest);
    return UINT32_MAX;
}

/* ---- the table ------------------------------------------------------------------------------------------- */

enum { ZT__CELL = 9, ZT__CALL_WIDTH = 34 };
enum { ZT__NAME_WIDTH = 28, ZT__NAME_LINES = 6, ZT__MAX_COLUMNS = 32, ZT__TABLE_WIDTH = 100 };

/* What a column of the table shows of a column of the statistics. */
typedef enum zt__figure { ZT__COUNT, ZT__SUM, ZT__MEAN, ZT__MEDIAN, ZT__P95 } zt__figure;

typedef struct zt__column {
    uint32_t column;
    zt__figure figure;
    double scale;             /* values are divided by it */
    double smallest, largest; /* of what it shows; NaN where it shows nothing */
    size_t width;
    uint32_t lines;                    /* of its name */
    char head[ZT__NAME_LINES + 1][24]; /* those, and behind them the units */
} zt__column;

typedef struct zt__table {
    zt__column columns[ZT__MAX_COLUMNS];
    uint32_t count;
    uint32_t lines;    /* of names, at the most */
    uint32_t metrics;  /* of its columns */
    uint32_t left_out; /* metrics with something to show, for which there was no room */
    size_t name_width, width;
} zt__table;

ZT__FN double zt__figure_of(const zt_stats *stats, const zt__column *column) {
    switch (column->figure) {
    case ZT__COUNT:
        return zt__to_double(stats->count);
    case ZT__SUM:
        return stats->sum;
    case ZT__MEAN:
        return stats->mean;
    case ZT__MEDIAN:
        return stats->median;
    default:
        return stats->p95;
    }
}

/* How many columns of a terminal a character takes; -1: the terminal would obey it. */
ZT__FN int zt__char_width(uint32_t code) {
    static const struct {
        uint32_t first : 24;
        signed int width : 8;
        uint32_t last;
    } ranges[] = {
        {0x0, -1, 0x1F},       {0x7F, -1, 0x9F},      {0x300, 0, 0x36F},     {0x1100, 2, 0x115F},
        {0x200B, 0, 0x200D},   {0x200E, -1, 0x200F},  {0x2028, -1, 0x202E},  {0x2066, -1, 0x2069},
        {0x20D0, 0, 0x20F0},   {0x2E80, 2, 0x303E},   {0x3041, 2, 0xA4CF},   {0xAC00, 2, 0xD7A3},
        {0xF900, 2, 0xFAFF},   {0xFE00, 0, 0xFE0F},   {0xFE30, 2, 0xFE6F},   {0xFF01, 2, 0xFF60},
        {0xFFE0, 2, 0xFFE6},   {0x1F300, 2, 0x1F64F}, {0x1F680, 2, 0x1F6FF}, {0x1F900, 2, 0x1F9FF},
        {0x20000, 2, 0x3FFFD},
    };
    uint32_t i;
    for (i = 0; i < ZT__COUNT_OF(ranges) && code > ranges[i].last; i++)
        ;
    return i < ZT__COUNT_OF(ranges) && code >= ranges[i].first ? ranges[i].width : 1;
}

/* The next character of a text as the table shows it, and how many columns of a terminal it takes: "?" stands
   for what a terminal would obey. NULL at the end. */
ZT__FN const char *zt__next_shown(const char **text, size_t *length, size_t *width) {
    uint32_t code;
    const char *letter = zt__next_char(text, length, &code);
    int takes = letter ? zt__char_width(code) : 0;
    *width = takes < 0 ? 1 : (size_t)takes;
    if (takes >= 0)
        return letter;
    *length = 1;
    return "?";
}

ZT__FN size_t zt__text_width(const char *text) {
    size_t length, width, whole = 0;
    while (zt__next_shown(&text, &length, &width))
        whole += width;
    return whole;
}

ZT__FN void zt__put_blanks(zt__writer *writer, size_t count) {
    writer->blanks += count;
}

ZT__FN void zt__put_cell(zt__writer *writer, const char *bytes, size_t size) {
    if (size == 0)
        return;
    zt__put_repeated(writer, ' ', writer->blanks);
    writer->blanks = 0;
    zt__put_bytes(writer, bytes, size);
}

ZT__FN void zt__end_line(zt__writer *writer) {
    writer->blanks = 0;
    zt__put(writer, "\n");
}

/* A text of a fixed width, from the left. */
ZT__FN void zt__put_name(zt__writer *writer, const char *text, size_t width) {
    size_t length, takes, used = 0, whole = zt__text_width(text);
    size_t room = whole <= width ? whole : width - 3;
    const char *letter;
    while ((letter = zt__next_shown(&text, &length, &takes)) != NULL && used + takes <= room) {
        zt__put_cell(writer, letter, length);
        used += takes;
    }
    if (whole > width) {
        zt__put_cell(writer, "...", 3);
        used += 3;
    }
    zt__put_blanks(writer, width - used);
}

/* A text as a terminal may have it, whoever it came from. */
ZT__FN void zt__put_shown(zt__writer *writer, const char *text) {
    size_t length, width;
    const char *letter;
    while ((letter = zt__next_shown(&text, &length, &width)) != NULL)
        zt__put_cell(writer, letter, length);
}

ZT__FN void zt__put_right(zt__writer *writer, const char *text, size_t width) {
    size_t whole = zt__text_width(text);
    zt__put_blanks(writer, whole < width ? width - whole : 0);
    zt__put_shown(writer, text);
}

/* Four digits that matter, without an exponent where it can be. */
ZT__FN void zt__format_cell(char *out, size_t size, double value) {
    double magnitude = fabs(value);
    if (zt__is_nan(value))
        out[0] = 0;
    else if (magnitude < 1e9 && (magnitude >= 1000 || (double)(int64_t)value == value))
        snprintf(out, size, "%.0f", value);
    else if (magnitude >= 1e9 || magnitude < 0.001)
        snprintf(out, size, "%.2e", value);
    else { /* between 1000 and 0.001 */
        int decimals = 1;
        for (; magnitude < 100; magnitude *= 10)
            decimals++;
        snprintf(out, size, "%.*f", decimals, value);
    }
}

/* Whether a heading may be broken before this letter of a name. */
ZT__FN int zt__may_break(const char *letter) {
    return letter[-1] == '_' ||
           (letter[-1] >= 'a' && letter[-1] <= 'z' && letter[0] >= 'A' && letter[0] <= 'Z');
}

/* Breaks a name into lines of a heading, between its words where that is possible. */
ZT__FN void zt__break_name(const char *name, zt__column *column) {
    enum { LONGEST = 12, SHORTEST = 4 };
    uint32_t line;
    for (line = 0; line < ZT__NAME_LINES && *name; line++) {
        size_t length = strcspn(name, "\n"), cut = length;
        if (length > LONGEST) {
            for (cut = LONGEST; cut > SHORTEST && !zt__may_break(name + cut); cut--)
                ;
            if (cut == SHORTEST)
                cut = LONGEST;
        }
        memcpy(column->head[line], name, cut);
        column->head[line][cut] = 0;
        name += cut + (name[cut] == '\n');
    }
    if (*name) { /* too long even so */
        char *last = column->head[ZT__NAME_LINES - 1];
        memcpy(last + strlen(last), "...", 4);
    }
    column->lines = line;
}

/* What a column shows of a region. */
ZT__FN double zt__value_of(const zt__report *report, const zt__column *column, uint32_t region) {
    zt_profiler *profiler = zt__mutable(report->profiler);
    const zt__record *record = zt__record_at(profiler, region);
    zt_stats stats;
    zt__lock_results(profiler);
    if (column->figure == ZT__MEDIAN || column->figure == ZT__P95)
        zt__column_stats(profiler, record, column->column, &stats);
    else
        zt__moment_stats(profiler, record, column->column, &stats);
    zt__unlock_results(profiler);
    return zt__figure_of(&stats, column);
}

ZT__FN void zt__find_range(const zt__report *report, zt__column *column) {
    uint32_t region, shown = 0, regions = zt__region_count(report->profiler);
    column->smallest = column->largest = zt__nan();
    for (region = 0; region < regions; region++) {
        double value = zt__value_of(report, column, region);
        if (zt__is_nan(value))
            continue;
        if (shown++ == 0 || value < column->smallest)
            column->smallest = value;
        if (shown == 1 || value > column->largest)
            column->largest = value;
    }
}

ZT__FN void zt__widen(zt__column *column, const char *shown) {
    size_t width = zt__text_width(shown);
    if (width > column->width)
        column->width = width;
}

ZT__FN void zt__find_width(const zt__report *report, zt__column *column) {
    uint32_t line, region, regions = zt__region_count(report->profiler);
    for (line = 0; line <= column->lines; line++)
        zt__widen(column, column->head[line]);
    for (region = 0; region < regions; region++) {
        char cell[32];
        zt__format_cell(cell, sizeof cell, zt__value_of(report, column, region) / column->scale);
        zt__widen(column, cell);
    }
}

/* Units that read well for the largest value: "ns" becomes "ms", "bytes" "MB"; units that are no plain count,
   such as percent, stay. */
ZT__FN void zt__choose_units(zt__column *column, const char *units, int additive) {
    static const char *const times[] = {"ns", "us", "ms", "s"};
    static const char *const prefixes[] = {"", "k", "M", "G", "T"};
    int time = strcmp(units, "ns") == 0, bytes = strcmp(units, "bytes") == 0;
    uint32_t step = 0, steps = time ? ZT__COUNT_OF(times) : ZT__COUNT_OF(prefixes);
    char *shown = column->head[column->lines];
    if (!additive) {
        snprintf(shown, sizeof *column->head, "%.16s", strcmp(units, "percent") == 0 ? "%" : units);
        return;
    }
    while (step + 1 < steps && column->largest >= column->scale * (time ? 1000 : 10000)) {
        column->scale *= 1000;
        step++;
    }
    snprintf(shown, sizeof *column->head,
             time    ? "%s"
             : bytes ? "%sB"
                     : "%s %.16s",
             (time ? times : prefixes)[step], units);
}

ZT__FN void zt__make_column(const zt__report *report, zt__column *column, uint32_t index, zt__figure figure,
                            const char *head) {
    const zt_profiler *profiler = report->profiler;
    memset(column, 0, sizeof *column);
    column->column = index;
    column->figure = figure;
    column->scale = 1;
    zt__break_name(head, column);
    zt__find_range(report, column);
    if (figure != ZT__COUNT && !zt__is_nan(column->largest))
        zt__choose_units(column, index == 0 ? "ns" : profiler->metrics[index - 1].units,
                         zt__column_aggregation(profiler, index) == ZT_AGGREGATE_SUM);
    zt__find_width(report, column);
}

ZT__FN void zt__add_column(zt__table *table, const zt__column *column) {
    table->columns[table->count++] = *column;
    if (column->lines > table->lines)
        table->lines = column->lines;
    table->width += column->width + 2;
}

ZT__FN void zt__add_time_columns(const zt__report *report, zt__table *table) {
    static const char *const heads[] = {"count", "GPU time\ntotal", "GPU time\nmean", "GPU time\nmedian",
                                        "GPU time\np95"};
    uint32_t figure;
    for (figure = ZT__COUNT; figure <= ZT__P95; figure++) {
        zt__column column;
        zt__make_column(report, &column, 0, (zt__figure)figure, heads[figure]);
        zt__add_column(table, &column);
    }
}

/* A metric of an instance: the mean, and of a flag in how many it was set. */
ZT__FN void zt__make_metric_column(const zt__report *report, zt__column *column, uint32_t metric) {
    const zt_metric *described = &report->profiler->metrics[metric];
    zt__make_column(report, column, metric + 1,
                    described->aggregation == ZT_AGGREGATE_FLAG ? ZT__SUM : ZT__MEAN, described->name);
}

/* A metric that was asked for. */
typedef struct zt__wish {
    uint32_t metric; /* UINT32_MAX: there is none of that name */
    char name[ZET_MAX_METRIC_NAME], nearest[ZT__NEAREST];
} zt__wish;

/* Takes the next from a list. Returns 0 at its end. */
ZT__FN int zt__next_wish(const zt_profiler *profiler, const char **list, zt__wish *wish) {
    const char *name;
    size_t length;
    if (!zt__next_name(list, &name, &length))
        return 0;
    zt__copy_name(wish->name, sizeof wish->name, name, length);
    wish->metric = zt__find_metric(&zt__mutable(profiler)->diagnostics, profiler->metrics,
                                   profiler->metric_count, wish->name, "zt_report", wish->nearest);
    return 1;
}

ZT__FN void zt__add_chosen_metrics(const zt__report *report, zt__table *table) {
    const char *list = report->profiler->columns;
    zt__wish wish;
    while (zt__next_wish(report->profiler, &list, &wish)) {
        zt__column column;
        if (wish.metric == UINT32_MAX)
            continue;
        if (table->count == ZT__MAX_COLUMNS) {
            table->left_out++;
            continue;
        }
        zt__make_metric_column(report, &column, wish.metric);
        zt__add_column(table, &column);
        table->metrics++;
    }
}

/* The table has GPU time anyway, and one column of the clocks that all groups have. */
ZT__FN int zt__is_shown_already(const zt_profiler *profiler, uint32_t metric) {
    uint32_t i;
    if (profiler->passes[profiler->metrics[metric].pass].time_metric == metric)
        return 1;
    for (i = 0; i < metric && strcmp(profiler->metrics[i].name, profiler->metrics[metric].name) != 0; i++)
        ;
    return i < metric;
}

/* Whether a metric tells regions apart; clocks say what the time says already. */
ZT__FN int zt__is_telling(const zt__report *report, const zt__column *column) {
    const char *units = report->profiler->metrics[column->column - 1].units;
    if (strcmp(units, "cycles") == 0 || strcmp(units, "MHz") == 0)
        return 0;
    return zt__is_below(column->smallest, column->largest) || zt__region_count(report->profiler) < 2;
}

/* As many metrics as fit, of those that have something to show: first those that tell the most. */
ZT__FN void zt__add_fitting_metrics(const zt__report *report, zt__table *table, size_t limit) {
    const zt_profiler *profiler = report->profiler;
    uint32_t metric;
    int telling;
    for (telling = 1; telling >= 0; telling--)
        for (metric = 0; metric < profiler->metric_count; metric++) {
            zt_aggregation aggregation = profiler->metrics[metric].aggregation;
            zt__column column;
            if (zt__is_shown_already(profiler, metric) || aggregation == ZT_AGGREGATE_FLAG ||
                aggregation == ZT_AGGREGATE_NONE)
                continue;
            zt__make_metric_column(report, &column, metric);
            if (!zt__is_positive(column.largest) || zt__is_telling(report, &column) != telling)
                continue;
            if (table->count < ZT__MAX_COLUMNS && table->width + column.width + 2 <= limit) {
                zt__add_column(table, &column);
                table->metrics++;
            } else {
                table->left_out++;
            }
        }
}

ZT__FN size_t zt__longest_name(const zt_profiler *profiler) {
    size_t longest = strlen("region");
    uint32_t region, regions = zt__region_count(profiler);
    for (region = 0; region < regions; region++) {
        size_t width = zt__text_width(zt__record_at(profiler, region)->name);
        if (width > longest)
            longest = width;
    }
    return longest < (size_t)ZT__NAME_WIDTH ? longest : (size_t)ZT__NAME_WIDTH;
}

ZT__FN void zt__write_heading(zt__report *report, const zt__table *table) {
    zt__writer *writer = &report->writer;
    uint32_t line, i;
    for (line = table->lines + 1; line-- > 0;) { /* of names; 0: the units */
        zt__put_name(writer, line ? "" : "region", table->name_width);
        for (i = 0; i < table->count; i++) {
            const zt__column *column = &table->columns[i];
            zt__put_blanks(writer, 2);
            zt__put_right(writer, line <= column->lines ? column->head[column->lines - line] : "",
                          column->width);
        }
        zt__end_line(writer);
    }
    zt__put_repeated(writer, '-', table->width);
    zt__put(writer, "\n");
}

ZT__FN void zt__write_rows(zt__report *report, const zt__table *table) {
    const zt_profiler *profiler = report->profiler;
    uint32_t region, i, regions = zt__region_count(profiler);
    for (region = 0; region < regions; region++) {
        if (!zt__copy_region(report, region))
            continue;
        zt__put_name(&report->writer, report->info.name, table->name_width);
        for (i = 0; i < table->count; i++) {
            const zt__column *column = &table->columns[i];
            char cell[32];
            zt__format_cell(cell, sizeof cell,
                            zt__figure_of(&report->stats[column->column], column) / column->scale);
            zt__put_blanks(&report->writer, 2);
            zt__put_right(&report->writer, cell, column->width);
        }
        if (report->info.differs)
            zt__print(&report->writer, "  !passes differ: %d", (uint64_t)report->info.differs);
        zt__end_line(&report->writer);
    }
}

/* Metrics that were asked for and are not there. */
ZT__FN void zt__write_missing(zt__report *report) {
    const zt_profiler *profiler = report->profiler;
    const char *list = profiler->columns;
    zt__wish wish;
    while (list && zt__next_wish(profiler, &list, &wish)) {
        if (wish.metric != UINT32_MAX)
            continue;
        zt__print(&report->writer, "There is no metric '%s'. Nearest: %s.\n", wish.name, wish.nearest);
    }
}

/* What is not in the figures, by cause, and what is not in the table. */
ZT__FN void zt__write_footer(zt__report *report, const zt__table *table) {
    const zt_profiler *profiler = report->profiler;
    zt__writer *writer = &report->writer;
    zt_counts counts = zt_get_counts(profiler);
    const char *text;
    uint32_t i;
    text = zt_get_availability_text(profiler);
    if (zt_get_availability(profiler) != ZT_AVAILABLE)
        zt__print(writer, "%s\n", text);
    if (counts.in_flight)
        zt__print(writer, "%u in flight: not collected yet.\n", counts.in_flight);
    for (i = 0; i < ZT_CAUSE_COUNT; i++)
        if (zt_get_cause(profiler, (zt_cause)i))
            zt__print(writer, "%u %s: %s.\n", zt_get_cause(profiler, (zt_cause)i),
                      i < ZT_DROPPED_NO_SLOT ? "lost" : "dropped", zt_cause_name((zt_cause)i));
    zt__write_missing(report);
    if (!table->metrics && !table->left_out)
        return;
    zt__put(writer, "Metrics are means of an instance");
    if (table->left_out)
        zt__print(writer, "; %u more did not fit: ZT_COLUMNS chooses, CSV and JSON have all",
                  (uint64_t)table->left_out);
    zt__put(writer, ".\n");
}

/* The width that a table may take: that of the terminal if it goes to one. Nobody knows how wide that will be
   on which a file is looked at. */
ZT__FN size_t zt__room_for_table(const zt__writer *writer) {
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    if (writer->write != zt__write_file || writer->user != stdout)
        return ZT__TABLE_WIDTH;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    if (columns && atoi(columns) > 0)
        return (size_t)atoi(columns);
    return ZT__TABLE_WIDTH;
}

/* Long names give way where the times would not fit. */
ZT__FN void zt__fit_names(zt__table *table, size_t limit) {
    enum { SHORTEST = 12 };
    for (; table->width > limit && table->name_width > SHORTEST; table->width--)
        table->name_width--;
}

ZT__FN void zt__write_title(zt__report *report) {
    const zt_profiler *profiler = report->profiler;
    zt__writer *writer = &report->writer;
    const char *group = NULL;
    uint32_t i;
    zt__print(writer, "device: %s, %s", profiler->device_name,
              profiler->metric_count ? "metrics: " : "times only");
    for (i = 0; i < profiler->metric_count; i++) {
        if (group && strcmp(group, profiler->metrics[i].group) == 0)
            continue;
        zt__print(writer, "%s%s", group ? ", " : "", profiler->metrics[i].group);
        group = profiler->metrics[i].group;
    }
    zt__put(writer, "\n");
}

ZT__FN void zt__write_table(zt__report *report) {
    size_t limit = zt__room_for_table(&report->writer);
    zt__table table;
    memset(&table, 0, sizeof table);
    table.name_width = table.width = zt__longest_name(report->profiler);
    zt__add_time_columns(report, &table);
    zt__fit_names(&table, limit);
    if (report->profiler->columns)
        zt__add_chosen_metrics(report, &table);
    else
        zt__add_fitting_metrics(report, &table, limit);
    zt__write_title(report);
    zt__write_heading(report, &table);
    zt__write_rows(report, &table);
    zt__write_footer(report, &table);
    zt__write_table_of_calls(report);
}

/* ---- the trace: Trace Event JSON, which Perfetto and Chrome read ----------------------------------------- */

/* An instance by host time. */
typedef struct zt__span {
    uint64_t begin, end, order;
    ze_command_list_handle_t list;
    uint32_t region;
    uint32_t outer; /* the span around it on its track, or UINT32_MAX */
    const double *values;
} zt__span;

/* One line of a list: what is on it is nested. */
typedef struct zt__track {
    ze_command_list_handle_t list;
    uint32_t list_number, lane;
    uint32_t top; /* the span that the next may be nested in */
} zt__track;

/* Copies, so that the application's write function runs without locks. */
typedef struct zt__trace {
    zt__report *report;
    zt__span *spans;
    double *values;
    uint32_t count;
    zt__track *tracks;
    uint32_t track_count, list_count;
} zt__trace;

ZT__FN int zt__write_host_tracks(zt__trace *trace);

/* By begin; what is around comes before what is within. */
ZT__FN int zt__compare_spans(const void *a, const void *b) {
    const zt__span *one = (const zt__span *)a, *other = (const zt__span *)b;
    if (one->begin != other->begin)
        return one->begin < other->begin ? -1 : 1;
    if (one->end != other->end)
        return one->end > other->end ? -1 : 1;
    return one->order > other->order ? -1 : one->order < other->order;
}

ZT__FN void zt__free_trace(const zt_allocator *allocator, zt__trace *trace) {
    zt__free(allocator, trace->spans);
    zt__free(allocator, trace->values);
    zt__free(allocator, trace->tracks);
}

/* Room for all instances. Returns 0 without memory. */
ZT__FN int zt__make_trace(zt__trace *trace, uint32_t capacity) {
    const zt_allocator *allocator = &trace->report->profiler->config.allocator;
    trace->spans = (zt__span *)zt__allocate(allocator, capacity, sizeof *trace->spans);
    trace->values =
        (double *)zt__allocate(allocator, capacity, trace->report->columns * sizeof *trace->values);
    trace->tracks = (zt__track *)zt__allocate(allocator, capacity, sizeof *trace->tracks);
    return trace->spans && trace->values && trace->tracks;
}

/* With the results locked. */
ZT__FN void zt__copy_spans(zt__trace *trace, const zt__timeline *timeline) {
    uint32_t columns = trace->report->columns;
    uint64_t index;
    for (index = zt__oldest(timeline->written, timeline->capacity); index < timeline->written; index++) {
        size_t place = (size_t)(index % timeline->capacity);
        const zt__instance *instance = &timeline->instances[place];
        zt__span *span = &trace->spans[trace->count];
        span->begin = zt__to_count(zt__to_host(&timeline->clock, instance->begin_ns));
        span->end = zt__to_count(zt__to_host(&timeline->clock, instance->end_ns));
        span->order = index;
        span->list = instance->list;
        span->region = instance->region;
        span->values = trace->values + (size_t)trace->count++ * columns;
        memcpy((double *)span->values, timeline->values + place * columns, columns * sizeof(double));
    }
}

/* Whether the span fits on a track: into what is open there, or after it. */
ZT__FN int zt__fits(const zt__trace *trace, zt__track *track, zt__span *span) {
    uint32_t top = track->top;
    while (top != UINT32_MAX && trace->spans[top].end <= span->begin)
        top = trace->spans[top].outer;
    if (top != UINT32_MAX && trace->spans[top].end < span->end)
        return 0;
    span->outer = top;
    return 1;
}

/* The track of a span; a new one where it overlaps what there is. */
ZT__FN uint32_t zt__find_track(zt__trace *trace, uint32_t index) {
    zt__span *span = &trace->spans[index];
    uint32_t i, lanes = 0, number = 0;
    for (i = 0; i < trace->track_count; i++) {
        zt__track *track = &trace->tracks[i];
        if (track->list != span->list)
            continue;
        number = track->list_number;
        lanes++;
        if (zt__fits(trace, track, span))
            break;
    }
    if (i == trace->track_count) {
        zt__track *track = &trace->tracks[trace->track_count++];
        track->list = span->list;
        track->list_number = number ? number : ++trace->list_count;
        track->lane = lanes;
        span->outer = UINT32_MAX;
    }
    trace->tracks[i].top = index;
    return i;
}

/* What every event begins with. */
ZT__FN void zt__begin_event(zt__trace *trace, const char *phase, const char *name, uint32_t track) {
    zt__writer *writer = &trace->report->writer;
    zt__print(writer, "%,\n{\"ph\":\"%s\",\"name\":%j,\"pid\":%u,\"tid\":%u", phase, name, (uint64_t)getpid(),
              (uint64_t)track);
}

/* "GPU_BUSY [percent]", with the group before it where there are several. */
ZT__FN void zt__label(char *out, size_t size, const zt_metric *metric, int several) {
    snprintf(out, size, *metric->units ? "%s%s%s [%s]" : "%s%s%s", several ? metric->group : "",
             several ? "." : "", metric->name, metric->units);
}

enum { ZT__LABEL = ZET_MAX_METRIC_GROUP_NAME + ZET_MAX_METRIC_NAME + ZET_MAX_METRIC_RESULT_UNITS + 8 };

ZT__FN void zt__end_span(zt__trace *trace, const zt__span *span) {
    const zt_profiler *profiler = trace->report->profiler;
    zt__writer *writer = &trace->report->writer;
    char label[ZT__LABEL];
    uint32_t metric;
    zt__print(writer, ",\"ts\":%t,\"dur\":%t,\"cat\":\"region\",\"args\":{\"GPU time [ns]\":%n", span->begin,
              span->end - span->begin, zt__is_nan(span->values[0]) ? 0 : span->values[0]);
    for (metric = 0; metric < profiler->metric_count; metric++) {
        if (zt__is_nan(span->values[metric + 1]))
            continue;
        zt__label(label, sizeof label, &profiler->metrics[metric], profiler->group_count > 1);
        zt__print(writer, ",%j:%n", label, span->values[metric + 1]);
    }
    zt__put(writer, "}}");
}

ZT__FN void zt__write_spans(zt__trace *trace) {
    uint32_t i;
    for (i = 0; i < trace->count; i++) {
        const zt__span *span = &trace->spans[i];
        uint32_t track = zt__find_track(trace, i);
        zt__begin_event(trace, "X", zt__record_at(trace->report->profiler, span->region)->name, track + 1);
        zt__end_span(trace, span);
    }
}

ZT__FN void zt__write_name(zt__trace *trace, const char *what, uint32_t track, const char *name) {
    zt__begin_event(trace, "M", what, track);
    zt__print(&trace->report->writer, ",\"args\":{\"name\":%j}}", name);
}

ZT__FN void zt__write_names(zt__trace *trace) {
    uint32_t i;
    zt__write_name(trace, "process_name", 0, trace->report->profiler->device_name);
    for (i = 0; i < trace->track_count; i++) {
        const zt__track *track = &trace->tracks[i];
        char name[64];
        snprintf(name, sizeof name, track->lane ? "list %u, overlap %u" : "list %u",
                 (unsigned)track->list_number, (unsigned)track->lane);
        zt__write_name(trace, "thread_name", i + 1, name);
    }
}

/* A counter track: a value lasts until the next, so what did not change is not said again. */
ZT__FN void zt__write_counter(zt__trace *trace, const double *rows, uint64_t count, size_t width,
                              uint32_t metric, const char *label) {
    zt__writer *writer = &trace->report->writer;
    const double *last = NULL;
    uint64_t i;
    for (i = 0; i < count; i++) {
        const double *row = rows + i * width;
        double value = row[ZT__ROW_VALUES + metric];
        if (zt__is_nan(value) || (last && value == *last && i + 1 < count))
            continue;
        last = row + ZT__ROW_VALUES + metric;
        zt__begin_event(trace, "C", label, 0);
        zt__print(writer, ",\"ts\":%t,\"args\":{\"value\":%n}}", zt__to_count(row[ZT__ROW_BEGIN]), value);
    }
}

/* The device made a row at the marker, which thus is at its end. */
ZT__FN void zt__write_marks(zt__trace *trace, zt__feed *feed, const double *rows, uint64_t count) {
    uint64_t i;
    for (i = 0; i < count; i++) {
        const double *row = rows + i * zt__row_width(feed);
        const char *name = zt__mark_name(feed, row[ZT__ROW_MARK]);
        if (!name)
            continue;
        zt__begin_event(trace, "i", name, 0);
        zt__print(&trace->report->writer, ",\"ts\":%t,\"s\":\"p\",\"cat\":\"marker\"}",
                  zt__to_count(row[ZT__ROW_END]));
    }
}

/* A copy of the kept rows, oldest first. NULL without memory. */
ZT__FN double *zt__copy_rows(zt__feed *feed, uint64_t *count) {
    size_t width = zt__row_width(feed);
    double *rows = (double *)zt__allocate(&feed->allocator, feed->capacity, width * sizeof *rows);
    uint64_t first, i;
    if (!rows)
        return NULL;
    zt__lock(&feed->lock);
    first = zt__oldest(feed->written, feed->capacity);
    *count = feed->written - first;
    for (i = 0; i < *count; i++)
        memcpy(rows + i * width, zt__row_at(feed, first + i), width * sizeof *rows);
    zt__unlock(&feed->lock);
    return rows;
}

ZT__FN int zt__write_feed(zt__trace *trace, zt__feed *feed, int several) {
    uint64_t count = 0;
    double *rows = zt__copy_rows(feed, &count);
    char label[ZT__LABEL];
    uint32_t metric;
    if (!rows)
        return 0;
    for (metric = 0; metric < feed->group.metric_count; metric++) {
        zt_aggregation aggregation = feed->metrics[metric].aggregation;
        if (aggregation == ZT_AGGREGATE_FLAG || aggregation == ZT_AGGREGATE_NONE)
            continue;
        zt__label(label, sizeof label, &feed->metrics[metric], several);
        zt__write_counter(trace, rows, count, zt__row_width(feed), metric, label);
    }
    zt__write_marks(trace, feed, rows, count);
    zt__free(&feed->allocator, rows);
    return 1;
}

/* Returns 0 without memory. */
ZT__FN int zt__write_feeds(zt__trace *trace) {
    zt_profiler *profiler = zt__mutable(trace->report->profiler);
    zt__feed *feed, *first;
    int written = 1;
    zt__lock(&profiler->results); /* feeds are added at the end, and stay */
    first = profiler->feeds;
    zt__unlock_results(profiler);
    for (feed = first; feed && written; feed = feed->next)
        written = zt__write_feed(trace, feed, first->next != NULL);
    return written;
}

/* Without a timeline it is valid, and empty. Returns 0 without memory. */
ZT__FN int zt__write_trace(zt__report *report) {
    zt_profiler *profiler = zt__mutable(report->profiler);
    int complete = 1;
    zt__trace trace;
    memset(&trace, 0, sizeof trace);
    trace.report = report;
    zt__relate_clocks(profiler, 1);
    if (profiler->timeline && zt__make_trace(&trace, profiler->timeline->capacity)) {
        zt__lock(&profiler->results);
        zt__copy_spans(&trace, profiler->timeline);
        zt__unlock_results(profiler);
        qsort(trace.spans, trace.count, sizeof *trace.spans, zt__compare_spans);
    } else {
        complete = !profiler->timeline;
    }
    zt__put(&report->writer, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"zetools\":\"" ZETOOLS_VERSION
                             "\",\"clock\":\"CLOCK_MONOTONIC\"},\n\"traceEvents\":[");
    zt__write_spans(&trace);
    complete = zt__write_feeds(&trace) && complete;
    complete = zt__write_host_tracks(&trace) && complete;
    zt__write_names(&trace);
    zt__put(&report->writer, "\n]}\n");
    zt__free_trace(&profiler->config.allocator, &trace);
    return complete;
}

/* ---- calls that a tracer timed --------------------------------------------------------------------------- */

#ifdef ZETOOLS_TRACER

/* How many calls a report shows. A tracer of several profilers has them in the report of the first. */
ZT__FN uint32_t zt__calls_to_show(const zt_profiler *profiler) {
    uint32_t i, count = profiler->tracer ? zt__load(&profiler->tracer->target_count) : 0;
    for (i = 0; i < count; i++)
        if (profiler->tracer->targets[i].profiler)
            return profiler->tracer->targets[i].profiler == profiler ? zt_get_call_count(profiler) : 0;
    return 0;
}

/* A copy of the kept calls, oldest first. NULL without memory. */
ZT__FN zt__host_span *zt__copy_host_spans(zt__tracer *tracer, uint64_t *count) {
    zt__host_span *spans =
        (zt__host_span *)zt__allocate(&tracer->allocator, tracer->span_capacity, sizeof *spans);
    uint64_t first, i;
    if (!spans)
        return NULL;
    zt__lock(&tracer->lock);
    first = zt__oldest(tracer->span_count, tracer->span_capacity);
    *count = tracer->span_count - first;
    for (i = 0; i < *count; i++)
        spans[i] = tracer->spans[(first + i) % tracer->span_capacity];
    zt__unlock(&tracer->lock);
    return spans;
}

/* A track for each thread, after those of the lists. Calls of one thread do not nest, and are kept in order.
   Returns 0 without memory. */
ZT__FN int zt__write_host_tracks(zt__trace *trace) {
    const zt_profiler *profiler = trace->report->profiler;
    zt__tracer *tracer = zt__calls_to_show(profiler) ? profiler->tracer : NULL;
    zt__writer *writer = &trace->report->writer;
    zt__host_span *spans;
    uint64_t i, count = 0;
    uint32_t thread, threads = 0;
    if (!tracer || !tracer->spans)
        return 1;
    spans = zt__copy_host_spans(tracer, &count);
    for (i = 0; spans && i < count; i++) {
        zt__begin_event(trace, "X", zt__call_name(spans[i].call), trace->track_count + spans[i].thread);
        zt__print(writer, ",\"ts\":%t,\"dur\":%t,\"cat\":\"call\"}", spans[i].begin_ns, spans[i].duration_ns);
        if (spans[i].thread > threads)
            threads = spans[i].thread;
    }
    for (thread = 1; thread <= threads; thread++) {
        char name[64];
        snprintf(name, sizeof name, "host thread %u", (unsigned)thread);
        zt__write_name(trace, "thread_name", trace->track_count + thread, name);
    }
    zt__free(&tracer->allocator, spans);
    return spans != NULL;
}

/* Two lines for each: host time, and errors as a plain sum. */
ZT__FN void zt__write_csv_calls(zt__report *report) {
    zt__writer *writer = &report->writer;
    uint32_t i, count = zt__calls_to_show(report->profiler);
    for (i = 0; i < count; i++) {
        zt_call_info info = zt__call_stats(report->profiler->tracer, i);
        zt_stats errors;
        zt__clear_stats(&errors);
        errors.sum = (double)info.errors;
        zt__print(writer, "%c,\"host time\",\"\",\"host\",\"ns\",duration,sum,%u", info.name, info.count);
        zt__put_stats(writer, &info.time_ns, 0);
        zt__print(writer, ",all,all,no\n%c,\"errors\",\"\",\"host\",\"calls\",event,sum,%u", info.name,
                  info.count);
        zt__put_stats(writer, &errors, 0);
        zt__put(writer, ",all,all,no\n");
    }
}

ZT__FN void zt__write_json_calls(zt__report *report) {
    zt__writer *writer = &report->writer;
    uint32_t i, count = zt__calls_to_show(report->profiler);
    zt__put(writer, ",\n\"calls\":[");
    for (i = 0; i < count; i++) {
        zt_call_info info = zt__call_stats(report->profiler->tracer, i);
        zt__print(writer, "%,\n{\"name\":%j,\"count\":%u,\"errors\":%u,\"time_ns\":", info.name, info.count,
                  info.errors);
        zt__put_json_stats(writer, &info.time_ns);
        zt__put(writer, "}");
    }
    zt__put(writer, "]");
}

ZT__FN void zt__write_table_of_calls(zt__report *report) {
    static const char *const heads[] = {"count", "errors", "total us", "median us", "p95 us", "max us"};
    zt__writer *writer = &report->writer;
    uint32_t i, c, count = zt__calls_to_show(report->profiler);
    if (!count)
        return;
    zt__put(writer, "\nHost time of calls\n");
    zt__put_name(writer, "call", ZT__CALL_WIDTH);
    for (c = 0; c < ZT__COUNT_OF(heads); c++) {
        zt__put(writer, "  ");
        zt__put_right(writer, heads[c], ZT__CELL);
    }
    zt__put(writer, "\n");
    zt__put_repeated(writer, '-', ZT__CALL_WIDTH + ZT__COUNT_OF(heads) * (ZT__CELL + 2));
    zt__put(writer, "\n");
    for (i = 0; i < count; i++) {
        zt_call_info info = zt__call_stats(report->profiler->tracer, i);
        double figures[ZT__COUNT_OF(heads)];
        figures[0] = (double)info.count;
        figures[1] = (double)info.errors;
        figures[2] = info.time_ns.sum / 1000;
        figures[3] = info.time_ns.median / 1000;
        figures[4] = info.time_ns.p95 / 1000;
        figures[5] = info.time_ns.max / 1000;
        zt__put_name(writer, info.name, ZT__CALL_WIDTH);
        for (c = 0; c < ZT__COUNT_OF(heads); c++) {
            char cell[32];
            zt__format_cell(cell, sizeof cell, figures[c]);
            if (c < 2)
                snprintf(cell, sizeof cell, "%.0f", figures[c]);
            zt__put(writer, "  ");
            zt__put_right(writer, cell, ZT__CELL);
        }
        zt__put(writer, "\n");
    }
}

#else

ZT__FN int zt__write_host_tracks(zt__trace *trace) {
    (void)trace;
    return 1;
}

ZT__FN void zt__write_csv_calls(zt__report *report) {
    (void)report;
}

ZT__FN void zt__write_json_calls(zt__report *report) {
    (void)report;
}

ZT__FN void zt__write_table_of_calls(zt__report *report) {
    (void)report;
}

#endif

/* The format of a file, by the end of its name. Where two fit, the later one is longer. */
ZT__FN zt_format zt__format_of(const char *path) {
    static const struct {
        char suffix[12];
        zt_format format;
    } formats[] = {{".csv", ZT_FORMAT_CSV}, {".json", ZT_FORMAT_JSON}, {".trace.json", ZT_FORMAT_TRACE}};
    zt_format format = ZT_FORMAT_TABLE;
    size_t length = strlen(path), i;
    for (i = 0; i < ZT__COUNT_OF(formats); i++) {
        size_t tail = strlen(formats[i].suffix);
        if (length >= tail && strcmp(path + length - tail, formats[i].suffix) == 0)
            format = formats[i].format;
    }
    return format;
}

ZT__FN ze_result_t zt__cannot_write(zt_profiler *profiler, const char *path) {
    return zt__fail(&profiler->diagnostics, ZE_RESULT_ERROR_UNKNOWN, ZT__CANNOT_WRITE, path, strerror(errno));
}

/* Whether a path is a pipe, a terminal or a device: such are written to, and not replaced by a file. */
ZT__FN int zt__is_special(const char *path) {
    struct stat target;
    return stat(path, &target) == 0 && !S_ISREG(target.st_mode) && !S_ISDIR(target.st_mode);
}

/* Writes a file under another name beside the target, and renames it; or the target itself, if `beside` is
   it. */
ZT__FN ze_result_t zt__write_beside(zt_profiler *profiler, const char *path, const char *beside) {
    FILE *file = fopen(beside, "wb");
    int renamed = beside != path;
    ze_result_t result;
    if (!file)
        return zt__cannot_write(profiler, path);
    errno = 0;
    result = zt_write(profiler, zt__format_of(path), zt__write_file, file);
    if ((fclose(file) != 0 || result == ZE_RESULT_ERROR_UNKNOWN || (renamed && rename(beside, path) != 0)) &&
        (result == ZE_RESULT_SUCCESS || result == ZE_RESULT_ERROR_UNKNOWN))
        result = zt__cannot_write(profiler, path);
    if (result != ZE_RESULT_SUCCESS && renamed)
        remove(beside);
    return result;
}

/* ==== >>public ============================================================================================ */

/* Live profilers, so that a region that outlives its profiler is recognised. An identifier is an index into
   this table in its low byte, and a serial number. */
ZT__PROCESS_WIDE zt_profiler *zt__live_1[ZT__MAX_PROFILERS];
ZT__PROCESS_WIDE uint32_t zt__serial_1;

ZT__FN int zt__enlist(zt_profiler *profiler) {
    uint32_t i;
    zt__lock(&zt__process_lock_1);
    for (i = 0; i < ZT__MAX_PROFILERS && zt__load(&zt__live_1[i]); i++)
        ;
    if (i < ZT__MAX_PROFILERS) {
        profiler->id = ++zt__serial_1 << 8 | i;
        zt__store(&zt__live_1[i], profiler);
    }
    zt__unlock(&zt__process_lock_1);
    return i < ZT__MAX_PROFILERS;
}

ZT__FN void zt__delist(const zt_profiler *profiler) {
    zt__lock(&zt__process_lock_1);
    if (profiler->id)
        zt__store(&zt__live_1[profiler->id % ZT__MAX_PROFILERS], (zt_profiler *)NULL);
    zt__unlock(&zt__process_lock_1);
}

ZT__HOT zt_profiler *zt__profiler_of(const zt_region *region) {
    zt_profiler *profiler = zt__load(&zt__live_1[region->profiler % ZT__MAX_PROFILERS]);
    return profiler && profiler->id == region->profiler ? profiler : NULL;
}

/* Of calls that work without a profiler too. */
ZT__FN zt__diagnostics *zt__diagnostics_of(const zt_profiler *profiler) {
    return profiler ? &zt__mutable(profiler)->diagnostics : NULL;
}

/* What a call returns that was given no profiler, or no `what` beside it. */
ZT__FN ze_result_t zt__say_missing(const zt_profiler *profiler, const char *call, const char *what) {
    return profiler ? zt__fail_null(zt__diagnostics_of(profiler), call, what) : ZE_RESULT_SUCCESS;
}

ZT__FN const zt_allocator *zt__allocator_of(const zt_profiler *profiler) {
    return profiler ? &profiler->config.allocator : &zt__default_allocator;
}

ZT_API const char *zt_version(void) {
    return ZETOOLS_VERSION;
}

/* A field that is zero is given its default. */
ZT__FN void zt__fill_config(zt_config *config) {
    if (!config->slots_per_step)
        config->slots_per_step = 256;
    if (!config->max_slots)
        config->max_slots = 16384;
    if (!config->samples)
        config->samples = 512;
    if (!config->max_passes)
        config->max_passes = 1;
    if (!(config->pass_tolerance > 0))
        config->pass_tolerance = 0.1;
    if (!config->wait_timeout_ns)
        config->wait_timeout_ns = 1000000000u;
}

ZT_API zt_config zt_config_default(void) {
    zt_config config;
    memset(&config, 0, sizeof config);
    zt__fill_config(&config);
    return config;
}

/* ---- opening --------------------------------------------------------------------------------------------- */

ZT__FN void zt__complete_config(zt_config *config, const zt_config *given) {
    const char *groups = getenv("ZT_GROUPS"), *columns = getenv("ZT_COLUMNS"),
               *metrics = getenv("ZT_METRICS");
    memset(config, 0, sizeof *config);
    if (given)
        *config = *given;
    zt__fill_config(config);
    if (groups || metrics) {
        config->groups = groups;
        config->metrics = metrics;
    }
    if (columns)
        config->columns = columns;
    if (config->samples > ZT__MAX_SAMPLES)
        config->samples = ZT__MAX_SAMPLES;
    if (config->deferred_thread && !config->deferred)
        config->deferred = ZT__DEFERRED;
    if (!config->allocator.allocate)
        config->allocator = zt__default_allocator;
}

ZT__FN ze_result_t zt__get_device_properties(ze_device_handle_t device, ze_device_properties_t *properties) {
    ze_result_t result;
    memset(properties, 0, sizeof *properties);
    properties->stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2; /* resolution in cycles a second */
    zt__inside_1++;
    result = zeDeviceGetProperties(device, properties);
    zt__inside_1--;
    return result;
}

ZT__FN double zt__ns_per_tick(uint64_t ticks_per_second) {
    return ticks_per_second ? 1e9 / zt__to_double(ticks_per_second) : 1.0;
}

ZT__FN uint64_t zt__tick_mask(uint32_t valid_bits) {
    return valid_bits - 1 < 63 ? ((uint64_t)1 << valid_bits) - 1 : UINT64_MAX;
}

#ifdef ZETOOLS_TRACER
ZT__FN void zt__destroy_tracer(struct zt__tracer *tracer);
#endif

/* Name, and how the device's time stamps are to be read. */
ZT__FN ze_result_t zt__read_device(zt_profiler *profiler) {
    ze_device_properties_t properties;
    ze_result_t result = zt__get_device_properties(profiler->device, &properties);
    if (result != ZE_RESULT_SUCCESS)
        return zt__check(profiler, result, "zeDeviceGetProperties",
                         "Pass a device of an initialised driver.");
    memcpy(profiler->device_name, properties.name, sizeof profiler->device_name);
    profiler->device_name[sizeof profiler->device_name - 1] = 0;
    profiler->ns_per_tick = zt__ns_per_tick(properties.timerResolution);
    profiler->tick_mask = zt__tick_mask(properties.timestampValidBits);
    return result;
}

/* Where the system says who may use the counters, with the value it says: the driver answers nothing of use.
 */
ZT__FN void zt__find_paranoid_file(char *out, size_t size) {
    static const char *const paths[] = {"/proc/sys/dev/xe/observation_paranoid",
                                        "/proc/sys/dev/i915/perf_stream_paranoid"};
    uint32_t i;
    for (i = 0; i < ZT__COUNT_OF(paths); i++) {
        FILE *file = fopen(paths[i], "r");
        int value = 0;
        if (!file)
            continue;
        if (fscanf(file, "%d", &value) == 1)
            snprintf(out, size, "%s (now %d)", paths[i], value);
        else
            snprintf(out, size, "%s", paths[i]);
        fclose(file);
        return;
    }
    snprintf(out, size, "%s (xe) or %s (i915), whichever there is", paths[0], paths[1]);
}

/* Says why counters cannot be had, and what to do. `denied`: the result stands for a lack of permission, as
   drivers answer INVALID_ARGUMENT to a query pool, and UNKNOWN to a streamer. Without a holder who has the
   counters is looked for. */
ZT__FN zt_availability zt__say_refused(zt__diagnostics *diagnostics, ze_device_handle_t device, int streams,
                                       ze_result_t result, const char *call, int denied,
                                       const zt__holder *holder) {
    const char *name = zt_result_name(result), *detail;
    zt__holder rival;
    zt_availability why = ZT_NOT_SUPPORTED;
    int message = ZT__METRICS_UNAVAILABLE;
    char file[160];
    if (!holder || !holder->text[0]) {
        zt__find_rival(device, streams, &rival);
        holder = &rival;
    }
    detail = holder->text;
    if (denied || result == ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS) {
        zt__find_paranoid_file(file, sizeof file);
        why = ZT_NO_PERMISSION;
        message = ZT__NO_PERMISSION;
        detail = file;
    } else if (zt__is_lost(result)) {
        why = ZT_DEVICE_LOST;
        message = ZT__DEVICE_LOST;
    } else if (result == ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE || result == ZE_RESULT_ERROR_UNINITIALIZED) {
        why = ZT_NOT_ENABLED;
        message = ZT__METRICS_NOT_ENABLED;
        call = name; /* it has no place for the call */
    } else if (result == ZE_RESULT_ERROR_NOT_AVAILABLE || result == ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE) {
        why = ZT_IN_USE;
        message = ZT__COUNTERS_IN_USE;
    }
    zt__say(diagnostics, result, message, call, name, detail); /* of which a message takes what it needs */
    return why;
}

ZT__FN ze_result_t zt__refuse(zt_profiler *profiler, ze_result_t result, const char *call,
                              const zt__holder *holder) {
    int denied = result == ZE_RESULT_ERROR_INVALID_ARGUMENT && strcmp(call, "zetMetricQueryPoolCreate") == 0;
    if (zt__is_lost(result))
        zt__store(&profiler->lost, 1);
    profiler->availability =
        zt__say_refused(&profiler->diagnostics, profiler->device, 0, result, call, denied, holder);
    return result;
}

/* Names of the groups of one sampling type, for a message. */
ZT__FN const char *zt__name_in_array(const void *names, uint32_t index) {
    return ((const char *const *)names)[index];
}

/* Says that there is no such group, with the nearest of that type. */
ZT__FN ze_result_t zt__say_no_group(zt__diagnostics *diagnostics, const zt_allocator *allocator,
                                    const zt__catalog *catalog, const char *wanted,
                                    zet_metric_group_sampling_type_flags_t type, int message) {
    const char **names = (const char **)zt__allocate(allocator, catalog->count, sizeof *names);
    char nearest[ZT__NEAREST];
    uint32_t i, count = 0;
    for (i = 0; names && i < catalog->count; i++)
        if (catalog->properties[i].samplingType & type)
            names[count++] = catalog->properties[i].name;
    zt__nearest(wanted, names, count, zt__name_in_array, nearest);
    zt__free(allocator, (void *)names);
    return zt__fail(diagnostics, ZE_RESULT_ERROR_INVALID_ARGUMENT, message, wanted, nearest);
}

/* Takes one group of the catalog, unless it is taken. Where there can be but one pass, another of its domain
   is refused, for the driver would not. */
ZT__FN ze_result_t zt__take_group(zt_profiler *profiler, const zt__catalog *catalog, uint32_t index) {
    const zet_metric_group_properties_t *properties = &catalog->properties[index];
    uint32_t g;
    for (g = 0; g < profiler->group_count; g++) {
        const zet_metric_group_properties_t *taken = &profiler->groups[g].properties;
        if (profiler->groups[g].handle == catalog->handles[index])
            return ZE_RESULT_SUCCESS;
        if (taken->domain == properties->domain && profiler->config.max_passes == 1) {
            profiler->availability = ZT_GROUPS_CONFLICT;
            return zt__fail(&profiler->diagnostics, ZE_RESULT_ERROR_INVALID_ARGUMENT, ZT__GROUPS_CONFLICT,
                            taken->name, properties->name, properties->domain);
        }
    }
    if (profiler->group_count == ZT__MAX_GROUPS) {
        profiler->availability = ZT_GROUPS_CONFLICT;
        return zt__fail(&profiler->diagnostics, ZE_RESULT_ERROR_INVALID_SIZE, ZT__TOO_MANY_GROUPS,
                        (unsigned)ZT__MAX_GROUPS);
    }
    profiler->groups[profiler->group_count].handle = catalog->handles[index];
    profiler->groups[profiler->group_count].properties = *properties;
    profiler->group_count++;
    return ZE_RESULT_SUCCESS;
}

/* Takes the groups that were asked for, or the default. The catalog has counters. */
ZT__FN ze_result_t zt__choose_groups(zt_profiler *profiler, const zt__catalog *catalog) {
    const zet_metric_group_sampling_type_flags_t type = ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED;
    const char *list = profiler->config.groups, *name;
    ze_result_t result = ZE_RESULT_SUCCESS;
    size_t length;
    uint32_t index;
    if (!list && zt__has_names(profiler->config.metrics))
        return result;
    if (!list) {
        index = zt__find_group(catalog, "ComputeBasic", strlen("ComputeBasic"), type);
        if (index == UINT32_MAX)
            index = zt__find_group(catalog, NULL, 0, type);
        return zt__take_group(profiler, catalog, index);
    }
    while (result == ZE_RESULT_SUCCESS && zt__next_name(&list, &name, &length)) {
        char wanted[ZET_MAX_METRIC_GROUP_NAME];
        index = zt__find_group(catalog, name, length, type);
        if (index != UINT32_MAX) {
            result = zt__take_group(profiler, catalog, index);
            continue;
        }
        zt__copy_name(wanted, sizeof wanted, name, length);
        profiler->availability = ZT_NO_SUCH_GROUP;
        result = zt__say_no_group(&profiler->diagnostics, &profiler->config.allocator, catalog, wanted, type,
                                  ZT__NO_SUCH_GROUP);
    }
    return result;
}

/* ---- metrics by name: the fewest groups that have them --------------------------------------------------- */

/* The event-based groups of a device, and which of the metrics that are wanted each has: a bit a metric. */
typedef struct zt__cover {
    const zt__catalog *catalog;
    zt__group *groups; /* by index of the catalog, with their metrics */
    uint64_t *has;
    uint32_t metric_count; /* of all groups */
    uint32_t count;        /* of the wanted */
    uint32_t most_passes;
    uint32_t steps; /* that the search may still take */
    uint32_t chosen[(int)ZT__MAX_WANTED + (int)ZT__MAX_GROUPS], chosen_count;
} zt__cover;

ZT__FN void zt__close_cover(const zt_allocator *allocator, zt__cover *cover) {
    uint32_t i;
    for (i = 0; cover->groups && i < cover->catalog->count; i++)
        zt__free_group(allocator, &cover->groups[i]);
    zt__free(allocator, cover->groups);
    zt__free(allocator, cover->has);
}

/* Lists the metrics of all event-based groups. */
ZT__FN ze_result_t zt__open_cover(const zt_allocator *allocator, const zt__catalog *catalog, zt__cover *cover,
                                  const char **call) {
    ze_result_t result = ZE_RESULT_SUCCESS;
    uint32_t i;
    memset(cover, 0, sizeof *cover);
    *call = "malloc";
    cover->catalog = catalog;
    cover->groups = (zt__group *)zt__allocate(allocator, catalog->count, sizeof *cover->groups);
    cover->has = (uint64_t *)zt__allocate(allocator, catalog->count, sizeof *cover->has);
    if (!cover->groups || !cover->has)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (i = 0; i < catalog->count && result == ZE_RESULT_SUCCESS; i++) {
        cover->groups[i].handle = catalog->handles[i];
        if (catalog->properties[i].samplingType & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED)
            result = zt__load_metrics(allocator, &cover->groups[i], call);
        cover->metric_count += cover->groups[i].metric_count;
    }
    return result;
}

/* Marks the groups that have a metric. Returns 0 where there is none. */
ZT__FN int zt__want(zt__cover *cover, const char *name, size_t length) {
    uint32_t i, m;
    int found = 0;
    for (i = 0; i < cover->catalog->count; i++)
        for (m = 0; m < cover->groups[i].metric_count; m++) {
            const char *metric = cover->groups[i].metrics[m].name;
            if (strncmp(metric, name, length) != 0 || metric[length])
                continue;
            cover->has[i] |= (uint64_t)1 << cover->count;
            found = 1;
        }
    cover->count += (uint32_t)found;
    return found;
}

/* Whether no domain has more of the chosen groups than there can be passes. */
ZT__FN int zt__cover_fits(const zt__cover *cover) {
    uint32_t i, j;
    for (i = 0; i < cover->chosen_count; i++) {
        uint32_t same = 0;
        for (j = 0; j < cover->chosen_count; j++)
            same += cover->catalog->properties[cover->chosen[j]].domain ==
                    cover->catalog->properties[cover->chosen[i]].domain;
        if (same > cover->most_passes)
            return 0;
    }
    return 1;
}

/* Chooses up to `left` more groups for what is still missing: tries every group that has the first of that.
 */
ZT__FN int zt__choose_cover(zt__cover *cover, uint64_t missing, uint32_t left) {
    uint64_t first = missing & (~missing + 1);
    uint32_t i;
    if (!missing)
        return zt__cover_fits(cover);
    if (!left || !cover->steps)
        return 0;
    cover->steps--;
    for (i = 0; i < cover->catalog->count; i++) {
        if (!(cover->has[i] & first))
            continue;
        cover->chosen[cover->chosen_count++] = i;
        if (zt__choose_cover(cover, missing & ~cover->has[i], left - 1))
            return 1;
        cover->chosen_count--;
    }
    return 0;
}

/* Chooses the fewest groups that have what is missing, beside those that are chosen. */
ZT__FN int zt__choose_fewest(zt__cover *cover, uint64_t missing, uint32_t most_passes) {
    enum { STEPS = 100000 };
    uint32_t left;
    cover->most_passes = most_passes;
    cover->steps = STEPS;
    for (left = 0; left <= cover->count; left++)
        if (zt__choose_cover(cover, missing, left))
            return 1;
    return 0;
}

ZT__FN const char *zt__cover_name(const void *cover, uint32_t index) {
    const zt__group *group = ((const zt__cover *)cover)->groups;
    while (index >= group->metric_count)
        index -= group++->metric_count;
    return group->metrics[index].name;
}

ZT__FN ze_result_t zt__refuse_metric(zt_profiler *profiler, const zt__cover *cover, const char *name,
                                     size_t length) {
    char wanted[ZET_MAX_METRIC_NAME], nearest[ZT__NEAREST];
    zt__copy_name(wanted, sizeof wanted, name, length);
    zt__nearest(wanted, cover, cover->metric_count, zt__cover_name, nearest);
    profiler->availability = ZT_NO_SUCH_METRIC;
    return zt__fail(&profiler->diagnostics, ZE_RESULT_ERROR_INVALID_ARGUMENT, ZT__NO_SUCH_METRIC, "zt_open",
                    wanted, nearest);
}

/* Takes groups for the metrics that are wanted. Where none of the choices fits into the passes, the fewest
   groups are taken all the same, for the message about their conflict. */
ZT__FN ze_result_t zt__take_cover(zt_profiler *profiler, zt__cover *cover) {
    const char *list = profiler->config.metrics, *name;
    uint64_t missing;
    size_t length;
    uint32_t i, g;
    ze_result_t result = ZE_RESULT_SUCCESS;
    while (zt__next_name(&list, &name, &length)) {
        if (cover->count == ZT__MAX_WANTED) {
            profiler->availability = ZT_NO_SUCH_METRIC;
            return zt__fail(&profiler->diagnostics, ZE_RESULT_ERROR_INVALID_SIZE, ZT__TOO_MANY_METRICS,
                            (unsigned)ZT__MAX_WANTED);
        }
        if (!zt__want(cover, name, length))
            return zt__refuse_metric(profiler, cover, name, length);
    }
    missing = cover->count == ZT__MAX_WANTED ? UINT64_MAX : ((uint64_t)1 << cover->count) - 1;
    for (g = 0; g < profiler->group_count; g++)
        for (i = 0; i < cover->catalog->count; i++)
            if (cover->catalog->handles[i] == profiler->groups[g].handle) {
                cover->chosen[cover->chosen_count++] = i;
                missing &= ~cover->has[i];
            }
    if (!zt__choose_fewest(cover, missing, profiler->config.max_passes))
        zt__choose_fewest(cover, missing, UINT32_MAX);
    for (i = 0; i < cover->chosen_count && result == ZE_RESULT_SUCCESS; i++)
        result = zt__take_group(profiler, cover->catalog, cover->chosen[i]);
    return result;
}

ZT__FN ze_result_t zt__choose_for_metrics(zt_profiler *profiler, const zt__catalog *catalog) {
    const zt_allocator *allocator = &profiler->config.allocator;
    zt__cover cover;
    const char *call;
    ze_result_t result = zt__open_cover(allocator, catalog, &cover, &call);
    result = result == ZE_RESULT_SUCCESS ? zt__take_cover(profiler, &cover)
                                         : zt__refuse(profiler, result, call, NULL);
    zt__close_cover(allocator, &cover);
    return result;
}

/* ---- passes: which groups go together -------------------------------------------------------------------- */

/* By domain: the first of each goes into the first pass, the second into the second. */
ZT__FN void zt__plan_by_domain(const zt_profiler *profiler, uint32_t *pass_of) {
    uint32_t together[ZT__MAX_GROUPS] = {0};
    uint32_t g, earlier;
    for (g = 0; g < profiler->group_count; g++) {
        pass_of[g] = 0;
        for (earlier = 0; earlier < g; earlier++)
            if (profiler->groups[earlier].properties.domain == profiler->groups[g].properties.domain &&
                pass_of[earlier] >= pass_of[g])
                pass_of[g] = pass_of[earlier] + 1;
        while (together[pass_of[g]] == ZT__MAX_TOGETHER)
            pass_of[g]++;
        together[pass_of[g]]++;
    }
}

/* As the driver says, which knows more than domains. Returns 0 where it says nothing that can be used. */
ZT__FN int zt__plan_by_driver(const zt_profiler *profiler, uint32_t *pass_of) {
    zet_metric_group_handle_t groups[ZT__MAX_GROUPS];
    uint32_t counts[ZT__MAX_GROUPS] = {0};
    uint32_t g, i, pass, done = 0, count = profiler->group_count, passes = 0;
    for (g = 0; g < count; g++)
        groups[g] = profiler->groups[g].handle;
    if (!profiler->driver.get_concurrent ||
        profiler->driver.get_concurrent(profiler->device, count, groups, NULL, &passes) !=
            ZE_RESULT_SUCCESS ||
        passes > count ||
        profiler->driver.get_concurrent(profiler->device, count, groups, counts, &passes) !=
            ZE_RESULT_SUCCESS)
        return 0;
    for (pass = 0; pass < passes; done += counts[pass++])
        if (counts[pass] > ZT__MAX_TOGETHER || counts[pass] > count - done)
            return 0;
        else
            for (i = done; i < done + counts[pass]; i++)
                for (g = 0; g < count; g++)
                    if (profiler->groups[g].handle == groups[i])
                        pass_of[g] = pass;
    return done == count;
}

/* Puts the groups into the order of their passes, and makes the passes. */
ZT__FN void zt__make_passes(zt_profiler *profiler, const uint32_t *pass_of) {
    zt__group ordered[ZT__MAX_GROUPS];
    uint32_t g, pass, placed = 0;
    for (pass = 0; placed < profiler->group_count; pass++) {
        profiler->passes[pass].groups = &profiler->groups[placed];
        for (g = 0; g < profiler->group_count; g++)
            if (pass_of[g] == pass)
                ordered[placed++] = profiler->groups[g];
        profiler->passes[pass].group_count =
            (uint32_t)(&profiler->groups[placed] - profiler->passes[pass].groups);
    }
    memcpy(profiler->groups, ordered, placed * sizeof *ordered);
    profiler->pass_count = pass;
}

ZT__FN ze_result_t zt__plan_passes(zt_profiler *profiler) {
    uint32_t pass_of[ZT__MAX_GROUPS] = {0};
    uint32_t g, needed = 1, most = ZT__MAX_PASSES;
    if (profiler->group_count > 1 && !zt__plan_by_driver(profiler, pass_of))
        zt__plan_by_domain(profiler, pass_of);
    for (g = 0; g < profiler->group_count; g++)
        if (pass_of[g] >= needed)
            needed = pass_of[g] + 1;
    if (most > profiler->config.max_passes)
        most = profiler->config.max_passes;
    if (needed > most) {
        profiler->availability = ZT_GROUPS_CONFLICT;
        return zt__fail(&profiler->diagnostics, ZE_RESULT_ERROR_INVALID_ARGUMENT, ZT__TOO_MANY_PASSES,
                        (unsigned)needed, (unsigned)most);
    }
    zt__make_passes(profiler, pass_of);
    return ZE_RESULT_SUCCESS;
}

/* Whether a device counts at all. What only samples stalls is typed time-based. */
ZT__FN int zt__has_counters(const zt__catalog *catalog) {
    return zt__find_group(catalog, NULL, 0, ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED) != UINT32_MAX;
}

ZT__FN ze_result_t zt__find_groups(zt_profiler *profiler) {
    zt__catalog catalog;
    const char *call;
    ze_result_t result =
        zt__open_catalog(&profiler->config.allocator, &profiler->driver, profiler->device, &catalog, &call);
    if (result != ZE_RESULT_SUCCESS)
        return zt__refuse(profiler, result, call, NULL);
    if (zt__has_counters(&catalog)) {
        result = zt__choose_groups(profiler, &catalog);
        if (result == ZE_RESULT_SUCCESS && profiler->config.metrics)
            result = zt__choose_for_metrics(profiler, &catalog);
        if (result == ZE_RESULT_SUCCESS)
            result = zt__plan_passes(profiler);
    } else {
        profiler->availability = ZT_LIBRARY_MISSING;
        result = zt__fail(&profiler->diagnostics, ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE,
                          ZT__METRIC_LIBRARY_MISSING, (unsigned)catalog.count);
    }
    zt__close_catalog(&profiler->config.allocator, &catalog);
    return result;
}

/* Remembers a metric that tells of lost instances: on each tile. */
ZT__FN void zt__note_flag(zt_profiler *profiler, const zt__group *group, uint32_t metric, zt_cause cause) {
    uint32_t tile;
    for (tile = 0; cause != ZT_CAUSE_COUNT && tile < group->tiles; tile++) {
        zt__flag *flag = &profiler->flags[profiler->flag_count++];
        flag->column = zt__measured_column(profiler, tile, metric);
        flag->cause = cause;
    }
}

ZT__FN void zt__describe_metric(zt_profiler *profiler, zt__pass *pass, const zt__group *group,
                                uint32_t index) {
    uint32_t metric = group->first_column + index;
    zt_metric *to = &profiler->metrics[metric];
    zt__make_metric(to, group, index);
    to->pass = pass->index;
    if (to->aggregation == ZT_AGGREGATE_FLAG)
        zt__note_flag(profiler, group, metric, zt__cause_of_flag(to->name));
    zt__note_time(pass, to, metric);
}

ZT__FN void zt__describe_pass(zt_profiler *profiler, zt__pass *pass) {
    uint32_t g, i;
    for (g = 0; g < pass->group_count; g++)
        for (i = 0; i < pass->groups[g].metric_count; i++)
            zt__describe_metric(profiler, pass, &pass->groups[g], i);
    profiler->stamped |= pass->time_metric == UINT32_MAX;
}

/* How many tiles stand behind a device, where their values can be told apart. */
ZT__FN uint32_t zt__count_tiles(const zt_profiler *profiler) {
    uint32_t count = 0;
    if (!profiler->driver.calculate_multiple ||
        zeDeviceGetSubDevices(profiler->device, &count, NULL) != ZE_RESULT_SUCCESS)
        return 0;
    return count > 1 && count <= ZT__MAX_TILES ? count : 0;
}

ZT__FN ze_result_t zt__describe_groups(zt_profiler *profiler) {
    const zt_allocator *allocator = &profiler->config.allocator;
    const char *call;
    uint32_t g, pass, tiles = zt__count_tiles(profiler);
    profiler->tile_count = tiles;
    tiles += tiles == 0;
    for (g = 0; g < profiler->group_count; g++) {
        zt__group *group = &profiler->groups[g];
        ze_result_t result = zt__load_metrics(allocator, group, &call);
        if (result != ZE_RESULT_SUCCESS)
            return zt__refuse(profiler, result, call, NULL);
        group->first_column = profiler->metric_count;
        group->tiles = tiles;
        profiler->metric_count += group->metric_count;
    }
    zt__lay_out_columns(profiler);
    profiler->metrics =
        (zt_metric *)zt__allocate(allocator, profiler->metric_count, sizeof *profiler->metrics);
    profiler->flags =
        (zt__flag *)zt__allocate(allocator, (size_t)profiler->metric_count * tiles, sizeof *profiler->flags);
    if (!profiler->metrics || !profiler->flags)
        return zt__refuse(profiler, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "malloc", NULL);
    for (pass = 0; pass < profiler->pass_count; pass++)
        zt__describe_pass(profiler, &profiler->passes[pass]);
    return ZE_RESULT_SUCCESS;
}

/* Activates the groups of the first pass. */
ZT__FN ze_result_t zt__activate_groups(zt_profiler *profiler) {
    zt__holder holder;
    ze_result_t result = zt__activate_pass(profiler, profiler->pass, &holder);
    return result == ZE_RESULT_SUCCESS
               ? result
               : zt__refuse(profiler, result, "zetContextActivateMetricGroups", &holder);
}

/* One pass without groups. */
ZT__FN void zt__reset_passes(zt_profiler *profiler) {
    uint32_t pass;
    memset(profiler->passes, 0, sizeof profiler->passes);
    for (pass = 0; pass < ZT__MAX_PASSES; pass++) {
        profiler->passes[pass].max_slots = profiler->config.max_slots;
        profiler->passes[pass].time_metric = UINT32_MAX;
        profiler->passes[pass].index = pass;
    }
    profiler->pass = profiler->passes;
    profiler->pass_count = 1;
    profiler->tile_count = 0;
    zt__lay_out_columns(profiler);
}

ZT__FN void zt__forget_groups(zt_profiler *profiler) {
    const zt_allocator *allocator = &profiler->config.allocator;
    uint32_t g;
    for (g = 0; g < profiler->group_count; g++)
        zt__free_group(allocator, &profiler->groups[g]);
    zt__free(allocator, profiler->metrics);
    zt__free(allocator, profiler->flags);
    profiler->metrics = NULL;
    profiler->flags = NULL;
    profiler->group_count = profiler->metric_count = profiler->flag_count = 0;
    zt__reset_passes(profiler);
}

/* Whether somebody outside this library measures on the device: activation would take the counters from them,
   so the driver is asked before. Anything but a clear answer is left to what follows. */
ZT__FN ze_result_t zt__ask_in_use(zt_profiler *profiler) {
    static const zet_metric_query_pool_desc_t desc = {ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC, NULL,
                                                      ZET_METRIC_QUERY_POOL_TYPE_PERFORMANCE, 1};
    zet_metric_query_pool_handle_t pool = NULL;
    ze_result_t result = zetMetricQueryPoolCreate(profiler->context, profiler->device,
                                                  profiler->groups[0].handle, &desc, &pool);
    if (result == ZE_RESULT_SUCCESS)
        zetMetricQueryPoolDestroy(pool);
    if (result == ZE_RESULT_ERROR_NOT_AVAILABLE || result == ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE)
        return zt__refuse(profiler, result, "zetMetricQueryPoolCreate", NULL);
    return ZE_RESULT_SUCCESS;
}

/* Finds, describes and activates the groups, and makes the first slots: only their query pools show whether
   metrics may be used at all. On failure there are no groups, and the availability says why. */
ZT__FN ze_result_t zt__open_metrics(zt_profiler *profiler) {
    const char *call;
    ze_result_t result;
    if (profiler->config.groups && !zt__has_names(profiler->config.groups)) {
        profiler->availability = ZT_TIMES_BY_CHOICE; /* nothing went wrong, and nobody is told */
        snprintf(profiler->availability_text.text, sizeof profiler->availability_text.text, "%s",
                 zt__text_of(ZT__TIMES_BY_CHOICE));
        return ZE_RESULT_SUCCESS;
    }
    result = zt__find_groups(profiler);
    if (result == ZE_RESULT_SUCCESS)
        result = zt__describe_groups(profiler);
    if (result == ZE_RESULT_SUCCESS)
        result = zt__ask_in_use(profiler);
    if (result == ZE_RESULT_SUCCESS)
        result = zt__activate_groups(profiler);
    if (result == ZE_RESULT_SUCCESS) {
        profiler->stamped |= profiler->config.timeline != 0;
        result = zt__grow(profiler, &profiler->passes[0], &profiler->lanes[0], &call);
        if (result != ZE_RESULT_SUCCESS) {
            zt__deactivate_pass(profiler, profiler->pass, profiler->pass->group_count);
            zt__refuse(profiler, result, call, NULL);
        }
    }
    if (result != ZE_RESULT_SUCCESS) {
        profiler->availability_text = profiler->diagnostics.last; /* the reason was said last */
        zt__forget_groups(profiler);
    }
    return result;
}

/* Slots for times alone. */
ZT__FN ze_result_t zt__open_times(zt_profiler *profiler) {
    const char *call;
    ze_result_t result;
    profiler->stamped = 1;
    result = zt__grow(profiler, &profiler->passes[0], &profiler->lanes[0], &call);
    return zt__check(profiler, result, call, "No region can be measured on this device.");
}

ZT__FN ze_result_t zt__copy_columns(zt_profiler *profiler) {
    const char *columns = profiler->config.columns ? profiler->config.columns : profiler->config.metrics;
    if (!columns || !*columns)
        return ZE_RESULT_SUCCESS;
    profiler->columns = (char *)zt__allocate(&profiler->config.allocator, strlen(columns) + 1, 1);
    if (!profiler->columns)
        return zt__fail_no_memory(&profiler->diagnostics, "zt_open", "config.columns");
    strcpy(profiler->columns, columns);
    return ZE_RESULT_SUCCESS;
}

/* What the application's lists of names say may not outlive the call that they were given to. */
ZT__FN void zt__forget_names(zt_config *config) {
    config->groups = config->metrics = config->columns = NULL;
}

ZT__FN ze_result_t zt__set_up_inside(zt_profiler *profiler) {
    const zt_allocator *allocator = &profiler->config.allocator;
    zt__batch *batch;
    uint32_t column, columns;
    ze_result_t result = zt__read_device(profiler);
    if (result == ZE_RESULT_SUCCESS)
        result = zt__copy_columns(profiler);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = zt__open_metrics(profiler);
    if (result != ZE_RESULT_SUCCESS && (profiler->config.require_metrics || zt__is_gone(profiler)))
        return result;
    if (profiler->group_count == 0 && profiler->config.require_metrics)
        return zt__fail(&profiler->diagnostics, ZE_RESULT_ERROR_INVALID_ARGUMENT, ZT__TIMES_BY_CHOICE);
    if (profiler->group_count == 0)
        result = zt__open_times(profiler);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    columns = zt__column_count(profiler);
    profiler->by_time = (uint8_t *)zt__allocate(allocator, zt__block_width(profiler), 1);
    for (column = 0; profiler->by_time && column < columns; column++)
        profiler->by_time[column] = zt__column_aggregation(profiler, column) == ZT_AGGREGATE_MEAN;
    profiler->scratch = (double *)zt__allocate(
        allocator, (size_t)profiler->config.samples * profiler->pass_count, sizeof(double));
    batch = zt__take_batch(profiler); /* with one at least, what was measured can be read */
    if (batch)
        zt__give_batch(profiler, batch);
    if (profiler->config.timeline)
        result = zt__open_timeline(profiler);
    if (zt__is_lost(result) ||
        (profiler->by_time && profiler->scratch && batch && result == ZE_RESULT_SUCCESS))
        return result;
    return zt__fail_no_memory(&profiler->diagnostics, "zt_open", "statistics");
}

ZT__FN ze_result_t zt__set_up(zt_profiler *profiler) {
    ze_result_t result;
    zt__inside_1++;
    result = zt__set_up_inside(profiler);
    zt__inside_1--;
    zt__forget_names(&profiler->config);
    return result;
}

ZT__FN void zt__free_records(zt_profiler *profiler) {
    const zt_allocator *allocator = &profiler->config.allocator;
    uint32_t i;
    for (i = 0; i < profiler->record_count; i++) {
        zt__record *record = zt__record_at(profiler, i);
        zt__free(allocator, record->name);
        zt__free(allocator, record->moments);
        zt__free(allocator, record->streamed);
        zt__free(allocator, record->rows);
        zt__free(allocator, record->block);
    }
    for (i = 0; i < ZT__NAME_PAGES; i++)
        zt__free(allocator, profiler->records[i]);
    zt__free(allocator, profiler->names);
}

ZT__FN void zt__free_lists(zt_profiler *profiler) {
    uint32_t i;
    for (i = 0; i < ZT__LIST_BUCKETS; i++)
        while (profiler->lists[i]) {
            zt__list *list = profiler->lists[i];
            profiler->lists[i] = list->next_in_bucket;
            zt__free(&profiler->config.allocator, list);
        }
}

ZT__FN void zt__free_batches(zt_profiler *profiler) {
    const zt_allocator *allocator = &profiler->config.allocator;
    while (profiler->open_batches) {
        zt__batch *batch = profiler->open_batches;
        uint32_t g;
        profiler->open_batches = batch->next;
        for (g = 0; g < ZT__MAX_TOGETHER; g++)
            zt__free(allocator, batch->raw[g]);
        zt__free(allocator, batch);
    }
}

/* Gives back all that it has of the device. Results stay. */
ZT__FN void zt__leave_device(zt_profiler *profiler) {
    uint32_t i;
    zt__inside_1++;
    zt__delist(profiler);
    while (profiler->steps) {
        zt__step *step = profiler->steps;
        profiler->steps = step->next;
        zt__destroy_step(profiler, step);
    }
    for (i = 0; i < ZT__LANES; i++) {
        memset(profiler->lanes[i].free_slots, 0, sizeof profiler->lanes[i].free_slots);
        memset(profiler->lanes[i].free_count, 0, sizeof profiler->lanes[i].free_count);
    }
    zt__deactivate_pass(profiler, profiler->pass, profiler->pass->group_count);
    zt__inside_1--;
}

ZT__FN void zt__destroy(zt_profiler *profiler) {
    zt_allocator allocator = profiler->config.allocator;
    if (!profiler->detached)
        zt__leave_device(profiler);
#ifdef ZETOOLS_TRACER
    if (profiler->tracer)
        zt__destroy_tracer(profiler->tracer);
#endif
    zt__forget_groups(profiler);
    zt__free_records(profiler);
    zt__free_lists(profiler);
    zt__free_batches(profiler);
    zt__free(&allocator, profiler->texts);
    zt__close_timeline(profiler);
    zt__free(&allocator, profiler->columns);
    zt__free(&allocator, profiler->by_time);
    zt__free(&allocator, profiler->scratch);
    pthread_mutex_destroy(&profiler->growing.mutex);
    pthread_mutex_destroy(&profiler->settling.mutex);
    pthread_mutex_destroy(&profiler->results);
    pthread_mutex_destroy(&profiler->diagnostics.lock);
    zt__free(&allocator, profiler);
}

ZT__FN zt_profiler *zt__create(ze_context_handle_t context, ze_device_handle_t device,
                               const zt_config *config) {
    zt_profiler *profiler = (zt_profiler *)zt__allocate(&config->allocator, 1, sizeof *profiler);
    if (!profiler)
        return NULL;
    profiler->context = context;
    profiler->device = device;
    profiler->config = *config;
    profiler->diagnostics.log = config->log;
    profiler->diagnostics.user = config->log_user;
    profiler->random = UINT64_C(0x9E3779B97F4A7C15);
    zt__reset_passes(profiler);
    profiler->idle_last = &profiler->idle_first;
    profiler->active_last = &profiler->active_first;
    profiler->last_full_batch = &profiler->full_batches;
    profiler->batch_limit =
        config->deferred ? ZT__BATCHES + config->deferred / ZT__BATCH : (uint32_t)ZT__SHELVES;
    pthread_mutex_init(&profiler->growing.mutex, NULL);
    pthread_mutex_init(&profiler->settling.mutex, NULL);
    pthread_mutex_init(&profiler->results, NULL);
    pthread_mutex_init(&profiler->diagnostics.lock, NULL);
    zt__load_driver(&profiler->driver);
    return profiler;
}

/* What is wrong with the arguments of a function that opens `what`, which is to be at `out`. */
ZT__FN ze_result_t zt__check_opening(const char *call, const char *what, const void *out,
                                     ze_context_handle_t context, ze_device_handle_t device,
                                     const zt_allocator *given) {
    if (!out)
        return zt__fail_null(NULL, call, what);
    if (!context || !device)
        return zt__fail_no_handle(NULL, call, context ? "device" : "context");
    if (given && !given->allocate != !given->release)
        return zt__fail(NULL, ZE_RESULT_ERROR_INVALID_ARGUMENT, ZT__BAD_ALLOCATOR, call);
    return ZE_RESULT_SUCCESS;
}

/* The last error of what could not be opened, and is destroyed, is one of the thread. */
ZT__FN void zt__keep_error(const zt__diagnostics *diagnostics, ze_result_t result) {
    zt__thread_error = diagnostics->last;
    zt__thread_error.result = result;
}

ZT_API ze_result_t zt_open(ze_context_handle_t context, ze_device_handle_t device, const zt_config *config,
                           zt_profiler **profiler) {
    zt_config complete;
    zt_profiler *opened;
    ze_result_t result;
    if (profiler)
        *profiler = NULL;
    result = zt__check_opening("zt_open", "profiler", profiler, context, device,
                               config ? &config->allocator : NULL);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    zt__complete_config(&complete, config);
    opened = zt__create(context, device, &complete);
    if (!opened)
        result = zt__fail_no_memory(NULL, "zt_open", "the profiler");
    else if (!zt__enlist(opened))
        result = zt__fail(&opened->diagnostics, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, ZT__TOO_MANY_PROFILERS,
                          (unsigned)ZT__MAX_PROFILERS);
    else
        result = zt__set_up(opened);
    if (result == ZE_RESULT_SUCCESS) {
        if (complete.deferred_thread && !zt__start_thread(&opened->settler, zt__settle_when_rung, opened))
            zt__say(&opened->diagnostics, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, ZT__NO_THREAD);
        *profiler = opened;
    } else if (opened) {
        zt__keep_error(&opened->diagnostics, result);
        zt__destroy(opened);
    }
    return result;
}

/* Whether a function that collects has something to do, and may: it may not be called from those that run
   while samples are collected. If not, `result` is what it returns. */
ZT__FN int zt__may_collect(zt_profiler *profiler, const char *call, ze_result_t *result) {
    *result = ZE_RESULT_SUCCESS;
    if (profiler && zt__owns(&profiler->settling))
        *result =
            zt__fail(&profiler->diagnostics, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, ZT__INSIDE_CALLBACK, call);
    return profiler && *result == ZE_RESULT_SUCCESS;
}

/* Collects what a list has left, and unbinds it. Where nobody can tell whether it is immediate, better wait
   in vain than take a query from the device. */
ZT__FN int zt__close_list(zt_profiler *profiler, zt__list *list, uint64_t *deadline) {
    int finished;
    list = zt__claim(profiler, list->handle);
    if (!list)
        return 0;
    if (list->kind == ZT__KIND_UNKNOWN)
        list->kind = ZT__KIND_IMMEDIATE;
    finished = zt__finish(profiler, list, deadline);
    zt__unbind(profiler, list);
    zt__unclaim(profiler, list);
    return finished;
}

/* Collects what is finished, and counts what is not as lost. Returns 0 where a thread still uses the
   profiler. */
ZT__FN int zt__wind_up(zt_profiler *profiler, const char *call) {
    uint64_t deadline = 0;
    int finished = 1;
    uint32_t i;
    zt__list *list;
    zt__drop_all_open(profiler, call);
    for (i = 0; i < ZT__LIST_BUCKETS; i++)
        for (list = profiler->lists[i]; list; list = list->next_in_bucket)
            finished &= zt__close_list(profiler, list, &deadline);
    if (!zt__stop_thread(&profiler->settler)) {
        zt__say(&profiler->diagnostics, ZE_RESULT_NOT_READY, ZT__THREAD_HANGS, call);
        return 0;
    }
    zt__settle(profiler, 1);
    if (!finished)
        zt__say(&profiler->diagnostics, ZE_RESULT_NOT_READY, ZT__NOT_FINISHED, call);
    return 1;
}

ZT_API void zt_close(zt_profiler *profiler) {
    ze_result_t result;
    if (!zt__may_collect(profiler, "zt_close", &result))
        return;
#ifdef ZETOOLS_TRACER
    if (zt_trace_stop(profiler) == ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE)
        return;
#endif
    if (profiler->detached ? zt__stop_thread(&profiler->settler) : zt__wind_up(profiler, "zt_close"))
        zt__destroy(profiler);
}

/* ---- regions --------------------------------------------------------------------------------------------- */

/* Counts an instance that is dropped where it would begin. `record` may be NULL. */
ZT__FN void zt__drop_at_once(zt_profiler *profiler, zt__record *record, zt_cause cause) {
    zt__take(&profiler->state);
    profiler->counts.begun++;
    zt__count_dropped(profiler, record, cause);
    zt__give(&profiler->state);
}

/* A slot for a region that found none in its lane, which this gives up meanwhile. NULL where there is none:
   by `cause`. */
ZT__FN zt__slot *zt__find_slot(zt_profiler *profiler, zt__list *list, uint32_t region, zt_cause *cause) {
    zt__slot *slot = NULL;
    uint32_t tries;
    for (tries = 0; !slot && tries < ZT__TRIES; tries++) {
        int shared;
        zt__give(&list->lane->latch);
        shared = zt__share_free(profiler, list->lane, zt__pass_index(profiler), ZT__BATCH);
        *cause = shared ? ZT_CAUSE_COUNT : zt__make_room(profiler, list);
        zt__take(&list->lane->latch);
        slot = zt__open_slot(profiler, list, region);
        if (*cause != ZT_CAUSE_COUNT)
            break;
        *cause = ZT_DROPPED_NO_SLOT; /* other threads took them all */
    }
    return slot;
}

/* A slot for a new region, or NULL: then the region is counted as dropped, by `cause`. */
ZT__HOT zt__slot *zt__take_slot(zt_profiler *profiler, ze_command_list_handle_t handle, const char *name,
                                zt_cause *cause) {
    zt__list *list = zt__enter_list(profiler, handle);
    zt__slot *slot = NULL;
    uint32_t region = UINT32_MAX;
    *cause = ZT_DROPPED_NO_MEMORY;
    if (list) {
        region = zt__recall(list->lane, name);
        if (region == UINT32_MAX)
            region = zt__learn(profiler, list->lane, name, cause);
        if (zt__is_due(list))
            zt__harvest_due(profiler, list);
        if (region != UINT32_MAX)
            slot = zt__open_slot(profiler, list, region);
        if (!slot && region != UINT32_MAX)
            slot = zt__find_slot(profiler, list, region, cause);
        zt__give(&list->lane->latch);
    }
    if (!slot)
        zt__drop_at_once(profiler, region == UINT32_MAX ? NULL : zt__record_at(profiler, region), *cause);
    return slot;
}

ZT__FN ZT__ONCE void zt__say_dropped(zt_profiler *profiler, const char *name, zt_cause cause) {
    zt__diagnostics *diagnostics = &profiler->diagnostics;
    if (cause == ZT_DROPPED_NO_SLOT)
        zt__say(diagnostics, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, ZT__NO_SLOT, profiler->config.max_slots,
                zt__name_of(name));
    else if (cause == ZT_DROPPED_TOO_MANY_NAMES)
        zt__say(diagnostics, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, ZT__TOO_MANY_NAMES,
                (unsigned)ZT__NAME_PAGE * ZT__NAME_PAGES);
    else
        zt__say_no_memory(diagnostics, "zt_begin", "a region");
}

ZT_API zt_region zt_begin(zt_profiler *profiler, ze_command_list_handle_t list, const char *name) {
    zt_region region = {NULL, 0, 0, 0};
    zt__slot *slot;
    zt_cause cause;
    if (!profiler || !profiler->device) /* or it was unpacked */
        return region;
    if (!list) {
        zt__drop_at_once(profiler, NULL, ZT_DROPPED_APPEND_FAILED);
        zt__say_no_handle(&profiler->diagnostics, "zt_begin", "list");
        return region;
    }
    if (zt__is_gone(profiler)) {
        zt__drop_at_once(profiler, NULL, ZT_DROPPED_DEVICE_LOST);
        return region;
    }
    slot = zt__take_slot(profiler, list, zt__name_of(name), &cause);
    if (!slot) {
        zt__say_dropped(profiler, name, cause);
        return region;
    }
    if (zt__append_begin(profiler, slot) != ZE_RESULT_SUCCESS) {
        zt__drop_unappended(profiler, slot);
        return region;
    }
    region.slot = slot;
    region.generation = zt__load(&slot->generation);
    region.profiler = profiler->id;
    return region;
}

/* The slot of a region that is being ended, and its profiler; NULL where there is nothing to end. */
ZT__HOT zt__slot *zt__claim_slot(zt_region *region, zt_profiler **profiler) {
    zt__slot *slot = (zt__slot *)region->slot;
    if (!slot)
        return NULL;
    region->slot = NULL;
    *profiler = zt__profiler_of(region);
    return *profiler && zt__end_generation(slot, region->generation) ? slot : NULL;
}

/* Ends a region, whose instance is dropped where the command that it measures was `refused`. */
ZT__HOT void zt__end(zt_region *region, int refused) {
    zt_profiler *profiler;
    zt__slot *slot = zt__claim_slot(region, &profiler);
    zt__list *list;
    int alone;
    if (!slot)
        return;
    if (zt__append_end(profiler, slot) != ZE_RESULT_SUCCESS || refused) {
        slot->dead |= refused != 0;
        zt__drop_unappended(profiler, slot);
        return;
    }
    list = slot->list;
    zt__take(&list->lane->latch);
    alone = zt__bind_slot(slot);
    zt__give(&list->lane->latch);
    if (alone)
        zt__queue_list(profiler, list);
}

ZT_API void zt_end(zt_region *region) {
    if (region)
        zt__end(region, 0);
}

/* ---- collecting ------------------------------------------------------------------------------------------ */

/* What is counted, and how many regions are open. */
ZT__FN zt_counts zt__sum_counts(zt_profiler *profiler, uint32_t *open) {
    zt_counts counts;
    uint32_t i;
    *open = 0;
    zt__take_all(profiler);
    counts = profiler->counts;
    for (i = 0; i < ZT__LANES; i++) {
        counts.begun += profiler->lanes[i].begun;
        *open += profiler->lanes[i].open;
    }
    zt__give_all(profiler);
    counts.in_flight = counts.begun - counts.collected - counts.lost - counts.dropped;
    return counts;
}

/* Whether anything is in flight that can still arrive. */
ZT__FN int zt__awaits(zt_profiler *profiler, uint32_t *open) {
    zt_counts counts = zt__sum_counts(profiler, open);
    return counts.in_flight > *open;
}

/* Names a region that is open, for regions that are never ended never arrive. */
ZT__FN ze_result_t zt__say_open(zt_profiler *profiler) {
    const char *name = "";
    zt__step *step;
    uint32_t i;
    zt__take_all(profiler);
    for (step = profiler->steps; step; step = step->next)
        for (i = 0; i < step->count; i++)
            if (zt__load(&step->slots[i].generation) & 1)
                name = zt__record_at(profiler, step->slots[i].region)->name;
    zt__give_all(profiler);
    return zt__fail(&profiler->diagnostics, ZE_RESULT_NOT_READY, ZT__REGION_OPEN, name);
}

ZT_API ze_result_t zt_collect(zt_profiler *profiler, uint64_t timeout_ns) {
    uint64_t pause = 0, deadline;
    uint32_t open = 0;
    int awaits;
    ze_result_t result;
    if (!zt__may_collect(profiler, "zt_collect", &result))
        return result;
    deadline = timeout_ns ? zt__deadline(timeout_ns) : 0;
    do {
        zt__harvest(profiler, timeout_ns != 0);
        if (timeout_ns)
            zt__settle(profiler, 1);
        awaits = timeout_ns && zt__awaits(profiler, &open);
    } while (awaits && zt__pause_until(deadline, &pause));
    if (zt__is_gone(profiler))
        return ZE_RESULT_ERROR_DEVICE_LOST;
    if (!awaits && open)
        return zt__say_open(profiler);
    return awaits ? ZE_RESULT_NOT_READY : ZE_RESULT_SUCCESS;
}

/* Gives back what a list holds that was reset, or is `destroyed`. */
ZT__FN ze_result_t zt__release(zt_profiler *profiler, ze_command_list_handle_t list, int destroyed) {
    uint64_t deadline = 0;
    zt__list *record;
    ze_result_t result;
    if (!zt__may_collect(profiler, "zt_release", &result))
        return result;
    record = zt__claim(profiler, list);
    if (!record)
        return ZE_RESULT_SUCCESS;
    zt__drop_open(profiler, record, "zt_release");
    if (!zt__finish(profiler, record, &deadline))
        result = zt__fail(&profiler->diagnostics, ZE_RESULT_NOT_READY, ZT__NOT_FINISHED, "zt_release");
    zt__unbind(profiler, record);
    zt__unclaim(profiler, record);
    zt__take(&profiler->state);
    zt__retire_list(profiler, record, destroyed);
    zt__give(&profiler->state);
    return result;
}

ZT_API ze_result_t zt_release(zt_profiler *profiler, ze_command_list_handle_t list) {
    if (profiler && !list)
        return zt__fail_no_handle(&profiler->diagnostics, "zt_release", "list");
    /* reset, or destroyed: where its kind can be asked, it is asked again */
    return zt__release(profiler, list, profiler && profiler->driver.is_immediate);
}

/* Who executes a list with zt_execute also says when it is reset. */
ZT__FN void zt__trust(const zt_profiler *profiler, zt__list *list) {
    zt__slot *slot;
    zt__take(&list->lane->latch);
    for (slot = list->first; slot; slot = slot->next)
        slot->sight = zt__load(&profiler->sight);
    zt__give(&list->lane->latch);
}

/* Reads what the lists' last execution left, and marks the next. Two rounds, for a list may be named twice.
 */
ZT__FN ZT__ONCE void zt__before_execution(zt_profiler *profiler, uint32_t count,
                                          const ze_command_list_handle_t *lists, int trusted) {
    uint64_t deadline = 0;
    uint32_t i, overwritten = 0;
    zt__list *list;
    for (i = 0; i < count; i++)
        if ((list = zt__claim(profiler, lists[i])) != NULL) {
            if (trusted)
                zt__trust(profiler, list);
            list->announced = 1;
            if (zt__finish(profiler, list, &deadline))
                zt__make_ready(profiler, list);
            zt__unclaim(profiler, list);
        }
    for (i = 0; i < count; i++)
        if ((list = zt__claim(profiler, lists[i])) != NULL) {
            overwritten += zt__announce(profiler, list);
            zt__unclaim(profiler, list);
        }
    if (overwritten)
        zt__say(&profiler->diagnostics, ZE_RESULT_WARNING_DROPPED_DATA, ZT__OVERWRITTEN);
}

ZT__FN void zt__after_refusal(zt_profiler *profiler, uint32_t count, const ze_command_list_handle_t *lists,
                              ze_result_t refusal) {
    uint32_t i;
    zt__list *list;
    zt__check(profiler, refusal, "zeCommandQueueExecuteCommandLists", "The lists were not executed.");
    for (i = 0; i < count; i++)
        if ((list = zt__claim(profiler, lists[i])) != NULL) {
            zt__retract(list);
            zt__unclaim(profiler, list);
        }
}

/* Whose lists this thread executes with zt_execute at the moment. */
ZT__PROCESS_WIDE __thread const zt_profiler *zt__announced_by_1;

ZT_API ze_result_t zt_execute(zt_profiler *profiler, ze_command_queue_handle_t queue, uint32_t count,
                              ze_command_list_handle_t *lists, ze_fence_handle_t fence) {
    ze_result_t result;
    int announced = profiler && count && lists && !zt__is_gone(profiler) &&
                    zt__may_collect(profiler, "zt_execute", &result);
    if (announced)
        zt__before_execution(profiler, count, lists, zt__load(&profiler->sight) != 0);
    zt__announced_by_1 = announced ? profiler : NULL; /* a tracer need not do it again */
    result = zeCommandQueueExecuteCommandLists(queue, count, lists, fence);
    zt__announced_by_1 = NULL;
    if (announced && result != ZE_RESULT_SUCCESS)
        zt__after_refusal(profiler, count, lists, result);
    return result;
}

/* ---- passes ---------------------------------------------------------------------------------------------- */

ZT_API uint32_t zt_get_pass_count(const zt_profiler *profiler) {
    return profiler ? profiler->pass_count : 1;
}

ZT_API zt_passes zt_passes_begin(zt_profiler *profiler) {
    zt_passes passes = {NULL, 0, 0};
    ze_result_t result;
    if (zt_get_pass_count(profiler) > 1 && !zt__load(&profiler->detached) &&
        zt__may_collect(profiler, "ZT_PASSES", &result))
        passes.profiler = profiler;
    return passes;
}

/* Passes that cannot be entered are left out, but the statement runs at least once. */
ZT_API int zt_passes_next(zt_passes *passes) {
    while (passes->profiler && passes->next < passes->profiler->pass_count)
        if (zt__enter_pass(passes->profiler, passes->next++) == ZE_RESULT_SUCCESS) {
            passes->runs++;
            return 1;
        }
    if (passes->runs++ == 0)
        return 1;
    zt_passes_end(passes);
    return 0;
}

ZT_API void zt_passes_end(zt_passes *passes) {
    zt__enter_pass(passes->profiler, 0);
    passes->profiler = NULL;
}

/* ---- results --------------------------------------------------------------------------------------------- */

ZT_API zt_counts zt_get_counts(const zt_profiler *profiler) {
    zt_counts counts = {0, 0, 0, 0, 0};
    uint32_t open;
    if (!zt__catch_up(profiler))
        return counts;
    return zt__sum_counts(zt__mutable(profiler), &open);
}

ZT_API uint64_t zt_get_cause(const zt_profiler *profiler, zt_cause cause) {
    uint64_t count;
    if (!zt__catch_up(profiler) || (unsigned)cause >= ZT_CAUSE_COUNT)
        return 0;
    zt__take(&zt__mutable(profiler)->state);
    count = profiler->causes[cause];
    zt__give(&zt__mutable(profiler)->state);
    return count;
}

ZT_API uint32_t zt_get_region_count(const zt_profiler *profiler) {
    return profiler ? zt__region_count(profiler) : 0;
}

ZT_API uint32_t zt_get_metric_count(const zt_profiler *profiler) {
    return profiler ? profiler->metric_count : 0;
}

ZT_API const zt_metric *zt_get_metric(const zt_profiler *profiler, uint32_t metric) {
    return profiler && metric < profiler->metric_count ? &profiler->metrics[metric] : NULL;
}

ZT_API uint32_t zt_find_metric(const zt_profiler *profiler, const char *name) {
    char nearest[ZT__NEAREST];
    return profiler && name ? zt__find_metric(&zt__mutable(profiler)->diagnostics, profiler->metrics,
                                              profiler->metric_count, name, "zt_find_metric", nearest)
                            : UINT32_MAX;
}

/* Without a profiler no index is bad. */
ZT__FN ze_result_t zt__bad_index(const zt_profiler *profiler, const char *call, const char *what,
                                 uint32_t index) {
    if (!profiler)
        return ZE_RESULT_SUCCESS;
    return zt__fail(&zt__mutable(profiler)->diagnostics, ZE_RESULT_ERROR_INVALID_ARGUMENT, ZT__BAD_INDEX,
                    call, (unsigned)index, what);
}

/* The record of a region, up to date, from which `call` fills in `what`, which is at `out`. NULL, and what
   the call returns then, where it cannot. */
ZT__FN const zt__record *zt__need_record(const zt_profiler *profiler, const char *call, uint32_t region,
                                         const char *what, const void *out, ze_result_t *result) {
    *result = ZE_RESULT_SUCCESS;
    if (profiler && !out)
        *result = zt__fail_null(&zt__mutable(profiler)->diagnostics, call, what);
    else if (region >= zt_get_region_count(profiler))
        *result = zt__bad_index(profiler, call, "region", region);
    else {
        zt__catch_up(profiler);
        return zt__record_at(profiler, region);
    }
    return NULL;
}

ZT_API ze_result_t zt_get_region(const zt_profiler *profiler, uint32_t region, zt_region_info *info) {
    zt_profiler *locked = zt__mutable(profiler);
    const zt__record *record;
    ze_result_t result;
    if (info) {
        memset(info, 0, sizeof *info);
        info->name = "";
        zt__clear_stats(&info->time_ns);
    }
    record = zt__need_record(profiler, "zt_get_region", region, "info", info, &result);
    if (!record)
        return result;
    zt__take(&locked->state);
    info->name = record->name;
    info->lost = record->lost;
    info->dropped = record->dropped;
    zt__give(&locked->state);
    zt__lock_results(locked);
    info->count = record->seen;
    zt__column_stats(profiler, record, 0, &info->time_ns);
    info->differs = zt__differences(profiler, record);
    zt__unlock_results(locked);
    return result;
}

ZT__FN ze_result_t zt__get_column(const zt_profiler *profiler, const char *call, uint32_t region,
                                  uint32_t column, zt_stats *stats) {
    ze_result_t result;
    const zt__record *record = zt__need_record(profiler, call, region, "stats", stats, &result);
    if (!record)
        return result;
    zt__lock_results(profiler);
    zt__column_stats(profiler, record, column, stats);
    zt__unlock_results(profiler);
    return result;
}

ZT_API ze_result_t zt_get_stats(const zt_profiler *profiler, uint32_t region, uint32_t metric,
                                zt_stats *stats) {
    zt__clear_stats(stats);
    if (!profiler || metric >= profiler->metric_count)
        return zt__bad_index(profiler, "zt_get_stats", "metric", metric);
    return zt__get_column(profiler, "zt_get_stats", region, metric + 1, stats);
}

ZT_API ze_result_t zt_get_pass(const zt_profiler *profiler, uint32_t region, uint32_t pass,
                               zt_stats *time_ns) {
    zt__clear_stats(time_ns);
    if (!profiler || pass >= profiler->pass_count)
        return zt__bad_index(profiler, "zt_get_pass", "pass", pass);
    return zt__get_column(profiler, "zt_get_pass", region, zt__time_column(profiler, pass), time_ns);
}

ZT_API uint32_t zt_get_tile_count(const zt_profiler *profiler) {
    return profiler ? profiler->tile_count : 0;
}

ZT_API ze_result_t zt_get_tile_stats(const zt_profiler *profiler, uint32_t region, uint32_t tile,
                                     uint32_t metric, zt_stats *stats) {
    zt__clear_stats(stats);
    if (!profiler || metric >= profiler->metric_count)
        return zt__bad_index(profiler, "zt_get_tile_stats", "metric", metric);
    if (tile >= profiler->tile_count)
        return zt__bad_index(profiler, "zt_get_tile_stats", "tile", tile);
    return zt__get_column(profiler, "zt_get_tile_stats", region, zt__tile_column(profiler, tile, metric),
                          stats);
}

/* ---- benchmarks ------------------------------------------------------------------------------------------ */

ZT_API double zt_get_rate(const zt_profiler *profiler, uint32_t region, uint32_t metric) {
    zt_stats stats, time;
    const zt_metric *of = zt_get_metric(profiler, metric);
    if (!of || region >= zt__region_count(profiler) ||
        zt_get_stats(profiler, region, metric, &stats) != ZE_RESULT_SUCCESS ||
        zt_get_pass(profiler, region, of->pass, &time) != ZE_RESULT_SUCCESS)
        return zt__nan();
    return of->aggregation == ZT_AGGREGATE_SUM ? stats.sum / time.sum * 1e9 : stats.mean;
}

ZT_API const char *zt_bench_end_name(zt_bench_end end) {
    static const char *const names[] = {"not run", "precise", "noise", "time", "full"};
    return (unsigned)end < ZT__COUNT_OF(names) ? names[end] : "unknown";
}

/* A benchmark while it runs. */
typedef struct zt__bench {
    const char *call;
    const zt_bench_config *config;
    zt_profiler *profiler; /* the application's, or NULL */
    zt_profiler *clean;    /* one that measures times alone, without queries; NULL with config.measure */
    zes_freq_handle_t domain;
    zt__series *series;
} zt__bench;

/* The region whose time is a sample: by name, or the first. UINT32_MAX: there is none. */
ZT__FN uint32_t zt__bench_region(const zt_profiler *profiler, const char *name) {
    uint32_t i, count = zt__region_count(profiler);
    for (i = 0; i < count; i++)
        if (!name || strcmp(zt__record_at(profiler, i)->name, name) == 0)
            return i;
    return UINT32_MAX;
}

/* GPU time of a region so far, and how many instances. */
ZT__FN double zt__time_so_far(const zt_profiler *profiler, const char *name, uint64_t *count) {
    zt_region_info info;
    uint32_t region = zt__bench_region(profiler, name);
    info.time_ns.count = 0;
    if (region != UINT32_MAX)
        zt_get_region(profiler, region, &info);
    *count = info.time_ns.count;
    return *count ? info.time_ns.sum : 0;
}

ZT__FN double zt__say_no_sample(const zt__bench *bench, const char *why) {
    const zt_bench_config *config = bench->config;
    zt__say(zt__diagnostics_of(bench->profiler), ZE_RESULT_NOT_READY, ZT__NO_BENCH_SAMPLE, bench->call,
            config->name     ? config->name
            : config->region ? config->region
                             : "the benchmark",
            why);
    return zt__nan();
}

/* Runs the work once with a profiler. Returns its GPU time, or NaN and says why not. */
ZT__FN double zt__run_once(const zt__bench *bench, zt_profiler *profiler) {
    const char *region = bench->config->region;
    uint64_t count_before, count;
    double before = zt__time_so_far(profiler, region, &count_before), after;
    ze_result_t result;
    if (bench->config->run(profiler, bench->config->user) != 0)
        return zt__say_no_sample(bench, "it failed");
    result = zt_collect(profiler, profiler->config.wait_timeout_ns);
    after = zt__time_so_far(profiler, region, &count);
    if (result != ZE_RESULT_SUCCESS)
        return zt__say_no_sample(bench, zt_result_name(result));
    return count > count_before ? after - before : zt__say_no_sample(bench, "no region was measured");
}

ZT__FN double zt__measure_once(const zt__bench *bench) {
    double sample;
    if (!bench->config->measure)
        return zt__run_once(bench, bench->clean);
    sample = bench->config->measure(bench->config->user);
    return zt__is_below(sample, 0) || zt__is_nan(sample) ? zt__say_no_sample(bench, "it failed") : sample;
}

/* The device's frequency now, or NaN where nobody tells. */
ZT__FN double zt__frequency(const zt__bench *bench) {
    zes_freq_state_t state;
    if (bench->config->frequency)
        return bench->config->frequency(bench->config->user);
    memset(&state, 0, sizeof state);
    state.stype = ZES_STRUCTURE_TYPE_FREQ_STATE;
    if (!bench->domain || bench->profiler->driver.frequency(bench->domain, &state) != ZE_RESULT_SUCCESS)
        return zt__nan();
    return state.actual;
}

/* Takes one sample. A lost instance is tried again, but not for ever. Returns 0 if there is none. */
ZT__FN int zt__sample_once(zt__bench *bench) {
    enum { TRIES = 4 };
    int i;
    for (i = 0; i < TRIES; i++) {
        double sample = zt__measure_once(bench);
        if (zt__is_nan(sample))
            continue;
        zt__add_sample(bench->series, sample, zt__frequency(bench));
        return 1;
    }
    return 0;
}

/* What it takes is not taken from the time of the samples, and yet may last no longer than that. */
ZT__FN void zt__warm_up(const zt__bench *bench, const zt_bench_config *limits) {
    const uint32_t usual = 3;
    uint64_t deadline = zt__bench_deadline(limits);
    uint32_t i, runs = bench->config->warm_up ? bench->config->warm_up : usual;
    for (i = 0; i < runs && (i < usual || zt__now_ns() < deadline); i++)
        zt__measure_once(bench);
}

/* A profiler that measures times alone, on the device of another. */
ZT__FN zt_profiler *zt__open_clean(const zt_profiler *profiler) {
    zt_config config = profiler->config;
    zt_profiler *clean;
    config.groups = "";
    config.metrics = config.columns = NULL;
    config.require_metrics = 0;
    config.sample = NULL;
    config.deferred = config.timeline = 0;
    clean = zt__create(profiler->context, profiler->device, &config);
    if (clean && zt__enlist(clean) && zt__set_up(clean) == ZE_RESULT_SUCCESS)
        return clean;
    if (clean)
        zt__destroy(clean);
    return NULL;
}

/* The first domain of the device whose frequency the system tells. */
ZT__FN void zt__find_frequency(zt__bench *bench) {
    const zt__driver *driver = bench->profiler ? &bench->profiler->driver : NULL;
    uint32_t count = 1;
    if (!driver || !driver->frequencies || !driver->frequency || !bench->profiler->device ||
        driver->frequencies((zes_device_handle_t)bench->profiler->device, &count, &bench->domain) !=
            ZE_RESULT_SUCCESS ||
        count == 0)
        bench->domain = NULL;
}

ZT__FN void zt__close_bench(zt__bench *bench) {
    zt_close(bench->clean);
    zt__free(zt__allocator_of(bench->profiler), bench->series);
}

/* Checks and prepares. On anything but SUCCESS there is nothing to close. */
ZT__FN ze_result_t zt__open_bench(zt__bench *bench, const char *call, zt_profiler *profiler,
                                  const zt_bench_config *config) {
    zt__diagnostics *diagnostics = zt__diagnostics_of(profiler);
    memset(bench, 0, sizeof *bench);
    bench->call = call;
    bench->config = config;
    bench->profiler = profiler;
    if (!config || (!config->run && !config->measure))
        return zt__fail(diagnostics, ZE_RESULT_ERROR_INVALID_NULL_POINTER,
                        config ? ZT__NOTHING_TO_BENCH : ZT__NULL_ARGUMENT, call, "config");
    bench->series = (zt__series *)zt__allocate(zt__allocator_of(profiler), 1, sizeof *bench->series);
    if (!config->measure)
        bench->clean = zt__open_clean(profiler);
    if (!bench->series || (!config->measure && !bench->clean)) {
        zt__close_bench(bench);
        return zt__fail_no_memory(diagnostics, call, "samples");
    }
    zt__find_frequency(bench);
    return ZE_RESULT_SUCCESS;
}

/* Whether there is nothing that could be run: no profiler that has a device. */
ZT__FN int zt__is_inert(const zt_profiler *profiler, const zt_bench_config *config) {
    return (!profiler || zt__load(&profiler->detached)) && config && config->run && !config->measure;
}

/* The runs with counters, apart from timing: each pass of the profiler, several times. */
ZT__FN void zt__count_bench(zt__bench *bench, zt_bench_result *result) {
    uint32_t i, taken = 0, runs = bench->config->counter_runs ? bench->config->counter_runs : 5;
    double *samples = bench->series->samples; /* they are in the result by now */
    if (bench->config->measure || bench->profiler->metric_count == 0)
        return;
    for (i = 0; i < runs; i++) {
        ZT_PASSES(bench->profiler) {
            double sample = zt__run_once(bench, bench->profiler);
            if (!zt__is_nan(sample) && taken < ZT_BENCH_SAMPLES)
                samples[taken++] = sample;
        }
    }
    result->counter_runs = runs;
    result->region = zt__bench_region(bench->profiler, bench->config->region);
    result->counter_median = zt__quantile(samples, taken, 0.5);
    result->perturbation = result->counter_median / result->median;
}

ZT_API ze_result_t zt_bench(zt_profiler *profiler, const zt_bench_config *config, zt_bench_result *result) {
    zt__bench bench;
    zt__rule rule;
    ze_result_t opened;
    int going;
    if (!result)
        return zt__fail_null(zt__diagnostics_of(profiler), "zt_bench", "result");
    zt__clear_result(result, config, "");
    if (zt__is_inert(profiler, config))
        return ZE_RESULT_SUCCESS;
    opened = zt__open_bench(&bench, "zt_bench", profiler, config);
    if (opened != ZE_RESULT_SUCCESS)
        return opened;
    zt__warm_up(&bench, config);
    zt__make_rule(&rule, config);
    do {
        going = zt__sample_once(&bench);
        if (going)
            result->end = zt__enough(&rule, bench.series->sorted, bench.series->count);
    } while (going && result->end == ZT_BENCH_NOT_RUN);
    zt__sum_up(result, bench.series, config->max_change, bench.series->sorted);
    if (going)
        zt__count_bench(&bench, result);
    if (!result->name[0])
        snprintf(result->name, sizeof result->name, "%s",
                 zt_get_region_count(bench.clean) ? zt__record_at(bench.clean, 0)->name : "the benchmark");
    zt__close_bench(&bench);
    return going ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}

/* One sample of each, in this order or the other: what drifts then favours neither. */
ZT__FN int zt__sample_pair(zt__bench *a, zt__bench *b, zt__series *ratios) {
    int turned = ratios->count & 1;
    double ratio;
    if (!zt__sample_once(turned ? b : a) || !zt__sample_once(turned ? a : b))
        return 0;
    ratio = b->series->samples[b->series->count - 1] / a->series->samples[a->series->count - 1];
    zt__add_sample(ratios, zt__is_finite(ratio) ? ratio : 1, zt__nan());
    return 1;
}

/* The ratio of the medians, with an interval from the ratios of the pairs. Where the variants differ in more
   than their scale, the ratio may be outside: the interval is widened to it. */
ZT__FN void zt__compare_series(const zt__series *ratios, zt_comparison *result) {
    result->ratio = result->b.median / result->a.median;
    zt__interval(ratios->sorted, ratios->count, &result->low, &result->high);
    if (zt__is_below(result->ratio, result->low))
        result->low = result->ratio;
    if (zt__is_below(result->high, result->ratio))
        result->high = result->ratio;
    result->differs = result->low > 1 || result->high < 1;
}

ZT__FN ze_result_t zt__compare_open(zt__bench *a, zt__bench *b, zt__series *ratios, zt_comparison *result) {
    zt__rule rule;
    int going;
    zt__warm_up(a, a->config);
    zt__warm_up(b, a->config);
    zt__make_rule(&rule, a->config);
    do {
        going = zt__sample_pair(a, b, ratios);
        if (going)
            result->a.end = result->b.end = zt__enough(&rule, ratios->sorted, ratios->count);
    } while (going && result->a.end == ZT_BENCH_NOT_RUN);
    if (a->series->count > ratios->count)
        a->series->count = ratios->count;
    zt__sum_up(&result->a, a->series, a->config->max_change, a->series->sorted);
    zt__sum_up(&result->b, b->series, b->config->max_change, b->series->sorted);
    if (!going)
        return ZE_RESULT_NOT_READY;
    zt__compare_series(ratios, result);
    return ZE_RESULT_SUCCESS;
}

ZT_API ze_result_t zt_compare(zt_profiler *profiler, const zt_bench_config *a, const zt_bench_config *b,
                              zt_comparison *result) {
    const zt_allocator *allocator = zt__allocator_of(profiler);
    zt__bench one, other;
    zt__series *ratios;
    ze_result_t done;
    if (!result)
        return zt__fail_null(zt__diagnostics_of(profiler), "zt_compare", "result");
    zt__clear_result(&result->a, a, "a");
    zt__clear_result(&result->b, b, "b");
    result->ratio = result->low = result->high = zt__nan();
    result->differs = 0;
    if (zt__is_inert(profiler, a) || zt__is_inert(profiler, b))
        return ZE_RESULT_SUCCESS;
    done = zt__open_bench(&one, "zt_compare", profiler, a);
    if (done != ZE_RESULT_SUCCESS)
        return done;
    done = zt__open_bench(&other, "zt_compare", profiler, b);
    if (done == ZE_RESULT_SUCCESS) {
        ratios = (zt__series *)zt__allocate(allocator, 1, sizeof *ratios);
        done = ratios ? zt__compare_open(&one, &other, ratios, result)
                      : zt__fail_no_memory(zt__diagnostics_of(profiler), "zt_compare", "samples");
        zt__free(allocator, ratios);
        zt__close_bench(&other);
    }
    zt__close_bench(&one);
    return done;
}

/* ---- benchmarks for people ------------------------------------------------------------------------------- */

ZT__FN void zt__put_bench(zt__writer *writer, const zt_bench_result *result) {
    if (!result->count) {
        zt__print(writer, "%s: no sample\n", result->name);
        return;
    }
    zt__print(writer,
              "%s: median %3 us (95%%: %3 to %3, +-%2%%), quartiles %3 and %3, minimum %3\n"
              "    %u samples, %u outliers; ended by: %s\n",
              result->name, result->median / 1e3, result->low / 1e3, result->high / 1e3,
              result->precision * 100, result->quartile1 / 1e3, result->quartile3 / 1e3, result->min / 1e3,
              (uint64_t)result->count, (uint64_t)result->outliers, zt_bench_end_name(result->end));
    if (zt__is_nan(result->frequency_mhz))
        zt__put(writer, "    frequency unknown: set ZES_ENABLE_SYSMAN=1, or config.frequency\n");
    else
        zt__print(writer, "    frequency %0 MHz, %u samples at another\n", result->frequency_mhz,
                  (uint64_t)result->changed);
    if (result->counter_runs)
        zt__print(writer, "    with counters: median %3 us in %u runs a pass, %2 times that without\n",
                  result->counter_median / 1e3, (uint64_t)result->counter_runs, result->perturbation);
}

ZT_API ze_result_t zt_write_bench(const zt_profiler *profiler, const zt_bench_result *result,
                                  zt_write_fn write, void *user) {
    zt__diagnostics *diagnostics = zt__diagnostics_of(profiler);
    zt__writer writer;
    uint32_t i;
    if (!result || !write)
        return zt__fail_null(diagnostics, "zt_write_bench", result ? "write" : "result");
    zt__start_writer(&writer, write, user);
    zt__put_bench(&writer, result);
    for (i = 0; i < zt_get_metric_count(profiler) && result->region != UINT32_MAX; i++) {
        const zt_metric *metric = zt_get_metric(profiler, i);
        double rate = zt_get_rate(profiler, result->region, i);
        char line[256];
        if (zt__is_nan(rate) || !(rate > 0 || rate < 0))
            continue;
        snprintf(line, sizeof line, "    %-56.100s %12.5g%s%.40s%s", metric->name, rate,
                 *metric->units ? " " : "", metric->units,
                 metric->aggregation == ZT_AGGREGATE_SUM ? " a second" : "");
        zt__print(&writer, "%s\n", line);
    }
    return zt__end_writer(&writer, diagnostics, ZE_RESULT_SUCCESS);
}

ZT_API ze_result_t zt_write_comparison(const zt_comparison *result, zt_write_fn write, void *user) {
    zt__writer writer;
    if (!result || !write)
        return zt__fail_null(NULL, "zt_write_comparison", result ? "write" : "result");
    zt__start_writer(&writer, write, user);
    zt__put_bench(&writer, &result->a);
    zt__put_bench(&writer, &result->b);
    if (!zt__is_nan(result->ratio))
        zt__print(&writer, "%s takes %4 times as long as %s (95%%: %4 to %4): %s\n", result->b.name,
                  result->ratio, result->a.name, result->low, result->high,
                  !result->differs    ? "no difference shown"
                  : result->ratio > 1 ? "slower"
                                      : "faster");
    return zt__end_writer(&writer, NULL, ZE_RESULT_SUCCESS);
}

/* ---- merging --------------------------------------------------------------------------------------------- */

ZT_API ze_result_t zt_merge(zt_profiler *into, const zt_profiler *from) {
    const char *mismatch;
    ze_result_t result;
    if (!zt__catch_up(into) || !zt__catch_up(from))
        return ZE_RESULT_SUCCESS;
    if (into == from)
        return zt__fail(&into->diagnostics, ZE_RESULT_ERROR_INVALID_ARGUMENT, ZT__MERGE_SELF);
    mismatch = zt__mismatch(into, from);
    if (mismatch)
        return zt__fail(&into->diagnostics, ZE_RESULT_ERROR_INVALID_ARGUMENT, ZT__LAYOUTS_DIFFER, mismatch);
    result = zt__merge_all(into, zt__mutable(from));
    if (result != ZE_RESULT_SUCCESS)
        zt__say(&into->diagnostics, result, ZT__NO_MEMORY, "zt_merge", "statistics");
    return result;
}

ZT_API ze_result_t zt_pack(const zt_profiler *profiler, void *buffer, size_t *size) {
    zt_profiler *locked = zt__mutable(profiler);
    zt__packer packer = {NULL, 0, ZT__PACK_HEADER};
    if (!profiler && size)
        *size = 0;
    if (!profiler || !size)
        return zt__say_missing(profiler, "zt_pack", "size");
    packer.bytes = (uint8_t *)buffer;
    packer.room = buffer ? *size : 0;
    zt__catch_up(profiler);
    zt__lock_results(locked);
    zt__take(&locked->state);
    zt__pack_all(&packer, profiler);
    zt__give(&locked->state);
    zt__unlock_results(locked);
    *size = packer.used;
    if (!buffer)
        return ZE_RESULT_SUCCESS;
    if (packer.used > packer.room)
        return zt__fail(&locked->diagnostics, ZE_RESULT_ERROR_INVALID_SIZE, ZT__BUFFER_TOO_SMALL,
                        (unsigned long long)packer.room, (unsigned long long)packer.used);
    zt__pack_head(packer.bytes, packer.used);
    return ZE_RESULT_SUCCESS;
}

ZT_API ze_result_t zt_unpack(const void *buffer, size_t size, const zt_config *config,
                             zt_profiler **profiler) {
    zt_config complete;
    zt__unpacker unpacker = {(const uint8_t *)buffer, 0, ZT__PACK_HEADER, 0, NULL};
    zt_profiler *unpacked;
    ze_result_t result;
    if (profiler)
        *profiler = NULL;
    if (!buffer || !profiler)
        return zt__fail_null(NULL, "zt_unpack", buffer ? "profiler" : "buffer");
    result = zt__check_pack((const uint8_t *)buffer, &size);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    zt__complete_config(&complete, config);
    unpacked = zt__create(NULL, NULL, &complete);
    if (unpacked)
        unpacked->texts = (char *)zt__allocate(&complete.allocator, size, 1);
    result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    if (unpacked && unpacked->texts) {
        unpacker.size = size;
        unpacker.texts = unpacked->texts;
        unpacked->detached = 1;
        result = zt__copy_columns(unpacked);
        zt__forget_names(&unpacked->config);
        if (result == ZE_RESULT_SUCCESS)
            result = zt__unpack_all(&unpacker, unpacked);
    }
    if (result == ZE_RESULT_SUCCESS && !unpacker.failed) {
        *profiler = unpacked;
        return result;
    }
    if (unpacked)
        zt__destroy(unpacked);
    return zt__fail(NULL, unpacker.failed ? ZE_RESULT_ERROR_INVALID_ARGUMENT : result,
                    unpacker.failed ? ZT__BAD_PACK : ZT__NO_MEMORY,
                    unpacker.failed ? "the buffer makes no sense" : "zt_unpack", "statistics");
}

/* ---- reporting ------------------------------------------------------------------------------------------- */

ZT__FN ze_result_t zt__write_as(zt__report *report, zt_format format, zt__diagnostics *diagnostics) {
    ze_result_t result = ZE_RESULT_SUCCESS;
    if (format == ZT_FORMAT_CSV)
        zt__write_csv(report);
    else if (format == ZT_FORMAT_JSON)
        zt__write_json(report);
    else if (format == ZT_FORMAT_TABLE)
        zt__write_table(report);
    else if (!zt__write_trace(report))
        result = zt__fail_no_memory(diagnostics, "zt_write", "a trace");
    return zt__end_writer(&report->writer, diagnostics, result);
}

ZT_API ze_result_t zt_write(const zt_profiler *profiler, zt_format format, zt_write_fn write, void *user) {
    const zt_allocator *allocator = zt__allocator_of(profiler);
    zt__diagnostics *diagnostics = zt__diagnostics_of(profiler);
    zt__report *report;
    zt_stats *stats;
    uint32_t columns;
    ze_result_t result;
    if (!profiler || !write)
        return zt__say_missing(profiler, "zt_write", "write");
    if ((unsigned)format > ZT_FORMAT_TRACE)
        return zt__fail(diagnostics, ZE_RESULT_ERROR_INVALID_ENUMERATION, ZT__BAD_FORMAT, (int)format);
    zt__catch_up(profiler); /* figures decide about columns and units */
    report = (zt__report *)zt__allocate(allocator, 1, sizeof *report);
    columns = zt__column_count(profiler);
    stats = (zt_stats *)zt__allocate(allocator, columns, sizeof *stats);
    if (report && stats) {
        report->profiler = profiler;
        report->columns = columns;
        report->stats = stats;
        zt__start_writer(&report->writer, write, user);
        result = zt__write_as(report, format, diagnostics);
    } else {
        result = zt__fail_no_memory(diagnostics, "zt_write", "a report");
    }
    zt__free(allocator, stats);
    zt__free(allocator, report);
    return result;
}

ZT__FN ze_result_t zt__report_to_output(zt_profiler *profiler) {
    ze_result_t result = zt_write(profiler, ZT_FORMAT_TABLE, zt__write_file, stdout);
    return result == ZE_RESULT_SUCCESS && fflush(stdout) != 0 ? zt__cannot_write(profiler, "-") : result;
}

ZT__FN ze_result_t zt__report_to_file(zt_profiler *profiler, const char *path) {
    size_t size = strlen(path) + 64;
    char *beside = (char *)zt__allocate(&profiler->config.allocator, size, 1);
    ze_result_t result;
    if (!beside)
        return zt__fail_no_memory(&profiler->diagnostics, "zt_report", "a path");
    snprintf(beside, size, "%s.%ld.%lx.part", path, (long)getpid(), (unsigned long)zt__thread_id());
    result = zt__write_beside(profiler, path, zt__is_special(path) ? path : beside);
    zt__free(&profiler->config.allocator, beside);
    return result;
}

ZT_API ze_result_t zt_report(const zt_profiler *profiler, const char *path) {
    if (!profiler || !path)
        return zt__say_missing(profiler, "zt_report", "path");
    return strcmp(path, "-") == 0 ? zt__report_to_output(zt__mutable(profiler))
                                  : zt__report_to_file(zt__mutable(profiler), path);
}

ZT_API zt_availability zt_get_availability(const zt_profiler *profiler) {
    if (!profiler)
        return ZT_AVAILABILITY_UNKNOWN;
    return zt__is_gone(profiler) && !profiler->detached ? ZT_DEVICE_LOST : profiler->availability;
}

ZT_API const char *zt_get_availability_text(const zt_profiler *profiler) {
    switch (zt_get_availability(profiler)) {
    case ZT_AVAILABLE:
        return "[AVAILABLE] metrics are measured.";
    case ZT_AVAILABILITY_UNKNOWN:
        return "[NO_PROFILER] there is no profiler: zt_get_last_error(NULL) says why.";
    case ZT_DEVICE_LOST:
        return "[DEVICE_LOST] the device is lost. Open a new profiler when it is back.";
    default:
        return profiler->availability_text.text;
    }
}

/* Without diagnostics: those of the thread. */
ZT__FN const char *zt__last_error(zt__diagnostics *diagnostics) {
    return diagnostics ? diagnostics->last.text : zt__thread_error.text;
}

ZT__FN ze_result_t zt__last_result(zt__diagnostics *diagnostics) {
    ze_result_t result;
    if (!diagnostics)
        return zt__thread_error.result;
    zt__lock(&diagnostics->lock);
    result = diagnostics->last.result;
    zt__unlock(&diagnostics->lock);
    return result;
}

ZT_API const char *zt_get_last_error(const zt_profiler *profiler) {
    return zt__last_error(zt__diagnostics_of(profiler));
}

ZT_API ze_result_t zt_get_last_result(const zt_profiler *profiler) {
    return zt__last_result(zt__diagnostics_of(profiler));
}

/* ---- streams --------------------------------------------------------------------------------------------- */

ZT__FN void zt__fill_stream_config(zt_stream_config *config) {
    if (!config->period_ns)
        config->period_ns = 1000000;
    if (!config->memory_limit)
        config->memory_limit = (size_t)8 << 20;
    if (!config->timeline_rows)
        config->timeline_rows = 16384;
}

ZT_API zt_stream_config zt_stream_config_default(void) {
    zt_stream_config config;
    memset(&config, 0, sizeof config);
    zt__fill_stream_config(&config);
    return config;
}

ZT__FN void zt__complete_stream_config(zt_stream_config *config, const zt_stream_config *given) {
    memset(config, 0, sizeof *config);
    if (given)
        *config = *given;
    zt__fill_stream_config(config);
    if (!config->allocator.allocate)
        config->allocator = zt__default_allocator;
    if (!config->notify_reports)
        config->notify_reports =
            config->period_ns < ZT__SLICE_NS / 1024 ? 1024 : ZT__SLICE_NS / config->period_ns + 1;
}

ZT__FN ze_result_t zt__refuse_stream(zt_stream *stream, ze_result_t result, const char *call, int denied,
                                     const zt__holder *holder) {
    zt__say_refused(&stream->diagnostics, stream->device, 1, result, call, denied, holder);
    return result;
}

ZT__FN ze_result_t zt__stream_without_memory(zt_stream *stream) {
    return zt__fail_no_memory(&stream->diagnostics, "zt_stream_open", "reports and rows");
}

/* The group by name, or the default: ComputeBasic, else the first that is time-based. */
ZT__FN ze_result_t zt__choose_timed_group(zt_stream *stream, const zt__catalog *catalog) {
    const zet_metric_group_sampling_type_flags_t type = ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED;
    const char *name = stream->config.group ? stream->config.group : "ComputeBasic";
    uint32_t index = zt__find_group(catalog, name, strlen(name), type);
    if (index == UINT32_MAX && !stream->config.group)
        index = zt__find_group(catalog, NULL, 0, type);
    if (index != UINT32_MAX) {
        stream->feed->group.handle = catalog->handles[index];
        stream->feed->group.properties = catalog->properties[index];
        stream->info.group = stream->feed->group.properties.name;
        return ZE_RESULT_SUCCESS;
    }
    return zt__say_no_group(&stream->diagnostics, &stream->config.allocator, catalog, name, type,
                            ZT__NO_SUCH_TIMED_GROUP);
}

ZT__FN ze_result_t zt__find_timed_group(zt_stream *stream) {
    zt__catalog catalog;
    const char *call;
    ze_result_t result =
        zt__open_catalog(&stream->config.allocator, &stream->driver, stream->device, &catalog, &call);
    if (result != ZE_RESULT_SUCCESS)
        return zt__refuse_stream(stream, result, call, 0, NULL);
    if (zt__has_counters(&catalog))
        result = zt__choose_timed_group(stream, &catalog);
    else
        result = zt__fail(&stream->diagnostics, ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE,
                          ZT__METRIC_LIBRARY_MISSING, (unsigned)catalog.count);
    zt__close_catalog(&stream->config.allocator, &catalog);
    return result;
}

/* The metrics, and which of them are time stamp, time and marker. */
ZT__FN ze_result_t zt__describe_stream(zt_stream *stream) {
    zt__feed *feed = stream->feed;
    const char *call;
    uint32_t i;
    ze_result_t result = zt__load_metrics(&stream->config.allocator, &feed->group, &call);
    if (result != ZE_RESULT_SUCCESS)
        return zt__refuse_stream(stream, result, call, 0, NULL);
    feed->metrics =
        (zt_metric *)zt__allocate(&stream->config.allocator, feed->group.metric_count, sizeof *feed->metrics);
    if (!feed->metrics)
        return zt__stream_without_memory(stream);
    for (i = 0; i < feed->group.metric_count; i++) {
        zt_metric *metric = &feed->metrics[i];
        int in_ns;
        zt__make_metric(metric, &feed->group, i);
        in_ns = strcmp(metric->units, "ns") == 0;
        if (in_ns && stream->time_metric == UINT32_MAX && metric->type == (int)ZET_METRIC_TYPE_TIMESTAMP)
            stream->time_metric = i;
        if (in_ns && strcmp(metric->name, "GpuTime") == 0)
            stream->length_metric = i;
        if (strcmp(metric->name, "StreamMarker") == 0)
            stream->marker_metric = i;
    }
    return result;
}

/* Shares the memory out: a quarter at most for values, the rest for reports. */
ZT__FN ze_result_t zt__make_room_for_rows(zt_stream *stream) {
    const zt_allocator *allocator = &stream->config.allocator;
    zt__feed *feed = stream->feed;
    size_t limit = stream->config.memory_limit;
    size_t values = feed->group.metric_count * sizeof *stream->values;
    size_t at_once = limit / 4 / values, least = 16 * values + 16384;
    if (limit < least)
        return zt__fail(&stream->diagnostics, ZE_RESULT_ERROR_INVALID_SIZE, ZT__MEMORY_LIMIT,
                        "zt_stream_open", (unsigned long)limit, stream->info.group, (unsigned long)least);
    stream->values_at_once = (uint32_t)(at_once < ZT__ROWS_AT_ONCE ? at_once : (size_t)ZT__ROWS_AT_ONCE);
    stream->ring_size = limit - stream->values_at_once * values;
    stream->info.memory = limit;
    stream->values = (zet_typed_value_t *)zt__allocate(allocator, stream->values_at_once, values);
    stream->ring = (uint8_t *)zt__allocate(allocator, stream->ring_size, 1);
    stream->row = (double *)zt__allocate(allocator, feed->group.metric_count, sizeof *stream->row);
    if (stream->config.profiler) {
        feed->capacity = stream->config.timeline_rows;
        feed->rows =
            (double *)zt__allocate(allocator, feed->capacity, zt__row_width(feed) * sizeof *feed->rows);
    }
    return stream->values && stream->ring && stream->row && (feed->rows || !stream->config.profiler)
               ? ZE_RESULT_SUCCESS
               : zt__stream_without_memory(stream);
}

/* The event by which the device notifies. */
ZT__FN ze_result_t zt__make_notification(zt_stream *stream) {
    static const ze_event_pool_desc_t pool = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, NULL,
                                              ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 1};
    static const ze_event_desc_t event = {ZE_STRUCTURE_TYPE_EVENT_DESC, NULL, 0, ZE_EVENT_SCOPE_FLAG_HOST,
                                          ZE_EVENT_SCOPE_FLAG_HOST};
    const char *call = "zeEventPoolCreate";
    ze_result_t result;
    zt__inside_1++;
    result = zeEventPoolCreate(stream->context, &pool, 1, &stream->device, &stream->events);
    if (result == ZE_RESULT_SUCCESS) {
        call = "zeEventCreate";
        result = zeEventCreate(stream->events, &event, &stream->event);
    }
    zt__inside_1--;
    return zt__check_stream(stream, result, call);
}

ZT__FN ze_result_t zt__activate_stream(zt_stream *stream) {
    zt__holder holder;
    ze_result_t result;
    holder.text[0] = 0;
    result = zt__activate(stream->context, stream->device, stream->feed->group.handle,
                          &stream->feed->group.properties, 1, &holder);
    stream->activated = result == ZE_RESULT_SUCCESS;
    return result == ZE_RESULT_SUCCESS
               ? result
               : zt__refuse_stream(stream, result, "zetContextActivateMetricGroups", 0, &holder);
}

ZT__FN ze_result_t zt__open_streamer(zt_stream *stream) {
    zet_metric_streamer_desc_t streamer;
    ze_result_t result;
    memset(&streamer, 0, sizeof streamer);
    streamer.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC;
    streamer.samplingPeriod = stream->config.period_ns;
    streamer.notifyEveryNReports = stream->config.notify_reports;
    result = zetMetricStreamerOpen(stream->context, stream->device, stream->feed->group.handle, &streamer,
                                   stream->event, &stream->streamer);
    if (result != ZE_RESULT_SUCCESS)
        return zt__refuse_stream(stream, result, "zetMetricStreamerOpen", result == ZE_RESULT_ERROR_UNKNOWN,
                                 NULL);
    stream->info.period_ns = streamer.samplingPeriod ? streamer.samplingPeriod : stream->config.period_ns;
    stream->info.notify_reports = streamer.notifyEveryNReports;
    return result;
}

/* As zet_metric_global_timestamps_resolution_exp_t, which the oldest headers lack. */
typedef struct zt__timestamps_resolution {
    uint32_t stype; /* 9 */
    void *next;
    uint64_t ticks_per_second, valid_bits;
} zt__timestamps_resolution;

/* The clock of the group's metrics; where the driver does not tell about that, the device's own. */
ZT__FN void zt__choose_stream_clock(zt_stream *stream, const ze_device_properties_t *device) {
    zet_metric_group_handle_t group = stream->feed->group.handle;
    uint64_t ticks_per_second = device->timerResolution, valid_bits = device->timestampValidBits;
    zt__timestamps_resolution told;
    zet_metric_group_properties_t properties;
    memset(&told, 0, sizeof told);
    memset(&properties, 0, sizeof properties);
    told.stype = 9;
    properties.stype = ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES;
    properties.pNext = &told;
    if (stream->driver.metric_clock && zetMetricGroupGetProperties(group, &properties) == ZE_RESULT_SUCCESS &&
        told.ticks_per_second) {
        ticks_per_second = told.ticks_per_second;
        valid_bits = told.valid_bits;
    } else {
        group = NULL;
    }
    zt__start_clock(&stream->clock, stream->device, group, zt__ns_per_tick(ticks_per_second),
                    zt__tick_mask((uint32_t)valid_bits));
}

ZT__FN ze_result_t zt__open_stream_clock(zt_stream *stream) {
    ze_device_properties_t properties;
    zt__pair pair;
    ze_result_t result = zt__get_device_properties(stream->device, &properties);
    if (result != ZE_RESULT_SUCCESS)
        return zt__check_stream(stream, result, "zeDeviceGetProperties");
    zt__choose_stream_clock(stream, &properties);
    result = zt__read_clocks(&stream->driver, &stream->clock, &pair);
    if (zt__is_lost(result))
        return zt__check_stream(stream, result, "zeDeviceGetGlobalTimestamps");
    if (result != ZE_RESULT_SUCCESS) { /* then rows are periods from now on */
        stream->time_metric = UINT32_MAX;
        pair.device_ns = 0;
        pair.host_ns = zt__to_double(zt__now_ns());
        pair.error_ns = 0;
    }
    zt__add_pair(&stream->clock, &pair);
    return ZE_RESULT_SUCCESS;
}

ZT__FN ze_result_t zt__set_up_stream(zt_stream *stream) {
    zt_profiler *profiler = stream->config.profiler;
    ze_result_t result;
    if (profiler && !profiler->timeline)
        return zt__fail(&stream->diagnostics, ZE_RESULT_ERROR_INVALID_ARGUMENT, ZT__NO_TIMELINE);
    result = zt__find_timed_group(stream);
    if (result == ZE_RESULT_SUCCESS)
        result = zt__describe_stream(stream);
    if (result == ZE_RESULT_SUCCESS)
        result = zt__make_room_for_rows(stream);
    if (result == ZE_RESULT_SUCCESS)
        result = zt__make_notification(stream);
    if (result == ZE_RESULT_SUCCESS)
        result = zt__activate_stream(stream);
    if (result == ZE_RESULT_SUCCESS)
        result = zt__open_stream_clock(stream);
    if (result == ZE_RESULT_SUCCESS)
        result = zt__open_streamer(stream);
    if (result == ZE_RESULT_SUCCESS)
        result = zt__check_stream(stream, zt__learn_report_size(stream), "zetMetricStreamerReadData");
    if (result == ZE_RESULT_SUCCESS && stream->config.reader)
        result = zt__start_reader(stream);
    if (result == ZE_RESULT_SUCCESS && profiler)
        zt__attach(profiler, stream->feed);
    return result;
}

ZT__FN void zt__destroy_stream(zt_stream *stream) {
    zt_allocator allocator = stream->config.allocator;
    zt__feed *feed = stream->feed;
    if (stream->streamer)
        zt__check_stream(stream, zetMetricStreamerClose(stream->streamer), "zetMetricStreamerClose");
    if (stream->activated)
        zt__check_stream(stream, zt__deactivate(stream->context, stream->device, feed->group.handle),
                         "zetContextActivateMetricGroups");
    zt__inside_1++;
    if (stream->event)
        zeEventDestroy(stream->event);
    if (stream->events)
        zeEventPoolDestroy(stream->events);
    zt__inside_1--;
    zt__free(&allocator, stream->ring);
    zt__free(&allocator, stream->values);
    zt__free(&allocator, stream->row);
    if (feed && feed->profiler)
        zt__complete_feed(feed);
    else if (feed)
        zt__destroy_feed(feed);
    pthread_mutex_destroy(&stream->lock);
    pthread_mutex_destroy(&stream->owned.mutex);
    pthread_mutex_destroy(&stream->diagnostics.lock);
    zt__free(&allocator, stream);
}

ZT__FN zt_stream *zt__create_stream(ze_context_handle_t context, ze_device_handle_t device,
                                    const zt_stream_config *config) {
    zt_stream *stream = (zt_stream *)zt__allocate(&config->allocator, 1, sizeof *stream);
    if (!stream)
        return NULL;
    stream->feed = (zt__feed *)zt__allocate(&config->allocator, 1, sizeof *stream->feed);
    if (!stream->feed) {
        zt__free(&config->allocator, stream);
        return NULL;
    }
    stream->feed->allocator = config->allocator;
    stream->context = context;
    stream->device = device;
    stream->config = *config;
    stream->info.group = "";
    stream->diagnostics.log = config->log;
    stream->diagnostics.user = config->log_user;
    stream->time_metric = stream->length_metric = stream->marker_metric = UINT32_MAX;
    pthread_mutex_init(&stream->feed->lock, NULL);
    pthread_mutex_init(&stream->lock, NULL);
    pthread_mutex_init(&stream->owned.mutex, NULL);
    pthread_mutex_init(&stream->diagnostics.lock, NULL);
    zt__load_driver(&stream->driver);
    return stream;
}

ZT_API ze_result_t zt_stream_open(ze_context_handle_t context, ze_device_handle_t device,
                                  const zt_stream_config *config, zt_stream **stream) {
    zt_stream_config complete;
    zt_stream *opened;
    ze_result_t result;
    if (stream)
        *stream = NULL;
    result = zt__check_opening("zt_stream_open", "stream", stream, context, device,
                               config ? &config->allocator : NULL);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    zt__complete_stream_config(&complete, config);
    opened = zt__create_stream(context, device, &complete);
    result = opened ? zt__set_up_stream(opened) : zt__fail_no_memory(NULL, "zt_stream_open", "the stream");
    if (result == ZE_RESULT_SUCCESS) {
        *stream = opened;
    } else if (opened) {
        zt__keep_error(&opened->diagnostics, result);
        zt__destroy_stream(opened);
    }
    return result;
}

ZT_API ze_result_t zt_stream_read(zt_stream *stream, uint64_t timeout_ns, zt_row_fn function, void *user) {
    zt__receiver receiver = {function, user, 0, 0};
    uint64_t deadline = zt__deadline(timeout_ns);
    ze_result_t result;
    if (!stream)
        return ZE_RESULT_SUCCESS;
    __atomic_add_fetch(&stream->users, 1, __ATOMIC_ACQ_REL);
    result = zt__own_stream(stream, deadline, "zt_stream_read");
    if (result == ZE_RESULT_SUCCESS) {
        result = zt__read_until(stream, &receiver, deadline);
        zt__disown(&stream->owned);
    }
    __atomic_sub_fetch(&stream->users, 1, __ATOMIC_ACQ_REL);
    return result;
}

ZT_API ze_result_t zt_stream_mark(zt_stream *stream, ze_command_list_handle_t list, const char *name) {
    const char *why = "the group has no metric StreamMarker, choose another";
    uint32_t number = 0;
    if (!stream)
        return ZE_RESULT_SUCCESS;
    if (!list)
        return zt__fail_no_handle(&stream->diagnostics, "zt_stream_mark", "list");
    name = zt__name_of(name);
    if (stream->marker_metric != UINT32_MAX) {
        why = "too many names, or no memory; do not put counters into names";
        zt__lock(&stream->feed->lock);
        number = zt__number_mark(stream->feed, name);
        zt__unlock(&stream->feed->lock);
    }
    if (!number)
        return zt__fail(&stream->diagnostics, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, ZT__CANNOT_MARK, name,
                        why);
    return zt__check_stream(stream, zetCommandListAppendMetricStreamerMarker(list, stream->streamer, number),
                            "zetCommandListAppendMetricStreamerMarker");
}

/* Waits for reads on other threads to end. Returns 0 where one does not, or where this thread is in one. */
ZT__FN int zt__end_reads(zt_stream *stream, uint64_t deadline) {
    uint64_t pause = 0;
    zt__store(&stream->closing, 1);
    while (zt__load(&stream->users))
        if (!zt__pause_until(deadline, &pause))
            return 0;
    return 1;
}

ZT__FN zt_stream_counts zt__count_stream(zt_stream *stream) {
    zt_stream_counts counts = {0, 0, 0, 0, 0, 0};
    if (!stream)
        return counts;
    zt__lock(&stream->lock);
    counts = stream->counts;
    counts.waiting = stream->read - stream->taken + (stream->row_count - stream->row_next);
    zt__unlock(&stream->lock);
    return counts;
}

ZT__FN void zt__close_stream(zt_stream *stream, zt__receiver *receiver, uint64_t deadline,
                             zt_stream_counts *counts) {
    if (zt__owns(&stream->owned) || !zt__end_reads(stream, deadline)) {
        zt__say(&stream->diagnostics, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, ZT__STREAM_BUSY,
                "zt_stream_close");
        return;
    }
    if (!zt__stop_thread(&stream->reader)) {
        zt__say(&stream->diagnostics, ZE_RESULT_NOT_READY, ZT__THREAD_HANGS, "zt_stream_close");
        return;
    }
    zt__own(&stream->owned);
    zt__hand_out(stream, receiver, 1);
    *counts = zt__count_stream(stream);
    counts->discarded += counts->waiting; /* the function asked to stop */
    counts->waiting = 0;
    zt__disown(&stream->owned);
    zt__destroy_stream(stream);
}

ZT_API zt_stream_counts zt_stream_close(zt_stream *stream, zt_row_fn function, void *user) {
    zt__receiver receiver = {function, user, 0, 0};
    zt_stream_counts counts = zt__count_stream(stream);
    uint64_t deadline = zt__deadline(10000000000u);
    if (stream)
        zt__close_stream(stream, &receiver, deadline, &counts);
    return counts;
}

ZT_API zt_stream_info zt_stream_get_info(const zt_stream *stream) {
    zt_stream_info info = {"", 0, 0, 0, 0};
    if (!stream)
        return info;
    info = stream->info;
    info.reader_cpu_ns = zt__load(&stream->reader_cpu_ns);
    return info;
}

ZT__FN zt_stream *zt__mutable_stream(const zt_stream *stream) {
    return (zt_stream *)stream;
}

ZT_API zt_stream_counts zt_stream_get_counts(const zt_stream *stream) {
    return zt__count_stream(zt__mutable_stream(stream));
}

ZT_API uint32_t zt_stream_get_metric_count(const zt_stream *stream) {
    return stream ? stream->feed->group.metric_count : 0;
}

ZT_API const zt_metric *zt_stream_get_metric(const zt_stream *stream, uint32_t metric) {
    return stream && metric < stream->feed->group.metric_count ? &stream->feed->metrics[metric] : NULL;
}

ZT_API uint32_t zt_stream_find_metric(const zt_stream *stream, const char *name) {
    char nearest[ZT__NEAREST];
    return stream && name
               ? zt__find_metric(&zt__mutable_stream(stream)->diagnostics, stream->feed->metrics,
                                 stream->feed->group.metric_count, name, "zt_stream_find_metric", nearest)
               : UINT32_MAX;
}

ZT_API const char *zt_stream_get_last_error(const zt_stream *stream) {
    return zt__last_error(stream ? &zt__mutable_stream(stream)->diagnostics : NULL);
}

ZT_API ze_result_t zt_stream_get_last_result(const zt_stream *stream) {
    return zt__last_result(stream ? &zt__mutable_stream(stream)->diagnostics : NULL);
}

/* ---- the timeline ---------------------------------------------------------------------------------------- */

ZT_API uint32_t zt_get_streamed_count(const zt_profiler *profiler) {
    uint32_t count;
    if (!profiler)
        return 0;
    zt__lock(&zt__mutable(profiler)->results);
    count = profiler->streamed_count;
    zt__unlock_results(profiler);
    return count;
}

ZT_API const zt_metric *zt_get_streamed_metric(const zt_profiler *profiler, uint32_t metric) {
    const zt_metric *found = NULL;
    const zt__feed *feed;
    if (!profiler)
        return NULL;
    zt__lock(&zt__mutable(profiler)->results);
    for (feed = profiler->feeds; feed; feed = feed->next)
        if (metric - feed->first < feed->group.metric_count)
            found = &feed->metrics[metric - feed->first];
    zt__unlock_results(profiler);
    return found;
}

ZT_API ze_result_t zt_get_streamed(const zt_profiler *profiler, uint32_t region, uint32_t metric,
                                   zt_streamed *streamed) {
    zt_profiler *locked = zt__mutable(profiler);
    const zt__record *record;
    ze_result_t result;
    if (streamed) {
        streamed->rows = 0;
        streamed->mean = streamed->peak = zt__nan();
    }
    record = zt__need_record(profiler, "zt_get_streamed", region, "streamed", streamed, &result);
    if (!record)
        return result;
    if (metric >= zt_get_streamed_count(profiler))
        return zt__bad_index(profiler, "zt_get_streamed", "streamed", metric);
    zt__lock(&locked->results);
    if (metric < record->streamed_count && record->streamed[metric].count) {
        streamed->rows = record->streamed[metric].count;
        streamed->mean = record->streamed[metric].mean;
        streamed->peak = record->streamed[metric].max;
    }
    zt__unlock_results(locked);
    return result;
}

ZT_API zt_timeline_info zt_get_timeline(const zt_profiler *profiler) {
    zt_timeline_info info = {0, 0, 0, 0, 0};
    zt__feed *feed;
    if (!zt__catch_up(profiler) || !profiler->timeline)
        return info;
    zt__lock(&zt__mutable(profiler)->results);
    info.lost_instances = zt__oldest(profiler->timeline->written, profiler->timeline->capacity);
    info.instances = profiler->timeline->written - info.lost_instances;
    info.pairs = profiler->timeline->clock.count;
    for (feed = profiler->feeds; feed; feed = feed->next) {
        uint64_t oldest;
        zt__lock(&feed->lock);
        oldest = zt__oldest(feed->written, feed->capacity);
        info.lost_rows += oldest;
        info.rows += feed->written - oldest;
        zt__unlock(&feed->lock);
    }
    zt__unlock_results(profiler);
    return info;
}

/* ---- groups for people ----------------------------------------------------------------------------------- */

ZT__FN ze_result_t zt__device_catalog(ze_device_handle_t device, zt__catalog *catalog) {
    const zt_allocator *allocator = &zt__default_allocator;
    zt__driver driver;
    const char *call;
    ze_result_t result;
    zt__load_driver(&driver);
    result = zt__open_catalog(allocator, &driver, device, catalog, &call);
    if (result == ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE)
        zt__say(NULL, result, ZT__METRICS_NOT_ENABLED, zt_result_name(result));
    else if (result != ZE_RESULT_SUCCESS)
        zt__say(NULL, result, ZT__METRICS_UNAVAILABLE, call, zt_result_name(result));
    return result;
}

ZT_API ze_result_t zt_find_group(ze_device_handle_t device, const char *name, uint32_t type,
                                 zt_group *group) {
    const zt_allocator *allocator = &zt__default_allocator;
    zt__catalog catalog;
    ze_result_t result;
    uint32_t index;
    if (group)
        *group = NULL;
    if (!group || !name)
        return zt__fail_null(NULL, "zt_find_group", group ? "name" : "group");
    if (!device)
        return zt__fail_no_handle(NULL, "zt_find_group", "device");
    result = zt__device_catalog(device, &catalog);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    index = zt__find_group(&catalog, name, strlen(name), type);
    if (index != UINT32_MAX)
        *group = catalog.handles[index];
    else
        result = zt__say_no_group(NULL, allocator, &catalog, name, type, ZT__GROUP_NOT_FOUND);
    zt__close_catalog(allocator, &catalog);
    return result;
}

ZT__FN const char *zt__sampling_name(zet_metric_group_sampling_type_flags_t type) {
    if (type & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED)
        return type & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED ? "event+time" : "event";
    return type & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED ? "time" : "other";
}

ZT__FN ze_result_t zt__put_metrics(zt__writer *writer, zet_metric_group_handle_t handle) {
    const zt_allocator *allocator = &zt__default_allocator;
    zt__group group;
    const char *call;
    size_t width = 0; /* of the longest name: names are there to be copied, and not cut off */
    uint32_t i;
    ze_result_t result;
    memset(&group, 0, sizeof group);
    group.handle = handle;
    result = zt__load_metrics(allocator, &group, &call);
    for (i = 0; i < group.metric_count; i++) {
        size_t length = zt__text_width(group.metrics[i].name);
        width = length > width ? length : width;
    }
    for (i = 0; i < group.metric_count && result == ZE_RESULT_SUCCESS; i++) {
        const zet_metric_properties_t *metric = &group.metrics[i];
        zt_aggregation aggregation = zt__aggregation(metric->metricType, metric->resultUnits);
        zt__put_blanks(writer, 4);
        zt__put_name(writer, metric->name, width);
        zt__put_blanks(writer, 1);
        zt__put_name(writer, metric->resultUnits, 10);
        zt__put_blanks(writer, 1);
        zt__put_name(writer, zt__aggregation_names[aggregation], 5);
        zt__put_blanks(writer, 1);
        zt__put_cell(writer, metric->description, strlen(metric->description));
        zt__end_line(writer);
    }
    zt__free_group(allocator, &group);
    if (result != ZE_RESULT_SUCCESS)
        zt__say(NULL, result, ZT__METRICS_UNAVAILABLE, call, zt_result_name(result));
    return result;
}

ZT_API ze_result_t zt_write_groups(ze_device_handle_t device, int metrics, zt_write_fn write, void *user) {
    const zt_allocator *allocator = &zt__default_allocator;
    zt__catalog catalog;
    zt__writer writer;
    uint32_t i;
    ze_result_t result;
    if (!device)
        return zt__fail_no_handle(NULL, "zt_write_groups", "device");
    if (!write)
        return zt__fail_null(NULL, "zt_write_groups", "write");
    result = zt__device_catalog(device, &catalog);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    zt__start_writer(&writer, write, user);
    zt__put(&writer, "domain  sampling    metrics  group\n");
    for (i = 0; i < catalog.count && result == ZE_RESULT_SUCCESS; i++) {
        const zet_metric_group_properties_t *group = &catalog.properties[i];
        char line[64];
        snprintf(line, sizeof line, "%6u  %-10s  %7u  ", (unsigned)group->domain,
                 zt__sampling_name(group->samplingType), (unsigned)group->metricCount);
        zt__print(&writer, "%s%s: %s\n", line, group->name, group->description);
        if (metrics)
            result = zt__put_metrics(&writer, catalog.handles[i]);
    }
    zt__close_catalog(allocator, &catalog);
    return zt__end_writer(&writer, NULL, result);
}

/* ---- tracing --------------------------------------------------------------------------------------------- */

#ifdef ZETOOLS_TRACER

/* What the loader's callbacks come to. A tracer of the loader's cannot be destroyed without waiting, with no
   limit, for whatever calls other threads are in; and one that was disabled cannot be enabled again before.
   So they are never destroyed. After a stop one is disabled for good, which costs some two kilobytes, or
   stays enabled with callbacks that find nobody here, which costs nothing where the layer is off then. */
typedef struct zt__post {
    zel_tracer_handle_t handle; /* NULL: it is free */
    zt__tracer *tracer;         /* NULL: nobody traces. Atomic */
    uint32_t in_progress;       /* calls between prologue and epilogue. Atomic */
    int proven;                 /* a callback came. Atomic */
    uint8_t observed[ZT__CALL_COUNT];
} zt__post;

static zt__post zt__posts[ZT__POSTS];

/* Those that are disabled: kept for tools that look for leaks. */
static zel_tracer_handle_t zt__spent[ZT__SPENT];
static uint32_t zt__spent_count;

/* What a callback keeps from the prologue to the epilogue of a call. Calls that are traced do not nest, so a
   thread needs one for each tracer. */
typedef struct zt__frame {
    zt__post *post; /* NULL: free */
    zt__tracer *tracer;
    uint64_t started;
    zt_region region;
    void *instances[ZT__HOOKS];
} zt__frame;

static __thread zt__frame zt__frames[ZT__FRAMES];
static __thread const zt__post *zt__probing;

/* The address of a parameter of a traced call, and the pointer or handle that is there. What the layer hands
   over is a structure of such addresses, for every call. */
ZT__HOT void *zt__parameter(void *parameters, uint32_t index) {
    void *address;
    memcpy(&address, (char *)parameters + index * sizeof address, sizeof address);
    return address;
}

ZT__HOT void *zt__pointer(void *parameters, uint32_t index) {
    void *pointer;
    memcpy(&pointer, zt__parameter(parameters, index), sizeof pointer);
    return pointer;
}

ZT__HOT void *zt__pointed(void *parameters, uint32_t index) {
    void *pointer;
    memcpy(&pointer, zt__pointer(parameters, index), sizeof pointer);
    return pointer;
}

ZT__HOT uint32_t zt__number_at(void *parameters, uint32_t index) {
    uint32_t number;
    memcpy(&number, zt__parameter(parameters, index), sizeof number);
    return number;
}

/* ---- targets --------------------------------------------------------------------------------------------- */

/* The target of a context and device, or NULL. */
ZT__FN zt__target *zt__find_target(zt__tracer *tracer, ze_context_handle_t context,
                                   ze_device_handle_t device) {
    uint32_t i, count = zt__load(&tracer->target_count);
    for (i = 0; i < count; i++) {
        zt__target *target = &tracer->targets[i];
        if (target->context == context && target->device == device &&
            !(target->profiler && zt__load(&target->profiler->detached)))
            return target;
    }
    return NULL;
}

ZT__FN zt__target *zt__add_target(zt__tracer *tracer, ze_context_handle_t context, ze_device_handle_t device,
                                  zt_profiler *profiler) {
    zt__target *target = &tracer->targets[tracer->target_count];
    target->context = context;
    target->device = device;
    target->profiler = profiler;
    zt__store(&tracer->target_count, tracer->target_count + 1);
    return target;
}

/* The profiler of a context and device; in automatic tracing it is opened when they appear. */
ZT__FN zt_profiler *zt__profiler_for(zt__tracer *tracer, ze_context_handle_t context,
                                     ze_device_handle_t device) {
    zt__target *target = zt__find_target(tracer, context, device);
    if (target || !tracer->automatic)
        return target ? target->profiler : NULL;
    zt__lock(&tracer->opening);
    target = zt__find_target(tracer, context, device);
    if (!target && tracer->target_count < ZT__TARGETS) {
        zt_profiler *profiler;
        zt_open(context, device, tracer->automatic, &profiler);
        if (profiler)
            profiler->tracer = tracer;
        target = zt__add_target(tracer, context, device, profiler);
    }
    zt__unlock(&tracer->opening);
    return target ? target->profiler : NULL;
}

ZT__FN void zt__learn_list(zt__tracer *tracer, ze_command_list_handle_t list, zt_profiler *profiler) {
    zt__lock(&tracer->lock);
    zt__map_put(&tracer->allocator, &tracer->lists, list, profiler ? (void *)profiler : &zt__elsewhere);
    zt__unlock(&tracer->lock);
}

/* Whose a list is that was created before the start. Where the driver cannot tell, it is taken for one of the
   profiler that traces. */
ZT__FN zt_profiler *zt__adopt_list(zt__tracer *tracer, ze_command_list_handle_t list) {
    ze_context_handle_t context = NULL;
    ze_device_handle_t device = NULL;
    zt_profiler *profiler = NULL;
    if (tracer->context_of && tracer->device_of && tracer->context_of(list, &context) == ZE_RESULT_SUCCESS &&
        tracer->device_of(list, &device) == ZE_RESULT_SUCCESS)
        profiler = zt__profiler_for(tracer, context, device);
    else if (zt__load(&tracer->target_count) == 1)
        profiler = tracer->targets[0].profiler;
    zt__learn_list(tracer, list, profiler);
    return profiler;
}

ZT__HOT zt_profiler *zt__profiler_of_list(zt__tracer *tracer, ze_command_list_handle_t list) {
    void *known;
    if (!list)
        return NULL;
    zt__lock(&tracer->lock);
    known = zt__map_get(&tracer->lists, list);
    zt__unlock(&tracer->lock);
    if (!known)
        return zt__adopt_list(tracer, list);
    return known == &zt__elsewhere ? NULL : (zt_profiler *)known;
}

/* Takes everything from the device that a profiler has there, because its context is about to go. */
ZT__FN void zt__detach(zt_profiler *profiler) {
    zt__wind_up(profiler, "zeContextDestroy");
    zt__leave_device(profiler);
    zt__store(&profiler->lost, 1);
    zt__store(&profiler->detached, 1);
}

/* ---- what the calls mean --------------------------------------------------------------------------------- */

/* The title of a launch or copy that is to be measured, or NULL. */
ZT__HOT zt__title *zt__filter_call(zt__tracer *tracer, uint32_t call, void *parameters) {
    switch (zt__role_of(call)) {
    case ZT__LAUNCH:
        return zt__filter_kernel(tracer, (ze_kernel_handle_t)zt__pointer(parameters, 1));
    case ZT__LAUNCH_MANY:
        return zt__filter_launch(
            tracer, zt__title_of_kernels(tracer, zt__number_at(parameters, 1),
                                         (const ze_kernel_handle_t *)zt__pointer(parameters, 2)));
    default:
        return zt__filter_launch(tracer,
                                 zt__need_title(tracer, zt__call_name(call) + strlen("zeCommandListAppend")));
    }
}

ZT__HOT void zt__before_launch(zt__tracer *tracer, zt__frame *frame, uint32_t call, void *parameters) {
    ze_command_list_handle_t list = (ze_command_list_handle_t)zt__pointer(parameters, 0);
    zt__title *title = zt__filter_call(tracer, call, parameters);
    zt_profiler *profiler = title ? zt__profiler_of_list(tracer, list) : NULL;
    if (!title)
        return;
    zt__lock(&tracer->lock);
    tracer->counts.measured += profiler != NULL;
    tracer->counts.elsewhere += !profiler;
    zt__unlock(&tracer->lock);
    if (profiler)
        frame->region = zt_begin(profiler, list, title->name);
}

ZT__FN void zt__after_create(zt__tracer *tracer, void *parameters, zt__kind kind) {
    zt_profiler *profiler = zt__profiler_for(tracer, (ze_context_handle_t)zt__pointer(parameters, 0),
                                             (ze_device_handle_t)zt__pointer(parameters, 1));
    ze_command_list_handle_t list = (ze_command_list_handle_t)zt__pointed(parameters, 3);
    zt__learn_list(tracer, list, profiler);
    if (profiler)
        zt__note_kind(profiler, list, kind);
}

ZT__FN void zt__release_everywhere(zt__tracer *tracer, ze_command_list_handle_t list, int destroyed) {
    uint32_t i, count = zt__load(&tracer->target_count);
    for (i = 0; i < count; i++)
        if (tracer->targets[i].profiler && !zt__load(&tracer->targets[i].profiler->detached))
            zt__release(tracer->targets[i].profiler, list, destroyed);
}

ZT__FN void zt__around_execution(zt__tracer *tracer, void *parameters, int after, ze_result_t result) {
    const ze_command_list_handle_t *lists = (const ze_command_list_handle_t *)zt__pointer(parameters, 2);
    uint32_t i, list_count = zt__number_at(parameters, 1), count = zt__load(&tracer->target_count);
    if (list_count == 0 || !lists)
        return;
    for (i = 0; i < count; i++) {
        zt_profiler *profiler = tracer->targets[i].profiler;
        if (!profiler || profiler == zt__announced_by_1 || zt__is_gone(profiler))
            continue;
        if (!after)
            zt__before_execution(profiler, list_count, lists, 0);
        else if (result != ZE_RESULT_SUCCESS)
            zt__after_refusal(profiler, list_count, lists, result);
    }
}

ZT__FN void zt__before_context_destroy(zt__tracer *tracer, ze_context_handle_t context) {
    uint32_t i, count = zt__load(&tracer->target_count);
    for (i = 0; i < count; i++)
        if (tracer->targets[i].context == context && tracer->targets[i].profiler &&
            !zt__load(&tracer->targets[i].profiler->detached))
            zt__detach(tracer->targets[i].profiler);
}

ZT__FN void zt__forget_handle(zt__tracer *tracer, zt__map *map, const void *handle) {
    zt__lock(&tracer->lock);
    zt__map_remove(map, handle);
    zt__unlock(&tracer->lock);
}

/* The tracer's own part before a call. What is destroyed is forgotten here, while its handle is its own. */
ZT__HOT void zt__act_before(zt__tracer *tracer, zt__frame *frame, uint32_t call, void *parameters) {
    switch (zt__role_of(call)) {
    case ZT__LAUNCH:
    case ZT__LAUNCH_MANY:
        if (!tracer->config.no_launches)
            zt__before_launch(tracer, frame, call, parameters);
        break;
    case ZT__COPY:
        if (tracer->config.copies)
            zt__before_launch(tracer, frame, call, parameters);
        break;
    case ZT__EXECUTE:
        zt__around_execution(tracer, parameters, 0, ZE_RESULT_SUCCESS);
        break;
    case ZT__LIST_DESTROY:
        zt__release_everywhere(tracer, (ze_command_list_handle_t)zt__pointer(parameters, 0), 1);
        zt__forget_handle(tracer, &tracer->lists, zt__pointer(parameters, 0));
        break;
    case ZT__KERNEL_DESTROY:
        zt__forget_handle(tracer, &tracer->kernels, zt__pointer(parameters, 0));
        break;
    case ZT__CONTEXT_DESTROY:
        if (tracer->automatic)
            zt__before_context_destroy(tracer, (ze_context_handle_t)zt__pointer(parameters, 0));
        break;
    default:
        break;
    }
}

/* And after it. */
ZT__HOT void zt__act_after(zt__tracer *tracer, zt__frame *frame, uint32_t call, void *parameters,
                           ze_result_t result) {
    zt__role role = zt__role_of(call);
    zt__end(&frame->region, result != ZE_RESULT_SUCCESS);
    if (role == ZT__EXECUTE)
        zt__around_execution(tracer, parameters, 1, result);
    if (result != ZE_RESULT_SUCCESS)
        return;
    if (role == ZT__LIST_CREATE)
        zt__after_create(tracer, parameters, ZT__KIND_RECORDED);
    else if (role == ZT__LIST_CREATE_IMMEDIATE)
        zt__after_create(tracer, parameters, ZT__KIND_IMMEDIATE);
    else if (role == ZT__LIST_RESET)
        zt__release_everywhere(tracer, (ze_command_list_handle_t)zt__pointer(parameters, 0), 0);
    else if (role == ZT__KERNEL_CREATE)
        zt__learn_kernel(tracer, (ze_kernel_handle_t)zt__pointed(parameters, 2),
                         ((const ze_kernel_desc_t *)zt__pointer(parameters, 1))->pKernelName);
}

/* ---- callbacks ------------------------------------------------------------------------------------------- */

ZT__HOT zt__frame *zt__frame_of(const zt__post *post) {
    uint32_t i;
    for (i = 0; i < ZT__FRAMES; i++)
        if (zt__frames[i].post == post)
            return &zt__frames[i];
    return NULL;
}

ZT__HOT void zt__close_frame(zt__frame *frame) {
    zt__post *post = frame->post;
    frame->post = NULL;
    __atomic_fetch_sub(&post->in_progress, 1, __ATOMIC_SEQ_CST);
}

/* Enters a call into what is in progress, so that a stop waits for it. NULL: it is not traced. */
ZT__HOT zt__frame *zt__open_frame(zt__post *post) {
    zt__frame *frame = zt__frame_of(post);
    if (frame) { /* the epilogue of the call before never came */
        zt__end(&frame->region, 1);
        zt__close_frame(frame);
    }
    frame = zt__frame_of(NULL);
    if (!frame)
        return NULL;
    frame->post = post;
    frame->region.slot = NULL;
    __atomic_fetch_add(&post->in_progress, 1, __ATOMIC_SEQ_CST);
    frame->tracer = __atomic_load_n(&post->tracer, __ATOMIC_SEQ_CST); /* after that: a stop sees the one or */
    if (frame->tracer)                                                /* this call the other */
        return frame;
    zt__close_frame(frame);
    return NULL;
}

ZT__HOT void zt__prologue(uint32_t call, void *parameters, zt__post *post, void **instance) {
    zt__frame *frame;
    zt__tracer *tracer;
    uint32_t i;
    *instance = NULL;
    if (zt__inside_1) {
        if (zt__probing == post)
            zt__store(&post->proven, 1);
        return;
    }
    frame = zt__load(&post->tracer) ? zt__open_frame(post) : NULL;
    if (!frame)
        return;
    *instance = frame;
    tracer = frame->tracer;
    if (tracer->config.hook_count)
        memset(frame->instances, 0, sizeof frame->instances);
    zt__inside_1++;
    for (i = 0; i < tracer->config.hook_count; i++)
        if (tracer->hook_calls[i] == call && tracer->hooks[i].prologue)
            tracer->hooks[i].prologue(parameters, ZE_RESULT_SUCCESS, tracer->hooks[i].user,
                                      &frame->instances[i]);
    zt__act_before(tracer, frame, call, parameters);
    zt__inside_1--;
    if (tracer->timed[call])
        frame->started = zt__now_ns();
}

ZT__HOT void zt__epilogue(uint32_t call, void *parameters, ze_result_t result, void **instance) {
    zt__frame *frame = (zt__frame *)*instance;
    zt__tracer *tracer = frame ? frame->tracer : NULL;
    uint32_t i;
    if (!tracer)
        return;
    if (tracer->timed[call])
        zt__count_call(tracer, call, frame->started, result);
    zt__inside_1++;
    zt__act_after(tracer, frame, call, parameters, result);
    for (i = tracer->config.hook_count; i-- > 0;)
        if (tracer->hook_calls[i] == call && tracer->hooks[i].epilogue)
            tracer->hooks[i].epilogue(parameters, (int)result, tracer->hooks[i].user, &frame->instances[i]);
    zt__inside_1--;
    zt__close_frame(frame);
}

/* The layer does not say which call it is, so that each needs functions of its own. */
typedef void(ZE_APICALL *zt__callback)(void *, ze_result_t, void *, void **);

#define X(name)                                                                                              \
    static void ZE_APICALL zt__before_##name(void *parameters, ze_result_t result, void *post,               \
                                             void **instance) {                                              \
        (void)result;                                                                                        \
        zt__prologue(ZT__CALL_##name, parameters, (zt__post *)post, instance);                               \
    }                                                                                                        \
    static void ZE_APICALL zt__after_##name(void *parameters, ze_result_t result, void *post,                \
                                            void **instance) {                                               \
        (void)post;                                                                                          \
        zt__epilogue(ZT__CALL_##name, parameters, result, instance);                                         \
    }
ZT__CALLS(X)
#undef X

ZT__FN zt__callback zt__callback_of(uint32_t call, int after) {
    static const zt__callback callbacks[ZT__CALL_COUNT][2] = {
#define X(name) {zt__before_##name, zt__after_##name},
        ZT__CALLS(X)
#undef X
    };
    return callbacks[call][after];
}

/* ---- starting and stopping ------------------------------------------------------------------------------- */

ZT__FN const char *zt__call_name_at(const void *names, uint32_t index) {
    (void)names;
    return zt__call_name(index);
}

/* Whether a name, or a pattern, is of a call that can be traced. */
ZT__FN ze_result_t zt__check_call(zt__tracer *tracer, const char *pattern, size_t length) {
    char nearest[ZT__NEAREST], wanted[65];
    uint32_t call;
    for (call = 0; call < ZT__CALL_COUNT; call++)
        if (zt__matches(pattern, length, zt__call_name(call)))
            return ZE_RESULT_SUCCESS;
    zt__copy_name(wanted, sizeof wanted, pattern, length);
    zt__nearest(wanted, NULL, ZT__CALL_COUNT, zt__call_name_at, nearest);
    return zt__fail(tracer->diagnostics, ZE_RESULT_ERROR_INVALID_ARGUMENT, ZT__NO_SUCH_CALL, wanted, nearest);
}

ZT__FN ze_result_t zt__choose_calls(zt__tracer *tracer, const char *list) {
    const char *rest = list, *pattern;
    ze_result_t result = ZE_RESULT_SUCCESS;
    size_t length;
    uint32_t call;
    while (list && result == ZE_RESULT_SUCCESS && zt__next_name(&rest, &pattern, &length))
        result = zt__check_call(tracer, pattern + (*pattern == '!'), length - (*pattern == '!'));
    for (call = 0; call < ZT__CALL_COUNT; call++)
        tracer->timed[call] = list && *list && zt__is_chosen(list, zt__call_name(call));
    return result;
}

ZT__FN ze_result_t zt__choose_hooks(zt__tracer *tracer, const zt_trace_config *config) {
    uint32_t i, call;
    if (config->hook_count > ZT__HOOKS || (config->hook_count && !config->hooks))
        return zt__fail(tracer->diagnostics, ZE_RESULT_ERROR_INVALID_SIZE, ZT__BAD_HOOKS,
                        (unsigned)ZT__HOOKS);
    for (i = 0; i < config->hook_count; i++) {
        const char *name = config->hooks[i].call ? config->hooks[i].call : "";
        for (call = 0; call < ZT__CALL_COUNT && strcmp(name, zt__call_name(call)) != 0; call++)
            ;
        if (call == ZT__CALL_COUNT)
            return zt__check_call(tracer, *name && !strpbrk(name, "*?") ? name : "(none)",
                                  *name && !strpbrk(name, "*?") ? strlen(name) : 6);
        tracer->hooks[i] = config->hooks[i];
        tracer->hook_calls[i] = call;
    }
    return ZE_RESULT_SUCCESS;
}

ZT__FN void zt__forget_titles(zt__tracer *tracer) {
    uint32_t i;
    for (i = 0; i < ZT__TITLE_BUCKETS; i++)
        while (tracer->titles[i]) {
            zt__title *title = tracer->titles[i];
            tracer->titles[i] = title->next;
            zt__free(&tracer->allocator, title);
        }
    zt__map_free(&tracer->allocator, &tracer->kernels);
    zt__map_free(&tracer->allocator, &tracer->lists);
}

/* Takes over a configuration; what it said before, and what the filter had come to, is forgotten. */
ZT__FN ze_result_t zt__configure_tracer(zt__tracer *tracer, const zt_trace_config *given) {
    zt_trace_config config = given ? *given : zt_trace_config_default();
    ze_result_t result;
    zt__forget_titles(tracer);
    zt__free(&tracer->allocator, tracer->names);
    tracer->names = NULL;
    if (config.names) {
        tracer->names = (char *)zt__allocate(&tracer->allocator, strlen(config.names) + 1, 1);
        if (!tracer->names)
            return zt__fail_no_memory(tracer->diagnostics, "zt_trace_start", "the filter");
        memcpy(tracer->names, config.names, strlen(config.names));
    }
    result = zt__choose_calls(tracer, config.calls);
    if (result == ZE_RESULT_SUCCESS)
        result = zt__choose_hooks(tracer, &config);
    if (!config.every)
        config.every = 1;
    tracer->config = config;
    tracer->config.names = tracer->config.calls = NULL;
    tracer->config.hooks = NULL;
    return result;
}

/* Room for calls on the timeline: as many as it has for regions. */
ZT__FN void zt__make_spans(zt__tracer *tracer, uint32_t capacity) {
    if (tracer->spans || !capacity)
        return;
    tracer->spans = (zt__host_span *)zt__allocate(&tracer->allocator, capacity, sizeof *tracer->spans);
    tracer->span_capacity = capacity;
}

/* Whether a call has to be observed at all. */
ZT__FN int zt__is_observed(const zt__tracer *tracer, uint32_t call) {
    uint32_t i;
    for (i = 0; i < tracer->config.hook_count; i++)
        if (tracer->hook_calls[i] == call)
            return 1;
    if (tracer->timed[call])
        return 1;
    switch (zt__role_of(call)) {
    case ZT__OTHER:
        return 0;
    case ZT__COPY:
        return tracer->config.copies;
    case ZT__LAUNCH:
    case ZT__LAUNCH_MANY:
    case ZT__KERNEL_CREATE:
    case ZT__KERNEL_DESTROY:
        return !tracer->config.no_launches;
    case ZT__CONTEXT_DESTROY:
        return tracer->automatic != NULL;
    default:
        return 1;
    }
}

/* Registers the callbacks of a call, where the loader has that call. */
ZT__FN ze_result_t zt__register_call(const zt__post *post, uint32_t call) {
    ze_result_t(ZE_APICALL * register_callback)(zel_tracer_handle_t, zel_tracer_reg_t, zt__callback);
    char symbol[128];
    ze_result_t result;
    snprintf(symbol, sizeof symbol, "zelTracer%sRegisterCallback", zt__call_name(call) + 2);
    zt__find_symbol(symbol, &register_callback);
    if (!register_callback)
        return ZE_RESULT_SUCCESS;
    result = register_callback(post->handle, ZEL_REGISTER_PROLOGUE, zt__callback_of(call, 0));
    if (result == ZE_RESULT_SUCCESS)
        result = register_callback(post->handle, ZEL_REGISTER_EPILOGUE, zt__callback_of(call, 1));
    return result;
}

/* A call of its own shows whether callbacks come: where the layer is off everything else succeeds too. */
ZT__FN int zt__prove(zt__post *post) {
    uint32_t count = 0;
    zt__store(&post->proven, 0);
    zt__inside_1++;
    zt__probing = post;
    zeDriverGet(&count, NULL);
    zt__probing = NULL;
    zt__inside_1--;
    return zt__load(&post->proven);
}

/* A post without a tracer of the loader's, in which no call is left. With the process locked. */
ZT__FN zt__post *zt__find_post(void) {
    uint32_t i;
    for (i = 0; i < ZT__POSTS; i++)
        if (!zt__posts[i].handle && !__atomic_load_n(&zt__posts[i].in_progress, __ATOMIC_SEQ_CST))
            return &zt__posts[i];
    return NULL;
}

/* Makes a tracer of the loader's for a post, with its callbacks, turns it on and makes sure that they come.
 */
ZT__FN ze_result_t zt__set_up_post(zt__post *post) {
    zel_tracer_desc_t desc;
    zel_tracer_handle_t handle = NULL;
    ze_result_t result;
    uint32_t call;
    memset(&desc, 0, sizeof desc);
    desc.stype = ZEL_STRUCTURE_TYPE_TRACER_DESC;
    desc.pUserData = post;
    result = zelTracerCreate(&desc, &handle);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    post->handle = handle;
    for (call = 0; call < ZT__CALL_COUNT && result == ZE_RESULT_SUCCESS; call++)
        if (post->observed[call])
            result = zt__register_call(post, call);
    if (result == ZE_RESULT_SUCCESS)
        result = zelTracerSetEnabled(handle, 1);
    if (result == ZE_RESULT_SUCCESS && zt__prove(post))
        return result;
    post->handle = NULL;
    zelTracerSetEnabled(handle, 0);
    zelTracerDestroy(handle); /* no call ever came to it, so that there is none to wait for */
    return result == ZE_RESULT_SUCCESS ? ZE_RESULT_NOT_READY : result;
}

/* Leaves a post for good. */
ZT__FN void zt__give_up_post(zt__tracer *tracer) {
    if (tracer->post) {
        zelTracerSetEnabled(tracer->post->handle, 0);
        zt__lock(&zt__process_lock_1);
        zt__spent[zt__count_up(&zt__spent_count) % ZT__SPENT] = tracer->post->handle;
        tracer->post->handle = NULL;
        zt__unlock(&zt__process_lock_1);
    }
    tracer->post = NULL;
}

/* Gets the post that a tracer needs: the one that it had, if that observes the same calls, else another. */
ZT__FN ze_result_t zt__take_post(zt__tracer *tracer) {
    uint8_t observed[ZT__CALL_COUNT];
    zt__post *post;
    ze_result_t result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    uint32_t call;
    for (call = 0; call < ZT__CALL_COUNT; call++)
        observed[call] = (uint8_t)zt__is_observed(tracer, call);
    if (tracer->post && memcmp(tracer->post->observed, observed, sizeof observed) == 0)
        return zt__prove(tracer->post) ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
    zt__give_up_post(tracer);
    zt__lock(&zt__process_lock_1);
    post = zt__find_post();
    if (post) {
        memcpy(post->observed, observed, sizeof observed);
        result = zt__set_up_post(post);
    }
    zt__unlock(&zt__process_lock_1);
    if (result == ZE_RESULT_SUCCESS)
        tracer->post = post;
    return result;
}

ZT__FN int zt__has_calls(const zt__tracer *tracer) {
    return tracer->post && __atomic_load_n(&tracer->post->in_progress, __ATOMIC_SEQ_CST);
}

/* Ends tracing, and waits for the calls that are in progress. Returns 0 if some still are. */
ZT__FN int zt__halt_tracer(zt__tracer *tracer) {
    uint64_t pause = 0, deadline = zt__deadline(tracer->wait_timeout_ns);
    if (tracer->post)
        __atomic_store_n(&tracer->post->tracer, (zt__tracer *)NULL, __ATOMIC_SEQ_CST);
    if (tracer->disable_layer)
        tracer->disable_layer();
    tracer->disable_layer = NULL;
    while (zt__has_calls(tracer))
        if (!zt__pause_until(deadline, &pause)) {
            zt__say(tracer->diagnostics, ZE_RESULT_NOT_READY, ZT__CALLS_IN_PROGRESS);
            return 0;
        }
    /* where the layer stays on, callbacks that find nobody are worth two kilobytes, but not for ever */
    if (tracer->post && zt__load(&zt__spent_count) < ZT__SPENT && zt__prove(tracer->post))
        zt__give_up_post(tracer);
    return 1;
}

/* Turns the layer on where the loader can, and a tracer in it. */
ZT__FN ze_result_t zt__start_tracer(zt__tracer *tracer, const zt_trace_config *config) {
    ze_result_t(ZE_APICALL * enable_layer)(void);
    ze_result_t result;
    if (zt__has_calls(tracer))
        return zt__fail(tracer->diagnostics, ZE_RESULT_NOT_READY, ZT__CALLS_IN_PROGRESS);
    result = zt__configure_tracer(tracer, config);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    zt__find_symbol("zeCommandListGetContextHandle", &tracer->context_of);
    zt__find_symbol("zeCommandListGetDeviceHandle", &tracer->device_of);
    zt__find_symbol("zelEnableTracingLayer", &enable_layer);
    if (enable_layer && enable_layer() == ZE_RESULT_SUCCESS)
        zt__find_symbol("zelDisableTracingLayer", &tracer->disable_layer);
    result = zt__take_post(tracer);
    if (result == ZE_RESULT_SUCCESS) {
        __atomic_store_n(&tracer->post->tracer, tracer, __ATOMIC_SEQ_CST);
        return result;
    }
    zt__halt_tracer(tracer);
    return zt__fail(tracer->diagnostics, ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE, ZT__TRACING_OFF,
                    zt_result_name(result));
}

ZT__FN zt__tracer *zt__create_tracer(const zt_allocator *allocator, zt__diagnostics *diagnostics,
                                     uint64_t wait_timeout_ns) {
    zt__tracer *tracer = (zt__tracer *)zt__allocate(allocator, 1, sizeof *tracer);
    if (!tracer)
        return NULL;
    tracer->allocator = *allocator;
    tracer->diagnostics = diagnostics;
    tracer->wait_timeout_ns = wait_timeout_ns;
    tracer->random = UINT64_C(0x9E3779B97F4A7C15);
    pthread_mutex_init(&tracer->lock, NULL);
    pthread_mutex_init(&tracer->opening, NULL);
    return tracer;
}

/* Frees a tracer that is stopped; one that has a call in progress stays, for that call comes back to it. */
ZT__FN void zt__destroy_tracer(zt__tracer *tracer) {
    zt_allocator allocator = tracer->allocator;
    uint32_t i;
    int has_calls = zt__has_calls(tracer);
    zt__give_up_post(tracer);
    if (has_calls) {
        tracer->diagnostics = NULL;
        tracer->target_count = 0;
        return;
    }
    zt__forget_titles(tracer);
    for (i = 0; i < ZT__CALL_COUNT; i++)
        zt__free(&allocator, tracer->calls[i].kept);
    zt__free(&allocator, tracer->names);
    zt__free(&allocator, tracer->spans);
    pthread_mutex_destroy(&tracer->lock);
    pthread_mutex_destroy(&tracer->opening);
    zt__free(&allocator, tracer);
}

ZT__FN int zt__is_tracing(const zt__tracer *tracer) {
    return tracer && tracer->post && zt__load(&tracer->post->tracer) == tracer;
}

/* Whether this thread is in a callback of a tracer, for which a stop would have to wait. */
ZT__FN ze_result_t zt__refuse_hook(const zt__tracer *tracer, zt__diagnostics *diagnostics, const char *call) {
    if (!tracer || !tracer->post || !zt__frame_of(tracer->post))
        return ZE_RESULT_SUCCESS;
    return zt__fail(diagnostics, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, ZT__INSIDE_HOOK, call);
}

ZT_API zt_trace_config zt_trace_config_default(void) {
    zt_trace_config config;
    memset(&config, 0, sizeof config);
    config.every = 1;
    return config;
}

ZT_API ze_result_t zt_trace_start(zt_profiler *profiler, const zt_trace_config *config) {
    zt__tracer *tracer;
    if (!profiler)
        return ZE_RESULT_SUCCESS;
    if (zt__is_tracing(profiler->tracer))
        return zt__fail(&profiler->diagnostics, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, ZT__TRACING_ALREADY);
    tracer = profiler->tracer;
    if (!tracer)
        tracer = zt__create_tracer(&profiler->config.allocator, &profiler->diagnostics,
                                   profiler->config.wait_timeout_ns);
    if (!tracer)
        return zt__fail_no_memory(&profiler->diagnostics, "zt_trace_start", "the tracer");
    if (!profiler->tracer)
        zt__add_target(tracer, profiler->context, profiler->device, profiler);
    profiler->tracer = tracer;
    if (config && config->calls)
        zt__make_spans(tracer, profiler->config.timeline);
    return zt__start_tracer(tracer, config);
}

ZT_API ze_result_t zt_trace_stop(zt_profiler *profiler) {
    zt__tracer *tracer = profiler ? profiler->tracer : NULL;
    ze_result_t result;
    if (!zt__is_tracing(tracer))
        return ZE_RESULT_SUCCESS;
    result = zt__refuse_hook(tracer, &profiler->diagnostics, "zt_trace_stop");
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = zt__halt_tracer(tracer) ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
    zt__store(&profiler->sight, profiler->sight + 1); /* nobody tells any more what is done with lists */
    return result;
}

ZT_API zt_trace_counts zt_trace_get_counts(const zt_profiler *profiler) {
    zt_trace_counts counts = {0, 0, 0, 0};
    if (!profiler || !profiler->tracer)
        return counts;
    zt__lock(&profiler->tracer->lock);
    counts = profiler->tracer->counts;
    zt__unlock(&profiler->tracer->lock);
    return counts;
}

ZT_API uint32_t zt_get_call_count(const zt_profiler *profiler) {
    uint32_t count;
    if (!profiler || !profiler->tracer)
        return 0;
    zt__lock(&profiler->tracer->lock);
    count = profiler->tracer->called_count;
    zt__unlock(&profiler->tracer->lock);
    return count;
}

ZT_API ze_result_t zt_get_call(const zt_profiler *profiler, uint32_t call, zt_call_info *info) {
    if (!info)
        return zt__say_missing(profiler, "zt_get_call", "info");
    memset(info, 0, sizeof *info);
    info->name = "";
    zt__clear_stats(&info->time_ns);
    if (call >= zt_get_call_count(profiler))
        return zt__bad_index(profiler, "zt_get_call", "call", call);
    *info = zt__call_stats(profiler->tracer, call);
    return ZE_RESULT_SUCCESS;
}

/* ---- automatic tracing ----------------------------------------------------------------------------------- */

/* One for the process. */
typedef struct zt__auto {
    zt__tracer *tracer; /* NULL: there is none */
    zt_config config;
    char report[1024], groups[1024], metrics[1024], columns[1024];
} zt__auto;

ZT__PROCESS_WIDE zt__auto zt__auto_1;

/* The path of the report of the n-th profiler: run.csv, run.2.csv, ... The number is before the suffix, all
   of which says the format. */
ZT__FN void zt__numbered_path(const char *path, uint32_t n, char *out, size_t size) {
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    if (!dot || (slash && dot < slash))
        dot = path + strlen(path);
    else if (zt__format_of(path) == ZT_FORMAT_TRACE)
        dot -= strlen(".trace");
    if (n == 1 || strcmp(path, "-") == 0)
        snprintf(out, size, "%s", path);
    else
        snprintf(out, size, "%.*s.%u%s", (int)(dot - path), path, (unsigned)n, dot);
}

ZT__FN void zt__report_automatically(zt__tracer *tracer) {
    uint32_t i, n = 0;
    for (i = 0; i < tracer->target_count; i++) {
        zt_profiler *profiler = tracer->targets[i].profiler;
        char path[1100];
        if (!profiler)
            continue;
        if (!profiler->detached)
            zt_collect(profiler, profiler->config.wait_timeout_ns);
        zt__numbered_path(zt__auto_1.report, ++n, path, sizeof path);
        zt_report(profiler, path);
    }
}

/* At exit, while loader and driver are still there. */
ZT__FN void zt__end_auto(void) {
    zt__tracer *tracer = zt__auto_1.tracer;
    uint32_t i;
    if (!tracer || zt__frame_of(tracer->post))
        return;
    zt__auto_1.tracer = NULL;
    zt__halt_tracer(tracer);
    zt__report_automatically(tracer);
    for (i = 0; i < tracer->target_count; i++)
        if (tracer->targets[i].profiler) {
            tracer->targets[i].profiler->tracer = NULL;
            zt_close(tracer->targets[i].profiler);
        }
    zt__destroy_tracer(tracer);
}

/* The report that the environment asks for, or that of the configuration. "": none is wanted. */
ZT__FN const char *zt__auto_target(const char *configured) {
    const char *wanted = getenv("ZT_AUTO");
    if (!wanted || strcmp(wanted, "1") == 0)
        wanted = configured && *configured ? configured : "-";
    if (strcmp(wanted, "off") == 0 || strcmp(wanted, "0") == 0)
        return "";
    return strcmp(wanted, "table") == 0 ? "-" : wanted;
}

/* A list of names, if there is one, is kept in `room`: the application's may not outlive zt_auto. */
ZT__FN void zt__keep_names(const char **names, char *room) {
    if (!*names)
        return;
    snprintf(room, sizeof zt__auto_1.groups, "%s", *names);
    *names = room;
}

ZT__FN void zt__configure_auto(const zt_auto_config *config, const char *report) {
    zt__auto *kept = &zt__auto_1;
    kept->config = config->profiler;
    zt__keep_names(&report, kept->report);
    zt__keep_names(&kept->config.groups, kept->groups);
    zt__keep_names(&kept->config.metrics, kept->metrics);
    zt__keep_names(&kept->config.columns, kept->columns);
}

/* Loaders that cannot turn tracing on at run time look into the environment when they are initialised. */
ZT__FN ze_result_t zt__initialise_traced(void) {
    ze_result_t(ZE_APICALL * enable_layer)(void);
    ze_result_t result;
    zt__find_symbol("zelEnableTracingLayer", &enable_layer);
    if (!enable_layer)
        setenv("ZE_ENABLE_TRACING_LAYER", "1", 0);
    result = zeInit(0);
    if (result != ZE_RESULT_SUCCESS)
        zt__say(NULL, result, ZT__CALL_FAILED, "zeInit", zt_result_name(result), (unsigned)result,
                "Nothing is traced. Install a Level Zero driver.");
    return result;
}

ZT_API zt_auto_config zt_auto_config_default(void) {
    zt_auto_config config;
    config.report = NULL;
    config.profiler = zt_config_default();
    config.trace = zt_trace_config_default();
    return config;
}

ZT_API ze_result_t zt_auto(const zt_auto_config *given) {
    zt_auto_config config = given ? *given : zt_auto_config_default();
    const char *report = zt__auto_target(config.report);
    zt_config complete;
    zt__tracer *tracer;
    ze_result_t result;
    if (!*report || zt__auto_1.tracer)
        return ZE_RESULT_SUCCESS;
    result = zt__initialise_traced();
    if (result != ZE_RESULT_SUCCESS)
        return result;
    zt__configure_auto(&config, report);
    zt__complete_config(&complete, &config.profiler);
    tracer = zt__create_tracer(&complete.allocator, NULL, complete.wait_timeout_ns);
    if (!tracer)
        return zt__fail_no_memory(NULL, "zt_auto", "the tracer");
    tracer->automatic = &zt__auto_1.config;
    if (config.trace.calls)
        zt__make_spans(tracer, complete.timeline);
    result = zt__start_tracer(tracer, &config.trace);
    if (result != ZE_RESULT_SUCCESS) {
        zt__destroy_tracer(tracer);
        return result;
    }
    zt__auto_1.tracer = tracer;
    atexit(zt__end_auto);
    return ZE_RESULT_SUCCESS;
}

#endif /* ZETOOLS_TRACER */

#ifdef __cplusplus
} /* extern "C" */
#endif

#if defined(__clang__)
#pragma float_control(pop)
#endif

#endif /* ZETOOLS_IMPLEMENTATION */

/*
   MIT License

   Copyright (c) 2026 the zetools authors

   Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
   associated documentation files (the "Software"), to deal in the Software without restriction, including
   without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
   copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the
   following conditions:

   The above copyright notice and this permission notice shall be included in all copies or substantial
   portions of the Software.

   THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT
   LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO
   EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER
   IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE
   USE OR OTHER DEALINGS IN THE SOFTWARE.
*/
