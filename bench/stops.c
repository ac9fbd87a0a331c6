/* Hot spots by stopping all threads of the device, where it does not sample instructions: how much longer a
   kernel takes with 10, 100 and 1000 stops a second than with none. */
#define ZETOOLS_TRACER
#define ZETOOLS_DEBUG
#define ZETOOLS_IMPLEMENTATION
#include "bench.h"

enum {
    ROUNDS = 5,
    ELEMENTS = 1 << 12,
    GROUP = 256,
    STEPS = 2000,
    NONE = 0,
    FEW = 10,
    MANY = 100,
    MOST = 1000
};

static const double RUN_NS = 4e8;

static ze_kernel_handle_t kernel;
static ze_command_list_handle_t list;
static ze_event_pool_handle_t pool;
static ze_event_handle_t done;

static double launch(void) {
    const ze_group_count_t groups = {ELEMENTS / GROUP, 1, 1};
    double begin = now_ns();
    CHECK(zeCommandListAppendLaunchKernel(list, kernel, &groups, done, 0, NULL));
    CHECK(zeEventHostSynchronize(done, UINT64_MAX));
    CHECK(zeEventHostReset(done));
    return now_ns() - begin;
}

/* Returns the mean time of a launch, in nanoseconds, and adds the samples. */
static double mean_time(zt_profiler *profiler, uint32_t stops_a_second, uint64_t *samples) {
    zt_hotspots_config config = zt_hotspots_config_default();
    uint64_t before = zt_hotspots_get_counts(profiler).matched;
    double sum = 0;
    int launches = 0;
    config.stops_a_second = stops_a_second;
    if (stops_a_second)
        CHECK(zt_hotspots_start(profiler, &config));
    for (; sum < RUN_NS; launches++)
        sum += launch();
    CHECK(zt_hotspots_stop(profiler));
    *samples += zt_hotspots_get_counts(profiler).matched - before;
    return sum / launches;
}

static void prepare(const char *program, ze_module_handle_t *module, float **roots) {
    const uint32_t count = ELEMENTS, steps = STEPS;
    ze_device_mem_alloc_desc_t device = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, NULL, 0, 0};
    ze_host_mem_alloc_desc_t host = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, NULL, 0};
    ze_event_pool_desc_t pool_desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, NULL,
                                      ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 1};
    ze_event_desc_t event = {ZE_STRUCTURE_TYPE_EVENT_DESC, NULL, 0, ZE_EVENT_SCOPE_FLAG_HOST,
                             ZE_EVENT_SCOPE_FLAG_HOST};
    float *values;
    CHECK(zeEventPoolCreate(gpu.context, &pool_desc, 1, &gpu.device, &pool));
    CHECK(zeEventCreate(pool, &event, &done));
    CHECK(zeMemAllocShared(gpu.context, &device, &host, 2 * ELEMENTS * sizeof **roots, 64, gpu.device,
                           (void **)roots));
    values = *roots + ELEMENTS;
    for (int i = 0; i < ELEMENTS; i++)
        values[i] = 1.0f + 0.5f * (float)i;
    load_kernel(program, "cbrt", module, &kernel);
    CHECK(zeKernelSetGroupSize(kernel, GROUP, 1, 1));
    CHECK(zeKernelSetArgumentValue(kernel, 0, sizeof *roots, roots));
    CHECK(zeKernelSetArgumentValue(kernel, 1, sizeof values, &values));
    CHECK(zeKernelSetArgumentValue(kernel, 2, sizeof count, &count));
    CHECK(zeKernelSetArgumentValue(kernel, 3, sizeof steps, &steps));
}

int main(int argc, char **argv) {
    zt_config config = zt_config_default();
    zt_trace_config trace = {0};
    double few[ROUNDS], many[ROUNDS], most[ROUNDS], none;
    uint64_t samples[4] = {0, 0, 0, 0};
    ze_module_handle_t module;
    zt_profiler *profiler;
    target on;
    float *roots;
    (void)argc;
    setenv("ZE_ENABLE_TRACING_LAYER", "1", 1);
    open_gpu();
    gpu.behave(SOFTGPU_CHEAP_CALLS, 0); /* else launches run on the thread that appends them */
    gpu.behave(SOFTGPU_STALL_SAMPLING, 0);
    gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 0);
    on = open_target(IMMEDIATE);
    list = on.list;
    config.groups = "";
    trace.no_launches = 1;
    CHECK(zt_open(gpu.context, gpu.device, &config, &profiler));
    CHECK(zt_trace_start(profiler, &trace));
    prepare(argv[0], &module, &roots);
    launch();
    for (int i = 0; i < ROUNDS; i++) {
        none = mean_time(profiler, NONE, &samples[0]);
        few[i] = mean_time(profiler, FEW, &samples[1]) / none;
        many[i] = mean_time(profiler, MANY, &samples[2]) / none;
        most[i] = mean_time(profiler, MOST, &samples[3]) / none;
    }
    put_ratio("stops_10_a_second", median(few, ROUNDS), STATED, 0);
    put_ratio("stops_100_a_second", median(many, ROUNDS), STATED, 0);
    put_ratio("stops_1000_a_second", median(most, ROUNDS), STATED, 0);
    NEED(samples[0] == 0 && samples[1] > 0 && samples[2] > 0 && samples[3] > 0);
    zt_close(profiler);
    CHECK(zeEventDestroy(done));
    CHECK(zeEventPoolDestroy(pool));
    CHECK(zeKernelDestroy(kernel));
    CHECK(zeModuleDestroy(module));
    CHECK(zeMemFree(gpu.context, roots));
    close_target(&on);
    CHECK(zeContextDestroy(gpu.context));
    return EXIT_SUCCESS;
}
