/* zt_get_info: what there is of a profiler. */

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/system.h"
#include "modules/kernels.h"
#include "regions/profiler.h"
#include "reports/own_time.h"
#include "results/attribution.h"
#include "results/results.h"
#include "streams/power.h"
#include "tracer/results.h"
#include "watch/watch.h"

ZT_API zt_info zt_get_info(const zt_profiler *profiler) {
    zt_info info;
    uint32_t i;
    memset(&info, 0, sizeof info);
    info.availability = zt__get_availability(profiler);
    info.availability_text = zt__get_availability_text(profiler);
    info.error = info.program = "";
    info.pass_count = 1;
    if (profiler) {
        zt__update_power(zt__mutable(profiler));
    }
    info.power = zt__get_power_info(profiler);
    zt__measure_own_time(profiler, &info.open_ns, &info.library_busy_ns);
    for (i = 0; i < ZT_CAUSE_COUNT; i++) {
        info.causes[i].name = zt__cause_name((zt_cause)i);
        info.causes[i].count = profiler ? zt__get_cause(profiler, (zt_cause)i) : 0;
    }
    if (!profiler) {
        return info;
    }
    info.error = zt__get_last_error(zt__diagnostics_of(profiler));
    info.program = profiler->facts.program;
    info.opened_s = profiler->facts.opened_s;
    info.packed_s = profiler->facts.packed_s;
    info.counts = zt__get_counts(profiler);
    info.path_count =
        zt__get_path_count(profiler); /* before that of the regions, so that it has all their regions */
    info.region_count = zt__get_region_count(profiler);
    info.metric_count = profiler->metric_count;
    info.streamed_count = zt__get_streamed_count(profiler);
    info.pass_count = profiler->pass_count;
    info.tile_count = profiler->tile_count;
    info.memory = zt__get_memory_info(profiler);
#ifdef ZETOOLS_TRACER
    info.launches = zt__get_launch_counts(profiler);
    info.kernel_count = zt__get_kernel_count(profiler);
    info.call_count = zt__get_call_count(profiler);
    info.hotspots = zt__get_hotspot_counts(profiler);
    info.hotspot_count = zt__get_hotspot_count(profiler);
#endif
#ifdef ZETOOLS_DEBUG
    info.watch = zt__get_watch_info(profiler);
#endif
    return info;
}
