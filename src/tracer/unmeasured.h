/* Why launches are not measured, or overlap with nothing: by cause, in counts and sentences. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "tracer/tracer.h"

#ifdef ZETOOLS_TRACER

/* Stores the names of the causes in counts that are zeroed. */
ZT__PRIVATE void zt__name_causes(zt_trace_counts *counts);

/* Counts a launch that is not measured. The mutex is held. */
ZT__PRIVATE void zt__count_unmeasured(zt__tracer *tracer, zt_unmeasured cause);

/* Counts a launch by another cause than before. The mutex is held. */
ZT__PRIVATE void zt__change_cause(zt__tracer *tracer, zt_unmeasured from, zt_unmeasured to);

/* Counts a launch that is measured, and overlaps with nothing. The mutex is held. */
ZT__PRIVATE void zt__count_serialised(zt__tracer *tracer, zt_serialised cause);

/* Write the sentence of a cause: how many launches, why, and what to do. Return whether there are any. */
ZT__PRIVATE int zt__describe_unmeasured(const zt_trace_counts *counts, zt_unmeasured cause, char *text,
                                        size_t room);

ZT__PRIVATE int zt__describe_serialised(const zt_trace_counts *counts, zt_serialised cause, char *text,
                                        size_t room);

#endif
