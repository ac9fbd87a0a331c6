/* zt_release and zt_reset: lists whose commands never run again. Their slots are freed by the next collection. */

#include "regions/resets.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/platform.h"
#include "regions/collecting.h"
#include "regions/names.h"
#include "regions/profiler.h"
#include "regions/regions.h"
#include "regions/slots.h"

ZT__PRIVATE void zt__mark_list_final(zt_profiler *profiler, ze_command_list_handle_t handle, zt__list_end by,
                                     const char *call) {
    const char *not_ended = NULL;
    int is_destroyed = by != ZT__BY_RESET;
    zt__slot *open;
    zt__list *list;
    zt__lock(&profiler->mutex);
    list = zt__find_list(profiler, handle);
    if (list && (by != ZT__BY_DESTROY || list->may_be_destroyed)) {
        list->may_be_destroyed = 0;
        while ((open = list->innermost) != NULL) {
            not_ended = open->region->name;
            zt__drop_open_slot(profiler, open, ZT_DROPPED_NOT_CLOSED, 1);
        }
        list->final_up_to = list->ended;
        if (is_destroyed) {
            list->name = NULL;
            if (list->ended > list->destroyed_up_to) { /* else it is released again */
                list->destroyed_up_to = list->ended;
                list->destroyed_was_unobserved = 0;
            }
            list->destroyed_was_unobserved |= list->state == ZT__LIST_UNOBSERVED;
        }
        /* The handle of a destroyed list may come back as a list of any kind. */
        if (is_destroyed && !profiler->driver.zeCommandListIsImmediate) {
            zt__move_list(profiler, list, ZT__LIST_UNKNOWN);
        } else if (list->state == ZT__LIST_SUBMITTED ||
                   (list->state == ZT__LIST_UNOBSERVED && is_destroyed)) {
            zt__move_list(profiler, list, ZT__LIST_RECORDED);
        }
    }
    zt__unlock(&profiler->mutex);
    if (not_ended) {
        zt__report(&profiler->diagnostics, REGION_NOT_ENDED, ZE_RESULT_ERROR_INVALID_ARGUMENT, call,
                   not_ended);
    }
}

/* Marks a list as final, and collects from it. Returns NOT_READY if samples of it are still on their way. */
static ze_result_t zt__end_list(zt_profiler *profiler, ze_command_list_handle_t list, zt__list_end by,
                                const char *call) {
    const zt__list *left;
    int is_pending;
    zt__mark_list_final(profiler, list, by, call);
    zt__try_collect(profiler, list, 1);
    zt__lock(&profiler->mutex);
    left = zt__find_list(profiler, list);
    is_pending = left && zt__is_on_its_way(left);
    zt__unlock(&profiler->mutex);
    return is_pending ? ZE_RESULT_NOT_READY : ZE_RESULT_SUCCESS;
}

ZT_API ze_result_t zt_release(zt_profiler *profiler, ze_command_list_handle_t list) {
    if (!profiler || !profiler->device) {
        return ZE_RESULT_SUCCESS;
    }
    if (!list) {
        return zt__report_null_handle(&profiler->diagnostics, "zt_release", "list");
    }
    return zt__end_list(profiler, list, ZT__BY_RELEASE, "zt_release");
}

ZT_API ze_result_t zt_reset(zt_profiler *profiler, ze_command_list_handle_t list) {
    ze_result_t result;
    if (!list) { /* some loaders dereference it */
        return zt__report_null_handle(zt__diagnostics_of(profiler), "zt_reset", "list");
    }
    result = zeCommandListReset(list);
    if (result == ZE_RESULT_SUCCESS && profiler && profiler->device) {
        zt__end_list(profiler, list, ZT__BY_RESET, "zt_reset");
    }
    return result;
}
