/* Functions that a loader may lack, the driver of a device, and checks of what is opened. */

#include "metrics/driver.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/programs.h"
#include "base/shared.h"

ZT__PRIVATE void zt__load_driver(zt__driver *driver) {
#define X(name, parameters) zt__find_loader_symbol(#name, (void *)&driver->name);
    ZT__OPTIONAL_FUNCTIONS(X)
#undef X
}

ZT__PRIVATE int zt__is_sub_device(ze_device_handle_t device, ze_device_handle_t root) {
    ze_device_handle_t sub_devices[ZT__MAX_TILES + 1] = {NULL}; /* ends with NULL */
    uint32_t i, count = ZT__MAX_TILES;
    ze_result_t result;
    ZT__INTERNAL(result = zeDeviceGetSubDevices(root, &count, sub_devices));
    for (i = 0; result == ZE_RESULT_SUCCESS && sub_devices[i]; i++) {
        if (sub_devices[i] == device) {
            return 1;
        }
    }
    return 0;
}

/* Returns the driver of a device, or NULL, and stores its root device. */
static ze_driver_handle_t zt__find_root(ze_device_handle_t device, ze_device_handle_t *root) {
    enum { MOST_DRIVERS = 16, MOST_DEVICES = 256 };
    ze_driver_handle_t drivers[MOST_DRIVERS + 1] = {NULL}; /* ends with NULL, whatever is counted */
    uint32_t i, j, device_count, driver_count = MOST_DRIVERS;
    if (zeDriverGet(&driver_count, drivers) != ZE_RESULT_SUCCESS) {
        return NULL;
    }
    for (i = 0; drivers[i]; i++) {
        ze_device_handle_t devices[MOST_DEVICES + 1] = {NULL}; /* likewise */
        device_count = MOST_DEVICES;
        if (zeDeviceGet(drivers[i], &device_count, devices) != ZE_RESULT_SUCCESS) {
            continue;
        }
        for (j = 0; devices[j]; j++) {
            if (devices[j] == device || zt__is_sub_device(device, devices[j])) {
                *root = devices[j];
                return drivers[i];
            }
        }
    }
    return NULL;
}

ZT__PRIVATE ze_driver_handle_t zt__find_driver(ze_device_handle_t device) {
    ze_device_handle_t root;
    return zt__find_root(device, &root);
}

ZT__PRIVATE ze_device_handle_t zt__find_root_device(ze_device_handle_t device) {
    ze_device_handle_t root = NULL;
    zt__find_root(device, &root);
    return root;
}

ZT__PRIVATE ze_result_t zt__check_opening(const char *call, ze_context_handle_t context,
                                          ze_device_handle_t device, const zt_allocator *allocator) {
    if (!context || !device) {
        return zt__report_null_handle(NULL, call, context ? "device" : "context");
    }
    if (allocator && !allocator->allocate != !allocator->release) {
        return zt__report(NULL, BAD_ALLOCATOR, ZE_RESULT_ERROR_INVALID_ARGUMENT, call);
    }
    return ZE_RESULT_SUCCESS;
}
