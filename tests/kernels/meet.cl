/* For tests of the software device alone, since it takes the host's clock. Words of memory say what goes on:
   the kernel writes STARTED to its own, waits until that of another is written, and writes MET; or GAVE_UP,
   where that takes longer than its patience. Two of them that wait for each other meet only if they run at
   the same time. */
#include <sched.h>
#include <time.h>

enum { STARTED = 1, MET, GAVE_UP };

static uint64_t milliseconds(void) {
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

KERNEL(meet, BUFFER(uint, words), VALUE(uint, own), VALUE(uint, awaited), VALUE(uint, patience)) {
    uint64_t end = milliseconds() + patience;
    uint outcome = GAVE_UP;
    (void)sg_group;
    __atomic_store_n(&words[own], STARTED, __ATOMIC_SEQ_CST);
    do {
        if (__atomic_load_n(&words[awaited], __ATOMIC_SEQ_CST))
            outcome = MET;
        else
            sched_yield();
    } while (outcome != MET && milliseconds() < end);
    __atomic_store_n(&words[own], outcome, __ATOMIC_SEQ_CST);
}
