/* What becomes of a probe, and of a recording, by what was seen of them. */

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

/* What the driver has answered to the query whether an execution has ended. */
typedef enum zt__asked {
    ZT__ASKED,          /* it has, or has not; or there was nothing to be asked */
    ZT__ASKED_IN_VAIN,  /* the query has failed, */
    ZT__ASKED_FOR_LONG, /* and for long */
    ZT__ASKED_COUNT
} zt__asked;

/* What is known of a recording at the end of a visit. */
typedef struct zt__visited {
    zt__asked asked;
    int is_closed;
    int was_reset; /* its list has run, and nothing of it did: the list was reset, which nobody has reported */
    int owes;      /* samples */
    int is_read;   /* nothing of it is left to be read or reset */
    int has_ended;   /* the last execution */
    int is_look_due; /* it may have run although nobody has reported that */
} zt__visited;

typedef enum zt__after_visit {
    ZT__RECORDING_IS_VISITED_AGAIN,
    ZT__RECORDING_IS_LOST, /* its samples are, and nothing shows when it can be read */
    ZT__RECORDING_IS_READ,
    ZT__RECORDING_HAS_NOT_RUN,  /* a look has found nothing */
    ZT__RECORDING_IS_LOOKED_AT, /* it is closed, and looked at once more */
    ZT__RECORDING_IS_FREE,      /* so are its probes, */
    ZT__RECORDING_IS_RETIRED    /* or they are never used again */
} zt__after_visit;

ZT__PRIVATE zt__after_visit zt__decide_recording(const zt__visited *visited);
