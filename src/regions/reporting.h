/* Profilers that report together: config.with. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "base/threads.h"
#include "regions/profiler.h"

/* What the profilers of one report share. While the first is open, none of the others is freed: one that is closed keeps
   its results for the report. Afterwards each is on its own. */
typedef struct zt__reporting {
    zt_allocator allocator;
    zt__timed_mutex
        lock; /* held while their results are read, and while one of them is closed. Guards what follows */
    uint32_t owners;    /* profilers that are open */
    zt_profiler *first; /* that reports for all. NULL: it is closed. Atomic */
    zt_profiler
        *last; /* of those that next_reporting leads to, from the first on, in the order of their openings */
} zt__reporting;

/* What is not collected. */
typedef struct zt__waiting {
    uint64_t open;       /* regions that are not ended, */
    uint64_t recorded;   /* and regions that are recorded and were not seen to run */
    uint64_t submitted;  /* samples that are on their way, */
    uint64_t overlapped; /* and samples of lists that were executed again before they were read */
} zt__waiting;

/* A device in a report of several profilers. */
typedef struct zt__joined_device {
    ze_device_handle_t handle;
    const char *name;    /* of the device */
    uint32_t place;      /* among all devices of all drivers; UINT32_MAX: not known */
    uint32_t tile;       /* of that device; UINT32_MAX: it is the whole one */
    zt__path *path;      /* around all that ran on it. NULL: there is one device, and paths do not have it */
    zt_profiler *power;  /* that has read its energy; NULL: none */
    zt_profiler *memory; /* the only one that has watched its memory; NULL: none, or several */
    uint32_t watchers;   /* profilers that have watched its memory */
} zt__joined_device;

/* What a report of several profilers has beside their results. */
typedef struct zt__joined {
    uint32_t device_count; /* at least 1 */
    uint32_t
        first_device; /* index of that of the profiler that reports; the number of devices: nothing ran on it */
    zt__joined_device *devices;
    char **groups;       /* names of metric groups that members measure in different ways; NULL at the end */
    zt__waiting waiting; /* what it cannot count by itself */
    const char *open_region; /* the name of one that has not ended, or NULL */
    int watches_memory;
    zt_profiler *power; /* that has read the energy of the only device; NULL: none */
} zt__joined;

/* Returns how many devices the paths of a profiler are of. */
ZT__PRIVATE uint32_t zt__count_devices(const zt_profiler *profiler);

/* Lets a profiler that is being opened report with another, or with the one that this reports with. Returns 0 without
   memory. */
ZT__PRIVATE int zt__join_reporting(zt_profiler *opened, zt_profiler *with);

/* Returns whether a profiler reports for others, too. */
ZT__PRIVATE int zt__reports_for_others(const zt_profiler *profiler);

/* Returns whether another profiler reports for this one. */
ZT__PRIVATE int zt__is_reported_by_other(const zt_profiler *profiler);

/* Returns whether two profilers report together, and measure the same device. */
ZT__PRIVATE int zt__report_on_one_device(const zt_profiler *one, const zt_profiler *other);

/* How this thread holds the lock of profilers that report together. */
typedef enum zt__held {
    ZT__NOT_HELD,
    ZT__HELD,       /* it has locked it */
    ZT__HELD_BEFORE /* it holds it already, or there is none */
} zt__held;

/* Locks what a profiler reports with, so that none of these profilers is closed meanwhile. */
ZT__PRIVATE zt__held zt__hold_reporting(zt_profiler *profiler, uint64_t deadline);

/* Unlocks it if zt__hold_reporting has locked it. */
ZT__PRIVATE void zt__release_reporting(zt_profiler *profiler, zt__held held);

/* Called when a profiler is closed, with the lock held, which is released. Returns the profilers that nobody needs any
   more: `closed`, all that were kept for its reports, or, if its results are kept, none. They are in a list by
   next_reporting. */
ZT__PRIVATE zt_profiler *zt__leave_reporting(zt_profiler *closed, zt__held held);
