/* What kernels are made of: properties, native binaries, launches, occupancy, and what reports say of them.
   Where a test needs another device than the software device, the program answers in the place of its driver.
 */
#define _GNU_SOURCE
#include "fixture.h"
#include "softgpu/kernel_binary.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ==== in the place of the driver ========================================================================== */

enum { BINARY_BYTES = 1 << 14 };

typedef struct register_file_size {
    ze_structure_type_t stype;
    void *next;
    uint32_t registers;
} register_file_size;

/* What is not 0 is answered instead of what the software device answers. */
static struct pretended {
    const uint8_t *binary; /* of every module */
    size_t binary_size;
    const ze_kernel_properties_t *properties; /* of every kernel */
    uint32_t registers;     /* by Intel's extension; UINT32_MAX: the driver does not have it */
    int has_no_registers;   /* by the same: 0 */
    size_t name_size;       /* of every kernel, without the name */
    int refuses_extensions; /* 2: and also what has none */
    const ze_device_properties_t *device;
    uint32_t slm_bytes; /* of a subslice */
    const void *profile_info;
    size_t profile_size;
    uint32_t property_calls, binary_calls;
} pretended;

ze_result_t ZE_APICALL zeModuleGetNativeBinary(ze_module_handle_t module, size_t *size, uint8_t *binary) {
    pretended.binary_calls++;
    if (!pretended.binary)
        return REAL(zeModuleGetNativeBinary)(module, size, binary);
    if (binary)
        memcpy(binary, pretended.binary, *size < pretended.binary_size ? *size : pretended.binary_size);
    *size = pretended.binary_size;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeKernelGetProperties(ze_kernel_handle_t kernel, ze_kernel_properties_t *properties) {
    register_file_size *extension = properties->pNext;
    pretended.property_calls++;
    if (pretended.refuses_extensions > !extension)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    if (pretended.properties) {
        *properties = *pretended.properties;
        properties->pNext = extension;
    } else {
        properties->pNext = pretended.registers ? NULL : extension;
        ze_result_t result = REAL(zeKernelGetProperties)(kernel, properties);
        properties->pNext = extension;
        if (result != ZE_RESULT_SUCCESS)
            return result;
    }
    if (extension && pretended.registers && pretended.registers != UINT32_MAX)
        extension->registers = pretended.registers;
    if (extension && pretended.has_no_registers)
        extension->registers = 0;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeKernelGetName(ze_kernel_handle_t kernel, size_t *size, char *name) {
    if (!pretended.name_size || name)
        return REAL(zeKernelGetName)(kernel, size, name);
    *size = pretended.name_size;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDeviceGetProperties(ze_device_handle_t device, ze_device_properties_t *properties) {
    ze_result_t result = REAL(zeDeviceGetProperties)(device, properties);
    if (result == ZE_RESULT_SUCCESS && pretended.device) {
        properties->numThreadsPerEU = pretended.device->numThreadsPerEU;
        properties->numEUsPerSubslice = pretended.device->numEUsPerSubslice;
        properties->numSubslicesPerSlice = pretended.device->numSubslicesPerSlice;
        properties->numSlices = pretended.device->numSlices;
    }
    return result;
}

ze_result_t ZE_APICALL zeDeviceGetComputeProperties(ze_device_handle_t device,
                                                    ze_device_compute_properties_t *properties) {
    ze_result_t result = REAL(zeDeviceGetComputeProperties)(device, properties);
    if (result == ZE_RESULT_SUCCESS && pretended.slm_bytes)
        properties->maxSharedLocalMemory = pretended.slm_bytes;
    return result;
}

ze_result_t ZE_APICALL zetKernelGetProfileInfo(zet_kernel_handle_t kernel,
                                               zet_profile_properties_t *properties) {
    if (!pretended.profile_info)
        return REAL(zetKernelGetProfileInfo)(kernel, properties);
    memcpy(properties, pretended.profile_info, pretended.profile_size);
    return ZE_RESULT_SUCCESS;
}

/* A device of 8 threads a vector engine, 8 vector engines a subslice and 20 subslices. */
static const ze_device_properties_t b580 = {
    .numThreadsPerEU = 8, .numEUsPerSubslice = 8, .numSubslicesPerSlice = 4, .numSlices = 5};

/* ==== binaries ============================================================================================ */

typedef struct binary {
    uint8_t bytes[BINARY_BYTES];
    size_t size;
} binary;

static void put(binary *to, size_t at, uint64_t value, size_t size) {
    for (size_t i = 0; i < size; i++)
        to->bytes[at + i] = (uint8_t)(value >> 8 * i);
}

static void put_section(binary *to, size_t index, uint64_t name, uint64_t type, uint64_t offset,
                        uint64_t size) {
    const size_t at = 64 + index * 64;
    put(to, at, name, 4);
    put(to, at + 4, type, 4);
    put(to, at + 24, offset, 8);
    put(to, at + 32, size, 8);
}

/* An ELF file as Intel's compiler makes it, of which only what matters here is there. */
static binary elf_with(const char *ze_info) {
    static const char names[] = "\0.text.saxpy\0.ze_info\0.shstrtab";
    binary made = {.size = 64 + 4 * 64};
    memcpy(made.bytes, "\177ELF\2\1\1", 7);
    put(&made, 16, 0xff12, 2); /* ET_ZEBIN_EXE */
    put(&made, 18, 0xcd, 2);   /* EM_INTELGT */
    put(&made, 40, 64, 8);     /* the table of sections */
    put(&made, 52, 64, 2);
    put(&made, 58, 64, 2);
    put(&made, 60, 4, 2);
    put(&made, 62, 3, 2);
    put_section(&made, 1, 1, 1, made.size, 0);
    put_section(&made, 2, 13, 0xff000011, made.size, strlen(ze_info));
    memcpy(made.bytes + made.size, ze_info, strlen(ze_info));
    made.size += strlen(ze_info);
    put_section(&made, 3, 22, 3, made.size, sizeof names);
    memcpy(made.bytes + made.size, names, sizeof names);
    made.size += sizeof names;
    assert_true(made.size <= BINARY_BYTES);
    return made;
}

static void pretend_binary(const binary *of) {
    pretended.binary = of->bytes;
    pretended.binary_size = of->size;
}

/* As the compiler writes it. */
static const char usual_ze_info[] = "---\n"
                                    "version:         '1.34'\n"
                                    "kernels:\n"
                                    "  - name:            other\n"
                                    "    execution_env:\n"
                                    "      grf_count:       64\n"
                                    "      simd_size:       8\n"
                                    "  - name:            saxpy\n"
                                    "    user_attributes:\n"
                                    "      simd_size:       7\n"
                                    "    execution_env:\n"
                                    "      barrier_count:   2\n"
                                    "      eu_thread_count: 5\n"
                                    "      grf_count:       160\n"
                                    "      has_dpas:        true\n"
                                    "      required_work_group_size: [ 8, 8, 1 ]\n"
                                    "      simd_size:       32\n"
                                    "      slm_size:        4096\n"
                                    "    payload_arguments:\n"
                                    "      - arg_type:        global_id_offset\n"
                                    "        name:            wrong\n"
                                    "        simd_size:       6\n"
                                    "    per_thread_memory_buffers:\n"
                                    "      - type:            scratch\n"
                                    "        size:            1024\n"
                                    "kernels_misc_info:\n"
                                    "  - name:            saxpy\n"
                                    "    execution_env:\n"
                                    "      grf_count:       1\n"
                                    "...\n";

/* ==== a traced world ====================================================================================== */

static int open_pretended(void **state) {
    memset(&pretended, 0, sizeof pretended);
    return open_world(state);
}

static zt_profiler *open_times(world *w) {
    zt_config config = config_of(w);
    config.groups = "";
    return open_profiler(w, &config);
}

static zt_profiler *open_traced(world *w, const zt_trace_config *config) {
    zt_profiler *profiler = open_times(w);
    ok(zt_trace_start(profiler, config));
    return profiler;
}

static zt_kernel_info kernel_info(const zt_profiler *profiler, uint32_t index) {
    zt_kernel_info info;
    ok(zt_get_kernel(profiler, index, &info));
    return info;
}

/* A module with the kernel of a file, and a kernel of it that can be launched. */
typedef struct loaded {
    ze_module_handle_t module;
    ze_kernel_handle_t kernel;
} loaded;

/* With `ending` zeros behind it, the binary is another one. */
static void create_module(world *w, const char *name, size_t ending, ze_module_handle_t *module) {
    native_binary code = read_binary(name);
    code.bytes = realloc(code.bytes, code.size + ending + 1);
    assert_non_null(code.bytes);
    memset(code.bytes + code.size, 0, ending);
    code.size += ending;
    ok(try_module(w, code, NULL, module));
    free(code.bytes);
}

static void set_saxpy_arguments(world *w, ze_kernel_handle_t kernel) {
    const float a = 1;
    const uint32_t count = WORK_ITEMS;
    ok(zeKernelSetArgumentValue(kernel, 0, sizeof w->sums, &w->sums));
    ok(zeKernelSetArgumentValue(kernel, 1, sizeof w->ones, &w->ones));
    ok(zeKernelSetArgumentValue(kernel, 2, sizeof a, &a));
    ok(zeKernelSetArgumentValue(kernel, 3, sizeof count, &count));
}

static loaded load_saxpy(world *w, size_t ending) {
    loaded made;
    create_module(w, "build/kernels/saxpy.so", ending, &made.module);
    made.kernel = kernel_in(made.module, "saxpy");
    set_saxpy_arguments(w, made.kernel);
    return made;
}

static void unload(loaded *what) {
    ok(zeKernelDestroy(what->kernel));
    ok(zeModuleDestroy(what->module));
}

/* A launch whose work does not matter. */
static void launch_groups(world *w, ze_kernel_handle_t kernel, uint32_t size, uint32_t count) {
    const ze_group_count_t groups = {count, 1, 1};
    ok(zeKernelSetGroupSize(kernel, size, 1, 1));
    ok(zeCommandListAppendLaunchKernel(w->immediate, kernel, &groups, NULL, 0, NULL));
}

/* Launches a kernel of a module that was loaded while tracing, and returns what is known of it. */
static zt_kernel_info launch_once(world *w, zt_profiler *profiler, uint32_t size, uint32_t count) {
    loaded saxpy = load_saxpy(w, 0);
    uint32_t before = zt_get_info(profiler).kernel_count;
    launch_groups(w, saxpy.kernel, size, count);
    finish_immediate(w, w->immediate);
    unload(&saxpy);
    assert_in_range(zt_get_info(profiler).kernel_count, before, before + 1);
    return kernel_info(profiler, zt_get_info(profiler).kernel_count - 1);
}

/* ==== what a kernel is made of ============================================================================ */

static void test_a_kernel_of_the_device(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_traced(w, NULL);
    loaded matmul;
    create_module(w, "build/kernels/matmul.so", 0, &matmul.module);
    matmul.kernel = kernel_in(matmul.module, "matmul");
    assert_int_equal(zt_get_info(profiler).kernel_count, 0); /* it may never be launched */
    const uint32_t n = 0;
    const ze_group_count_t groups = {2, 3, 1};
    for (uint32_t i = 0; i < 3; i++)
        ok(zeKernelSetArgumentValue(matmul.kernel, i, sizeof w->sums, &w->sums));
    ok(zeKernelSetArgumentValue(matmul.kernel, 3, sizeof n, &n));
    ok(zeKernelSetGroupSize(matmul.kernel, 16, 16, 1));
    ok(zeCommandListAppendLaunchKernel(w->list, matmul.kernel, &groups, NULL, 0, NULL));
    assert_int_equal(zt_get_info(profiler).kernel_count, 1);
    zt_kernel_info info = kernel_info(profiler, 0);
    assert_string_equal(info.name, "matmul");
    assert_true(info.module != 0);
    assert_int_equal(info.region, find_region(profiler, "matmul"));
    assert_int_equal(info.launches, 1);
    assert_int_equal(info.simd_width, 1);
    assert_int_equal(info.registers, SOFTGPU_REGISTERS);
    assert_int_equal(info.slm_bytes, 2 * 16 * 16 * sizeof(float));
    assert_int_equal(info.private_bytes, sizeof(float));
    assert_int_equal(info.spill_bytes, 0);
    assert_int_equal(info.barriers, 0);
    assert_int_equal(info.arguments, 4);
    assert_int_equal(info.profile_flags, 0);
    assert_int_equal(info.shape_count, 1);
    assert_int_equal(info.shapes[0].group_size[0], 16);
    assert_int_equal(info.shapes[0].group_size[1], 16);
    assert_int_equal(info.shapes[0].group_size[2], 1);
    assert_int_equal(info.shapes[0].group_count[0], 2);
    assert_int_equal(info.shapes[0].group_count[1], 3);
    assert_int_equal(info.shapes[0].launches, 1);
    assert_int_equal(info.shapes[0].groups_per_subslice, 4); /* of 1024 threads */
    assert_close(info.occupancy, 1);
    assert_close(info.shapes[0].waves, 6 / 4.0);
    assert_string_equal(info.advice, "");
    ok(zeCommandListReset(w->list));
    unload(&matmul);
}

static void test_the_size_of_the_code(void **state) {
    world *w = *state;
    void *loader = dlopen("libze_loader.so.1", RTLD_LAZY | RTLD_NOLOAD);
    ze_result_t (*get_binary)(ze_kernel_handle_t, size_t *, uint8_t *) = NULL;
    *(void **)&get_binary = dlsym(loader, "zeKernelGetBinaryExp");
    zt_profiler *profiler = open_traced(w, NULL);
    launch(w, w->immediate);
    finish_immediate(w, w->immediate);
    size_t size = UINT32_MAX;
    if (get_binary && get_binary(w->kernel, &size, NULL) != ZE_RESULT_ERROR_INVALID_NULL_POINTER)
        assert_in_range(size, 1, 1 << 20);
    else
        size = UINT32_MAX; /* an old loader, or a validation layer that takes the second NULL for a mistake */
    assert_int_equal(kernel_info(profiler, 0).code_bytes, size);
    dlclose(loader);
    check_work(w);
}

/* A kernel that was created before: its module is not known, and so neither what that alone states. */
static void test_a_kernel_from_before_the_start(void **state) {
    world *w = *state;
    need_registers_extension(w);
    binary other = elf_with(usual_ze_info);
    pretend_binary(&other);
    zt_profiler *profiler = open_traced(w, NULL);
    launch(w, w->immediate);
    finish_immediate(w, w->immediate);
    zt_kernel_info info = kernel_info(profiler, 0);
    assert_string_equal(info.name, "saxpy");
    assert_true(info.module == 0);
    assert_int_equal(info.registers, SOFTGPU_REGISTERS);
    assert_int_equal(info.barriers, UINT32_MAX);
    assert_int_equal(info.arguments, 4);
    assert_int_equal(info.shapes[0].group_size[0], 0); /* it was set before, too */
    assert_int_equal(info.shapes[0].group_count[0], WORK_GROUPS);
    assert_int_equal(info.shapes[0].groups_per_subslice, UINT32_MAX);
    assert_true(isnan(info.occupancy) && isnan(info.shapes[0].waves));
    check_work(w);
}

/* Properties are read once for each handle, and the binary once for each module. */
static void test_the_driver_is_queried_once(void **state) {
    world *w = *state;
    need_registers_extension(w);
    pretended.property_calls = 0;
    zt_profiler *profiler = open_traced(w, NULL);
    loaded saxpy = load_saxpy(w, 0);
    ze_kernel_handle_t second = kernel_in(saxpy.module, "saxpy");
    set_saxpy_arguments(w, second);
    for (int i = 0; i < 5; i++) {
        launch_groups(w, saxpy.kernel, 1, 1);
        launch_groups(w, second, 1, 1);
    }
    finish_immediate(w, w->immediate);
    assert_int_equal(pretended.property_calls, 2);
    assert_int_equal(pretended.binary_calls, 2); /* its size, and its bytes */
    assert_int_equal(zt_get_info(profiler).kernel_count, 1);
    assert_int_equal(kernel_info(profiler, 0).launches, 10);
    ok(zeKernelDestroy(second));
    unload(&saxpy);
}

/* ==== native binaries ===================================================================================== */

static const ze_kernel_properties_t no_properties;

static zt_kernel_info info_with(world *w, zt_profiler *profiler, const char *ze_info) {
    binary made = elf_with(ze_info);
    pretended.properties = &no_properties;
    pretended.registers = UINT32_MAX;
    pretend_binary(&made);
    return launch_once(w, profiler, 1, 1);
}

static void test_a_native_binary_is_read(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_traced(w, NULL);
    zt_kernel_info info = info_with(w, profiler, usual_ze_info);
    assert_int_equal(info.simd_width, 32);
    assert_int_equal(info.registers, 160);
    assert_int_equal(info.barriers, 2);
    assert_int_equal(info.slm_bytes, 0); /* the properties say so, which know more */
    assert_true(info.module != 0);
}

static void test_forms_of_ze_info(void **state) {
    static const struct {
        const char *text;
        uint32_t registers, simd_width, barriers;
    } forms[] = {
        {"kernels:\n- name: saxpy\n  execution_env:\n    grf_count: 128\n    simd_size: 16", 128, 16, 0},
        {"kernels:\r\n  - execution_env:\r\n      grf_count: 256\r\n    name: 'saxpy'\r\n", 256, UINT32_MAX,
         0},
        {"# a comment\nkernels:\n\n  -   name: \"saxpy\"\n\n      # another\n      execution_env:\n"
         "        simd_size:   8   \n",
         UINT32_MAX, 8, 0},
        {"functions:\n  - name: saxpy\n    execution_env:\n      grf_count: 1\n", UINT32_MAX, UINT32_MAX,
         UINT32_MAX},
        {"kernels:\n  - name: saxpy\n    execution_env:\n      grf_count: -1\n      simd_size: 1x\n"
         "      barrier_count: 99999999999\n",
         UINT32_MAX, UINT32_MAX, 0},
        {"kernels:\n  - name: saxpy\n    execution_env:\n      grf_count: 3000000000\n", UINT32_MAX,
         UINT32_MAX, 0},
        {"kernels:\n  - name: saxpy\n    execution_env:\n      simd_size: 16\n      - grf_count: 64\n",
         UINT32_MAX, 16, 0}, /* an element is no member */
        {"kernels:\n  - name: saxpy\n    execution_env:\n      - grf_count: 64\n", UINT32_MAX, UINT32_MAX, 0},
        {"kernels:\n  - name: saxpy2\n    execution_env:\n      grf_count: 1\n", UINT32_MAX, UINT32_MAX,
         UINT32_MAX},
        {"kernels:\n  - name: saxpy\n", UINT32_MAX, UINT32_MAX, UINT32_MAX},
        {"kernels:\n  - name\n  -\n  - :\n", UINT32_MAX, UINT32_MAX, UINT32_MAX},
        {"kernels", UINT32_MAX, UINT32_MAX, UINT32_MAX},
        {"", UINT32_MAX, UINT32_MAX, UINT32_MAX},
    };
    world *w = *state;
    zt_profiler *profiler = open_traced(w, NULL);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        zt_kernel_info info = info_with(w, profiler, forms[i].text);
        assert_int_equal(info.registers, forms[i].registers);
        assert_int_equal(info.simd_width, forms[i].simd_width);
        assert_int_equal(info.barriers, forms[i].barriers);
        assert_int_equal(zt_get_info(profiler).kernel_count, i + 1); /* of different modules */
    }
}

/* Creates a kernel of a module with this binary, whose bytes are at the end of an allocation. Under the
   sanitizers, what is read behind them is an error. */
static void read_exactly(world *w, const uint8_t *bytes, size_t size) {
    uint8_t *exact = malloc(size ? size : 1);
    assert_non_null(exact);
    memcpy(exact, bytes, size);
    pretended.binary = exact;
    pretended.binary_size = size;
    loaded saxpy = load_saxpy(w, 0);
    unload(&saxpy);
    free(exact);
    pretended.binary = NULL;
}

/* No binary is trusted: cut off anywhere, with any byte changed, with sizes and places that lie. */
static void test_damaged_binaries(void **state) {
    static const uint64_t lies[] = {
        1, 63, 64, 0x7fffffff, 0xffffffff, UINT64_MAX, UINT64_MAX - 63, UINT64_C(1) << 63, 0};
    world *w = *state;
    const binary whole = elf_with(usual_ze_info);
    zt_profiler *profiler = open_traced(w, NULL);
    const size_t step = INSTRUMENTED ? 7 : 1;
    for (size_t size = 0; size <= whole.size; size += step)
        read_exactly(w, whole.bytes, size);
    for (size_t at = 0; at < whole.size; at += step) {
        binary changed = whole;
        changed.bytes[at] ^= 0xff;
        read_exactly(w, changed.bytes, changed.size);
    }
    for (size_t at = 0; at < 64 + 4 * 64; at += 2)
        for (size_t i = 0; i < sizeof lies / sizeof *lies; i += step) {
            binary changed = whole;
            put(&changed, at, lies[i], 8);
            read_exactly(w, changed.bytes, changed.size);
        }
    assert_int_equal(info_with(w, profiler, usual_ze_info).registers, 160);
}

/* The driver fails, or returns another size the second time. */
static void test_a_binary_that_is_not_returned(void **state) {
    world *w = *state;
    need_registers_extension(w);
    zt_profiler *profiler = open_traced(w, NULL);
    inject("zeModuleGetNativeBinary", 1, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    zt_kernel_info info = launch_once(w, profiler, 1, 1);
    assert_true(info.module == 0);
    assert_int_equal(info.barriers, UINT32_MAX);
    assert_int_equal(info.registers, SOFTGPU_REGISTERS);
    inject("zeModuleGetNativeBinary", 2, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    info = launch_once(w, profiler, 1, 1);
    assert_true(info.module == 0);
    assert_int_equal(info.launches, 2);
}

/* ==== what the driver reports ============================================================================= */

static void test_properties_that_fail(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_traced(w, NULL);
    binary made = elf_with(usual_ze_info);
    pretend_binary(&made);
    pretended.refuses_extensions = 1;
    zt_kernel_info info = launch_once(w, profiler, 1, 1);
    assert_int_equal(info.arguments, 4); /* without the extension */
    assert_int_equal(info.registers, 160);
    pretended.refuses_extensions = 2;
    inject("zetKernelGetProfileInfo", 1, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    info = launch_once(w, profiler, 1, 1);
    assert_int_equal(info.arguments, UINT32_MAX);
    assert_int_equal(info.spill_bytes, UINT32_MAX);
    assert_int_equal(info.profile_flags, UINT32_MAX);
    assert_int_equal(info.slm_bytes, 4096);
    assert_int_equal(info.simd_width, 32);
}

/* With tokens behind it, which the library does not read. */
static void test_profile_information(void **state) {
    world *w = *state;
    struct {
        zet_profile_properties_t properties;
        uint8_t tokens[1000];
    } info = {{ZET_STRUCTURE_TYPE_PROFILE_PROPERTIES, NULL, 3, 2}, {0}};
    zt_profiler *profiler = open_traced(w, NULL);
    pretended.profile_info = &info;
    pretended.profile_size = sizeof info;
    assert_int_equal(launch_once(w, profiler, 1, 1).profile_flags, 3);
}

/* What the native binary states is kept. */
static void test_a_driver_without_registers(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_traced(w, NULL);
    binary made = elf_with(usual_ze_info);
    pretend_binary(&made);
    pretended.has_no_registers = 1;
    assert_int_equal(launch_once(w, profiler, 1, 1).registers, 160);
}

static ze_result_t return_no_size(ze_kernel_handle_t kernel, size_t *size, uint8_t *bytes) {
    (void)kernel;
    (void)bytes;
    *size = SIZE_MAX;
    return ZE_RESULT_SUCCESS;
}

static void test_sizes_that_cannot_be(void **state) {
    world *w = *state;
    replace_symbol("zeKernelGetBinaryExp", (any_function)return_no_size);
    zt_profiler *profiler = open_traced(w, NULL);
    zt_kernel_info info = launch_once(w, profiler, 1, 1);
    assert_string_equal(info.name, "saxpy");
    assert_int_equal(info.code_bytes, UINT32_MAX);
    pretended.name_size = SIZE_MAX;
    info = launch_once(w, profiler, 1, 1);
    assert_string_equal(info.name, "");
    assert_int_equal(info.launches, 1);
}

/* ==== which kernels are one =============================================================================== */

static void test_kernels_of_one_name(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_traced(w, NULL);
    loaded one = load_saxpy(w, 0), same = load_saxpy(w, 0), other = load_saxpy(w, 1);
    launch_groups(w, one.kernel, 1, 1);
    launch_groups(w, same.kernel, 1, 1);
    launch_groups(w, other.kernel, 1, 1);
    pretended.registers = 64;
    loaded changed = load_saxpy(w, 0);
    launch_groups(w, changed.kernel, 1, 1);
    finish_immediate(w, w->immediate);
    assert_int_equal(zt_get_info(profiler).kernel_count, 3);
    zt_kernel_info infos[3] = {kernel_info(profiler, 0), kernel_info(profiler, 1), kernel_info(profiler, 2)};
    assert_int_equal(infos[0].launches, 2);
    assert_int_equal(infos[1].launches, 1);
    assert_int_equal(infos[2].launches, 1);
    assert_true(infos[0].module != infos[1].module);
    assert_true(infos[0].module == infos[2].module);
    assert_int_equal(infos[2].registers, 64);
    for (int i = 0; i < 3; i++) {
        assert_string_equal(infos[i].name, "saxpy");
        assert_int_equal(infos[i].region, infos[0].region);
    }
    unload(&one);
    unload(&same);
    unload(&other);
    unload(&changed);
}

/* The driver uses the handles of kernels and modules again. */
static void test_handles_come_back(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_traced(w, NULL);
    for (uint32_t i = 0; i < 20; i++) {
        loaded saxpy = load_saxpy(w, i % 4);
        launch_groups(w, saxpy.kernel, 1, 1 + i % 4);
        finish_immediate(w, w->immediate);
        unload(&saxpy);
    }
    assert_int_equal(zt_get_info(profiler).kernel_count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        zt_kernel_info info = kernel_info(profiler, i);
        assert_int_equal(info.launches, 5);
        assert_int_equal(info.shape_count, 1);
        assert_int_equal(info.shapes[0].group_count[0], 1 + i);
    }
}

/* The driver refuses to destroy kernel and module: the kernel is the one that it was. */
static void test_a_kernel_that_was_not_destroyed(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_traced(w, NULL);
    loaded saxpy = load_saxpy(w, 3);
    launch_groups(w, saxpy.kernel, 1, 1);
    finish_immediate(w, w->immediate);
    for (int with_module = 0; with_module < 2; with_module++) {
        inject("zeKernelDestroy", 1, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
        assert_result(zeKernelDestroy(saxpy.kernel), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
        if (with_module) {
            inject("zeModuleDestroy", 1, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
            assert_result(zeModuleDestroy(saxpy.module), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
        }
        launch_kernel(w->immediate, saxpy.kernel); /* with the sizes that it has */
        finish_immediate(w, w->immediate);
    }
    assert_int_equal(zt_get_info(profiler).kernel_count, 1);
    zt_kernel_info info = kernel_info(profiler, 0);
    assert_int_equal(info.launches, 3);
    assert_int_equal(info.shapes[0].group_size[0], 1);
    assert_int_equal(info.shapes[1].group_size[0], 1);
    /* a table has a column of modules where a name is that of several kernels */
    assert_null(strstr(written_report(profiler, ZT_FORMAT_TABLE), " module"));
    unload(&saxpy);
}

/* ==== launches ============================================================================================ */

static void test_shapes_are_kept_by_number(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_traced(w, NULL);
    loaded saxpy = load_saxpy(w, 0);
    for (uint32_t i = 0; i < ZT_KERNEL_SHAPES + 3; i++)
        for (uint32_t j = 0; j <= i; j++)
            launch_groups(w, saxpy.kernel, 1 + i, 2);
    finish_immediate(w, w->immediate);
    zt_kernel_info info = kernel_info(profiler, 0);
    assert_int_equal(info.shape_count, ZT_KERNEL_SHAPES);
    uint64_t sum = info.other_launches;
    for (uint32_t i = 0; i < ZT_KERNEL_SHAPES; i++) {
        assert_int_equal(info.shapes[i].launches, ZT_KERNEL_SHAPES - i);
        assert_int_equal(info.shapes[i].group_size[0], ZT_KERNEL_SHAPES - i);
        sum += info.shapes[i].launches;
    }
    assert_int_equal(info.other_launches, 9 + 10 + 11);
    assert_int_equal(info.launches, sum);
    unload(&saxpy);
}

/* More launches than are counted between two locks of the mutex. */
static void test_many_launches_of_a_shape(void **state) {
    enum { LAUNCHES = 150 };
    world *w = *state;
    zt_profiler *profiler = open_traced(w, NULL);
    loaded saxpy = load_saxpy(w, 0);
    for (uint32_t i = 1; i <= LAUNCHES; i++) {
        launch_groups(w, saxpy.kernel, 1, 2);
        if (i % 50 == 0) {
            assert_int_equal(kernel_info(profiler, 0).launches, i);
            assert_int_equal(kernel_info(profiler, 0).shapes[0].launches, i);
        }
    }
    finish_immediate(w, w->immediate);
    unload(&saxpy);
}

static void test_shapes_that_are_in_order(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_traced(w, NULL);
    loaded saxpy = load_saxpy(w, 0);
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t j = 0; j <= i; j++)
            launch_groups(w, saxpy.kernel, 1 + j, 2);
    finish_immediate(w, w->immediate);
    zt_kernel_info info = kernel_info(profiler, 0);
    assert_int_equal(info.shape_count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(info.shapes[i].group_size[0], 1 + i);
        assert_int_equal(info.shapes[i].launches, 3 - i);
    }
    unload(&saxpy);
}

static void test_every_kind_of_launch(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_traced(w, NULL);
    loaded saxpy = load_saxpy(w, 0);
    ok(zeKernelSetGroupSize(saxpy.kernel, 2, 1, 1));
    launch_in_every_way(w, w->immediate, saxpy.kernel, 2, NULL);
    zt_kernel_info info = kernel_info(profiler, 0);
    assert_int_equal(info.launches, 5);
    assert_int_equal(info.shape_count, 2);
    assert_int_equal(info.shapes[0].launches,
                     3); /* their numbers of work-groups are in memory of the device */
    assert_int_equal(info.shapes[0].group_count[0], 0);
    assert_int_equal(info.shapes[0].group_size[0], 2);
    assert_true(isnan(info.shapes[0].waves) && !isnan(info.shapes[0].occupancy));
    assert_int_equal(info.shapes[1].group_count[0], WORK_GROUPS);
    unload(&saxpy);
}

/* Launches that `every` leaves out are counted; kernels that `names` leaves out are not known, and neither
   are launches that the driver refuses, or those elsewhere. */
static void test_what_counts(void **state) {
    world *w = *state;
    zt_trace_config config = {0};
    config.every = 4;
    config.names = "sax*";
    zt_profiler *profiler = open_traced(w, &config);
    for (int i = 0; i < 6; i++)
        launch(w, w->immediate);
    inject("zeCommandListAppendLaunchKernel", 1, ZE_RESULT_ERROR_UNKNOWN);
    const ze_group_count_t groups = {WORK_GROUPS, 1, 1};
    assert_result(zeCommandListAppendLaunchKernel(w->immediate, w->kernel, &groups, NULL, 0, NULL),
                  ZE_RESULT_ERROR_UNKNOWN);
    finish_immediate(w, w->immediate);
    assert_int_equal(kernel_info(profiler, 0).launches, 6);
    ok(zt_trace_stop(profiler));
    config.names = "!sax*";
    ok(zt_trace_start(profiler, &config));
    launch(w, w->immediate);
    config.names = NULL;
    config.no_launches = 1;
    ok(zt_trace_stop(profiler));
    ok(zt_trace_start(profiler, &config));
    launch(w, w->immediate);
    assert_int_equal(kernel_info(profiler, 0).launches, 6);
    assert_int_equal(zt_get_info(profiler).kernel_count, 1);
    check_work(w);
}

/* Launches saxpy, reduce and saxpy by one call. Of kernels that are not named, nothing is known. */
static void expect_named(world *w, const char *names, uint64_t saxpy, uint64_t reduce) {
    const struct {
        const char *name;
        uint64_t launches;
    } expected[] = {{"saxpy", saxpy}, {"reduce", reduce}};
    ze_host_mem_alloc_desc_t host = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, NULL, 0};
    uint32_t items = WORK_ITEMS, known = 0;
    void *groups, *count;
    zt_trace_config config = {0};
    config.names = names;
    ok(zeMemAllocHost(w->context, &host, 3 * sizeof(ze_group_count_t), 64, &groups));
    ok(zeMemAllocHost(w->context, &host, sizeof(uint32_t), 64, &count));
    for (int i = 0; i < 3; i++)
        ((ze_group_count_t *)groups)[i] = (ze_group_count_t){1, 1, 1};
    *(uint32_t *)count = 3;
    zt_profiler *profiler = open_traced(w, &config);
    loaded other;
    create_module(w, "build/kernels/reduce.so", 0, &other.module);
    other.kernel = kernel_in(other.module, "reduce");
    ok(zeKernelSetGroupSize(other.kernel, 256, 1, 1));
    ok(zeKernelSetArgumentValue(other.kernel, 0, sizeof w->ones, &w->ones));
    ok(zeKernelSetArgumentValue(other.kernel, 1, sizeof w->sums, &w->sums));
    ok(zeKernelSetArgumentValue(other.kernel, 2, sizeof items, &items));
    ze_kernel_handle_t kernels[] = {w->kernel, other.kernel, w->kernel};
    ok(zeCommandListAppendLaunchMultipleKernelsIndirect(w->immediate, 3, kernels, count, groups, NULL, 0,
                                                        NULL));
    finish_immediate(w, w->immediate);
    for (int i = 0; i < 2; i++)
        if (expected[i].launches > 0) {
            zt_kernel_info info = kernel_info(profiler, known++);
            assert_string_equal(info.name, expected[i].name);
            assert_int_equal(info.launches, expected[i].launches);
        }
    assert_int_equal(zt_get_info(profiler).kernel_count, known);
    unload(&other);
    ok(zeMemFree(w->context, groups));
    ok(zeMemFree(w->context, count));
    close_profiler(w, profiler);
}

/* `names` filters each kernel of a launch of several by its own name. */
static void test_names_of_a_launch_of_several_kernels(void **state) {
    world *w = *state;
    expect_named(w, NULL, 2, 1);
    expect_named(w, "saxpy", 2, 0);
    expect_named(w, "reduce", 0, 1);
    expect_named(w, "!reduce", 2, 0);
    expect_named(w, "nothing", 0, 0);
}

static void other_name(void *parameters, int result, void *user, void **instance) {
    (void)result, (void)instance;
    *((ze_command_list_append_launch_kernel_params_t *)parameters)->phKernel = *(ze_kernel_handle_t *)user;
}

/* A kernel that a hook puts in place of the application's. */
static void test_a_kernel_of_a_hook(void **state) {
    world *w = *state;
    zt_trace_config config = {0};
    loaded saxpy = load_saxpy(w, 3);
    ok(zeKernelSetGroupSize(saxpy.kernel, 1, 1, 1));
    zt_hook hook = {"zeCommandListAppendLaunchKernel", other_name, NULL, &saxpy.kernel};
    config.hooks = &hook;
    config.hook_count = 1;
    pretended.registers = 77;
    zt_profiler *profiler = open_traced(w, &config);
    launch_kernel(w->immediate, w->kernel);
    launch_kernel(w->immediate, w->kernel);
    finish_immediate(w, w->immediate);
    assert_int_equal(zt_get_info(profiler).kernel_count, 1);
    assert_int_equal(kernel_info(profiler, 0).launches, 2);
    assert_int_equal(kernel_info(profiler, 0).registers, 77);
    unload(&saxpy);
}

/* What zt_replace puts in place of a kernel is listed as itself. */
static void test_a_replacement(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_traced(w, NULL);
    ze_module_handle_t other;
    create_module(w, "build/kernels/saxpy.so", 5, &other);
    loaded before = load_saxpy(w, 0);
    launch_groups(w, before.kernel, 1, 1);
    ok(zt_replace(profiler, NULL, other, NULL));
    loaded after = load_saxpy(w, 0);
    launch_groups(w, after.kernel, 1, 1);
    finish_immediate(w, w->immediate);
    assert_int_equal(zt_get_info(profiler).kernel_count, 2);
    zt_kernel_info infos[2] = {kernel_info(profiler, 0), kernel_info(profiler, 1)};
    assert_true(infos[0].module && infos[1].module && infos[0].module != infos[1].module);
    assert_int_equal(infos[1].barriers, 0);
    assert_contains(written_report(profiler, ZT_FORMAT_CSV), "zt_replace has replaced 1 kernel: ");
    loaded last = load_saxpy(w, 0);
    assert_contains(written_report(profiler, ZT_FORMAT_CSV), "zt_replace has replaced 2 kernels: ");
    unload(&last);
    ok(zt_replace(profiler, NULL, NULL, NULL));
    unload(&before);
    unload(&after);
    ok(zeModuleDestroy(other));
}

/* ==== occupancy =========================================================================================== */

typedef struct occupancy_case {
    uint32_t simd_width, registers, slm_bytes, barriers, spill_bytes, size, count;
    uint32_t groups;  /* of a subslice of 64 threads, with 64 KiB of shared local memory */
    double occupancy; /* NaN: not known */
    const char *advice;
} occupancy_case;

static void check_case(world *w, zt_profiler *profiler, const occupancy_case *one, uint32_t number) {
    char ze_info[256];
    ze_kernel_properties_t properties = {.numKernelArgs = number,
                                         .maxSubgroupSize = one->simd_width,
                                         .localMemSize = one->slm_bytes,
                                         .spillMemSize = one->spill_bytes};
    snprintf(ze_info, sizeof ze_info,
             "kernels:\n  - name: saxpy\n    execution_env:\n      barrier_count: %u\n", one->barriers);
    binary made = elf_with(ze_info);
    pretend_binary(&made);
    pretended.properties = &properties;
    pretended.registers = one->registers;
    zt_kernel_info info = launch_once(w, profiler, one->size, one->count);
    assert_int_equal(info.shapes[0].groups_per_subslice, one->groups);
    if (!isnan(one->occupancy))
        assert_close(info.occupancy, one->occupancy);
    else
        assert_true(isnan(info.occupancy));
    if (!one->advice[0])
        assert_string_equal(info.advice, "");
    else
        assert_contains(info.advice, one->advice);
}

static void test_occupancy(void **state) {
    world *w = *state;
    const occupancy_case cases[] = {
        {16, 128, 0, 0, 0, 256, 200, 4, 1, ""},
        {32, 128, 0, 0, 0, 1024, 100, 2, 1, ""},
        {8, 128, 0, 0, 0, 256, 100, 2, 1, ""},
        {32, 128, 0, 0, 0, 256, 2000, 8, 1, ""},
        {16, 256, 0, 0, 0, 256, 200, 2, 0.5,
         "Threads with 256 registers leave 50% of the threads of a subslice empty: try the small"},
        {16, 128, 0, 0, 4096, 256, 200, 4, 1,
         "It spills 4 KiB a thread: use the large register file (-ze-opt-large-register-file), or split"},
        {16, 256, 0, 0, 100, 256, 200, 2, 0.5,
         "It spills 100 bytes a thread in spite of the large register file: split it"},
        {16, 128, 32768, 0, 0, 256, 200, 2, 0.5,
         "Work-groups with 32 KiB of shared local memory leave 50% of the threads of a subslice empty"},
        {16, 128, 1024, 0, 0, 256, 200, 4, 1, ""},
        {16, 128, 0, 2, 0, 16, 2000, 16, 0.25,
         "A subslice has barriers for 16 work-groups of 16, which leave 75% of its threads empty"},
        {16, 128, 0, 0, 0, 8, 2000, 64, 1,
         "Work-groups of 8 leave 50% of the SIMD lanes of their threads empty: use a multiple of 16."},
        {16, 128, 0, 0, 0, 528, 200, 1, 33 / 64.0,
         "Work-groups of 528 leave 48% of the threads of a subslice empty: use a size of which more fit."},
        {16, 128, 0, 0, 0, 256, 20, 4, 1,
         "A launch has 20 work-groups, and the device has room for 80 at a time"},
        {1, 128, 0, 0, 0, 1024, 20, UINT32_MAX, NAN, ""}, /* more threads than there can be */
        {0, 128, 0, 0, 0, 256, 200, UINT32_MAX, NAN, ""},
        {16, UINT32_MAX, 0, 0, 0, 256, 200, UINT32_MAX, NAN, ""},
    };
    pretended.device = &b580;
    pretended.slm_bytes = 65536;
    zt_profiler *profiler = open_traced(w, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_case(w, profiler, &cases[i], (uint32_t)i);
}

/* What the compiler states of its threads comes before what follows from the registers. */
static void test_threads_that_the_compiler_states(void **state) {
    world *w = *state;
    ze_kernel_properties_t properties = {.maxSubgroupSize = 16};
    pretended.device = &b580;
    zt_profiler *profiler = open_traced(w, NULL);
    binary made = elf_with("kernels:\n  - name: saxpy\n    execution_env:\n      eu_thread_count: 6\n"
                           "      grf_count: 128\n");
    pretend_binary(&made);
    pretended.properties = &properties;
    pretended.registers = UINT32_MAX;
    assert_close(launch_once(w, profiler, 16, 2000).occupancy, 48 / 64.0);
}

/* What is 0 is not divided by: how many work-groups fit is not known. */
static void test_occupancy_of_what_is_not_known(void **state) {
    static const char *const forms[] = {"      eu_thread_count: 0\n      grf_count: 0\n      simd_size: 16\n",
                                        "      grf_count: 128\n      simd_size: 0\n"};
    static ze_kernel_properties_t properties;
    world *w = *state;
    pretended.device = &b580;
    zt_profiler *profiler = open_traced(w, NULL);
    for (uint32_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char ze_info[256];
        snprintf(ze_info, sizeof ze_info, "kernels:\n  - name: saxpy\n    execution_env:\n%s", forms[i]);
        binary made = elf_with(ze_info);
        pretend_binary(&made);
        properties.numKernelArgs = i;
        pretended.properties = &properties;
        pretended.registers = i == 0 ? 0 : UINT32_MAX;
        zt_kernel_info info = launch_once(w, profiler, 256, 200);
        assert_int_equal(info.shapes[0].groups_per_subslice, UINT32_MAX);
        assert_true(isnan(info.occupancy));
        assert_string_equal(info.advice, "");
    }
}

/* Of shared local memory: how much a kernel has, or a subslice. */
static void test_occupancy_without_local_memory(void **state) {
    world *w = *state;
    static const char ze_info[] =
        "kernels:\n  - name: saxpy\n    execution_env:\n      grf_count: 128\n      simd_size: 16\n";
    ze_kernel_properties_t properties = {.localMemSize = 1024};
    binary made = elf_with(ze_info);
    pretended.device = &b580;
    pretend_binary(&made);
    pretended.properties = &properties;
    pretended.registers = UINT32_MAX;
    inject("zeDeviceGetComputeProperties", 1, ZE_RESULT_ERROR_UNKNOWN);
    zt_profiler *profiler = open_traced(w, NULL);
    zt_kernel_info info = launch_once(w, profiler, 256, 200);
    assert_int_equal(info.slm_bytes, 1024);
    assert_true(isnan(info.occupancy));
    properties.localMemSize = 0;
    assert_close(launch_once(w, profiler, 256, 200).occupancy, 1);
    properties.localMemSize = UINT32_MAX;
    assert_true(isnan(launch_once(w, profiler, 256, 200).occupancy));
}

/* Then it is not known how often a launch fills it. */
static void test_a_device_without_subslices(void **state) {
    world *w = *state;
    ze_device_properties_t device = b580;
    ze_kernel_properties_t properties = {.maxSubgroupSize = 16};
    binary made = elf_with(usual_ze_info);
    device.numSlices = 0;
    pretended.device = &device;
    pretended.slm_bytes = 65536;
    pretend_binary(&made);
    pretended.properties = &properties;
    pretended.registers = 128;
    zt_profiler *profiler = open_traced(w, NULL);
    zt_kernel_info info = launch_once(w, profiler, 256, 200);
    assert_true(info.occupancy > 0);
    assert_true(isnan(info.shapes[0].waves));
}

/* ==== reports ============================================================================================= */

/* Two kernels of one name, of different modules, one of which spills. */
static zt_profiler *report_two(world *w) {
    static const ze_kernel_properties_t spills = {
        .numKernelArgs = 4, .maxSubgroupSize = 16, .spillMemSize = 4096};
    zt_profiler *profiler = open_traced(w, NULL);
    loaded one = load_saxpy(w, 0), other = load_saxpy(w, 1);
    launch_groups(w, one.kernel, 128, 2);
    pretended.properties = &spills;
    pretended.registers = 128;
    for (int i = 0; i < 3; i++)
        launch_groups(w, other.kernel, 256, 4);
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    unload(&one);
    unload(&other);
    return profiler;
}

static void test_the_table(void **state) {
    world *w = *state;
    zt_profiler *profiler = report_two(w);
    const char *text = written_report(profiler, ZT_FORMAT_TABLE), *line;
    char module[32];
    snprintf(module, sizeof module, "%08x", (unsigned)(kernel_info(profiler, 1).module >> 32));
    assert_contains(text, "Kernels; group size and occupancy are those of most launches\n");
    assert_contains(text, module);
    assert_contains(text, "  saxpy: It spills 4 KiB a thread: use the large");
    for (line = text; *line;) {
        size_t width = strcspn(line, "\n");
        assert_in_range(width, 0, 80);
        line += width + (line[width] == '\n');
    }
}

/* While no launch has run, kernels have no share: those that were launched more often come first. */
static void test_the_order_of_the_table(void **state) {
    enum { KERNELS = 3 };
    static const int launches[KERNELS] = {2, 1, 3};
    static const uint32_t order[KERNELS] = {2, 0, 1};
    world *w = *state;
    loaded saxpy[KERNELS];
    zt_profiler *profiler = open_traced(w, NULL);
    ze_event_handle_t gate = append_gate(w, w->immediate);
    for (size_t i = 0; i < KERNELS; i++) {
        saxpy[i] = load_saxpy(w, i);
        for (int k = 0; k < launches[i]; k++)
            launch_groups(w, saxpy[i].kernel, 128, 2);
    }
    const char *text = strstr(written_report(profiler, ZT_FORMAT_TABLE), "Kernels; ");
    assert_non_null(text);
    for (int i = 0; i < KERNELS; i++) {
        char module[32];
        snprintf(module, sizeof module, "%08x", (unsigned)(kernel_info(profiler, order[i]).module >> 32));
        text = strstr(text, module);
        assert_non_null(text);
    }
    ok(zeEventHostSignal(gate));
    finish_immediate(w, w->immediate);
    ok(zeEventDestroy(gate));
    for (int i = 0; i < KERNELS; i++)
        unload(&saxpy[i]);
}

/* Sizes have as many dimensions as they need. */
static void test_sizes_of_several_dimensions(void **state) {
    world *w = *state;
    static const struct {
        ze_group_count_t size, count;
        const char *of_csv, *of_table;
    } sizes[] = {{{4, 1, 1}, {2, 1, 1}, "\"2 of 4\",kernel,\n", "      4  "},
                 {{4, 2, 1}, {3, 5, 1}, "\"3x5 of 4x2\",kernel,\n", "    4x2  "},
                 {{4, 1, 2}, {1, 1, 7}, "\"1x1x7 of 4x1x2\",kernel,\n", "  4x1x2  "}};
    zt_profiler *profiler = open_traced(w, NULL);
    for (int i = 0; i < 3; i++) {
        loaded saxpy = load_saxpy(w, (uint32_t)i);
        ok(zeKernelSetGroupSize(saxpy.kernel, sizes[i].size.groupCountX, sizes[i].size.groupCountY,
                                sizes[i].size.groupCountZ));
        ok(zeCommandListAppendLaunchKernel(w->immediate, saxpy.kernel, &sizes[i].count, NULL, 0, NULL));
        finish_immediate(w, w->immediate);
        unload(&saxpy);
    }
    const char *csv = written_report(profiler, ZT_FORMAT_CSV);
    for (int i = 0; i < 3; i++)
        assert_contains(csv, sizes[i].of_csv);
    const char *table = written_report(profiler, ZT_FORMAT_TABLE);
    for (int i = 0; i < 3; i++)
        assert_contains(strstr(table, "Kernels;"), sizes[i].of_table);
}

/* The table has the advice about the ten kernels with the largest shares; about others, JSON and CSV have it. */
static void test_advice_about_many_kernels(void **state) {
    world *w = *state;
    enum { KERNELS = 40 };
    int advised = 0;
    zt_profiler *profiler = open_traced(w, NULL);
    for (uint32_t i = 0; i < KERNELS; i++) {
        loaded saxpy = load_saxpy(w, i);
        launch_groups(w, saxpy.kernel, 1, 1);
        finish_immediate(w, w->immediate);
        unload(&saxpy);
    }
    const char *text = written_report(profiler, ZT_FORMAT_TABLE);
    assert_contains(text, "\nWhat to do about 30 more is in JSON and CSV.\n");
    assert_contains(text, "  module"); /* by which kernels of one name are told apart */
    for (text = strstr(text, "Kernels;"); (text = strstr(text, "\n  saxpy: ")) != NULL; text++)
        advised++;
    assert_int_equal(advised, 10);
    assert_int_equal(zt_get_info(profiler).kernel_count, KERNELS);
}

/* A kernel's name of C++ is shown as people write it, where the process has a C++ library. */
static void test_a_kernel_of_cpp(void **state) {
    world *w = *state;
    const ze_group_count_t one = {1, 1, 1};
    zt_profiler *profiler = open_traced(w, NULL);
    ze_module_handle_t module = load_module(w, "build/kernels/cpp.so", NULL);
    ze_kernel_handle_t kernel = kernel_in(module, "_Z5scalePf");
    ok(zeKernelSetArgumentValue(kernel, 0, sizeof w->sums, &w->sums));
    ok(zeCommandListAppendLaunchKernel(w->immediate, kernel, &one, NULL, 0, NULL));
    finish_immediate(w, w->immediate);
    const char *kernels = strstr(written_report(profiler, ZT_FORMAT_TABLE), "Kernels; ");
    assert_non_null(kernels);
    assert_contains(kernels, dlsym(RTLD_DEFAULT, "__cxa_demangle") ? "\nscale(float*) " : "\n_Z5scalePf ");
    assert_contains(written_report(profiler, ZT_FORMAT_CSV),
                    dlsym(RTLD_DEFAULT, "__cxa_demangle") ? "\"scale(float*)\"" : "\"_Z5scalePf\"");
    ok(zeKernelDestroy(kernel));
    ok(zeModuleDestroy(module));
}

/* Wherever memory ends, there is a message instead of a table, and nothing is leaked. */
static void test_tables_without_memory(void **state) {
    world *w = *state;
    static kept_text report;
    ze_result_t result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    zt_config times = config_of(w);
    zt_trace_config config = {0};
    times.groups = "";
    times.allocator = scarce_allocator();
    config.calls = "zeKernelSetGroupSize";
    zt_profiler *profiler = open_profiler(w, &times);
    ok(zt_trace_start(profiler, &config));
    loaded saxpy = load_saxpy(w, 0);
    launch_groups(w, saxpy.kernel, 1, 1);
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    for (int n = 0; result != ZE_RESULT_SUCCESS; n++) {
        assert_in_range(n, 0, 100);
        report.used = 0;
        allocations_left = n;
        result = zt_write(profiler, ZT_FORMAT_TABLE, keep_text, &report);
        allocations_left = -1;
        if (result != ZE_RESULT_SUCCESS)
            assert_result(result, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    }
    assert_contains(report.bytes, "\nzeKernelSetGroupSize ");
    assert_contains(report.bytes, "Kernels; ");
    unload(&saxpy);
}

static void test_no_kernels_no_table(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_traced(w, NULL);
    run(w, profiler, "region");
    ok(zt_trace_stop(profiler));
    zt_profiler *other = open_times(w);
    run(w, other, "region");
    collect_all(other);
    assert_null(strstr(written_report(other, ZT_FORMAT_TABLE), "Kernels"));
    assert_contains(written_report(other, ZT_FORMAT_JSON), "\"kernels\":[]");
    assert_null(strstr(written_report(other, ZT_FORMAT_CSV), "\"kernel\""));
    check_work(w);
}

static void test_json_and_csv(void **state) {
    world *w = *state;
    zt_profiler *profiler = report_two(w);
    zt_kernel_info info = kernel_info(profiler, 1);
    char expected[256];
    const char *json = written_report(profiler, ZT_FORMAT_JSON);
    snprintf(expected, sizeof expected,
             "{\"name\":\"saxpy\",\"module\":\"%016llx\",\"region\":%u,\"launches\":3,",
             (unsigned long long)info.module, (unsigned)info.region);
    assert_contains(json, expected);
    assert_contains(json, "\"simd_width\":16,\"registers\":128,\"slm_bytes\":0,\"private_bytes\":0,"
                          "\"spill_bytes\":4096,");
    assert_contains(json, "\"required_group_size\":null,\"shapes\":[{\"group_size\":[256,1,1],"
                          "\"group_count\":[4,1,1],\"launches\":3,");
    const char *csv = written_report(profiler, ZT_FORMAT_CSV);
    assert_contains(csv, "\"saxpy\",\"spill_bytes\",\"kernel 1\",\"kernel\",\"bytes\",other,none,3,,4096,");
    assert_contains(csv, "\"4 of 256\",kernel,\n");
    assert_contains(csv, "\"saxpy\",\"advice\",\"kernel 1\",");
    snprintf(expected, sizeof expected, "\"%016llx\",kernel,\n", (unsigned long long)info.module);
    assert_contains(csv, expected);
    assert_contains(written_report(profiler, ZT_FORMAT_HTML), "\"spill_bytes\":4096");
}

/* Without memory, less is known, and what is reported stays sound. */
static void test_no_memory(void **state) {
    world *w = *state;
    for (int left = 0; left < 40; left++) {
        zt_config config = config_of(w);
        config.groups = "";
        config.allocator = scarce_allocator();
        zt_profiler *profiler = open_profiler(w, &config);
        ok(zt_trace_start(profiler, NULL));
        allocations_left = left;
        loaded saxpy = load_saxpy(w, 0);
        launch_groups(w, saxpy.kernel, 1, 1);
        finish_immediate(w, w->immediate);
        allocations_left = -1;
        launch_groups(w, saxpy.kernel, 1, 1);
        finish_immediate(w, w->immediate);
        if (zt_get_info(profiler).launches.elsewhere > 0) {
            assert_in_range(zt_get_info(profiler).kernel_count, 0, 1); /* the list was not known */
        } else if (zt_get_info(profiler).kernel_count > 0) {
            assert_in_range(kernel_info(profiler, 0).launches, 1, 2);
        } else {
            assert_contains(written_report(profiler, ZT_FORMAT_TABLE),
                            "What the kernels of 2 launches are made of");
        }
        unload(&saxpy);
        close_profiler(w, profiler);
    }
}

/* A report of thousands of kernels. */
static struct {
    size_t used;
    char bytes[1 << 23];
} long_report;

static int keep_long_report(const void *bytes, size_t size, void *user) {
    (void)user;
    assert_true(size < sizeof long_report.bytes - long_report.used);
    memcpy(long_report.bytes + long_report.used, bytes, size);
    long_report.used += size;
    long_report.bytes[long_report.used] = 0;
    return 0;
}

/* Launches of more kernels than there is room for are counted, and the kernels before them still are. */
static void test_more_kernels_than_there_is_room_for(void **state) {
    enum { ROOM = 16384, MORE = 3, AT_ONCE = 256, AGAIN = 5 };
    world *w = *state;
    const ze_group_count_t one = {1, 1, 1};
    ze_kernel_properties_t properties = {.numKernelArgs = 4};
    zt_config times = config_of(w);
    zt_trace_config config = {0};
    times.groups = "";
    times.samples = 1;
    zt_profiler *profiler = open_profiler(w, &times);
    config.every = UINT32_MAX;
    ok(zt_trace_start(profiler, &config));
    loaded saxpy = load_saxpy(w, 0);
    for (uint32_t i = 0; i < ROOM + MORE + 1; i++) {
        ze_kernel_handle_t kernel = kernel_in(saxpy.module, "saxpy");
        pretended.properties = &properties; /* by which kernels of one name differ */
        properties.privateMemSize = i < ROOM + MORE ? i : AGAIN;
        set_saxpy_arguments(w, kernel);
        ok(zeCommandListAppendLaunchKernel(w->immediate, kernel, &one, NULL, 0, NULL));
        if (i % AT_ONCE == 0)
            finish_immediate(w, w->immediate);
        ok(zeKernelDestroy(kernel));
    }
    finish_immediate(w, w->immediate);
    assert_int_equal(zt_get_info(profiler).kernel_count, ROOM);
    assert_int_equal(kernel_info(profiler, AGAIN).launches, 2);
    assert_int_equal(kernel_info(profiler, ROOM - 1).private_bytes, ROOM - 1);
    assert_int_equal(kernel_info(profiler, ROOM - 1).launches, 1);
    long_report.used = 0;
    ok(zt_write(profiler, ZT_FORMAT_TABLE, keep_long_report, NULL));
    assert_contains(long_report.bytes,
                    "\nWhat the kernels of 3 launches are made of is not known: there is no memory, or\n"
                    "there are more than 16384 kernels.\n");
    unload(&saxpy);
}

static void test_wrong_arguments(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_times(w);
    zt_kernel_info info;
    assert_int_equal(zt_get_info(NULL).kernel_count, 0);
    assert_int_equal(zt_get_info(profiler).kernel_count, 0);
    ok(zt_get_kernel(NULL, 0, NULL));
    memset(&info, 0x55, sizeof info);
    ok(zt_get_kernel(NULL, 0, &info));
    assert_string_equal(info.name, "");
    assert_int_equal(info.region, UINT32_MAX);
    assert_int_equal(info.registers, UINT32_MAX);
    assert_true(isnan(info.occupancy));
    assert_result(zt_get_kernel(profiler, 0, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    assert_result(zt_get_kernel(profiler, 0, &info), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_contains(zt_get_info(profiler).error, "kernel_count of zt_get_info()");
    ok(zt_trace_start(profiler, NULL));
    launch(w, w->immediate);
    finish_immediate(w, w->immediate);
    ok(zt_get_kernel(profiler, 0, &info));
    assert_result(zt_get_kernel(profiler, 1, &info), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_string_equal(info.name, "");
    check_work(w);
}

#undef TEST
#define TEST(function) cmocka_unit_test_setup_teardown(function, open_pretended, close_world)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_a_kernel_of_the_device),
        TEST(test_the_size_of_the_code),
        TEST(test_a_kernel_from_before_the_start),
        TEST(test_the_driver_is_queried_once),
        TEST(test_a_native_binary_is_read),
        TEST(test_forms_of_ze_info),
        TEST(test_damaged_binaries),
        TEST(test_a_binary_that_is_not_returned),
        TEST(test_properties_that_fail),
        TEST(test_profile_information),
        TEST(test_a_driver_without_registers),
        TEST(test_sizes_that_cannot_be),
        TEST(test_kernels_of_one_name),
        TEST(test_handles_come_back),
        TEST(test_a_kernel_that_was_not_destroyed),
        TEST(test_shapes_are_kept_by_number),
        TEST(test_many_launches_of_a_shape),
        TEST(test_shapes_that_are_in_order),
        TEST(test_every_kind_of_launch),
        TEST(test_what_counts),
        TEST(test_names_of_a_launch_of_several_kernels),
        TEST(test_a_kernel_of_a_hook),
        TEST(test_a_replacement),
        TEST(test_occupancy),
        TEST(test_threads_that_the_compiler_states),
        TEST(test_occupancy_of_what_is_not_known),
        TEST(test_occupancy_without_local_memory),
        TEST(test_a_device_without_subslices),
        TEST(test_the_table),
        TEST(test_the_order_of_the_table),
        TEST(test_a_kernel_of_cpp),
        TEST(test_tables_without_memory),
        TEST(test_no_kernels_no_table),
        TEST(test_sizes_of_several_dimensions),
        TEST(test_advice_about_many_kernels),
        TEST(test_json_and_csv),
        TEST(test_no_memory),
        TEST(test_more_kernels_than_there_is_room_for),
        TEST(test_wrong_arguments),
    };
    return cmocka_run_group_tests(tests, start_traced, NULL);
}
