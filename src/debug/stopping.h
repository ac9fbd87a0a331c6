/* zt_debug_stop, zt_debug_resume, zt_debug_threads. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "debug/debugger.h"

#ifdef ZETOOLS_DEBUG

/* Reports a call of the driver about threads, which returns NOT_AVAILABLE if they are not stopped, or if the
   session is over. `session` is held. */
ZT__PRIVATE ze_result_t zt__check_access(zt_debugger *debugger, ze_result_t result, const char *call,
                                         const char *driver_call, const char *remedy);

#endif
