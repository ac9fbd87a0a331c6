/* How a watch debugs: by the debugger of this process, or by a helper process that is started here. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "watch/server.h"
#include "watch/watch.h"

#ifdef ZETOOLS_DEBUG

/* Has a request served in this process, or in the helper, and stores the answer in `watch->answer`. Returns 0
   if the helper does not answer within `timeout_ns`. */
ZT__PRIVATE int zt__request_answer(zt__watch *watch, const zt__watch_request *request, uint64_t timeout_ns);

/* Attaches, in this process or else in a helper, and records which, or why neither can. */
ZT__PRIVATE void zt__begin_debugging(zt__watch *watch);

/* Ends debugging, and records the reason. Threads that are stopped are resumed. */
ZT__PRIVATE void zt__end_debugging(zt__watch *watch, const char *reason);

#endif
