/* What becomes of a probe, and of a recording, by what was seen of them. */

#include "regions/deciding.h"

#include "base/compiler.h"
#include "regions/profiler.h"

/* Of one that has ended, and has a sample to be read: by what was read. */
static const zt__decision zt__of_ended[ZT__DATA_COUNT] = {
    /* READ */ {ZT__READ, ZT_CAUSE_COUNT, ZT__NEXT_RESET},
    /* LATE */ {ZT__NO_SAMPLE, ZT_CAUSE_COUNT, ZT__NEXT_WAIT},
    /* MISSING */ {ZT__MISSED, ZT_LOST_NEVER_DELIVERED, ZT__NEXT_RESET},
    /* OTHER_PASS */ {ZT__MISSED, ZT_LOST_OTHER_PASS, ZT__NEXT_RESET},
    /* REFUSED */ {ZT__MISSED, ZT_LOST_READ_FAILED, ZT__NEXT_RESET},
};

/* Of all others. `outcome` and `cause` hold where a SAMPLE is owed, and in the row ENDED where AGAIN is; elsewhere only
   `next` holds. */
static const zt__decision zt__of_others[ZT__SEEN_COUNT] = {
    /* PENDING */ {ZT__NO_SAMPLE, ZT_CAUSE_COUNT, ZT__NEXT_WAIT},
    /* NEVER */ {ZT__MISSED, ZT_DROPPED_NEVER_RAN, ZT__NEXT_SETTLE},
    /* ENDED */ {ZT__MISSED, ZT_LOST_OVERWRITTEN, ZT__NEXT_RESET},
    /* FAILING */ {ZT__NO_SAMPLE, ZT_CAUSE_COUNT, ZT__NEXT_WAIT},
    /* FAILED */ {ZT__MISSED, ZT_LOST_READ_FAILED, ZT__NEXT_RETIRE},
    /* NO_EVENT */ {ZT__MISSED, ZT_LOST_EVENT, ZT__NEXT_RESET},
    /* DEVICE_LOST */ {ZT__MISSED, ZT_LOST_DEVICE, ZT__NEXT_RETIRE},
};

ZT__PRIVATE zt__decision zt__decide(zt__seen seen, zt__owed owed, zt__data data) {
    zt__decision decision = zt__of_others[seen];
    if (seen == ZT__SEEN_ENDED && (owed == ZT__OWED_SAMPLE || owed == ZT__OWED_UNCOUNTED)) {
        return zt__of_ended[data];
    }
    if (owed == ZT__OWED_SAMPLE || (seen == ZT__SEEN_ENDED && owed == ZT__OWED_AGAIN)) {
        return decision;
    }
    decision.outcome = ZT__NO_SAMPLE;
    decision.cause = ZT_CAUSE_COUNT;
    if (seen == ZT__SEEN_FAILED) {
        decision.next = ZT__NEXT_WAIT; /* no sample is waited for, so the driver may take its time */
    }
    return decision;
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
