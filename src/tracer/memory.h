/* Calls that allocate and free memory of a device. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "tracer/frames.h"
#include "tracer/tracer.h"

#ifdef ZETOOLS_TRACER

/* The most allocations that are known at once. Tests lower it. */
#ifndef ZT__MAX_ALLOCATIONS
#define ZT__MAX_ALLOCATIONS 1048576u
#endif

/* Steps of calls; see ZT__KINDS. */
ZT__PRIVATE void zt__after_allocation(zt__frame *frame);

ZT__PRIVATE void zt__before_free(zt__frame *frame);

ZT__PRIVATE void zt__after_free(zt__frame *frame);

ZT__PRIVATE void zt__after_context_destroy(zt__frame *frame);

/* Called before a context is destroyed, with all that was allocated in it. */
ZT__PRIVATE void zt__note_context_destroy(zt__tracer *tracer, ze_context_handle_t context);

#endif
