/* zetools.h - an application profiles its own GPU work, through the tools interface of oneAPI Level Zero.

   SPDX-License-Identifier: MIT
   The licence is at the end of this file.

   ==========================================================================================================
   MANUAL
   ==========================================================================================================

   The manual explains in the order of use how functions work together. Each function is documented at its
   declaration. What only a few need stands on pages at the end of this file: see PAGES.

   CONTENTS

       First steps          USE, TERMS, REGIONS, PHASES, NESTING, COMMAND LISTS, COLLECTING, PASSES
       Results              COUNTS, AGGREGATION, REPORTS
       Kernels of others    TRACING, AUTOMATIC TRACING
       More                 STREAMS, BENCHMARKS, HOT SPOTS, WATCHING, PROGRAM DEBUG
       Rules and settings   CALLBACKS, THREADS, PROCESSES, ENVIRONMENT, OPTIONS

   USE

       This program is complete. It measures a fill of memory, and prints a table:

           #define ZETOOLS_IMPLEMENTATION
           #include "zetools.h"

           int main(void) {
               ze_context_desc_t context_desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC};
               ze_command_queue_desc_t queue_desc = {ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, NULL, 0, 0, 0,
                                                     ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
               ze_host_mem_alloc_desc_t memory_desc = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
               ze_driver_handle_t driver;
               ze_device_handle_t device;
               ze_context_handle_t context;
               ze_command_list_handle_t list;
               zt_profiler *profiler;
               uint32_t one = 1;
               void *memory;

               if (zeInit(0) || zeDriverGet(&one, &driver) || zeDeviceGet(driver, &one, &device) ||
                   zeContextCreate(driver, &context_desc, &context) ||
                   zeCommandListCreateImmediate(context, device, &queue_desc, &list) ||
                   zeMemAllocHost(context, &memory_desc, 1 << 20, 64, &memory))
                   return 1;
               zt_open(context, device, NULL, &profiler);
               ZT_REGION(profiler, list, "fill")
                   zeCommandListAppendMemoryFill(list, memory, &one, sizeof one, 1 << 20, NULL, 0, NULL);
               zt_collect(profiler, 0);
               zt_report(profiler, "-");
               zt_close(profiler);
           }

       If zt_open fails, the profiler is NULL, and calls with it do nothing. To choose what is measured,
       pass a zt_config: zt_config config = {0}; has all defaults, and config.groups = "ComputeBasic", for
       example, names what to measure. Messages go to config.log, and zt_last_error returns the last one.

       Build it with `cc app.c -lze_loader -lm`. Other files of a program include the header without
       ZETOOLS_IMPLEMENTATION. Some builds need more:

       before glibc 2.34                   -ldl -lpthread
       Level Zero is not in /usr/include   -isystem DIRECTORY, because C99 compilers warn about its headers
       -ffast-math, clang 18 and later     -fhonor-nans -fhonor-infinities, for the file with the functions
       own calls of zet... functions       #include <level_zero/zet_api.h>
       Windows                             see the page WINDOWS

       Metrics must be enabled in the driver. zt_open enables them if loader and driver can do so at run
       time. Otherwise set ZET_ENABLE_METRICS=1 in the environment before zeInit. Without metrics, regions
       have GPU times, and zt_info.availability_text is what is missing.

   TERMS

       metric group   a set of metrics that the device measures together. Groups of different domains can be
                      active at the same time; two groups of one domain cannot
       region         a named part of a command list. Regions with the same name share their statistics
       phase          a named part of what a thread does; its entry: once from its begin to its end
       sample         one execution of a region, with its figures. Of hot spots: the instruction at which
                      one thread of the device was at one moment
       in flight      begun, and not yet collected, lost or dropped
       on its way     in flight, and submitted to the device
       probe          measures one region: a metric query for each group, an event and time stamps. A sample
                      has it while it is in flight
       to collect     to read the figures of finished samples and add them to the statistics
       pass           one repetition of the work, with one set of metric groups
       tile           a sub-device of a device that has several
       tracer         the part of the library that observes calls of the application to Level Zero
       launch         a call that appends a kernel to a list, which may then be executed several times
       stream         periodic measurements of a metric group: a report is the raw data of a period, a row its
                      metrics, a marker a name that a command list puts into the stream
       hot spot       an instruction of a kernel, with the samples that were taken there

       zt_get_info has how many there are of everything. Names that begin with zt__ or ZT__ are private.

   REGIONS

       ZT_REGION surrounds a statement, ZT_SCOPE the rest of a block, zt_begin and zt_end anything.

       A region serialises the work around it. Its metric query begins when the commands before it are
       complete, and commands after it wait until the query has ended. Without metrics, barriers do the
       same. So put regions around the parts that matter, and not around every kernel of a pipeline that
       depends on overlap.

       A region measures the device from its begin to its end, with work of other lists that runs meanwhile.

   PHASES

       A phase is what the program does, whoever launches its kernels. It needs no list and no profiler:

           ZT_PHASE("solve")
               solve(problem);        SYCL, OpenMP, oneDNN: with zt_trace_start before

       What a thread submits belongs to the phases that it is in: on an immediate list each append, on a
       recorded list each execution, so a list that runs in "warm-up" and in "solve" counts in both. Phases
       nest, 64 deep. In a path they stand outside regions: "step;solve;spmv". zt_phase_current and
       zt_phase_adopt carry a phase to worker threads. Nothing is appended to the device.

       A phase has the GPU time and the metrics of what was submitted in it, its host time, and how often it
       was entered. Mean, median and 95th percentile of its GPU time are of one entry. The pages PHASES AND
       ENTRIES and WHICH WAY FOR WHOM have the rest.

   NESTING

       Regions may nest and overlap. A region that is begun on a list while another is open there is inside
       the other. The GPU time of a region includes the regions inside it. Its own time does not, so own times
       can be added up. Statistics belong to paths: "solve" inside "step" and inside "check" has its own in
       each, as "step;solve" and "check;solve", and those of "solve" are the sum (zt_find_path). A region may
       also be inside itself. OWN TIME lists when an own time is not known.

   COMMAND LISTS

       On an immediate list, each region runs once. Its probe is free again when its sample is collected.

       On a recorded list (from zeCommandListCreate), a region keeps its probe until the list is reset or
       destroyed, because the list may be executed again. An execution overwrites the figures of the one
       before. So the library has to know what happens to the list. Unless a tracer observes it, call

       zt_execute   to execute it. First, zt_execute collects the last execution of the same list, and waits
                    for its end if necessary. zt_execute does not wait for the execution that it starts, so
                    two lists that are used in turn keep the device busy
       zt_reset     to reset it
       zt_release   before any list is destroyed, immediate or recorded. Afterwards is too late: another
                    thread may have created a new list with the same handle

           ZT_REGION(profiler, recorded, "solve")
               zeCommandListAppendLaunchKernel(recorded, solve, &groups, NULL, 0, NULL);
           zeCommandListClose(recorded);
           for (i = 0; i < 1000; i++)
               zt_execute(profiler, queue, 1, &recorded, NULL);
           zeCommandQueueSynchronize(queue, UINT64_MAX);
           zt_release(profiler, recorded);
           zeCommandListDestroy(recorded);

       UNREPORTED EXECUTIONS describes programs that call Level Zero instead, and loaders before 1.16.

   COLLECTING

       Samples are collected by

       - zt_collect: ready samples, and with a timeout also samples that are on their way
       - zt_end, after every 64 regions on immediate lists, and zt_begin, when there is no free probe
       - zt_execute, zt_release and zt_reset, for the lists that they are given
       - a thread of the library, with config.thread; threads that submit work then do not read or calculate

       Samples wait in their probes, so a program may collect seldom, or only at the end. One thread collects
       at a time. Others skip collecting, unless they have a timeout or need what is being collected.

       With config.thread, the application must not call zetMetricGroupCalculateMetricValues, because
       drivers cannot calculate metrics on two threads at once. The library serialises its own calculations.
       Once all names, lists and probes exist, beginning, ending and collecting regions allocates no memory.

   PASSES

       If config.max_passes is above 1, config.groups and config.metrics may name more groups than can be
       active together. ZT_PASSES(profiler) { step(); } repeats the work, each time with another set of
       groups. Each step must submit its work with zt_execute, or wait for it. Outside of ZT_PASSES the
       groups of the first pass are active.

       Statistics of all passes are combined by name. So each pass must do the same work, and record its
       lists anew: a region that runs in another pass than it was begun in is lost (ZT_LOST_OTHER_PASS). A
       region that is missing in a pass, or has another number of samples or GPU time there, is marked in
       reports and in zt_region_info.differs. Do not compare its metrics of different passes.

   COUNTS

       begun = collected + lost + dropped + in_flight, at any time. A lost sample ran, but its data is
       missing or invalid. A dropped one was not measured: there was no probe or memory, or a call failed.
       Both are counted by cause (zt_info.causes) and are not in the statistics.

       A collected sample has a GPU time and, if they are measured, metrics. Launches outside of
       zt_trace_config.every and limit have times alone. zt_region_info.count and time_ns are of all samples
       of a region, with_metrics counts samples with metrics. Rates and averages are of samples with the
       metric.

   AGGREGATION

       Type and unit of a metric decide how its values are combined over samples (zt_aggregation):

       counts, cycles, bytes, times               are added up
       percentages, frequencies, rates, ratios    are averaged, weighted by GPU time
       flags                                      the samples that have the flag set are counted
       time stamps, addresses, raw values         are not combined

       A figure that does not apply or is not known is NaN; reports leave it empty, JSON has null.

       Median and 95th percentile are interpolated linearly from 512 GPU times of each path or, with
       config.samples, from so many samples: then metrics have them, too. They are exact while all are kept.
       Then samples are chosen at random with equal chance, and weigh by how many they stand for: with 512,
       the rank of the median has a standard error of 2.2 percentage points, of the 95th percentile 1.0.

   REPORTS

       zt_report(profiler, path) writes what was collected. The suffix of the path chooses the format:

       .html           a page for browsers: regions by their share, what limits them, every metric,
                       distributions, a roofline, the timeline, and what was lost
       .json, .csv     all figures, for scripts; see JSON and CSV
       .pftrace        the timeline, with config.timeline, for Perfetto; .trace.json: for Chrome; see TRACE FILES
       .instances.csv  a row for each sample, with config.timeline; .folded: for flame graphs; see OTHER FILES
       .zt             packed statistics, of a rank; see REQUESTED REPORTS
       .prom           text for Prometheus; see OPENMETRICS
       .txt, none, "-" a table; "-" is standard output

       Regions are sorted by their share of the time; see OWN TIME. JSON, CSV and pages contain the command
       line of the program, which may contain secrets.

   TRACING

       With ZETOOLS_TRACER. After zt_trace_start, every kernel launch in the process becomes a region with
       the name of the kernel, if its list belongs to the profiler's context and device. The code that
       launches need not be changed:

           zt_trace_start(profiler, NULL);
           solve(...);        a library that knows nothing of this
           zt_trace_stop(profiler);

       The tracer observes executions, resets and destructions of lists, so zt_execute, zt_reset and
       zt_release are not needed. It works through the tracing layer of the loader, which zt_trace_start
       enables. With loaders before 1.15.7, set ZE_ENABLE_TRACING_LAYER=1 in the environment before zeInit.
       One tracer runs at a time in a process; zt_auto traces all devices. A second start is refused.

       With metrics, a launch overlaps with nothing. With times alone (config.groups = "") it overlaps as
       without the tracer, with the exceptions in TRACED LAUNCHES. TRACED LISTS has what is not measured.

       By zt_trace_config, the tracer also measures copies, times calls, watches MEMORY, writes MODULES to
       files, and calls HOOKS. KERNELS has what is reported of each kernel; REPLACEMENTS, how to replace kernels.

   AUTOMATIC TRACING

       With ZETOOLS_TRACER. zt_auto(NULL), called first in main, opens a profiler for every context and
       device on which the process creates a command list, traces, and at exit writes one report of all (see
       SEVERAL DEVICES). The environment chooses what is traced and reported:

           ZT_AUTO=run.csv,run.trace.json ZT_KERNELS="gemm*,!*_tail" ZT_COPIES=1 ./program

       examples/preload.c is a library that calls zt_auto when it is loaded; LD_PRELOAD loads it into any
       program. One that is killed writes no report. By a signal, tracing starts and ends: see FROM OUTSIDE.

   STREAMS

       A stream measures a metric group of the device periodically while the application runs.
       zt_stream_open starts it, zt_stream_read delivers its rows, zt_stream_mark appends a marker to a
       command list. The device has little memory for reports, so read often, or set
       zt_stream_config.thread. Reports of a profiler show the streams that are attached to it
       (zt_stream_config.profiler). reports = rows + discarded + waiting, at any time; see STREAMED ROWS.

       Streams and regions with metrics exclude each other on a domain of the device, on some drivers on the
       whole device. The second to be opened gets no counters, and its message names who holds them.

   BENCHMARKS

       zt_bench takes samples of the GPU time of a region in bursts, over half a second or more, until the
       interval of their median is narrow; then it measures metrics in runs of their own. zt_compare takes
       samples of two variants in one program in turn. BENCHMARK FILES has what the intervals cover, and how a
       run is compared with an earlier one:

           zt_report_benches(profiler, results, count, "now.csv");
           result = zt_compare_benches(profiler, results, count, "before.csv", "-", &changes);
           return result != ZE_RESULT_SUCCESS || changes.slower > 0 || changes.missing > 0;

   HOT SPOTS

       With ZETOOLS_TRACER. Hot spots show where inside a kernel the time goes. From zt_hotspots_start to
       zt_hotspots_stop, the device looks periodically at which instruction each of its threads is, and
       whether it waits. Sampling serialises nothing. For source lines, build modules with -g. SAMPLED
       INSTRUCTIONS has the rest.

   WATCHING

       With ZETOOLS_DEBUG. zt_watch(profiler, NULL) reports which region or traced launch hangs: one that
       runs longer than zt_watch_config.hang_ns, and what else is submitted. WATCHED REGIONS has the rest.

   PROGRAM DEBUG

       With ZETOOLS_DEBUG. A debugger stops threads of a device in the middle of a kernel, and shows where
       they are, their memory and their registers. It attaches to one device and to one process that uses it,
       whose host code goes on. DEBUG SESSIONS has what both need.

   CALLBACKS

       A callback is a function of the application that the library calls. It must return normally, without
       an exception or longjmp. It may call all functions of the library but these:

       sample       zt_close, zt_watch, ZT_PASSES, zt_bench and zt_compare with its profiler
       log          the same, zt_watch_stop, and zt_stream_close of the stream whose message it is
       row          zt_stream_read and zt_stream_close of its stream
       event        zt_debug_wait and zt_debug_close of its debugger
       write        zt_close of the profiler that is being written
       hang         zt_watch, zt_watch_stop and zt_close
       benchmark    zt_close, ZT_PASSES, zt_bench and zt_compare with its profiler
       hook         zt_trace_start, zt_trace_stop and zt_close
       allocator    all but those that only return a value, such as zt_get_info

       INSIDE CALLBACKS has the threads on which callbacks run, and calls that behave differently there.

   THREADS

       Functions that take a profiler, a stream or a debugger may be called from several threads at once.
       Exceptions:

       - Nothing else uses a profiler, a stream or a debugger while it is closed. But zt_stream_close and
         zt_debug_close end calls that wait, and streams that are attached to the profiler may be read and
         closed.
       - One ZT_PASSES, zt_bench or zt_compare runs on a profiler at a time.
       - Intel's driver may crash if another thread executes lists while metric groups are activated or
         deactivated: in zt_open, zt_close and ZT_PASSES. A tracer holds the executions that it sees.
       - Hot spots or a watch of a profiler are started and stopped, and its tracer is stopped, by one thread
         at a time. zt_open and zt_stream_open are not called for one device by two threads at once.
       - A function that takes a command list or a region is called by a thread that may use the list. Level
         Zero does not allow two threads to use one list at a time; different lists may be used at once.

       No function waits without a limit. WAITS lists what may wait, and the threads of the library.

   PROCESSES

       Copies of this header in a process, in plugins and libraries, find each other by the environment
       variable ZETOOLS_PROCESS_9, which the first call of the library sets: no other thread may use the
       environment during that call. A forked child is in no phase, and must not use the profilers, streams
       and debuggers of its parent. See COPIES OF THE HEADER.

   ENVIRONMENT

       ZT_GROUPS, ZT_METRICS    override config.groups and config.metrics: both, also if only one is set
       ZT_COLUMNS, ZT_TIMELINE  override config.columns and config.timeline
       ZT_BASELINE              overrides config.baseline: "before.json", a report that this run is compared with
       ZT_PHASES_AT, ZT_POWER   override config.phases_at_append ("append", "submit") and config.power
       ZT_REPORT                reports that zt_close writes besides those of the program: paths as for
                                zt_report, separated by commas, or "table"; see REQUESTED REPORTS
       ZT_AUTO                  reports of zt_auto, likewise; "1": as configured; "off", "0" or "": nothing is traced
       ZT_AUTO_SIGNAL           overrides zt_auto_config.signal: "USR1" or "USR2"; "": none
       ZT_LOG                   "stderr": messages are printed there if the program has no log function
       ZT_PEAKS                 overrides zt_set_peaks: bytes and operations a second, "456e9,14.6e12"
       ZT_KERNELS, ZT_CALLS     override names and calls of zt_trace_config: ZT_KERNELS="gemm*,!*_tail"
       ZT_ITT                   domains of ITT whose ranges are phases: patterns as in ZT_KERNELS. "0", "": none
       ZT_COPIES, ZT_MEMORY,    override copies and memory of zt_trace_config and hotspots of
       ZT_HOTSPOTS              zt_auto_config. Like ZT_POWER: "0" and "off" are off, all else is on
       ZT_MODULES               overrides zt_trace_config.modules, a directory; "": none
       ZT_PROFILE_FLAGS         overrides zt_trace_config.profile_flags, in hexadecimal: "0x3"; "0": none
       ZT_ROWS, COLUMNS         the most rows of a table (30; "0": all); its width, if it is on no terminal (80)

       ZT_REPORT, ZT_LOG, ZT_TIMELINE, ZT_PEAKS, ZT_PHASES_AT and ZT_POWER count as not set if they are
       empty. Mistakes in these are printed on standard error. A program that has more rights than its user,
       because its file is set-user-ID or has capabilities, heeds no variable, and runs no other program.

       Loader and driver read these, which must be set before zeInit: ZET_ENABLE_METRICS,
       ZE_ENABLE_TRACING_LAYER, ZES_ENABLE_SYSMAN for the frequency in benchmarks (and see POWER),
       ZET_ENABLE_PROGRAM_INSTRUMENTATION for profile flags, ZET_ENABLE_PROGRAM_DEBUGGING for program debug.

   OPTIONS

       Options are macros, to be defined before the header is included:

       ZETOOLS_IMPLEMENTATION   in one file of the program: compiles the functions. Elsewhere the header
                                only declares them
       ZETOOLS_DISABLE          in each file whose calls are to disappear: all functions are empty, no code
                                is left, and Level Zero is not needed. Figures are NaN, benchmarks fail. Pass
                                nothing of the library between files with it and without
       ZETOOLS_TRACER           in each file that uses the tracer or hot spots, and in the one of
                                ZETOOLS_IMPLEMENTATION: it adds code for every call that can be traced
       ZETOOLS_DEBUG            the same, for debuggers and watches
       ZETOOLS_CONNECTORS       with ZETOOLS_IMPLEMENTATION: exports the functions by which ITT and Kokkos name
                                phases. In one file of a shared library; see NAMES FROM ITT AND KOKKOS
       ZETOOLS_STATIC           in each file that uses the library, with ZETOOLS_IMPLEMENTATION: makes its
                                functions static, so that a library that contains them does not export them
       ZETOOLS_NO_THREADS       with ZETOOLS_IMPLEMENTATION: the library starts no threads. What needs one
                                is refused, or done by zt_collect
       ZETOOLS_NO_PAGE          with ZETOOLS_IMPLEMENTATION: leaves out the page of run.html (95 KB)

   PAGES

       Formulas        OWN TIME, TILES, LATENCY, BYTES AND OVERLAP, ROOFLINE
       Measuring       WHICH WAY FOR WHOM, PHASES AND ENTRIES, POWER, UNREPORTED EXECUTIONS, STREAMED
                       ROWS, THE TIMELINE
       Files           FACTS OF THE RUN, FIGURES OF REGIONS, REQUESTED REPORTS, SEVERAL DEVICES, JSON, CSV,
                       OTHER FILES, TRACE FILES, OPENMETRICS, PACKED STATISTICS, BENCHMARK FILES, TWO RUNS
       Tracer          TRACED LISTS, TRACED LAUNCHES, FROM OUTSIDE, HOOKS, KERNELS, MODULES, REPLACEMENTS,
                       SAMPLED INSTRUCTIONS, MEMORY, NAMES FROM ITT AND KOKKOS
       Debugging       DEBUG SESSIONS, WATCHED REGIONS
       Rules           INSIDE CALLBACKS, WAITS, COPIES OF THE HEADER, WINDOWS
       Implementation  LOCKS, THE LIFE OF A RECORDING, PATHS
*/
