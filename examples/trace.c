/* Profiles a library that knows nothing of it: every kernel that it launches becomes a region, and the calls
   that it makes are timed. The code between zt_trace_start() and zt_trace_stop() is what it would be without.
   Loaders before 1.15.7 want ZE_ENABLE_TRACING_LAYER=1 in the environment; `make run-trace` sees to that. */
#define ZETOOLS_TRACER
#define ZETOOLS_IMPLEMENTATION
#include "zetools.h"

#include "example.h"
#include "third_party/stepper.h"

enum { RUNS = 10, STEPS = 50, ELEMENTS = 1 << 16 };

static int use_library(const gpu *g) {
    stepper *steps = stepper_open(g->context, g->device, g->compute, g->kernels);
    double expected = ELEMENTS;
    int right = steps != NULL;

    for (int i = 0; right && i < RUNS; i++) {
        expected += (double)ELEMENTS * STEPS; /* half of 2 in each step */
        right = stepper_run(steps, STEPS) == expected;
    }
    if (steps)
        stepper_close(steps);
    return right;
}

static uint64_t count_of(const zt_profiler *profiler, const char *name) {
    for (uint32_t i = 0; i < zt_get_info(profiler).region_count; i++) {
        zt_region_info region;
        CHECK(zt_get_region(profiler, i, &region));
        if (strcmp(region.name, name) == 0)
            return region.count;
    }
    return 0;
}

int main(int argc, char **argv) {
    gpu g = gpu_open(argv[0]);
    zt_profiler *profiler = profiler_open(&g, NULL);
    zt_trace_config config = {0};
    int right, complete;

    (void)argc;
    config.calls = "zeCommandQueue*,zeCommandListAppendLaunchKernel,zeModuleCreate";
    if (zt_trace_start(profiler, &config) != ZE_RESULT_SUCCESS)
        print_last_error();
    right = use_library(&g);
    zt_trace_stop(profiler);
    zt_collect(profiler, TIMEOUT_NS);

    zt_report(profiler, "-");
    complete = count_of(profiler, "saxpy") == RUNS * STEPS && count_of(profiler, "reduce") == RUNS;
    printf("\nresults: %s; %s\n", right ? "right" : "WRONG",
           complete ? "every execution of every kernel was measured" : "NOT ALL KERNELS WERE MEASURED");
    zt_close(profiler);
    gpu_close(&g);
    return right && complete ? EXIT_SUCCESS : EXIT_FAILURE;
}
