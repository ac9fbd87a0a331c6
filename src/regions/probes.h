/* Making probes, and what they have of the device. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"

/* No mutex is held in any of this. */

ZT__PRIVATE void zt__destroy_block(zt_profiler *profiler, zt__probe_block *block);

/* Resets the event and the queries of a probe. On failure, `*call` is the call that failed. */
ZT__PRIVATE ze_result_t zt__reset_probe(zt_profiler *profiler, zt__probe *probe, const char **call);

/* Makes one more block of probes for a pass. On failure, `*call` is the call that failed. If there are
   config.max_probes already, returns OUT_OF_DEVICE_MEMORY with `*call` NULL. */
ZT__PRIVATE ze_result_t zt__make_probes(zt_profiler *profiler, zt__pass *pass, const char **call);

/* Reads the kernel time stamps of an event that has signalled. Those of tiles, which run at the same time, are
   combined into those of the whole. */
ZT__PRIVATE ze_result_t zt__query_kernel_stamps(const zt_profiler *profiler, ze_event_handle_t event,
                                                zt__sample_times *times, const char **call);

/* Of regions: queries or time stamps, appended before and after the work. */
extern const zt__way zt__by_commands;
