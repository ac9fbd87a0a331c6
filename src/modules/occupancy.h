/* How much of the device a kernel can fill, and advice about it. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "modules/kernel_facts.h"

#ifdef ZETOOLS_TRACER

/* How the work-groups of a launch fill a subslice. */
typedef struct zt__filling {
    uint32_t items;                                  /* of a work-group. 0: not known */
    uint32_t threads;                                /* of a work-group. 0: not known */
    uint32_t slots;                                  /* for threads in a subslice. 0: not known */
    uint32_t groups;                                 /* that fit. UINT32_MAX: not known */
    int slm_limits, barriers_limit, registers_limit; /* why not more fit */
} zt__filling;

/* Computes how many work-groups fit into a subslice, as KERNELS in the manual describes. Intel's driver
   computes the number of work-groups of a cooperative launch in the same way
   (KernelHelper::getMaxWorkGroupCount of intel/compute-runtime). */
ZT__PRIVATE zt__filling zt__fill_subslice(const zt__device_limits *limits, const zt__kernel_facts *facts,
                                          const uint32_t group_size[3]);

/* Applies the rules to a kernel and one of its launches. Writes figures in words: "4 KiB", "75%", "128". */
ZT__PRIVATE void zt__advise_kernel(const zt__device_limits *limits, const zt__kernel_facts *facts,
                                   const zt_kernel_shape *shape, char *text, size_t room);

#endif
