/* What the examples share, in plain Level Zero: a device, its kernels, memory and a list to work with. A
   failed call ends the program and names itself. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include "zetools.h"

#include <errno.h>
#include <level_zero/ze_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call) example_check((call), #call, __FILE__, __LINE__)

/* No wait is longer than this. */
#define TIMEOUT_NS UINT64_C(10000000000)

/* The first GPU, and what every program needs of it. */
typedef struct gpu {
    ze_device_handle_t device;
    ze_context_handle_t context;
    uint32_t compute;   /* ordinal of a queue group that runs kernels */
    char kernels[1024]; /* directory */
} gpu;

/* A kernel, in a module of its own. */
typedef struct program {
    ze_module_handle_t module;
    ze_kernel_handle_t kernel;
} program;

static inline void example_check(ze_result_t result, const char *call, const char *file, int line) {
    if (result == ZE_RESULT_SUCCESS)
        return;
    fprintf(stderr, "%s:%d: %s: %s (0x%x)\n", file, line, call, zt_result_name(result), (unsigned)result);
    exit(EXIT_FAILURE);
}

/* ---- device -------------------------------------------------------------------------------------------- */

/* Kernels lie in $KERNELS, or in ../kernels as seen from the program, which is where `make` puts them. */
static inline void gpu_find_kernels(gpu *g, const char *program_path) {
    const char *directory = getenv("KERNELS");
    const char *slash = strrchr(program_path, '/');
    int length = slash ? (int)(slash - program_path) : 1;

    if (directory)
        snprintf(g->kernels, sizeof g->kernels, "%s", directory);
    else
        snprintf(g->kernels, sizeof g->kernels, "%.*s/../kernels", length, slash ? program_path : ".");
}

static inline int gpu_take_device(gpu *g, ze_driver_handle_t driver) {
    ze_device_handle_t devices[16];
    uint32_t count = 16;

    CHECK(zeDeviceGet(driver, &count, devices));
    for (uint32_t i = 0; i < count; i++) {
        ze_device_properties_t properties;
        memset(&properties, 0, sizeof properties);
        properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
        CHECK(zeDeviceGetProperties(devices[i], &properties));
        if (properties.type != ZE_DEVICE_TYPE_GPU)
            continue;
        g->device = devices[i];
        return 1;
    }
    return 0;
}

static inline uint32_t gpu_compute_group(ze_device_handle_t device) {
    ze_command_queue_group_properties_t groups[16];
    uint32_t count = 16;

    memset(groups, 0, sizeof groups);
    for (uint32_t i = 0; i < count; i++)
        groups[i].stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES;
    CHECK(zeDeviceGetCommandQueueGroupProperties(device, &count, groups));
    for (uint32_t i = 0; i < count; i++)
        if (groups[i].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE)
            return i;
    fprintf(stderr, "the device has no queue for kernels\n");
    exit(EXIT_FAILURE);
}

static inline void gpu_missing(const char *reason) {
    const char *driver = getenv("ZE_ENABLE_ALT_DRIVERS");
    FILE *file = driver ? fopen(driver, "rb") : NULL;

    if (driver && !file && !strchr(driver, ','))
        fprintf(stderr, "ZE_ENABLE_ALT_DRIVERS: %s: %s\n", driver, strerror(errno));
    fprintf(stderr, "no GPU: %s. `make run-NAME` runs an example on the software device\n", reason);
    exit(EXIT_FAILURE);
}

/* program_path is argv[0]. */
static inline gpu gpu_open(const char *program_path) {
    ze_context_desc_t description = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, NULL, 0};
    ze_driver_handle_t drivers[16];
    uint32_t count = 16, i = 0;
    ze_result_t result = zeInit(0);
    gpu g;

    memset(&g, 0, sizeof g);
    gpu_find_kernels(&g, program_path);
    if (result != ZE_RESULT_SUCCESS)
        gpu_missing(zt_result_name(result));
    CHECK(zeDriverGet(&count, drivers));
    while (i < count && !gpu_take_device(&g, drivers[i]))
        i++;
    if (i == count)
        gpu_missing("no device is one");
    CHECK(zeContextCreate(drivers[i], &description, &g.context));
    g.compute = gpu_compute_group(g.device);
    return g;
}

static inline void gpu_close(gpu *g) {
    CHECK(zeContextDestroy(g->context));
}

/* ---- kernels ------------------------------------------------------------------------------------------- */

static inline uint8_t *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = NULL;
    long end;

    if (file && fseek(file, 0, SEEK_END) == 0 && (end = ftell(file)) > 0) {
        *size = (size_t)end;
        bytes = (uint8_t *)malloc(*size);
        rewind(file);
    }
    if (!bytes || fread(bytes, 1, *size, file) != *size) {
        fprintf(stderr, "%s: cannot be read: %s\n", path, strerror(errno));
        exit(EXIT_FAILURE);
    }
    fclose(file);
    return bytes;
}

/* The format of kernels that the device takes: SPIR-V if it can, else its own. */
static inline ze_module_format_t gpu_module_format(const gpu *g) {
    ze_device_module_properties_t properties;

    memset(&properties, 0, sizeof properties);
    properties.stype = ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES;
    CHECK(zeDeviceGetModuleProperties(g->device, &properties));
    return properties.spirvVersionSupported ? ZE_MODULE_FORMAT_IL_SPIRV : ZE_MODULE_FORMAT_NATIVE;
}

/* Loads a module from the file of that name. */
static inline ze_module_handle_t module_load(const gpu *g, const char *name) {
    ze_module_desc_t desc = {ZE_STRUCTURE_TYPE_MODULE_DESC, NULL, gpu_module_format(g), 0, NULL, "", NULL};
    const char *suffix = desc.format == ZE_MODULE_FORMAT_IL_SPIRV ? "spv" : "so";
    char path[1200];
    ze_module_handle_t module;
    uint8_t *code;

    snprintf(path, sizeof path, "%s/%s.%s", g->kernels, name, suffix);
    code = read_file(path, &desc.inputSize);
    desc.pInputModule = code;
    CHECK(zeModuleCreate(g->context, g->device, &desc, &module, NULL));
    free(code);
    return module;
}

/* Loads the kernel `name` from the file of that name. */
static inline program program_load(const gpu *g, const char *name) {
    ze_kernel_desc_t kernel = {ZE_STRUCTURE_TYPE_KERNEL_DESC, NULL, 0, name};
    program p;

    p.module = module_load(g, name);
    CHECK(zeKernelCreate(p.module, &kernel, &p.kernel));
    return p;
}

static inline void program_unload(program *p) {
    CHECK(zeKernelDestroy(p->kernel));
    CHECK(zeModuleDestroy(p->module));
}

#define SET_ARGUMENT(kernel, index, value)                                                                   \
    CHECK(zeKernelSetArgumentValue(kernel, index, sizeof(value), &(value)))

/* ---- memory and lists ---------------------------------------------------------------------------------- */

/* Memory that host and device both use. */
static inline void *gpu_memory(const gpu *g, size_t size) {
    ze_device_mem_alloc_desc_t device = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, NULL, 0, 0};
    ze_host_mem_alloc_desc_t host = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, NULL, 0};
    void *memory;

    CHECK(zeMemAllocShared(g->context, &device, &host, size, 64, g->device, &memory));
    return memory;
}

static inline float *gpu_floats(const gpu *g, size_t count) {
    return (float *)gpu_memory(g, count * sizeof(float));
}

static inline ze_command_queue_desc_t gpu_queue_description(const gpu *g) {
    ze_command_queue_desc_t description = {
        ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, NULL, g->compute, 0, 0, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
        ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
    return description;
}

/* An immediate list, and the event by which the host learns that the device is done with it. */
typedef struct immediate {
    ze_command_list_handle_t list;
    ze_event_pool_handle_t events;
    ze_event_handle_t done;
} immediate;

static inline immediate immediate_open(const gpu *g) {
    ze_command_queue_desc_t queue = gpu_queue_description(g);
    ze_event_pool_desc_t pool = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, NULL, ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 1};
    ze_event_desc_t event = {ZE_STRUCTURE_TYPE_EVENT_DESC, NULL, 0, ZE_EVENT_SCOPE_FLAG_HOST,
                             ZE_EVENT_SCOPE_FLAG_HOST};
    immediate work;

    CHECK(zeCommandListCreateImmediate(g->context, g->device, &queue, &work.list));
    CHECK(zeEventPoolCreate(g->context, &pool, 1, (ze_device_handle_t *)&g->device, &work.events));
    CHECK(zeEventCreate(work.events, &event, &work.done));
    return work;
}

/* Waits for all that was appended so far. */
static inline void immediate_wait(immediate *work) {
    CHECK(zeCommandListAppendBarrier(work->list, work->done, 0, NULL));
    CHECK(zeEventHostSynchronize(work->done, TIMEOUT_NS));
    CHECK(zeEventHostReset(work->done));
}

static inline void immediate_close(immediate *work) {
    CHECK(zeEventDestroy(work->done));
    CHECK(zeEventPoolDestroy(work->events));
    CHECK(zeCommandListDestroy(work->list));
}

/* ---- profiler ------------------------------------------------------------------------------------------ */

static inline void print_last_error(void) {
    fprintf(stderr, "%s\n", zt_last_error(NULL));
}

/* If it fails there is no profiler, which hurts nobody: the program runs unmeasured. */
static inline zt_profiler *profiler_open(const gpu *g, const zt_config *config) {
    zt_profiler *profiler;

    if (zt_open(g->context, g->device, config, &profiler) != ZE_RESULT_SUCCESS)
        print_last_error();
    return profiler;
}

/* Returns whether it could be written. */
static inline int profiler_report(const zt_profiler *profiler, const char *path) {
    if (zt_report(profiler, path) == ZE_RESULT_SUCCESS)
        return 1;
    print_last_error();
    return 0;
}

/* Writes a report to a file of a directory. Returns whether it could be written. */
static inline int profiler_report_in(const zt_profiler *profiler, const char *directory, const char *name) {
    char path[1024];

    snprintf(path, sizeof path, "%s/%s", directory, name);
    return profiler_report(profiler, path);
}

#endif
