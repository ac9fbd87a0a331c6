/* What the parts of joining share. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"

/* A profiler that is joined with others, and where its results go. */
typedef struct zt__member {
    zt_profiler *profiler;
    uint32_t device;   /* index among the devices of the report; their number: nothing ran on it */
    int counts_power;  /* no other profiler has read the same of the same device */
    uint32_t *metrics; /* of the whole, for each of its own */
    uint32_t *columns; /* likewise */
    uint32_t path_count, region_count;
    zt__region_record **regions; /* of the whole, by index */
    zt__path **paths;            /* likewise */
    zt__path **phases;           /* for each phase, its path without the device; NULL: it is none */
} zt__member;

typedef struct zt__joining {
    zt_profiler *whole;
    zt__member *members; /* the first is that which reports */
    uint32_t count;
    const zt_metric **sources; /* of the metrics of the whole */
    uint32_t group_count;      /* joined->groups */
} zt__joining;
