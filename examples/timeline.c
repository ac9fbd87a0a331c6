/* Puts regions, rows of a stream, markers and calls of the host on one timeline: writes run.pftrace for Perfetto
   (ui.perfetto.dev), and run.trace.json for Chrome (chrome://tracing). run.instances.csv has a row for each sample,
   run.folded is for flame graphs, and run.prom for Prometheus. Regions have times here, so that the stream may have the
   counters: on most devices either of them can. Calls are timed by the tracer, which needs
   ZE_ENABLE_TRACING_LAYER=1 in the environment with loaders before 1.15.7.

       timeline [DIRECTORY FOR THE FILES] */
#define ZETOOLS_TRACER
#define ZETOOLS_IMPLEMENTATION
#include "zetools.h"

#include "example.h"

enum {
    STEPS = 40,
    ELEMENTS = 1 << 18, /* of the vectors */
    WIDTH = 128,        /* of the square matrices */
    TILE = 16,          /* of matmul.cl */
    GROUP = 256
};

typedef struct problem {
    program saxpy, matmul;
    float *x, *y, *copy; /* y += 2 x in every step, copied */
    float *a, *b, *c;    /* c = a b */
} problem;

/* ---- the work ------------------------------------------------------------------------------------------- */

static void launch(ze_command_list_handle_t list, const program *p, uint32_t across, uint32_t down) {
    const ze_group_count_t groups = {across, down, 1};
    CHECK(zeCommandListAppendLaunchKernel(list, p->kernel, &groups, NULL, 0, NULL));
    CHECK(zeCommandListAppendBarrier(list, NULL, 0, NULL));
}

static void append_vectors(zt_profiler *profiler, ze_command_list_handle_t list, problem *p) {
    ZT_REGION(profiler, list, "vectors") {
        ZT_REGION(profiler, list, "saxpy") {
            launch(list, &p->saxpy, ELEMENTS / GROUP, 1);
        }
        ZT_REGION(profiler, list, "copy") {
            CHECK(
                zeCommandListAppendMemoryCopy(list, p->copy, p->y, ELEMENTS * sizeof(float), NULL, 0, NULL));
            CHECK(zeCommandListAppendBarrier(list, NULL, 0, NULL));
        }
    }
}

static void append_matrices(zt_profiler *profiler, ze_command_list_handle_t list, problem *p) {
    ZT_REGION(profiler, list, "matmul") {
        for (int i = 0; i < 4; i++)
            launch(list, &p->matmul, WIDTH / TILE, WIDTH / TILE);
    }
}

/* ---- its data ------------------------------------------------------------------------------------------- */

static void set_arguments(problem *p) {
    const float factor = 2;
    const uint32_t elements = ELEMENTS, width = WIDTH;

    SET_ARGUMENT(p->saxpy.kernel, 0, p->y);
    SET_ARGUMENT(p->saxpy.kernel, 1, p->x);
    SET_ARGUMENT(p->saxpy.kernel, 2, factor);
    SET_ARGUMENT(p->saxpy.kernel, 3, elements);
    SET_ARGUMENT(p->matmul.kernel, 0, p->c);
    SET_ARGUMENT(p->matmul.kernel, 1, p->a);
    SET_ARGUMENT(p->matmul.kernel, 2, p->b);
    SET_ARGUMENT(p->matmul.kernel, 3, width);
    CHECK(zeKernelSetGroupSize(p->saxpy.kernel, GROUP, 1, 1));
    CHECK(zeKernelSetGroupSize(p->matmul.kernel, TILE, TILE, 1));
}

static problem problem_open(const gpu *g) {
    problem p;

    p.saxpy = program_load(g, "saxpy");
    p.matmul = program_load(g, "matmul");
    p.x = gpu_floats(g, ELEMENTS);
    p.y = gpu_floats(g, ELEMENTS);
    p.copy = gpu_floats(g, ELEMENTS);
    p.a = gpu_floats(g, WIDTH * WIDTH);
    p.b = gpu_floats(g, WIDTH * WIDTH);
    p.c = gpu_floats(g, WIDTH * WIDTH);
    for (uint32_t i = 0; i < ELEMENTS; i++) {
        p.x[i] = (float)(i % 5);
        p.y[i] = 1;
    }
    for (uint32_t i = 0; i < WIDTH * WIDTH; i++) {
        p.a[i] = 1;
        p.b[i] = (float)(i / WIDTH % 3);
    }
    set_arguments(&p);
    return p;
}

static void problem_close(const gpu *g, problem *p) {
    float *const memory[] = {p->x, p->y, p->copy, p->a, p->b, p->c};

    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        CHECK(zeMemFree(g->context, memory[i]));
    program_unload(&p->saxpy);
    program_unload(&p->matmul);
}

static int are_results_right(const problem *p) {
    float product = 0;

    for (uint32_t i = 0; i < WIDTH; i++)
        product += p->b[i * WIDTH];
    for (uint32_t i = 0; i < ELEMENTS; i++)
        if (p->y[i] != 1 + 2 * STEPS * p->x[i] || p->copy[i] != p->y[i])
            return 0;
    for (uint32_t i = 0; i < WIDTH * WIDTH; i++)
        if (p->c[i] != product)
            return 0;
    return 1;
}

/* ---- the program ---------------------------------------------------------------------------------------- */

/* Samples for the timeline of the profiler. If there can be none, it says why, and is NULL, which hurts
 * nobody.
 */
static zt_stream *attach_stream(const gpu *g, zt_profiler *profiler) {
    zt_stream_config config = {0};
    zt_stream *stream;

    config.period_ns = 200000;
    config.thread = 1;
    config.profiler = profiler;
    if (zt_stream_open(g->context, g->device, &config, &stream) != ZE_RESULT_SUCCESS)
        print_last_error();
    return stream;
}

/* Times the calls in which the host waits. Without the tracing layer the timeline has none. */
static void time_calls(zt_profiler *profiler) {
    zt_trace_config config = {0};

    config.no_launches = 1; /* regions are made by hand here */
    config.calls = "zeEventHostSynchronize";
    if (zt_trace_start(profiler, &config) != ZE_RESULT_SUCCESS)
        print_last_error();
}

/* What the rows of the stream show of each region. */
static void print_streamed(const zt_profiler *profiler) {
    for (uint32_t m = 0; m < zt_get_info(profiler).streamed_count; m++) {
        const zt_metric *metric = zt_get_metric(profiler, ZT_STREAMED(m));
        if (strcmp(metric->name, "GPU_BUSY") != 0 && strcmp(metric->name, "GPU_MEMORY_BYTE_READ_RATE") != 0)
            continue;
        for (uint32_t i = 0; i < zt_get_info(profiler).region_count; i++) {
            zt_region_info region;
            zt_stats streamed;
            CHECK(zt_get_region(profiler, i, &region));
            CHECK(zt_get_stats(profiler, i, ZT_STREAMED(m), &streamed));
            printf("%-8s %-26s mean %8.2f, peak %8.2f %-8s of %llu rows\n", region.name, metric->name,
                   streamed.mean, streamed.max, metric->units, (unsigned long long)streamed.count);
        }
    }
}

static int print_timeline(const zt_profiler *profiler, const char *path) {
    zt_timeline_info info = zt_get_timeline(profiler);

    printf("%s: %llu samples of regions, %llu rows\n", path, (unsigned long long)info.samples,
           (unsigned long long)info.rows);
    return info.samples == STEPS * 4;
}

int main(int argc, char **argv) {
    static const char *const others[] = {"run.pftrace", "run.instances.csv", "run.folded", "run.prom"};
    gpu g = gpu_open(argv[0]);
    problem p = problem_open(&g);
    immediate vectors = immediate_open(&g), matrices = immediate_open(&g);
    zt_config config = {0};
    zt_profiler *profiler;
    zt_stream *stream;
    char path[1024];
    int right, written, complete;

    config.groups = "";
    config.timeline = 4096;
    profiler = profiler_open(&g, &config);
    zt_name_list(profiler, vectors.list, "vector list");
    zt_name_list(profiler, matrices.list, "matrix list");
    stream = attach_stream(&g, profiler);
    time_calls(profiler);
    for (int i = 0; i < STEPS; i++) {
        zt_stream_mark(stream, vectors.list, "step");
        append_vectors(profiler, vectors.list, &p);
        append_matrices(profiler, matrices.list, &p);
        immediate_wait(&vectors);
        immediate_wait(&matrices);
        zt_collect(profiler, 0);
        zt_stream_read(stream, 0, NULL, NULL); /* the rows go to the profiler */
    }
    zt_trace_stop(profiler);
    zt_collect(profiler, TIMEOUT_NS);
    zt_stream_close(stream, NULL, NULL, NULL);

    right = are_results_right(&p);
    printf("results: %s\n", right ? "right" : "WRONG");
    print_streamed(profiler);
    snprintf(path, sizeof path, "%s/run.trace.json", argc > 1 ? argv[1] : ".");
    written = profiler_report(profiler, path);
    complete = print_timeline(profiler, path);
    for (int i = 0; i < 4; i++)
        written = profiler_report_in(profiler, argc > 1 ? argv[1] : ".", others[i]) && written;

    zt_release(profiler, vectors.list);
    zt_release(profiler, matrices.list);
    zt_close(profiler);
    immediate_close(&vectors);
    immediate_close(&matrices);
    problem_close(&g, &p);
    gpu_close(&g);
    return right && written && complete ? EXIT_SUCCESS : EXIT_FAILURE;
}
