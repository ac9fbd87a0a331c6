/* The version of the declarations. zt_version() returns that of the implementation. */
#define ZETOOLS_VERSION_MAJOR 0
#define ZETOOLS_VERSION_MINOR 1
#define ZETOOLS_VERSION_PATCH 0
#define ZETOOLS_VERSION "0.1.0"

/* In strict ISO modes the C library declares what the implementation needs only if this is defined. In other
   modes defining it would hide declarations from the application. */
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

/* Measures regions on one device or sub-device, in one context. Since 0.1. */
typedef struct zt_profiler zt_profiler;

/* A metric group: the same type as zet_metric_group_handle_t, whose header only the implementation includes,
   because it is slow to compile. Since 0.1. */
typedef struct _zet_metric_group_handle_t *zt_group;

/* A region that was begun. Its fields are private. A copy refers to the same region. Since 0.1. */
typedef struct zt_region {
    void *slot;
    uint32_t generation;
    uint32_t profiler;
    uint32_t body;
} zt_region;

/* The state of one ZT_PASSES. Its fields are private. Since 0.1. */
typedef struct zt_passes {
    zt_profiler *profiler;
    uint32_t next;
    uint32_t runs;
} zt_passes;

/* Called with the first message of each kind, such as "[NO_SLOT] zt_begin: all 16384 slots are in use, ...".
   result  a ze_result_t: that of the call that failed, or the one that describes the message best
   text    the identifier of the kind, what happened and what to do. Valid during the call
   user    config.log_user
   See CALLBACKS. Since 0.1. */
typedef void (*zt_log_fn)(int result, const char *text, void *user);

/* One collected sample. Pointers are valid during the call. Since 0.1. */
typedef struct zt_sample {
    const char *name;      /* of the region */
    uint32_t region;       /* its index, for zt_get_region */
    uint32_t metric_count; /* as zt_get_metric_count */
    double gpu_time_ns;
    const double *values; /* in the order of zt_get_metric. NaN: not measured */
    uint32_t pass;        /* from 0. Metrics of other passes are not measured. 0 with times alone */
} zt_sample;

/* Called for each collected sample, on the collecting thread. `user` is config.sample_user. See CALLBACKS.
   Since 0.1. */
typedef void (*zt_sample_fn)(const zt_sample *sample, void *user);

/* Called with the next bytes of a report, on the thread that writes it. `user` is that of the writing call.
   Returns 0, or anything else to stop. See CALLBACKS. Since 0.1. */
typedef int (*zt_write_fn)(const void *bytes, size_t size, void *user);

/* The application's allocator. Set both functions or none; with one alone, opening returns INVALID_ARGUMENT.
   They are called from any thread, also from several at once. `allocate` returns memory that is aligned as
   that of malloc, or NULL; `release` is never called with NULL. See CALLBACKS. Since 0.1. */
typedef struct zt_allocator {
    void *(*allocate)(size_t size, void *user);
    void (*release)(void *memory, void *user);
    void *user;
} zt_allocator;

/* How a profiler is opened. Start from zt_config_default(). 0 and NULL stand for the default. Strings need
   not outlive zt_open. Since 0.1. */
typedef struct zt_config {
    const char *groups;  /* Metric groups: names separated by commas, up to 32. "": none, regions have times
                            alone. NULL: those that `metrics` needs, else "ComputeBasic", else the first
                            event-based group of the device. ZT_GROUPS in the environment overrides it. */
    const char *metrics; /* Metrics: names separated by commas, up to 64. Groups that have them are measured,
                            beside those of `groups`. They are few, but not always the fewest, because not
                            all combinations are tried: to choose them, name them in `groups`. NULL: `groups`
                            alone decides. ZT_METRICS in the environment overrides it. */
    const char *columns; /* Columns of the table, counters and arguments of the trace: metrics; of the GPU
                            time "median", "p95", "min" and "max"; "queued" and "launch" (see LATENCY);
                            and "copied", the bytes that traced copies and fills have moved; separated by
                            commas. CSV and JSON have all metrics in any case. NULL:
                            those of `metrics`, else the ones that show most, as many as fit. ZT_COLUMNS in
                            the environment overrides it. */
    uint32_t max_passes; /* How many passes the work may be repeated in with ZT_PASSES, up to 16. With 1,
                            groups that cannot be active together are refused. Default: 1. */
    double pass_tolerance; /* Reports mark a region whose GPU time differs between passes by more than this
                              share. Raise it for work whose time varies by itself. Default: 0.1. */
    int require_metrics; /* Not 0: zt_open fails if metrics cannot be measured. 0: regions have times then. */

    uint32_t slots_per_step; /* Slots are made as they are needed, this many at a time. A lower number saves
                                device memory where few regions are in flight. Default: 256. */
    uint32_t max_slots;      /* The limit of slots in each pass, and of those for launches with times alone;
                                regions beyond it are dropped. Raise it if recorded lists have more regions
                                than this. Default: 16384. */
    uint32_t samples;        /* Samples kept of each region for median and 95th percentile, up to 1,048,576;
                                see AGGREGATION. A region needs up to 8 bytes a metric and kept sample, and
                                56 a metric; GPU time and latencies count as four. Default: 512. */

    int thread; /* Not 0: a thread of the library's own collects; see COLLECTING. 0: the threads that call the
                   library do. */

    uint32_t timeline; /* Samples kept for the timeline, the newest. Each needs 160 bytes and 8 a metric, and
                          each region then writes two more time stamps. Latencies are those of all samples,
                          kept or not; see LATENCY. 0: no timeline. */

    uint64_t wait_timeout_ns; /* How many nanoseconds functions without a timeout of their own may wait; see
                                 THREADS. Raise it if the work of a list takes longer. Default: 1 second. */

    zt_log_fn log; /* Receives messages. NULL: none does; zt_get_last_error returns the last one. */
    void *log_user;
    zt_sample_fn sample; /* Receives every collected sample. NULL: none does. */
    void *sample_user;
    zt_allocator allocator; /* Functions that are NULL: malloc and free. */
} zt_config;

/* Whether metrics are measured, and if not, why. Since 0.1. */
typedef enum zt_availability {
    ZT_AVAILABLE = 0,       /* metrics are measured */
    ZT_TIMES_BY_CHOICE,     /* config.groups or ZT_GROUPS is "" */
    ZT_NOT_ENABLED,         /* the driver's metrics are not enabled */
    ZT_LIBRARY_MISSING,     /* the driver lacks its metric library */
    ZT_NO_PERMISSION,       /* the system reserves metrics for privileged users */
    ZT_IN_USE,              /* the device's counters are in use by a stream, a profiler or another process */
    ZT_NO_SUCH_GROUP,       /* no event-based group of that name */
    ZT_NO_SUCH_METRIC,      /* no event-based group has a metric of that name */
    ZT_GROUPS_CONFLICT,     /* the groups need more passes than config.max_passes */
    ZT_NOT_SUPPORTED,       /* the driver or the device has no metrics, or a call failed unexpectedly */
    ZT_DEVICE_LOST,         /* the device is gone */
    ZT_AVAILABILITY_UNKNOWN /* there is no profiler */
} zt_availability;

/* Why samples are lost or dropped. Since 0.1. */
typedef enum zt_cause {
    /* lost: the device has set a flag in the report */
    ZT_LOST_REPORT_ERROR,
    ZT_LOST_REPORT_LOST,
    ZT_LOST_REPORT_WITHOUT_WORKLOAD,
    ZT_LOST_REPORT_INCONSISTENT,
    ZT_LOST_REPORT_CONTEXT_MISMATCH,
    ZT_LOST_REPORT_QUERY_MODE_MISMATCH,
    ZT_LOST_OVERRUN,
    ZT_LOST_QUERY_SPLIT,
    /* lost: other */
    ZT_LOST_NEVER_DELIVERED, /* the region ended, but its data never came; or it did not end in time */
    ZT_LOST_OVERWRITTEN,     /* executed again before it was collected */
    ZT_LOST_OTHER_PASS,      /* it ran in another pass than it was begun in */
    ZT_LOST_READ_FAILED,     /* the driver failed to read or calculate the data */
    ZT_LOST_IMPLAUSIBLE,     /* its GPU time is longer than the time since it was submitted */
    ZT_LOST_EVENT,  /* its event was reset, destroyed or used again before its time stamps were read */
    ZT_LOST_DEVICE, /* the device was lost */
    /* dropped */
    ZT_DROPPED_NO_SLOT,        /* all config.max_slots are in use */
    ZT_DROPPED_NO_MEMORY,      /* no memory for slots or statistics */
    ZT_DROPPED_TOO_MANY_NAMES, /* more than 65,536 names */
    ZT_DROPPED_APPEND_FAILED,  /* the driver refused a command of the region, or the list was NULL */
    ZT_DROPPED_NOT_CLOSED,     /* the list was released or the profiler closed before zt_end */
    ZT_DROPPED_DEVICE_LOST,    /* begun after the device was lost */
    ZT_CAUSE_COUNT
} zt_cause;

/* Formats of reports; see REPORTS. Since 0.1. */
typedef enum zt_format {
    ZT_FORMAT_TABLE,
    ZT_FORMAT_CSV,
    ZT_FORMAT_JSON,
    ZT_FORMAT_TRACE,
    ZT_FORMAT_HTML,        /* a page for browsers, in one file */
    ZT_FORMAT_OPENMETRICS, /* text for Prometheus; see OPENMETRICS */
    ZT_FORMAT_INSTANCES,   /* CSV with a row for each sample that config.timeline keeps */
    ZT_FORMAT_FOLDED       /* stacks of nested regions with their own times, for flame graphs */
} zt_format;

/* How the values of a metric are combined over samples. Since 0.1. */
typedef enum zt_aggregation {
    ZT_AGGREGATE_SUM,  /* sum, and mean of a sample */
    ZT_AGGREGATE_MEAN, /* mean, weighted by GPU time; no sum */
    ZT_AGGREGATE_FLAG, /* sum: in how many samples it was set */
    ZT_AGGREGATE_NONE  /* count, minimum and maximum alone */
} zt_aggregation;

/* How long a region or a launch waits before it runs; see LATENCY. Since 0.1. */
typedef enum zt_latency {
    ZT_LATENCY_QUEUE,  /* from its append to the execution of its recorded list */
    ZT_LATENCY_LAUNCH, /* from its submission by the host to its start on the device */
    ZT_LATENCY_COUNT
} zt_latency;

/* A metric. Strings are never NULL and live as long as the profiler. Since 0.1. */
typedef struct zt_metric {
    const char *name;
    const char *group;
    const char *component;
    const char *units; /* "" where it has none */
    const char *description;
    int type; /* a zet_metric_type_t */
    zt_aggregation aggregation;
    uint32_t pass; /* in which it is measured, from 0 */
} zt_metric;

/* Statistics of one metric over the samples of one region, in the units of the metric. What does not apply is
   NaN. `count` is the number of samples that have the metric. Since 0.1. */
typedef struct zt_stats {
    uint64_t count;
    double sum, mean, stddev, min, max, median, p95;
} zt_stats;

/* What limits a region. Since 0.1. */
typedef enum zt_limit {
    ZT_LIMIT_UNKNOWN,          /* there are not enough metrics, or no samples */
    ZT_LIMIT_MEMORY_BANDWIDTH, /* traffic between the GPU and its memory */
    ZT_LIMIT_LATENCY,          /* threads wait, and there are too few others to run meanwhile */
    ZT_LIMIT_COMPUTE,          /* instructions of the vector engines (XVE, EU) */
    ZT_LIMIT_XMX,              /* instructions of the matrix engines */
    ZT_LIMIT_LAUNCH,           /* kernels are so short that launching them takes longer */
    ZT_LIMIT_HOST,             /* the GPU waits for work */
    ZT_LIMIT_OCCUPANCY,        /* too few threads for the vector engines, which are idle */
    ZT_LIMIT_CACHE             /* threads wait for data, though there are many */
} zt_limit;

/* What probably limits a region, and why. Since 0.1. */
typedef struct zt_limit_info {
    zt_limit limit;
    char text[320];    /* sentences with the figures that show it, or with what is missing */
    char missing[256]; /* metrics that were not measured and might show another limit, as for
                          zt_config.metrics; "": none is known. The device need not have them */
} zt_limit_info;

/* Differences between the passes of a region, as bits. Since 0.1. */
enum {
    ZT_DIFFERS_MISSING = 1, /* not in every pass */
    ZT_DIFFERS_COUNT = 2,   /* not the same number of samples in every pass */
    ZT_DIFFERS_TIME = 4     /* the median GPU time differs by more than config.pass_tolerance */
};

/* A region. The name lives as long as the profiler. Since 0.1. */
typedef struct zt_region_info {
    const char *name;
    uint64_t count; /* samples that were collected, of all passes, with metrics or with times alone */
    uint64_t lost;
    uint64_t dropped;
    zt_stats time_ns; /* GPU time in nanoseconds, of all these samples */
    uint32_t differs; /* ZT_DIFFERS_ bits; 0: the passes do not differ */
    uint32_t parent;  /* the region that it is directly inside; UINT32_MAX: none, or not the same each
                         time. See NESTING */
    double own_ns;    /* GPU time outside of the regions inside it, of all samples. NaN: not known */
    double total_ns;  /* GPU time of all samples. Those inside another sample of the region do not count
                         again. NaN: not known */
    uint64_t bytes;   /* that traced copies and fills of this name have moved, as far as known */
    double bytes_per_second; /* these, divided by their GPU time. NaN: not known */
    uint64_t with_metrics;   /* samples of `count` that have metrics; see COUNTS */
} zt_region_info;

/* A region inside certain others; see NESTING. Since 0.1. */
typedef struct zt_path_info {
    uint32_t region; /* its index, for zt_get_region */
    uint32_t parent; /* the path of the region that it is directly inside. UINT32_MAX: none */
    uint64_t count;  /* samples that were collected there, with a GPU time */
    double total_ns; /* the sum of these times */
    double own_ns;   /* the part of it outside of the regions inside it. NaN: not known */
} zt_path_info;

/* Samples, and what became of them; see COUNTS. Since 0.1. */
typedef struct zt_counts {
    uint64_t begun, collected, lost, dropped, in_flight;
    uint64_t unobserved_lists; /* command lists that ran outside of zt_execute; see COMMAND LISTS */
} zt_counts;

/* ---- streams --------------------------------------------------------------------------------------------- */

/* A stream: one metric group of one device or sub-device, sampled by the clock. Since 0.1. */
typedef struct zt_stream zt_stream;

/* One row: the metrics of one period. Pointers are valid during the call. Since 0.1. */
typedef struct zt_row {
    uint64_t time_ns;   /* when the period began, by CLOCK_MONOTONIC of the host */
    uint64_t device_ns; /* the same by the clock of the device's metrics; continues when that overflows */
    uint64_t length_ns; /* how long the period lasted */
    int gap;            /* not 0: rows are missing before this one, dropped by the device or not calculated */
    uint32_t metric_count;
    const double *values; /* in the order of zt_stream_get_metric. NaN: not measured */
    const char *marker;   /* the name of the marker that ended the row, or NULL */
} zt_row;

/* Called for each row, on the thread that reads. `user` is that of the reading call. Returns 0, or anything
   else to stop: later rows wait for the next read. See CALLBACKS. Since 0.1. */
typedef int (*zt_row_fn)(const zt_row *row, void *user);

/* How a stream is opened. Start from zt_stream_config_default(). 0 and NULL stand for the default. Strings
   need not outlive zt_stream_open. Since 0.1. */
typedef struct zt_stream_config {
    const char *group;  /* A time-based metric group. NULL: "ComputeBasic", else the first that there is. */
    uint32_t period_ns; /* The length of a row in nanoseconds; the driver rounds it. Default: 1 ms. */
    uint32_t notify_reports; /* A read that waits is woken after this many reports. With fewer, rows arrive
                                sooner and cost more. Default: as many as come in 10 ms. */
    size_t memory_limit;     /* Bytes for reports and their calculation. Raise it if rows are read seldom.
                                Default: 8 MiB. */
    int reader; /* Not 0: a thread of the library's own reads from the device into this memory, so
                   that nothing is lost if the application seldom calls zt_stream_read. */

    zt_profiler *profiler;  /* Attaches the stream to this profiler: its timeline and regions then have the
                               rows. It must have config.timeline. It keeps the rows when the stream is
                               closed, so `allocator` must work until zt_close. NULL: to none. */
    uint32_t timeline_rows; /* Rows kept for that profiler, the newest. Each needs 32 bytes and 8 a metric.
                               Default: 16384. */

    zt_log_fn log; /* As in zt_config. The reader thread calls it, too. */
    void *log_user;
    zt_allocator allocator;
} zt_stream_config;

/* What a stream was opened with. Since 0.1. */
typedef struct zt_stream_info {
    const char *group;
    uint32_t period_ns;      /* as rounded by the driver */
    uint32_t notify_reports; /* as rounded by the driver */
    size_t memory;           /* bytes allocated for reports and their calculation */
    uint64_t reader_cpu_ns;  /* processor time of the reader thread so far */
} zt_stream_info;

/* Reports of a stream, and what became of them; see STREAMS. Since 0.1. */
typedef struct zt_stream_counts {
    uint64_t reports;   /* read from the device */
    uint64_t rows;      /* delivered to a function or a profiler */
    uint64_t discarded; /* not delivered */
    uint64_t waiting;   /* not yet delivered */
    uint64_t gaps;      /* how often the device reported that it had dropped data */
    uint64_t dropped;   /* reports missing in these gaps, estimated from their length */
} zt_stream_counts;

/* One streamed metric over the rows that belong to the samples of a region. NaN where there are none. For a
   metric that is averaged, the mean is weighted by the length of the rows. For one that adds up, it is the
   mean of a row. Since 0.1. */
typedef struct zt_streamed {
    uint64_t rows;
    double mean, peak;
} zt_streamed;

/* What a timeline holds. Since 0.1. */
typedef struct zt_timeline_info {
    uint64_t samples, rows;           /* kept */
    uint64_t lost_samples, lost_rows; /* replaced by newer ones, or without a certain time */
    uint32_t pairs;                   /* comparisons of device clock and host clock that are in use */
} zt_timeline_info;

/* How samples of the timeline cover the time of the device; see BYTES AND OVERLAP. Since 0.1. */
typedef struct zt_overlap {
    uint64_t samples; /* that ran in this time */
    uint64_t missing; /* that may have run in it, too: lost, dropped, on their way, or without a certain time.
                         If there are any, all times but the first are NaN */
    double span_ns;   /* from the first begin to the last end. This and the others are NaN without samples */
    double busy_ns;   /* covered by samples. If some are of traced kernels or copies, then without the regions
                         of the application around others, between which the device may be idle */
    double kernel_ns; /* covered by traced kernels */
    double copy_ns;   /* covered by traced copies and fills */
    double both_ns;   /* covered by a kernel and a copy at once */
    double idle_ns;   /* not covered: span_ns - busy_ns. What was not measured counts as idle */
} zt_overlap;

#ifdef ZETOOLS_TRACER
#define ZT__TRACER_DECLARED 1

/* A callback of the application around a call; see TRACING and CALLBACKS. Runs on the thread that calls.
   parameters  a structure with the addresses of the call's parameters, such as a ze_kernel_create_params_t
               from <level_zero/layers/zel_tracing_api.h>. A prologue may change the parameters
   result      a ze_result_t: that of the call; in a prologue SUCCESS
   user        as in zt_hook
   instance    points to NULL in the prologue, which may store a pointer there for the epilogue of the call
   Since 0.1. */
typedef void (*zt_hook_fn)(void *parameters, int result, void *user, void **instance);

/* The application's callbacks for one call; either may be NULL. Since 0.1. */
typedef struct zt_hook {
    const char *call; /* "zeKernelCreate" */
    zt_hook_fn prologue;
    zt_hook_fn epilogue;
    void *user;
} zt_hook;

/* What a tracer does. Start from zt_trace_config_default(). 0 and NULL stand for the default. Strings and the
   array of hooks are copied. Since 0.1. */
typedef struct zt_trace_config {
    const char *names; /* Kernels to measure: patterns with * and ?, separated by commas. A pattern after '!'
                          excludes: "gemm*,!*_tail". NULL: all kernels. */
    uint32_t every;    /* With n, the first launch of each kernel and every n-th after it are measured with
                          metrics, and the others with times alone, which costs less and disturbs nothing; see
                          TRACED LAUNCHES. If the profiler measures no metrics, the others are not measured.
                          Default: 1. */
    uint64_t limit;    /* The most launches of each kernel with metrics; further ones are measured as outside
                          of `every`. 0: no limit. */
    int copies;      /* Not 0: copies and fills are measured, too, as "MemoryCopy", "MemoryFill", ..., and if
                        the profiler measures times alone, barriers and waits for events. */
    int no_launches; /* Not 0: launches are not measured; lists are observed all the same. */
    const char *calls;    /* Calls to count and time: patterns separated by commas, as in `names`:
                             "zeEvent*,zeCommandQueue*". Calls that are not observed cost no more than before.
                             NULL: none. */
    const zt_hook *hooks; /* Callbacks of the application, up to 16. NULL: none. */
    uint32_t hook_count;
    const char *modules; /* A directory for the binaries and the debug information of modules that are created
                            while tracing; see MODULES. It is made if it is missing. NULL and "": none. */
    uint32_t profile_flags; /* zet_profile_flags_t: modules that are created while tracing are built with
                               -zet-profile-flags and these; see MODULES. 0: as the application says. */
} zt_trace_config;

/* Launches, and copies if they are measured: launches = measured + filtered + elsewhere. zt_counts shows
   what became of those that are measured. Since 0.1. */
typedef struct zt_trace_counts {
    uint64_t launches;
    uint64_t measured;  /* a region was begun */
    uint64_t filtered;  /* left out by the configuration */
    uint64_t elsewhere; /* on a list that the profiler cannot measure: of another context or device; of a copy
                           engine, unless the profiler measures times alone; that can be cloned or changed;
                           or captured into a graph */
    uint64_t replaced;  /* kernels, and pointers to functions, that zt_replace has replaced */
    uint64_t serialised;  /* of those measured: between queries, or, on a list that is not in order, between
                             barriers, so that they overlap with nothing. Without metrics, few are; see
                             TRACED LAUNCHES */
    uint64_t times_alone; /* of those measured, with a profiler that measures metrics: outside of `every` and
                             `limit`, so that their samples have times and no metrics */
} zt_trace_counts;

/* A call that was timed. The name lives as long as the program. Since 0.1. */
typedef struct zt_call_info {
    const char *name;
    uint64_t count;
    uint64_t errors;  /* calls that failed. SUCCESS, NOT_READY, warnings and results that answer a question,
                         such as QUERY_FALSE, are no errors */
    zt_stats time_ns; /* host time of a call */
} zt_call_info;

/* The most different sizes and numbers of work-groups that are kept of a kernel. Since 0.1. */
enum { ZT_KERNEL_SHAPES = 8 };

/* Launches of a kernel with the same sizes and numbers of work-groups; see KERNELS. Since 0.1. */
typedef struct zt_kernel_shape {
    uint32_t group_size[3];  /* items of a work-group. 0: not known */
    uint32_t group_count[3]; /* 0: not known to the host */
    uint64_t launches;
    uint32_t groups_per_subslice; /* how many work-groups fit into a subslice. UINT32_MAX: not known */
    double occupancy; /* the share of the threads of a subslice that they fill, from 0 to 1. NaN: not known */
    double waves;     /* how many times a launch fills the device; below 1: not even once. NaN: not known */
} zt_kernel_shape;

/* A kernel that was launched while tracing; see KERNELS. The name lives as long as the profiler. Numbers are
   UINT32_MAX where they are not known. About 1.3 kB. Since 0.1. */
typedef struct zt_kernel_info {
    const char *name;
    uint64_t module;   /* a hash of the module's native binary (FNV-1a); as %016llx it names the files of
                          zt_trace_config.modules. 0: not known */
    uint32_t region;   /* that of its name, for zt_get_region. UINT32_MAX: none */
    uint64_t launches; /* as zt_trace_counts counts them, also those that were not measured */

    uint32_t simd_width;             /* items of a thread */
    uint32_t registers;              /* of a thread: 128, or 256 of the large register file */
    uint32_t slm_bytes;              /* shared local memory of a work-group */
    uint32_t private_bytes;          /* memory of a thread for what is not in registers */
    uint32_t spill_bytes;            /* memory of a thread for what did not fit into registers */
    uint32_t barriers;               /* of a work-group, held at a time */
    uint32_t arguments;              /* that zeKernelSetArgumentValue can set */
    uint32_t code_bytes;             /* of its instructions */
    uint32_t profile_flags;          /* zet_profile_flags_t: what the module was built with */
    uint32_t free_register_bytes;    /* of registers that it does not use, if these flags ask for them */
    uint32_t required_group_size[3]; /* as its source demands. 0: any */

    uint32_t shape_count; /* how many of the next, which are in descending order of launches */
    zt_kernel_shape shapes[ZT_KERNEL_SHAPES];
    uint64_t other_launches; /* of other shapes than these */
    double occupancy;        /* of the first shape, which has most launches */
    char advice[768]; /* sentences: what it spills, and what keeps the device from being full. "": nothing */
} zt_kernel_info;

/* How zt_auto traces and reports; see AUTOMATIC TRACING. Start from zt_auto_config_default(). Strings of any
   length are copied, and need not outlive zt_auto. Functions and their user pointers must live until exit.
   Since 0.1. */
typedef struct zt_auto_config {
    const char *report; /* Paths, or "table", as in ZT_REPORT; see ENVIRONMENT. NULL: a table on standard
                           output. ZT_AUTO in the environment overrides it. */
    zt_config profiler; /* of each context and device */
    zt_trace_config trace;
    int hotspots; /* Not 0: hot spots are sampled on each device that can. ZT_HOTSPOTS in the environment
                     overrides it. */
} zt_auto_config;

/* The most kinds of stall that hot spots have. Since 0.1. */
enum { ZT_MAX_STALLS = 16 };

/* How hot spots are sampled. Start from zt_hotspots_config_default(). 0 and NULL stand for the default. Since
   0.1. */
typedef struct zt_hotspots_config {
    uint32_t period_ns;  /* Nanoseconds from one sample to the next; the driver rounds it. Default: 50 us. */
    size_t memory_limit; /* Bytes for samples that are read and not yet added up. Default: 8 MiB. */
    uint32_t addresses;  /* The most addresses that are kept apart; samples at others are counted. Each needs
                            up to 300 bytes. A later start can raise it, and not lower it. Default: 65,536. */
    size_t debug_limit;  /* Bytes of debug information that are kept for source lines, of modules that are
                            destroyed, or still there at the stop. Default: 64 MiB. */
    int no_thread;       /* Not 0: zt_collect reads samples; call it every few milliseconds. 0: a thread of
                            the library's own does. */
    uint32_t stops_a_second; /* On a device that does not sample instructions: how often all its threads are
                                stopped to see where they are; at most 1000. Raise it, such as to 10,
                                where there is nothing else: each stop delays the work. Needs ZETOOLS_DEBUG.
                                Default: 0, never. */
} zt_hotspots_config;

/* A kind of stall: why a thread of the device did not execute its next instruction. Since 0.1. */
typedef struct zt_stall {
    const char *name; /* the device's, such as "SbidStall"; see HOT SPOTS */
    uint64_t samples;
} zt_stall;

/* Samples at one instruction of a kernel. Strings are never NULL and live as long as the profiler.
   Since 0.1. */
typedef struct zt_hotspot_info {
    const char *kernel;
    uint64_t offset; /* of the instruction from the begin of the kernel, in bytes: a multiple of 8 */
    uint64_t samples;
    double share;    /* of all samples in kernels, from 0 to 1 */
    uint64_t active; /* samples in which the instruction was executed; the others are stalls */
    uint32_t stall_count;
    zt_stall stalls[ZT_MAX_STALLS];
    const char *file; /* of the source. "": not known; see zt_hotspots_find_lines */
    uint32_t line;    /* from 1; 0: not known */
} zt_hotspot_info;

/* Samples of hot spots: samples = matched + outside + ambiguous + no_room. Since 0.1. */
typedef struct zt_hotspots_counts {
    uint64_t samples;
    uint64_t matched;   /* in a kernel */
    uint64_t outside;   /* in none that the tracer knows: of other processes, or of kernels that were neither
                           created nor launched while tracing */
    uint64_t ambiguous; /* where two kernels lie, as far as the device reports addresses */
    uint64_t no_room;   /* at more addresses than zt_hotspots_config.addresses, or without memory for them */
    uint64_t discarded; /* reports or rows that could not be used: the driver calculated none, or no address
                           or no counts. How many samples they had is not known */
    uint64_t drops;     /* how often the device has dropped samples, or a stop has failed */
} zt_hotspots_counts;

#endif /* ZETOOLS_TRACER */

#ifdef ZETOOLS_DEBUG
#define ZT__DEBUG_DECLARED 1

/* ---- program debug ---- */

/* A debug session: of one device, and of one process that uses it. Since 0.1. */
typedef struct zt_debugger zt_debugger;

/* All slices, subslices, EUs or threads, in a zt_debug_thread. Since 0.1. */
#define ZT_DEBUG_ALL UINT32_MAX

/* A thread of the device or, where a member is ZT_DEBUG_ALL, several: {1, ZT_DEBUG_ALL, ZT_DEBUG_ALL,
   ZT_DEBUG_ALL} is the second slice. Since 0.1. */
typedef struct zt_debug_thread {
    uint32_t slice, subslice, eu, thread;
} zt_debug_thread;

/* What has happened in a debugged process. Since 0.1. */
typedef enum zt_debug_event_type {
    ZT_DEBUG_OTHER,               /* what this version of the library does not know */
    ZT_DEBUG_DETACHED,            /* the session is over: `reason` */
    ZT_DEBUG_PROCESS_ENTRY,       /* the process has created a command queue on the device */
    ZT_DEBUG_PROCESS_EXIT,        /* the process has destroyed its command queues on the device */
    ZT_DEBUG_MODULE_LOAD,         /* `begin`, `end` and `load` */
    ZT_DEBUG_MODULE_UNLOAD,       /* likewise: the module is about to be unloaded */
    ZT_DEBUG_THREADS_STOPPED,     /* `threads`: at least one of them has stopped */
    ZT_DEBUG_THREADS_UNAVAILABLE, /* `threads`: none of them can be stopped */
    ZT_DEBUG_PAGE_FAULT,          /* `address`, `mask` and `reason` */
    ZT_DEBUG_EVENT_COUNT
} zt_debug_event_type;

/* An event. Members that do not belong to its type are 0. Since 0.1. */
typedef struct zt_debug_event {
    zt_debug_event_type type;
    int is_held;     /* not 0: the device waits with what follows, such as a launch of the module, until
                        the event is acknowledged */
    uint32_t reason; /* of DETACHED, a zet_debug_detach_reason_t: 1 if the process has ended. Of
                        PAGE_FAULT, a zet_debug_page_fault_reason_t: 1 if the address is not mapped, 2 if
                        the access is not permitted */
    zt_debug_thread threads; /* what stopped, or cannot */
    uint64_t begin, end;     /* where the ELF file of the module is in the memory of the device */
    uint64_t load;           /* where the module is loaded */
    uint64_t address, mask;  /* the page of the fault: its address, and the bits that count */
} zt_debug_event;

/* Called with each event, on the thread that waits. `user` is that of the call. Returns 0, or anything else
   to stop: later events wait for the next call. See CALLBACKS. Since 0.1. */
typedef int (*zt_debug_fn)(zt_debugger *debugger, const zt_debug_event *event, void *user);

/* How a process is debugged. Start from zt_debug_config_default(). 0 and NULL stand for the default. Since
   0.1. */
typedef struct zt_debug_config {
    uint64_t wait_timeout_ns; /* How long calls wait for other threads, and zt_debug_close for threads of the
                                 device that are about to stop. Default: 1 second. */
    size_t module_limit;      /* Bytes of modules that are kept for zt_debug_where. Default: 64 MiB. */
    int no_lines;             /* Not 0: zt_debug_where runs no program to find source lines. */
    zt_log_fn log; /* Receives each kind of message once. NULL: none, or standard error with ZT_LOG. */
    void *log_user;
    zt_allocator allocator; /* NULL functions: malloc and free. */
} zt_debug_config;

/* What zt_debug_stop has done. Since 0.1. */
typedef struct zt_debug_stops {
    uint32_t stopped;     /* threads that are stopped now, also those that were before */
    uint32_t unavailable; /* the others that were selected: they are idle, or cannot be stopped. The device
                             does not report which */
} zt_debug_stops;

/* A kind of memory. Since 0.1. */
typedef enum zt_debug_space {
    ZT_DEBUG_MEMORY, /* what pointers point to */
    ZT_DEBUG_SLM     /* shared local memory of the thread's work-group, from 0 on */
} zt_debug_space;

/* Registers of one kind. Since 0.1. */
typedef struct zt_debug_register_set {
    char name[16];    /* Intel's: "GRF", "ADDR", "FLAG", "CE", "SR", "CR", "TDR", "ACC", "MME", "SP", "SBA",
                         "DBG", "FC"; for other types "SET 14" */
    uint32_t type;    /* as the device numbers it */
    uint32_t version; /* of the set, as the device numbers it */
    int is_readable;
    int is_writable;
    uint32_t count; /* registers. A thread may have fewer */
    uint32_t bits;  /* of a register */
    uint32_t bytes; /* that a register takes in a buffer */
} zt_debug_register_set;

/* A register. Since 0.1. */
typedef struct zt_debug_register {
    const char *set; /* lives as long as the debugger */
    uint32_t index;  /* in its set */
    uint32_t bytes;
} zt_debug_register;

/* Where an instruction is. Strings are never NULL, and live as long as the debugger. Since 0.1. */
typedef struct zt_debug_place {
    const char *kernel; /* or another function of the module, as its file names it. "": not known */
    uint64_t offset;    /* from its begin, in bytes */
    uint64_t size;      /* of its instructions */
    const char *file;   /* of the source. "": not known */
    uint32_t line;      /* from 1; 0: not known */
    int is_unloaded;    /* not 0: the module was unloaded since */
} zt_debug_place;

/* ---- watching ---- */

/* The most places in a report of a watch. Since 0.1. */
enum { ZT_MAX_PLACES = 32 };

/* Who debugs a process for zt_watch. Since 0.1. */
typedef enum zt_debugged_by {
    ZT_DEBUGGED_BY_NOBODY, /* what hangs is reported, but not where */
    ZT_DEBUGGED_BY_ITSELF,
    ZT_DEBUGGED_BY_HELPER /* a process that the library has started */
} zt_debugged_by;

/* Where threads of the device were when they were stopped. Strings are never NULL. Since 0.1. */
typedef struct zt_hang_place {
    const char *kernel; /* "": not known */
    uint64_t address;   /* of the instruction, */
    uint64_t offset;    /* and from the begin of the kernel; 0 if the kernel is not known */
    uint32_t threads;
    const char *file; /* of the source. "": not known */
    uint32_t line;    /* from 1; 0: not known */
} zt_hang_place;

/* What hangs or has faulted, and where. Strings are never NULL. Since 0.1. */
typedef struct zt_hang {
    int is_fault;           /* the device has reported a fault, or threads have stopped by themselves */
    uint64_t fault_address; /* of a page fault; else 0 */
    const char *fault;      /* what it was, in words. "": no fault */
    const char *region;     /* that runs for too long; of a fault, one that was running. "": not known */
    uint64_t running_ns;    /* how long it has run */
    uint32_t others;        /* other lists with regions that run, or wait for what hangs */
    int has_ended;          /* the region ended while the threads were being stopped */
    zt_debugged_by debugged_by;
    const char *reason;          /* why nobody debugs, or why threads could not be stopped or found */
    uint32_t stopped;            /* threads that were stopped, */
    uint32_t unstopped;          /* and those that could not be, as far as the device reports them */
    uint32_t place_count;        /* up to ZT_MAX_PLACES */
    const zt_hang_place *places; /* those with most threads first */
    uint32_t threads_elsewhere;  /* stopped at other places */
    int is_left_stopped;         /* see zt_watch_config.leave_stopped */
    const char *text;            /* the whole report, as in the file */
} zt_hang;

/* Called with each hang and each fault, on the thread of the watch, after the work was resumed or left
   stopped. Pointers are valid during the call. `user` is zt_watch_config.user. See CALLBACKS. Since 0.1. */
typedef void (*zt_hang_fn)(const zt_hang *hang, void *user);

/* How regions are watched. Start from zt_watch_config_default(). 0 and NULL stand for the default. Strings
   need not outlive zt_watch. Since 0.1. */
typedef struct zt_watch_config {
    uint64_t hang_ns; /* A region that runs longer hangs; see WATCHING. At least 1 ms. Default: 10 seconds. */
    const char *path; /* The file of the report; %p is the process ID. The second report goes to
                         hang.%p.2.txt, and so on. "": none. Default: "hang.%p.txt". */
    zt_hang_fn function; /* NULL: none is called. */
    void *user;
    int leave_stopped; /* Not 0: threads stay stopped until zt_watch_stop or zt_close. */
    int no_helper;     /* Not 0: no other process is started to debug this one. */
} zt_watch_config;

/* What a watch does, and what it has found. Since 0.1. */
typedef struct zt_watch_info {
    int is_watching;
    zt_debugged_by debugged_by;
    char reason[512];       /* why the process does not debug itself, or why nobody debugs it; else "" */
    uint32_t hangs, faults; /* that were reported */
    int is_stopped;         /* threads of the device are left stopped */
} zt_watch_info;

#endif /* ZETOOLS_DEBUG */

/* ---- benchmarks ---- */

/* What to benchmark, and how precisely. 0 and NULL stand for the default. Since 0.1. */
typedef struct zt_bench_config {
    const char *name; /* A name for people. NULL: that of the region, else "the benchmark"; in a comparison
                         "a" or "b". */
    int (*run)(zt_profiler *profiler, void *user); /* Records and submits the work once, with a region of
                                                      `profiler` around what is timed. That is another
                                                      profiler while times are measured: begin no region
                                                      of any other, and record lists anew in each run.
                                                      The samples are waited for and collected after it.
                                                      Returns 0, or anything else if the work failed. */
    double (*measure)(void *user); /* In place of `run`, for work that is timed by other means: does the work
                                      once and returns its time in nanoseconds; negative if it failed. */
    void *user;                    /* is passed to these functions and to `frequency` */
    const char *region; /* The region whose GPU time is a sample, added up if it runs several times. NULL: the
                           first of the work. */
    double (*frequency)(void *user); /* Returns the frequency of the device now, in MHz; 0: not known. NULL:
                                        that of the system management interface, which ZES_ENABLE_SYSMAN=1
                                        enables. */
    uint32_t warm_up;                /* Runs before the first sample. Default: 3. */
    uint32_t min_samples;  /* The fewest samples, however long they take. Default, and minimum: 10. */
    uint32_t max_samples;  /* The most samples. Default, and maximum: 1000. */
    uint64_t max_time_ns;  /* The most time for the warm-up, and again for the samples, in nanoseconds. The
                              first three runs of the warm-up and min_samples are made in any case. Default:
                              10 seconds. */
    double precision;      /* Sampling stops when half the interval of the median is less than this share of
                              it. Default: 0.01. */
    double max_change;     /* Samples whose frequency differs from the median by more than this share are
                              marked. Default: 0.02. */
    uint32_t counter_runs; /* Runs with metrics, in each pass. Default: 5. */
    double bytes_per_run;  /* Bytes that a run moves and items that it works on, for rates, by your own count.
                              0: there is no such rate. */
    double items_per_run;
    double tolerance; /* zt_compare_benches calls a benchmark faster or slower if the whole interval of its
                         change is beyond this share. Default: 0.02. */
} zt_bench_config;

/* Which condition ended a benchmark. Since 0.1. */
typedef enum zt_bench_end {
    ZT_BENCH_NOT_RUN, /* there is no profiler, or a run failed */
    ZT_BENCH_PRECISE, /* config.precision is reached */
    ZT_BENCH_NOISE,   /* twice the samples did not make the interval narrower */
    ZT_BENCH_TIME,    /* config.max_time_ns was over */
    ZT_BENCH_FULL     /* config.max_samples were taken */
} zt_bench_end;

/* The most samples of a benchmark, and the marks of a sample, which are bits. Since 0.1. */
enum { ZT_BENCH_SAMPLES = 1000, ZT_BENCH_OUTLIER = 1, ZT_BENCH_CHANGED = 2 };

/* The result of a benchmark; times in nanoseconds. What does not apply is NaN. About 9 kB. Since 0.1. */
typedef struct zt_bench_result {
    char name[64];
    zt_bench_end end;
    uint32_t count;    /* samples */
    uint32_t outliers; /* samples that lie beyond a quartile by more than 1.5 times the interquartile range.
                          They count like any other */
    uint32_t changed;  /* samples at another frequency. They count like any other */
    double median;
    double low, high; /* interval that contains the true median with a probability of at least 95% */
    double quartile1, quartile3;
    double min, max;
    double precision;                      /* half the interval, as a share of the median */
    double bytes_per_second;               /* at the median, of config.bytes_per_run */
    double items_per_second;               /* at the median, of config.items_per_run */
    double tolerance;                      /* that of the configuration */
    double frequency_mhz;                  /* median. NaN: not known */
    uint32_t counter_runs;                 /* runs with metrics, in each pass */
    double counter_median;                 /* their median */
    double perturbation;                   /* counter_median divided by median */
    uint32_t region;                       /* of the profiler, for zt_get_rate; UINT32_MAX: none */
    double samples[ZT_BENCH_SAMPLES];      /* in the order in which they were taken */
    unsigned char marks[ZT_BENCH_SAMPLES]; /* ZT_BENCH_OUTLIER, ZT_BENCH_CHANGED */
} zt_bench_result;

/* The result of a comparison of two variants. Since 0.1. */
typedef struct zt_comparison {
    zt_bench_result a, b;
    double ratio;     /* median of b divided by median of a */
    double low, high; /* interval that contains the true ratio with a probability of at least 95% */
    int differs;      /* not 0: the interval does not contain 1 */
} zt_comparison;

/* How many benchmarks changed since an earlier run. Since 0.1. */
typedef struct zt_bench_changes {
    uint32_t faster, slower;
    uint32_t same;        /* no change beyond the tolerance is shown */
    uint32_t missing;     /* measured by the earlier run, and not now */
    uint32_t added;       /* measured now, and not by the earlier run */
    int other_conditions; /* not 0: the device, its driver, its core clock or the frequency of a benchmark
                             is another. The table says which */
} zt_bench_changes;

#ifndef ZETOOLS_DISABLE

/* ==== interface =========================================================================================== */

/* Every function accepts NULL for the profiler, stream or debugger, and then does nothing. It returns
   ZE_RESULT_SUCCESS, 0, or what stands for nothing: UINT32_MAX for an index, NaN for a figure. zt_execute and
   zt_reset still execute and reset, and ZT_PASSES runs its statement once. A structure to be filled in is
   empty then, as it is on failure.

   Results are named without ZE_RESULT_ and ZE_RESULT_ERROR_. A function that takes handles or pointers
   returns INVALID_NULL_HANDLE or INVALID_NULL_POINTER for those that are NULL, unless NULL is allowed; one
   that takes an index returns INVALID_ARGUMENT for one that is too high; one that needs memory,
   OUT_OF_HOST_MEMORY. Besides these, it returns SUCCESS, and the results that its own documentation names.
   This is not repeated below. "Any thread" includes several at once; "One thread" means any, but not two at
   once. */

/* Returns the version of the implementation, "major.minor.patch". Any thread. Since 0.1. */
ZT_API const char *zt_version(void);

/* Returns a configuration with every field at its default. Any thread. Since 0.1. */
ZT_API zt_config zt_config_default(void);

/* Opens a profiler on a device or sub-device of an initialised driver.
   config    NULL: the defaults
   profiler  receives the profiler; NULL on failure
   Returns SUCCESS, also where metrics cannot be measured. With config.require_metrics that is a failure: then
   the result of the call that refused them, or INVALID_ARGUMENT where there are no such groups or metrics.
   OUT_OF_HOST_MEMORY also when 256 profilers are open in the process; DEVICE_LOST; otherwise the result of
   the call that failed. zt_get_last_error(NULL) has the message.
   Variables of the environment override the configuration; see ENVIRONMENT. Mistakes in them are reported.
   Any thread, but not two threads for one device at once. Since 0.1. */
ZT_API ze_result_t zt_open(ze_context_handle_t context, ze_device_handle_t device, const zt_config *config,
                           zt_profiler **profiler);

/* Collects what is on its way, writes the reports that ZT_REPORT names, and frees the profiler. Call it
   before the context is destroyed. Recorded lists with regions must not be executed afterwards. Those that
   were executed without zt_execute must not be running now, because the library cannot see whether they are.
   Immediate lists and executions by zt_execute are waited for. What
   these have not finished when the time is up is reported, and the memory that the device may still write to
   is not freed. zt_end of a region that is still open does nothing afterwards.
   The profiler stays open if the driver, a callback or a traced call of another thread does not return in
   time, or if it is called from a callback that forbids it. A message reports this, and zt_close can be
   called again.
   One thread; see PROCESSES for the pointer. Since 0.1. */
ZT_API void zt_close(zt_profiler *profiler);

/* Begins a region on a command list that is immediate, or open for commands.
   name  is copied. NULL and "" are shown as "(unnamed)". Up to 65,536 different names
   Returns the region, for zt_end. A region that cannot be measured is counted as dropped, and passed to
   zt_end all the same. Any thread that may use the list. Since 0.1. */
ZT_API zt_region zt_begin(zt_profiler *profiler, ze_command_list_handle_t list, const char *name);

/* Ends a region, on the list on which it was begun. Does nothing for NULL, for a region that was dropped or
   has ended, also by a copy of it, and for one whose profiler is closed.
   Any thread that may use the region's list. Since 0.1. */
ZT_API void zt_end(zt_region *region);

/* Collects samples.
   timeout_ns  0: what is ready, without waiting. Otherwise, waits so many nanoseconds at the most for samples
               that are on their way; see COLLECTING
   Returns SUCCESS; NOT_READY, with a timeout only, if it expired, or if a region is not ended; DEVICE_LOST;
   HANDLE_OBJECT_IN_USE inside a sample function. Any thread. Since 0.1. */
ZT_API ze_result_t zt_collect(zt_profiler *profiler, uint64_t timeout_ns);

/* Declares that what is on a list never runs again. Call it when the device is done with the list: before it
   is destroyed, or after it was reset. Slots of the list that are ready are freed now, others when they
   are collected. Regions that never ran no longer count as begun. Regions that are not ended are dropped.
   Never waits. If the driver refuses to destroy the list, reset it before it is executed again.
   Returns SUCCESS, also for a list without regions; NOT_READY if samples of the list are not collected yet:
   the next collection does that. With config.thread, NOT_READY only means that the thread has not collected
   them yet. Any thread that may use the list. Since 0.1. */
ZT_API ze_result_t zt_release(zt_profiler *profiler, ze_command_list_handle_t list);

/* Resets a list with zeCommandListReset and, if that succeeds, calls zt_release for it.
   Returns what zeCommandListReset returns. Any thread that may use the list. Since 0.1. */
ZT_API ze_result_t zt_reset(zt_profiler *profiler, ze_command_list_handle_t list);

/* Names a command list, for the trace: the regions that are begun on it from now on are on a track with this
   name. zt_release and, under a tracer, the destruction of the list end that.
   name  is copied. NULL and "": none any more
   Returns SUCCESS; OUT_OF_HOST_MEMORY also for more than 65,536 different names. Any thread that may use the
   list. Since 0.1. */
ZT_API ze_result_t zt_name_list(zt_profiler *profiler, ze_command_list_handle_t list, const char *name);

/* Collects the last execution of these lists, waiting for it up to config.wait_timeout_ns, and executes them
   with zeCommandQueueExecuteCommandLists. Samples that were not ready in time are overwritten and counted as
   lost. The lists are executed in any case. If a list is named twice, they are executed in several calls, so
   that each execution is measured; the last call has the fence. If the driver refuses one of these calls, the
   lists of those before it are executed, and those after it are not made; the message tells how many lists
   were executed. See CALLBACKS for calls inside a callback.
   Returns what zeCommandQueueExecuteCommandLists returns. Any thread that may use them. Since 0.1. */
ZT_API ze_result_t zt_execute(zt_profiler *profiler, ze_command_queue_handle_t queue, uint32_t count,
                              ze_command_list_handle_t *lists, ze_fence_handle_t fence);

/* Returns the number of passes: 1 where nothing has to be repeated. Any thread. Since 0.1. */
ZT_API uint32_t zt_get_pass_count(const zt_profiler *profiler);

/* Gets the statistics of the GPU time of a region in one pass, counted from 0: that of the samples with the
   metrics of the pass, or of all samples if no metrics are measured. Any thread. Since 0.1. */
ZT_API ze_result_t zt_get_pass(const zt_profiler *profiler, uint32_t region, uint32_t pass,
                               zt_stats *time_ns);

/* The functions that ZT_PASSES calls. zt_passes_next activates the groups of the next pass and returns 1, or
   0 when there are no more; a pass whose groups cannot be activated is left out. zt_passes_end returns to the
   first pass. One thread. Since 0.1. */
ZT_API zt_passes zt_passes_begin(zt_profiler *profiler);
ZT_API int zt_passes_next(zt_passes *passes);
ZT_API void zt_passes_end(zt_passes *passes);

/* Returns the number of tiles: 0 where the device has only one. Any thread. Since 0.1. */
ZT_API uint32_t zt_get_tile_count(const zt_profiler *profiler);

/* As zt_get_stats, for one tile, counted from 0. Any thread. Since 0.1. */
ZT_API ze_result_t zt_get_tile_stats(const zt_profiler *profiler, uint32_t region, uint32_t tile,
                                     uint32_t metric, zt_stats *stats);

/* Gets the statistics of a latency over the collected samples of a region, in nanoseconds; see LATENCY. Only
   samples whose latency is known count. Figures of the launch latency that are not larger than its error are
   NaN.
   Returns SUCCESS; INVALID_ENUMERATION. Any thread. Since 0.1. */
ZT_API ze_result_t zt_get_latency(const zt_profiler *profiler, uint32_t region, zt_latency latency,
                                  zt_stats *stats);

/* Returns how many samples there are in each state. Any thread. Since 0.1. */
ZT_API zt_counts zt_get_counts(const zt_profiler *profiler);

/* Returns how many samples were lost or dropped by one cause. Any thread. Since 0.1. */
ZT_API uint64_t zt_get_cause(const zt_profiler *profiler, zt_cause cause);

/* Returns "report error", "no slot", ...: never NULL. Any thread. Since 0.1. */
ZT_API const char *zt_cause_name(zt_cause cause);

/* Returns the number of regions, that is, of different names, so far. Any thread. Since 0.1. */
ZT_API uint32_t zt_get_region_count(const zt_profiler *profiler);

/* Returns the number of metrics of all groups and passes. It does not change. Any thread. Since 0.1. */
ZT_API uint32_t zt_get_metric_count(const zt_profiler *profiler);

/* Returns a metric by its index, or NULL if that is too high. Any thread. Since 0.1. */
ZT_API const zt_metric *zt_get_metric(const zt_profiler *profiler, uint32_t metric);

/* Returns the index of a metric by its name, or UINT32_MAX; then zt_get_last_error has the nearest names. Any
   thread. Since 0.1. */
ZT_API uint32_t zt_find_metric(const zt_profiler *profiler, const char *name);

/* Gets a region by its index. Regions are in the order of their first begin. Any thread. Since 0.1. */
ZT_API ze_result_t zt_get_region(const zt_profiler *profiler, uint32_t region, zt_region_info *info);

/* Returns the number of paths, that is, of regions that were begun inside different others, so far. Any
   thread. Since 0.1. */
ZT_API uint32_t zt_get_path_count(const zt_profiler *profiler);

/* Gets a path by its index, which is higher than that of its parent. Any thread. Since 0.1. */
ZT_API ze_result_t zt_get_path(const zt_profiler *profiler, uint32_t path, zt_path_info *info);

/* Gets the statistics of a metric over the collected samples of a region. Without memory, median and 95th
   percentile are NaN. Any thread. Since 0.1. */
ZT_API ze_result_t zt_get_stats(const zt_profiler *profiler, uint32_t region, uint32_t metric,
                                zt_stats *stats);

/* Returns the rate of a metric in a region: the sum divided by the GPU time that zt_get_pass has of the
   metric's pass, in units a second, or the mean of a metric that is averaged. NaN for others. Rates of
   different passes can be compared. Any thread. Since 0.1. */
ZT_API double zt_get_rate(const zt_profiler *profiler, uint32_t region, uint32_t metric);

/* Finds what probably limits a region, by rules on the metrics that are measured, streamed ones included, and
   on the timeline. The rules are one table, with the source of each threshold: search for zt__rules. A metric
   that was not measured decides nothing. Of a region with several kernels, the figures are those of all.
   A kernel in large register mode loads half as many threads as another. So its occupancy does not exceed
   50%, and does not show by itself that more threads would help.
   Returns SUCCESS, also if the limit is not known. Any thread. Since 0.1. */
ZT_API ze_result_t zt_get_limit(const zt_profiler *profiler, uint32_t region, zt_limit_info *info);

/* Returns "memory bandwidth", "latency", ...: never NULL. Any thread. Since 0.1. */
ZT_API const char *zt_limit_name(zt_limit limit);

/* Sets what the device can do at the most, for the roofline of a page and for zt_get_limit; see ROOFLINE.
   ZT_PEAKS in the environment overrides it.
   bytes_per_second       between the GPU and its memory. 0: not known
   operations_per_second  of those that zt_set_operations counts. 0: not known
   source                 where these are from, such as "measured: copy of 256 MB". The first 63 bytes are
                          copied. NULL: "given by the program"
   Returns SUCCESS; INVALID_ARGUMENT for a negative number, infinity or NaN. Any thread. Since 0.1. */
ZT_API ze_result_t zt_set_peaks(zt_profiler *profiler, double bytes_per_second, double operations_per_second,
                                const char *source);

/* Sets how many operations a sample of a region does, such as 2.0 * m * n * k for a product of matrices.
   JSON and pages then have the operations a second of the region. They are not packed or merged.
   region      its name. It may begin later
   operations  0: not known
   Returns SUCCESS; INVALID_ARGUMENT for a negative number, infinity or NaN; OUT_OF_HOST_MEMORY. Any thread.
   Since 0.1. */
ZT_API ze_result_t zt_set_operations(zt_profiler *profiler, const char *region, double operations);

/* Benchmarks work. Warms up; then takes samples of the GPU time, without metrics, until one of the conditions
   of zt_bench_end holds; then runs the work with metrics, in all passes, which the profiler collects.
   With config.measure the profiler may be NULL.
   Returns SUCCESS; NOT_READY if a run gave no sample in four attempts. One thread. Since 0.1. */
ZT_API ze_result_t zt_bench(zt_profiler *profiler, const zt_bench_config *config, zt_bench_result *result);

/* Compares two variants: takes their samples in turn and computes the ratio of the medians with its interval.
   The limits are those of `a`, where config.precision is that of the ratio. No run has metrics.
   Returns as zt_bench. One thread. Since 0.1. */
ZT_API ze_result_t zt_compare(zt_profiler *profiler, const zt_bench_config *a, const zt_bench_config *b,
                              zt_comparison *result);

/* Writes results as a table for people, 80 columns wide: one, or a row for each of many. With the profiler
   that was benchmarked, it has as many metrics as fit, those first that show most; what adds up is in units a
   second. "95% +-" is the precision, "with counters" the perturbation.
   count        the number of results
   write, user  receive the text, as in zt_write
   Returns SUCCESS; UNKNOWN if `write` stopped it; OUT_OF_HOST_MEMORY. Any thread. Since 0.1. */
ZT_API ze_result_t zt_write_benches(const zt_profiler *profiler, const zt_bench_result *results,
                                    uint32_t count, zt_write_fn write, void *user);
ZT_API ze_result_t zt_write_bench(const zt_profiler *profiler, const zt_bench_result *result,
                                  zt_write_fn write, void *user);
ZT_API ze_result_t zt_write_comparison(const zt_comparison *result, zt_write_fn write, void *user);

/* Writes results to a file, as zt_report does.
   count  the number of results
   path   with .txt, a number or no suffix, the table of zt_write_benches. "-" is standard output, and then
          the table is as wide as the terminal. With .csv, a line for each result: a file to keep, which
          zt_compare_benches reads; see BENCHMARKS
   Returns SUCCESS; INVALID_ARGUMENT for another suffix; UNKNOWN if the file cannot be written. Any thread.
   Since 0.1. */
ZT_API ze_result_t zt_report_benches(const zt_profiler *profiler, const zt_bench_result *results,
                                     uint32_t count, const char *path);

/* Compares results with those of the same name that an earlier run has written to a file. If several have one
   name, the first of them is compared with the first, the second with the second, and so on.
   count    the number of results
   before   the file, which zt_report_benches wrote with the suffix .csv
   report   where a table of the changes goes, as for zt_report_benches, but not .csv. NULL: nowhere
   changes  receives how many benchmarks changed
   Returns SUCCESS; UNKNOWN if the file cannot be read, or the table not be written; UNSUPPORTED_VERSION for a
   newer layout; INVALID_SIZE if the file is cut off; INVALID_ARGUMENT if it is no such file, or damaged.
   zt_get_last_error(profiler) has the message. Any thread. Since 0.1. */
ZT_API ze_result_t zt_compare_benches(const zt_profiler *profiler, const zt_bench_result *results,
                                      uint32_t count, const char *before, const char *report,
                                      zt_bench_changes *changes);

/* Returns "precise", "noise", ...: never NULL. Any thread. Since 0.1. */
ZT_API const char *zt_bench_end_name(zt_bench_end end);

/* Adds the statistics and counts of one profiler to those of another. Both must measure the same metrics in
   the same passes. Samples in flight, the timeline and streamed metrics are not added; own times that depend
   on samples in flight are not known then. Neither collects meanwhile.
   Returns SUCCESS; INVALID_ARGUMENT if they do not measure the same, or are the same profiler; NOT_READY if
   other threads collected for the config.wait_timeout_ns of `into`; HANDLE_OBJECT_IN_USE inside the sample
   function of `into`. On failure no figure has changed, but `into` may have new regions without samples. Any
   thread. Since 0.1. */
ZT_API ze_result_t zt_merge(zt_profiler *into, const zt_profiler *from);

/* Writes all statistics and counts into a buffer; see PACKED STATISTICS. Nothing is collected meanwhile, but
   other threads may lose or drop samples between the counts of two regions. What is collected between two
   calls may need more room in the second one.
   buffer  NULL: only `size` is set
   size    the size of the buffer in bytes; receives the size that is needed
   Returns SUCCESS; INVALID_SIZE if the buffer is too small; NOT_READY if another thread collected for
   config.wait_timeout_ns. Any thread. Since 0.1. */
ZT_API ze_result_t zt_pack(const zt_profiler *profiler, void *buffer, size_t *size);

/* Makes a profiler of packed statistics. It has no device and measures nothing, but can be read, reported,
   merged, packed and closed.
   size      of the buffer in bytes
   config    of this, `log`, `allocator`, `columns` (else `metrics`) and `pass_tolerance` are used. NULL: the
             defaults
   profiler  receives the profiler; NULL on failure
   Returns SUCCESS; UNSUPPORTED_VERSION for another layout; INVALID_SIZE if the buffer is cut off;
   INVALID_ARGUMENT if it is damaged or claims what is impossible; OUT_OF_HOST_MEMORY also when 256 profilers
   are open. zt_get_last_error(NULL) has the message. Any thread. Since 0.1. */
ZT_API ze_result_t zt_unpack(const void *buffer, size_t size, const zt_config *config,
                             zt_profiler **profiler);

/* Writes a report to a file. It is written beside the file and then renamed, so that nobody reads an
   incomplete one. A file that is replaced keeps its permissions, group and access list; what of these the
   system refuses leaves it readable by fewer. Symbolic links at `path` are followed, those at the name
   beside it are not. Pipes and devices are written to directly. That nobody reads a pipe any more, or that
   a file may not be as large, is an error, and raises neither SIGPIPE nor SIGXFSZ.
   path  the suffix chooses the format: .html or .htm, .csv, .json, .trace.json, .prom (OpenMetrics),
         .folded (stacks for flame graphs) or .instances.csv, in upper or lower case; with .txt, a number or
         no suffix, the report is a table. "-" and "/dev/stdout" are a table on standard output, as wide as
         the terminal; other tables, such as that of "/dev/stderr", are 80 columns wide. Columns that
         config.columns asks for and that do not fit follow in a table below. See REPORTS
   Returns SUCCESS; INVALID_ARGUMENT for another suffix, or for a trace or instances without config.timeline;
   UNKNOWN if the file cannot be written: zt_get_last_error has the reason. Any thread. Since 0.1. */
ZT_API ze_result_t zt_report(const zt_profiler *profiler, const char *path);

/* Passes the bytes of a report to a function.
   write  is called with the next bytes and `user`, until it returns nonzero
   Returns SUCCESS; INVALID_ENUMERATION; INVALID_ARGUMENT for a trace or instances without config.timeline;
   UNKNOWN if `write` stopped it. Any thread. Since 0.1. */
ZT_API ze_result_t zt_write(const zt_profiler *profiler, zt_format format, zt_write_fn write, void *user);

/* Returns whether metrics are measured, and if not, why. Any thread. Since 0.1. */
ZT_API zt_availability zt_get_availability(const zt_profiler *profiler);

/* Returns the same as text, with the call that failed and what to do: never NULL. It lives as long as
   the profiler. Any thread. Since 0.1. */
ZT_API const char *zt_get_availability_text(const zt_profiler *profiler);

/* Returns the last message of a profiler, or "". NULL: that of this thread's last failure without a profiler
   or stream, such as of zt_open. The text is this thread's own copy, and valid until the thread calls the
   library again. Any thread. Since 0.1. */
ZT_API const char *zt_get_last_error(const zt_profiler *profiler);

/* Returns the result that belongs to that message, or SUCCESS. Any thread. Since 0.1. */
ZT_API ze_result_t zt_get_last_result(const zt_profiler *profiler);

/* Returns "ZE_RESULT_NOT_READY" for ZE_RESULT_NOT_READY, and so on: never NULL. Any thread. Since 0.1. */
ZT_API const char *zt_result_name(ze_result_t result);

/* Finds a metric group of a device by its name.
   type   a zet_metric_group_sampling_type_flags_t: event-based for regions, time-based for streams
   group  receives the group; NULL on failure
   Returns SUCCESS; INVALID_ARGUMENT if there is none, and zt_get_last_error(NULL) has the nearest names;
   otherwise the result of the call that failed. Any thread. Since 0.1. */
ZT_API ze_result_t zt_find_group(ze_device_handle_t device, const char *name, uint32_t type, zt_group *group);

/* Lists the metric groups of a device as text for people.
   metrics      not 0: with their metrics
   write, user  receive the text, as in zt_write
   Returns SUCCESS; DEPENDENCY_UNAVAILABLE if the driver's metric library is missing; UNKNOWN if `write`
   stopped it; otherwise the result of the call that failed. Any thread. Since 0.1. */
ZT_API ze_result_t zt_write_groups(ze_device_handle_t device, int metrics, zt_write_fn write, void *user);

/* ---- streams --------------------------------------------------------------------------------------------- */

/* Returns a configuration with every field at its default. Any thread. Since 0.1. */
ZT_API zt_stream_config zt_stream_config_default(void);

/* Opens a stream on a device or sub-device of an initialised driver, which begins to sample.
   config  NULL: the defaults
   stream  receives the stream; NULL on failure
   Returns SUCCESS; NOT_AVAILABLE or HANDLE_OBJECT_IN_USE if the counters are in use, and the message names by
   whom; INVALID_ARGUMENT if there is no such group, if it samples instructions instead of periods, or if the
   profiler has no timeline; INVALID_SIZE if config.memory_limit is too low; UNSUPPORTED_FEATURE for a root
   device of several tiles, and for a reader with ZETOOLS_NO_THREADS; DEPENDENCY_UNAVAILABLE if the driver's
   metric library is missing; otherwise the result of the call that failed. zt_get_last_error(NULL) has the
   message. Any thread, but not two threads for one device at once. Since 0.1. */
ZT_API ze_result_t zt_stream_open(ze_context_handle_t context, ze_device_handle_t device,
                                  const zt_stream_config *config, zt_stream **stream);

/* Delivers all rows that there are, and waits for the first if there is none.
   timeout_ns  how long it waits at the most, in nanoseconds; 0: not at all
   function    is called with each row and `user`. NULL: rows go to the attached profiler alone, or are
               discarded
   Returns SUCCESS; NOT_READY if there was no row in time; NOT_AVAILABLE if the stream is being closed;
   DEVICE_LOST; HANDLE_OBJECT_IN_USE inside a function that is called with rows; otherwise the result of the
   driver call that failed. Any thread; one reads while others wait. Since 0.1. */
ZT_API ze_result_t zt_stream_read(zt_stream *stream, uint64_t timeout_ns, zt_row_fn function, void *user);

/* Appends a marker to a command list. The stream must still be open when the list is executed.
   name  is copied. NULL and "" are shown as "(unnamed)". Up to 4096 different names
   Returns SUCCESS; UNSUPPORTED_FEATURE if the group has no metric for markers, or no name can be added;
   otherwise the result of the driver call that failed. Any thread that may use the list. Since 0.1. */
ZT_API ze_result_t zt_stream_mark(zt_stream *stream, ze_command_list_handle_t list, const char *name);

/* Ends reads that wait, delivers what is left, and frees the stream. An attached profiler keeps its rows.
   function  as for zt_stream_read
   Returns the final counts. If a read does not end in 10 seconds, or if it is called from a function that is
   called with rows or from the stream's log function, the stream stays open, and a message reports this. One
   thread. Since 0.1. */
ZT_API zt_stream_counts zt_stream_close(zt_stream *stream, zt_row_fn function, void *user);

/* Returns what the stream was opened with. Any thread. Since 0.1. */
ZT_API zt_stream_info zt_stream_get_info(const zt_stream *stream);

/* Returns how many reports there are in each state. Any thread. Since 0.1. */
ZT_API zt_stream_counts zt_stream_get_counts(const zt_stream *stream);

/* Returns the number of metrics of a row. It does not change. Any thread. Since 0.1. */
ZT_API uint32_t zt_stream_get_metric_count(const zt_stream *stream);

/* Returns a metric by its index, or NULL if that is too high. Any thread. Since 0.1. */
ZT_API const zt_metric *zt_stream_get_metric(const zt_stream *stream, uint32_t metric);

/* Returns the index of a metric by its name, or UINT32_MAX; then zt_stream_get_last_error has the nearest
   names. Any thread. Since 0.1. */
ZT_API uint32_t zt_stream_find_metric(const zt_stream *stream, const char *name);

/* As zt_get_last_error. Any thread. Since 0.1. */
ZT_API const char *zt_stream_get_last_error(const zt_stream *stream);

/* As zt_get_last_result. Any thread. Since 0.1. */
ZT_API ze_result_t zt_stream_get_last_result(const zt_stream *stream);

/* Returns the number of metrics of all streams that are, or were, attached to it. Any thread. Since 0.1. */
ZT_API uint32_t zt_get_streamed_count(const zt_profiler *profiler);

/* Returns a streamed metric by its index, or NULL if that is too high. Any thread. Since 0.1. */
ZT_API const zt_metric *zt_get_streamed_metric(const zt_profiler *profiler, uint32_t metric);

/* Gets the mean and peak of a streamed metric in a region, over those collected samples that ended before the
   last row that was read. Any thread. Since 0.1. */
ZT_API ze_result_t zt_get_streamed(const zt_profiler *profiler, uint32_t region, uint32_t metric,
                                   zt_streamed *streamed);

/* Returns what the timeline holds. Any thread. Since 0.1. */
ZT_API zt_timeline_info zt_get_timeline(const zt_profiler *profiler);

/* Returns how the samples of the timeline cover the time of the device; see BYTES AND OVERLAP. Without
   memory, all times are NaN. Any thread. Since 0.1. */
ZT_API zt_overlap zt_get_overlap(const zt_profiler *profiler);

#ifdef ZETOOLS_TRACER

/* ==== interface: the tracer =============================================================================== */

/* Returns a configuration with every field at its default. Any thread. Since 0.1. */
ZT_API zt_trace_config zt_trace_config_default(void);

/* Starts tracing; see TRACING.
   config  NULL: the defaults. ZT_KERNELS, ZT_COPIES, ZT_CALLS, ZT_MODULES and ZT_PROFILE_FLAGS override it
   Returns SUCCESS; DEPENDENCY_UNAVAILABLE if the loader's tracing layer is off; INVALID_ARGUMENT if
   config.calls or a hook names a call that cannot be traced, or ZT_PROFILE_FLAGS is no number; INVALID_SIZE
   for more than 16 hooks; NOT_READY if a call of an earlier trace is still in progress; HANDLE_OBJECT_IN_USE
   if the profiler traces already, and inside a hook of any profiler. Any thread, but not two threads for one
   profiler at once. Since 0.1. */
ZT_API ze_result_t zt_trace_start(zt_profiler *profiler, const zt_trace_config *config);

/* Stops tracing and the sampling of hot spots. Waits for traced calls that other threads have in progress,
   and for launches that are measured by an event of the application, or have one that commands of the library
   follow: once it has signalled, the application may destroy event and list. It waits up to
   config.wait_timeout_ns for launches, and then as long for calls. Loaders before 1.16 cannot tell that a list
   from before zt_trace_start is immediate: there, it waits for launches on each such list that is not closed.
   What was measured stays. Lists that were recorded may still be executed, with zt_execute.
   Returns SUCCESS, after which no hook runs any more; NOT_READY if a call did not end in time, which is then
   traced to its end; HANDLE_OBJECT_IN_USE inside a hook. Any thread. Since 0.1. */
ZT_API ze_result_t zt_trace_stop(zt_profiler *profiler);

/* Replaces kernels by those of another module while the profiler traces, from their next zeKernelCreate on.
   See REPLACEMENTS. Call it before zt_trace_start, or while tracing.
   kernels  their names: patterns with * and ?, separated by commas, as in zt_trace_config.names. NULL: all.
            Is copied. A second call with the same text changes the replacement; where several texts select
            a kernel, the newest counts
   module   where the replacements are, of the profiler's context and device. It must live until the
            replacement has ended and its kernels are destroyed. NULL: ends the replacement that was begun
            with the same text, and all of them if `kernels` is NULL, too. Kernels that were replaced stay so
   name     of the kernel in that module. NULL: the same name; kernels that the module lacks stay
   Returns SUCCESS; INVALID_KERNEL_NAME if the module has no kernel `name`, and zt_get_last_error has the
   nearest names; OUT_OF_HOST_MEMORY; NOT_READY if another thread still creates a kernel of a module whose
   replacement has ended, after config.wait_timeout_ns: then keep that module. Any thread. Since 0.1. */
ZT_API ze_result_t zt_replace(zt_profiler *profiler, const char *kernels, ze_module_handle_t module,
                              const char *name);

/* Returns how many launches were appended since the first start. Any thread. Since 0.1. */
ZT_API zt_trace_counts zt_trace_get_counts(const zt_profiler *profiler);

/* Returns the number of different calls that were timed so far. Any thread. Since 0.1. */
ZT_API uint32_t zt_get_call_count(const zt_profiler *profiler);

/* Gets a call by its index. Calls are in the order in which they were first made. Median and 95th percentile
   are exact up to 512 times. Any thread. Since 0.1. */
ZT_API ze_result_t zt_get_call(const zt_profiler *profiler, uint32_t call, zt_call_info *info);

/* Returns the number of kernels that were launched while tracing, so far; see KERNELS. Any thread.
   Since 0.1. */
ZT_API uint32_t zt_get_kernel_count(const zt_profiler *profiler);

/* Gets a kernel by its index: what it is made of, how it was launched, and how much of the device that can
   fill. Kernels are in the order of their first launch. Any thread. Since 0.1. */
ZT_API ze_result_t zt_get_kernel(const zt_profiler *profiler, uint32_t kernel, zt_kernel_info *info);

/* Returns a configuration with every field at its default. Any thread. Since 0.1. */
ZT_API zt_auto_config zt_auto_config_default(void);

/* Traces from now to the end of the process, and reports at exit. Calls zeInit. Does nothing if it was
   called before, or if ZT_AUTO switches it off. A failure is also printed on standard error. If a report
   cannot be written, a message and the table go to standard error, and zt_get_last_error(NULL) has the
   message for functions that run at exit later. A report without a region is followed by what was seen and
   not measured: below a table on standard output or error, else on standard error.
   config  NULL: the defaults. ZT_KERNELS, ZT_COPIES, ZT_CALLS, ZT_MODULES and other variables override it
   Returns SUCCESS; INVALID_ARGUMENT if the suffix of a report stands for no format; otherwise the result of
   zeInit, or as zt_trace_start. One thread. Since 0.1. */
ZT_API ze_result_t zt_auto(const zt_auto_config *config);

/* ---- hot spots ------------------------------------------------------------------------------------------- */

/* Returns a configuration with every field at its default. Any thread. Since 0.1. */
ZT_API zt_hotspots_config zt_hotspots_config_default(void);

/* Starts to sample instructions; see HOT SPOTS. The profiler must trace. Samples are added to those of
   earlier starts.
   config  NULL: the defaults
   Returns SUCCESS; NOT_READY if the profiler does not trace; UNSUPPORTED_FEATURE if the device has no metric
   group that samples instructions, for a root device of several tiles, and if the driver does not report
   where kernels lie; the result of zt_debug_open if config.stops_a_second is needed and it cannot attach, and
   UNSUPPORTED_FEATURE without ZETOOLS_DEBUG or a thread for it; NOT_AVAILABLE or HANDLE_OBJECT_IN_USE if the
   group is in use, and the message names by whom; HANDLE_OBJECT_IN_USE if hot spots are sampled already;
   INVALID_SIZE if config.memory_limit is too low; DEPENDENCY_UNAVAILABLE if the driver's metric library is
   missing; otherwise the result of the call that failed. Any thread, but not two threads for one device at
   once. Since 0.1. */
ZT_API ze_result_t zt_hotspots_start(zt_profiler *profiler, const zt_hotspots_config *config);

/* Reads what is left, and stops. What was sampled stays. Does nothing if hot spots are not sampled.
   zt_trace_stop and zt_close do the same before all else.
   Returns SUCCESS; NOT_READY if another thread reads samples for longer than config.wait_timeout_ns, or the
   library's own thread does not end in 2 seconds; HANDLE_OBJECT_IN_USE inside the log function of a message
   about reading. Any thread. Since 0.1. */
ZT_API ze_result_t zt_hotspots_stop(zt_profiler *profiler);

/* Returns how many samples there are so far, and what became of them. Any thread. Since 0.1. */
ZT_API zt_hotspots_counts zt_hotspots_get_counts(const zt_profiler *profiler);

/* Finds the source lines of all hot spots that were sampled so far, as reports do. Runs addr2line,
   llvm-addr2line or llvm-symbolizer, whichever is in PATH, for up to 24 seconds for each module.
   Returns SUCCESS, also where no line is known; NOT_READY if another thread does it now. Any thread. Since
   0.1. */
ZT_API ze_result_t zt_hotspots_find_lines(zt_profiler *profiler);

/* Returns the number of hot spots, that is, of different instructions with samples, so far. Any thread. Since
   0.1. */
ZT_API uint32_t zt_get_hotspot_count(const zt_profiler *profiler);

/* Gets a hot spot by its index. They are in the order of their first sample. Any thread. Since 0.1. */
ZT_API ze_result_t zt_get_hotspot(const zt_profiler *profiler, uint32_t hotspot, zt_hotspot_info *info);

#endif /* ZETOOLS_TRACER */

#ifdef ZETOOLS_DEBUG

/* ==== interface: program debug ============================================================================ */

/* Returns a configuration with every field at its default. Any thread. Since 0.1. */
ZT_API zt_debug_config zt_debug_config_default(void);

/* Attaches to a device and to a process that uses it, or will; see PROGRAM DEBUG. The driver must be
   initialised.
   pid       the process ID. 0: that of this process
   config    NULL: the defaults
   debugger  receives the debugger; NULL on failure
   Returns SUCCESS, or why it cannot attach:
   UNSUPPORTED_FEATURE       the device cannot be debugged
   DEPENDENCY_UNAVAILABLE    program debug is not enabled, on this system or in one of the processes
   INSUFFICIENT_PERMISSIONS  this process may not debug the other, or itself
   NOT_AVAILABLE             another debugger is attached
   INVALID_ARGUMENT          there is no such process
   otherwise the result of the call that failed. zt_debug_get_last_error(NULL) has the message. Any thread.
   Since 0.1. */
ZT_API ze_result_t zt_debug_open(ze_device_handle_t device, uint32_t pid, const zt_debug_config *config,
                                 zt_debugger **debugger);

/* Acknowledges all events, resumes all threads, also those that stop meanwhile, detaches, and frees the
   debugger. Ends calls that wait.
   Returns SUCCESS, also for NULL and in a forked child, where it does nothing; HANDLE_OBJECT_IN_USE, and the
   debugger stays open, if a call of another thread does not end in 10 seconds, or inside one of its own
   callbacks; otherwise the result of the call that failed: the debugger is freed, and the driver detaches
   when this process ends. One thread. Since 0.1. */
ZT_API ze_result_t zt_debug_close(zt_debugger *debugger);

/* Delivers the events that there are, and waits for the first if there is none. When the function has
   returned, an event that needs it is acknowledged.
   timeout_ns  how long it waits at the most, in nanoseconds; 0: not at all
   function    is called with each event and `user`. NULL: events are only acknowledged
   Returns SUCCESS; NOT_READY if there was no event in time, or if other threads have used the debugger for
   longer than config.wait_timeout_ns when an event was to be acknowledged; NOT_AVAILABLE if the session is
   over, and ZT_DEBUG_DETACHED was delivered, or if the debugger is being closed; DEVICE_LOST;
   HANDLE_OBJECT_IN_USE inside of a callback of the debugger; otherwise the result of the call that failed.
   What could not be acknowledged is acknowledged by the next call, or by zt_debug_close. Any thread; one
   waits while others wait for it. Since 0.1. */
ZT_API ze_result_t zt_debug_wait(zt_debugger *debugger, uint64_t timeout_ns, zt_debug_fn function,
                                 void *user);

/* Acknowledges the event that is being delivered, before the function returns. Returns SUCCESS, also if that
   was done or is not needed; INVALID_ARGUMENT outside of the function; otherwise the result of the call that
   failed. The thread of the function. Since 0.1. */
ZT_API ze_result_t zt_debug_acknowledge(zt_debugger *debugger);

/* Stops threads of the device in the middle of what they do.
   threads     which ones
   timeout_ns  how long it waits for the device at the most, in nanoseconds
   stops       receives how many are stopped; may be NULL
   Returns SUCCESS when the device has answered, even if there was nothing to stop; NOT_READY if it has not:
   the next call that reads its answer, such as zt_debug_wait, then resumes the threads, except those that
   another stop has stopped; NOT_AVAILABLE if the session is over, or ends meanwhile; otherwise the result of
   the call that failed. zt_debug_wait also delivers the answer as an event. Any thread. Since 0.1. */
ZT_API ze_result_t zt_debug_stop(zt_debugger *debugger, zt_debug_thread threads, uint64_t timeout_ns,
                                 zt_debug_stops *stops);

/* Resumes threads of the device. Returns SUCCESS if none of them is stopped any more, even if none was;
   NOT_AVAILABLE if the session is over; otherwise the result of the call that failed. Any thread. Since 0.1.
 */
ZT_API ze_result_t zt_debug_resume(zt_debugger *debugger, zt_debug_thread threads);

/* Lists the stopped threads of the device.
   threads  receives them; may be NULL if there is no room
   count    the room, and then the number of all stopped threads, which may be more
   Returns SUCCESS; NOT_AVAILABLE if the session is over; otherwise the result of the call that failed. Any
   thread. Since 0.1. */
ZT_API ze_result_t zt_debug_threads(zt_debugger *debugger, zt_debug_thread *threads, uint32_t *count);

/* Reads memory of the process, as a stopped thread sees it. For ZT_DEBUG_MEMORY, `thread` may also be all
   threads, {ZT_DEBUG_ALL, ZT_DEBUG_ALL, ZT_DEBUG_ALL, ZT_DEBUG_ALL}, stopped or not.
   Returns SUCCESS; NOT_AVAILABLE if the thread is not stopped, if it has no such memory, or if the session is
   over; otherwise the result of the call that failed. Any thread. Since 0.1. */
ZT_API ze_result_t zt_debug_read(zt_debugger *debugger, zt_debug_thread thread, zt_debug_space space,
                                 uint64_t address, void *bytes, size_t size);

/* Writes memory likewise. Any thread. Since 0.1. */
ZT_API ze_result_t zt_debug_write(zt_debugger *debugger, zt_debug_thread thread, zt_debug_space space,
                                  uint64_t address, const void *bytes, size_t size);

/* Returns the number of register sets of the device. It does not change. Any thread. Since 0.1. */
ZT_API uint32_t zt_debug_get_register_set_count(const zt_debugger *debugger);

/* Returns a register set by its index, or NULL if that is too high. It lives as long as the debugger. Any
   thread. Since 0.1. */
ZT_API const zt_debug_register_set *zt_debug_get_register_set(const zt_debugger *debugger, uint32_t index);

/* Finds a register by its name, as Intel's assembler and debugger have it: "r12", "a0", "f1", "ce", "sr0",
   "cr0", "tdr0", "acc3", "mme0", "sp", "dbg0", "fc0"; of SBA "genstbase", "sustbase", "dynbase", "iobase",
   "isabase", "blsustbase", "blsastbase", "btbase", "scrbase". Returns SUCCESS, or INVALID_ARGUMENT if the
   device has none. Any thread. Since 0.1. */
ZT_API ze_result_t zt_debug_find_register(zt_debugger *debugger, const char *name, zt_debug_register *found);

/* Reads registers of a stopped thread.
   set           the name of the set
   first, count  which of its registers
   values, size  receives them, each in as many bytes as the set states
   Returns SUCCESS; INVALID_ARGUMENT if there is no such set, if it has not as many registers, or if it cannot
   be read; INVALID_SIZE if `size` is less than these registers take; NOT_AVAILABLE if the thread is not
   stopped, or the session is over; otherwise the result of the call that failed. Any thread. Since 0.1. */
ZT_API ze_result_t zt_debug_read_registers(zt_debugger *debugger, zt_debug_thread thread, const char *set,
                                           uint32_t first, uint32_t count, void *values, size_t size);

/* Writes registers likewise. Any thread. Since 0.1. */
ZT_API ze_result_t zt_debug_write_registers(zt_debugger *debugger, zt_debug_thread thread, const char *set,
                                            uint32_t first, uint32_t count, const void *values, size_t size);

/* Gets the address of the instruction at which a thread is stopped. Returns SUCCESS; UNSUPPORTED_FEATURE if
   the device lacks a register for that; otherwise as zt_debug_read_registers. Any thread. Since 0.1. */
ZT_API ze_result_t zt_debug_get_address(zt_debugger *debugger, zt_debug_thread thread, uint64_t *address);

/* Finds the kernel and the source line of an instruction, by the modules that the process has loaded. The
   source line takes a program, as for hot spots, and a few milliseconds at the first time; see PROGRAM DEBUG.
   Returns SUCCESS if the kernel is known; NOT_AVAILABLE if it is not; OUT_OF_HOST_MEMORY. Also when the
   session is over. Any thread. Since 0.1. */
ZT_API ze_result_t zt_debug_where(zt_debugger *debugger, uint64_t address, zt_debug_place *place);

/* Returns "module load" for ZT_DEBUG_MODULE_LOAD, and so on: never NULL. Any thread. Since 0.1. */
ZT_API const char *zt_debug_event_name(zt_debug_event_type type);

/* As zt_get_last_error. Any thread. Since 0.1. */
ZT_API const char *zt_debug_get_last_error(const zt_debugger *debugger);

/* As zt_get_last_result. Any thread. Since 0.1. */
ZT_API ze_result_t zt_debug_get_last_result(const zt_debugger *debugger);

/* ---- watching -------------------------------------------------------------------------------------------- */

/* Returns a configuration with every field at its default. Any thread. Since 0.1. */
ZT_API zt_watch_config zt_watch_config_default(void);

/* Watches the regions of a profiler, and its device; see WATCHING. Where debugging is not possible, hangs are
   reported without places: zt_watch_get_info returns why. A second call replaces the configuration.
   config  NULL: the defaults
   Returns SUCCESS; INVALID_NULL_HANDLE for a profiler from zt_unpack; OUT_OF_HOST_MEMORY; UNSUPPORTED_FEATURE
   if no thread can be started; NOT_READY if the thread of an earlier watch does not end; HANDLE_OBJECT_IN_USE
   inside of a sample, hang or log function. One thread. Since 0.1. */
ZT_API ze_result_t zt_watch(zt_profiler *profiler, const zt_watch_config *config);

/* Ends the watch, and resumes threads that were left stopped. zt_close does the same before all else.
   Returns SUCCESS, also if nothing is watched; NOT_READY if its thread does not end; HANDLE_OBJECT_IN_USE
   inside of a log function. One thread. Since 0.1. */
ZT_API ze_result_t zt_watch_stop(zt_profiler *profiler);

/* Returns what the watch does, and what it has found. Any thread. Since 0.1. */
ZT_API zt_watch_info zt_watch_get_info(const zt_profiler *profiler);

#endif /* ZETOOLS_DEBUG */

#else /* ZETOOLS_DISABLE */

/* ==== interface, disabled ================================================================================= */

/* Each function returns what stands for nothing, with figures of 0, and fills in empty structures. */

#ifdef ZT__HAVE_LEVEL_ZERO
#define ZT__RESULT ze_result_t
#else
#define ZT__RESULT int
#endif
#define ZT__SUCCESS ((ZT__RESULT)0)
#define ZT__OFF static inline ZT__UNUSED

/* The parameters have the names of those of the functions that they replace, and are not used. */
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif

ZT__OFF ZT__RESULT zt__clear(void *memory, size_t size) {
    unsigned char *byte = (unsigned char *)memory;
    while (size-- > 0) {
        *byte++ = 0;
    }
    return ZT__SUCCESS;
}

#define ZT__CLEAR(out) zt__clear(out, (out) ? sizeof *(out) : 0)
#define ZT__EMPTY(type)                                                                                      \
    {                                                                                                        \
        type empty;                                                                                          \
        zt__clear(&empty, sizeof empty);                                                                     \
        return empty;                                                                                        \
    }

/* clang-format off */
ZT__OFF const char *zt_version(void) { return ZETOOLS_VERSION; }
ZT__OFF zt_config zt_config_default(void) ZT__EMPTY(zt_config)
ZT__OFF ZT__RESULT zt_open(const void *context, const void *device, const zt_config *config,
    zt_profiler **profiler) { return ZT__CLEAR(profiler); }
ZT__OFF void zt_close(zt_profiler *profiler) {}
ZT__OFF zt_region zt_begin(zt_profiler *profiler, const void *list, const char *name) ZT__EMPTY(zt_region)
ZT__OFF void zt_end(zt_region *region) {}
ZT__OFF ZT__RESULT zt_collect(zt_profiler *profiler, uint64_t timeout_ns) { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_release(zt_profiler *profiler, const void *list) { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_name_list(zt_profiler *profiler, const void *list, const char *name)
    { return ZT__SUCCESS; }
ZT__OFF uint32_t zt_get_pass_count(const zt_profiler *profiler) { return 1; }
ZT__OFF ZT__RESULT zt_get_pass(const zt_profiler *profiler, uint32_t region, uint32_t pass, zt_stats *time_ns)
    { return ZT__CLEAR(time_ns); }
ZT__OFF zt_passes zt_passes_begin(zt_profiler *profiler) ZT__EMPTY(zt_passes)
ZT__OFF int zt_passes_next(zt_passes *passes) { return passes->runs++ == 0; }
ZT__OFF void zt_passes_end(zt_passes *passes) {}
ZT__OFF uint32_t zt_get_tile_count(const zt_profiler *profiler) { return 0; }
ZT__OFF ZT__RESULT zt_get_tile_stats(const zt_profiler *profiler, uint32_t region, uint32_t tile,
    uint32_t metric, zt_stats *stats) { return ZT__CLEAR(stats); }
ZT__OFF ZT__RESULT zt_get_latency(const zt_profiler *profiler, uint32_t region, zt_latency latency,
    zt_stats *stats) { return ZT__CLEAR(stats); }
ZT__OFF zt_counts zt_get_counts(const zt_profiler *profiler) ZT__EMPTY(zt_counts)
ZT__OFF uint64_t zt_get_cause(const zt_profiler *profiler, zt_cause cause) { return 0; }
ZT__OFF const char *zt_cause_name(zt_cause cause) { return ""; }
ZT__OFF uint32_t zt_get_region_count(const zt_profiler *profiler) { return 0; }
ZT__OFF uint32_t zt_get_metric_count(const zt_profiler *profiler) { return 0; }
ZT__OFF const zt_metric *zt_get_metric(const zt_profiler *profiler, uint32_t metric) { return NULL; }
ZT__OFF uint32_t zt_find_metric(const zt_profiler *profiler, const char *name) { return UINT32_MAX; }
ZT__OFF ZT__RESULT zt_get_region(const zt_profiler *profiler, uint32_t region, zt_region_info *info)
    { ZT__CLEAR(info); if (info) { info->name = ""; info->parent = UINT32_MAX; } return ZT__SUCCESS; }
ZT__OFF uint32_t zt_get_path_count(const zt_profiler *profiler) { return 0; }
ZT__OFF ZT__RESULT zt_get_path(const zt_profiler *profiler, uint32_t path, zt_path_info *info)
    { ZT__CLEAR(info); if (info) { info->parent = UINT32_MAX; } return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_get_stats(const zt_profiler *profiler, uint32_t region, uint32_t metric,
    zt_stats *stats) { return ZT__CLEAR(stats); }
ZT__OFF double zt_get_rate(const zt_profiler *profiler, uint32_t region, uint32_t metric) { return 0; }
ZT__OFF ZT__RESULT zt_get_limit(const zt_profiler *profiler, uint32_t region, zt_limit_info *info)
    { return ZT__CLEAR(info); }
ZT__OFF const char *zt_limit_name(zt_limit limit) { return ""; }
ZT__OFF ZT__RESULT zt_set_peaks(zt_profiler *profiler, double bytes_per_second, double operations_per_second,
    const char *source) { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_set_operations(zt_profiler *profiler, const char *region, double operations)
    { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_bench(zt_profiler *profiler, const zt_bench_config *config, zt_bench_result *result)
    { ZT__CLEAR(result); if (result) { result->region = UINT32_MAX; } return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_compare(zt_profiler *profiler, const zt_bench_config *a, const zt_bench_config *b,
    zt_comparison *result) { return ZT__CLEAR(result); }
ZT__OFF ZT__RESULT zt_write_benches(const zt_profiler *profiler, const zt_bench_result *results,
    uint32_t count, zt_write_fn write, void *user) { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_write_bench(const zt_profiler *profiler, const zt_bench_result *result,
    zt_write_fn write, void *user) { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_write_comparison(const zt_comparison *result, zt_write_fn write, void *user)
    { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_report_benches(const zt_profiler *profiler, const zt_bench_result *results,
    uint32_t count, const char *path) { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_compare_benches(const zt_profiler *profiler, const zt_bench_result *results,
    uint32_t count, const char *before, const char *report, zt_bench_changes *changes)
    { return ZT__CLEAR(changes); }
ZT__OFF const char *zt_bench_end_name(zt_bench_end end) { return ""; }
ZT__OFF ZT__RESULT zt_merge(zt_profiler *into, const zt_profiler *from) { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_pack(const zt_profiler *profiler, void *buffer, size_t *size)
    { return ZT__CLEAR(size); }
ZT__OFF ZT__RESULT zt_unpack(const void *buffer, size_t size, const zt_config *config, zt_profiler **profiler)
    { return ZT__CLEAR(profiler); }
ZT__OFF ZT__RESULT zt_report(const zt_profiler *profiler, const char *path) { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_write(const zt_profiler *profiler, zt_format format, zt_write_fn write, void *user)
    { return ZT__SUCCESS; }
ZT__OFF zt_availability zt_get_availability(const zt_profiler *profiler) { return ZT_AVAILABILITY_UNKNOWN; }
ZT__OFF const char *zt_get_availability_text(const zt_profiler *profiler) { return ""; }
ZT__OFF const char *zt_get_last_error(const zt_profiler *profiler) { return ""; }
ZT__OFF ZT__RESULT zt_get_last_result(const zt_profiler *profiler) { return ZT__SUCCESS; }
ZT__OFF const char *zt_result_name(int result) { return ""; }
ZT__OFF ZT__RESULT zt_find_group(const void *device, const char *name, uint32_t type, zt_group *group)
    { return ZT__CLEAR(group); }
ZT__OFF ZT__RESULT zt_write_groups(const void *device, int metrics, zt_write_fn write, void *user)
    { return ZT__SUCCESS; }
ZT__OFF zt_stream_config zt_stream_config_default(void) ZT__EMPTY(zt_stream_config)
ZT__OFF ZT__RESULT zt_stream_open(const void *context, const void *device, const zt_stream_config *config,
    zt_stream **stream) { return ZT__CLEAR(stream); }
ZT__OFF ZT__RESULT zt_stream_read(zt_stream *stream, uint64_t timeout_ns, zt_row_fn function, void *user)
    { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_stream_mark(zt_stream *stream, const void *list, const char *name)
    { return ZT__SUCCESS; }
ZT__OFF zt_stream_counts zt_stream_close(zt_stream *stream, zt_row_fn function, void *user)
    ZT__EMPTY(zt_stream_counts)
ZT__OFF zt_stream_info zt_stream_get_info(const zt_stream *stream)
    { zt_stream_info empty; zt__clear(&empty, sizeof empty); empty.group = ""; return empty; }
ZT__OFF zt_stream_counts zt_stream_get_counts(const zt_stream *stream) ZT__EMPTY(zt_stream_counts)
ZT__OFF uint32_t zt_stream_get_metric_count(const zt_stream *stream) { return 0; }
ZT__OFF const zt_metric *zt_stream_get_metric(const zt_stream *stream, uint32_t metric) { return NULL; }
ZT__OFF uint32_t zt_stream_find_metric(const zt_stream *stream, const char *name) { return UINT32_MAX; }
ZT__OFF const char *zt_stream_get_last_error(const zt_stream *stream) { return ""; }
ZT__OFF ZT__RESULT zt_stream_get_last_result(const zt_stream *stream) { return ZT__SUCCESS; }
ZT__OFF uint32_t zt_get_streamed_count(const zt_profiler *profiler) { return 0; }
ZT__OFF const zt_metric *zt_get_streamed_metric(const zt_profiler *profiler, uint32_t metric) { return NULL; }
ZT__OFF ZT__RESULT zt_get_streamed(const zt_profiler *profiler, uint32_t region, uint32_t metric,
    zt_streamed *streamed) { return ZT__CLEAR(streamed); }
ZT__OFF zt_timeline_info zt_get_timeline(const zt_profiler *profiler) ZT__EMPTY(zt_timeline_info)
ZT__OFF zt_overlap zt_get_overlap(const zt_profiler *profiler) ZT__EMPTY(zt_overlap)
#ifdef ZETOOLS_TRACER
ZT__OFF zt_trace_config zt_trace_config_default(void) ZT__EMPTY(zt_trace_config)
ZT__OFF ZT__RESULT zt_trace_start(zt_profiler *profiler, const zt_trace_config *config)
    { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_trace_stop(zt_profiler *profiler) { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_replace(zt_profiler *profiler, const char *kernels, const void *module, const char *name)
    { return ZT__SUCCESS; }
ZT__OFF zt_trace_counts zt_trace_get_counts(const zt_profiler *profiler) ZT__EMPTY(zt_trace_counts)
ZT__OFF uint32_t zt_get_call_count(const zt_profiler *profiler) { return 0; }
ZT__OFF ZT__RESULT zt_get_call(const zt_profiler *profiler, uint32_t call, zt_call_info *info)
    { ZT__CLEAR(info); if (info) { info->name = ""; } return ZT__SUCCESS; }
ZT__OFF zt_hotspots_config zt_hotspots_config_default(void) ZT__EMPTY(zt_hotspots_config)
ZT__OFF ZT__RESULT zt_hotspots_start(zt_profiler *profiler, const zt_hotspots_config *config)
    { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_hotspots_stop(zt_profiler *profiler) { return ZT__SUCCESS; }
ZT__OFF zt_hotspots_counts zt_hotspots_get_counts(const zt_profiler *profiler) ZT__EMPTY(zt_hotspots_counts)
ZT__OFF ZT__RESULT zt_hotspots_find_lines(zt_profiler *profiler) { return ZT__SUCCESS; }
ZT__OFF uint32_t zt_get_hotspot_count(const zt_profiler *profiler) { return 0; }
ZT__OFF ZT__RESULT zt_get_hotspot(const zt_profiler *profiler, uint32_t hotspot, zt_hotspot_info *info)
    { ZT__CLEAR(info); if (info) { info->kernel = info->file = ""; } return ZT__SUCCESS; }
ZT__OFF uint32_t zt_get_kernel_count(const zt_profiler *profiler) { return 0; }
ZT__OFF ZT__RESULT zt_get_kernel(const zt_profiler *profiler, uint32_t kernel, zt_kernel_info *info)
    { ZT__CLEAR(info); if (info) { info->name = ""; info->region = UINT32_MAX; } return ZT__SUCCESS; }
ZT__OFF zt_auto_config zt_auto_config_default(void) ZT__EMPTY(zt_auto_config)
ZT__OFF ZT__RESULT zt_auto(const zt_auto_config *config) { return ZT__SUCCESS; }
#endif
#ifdef ZETOOLS_DEBUG
ZT__OFF zt_debug_config zt_debug_config_default(void) ZT__EMPTY(zt_debug_config)
ZT__OFF ZT__RESULT zt_debug_open(const void *device, uint32_t pid, const zt_debug_config *config,
    zt_debugger **debugger) { return ZT__CLEAR(debugger); }
ZT__OFF ZT__RESULT zt_debug_close(zt_debugger *debugger) { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_debug_wait(zt_debugger *debugger, uint64_t timeout_ns, zt_debug_fn function, void *user)
    { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_debug_acknowledge(zt_debugger *debugger) { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_debug_stop(zt_debugger *debugger, zt_debug_thread threads, uint64_t timeout_ns,
    zt_debug_stops *stops) { return ZT__CLEAR(stops); }
ZT__OFF ZT__RESULT zt_debug_resume(zt_debugger *debugger, zt_debug_thread threads) { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_debug_threads(zt_debugger *debugger, zt_debug_thread *threads, uint32_t *count)
    { return ZT__CLEAR(count); }
ZT__OFF ZT__RESULT zt_debug_read(zt_debugger *debugger, zt_debug_thread thread, zt_debug_space space,
    uint64_t address, void *bytes, size_t size) { return zt__clear(bytes, bytes ? size : 0); }
ZT__OFF ZT__RESULT zt_debug_write(zt_debugger *debugger, zt_debug_thread thread, zt_debug_space space,
    uint64_t address, const void *bytes, size_t size) { return ZT__SUCCESS; }
ZT__OFF uint32_t zt_debug_get_register_set_count(const zt_debugger *debugger) { return 0; }
ZT__OFF const zt_debug_register_set *zt_debug_get_register_set(const zt_debugger *debugger, uint32_t index)
    { return NULL; }
ZT__OFF ZT__RESULT zt_debug_find_register(zt_debugger *debugger, const char *name, zt_debug_register *found)
    { ZT__CLEAR(found); if (found) { found->set = ""; } return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_debug_read_registers(zt_debugger *debugger, zt_debug_thread thread, const char *set,
    uint32_t first, uint32_t count, void *values, size_t size) { return zt__clear(values, values ? size : 0); }
ZT__OFF ZT__RESULT zt_debug_write_registers(zt_debugger *debugger, zt_debug_thread thread, const char *set,
    uint32_t first, uint32_t count, const void *values, size_t size) { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_debug_get_address(zt_debugger *debugger, zt_debug_thread thread, uint64_t *address)
    { return ZT__CLEAR(address); }
ZT__OFF ZT__RESULT zt_debug_where(zt_debugger *debugger, uint64_t address, zt_debug_place *place)
    { ZT__CLEAR(place); if (place) { place->kernel = place->file = ""; } return ZT__SUCCESS; }
ZT__OFF const char *zt_debug_event_name(zt_debug_event_type type) { return ""; }
ZT__OFF const char *zt_debug_get_last_error(const zt_debugger *debugger) { return ""; }
ZT__OFF ZT__RESULT zt_debug_get_last_result(const zt_debugger *debugger) { return ZT__SUCCESS; }
ZT__OFF zt_watch_config zt_watch_config_default(void) ZT__EMPTY(zt_watch_config)
ZT__OFF ZT__RESULT zt_watch(zt_profiler *profiler, const zt_watch_config *config) { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_watch_stop(zt_profiler *profiler) { return ZT__SUCCESS; }
ZT__OFF zt_watch_info zt_watch_get_info(const zt_profiler *profiler) ZT__EMPTY(zt_watch_info)
#endif
/* clang-format on */

#define zt_execute(profiler, queue, count, lists, fence)                                                     \
    ((void)sizeof(profiler), zeCommandQueueExecuteCommandLists(queue, count, lists, fence))
#define zt_reset(profiler, list) ((void)sizeof(profiler), zeCommandListReset(list))

#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#endif /* ZETOOLS_DISABLE */

/* ==== regions that end by themselves ===================================================================== */

/* ZT_REGION(profiler, list, name) statement
       makes a region of the statement. In C++ and GNU C it ends however the statement is left: at its end, by
       break, goto, return or an exception. In ISO C, return and goto leave it open. `break` and `continue`
       leave the statement alone, and not a loop around it. Since 0.1.
   ZT_SCOPE(profiler, list, name);
       makes a region of the rest of the block, in C++ and GNU C. Since 0.1.
   ZT_PASSES(profiler) statement
       runs the statement once in each pass; once where nothing has to be repeated. `break` leaves it and
       returns to the first pass; in ISO C only its end does. Not to be nested. One thread. Since 0.1. */

#define ZT__JOIN2(a, b) a##b
#define ZT__JOIN(a, b) ZT__JOIN2(a, b)
#ifdef __COUNTER__ /* for several regions on one line */
#define ZT__NAME(prefix) ZT__JOIN(prefix, __COUNTER__)
#else
#define ZT__NAME(prefix) ZT__JOIN(prefix, __LINE__)
#endif

#ifndef ZETOOLS_DISABLE
/* Without a profiler, a region costs one comparison. */
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

/* Makes the statement of a ZT_REGION run once, measured or not. */
static inline ZT__UNUSED int zt__begin_body(zt_region *region) {
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
    for (zt_scope scope(profiler, list, name); zt__begin_body(&scope.region);)
#define ZT_REGION(profiler, list, name) ZT__REGION(ZT__NAME(zt__region), profiler, list, name)
#define ZT_SCOPE(profiler, list, name) zt_scope ZT__NAME(zt__scope)(profiler, list, name)
#define ZT__PASSES(passes, profiler) for (zt__all_passes passes(profiler); zt_passes_next(&passes.state);)
#define ZT_PASSES(profiler) ZT__PASSES(ZT__NAME(zt__passes), profiler)
#elif defined(__GNUC__)
#define ZT__GUARD __attribute__((cleanup(zt__close_region)))
#define ZT__REGION(region, profiler, list, name)                                                             \
    for (zt_region region ZT__GUARD = zt__open_region(profiler, list, name); zt__begin_body(&region);)
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
/* `break` leaves the inner loop. */
#define ZT__REGION(region, profiler, list, name)                                                             \
    for (zt_region region = zt__open_region(profiler, list, name); region.body == 0;                         \
         zt__close_region(&region))                                                                          \
        for (; zt__begin_body(&region);)
#define ZT_REGION(profiler, list, name) ZT__REGION(ZT__NAME(zt__region), profiler, list, name)
#endif

#ifdef __cplusplus
} /* extern "C" */

#ifndef ZETOOLS_DISABLE
/* A region that lasts as long as the object. It cannot be copied or moved. Since 0.1. */
struct zt_scope {
    zt_region region;
    zt_scope(zt_profiler *profiler, ze_command_list_handle_t list, const char *name)
        : region(zt__open_region(profiler, list, name)) {}
    ~zt_scope() { zt__close_region(&region); }
    zt_scope(const zt_scope &) = delete;
    zt_scope &operator=(const zt_scope &) = delete;
};

/* ZT_PASSES in C++. */
struct zt__all_passes {
    zt_passes state;
    explicit zt__all_passes(zt_profiler *profiler) : state(zt_passes_begin(profiler)) {}
    ~zt__all_passes() { zt_passes_end(&state); }
    zt__all_passes(const zt__all_passes &) = delete;
    zt__all_passes &operator=(const zt__all_passes &) = delete;
};
#else
/* Has a name of its own, because a program may link files with and without ZETOOLS_DISABLE. */
struct zt__disabled_scope {
    zt__disabled_scope(const zt_profiler *, const void *, const char *) {}
    ~zt__disabled_scope() {}
    zt__disabled_scope(const zt__disabled_scope &) = delete;
    zt__disabled_scope &operator=(const zt__disabled_scope &) = delete;
};
typedef zt__disabled_scope zt_scope;
#endif
#endif
