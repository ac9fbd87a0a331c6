/* Command graphs: what is appended to a list while it is captured is recorded instead of run, and who waits for it joins
   the capture. An executable graph runs what was recorded, as often as it is appended. A graph cannot have other graphs
   inside. The functions of drivers from before the extension was in the loader end on Exp. */
#include "work.h"

/* What was captured is on a recorded list of the graph's own, in the order of the appends. Lists that joined are on it,
   too, so that an execution may order more than the capture did. */
struct sg_graph {
    sg_object object;
    sg_list *recorded; /* NULL: nothing was captured yet */
    const sg_list *primary;
    _Atomic bool is_capturing;
};

typedef struct executable {
    sg_object object;
    sg_graph *graph;
} executable;

/* ze_graph_handle_t, which the oldest headers do not have, is a pointer. */
static sg_graph *capturing(sg_captured by) {
    return by.graph && sg_object_is(&by.graph->object, by.serial) && atomic_load(&by.graph->is_capturing)
               ? by.graph
               : NULL;
}

static sg_graph *graph_of(void *handle) {
    return sg_object_check(handle, SG_GRAPH);
}

/* ---- capture ------------------------------------------------------------------------------------------- */

sg_list *sg_graph_captures(sg_list *list, const sg_append *append) {
    for (uint32_t i = 0; i < append->wait_count && !capturing(list->captured); ++i) {
        const sg_event *event = sg_event_of(append->waits[i]);
        if (event && list->is_immediate && capturing(event->captured))
            list->captured = event->captured;
    }
    sg_event *signal = append->signal ? sg_event_of(append->signal) : NULL;
    sg_graph *graph = capturing(list->captured);
    if (signal && (graph || signal->captured.graph))
        signal->captured = list->captured;
    return graph ? graph->recorded : NULL;
}

static ze_result_t begin_capture(sg_list *list, sg_graph *graph) {
    const ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC,
                                         .commandQueueGroupOrdinal = list->ordinal,
                                         .flags = list->was_made_in_order ? SG_LIST_IN_ORDER : 0};
    ze_command_list_handle_t recorded;
    ze_result_t result = sg_zeCommandListCreate((ze_context_handle_t)list->object.parent,
                                                (ze_device_handle_t)list->device, &desc, &recorded);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    graph->recorded = sg_list_of(recorded);
    graph->primary = list;
    atomic_store(&graph->is_capturing, true);
    list->captured = (sg_captured){graph, graph->object.serial};
    return ZE_RESULT_SUCCESS;
}

static ze_result_t check_capture(const sg_list *list, const void *extension) {
    SG_NEED_HANDLE(list);
    if (!list->is_immediate)
        return ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE;
    if (extension)
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    return list->synchronous || capturing(list->captured) ? ZE_RESULT_ERROR_INVALID_ARGUMENT
                                                          : ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeCommandListBeginGraphCaptureExt(ze_command_list_handle_t handle, const void *extension) {
    sg_list *list = sg_list_of(handle);
    ze_result_t result = check_capture(list, extension);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    sg_graph *graph = sg_object_create(SG_GRAPH, sizeof *graph, NULL);
    if (!graph)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    result = begin_capture(list, graph);
    if (result != ZE_RESULT_SUCCESS)
        sg_object_destroy(graph);
    return result;
}

ze_result_t sg_zeCommandListBeginCaptureIntoGraphExt(ze_command_list_handle_t handle, void *graph_handle,
                                                     const void *extension) {
    sg_list *list = sg_list_of(handle);
    sg_graph *graph = graph_of(graph_handle);
    ze_result_t result = check_capture(list, extension);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    SG_NEED_HANDLE(graph);
    return graph->recorded ? ZE_RESULT_ERROR_INVALID_ARGUMENT : begin_capture(list, graph);
}

ze_result_t sg_zeCommandListIsGraphCaptureEnabledExt(ze_command_list_handle_t handle) {
    enum { QUERY_TRUE = 0x78000022, QUERY_FALSE = 0x78000023 };
    const sg_list *list = sg_list_of(handle);
    SG_NEED_HANDLE(list);
    return (ze_result_t)(capturing(list->captured) ? QUERY_TRUE : QUERY_FALSE);
}

ze_result_t sg_zeCommandListEndGraphCaptureExt(ze_command_list_handle_t handle, const void *extension,
                                               void **out_graph) {
    const sg_list *list = sg_list_of(handle);
    SG_NEED_HANDLE(list);
    SG_NEED_POINTER(out_graph);
    sg_graph *graph = capturing(list->captured);
    if (extension)
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    if (!graph || graph->primary != list)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    atomic_store(&graph->is_capturing, false);
    *out_graph = graph;
    return sg_zeCommandListClose((ze_command_list_handle_t)graph->recorded);
}

/* ---- graphs -------------------------------------------------------------------------------------------- */

ze_result_t sg_zeGraphCreateExt(ze_context_handle_t context, const void *extension, void **out_graph) {
    SG_NEED_HANDLE(sg_context_of(context));
    SG_NEED_POINTER(out_graph);
    if (extension)
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    *out_graph = sg_object_create(SG_GRAPH, sizeof(sg_graph), NULL);
    return *out_graph ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

ze_result_t sg_zeGraphInstantiateExt(void *handle, const void *extension, void **out_executable) {
    sg_graph *graph = graph_of(handle);
    SG_NEED_HANDLE(graph);
    SG_NEED_POINTER(out_executable);
    if (extension)
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    if (!graph->recorded || atomic_load(&graph->is_capturing))
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    executable *made = sg_object_create(SG_EXECUTABLE_GRAPH, sizeof *made, graph);
    if (!made)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    made->graph = graph;
    *out_executable = made;
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeCommandListAppendGraphExt(ze_command_list_handle_t handle, void *executable_handle,
                                           const void *extension, ze_event_handle_t signal,
                                           uint32_t wait_count, ze_event_handle_t *waits) {
    enum { GRAPH_CAPTURE_UNSUPPORTED = 0x78000025 };
    const executable *graph = sg_object_check(executable_handle, SG_EXECUTABLE_GRAPH);
    const sg_list *list = sg_list_of(handle);
    SG_NEED_HANDLE(list);
    SG_NEED_HANDLE(graph);
    if (extension)
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    if (capturing(list->captured))
        return (ze_result_t)GRAPH_CAPTURE_UNSUPPORTED;
    ze_command_list_handle_t recorded = (ze_command_list_handle_t)graph->graph->recorded;
    return sg_zeCommandListImmediateAppendCommandListsExp(handle, 1, &recorded, signal, wait_count, waits);
}

ze_result_t sg_zeExecutableGraphDestroyExt(void *handle) {
    return sg_object_end(handle, SG_EXECUTABLE_GRAPH);
}

ze_result_t sg_zeGraphDestroyExt(void *handle) {
    const sg_graph *graph = graph_of(handle);
    ze_result_t result = ZE_RESULT_SUCCESS;
    if (graph && graph->recorded)
        result = sg_zeCommandListDestroy((ze_command_list_handle_t)graph->recorded);
    return result == ZE_RESULT_SUCCESS ? sg_object_end(handle, SG_GRAPH) : result;
}

/* ---- the same for those who ask the driver ------------------------------------------------------------- */

ze_result_t sg_zeGraphCreateExp(ze_context_handle_t context, void **out_graph, void *extension) {
    return sg_zeGraphCreateExt(context, extension, out_graph);
}

ze_result_t sg_zeCommandListBeginGraphCaptureExp(ze_command_list_handle_t list, void *extension) {
    return sg_zeCommandListBeginGraphCaptureExt(list, extension);
}

ze_result_t sg_zeCommandListBeginCaptureIntoGraphExp(ze_command_list_handle_t list, void *graph,
                                                     void *extension) {
    return sg_zeCommandListBeginCaptureIntoGraphExt(list, graph, extension);
}

ze_result_t sg_zeCommandListEndGraphCaptureExp(ze_command_list_handle_t list, void **out_graph,
                                               void *extension) {
    return sg_zeCommandListEndGraphCaptureExt(list, extension, out_graph);
}

ze_result_t sg_zeCommandListInstantiateGraphExp(void *graph, void **out_executable, void *extension) {
    return sg_zeGraphInstantiateExt(graph, extension, out_executable);
}

ze_result_t sg_zeCommandListAppendGraphExp(ze_command_list_handle_t list, void *graph, void *extension,
                                           ze_event_handle_t signal, uint32_t wait_count,
                                           ze_event_handle_t *waits) {
    return sg_zeCommandListAppendGraphExt(list, graph, extension, signal, wait_count, waits);
}

ze_result_t sg_zeExecutableGraphDestroyExp(void *graph) {
    return sg_zeExecutableGraphDestroyExt(graph);
}

ze_result_t sg_zeGraphDestroyExp(void *graph) {
    return sg_zeGraphDestroyExt(graph);
}
