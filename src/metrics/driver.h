/* Functions that a loader may lack, the driver of a device, and checks of what is opened. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"

/* A loader may lack these, because most are newer than Level Zero 1.0. So they are looked up at run time. */
#define ZT__OPTIONAL_FUNCTIONS(X)                                                                            \
    X(zeCommandListIsImmediate, (ze_command_list_handle_t list, ze_bool_t * is_immediate))                   \
    X(zeDeviceGetGlobalTimestamps, (ze_device_handle_t device, uint64_t * host, uint64_t * ticks))           \
    X(zeDriverGetExtensionFunctionAddress, (ze_driver_handle_t driver, const char *name, void **function))   \
    X(zeKernelGetBinaryExp, (ze_kernel_handle_t kernel, size_t * size, uint8_t * binary))                    \
    X(zelLoaderTranslateHandle, (int type, void *handle, void **of_driver))                                  \
    X(zeDevicePciGetPropertiesExt, (ze_device_handle_t device, ze_pci_ext_properties_t * properties))        \
    X(zeEventQueryTimestampsExp, (ze_event_handle_t event, ze_device_handle_t device, uint32_t * count,      \
                                  ze_kernel_timestamp_result_t * stamps))                                    \
    X(zesInit, (uint32_t flags))                                                                             \
    X(zesDriverGet, (uint32_t * count, zes_driver_handle_t * drivers))                                       \
    X(zesDeviceGet, (zes_driver_handle_t driver, uint32_t * count, zes_device_handle_t * devices))           \
    X(zesDeviceGetProperties, (zes_device_handle_t device, zes_device_properties_t * properties))            \
    X(zesDeviceEnumPowerDomains, (zes_device_handle_t device, uint32_t * count, zes_pwr_handle_t * domains)) \
    X(zesPowerGetProperties, (zes_pwr_handle_t domain, zes_power_properties_t * properties))                 \
    X(zesPowerGetEnergyCounter, (zes_pwr_handle_t domain, zes_power_energy_counter_t * counter))             \
    X(zesDeviceEnumTemperatureSensors,                                                                       \
      (zes_device_handle_t device, uint32_t * count, zes_temp_handle_t * sensors))                           \
    X(zesTemperatureGetProperties, (zes_temp_handle_t sensor, zes_temp_properties_t * properties))           \
    X(zesTemperatureGetState, (zes_temp_handle_t sensor, double *celsius))                                   \
    X(zesDeviceEnumFrequencyDomains,                                                                         \
      (zes_device_handle_t device, uint32_t * count, zes_freq_handle_t * domains))                           \
    X(zesFrequencyGetProperties, (zes_freq_handle_t domain, zes_freq_properties_t * properties))             \
    X(zesFrequencyGetState, (zes_freq_handle_t domain, zes_freq_state_t * state))                            \
    X(zetDeviceEnableMetricsExp, (ze_device_handle_t device))                                                \
    X(zetDeviceGetConcurrentMetricGroupsExp,                                                                 \
      (ze_device_handle_t device, uint32_t group_count, zet_metric_group_handle_t * groups,                  \
       uint32_t * counts, uint32_t * concurrent_count))                                                      \
    X(zetMetricGroupCalculateMultipleMetricValuesExp,                                                        \
      (zet_metric_group_handle_t group, zet_metric_group_calculation_type_t type, size_t raw_size,           \
       const uint8_t *raw, uint32_t *set_count, uint32_t *value_count, uint32_t *counts,                     \
       zet_typed_value_t *values))                                                                           \
    X(zetMetricGroupGetGlobalTimestampsExp,                                                                  \
      (zet_metric_group_handle_t group, ze_bool_t of_host, uint64_t * global, uint64_t * ticks))

/* Pointers to these functions; NULL where the loader lacks one. */
typedef struct zt__driver {
#define X(name, parameters) ze_result_t(ZE_APICALL *name) parameters;
    ZT__OPTIONAL_FUNCTIONS(X)
#undef X
} zt__driver;

enum {
    ZT__MAX_GROUPS = 32,
    ZT__MAX_GROUPS_IN_PASS = 8,
    ZT__MAX_PASSES = 16,
    ZT__MAX_TILES = 16,
    ZT__MAX_REQUESTED_METRICS = 64
};

ZT__PRIVATE void zt__load_driver(zt__driver *driver);

/* Initialises system management: zesInit. Returns UNSUPPORTED_FEATURE if the loader lacks it. */
ZT__PRIVATE ze_result_t zt__init_management(const zt__driver *driver);

/* Returns whether ZES_ENABLE_SYSMAN=1 is set: Intel's driver then has no system management but that of the core's devices. */
ZT__PRIVATE int zt__is_management_of_core(void);

/* Returns whether a device is a sub-device of another. */
ZT__PRIVATE int zt__is_sub_device(ze_device_handle_t device, ze_device_handle_t root);

/* Returns the driver of a device, or NULL. A device does not state its driver, so it is looked for among the
   devices of each, and their sub-devices. */
ZT__PRIVATE ze_driver_handle_t zt__find_driver(ze_device_handle_t device);

/* Returns the device itself or, of a sub-device, the root device that it is part of; NULL if that fails. */
ZT__PRIVATE ze_device_handle_t zt__find_root_device(ze_device_handle_t device);

/* Stores the place of a device, or of the device that it is a part of, among all devices of all drivers, and which part it
   is. UINT32_MAX: not known, and the whole device. */
ZT__PRIVATE void zt__find_device_place(ze_device_handle_t device, uint32_t *place, uint32_t *tile);

/* Checks the arguments that zt_open and zt_stream_open have in common. `allocator` may be NULL. */
ZT__PRIVATE ze_result_t zt__check_opening(const char *call, ze_context_handle_t context,
                                          ze_device_handle_t device, const zt_allocator *allocator);
