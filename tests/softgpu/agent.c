/* Program debug: the thread of a process that is debugged, which does what no other thread is there for. */
#define _GNU_SOURCE /* ppoll */
#include "remote.h"
#include "signals.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SOON = 200000 }; /* nanoseconds until a thread is asked again to stop */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t thread;
static pid_t process; /* in which it runs */
static _Atomic bool is_ending;
static _Atomic int wake = -1;      /* an eventfd */
static _Atomic int listening = -1; /* a socket */

/* The descriptor is never closed: a handler may be about to write. */
SG_NOT_SANITIZED void sg_agent_wake(void) {
    const uint64_t one = 1;
    int to = atomic_load_explicit(&wake, memory_order_relaxed);
    if (to >= 0 && syscall(SYS_write, to, &one, sizeof one) < 0)
        return; /* it is awake */
}

/* ---- connections to tools in other processes ------------------------------------------------------------- */

typedef struct connection {
    int socket;
    sg_debug_request attached; /* no session: it is not */
} connection;

enum { WAKE, LISTENER, FIRST_CONNECTION, MOST_CONNECTIONS = 32 };

static connection connections[MOST_CONNECTIONS]; /* the thread's alone */
static uint32_t connection_count;

static void accept_connection(int listener) {
    int made = sg_remote_accept(listener);
    if (made >= 0 && connection_count < MOST_CONNECTIONS)
        connections[connection_count++] = (connection){.socket = made};
    else if (made >= 0)
        close(made);
}

/* A tool that is gone is detached. */
static void end_connection(uint32_t index) {
    connections[index].attached.call = SG_DEBUG_DETACH;
    if (connections[index].attached.session)
        sg_debug_serve(&connections[index].attached, NULL, NULL);
    close(connections[index].socket);
    connections[index] = connections[--connection_count];
}

/* ---- the thread ------------------------------------------------------------------------------------------ */

static void wait_and_serve(const struct timespec *limit) {
    struct pollfd waited[FIRST_CONNECTION + MOST_CONNECTIONS];
    const int listener = atomic_load(&listening);
    const uint32_t count = connection_count;
    uint64_t calls;
    waited[WAKE] = (struct pollfd){.fd = atomic_load(&wake), .events = POLLIN};
    waited[LISTENER] = (struct pollfd){.fd = listener, .events = POLLIN};
    for (uint32_t i = 0; i < count; ++i)
        waited[FIRST_CONNECTION + i] = (struct pollfd){.fd = connections[i].socket, .events = POLLIN};
    if (ppoll(waited, FIRST_CONNECTION + count, limit, NULL) <= 0)
        return;
    if (waited[WAKE].revents && read(waited[WAKE].fd, &calls, sizeof calls) < 0)
        return;
    for (uint32_t i = count; i-- > 0;)
        if (waited[FIRST_CONNECTION + i].revents &&
            !sg_remote_serve(connections[i].socket, &connections[i].attached))
            end_connection(i);
    if (waited[LISTENER].revents)
        accept_connection(listener);
}

static void *run(void *argument) {
    (void)argument;
    while (!atomic_load(&is_ending))
        wait_and_serve(sg_target_step() ? &(struct timespec){.tv_nsec = SOON} : NULL);
    return NULL;
}

/* A child has neither the thread nor the connections, and keeps no tool from noticing that its parent is
 * gone. */
static void forget_parent(void) {
    pthread_mutex_init(&lock, NULL);
    if (atomic_load(&listening) >= 0)
        close(atomic_exchange(&listening, -1));
    while (connection_count)
        close(connections[--connection_count].socket);
    sg_target_forked();
}

static void watch_forks(void) {
    pthread_atfork(NULL, NULL, forget_parent);
}

/* The lock is held. */
static bool start(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    int made = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    atomic_store(&wake, made);
    atomic_store(&is_ending, false);
    bool is_there = made >= 0 && sg_thread_start(&thread, run, NULL);
    process = is_there ? getpid() : 0;
    return is_there;
}

bool sg_agent_start(void) {
    pthread_mutex_lock(&lock);
    bool is_there = process == getpid() || start();
    pthread_mutex_unlock(&lock);
    return is_there;
}

void sg_agent_listen(void) {
    pthread_mutex_lock(&lock);
    if ((process == getpid() || start()) && atomic_load(&listening) < 0) {
        atomic_store(&listening, sg_remote_listen());
        sg_agent_wake();
    }
    pthread_mutex_unlock(&lock);
}

void sg_agent_end(void) {
    pthread_mutex_lock(&lock);
    if (process == getpid()) {
        atomic_store(&is_ending, true);
        sg_agent_wake();
        pthread_join(thread, NULL);
        if (atomic_load(&listening) >= 0)
            close(atomic_exchange(&listening, -1));
        process = 0;
    }
    pthread_mutex_unlock(&lock);
}
