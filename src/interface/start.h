/* These rules hold everywhere. A declaration states only what differs.

   Threads         Any thread may call any function, also several at once. THREADS has the exceptions; those
                   of one function stand at its end: "Not by two threads at once".
   NULL            A function accepts NULL for the profiler, stream or debugger, and then does nothing. It
                   returns ZE_RESULT_SUCCESS, 0, or what stands for nothing: UINT32_MAX for an index, NaN for
                   a figure. zt_execute and zt_reset still execute and reset, and ZT_PASSES runs its statement
                   once.
   Results         are named without ZE_RESULT_ and ZE_RESULT_ERROR_. Every function that returns a result may
                   return SUCCESS, and
                       INVALID_NULL_HANDLE   for a handle that is NULL, unless NULL is allowed
                       INVALID_NULL_POINTER  for a pointer that is NULL, unless NULL is allowed
                       INVALID_ARGUMENT      for an index that is too high
                       OUT_OF_HOST_MEMORY    if it needs memory
   Texts           that a function returns, or fills into a structure, are never NULL. They live as long as
                   the profiler, stream or debugger that they are from.
   Structures      A structure to be filled in is empty on failure, and where the function does nothing.
   Configurations  NULL is the default configuration, and in a configuration 0 and NULL stand for the default
                   of a field: zt_config config = {0}; sets all of them, in C++ zt_config config = {};
                   Strings and arrays need not outlive the call.
   Callbacks       What a callback receives is valid during the call. CALLBACKS lists what it may call.
   Versions        Everything is there since 0.1, unless its declaration names a later version. */

/* ---- names --------------------------------------------------------------------------------------------- */

/* Every structure. It is defined with the functions that use it. */

typedef struct zt_profiler zt_profiler;   /* measures regions on one device or sub-device, in one context */
typedef struct zt_region zt_region;       /* a region that was begun */
typedef struct zt_phase zt_phase;         /* a phase that a thread is in */
typedef struct zt_config zt_config;       /* how a profiler is opened */
typedef struct zt_allocator zt_allocator; /* the application's allocator */
typedef struct zt_sample zt_sample;       /* one collected sample */

/* results */
typedef struct zt_info zt_info;                       /* what there is of a profiler, and what became of it */
typedef struct zt_counts zt_counts;                   /* samples, and what became of them */
typedef struct zt_cause_count zt_cause_count;         /* samples or launches, by one cause */
typedef struct zt_trace_counts zt_trace_counts;       /* launches, and what became of them */
typedef struct zt_hotspots_counts zt_hotspots_counts; /* samples of hot spots, and what became of them */
typedef struct zt_power_info zt_power_info;           /* energy, clock and temperature of the device */
typedef struct zt_watch_info zt_watch_info;           /* what a watch does, and what it has found */
typedef struct zt_memory_info zt_memory_info;         /* memory that the application has allocated */
typedef struct zt_stats zt_stats;             /* statistics of a figure: mean, median, 95th percentile, ... */
typedef struct zt_region_info zt_region_info; /* a region or a path: its counts, times and parent */
typedef struct zt_metric zt_metric;           /* a metric: its name, units and kind */
typedef struct zt_limit_info zt_limit_info;   /* what probably limits a region, and why */
typedef struct zt_overlap zt_overlap;         /* how samples cover the time of the device */
typedef struct zt_timeline_info zt_timeline_info; /* what a timeline holds */
typedef struct zt__pass_state zt__pass_state;     /* the state of one ZT_PASSES */

#ifdef ZETOOLS_TRACER
#define ZT__TRACER_DECLARED 1

/* the tracer */
typedef struct zt_trace_config zt_trace_config; /* what a tracer does */
typedef struct zt_auto_config zt_auto_config;   /* how zt_auto traces and reports */
typedef struct zt_hook zt_hook;                 /* callbacks of the application around one call */
typedef struct zt_kernel_info zt_kernel_info;   /* a kernel that was launched while tracing */
typedef struct zt_kernel_shape zt_kernel_shape; /* its launches with the same work-groups */
typedef struct zt_call_info zt_call_info;       /* a call that was timed */

/* hot spots */
typedef struct zt_hotspots_config zt_hotspots_config; /* how hot spots are sampled */
typedef struct zt_hotspot_info zt_hotspot_info;       /* samples at one instruction of a kernel */
typedef struct zt_stall zt_stall;                     /* why a thread did not execute its next instruction */
#endif

/* streams */
typedef struct zt_stream zt_stream;               /* one metric group of a device, sampled by the clock */
typedef struct zt_stream_config zt_stream_config; /* how a stream is opened */
typedef struct zt_row zt_row;                     /* the metrics of one period */
typedef struct zt_stream_info zt_stream_info;     /* what a stream measures, and what became of it */
typedef struct zt_stream_counts zt_stream_counts; /* its reports, and what became of them */

/* benchmarks */
typedef struct zt_bench_config zt_bench_config;   /* what to benchmark, and how precisely */
typedef struct zt_bench_result zt_bench_result;   /* the result of a benchmark */
typedef struct zt_comparison zt_comparison;       /* the result of a comparison of two variants */
typedef struct zt_bench_changes zt_bench_changes; /* how many benchmarks changed since an earlier run */

#ifdef ZETOOLS_DEBUG
#define ZT__DEBUG_DECLARED 1

/* watching */
typedef struct zt_watch_config zt_watch_config; /* how regions are watched */
typedef struct zt_hang zt_hang;                 /* what hangs */

/* program debug */
typedef struct zt_debugger zt_debugger;         /* a session with one device and one process that uses it */
typedef struct zt_debug_config zt_debug_config; /* how a process is debugged */
typedef struct zt_debug_event zt_debug_event;   /* what has happened in a debugged process */
typedef struct zt_debug_thread zt_debug_thread; /* a thread of the device, or several */
typedef struct zt_debug_stops zt_debug_stops;   /* how many threads were stopped */
typedef struct zt_debug_place zt_debug_place;   /* the kernel and the source line of an instruction */
typedef struct zt_debug_thread_info zt_debug_thread_info; /* a stopped thread, and where it is */
typedef struct zt_debug_registers zt_debug_registers;     /* a register, or all of one kind */
#endif

/* ---- the first screen ---------------------------------------------------------------------------------- */

/* Open a profiler, make regions and phases of the work, report, close. USE has a complete program.

       zt_profiler *profiler;
       zt_open(context, device, NULL, &profiler);

       ZT_REGION(profiler, list, "saxpy")     a region: around commands of a list
           zeCommandListAppendLaunchKernel(list, saxpy, &groups, NULL, 0, NULL);

       ZT_PHASE("solve")                      a phase: around whatever launches kernels
           solve(problem);                    SYCL, OpenMP, oneDNN: with zt_trace_start before

       zt_report(profiler, "-");              collects what is ready first
       zt_close(profiler); */

/* A region that was begun. Its fields are private. A copy refers to the same region. */
struct zt_region {
    void *probe;
    uint32_t generation;
    uint32_t profiler;
    uint32_t body;
};

/* A phase that a thread is in. Its fields are private. A copy refers to the same phase. */
struct zt_phase {
    const void *phase;
    uint32_t entry;
};

#ifndef ZETOOLS_DISABLE

/* Opens a profiler on a device or sub-device of an initialised driver. Variables of the environment override
   the configuration (see ENVIRONMENT); mistakes in them are reported.
   config    NULL: the defaults
   profiler  receives the profiler; NULL on failure
   Returns SUCCESS, also where metrics cannot be measured: regions then have times alone, and
   zt_info.availability_text is why. On failure, zt_last_error has the message:
       OUT_OF_HOST_MEMORY  also when 256 profilers are open in the process
       DEVICE_LOST
       INVALID_ARGUMENT    with config.require_metrics, the device has no such groups or metrics; config.with is
                           closed, or from zt_unpack
       otherwise the result of the call that failed, or that refused metrics with config.require_metrics
   Not by two threads for one device at once. */
ZT_API ze_result_t zt_open(ze_context_handle_t context, ze_device_handle_t device, const zt_config *config,
                           zt_profiler **profiler);

/* Returns the last message of this thread, whatever it is about: a profiler, a stream, a debugger, or none of
   them, as after zt_open has failed. "": there is none. The text is valid until the thread calls the library
   again. zt_info.error is the last message of a profiler, by whichever thread.
   result  receives the result that the message is about, or SUCCESS; may be NULL */
ZT_API const char *zt_last_error(ze_result_t *result);

/* ZT_REGION(profiler, list, name) statement
       makes a region of the statement. In C++ and GNU C the region ends however the statement is left: at its
       end, by break, goto, return or an exception. In ISO C, return and goto leave the region open. `break`
       and `continue` leave the statement, and not a loop around it.
   ZT_SCOPE(profiler, list, name);
       makes a region of the rest of the block, in C++ and GNU C. In C++, an object of the class zt_scope,
       which is constructed with the same arguments, is a region for as long as it lives. */

/* Begins a region on a command list that is immediate, or open for commands.
   name  is copied. NULL and "" are shown as "(unnamed)". Up to 65,536 different names
   Returns the region, for zt_end. A region that cannot be measured is counted as dropped, and is passed to
   zt_end all the same. */
ZT_API zt_region zt_begin(zt_profiler *profiler, ze_command_list_handle_t list, const char *name);

/* Ends a region, on the list on which it was begun. Does nothing for NULL, for a region that was dropped or
   has ended (also by a copy of it), and for one whose profiler is closed. */
ZT_API void zt_end(zt_region *region);

/* ZT_PHASE(name) statement
       makes a phase of the statement, which ends as a region of ZT_REGION does. In C++, an object of the class
       zt_phase_scope is a phase for as long as it lives: zt_phase_scope scope("solve");

   A phase needs no list and no profiler. What the thread submits until its end belongs to it: on an immediate
   list what is appended, on a recorded list what is executed. See PHASES. */

/* Begins a phase of the calling thread, inside those that the thread has begun before.
   name  is copied. NULL and "" are shown as "(unnamed)". Up to 4,096 different phases in a process, 64 deep: what
         is beyond belongs to the phase around it. Not a format: do not put numbers that change into names */
ZT_API void zt_phase_begin(const char *name);

/* Ends the phase that the calling thread has begun last. Without one it does nothing, and open profilers report that. */
ZT_API void zt_phase_end(void);

/* Executes recorded lists with zeCommandQueueExecuteCommandLists, so that each execution is measured. First
   collects the last execution of the same lists, and waits for it up to config.wait_timeout_ns. Samples that
   are not ready then are overwritten, and counted as lost. The lists are executed in any case; INSIDE
   CALLBACKS has what is different there.
   If a list is named twice, the lists are executed in several calls; the last call has the fence. If the
   driver refuses one of these calls, those after it are not made, and the message has the number of lists
   that were executed.
   Returns what zeCommandQueueExecuteCommandLists returns. */
ZT_API ze_result_t zt_execute(zt_profiler *profiler, ze_command_queue_handle_t queue, uint32_t count,
                              ze_command_list_handle_t *lists, ze_fence_handle_t fence);

/* Declares that what is on a list never runs again. Call it when the device is done with the list, before the
   list is destroyed or after it was reset. It never waits.
   Probes of the list that are ready are freed now, others when they are collected. Regions that never ran no
   longer count as begun. Regions that are not ended are dropped. If the driver refuses to destroy the list,
   reset it before it is executed again.
   Returns SUCCESS, also for a list without regions; NOT_READY if samples that are ready are not collected yet,
   because another thread collects: that, or the next collection, does. */
ZT_API ze_result_t zt_release(zt_profiler *profiler, ze_command_list_handle_t list);

/* Resets a list with zeCommandListReset and, if that succeeds, calls zt_release for it.
   Returns what zeCommandListReset returns. */
ZT_API ze_result_t zt_reset(zt_profiler *profiler, ze_command_list_handle_t list);

/* Collects samples that are ready, and with a timeout also those that are on their way when it is called; see COLLECTING.
   timeout_ns  how long it waits at the most, in nanoseconds. 0: not at all
   Returns SUCCESS; with a timeout NOT_READY if it expired; DEVICE_LOST;
   HANDLE_OBJECT_IN_USE inside a sample function. */
ZT_API ze_result_t zt_collect(zt_profiler *profiler, uint64_t timeout_ns);

/* Writes a report to a file. The suffix chooses the format, in upper or lower case: .txt, .html or .htm,
   .csv, .json, .pftrace, .trace.json, .instances.csv, .prom, .folded, .zt; see REPORTS. Without a suffix, or
   with a number in its place, the file has a table, 80 columns wide. "-" and "/dev/stdout" are a table on standard
   output, as wide as the terminal. Columns of config.columns that do not fit into a table follow in a second one
   below.
   The report is written beside the file and then renamed, so that nobody reads an incomplete one. Symbolic
   links at `path` are followed, those at the name beside it are not. Pipes and devices are written to
   directly. A file that is replaced keeps its permissions and its group; where the system refuses the group,
   fewer users can read the new one. A pipe that nobody reads and a limit on the size of files
   are errors, and raise neither SIGPIPE nor SIGXFSZ.
   A report has all profilers for which this one reports (config.with); see SEVERAL DEVICES.
   Returns SUCCESS; INVALID_ARGUMENT for another suffix, or for a trace or instances without config.timeline;
   UNSUPPORTED_FEATURE for .html with ZETOOLS_NO_PAGE; NOT_READY if other threads collected for config.wait_timeout_ns of
   one of several profilers; UNKNOWN if the file cannot be written, and
   zt_last_error has the reason. */
ZT_API ze_result_t zt_report(const zt_profiler *profiler, const char *path);

/* Collects what is on its way, writes the reports that ZT_REPORT names, and frees the profiler. Call it
   before the context is destroyed, and set the pointer to NULL afterwards; see PROCESSES.
   Waits for immediate lists and for executions by zt_execute, up to config.wait_timeout_ns. What has not
   finished then is reported, and memory that the device may still write to is not freed. Recorded lists with
   regions that were executed without zt_execute must not be running, because the library cannot see whether
   they are. After zt_close, recorded lists with regions must not be executed, and zt_end of a region that is
   still open does nothing.
   The profiler stays open if the driver, a callback or a traced call of another thread does not return in
   time, or if zt_close is called from a callback that forbids it. A message reports this, and zt_close can be
   called again.
   Not by two threads at once. */
ZT_API void zt_close(zt_profiler *profiler);

#ifdef ZETOOLS_TRACER

/* Starts to measure what is launched in the profiler's context and on its device, without regions in the
   code; see TRACING.
   config  NULL: the defaults. ZT_KERNELS, ZT_COPIES, ZT_CALLS, ZT_MODULES and other variables override it
   Returns SUCCESS, or
       DEPENDENCY_UNAVAILABLE  the loader's tracing layer is off
       INVALID_NULL_HANDLE     the profiler is from zt_unpack
       INVALID_ARGUMENT        config.calls or a hook names a call that cannot be traced, or ZT_PROFILE_FLAGS
                               is no number
       INVALID_SIZE            there are more than 16 hooks
       NOT_READY               a call of an earlier trace is still in progress
       HANDLE_OBJECT_IN_USE    a tracer runs in the process already: of this or another profiler, or of
                               zt_auto; or this is inside a hook
   Of several threads that call it at once, one succeeds. */
ZT_API ze_result_t zt_trace_start(zt_profiler *profiler, const zt_trace_config *config);

/* Stops tracing and the sampling of hot spots. What was measured stays. Recorded lists may still be executed,
   with zt_execute.
   Waits up to config.wait_timeout_ns for launches with an event of the application, because the application
   may destroy event and list once the event has signalled. Then waits as long for traced calls that other
   threads have in progress.
   Loaders before 1.16 cannot tell that a list from before zt_trace_start is immediate: there, it waits for
   launches on each such list that is not closed.
   Returns SUCCESS, after which no hook runs any more; NOT_READY if a call did not end in time, which is then
   traced to its end; HANDLE_OBJECT_IN_USE inside a hook. */
ZT_API ze_result_t zt_trace_stop(zt_profiler *profiler);

/* Traces all contexts and devices from now to the end of the process, and reports at exit; see AUTOMATIC
   TRACING. With config.signal, traces between two signals; see FROM OUTSIDE. Calls zeInit. Does nothing if it was
   called before, or if ZT_AUTO switches it off.
   The files that it has written are named on standard error. A failure is also printed there. If a report
   cannot be written, a message and the table go there, and zt_last_error has the message for functions that
   run at exit later. A report without a region is followed by what was seen and not measured: below a table
   on standard output or error, else on standard error.
   config  NULL: the defaults. ZT_KERNELS, ZT_COPIES, ZT_CALLS, ZT_MODULES and other variables override it
   Returns SUCCESS; INVALID_ARGUMENT if the suffix of a report stands for no format, or there is no such signal;
   NOT_AVAILABLE if the signal is in use, ignored or blocked, or no thread can be started; NOT_READY with a signal, if
   a traced call was still in progress; UNSUPPORTED_FEATURE with a signal on Windows and with ZETOOLS_NO_THREADS;
   otherwise the result of zeInit, or as zt_trace_start.
   Not by two threads at once. */
ZT_API ze_result_t zt_auto(const zt_auto_config *config);

#endif /* ZETOOLS_TRACER */

/* ---- phases and threads -------------------------------------------------------------------------------- */

/* Returns the phase that the calling thread is in, for zt_phase_adopt on another thread. */
ZT_API zt_phase zt_phase_current(void);

/* Continues a phase on the calling thread, which then calls zt_phase_end: what the thread submits until then belongs to
   the phase, and to the same entry of it while that is open or has work on its way. The time of the thread does not count
   as host time of the phase. */
ZT_API void zt_phase_adopt(zt_phase phase);

#endif /* ZETOOLS_DISABLE */

/* ---- what all configurations have ---------------------------------------------------------------------- */

/* Called once with each message, such as "[NO_PROBE] zt_begin: all 16384 probes are in use, ...". Messages
   that differ in numbers alone are one, and at most eight of a kind are logged.
   result  a ze_result_t: that of the call that failed, or the one that describes the message best
   text    the identifier of the kind, what happened and what to do
   user    `log_user` of the configuration */
typedef void (*zt_log_fn)(int result, const char *text, void *user);

/* The application's allocator. Set both functions or none; with one alone, opening returns INVALID_ARGUMENT.
   Any thread calls them, also several at once. `allocate` returns memory that is aligned as that of malloc,
   or NULL. `release` is never called with NULL. */
struct zt_allocator {
    void *(*allocate)(size_t size, void *user);
    void (*release)(void *memory, void *user);
    void *user;
};
