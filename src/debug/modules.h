/* Modules that the debugged process has loaded. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "debug/debugger.h"

#ifdef ZETOOLS_DEBUG

/* Compares by members: what is between them is not defined. */
ZT__PRIVATE int zt__is_same_place(const zet_debug_event_info_module_t *a,
                                  const zet_debug_event_info_module_t *b);

/* Records a module. Without memory, it is not known. */
ZT__PRIVATE void zt__add_debug_module(zt_debugger *debugger, const zet_debug_event_info_module_t *place);

#endif
