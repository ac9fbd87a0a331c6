/* Whether two threads that measure do not wait for each other; and what the bare driver calls have of two
   threads, which is as much as the library can have. */
#define ZETOOLS_IMPLEMENTATION
#include "by_hand.h"

enum { THREADS = 2, REGIONS = 256 * BATCH, ROUNDS = 41 };

static pthread_barrier_t barrier;

typedef struct runner {
    work work;
    pthread_t thread;
    double begin, end;
} runner;

/* The threads read the clock themselves: who started them may have to wait for a core. */
static void *run_thread(void *argument) {
    runner *r = (runner *)argument;
    pthread_barrier_wait(&barrier);
    r->begin = now_ns();
    r->work.run(r->work.argument, REGIONS);
    r->end = now_ns();
    return NULL;
}

/* Regions a nanosecond, of so many threads. */
static double throughput(runner runners[], unsigned threads) {
    double begin, end;
    NEED(pthread_barrier_init(&barrier, NULL, threads) == 0);
    for (unsigned i = 0; i < threads; i++)
        NEED(pthread_create(&runners[i].thread, NULL, run_thread, &runners[i]) == 0);
    for (unsigned i = 0; i < threads; i++)
        pthread_join(runners[i].thread, NULL);
    pthread_barrier_destroy(&barrier);
    begin = runners[0].begin;
    end = runners[0].end;
    for (unsigned i = 1; i < threads; i++) {
        begin = runners[i].begin < begin ? runners[i].begin : begin;
        end = runners[i].end > end ? runners[i].end : end;
    }
    return (double)threads * REGIONS / (end - begin);
}

/* Of two threads, over that of one. */
static double gain(runner runners[THREADS]) {
    double ratios[ROUNDS];
    throughput(runners, THREADS); /* warm-up */
    for (int i = 0; i < ROUNDS; i++)
        ratios[i] = throughput(runners, THREADS) / throughput(runners, 1);
    return median(ratios, ROUNDS);
}

/* Nobody collects: the library does, each list on the thread that uses it. */
static void run_uncollected(void *argument, uint32_t regions) {
    const library *l = (const library *)argument;
    for (uint32_t i = 0; i < regions; i++) {
        zt_region region = zt_begin(l->profiler, l->list, i % 2 ? "odd" : "even");
        zt_end(&region);
    }
}

static void measure_library(zt_profiler *profiler) {
    library libraries[THREADS];
    runner runners[THREADS];
    for (int i = 0; i < THREADS; i++) {
        libraries[i] = (library){profiler, make_list()};
        runners[i].work = (work){run_uncollected, &libraries[i]};
    }
    put_ratio("threads", gain(runners), AT_LEAST, 1.8);
    for (int i = 0; i < THREADS; i++)
        runners[i].work.run = run_library;
    put_ratio("threads_collecting", gain(runners), STATED, 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(zeCommandListDestroy(libraries[i].list));
}

static void measure_bare(void) {
    bare bares[THREADS];
    runner runners[THREADS];
    for (int i = 0; i < THREADS; i++) {
        open_bare(&bares[i]);
        prepare(&bares[i]);
        runners[i].work = (work){run_bare, &bares[i]};
    }
    put_ratio("threads_bare", gain(runners), STATED, 0);
    for (int i = 0; i < THREADS; i++) {
        unprepare(&bares[i]);
        close_bare(&bares[i]);
    }
}

int main(void) {
    zt_profiler *profiler;
    open_gpu();
    profiler = open_profiler(NULL);
    measure_library(profiler);
    measure_bare();
    close_profiler(profiler);
    CHECK(zeContextDestroy(gpu.context));
    return EXIT_SUCCESS;
}
