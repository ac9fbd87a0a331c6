/* zt_release and zt_reset: lists whose commands never run again. */

#include "regions/resets.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/platform.h"
#include "base/shared.h"
#include "regions/collecting.h"
#include "regions/names.h"
#include "regions/profiler.h"
#include "regions/recordings.h"

/* Returns the list that is reset, released or destroyed, whose recording is not READING, or NULL. It may already be
   another one with the same handle, which another thread has begun to use while the mutex was unlocked. */
static zt__list *zt__find_ending_list(zt_profiler *profiler, ze_command_list_handle_t handle,
                                      zt__list_end by) {
    zt__list *list = zt__find_list_at_rest(profiler, handle);
    return list && by == ZT__BY_DESTROY && !list->may_be_destroyed ? NULL : list;
}

ZT__PRIVATE void zt__end_list(zt_profiler *profiler, ze_command_list_handle_t handle, zt__list_end by,
                              const char *call) {
    const char *not_ended = NULL;
    zt__recording *recording;
    zt__list *list;
    zt__lock(&profiler->mutex);
    list = zt__find_ending_list(profiler, handle, by);
    if (list &&
        profiler->return_events) { /* first, because others use the probes once the recording is closed */
        zt__unlock(&profiler->mutex);
        profiler->return_events(profiler, handle);
        zt__lock(&profiler->mutex);
        list = zt__find_ending_list(profiler, handle, by);
    }
    if (list) {
        list->may_be_destroyed = 0;
        not_ended = zt__drop_open_regions(profiler, list);
        recording = list->current;
        if (by != ZT__BY_RESET || (recording && !recording->is_queue)) {
            if (recording && !recording->is_queue &&
                (recording->executions == 0 || recording->ran_unreported)) {
                recording->is_look_due = 1; /* it may have run while it was read */
            }
            zt__close_recording(profiler, list);
            list->ran_unreported = 0;
        }
        if (by != ZT__BY_RESET) {
            list->name = NULL;
            if (!profiler->driver.zeCommandListIsImmediate) {
                list->kind = ZT__LIST_UNKNOWN; /* the handle may come back as that of a list of any kind */
            }
        }
    }
    zt__unlock(&profiler->mutex);
    if (not_ended) {
        zt__report(&profiler->diagnostics, REGION_NOT_ENDED, ZE_RESULT_ERROR_INVALID_ARGUMENT, call,
                   not_ended);
    }
}

/* Returns whether samples of a list are still to be read. */
static int zt__owes_samples(zt_profiler *profiler, ze_command_list_handle_t handle) {
    const zt__recording *recording;
    zt__lock(&profiler->mutex);
    recording = profiler->in_flight.first;
    while (recording && (recording->handle != handle || recording->due == 0)) {
        recording = recording->next;
    }
    zt__unlock(&profiler->mutex);
    return recording != NULL;
}

ZT_API ze_result_t zt_release(zt_profiler *profiler, ze_command_list_handle_t list) {
    if (!profiler || !profiler->device) {
        return ZE_RESULT_SUCCESS;
    }
    if (!list) {
        return zt__report_null_handle(&profiler->diagnostics, "zt_release", "list");
    }
    zt__end_list(profiler, list, ZT__BY_RELEASE, "zt_release");
    zt__try_collect(profiler, list);
    return zt__owes_samples(profiler, list) ? ZE_RESULT_NOT_READY : ZE_RESULT_SUCCESS;
}

ZT_API ze_result_t zt_reset(zt_profiler *profiler, ze_command_list_handle_t list) {
    ze_result_t result;
    if (!list) { /* some loaders dereference it */
        return zt__report_null_handle(zt__diagnostics_of(profiler), "zt_reset", "list");
    }
    result = zeCommandListReset(list);
    if (result == ZE_RESULT_SUCCESS && profiler && profiler->device) {
        zt__end_list(profiler, list, ZT__BY_RESET, "zt_reset");
        zt__try_collect(profiler, list);
    }
    return result;
}
