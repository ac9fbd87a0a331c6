/* Whether a region costs the same with many names, and after many regions. */
#define ZETOOLS_IMPLEMENTATION
#include "by_hand.h"

#include <unistd.h>

/* ---- names ----------------------------------------------------------------------------------------------- */

enum { MANY = 10000, FEW = 10, LENGTH = 16 };

static char names[MANY][LENGTH];

typedef struct naming {
    library library;
    uint32_t count, next;
} naming;

static void run_names(void *argument, uint32_t regions) {
    naming *n = (naming *)argument;
    start_watch();
    for (uint32_t done = 0; done < regions; done += BATCH) {
        for (uint32_t i = 0; i < BATCH; i++) {
            zt_region region = zt_begin(n->library.profiler, n->library.target.list, names[n->next]);
            zt_end(&region);
            n->next = n->next + 1 == n->count ? 0 : n->next + 1;
        }
        CHECK(zt_collect(n->library.profiler, 0));
    }
    stop_watch();
}

static void open_naming(naming *n, uint32_t count) {
    zt_config config = {0};
    config.samples = 8; /* of 10,000 regions: memory that a program would spend */
    n->library.profiler = open_profiler(&config);
    n->library.target = open_target(IMMEDIATE);
    n->count = count;
    n->next = 0;
    run_names(n, count * 16);
}

static void compare_names(void) {
    naming many, few;
    for (int i = 0; i < MANY; i++)
        snprintf(names[i], LENGTH, "region %d", i);
    open_naming(&many, MANY);
    open_naming(&few, FEW);
    FOR_ALL_COSTS {
        put_row("growth_names", NULL,
                compare((work){run_names, &many}, (work){run_names, &few}, 151, 8 * BATCH, NULL), AT_MOST,
                1.15);
    }
    close_library(&many.library);
    close_library(&few.library);
}

/* ---- regions --------------------------------------------------------------------------------------------- */

enum { EARLY = 10000, LATE = 10000000 };

/* Resident memory in pages. */
static double resident(void) {
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long size = 0, pages = 0;
    NEED(file && fscanf(file, "%lu %lu", &size, &pages) == 2);
    fclose(file);
    return (double)pages;
}

static int compare_regions(void) {
    library late = open_library(IMMEDIATE), early;
    double memory;
    run_library(&late, EARLY);
    memory = resident();
    run_library(&late, LATE - EARLY);
    memory = (double)(long)(100 * resident() / memory + 0.5) / 100; /* a page is nothing */
    early = open_library(IMMEDIATE);
    run_library(&early, EARLY);
    FOR_ALL_COSTS {
        put_row("growth_regions", NULL,
                compare((work){run_library, &late}, (work){run_library, &early}, 151, 4 * BATCH, NULL),
                AT_MOST, 1.05);
    }
    close_library(&late);
    close_library(&early);
    return put_exact("memory", memory, 1.00);
}

int main(void) {
    int status;
    open_gpu();
    compare_names();
    status = compare_regions();
    CHECK(zeContextDestroy(gpu.context));
    return status;
}
