/* zt_get_region, zt_get_stats and the like: counts and statistics of regions. */

#pragma once

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/system.h"
#include "base/text.h"
#include "metrics/statistics.h"
#include "regions/profiler.h"

/* Returns how many samples there are in each state. */
ZT__PRIVATE zt_counts zt__get_counts(const zt_profiler *profiler);

/* Returns how many samples of a profiler were lost or dropped by one cause. */
ZT__PRIVATE uint64_t zt__get_cause(const zt_profiler *profiler, zt_cause cause);

/* As in zt_info. */
ZT__PRIVATE uint32_t zt__get_region_count(const zt_profiler *profiler);

ZT__PRIVATE uint32_t zt__get_path_count(const zt_profiler *profiler);

ZT__PRIVATE zt_availability zt__get_availability(const zt_profiler *profiler);

ZT__PRIVATE const char *zt__get_availability_text(const zt_profiler *profiler);

/* Returns the index of a metric. If there is none, returns UINT32_MAX and reports the nearest names, which
   are also stored in `nearest` unless that is NULL. */
ZT__PRIVATE uint32_t zt__find_metric(zt__diagnostics *diagnostics, const char *call, const zt_metric *metrics,
                                     uint32_t count, const char *name, zt__nearest *nearest);

/* Reports an index that is too high, and names <what>_count of zt_info, which has the count. Without a profiler
   returns SUCCESS, as public functions do. */
ZT__PRIVATE ze_result_t zt__report_index(const zt_profiler *profiler, const char *call, const char *what,
                                         uint32_t index);

/* Finds a region by its index, for a public function `call` that stores what it returns in `out`, its
   parameter of the name `what`. If there is no profiler, no `out` or no such region, returns NULL, and stores
   what the public function returns in `result`. A record does not move as long as the profiler lives. */
ZT__PRIVATE const zt__region_record *zt__get_record(const zt_profiler *profiler, const char *call,
                                                    uint32_t region, const char *what, const void *out,
                                                    ze_result_t *result);

/* Returns how many samples were collected in all passes. The mutex is held, unless this is a copy. */
ZT__PRIVATE uint64_t zt__collected(const zt_profiler *profiler, const zt__statistics *statistics);

/* Returns how the passes differ, as ZT_DIFFERS_ bits, judged by the GPU time of each. */
ZT__PRIVATE uint32_t zt__find_differences(const zt_profiler *profiler, const zt_stats *pass_times);

/* Returns the time of the samples on a path that is outside of regions inside it, or NaN if that is not
   known. Stores in `estimate`, unless that is NULL, the time outside of those samples inside that were
   collected. The mutex is held. */
ZT__PRIVATE double zt__get_own_time(const zt__path *path, double *estimate);

/* Adds up the paths of a region. The mutex is held. */
ZT__PRIVATE void zt__add_paths(const zt_profiler *profiler, const zt__region_record *record,
                               zt_region_info *info);

/* The mutex is held. */
ZT__PRIVATE void zt__add_bytes(const zt__region_record *record, zt_region_info *info);

/* Gets the statistics of one column of a layout of the profiler. Without memory, median and 95th percentile
   are NaN. */
ZT__PRIVATE ze_result_t zt__get_column(const zt_profiler *profiler, const char *call, uint32_t region,
                                       const zt__sample_layout *layout, uint32_t column, zt_stats *stats);

/* Removes figures of the launch latency that are smaller than its error: they may as well be 0. */
ZT__PRIVATE void zt__hide_uncertain(zt_stats *stats, double error_ns);

/* Returns the region with an index that is known to be valid. No mutex is held. */
ZT__PRIVATE const zt__region_record *zt__record_at(zt_profiler *profiler, uint32_t region);

/* Copies statistics with this layout, all of one moment. The copy is freed with zt__free_statistics. Returns
   0 without memory. */
ZT__PRIVATE int zt__copy_statistics(zt_profiler *profiler, const zt__sample_layout *layout,
                                    const zt__statistics *from, zt__statistics *copy);
