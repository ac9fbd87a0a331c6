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
} sg_code;

typedef struct sg_module {
    sg_object object;
    const sg_code *code;
    uint32_t profile_flags;
    atomic_bool is_linked; /* by zeModuleDynamicLink; without imports, that does not matter */
} sg_module;

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

/* Of a build or link. */
ze_result_t sg_create_log(const char *text, void *context, ze_module_build_log_handle_t *out_log);

/* The address of what a binary exports; NULL: it does not. */
void *sg_find_export(const sg_code *code, const softgpu_import *import);

bool sg_module_is_linked(const sg_module *module);

/* The build option -zet-profile-flags; false where its value is none. */
bool sg_read_profile_flags(const char *build_flags, uint32_t *flags);

#pragma GCC visibility pop

#endif
