/* run.pftrace: a trace in Perfetto's own format. */

#pragma once

#include "base/compiler.h"
#include "reports/trace_sink.h"

extern const zt__trace_format zt__perfetto_packets;
