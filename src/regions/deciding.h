/* What becomes of a probe, by what was seen of it. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"

/* What a visit has seen of a probe. */
typedef enum zt__seen {
    ZT__SEEN_PENDING, /* has not ended yet */
    ZT__SEEN_NEVER,   /* did not run: a later probe, or the whole execution, has ended */
    ZT__SEEN_ENDED,
    ZT__SEEN_FAILING,  /* the driver refuses the query, for a short time, */
    ZT__SEEN_FAILED,   /* or for long */
    ZT__SEEN_NO_EVENT, /* what shows its end was taken away */
    ZT__SEEN_DEVICE_LOST,
    ZT__SEEN_COUNT
} zt__seen;

/* What was read of one that has ended. */
typedef enum zt__data {
    ZT__DATA_READ,
    ZT__DATA_LATE,       /* not there yet, for a short time, */
    ZT__DATA_MISSING,    /* or for long */
    ZT__DATA_OTHER_PASS, /* there is none, because another pass is active, or its region was ended in another */
    ZT__DATA_REFUSED,    /* the driver fails to read it */
    ZT__DATA_COUNT
} zt__data;

typedef enum zt__next {
    ZT__NEXT_WAIT,   /* it is looked at again in the next visit */
    ZT__NEXT_SETTLE, /* nothing is left to be done */
    ZT__NEXT_RESET,  /* it is reset, and then settled */
    ZT__NEXT_RETIRE  /* it is never used again */
} zt__next;

typedef struct zt__decision {
    zt__outcome outcome;
    zt_cause cause; /* why the sample is lost or dropped */
    zt__next next;
} zt__decision;

/* Returns what is counted, and what happens to the probe. `data` matters for one that has ended and owes a
   SAMPLE or an UNCOUNTED one. */
ZT__PRIVATE zt__decision zt__decide(zt__seen seen, zt__owed owed, zt__data data);
