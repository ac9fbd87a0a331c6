/* Activation of the groups of a pass, and the first query, which shows whether they work. */

#include "regions/first_query.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/platform.h"
#include "base/threads.h"
#include "metrics/activation.h"
#include "metrics/availability.h"
#include "regions/probes.h"
#include "regions/profiler.h"
#include "regions/recordings.h"

/* ---- activation ------------------------------------------------------------------------------------------ */

ZT__PRIVATE void zt__deactivate_groups(zt_profiler *profiler, const zt__pass *pass, uint32_t count) {
    uint32_t g;
    for (g = 0; g < count; g++) {
        zt__check(&profiler->diagnostics,
                  zt__deactivate_group(profiler->context, profiler->device, &pass->groups[g]),
                  "zetContextActivateMetricGroups", "The metric groups may stay active.");
    }
}

ZT__PRIVATE ze_result_t zt__activate_groups(zt_profiler *profiler, const zt__pass *pass,
                                            zt__counter_holder *holder) {
    uint32_t g;
    holder->text[0] = 0;
    for (g = 0; g < pass->group_count; g++) {
        ze_result_t result =
            zt__activate_group(profiler->context, profiler->device, &pass->groups[g], 0, holder);
        if (result != ZE_RESULT_SUCCESS) {
            zt__deactivate_groups(profiler, pass, g);
            return result;
        }
    }
    return ZE_RESULT_SUCCESS;
}

/* ---- the first query ------------------------------------------------------------------------------------- */

/* Waits until the device is done with the first query. A failed call is repeated a few times, because what
   the device uses must not be destroyed. */
static ze_result_t zt__await_first_query(const zt__first_query *query, uint64_t deadline, const char **call) {
    enum { MOST_ERRORS = 4 };
    zt__wait wait = zt__wait_until(deadline);
    uint32_t errors = 0;
    int has_run = 0;
    ze_result_t result;
    do {
        *call = has_run ? "zeCommandQueueSynchronize" : "zeEventQueryStatus";
        result =
            has_run ? zeCommandQueueSynchronize(query->queue, 0) : zeEventQueryStatus(query->probe->event);
        if (result == ZE_RESULT_SUCCESS && has_run) {
            return result;
        }
        has_run |= result == ZE_RESULT_SUCCESS;
        errors += result != ZE_RESULT_SUCCESS && result != ZE_RESULT_NOT_READY;
    } while (result == ZE_RESULT_SUCCESS || (errors < MOST_ERRORS && zt__wait_again(&wait)));
    return result;
}

static void zt__destroy_first_query(zt__first_query *query) {
    if (query->list) {
        zeCommandListDestroy(query->list);
    }
    if (query->queue) {
        zeCommandQueueDestroy(query->queue);
    }
    memset(query, 0, sizeof *query);
}

ZT__PRIVATE int zt__finish_first_query(zt_profiler *profiler, zt__pass *pass, uint64_t deadline) {
    zt__first_query *query = &pass->first_query;
    const char *call;
    if (!query->probe) {
        return 1;
    }
    if (!zt__is_device_lost(&profiler->diagnostics) &&
        zt__await_first_query(query, deadline, &call) != ZE_RESULT_SUCCESS) {
        return 0;
    }
    query->probe->may_be_written = 0;
    zt__destroy_first_query(query);
    return 1;
}

/* Takes a probe, and submits the first query. Without a free probe, `query->probe` is NULL. */
static ze_result_t zt__submit_first_query(zt_profiler *profiler, zt__pass *pass, zt__first_query *query,
                                          const char **call) {
    ze_command_queue_group_properties_t groups[16];
    ze_command_queue_desc_t queue_desc;
    ze_command_list_desc_t list_desc;
    zt__probe *probe;
    uint32_t i, g, count = ZT__COUNT_OF(groups);
    ze_result_t result;
    memset(query, 0, sizeof *query);
    if (!zt__finish_first_query(profiler, pass, 0)) {
        return ZE_RESULT_NOT_READY;
    }
    zt__lock(&profiler->mutex);
    query->probe = probe = zt__pop_free_probe(pass);
    zt__unlock(&profiler->mutex);
    if (!probe) {
        return ZE_RESULT_NOT_READY;
    }

    memset(groups, 0, sizeof groups);
    for (i = 0; i < count; i++) {
        groups[i].stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES;
    }
    *call = "zeDeviceGetCommandQueueGroupProperties";
    result = zeDeviceGetCommandQueueGroupProperties(profiler->device, &count, groups);
    count = count < ZT__COUNT_OF(groups) ? count : ZT__COUNT_OF(groups);
    for (i = 0; i < count && !(groups[i].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE);) {
        i++;
    }
    memset(&queue_desc, 0, sizeof queue_desc);
    queue_desc.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
    queue_desc.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
    queue_desc.ordinal = i < count ? i : 0;
    memset(&list_desc, 0, sizeof list_desc);
    list_desc.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC;
    list_desc.commandQueueGroupOrdinal = queue_desc.ordinal;
    if (result == ZE_RESULT_SUCCESS) {
        *call = "zeCommandQueueCreate";
        result = zeCommandQueueCreate(profiler->context, profiler->device, &queue_desc, &query->queue);
    }
    if (result == ZE_RESULT_SUCCESS) {
        *call = "zeCommandListCreate";
        result = zeCommandListCreate(profiler->context, profiler->device, &list_desc, &query->list);
    }
    if (result == ZE_RESULT_SUCCESS && pass->group_count == 0) {
        *call = "zeCommandListAppendBarrier";
        result = zeCommandListAppendBarrier(query->list, probe->event, 0, NULL);
    }
    for (g = 0; g < pass->group_count && result == ZE_RESULT_SUCCESS; g++) {
        *call = "zetCommandListAppendMetricQueryBegin";
        result = zetCommandListAppendMetricQueryBegin(query->list, probe->queries[g]);
    }
    for (g = pass->group_count; g-- > 0 && result == ZE_RESULT_SUCCESS;) {
        *call = "zetCommandListAppendMetricQueryEnd";
        result = zetCommandListAppendMetricQueryEnd(query->list, probe->queries[g], g ? NULL : probe->event,
                                                    0, &probe->event);
    }
    if (result == ZE_RESULT_SUCCESS) {
        *call = "zeCommandListClose";
        result = zeCommandListClose(query->list);
    }
    if (result == ZE_RESULT_SUCCESS) {
        *call = "zeCommandQueueExecuteCommandLists";
        result = zeCommandQueueExecuteCommandLists(query->queue, 1, &query->list, NULL);
        probe->may_be_written = result == ZE_RESULT_SUCCESS;
    }
    return result;
}

/* Waits for the first query, and returns its probe. `result` is that of its submission. */
static int zt__end_first_query(zt_profiler *profiler, zt__pass *pass, zt__first_query *query,
                               ze_result_t result, const char *call, ze_kernel_timestamp_result_t *stamps) {
    const char *remedy = stamps ? "Kernels may be at wrong places on the timeline."
                                : "The first regions of several threads may disturb each other.";
    zt__probe *probe = query->probe;
    int is_clean = 1;
    if (!probe) {
        return 0;
    }
    if (result == ZE_RESULT_SUCCESS) {
        result = zt__await_first_query(query, zt__deadline(profiler->config.wait_timeout_ns), &call);
        probe->may_be_written = result != ZE_RESULT_SUCCESS;
        if (result == ZE_RESULT_SUCCESS && stamps) {
            call = "zeEventQueryKernelTimestamp";
            result = zeEventQueryKernelTimestamp(probe->event, stamps);
        }
        if (result == ZE_RESULT_SUCCESS) {
            result = zt__reset_probe(profiler, probe, &call);
        }
        is_clean = result == ZE_RESULT_SUCCESS;
    }
    zt__lock(&profiler->mutex);
    probe->is_retired = !is_clean;
    zt__free_probe(profiler, probe);
    zt__unlock(&profiler->mutex);
    zt__check(&profiler->diagnostics, result, call, remedy);
    if (probe->may_be_written && !zt__is_device_lost(&profiler->diagnostics)) {
        pass->first_query = *query;
    } else {
        zt__destroy_first_query(query);
    }
    return result == ZE_RESULT_SUCCESS;
}

ZT__PRIVATE int zt__run_first_query(zt_profiler *profiler, zt__pass *pass,
                                    ze_kernel_timestamp_result_t *stamps) {
    zt__first_query query;
    const char *call = NULL;
    ze_result_t result = zt__submit_first_query(profiler, pass, &query, &call);
    return zt__end_first_query(profiler, pass, &query, result, call, stamps);
}

ZT__PRIVATE ze_result_t zt__activate_pass(zt_profiler *profiler, zt__pass *pass, zt__counter_holder *holder,
                                          const char **call) {
    zt__first_query query;
    const char *first_call = NULL;
    ze_result_t result, submitted = ZE_RESULT_NOT_READY;
    memset(&query, 0, sizeof query);
    zt__hold_submissions();
    *call = "zetContextActivateMetricGroups";
    result = zt__activate_groups(profiler, pass, holder);
    if (result == ZE_RESULT_SUCCESS && pass->probe_count == 0) {
        result = zt__make_probes(profiler, pass, call);
        if (result != ZE_RESULT_SUCCESS) {
            zt__deactivate_groups(profiler, pass, pass->group_count);
        }
    }
    if (result == ZE_RESULT_SUCCESS) {
        submitted = zt__submit_first_query(profiler, pass, &query, &first_call);
    }
    zt__let_submissions_go();
    zt__end_first_query(profiler, pass, &query, submitted, first_call, NULL);
    return result;
}
