/* Threads that are stopped in the middle of a kernel.
 *
 * A signal to the engine's thread alone interrupts it at any instruction. If that is one of a kernel, the
 * handler keeps the thread there, until it is resumed: what the signal's frame has of the thread's registers
 * is what a tool reads and writes. Where it is one of the device's own, nothing happens, and the signal is
 * sent again. An engine lets the signal through in all launches that begin while the device lets itself be
 * debugged, for a tool may come when a kernel hangs already. */
#define _GNU_SOURCE /* syscall */
#include "stop.h"
#include "signals.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

static void on_signal(int number, siginfo_t *info, void *context);

static sg_signal stops = {.handler = on_signal, .is_immediate = true, .lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- on the engine's thread ------------------------------------------------------------------------------ */

/* While the state is STOPPED, the thread is here. */
SG_NOT_SANITIZED static void stop(sg_stop *own, void *context) {
    int error = errno;
    own->context = context;
    atomic_store(&own->state, SG_STOPPED);
    sg_agent_wake();
    while (atomic_load(&own->state) == SG_STOPPED)
        syscall(SYS_futex, &own->state, FUTEX_WAIT_PRIVATE, SG_STOPPED, NULL, NULL, 0);
    errno = error;
}

SG_NOT_SANITIZED static void on_signal(int number, siginfo_t *info, void *context) {
    (void)number;
    (void)info;
    sg_engine_thread *engine = sg_own_engine;
    bool is_in_kernel = engine && atomic_load(&engine->stop.state) == SG_IN_KERNEL &&
                        !sg_is_own_code(sg_interrupted_at(context));
    if (is_in_kernel && atomic_exchange(&engine->stop.is_asked, false))
        stop(&engine->stop, context);
}

bool sg_stop_open(void) {
    sg_engine_thread *engine = sg_own_engine;
    if (!engine || !sg_signal_hold(&stops))
        return false;
    if (!engine->number)
        engine->number = (pid_t)syscall(SYS_gettid);
    sg_signal_let(&stops, SIG_UNBLOCK);
    atomic_store(&engine->stop.state, SG_BETWEEN_GROUPS);
    return true;
}

void sg_stop_close(void) {
    sg_engine_thread *engine = sg_own_engine;
    atomic_store(&engine->stop.state, SG_OUTSIDE);
    atomic_store(&engine->stop.is_asked, false);
    sg_signal_let(&stops, SIG_BLOCK);
    sg_signal_release(&stops);
    sg_agent_wake();
}

/* Nothing but the kernel is run in the state. */
SG_NOT_SANITIZED void sg_stop_run(sg_device *tile, const softgpu_kernel *kernel, softgpu_group *group,
                                  void *const *values) {
    sg_stop *own = &sg_own_engine->stop;
    own->tile = tile;
    own->group = group;
    atomic_store(&own->state, SG_IN_KERNEL);
    kernel->run(group, values);
    atomic_store(&own->state, SG_BETWEEN_GROUPS);
}

/* ---- for the target -------------------------------------------------------------------------------------- */

void sg_stop_ask(sg_engine_thread *engine) {
    atomic_store(&engine->stop.is_asked, true);
    if (sg_signal_is_ours(&stops))
        syscall(SYS_tgkill, getpid(), engine->number, stops.number);
}

void sg_stop_withdraw(sg_engine_thread *engine) {
    atomic_store(&engine->stop.is_asked, false);
}

void sg_stop_resume(sg_engine_thread *engine) {
    engine->stop.is_wanted = false;
    atomic_store(&engine->stop.state, SG_IN_KERNEL);
    syscall(SYS_futex, &engine->stop.state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

SG_NOT_SANITIZED uint8_t *sg_stop_local(const sg_engine_thread *engine, uint32_t *size) {
    *size = engine->stop.group->local_used;
    return engine->stop.group->local;
}
