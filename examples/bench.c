/* A small harness to copy: benchmarks by name, with honest intervals, written to a file, and two files
   compared.

     bench [--filter=PART] [--list] [--repetitions=N] [--output=run.json|run.csv]
     bench --compare=before.csv,after.csv */
#define ZETOOLS_IMPLEMENTATION
#include "zetools.h"

#include "example.h"

enum { GROUP = 256, MOST_ELEMENTS = 1 << 16, MOST_LINES = 64 };

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

/* ---- result files ---------------------------------------------------------------------------------------- */

/* What a file keeps of a benchmark. */
typedef struct line {
    char name[64];
    int repetition;
    unsigned count;
    double median, low, high, min, perturbation;
} line;

static const char head[] = "name,repetition,count,median_ns,low_ns,high_ns,min_ns,perturbation";
static const char csv_format[] = "\"%s\",%d,%u,%.17g,%.17g,%.17g,%.17g,%.17g\n";
static const char json_format[] =
    "{\"name\":\"%s\",\"repetition\":%d,\"count\":%u,\"median_ns\":%.17g,"
    "\"low_ns\":%.17g,\"high_ns\":%.17g,\"min_ns\":%.17g,\"perturbation\":%.17g}";
static const char csv_scan[] = "\"%63[^\"]\",%d,%u,%lf,%lf,%lf,%lf,%lf";
static const char json_scan[] = "{\"name\":\"%63[^\"]\",\"repetition\":%d,\"count\":%u,\"median_ns\":%lf,"
                                "\"low_ns\":%lf,\"high_ns\":%lf,\"min_ns\":%lf,\"perturbation\":%lf}";

static int is_json(const char *path) {
    size_t length = strlen(path);
    return length > 5 && strcmp(path + length - 5, ".json") == 0;
}

static int write_lines(const char *path, const line *lines, int count) {
    FILE *file = fopen(path, "w");
    int json = is_json(path), failed;
    if (!file) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return 0;
    }
    fprintf(file, "%s\n", json ? "[" : head);
    for (int i = 0; i < count; i++) {
        const line *l = &lines[i];
        fprintf(file, json ? json_format : csv_format, l->name, l->repetition, l->count, l->median, l->low,
                l->high, l->min, l->perturbation);
        if (json)
            fprintf(file, i + 1 < count ? ",\n" : "\n");
    }
    fprintf(file, "%s", json ? "]\n" : "");
    failed = ferror(file);
    return fclose(file) == 0 && !failed;
}

/* Returns how many lines there are, or -1. */
static int read_lines(const char *path, line *lines) {
    FILE *file = fopen(path, "r");
    char text[1024];
    int count = 0;
    if (!file) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return -1;
    }
    while (count < MOST_LINES && fgets(text, sizeof text, file)) {
        line *l = &lines[count];
        count += sscanf(text, is_json(path) ? json_scan : csv_scan, l->name, &l->repetition, &l->count,
                        &l->median, &l->low, &l->high, &l->min, &l->perturbation) == 8;
    }
    fclose(file);
    return count;
}

/* The runs of two files were not taken in turn: only intervals that do not overlap show a difference. */
static void compare_lines(const line *before, const line *after) {
    const char *verdict = "no difference shown";
    if (after->low > before->high)
        verdict = "slower";
    if (after->high < before->low)
        verdict = "faster";
    printf("%-16s #%d  %10.3f us  %10.3f us   x %.4f (%.4f to %.4f)  %s\n", after->name, after->repetition,
           before->median / 1e3, after->median / 1e3, after->median / before->median,
           after->low / before->high, after->high / before->low, verdict);
}

static int compare_files(const char *paths) {
    static line before[MOST_LINES], after[MOST_LINES];
    char first[512];
    const char *comma = strchr(paths, ',');
    int matched = 0, old, new_;
    if (!comma) {
        fprintf(stderr, "--compare needs two files, with a comma between\n");
        return 0;
    }
    snprintf(first, sizeof first, "%.*s", (int)(comma - paths), paths);
    old = read_lines(first, before);
    new_ = read_lines(comma + 1, after);
    for (int i = 0; i < old; i++)
        for (int k = 0; k < new_; k++)
            if (strcmp(before[i].name, after[k].name) == 0 && before[i].repetition == after[k].repetition) {
                compare_lines(&before[i], &after[k]);
                matched++;
            }
    if (old >= 0 && new_ >= 0 && matched == 0)
        fprintf(stderr, "the files have no benchmark in common\n");
    if (matched)
        printf("What the machine did otherwise at the two times counts too: zt_compare() runs variants in "
               "turn.\n");
    return matched > 0;
}

/* ---- running --------------------------------------------------------------------------------------------- */

typedef struct options {
    const char *filter, *output, *compare;
    int list, repetitions;
} options;

static int print_bytes(const void *bytes, size_t size, void *user) {
    (void)user;
    return fwrite(bytes, 1, size, stdout) != size;
}

static int run_one(zt_profiler *profiler, job *j, int repetition, zt_bench_result *result, line *l) {
    zt_bench_config config;
    memset(&config, 0, sizeof config);
    config.run = run;
    config.user = j;
    config.region = j->name;
    config.max_time_ns = 2000000000;
    config.bytes_per_run = j->elements * sizeof(float) * (j->copies ? 2.0 : 3.0); /* read and written */
    config.items_per_run = j->elements;
    if (zt_bench(profiler, &config, result) != ZE_RESULT_SUCCESS) {
        print_last_error(profiler);
        return 0;
    }
    snprintf(l->name, sizeof l->name, "%s", j->name);
    l->repetition = repetition;
    l->count = result->count;
    l->median = result->median;
    l->low = result->low;
    l->high = result->high;
    l->min = result->min;
    l->perturbation = result->counter_runs ? result->perturbation : 1;
    return 1;
}

/* Every repetition goes over all benchmarks, so that what drifts is not taken for one of them. */
static int run_all(zt_profiler *profiler, const options *o) {
    static line lines[MOST_LINES];
    static zt_bench_result results[MOST_LINES];
    int count = 0, done = 1;
    for (int repetition = 1; repetition <= o->repetitions; repetition++)
        for (uint32_t i = 0; i < JOBS && count < MOST_LINES; i++) {
            if (o->filter && !strstr(jobs[i].name, o->filter))
                continue;
            fprintf(stderr, "[repetition %d of %d] %s ...\n", repetition, o->repetitions, jobs[i].name);
            done &= run_one(profiler, &jobs[i], repetition, &results[count], &lines[count]);
            count += done;
        }
    zt_write_benches(profiler, results, (uint32_t)count, print_bytes, NULL);
    if (count == 0)
        fprintf(stderr, "no benchmark has that in its name: --list shows them\n");
    return done && count > 0 && (!o->output || write_lines(o->output, lines, count));
}

static int parse(int argc, char **argv, options *o) {
    memset(o, 0, sizeof *o);
    o->repetitions = 1;
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--filter=", 9) == 0)
            o->filter = argv[i] + 9;
        else if (strncmp(argv[i], "--output=", 9) == 0)
            o->output = argv[i] + 9;
        else if (strncmp(argv[i], "--compare=", 10) == 0)
            o->compare = argv[i] + 10;
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
    int done, right;

    if (!parse(argc, argv, &o)) {
        fprintf(stderr,
                "usage: %s [--filter=PART] [--list] [--repetitions=N] [--output=run.json|run.csv]\n"
                "       %s --compare=BEFORE,AFTER\n",
                argv[0], argv[0]);
        return EXIT_FAILURE;
    }
    for (uint32_t i = 0; o.list && i < JOBS; i++)
        printf("%s\n", jobs[i].name);
    if (o.list)
        return EXIT_SUCCESS;
    if (o.compare)
        return compare_files(o.compare) ? EXIT_SUCCESS : EXIT_FAILURE;

    bench_open(&b, argv[0]);
    profiler = profiler_open(&b.g, NULL);
    done = run_all(profiler, &o);
    right = is_right(&b);
    zt_close(profiler);
    bench_close(&b);
    if (!right)
        fprintf(stderr, "the results of the work are wrong\n");
    return done && right ? EXIT_SUCCESS : EXIT_FAILURE;
}
