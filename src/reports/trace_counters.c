/* Counters of a trace: power, and memory in use. */

#include "reports/trace_counters.h"

#include "base/compiler.h"
#include "base/numbers.h"
#include "regions/profiler.h"
#include "reports/facts.h"
#include "reports/trace_sink.h"
#include "results/results.h"
#include "streams/power.h"
#include "tracer/memory_use.h"

typedef struct zt__power_labels {
    char texts[4 + ZT_THROTTLE_REASONS][64]; /* by zt__power_counter */
} zt__power_labels;

/* Writes the value of a counter from a time on, unless it is not known. */
static void zt__write_reading(zt__trace_sink *sink, uint32_t counter, uint64_t ns, double value) {
    if (zt__is_finite(value)) {
        sink->format->write_counter(sink, counter, ns, value, ZT__COUNTER_DIGITS);
    }
}

typedef enum zt__power_counter {
    ZT__COUNTER_POWER,
    ZT__COUNTER_CLOCK,
    ZT__COUNTER_TEMPERATURE,
    ZT__COUNTER_THROTTLED,
    ZT__COUNTER_REASON /* the first of them */
} zt__power_counter;

/* For zt__trace_counters. */
static const char *zt__power_label(const void *labels, uint32_t index) {
    return ((const zt__power_labels *)labels)->texts[index];
}

static void zt__declare_power(zt__trace_sink *sink, zt__power_labels *labels) {
    static const char *const units[] = {"power [W]", "clock [MHz]", "temperature [degrees C]",
                                        "throttled [%]"};
    zt__trace_counters counters;
    uint32_t i;
    for (i = 0; i < ZT__COUNTER_REASON; i++) {
        snprintf(labels->texts[i], sizeof labels->texts[i], "%s", units[i]);
    }
    for (i = 0; i < ZT_THROTTLE_REASONS; i++) {
        snprintf(labels->texts[ZT__COUNTER_REASON + i], sizeof labels->texts[0], "throttled: %s [%%]",
                 zt__throttle_reasons[i]);
    }
    counters.kind = ZT__COUNTERS_OF_SYSTEM;
    counters.group = "power";
    counters.prefix = "";
    counters.label_at = zt__power_label;
    counters.labels = labels;
    counters.count = ZT__COUNT_OF(labels->texts);
    sink->format->declare_counters(sink, &counters);
}

ZT__PRIVATE void zt__write_power(zt__trace_sink *sink, zt_profiler *reader, uint32_t number) {
    const zt_power_info info = zt__get_power_info(reader);
    zt__trace_track device = {number, 0};
    zt__power_step step, before;
    zt__power_labels labels;
    uint32_t i, reason;
    if (!zt__copy_power_step(reader, 0, &before)) {
        return;
    }
    sink->format->begin_sequence(sink, device);
    zt__declare_power(sink, &labels);
    for (i = 1; zt__copy_power_step(reader, i, &step); i++) {
        double seconds = (double)(step.ns - before.ns) * 1e-9, joules, watts, throttled, mhz;
        double throttled_by[ZT_THROTTLE_REASONS];
        zt__power_sums sums = step.sums;
        zt__add_power(&sums, &before.sums, -1);
        zt__divide_power(&sums, seconds, &joules, &watts, &throttled, throttled_by, &mhz);
        zt__write_reading(sink, ZT__COUNTER_POWER, before.ns, watts);
        zt__write_reading(sink, ZT__COUNTER_CLOCK, before.ns, mhz);
        zt__write_reading(sink, ZT__COUNTER_THROTTLED, before.ns, 100 * throttled);
        for (reason = 0; reason < ZT_THROTTLE_REASONS; reason++) {
            if (zt__is_positive(info.throttled_by[reason])) {
                zt__write_reading(sink, ZT__COUNTER_REASON + reason, before.ns, 100 * throttled_by[reason]);
            }
        }
        zt__write_reading(sink, ZT__COUNTER_TEMPERATURE, step.ns, step.celsius);
        before = step;
    }
}

#ifdef ZETOOLS_TRACER

/* For zt__trace_counters. */
static const char *zt__memory_label(const void *labels, uint32_t index) {
    return ((const char *const *)labels)[index];
}

ZT__PRIVATE void zt__write_memory_counters(zt__trace_sink *sink, zt_profiler *watcher, uint32_t number) {
    static const char *const labels[] = {"device memory [bytes]", "host memory [bytes]"};
    const zt__trace_counters counters = {ZT__COUNTERS_OF_MEMORY, "memory", "",
                                         zt__memory_label,       labels,   ZT__COUNT_OF(labels)};
    const zt__trace_track device = {number, 0};
    uint64_t first, end, i, several, host_bytes = 0;
    zt__memory_change change, highest;
    memset(&highest, 0, sizeof highest);
    zt__get_kept_changes(watcher, &first, &end);
    several = 1 + (end - first) / ZT__COUNTER_EVENTS;
    if (first < end) {
        sink->format->begin_sequence(sink, device);
        sink->format->declare_counters(sink, &counters);
    }
    for (i = first; i < end; i++) {
        if (zt__copy_kept_change(watcher, i, &change) && (!highest.ns || change.bytes >= highest.bytes)) {
            highest = change;
        }
        if (!highest.ns || ((i - first + 1) % several && i + 2 < end)) {
            continue;
        }
        sink->format->write_counter(sink, 0, highest.ns, (double)highest.bytes, 0);
        if (highest.host_bytes != host_bytes) {
            sink->format->write_counter(sink, 1, highest.ns, (double)highest.host_bytes, 0);
            host_bytes = highest.host_bytes;
        }
        highest.ns = 0;
    }
}
#endif
