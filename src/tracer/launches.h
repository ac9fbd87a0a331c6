/* Launches and copies: which are measured, and how. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "tracer/frames.h"

#ifdef ZETOOLS_TRACER

ZT__PRIVATE void zt__before_command(zt__frame *frame);

#endif
