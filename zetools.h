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
         destroyed. From 1.16 on an immediate list needs zt_release() only when it is destroyed.

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

   ENVIRONMENT

       ZT_GROUPS      overrides config.groups
       ZT_COLUMNS     overrides config.columns

   OPTIONS, to be defined before the header is included

       ZETOOLS_IMPLEMENTATION   in one file of the program: the functions themselves. Without it: their
                                declarations
       ZETOOLS_DISABLE          everything empty: no code, no Level Zero needed, the program unchanged. In
                                every file of the program or in none
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
    const char *groups;  /* Metric groups, a comma list of names. NULL: "ComputeBasic", or the first group that
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
    ZT_LOST_NEVER_DELIVERED,    /* the event signalled, the data never came */
    ZT_LOST_OVERWRITTEN,        /* executed again before it was read */
    ZT_LOST_READ_FAILED,        /* the driver refused to give or calculate the data */
    ZT_LOST_DEVICE,             /* the device was lost */
    /* dropped */
    ZT_DROPPED_NO_SLOT,         /* more regions in flight than config.max_slots */
    ZT_DROPPED_NO_MEMORY,       /* slots or statistics could not be made */
    ZT_DROPPED_TOO_MANY_NAMES,  /* more than 65,536 names */
    ZT_DROPPED_APPEND_FAILED,   /* the driver refused a command of the region */
    ZT_DROPPED_NOT_CLOSED,      /* the list was released, or the profiler closed, before the region was */
    ZT_DROPPED_DEVICE_LOST,     /* begun after the device was lost */
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
    uint64_t count;   /* instances collected */
    uint64_t lost;    /* and those that were not */
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
   timeout_ns  0: what is ready, without ever blocking; otherwise, wait for all that is in flight, so long at
               the most
   Returns NOT_READY when the time was up and instances are still in flight, DEVICE_LOST. Since 0.1. */
ZT_API ze_result_t zt_collect(zt_profiler *profiler, uint64_t timeout_ns);

/* Tells that a list was, or is about to be, reset or destroyed, and that the device is done with it. Collects
   what has run, takes back what never did, and gives back the slots. Any thread that may use the list.
   Since 0.1. */
ZT_API ze_result_t zt_release(zt_profiler *profiler, ze_command_list_handle_t list);

/* zeCommandQueueExecuteCommandLists, with the results of the lists' last execution read first: waits for that
   execution to end, no longer than config.wait_timeout_ns, after which it is counted as lost. The lists are
   executed in any case. Returns what the driver returns. Any thread that may use queue and lists. Since 0.1. */
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
ZT_API ze_result_t zt_get_stats(const zt_profiler *profiler, uint32_t region, uint32_t metric, zt_stats *stats);

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
   Returns INVALID_ARGUMENT where there is none; zt_last_error(NULL, &text) has the nearest names. Since 0.1. */
ZT_API ze_result_t zt_group_find(ze_device_handle_t device, const char *name,
                                 zet_metric_group_sampling_type_flags_t type, zet_metric_group_handle_t *group);

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
#define zt_execute(profiler, queue, count, lists, fence)                                                      \
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
ZT__OFF ZT__RESULT zt_get_stats(const zt_profiler *profiler, uint32_t region, uint32_t metric, zt_stats *stats) {
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
                                  zet_metric_group_sampling_type_flags_t type, zet_metric_group_handle_t *group) {
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

/* The statement of a ZT_REGION runs once, measured or not. */
static inline ZT__UNUSED int zt__body(zt_region *region) {
    return region->body++ == 0;
}

#ifdef ZETOOLS_DISABLE
#define ZT__REGION(once, profiler, list, name)                                                                \
    for (int once = ((void)sizeof(profiler), (void)sizeof(list), (void)sizeof(name), 1); once; once = 0)
#define ZT_REGION(profiler, list, name) ZT__REGION(ZT__NAME(zt__once), profiler, list, name)
#define ZT_SCOPE(profiler, list, name) ((void)sizeof(profiler), (void)sizeof(list), (void)sizeof(name))
#elif defined(__cplusplus)
#define ZT__REGION(scope, profiler, list, name)                                                               \
    for (zt_scope scope(profiler, list, name); zt__body(&scope.region);)
#define ZT_REGION(profiler, list, name) ZT__REGION(ZT__NAME(zt__region), profiler, list, name)
#define ZT_SCOPE(profiler, list, name) zt_scope ZT__NAME(zt__scope)(profiler, list, name)
#elif defined(__GNUC__)
#define ZT__GUARD __attribute__((cleanup(zt_end)))
#define ZT__REGION(region, profiler, list, name)                                                              \
    for (zt_region region ZT__GUARD = zt_begin(profiler, list, name); zt__body(&region);)
#define ZT_REGION(profiler, list, name) ZT__REGION(ZT__NAME(zt__region), profiler, list, name)
#define ZT_SCOPE(profiler, list, name)                                                                        \
    zt_region ZT__NAME(zt__scope) ZT__GUARD ZT__UNUSED = zt_begin(profiler, list, name)
#else
#define ZT__REGION(region, profiler, list, name)                                                              \
    for (zt_region region = zt_begin(profiler, list, name); zt__body(&region); zt_end(&region))
#define ZT_REGION(profiler, list, name) ZT__REGION(ZT__NAME(zt__region), profiler, list, name)
#endif

#ifdef __cplusplus
} /* extern "C" */

#ifndef ZETOOLS_DISABLE
/* A region for the lifetime of an object. Neither copied nor moved. Since 0.1. */
struct zt_scope {
    zt_region region;
    zt_scope(zt_profiler *profiler, ze_command_list_handle_t list, const char *name)
        : region(zt_begin(profiler, list, name)) {}
    ~zt_scope() { zt_end(&region); }
    zt_scope(const zt_scope &) = delete;
    zt_scope &operator=(const zt_scope &) = delete;
};
#endif
#endif

#endif /* ZETOOLS_H */
