/* The threads of the application begin and end phases. */

#pragma once

#include "base/compiler.h"
#include "regions/profiler.h"

/* From now on phases are reported to a profiler. No mutex is held. */
ZT__PRIVATE void zt__start_listening(zt_profiler *profiler);

/* From now on they are not. Returns 0, and changes nothing, if a thread that reports one does not return within 2
   seconds from the log function of the application. No mutex is held. */
ZT__PRIVATE int zt__stop_listening(zt_profiler *profiler);
