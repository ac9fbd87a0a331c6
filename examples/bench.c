/* A small harness to copy: benchmarks by name, with honest intervals, kept in a file, and compared with that
   of an earlier run.

     bench [--filter=PART] [--list] [--repetitions=N] [--output=run.csv] [--baseline=before.csv]

   The exit status is 1 if a benchmark fails, is slower than in the baseline, or is missing. */
#define ZETOOLS_IMPLEMENTATION
#include "zetools.h"

#include "example.h"

enum { GROUP = 256, MOST_ELEMENTS = 1 << 16, MOST_RESULTS = 64 };

/* ---- what is benchmarked --------------------------------------------------------------------------------- */

typedef struct job {
    const char *name;
    uint32_t elements;
    int copies; /* 0: saxpy; else a copy */
    const struct bench *bench;
} job;

typedef struct bench {
    gpu g;
    program saxpy;
    immediate work;
    float *x, *y;
} bench;

static job jobs[] = {
    {"saxpy 4k", 1 << 12, 0, NULL},
    {"saxpy 64k", MOST_ELEMENTS, 0, NULL},
    {"copy 64k", MOST_ELEMENTS, 1, NULL},
};

enum { JOBS = sizeof jobs / sizeof *jobs };

static int run(zt_profiler *profiler, void *user) {
    const job *j = (const job *)user;
    const ze_group_count_t groups = {j->elements / GROUP, 1, 1};
    const size_t bytes = j->elements * sizeof(float);
    immediate work = j->bench->work;

    SET_ARGUMENT(j->bench->saxpy.kernel, 3, j->elements);
    ZT_REGION(profiler, work.list, j->name) {
        if (j->copies)
            CHECK(zeCommandListAppendMemoryCopy(work.list, j->bench->y, j->bench->x, bytes, NULL, 0, NULL));
        else
            CHECK(zeCommandListAppendLaunchKernel(work.list, j->bench->saxpy.kernel, &groups, NULL, 0, NULL));
    }
    immediate_wait(&work);
    return 0;
}

/* After a copy of ones and one saxpy, all are two. */
static int is_right(const bench *b) {
    job copy = {"check", MOST_ELEMENTS, 1, b}, saxpy = {"check", MOST_ELEMENTS, 0, b};
    int right = run(NULL, &copy) == 0 && run(NULL, &saxpy) == 0;
    for (uint32_t i = 0; i < MOST_ELEMENTS; i++)
        right &= b->y[i] == 2.0f;
    return right;
}

static void bench_open(bench *b, const char *program_path) {
    const float factor = 1;
    b->g = gpu_open(program_path);
    b->saxpy = program_load(&b->g, "saxpy");
    b->work = immediate_open(&b->g);
    b->x = gpu_floats(&b->g, MOST_ELEMENTS);
    b->y = gpu_floats(&b->g, MOST_ELEMENTS);
    for (uint32_t i = 0; i < MOST_ELEMENTS; i++)
        b->x[i] = 1, b->y[i] = 0;
    SET_ARGUMENT(b->saxpy.kernel, 0, b->y);
    SET_ARGUMENT(b->saxpy.kernel, 1, b->x);
    SET_ARGUMENT(b->saxpy.kernel, 2, factor);
    CHECK(zeKernelSetGroupSize(b->saxpy.kernel, GROUP, 1, 1));
    for (uint32_t i = 0; i < JOBS; i++)
        jobs[i].bench = b;
}

static void bench_close(bench *b) {
    immediate_close(&b->work);
    program_unload(&b->saxpy);
    CHECK(zeMemFree(b->g.context, b->x));
    CHECK(zeMemFree(b->g.context, b->y));
    gpu_close(&b->g);
}

/* ---- running --------------------------------------------------------------------------------------------- */

typedef struct options {
    const char *filter, *output, *baseline;
    int list, repetitions;
} options;

static int run_one(zt_profiler *profiler, job *j, zt_bench_result *result) {
    zt_bench_config config;
    memset(&config, 0, sizeof config);
    config.run = run;
    config.user = j;
    config.region = j->name;
    config.max_time_ns = 5000000000;
    config.bytes_per_run = j->elements * sizeof(float) * (j->copies ? 2.0 : 3.0); /* read and written */
    config.items_per_run = j->elements;
    if (zt_bench(profiler, &config, result) != ZE_RESULT_SUCCESS) {
        print_last_error();
        return 0;
    }
    return 1;
}

/* Every repetition goes over all benchmarks, so that what drifts is not taken for one of them. Returns how
   many results there are, or 0 if a benchmark failed. */
static uint32_t run_all(zt_profiler *profiler, const options *o, zt_bench_result *results) {
    uint32_t count = 0;
    for (int repetition = 1; repetition <= o->repetitions; repetition++)
        for (uint32_t i = 0; i < JOBS && count < MOST_RESULTS; i++) {
            if (o->filter && !strstr(jobs[i].name, o->filter))
                continue;
            fprintf(stderr, "[repetition %d of %d] %s ...\n", repetition, o->repetitions, jobs[i].name);
            if (!run_one(profiler, &jobs[i], &results[count++]))
                return 0;
        }
    if (count == 0)
        fprintf(stderr, "no benchmark has that in its name: --list shows them\n");
    return count;
}

/* Returns whether nothing is slower than in the baseline, and nothing is missing that was asked for. */
static int is_no_worse(zt_profiler *profiler, const options *o, const zt_bench_result *results,
                       uint32_t count) {
    zt_bench_changes changes;
    printf("\n");
    if (zt_compare_benches(profiler, results, count, o->baseline, "-", &changes) != ZE_RESULT_SUCCESS) {
        print_last_error();
        return 0;
    }
    return changes.slower == 0 && (changes.missing == 0 || o->filter);
}

static int run_and_report(zt_profiler *profiler, const options *o) {
    static zt_bench_result results[MOST_RESULTS];
    uint32_t count = run_all(profiler, o, results);
    int good = count > 0;
    if (good && zt_report_benches(profiler, results, count, "-") != ZE_RESULT_SUCCESS)
        good = 0;
    if (good && o->baseline)
        good = is_no_worse(profiler, o, results, count);
    if (count > 0 && o->output &&
        zt_report_benches(profiler, results, count, o->output) != ZE_RESULT_SUCCESS) {
        print_last_error();
        good = 0;
    }
    return good;
}

static int parse(int argc, char **argv, options *o) {
    memset(o, 0, sizeof *o);
    o->repetitions = 1;
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--filter=", 9) == 0)
            o->filter = argv[i] + 9;
        else if (strncmp(argv[i], "--output=", 9) == 0)
            o->output = argv[i] + 9;
        else if (strncmp(argv[i], "--baseline=", 11) == 0)
            o->baseline = argv[i] + 11;
        else if (strncmp(argv[i], "--repetitions=", 14) == 0)
            o->repetitions = atoi(argv[i] + 14);
        else if (strcmp(argv[i], "--list") == 0)
            o->list = 1;
        else
            return 0;
    }
    return o->repetitions > 0;
}

int main(int argc, char **argv) {
    zt_profiler *profiler;
    options o;
    bench b;
    int good, right;

    if (!parse(argc, argv, &o)) {
        fprintf(stderr,
                "usage: %s [--filter=PART] [--list] [--repetitions=N] [--output=run.csv] "
                "[--baseline=before.csv]\n",
                argv[0]);
        return EXIT_FAILURE;
    }
    for (uint32_t i = 0; o.list && i < JOBS; i++)
        printf("%s\n", jobs[i].name);
    if (o.list)
        return EXIT_SUCCESS;

    bench_open(&b, argv[0]);
    profiler = profiler_open(&b.g, NULL);
    good = run_and_report(profiler, &o);
    right = is_right(&b);
    zt_close(profiler);
    bench_close(&b);
    if (!right)
        fprintf(stderr, "the results of the work are wrong\n");
    return good && right ? EXIT_SUCCESS : EXIT_FAILURE;
}
