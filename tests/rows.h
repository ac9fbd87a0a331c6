/* What the tests of streams share: streams on the fixture's device, and the rows that came out of them. */
#ifndef TESTS_ROWS_H
#define TESTS_ROWS_H

#include "fixture.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MOST_ROWS = 20000, MARKER_NAME = 40 };
#define SLOW_PERIOD 4000000000u /* so that reports come by markers alone */

typedef struct kept_row {
    uint64_t time_ns, device_ns, length_ns;
    int gap;
    double id, groups, gpu_time, busy; /* ReportId, GPGPU_THREADGROUP_COUNT, GpuTime, GPU_BUSY; NaN where the
                                          group lacks it */
    char marker[MARKER_NAME];          /* "" where there is none */
} kept_row;

/* Rows in the order in which they came. */
typedef struct rows {
    const zt_stream *stream;
    uint32_t count;
    uint32_t stop_at; /* asks to stop when there are so many; 0: never */
    kept_row kept[MOST_ROWS];
} rows;

zt_stream_config stream_config_of(world *w); /* the default, with messages kept in the world */
zt_stream *open_stream_with(world *w, const zt_stream_config *config); /* asserts success */
zt_stream *open_rows(world *w, uint32_t period_ns);                    /* of ComputeBasic */

/* Closes what a failed test left open, and the world. */
int close_streams(void **state);
#define STREAM_TEST(function) cmocka_unit_test_setup_teardown(function, open_world, close_streams)

/* One static collection of rows is enough for a test; emptied here. */
rows *rows_of(const zt_stream *stream);
int keep_row(const zt_row *row, void *rows);

/* Reads until so many rows were kept; fails where they do not come. */
void read_rows(zt_stream *stream, rows *kept, uint32_t count);

/* Appends a marker to the immediate list. */
void mark_now(world *w, zt_stream *stream, const char *name);

/* reports = rows + discarded + waiting. */
void check_stream_counts(zt_stream_counts counts);
zt_stream_counts close_rows(zt_stream *stream, rows *kept); /* rows may be NULL. Checks the counts */

/* Times run forward, identifiers follow one another, and nothing was measured before it began. */
void check_rows(const rows *kept);
double groups_in_rows(const rows *kept);
uint32_t gaps_in_rows(const rows *kept); /* rows before which others are missing */

/* Each row begins where the one before ends. Rounding aside, unless `exact`. */
void check_rows_join(const rows *kept, int exact);

#ifdef __cplusplus
}
#endif

#endif
