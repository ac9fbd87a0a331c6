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

ZT__PRIVATE int zt__is_management_of_core(void) {
    char value[8];
    return zt__read_variable("ZES_ENABLE_SYSMAN", value, sizeof value) && strcmp(value, "1") == 0;
}

ZT__PRIVATE ze_result_t zt__init_management(const zt__driver *driver) {
    static uint32_t is_called;
    zt__process *process = zt__get_process();
    ze_result_t result = driver->zesInit ? driver->zesInit(0) : ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    if (zt__change_if(&is_called, 0, 1) && process && zt__load(&process->tracers)) {
        zt__enable_layer_again();
    }
    return result;
}

/* Returns which sub-device of another a device is; UINT32_MAX: none. */
static uint32_t zt__find_tile(ze_device_handle_t device, ze_device_handle_t root) {
    ze_device_handle_t sub_devices[ZT__MAX_TILES + 1] = {NULL}; /* ends with NULL */
    uint32_t i, count = ZT__MAX_TILES;
    ze_result_t result;
    ZT__INTERNAL(result = zeDeviceGetSubDevices(root, &count, sub_devices));
    for (i = 0; result == ZE_RESULT_SUCCESS && sub_devices[i]; i++) {
        if (sub_devices[i] == device) {
            return i;
        }
    }
    return UINT32_MAX;
}

ZT__PRIVATE int zt__is_sub_device(ze_device_handle_t device, ze_device_handle_t root) {
    return zt__find_tile(device, root) != UINT32_MAX;
}

/* Where a device is among all. */
typedef struct zt__device_place {
    ze_driver_handle_t driver; /* NULL: not found */
    ze_device_handle_t root;
    uint32_t place, tile; /* as zt__find_device_place stores them */
} zt__device_place;

static zt__device_place zt__look_for_device(ze_device_handle_t device) {
    enum { MOST_DRIVERS = 16, MOST_DEVICES = 256 };
    ze_driver_handle_t drivers[MOST_DRIVERS + 1] = {NULL}; /* ends with NULL, whatever is counted */
    uint32_t i, j, before = 0, device_count, driver_count = MOST_DRIVERS;
    zt__device_place found = {NULL, NULL, UINT32_MAX, UINT32_MAX};
    if (zeDriverGet(&driver_count, drivers) != ZE_RESULT_SUCCESS) {
        return found;
    }
    for (i = 0; drivers[i]; i++) {
        ze_device_handle_t devices[MOST_DEVICES + 1] = {NULL}; /* likewise */
        device_count = MOST_DEVICES;
        if (zeDeviceGet(drivers[i], &device_count, devices) != ZE_RESULT_SUCCESS) {
            continue;
        }
        for (j = 0; devices[j]; j++) {
            found.tile = devices[j] == device ? UINT32_MAX : zt__find_tile(device, devices[j]);
            if (devices[j] == device || found.tile != UINT32_MAX) {
                found.driver = drivers[i];
                found.root = devices[j];
                found.place = before + j;
                return found;
            }
        }
        before += j;
    }
    return found;
}

ZT__PRIVATE ze_driver_handle_t zt__find_driver(ze_device_handle_t device) {
    return zt__look_for_device(device).driver;
}

ZT__PRIVATE ze_device_handle_t zt__find_root_device(ze_device_handle_t device) {
    return zt__look_for_device(device).root;
}

ZT__PRIVATE void zt__find_device_place(ze_device_handle_t device, uint32_t *place, uint32_t *tile) {
    zt__device_place found = {NULL, NULL, UINT32_MAX, UINT32_MAX};
    ZT__INTERNAL(found = zt__look_for_device(device));
    *place = found.place;
    *tile = found.tile;
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
