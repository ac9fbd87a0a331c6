/* A shared library that watches. The program that loads it has another copy of the library, or none. */
#define ZETOOLS_DEBUG
#define ZETOOLS_STATIC
#define ZETOOLS_IMPLEMENTATION
#include "zetools.h"

#include <string.h>

void watch_from_library(ze_context_handle_t context, ze_device_handle_t device, zt_watch_info *info);

/* Watches for an instant, and stores who could debug the process. */
void watch_from_library(ze_context_handle_t context, ze_device_handle_t device, zt_watch_info *info) {
    zt_config config = zt_config_default();
    zt_profiler *profiler;
    memset(info, 0, sizeof *info);
    config.groups = "";
    if (zt_open(context, device, &config, &profiler) == ZE_RESULT_SUCCESS &&
        zt_watch(profiler, NULL) == ZE_RESULT_SUCCESS)
        *info = zt_watch_get_info(profiler);
    zt_close(profiler);
}
