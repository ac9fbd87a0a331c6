/* Commands and events through pointers that zeDriverGetExtensionFunctionAddress returns, which loaders do not trace. */

#include "tracer/extensions.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/platform.h"
#include "tracer/calls.h"
#include "tracer/dispatcher.h"
#include "tracer/tracer.h"

#ifdef ZETOOLS_TRACER

/* ze_group_size_t, which older headers lack. */
typedef struct zt__group_size {
    uint32_t x, y, z;
} zt__group_size;

typedef ze_result_t(ZE_APICALL *zt__launch_variable_fn)(ze_command_list_handle_t, ze_kernel_handle_t, void *,
                                                        ze_event_handle_t, uint32_t, ze_event_handle_t *);

typedef ze_result_t(ZE_APICALL *zt__append_operation_fn)(ze_command_list_handle_t, const void *,
                                                         ze_event_handle_t, uint32_t, ze_event_handle_t *);

typedef ze_result_t(ZE_APICALL *zt__wait_on_memory_fn)(ze_command_list_handle_t, void *, void *, uint32_t,
                                                       ze_event_handle_t);

typedef ze_result_t(ZE_APICALL *zt__wait_on_memory64_fn)(ze_command_list_handle_t, void *, void *, uint64_t,
                                                         ze_event_handle_t);

typedef ze_result_t(ZE_APICALL *zt__create_event_fn)(ze_context_handle_t, ze_device_handle_t, uint64_t *,
                                                     uint64_t *, uint64_t, const ze_event_desc_t *,
                                                     ze_event_handle_t *);

/* Functions that are observed as calls of the loader: the name, the member of zt__driver_functions, that call, the
   parameters, which may be in another order than the loader's, and the loader's. Those of graphs are from before loaders
   had any. */
#define ZT__OBSERVED_FUNCTIONS(X)                                                                            \
    X("zeCommandListAppendLaunchKernelWithArguments", launch_with_arguments,                                 \
      CommandListAppendLaunchKernelWithArguments,                                                            \
      (ze_command_list_handle_t list, ze_kernel_handle_t kernel, ze_group_count_t counts,                    \
       zt__group_size sizes, void **arguments, const void *next, ze_event_handle_t signal,                   \
       uint32_t wait_count, ze_event_handle_t *waits),                                                       \
      (list, kernel, counts, sizes, arguments, next, signal, wait_count, waits),                             \
      zt__launch_with_arguments_params, &list, &kernel, &counts, &sizes, &arguments, &next, &signal,         \
      &wait_count, &waits)                                                                                   \
    X("zeCommandListAppendLaunchKernelWithParameters", launch_with_parameters,                               \
      CommandListAppendLaunchKernelWithParameters,                                                           \
      (ze_command_list_handle_t list, ze_kernel_handle_t kernel, const ze_group_count_t *counts,             \
       const void *next, ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits),           \
      (list, kernel, counts, next, signal, wait_count, waits), zt__launch_with_parameters_params, &list,     \
      &kernel, &counts, &next, &signal, &wait_count, &waits)                                                 \
    X("zexCommandListAppendMemoryCopyWithParameters", copy_with_parameters,                                  \
      CommandListAppendMemoryCopyWithParameters,                                                             \
      (ze_command_list_handle_t list, void *destination, const void *source, size_t size, const void *next,  \
       uint32_t wait_count, ze_event_handle_t *waits, ze_event_handle_t signal),                             \
      (list, destination, source, size, next, wait_count, waits, signal), zt__copy_with_parameters_params,   \
      &list, &destination, &source, &size, &next, &signal, &wait_count, &waits)                              \
    X("zexCommandListAppendMemoryFillWithParameters", fill_with_parameters,                                  \
      CommandListAppendMemoryFillWithParameters,                                                             \
      (ze_command_list_handle_t list, void *destination, const void *pattern, size_t pattern_size,           \
       size_t size, const void *next, ze_event_handle_t signal, uint32_t wait_count,                         \
       ze_event_handle_t *waits),                                                                            \
      (list, destination, pattern, pattern_size, size, next, signal, wait_count, waits),                     \
      zt__fill_with_parameters_params, &list, &destination, &pattern, &pattern_size, &size, &next, &signal,  \
      &wait_count, &waits)                                                                                   \
    X("zeCommandListAppendHostFunction", append_host_function, CommandListAppendHostFunction,                \
      (ze_command_list_handle_t list, void (*function)(void *), void *user, const void *next,                \
       ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits),                             \
      (list, function, user, next, signal, wait_count, waits), zt__host_function_params, &list, &function,   \
      &user, &next, &signal, &wait_count, &waits)                                                            \
    X("zexCounterBasedEventCreate2", create_event2, EventCounterBasedCreate,                                 \
      (ze_context_handle_t context, ze_device_handle_t device, const zt__event_counter_based_desc *desc,     \
       ze_event_handle_t *event),                                                                            \
      (context, device, desc, event), zt__event_counter_based_create_params, &context, &device, &desc,       \
      &event)                                                                                                \
    X("zeCommandListBeginGraphCaptureExp", begin_capture, CommandListBeginGraphCaptureExt,                   \
      (ze_command_list_handle_t list, const void *next), (list, next), zt__list_params, &list)               \
    X("zeCommandListBeginCaptureIntoGraphExp", begin_capture_into, CommandListBeginCaptureIntoGraphExt,      \
      (ze_command_list_handle_t list, void *graph, const void *next), (list, graph, next), zt__list_params,  \
      &list)                                                                                                 \
    X("zeCommandListEndGraphCaptureExp", end_capture, CommandListEndGraphCaptureExt,                         \
      (ze_command_list_handle_t list, void **graph, const void *next), (list, graph, next),                  \
      zt__end_capture_params, &list, &next, &graph)                                                          \
    X("zeCommandListInstantiateGraphExp", instantiate_graph, GraphInstantiateExt,                            \
      (void *graph, void **executable, const void *next), (graph, executable, next),                         \
      zt__instantiate_graph_params, &graph, &next, &executable)                                              \
    X("zeCommandListAppendGraphExp", append_graph, CommandListAppendGraphExt,                                \
      (ze_command_list_handle_t list, void *graph, const void *next, ze_event_handle_t signal,               \
       uint32_t wait_count, ze_event_handle_t *waits),                                                       \
      (list, graph, next, signal, wait_count, waits), zt__append_graph_params, &list, &graph, &next,         \
      &signal, &wait_count, &waits)                                                                          \
    X("zeGraphDestroyExp", destroy_graph, GraphDestroyExt, (void *graph), (graph), zt__graph_params, &graph) \
    X("zeExecutableGraphDestroyExp", destroy_executable, ExecutableGraphDestroyExt, (void *graph), (graph),  \
      zt__graph_params, &graph)

/* The driver's functions. Guarded by the mutex of the dispatcher until they are known; then they do not change. */
static struct {
    zt__launch_variable_fn variable;
    zt__append_operation_fn operation;
    zt__wait_on_memory_fn wait_on_memory;
    zt__wait_on_memory64_fn wait_on_memory64;
    zt__create_event_fn create_event;
#define X(name, member, call, declared, passed, type, ...) ze_result_t(ZE_APICALL *member) declared;
    ZT__OBSERVED_FUNCTIONS(X)
#undef X
} zt__driver_functions;

/* ---- what the application calls -------------------------------------------------------------------------- */

/* Waits for memory are not launches, but signal events. Writes to memory signal none, and are not observed. */

static ze_result_t ZE_APICALL zt__wait_on_memory(ze_command_list_handle_t list, void *desc, void *memory,
                                                 uint32_t value, ze_event_handle_t signal) {
    zt__note_signal_by_pointer(list, signal);
    return zt__driver_functions.wait_on_memory(list, desc, memory, value, signal);
}

static ze_result_t ZE_APICALL zt__wait_on_memory64(ze_command_list_handle_t list, void *desc, void *memory,
                                                   uint64_t value, ze_event_handle_t signal) {
    zt__note_signal_by_pointer(list, signal);
    return zt__driver_functions.wait_on_memory64(list, desc, memory, value, signal);
}

/* Counter-based events: the older function creates them without time stamps. Those that another process has created are
   not observed, as those of the loader's function are not. */

static ze_result_t ZE_APICALL zt__create_event(ze_context_handle_t context, ze_device_handle_t device,
                                               uint64_t *device_address, uint64_t *host_address,
                                               uint64_t value, const ze_event_desc_t *desc,
                                               ze_event_handle_t *event) {
    const zt__event_counter_based_desc *unstamped = NULL;
    zt__event_counter_based_create_params parameters = {&context, &device, &unstamped, &event};
    void *instance;
    ze_result_t result;
    zt__begin_by_pointer(ZT__CALL_EventCounterBasedCreate, &parameters, &instance);
    result =
        zt__driver_functions.create_event(context, device, device_address, host_address, value, desc, event);
    zt__end_by_pointer(result, &instance);
    return result;
}

/* What the following append is not known well enough to be measured. */

static ze_result_t ZE_APICALL zt__launch_variable(ze_command_list_handle_t list, ze_kernel_handle_t kernel,
                                                  void *variable, ze_event_handle_t signal,
                                                  uint32_t wait_count, ze_event_handle_t *waits) {
    ze_result_t result;
    zt__note_signal_by_pointer(list, signal);
    result = zt__driver_functions.variable(list, kernel, variable, signal, wait_count, waits);
    if (result == ZE_RESULT_SUCCESS) {
        zt__count_by_pointer(ZT_UNMEASURED_VARIABLE);
    }
    return result;
}

static ze_result_t ZE_APICALL zt__append_operation(ze_command_list_handle_t list, const void *next,
                                                   ze_event_handle_t signal, uint32_t wait_count,
                                                   ze_event_handle_t *waits) {
    ze_result_t result;
    zt__note_signal_by_pointer(list, signal);
    result = zt__driver_functions.operation(list, next, signal, wait_count, waits);
    if (result == ZE_RESULT_SUCCESS) {
        zt__count_by_pointer(ZT_UNMEASURED_OPERATION);
    }
    return result;
}

#define X(name, member, call, declared, passed, type, ...)                                                   \
    static ze_result_t ZE_APICALL zt__##member declared {                                                    \
        type parameters = {__VA_ARGS__};                                                                     \
        void *instance;                                                                                      \
        ze_result_t result;                                                                                  \
        zt__begin_by_pointer(ZT__CALL_##call, &parameters, &instance);                                       \
        result = zt__driver_functions.member passed;                                                         \
        zt__end_by_pointer(result, &instance);                                                               \
        return result;                                                                                       \
    }
ZT__OBSERVED_FUNCTIONS(X)
#undef X

/* ---- pointers -------------------------------------------------------------------------------------------- */

/* Puts `own` in the place of the driver's function at `place`, which is stored at `known`. A second driver may have
   another function of the name, of which launches are not seen. Returns 0 then. */
static int zt__exchange_function(void **place, void *known, void *own) {
    void *before;
    int is_same;
    zt__lock(&zt__dispatch_mutex);
    memcpy(&before, known, sizeof before);
    if (!before) {
        memcpy(known, place, sizeof *place);
    }
    is_same = !before || before == *place;
    zt__unlock(&zt__dispatch_mutex);
    if (is_same) {
        zt__keep_loaded();
        *place = own;
    }
    return is_same;
}

ZT__PRIVATE void zt__wrap_extension(zt__tracer *tracer,
                                    const ze_driver_get_extension_function_address_params_t *parameters) {
    const char *name = *parameters->pname;
    void **place = *parameters->pppFunctionAddress;
    int is_wrapped = 1;
    if (!name || !place || !*place) {
        return;
    }
#define ZT__WRAP(function, member, wrapper)                                                                  \
    if (strcmp(name, function) == 0) {                                                                       \
        void *pointer;                                                                                       \
        memcpy(&pointer, &wrapper, sizeof pointer);                                                          \
        is_wrapped = zt__exchange_function(place, &zt__driver_functions.member, pointer);                    \
    }
#define X(function, member, own, type)                                                                       \
    {                                                                                                        \
        type wrapper = own;                                                                                  \
        ZT__WRAP(function, member, wrapper)                                                                  \
    }
    X("zexCommandListAppendVariableLaunchKernel", variable, zt__launch_variable, zt__launch_variable_fn)
    X("zexCommandListAppendCustomOperation", operation, zt__append_operation, zt__append_operation_fn)
    X("zexCommandListAppendWaitOnMemory", wait_on_memory, zt__wait_on_memory, zt__wait_on_memory_fn)
    X("zexCommandListAppendWaitOnMemory64", wait_on_memory64, zt__wait_on_memory64, zt__wait_on_memory64_fn)
    X("zexCounterBasedEventCreate", create_event, zt__create_event, zt__create_event_fn)
#undef X
#define X(function, member, call, declared, passed, type, ...)                                               \
    {                                                                                                        \
        ze_result_t(ZE_APICALL *wrapper) declared = zt__##member;                                            \
        ZT__WRAP(function, member, wrapper)                                                                  \
    }
    ZT__OBSERVED_FUNCTIONS(X)
#undef X
#undef ZT__WRAP
    if (!is_wrapped) {
        zt__store(&tracer->has_unseen_pointers, 1);
    }
}

#endif
