/* Counts how often a loop inside a kernel runs, in a program that knows nothing of it. While the program is
   traced, its kernel is replaced by an instrumented build of the same source, which counts in a variable of
   its module. With ZT_MODULES=DIRECTORY in the environment, the binary of the program's module is left there
   as well.
   Loaders before 1.15.7 want ZE_ENABLE_TRACING_LAYER=1 in the environment; `make run-instrument` sees to
   that. */
#define ZETOOLS_TRACER
#define ZETOOLS_IMPLEMENTATION
#include "zetools.h"

#include "example.h"

enum { PAIRS = 1 << 14, GROUP = 256, LAUNCHES = 10 };

/* ---- a program ----------------------------------------------------------------------------------------- */

static uint32_t pair_a(uint32_t i) {
    return 1 + i * 7919 % 100003;
}

static uint32_t pair_b(uint32_t i) {
    return 1 + i * 104729 % 50021;
}

static uint32_t greatest_common_divisor(uint32_t x, uint32_t y, uint32_t *iterations) {
    while (y != 0) {
        uint32_t rest = x % y;
        x = y;
        y = rest;
        ++*iterations;
    }
    return x;
}

/* Returns whether the device and the host find the same. */
static int run_program(const gpu *g) {
    const ze_group_count_t groups = {PAIRS / GROUP, 1, 1};
    const uint32_t pairs = PAIRS;
    program p = program_load(g, "gcd");
    immediate work = immediate_open(g);
    uint32_t *memory = (uint32_t *)gpu_memory(g, 3 * PAIRS * sizeof *memory);
    uint32_t *a = memory, *b = a + PAIRS, *result = b + PAIRS, ignored = 0;
    int right = 1;

    for (uint32_t i = 0; i < PAIRS; i++) {
        a[i] = pair_a(i);
        b[i] = pair_b(i);
    }
    CHECK(zeKernelSetGroupSize(p.kernel, GROUP, 1, 1));
    SET_ARGUMENT(p.kernel, 0, result);
    SET_ARGUMENT(p.kernel, 1, a);
    SET_ARGUMENT(p.kernel, 2, b);
    SET_ARGUMENT(p.kernel, 3, pairs);
    for (int i = 0; i < LAUNCHES; i++)
        CHECK(zeCommandListAppendLaunchKernel(work.list, p.kernel, &groups, NULL, 0, NULL));
    immediate_wait(&work);
    for (uint32_t i = 0; i < PAIRS; i++)
        right = right && result[i] == greatest_common_divisor(a[i], b[i], &ignored);
    CHECK(zeMemFree(g->context, memory));
    immediate_close(&work);
    program_unload(&p);
    return right;
}

/* ---- a tool -------------------------------------------------------------------------------------------- */

/* Reads a variable of a module, which is in memory of the device, or sets it. */
static uint32_t exchange(const gpu *g, ze_module_handle_t module, const char *name, const uint32_t *value) {
    immediate work = immediate_open(g);
    uint32_t *copy = (uint32_t *)gpu_memory(g, sizeof *copy), read;
    size_t size = 0;
    void *variable;

    CHECK(zeModuleGetGlobalPointer(module, name, &size, &variable));
    if (value) {
        *copy = *value;
        CHECK(zeCommandListAppendMemoryCopy(work.list, variable, copy, sizeof *copy, NULL, 0, NULL));
    } else {
        CHECK(zeCommandListAppendMemoryCopy(work.list, copy, variable, sizeof *copy, NULL, 0, NULL));
    }
    immediate_wait(&work);
    read = *copy;
    CHECK(zeMemFree(g->context, copy));
    immediate_close(&work);
    return read;
}

static uint32_t expected_iterations(void) {
    uint32_t iterations = 0;
    for (uint32_t i = 0; i < PAIRS; i++)
        greatest_common_divisor(pair_a(i), pair_b(i), &iterations);
    return iterations * LAUNCHES;
}

int main(int argc, char **argv) {
    gpu g = gpu_open(argv[0]);
    zt_profiler *profiler = profiler_open(&g, NULL);
    ze_module_handle_t instrumented = module_load(&g, "gcd_counted");
    const uint32_t zero = 0;
    uint32_t counted;
    int right, complete;

    (void)argc;
    exchange(&g, instrumented, "iterations", &zero);
    if (zt_replace(profiler, "gcd", instrumented, NULL) != ZE_RESULT_SUCCESS ||
        zt_trace_start(profiler, NULL) != ZE_RESULT_SUCCESS)
        print_last_error();
    right = run_program(&g);
    zt_trace_stop(profiler);
    zt_collect(profiler, TIMEOUT_NS);

    zt_report(profiler, "-");
    counted = exchange(&g, instrumented, "iterations", NULL);
    complete = counted == expected_iterations();
    printf("\nresults: %s; the loop of gcd has run %u times: %.2f for a pair, %s\n",
           right ? "right" : "WRONG", (unsigned)counted, (double)counted / PAIRS / LAUNCHES,
           complete ? "as on the host" : "OTHER THAN ON THE HOST");
    zt_close(profiler);
    CHECK(zeModuleDestroy(instrumented));
    gpu_close(&g);
    return right && complete ? EXIT_SUCCESS : EXIT_FAILURE;
}
