/* What a phase costs: where no profiler was opened, and with one; and regions in it. */
#define ZETOOLS_IMPLEMENTATION
#include "by_hand.h"

enum { PHASES = 100000, REGIONS = 64 * BATCH, ROUNDS = 31 };

static void run_phases(void *argument, uint32_t phases) {
    (void)argument;
    start_watch();
    for (uint32_t i = 0; i < phases; i++)
        ZT_PHASE("solve")
            __asm__ volatile("" ::: "memory");
    stop_watch();
}

static void run_nested(void *argument, uint32_t phases) {
    (void)argument;
    start_watch();
    for (uint32_t i = 0; i < phases; i++)
        ZT_PHASE("step")
            ZT_PHASE("solve")
                ZT_PHASE("sweep")
                    __asm__ volatile("" ::: "memory");
    stop_watch();
}

static void run_clock(void *argument, uint32_t phases) {
    struct timespec now;
    (void)argument;
    start_watch();
    for (uint32_t i = 0; i < 2 * phases; i++)
        clock_gettime(CLOCK_MONOTONIC, &now);
    stop_watch();
}

static void run_empty(void *argument, uint32_t phases) {
    (void)argument;
    start_watch();
    for (uint32_t i = 0; i < phases; i++)
        __asm__ volatile("" ::: "memory");
    stop_watch();
}

/* Each batch, and so each execution of the list, is in an entry of its own. */
static void run_in_phases(void *argument, uint32_t regions) {
    for (uint32_t done = 0; done < regions; done += BATCH)
        ZT_PHASE("step")
            ZT_PHASE("solve")
                run_library(argument, BATCH);
}

static void compare_kind(kind wanted) {
    library l = open_library(wanted);
    FOR_ALL_COSTS {
        put_row("in_phase", kind_names[wanted],
                compare((work){run_in_phases, &l}, (work){run_library, &l}, ROUNDS, REGIONS, NULL), AT_MOST,
                1.05);
    }
    close_library(&l);
}

int main(void) {
    double times[2];
    zt_profiler *profiler;
    open_gpu();
    compare((work){run_phases, NULL}, (work){run_empty, NULL}, ROUNDS, PHASES, times);
    put_ratio("phase_without", times[0] - times[1], AT_MOST, 10);
    profiler = open_profiler(NULL);
    compare((work){run_phases, NULL}, (work){run_clock, NULL}, ROUNDS, PHASES, times);
    put_ratio("phase_with", times[0] - times[1], AT_MOST, 50);
    compare((work){run_nested, NULL}, (work){run_clock, NULL}, ROUNDS, PHASES, times);
    put_ratio("phase_nested", (times[0] - 3 * times[1]) / 3, AT_MOST, 50);
    close_profiler(profiler);
    compare_kind(IMMEDIATE);
    compare_kind(RECORDED);
    CHECK(zeContextDestroy(gpu.context));
    return EXIT_SUCCESS;
}
