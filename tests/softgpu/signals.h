/* Signals to the engines' threads: what sampling.c and stop.c share. Such a signal is a real-time signal that
 * nobody had a handler for. Those who send or take it hold it; its handler is gone when nobody does. */
#ifndef SOFTGPU_SIGNALS_H
#define SOFTGPU_SIGNALS_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#pragma GCC visibility push(hidden)

/* For handlers that run in the middle of anything, ThreadSanitizer included. */
#define SG_NOT_SANITIZED __attribute__((no_sanitize("thread")))

typedef struct sg_signal {
    void (*handler)(int number, siginfo_t *info, void *context);
    bool is_immediate; /* not delayed by ThreadSanitizer: the handler is SG_NOT_SANITIZED */
    pthread_mutex_t lock;
    pid_t process;
    uint32_t holders;
    int number;
    struct sigaction before;
} sg_signal;

/* False: there is no signal left. */
bool sg_signal_hold(sg_signal *held);
void sg_signal_release(sg_signal *held);

/* Interrupts a thread of this process. False: nobody holds the signal, or the application has set a handler of
 * its own meanwhile. */
bool sg_signal_send(sg_signal *held, pid_t thread);

/* SIG_BLOCK or SIG_UNBLOCK, for the calling thread. */
void sg_signal_let(const sg_signal *held, int how);

/* sigaction(), around ThreadSanitizer's. */
int sg_sigaction(int number, const struct sigaction *set, struct sigaction *before);

/* Of a handler's context: the instruction; and is it one of the device's own? */
uintptr_t sg_interrupted_at(const void *context);
bool sg_is_own_code(uintptr_t address);

#pragma GCC visibility pop

#endif
