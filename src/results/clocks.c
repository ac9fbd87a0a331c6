/* Converts times of the device to times of the host and back, and unwraps time stamps. */

#include "results/clocks.h"

#include "base/compiler.h"
#include "base/platform.h"
#include "base/shared.h"
#include "metrics/driver.h"

ZT__PRIVATE uint64_t zt__saturate(double number) {
    return number < 18446744073709549568.0 ? (uint64_t)number : UINT64_MAX;
}

ZT__PRIVATE uint64_t zt__ticks_to_ns(const zt__clock *clock, uint64_t ticks) {
    uint64_t rate = clock->ticks_per_second;
    ticks &= clock->mask;
    return ticks / rate * 1000000000u + ticks % rate * 1000000000u / rate;
}

ZT__PRIVATE uint64_t zt__mask_of_bits(uint64_t valid_bits) {
    return valid_bits > 0 && valid_bits < 64 ? (UINT64_C(1) << valid_bits) - 1 : UINT64_MAX;
}

ZT__PRIVATE void zt__init_clock(zt__clock *clock, ze_device_handle_t device, zet_metric_group_handle_t group,
                                uint64_t ticks_per_second, uint64_t mask) {
    enum { INTERVAL_NS = 100000000 };
    memset(clock, 0, sizeof *clock);
    clock->device = device;
    clock->group = group;
    clock->ticks_per_second = ticks_per_second ? ticks_per_second : 1000000000u;
    clock->mask = mask;
    clock->interval_ns = INTERVAL_NS;
    /* A clock that counts for more than 292 years need not be unwrapped. */
    if (mask / clock->ticks_per_second < UINT64_MAX / 2 / 1000000000u) {
        clock->wrap_ns = zt__ticks_to_ns(clock, mask) + 1000000000u / clock->ticks_per_second;
        if (clock->wrap_ns / ZT__MIN_PAIRS_PER_WRAP < clock->interval_ns) {
            clock->interval_ns = clock->wrap_ns / ZT__MIN_PAIRS_PER_WRAP;
        }
    }
}

ZT__PRIVATE ze_result_t zt__read_clocks(const zt__driver *driver, const zt__clock *clock,
                                        zt__clock_pair *pair) {
    enum { READINGS = 3 };
    uint64_t least = UINT64_MAX;
    uint32_t i;
    memset(pair, 0, sizeof *pair);
    if (clock->group ? !driver->zetMetricGroupGetGlobalTimestampsExp : !driver->zeDeviceGetGlobalTimestamps) {
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    }
    for (i = 0; i < READINGS; i++) {
        uint64_t other = 0, ticks = 0, before = zt__now_ns(), took;
        ze_result_t result;
        if (clock->group) {
            result = driver->zetMetricGroupGetGlobalTimestampsExp(clock->group, 0, &other, &ticks);
        } else {
            ZT__INTERNAL(result = driver->zeDeviceGetGlobalTimestamps(clock->device, &other, &ticks));
        }
        if (result != ZE_RESULT_SUCCESS) {
            return result;
        }
        took = zt__now_ns() - before;
        if (took < least) {
            least = took;
            pair->ns[ZT__DEVICE_CLOCK] = zt__ticks_to_ns(clock, ticks);
            pair->ns[ZT__HOST_CLOCK] = before + took / 2;
            pair->error_ns = took / 2 + 1;
        }
    }
    return ZE_RESULT_SUCCESS;
}

ZT__PRIVATE uint64_t zt__convert_time(const zt__clock *clock, uint64_t time_ns, int from, int to) {
    const zt__clock_pair *pairs = clock->pairs, *nearest, *begin = &pairs[0];
    const zt__clock_pair *end = &pairs[clock->pair_count - 1];
    uint32_t i = clock->pair_count - 1;
    double rate = 1, elapsed, converted;
    while (i > 0 && pairs[i].ns[from] > time_ns) {
        i--;
    }
    nearest = &pairs[i];
    if (time_ns >= nearest->ns[from] && i + 1 < clock->pair_count) {
        begin = nearest;
        end = nearest + 1;
    }
    if (begin != end) {
        rate = (double)(end->ns[to] - begin->ns[to]) / (double)(end->ns[from] - begin->ns[from]);
    }
    elapsed = time_ns >= nearest->ns[from] ? (double)(time_ns - nearest->ns[from])
                                           : -(double)(nearest->ns[from] - time_ns);
    converted = elapsed * rate;
    if (converted >= 0) {
        return nearest->ns[to] + zt__saturate(converted);
    }
    return -converted < (double)nearest->ns[to] ? nearest->ns[to] - (uint64_t)-converted : 0;
}

ZT__PRIVATE uint64_t zt__clock_error(const zt__clock *clock, uint64_t host_ns) {
    const zt__clock_pair *pairs = clock->pairs, *first = &pairs[0], *last = &pairs[clock->pair_count - 1];
    uint64_t tick_ns = 1000000000u / clock->ticks_per_second + 1, beyond_ns, error_ns;
    double rate_error = 1e-3;
    uint32_t i = clock->pair_count - 1;
    if (host_ns >= first->ns[ZT__HOST_CLOCK] && host_ns <= last->ns[ZT__HOST_CLOCK]) {
        while (i > 0 && pairs[i].ns[ZT__HOST_CLOCK] > host_ns) {
            i--;
        }
        error_ns = pairs[i].error_ns;
        if (i + 1 < clock->pair_count && pairs[i + 1].error_ns > error_ns) {
            error_ns = pairs[i + 1].error_ns;
        }
        return error_ns + tick_ns;
    }
    if (first != last) {
        rate_error = (double)(first->error_ns + last->error_ns) /
                     (double)(last->ns[ZT__HOST_CLOCK] - first->ns[ZT__HOST_CLOCK]);
    }
    if (host_ns > last->ns[ZT__HOST_CLOCK]) {
        first = last;
        beyond_ns = host_ns - last->ns[ZT__HOST_CLOCK];
    } else {
        beyond_ns = first->ns[ZT__HOST_CLOCK] - host_ns;
    }
    return first->error_ns + tick_ns + zt__saturate((double)beyond_ns * rate_error);
}

ZT__PRIVATE uint64_t zt__unwrap_near(const zt__clock *clock, uint64_t wrapped_ns, uint64_t about_ns) {
    uint64_t middle = about_ns + clock->wrap_ns / 2;
    if (!clock->wrap_ns) {
        return wrapped_ns;
    }
    return middle < wrapped_ns ? 0 : wrapped_ns + (middle - wrapped_ns) / clock->wrap_ns * clock->wrap_ns;
}

ZT__PRIVATE uint64_t zt__unwrap_after(const zt__clock *clock, uint64_t wrapped_ns, uint64_t least_ns) {
    if (!clock->wrap_ns || wrapped_ns >= least_ns) {
        return wrapped_ns;
    }
    return wrapped_ns + (least_ns - wrapped_ns + clock->wrap_ns - 1) / clock->wrap_ns * clock->wrap_ns;
}

ZT__PRIVATE uint64_t zt__clock_tolerance(const zt__clock *clock) {
    return clock->wrap_ns / 64;
}

/* Returns the least time from a pair to the next for which the rate between them is right to a thousandth. */
static uint64_t zt__least_interval(const zt__clock_pair *last, uint64_t error_ns) {
    return 1000 * (error_ns + last->error_ns);
}

ZT__PRIVATE int zt__is_clock_pair_due(const zt__clock *clock) {
    const zt__clock_pair *first = &clock->pairs[0], *last;
    uint64_t wait_ns;
    if (clock->pair_count == 0 || clock->interval_ns == UINT64_MAX) {
        return clock->pair_count == 0;
    }
    last = &clock->pairs[clock->pair_count - 1];
    wait_ns = last->ns[ZT__HOST_CLOCK] - first->ns[ZT__HOST_CLOCK];
    if (wait_ns < zt__least_interval(last, last->error_ns)) {
        wait_ns = zt__least_interval(last, last->error_ns);
    }
    if (wait_ns > clock->interval_ns) {
        wait_ns = clock->interval_ns;
    }
    return zt__now_ns() - last->ns[ZT__HOST_CLOCK] >= wait_ns;
}

ZT__PRIVATE void zt__add_clock_pair(zt__clock *clock, zt__clock_pair pair) {
    uint32_t i;
    if (clock->pair_count) {
        const zt__clock_pair *last = &clock->pairs[clock->pair_count - 1];
        uint64_t expected =
            zt__convert_time(clock, pair.ns[ZT__HOST_CLOCK], ZT__HOST_CLOCK, ZT__DEVICE_CLOCK);
        uint64_t next_ns = last->ns[ZT__HOST_CLOCK] + zt__least_interval(last, pair.error_ns);
        pair.ns[ZT__DEVICE_CLOCK] = zt__unwrap_near(clock, pair.ns[ZT__DEVICE_CLOCK], expected);
        if (pair.ns[ZT__DEVICE_CLOCK] <= last->ns[ZT__DEVICE_CLOCK] || pair.ns[ZT__HOST_CLOCK] < next_ns) {
            return;
        }
    }
    if (clock->pair_count == ZT__MAX_CLOCK_PAIRS) {
        for (i = 0; i < ZT__MAX_CLOCK_PAIRS / 2; i++) {
            clock->pairs[i] = clock->pairs[(size_t)i * 2];
        }
        clock->pair_count = ZT__MAX_CLOCK_PAIRS / 2;
        if (!clock->wrap_ns || clock->interval_ns * 2 <= clock->wrap_ns / ZT__MIN_PAIRS_PER_WRAP) {
            clock->interval_ns *= 2;
        }
    }
    clock->pairs[clock->pair_count++] = pair;
}
