/* How long calls of the library keep threads of the program busy. */

#include "base/timing.h"

#include "base/compiler.h"
#include "base/platform.h"
#include "base/threads.h"

ZT__PRIVATE void zt__start_slow_timing(zt__timing *timing) {
    timing->weight = 1;
    timing->ns = 0;
    zt__resume_timing(timing);
}

ZT__PRIVATE void zt__start_timing(uint32_t *count, zt__timing *timing) {
    enum { ONE_IN = 16, ONE_IN_BITS = 4 };
    uint32_t number = zt__load(count);
    zt__store(count, number + 1);
    memset(timing, 0, sizeof *timing);
    if (number < ONE_IN) {
        zt__start_slow_timing(timing);
    } else if (number * UINT32_C(2654435769) >> (32 - ONE_IN_BITS) == 0) {
        /* Multiples of the golden ratio are spread evenly, so they keep no step with a pattern of the program's:
           the first region of a list, say, is slower than the others. */
        zt__start_slow_timing(timing);
        timing->weight = ONE_IN;
    }
}

ZT__PRIVATE void zt__pause_timing(zt__timing *timing) {
    if (timing->weight) {
        uint64_t all = zt__now_ns() - timing->since_ns;
        timing->ns += all - (zt__spent_ns - timing->before_ns);
        zt__spent_ns = timing->before_ns + all;
    }
}

ZT__PRIVATE void zt__resume_timing(zt__timing *timing) {
    if (timing->weight) {
        timing->before_ns = zt__spent_ns;
        timing->since_ns = zt__now_ns();
    }
}

ZT__PRIVATE void zt__end_timing(zt__busy_calls *calls, zt__mutex *mutex, zt__timing *timing) {
    if (timing->weight) {
        zt__pause_timing(timing);
        zt__lock(mutex);
        calls->ns += timing->ns * timing->weight;
        zt__unlock(mutex);
    }
}
