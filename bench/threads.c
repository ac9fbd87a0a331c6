/* Two threads with a list each that share a profiler, over one; and what the bare driver calls have of two
   threads, which is as much as the library can have: the driver calculates for one thread at a time. By the
   clock, for it is a wait that is measured; but without the time in which a thread had no core. */
#define ZETOOLS_IMPLEMENTATION
#include "by_hand.h"

enum { THREADS = 2, REGIONS = 32 * BATCH, REGIONS_CHEAP = 256 * BATCH, ROUNDS = 41 };

static pthread_barrier_t barrier;

typedef struct runner {
    void (*run)(void *argument, uint32_t regions);
    void *argument;
    uint32_t regions;
    pthread_t thread;
    double took_ns;
} runner;

/* How long this thread has waited for a core. */
static double starved_ns(void) {
    FILE *file = fopen("/proc/thread-self/schedstat", "r");
    unsigned long long ran, starved = 0;
    if (file) {
        NEED(fscanf(file, "%llu %llu", &ran, &starved) == 2);
        fclose(file);
    }
    return (double)starved;
}

static void *run_thread(void *argument) {
    runner *r = (runner *)argument;
    double begin, starved;
    pthread_barrier_wait(&barrier);
    begin = now_ns();
    starved = starved_ns();
    r->run(r->argument, r->regions);
    starved = starved_ns() - starved;
    r->took_ns = now_ns() - begin - starved;
    return NULL;
}

/* Regions a nanosecond, of so many threads. */
static double throughput(runner runners[], unsigned threads) {
    double sum = 0;
    NEED(pthread_barrier_init(&barrier, NULL, threads) == 0);
    for (unsigned i = 0; i < threads; i++)
        NEED(pthread_create(&runners[i].thread, NULL, run_thread, &runners[i]) == 0);
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(runners[i].thread, NULL);
        sum += runners[i].regions / runners[i].took_ns;
    }
    pthread_barrier_destroy(&barrier);
    return sum;
}

/* Of two threads, over that of one. */
static double gain(runner runners[THREADS]) {
    double ratios[ROUNDS];
    throughput(runners, THREADS); /* warm-up */
    for (int i = 0; i < ROUNDS; i++)
        ratios[i] = throughput(runners, THREADS) / throughput(runners, 1);
    return median(ratios, ROUNDS);
}

/* On immediate lists nobody collects: the library does, on the thread that has ended 64 regions. */
static void run_uncollected(void *argument, uint32_t regions) {
    for (uint32_t done = 0; done < regions; done += BATCH)
        append_library((const library *)argument);
}

static void measure(kind wanted) {
    zt_profiler *profiler = open_profiler(NULL);
    library libraries[THREADS];
    bare bares[THREADS];
    runner by_library[THREADS], by_bare[THREADS];
    for (int i = 0; i < THREADS; i++) {
        libraries[i] = (library){profiler, open_target(wanted)};
        by_library[i].run = wanted == IMMEDIATE ? run_uncollected : run_library;
        by_library[i].argument = &libraries[i];
        open_bare(&bares[i], wanted);
        prepare(&bares[i]);
        by_bare[i].run = run_bare;
        by_bare[i].argument = &bares[i];
    }
    FOR_ALL_COSTS {
        for (int i = 0; i < THREADS; i++)
            by_library[i].regions = by_bare[i].regions = current_costs == REAL ? REGIONS : REGIONS_CHEAP;
        put_row("threads", kind_names[wanted], gain(by_library), wanted == IMMEDIATE ? AT_LEAST : STATED,
                1.9);
        put_row("threads_bare", kind_names[wanted], gain(by_bare), STATED, 0);
    }
    for (int i = 0; i < THREADS; i++) {
        unprepare(&bares[i]);
        close_bare(&bares[i]);
    }
    close_profiler(profiler);
    for (int i = 0; i < THREADS; i++)
        close_target(&libraries[i].target);
}

int main(void) {
    return measure_both_kinds(measure);
}
