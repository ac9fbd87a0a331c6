/* System management: energy, clock, throttling and temperature of root devices. Its handles are not those of the core,
 * as in Intel's driver. With ZES_ENABLE_SYSMAN=1, a device of the core is one of system management, and zesInit fails. */
#include "work.h"

#include <level_zero/zes_api.h>
#include <string.h>

enum { POWER_DOMAINS = 2, CLOCK_DOMAINS = 2, SENSORS = 2 };

/* Handles are addresses of these. Of each kind the second is the one that tools want. */
typedef struct component {
    uint32_t device;
} component;

static struct managed {
    component device, power[POWER_DOMAINS], clocks[CLOCK_DOMAINS], sensors[SENSORS];
} managed[SG_MAX_DEVICES];
static char management; /* the driver */
static _Atomic bool is_ready;

static struct {
    pthread_mutex_t lock;
    bool are_set;
    softgpu_power values;
} given = {.lock = PTHREAD_MUTEX_INITIALIZER};

void softgpu_set_power(const softgpu_power *values) {
    pthread_mutex_lock(&given.lock);
    given.are_set = values != NULL;
    if (values)
        given.values = *values;
    pthread_mutex_unlock(&given.lock);
}

/* An idle device takes 10 W, one that computes 40 W. */
static softgpu_power read_power(uint32_t device) {
    uint64_t counters[SG_COUNTER_COUNT];
    softgpu_power values = {.megahertz = 1000, .celsius = 40};
    pthread_mutex_lock(&given.lock);
    bool are_set = given.are_set;
    if (are_set)
        values = given.values;
    pthread_mutex_unlock(&given.lock);
    if (!are_set) {
        sg_snapshot(sg_root_at(device)->device, 0, counters);
        values.microjoules = (10 * counters[SG_TIME_NS] + 30 * counters[SG_COMPUTE_BUSY_NS]) / 1000;
    }
    return values;
}

/* ---- driver and devices -------------------------------------------------------------------------------- */

ze_result_t sg_zesInit(uint32_t flags) {
    if (flags)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    if (sg_behaviour_is_on(SOFTGPU_NO_SYSMAN) || sg_behaviour_is_on(SOFTGPU_SYSMAN_OF_CORE))
        return ZE_RESULT_ERROR_UNINITIALIZED;
    ze_result_t result = sg_zeInit(0);
    atomic_store(&is_ready, result == ZE_RESULT_SUCCESS);
    return result;
}

ze_result_t sg_zesDriverGet(uint32_t *count, zes_driver_handle_t *drivers) {
    SG_NEED_POINTER(count);
    if (!atomic_load(&is_ready))
        return ZE_RESULT_ERROR_UNINITIALIZED;
    if (sg_clamp_count(count, 1) && drivers)
        drivers[0] = (zes_driver_handle_t)&management;
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zesDeviceGet(zes_driver_handle_t driver, uint32_t *count, zes_device_handle_t *devices) {
    SG_NEED_HANDLE(driver == (zes_driver_handle_t)&management);
    SG_NEED_POINTER(count);
    uint32_t listed = sg_clamp_count(count, sg_device_count());
    for (uint32_t i = 0; i < listed && devices; ++i) {
        managed[i].device.device = i;
        devices[i] = (zes_device_handle_t)&managed[i].device;
    }
    return ZE_RESULT_SUCCESS;
}

static struct managed *managed_of(zes_device_handle_t handle) {
    uint32_t i = 0;
    while (i < SG_MAX_DEVICES && handle != (zes_device_handle_t)&managed[i].device)
        ++i;
    if (i == SG_MAX_DEVICES && sg_behaviour_is_on(SOFTGPU_SYSMAN_OF_CORE)) {
        sg_device *device = sg_device_of((ze_device_handle_t)handle);
        return device ? &managed[device->root->device->index] : NULL;
    }
    return i < SG_MAX_DEVICES ? &managed[i] : NULL;
}

static uint32_t index_of(const struct managed *device) {
    return (uint32_t)(device - managed);
}

ze_result_t sg_zesDeviceGetProperties(zes_device_handle_t handle, zes_device_properties_t *properties) {
    const struct managed *device = managed_of(handle);
    SG_NEED_HANDLE(device);
    SG_NEED_POINTER(properties);
    ze_device_handle_t core = (ze_device_handle_t)sg_root_at(index_of(device))->device;
    properties->numSubdevices = sg_sub_device_count();
    return sg_zeDeviceGetProperties(core, &properties->core);
}

/* ---- components ---------------------------------------------------------------------------------------- */

#define ENUMERATE(function, handle_type, members)                                                            \
    ze_result_t sg_##function(zes_device_handle_t handle, uint32_t *count, handle_type *handles) {           \
        struct managed *device = managed_of(handle);                                                         \
        SG_NEED_POINTER(count);                                                                              \
        if (!device) /* a handle of the core, and Intel's driver was not told of system management */        \
            return ZE_RESULT_ERROR_UNINITIALIZED;                                                            \
        uint32_t listed = sg_clamp_count(count, sizeof device->members / sizeof device->members[0]);         \
        for (uint32_t i = 0; i < listed && handles; ++i) {                                                   \
            device->members[i].device = index_of(device);                                                    \
            handles[i] = (handle_type)&device->members[i];                                                   \
        }                                                                                                    \
        return ZE_RESULT_SUCCESS;                                                                            \
    }

ENUMERATE(zesDeviceEnumPowerDomains, zes_pwr_handle_t, power)
ENUMERATE(zesDeviceEnumFrequencyDomains, zes_freq_handle_t, clocks)
ENUMERATE(zesDeviceEnumTemperatureSensors, zes_temp_handle_t, sensors)

/* Returns which component of its kind a handle is, or -1. */
static int place_of(const void *handle, size_t offset, uint32_t count, uint32_t *device) {
    for (uint32_t i = 0; i < SG_MAX_DEVICES; ++i)
        for (uint32_t k = 0; k < count; ++k)
            if (handle == (char *)&managed[i] + offset + k * sizeof(component)) {
                *device = i;
                return (int)k;
            }
    return -1;
}

#define PLACE_OF(handle, members, device)                                                                    \
    place_of((handle), offsetof(struct managed, members), sizeof managed[0].members / sizeof(component),     \
             device)

ze_result_t sg_zesPowerGetProperties(zes_pwr_handle_t handle, zes_power_properties_t *properties) {
    uint32_t device;
    int place = PLACE_OF(handle, power, &device);
    SG_NEED_HANDLE(place >= 0);
    SG_NEED_POINTER(properties);
    *properties = (zes_power_properties_t){.stype = properties->stype,
                                           .pNext = properties->pNext,
                                           .defaultLimit = -1,
                                           .minLimit = -1,
                                           .maxLimit = -1};
    for (ze_base_properties_t *next = properties->pNext; next; next = next->pNext)
        if ((uint32_t)next->stype == ZES_STRUCTURE_TYPE_POWER_EXT_PROPERTIES)
            ((zes_power_ext_properties_t *)next)->domain =
                place ? ZES_POWER_DOMAIN_CARD : ZES_POWER_DOMAIN_PACKAGE;
    return ZE_RESULT_SUCCESS;
}

/* The package takes half of what the card takes. */
ze_result_t sg_zesPowerGetEnergyCounter(zes_pwr_handle_t handle, zes_power_energy_counter_t *counter) {
    uint32_t device;
    int place = PLACE_OF(handle, power, &device);
    SG_NEED_HANDLE(place >= 0);
    SG_NEED_POINTER(counter);
    if (sg_behaviour_is_on(SOFTGPU_ENERGY_OF_ROOT))
        return ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS;
    uint64_t microjoules = read_power(device).microjoules;
    counter->energy = place ? microjoules : microjoules / 2;
    counter->timestamp = sg_now() / 1000;
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zesFrequencyGetProperties(zes_freq_handle_t handle, zes_freq_properties_t *properties) {
    uint32_t device;
    int place = PLACE_OF(handle, clocks, &device);
    SG_NEED_HANDLE(place >= 0);
    SG_NEED_POINTER(properties);
    *properties = (zes_freq_properties_t){.stype = properties->stype,
                                          .pNext = properties->pNext,
                                          .type = place ? ZES_FREQ_DOMAIN_GPU : ZES_FREQ_DOMAIN_MEMORY,
                                          .min = 100,
                                          .max = 3000};
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zesFrequencyGetState(zes_freq_handle_t handle, zes_freq_state_t *state) {
    uint32_t device;
    int place = PLACE_OF(handle, clocks, &device);
    SG_NEED_HANDLE(place >= 0);
    SG_NEED_POINTER(state);
    softgpu_power values = read_power(device);
    *state = (zes_freq_state_t){.stype = state->stype,
                                .pNext = state->pNext,
                                .currentVoltage = -1,
                                .request = place ? values.megahertz : 1600,
                                .tdp = -1,
                                .efficient = -1,
                                .actual = place ? values.megahertz : 1600,
                                .throttleReasons = place ? values.throttle_reasons : 0};
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zesTemperatureGetProperties(zes_temp_handle_t handle, zes_temp_properties_t *properties) {
    uint32_t device;
    int place = PLACE_OF(handle, sensors, &device);
    SG_NEED_HANDLE(place >= 0);
    SG_NEED_POINTER(properties);
    *properties = (zes_temp_properties_t){.stype = properties->stype,
                                          .pNext = properties->pNext,
                                          .type = place ? ZES_TEMP_SENSORS_GPU : ZES_TEMP_SENSORS_MEMORY,
                                          .maxTemperature = 100};
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zesTemperatureGetState(zes_temp_handle_t handle, double *celsius) {
    uint32_t device;
    int place = PLACE_OF(handle, sensors, &device);
    SG_NEED_HANDLE(place >= 0);
    SG_NEED_POINTER(celsius);
    *celsius = place ? read_power(device).celsius : 30;
    return ZE_RESULT_SUCCESS;
}
