#ifdef ZETOOLS_TRACER

/* ---- sampling instructions ----------------------------------------------------------------------------- */

/* How hot spots are sampled. Start from zt_hotspots_config_default(). */
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

/* Samples, and what became of them: samples = matched + outside + ambiguous + no_room. */
struct zt_hotspots_counts {
    uint64_t samples;
    uint64_t matched;   /* in a kernel */
    uint64_t outside;   /* in none that the tracer knows: of other processes, or of kernels that were neither
                           created nor launched while tracing */
    uint64_t ambiguous; /* where two kernels lie, as far as the device reports addresses */
    uint64_t no_room;   /* at more addresses than zt_hotspots_config.addresses, or without memory for them */
    uint64_t discarded; /* reports or rows that could not be used: the driver calculated none, or no address
                           or no counts. How many samples they had is not known */
    uint64_t drops;     /* how often the device has dropped samples */
};

#ifndef ZETOOLS_DISABLE

/* Returns a configuration with every field at its default. */
ZT_API zt_hotspots_config zt_hotspots_config_default(void);

/* Starts to sample instructions; see HOT SPOTS. The profiler must trace. Samples are added to those of
   earlier starts.
   config  NULL: the defaults
   Returns SUCCESS. On failure, zt_get_last_error(profiler) has the message:
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

/* Reads what is left, and stops sampling. What was sampled stays. Does nothing if hot spots are not sampled.
   zt_trace_stop and zt_close do the same before all else.
   Returns SUCCESS; NOT_READY if another thread reads samples for longer than config.wait_timeout_ns, or the
   library's own thread does not end in 2 seconds; HANDLE_OBJECT_IN_USE inside the log function of a message
   about reading. */
ZT_API ze_result_t zt_hotspots_stop(zt_profiler *profiler);

/* Returns how many samples there are so far, and what became of them. */
ZT_API zt_hotspots_counts zt_hotspots_get_counts(const zt_profiler *profiler);

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
    const char *file; /* of the source. "": not known; see zt_hotspots_find_lines */
    uint32_t line;    /* from 1; 0: not known */
};

#ifndef ZETOOLS_DISABLE

/* Returns the number of hot spots, that is, of different instructions with samples, so far. */
ZT_API uint32_t zt_get_hotspot_count(const zt_profiler *profiler);

/* Gets a hot spot by its index. Hot spots are in the order of their first sample. */
ZT_API ze_result_t zt_get_hotspot(const zt_profiler *profiler, uint32_t hotspot, zt_hotspot_info *info);

/* Finds the source lines of all hot spots that were sampled so far, as reports do. Runs addr2line,
   llvm-addr2line or llvm-symbolizer, whichever is in PATH, for up to 24 seconds for each module.
   Returns SUCCESS, also where no line is known; NOT_READY if another thread does it now. */
ZT_API ze_result_t zt_hotspots_find_lines(zt_profiler *profiler);

#endif

#endif /* ZETOOLS_TRACER */
