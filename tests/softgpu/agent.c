/* Program debug: the thread of a process that is debugged, which does what no other thread is there for. */
#define _GNU_SOURCE /* ppoll */
#include "signals.h"
#include "stop.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SOON = 200000 }; /* nanoseconds until a thread is asked again to stop */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t thread;
static pid_t process; /* in which it runs */
static _Atomic bool is_ending;
static _Atomic int wake = -1; /* an eventfd */

/* The descriptor is never closed: a handler may be about to write. */
SG_NOT_SANITIZED void sg_agent_wake(void) {
    const uint64_t one = 1;
    int to = atomic_load_explicit(&wake, memory_order_relaxed);
    if (to >= 0 && syscall(SYS_write, to, &one, sizeof one) < 0)
        return; /* it is awake */
}

static void *run(void *argument) {
    int from = atomic_load(&wake);
    (void)argument;
    while (!atomic_load(&is_ending)) {
        uint64_t count;
        bool again = sg_target_step();
        struct pollfd waited = {.fd = from, .events = POLLIN};
        ppoll(&waited, 1, again ? &(struct timespec){.tv_nsec = SOON} : NULL, NULL);
        if (read(from, &count, sizeof count) < 0)
            continue; /* nobody has called */
    }
    return NULL;
}

bool sg_agent_start(void) {
    pthread_mutex_lock(&lock);
    bool is_there = process == getpid();
    if (!is_there) { /* the descriptor of a parent is the parent's */
        int made = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
        atomic_store(&wake, made);
        atomic_store(&is_ending, false);
        is_there = made >= 0 && sg_thread_start(&thread, run, NULL);
        process = is_there ? getpid() : 0;
    }
    pthread_mutex_unlock(&lock);
    return is_there;
}

void sg_agent_end(void) {
    pthread_mutex_lock(&lock);
    if (process == getpid()) {
        atomic_store(&is_ending, true);
        sg_agent_wake();
        pthread_join(thread, NULL);
        process = 0;
    }
    pthread_mutex_unlock(&lock);
}
