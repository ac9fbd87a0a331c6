/* Whether the harness is honest on real kernels: a kernel compared with itself shows no difference, and with
   3% more work is found slower. What the machine does besides shows in the figures, which is why they are
   printed. */
#define ZETOOLS_IMPLEMENTATION
#include "zetools.h"

#include "../examples/example.h"

enum { GROUP = 256, ELEMENTS = 100 * GROUP, MORE = 103 * GROUP, TRIALS = 20 };

typedef struct job {
    program saxpy;
    immediate *work;
    uint32_t elements;
} job;

static int run(zt_profiler *profiler, void *user) {
    const job *j = (const job *)user;
    const ze_group_count_t groups = {j->elements / GROUP, 1, 1};
    SET_ARGUMENT(j->saxpy.kernel, 3, j->elements);
    ZT_REGION(profiler, j->work->list, "saxpy") {
        CHECK(zeCommandListAppendLaunchKernel(j->work->list, j->saxpy.kernel, &groups, NULL, 0, NULL));
    }
    immediate_wait(j->work);
    return 0;
}

/* In how many trials a difference is shown. */
static int differences(zt_profiler *profiler, job *a, job *b) {
    static zt_comparison result;
    zt_bench_config one, other;
    int differs = 0;
    memset(&one, 0, sizeof one);
    one.run = run;
    one.user = a;
    one.max_time_ns = 300000000;
    other = one;
    other.user = b;
    for (int i = 0; i < TRIALS; i++) {
        CHECK(zt_compare(profiler, &one, &other, &result));
        differs += result.differs;
    }
    return differs;
}

int main(int argc, char **argv) {
    gpu g = gpu_open(argv[0]);
    immediate work = immediate_open(&g);
    zt_profiler *profiler = profiler_open(&g, NULL);
    job base = {program_load(&g, "saxpy"), &work, ELEMENTS}, more = base;
    float *x = gpu_floats(&g, MORE), *y = gpu_floats(&g, MORE);
    const float factor = 0;

    (void)argc;
    more.elements = MORE;
    memset(x, 0, MORE * sizeof(float));
    memset(y, 0, MORE * sizeof(float));
    SET_ARGUMENT(base.saxpy.kernel, 0, y);
    SET_ARGUMENT(base.saxpy.kernel, 1, x);
    SET_ARGUMENT(base.saxpy.kernel, 2, factor);
    CHECK(zeKernelSetGroupSize(base.saxpy.kernel, GROUP, 1, 1));
    printf("with itself: a difference in %d of %d comparisons\n", differences(profiler, &base, &base),
           TRIALS);
    printf("with 3%% more work: a difference in %d of %d comparisons\n", differences(profiler, &base, &more),
           TRIALS);
    zt_close(profiler);
    immediate_close(&work);
    program_unload(&base.saxpy);
    CHECK(zeMemFree(g.context, x));
    CHECK(zeMemFree(g.context, y));
    gpu_close(&g);
    return EXIT_SUCCESS;
}
