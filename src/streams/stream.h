/* What a stream is made of. */

#pragma once

#include "base/diagnostics.h"
#include "base/shared.h"
#include "base/system.h"
#include "base/threads.h"
#include "metrics/driver.h"
#include "results/clocks.h"
#include "results/timeline.h"

/* The longest time between two reads of a thread that waits for rows. */
enum { ZT__STREAM_WAIT_NS = 10000000 };

/* Reports are read from the device into a ring, and leave it when they are calculated, as rows. With
   config.thread, a thread of the stream reads, and the threads that call zt_stream_read calculate and
   deliver. Without it, they do both.

   There are two locks. `reader` is locked first: the thread that holds it delivers rows, calls the driver and
   functions of the application, and alone uses the fields below `reader`. `data->mutex` guards bookkeeping,
   and is held briefly. */
struct zt_stream {
    ze_device_handle_t device;
    ze_context_handle_t context;
    zt_stream_config config;
    zt_stream_info info;
    zt__driver driver;
    const char *opened_by;  /* the call, for messages */
    int is_of_instructions; /* its reports are those of hot spots: they have no periods, and no rows */
    zt__diagnostics own_diagnostics;
    zt__diagnostics *diagnostics;                                      /* these, or those of the profiler */
    uint32_t time_metric, length_metric, marker_metric, reason_metric; /* or UINT32_MAX */
    uint32_t marker_base; /* the number of the first marker in the device's reports */
    int is_activated;
    ze_event_pool_handle_t event_pool;
    ze_event_handle_t event; /* signalled when config.notify_reports are ready */
    zet_metric_streamer_handle_t streamer;
    int is_closing;         /* atomic, as the next four */
    int failure;            /* the result of the last read, or SUCCESS */
    int is_misaligned;      /* a calculation has failed since the last read: see zt__fill_ring */
    uint32_t users;         /* threads inside zt_stream_read */
    uint64_t reader_cpu_ns; /* processor time of the reader thread */
    zt__thread thread;
    zt__process *process; /* in which it was opened; a forked child is another one */

    uint8_t *ring;
    size_t ring_size;
    size_t partial; /* bytes of a report whose rest is still to come. Only for the thread that reads from the
                       device: the reader thread, or without one the thread that holds `reader` */

    zt__stream_data *data; /* `data->mutex` guards what follows */
    size_t report_size;    /* 0: not known yet */
    uint32_t capacity;     /* of the ring, in reports */
    uint64_t written;      /* reports that came into the ring so far */
    uint64_t calculated;   /* reports that left it so far */
    uint64_t written_ns;   /* when the last of them came */
    uint64_t gap_first;    /* the device dropped reports just before one of the reports gap_first to
                              gap_last. UINT64_MAX: it dropped none */
    uint64_t gap_last;
    uint64_t gap_ns; /* when the device reported this, by the host's clock */
    zt_stream_counts counts;
    uint32_t row_count; /* rows that were calculated last */
    uint32_t row_next;  /* the first of them that is not yet delivered */

    zt__timed_mutex reader;     /* the thread that holds it alone uses what follows */
    zet_typed_value_t *values;  /* of calculated rows */
    uint32_t max_calculated;    /* rows that `values` has room for */
    double *row;                /* the values of one row, for its receivers */
    uint64_t row_report;        /* the number of the report from which the first calculated row comes */
    int has_calculated;         /* reports of this capture were calculated before */
    int is_first_row;           /* the next row is the first of the capture, which is not valid */
    int is_after_failure;       /* the reports before the next row could not be calculated */
    int is_gap_located;         /* a row of gap_first to gap_last was found to follow the gap */
    int is_gap_pending;         /* rows are missing before the next one that is delivered */
    int has_end;                /* there was a row, so the next two are known */
    uint64_t end_ns;            /* of the last row's period, on the device's clock, unwrapped */
    uint64_t host_ns;           /* the same by the host's clock */
    uint64_t stamp_offset;      /* added to time stamps, which may be of another clock */
    uint32_t last_marker;       /* the number of the marker in the last row */
    const char *pending_marker; /* of a row that was discarded, for the next row without one. NULL: none */
    double marker_reason;       /* ReportReason of rows with a marker; NaN: not seen yet */
    double other_reason;        /* the same of rows without a marker */
    zt__clock clock;
};
