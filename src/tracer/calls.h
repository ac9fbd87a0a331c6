/* The calls that loaders can trace, their kinds, and their parameters. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"

#ifdef ZETOOLS_TRACER

/* The calls of the core interface (ze...) that loaders can trace. Older loaders lack some of them. These
   lists are X macros: where one is used, X(name) expands to a constant, a string or the callbacks of the
   call. */
/* clang-format off */
#define ZT__CALLS(X)                                                                                         \
    X(CommandListAppendBarrier) X(CommandListAppendEventReset) X(CommandListAppendGraphExt)                  \
    X(CommandListAppendHostFunction) X(CommandListAppendImageCopy)                                           \
    X(CommandListAppendImageCopyFromMemory) X(CommandListAppendImageCopyFromMemoryExt)                       \
    X(CommandListAppendImageCopyRegion) X(CommandListAppendImageCopyToMemory)                                \
    X(CommandListAppendImageCopyToMemoryExt) X(CommandListAppendLaunchCooperativeKernel)                     \
    X(CommandListAppendLaunchKernel) X(CommandListAppendLaunchKernelIndirect)                                \
    X(CommandListAppendLaunchKernelWithArguments) X(CommandListAppendLaunchKernelWithParameters)             \
    X(CommandListAppendLaunchMultipleKernelsIndirect) X(CommandListAppendMemAdvise)                          \
    X(CommandListAppendMemoryCopy) X(CommandListAppendMemoryCopyFromContext)                                 \
    X(CommandListAppendMemoryCopyRegion) X(CommandListAppendMemoryCopyWithParameters)                        \
    X(CommandListAppendMemoryFill) X(CommandListAppendMemoryFillWithParameters)                              \
    X(CommandListAppendMemoryPrefetch) X(CommandListAppendMemoryRangesBarrier)                               \
    X(CommandListAppendQueryKernelTimestamps) X(CommandListAppendSignalEvent)                                \
    X(CommandListAppendSignalExternalSemaphoreExt) X(CommandListAppendWaitExternalSemaphoreExt)              \
    X(CommandListAppendWaitOnEvents) X(CommandListAppendWriteGlobalTimestamp)                                \
    X(CommandListBeginCaptureIntoGraphExt) X(CommandListBeginGraphCaptureExt) X(CommandListClose)            \
    X(CommandListCreate) X(CommandListCreateCloneExp) X(CommandListCreateImmediate)                          \
    X(CommandListDestroy) X(CommandListEndGraphCaptureExt) X(CommandListGetContextHandle)                    \
    X(CommandListGetDeviceHandle) X(CommandListGetFlags) X(CommandListGetGraphExt)                           \
    X(CommandListGetNextCommandIdExp) X(CommandListGetNextCommandIdWithKernelsExp)                           \
    X(CommandListGetOrdinal) X(CommandListHostSynchronize) X(CommandListImmediateAppendCommandListsExp)      \
    X(CommandListImmediateAppendCommandListsWithParameters) X(CommandListImmediateGetFlags)                  \
    X(CommandListImmediateGetIndex) X(CommandListImmediateGetMode) X(CommandListImmediateGetPriority)        \
    X(CommandListIsGraphCaptureEnabledExt) X(CommandListIsImmediate) X(CommandListIsMutableExp)              \
    X(CommandListReset) X(CommandListUpdateMutableCommandKernelsExp)                                         \
    X(CommandListUpdateMutableCommandSignalEventExp) X(CommandListUpdateMutableCommandWaitEventsExp)         \
    X(CommandListUpdateMutableCommandsExp) X(CommandQueueCreate) X(CommandQueueDestroy)                      \
    X(CommandQueueExecuteCommandLists) X(CommandQueueGetFlags) X(CommandQueueGetIndex)                       \
    X(CommandQueueGetMode) X(CommandQueueGetOrdinal) X(CommandQueueGetPriority)                              \
    X(CommandQueueSynchronize) X(ContextCreate) X(ContextCreateEx) X(ContextDestroy)                         \
    X(ContextEvictImage) X(ContextEvictMemory) X(ContextGetStatus) X(ContextMakeImageResident)               \
    X(ContextMakeMemoryResident) X(ContextSystemBarrier) X(DeviceCanAccessPeer) X(DeviceGet)                 \
    X(DeviceGetAggregatedCopyOffloadIncrementValue) X(DeviceGetCacheProperties)                              \
    X(DeviceGetCommandQueueGroupProperties) X(DeviceGetComputeProperties)                                    \
    X(DeviceGetCounterBasedEventMaxValue) X(DeviceGetExternalMemoryProperties)                               \
    X(DeviceGetFabricVertexExp) X(DeviceGetGlobalTimestamps) X(DeviceGetImageProperties)                     \
    X(DeviceGetMemoryAccessProperties) X(DeviceGetMemoryProperties) X(DeviceGetModuleProperties)             \
    X(DeviceGetP2PProperties) X(DeviceGetProperties) X(DeviceGetRootDevice)                                  \
    X(DeviceGetRuntimeRequirements) X(DeviceGetRuntimeRequirementsKey) X(DeviceGetStatus)                    \
    X(DeviceGetSubDevices) X(DeviceGetVectorWidthPropertiesExt) X(DeviceImportExternalSemaphoreExt)          \
    X(DevicePciGetPropertiesExt) X(DeviceReleaseExternalSemaphoreExt) X(DeviceReserveCacheExt)               \
    X(DeviceSetCacheAdviceExt) X(DeviceSynchronize) X(DeviceValidateRuntimeRequirements) X(DriverGet)        \
    X(DriverGetApiVersion) X(DriverGetDefaultContext) X(DriverGetExtensionFunctionAddress)                   \
    X(DriverGetExtensionProperties) X(DriverGetIpcProperties) X(DriverGetLastErrorDescription)               \
    X(DriverGetProperties) X(DriverRTASFormatCompatibilityCheckExp)                                          \
    X(DriverRTASFormatCompatibilityCheckExt) X(EventCounterBasedCloseIpcHandle)                              \
    X(EventCounterBasedCreate) X(EventCounterBasedGetDeviceAddress) X(EventCounterBasedGetIpcHandle)         \
    X(EventCounterBasedOpenIpcHandle) X(EventCreate) X(EventDestroy) X(EventGetCounterBasedFlags)            \
    X(EventGetEventPool) X(EventGetSignalScope) X(EventGetWaitScope) X(EventHostReset)                       \
    X(EventHostSignal) X(EventHostSynchronize) X(EventPoolCloseIpcHandle) X(EventPoolCreate)                 \
    X(EventPoolDestroy) X(EventPoolGetContextHandle) X(EventPoolGetFlags) X(EventPoolGetIpcHandle)           \
    X(EventPoolOpenIpcHandle) X(EventPoolPutIpcHandle) X(EventQueryKernelTimestamp)                          \
    X(EventQueryKernelTimestampsExt) X(EventQueryStatus) X(EventQueryTimestampsExp)                          \
    X(ExecutableGraphDestroyExt) X(ExecutableGraphGetSourceGraphExt) X(FabricEdgeGetExp)                     \
    X(FabricEdgeGetPropertiesExp) X(FabricEdgeGetVerticesExp) X(FabricVertexGetDeviceExp)                    \
    X(FabricVertexGetExp) X(FabricVertexGetPropertiesExp) X(FabricVertexGetSubVerticesExp)                   \
    X(FenceCreate) X(FenceDestroy) X(FenceHostSynchronize) X(FenceQueryStatus) X(FenceReset)                 \
    X(GraphCreateExt) X(GraphDestroyExt) X(GraphDumpContentsExt) X(GraphGetPrimaryCommandListExt)            \
    X(GraphInstantiateExt) X(GraphIsEmptyExt) X(GraphSetDestructionCallbackExt) X(ImageCreate)               \
    X(ImageDestroy) X(ImageGetAllocPropertiesExt) X(ImageGetDeviceOffsetExp)                                 \
    X(ImageGetMemoryPropertiesExp) X(ImageGetProperties) X(ImageViewCreateExp) X(ImageViewCreateExt)         \
    X(Init) X(InitDrivers) X(KernelCreate) X(KernelDestroy) X(KernelGetAllocationPropertiesExp)              \
    X(KernelGetBinaryExp) X(KernelGetIndirectAccess) X(KernelGetName) X(KernelGetProperties)                 \
    X(KernelGetSourceAttributes) X(KernelSchedulingHintExp) X(KernelSetArgumentValue)                        \
    X(KernelSetCacheConfig) X(KernelSetGlobalOffsetExp) X(KernelSetGroupSize) X(KernelSetIndirectAccess)     \
    X(KernelSuggestGroupSize) X(KernelSuggestMaxCooperativeGroupCount) X(MemAllocDevice) X(MemAllocHost)     \
    X(MemAllocShared) X(MemCloseIpcHandle) X(MemFree) X(MemFreeExt) X(MemGetAddressRange)                    \
    X(MemGetAllocProperties) X(MemGetAtomicAccessAttributeExp) X(MemGetFileDescriptorFromIpcHandleExp)       \
    X(MemGetIpcHandle) X(MemGetIpcHandleFromFileDescriptorExp) X(MemGetIpcHandleWithProperties)              \
    X(MemGetPitchFor2dImage) X(MemOpenIpcHandle) X(MemPutIpcHandle) X(MemSetAtomicAccessAttributeExp)        \
    X(ModuleBuildLogDestroy) X(ModuleBuildLogGetString) X(ModuleCreate) X(ModuleDestroy)                     \
    X(ModuleDynamicLink) X(ModuleGetFunctionPointer) X(ModuleGetGlobalPointer) X(ModuleGetKernelNames)       \
    X(ModuleGetNativeBinary) X(ModuleGetProperties) X(ModuleInspectLinkageExt) X(PhysicalMemCreate)          \
    X(PhysicalMemDestroy) X(PhysicalMemGetProperties) X(RTASBuilderBuildExp) X(RTASBuilderBuildExt)          \
    X(RTASBuilderCommandListAppendCopyExt) X(RTASBuilderCreateExp) X(RTASBuilderCreateExt)                   \
    X(RTASBuilderDestroyExp) X(RTASBuilderDestroyExt) X(RTASBuilderGetBuildPropertiesExp)                    \
    X(RTASBuilderGetBuildPropertiesExt) X(RTASParallelOperationCreateExp)                                    \
    X(RTASParallelOperationCreateExt) X(RTASParallelOperationDestroyExp)                                     \
    X(RTASParallelOperationDestroyExt) X(RTASParallelOperationGetPropertiesExp)                              \
    X(RTASParallelOperationGetPropertiesExt) X(RTASParallelOperationJoinExp)                                 \
    X(RTASParallelOperationJoinExt) X(SamplerCreate) X(SamplerDestroy) X(VirtualMemFree)                     \
    X(VirtualMemGetAccessAttribute) X(VirtualMemMap) X(VirtualMemQueryPageSize) X(VirtualMemReserve)         \
    X(VirtualMemSetAccessAttribute) X(VirtualMemUnmap)

/* clang-format on */

typedef enum zt__call {
#define X(name) ZT__CALL_##name,
    ZT__CALLS(X)
#undef X
        ZT__CALL_COUNT
} zt__call;

/* What the tracer observes a kind of call for. Lists are always observed, for the regions that the
   application begins itself. */
enum {
    ZT__ALWAYS = 1,
    ZT__FOR_LAUNCHES = 2, /* if launches are measured */
    ZT__FOR_COMMANDS = 4, /* if launches or copies are measured */
    ZT__FOR_EVENTS = 8,   /* if they may be measured by events of the application */
    ZT__FOR_AUTO = 16,
    ZT__FOR_MEMORY = 32 /* if memory is watched */
};

/* The kinds of calls: what the tracer does before a call, and after it has succeeded, and what it observes
   the call for. Exceptions are in zt__before_call and zt__after_call of the dispatcher. */
/* clang-format off */
#define ZT__KINDS(X)                                                                                         \
    X(OTHER, NULL, NULL, 0) /* nothing, unless the configuration names it */                                 \
    X(LIST_CREATE, NULL, zt__after_list_create, ZT__ALWAYS)                                                  \
    X(LIST_RESET, zt__before_list_reset, zt__after_list_reset, ZT__ALWAYS)                                   \
    X(LIST_DESTROY, zt__before_list_destroy, zt__after_list_destroy, ZT__ALWAYS)                              \
    X(EXECUTE, zt__before_execute, NULL, ZT__ALWAYS)                                                         \
    X(QUEUE_SYNCHRONIZE, zt__before_queue_synchronize, zt__after_queue_synchronize, ZT__FOR_EVENTS)          \
    X(QUEUE_DESTROY, zt__before_queue_destroy, NULL, ZT__ALWAYS)                                             \
    X(MODULE_CREATE, zt__before_module_create, zt__after_module_create, ZT__ALWAYS)                          \
    X(MODULE_DESTROY, zt__before_module_destroy, zt__after_module_destroy, ZT__ALWAYS)                       \
    X(GET_FUNCTION, NULL, zt__after_get_function, ZT__ALWAYS)                                                \
    X(KERNEL_CREATE, NULL, zt__put_kernel_in_place, ZT__ALWAYS)                                              \
    X(KERNEL_DESTROY, zt__before_kernel_destroy, zt__after_kernel_destroy, ZT__ALWAYS)                       \
    X(GROUP_SIZE, NULL, zt__after_group_size, ZT__FOR_LAUNCHES)                                              \
    X(LAUNCH, zt__before_command, zt__after_launch, ZT__FOR_EVENTS)                                          \
    X(GRAPH, zt__before_command, zt__after_command, ZT__FOR_EVENTS)                                          \
    X(GRAPH_INSTANTIATE, NULL, zt__after_graph_instantiate, ZT__FOR_LAUNCHES)                                \
    X(GRAPH_DESTROY, zt__before_graph_destroy, NULL, ZT__FOR_LAUNCHES)                                       \
    X(COPY, zt__before_command, zt__after_command, ZT__FOR_EVENTS | ZT__FOR_AUTO)                            \
    /* A barrier or a wait: measured only if it has an event or its list is in order. */                     \
    X(SYNC, zt__before_command, NULL, ZT__FOR_EVENTS)                                                        \
    /* A command that is not measured, and signals an event. */                                              \
    X(SIGNAL, zt__before_command, NULL, ZT__FOR_EVENTS)                                                      \
    X(CAPTURE_BEGIN, NULL, zt__after_list_change, ZT__FOR_COMMANDS)                                          \
    X(CAPTURE_END, NULL, zt__after_list_change, ZT__FOR_COMMANDS)                                            \
    X(GET_COMMAND_ID, NULL, zt__after_list_change, ZT__FOR_COMMANDS)                                         \
    X(CONTEXT_DESTROY, zt__before_context_destroy, zt__after_context_destroy, ZT__FOR_AUTO | ZT__FOR_MEMORY) \
    X(MEMORY_ALLOCATE, NULL, zt__after_allocation, ZT__FOR_MEMORY)                                           \
    X(MEMORY_FREE, zt__before_free, zt__after_free, ZT__FOR_MEMORY)                                          \
    X(POOL_CREATE, zt__before_pool_create, zt__after_pool_create, ZT__FOR_COMMANDS)                          \
    X(POOL_DESTROY, zt__before_pool_destroy, NULL, ZT__FOR_COMMANDS)                                         \
    X(EVENT_CREATE, NULL, zt__after_event_create, ZT__FOR_COMMANDS)                                          \
    X(EVENT_DESTROY, zt__before_event_destroy, NULL, ZT__FOR_COMMANDS)                                       \
    X(EVENT_CHANGE, zt__before_event_change, NULL, ZT__FOR_EVENTS) /* on the host */                         \
    X(EVENT_RESET, zt__before_event_reset, NULL, ZT__FOR_EVENTS) /* in a list */                            \
    X(GET_EXTENSION, NULL, zt__after_get_extension, ZT__FOR_COMMANDS)

/* clang-format on */

typedef enum zt__call_kind {
#define X(name, before, after, needed) ZT__KIND_##name,
    ZT__KINDS(X)
#undef X
        ZT__KIND_COUNT
} zt__call_kind;

/* Parameters of calls that are newer than Level Zero 1.4. A program may be built with headers that lack
   them, and run with a loader that has them. The last parameters are left out if the tracer does not read
   them. */
typedef struct zt__append_lists_params {
    ze_command_list_handle_t *phCommandListImmediate;
    uint32_t *pnumCommandLists;
    ze_command_list_handle_t **pphCommandLists;
    ze_event_handle_t *phSignalEvent;
    uint32_t *pnumWaitEvents;
    ze_event_handle_t **pphWaitEvents;
} zt__append_lists_params;

typedef struct zt__launch_with_arguments_params {
    ze_command_list_handle_t *phCommandList;
    ze_kernel_handle_t *phKernel;
    const void *pgroupCounts;
    const void *pgroupSizes;
    void ***ppArguments;
    const void **ppNext;
    ze_event_handle_t *phSignalEvent;
    uint32_t *pnumWaitEvents;
    ze_event_handle_t **pphWaitEvents;
} zt__launch_with_arguments_params;

typedef struct zt__launch_with_parameters_params {
    ze_command_list_handle_t *phCommandList;
    ze_kernel_handle_t *phKernel;
    const ze_group_count_t **ppGroupCounts;
    const void **ppNext;
    ze_event_handle_t *phSignalEvent;
    uint32_t *pnumWaitEvents;
    ze_event_handle_t **pphWaitEvents;
} zt__launch_with_parameters_params;

typedef struct zt__copy_with_parameters_params {
    ze_command_list_handle_t *phCommandList;
    void **pdstptr;
    const void **psrcptr;
    size_t *psize;
    const void **ppNext;
    ze_event_handle_t *phSignalEvent;
    uint32_t *pnumWaitEvents;
    ze_event_handle_t **pphWaitEvents;
} zt__copy_with_parameters_params;

typedef struct zt__fill_with_parameters_params {
    ze_command_list_handle_t *phCommandList;
    void **pptr;
    const void **ppattern;
    size_t *ppattern_size;
    size_t *psize;
    const void **ppNext;
    ze_event_handle_t *phSignalEvent;
    uint32_t *pnumWaitEvents;
    ze_event_handle_t **pphWaitEvents;
} zt__fill_with_parameters_params;

typedef struct zt__host_function_params {
    ze_command_list_handle_t *phCommandList;
    void *pHostFunction;
    void **ppUserData;
    const void **ppNext;
    ze_event_handle_t *phSignalEvent;
    uint32_t *pnumWaitEvents;
    ze_event_handle_t **pphWaitEvents;
} zt__host_function_params;

/* Of the calls that begin or end a capture, or query an identifier. */
typedef struct zt__list_params {
    ze_command_list_handle_t *phCommandList;
} zt__list_params;

typedef struct zt__end_capture_params {
    ze_command_list_handle_t *phCommandList;
    const void **ppNext;
    void ***pphGraph;
} zt__end_capture_params;

typedef struct zt__instantiate_graph_params {
    void **phGraph;
    const void **ppNext;
    void ***pphExecutableGraph;
} zt__instantiate_graph_params;

typedef struct zt__append_graph_params {
    ze_command_list_handle_t *phCommandList;
    void **phGraph;
    const void **ppNext;
    ze_event_handle_t *phSignalEvent;
    uint32_t *pnumWaitEvents;
    ze_event_handle_t **pphWaitEvents;
} zt__append_graph_params;

/* Of the calls that destroy a graph, or an executable one. */
typedef struct zt__graph_params {
    void **phGraph;
} zt__graph_params;

/* A ze_event_counter_based_desc_t, and the parameters of the call that uses it. */
typedef struct zt__event_counter_based_desc {
    ze_structure_type_t stype;
    const void *pNext;
    uint32_t flags;
} zt__event_counter_based_desc;

typedef struct zt__event_counter_based_create_params {
    ze_context_handle_t *phContext;
    ze_device_handle_t *phDevice;
    const zt__event_counter_based_desc **pdesc;
    ze_event_handle_t **pphEvent;
} zt__event_counter_based_create_params;

/* A launch, graph or copy, or another command that signals an event, whichever call appends it. */
typedef struct zt__command {
    ze_command_list_handle_t list;
    ze_kernel_handle_t kernel; /* the first one, or NULL */
    uint32_t kernel_count;     /* 0: none */
    uint32_t *wait_count;      /* points to the call's parameter, which zt__begin_command changes */
    ze_event_handle_t *wait_events;
    ze_event_handle_t *signal; /* likewise; NULL: a wait, which has none */
} zt__command;

ZT__PRIVATE const char *zt__call_name(uint32_t call);

ZT__PRIVATE zt__call_kind zt__kind_of_call(zt__call call);

/* Returns whether the host waits for the device in a call. */
ZT__PRIVATE int zt__is_wait(zt__call call);

/* Reads the parameters of a call that appends a command. Returns 0 for other calls, or if the list or the
   kernel of a launch is NULL. */
ZT__PRIVATE int zt__read_command(zt__call call, void *parameters, zt__command *command);

/* Reads the numbers of work-groups of a launch, and their sizes if the call has them; what is in memory of
   the device stays 0. Returns how many bytes a copy or fill moves: 0 for a launch, and for an image, because
   the parameters do not have the size of its pixels. */
ZT__PRIVATE uint64_t zt__read_size(zt__call call, const void *parameters, zt__origin *origin);

#endif
