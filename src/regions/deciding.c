/* What becomes of a probe, by what was seen of it. */

#include "regions/deciding.h"

#include "base/compiler.h"

/* clang-format off */

/* Of one that has ended, and has a sample to be read: by what was read. */
static const zt__decision zt__of_ended[ZT__DATA_COUNT] = {
    /* READ */    {ZT__COUNT_COLLECTED,       ZT__NEXT_RESET},
    /* LATE */    {ZT__COUNT_NOTHING,         ZT__NEXT_WAIT},
    /* MISSING */ {ZT__COUNT_NEVER_DELIVERED, ZT__NEXT_RESET},
    /* REFUSED */ {ZT__COUNT_READ_FAILED,     ZT__NEXT_RESET},
    /* INVALID */ {ZT__COUNT_INVALID,         ZT__NEXT_RESET},
};

static const zt__decision zt__of_others[ZT__SEEN_COUNT][ZT__OWED_COUNT] = {
    /*                  SAMPLE                                    UNCOUNTED */
    /*                  AGAIN                                    NOTHING */
    /* PENDING */     {{ZT__COUNT_NOTHING,     ZT__NEXT_WAIT},   {ZT__COUNT_NOTHING, ZT__NEXT_WAIT},
                       {ZT__COUNT_NOTHING,     ZT__NEXT_WAIT},   {ZT__COUNT_NOTHING, ZT__NEXT_WAIT}},
    /* NEVER */       {{ZT__COUNT_NEVER_RAN,   ZT__NEXT_SETTLE}, {ZT__COUNT_NOTHING, ZT__NEXT_SETTLE},
                       {ZT__COUNT_NOTHING,     ZT__NEXT_SETTLE}, {ZT__COUNT_NOTHING, ZT__NEXT_SETTLE}},
    /* ENDED */       {{ZT__COUNT_COLLECTED,   ZT__NEXT_RESET},  {ZT__COUNT_COLLECTED, ZT__NEXT_RESET},
                       {ZT__COUNT_OVERWRITTEN, ZT__NEXT_RESET},  {ZT__COUNT_NOTHING, ZT__NEXT_RESET}},
    /* FAILING */     {{ZT__COUNT_NOTHING,     ZT__NEXT_WAIT},   {ZT__COUNT_NOTHING, ZT__NEXT_WAIT},
                       {ZT__COUNT_NOTHING,     ZT__NEXT_WAIT},   {ZT__COUNT_NOTHING, ZT__NEXT_WAIT}},
    /* FAILED */      {{ZT__COUNT_READ_FAILED, ZT__NEXT_RETIRE}, {ZT__COUNT_NOTHING, ZT__NEXT_WAIT},
                       {ZT__COUNT_NOTHING,     ZT__NEXT_WAIT},   {ZT__COUNT_NOTHING, ZT__NEXT_WAIT}},
    /* TAKEN */       {{ZT__COUNT_EVENT,       ZT__NEXT_RESET},  {ZT__COUNT_NOTHING, ZT__NEXT_RESET},
                       {ZT__COUNT_NOTHING,     ZT__NEXT_RESET},  {ZT__COUNT_NOTHING, ZT__NEXT_RESET}},
    /* DEVICE_LOST */ {{ZT__COUNT_DEVICE,      ZT__NEXT_RETIRE}, {ZT__COUNT_NOTHING, ZT__NEXT_RETIRE},
                       {ZT__COUNT_NOTHING,     ZT__NEXT_RETIRE}, {ZT__COUNT_NOTHING, ZT__NEXT_RETIRE}},
};
/* clang-format on */

ZT__PRIVATE zt__decision zt__decide(zt__seen seen, zt__owed owed, zt__data data) {
    int is_read = seen == ZT__SEEN_ENDED && (owed == ZT__OWED_SAMPLE || owed == ZT__OWED_UNCOUNTED);
    return is_read ? zt__of_ended[data] : zt__of_others[seen][owed];
}
