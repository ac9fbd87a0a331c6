/* What a region costs in steady state: against the bare driver calls, and against code written by hand. With
   the arguments `bare`, `library` or `by_hand` and a number, it does that many and nothing else, for a
   counter of instructions. */
#define ZETOOLS_IMPLEMENTATION
#include "by_hand.h"

/* ---- allocations of the whole program -------------------------------------------------------------------- */

static uint64_t allocations; /* of a program with one thread that allocates */

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);

void *malloc(size_t size) {
    allocations++;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    allocations++;
    return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size) {
    allocations++;
    return __libc_realloc(memory, size);
}

/* ---------------------------------------------------------------------------------------------------------- */

/* Calls and allocations of 100 harvests. They repeat exactly, so they may fail the benchmark. */
static int count_calls(library *l) {
    enum { REGIONS = 100 * BATCH };
    uint64_t before = allocations;
    int calls, heap;
    gpu.reset_calls();
    run_library(l, REGIONS);
    heap = put_exact("allocations", (double)(allocations - before) / REGIONS, 0);
    calls = put_exact("calls", (double)gpu.calls(NULL) / REGIONS, 6 + 1.0 / 16);
    return calls | heap;
}

static void compare_times(bare *b, library *l) {
    double times[2];
    prepare(b);
    put_ratio("over_bare", compare((work){run_library, l}, (work){run_bare, b}, 401, 2 * BATCH, times),
              AT_MOST, 1.10);
    printf("# library %.0f ns a region, bare calls %.0f ns\n", times[0], times[1]);
    unprepare(b);
    put_ratio("by_hand", compare((work){run_by_hand, b}, (work){run_library, l}, 101, 2 * BATCH, times),
              AT_LEAST, 5);
    printf("# by hand %.0f ns a region\n", times[0]);
}

static void run_one(bare *b, library *l, const char *which, uint32_t regions) {
    if (strcmp(which, "library") == 0) {
        run_library(l, regions);
    } else if (strcmp(which, "bare") == 0) {
        prepare(b);
        run_bare(b, regions);
        unprepare(b);
    } else {
        run_by_hand(b, regions);
    }
}

int main(int count, char **arguments) {
    int status = EXIT_SUCCESS;
    library l;
    bare b;
    open_gpu();
    l.profiler = open_profiler(NULL);
    l.list = make_list();
    open_bare(&b);
    if (count == 3) {
        run_one(&b, &l, arguments[1], (uint32_t)atoi(arguments[2]));
    } else {
        run_library(&l, 4096); /* warm-up: as many as the rows that are kept, and more */
        status = count_calls(&l);
        compare_times(&b, &l);
    }
    close_bare(&b);
    close_profiler(l.profiler);
    CHECK(zeCommandListDestroy(l.list));
    CHECK(zeContextDestroy(gpu.context));
    return status;
}
