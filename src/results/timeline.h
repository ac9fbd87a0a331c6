/* The timeline: the newest samples, and what a stream shares with a profiler. */

#pragma once

#include "base/compiler.h"
#include "base/map.h"
#include "base/platform.h"
#include "base/system.h"
#include "metrics/groups.h"
#include "metrics/statistics.h"
#include "regions/profiler.h"
#include "results/clocks.h"

enum { ZT__MAX_MARKERS = 4096 };

typedef struct zt__marker {
    uint32_t index;
    const char *name; /* in the same allocation */
} zt__marker;

/* A row as it is kept for a profiler. */
typedef struct zt__kept_row {
    uint64_t begin_ns, end_ns; /* by the host's clock */
    const char *marker;        /* the device ended the row at this marker, at the time end_ns; or NULL */
    int gap;                   /* rows are missing before it */
} zt__kept_row;

/* What a stream measures, its markers, and, if it is attached to a profiler, its newest rows. An attached
   stream shares this with the profiler, which keeps it until zt_close, so that reports show the rows of
   streams that are closed. zt_stream_close frees all else of a stream. No thread locks this mutex and that of
   a profiler at the same time. */
typedef struct zt__stream_data {
    zt_allocator allocator;
    zt__group group;    /* constant, like the next three */
    zt_metric *metrics; /* of the group */
    uint32_t row_capacity;
    uint64_t period_ns;
    uint32_t first_streamed;      /* index of the first metric among the profiler's streamed metrics */
    struct zt__stream_data *next; /* attached to the same profiler. Atomic */

    zt__mutex mutex; /* of the stream: guards what follows, and the stream's ring and counts */

    zt_profiler *profiler; /* that it is attached to, or NULL */
    int is_attributing;    /* a thread that reads the stream is using the profiler */
    uint32_t owners;       /* stream and profiler: 2, 1 or 0 */
    int is_open;           /* more rows may come */
    uint64_t rows_written; /* ever */
    zt__kept_row *rows;    /* a ring of the newest */
    double *row_values;    /* of each, all metrics */
    zt__moments *sums;     /* of each metric over one sample; the thread that attributes rows uses them */

    zt__map marker_names; /* to zt__marker */
    zt__marker *markers[ZT__MAX_MARKERS];
    uint32_t marker_count;
} zt__stream_data;

typedef struct zt__timeline_sample {
    uint64_t begin_ns, end_ns; /* of the device, unwrapped */
    ze_command_list_handle_t list;
    const void *runs_on;   /* as in zt__sample_times */
    uint64_t submitted_ns; /* host time */
    zt__origin origin;
    uint64_t bytes;              /* that it has copied or filled; 0: none, or not known */
    const zt__path *outer_phase; /* as that of the reading */
    uint32_t region, path;
    uint32_t pass; /* ZT__TIMES_PASS: it has times alone */
} zt__timeline_sample;

enum { ZT__MISSING_KEPT = 1024 };

/* A call that has executed command lists. */
typedef struct zt__execution {
    uint64_t begin_ns, end_ns; /* host time; `end_ns` is 0 until the call returns */
    uint32_t thread;
} zt__execution;

/* How the samples of a timeline cover the time of the device. */
typedef struct zt__coverage {
    zt_overlap overlap;
    double outermost_ns; /* the sum of the times of samples that are inside no other, and the time */
    double covered_ns;   /* in which at least one of them ran. NaN as the times of zt_overlap */
    double wall_share;   /* of samples in the time from first to last, in percent. NaN with fewer than two */
} zt__coverage;

/* The newest samples. Guarded by the profiler's mutex. */
typedef struct zt__timeline {
    zt__clock clock;
    zt__clock kernel_clock;   /* of the time stamps of kernels. Has no pairs, but the rate of `clock` */
    uint64_t kernel_offset;   /* ticks by which it is ahead of `clock` */
    uint64_t kernel_error_ns; /* of this offset. 0: both are one clock, perhaps with fewer bits */
    uint32_t capacity;
    uint64_t written;           /* ever */
    uint64_t first;             /* the oldest since zt_clear */
    uint64_t replaced_before;   /* samples that those of which this is made had replaced by newer ones */
    uint64_t opened_ns;         /* host time */
    uint64_t ambiguous;         /* samples that were not kept, because their times are uncertain */
    uint64_t replaced_until_ns; /* device time: the latest end of a sample that a newer one has replaced */
    zt__timeline_sample *samples;
    double *values; /* of each, all columns */

    uint64_t missing_written, executions_written, phases_written; /* ever */
    zt__missing *missing;                                         /* a ring of the newest ZT__MISSING_KEPT */
    zt__execution *executions; /* a ring of the newest, as many as samples */
    zt__phase_span *phases;    /* the same */

    uint64_t changes;      /* of samples that are kept or missing, ever */
    zt__coverage coverage; /* as it was after so many changes, and with so many samples in flight */
    uint64_t coverage_changes, coverage_in_flight;

    uint64_t attributed; /* rows are attributed to all samples before this one */
    int is_attributing;  /* a thread is attributing rows */
    int attribute_again; /* rows or samples may have come since it began */
} zt__timeline;

/* Returns the index of the oldest element that a ring still has, after `written` were written to it. */
ZT__PRIVATE uint64_t zt__oldest_kept(uint64_t written, uint32_t capacity);

/* Returns the index of the oldest sample that is kept. The mutex is held. */
ZT__PRIVATE uint64_t zt__oldest_sample(const zt__timeline *timeline);

/* Keeps none of the samples that there are. The mutex is held. */
ZT__PRIVATE void zt__clear_timeline(zt__timeline *timeline);

/* Called by the stream and by the profiler, when each no longer needs the data. The last one frees it. */
ZT__PRIVATE void zt__release_stream_data(zt__stream_data *data);

ZT__PRIVATE void zt__keep_row(zt__stream_data *data, const zt__kept_row *row, const double *values);

/* Compares the clocks if that is due, or in any case with `now`. */
ZT__PRIVATE void zt__relate_clocks(zt_profiler *profiler, int now);

ZT__PRIVATE void zt__timeline_before_collection(zt_profiler *profiler);

/* Records that a sample is missing, or with `by` -1 that it is not after all. The mutex is held. */
ZT__PRIVATE void zt__keep_missing(zt_profiler *profiler, const zt__missing *missing);

/* Records that a call begins to execute lists or, with 0, that the newest one of this thread that has not ended
   ends now. Hooks may execute lists inside of a call. The mutex is held. */
ZT__PRIVATE void zt__keep_execution(zt_profiler *profiler, uint64_t begin_ns);

/* Records that a phase has ended. The mutex is held. */
ZT__PRIVATE void zt__keep_phase(zt_profiler *profiler, const zt__phase_span *span);

/* Finds out how the time stamps of kernels are related to the device's global ones, by a command that has
   such a time stamp, between two readings of the global clock. With most drivers, they have fewer bits of
   the same clock. Otherwise the readings should be close to each other, which a busy machine may need more
   than one attempt for. */
ZT__PRIVATE void zt__relate_kernel_clock(zt_profiler *profiler);

/* Prepares a profiler that measures metrics for launches with times alone: makes probes without queries, and
   relates the clock of kernels. Without memory, the first such launch makes the probes. */
ZT__PRIVATE void zt__prepare_times_alone(zt_profiler *profiler);

/* Keeps a sample, and fills in its latencies, with the mutex held. Does not keep one whose times are
   uncertain. */
ZT__PRIVATE void zt__keep_sample(zt_profiler *profiler, zt__reading *reading, double *row);

/* Returns the attached stream after `before`, or the first if that is NULL; NULL at the end. The data of
   streams stays until the profiler is closed. `group` and `metrics` may be read without a lock. */
ZT__PRIVATE zt__stream_data *zt__next_attached_stream(zt_profiler *profiler, zt__stream_data *before);

/* Releases the timeline and the data of the streams, which are detached. */
ZT__PRIVATE void zt__close_timeline(zt_profiler *profiler);

/* Stores the index of the oldest sample that is kept, and of the one behind the newest. Returns how many older ones newer
   ones have replaced. */
ZT__PRIVATE uint64_t zt__get_kept_samples(zt_profiler *profiler, uint64_t *first, uint64_t *end);

/* Copies a sample, with times of the host, and its row of values. Returns 0 if a newer one has replaced it. */
ZT__PRIVATE int zt__copy_kept_sample(zt_profiler *profiler, uint64_t index, zt__timeline_sample *sample,
                                     double *values);

/* Gets the indices of kept rows, from *first up to but not including *end. */
ZT__PRIVATE void zt__get_kept_rows(zt__stream_data *data, uint64_t *first, uint64_t *end);
