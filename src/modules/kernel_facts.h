/* What a kernel has, such as registers and shared memory, as the driver reports it. */

#pragma once

#include "base/compiler.h"
#include "base/map.h"
#include "base/system.h"
#include "metrics/driver.h"

#ifdef ZETOOLS_TRACER

/* A tracer reports the kernels that it sees. What a kernel is made of is read from two places:

   - The native binary of the module, when the first kernel of the module is created. An ELF file of Intel's
     compiler ("zebin") describes its kernels in the section .ze_info.
   - zeKernelGetProperties, zeKernelGetBinaryExp and zetKernelGetProfileInfo, after the first launch of a
     handle was appended, so that no launch waits for these calls. By then, drivers also count the shared
     local memory of the arguments.

   Handles with the same name and the same facts are one kernel, which belongs to the profiler of the list to
   which its launch was appended. */

enum {
    ZT__MAX_KERNELS = 16384,  /* of a profiler; launches of others are counted */
    ZT__MAX_BINARY = 1 << 30, /* bytes. Longer native binaries are not read */
    ZT__REGISTER_FILE = 1024, /* registers that the threads of a vector engine share */
    ZT__BARRIERS_OF_SUBSLICE = 32,
    ZT__PROFILE_INFO_BYTES = 4096 /* room for what zetKernelGetProfileInfo stores: tokens follow */
};

/* What is known of a kernel, in the order of zt_kernel_info; UINT32_MAX is not known. There is no padding,
   because kernels are compared byte by byte. */
typedef struct zt__kernel_facts {
    uint64_t module; /* 0: not known */
    uint32_t simd_width, registers, slm_bytes, private_bytes, spill_bytes, barriers, arguments, code_bytes;
    uint32_t threads_per_eu; /* as the compiler states it */
    uint32_t profile_flags;
    uint32_t required_group_size[3]; /* 0: any */
} zt__kernel_facts;

/* A kernel, followed in memory by its key: its facts, and its name. */
typedef struct zt__kernel {
    zt__kernel_facts facts;
    const char *name;
    uint64_t launches, other_launches;
    uint32_t shape_count;                     /* only grows. Atomic */
    zt_kernel_shape shapes[ZT_KERNEL_SHAPES]; /* in the order of their first launch */
    uint32_t recent[ZT_KERNEL_SHAPES]; /* launches of each shape that are not in the counts yet. Atomic */
} zt__kernel;

/* What a device has for work-groups. 0: not known. */
typedef struct zt__device_limits {
    uint32_t threads_per_eu, eus_per_subslice, subslices;
    uint32_t slm_bytes; /* of a subslice */
} zt__device_limits;

/* The kernels of a profiler. Its mutex guards them, but for the limits, which are constant. */
typedef struct zt__kernels {
    zt__device_limits limits;
    zt__map map; /* by their keys */
    uint32_t count;
    zt__kernel *in_order[ZT__MAX_KERNELS];
} zt__kernels;

/* Returns facts of which none is known. */
ZT__PRIVATE zt__kernel_facts zt__unknown_facts(void);

/* Queries the driver for what a kernel is made of. Facts that it does not know stay as they are. */
ZT__PRIVATE void zt__query_kernel(const zt__driver *driver, ze_kernel_handle_t kernel,
                                  zt__kernel_facts *facts);

#endif
