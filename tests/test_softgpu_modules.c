/* What the software device tells of modules and kernels: binaries, debug information, functions, memory. */
#define _GNU_SOURCE /* memmem */
#include "fixture.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct file {
    uint8_t *bytes;
    size_t size;
} file;

static file read_file(const char *name) {
    char path[4096];
    file read = {0};
    find_file(name, path, sizeof path);
    FILE *from = fopen(path, "rb");
    assert_non_null(from);
    fseek(from, 0, SEEK_END);
    read.size = (size_t)ftell(from);
    rewind(from);
    read.bytes = malloc(read.size);
    assert_non_null(read.bytes);
    assert_int_equal(fread(read.bytes, 1, read.size, from), read.size);
    fclose(from);
    return read;
}

static ze_result_t try_module(world *w, file binary, const char *flags, ze_module_handle_t *module) {
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = ZE_MODULE_FORMAT_NATIVE,
                             .inputSize = binary.size,
                             .pInputModule = binary.bytes,
                             .pBuildFlags = flags};
    return zeModuleCreate(w->context, w->device, &desc, module, NULL);
}

static ze_module_handle_t load(world *w, const char *name, const char *flags) {
    file binary = read_file(name);
    ze_module_handle_t module;
    ok(try_module(w, binary, flags, &module));
    free(binary.bytes);
    return module;
}

static ze_kernel_handle_t kernel_in(ze_module_handle_t module, const char *name) {
    ze_kernel_desc_t desc = {ZE_STRUCTURE_TYPE_KERNEL_DESC, NULL, 0, name};
    ze_kernel_handle_t kernel;
    ok(zeKernelCreate(module, &desc, &kernel));
    return kernel;
}

static void test_a_module_gives_its_binary(void **state) {
    world *w = *state;
    file binary = read_file("build/kernels/matmul.so");
    uint8_t *copy = calloc(1, binary.size);
    size_t size = 0;
    ze_module_handle_t module, again;
    assert_non_null(copy);
    ok(try_module(w, binary, NULL, &module));
    assert_result(zeModuleGetNativeBinary(module, NULL, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    ok(zeModuleGetNativeBinary(module, &size, NULL));
    assert_int_equal(size, binary.size);
    size = 4;
    ok(zeModuleGetNativeBinary(module, &size, copy));
    assert_memory_equal(copy, binary.bytes, 4);
    assert_int_equal(copy[4], 0);
    assert_int_equal(size, binary.size);
    ok(zeModuleGetNativeBinary(module, &size, copy));
    assert_memory_equal(copy, binary.bytes, size);
    ok(try_module(w, (file){copy, size}, NULL, &again));
    ok(zeModuleDestroy(module));
    ok(zeModuleDestroy(again));
    free(binary.bytes);
    free(copy);
}

/* Without the table of sections, as after sstrip, the rest still loads. */
static void test_debug_information_is_elf_with_dwarf(void **state) {
    world *w = *state;
    file binary = read_file("build/kernels/matmul.so");
    ze_module_handle_t module, stripped;
    size_t size = 0;
    ok(try_module(w, binary, NULL, &module));
    ok(zetModuleGetDebugInfo((zet_module_handle_t)module, ZET_MODULE_DEBUG_INFO_FORMAT_ELF_DWARF, &size,
                             NULL));
    assert_int_equal(size, binary.size);
    uint8_t *info = malloc(size);
    assert_non_null(info);
    ok(zetModuleGetDebugInfo((zet_module_handle_t)module, ZET_MODULE_DEBUG_INFO_FORMAT_ELF_DWARF, &size,
                             info));
    assert_memory_equal(info, ELFMAG, SELFMAG);
    ((ElfW(Ehdr) *)(void *)binary.bytes)->e_shnum = 0;
    ok(try_module(w, binary, NULL, &stripped));
    ok(zetModuleGetDebugInfo((zet_module_handle_t)stripped, ZET_MODULE_DEBUG_INFO_FORMAT_ELF_DWARF, &size,
                             NULL));
    assert_int_equal(size, 0);
    assert_result(
        zetModuleGetDebugInfo((zet_module_handle_t)module, (zet_module_debug_info_format_t)7, &size, NULL),
        ZE_RESULT_ERROR_INVALID_ENUMERATION);
    ok(zeModuleDestroy(module));
    ok(zeModuleDestroy(stripped));
    free(binary.bytes);
    free(info);
}

/* A table of sections that points outside of the file is not read. */
static void test_damaged_sections_are_no_debug_information(void **state) {
    world *w = *state;
    file binary = read_file("build/kernels/matmul.so");
    ElfW(Ehdr) *header = (ElfW(Ehdr) *)(void *)binary.bytes;
    ze_module_handle_t module;
    size_t size = 1;
    header->e_shoff = binary.size - 8;
    ok(try_module(w, binary, NULL, &module));
    ok(zetModuleGetDebugInfo((zet_module_handle_t)module, ZET_MODULE_DEBUG_INFO_FORMAT_ELF_DWARF, &size,
                             NULL));
    assert_int_equal(size, 0);
    ok(zeModuleDestroy(module));
    free(binary.bytes);
}

static void test_kernels_call_functions_of_other_modules(void **state) {
    world *w = *state;
    ze_module_handle_t callee = load(w, "build/kernels/functions.so", NULL), caller;
    file binary = read_file("build/kernels/functions.so");
    void *function, *factor;
    size_t size = 0;
    const ze_group_count_t one = {1, 1, 1};
    binary.bytes = realloc(binary.bytes, ++binary.size); /* another binary, with variables of its own */
    assert_non_null(binary.bytes);
    binary.bytes[binary.size - 1] = 0;
    ok(try_module(w, binary, NULL, &caller));
    ok(zeModuleGetFunctionPointer(callee, "scaled", &function));
    ok(zeModuleGetGlobalPointer(callee, "factor", &size, &factor));
    assert_int_equal(size, sizeof(float));
    assert_true(*(float *)factor == 2);
    *(float *)factor = 5;
    ze_kernel_handle_t kernel = kernel_in(caller, "apply");
    ok(zeKernelSetGroupSize(kernel, WORK_ITEMS, 1, 1));
    ok(zeKernelSetArgumentValue(kernel, 0, sizeof w->sums, &w->sums));
    ok(zeKernelSetArgumentValue(kernel, 1, sizeof function, &function));
    w->sums[3] = 7;
    ok(zeCommandListAppendLaunchKernel(w->immediate, kernel, &one, NULL, 0, NULL));
    finish_immediate(w, w->immediate);
    assert_true(w->sums[3] == 35);
    *(float *)factor = 2;
    ok(zeKernelDestroy(kernel));
    ok(zeModuleDestroy(callee));
    ok(zeModuleDestroy(caller));
    free(binary.bytes);
}

static void test_names_are_those_of_the_module_alone(void **state) {
    world *w = *state;
    ze_module_handle_t module = load(w, "build/kernels/functions.so", NULL);
    void *pointer = NULL;
    size_t size;
    const ze_result_t no_function = ZE_RESULT_ERROR_INVALID_FUNCTION_NAME;
    const ze_result_t no_global = ZE_RESULT_ERROR_INVALID_GLOBAL_NAME;
    assert_result(zeModuleGetFunctionPointer(module, "strlen", &pointer), no_function);
    assert_result(zeModuleGetFunctionPointer(module, "factor", &pointer), no_function);
    assert_result(zeModuleGetFunctionPointer(module, "nothing", &pointer), no_function);
    assert_result(zeModuleGetGlobalPointer(module, "scaled", &size, &pointer), no_global);
    assert_result(zeModuleGetGlobalPointer(module, "environ", &size, &pointer), no_global);
    assert_null(pointer);
    ok(zeModuleGetGlobalPointer(module, "factor", NULL, NULL));
    ok(zeModuleDestroy(module));
}

static ze_kernel_properties_t properties_of(ze_kernel_handle_t kernel) {
    ze_kernel_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES};
    ok(zeKernelGetProperties(kernel, &properties));
    return properties;
}

static void test_kernels_know_their_memory(void **state) {
    world *w = *state;
    ze_module_handle_t module = load(w, "build/kernels/matmul.so", NULL);
    ze_kernel_handle_t kernel = kernel_in(module, "matmul");
    ze_kernel_properties_t matmul = properties_of(kernel), saxpy = properties_of(w->kernel);
    assert_int_equal(matmul.numKernelArgs, 4);
    assert_int_equal(matmul.localMemSize, 2 * 16 * 16 * sizeof(float)); /* two tiles */
    assert_int_equal(matmul.privateMemSize, sizeof(float));             /* a sum */
    assert_int_equal(saxpy.localMemSize, 0);
    assert_int_equal(saxpy.privateMemSize, 0);
    assert_memory_not_equal(matmul.uuid.kid, saxpy.uuid.kid, sizeof matmul.uuid.kid);
    assert_memory_not_equal(matmul.uuid.mid, saxpy.uuid.mid, sizeof matmul.uuid.mid);
    ok(zeKernelDestroy(kernel));
    ok(zeModuleDestroy(module));
}

/* By Intel's extension, and in the description that the binary has of its kernels. */
static void test_kernels_know_their_registers(void **state) {
    static const char expected[] = "version: '1.34'\nkernels:\n  - name: saxpy\n    execution_env:\n"
                                   "      barrier_count: 0\n      grf_count: ";
    world *w = *state;
    struct {
        ze_structure_type_t stype;
        void *next;
        uint32_t registers;
    } other = {ZE_STRUCTURE_TYPE_KERNEL_PREFERRED_GROUP_SIZE_PROPERTIES, NULL, 7},
      asked = {(ze_structure_type_t)0x00030012, &other, 0};
    ze_kernel_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES, .pNext = &asked};
    ok(zeKernelGetProperties(w->kernel, &properties));
    assert_true(properties.pNext == &asked && asked.next == &other);
    assert_in_range(asked.registers, 16, 128);
    assert_int_equal(other.registers, 7);
    file binary = read_file("build/kernels/saxpy.so");
    const char *found = memmem(binary.bytes, binary.size, expected, sizeof expected - 1);
    assert_non_null(found);
    assert_int_equal(atoi(found + sizeof expected - 1), asked.registers);
    free(binary.bytes);
}

/* All items of the largest group are threads that live at the same time. */
static void test_the_largest_group_fits(void **state) {
    world *w = *state;
    ze_device_properties_t device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    ze_device_compute_properties_t compute = {.stype = ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES};
    ok(zeDeviceGetProperties(w->device, &device));
    ok(zeDeviceGetComputeProperties(w->device, &compute));
    assert_int_equal(device.numThreadsPerEU * device.numEUsPerSubslice, compute.maxTotalGroupSize);
}

static uint32_t profile_flags(world *w, const char *build_flags) {
    zet_profile_properties_t properties = {.stype = ZET_STRUCTURE_TYPE_PROFILE_PROPERTIES, .numTokens = 9};
    ze_module_handle_t module = load(w, "build/kernels/saxpy.so", build_flags);
    ze_kernel_handle_t kernel = kernel_in(module, "saxpy");
    ok(zetKernelGetProfileInfo((zet_kernel_handle_t)kernel, &properties));
    assert_int_equal(properties.numTokens, 0);
    ok(zeKernelDestroy(kernel));
    ok(zeModuleDestroy(module));
    return properties.flags;
}

static void test_profile_flags_are_those_of_the_build(void **state) {
    world *w = *state;
    file binary = read_file("build/kernels/saxpy.so");
    const char *wrong[] = {"-zet-profile-flags", "-zet-profile-flags 0x4", "-zet-profile-flags x",
                           "-zet-profile-flags 1x"};
    ze_module_handle_t module;
    assert_int_equal(profile_flags(w, NULL), 0);
    assert_int_equal(profile_flags(w, "-ze-opt-disable"), 0);
    assert_int_equal(profile_flags(w, "-zet-profile-flags 0x3"), 3);
    assert_int_equal(profile_flags(w, "-g -zet-profile-flags 2 -ze-opt-disable"), 2);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_result(try_module(w, binary, wrong[i], &module), ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
    free(binary.bytes);
}

/* ==== the code of kernels ================================================================================= */

typedef ze_result_t (*base_function)(ze_kernel_handle_t kernel, uint64_t *address);
typedef ze_result_t (*binary_function)(ze_kernel_handle_t kernel, size_t *size, uint8_t *binary);

static void *extension(world *w, const char *name) {
    void *address = NULL;
    ok(zeDriverGetExtensionFunctionAddress(w->driver, name, &address));
    return address;
}

/* What is at its address is its binary, and that is part of the module's. */
static void check_code(world *w, ze_kernel_handle_t kernel, file module) {
    base_function get_base;
    binary_function get_binary;
    uint64_t base = 0;
    size_t size = 0;
    *(void **)&get_base = extension(w, "zexKernelGetBaseAddress");
    *(void **)&get_binary = extension(w, "zeKernelGetBinaryExp");
    ok(get_base(kernel, &base));
    ok(get_binary(kernel, &size, NULL));
    assert_in_range(size, 16, module.size);
    uint8_t *binary = malloc(size);
    assert_non_null(binary);
    ok(get_binary(kernel, &size, binary));
    assert_memory_equal((const uint8_t *)(uintptr_t)base, binary, size);
    assert_non_null(memmem(module.bytes, module.size, binary, size));
    assert_result(get_base(kernel, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    assert_result(get_binary(kernel, NULL, binary), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    assert_result(get_base(NULL, &base), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    assert_result(get_binary(NULL, &size, binary), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    free(binary);
}

static void test_kernels_know_their_code(void **state) {
    world *w = *state;
    const char *files[] = {"build/kernels/saxpy.so", "build/kernels/matmul.so"};
    const char *names[] = {"saxpy", "matmul"}; /* inlined, and too large for that */
    for (size_t i = 0; i < 2; i++) {
        file binary = read_file(files[i]);
        ze_module_handle_t module = load(w, files[i], NULL);
        ze_kernel_handle_t kernel = kernel_in(module, names[i]);
        check_code(w, kernel, binary);
        ok(zeKernelDestroy(kernel));
        ok(zeModuleDestroy(module));
        free(binary.bytes);
    }
}

/* Nobody knows where it ends, but still where it begins. */
static void test_code_without_symbols_has_no_size(void **state) {
    world *w = *state;
    file binary = read_file("build/kernels/saxpy.so");
    ((ElfW(Ehdr) *)(void *)binary.bytes)->e_shnum = 0;
    base_function get_base;
    binary_function get_binary;
    ze_module_handle_t module;
    uint64_t base = 0;
    size_t size = 7;
    *(void **)&get_base = extension(w, "zexKernelGetBaseAddress");
    *(void **)&get_binary = extension(w, "zeKernelGetBinaryExp");
    ok(try_module(w, binary, NULL, &module));
    ze_kernel_handle_t kernel = kernel_in(module, "saxpy");
    assert_result(get_binary(kernel, &size, NULL), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    assert_int_equal(size, 7);
    ok(get_base(kernel, &base));
    assert_true(base != 0);
    ok(zeKernelDestroy(kernel));
    ok(zeModuleDestroy(module));
    free(binary.bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_a_module_gives_its_binary),
        TEST(test_debug_information_is_elf_with_dwarf),
        TEST(test_damaged_sections_are_no_debug_information),
        TEST(test_kernels_call_functions_of_other_modules),
        TEST(test_names_are_those_of_the_module_alone),
        TEST(test_kernels_know_their_memory),
        TEST(test_kernels_know_their_registers),
        TEST(test_the_largest_group_fits),
        TEST(test_profile_flags_are_those_of_the_build),
        TEST(test_kernels_know_their_code),
        TEST(test_code_without_symbols_has_no_size),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
