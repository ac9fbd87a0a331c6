/* Variables of the environment. */
#include "fuzz.h"

#include <stdlib.h>

enum { ROOM = 300 };

static const char *const variables[] = {
    "ZT_GROUPS",   "ZT_METRICS",       "ZT_COLUMNS", "ZT_REPORT", "ZT_PEAKS",
    "ZT_TIMELINE", "ZT_LOG",           "ZT_KERNELS", "ZT_COPIES", "ZT_CALLS",
    "ZT_MODULES",  "ZT_PROFILE_FLAGS", "COLUMNS",    "ZT_AUTO",   "ZT_HOTSPOTS",
};

int LLVMFuzzerInitialize(int *count, char ***arguments) {
    (void)count, (void)arguments;
    setenv("ZE_ENABLE_TRACING_LAYER", "1", 1);
    return open_fuzz_world();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    enum { VARIABLES = sizeof variables / sizeof variables[0] };
    fuzz_input input = {bytes, size};
    zt_config config = fuzz_config();
    zt_profiler *profiler = NULL;
    char text[ROOM];
    for (int i = 0; i < VARIABLES; i++)
        unsetenv(variables[i]);
    while (input.size > 0) {
        const char *name = variables[take_byte(&input) % VARIABLES];
        take_text(&input, text, sizeof text);
        setenv(name, text, 1);
    }
    if (zt_open(world.context, world.device, &config, &profiler) == ZE_RESULT_SUCCESS) {
        zt_trace_start(profiler, NULL);
        ze_module_handle_t module = fuzz_create_module();
        ze_kernel_handle_t kernel = fuzz_create_kernel(module);
        ze_group_count_t groups = {1, 1, 1};
        must(zeCommandListAppendLaunchKernel(world.list, kernel, &groups, NULL, 0, NULL) ==
             ZE_RESULT_SUCCESS);
        ZT_REGION(profiler, world.list, "region")
        fuzz_launch();
        must(zeKernelDestroy(kernel) == ZE_RESULT_SUCCESS && zeModuleDestroy(module) == ZE_RESULT_SUCCESS);
        zt_trace_stop(profiler);
        zt_collect(profiler, 100000000);
        fuzz_report(profiler);
        zt_close(profiler);
    }
    check_memory();
    return 0;
}
