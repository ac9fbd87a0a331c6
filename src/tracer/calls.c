/* The calls that loaders can trace, their kinds, and their parameters. */

#include "tracer/calls.h"

#include "base/compiler.h"
#include "regions/profiler.h"

#ifdef ZETOOLS_TRACER

/* Those that launch a kernel, and those that copy or fill, with the types of their parameters. */
#define ZT__LAUNCHES(X)                                                                                      \
    X(CommandListAppendLaunchKernel, ze_command_list_append_launch_kernel_params_t)                          \
    X(CommandListAppendLaunchCooperativeKernel, ze_command_list_append_launch_cooperative_kernel_params_t)   \
    X(CommandListAppendLaunchKernelIndirect, ze_command_list_append_launch_kernel_indirect_params_t)         \
    X(CommandListAppendLaunchKernelWithArguments, zt__launch_with_arguments_params)                          \
    X(CommandListAppendLaunchKernelWithParameters, zt__launch_with_parameters_params)

#define ZT__COPIES(X)                                                                                        \
    X(CommandListAppendMemoryCopy, ze_command_list_append_memory_copy_params_t)                              \
    X(CommandListAppendMemoryCopyFromContext, ze_command_list_append_memory_copy_from_context_params_t)      \
    X(CommandListAppendMemoryCopyRegion, ze_command_list_append_memory_copy_region_params_t)                 \
    X(CommandListAppendMemoryCopyWithParameters, zt__copy_with_parameters_params)                            \
    X(CommandListAppendMemoryFill, ze_command_list_append_memory_fill_params_t)                              \
    X(CommandListAppendMemoryFillWithParameters, zt__fill_with_parameters_params)                            \
    X(CommandListAppendImageCopy, ze_command_list_append_image_copy_params_t)                                \
    X(CommandListAppendImageCopyFromMemory, ze_command_list_append_image_copy_from_memory_params_t)          \
    X(CommandListAppendImageCopyFromMemoryExt, ze_command_list_append_image_copy_from_memory_ext_params_t)   \
    X(CommandListAppendImageCopyRegion, ze_command_list_append_image_copy_region_params_t)                   \
    X(CommandListAppendImageCopyToMemory, ze_command_list_append_image_copy_to_memory_params_t)              \
    X(CommandListAppendImageCopyToMemoryExt, ze_command_list_append_image_copy_to_memory_ext_params_t)

ZT__PRIVATE const char *zt__call_name(uint32_t call) {
    static const char *const names[ZT__CALL_COUNT] = {
#define X(name) "ze" #name,
        ZT__CALLS(X)
#undef X
    };
    return names[call];
}

ZT__PRIVATE zt__call_kind zt__kind_of_call(zt__call call) {
    switch (call) {
    case ZT__CALL_CommandListCreate:
    case ZT__CALL_CommandListCreateImmediate:
        return ZT__KIND_LIST_CREATE;
    case ZT__CALL_CommandListReset:
        return ZT__KIND_LIST_RESET;
    case ZT__CALL_CommandListDestroy:
        return ZT__KIND_LIST_DESTROY;
    case ZT__CALL_CommandQueueExecuteCommandLists:
    case ZT__CALL_CommandListImmediateAppendCommandListsExp:
    case ZT__CALL_CommandListImmediateAppendCommandListsWithParameters:
        return ZT__KIND_EXECUTE;
    case ZT__CALL_CommandQueueSynchronize:
    case ZT__CALL_CommandListHostSynchronize:
        return ZT__KIND_QUEUE_SYNCHRONIZE;
    case ZT__CALL_CommandQueueDestroy:
        return ZT__KIND_QUEUE_DESTROY;
    case ZT__CALL_ModuleCreate:
        return ZT__KIND_MODULE_CREATE;
    case ZT__CALL_ModuleDestroy:
        return ZT__KIND_MODULE_DESTROY;
    case ZT__CALL_ModuleGetFunctionPointer:
        return ZT__KIND_GET_FUNCTION;
    case ZT__CALL_KernelCreate:
        return ZT__KIND_KERNEL_CREATE;
    case ZT__CALL_KernelDestroy:
        return ZT__KIND_KERNEL_DESTROY;
    case ZT__CALL_KernelSetGroupSize:
        return ZT__KIND_GROUP_SIZE;
#define X(name, type) case ZT__CALL_##name:
        ZT__LAUNCHES(X)
    case ZT__CALL_CommandListAppendLaunchMultipleKernelsIndirect:
        return ZT__KIND_LAUNCH;
    case ZT__CALL_CommandListAppendGraphExt:
        return ZT__KIND_GRAPH;
    case ZT__CALL_GraphInstantiateExt:
        return ZT__KIND_GRAPH_INSTANTIATE;
    case ZT__CALL_GraphDestroyExt:
    case ZT__CALL_ExecutableGraphDestroyExt:
        return ZT__KIND_GRAPH_DESTROY;
        ZT__COPIES(X)
        return ZT__KIND_COPY;
#undef X
    case ZT__CALL_CommandListAppendBarrier:
    case ZT__CALL_CommandListAppendMemoryRangesBarrier:
    case ZT__CALL_CommandListAppendWaitOnEvents:
        return ZT__KIND_SYNC;
    case ZT__CALL_CommandListBeginGraphCaptureExt:
    case ZT__CALL_CommandListBeginCaptureIntoGraphExt:
        return ZT__KIND_CAPTURE_BEGIN;
    case ZT__CALL_CommandListEndGraphCaptureExt:
        return ZT__KIND_CAPTURE_END;
    case ZT__CALL_CommandListGetNextCommandIdExp:
    case ZT__CALL_CommandListGetNextCommandIdWithKernelsExp:
        return ZT__KIND_GET_COMMAND_ID;
    case ZT__CALL_ContextDestroy:
        return ZT__KIND_CONTEXT_DESTROY;
    case ZT__CALL_MemAllocDevice:
    case ZT__CALL_MemAllocHost:
    case ZT__CALL_MemAllocShared:
        return ZT__KIND_MEMORY_ALLOCATE;
    case ZT__CALL_MemFree:
    case ZT__CALL_MemFreeExt:
        return ZT__KIND_MEMORY_FREE;
    case ZT__CALL_EventPoolCreate:
        return ZT__KIND_POOL_CREATE;
    case ZT__CALL_EventPoolDestroy:
        return ZT__KIND_POOL_DESTROY;
    case ZT__CALL_EventCreate:
    case ZT__CALL_EventCounterBasedCreate:
        return ZT__KIND_EVENT_CREATE;
    case ZT__CALL_EventDestroy:
        return ZT__KIND_EVENT_DESTROY;
    case ZT__CALL_EventHostReset:
    case ZT__CALL_EventHostSignal:
        return ZT__KIND_EVENT_CHANGE;
    case ZT__CALL_CommandListAppendEventReset:
        return ZT__KIND_EVENT_RESET;
    case ZT__CALL_DriverGetExtensionFunctionAddress:
        return ZT__KIND_GET_EXTENSION;
    case ZT__CALL_CommandListAppendHostFunction:
    case ZT__CALL_CommandListAppendSignalEvent:
    case ZT__CALL_CommandListAppendQueryKernelTimestamps:
    case ZT__CALL_CommandListAppendWriteGlobalTimestamp:
        return ZT__KIND_SIGNAL;
    default:
        return ZT__KIND_OTHER;
    }
}

ZT__PRIVATE int zt__is_wait(zt__call call) {
    return call == ZT__CALL_EventHostSynchronize || call == ZT__CALL_FenceHostSynchronize ||
           call == ZT__CALL_CommandQueueSynchronize || call == ZT__CALL_CommandListHostSynchronize ||
           call == ZT__CALL_DeviceSynchronize;
}

/* ---- parameters of calls --------------------------------------------------------------------------------- */

typedef struct zt__append_lists_with_parameters_params {
    ze_command_list_handle_t *phCommandListImmediate;
    uint32_t *pnumCommandLists;
    ze_command_list_handle_t **pphCommandLists;
    const void **ppNext;
    ze_event_handle_t *phSignalEvent;
    uint32_t *pnumWaitEvents;
    ze_event_handle_t **pphWaitEvents;
} zt__append_lists_with_parameters_params;

ZT__PRIVATE int zt__read_command(zt__call call, void *parameters, zt__command *command) {
    switch (call) {
#define X(name, type)                                                                                        \
    case ZT__CALL_##name: {                                                                                  \
        const type *p = (const type *)parameters;                                                            \
        const zt__command launch = {*p->phCommandList, *p->phKernel,      1,                                 \
                                    p->pnumWaitEvents, *p->pphWaitEvents, p->phSignalEvent};                 \
        *command = launch;                                                                                   \
        return command->list && command->kernel;                                                             \
    }
        ZT__LAUNCHES(X)
#undef X
    case ZT__CALL_CommandListAppendLaunchMultipleKernelsIndirect: {
        const ze_command_list_append_launch_multiple_kernels_indirect_params_t *p =
            (const ze_command_list_append_launch_multiple_kernels_indirect_params_t *)parameters;
        uint32_t count = *p->pphKernels ? *p->pnumKernels : 0;
        const zt__command launch = {
            *p->phCommandList, count ? **p->pphKernels : NULL, count, p->pnumWaitEvents, *p->pphWaitEvents,
            p->phSignalEvent};
        *command = launch;
        return command->list && command->kernel;
    }
#define X(name, type)                                                                                        \
    case ZT__CALL_##name: {                                                                                  \
        const type *p = (const type *)parameters;                                                            \
        const zt__command copy = {*p->phCommandList, NULL, 0, p->pnumWaitEvents, *p->pphWaitEvents,          \
                                  p->phSignalEvent};                                                         \
        *command = copy;                                                                                     \
        return command->list != NULL;                                                                        \
    }
        ZT__COPIES(X)
        X(CommandListAppendGraphExt, zt__append_graph_params)
        X(CommandListAppendHostFunction, zt__host_function_params)
        X(CommandListAppendBarrier, ze_command_list_append_barrier_params_t)
        X(CommandListAppendMemoryRangesBarrier, ze_command_list_append_memory_ranges_barrier_params_t)
        X(CommandListAppendQueryKernelTimestamps, ze_command_list_append_query_kernel_timestamps_params_t)
        X(CommandListAppendWriteGlobalTimestamp, ze_command_list_append_write_global_timestamp_params_t)
#undef X
#define X(name, type)                                                                                        \
    case ZT__CALL_##name: {                                                                                  \
        const type *p = (const type *)parameters;                                                            \
        const zt__command lists = {                                                                          \
            *p->phCommandListImmediate, NULL, 0, p->pnumWaitEvents, *p->pphWaitEvents, p->phSignalEvent};    \
        *command = lists;                                                                                    \
        return command->list != NULL;                                                                        \
    }
        X(CommandListImmediateAppendCommandListsExp, zt__append_lists_params)
        X(CommandListImmediateAppendCommandListsWithParameters, zt__append_lists_with_parameters_params)
#undef X
    case ZT__CALL_CommandListAppendSignalEvent: {
        const ze_command_list_append_signal_event_params_t *p =
            (const ze_command_list_append_signal_event_params_t *)parameters;
        const zt__command signal = {*p->phCommandList, NULL, 0, NULL, NULL, p->phEvent};
        *command = signal;
        return command->list != NULL;
    }
    case ZT__CALL_CommandListAppendWaitOnEvents: {
        const ze_command_list_append_wait_on_events_params_t *p =
            (const ze_command_list_append_wait_on_events_params_t *)parameters;
        const zt__command wait = {*p->phCommandList, NULL, 0, p->pnumEvents, *p->pphEvents, NULL};
        *command = wait;
        return command->list != NULL;
    }
    default:
        memset(command, 0, sizeof *command);
        return 0;
    }
}

ZT__PRIVATE uint64_t zt__read_size(zt__call call, const void *parameters, zt__origin *origin) {
    const ze_group_count_t *counts = NULL;
    const ze_copy_region_t *region;
    switch (call) {
    case ZT__CALL_CommandListAppendLaunchKernel:
        counts = *((const ze_command_list_append_launch_kernel_params_t *)parameters)->ppLaunchFuncArgs;
        break;
    case ZT__CALL_CommandListAppendLaunchCooperativeKernel:
        counts = *((const ze_command_list_append_launch_cooperative_kernel_params_t *)parameters)
                      ->ppLaunchFuncArgs;
        break;
    case ZT__CALL_CommandListAppendLaunchKernelWithParameters:
        counts = *((const zt__launch_with_parameters_params *)parameters)->ppGroupCounts;
        break;
    case ZT__CALL_CommandListAppendLaunchKernelWithArguments:
        counts =
            (const ze_group_count_t *)((const zt__launch_with_arguments_params *)parameters)->pgroupCounts;
        memcpy(origin->group_size, ((const zt__launch_with_arguments_params *)parameters)->pgroupSizes,
               sizeof origin->group_size);
        break;
    case ZT__CALL_CommandListAppendMemoryCopy:
        return *((const ze_command_list_append_memory_copy_params_t *)parameters)->psize;
    case ZT__CALL_CommandListAppendMemoryCopyFromContext:
        return *((const ze_command_list_append_memory_copy_from_context_params_t *)parameters)->psize;
    case ZT__CALL_CommandListAppendMemoryCopyWithParameters:
        return *((const zt__copy_with_parameters_params *)parameters)->psize;
    case ZT__CALL_CommandListAppendMemoryFill:
        return *((const ze_command_list_append_memory_fill_params_t *)parameters)->psize;
    case ZT__CALL_CommandListAppendMemoryFillWithParameters:
        return *((const zt__fill_with_parameters_params *)parameters)->psize;
    case ZT__CALL_CommandListAppendMemoryCopyRegion:
        region = *((const ze_command_list_append_memory_copy_region_params_t *)parameters)->pdstRegion;
        /* Without a third dimension, its depth is 0 or 1. */
        return region ? (uint64_t)region->width * region->height * (region->depth ? region->depth : 1) : 0;
    default:
        break;
    }
    if (counts) {
        origin->group_count[0] = counts->groupCountX;
        origin->group_count[1] = counts->groupCountY;
        origin->group_count[2] = counts->groupCountZ;
    }
    return 0;
}

#endif
