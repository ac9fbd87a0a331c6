/* Where GPU time, metrics, tiles, passes and latencies are in the row of a sample. Not the columns of reports. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"

/* Returns the column of the GPU time of samples with the metrics of a pass; that of all samples where no metrics
   are measured. */
ZT__PRIVATE uint32_t zt__pass_time_column(const zt_profiler *profiler, uint32_t pass);

ZT__PRIVATE uint32_t zt__tile_column(const zt_profiler *profiler, uint32_t tile, uint32_t metric);

ZT__PRIVATE uint32_t zt__latency_column(const zt_profiler *profiler, uint32_t latency);

/* Sets the layout of a row. The metrics, passes and tiles are known. Returns 0 without memory. */
ZT__PRIVATE int zt__lay_out_columns(zt_profiler *profiler);
