/* What a roofline needs, as program or driver state it: peaks of the device, operations of a region. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"

/* Returns the peaks that are given. Without any, the peak is the bandwidth for which the memory is designed, if
   the driver reports it by ZE_extension_device_memory_properties. It cannot be computed from the clock rate and
   bus width that every device reports: their units and the transfers in a clock cycle are not specified. Reads
   and writes are assumed to share one bus. With several memories or tiles it is not known which of them a region
   uses. The mutex is not held. */
ZT__PRIVATE zt__peaks zt__get_peaks(zt_profiler *profiler);
