/* Functions that zeDriverGetExtensionFunctionAddress gives and no loader has, beside those that belong to what they are
   about. */
#include "work.h"

/* Launches a kernel with the numbers of groups that a variable has: here, that is memory of the host. */
ze_result_t sg_zexCommandListAppendVariableLaunchKernel(ze_command_list_handle_t list,
                                                        ze_kernel_handle_t kernel, const void *variable,
                                                        ze_event_handle_t signal, uint32_t wait_count,
                                                        ze_event_handle_t *waits) {
    SG_NEED_POINTER(variable);
    return sg_zeCommandListAppendLaunchKernel(list, kernel, (const ze_group_count_t *)variable, signal,
                                              wait_count, waits);
}
