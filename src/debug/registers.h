/* Registers of threads of the device. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "debug/debugger.h"

#ifdef ZETOOLS_DEBUG

/* Loads the register sets of the device. Sets with implausible sizes, and second ones of a type, are left
   out. */
ZT__PRIVATE ze_result_t zt__load_register_sets(zt_debugger *debugger);

#endif
