/* Events of a debug session: reading, acknowledging, delivering. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "debug/debugger.h"

#ifdef ZETOOLS_DEBUG

/* Reads an event, records what it means, and queues it. Waits up to `milliseconds` for it. Returns NOT_READY
   if there is none, or no room for it. */
ZT__PRIVATE ze_result_t zt__read_event(zt_debugger *debugger, const char *call, uint64_t milliseconds);

/* Returns for how many milliseconds a thread may wait in the driver, with `session` held: until the deadline,
   but no longer than ZT__DEBUG_POLL_MS, and not at all if other threads want the session. */
ZT__PRIVATE uint64_t zt__event_wait_ms(const zt_debugger *debugger, uint64_t deadline);

/* Reads all events that the device has reported so far. Returns NOT_AVAILABLE, and reports it, if the session
   is over. `session` is held. */
ZT__PRIVATE ze_result_t zt__read_events(zt_debugger *debugger, const char *call);

/* Reports a call of the driver about threads, which returns NOT_AVAILABLE if they are not stopped, or if the
   session is over. `session` is held. */
ZT__PRIVATE ze_result_t zt__check_access(zt_debugger *debugger, ze_result_t result, const char *call,
                                         const char *driver_call, const char *remedy);

/* Acknowledges what waits to be delivered, or could not be acknowledged before. */
ZT__PRIVATE void zt__acknowledge_all(zt_debugger *debugger);

#endif
