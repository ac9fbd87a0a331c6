/* What the software device tells of modules and kernels: binaries, debug information, functions, memory. */
#define _GNU_SOURCE /* memmem */
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
    need_registers_extension(w);
    ok(zeKernelGetProperties(w->kernel, &properties));
    assert_true(properties.pNext == &asked && asked.next == &other);
    assert_in_range(asked.registers, 16, 128);
    assert_int_equal(other.registers, 7);
    native_binary code = read_binary("build/kernels/saxpy.so");
    const char *found = memmem(code.bytes, code.size, expected, sizeof expected - 1);
    assert_non_null(found);
    assert_int_equal(atoi(found + sizeof expected - 1), asked.registers);
    free(code.bytes);
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

/* ==== linking ============================================================================================= */

static uint32_t flags_of(ze_module_handle_t module) {
    ze_module_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_MODULE_PROPERTIES, .flags = 9};
    ok(zeModuleGetProperties(module, &properties));
    return properties.flags;
}

static void expect_unlinked(ze_module_handle_t module) {
    ze_kernel_desc_t desc = {ZE_STRUCTURE_TYPE_KERNEL_DESC, NULL, 0, "scale"};
    ze_kernel_handle_t kernel;
    assert_result(zeKernelCreate(module, &desc, &kernel), ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED);
}

/* Links two modules. Returns the log. */
static const char *link_two(ze_module_handle_t first, ze_module_handle_t second, ze_result_t result) {
    static char text[256];
    ze_module_handle_t modules[] = {first, second};
    ze_module_build_log_handle_t log = NULL;
    size_t size = sizeof text;
    assert_result(zeModuleDynamicLink(2, modules, &log), result);
    assert_non_null(log);
    ok(zeModuleBuildLogGetString(log, &size, text));
    ok(zeModuleBuildLogDestroy(log));
    return text;
}

/* What the kernel of imports.cl makes of 7: a product and a sum with a variable of the exporting module. */
static float scale_seven(world *w, ze_module_handle_t module) {
    ze_kernel_handle_t kernel = kernel_in(module, "scale");
    const ze_group_count_t one = {1, 1, 1};
    float before = w->sums[0], scaled;
    ok(zeKernelSetGroupSize(kernel, 1, 1, 1));
    ok(zeKernelSetArgumentValue(kernel, 0, sizeof w->sums, &w->sums));
    w->sums[0] = 7;
    ok(zeCommandListAppendLaunchKernel(w->immediate, kernel, &one, NULL, 0, NULL));
    finish_immediate(w, w->immediate);
    ok(zeKernelDestroy(kernel));
    scaled = w->sums[0];
    w->sums[0] = before;
    return scaled;
}

/* The same functions, in a binary with variables of its own. */
static ze_module_handle_t load_other_functions(world *w) {
    native_binary code = read_binary("build/kernels/functions.so");
    ze_module_handle_t module;
    void *factor;
    code.bytes = realloc(code.bytes, ++code.size);
    assert_non_null(code.bytes);
    code.bytes[code.size - 1] = 1;
    ok(try_module(w, code, NULL, &module));
    ok(zeModuleGetGlobalPointer(module, "factor", NULL, &factor));
    *(float *)factor = 10;
    free(code.bytes);
    return module;
}

static void test_imports_are_linked(void **state) {
    world *w = *state;
    ze_module_handle_t functions = load_module(w, "build/kernels/functions.so", NULL);
    ze_module_handle_t imports = load_module(w, "build/kernels/imports.so", NULL);
    size_t size = 0;
    assert_int_equal(flags_of(functions), 0);
    assert_int_equal(flags_of(imports), ZE_MODULE_PROPERTY_FLAG_IMPORTS);
    expect_unlinked(imports);
    ok(zeModuleGetNativeBinary(imports, &size, NULL));
    assert_true(size > 0);
    assert_string_equal(link_two(imports, functions, ZE_RESULT_SUCCESS), "");
    assert_true(scale_seven(w, imports) == 7 * 2 + 2);
    assert_int_equal(flags_of(imports), ZE_MODULE_PROPERTY_FLAG_IMPORTS);
    ok(zeModuleDestroy(functions));
    ok(zeModuleDestroy(imports));
}

/* Nothing is linked in part: replacements.cl exports the function and not the variable. */
static void test_unresolved_imports(void **state) {
    world *w = *state;
    ze_module_handle_t imports = load_module(w, "build/kernels/imports.so", NULL);
    ze_module_handle_t half = load_module(w, "build/kernels/replacements.so", NULL);
    const ze_result_t failure = ZE_RESULT_ERROR_MODULE_LINK_FAILURE;
    const char *log = link_two(imports, w->module, failure);
    assert_contains(log, "unresolved: scaled");
    assert_contains(log, "unresolved: factor");
    assert_string_equal(link_two(half, imports, failure), "unresolved: factor");
    assert_result(zeModuleDynamicLink(1, &imports, NULL), failure);
    expect_unlinked(imports);
    ok(zeModuleDestroy(half));
    ok(zeModuleDestroy(imports));
}

static void test_ambiguous_imports(void **state) {
    world *w = *state;
    ze_module_handle_t functions = load_module(w, "build/kernels/functions.so", NULL);
    ze_module_handle_t other = load_other_functions(w);
    ze_module_handle_t modules[] = {load_module(w, "build/kernels/imports.so", NULL), functions, other};
    assert_result(zeModuleDynamicLink(3, modules, NULL), ZE_RESULT_ERROR_MODULE_LINK_FAILURE);
    expect_unlinked(modules[0]);
    modules[2] = functions; /* the same module twice is one */
    ok(zeModuleDynamicLink(3, modules, NULL));
    assert_true(scale_seven(w, modules[0]) == 7 * 2 + 2);
    ok(zeModuleDestroy(modules[0]));
    ok(zeModuleDestroy(functions));
    ok(zeModuleDestroy(other));
}

/* Each module is linked once, and for itself, though another is of the same binary. */
static void test_modules_are_linked_once(void **state) {
    world *w = *state;
    ze_module_handle_t functions = load_module(w, "build/kernels/functions.so", NULL);
    ze_module_handle_t other = load_other_functions(w);
    ze_module_handle_t first = load_module(w, "build/kernels/imports.so", NULL);
    ze_module_handle_t second = load_module(w, "build/kernels/imports.so", NULL);
    assert_string_equal(link_two(first, functions, ZE_RESULT_SUCCESS), "");
    expect_unlinked(second);
    assert_string_equal(link_two(second, other, ZE_RESULT_SUCCESS), "");
    assert_string_equal(link_two(first, other, ZE_RESULT_SUCCESS), "");
    assert_true(scale_seven(w, first) == 7 * 2 + 2);
    assert_true(scale_seven(w, second) == 7 * 10 + 10);
    ok(zeModuleDestroy(first));
    ok(zeModuleDestroy(second));
    ok(zeModuleDestroy(functions));
    ok(zeModuleDestroy(other));
}

static void test_links_without_imports(void **state) {
    world *w = *state;
    ze_module_handle_t none = NULL;
    assert_string_equal(link_two(w->module, w->module, ZE_RESULT_SUCCESS), "");
    assert_result(zeModuleDynamicLink(1, NULL, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    assert_result(zeModuleDynamicLink(1, &none, NULL), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
}

static void test_modules_of_two_contexts_are_not_linked(void **state) {
    world *w = *state, other = *w;
    ze_context_desc_t desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, NULL, 0};
    ze_module_handle_t imports = load_module(w, "build/kernels/imports.so", NULL), functions;
    ok(zeContextCreate(w->driver, &desc, &other.context));
    functions = load_module(&other, "build/kernels/functions.so", NULL);
    assert_string_equal(link_two(imports, functions, ZE_RESULT_SUCCESS), "");
    assert_int_equal(gpu.findings(), 1);
    gpu.forget_findings();
    ok(zeModuleDestroy(functions));
    ok(zeModuleDestroy(imports));
    ok(zeContextDestroy(other.context));
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
static void check_code(world *w, ze_kernel_handle_t kernel, native_binary module) {
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
        native_binary binary = read_binary(files[i]);
        ze_module_handle_t module = load_module(w, files[i], NULL);
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
    native_binary binary = read_binary("build/kernels/saxpy.so");
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
        TEST(test_imports_are_linked),
        TEST(test_unresolved_imports),
        TEST(test_ambiguous_imports),
        TEST(test_modules_are_linked_once),
        TEST(test_links_without_imports),
        TEST(test_modules_of_two_contexts_are_not_linked),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
