/* zt_begin and zt_end. */

#include "regions/regions.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/phase_stack.h"
#include "base/platform.h"
#include "base/shared.h"
#include "base/threads.h"
#include "regions/collecting.h"
#include "regions/creation.h"
#include "regions/names.h"
#include "regions/phases.h"
#include "regions/probes.h"
#include "regions/profiler.h"
#include "regions/recordings.h"

#define ZT__APPEND_REMEDY                                                                                    \
    "The region is not measured. The list must be open for commands, and of the profiler's context."

/* ---- beginning ------------------------------------------------------------------------------------------- */

ZT__PRIVATE zt__list_kind zt__query_list_kind(const zt_profiler *profiler, ze_command_list_handle_t handle) {
    ze_bool_t is_immediate = 0;
    ze_result_t result = ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    if (profiler->driver.zeCommandListIsImmediate) {
        ZT__INTERNAL(result = profiler->driver.zeCommandListIsImmediate(handle, &is_immediate));
    }
    if (result != ZE_RESULT_SUCCESS) {
        return ZT__LIST_UNKNOWN;
    }
    return is_immediate ? ZT__LIST_IMMEDIATE : ZT__LIST_RECORDED;
}

/* Returns the pass whose probes a region uses. With the mutex held. */
static zt__pass *zt__pass_to_measure(zt_profiler *profiler, int times_alone) {
    int is_extra = times_alone && profiler->metric_count > 0;
    return &profiler->passes[is_extra ? (uint32_t)ZT__TIMES_PASS : profiler->active_pass];
}

/* Collects because zt_begin has found no free probe. What is seen to have run then is another recording than the
   one that goes on: it is closed, and collected once more. Returns whether there are free probes. No mutex is
   held. */
static int zt__free_probes_for(zt_profiler *profiler, zt__list *list, int times_alone, int waits) {
    enum { COLLECTIONS = 2 };
    int has_free = 0;
    uint32_t i;
    for (i = 0; i < COLLECTIONS && !has_free; i++) {
        zt__request_looks(profiler);
        if (waits) {
            zt__collect_until(profiler, ZT__ONE_COLLECTION, zt__deadline(profiler->config.wait_timeout_ns));
        } else {
            zt__try_collect(profiler, NULL);
        }
        zt__lock(&profiler->mutex);
        zt__prepare_recording(profiler, list);
        has_free = zt__pass_to_measure(profiler, times_alone)->first_free != NULL;
        zt__unlock(&profiler->mutex);
    }
    return has_free;
}

/* Provides free probes: collects, then makes more, and at config.max_probes waits for another collection.
   Returns ZT_CAUSE_COUNT, or the cause if there are still none. No mutex is held. */
static zt_cause zt__provide_probes(zt_profiler *profiler, zt__list *list, int times_alone) {
    static const char remedy[] = "No probes can be added now. Regions that find none are dropped.";
    enum { PAUSE_AFTER_FAILURE_NS = 100000000 };
    uint64_t now = zt__now_ns();
    zt__pass *pass;
    const char *call;
    int may_grow;
    ze_result_t result;
    if (zt__free_probes_for(profiler, list, times_alone, 0)) {
        return ZT_CAUSE_COUNT;
    }
    zt__lock(&profiler->mutex);
    may_grow = now >= profiler->no_growth_until_ns;
    pass = zt__pass_to_measure(profiler, times_alone);
    zt__unlock(&profiler->mutex);
    if (!may_grow) {
        return ZT_DROPPED_NO_MEMORY;
    }
    result = zt__make_probes(profiler, pass, &call);
    if (result == ZE_RESULT_SUCCESS) {
        return ZT_CAUSE_COUNT;
    }
    if (call) {
        zt__lock(&profiler->mutex);
        profiler->no_growth_until_ns = now + PAUSE_AFTER_FAILURE_NS;
        zt__unlock(&profiler->mutex);
        zt__check(&profiler->diagnostics, result, call, remedy);
        return ZT_DROPPED_NO_MEMORY;
    }
    /* There are config.max_probes. */
    return zt__free_probes_for(profiler, list, times_alone, 1) ? ZT_CAUSE_COUNT : ZT_DROPPED_NO_PROBE;
}

/* Counts a region that zt_begin drops before it looks up the name. */
static void zt__drop_at_begin(zt_profiler *profiler, zt_cause cause) {
    zt__lock(&profiler->mutex);
    zt__count_drop(profiler, NULL, NULL, NULL, cause);
    zt__unlock(&profiler->mutex);
}

/* Appends a time stamp of the device. With `after_work`, a barrier before it makes it wait for earlier
   commands. On failure, `*call` is the call that failed. */
static ze_result_t zt__append_stamp(ze_command_list_handle_t list, uint64_t *stamp, int after_work,
                                    ze_event_handle_t signal, int *has_commands, const char **call) {
    ze_result_t result = ZE_RESULT_SUCCESS;
    *call = "zeCommandListAppendBarrier";
    if (after_work) {
        ZT__INTERNAL(result = zeCommandListAppendBarrier(list, NULL, 0, NULL));
    }
    if (result == ZE_RESULT_SUCCESS) {
        *has_commands |= after_work;
        *call = "zeCommandListAppendWriteGlobalTimestamp";
        ZT__INTERNAL(result = zeCommandListAppendWriteGlobalTimestamp(list, stamp, signal, 0, NULL));
        *has_commands |= result == ZE_RESULT_SUCCESS;
    }
    return result;
}

/* Called when the driver has refused a command of a region. Appends a barrier with the event of the probe, which shows
   when the device is done with the commands before it. The message comes last, because the log function may destroy
   the list. */
static void zt__mark_refused(zt_profiler *profiler, zt__probe *probe, ze_command_list_handle_t list,
                             ze_result_t result, const char *call, int has_commands) {
    ze_result_t marked = ZE_RESULT_NOT_READY;
    if (has_commands && !zt__means_device_loss(result)) {
        ZT__INTERNAL(marked = zeCommandListAppendBarrier(list, probe->event, 0, NULL));
    }
    probe->shows_end = marked == ZE_RESULT_SUCCESS;
    zt__check(&profiler->diagnostics, result, call, ZT__APPEND_REMEDY);
}

/* Returns whether probes of a list may be on their way. With the mutex held. */
static int zt__has_unread(const zt__list *list) {
    const zt__recording *recording = list->current;
    return recording && (recording->state == ZT__RECORDING_READING || recording->unread);
}

/* Ensures that it is known whether a list is immediate. It is asked once a recording, and at each region of an
   immediate list, because a handle can come back as that of a list of another kind. A query may also fail on an
   immediate list whose probes are on their way: then that is the same list. The mutex is held, and unlocked
   meanwhile. */
static void zt__find_out_kind(zt_profiler *profiler, zt__list *list, zt__list_kind given) {
    zt__list_kind kind = given;
    if (given == ZT__LIST_UNKNOWN) {
        /* Where the loader cannot tell, a list that zt_execute has executed is recorded. */
        if (list->kind == ZT__LIST_RECORDED &&
            (!profiler->driver.zeCommandListIsImmediate ||
             (list->current && list->current->state == ZT__RECORDING_OPEN))) {
            return;
        }
        zt__unlock(&profiler->mutex);
        kind = zt__query_list_kind(profiler, list->handle);
        zt__lock(&profiler->mutex);
    }
    if (kind == ZT__LIST_RECORDED || list->kind == ZT__LIST_RECORDED || !zt__has_unread(list)) {
        list->kind = kind;
    }
}

/* Returns whether the regions of a list belong to the phase in which they are appended. */
static int zt__takes_phase_at_append(const zt_profiler *profiler, const zt__list *list) {
    return list->kind != ZT__LIST_RECORDED || profiler->config.phases_at_append;
}

/* Returns the path around a region that is begun now, or NULL without memory: phases stand outside regions. The mutex
   is held, and unlocked while memory is allocated. */
static zt__path *zt__find_outer_path(zt_profiler *profiler, const zt__list *list) {
    zt__path *phase = zt__takes_phase_at_append(profiler, list) ? zt__prepare_phase(profiler) : NULL;
    const zt__probe *innermost = list->innermost;
    if (!innermost) {
        return phase ? phase : &profiler->root;
    }
    return phase && phase != zt__phase_of(innermost->path) ? zt__place_path(profiler, phase, innermost->path)
                                                           : innermost->path;
}

/* Notes the phase in which a region is begun. With the mutex held. */
static void zt__note_phase(zt_profiler *profiler, const zt__list *list, zt__probe *probe) {
    const zt__probe *outer = probe->outer;
    const zt__phase_frame *top = zt__get_top_frame();
    probe->outer_phase = outer ? zt__phase_of(outer->path) : NULL;
    probe->appended_in = top ? top->phase : NULL;
    if (list->kind == ZT__LIST_IMMEDIATE ||
        (list->kind == ZT__LIST_UNKNOWN && !profiler->config.phases_at_append)) {
        probe->entry = zt__use_entry(zt__current_entry(profiler));
    }
    if (outer && probe->outer_phase != zt__phase_of(probe->path)) {
        outer->path->is_own_unknown = 1;
    }
}

/* Counts a region for which there is no probe as dropped: on its path, or without one in its phase. With the mutex held. */
static void zt__drop_unopened(zt_profiler *profiler, zt__region_record *region, zt__path *path,
                              const zt__list *list, zt_cause cause) {
    zt__path *phase =
        list && zt__takes_phase_at_append(profiler, list)
            ? zt__known_path_of_phase(profiler, zt__get_top_frame() ? zt__get_top_frame()->phase : NULL)
            : NULL;
    zt__count_drop(profiler, path ? path : phase, region, list, cause);
    if (phase) {
        zt__entry *entry = zt__use_entry(zt__current_entry(profiler));
        zt__miss_in_phases(profiler, &entry);
    }
    if (list && list->innermost) {
        list->innermost->path->is_own_unknown = 1;
    }
}

/* Opens a probe for a region. If there is none, returns NULL, and counts the region as dropped by `*cause`.
   `*is_reported`: the call that failed was reported, now or before a pause. */
static zt__probe *zt__open_probe(zt_profiler *profiler, ze_command_list_handle_t handle, zt__list_kind kind,
                                 const char *name, int times_alone, zt_cause *cause, int *is_reported) {
    enum { TRIES = 4 };
    zt__region_record *region;
    zt__path *path = NULL, *outer;
    zt__list *list;
    zt__probe *probe = NULL;
    uint32_t tries;
    *cause = ZT_DROPPED_NO_MEMORY;
    *is_reported = 0;
    zt__lock(&profiler->mutex);
    list = zt__find_list(profiler, handle);
    region = zt__guess_region(list, name);
    if (!region) {
        region = zt__find_or_add_region(profiler, name, cause);
        list = zt__find_list(profiler, handle); /* the mutex was unlocked */
    }
    if (region && !list) {
        list = zt__add_list(profiler, handle);
    }
    if (region && list) {
        list->open_count++; /* keeps the record of the list while the mutex is unlocked */
        zt__find_out_kind(profiler, list, kind);
        *cause = zt__prepare_recording(profiler, list) ? ZT_CAUSE_COUNT : ZT_DROPPED_NO_MEMORY;
        for (tries = 0; !probe && *cause == ZT_CAUSE_COUNT; tries++) {
            /* Found anew in each try, because callbacks in zt__provide_probes may begin and end regions. */
            outer = zt__find_outer_path(profiler, list);
            path = outer ? zt__find_or_add_path(profiler, outer, region) : NULL;
            probe = path ? zt__pop_free_probe(zt__pass_to_measure(profiler, times_alone)) : NULL;
            if (!path) {
                *cause = ZT_DROPPED_NO_MEMORY;
            } else if (!probe && tries == TRIES) {
                *cause = ZT_DROPPED_NO_PROBE; /* other threads have acquired the new ones */
            } else if (!probe) {
                zt__timing timing;
                zt__unlock(&profiler->mutex);
                zt__start_slow_timing(&timing);
                *cause = zt__provide_probes(profiler, list, times_alone);
                zt__end_timing(&profiler->slow, &profiler->mutex, &timing);
                *is_reported = *cause == ZT_DROPPED_NO_MEMORY;
                zt__lock(&profiler->mutex);
            }
        }
        list->open_count--;
    }

    if (probe) {
        probe->region = region;
        probe->path = path;
        probe->list = list;
        probe->outer = list->innermost;
        zt__note_phase(profiler, list, probe);
        list->innermost = probe;
        if (list->latest) {
            list->latest->follower = region;
        }
        list->latest = region;
        list->open_count++;
        path->missing++; /* until the region has ended: regions inside it may be collected before */
        profiler->open_regions++;
        /* No zt_region of the probe is valid, so no zt_end increases it meanwhile. */
        zt__store(&probe->generation, zt__load(&probe->generation) + 1);
        probe->activation = profiler->activation;
        probe->way = &zt__by_commands;
        probe->shows_end = 0;
        probe->is_dropped = probe->is_unordered = probe->has_trail = probe->spans_passes = 0;
        probe->needs_reset = 0;
        probe->failures = 0;
        probe->bytes = 0;
        /* A recording is submitted after its first region is begun, so the clock is read once for all regions
           of it. Timelines show when each region was begun. */
        if (profiler->timeline || list->kind != ZT__LIST_RECORDED) {
            list->begun_ns = zt__now_ns();
        }
        probe->begun_ns = list->begun_ns;
    } else {
        zt__drop_unopened(profiler, region, path, list, *cause);
    }
    zt__unlock(&profiler->mutex);
    return probe;
}

/* Reports that all of config.max_probes are in use. */
static void zt__report_no_probe(zt_profiler *profiler, const char *name) {
    const zt__recording *recording;
    const zt__probe *probe;
    const char *open = zt__name_open_region(profiler);
    uint32_t recorded = 0, open_count;
    zt__lock(&profiler->mutex);
    open_count = profiler->open_regions;
    for (recording = profiler->all_recordings; recording; recording = recording->next_of_all) {
        probe = recording->list && !recording->is_queue ? recording->first : NULL;
        for (; probe; probe = probe->next) {
            recorded++;
        }
    }
    zt__unlock(&profiler->mutex);
    if (open && (uint64_t)open_count * 2 >= profiler->config.max_probes) {
        zt__report(&profiler->diagnostics, PROBES_NOT_ENDED, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY,
                   (unsigned)profiler->config.max_probes, (unsigned)open_count, open, name);
        return;
    }
    zt__report(&profiler->diagnostics, NO_PROBE, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY,
               (unsigned)profiler->config.max_probes, (unsigned)recorded, name);
}

ZT__PRIVATE zt_region zt__begin_region(zt_profiler *profiler, ze_command_list_handle_t list,
                                       zt__list_kind kind, const char *name, int times_alone) {
    zt_region region = {NULL, 0, 0, 0};
    zt__probe *probe;
    zt_cause cause;
    int is_reported;
    if (zt__is_device_lost(&profiler->diagnostics)) {
        zt__drop_at_begin(profiler, ZT_DROPPED_DEVICE_LOST);
        return region;
    }
    probe = zt__open_probe(profiler, list, kind, name, times_alone, &cause, &is_reported);
    if (!probe && cause == ZT_DROPPED_NO_PROBE) {
        zt__report_no_probe(profiler, name);
    } else if (!probe && cause == ZT_DROPPED_TOO_MANY_NAMES) {
        zt__report(&profiler->diagnostics, TOO_MANY_NAMES, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "zt_begin",
                   (unsigned)ZT__MAX_REGIONS);
    } else if (!probe && !is_reported) {
        zt__report_no_memory(&profiler->diagnostics, "zt_begin", "a region");
    }
    if (!probe) {
        return region;
    }
    if (profiler->timeline || profiler->config.sample) {
        memset(&probe->origin, 0, sizeof probe->origin);
        probe->origin.list_name = probe->list->name;
        probe->origin.appended_by = probe->origin.submitted_by = zt__get_thread_number();
        probe->origin.appended_ns = probe->begun_ns;
    }
    region.generation = zt__load(&probe->generation);
    region.probe = probe;
    region.profiler = profiler->id;
    return region;
}

ZT__PRIVATE void zt__append_begin(zt_profiler *profiler, zt_region *region) {
    zt__probe *probe = (zt__probe *)region->probe;
    const zt__pass *pass = &profiler->passes[probe->pass];
    ze_command_list_handle_t list = probe->list->handle;
    const char *call = NULL;
    int has_commands = 0;
    uint32_t g;
    ze_result_t result = ZE_RESULT_SUCCESS;
    for (g = 0; g < pass->group_count && result == ZE_RESULT_SUCCESS; g++) {
        call = "zetCommandListAppendMetricQueryBegin";
        result = zetCommandListAppendMetricQueryBegin(list, probe->queries[g]);
        has_commands |= result == ZE_RESULT_SUCCESS;
    }
    if (probe->stamps && result == ZE_RESULT_SUCCESS) {
        result =
            zt__append_stamp(list, &probe->stamps[0], pass->group_count == 0, NULL, &has_commands, &call);
    }
    if (result != ZE_RESULT_SUCCESS) {
        zt__mark_refused(profiler, probe, list, result, call, has_commands);
        zt__lock(&profiler->mutex);
        /* The log function may have released the list, which has dropped the region. */
        if (zt__load(&probe->generation) == region->generation) {
            zt__drop_region(profiler, probe, ZT_DROPPED_APPEND_FAILED, has_commands);
        }
        zt__unlock(&profiler->mutex);
        region->probe = NULL;
    }
}

ZT_API zt_region zt_begin(zt_profiler *profiler, ze_command_list_handle_t list, const char *name) {
    zt_region region = {NULL, 0, 0, 0};
    zt__timing timing;
    if (!profiler || !profiler->device) {
        return region;
    }
    if (!list) {
        zt__drop_at_begin(profiler, ZT_DROPPED_APPEND_FAILED);
        zt__report_null_handle(&profiler->diagnostics, "zt_begin", "list");
        return region;
    }
    zt__start_timing(&profiler->begins.count, &timing);
    region = zt__begin_region(profiler, list, ZT__LIST_UNKNOWN, zt__shown_name(name), 0);
    if (region.probe) {
        zt__append_begin(profiler, &region);
    }
    zt__end_timing(&profiler->begins, &profiler->mutex, &timing);
    return region;
}

/* ---- ending ---------------------------------------------------------------------------------------------- */

/* Adds a region that has ended to its list, unless it is dropped while the mutex is unlocked. Returns whether its sample
   is counted as begun: the list may be immediate. With the mutex held. */
static int zt__add_region(zt_profiler *profiler, zt__probe *probe) {
    zt__list *list = probe->list;
    uint32_t generation = zt__load(&probe->generation);
    int has_recording = zt__prepare_recording(profiler, list);
    if (zt__load(&probe->generation) != generation) {
        return 0;
    }
    if (profiler->timeline) {
        uint64_t append_ns = zt__now_ns() - probe->begun_ns;
        probe->origin.append_ns = append_ns < UINT32_MAX ? (uint32_t)append_ns : UINT32_MAX;
    }
    probe->spans_passes = probe->activation != profiler->activation && probe->pass != ZT__TIMES_PASS;
    if (!has_recording) {
        zt__drop_region(profiler, probe, ZT_DROPPED_NO_MEMORY, 1);
        return 0;
    }
    zt__leave_nesting(profiler, probe);
    probe->shows_end = 1;
    zt__add_to_recording(list, probe);
    if (list->kind != ZT__LIST_RECORDED) {
        zt__owe_sample(profiler, list->current, probe);
        profiler->uncollected++;
    } else {
        zt__release_entry(profiler, &probe->entry); /* it is known by now that the list is not immediate */
    }
    zt__chain_recording(profiler, list->current);
    return list->kind != ZT__LIST_RECORDED;
}

ZT__PRIVATE void zt__end(zt_region *region, int refused, int by_tracer) {
    zt__probe *probe = (zt__probe *)region->probe;
    zt_profiler *profiler = probe ? zt__find_profiler(region->profiler) : NULL;
    const char *call = NULL;
    int must_collect = 0, wakes_thread = 0, has_commands;
    uint32_t g;
    ze_result_t result = ZE_RESULT_SUCCESS;
    zt__timing timing;
    region->probe = NULL;
    if (!profiler) {
        return;
    }
    if (!zt__change_if(&probe->generation, region->generation, region->generation + 1)) {
        return; /* it was dropped, or a copy of this zt_region has ended it */
    }
    memset(&timing, 0, sizeof timing);
    if (!by_tracer) { /* the tracer measures its calls */
        zt__start_timing(&profiler->ends.count, &timing);
    }
    has_commands = probe->way == &zt__by_commands;
    if (has_commands) {
        const zt__pass *pass = &profiler->passes[probe->pass];
        ze_command_list_handle_t list = probe->list->handle;
        /* The last command signals the event: then the others are complete, too. */
        if (probe->stamps) {
            result = zt__append_stamp(list, &probe->stamps[1], 1, pass->group_count ? NULL : probe->event,
                                      &has_commands, &call);
        }
        for (g = pass->group_count; g-- > 0 && result == ZE_RESULT_SUCCESS;) {
            call = "zetCommandListAppendMetricQueryEnd";
            /* It waits for no event, but the validation layer rejects a NULL pointer. */
            result = zetCommandListAppendMetricQueryEnd(list, probe->queries[g], g ? NULL : probe->event, 0,
                                                        &probe->event);
        }
        if (result != ZE_RESULT_SUCCESS) {
            zt__mark_refused(profiler, probe, list, result, call, has_commands);
        }
    }
    zt__lock(&profiler->mutex);
    if (zt__load(&probe->generation) != region->generation + 1) {
        /* The list was released meanwhile, which has dropped the region. */
    } else if (result != ZE_RESULT_SUCCESS || refused) {
        probe->shows_end |= has_commands && result == ZE_RESULT_SUCCESS;
        zt__drop_region(profiler, probe, ZT_DROPPED_APPEND_FAILED, has_commands);
    } else {
        int is_on_its_way = zt__add_region(profiler, probe);
        must_collect = is_on_its_way && !profiler->config.thread && profiler->uncollected >= ZT__BATCH;
        wakes_thread = is_on_its_way && zt__must_wake_thread(profiler);
    }
    zt__unlock(&profiler->mutex);
    if (must_collect) {
        zt__try_collect(profiler, NULL);
    }
    if (wakes_thread) {
        zt__wake_thread(&profiler->thread);
    }
    zt__end_timing(&profiler->ends, &profiler->mutex, &timing);
}

ZT_API void zt_end(zt_region *region) {
    if (region) {
        zt__end(region, 0, 0);
    }
}
