/* ---- one benchmark ------------------------------------------------------------------------------------- */

/* What to benchmark, and how precisely. Start from zeros. */
struct zt_bench_config {
    const char *name; /* A name for people. NULL: that of the region, else "the benchmark"; in a comparison
                         "a" or "b". */
    int (*run)(zt_profiler *profiler, void *user); /* Records and submits the work once, with a region of
                                                      `profiler` around what is timed. `profiler` may be
                                                      another than that of zt_bench: begin regions with it
                                                      alone, and record lists anew in each run. zt_bench waits
                                                      for the samples and collects them afterwards. Work that
                                                      begins no region, as it launches through a runtime, needs
                                                      zt_trace_start(profiler): then a sample is the GPU time of
                                                      the launches in a phase of the benchmark's name, with the
                                                      metrics of the profiler. Returns 0, or anything else if the
                                                      work failed. */
    double (*measure)(void *user); /* In place of `run`, for work that is timed by other means: does the work
                                      once and returns its time in nanoseconds; negative if it failed. */
    void *user;                    /* Is passed to these functions and to `frequency`. */
    const char *region; /* The region whose GPU time is a sample. If it runs several times, they add up.
                           NULL: the first of the work. */
    double (*frequency)(void *user); /* Returns the frequency of the device now, in MHz; 0: not known. NULL:
                                        that of the system management interface, which ZES_ENABLE_SYSMAN=1
                                        enables. */
    uint32_t warm_up;                /* Runs before the first sample. Default: 3. */
    uint32_t min_samples;  /* The fewest samples, however long they take. Default, and minimum: 10. */
    uint32_t max_samples;  /* The most samples. Default, and maximum: 1000. */
    uint64_t min_time_ns;  /* The time over which the samples are spread, in nanoseconds: they are taken in at
                              least 10 bursts that begin at regular times. Default: 500 milliseconds. */
    uint64_t max_time_ns;  /* The most time for the warm-up, and again for the samples, in nanoseconds. The
                              first three runs of the warm-up and min_samples are taken in any case. It is also
                              the most for min_time_ns. Default: 10 seconds. */
    double precision;      /* Sampling stops when half the interval of the median is less than this share of
                              it. Default: 0.01. */
    double max_change;     /* Samples whose frequency differs from the median by more than this share are
                              changed. Default: 0.02. */
    uint32_t counter_runs; /* Runs with metrics, in each pass. Default: 5. */
    double bytes_per_run;  /* Bytes that a run moves, by your own count. 0: the result has no such rate. */
    double items_per_run;  /* Items that a run works on. 0: likewise. */
    double tolerance;      /* zt_compare_benches calls a benchmark faster or slower if the whole interval of
                              its change, and the change of its first decile, are beyond this share. Default:
                              0.02. */
};

/* Which condition ended a benchmark. */
typedef enum zt_bench_end {
    ZT_BENCH_NOT_RUN, /* there is no profiler, or a run failed */
    ZT_BENCH_PRECISE, /* config.precision is reached */
    ZT_BENCH_NOISE,   /* twice the samples did not make the interval narrower */
    ZT_BENCH_TIME,    /* config.max_time_ns is over */
    ZT_BENCH_FULL     /* config.max_samples are taken */
} zt_bench_end;

/* The most samples of a benchmark, and the marks of a sample, which are bits. */
enum { ZT_BENCH_SAMPLES = 1000, ZT_BENCH_OUTLIER = 1, ZT_BENCH_CHANGED = 2 };

/* The result of a benchmark; times in nanoseconds. What does not apply is NaN. About 9 kB. */
struct zt_bench_result {
    char name[64];
    zt_bench_end end;
    const char *ended_by; /* the same as a text: "precise", "noise", "time", "full" or "not run" */
    uint32_t count;       /* samples */
    uint32_t outliers;    /* samples beyond a quartile by more than 1.5 times the interquartile range. They
                          count like any other */
    uint32_t changed;     /* samples at another frequency, or while the driver reported that it throttles */
    uint32_t set_aside; /* changed samples, which are in no figure; 0 if at least half are: then all count */
    uint32_t bursts;    /* of the samples that count */
    double median;
    double low, high; /* interval that contains the true median with a probability of at least 95% */
    double decile1;   /* a tenth of the samples take less */
    double quartile1, quartile3;
    double min, max;
    double precision;        /* half the interval, as a share of the median */
    double burst_spread;     /* from the least median of a burst to the greatest, as a share of the median */
    double bytes_per_second; /* at the median, of config.bytes_per_run */
    double items_per_second; /* at the median, of config.items_per_run */
    double tolerance;        /* that of the configuration */
    double frequency_mhz; /* median; else that of the runs with metrics, if a metric has it. NaN: not known */
    uint32_t counter_runs;            /* runs with metrics, in each pass */
    double counter_median;            /* their median */
    double perturbation;              /* counter_median divided by median */
    uint32_t region;                  /* for zt_get_stats: ZT_PATH of the region in a phase of this name, in
                                              which the runs with metrics are alone; UINT32_MAX: none */
    double samples[ZT_BENCH_SAMPLES]; /* in the order in which they were taken */
    unsigned char marks[ZT_BENCH_SAMPLES]; /* ZT_BENCH_OUTLIER, ZT_BENCH_CHANGED */
};

#ifndef ZETOOLS_DISABLE

/* Benchmarks work; see BENCHMARKS. Warms up; then takes samples of the GPU time, without metrics and in bursts,
   until one of the conditions of zt_bench_end holds; then runs the work with metrics, in all passes, which the profiler
   collects. With config.measure the profiler may be NULL.
   Returns SUCCESS; NOT_READY if a run gave no sample in four attempts.
   Not by two threads at once. */
ZT_API ze_result_t zt_bench(zt_profiler *profiler, const zt_bench_config *config, zt_bench_result *result);

#endif

/* ---- two variants in one program ----------------------------------------------------------------------- */

/* The result of a comparison of two variants. */
struct zt_comparison {
    zt_bench_result a, b;
    double ratio;     /* of b to a: the median of the ratios of samples that were taken one after the other */
    double low, high; /* interval that contains the true ratio with a probability of at least 95% */
    int differs;      /* not 0: the interval does not contain 1 */
    char text[320];   /* the same as a sentence, such as "b takes 1.2500 times as long as a (95%: 1.2391 to
                         1.2600): slower.", and another one if their clocks differ. "": nothing was
                         compared */
};

#ifndef ZETOOLS_DISABLE

/* Compares two variants: takes their samples in turn, and computes the median of the ratios of such pairs with its
   interval. What lasts longer than a pair, such as other load, is in both of its samples. The limits are those of `a`;
   its precision is that of the ratio. No run has metrics.
   Returns as zt_bench.
   Not by two threads at once. */
ZT_API ze_result_t zt_compare(zt_profiler *profiler, const zt_bench_config *a, const zt_bench_config *b,
                              zt_comparison *result);

#endif

/* ---- reports ------------------------------------------------------------------------------------------- */

#ifndef ZETOOLS_DISABLE

/* Writes results as a table for people, 80 columns wide, with a row for each. With the profiler that was
   benchmarked, as many metrics are added as fit, those first that show most. Metrics that add up are in units
   a second. "95% +-" is the precision, "with counters" the perturbation.
   count        the number of results
   write, user  receive the text, as in zt_write
   Returns SUCCESS; UNKNOWN if `write` stopped it. */
ZT_API ze_result_t zt_write_benches(const zt_profiler *profiler, const zt_bench_result *results,
                                    uint32_t count, zt_write_fn write, void *user);

/* Writes results to a file, as zt_report does. The suffix chooses the format:
       .txt, a number, or no suffix  the table of zt_write_benches
       .csv                          a line for each result: a file to keep, for zt_compare_benches
   "-" is the table on standard output, as wide as the terminal.
   count  the number of results
   Returns SUCCESS; INVALID_ARGUMENT for another suffix; UNKNOWN if the file cannot be written. */
ZT_API ze_result_t zt_report_benches(const zt_profiler *profiler, const zt_bench_result *results,
                                     uint32_t count, const char *path);

#endif

/* ---- changes since an earlier run ---------------------------------------------------------------------- */

/* How many benchmarks changed since an earlier run. */
struct zt_bench_changes {
    uint32_t faster, slower;
    uint32_t same;        /* no change beyond the tolerance is shown */
    uint32_t missing;     /* measured by the earlier run, and not now */
    uint32_t added;       /* measured now, and not by the earlier run */
    int other_conditions; /* not 0: the device, its driver, its core clock or the frequency of a benchmark is
                             another. The table says which */
};

#ifndef ZETOOLS_DISABLE

/* Compares results with those of the same names that an earlier run has written to a file. Where several have
   one name, the first is compared with the first, the second with the second, and so on.
   count    the number of results
   before   the file, which zt_report_benches wrote with the suffix .csv
   report   where a table of the changes goes, as for zt_report_benches, but not .csv. NULL: nowhere
   changes  receives how many benchmarks changed
   Returns SUCCESS. On failure, zt_last_error has the message:
       UNKNOWN              the file cannot be read, or the table cannot be written
       UNSUPPORTED_VERSION  the file has a newer layout
       INVALID_SIZE         the file is cut off
       INVALID_ARGUMENT     it is no such file, or damaged */
ZT_API ze_result_t zt_compare_benches(const zt_profiler *profiler, const zt_bench_result *results,
                                      uint32_t count, const char *before, const char *report,
                                      zt_bench_changes *changes);

#endif
