/* Waits with a deadline, mutexes that know their thread, and the library's own threads. */

#include "base/threads.h"

#include "base/compiler.h"
#include "base/platform.h"

/* ---- waits ----------------------------------------------------------------------------------------------- */

ZT__PRIVATE uint64_t zt__deadline(uint64_t timeout_ns) {
    uint64_t now = zt__now_ns();
    return timeout_ns > UINT64_MAX - now ? UINT64_MAX : now + timeout_ns;
}

ZT__PRIVATE zt__wait zt__wait_until(uint64_t deadline) {
    zt__wait wait = {deadline, 0, 10000};
    return wait;
}

ZT__PRIVATE ZT__THREAD_LOCAL uint64_t zt__spent_ns;

ZT__PRIVATE int zt__wait_again(zt__wait *wait) {
    enum { SPIN_NS = 40000, LONGEST_SLEEP_NS = 1000000 };
    uint64_t now = zt__now_ns(), left;
    if (now >= wait->deadline) {
        return 0;
    }
    if (!wait->spin_until) {
        wait->spin_until = now + SPIN_NS;
    }
    if (now < wait->spin_until) {
        return 1;
    }
    left = wait->deadline - now;
    zt__sleep(wait->sleep_ns < left ? wait->sleep_ns : left);
    zt__spent_ns += zt__now_ns() - now;
    wait->sleep_ns *= 2;
    if (wait->sleep_ns > LONGEST_SLEEP_NS) {
        wait->sleep_ns = LONGEST_SLEEP_NS;
    }
    return 1;
}

/* ---- threads and mutexes --------------------------------------------------------------------------------- */

/* This thread's number in the system; 0: not read yet. */
ZT__PRIVATE ZT__THREAD_LOCAL uint32_t zt__thread_number;

ZT__PRIVATE uint32_t zt__get_thread_number(void) {
    if (!zt__thread_number) {
        zt__thread_number = zt__read_thread_number();
    }
    return zt__thread_number;
}

ZT__PRIVATE int zt__is_owner(const zt__timed_mutex *timed) {
    return zt__load(&timed->owner) == zt__this_thread();
}

static int zt__lock_if_free(zt__timed_mutex *timed) {
    if (zt__is_owner(timed) || !zt__try_lock_mutex(&timed->mutex)) {
        return 0;
    }
    zt__store(&timed->owner, zt__this_thread());
    return 1;
}

ZT__PRIVATE int zt__try_lock(zt__timed_mutex *timed) {
    return !zt__load(&timed->waiting) && zt__lock_if_free(timed);
}

ZT__PRIVATE void zt__unlock_timed(zt__timed_mutex *timed) {
    zt__store(&timed->owner, (uintptr_t)0);
    zt__unlock(&timed->mutex);
}

ZT__PRIVATE int zt__lock_until(zt__timed_mutex *timed, uint64_t deadline) {
    zt__wait wait = zt__wait_until(deadline);
    int is_locked;
    zt__add(&timed->waiting, 1);
    do {
        is_locked = zt__lock_if_free(timed);
    } while (!is_locked && !zt__is_owner(timed) && zt__wait_again(&wait));
    zt__add(&timed->waiting, UINT32_MAX); /* one less */
    return is_locked;
}

/* ---- the library's own threads --------------------------------------------------------------------------- */

ZT__PRIVATE zt__thread_list zt__threads = {ZT__MUTEX_INITIALIZER, NULL, 0, 0};

#ifndef ZETOOLS_NO_THREADS

static ZT__THREAD_RESULT ZT__THREAD_CALL zt__run_thread(void *argument) {
    zt__thread *thread = (zt__thread *)argument;
    while (!zt__load(&thread->stop_requested) && thread->step(thread->user)) {
    }
    zt__store(&thread->ended, 1);
    return 0;
}
#endif

ZT__PRIVATE void zt__wake_thread(zt__thread *thread) {
    zt__lock(&thread->mutex);
    thread->woken = 1;
    zt__signal_condition(&thread->wake);
    zt__unlock(&thread->mutex);
}

ZT__PRIVATE void zt__sleep_thread(zt__thread *thread, uint64_t timeout_ns) {
    uint64_t deadline = zt__deadline(timeout_ns);
    zt__lock(&thread->mutex);
    if (!thread->woken) { /* a request to stop is followed by a wake-up */
        zt__await_condition(&thread->wake, &thread->mutex, deadline);
    }
    thread->woken = 0;
    zt__unlock(&thread->mutex);
}

/* Requests that a thread stops, and waits until its last step has returned. Returns 0 if that step hangs, in
   the driver or in a function of the application. */
static int zt__await_thread(zt__thread *thread) {
    enum { LONGEST_NS = 2000000000 };
    zt__wait wait;
    zt__store(&thread->stop_requested, 1);
    zt__wake_thread(thread);
    wait = zt__wait_until(zt__deadline(LONGEST_NS));
    while (!zt__load(&thread->ended)) {
        if (!zt__wait_again(&wait)) {
            return 0;
        }
    }
    return 1;
}

/* Removes a thread from its list, whose mutex is held. */
static void zt__remove_thread(zt__thread *thread) {
    zt__thread **place;
    for (place = &thread->list->first; *place; place = &(*place)->next) {
        if (*place == thread) {
            *place = thread->next;
            break;
        }
    }
}

/* Joins a thread that has ended, unless it is joined already. The mutex of its list is held. */
static void zt__join_thread(zt__thread *thread) {
    if (zt__load(&thread->running)) {
        zt__join_system_thread(thread->handle);
        zt__remove_thread(thread);
        zt__store(&thread->running, 0);
    }
}

ZT__PRIVATE int zt__stop_thread(zt__thread *thread) {
    if (!zt__load(&thread->running)) {
        return 1;
    }
    if (!zt__await_thread(thread)) {
        return 0;
    }
    zt__lock(&thread->list->mutex);
    zt__join_thread(thread);
    zt__unlock(&thread->list->mutex);
    zt__destroy_mutex(&thread->mutex);
    zt__destroy_condition(&thread->wake);
    return 1;
}

#ifndef ZETOOLS_NO_THREADS

/* Stops all threads but the one that calls exit. A thread that hangs is abandoned. The list stays locked
   meanwhile, so that zt__stop_thread does not return on another thread, which would then free what is used
   here. */
static void zt__stop_threads_at_exit(void) {
    if (zt__has_lost_threads()) {
        return;
    }
    zt__lock(&zt__threads.mutex);
    zt__threads.is_exiting = 1;
    while (zt__threads.first) {
        zt__thread *thread = zt__threads.first;
        if (!zt__is_calling_thread(thread->handle) && zt__await_thread(thread)) {
            zt__join_thread(thread);
        } else {
            zt__remove_thread(thread);
        }
    }
    zt__unlock(&zt__threads.mutex);
}
#endif

ZT__PRIVATE int zt__start_thread(zt__thread *thread, int (*step)(void *user), void *user) {
    int started = 0;
#ifdef ZETOOLS_NO_THREADS
    (void)thread, (void)step, (void)user;
#else
    thread->step = step;
    thread->user = user;
    thread->list = &zt__threads;
    thread->stop_requested = thread->ended = thread->woken = 0;
    zt__create_mutex(&thread->mutex);
    zt__create_condition(&thread->wake);
    zt__lock(&zt__threads.mutex);
    if (!zt__threads.ends_at_exit) {
        zt__threads.ends_at_exit = atexit(zt__stop_threads_at_exit) == 0;
    }
    if (zt__threads.ends_at_exit && !zt__threads.is_exiting) {
        zt__store(&thread->running, 1);
        started = zt__create_thread(&thread->handle, zt__run_thread, thread);
    }
    if (started) {
        thread->next = zt__threads.first;
        zt__threads.first = thread;
    } else {
        zt__store(&thread->running, 0);
        zt__destroy_mutex(&thread->mutex);
        zt__destroy_condition(&thread->wake);
    }
    zt__unlock(&zt__threads.mutex);
#endif
    return started;
}
