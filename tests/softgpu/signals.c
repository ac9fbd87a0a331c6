/* Signals to the engines' threads. */
#define _GNU_SOURCE /* REG_RIP */
#include "signals.h"

#include <dlfcn.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

extern const char __ehdr_start[], etext[]; /* by the linker: the device's own code */

SG_NOT_SANITIZED bool sg_is_own_code(uintptr_t address) {
    return address >= (uintptr_t)__ehdr_start && address < (uintptr_t)etext;
}

SG_NOT_SANITIZED uintptr_t sg_interrupted_at(const void *context) {
    const ucontext_t *of = context;
#if defined(__x86_64__)
    return (uintptr_t)of->uc_mcontext.gregs[REG_RIP];
#elif defined(__i386__)
    return (uintptr_t)of->uc_mcontext.gregs[REG_EIP];
#elif defined(__aarch64__)
    return (uintptr_t)of->uc_mcontext.pc;
#else
    (void)of;
    return 0; /* nobody knows, on this processor */
#endif
}

int sg_sigaction(int number, const struct sigaction *set, struct sigaction *before) {
    int (*own)(int, const struct sigaction *, struct sigaction *) = NULL;
#ifdef __SANITIZE_THREAD__
    void *library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    if (library) {
        *(void **)&own = dlsym(library, "sigaction");
        dlclose(library);
    }
#endif
    return own ? own(number, set, before) : sigaction(number, set, before);
}

static int set_action(const sg_signal *of, const struct sigaction *set, struct sigaction *before) {
    return of->is_immediate ? sg_sigaction(of->number, set, before) : sigaction(of->number, set, before);
}

/* Is its handler still ours, and not one that the application has set meanwhile? With the lock held. */
static bool is_ours(const sg_signal *held) {
    struct sigaction now;
    return !set_action(held, NULL, &now) && now.sa_flags & SA_SIGINFO && now.sa_sigaction == held->handler;
}

bool sg_signal_send(sg_signal *held, pid_t thread) {
    pthread_mutex_lock(&held->lock);
    bool is_sent =
        held->holders > 0 && is_ours(held) && syscall(SYS_tgkill, getpid(), thread, held->number) == 0;
    pthread_mutex_unlock(&held->lock);
    return is_sent;
}

/* The last real-time signal that nobody handles, and that the calling thread does not block: where it does,
 * somebody may be waiting for it. 0: there is none. */
static int find_signal(const sigset_t *blocked) {
    struct sigaction now;
    for (int number = SIGRTMAX; number >= SIGRTMIN; --number)
        if (!sigismember(blocked, number) && !sg_sigaction(number, NULL, &now) &&
            !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL)
            return number;
    return 0;
}

static bool install_handler(sg_signal *held) {
    struct sigaction ours = {.sa_sigaction = held->handler, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigset_t none, blocked;
    sigemptyset(&none);
    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    sigfillset(&ours.sa_mask);
    held->number = find_signal(&blocked);
    if (!held->number) /* a thread that blocks them all */
        held->number = find_signal(&none);
    return held->number && !set_action(held, &ours, &held->before);
}

/* A forked child has its parent's handler, but none of those who hold the signal. */
bool sg_signal_hold(sg_signal *held) {
    pthread_mutex_lock(&held->lock);
    if (held->process != getpid())
        held->holders = 0;
    held->process = getpid();
    bool is_held = held->holders > 0 || install_handler(held);
    held->holders += is_held;
    pthread_mutex_unlock(&held->lock);
    return is_held;
}

/* A handler that the application has set meanwhile is the application's. */
void sg_signal_release(sg_signal *held) {
    pthread_mutex_lock(&held->lock);
    if (--held->holders == 0 && is_ours(held))
        set_action(held, &held->before, NULL);
    pthread_mutex_unlock(&held->lock);
}

void sg_signal_let(const sg_signal *held, int how) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, held->number);
    pthread_sigmask(how, &set, NULL);
}
