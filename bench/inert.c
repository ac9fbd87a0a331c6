/* What regions cost where there is no profiler. */
#define ZETOOLS_IMPLEMENTATION
#include "bench.h"

/* The compiler does not see that there is no profiler. */
static zt_profiler *volatile nobody;

static void run_inert(void *argument, uint32_t regions) {
    zt_profiler *profiler = nobody;
    (void)argument;
    start_watch();
    for (uint32_t i = 0; i < regions; i++) {
        ZT_REGION(profiler, NULL, "inert")
        __asm__ volatile("" ::: "memory");
    }
    stop_watch();
}

static void run_empty(void *argument, uint32_t regions) {
    (void)argument;
    start_watch();
    for (uint32_t i = 0; i < regions; i++)
        __asm__ volatile("" ::: "memory");
    stop_watch();
}

int main(void) {
    double times[2];
    compare((work){run_inert, NULL}, (work){run_empty, NULL}, 101, 1000000, times);
    put_ratio("inert", times[0] - times[1], AT_MOST, 2);
    return EXIT_SUCCESS;
}
