/* Launches and copies: which are measured, and how. */

#include "tracer/launches.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/map.h"
#include "base/platform.h"
#include "base/shared.h"
#include "modules/loaded.h"
#include "regions/names.h"
#include "regions/probes.h"
#include "regions/profiler.h"
#include "regions/regions.h"
#include "tracer/calls.h"
#include "tracer/events.h"
#include "tracer/frames.h"
#include "tracer/graphs.h"
#include "tracer/kernel_names.h"
#include "tracer/lists.h"
#include "tracer/seen_modules.h"
#include "tracer/tracer.h"
#include "tracer/unmeasured.h"

#ifdef ZETOOLS_TRACER

/* How a command without metrics is measured: by the first of these that fits.

     BARRIERS  a list that is not known; a wait, which signals nothing; or a graph, because the time stamps of its event
               need not be those of all that it runs
     OWN       no event of the application: the command signals the event of the probe
     OWN       a list that is in order, if the application does not read time stamps of its event: the command
               signals the event of the probe, and a signal of the application's follows
     BORROWED  the application's event can be borrowed (events.c): the command signals it as without the tracer. On a list
               that is in order, a signal of the event of the probe follows, and shows the end
     BARRIERS  all others: time stamps between barriers, before and after the command

   With metrics, queries take the place of the time stamps between barriers. */

/* What zt__select_command has decided about a command. */
typedef struct zt__selected_command {
    zt_profiler *profiler; /* NULL: the command is not measured */
    const char *region;
    zt__known_list list; /* a copy */
    int has_metrics;     /* else it is measured with times alone */
    int is_once;         /* it signals its event once */
} zt__selected_command;

/* ---- the event of the probe ------------------------------------------------------------------------------- */

static ze_result_t zt__read_own_event(zt_profiler *profiler, zt__probe *probe, int has_ended,
                                      zt__sample_times *times, const char **call) {
    (void)has_ended; /* the status of an event is asked before its time stamps */
    if (!times) {
        *call = "zeEventQueryStatus";
        return zeEventQueryStatus(probe->event);
    }
    times->is_kernel = 1;
    return zt__query_kernel_stamps(profiler, probe->event, times, call);
}

static const zt__way zt__by_own_event = {zt__read_own_event, zt__reset_probe, 0};

/* ---- which commands --------------------------------------------------------------------------------------- */

/* Returns whether a barrier or a wait could only be measured between barriers, which would measure themselves. The
   mutex is held, and unlocked meanwhile. */
static int zt__needs_barriers(const zt__frame *frame, const zt__known_list *list) {
    const ze_event_handle_t *signal = frame->command.signal;
    int can_be_borrowed;
    if (list->is_in_order || (signal && !*signal && list->kind != ZT__LIST_UNKNOWN)) {
        return 0;
    }
    if (!signal || list->kind == ZT__LIST_UNKNOWN) {
        return 1;
    }
    zt__unlock(&frame->tracer->mutex);
    can_be_borrowed = zt__can_be_borrowed(frame->tracer, *signal);
    zt__lock(&frame->tracer->mutex);
    return !can_be_borrowed;
}

/* Copies what is known of the list of a command. The mutex is held, and unlocked while the driver is asked about
   a list that was created before the start. */
static void zt__copy_list(zt__tracer *tracer, ze_command_list_handle_t handle, zt__known_list *copy) {
    const zt__known_list *known = zt__find_known_list(tracer, handle);
    if (!known) {
        zt__unlock(&tracer->mutex);
        zt__query_unknown_list(tracer, handle);
        zt__lock(&tracer->mutex);
        known = zt__find_known_list(tracer, handle);
    }
    if (known) {
        *copy = *known;
    }
}

/* Returns the name of the region of a command, or NULL without memory, and copies what is known of its kernel. The
   mutex is held, and unlocked if the name is new. */
static zt__kernel_name *zt__name_of_command(zt__frame *frame) {
    zt__tracer *tracer = frame->tracer;
    const zt__command *command = &frame->command;
    const zt__loaded_kernel *known;
    zt__kernel_name *name;
    const char *call = zt__call_name(frame->call) + strlen("zeCommandListAppend");
    uint32_t i;
    if (zt__kind_of_call(frame->call) == ZT__KIND_GRAPH) {
        return zt__name_of_graph(tracer, *ZT__PARAMETERS(frame, zt__append_graph_params)->phGraph);
    }
    if (!command->kernel) {
        name = (zt__kernel_name *)zt__map_find(&tracer->kernel_names, call, strlen(call));
        if (!name) {
            zt__unlock(&tracer->mutex);
            name = zt__find_or_add_name(tracer, call, 0);
            zt__lock(&tracer->mutex);
        }
        return name;
    }
    known = zt__find_loaded_kernel(tracer, command->kernel);
    if (known && known->name && frame->knows_kernel && command->kernel_count == 1 &&
        !known->may_be_destroyed && (known->is_placed || !zt__load(&tracer->loaded.is_sampled))) {
        frame->kernel = *known;
        return known->name;
    }
    zt__unlock(&tracer->mutex);
    for (i = frame->knows_kernel ? 0 : 1; i < command->kernel_count; i++) {
        /* It may have been created before the start. */
        zt__observe_kernel(tracer, zt__launched_kernel(frame, command, i));
    }
    name = zt__name_of_kernel(tracer, command->kernel, frame->knows_kernel);
    if (name && command->kernel_count > 1) { /* the name of the first, and the number of others */
        name = zt__find_or_add_name(tracer, name->text, command->kernel_count - 1);
    }
    zt__lock(&tracer->mutex);
    known = frame->knows_kernel ? zt__find_loaded_kernel(tracer, command->kernel) : NULL;
    if (known) {
        frame->kernel = *known;
    }
    return name;
}

/* Returns why a command cannot be measured, or ZT_UNMEASURED_COUNT: it can. `profiler` is NULL if the list is not
   measured. The mutex is held, and unlocked while the driver is asked. */
static zt_unmeasured zt__find_obstacle(const zt__frame *frame, const zt__known_list *list,
                                       const zt_profiler *profiler) {
    zt__tracer *tracer = frame->tracer;
    const zt__command *command = &frame->command;
    uint32_t is_captured = ZT__QUERY_FALSE;
    if (list->is_captured) {
        return ZT_UNMEASURED_CAPTURED;
    }
    if (!profiler && list->is_of_unknown_device) {
        return ZT_UNMEASURED_EARLY_LIST;
    }
    if (!profiler) { /* a device whose context is destroyed has no launches */
        return list->device ? ZT_UNMEASURED_NOT_OPENED : ZT_UNMEASURED_OTHER_DEVICE;
    }
    if (list->is_cloneable) {
        return ZT_UNMEASURED_CLONEABLE;
    }
    if (list->has_command_ids) {
        return ZT_UNMEASURED_CHANGEABLE;
    }
    if (list->is_copy_only &&
        profiler->metric_count > 0) { /* it can write time stamps, but not execute queries */
        return ZT_UNMEASURED_COPY_ENGINE;
    }
    if (tracer->captures == 0) {
        return ZT_UNMEASURED_COUNT;
    }

    /* What goes into a graph may run any number of times. A list also joins the capture of another by waiting
       for one of its events. So while there is a capture, the driver is queried, and a command that waits may
       be the one with which its list joins. */
    if (!tracer->query_capture) {
        return ZT_UNMEASURED_CAPTURE_UNKNOWN;
    }
    zt__unlock(&tracer->mutex);
    is_captured = (uint32_t)tracer->query_capture(command->list);
    zt__lock(&tracer->mutex);
    if (is_captured != ZT__QUERY_FALSE) {
        return is_captured == ZT__QUERY_TRUE ? ZT_UNMEASURED_CAPTURED : ZT_UNMEASURED_CAPTURE_UNKNOWN;
    }
    return *command->wait_count > 0 ? ZT_UNMEASURED_MAY_JOIN : ZT_UNMEASURED_COUNT;
}

/* Counts a command, and decides whether and how it is measured. The list is checked before the filter, so that
   launches elsewhere do not count for `every` and `limit`. If `is_complete` is 0, the driver will refuse it. The
   last decision and the counts are made while the mutex is locked once. So zt_trace_stop, which sets
   `is_stopping` under it, either finds `has_region` set and waits for this command, or the command is neither
   counted nor measured. No mutex is held. `selected` is zeroed. */
static void zt__select_command(zt__frame *frame, int is_complete, zt__selected_command *selected) {
    zt__tracer *tracer = frame->tracer;
    const zt__command *command = &frame->command;
    const zt__known_list *list = &selected->list;
    zt__traced_device *device;
    zt_profiler *profiler;
    zt__kernel_name *name = NULL;
    zt_unmeasured obstacle;
    int is_sync = zt__kind_of_call(frame->call) == ZT__KIND_SYNC, is_selected, is_within;
    int is_graph = zt__kind_of_call(frame->call) == ZT__KIND_GRAPH;
    zt__lock(&tracer->mutex);
    if (is_complete) {
        zt__copy_list(tracer, command->list, &selected->list);
        selected->is_once = zt__signals_once(tracer, list);
    }
    device = list->device;
    if (device && !tracer->measured[frame->call] && !tracer->is_stopping) {
        device->copies_seen++; /* which an empty report of zt_auto mentions */
    }
    profiler = zt__is_measured(device) ? device->profiler : NULL;
    frame->counted_for = is_complete && command->kernel ? profiler : NULL;
    if (!tracer->measured[frame->call] || (is_sync && (!profiler || profiler->passes[0].group_count))) {
        zt__unlock(&tracer->mutex);
        return;
    }

    obstacle = is_complete ? zt__find_obstacle(frame, list, profiler) : ZT_UNMEASURED_NULL;
    if (obstacle == ZT_UNMEASURED_COUNT) {
        name = zt__name_of_command(frame);
        obstacle = name ? ZT_UNMEASURED_COUNT : ZT_UNMEASURED_NO_MEMORY;
        selected->has_metrics = name && profiler->metric_count > 0;
    }
    if (name && is_sync && zt__needs_barriers(frame, list)) {
        name = NULL;
        obstacle = ZT_UNMEASURED_OUT_OF_ORDER;
    }

    if (tracer->is_stopping) {
        zt__unlock(&tracer->mutex);
        return;
    }
    frame->unmeasured = obstacle;
    if (!name) {
        zt__count_unmeasured(tracer, obstacle);
        zt__unlock(&tracer->mutex);
        return;
    }
    tracer->counts.launches++;
    /* Names choose kernels, and graphs by their kernels, but not copies. */
    is_selected = (name->is_selected || (!command->kernel && !is_graph));
    is_selected = is_selected && !zt__is_paused(ZT__PAUSED_LAUNCHES);
    is_within = is_selected && name->seen++ % tracer->every == 0 &&
                (!tracer->limit || name->measured < tracer->limit);
    if (!is_selected || (!is_within && !selected->has_metrics)) {
        tracer->counts.filtered++;
    } else {
        tracer->counts.measured++;
        if (is_within) {
            name->measured++;
        } else {
            tracer->counts.times_alone++;
        }
        selected->has_metrics = is_within && selected->has_metrics;
        selected->profiler = profiler;
        selected->region = name->text;
        zt__store(&frame->has_region, 1);
    }
    zt__unlock(&tracer->mutex);
}

/* ---- before and after the call ---------------------------------------------------------------------------- */

/* Begins a command between barriers or queries. A wait for the events of the command is appended before, so that
   the GPU time is that of the command alone, which then need not wait itself. If the driver refuses the command,
   the wait stays on the list. A command without an event to signal is a wait itself. */
static void zt__begin_between_barriers(zt__frame *frame, const zt__selected_command *selected,
                                       zt_serialised cause) {
    zt__tracer *tracer = frame->tracer;
    const zt__command *command = &frame->command;
    uint32_t count = command->signal ? *command->wait_count : 0;
    if (!selected->list.is_in_order || selected->has_metrics) {
        zt__lock(&tracer->mutex);
        zt__count_serialised(tracer, cause);
        zt__unlock(&tracer->mutex);
    }
    if (count && command->wait_events &&
        zeCommandListAppendWaitOnEvents(command->list, count, command->wait_events) == ZE_RESULT_SUCCESS) {
        frame->wait_count = command->wait_count;
        frame->waits = count;
        *command->wait_count = 0;
    }
    zt__append_begin(selected->profiler, &frame->region);
}

/* Begins to measure a command that was selected, and may change it. zt__after_call ends the region. */
static void zt__begin_command(zt__frame *frame, const zt__selected_command *selected) {
    const zt__command *command = &frame->command;
    const zt__known_list *list = &selected->list;
    zt__measurement measurement = ZT__BARRIERS;
    zt__call_kind kind = zt__kind_of_call(frame->call);
    zt_serialised cause = selected->has_metrics    ? ZT_SERIALISED_METRICS
                          : kind == ZT__KIND_GRAPH ? ZT_SERIALISED_GRAPH
                                                   : ZT_SERIALISED_UNKNOWN_LIST;
    zt__probe *probe;
    frame->region = zt__begin_region(selected->profiler, command->list, list->kind,
                                     zt__shown_name(selected->region), !selected->has_metrics);
    probe = (zt__probe *)frame->region.probe;
    if (!probe) {
        return;
    }
    /* The region is open, so no other thread uses the probe. */
    if (selected->profiler->timeline || !command->kernel) {
        probe->origin.kind = command->kernel || kind == ZT__KIND_GRAPH ? ZT__REGION_OF_KERNEL
                             : kind == ZT__KIND_COPY                   ? ZT__REGION_OF_COPY
                                                                       : ZT__REGION_OF_SYNC;
        if (frame->kernel.name) {
            memcpy(probe->origin.group_size, frame->kernel.group_size, sizeof probe->origin.group_size);
        }
        probe->bytes = zt__read_size(frame->call, frame->parameters, &probe->origin);
    }

    if (!selected->has_metrics && list->kind != ZT__LIST_UNKNOWN && command->signal &&
        kind != ZT__KIND_GRAPH) {
        measurement = *command->signal ? zt__borrow_event(frame->tracer, *command->signal, selected->profiler,
                                                          probe, list, selected->is_once, &cause)
                                       : ZT__OWN;
    }
    if (measurement == ZT__BORROWED) {
        probe->way = list->is_in_order ? &zt__by_marked_event : &zt__by_borrowed_event;
        frame->is_borrowed = 1;
        frame->marker = list->is_in_order ? probe->event : NULL;
        probe->is_unordered = !list->is_in_order;
        probe->has_trail = list->is_in_order;
    } else if (measurement == ZT__OWN) {
        probe->way = &zt__by_own_event;
        probe->is_unordered = !list->is_in_order;
        frame->signal = command->signal;
        frame->signalled = *command->signal;
        *command->signal = probe->event;
    } else {
        probe->has_trail = command->signal && *command->signal;
        zt__begin_between_barriers(frame, selected, cause);
    }
}

ZT__PRIVATE void zt__before_command(zt__frame *frame) {
    zt__tracer *tracer = frame->tracer;
    int is_complete = zt__read_command(frame->call, frame->parameters, &frame->command);
    zt__selected_command selected;
    frame->knows_kernel = tracer->hook_count == 0 || frame->command.kernel == frame->kernel_before_hooks;
    memset(&selected, 0, sizeof selected);
    if (tracer->measured[frame->call] ||
        (zt__kind_of_call(frame->call) == ZT__KIND_COPY && tracer->automatic)) {
        zt__select_command(frame, is_complete, &selected);
    } else if (tracer->borrows_events) {
        zt__lock(&tracer->mutex);
        selected.is_once = zt__signals_once(tracer, zt__find_known_list(tracer, frame->command.list));
        zt__unlock(&tracer->mutex);
    }
    if (selected.profiler) {
        zt__begin_command(frame, &selected);
    }
    if (tracer->borrows_events && !frame->is_borrowed && !frame->signal && frame->command.signal &&
        *frame->command.signal) {
        zt__note_signal(tracer, *frame->command.signal, selected.is_once);
    }
}

ZT__PRIVATE void zt__signal_after_launch(zt__frame *frame, ze_result_t result) {
    ze_command_list_handle_t list = frame->command.list;
    ze_event_handle_t event = frame->marker;
    ze_result_t signalled;
    if (frame->signal) {
        event = frame->signalled;
        *frame->signal = event;
        frame->signal = NULL;
    }
    if (result != ZE_RESULT_SUCCESS && frame->is_borrowed && zt__load(&frame->state) == ZT__FRAME_CALLBACK) {
        zt__return_refused_event(frame->tracer, *frame->command.signal);
    }
    if (result != ZE_RESULT_SUCCESS || !event) {
        return;
    }
    signalled = zeCommandListAppendSignalEvent(list, event);
    if (signalled != ZE_RESULT_SUCCESS) {
        signalled = zeCommandListAppendBarrier(list, event, 0, NULL);
    }
    if (signalled != ZE_RESULT_SUCCESS && zt__load(&frame->state) == ZT__FRAME_CALLBACK) {
        zt__check(frame->tracer->diagnostics, signalled, "zeCommandListAppendBarrier",
                  "An event of the application will not be signalled.");
    }
}

#endif
