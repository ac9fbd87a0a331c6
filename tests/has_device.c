/* Succeeds where the Level Zero loader finds a GPU. */
#include <level_zero/ze_api.h>

static int driver_has_gpu(ze_driver_handle_t driver) {
    uint32_t count = 1;
    ze_device_handle_t device;
    if (zeDeviceGet(driver, &count, &device) != ZE_RESULT_SUCCESS || count == 0)
        return 0;

    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    return zeDeviceGetProperties(device, &properties) == ZE_RESULT_SUCCESS &&
           properties.type == ZE_DEVICE_TYPE_GPU;
}

int main(void) {
    ze_driver_handle_t drivers[16];
    uint32_t count = sizeof drivers / sizeof drivers[0];
    if (zeInit(0) != ZE_RESULT_SUCCESS || zeDriverGet(&count, drivers) != ZE_RESULT_SUCCESS)
        return 1;

    for (uint32_t i = 0; i < count; i++)
        if (driver_has_gpu(drivers[i]))
            return 0;
    return 1;
}
