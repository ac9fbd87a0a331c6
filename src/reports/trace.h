/* run.trace.json and run.pftrace: the timeline for Chrome and Perfetto. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "reports/facts.h"

/* Writes the whole trace: the program, with a slice for each call; the device; and the attached streams. */
ZT__PRIVATE void zt__write_trace(zt__document *document);
