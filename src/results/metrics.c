/* zt_get_metric, zt_find_metric and zt_get_stats: what the parameter `metric` stands for. */

#include "results/metrics.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/numbers.h"
#include "base/platform.h"
#include "base/text.h"
#include "metrics/driver.h"
#include "metrics/statistics.h"
#include "regions/columns.h"
#include "regions/profiler.h"
#include "results/attribution.h"
#include "results/results.h"

/* What a `metric` stands for. */
typedef struct zt__metric_place {
    const zt_metric *metric; /* NULL: there is none */
    int is_streamed;
    uint32_t column;    /* where its figures are in the row of a sample. Of a streamed metric: its index */
    const char *counts; /* what `index` is of, as <counts>_count of zt_info, for a message */
    uint32_t index;
} zt__metric_place;

/* ZT_GPU_TIME, ZT_QUEUE_LATENCY and ZT_LAUNCH_LATENCY, without their highest bit. */
static const zt_metric zt__times[1 + ZT__LATENCY_COUNT] = {
    {"GPU time", "", "", "ns", "", ZET_METRIC_TYPE_DURATION, ZT_AGGREGATE_SUM, 0},
    {"queue latency", "", "", "ns", "", ZET_METRIC_TYPE_DURATION, ZT_AGGREGATE_SUM, 0},
    {"launch latency", "", "", "ns", "", ZET_METRIC_TYPE_DURATION, ZT_AGGREGATE_SUM, 0}};

/* The kind is in the highest four bits: ZT_TILE has 6 bits for the tile below the highest two. */
static zt__metric_place zt__place_of_metric(const zt_profiler *profiler, uint32_t metric) {
    zt__metric_place place = {NULL, 0, 0, "metric", metric};
    uint32_t index = metric & 0x0FFFFFFFu, tile = metric >> 24 & 63, stream;
    switch (metric >> 28) {
    case 0x0:
        if (index < profiler->metric_count) {
            place.metric = &profiler->metrics[index];
            place.column = 1 + index;
        }
        break;
    case 0x4:
    case 0x5:
    case 0x6:
    case 0x7:
        place.index = metric & 0x00FFFFFFu;
        if (place.index < profiler->metric_count && tile < profiler->tile_count) {
            place.metric = &profiler->metrics[place.index];
            place.column = zt__tile_column(profiler, tile, place.index);
        } else if (place.index < profiler->metric_count) {
            place.counts = "tile";
            place.index = tile;
        }
        break;
    case 0x8:
        if (index < ZT__COUNT_OF(zt__times)) {
            place.metric = &zt__times[index];
            place.column = index ? zt__latency_column(profiler, index - 1) : 0;
        }
        break;
    case 0x9:
        place.counts = "pass";
        place.index = index;
        if (index < profiler->pass_count) {
            place.metric = &zt__times[0];
            place.column = zt__pass_time_column(profiler, index);
        }
        break;
    case 0xA:
        place.counts = "streamed";
        place.index = place.column = index;
        if (index < zt__get_streamed_count(profiler)) {
            place.metric = zt__streamed_metric_at(profiler, index, &stream);
            place.is_streamed = 1;
        }
        break;
    default:
        break;
    }
    return place;
}

ZT_API const zt_metric *zt_get_metric(const zt_profiler *profiler, uint32_t metric) {
    return profiler ? zt__place_of_metric(profiler, metric).metric : NULL;
}

ZT__PRIVATE const char *zt__name_of_metric(const void *metrics, uint32_t index) {
    return ((const zt_metric *)metrics)[index].name;
}

/* For zt__find_metric among the metrics of a profiler and then those of its streams. */
static const char *zt__name_of_any(const void *user, uint32_t index) {
    const zt_profiler *profiler = (const zt_profiler *)user;
    uint32_t own = profiler->metric_count;
    return zt_get_metric(profiler, index < own ? index : ZT_STREAMED(index - own))->name;
}

ZT__PRIVATE uint32_t zt__find_metric(zt__diagnostics *diagnostics, const char *call, const void *metrics,
                                     zt__name_fn name_at, uint32_t count, const char *name,
                                     zt__nearest *nearest) {
    zt__nearest found;
    uint32_t i;
    for (i = 0; i < count; i++) {
        if (strcmp(name_at(metrics, i), name) == 0) {
            return i;
        }
    }
    found = zt__find_nearest(name, metrics, count, name_at);
    zt__report(diagnostics, NO_SUCH_METRIC, ZE_RESULT_ERROR_INVALID_ARGUMENT, call, name, found.text);
    if (nearest) {
        *nearest = found;
    }
    return UINT32_MAX;
}

ZT_API uint32_t zt_find_metric(const zt_profiler *profiler, const char *name) {
    uint32_t own, index;
    if (!profiler || !name) {
        return UINT32_MAX;
    }
    own = profiler->metric_count;
    index = zt__find_metric(&zt__mutable(profiler)->diagnostics, "zt_find_metric", profiler, zt__name_of_any,
                            own + zt__get_streamed_count(profiler), name, NULL);
    return index < own || index == UINT32_MAX ? index : ZT_STREAMED(index - own);
}

ZT_API ze_result_t zt_get_stats(const zt_profiler *profiler, uint32_t region, uint32_t metric,
                                zt_stats *stats) {
    const char *call = "zt_get_stats";
    zt_profiler *locked = zt__mutable(profiler);
    zt__metric_place place;
    zt__subject subject;
    zt__moments rows;
    ze_result_t result;
    if (stats) {
        zt__clear_stats(stats);
    }
    if (!profiler) {
        return ZE_RESULT_SUCCESS;
    }
    place = zt__place_of_metric(profiler, metric);
    if (!place.metric) {
        return zt__report_index(profiler, call, place.counts, place.index);
    }
    subject = zt__get_subject(profiler, call, region, "stats", stats, &result);
    if (subject.region && place.is_streamed) {
        zt__lock(&locked->mutex);
        rows = zt__sum_streamed(subject, place.column);
        zt__unlock(&locked->mutex);
        zt__get_moments(ZT_AGGREGATE_MEAN, &rows,
                        stats); /* a row is in several samples, so there is no sum */
        stats->rate = place.metric->aggregation == ZT_AGGREGATE_MEAN ? stats->mean : zt__nan();
    } else if (subject.region) {
        zt__get_column(locked, subject, place.column, stats, NULL, NULL);
    }
    return result;
}
