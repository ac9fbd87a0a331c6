/* Streams in a trace: their rows, gaps and markers. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "reports/trace_sink.h"
#include "results/timeline.h"

/* Begins an instant on a track. */
ZT__PRIVATE void zt__begin_instant(zt__trace_sink *sink, const char *name, const char *category,
                                   zt__trace_track track, uint64_t ns);

/* Writes an instant: how many of something are not shown as they are, and what to do. */
ZT__PRIVATE void zt__write_remark(zt__trace_sink *sink, const char *name, const char *category,
                                  zt__trace_track track, uint64_t ns, const char *what, uint64_t count,
                                  const char *remedy);

/* Reads an attached stream, and writes it: a track with its gaps and markers, and a counter for each chosen
   metric. `most` is how many values these may have. Returns 0 without memory. */
ZT__PRIVATE int zt__write_stream(zt__trace_sink *sink, zt__stream_data *data, int several, uint32_t most,
                                 zt__trace_track track);
