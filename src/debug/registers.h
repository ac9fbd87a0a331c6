/* Registers of threads of the device. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "debug/debugger.h"

#ifdef ZETOOLS_DEBUG

/* Loads the register sets of the device. Sets with implausible sizes, and second ones of a type, are left
   out. */
ZT__PRIVATE ze_result_t zt__load_register_sets(zt_debugger *debugger);

/* Returns the set of a space, of which an access covers whole registers. Returns NULL, and reports
   INVALID_ARGUMENT, if there is none, or it permits no such access. */
ZT__PRIVATE const zt_debug_registers *zt__find_space(zt_debugger *debugger, const char *call, uint32_t space,
                                                     uint64_t address, size_t size, int is_write);

/* Reads or writes registers of a set. `session` is held, and its events are read. */
ZT__PRIVATE ze_result_t zt__access_registers(zt_debugger *debugger, const char *call, zt_debug_thread thread,
                                             const zt_debug_registers *set, uint32_t first, uint32_t count,
                                             void *values, int is_write);

/* Reads the address of the instruction at which a thread is stopped; 0 if the device lacks a register for
   that. `session` is held, and its events are read. */
ZT__PRIVATE ze_result_t zt__read_address(zt_debugger *debugger, const char *call, zt_debug_thread thread,
                                         uint64_t *address);

#endif
