/* zt_bench: samples until their median is known well. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "bench/series.h"
#include "regions/profiler.h"

/* The fewest bursts of a benchmark. */
enum { ZT__LEAST_BURSTS = 10 };

/* When samples are taken: in bursts that begin at regular times, until a condition of zt_bench_end holds. */
typedef struct zt__stop_rule {
    const zt_bench_config *limits;
    uint64_t slot_ns; /* from the begin of a burst to that of the next */
    uint64_t burst_begin, deadline;
    uint32_t first;                         /* sample of the burst */
    uint32_t least_of_burst, most_of_burst; /* samples */
    uint32_t next_precise; /* the count at which the interval is next compared with config.precision */
    int was_precise;       /* at the last comparison */
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

ZT__PRIVATE zt__stop_rule zt__begin_stop_rule(const zt_bench_config *limits);

/* Returns whether a burst is over: it lasts for half of its slot, unless it has the most samples before. */
ZT__PRIVATE int zt__is_burst_over(const zt__stop_rule *rule, const zt__series *series);

/* Called after a burst that is evaluated. Returns which condition is met, or ZT_BENCH_NOT_RUN if more samples are
   needed.

   The interval is compared with config.precision only when there are a quarter more samples than at the last
   comparison, and has to be narrow enough at two comparisons that follow each other: at times it is narrow by
   chance, which would end the benchmark too early. Twice as many samples should narrow it by 29%. If they narrow
   it by less than 5%, the rest is noise that more samples do not remove. The first comparison of this kind is
   that of 20 bursts with 40, as noise may last longer than 10. */
ZT__PRIVATE zt_bench_end zt__apply_stop_rule(zt__stop_rule *rule, const zt__series *series);

/* Sleeps until the next burst begins. */
ZT__PRIVATE void zt__await_next_burst(zt__stop_rule *rule, const zt__series *series);

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

/* Fills in a result, of a series that is evaluated, and marks samples that are outliers or changed. */
ZT__PRIVATE void zt__describe_series(zt_bench_result *result, zt__series *series,
                                     const zt_bench_config *config);

extern const char *const zt__bench_ends[];

ZT__PRIVATE const char *zt__bench_end_name(zt_bench_end end);
