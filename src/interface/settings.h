/* ---- settings of a profiler ---------------------------------------------------------------------------- */

/* One collected sample. */
struct zt_sample {
    const char *name;      /* of the region */
    uint32_t region;       /* its index, for zt_get_region */
    uint32_t path;         /* ZT_PATH of the index of its path, with the phases that it was submitted in */
    uint32_t thread;       /* of the system, that has submitted it; 0: not known */
    uint32_t metric_count; /* as zt_info.metric_count */
    double gpu_time_ns;
    uint64_t begin_ns, end_ns; /* host time (CLOCK_MONOTONIC) when it ran; 0 without config.timeline */
    const double *values;      /* in the order of zt_get_metric. NaN: not measured */
    uint32_t pass;             /* from 0. Metrics of other passes are not measured. With times alone: 0 */
};

/* Called for each collected sample, on the collecting thread. `user` is config.sample_user. */
typedef void (*zt_sample_fn)(const zt_sample *sample, void *user);

/* How a profiler is opened. */
struct zt_config {
    const char *groups;  /* Metric groups: names separated by commas, up to 32. "": none, regions have times
                            alone. NULL: those that `metrics` needs, else "ComputeBasic", else the first
                            event-based group of the device. ZT_GROUPS in the environment overrides this. */
    const char *metrics; /* Metrics: names separated by commas, up to 64. Groups that have them are measured,
                            beside those of `groups`. They are few, but not always the fewest, because not
                            all combinations are tried: to choose them, name them in `groups`. NULL: `groups`
                            alone decides. ZT_METRICS in the environment overrides this. */
    const char *columns; /* Columns of the table, and counters and arguments of the trace, comma-separated:
                            metrics; of the GPU time "median", "p95", "min" and "max"; the latencies "queued"
                            and "launch"; "copied", the bytes that traced copies and fills have moved. NULL:
                            those of `metrics`, else the metrics that show most, as many as fit. CSV and JSON
                            have all metrics in any case. ZT_COLUMNS in the environment overrides this. */
    uint32_t max_passes; /* How many passes the work may be repeated in with ZT_PASSES, up to 16. With 1,
                            groups that cannot be active together are refused. Default: 1. */
    double pass_tolerance; /* Reports mark a region whose GPU time differs between passes by more than this
                              share. Raise it for work whose time varies by itself. Default: 0.1. */
    int require_metrics;   /* Not 0: zt_open fails if metrics cannot be measured. 0: regions then have
                              times. */

    uint32_t probes_per_step; /* Probes are made as they are needed, this many at a time. A lower number saves
                                device memory where few regions are in flight. Default: 256. */
    uint32_t max_probes;      /* The most probes of each pass, and the most for launches with times alone.
                                Regions beyond are dropped. Raise it if recorded lists have more regions than
                                this. Default: 16384. */
    uint32_t samples;         /* Samples kept of each path with all their figures, up to 1,048,576, for median
                                and 95th percentile of metrics and latencies; 4 bytes a figure. 0: 512 GPU
                                times are kept and, with a timeline, latencies; metrics then have neither.
                                A path also needs 56 bytes a metric: at most 8 KiB with the metrics of most
                                devices. See AGGREGATION. Default: 0. */

    int thread; /* Not 0: a thread of the library's own collects; see COLLECTING. 0: threads that call the
                   library do. */

    uint32_t timeline; /* Samples kept for the timeline, the newest. Each needs 200 bytes and 8 a metric, and
                          each region then writes two more time stamps. Latencies are then known, of all
                          samples, kept or not; see LATENCY. 0: no timeline. */

    int phases_at_append; /* Not 0: what a recorded list has belongs to the phase in which it was appended. 0: to
                             that in which the list is executed; see PHASES. ZT_PHASES_AT=append or =submit in the
                             environment overrides this. */

    int power; /* Not 0: a thread of the library's own reads energy, clock, throttling and temperature of the device;
                  see POWER. ZT_POWER=1 or =0 in the environment overrides this. */

    const char *baseline; /* The JSON report of an earlier run. Each report then has the change of the GPU
                             time of each path, what is new, and what is gone; see TWO RUNS. zt_open reads
                             it. NULL: none. ZT_BASELINE in the environment overrides this. */

    zt_profiler *with; /* The profiler that reports for this one, too, which is open; see SEVERAL DEVICES.
                          NULL: this one reports for itself. */

    uint64_t wait_timeout_ns; /* How many nanoseconds functions without a timeout of their own wait at the
                                 most; see WAITS. Raise it if the work of a list takes longer. Default: 1
                                 second. */

    zt_log_fn log; /* Receives messages. NULL: none does; zt_last_error returns the last one. */
    void *log_user;
    zt_sample_fn sample; /* Receives every collected sample. NULL: none does. */
    void *sample_user;
    zt_allocator allocator; /* Functions that are NULL: malloc and free. */
};

/* ---- settings of zt_auto ------------------------------------------------------------------------------- */

#ifdef ZETOOLS_TRACER

/* How zt_auto traces and reports; see AUTOMATIC TRACING. Functions and their user pointers must live until
   exit. */
struct zt_auto_config {
    const char *report; /* Paths, or "table", as in ZT_REPORT; see ENVIRONMENT. NULL: a table on standard
                           output. ZT_AUTO in the environment overrides this. */
    zt_config profiler; /* of each context and device */
    zt_trace_config trace;
    int hotspots; /* Not 0: hot spots are sampled on each device that can. ZT_HOTSPOTS in the environment
                     overrides this. */
    const char *signal; /* "USR1" or "USR2": the first of these signals starts tracing, the next one
                           writes the reports and stops, and so on; see FROM OUTSIDE. NULL: tracing starts
                           at once. ZT_AUTO_SIGNAL in the environment overrides this. */
};

#endif /* ZETOOLS_TRACER */

/* ---- what a device can measure ------------------------------------------------------------------------- */

/* A metric group: the same type as zet_metric_group_handle_t. The header of that type is slow to compile, so
   only the implementation includes it. */
typedef struct _zet_metric_group_handle_t *zt_group;

#ifndef ZETOOLS_DISABLE

/* Finds a metric group of a device by its name.
   type   a zet_metric_group_sampling_type_flags_t: event-based for regions, time-based for streams
   group  receives the group; NULL on failure
   Returns SUCCESS; INVALID_ARGUMENT if there is none, and zt_last_error has the nearest names;
   otherwise the result of the call that failed. */
ZT_API ze_result_t zt_find_group(ze_device_handle_t device, const char *name, uint32_t type, zt_group *group);

/* Lists the metric groups of a device as text for people.
   metrics      not 0: with their metrics
   write, user  receive the text, as in zt_write
   Returns SUCCESS; DEPENDENCY_UNAVAILABLE if the driver's metric library is missing; UNKNOWN if `write`
   stopped it; otherwise the result of the call that failed. */
ZT_API ze_result_t zt_write_groups(ze_device_handle_t device, int metrics, zt_write_fn write, void *user);

#endif
