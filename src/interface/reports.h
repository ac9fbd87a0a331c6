/* zt_report, on the first screen, writes a report to a file. */

/* Formats of reports; see REPORTS. Perfetto's own (.pftrace) and packed statistics (.zt) are only chosen by a path, of
   zt_report. */
typedef enum zt_format {
    ZT_FORMAT_TABLE,
    ZT_FORMAT_CSV,
    ZT_FORMAT_JSON,
    ZT_FORMAT_TRACE,       /* the timeline as JSON, for Chrome */
    ZT_FORMAT_HTML,        /* a page for browsers, in one file */
    ZT_FORMAT_OPENMETRICS, /* text for Prometheus; see OPENMETRICS */
    ZT_FORMAT_INSTANCES,   /* CSV with a row for each sample that config.timeline keeps */
    ZT_FORMAT_FOLDED       /* stacks of nested regions with their own times, for flame graphs */
} zt_format;

/* Called with the next bytes of a report, on the thread that writes it. `user` is that of the writing call.
   Returns 0, or anything else to stop. */
typedef int (*zt_write_fn)(const void *bytes, size_t size, void *user);

#ifndef ZETOOLS_DISABLE

/* Passes the bytes of a report to a function. It has all profilers for which this one reports, as that of zt_report.
   write  is called with the next bytes and `user`, until it returns nonzero
   Returns SUCCESS; INVALID_ENUMERATION; INVALID_ARGUMENT for a trace or instances without config.timeline;
   UNSUPPORTED_FEATURE for ZT_FORMAT_HTML with ZETOOLS_NO_PAGE; NOT_READY as zt_report; UNKNOWN if `write` stopped it. */
ZT_API ze_result_t zt_write(const zt_profiler *profiler, zt_format format, zt_write_fn write, void *user);

/* Clears all figures of samples: of regions, phases, metrics and calls, the timeline, and what was lost or dropped and why.
   Names and indices stay. Samples in flight count as begun since. A phase that is open counts from its next entry on. Not
   cleared: kernels, hot spots, memory that is allocated and not freed, streams, zt_info.power, zt_info.launches, and how
   long the library kept threads busy.
   Returns SUCCESS; HANDLE_OBJECT_IN_USE inside a sample function; NOT_READY if another thread still collects after
   config.wait_timeout_ns. */
ZT_API ze_result_t zt_clear(zt_profiler *profiler);

/* Names a command list, for the trace: regions that are begun on it from now on are on a track with this
   name. zt_release and, while tracing, the destruction of the list end that.
   name  is copied. NULL and "": no name any more
   Returns SUCCESS; OUT_OF_HOST_MEMORY also for more than 65,536 different names. */
ZT_API ze_result_t zt_name_list(zt_profiler *profiler, ze_command_list_handle_t list, const char *name);

#endif
