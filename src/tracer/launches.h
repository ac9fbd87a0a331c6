/* Launches and copies: which are measured, and how. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "tracer/frames.h"

#ifdef ZETOOLS_TRACER

/* Called before a launch, a copy, a barrier or another command that signals an event is appended. Decides
   whether and how it is measured, and begins its region. */
ZT__PRIVATE void zt__before_command(zt__frame *frame);

/* Called after the call: signals the event of the application that was replaced by one of the library, or the one
   of the library that shows the end of the launch. */
ZT__PRIVATE void zt__signal_after_launch(zt__frame *frame, ze_result_t result);

#endif
