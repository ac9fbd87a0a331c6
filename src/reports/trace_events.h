/* run.trace.json: a trace in the Trace Event format, for Chrome. */

#pragma once

#include "base/compiler.h"
#include "reports/trace_sink.h"

extern const zt__trace_format zt__trace_events;
