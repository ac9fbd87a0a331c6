/* ---- regions and their times --------------------------------------------------------------------------- */

/* Statistics of one figure over the samples of a region. What does not apply is NaN. */
struct zt_stats {
    uint64_t count; /* samples that have the figure */
    double sum, mean, stddev, min, max, median, p95;
    double rate; /* of a metric that adds up: its sum divided by the GPU time of the samples that have it, in
                    units a second. Of a metric that is averaged: its mean. Of others and of times: NaN.
                    Rates of different passes can be compared */
};

/* A path by its index, in place of the index of a region, for zt_get_region, zt_get_stats and the like. A
   path is a region or a phase inside certain others, such as "step;solve"; see NESTING and PHASES. */
#define ZT_PATH(index) ((uint32_t)(index) | 0x80000000u)

/* How many reasons for throttling there are: the bits of zes_freq_throttle_reason_flags_t, from the lowest. */
enum { ZT_THROTTLE_REASONS = 8 };

/* A region or a phase, or a path of it. The samples of a phase are those of the outermost regions that were submitted in
   it; see PHASES AND ENTRIES. */
struct zt_region_info {
    const char *name; /* of a path, that of its last region */
    uint32_t region;  /* the index of the region with that name */
    uint32_t
        parent; /* the region or phase that it is directly inside; of a path, ZT_PATH of what is before its
                         last name. UINT32_MAX: none, or not the same each time */
    uint64_t count;   /* samples that were collected, of all passes, with metrics or with times alone */
    uint64_t lost;    /* samples that ran, but whose data is missing or invalid */
    uint64_t dropped; /* samples that were not measured */
    zt_stats time_ns; /* GPU time in nanoseconds, of all samples in `count`; of a phase, of its entries */
    uint32_t differs; /* differences between the passes, as ZT_DIFFERS_ bits; 0: none */
    double own_ns;    /* GPU time of all samples, less that of the regions inside it. NaN: not known */
    double total_ns;  /* GPU time of all samples. Where the region is inside itself, only the outer sample
                         counts. NaN: not known */
    uint64_t bytes;   /* that traced copies and fills of this name have moved, as far as known */
    double bytes_per_second; /* `bytes`, divided by the GPU time of these copies and fills. NaN: not known */
    uint64_t with_metrics;   /* samples in `count` that have metrics; see COUNTS */
    int is_phase;
    uint32_t
        device; /* of a path in packed statistics of several devices: on which of these it was measured, from
                            1; see SEVERAL DEVICES. 0: not known, or on the only one */
    uint64_t entered;    /* how often a phase was ended while the profiler was open */
    uint64_t incomplete; /* entries with samples that are lost, dropped or without a GPU time */
    double host_ns;      /* host time of a phase, on the threads that have begun it. NaN: it was not
                            ended yet, or is a region */
    double host_own_ns;  /* the same outside of the phases inside */
    double host_wait_ns; /* of host_ns, waiting for the device. NaN: not known, because no tracer was on all
                            the time, or of a region; see PHASES AND ENTRIES */
    double busy_ns;      /* time in which at least one of the samples of a phase ran, but for waits. NaN: not
                            known, because not all samples of the phase are on the timeline, or of a region */

    /* of a phase, where zt_trace_config.memory was set; see MEMORY. Otherwise 0 and NaN */
    uint64_t allocations, unfreed; /* that were made in it and in the phases inside; of these, not freed */
    double unfreed_bytes;
    double peak_bytes; /* of device and shared memory that were in use at once while it was open */
    double end_bytes;  /* the same when it last ended */

    /* of the whole device while a phase was entered, with config.power; see POWER. NaN: not known */
    double joules;    /* energy; also NaN if entries end sooner than the device's energy counter changes */
    double watts;     /* mean power, as the next two of the entries that are long enough */
    double throttled; /* share of the time in which the clock was throttled, from 0 to 1 */
    double throttled_by[ZT_THROTTLE_REASONS]; /* the same for each reason. Several may hold at once */
    double mhz;                               /* mean clock while that was not 0 */

    /* since the run of config.baseline, of a path, or of a region with one path; see TWO RUNS. NaN: not known */
    int is_new;                             /* that run does not have the path */
    double change, change_low, change_high; /* of the mean GPU time, in percent, and the interval of it */
};

#ifndef ZETOOLS_DISABLE

/* Gets a region by its index, or the samples on one path by ZT_PATH of its index. Regions are in the order of
   their first begin; a path has a higher index than its parent. */
ZT_API ze_result_t zt_get_region(const zt_profiler *profiler, uint32_t region, zt_region_info *info);

/* Finds a region by its name, whose statistics are those of all its paths together; a phase, if no region has that
   name; or a path, such as "step;solve", or ";solve" inside no other: that of a phase, if a region has it, too. A ';' in a
   name is given as it is, and not as ':' as in reports. Returns the index of the region or ZT_PATH of that of the path,
   for all functions that take a region; UINT32_MAX if there is none. */
ZT_API uint32_t zt_find_path(const zt_profiler *profiler, const char *name);

#endif

/* ---- metrics ------------------------------------------------------------------------------------------- */

/* How the values of a metric are combined over samples. */
typedef enum zt_aggregation {
    ZT_AGGREGATE_SUM,  /* sum, and mean over the samples */
    ZT_AGGREGATE_MEAN, /* mean, weighted by GPU time; no sum */
    ZT_AGGREGATE_FLAG, /* sum: in how many samples it was set */
    ZT_AGGREGATE_NONE  /* count, minimum and maximum alone */
} zt_aggregation;

/* A metric. */
struct zt_metric {
    const char *name;
    const char *group;
    const char *component;
    const char *units; /* "" where it has none */
    const char *description;
    int type; /* a zet_metric_type_t */
    zt_aggregation aggregation;
    uint32_t pass; /* in which it is measured, from 0 */
};

/* zt_get_metric and zt_get_stats take the index of a metric, or one of these in its place. Times are in
   nanoseconds. */

/* The GPU time of all samples. */
#define ZT_GPU_TIME 0x80000000u

/* How long a region or a launch waits before it runs; see LATENCY.
   queue   from its append to the execution of its recorded list
   launch  from its submission by the host to its start on the device. Figures that are not larger than its
           error are NaN */
#define ZT_QUEUE_LATENCY 0x80000001u
#define ZT_LAUNCH_LATENCY 0x80000002u

/* The GPU time of the samples with the metrics of a pass, counted from 0, or of all samples if no metrics are
   measured. */
#define ZT_PASS_TIME(pass) ((uint32_t)(pass) | 0x90000000u)

/* A metric of attached streams (zt_stream_config.profiler), by its index. Its statistics are of rows, as far
   as they belong to samples; see STREAMED ROWS. The mean of a metric that is averaged is weighted by the
   length of the rows. */
#define ZT_STREAMED(index) ((uint32_t)(index) | 0xA0000000u)

/* A metric of one tile, counted from 0. */
#define ZT_TILE(tile, metric) zt__metric_of_tile(tile, metric)

/* Only ZT_TILE calls this. A tile that is too high for its bits becomes one that no device has, such a metric
   becomes UINT32_MAX. */
static inline ZT__UNUSED uint32_t zt__metric_of_tile(uint32_t tile, uint32_t metric) {
    return metric <= 0xFFFFFFu ? metric | (tile < 63 ? tile : 63) << 24 | 0x40000000u : UINT32_MAX;
}

#ifndef ZETOOLS_DISABLE

/* Returns a metric, or NULL if there is none. */
ZT_API const zt_metric *zt_get_metric(const zt_profiler *profiler, uint32_t metric);

/* Finds a metric by its name. Returns its index or, if attached streams alone have it, ZT_STREAMED of its
   index, which is none of zt_sample.values. Returns UINT32_MAX if there is none; then zt_last_error has the
   nearest names. */
ZT_API uint32_t zt_find_metric(const zt_profiler *profiler, const char *name);

/* Gets the statistics of a metric over the collected samples of a region, in the units of the metric. Median
   and 95th percentile of metrics are NaN without config.samples or without memory. */
ZT_API ze_result_t zt_get_stats(const zt_profiler *profiler, uint32_t region, uint32_t metric,
                                zt_stats *stats);

#endif

/* ---- messages, and whether metrics are measured -------------------------------------------------------- */

/* Whether metrics are measured, and if not, why. */
typedef enum zt_availability {
    ZT_AVAILABLE = 0,       /* metrics are measured */
    ZT_TIMES_BY_CHOICE,     /* config.groups or ZT_GROUPS is "" */
    ZT_NOT_ENABLED,         /* the driver's metrics are not enabled */
    ZT_LIBRARY_MISSING,     /* the driver lacks its metric library */
    ZT_NO_PERMISSION,       /* the process may not use metrics; or, if the text says so, they may be in use */
    ZT_IN_USE,              /* the device's counters are in use by a stream, a profiler or another process */
    ZT_NO_SUCH_GROUP,       /* no event-based group of that name */
    ZT_NO_SUCH_METRIC,      /* no event-based group has a metric of that name */
    ZT_GROUPS_CONFLICT,     /* the groups need more passes than config.max_passes */
    ZT_NOT_SUPPORTED,       /* the driver or the device has no metrics, or a call failed unexpectedly */
    ZT_DEVICE_LOST,         /* the device is gone */
    ZT_AVAILABILITY_UNKNOWN /* there is no profiler */
} zt_availability;

#ifndef ZETOOLS_DISABLE

/* Returns the name of a result: "ZE_RESULT_NOT_READY" for ZE_RESULT_NOT_READY, and so on. */
ZT_API const char *zt_result_name(ze_result_t result);

#endif

/* ---- what became of the samples? ----------------------------------------------------------------------- */

/* Samples, and what became of them: begun = collected + lost + dropped + in_flight. See COUNTS. */
struct zt_counts {
    uint64_t begun, collected, lost, dropped, in_flight;
    uint64_t unobserved_lists; /* command lists that ran outside of zt_execute; see UNREPORTED
                                  EXECUTIONS */
};

/* Why samples are lost or dropped. */
typedef enum zt_cause {
    /* lost: the device has marked the sample's data (the report) as invalid */
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
    ZT_LOST_OVERWRITTEN,     /* it was executed again before it was collected, or by means that nobody
                                reports (see UNREPORTED EXECUTIONS) */
    ZT_LOST_OTHER_PASS,      /* it ran in another pass than the one in which it was begun */
    ZT_LOST_READ_FAILED,     /* the driver failed to read or calculate the data */
    ZT_LOST_IMPLAUSIBLE,     /* its GPU time is longer than the time since it was submitted, or the device's
                                clock may have turned more often than its time stamps show */
    ZT_LOST_EVENT,  /* its event was reset, destroyed or used again before its time stamps were read */
    ZT_LOST_DEVICE, /* the device was lost */
    /* dropped */
    ZT_DROPPED_NO_PROBE,       /* all config.max_probes are in use */
    ZT_DROPPED_NO_MEMORY,      /* no memory for probes or statistics */
    ZT_DROPPED_TOO_MANY_NAMES, /* more than 65,536 names */
    ZT_DROPPED_APPEND_FAILED,  /* the driver refused a command of the region, or the list was NULL */
    ZT_DROPPED_NOT_CLOSED,     /* the list was released or the profiler closed before zt_end */
    ZT_DROPPED_DEVICE_LOST,    /* begun after the device was lost */
    ZT_DROPPED_NEVER_RAN, /* its list ran without it: it was recorded before a reset that nobody reported */
    ZT_CAUSE_COUNT
} zt_cause;

/* Samples that were lost or dropped, or launches, by one cause. */
struct zt_cause_count {
    const char *name; /* "report error", "no probe", ... */
    uint64_t count;
};

/* ---- what there is ------------------------------------------------------------------------------------- */

/* Why launches are not measured. Reports have a sentence for each cause that there was. */
typedef enum zt_unmeasured {
    ZT_UNMEASURED_NULL,         /* the list or the kernel is NULL: the driver refuses it */
    ZT_UNMEASURED_OTHER_DEVICE, /* the list is of another context or device than the profiler */
    ZT_UNMEASURED_NOT_OPENED,   /* zt_auto could not open a profiler for the context and device */
    ZT_UNMEASURED_EARLY_LIST,   /* the list is from before tracing, and the loader cannot query its device */
    ZT_UNMEASURED_COPY_ENGINE,  /* with metrics, on a copy engine, which cannot measure them */
    ZT_UNMEASURED_CLONEABLE,    /* the list can be cloned */
    ZT_UNMEASURED_CHANGEABLE,   /* the application has queried the identifier of a command of the list */
    ZT_UNMEASURED_CAPTURED,     /* it went into a graph. Each execution of a graph is measured as one */
    ZT_UNMEASURED_CAPTURE_UNKNOWN, /* while lists are captured, and the loader cannot query which */
    ZT_UNMEASURED_MAY_JOIN,        /* it waits for events while another list is captured */
    ZT_UNMEASURED_OUT_OF_ORDER,    /* a barrier or a wait, on a list that is not in order */
    ZT_UNMEASURED_NO_MEMORY,       /* no memory for its name */
    ZT_UNMEASURED_VARIABLE,        /* by zexCommandListAppendVariableLaunchKernel */
    ZT_UNMEASURED_OPERATION,       /* by zexCommandListAppendCustomOperation */
    ZT_UNMEASURED_DRIVER_HANDLE,   /* through a pointer of zeDriverGetExtensionFunctionAddress, if the loader
                                     wraps handles */
    ZT_UNMEASURED_COUNT
} zt_unmeasured;

/* Why launches are measured between commands of the library, so that they overlap with nothing; likewise. See
   TRACED LAUNCHES. */
typedef enum zt_serialised {
    ZT_SERIALISED_IN_USE,        /* its event is signalled, or another command may signal it */
    ZT_SERIALISED_METRICS,       /* it is measured with metrics, between queries */
    ZT_SERIALISED_GRAPH,         /* it is a graph */
    ZT_SERIALISED_UNKNOWN_LIST,  /* whether the list is immediate is not known */
    ZT_SERIALISED_UNSEEN_EVENT,  /* the creation of its event was not seen */
    ZT_SERIALISED_COUNTER_BASED, /* its event is counter-based */
    ZT_SERIALISED_INVISIBLE,     /* the host cannot see its event */
    ZT_SERIALISED_SHARED,        /* the pool of its event can be shared between processes */
    ZT_SERIALISED_MAPPED,        /* the pool has mapped time stamps */
    ZT_SERIALISED_EXTENDED,      /* the pool has extensions */
    ZT_SERIALISED_NO_STAMPS,     /* the driver refuses time stamps for the pool */
    ZT_SERIALISED_COUNT
} zt_serialised;

/* Launches, executions of graphs, and copies, barriers and waits if they are measured (zt_trace_config.copies):
   launches = measured + filtered + elsewhere. zt_counts has what became of those that are measured. */
struct zt_trace_counts {
    uint64_t launches;
    uint64_t measured;                              /* a region was begun */
    uint64_t filtered;                              /* left out by the configuration */
    uint64_t elsewhere;                             /* not measured: the sum of `unmeasured` */
    zt_cause_count unmeasured[ZT_UNMEASURED_COUNT]; /* by zt_unmeasured: why */
    uint64_t replaced;   /* kernels, and pointers to functions, that zt_replace has replaced */
    uint64_t serialised; /* of those measured: between queries or, on a list that is not in order, between
                             barriers, so that they overlap with nothing: the sum of `serialised_by` */
    zt_cause_count serialised_by[ZT_SERIALISED_COUNT]; /* by zt_serialised: why */
    uint64_t times_alone; /* of those measured, with a profiler that measures metrics: left out by `every` or
                             `limit`, so that their samples have times and no metrics */
};

/* Samples of hot spots, and what became of them: samples = matched + outside + ambiguous + no_room. */
struct zt_hotspots_counts {
    uint64_t samples;
    uint64_t matched;   /* in a kernel */
    uint64_t outside;   /* in none that the tracer knows: of other processes, or of kernels that were neither
                           created nor launched while tracing */
    uint64_t ambiguous; /* where two kernels lie, as far as the device reports addresses */
    uint64_t no_room;   /* at more addresses than zt_hotspots_config.addresses, or without memory for them */
    uint64_t discarded; /* reports or rows that could not be used: the driver calculated none, or no address
                           or no counts. How many samples they had is not known */
    uint64_t drops;     /* how often the device has dropped samples */
};

/* Memory that was allocated while tracing with zt_trace_config.memory; see MEMORY. */
struct zt_memory_info {
    int is_watched;                       /* not 0: it is, or was, watched. Otherwise all is 0 */
    uint64_t allocations;                 /* of device, shared and host memory */
    uint64_t unfreed, unfreed_bytes;      /* of these, not freed */
    uint64_t unseen;                      /* further allocations, for which there was no room */
    uint64_t bytes, peak_bytes;           /* of device and shared memory: in use, and the most at once */
    uint64_t host_bytes, host_peak_bytes; /* the same of host memory */
};

/* What a watch does, and what it has found. */
struct zt_watch_info {
    int is_watching; /* not 0: there is a watch */
    uint32_t hangs;  /* that were reported */
};

/* What was read of energy, clock and temperature since zt_open, with config.power. NaN: not known. */
struct zt_power_info {
    const char *text;   /* "" or why something cannot be read, and what to do */
    const char *domain; /* what the energy is of: "card", "package", ... "": not known */
    double seconds;     /* from the first reading to the last step of the energy counter */
    double joules, watts;
    double throttled;                         /* share of the time, from 0 to 1 */
    double throttled_by[ZT_THROTTLE_REASONS]; /* the same for each reason. Several may hold at once */
    double mhz;                               /* mean clock while that was not 0 */
    double max_celsius;                       /* highest temperature of the GPU */
};

/* What there is of a profiler, and what became of it, so far. What is not used is 0. */
struct zt_info {
    zt_availability availability;  /* whether metrics are measured, and if not, why */
    const char *availability_text; /* the same as a text, with the call that failed and what to do */
    const char *error; /* the last message of the profiler, by whichever thread. "": none. This thread's own
                          copy, valid until the thread calls the library again */
    zt_counts counts;
    zt_cause_count causes[ZT_CAUSE_COUNT]; /* by zt_cause: why samples were lost or dropped */
    uint32_t region_count;                 /* regions, that is, different names */
    uint32_t path_count;                   /* paths, also those of regions inside no other */
    uint32_t metric_count;                 /* metrics of all groups and passes. It does not change */
    uint32_t streamed_count;               /* metrics of all streams that are, or were, attached */
    uint32_t pass_count;                   /* 1 where nothing has to be repeated */
    uint32_t tile_count;                   /* 0 where the device has only one */
    zt_trace_counts launches;              /* that were appended while tracing */
    uint32_t kernel_count;                 /* kernels that were launched while tracing */
    uint32_t call_count;                   /* different calls that were timed */
    zt_hotspots_counts hotspots;
    zt_memory_info memory;
    uint32_t hotspot_count; /* hot spots, that is, different instructions with samples */
    zt_watch_info watch;
    zt_power_info power;
    double open_ns; /* host time since zt_open; NaN: not known, as of packed statistics, like the next */
    double library_busy_ns; /* for which the library has kept threads of the program busy since then, all
                               threads together: in zt_begin, zt_end and zt_execute, in collecting, and in the
                               callbacks of the tracer. Estimated from one call in sixteen. Sleeping, the
                               execution itself, and hooks do not count; config.sample does */
    const char *program; /* the command line of the process that measures, or has measured. "": not known */
    uint64_t opened_s;   /* when the profiler was opened there, in seconds since 1970 (UTC). 0: not known */
    uint64_t packed_s;   /* of one from zt_unpack, when its statistics were packed */
};

#ifndef ZETOOLS_DISABLE

/* Returns what there is of a profiler, and what became of it. */
ZT_API zt_info zt_get_info(const zt_profiler *profiler);

#endif

/* ---- what limits a region? ----------------------------------------------------------------------------- */

/* What limits a region. */
typedef enum zt_limit {
    ZT_LIMIT_UNKNOWN,          /* there are not enough metrics, or no samples */
    ZT_LIMIT_MEMORY_BANDWIDTH, /* traffic between the GPU and its memory */
    ZT_LIMIT_LATENCY,          /* threads wait, and there are too few others to run meanwhile */
    ZT_LIMIT_COMPUTE,          /* instructions of the vector engines (XVE, EU) */
    ZT_LIMIT_XMX,              /* instructions of the matrix engines */
    ZT_LIMIT_LAUNCH,           /* kernels are so short that launching them takes longer */
    ZT_LIMIT_HOST,             /* the GPU waits for work */
    ZT_LIMIT_OCCUPANCY,        /* too few threads for the vector engines, which are idle */
    ZT_LIMIT_CACHE,            /* threads wait for data, though there are many */
    ZT_LIMIT_BETWEEN           /* a figure is too near to the threshold between two limits to tell which */
} zt_limit;

/* What probably limits a region, and why. */
struct zt_limit_info {
    zt_limit limit;
    zt_limit between[2]; /* of ZT_LIMIT_BETWEEN, the two; the second may be UNKNOWN */
    char name[64];       /* of the limit: "memory bandwidth", "latency", "compute or latency", ... */
    char text[320];      /* sentences with the figures that show it, or with what is missing */
    char missing[256];   /* metrics that were not measured and might show another limit, of one group of the
                          device, which the text may name; "": none is known */

    /* What the region reaches of what the device can do, from 0 to 1; NaN: not known */
    double bandwidth; /* memory traffic, of the peak bandwidth */
    /* the larger of: operations of zt_set_operations, of the peak operations; time in which the busiest pipe of the
       vector engines executes */
    double compute;
    double xmx;       /* time in which the matrix engines execute */
    double occupancy; /* threads that are loaded, of those for which there is room */
};

#ifndef ZETOOLS_DISABLE

/* Finds what probably limits a region, by rules on the timeline and on the metrics that are measured,
   streamed ones included. The rules are one table, with the source of each threshold: search for zt__rules. A
   metric that was not measured decides nothing. Where a region has several kernels, the figures are those of
   all. A kernel in large register mode loads half as many threads as another. So its occupancy does not
   exceed 50%, and does not show by itself that more threads would help. The limit is ZT_LIMIT_BETWEEN where
   other samples of the same work might give another one: where the mean of a metric is within four standard
   errors of a threshold, or within more of them if there are few samples. One sample has no error.
   Returns SUCCESS, also if the limit is not known. */
ZT_API ze_result_t zt_get_limit(const zt_profiler *profiler, uint32_t region, zt_limit_info *info);

/* Sets what the device can do at the most, for the roofline of a page and for zt_get_limit; see ROOFLINE.
   ZT_PEAKS in the environment overrides it.
   bytes_per_second       between the GPU and its memory. 0: not known
   operations_per_second  of the operations that zt_set_operations counts. 0: not known
   source                 where these figures are from, such as "measured: copy of 256 MB". The first 63 bytes
                          are copied. NULL: "given by the program"
   Returns SUCCESS; INVALID_ARGUMENT for a negative number, infinity or NaN. */
ZT_API ze_result_t zt_set_peaks(zt_profiler *profiler, double bytes_per_second, double operations_per_second,
                                const char *source);

/* Sets how many operations a sample of a region does, such as 2.0 * m * n * k for a product of matrices. Reports
   then have the operations a second of the region, and their share of the peak. They are not packed or merged.
   region      its name. It may begin later
   operations  0: not known
   Returns SUCCESS; INVALID_ARGUMENT for a negative number, infinity or NaN. */
ZT_API ze_result_t zt_set_operations(zt_profiler *profiler, const char *region, double operations);

#endif

/* ---- the timeline -------------------------------------------------------------------------------------- */

/* How samples of the timeline cover the time of the device; see BYTES AND OVERLAP. */
struct zt_overlap {
    uint64_t samples;  /* that ran in this time */
    uint64_t missing;  /* that may have run in it, too: lost, dropped, on their way, or without a certain
                         time. If there are any, all times but span_ns are NaN */
    double span_ns;    /* from the first begin to the last end. All times are NaN without samples */
    double busy_ns;    /* covered by samples. If some are of traced kernels or copies, the regions of the
                         application around others do not count, because the device may be idle in them */
    double kernel_ns;  /* covered by traced kernels */
    double copy_ns;    /* covered by traced copies and fills */
    double both_ns;    /* covered by a kernel and a copy at once */
    double idle_ns;    /* not covered: span_ns - busy_ns. What was not measured counts as idle */
    double at_once_ns; /* in which several regions or launches ran that are not inside each other */
};

/* What a timeline holds. */
struct zt_timeline_info {
    uint64_t samples, rows;           /* kept */
    uint64_t lost_samples, lost_rows; /* replaced by newer ones, or without a certain time */
    uint32_t pairs;                   /* comparisons of device clock and host clock that are in use */
    zt_overlap overlap;               /* how the samples cover the time of the device */
};

#ifndef ZETOOLS_DISABLE

/* Returns what the timeline holds. Without memory, all times of the overlap are NaN. */
ZT_API zt_timeline_info zt_get_timeline(const zt_profiler *profiler);

#endif

/* ---- passes -------------------------------------------------------------------------------------------- */

/* ZT_PASSES(profiler) statement
       runs the statement once in each pass; see PASSES. Where nothing has to be repeated, it runs once. In
       C++ and GNU C, it returns to the first pass however it is left: at its end, by break, goto, return or
       an exception. In ISO C, only its end does. Not to be nested. Not by two threads at once. */

/* The state of one ZT_PASSES. */
struct zt__pass_state {
    zt_profiler *profiler;
    uint32_t next;
    uint32_t runs;
};

/* Differences between the passes of a region, as bits: zt_region_info.differs. */
enum {
    ZT_DIFFERS_MISSING = 1, /* not in every pass */
    ZT_DIFFERS_COUNT = 2,   /* not the same number of samples in every pass */
    ZT_DIFFERS_TIME = 4     /* the median GPU time differs by more than config.pass_tolerance */
};

#ifndef ZETOOLS_DISABLE

/* Only ZT_PASSES calls these. zt__next_pass activates the groups of the next pass and returns 1, or 0 when
   there are no more; a pass whose groups cannot be activated is left out. zt__end_passes returns to the first
   pass. Not by two threads at once. */
ZT_API zt__pass_state zt__begin_passes(zt_profiler *profiler);
ZT_API int zt__next_pass(zt__pass_state *passes);
ZT_API void zt__end_passes(zt__pass_state *passes);

#endif
