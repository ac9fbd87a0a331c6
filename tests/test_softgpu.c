/* The software device: what it is, its memory, its kernels; how strict it is; how tests control it. */
#include "fixture.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_HANDLE ZE_RESULT_ERROR_INVALID_NULL_HANDLE
#define NO_POINTER ZE_RESULT_ERROR_INVALID_NULL_POINTER

/* ==== helpers ============================================================================================= */

static void *allocate(world *w, size_t size) {
    ze_device_mem_alloc_desc_t device = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, NULL, 0, 0};
    ze_host_mem_alloc_desc_t host = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, NULL, 0};
    void *pointer = NULL;
    ok(zeMemAllocShared(w->context, &device, &host, size, 64, w->device, &pointer));
    return pointer;
}

static void expect_findings(uint64_t count) {
    assert_int_equal(gpu.findings(), count);
    gpu.forget_findings();
}

typedef struct file {
    uint8_t *bytes;
    size_t size;
} file;

static file read_file(const char *name) {
    char path[4096];
    find_file(name, path, sizeof path);
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    file read = {.bytes = malloc(1 << 20)};
    assert_non_null(read.bytes);
    read.size = fread(read.bytes, 1, 1 << 20, stream);
    fclose(stream);
    return read;
}

static ze_result_t build(world *w, ze_module_format_t format, file binary, ze_module_handle_t *module,
                         ze_module_build_log_handle_t *log) {
    ze_module_desc_t desc = {
        ZE_STRUCTURE_TYPE_MODULE_DESC, NULL, format, binary.size, binary.bytes, "", NULL};
    return zeModuleCreate(w->context, w->device, &desc, module, log);
}

typedef struct program {
    ze_module_handle_t module;
    ze_kernel_handle_t kernel;
} program;

static program load(world *w, const char *name) {
    char path[64];
    snprintf(path, sizeof path, "build/kernels/%s.so", name);
    file binary = read_file(path);
    program loaded;
    ze_kernel_desc_t desc = {ZE_STRUCTURE_TYPE_KERNEL_DESC, NULL, 0, name};
    ok(build(w, ZE_MODULE_FORMAT_NATIVE, binary, &loaded.module, NULL));
    ok(zeKernelCreate(loaded.module, &desc, &loaded.kernel));
    free(binary.bytes);
    return loaded;
}

static void unload(program loaded) {
    ok(zeKernelDestroy(loaded.kernel));
    ok(zeModuleDestroy(loaded.module));
}

/* ==== what it is ========================================================================================== */

static void test_describes_itself(void **state) {
    world *w = *state;
    ze_driver_properties_t driver = {.stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES};
    ze_device_properties_t device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    ze_device_compute_properties_t compute = {.stype = ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES};
    ze_device_module_properties_t modules = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES};
    ze_api_version_t version;
    ok(zeDriverGetProperties(w->driver, &driver));
    ok(zeDriverGetApiVersion(w->driver, &version));
    assert_true(version <= ZE_MAKE_VERSION(1, 16));
    ok(zeDeviceGetProperties(w->device, &device));
    assert_int_equal(device.type, ZE_DEVICE_TYPE_GPU);
    assert_contains(device.name, "Software device");
    ok(zeDeviceGetComputeProperties(w->device, &compute));
    assert_true(compute.maxTotalGroupSize >= 256);
    ok(zeDeviceGetModuleProperties(w->device, &modules));
    assert_int_equal(modules.spirvVersionSupported, 0);
    ok(zeDeviceGetStatus(w->device));
    ok(zeContextGetStatus(w->context));
}

static void test_devices_have_places_on_the_bus(void **state) {
    world *w = *state;
    ze_device_handle_t devices[2], tile;
    uint32_t count = 2, one = 1;
    gpu.set_devices(2, 2);
    ok(zeDeviceGet(w->driver, &count, devices));
    ok(zeDeviceGetSubDevices(devices[1], &one, &tile));
    for (uint32_t i = 0; i < 3; i++) {
        ze_pci_ext_properties_t pci = {.stype = ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES};
        ok(zeDevicePciGetPropertiesExt(i < 2 ? devices[i] : tile, &pci));
        assert_int_equal(pci.address.device, i < 2 ? i : 1);
        assert_int_equal(pci.maxSpeed.width, -1);
    }
}

static void test_extensions_are_listed(void **state) {
    world *w = *state;
    static const char *const names[] = {"ZE_extension_pci_properties",
                                        "ZE_experimental_immediate_command_list_append",
                                        "ZET_experimental_metrics_runtime_enable_disable"};
    ze_driver_extension_properties_t extensions[16];
    uint32_t count = 16;
    if (getenv("ZE_ENABLE_VALIDATION_LAYER"))
        skip(); /* the layer of 1.20.6 refuses the call, or crashes in it */
    ok(zeDriverGetExtensionProperties(w->driver, &count, extensions));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        uint32_t at = 0;
        while (at < count && strcmp(extensions[at].name, names[i]) != 0)
            at++;
        if (at == count)
            fail_msg("of %u extensions, the first of which is '%s', none is %s", count, extensions[0].name,
                     names[i]);
    }
}

static void test_memory_takes_every_advice(void **state) {
    world *w = *state;
    for (int advice = 0; advice <= ZE_MEMORY_ADVICE_BIAS_UNCACHED; advice++)
        ok(zeCommandListAppendMemAdvise(w->list, w->device, w->ones, 4, (ze_memory_advice_t)advice));
}

static void test_lists_queue_groups_and_memories(void **state) {
    world *w = *state;
    ze_command_queue_group_properties_t groups[8];
    ze_device_memory_properties_t memories[8];
    uint32_t count = 0, caches = 7;
    ok(zeDeviceGetCommandQueueGroupProperties(w->device, &count, NULL));
    assert_int_equal(count, 2);
    for (unsigned i = 0; i < 8; i++)
        groups[i] =
            (ze_command_queue_group_properties_t){.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES};
    count = 8;
    ok(zeDeviceGetCommandQueueGroupProperties(w->device, &count, groups));
    assert_int_equal(count, 2);
    assert_true(groups[0].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE);
    assert_true(groups[0].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_METRICS);
    assert_int_equal(groups[1].flags, ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY);
    memories[0] = (ze_device_memory_properties_t){.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES};
    count = 1;
    ok(zeDeviceGetMemoryProperties(w->device, &count, memories));
    assert_int_equal(count, 1);
    ok(zeDeviceGetCacheProperties(w->device, &caches, NULL));
    assert_int_equal(caches, 0);
}

static void test_lists_as_many_devices_as_asked_for(void **state) {
    world *w = *state;
    ze_device_handle_t devices[4], tiles[4], none;
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    uint32_t count = 0;
    gpu.set_devices(2, 3);
    ok(zeDeviceGet(w->driver, &count, NULL));
    assert_int_equal(count, 2);
    ok(zeDeviceGet(w->driver, &count, devices));
    assert_ptr_equal(devices[0], w->device);
    count = 4;
    ok(zeDeviceGetSubDevices(devices[1], &count, tiles));
    assert_int_equal(count, 3);
    ok(zeDeviceGetProperties(tiles[2], &properties));
    assert_true(properties.flags & ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE);
    assert_int_equal(properties.subdeviceId, 2);
    count = 1;
    ok(zeDeviceGetSubDevices(tiles[0], &count, &none));
    assert_int_equal(count, 0);
}

static void test_what_is_not_offered_is_unsupported(void **state) {
    world *w = *state;
    ze_image_desc_t image_desc = {.stype = ZE_STRUCTURE_TYPE_IMAGE_DESC, .width = 1};
    ze_sampler_desc_t sampler_desc = {.stype = ZE_STRUCTURE_TYPE_SAMPLER_DESC};
    ze_ipc_event_pool_handle_t ipc;
    ze_image_handle_t image;
    ze_sampler_handle_t sampler;
    size_t size = 0;
    assert_result(zeImageCreate(w->context, w->device, &image_desc, &image),
                  ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    assert_result(zeSamplerCreate(w->context, w->device, &sampler_desc, &sampler),
                  ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    assert_result(zeEventPoolGetIpcHandle(w->event_pool, &ipc), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    assert_result(zeVirtualMemQueryPageSize(w->context, w->device, 1, &size),
                  ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
}

/* What this loader's library may not have itself is reached by name. */
static void test_newer_functions_are_reached_by_name(void **state) {
    world *w = *state;
    ze_result_t (*is_immediate)(ze_command_list_handle_t, ze_bool_t *);
    void *address = NULL;
    ze_bool_t answer = 7;
    ok(zeDriverGetExtensionFunctionAddress(w->driver, "zeCommandListIsImmediate", &address));
    memcpy(&is_immediate, &address, sizeof is_immediate);
    ok(is_immediate(w->immediate, &answer));
    assert_int_equal(answer, 1);
    ok(is_immediate(w->list, &answer));
    assert_int_equal(answer, 0);
    assert_result(zeDriverGetExtensionFunctionAddress(w->driver, "zeSomethingElse", &address),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

/* A loader of 1.16 or newer has it from the driver's table. */
static void test_newer_loaders_tell_immediate_lists(void **state) {
    world *w = *state;
    ze_result_t (*is_immediate)(ze_command_list_handle_t, ze_bool_t *);
    ze_bool_t answer = 7;
    if (!can_tell_immediate())
        skip();
    *(void **)&is_immediate = dlsym(RTLD_DEFAULT, "zeCommandListIsImmediate");
    gpu.reset_calls();
    ok(is_immediate(w->immediate, &answer));
    assert_int_equal(answer, 1);
    ok(is_immediate(w->list, &answer));
    assert_int_equal(answer, 0);
    assert_int_equal(calls("zeCommandListIsImmediate"), 2);
}

/* ==== strictness ========================================================================================== */

static void test_wrong_handles_are_refused(void **state) {
    world *w = *state;
    char nothing[256] = {0};
    void *const wrong[] = {NULL, (void *)16, nothing, w->context, (char *)w->done + 8, (char *)w->done + 64};
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_result(zeEventQueryStatus(wrong[i]), NO_HANDLE);
        assert_result(zeEventHostSynchronize(wrong[i], 0), NO_HANDLE);
        assert_result(zeCommandListClose(wrong[i]), NO_HANDLE);
        assert_result(zeCommandQueueSynchronize(wrong[i], 0), NO_HANDLE);
        assert_result(zeKernelSetGroupSize(wrong[i], 1, 1, 1), NO_HANDLE);
        assert_result(zeDeviceGetStatus(wrong[i]), NO_HANDLE);
        assert_result(zeCommandListAppendBarrier(wrong[i], NULL, 0, NULL), NO_HANDLE);
    }
    assert_result(zeCommandListAppendBarrier(w->list, (ze_event_handle_t)w->context, 0, NULL),
                  ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT);
    assert_result(zeCommandListAppendBarrier(w->list, NULL, 2, NULL), ZE_RESULT_ERROR_INVALID_SIZE);
}

static void test_null_pointers_are_refused(void **state) {
    world *w = *state;
    assert_result(zeDeviceGetProperties(w->device, NULL), NO_POINTER);
    assert_result(zeEventCreate(w->event_pool, NULL, NULL), NO_POINTER);
    assert_result(zeModuleCreate(w->context, w->device, NULL, NULL, NULL), NO_POINTER);
    assert_result(zeCommandQueueExecuteCommandLists(w->queue, 1, NULL, NULL), NO_POINTER);
    assert_result(zeCommandListAppendWriteGlobalTimestamp(w->list, NULL, NULL, 0, NULL), NO_POINTER);
    assert_result(zeMemFree(w->context, NULL), NO_POINTER);
}

static void test_destroying_twice_is_found(void **state) {
    world *w = *state;
    ze_command_list_handle_t list;
    ze_event_handle_t event;
    create_list(w, &list);
    create_event(w, 1, &event);
    ok(zeCommandListDestroy(list));
    ok(zeEventDestroy(event));
    assert_result(zeCommandListDestroy(list), NO_HANDLE);
    assert_result(zeEventDestroy(event), NO_HANDLE);
    assert_result(zeEventQueryStatus(event), NO_HANDLE);
    expect_findings(2);
}

static void test_leaks_are_found(void **state) {
    world *w = *state;
    char text[4096];
    uint64_t before = gpu.live();
    ze_event_handle_t event;
    create_event(w, 1, &event);
    void *memory = allocate(w, 64);
    assert_int_equal(gpu.live(), before + 2);
    gpu.ledger(text, sizeof text);
    assert_contains(text, "EVENT");
    assert_contains(text, "allocations");
    ok(zeMemFree(w->context, memory));
    ok(zeEventDestroy(event));
    assert_int_equal(gpu.live(), before);
}

static void test_a_parent_destroyed_before_its_children_is_found(void **state) {
    world *w = *state;
    ze_event_pool_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, NULL, 0, 1};
    ze_event_desc_t event_desc = {ZE_STRUCTURE_TYPE_EVENT_DESC, NULL, 0, 0, 0};
    ze_event_pool_handle_t pool;
    ze_event_handle_t event;
    ok(zeEventPoolCreate(w->context, &desc, 0, NULL, &pool));
    ok(zeEventCreate(pool, &event_desc, &event));
    ok(zeEventPoolDestroy(pool));
    expect_findings(1);
    ok(zeEventDestroy(event));
    expect_findings(0);
}

static void test_descriptors_are_checked(void **state) {
    world *w = *state;
    ze_command_queue_desc_t queue_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, .ordinal = 2};
    ze_command_list_desc_t list_desc = {ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, NULL, 0, 0x80000000u};
    ze_event_pool_desc_t pool_desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, NULL, 0, 0};
    ze_event_desc_t event_desc = {ZE_STRUCTURE_TYPE_EVENT_DESC, NULL, 16, 0, 0};
    ze_command_queue_handle_t queue;
    ze_command_list_handle_t list;
    ze_event_pool_handle_t pool;
    ze_event_handle_t event;
    assert_result(zeCommandQueueCreate(w->context, w->device, &queue_desc, &queue),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_result(zeCommandListCreateImmediate(w->context, w->device, &queue_desc, &list),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    queue_desc.ordinal = 0;
    queue_desc.mode = (ze_command_queue_mode_t)3;
    assert_result(zeCommandQueueCreate(w->context, w->device, &queue_desc, &queue),
                  ZE_RESULT_ERROR_INVALID_ENUMERATION);
    assert_result(zeCommandListCreate(w->context, w->device, &list_desc, &list),
                  ZE_RESULT_ERROR_INVALID_ENUMERATION);
    assert_result(zeEventPoolCreate(w->context, &pool_desc, 0, NULL, &pool), ZE_RESULT_ERROR_INVALID_SIZE);
    assert_result(zeEventCreate(w->event_pool, &event_desc, &event), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    event_desc.index = 0;
    assert_result(zeEventCreate(w->event_pool, &event_desc, &event), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    expect_findings(1);
}

/* ==== memory ============================================================================================== */

static void test_allocations_have_properties(void **state) {
    world *w = *state;
    ze_memory_allocation_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
    ze_device_handle_t device = NULL;
    char *memory = allocate(w, 1000);
    int elsewhere = 0;
    void *base = NULL;
    size_t size = 0;
    ok(zeMemGetAllocProperties(w->context, memory + 999, &properties, &device));
    assert_int_equal(properties.type, ZE_MEMORY_TYPE_SHARED);
    assert_ptr_equal(device, w->device);
    ok(zeMemGetAddressRange(w->context, memory + 500, &base, &size));
    assert_ptr_equal(base, memory);
    assert_int_equal(size, 1000);
    ok(zeMemGetAllocProperties(w->context, &elsewhere, &properties, NULL));
    assert_int_equal(properties.type, ZE_MEMORY_TYPE_UNKNOWN);
    ok(zeMemGetAllocProperties(w->context, w->ones, &properties, NULL));
    assert_int_equal(properties.type, ZE_MEMORY_TYPE_HOST);
    ok(zeMemFree(w->context, memory));
}

static void test_allocation_is_strict(void **state) {
    world *w = *state;
    ze_device_mem_alloc_desc_t desc = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, NULL, 0, 0};
    void *memory = NULL;
    assert_result(zeMemAllocDevice(w->context, &desc, 0, 64, w->device, &memory),
                  ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    if (sizeof(size_t) > sizeof(uint32_t)) { /* elsewhere no size is more than the device has */
        assert_result(zeMemAllocDevice(w->context, &desc, SIZE_MAX / 2, 64, w->device, &memory),
                      ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    }
    assert_result(zeMemAllocDevice(w->context, &desc, 64, 48, w->device, &memory),
                  ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT);
    ok(zeMemAllocDevice(w->context, &desc, 64, 4096, w->device, &memory));
    assert_int_equal((uintptr_t)memory % 4096, 0);
    assert_result(zeMemFree(w->context, (char *)memory + 8), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    ok(zeMemFree(w->context, memory));
    assert_result(zeMemFree(w->context, memory), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    expect_findings(2);
}

static void test_copies_and_fills(void **state) {
    world *w = *state;
    char *a = allocate(w, 256), *b = allocate(w, 256), host[256];
    const uint32_t pattern = 0x64636261;
    ok(zeCommandListAppendMemoryFill(w->immediate, a, &pattern, sizeof pattern, 256, NULL, 0, NULL));
    ok(zeCommandListAppendMemoryFill(w->immediate, a, "z", 1, 3, NULL, 0, NULL));
    ok(zeCommandListAppendMemoryCopy(w->immediate, b, a, 256, NULL, 0, NULL));
    ok(zeCommandListAppendMemoryCopy(w->immediate, host, b, 256, NULL, 0, NULL));
    finish_immediate(w, w->immediate);
    assert_memory_equal(host, "zzzdabcd", 8);
    assert_memory_equal(host + 248, "abcdabcd", 8);
    assert_result(zeCommandListAppendMemoryCopy(w->immediate, b + 1, a, 256, NULL, 0, NULL),
                  ZE_RESULT_ERROR_INVALID_SIZE);
    assert_result(zeCommandListAppendMemoryFill(w->immediate, a, &pattern, 3, 256, NULL, 0, NULL),
                  ZE_RESULT_ERROR_INVALID_SIZE);
    assert_result(zeCommandListAppendMemoryFill(w->immediate, a, &pattern, 4, 257, NULL, 0, NULL),
                  ZE_RESULT_ERROR_INVALID_SIZE);
    ok(zeMemFree(w->context, a));
    ok(zeMemFree(w->context, b));
}

static void test_copies_regions(void **state) {
    world *w = *state;
    char *picture = allocate(w, 8 * 8 * 2);
    char part[3 * 2 * 2];
    const ze_copy_region_t from = {2, 1, 0, 3, 2, 2}, to = {0, 0, 0, 3, 2, 2}, other = {0, 0, 0, 2, 2, 2};
    for (int i = 0; i < 128; i++)
        picture[i] = (char)i;
    ok(zeCommandListAppendMemoryCopyRegion(w->immediate, part, &to, 3, 6, picture, &from, 8, 64, NULL, 0,
                                           NULL));
    finish_immediate(w, w->immediate);
    for (int z = 0; z < 2; z++)
        for (int y = 0; y < 2; y++)
            for (int x = 0; x < 3; x++)
                assert_int_equal(part[z * 6 + y * 3 + x], z * 64 + (y + 1) * 8 + x + 2);
    assert_result(zeCommandListAppendMemoryCopyRegion(w->immediate, part, &other, 3, 6, picture, &from, 8, 64,
                                                      NULL, 0, NULL),
                  ZE_RESULT_ERROR_INVALID_SIZE);
    ok(zeMemFree(w->context, picture));
}

/* ==== kernels ============================================================================================= */

static void test_runs_saxpy(void **state) {
    world *w = *state;
    launch(w, w->immediate);
    launch(w, w->immediate);
    check_work(w);
}

static void set_buffer(ze_kernel_handle_t kernel, uint32_t index, const void *buffer) {
    ok(zeKernelSetArgumentValue(kernel, index, sizeof buffer, &buffer));
}

static void test_runs_a_tiled_matrix_product(void **state) {
    enum { N = 32, TILE = 16 };
    world *w = *state;
    program matmul = load(w, "matmul");
    const uint32_t n = N;
    const ze_group_count_t groups = {N / TILE, N / TILE, 1};
    float *a = allocate(w, sizeof(float[N * N])), *b = allocate(w, sizeof(float[N * N])),
          *c = allocate(w, sizeof(float[N * N]));
    for (int i = 0; i < N * N; i++)
        a[i] = (float)(i % 7), b[i] = (float)(i % 5);
    set_buffer(matmul.kernel, 0, c);
    set_buffer(matmul.kernel, 1, a);
    set_buffer(matmul.kernel, 2, b);
    ok(zeKernelSetArgumentValue(matmul.kernel, 3, sizeof n, &n));
    ok(zeKernelSetGroupSize(matmul.kernel, TILE, TILE, 1));
    ok(zeCommandListAppendLaunchKernel(w->immediate, matmul.kernel, &groups, NULL, 0, NULL));
    finish_immediate(w, w->immediate);
    for (int row = 0; row < N; row++)
        for (int column = 0; column < N; column++) {
            float expected = 0;
            for (int k = 0; k < N; k++)
                expected += a[row * N + k] * b[k * N + column];
            assert_true(fabsf(c[row * N + column] - expected) < 0.5f);
        }
    unload(matmul);
    ok(zeMemFree(w->context, a));
    ok(zeMemFree(w->context, b));
    ok(zeMemFree(w->context, c));
}

static void test_runs_a_reduction(void **state) {
    enum { N = 1000, GROUP = 256, GROUPS = 4 };
    world *w = *state;
    program reduce = load(w, "reduce");
    const uint32_t n = N;
    const ze_group_count_t groups = {GROUPS, 1, 1};
    float *values = allocate(w, N * sizeof *values), *sums = allocate(w, GROUPS * sizeof *sums);
    for (int i = 0; i < N; i++)
        values[i] = (float)i;
    set_buffer(reduce.kernel, 0, sums);
    set_buffer(reduce.kernel, 1, values);
    ok(zeKernelSetArgumentValue(reduce.kernel, 2, sizeof n, &n));
    ok(zeKernelSetGroupSize(reduce.kernel, GROUP, 1, 1));
    ok(zeCommandListAppendLaunchKernel(w->immediate, reduce.kernel, &groups, NULL, 0, NULL));
    finish_immediate(w, w->immediate);
    assert_true(fabsf(sums[0] + sums[1] + sums[2] + sums[3] - 999.0f * 500.0f) < 0.5f);
    unload(reduce);
    ok(zeMemFree(w->context, values));
    ok(zeMemFree(w->context, sums));
}

static void test_launches_in_every_way(void **state) {
    world *w = *state;
    ze_group_count_t *counts = allocate(w, 3 * sizeof *counts);
    uint32_t *limit = allocate(w, sizeof *limit);
    ze_kernel_handle_t kernels[3] = {w->kernel, w->kernel, w->kernel};
    const ze_group_count_t groups = {WORK_GROUPS, 1, 1};
    ok(zeCommandListAppendLaunchCooperativeKernel(w->list, w->kernel, &groups, NULL, 0, NULL));
    ok(zeCommandListAppendLaunchKernelIndirect(w->list, w->kernel, counts, NULL, 0, NULL));
    ok(zeCommandListAppendLaunchMultipleKernelsIndirect(w->list, 3, kernels, limit, counts, NULL, 0, NULL));
    ok(zeCommandListClose(w->list));
    for (int i = 0; i < 3; i++)
        counts[i] = groups;
    *limit = 2;
    execute_unprofiled(w, w->list);
    w->launches = 4;
    check_work(w);
    ok(zeMemFree(w->context, counts));
    ok(zeMemFree(w->context, limit));
}

/* Arguments and group size are those of the time of the append. */
static void test_a_launch_keeps_its_arguments(void **state) {
    world *w = *state;
    const float none = 0;
    launch(w, w->list);
    ok(zeKernelSetArgumentValue(w->kernel, 2, sizeof none, &none));
    ok(zeKernelSetGroupSize(w->kernel, 1, 1, 1));
    ok(zeCommandListClose(w->list));
    execute_unprofiled(w, w->list);
    check_work(w);
}

static void test_a_recorded_launch_survives_its_kernel(void **state) {
    world *w = *state;
    program saxpy = load(w, "saxpy");
    const float factor = 1;
    const uint32_t count = WORK_ITEMS;
    set_buffer(saxpy.kernel, 0, w->sums);
    set_buffer(saxpy.kernel, 1, w->ones);
    ok(zeKernelSetArgumentValue(saxpy.kernel, 2, sizeof factor, &factor));
    ok(zeKernelSetArgumentValue(saxpy.kernel, 3, sizeof count, &count));
    ok(zeKernelSetGroupSize(saxpy.kernel, WORK_ITEMS / WORK_GROUPS, 1, 1));
    launch_kernel(w->list, saxpy.kernel);
    ok(zeCommandListClose(w->list));
    unload(saxpy);
    execute_unprofiled(w, w->list);
    w->launches = 1;
    check_work(w);
}

static void test_kernels_are_strict(void **state) {
    world *w = *state;
    ze_kernel_desc_t desc = {ZE_STRUCTURE_TYPE_KERNEL_DESC, NULL, 0, "nothing"};
    ze_kernel_handle_t kernel;
    const ze_group_count_t groups = {1, 1, 1};
    float local;
    void *unknown = &local;
    uint32_t x = 0, y, z;
    assert_result(zeKernelCreate(w->module, &desc, &kernel), ZE_RESULT_ERROR_INVALID_KERNEL_NAME);
    desc.pKernelName = "saxpy";
    ok(zeKernelCreate(w->module, &desc, &kernel));
    assert_result(zeKernelSetArgumentValue(kernel, 4, 4, &x), ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX);
    assert_result(zeKernelSetArgumentValue(kernel, 2, 8, &x), ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE);
    assert_result(zeKernelSetArgumentValue(kernel, 0, sizeof unknown, &unknown),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_result(zeKernelSetGroupSize(kernel, 0, 1, 1), ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION);
    assert_result(zeKernelSetGroupSize(kernel, 64, 64, 64), ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION);
    assert_result(zeCommandListAppendLaunchKernel(w->immediate, kernel, &groups, NULL, 0, NULL),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    expect_findings(1);
    ok(zeKernelSuggestGroupSize(kernel, 1000, 3, 1, &x, &y, &z));
    assert_int_equal(1000 % x, 0);
    assert_int_equal(3 % y, 0);
    assert_int_equal(z, 1);
    ok(zeKernelDestroy(kernel));
}

static void test_kernels_describe_themselves(void **state) {
    world *w = *state;
    ze_kernel_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES};
    const char *names[4];
    char name[16];
    uint32_t count = 0;
    size_t size = 0;
    ok(zeModuleGetKernelNames(w->module, &count, NULL));
    assert_int_equal(count, 1);
    ok(zeModuleGetKernelNames(w->module, &count, names));
    assert_string_equal(names[0], "saxpy");
    ok(zeKernelGetProperties(w->kernel, &properties));
    assert_int_equal(properties.numKernelArgs, 4);
    ok(zeKernelGetName(w->kernel, &size, NULL));
    assert_int_equal(size, sizeof "saxpy");
    ok(zeKernelGetName(w->kernel, &size, name));
    assert_string_equal(name, "saxpy");
}

static void test_bad_binaries_are_refused(void **state) {
    world *w = *state;
    file good = read_file("build/kernels/saxpy.so");
    file garbage = {(uint8_t *)"these bytes are no program, however many of them there may be", 60};
    ze_module_build_log_handle_t log;
    ze_module_handle_t module;
    char text[512];
    size_t size = sizeof text;
    assert_result(build(w, ZE_MODULE_FORMAT_NATIVE, garbage, &module, &log),
                  ZE_RESULT_ERROR_INVALID_NATIVE_BINARY);
    ok(zeModuleBuildLogGetString(log, &size, text));
    assert_contains(text, "shared object");
    ok(zeModuleBuildLogDestroy(log));
    for (size_t length = 1; length < good.size; length += 500) {
        file part = {good.bytes, length};
        ze_result_t result = build(w, ZE_MODULE_FORMAT_NATIVE, part, &module, NULL);
        if (result == ZE_RESULT_SUCCESS) /* only what no segment needs is missing */
            ok(zeModuleDestroy(module));
        else
            assert_result(result, ZE_RESULT_ERROR_INVALID_NATIVE_BINARY);
    }
    assert_result(build(w, ZE_MODULE_FORMAT_IL_SPIRV, good, &module, NULL),
                  ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    good.size = 0;
    assert_result(build(w, ZE_MODULE_FORMAT_NATIVE, good, &module, NULL), ZE_RESULT_ERROR_INVALID_SIZE);
    free(good.bytes);
}

/* ==== control ============================================================================================= */

static void test_the_nth_call_fails_once(void **state) {
    world *w = *state;
    inject("zeEventHostReset", 2, ZE_RESULT_ERROR_UNKNOWN);
    ok(zeEventHostReset(w->done));
    assert_result(zeEventHostReset(w->done), ZE_RESULT_ERROR_UNKNOWN);
    ok(zeEventHostReset(w->done));
    assert_int_equal((gpu.fail)("zeNothing", 1, ZE_RESULT_ERROR_UNKNOWN), 0);
}

static void test_calls_are_counted(void **state) {
    world *w = *state;
    gpu.reset_calls();
    for (int i = 0; i < 5; i++)
        zeEventQueryStatus(w->done);
    ok(zeDeviceGetStatus(w->device));
    assert_int_equal(gpu.calls("zeEventQueryStatus"), 5);
    assert_int_equal(gpu.calls(NULL), 6);
    gpu.reset_calls();
    assert_int_equal(gpu.calls(NULL), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_describes_itself),
        TEST(test_devices_have_places_on_the_bus),
        TEST(test_extensions_are_listed),
        TEST(test_memory_takes_every_advice),
        TEST(test_lists_queue_groups_and_memories),
        TEST(test_lists_as_many_devices_as_asked_for),
        TEST(test_what_is_not_offered_is_unsupported),
        TEST(test_newer_functions_are_reached_by_name),
        TEST(test_newer_loaders_tell_immediate_lists),
        TEST(test_wrong_handles_are_refused),
        TEST(test_null_pointers_are_refused),
        TEST(test_destroying_twice_is_found),
        TEST(test_leaks_are_found),
        TEST(test_a_parent_destroyed_before_its_children_is_found),
        TEST(test_descriptors_are_checked),
        TEST(test_allocations_have_properties),
        TEST(test_allocation_is_strict),
        TEST(test_copies_and_fills),
        TEST(test_copies_regions),
        TEST(test_runs_saxpy),
        TEST(test_runs_a_tiled_matrix_product),
        TEST(test_runs_a_reduction),
        TEST(test_launches_in_every_way),
        TEST(test_a_launch_keeps_its_arguments),
        TEST(test_a_recorded_launch_survives_its_kernel),
        TEST(test_kernels_are_strict),
        TEST(test_kernels_describe_themselves),
        TEST(test_bad_binaries_are_refused),
        TEST(test_the_nth_call_fails_once),
        TEST(test_calls_are_counted),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
