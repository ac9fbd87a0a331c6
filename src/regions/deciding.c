/* What becomes of a probe, and of a recording, by what was seen of them. */

#include "regions/deciding.h"

#include "base/compiler.h"
#include "regions/profiler.h"

/* Nothing is counted; or the sample that is owed is lost or dropped. */
#define ZT__COUNTS_NOTHING(next)                                                                             \
    { ZT__NO_SAMPLE, ZT_CAUSE_COUNT, ZT__NEXT_##next }
#define ZT__COUNTS_MISSED(cause, next)                                                                       \
    { ZT__MISSED, cause, ZT__NEXT_##next }

/* clang-format off */

/* By what was read of one that has ended and has a sample: SAMPLE or UNCOUNTED. */
static const zt__decision zt__by_data[ZT__DATA_COUNT] = {
    /* READ */       {ZT__READ, ZT_CAUSE_COUNT, ZT__NEXT_RESET},
    /* LATE */       ZT__COUNTS_NOTHING(WAIT),
    /* MISSING */    ZT__COUNTS_MISSED(ZT_LOST_NEVER_DELIVERED, RESET),
    /* OTHER_PASS */ ZT__COUNTS_MISSED(ZT_LOST_OTHER_PASS, RESET),
    /* REFUSED */    ZT__COUNTS_MISSED(ZT_LOST_READ_FAILED, RESET),
};

/* By what was seen of it. Where no sample is waited for, a driver that fails may take its time. */
static const zt__decision zt__by_seen[ZT__SEEN_COUNT][2] = {
    /*                if a SAMPLE is owed                               if not */
    /* PENDING */     {ZT__COUNTS_NOTHING(WAIT),                        ZT__COUNTS_NOTHING(WAIT)},
    /* NEVER */       {ZT__COUNTS_MISSED(ZT_DROPPED_NEVER_RAN, SETTLE), ZT__COUNTS_NOTHING(SETTLE)},
    /* ENDED */       {ZT__COUNTS_MISSED(ZT_LOST_OVERWRITTEN, RESET),   ZT__COUNTS_NOTHING(RESET)},
    /* FAILING */     {ZT__COUNTS_NOTHING(WAIT),                        ZT__COUNTS_NOTHING(WAIT)},
    /* FAILED */      {ZT__COUNTS_MISSED(ZT_LOST_READ_FAILED, RETIRE),  ZT__COUNTS_NOTHING(WAIT)},
    /* NO_EVENT */    {ZT__COUNTS_MISSED(ZT_LOST_EVENT, RESET),         ZT__COUNTS_NOTHING(RESET)},
    /* DEVICE_LOST */ {ZT__COUNTS_MISSED(ZT_LOST_DEVICE, RETIRE),       ZT__COUNTS_NOTHING(RETIRE)},
};

/* clang-format on */

ZT__PRIVATE zt__decision zt__decide(zt__seen seen, zt__owed owed, zt__data data) {
    int has_ended = seen == ZT__SEEN_ENDED;
    if (has_ended && (owed == ZT__OWED_SAMPLE || owed == ZT__OWED_UNCOUNTED)) {
        return zt__by_data[data];
    }
    if (has_ended && owed == ZT__OWED_AGAIN) {
        owed = ZT__OWED_SAMPLE; /* an execution that nobody has reported counts as soon as it has ended */
    }
    return zt__by_seen[seen][owed != ZT__OWED_SAMPLE];
}

ZT__PRIVATE zt__after_visit zt__decide_recording(const zt__visited *visited) {
    if (visited->asked == ZT__ASKED_FOR_LONG && visited->is_closed) {
        return ZT__RECORDING_IS_RETIRED;
    }
    if (visited->asked == ZT__ASKED_FOR_LONG && visited->owes) {
        return ZT__RECORDING_IS_LOST;
    }
    if (visited->asked != ZT__ASKED || !visited->is_read) {
        return ZT__RECORDING_IS_VISITED_AGAIN;
    }
    if (visited->is_closed && visited->is_look_due) {
        return ZT__RECORDING_IS_LOOKED_AT;
    }
    if (visited->is_closed || visited->was_reset) {
        return ZT__RECORDING_IS_FREE;
    }
    return visited->has_ended ? ZT__RECORDING_IS_READ : ZT__RECORDING_HAS_NOT_RUN;
}
