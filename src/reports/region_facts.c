/* The list of what reports have of a region, a phase or a path. */

#include "reports/region_facts.h"

#include "base/compiler.h"
#include "base/numbers.h"
#include "regions/columns.h"
#include "reports/facts.h"
#include "results/results.h"
#include "results/roles.h"

ZT__PRIVATE const zt__region_fact zt__region_facts[ZT__REGION_FACT_COUNT] = {
/* clang-format off */
#define X(id, value, set, units, type, aggregation, csv, json, column, is_default, rank, rows, family, help)  \
    {ZT__FACTS_OF_##set,                                                                                     \
     {units, ZET_METRIC_TYPE_##type, ZT_AGGREGATE_##aggregation, csv, json, family, help},                   \
     column, is_default, rank, ZT__FAMILY_OF_##rows},
    ZT__REGION_FACTS(X)
#undef X
    /* clang-format on */
};

ZT__PRIVATE zt__region_values zt__list_region_values(const zt__document *document) {
    const zt_region_info *info = &document->region;
    const zt__nesting *nesting = document->nesting;
    const zt__peak_shares *of_peak = &document->of_peak;
    const zt_stats *time = &document->stats[0];
    const zt_stats *latencies = &document->stats[zt__latency_column(document->profiler, 0)];
    const zt__power_sums *power = &document->totals.power;
    const double throttled_s = zt__known_sum(power->throttled_s, power->clock_s, document->totals.power_s);
    zt__region_values list;
#define X(id, value, set, units, type, aggregation, csv, json, column, is_default, rank, rows, family, help) \
    list.values[ZT__FACT_##id] = value;
    ZT__REGION_FACTS(X)
#undef X
    return list;
}

ZT__PRIVATE int zt__has_facts(const zt__document *document, zt__fact_set set) {
    const zt_region_info *info = &document->region;
    const zt__peak_shares *of_peak = &document->of_peak;
    switch (set) {
    case ZT__FACTS_OF_PHASES:
    case ZT__FACTS_OF_POWER:
        return info->is_phase;
    case ZT__FACTS_OF_MEMORY:
        return !zt__is_nan(info->unfreed_bytes);
    case ZT__FACTS_OF_COPIES:
        return info->bytes > 0;
    case ZT__FACTS_OF_PEAKS:
        return !zt__is_nan(of_peak->bandwidth) || !zt__is_nan(of_peak->compute) ||
               !zt__is_nan(of_peak->xmx) || !zt__is_nan(of_peak->occupancy);
    default:
        return 1;
    }
}
