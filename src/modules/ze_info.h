/* The section .ze_info: what the compiler states of kernels. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "modules/kernel_facts.h"

#ifdef ZETOOLS_TRACER

/* What the section states of a kernel. The name is a part of the module's copy of the section. */
typedef struct zt__described_kernel {
    const char *name;
    size_t name_length;
    zt__kernel_facts facts;
} zt__described_kernel;

/* What is kept of the native binary of a module. */
typedef struct zt__described_module {
    uint64_t hash; /* of the native binary; 0: not known */
    char *text;    /* of .ze_info, without a 0 at its end */
    zt__described_kernel *kernels;
    uint32_t kernel_count;
} zt__described_module;

ZT__PRIVATE void zt__free_described_module(const zt_allocator *allocator, zt__described_module *module);

/* Reads what the native binary of a module states of its kernels. That is nothing if the driver returns no
   binary, or there is no memory for it. Returns NULL without memory for the record. No mutex is held. */
ZT__PRIVATE zt__described_module *zt__describe_module(const zt_allocator *allocator,
                                                      ze_module_handle_t handle);

/* Returns what a module states of a kernel. */
ZT__PRIVATE zt__kernel_facts zt__describe_kernel(const zt__described_module *module, const char *name);

#endif
