/* Modules and kernels: what module.c, binary.c and link.c share. */
#ifndef SOFTGPU_MODULE_H
#define SOFTGPU_MODULE_H

#include "kernel_binary.h"
#include "work.h"

#pragma GCC visibility push(hidden)

/* The code of a native binary. */
typedef struct sg_code {
    struct sg_code *next;
    size_t size;
    uint8_t *binary;
    void *library; /* of the dynamic linker */
    const softgpu_kernel *const *first, *const *last;
    const softgpu_memory *const *first_memory, *const *last_memory;
    const softgpu_import *const *first_import, *const *last_import;
    uint32_t modules[SG_MAX_DEVICES];         /* for target.c: of each root device */
    _Atomic uint32_t holders[SG_MAX_DEVICES]; /* likewise: tools that have not acknowledged it */
} sg_code;

typedef struct sg_module {
    sg_object object;
    sg_code *code;
    sg_device *device;
    uint32_t profile_flags;
    atomic_bool is_linked; /* by zeModuleDynamicLink; without imports, that does not matter */
} sg_module;

/* What the arrays of local memory lose between them. */
enum { SG_LOCAL_GAPS = 1 << 12 };

enum { SG_MAX_ARGUMENT_BYTES = 1024, SG_LOG_BYTES = 1024 };

typedef struct sg_kernel {
    sg_object object;
    const softgpu_kernel *code;
    const sg_code *binary;
    uint32_t profile_flags; /* of its module */
    uint32_t group_size[3];
    uint32_t set; /* a bit for each argument that has a value */
    ze_kernel_indirect_access_flags_t indirect_access;
    _Alignas(16) char values[SG_MAX_ARGUMENT_BYTES];
} sg_kernel;

SG_HANDLE(sg_module_of, sg_module, ze_module_handle_t, SG_MODULE)
SG_HANDLE(sg_kernel_of, sg_kernel, ze_kernel_handle_t, SG_KERNEL)

/* Calls visit(code, argument) for all code that was ever loaded. */
void sg_each_code(void (*visit)(sg_code *code, void *argument), void *argument);

/* Of a build or link. */
ze_result_t sg_create_log(const char *text, void *context, ze_module_build_log_handle_t *out_log);

/* The address of what a binary exports; NULL: it does not. */
void *sg_find_export(const sg_code *code, const softgpu_import *import);

/* What a kernel declares of it. */
uint32_t sg_local_bytes(const sg_kernel *kernel);

bool sg_module_is_linked(const sg_module *module);

/* ---- libraries, as the system has them: elf.c, windows.c ------------------------------------------------ */

/* The dynamic linker trusts what it maps: a file that is shorter than it says must not get there. */
bool sg_is_whole_library(const uint8_t *binary, size_t size);

/* Loads a binary. The file stays open: its number is the name by which the dynamic linker would take it for
 * another. NULL: it cannot be loaded. */
void *sg_open_library(const uint8_t *binary, size_t size, int *file);

/* What a binary exports itself, and not what it is linked with. */
void *sg_find_symbol(const sg_code *code, const char *name, bool is_function, size_t *size);

bool sg_has_debug_info(const sg_code *code);

typedef struct sg_code_range {
    uint64_t address;
    const uint8_t *bytes; /* NULL: the binary has no symbols, and nobody knows how many there are */
    size_t size;
} sg_code_range;

/* The kernel's body, or else the function that the body was inlined into. */
sg_code_range sg_range_of(const sg_kernel *kernel);

/* The build option -zet-profile-flags; false where its value is none. */
bool sg_read_profile_flags(const char *build_flags, uint32_t *flags);

#pragma GCC visibility pop

#endif
