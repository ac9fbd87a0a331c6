/* zt_collect: collects what is ready, and waits for what is on its way. */

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/platform.h"
#include "base/system.h"
#include "base/threads.h"
#include "regions/collecting.h"
#include "regions/passes.h"
#include "regions/profiler.h"

ZT_API ze_result_t zt_collect(zt_profiler *profiler, uint64_t timeout_ns) {
    void (*collect_hotspots)(zt_profiler *);
    int is_complete = 1;
    if (!profiler || !profiler->device) {
        return ZE_RESULT_SUCCESS;
    }
    if (zt__refuse_inside_callback(profiler, "zt_collect")) {
        return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
    }
    zt__check_tracing(profiler);
    collect_hotspots = zt__load(&profiler->collect_hotspots);
    if (collect_hotspots) {
        collect_hotspots(profiler);
    }
    zt__return_to_first_pass(profiler);
    zt__request_looks(profiler);
    if (timeout_ns) {
        is_complete = zt__collect_until(profiler, ZT__ALL_SAMPLES, zt__deadline(timeout_ns));
    } else {
        zt__try_collect(profiler, NULL);
    }
    if (zt__is_device_lost(&profiler->diagnostics)) {
        return ZE_RESULT_ERROR_DEVICE_LOST;
    }
    return is_complete ? ZE_RESULT_SUCCESS
                       : zt__report(&profiler->diagnostics, TIMED_OUT, ZE_RESULT_NOT_READY, "zt_collect",
                                    (unsigned long long)timeout_ns);
}
