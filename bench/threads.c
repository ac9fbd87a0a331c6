/* Whether two threads that measure do not wait for each other. */
#define ZETOOLS_IMPLEMENTATION
#include "by_hand.h"

#include <pthread.h>

enum { THREADS = 2, REGIONS = 256 * BATCH, ROUNDS = 41 };

static pthread_barrier_t barrier;

static void *run_thread(void *argument) {
    pthread_barrier_wait(&barrier);
    run_library(argument, REGIONS);
    return NULL;
}

/* Regions a nanosecond, of so many threads. */
static double throughput(library *libraries, unsigned threads) {
    pthread_t handles[THREADS];
    double begin;
    NEED(pthread_barrier_init(&barrier, NULL, threads + 1) == 0);
    for (unsigned i = 0; i < threads; i++)
        NEED(pthread_create(&handles[i], NULL, run_thread, &libraries[i]) == 0);
    pthread_barrier_wait(&barrier);
    begin = now_ns();
    for (unsigned i = 0; i < threads; i++)
        pthread_join(handles[i], NULL);
    begin = now_ns() - begin;
    pthread_barrier_destroy(&barrier);
    return (double)threads * REGIONS / begin;
}

int main(void) {
    library libraries[THREADS];
    double ratios[ROUNDS];
    open_gpu();
    libraries[0].profiler = open_profiler(NULL);
    for (int i = 0; i < THREADS; i++) {
        libraries[i].profiler = libraries[0].profiler;
        libraries[i].list = make_list();
    }
    throughput(libraries, THREADS);
    for (int i = 0; i < ROUNDS; i++)
        ratios[i] = throughput(libraries, THREADS) / throughput(libraries, 1);
    put_ratio("threads", median(ratios, ROUNDS), AT_LEAST, 1.8);
    close_profiler(libraries[0].profiler);
    for (int i = 0; i < THREADS; i++)
        CHECK(zeCommandListDestroy(libraries[i].list));
    CHECK(zeContextDestroy(gpu.context));
    return EXIT_SUCCESS;
}
