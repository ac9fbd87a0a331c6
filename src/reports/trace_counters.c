/* Counters of a trace: power, and memory in use. */

#include "reports/trace_counters.h"

#include "base/compiler.h"
#include "base/numbers.h"
#include "base/writer.h"
#include "regions/profiler.h"
#include "reports/facts.h"
#include "reports/trace_events.h"
#include "results/results.h"
#include "streams/power.h"
#include "tracer/memory_use.h"

ZT__PRIVATE void zt__write_counter(zt__writer *writer, long device, const char *name, uint64_t ns,
                                   double value) {
    if (zt__is_finite(value)) {
        zt__begin_event(writer, "C", name, device, 0);
        zt__write_event_time(writer, "ts", ns);
        zt__write_text(writer, ",\"args\":{\"value\":");
        zt__write_digits(writer, value, ZT__COUNTER_DIGITS);
        zt__write_text(writer, "}}");
    }
}

ZT__PRIVATE void zt__write_power(zt_profiler *profiler, zt__writer *writer, long device) {
    const zt_power_info info = zt__get_power_info(profiler);
    zt__power_step step, before;
    int has_steps = zt__copy_power_step(profiler, 0, &before);
    uint32_t i, reason;
    for (i = 1; has_steps && zt__copy_power_step(profiler, i, &step); i++) {
        double seconds = (double)(step.ns - before.ns) * 1e-9, joules, watts, throttled, mhz;
        double throttled_by[ZT_THROTTLE_REASONS];
        char name[64];
        zt__power_sums sums = step.sums;
        zt__add_power(&sums, &before.sums, -1);
        zt__divide_power(&sums, seconds, &joules, &watts, &throttled, throttled_by, &mhz);
        zt__write_counter(writer, device, "power [W]", before.ns, watts);
        zt__write_counter(writer, device, "clock [MHz]", before.ns, mhz);
        zt__write_counter(writer, device, "throttled [%]", before.ns, 100 * throttled);
        for (reason = 0; reason < ZT_THROTTLE_REASONS; reason++) {
            if (zt__is_positive(info.throttled_by[reason])) {
                snprintf(name, sizeof name, "throttled: %s [%%]", zt__throttle_reasons[reason]);
                zt__write_counter(writer, device, name, before.ns, 100 * throttled_by[reason]);
            }
        }
        zt__write_counter(writer, device, "temperature [degrees C]", step.ns, step.celsius);
        before = step;
    }
}

#ifdef ZETOOLS_TRACER

static void zt__write_memory_counter(zt__writer *writer, long device, const char *name, uint64_t ns,
                                     uint64_t bytes) {
    zt__begin_event(writer, "C", name, device, 0);
    zt__write_event_time(writer, "ts", ns);
    zt__print(writer, ",\"args\":{\"value\":%llu}}", (unsigned long long)bytes);
}

ZT__PRIVATE void zt__write_memory_counters(zt_profiler *profiler, zt__writer *writer, long device) {
    uint64_t first, end, i, several, host_bytes = 0;
    zt__memory_change change, highest;
    memset(&highest, 0, sizeof highest);
    zt__get_kept_changes(profiler, &first, &end);
    several = 1 + (end - first) / ZT__COUNTER_EVENTS;
    for (i = first; i < end; i++) {
        if (zt__copy_kept_change(profiler, i, &change) && (!highest.ns || change.bytes >= highest.bytes)) {
            highest = change;
        }
        if (!highest.ns || ((i - first + 1) % several && i + 2 < end)) {
            continue;
        }
        zt__write_memory_counter(writer, device, "device memory [bytes]", highest.ns, highest.bytes);
        if (highest.host_bytes != host_bytes) {
            zt__write_memory_counter(writer, device, "host memory [bytes]", highest.ns, highest.host_bytes);
            host_bytes = highest.host_bytes;
        }
        highest.ns = 0;
    }
}
#endif
