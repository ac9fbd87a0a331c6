#ifdef ZETOOLS_TRACER

/* ---- sampling instructions ----------------------------------------------------------------------------- */

/* How hot spots are sampled. */
struct zt_hotspots_config {
    uint32_t period_ns;  /* Nanoseconds between two samples; the driver rounds it. Default: 50 us. */
    size_t memory_limit; /* Bytes for samples that are read and not yet added up. Default: 8 MiB. */
    uint32_t addresses;  /* The most addresses that are kept apart; samples at others are counted. Each
                                needs up to 300 bytes. A later start can raise it, and not lower it. Default:
                                65,536. */
    size_t debug_limit;  /* Bytes of debug information that are kept for source lines, of modules that
                                are destroyed, or still there at the stop. Default: 64 MiB. */
    int no_thread;       /* Not 0: zt_collect reads samples; call it every few milliseconds. 0: a thread
                                of the library's own does. */
};

#ifndef ZETOOLS_DISABLE

/* Starts to sample instructions; see HOT SPOTS. The profiler must trace. Samples are added to those of
   earlier starts.
   config  NULL: the defaults
   Returns SUCCESS. On failure, zt_last_error has the message:
       NOT_READY               the profiler does not trace
       UNSUPPORTED_FEATURE     the device has no metric group that samples instructions, or is a root device
                               of several tiles; or the driver does not report where kernels lie
       NOT_AVAILABLE           the group is in use, and the message names by whom
       HANDLE_OBJECT_IN_USE    likewise, or hot spots are sampled already
       INVALID_SIZE            config.memory_limit is too low
       DEPENDENCY_UNAVAILABLE  the driver's metric library is missing
       otherwise the result of the call that failed
   Not by two threads for one device at once. */
ZT_API ze_result_t zt_hotspots_start(zt_profiler *profiler, const zt_hotspots_config *config);

/* Reads what is left, stops sampling, and finds the source lines of all hot spots, as reports do. What was
   sampled stays. For the lines it runs addr2line, llvm-addr2line or llvm-symbolizer, whichever is in PATH,
   for up to 24 seconds for each module. zt_trace_stop and zt_close also stop sampling, and find no lines.
   Returns SUCCESS, also if hot spots are not sampled or no line is known; NOT_READY if another thread reads
   samples or finds lines for longer than config.wait_timeout_ns, or the library's own thread does not end in
   2 seconds; HANDLE_OBJECT_IN_USE inside the log function of a message about reading. */
ZT_API ze_result_t zt_hotspots_stop(zt_profiler *profiler);

#endif

/* ---- what was sampled ---------------------------------------------------------------------------------- */

/* The most kinds of stall that hot spots have. */
enum { ZT_MAX_STALLS = 16 };

/* A kind of stall: why a thread of the device did not execute its next instruction. */
struct zt_stall {
    const char *name; /* the driver's, such as "SbidStall"; see SAMPLED INSTRUCTIONS */
    uint64_t samples;
};

/* Samples at one instruction of a kernel. */
struct zt_hotspot_info {
    const char *kernel;
    uint64_t offset; /* of the instruction from the begin of the kernel, in bytes: a multiple of 8 */
    uint64_t samples;
    double share;    /* of all samples in kernels, from 0 to 1 */
    uint64_t active; /* samples in which the instruction was executed; the others are stalls */
    uint32_t stall_count;
    zt_stall stalls[ZT_MAX_STALLS];
    const char *file; /* of the source. "": not known; see zt_hotspots_stop */
    uint32_t line;    /* from 1; 0: not known */
};

#ifndef ZETOOLS_DISABLE

/* Gets a hot spot by its index. Hot spots are in the order of their first sample. */
ZT_API ze_result_t zt_get_hotspot(const zt_profiler *profiler, uint32_t hotspot, zt_hotspot_info *info);

#endif

#endif /* ZETOOLS_TRACER */
