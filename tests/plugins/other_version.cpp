#define ZETOOLS_STATIC
#define ZETOOLS_IMPLEMENTATION
#include "zetools.h"

#include "other_version.h"

int count_scopes_of_other_version(ze_context_handle_t context, ze_device_handle_t device,
                                  ze_command_list_handle_t list) {
    zt_profiler *profiler;
    zt_config config = {};
    int begun;
    config.groups = "";
    if (zt_open(context, device, &config, &profiler) != ZE_RESULT_SUCCESS)
        return -1;
    {
        ZT_SCOPE(profiler, list, "outer");
        ZT_SCOPE(profiler, list, "inner");
    }
    ZT_REGION(profiler, list, "region") {
        break;
    }
    begun = static_cast<int>(zt_get_info(profiler).counts.begun);
    /* The device is done before the close. */
    if (zt_collect(profiler, UINT64_C(10000000000)) != ZE_RESULT_SUCCESS)
        begun = -1;
    zt_close(profiler);
    return begun;
}
