/* Graphs: what was captured into them, and the names of their regions. */

#include "tracer/graphs.h"

#include "base/compiler.h"
#include "base/map.h"
#include "base/platform.h"
#include "base/programs.h"
#include "base/text.h"
#include "modules/loaded.h"
#include "regions/names.h"
#include "tracer/calls.h"
#include "tracer/frames.h"
#include "tracer/kernel_names.h"
#include "tracer/tracer.h"
#include "tracer/unmeasured.h"

#ifdef ZETOOLS_TRACER

static zt__known_graph *zt__find_graph(const zt__tracer *tracer, const void *handle) {
    return (zt__known_graph *)zt__map_find(&tracer->graphs, &handle, sizeof handle);
}

/* ---- what is captured ------------------------------------------------------------------------------------- */

static void zt__add_launch(zt__graph_content *content, const zt__kernel_name *name) {
    uint32_t i = 0;
    while (i < content->kernel_count && content->kernels[i].name != name) {
        i++;
    }
    content->is_selected |= name->is_selected;
    if (i == ZT__GRAPH_KERNELS) {
        content->other_launches++;
        return;
    }
    if (i == content->kernel_count) {
        content->kernels[i].name = name;
        content->kernel_count++;
    }
    content->kernels[i].launches++;
}

ZT__PRIVATE void zt__after_command(zt__frame *frame) {
    zt__tracer *tracer = frame->tracer;
    const zt__command *command = &frame->command;
    ze_command_list_handle_t captured_by = command->list;
    zt__known_list *list;
    int is_captured;
    uint32_t i;
    if (frame->unmeasured == ZT_UNMEASURED_COUNT) {
        return;
    }
    zt__lock(&tracer->mutex);
    list = zt__find_known_list(tracer, command->list);
    is_captured = list && list->is_captured;
    if (!is_captured && tracer->captures > 0 && tracer->query_capture) { /* it may have joined a capture */
        captured_by = tracer->captures == 1 ? tracer->last_captured : NULL;
        zt__unlock(&tracer->mutex);
        is_captured = (uint32_t)tracer->query_capture(command->list) == ZT__QUERY_TRUE;
        zt__lock(&tracer->mutex);
    }
    if (is_captured) {
        zt__change_cause(tracer, frame->unmeasured, ZT_UNMEASURED_CAPTURED);
    }
    zt__unlock(&tracer->mutex);

    for (i = 0; is_captured && i < command->kernel_count; i++) {
        const zt__kernel_name *name =
            zt__name_of_kernel(tracer, zt__launched_kernel(frame, command, i), i > 0 || frame->knows_kernel);
        zt__lock(&tracer->mutex);
        list = zt__find_known_list(tracer, captured_by);
        if (name && list && list->is_captured) {
            zt__add_launch(&list->content, name);
        }
        zt__unlock(&tracer->mutex);
    }
}

ZT__PRIVATE void zt__store_content(zt__tracer *tracer, ze_command_list_handle_t list, const void *graph) {
    zt__known_graph *record =
        (zt__known_graph *)zt__find_or_add_record(&tracer->loaded, &tracer->graphs, graph, sizeof *record);
    const zt__known_list *known = zt__find_known_list(tracer, list);
    if (record && known) {
        record->content = known->content;
    }
}

/* ---- names ------------------------------------------------------------------------------------------------ */

/* Writes " (saxpy, reduce x3, +5 launches)", or nothing if no kernel is known. */
static void zt__list_kernels(const zt__graph_content *content, char *text, size_t room) {
    enum { LONGEST = 24 };
    size_t used = 0;
    uint32_t i;
    text[0] = 0;
    for (i = 0; i < content->kernel_count; i++) {
        char *demangled;
        const char *name = zt__show_name(zt__shown_name(content->kernels[i].name->text), &demangled);
        used += (size_t)snprintf(text + used, room - used, "%s%.*s%s", i ? ", " : " (", (int)LONGEST, name,
                                 strlen(name) > LONGEST ? "..." : "");
        if (content->kernels[i].launches > 1) {
            used +=
                (size_t)snprintf(text + used, room - used, " x%u", (unsigned)content->kernels[i].launches);
        }
        free(demangled);
    }
    if (content->kernel_count) {
        snprintf(text + used, room - used, content->other_launches ? ", +%u launch%s)" : ")",
                 (unsigned)content->other_launches, content->other_launches == 1 ? "" : "es");
    }
}

/* Names an executable graph by the order in which they were instantiated, and by its kernels. If one with the same
   kernels was destroyed, it has that name: a program that instantiates its graph again has one region. No mutex is
   held. Returns NULL without memory. */
static zt__kernel_name *zt__name_graph(zt__tracer *tracer, const void *executable,
                                       const zt__graph_content *content) {
    char kernels[256], text[sizeof kernels + 32];
    zt__kernel_name *name = NULL;
    zt__known_graph *record;
    uint32_t i, number = 0;
    zt__list_kernels(content, kernels, sizeof kernels);
    zt__lock(&tracer->mutex);
    for (i = 0; content->kernel_count && i < tracer->kernel_names.capacity; i++) {
        zt__kernel_name *known = (zt__kernel_name *)tracer->kernel_names.entries[i].value;
        if (known && known->is_free && zt__ends_with(known->text, kernels, strcmp) &&
            (!name || known->graph < name->graph)) {
            name = known;
        }
    }
    if (name) {
        name->is_free = 0;
    } else {
        number = ++tracer->graph_count;
    }
    zt__unlock(&tracer->mutex);

    if (!name) {
        snprintf(text, sizeof text, "graph %u%s", (unsigned)number, kernels);
        name = zt__find_or_add_name(tracer, text, 0);
    }
    zt__lock(&tracer->mutex);
    if (name && number) {
        name->graph = number;
        name->is_selected = content->is_selected || !content->kernel_count;
    }
    record = name ? (zt__known_graph *)zt__find_or_add_record(&tracer->loaded, &tracer->graphs, executable,
                                                              sizeof *record)
                  : NULL;
    if (record) {
        record->name = name;
    }
    zt__unlock(&tracer->mutex);
    return name;
}

ZT__PRIVATE void zt__after_graph_instantiate(zt__frame *frame) {
    const zt__instantiate_graph_params *p = ZT__PARAMETERS(frame, zt__instantiate_graph_params);
    const zt__known_graph *graph;
    zt__graph_content content;
    memset(&content, 0, sizeof content);
    zt__lock(&frame->tracer->mutex);
    graph = zt__find_graph(frame->tracer, *p->phGraph);
    if (graph) {
        content = graph->content;
    }
    zt__unlock(&frame->tracer->mutex);
    zt__name_graph(frame->tracer, **p->pphExecutableGraph, &content);
}

ZT__PRIVATE void zt__before_graph_destroy(zt__frame *frame) {
    const void *handle = *ZT__PARAMETERS(frame, zt__graph_params)->phGraph;
    const zt__known_graph *graph;
    zt__lock(&frame->tracer->mutex);
    graph = zt__find_graph(frame->tracer, handle);
    if (graph && graph->name) {
        graph->name->is_free = 1;
    }
    zt__unlock(&frame->tracer->mutex);
    zt__forget_handle(frame->tracer, &frame->tracer->graphs, handle);
}

ZT__PRIVATE zt__kernel_name *zt__name_of_graph(zt__tracer *tracer, const void *executable) {
    const zt__known_graph *graph = zt__find_graph(tracer, executable);
    zt__kernel_name *name = graph ? graph->name : NULL;
    zt__graph_content unknown;
    if (!name) {
        memset(&unknown, 0, sizeof unknown);
        zt__unlock(&tracer->mutex);
        name = zt__name_graph(tracer, executable, &unknown);
        zt__lock(&tracer->mutex);
    }
    return name;
}

#endif
