/* The metric groups of a device and their metrics: look-up and listing. */

#pragma once

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/system.h"
#include "metrics/driver.h"

/* All metric groups that a device lists. */
typedef struct zt__catalog {
    uint32_t count;
    zet_metric_group_handle_t *handles;
    zet_metric_group_properties_t *properties;
    uint8_t *samples_instructions; /* not 0: the rows of the group are for addresses of code, not for periods,
                                      so the library cannot use it */
} zt__catalog;

/* A group that is measured. Its metrics are consecutive among those of the profiler. */
typedef struct zt__group {
    zet_metric_group_handle_t handle;
    zet_metric_group_properties_t properties;
    zet_metric_properties_t *metrics;
    uint32_t metric_count;
    uint32_t first_metric; /* index among the metrics of the profiler */
    uint32_t tiles;        /* sets of values in a report: one for each tile of a root device, if the driver
                              can calculate several; else 1 */
    size_t report_size;    /* in bytes; 0 until the first report was read */
} zt__group;

ZT__PRIVATE void zt__close_catalog(const zt_allocator *allocator, zt__catalog *catalog);

/* Lists a device's groups. Enables metrics if they are disabled and the driver can enable them at run time.
   On failure `*call` is the call that failed, and nothing is left allocated. */
ZT__PRIVATE ze_result_t zt__open_catalog(const zt_allocator *allocator, const zt__driver *driver,
                                         ze_device_handle_t device, zt__catalog *catalog, const char **call);

/* Returns whether the library can use a group of the catalog by this sampling type. */
ZT__PRIVATE int zt__is_usable_group(const zt__catalog *catalog, uint32_t index,
                                    zet_metric_group_sampling_type_flags_t type);

/* Returns the index of the first usable group with this name, or of the first one if `name` is NULL;
   UINT32_MAX if there is none. The sampling type is needed because a device lists most groups twice, once for
   each type. */
ZT__PRIVATE uint32_t zt__find_group(const zt__catalog *catalog, const char *name, size_t length,
                                    zet_metric_group_sampling_type_flags_t type);

/* Returns whether the device has event-based groups. Without its metric libraries the driver lists no group,
   or only those that sample instructions. */
ZT__PRIVATE int zt__has_counters(const zt__catalog *catalog);

/* Reports that there is no such group, with the nearest names, or that it samples instructions. Returns
   INVALID_ARGUMENT. */
ZT__PRIVATE ze_result_t zt__report_no_group(zt__diagnostics *diagnostics, const char *call,
                                            const zt__catalog *catalog, const char *name, size_t length,
                                            zet_metric_group_sampling_type_flags_t type);

ZT__PRIVATE void zt__free_group(const zt_allocator *allocator, zt__group *group);

/* Reads the properties of a group's metrics. On failure `*call` is the call that failed, and the caller frees
   the group. */
ZT__PRIVATE ze_result_t zt__load_metrics(const zt_allocator *allocator, zt__group *group, const char **call);

ZT__PRIVATE const char *zt__aggregation_name(zt_aggregation aggregation);

ZT__PRIVATE const char *zt__metric_type_name(int type);

/* Fills in the public description of a metric, in pass 0. Its strings are those of the group. */
ZT__PRIVATE void zt__describe_metric(const zt__group *group, uint32_t index, zt_metric *metric);

/* Returns a value as a number, or NaN. Drivers may return a value of another type than that of its metric. */
ZT__PRIVATE double zt__value_of(const zet_typed_value_t *value);
