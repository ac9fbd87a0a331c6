/* A call in progress, as a tracer observes it. */

#include "tracer/frames.h"

#include "base/compiler.h"
#include "tracer/calls.h"

#ifdef ZETOOLS_TRACER

ZT__PRIVATE ze_kernel_handle_t zt__launched_kernel(const zt__frame *frame, const zt__command *command,
                                                   uint32_t index) {
    return index == 0
               ? command->kernel
               : (*ZT__PARAMETERS(frame, ze_command_list_append_launch_multiple_kernels_indirect_params_t)
                       ->pphKernels)[index];
}

#endif
