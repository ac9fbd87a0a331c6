/* Measures what the device can do at the most: bytes a second between it and its memory, by a copy and by a kernel
   that copies; operations a second, by chains of multiply-adds. Prints ZT_PEAKS for the environment of a program:

       env $(build/examples/peaks) ./program

   Peaks of what a kernel in C reaches. A data sheet may promise more. */
#define ZETOOLS_IMPLEMENTATION
#include "zetools.h"

#include "example.h"

enum {
    ELEMENTS = 1 << 24, /* of each vector: more than the caches of most devices hold */
    ITEMS = 1 << 18,    /* that multiply and add */
    STEPS = 256,
    OPERATIONS = 16, /* of a step */
    GROUP = 256
};

typedef struct device {
    gpu g;
    immediate work;
    ze_module_handle_t module;
    ze_kernel_handle_t stream, multiply_add;
    float *from, *to;
} device;

static void launch(device *d, ze_kernel_handle_t kernel, uint32_t items) {
    const ze_group_count_t groups = {items / GROUP, 1, 1};
    CHECK(zeCommandListAppendLaunchKernel(d->work.list, kernel, &groups, NULL, 0, NULL));
}

static int copy(zt_profiler *profiler, void *user) {
    device *d = (device *)user;
    ZT_REGION(profiler, d->work.list, "copy")
    CHECK(
        zeCommandListAppendMemoryCopy(d->work.list, d->to, d->from, ELEMENTS * sizeof(float), NULL, 0, NULL));
    immediate_wait(&d->work);
    return 0;
}

static int stream(zt_profiler *profiler, void *user) {
    device *d = (device *)user;
    ZT_REGION(profiler, d->work.list, "kernel that copies")
    launch(d, d->stream, ELEMENTS);
    immediate_wait(&d->work);
    return 0;
}

static int multiply_add(zt_profiler *profiler, void *user) {
    device *d = (device *)user;
    ZT_REGION(profiler, d->work.list, "multiply-adds")
    launch(d, d->multiply_add, ITEMS);
    immediate_wait(&d->work);
    return 0;
}

/* Returns the rate of the fastest run, in units a second; 0 if it failed. */
static double measure(zt_profiler *profiler, device *d, int (*run)(zt_profiler *, void *), double units) {
    static zt_bench_result result;
    zt_bench_config config = {0};
    config.run = run;
    config.user = d;
    config.max_time_ns = 1000000000;
    if (zt_bench(profiler, &config, &result) != ZE_RESULT_SUCCESS) {
        print_last_error();
        return 0;
    }
    fprintf(stderr, "%-20s %8.1f %s\n", result.name, units / result.min,
            run == multiply_add ? "billion operations/s" : "GB/s");
    return units / result.min * 1e9;
}

static ze_kernel_handle_t create_kernel(ze_module_handle_t module, const char *name) {
    ze_kernel_desc_t description = {ZE_STRUCTURE_TYPE_KERNEL_DESC, NULL, 0, name};
    ze_kernel_handle_t kernel;
    CHECK(zeKernelCreate(module, &description, &kernel));
    CHECK(zeKernelSetGroupSize(kernel, GROUP, 1, 1));
    return kernel;
}

static device device_open(const char *program_path) {
    const float factor = 0.5f;
    const uint32_t steps = STEPS;
    device d;
    d.g = gpu_open(program_path);
    d.work = immediate_open(&d.g);
    d.module = module_load(&d.g, "peaks");
    d.stream = create_kernel(d.module, "stream");
    d.multiply_add = create_kernel(d.module, "multiply_add");
    d.from = gpu_floats(&d.g, ELEMENTS);
    d.to = gpu_floats(&d.g, ELEMENTS);
    for (uint32_t i = 0; i < ELEMENTS; i++)
        d.from[i] = 1;
    SET_ARGUMENT(d.stream, 0, d.to);
    SET_ARGUMENT(d.stream, 1, d.from);
    SET_ARGUMENT(d.multiply_add, 0, d.to);
    SET_ARGUMENT(d.multiply_add, 1, factor);
    SET_ARGUMENT(d.multiply_add, 2, steps);
    return d;
}

static void device_close(device *d) {
    CHECK(zeMemFree(d->g.context, d->from));
    CHECK(zeMemFree(d->g.context, d->to));
    CHECK(zeKernelDestroy(d->stream));
    CHECK(zeKernelDestroy(d->multiply_add));
    CHECK(zeModuleDestroy(d->module));
    immediate_close(&d->work);
    gpu_close(&d->g);
}

int main(int argc, char **argv) {
    device d = device_open(argv[0]);
    zt_profiler *profiler = profiler_open(&d.g, NULL);
    const double moved = 2.0 * ELEMENTS * sizeof(float);
    const double by_copy = measure(profiler, &d, copy, moved);
    const double by_kernel = measure(profiler, &d, stream, moved);
    const double operations = measure(profiler, &d, multiply_add, (double)OPERATIONS * STEPS * ITEMS);
    const double bytes = by_copy > by_kernel ? by_copy : by_kernel;

    (void)argc;
    zt_close(profiler);
    device_close(&d);
    if (!(bytes > 0 && operations > 0))
        return EXIT_FAILURE;
    printf("ZT_PEAKS=%.4g,%.4g\n", bytes, operations);
    return EXIT_SUCCESS;
}
