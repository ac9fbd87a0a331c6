/* The threads of the application begin and end phases. */

#pragma once

#include "base/compiler.h"
#include "regions/profiler.h"

/* From now on phases are reported to a profiler, until it is unregistered. No mutex is held. */
ZT__PRIVATE void zt__start_listening(zt_profiler *profiler);
