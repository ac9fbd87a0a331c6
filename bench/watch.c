/* What a watch costs: a region of a profiler that is watched over one that is not, and how much of a
   processor the thread of the watch uses meanwhile. */
#define ZETOOLS_DEBUG
#define ZETOOLS_IMPLEMENTATION
#include "by_hand.h"

/* ---- the submitting thread ------------------------------------------------------------------------------- */

static void watch(const library *l) {
    zt_watch_config config = {0};
    config.path = "";
    CHECK(zt_watch(l->profiler, &config));
}

static void compare_regions(kind wanted) {
    library watched = open_library(wanted), other = open_library(wanted);
    double times[2];
    watch(&watched);
    put_row("watch", kind_names[wanted],
            compare((work){run_library, &watched}, (work){run_library, &other}, 301, 2 * BATCH, times),
            AT_MOST, 1.05);
    printf("# watched %.0f ns a region, not watched %.0f ns\n", times[0], times[1]);
    NEED(zt_get_info(watched.profiler).watch.hangs == 0);
    close_library(&watched);
    close_library(&other);
}

/* ---- the other threads ----------------------------------------------------------------------------------- */

static double clock_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* While one list has a region after the other. */
static void measure_thread(void) {
    const double run_ns = 2e9;
    library l = open_library(IMMEDIATE);
    double begin, used;
    watch(&l);
    begin = now_ns();
    used = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - processor_ns();
    while (now_ns() - begin < run_ns)
        run_library(&l, BATCH);
    used = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - processor_ns() - used;
    put_row("watch_thread", NULL, used / (now_ns() - begin), AT_MOST, 0.01);
    close_library(&l);
}

int main(void) {
    open_gpu();
    set_costs(REAL);
    compare_regions(IMMEDIATE);
    compare_regions(RECORDED);
    measure_thread();
    CHECK(zeContextDestroy(gpu.context));
    return EXIT_SUCCESS;
}
