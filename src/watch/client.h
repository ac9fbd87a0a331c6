/* Starts the helper of a watch, and asks it, or the debugger of this process. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "watch/server.h"
#include "watch/watch.h"

#ifdef ZETOOLS_DEBUG

/* Serves a request in this process or in the helper, which may take `timeout_ns`. Returns 0 if the helper
   does not answer. */
ZT__PRIVATE int zt__ask(zt__watch *watch, const zt__watch_request *request, uint64_t timeout_ns);

/* Ends debugging. Threads that are stopped are resumed. */
ZT__PRIVATE void zt__end_debugging(zt__watch *watch, const char *reason);

/* Attaches, in this process or in a helper, and records which. */
ZT__PRIVATE void zt__begin_debugging(zt__watch *watch);

#endif
