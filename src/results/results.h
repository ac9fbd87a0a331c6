/* zt_get_region and the like: counts and statistics of regions. */

#pragma once

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/system.h"
#include "base/text.h"
#include "metrics/statistics.h"
#include "regions/profiler.h"

/* Returns how many samples there are in each state. */
ZT__PRIVATE zt_counts zt__get_counts(const zt_profiler *profiler);

/* As in zt_info. */
ZT__PRIVATE zt_memory_info zt__get_memory_info(const zt_profiler *profiler);

/* Returns how many samples of a profiler were lost or dropped by one cause. */
ZT__PRIVATE uint64_t zt__get_cause(const zt_profiler *profiler, zt_cause cause);

/* As in zt_info. */
ZT__PRIVATE uint32_t zt__get_region_count(const zt_profiler *profiler);

ZT__PRIVATE uint32_t zt__get_path_count(const zt_profiler *profiler);

ZT__PRIVATE zt_availability zt__get_availability(const zt_profiler *profiler);

ZT__PRIVATE const char *zt__get_availability_text(const zt_profiler *profiler);

/* Reads a number that the mutex guards. */
ZT__PRIVATE uint32_t zt__read_locked(const zt_profiler *profiler, const uint32_t *number);

/* Reports an index that is too high, and names <what>_count of zt_info, which has the count; or that it is
   UINT32_MAX. Without a profiler returns SUCCESS, as public functions do. */
ZT__PRIVATE ze_result_t zt__report_index(const zt_profiler *profiler, const char *call, const char *what,
                                         uint32_t index);

/* What statistics are of: a region, that is, all its paths together, or one path. Both stay as long as the
   profiler lives. */
typedef struct zt__subject {
    const zt__region_record *region; /* NULL: there is none */
    const zt__path *path;            /* NULL: all paths of the region */
} zt__subject;

/* Sums over the samples of a subject. */
typedef struct zt__totals {
    uint64_t count, with_metrics, bytes, lost, dropped;
    int is_phase;
    uint64_t entered, incomplete;              /* this and the next as in zt_region_info */
    double host_ns, host_own_ns, host_wait_ns; /* the last is NaN if host_ns is 0 */
    zt__power_sums power;
    double power_s;
    zt__phase_memory memory;
    double bytes_ns;        /* GPU time of the samples that have copied or filled bytes */
    double launch_error_ns; /* the largest error of a launch latency */
} zt__totals;

/* Finds a region by its index, or a path by ZT_PATH of its index. No mutex is held. */
ZT__PRIVATE zt__subject zt__subject_at(zt_profiler *profiler, uint32_t index);

/* The same for a public function `call` that stores what it returns in `out`, its parameter of the name `what`. If
   there is no profiler, no `out` or no such region, returns no subject, and stores what the public function returns
   in `result`. */
ZT__PRIVATE zt__subject zt__get_subject(const zt_profiler *profiler, const char *call, uint32_t index,
                                        const char *what, const void *out, ze_result_t *result);

/* Adds `factor` times what was read. */
ZT__PRIVATE void zt__add_power(zt__power_sums *to, const zt__power_sums *from, double factor);

/* Returns a sum that is known of so many of all seconds, or NaN if it is not known of more than 1% of them. */
ZT__PRIVATE double zt__known_sum(double sum, double known_s, double seconds);

/* Stores the figures of what was read in `seconds`, as in zt_power_info. */
ZT__PRIVATE void zt__divide_power(const zt__power_sums *sums, double seconds, double *joules, double *watts,
                                  double *throttled, double *throttled_by, double *mhz);

/* Adds what was allocated, and of that not freed. */
ZT__PRIVATE void zt__add_allocations(zt__phase_memory *to, const zt__phase_memory *from);

/* Raises what was in use on the device to that of another path or rank, if that was more. */
ZT__PRIVATE void zt__raise_memory_in_use(zt__phase_memory *to, const zt__phase_memory *from);

/* The mutex is held. */
ZT__PRIVATE zt__totals zt__add_up(zt__subject subject);

/* The mutex is held. */
ZT__PRIVATE zt__moments zt__sum_moments(zt__subject subject, uint32_t column);

/* Adds up how many GPU times, of a phase those of its entries, are in each bucket. With the mutex held. */
ZT__PRIVATE void zt__sum_time_counts(zt__subject subject, uint64_t counts[ZT__TIME_BUCKETS]);

/* The same of a metric of attached streams. The mutex is held. */
ZT__PRIVATE zt__moments zt__sum_streamed(zt__subject subject, uint32_t metric);

/* Returns the GPU time of all samples on a path. The mutex is held. */
ZT__PRIVATE double zt__time_of(const zt__path *path);

/* Returns how the passes differ, as ZT_DIFFERS_ bits, judged by the GPU time of each. */
ZT__PRIVATE uint32_t zt__find_differences(const zt_profiler *profiler, const zt_stats *pass_times);

/* Returns the time of the samples on a path that is outside of regions inside it, or NaN if that is not
   known. Stores in `estimate`, unless that is NULL, the time outside of those samples inside that were
   collected. The mutex is held. */
ZT__PRIVATE double zt__get_own_time(const zt__path *path, double *estimate);

/* Fills in parent, own and total time. The mutex is held. */
ZT__PRIVATE void zt__get_times(const zt_profiler *profiler, zt__subject subject, zt_region_info *info);

ZT__PRIVATE void zt__fill_totals(const zt__totals *totals, zt_region_info *info);

/* Gets the statistics of one column, and the values that are kept of it, sorted, unless `values` is NULL. The caller
   frees these. Returns 0 without memory: then median and 95th percentile are NaN. */
ZT__PRIVATE int zt__get_column(zt_profiler *profiler, zt__subject subject, uint32_t column, zt_stats *stats,
                               zt__kept_value **values, uint32_t *count);

/* Removes figures of the launch latency that are smaller than its error: they may as well be 0. */
ZT__PRIVATE void zt__hide_uncertain(zt_stats *stats, double error_ns);

/* Returns the region with an index that is known to be valid. No mutex is held. */
ZT__PRIVATE const zt__region_record *zt__record_at(zt_profiler *profiler, uint32_t region);
