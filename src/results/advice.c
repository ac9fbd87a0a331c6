/* What limits a region, and what to do. */

#include "results/advice.h"

#include "base/compiler.h"
#include "base/figures.h"
#include "base/numbers.h"
#include "base/text.h"
#include "base/writer.h"
#include "regions/profiler.h"
#include "results/results.h"
#include "results/roles.h"

/* ---- rules ----------------------------------------------------------------------------------------------- */

typedef struct zt__rule {
    zt_limit limit;
    const char *reason;
    struct {
        zt__role role;
        zt__relation relation;
        double threshold;
    } conditions[2];
    zt__role shown[3]; /* further figures for the text */
} zt__rule;

/* The first rule of which all conditions hold names what limits a region. A figure that was not measured
   fulfils no condition.

   Order. Where the GPU waits for work, all other figures are low and mean nothing, so this comes first. Units
   that are saturated come next, memory before pipes: saturated memory also stalls the pipes, while busy pipes
   do not saturate memory. Then come threads that wait, or that are too few. The share of the wall time comes
   last, because it is of all regions together. This is the order of [Gen9] for compute work, with the host
   before it, as [VTune] has GPU Offload before GPU Compute.

   Sources of the thresholds:
   [VTune]  Intel, "VTune Profiler User Guide", Window: Summary - GPU Analysis: a GPU that is used for less
            than 80% is an issue.
   [HTA]    Meta, "Holistic Trace Analysis", CUDA Kernel Launch Statistics: a launch takes the host between 5
            and 20 us. Level Zero is alike: from 5 to 10 us were measured on an immediate list.
   [Gen9]   Intel, "Graphics API Performance Guide for Intel Processor Graphics Gen9", 6.2 Performance
            Analysis with Hardware Metrics: memory is the primary hotspot if its queue (SQ, which is also
            that of GPU_MEMORY_REQUEST_QUEUE_FULL) is full for more than 90%; threads are too few if the
            occupancy is not above 80%; from 10% on, a stall matters.
   [SOL]    NVIDIA, "The Peak-Performance-Percentage Analysis Method for Optimizing Any GPU Workload": a unit
            above 80% of its peak is the limit; below 60%, it is not.
   [own]    chosen here: most of the time. */
static const zt__rule zt__rules[] = {
    /* [HTA], [VTune] */
    {ZT_LIMIT_LAUNCH,
     "kernels take less time than their launches, and the GPU waits inside the region",
     {{ZT__ROLE_KERNEL_TIME, ZT__BELOW, 10}, {ZT__ROLE_GPU_BUSY, ZT__BELOW, 80}},
     {ZT__ROLE_LEAST_LAUNCH}},
    {ZT_LIMIT_LAUNCH,
     "kernels take less time than their launches, and the GPU waits between regions",
     {{ZT__ROLE_KERNEL_TIME, ZT__BELOW, 10}, {ZT__ROLE_WALL_SHARE, ZT__BELOW, 80}},
     {ZT__ROLE_LEAST_LAUNCH}},
    /* [VTune]; and [HTA], because a region on an immediate list contains a gap of one launch */
    {ZT_LIMIT_HOST,
     "the GPU waits for work inside the region",
     {{ZT__ROLE_GPU_BUSY, ZT__BELOW, 80}, {ZT__ROLE_IDLE_TIME, ZT__AT_LEAST, 20}},
     {ZT__ROLE_COMPUTE_BUSY, ZT__ROLE_KERNEL_TIME, ZT__ROLE_LEAST_LAUNCH}},
    /* [Gen9] */
    {ZT_LIMIT_MEMORY_BANDWIDTH,
     "the queue of memory requests is full",
     {{ZT__ROLE_MEMORY_QUEUE_FULL, ZT__AT_LEAST, 90}},
     {ZT__ROLE_MEMORY_TRAFFIC, ZT__ROLE_EU_STALL, ZT__ROLE_L3_HIT_SHARE}},
    /* [SOL] */
    {ZT_LIMIT_MEMORY_BANDWIDTH,
     "the traffic is near the peak bandwidth",
     {{ZT__ROLE_MEMORY_SHARE, ZT__AT_LEAST, 80}},
     {ZT__ROLE_MEMORY_TRAFFIC, ZT__ROLE_EU_STALL, ZT__ROLE_L3_HIT_SHARE}},
    {ZT_LIMIT_COMPUTE,
     "the operations are near the peak",
     {{ZT__ROLE_OPERATIONS_SHARE, ZT__AT_LEAST, 80}},
     {ZT__ROLE_OPERATIONS, ZT__ROLE_EU_ACTIVE, ZT__ROLE_EU_STALL}},
    {ZT_LIMIT_XMX,
     "the matrix engines are busy",
     {{ZT__ROLE_XMX_ACTIVE, ZT__AT_LEAST, 80}},
     {ZT__ROLE_EU_ACTIVE, ZT__ROLE_EU_STALL}},
    {ZT_LIMIT_COMPUTE,
     "a pipe of the vector engines is busy",
     {{ZT__ROLE_ALU0_ACTIVE, ZT__AT_LEAST, 80}},
     {ZT__ROLE_ALU1_ACTIVE, ZT__ROLE_EU_ACTIVE, ZT__ROLE_EU_STALL}},
    {ZT_LIMIT_COMPUTE,
     "a pipe of the vector engines is busy",
     {{ZT__ROLE_ALU1_ACTIVE, ZT__AT_LEAST, 80}},
     {ZT__ROLE_ALU0_ACTIVE, ZT__ROLE_EU_ACTIVE, ZT__ROLE_EU_STALL}},
    {ZT_LIMIT_COMPUTE,
     "the vector engines are busy",
     {{ZT__ROLE_EU_ACTIVE, ZT__AT_LEAST, 80}},
     {ZT__ROLE_EU_STALL, ZT__ROLE_XMX_ACTIVE}},
    /* [SOL], [Gen9] */
    {ZT_LIMIT_MEMORY_BANDWIDTH,
     "threads wait, and much of the peak bandwidth is used",
     {{ZT__ROLE_MEMORY_SHARE, ZT__AT_LEAST, 60}, {ZT__ROLE_EU_STALL, ZT__AT_LEAST, 10}},
     {ZT__ROLE_MEMORY_TRAFFIC, ZT__ROLE_L3_HIT_SHARE}},
    /* [own] */
    {ZT_LIMIT_MEMORY_BANDWIDTH,
     "threads wait, and the queue of memory requests is often full",
     {{ZT__ROLE_MEMORY_QUEUE_FULL, ZT__AT_LEAST, 50}, {ZT__ROLE_EU_STALL, ZT__AT_LEAST, 50}},
     {ZT__ROLE_MEMORY_TRAFFIC, ZT__ROLE_L3_HIT_SHARE}},
    /* [Gen9] */
    {ZT_LIMIT_LATENCY,
     "threads wait, and too few are loaded to hide it",
     {{ZT__ROLE_EU_STALL, ZT__AT_LEAST, 10}, {ZT__ROLE_EU_OCCUPANCY, ZT__BELOW, 80}},
     {ZT__ROLE_EU_ACTIVE, ZT__ROLE_MEMORY_TRAFFIC, ZT__ROLE_L3_HIT_SHARE}},
    {ZT_LIMIT_OCCUPANCY,
     "too few threads are loaded",
     {{ZT__ROLE_EU_OCCUPANCY, ZT__BELOW, 80}, {ZT__ROLE_EU_STALL, ZT__BELOW, 10}},
     {ZT__ROLE_EU_ACTIVE}},
    {ZT_LIMIT_CACHE,
     "threads wait for data, though enough are loaded to hide latency",
     {{ZT__ROLE_EU_STALL, ZT__AT_LEAST, 10}, {ZT__ROLE_EU_OCCUPANCY, ZT__AT_LEAST, 80}},
     {ZT__ROLE_L3_STALL, ZT__ROLE_L3_HIT_SHARE, ZT__ROLE_LSC_HIT_SHARE}},
    {ZT_LIMIT_COMPUTE,
     "enough threads are loaded, and they do not wait",
     {{ZT__ROLE_EU_OCCUPANCY, ZT__AT_LEAST, 80}, {ZT__ROLE_EU_STALL, ZT__BELOW, 10}},
     {ZT__ROLE_EU_ACTIVE, ZT__ROLE_XMX_ACTIVE}},
    /* [VTune] */
    {ZT_LIMIT_HOST,
     "the GPU waits for work between regions",
     {{ZT__ROLE_WALL_SHARE, ZT__BELOW, 80}},
     {ZT__ROLE_KERNEL_TIME, ZT__ROLE_LEAST_LAUNCH}},
};

/* The name of each zt_limit. */
static const char *const zt__limit_names[] = {"unknown", "memory bandwidth", "latency", "compute",
                                              "XMX",     "launch",           "host",    "occupancy",
                                              "cache",   "between"};

static void zt__name_limit(zt_limit_info *info, zt_limit limit) {
    strcpy(info->name, zt__limit_names[limit]);
}

/* Appends a figure with its name, unless it was not measured. */
static void zt__append_figure(zt_limit_info *info, zt__role role, const double figures[ZT__ROLE_COUNT]) {
    const char *name = zt__roles[role].name, *opening = strchr(info->text, '(') ? ", " : " (";
    double figure = figures[role];
    if (role == ZT__NO_ROLE || zt__is_nan(figure)) {
        return;
    }
    if (role == ZT__ROLE_MEMORY_SHARE || role == ZT__ROLE_OPERATIONS_SHARE || role == ZT__ROLE_WALL_SHARE) {
        zt__append(info->text, sizeof info->text, "%s%.0f%% %s", opening, figure, name);
        return;
    }
    zt__append(info->text, sizeof info->text, "%s%s ", opening, name);
    if (zt__roles[role].quantity == ZT__QUANTITY_SHARE) {
        zt__append(info->text, sizeof info->text, "%.0f%%", figure);
    } else if (zt__roles[role].quantity == ZT__QUANTITY_RATE) {
        zt__append_number(info->text, sizeof info->text, figure);
        zt__append(info->text, sizeof info->text, role == ZT__ROLE_OPERATIONS ? " billion/s" : " GB/s");
    } else { /* a time in microseconds */
        zt__append_time(info->text, sizeof info->text, figure * 1000);
    }
}

/* Lists the metrics that were not measured and that another group of the device has. */
static void zt__name_missing(const zt__advice *advice, const uint8_t unmeasured[ZT__ROLE_COUNT],
                             zt_limit_info *info) {
    uint32_t role;
    for (role = 0; role < ZT__ROLE_COUNT; role++) {
        uint8_t number = unmeasured[role] ? advice->elsewhere[role] : 0;
        const char *names = number ? zt__roles[role].metrics[advice->naming] : "", *name = NULL;
        size_t length = 0;
        for (; number > 0; number--) {
            zt__next_name(&names, &name, &length);
        }
        if (name) {
            zt__append(info->missing, sizeof info->missing, "%s%.*s", info->missing[0] ? "," : "",
                       (int)length, name);
        }
    }
}

/* What the figures of a region say of a rule. */
typedef enum zt__rule_state {
    ZT__RULE_FAILS,
    ZT__RULE_LACKS_FIGURES, /* it might hold, if its other figures were measured */
    ZT__RULE_MAY_HOLD,      /* other samples of the same work might decide otherwise */
    ZT__RULE_HOLDS
} zt__rule_state;

static zt__rule_state zt__check_rule(const zt__rule *rule, const double figures[ZT__ROLE_COUNT],
                                     const double errors[ZT__ROLE_COUNT]) {
    zt__rule_state state = ZT__RULE_HOLDS;
    uint32_t i;
    for (i = 0; i < ZT__COUNT_OF(rule->conditions); i++) {
        zt__role role = rule->conditions[i].role;
        zt__relation relation = rule->conditions[i].relation;
        double distance = figures[role] - rule->conditions[i].threshold;
        if (relation == ZT__NO_CONDITION) {
            continue;
        }
        if (zt__is_nan(figures[role])) {
            state = ZT__RULE_LACKS_FIGURES;
        } else if (fabs(distance) < errors[role]) {
            state = state == ZT__RULE_HOLDS ? ZT__RULE_MAY_HOLD : state;
        } else if (relation == ZT__BELOW ? distance >= 0 : distance < 0) {
            return ZT__RULE_FAILS;
        }
    }
    return state;
}

/* Appends the figures of the conditions of a rule, but for those of another rule. */
static void zt__append_conditions(zt_limit_info *info, const zt__rule *rule, const zt__rule *but,
                                  const double figures[ZT__ROLE_COUNT]) {
    uint32_t i, k;
    for (i = 0; i < ZT__COUNT_OF(rule->conditions); i++) {
        int is_there = 0;
        for (k = 0; but && k < ZT__COUNT_OF(but->conditions); k++) {
            is_there |= but->conditions[k].role == rule->conditions[i].role;
        }
        if (!is_there) {
            zt__append_figure(info, rule->conditions[i].role, figures);
        }
    }
}

/* Names the limits of two rules of which the figures cannot tell which holds; the second may be NULL. */
static void zt__tell_between(zt_limit_info *info, const zt__rule *one, const zt__rule *other,
                             const double figures[ZT__ROLE_COUNT]) {
    info->limit = ZT_LIMIT_BETWEEN;
    info->between[0] = one->limit;
    info->between[1] = other ? other->limit : ZT_LIMIT_UNKNOWN;
    info->name[0] = 0;
    zt__append(info->name, sizeof info->name, other ? "%s or %s" : "perhaps %s", zt__limit_names[one->limit],
               other ? zt__limit_names[other->limit] : "");
    zt__append(info->text, sizeof info->text, other ? "Between %s and %s: figures" : "Perhaps %s: figures",
               zt__limit_names[one->limit], other ? zt__limit_names[other->limit] : "");
    zt__append(info->text, sizeof info->text, " are too near to a threshold to tell");
    zt__append_conditions(info, one, NULL, figures);
    if (other) {
        zt__append_conditions(info, other, one, figures);
    }
    zt__append(info->text, sizeof info->text, "). More samples tell.");
}

/* Appends what is far from its peak and, where both are, how much faster a region could run below these roofs. */
static void zt__compare_with_peaks(const double figures[ZT__ROLE_COUNT], zt_limit_info *info) {
    const double least = 60; /* percent of a peak that may limit: [SOL] */
    double memory = figures[ZT__ROLE_MEMORY_SHARE], operations = figures[ZT__ROLE_OPERATIONS_SHARE];
    double nearest = zt__is_positive(operations - memory) ? operations : memory;
    double compute =
        100 * zt__list_peak_shares(figures).compute; /* also of the time in which a pipe executes */
    if (!zt__is_nan(memory) && memory < least) {
        zt__append(info->text, sizeof info->text, "Not memory bandwidth: %.0f%% %s. ", memory,
                   zt__roles[ZT__ROLE_MEMORY_SHARE].name);
    }
    if (!zt__is_nan(operations) && compute < least) {
        zt__append(info->text, sizeof info->text, "Not compute: %.0f%% %s. ", operations,
                   zt__roles[ZT__ROLE_OPERATIONS_SHARE].name);
    }
    if (!zt__is_nan(memory) && !zt__is_nan(operations) && compute < least && nearest < least &&
        zt__is_positive(nearest)) {
        zt__append(info->text, sizeof info->text, "Below both peaks, it could run %.1f times as fast. ",
                   100 / nearest);
    }
}

/* Applies the rules to the figures of a region. `info` is empty. */
static void zt__apply_rules(const zt__advice *advice, const double figures[ZT__ROLE_COUNT],
                            const double errors[ZT__ROLE_COUNT], zt_limit_info *info) {
    const double least_busy = 80;                  /* percent: [VTune] */
    const zt__rule *rule = NULL, *possible = NULL; /* that holds, and the first that may hold before it */
    uint8_t unmeasured[ZT__ROLE_COUNT];
    uint32_t i, k;
    memset(unmeasured, 0, sizeof unmeasured);
    for (i = 0; i < ZT__COUNT_OF(zt__rules) && !rule; i++) {
        zt__rule_state state = zt__check_rule(&zt__rules[i], figures, errors);
        for (k = 0; k < ZT__COUNT_OF(zt__rules[i].conditions) && state != ZT__RULE_FAILS; k++) {
            zt__role role = zt__rules[i].conditions[k].role;
            unmeasured[role] |=
                zt__rules[i].conditions[k].relation != ZT__NO_CONDITION && zt__is_nan(figures[role]);
        }
        if (state == ZT__RULE_HOLDS ||
            (state == ZT__RULE_MAY_HOLD && possible && possible->limit != zt__rules[i].limit)) {
            rule = &zt__rules[i];
        } else if (state == ZT__RULE_MAY_HOLD && !possible) {
            possible = &zt__rules[i];
        }
    }
    if (possible && !(rule && rule->limit == possible->limit)) {
        zt__tell_between(info, possible, rule, figures);
        zt__name_missing(advice, unmeasured, info);
        return;
    }
    if (rule) {
        info->limit = rule->limit;
        zt__name_limit(info, rule->limit);
        zt__name_missing(advice, unmeasured, info);
        zt__append(info->text, sizeof info->text, "Probably %s: %s", info->name, rule->reason);
        zt__append_conditions(info, rule, NULL, figures);
        for (i = 0; i < ZT__COUNT_OF(rule->shown); i++) {
            zt__append_figure(info, rule->shown[i], figures);
        }
        zt__append(info->text, sizeof info->text, ").");
        return;
    }
    /* With these two figures, one of the rules holds. */
    memset(unmeasured, 0, sizeof unmeasured);
    unmeasured[ZT__ROLE_EU_STALL] = unmeasured[ZT__ROLE_EU_OCCUPANCY] = 1;
    zt__name_missing(advice, unmeasured, info);
    if (!zt__is_nan(figures[ZT__ROLE_GPU_BUSY]) && figures[ZT__ROLE_GPU_BUSY] >= least_busy) {
        if (!zt__is_nan(figures[ZT__ROLE_WALL_SHARE]) && figures[ZT__ROLE_WALL_SHARE] >= least_busy) {
            zt__append(info->text, sizeof info->text, "Not the host, because the GPU is busy");
            zt__append_figure(info, ZT__ROLE_GPU_BUSY, figures);
            zt__append_figure(info, ZT__ROLE_WALL_SHARE, figures);
            zt__append(info->text, sizeof info->text, "). ");
        }
        zt__compare_with_peaks(figures, info);
    }
    if (info->missing[0]) {
        zt__append(info->text, sizeof info->text,
                   "%s run again with config.groups or ZT_GROUPS '%.64s', which has %s.",
                   info->text[0] ? "To know more," : "Not enough metrics:", advice->other_group,
                   info->missing);
    } else if (advice->metrics[ZT__ROLE_EU_STALL] != UINT32_MAX &&
               advice->metrics[ZT__ROLE_EU_OCCUPANCY] != UINT32_MAX) {
        zt__append(info->text, sizeof info->text,
                   "Not known: the metrics that show it have no values in this region.");
    } else {
        zt__append(info->text, sizeof info->text,
                   info->text[0] ? "The metrics of this device do not show what else limits it."
                                 : "Not enough metrics are measured to tell what limits a region.");
    }
}

/* Empties what zt_get_limit returns. */
static void zt__clear_limit(zt_limit_info *info) {
    memset(info, 0, sizeof *info);
    zt__name_limit(info, ZT_LIMIT_UNKNOWN);
    info->bandwidth = info->compute = info->xmx = info->occupancy = zt__nan();
}

ZT__PRIVATE void zt__find_limit(zt_profiler *profiler, const zt__advice *advice, zt__subject subject,
                                zt_limit_info *info) {
    double figures[ZT__ROLE_COUNT], errors[ZT__ROLE_COUNT];
    zt__peak_shares shares;
    int peak_is_wrong, operations_are_wrong;
    zt__clear_limit(info);
    zt__read_figures(profiler, advice, subject, figures, errors);
    shares = zt__list_peak_shares(figures);
    info->bandwidth = shares.bandwidth;
    info->compute = shares.compute;
    info->xmx = shares.xmx;
    info->occupancy = shares.occupancy;
    peak_is_wrong = zt__is_above_peak(figures[ZT__ROLE_MEMORY_SHARE]);
    operations_are_wrong = zt__is_above_peak(figures[ZT__ROLE_OPERATIONS_SHARE]);
    if (peak_is_wrong) {
        figures[ZT__ROLE_MEMORY_SHARE] = zt__nan();
    }
    if (operations_are_wrong) {
        figures[ZT__ROLE_OPERATIONS_SHARE] = zt__nan();
    }
    zt__apply_rules(advice, figures, errors, info);
    if (peak_is_wrong) {
        zt__append(info->text, sizeof info->text, " The memory traffic of ");
        zt__append_number(info->text, sizeof info->text, figures[ZT__ROLE_MEMORY_TRAFFIC]);
        zt__append(info->text, sizeof info->text, " GB/s is above the peak of ");
        zt__append_number(info->text, sizeof info->text, advice->peaks.bytes / 1e9);
        zt__append(info->text, sizeof info->text, " GB/s: set ZT_PEAKS.");
    }
    if (operations_are_wrong) {
        zt__append(info->text, sizeof info->text, " The operations of zt_set_operations are ");
        zt__append_number(info->text, sizeof info->text, figures[ZT__ROLE_OPERATIONS]);
        zt__append(info->text, sizeof info->text, " billion/s, above the peak of ");
        zt__append_number(info->text, sizeof info->text, advice->peaks.operations / 1e9);
        zt__append(info->text, sizeof info->text, ": set ZT_PEAKS, or correct them.");
    }
}

/* ---- public ---------------------------------------------------------------------------------------------- */

ZT_API ze_result_t zt_get_limit(const zt_profiler *profiler, uint32_t region, zt_limit_info *info) {
    zt__subject subject;
    zt__advice advice;
    ze_result_t result;
    if (info) {
        zt__clear_limit(info);
    }
    subject = zt__get_subject(profiler, "zt_get_limit", region, "info", info, &result);
    if (subject.region) {
        zt__prepare_advice(profiler, &advice);
        zt__find_limit(zt__mutable(profiler), &advice, subject, info);
    }
    return result;
}
