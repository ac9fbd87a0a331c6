/* Named regions around real kernels: a vector update, a tiled matrix product and a reduction, a hundred
   times. Prints a table of what was measured, and writes run.html, run.csv and run.json.

       regions [DIRECTORY FOR THE FILES] */
#define ZETOOLS_IMPLEMENTATION
#include "zetools.h"

#include "example.h"

enum {
    STEPS = 100,
    ELEMENTS = 1 << 18, /* of the vectors */
    WIDTH = 128,        /* of the square matrices */
    TILE = 16,          /* of matmul.cl */
    GROUP = 256         /* work-items to a group of saxpy.cl and reduce.cl */
};

typedef struct problem {
    program saxpy, matmul, reduce;
    float *input;     /* is copied to x in every step */
    float *x, *y;     /* y += 2 x in every step */
    float *a, *b, *c; /* c = a b */
    float *partial;   /* sums, pass after pass */
    const float *sum; /* of the elements of x, the last of them */
} problem;

/* ---- the work ------------------------------------------------------------------------------------------ */

/* What follows uses the results of what went before. */
static void barrier(ze_command_list_handle_t list) {
    CHECK(zeCommandListAppendBarrier(list, NULL, 0, NULL));
}

static void launch(ze_command_list_handle_t list, const program *p, uint32_t across, uint32_t down) {
    const ze_group_count_t groups = {across, down, 1};
    CHECK(zeCommandListAppendLaunchKernel(list, p->kernel, &groups, NULL, 0, NULL));
    barrier(list);
}

/* Each pass leaves one sum a group, until there is one. */
static void reduce(zt_profiler *profiler, ze_command_list_handle_t list, problem *p) {
    const float *from = p->x;
    float *to = p->partial;

    for (uint32_t count = ELEMENTS, groups; count > 1; count = groups) {
        groups = (count + GROUP - 1) / GROUP;
        SET_ARGUMENT(p->reduce.kernel, 0, to);
        SET_ARGUMENT(p->reduce.kernel, 1, from);
        SET_ARGUMENT(p->reduce.kernel, 2, count);
        ZT_REGION(profiler, list, "reduce pass") {
            launch(list, &p->reduce, groups, 1);
        }
        from = to;
        to += groups;
    }
    p->sum = from;
}

static void step(zt_profiler *profiler, ze_command_list_handle_t list, problem *p) {
    const size_t bytes = ELEMENTS * sizeof(float);

    ZT_REGION(profiler, list, "step") {
        ZT_REGION(profiler, list, "upload") {
            CHECK(zeCommandListAppendMemoryCopy(list, p->x, p->input, bytes, NULL, 0, NULL));
            barrier(list);
        }
        ZT_REGION(profiler, list, "saxpy") {
            launch(list, &p->saxpy, ELEMENTS / GROUP, 1);
        }
        ZT_REGION(profiler, list, "matmul") {
            launch(list, &p->matmul, WIDTH / TILE, WIDTH / TILE);
        }
        ZT_REGION(profiler, list, "reduce") {
            reduce(profiler, list, p);
        }
    }
}

/* ---- its data ------------------------------------------------------------------------------------------ */

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
    CHECK(zeKernelSetGroupSize(p->reduce.kernel, GROUP, 1, 1));
}

/* Small whole numbers, so that the right results are exact. */
static void fill(problem *p) {
    for (uint32_t i = 0; i < ELEMENTS; i++) {
        p->input[i] = (float)(i % 5);
        p->y[i] = 1;
    }
    for (uint32_t i = 0; i < WIDTH * WIDTH; i++) {
        p->a[i] = (float)(i % 7);
        p->b[i] = (float)(i % 3);
    }
}

static problem problem_open(const gpu *g) {
    problem p;

    p.saxpy = program_load(g, "saxpy");
    p.matmul = program_load(g, "matmul");
    p.reduce = program_load(g, "reduce");
    p.input = gpu_floats(g, ELEMENTS);
    p.x = gpu_floats(g, ELEMENTS);
    p.y = gpu_floats(g, ELEMENTS);
    p.partial = gpu_floats(g, ELEMENTS);
    p.a = gpu_floats(g, WIDTH * WIDTH);
    p.b = gpu_floats(g, WIDTH * WIDTH);
    p.c = gpu_floats(g, WIDTH * WIDTH);
    p.sum = NULL;
    set_arguments(&p);
    fill(&p);
    return p;
}

static void problem_close(const gpu *g, problem *p) {
    float *memory[] = {p->input, p->x, p->y, p->partial, p->a, p->b, p->c};

    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        CHECK(zeMemFree(g->context, memory[i]));
    program_unload(&p->saxpy);
    program_unload(&p->matmul);
    program_unload(&p->reduce);
}

/* ---- its results --------------------------------------------------------------------------------------- */

static int is_product_right(const problem *p) {
    for (uint32_t row = 0; row < WIDTH; row++) {
        for (uint32_t column = 0; column < WIDTH; column++) {
            float expected = 0;
            for (uint32_t i = 0; i < WIDTH; i++)
                expected += p->a[row * WIDTH + i] * p->b[i * WIDTH + column];
            if (p->c[row * WIDTH + column] != expected)
                return 0;
        }
    }
    return 1;
}

static int are_results_right(const problem *p) {
    float sum = 0;

    for (uint32_t i = 0; i < ELEMENTS; i++) {
        sum += p->input[i];
        if (p->y[i] != 1 + 2 * STEPS * p->input[i])
            return 0;
    }
    return *p->sum == sum && is_product_right(p);
}

/* ---- the program --------------------------------------------------------------------------------------- */

static int write_reports(const zt_profiler *profiler, const char *directory) {
    static const char *const names[] = {"run.html", "run.csv", "run.json"};
    int written = profiler_report(profiler, "-");

    for (int i = 0; i < 3; i++)
        written = profiler_report_in(profiler, directory, names[i]) && written;
    return written;
}

/* No metric counts operations, so the roofline of run.html takes them from here. */
static void state_operations(zt_profiler *profiler) {
    zt_set_operations(profiler, "saxpy", 2.0 * ELEMENTS);
    zt_set_operations(profiler, "matmul", 2.0 * WIDTH * WIDTH * WIDTH);
    zt_set_operations(profiler, "reduce pass", (ELEMENTS - 1) / 3.0); /* in the mean of three passes */
}

int main(int argc, char **argv) {
    gpu g = gpu_open(argv[0]);
    problem p = problem_open(&g);
    immediate work = immediate_open(&g);
    zt_config config = {0};
    zt_profiler *profiler;
    int right, written;

    config.timeline = 10 * STEPS; /* for the strip in run.html */
    profiler = profiler_open(&g, &config);
    state_operations(profiler);
    for (int i = 0; i < STEPS; i++) {
        step(profiler, work.list, &p);
        immediate_wait(&work);
        zt_collect(profiler, 0);
    }
    zt_collect(profiler, TIMEOUT_NS);
    right = are_results_right(&p);
    printf("results: %s\n\n", right ? "right" : "WRONG");
    written = write_reports(profiler, argc > 1 ? argv[1] : ".");

    zt_release(profiler, work.list);
    zt_close(profiler);
    immediate_close(&work);
    problem_close(&g, &p);
    gpu_close(&g);
    return right && written ? EXIT_SUCCESS : EXIT_FAILURE;
}
