/* zt_get_metric, zt_find_metric and zt_get_stats: what the parameter `metric` stands for. */

#pragma once

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/system.h"
#include "base/text.h"

/* Returns the index of a metric by its name, which is at the index in `metrics`. If there is none, returns UINT32_MAX
   and reports the nearest names, which are also stored in `nearest` unless that is NULL. */
ZT__PRIVATE uint32_t zt__find_metric(zt__diagnostics *diagnostics, const char *call, const void *metrics,
                                     zt__name_fn name_at, uint32_t count, const char *name,
                                     zt__nearest *nearest);

/* For zt__find_metric in an array of zt_metric. */
ZT__PRIVATE const char *zt__name_of_metric(const void *metrics, uint32_t index);
