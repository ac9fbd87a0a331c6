/* What becomes of a probe, by what was seen of it. */

#include "regions/deciding.h"

#include "base/compiler.h"
#include "regions/profiler.h"

/* clang-format off */
#define ZT__NO_SAMPLE_THEN(next) {ZT__NO_SAMPLE, ZT_CAUSE_COUNT, ZT__NEXT_##next}
#define ZT__READ_THEN(next)      {ZT__READ, ZT_CAUSE_COUNT, ZT__NEXT_##next}
#define ZT__WAIT                 ZT__NO_SAMPLE_THEN(WAIT)
#define ZT__SETTLE               ZT__NO_SAMPLE_THEN(SETTLE)
#define ZT__RESET                ZT__NO_SAMPLE_THEN(RESET)
#define ZT__RETIRE               ZT__NO_SAMPLE_THEN(RETIRE)

/* Of one that has ended, and has a sample to be read: by what was read. */
static const zt__decision zt__of_ended[ZT__DATA_COUNT] = {
    /* READ */       ZT__READ_THEN(RESET),
    /* LATE */       ZT__WAIT,
    /* MISSING */    {ZT__LOST, ZT_LOST_NEVER_DELIVERED, ZT__NEXT_RESET},
    /* OTHER_PASS */ {ZT__LOST, ZT_LOST_OTHER_PASS,      ZT__NEXT_RESET},
    /* REFUSED */    {ZT__LOST, ZT_LOST_READ_FAILED,     ZT__NEXT_RESET},
};

/* Of all others. */
#define ZT__BY_DATA ZT__READ_THEN(RESET)
static const zt__decision zt__of_others[ZT__SEEN_COUNT][ZT__OWED_COUNT] = {
    /*                SAMPLE                                             UNCOUNTED    AGAIN       NOTHING */
    /* PENDING */     {ZT__WAIT,                                         ZT__WAIT,    ZT__WAIT,   ZT__WAIT},
    /* NEVER */       {{ZT__LOST, ZT_DROPPED_NEVER_RAN, ZT__NEXT_SETTLE}, ZT__SETTLE, ZT__SETTLE, ZT__SETTLE},
    /* ENDED */       {ZT__BY_DATA, ZT__BY_DATA, {ZT__LOST, ZT_LOST_OVERWRITTEN, ZT__NEXT_RESET}, ZT__RESET},
    /* FAILING */     {ZT__WAIT,                                         ZT__WAIT,    ZT__WAIT,   ZT__WAIT},
    /* FAILED */      {{ZT__LOST, ZT_LOST_READ_FAILED, ZT__NEXT_RETIRE}, ZT__WAIT,    ZT__WAIT,   ZT__WAIT},
    /* TAKEN */       {{ZT__LOST, ZT_LOST_EVENT, ZT__NEXT_RESET},        ZT__RESET,   ZT__RESET,  ZT__RESET},
    /* DEVICE_LOST */ {{ZT__LOST, ZT_LOST_DEVICE, ZT__NEXT_RETIRE},      ZT__RETIRE,  ZT__RETIRE, ZT__RETIRE},
};
/* clang-format on */

ZT__PRIVATE zt__decision zt__decide(zt__seen seen, zt__owed owed, zt__data data) {
    const zt__decision *decision = &zt__of_others[seen][owed];
    return decision->outcome == ZT__READ ? zt__of_ended[data] : *decision;
}
