/* ==== interface =========================================================================================== */

/* What holds everywhere is written here. A declaration has only what differs.

   Threads         Every function may be called by any thread, also by several at once. A function that takes a
                   command list is called by a thread that may use that list; Level Zero does not allow two
                   threads to use one list at a time.
   NULL            A function accepts NULL for the profiler, stream or debugger, and then does nothing. It
                   returns ZE_RESULT_SUCCESS, 0, or what stands for nothing: UINT32_MAX for an index, NaN for a
                   figure. zt_execute and zt_reset still execute and reset, and ZT_PASSES runs its statement
                   once.
   Results         They are named without ZE_RESULT_ and ZE_RESULT_ERROR_. Every function that returns a
                   ze_result_t may return SUCCESS, and
                   INVALID_NULL_HANDLE, INVALID_NULL_POINTER  for a NULL that is not allowed
                   INVALID_ARGUMENT                           for an index that is too high
                   OUT_OF_HOST_MEMORY                         if it needs memory
                   Other results are named at the declaration.
   Structures      A structure that is to be filled in is empty on failure, and for NULL.
   Configurations  NULL stands for the default configuration, and in a configuration 0 and NULL stand for the
                   default of a field. zt_..._config_default() returns one to start from; that of a benchmark
                   is one of zeros. Strings and arrays need not outlive the call.
   Callbacks       `user` is passed on unchanged. Pointers that a callback receives are valid during the call.
                   See CALLBACKS for what it may call.
   Versions        All of this is there since 0.1, where nothing else is written. */

/* ---- names ----------------------------------------------------------------------------------------------- */

/* Every structure, in the order of the parts below. */

typedef struct zt_profiler zt_profiler;   /* measures regions on one device or sub-device, in one context */
typedef struct zt_region zt_region;       /* a region that was begun */
typedef struct zt_config zt_config;       /* how a profiler is opened */
typedef struct zt_allocator zt_allocator; /* the application's allocator */
typedef struct zt_sample zt_sample;       /* one collected sample */

/* Results */
typedef struct zt_counts zt_counts; /* samples, and what became of them */
typedef struct zt_stats zt_stats;   /* statistics of one figure: mean, median, 95th percentile, ... */
typedef struct zt_region_info zt_region_info;     /* a region: its counts, times and parent */
typedef struct zt_path_info zt_path_info;         /* a region inside certain others */
typedef struct zt_metric zt_metric;               /* a metric: its name, units and kind */
typedef struct zt_limit_info zt_limit_info;       /* what probably limits a region, and why */
typedef struct zt_timeline_info zt_timeline_info; /* what a timeline holds */
typedef struct zt_overlap zt_overlap;             /* how samples cover the time of the device */
typedef struct zt_passes zt_passes;               /* the state of one ZT_PASSES */

/* The tracer */
#ifdef ZETOOLS_TRACER
#define ZT__TRACER_DECLARED 1
typedef struct zt_trace_config zt_trace_config; /* what a tracer does */
typedef struct zt_hook zt_hook;                 /* callbacks of the application around one call */
typedef struct zt_trace_counts zt_trace_counts; /* launches, and what became of them */
typedef struct zt_call_info zt_call_info;       /* a call that was timed */
typedef struct zt_kernel_info zt_kernel_info;   /* a kernel that was launched while tracing */
typedef struct zt_kernel_shape zt_kernel_shape; /* its launches with the same work-groups */
typedef struct zt_auto_config zt_auto_config;   /* how zt_auto traces and reports */
#endif

/* Streams */
typedef struct zt_stream zt_stream;               /* one metric group of a device, sampled by the clock */
typedef struct zt_stream_config zt_stream_config; /* how a stream is opened */
typedef struct zt_stream_info zt_stream_info;     /* what it was opened with */
typedef struct zt_stream_counts zt_stream_counts; /* its reports, and what became of them */
typedef struct zt_row zt_row;                     /* the metrics of one period */
typedef struct zt_streamed zt_streamed;           /* a streamed metric in a region */

/* Benchmarks */
typedef struct zt_bench_config zt_bench_config;   /* what to benchmark, and how precisely */
typedef struct zt_bench_result zt_bench_result;   /* the result of a benchmark */
typedef struct zt_comparison zt_comparison;       /* the result of a comparison of two variants */
typedef struct zt_bench_changes zt_bench_changes; /* how many benchmarks changed since an earlier run */

/* Hot spots */
#ifdef ZETOOLS_TRACER
typedef struct zt_hotspots_config zt_hotspots_config; /* how hot spots are sampled */
typedef struct zt_hotspots_counts zt_hotspots_counts; /* their samples, and what became of them */
typedef struct zt_hotspot_info zt_hotspot_info;       /* samples at one instruction of a kernel */
typedef struct zt_stall zt_stall;                     /* why a thread did not execute its next instruction */
#endif

/* Watching and debugging */
#ifdef ZETOOLS_DEBUG
#define ZT__DEBUG_DECLARED 1
typedef struct zt_watch_config zt_watch_config; /* how regions are watched */
typedef struct zt_watch_info zt_watch_info;     /* what a watch does, and what it has found */
typedef struct zt_hang zt_hang;                 /* what hangs or has faulted, and where */
typedef struct zt_hang_place zt_hang_place;     /* where threads were when they were stopped */
typedef struct zt_debugger zt_debugger;         /* a session with one device and one process that uses it */
typedef struct zt_debug_config zt_debug_config; /* how a process is debugged */
typedef struct zt_debug_thread zt_debug_thread; /* a thread of the device, or several */
typedef struct zt_debug_event zt_debug_event;   /* what has happened in a debugged process */
typedef struct zt_debug_stops zt_debug_stops;   /* how many threads were stopped */
typedef struct zt_debug_register_set zt_debug_register_set; /* registers of one kind */
typedef struct zt_debug_register zt_debug_register;         /* a register */
typedef struct zt_debug_place zt_debug_place; /* the kernel and the source line of an instruction */
#endif

/* ---- the first screen ------------------------------------------------------------------------------------ */

/* Open a profiler, put regions around work, collect, report, close:

       zt_profiler *profiler;
       zt_open(context, device, NULL, &profiler);
       ZT_REGION(profiler, list, "saxpy")
           zeCommandListAppendLaunchKernel(list, saxpy, &groups, NULL, 0, NULL);
       zt_collect(profiler, UINT64_MAX);
       zt_report(profiler, "-");
       zt_close(profiler); */

/* A region that was begun. Its fields are private. A copy refers to the same region. */
struct zt_region {
    void *slot;
    uint32_t generation;
    uint32_t profiler;
    uint32_t body;
};

#ifndef ZETOOLS_DISABLE

/* Opens a profiler on a device or sub-device of an initialised driver.
   config    NULL: the defaults
   profiler  receives the profiler; NULL on failure
   Returns SUCCESS, also where metrics cannot be measured. With config.require_metrics that is a failure: then
   the result of the call that refused them, or INVALID_ARGUMENT where there are no such groups or metrics.
   OUT_OF_HOST_MEMORY also when 256 profilers are open in the process; DEVICE_LOST; otherwise the result of
   the call that failed. zt_get_last_error(NULL) has the message.
   Variables of the environment override the configuration; see ENVIRONMENT. Mistakes in them are reported.
   Not by two threads for one device at once. */
ZT_API ze_result_t zt_open(ze_context_handle_t context, ze_device_handle_t device, const zt_config *config,
                           zt_profiler **profiler);

/* Returns the last message of a profiler, or "". NULL: that of this thread's last failure without a profiler
   or stream, such as of zt_open. The text is this thread's own copy, and valid until the thread calls the
   library again. */
ZT_API const char *zt_get_last_error(const zt_profiler *profiler);

/* Begins a region on a command list that is immediate, or open for commands.
   name  is copied. NULL and "" are shown as "(unnamed)". Up to 65,536 different names
   Returns the region, for zt_end. A region that cannot be measured is counted as dropped, and passed to
   zt_end all the same. */
ZT_API zt_region zt_begin(zt_profiler *profiler, ze_command_list_handle_t list, const char *name);

/* Ends a region, on the list on which it was begun. Does nothing for NULL, for a region that was dropped or
   has ended, also by a copy of it, and for one whose profiler is closed. */
ZT_API void zt_end(zt_region *region);

/* ZT_REGION(profiler, list, name) statement
       makes a region of the statement. In C++ and GNU C it ends however the statement is left: at its end, by
       break, goto, return or an exception. In ISO C, return and goto leave it open. `break` and `continue`
       leave the statement alone, and not a loop around it.
   ZT_SCOPE(profiler, list, name);
       makes a region of the rest of the block, in C++ and GNU C. */

/* Collects the last execution of these lists, waiting for it up to config.wait_timeout_ns, and executes them
   with zeCommandQueueExecuteCommandLists. Samples that were not ready in time are overwritten and counted as
   lost. The lists are executed in any case. If a list is named twice, they are executed in several calls, so
   that each execution is measured; the last call has the fence. If the driver refuses one of these calls, the
   lists of those before it are executed, and those after it are not made; the message tells how many lists
   were executed. See CALLBACKS for calls inside a callback.
   Returns what zeCommandQueueExecuteCommandLists returns. */
ZT_API ze_result_t zt_execute(zt_profiler *profiler, ze_command_queue_handle_t queue, uint32_t count,
                              ze_command_list_handle_t *lists, ze_fence_handle_t fence);

/* Declares that what is on a list never runs again. Call it when the device is done with the list: before it
   is destroyed, or after it was reset. Slots of the list that are ready are freed now, others when they
   are collected. Regions that never ran no longer count as begun. Regions that are not ended are dropped.
   Never waits. If the driver refuses to destroy the list, reset it before it is executed again.
   Returns SUCCESS, also for a list without regions; NOT_READY if samples of the list are not collected yet:
   the next collection does that. With config.thread, NOT_READY only means that the thread has not collected
   them yet. */
ZT_API ze_result_t zt_release(zt_profiler *profiler, ze_command_list_handle_t list);

/* Resets a list with zeCommandListReset and, if that succeeds, calls zt_release for it.
   Returns what zeCommandListReset returns. */
ZT_API ze_result_t zt_reset(zt_profiler *profiler, ze_command_list_handle_t list);

/* Collects samples.
   timeout_ns  0: what is ready, without waiting. Otherwise, waits so many nanoseconds at the most for samples
               that are on their way; see COLLECTING
   Returns SUCCESS; NOT_READY, with a timeout only, if it expired, or if a region is not ended; DEVICE_LOST;
   HANDLE_OBJECT_IN_USE inside a sample function. */
ZT_API ze_result_t zt_collect(zt_profiler *profiler, uint64_t timeout_ns);

/* Writes a report to a file. It is written beside the file and then renamed, so that nobody reads an
   incomplete one. A file that is replaced keeps its permissions, group and access list; what of these the
   system refuses leaves it readable by fewer. Symbolic links at `path` are followed, those at the name
   beside it are not. Pipes and devices are written to directly. That nobody reads a pipe any more, or that
   a file may not be as large, is an error, and raises neither SIGPIPE nor SIGXFSZ.
   path  the suffix chooses the format: .html or .htm, .csv, .json, .trace.json, .prom (OpenMetrics),
         .folded (stacks for flame graphs) or .instances.csv, in upper or lower case; with .txt, a number or
         no suffix, the report is a table. "-" and "/dev/stdout" are a table on standard output, as wide as
         the terminal; other tables, such as that of "/dev/stderr", are 80 columns wide. Columns that
         config.columns asks for and that do not fit follow in a table below. See REPORTS
   Returns SUCCESS; INVALID_ARGUMENT for another suffix, or for a trace or instances without config.timeline;
   UNKNOWN if the file cannot be written: zt_get_last_error has the reason. */
ZT_API ze_result_t zt_report(const zt_profiler *profiler, const char *path);

/* Collects what is on its way, writes the reports that ZT_REPORT names, and frees the profiler. Call it
   before the context is destroyed. Recorded lists with regions must not be executed afterwards. Those that
   were executed without zt_execute must not be running now, because the library cannot see whether they are.
   Immediate lists and executions by zt_execute are waited for. What
   these have not finished when the time is up is reported, and the memory that the device may still write to
   is not freed. zt_end of a region that is still open does nothing afterwards.
   The profiler stays open if the driver, a callback or a traced call of another thread does not return in
   time, or if it is called from a callback that forbids it. A message reports this, and zt_close can be
   called again.
   Not by two threads at once; see PROCESSES for the pointer. */
ZT_API void zt_close(zt_profiler *profiler);

#ifdef ZETOOLS_TRACER

/* Starts tracing; see TRACING.
   config  NULL: the defaults. ZT_KERNELS, ZT_COPIES, ZT_CALLS, ZT_MODULES and ZT_PROFILE_FLAGS override it
   Returns SUCCESS; DEPENDENCY_UNAVAILABLE if the loader's tracing layer is off; INVALID_ARGUMENT if
   config.calls or a hook names a call that cannot be traced, or ZT_PROFILE_FLAGS is no number; INVALID_SIZE
   for more than 16 hooks; NOT_READY if a call of an earlier trace is still in progress; HANDLE_OBJECT_IN_USE
   if the profiler traces already, and inside a hook of any profiler. Not by two threads for one profiler at once. */
ZT_API ze_result_t zt_trace_start(zt_profiler *profiler, const zt_trace_config *config);

/* Stops tracing and the sampling of hot spots. Waits for traced calls that other threads have in progress,
   and for launches that are measured by an event of the application, or have one that commands of the library
   follow: once it has signalled, the application may destroy event and list. It waits up to
   config.wait_timeout_ns for launches, and then as long for calls. Loaders before 1.16 cannot tell that a list
   from before zt_trace_start is immediate: there, it waits for launches on each such list that is not closed.
   What was measured stays. Lists that were recorded may still be executed, with zt_execute.
   Returns SUCCESS, after which no hook runs any more; NOT_READY if a call did not end in time, which is then
   traced to its end; HANDLE_OBJECT_IN_USE inside a hook. */
ZT_API ze_result_t zt_trace_stop(zt_profiler *profiler);

/* Traces from now to the end of the process, and reports at exit. Calls zeInit. Does nothing if it was
   called before, or if ZT_AUTO switches it off. A failure is also printed on standard error. If a report
   cannot be written, a message and the table go to standard error, and zt_get_last_error(NULL) has the
   message for functions that run at exit later. A report without a region is followed by what was seen and
   not measured: below a table on standard output or error, else on standard error.
   config  NULL: the defaults. ZT_KERNELS, ZT_COPIES, ZT_CALLS, ZT_MODULES and other variables override it
   Returns SUCCESS; INVALID_ARGUMENT if the suffix of a report stands for no format; otherwise the result of
   zeInit, or as zt_trace_start. Not by two threads at once. */
ZT_API ze_result_t zt_auto(const zt_auto_config *config);

#endif /* ZETOOLS_TRACER */

#endif /* ZETOOLS_DISABLE */

/* ---- in all configurations ------------------------------------------------------------------------------- */

/* Called with the first message of each kind, such as "[NO_SLOT] zt_begin: all 16384 slots are in use, ...".
   result  a ze_result_t: that of the call that failed, or the one that describes the message best
   text    the identifier of the kind, what happened and what to do. Valid during the call
   user    config.log_user
   See CALLBACKS. */
typedef void (*zt_log_fn)(int result, const char *text, void *user);

/* The application's allocator. Set both functions or none; with one alone, opening returns INVALID_ARGUMENT.
   They are called from any thread, also from several at once. `allocate` returns memory that is aligned as
   that of malloc, or NULL; `release` is never called with NULL. See CALLBACKS. */
struct zt_allocator {
    void *(*allocate)(size_t size, void *user);
    void (*release)(void *memory, void *user);
    void *user;
};
