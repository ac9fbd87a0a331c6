/* Threads of the device: numbers and patterns, which are stopped, and resuming them. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "debug/debugger.h"

#ifdef ZETOOLS_DEBUG

/* Called with the number of each stopped thread. */
typedef void (*zt__thread_fn)(void *user, uint32_t number);

ZT__PRIVATE ze_device_thread_t zt__to_device_thread(zt_debug_thread from);

ZT__PRIVATE zt_debug_thread zt__to_debug_thread(ze_device_thread_t from);

/* Returns the thread of the device that has this number, below `thread_count`. */
ZT__PRIVATE zt_debug_thread zt__get_debug_thread(const zt_debugger *debugger, uint32_t number);

/* Returns whether a pattern selects a thread of the device. */
ZT__PRIVATE int zt__selects(zt_debug_thread pattern, zt_debug_thread thread);

/* Records that a stop holds the selected threads, or no longer does: zt_debugger.held. */
ZT__PRIVATE void zt__set_held(zt_debugger *debugger, zt_debug_thread threads, int is_held);

/* Calls a function with each stopped one of the selected threads. The driver does not list them, so each
   thread is probed by reading a register, of the smallest that there are: this fails unless it is stopped. */
ZT__PRIVATE ze_result_t zt__each_stopped(zt_debugger *debugger, const char *call, zt_debug_thread threads,
                                         zt__thread_fn function, void *user);

/* Returns whether a stop covers a thread: one that holds it, or one that still waits for the answer. */
ZT__PRIVATE int zt__is_covered(const zt_debugger *debugger, uint32_t number);

/* Resumes threads. Returns SUCCESS if none was stopped. */
ZT__PRIVATE ze_result_t zt__resume(zt_debugger *debugger, ze_device_thread_t threads);

/* A zt__thread_fn. `user` is the debugger. Resumes a thread that no stop covers. */
ZT__PRIVATE void zt__resume_uncovered(void *user, uint32_t number);

#endif
