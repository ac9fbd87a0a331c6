/* Waits with a deadline, mutexes that know their thread, and the library's own threads. */

#pragma once

#include "base/compiler.h"
#include "base/platform.h"
#include "base/system.h"

/* A wait with a deadline for what has to be polled. The first polls follow each other without a sleep,
   because most waits are for a short kernel, and a sleep takes longer than that. */
typedef struct zt__wait {
    uint64_t deadline;
    uint64_t spin_until; /* 0 before the first poll */
    uint64_t sleep_ns;   /* length of the next sleep */
} zt__wait;

/* A mutex that can be locked with a deadline, and that knows which thread holds it: callbacks run while it is
   held, and what they call must not lock it again. */
typedef struct zt__timed_mutex {
    zt__mutex mutex;
    uintptr_t owner;  /* the thread, or 0. Atomic, like the next */
    uint32_t waiting; /* threads: while there are any, zt__try_lock fails, so that none of them starves */
} zt__timed_mutex;

/* A thread that repeats a step until the step returns 0 or the thread is stopped. Between steps it may sleep
   until it is woken. */
typedef struct zt__thread {
    int running; /* it was started, and not yet joined. Atomic, like the next two */
    int stop_requested, ended;
    struct zt__thread_list *list; /* that it is in: of the copy of this header that has started it. Another
                                     copy may stop it */
    struct zt__thread *next;
    int (*step)(void *user);
    void *user;
    zt__system_thread handle;
    zt__mutex mutex; /* guards `woken` */
    zt__condition wake;
    int woken;
} zt__thread;

/* The threads that this copy of the header has started. They have to end before the driver is unloaded at
   exit, and before a shared library that contains this copy is unloaded. */
typedef struct zt__thread_list {
    zt__mutex mutex;
    zt__thread *first;
    int ends_at_exit;
    int is_exiting; /* no more threads are started */
} zt__thread_list;

/* Returns the time `timeout_ns` from now, or UINT64_MAX if that would overflow. */
ZT__PRIVATE uint64_t zt__deadline(uint64_t timeout_ns);

ZT__PRIVATE zt__wait zt__wait_until(uint64_t deadline);

/* Spins or sleeps before the next poll. Returns 0 when the deadline has passed. */
ZT__PRIVATE int zt__wait_again(zt__wait *wait);

/* Returns the number that the system gives the calling thread, which debuggers and other tracers show, or
   0. */
ZT__PRIVATE uint32_t zt__get_thread_number(void);

ZT__PRIVATE int zt__is_owner(const zt__timed_mutex *timed);

/* Returns 0 if any thread holds it, this one included, or waits for it. */
ZT__PRIVATE int zt__try_lock(zt__timed_mutex *timed);

ZT__PRIVATE void zt__unlock_timed(zt__timed_mutex *timed);

/* Waits for other threads to unlock it. Returns 0 if the deadline passes first, or this thread holds it. */
ZT__PRIVATE int zt__lock_until(zt__timed_mutex *timed, uint64_t deadline);

ZT__PRIVATE void zt__wake_thread(zt__thread *thread);

/* Called by the thread itself: sleeps until it is woken, but no longer than `timeout_ns`. */
ZT__PRIVATE void zt__sleep_thread(zt__thread *thread, uint64_t timeout_ns);

/* Stops a thread. Returns 0 if it hangs: then it still uses its data, and the caller may try again later. */
ZT__PRIVATE int zt__stop_thread(zt__thread *thread);

/* Returns 0 if the system refuses, or with ZETOOLS_NO_THREADS. */
ZT__PRIVATE int zt__start_thread(zt__thread *thread, int (*step)(void *user), void *user);

extern ZT__THREAD_LOCAL uint32_t zt__thread_number;

/* What this thread has spent in calls that are timed, and asleep. A timing does not count what this grows by inside of it. */
extern ZT__THREAD_LOCAL uint64_t zt__spent_ns;

extern zt__thread_list zt__threads;
