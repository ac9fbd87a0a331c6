/* What modules and kernels are made of: binaries, debug information, functions, memory. */
#define _GNU_SOURCE /* dladdr1 */
#include "module.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
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

ze_result_t sg_zeModuleGetNativeBinary(ze_module_handle_t handle, size_t *size, uint8_t *binary) {
    const sg_module *module = sg_module_of(handle);
    SG_NEED_HANDLE(module);
    return give_bytes(module->code->binary, module->code->size, size, binary);
}

/* ---- debug information --------------------------------------------------------------------------------- */

/* The table of sections, where the whole of it is there; its length goes to `count`. */
static const uint8_t *sections_of(const sg_code *code, unsigned *count, unsigned *names) {
    ElfW(Ehdr) header;
    memcpy(&header, code->binary, sizeof header);
    if (header.e_shoff > code->size || header.e_shstrndx >= header.e_shnum ||
        header.e_shnum > (code->size - header.e_shoff) / sizeof(ElfW(Shdr)))
        return NULL;
    *count = header.e_shnum;
    *names = header.e_shstrndx;
    return code->binary + header.e_shoff;
}

static ElfW(Shdr) section_at(const uint8_t *sections, unsigned index) {
    ElfW(Shdr) section;
    memcpy(&section, sections + index * sizeof section, sizeof section);
    return section;
}

/* The string at the place in a section of strings, where it ends within the binary. */
static const char *string_at(const sg_code *code, const ElfW(Shdr) * strings, size_t place) {
    if (strings->sh_offset > code->size || place >= code->size - strings->sh_offset)
        return NULL;
    const uint8_t *at = code->binary + strings->sh_offset + place;
    return memchr(at, '\0', code->size - strings->sh_offset - place) ? (const char *)at : NULL;
}

static bool has_section(const sg_code *code, const char *name) {
    unsigned count, names_index;
    const uint8_t *sections = sections_of(code, &count, &names_index);
    if (!sections)
        return false;
    ElfW(Shdr) names = section_at(sections, names_index);
    for (unsigned i = 0; i < count; ++i) {
        const char *found = string_at(code, &names, section_at(sections, i).sh_name);
        if (found && !strcmp(found, name))
            return true;
    }
    return false;
}

/* The binary itself holds it: it is ELF, and DWARF is in its sections if it was compiled so. */
ze_result_t sg_zetModuleGetDebugInfo(zet_module_handle_t handle, zet_module_debug_info_format_t format,
                                     size_t *size, uint8_t *info) {
    const sg_module *module = sg_module_of(handle);
    SG_NEED_HANDLE(module);
    SG_NEED_POINTER(size);
    if (format > ZET_MODULE_DEBUG_INFO_FORMAT_ELF_DWARF)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    if (has_section(module->code, ".debug_info"))
        return give_bytes(module->code->binary, module->code->size, size, info);
    *size = 0;
    return ZE_RESULT_SUCCESS;
}

/* ---- functions and variables --------------------------------------------------------------------------- */

/* What a binary exports itself, and not what it is linked with. */
static void *find_symbol(const sg_code *code, const char *name, unsigned type, size_t *size) {
    Dl_info own, info;
    const ElfW(Sym) *symbol = NULL;
    void *found = dlsym(code->library, name);
    if (!found || !dladdr(code->first, &own) || !dladdr1(found, &info, (void **)&symbol, RTLD_DL_SYMENT))
        return NULL;
    if (info.dli_fbase != own.dli_fbase || !symbol || (symbol->st_info & 0xfu) != type)
        return NULL;
    *size = symbol->st_size;
    return found;
}

void *sg_find_export(const sg_code *code, const softgpu_import *import) {
    size_t size;
    return find_symbol(code, import->name, import->is_function ? STT_FUNC : STT_OBJECT, &size);
}

ze_result_t sg_zeModuleGetFunctionPointer(ze_module_handle_t handle, const char *name, void **function) {
    const sg_module *module = sg_module_of(handle);
    size_t size;
    SG_NEED_HANDLE(module);
    SG_NEED_POINTER(name);
    SG_NEED_POINTER(function);
    void *found = find_symbol(module->code, name, STT_FUNC, &size);
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
    void *found = find_symbol(module->code, name, STT_OBJECT, &found_size);
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

/* The compiler may have given its copy of a function another ending, but for the part that it thinks is never
 * executed. */
static bool is_body_of(const char *symbol, const char *kernel) {
    static const char prefix[] = SOFTGPU_BODY_PREFIX;
    if (strncmp(symbol, prefix, sizeof prefix - 1) != 0)
        return false;
    symbol += sizeof prefix - 1;
    size_t length = strlen(kernel);
    const char *ending = symbol + length;
    return !strncmp(symbol, kernel, length) && (!*ending || (*ending == '.' && !strstr(ending, ".cold")));
}

/* The kernel's body, or else the function that the body was inlined into. */
static ElfW(Sym) search_symbols(const sg_kernel *kernel, const ElfW(Shdr) * table, const ElfW(Shdr) * strings,
                                ElfW(Addr) run) {
    const sg_code *code = kernel->binary;
    ElfW(Sym) symbol, found = {0};
    bool is_body = false;
    if (table->sh_offset > code->size || table->sh_size > code->size - table->sh_offset)
        return found;
    for (size_t i = 0; i < table->sh_size / sizeof symbol; ++i) {
        memcpy(&symbol, code->binary + table->sh_offset + i * sizeof symbol, sizeof symbol);
        const char *name = string_at(code, strings, symbol.st_name);
        if ((symbol.st_info & 0xfu) != STT_FUNC || !symbol.st_size || !name)
            continue;
        if (is_body_of(name, kernel->code->name) && (!is_body || symbol.st_size > found.st_size)) {
            is_body = true;
            found = symbol;
        } else if (!is_body && symbol.st_value == run) {
            found = symbol;
        }
    }
    return found;
}

typedef struct code_range {
    uint64_t address;
    const uint8_t *bytes; /* NULL: the binary has no symbols, and nobody knows how many there are */
    size_t size;
} code_range;

static code_range code_of(const sg_kernel *kernel) {
    const sg_code *code = kernel->binary;
    const struct link_map *map = NULL;
    unsigned count = 0, unused;
    const uint8_t *sections = sections_of(code, &count, &unused);
    code_range range = {.address = (uintptr_t)kernel->code->run};
    for (unsigned i = 0; sections && i < count && !dlinfo(code->library, RTLD_DI_LINKMAP, &map); ++i) {
        ElfW(Shdr) table = section_at(sections, i);
        if (table.sh_type != SHT_SYMTAB || table.sh_link >= count)
            continue;
        ElfW(Shdr) strings = section_at(sections, table.sh_link);
        ElfW(Sym) found = search_symbols(kernel, &table, &strings, (uintptr_t)range.address - map->l_addr);
        if (!found.st_size || found.st_shndx >= count)
            break;
        ElfW(Shdr) text = section_at(sections, found.st_shndx);
        size_t place = text.sh_offset + (found.st_value - text.sh_addr);
        if (place > code->size || found.st_size > code->size - place)
            break;
        return (code_range){map->l_addr + found.st_value, code->binary + place, found.st_size};
    }
    return range;
}

ze_result_t sg_zexKernelGetBaseAddress(ze_kernel_handle_t handle, uint64_t *address) {
    const sg_kernel *kernel = sg_kernel_of(handle);
    SG_NEED_HANDLE(kernel);
    SG_NEED_POINTER(address);
    *address = code_of(kernel).address;
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeKernelGetBinaryExp(ze_kernel_handle_t handle, size_t *size, uint8_t *binary) {
    const sg_kernel *kernel = sg_kernel_of(handle);
    SG_NEED_HANDLE(kernel);
    SG_NEED_POINTER(size);
    code_range range = code_of(kernel);
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
