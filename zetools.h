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

       and `#include "zetools.h"` wherever else it is wanted. Link with -lze_loader (and, before glibc 2.34,
       with -ldl -lpthread). Give the Level Zero headers as system headers: they redefine typedefs.

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
       lists may: zt_begin and zt_end are safe from any thread.

   AGGREGATION

       Type and unit of a metric decide (zt_aggregation): counts, cycles, bytes and times add up; percent,
       frequencies, rates and ratios are averaged, weighted by GPU time; flags count how often they were
       set; time stamps and raw values are not aggregated. What does not apply to a metric is NaN, and is
       left empty in reports. Median and 95th percentile are interpolated linearly between neighbours. They
       are exact up to config.samples instances of a region, and beyond estimated from as many instances
       drawn evenly: with 512, the rank of the median has a standard error of 2.2 points, that of the 95th
       percentile of 1.0.

   WHAT IS LOST IS COUNTED

       begun = collected + lost + dropped + in_flight, at any time. Lost: it ran, and hardware or driver
       did not deliver a figure that can be trusted. Dropped: it was not measured (no slot, no memory, a
       failed call). Both are counted by cause (zt_get_cause) and left out of the statistics.

   THREADS

       Functions that take a profiler may be called from several threads at once, but for zt_open and
       zt_close. Nothing blocks but zt_collect with a timeout, zt_execute, which waits for the last
       execution of the lists that it is to execute, and zt_close, which waits for work that is known to
       run; the last two no longer than config.wait_timeout_ns.

       Calculation is the dearest part of a collection that can be moved. config.deferred leaves it for
       later, config.deferred_thread to a thread of the library's own, which lives from zt_open to zt_close,
       blocks all signals, and ends with the process.

   ENVIRONMENT

       ZT_GROUPS      overrides config.groups
       ZT_COLUMNS     overrides config.columns

   OPTIONS, to be defined before the header is included

       ZETOOLS_IMPLEMENTATION   in one file of the program: the functions themselves. Without it: their
                                declarations
       ZETOOLS_DISABLE          everything empty: no code, no Level Zero needed, the program unchanged. In
                                every file of the program or in none
       ZETOOLS_NO_THREADS       the library starts no thread: config.deferred_thread has no effect. Where
                                the implementation is
       ZETOOLS_STATIC           the functions are static. For a library that must not export them. Needs
                                ZETOOLS_IMPLEMENTATION in each file that uses them
*/
#ifndef ZETOOLS_H
#define ZETOOLS_H

#define ZETOOLS_VERSION_MAJOR 0
#define ZETOOLS_VERSION_MINOR 1
#define ZETOOLS_VERSION_PATCH 0
#define ZETOOLS_VERSION "0.1.0"

/* In strict ISO modes the C library hides what the implementation needs, unless it is asked first. */
#if defined(ZETOOLS_IMPLEMENTATION) && !defined(ZETOOLS_DISABLE) && !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include <stddef.h>
#include <stdint.h>

#ifndef ZETOOLS_DISABLE
#include <level_zero/ze_api.h>
#include <level_zero/zet_api.h>
#define ZT__HAVE_LEVEL_ZERO 1
#elif defined(__has_include)
#if __has_include(<level_zero/zet_api.h>)
#include <level_zero/ze_api.h>
#include <level_zero/zet_api.h>
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

/* An open region, by value. Its fields are private. A copy is the same region. Since 0.1. */
typedef struct zt_region {
    void *slot;
    uint32_t generation;
    uint32_t profiler;
    uint32_t body;
} zt_region;

/* What a message is about, how grave it is being in `result`. `text` names the call that failed, its result
   and what to do, and begins with the identifier of the message. Called once for each kind of message.
   Since 0.1. */
typedef void (*zt_log_fn)(int result, const char *text, void *user);

/* One collected instance. Pointers live as long as the call. Since 0.1. */
typedef struct zt_sample {
    const char *name;      /* of the region */
    uint32_t region;       /* its index, for zt_get_region */
    uint32_t metric_count; /* as zt_metric_count */
    double gpu_time_ns;
    const double *values; /* in the order of zt_get_metric. NaN: not measured */
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
    const char *groups; /* Metric groups, a comma list of names. NULL: "ComputeBasic", or the first group that
                           is event-based. "": times only. The environment's ZT_GROUPS overrides it. */
    const char *columns; /* Metrics in the table, a comma list of names. NULL: as many as fit. The
                            environment's ZT_COLUMNS overrides it. CSV and JSON have all of them anyway. */
    int require_metrics; /* Not 0: zt_open fails where there are no metrics. 0: it goes on with times. */

    uint32_t slots_per_step; /* Slots are made in steps of so many: 256. Fewer save device memory where few
                                regions are in flight. */
    uint32_t max_slots;      /* So many at the most, 16384. Regions beyond are dropped and counted. Raise it
                                for recorded lists with more regions than this. */
    uint32_t samples;        /* Instances kept of each region for median and 95th percentile, which are exact
                                up to here: 512. Memory of a region: 8 bytes a metric and kept instance. */

    uint32_t deferred; /* The raw reports of so many instances, in steps of 64, are kept, and calculated when
                          there is no more room or when results are asked for: 0, calculated when collected.
                          For threads that have no time to lose. Memory: the size of a report each. */
    int deferred_thread; /* Not 0: they are calculated on a thread of the library's own, as soon as 64 are
                            there; the sample function is called on it. `deferred` is then 4096 by default.
                            0, and with ZETOOLS_NO_THREADS: on the threads that collect or ask. */

    uint64_t wait_timeout_ns; /* The longest wait of zt_execute and zt_close for the device, in nanoseconds:
                                 1 second. */

    zt_log_fn log; /* Is told what went wrong, once a kind. NULL: nobody is, and zt_last_error has it. */
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
    ZT_GROUPS_CONFLICT,     /* two of the groups share a domain */
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
    ZT_LOST_READ_FAILED,     /* the driver refused to give or calculate the data */
    ZT_LOST_DEVICE,          /* the device was lost */
    /* dropped */
    ZT_DROPPED_NO_SLOT,        /* more regions in flight than config.max_slots */
    ZT_DROPPED_NO_MEMORY,      /* slots or statistics could not be made */
    ZT_DROPPED_TOO_MANY_NAMES, /* more than 65,536 names */
    ZT_DROPPED_APPEND_FAILED,  /* the driver refused a command of the region */
    ZT_DROPPED_NOT_CLOSED,     /* the list was released, or the profiler closed, before the region was */
    ZT_DROPPED_DEVICE_LOST,    /* begun after the device was lost */
    ZT_CAUSE_COUNT
} zt_cause;

typedef enum zt_format { ZT_FORMAT_TABLE, ZT_FORMAT_CSV, ZT_FORMAT_JSON } zt_format;

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
} zt_metric;

/* Statistics of one metric over the instances of one region, in the units of the metric. What does not apply
   is NaN. `count` is the number of instances that have the metric. Since 0.1. */
typedef struct zt_stats {
    uint64_t count;
    double sum, mean, stddev, min, max, median, p95;
} zt_stats;

/* A region. The name lives as long as the profiler. Since 0.1. */
typedef struct zt_region_info {
    const char *name;
    uint64_t count; /* instances collected */
    uint64_t lost;  /* and those that were not */
    uint64_t dropped;
    zt_stats time_ns; /* GPU time in nanoseconds */
} zt_region_info;

/* begun = collected + lost + dropped + in_flight. Since 0.1. */
typedef struct zt_counts {
    uint64_t begun, collected, lost, dropped, in_flight;
} zt_counts;

#ifndef ZETOOLS_DISABLE

/* ==== interface =========================================================================================== */

/* Every function accepts NULL for the profiler and is then inert: it does nothing, and returns
   ZE_RESULT_SUCCESS, 0, or an empty value. zt_execute alone still executes the lists. */

/* The version of the implementation, "major.minor.patch". Since 0.1. */
ZT_API const char *zt_version(void);

/* A configuration with every field at its default. Since 0.1. */
ZT_API zt_config zt_config_default(void);

/* Opens a profiler on a device, or sub-device, of an initialised driver.
   config   NULL for the defaults
   profiler receives the profiler, or NULL on failure, on which everything else is inert
   Returns SUCCESS also where there are no metrics, unless config.require_metrics is set; the result is then
   that of the call that refused them. zt_last_error(NULL, &text) has the text of this thread's last failure.
   Not from two threads for one device at once. Since 0.1. */
ZT_API ze_result_t zt_open(ze_context_handle_t context, ze_device_handle_t device, const zt_config *config,
                           zt_profiler **profiler);

/* Collects what is finished, waiting no longer than config.wait_timeout_ns for work that is known to run, and
   frees everything. Recorded lists that hold regions must not be executed after it. Regions that are still
   open may be ended after it: that does nothing. Since 0.1. */
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
               left to it); otherwise, wait for all that is in flight, so long at
               the most
   Returns SUCCESS; with a timeout, NOT_READY when the time was up and instances are still in flight, or when
   all that is left are regions that nobody ended; DEVICE_LOST. Since 0.1. */
ZT_API ze_result_t zt_collect(zt_profiler *profiler, uint64_t timeout_ns);

/* Tells that a list was, or is about to be, reset or destroyed, and that the device is done with it. Collects
   what has run, takes back what never did, and gives back the slots. Any thread that may use the list.
   Since 0.1. */
ZT_API ze_result_t zt_release(zt_profiler *profiler, ze_command_list_handle_t list);

/* zeCommandQueueExecuteCommandLists, with the results of the lists' last execution read first: waits for that
   execution to end, no longer than config.wait_timeout_ns, after which it is counted as lost. The lists are
   executed in any case. Returns what the driver returns. Any thread that may use queue and lists. Since 0.1.
 */
ZT_API ze_result_t zt_execute(zt_profiler *profiler, ze_command_queue_handle_t queue, uint32_t count,
                              ze_command_list_handle_t *lists, ze_fence_handle_t fence);

/* How many instances there were, and what became of them. Any thread. Since 0.1. */
ZT_API zt_counts zt_get_counts(const zt_profiler *profiler);

/* How many instances were lost or dropped by one cause. Any thread. Since 0.1. */
ZT_API uint64_t zt_get_cause(const zt_profiler *profiler, zt_cause cause);

/* "report error", "no slot", ...: never NULL. Since 0.1. */
ZT_API const char *zt_cause_name(zt_cause cause);

/* Distinct names of regions so far. Any thread. Since 0.1. */
ZT_API uint32_t zt_region_count(const zt_profiler *profiler);

/* Metrics of all active groups; constant for a profiler. Any thread. Since 0.1. */
ZT_API uint32_t zt_metric_count(const zt_profiler *profiler);

/* A metric by its index below zt_metric_count, else NULL. Any thread. Since 0.1. */
ZT_API const zt_metric *zt_get_metric(const zt_profiler *profiler, uint32_t metric);

/* The index of a metric by name, or UINT32_MAX; zt_last_error then has the nearest names. Any thread.
   Since 0.1. */
ZT_API uint32_t zt_find_metric(const zt_profiler *profiler, const char *name);

/* A region by its index below zt_region_count; regions are in order of first appearance. Any thread.
   Returns INVALID_ARGUMENT for another index, INVALID_NULL_POINTER. Since 0.1. */
ZT_API ze_result_t zt_get_region(const zt_profiler *profiler, uint32_t region, zt_region_info *info);

/* Statistics of a metric over the collected instances of a region. Any thread.
   Returns INVALID_ARGUMENT for an index out of range, INVALID_NULL_POINTER. Since 0.1. */
ZT_API ze_result_t zt_get_stats(const zt_profiler *profiler, uint32_t region, uint32_t metric,
                                zt_stats *stats);

/* Writes a report: the format by suffix, .csv or .json, anything else a table; "-" is a table on standard
   output. A file is written beside the target and renamed, so that nobody reads half of it. Any thread.
   Returns INVALID_NULL_POINTER, or UNKNOWN with the system's reason in zt_last_error. Since 0.1. */
ZT_API ze_result_t zt_report(const zt_profiler *profiler, const char *path);

/* Gives the bytes of a report to a function. Any thread. Since 0.1. */
ZT_API ze_result_t zt_write(const zt_profiler *profiler, zt_format format, zt_write_fn write, void *user);

/* Whether metrics are measured; if not, why, and in `text` (which may be NULL) what to do about it.
   Any thread. Since 0.1. */
ZT_API zt_availability zt_get_availability(const zt_profiler *profiler, const char **text);

/* The result of the last call that failed inside the library, and in `text` (which may be NULL) the message.
   With a NULL profiler: the last failure of this thread's calls without a profiler, zt_open above all.
   The text is valid until the next failure. Any thread. Since 0.1. */
ZT_API ze_result_t zt_last_error(const zt_profiler *profiler, const char **text);

/* "ZE_RESULT_NOT_READY" for ZE_RESULT_NOT_READY, and so on: never NULL. Since 0.1. */
ZT_API const char *zt_result_name(ze_result_t result);

/* Finds a metric group of a device by name and sampling type. Any thread.
   Returns INVALID_ARGUMENT where there is none; zt_last_error(NULL, &text) has the nearest names. Since 0.1.
 */
ZT_API ze_result_t zt_group_find(ze_device_handle_t device, const char *name,
                                 zet_metric_group_sampling_type_flags_t type,
                                 zet_metric_group_handle_t *group);

/* Writes a listing of a device's metric groups for people, with their metrics where `metrics` is not 0.
   Any thread. Since 0.1. */
ZT_API ze_result_t zt_groups_write(ze_device_handle_t device, int metrics, zt_write_fn write, void *user);

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
ZT__OFF uint32_t zt_region_count(const zt_profiler *profiler) {
    (void)profiler;
    return 0;
}
ZT__OFF uint32_t zt_metric_count(const zt_profiler *profiler) {
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
    if (info)
        *info = zero;
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
ZT__OFF ZT__RESULT zt_report(const zt_profiler *profiler, const char *path) {
    (void)profiler, (void)path;
    return (ZT__RESULT)0;
}
ZT__OFF ZT__RESULT zt_write(const zt_profiler *profiler, zt_format format, zt_write_fn write, void *user) {
    (void)profiler, (void)format, (void)write, (void)user;
    return (ZT__RESULT)0;
}
ZT__OFF zt_availability zt_get_availability(const zt_profiler *profiler, const char **text) {
    (void)profiler;
    if (text)
        *text = "";
    return ZT_AVAILABILITY_UNKNOWN;
}
ZT__OFF ZT__RESULT zt_last_error(const zt_profiler *profiler, const char **text) {
    (void)profiler;
    if (text)
        *text = "";
    return (ZT__RESULT)0;
}
ZT__OFF const char *zt_result_name(int result) {
    (void)result;
    return "";
}
#ifdef ZT__HAVE_LEVEL_ZERO
ZT__OFF ze_result_t zt_group_find(ze_device_handle_t device, const char *name,
                                  zet_metric_group_sampling_type_flags_t type,
                                  zet_metric_group_handle_t *group) {
    (void)device, (void)name, (void)type;
    if (group)
        *group = NULL;
    return ZE_RESULT_SUCCESS;
}
#endif
ZT__OFF ZT__RESULT zt_groups_write(const void *device, int metrics, zt_write_fn write, void *user) {
    (void)device, (void)metrics, (void)write, (void)user;
    return (ZT__RESULT)0;
}
#endif /* ZETOOLS_DISABLE */

/* ==== regions that close themselves ======================================================================= */

/* ZT_REGION(profiler, list, name) statement
       makes a region of the statement. In C++ and in GNU C it is closed however the statement is left: by its
       end, break, goto, return or an exception. In plain ISO C it cannot see an early return or goto.
       `break` and `continue` leave the region alone, not a loop around it.
   ZT_SCOPE(profiler, list, name);
       makes a region of the rest of the block. C++ and GNU C. Since 0.1. */

#define ZT__JOIN2(a, b) a##b
#define ZT__JOIN(a, b) ZT__JOIN2(a, b)
#define ZT__NAME(prefix) ZT__JOIN(prefix, __LINE__)

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
#define ZT__REGION(once, profiler, list, name)                                                               \
    for (int once = ((void)sizeof(profiler), (void)sizeof(list), (void)sizeof(name), 1); once; once = 0)
#define ZT_REGION(profiler, list, name) ZT__REGION(ZT__NAME(zt__once), profiler, list, name)
#define ZT_SCOPE(profiler, list, name) ((void)sizeof(profiler), (void)sizeof(list), (void)sizeof(name))
#elif defined(__cplusplus)
#define ZT__REGION(scope, profiler, list, name)                                                              \
    for (zt_scope scope(profiler, list, name); zt__body(&scope.region);)
#define ZT_REGION(profiler, list, name) ZT__REGION(ZT__NAME(zt__region), profiler, list, name)
#define ZT_SCOPE(profiler, list, name) zt_scope ZT__NAME(zt__scope)(profiler, list, name)
#elif defined(__GNUC__)
#define ZT__GUARD __attribute__((cleanup(zt__close_region)))
#define ZT__REGION(region, profiler, list, name)                                                             \
    for (zt_region region ZT__GUARD = zt__open_region(profiler, list, name); zt__body(&region);)
#define ZT_REGION(profiler, list, name) ZT__REGION(ZT__NAME(zt__region), profiler, list, name)
#define ZT_SCOPE(profiler, list, name)                                                                       \
    zt_region ZT__NAME(zt__scope)                                                                            \
    ZT__GUARD ZT__UNUSED = zt__open_region(profiler, list, name)
#else
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
/*   >>platform >>memory >>diagnostics >>driver >>groups >>slots >>statistics >>regions >>harvest >>reports */
/*   >>public */
/* ========================================================================================================== */

#if defined(ZETOOLS_IMPLEMENTATION) && !defined(ZETOOLS_DISABLE) && !defined(ZT__IMPLEMENTED)
#define ZT__IMPLEMENTED

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ZT__FN static ZT__UNUSED
#define ZT__COUNT_OF(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

/* ==== >>platform: clock, sleep, locks, atomics, symbols =================================================== */

/* In strict ISO modes, where other headers came first, these are hidden though they exist. */
#ifndef CLOCK_MONOTONIC
#define CLOCK_MONOTONIC 1
#define CLOCK_REALTIME 0
int clock_gettime(int clock, struct timespec *now);
int nanosleep(const struct timespec *wanted, struct timespec *left);
#endif

/* What has to be one for the whole process, however many files or libraries hold a copy of this header: weak
   symbols of one name are one object. The number changes when their layout does. */
#define ZT__PROCESS_WIDE __attribute__((weak))

typedef pthread_mutex_t zt__mutex;

ZT__FN uint64_t zt__now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
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

ZT__FN int zt__try_lock(zt__mutex *mutex) {
    return pthread_mutex_trylock(mutex) == 0;
}

/* What is locked is locked for instants: to try again costs less than to sleep and be woken. */
ZT__FN void zt__lock(zt__mutex *mutex) {
    int tries = 100;
    while (tries-- > 0)
        if (zt__try_lock(mutex))
            return;
    pthread_mutex_lock(mutex);
}

ZT__FN void zt__unlock(zt__mutex *mutex) {
    pthread_mutex_unlock(mutex);
}

/* A number that differs between any two threads alive. */
static __thread char zt__thread_mark;
ZT__FN uintptr_t zt__thread_id(void) {
    return (uintptr_t)&zt__thread_mark;
}

/* A lock whose owner notices that it has it already: functions of the application run under it, and may call
   back. */
typedef struct zt__owned {
    zt__mutex mutex;
    uintptr_t owner;
} zt__owned;

#define zt__load(pointer) __atomic_load_n(pointer, __ATOMIC_ACQUIRE)
#define zt__store(pointer, value) __atomic_store_n(pointer, value, __ATOMIC_RELEASE)

#define zt__count_up(pointer) __atomic_add_fetch(pointer, 1, __ATOMIC_RELAXED)

ZT__FN int zt__owns(const zt__owned *owned) {
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

#ifndef ZETOOLS_NO_THREADS

/* A thread that does one thing whenever it is rung for. */
typedef struct zt__worker {
    struct zt__worker *next;
    void (*work)(void *user);
    void *user;
    zt__mutex lock;
    pthread_cond_t bell;
    pthread_t thread;
    int rung, stops, ended, runs;
} zt__worker;

/* The driver is unloaded when the process exits, so that these must end before. */
static zt__mutex zt__workers_lock = PTHREAD_MUTEX_INITIALIZER;
static zt__worker *zt__workers;
static int zt__ends_workers;

/* With the worker locked. A bell that was missed is noticed after a second. */
ZT__FN void zt__await_bell(zt__worker *worker) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    pthread_cond_timedwait(&worker->bell, &worker->lock, &until);
}

ZT__FN void *zt__run_worker(void *argument) {
    zt__worker *worker = (zt__worker *)argument;
    pthread_mutex_lock(&worker->lock);
    while (!worker->stops) {
        if (!worker->rung)
            zt__await_bell(worker);
        if (!worker->rung || worker->stops)
            continue;
        worker->rung = 0;
        pthread_mutex_unlock(&worker->lock);
        worker->work(worker->user);
        pthread_mutex_lock(&worker->lock);
    }
    pthread_mutex_unlock(&worker->lock);
    zt__store(&worker->ended, 1);
    return NULL;
}

ZT__FN void zt__ring(zt__worker *worker) {
    int was_rung;
    zt__lock(&worker->lock);
    was_rung = worker->rung;
    worker->rung = 1;
    zt__unlock(&worker->lock);
    if (!was_rung)
        pthread_cond_signal(&worker->bell);
}

/* With the workers locked. Returns 0 where the driver does not give the thread back: then it is left alone,
   with all that it uses. */
ZT__FN int zt__end_worker(zt__worker *worker) {
    uint64_t pause = 0, deadline = zt__deadline(2000000000u);
    zt__worker **place = &zt__workers;
    while (*place && *place != worker)
        place = &(*place)->next;
    if (*place)
        *place = worker->next;
    zt__store(&worker->runs, 0);
    zt__lock(&worker->lock);
    worker->stops = 1;
    pthread_cond_signal(&worker->bell);
    zt__unlock(&worker->lock);
    while (!zt__load(&worker->ended))
        if (!zt__pause_until(deadline, &pause)) {
            pthread_detach(worker->thread);
            return 0;
        }
    pthread_join(worker->thread, NULL);
    return 1;
}

ZT__FN void zt__end_workers(void) {
    zt__lock(&zt__workers_lock);
    while (zt__workers)
        zt__end_worker(zt__workers);
    zt__unlock(&zt__workers_lock);
}

/* Signals are the application's: its own threads shall have them. */
ZT__FN int zt__create_thread(zt__worker *worker) {
    int failed;
#ifdef SIG_SETMASK
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
#endif
    failed = pthread_create(&worker->thread, NULL, zt__run_worker, worker);
#ifdef SIG_SETMASK
    pthread_sigmask(SIG_SETMASK, &before, NULL);
#endif
    return !failed;
}

ZT__FN int zt__start_worker(zt__worker *worker, void (*work)(void *user), void *user) {
    int started;
    worker->work = work;
    worker->user = user;
    pthread_mutex_init(&worker->lock, NULL);
    pthread_cond_init(&worker->bell, NULL);
    zt__lock(&zt__workers_lock);
    if (!zt__ends_workers)
        zt__ends_workers = atexit(zt__end_workers) == 0;
    started = zt__ends_workers && zt__create_thread(worker);
    zt__store(&worker->runs, started);
    if (started) {
        worker->next = zt__workers;
        zt__workers = worker;
    }
    zt__unlock(&zt__workers_lock);
    return started;
}

/* Returns as zt__end_worker. */
ZT__FN int zt__stop_worker(zt__worker *worker) {
    int stopped = 1;
    zt__lock(&zt__workers_lock);
    if (worker->runs)
        stopped = zt__end_worker(worker);
    zt__unlock(&zt__workers_lock);
    return stopped;
}

#else

typedef struct zt__worker {
    int runs;
} zt__worker;

ZT__FN void zt__ring(zt__worker *worker) {
    (void)worker;
}

ZT__FN int zt__start_worker(zt__worker *worker, void (*work)(void *user), void *user) {
    (void)worker, (void)work, (void)user;
    return 0;
}

ZT__FN int zt__stop_worker(zt__worker *worker) {
    (void)worker;
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

/* The square root by Newton's method, from half the exponent: for this alone nobody should have to link with
   the mathematics library. */
ZT__FN double zt__sqrt(double square) {
    double root;
    uint64_t bits;
    int i;
    if (!(square > 0))
        return 0;
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

ZT__FN zt_allocator zt__default_allocator(void) {
    zt_allocator allocator;
    allocator.allocate = zt__malloc;
    allocator.release = zt__mfree;
    allocator.user = NULL;
    return allocator;
}

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
    X(BAD_ALLOCATOR, "zt_open: config.allocator has only one of its two functions. Give both or none.")      \
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
    X(GROUP_NOT_FOUND, "zt_group_find: the device has no such metric group '%.64s' of that sampling type. "  \
                       "Nearest: %s.")                                                                       \
    X(GROUPS_CONFLICT, "zt_open: metric groups '%s' and '%s' share domain %u, so they cannot be active "     \
                       "together. Name one of them.")                                                        \
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
    X(BAD_INDEX, "%s: there is no %s %u. Ask zt_region_count() and zt_metric_count() first.")                \
    X(CANNOT_WRITE, "zt_report: cannot write '%.512s': %s. Check the directory and its permissions.")        \
    X(WRITE_STOPPED, "zt_write: the write function answered that it cannot go on.")                          \
    X(BAD_FORMAT, "zt_write: %d is no zt_format.")

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
    uint64_t said; /* a bit a message: each is logged once */
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

ZT_API const char *zt_result_name(ze_result_t result) {
    switch (result) {
#define X(name)                                                                                              \
    case ZE_RESULT_##name:                                                                                   \
        return "ZE_RESULT_" #name;
        ZT__RESULTS(X)
#undef X
    default:
        return "a result without a name";
    }
}

ZT__FN void zt__format(zt__text *out, ze_result_t result, zt__message message, va_list arguments) {
    static const char *const texts[ZT__MESSAGE_COUNT] = {
#define X(identifier, text) "[" #identifier "] " text,
        ZT__MESSAGES(X)
#undef X
    };
    out->result = result;
    vsnprintf(out->text, sizeof out->text, texts[message], arguments);
}

ZT__FN void zt__set_text(zt__text *out, ze_result_t result, int message, ...) {
    va_list arguments;
    va_start(arguments, message);
    zt__format(out, result, (zt__message)message, arguments);
    va_end(arguments);
}

/* Keeps a message as the last one, and logs the first of its kind. Returns `result`. Not to be called with
   the state or the results locked: the application's log function runs. */
ZT__FN ze_result_t zt__say(zt__diagnostics *diagnostics, ze_result_t result, int message, ...) {
    zt__text now;
    int first;
    va_list arguments;
    va_start(arguments, message);
    zt__format(&now, result, (zt__message)message, arguments);
    va_end(arguments);
    if (!diagnostics) {
        zt__thread_error = now;
        return result;
    }
    zt__lock(&diagnostics->lock);
    diagnostics->last = now;
    first = result != ZE_RESULT_SUCCESS && !(diagnostics->said >> message & 1);
    diagnostics->said |= (uint64_t)1 << message;
    zt__unlock(&diagnostics->lock);
    if (first && diagnostics->log)
        diagnostics->log((int)result, now.text, diagnostics->user);
    return result;
}

/* The message for a call that failed with no particular meaning. */
ZT__FN ze_result_t zt__say_failed(zt__diagnostics *diagnostics, ze_result_t result, const char *call,
                                  const char *remedy) {
    return zt__say(diagnostics, result, ZT__CALL_FAILED, call, zt_result_name(result), (unsigned)result,
                   remedy);
}

/* How far two names are apart: edits, letter case not counting. Only the first 63 letters matter. */
ZT__FN uint32_t zt__distance(const char *a, const char *b) {
    enum { LONGEST = 63 };
    uint32_t row[LONGEST + 1];
    uint32_t i, j, columns;
    for (columns = 0; b[columns] && columns < LONGEST; columns++)
        ;
    for (j = 0; j <= columns; j++)
        row[j] = j;
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

/* The three names nearest to `wanted`, for a message. `name_of` gives a name by index. */
typedef const char *(*zt__name_fn)(const void *names, uint32_t index);

ZT__FN void zt__nearest(const char *wanted, const void *names, uint32_t count, zt__name_fn name_of, char *out,
                        size_t size) {
    enum { SHOWN = 3 };
    uint32_t best[SHOWN], found = 0, i, j;
    size_t used = 0;
    for (i = 0; i < count; i++) {
        uint32_t distance = zt__distance(wanted, name_of(names, i));
        for (j = 0; j < found && strcmp(name_of(names, best[j]), name_of(names, i)) != 0; j++)
            ;
        if (j < found)
            continue; /* a name that is listed twice */
        for (j = found; j > 0 && zt__distance(wanted, name_of(names, best[j - 1])) > distance; j--)
            if (j < SHOWN)
                best[j] = best[j - 1];
        if (j < SHOWN)
            best[j] = i;
        found += found < SHOWN;
    }
    snprintf(out, size, "none, for there are no names at all");
    for (i = 0; i < found && used < size; i++)
        used +=
            (size_t)snprintf(out + used, size - used, "%s'%.80s'", i ? ", " : "", name_of(names, best[i]));
}

/* ==== >>driver: what is newer than Level Zero 1.0, and may be absent ====================================== */

#define ZT__OPTIONAL_FUNCTIONS(X)                                                                            \
    X(zeCommandListIsImmediate, is_immediate, (ze_command_list_handle_t list, ze_bool_t * is))               \
    X(zetDeviceEnableMetricsExp, enable_metrics, (ze_device_handle_t device))                                \
    X(zetMetricGroupCalculateMultipleMetricValuesExp, calculate_multiple,                                    \
      (zet_metric_group_handle_t group, zet_metric_group_calculation_type_t type, size_t raw_size,           \
       const uint8_t *raw, uint32_t *set_count, uint32_t *value_count, uint32_t *counts,                     \
       zet_typed_value_t *values))

typedef struct zt__driver {
#define X(symbol, member, parameters) ze_result_t(ZE_APICALL *member) parameters;
    ZT__OPTIONAL_FUNCTIONS(X)
#undef X
} zt__driver;

ZT__FN void zt__load_driver(zt__driver *driver) {
#define X(symbol, member, parameters) zt__find_symbol(#symbol, &driver->member);
    ZT__OPTIONAL_FUNCTIONS(X)
#undef X
}

ZT__FN int zt__is_lost(ze_result_t result) {
    return result == ZE_RESULT_ERROR_DEVICE_LOST || result == ZE_RESULT_ERROR_DEVICE_REQUIRES_RESET;
}

/* ==== >>groups: look-up, activation, metrics ============================================================== */

enum { ZT__MAX_GROUPS = 8, ZT__MAX_ACTIVE = 64 };

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
    if (!catalog->handles || !catalog->properties) {
        zt__close_catalog(allocator, catalog);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
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

ZT__FN const char *zt__group_name(const void *catalog, uint32_t index) {
    return ((const zt__catalog *)catalog)->properties[index].name;
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
    char name[ZET_MAX_METRIC_GROUP_NAME];
} zt__active_group;

ZT__PROCESS_WIDE zt__mutex zt__process_lock_1 = PTHREAD_MUTEX_INITIALIZER;
ZT__PROCESS_WIDE zt__mutex zt__calculation_lock_1 = PTHREAD_MUTEX_INITIALIZER;
ZT__PROCESS_WIDE zt__active_group zt__active_1[ZT__MAX_ACTIVE];

/* Activates what is wanted on a device. With the process locked. */
ZT__FN ze_result_t zt__activate_wanted(ze_context_handle_t context, ze_device_handle_t device) {
    zet_metric_group_handle_t groups[ZT__MAX_ACTIVE];
    uint32_t i, count = 0;
    for (i = 0; i < ZT__MAX_ACTIVE; i++)
        if (zt__active_1[i].users && zt__active_1[i].device == device)
            groups[count++] = zt__active_1[i].group;
    return zetContextActivateMetricGroups(context, device, count, count ? groups : NULL);
}

/* The entry of a group; else one that shares its domain; else a free one; else NULL. */
ZT__FN zt__active_group *zt__find_active(ze_device_handle_t device, uint32_t domain) {
    zt__active_group *unused = NULL;
    uint32_t i;
    for (i = 0; i < ZT__MAX_ACTIVE; i++) {
        zt__active_group *entry = &zt__active_1[i];
        if (entry->users && entry->device == device && entry->domain == domain)
            return entry;
        if (!entry->users && !unused)
            unused = entry;
    }
    return unused;
}

/* Takes a group into the set of its device. On HANDLE_OBJECT_IN_USE, `holder` is the group in its way. */
ZT__FN ze_result_t zt__activate(ze_context_handle_t context, ze_device_handle_t device,
                                zet_metric_group_handle_t group,
                                const zet_metric_group_properties_t *properties,
                                char holder[ZET_MAX_METRIC_GROUP_NAME]) {
    ze_result_t result = ZE_RESULT_SUCCESS;
    zt__active_group *entry;
    zt__lock(&zt__process_lock_1);
    entry = zt__find_active(device, properties->domain);
    if (!entry) {
        result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    } else if (entry->users && entry->group != group) {
        memcpy(holder, entry->name, ZET_MAX_METRIC_GROUP_NAME);
        result = ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
    } else if (entry->users++ == 0) {
        entry->device = device;
        entry->group = group;
        entry->domain = properties->domain;
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
        zt__active_group *entry = &zt__active_1[i];
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

/* An active group. Its metrics are a run of the profiler's columns. */
typedef struct zt__group {
    zet_metric_group_handle_t handle;
    zet_metric_group_properties_t properties;
    zet_metric_properties_t *metrics;
    uint32_t metric_count;
    uint32_t first_column;
    size_t report_size;        /* 0 until the first report was seen. Atomic */
    zet_typed_value_t *values; /* room for what is calculated from a batch */
} zt__group;

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
        *call = "zetMetricGetProperties";
        group->metrics[i].stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES;
        result = zetMetricGetProperties(handles[i], &group->metrics[i]);
        /* units can come as the text of a null pointer */
        if (strcmp(group->metrics[i].resultUnits, "(null)") == 0)
            group->metrics[i].resultUnits[0] = 0;
    }
    group->metric_count = count;
    zt__free(allocator, handles);
    return result;
}

ZT__FN void zt__free_group(const zt_allocator *allocator, zt__group *group) {
    zt__free(allocator, group->metrics);
    zt__free(allocator, group->values);
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

/* A value of any type as a number; NaN where it is none. */
ZT__FN double zt__number(const zet_typed_value_t *value) {
    switch (value->type) {
    case ZET_VALUE_TYPE_UINT32:
        return (double)value->value.ui32;
    case ZET_VALUE_TYPE_UINT64:
        return (double)value->value.ui64;
    case ZET_VALUE_TYPE_FLOAT32:
        return isfinite(value->value.fp32) ? (double)value->value.fp32 : (double)NAN;
    case ZET_VALUE_TYPE_FLOAT64:
        return isfinite(value->value.fp64) ? value->value.fp64 : (double)NAN;
    case ZET_VALUE_TYPE_BOOL8:
        return value->value.b8 ? 1.0 : 0.0;
    default:
        return (double)NAN;
    }
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
enum { ZT__NAME_PAGE = 256, ZT__NAME_PAGES = 256, ZT__MAX_PROFILERS = 256 };

typedef struct zt__list zt__list;

/* What one region in flight needs. A slot is free, open (begun, not ended), or bound (ended, in the chain of
   its list). */
typedef struct zt__slot {
    struct zt__slot *next; /* free, or in the chain of its list */
    zt__list *list;
    ze_event_handle_t event;
    uint64_t *stamps; /* two time stamps of the device, or NULL */
    uint32_t region;
    uint32_t generation; /* odd while open; a zt_region of another generation is stale. Atomic */
    uint32_t epoch;      /* of its list, when it was begun */
    uint8_t pending;     /* an instance that is begun and not yet counted otherwise */
    uint8_t submitted;   /* known to be on its way to the device */
    uint8_t executed;    /* has run at least once since it was recorded */
    uint8_t tries;       /* how often the event was there and the data was not */
    uint8_t dead;        /* its commands are on the list in part: bound, and never read */
    uint8_t unclean;     /* to be reset before it is used: some of its commands have run */
    uint8_t broken;      /* could not be reset: never read, and never used again */
    uint8_t retired;     /* the device may still write to it: never used again */
    zet_metric_query_handle_t queries[ZT__MAX_GROUPS];
} zt__slot;

typedef struct zt__step {
    struct zt__step *next;
    ze_event_pool_handle_t events;
    zet_metric_query_pool_handle_t queries[ZT__MAX_GROUPS];
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

/* What is known of a command list. */
struct zt__list {
    zt__list *next_in_bucket;
    zt__list *next_active;
    zt__list *next_idle;
    ze_command_list_handle_t handle;
    zt__kind kind;
    uint32_t epoch;          /* counts its recordings, as far as they can be told apart */
    uint32_t executed;       /* bound slots that have run */
    uint32_t open;           /* slots begun and not yet bound */
    uint8_t announced;       /* about to be executed: what has never run is not asked */
    uint8_t unready;         /* has slots that are dead or broken */
    uint8_t quiet;           /* what has run before was not executed again: it is not asked either */
    uint8_t idle;            /* released, and not used since */
    uint8_t queued;          /* in the profiler's queue of idle lists, or was when it became used again */
    uint8_t active;          /* in the profiler's queue of lists with bound slots */
    uint8_t busy;            /* claimed by one thread, which alone may walk and change its bound slots */
    zt__slot *first, **last; /* bound slots, in the order in which they were ended */
    zt__slot *taken;         /* those that the harvest is at */
    uint32_t taken_epoch;
    uint32_t newly_executed;
};

/* Moments of one column over the instances of a region. */
typedef struct zt__moments {
    uint64_t count;
    double weight, sum, mean, m2, min, max;
} zt__moments;

/* A region by name. Column 0 is GPU time, the metrics follow. */
typedef struct zt__record {
    char *name;
    uint64_t hash;
    uint64_t seen; /* instances in the statistics */
    uint64_t lost, dropped;
    zt__moments *moments;
    double *rows; /* the kept instances, row by row */
    uint32_t kept, capacity;
} zt__record;

/* An instance that was read and is not calculated yet. */
typedef struct zt__entry {
    uint32_t region;
    double time_ns; /* from time stamps, or NaN */
} zt__entry;

/* Instances that are calculated together. */
typedef struct zt__batch {
    struct zt__batch *next;
    uint32_t count;
    zt__entry entries[ZT__BATCH];
    uint8_t *raw[ZT__MAX_GROUPS]; /* of each group, the reports one after the other */
} zt__batch;

struct zt_profiler {
    uint32_t id;
    ze_context_handle_t context;
    ze_device_handle_t device;
    char device_name[ZE_MAX_DEVICE_NAME];
    zt_config config;
    zt__driver driver;
    zt__diagnostics diagnostics;
    zt_availability availability;
    zt__text availability_text;
    char columns[1024];

    zt__group groups[ZT__MAX_GROUPS];
    uint32_t group_count;
    uint32_t metric_count;
    zt_metric *metrics;
    uint32_t time_metric; /* the column of GpuTime less one, or UINT32_MAX */
    uint8_t *causes_of;   /* a metric: the cause its flag stands for, or ZT_CAUSE_COUNT */
    int stamped;          /* regions write time stamps */
    double ns_per_tick;
    uint64_t tick_mask;
    int lost; /* the device, atomic */

    zt__mutex state; /* what follows, for instants; no driver call is made under it */
    zt__slot *free_slots;
    zt__step *steps;
    uint32_t slot_count;
    uint32_t open; /* slots begun and not yet bound */
    zt__list *lists[ZT__LIST_BUCKETS];
    zt__list *active_first, **active_last;
    uint32_t active_count;
    zt__batch *open_batches; /* with room */
    zt__batch *full_batches, **last_full_batch;
    uint32_t batch_count, batch_limit;
    zt__list *idle_first, **idle_last;
    uint32_t idle_count;
    zt_counts counts;
    uint64_t causes[ZT_CAUSE_COUNT];
    zt__record *records[ZT__NAME_PAGES];
    uint32_t record_count;
    uint32_t *names; /* open addressing: index of the record plus one, or 0 */
    uint32_t name_capacity;

    uint32_t harvests; /* atomic */
    zt__owned growing; /* one thread makes slots */

    zt__owned settling; /* one thread calculates; taken before the locks above and below */
    zt__worker worker;  /* calculates what is deferred */
    double *row;
    uint64_t random;

    zt__mutex results; /* statistics */
    double *scratch;
};

ZT__FN int zt__is_gone(const zt_profiler *profiler) {
    return zt__load(&profiler->lost);
}

/* Looks at the result of a driver call: a lost device is remembered, anything else that failed is said. */
ZT__FN ze_result_t zt__check(zt_profiler *profiler, ze_result_t result, const char *call,
                             const char *remedy) {
    if (result == ZE_RESULT_SUCCESS)
        return result;
    if (!zt__is_lost(result))
        return zt__say_failed(&profiler->diagnostics, result, call, remedy);
    zt__store(&profiler->lost, 1);
    return zt__say(&profiler->diagnostics, result, ZT__DEVICE_LOST, call, zt_result_name(result));
}

ZT__FN void zt__destroy_pools(zt_profiler *profiler, zt__step *step) {
    uint32_t i, g;
    for (i = 0; i < step->count && step->slots; i++) {
        zt__slot *slot = &step->slots[i];
        for (g = 0; g < profiler->group_count; g++)
            if (slot->queries[g])
                zetMetricQueryDestroy(slot->queries[g]);
        if (slot->event)
            zeEventDestroy(slot->event);
    }
    for (g = 0; g < profiler->group_count; g++)
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
    for (g = 0; g < profiler->group_count && result == ZE_RESULT_SUCCESS; g++)
        result = zetMetricQueryPoolCreate(profiler->context, profiler->device, profiler->groups[g].handle,
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

ZT__FN ze_result_t zt__make_slots(zt_profiler *profiler, zt__step *step, const char **call) {
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
        for (g = 0; g < profiler->group_count && result == ZE_RESULT_SUCCESS; g++)
            result = zetMetricQueryCreate(step->queries[g], i, &slot->queries[g]);
        if (result != ZE_RESULT_SUCCESS)
            return result;
        *call = "zeEventCreate";
        event.index = i;
        result = zeEventCreate(step->events, &event, &slot->event);
        if (result != ZE_RESULT_SUCCESS)
            return result;
        slot->stamps = step->stamps ? step->stamps + 2 * (size_t)i : NULL;
    }
    return result;
}

/* Makes one more step of slots. By one thread at a time, so that two do not make one each. */
ZT__FN ze_result_t zt__grow(zt_profiler *profiler, const char **call) {
    const zt_allocator *allocator = &profiler->config.allocator;
    zt__step *step = (zt__step *)zt__allocate(allocator, 1, sizeof *step);
    uint32_t i, room = profiler->config.max_slots - profiler->slot_count;
    ze_result_t result;
    *call = "malloc";
    if (!step)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    step->count = room < profiler->config.slots_per_step ? room : profiler->config.slots_per_step;
    step->slots = (zt__slot *)zt__allocate(allocator, step->count, sizeof *step->slots);
    result = step->slots ? zt__make_pools(profiler, step, call) : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    if (result == ZE_RESULT_SUCCESS)
        result = zt__make_slots(profiler, step, call);
    if (result != ZE_RESULT_SUCCESS) {
        zt__destroy_step(profiler, step);
        return result;
    }
    zt__lock(&profiler->state);
    for (i = step->count; i-- > 0;) {
        step->slots[i].next = profiler->free_slots;
        profiler->free_slots = &step->slots[i];
    }
    step->next = profiler->steps;
    profiler->steps = step;
    profiler->slot_count += step->count;
    zt__unlock(&profiler->state);
    return ZE_RESULT_SUCCESS;
}

/* Resets a slot's event and queries. Where that fails it is broken. */
ZT__FN void zt__reset_slot(zt_profiler *profiler, zt__slot *slot) {
    static const char remedy[] = "This slot is not used again. Update the driver if it lasts.";
    uint32_t g;
    ze_result_t result = zeEventHostReset(slot->event);
    int failed = zt__check(profiler, result, "zeEventHostReset", remedy) != ZE_RESULT_SUCCESS;
    for (g = 0; g < profiler->group_count; g++) {
        result = zetMetricQueryReset(slot->queries[g]);
        failed |= zt__check(profiler, result, "zetMetricQueryReset", remedy) != ZE_RESULT_SUCCESS;
    }
    slot->broken = failed != 0;
    slot->unclean = 0;
}

/* ==== >>statistics: moments of everything, rows of some =================================================== */

ZT__FN double zt__nan(void) {
    return (double)NAN;
}

ZT__FN uint32_t zt__column_count(const zt_profiler *profiler) {
    return profiler->metric_count + 1;
}

ZT__FN zt_aggregation zt__column_aggregation(const zt_profiler *profiler, uint32_t column) {
    return column == 0 ? ZT_AGGREGATE_SUM : profiler->metrics[column - 1].aggregation;
}

/* The last divisor, and one by it: divisions are what the statistics would else take longest for, and the
   columns of a region have few weights between them. */
typedef struct zt__inverse {
    double of, is;
} zt__inverse;

ZT__FN double zt__by(double dividend, double divisor, zt__inverse *inverse) {
    if (divisor != inverse->of) {
        inverse->of = divisor;
        inverse->is = 1 / divisor;
    }
    return dividend * inverse->is;
}

/* Adds a value: West's weighted update of mean and spread, which does not cancel. */
ZT__FN void zt__add_value(zt__moments *moments, double value, double weight, zt__inverse *inverse) {
    double distance = value - moments->mean;
    if (moments->count++ == 0)
        moments->min = moments->max = value;
    else if (value < moments->min)
        moments->min = value;
    else if (value > moments->max)
        moments->max = value;
    moments->sum += value;
    if (!(weight > 0))
        return;
    moments->weight += weight;
    moments->mean += zt__by(distance * weight, moments->weight, inverse);
    moments->m2 += weight * distance * (value - moments->mean);
}

/* xorshift64*: good enough to draw samples, the same on every machine. */
ZT__FN uint64_t zt__random(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545F4914F6CDD1D);
}

/* Where to keep the row of the next instance, or NULL. Beyond the limit every instance so far has the same
   chance to be among the kept: reservoir sampling. */
ZT__FN double *zt__row_for_next(zt_profiler *profiler, zt__record *record) {
    const zt_allocator *allocator = &profiler->config.allocator;
    uint32_t columns = zt__column_count(profiler);
    uint64_t drawn;
    if (record->kept == record->capacity && record->capacity < profiler->config.samples) {
        uint32_t capacity = record->capacity ? record->capacity * 4 : 8;
        double *rows;
        if (capacity > profiler->config.samples)
            capacity = profiler->config.samples;
        rows = (double *)zt__allocate(allocator, (size_t)capacity * columns, sizeof *rows);
        if (rows) {
            if (record->kept)
                memcpy(rows, record->rows, (size_t)record->kept * columns * sizeof *rows);
            zt__free(allocator, record->rows);
            record->rows = rows;
            record->capacity = capacity;
        }
    }
    if (record->kept < record->capacity)
        return record->rows + (size_t)record->kept++ * columns;
    drawn = zt__random(&profiler->random) % (record->seen + 1);
    return drawn < record->kept ? record->rows + drawn * columns : NULL;
}

/* Adds the row of one instance to its region. With the results locked. Returns 0 without memory. */
ZT__FN int zt__add_row(zt_profiler *profiler, zt__record *record, const double *row) {
    uint32_t column, columns = zt__column_count(profiler);
    zt__inverse by_count = {1, 1}, by_time = {1, 1};
    double *kept;
    if (!record->moments) {
        record->moments =
            (zt__moments *)zt__allocate(&profiler->config.allocator, columns, sizeof *record->moments);
        if (!record->moments)
            return 0;
    }
    for (column = 0; column < columns; column++) {
        if (isnan(row[column]))
            continue;
        if (zt__column_aggregation(profiler, column) == ZT_AGGREGATE_MEAN)
            zt__add_value(&record->moments[column], row[column], row[0], &by_time);
        else
            zt__add_value(&record->moments[column], row[column], 1, &by_count);
    }
    kept = zt__row_for_next(profiler, record);
    if (kept)
        memcpy(kept, row, columns * sizeof *row);
    record->seen++;
    return 1;
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

ZT__FN zt_stats zt__empty_stats(void) {
    zt_stats stats;
    stats.count = 0;
    stats.sum = stats.mean = stats.stddev = stats.min = stats.max = stats.median = stats.p95 = zt__nan();
    return stats;
}

ZT__FN zt_region_info zt__empty_region(void) {
    zt_region_info info;
    info.name = "";
    info.count = info.lost = info.dropped = 0;
    info.time_ns = zt__empty_stats();
    return info;
}

/* Statistics of one column, but for median and 95th percentile. With the results locked. */
ZT__FN zt_stats zt__moment_stats(const zt_profiler *profiler, const zt__record *record, uint32_t column) {
    zt_stats stats = zt__empty_stats();
    const zt__moments *moments = record->moments ? &record->moments[column] : NULL;
    zt_aggregation aggregation = zt__column_aggregation(profiler, column);
    if (!moments || moments->count == 0)
        return stats;
    stats.count = moments->count;
    if (aggregation == ZT_AGGREGATE_SUM || aggregation == ZT_AGGREGATE_FLAG)
        stats.sum = moments->sum;
    if (aggregation == ZT_AGGREGATE_FLAG)
        return stats;
    stats.min = moments->min;
    stats.max = moments->max;
    if (aggregation != ZT_AGGREGATE_NONE && moments->weight > 0) {
        /* the weights stand for as many observations as there were instances */
        double freedom = moments->weight * (1.0 - 1.0 / (double)moments->count);
        stats.mean = aggregation == ZT_AGGREGATE_SUM ? moments->sum / (double)moments->count : moments->mean;
        stats.stddev = moments->count > 1 ? zt__sqrt(moments->m2 / freedom) : 0;
    }
    return stats;
}

/* Statistics of one column. With the results locked. */
ZT__FN zt_stats zt__column_stats(const zt_profiler *profiler, const zt__record *record, uint32_t column) {
    zt_stats stats = zt__moment_stats(profiler, record, column);
    zt_aggregation aggregation = zt__column_aggregation(profiler, column);
    uint32_t i, count = 0, columns = zt__column_count(profiler);
    if (aggregation == ZT_AGGREGATE_FLAG || aggregation == ZT_AGGREGATE_NONE)
        return stats;
    for (i = 0; i < record->kept; i++) {
        double value = record->rows[(size_t)i * columns + column];
        if (!isnan(value))
            profiler->scratch[count++] = value;
    }
    stats.median = zt__quantile(profiler->scratch, count, 0.5);
    stats.p95 = zt__quantile(profiler->scratch, count, 0.95);
    return stats;
}

/* ==== >>regions: names, lists, begin and end ============================================================== */

ZT__FN uint64_t zt__hash(const char *name, size_t length) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ length;
    size_t i;
    for (i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * UINT64_C(0x100000001b3);
    return hash ^ hash >> 29;
}

ZT__FN zt__record *zt__record_at(const zt_profiler *profiler, uint32_t index) {
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
        if (record->hash == hash && strncmp(record->name, name, length) == 0 && record->name[length] == 0)
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
        *zt__name_place(profiler, record->hash, record->name, strlen(record->name)) = i + 1;
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
    record->hash = hash;
    *zt__name_place(profiler, hash, name, length) = index + 1;
    zt__store(&profiler->record_count, index + 1);
    return index + 1;
}

/* The index of a region's name, or UINT32_MAX and the cause. */
ZT__FN uint32_t zt__intern(zt_profiler *profiler, const char *name, zt_cause *cause) {
    size_t length = name ? strlen(name) : 0;
    uint64_t hash;
    uint32_t found = 0;
    if (length == 0) {
        name = "(unnamed)";
        length = strlen(name);
    }
    hash = zt__hash(name, length);
    if (profiler->name_capacity)
        found = *zt__name_place(profiler, hash, name, length);
    if (!found)
        found = zt__add_name(profiler, hash, name, length, cause);
    return found - 1;
}

ZT__FN zt__list **zt__list_place(zt_profiler *profiler, ze_command_list_handle_t handle) {
    uint64_t hash = (uint64_t)(uintptr_t)handle * UINT64_C(0x9E3779B97F4A7C15);
    zt__list **place = &profiler->lists[hash >> 56 & (ZT__LIST_BUCKETS - 1)];
    while (*place && (*place)->handle != handle)
        place = &(*place)->next_in_bucket;
    return place;
}

ZT__FN zt__list *zt__find_list(zt_profiler *profiler, ze_command_list_handle_t handle) {
    return *zt__list_place(profiler, handle);
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
        if (list->idle) {
            *zt__list_place(profiler, list->handle) = list->next_in_bucket;
            memset(list, 0, sizeof *list);
            return list;
        }
    }
    return NULL;
}

/* The record of a list, made when it is new. NULL without memory. */
ZT__FN zt__list *zt__add_list(zt_profiler *profiler, ze_command_list_handle_t handle, zt__kind kind) {
    zt__list *list = zt__find_list(profiler, handle);
    if (!list)
        list = zt__recycle_list(profiler);
    if (!list)
        list = (zt__list *)zt__allocate(&profiler->config.allocator, 1, sizeof *list);
    if (list && !list->handle) {
        list->handle = handle;
        list->last = &list->first;
        *zt__list_place(profiler, handle) = list;
    }
    if (list)
        list->kind = kind;
    return list;
}

/* The queue of lists with bound slots. */
ZT__FN void zt__push_active(zt_profiler *profiler, zt__list *list) {
    if (list->active || list->busy)
        return;
    list->active = 1;
    list->next_active = NULL;
    *profiler->active_last = list;
    profiler->active_last = &list->next_active;
    profiler->active_count++;
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
    list->active = 0;
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
ZT__FN void zt__retire_list(zt_profiler *profiler, zt__list *list) {
    zt__remove_active(profiler, list);
    list->idle = 1;
    if (list->kind == ZT__KIND_IMMEDIATE)
        list->kind = ZT__KIND_NOT_ASKED; /* destroyed: the handle may come back as another kind */
    if (!list->queued) {
        list->queued = 1;
        list->next_idle = NULL;
        *profiler->idle_last = list;
        profiler->idle_last = &list->next_idle;
        profiler->idle_count++;
    }
}

/* Whether a list is immediate: one question to the driver a list. */
ZT__FN zt__kind zt__ask_kind(const zt_profiler *profiler, ze_command_list_handle_t handle) {
    ze_bool_t immediate = 0;
    if (!profiler->driver.is_immediate ||
        profiler->driver.is_immediate(handle, &immediate) != ZE_RESULT_SUCCESS)
        return ZT__KIND_UNKNOWN;
    return immediate ? ZT__KIND_IMMEDIATE : ZT__KIND_RECORDED;
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
    profiler->counts.in_flight--;
    profiler->causes[cause]++;
    zt__record_at(profiler, region)->lost++;
}

ZT__FN void zt__free_slot(zt_profiler *profiler, zt__slot *slot) {
    if (slot->generation & 1)
        zt__store(&slot->generation, slot->generation + 1);
    slot->unclean |= slot->dead;
    slot->pending = slot->submitted = slot->executed = slot->tries = slot->dead = 0;
    slot->list = NULL;
    if (slot->broken)
        return;
    slot->next = profiler->free_slots;
    profiler->free_slots = slot;
}

/* A region that is begun on a list that has run shows that the list is immediate or was reset: what has run
   will not run again. Returns whether it is so. */
ZT__FN int zt__renew(zt__list *list) {
    int has_run = list->executed > 0;
    list->epoch += (uint32_t)has_run;
    list->executed = 0;
    return has_run;
}

/* Binds a free slot to a list. NULL where there is none. */
ZT__FN zt__slot *zt__open_slot(zt_profiler *profiler, zt__list *list, uint32_t region) {
    zt__slot *slot = profiler->free_slots;
    if (!slot)
        return NULL;
    profiler->free_slots = slot->next;
    zt__renew(list);
    slot->list = list;
    slot->epoch = list->epoch;
    slot->region = region;
    slot->pending = 1;
    zt__store(&slot->generation, slot->generation + 1);
    list->open++;
    profiler->open++;
    profiler->counts.begun++;
    profiler->counts.in_flight++;
    return slot;
}

/* Puts an ended slot into the chain of its list. */
ZT__FN void zt__bind_slot(zt_profiler *profiler, zt__slot *slot) {
    zt__list *list = slot->list;
    slot->next = NULL;
    list->open--;
    profiler->open--;
    *list->last = slot;
    list->last = &slot->next;
    zt__push_active(profiler, list);
}

/* Counts an instance in flight as dropped. */
ZT__FN void zt__drop_pending(zt_profiler *profiler, zt__slot *slot, zt_cause cause) {
    slot->pending = 0;
    profiler->counts.in_flight--;
    zt__count_dropped(profiler, zt__record_at(profiler, slot->region), cause);
}

/* Drops a region whose commands could not all be appended. Where some were, the list holds them until it is
   reset, and so the slot stays bound to it. */
ZT__FN void zt__drop_unappended(zt_profiler *profiler, zt__slot *slot) {
    zt__lock(&profiler->state);
    zt__drop_pending(profiler, slot, ZT_DROPPED_APPEND_FAILED);
    if (slot->generation & 1)
        zt__store(&slot->generation, slot->generation + 1);
    if (slot->dead) {
        slot->list->unready = 1;
        zt__bind_slot(profiler, slot);
    } else {
        slot->list->open--;
        profiler->open--;
        zt__free_slot(profiler, slot);
    }
    zt__unlock(&profiler->state);
}

#define ZT__REMEDY_APPEND                                                                                    \
    "The region is not measured. The list must be open for commands, and of this context."

/* A time stamp, after the work before it: a query would wait for that by itself. */
ZT__FN ze_result_t zt__append_stamp(zt_profiler *profiler, ze_command_list_handle_t list, uint64_t *stamp,
                                    ze_event_handle_t signal) {
    ze_result_t result;
    if (profiler->group_count == 0) {
        result = zeCommandListAppendBarrier(list, NULL, 0, NULL);
        if (result != ZE_RESULT_SUCCESS)
            return zt__check(profiler, result, "zeCommandListAppendBarrier", ZT__REMEDY_APPEND);
    }
    result = zeCommandListAppendWriteGlobalTimestamp(list, stamp, signal, 0, NULL);
    return zt__check(profiler, result, "zeCommandListAppendWriteGlobalTimestamp", ZT__REMEDY_APPEND);
}

ZT__FN ze_result_t zt__append_begin(zt_profiler *profiler, zt__slot *slot) {
    ze_command_list_handle_t list = slot->list->handle;
    uint32_t g;
    if (slot->unclean)
        zt__reset_slot(profiler, slot);
    if (slot->broken)
        return ZE_RESULT_ERROR_UNKNOWN;
    for (g = 0; g < profiler->group_count; g++) {
        ze_result_t result = zetCommandListAppendMetricQueryBegin(list, slot->queries[g]);
        if (result != ZE_RESULT_SUCCESS)
            return zt__check(profiler, result, "zetCommandListAppendMetricQueryBegin", ZT__REMEDY_APPEND);
        slot->dead = 1; /* until the end is appended too */
    }
    return profiler->stamped ? zt__append_stamp(profiler, list, &slot->stamps[0], NULL) : ZE_RESULT_SUCCESS;
}

/* The last command signals the event: those before it are then complete. */
ZT__FN ze_result_t zt__append_end(zt_profiler *profiler, zt__slot *slot) {
    ze_command_list_handle_t list = slot->list->handle;
    ze_result_t result = ZE_RESULT_SUCCESS;
    uint32_t g;
    if (profiler->stamped)
        result =
            zt__append_stamp(profiler, list, &slot->stamps[1], profiler->group_count ? NULL : slot->event);
    for (g = profiler->group_count; g-- > 0 && result == ZE_RESULT_SUCCESS;) {
        /* no event is waited for, but the validation layer wants the pointer */
        result = zetCommandListAppendMetricQueryEnd(list, slot->queries[g], g ? NULL : slot->event, 0,
                                                    &slot->event);
        zt__check(profiler, result, "zetCommandListAppendMetricQueryEnd", ZT__REMEDY_APPEND);
    }
    slot->dead = result != ZE_RESULT_SUCCESS;
    return result;
}

/* ==== >>harvest: read what is ready, calculate it together, count it ====================================== */

/* ---- calculating ----------------------------------------------------------------------------------------- */

/* Calculates `count` reports of a batch from the `first` on. Calculation is not thread-safe in the driver,
   not even on different groups, so one lock guards it for the whole process. */
ZT__FN ze_result_t zt__calculate(const zt__group *group, const uint8_t *raw, uint32_t first, uint32_t count) {
    uint32_t wanted = count * group->metric_count, values = wanted;
    ze_result_t result;
    zt__lock(&zt__calculation_lock_1);
    result = zetMetricGroupCalculateMetricValues(
        group->handle, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, count * group->report_size,
        raw + first * group->report_size, &values, group->values + (size_t)first * group->metric_count);
    zt__unlock(&zt__calculation_lock_1);
    return result == ZE_RESULT_SUCCESS && values != wanted ? ZE_RESULT_ERROR_INVALID_SIZE : result;
}

/* Calculates the reports of one group: all at once, and where that fails one by one, so that a bad report
   costs one instance. */
ZT__FN void zt__calculate_batch(zt_profiler *profiler, uint32_t g, const zt__batch *batch, zt_cause *causes) {
    zt__group *group = &profiler->groups[g];
    uint32_t i;
    if (!group->values)
        group->values = (zet_typed_value_t *)zt__allocate(
            &profiler->config.allocator, (size_t)ZT__BATCH * group->metric_count, sizeof *group->values);
    if (group->values && zt__calculate(group, batch->raw[g], 0, batch->count) == ZE_RESULT_SUCCESS)
        return;
    for (i = 0; i < batch->count; i++) {
        ze_result_t result =
            group->values ? zt__calculate(group, batch->raw[g], i, 1) : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
        if (result == ZE_RESULT_SUCCESS)
            continue;
        causes[i] = ZT_LOST_READ_FAILED;
        zt__check(profiler, result, "zetMetricGroupCalculateMetricValues",
                  "The instance is counted as lost. Update the driver if it lasts.");
    }
}

/* The row of one instance of a batch. Returns the cause for which it is lost, or ZT_CAUSE_COUNT. */
ZT__FN zt_cause zt__fill_row(zt_profiler *profiler, const zt__batch *batch, uint32_t index) {
    zt_cause cause = ZT_CAUSE_COUNT;
    uint32_t g, m;
    for (g = 0; g < profiler->group_count; g++) {
        const zt__group *group = &profiler->groups[g];
        const zet_typed_value_t *values = group->values + (size_t)index * group->metric_count;
        for (m = 0; m < group->metric_count; m++) {
            uint32_t metric = group->first_column + m;
            double value = zt__number(&values[m]);
            profiler->row[metric + 1] = value;
            if (profiler->causes_of[metric] != ZT_CAUSE_COUNT && value != 0)
                cause = (zt_cause)profiler->causes_of[metric];
        }
    }
    profiler->row[0] = profiler->time_metric == UINT32_MAX ? batch->entries[index].time_ns
                                                           : profiler->row[profiler->time_metric + 1];
    return cause;
}

/* Hands one instance to the application, which may ask for results meanwhile. */
ZT__FN void zt__give_sample(zt_profiler *profiler, uint32_t region) {
    zt_sample sample;
    sample.name = zt__record_at(profiler, region)->name;
    sample.region = region;
    sample.metric_count = profiler->metric_count;
    sample.gpu_time_ns = profiler->row[0];
    sample.values = profiler->row + 1;
    zt__unlock(&profiler->results);
    profiler->config.sample(&sample, profiler->config.sample_user);
    zt__lock(&profiler->results);
}

/* Adds one instance of a batch to the statistics. Returns the cause for which it is not, or ZT_CAUSE_COUNT.
   With the results locked. */
ZT__FN zt_cause zt__add_instance(zt_profiler *profiler, const zt__batch *batch, uint32_t index) {
    uint32_t region = batch->entries[index].region;
    zt_cause cause = zt__fill_row(profiler, batch, index);
    if (cause != ZT_CAUSE_COUNT)
        return cause;
    if (profiler->config.sample)
        zt__give_sample(profiler, region);
    return zt__add_row(profiler, zt__record_at(profiler, region), profiler->row) ? ZT_CAUSE_COUNT
                                                                                 : ZT_DROPPED_NO_MEMORY;
}

/* Counts what became of a batch. */
ZT__FN void zt__count_batch(zt_profiler *profiler, const zt__batch *batch, const zt_cause *causes) {
    uint32_t i;
    zt__lock(&profiler->state);
    for (i = 0; i < batch->count; i++) {
        if (causes[i] == ZT_CAUSE_COUNT) {
            profiler->counts.collected++;
            profiler->counts.in_flight--;
        } else if (causes[i] >= ZT_DROPPED_NO_SLOT) {
            profiler->counts.in_flight--;
            zt__count_dropped(profiler, zt__record_at(profiler, batch->entries[i].region), causes[i]);
        } else {
            zt__count_lost(profiler, batch->entries[i].region, causes[i]);
        }
    }
    zt__unlock(&profiler->state);
}

ZT__FN void zt__say_lost(zt_profiler *profiler, uint32_t region, zt_cause cause) {
    zt__say(&profiler->diagnostics, ZE_RESULT_WARNING_DROPPED_DATA, ZT__SAMPLE_LOST,
            zt__record_at(profiler, region)->name, zt_cause_name(cause));
}

ZT__FN void zt__settle_batch(zt_profiler *profiler, const zt__batch *batch) {
    zt_cause causes[ZT__BATCH];
    uint32_t i, g;
    for (i = 0; i < batch->count; i++)
        causes[i] = ZT_CAUSE_COUNT;
    for (g = 0; g < profiler->group_count; g++)
        zt__calculate_batch(profiler, g, batch, causes);
    zt__lock(&profiler->results);
    for (i = 0; i < batch->count; i++)
        if (causes[i] == ZT_CAUSE_COUNT)
            causes[i] = zt__add_instance(profiler, batch, i);
    zt__unlock(&profiler->results);
    zt__count_batch(profiler, batch, causes);
    for (i = 0; i < batch->count; i++)
        if (causes[i] != ZT_CAUSE_COUNT)
            zt__say_lost(profiler, batch->entries[i].region, causes[i]);
}

/* ---- batches: what was read and is to be calculated ------------------------------------------------------- */

/* A batch with room. NULL where all are full, or without memory. */
ZT__FN zt__batch *zt__take_batch(zt_profiler *profiler) {
    zt__batch *batch;
    int make;
    zt__lock(&profiler->state);
    batch = profiler->open_batches;
    make = !batch && profiler->batch_count < profiler->batch_limit;
    if (batch)
        profiler->open_batches = batch->next;
    profiler->batch_count += (uint32_t)make;
    zt__unlock(&profiler->state);
    if (!make)
        return batch;
    batch = (zt__batch *)zt__allocate(&profiler->config.allocator, 1, sizeof *batch);
    if (!batch) {
        zt__lock(&profiler->state);
        profiler->batch_count--;
        zt__unlock(&profiler->state);
    }
    return batch;
}

/* Gives a batch back: to be calculated, or to be filled on if calculation is left for later. */
ZT__FN void zt__give_batch(zt_profiler *profiler, zt__batch *batch) {
    int full = batch->count == ZT__BATCH || (batch->count > 0 && !profiler->config.deferred);
    zt__lock(&profiler->state);
    if (full) {
        batch->next = NULL;
        *profiler->last_full_batch = batch;
        profiler->last_full_batch = &batch->next;
    } else {
        batch->next = profiler->open_batches;
        profiler->open_batches = batch;
    }
    zt__unlock(&profiler->state);
    if (full && zt__load(&profiler->worker.runs))
        zt__ring(&profiler->worker);
}

/* The next batch to be calculated; with `all` also those that are not full. */
ZT__FN zt__batch *zt__next_to_settle(zt_profiler *profiler, int all) {
    zt__batch *batch, **link;
    zt__lock(&profiler->state);
    batch = profiler->full_batches;
    if (batch) {
        profiler->full_batches = batch->next;
        if (!profiler->full_batches)
            profiler->last_full_batch = &profiler->full_batches;
    }
    for (link = &profiler->open_batches; all && !batch && *link;) {
        if ((*link)->count) {
            batch = *link;
            *link = batch->next;
        } else {
            link = &(*link)->next;
        }
    }
    zt__unlock(&profiler->state);
    return batch;
}

/* With the settling owned, which this gives up. */
ZT__FN void zt__settle_owned(zt_profiler *profiler, int all) {
    zt__batch *batch;
    while ((batch = zt__next_to_settle(profiler, all)) != NULL) {
        zt__settle_batch(profiler, batch);
        batch->count = 0;
        zt__give_batch(profiler, batch);
    }
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
    zt__lock(&profiler->state);
    has = profiler->full_batches != NULL;
    zt__unlock(&profiler->state);
    return has;
}

/* Calculates full batches, unless another thread is at it, which then does these too. */
ZT__FN void zt__settle_full(zt_profiler *profiler) {
    while (zt__has_full_batch(profiler) && zt__try_own(&profiler->settling))
        zt__settle_owned(profiler, 0);
}

/* What the library's own thread does. */
ZT__FN void zt__work(void *profiler) {
    zt__settle((zt_profiler *)profiler, 0);
}

/* What is asked for is calculated first. */
ZT__FN void zt__catch_up(const zt_profiler *profiler) {
    if (profiler->config.deferred)
        zt__settle((zt_profiler *)profiler, 1);
}

/* ---- reading --------------------------------------------------------------------------------------------- */

/* What one walk over lists carries along. */
typedef struct zt__hand {
    zt__batch *batch;
    zt__slot *freed;
    int thorough; /* asks every slot, and not only up to the first that is not ready */
} zt__hand;

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

ZT__FN ze_result_t zt__read_report(zt_profiler *profiler, uint32_t g, const zt__slot *slot,
                                   zt__batch *batch) {
    zt__group *group = &profiler->groups[g];
    ze_result_t result = ZE_RESULT_SUCCESS;
    size_t size, expected;
    if (zt__load(&group->report_size) == 0)
        result = zt__size_reports(group, slot->queries[g]);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    size = expected = zt__load(&group->report_size);
    if (!batch->raw[g])
        batch->raw[g] = (uint8_t *)zt__allocate(&profiler->config.allocator, ZT__BATCH, expected);
    if (!batch->raw[g])
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    result = zetMetricQueryGetData(slot->queries[g], &size, batch->raw[g] + batch->count * expected);
    return result == ZE_RESULT_SUCCESS && size != expected ? ZE_RESULT_ERROR_INVALID_SIZE : result;
}

ZT__FN ze_result_t zt__read_reports(zt_profiler *profiler, const zt__slot *slot, zt__batch *batch) {
    ze_result_t result = ZE_RESULT_SUCCESS;
    uint32_t g;
    for (g = 0; g < profiler->group_count && result == ZE_RESULT_SUCCESS; g++)
        result = zt__read_report(profiler, g, slot, batch);
    return result;
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

/* Asks a slot's event, and reads its reports into the batch when it has signalled. */
ZT__FN zt__outcome zt__read_slot(zt_profiler *profiler, zt__slot *slot, zt__batch *batch, zt_cause *cause) {
    const char *call = "zeEventQueryStatus";
    ze_result_t result =
        zt__is_gone(profiler) ? ZE_RESULT_ERROR_DEVICE_LOST : zeEventQueryStatus(slot->event);
    if (result == ZE_RESULT_NOT_READY)
        return ZT__WAITING;
    if (result != ZE_RESULT_SUCCESS && !zt__is_lost(result))
        return zt__not_told(profiler, slot, result, cause);
    if (result == ZE_RESULT_SUCCESS && profiler->group_count) {
        call = "zetMetricQueryGetData";
        result = zt__read_reports(profiler, slot, batch);
        /* drivers say UNKNOWN where the specification says NOT_READY */
        if (result == ZE_RESULT_NOT_READY || result == ZE_RESULT_ERROR_UNKNOWN) {
            *cause = ZT_LOST_NEVER_DELIVERED;
            return ++slot->tries < ZT__TRIES ? ZT__UNDELIVERED : ZT__LOST;
        }
    }
    if (result != ZE_RESULT_SUCCESS) {
        zt__check(profiler, result, call, "The instance is counted as lost. Update the driver if it lasts.");
        *cause = zt__is_lost(result) ? ZT_LOST_DEVICE : ZT_LOST_READ_FAILED;
        return ZT__LOST;
    }
    batch->entries[batch->count].region = slot->region;
    batch->entries[batch->count].time_ns =
        slot->stamps
            ? (double)((slot->stamps[1] - slot->stamps[0]) & profiler->tick_mask) * profiler->ns_per_tick
            : zt__nan();
    batch->count++;
    return ZT__READ;
}

/* Makes a slot ready for its next execution or region. */
ZT__FN void zt__rearm(zt_profiler *profiler, zt__slot *slot) {
    slot->pending = slot->submitted = slot->tries = 0;
    if (!zt__is_gone(profiler) && !slot->broken)
        zt__reset_slot(profiler, slot);
    slot->list->unready |= slot->broken;
}

/* Counts an instance that was announced by nobody: its recorded list was executed again without zt_execute.
 */
ZT__FN void zt__count_begun(zt_profiler *profiler) {
    zt__lock(&profiler->state);
    profiler->counts.begun++;
    profiler->counts.in_flight++;
    zt__unlock(&profiler->state);
}

/* What follows the outcome of a slot: an instance lost is counted, a full batch handed on. */
ZT__FN void zt__conclude(zt_profiler *profiler, zt__slot *slot, zt__outcome outcome, zt_cause cause,
                         zt__hand *hand) {
    if (!slot->pending)
        zt__count_begun(profiler);
    if (outcome == ZT__LOST) {
        zt__lock(&profiler->state);
        zt__count_lost(profiler, slot->region, cause);
        zt__unlock(&profiler->state);
        zt__say_lost(profiler, slot->region, cause);
    }
    zt__rearm(profiler, slot);
    if (hand->batch->count == ZT__BATCH) {
        zt__give_batch(profiler, hand->batch);
        hand->batch = NULL;
    }
}

/* Whether a bound slot has nothing more to give, because its list was recorded anew since. */
ZT__FN int zt__is_spent(const zt__list *list, const zt__slot *slot) {
    return (slot->executed || slot->dead) && slot->epoch != list->taken_epoch;
}

/* Looks at one bound slot. Returns 0 where those after it cannot be read either. */
ZT__FN int zt__harvest_slot(zt_profiler *profiler, zt__list *list, zt__slot *slot, zt__hand *hand) {
    zt_cause cause = ZT_CAUSE_COUNT;
    zt__outcome outcome;
    if (slot->dead || slot->broken || (!slot->pending && zt__is_gone(profiler)))
        return 1;
    if (slot->pending ? list->announced && !slot->submitted : list->quiet)
        return 1;
    if (!hand->batch)
        hand->batch = zt__take_batch(profiler);
    if (!hand->batch) {
        zt__settle(profiler, 1);
        hand->batch = zt__take_batch(profiler);
    }
    if (!hand->batch)
        return 0; /* other threads have them all */
    outcome = zt__read_slot(profiler, slot, hand->batch, &cause);
    list->quiet |= outcome == ZT__WAITING && !slot->pending;
    if (outcome == ZT__READ || outcome == ZT__LOST) {
        zt__conclude(profiler, slot, outcome, cause, hand);
        list->newly_executed += !slot->executed;
        slot->executed = 1;
    }
    return outcome != ZT__WAITING || hand->thorough || !slot->pending;
}

/* Walks the slots that were taken from one list; those that are done with are freed. */
ZT__FN void zt__walk_list(zt_profiler *profiler, zt__list *list, zt__hand *hand) {
    zt__slot **link = &list->taken;
    int go_on = 1;
    while (*link && go_on) {
        zt__slot *slot = *link;
        if (!zt__is_spent(list, slot))
            go_on = zt__harvest_slot(profiler, list, slot, hand);
        if (zt__is_spent(list, slot) || (slot->executed && list->kind == ZT__KIND_IMMEDIATE)) {
            *link = slot->next;
            slot->next = hand->freed;
            hand->freed = slot;
        } else {
            link = &slot->next;
        }
    }
}

/* Takes the bound slots of a claimed list, so that they can be walked without the lock. */
ZT__FN void zt__take_bound(zt_profiler *profiler, zt__list *list) {
    zt__lock(&profiler->state);
    list->taken = list->first;
    list->taken_epoch = list->epoch;
    list->newly_executed = 0;
    list->first = NULL;
    list->last = &list->first;
    zt__unlock(&profiler->state);
}

/* Puts back, before what was bound meanwhile, the slots that are still bound, and frees the others. */
ZT__FN void zt__put_back(zt_profiler *profiler, zt__list *list, zt__hand *hand) {
    zt__slot **end = &list->taken;
    zt__lock(&profiler->state);
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
        zt__free_slot(profiler, slot);
    }
    zt__unlock(&profiler->state);
}

/* Reads what is ready of a claimed list. */
ZT__FN void zt__harvest_list(zt_profiler *profiler, zt__list *list, zt__hand *hand) {
    list->quiet = 0;
    zt__take_bound(profiler, list);
    zt__walk_list(profiler, list, hand);
    zt__put_back(profiler, list, hand);
}

/* The next list of the queue of lists with bound slots, claimed. NULL when each was seen once. */
ZT__FN zt__list *zt__claim_next(zt_profiler *profiler, uint32_t *left) {
    zt__list *list = NULL;
    zt__lock(&profiler->state);
    if (*left > profiler->active_count)
        *left = profiler->active_count;
    while (*left > 0 && !list) {
        list = zt__pop_active(profiler);
        --*left;
        if (list && (list->busy || !list->first))
            list = NULL; /* whoever claimed it puts it into the queue again */
    }
    if (list)
        list->busy = 1;
    zt__unlock(&profiler->state);
    return list;
}

ZT__FN void zt__unclaim(zt_profiler *profiler, zt__list *list) {
    zt__lock(&profiler->state);
    list->busy = 0;
    if (list->first)
        zt__push_active(profiler, list);
    zt__unlock(&profiler->state);
}

/* Claims a list, by handle, from whoever harvests it. NULL where it has no record, or the configured time is
   up. */
ZT__FN zt__list *zt__claim(zt_profiler *profiler, ze_command_list_handle_t handle) {
    uint64_t pause = 0, deadline = 0;
    for (;;) {
        zt__list *list;
        int busy;
        zt__lock(&profiler->state);
        list = zt__find_list(profiler, handle);
        busy = list && list->busy;
        if (list && !busy)
            list->busy = 1;
        zt__unlock(&profiler->state);
        if (!busy)
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

/* Ends a walk: what it read is calculated, unless that is left for later. */
ZT__FN void zt__end_hand(zt_profiler *profiler, zt__hand *hand) {
    if (hand->batch)
        zt__give_batch(profiler, hand->batch);
    hand->batch = NULL;
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
    zt__start_hand(&hand, thorough || zt__count_up(&profiler->harvests) % THOROUGH_EVERY == 0);
    while ((list = zt__claim_next(profiler, &left)) != NULL) {
        zt__harvest_list(profiler, list, &hand);
        zt__unclaim(profiler, list);
    }
    zt__end_hand(profiler, &hand);
}

ZT__FN int zt__slot_runs(const zt__list *list, const zt__slot *slot) {
    return slot->pending && (slot->submitted || list->kind == ZT__KIND_IMMEDIATE);
}

/* Whether a claimed list has an instance that is known to be on its way. */
ZT__FN int zt__is_running(zt_profiler *profiler, const zt__list *list) {
    const zt__slot *slot;
    zt__lock(&profiler->state);
    for (slot = list->first; slot && !zt__slot_runs(list, slot); slot = slot->next)
        ;
    zt__unlock(&profiler->state);
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
        running = zt__is_running(profiler, list);
        if (running && !*deadline)
            *deadline = zt__deadline(profiler->config.wait_timeout_ns);
    } while (running && zt__pause_until(*deadline, &pause));
    return !running;
}

/* Makes one more step of slots, if few are free. Returns the cause when there are none. */
ZT__FN zt_cause zt__grow_if_few(zt_profiler *profiler) {
    const char *call;
    const zt__slot *slot;
    uint32_t free_count = 0;
    ze_result_t result;
    zt__lock(&profiler->state);
    for (slot = profiler->free_slots; slot && free_count <= profiler->slot_count / 8; slot = slot->next)
        free_count++;
    zt__unlock(&profiler->state);
    if (free_count > profiler->slot_count / 8)
        return ZT_CAUSE_COUNT;
    if (profiler->slot_count >= profiler->config.max_slots)
        return free_count ? ZT_CAUSE_COUNT : ZT_DROPPED_NO_SLOT;
    result = zt__grow(profiler, &call);
    if (result == ZE_RESULT_SUCCESS)
        return ZT_CAUSE_COUNT;
    profiler->config.max_slots = profiler->slot_count; /* it will not be tried again */
    zt__check(profiler, result, call, "No more slots can be made; regions beyond are dropped.");
    return free_count ? ZT_CAUSE_COUNT : ZT_DROPPED_NO_MEMORY;
}

/* Frees slots by collecting, above all those of a list that a region is begun on, and makes more where that
   gives few. Returns the cause when there are none. */
ZT__FN zt_cause zt__make_room(zt_profiler *profiler, zt__list *list) {
    zt_cause cause;
    int has_run;
    if (!zt__own(&profiler->growing))
        return ZT_DROPPED_NO_SLOT; /* begun inside a function of the application that this called */
    zt__harvest(profiler, 0);
    zt__lock(&profiler->state);
    has_run = zt__renew(list);
    zt__unlock(&profiler->state);
    if (has_run)
        zt__harvest(profiler, 0);
    cause = zt__grow_if_few(profiler);
    zt__disown(&profiler->growing);
    return cause;
}

/* Takes back the slots of a claimed list that was reset or destroyed. */
ZT__FN void zt__unbind(zt_profiler *profiler, zt__list *list) {
    zt__slot *slot;
    zt__lock(&profiler->state);
    while ((slot = list->first) != NULL) {
        list->first = slot->next;
        if (zt__slot_runs(list, slot)) {
            zt__count_lost(profiler, slot->region, ZT_LOST_NEVER_DELIVERED);
            slot->pending = 0;
            slot->retired = 1;
            continue;
        }
        if (slot->pending) { /* it never ran */
            profiler->counts.begun--;
            profiler->counts.in_flight--;
        }
        zt__free_slot(profiler, slot);
    }
    list->last = &list->first;
    list->executed = 0;
    list->epoch++;
    list->announced = list->unready = 0;
    zt__unlock(&profiler->state);
}

/* Takes the open slots of a list, or of all where `list` is NULL. Their regions are dropped. */
ZT__FN zt__slot *zt__take_open(zt_profiler *profiler, const zt__list *list) {
    zt__slot *taken = NULL;
    zt__step *step;
    uint32_t i;
    zt__lock(&profiler->state);
    for (step = profiler->open ? profiler->steps : NULL; step; step = step->next)
        for (i = 0; i < step->count; i++) {
            zt__slot *slot = &step->slots[i];
            if (!(slot->generation & 1) || (list && slot->list != list))
                continue;
            zt__store(&slot->generation, slot->generation + 1);
            zt__drop_pending(profiler, slot, ZT_DROPPED_NOT_CLOSED);
            slot->list->open--;
            profiler->open--;
            slot->next = taken;
            taken = slot;
        }
    zt__unlock(&profiler->state);
    return taken;
}

/* Drops the regions that were begun on a list and never ended, or on all where `list` is NULL: then nobody
   says whether the device has come to them yet, and their slots are left alone. */
ZT__FN void zt__drop_open(zt_profiler *profiler, const zt__list *list, const char *call) {
    zt__slot *taken = zt__take_open(profiler, list), *slot;
    if (taken)
        zt__say(&profiler->diagnostics, ZE_RESULT_ERROR_INVALID_ARGUMENT, ZT__REGION_NOT_CLOSED, call,
                zt__record_at(profiler, taken->region)->name);
    for (slot = taken; slot && list; slot = slot->next)
        zt__rearm(profiler, slot);
    zt__lock(&profiler->state);
    while ((slot = taken) != NULL) {
        taken = slot->next;
        if (list)
            zt__free_slot(profiler, slot);
        else
            slot->retired = 1;
    }
    zt__unlock(&profiler->state);
}

/* Resets, of a claimed list that is done, what only its next execution will use again: slots that are
   recorded in part, and those that could not be reset before. */
ZT__FN void zt__make_ready(zt_profiler *profiler, zt__list *list) {
    zt__hand hand;
    zt__slot *slot;
    if (!list->unready || zt__is_gone(profiler))
        return;
    zt__start_hand(&hand, 0);
    zt__take_bound(profiler, list);
    for (slot = list->taken; slot; slot = slot->next)
        if (!slot->retired && (slot->dead || slot->broken))
            zt__reset_slot(profiler, slot);
    zt__put_back(profiler, list, &hand);
}

/* Counts an instance that is about to run in a slot that cannot be read. */
ZT__FN void zt__count_unread(zt_profiler *profiler, const zt__slot *slot) {
    profiler->counts.begun++;
    profiler->counts.in_flight++;
    zt__count_lost(profiler, slot->region, ZT_LOST_READ_FAILED);
}

/* Marks the instances of a claimed list that is about to be executed. Those that are still pending from an
   execution before are overwritten by this one: returns how many. */
ZT__FN uint32_t zt__announce(zt_profiler *profiler, zt__list *list) {
    uint32_t overwritten = 0;
    zt__slot *slot;
    zt__lock(&profiler->state);
    list->kind = ZT__KIND_RECORDED;
    list->announced = 0;
    for (slot = list->first; slot; slot = slot->next) {
        if (slot->dead)
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
        if (!slot->pending) {
            profiler->counts.begun++;
            profiler->counts.in_flight++;
        }
        slot->pending = slot->submitted = 1;
    }
    zt__unlock(&profiler->state);
    return overwritten;
}

/* Takes the announcement back: the driver refused to execute. */
ZT__FN void zt__retract(zt_profiler *profiler, zt__list *list) {
    zt__slot *slot;
    zt__lock(&profiler->state);
    for (slot = list->first; slot; slot = slot->next) {
        if (slot->dead || slot->broken)
            continue;
        slot->submitted = 0;
        if (slot->pending && slot->executed) {
            slot->pending = 0;
            profiler->counts.begun--;
            profiler->counts.in_flight--;
        }
    }
    zt__unlock(&profiler->state);
}

/* ==== >>reports: table, CSV, JSON ========================================================================= */

/* Collects bytes and hands them on in blocks. */
typedef struct zt__writer {
    zt_write_fn write;
    void *user;
    int failed;
    size_t blanks; /* of a table, put when something follows them on the line */
    size_t used;
    char bytes[4096];
} zt__writer;

ZT__FN void zt__start_writer(zt__writer *writer, zt_write_fn write, void *user) {
    writer->write = write;
    writer->user = user;
    writer->failed = 0;
    writer->blanks = 0;
    writer->used = 0;
}

ZT__FN void zt__flush(zt__writer *writer) {
    if (writer->used && !writer->failed)
        writer->failed = writer->write(writer->bytes, writer->used, writer->user) != 0;
    writer->used = 0;
}

ZT__FN void zt__put_bytes(zt__writer *writer, const char *bytes, size_t size) {
    while (size > 0) {
        size_t room = sizeof writer->bytes - writer->used;
        size_t part = size < room ? size : room;
        memcpy(writer->bytes + writer->used, bytes, part);
        writer->used += part;
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

ZT__FN void zt__put_count(zt__writer *writer, uint64_t count) {
    char digits[24];
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)count);
    zt__put(writer, digits);
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

/* The length of the UTF-8 sequence at `text`, or 0 where it is invalid. */
ZT__FN size_t zt__utf8_length(const char *text) {
    const unsigned char *p = (const unsigned char *)text;
    size_t i, length = p[0] < 0x80 ? 1 : p[0] >= 0xC2 && p[0] < 0xE0 ? 2 : (p[0] & 0xF0) == 0xE0 ? 3 : 4;
    if (length == 1)
        return 1;
    if (p[0] < 0xC2 || p[0] > 0xF4)
        return 0;
    for (i = 1; i < length; i++)
        if ((p[i] & 0xC0) != 0x80)
            return 0;
    if ((p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xED && p[1] > 0x9F) || (p[0] == 0xF0 && p[1] < 0x90) ||
        (p[0] == 0xF4 && p[1] > 0x8F))
        return 0;
    return length;
}

/* The next character of a text, as valid UTF-8: U+FFFD stands for a byte that is none. NULL at the end. */
ZT__FN const char *zt__next_char(const char **text, size_t *length) {
    const char *here = *text;
    if (!*here)
        return NULL;
    *length = zt__utf8_length(here);
    *text = here + (*length ? *length : 1);
    if (*length)
        return here;
    *length = 3;
    return "\xEF\xBF\xBD";
}

/* A field of CSV: always quoted, quotes doubled. */
ZT__FN void zt__put_field(zt__writer *writer, const char *text) {
    const char *letter;
    size_t length;
    zt__put(writer, "\"");
    while ((letter = zt__next_char(&text, &length)) != NULL) {
        if (*letter == '"')
            zt__put(writer, "\"");
        zt__put_bytes(writer, letter, length);
    }
    zt__put(writer, "\"");
}

/* A string of JSON. */
ZT__FN void zt__put_string(zt__writer *writer, const char *text) {
    const char *letter;
    size_t length;
    zt__put(writer, "\"");
    while ((letter = zt__next_char(&text, &length)) != NULL) {
        if (*letter == '"' || *letter == '\\')
            zt__put(writer, "\\");
        if ((unsigned char)*letter < 0x20) {
            char escape[8];
            snprintf(escape, sizeof escape, "\\u%04x", (unsigned)*letter);
            zt__put(writer, escape);
        } else {
            zt__put_bytes(writer, letter, length);
        }
    }
    zt__put(writer, "\"");
}

/* What a report shows: a copy of the statistics of one region at a time. */
typedef struct zt__report {
    const zt_profiler *profiler;
    zt__writer writer;
    zt_region_info info;
    zt_stats *stats; /* by column */
} zt__report;

/* Returns 0 for a name that was recorded and never ran: it has nothing to show. */
ZT__FN int zt__copy_region(zt__report *report, uint32_t region) {
    zt_profiler *profiler = (zt_profiler *)report->profiler;
    const zt__record *record = zt__record_at(profiler, region);
    uint32_t column;
    zt_get_region(profiler, region, &report->info);
    if (!report->info.count && !report->info.lost && !report->info.dropped)
        return 0;
    zt__lock(&profiler->results);
    for (column = 0; column < zt__column_count(profiler); column++)
        report->stats[column] = zt__column_stats(profiler, record, column);
    zt__unlock(&profiler->results);
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
    values[0] = stats->sum;
    values[1] = stats->mean;
    values[2] = stats->stddev;
    values[3] = stats->min;
    values[4] = stats->max;
    values[5] = stats->median;
    values[6] = stats->p95;
    for (i = 0; i < ZT__COUNT_OF(names); i++) {
        zt__put(writer, ",");
        if (json) {
            zt__put(writer, "\"");
            zt__put(writer, names[i]);
            zt__put(writer, "\":");
        }
        if (!isnan(values[i]))
            zt__put_number(writer, values[i]);
        else if (json)
            zt__put(writer, "null");
    }
}

/* One line of CSV. `metric` is NULL for GPU time. */
ZT__FN void zt__put_csv_line(zt__writer *writer, const char *region, const zt_metric *metric,
                             const zt_stats *stats) {
    zt__put_field(writer, region);
    zt__put(writer, ",");
    zt__put_field(writer, metric ? metric->name : "GPU time");
    zt__put(writer, ",");
    zt__put_field(writer, metric ? metric->group : "");
    zt__put(writer, ",");
    zt__put_field(writer, metric ? metric->component : "");
    zt__put(writer, ",");
    zt__put_field(writer, metric ? metric->units : "ns");
    zt__put(writer, ",");
    zt__put(writer, metric ? zt__type_name(metric->type) : "duration");
    zt__put(writer, ",");
    zt__put(writer, zt__aggregation_names[metric ? metric->aggregation : ZT_AGGREGATE_SUM]);
    zt__put(writer, ",");
    zt__put_count(writer, stats->count);
    zt__put_stats(writer, stats, 0);
    zt__put(writer, "\n");
}

ZT__FN void zt__write_csv(zt__report *report) {
    const zt_profiler *profiler = report->profiler;
    uint32_t region, metric, regions = zt_region_count(profiler);
    zt__put(&report->writer, "region,metric,group,component,units,type,aggregation,"
                             "count,sum,mean,stddev,min,max,median,p95\n");
    for (region = 0; region < regions; region++) {
        if (!zt__copy_region(report, region))
            continue;
        zt__put_csv_line(&report->writer, report->info.name, NULL, &report->stats[0]);
        for (metric = 0; metric < profiler->metric_count; metric++)
            zt__put_csv_line(&report->writer, report->info.name, &profiler->metrics[metric],
                             &report->stats[metric + 1]);
    }
}

ZT__FN void zt__put_member(zt__writer *writer, const char *name, const char *text) {
    zt__put_string(writer, name);
    zt__put(writer, ":");
    zt__put_string(writer, text);
}

ZT__FN void zt__put_counter(zt__writer *writer, const char *name, uint64_t count) {
    zt__put_string(writer, name);
    zt__put(writer, ":");
    zt__put_count(writer, count);
}

ZT__FN void zt__write_json_head(zt__report *report) {
    const zt_profiler *profiler = report->profiler;
    zt__writer *writer = &report->writer;
    zt_counts counts = zt_get_counts(profiler);
    const char *text;
    uint32_t i;
    zt_get_availability(profiler, &text);
    zt__put(writer, "{");
    zt__put_member(writer, "zetools", ZETOOLS_VERSION);
    zt__put(writer, ",\n");
    zt__put_member(writer, "device", profiler->device_name);
    zt__put(writer, ",\n");
    zt__put_member(writer, "availability", text);
    zt__put(writer, ",\n\"counts\":{");
    zt__put_counter(writer, "begun", counts.begun);
    zt__put(writer, ",");
    zt__put_counter(writer, "collected", counts.collected);
    zt__put(writer, ",");
    zt__put_counter(writer, "lost", counts.lost);
    zt__put(writer, ",");
    zt__put_counter(writer, "dropped", counts.dropped);
    zt__put(writer, ",");
    zt__put_counter(writer, "in_flight", counts.in_flight);
    zt__put(writer, "},\n\"causes\":{");
    for (i = 0; i < ZT_CAUSE_COUNT; i++) {
        zt__put(writer, i ? "," : "");
        zt__put_counter(writer, zt_cause_name((zt_cause)i), zt_get_cause(profiler, (zt_cause)i));
    }
    zt__put(writer, "},\n");
}

ZT__FN void zt__write_json_metrics(zt__report *report) {
    zt__writer *writer = &report->writer;
    uint32_t i;
    zt__put(writer, "\"metrics\":[");
    for (i = 0; i < report->profiler->metric_count; i++) {
        const zt_metric *metric = &report->profiler->metrics[i];
        zt__put(writer, i ? ",\n{" : "\n{");
        zt__put_member(writer, "name", metric->name);
        zt__put(writer, ",");
        zt__put_member(writer, "group", metric->group);
        zt__put(writer, ",");
        zt__put_member(writer, "component", metric->component);
        zt__put(writer, ",");
        zt__put_member(writer, "units", metric->units);
        zt__put(writer, ",");
        zt__put_member(writer, "type", zt__type_name(metric->type));
        zt__put(writer, ",");
        zt__put_member(writer, "aggregation", zt__aggregation_names[metric->aggregation]);
        zt__put(writer, ",");
        zt__put_member(writer, "description", metric->description);
        zt__put(writer, "}");
    }
    zt__put(writer, "],\n");
}

ZT__FN void zt__put_json_stats(zt__writer *writer, const zt_stats *stats) {
    zt__put(writer, "{");
    zt__put_counter(writer, "count", stats->count);
    zt__put_stats(writer, stats, 1);
    zt__put(writer, "}");
}

/* Statistics stand in the order of "metrics". */
ZT__FN void zt__write_json(zt__report *report) {
    const zt_profiler *profiler = report->profiler;
    zt__writer *writer = &report->writer;
    uint32_t region, metric, written = 0, regions = zt_region_count(profiler);
    zt__write_json_head(report);
    zt__write_json_metrics(report);
    zt__put(writer, "\"regions\":[");
    for (region = 0; region < regions; region++) {
        if (!zt__copy_region(report, region))
            continue;
        zt__put(writer, written++ ? ",\n{" : "\n{");
        zt__put_member(writer, "name", report->info.name);
        zt__put(writer, ",");
        zt__put_counter(writer, "count", report->stats[0].count);
        zt__put(writer, ",");
        zt__put_counter(writer, "lost", report->info.lost);
        zt__put(writer, ",");
        zt__put_counter(writer, "dropped", report->info.dropped);
        zt__put(writer, ",\n\"time_ns\":");
        zt__put_json_stats(writer, &report->stats[0]);
        zt__put(writer, ",\n\"metrics\":[");
        for (metric = 0; metric < profiler->metric_count; metric++) {
            zt__put(writer, metric ? ",\n" : "\n");
            zt__put_json_stats(writer, &report->stats[metric + 1]);
        }
        zt__put(writer, "]}");
    }
    zt__put(writer, "]}\n");
}

ZT__FN const char *zt__metric_name(const void *metrics, uint32_t index) {
    return ((const zt_metric *)metrics)[index].name;
}

/* The index of a metric, or UINT32_MAX and the nearest names. */
ZT__FN uint32_t zt__find_metric(const zt_profiler *profiler, const char *name, char *nearest, size_t size) {
    uint32_t i;
    for (i = 0; i < profiler->metric_count; i++)
        if (strcmp(profiler->metrics[i].name, name) == 0)
            return i;
    zt__nearest(name, profiler->metrics, profiler->metric_count, zt__metric_name, nearest, size);
    return UINT32_MAX;
}

/* ---- the table ------------------------------------------------------------------------------------------- */

enum { ZT__NAME_WIDTH = 28, ZT__HEAD_LINES = 6, ZT__MAX_COLUMNS = 32, ZT__TABLE_WIDTH = 100 };

/* What a column of the table shows of a column of the statistics. */
typedef enum zt__figure { ZT__COUNT, ZT__SUM, ZT__MEAN, ZT__MEDIAN, ZT__P95 } zt__figure;

typedef struct zt__column {
    uint32_t column;
    zt__figure figure;
    double scale;             /* values are divided by it */
    double smallest, largest; /* of what it shows; NaN where it shows nothing */
    size_t width;
    char units[24];
    char head[ZT__HEAD_LINES][24];
} zt__column;

typedef struct zt__table {
    zt__column columns[ZT__MAX_COLUMNS];
    uint32_t count;
    uint32_t metrics;  /* of its columns */
    uint32_t left_out; /* metrics with something to show, for which there was no room */
    size_t name_width, width;
    char missing[480]; /* a metric that was asked for and is not there */
} zt__table;

ZT__FN double zt__figure_of(const zt_stats *stats, const zt__column *column) {
    switch (column->figure) {
    case ZT__COUNT:
        return (double)stats->count;
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

/* How many columns of a terminal a text takes, and what is shown of it: control characters are not. */
ZT__FN size_t zt__text_width(const char *text) {
    size_t length, width = 0;
    while (zt__next_char(&text, &length))
        width++;
    return width;
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
    size_t length, used = 0, whole = zt__text_width(text);
    size_t shown = whole <= width ? whole : width - 3;
    const char *letter;
    while (used < shown && (letter = zt__next_char(&text, &length)) != NULL) {
        int control = (unsigned char)*letter < 0x20 || *letter == 0x7F;
        zt__put_cell(writer, control ? "?" : letter, control ? 1 : length);
        used++;
    }
    if (whole > width) {
        zt__put_cell(writer, "...", 3);
        used += 3;
    }
    zt__put_blanks(writer, width - used);
}

ZT__FN void zt__put_right(zt__writer *writer, const char *text, size_t width) {
    size_t length = strlen(text);
    zt__put_blanks(writer, length < width ? width - length : 0);
    zt__put_cell(writer, text, length);
}

/* Four digits that matter, without an exponent where it can be. */
ZT__FN void zt__format_cell(char *out, size_t size, double value) {
    double magnitude = fabs(value);
    if (isnan(value))
        out[0] = 0;
    else if (magnitude < 1e9 && (magnitude >= 1000 || (double)(int64_t)value == value))
        snprintf(out, size, "%.0f", value);
    else if (magnitude >= 1e9 || magnitude < 0.001)
        snprintf(out, size, "%.2e", value);
    else
        snprintf(out, size, "%.*f", magnitude >= 100 ? 1 : magnitude >= 10 ? 2 : 3, value);
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
    for (line = 0; line < ZT__HEAD_LINES && *name; line++) {
        size_t length = strcspn(name, "\n"), cut = length;
        if (length > LONGEST) {
            for (cut = LONGEST; cut > SHORTEST && !zt__may_break(name + cut); cut--)
                ;
            if (cut == SHORTEST)
                cut = LONGEST;
        }
        memcpy(column->head[line], name, cut);
        column->head[line][cut] = 0;
        if (cut > column->width)
            column->width = cut;
        name += cut + (name[cut] == '\n');
    }
    if (*name) { /* too long even so */
        char *last = column->head[ZT__HEAD_LINES - 1];
        memcpy(last + strlen(last), "...", 4);
        if (strlen(last) > column->width)
            column->width = strlen(last);
    }
}

/* What a column shows of a region. */
ZT__FN double zt__value_of(const zt__report *report, const zt__column *column, uint32_t region) {
    zt_profiler *profiler = (zt_profiler *)report->profiler;
    const zt__record *record = zt__record_at(profiler, region);
    zt_stats stats;
    zt__lock(&profiler->results);
    stats = column->figure == ZT__MEDIAN || column->figure == ZT__P95
                ? zt__column_stats(profiler, record, column->column)
                : zt__moment_stats(profiler, record, column->column);
    zt__unlock(&profiler->results);
    return zt__figure_of(&stats, column);
}

ZT__FN void zt__find_range(const zt__report *report, zt__column *column) {
    uint32_t region, regions = zt_region_count(report->profiler);
    column->smallest = column->largest = zt__nan();
    for (region = 0; region < regions; region++) {
        double value = zt__value_of(report, column, region);
        if (!(value >= column->smallest))
            column->smallest = value;
        if (!(value <= column->largest))
            column->largest = value;
    }
}

ZT__FN void zt__find_width(const zt__report *report, zt__column *column) {
    uint32_t region, regions = zt_region_count(report->profiler);
    if (strlen(column->units) > column->width)
        column->width = strlen(column->units);
    for (region = 0; region < regions; region++) {
        char cell[32];
        zt__format_cell(cell, sizeof cell, zt__value_of(report, column, region) / column->scale);
        if (strlen(cell) > column->width)
            column->width = strlen(cell);
    }
}

/* Units that read well for the largest value: "ns" becomes "ms", "bytes" "MB"; units that are no plain count,
   such as percent, stay. */
ZT__FN void zt__choose_units(zt__column *column, const char *units, int additive, double largest) {
    static const char *const times[] = {"ns", "us", "ms", "s"};
    static const char *const prefixes[] = {"", "k", "M", "G", "T"};
    int time = strcmp(units, "ns") == 0;
    uint32_t step = 0, steps = time ? ZT__COUNT_OF(times) : ZT__COUNT_OF(prefixes);
    column->scale = 1;
    if (!additive) {
        snprintf(column->units, sizeof column->units, "%.16s", strcmp(units, "percent") == 0 ? "%" : units);
        return;
    }
    while (step + 1 < steps && largest >= column->scale * (time ? 1000 : 10000)) {
        column->scale *= 1000;
        step++;
    }
    if (time)
        snprintf(column->units, sizeof column->units, "%s", times[step]);
    else if (strcmp(units, "bytes") == 0)
        snprintf(column->units, sizeof column->units, "%sB", prefixes[step]);
    else
        snprintf(column->units, sizeof column->units, "%s %.16s", prefixes[step], units);
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
    if (figure != ZT__COUNT && !isnan(column->largest))
        zt__choose_units(column, index == 0 ? "ns" : profiler->metrics[index - 1].units,
                         zt__column_aggregation(profiler, index) == ZT_AGGREGATE_SUM, column->largest);
    zt__find_width(report, column);
}

ZT__FN void zt__add_column(zt__table *table, const zt__column *column) {
    table->columns[table->count++] = *column;
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

/* The metrics that were asked for. */
ZT__FN void zt__add_chosen_metrics(const zt__report *report, zt__table *table) {
    const zt_profiler *profiler = report->profiler;
    const char *list = profiler->columns, *name;
    size_t length;
    while (zt__next_name(&list, &name, &length) && table->count < ZT__MAX_COLUMNS) {
        char one[ZET_MAX_METRIC_NAME], nearest[320];
        uint32_t metric;
        zt__column column;
        snprintf(one, sizeof one, "%.*s", (int)(length < sizeof one ? length : sizeof one - 1), name);
        metric = zt__find_metric(profiler, one, nearest, sizeof nearest);
        if (metric == UINT32_MAX) {
            zt__say(&((zt_profiler *)profiler)->diagnostics, ZE_RESULT_ERROR_INVALID_ARGUMENT,
                    ZT__NO_SUCH_METRIC, "zt_report", one, nearest);
            snprintf(table->missing, sizeof table->missing, "There is no metric '%.64s'. Nearest: %s.", one,
                     nearest);
            continue;
        }
        zt__make_metric_column(report, &column, metric);
        zt__add_column(table, &column);
        table->metrics++;
    }
}

/* Whether a metric tells regions apart; clocks say what the time says already. */
ZT__FN int zt__is_telling(const zt__report *report, const zt__column *column) {
    const char *units = report->profiler->metrics[column->column - 1].units;
    if (strcmp(units, "cycles") == 0 || strcmp(units, "MHz") == 0)
        return 0;
    return column->smallest < column->largest || zt_region_count(report->profiler) < 2;
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
            if (metric == profiler->time_metric || aggregation == ZT_AGGREGATE_FLAG ||
                aggregation == ZT_AGGREGATE_NONE)
                continue;
            zt__make_metric_column(report, &column, metric);
            if (!(column.largest > 0) || zt__is_telling(report, &column) != telling)
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
    uint32_t region, regions = zt_region_count(profiler);
    for (region = 0; region < regions; region++) {
        size_t width = zt__text_width(zt__record_at(profiler, region)->name);
        if (width > longest)
            longest = width;
    }
    return longest < (size_t)ZT__NAME_WIDTH ? longest : (size_t)ZT__NAME_WIDTH;
}

ZT__FN void zt__write_heading(zt__report *report, const zt__table *table) {
    zt__writer *writer = &report->writer;
    uint32_t line, first, i;
    for (first = 0; first < ZT__HEAD_LINES; first++) { /* lines that no column needs */
        for (i = 0; i < table->count && !table->columns[i].head[ZT__HEAD_LINES - 1 - first][0]; i++)
            ;
        if (i < table->count)
            break;
    }
    for (line = first; line <= ZT__HEAD_LINES; line++) {
        zt__put_name(writer, line == ZT__HEAD_LINES ? "region" : "", table->name_width);
        for (i = 0; i < table->count; i++) {
            const zt__column *column = &table->columns[i];
            uint32_t used = 0;
            while (used < ZT__HEAD_LINES && column->head[used][0])
                used++;
            zt__put_blanks(writer, 2);
            if (line == ZT__HEAD_LINES)
                zt__put_right(writer, column->units, column->width);
            else
                zt__put_right(
                    writer, line >= ZT__HEAD_LINES - used ? column->head[line - (ZT__HEAD_LINES - used)] : "",
                    column->width);
        }
        zt__end_line(writer);
    }
    zt__put_repeated(writer, '-', table->width);
    zt__put(writer, "\n");
}

ZT__FN void zt__write_rows(zt__report *report, const zt__table *table) {
    const zt_profiler *profiler = report->profiler;
    uint32_t region, i, regions = zt_region_count(profiler);
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
        zt__end_line(&report->writer);
    }
}

/* What is not in the figures, by cause, and what is not in the table. */
ZT__FN void zt__write_footer(zt__report *report, const zt__table *table) {
    const zt_profiler *profiler = report->profiler;
    zt__writer *writer = &report->writer;
    zt_counts counts = zt_get_counts(profiler);
    const char *text;
    uint32_t i;
    if (zt_get_availability(profiler, &text) != ZT_AVAILABLE) {
        zt__put(writer, text);
        zt__put(writer, "\n");
    }
    if (counts.in_flight) {
        zt__put_count(writer, counts.in_flight);
        zt__put(writer, " instances are still in flight.\n");
    }
    for (i = 0; i < ZT_CAUSE_COUNT; i++)
        if (zt_get_cause(profiler, (zt_cause)i)) {
            zt__put_count(writer, zt_get_cause(profiler, (zt_cause)i));
            zt__put(writer, i < ZT_DROPPED_NO_SLOT ? " lost: " : " dropped: ");
            zt__put(writer, zt_cause_name((zt_cause)i));
            zt__put(writer, ".\n");
        }
    if (table->missing[0]) {
        zt__put(writer, table->missing);
        zt__put(writer, "\n");
    }
    if (table->metrics || table->left_out)
        zt__put(writer, "Metrics are means of an instance");
    if (table->left_out) {
        zt__put(writer, "; ");
        zt__put_count(writer, table->left_out);
        zt__put(writer, " more did not fit: ZT_COLUMNS chooses, CSV and JSON have all");
    }
    if (table->metrics || table->left_out)
        zt__put(writer, ".\n");
}

/* The width that a table may take: that of the terminal if it goes to one. */
ZT__FN size_t zt__terminal_width(void) {
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    if (columns && atoi(columns) > 0)
        return (size_t)atoi(columns);
    return ZT__TABLE_WIDTH;
}

/* Long names give way where the times would not fit. */
ZT__FN void zt__fit_names(zt__table *table, size_t limit) {
    enum { SHORTEST = 12 };
    size_t over = table->width > limit ? table->width - limit : 0;
    size_t spare = table->name_width > SHORTEST ? table->name_width - SHORTEST : 0;
    size_t cut = over < spare ? over : spare;
    table->name_width -= cut;
    table->width -= cut;
}

ZT__FN void zt__write_title(zt__report *report) {
    const zt_profiler *profiler = report->profiler;
    zt__writer *writer = &report->writer;
    uint32_t g;
    zt__put(writer, "device: ");
    zt__put(writer, profiler->device_name);
    zt__put(writer, profiler->group_count ? ", metrics: " : ", times only");
    for (g = 0; g < profiler->group_count; g++) {
        zt__put(writer, g ? ", " : "");
        zt__put(writer, profiler->groups[g].properties.name);
    }
    zt__put(writer, "\n");
}

ZT__FN void zt__write_table(zt__report *report) {
    size_t limit = zt__terminal_width();
    zt__table table;
    memset(&table, 0, sizeof table);
    table.name_width = table.width = zt__longest_name(report->profiler);
    zt__add_time_columns(report, &table);
    zt__fit_names(&table, limit);
    if (report->profiler->columns[0])
        zt__add_chosen_metrics(report, &table);
    else
        zt__add_fitting_metrics(report, &table, limit);
    zt__write_title(report);
    zt__write_heading(report, &table);
    zt__write_rows(report, &table);
    zt__write_footer(report, &table);
}

ZT__FN int zt__write_file(const void *bytes, size_t size, void *file) {
    return fwrite(bytes, 1, size, (FILE *)file) != size;
}

ZT__FN int zt__has_suffix(const char *path, const char *suffix) {
    size_t length = strlen(path), tail = strlen(suffix);
    return length >= tail && strcmp(path + length - tail, suffix) == 0;
}

ZT__FN ze_result_t zt__cannot_write(zt_profiler *profiler, const char *path) {
    return zt__say(&profiler->diagnostics, ZE_RESULT_ERROR_UNKNOWN, ZT__CANNOT_WRITE, path, strerror(errno));
}

/* Writes a file under another name beside the target, and renames it. */
ZT__FN ze_result_t zt__write_beside(zt_profiler *profiler, const char *path, const char *beside,
                                    zt_format format) {
    FILE *file = fopen(beside, "wb");
    ze_result_t result;
    if (!file)
        return zt__cannot_write(profiler, path);
    errno = 0;
    result = zt_write(profiler, format, zt__write_file, file);
    if ((fclose(file) != 0 || result == ZE_RESULT_ERROR_UNKNOWN || rename(beside, path) != 0) &&
        (result == ZE_RESULT_SUCCESS || result == ZE_RESULT_ERROR_UNKNOWN))
        result = zt__cannot_write(profiler, path);
    if (result != ZE_RESULT_SUCCESS)
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

ZT__FN zt_profiler *zt__profiler_of(const zt_region *region) {
    zt_profiler *profiler = zt__load(&zt__live_1[region->profiler % ZT__MAX_PROFILERS]);
    return profiler && profiler->id == region->profiler ? profiler : NULL;
}

/* The public functions lock also where they only look. */
ZT__FN zt_profiler *zt__mutable(const zt_profiler *profiler) {
    return (zt_profiler *)profiler;
}

ZT_API const char *zt_version(void) {
    return ZETOOLS_VERSION;
}

ZT_API zt_config zt_config_default(void) {
    zt_config config;
    memset(&config, 0, sizeof config);
    config.slots_per_step = 256;
    config.max_slots = 16384;
    config.samples = 512;
    config.wait_timeout_ns = 1000000000u;
    return config;
}

/* ---- opening --------------------------------------------------------------------------------------------- */

ZT__FN zt_config zt__complete_config(const zt_config *given) {
    zt_config defaults = zt_config_default(), config = given ? *given : defaults;
    const char *groups = getenv("ZT_GROUPS"), *columns = getenv("ZT_COLUMNS");
    config.groups = groups ? groups : config.groups;
    config.columns = columns ? columns : config.columns;
    if (!config.slots_per_step)
        config.slots_per_step = defaults.slots_per_step;
    if (!config.max_slots)
        config.max_slots = defaults.max_slots;
    if (!config.samples)
        config.samples = defaults.samples;
    if (config.deferred_thread && !config.deferred)
        config.deferred = ZT__DEFERRED;
    if (!config.wait_timeout_ns)
        config.wait_timeout_ns = defaults.wait_timeout_ns;
    if (!config.allocator.allocate)
        config.allocator = zt__default_allocator();
    return config;
}

/* Name, and how the device's time stamps are to be read. */
ZT__FN ze_result_t zt__read_device(zt_profiler *profiler) {
    ze_device_properties_t properties;
    ze_result_t result;
    memset(&properties, 0, sizeof properties);
    properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2; /* resolution in cycles a second */
    result = zeDeviceGetProperties(profiler->device, &properties);
    if (result != ZE_RESULT_SUCCESS)
        return zt__check(profiler, result, "zeDeviceGetProperties",
                         "Pass a device of an initialised driver.");
    memcpy(profiler->device_name, properties.name, sizeof profiler->device_name);
    profiler->device_name[sizeof profiler->device_name - 1] = 0;
    profiler->ns_per_tick = properties.timerResolution ? 1e9 / (double)properties.timerResolution : 1.0;
    profiler->tick_mask = properties.timestampValidBits - 1 < 63
                              ? ((uint64_t)1 << properties.timestampValidBits) - 1
                              : UINT64_MAX;
    return result;
}

/* Says why there are no metrics, and keeps it. */
#define zt__unavailable(profiler, why, result, ...)                                                          \
    ((profiler)->availability = (why), zt__say(&(profiler)->diagnostics, result, __VA_ARGS__),               \
     (profiler)->availability_text = (profiler)->diagnostics.last, (result))

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

ZT__FN ze_result_t zt__refuse(zt_profiler *profiler, ze_result_t result, const char *call) {
    const char *name = zt_result_name(result);
    char file[160];
    switch (result) {
    case ZE_RESULT_ERROR_DEVICE_LOST:
    case ZE_RESULT_ERROR_DEVICE_REQUIRES_RESET:
        zt__store(&profiler->lost, 1);
        return zt__unavailable(profiler, ZT_DEVICE_LOST, result, ZT__DEVICE_LOST, call, name);
    case ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE:
    case ZE_RESULT_ERROR_UNINITIALIZED:
        return zt__unavailable(profiler, ZT_NOT_ENABLED, result, ZT__METRICS_NOT_ENABLED, name);
    case ZE_RESULT_ERROR_NOT_AVAILABLE:
    case ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE:
        return zt__unavailable(profiler, ZT_IN_USE, result, ZT__COUNTERS_IN_USE, call, name,
                               "a metric streamer or another tool");
    case ZE_RESULT_ERROR_INVALID_ARGUMENT: /* what drivers answer to a query pool without permission */
    case ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS:
        zt__find_paranoid_file(file, sizeof file);
        return zt__unavailable(profiler, ZT_NO_PERMISSION, result, ZT__NO_PERMISSION, call, name, file);
    default:
        return zt__unavailable(profiler, ZT_NOT_SUPPORTED, result, ZT__METRICS_UNAVAILABLE, call, name);
    }
}

/* Names of the groups of one sampling type, for a message. */
ZT__FN const char *zt__name_in_array(const void *names, uint32_t index) {
    return ((const char *const *)names)[index];
}

ZT__FN void zt__nearest_groups(const zt_allocator *allocator, const zt__catalog *catalog, const char *wanted,
                               zet_metric_group_sampling_type_flags_t type, char *out, size_t size) {
    const char **names = (const char **)zt__allocate(allocator, catalog->count, sizeof *names);
    uint32_t i, count = 0;
    for (i = 0; names && i < catalog->count; i++)
        if (catalog->properties[i].samplingType & type)
            names[count++] = catalog->properties[i].name;
    zt__nearest(wanted, names, count, zt__name_in_array, out, size);
    zt__free(allocator, (void *)names);
}

/* Takes one group of the catalog, unless another of its domain is taken. */
ZT__FN ze_result_t zt__take_group(zt_profiler *profiler, const zt__catalog *catalog, uint32_t index) {
    const zet_metric_group_properties_t *properties = &catalog->properties[index];
    uint32_t g;
    for (g = 0; g < profiler->group_count; g++) {
        const zet_metric_group_properties_t *taken = &profiler->groups[g].properties;
        if (profiler->groups[g].handle == catalog->handles[index])
            return ZE_RESULT_SUCCESS;
        if (taken->domain == properties->domain)
            return zt__unavailable(profiler, ZT_GROUPS_CONFLICT, ZE_RESULT_ERROR_INVALID_ARGUMENT,
                                   ZT__GROUPS_CONFLICT, taken->name, properties->name, properties->domain);
    }
    if (profiler->group_count == ZT__MAX_GROUPS)
        return zt__unavailable(profiler, ZT_GROUPS_CONFLICT, ZE_RESULT_ERROR_INVALID_SIZE,
                               ZT__TOO_MANY_GROUPS, (unsigned)ZT__MAX_GROUPS);
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
    if (!list) {
        index = zt__find_group(catalog, "ComputeBasic", strlen("ComputeBasic"), type);
        if (index == UINT32_MAX)
            index = zt__find_group(catalog, NULL, 0, type);
        return zt__take_group(profiler, catalog, index);
    }
    while (result == ZE_RESULT_SUCCESS && zt__next_name(&list, &name, &length)) {
        char wanted[ZET_MAX_METRIC_GROUP_NAME], nearest[400];
        index = zt__find_group(catalog, name, length, type);
        if (index != UINT32_MAX) {
            result = zt__take_group(profiler, catalog, index);
            continue;
        }
        snprintf(wanted, sizeof wanted, "%.*s", (int)(length < 255 ? length : 255), name);
        zt__nearest_groups(&profiler->config.allocator, catalog, wanted, type, nearest, sizeof nearest);
        result = zt__unavailable(profiler, ZT_NO_SUCH_GROUP, ZE_RESULT_ERROR_INVALID_ARGUMENT,
                                 ZT__NO_SUCH_GROUP, wanted, nearest);
    }
    return result;
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
        return zt__refuse(profiler, result, call);
    if (zt__has_counters(&catalog))
        result = zt__choose_groups(profiler, &catalog);
    else
        result = zt__unavailable(profiler, ZT_LIBRARY_MISSING, ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE,
                                 ZT__METRIC_LIBRARY_MISSING, (unsigned)catalog.count);
    zt__close_catalog(&profiler->config.allocator, &catalog);
    return result;
}

/* The public description of a metric, from the driver's. */
ZT__FN void zt__describe_metric(zt_profiler *profiler, const zt__group *group, uint32_t index) {
    const zet_metric_properties_t *from = &group->metrics[index];
    uint32_t metric = group->first_column + index;
    zt_metric *to = &profiler->metrics[metric];
    to->name = from->name;
    to->group = group->properties.name;
    to->component = from->component;
    to->units = from->resultUnits;
    to->description = from->description;
    to->type = (int)from->metricType;
    to->aggregation = zt__aggregation(from->metricType, from->resultUnits);
    profiler->causes_of[metric] =
        (uint8_t)(to->aggregation == ZT_AGGREGATE_FLAG ? zt__cause_of_flag(to->name) : ZT_CAUSE_COUNT);
    if (profiler->time_metric == UINT32_MAX && strcmp(to->name, "GpuTime") == 0 &&
        strcmp(to->units, "ns") == 0)
        profiler->time_metric = metric;
}

ZT__FN ze_result_t zt__describe_groups(zt_profiler *profiler) {
    const zt_allocator *allocator = &profiler->config.allocator;
    const char *call;
    uint32_t g, i;
    for (g = 0; g < profiler->group_count; g++) {
        ze_result_t result = zt__load_metrics(allocator, &profiler->groups[g], &call);
        if (result != ZE_RESULT_SUCCESS)
            return zt__refuse(profiler, result, call);
        profiler->groups[g].first_column = profiler->metric_count;
        profiler->metric_count += profiler->groups[g].metric_count;
    }
    profiler->metrics =
        (zt_metric *)zt__allocate(allocator, profiler->metric_count, sizeof *profiler->metrics);
    profiler->causes_of = (uint8_t *)zt__allocate(allocator, profiler->metric_count, 1);
    if (!profiler->metrics || !profiler->causes_of)
        return zt__refuse(profiler, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "malloc");
    for (g = 0; g < profiler->group_count; g++)
        for (i = 0; i < profiler->groups[g].metric_count; i++)
            zt__describe_metric(profiler, &profiler->groups[g], i);
    return ZE_RESULT_SUCCESS;
}

ZT__FN void zt__deactivate_groups(zt_profiler *profiler, uint32_t count) {
    uint32_t g;
    for (g = 0; g < count; g++)
        zt__check(profiler, zt__deactivate(profiler->context, profiler->device, profiler->groups[g].handle),
                  "zetContextActivateMetricGroups", "The groups may stay active.");
}

ZT__FN ze_result_t zt__activate_groups(zt_profiler *profiler) {
    char holder[ZET_MAX_METRIC_GROUP_NAME], who[ZET_MAX_METRIC_GROUP_NAME + 64];
    uint32_t g;
    for (g = 0; g < profiler->group_count; g++) {
        ze_result_t result;
        holder[0] = 0;
        result = zt__activate(profiler->context, profiler->device, profiler->groups[g].handle,
                              &profiler->groups[g].properties, holder);
        if (result == ZE_RESULT_SUCCESS)
            continue;
        zt__deactivate_groups(profiler, g);
        if (!holder[0])
            return zt__refuse(profiler, result, "zetContextActivateMetricGroups");
        snprintf(who, sizeof who, "group '%s' of another profiler of this process", holder);
        return zt__unavailable(profiler, ZT_IN_USE, result, ZT__COUNTERS_IN_USE,
                               "zetContextActivateMetricGroups", zt_result_name(result), who);
    }
    return ZE_RESULT_SUCCESS;
}

ZT__FN void zt__forget_groups(zt_profiler *profiler) {
    const zt_allocator *allocator = &profiler->config.allocator;
    uint32_t g;
    for (g = 0; g < profiler->group_count; g++)
        zt__free_group(allocator, &profiler->groups[g]);
    zt__free(allocator, profiler->metrics);
    zt__free(allocator, profiler->causes_of);
    profiler->metrics = NULL;
    profiler->causes_of = NULL;
    profiler->group_count = profiler->metric_count = 0;
    profiler->time_metric = UINT32_MAX;
}

/* Whether somebody outside this library measures on the device: activation would take the counters from them,
   so the driver is asked before. Anything but a clear answer is left to what follows. */
ZT__FN ze_result_t zt__ask_in_use(zt_profiler *profiler) {
    zet_metric_query_pool_handle_t pool = NULL;
    zet_metric_query_pool_desc_t desc;
    ze_result_t result;
    memset(&desc, 0, sizeof desc);
    desc.stype = ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC;
    desc.type = ZET_METRIC_QUERY_POOL_TYPE_PERFORMANCE;
    desc.count = 1;
    result = zetMetricQueryPoolCreate(profiler->context, profiler->device, profiler->groups[0].handle, &desc,
                                      &pool);
    if (result == ZE_RESULT_SUCCESS)
        zetMetricQueryPoolDestroy(pool);
    if (result == ZE_RESULT_ERROR_NOT_AVAILABLE || result == ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE)
        return zt__refuse(profiler, result, "zetMetricQueryPoolCreate");
    return ZE_RESULT_SUCCESS;
}

/* Finds, describes and activates the groups, and makes the first slots: only their query pools show whether
   metrics may be used at all. On failure there are no groups, and the availability says why. */
ZT__FN ze_result_t zt__open_metrics(zt_profiler *profiler) {
    const char *list = profiler->config.groups, *call;
    size_t length;
    ze_result_t result;
    if (list && !zt__next_name(&list, &call, &length)) {
        profiler->availability = ZT_TIMES_BY_CHOICE; /* nothing went wrong, and nobody is told */
        zt__set_text(&profiler->availability_text, ZE_RESULT_SUCCESS, ZT__TIMES_BY_CHOICE);
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
        profiler->stamped = profiler->time_metric == UINT32_MAX;
        result = zt__grow(profiler, &call);
        if (result != ZE_RESULT_SUCCESS) {
            zt__deactivate_groups(profiler, profiler->group_count);
            zt__refuse(profiler, result, call);
        }
    }
    if (result != ZE_RESULT_SUCCESS)
        zt__forget_groups(profiler);
    return result;
}

/* Slots for times alone. */
ZT__FN ze_result_t zt__open_times(zt_profiler *profiler) {
    const char *call;
    ze_result_t result;
    profiler->stamped = 1;
    result = zt__grow(profiler, &call);
    return zt__check(profiler, result, call, "No region can be measured on this device.");
}

ZT__FN ze_result_t zt__set_up(zt_profiler *profiler) {
    const zt_allocator *allocator = &profiler->config.allocator;
    zt__batch *batch;
    ze_result_t result = zt__read_device(profiler);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (profiler->config.columns)
        snprintf(profiler->columns, sizeof profiler->columns, "%s", profiler->config.columns);
    result = zt__open_metrics(profiler);
    if (result != ZE_RESULT_SUCCESS && (profiler->config.require_metrics || zt__is_gone(profiler)))
        return result;
    if (profiler->group_count == 0 && profiler->config.require_metrics)
        return zt__say(&profiler->diagnostics, ZE_RESULT_ERROR_INVALID_ARGUMENT, ZT__TIMES_BY_CHOICE);
    if (profiler->group_count == 0)
        result = zt__open_times(profiler);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    profiler->row = (double *)zt__allocate(allocator, zt__column_count(profiler), sizeof(double));
    profiler->scratch = (double *)zt__allocate(allocator, profiler->config.samples, sizeof(double));
    batch = zt__take_batch(profiler); /* with one at least, what was measured can be read */
    if (batch)
        zt__give_batch(profiler, batch);
    if (profiler->row && profiler->scratch && batch)
        return ZE_RESULT_SUCCESS;
    return zt__say(&profiler->diagnostics, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, ZT__NO_MEMORY, "zt_open",
                   "statistics");
}

ZT__FN void zt__free_records(zt_profiler *profiler) {
    const zt_allocator *allocator = &profiler->config.allocator;
    uint32_t i;
    for (i = 0; i < profiler->record_count; i++) {
        zt__record *record = zt__record_at(profiler, i);
        zt__free(allocator, record->name);
        zt__free(allocator, record->moments);
        zt__free(allocator, record->rows);
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
        for (g = 0; g < ZT__MAX_GROUPS; g++)
            zt__free(allocator, batch->raw[g]);
        zt__free(allocator, batch);
    }
}

ZT__FN void zt__destroy(zt_profiler *profiler) {
    zt_allocator allocator = profiler->config.allocator;
    zt__delist(profiler);
    while (profiler->steps) {
        zt__step *step = profiler->steps;
        profiler->steps = step->next;
        zt__destroy_step(profiler, step);
    }
    zt__deactivate_groups(profiler, profiler->group_count);
    zt__forget_groups(profiler);
    zt__free_records(profiler);
    zt__free_lists(profiler);
    zt__free_batches(profiler);
    zt__free(&allocator, profiler->row);
    zt__free(&allocator, profiler->scratch);
    pthread_mutex_destroy(&profiler->state);
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
    profiler->time_metric = UINT32_MAX;
    profiler->idle_last = &profiler->idle_first;
    profiler->active_last = &profiler->active_first;
    profiler->last_full_batch = &profiler->full_batches;
    profiler->batch_limit = ZT__BATCHES + config->deferred / ZT__BATCH;
    pthread_mutex_init(&profiler->state, NULL);
    pthread_mutex_init(&profiler->growing.mutex, NULL);
    pthread_mutex_init(&profiler->settling.mutex, NULL);
    pthread_mutex_init(&profiler->results, NULL);
    pthread_mutex_init(&profiler->diagnostics.lock, NULL);
    zt__load_driver(&profiler->driver);
    return profiler;
}

ZT_API ze_result_t zt_open(ze_context_handle_t context, ze_device_handle_t device, const zt_config *config,
                           zt_profiler **profiler) {
    zt_config complete;
    zt_profiler *opened;
    ze_result_t result;
    if (profiler)
        *profiler = NULL;
    if (!profiler)
        return zt__say(NULL, ZE_RESULT_ERROR_INVALID_NULL_POINTER, ZT__NULL_ARGUMENT, "zt_open", "profiler");
    if (!context || !device)
        return zt__say(NULL, ZE_RESULT_ERROR_INVALID_NULL_HANDLE, ZT__NULL_ARGUMENT, "zt_open",
                       context ? "device" : "context");
    if (config && !config->allocator.allocate != !config->allocator.release)
        return zt__say(NULL, ZE_RESULT_ERROR_INVALID_ARGUMENT, ZT__BAD_ALLOCATOR);
    complete = zt__complete_config(config);
    opened = zt__create(context, device, &complete);
    if (!opened)
        return zt__say(NULL, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, ZT__NO_MEMORY, "zt_open", "the profiler");
    if (!zt__enlist(opened))
        result = zt__say(&opened->diagnostics, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, ZT__TOO_MANY_PROFILERS,
                         (unsigned)ZT__MAX_PROFILERS);
    else
        result = zt__set_up(opened);
    opened->config.groups = opened->config.columns = NULL; /* they may not outlive this call */
    if (result != ZE_RESULT_SUCCESS) {
        zt__thread_error = opened->diagnostics.last;
        zt__thread_error.result = result;
        zt__destroy(opened);
        return result;
    }
    if (complete.deferred_thread && !zt__start_worker(&opened->worker, zt__work, opened))
        zt__say(&opened->diagnostics, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, ZT__NO_THREAD);
    *profiler = opened;
    return ZE_RESULT_SUCCESS;
}

/* The functions that collect may not be called from those that run while samples are collected. */
ZT__FN ze_result_t zt__refuse_inside(zt_profiler *profiler, const char *call) {
    if (!zt__owns(&profiler->settling))
        return ZE_RESULT_SUCCESS;
    return zt__say(&profiler->diagnostics, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, ZT__INSIDE_CALLBACK, call);
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

ZT_API void zt_close(zt_profiler *profiler) {
    uint64_t deadline = 0;
    int finished = 1;
    uint32_t i;
    zt__list *list;
    if (!profiler || zt__refuse_inside(profiler, "zt_close") != ZE_RESULT_SUCCESS)
        return;
    zt__drop_open(profiler, NULL, "zt_close");
    for (i = 0; i < ZT__LIST_BUCKETS; i++)
        for (list = profiler->lists[i]; list; list = list->next_in_bucket)
            finished &= zt__close_list(profiler, list, &deadline);
    if (!zt__stop_worker(&profiler->worker))
        return; /* the driver has not come back from a call: what it uses is left to it */
    zt__settle(profiler, 1);
    if (!finished)
        zt__say(&profiler->diagnostics, ZE_RESULT_NOT_READY, ZT__NOT_FINISHED, "zt_close");
    zt__destroy(profiler);
}

/* ---- regions --------------------------------------------------------------------------------------------- */

/* The record of a list, made when it is new. With the state locked, but for the question to the driver. */
ZT__FN zt__list *zt__need_list(zt_profiler *profiler, ze_command_list_handle_t handle) {
    zt__list *list = zt__find_list(profiler, handle);
    if (!list || list->kind == ZT__KIND_NOT_ASKED) {
        zt__kind kind;
        zt__unlock(&profiler->state);
        kind = zt__ask_kind(profiler, handle);
        zt__lock(&profiler->state);
        list = zt__add_list(profiler, handle, kind);
    }
    if (list)
        list->idle = 0;
    return list;
}

/* A slot for a new region, or NULL: then the region is counted as dropped, by `cause`. */
ZT__FN zt__slot *zt__take_slot(zt_profiler *profiler, ze_command_list_handle_t handle, const char *name,
                               zt_cause *cause) {
    zt__list *list;
    zt__slot *slot = NULL;
    uint32_t region, tries;
    *cause = ZT_DROPPED_NO_MEMORY;
    zt__lock(&profiler->state);
    list = zt__need_list(profiler, handle);
    region = zt__intern(profiler, name, cause);
    if (list && region != UINT32_MAX)
        slot = zt__open_slot(profiler, list, region);
    for (tries = 0; !slot && list && region != UINT32_MAX && tries < ZT__TRIES; tries++) {
        zt__unlock(&profiler->state);
        *cause = zt__make_room(profiler, list);
        zt__lock(&profiler->state);
        slot = zt__open_slot(profiler, list, region);
        if (*cause != ZT_CAUSE_COUNT)
            break;
        *cause = ZT_DROPPED_NO_SLOT; /* other threads took them all */
    }
    if (!slot) {
        profiler->counts.begun++;
        zt__count_dropped(profiler, region == UINT32_MAX ? NULL : zt__record_at(profiler, region), *cause);
    }
    zt__unlock(&profiler->state);
    return slot;
}

ZT__FN void zt__drop_at_once(zt_profiler *profiler, zt_cause cause) {
    zt__lock(&profiler->state);
    profiler->counts.begun++;
    zt__count_dropped(profiler, NULL, cause);
    zt__unlock(&profiler->state);
}

ZT__FN void zt__say_dropped(zt_profiler *profiler, const char *name, zt_cause cause) {
    zt__diagnostics *diagnostics = &profiler->diagnostics;
    if (cause == ZT_DROPPED_NO_SLOT)
        zt__say(diagnostics, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, ZT__NO_SLOT, profiler->config.max_slots,
                name ? name : "(unnamed)");
    else if (cause == ZT_DROPPED_TOO_MANY_NAMES)
        zt__say(diagnostics, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, ZT__TOO_MANY_NAMES,
                (unsigned)ZT__NAME_PAGE * ZT__NAME_PAGES);
    else
        zt__say(diagnostics, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, ZT__NO_MEMORY, "zt_begin", "a region");
}

ZT_API zt_region zt_begin(zt_profiler *profiler, ze_command_list_handle_t list, const char *name) {
    zt_region region = {NULL, 0, 0, 0};
    zt__slot *slot;
    zt_cause cause;
    if (!profiler)
        return region;
    if (!list) {
        zt__drop_at_once(profiler, ZT_DROPPED_APPEND_FAILED);
        zt__say(&profiler->diagnostics, ZE_RESULT_ERROR_INVALID_NULL_HANDLE, ZT__NULL_ARGUMENT, "zt_begin",
                "list");
        return region;
    }
    if (zt__is_gone(profiler)) {
        zt__drop_at_once(profiler, ZT_DROPPED_DEVICE_LOST);
        return region;
    }
    slot = zt__take_slot(profiler, list, name, &cause);
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

ZT_API void zt_end(zt_region *region) {
    zt_profiler *profiler;
    zt__slot *slot;
    uint32_t generation;
    if (!region || !region->slot)
        return;
    slot = (zt__slot *)region->slot;
    generation = region->generation;
    region->slot = NULL;
    profiler = zt__profiler_of(region);
    /* of several threads that end one region, one finds its generation */
    if (!profiler || !__atomic_compare_exchange_n(&slot->generation, &generation, generation + 1, 0,
                                                  __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return;
    if (zt__append_end(profiler, slot) != ZE_RESULT_SUCCESS) {
        zt__drop_unappended(profiler, slot);
        return;
    }
    zt__lock(&profiler->state);
    zt__bind_slot(profiler, slot);
    zt__unlock(&profiler->state);
}

/* ---- collecting ------------------------------------------------------------------------------------------ */

/* Whether anything is in flight that can still arrive. */
ZT__FN int zt__awaits(zt_profiler *profiler, uint32_t *open) {
    int awaits;
    zt__lock(&profiler->state);
    *open = profiler->open;
    awaits = profiler->counts.in_flight > profiler->open;
    zt__unlock(&profiler->state);
    return awaits;
}

/* Names a region that is open, for regions that are never ended never arrive. */
ZT__FN ze_result_t zt__say_open(zt_profiler *profiler) {
    const char *name = "";
    zt__step *step;
    uint32_t i;
    zt__lock(&profiler->state);
    for (step = profiler->steps; step; step = step->next)
        for (i = 0; i < step->count; i++)
            if (zt__load(&step->slots[i].generation) & 1)
                name = zt__record_at(profiler, step->slots[i].region)->name;
    zt__unlock(&profiler->state);
    return zt__say(&profiler->diagnostics, ZE_RESULT_NOT_READY, ZT__REGION_OPEN, name);
}

ZT_API ze_result_t zt_collect(zt_profiler *profiler, uint64_t timeout_ns) {
    uint64_t pause = 0, deadline;
    uint32_t open;
    int awaits;
    ze_result_t result;
    if (!profiler)
        return ZE_RESULT_SUCCESS;
    result = zt__refuse_inside(profiler, "zt_collect");
    if (result != ZE_RESULT_SUCCESS)
        return result;
    deadline = timeout_ns ? zt__deadline(timeout_ns) : 0;
    do {
        zt__harvest(profiler, timeout_ns != 0);
        if (timeout_ns)
            zt__settle(profiler, 1);
        awaits = zt__awaits(profiler, &open);
    } while (timeout_ns && awaits && zt__pause_until(deadline, &pause));
    if (zt__is_gone(profiler))
        return ZE_RESULT_ERROR_DEVICE_LOST;
    if (timeout_ns && !awaits && open)
        return zt__say_open(profiler);
    return timeout_ns && awaits ? ZE_RESULT_NOT_READY : ZE_RESULT_SUCCESS;
}

ZT_API ze_result_t zt_release(zt_profiler *profiler, ze_command_list_handle_t list) {
    uint64_t deadline = 0;
    zt__list *record;
    ze_result_t result;
    if (!profiler)
        return ZE_RESULT_SUCCESS;
    if (!list)
        return zt__say(&profiler->diagnostics, ZE_RESULT_ERROR_INVALID_NULL_HANDLE, ZT__NULL_ARGUMENT,
                       "zt_release", "list");
    result = zt__refuse_inside(profiler, "zt_release");
    if (result != ZE_RESULT_SUCCESS)
        return result;
    record = zt__claim(profiler, list);
    if (!record)
        return ZE_RESULT_SUCCESS;
    zt__drop_open(profiler, record, "zt_release");
    if (!zt__finish(profiler, record, &deadline))
        result = zt__say(&profiler->diagnostics, ZE_RESULT_NOT_READY, ZT__NOT_FINISHED, "zt_release");
    zt__unbind(profiler, record);
    zt__unclaim(profiler, record);
    zt__lock(&profiler->state);
    zt__retire_list(profiler, record);
    zt__unlock(&profiler->state);
    return result;
}

/* Reads what the lists' last execution left, and marks the next. Two rounds, for a list may be named twice.
 */
ZT__FN void zt__before_execution(zt_profiler *profiler, uint32_t count,
                                 const ze_command_list_handle_t *lists) {
    uint64_t deadline = 0;
    uint32_t i, overwritten = 0;
    zt__list *list;
    for (i = 0; i < count; i++)
        if ((list = zt__claim(profiler, lists[i])) != NULL) {
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
            zt__retract(profiler, list);
            zt__unclaim(profiler, list);
        }
}

ZT_API ze_result_t zt_execute(zt_profiler *profiler, ze_command_queue_handle_t queue, uint32_t count,
                              ze_command_list_handle_t *lists, ze_fence_handle_t fence) {
    ze_result_t result;
    int announced = profiler && count && lists && !zt__is_gone(profiler) &&
                    zt__refuse_inside(profiler, "zt_execute") == ZE_RESULT_SUCCESS;
    if (announced)
        zt__before_execution(profiler, count, lists);
    result = zeCommandQueueExecuteCommandLists(queue, count, lists, fence);
    if (announced && result != ZE_RESULT_SUCCESS)
        zt__after_refusal(profiler, count, lists, result);
    return result;
}

/* ---- results --------------------------------------------------------------------------------------------- */

ZT_API zt_counts zt_get_counts(const zt_profiler *profiler) {
    zt_counts counts = {0, 0, 0, 0, 0};
    if (!profiler)
        return counts;
    zt__catch_up(profiler);
    zt__lock(&zt__mutable(profiler)->state);
    counts = profiler->counts;
    zt__unlock(&zt__mutable(profiler)->state);
    return counts;
}

ZT_API uint64_t zt_get_cause(const zt_profiler *profiler, zt_cause cause) {
    uint64_t count;
    if (!profiler || (unsigned)cause >= ZT_CAUSE_COUNT)
        return 0;
    zt__catch_up(profiler);
    zt__lock(&zt__mutable(profiler)->state);
    count = profiler->causes[cause];
    zt__unlock(&zt__mutable(profiler)->state);
    return count;
}

ZT_API uint32_t zt_region_count(const zt_profiler *profiler) {
    return profiler ? zt__load(&profiler->record_count) : 0;
}

ZT_API uint32_t zt_metric_count(const zt_profiler *profiler) {
    return profiler ? profiler->metric_count : 0;
}

ZT_API const zt_metric *zt_get_metric(const zt_profiler *profiler, uint32_t metric) {
    return profiler && metric < profiler->metric_count ? &profiler->metrics[metric] : NULL;
}

ZT_API uint32_t zt_find_metric(const zt_profiler *profiler, const char *name) {
    char nearest[400];
    uint32_t metric;
    if (!profiler || !name)
        return UINT32_MAX;
    metric = zt__find_metric(profiler, name, nearest, sizeof nearest);
    if (metric == UINT32_MAX)
        zt__say(&zt__mutable(profiler)->diagnostics, ZE_RESULT_ERROR_INVALID_ARGUMENT, ZT__NO_SUCH_METRIC,
                "zt_find_metric", name, nearest);
    return metric;
}

ZT__FN ze_result_t zt__bad_index(const zt_profiler *profiler, const char *call, const char *what,
                                 uint32_t index) {
    return zt__say(&zt__mutable(profiler)->diagnostics, ZE_RESULT_ERROR_INVALID_ARGUMENT, ZT__BAD_INDEX, call,
                   what, (unsigned)index);
}

ZT_API ze_result_t zt_get_region(const zt_profiler *profiler, uint32_t region, zt_region_info *info) {
    zt_profiler *locked = zt__mutable(profiler);
    const zt__record *record;
    if (info)
        *info = zt__empty_region();
    if (!profiler)
        return ZE_RESULT_SUCCESS;
    if (!info)
        return zt__say(&locked->diagnostics, ZE_RESULT_ERROR_INVALID_NULL_POINTER, ZT__NULL_ARGUMENT,
                       "zt_get_region", "info");
    if (region >= zt_region_count(profiler))
        return zt__bad_index(profiler, "zt_get_region", "region", region);
    zt__catch_up(profiler);
    record = zt__record_at(profiler, region);
    zt__lock(&locked->state);
    info->name = record->name;
    info->lost = record->lost;
    info->dropped = record->dropped;
    zt__unlock(&locked->state);
    zt__lock(&locked->results);
    info->count = record->seen;
    info->time_ns = zt__column_stats(profiler, record, 0);
    zt__unlock(&locked->results);
    return ZE_RESULT_SUCCESS;
}

ZT_API ze_result_t zt_get_stats(const zt_profiler *profiler, uint32_t region, uint32_t metric,
                                zt_stats *stats) {
    zt_profiler *locked = zt__mutable(profiler);
    if (stats)
        *stats = zt__empty_stats();
    if (!profiler)
        return ZE_RESULT_SUCCESS;
    if (!stats)
        return zt__say(&locked->diagnostics, ZE_RESULT_ERROR_INVALID_NULL_POINTER, ZT__NULL_ARGUMENT,
                       "zt_get_stats", "stats");
    if (region >= zt_region_count(profiler))
        return zt__bad_index(profiler, "zt_get_stats", "region", region);
    if (metric >= profiler->metric_count)
        return zt__bad_index(profiler, "zt_get_stats", "metric", metric);
    zt__catch_up(profiler);
    zt__lock(&locked->results);
    *stats = zt__column_stats(profiler, zt__record_at(profiler, region), metric + 1);
    zt__unlock(&locked->results);
    return ZE_RESULT_SUCCESS;
}

ZT_API ze_result_t zt_write(const zt_profiler *profiler, zt_format format, zt_write_fn write, void *user) {
    zt__diagnostics *diagnostics = profiler ? &zt__mutable(profiler)->diagnostics : NULL;
    zt__report report;
    if (!profiler)
        return ZE_RESULT_SUCCESS;
    if (!write)
        return zt__say(diagnostics, ZE_RESULT_ERROR_INVALID_NULL_POINTER, ZT__NULL_ARGUMENT, "zt_write",
                       "write");
    if ((unsigned)format > ZT_FORMAT_JSON)
        return zt__say(diagnostics, ZE_RESULT_ERROR_INVALID_ENUMERATION, ZT__BAD_FORMAT, (int)format);
    report.profiler = profiler;
    report.stats =
        (zt_stats *)zt__allocate(&profiler->config.allocator, zt__column_count(profiler), sizeof(zt_stats));
    if (!report.stats)
        return zt__say(diagnostics, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, ZT__NO_MEMORY, "zt_write",
                       "a report");
    zt__start_writer(&report.writer, write, user);
    if (format == ZT_FORMAT_CSV)
        zt__write_csv(&report);
    else if (format == ZT_FORMAT_JSON)
        zt__write_json(&report);
    else
        zt__write_table(&report);
    zt__flush(&report.writer);
    zt__free(&profiler->config.allocator, report.stats);
    if (report.writer.failed)
        return zt__say(diagnostics, ZE_RESULT_ERROR_UNKNOWN, ZT__WRITE_STOPPED);
    return ZE_RESULT_SUCCESS;
}

ZT_API ze_result_t zt_report(const zt_profiler *profiler, const char *path) {
    zt_profiler *locked = zt__mutable(profiler);
    zt_format format;
    char *beside;
    size_t size;
    ze_result_t result;
    if (!profiler)
        return ZE_RESULT_SUCCESS;
    if (!path)
        return zt__say(&locked->diagnostics, ZE_RESULT_ERROR_INVALID_NULL_POINTER, ZT__NULL_ARGUMENT,
                       "zt_report", "path");
    if (strcmp(path, "-") == 0) {
        result = zt_write(profiler, ZT_FORMAT_TABLE, zt__write_file, stdout);
        return result == ZE_RESULT_SUCCESS && fflush(stdout) != 0 ? zt__cannot_write(locked, path) : result;
    }
    format = zt__has_suffix(path, ".csv")    ? ZT_FORMAT_CSV
             : zt__has_suffix(path, ".json") ? ZT_FORMAT_JSON
                                             : ZT_FORMAT_TABLE;
    size = strlen(path) + 32;
    beside = (char *)zt__allocate(&profiler->config.allocator, size, 1);
    if (!beside)
        return zt__say(&locked->diagnostics, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, ZT__NO_MEMORY, "zt_report",
                       "a path");
    snprintf(beside, size, "%s.%ld.part", path, (long)getpid());
    result = zt__write_beside(locked, path, beside, format);
    zt__free(&profiler->config.allocator, beside);
    return result;
}

ZT_API zt_availability zt_get_availability(const zt_profiler *profiler, const char **text) {
    if (text)
        *text = "[AVAILABLE] metrics are measured.";
    if (!profiler) {
        if (text)
            *text = "[NO_PROFILER] there is no profiler: zt_last_error(NULL, &text) says why.";
        return ZT_AVAILABILITY_UNKNOWN;
    }
    if (zt__is_gone(profiler)) {
        if (text)
            *text = "[DEVICE_LOST] the device is lost. Open a new profiler when it is back.";
        return ZT_DEVICE_LOST;
    }
    if (text && profiler->availability != ZT_AVAILABLE)
        *text = profiler->availability_text.text;
    return profiler->availability;
}

ZT_API ze_result_t zt_last_error(const zt_profiler *profiler, const char **text) {
    const zt__text *last = profiler ? &profiler->diagnostics.last : &zt__thread_error;
    ze_result_t result;
    if (profiler)
        zt__lock(&zt__mutable(profiler)->diagnostics.lock);
    result = last->result;
    if (profiler)
        zt__unlock(&zt__mutable(profiler)->diagnostics.lock);
    if (text)
        *text = last->text;
    return result;
}

/* ---- groups for people ----------------------------------------------------------------------------------- */

ZT__FN ze_result_t zt__device_catalog(ze_device_handle_t device, zt__catalog *catalog) {
    zt_allocator allocator = zt__default_allocator();
    zt__driver driver;
    const char *call;
    ze_result_t result;
    zt__load_driver(&driver);
    result = zt__open_catalog(&allocator, &driver, device, catalog, &call);
    if (result == ZE_RESULT_SUCCESS)
        return result;
    if (result == ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE)
        return zt__say(NULL, result, ZT__METRICS_NOT_ENABLED, zt_result_name(result));
    return zt__say(NULL, result, ZT__METRICS_UNAVAILABLE, call, zt_result_name(result));
}

ZT_API ze_result_t zt_group_find(ze_device_handle_t device, const char *name,
                                 zet_metric_group_sampling_type_flags_t type,
                                 zet_metric_group_handle_t *group) {
    zt_allocator allocator = zt__default_allocator();
    zt__catalog catalog;
    ze_result_t result;
    uint32_t index;
    if (group)
        *group = NULL;
    if (!group || !name)
        return zt__say(NULL, ZE_RESULT_ERROR_INVALID_NULL_POINTER, ZT__NULL_ARGUMENT, "zt_group_find",
                       group ? "name" : "group");
    if (!device)
        return zt__say(NULL, ZE_RESULT_ERROR_INVALID_NULL_HANDLE, ZT__NULL_ARGUMENT, "zt_group_find",
                       "device");
    result = zt__device_catalog(device, &catalog);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    index = zt__find_group(&catalog, name, strlen(name), type);
    if (index != UINT32_MAX) {
        *group = catalog.handles[index];
    } else {
        char nearest[400];
        zt__nearest_groups(&allocator, &catalog, name, type, nearest, sizeof nearest);
        result = zt__say(NULL, ZE_RESULT_ERROR_INVALID_ARGUMENT, ZT__GROUP_NOT_FOUND, name, nearest);
    }
    zt__close_catalog(&allocator, &catalog);
    return result;
}

ZT__FN const char *zt__sampling_name(zet_metric_group_sampling_type_flags_t type) {
    if (type & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED)
        return type & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED ? "event+time" : "event";
    return type & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED ? "time" : "other";
}

ZT__FN ze_result_t zt__put_metrics(zt__writer *writer, zet_metric_group_handle_t handle) {
    zt_allocator allocator = zt__default_allocator();
    zt__group group;
    const char *call;
    uint32_t i;
    ze_result_t result;
    memset(&group, 0, sizeof group);
    group.handle = handle;
    result = zt__load_metrics(&allocator, &group, &call);
    for (i = 0; i < group.metric_count && result == ZE_RESULT_SUCCESS; i++) {
        const zet_metric_properties_t *metric = &group.metrics[i];
        zt__put(writer, "    ");
        zt__put_name(writer, metric->name, 44);
        zt__put(writer, " ");
        zt__put_name(writer, metric->resultUnits, 10);
        zt__put(writer, " ");
        zt__put_name(writer, zt__aggregation_names[zt__aggregation(metric->metricType, metric->resultUnits)],
                     5);
        zt__put(writer, " ");
        zt__put(writer, metric->description);
        zt__put(writer, "\n");
    }
    zt__free_group(&allocator, &group);
    return result == ZE_RESULT_SUCCESS
               ? result
               : zt__say(NULL, result, ZT__METRICS_UNAVAILABLE, call, zt_result_name(result));
}

ZT_API ze_result_t zt_groups_write(ze_device_handle_t device, int metrics, zt_write_fn write, void *user) {
    zt_allocator allocator = zt__default_allocator();
    zt__catalog catalog;
    zt__writer writer;
    uint32_t i;
    ze_result_t result;
    if (!device || !write)
        return zt__say(NULL,
                       device ? ZE_RESULT_ERROR_INVALID_NULL_POINTER : ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                       ZT__NULL_ARGUMENT, "zt_groups_write", device ? "write" : "device");
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
        zt__put(&writer, line);
        zt__put(&writer, group->name);
        zt__put(&writer, ": ");
        zt__put(&writer, group->description);
        zt__put(&writer, "\n");
        if (metrics)
            result = zt__put_metrics(&writer, catalog.handles[i]);
    }
    zt__flush(&writer);
    zt__close_catalog(&allocator, &catalog);
    if (result == ZE_RESULT_SUCCESS && writer.failed)
        result = zt__say(NULL, ZE_RESULT_ERROR_UNKNOWN, ZT__WRITE_STOPPED);
    return result;
}

#ifdef __cplusplus
} /* extern "C" */
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
