/* The kernels of a profiler; zt_get_kernel. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "modules/kernel_facts.h"
#include "regions/profiler.h"

#ifdef ZETOOLS_TRACER

/* Returns the number of kernels that were launched while tracing. */
ZT__PRIVATE uint32_t zt__get_kernel_count(const zt_profiler *profiler);

/* Returns the record of a kernel: the one with the same name and facts, which is added if there is none.
   `described` is what its module states; the driver is queried for the rest. The name is empty if the driver
   fails. Returns NULL without memory, or if there are too many. No mutex is held. */
ZT__PRIVATE zt__kernel *zt__find_or_add_kernel(zt_profiler *profiler, ze_kernel_handle_t handle,
                                               const zt__kernel_facts *described);

/* Counts a launch of a kernel, with the sizes in `shape`. `kernel` is NULL if there is no room for its
   record. No mutex is held. */
ZT__PRIVATE void zt__count_kernel(zt_profiler *profiler, zt__kernel *kernel, const zt_kernel_shape *shape);

/* Copies the record of a kernel, with all launches in its counts. The mutex of its profiler is held. */
ZT__PRIVATE void zt__copy_record(zt__kernel *kernel, zt__kernel *copy);

#endif
