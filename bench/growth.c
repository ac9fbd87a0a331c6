/* Whether a region costs the same with many names, on many paths, after many regions, and on many devices. */
#define ZETOOLS_IMPLEMENTATION
#include "by_hand.h"

#include <unistd.h>

/* ---- names ----------------------------------------------------------------------------------------------- */

enum { MANY = 10000, FEW = 10, LENGTH = 16, ROUNDS = 151 };

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

/* ---- paths ----------------------------------------------------------------------------------------------- */

enum { IN_EACH_PHASE = 100, PHASES = MANY / IN_EACH_PHASE };

static char phases[PHASES][LENGTH];

static void run_paths(void *argument, uint32_t regions) {
    naming *n = (naming *)argument;
    start_watch();
    for (uint32_t done = 0; done < regions; done += BATCH) {
        for (uint32_t i = 0; i < BATCH; i++) {
            zt_phase_begin(phases[n->next / IN_EACH_PHASE]);
            zt_region region =
                zt_begin(n->library.profiler, n->library.target.list, names[n->next % IN_EACH_PHASE]);
            zt_end(&region);
            zt_phase_end();
            n->next = n->next + 1 == n->count ? 0 : n->next + 1;
        }
        CHECK(zt_collect(n->library.profiler, 0));
    }
    stop_watch();
}

/* Both profilers hear of all phases, so that they are open one after the other: times are compared, not runs in turns. */
static double time_paths(uint32_t count) {
    naming n;
    double times[ROUNDS];
    open_naming(&n, count);
    run_paths(&n, count * 16);
    for (int i = 0; i < ROUNDS; i++)
        times[i] = time_of((work){run_paths, &n}, 8 * BATCH);
    close_library(&n.library);
    return median(times, ROUNDS);
}

static void compare_paths(void) {
    enum { TURNS = 5 };
    for (int i = 0; i < PHASES; i++)
        snprintf(phases[i], LENGTH, "phase %d", i);
    FOR_ALL_COSTS {
        double ratios[TURNS];
        for (int i = 0; i < TURNS; i++) {
            double few = time_paths(FEW);
            ratios[i] = time_paths(MANY) / few;
        }
        put_row("growth_paths", NULL, median(ratios, TURNS), AT_MOST, 1.15);
    }
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

/* ---- devices --------------------------------------------------------------------------------------------- */

enum { DEVICES = 8 };

typedef struct machine {
    library libraries[DEVICES];
    uint32_t next;
} machine;

static void run_devices(void *argument, uint32_t regions) {
    machine *m = (machine *)argument;
    for (uint32_t done = 0; done < regions; done += BATCH) {
        run_library(&m->libraries[m->next], BATCH);
        m->next = (m->next + 1) % DEVICES;
    }
}

/* The one is the first of the eight. */
static void compare_devices(void) {
    ze_device_handle_t devices[DEVICES];
    uint32_t count = DEVICES;
    machine m = {.next = 0};
    gpu.set_devices(DEVICES, 0);
    CHECK(zeDeviceGet(gpu.driver, &count, devices));
    NEED(count == DEVICES);
    for (uint32_t i = 0; i < DEVICES; i++) {
        gpu.device = devices[i];
        m.libraries[i] = open_library(IMMEDIATE);
        run_library(&m.libraries[i], EARLY);
    }
    FOR_ALL_COSTS {
        put_row("growth_devices", NULL,
                compare((work){run_devices, &m}, (work){run_library, &m.libraries[0]}, 151, DEVICES * BATCH,
                        NULL),
                AT_MOST, 1.15);
    }
    for (uint32_t i = 0; i < DEVICES; i++)
        close_library(&m.libraries[i]);
    gpu.device = devices[0];
    gpu.set_devices(1, 0);
}

int main(void) {
    int status;
    open_gpu();
    compare_names();
    compare_paths();
    compare_devices();
    status = compare_regions();
    CHECK(zeContextDestroy(gpu.context));
    return status;
}
