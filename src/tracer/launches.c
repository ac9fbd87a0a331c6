/* Launches and copies: which are measured, and how. */

#include "tracer/launches.h"

#include "base/compiler.h"
#include "base/map.h"
#include "base/platform.h"
#include "modules/loaded.h"
#include "regions/names.h"
#include "regions/profiler.h"
#include "regions/reading.h"
#include "regions/regions.h"
#include "tracer/calls.h"
#include "tracer/events.h"
#include "tracer/frames.h"
#include "tracer/kernel_names.h"
#include "tracer/lists.h"
#include "tracer/seen_modules.h"
#include "tracer/tracer.h"

#ifdef ZETOOLS_TRACER

/* What zt__select_command has decided about a command. */
typedef struct zt__selected_command {
    zt_profiler *profiler; /* NULL: the command is not measured */
    const char *region;
    zt__known_list list; /* a copy */
    int has_metrics;     /* else it is measured with times alone */
    zt__measurement measurement;
    int was_signalled;      /* the event of the application, before the launch, */
    uint64_t signalled_end; /* with time stamps of which this is the end */
} zt__selected_command;

/* Returns how a command without metrics is measured: by the first of these that fits. No mutex is held,
   because the driver may be queried.

     a list that is not known, or no signal (a wait)  SURROUNDING_COMMANDS
     no event of the application                      EVENT_STAMPS, of the event of the slot
     one with time stamps that can be kept, on a      KEPT_EVENT_STAMPS: nothing is appended
     list that is not in order, or of a pool with
     time stamps that the application reads
     one that has these, and cannot be kept           SURROUNDING_COMMANDS: the launch has to signal it
     a list that is in order                          EVENT_STAMPS: a signal follows
     a copy engine, which executes one command        EVENT_STAMPS: a barrier follows
     at a time
     another immediate list                           COPIED_STAMPS: a copy of the time stamps follows, which
                                                      waits for the event of the slot
     a recorded list: there, the copy would find      SURROUNDING_COMMANDS
     that event signalled by an earlier execution

   What follows signals the event of the application. On a list that is in order it delays nothing, and the
   launch is measured whatever happens to that event.

   An event can be kept if no other command that signals it may be in flight, nor is it on another recorded
   list. One that has signalled, and was not reset, has other time stamps after the launch. */
static zt__measurement zt__choose_measurement(const zt__frame *frame, const zt_profiler *profiler,
                                              const ze_event_handle_t *signal,
                                              zt__selected_command *selected) {
    zt__tracer *tracer = frame->tracer;
    const zt__known_list *list = &selected->list;
    zt__known_event event, *known;
    int can_be_kept;
    if (list->kind == ZT__LIST_UNKNOWN || !signal) {
        return ZT__SURROUNDING_COMMANDS;
    }
    if (!*signal) {
        return ZT__EVENT_STAMPS;
    }

    memset(&event, 0, sizeof event);
    zt__lock(&tracer->mutex);
    known = zt__find_event(tracer, *signal);
    if (known) {
        event = *known;
    }
    zt__unlock(&tracer->mutex);
    if (!known) { /* it was created before the start: the driver is queried */
        ze_event_pool_handle_t pool;
        ze_event_pool_flags_t flags = 0;
        event.has_stamps = !tracer->get_pool || !tracer->get_pool_flags ||
                           tracer->get_pool(*signal, &pool) != ZE_RESULT_SUCCESS ||
                           !pool || /* counter-based: drivers crash when they are asked for its flags */
                           tracer->get_pool_flags(pool, &flags) != ZE_RESULT_SUCCESS ||
                           (flags & ZT__POOL_FLAGS_STAMPED);
        zt__lock(&tracer->mutex);
        known = zt__remember_event(tracer, *signal);
        if (known) {
            known->has_stamps = event.has_stamps;
        }
        zt__unlock(&tracer->mutex);
    }

    can_be_kept = event.may_be_kept && !event.other_signals && !event.keeper &&
                  (!list->is_in_order || event.has_stamps);
    /* For a recorded list, zt__note_earlier_signals queries the event before each execution. */
    if (can_be_kept && list->kind == ZT__LIST_IMMEDIATE) {
        zt__sample_times times;
        const char *call;
        ze_result_t result = zt__query_kernel_stamps(profiler, *signal, &times, &call);
        selected->was_signalled = result == ZE_RESULT_SUCCESS;
        selected->signalled_end = selected->was_signalled ? times.end_ticks : 0;
        can_be_kept =
            result == ZE_RESULT_NOT_READY || (result == ZE_RESULT_SUCCESS && profiler->tiles_stamped == 1);
    }
    if (can_be_kept) {
        return ZT__KEPT_EVENT_STAMPS;
    }
    if (event.has_stamps) {
        return ZT__SURROUNDING_COMMANDS;
    }
    if (list->is_in_order || list->is_copy_only) {
        return ZT__EVENT_STAMPS;
    }
    return list->kind == ZT__LIST_IMMEDIATE ? ZT__COPIED_STAMPS : ZT__SURROUNDING_COMMANDS;
}

/* Counts a command, and decides whether and how it is measured. The list is checked before the filter, so
   that launches elsewhere do not count for `every` and `limit`. `command` is NULL if the driver will refuse
   it. First gathers facts, for which the driver may be queried; then counts and decides while the mutex is
   locked once. So zt_trace_stop, which sets `is_stopping` under it, either finds `has_region` set and waits
   for this command, or the command is neither counted nor measured. No mutex is held. */
static zt__selected_command zt__select_command(zt__frame *frame, const zt__command *command) {
    const uint32_t query_true = 0x78000022;
    zt__tracer *tracer = frame->tracer;
    zt__selected_command selected;
    const zt__known_list *known;
    zt__traced_device *device;
    zt_profiler *profiler;
    zt__kernel_name *name = NULL;
    uint32_t captures;
    int is_sync = zt__kind_of_call(frame->call) == ZT__KIND_SYNC, can_be_measured, is_within;
    memset(&selected, 0, sizeof selected);
    if (command) {
        zt__query_unknown_list(tracer, command->list);
    }
    zt__lock(&tracer->mutex);
    known = command ? zt__find_known_list(tracer, command->list) : NULL;
    if (known) {
        selected.list = *known;
    }
    device = selected.list.device;
    if (device && !tracer->measured[frame->call] && !tracer->is_stopping) {
        device->copies_seen++; /* which an empty report of zt_auto mentions */
    }
    captures = tracer->captures;
    zt__unlock(&tracer->mutex);
    profiler = zt__is_measured(device) ? device->profiler : NULL;
    frame->counted_for = command && command->kernel ? profiler : NULL;
    if (!tracer->measured[frame->call] || (is_sync && (!profiler || profiler->passes[0].group_count))) {
        return selected;
    }

    /* A copy engine can write time stamps, but cannot execute queries. */
    can_be_measured = profiler && !selected.list.is_cloneable && !selected.list.has_command_ids &&
                      !selected.list.is_captured &&
                      (!selected.list.is_copy_only || profiler->metric_count == 0);
    /* What goes into a graph may run any number of times. A list also joins the capture of another by waiting
       for one of its events. So while there is a capture, the driver is queried, and a command that waits may
       be the one with which its list joins. */
    if (can_be_measured && captures > 0) {
        can_be_measured = *command->wait_count == 0 && tracer->query_capture &&
                          (uint32_t)tracer->query_capture(command->list) != query_true;
    }
    if (can_be_measured && command->kernel) {
        name = zt__name_of_kernel(tracer, command->kernel, frame->knows_kernel);
        if (name && command->kernel_count > 1) { /* the name of the first, and the number of others */
            name = zt__find_or_add_name(tracer, name->text, command->kernel_count - 1);
        }
    } else if (can_be_measured) {
        name = zt__find_or_add_name(tracer, zt__call_name(frame->call) + strlen("zeCommandListAppend"), 0);
    }
    if (name) {
        selected.has_metrics = profiler->metric_count > 0;
    }
    if (name && (!selected.has_metrics || (name->is_selected && (tracer->every > 1 || tracer->limit)))) {
        selected.measurement = zt__choose_measurement(frame, profiler, command->signal, &selected);
    }

    zt__lock(&tracer->mutex);
    if (tracer->is_stopping) {
        zt__unlock(&tracer->mutex);
        return selected;
    }
    tracer->counts.launches++;
    if (!name ||
        (is_sync && selected.measurement == ZT__SURROUNDING_COMMANDS && !selected.list.is_in_order)) {
        tracer->counts.elsewhere++; /* barriers around a barrier or a wait would measure themselves */
        name = NULL;
    }
    is_within = name && name->is_selected && name->seen++ % tracer->every == 0 &&
                (!tracer->limit || name->measured < tracer->limit);
    if (name && (!name->is_selected || (!is_within && !selected.has_metrics))) {
        tracer->counts.filtered++;
        name = NULL;
    }
    if (name) {
        tracer->counts.measured++;
        if (is_within) {
            name->measured++;
        } else {
            tracer->counts.times_alone++;
        }
        if (is_within && selected.has_metrics) {
            selected.measurement = ZT__SURROUNDING_COMMANDS;
        }
        selected.has_metrics = is_within && selected.has_metrics;
        tracer->counts.serialised += selected.measurement == ZT__SURROUNDING_COMMANDS &&
                                     (!selected.list.is_in_order || selected.has_metrics);
        selected.profiler = profiler;
        selected.region = name->text;
        zt__store(&frame->has_region, 1);
    }
    zt__unlock(&tracer->mutex);
    return selected;
}

/* Begins a command that kernel time stamps measure: those of the application's event, if the slot can keep
   it, else those of the event of the slot, which then takes the place of the application's. */
static void zt__begin_by_event(zt__frame *frame, const zt__command *command,
                               const zt__selected_command *selected) {
    zt_profiler *profiler = selected->profiler;
    zt__slot *slot;
    uint32_t i;
    frame->region = zt__begin_region(profiler, command->list, selected->list.kind,
                                     zt__shown_name(selected->region), !selected->has_metrics);
    slot = (zt__slot *)frame->region.slot;
    if (!slot) {
        return;
    }
    slot->measurement = selected->measurement;
    slot->is_unordered = !selected->list.is_in_order;
    if (selected->measurement == ZT__KEPT_EVENT_STAMPS) {
        zt__tracer *tracer = frame->tracer;
        zt__known_event *known;
        /* Before the slot is the keeper: a thread that finds the keeper finds the event in it. */
        zt__lock(&profiler->mutex);
        slot->kept = *command->signal;
        slot->was_signalled = selected->was_signalled;
        slot->signalled_end = selected->signalled_end;
        slot->list->keeps_events = 1;
        zt__unlock(&profiler->mutex);
        zt__lock(&tracer->mutex);
        known = zt__find_event(tracer, *command->signal);
        /* Else another thread has used the event since zt__choose_measurement. */
        frame->has_kept_event = known && !known->keeper && !known->other_signals;
        if (frame->has_kept_event) {
            known->keeper = slot;
            known->keeper_owner = profiler;
        }
        zt__unlock(&tracer->mutex);
        if (!frame->has_kept_event) {
            zt__lock(&profiler->mutex);
            slot->kept = NULL;
            zt__unlock(&profiler->mutex);
        }
        return;
    }

    for (i = 0; i < ZT__STAMPS && slot->measurement == ZT__COPIED_STAMPS; i++) {
        zt__store(&slot->stamps[i], UINT64_MAX);
    }
    slot->trails_event = slot->measurement == ZT__COPIED_STAMPS;
    frame->list = command->list;
    frame->is_in_order = selected->list.is_in_order;
    frame->copied_stamps = slot->trails_event ? slot->stamps : NULL;
    frame->signal = command->signal;
    frame->signalled = *command->signal;
    *command->signal = slot->event;
}

/* Begins to measure a command, which this may change. zt__after_call ends the region. */
static void zt__begin_command(zt__frame *frame) {
    zt__tracer *tracer = frame->tracer;
    zt__command command;
    zt__selected_command selected;
    zt__slot *slot;
    int is_complete = zt__read_command(frame->call, frame->parameters, &command);
    uint32_t i;
    /* A hook may destroy a kernel that it has substituted, which is not traced. So its name is queried at
       each launch. */
    frame->knows_kernel = command.kernel == frame->kernel_before_hooks;
    for (i = frame->knows_kernel ? 0 : 1; is_complete && i < command.kernel_count; i++) {
        /* It may have been created before the start. */
        zt__observe_kernel(tracer, zt__launched_kernel(frame, &command, i));
    }
    selected = zt__select_command(frame, is_complete ? &command : NULL);
    if (!selected.profiler) {
        return;
    }

    if (selected.measurement == ZT__SURROUNDING_COMMANDS) {
        zt__list_state kind = selected.list.kind;
        /* A wait for the events of the command is appended before the region, so that the GPU time is that of
           the command alone, which then need not wait itself. If the driver refuses the command, the wait
           stays on the list. A command without an event to signal is a wait itself. */
        uint32_t count = command.signal ? *command.wait_count : 0;
        if (count && command.wait_events &&
            zeCommandListAppendWaitOnEvents(command.list, count, command.wait_events) == ZE_RESULT_SUCCESS) {
            frame->wait_count = command.wait_count;
            frame->waits = count;
            *command.wait_count = 0;
        }
        if (kind == ZT__LIST_UNKNOWN) {
            kind = zt__query_list_kind(selected.profiler, command.list);
        }
        frame->region = zt__begin_on(selected.profiler, command.list, kind, zt__shown_name(selected.region),
                                     !selected.has_metrics);
        if (frame->region.slot) {
            ((zt__slot *)frame->region.slot)->trails_event = command.signal && *command.signal;
        }
    } else {
        zt__begin_by_event(frame, &command, &selected);
    }

    /* The bytes of a copy and, for the timeline, the geometry of a launch. The region is open, so no other
       thread uses the slot. */
    slot = (zt__slot *)frame->region.slot;
    if (slot && (selected.profiler->timeline || !command.kernel)) {
        const zt__loaded_kernel *known;
        slot->origin.kind = command.kernel                                   ? ZT__REGION_OF_KERNEL
                            : zt__kind_of_call(frame->call) == ZT__KIND_COPY ? ZT__REGION_OF_COPY
                                                                             : ZT__REGION_OF_SYNC;
        zt__lock(&tracer->mutex);
        known = zt__find_loaded_kernel(tracer, command.kernel);
        if (known && frame->knows_kernel) {
            memcpy(slot->origin.group_size, known->group_size, sizeof known->group_size);
        }
        zt__unlock(&tracer->mutex);
        slot->bytes = zt__read_size(frame->call, frame->parameters, &slot->origin);
    }
}

ZT__PRIVATE void zt__before_command(zt__frame *frame) {
    const zt__tracer *tracer = frame->tracer;
    if (tracer->keeps_events) {
        zt__save_stamps_before_signal(frame);
    }
    if (tracer->measured[frame->call] ||
        (zt__kind_of_call(frame->call) == ZT__KIND_COPY && tracer->automatic)) {
        zt__begin_command(frame);
    }
    if (tracer->keeps_events) {
        zt__note_signal(frame);
    }
}

#endif
