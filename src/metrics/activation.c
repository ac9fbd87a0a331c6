/* Activation of metric groups, once in a process. */

#include "metrics/activation.h"

#include "base/compiler.h"
#include "base/platform.h"
#include "base/shared.h"
#include "base/threads.h"
#include "metrics/availability.h"
#include "metrics/groups.h"

/* A driver may take long for a call, so that neither waits longer for the other. */
enum { ZT__LONGEST_EXCLUSION_NS = 1000000000 };

/* Calls that execute lists which this thread is in: a hook may execute others inside of one. */
static ZT__THREAD_LOCAL uint32_t zt__own_submissions;

/* Calls of zt__hold_submissions that this thread is in, and whether no other thread holds them meanwhile. */
static ZT__THREAD_LOCAL uint32_t zt__own_holds;
static ZT__THREAD_LOCAL int zt__holds_alone;

ZT__PRIVATE void zt__begin_submission(void) {
    zt__process *process = zt__get_process();
    zt__wait wait;
    if (!process || zt__own_submissions++ > 0) {
        return;
    }
    zt__add(&process->submissions, 1u);
    if (zt__own_holds > 0 || zt__add(&process->activations, 0u) == 0) {
        return;
    }
    wait = zt__wait_until(zt__deadline(ZT__LONGEST_EXCLUSION_NS));
    do {
        zt__add(&process->submissions, UINT32_MAX);
        while (zt__add(&process->activations, 0u) > 0 && zt__wait_again(&wait)) {
        }
        zt__add(&process->submissions, 1u);
    } while (zt__add(&process->activations, 0u) > 0 && zt__wait_again(&wait));
}

ZT__PRIVATE void zt__end_submission(void) {
    zt__process *process = zt__get_process();
    if (process && --zt__own_submissions == 0) {
        zt__add(&process->submissions, UINT32_MAX);
    }
}

ZT__PRIVATE void zt__hold_submissions(void) {
    zt__process *process = zt__get_process();
    zt__wait wait = zt__wait_until(zt__deadline(ZT__LONGEST_EXCLUSION_NS));
    if (!process || zt__own_holds++ > 0) {
        return;
    }
    zt__add(&process->activations, 1u);
    do {
        zt__holds_alone = zt__change_if(&process->is_held, 0, 1);
    } while (!zt__holds_alone && zt__wait_again(&wait));
    while (zt__add(&process->submissions, 0u) > (zt__own_submissions > 0) && zt__wait_again(&wait)) {
    }
}

ZT__PRIVATE void zt__let_submissions_go(void) {
    zt__process *process = zt__get_process();
    if (!process || --zt__own_holds > 0) {
        return;
    }
    if (zt__holds_alone) {
        zt__change_if(&process->is_held, 1, 0);
    }
    zt__add(&process->activations, UINT32_MAX);
}

/* Activates all groups that are in use on a device, because each activation replaces the whole set, even from
   another context. Executions are held, and so is the mutex of the process. */
static ze_result_t zt__update_activation(zt__process *process, ze_context_handle_t context,
                                         ze_device_handle_t device) {
    zet_metric_group_handle_t groups[ZT__MAX_ACTIVE_GROUPS];
    uint32_t i, count = 0;
    for (i = 0; i < ZT__MAX_ACTIVE_GROUPS; i++) {
        const zt__active_group *active = &process->active_groups[i];
        if (active->users && active->device == device) {
            groups[count++] = active->group;
        }
    }
    return zetContextActivateMetricGroups(context, device, count, count ? groups : NULL);
}

ZT__PRIVATE ze_result_t zt__activate_group(ze_context_handle_t context, ze_device_handle_t device,
                                           const zt__group *group, int is_streamed,
                                           zt__counter_holder *holder) {
    zt__process *process = zt__get_process();
    zt__active_group *shared = NULL, *conflicting = NULL, *unused = NULL;
    ze_result_t result = ZE_RESULT_SUCCESS;
    uint32_t i;
    holder->text[0] = 0;
    if (!process) {
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    zt__hold_submissions();
    zt__lock(&process->mutex);
    for (i = 0; i < ZT__MAX_ACTIVE_GROUPS; i++) {
        zt__active_group *active = &process->active_groups[i];
        if (!active->users) {
            unused = active;
        } else if (active->device == device && active->group == group->handle && !active->is_streamed &&
                   !is_streamed) {
            shared = active;
        } else if (active->domain == group->properties.domain && zt__share_counters(active->device, device)) {
            conflicting = active;
        }
    }
    if (shared) {
        shared->users++;
    } else if (conflicting) {
        zt__describe_holder(conflicting, holder);
        result = ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
    } else if (!unused) {
        result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    } else {
        unused->device = device;
        unused->group = group->handle;
        unused->domain = group->properties.domain;
        unused->users = 1;
        unused->is_streamed = is_streamed;
        memcpy(unused->name, group->properties.name, sizeof unused->name);
        result = zt__update_activation(process, context, device);
        if (result != ZE_RESULT_SUCCESS) {
            unused->users = 0;
        }
    }
    zt__unlock(&process->mutex);
    zt__let_submissions_go();
    return result;
}

ZT__PRIVATE ze_result_t zt__deactivate_group(ze_context_handle_t context, ze_device_handle_t device,
                                             const zt__group *group) {
    zt__process *process = zt__get_process();
    ze_result_t result = ZE_RESULT_SUCCESS;
    uint32_t i;
    if (!process) {
        return result;
    }
    zt__hold_submissions();
    zt__lock(&process->mutex);
    for (i = 0; i < ZT__MAX_ACTIVE_GROUPS; i++) {
        zt__active_group *active = &process->active_groups[i];
        if (active->users && active->device == device && active->group == group->handle) {
            active->users--;
            if (!active->users) {
                result = zt__update_activation(process, context, device);
            }
            break;
        }
    }
    zt__unlock(&process->mutex);
    zt__let_submissions_go();
    return result;
}

ZT__PRIVATE ze_result_t zt__create_query_pool(ze_context_handle_t context, ze_device_handle_t device,
                                              zet_metric_group_handle_t group, uint32_t count,
                                              zet_metric_query_pool_handle_t *pool) {
    zet_metric_query_pool_desc_t desc;
    ze_result_t result;
    memset(&desc, 0, sizeof desc);
    desc.stype = ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC;
    desc.type = ZET_METRIC_QUERY_POOL_TYPE_PERFORMANCE;
    desc.count = count;
    zt__hold_submissions();
    result = zetMetricQueryPoolCreate(context, device, group, &desc, pool);
    zt__let_submissions_go();
    return result;
}

ZT__PRIVATE void zt__destroy_query_pool(zet_metric_query_pool_handle_t pool) {
    zt__hold_submissions();
    zetMetricQueryPoolDestroy(pool);
    zt__let_submissions_go();
}
