/* The table of benchmarks. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "base/writer.h"
#include "regions/profiler.h"

/* Writes of how many bursts the samples of results are, how far apart these lie, and what is set aside; nothing if there
   are no bursts. */
ZT__PRIVATE void zt__write_bursts_note(zt__writer *writer, const zt_bench_result *results, uint32_t count,
                                       size_t room);

/* Writes a table of results, `room` columns wide. Returns 0 without memory. */
ZT__PRIVATE int zt__write_bench_table(zt__writer *writer, const zt_profiler *profiler,
                                      const zt_bench_result *results, uint32_t count, size_t room);
