/* ZT_PASSES: activates the groups of one pass after another. */

#include "regions/passes.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/platform.h"
#include "base/shared.h"
#include "base/threads.h"
#include "metrics/availability.h"
#include "regions/collecting.h"
#include "regions/first_query.h"
#include "regions/profiler.h"
#include "regions/recordings.h"

/* Collects the samples of the active pass, and activates the groups of another. If that fails, returns to the
   groups of the active pass. */
static ze_result_t zt__enter_pass(zt_profiler *profiler, uint32_t index) {
    zt__pass *before = &profiler->passes[profiler->active_pass], *pass = &profiler->passes[index];
    uint64_t deadline = zt__deadline(profiler->config.wait_timeout_ns);
    zt__counter_holder holder;
    const char *call;
    ze_result_t result, returned;
    if (pass == before) {
        return ZE_RESULT_SUCCESS;
    }
    if (!zt__collect_until(profiler, ZT__ALL_SAMPLES, deadline)) {
        uint64_t awaited;
        zt__lock(&profiler->mutex);
        awaited = profiler->awaited;
        zt__unlock(&profiler->mutex);
        zt__report(&profiler->diagnostics, NOT_FINISHED, ZE_RESULT_NOT_READY, "ZT_PASSES",
                   (unsigned long long)awaited);
    }
    if (!zt__lock_until(&profiler->collector, deadline)) {
        return zt__report(&profiler->diagnostics, COLLECTOR_BUSY, ZE_RESULT_NOT_READY, "ZT_PASSES");
    }
    zt__lock(&profiler->mutex);
    profiler->activation++; /* regions that are open now are measured in neither pass */
    zt__unlock(&profiler->mutex);
    zt__deactivate_groups(profiler, before, before->group_count);
    ZT__INTERNAL(result = zt__activate_pass(profiler, pass, &holder, &call));
    if (result == ZE_RESULT_SUCCESS) {
        zt__lock(&profiler->mutex);
        profiler->active_pass = index;
        zt__unlock(&profiler->mutex);
    } else {
        zt__report(&profiler->diagnostics, PASS_FAILED, result, (unsigned)index, call, zt_result_name(result),
                   holder.text[0] ? holder.text : "none known");
        ZT__INTERNAL(returned = zt__activate_pass(profiler, before, &holder, &call));
        zt__check(&profiler->diagnostics, returned, call, "Samples are lost until the next ZT_PASSES.");
    }
    zt__unlock_timed(&profiler->collector);
    return result;
}

ZT__PRIVATE void zt__return_to_first_pass(zt_profiler *profiler) {
    int is_due;
    zt__lock(&profiler->mutex);
    is_due = profiler->returns_to_first_pass;
    profiler->returns_to_first_pass = 0;
    zt__unlock(&profiler->mutex);
    if (is_due && zt__enter_pass(profiler, 0) != ZE_RESULT_SUCCESS) {
        zt__lock(&profiler->mutex);
        profiler->returns_to_first_pass = 1;
        zt__unlock(&profiler->mutex);
    }
}

ZT_API zt__pass_state zt__begin_passes(zt_profiler *profiler) {
    zt__pass_state passes = {NULL, 0, 0};
    if (profiler && profiler->pass_count > 1 && profiler->device &&
        !zt__refuse_inside_callback(profiler, "ZT_PASSES")) {
        passes.profiler = profiler;
        zt__lock(&profiler->mutex);
        profiler->returns_to_first_pass = 0; /* these begin with it */
        zt__unlock(&profiler->mutex);
    }
    return passes;
}

/* A pass that cannot be entered is skipped, but the statement runs at least once. */
ZT_API int zt__next_pass(zt__pass_state *passes) {
    while (passes->profiler && passes->next < passes->profiler->pass_count) {
        if (zt__enter_pass(passes->profiler, passes->next++) == ZE_RESULT_SUCCESS) {
            passes->runs++;
            return 1;
        }
    }
    if (passes->runs++ == 0) {
        return 1;
    }
    zt__end_passes(passes);
    return 0;
}

ZT_API void zt__end_passes(zt__pass_state *passes) {
    zt_profiler *profiler = passes->profiler;
    if (profiler) {
        passes->profiler = NULL;
        zt__lock(&profiler->mutex);
        profiler->returns_to_first_pass = 1;
        zt__unlock(&profiler->mutex);
        zt__return_to_first_pass(profiler);
    }
}
