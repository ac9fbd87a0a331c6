/* The dispatch tables, the driver, and the properties of its devices. */
#include "stop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- dispatch tables ----------------------------------------------------------------------------------- */

typedef enum table {
#define SG_TABLE(table, function) TABLE_##table,
#include "tables.def"
#undef SG_TABLE
    TABLE_extension, /* zeDriverGetExtensionFunctionAddress() gives it, and no loader */
} table;

/* What the loader calls. */
#define SG_FUNCTION(table, slot, version, kind, name, parameters, arguments)                                 \
    static ze_result_t ZE_APICALL enter_##name parameters {                                                  \
        ze_result_t answer = sg_enter(SG_CALL_##name, SG_KIND_##kind);                                       \
        return answer == ZE_RESULT_SUCCESS ? sg_##name arguments : answer;                                   \
    }
#include "functions.def"
#undef SG_FUNCTION

enum {
    VERSION_1_0 = ZE_MAKE_VERSION(1, 0),
    VERSION_1_1 = ZE_MAKE_VERSION(1, 1),
    VERSION_1_2 = ZE_MAKE_VERSION(1, 2),
    VERSION_1_3 = ZE_MAKE_VERSION(1, 3),
    VERSION_1_5 = ZE_MAKE_VERSION(1, 5),
    VERSION_1_6 = ZE_MAKE_VERSION(1, 6),
    VERSION_1_7 = ZE_MAKE_VERSION(1, 7),
    VERSION_1_9 = ZE_MAKE_VERSION(1, 9),
    VERSION_1_10 = ZE_MAKE_VERSION(1, 10),
    VERSION_1_11 = ZE_MAKE_VERSION(1, 11),
    VERSION_1_13 = ZE_MAKE_VERSION(1, 13),
    VERSION_1_14 = ZE_MAKE_VERSION(1, 14),
    VERSION_1_15 = ZE_MAKE_VERSION(1, 15),
    VERSION_1_16 = ZE_MAKE_VERSION(1, 16),
    VERSION_1_17 = ZE_MAKE_VERSION(1, 17),
    OFFERED_VERSION = ZE_MAKE_VERSION(1, 13)
};

typedef void (*any_function)(void);

static const struct row {
    table table;
    uint32_t slot;
    uint32_t version;
    const char *name;
    any_function function;
} rows[] = {
#define SG_FUNCTION(table, slot, version, kind, name, parameters, arguments)                                 \
    {TABLE_##table, slot, VERSION_##version, #name, (any_function)enter_##name},
#include "functions.def"
#undef SG_FUNCTION
};

/* A dispatch table is a structure of nothing but function pointers: an array of them. */
static ze_result_t fill_table(table filled, ze_api_version_t version, any_function *functions) {
    SG_NEED_POINTER(functions);
    if (ZE_MAJOR_VERSION(version) != 1)
        return ZE_RESULT_ERROR_UNSUPPORTED_VERSION;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
        if (rows[i].table == filled && rows[i].version <= (uint32_t)version)
            functions[rows[i].slot] = rows[i].function;
    return ZE_RESULT_SUCCESS;
}

#define SG_TABLE(table, function)                                                                            \
    __attribute__((visibility("default"))) ze_result_t function(ze_api_version_t version,                    \
                                                                any_function *functions);                    \
    ze_result_t function(ze_api_version_t version, any_function *functions) {                                \
        return fill_table(TABLE_##table, version, functions);                                                \
    }
#include "tables.def"
#undef SG_TABLE

/* ---- the driver and its devices ------------------------------------------------------------------------ */

static sg_root roots[SG_MAX_DEVICES];
static sg_object *driver;
static pthread_once_t once = PTHREAD_ONCE_INIT;

sg_root *sg_root_at(uint32_t index) {
    return &roots[index];
}

sg_device *sg_device_at(uint32_t index) {
    return index < sg_device_count() ? roots[index].device : NULL;
}

sg_device *sg_sub_device_at(sg_device *root_device, uint32_t index) {
    bool there = !root_device->parent && index < sg_sub_device_count();
    return there ? root_device->root->sub_devices[index] : NULL;
}

uint32_t sg_slices_of(const sg_device *device) {
    return device->parent || !sg_sub_device_count() ? 1 : sg_sub_device_count();
}

static sg_device *create_device(sg_root *root, sg_device *parent, uint32_t index) {
    sg_device *device = sg_object_create(SG_DEVICE, sizeof *device, driver);
    if (device) {
        device->index = index;
        device->parent = parent;
        device->root = root;
    }
    return device;
}

static bool create_root(sg_root *root, uint32_t index) {
    pthread_mutex_init(&root->lock, NULL);
    pthread_mutex_init(&root->pause_lock, NULL);
    pthread_cond_init(&root->finished, NULL);
    pthread_mutex_init(&root->bell_lock, NULL);
    sg_condition_init(&root->bell);
    root->device = create_device(root, NULL, index);
    bool whole = root->device != NULL;
    for (uint32_t i = 0; whole && i < SG_MAX_SUB_DEVICES; ++i)
        whole = (root->sub_devices[i] = create_device(root, root->device, i)) != NULL;
    return whole;
}

/* All that could be, so that a test can change the number of devices; listed are as many as there are. */
static void create_all(void) {
    driver = sg_object_create(SG_DRIVER, sizeof *driver, NULL);
    bool whole = driver != NULL;
    for (uint32_t i = 0; whole && i < SG_MAX_DEVICES; ++i)
        whole = create_root(&roots[i], i);
    if (!whole)
        driver = NULL;
}

static ze_result_t initialise(void) {
    ze_result_t result = sg_control_init();
    if (result != ZE_RESULT_SUCCESS)
        return result;
    pthread_once(&once, create_all);
    if (driver && sg_debug_is_enabled())
        sg_agent_listen();
    return driver ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

enum { MAX_UNLOAD_FUNCTIONS = 8 };
static void (*unload_functions[MAX_UNLOAD_FUNCTIONS])(void);
static _Atomic uint32_t unload_function_count;

void sg_at_unload(void (*function)(void)) {
    uint32_t place = atomic_fetch_add(&unload_function_count, 1);
    if (place < MAX_UNLOAD_FUNCTIONS)
        unload_functions[place] = function;
}

__attribute__((destructor)) static void unload(void) {
    if (sg_process_ends())
        return;
    sg_debug_unload();
    for (uint32_t i = 0; i < SG_MAX_DEVICES; ++i)
        sg_root_stop(&roots[i]);
    sg_agent_end();
    for (uint32_t i = 0; i < atomic_load(&unload_function_count) && i < MAX_UNLOAD_FUNCTIONS; ++i)
        unload_functions[i]();
    sg_modules_unload();
    sg_memory_unload();
    sg_objects_unload();
}

/* ---- driver functions ---------------------------------------------------------------------------------- */

ze_result_t sg_zeInit(ze_init_flags_t flags) {
    if (flags & ~0x3u)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    return flags && !(flags & ZE_INIT_FLAG_GPU_ONLY) ? ZE_RESULT_ERROR_UNINITIALIZED : initialise();
}

ze_result_t sg_zeInitDrivers(uint32_t *count, ze_driver_handle_t *drivers,
                             const struct sg_init_driver_type_desc *desc) {
    SG_NEED_POINTER(count);
    SG_NEED_POINTER(desc);
    if (!desc->flags)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    if (!(desc->flags & 1)) { /* the GPU drivers' flag */
        *count = 0;
        return ZE_RESULT_SUCCESS;
    }
    ze_result_t result = initialise();
    return result == ZE_RESULT_SUCCESS ? sg_zeDriverGet(count, drivers) : result;
}

ze_result_t sg_zeDriverGet(uint32_t *count, ze_driver_handle_t *drivers) {
    SG_NEED_POINTER(count);
    if (!driver)
        return ZE_RESULT_ERROR_UNINITIALIZED;
    if (sg_clamp_count(count, 1) && drivers)
        drivers[0] = (ze_driver_handle_t)driver;
    return ZE_RESULT_SUCCESS;
}

SG_GETTER(zeDriverGetApiVersion, sg_driver_of, ze_driver_handle_t, ze_api_version_t, OFFERED_VERSION)

ze_result_t sg_zeDriverGetProperties(ze_driver_handle_t handle, ze_driver_properties_t *properties) {
    SG_NEED_HANDLE(sg_driver_of(handle));
    SG_NEED_POINTER(properties);
    memset(&properties->uuid, 0, sizeof properties->uuid);
    memcpy(properties->uuid.id, "softgpu", 7);
    properties->driverVersion = 1;
    return ZE_RESULT_SUCCESS;
}

/* Nothing can be given to another process: the functions for that are UNSUPPORTED_FEATUREs, by their absence. */
ze_result_t sg_zeDriverGetIpcProperties(ze_driver_handle_t handle, ze_driver_ipc_properties_t *properties) {
    SG_NEED_HANDLE(sg_driver_of(handle));
    SG_NEED_POINTER(properties);
    properties->flags = 0;
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeDriverGetExtensionProperties(ze_driver_handle_t handle, uint32_t *count,
                                              ze_driver_extension_properties_t *properties) {
    static const struct {
        const char *name;
        uint32_t version;
    } extensions[] = {
        {"ZE_extension_pci_properties", ZE_MAKE_VERSION(1, 0)},
        {"ZE_extension_device_memory_properties", ZE_MAKE_VERSION(1, 0)},
        {"ZE_experimental_immediate_command_list_append", ZE_MAKE_VERSION(1, 0)},
        {"ZE_experimental_event_pool_counter_based", ZE_MAKE_VERSION(1, 0)},
        {"ZE_experimental_event_query_timestamps", ZE_MAKE_VERSION(1, 0)},
        {"ZE_extension_event_query_kernel_timestamps", ZE_MAKE_VERSION(1, 0)},
        {"ZE_extension_kernel_binary_exp", ZE_MAKE_VERSION(1, 0)},
        {"ZET_experimental_calculate_multiple_metrics", ZE_MAKE_VERSION(1, 0)},
        {"ZET_experimental_global_metric_timestamps", ZE_MAKE_VERSION(1, 0)},
        {"ZET_experimental_concurrent_metric_groups", ZE_MAKE_VERSION(1, 0)},
        {"ZET_experimental_metrics_runtime_enable_disable", ZE_MAKE_VERSION(1, 0)},
    };
    SG_NEED_HANDLE(sg_driver_of(handle));
    SG_NEED_POINTER(count);
    uint32_t given = sg_clamp_count(count, sizeof extensions / sizeof *extensions);
    for (uint32_t i = 0; i < given && properties; ++i) {
        snprintf(properties[i].name, sizeof properties[i].name, "%s", extensions[i].name);
        properties[i].version = extensions[i].version;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeDriverGetExtensionFunctionAddress(ze_driver_handle_t handle, const char *name,
                                                   void **address) {
    SG_NEED_HANDLE(sg_driver_of(handle));
    SG_NEED_POINTER(name);
    SG_NEED_POINTER(address);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
        if (strcmp(rows[i].name, name) == 0) {
            memcpy(address, &rows[i].function, sizeof *address);
            return ZE_RESULT_SUCCESS;
        }
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

SG_GETTER(zeDriverGetLastErrorDescription, sg_driver_of, ze_driver_handle_t, const char *, "")

/* ---- devices ------------------------------------------------------------------------------------------- */

ze_result_t sg_zeDeviceGet(ze_driver_handle_t handle, uint32_t *count, ze_device_handle_t *devices) {
    SG_NEED_HANDLE(sg_driver_of(handle));
    SG_NEED_POINTER(count);
    uint32_t given = sg_clamp_count(count, sg_device_count());
    for (uint32_t i = 0; i < given && devices; ++i)
        devices[i] = (ze_device_handle_t)roots[i].device;
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeDeviceGetSubDevices(ze_device_handle_t handle, uint32_t *count,
                                     ze_device_handle_t *sub_devices) {
    const sg_device *device = sg_device_of(handle);
    SG_NEED_HANDLE(device);
    SG_NEED_POINTER(count);
    uint32_t given = sg_clamp_count(count, device->parent ? 0 : sg_sub_device_count());
    for (uint32_t i = 0; i < given && sub_devices; ++i)
        sub_devices[i] = (ze_device_handle_t)device->root->sub_devices[i];
    return ZE_RESULT_SUCCESS;
}

SG_GETTER(zeDeviceGetRootDevice, sg_device_of, ze_device_handle_t, ze_device_handle_t, object->parent)

/* The resolution is nanoseconds in the structure's first version, ticks per second in the second. */
static uint64_t timer_resolution(ze_structure_type_t stype) {
    uint64_t rate = sg_ticks_per_second();
    return stype == ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2 ? rate : (1000000000u + rate / 2) / rate;
}

ze_result_t sg_zeDeviceGetProperties(ze_device_handle_t handle, ze_device_properties_t *properties) {
    const sg_device *device = sg_device_of(handle);
    SG_NEED_HANDLE(device);
    SG_NEED_POINTER(properties);
    ze_device_properties_t answer = {
        .stype = properties->stype,
        .pNext = properties->pNext,
        .type = ZE_DEVICE_TYPE_GPU,
        .flags = ZE_DEVICE_PROPERTY_FLAG_INTEGRATED,
        .coreClockRate = 1000,
        .maxMemAllocSize = SG_MAX_ALLOCATION,
        .maxHardwareContexts = 1024,
        .numThreadsPerEU = SG_THREADS_PER_EU,
        .physicalEUSimdWidth = 1,
        .numEUsPerSubslice = SG_EUS,
        .numSubslicesPerSlice = 1,
        .numSlices = sg_slices_of(device),
        .timerResolution = timer_resolution(properties->stype),
        .timestampValidBits = sg_timestamp_bits(),
        .kernelTimestampValidBits = sg_kernel_timestamp_bits(),
    };
    uint32_t shape[4];
    if (sg_given_shape(shape)) {
        answer.numSlices = shape[0];
        answer.numSubslicesPerSlice = shape[1];
        answer.numEUsPerSubslice = shape[2];
        answer.numThreadsPerEU = shape[3];
    }
    memcpy(answer.uuid.id, "softgpu", 7);
    answer.uuid.id[14] = (uint8_t)(device->parent ? device->parent->index : device->index);
    answer.uuid.id[15] = (uint8_t)(device->parent ? device->index + 1 : 0);
    if (device->parent) {
        answer.flags |= ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE;
        answer.subdeviceId = device->index;
    }
    snprintf(answer.name, sizeof answer.name, "Software device%s", device->parent ? " (sub-device)" : "");
    *properties = answer;
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeDeviceGetComputeProperties(ze_device_handle_t handle,
                                            ze_device_compute_properties_t *properties) {
    SG_NEED_HANDLE(sg_device_of(handle));
    SG_NEED_POINTER(properties);
    *properties = (ze_device_compute_properties_t){
        .stype = properties->stype,
        .pNext = properties->pNext,
        .maxTotalGroupSize = SG_MAX_GROUP_SIZE,
        .maxGroupSizeX = SG_MAX_GROUP_SIZE,
        .maxGroupSizeY = SG_MAX_GROUP_SIZE,
        .maxGroupSizeZ = SG_MAX_GROUP_SIZE,
        .maxGroupCountX = UINT32_MAX,
        .maxGroupCountY = UINT32_MAX,
        .maxGroupCountZ = UINT32_MAX,
        .maxSharedLocalMemory = SG_MAX_LOCAL_MEMORY,
        .numSubGroupSizes = 1,
        .subGroupSizes = {1},
    };
    return ZE_RESULT_SUCCESS;
}

/* A SPIR-V version of 0 says: none. */
ze_result_t sg_zeDeviceGetModuleProperties(ze_device_handle_t handle,
                                           ze_device_module_properties_t *properties) {
    SG_NEED_HANDLE(sg_device_of(handle));
    SG_NEED_POINTER(properties);
    *properties = (ze_device_module_properties_t){
        .stype = properties->stype,
        .pNext = properties->pNext,
        .flags = ZE_DEVICE_MODULE_FLAG_FP64,
        .maxArgumentsSize = 1024,
    };
    memcpy(properties->nativeKernelSupported.id, "softgpu", 7);
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeDeviceGetCommandQueueGroupProperties(ze_device_handle_t handle, uint32_t *count,
                                                      ze_command_queue_group_properties_t *properties) {
    SG_NEED_HANDLE(sg_device_of(handle));
    SG_NEED_POINTER(count);
    const ze_command_queue_group_property_flags_t flags[SG_ORDINAL_COUNT] = {
        ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE | ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY |
            ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COOPERATIVE_KERNELS |
            ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_METRICS,
        ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY,
    };
    uint32_t given = sg_clamp_count(count, SG_ORDINAL_COUNT);
    for (uint32_t i = 0; i < given && properties; ++i) {
        properties[i].flags = flags[i];
        properties[i].maxMemoryFillPatternSize = SG_MAX_FILL_PATTERN;
        properties[i].numQueues = sg_queues_of(i);
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeDeviceGetMemoryProperties(ze_device_handle_t handle, uint32_t *count,
                                           ze_device_memory_properties_t *properties) {
    SG_NEED_HANDLE(sg_device_of(handle));
    SG_NEED_POINTER(count);
    if (sg_clamp_count(count, 1) && properties) {
        properties->flags = 0;
        properties->maxClockRate = 3200; /* two channels of DDR4-3200: 51.2 GB/s */
        properties->maxBusWidth = 128;
        properties->totalSize = 2 * SG_MAX_ALLOCATION;
        snprintf(properties->name, sizeof properties->name, "host memory");
        for (ze_base_properties_t *next = properties->pNext; next; next = next->pNext) {
            ze_device_memory_ext_properties_t *extended = (ze_device_memory_ext_properties_t *)next;
            if (next->stype == ZE_STRUCTURE_TYPE_DEVICE_MEMORY_EXT_PROPERTIES) {
                extended->type = ZE_DEVICE_MEMORY_EXT_TYPE_DDR4;
                extended->physicalSize = properties->totalSize;
                extended->readBandwidth = extended->writeBandwidth = 51; /* of the rate and width above */
                extended->bandwidthUnit = ZE_BANDWIDTH_UNIT_BYTES_PER_NANOSEC;
            }
        }
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeDeviceGetMemoryAccessProperties(ze_device_handle_t handle,
                                                 ze_device_memory_access_properties_t *properties) {
    SG_NEED_HANDLE(sg_device_of(handle));
    SG_NEED_POINTER(properties);
    const ze_memory_access_cap_flags_t all =
        ZE_MEMORY_ACCESS_CAP_FLAG_RW | ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT;
    properties->hostAllocCapabilities = all;
    properties->deviceAllocCapabilities = all;
    properties->sharedSingleDeviceAllocCapabilities = all;
    properties->sharedCrossDeviceAllocCapabilities = all;
    properties->sharedSystemAllocCapabilities = 0;
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeDeviceGetCacheProperties(ze_device_handle_t handle, uint32_t *count,
                                          ze_device_cache_properties_t *properties) {
    (void)properties;
    SG_NEED_HANDLE(sg_device_of(handle));
    SG_NEED_POINTER(count);
    *count = 0;
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeDeviceGetExternalMemoryProperties(ze_device_handle_t handle,
                                                   ze_device_external_memory_properties_t *properties) {
    SG_NEED_HANDLE(sg_device_of(handle));
    SG_NEED_POINTER(properties);
    *properties =
        (ze_device_external_memory_properties_t){.stype = properties->stype, .pNext = properties->pNext};
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeDeviceGetP2PProperties(ze_device_handle_t handle, ze_device_handle_t peer,
                                        ze_device_p2p_properties_t *properties) {
    SG_NEED_HANDLE(sg_device_of(handle));
    SG_NEED_HANDLE(sg_device_of(peer));
    SG_NEED_POINTER(properties);
    properties->flags = ZE_DEVICE_P2P_PROPERTY_FLAG_ACCESS;
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeDeviceCanAccessPeer(ze_device_handle_t handle, ze_device_handle_t peer, ze_bool_t *value) {
    SG_NEED_HANDLE(sg_device_of(handle));
    SG_NEED_HANDLE(sg_device_of(peer));
    SG_NEED_POINTER(value);
    *value = 1;
    return ZE_RESULT_SUCCESS;
}

/* Root devices stand in slots of their own; nothing is known of the bus. */
ze_result_t sg_zeDevicePciGetPropertiesExt(ze_device_handle_t handle, ze_pci_ext_properties_t *properties) {
    const sg_device *device = sg_device_of(handle);
    SG_NEED_HANDLE(device);
    SG_NEED_POINTER(properties);
    properties->address = (ze_pci_address_ext_t){.device = device->root->device->index};
    properties->maxSpeed = (ze_pci_speed_ext_t){.genVersion = -1, .width = -1, .maxBandwidth = -1};
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeDeviceGetStatus(ze_device_handle_t handle) {
    SG_NEED_HANDLE(sg_device_of(handle));
    return sg_is_lost() ? ZE_RESULT_ERROR_DEVICE_LOST : ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeDeviceGetGlobalTimestamps(ze_device_handle_t handle, uint64_t *host,
                                           uint64_t *device_ticks) {
    SG_NEED_HANDLE(sg_device_of(handle));
    SG_NEED_POINTER(host);
    SG_NEED_POINTER(device_ticks);
    *host = sg_shown_now();
    *device_ticks = sg_ticks_at(*host);
    return ZE_RESULT_SUCCESS;
}
