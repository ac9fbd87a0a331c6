/* The list of what reports have of the whole run. */

#include "reports/run_facts.h"

#include "base/compiler.h"
#include "base/numbers.h"
#include "base/system.h"
#include "regions/profiler.h"
#include "reports/facts.h"
#include "reports/own_time.h"
#include "results/results.h"
#include "streams/power.h"

ZT__PRIVATE const zt__run_fact zt__run_texts[ZT__RUN_TEXT_COUNT] = {
#define X(id, text, set, csv, json) {ZT__RUN_##set, {"", -1, ZT_AGGREGATE_NONE, csv, json, "", ""}},
    ZT__RUN_TEXTS(X)
#undef X
};

ZT__PRIVATE const zt__run_fact zt__run_figures[ZT__RUN_FIGURE_COUNT] = {
#define X(id, value, set, units, type, aggregation, csv, json, family, help)                                 \
    {ZT__RUN_##set, {units, ZET_METRIC_TYPE_##type, ZT_AGGREGATE_##aggregation, csv, json, family, help}},
    ZT__RUN_FIGURES(X)
#undef X
};

/* Returns NaN for 0, which stands for what is not known. */
static double zt__known(double figure) {
    return figure > 0 ? figure : zt__nan();
}

ZT__PRIVATE void zt__read_run(const zt__document *document, zt__run *run) {
    const zt_profiler *profiler = document->profiler;
    const zt__facts *facts = &profiler->facts;
    const zt__peaks *peaks = &document->advice.peaks;
    const zt_overlap *overlap = &document->coverage.overlap;
    const double gpu_time_ns = document->gpu_time_ns, busy_ns = document->busy_ns;
    const zt_power_info power = zt__get_power_info(profiler);
    const zt_memory_info memory = zt__get_memory_info(profiler);
    const zt_counts counts = zt__get_counts(profiler);
    double open_ns, library_busy_ns;
    zt__measure_own_time(profiler, &open_ns, &library_busy_ns);
    run->now = zt__format_now();
    run->opened = zt__format_date(facts->opened_s);
#define X(id, text, set, csv, json) run->texts[ZT__RUN_TEXT_##id] = text;
    ZT__RUN_TEXTS(X)
#undef X
#define X(id, value, set, units, type, aggregation, csv, json, family, help)                                 \
    run->figures[ZT__RUN_FIGURE_##id] = value;
    ZT__RUN_FIGURES(X)
#undef X
    memcpy(run->throttled_by, power.throttled_by, sizeof run->throttled_by);

    run->sets = 1u << ZT__RUN_HEAD | 1u << ZT__RUN_DEVICE | 1u << ZT__RUN_TIMES | 1u << ZT__RUN_OWN_TIME |
                1u << ZT__RUN_COUNTS;
    if (zt__has_power(profiler)) {
        run->sets |= 1u << ZT__RUN_POWER;
    }
    if (profiler->timeline) {
        run->sets |= 1u << ZT__RUN_OVERLAP;
    }
    if (peaks->bytes > 0 || peaks->operations > 0) {
        run->sets |= 1u << ZT__RUN_PEAKS;
    }
    if (memory.is_watched) {
        run->sets |= 1u << ZT__RUN_MEMORY;
    }
}

ZT__PRIVATE int zt__has_run_set(const zt__run *run, zt__run_set set) {
    return (run->sets >> set & 1) != 0;
}
