/* The groups that a configuration requests, and which of them are measured together. */

#pragma once

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/system.h"
#include "metrics/driver.h"
#include "metrics/groups.h"

/* The groups that a profiler measures, in the order of their passes. */
typedef struct zt__selection {
    uint32_t group_count, pass_count;
    uint32_t metric_count; /* of all groups */
    zt__group groups[ZT__MAX_GROUPS];
    uint32_t pass_sizes[ZT__MAX_PASSES]; /* number of groups in each pass */
} zt__selection;

ZT__PRIVATE void zt__free_selection(const zt_allocator *allocator, zt__selection *selection);

/* Selects the groups that a configuration requests, and plans their passes. If it requests none, returns
   SUCCESS with no groups and ZT_TIMES_BY_CHOICE, and reports nothing. On failure `availability` is the
   reason, the message was reported, and nothing is left allocated. */
ZT__PRIVATE ze_result_t zt__select_groups(const zt_allocator *allocator, zt__diagnostics *diagnostics,
                                          const zt__driver *driver, ze_device_handle_t device,
                                          const zt_config *config, zt__selection *selection,
                                          zt_availability *availability);

/* Finds the group that has the most of the wanted metrics, among the usable groups of the device that are not
   selected.
   lists    for each wanted metric its names, separated by commas
   weights  for each how much it counts; 0: it is not wanted
   found    receives for each which of its names the group has, from 1; 0: none
   name     receives the name of the group
   count    at most ZT__MAX_REQUESTED_METRICS
   Returns 0 if no group has any. */
ZT__PRIVATE int zt__find_other_group(zt__diagnostics *diagnostics, const zt_allocator *allocator,
                                     const zt__driver *driver, ze_device_handle_t device,
                                     const zt__selection *selection, const char *const *lists,
                                     const uint32_t *weights, uint32_t count, uint8_t *found,
                                     char name[ZET_MAX_METRIC_GROUP_NAME]);
