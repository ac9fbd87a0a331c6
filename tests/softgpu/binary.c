/* What modules and kernels are made of: binaries, debug information, functions, memory. */
#include "module.h"

#include <stdlib.h>
#include <string.h>

/* Bytes in two calls: their size, then as many as fit. */
static ze_result_t give_bytes(const void *from, size_t whole, size_t *size, uint8_t *bytes) {
    SG_NEED_POINTER(size);
    if (bytes)
        memcpy(bytes, from, *size < whole ? *size : whole);
    *size = whole;
    return ZE_RESULT_SUCCESS;
}

static struct {
    bool is_given;
    size_t size;
    uint8_t bytes[64];
} given_binary; /* by a test, while no other thread uses modules */

void softgpu_set_native_binary(const void *bytes, size_t size) {
    given_binary.is_given = bytes != NULL;
    given_binary.size = size < sizeof given_binary.bytes ? size : sizeof given_binary.bytes;
    if (bytes)
        memcpy(given_binary.bytes, bytes, given_binary.size);
}

ze_result_t sg_zeModuleGetNativeBinary(ze_module_handle_t handle, size_t *size, uint8_t *binary) {
    const sg_module *module = sg_module_of(handle);
    SG_NEED_HANDLE(module);
    if (given_binary.is_given)
        return give_bytes(given_binary.bytes, given_binary.size, size, binary);
    return give_bytes(module->code->binary, module->code->size, size, binary);
}

/* ---- debug information --------------------------------------------------------------------------------- */

/* The binary itself holds it, if it was compiled so: ELF with DWARF in its sections. */
ze_result_t sg_zetModuleGetDebugInfo(zet_module_handle_t handle, zet_module_debug_info_format_t format,
                                     size_t *size, uint8_t *info) {
    const sg_module *module = sg_module_of(handle);
    SG_NEED_HANDLE(module);
    SG_NEED_POINTER(size);
    if (format > ZET_MODULE_DEBUG_INFO_FORMAT_ELF_DWARF)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    if (sg_has_debug_info(module->code))
        return give_bytes(module->code->binary, module->code->size, size, info);
    *size = 0;
    return ZE_RESULT_SUCCESS;
}

/* ---- functions and variables --------------------------------------------------------------------------- */

void *sg_find_export(const sg_code *code, const softgpu_import *import) {
    size_t size;
    return sg_find_symbol(code, import->name, import->is_function, &size);
}

ze_result_t sg_zeModuleGetFunctionPointer(ze_module_handle_t handle, const char *name, void **function) {
    const sg_module *module = sg_module_of(handle);
    size_t size;
    SG_NEED_HANDLE(module);
    SG_NEED_POINTER(name);
    SG_NEED_POINTER(function);
    void *found = sg_find_symbol(module->code, name, true, &size);
    if (!found)
        return ZE_RESULT_ERROR_INVALID_FUNCTION_NAME;
    *function = found;
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeModuleGetGlobalPointer(ze_module_handle_t handle, const char *name, size_t *size,
                                        void **pointer) {
    const sg_module *module = sg_module_of(handle);
    size_t found_size;
    SG_NEED_HANDLE(module);
    SG_NEED_POINTER(name);
    void *found = sg_find_symbol(module->code, name, false, &found_size);
    if (!found)
        return ZE_RESULT_ERROR_INVALID_GLOBAL_NAME;
    if (size)
        *size = found_size;
    if (pointer)
        *pointer = found;
    return ZE_RESULT_SUCCESS;
}

/* ---- kernels ------------------------------------------------------------------------------------------- */

static uint64_t hash_of(const void *bytes, size_t size) {
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < size; ++i)
        hash = (hash ^ ((const uint8_t *)bytes)[i]) * 1099511628211u;
    return hash;
}

static uint32_t memory_of(const sg_kernel *kernel, uint32_t is_local) {
    static const char prefix[] = SOFTGPU_BODY_PREFIX;
    uint32_t bytes = 0;
    for (const softgpu_memory *const *at = kernel->binary->first_memory; at < kernel->binary->last_memory;
         ++at)
        if ((*at)->is_local == is_local && !strncmp((*at)->function, prefix, sizeof prefix - 1) &&
            !strcmp((*at)->function + sizeof prefix - 1, kernel->code->name))
            bytes += (*at)->bytes;
    return bytes;
}

uint32_t sg_local_bytes(const sg_kernel *kernel) {
    return memory_of(kernel, 1);
}

/* Intel's extension of the properties. */
typedef struct register_file_size {
    ze_structure_type_t stype;
    void *next;
    uint32_t registers;
} register_file_size;

static void answer_extensions(void *extension) {
    const ze_structure_type_t asked = (ze_structure_type_t)0x00030012;
    for (register_file_size *at = extension; at; at = at->next)
        if (at->stype == asked)
            at->registers = SOFTGPU_REGISTERS;
}

/* An item is a sub-group. What the compiler of the host spills is on the stack of the engine's thread, so
 * that no item has memory for it. */
ze_result_t sg_zeKernelGetProperties(ze_kernel_handle_t handle, ze_kernel_properties_t *properties) {
    const sg_kernel *kernel = sg_kernel_of(handle);
    SG_NEED_HANDLE(kernel);
    SG_NEED_POINTER(properties);
    ze_kernel_properties_t answer = {.stype = properties->stype, .pNext = properties->pNext};
    uint64_t kernel_id = hash_of(kernel->code->name, strlen(kernel->code->name));
    uint64_t module_id = hash_of(kernel->binary->binary, kernel->binary->size);
    answer.numKernelArgs = kernel->code->argument_count;
    answer.maxSubgroupSize = 1;
    answer.maxNumSubgroups = SG_MAX_GROUP_SIZE;
    answer.localMemSize = memory_of(kernel, 1);
    answer.privateMemSize = memory_of(kernel, 0);
    memcpy(answer.uuid.kid, &kernel_id, sizeof kernel_id);
    memcpy(answer.uuid.mid, &module_id, sizeof module_id);
    *properties = answer;
    answer_extensions(properties->pNext);
    return ZE_RESULT_SUCCESS;
}

/* ---- the code of a kernel ------------------------------------------------------------------------------- */

SG_GETTER(zexKernelGetBaseAddress, sg_kernel_of, ze_kernel_handle_t, uint64_t, sg_range_of(object).address)

ze_result_t sg_zeKernelGetBinaryExp(ze_kernel_handle_t handle, size_t *size, uint8_t *binary) {
    const sg_kernel *kernel = sg_kernel_of(handle);
    SG_NEED_HANDLE(kernel);
    SG_NEED_POINTER(size);
    sg_code_range range = sg_range_of(kernel);
    return range.bytes ? give_bytes(range.bytes, range.size, size, binary)
                       : ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
}

/* ---- profile information ------------------------------------------------------------------------------- */

bool sg_read_profile_flags(const char *build_flags, uint32_t *flags) {
    static const char option[] = "-zet-profile-flags";
    const char *at = build_flags ? strstr(build_flags, option) : NULL;
    char *end;
    if (!at)
        return true;
    at += sizeof option - 1;
    unsigned long value = strtoul(at, &end, 16);
    *flags = (uint32_t)value;
    return end > at && (*at == ' ' || *at == '=') && (*end == '\0' || *end == ' ') && value <= 3;
}

/* The flags that it was built with. Which registers of the processor are free, nobody tells: no tokens
 * follow. */
ze_result_t sg_zetKernelGetProfileInfo(zet_kernel_handle_t handle, zet_profile_properties_t *properties) {
    const sg_kernel *kernel = sg_kernel_of(handle);
    SG_NEED_HANDLE(kernel);
    SG_NEED_POINTER(properties);
    properties->flags = kernel->profile_flags;
    properties->numTokens = 0;
    return ZE_RESULT_SUCCESS;
}
