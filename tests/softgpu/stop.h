/* Threads that are stopped in the middle of a kernel: for the engines (module.c) and for target.c. */
#ifndef SOFTGPU_STOP_H
#define SOFTGPU_STOP_H

#include "debug.h"

#pragma GCC visibility push(hidden)

/* ---- for the engines ------------------------------------------------------------------------------------- */

/* On an engine's thread, from here to sg_stop_close() it can be stopped in kernels. False: it cannot. */
bool sg_stop_open(void);
void sg_stop_close(void);

/* A work-group that can be stopped. False: it had a page fault, which nobody has mended, and does not go on.
 */
bool sg_stop_run(sg_device *tile, const softgpu_kernel *kernel, softgpu_group *group, void *const *values);

/* ---- for the target -------------------------------------------------------------------------------------- */

/* Asks an engine to stop where it is, if that is in a kernel; it may have to be asked again. It says so by
 * sg_agent_wake(). */
void sg_stop_ask(sg_engine_thread *engine);

/* It no longer has to. It may have stopped all the same. */
void sg_stop_withdraw(sg_engine_thread *engine);

void sg_stop_resume(sg_engine_thread *engine);

/* One that has stopped by a page fault does not go on. */
void sg_stop_end(sg_engine_thread *engine);

/* A kernel ends where it is, because the device is lost. Waits for that. */
void sg_stop_kill(sg_engine_thread *engine);

/* From hold to release, page faults of kernels stop their threads, on devices with tools; those of the
 * program itself go to its own handler. */
void sg_stop_hold_faults(void);
void sg_stop_release_faults(void);

/* The local memory of a stopped work-group, as far as it has declared any. */
uint8_t *sg_stop_local(const sg_engine_thread *engine, uint32_t *size);

/* ---- registers of a stopped thread ------------------------------------------------------------------------ */

/* How many bytes these registers are. INVALID_ARGUMENT: there are none such, or they cannot be written. */
ze_result_t sg_registers_check(uint32_t type, uint32_t start, uint32_t count, bool is_write, size_t *bytes);

/* Those that were checked. */
void sg_registers_access(sg_engine_thread *engine, uint32_t type, uint32_t start, uint32_t count,
                         uint8_t *values, bool is_write);

/* ---- the agent: a thread of the target ------------------------------------------------------------------- */

/* Starts it, where it does not run yet. */
bool sg_agent_start(void);

/* Tools in other processes may attach. */
void sg_agent_listen(void);
void sg_agent_end(void);

/* It shall look what there is to do. From signal handlers too. */
void sg_agent_wake(void);

/* On its thread: does what there is to do. Returns whether it has to be called again soon. */
bool sg_target_step(void);

/* In a forked child. */
void sg_target_forked(void);

#pragma GCC visibility pop

#endif
