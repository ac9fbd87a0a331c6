/* Threads that are stopped in the middle of a kernel.
 *
 * A signal to the engine's thread alone interrupts it at any instruction. If that is one of a kernel, the
 * handler keeps the thread there, until it is resumed: what the signal's frame has of the thread's registers
 * is what a tool reads and writes. Where it is one of the device's own, nothing happens, and the signal is
 * sent again. An engine lets the signal through in all launches that begin while the device lets itself be
 * debugged, for a tool may come when a kernel hangs already.
 *
 * A page fault of a kernel stops its thread likewise. If it is resumed and has the same fault again, its
 * kernel is ended by a jump out of the handler. */
#define _GNU_SOURCE /* syscall */
#include "stop.h"
#include "signals.h"

#include <errno.h>
#include <linux/futex.h>
#include <setjmp.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
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
    if (is_in_kernel && !atomic_load(&engine->stop.is_killed) &&
        atomic_exchange(&engine->stop.is_asked, false))
        stop(&engine->stop, context);
    if (is_in_kernel && atomic_load(&engine->stop.is_killed))
        siglongjmp(engine->stop.end, 1);
}

/* ---- page faults ----------------------------------------------------------------------------------------- */

enum { FAULTS = 2 };
static const int fault_signals[FAULTS] = {SIGSEGV, SIGBUS};
static struct sigaction faults_before[FAULTS];

/* Any thread may be here, also one that has no thread-local memory of the device yet. */
SG_NOT_SANITIZED static sg_engine_thread *engine_here(void) {
    const pid_t number = (pid_t)syscall(SYS_gettid);
    for (uint32_t i = 0; i < SG_MAX_DEVICES; ++i)
        for (uint32_t k = 0; k < SG_ENGINES; ++k)
            if (sg_root_at(i)->engines[k].number == number)
                return &sg_root_at(i)->engines[k];
    return NULL;
}

/* To the program's own handler, as if it had been called. */
SG_NOT_SANITIZED static void forward(int number, siginfo_t *info, void *context) {
    const struct sigaction *before = &faults_before[number == SIGBUS];
    const ucontext_t *of = context;
    sigset_t mask;
    sigorset(&mask, &of->uc_sigmask, &before->sa_mask);
    if (!(before->sa_flags & SA_NODEFER))
        sigaddset(&mask, number);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    if (before->sa_flags & SA_SIGINFO) {
        before->sa_sigaction(number, info, context);
    } else if (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN) {
        before->sa_handler(number);
    } else if (before->sa_handler == SIG_DFL ||
               info->si_code > 0) { /* it comes again, and ends the process */
        const struct sigaction end = {.sa_handler = SIG_DFL};
        sg_sigaction(number, &end, NULL);
        if (info->si_code <= 0)
            syscall(SYS_tgkill, getpid(), (pid_t)syscall(SYS_gettid), number);
    }
}

SG_NOT_SANITIZED static void on_fault(int number, siginfo_t *info, void *context) {
    sg_engine_thread *engine = engine_here();
    uintptr_t at = sg_interrupted_at(context), address = (uintptr_t)info->si_addr;
    if (!engine || atomic_load(&engine->stop.state) != SG_IN_KERNEL || sg_is_own_code(at) ||
        (!atomic_load(&engine->root->tools) && !engine->stop.fault_at)) {
        forward(number, info, context);
        return;
    }
    sg_stop *own = &engine->stop;
    own->must_end = own->fault_at == at && own->fault_address == address;
    if (!own->must_end) {
        bool is_forbidden = number == SIGSEGV && info->si_code == SEGV_ACCERR;
        own->fault_at = at;
        own->fault_address = address;
        own->reason = is_forbidden ? ZET_DEBUG_PAGE_FAULT_REASON_PERMISSION_ERROR
                                   : ZET_DEBUG_PAGE_FAULT_REASON_MAPPING_ERROR;
        own->is_fault = true;
        stop(own, context);
    }
    if (own->must_end)
        siglongjmp(own->end, 1);
}

void sg_stop_hold_faults(void) {
    struct sigaction ours = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigfillset(&ours.sa_mask);
    for (int i = 0; i < FAULTS; ++i)
        sg_sigaction(fault_signals[i], &ours, &faults_before[i]);
}

/* A handler that the program has set meanwhile stays. */
void sg_stop_release_faults(void) {
    for (int i = 0; i < FAULTS; ++i) {
        struct sigaction now;
        if (!sg_sigaction(fault_signals[i], NULL, &now) && now.sa_flags & SA_SIGINFO &&
            now.sa_sigaction == on_fault)
            sg_sigaction(fault_signals[i], &faults_before[i], NULL);
    }
}

/* ---- the engine's part ----------------------------------------------------------------------------------- */

static void let_signals(int how) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, stops.number);
    for (int i = 0; i < FAULTS; ++i)
        sigaddset(&set, fault_signals[i]);
    pthread_sigmask(how, &set, NULL);
}

bool sg_stop_open(void) {
    sg_engine_thread *engine = sg_own_engine;
    if (!engine || !sg_signal_hold(&stops))
        return false;
    if (!engine->number)
        engine->number = (pid_t)syscall(SYS_gettid);
    let_signals(SIG_UNBLOCK);
    atomic_store(&engine->stop.state, SG_BETWEEN_GROUPS);
    return true;
}

void sg_stop_close(void) {
    sg_engine_thread *engine = sg_own_engine;
    atomic_store(&engine->stop.state, SG_OUTSIDE);
    atomic_store(&engine->stop.is_asked, false);
    let_signals(SIG_BLOCK);
    sg_signal_release(&stops);
    sg_agent_wake();
}

/* Nothing but the kernel is run in the state. */
SG_NOT_SANITIZED bool sg_stop_run(sg_device *tile, const softgpu_kernel *kernel, softgpu_group *group,
                                  void *const *values) {
    sg_stop *own = &sg_own_engine->stop;
    own->tile = tile;
    own->group = group;
    own->fault_at = own->fault_address = 0;
    bool has_ended = sigsetjmp(own->end, 0);
    if (!has_ended) {
        atomic_store(&own->state, SG_IN_KERNEL);
        kernel->run(group, values);
    }
    atomic_store(&own->state, SG_BETWEEN_GROUPS);
    if (has_ended)
        let_signals(SIG_UNBLOCK); /* as before the handler, which blocks all */
    return !has_ended;
}

/* ---- for the target -------------------------------------------------------------------------------------- */

void sg_stop_ask(sg_engine_thread *engine) {
    atomic_store(&engine->stop.is_asked, true);
    sg_signal_send(&stops, engine->number);
}

void sg_stop_withdraw(sg_engine_thread *engine) {
    atomic_store(&engine->stop.is_asked, false);
}

void sg_stop_resume(sg_engine_thread *engine) {
    engine->stop.is_wanted = engine->stop.is_fault = false;
    atomic_store(&engine->stop.state, SG_IN_KERNEL);
    syscall(SYS_futex, &engine->stop.state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void sg_stop_end(sg_engine_thread *engine) {
    engine->stop.must_end = true;
    sg_stop_resume(engine);
}

/* Between two work-groups the engine sees by itself that its device is lost. */
void sg_stop_kill(sg_engine_thread *engine) {
    atomic_store(&engine->stop.is_killed, true);
    while (atomic_load(&engine->stop.state) != SG_OUTSIDE) {
        if (atomic_load(&engine->stop.state) == SG_STOPPED)
            sg_stop_end(engine); /* maybe by a fault that no tool has heard of */
        sg_signal_send(&stops, engine->number);
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    }
    atomic_store(&engine->stop.is_killed, false);
}

SG_NOT_SANITIZED uint8_t *sg_stop_local(const sg_engine_thread *engine, uint32_t *size) {
    *size = engine->stop.group->local_used;
    return engine->stop.group->local;
}
