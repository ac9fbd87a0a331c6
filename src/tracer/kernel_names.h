/* Names of kernels. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "tracer/tracer.h"

#ifdef ZETOOLS_TRACER

/* Returns the name of a kernel: the one that is known for its handle, or else, or if `knows_handle` is 0,
   the one that the driver returns. If the driver fails, the name is "", and the next launch queries
   again. No mutex is held. Returns NULL without memory. */
ZT__PRIVATE zt__kernel_name *zt__name_of_kernel(zt__tracer *tracer, ze_kernel_handle_t kernel,
                                                int knows_handle);

/* Returns the record of a name, which is added if there is none. With `others`, the name is followed by that
   number: "saxpy +2". No mutex is held. Returns NULL without memory. */
ZT__PRIVATE zt__kernel_name *zt__find_or_add_name(zt__tracer *tracer, const char *text, uint32_t others);

#endif
