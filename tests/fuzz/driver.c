/* A driver whose names have no end, and whose sizes, counts, types, values and times are anything. */
#include "fuzz.h"

int LLVMFuzzerInitialize(int *count, char ***arguments) {
    (void)count, (void)arguments;
    return open_fuzz_world();
}

static int see_row(const zt_row *row, void *user) {
    (void)row, (void)user;
    return 0;
}

static int drop(const void *bytes, size_t size, void *user) {
    (void)bytes, (void)size, (void)user;
    return 0;
}

static void stream(zt_profiler *profiler, fuzz_input *input) {
    zt_stream_config config = {0};
    zt_stream *opened = NULL;
    config.allocator = fuzz_config().allocator;
    config.log = fuzz_config().log;
    config.profiler = profiler;
    config.group = "ComputeBasic";
    set_hostile(input);
    if (zt_stream_open(world.context, world.device, &config, &opened) == ZE_RESULT_SUCCESS) {
        zt_stream_mark(opened, world.list, "mark");
        fuzz_launch();
        zt_stream_read(opened, 0, see_row, NULL);
        zt_stream_close(opened, see_row, NULL, NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    fuzz_input input = {bytes, size};
    zt_config config = fuzz_config();
    zt_profiler *profiler = NULL;
    uint8_t options = take_byte(&input);
    set_sub_devices(options & 1 ? 2 : 0);
    config.groups = options & 2 ? NULL : options & 4 ? "ComputeBasic,MemoryProfile" : "ComputeBasic";
    config.max_passes = 2;
    config.metrics = options & 8 ? "GPU_BUSY,COMMAND*" : NULL;
    config.timeline = options & 16 ? 16 : 0;
    config.wait_timeout_ns = 1000000;
    set_hostile(&input);
    if (options & 32)
        zt_write_groups(world.device, 1, drop, NULL);
    if (zt_open(world.context, world.device, &config, &profiler) == ZE_RESULT_SUCCESS) {
        if (options & 64)
            zt_trace_start(profiler, NULL);
        set_hostile(NULL);
        ze_module_handle_t module = fuzz_create_module();
        set_hostile(&input);
        ze_kernel_handle_t kernel = fuzz_create_kernel(module);
        ze_group_count_t groups = {1, 1, 1};
        for (int i = 0; i < 2; i++) {
            ZT_REGION(profiler, world.list, "outer") {
                ZT_REGION(profiler, world.list, "inner")
                zeCommandListAppendLaunchKernel(world.list, kernel, &groups, NULL, 0, NULL);
            }
            zt_collect(profiler, 0);
        }
        zeKernelDestroy(kernel);
        zeModuleDestroy(module);
        if (options & 128)
            stream(profiler, &input);
        zt_collect(profiler, 0);
        fuzz_report(profiler);
        zt_close(profiler);
    }
    set_hostile(NULL);
    set_sub_devices(0);
    check_memory();
    return 0;
}
