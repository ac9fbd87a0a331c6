/* Whether the harness is honest on real kernels, beside other load: examples/bench finds its own work the same as
   before; kernels compared with themselves show no difference, and with 3% more work are found slower. What the machine
   does besides shows in the figures, which is why they are printed. */
#define main example_main
#include "../examples/bench.c"
#undef main

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { VERDICTS = 27, LESS = 100 * GROUP, MORE = 103 * GROUP, TRIALS = 20 };

static atomic_int is_over;

/* Returns a time of up to 50 ms in nanoseconds, at random: a linear congruential generator. */
static long random_time(unsigned long long *state) {
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (long)((*state >> 33) % 50000000);
}

static long now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Uses one processor, for random times. */
static void *load(void *unused) {
    unsigned long long state = 1;
    while (!atomic_load(&is_over)) {
        long end = now_ns() + random_time(&state);
        struct timespec pause = {0, random_time(&state)};
        while (now_ns() < end) {
        }
        nanosleep(&pause, NULL);
    }
    return unused;
}

/* Runs the example twice, and adds the verdicts of the second run about the first. */
static void compare_example(zt_profiler *profiler, const char *file, zt_bench_changes *sum) {
    static zt_bench_result results[MOST_RESULTS];
    const options once = {NULL, NULL, NULL, 0, 1};
    zt_bench_changes changes;
    uint32_t count = run_all(profiler, &once, results);
    CHECK(zt_report_benches(profiler, results, count, file));
    count = run_all(profiler, &once, results);
    CHECK(zt_compare_benches(profiler, results, count, file, "-", &changes));
    sum->faster += changes.faster;
    sum->slower += changes.slower;
    sum->same += changes.same;
}

/* In how many trials a difference is shown. */
static int differences(zt_profiler *profiler, job *a, job *b) {
    static zt_comparison result;
    zt_bench_config one, other;
    int differs = 0;
    memset(&one, 0, sizeof one);
    one.run = run;
    one.user = a;
    one.max_time_ns = 1000000000;
    other = one;
    other.user = b;
    for (int i = 0; i < TRIALS; i++) {
        CHECK(zt_compare(profiler, &one, &other, &result));
        differs += result.differs;
    }
    return differs;
}

int main(int argc, char **argv) {
    zt_bench_changes sum = {0};
    char file[4096];
    pthread_t loading;
    bench b;
    (void)argc;
    bench_open(&b, argv[0]);
    zt_profiler *profiler = profiler_open(&b.g, NULL);
    job base = {"saxpy", LESS, 0, &b}, more = {"saxpy", MORE, 0, &b};

    snprintf(file, sizeof file, "%s.csv", argv[0]);
    pthread_create(&loading, NULL, load, NULL);
    for (int i = 0; i < VERDICTS; i += JOBS)
        compare_example(profiler, file, &sum);
    printf("the example with itself: %u faster, %u slower, %u same\n", sum.faster, sum.slower, sum.same);
    printf("with itself: a difference in %d of %d comparisons\n", differences(profiler, &base, &base),
           TRIALS);
    printf("with 3%% more work: a difference in %d of %d comparisons\n", differences(profiler, &base, &more),
           TRIALS);
    atomic_store(&is_over, 1);
    pthread_join(loading, NULL);
    zt_close(profiler);
    bench_close(&b);
    return EXIT_SUCCESS;
}
