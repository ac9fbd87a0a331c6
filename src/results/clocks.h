/* Converts times of the device to times of the host and back, and unwraps time stamps. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "metrics/driver.h"

enum { ZT__DEVICE_CLOCK, ZT__HOST_CLOCK };

enum { ZT__MAX_CLOCK_PAIRS = 64, ZT__MIN_PAIRS_PER_WRAP = 8 };

/* One moment on both clocks. */
typedef struct zt__clock_pair {
    uint64_t ns[2];    /* by ZT__DEVICE_CLOCK and ZT__HOST_CLOCK */
    uint64_t error_ns; /* the most that the two can be apart */
} zt__clock_pair;

/* A clock of the device, related to CLOCK_MONOTONIC of the host. Its time stamps have as few as 32 bits and
   wrap around to 0. Unwrapped times count on from there. They are integers, because a double has 53 bits and
   time stamps have up to 64. */
typedef struct zt__clock {
    ze_device_handle_t device;
    zet_metric_group_handle_t group; /* of whose metrics it is the clock; NULL: the device's own clock */
    uint64_t ticks_per_second;
    uint64_t mask;
    uint64_t wrap_ns;     /* the time after which it wraps around; 0: never */
    uint64_t interval_ns; /* the least time between two pairs */
    uint32_t pair_count;
    zt__clock_pair pairs[ZT__MAX_CLOCK_PAIRS];
} zt__clock;

/* Converts a number that is not negative. What is too large, because the clock of a driver jumps, becomes the
   largest number. */
ZT__PRIVATE uint64_t zt__saturate(double number);

/* Converts seconds and the rest apart from each other, which does not overflow for clocks of up to 18 GHz. */
ZT__PRIVATE uint64_t zt__ticks_to_ns(const zt__clock *clock, uint64_t ticks);

/* Returns the mask for time stamps with this number of valid bits. Drivers that do not know it report 0,
   which stands for 64. */
ZT__PRIVATE uint64_t zt__mask_of_bits(uint64_t valid_bits);

ZT__PRIVATE void zt__init_clock(zt__clock *clock, ze_device_handle_t device, zet_metric_group_handle_t group,
                                uint64_t ticks_per_second, uint64_t mask);

/* Reads both clocks several times, and keeps the reading that took the least time, which is the most precise.
   The device's time is not unwrapped yet. */
ZT__PRIVATE ze_result_t zt__read_clocks(const zt__driver *driver, const zt__clock *clock,
                                        zt__clock_pair *pair);

/* Converts a time from one clock to the other. Between two pairs it is interpolated; before the first and
   after the last, the mean rate of all pairs holds. The conversion is monotonic, so regions that are nested
   stay nested. There is at least one pair. */
ZT__PRIVATE uint64_t zt__convert_time(const zt__clock *clock, uint64_t time_ns, int from, int to);

/* Returns the most by which a converted time can be wrong, about a time of the host. Between two pairs, that
   is the error of the worse one. Beyond the last, and before the first, the error of the rate adds to it; the
   rate that the device states is believed to a thousandth. There is at least one pair. */
ZT__PRIVATE uint64_t zt__clock_error(const zt__clock *clock, uint64_t host_ns);

/* Of the unwrapped times that a wrapped time can stand for, returns the one nearest to `about_ns`, or 0 if that
   is before 0, because the clock has stepped back. */
ZT__PRIVATE uint64_t zt__unwrap_near(const zt__clock *clock, uint64_t wrapped_ns, uint64_t about_ns);

/* Of the unwrapped times that a wrapped time can stand for, returns the first from `least_ns` on. */
ZT__PRIVATE uint64_t zt__unwrap_after(const zt__clock *clock, uint64_t wrapped_ns, uint64_t least_ns);

/* Returns the largest error that is expected of a device time that was converted from host time. */
ZT__PRIVATE uint64_t zt__clock_tolerance(const zt__clock *clock);

/* Returns whether the clocks should be compared again. At first, the time from the first pair to the next
   doubles: two pairs come soon, and their rate is never extrapolated for longer than they are apart. */
ZT__PRIVATE int zt__is_clock_pair_due(const zt__clock *clock);

/* Adds a pair, unless it is before the last one, or so close to it that the rate between them may be wrong by
   more than a thousandth. When there is no room, every second pair is removed, and the interval doubles,
   unless there would be too few pairs between two wraps. */
ZT__PRIVATE void zt__add_clock_pair(zt__clock *clock, zt__clock_pair pair);
