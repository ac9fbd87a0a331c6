/* Where GPU time, metrics, tiles, passes and latencies are in the row of a sample. Not the columns of reports. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"

/* How long a region or a launch waits before it runs: ZT_QUEUE_LATENCY and ZT_LAUNCH_LATENCY. */
typedef enum zt__latency { ZT__QUEUE_LATENCY, ZT__LAUNCH_LATENCY, ZT__LATENCY_COUNT } zt__latency;

/* Returns the column of the GPU time of samples with the metrics of a pass; that of all samples where no metrics
   are measured. */
ZT__PRIVATE uint32_t zt__pass_time_column(const zt_profiler *profiler, uint32_t pass);

ZT__PRIVATE uint32_t zt__tile_column(const zt_profiler *profiler, uint32_t tile, uint32_t metric);

ZT__PRIVATE uint32_t zt__latency_column(const zt_profiler *profiler, uint32_t latency);

/* Returns the column of the GPU time of the samples that have a column; UINT32_MAX for those of times. */
ZT__PRIVATE uint32_t zt__time_column(const zt_profiler *profiler, uint32_t column);

/* Sets the layout of a row. The metrics, passes and tiles are known. Returns 0 without memory. */
ZT__PRIVATE int zt__lay_out_columns(zt_profiler *profiler);
