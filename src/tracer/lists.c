/* Devices and lists that are measured. */

#include "tracer/lists.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/memory.h"
#include "base/platform.h"
#include "base/shared.h"
#include "base/threads.h"
#include "modules/loaded.h"
#include "regions/profiler.h"
#include "regions/regions.h"
#include "regions/reporting.h"
#include "results/timeline.h"
#include "tracer/events.h"
#include "tracer/memory_use.h"
#include "tracer/sampling.h"
#include "tracer/tracer.h"

#ifdef ZETOOLS_TRACER

ZT__PRIVATE zt__traced_device *zt__add_device(zt__tracer *tracer, ze_context_handle_t context,
                                              ze_device_handle_t device, zt_profiler *profiler) {
    ze_command_queue_group_properties_t groups[32];
    zt__traced_device *added = (zt__traced_device *)zt__allocate(&tracer->allocator, 1, sizeof *added);
    zt__traced_device **end = &tracer->devices;
    uint32_t i, count = ZT__COUNT_OF(groups);
    ze_result_t result;
    if (!added) {
        return NULL;
    }
    added->context = context;
    added->device = device;
    added->profiler = profiler;
    memset(groups, 0, sizeof groups);
    for (i = 0; i < count; i++) {
        groups[i].stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES;
    }
    ZT__INTERNAL(result = zeDeviceGetCommandQueueGroupProperties(device, &count, groups));
    for (i = 0; result == ZE_RESULT_SUCCESS && i < count && i < ZT__COUNT_OF(groups); i++) {
        if (!(groups[i].flags & (ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE |
                                 ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_METRICS))) {
            added->copy_only_groups |= UINT32_C(1) << i;
        }
    }
    while (*end) {
        end = &(*end)->next;
    }
    zt__store(end, added);
    return added;
}

ZT__PRIVATE int zt__is_measured(const zt__traced_device *device) {
    return device && device->profiler && !zt__load(&device->is_detached);
}

ZT__PRIVATE zt__traced_device *zt__next_measured(zt__tracer *tracer, zt__traced_device *device) {
    do {
        device = zt__load(device ? &device->next : &tracer->devices);
    } while (device && !zt__is_measured(device));
    return device;
}

static zt__traced_device *zt__find_device(zt__tracer *tracer, ze_context_handle_t context,
                                          ze_device_handle_t device) {
    zt__traced_device *found;
    for (found = zt__load(&tracer->devices); found; found = zt__load(&found->next)) {
        if (found->context == context && found->device == device && !zt__load(&found->is_detached)) {
            return found;
        }
    }
    return NULL;
}

/* Returns the profiler of zt_auto that reports for all others: the first one. NULL: there is none yet. */
static zt_profiler *zt__find_reporter(const zt__tracer *tracer) {
    const zt__traced_device *device = zt__load(&tracer->devices);
    while (device && !device->profiler) {
        device = zt__load(&device->next);
    }
    return device ? device->profiler : NULL;
}

/* Starts sampling instructions on a device for zt_auto, if none of its contexts does yet: samples are those of the whole
   device. On failure, a note of the report has the reason. `opening` is held. */
static void zt__sample_device(zt__tracer *tracer, ze_device_handle_t device) {
    zt__traced_device *found, *unsampled = NULL;
    for (found = zt__load(&tracer->devices); found; found = zt__load(&found->next)) {
        if (found->device == device && found->profiler && zt__is_sampling(found->profiler)) {
            return;
        }
        if (found->device == device && zt__is_measured(found)) {
            unsampled = found;
        }
    }
    if (unsampled) {
        zt_hotspots_start(unsampled->profiler, NULL);
    }
}

ZT__PRIVATE void zt__sample_in_another_context(zt__tracer *tracer, ze_device_handle_t device) {
    int is_stopping;
    if (tracer->samples_hotspots && zt__lock_until(&tracer->opening, zt__deadline(tracer->wait_timeout_ns))) {
        zt__lock(&tracer->mutex);
        is_stopping = tracer->is_stopping;
        zt__unlock(&tracer->mutex);
        if (!is_stopping) {
            zt__sample_device(tracer, device);
        }
        zt__unlock_timed(&tracer->opening);
    }
}

ZT__PRIVATE zt__traced_device *zt__find_or_open_device(zt__tracer *tracer, ze_context_handle_t context,
                                                       ze_device_handle_t device) {
    zt__traced_device *found = zt__find_device(tracer, context, device);
    zt_profiler *profiler = NULL;
    zt_profiler *first;
    ze_result_t result;
    int is_stopping;
    if (found || !tracer->automatic ||
        !zt__lock_until(&tracer->opening, zt__deadline(tracer->wait_timeout_ns))) {
        return found;
    }
    found = zt__find_device(tracer, context, device);
    zt__lock(&tracer->mutex);
    is_stopping = tracer->is_stopping;
    zt__unlock(&tracer->mutex);
    if (found || is_stopping) { /* another thread was faster */
        zt__unlock_timed(&tracer->opening);
        return found;
    }
    first = zt__find_reporter(tracer);
    result = zt_open(context, device, tracer->automatic, &profiler);
    if (profiler && first && !zt__join_reporting(profiler, first)) {
        result = zt__report_no_memory(NULL, "zt_auto", "the report of several profilers");
        zt_close(profiler);
        profiler = NULL;
    }
    if (profiler) {
        if (tracer->every > 1 || tracer->limit) {
            zt__prepare_times_alone(profiler);
        }
        if (tracer->watches_memory && zt__prepare_memory_use(profiler)) {
            zt__watch_memory(profiler);
        } else if (tracer->watches_memory) {
            zt__report_no_memory(&profiler->diagnostics, "zt_auto", "the use of memory");
        }
        zt__store(&profiler->tracer, tracer);
        zt__store(&profiler->loaded, &tracer->loaded);
        zt__store(&profiler->check_tracing, tracer->check_layer);
        profiler->return_events = zt__return_events_of_list;
    } else {
        zt__lock(&tracer->mutex);
        if (!tracer->open_failures) {
            tracer->open_failure.result = result;
            snprintf(tracer->open_failure.text, sizeof tracer->open_failure.text, "%s", zt_last_error(NULL));
        }
        tracer->open_failures++;
        zt__unlock(&tracer->mutex);
    }
    found = zt__add_device(tracer, context, device, profiler);
    if (!found && profiler) {
        zt__store(&profiler->tracer, (zt__tracer *)NULL);
        zt__store(&profiler->loaded, (zt__loaded *)NULL);
        zt_close(profiler);
    } else if (profiler && tracer->samples_hotspots) {
        zt__sample_device(tracer, device);
    }
    zt__unlock_timed(&tracer->opening);
    return found;
}

ZT__PRIVATE zt__known_list *zt__remember_list(zt__tracer *tracer, ze_command_list_handle_t list,
                                              zt__traced_device *device, uint32_t ordinal) {
    zt__known_list *known = (zt__known_list *)zt__find_or_add_record(&tracer->loaded, &tracer->lists, list,
                                                                     sizeof(zt__known_list));
    if (known) {
        known->device = device;
        zt__set_captured(tracer, known, 0);
        known->kind = ZT__LIST_UNKNOWN;
        known->is_in_order = known->is_cloneable = known->has_command_ids = 0;
        known->may_be_destroyed = known->is_of_unknown_device = 0;
        known->is_copy_only = device && ordinal < 32 && (device->copy_only_groups >> ordinal & 1);
    }
    return known;
}

ZT__PRIVATE void zt__query_unknown_list(zt__tracer *tracer, ze_command_list_handle_t list) {
    zt__known_list *known;
    ze_context_handle_t context = NULL;
    ze_device_handle_t owner = NULL;
    zt__traced_device *device = NULL, *first = zt__load(&tracer->devices);
    uint32_t ordinal = UINT32_MAX, flags = 0;
    zt__list_kind kind = ZT__LIST_UNKNOWN;
    int is_in_order = 0, is_cloneable = 0, can_query = tracer->get_context && tracer->get_device;
    zt__lock(&tracer->mutex);
    known = zt__find_known_list(tracer, list);
    zt__unlock(&tracer->mutex);
    if (known) {
        return;
    }
    if (can_query && tracer->get_context(list, &context) == ZE_RESULT_SUCCESS &&
        tracer->get_device(list, &owner) == ZE_RESULT_SUCCESS) {
        device = zt__find_or_open_device(tracer, context, owner);
    } else if (!tracer->automatic && first && !zt__load(&first->next)) {
        device = first; /* zt_auto does not know all contexts */
    }
    if (!tracer->get_ordinal || tracer->get_ordinal(list, &ordinal) != ZE_RESULT_SUCCESS) {
        ordinal = UINT32_MAX;
    }
    if (zt__is_measured(device)) {
        kind = zt__query_list_kind(device->profiler, list);
    }
    if (kind == ZT__LIST_IMMEDIATE && tracer->get_queue_flags) {
        is_in_order =
            tracer->get_queue_flags(list, &flags) == ZE_RESULT_SUCCESS && (flags & ZT__QUEUE_FLAG_IN_ORDER);
    } else if (kind == ZT__LIST_RECORDED && tracer->get_list_flags &&
               tracer->get_list_flags(list, &flags) == ZE_RESULT_SUCCESS) {
        is_in_order = (flags & ZT__LIST_FLAG_IN_ORDER) != 0;
        is_cloneable = (flags & ZT__LIST_FLAG_CLONEABLE) != 0;
    }
    zt__lock(&tracer->mutex);
    known = zt__remember_list(tracer, list, device, ordinal);
    if (known) {
        known->kind = kind;
        known->is_in_order = is_in_order;
        known->is_cloneable = is_cloneable;
        known->is_of_unknown_device = !device && !can_query;
    }
    zt__unlock(&tracer->mutex);
}

#endif
