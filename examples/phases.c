/* A program that never sees a command list names the phases of its time step. The runtime behind run_kernels() hides its
   lists, as SYCL, OpenMP or oneDNN do; the tracer sees what it launches, and a phase says for which part of the step.
   Loaders before 1.15.7 want ZE_ENABLE_TRACING_LAYER=1 in the environment; `make run-phases` sees to that. */
#define ZETOOLS_TRACER
#define ZETOOLS_IMPLEMENTATION
#include "zetools.h"

#include "example.h"
#include "third_party/stepper.h"

enum { STEPS = 20, ELEMENTS = 1 << 16, SWEEPS = 3, OUTPUT_EVERY = 5 };

/* Returns whether the runtime has computed what it should have. */
static int run_kernels(stepper *runtime, uint32_t steps, double *expected) {
    *expected += (double)ELEMENTS * steps; /* half of 2 in each step */
    return stepper_run(runtime, steps) == *expected;
}

static int run_step(stepper *runtime, int step, FILE *output, double *expected) {
    int right = 1;
    ZT_PHASE("step") {
        ZT_PHASE("assemble")
            right &= run_kernels(runtime, 1, expected);
        ZT_PHASE("solve")
            for (int sweep = 0; sweep < SWEEPS; sweep++)
                ZT_PHASE("sweep")
                    right &= run_kernels(runtime, 4, expected);
        if (step % OUTPUT_EVERY == 0)
            ZT_PHASE("output")
                fprintf(output, "step %d: sum %g\n", step, *expected);
    }
    return right;
}

int main(int argc, char **argv) {
    gpu g = gpu_open(argv[0]);
    zt_config config = {0};
    zt_trace_config trace = {0};
    FILE *output = tmpfile();
    zt_profiler *profiler;
    stepper *runtime;
    double expected = ELEMENTS;
    int right, complete;
    zt_region_info solve;

    (void)argc;
    config.timeline = 10000; /* for the time stamps in run.trace.json */
    profiler = profiler_open(&g, &config);
    if (zt_trace_start(profiler, &trace) != ZE_RESULT_SUCCESS)
        print_last_error();
    runtime = stepper_open(g.context, g.device, g.compute, g.kernels);
    right = runtime && output;
    for (int step = 0; runtime && output && step < STEPS; step++)
        right &= run_step(runtime, step, output, &expected);
    zt_trace_stop(profiler);
    zt_collect(profiler, TIMEOUT_NS);

    zt_report(profiler, "-");
    zt_report(profiler, "run.trace.json");
    CHECK(zt_get_region(profiler, zt_find_path(profiler, "step;solve"), &solve));
    printf("\nstep;solve was entered %llu times", (unsigned long long)solve.entered);
    if (solve.time_ns.count > 0)
        printf(", and took %.1f us of the GPU each time (median)", solve.time_ns.median / 1000);
    printf(".\n");
    complete = solve.entered == STEPS && solve.count == (uint64_t)STEPS * SWEEPS * (4 + 1);
    printf("results: %s; %s\n", right ? "right" : "WRONG",
           complete ? "every launch is in its phase" : "NOT ALL LAUNCHES ARE IN THEIR PHASE");
    zt_close(profiler);
    if (runtime)
        stepper_close(runtime);
    if (output)
        fclose(output);
    gpu_close(&g);
    return right && complete ? EXIT_SUCCESS : EXIT_FAILURE;
}
