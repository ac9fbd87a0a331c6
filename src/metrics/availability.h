/* Why counters are not available. */

#pragma once

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/shared.h"
#include "base/system.h"

/* What counters are wanted for. */
typedef enum zt__counter_use { ZT__FOR_REGIONS, ZT__FOR_STREAM, ZT__FOR_INSTRUCTIONS } zt__counter_use;

/* The profiler, stream or process that uses counters, as text for a message. */
typedef struct zt__counter_holder {
    char text[ZET_MAX_METRIC_GROUP_NAME + 128];
} zt__counter_holder;

ZT__PRIVATE void zt__describe_holder(const zt__active_group *active, zt__counter_holder *holder);

/* Returns whether two devices have counters in common: they are the same, or one is a tile of the other. */
ZT__PRIVATE int zt__share_counters(ze_device_handle_t a, ze_device_handle_t b);

/* Reports why counters are not available, and what to do. `holder` names who uses them; if it is NULL or
   empty, the holder is looked up. `diagnostics` may be NULL. */
ZT__PRIVATE zt_availability zt__report_refusal(zt__diagnostics *diagnostics, ze_device_handle_t device,
                                               zt__counter_use use, ze_result_t result, const char *call,
                                               const zt__counter_holder *holder);
