/* Events of the application that measure a launch: their stamps are read before the event changes. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"

/* What changes an event of the application that a slot keeps, other than its launch. */
typedef enum zt__event_change {
    ZT__EVENT_RESET,     /* by the host */
    ZT__EVENT_SIGNALLED, /* by the host or another command, or reset by a command */
    ZT__EVENT_ENDS       /* it is destroyed, or nobody observes it any more */
} zt__event_change;

/* Called before an event of the application that a slot keeps is changed. If the launch has signalled it, saves
   its time stamps. Unless the host resets the event, the slot no longer keeps it, and the sample is lost if no
   time stamps were saved. But where they are copied in a recorded list, the slot keeps the event until it ends,
   for zt__note_earlier_signals. Returns whether the launch may still signal it. No mutex is held. */
ZT__PRIVATE int zt__save_kept_stamps(zt_profiler *profiler, zt__slot *slot, ze_event_handle_t event,
                                     zt__event_change change);

/* Called before a list is executed: queries which of the events that its slots keep have signalled already,
   and with which time stamps. A copy of the time stamps of such an event does not wait for the launch. An event
   whose time stamps are copied, and that is no longer kept, may have signalled, too. */
ZT__PRIVATE void zt__note_earlier_signals(zt_profiler *profiler, ze_command_list_handle_t handle);
