/* zt_bench: samples until their median is known well. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"

typedef struct zt__series {
    uint32_t count;
    double samples[ZT_BENCH_SAMPLES]; /* in the order in which they were taken */
    double mhz[ZT_BENCH_SAMPLES];     /* the device's frequency after each; NaN: unknown */
    double sorted[ZT_BENCH_SAMPLES];  /* the samples in ascending order */
} zt__series;

/* The default of zt_bench_config.max_change. */
#define ZT__MAX_FREQUENCY_CHANGE 0.02

typedef struct zt__stop_rule {
    const zt_bench_config *limits;
    uint64_t deadline;
    uint32_t next_precise; /* the count at which the interval is next compared with config.precision */
    uint32_t next_noise;   /* the count at which it is next compared with that of half as many samples */
    double half_precision; /* the precision of half as many samples; NaN: not compared yet */
} zt__stop_rule;

typedef struct zt__bench {
    const char *call;
    zt_bench_config config;   /* complete: no figure is 0 that has a default */
    const char *region;       /* whose GPU time is a sample. NULL: the first of the work, once it has run */
    zt_profiler *profiler;    /* the application's, or NULL */
    zt_profiler *stopwatch;   /* measures times alone, without queries; NULL with config.measure */
    zes_freq_handle_t domain; /* whose frequency is the GPU's, or NULL */
    zt__series *series;
} zt__bench;

/* Adds a sample, also to those that are sorted. There must be room. */
ZT__PRIVATE void zt__add_to_series(zt__series *series, double sample, double mhz);

/* Stores the confidence interval of the median, by the sign test. Returns half its width as a share of
   the median, or NaN if the median is 0.

   A sample lies on either side of the true median with equal chance, so the ranks of the interval's ends
   follow from the binomial distribution. The ends are chosen for 97.5%: stopping when the interval is
   narrow lowers its coverage a little, so that at least 95% remain. */
ZT__PRIVATE double zt__median_interval(double *sorted, uint32_t count, double *low, double *high);

ZT__PRIVATE zt__stop_rule zt__begin_stop_rule(const zt_bench_config *limits);

/* Returns which condition is met, or ZT_BENCH_NOT_RUN if more samples are needed.

   The interval is compared with config.precision only when there are a quarter more samples than at the last
   comparison: one that is compared after every sample is at times narrow by chance, which would end the
   benchmark too early. Twice as many samples should narrow it by 29%. If they narrow it by less than 5%, the
   rest is noise that more samples do not remove. */
ZT__PRIVATE zt_bench_end zt__apply_stop_rule(zt__stop_rule *rule, zt__series *series);

/* Takes one sample, and the frequency of the device after it. A run without a sample is repeated. Returns
   0 if the last attempt fails, too. */
ZT__PRIVATE int zt__measure_sample(zt__bench *bench);

/* Does the work config.warm_up times. After the first three, stops when `max_time_ns` is over. */
ZT__PRIVATE void zt__warm_up(zt__bench *bench, uint64_t max_time_ns);

ZT__PRIVATE void zt__close_bench(zt__bench *bench);

/* Checks the configuration and prepares a benchmark. On failure nothing is left to close. */
ZT__PRIVATE ze_result_t zt__open_bench(zt__bench *bench, const char *call, zt_profiler *profiler,
                                       const zt_bench_config *config);

/* Returns whether the work needs a profiler with a device, and there is none. Then benchmarks do nothing,
   as any function without a profiler. */
ZT__PRIVATE int zt__has_nothing_to_run(const zt_profiler *profiler, const zt_bench_config *config);

/* Clears a result, and sets its name: `unnamed` if the configuration has none. */
ZT__PRIVATE void zt__clear_bench_result(zt_bench_result *result, const zt_bench_config *config,
                                        const char *unnamed);

/* Fills in a result, and marks samples that are outliers or were taken at another frequency.
   `series->sorted` is overwritten. */
ZT__PRIVATE void zt__describe_series(zt_bench_result *result, zt__series *series,
                                     const zt_bench_config *config);

extern const char *const zt__bench_ends[];

ZT__PRIVATE const char *zt__bench_end_name(zt_bench_end end);
