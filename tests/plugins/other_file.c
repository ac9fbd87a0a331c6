#define ZETOOLS_STATIC
#define ZETOOLS_IMPLEMENTATION
#include "zetools.h"

#include "other_file.h"

ze_result_t other_open(ze_context_handle_t context, ze_device_handle_t device, const zt_config *config,
                       zt_profiler **profiler) {
    return zt_open(context, device, config, profiler);
}

ze_result_t other_collect(zt_profiler *profiler, uint64_t timeout_ns) {
    return zt_collect(profiler, timeout_ns);
}

void other_run(zt_profiler *profiler, ze_command_list_handle_t list, const char *name) {
    zt_region region = zt_begin(profiler, list, name);
    zt_end(&region);
}

zt_counts other_counts(const zt_profiler *profiler) {
    return zt_get_info(profiler).counts;
}

void other_close(zt_profiler *profiler) {
    zt_close(profiler);
}
