/* Launches and copies: which are measured, and how. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "tracer/frames.h"

#ifdef ZETOOLS_TRACER

/* Called before a command that signals an event is appended, and before the tracer chooses how to measure it.
   Saves what another launch has left in the event. */
ZT__PRIVATE void zt__save_stamps_before_signal(zt__frame *frame);

/* Called before a command that signals an event is appended, and after the tracer has chosen how to measure
   it. Counts its signal, unless the command is measured by that event. */
ZT__PRIVATE void zt__note_signal(zt__frame *frame);

ZT__PRIVATE void zt__before_command(zt__frame *frame);

#endif
