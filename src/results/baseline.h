/* An earlier run, whose JSON is read, and how much the GPU time of each path differs from it. */

#pragma once

#include "base/compiler.h"
#include "base/map.h"
#include "base/system.h"
#include "regions/profiler.h"

/* GPU time of a sample in ns, as far as the earlier run knows it; NaN: not known. */
typedef struct zt__baseline_time {
    double count, mean, stddev;
} zt__baseline_time;

/* A region or phase of the earlier run. */
typedef struct zt__baseline_region {
    const char *name;
    int is_phase;
    zt__baseline_time time;
} zt__baseline_region;

/* A path of the earlier run. */
typedef struct zt__baseline_path {
    struct {             /* the key of the map */
        uint32_t outer;  /* index of the path around it; UINT32_MAX: none */
        uint32_t region; /* index */
    } place;
    zt__baseline_time time;
    int is_found; /* this run has it, too. Atomic */
} zt__baseline_path;

typedef struct zt__baseline {
    char *path;        /* of the file */
    char failure[256]; /* why nothing is compared; "": it is */
    char *text;        /* of which all names are part */
    const char *date, *device, *driver_version;
    double core_clock_mhz;
    zt__baseline_region *regions;
    zt__baseline_path *paths;
    uint32_t region_count, path_count;
    zt__map region_maps[2], path_map; /* to these: by the names of regions and of phases; by place */
} zt__baseline;

/* Reads the file that config.baseline names. If it cannot be read, a message says why, and each report does. Returns 0
   without memory for that. */
ZT__PRIVATE int zt__read_baseline(zt_profiler *profiler, const char *path);

/* Returns the earlier run, or NULL: there is none, or it cannot be read. */
ZT__PRIVATE const zt__baseline *zt__baseline_of(const zt_profiler *profiler);

ZT__PRIVATE void zt__free_baseline(zt_profiler *profiler);

/* Finds the path of the earlier run that has the same names; NULL: none. There is a baseline. */
ZT__PRIVATE zt__baseline_path *zt__find_baseline_path(const zt_profiler *profiler, const zt__path *path);

/* Fills in how the GPU time of a path, or of a region with one path, differs from that of the earlier run. */
ZT__PRIVATE void zt__compare_with_baseline(const zt_profiler *profiler, const zt__region_record *region,
                                           const zt__path *path, zt_region_info *info);
