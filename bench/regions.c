/* What a region costs in steady state: against the bare driver calls, and against code written by hand. With
   the arguments `bare`, `library` or `by_hand` and a number, it does that many on an immediate list and
   nothing else, for a counter of instructions. */
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

/* Driver calls, without those of the application itself. */
static uint64_t calls_of_library(void) {
    return gpu.calls(NULL) - gpu.calls("zeCommandListReset") - gpu.calls("zeCommandListClose") -
           gpu.calls("zeCommandQueueExecuteCommandLists") - gpu.calls("zeCommandQueueSynchronize") -
           gpu.calls("zeCommandListAppendBarrier") - gpu.calls("zeEventHostSynchronize");
}

/* Calls and allocations of 100 batches. They repeat exactly, so they may fail the benchmark. */
static int count_calls(library *l, const char *kind_name) {
    enum { REGIONS = 100 * BATCH };
    uint64_t before;
    char row[32];
    int calls, heap;
    gpu.reset_calls();
    before = allocations;
    run_library(l, REGIONS);
    before = allocations - before;
    snprintf(row, sizeof row, "calls_%s", kind_name);
    calls = put_exact(row, (double)calls_of_library() / REGIONS, 7 + 1.0 / 16);
    snprintf(row, sizeof row, "allocations_%s", kind_name);
    heap = put_exact(row, (double)before / REGIONS, 0);
    return calls | heap;
}

static void compare_times(bare *b, library *l, const char *kind_name) {
    double times[2];
    put_row("over_bare", kind_name,
            compare((work){run_library, l}, (work){run_bare, b}, 301, 2 * BATCH, times), AT_MOST, 1.10);
    printf("# library %.0f ns a region, bare calls %.0f ns\n", times[0], times[1]);
}

static void compare_by_hand(bare *b, library *l) {
    double times[2];
    put_row("by_hand", NULL, compare((work){run_by_hand, b}, (work){run_library, l}, 101, 2 * BATCH, times),
            AT_LEAST, 3);
    printf("# by hand %.0f ns a region\n", times[0]);
}

static int measure(kind wanted) {
    library l = open_library(wanted);
    int status;
    bare b;
    open_bare(&b, wanted);
    prepare(&b);
    run_library(&l, 4096); /* warm-up: as many as the rows that are kept, and more */
    status = gpu.is_real ? EXIT_SUCCESS : count_calls(&l, kind_names[wanted]);
    FOR_ALL_COSTS {
        compare_times(&b, &l, kind_names[wanted]);
    }
    unprepare(&b);
    if (wanted == IMMEDIATE && !gpu.is_real) /* which it would wait for in vain at times */
        FOR_ALL_COSTS {
            compare_by_hand(&b, &l);
        }
    close_bare(&b);
    close_library(&l);
    return status;
}

static void run_one(const char *which, uint32_t regions) {
    library l = open_library(IMMEDIATE);
    bare b;
    open_bare(&b, IMMEDIATE);
    if (strcmp(which, "library") == 0) {
        run_library(&l, regions);
    } else if (strcmp(which, "bare") == 0) {
        prepare(&b);
        run_bare(&b, regions);
        unprepare(&b);
    } else {
        run_by_hand(&b, regions);
    }
    close_bare(&b);
    close_library(&l);
}

int main(int count, char **arguments) {
    int status = EXIT_SUCCESS;
    open_gpu();
    if (count == 3)
        run_one(arguments[1], (uint32_t)atoi(arguments[2]));
    else
        status = measure(IMMEDIATE) | measure(RECORDED);
    CHECK(zeContextDestroy(gpu.context));
    return status;
}
