/* What the software device tells of modules and kernels: binaries, debug information, functions, memory. */
#include "fixture.h"

#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

static void test_a_module_gives_its_binary(void **state) {
    world *w = *state;
    native_binary code = read_binary("build/kernels/matmul.so");
    uint8_t *copy = calloc(1, code.size);
    size_t size = 0;
    ze_module_handle_t module, again;
    assert_non_null(copy);
    ok(try_module(w, code, NULL, &module));
    assert_result(zeModuleGetNativeBinary(module, NULL, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    ok(zeModuleGetNativeBinary(module, &size, NULL));
    assert_int_equal(size, code.size);
    size = 4;
    ok(zeModuleGetNativeBinary(module, &size, copy));
    assert_memory_equal(copy, code.bytes, 4);
    assert_int_equal(copy[4], 0);
    assert_int_equal(size, code.size);
    ok(zeModuleGetNativeBinary(module, &size, copy));
    assert_memory_equal(copy, code.bytes, size);
    ok(try_module(w, (native_binary){copy, size}, NULL, &again));
    ok(zeModuleDestroy(module));
    ok(zeModuleDestroy(again));
    free(code.bytes);
    free(copy);
}

/* Without the table of sections, as after sstrip, the rest still loads. */
static void test_debug_information_is_elf_with_dwarf(void **state) {
    world *w = *state;
    native_binary code = read_binary("build/kernels/matmul.so");
    ze_module_handle_t module, stripped;
    size_t size = 0;
    ok(try_module(w, code, NULL, &module));
    ok(zetModuleGetDebugInfo((zet_module_handle_t)module, ZET_MODULE_DEBUG_INFO_FORMAT_ELF_DWARF, &size,
                             NULL));
    assert_int_equal(size, code.size);
    uint8_t *info = malloc(size);
    assert_non_null(info);
    ok(zetModuleGetDebugInfo((zet_module_handle_t)module, ZET_MODULE_DEBUG_INFO_FORMAT_ELF_DWARF, &size,
                             info));
    assert_memory_equal(info, ELFMAG, SELFMAG);
    ((ElfW(Ehdr) *)(void *)code.bytes)->e_shnum = 0;
    ok(try_module(w, code, NULL, &stripped));
    ok(zetModuleGetDebugInfo((zet_module_handle_t)stripped, ZET_MODULE_DEBUG_INFO_FORMAT_ELF_DWARF, &size,
                             NULL));
    assert_int_equal(size, 0);
    assert_result(
        zetModuleGetDebugInfo((zet_module_handle_t)module, (zet_module_debug_info_format_t)7, &size, NULL),
        ZE_RESULT_ERROR_INVALID_ENUMERATION);
    ok(zeModuleDestroy(module));
    ok(zeModuleDestroy(stripped));
    free(code.bytes);
    free(info);
}

/* A table of sections that points outside of the file is not read. */
static void test_damaged_sections_are_no_debug_information(void **state) {
    world *w = *state;
    native_binary code = read_binary("build/kernels/matmul.so");
    ElfW(Ehdr) *header = (ElfW(Ehdr) *)(void *)code.bytes;
    ze_module_handle_t module;
    size_t size = 1;
    header->e_shoff = code.size - 8;
    ok(try_module(w, code, NULL, &module));
    ok(zetModuleGetDebugInfo((zet_module_handle_t)module, ZET_MODULE_DEBUG_INFO_FORMAT_ELF_DWARF, &size,
                             NULL));
    assert_int_equal(size, 0);
    ok(zeModuleDestroy(module));
    free(code.bytes);
}

static void test_kernels_call_functions_of_other_modules(void **state) {
    world *w = *state;
    ze_module_handle_t callee = load_module(w, "build/kernels/functions.so", NULL), caller;
    native_binary code = read_binary("build/kernels/functions.so");
    void *function, *factor;
    size_t size = 0;
    const ze_group_count_t one = {1, 1, 1};
    code.bytes = realloc(code.bytes, ++code.size); /* another binary, with variables of its own */
    assert_non_null(code.bytes);
    code.bytes[code.size - 1] = 0;
    ok(try_module(w, code, NULL, &caller));
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
    free(code.bytes);
}

static void test_names_are_those_of_the_module_alone(void **state) {
    world *w = *state;
    ze_module_handle_t module = load_module(w, "build/kernels/functions.so", NULL);
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
    ze_module_handle_t module = load_module(w, "build/kernels/matmul.so", NULL);
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

static uint32_t profile_flags(world *w, const char *build_flags) {
    zet_profile_properties_t properties = {.stype = ZET_STRUCTURE_TYPE_PROFILE_PROPERTIES, .numTokens = 9};
    ze_module_handle_t module = load_module(w, "build/kernels/saxpy.so", build_flags);
    ze_kernel_handle_t kernel = kernel_in(module, "saxpy");
    ok(zetKernelGetProfileInfo((zet_kernel_handle_t)kernel, &properties));
    assert_int_equal(properties.numTokens, 0);
    ok(zeKernelDestroy(kernel));
    ok(zeModuleDestroy(module));
    return properties.flags;
}

static void test_profile_flags_are_those_of_the_build(void **state) {
    world *w = *state;
    native_binary code = read_binary("build/kernels/saxpy.so");
    const char *wrong[] = {"-zet-profile-flags", "-zet-profile-flags 0x4", "-zet-profile-flags x",
                           "-zet-profile-flags 1x"};
    ze_module_handle_t module;
    assert_int_equal(profile_flags(w, NULL), 0);
    assert_int_equal(profile_flags(w, "-ze-opt-disable"), 0);
    assert_int_equal(profile_flags(w, "-zet-profile-flags 0x3"), 3);
    assert_int_equal(profile_flags(w, "-g -zet-profile-flags 2 -ze-opt-disable"), 2);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_result(try_module(w, code, wrong[i], &module), ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
    free(code.bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_a_module_gives_its_binary),
        TEST(test_debug_information_is_elf_with_dwarf),
        TEST(test_damaged_sections_are_no_debug_information),
        TEST(test_kernels_call_functions_of_other_modules),
        TEST(test_names_are_those_of_the_module_alone),
        TEST(test_kernels_know_their_memory),
        TEST(test_profile_flags_are_those_of_the_build),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
