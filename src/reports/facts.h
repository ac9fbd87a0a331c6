/* What all reports read: a region at a time, hot spots; names and dates that they share. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "base/writer.h"
#include "regions/profiler.h"
#include "results/baseline.h"
#include "results/overlap.h"
#include "results/phase_times.h"
#include "results/roles.h"
#include "results/timeline.h"
#include "tracer/hotspots.h"

enum { ZT__HISTOGRAM_BUCKETS = 24 };

/* How kept GPU times are distributed. Each bucket ends at `ratio` times its begin. */
typedef struct zt__histogram {
    double first; /* where the first bucket begins */
    double ratio;
    uint32_t counts[ZT__HISTOGRAM_BUCKETS];
    double sums[ZT__HISTOGRAM_BUCKETS]; /* of the times in each bucket */
    uint32_t used; /* buckets up to the last one that is not empty; 0: no times are kept */
} zt__histogram;

/* Kept GPU times that fall into two groups, with nothing between them. */
typedef struct zt__time_groups {
    uint32_t counts[2];
    double means[2];
} zt__time_groups;

/* Where a region or a path is, and its part of all GPU time. */
typedef struct zt__nesting {
    uint32_t index;  /* of the region, or ZT_PATH of that of the path */
    uint32_t region; /* its index */
    uint32_t path;   /* index of the path; of a region that of its last one, or UINT32_MAX */
    uint32_t parent; /* the index of a region; for a path, that of a path. UINT32_MAX: none */
    uint32_t paths;  /* how many the region has, or 0 for a path */
    int is_phase;
    double own_ns, total_ns; /* as in zt_region_info */
    /* From 0 to 1: of a phase, that of all regions inside. An estimate where own_ns is not known; NaN if no region has
       GPU time. */
    double share;
} zt__nesting;

/* A report that is being written. zt__read_region reads one region or path at a time into it. */
typedef struct zt__document {
    zt__writer writer;
    zt_profiler *profiler;
    int is_perfetto;    /* of traces: Perfetto's own format */
    size_t room;        /* columns of a line, for tables */
    uint32_t most_rows; /* of a table */
    zt__advice advice;
    uint32_t region_count, path_count; /* when the report was begun */
    zt__nesting *regions, *paths;      /* all of one moment */
    double gpu_time_ns;                /* the sum of own times, or of estimates of them */
    int is_nested;                     /* a region is inside another, or in a phase */
    int has_phases;
    const zt__nesting *nesting; /* of the region or path that was read last, like what follows */
    zt__subject subject;
    zt__totals totals;
    zt_region_info region;
    double figures[ZT__ROLE_COUNT]; /* of each role */
    zt__peak_shares of_peak;        /* taken from these */
    zt_stats *stats;                /* of each column */
    zt__histogram histogram;
    uint32_t shown_count;  /* so far, with samples, also lost or dropped ones */
    int differs;           /* passes of one of them differ */
    int out_of_memory;     /* the report is incomplete */
    zt__coverage coverage; /* of reports with shares */
    zt__at_once *at_once;  /* of each path */
    zt__busy_phases busy_phases;
    double busy_ns; /* in which any of gpu_time_ns ran; NaN: not known. Shares are of it, else of that */
} zt__document;

/* The lengths of zt__figure_names and zt__kernel_numbers. */
enum { ZT__FIGURE_COUNT = 7, ZT__KERNEL_NUMBERS = 9 };

typedef struct zt__figures {
    double values[ZT__FIGURE_COUNT];
} zt__figures;

/* What a figure of a report is. */
typedef struct zt__fact {
    const char *units;
    int type; /* a zet_metric_type_t, or -1: a text */
    zt_aggregation aggregation;
    const char *csv, *json, *family, *help; /* "": the format does not have it */
} zt__fact;

/* A time as text: "2026-11-22T03:21:00Z"; "" if it is not known. */
typedef struct zt__date {
    char text[32];
} zt__date;

#ifdef ZETOOLS_TRACER

typedef struct zt__kernel_values {
    uint32_t values[ZT__KERNEL_NUMBERS];
} zt__kernel_values;

/* The hash of a kernel's module as text; "" if it is not known. */
typedef struct zt__module_text {
    char text[24];
} zt__module_text;

/* Sizes in three dimensions as text: "256", "16x16"; "" if they are not known. */
typedef struct zt__sizes_text {
    char text[40];
} zt__sizes_text;

/* An instruction with samples or, where lines are merged, a source line. */
typedef struct zt__hot_row {
    const zt__sampled_kernel *kernel;
    uint64_t kernel_samples;
    uint64_t offset;  /* of the first instruction */
    const char *file; /* "": not known */
    uint32_t line;
    uint64_t samples;
    uint64_t counts[ZT__MOST_COUNTS];
} zt__hot_row;

/* Where a row is, as text: "saxpy.cl:12", or "+0x40" where the line is not known. */
typedef struct zt__hot_place {
    char text[320];
} zt__hot_place;
#endif

/* Returns whether a figure is a number of samples, entries, lists or allocations. */
ZT__PRIVATE int zt__is_count(const zt__fact *fact);

/* Returns by what a figure is multiplied for people: 100 for a share, which is then in percent. */
ZT__PRIVATE double zt__percent_factor(const zt__fact *fact);

/* Returns its units then. */
ZT__PRIVATE const char *zt__shown_units(const zt__fact *fact);

/* Returns the GPU time of the samples with the metrics of a pass, by which these are divided. */
ZT__PRIVATE const zt_stats *zt__pass_time(const zt__document *document, uint32_t pass);

/* Finds the widest gap between times. Returns 0 if it is not wide: then they are one group. */
ZT__PRIVATE int zt__find_groups_of_times(const zt__histogram *histogram, zt__time_groups *groups);

/* Returns the name of a path of the earlier run that this one does not have, from `*index` on, which moves behind it; NULL:
   there are no more. The caller frees it. */
ZT__PRIVATE char *zt__next_gone_path(zt__document *document, uint32_t *index);

/* Returns whether the region that was read last also has samples without metrics, of which only the times are
   measured. Then the GPU time of those with metrics is written, too. */
ZT__PRIVATE int zt__has_times_alone(const zt__document *document);

/* Reads a region or a path, of which this is the nesting. Returns 0 if it is not to be written: it has no samples, not
   even lost or dropped ones, or there is no memory. */
ZT__PRIVATE int zt__read_region(zt__document *document, const zt__nesting *nesting);

/* Reads what needs no statistics: `subject`, `totals` and of `region` what is taken from these. */
ZT__PRIVATE void zt__read_totals(zt__document *document, const zt__nesting *nesting);

/* Reads `figures` and `of_peak` of the region that was read last, for which `advice` is prepared. */
ZT__PRIVATE void zt__read_peak_shares(zt__document *document);

/* Returns whether a path is one of several of its region, so that it has figures of its own. */
ZT__PRIVATE int zt__is_one_of_several(const zt__document *document, const zt__nesting *path);

/* Returns the next row of a report by paths, or the first for NULL; NULL at the end. A row is a region that has at most
   one path, or a path of another region. */
ZT__PRIVATE const zt__nesting *zt__next_by_path(const zt__document *document, const zt__nesting *row);

/* Returns the name of a path, such as "step;solve" or ";solve", which the caller frees. A ';' in a name is written as ':',
   because ';' separates names. Returns NULL without memory. */
ZT__PRIVATE char *zt__name_path(zt__document *document, const zt__path *path);

ZT__PRIVATE zt__figures zt__list_figures(const zt_stats *stats);

/* Returns whether an earlier metric has the same name. Those of streams (ZT_STREAMED) are compared with each other. */
ZT__PRIVATE int zt__is_repeated(const zt_profiler *profiler, uint32_t metric);

ZT__PRIVATE zt__date zt__format_date(uint64_t seconds);

ZT__PRIVATE zt__date zt__format_now(void);

#ifdef ZETOOLS_TRACER

ZT__PRIVATE zt__kernel_values zt__list_kernel_values(const zt_kernel_info *info);

ZT__PRIVATE zt__module_text zt__format_module(const zt_kernel_info *info);

ZT__PRIVATE zt__sizes_text zt__format_sizes(const uint32_t sizes[3]);
#endif

#ifdef ZETOOLS_TRACER

/* Sorts by samples, most first. */
ZT__PRIVATE int zt__compare_hot_rows(const void *a, const void *b);

/* Merges the instructions of each source line. Returns how many rows there are then. */
ZT__PRIVATE uint32_t zt__merge_hot_lines(zt__hot_row *rows, uint32_t count);

/* Returns all hot spots, sorted by kernel and source line, and stores the counts of the same moment. The caller
   frees the array. With `merges`, instructions of one line are one row. Returns NULL if there are none, or
   without memory. */
ZT__PRIVATE zt__hot_row *zt__read_hot_rows(zt__document *document, int merges, uint32_t *count,
                                           zt_hotspots_counts *counts);

ZT__PRIVATE zt__hot_place zt__describe_hot_place(const zt__hot_row *row);
#endif

extern const char *const zt__differences[];

extern const char *const zt__figure_names[ZT__FIGURE_COUNT];

extern const char *const zt__throttle_reasons[ZT_THROTTLE_REASONS];

#ifdef ZETOOLS_TRACER

extern const char *const zt__kernel_numbers[ZT__KERNEL_NUMBERS][2];

#endif
