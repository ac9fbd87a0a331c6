/* From a query's raw data to the values of metrics. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "metrics/driver.h"
#include "metrics/groups.h"

/* Calculates `count` reports of one group, which follow each other in `raw`. For each report, `values` has
   room for the metrics of each tile. The mutex of the process is locked, because drivers cannot calculate on
   two threads at once, not even different groups. */
ZT__PRIVATE ze_result_t zt__calculate_reports(const zt__driver *driver, const zt__group *group,
                                              const uint8_t *raw, uint32_t count, zet_typed_value_t *values);

/* Reads a value as an integer, which may have more bits than a double. Returns 0 if the group has no such
   metric, or the value is no number. */
ZT__PRIVATE int zt__read_integer(const zet_typed_value_t *values, uint32_t metric, uint64_t *integer);
