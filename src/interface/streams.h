/* ---- opening a stream, reading it, and closing it ------------------------------------------------------ */

/* How a stream is opened. */
struct zt_stream_config {
    const char *group;       /* A time-based metric group. NULL: "ComputeBasic", else the first that there
                                is. */
    uint32_t period_ns;      /* The length of a row in nanoseconds; the driver rounds it. Default: 1 ms. */
    uint32_t notify_reports; /* A read that waits is woken after this many reports. With fewer, rows arrive
                                sooner and cost more. Default: as many as come in 10 ms. */
    size_t memory_limit;     /* Bytes for reports and their calculation. Raise it if rows are read seldom.
                                Default: 8 MiB. */
    int thread; /* Not 0: a thread of the library's own reads from the device into this memory, so that
                   nothing is lost if the application seldom calls zt_stream_read. */

    zt_profiler *profiler;  /* Attaches the stream to this profiler: its timeline and regions then have the
                               rows. It must have config.timeline. It keeps the rows when the stream is
                               closed, so `allocator` must work until zt_close. NULL: to none. */
    uint32_t timeline_rows; /* Rows kept for that profiler, the newest. Each needs 32 bytes and 8 a metric.
                               Default: 16384. */

    zt_log_fn log; /* As in zt_config. The thread of config.thread calls it, too. */
    void *log_user;
    zt_allocator allocator;
};

/* One row: the metrics of one period. */
struct zt_row {
    uint64_t time_ns;   /* when the period began, by CLOCK_MONOTONIC of the host */
    uint64_t device_ns; /* the same by the clock of the device's metrics. It goes on when that overflows */
    uint64_t length_ns; /* how long the period lasted */
    int gap;            /* not 0: rows are missing before this one, dropped by the device or not
                           calculated */
    uint32_t metric_count;
    const double *values; /* in the order of zt_stream_info.metrics. NaN: not measured */
    const char *marker;   /* the name of the marker that ended the row, or NULL */
};

/* Called for each row, on the thread that reads. `user` is that of the reading call. Returns 0, or anything
   else to stop: later rows wait for the next read. */
typedef int (*zt_row_fn)(const zt_row *row, void *user);

/* Reports of a stream, and what became of them: reports = rows + discarded + waiting. See STREAMS. */
struct zt_stream_counts {
    uint64_t reports;      /* read from the device */
    uint64_t rows;         /* delivered to a function or a profiler */
    uint64_t discarded;    /* not delivered */
    uint64_t waiting;      /* not yet delivered */
    uint64_t gaps;         /* how often the device reported that it had dropped data */
    uint64_t dropped;      /* reports missing in these gaps, estimated from their length */
    uint64_t lost_markers; /* markers of rows that were discarded, where the next row has its own */
};

#ifndef ZETOOLS_DISABLE

/* Opens a stream on a device or sub-device of an initialised driver, which begins to sample.
   config  NULL: the defaults
   stream  receives the stream; NULL on failure
   Returns SUCCESS. On failure, zt_last_error has the message:
       NOT_AVAILABLE           the counters are in use, and the message names by whom
       HANDLE_OBJECT_IN_USE    likewise
       INVALID_ARGUMENT        there is no such group, it samples instructions instead of periods, or the
                               profiler has no timeline
       INVALID_SIZE            config.memory_limit is too low
       UNSUPPORTED_FEATURE     the device is a root device of several tiles; or config.thread is set, with
                               ZETOOLS_NO_THREADS
       DEPENDENCY_UNAVAILABLE  the driver's metric library is missing
       otherwise the result of the call that failed
   Not by two threads for one device at once. */
ZT_API ze_result_t zt_stream_open(ze_context_handle_t context, ze_device_handle_t device,
                                  const zt_stream_config *config, zt_stream **stream);

/* Delivers all rows that there are, and waits for the first if there is none. One thread reads while others
   wait.
   timeout_ns  how long it waits at the most, in nanoseconds; 0: not at all
   function    is called with each row and `user`. NULL: rows go to the attached profiler alone, or are
               discarded
   Returns SUCCESS; NOT_READY if there was no row in time; NOT_AVAILABLE if the stream is being closed;
   DEVICE_LOST; HANDLE_OBJECT_IN_USE inside a row function; otherwise the result of the driver call that
   failed. */
ZT_API ze_result_t zt_stream_read(zt_stream *stream, uint64_t timeout_ns, zt_row_fn function, void *user);

/* Appends a marker to a command list. The stream must still be open when the list is executed.
   name  is copied. NULL and "" are shown as "(unnamed)". Up to 4096 different names
   Returns SUCCESS; UNSUPPORTED_FEATURE if the group has no metric for markers, or no name can be added;
   otherwise the result of the driver call that failed. */
ZT_API ze_result_t zt_stream_mark(zt_stream *stream, ze_command_list_handle_t list, const char *name);

/* Ends reads that wait, delivers what is left, and frees the stream. An attached profiler keeps its rows.
   function  as for zt_stream_read
   counts    receives the final counts; may be NULL
   Returns SUCCESS, or, while the stream stays open,
       HANDLE_OBJECT_IN_USE  a read does not end in 10 seconds, or this is inside a row function or the
                             stream's log function
       NOT_READY             the thread of config.thread does not end
   Not by two threads at once. */
ZT_API ze_result_t zt_stream_close(zt_stream *stream, zt_row_fn function, void *user,
                                   zt_stream_counts *counts);

#endif

/* ---- what it measures, and what became of it ----------------------------------------------------------- */

/* What a stream measures, and what became of it. */
struct zt_stream_info {
    const char *group;
    uint32_t metric_count;    /* of a row. It does not change */
    const zt_metric *metrics; /* in the order of zt_row.values */
    uint32_t period_ns;       /* as rounded by the driver */
    uint32_t notify_reports;  /* as rounded by the driver */
    size_t memory;            /* bytes allocated for reports and their calculation */
    uint64_t thread_cpu_ns;   /* processor time of the thread of config.thread so far */
    zt_stream_counts counts;  /* so far */
    const char *error; /* the last message of the stream, by whichever thread. "": none. This thread's own
                          copy, valid until the thread calls the library again */
};

#ifndef ZETOOLS_DISABLE

/* Returns what the stream measures, and what became of it so far. */
ZT_API zt_stream_info zt_stream_get_info(const zt_stream *stream);

/* Returns the index of a metric by its name, or UINT32_MAX; then zt_last_error has the nearest names. */
ZT_API uint32_t zt_stream_find_metric(const zt_stream *stream, const char *name);

#endif
