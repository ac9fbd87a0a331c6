#define _GNU_SOURCE
#include "fuzz.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void must_(int holds, const char *condition, const char *file, int line) {
    if (!holds) {
        fprintf(stderr, "%s:%d: this does not hold: %s\n", file, line, condition);
        abort();
    }
}

/* ==== the input =========================================================================================== */

void take_bytes(fuzz_input *input, void *bytes, size_t size) {
    size_t taken = input->size < size ? input->size : size;
    memset(bytes, 0, size);
    if (taken)
        memcpy(bytes, input->bytes, taken);
    input->bytes += taken;
    input->size -= taken;
}

uint8_t take_byte(fuzz_input *input) {
    uint8_t byte;
    take_bytes(input, &byte, 1);
    return byte;
}

uint64_t take_number(fuzz_input *input) {
    uint64_t number = 0;
    take_bytes(input, &number, take_byte(input) % 9);
    return number;
}

void take_text(fuzz_input *input, char *text, size_t room) {
    size_t length = 0;
    while (length + 1 < room && (text[length] = (char)take_byte(input)) != 0)
        length++;
    text[length] = 0;
}

/* ==== the library: its memory is limited, and it reaches the files of one directory alone ================= */

enum { MOST_MEMORY = 64 << 20, FILES = 16 };

static void *limited_malloc(size_t size) {
    return size > MOST_MEMORY ? NULL : malloc(size);
}

static char files_directory[64];

static void remove_directory(void) {
    char path[128];
    for (unsigned i = 0; i < FILES; i++) {
        snprintf(path, sizeof path, "%s/%x", files_directory, i);
        remove(path);
    }
    rmdir(files_directory);
}

const char *fuzz_path(const char *name) {
    static _Thread_local char paths[2][128];
    static _Thread_local int next;
    char *path = paths[next++ % 2];
    unsigned hash = 5381;
    if (!files_directory[0]) {
        strcpy(files_directory, "/tmp/zetools-fuzz-XXXXXX");
        must(mkdtemp(files_directory));
        atexit(remove_directory);
    }
    for (; *name; name++)
        hash = hash * 33 + (unsigned char)*name;
    snprintf(path, sizeof paths[0], "%s/%x", files_directory, hash % FILES);
    return path;
}

static int is_of_system(const char *path) {
    return strncmp(path, "/proc/", 6) == 0 && !strstr(path, "..");
}

static FILE *confined_fopen(const char *path, const char *mode) {
    return fopen(is_of_system(path) && strcmp(mode, "r") == 0 ? path : fuzz_path(path), mode);
}

/* Standard output and standard error, whose text nobody reads. */
static FILE *get_sink(void) {
    static FILE *sink;
    if (!sink)
        sink = fopen("/dev/null", "w");
    return sink;
}

/* A directory is not made: what is written to it lies beside all other files. */
static int confined_mkdir(const char *path, mode_t mode) {
    (void)path, (void)mode;
    return 0;
}

/* ==== the hostile driver ================================================================================== */

static fuzz_input *hostile;

void set_hostile(fuzz_input *input) {
    hostile = input;
}

/* Leaves what the driver has written, or fills it with one byte, so that no text in it ends, or changes a
   part of it. */
static void change(void *memory, size_t size) {
    uint8_t how;
    if (!hostile || !hostile->size || !size)
        return;
    how = take_byte(hostile);
    if (how < 128)
        return;
    if (how < 192) {
        memset(memory, take_byte(hostile), size);
    } else {
        size_t offset = (size_t)take_number(hostile) % size, count = how % 64u + 1;
        take_bytes(hostile, (uint8_t *)memory + offset, count < size - offset ? count : size - offset);
    }
}

static ze_result_t changed_result(ze_result_t result) {
    change(&result, 1); /* any below 256, which a program knows as success, not ready or unknown to it */
    return result;
}

#define CHANGE(member) change(&(member), sizeof(member))

static ze_result_t hostile_group_get(ze_device_handle_t device, uint32_t *count,
                                     zet_metric_group_handle_t *groups) {
    ze_result_t result = zetMetricGroupGet(device, count, groups);
    CHANGE(*count);
    return result;
}

static ze_result_t hostile_group_properties(zet_metric_group_handle_t group,
                                            zet_metric_group_properties_t *properties) {
    if (!group)
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    ze_result_t result = zetMetricGroupGetProperties(group, properties);
    CHANGE(properties->name);
    CHANGE(properties->description);
    CHANGE(properties->domain);
    CHANGE(properties->metricCount);
    return changed_result(result);
}

static ze_result_t hostile_metric_get(zet_metric_group_handle_t group, uint32_t *count,
                                      zet_metric_handle_t *metrics) {
    ze_result_t result = zetMetricGet(group, count, metrics);
    CHANGE(*count);
    return result;
}

static ze_result_t hostile_metric_properties(zet_metric_handle_t metric,
                                             zet_metric_properties_t *properties) {
    if (!metric)
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    ze_result_t result = zetMetricGetProperties(metric, properties);
    CHANGE(properties->name);
    CHANGE(properties->description);
    CHANGE(properties->component);
    CHANGE(properties->metricType);
    CHANGE(properties->resultUnits);
    return changed_result(result);
}

static ze_result_t hostile_query_data(zet_metric_query_handle_t query, size_t *size, uint8_t *data) {
    ze_result_t result = zetMetricQueryGetData(query, size, data);
    CHANGE(*size);
    return changed_result(result);
}

static ze_result_t hostile_read_data(zet_metric_streamer_handle_t streamer, uint32_t count, size_t *size,
                                     uint8_t *data) {
    ze_result_t result = zetMetricStreamerReadData(streamer, count, size, data);
    CHANGE(*size);
    return changed_result(result);
}

static ze_result_t hostile_calculate(zet_metric_group_handle_t group,
                                     zet_metric_group_calculation_type_t type, size_t size,
                                     const uint8_t *raw, uint32_t *count, zet_typed_value_t *values) {
    uint32_t i, room = values ? *count : 0;
    ze_result_t result = zetMetricGroupCalculateMetricValues(group, type, size, raw, count, values);
    for (i = 0; i < room; i++)
        CHANGE(values[i]);
    CHANGE(*count);
    return changed_result(result);
}

static ze_result_t hostile_device_properties(ze_device_handle_t device, ze_device_properties_t *properties) {
    ze_result_t result = zeDeviceGetProperties(device, properties);
    CHANGE(properties->name);
    CHANGE(properties->timerResolution);
    CHANGE(properties->timestampValidBits);
    CHANGE(properties->kernelTimestampValidBits);
    CHANGE(properties->numThreadsPerEU);
    CHANGE(properties->numEUsPerSubslice);
    CHANGE(properties->numSubslicesPerSlice);
    CHANGE(properties->numSlices);
    CHANGE(properties->coreClockRate);
    CHANGE(properties->uuid);
    return result;
}

static ze_result_t hostile_compute(ze_device_handle_t device, ze_device_compute_properties_t *properties) {
    ze_result_t result = zeDeviceGetComputeProperties(device, properties);
    CHANGE(properties->maxSharedLocalMemory);
    return result;
}

static ze_result_t hostile_memory(ze_device_handle_t device, uint32_t *count,
                                  ze_device_memory_properties_t *properties) {
    ze_result_t result = zeDeviceGetMemoryProperties(device, count, properties);
    if (properties && *count > 0) {
        CHANGE(properties->maxClockRate);
        CHANGE(properties->maxBusWidth);
    }
    CHANGE(*count);
    return result;
}

static ze_result_t hostile_queue_groups(ze_device_handle_t device, uint32_t *count,
                                        ze_command_queue_group_properties_t *properties) {
    ze_result_t result = zeDeviceGetCommandQueueGroupProperties(device, count, properties);
    CHANGE(*count);
    return result;
}

static ze_result_t hostile_sub_devices(ze_device_handle_t device, uint32_t *count,
                                       ze_device_handle_t *devices) {
    ze_result_t result = zeDeviceGetSubDevices(device, count, devices);
    CHANGE(*count);
    return result;
}

static ze_result_t hostile_kernel_name(ze_kernel_handle_t kernel, size_t *size, char *name) {
    size_t room = name ? *size : 0;
    ze_result_t result = zeKernelGetName(kernel, size, name);
    change(name, room);
    CHANGE(*size);
    return result;
}

static ze_result_t hostile_kernel_properties(ze_kernel_handle_t kernel, ze_kernel_properties_t *properties) {
    ze_result_t result = zeKernelGetProperties(kernel, properties);
    CHANGE(properties->numKernelArgs);
    CHANGE(properties->requiredGroupSizeX);
    CHANGE(properties->maxSubgroupSize);
    CHANGE(properties->localMemSize);
    CHANGE(properties->privateMemSize);
    CHANGE(properties->spillMemSize);
    return result;
}

static ze_result_t hostile_profile_info(ze_kernel_handle_t kernel, zet_profile_properties_t *properties) {
    enum { ROOM = 4096 }; /* that the library gives, as no call can ask for the size */
    ze_result_t result = zetKernelGetProfileInfo(kernel, properties);
    CHANGE(properties->flags);
    CHANGE(properties->numTokens);
    change(properties + 1, ROOM - sizeof *properties);
    return changed_result(result);
}

static ze_result_t hostile_kernel_names(ze_module_handle_t module, uint32_t *count, const char **names) {
    ze_result_t result = zeModuleGetKernelNames(module, count, names);
    CHANGE(*count);
    return result;
}

/* The binary of a module that is NULL: see fuzz_read_elf. */
static const uint8_t *fuzzed_binary;
static size_t fuzzed_size;

static ze_result_t hostile_native_binary(ze_module_handle_t module, size_t *size, uint8_t *bytes) {
    size_t room = bytes ? *size : 0;
    if (!module) {
        if (bytes)
            memcpy(bytes, fuzzed_binary, fuzzed_size);
        *size = fuzzed_size;
        return ZE_RESULT_SUCCESS;
    }
    ze_result_t result = zeModuleGetNativeBinary(module, size, bytes);
    change(bytes, room);
    CHANGE(*size);
    return changed_result(result);
}

static ze_result_t hostile_kernel_timestamp(ze_event_handle_t event, ze_kernel_timestamp_result_t *stamp) {
    ze_result_t result = zeEventQueryKernelTimestamp(event, stamp);
    CHANGE(*stamp);
    return changed_result(result);
}

/* Those that the library looks up at run time, because headers and loaders may lack them. */
static struct real_functions {
    ze_result_t (*zeDeviceGetGlobalTimestamps)(ze_device_handle_t device, uint64_t *host, uint64_t *ticks);
    ze_result_t (*zeEventQueryTimestampsExp)(ze_event_handle_t event, ze_device_handle_t device,
                                             uint32_t *count, ze_kernel_timestamp_result_t *stamps);
    ze_result_t (*zeKernelGetBinaryExp)(ze_kernel_handle_t kernel, size_t *size, uint8_t *bytes);
    ze_result_t (*zetMetricGroupCalculateMultipleMetricValuesExp)(
        zet_metric_group_handle_t group, zet_metric_group_calculation_type_t type, size_t size,
        const uint8_t *raw, uint32_t *sets, uint32_t *total, uint32_t *counts, zet_typed_value_t *values);
    ze_result_t (*zetDeviceGetConcurrentMetricGroupsExp)(ze_device_handle_t device, uint32_t group_count,
                                                         zet_metric_group_handle_t *groups, uint32_t *counts,
                                                         uint32_t *concurrent_count);
} real;

static ze_result_t hostile_global_timestamps(ze_device_handle_t device, uint64_t *host, uint64_t *ticks) {
    ze_result_t result = real.zeDeviceGetGlobalTimestamps(device, host, ticks);
    CHANGE(*host);
    CHANGE(*ticks);
    return changed_result(result);
}

static ze_result_t hostile_timestamps(ze_event_handle_t event, ze_device_handle_t device, uint32_t *count,
                                      ze_kernel_timestamp_result_t *stamps) {
    uint32_t room = stamps ? *count : 0;
    ze_result_t result = real.zeEventQueryTimestampsExp(event, device, count, stamps);
    change(stamps, room * sizeof *stamps);
    CHANGE(*count);
    return changed_result(result);
}

static ze_result_t hostile_kernel_binary(ze_kernel_handle_t kernel, size_t *size, uint8_t *bytes) {
    ze_result_t result = real.zeKernelGetBinaryExp(kernel, size, bytes);
    CHANGE(*size);
    return result;
}

static ze_result_t hostile_calculate_multiple(zet_metric_group_handle_t group,
                                              zet_metric_group_calculation_type_t type, size_t size,
                                              const uint8_t *raw, uint32_t *sets, uint32_t *total,
                                              uint32_t *counts, zet_typed_value_t *values) {
    uint32_t i, set_room = counts ? *sets : 0, room = values ? *total : 0;
    ze_result_t result = real.zetMetricGroupCalculateMultipleMetricValuesExp(group, type, size, raw, sets,
                                                                             total, counts, values);
    for (i = 0; i < room; i++)
        CHANGE(values[i]);
    change(counts, set_room * sizeof *counts);
    CHANGE(*sets);
    CHANGE(*total);
    return changed_result(result);
}

static ze_result_t hostile_concurrent(ze_device_handle_t device, uint32_t group_count,
                                      zet_metric_group_handle_t *groups, uint32_t *counts,
                                      uint32_t *concurrent_count) {
    uint32_t room = counts ? *concurrent_count : 0;
    ze_result_t result =
        real.zetDeviceGetConcurrentMetricGroupsExp(device, group_count, groups, counts, concurrent_count);
    change(counts, room * sizeof *counts);
    CHANGE(*concurrent_count);
    return result;
}

/* What the library finds under a name: the function above, which calls the one that is found. */
static void *hostile_dlsym(void *library, const char *name) {
#define REPLACE(function, replacement)                                                                       \
    { #function, &real.function, (void *)(uintptr_t)replacement }
    static const struct {
        const char *name;
        void *real, *replacement;
    } replaced[] = {
        REPLACE(zeDeviceGetGlobalTimestamps, hostile_global_timestamps),
        REPLACE(zeEventQueryTimestampsExp, hostile_timestamps),
        REPLACE(zeKernelGetBinaryExp, hostile_kernel_binary),
        REPLACE(zetMetricGroupCalculateMultipleMetricValuesExp, hostile_calculate_multiple),
        REPLACE(zetDeviceGetConcurrentMetricGroupsExp, hostile_concurrent),
    };
    void *symbol = dlsym(library, name);
    for (size_t i = 0; symbol && i < sizeof replaced / sizeof replaced[0]; i++) {
        if (strcmp(name, replaced[i].name) == 0) {
            memcpy(replaced[i].real, &symbol, sizeof symbol);
            return replaced[i].replacement;
        }
    }
    return symbol;
}

/* ==== the library ========================================================================================= */

#undef stdout
#undef stderr
#define stdout get_sink()
#define stderr get_sink()
#define malloc limited_malloc
#define fopen confined_fopen
#define open(path, flags, mode) open(fuzz_path(path), flags, mode)
#define unlink(path) unlink(fuzz_path(path))
#define stat(path, status) stat(fuzz_path(path), status)
#define chmod(path, mode) chmod(fuzz_path(path), mode)
#define rename(from, to) rename(fuzz_path(from), fuzz_path(to))
#define remove(path) remove(fuzz_path(path))
#define mkdir confined_mkdir
#define dlsym hostile_dlsym
#define zetMetricGroupGet hostile_group_get
#define zetMetricGroupGetProperties hostile_group_properties
#define zetMetricGet hostile_metric_get
#define zetMetricGetProperties hostile_metric_properties
#define zetMetricQueryGetData hostile_query_data
#define zetMetricStreamerReadData hostile_read_data
#define zetMetricGroupCalculateMetricValues hostile_calculate
#define zeDeviceGetProperties hostile_device_properties
#define zeDeviceGetComputeProperties hostile_compute
#define zeDeviceGetMemoryProperties hostile_memory
#define zeDeviceGetCommandQueueGroupProperties hostile_queue_groups
#define zeDeviceGetSubDevices hostile_sub_devices
#define zeKernelGetName hostile_kernel_name
#define zeKernelGetProperties hostile_kernel_properties
#define zetKernelGetProfileInfo hostile_profile_info
#define zeModuleGetKernelNames hostile_kernel_names
#define zeModuleGetNativeBinary hostile_native_binary
#define zeEventQueryKernelTimestamp hostile_kernel_timestamp
#define ZT__INVARIANT(condition) must(condition)
#define ZETOOLS_IMPLEMENTATION
#include "zetools.h"
#undef stdout
#undef stderr
#undef malloc
#undef fopen
#undef open
#undef unlink
#undef stat
#undef chmod
#undef rename
#undef remove
#undef mkdir
#undef dlsym
#undef zeDeviceGetProperties

void fuzz_seal(uint8_t *packed, size_t size) {
    uint64_t stated = size, hash = zt__checksum(packed, size);
    const uint32_t layout = ZT__PACK_LAYOUT;
    memcpy(packed, "ZTPK", 4);
    memcpy(packed + 4, &layout, sizeof layout);
    memcpy(packed + 8, &stated, sizeof stated);
    memcpy(packed + 16, &hash, sizeof hash);
}

void fuzz_read_elf(const uint8_t *bytes, size_t size) {
    /* a copy of exactly this size, so that a byte beyond it is noticed */
    uint8_t *copy = (uint8_t *)malloc(size + !size);
    zt__elf elf;
    must(copy);
    memcpy(copy, bytes, size);
    if (zt__open_elf(copy, size, &elf)) {
        uint64_t address = 0;
        zt__code code = {0, 0}, wanted = {16, 0};
        zt__function function;
        if (zt__find_in_elf(&elf, "saxpy", NULL, &address, &code)) {
            wanted = code;
            if (zt__find_function_at(&elf, address, &function))
                must(strlen(function.name) < size);
        }
        zt__find_in_elf(&elf, "", &wanted, &address, &code);
        for (uint64_t i = 0; i < elf.section_count && i < 64; i++) {
            if (zt__find_function_at(&elf, zt__elf_section_at(&elf, i).address, &function))
                must(strlen(function.name) < size);
        }
    }
    fuzzed_binary = copy;
    fuzzed_size = size;
    zt__described_module *described = zt__describe_module(&zt__default_allocator, NULL);
    if (described)
        zt__describe_kernel(described, "saxpy");
    zt__free_described_module(&zt__default_allocator, described);
    /* any bytes are tried as .ze_info, too */
    uint8_t *text = (uint8_t *)malloc(size + !size);
    must(text);
    memcpy(text, copy, size);
    uint32_t count = zt__read_ze_info((const char *)text, size, NULL);
    if (count > 0) {
        zt__described_kernel *kernels = (zt__described_kernel *)calloc(count, sizeof *kernels);
        must(kernels && zt__read_ze_info((const char *)text, size, kernels) == count);
        zt__described_module module = {1, (char *)text, kernels, count};
        zt__describe_kernel(&module, "saxpy");
        free(kernels);
    }
    free(text);
    free(copy);
}

/* ==== the world =========================================================================================== */

fuzz_world world;

#ifndef BUILD_DIRECTORY /* the Makefile defines it */
#define BUILD_DIRECTORY "build/"
#endif

#define ok(call) must((call) == ZE_RESULT_SUCCESS)

ze_module_handle_t fuzz_create_module(void) {
    static uint8_t *code;
    static size_t size;
    ze_module_handle_t module;
    if (!code) {
        FILE *file = fopen(BUILD_DIRECTORY "kernels/saxpy.so", "rb");
        must(file);
        fseek(file, 0, SEEK_END);
        size = (size_t)ftell(file);
        rewind(file);
        code = (uint8_t *)malloc(size);
        must(code && fread(code, 1, size, file) == size);
        fclose(file);
    }
    ze_module_desc_t desc = {
        ZE_STRUCTURE_TYPE_MODULE_DESC, NULL, ZE_MODULE_FORMAT_NATIVE, size, code, "", NULL};
    ok(zeModuleCreate(world.context, world.device, &desc, &module, NULL));
    return module;
}

ze_kernel_handle_t fuzz_create_kernel(ze_module_handle_t module) {
    static float *values;
    void *memory;
    uint32_t count = 1;
    float factor = 1;
    ze_host_mem_alloc_desc_t host = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, NULL, 0};
    ze_kernel_desc_t desc = {ZE_STRUCTURE_TYPE_KERNEL_DESC, NULL, 0, "saxpy"};
    ze_kernel_handle_t kernel;
    if (!values) {
        ok(zeMemAllocHost(world.context, &host, 64, 64, &memory));
        values = (float *)memory;
    }
    ok(zeKernelCreate(module, &desc, &kernel));
    ok(zeKernelSetGroupSize(kernel, 1, 1, 1));
    ok(zeKernelSetArgumentValue(kernel, 0, sizeof values, &values));
    ok(zeKernelSetArgumentValue(kernel, 1, sizeof values, &values));
    ok(zeKernelSetArgumentValue(kernel, 2, sizeof factor, &factor));
    ok(zeKernelSetArgumentValue(kernel, 3, sizeof count, &count));
    return kernel;
}

void fuzz_launch(void) {
    ze_group_count_t groups = {1, 1, 1};
    ok(zeCommandListAppendLaunchKernel(world.list, world.kernel, &groups, NULL, 0, NULL));
}

int open_fuzz_world(void) {
    uint32_t one = 1;
    ze_context_desc_t context = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, NULL, 0};
    ze_command_queue_desc_t queue = {
        ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, NULL, 0, 0, 0, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS,
        ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
    setenv("ZE_ENABLE_ALT_DRIVERS", BUILD_DIRECTORY "libze_softgpu.so", 0);
    setenv("ZET_ENABLE_METRICS", "1", 0);
    ok(zeInit(0));
    ok(zeDriverGet(&one, &world.driver));
    ok(zeDeviceGet(world.driver, &one, &world.device));
    ok(zeContextCreate(world.driver, &context, &world.context));
    ok(zeCommandListCreateImmediate(world.context, world.device, &queue, &world.list));
    world.module = fuzz_create_module();
    world.kernel = fuzz_create_kernel(world.module);
    return 0;
}

static int64_t allocated; /* blocks */

static void *allocate_some(size_t size, void *user) {
    void *memory = limited_malloc(size);
    (void)user;
    __atomic_fetch_add(&allocated, memory != NULL, __ATOMIC_RELAXED);
    return memory;
}

static void release_some(void *memory, void *user) {
    (void)user;
    free(memory);
    __atomic_fetch_sub(&allocated, 1, __ATOMIC_RELAXED);
}

void check_memory(void) {
    must(__atomic_load_n(&allocated, __ATOMIC_RELAXED) == 0);
}

void set_sub_devices(uint32_t count) {
    static void (*set_devices)(uint32_t devices, uint32_t sub_devices);
    if (!set_devices) {
        void *device = dlopen(getenv("ZE_ENABLE_ALT_DRIVERS"), RTLD_NOW | RTLD_NOLOAD);
        must(device && (*(void **)&set_devices = dlsym(device, "softgpu_set_devices")) != NULL);
    }
    set_devices(1, count);
}

static void drop_message(int result, const char *text, void *user) {
    (void)result, (void)user;
    must(strlen(text) > 0);
}

zt_config fuzz_config(void) {
    zt_config config = {0};
    config.allocator.allocate = allocate_some;
    config.allocator.release = release_some;
    config.log = drop_message;
    config.wait_timeout_ns = 100000000;
    config.probes_per_step = 4;
    config.max_probes = 64;
    return config;
}

/* ==== reports ============================================================================================= */

/* Reads every byte, so that one that was never written is noticed by sanitizers that know of it. */
static int read_all(const void *bytes, size_t size, void *sum) {
    for (size_t i = 0; i < size; i++)
        *(unsigned *)sum += ((const unsigned char *)bytes)[i];
    return 0;
}

static int write_all(const void *bytes, size_t size, void *file) {
    return fwrite(bytes, 1, size, (FILE *)file) != size;
}

static const struct {
    zt_format format;
    int is_perfetto; /* which only a path chooses */
    const char *suffix;
} formats[] = {
    {ZT_FORMAT_CSV, 0, "csv"},          {ZT_FORMAT_JSON, 0, "json"},       {ZT_FORMAT_HTML, 0, "html"},
    {ZT_FORMAT_OPENMETRICS, 0, "prom"}, {ZT_FORMAT_FOLDED, 0, "folded"},   {ZT_FORMAT_TRACE, 0, "trace.json"},
    {ZT_FORMAT_TRACE, 1, "pftrace"},    {ZT_FORMAT_TABLE, 0, "table.txt"},
};

static FILE *create(const char *directory_of_reports, unsigned number, const char *suffix) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%u.%s", directory_of_reports, number, suffix);
    FILE *file = fopen(path, "wb");
    must(file);
    return file;
}

static void keep_reports(const zt_profiler *profiler, const char *directory_of_reports) {
    static unsigned number;
    number++;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        FILE *file = create(directory_of_reports, number, formats[i].suffix);
        zt__write_as(profiler, formats[i].format, formats[i].is_perfetto, write_all, file);
        fclose(file);
    }
    FILE *names = create(directory_of_reports, number, "names");
    for (uint32_t i = 0; i < zt_get_info(profiler).region_count; i++) {
        zt_region_info info;
        ok(zt_get_region(profiler, i, &info));
        for (const char *letter = info.name; *letter; letter++)
            fprintf(names, "%02x", (unsigned)(unsigned char)*letter);
        fputc('\n', names);
    }
    fclose(names);
}

static void read_results(zt_profiler *profiler) {
    zt_region_info info;
    zt_region_info path;
    zt_stats stats;
    zt_limit_info limit;
    for (uint32_t i = 0; i < zt_get_info(profiler).region_count && i < 8; i++) {
        ok(zt_get_region(profiler, i, &info));
        zt_get_limit(profiler, i, &limit);
        zt_get_stats(profiler, i, ZT_QUEUE_LATENCY, &stats);
        for (uint32_t m = 0; m < zt_get_info(profiler).metric_count && m < 32; m++) {
            zt_get_stats(profiler, i, m, &stats);
            zt_get_stats(profiler, i, ZT_TILE(0, m), &stats);
        }
    }
    for (uint32_t i = 0; i < zt_get_info(profiler).path_count; i++)
        ok(zt_get_region(profiler, ZT_PATH(i), &path));
    for (uint32_t m = 0; m < zt_get_info(profiler).metric_count; m++)
        must(zt_find_metric(profiler, zt_get_metric(profiler, m)->name) <= m);
    for (uint32_t i = 0; i < zt_get_info(profiler).kernel_count; i++) {
        zt_kernel_info kernel;
        ok(zt_get_kernel(profiler, i, &kernel));
        must(strlen(kernel.advice) < sizeof kernel.advice);
    }
    zt_get_timeline(profiler);
    must(zt_get_info(profiler).availability_text);
}

void fuzz_report(zt_profiler *profiler) {
    const char *kept = getenv("FUZZ_REPORTS");
    unsigned sum = 0;
    set_hostile(NULL);
    read_results(profiler);
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        zt__write_as(profiler, formats[i].format, formats[i].is_perfetto, read_all, &sum);
    if (kept)
        keep_reports(profiler, kept);
}
