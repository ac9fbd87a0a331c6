/* The role of a metric, such as memory read, by its names on devices; a region's figures by role. */

#include "results/roles.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/platform.h"
#include "base/text.h"
#include "metrics/selection.h"
#include "metrics/statistics.h"
#include "regions/columns.h"
#include "regions/profiler.h"
#include "results/attribution.h"
#include "results/overlap.h"
#include "results/results.h"
#include "results/roofline.h"

/* ---- roles of metrics ------------------------------------------------------------------------------------ */

ZT__PRIVATE const zt__role_description zt__roles[ZT__ROLE_COUNT] = {
    /* clang-format off */
    {0, ZT__QUANTITY_NOTHING, "", {"", "", ""}},
#define X(role, is_column, quantity, name, xe2, alchemist, gen)                                              \
    {is_column, ZT__QUANTITY_##quantity, name, {xe2, alchemist, gen}},
    ZT__ROLES(X)
#undef X
    /* clang-format on */
};

ZT__PRIVATE zt__quantity zt__quantity_of(const zt_metric *metric) {
    int is_event = metric->type == ZET_METRIC_TYPE_EVENT;
    if (metric->aggregation == ZT_AGGREGATE_FLAG || metric->aggregation == ZT_AGGREGATE_NONE ||
        strstr(metric->name, "Uncertainty")) {
        return ZT__QUANTITY_NOTHING;
    }
    if (!is_event && (strcmp(metric->units, "percent") == 0 || strcmp(metric->units, "%") == 0)) {
        return ZT__QUANTITY_SHARE;
    }
    if (zt__ends_with(metric->units, "BpS", strcmp) || zt__ends_with(metric->units, "Bps", strcmp)) {
        return ZT__QUANTITY_RATE;
    }
    if (strcmp(metric->units, "bytes") == 0) {
        return ZT__QUANTITY_BYTES; /* older metric sets count bytes, but give them the type of throughputs */
    }
    if (metric->aggregation == ZT_AGGREGATE_SUM && strcmp(metric->units, "cycles") != 0 &&
        strcmp(metric->units, "ns") != 0) {
        return ZT__QUANTITY_EVENTS;
    }
    return ZT__QUANTITY_OTHER;
}

ZT__PRIVATE void zt__match_roles(const zt_metric *metric, uint32_t index, uint32_t *of_roles,
                                 uint32_t *naming) {
    zt__quantity quantity = zt__quantity_of(metric);
    uint32_t role, i;
    for (role = ZT__NO_ROLE + 1; role < ZT__ROLE_COUNT; role++) {
        const zt__role_description *described = &zt__roles[role];
        uint32_t found = 0, last = 0;
        for (i = 0; i < ZT__NAMING_COUNT && described->quantity == quantity; i++) {
            if (described->metrics[i][0] && zt__is_selected(described->metrics[i], metric->name)) {
                last = i;
                found++;
            }
        }
        if (found && of_roles[role] == UINT32_MAX) {
            of_roles[role] = index;
        }
        if (found == 1 && *naming == ZT__NAMING_COUNT) {
            *naming = last;
        }
    }
}

/* Looks for a group of the device that has metrics of the roles that none is measured of. Stalls and
   occupancy decide most rules, so they count more than all others together. */
static void zt__look_elsewhere(const zt_profiler *profiler, zt__advice *advice) {
    const char *lists[ZT__ROLE_COUNT];
    uint32_t role, weights[ZT__ROLE_COUNT] = {0};
    if (advice->naming == ZT__NAMING_COUNT || !profiler->device || profiler->selection.group_count == 0 ||
        zt__is_device_lost(&profiler->diagnostics)) {
        return;
    }
    for (role = ZT__NO_ROLE; role < ZT__ROLE_COUNT; role++) {
        lists[role] = zt__roles[role].metrics[advice->naming];
        weights[role] = advice->metrics[role] == UINT32_MAX && advice->streamed[role] == UINT32_MAX;
    }
    weights[ZT__ROLE_EU_STALL] *= ZT__ROLE_COUNT;
    weights[ZT__ROLE_EU_OCCUPANCY] *= ZT__ROLE_COUNT;
    zt__find_other_group(&zt__mutable(profiler)->diagnostics, &profiler->config.allocator, &profiler->driver,
                         profiler->device, &profiler->selection, lists, weights, ZT__ROLE_COUNT,
                         advice->elsewhere, advice->other_group);
}

ZT__PRIVATE void zt__prepare_figures(const zt_profiler *profiler, zt__advice *advice) {
    uint32_t i, streamed = zt__get_streamed_count(profiler);
    memset(advice, 0, sizeof *advice);
    memset(advice->metrics, 0xFF, sizeof advice->metrics);
    memset(advice->streamed, 0xFF, sizeof advice->streamed);
    advice->naming = ZT__NAMING_COUNT;
    for (i = 0; i < profiler->metric_count; i++) {
        zt__match_roles(&profiler->metrics[i], i, advice->metrics, &advice->naming);
    }
    for (i = 0; i < streamed; i++) {
        const zt_metric *metric = zt_get_metric(profiler, ZT_STREAMED(i));
        if (zt__quantity_of(metric) == ZT__QUANTITY_SHARE) {
            zt__match_roles(metric, i, advice->streamed, &advice->naming);
        }
    }
    advice->peaks = zt__get_peaks(zt__mutable(profiler));
    advice->wall_share = zt__get_coverage(zt__mutable(profiler)).wall_share;
}

ZT__PRIVATE void zt__prepare_advice(const zt_profiler *profiler, zt__advice *advice) {
    zt__prepare_figures(profiler, advice);
    zt__look_elsewhere(profiler, advice);
}

/* ---- figures of a region --------------------------------------------------------------------------------- */

ZT__PRIVATE double zt__scale_of_rate(const char *units) {
    switch (units[0]) {
    case 'T':
        return 1e3;
    case 'G':
        return 1;
    case 'M':
        return 1e-3;
    case 'k':
    case 'K':
        return 1e-6;
    default:
        return 1e-9;
    }
}

ZT__PRIVATE double zt__percent_of(double part, double whole) {
    return zt__is_positive(whole) && !zt__is_nan(part) ? 100 * part / whole : zt__nan();
}

static double zt__first_measured(double first, double second) {
    return zt__is_nan(first) ? second : first;
}

/* Returns by which part of itself a mean may differ from that of other samples: four standard errors, of which hardly
   any set of samples is farther away. The error of few samples is itself not known well, so the factor is larger, about
   as the quantile of Student's distribution is. */
static double zt__relative_error(const zt__moments *moments) {
    double count = (double)moments->count, freedom = count - 1, variance;
    if (moments->count < 2 || !zt__is_positive(moments->weight) || moments->mean == 0) {
        return 0;
    }
    variance = moments->m2 / (moments->weight * freedom / count);
    return (4 + 60 / (freedom * sqrt(freedom))) * sqrt(variance / count) / fabs(moments->mean);
}

/* Returns the error of the first of two roles that was measured. */
static double zt__error_of(zt__role role, zt__role other, const double figures[ZT__ROLE_COUNT],
                           const double errors[ZT__ROLE_COUNT]) {
    return errors[zt__is_nan(figures[role]) ? other : role];
}

ZT__PRIVATE void zt__read_figures(zt_profiler *profiler, const zt__advice *advice, zt__subject subject,
                                  double figures[ZT__ROLE_COUNT], double errors[ZT__ROLE_COUNT]) {
    double time = zt__nan(), time_error = 0, read, written, kernels, busy;
    zt__moments moments, of_time;
    zt__totals totals;
    zt_stats launch;
    uint32_t role;
    zt__lock(&profiler->mutex);
    totals = zt__add_up(subject);
    for (role = ZT__NO_ROLE; role < ZT__ROLE_COUNT; role++) {
        const uint32_t index = advice->metrics[role], streamed = advice->streamed[role];
        const zt__quantity quantity = zt__roles[role].quantity;
        double figure = zt__nan(), error = 0; /* relative */
        if (index != UINT32_MAX) {
            const zt_metric *metric = &profiler->metrics[index];
            moments = zt__sum_moments(subject, 1 + index);
            of_time = zt__sum_moments(subject, zt__pass_time_column(profiler, metric->pass));
            if (moments.count == 0) {
                figure = zt__nan();
            } else if (quantity == ZT__QUANTITY_BYTES || quantity == ZT__QUANTITY_EVENTS) {
                /* a rate, so that figures of different passes can be compared */
                figure = zt__is_positive(of_time.sum) ? moments.sum / of_time.sum : zt__nan();
                error = zt__relative_error(&moments) + zt__relative_error(&of_time);
            } else if (moments.weight > 0) {
                figure =
                    moments.mean * (quantity == ZT__QUANTITY_RATE ? zt__scale_of_rate(metric->units) : 1);
                error = zt__relative_error(&moments);
            }
        }
        if (zt__is_nan(figure) && streamed != UINT32_MAX) {
            moments = zt__sum_streamed(subject, streamed);
            figure = moments.weight > 0 ? moments.mean : zt__nan();
            error = zt__relative_error(&moments);
        }
        figures[role] = zt__is_finite(figure) ? figure : zt__nan();
        errors[role] = zt__is_finite(figure * error) ? fabs(figure * error) : 0;
    }
    /* Of the samples with metrics, if there are any, because it is multiplied by what these measure. */
    of_time = zt__sum_moments(subject, totals.with_metrics ? zt__pass_time_column(profiler, 0) : 0);
    if (of_time.count) {
        time = of_time.sum / (double)of_time.count;
        time_error = zt__relative_error(&of_time);
    }
    if (subject.region->operations > 0 && zt__is_positive(time)) {
        figures[ZT__ROLE_OPERATIONS] = subject.region->operations / time;
        errors[ZT__ROLE_OPERATIONS] = figures[ZT__ROLE_OPERATIONS] * time_error;
    }
    moments = zt__sum_moments(subject, zt__latency_column(profiler, ZT__LAUNCH_LATENCY));
    zt__unlock(&profiler->mutex);
    zt__get_moments(ZT_AGGREGATE_SUM, &moments, &launch);
    zt__hide_uncertain(&launch, totals.launch_error_ns);
    figures[ZT__ROLE_LEAST_LAUNCH] =
        launch.min / 1000; /* others may contain the time of work before the region */
    figures[ZT__ROLE_L3_HIT_SHARE] =
        zt__percent_of(figures[ZT__ROLE_L3_HITS], figures[ZT__ROLE_L3_HITS] + figures[ZT__ROLE_L3_MISSES]);
    figures[ZT__ROLE_LSC_HIT_SHARE] =
        zt__percent_of(figures[ZT__ROLE_LSC_HITS], figures[ZT__ROLE_LSC_ACCESSES]);
    read = zt__first_measured(figures[ZT__ROLE_MEMORY_READ_RATE], figures[ZT__ROLE_MEMORY_READ]);
    written = zt__first_measured(figures[ZT__ROLE_MEMORY_WRITE_RATE], figures[ZT__ROLE_MEMORY_WRITTEN]);
    figures[ZT__ROLE_MEMORY_TRAFFIC] = zt__first_measured(zt__first_measured(read + written, read), written);
    errors[ZT__ROLE_MEMORY_TRAFFIC] =
        zt__error_of(ZT__ROLE_MEMORY_READ_RATE, ZT__ROLE_MEMORY_READ, figures, errors) +
        zt__error_of(ZT__ROLE_MEMORY_WRITE_RATE, ZT__ROLE_MEMORY_WRITTEN, figures, errors);
    figures[ZT__ROLE_MEMORY_SHARE] =
        zt__percent_of(figures[ZT__ROLE_MEMORY_TRAFFIC], advice->peaks.bytes / 1e9);
    errors[ZT__ROLE_MEMORY_SHARE] =
        zt__first_measured(zt__percent_of(errors[ZT__ROLE_MEMORY_TRAFFIC], advice->peaks.bytes / 1e9), 0);
    figures[ZT__ROLE_OPERATIONS_SHARE] =
        zt__percent_of(figures[ZT__ROLE_OPERATIONS], advice->peaks.operations / 1e9);
    errors[ZT__ROLE_OPERATIONS_SHARE] =
        zt__first_measured(zt__percent_of(errors[ZT__ROLE_OPERATIONS], advice->peaks.operations / 1e9), 0);
    figures[ZT__ROLE_INSTRUCTIONS] = figures[ZT__ROLE_ALU0_INSTRUCTIONS] +
                                     zt__first_measured(figures[ZT__ROLE_ALU1_INSTRUCTIONS], 0) +
                                     zt__first_measured(figures[ZT__ROLE_XMX_INSTRUCTIONS], 0);
    /* A region has at least one kernel, so without their number this is the most that one takes. */
    busy = zt__first_measured(figures[ZT__ROLE_GPU_BUSY], 100) / 100;
    kernels = zt__first_measured(figures[ZT__ROLE_COMPUTE_KERNELS], 0) +
              zt__first_measured(figures[ZT__ROLE_RENDER_KERNELS], 0);
    figures[ZT__ROLE_KERNEL_TIME] = (kernels > 0 ? 1 / kernels : time) * busy / 1000;
    errors[ZT__ROLE_KERNEL_TIME] =
        figures[ZT__ROLE_KERNEL_TIME] *
        (kernels > 0 ? (errors[ZT__ROLE_COMPUTE_KERNELS] + errors[ZT__ROLE_RENDER_KERNELS]) / kernels
                     : time_error);
    figures[ZT__ROLE_IDLE_TIME] = time * (1 - figures[ZT__ROLE_GPU_BUSY] / 100) / 1000;
    errors[ZT__ROLE_IDLE_TIME] =
        figures[ZT__ROLE_IDLE_TIME] * time_error + time * errors[ZT__ROLE_GPU_BUSY] / 100 / 1000;
    figures[ZT__ROLE_WALL_SHARE] = zt__is_nan(time) ? zt__nan() : advice->wall_share;
}

ZT__PRIVATE int zt__is_above_peak(double percent) {
    return !zt__is_nan(percent) && percent >= 110;
}

/* Returns a share from 0 to 1; NaN if it is not known, or of a peak that is wrong. */
static double zt__share_of_peak(double percent) {
    return zt__is_above_peak(percent) ? zt__nan() : percent / 100;
}

static double zt__largest_measured(double one, double other) {
    return zt__is_nan(one) || other > one ? other : one;
}

ZT__PRIVATE zt__peak_shares zt__list_peak_shares(const double *figures) {
    zt__peak_shares shares;
    shares.bandwidth = shares.compute = shares.xmx = shares.occupancy = zt__nan();
    if (figures) {
        shares.bandwidth = zt__share_of_peak(figures[ZT__ROLE_MEMORY_SHARE]);
        shares.compute = zt__largest_measured(
            zt__share_of_peak(figures[ZT__ROLE_OPERATIONS_SHARE]),
            zt__largest_measured(figures[ZT__ROLE_ALU0_ACTIVE], figures[ZT__ROLE_ALU1_ACTIVE]) / 100);
        shares.xmx = figures[ZT__ROLE_XMX_ACTIVE] / 100;
        shares.occupancy = figures[ZT__ROLE_EU_OCCUPANCY] / 100;
    }
    return shares;
}
