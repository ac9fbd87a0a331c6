/* Graph capture: what is appended to a list meanwhile does not run, and who waits for it joins the capture.
   Graphs cannot be instantiated, so that what was captured never runs: it is checked and dropped. */
#include "work.h"

struct sg_graph {
    sg_object object;
    const sg_list *primary;
    _Atomic bool is_capturing;
};

/* ze_graph_handle_t, which the oldest headers do not have, is a pointer. */
static sg_graph *capturing(sg_captured by) {
    return by.graph && sg_object_is(&by.graph->object, by.serial) && atomic_load(&by.graph->is_capturing)
               ? by.graph
               : NULL;
}

bool sg_graph_captures(sg_list *list, const sg_append *append) {
    for (uint32_t i = 0; i < append->wait_count && !capturing(list->captured); ++i) {
        const sg_event *event = sg_event_of(append->waits[i]);
        if (event && list->is_immediate && capturing(event->captured))
            list->captured = event->captured;
    }
    sg_event *signal = append->signal ? sg_event_of(append->signal) : NULL;
    if (signal && (capturing(list->captured) || signal->captured.graph))
        signal->captured = list->captured;
    return capturing(list->captured) != NULL;
}

ze_result_t sg_zeCommandListBeginGraphCaptureExt(ze_command_list_handle_t handle, const void *extension) {
    sg_list *list = sg_list_of(handle);
    SG_NEED_HANDLE(list);
    if (!list->is_immediate)
        return ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE;
    if (extension)
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    if (list->synchronous || capturing(list->captured))
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    sg_graph *graph = sg_object_create(SG_GRAPH, sizeof *graph, NULL);
    if (!graph)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    graph->primary = list;
    atomic_store(&graph->is_capturing, true);
    list->captured = (sg_captured){graph, graph->object.serial};
    return ZE_RESULT_SUCCESS;
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
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeGraphDestroyExt(void *graph) {
    return sg_object_end(graph, SG_GRAPH);
}
