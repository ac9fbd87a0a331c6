/* A stream at 100 microseconds beside a busy queue, with the reader thread on: rows a second, the share of
   one core that reading and calculating take, and drops. Fails where no row came, or memory grew.

       stream [SECONDS] */
#define ZETOOLS_IMPLEMENTATION
#include "zetools.h"

#include "examples/example.h"

#include <time.h>

enum { SECONDS = 10, PERIOD_NS = 100000, ELEMENTS = 1 << 16, GROUP = 256, LAUNCHES = 64 };

/* ---- memory that is counted ----------------------------------------------------------------------------- */

static uint64_t allocations, bytes;

static void *allocate(size_t size, void *user) {
    (void)user;
    allocations++;
    bytes += size;
    return malloc(size);
}

static void release(void *memory, void *user) {
    (void)user;
    free(memory);
}

/* ---- a queue that is busy ------------------------------------------------------------------------------- */

typedef struct work {
    program saxpy;
    float *x, *y;
    immediate device;
} work;

static work work_open(const gpu *g) {
    const float factor = 0;
    const uint32_t elements = ELEMENTS;
    work w;

    w.saxpy = program_load(g, "saxpy");
    w.x = gpu_floats(g, ELEMENTS);
    w.y = gpu_floats(g, ELEMENTS);
    w.device = immediate_open(g);
    memset(w.x, 0, ELEMENTS * sizeof(float));
    memset(w.y, 0, ELEMENTS * sizeof(float));
    SET_ARGUMENT(w.saxpy.kernel, 0, w.y);
    SET_ARGUMENT(w.saxpy.kernel, 1, w.x);
    SET_ARGUMENT(w.saxpy.kernel, 2, factor);
    SET_ARGUMENT(w.saxpy.kernel, 3, elements);
    CHECK(zeKernelSetGroupSize(w.saxpy.kernel, GROUP, 1, 1));
    return w;
}

static void work_close(const gpu *g, work *w) {
    immediate_close(&w->device);
    CHECK(zeMemFree(g->context, w->x));
    CHECK(zeMemFree(g->context, w->y));
    program_unload(&w->saxpy);
}

static void keep_busy(work *w) {
    const ze_group_count_t groups = {ELEMENTS / GROUP, 1, 1};

    for (int i = 0; i < LAUNCHES; i++)
        CHECK(zeCommandListAppendLaunchKernel(w->device.list, w->saxpy.kernel, &groups, NULL, 0, NULL));
    immediate_wait(&w->device);
}

/* ---- what is measured ----------------------------------------------------------------------------------- */

typedef struct result {
    double seconds, reading, calculating; /* the last two of processor time */
    double covered;                       /* seconds, by the rows */
    uint64_t allocations;                 /* while it ran */
    zt_stream_counts counts;
} result;

static double seconds_of(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The metric by which a row tells how long it was. */
static uint32_t length_metric;

static int add_row(const zt_row *row, void *user) {
    result *r = (result *)user;
    if (length_metric < row->metric_count)
        r->covered += 1e-9 * row->values[length_metric];
    return 0;
}

static void read_rows(zt_stream *stream, result *r) {
    double before = seconds_of(CLOCK_THREAD_CPUTIME_ID);

    zt_stream_read(stream, 0, add_row, r);
    r->calculating += seconds_of(CLOCK_THREAD_CPUTIME_ID) - before;
}

static result run(zt_stream *stream, work *w, double seconds) {
    result r;
    double begin = seconds_of(CLOCK_MONOTONIC);

    memset(&r, 0, sizeof r);
    read_rows(stream, &r);
    r.allocations = allocations;
    while (r.seconds < seconds) {
        keep_busy(w);
        read_rows(stream, &r);
        r.seconds = seconds_of(CLOCK_MONOTONIC) - begin;
    }
    r.allocations = allocations - r.allocations;
    r.reading = 1e-9 * (double)zt_stream_get_info(stream).thread_cpu_ns;
    zt_stream_close(stream, add_row, &r, &r.counts);
    return r;
}

static void print_result(const result *r, uint32_t period_ns) {
    double cpu = r->reading + r->calculating;

    printf("ratio stream %.4g target - ok\n", cpu / r->seconds);
    printf("stream: a row every %.1f us for %.1f s, beside a busy queue\n", 1e-3 * period_ns, r->seconds);
    printf("  rows             %10llu, %.0f a second\n", (unsigned long long)r->counts.rows,
           (double)r->counts.rows / r->seconds);
    printf("  covered          %10.2f %% of the time\n", 100 * r->covered / r->seconds);
    printf("  processor time   %10.2f %% of one core: reading %.2f %%, calculating and delivering %.2f %%\n",
           100 * cpu / r->seconds, 100 * r->reading / r->seconds, 100 * r->calculating / r->seconds);
    printf("  a row            %10.2f us\n", 1e6 * cpu / (double)(r->counts.rows ? r->counts.rows : 1));
    printf("  drops            %10llu gaps, %llu reports\n", (unsigned long long)r->counts.gaps,
           (unsigned long long)r->counts.dropped);
    printf("  memory           %10.1f MiB, %llu allocations while it ran\n", (double)bytes / (1 << 20),
           (unsigned long long)r->allocations);
}

int main(int argc, char **argv) {
    gpu g = gpu_open(argv[0]);
    work w = work_open(&g);
    zt_stream_config config = {0};
    zt_stream *stream;
    uint32_t period_ns;
    result r;

    config.period_ns = PERIOD_NS;
    config.thread = 1;
    config.allocator.allocate = allocate;
    config.allocator.release = release;
    if (zt_stream_open(g.context, g.device, &config, &stream) != ZE_RESULT_SUCCESS) {
        print_last_error();
        return EXIT_FAILURE;
    }
    length_metric = zt_stream_find_metric(stream, "GpuTime");
    period_ns = zt_stream_get_info(stream).period_ns;
    r = run(stream, &w, argc > 1 ? atof(argv[1]) : SECONDS);
    print_result(&r, period_ns);
    work_close(&g, &w);
    gpu_close(&g);
    return r.counts.rows > 0 && r.allocations == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
