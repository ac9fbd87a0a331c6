/* zetools.h - an application profiles its own GPU work, through the tools interface of oneAPI Level Zero.

   SPDX-License-Identifier: MIT
   The licence is at the end of this file.

   ==========================================================================================================
   MANUAL
   ==========================================================================================================

   The manual explains how things work together. Each function is documented at its declaration. The
   implementation begins with an overview of its chapters, locks and states.

   USE

       In one C or C++ file of the program:

           #define ZETOOLS_IMPLEMENTATION
           #include "zetools.h"

       In other files, #include "zetools.h" alone. A program that calls functions of the tools interface
       itself also includes <level_zero/zet_api.h>.

           cc app.c -lze_loader -lm

       Before glibc 2.34, add -ldl -lpthread. If the Level Zero headers are not in /usr/include, pass their
       directory with -isystem, because C99 compilers warn about them. With -ffast-math, clang 18 and later
       also need -fhonor-nans -fhonor-infinities for the file with ZETOOLS_IMPLEMENTATION.

           zt_config config = zt_config_default();
           config.groups = "ComputeBasic";
           zt_profiler *profiler;
           zt_open(context, device, &config, &profiler);

           ZT_REGION(profiler, list, "saxpy")
               zeCommandListAppendLaunchKernel(list, saxpy, &groups, NULL, 0, NULL);
           ...             submits the work and waits for it
           zt_collect(profiler, 0);
           zt_report(profiler, "-");
           zt_close(profiler);
           profiler = NULL;

       Metrics must be enabled in the driver. zt_open enables them if the loader and the driver can do so at
       run time; otherwise set ZET_ENABLE_METRICS=1 in the environment before zeInit. Without metrics, regions
       still have GPU times, and zt_get_availability_text returns what is missing.

   TERMS

       metric group   a set of metrics that the device measures together. Groups of different domains can be
                      active at the same time; two groups of one domain cannot
       region         a named part of a command list. All regions with one name share their statistics
       sample         one execution of a region, with its figures. Statistics are computed from samples
       in flight      begun, and not yet collected, lost or dropped; see COUNTS
       slot           what a sample needs while it is in flight: a metric query for each group, and an event
       to collect     to read the figures of finished samples and add them to the statistics
       pass           one repetition of the work, with one set of metric groups
       tile           a sub-device of a device that has several
       stream         periodic measurements of a metric group
       report         of a stream: what the device measured in one period, as raw data
       row            of a stream: the metrics of one period, calculated from a report
       marker         a name that a command list puts into a stream

   NAMES

       Functions are named zt_[stream_|trace_]verb[_noun]: zt_get_counts, zt_stream_get_counts. Functions of
       streams begin with zt_stream_, and those of the tracer with zt_trace_. zt_..._name returns the name of
       a value, and zt_..._config_default a configuration. What begins with zt__ or ZT__ is private.

   REGIONS

       The metric query of a region begins when the commands before it are complete, and commands after it
       wait until it has ended. So a region serialises the work around it: kernels that would overlap do not.
       Without metrics, barriers have the same effect. Put regions around the parts that matter, and not
       around every kernel of a pipeline that depends on overlap.

       A region measures the device from the moment when its list executes the begin to the moment when it
       executes the end. This includes work of other lists that runs in that time. Begin a region on the list
       that has its work.

       Regions may nest and overlap; see NESTING.

   NESTING

       A region that is begun on a list while another is open there is inside that one. The GPU time of a
       region includes that of the regions inside it. Its own time does not, so that own times can be added
       up. zt_region_info has both, and the parent. A region may be inside different others. Then it has
       several paths, such as "step;solve" and "check;solve", which zt_get_path returns with the times of
       each. A region may also be inside itself.

       Own time is the difference of sums: the time of a region less that of those directly inside it. It is
       NaN where it is not known, because

       - samples of the region, or of regions directly inside it, are in flight, were lost or dropped, or have
         no GPU time
       - a region directly inside it has ended after it: then they overlap, and the own time of the region
         around both is not known either
       - their list was executed several times without zt_execute, so that the samples of the two may be from
         different executions
       - a sample is shorter than those inside it, so that the device has measured one of them wrongly
       - regions are nested more than 64 deep, or on more than 65,536 paths: those beyond count as not nested

       The own time of a region without regions inside is always known. Own time includes what was not
       measured, such as launches that a tracer left out (zt_trace_config.names, every, limit), and the time
       that beginning and ending the regions inside took.

       Where regions nest on a recorded list that is executed again, some drivers return a wrong GPU time for
       the outer one. Such a sample is lost (ZT_LOST_IMPLAUSIBLE).

   COMMAND LISTS

       On an immediate list, each region runs once. Its slot is free again when its sample is collected.

       On a recorded list (from zeCommandListCreate), a region keeps its slot until the list is reset or
       destroyed, because the list may be executed again. An execution overwrites the figures of the one
       before it. So the library has to know about executions, resets and destruction:

       - Execute recorded lists with zt_execute(). It first collects the last execution of the same lists,
         and waits for that one if necessary. It does not wait for the execution that it starts, so two lists
         that are used in turn keep the device busy.
       - Reset recorded lists with zt_reset().
       - Call zt_release() before any list is destroyed. Afterwards is too late: another thread may have
         created a new list with the same handle.

       If a program does otherwise:

       - A recorded list is executed without zt_execute: of its executions between two collections, only the
         last one is measured, and the number of the others is unknown. The list is counted in
         zt_counts.unobserved_lists and below the table, and the first such list is logged.
       - A list is reset without zt_reset or zt_release: the next zt_begin on it frees the slots of regions
         that are known to have run. Other slots stay in use, and their samples stay in flight, until
         zt_execute has executed a later region of the list.
       - A list is destroyed without zt_release: its slots stay in use, because nothing shows that the list is
         gone. They are freed only if a new list has the same handle and regions are begun on it. A program
         that repeats this reaches config.max_slots, and then regions are dropped (ZT_DROPPED_NO_SLOT).

       Loaders before 1.16 cannot tell whether a list is immediate, so every list is treated as recorded:

       - The slots of an immediate list are freed by the next region that is begun on it, or by zt_release.
       - A list that is executed without zt_execute is noticed only at the second collection that finds a
         sample of it.
       - Before zt_close, release recorded lists that never ran. Otherwise the memory of their slots is not
         freed, since the device might still write to it.

       Level Zero does not allow two threads to use one command list at a time. Different lists may be used by
       different threads, also for regions.

   COLLECTING

       Samples are collected by
       - zt_collect: what is ready, or, with a timeout, also what is on its way
       - zt_end, after each 64 regions on immediate lists, and zt_begin, when there is no free slot
       - zt_execute, zt_release and zt_reset, for their own lists
       - a thread of the library's own, with config.thread

       One thread collects at a time. Others skip collecting, unless they have a timeout or need what is being
       collected. Samples wait in their slots, so a program may collect seldom, or only at the end.

       Once all names, lists and slots exist, beginning, ending and collecting regions allocates no memory.
       Functions that return results may allocate, because quantiles need memory for sorting.

       With config.thread, threads that submit work do not read or calculate anything. The application must
       then not call zetMetricGroupCalculateMetricValues itself, because drivers cannot calculate metrics on
       two threads at once. The library serialises its own calculations.

       zt_collect with a timeout waits for samples that are on their way: those of immediate lists, and of
       recorded lists that zt_execute has submitted. Whether a program executes recorded lists without
       zt_execute is not known in advance. So until it first calls zt_execute, zt_collect waits for all
       recorded regions. From then on, it waits for a recorded list only if zt_execute has submitted it, or if
       it has already run without zt_execute. If the loader cannot tell whether lists are immediate,
       zt_collect waits for all regions that have not run.

   COUNTS

       begun = collected + lost + dropped + in_flight, at any time.

       lost      it ran, but its data is missing or invalid
       dropped   it was not measured: there was no slot or memory, or a call failed

       Lost and dropped samples are counted by cause (zt_get_cause) and are not in the statistics.

   AGGREGATION

       Type and unit of a metric decide how samples are combined (zt_aggregation). Counts, cycles, bytes and
       times add up. Percentages, frequencies, rates and ratios are averaged, weighted by GPU time. For a
       flag, the samples that have it set are counted. Time stamps, addresses and raw values are not combined.
       Statistics that do not apply to a metric are NaN, and empty in reports.

       Median and 95th percentile are interpolated linearly. They are exact up to config.samples samples of a
       region. Beyond that they are estimated from as many samples, chosen at random with equal chance: with
       512, the rank of the median has a standard error of 2.2 percentage points, that of the 95th percentile
       of 1.0.

   PASSES

       With config.max_passes above 1, config.groups and config.metrics may name more groups than can be
       active together. ZT_PASSES repeats the work, each time with another set of groups:

           ZT_PASSES(profiler) {
               step();        submits its work with zt_execute, or waits for it
           }

       The statistics of all passes are combined by the name of the region. So each pass must do the same
       work, and record anew the lists that it executes: a region that runs in another pass than the one in
       which it was begun is lost (ZT_LOST_OTHER_PASS). If a region is missing in a pass, or has another
       number of samples or another GPU time, zt_region_info.differs and reports show it; then do not compare
       metrics of different passes. Outside of ZT_PASSES the groups of the first pass are active.

   TILES

       On a root device with several tiles, a region has the metrics of each tile (zt_get_tile_stats) and of
       the whole device. For the whole device, counts and bytes are added. Of times, clock cycles and flags,
       the largest value is used. Averages are weighted by the GPU time of the tiles. Metrics that are not
       combined are those of the first tile.

   STREAMS

       A stream measures a metric group of the device periodically while the application runs. zt_stream_open
       starts it; zt_stream_read delivers its rows. The device has little memory for reports, so read often,
       or set config.reader. All memory for reports and rows is allocated when the stream is opened.

       zt_stream_mark appends a marker to a command list. When the device executes the marker, it ends the
       current row, which gets the marker's name.

       Streams and regions with metrics exclude each other on a domain of the device, on some drivers on the
       whole device. Whichever is opened second does not get the counters: zt_stream_open fails, and zt_open
       leaves regions with times. The message names who holds the counters. A stream and regions with times
       alone (config.groups = "") always go together. A stream of a root device with several tiles is refused:
       open one on each sub-device.

       reports = rows + discarded + waiting, at any time. Discarded reports were read, but not delivered as
       rows: the first one of a stream, those that the driver cannot calculate, and those whose rows have no
       receiver, neither a function nor a profiler. Reports that the device dropped before they were read
   leave gaps; their number is estimated from the length of the gaps (zt_stream_counts.dropped). The row after
   a gap is marked (zt_row.gap).

   THE TIMELINE

       With config.timeline, begin and end of the newest samples are kept. The clock of the device and
       CLOCK_MONOTONIC of the host are compared when the profiler is opened, while it collects, and for
       reports. Times between two comparisons are interpolated, which corrects drift. The device's clock
       starts again from 0 when it overflows. If this may have happened before a sample was collected, its
       time is uncertain: the sample is not kept, but counted in zt_timeline_info.lost_samples.

       A report to "run.trace.json" is in the Trace Event format, which Perfetto and Chrome show. It has two
       processes, the device and the program. That of the device has

       - a track for each command list, named by zt_name_list. Regions that overlap without being nested are
         on separate tracks. Arguments of a region are its metrics, the thread that has appended it, and of a
         traced launch the numbers and the size of its work-groups, as far as the host knows them
       - a counter for each metric of the attached streams (zt_stream_config.profiler). What adds up is shown
         as a rate: bytes in GB/s, events a second, times as a share of the time
       - a track for each attached stream, with its markers, and a span for each gap
       - an instant where a sample was submitted that is missing: lost, dropped, or without a certain time

       That of the program has a track for each thread, with the number and name that the system gives it.
       Spans are what has appended a region to an immediate list ("append saxpy"), what has executed recorded
       lists ("execute lists"), and timed calls. An arrow (a flow event) leads from there to each region.

       config.columns chooses metrics for counters and arguments as it does for the table; without it, or if
       it names none of these metrics, up to eight are chosen, those that a table shows first. A counter is
       written where it changes by what can be seen. If there are more than 80,000 values all the same, each
       two, four, ... rows are merged into their mean, and an instant at the begin says so. So a minute of a
       noisy stream at 100 us beside 10,000 regions has less than 20 MB. Fewer columns show more of it.

       A row of an attached stream belongs to a sample if the middle of its period lies between the sample's
       begin and end. From these rows, each region has the mean and the peak of every streamed metric
       (zt_get_streamed). A row counts in full for each sample that it belongs to, so the figures of an outer
       region include those of the regions inside it. A region that is shorter than the period has rows only
       by chance; many samples still give a fair average. Rows and samples are matched only while both are
       kept: if one of them is collected or read late, raise config.timeline or
       zt_stream_config.timeline_rows.

   ROOFLINE

       A roofline shows how far each region is from what the device can do: operations a second against
       operations a byte of memory traffic, below the peaks of both. A page (.html) has one for the regions
       whose memory traffic is measured.

       The peaks are given by ZT_PEAKS or zt_set_peaks. A peak that was measured is nearer to what kernels
       reach than one from a data sheet: benchmark a kernel that copies, and pass its bytes a second.

           zt_bench(profiler, &copy, &result);
           zt_set_peaks(profiler, 2.0 * copied_bytes / (result.median * 1e-9), 14.6e12, "measured: a copy");

       Without them, the peak bandwidth is the one that the driver reports. It is also what zt_get_limit
       compares the memory traffic with.

       No metric counts operations: an instruction does as many as it has SIMD lanes, and the device does not
       report their number. So operations are what zt_set_operations states. Without them, the roofline has
       the instructions of the vector and matrix engines, and only the roof of the bandwidth.

   OPENMETRICS

       A report to "run.prom" is OpenMetrics text, as Prometheus reads it from an endpoint, a push gateway or
       the textfile collector of its node exporter. A program that serves it calls zt_write with
       ZT_FORMAT_OPENMETRICS for each request. Its families are

           zetools_info                     1, with version, device and availability of metrics as labels
           zetools_region_gpu_time_seconds  a summary by region. The quantiles 0 and 1 are minimum and maximum
           zetools_region_pass_gpu_time_seconds_total      by region and pass, if there are several
           zetools_region_lost_samples_total, ..._dropped_samples_total      by region
           zetools_lost_samples_total, zetools_dropped_samples_total         by cause
           zetools_collected_samples_total, zetools_in_flight_samples, zetools_unobserved_lists_total
           zetools_metric_NAME_UNIT         a metric of the device, by region, metric and group, and by
                                            pass if there are several. What adds up is a counter, with
                                            _total; what is averaged is a gauge
           zetools_tile_metric_NAME_UNIT    the same of each tile, by tile, if there are several
           zetools_streamed_mean_NAME_UNIT, zetools_streamed_peak_NAME_UNIT  a metric of the attached streams
                                            while regions run, as gauges by region, metric, group and stream
           zetools_call_seconds, zetools_call_errors_total  host time of calls as a summary, and calls that
                                            failed, by call

       Names are in snake case and units are base units: GPU_BUSY in percent becomes
       zetools_metric_gpu_busy_ratio, from 0 to 1. Flags count samples. Flags of streams and
       metrics that are not combined are left out. Counters begin at 0 with each profiler.

   TRACING, with ZETOOLS_TRACER

       After zt_trace_start, every kernel launch in the process becomes a region with the name of the kernel,
       if its list belongs to the profiler's context and device. The code that launches need not be changed:

           zt_trace_start(profiler, NULL);
           solve(...);        a library that knows nothing of this
           zt_trace_stop(profiler);
           zt_report(profiler, "-");

       The tracer works through the tracing layer of the loader. zt_trace_start enables the layer in loaders
       from 1.15.7 on. For older ones, set ZE_ENABLE_TRACING_LAYER=1 in the environment before zeInit. Loaders
       report success even if the layer is off. So zt_trace_start makes a call itself, and fails if that call
       is not traced.

       The tracer observes executions, resets and destructions of lists, so that zt_execute, zt_reset and
       zt_release are not needed. Before a list is executed again, the samples of its last execution are
       collected; this waits as zt_execute does. When a list is reset or destroyed, its slots are freed. For a
       list that was created before zt_trace_start, the driver is queried for context and device. If it does
       not report them, the list is assumed to belong to those of the profiler.

       For a launch that waits for events, the tracer appends the wait, then the begin of the region, then the
       launch. So the GPU time does not include the wait. If the driver refuses the launch, the wait stays on
       the list.

       zt_trace_counts counts launches when they are appended, however often their list is executed later. A
       launch that the driver refuses is a dropped sample. Launches that cannot be measured are counted as
       elsewhere, and reports note them: those captured into a graph, or that wait for events while another
       list is captured; on copy engines, if the profiler measures metrics; on lists that can be cloned,
       because clones would write to the same queries; and on mutable lists, once the application has queried
       the identifier of a command, because nothing may be appended before that command.

       With zt_trace_config.calls, calls of the application are counted and timed on the host. Reports show
       them below the regions, and the timeline has a track for each thread. Calls that the library makes
       itself, or that hooks make, are neither timed nor traced.

       zt_trace_config.hooks are callbacks of the application around calls. Prologues run before the call, in
       the order of the array; epilogues run after it, in reverse order. The tracer does its own part between
       the prologues and the call, and between the call and the epilogues. So what a prologue changes is what
       is measured, and a kernel that an epilogue of zeKernelCreate puts in place of another is measured under
       its own name.

       zt_auto(NULL), called first in main, opens a profiler for every context and device on which the process
       creates a command list, traces, and writes reports for each at exit: run.csv, run.2.csv and so on. The
       environment chooses what is traced and reported, as the command line of other tools does:

           ZT_AUTO=run.csv,run.trace.json ZT_KERNELS="gemm*,!*_tail" ZT_COPIES=1 ./program

       examples/preload.c is a library that calls zt_auto when it is loaded. With LD_PRELOAD it profiles
       programs that were not built with zetools. Programs that end without exit, such as by _exit or a
       signal, have no report.

   REPORTS

       JSON, CSV and pages begin with what a reader needs a year later: the version of the library, the
       command line of the program (which may contain secrets), the date of the report, the date when the
       profiler was opened, and the device's name, driver version, UUID, PCI address and clock rates. Dates
       are UTC. What the driver does not report is empty or null. Packed statistics keep these facts of the
       process that measured.

       JSON is an object:

           "zetools", "program", "date", "opened", "availability"
           "device"    {"name", "driver_version", "uuid", "pci", "core_clock_mhz", "timer_hz"}
           "counts"    zt_counts; "causes": of each zt_cause, by its name
           "peaks"     {"bytes_per_second", "operations_per_second", "source"}; see ROOFLINE
           "columns"   keys of the metrics that matter most, for a table
           "metrics"   of each key: {"name", "group", "component", "units", "type", "aggregation", "pass",
                       "description"}, and a short "label" for some of "columns". The key is the name; if an
                       earlier group has a metric of the same name, it is "GROUP.NAME". Shares that are
                       derived from two metrics have no "group"
           "streamed"  the same for metrics of attached streams
           "regions"   an array in the order of zt_get_region
           "notes"     sentences about what is missing, why, and what to do: those below a table
           "calls"     of the tracer: {"name", "count", "errors", "time_ns"}

       A region is {"name", "count", "lost", "dropped", "time_ns", "limit", "metrics"}. Where they apply, it
       also has "differs" and "pass_time_ns" (an array) with several passes; "bytes", the memory traffic a
       second; "operations" and "instructions" a second (see ROOFLINE); "histogram"; "streamed", of each key
       {"rows", "mean", "peak"}; and "tiles", an array with "metrics" of each. "limit" is {"what", "why",
       "add"} as in zt_limit_info. "histogram" counts the GPU times that are kept for quantiles (see
       AGGREGATION); bucket i begins at first_ns * ratio^i. Figures are {"count", "sum", "mean", "stddev",
       "min", "max", "median", "p95"}, and null where they do not apply.

           import json
           run = json.load(open("run.json"))
           for region in run["regions"]:
               print(region["name"], region["time_ns"]["mean"], region["metrics"]["XVE_STALL"]["mean"])

       CSV has a line for the GPU time of each region, and one for each of its metrics. `tile` and `pass` are
       "all" or a number; for metrics of attached streams, `pass` is "stream" and `count` is that of rows.
       Lines of the component "profiler" have no figures: either a count, or, with the aggregation "none", a
       text in the last column. Those without a region are about the whole profiler; there is one with the
       metric "note" for each of the "notes" of JSON.

           import csv
           for line in csv.DictReader(open("run.csv", newline="")):
               if line["metric"] == "XVE_STALL" and line["tile"] == "all":
                   print(line["region"], line["mean"])

       Instances (.instances.csv) are a row for each sample that config.timeline keeps, in the form of
       `unitrace -q`, so that scripts for that read them: "=== Device #0 Metrics ===", a blank line, and CSV
       with the columns Kernel, GlobalInstanceId, SubDeviceId (the tile) and each metric with its units, such
       as GpuTime[ns] and XVE_STALL[%]. GlobalInstanceId counts samples from 1 in the order of collection.

           import pandas
           print(pandas.read_csv("run.instances.csv", skiprows=2).groupby("Kernel")["GpuTime[ns]"].sum())

       A page (.html) shows all of this in a browser, from one file that loads nothing: regions by their
       share, what limits them, every metric with its description, the distribution of GPU times, a
       roofline, the timeline if one is kept, and what was lost. It contains the same object as JSON, in
       which the figures of "metrics" are arrays in the order above, and "timeline" has the newest 100,000
       samples as {"begin_ns", "end_ns", "spans": [[region, begin, end], ...]}.

   BENCHMARKS

       zt_bench takes samples of the GPU time of a region until the interval of their median is narrow, and
       then measures metrics in runs of their own. zt_compare takes samples of two variants in turn, so that
       what drifts meanwhile favours neither. Use it where both variants are in one program.

       A later run of a program is compared with an earlier one by a file, for example in a check that must
       pass before a change is merged:

           zt_report_benches(profiler, results, count, "-");
           zt_report_benches(profiler, results, count, "now.csv");
           result = zt_compare_benches(profiler, results, count, "before.csv", "-", &changes);
           return result != ZE_RESULT_SUCCESS || changes.slower > 0 || changes.missing > 0;

       zt_compare_benches writes a row for each benchmark with the change of its median and the interval of
       that, which contains the true change with a probability of at least 95%. A benchmark is slower or
       faster if the whole interval is beyond its zt_bench_config.tolerance. A benchmark without a positive
       median counts as not measured.

       The interval knows nothing of what differs between two runs of the same program: placement in memory,
       temperature, other users of the device. Run the program several times without a change, and set the
       tolerance higher than what then changes. Below the table stands whether the device, its driver or its
       clock is another than in the file.

       The file is CSV with a line for each result. "layout" is 1, and "results" the number of lines below
       the first. Times are in nanoseconds, rates in units a second; what is not known is empty. Each line
       has the date (UTC), the device, its driver version and core clock, and the version of the library.

   CALLBACKS

       A callback is a function of the application that the library calls. What it may call of the library:

       callback    runs on                               may call
       log         the thread that causes the message    what a sample function may, except that it must not
                                                         close the stream whose message it is
       sample      the thread that collects              all but zt_close, ZT_PASSES, zt_bench and
                                                         zt_compare with this profiler. zt_collect, and
                                                         zt_merge into it, return HANDLE_OBJECT_IN_USE
       row         the thread that reads or closes       all but zt_stream_read and zt_stream_close of
                   the stream                            this stream
       write       the thread that writes the report     all but closing what is being written
       hook        the thread that makes the call        all but zt_trace_start, zt_trace_stop, zt_close
       allocator   any thread, also several at once      zt_get_counts, zt_get_cause and others that only
                                                         return a value

       In a sample function no call with its profiler waits. zt_begin drops a region for which there is no
       slot. zt_execute executes its lists without collecting: they count as unobserved, and [INSIDE_CALLBACK]
       is reported. The same holds in a log function that is called while samples are collected. Calls with
       another profiler wait as elsewhere, so two sample functions must not wait for each other.

       No mutex of the library is held while a callback runs. But while a sample function runs, no other
       thread collects: keep it short. All callbacks must return normally, without an exception or longjmp.

   THREADS

       Functions that take a profiler or a stream may be called from several threads at once, with these
       exceptions:

       - Nothing else may use a profiler or a stream while it is closed. But zt_stream_close ends a read that
         waits, and streams that are attached to a profiler may be read and closed while it is closed.
       - One ZT_PASSES, zt_bench or zt_compare runs on a profiler at a time.
       - A region is begun and ended by threads that may use its list.

       What may wait, for what, and how long at the most:

       zt_collect             samples on their way                          its timeout
       zt_execute             the last execution of its lists               config.wait_timeout_ns
       zt_begin               a thread that collects, if all                config.wait_timeout_ns
                              config.max_slots are used
       zt_open                the first metric query                        config.wait_timeout_ns
       ZT_PASSES              the work of each pass                         config.wait_timeout_ns
       zt_merge, zt_pack      a thread that collects                        config.wait_timeout_ns
       zt_close               samples and dropped regions on their way      config.wait_timeout_ns
                              threads that match rows with samples          config.wait_timeout_ns
                              the end of the collecting thread              2 seconds
       zt_trace_stop          calls in progress                             config.wait_timeout_ns
       zt_bench, zt_compare   each of their runs                            config.wait_timeout_ns
       zt_stream_read         a row                                         its timeout
       zt_stream_close        reads of other threads                        10 seconds

       Threads of the library (config.thread, zt_stream_config.reader) run from opening to closing, block all
       signals, and end before the process exits.

   PROCESSES

       A process may contain several copies of this header: in plugins, in libraries with hidden symbols or
       loaded with RTLD_LOCAL, or in files with ZETOOLS_STATIC. They must agree on which metric groups are
       active, and must not calculate metrics at the same time. The copies find each other by the environment
       variable ZETOOLS_PROCESS_3, which the first call of the library sets. Do not change it. As with any
       setenv, no other thread may use the environment during that first call. The number in the name is the
       layout of the shared data: copies with different layouts do not find each other.

       A forked child may open profilers and streams of its own. It must not use those of its parent;
       zt_close and zt_stream_close do nothing with them in the child. A program that is started by exec
       shares nothing with the one before it.

       After zt_close, set the pointer to NULL. A second zt_close with the old pointer does nothing, unless a
       new profiler has the same address: then it closes that one. Any other use of the old pointer is an
       error.

   PACKED STATISTICS

       The layout of what zt_pack writes. Little-endian; u32 and u64 are unsigned, f64 is a double of IEEE
       754, text is a u32 length and that many bytes.

           "ZTPK"; u32 layout: 2; u64 size of the whole; u64 checksum: FNV-1a of all that follows
           u32 metrics, regions, passes, tiles, config.samples, availability; text of it
           text device, driver version, UUID, PCI address, program; "": not known
           u32 core clock in MHz; u64 timer in Hz, opening in seconds since 1970 (UTC); 0: not known
           u32 causes; that many u64 counts; u64 unobserved lists
           each metric: text name, group, component, units, description; u32 type, aggregation, pass
           each region: text name; u64 collected, of each pass; u64 lost, dropped
               each column: u64 count; f64 sum of weights, sum, mean, sum of squared distances, min, max
               u32 kept samples; each: an f64 a column, NaN where there is no value
           u32 paths; each: u32 index of the outer path, or 4294967295; u32 index of the region
               u64 samples with a GPU time; f64 sum of these times; u64 samples without: in flight, lost or
               dropped; u32 1 if it has outlived the outer one; u32 1 if its own time is not known

       The columns are: GPU time; the metrics; with several passes, the GPU time of each; with tiles, the
       metrics of each.

   ENVIRONMENT

       ZT_GROUPS, ZT_METRICS   override config.groups and config.metrics, to measure something else without
                               building again. If only one is set, the configuration's other one is ignored
       ZT_COLUMNS              overrides config.columns
       ZT_REPORT               reports that zt_close writes, beside those of the program: paths as for
                               zt_report, separated by commas, or "table" for one on standard output. If a
                               process has several profilers, those of the second are run.2.csv and so on.
                               In a path, %p is the number of the process, and %q{NAME} the value of a
                               variable: processes that share the path overwrite each other's file, so
                               name it run.%p.csv, or run.%q{OMPI_COMM_WORLD_RANK}.csv. For a trace or a
                               page, config.timeline is 65,536 unless it is set
       ZT_LOG                  "stderr": messages are printed there if the program has no log function
       ZT_TIMELINE             overrides config.timeline
       ZT_PEAKS                overrides zt_set_peaks: bytes and operations a second, "456e9,14.6e12"
       ZT_KERNELS, ZT_CALLS    override names and calls of zt_trace_config: ZT_KERNELS="gemm*,!*_tail"
       ZT_COPIES               overrides zt_trace_config.copies: "1", or "0"
       ZT_AUTO                 the reports of zt_auto, as in ZT_REPORT; "1": as its configuration says; "off",
                               "0" or "": nothing is traced
       Mistakes in these are printed on standard error. If a report of ZT_REPORT or ZT_AUTO cannot be written,
       the table is printed there instead.

       COLUMNS                 the width of a table on standard output that is not a terminal. Default: 80

       Loader and driver read ZET_ENABLE_METRICS, ZE_ENABLE_TRACING_LAYER and, for the frequency in
       benchmarks, ZES_ENABLE_SYSMAN. Set them before zeInit.

   OPTIONS, to be defined before the header is included

       ZETOOLS_IMPLEMENTATION   In one file of the program: compiles the functions. Elsewhere the header only
                                declares them.
       ZETOOLS_DISABLE          In every file or in none: all functions are empty, no code is left, and Level
                                Zero is not needed. Figures are then 0, and not NaN. For builds without
                                profiling.
       ZETOOLS_TRACER           In each file that uses the tracer, and in that of ZETOOLS_IMPLEMENTATION. Off
                                by default, because it adds code for every call that can be traced.
       ZETOOLS_STATIC           In each file that uses the library, with ZETOOLS_IMPLEMENTATION: makes its
                                functions static, so that a library that contains them does not export them.
       ZETOOLS_NO_THREADS       With ZETOOLS_IMPLEMENTATION, for programs that must not have other threads:
                                the library starts none. config.thread has no effect, and
                                zt_stream_config.reader is refused.
*/
#ifndef ZETOOLS_H
#define ZETOOLS_H

/* The version of the declarations. zt_version() returns that of the implementation. */
#define ZETOOLS_VERSION_MAJOR 0
#define ZETOOLS_VERSION_MINOR 1
#define ZETOOLS_VERSION_PATCH 0
#define ZETOOLS_VERSION "0.1.0"

/* In strict ISO modes the C library declares what the implementation needs only if this is defined. In other
   modes defining it would hide declarations from the application. */
#if defined(ZETOOLS_IMPLEMENTATION) && !defined(ZETOOLS_DISABLE) && defined(__STRICT_ANSI__) &&              \
    !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include <stddef.h>
#include <stdint.h>

#ifndef ZETOOLS_DISABLE
#include <level_zero/ze_api.h>
#define ZT__HAVE_LEVEL_ZERO 1
#elif defined(__has_include)
#if __has_include(<level_zero/ze_api.h>)
#include <level_zero/ze_api.h>
#define ZT__HAVE_LEVEL_ZERO 1
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define ZT__UNUSED __attribute__((unused))
#else
#define ZT__UNUSED
#endif

#ifdef ZETOOLS_STATIC
#define ZT_API static ZT__UNUSED
#else
#define ZT_API extern
#endif

/* ==== types =============================================================================================== */

/* Measures regions on one device or sub-device, in one context. Since 0.1. */
typedef struct zt_profiler zt_profiler;

/* A metric group: the same type as zet_metric_group_handle_t, whose header only the implementation includes,
   because it is slow to compile. Since 0.1. */
typedef struct _zet_metric_group_handle_t *zt_group;

/* A region that was begun. Its fields are private. A copy stands for the same region. Since 0.1. */
typedef struct zt_region {
    void *slot;
    uint32_t generation;
    uint32_t profiler;
    uint32_t body;
} zt_region;

/* The state of one ZT_PASSES. Its fields are private. Since 0.1. */
typedef struct zt_passes {
    zt_profiler *profiler;
    uint32_t next;
    uint32_t runs;
} zt_passes;

/* Called with the first message of each kind, such as "[NO_SLOT] zt_begin: all 16384 slots are in use, ...".
   result  a ze_result_t: that of the call that failed, or the one that describes the message best
   text    the identifier of the kind, what happened and what to do. Valid during the call
   user    config.log_user
   See CALLBACKS. Since 0.1. */
typedef void (*zt_log_fn)(int result, const char *text, void *user);

/* One collected sample. Pointers are valid during the call. Since 0.1. */
typedef struct zt_sample {
    const char *name;      /* of the region */
    uint32_t region;       /* its index, for zt_get_region */
    uint32_t metric_count; /* as zt_get_metric_count */
    double gpu_time_ns;
    const double *values; /* in the order of zt_get_metric. NaN: not measured */
    uint32_t pass;        /* from 0. Metrics of other passes are not measured */
} zt_sample;

/* Called for each collected sample, on the collecting thread. `user` is config.sample_user. See CALLBACKS.
   Since 0.1. */
typedef void (*zt_sample_fn)(const zt_sample *sample, void *user);

/* Called with the next bytes of a report, on the thread that writes it. `user` is that of the writing call.
   Returns 0, or anything else to stop. See CALLBACKS. Since 0.1. */
typedef int (*zt_write_fn)(const void *bytes, size_t size, void *user);

/* The application's allocator. Set both functions or none; with one alone, opening returns INVALID_ARGUMENT.
   They are called from any thread, also from several at once. `allocate` returns memory that is aligned as
   that of malloc, or NULL; `release` is never called with NULL. See CALLBACKS. Since 0.1. */
typedef struct zt_allocator {
    void *(*allocate)(size_t size, void *user);
    void (*release)(void *memory, void *user);
    void *user;
} zt_allocator;

/* How a profiler is opened. Start from zt_config_default(). 0 and NULL stand for the default. Strings need
   not outlive zt_open. Since 0.1. */
typedef struct zt_config {
    const char *groups;    /* Metric groups: names separated by commas, up to 32. "": none, regions have times
                              alone. NULL: those that `metrics` needs, else "ComputeBasic", else the first
                              event-based group of the device. ZT_GROUPS in the environment overrides it. */
    const char *metrics;   /* Metrics: names separated by commas, up to 64. The fewest groups that have them
                              are measured, beside those of `groups`. NULL: `groups` alone decides. ZT_METRICS
                              in the environment overrides it. */
    const char *columns;   /* Columns of the table, counters and arguments of the trace: metrics, and of the
                              GPU time "median", "p95", "min" and "max", separated by commas. CSV and JSON have
                              all metrics in any case. NULL: those of `metrics`, else the ones that show most,
                              as many as fit. ZT_COLUMNS in the environment overrides it. */
    uint32_t max_passes;   /* How many passes the work may be repeated in with ZT_PASSES, up to 16. With 1,
                              groups that cannot be active together are refused. Default: 1. */
    double pass_tolerance; /* Reports mark a region whose GPU time differs between passes by more than this
                              share. Raise it for work whose time varies by itself. Default: 0.1. */
    int require_metrics; /* Not 0: zt_open fails if metrics cannot be measured. 0: regions have times then. */

    uint32_t slots_per_step; /* Slots are made as they are needed, this many at a time. A lower number saves
                                device memory where few regions are in flight. Default: 256. */
    uint32_t max_slots;      /* The limit of slots in each pass; regions beyond it are dropped. Raise it if
                                recorded lists have more regions than this. Default: 16384. */
    uint32_t samples;        /* Samples kept of each region for median and 95th percentile, up to 1,048,576;
                                see AGGREGATION. A region needs up to 8 bytes a metric and kept sample, and
                                56 a metric. Default: 512. */

    int thread; /* Not 0: a thread of the library's own collects; see COLLECTING. 0: the threads that call the
                   library do. */

    uint32_t timeline; /* Samples kept for the timeline, the newest. Each needs 112 bytes and 8 a metric, and
                          each region then writes two more time stamps. 0: no timeline. */

    uint64_t wait_timeout_ns; /* How many nanoseconds functions without a timeout of their own may wait; see
                                 THREADS. Raise it if the work of a list takes longer. Default: 1 second. */

    zt_log_fn log; /* Receives messages. NULL: none does; zt_get_last_error returns the last one. */
    void *log_user;
    zt_sample_fn sample; /* Receives every collected sample. NULL: none does. */
    void *sample_user;
    zt_allocator allocator; /* Functions that are NULL: malloc and free. */
} zt_config;

/* Whether metrics are measured, and if not, why. Since 0.1. */
typedef enum zt_availability {
    ZT_AVAILABLE = 0,       /* metrics are measured */
    ZT_TIMES_BY_CHOICE,     /* config.groups or ZT_GROUPS is "" */
    ZT_NOT_ENABLED,         /* the driver's metrics are not enabled */
    ZT_LIBRARY_MISSING,     /* the driver lacks its metric library */
    ZT_NO_PERMISSION,       /* the system reserves metrics for privileged users */
    ZT_IN_USE,              /* the device's counters are in use by a stream, a profiler or another process */
    ZT_NO_SUCH_GROUP,       /* no event-based group of that name */
    ZT_NO_SUCH_METRIC,      /* no event-based group has a metric of that name */
    ZT_GROUPS_CONFLICT,     /* the groups need more passes than config.max_passes */
    ZT_NOT_SUPPORTED,       /* the driver or the device has no metrics, or a call failed unexpectedly */
    ZT_DEVICE_LOST,         /* the device is gone */
    ZT_AVAILABILITY_UNKNOWN /* there is no profiler */
} zt_availability;

/* Why samples are lost or dropped. Since 0.1. */
typedef enum zt_cause {
    /* lost: the device has set a flag in the report */
    ZT_LOST_REPORT_ERROR,
    ZT_LOST_REPORT_LOST,
    ZT_LOST_REPORT_WITHOUT_WORKLOAD,
    ZT_LOST_REPORT_INCONSISTENT,
    ZT_LOST_REPORT_CONTEXT_MISMATCH,
    ZT_LOST_REPORT_QUERY_MODE_MISMATCH,
    ZT_LOST_OVERRUN,
    ZT_LOST_QUERY_SPLIT,
    /* lost: other */
    ZT_LOST_NEVER_DELIVERED, /* the region ended, but its data never came; or it did not end in time */
    ZT_LOST_OVERWRITTEN,     /* executed again before it was collected */
    ZT_LOST_OTHER_PASS,      /* it ran in another pass than it was begun in */
    ZT_LOST_READ_FAILED,     /* the driver failed to read or calculate the data */
    ZT_LOST_IMPLAUSIBLE,     /* its GPU time is longer than the time since it was submitted */
    ZT_LOST_DEVICE,          /* the device was lost */
    /* dropped */
    ZT_DROPPED_NO_SLOT,        /* all config.max_slots are in use */
    ZT_DROPPED_NO_MEMORY,      /* no memory for slots or statistics */
    ZT_DROPPED_TOO_MANY_NAMES, /* more than 65,536 names */
    ZT_DROPPED_APPEND_FAILED,  /* the driver refused a command of the region, or the list was NULL */
    ZT_DROPPED_NOT_CLOSED,     /* the list was released or the profiler closed before zt_end */
    ZT_DROPPED_DEVICE_LOST,    /* begun after the device was lost */
    ZT_CAUSE_COUNT
} zt_cause;

/* Formats of reports; see REPORTS. Since 0.1. */
typedef enum zt_format {
    ZT_FORMAT_TABLE,
    ZT_FORMAT_CSV,
    ZT_FORMAT_JSON,
    ZT_FORMAT_TRACE,
    ZT_FORMAT_HTML,        /* a page for browsers, in one file */
    ZT_FORMAT_OPENMETRICS, /* text for Prometheus; see OPENMETRICS */
    ZT_FORMAT_INSTANCES    /* CSV with a row for each sample that config.timeline keeps */
} zt_format;

/* How the values of a metric are combined over samples. Since 0.1. */
typedef enum zt_aggregation {
    ZT_AGGREGATE_SUM,  /* sum, and mean of a sample */
    ZT_AGGREGATE_MEAN, /* mean, weighted by GPU time; no sum */
    ZT_AGGREGATE_FLAG, /* sum: in how many samples it was set */
    ZT_AGGREGATE_NONE  /* count, minimum and maximum alone */
} zt_aggregation;

/* A metric. Strings are never NULL and live as long as the profiler. Since 0.1. */
typedef struct zt_metric {
    const char *name;
    const char *group;
    const char *component;
    const char *units; /* "" where it has none */
    const char *description;
    int type; /* a zet_metric_type_t */
    zt_aggregation aggregation;
    uint32_t pass; /* in which it is measured, from 0 */
} zt_metric;

/* Statistics of one metric over the samples of one region, in the units of the metric. What does not apply is
   NaN. `count` is the number of samples that have the metric. Since 0.1. */
typedef struct zt_stats {
    uint64_t count;
    double sum, mean, stddev, min, max, median, p95;
} zt_stats;

/* What limits a region. Since 0.1. */
typedef enum zt_limit {
    ZT_LIMIT_UNKNOWN,          /* there are not enough metrics, or no samples */
    ZT_LIMIT_MEMORY_BANDWIDTH, /* traffic between the GPU and its memory */
    ZT_LIMIT_LATENCY,          /* threads wait, and there are too few others to run meanwhile */
    ZT_LIMIT_COMPUTE,          /* instructions of the vector engines (XVE, EU) */
    ZT_LIMIT_XMX,              /* instructions of the matrix engines */
    ZT_LIMIT_LAUNCH,           /* kernels are so short that launching them takes longer */
    ZT_LIMIT_HOST,             /* the GPU waits for work */
    ZT_LIMIT_OCCUPANCY,        /* too few threads for the vector engines, which are idle */
    ZT_LIMIT_CACHE             /* threads wait for data, though there are many */
} zt_limit;

/* What probably limits a region, and why. Since 0.1. */
typedef struct zt_limit_info {
    zt_limit limit;
    char text[320];    /* a sentence with the figures that show it, or with what is missing */
    char missing[256]; /* metrics that were not measured and might show another limit, as for
                          zt_config.metrics; "": none is known. The device need not have them */
} zt_limit_info;

/* Differences between the passes of a region, as bits. Since 0.1. */
enum {
    ZT_DIFFERS_MISSING = 1, /* not in every pass */
    ZT_DIFFERS_COUNT = 2,   /* not the same number of samples in every pass */
    ZT_DIFFERS_TIME = 4     /* the median GPU time differs by more than config.pass_tolerance */
};

/* A region. The name lives as long as the profiler. Since 0.1. */
typedef struct zt_region_info {
    const char *name;
    uint64_t count; /* samples that were collected, of all passes */
    uint64_t lost;
    uint64_t dropped;
    zt_stats time_ns; /* GPU time in nanoseconds, of all passes */
    uint32_t differs; /* ZT_DIFFERS_ bits; 0: the passes do not differ */
    uint32_t parent;  /* the region that it is inside; UINT32_MAX: none, or sometimes another. See NESTING */
    double own_ns;    /* GPU time outside of the regions inside it, of all samples. NaN: not known */
    double total_ns;  /* GPU time of all samples. Those inside another sample of the region do not count
                         again. NaN: not known */
} zt_region_info;

/* A region inside certain others; see NESTING. Since 0.1. */
typedef struct zt_path_info {
    uint32_t region; /* its index, for zt_get_region */
    uint32_t parent; /* the path of the region that it is directly inside. UINT32_MAX: none */
    uint64_t count;  /* samples that were collected there, with a GPU time */
    double total_ns; /* the sum of these times */
    double own_ns;   /* the part of it outside of the regions inside it. NaN: not known */
} zt_path_info;

/* Samples, and what became of them; see COUNTS. Since 0.1. */
typedef struct zt_counts {
    uint64_t begun, collected, lost, dropped, in_flight;
    uint64_t unobserved_lists; /* command lists that ran outside of zt_execute; see COMMAND LISTS */
} zt_counts;

/* ---- streams --------------------------------------------------------------------------------------------- */

/* A stream: one metric group of one device or sub-device, sampled by the clock. Since 0.1. */
typedef struct zt_stream zt_stream;

/* One row: the metrics of one period. Pointers are valid during the call. Since 0.1. */
typedef struct zt_row {
    uint64_t time_ns;   /* when the period began, by CLOCK_MONOTONIC of the host */
    uint64_t device_ns; /* the same by the clock of the device's metrics; continues when that overflows */
    uint64_t length_ns; /* how long the period lasted */
    int gap;            /* not 0: rows are missing before this one, dropped by the device or not calculated */
    uint32_t metric_count;
    const double *values; /* in the order of zt_stream_get_metric. NaN: not measured */
    const char *marker;   /* the name of the marker that ended the row, or NULL */
} zt_row;

/* Called for each row, on the thread that reads. `user` is that of the reading call. Returns 0, or anything
   else to stop: later rows wait for the next read. See CALLBACKS. Since 0.1. */
typedef int (*zt_row_fn)(const zt_row *row, void *user);

/* How a stream is opened. Start from zt_stream_config_default(). 0 and NULL stand for the default. Strings
   need not outlive zt_stream_open. Since 0.1. */
typedef struct zt_stream_config {
    const char *group;  /* A time-based metric group. NULL: "ComputeBasic", else the first that there is. */
    uint32_t period_ns; /* The length of a row in nanoseconds; the driver rounds it. Default: 1 ms. */
    uint32_t notify_reports; /* A read that waits is woken after this many reports. With fewer, rows arrive
                                sooner and cost more. Default: as many as come in 10 ms. */
    size_t memory_limit;     /* Bytes for reports and their calculation. Raise it if rows are read seldom.
                                Default: 8 MiB. */
    int reader; /* Not 0: a thread of the library's own reads from the device into this memory, so
                   that nothing is lost if the application seldom calls zt_stream_read. */

    zt_profiler *profiler;  /* Attaches the stream to this profiler: its timeline and regions then have the
                               rows. It must have config.timeline. It keeps the rows when the stream is
                               closed, so `allocator` must work until zt_close. NULL: to none. */
    uint32_t timeline_rows; /* Rows kept for that profiler, the newest. Each needs 32 bytes and 8 a metric.
                               Default: 16384. */

    zt_log_fn log; /* As in zt_config. The reader thread calls it, too. */
    void *log_user;
    zt_allocator allocator;
} zt_stream_config;

/* What a stream was opened with. Since 0.1. */
typedef struct zt_stream_info {
    const char *group;
    uint32_t period_ns;      /* as rounded by the driver */
    uint32_t notify_reports; /* as rounded by the driver */
    size_t memory;           /* bytes allocated for reports and their calculation */
    uint64_t reader_cpu_ns;  /* processor time of the reader thread so far */
} zt_stream_info;

/* Reports of a stream, and what became of them; see STREAMS. Since 0.1. */
typedef struct zt_stream_counts {
    uint64_t reports;   /* read from the device */
    uint64_t rows;      /* delivered to a function or a profiler */
    uint64_t discarded; /* not delivered */
    uint64_t waiting;   /* not yet delivered */
    uint64_t gaps;      /* how often the device reported that it had dropped data */
    uint64_t dropped;   /* reports missing in these gaps, estimated from their length */
} zt_stream_counts;

/* One streamed metric over the rows that belong to the samples of a region. NaN where there are none. For a
   metric that is averaged, the mean is weighted by the length of the rows. For one that adds up, it is the
   mean of a row. Since 0.1. */
typedef struct zt_streamed {
    uint64_t rows;
    double mean, peak;
} zt_streamed;

/* What a timeline holds. Since 0.1. */
typedef struct zt_timeline_info {
    uint64_t samples, rows;           /* kept */
    uint64_t lost_samples, lost_rows; /* replaced by newer ones, or without a certain time */
    uint32_t pairs;                   /* comparisons of device clock and host clock that are in use */
} zt_timeline_info;

#ifdef ZETOOLS_TRACER
#define ZT__TRACER_DECLARED 1

/* A callback of the application around a call; see TRACING and CALLBACKS. Runs on the thread that calls.
   parameters  a structure with the addresses of the call's parameters, such as a ze_kernel_create_params_t
               from <level_zero/layers/zel_tracing_api.h>. A prologue may change the parameters
   result      a ze_result_t: that of the call; in a prologue SUCCESS
   user        as in zt_hook
   instance    points to NULL in the prologue, which may store a pointer there for the epilogue of the call
   Since 0.1. */
typedef void (*zt_hook_fn)(void *parameters, int result, void *user, void **instance);

/* The application's callbacks for one call; either may be NULL. Since 0.1. */
typedef struct zt_hook {
    const char *call; /* "zeKernelCreate" */
    zt_hook_fn prologue;
    zt_hook_fn epilogue;
    void *user;
} zt_hook;

/* What a tracer does. Start from zt_trace_config_default(). 0 and NULL stand for the default. Strings and the
   array of hooks are copied. Since 0.1. */
typedef struct zt_trace_config {
    const char *names; /* Kernels to measure: patterns with * and ?, separated by commas. A pattern after '!'
                          excludes: "gemm*,!*_tail". NULL: all kernels. */
    uint32_t every;    /* With n, the first launch of each kernel and every n-th after it are measured. A
                          higher number costs less. Default: 1. */
    uint64_t limit;    /* The most launches of each kernel that are measured. 0: no limit. */
    int copies;        /* Not 0: copies and fills are measured, too, as "MemoryCopy", "MemoryFill", ... */
    int no_launches;   /* Not 0: launches are not measured; lists are observed all the same. */
    const char *calls; /* Calls to count and time: patterns separated by commas, as in `names`:
                          "zeEvent*,zeCommandQueue*". Calls that are not observed cost no more than before.
                          NULL: none. */
    const zt_hook *hooks; /* Callbacks of the application, up to 16. NULL: none. */
    uint32_t hook_count;
} zt_trace_config;

/* Launches, and copies if they are measured: launches = measured + filtered + elsewhere. zt_counts shows
   what became of those that are measured. Since 0.1. */
typedef struct zt_trace_counts {
    uint64_t launches;
    uint64_t measured;  /* a region was begun */
    uint64_t filtered;  /* left out by the configuration */
    uint64_t elsewhere; /* on a list that the profiler cannot measure: of another context or device; of a copy
                           engine, unless the profiler measures times alone; that can be cloned or changed;
                           or captured into a graph */
} zt_trace_counts;

/* A call that was timed. The name lives as long as the program. Since 0.1. */
typedef struct zt_call_info {
    const char *name;
    uint64_t count;
    uint64_t errors;  /* calls that failed. SUCCESS, NOT_READY, warnings and results that answer a question,
                         such as QUERY_FALSE, are no errors */
    zt_stats time_ns; /* host time of a call */
} zt_call_info;

/* How zt_auto traces and reports. Start from zt_auto_config_default(). Strings of any length are copied, and
   need not outlive zt_auto. Functions and their user pointers must live until exit. Since 0.1. */
typedef struct zt_auto_config {
    const char *report; /* Paths, or "table", as in ZT_REPORT; see ENVIRONMENT. NULL: a table on standard
                           output. ZT_AUTO in the environment overrides it. */
    zt_config profiler; /* of each context and device */
    zt_trace_config trace;
} zt_auto_config;

#endif /* ZETOOLS_TRACER */

/* ---- benchmarks ---- */

/* What to benchmark, and how precisely. 0 and NULL stand for the default. Since 0.1. */
typedef struct zt_bench_config {
    const char *name; /* A name for people. NULL: that of the region, else "the benchmark"; in a comparison
                         "a" or "b". */
    int (*run)(zt_profiler *profiler, void *user); /* Records and submits the work once, with a region of
                                                      `profiler` around what is timed. Returns 0, or
                                                      anything else if the work failed. */
    double (*measure)(void *user); /* In place of `run`, for work that is timed by other means: does the work
                                      once and returns its time in nanoseconds; negative if it failed. */
    void *user;                    /* is passed to these functions and to `frequency` */
    const char *region; /* The region whose GPU time is a sample, added up if it runs several times. NULL: the
                           first of the work. */
    double (*frequency)(void *user); /* Returns the frequency of the device now, in MHz; 0: not known. NULL:
                                        that of the system management interface, which ZES_ENABLE_SYSMAN=1
                                        enables. */
    uint32_t warm_up;                /* Runs before the first sample. Default: 3. */
    uint32_t min_samples;  /* The fewest samples, however long they take. Default, and minimum: 10. */
    uint32_t max_samples;  /* The most samples. Default, and maximum: 1000. */
    uint64_t max_time_ns;  /* The most time for the warm-up, and again for the samples, in nanoseconds. The
                              first three runs of the warm-up and min_samples are made in any case. Default:
                              10 seconds. */
    double precision;      /* Sampling stops when half the interval of the median is less than this share of
                              it. Default: 0.01. */
    double max_change;     /* Samples whose frequency differs from the median by more than this share are
                              marked. Default: 0.02. */
    uint32_t counter_runs; /* Runs with metrics, in each pass. Default: 5. */
    double bytes_per_run;  /* Bytes that a run moves and items that it works on, for rates, by your own count.
                              0: there is no such rate. */
    double items_per_run;
    double tolerance; /* zt_compare_benches calls a benchmark faster or slower if the whole interval of its
                         change is beyond this share. Default: 0.02. */
} zt_bench_config;

/* Which condition ended a benchmark. Since 0.1. */
typedef enum zt_bench_end {
    ZT_BENCH_NOT_RUN, /* there is no profiler, or a run failed */
    ZT_BENCH_PRECISE, /* config.precision is reached */
    ZT_BENCH_NOISE,   /* twice the samples did not make the interval narrower */
    ZT_BENCH_TIME,    /* config.max_time_ns was over */
    ZT_BENCH_FULL     /* config.max_samples were taken */
} zt_bench_end;

/* The most samples of a benchmark, and the marks of a sample, which are bits. Since 0.1. */
enum { ZT_BENCH_SAMPLES = 1000, ZT_BENCH_OUTLIER = 1, ZT_BENCH_CHANGED = 2 };

/* The result of a benchmark; times in nanoseconds. What does not apply is NaN. About 9 kB. Since 0.1. */
typedef struct zt_bench_result {
    char name[64];
    zt_bench_end end;
    uint32_t count;    /* samples */
    uint32_t outliers; /* samples that lie beyond a quartile by more than 1.5 times the interquartile range.
                          They count like any other */
    uint32_t changed;  /* samples at another frequency. They count like any other */
    double median;
    double low, high; /* interval that contains the true median with a probability of at least 95% */
    double quartile1, quartile3;
    double min, max;
    double precision;                      /* half the interval, as a share of the median */
    double bytes_per_second;               /* at the median, of config.bytes_per_run */
    double items_per_second;               /* at the median, of config.items_per_run */
    double tolerance;                      /* that of the configuration */
    double frequency_mhz;                  /* median. NaN: not known */
    uint32_t counter_runs;                 /* runs with metrics, in each pass */
    double counter_median;                 /* their median */
    double perturbation;                   /* counter_median divided by median */
    uint32_t region;                       /* of the profiler, for zt_get_rate; UINT32_MAX: none */
    double samples[ZT_BENCH_SAMPLES];      /* in the order in which they were taken */
    unsigned char marks[ZT_BENCH_SAMPLES]; /* ZT_BENCH_OUTLIER, ZT_BENCH_CHANGED */
} zt_bench_result;

/* The result of a comparison of two variants. Since 0.1. */
typedef struct zt_comparison {
    zt_bench_result a, b;
    double ratio;     /* median of b divided by median of a */
    double low, high; /* interval that contains the true ratio with a probability of at least 95% */
    int differs;      /* not 0: the interval does not contain 1 */
} zt_comparison;

/* How many benchmarks changed since an earlier run. Since 0.1. */
typedef struct zt_bench_changes {
    uint32_t faster, slower;
    uint32_t same;        /* no change beyond the tolerance is shown */
    uint32_t missing;     /* measured by the earlier run, and not now */
    uint32_t added;       /* measured now, and not by the earlier run */
    int other_conditions; /* not 0: the device, its driver, its core clock or the frequency of a benchmark
                             is another. The table says which */
} zt_bench_changes;

#ifndef ZETOOLS_DISABLE

/* ==== interface =========================================================================================== */

/* Every function accepts NULL for the profiler or the stream, and then does nothing. It returns
   ZE_RESULT_SUCCESS, 0, or what stands for nothing: UINT32_MAX for an index, NaN for a figure. zt_execute and
   zt_reset still execute and reset, and ZT_PASSES runs its statement once. A structure to be filled in is
   empty then, as it is on failure.

   Results are named without ZE_RESULT_ and ZE_RESULT_ERROR_. A function that takes handles or pointers
   returns INVALID_NULL_HANDLE or INVALID_NULL_POINTER for those that are NULL, unless NULL is allowed; one
   that takes an index returns INVALID_ARGUMENT for one that is too high; one that needs memory,
   OUT_OF_HOST_MEMORY. Besides these, it returns SUCCESS, and the results that its own documentation names.
   This is not repeated below. "Any thread" includes several at once. */

/* Returns the version of the implementation, "major.minor.patch". Any thread. Since 0.1. */
ZT_API const char *zt_version(void);

/* Returns a configuration with every field at its default. Any thread. Since 0.1. */
ZT_API zt_config zt_config_default(void);

/* Opens a profiler on a device or sub-device of an initialised driver.
   config    NULL: the defaults
   profiler  receives the profiler; NULL on failure
   Returns SUCCESS, also where metrics cannot be measured. With config.require_metrics that is a failure: then
   the result of the call that refused them, or INVALID_ARGUMENT where there are no such groups or metrics.
   OUT_OF_HOST_MEMORY also when 256 profilers are open in the process; DEVICE_LOST; otherwise the result of
   the call that failed. zt_get_last_error(NULL) has the message.
   Variables of the environment override the configuration; see ENVIRONMENT. Mistakes in them are reported.
   Any thread, but not two threads for one device at once. Since 0.1. */
ZT_API ze_result_t zt_open(ze_context_handle_t context, ze_device_handle_t device, const zt_config *config,
                           zt_profiler **profiler);

/* Collects what is on its way, writes the reports that ZT_REPORT names, and frees the profiler. Recorded
   lists with regions must not be executed afterwards, and must not be running now if they were executed
   without zt_execute: nothing shows that. Immediate lists and executions by zt_execute are waited for. What
   these have not finished when the time is up is reported, and the memory that the device may still write to
   is not freed. zt_end of a region that is still open does nothing afterwards.
   The profiler stays open if the driver, a callback or a traced call of another thread does not return in
   time, or if it is called from a callback that forbids it. A message reports this, and zt_close can be
   called again.
   One thread; see PROCESSES for the pointer. Since 0.1. */
ZT_API void zt_close(zt_profiler *profiler);

/* Begins a region on a command list that is immediate, or open for commands.
   name  is copied. NULL and "" are shown as "(unnamed)". Up to 65,536 different names
   Returns the region, for zt_end. A region that cannot be measured is counted as dropped, and passed to
   zt_end all the same. Any thread that may use the list. Since 0.1. */
ZT_API zt_region zt_begin(zt_profiler *profiler, ze_command_list_handle_t list, const char *name);

/* Ends a region, on the list on which it was begun. Does nothing for NULL, for a region that was dropped or
   has ended, also by a copy of it, and for one whose profiler is closed.
   Any thread that may use the region's list. Since 0.1. */
ZT_API void zt_end(zt_region *region);

/* Collects samples.
   timeout_ns  0: what is ready, without waiting. Otherwise, waits so many nanoseconds at the most for samples
               that are on their way; see COLLECTING
   Returns SUCCESS; NOT_READY, with a timeout only, if it expired, or if a region is not ended; DEVICE_LOST;
   HANDLE_OBJECT_IN_USE inside a sample function. Any thread. Since 0.1. */
ZT_API ze_result_t zt_collect(zt_profiler *profiler, uint64_t timeout_ns);

/* Declares that what is on a list never runs again. Call it before the list is destroyed, or after it was
   reset, when the device is done with it. Slots of the list that are ready are freed now, others when they
   are collected. Regions that never ran no longer count as begun. Regions that are not ended are dropped.
   Never waits.
   Returns SUCCESS, also for a list without regions; NOT_READY if samples of the list are not collected yet:
   the next collection does that. With config.thread, NOT_READY only means that the thread has not collected
   them yet. Any thread that may use the list. Since 0.1. */
ZT_API ze_result_t zt_release(zt_profiler *profiler, ze_command_list_handle_t list);

/* Resets a list with zeCommandListReset and, if that succeeds, calls zt_release for it.
   Returns what zeCommandListReset returns. Any thread that may use the list. Since 0.1. */
ZT_API ze_result_t zt_reset(zt_profiler *profiler, ze_command_list_handle_t list);

/* Names a command list, for the trace: the regions that are begun on it from now on are on a track with this
   name. zt_release and, under a tracer, the destruction of the list end that.
   name  is copied. NULL and "": none any more
   Returns SUCCESS; OUT_OF_HOST_MEMORY also for more than 65,536 different names. Any thread that may use the
   list. Since 0.1. */
ZT_API ze_result_t zt_name_list(zt_profiler *profiler, ze_command_list_handle_t list, const char *name);

/* Collects the last execution of these lists, waiting for it up to config.wait_timeout_ns, and executes them
   with zeCommandQueueExecuteCommandLists. Samples that were not ready in time are overwritten and counted as
   lost. The lists are executed in any case. If a list is named twice, they are executed in several calls, so
   that each execution is measured; the last call has the fence. If the driver refuses one of these calls, the
   calls before it have been executed, and those after it are not made. See CALLBACKS for calls inside of one.
   Returns what zeCommandQueueExecuteCommandLists returns. Any thread that may use them. Since 0.1. */
ZT_API ze_result_t zt_execute(zt_profiler *profiler, ze_command_queue_handle_t queue, uint32_t count,
                              ze_command_list_handle_t *lists, ze_fence_handle_t fence);

/* Returns the number of passes: 1 where nothing has to be repeated. Any thread. Since 0.1. */
ZT_API uint32_t zt_get_pass_count(const zt_profiler *profiler);

/* Gets the statistics of the GPU time of a region in one pass, counted from 0. Any thread. Since 0.1. */
ZT_API ze_result_t zt_get_pass(const zt_profiler *profiler, uint32_t region, uint32_t pass,
                               zt_stats *time_ns);

/* The functions that ZT_PASSES calls. zt_passes_next activates the groups of the next pass and returns 1, or
   0 when there are no more; a pass whose groups cannot be activated is left out. zt_passes_end returns to the
   first pass. One thread. Since 0.1. */
ZT_API zt_passes zt_passes_begin(zt_profiler *profiler);
ZT_API int zt_passes_next(zt_passes *passes);
ZT_API void zt_passes_end(zt_passes *passes);

/* Returns the number of tiles: 0 where the device has only one. Any thread. Since 0.1. */
ZT_API uint32_t zt_get_tile_count(const zt_profiler *profiler);

/* As zt_get_stats, for one tile, counted from 0. Any thread. Since 0.1. */
ZT_API ze_result_t zt_get_tile_stats(const zt_profiler *profiler, uint32_t region, uint32_t tile,
                                     uint32_t metric, zt_stats *stats);

/* Returns how many samples there are in each state. Any thread. Since 0.1. */
ZT_API zt_counts zt_get_counts(const zt_profiler *profiler);

/* Returns how many samples were lost or dropped by one cause. Any thread. Since 0.1. */
ZT_API uint64_t zt_get_cause(const zt_profiler *profiler, zt_cause cause);

/* Returns "report error", "no slot", ...: never NULL. Any thread. Since 0.1. */
ZT_API const char *zt_cause_name(zt_cause cause);

/* Returns the number of regions, that is, of different names, so far. Any thread. Since 0.1. */
ZT_API uint32_t zt_get_region_count(const zt_profiler *profiler);

/* Returns the number of metrics of all groups and passes. It does not change. Any thread. Since 0.1. */
ZT_API uint32_t zt_get_metric_count(const zt_profiler *profiler);

/* Returns a metric by its index, or NULL if that is too high. Any thread. Since 0.1. */
ZT_API const zt_metric *zt_get_metric(const zt_profiler *profiler, uint32_t metric);

/* Returns the index of a metric by its name, or UINT32_MAX; then zt_get_last_error has the nearest names. Any
   thread. Since 0.1. */
ZT_API uint32_t zt_find_metric(const zt_profiler *profiler, const char *name);

/* Gets a region by its index. Regions are in the order of their first begin. Any thread. Since 0.1. */
ZT_API ze_result_t zt_get_region(const zt_profiler *profiler, uint32_t region, zt_region_info *info);

/* Returns the number of paths, that is, of regions that were begun inside different others, so far. Any
   thread. Since 0.1. */
ZT_API uint32_t zt_get_path_count(const zt_profiler *profiler);

/* Gets a path by its index, which is higher than that of its parent. Any thread. Since 0.1. */
ZT_API ze_result_t zt_get_path(const zt_profiler *profiler, uint32_t path, zt_path_info *info);

/* Gets the statistics of a metric over the collected samples of a region. Without memory, median and 95th
   percentile are NaN. Any thread. Since 0.1. */
ZT_API ze_result_t zt_get_stats(const zt_profiler *profiler, uint32_t region, uint32_t metric,
                                zt_stats *stats);

/* Returns the rate of a metric in a region: the sum divided by the GPU time of the metric's pass, in units a
   second, or the mean of a metric that is averaged. NaN for others. Rates of different passes can be
   compared. Any thread. Since 0.1. */
ZT_API double zt_get_rate(const zt_profiler *profiler, uint32_t region, uint32_t metric);

/* Finds what probably limits a region, by rules on the metrics that are measured, streamed ones included, and
   on the timeline. The rules are one table, with the source of each threshold: search for zt__rules. A metric
   that was not measured decides nothing. Of a region with several kernels, the figures are those of all.
   A kernel in large register mode loads half as many threads as another. So its occupancy does not exceed
   50%, and does not show by itself that more threads would help.
   Returns SUCCESS, also if the limit is not known. Any thread. Since 0.1. */
ZT_API ze_result_t zt_get_limit(const zt_profiler *profiler, uint32_t region, zt_limit_info *info);

/* Returns "memory bandwidth", "latency", ...: never NULL. Any thread. Since 0.1. */
ZT_API const char *zt_limit_name(zt_limit limit);

/* Sets what the device can do at the most, for the roofline of a page and for zt_get_limit; see ROOFLINE.
   ZT_PEAKS in the environment overrides it.
   bytes_per_second       between the GPU and its memory. 0: not known
   operations_per_second  of those that zt_set_operations counts. 0: not known
   source                 where these are from, such as "measured: copy of 256 MB". The first 63 bytes are
                          copied. NULL: "given by the program"
   Returns SUCCESS; INVALID_ARGUMENT for a negative number, infinity or NaN. Any thread. Since 0.1. */
ZT_API ze_result_t zt_set_peaks(zt_profiler *profiler, double bytes_per_second, double operations_per_second,
                                const char *source);

/* Sets how many operations a sample of a region does, such as 2.0 * m * n * k for a product of matrices.
   JSON and pages then have the operations a second of the region. They are not packed or merged.
   region      its name. It may begin later
   operations  0: not known
   Returns SUCCESS; INVALID_ARGUMENT for a negative number, infinity or NaN; OUT_OF_HOST_MEMORY. Any thread.
   Since 0.1. */
ZT_API ze_result_t zt_set_operations(zt_profiler *profiler, const char *region, double operations);

/* Benchmarks work. Warms up; then takes samples of the GPU time, without metrics, until one of the conditions
   of zt_bench_end holds; then runs the work with metrics, in all passes, which the profiler collects.
   With config.measure the profiler may be NULL.
   Returns SUCCESS; NOT_READY if a run gave no sample in four attempts. One thread. Since 0.1. */
ZT_API ze_result_t zt_bench(zt_profiler *profiler, const zt_bench_config *config, zt_bench_result *result);

/* Compares two variants: takes their samples in turn and computes the ratio of the medians with its interval.
   The limits are those of `a`, where config.precision is that of the ratio. No run has metrics.
   Returns as zt_bench. One thread. Since 0.1. */
ZT_API ze_result_t zt_compare(zt_profiler *profiler, const zt_bench_config *a, const zt_bench_config *b,
                              zt_comparison *result);

/* Writes results as a table for people, 80 columns wide: one, or a row for each of many. With the profiler
   that was benchmarked, it has as many metrics as fit, those first that show most; what adds up is in units a
   second. "95% +-" is the precision, "with counters" the perturbation.
   count        the number of results
   write, user  receive the text, as in zt_write
   Returns SUCCESS; UNKNOWN if `write` stopped it; OUT_OF_HOST_MEMORY. Any thread. Since 0.1. */
ZT_API ze_result_t zt_write_benches(const zt_profiler *profiler, const zt_bench_result *results,
                                    uint32_t count, zt_write_fn write, void *user);
ZT_API ze_result_t zt_write_bench(const zt_profiler *profiler, const zt_bench_result *result,
                                  zt_write_fn write, void *user);
ZT_API ze_result_t zt_write_comparison(const zt_comparison *result, zt_write_fn write, void *user);

/* Writes results to a file, as zt_report does.
   count  the number of results
   path   with .txt, a number or no suffix, the table of zt_write_benches. "-" is standard output, and then
   the table is as wide as the terminal. With .csv, a line for each result: a file to keep, which
          zt_compare_benches reads; see BENCHMARKS
   Returns SUCCESS; INVALID_ARGUMENT for another suffix; UNKNOWN if the file cannot be written. Any thread.
   Since 0.1. */
ZT_API ze_result_t zt_report_benches(const zt_profiler *profiler, const zt_bench_result *results,
                                     uint32_t count, const char *path);

/* Compares results with those of the same name that an earlier run has written to a file. If several have one
   name, the first of them is compared with the first, the second with the second, and so on.
   count    the number of results
   before   the file, which zt_report_benches wrote with the suffix .csv
   report   where a table of the changes goes, as for zt_report_benches, but not .csv. NULL: nowhere
   changes  receives how many benchmarks changed
   Returns SUCCESS; UNKNOWN if the file cannot be read, or the table not be written; UNSUPPORTED_VERSION for a
   newer layout; INVALID_SIZE if the file is cut off; INVALID_ARGUMENT if it is no such file, or damaged.
   zt_get_last_error(profiler) has the message. Any thread. Since 0.1. */
ZT_API ze_result_t zt_compare_benches(const zt_profiler *profiler, const zt_bench_result *results,
                                      uint32_t count, const char *before, const char *report,
                                      zt_bench_changes *changes);

/* Returns "precise", "noise", ...: never NULL. Any thread. Since 0.1. */
ZT_API const char *zt_bench_end_name(zt_bench_end end);

/* Adds the statistics and counts of one profiler to those of another. Both must measure the same metrics in
   the same passes. Samples in flight, the timeline and streamed metrics are not added; own times that depend
   on samples in flight are not known then. Neither collects meanwhile.
   Returns SUCCESS; INVALID_ARGUMENT if they do not measure the same, or are the same profiler; NOT_READY if
   other threads collected for the config.wait_timeout_ns of `into`; HANDLE_OBJECT_IN_USE inside the sample
   function of `into`. On failure no figure has changed, but `into` may have new regions without samples. Any
   thread. Since 0.1. */
ZT_API ze_result_t zt_merge(zt_profiler *into, const zt_profiler *from);

/* Writes all statistics and counts into a buffer; see PACKED STATISTICS. Nothing is collected meanwhile. What
   is collected between two calls may need more room in the second one.
   buffer  NULL: only `size` is stored
   size    the size of the buffer in bytes; receives the size that is needed
   Returns SUCCESS; INVALID_SIZE if the buffer is too small; NOT_READY if another thread collected for
   config.wait_timeout_ns. Any thread. Since 0.1. */
ZT_API ze_result_t zt_pack(const zt_profiler *profiler, void *buffer, size_t *size);

/* Makes a profiler of packed statistics. It has no device and measures nothing, but can be read, reported,
   merged, packed and closed.
   size      of the buffer in bytes
   config    of this, `log`, `allocator`, `columns` (else `metrics`) and `pass_tolerance` are used. NULL: the
             defaults
   profiler  receives the profiler; NULL on failure
   Returns SUCCESS; UNSUPPORTED_VERSION for another layout; INVALID_SIZE if the buffer is cut off;
   INVALID_ARGUMENT if it is damaged or claims what is impossible; OUT_OF_HOST_MEMORY also when 256 profilers
   are open. zt_get_last_error(NULL) has the message. Any thread. Since 0.1. */
ZT_API ze_result_t zt_unpack(const void *buffer, size_t size, const zt_config *config,
                             zt_profiler **profiler);

/* Writes a report to a file. It is written beside the file and then renamed, so that nobody reads an
   incomplete one. Symbolic links are followed; pipes and devices are written to directly.
   path  the suffix chooses the format: .html or .htm, .csv, .json, .trace.json, .prom (OpenMetrics) or
         .instances.csv, in upper or lower case; with .txt, a number or no suffix, the report is a table. "-"
         and "/dev/stdout" are a table on standard output, as wide as the terminal; other tables, such as
         that of "/dev/stderr", are 80 columns wide. Columns that config.columns asks for and that do not fit
         follow in a table below. See REPORTS
   Returns SUCCESS; INVALID_ARGUMENT for another suffix, or for a trace or instances without config.timeline;
   UNKNOWN if the file cannot be written: zt_get_last_error has the reason. Any thread. Since 0.1. */
ZT_API ze_result_t zt_report(const zt_profiler *profiler, const char *path);

/* Passes the bytes of a report to a function.
   write  is called with the next bytes and `user`, until it returns nonzero
   Returns SUCCESS; INVALID_ENUMERATION; INVALID_ARGUMENT for a trace or instances without config.timeline;
   UNKNOWN if `write` stopped it. Any thread. Since 0.1. */
ZT_API ze_result_t zt_write(const zt_profiler *profiler, zt_format format, zt_write_fn write, void *user);

/* Returns whether metrics are measured, and if not, why. Any thread. Since 0.1. */
ZT_API zt_availability zt_get_availability(const zt_profiler *profiler);

/* Returns the same as text, with the call that failed and what to do: never NULL. It lives as long as
   the profiler. Any thread. Since 0.1. */
ZT_API const char *zt_get_availability_text(const zt_profiler *profiler);

/* Returns the last message of a profiler, or "". NULL: that of this thread's last failure without a profiler
   or stream, such as of zt_open. The text is this thread's own copy, and valid until the thread calls the
   library again. Any thread. Since 0.1. */
ZT_API const char *zt_get_last_error(const zt_profiler *profiler);

/* Returns the result that belongs to that message, or SUCCESS. Any thread. Since 0.1. */
ZT_API ze_result_t zt_get_last_result(const zt_profiler *profiler);

/* Returns "ZE_RESULT_NOT_READY" for ZE_RESULT_NOT_READY, and so on: never NULL. Any thread. Since 0.1. */
ZT_API const char *zt_result_name(ze_result_t result);

/* Finds a metric group of a device by its name.
   type   a zet_metric_group_sampling_type_flags_t: event-based for regions, time-based for streams
   group  receives the group; NULL on failure
   Returns SUCCESS; INVALID_ARGUMENT if there is none, and zt_get_last_error(NULL) has the nearest names;
   otherwise the result of the call that failed. Any thread. Since 0.1. */
ZT_API ze_result_t zt_find_group(ze_device_handle_t device, const char *name, uint32_t type, zt_group *group);

/* Lists the metric groups of a device as text for people.
   metrics      not 0: with their metrics
   write, user  receive the text, as in zt_write
   Returns SUCCESS; DEPENDENCY_UNAVAILABLE if the driver's metric library is missing; UNKNOWN if `write`
   stopped it; otherwise the result of the call that failed. Any thread. Since 0.1. */
ZT_API ze_result_t zt_write_groups(ze_device_handle_t device, int metrics, zt_write_fn write, void *user);

/* ---- streams --------------------------------------------------------------------------------------------- */

/* Returns a configuration with every field at its default. Any thread. Since 0.1. */
ZT_API zt_stream_config zt_stream_config_default(void);

/* Opens a stream on a device or sub-device of an initialised driver, which begins to sample.
   config  NULL: the defaults
   stream  receives the stream; NULL on failure
   Returns SUCCESS; NOT_AVAILABLE or HANDLE_OBJECT_IN_USE if the counters are in use, and the message names by
   whom; INVALID_ARGUMENT if there is no such group, if it samples instructions instead of periods, or if the
   profiler has no timeline; INVALID_SIZE if config.memory_limit is too low; UNSUPPORTED_FEATURE for a root
   device of several tiles, and for a reader with ZETOOLS_NO_THREADS; DEPENDENCY_UNAVAILABLE if the driver's
   metric library is missing; otherwise the result of the call that failed. zt_get_last_error(NULL) has the
   message. Any thread, but not two threads for one device at once. Since 0.1. */
ZT_API ze_result_t zt_stream_open(ze_context_handle_t context, ze_device_handle_t device,
                                  const zt_stream_config *config, zt_stream **stream);

/* Delivers all rows that there are, and waits for the first if there is none.
   timeout_ns  how long it waits at the most, in nanoseconds; 0: not at all
   function    is called with each row and `user`. NULL: rows go to the attached profiler alone, or are
               discarded
   Returns SUCCESS; NOT_READY if there was no row in time; NOT_AVAILABLE if the stream is being closed;
   DEVICE_LOST; HANDLE_OBJECT_IN_USE inside a function that is called with rows; otherwise the result of the
   driver call that failed. Any thread; one reads while others wait. Since 0.1. */
ZT_API ze_result_t zt_stream_read(zt_stream *stream, uint64_t timeout_ns, zt_row_fn function, void *user);

/* Appends a marker to a command list. The stream must still be open when the list is executed.
   name  is copied. NULL and "" are shown as "(unnamed)". Up to 4096 different names
   Returns SUCCESS; UNSUPPORTED_FEATURE if the group has no metric for markers, or no name can be added;
   otherwise the result of the driver call that failed. Any thread that may use the list. Since 0.1. */
ZT_API ze_result_t zt_stream_mark(zt_stream *stream, ze_command_list_handle_t list, const char *name);

/* Ends reads that wait, delivers what is left, and frees the stream. An attached profiler keeps its rows.
   function  as for zt_stream_read
   Returns the final counts. If a read does not end in 10 seconds, or if it is called from a function that is
   called with rows or from the stream's log function, the stream stays open, and a message reports this. One
   thread. Since 0.1. */
ZT_API zt_stream_counts zt_stream_close(zt_stream *stream, zt_row_fn function, void *user);

/* Returns what the stream was opened with. Any thread. Since 0.1. */
ZT_API zt_stream_info zt_stream_get_info(const zt_stream *stream);

/* Returns how many reports there are in each state. Any thread. Since 0.1. */
ZT_API zt_stream_counts zt_stream_get_counts(const zt_stream *stream);

/* Returns the number of metrics of a row. It does not change. Any thread. Since 0.1. */
ZT_API uint32_t zt_stream_get_metric_count(const zt_stream *stream);

/* Returns a metric by its index, or NULL if that is too high. Any thread. Since 0.1. */
ZT_API const zt_metric *zt_stream_get_metric(const zt_stream *stream, uint32_t metric);

/* Returns the index of a metric by its name, or UINT32_MAX; then zt_stream_get_last_error has the nearest
   names. Any thread. Since 0.1. */
ZT_API uint32_t zt_stream_find_metric(const zt_stream *stream, const char *name);

/* As zt_get_last_error. Any thread. Since 0.1. */
ZT_API const char *zt_stream_get_last_error(const zt_stream *stream);

/* As zt_get_last_result. Any thread. Since 0.1. */
ZT_API ze_result_t zt_stream_get_last_result(const zt_stream *stream);

/* Returns the number of metrics of all streams that are, or were, attached to it. Any thread. Since 0.1. */
ZT_API uint32_t zt_get_streamed_count(const zt_profiler *profiler);

/* Returns a streamed metric by its index, or NULL if that is too high. Any thread. Since 0.1. */
ZT_API const zt_metric *zt_get_streamed_metric(const zt_profiler *profiler, uint32_t metric);

/* Gets the mean and peak of a streamed metric in a region, over those collected samples that ended before the
   last row that was read. Any thread. Since 0.1. */
ZT_API ze_result_t zt_get_streamed(const zt_profiler *profiler, uint32_t region, uint32_t metric,
                                   zt_streamed *streamed);

/* Returns what the timeline holds. Any thread. Since 0.1. */
ZT_API zt_timeline_info zt_get_timeline(const zt_profiler *profiler);

#ifdef ZETOOLS_TRACER

/* ==== interface: the tracer =============================================================================== */

/* Returns a configuration with every field at its default. Any thread. Since 0.1. */
ZT_API zt_trace_config zt_trace_config_default(void);

/* Starts tracing; see TRACING.
   config  NULL: the defaults. ZT_KERNELS, ZT_COPIES and ZT_CALLS override it
   Returns SUCCESS; DEPENDENCY_UNAVAILABLE if the loader's tracing layer is off; INVALID_ARGUMENT if
   config.calls or a hook names a call that cannot be traced; INVALID_SIZE for more than 16 hooks; NOT_READY
   if a call of an earlier trace is still in progress; HANDLE_OBJECT_IN_USE if the profiler traces already,
   and inside a hook of any profiler.
   Any thread, but not two threads for one profiler at once. Since 0.1. */
ZT_API ze_result_t zt_trace_start(zt_profiler *profiler, const zt_trace_config *config);

/* Stops tracing, and waits for traced calls that other threads have in progress, up to
   config.wait_timeout_ns. What was measured stays. Lists that were recorded may still be executed,
   with zt_execute.
   Returns SUCCESS, after which no hook runs any more; NOT_READY if a call did not end in time, which is then
   traced to its end; HANDLE_OBJECT_IN_USE inside a hook. Any thread. Since 0.1. */
ZT_API ze_result_t zt_trace_stop(zt_profiler *profiler);

/* Returns how many launches were appended since the first start. Any thread. Since 0.1. */
ZT_API zt_trace_counts zt_trace_get_counts(const zt_profiler *profiler);

/* Returns the number of different calls that were timed so far. Any thread. Since 0.1. */
ZT_API uint32_t zt_get_call_count(const zt_profiler *profiler);

/* Gets a call by its index. Calls are in the order in which they were first made. Median and 95th percentile
   are exact up to 512 times. Any thread. Since 0.1. */
ZT_API ze_result_t zt_get_call(const zt_profiler *profiler, uint32_t call, zt_call_info *info);

/* Returns a configuration with every field at its default. Any thread. Since 0.1. */
ZT_API zt_auto_config zt_auto_config_default(void);

/* Traces from now to the end of the process, and reports at exit. Calls zeInit. Does nothing if it was
   called before, or if ZT_AUTO switches it off. A failure is also printed on standard error. If a report
   cannot be written, a message and the table go to standard error, and zt_get_last_error(NULL) has the
   message for functions that run at exit later. A report without a region is followed by what was seen and
   not measured: below a table on standard output or error, else on standard error.
   config  NULL: the defaults. ZT_KERNELS, ZT_COPIES, ZT_CALLS and other variables override it
   Returns SUCCESS; INVALID_ARGUMENT if the suffix of a report stands for no format; otherwise the result of
   zeInit, or as zt_trace_start. One thread. Since 0.1. */
ZT_API ze_result_t zt_auto(const zt_auto_config *config);

#endif /* ZETOOLS_TRACER */

#else /* ZETOOLS_DISABLE */

/* ==== interface, disabled ================================================================================= */

/* Each function returns what stands for nothing, and fills in empty structures. */

#ifdef ZT__HAVE_LEVEL_ZERO
#define ZT__RESULT ze_result_t
#else
#define ZT__RESULT int
#endif
#define ZT__SUCCESS ((ZT__RESULT)0)
#define ZT__OFF static inline ZT__UNUSED

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif

ZT__OFF ZT__RESULT zt__clear(void *memory, size_t size) {
    unsigned char *byte = (unsigned char *)memory;
    while (size-- > 0) {
        *byte++ = 0;
    }
    return ZT__SUCCESS;
}

#define ZT__CLEAR(out) zt__clear(out, (out) ? sizeof *(out) : 0)
#define ZT__EMPTY(type)                                                                                      \
    {                                                                                                        \
        type empty;                                                                                          \
        zt__clear(&empty, sizeof empty);                                                                     \
        return empty;                                                                                        \
    }

/* clang-format off */
ZT__OFF const char *zt_version(void) { return ZETOOLS_VERSION; }
ZT__OFF zt_config zt_config_default(void) ZT__EMPTY(zt_config)
ZT__OFF ZT__RESULT zt_open(const void *context, const void *device, const zt_config *config,
    zt_profiler **profiler) { return ZT__CLEAR(profiler); }
ZT__OFF void zt_close(zt_profiler *profiler) {}
ZT__OFF zt_region zt_begin(zt_profiler *profiler, const void *list, const char *name) ZT__EMPTY(zt_region)
ZT__OFF void zt_end(zt_region *region) {}
ZT__OFF ZT__RESULT zt_collect(zt_profiler *profiler, uint64_t timeout_ns) { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_release(zt_profiler *profiler, const void *list) { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_name_list(zt_profiler *profiler, const void *list, const char *name)
    { return ZT__SUCCESS; }
ZT__OFF uint32_t zt_get_pass_count(const zt_profiler *profiler) { return 1; }
ZT__OFF ZT__RESULT zt_get_pass(const zt_profiler *profiler, uint32_t region, uint32_t pass, zt_stats *time_ns)
    { return ZT__CLEAR(time_ns); }
ZT__OFF zt_passes zt_passes_begin(zt_profiler *profiler) ZT__EMPTY(zt_passes)
ZT__OFF int zt_passes_next(zt_passes *passes) { return passes->runs++ == 0; }
ZT__OFF void zt_passes_end(zt_passes *passes) {}
ZT__OFF uint32_t zt_get_tile_count(const zt_profiler *profiler) { return 0; }
ZT__OFF ZT__RESULT zt_get_tile_stats(const zt_profiler *profiler, uint32_t region, uint32_t tile,
    uint32_t metric, zt_stats *stats) { return ZT__CLEAR(stats); }
ZT__OFF zt_counts zt_get_counts(const zt_profiler *profiler) ZT__EMPTY(zt_counts)
ZT__OFF uint64_t zt_get_cause(const zt_profiler *profiler, zt_cause cause) { return 0; }
ZT__OFF const char *zt_cause_name(zt_cause cause) { return ""; }
ZT__OFF uint32_t zt_get_region_count(const zt_profiler *profiler) { return 0; }
ZT__OFF uint32_t zt_get_metric_count(const zt_profiler *profiler) { return 0; }
ZT__OFF const zt_metric *zt_get_metric(const zt_profiler *profiler, uint32_t metric) { return NULL; }
ZT__OFF uint32_t zt_find_metric(const zt_profiler *profiler, const char *name) { return UINT32_MAX; }
ZT__OFF ZT__RESULT zt_get_region(const zt_profiler *profiler, uint32_t region, zt_region_info *info)
    { ZT__CLEAR(info); if (info) { info->name = ""; info->parent = UINT32_MAX; } return ZT__SUCCESS; }
ZT__OFF uint32_t zt_get_path_count(const zt_profiler *profiler) { return 0; }
ZT__OFF ZT__RESULT zt_get_path(const zt_profiler *profiler, uint32_t path, zt_path_info *info)
    { ZT__CLEAR(info); if (info) { info->parent = UINT32_MAX; } return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_get_stats(const zt_profiler *profiler, uint32_t region, uint32_t metric,
    zt_stats *stats) { return ZT__CLEAR(stats); }
ZT__OFF double zt_get_rate(const zt_profiler *profiler, uint32_t region, uint32_t metric) { return 0; }
ZT__OFF ZT__RESULT zt_get_limit(const zt_profiler *profiler, uint32_t region, zt_limit_info *info)
    { return ZT__CLEAR(info); }
ZT__OFF const char *zt_limit_name(zt_limit limit) { return ""; }
ZT__OFF ZT__RESULT zt_set_peaks(zt_profiler *profiler, double bytes_per_second, double operations_per_second,
    const char *source) { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_set_operations(zt_profiler *profiler, const char *region, double operations)
    { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_bench(zt_profiler *profiler, const zt_bench_config *config, zt_bench_result *result)
    { ZT__CLEAR(result); if (result) { result->region = UINT32_MAX; } return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_compare(zt_profiler *profiler, const zt_bench_config *a, const zt_bench_config *b,
    zt_comparison *result) { return ZT__CLEAR(result); }
ZT__OFF ZT__RESULT zt_write_benches(const zt_profiler *profiler, const zt_bench_result *results,
    uint32_t count, zt_write_fn write, void *user) { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_write_bench(const zt_profiler *profiler, const zt_bench_result *result,
    zt_write_fn write, void *user) { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_write_comparison(const zt_comparison *result, zt_write_fn write, void *user)
    { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_report_benches(const zt_profiler *profiler, const zt_bench_result *results,
    uint32_t count, const char *path) { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_compare_benches(const zt_profiler *profiler, const zt_bench_result *results,
    uint32_t count, const char *before, const char *report, zt_bench_changes *changes)
    { return ZT__CLEAR(changes); }
ZT__OFF const char *zt_bench_end_name(zt_bench_end end) { return ""; }
ZT__OFF ZT__RESULT zt_merge(zt_profiler *into, const zt_profiler *from) { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_pack(const zt_profiler *profiler, void *buffer, size_t *size)
    { return ZT__CLEAR(size); }
ZT__OFF ZT__RESULT zt_unpack(const void *buffer, size_t size, const zt_config *config, zt_profiler **profiler)
    { return ZT__CLEAR(profiler); }
ZT__OFF ZT__RESULT zt_report(const zt_profiler *profiler, const char *path) { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_write(const zt_profiler *profiler, zt_format format, zt_write_fn write, void *user)
    { return ZT__SUCCESS; }
ZT__OFF zt_availability zt_get_availability(const zt_profiler *profiler) { return ZT_AVAILABILITY_UNKNOWN; }
ZT__OFF const char *zt_get_availability_text(const zt_profiler *profiler) { return ""; }
ZT__OFF const char *zt_get_last_error(const zt_profiler *profiler) { return ""; }
ZT__OFF ZT__RESULT zt_get_last_result(const zt_profiler *profiler) { return ZT__SUCCESS; }
ZT__OFF const char *zt_result_name(int result) { return ""; }
ZT__OFF ZT__RESULT zt_find_group(const void *device, const char *name, uint32_t type, zt_group *group)
    { return ZT__CLEAR(group); }
ZT__OFF ZT__RESULT zt_write_groups(const void *device, int metrics, zt_write_fn write, void *user)
    { return ZT__SUCCESS; }
ZT__OFF zt_stream_config zt_stream_config_default(void) ZT__EMPTY(zt_stream_config)
ZT__OFF ZT__RESULT zt_stream_open(const void *context, const void *device, const zt_stream_config *config,
    zt_stream **stream) { return ZT__CLEAR(stream); }
ZT__OFF ZT__RESULT zt_stream_read(zt_stream *stream, uint64_t timeout_ns, zt_row_fn function, void *user)
    { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_stream_mark(zt_stream *stream, const void *list, const char *name)
    { return ZT__SUCCESS; }
ZT__OFF zt_stream_counts zt_stream_close(zt_stream *stream, zt_row_fn function, void *user)
    ZT__EMPTY(zt_stream_counts)
ZT__OFF zt_stream_info zt_stream_get_info(const zt_stream *stream)
    { zt_stream_info empty; zt__clear(&empty, sizeof empty); empty.group = ""; return empty; }
ZT__OFF zt_stream_counts zt_stream_get_counts(const zt_stream *stream) ZT__EMPTY(zt_stream_counts)
ZT__OFF uint32_t zt_stream_get_metric_count(const zt_stream *stream) { return 0; }
ZT__OFF const zt_metric *zt_stream_get_metric(const zt_stream *stream, uint32_t metric) { return NULL; }
ZT__OFF uint32_t zt_stream_find_metric(const zt_stream *stream, const char *name) { return UINT32_MAX; }
ZT__OFF const char *zt_stream_get_last_error(const zt_stream *stream) { return ""; }
ZT__OFF ZT__RESULT zt_stream_get_last_result(const zt_stream *stream) { return ZT__SUCCESS; }
ZT__OFF uint32_t zt_get_streamed_count(const zt_profiler *profiler) { return 0; }
ZT__OFF const zt_metric *zt_get_streamed_metric(const zt_profiler *profiler, uint32_t metric) { return NULL; }
ZT__OFF ZT__RESULT zt_get_streamed(const zt_profiler *profiler, uint32_t region, uint32_t metric,
    zt_streamed *streamed) { return ZT__CLEAR(streamed); }
ZT__OFF zt_timeline_info zt_get_timeline(const zt_profiler *profiler) ZT__EMPTY(zt_timeline_info)
#ifdef ZETOOLS_TRACER
ZT__OFF zt_trace_config zt_trace_config_default(void) ZT__EMPTY(zt_trace_config)
ZT__OFF ZT__RESULT zt_trace_start(zt_profiler *profiler, const zt_trace_config *config)
    { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_trace_stop(zt_profiler *profiler) { return ZT__SUCCESS; }
ZT__OFF zt_trace_counts zt_trace_get_counts(const zt_profiler *profiler) ZT__EMPTY(zt_trace_counts)
ZT__OFF uint32_t zt_get_call_count(const zt_profiler *profiler) { return 0; }
ZT__OFF ZT__RESULT zt_get_call(const zt_profiler *profiler, uint32_t call, zt_call_info *info)
    { ZT__CLEAR(info); if (info) { info->name = ""; } return ZT__SUCCESS; }
ZT__OFF zt_auto_config zt_auto_config_default(void) ZT__EMPTY(zt_auto_config)
ZT__OFF ZT__RESULT zt_auto(const zt_auto_config *config) { return ZT__SUCCESS; }
#endif
/* clang-format on */

#define zt_execute(profiler, queue, count, lists, fence)                                                     \
    ((void)sizeof(profiler), zeCommandQueueExecuteCommandLists(queue, count, lists, fence))
#define zt_reset(profiler, list) ((void)sizeof(profiler), zeCommandListReset(list))

#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#endif /* ZETOOLS_DISABLE */

/* ==== regions that end by themselves ===================================================================== */

/* ZT_REGION(profiler, list, name) statement
       makes a region of the statement. In C++ and GNU C it ends however the statement is left: at its end, by
       break, goto, return or an exception. In ISO C, return and goto leave it open. `break` and `continue`
       leave the statement alone, and not a loop around it. Since 0.1.
   ZT_SCOPE(profiler, list, name);
       makes a region of the rest of the block, in C++ and GNU C. Since 0.1.
   ZT_PASSES(profiler) statement
       runs the statement once in each pass; once where nothing has to be repeated. `break` leaves it and
       returns to the first pass; in ISO C only its end does. Not to be nested. One thread. Since 0.1. */

#define ZT__JOIN2(a, b) a##b
#define ZT__JOIN(a, b) ZT__JOIN2(a, b)
#ifdef __COUNTER__ /* for several regions on one line */
#define ZT__NAME(prefix) ZT__JOIN(prefix, __COUNTER__)
#else
#define ZT__NAME(prefix) ZT__JOIN(prefix, __LINE__)
#endif

#ifndef ZETOOLS_DISABLE
/* Without a profiler, a region costs one comparison. */
static inline ZT__UNUSED zt_region zt__open_region(zt_profiler *profiler, ze_command_list_handle_t list,
                                                   const char *name) {
    static const zt_region none = {NULL, 0, 0, 0};
    return profiler ? zt_begin(profiler, list, name) : none;
}
static inline ZT__UNUSED void zt__close_region(zt_region *region) {
    if (region->slot)
        zt_end(region);
}
#endif

/* Makes the statement of a ZT_REGION run once, measured or not. */
static inline ZT__UNUSED int zt__begin_body(zt_region *region) {
    return region->body++ == 0;
}

#ifdef ZETOOLS_DISABLE
#define ZT__PASSES(once, profiler) for (int once = ((void)sizeof(profiler), 1); once; once = 0)
#define ZT_PASSES(profiler) ZT__PASSES(ZT__NAME(zt__once), profiler)
#define ZT__REGION(once, profiler, list, name)                                                               \
    for (int once = ((void)sizeof(profiler), (void)sizeof(list), (void)sizeof(name), 1); once; once = 0)
#define ZT_REGION(profiler, list, name) ZT__REGION(ZT__NAME(zt__once), profiler, list, name)
#define ZT_SCOPE(profiler, list, name) ((void)sizeof(profiler), (void)sizeof(list), (void)sizeof(name))
#elif defined(__cplusplus)
#define ZT__REGION(scope, profiler, list, name)                                                              \
    for (zt_scope scope(profiler, list, name); zt__begin_body(&scope.region);)
#define ZT_REGION(profiler, list, name) ZT__REGION(ZT__NAME(zt__region), profiler, list, name)
#define ZT_SCOPE(profiler, list, name) zt_scope ZT__NAME(zt__scope)(profiler, list, name)
#define ZT__PASSES(passes, profiler) for (zt__all_passes passes(profiler); zt_passes_next(&passes.state);)
#define ZT_PASSES(profiler) ZT__PASSES(ZT__NAME(zt__passes), profiler)
#elif defined(__GNUC__)
#define ZT__GUARD __attribute__((cleanup(zt__close_region)))
#define ZT__REGION(region, profiler, list, name)                                                             \
    for (zt_region region ZT__GUARD = zt__open_region(profiler, list, name); zt__begin_body(&region);)
#define ZT_REGION(profiler, list, name) ZT__REGION(ZT__NAME(zt__region), profiler, list, name)
#define ZT_SCOPE(profiler, list, name)                                                                       \
    zt_region ZT__NAME(zt__scope)                                                                            \
    ZT__GUARD ZT__UNUSED = zt__open_region(profiler, list, name)
#define ZT__PASSES(passes, profiler)                                                                         \
    for (zt_passes passes __attribute__((cleanup(zt_passes_end))) = zt_passes_begin(profiler);               \
         zt_passes_next(&passes);)
#define ZT_PASSES(profiler) ZT__PASSES(ZT__NAME(zt__passes), profiler)
#else
#define ZT__PASSES(passes, profiler)                                                                         \
    for (zt_passes passes = zt_passes_begin(profiler); zt_passes_next(&passes);)
#define ZT_PASSES(profiler) ZT__PASSES(ZT__NAME(zt__passes), profiler)
/* `break` leaves the inner loop. */
#define ZT__REGION(region, profiler, list, name)                                                             \
    for (zt_region region = zt__open_region(profiler, list, name); region.body == 0;                         \
         zt__close_region(&region))                                                                          \
        for (; zt__begin_body(&region);)
#define ZT_REGION(profiler, list, name) ZT__REGION(ZT__NAME(zt__region), profiler, list, name)
#endif

#ifdef __cplusplus
} /* extern "C" */

#ifndef ZETOOLS_DISABLE
/* A region that lasts as long as the object. It cannot be copied or moved. Since 0.1. */
struct zt_scope {
    zt_region region;
    zt_scope(zt_profiler *profiler, ze_command_list_handle_t list, const char *name)
        : region(zt__open_region(profiler, list, name)) {}
    ~zt_scope() { zt__close_region(&region); }
    zt_scope(const zt_scope &) = delete;
    zt_scope &operator=(const zt_scope &) = delete;
};

/* ZT_PASSES in C++. */
struct zt__all_passes {
    zt_passes state;
    explicit zt__all_passes(zt_profiler *profiler) : state(zt_passes_begin(profiler)) {}
    ~zt__all_passes() { zt_passes_end(&state); }
    zt__all_passes(const zt__all_passes &) = delete;
    zt__all_passes &operator=(const zt__all_passes &) = delete;
};
#else
/* Has a name of its own, because a program may link files with and without ZETOOLS_DISABLE. */
struct zt__disabled_scope {
    zt__disabled_scope(const zt_profiler *, const void *, const char *) {}
    ~zt__disabled_scope() {}
    zt__disabled_scope(const zt__disabled_scope &) = delete;
    zt__disabled_scope &operator=(const zt__disabled_scope &) = delete;
};
typedef zt__disabled_scope zt_scope;
#endif
#endif

#endif /* ZETOOLS_H */

/* ==========================================================================================================
   IMPLEMENTATION
   ==========================================================================================================

   CHAPTERS


       Each chapter is one capability: its types, its private functions, then its public functions. It uses
       only chapters before it. Where it has to call a later one, the later one registers a function when it
       opens. Only >>requests calls public functions of a later chapter, zt_report and zt_write, because
       zt_close writes the reports that ZT_REPORT names. Search for the tags:

           >>platform     all that differs between systems and compilers
           >>memory       the application's allocator, and the one hash table
           >>text         lists of names, patterns, UTF-8, writers, paragraphs
           >>tables       tables for people
           >>process      what all copies of this header in a process share
           >>diagnostics  names of results, and the list of messages
           >>driver       functions that a loader may not have
           >>groups       metric groups: look-up, selection, activation, calculation
           >>statistics   moments of all samples, quantiles from some
           >>profiler     what a profiler is made of: slots, lists, names, passes
           >>collecting   reading what is ready; zt_collect
           >>regions      zt_begin, zt_end, zt_release, zt_reset, zt_execute
           >>passes       ZT_PASSES
           >>results      what was measured, as numbers
           >>merging      zt_merge, zt_pack, zt_unpack
           >>timeline     device time and host time, kept samples, streamed metrics of regions
           >>advice       which metrics matter, and what limits a region
           >>requests     ZT_REPORT, and lists of reports
           >>opening      zt_open, zt_close
           >>streams      sampling by the clock
           >>tracer       regions around the launches of others (ZETOOLS_TRACER)
           >>openmetrics  figures for Prometheus, as OpenMetrics text
           >>reports      what reports have in common: regions, read one at a time
           >>csv          run.csv
           >>json         run.json, and the data of run.html
           >>region_table the table
           >>trace_file   run.trace.json, for Perfetto and Chrome
           >>page         the page that run.html is
           >>writing      zt_write, zt_report: formats and files
           >>bench        zt_bench, zt_compare, zt_compare_benches
           >>automatic    zt_auto: tracing that reports at exit (ZETOOLS_TRACER)

   LOCKS

       lock                          guards                               held during        locked
                                                                          driver  callbacks
                                                                          calls
       collector, of a profiler      reading, calculating and delivering  yes     yes        first
                                     samples
       reader, of a stream           reading, calculating and delivering  yes     yes        first
                                     rows
       mutex, of a profiler or       bookkeeping: names, lists, slots,    no      no         second
       a stream                      counts, statistics, rings of rows
       mutex, of the process         activation and calculation           yes     no         last
       setup, of a copy of this      finding what all copies share        no      no         last
       header
       mutex, of a thread or of      waking, starting and stopping the    no      no         last
       the list of threads           library's own threads

       The chapter >>tracer lists the locks of the tracer.

       A callback is a function of the application; see CALLBACKS. The collector and the reader know the
       thread that holds them. So what a callback calls does not wait for its own thread: it skips collecting,
       or returns HANDLE_OBJECT_IN_USE. A callback under the collector may read a stream, and one under a
       reader may collect. So there is no order between the two, and a thread that waits for one of them has
       a deadline.

       No thread holds two of these mutexes at a time. All but that of the process are held briefly; at exit
       alone, the list of threads stays locked while they are stopped. Memory is allocated and messages are
       logged without a mutex, because allocators and log functions are callbacks.

   THE LIFE OF A SLOT

       A slot is what one sample in flight needs: a query for each metric group, an event, time stamps. Only
       zt__move_slot changes its state, as the table zt__transitions allows:

       state     means                                       goes to
       FREE      bound to no list; event and queries are     OPEN by zt_begin (begun + 1)
                 reset
       OPEN      begun                                       PENDING by zt_end on an immediate list,
                                                             RECORDED on another; when it is dropped,
                                                             PARTIAL if it has commands on the list, else
                                                             FREE
       RECORDED  ended on a recorded list; no execution      PENDING by zt_execute; READING; FREE when it is
                 is known                                    over and never ran, or in zt_close where it
                                                             cannot be running (begun - 1)
       PENDING   an execution is on its way                  READING; when the driver refuses the execution,
                                                             back to RECORDED, or to ARMED (begun - 1)
       READING   used by the collector alone                 back where it came from when it is not ready;
                                                             FREE when it is over; ARMED when it may run
                                                             again; PARTIAL when it may run again and is
                                                             incomplete or not reset; RECORDED, then FREE,
                                                             when it was PENDING and is not on its list any
                                                             more; RETIRED when it is over and cannot be
                                                             reset, or the device may still write to it
       ARMED     read and reset; its list may run again      PENDING by zt_execute (begun + 1); READING, as
                                                             its list may run without zt_execute; FREE when
                                                             it is over
       PARTIAL   its commands are incomplete, or it is not   READING, to be reset, when it is finished or
                 reset: its data is never read               its event may have signalled
       RETIRED   never used again: it cannot be reset, or    -
                 the device may still write to it

       `begun` is zt_counts.begun. A tracer does what zt_execute does for the executions that it sees.

       A slot also becomes RETIRED when it is the first of its pass and a trial of its query fails (from
       FREE), and in zt_close when the device may still write to it (from OPEN, PENDING, PARTIAL or, with
       begun - 1, RECORDED).

       Where the driver refuses a command of a region, those before it are on the list. A barrier that signals
       the event of the slot follows them. So the event shows when the device is done with them, as it does
       for a region that is complete, unless the driver refuses the barrier, too.

       A list numbers its slots as they end. Two of these numbers decide when a slot may be used again.

       A slot is OVER when its commands can never run again: all slots up to `over_up_to`. Only the following
       raises it:

       - The list is immediate, and the event of a slot has signalled: to the number of that slot.
       - zt_release, zt_reset or the tracer reports that the list is destroyed or reset: to the newest slot.
       - The handle of the list comes back as a list of another kind: to the newest slot.
       - A region is begun on the list: to the newest slot whose event has signalled, or that zt_execute has
         submitted. Later slots may belong to the recording that goes on.

       A slot is FINISHED when the device is done with its last execution: all slots up to
       `finished_up_to`. zt_execute sets this to 0, and only the following raises it:

       - The event of a PENDING slot, or of a PARTIAL one that was submitted, has signalled: to the number of
         that slot, since the end of a region waits for all commands before it. Not if executions overlap or
         the list also runs without zt_execute: then the event may be that of another execution.
       - A region is begun on a recorded list: to the newest slot that is over, since a list is reset only
         when the device is done with it. If the list is or may be immediate: to the newest slot whose event
         has signalled, or that zt_execute has submitted.
       - The handle of the list comes back as a list of another kind, or all slots of the list are over and
         none is on its way: to the newest slot.

       A slot of a recorded list that is PENDING and finished, and whose event has not signalled, never ran:
       it belongs to a recording that was reset.

       A slot is used again on no weaker grounds.

   PATHS

       A list knows its innermost open slot, and an open slot the one around it, so zt_begin knows where a
       region is. A path is a region inside a path. A slot keeps its path for all its executions, because
       commands that are nested once stay so.

       A path adds up the GPU times of its samples, and counts in `missing` those that were begun and not
       collected. Both follow from the transitions of slots. The own time of a path is its sum less those of
       the paths directly inside. That is right if all have the samples of the same executions, so it is known
       only if none is missing. Executions that zt_execute does not announce are counted as they are seen.
       From the second one of a slot on, some may not have been seen, so that one sample more is missing for
       good. */

#if defined(ZETOOLS_IMPLEMENTATION) && !defined(ZETOOLS_DISABLE) && !defined(ZT__IMPLEMENTED)
#define ZT__IMPLEMENTED

#if defined(ZETOOLS_TRACER) && !defined(ZT__TRACER_DECLARED)
#error "ZETOOLS_TRACER came too late: define it before zetools.h is included for the first time in this file"
#endif

#include <level_zero/zes_api.h>
#include <level_zero/zet_api.h>
#ifdef ZETOOLS_TRACER
#include <level_zero/layers/zel_tracing_api.h>
#include <level_zero/layers/zel_tracing_register_cb.h>
#endif

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* NaN stands for what was not measured. With -ffast-math the compiler assumes that there is none. For gcc it
   is enough that zt__is_nan() tests the bits; clang also needs the pragma below. From version 18 on, clang
   even assumes that no argument of a function is NaN, unless it gets the options in the message. */
#if defined(__clang_major__) && __clang_major__ >= 18 && defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
#error                                                                                                       \
    "zetools.h: -ffast-math needs -fhonor-nans -fhonor-infinities beside it, where ZETOOLS_IMPLEMENTATION is"
#endif

#if defined(__clang__)
#pragma float_control(precise, on, push)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ==== >>platform: all that differs between systems and compilers ========================================== */

/* Private functions carry this attribute, because no configuration uses all of them. */
#define ZT__PRIVATE static ZT__UNUSED

#define ZT__THREAD_LOCAL __thread

#define ZT__COUNT_OF(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

/* In strict ISO modes, or for an early POSIX, the C library does not declare what follows. C++ compilers
   always define _GNU_SOURCE. */
#ifndef CLOCK_MONOTONIC
#define CLOCK_MONOTONIC 1
#endif
#ifndef CLOCK_THREAD_CPUTIME_ID
#define CLOCK_THREAD_CPUTIME_ID 3
#endif
#ifdef SIG_SETMASK
typedef sigset_t zt__signal_set;
#else
#define SIG_SETMASK 2
typedef struct zt__signal_set {
    unsigned long words[1024 / (8 * sizeof(unsigned long))];
} zt__signal_set;
#endif
#ifndef __cplusplus
int clock_gettime(int clock, struct timespec *now);
int nanosleep(const struct timespec *wanted, struct timespec *left);
int setenv(const char *name, const char *value, int overwrite);
int pthread_condattr_setclock(pthread_condattr_t *attributes, int clock);
int sigfillset(zt__signal_set *set);
int pthread_sigmask(int how, const zt__signal_set *set, zt__signal_set *before);
ssize_t readlink(const char *path, char *target, size_t size);
#endif

/* ---- time ------------------------------------------------------------------------------------------------ */

ZT__PRIVATE uint64_t zt__clock_ns(int clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

ZT__PRIVATE uint64_t zt__now_ns(void) {
    return zt__clock_ns(CLOCK_MONOTONIC);
}

ZT__PRIVATE struct timespec zt__to_timespec(uint64_t ns) {
    struct timespec time;
    time.tv_sec = (time_t)(ns / 1000000000u);
    time.tv_nsec = (long)(ns % 1000000000u);
    return time;
}

/* The time `timeout_ns` from now, without overflow. */
ZT__PRIVATE uint64_t zt__deadline(uint64_t timeout_ns) {
    uint64_t now = zt__now_ns();
    return timeout_ns > UINT64_MAX - now ? UINT64_MAX : now + timeout_ns;
}

/* A wait with a deadline for something that has to be polled. Most waits are for a short kernel, and a sleep
   takes longer than that. So the first polls follow each other without a sleep. */
typedef struct zt__wait {
    uint64_t deadline;
    uint64_t spin_until; /* 0 before the first poll */
    uint64_t sleep_ns;   /* length of the next sleep */
} zt__wait;

ZT__PRIVATE zt__wait zt__wait_until(uint64_t deadline) {
    zt__wait wait = {deadline, 0, 10000};
    return wait;
}

/* Spins or sleeps before the next poll. Returns 0 when the deadline has passed. */
ZT__PRIVATE int zt__wait_again(zt__wait *wait) {
    enum { SPIN_NS = 40000, LONGEST_SLEEP_NS = 1000000 };
    uint64_t now = zt__now_ns(), left;
    struct timespec sleep;
    if (now >= wait->deadline) {
        return 0;
    }
    if (!wait->spin_until) {
        wait->spin_until = now + SPIN_NS;
    }
    if (now < wait->spin_until) {
        return 1;
    }
    left = wait->deadline - now;
    sleep = zt__to_timespec(wait->sleep_ns < left ? wait->sleep_ns : left);
    nanosleep(&sleep, NULL);
    wait->sleep_ns *= 2;
    if (wait->sleep_ns > LONGEST_SLEEP_NS) {
        wait->sleep_ns = LONGEST_SLEEP_NS;
    }
    return 1;
}

/* ---- locks ----------------------------------------------------------------------------------------------- */

typedef pthread_mutex_t zt__mutex;

ZT__PRIVATE void zt__lock(zt__mutex *mutex) {
    pthread_mutex_lock(mutex);
}

ZT__PRIVATE void zt__unlock(zt__mutex *mutex) {
    pthread_mutex_unlock(mutex);
}

#define zt__load(pointer) __atomic_load_n(pointer, __ATOMIC_ACQUIRE)
#define zt__store(pointer, value) __atomic_store_n(pointer, value, __ATOMIC_RELEASE)

/* A mutex that can be locked with a deadline, and that knows which thread holds it: callbacks run while it is
   held, and what they call must not lock it again. */
typedef struct zt__timed_mutex {
    zt__mutex mutex;
    uintptr_t owner; /* the thread, or 0. Atomic */
} zt__timed_mutex;

/* Identifies the calling thread, in the same way in every copy of this header. */
ZT__PRIVATE uintptr_t zt__this_thread(void) {
    return (uintptr_t)pthread_self();
}

/* This thread's number in the system; 0: not read yet. */
static ZT__THREAD_LOCAL uint32_t zt__system_thread;

/* Returns the number that the system gives the calling thread, which debuggers and other tracers show.
   Returns 0 if /proc is not there. */
ZT__PRIVATE uint32_t zt__get_system_thread(void) {
    if (!zt__system_thread) {
        char path[64]; /* "PROCESS/task/THREAD" */
        ssize_t length = readlink("/proc/thread-self", path, sizeof path - 1);
        const char *number;
        path[length > 0 ? length : 0] = 0;
        number = strrchr(path, '/');
        zt__system_thread = number ? (uint32_t)strtoul(number + 1, NULL, 10) : 0;
    }
    return zt__system_thread;
}

ZT__PRIVATE int zt__is_owner(const zt__timed_mutex *timed) {
    return zt__load(&timed->owner) == zt__this_thread();
}

/* Returns 0 if any thread holds it, this one included. */
ZT__PRIVATE int zt__try_lock(zt__timed_mutex *timed) {
    if (zt__is_owner(timed) || pthread_mutex_trylock(&timed->mutex) != 0) {
        return 0;
    }
    zt__store(&timed->owner, zt__this_thread());
    return 1;
}

ZT__PRIVATE void zt__unlock_timed(zt__timed_mutex *timed) {
    zt__store(&timed->owner, (uintptr_t)0);
    pthread_mutex_unlock(&timed->mutex);
}

/* Waits for other threads to unlock it. Returns 0 if the deadline passes first, or this thread holds it. */
ZT__PRIVATE int zt__lock_until(zt__timed_mutex *timed, uint64_t deadline) {
    zt__wait wait = zt__wait_until(deadline);
    while (!zt__try_lock(timed)) {
        if (zt__is_owner(timed) || !zt__wait_again(&wait)) {
            return 0;
        }
    }
    return 1;
}

/* ---- the library's own threads --------------------------------------------------------------------------- */

/* A thread that repeats a step until the step returns 0 or the thread is stopped. Between steps it may sleep
   until it is woken. */
typedef struct zt__thread {
    int running; /* it was started, and not yet joined. Atomic, like the next two */
    int stop_requested, ended;
    struct zt__thread_list *list; /* of the copy that has started it; another may stop it */
    struct zt__thread *next;
    int (*step)(void *user);
    void *user;
    pthread_t handle;
    zt__mutex mutex; /* guards `woken` */
    pthread_cond_t wake;
    int woken;
} zt__thread;

/* The threads that this copy of the header has started. They have to end before the driver is unloaded at
   exit, and before a shared library that contains this copy is unloaded. */
typedef struct zt__thread_list {
    zt__mutex mutex;
    zt__thread *first;
    int ends_at_exit;
    int is_exiting; /* no more threads are started */
} zt__thread_list;

static zt__thread_list zt__threads = {PTHREAD_MUTEX_INITIALIZER, NULL, 0, 0};

ZT__PRIVATE void *zt__run_thread(void *argument) {
    zt__thread *thread = (zt__thread *)argument;
    while (!zt__load(&thread->stop_requested) && thread->step(thread->user)) {
    }
    zt__store(&thread->ended, 1);
    return NULL;
}

ZT__PRIVATE void zt__wake_thread(zt__thread *thread) {
    zt__lock(&thread->mutex);
    thread->woken = 1;
    pthread_cond_signal(&thread->wake);
    zt__unlock(&thread->mutex);
}

/* Called by the thread itself: sleeps until it is woken, but no longer than `timeout_ns`. */
ZT__PRIVATE void zt__sleep_thread(zt__thread *thread, uint64_t timeout_ns) {
    struct timespec until = zt__to_timespec(zt__deadline(timeout_ns));
    zt__lock(&thread->mutex);
    if (!thread->woken && !zt__load(&thread->stop_requested)) {
        pthread_cond_timedwait(&thread->wake, &thread->mutex, &until);
    }
    thread->woken = 0;
    zt__unlock(&thread->mutex);
}

/* Requests that a thread stops, and waits until its last step has returned. Returns 0 if that step hangs, in
   the driver or in a function of the application. */
ZT__PRIVATE int zt__await_thread(zt__thread *thread) {
    enum { LONGEST_NS = 2000000000 };
    zt__wait wait;
    zt__store(&thread->stop_requested, 1);
    zt__wake_thread(thread);
    wait = zt__wait_until(zt__deadline(LONGEST_NS));
    while (!zt__load(&thread->ended)) {
        if (!zt__wait_again(&wait)) {
            return 0;
        }
    }
    return 1;
}

/* Removes a thread from its list, whose mutex is held. */
ZT__PRIVATE void zt__remove_thread(zt__thread *thread) {
    zt__thread **place;
    for (place = &thread->list->first; *place; place = &(*place)->next) {
        if (*place == thread) {
            *place = thread->next;
            break;
        }
    }
}

/* Joins a thread that has ended, unless it is joined already. The mutex of its list is held. */
ZT__PRIVATE void zt__join_thread(zt__thread *thread) {
    if (zt__load(&thread->running)) {
        pthread_join(thread->handle, NULL);
        zt__remove_thread(thread);
        zt__store(&thread->running, 0);
    }
}

/* Stops a thread. Returns 0 if it hangs: then it still uses its data, and the caller may try again later. */
ZT__PRIVATE int zt__stop_thread(zt__thread *thread) {
    if (!zt__load(&thread->running)) {
        return 1;
    }
    if (!zt__await_thread(thread)) {
        return 0;
    }
    zt__lock(&thread->list->mutex);
    zt__join_thread(thread);
    zt__unlock(&thread->list->mutex);
    pthread_mutex_destroy(&thread->mutex);
    pthread_cond_destroy(&thread->wake);
    return 1;
}

/* Stops all threads but the one that calls exit. A thread that hangs is only removed from the list. The list
   stays locked meanwhile, so that zt__stop_thread does not return on another thread, which would then free
   what is used here. */
ZT__PRIVATE void zt__stop_threads_at_exit(void) {
    zt__lock(&zt__threads.mutex);
    zt__threads.is_exiting = 1;
    while (zt__threads.first) {
        zt__thread *thread = zt__threads.first;
        if (!pthread_equal(thread->handle, pthread_self()) && zt__await_thread(thread)) {
            zt__join_thread(thread);
        } else {
            zt__remove_thread(thread);
        }
    }
    zt__unlock(&zt__threads.mutex);
}

/* Returns 0 if the system refuses, or with ZETOOLS_NO_THREADS. */
ZT__PRIVATE int zt__start_thread(zt__thread *thread, int (*step)(void *user), void *user) {
    int started = 0;
#ifdef ZETOOLS_NO_THREADS
    (void)thread, (void)step, (void)user;
#else
    zt__signal_set all, before;
    pthread_condattr_t attributes;
    thread->step = step;
    thread->user = user;
    thread->list = &zt__threads;
    thread->stop_requested = thread->ended = thread->woken = 0;
    pthread_mutex_init(&thread->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&thread->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    zt__lock(&zt__threads.mutex);
    if (!zt__threads.ends_at_exit) {
        zt__threads.ends_at_exit = atexit(zt__stop_threads_at_exit) == 0;
    }
    if (zt__threads.ends_at_exit && !zt__threads.is_exiting) {
        /* The application's signals must not be delivered to this thread. */
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        zt__store(&thread->running, 1);
        started = pthread_create(&thread->handle, NULL, zt__run_thread, thread) == 0;
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    if (started) {
        thread->next = zt__threads.first;
        zt__threads.first = thread;
    } else {
        zt__store(&thread->running, 0);
        pthread_mutex_destroy(&thread->mutex);
        pthread_cond_destroy(&thread->wake);
    }
    zt__unlock(&zt__threads.mutex);
#endif
    return started;
}

/* ---- symbols --------------------------------------------------------------------------------------------- */

/* Stores the address of a function of the Level Zero loader, or NULL, in the function pointer at `function`.
   The loader is looked up by its file name, because its symbols are not in the global scope if it came with a
   library that was opened with RTLD_LOCAL. The symbols of a statically linked loader are in that scope. */
ZT__PRIVATE void zt__find_loader_symbol(const char *name, void *function) {
    void *loader = dlopen("libze_loader.so.1", RTLD_LAZY | RTLD_NOLOAD);
    void *symbol;
    if (!loader) {
        loader = dlopen(NULL, RTLD_LAZY);
    }
    symbol = loader ? dlsym(loader, name) : NULL;
    memcpy(function, &symbol, sizeof symbol); /* ISO C has no cast from object to function */
    if (loader) {
        dlclose(loader);
    }
}

/* Returns a mangled name of C++ as it is written in the source, to be freed with free(). NULL if the name is
   not mangled, or the process has no C++ library. */
ZT__PRIVATE char *zt__demangle(const char *name) {
    static const char *const libraries[] = {NULL, "libstdc++.so.6", "libc++abi.so.1"};
    static const char type[] = "typeinfo name for "; /* before the type that names a SYCL kernel */
    char *(*demangle)(const char *, char *, size_t *, int *);
    char *text = NULL;
    uint32_t i;
    for (i = 0; strncmp(name, "_Z", 2) == 0 && i < ZT__COUNT_OF(libraries) && !text; i++) {
        void *library = dlopen(libraries[i], libraries[i] ? RTLD_LAZY | RTLD_NOLOAD : RTLD_LAZY);
        void *symbol = library ? dlsym(library, "__cxa_demangle") : NULL;
        int status;
        memcpy(&demangle, &symbol, sizeof symbol);
        if (symbol) {
            text = demangle(name, NULL, NULL, &status);
        }
        if (library) {
            dlclose(library);
        }
    }
    if (text && strncmp(text, type, sizeof type - 1) == 0) {
        memmove(text, text + sizeof type - 1, strlen(text) - (sizeof type - 1) + 1);
    }
    return text;
}

/* ---- numbers --------------------------------------------------------------------------------------------- */

/* These functions test the bits, because with -ffast-math a comparison does not recognise NaN. */

ZT__PRIVATE uint64_t zt__bits_without_sign(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits & (UINT64_MAX >> 1);
}

#define ZT__INFINITY_BITS UINT64_C(0x7ff0000000000000)

ZT__PRIVATE double zt__nan(void) {
    return (double)NAN;
}

ZT__PRIVATE int zt__is_nan(double value) {
    return zt__bits_without_sign(value) > ZT__INFINITY_BITS;
}

ZT__PRIVATE int zt__is_finite(double value) {
    return zt__bits_without_sign(value) < ZT__INFINITY_BITS;
}

/* Returns 0 for NaN. */
ZT__PRIVATE int zt__is_positive(double value) {
    return !zt__is_nan(value) && value > 0;
}

/* ==== >>memory: the application's allocator, and the one hash table ======================================= */

ZT__PRIVATE void *zt__default_allocate(size_t size, void *user) {
    (void)user;
    return malloc(size);
}

ZT__PRIVATE void zt__default_release(void *memory, void *user) {
    (void)user;
    free(memory);
}

static const zt_allocator zt__default_allocator = {zt__default_allocate, zt__default_release, NULL};

/* Returns memory filled with zeros, or NULL. Like every function with a parameter `allocator`, it may call
   the application's functions: no mutex may be held. */
ZT__PRIVATE void *zt__allocate(const zt_allocator *allocator, size_t count, size_t size) {
    void *memory;
    if (count == 0 || size > SIZE_MAX / count) {
        return NULL;
    }
    memory = allocator->allocate(count * size, allocator->user);
    if (memory) {
        memset(memory, 0, count * size);
    }
    return memory;
}

ZT__PRIVATE void zt__free(const zt_allocator *allocator, void *memory) {
    if (memory) {
        allocator->release(memory, allocator->user);
    }
}

/* Returns a copy of a text, or NULL without memory. */
ZT__PRIVATE char *zt__duplicate_text(const zt_allocator *allocator, const char *text) {
    size_t size = strlen(text) + 1;
    char *copy = (char *)zt__allocate(allocator, size, 1);
    return copy ? (char *)memcpy(copy, text, size) : NULL;
}

/* ---- the hash table -------------------------------------------------------------------------------------- */

/* Maps keys, which are strings of bytes, to values. Open addressing, at most half full. */
typedef struct zt__map_entry {
    uint64_t hash;
    const void *key; /* not copied: it must live as long as the entry */
    size_t length;
    void *value; /* NULL: the entry is free */
} zt__map_entry;

typedef struct zt__map {
    zt__map_entry *entries;
    uint32_t capacity; /* a power of two, or 0 */
    uint32_t count;
} zt__map;

/* FNV-1a. */
ZT__PRIVATE uint64_t zt__hash(const void *key, size_t length) {
    const unsigned char *byte = (const unsigned char *)key, *end = byte + length;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; byte < end; byte++) {
        hash = (hash ^ *byte) * UINT64_C(0x100000001b3);
    }
    return hash;
}

/* Returns the entry of a key, or the free entry for it. The map must have a free entry. */
ZT__PRIVATE zt__map_entry *zt__map_place(const zt__map *map, uint64_t hash, const void *key, size_t length) {
    uint32_t i = (uint32_t)(hash ^ hash >> 32) & (map->capacity - 1);
    for (;; i = (i + 1) & (map->capacity - 1)) {
        zt__map_entry *entry = &map->entries[i];
        if (!entry->value ||
            (entry->hash == hash && entry->length == length && memcmp(entry->key, key, length) == 0)) {
            return entry;
        }
    }
}

/* Returns the value of a key, or NULL. */
ZT__PRIVATE void *zt__map_find(const zt__map *map, const void *key, size_t length) {
    return map->capacity ? zt__map_place(map, zt__hash(key, length), key, length)->value : NULL;
}

ZT__PRIVATE int zt__map_is_full(const zt__map *map) {
    return (map->count + 1) * 2 > map->capacity;
}

/* Adds a key that is not in the map. The map must not be full. */
ZT__PRIVATE void zt__map_add(zt__map *map, const void *key, size_t length, void *value) {
    uint64_t hash = zt__hash(key, length);
    zt__map_entry *entry = zt__map_place(map, hash, key, length);
    entry->hash = hash;
    entry->key = key;
    entry->length = length;
    entry->value = value;
    map->count++;
}

/* Removes a key. Then enters again those that follow it, because a search for them stops at a free entry. */
ZT__PRIVATE void zt__map_remove(zt__map *map, const void *key, size_t length) {
    zt__map_entry *entry = map->capacity ? zt__map_place(map, zt__hash(key, length), key, length) : NULL;
    uint32_t i;
    if (!entry || !entry->value) {
        return;
    }
    entry->value = NULL;
    map->count--;
    for (i = (uint32_t)(entry - map->entries);;) {
        zt__map_entry moved;
        i = (i + 1) & (map->capacity - 1);
        moved = map->entries[i];
        if (!moved.value) {
            return;
        }
        map->entries[i].value = NULL;
        *zt__map_place(map, moved.hash, moved.key, moved.length) = moved;
    }
}

/* Makes room for one more key. The mutex that guards the map is held. It is unlocked while the allocator
   runs, so the caller has to look its key up again. Returns 0 without memory. */
ZT__PRIVATE int zt__map_make_room(zt__map *map, const zt_allocator *allocator, zt__mutex *mutex) {
    while (zt__map_is_full(map)) {
        zt__map grown = {NULL, 64, 0};
        uint32_t i, before = map->capacity;
        zt__map_entry *unused;
        if (before) {
            grown.capacity = before * 2;
        }
        zt__unlock(mutex);
        grown.entries = (zt__map_entry *)zt__allocate(allocator, grown.capacity, sizeof *grown.entries);
        zt__lock(mutex);
        if (!grown.entries) {
            return !zt__map_is_full(map);
        }
        unused = grown.entries;
        if (map->capacity == before) { /* else another thread has grown it */
            for (i = 0; i < before; i++) {
                if (map->entries[i].value) {
                    zt__map_entry *entry = &map->entries[i];
                    *zt__map_place(&grown, entry->hash, entry->key, entry->length) = *entry;
                }
            }
            grown.count = map->count;
            unused = map->entries;
            *map = grown;
        }
        zt__unlock(mutex);
        zt__free(allocator, unused);
        zt__lock(mutex);
    }
    return 1;
}

ZT__PRIVATE void zt__map_free(zt__map *map, const zt_allocator *allocator) {
    zt__free(allocator, map->entries);
    memset(map, 0, sizeof *map);
}

/* ==== >>text: lists of names, patterns, UTF-8, writers, paragraphs ======================================== */

/* ---- lists of names -------------------------------------------------------------------------------------- */

/* Finds the next name of a list whose names are separated by commas, without the blanks around it. Moves
   `*list` behind it. Returns 0 at the end. */
ZT__PRIVATE int zt__next_name(const char **list, const char **name, size_t *length) {
    const char *p = *list;
    while (*p == ',' || *p == ' ') {
        p++;
    }
    *name = p;
    while (*p && *p != ',') {
        p++;
    }
    *list = p;
    while (p > *name && p[-1] == ' ') {
        p--;
    }
    *length = (size_t)(p - *name);
    return *length > 0;
}

ZT__PRIVATE int zt__has_names(const char *list) {
    const char *name;
    size_t length;
    return list && zt__next_name(&list, &name, &length);
}

/* Returns whether a text equals the first `length` bytes of another. */
ZT__PRIVATE int zt__equals(const char *text, const char *other, size_t length) {
    return strlen(text) == length && memcmp(text, other, length) == 0;
}

/* Copies `length` bytes of a text, or as many as there is room for, and ends it with a 0. */
ZT__PRIVATE void zt__copy_text(char *to, size_t room, const char *text, size_t length) {
    if (length >= room) {
        length = room - 1;
    }
    memcpy(to, text, length);
    to[length] = 0;
}

/* Returns whether `text` matches the `length` bytes of `pattern`: * stands for any bytes, ? for one. */
ZT__PRIVATE int zt__matches(const char *pattern, size_t length, const char *text) {
    const char *end = pattern + length, *after_star = NULL, *retry = NULL;
    while (*text) {
        if (pattern < end && *pattern == '*') {
            after_star = ++pattern;
            retry = text;
        } else if (pattern < end && (*pattern == '?' || *pattern == *text)) {
            pattern++;
            text++;
        } else if (after_star) {
            pattern = after_star;
            text = ++retry;
        } else {
            return 0;
        }
    }
    while (pattern < end && *pattern == '*') {
        pattern++;
    }
    return pattern == end;
}

/* Returns whether a list of patterns selects a name. A pattern after '!' excludes the names that it matches.
   If no other pattern is in the list, all names that are not excluded are selected. */
ZT__PRIVATE int zt__is_selected(const char *list, const char *name) {
    const char *pattern;
    size_t length;
    int excluded = 0, has_patterns = 0, matched = 0;
    while (list && zt__next_name(&list, &pattern, &length)) {
        if (*pattern == '!') {
            excluded |= zt__matches(pattern + 1, length - 1, name);
        } else {
            has_patterns = 1;
            matched |= zt__matches(pattern, length, name);
        }
    }
    return !excluded && (matched || !has_patterns);
}

/* Returns whether a text consists of digits. NULL does not. */
ZT__PRIVATE int zt__is_number(const char *text) {
    return text && *text && !text[strspn(text, "0123456789")];
}

/* Returns whether a text ends with another. `compare` is strcmp, or strcasecmp for the suffix of a file. */
ZT__PRIVATE int zt__ends_with(const char *text, const char *end, int (*compare)(const char *, const char *)) {
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && compare(text + length - end_length, end) == 0;
}

/* ---- the names nearest to a wrong one -------------------------------------------------------------------- */

/* Returns the Levenshtein distance of two names, without regard to case. Only the first 63 bytes count. */
ZT__PRIVATE uint32_t zt__edit_distance(const char *a, const char *b) {
    enum { LONGEST = 63 };
    uint32_t row[LONGEST + 1];
    uint32_t i, j, columns = 0;
    while (b[columns] && columns < LONGEST) {
        columns++;
    }
    for (j = 0; j <= columns; j++) {
        row[j] = j;
    }
    for (i = 0; a[i] && i < LONGEST; i++) {
        uint32_t diagonal = row[0];
        row[0] = i + 1;
        for (j = 0; j < columns; j++) {
            uint32_t best = diagonal + ((a[i] | 32) != (b[j] | 32));
            if (row[j] + 1 < best) {
                best = row[j] + 1;
            }
            diagonal = row[j + 1];
            if (diagonal + 1 < best) {
                best = diagonal + 1;
            }
            row[j + 1] = best;
        }
    }
    return row[columns];
}

/* The names nearest to a wrong one, as text for a message. */
typedef struct zt__nearest {
    char text[320];
} zt__nearest;

/* Returns a name by its index, or NULL if it is not to be shown. */
typedef const char *(*zt__name_fn)(const void *names, uint32_t index);

/* Finds the three nearest names, the nearest first. A name that occurs twice is shown once. */
ZT__PRIVATE zt__nearest zt__find_nearest(const char *wanted, const void *names, uint32_t count,
                                         zt__name_fn name_at) {
    enum { SHOWN = 3 };
    const char *shown[SHOWN];
    uint32_t found, i, j;
    size_t used = 0;
    zt__nearest nearest;
    strcpy(nearest.text, "none, because there are no names");
    for (found = 0; found < SHOWN; found++) {
        uint32_t least = UINT32_MAX;
        for (i = 0; i < count; i++) {
            const char *name = name_at(names, i);
            int is_new = name != NULL;
            uint32_t distance;
            for (j = 0; j < found && is_new; j++) {
                is_new = strcmp(shown[j], name) != 0;
            }
            distance = is_new ? zt__edit_distance(wanted, name) : UINT32_MAX;
            if (distance < least) {
                least = distance;
                shown[found] = name;
            }
        }
        if (least == UINT32_MAX) {
            break;
        }
        used += (size_t)snprintf(nearest.text + used, sizeof nearest.text - used, "%s'%.80s'",
                                 found ? ", " : "", shown[found]);
    }
    return nearest;
}

/* ---- UTF-8 ----------------------------------------------------------------------------------------------- */

typedef struct zt__character {
    const char *bytes; /* valid UTF-8 */
    size_t length;
    uint32_t code;
} zt__character;

/* Decodes the next character. A byte that is not valid UTF-8 becomes U+FFFD. Returns 0 at the end. */
ZT__PRIVATE int zt__next_character(const char **text, zt__character *character) {
    const unsigned char *bytes = (const unsigned char *)*text;
    uint32_t code = bytes[0], least = 0;
    size_t i, length = 1;
    int is_valid = bytes[0] < 0x80 || (bytes[0] >= 0xC0 && bytes[0] <= 0xF4);
    if (!bytes[0]) {
        return 0;
    }
    if (bytes[0] >= 0xF0) {
        length = 4;
        least = 0x10000;
        code &= 0x07;
    } else if (bytes[0] >= 0xE0) {
        length = 3;
        least = 0x800;
        code &= 0x0F;
    } else if (bytes[0] >= 0xC0) {
        length = 2;
        least = 0x80;
        code &= 0x1F;
    }
    for (i = 1; i < length && is_valid; i++) {
        is_valid = (bytes[i] & 0xC0) == 0x80;
        code = code << 6 | (bytes[i] & 0x3Fu);
    }
    is_valid = is_valid && code >= least && code <= 0x10FFFF && (code < 0xD800 || code >= 0xE000);
    character->bytes = is_valid ? *text : "\xEF\xBF\xBD";
    character->length = is_valid ? length : 3;
    character->code = is_valid ? code : 0xFFFD;
    *text += is_valid ? length : 1;
    return 1;
}

/* As zt__next_character, for a terminal. Control characters and marks of the writing direction, which a
   terminal obeys, become '?'. `width` is the number of columns that the character occupies. */
ZT__PRIVATE int zt__next_shown_character(const char **text, zt__character *character, size_t *width) {
    enum { OBEYED = -1 };
    static const struct {
        uint32_t first, last;
        int width;
    } ranges[] = {
        {0x0, 0x1F, OBEYED},   {0x7F, 0x9F, OBEYED},     {0x300, 0x36F, 0},        {0x1100, 0x115F, 2},
        {0x200B, 0x200D, 0},   {0x200E, 0x200F, OBEYED}, {0x2028, 0x202E, OBEYED}, {0x2066, 0x2069, OBEYED},
        {0x20D0, 0x20F0, 0},   {0x2E80, 0x303E, 2},      {0x3041, 0xA4CF, 2},      {0xAC00, 0xD7A3, 2},
        {0xF900, 0xFAFF, 2},   {0xFE00, 0xFE0F, 0},      {0xFE30, 0xFE6F, 2},      {0xFF01, 0xFF60, 2},
        {0xFFE0, 0xFFE6, 2},   {0x1F300, 0x1F64F, 2},    {0x1F680, 0x1F6FF, 2},    {0x1F900, 0x1F9FF, 2},
        {0x20000, 0x3FFFD, 2},
    };
    uint32_t i = 0;
    *width = 1;
    if (!zt__next_character(text, character)) {
        return 0;
    }
    while (i < ZT__COUNT_OF(ranges) && character->code > ranges[i].last) {
        i++;
    }
    if (i < ZT__COUNT_OF(ranges) && character->code >= ranges[i].first) {
        if (ranges[i].width == OBEYED) {
            character->bytes = "?";
            character->length = 1;
        } else {
            *width = (size_t)ranges[i].width;
        }
    }
    return 1;
}

/* Returns how many columns of a terminal a text occupies. */
ZT__PRIVATE size_t zt__shown_width(const char *text) {
    zt__character character;
    size_t width, sum = 0;
    while (zt__next_shown_character(&text, &character, &width)) {
        sum += width;
    }
    return sum;
}

/* ---- the writer ------------------------------------------------------------------------------------------ */

#define ZT__CHECKED_FORMAT(text, first) __attribute__((format(printf, text, first)))

/* Buffers bytes and passes them to `write` in blocks. `write` is a callback: no mutex may be held. */
typedef struct zt__writer {
    zt_write_fn write;
    void *user;
    int stopped;    /* `write` returned nonzero: further bytes are discarded */
    int is_in_html; /* JSON inside HTML: "<" is escaped, so that no text ends the element */
    char last;      /* the last byte, for zt__write_comma */
    size_t used;
    char bytes[4096];
} zt__writer;

ZT__PRIVATE void zt__begin_writing(zt__writer *writer, zt_write_fn write, void *user) {
    memset(writer, 0, sizeof *writer);
    writer->write = write;
    writer->user = user;
}

ZT__PRIVATE void zt__flush(zt__writer *writer) {
    if (writer->used && !writer->stopped) {
        writer->stopped = writer->write(writer->bytes, writer->used, writer->user) != 0;
    }
    writer->used = 0;
}

/* Passes the rest to `write`. Returns 0 if `write` has returned nonzero. */
ZT__PRIVATE int zt__end_writing(zt__writer *writer) {
    zt__flush(writer);
    return !writer->stopped;
}

ZT__PRIVATE void zt__write_bytes(zt__writer *writer, const char *bytes, size_t size) {
    while (size > 0) {
        size_t room = sizeof writer->bytes - writer->used;
        size_t part = size < room ? size : room;
        memcpy(writer->bytes + writer->used, bytes, part);
        writer->used += part;
        writer->last = bytes[part - 1];
        bytes += part;
        size -= part;
        if (writer->used == sizeof writer->bytes) {
            zt__flush(writer);
        }
    }
}

ZT__PRIVATE void zt__write_text(zt__writer *writer, const char *text) {
    zt__write_bytes(writer, text, strlen(text));
}

ZT__PRIVATE void zt__write_repeated(zt__writer *writer, char letter, size_t count) {
    for (; count > 0; count--) {
        zt__write_bytes(writer, &letter, 1);
    }
}

/* For numbers and constant texts, up to 1023 bytes. Fractions have the locale's decimal point. Texts of the
   application or the driver may be longer and need escaping: the functions below write them. */
ZT__PRIVATE ZT__CHECKED_FORMAT(2, 3) void zt__print(zt__writer *writer, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    zt__write_text(writer, text);
}

/* Writes a finite number in so many significant digits, with a point in any locale. */
ZT__PRIVATE void zt__write_digits(zt__writer *writer, double number, int digits) {
    char text[40], point[40];
    size_t i, used = 0;
    snprintf(text, sizeof text, "%.*g", digits, number);
    for (i = 0; text[i]; i++) {
        if (strchr("0123456789+-e", text[i])) {
            point[used++] = text[i];
        } else if (used > 0 && point[used - 1] != '.') { /* a locale's point may have several bytes */
            point[used++] = '.';
        }
    }
    zt__write_bytes(writer, point, used);
}

/* Writes a finite number in the fewest digits that read back the same. */
ZT__PRIVATE void zt__write_number(zt__writer *writer, double number) {
    char digits[40];
    int precision = 14;
    do {
        precision++;
        snprintf(digits, sizeof digits, "%.*g", precision, number);
    } while (precision < 17 && strtod(digits, NULL) != number);
    zt__write_digits(writer, number, precision);
}

/* Writes the comma before a member of an object or an element of an array in JSON, unless it is the first. */
ZT__PRIVATE void zt__write_comma(zt__writer *writer) {
    if (writer->last != '{' && writer->last != '[') {
        zt__write_text(writer, ",");
    }
}

/* Writes what stands between the quotes of a string in JSON. */
ZT__PRIVATE void zt__write_json_characters(zt__writer *writer, const char *text) {
    zt__character character;
    while (zt__next_character(&text, &character)) {
        if (character.code < 0x20 || (character.code == '<' && writer->is_in_html)) {
            zt__print(writer, "\\u%04x", (unsigned)character.code);
            continue;
        }
        if (character.code == '"' || character.code == '\\') {
            zt__write_text(writer, "\\");
        }
        zt__write_bytes(writer, character.bytes, character.length);
    }
}

ZT__PRIVATE void zt__write_json_string(zt__writer *writer, const char *text) {
    zt__write_text(writer, "\"");
    zt__write_json_characters(writer, text);
    zt__write_text(writer, "\"");
}

/* Writes a text of any origin so that it is safe on a terminal. */
ZT__PRIVATE void zt__write_shown(zt__writer *writer, const char *text) {
    zt__character character;
    size_t width;
    while (zt__next_shown_character(&text, &character, &width)) {
        zt__write_bytes(writer, character.bytes, character.length);
    }
}

/* As zt__write_shown, but shortened to `room` columns of a terminal. "..." stands for the middle, because
   names of kernels often differ at their end. Returns how many columns were written. */
ZT__PRIVATE size_t zt__write_shortened(zt__writer *writer, const char *text, size_t room) {
    zt__character character;
    size_t width, used = 0, rest = zt__shown_width(text), end;
    int is_beginning = 1;
    if (rest <= room) {
        zt__write_shown(writer, text);
        return rest;
    }
    end = (room - 3) / 2;
    while (rest > end && zt__next_shown_character(&text, &character, &width)) {
        rest -= width;
        is_beginning = is_beginning && used + width + 3 + end <= room;
        if (is_beginning) {
            zt__write_bytes(writer, character.bytes, character.length);
            used += width;
        }
    }
    zt__write_text(writer, "...");
    zt__write_shown(writer, text);
    return used + 3 + rest;
}

/* ---- paragraphs ------------------------------------------------------------------------------------------ */

/* Text that is broken into lines between its words, safe on a terminal. */
typedef struct zt__paragraph {
    zt__writer *writer;
    size_t room, indent; /* columns of a line; blanks before each line but the first */
    size_t used;         /* columns of the line so far */
    int line_is_empty;
    char word[256]; /* not written yet */
    size_t word_bytes, word_width;
} zt__paragraph;

/* `first_indent` is for the first line, `indent` for the others. */
ZT__PRIVATE zt__paragraph zt__begin_paragraph(zt__writer *writer, size_t room, size_t first_indent,
                                              size_t indent) {
    zt__paragraph paragraph;
    memset(&paragraph, 0, sizeof paragraph);
    paragraph.writer = writer;
    paragraph.room = room;
    paragraph.indent = indent;
    paragraph.used = first_indent;
    paragraph.line_is_empty = 1;
    zt__write_repeated(writer, ' ', first_indent);
    return paragraph;
}

ZT__PRIVATE void zt__end_word(zt__paragraph *paragraph) {
    if (paragraph->word_bytes == 0) {
        return;
    }
    if (!paragraph->line_is_empty && paragraph->used + 1 + paragraph->word_width > paragraph->room) {
        zt__write_text(paragraph->writer, "\n");
        zt__write_repeated(paragraph->writer, ' ', paragraph->indent);
        paragraph->used = paragraph->indent;
    } else if (!paragraph->line_is_empty) {
        zt__write_text(paragraph->writer, " ");
        paragraph->used++;
    }
    zt__write_bytes(paragraph->writer, paragraph->word, paragraph->word_bytes);
    paragraph->used += paragraph->word_width;
    paragraph->line_is_empty = 0;
    paragraph->word_bytes = paragraph->word_width = 0;
}

/* Adds a text of any origin. A word that is longer than a line is broken, too. */
ZT__PRIVATE void zt__add_text(zt__paragraph *paragraph, const char *text) {
    zt__character character;
    size_t width;
    while (zt__next_shown_character(&text, &character, &width)) {
        if (character.code == ' ') {
            zt__end_word(paragraph);
            continue;
        }
        if (paragraph->word_bytes + character.length > sizeof paragraph->word ||
            paragraph->indent + paragraph->word_width + width > paragraph->room) {
            zt__end_word(paragraph);
        }
        memcpy(paragraph->word + paragraph->word_bytes, character.bytes, character.length);
        paragraph->word_bytes += character.length;
        paragraph->word_width += width;
    }
}

ZT__PRIVATE void zt__end_paragraph(zt__paragraph *paragraph) {
    zt__end_word(paragraph);
    zt__write_text(paragraph->writer, "\n");
}

/* ==== >>tables: tables for people ========================================================================= */

typedef struct zt__cell {
    const char *text; /* may point to `number` */
    char number[32];
} zt__cell;

typedef struct zt__table_column {
    const char *heading; /* lines, separated by line feeds; the last lines of all headings are in one row */
    int is_text;         /* aligned to the left; numbers are aligned to the right */
    size_t longest;      /* wider texts are shortened to this width. 0: none is */
    size_t width;        /* filled in by zt__measure_table. A column of width 0 is left out */
} zt__table_column;

typedef struct zt__table {
    zt__table_column *columns;
    zt__cell *cells; /* room for one row: a cell for each column */
    uint32_t column_count, row_count;
    /* Fills in the cells of a row. Called twice for each row: the columns are measured first. The texts must
       live until the next call. */
    void (*fill_row)(const void *user, uint32_t row, zt__cell *cells);
    const void *user;
    uint32_t indent; /* blanks before each line */
    int no_headings; /* not 0: no headings, and no line below them */
} zt__table;

/* Fills the cells with one line of the headings, counted upwards from the last one, which is 0. Returns 0 if
   no heading has so many lines. */
ZT__PRIVATE int zt__fill_heading(const zt__table *table, uint32_t above_last) {
    uint32_t i;
    int found = 0;
    for (i = 0; i < table->column_count; i++) {
        const char *line = table->columns[i].heading, *p;
        zt__cell *cell = &table->cells[i];
        uint32_t feeds = 0;
        for (p = line; *p; p++) {
            feeds += *p == '\n';
        }
        cell->text = cell->number;
        cell->number[0] = 0;
        if (above_last <= feeds) {
            for (; feeds > above_last; feeds--) {
                line = strchr(line, '\n') + 1;
            }
            zt__copy_text(cell->number, sizeof cell->number, line, strcspn(line, "\n"));
            found = 1;
        }
    }
    return found;
}

ZT__PRIVATE void zt__widen_columns(const zt__table *table) {
    uint32_t i;
    for (i = 0; i < table->column_count; i++) {
        zt__table_column *column = &table->columns[i];
        size_t width = zt__shown_width(table->cells[i].text);
        if (column->longest && width > column->longest) {
            width = column->longest;
        }
        if (width > column->width) {
            column->width = width;
        }
    }
}

/* Stores the width of each column in the description. Returns how many lines the headings have. */
ZT__PRIVATE uint32_t zt__measure_table(const zt__table *table) {
    uint32_t i, lines = 0;
    for (i = 0; i < table->column_count; i++) {
        table->columns[i].width = 0;
    }
    for (; !table->no_headings && zt__fill_heading(table, lines); lines++) {
        zt__widen_columns(table);
    }
    for (i = 0; i < table->row_count; i++) {
        table->fill_row(table->user, i, table->cells);
        zt__widen_columns(table);
    }
    return lines;
}

/* Writes the cells as one line, without blanks at its end. */
ZT__PRIVATE void zt__write_cells(zt__writer *writer, const zt__table *table) {
    size_t blanks = table->indent; /* to be written before the next text */
    uint32_t i, written = 0;
    for (i = 0; i < table->column_count; i++) {
        const zt__table_column *column = &table->columns[i];
        const char *text = table->cells[i].text;
        size_t width = zt__shown_width(text);
        if (column->width == 0) {
            continue;
        }
        blanks += written++ ? 2 : 0;
        if (!column->is_text && width < column->width) {
            blanks += column->width - width;
        }
        if (*text) {
            zt__write_repeated(writer, ' ', blanks);
            width = zt__write_shortened(writer, text, column->longest ? column->longest : width);
            blanks = 0;
        }
        if (column->is_text && width < column->width) {
            blanks += column->width - width;
        }
    }
    zt__write_text(writer, "\n");
}

/* Writes headings, a line below them, and the rows. */
ZT__PRIVATE void zt__write_table(zt__writer *writer, const zt__table *table) {
    uint32_t i, shown = 0, lines = zt__measure_table(table);
    size_t width = 0;
    while (lines > 0) {
        zt__fill_heading(table, --lines);
        zt__write_cells(writer, table);
    }
    if (!table->no_headings) {
        for (i = 0; i < table->column_count; i++) {
            if (table->columns[i].width > 0) {
                width += table->columns[i].width + (shown++ ? 2 : 0);
            }
        }
        zt__write_repeated(writer, ' ', table->indent);
        zt__write_repeated(writer, '-', width);
        zt__write_text(writer, "\n");
    }
    for (i = 0; i < table->row_count; i++) {
        table->fill_row(table->user, i, table->cells);
        zt__write_cells(writer, table);
    }
}

/* ---- tables of figures ----------------------------------------------------------------------------------- */

/* A column of figures. All of them have the same unit and the same number of decimals. */
typedef struct zt__figure_column {
    uint32_t figure;          /* index of the figure in a row */
    const char *const *texts; /* not NULL: the figures are indices of these */
    double scale;             /* figures are divided by it */
    int decimals;
    int rank;     /* 0: always shown; columns with a higher rank are left out first */
    size_t width; /* in columns of a terminal */
    char heading[64];
} zt__figure_column;

typedef struct zt__figure_row {
    const char *name;
    const double *figures; /* NaN: not measured */
    uint32_t index;        /* of what the row describes */
} zt__figure_row;

typedef struct zt__figure_table {
    const char *heading; /* of the names */
    zt__figure_row *rows;
    zt__figure_column *columns;
    uint32_t row_count, column_count;
    size_t longest_name; /* longer names are shortened to this width */
    uint32_t time_unit;  /* of all times: an index of zt__time_units */
    int is_precise;      /* figures have four significant digits; 0: three, if that is enough for all */
} zt__figure_table;

static const struct {
    const char *name;
    double ns;
} zt__time_units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};

/* Chooses the largest unit in which the smallest figure of one column is at least 0.1, or 1 in a precise
   table; or a larger one, if the largest figure of another column would have eight digits or more. */
ZT__PRIVATE void zt__choose_time_unit(zt__figure_table *table, uint32_t smallest_of, uint32_t largest_of) {
    double smallest = zt__nan(), largest = 0, least = table->is_precise ? 1 : 0.1;
    uint32_t row;
    for (row = 0; row < table->row_count; row++) {
        double small = table->rows[row].figures[smallest_of], large = table->rows[row].figures[largest_of];
        if (zt__is_positive(small) && (zt__is_nan(smallest) || small < smallest)) {
            smallest = small;
        }
        if (zt__is_positive(large) && large > largest) {
            largest = large;
        }
    }
    table->time_unit = 0;
    while (!zt__is_nan(smallest) && table->time_unit + 1 < ZT__COUNT_OF(zt__time_units) &&
           (smallest >= zt__time_units[table->time_unit + 1].ns * least ||
            largest >= zt__time_units[table->time_unit].ns * 1e7)) {
        table->time_unit++;
    }
}

/* Returns whether a word of a metric's name begins at a byte: SECOND_WORD, SecondWord. */
ZT__PRIVATE int zt__begins_word(const char *text, size_t at) {
    char before = text[at - 1], after = text[at];
    return before == '_' || (before >= 'a' && before <= 'z' && after >= 'A' && after <= 'Z');
}

/* Finds where to break a heading so that it is as narrow as possible: at a blank, and with `in_names` also
   between the words of a name. Returns where the second line begins, or 0 if there is no such place. Stores
   the width of the wider line. */
ZT__PRIVATE size_t zt__find_break(const char *text, int in_names, size_t *narrowest) {
    size_t i, cut = 0, length = strlen(text);
    *narrowest = length;
    for (i = 1; i < length; i++) {
        size_t blank = text[i - 1] == ' ' ? 1 : 0;
        size_t width = i - blank > length - i ? i - blank : length - i;
        if ((blank || (in_names && zt__begins_word(text, i))) && width < *narrowest) {
            *narrowest = width;
            cut = i;
        }
    }
    return cut;
}

/* Returns whether a byte is not the first of a character of UTF-8. */
ZT__PRIVATE int zt__continues_character(char byte) {
    return ((unsigned char)byte & 0xC0) == 0x80;
}

/* Makes a heading of a name and its units, in at most two lines. What is too long for that is shortened in
   the middle. Returns 0 if the heading is hard to read: shortened, or broken inside of a word. */
ZT__PRIVATE int zt__make_heading(char heading[64], const char *name, const char *units) {
    enum { SHORT = 12, LONGEST = 18 };
    char text[512];
    size_t length, narrowest, width, cut, i;
    int is_shortened = 0;
    snprintf(text, sizeof text, "%.400s%s%.40s", name, *units ? " " : "", units);
    length = strlen(text);
    cut = zt__find_break(text, 0, &narrowest);
    if (narrowest > SHORT) {
        cut = zt__find_break(text, 1, &narrowest);
    }
    if (cut == 0 && length <= LONGEST) {
        strcpy(heading, text);
        return 1;
    }
    width = cut - (cut > 0 && text[cut - 1] == ' ');
    if (narrowest > LONGEST) {
        is_shortened = length > 2 * LONGEST;
        cut = length - LONGEST;
        while (zt__continues_character(text[cut])) {
            cut++;
        }
        for (i = cut; is_shortened && i < length; i++) {
            if (zt__begins_word(text, i)) {
                cut = i;
                break;
            }
        }
        width = is_shortened ? LONGEST - 3 : cut;
        while (zt__continues_character(text[width])) {
            width--;
        }
    }
    memcpy(heading, text, width);
    strcpy(heading + width, is_shortened ? "...\n" : "\n");
    strcat(heading, text + cut);
    return narrowest <= LONGEST;
}

/* Shows a figure with the decimals of its column. A positive figure that would be shown as 0 is "<0.1". */
ZT__PRIVATE void zt__show_figure(zt__cell *cell, const zt__figure_column *column, double figure) {
    static const double steps[] = {1, 0.1, 0.01, 0.001};
    double value = figure / column->scale, step = steps[column->decimals];
    cell->text = cell->number;
    if (zt__is_nan(figure)) {
        strcpy(cell->number, "-");
    } else if (column->texts) {
        cell->text = column->texts[(uint32_t)figure];
    } else if (fabs(value) >= 1e12) {
        snprintf(cell->number, sizeof cell->number, "%.2e", value);
    } else if (value > 0 && value < step / 2) {
        snprintf(cell->number, sizeof cell->number, "<%.*f", column->decimals, step);
    } else {
        snprintf(cell->number, sizeof cell->number, "%.*f", column->decimals, value);
    }
}

ZT__PRIVATE size_t zt__heading_width(const char *heading) {
    const char *second = strchr(heading, '\n');
    size_t width = zt__shown_width(heading), below = second ? zt__shown_width(second + 1) : 0;
    width -= second ? below + 1 : 0; /* the line feed is shown as one column */
    return width > below ? width : below;
}

/* Stores the decimals that a column needs, and its width. */
ZT__PRIVATE void zt__measure_column(const zt__figure_table *table, zt__figure_column *column, int is_share) {
    double smallest = zt__nan(), largest = zt__nan(), least = zt__nan(), power;
    double enough = table->is_precise ? 999.5 : 99.95;
    int are_integers = 1;
    zt__cell cells[3];
    uint32_t row, i;
    for (row = 0; row < table->row_count; row++) {
        double value = table->rows[row].figures[column->figure] / column->scale;
        if (zt__is_nan(value)) {
            continue;
        }
        are_integers &= fabs(value) < 1e15 && (double)(int64_t)value == value;
        if (zt__is_positive(value) && (zt__is_nan(smallest) || value < smallest)) {
            smallest = value;
        }
        least = zt__is_nan(least) || value < least ? value : least;
        largest = zt__is_nan(largest) || value > largest ? value : largest;
    }
    /* Three or four significant digits of the smallest figure, and not more than six of the largest. */
    column->decimals = 0;
    if (!are_integers && is_share) {
        column->decimals = 1;
    } else if (!are_integers && !zt__is_nan(smallest)) {
        for (power = 1; column->decimals < 3 && smallest * power < enough && largest * power < 99999.5;
             power *= 10) {
            column->decimals++;
        }
    }
    column->width = zt__heading_width(column->heading);
    zt__show_figure(&cells[0], column, smallest * column->scale);
    zt__show_figure(&cells[1], column, least * column->scale);
    zt__show_figure(&cells[2], column, largest * column->scale);
    for (i = 0; i < ZT__COUNT_OF(cells); i++) {
        size_t width = zt__shown_width(cells[i].text);
        column->width = width > column->width ? width : column->width;
    }
}

/* Adds a column. Times are shown in the time unit of the table. Other figures that add up get a prefix that
   suits the largest: "bytes" becomes "MB", and "/s" becomes "M/s". Figures that do not add up keep their
   units. A column without figures is left out, unless its rank is 0. Returns as zt__make_heading. */
ZT__PRIVATE int zt__add_figures(zt__figure_table *table, uint32_t figure, const char *name, const char *units,
                                int adds_up, int rank) {
    static const char *const prefixes[] = {"", "k", "M", "G", "T"};
    zt__figure_column *column = &table->columns[table->column_count++];
    int is_share = strcmp(units, "percent") == 0 || strcmp(units, "%") == 0, is_readable;
    size_t length = strlen(units);
    double largest = 0;
    int has_figures = 0;
    uint32_t i, prefix = 0;
    char unit[64];
    memset(column, 0, sizeof *column);
    column->figure = figure;
    column->scale = 1;
    column->rank = rank;
    snprintf(unit, sizeof unit, "%.40s", is_share ? "%" : units);
    if (length > 3 && strcasecmp(units + length - 3, "Bps") == 0) { /* GBpS */
        snprintf(unit, sizeof unit, "%.*s/s", (int)length - 2 < 40 ? (int)length - 2 : 40, units);
    }
    for (i = 0; i < table->row_count; i++) {
        double value = table->rows[i].figures[figure];
        largest = zt__is_positive(value) && value > largest ? value : largest;
        has_figures |= !zt__is_nan(value);
    }
    if (rank > 0 && !has_figures) {
        table->column_count--;
        return 1;
    }
    for (i = 0; i < ZT__COUNT_OF(zt__time_units); i++) {
        if (strcmp(units, zt__time_units[i].name) == 0) {
            column->scale = zt__time_units[table->time_unit].ns / zt__time_units[i].ns;
            strcpy(unit, zt__time_units[table->time_unit].name);
            adds_up = 0;
        }
    }
    for (; adds_up && *units && prefix + 1 < ZT__COUNT_OF(prefixes) && largest >= column->scale * 1e4;
         prefix++) {
        column->scale *= 1e3;
    }
    if (adds_up && strncmp(units, "bytes", 5) == 0) { /* bytes, or bytes/s */
        snprintf(unit, sizeof unit, "%sB%.40s", prefixes[prefix], units + 5);
    } else if (prefix > 0) {
        snprintf(unit, sizeof unit, "%s%s%.40s", prefixes[prefix], *units == '/' ? "" : " ", units);
    } else if (strcmp(units, "events") == 0) {
        unit[0] = 0; /* a count needs no unit */
    }
    is_readable = zt__make_heading(column->heading, name, unit);
    zt__measure_column(table, column, is_share);
    return is_readable;
}

/* Adds a column that is always shown. Its figures are indices of `texts`. */
ZT__PRIVATE void zt__add_texts(zt__figure_table *table, uint32_t figure, const char *name,
                               const char *const *texts) {
    zt__figure_column *column = &table->columns[table->column_count++];
    uint32_t i;
    memset(column, 0, sizeof *column);
    column->figure = figure;
    column->texts = texts;
    column->scale = 1;
    zt__make_heading(column->heading, name, "");
    column->width = zt__heading_width(column->heading);
    for (i = 0; i < table->row_count; i++) {
        size_t width = strlen(texts[(uint32_t)table->rows[i].figures[figure]]);
        column->width = width > column->width ? width : column->width;
    }
}

ZT__PRIVATE size_t zt__widest_name(const zt__figure_table *table) {
    size_t widest = zt__shown_width(table->heading);
    uint32_t i;
    for (i = 0; i < table->row_count && widest < table->longest_name; i++) {
        size_t width = zt__shown_width(table->rows[i].name);
        widest = width > widest ? width : widest;
    }
    return widest < table->longest_name ? widest : table->longest_name;
}

/* Leaves out columns that do not fit into `room`, those with the highest rank first. Columns of rank 0 stay.
   The room that is left goes to the names. */
ZT__PRIVATE void zt__fit_columns(zt__figure_table *table, size_t room) {
    enum { SHORTEST_NAME = 16, HIGHEST_RANK = 3 };
    uint32_t i, kept = 0;
    size_t used;
    int rank;
    table->longest_name = room / 4 > SHORTEST_NAME ? room / 4 : (size_t)SHORTEST_NAME;
    used = zt__widest_name(table);
    for (rank = 0; rank <= HIGHEST_RANK; rank++) {
        for (i = 0; i < table->column_count; i++) {
            size_t width = 2 + table->columns[i].width;
            if (table->columns[i].rank == rank && (rank == 0 || used + width <= room)) {
                table->columns[i].rank = -1; /* stays */
                used += width;
            }
        }
    }
    for (i = 0; i < table->column_count; i++) {
        if (table->columns[i].rank == -1) {
            table->columns[kept++] = table->columns[i];
        }
    }
    table->column_count = kept;
    if (used < room) {
        table->longest_name += room - used;
    }
}

/* The columns of a table of figures that are written beside each other: `user` of zt__fill_figures. */
typedef struct zt__figure_part {
    const zt__figure_table *table;
    uint32_t first, count;
} zt__figure_part;

ZT__PRIVATE void zt__fill_figures(const void *user, uint32_t row, zt__cell *cells) {
    const zt__figure_part *part = (const zt__figure_part *)user;
    uint32_t i;
    cells[0].text = part->table->rows[row].name;
    for (i = 0; i < part->count; i++) {
        const zt__figure_column *column = &part->table->columns[part->first + i];
        zt__show_figure(&cells[1 + i], column, part->table->rows[row].figures[column->figure]);
    }
}

/* Writes a table. Columns that do not fit into `room` follow in another one below. */
ZT__PRIVATE void zt__write_figures(zt__writer *writer, const zt__figure_table *table, size_t room) {
    enum { MOST = 48 };
    zt__table_column columns[1 + MOST];
    zt__cell cells[1 + MOST];
    zt__figure_part part = {table, 0, 0};
    zt__table shown;
    memset(&shown, 0, sizeof shown);
    shown.columns = columns;
    shown.cells = cells;
    shown.row_count = table->row_count;
    shown.fill_row = zt__fill_figures;
    shown.user = &part;
    do {
        size_t used = zt__widest_name(table);
        memset(columns, 0, sizeof columns);
        columns[0].heading = table->heading;
        columns[0].is_text = 1;
        columns[0].longest = table->longest_name;
        for (part.count = 0; part.count < MOST && part.first + part.count < table->column_count;
             part.count++) {
            const zt__figure_column *column = &table->columns[part.first + part.count];
            used += 2 + column->width;
            if (part.count > 0 && used > room) {
                break;
            }
            columns[1 + part.count].heading = column->heading;
        }
        shown.column_count = 1 + part.count;
        zt__write_text(writer, part.first > 0 ? "\n" : "");
        zt__write_table(writer, &shown);
        part.first += part.count;
    } while (part.first < table->column_count);
}

/* ==== >>process: what all copies of this header in a process share ======================================== */

/* All copies of this header in a process (see PROCESSES) share one block of memory. They find it by an
   environment variable, as OpenMP runtimes do. Its value consists of the process identifier, a hash of random
   bytes that exec changes, and the address of the block. The hash is needed because exec keeps both the
   identifier and the environment. The number in the variable's name changes with the layout of the block. */

enum { ZT__MAX_PROFILERS = 256, ZT__MAX_ACTIVE_GROUPS = 64 };

/* A metric group that profilers or a stream of this process have activated. */
typedef struct zt__active_group {
    ze_device_handle_t device;
    zet_metric_group_handle_t group;
    uint32_t domain;
    uint32_t users;  /* 0: the entry is free */
    int is_streamed; /* a stream uses it, and does not share it */
    char name[ZET_MAX_METRIC_GROUP_NAME];
} zt__active_group;

typedef struct zt__process {
    zt__mutex mutex;        /* guards what follows, and activation and calculation in the driver */
    pthread_key_t depth;    /* how many ZT__INTERNAL sections a thread is in */
    pthread_key_t messages; /* a zt__thread_messages, or NULL */
    zt__active_group active_groups[ZT__MAX_ACTIVE_GROUPS];
    zt_profiler *profilers[ZT__MAX_PROFILERS]; /* those that are open. Atomic: found without the mutex */
    uint32_t profiler_ids[ZT__MAX_PROFILERS];  /* of each. Atomic, for the same reason */
    uint32_t serial;                           /* of the profiler opened last */
    uint32_t reporting, automatic;             /* profilers with reports of ZT_REPORT, of zt_auto. Atomic */
} zt__process;

#define ZT__PROCESS_VARIABLE "ZETOOLS_PROCESS_3"

static zt__process *zt__known_process;                          /* atomic */
static zt__mutex zt__process_setup = PTHREAD_MUTEX_INITIALIZER; /* held until the block is known */

/* A forked child creates a new block, because a thread of the parent may hold the mutex of the old one. None
   of the parent's threads is in the child. */
ZT__PRIVATE void zt__after_fork(void) {
    zt__store(&zt__known_process, (zt__process *)NULL);
    zt__system_thread = 0;
    pthread_mutex_init(&zt__process_setup, NULL);
    pthread_mutex_init(&zt__threads.mutex, NULL);
    zt__threads.first = NULL;
}

ZT__PRIVATE zt__process *zt__create_process(void) {
    zt__process *process = (zt__process *)calloc(1, sizeof *process);
    if (!process) {
        return NULL;
    }
    if (pthread_key_create(&process->depth, NULL) != 0) {
        free(process);
        return NULL;
    }
    if (pthread_key_create(&process->messages, free) != 0) {
        pthread_key_delete(process->depth);
        free(process);
        return NULL;
    }
    pthread_mutex_init(&process->mutex, NULL);
    /* A forked child has other numbers than its parent, and so ignores regions that the parent has begun. */
    process->serial = (uint32_t)getpid() * 2654435761u;
    return process;
}

/* Returns the block at the address in the variable, or NULL if the variable is of another process. */
ZT__PRIVATE zt__process *zt__read_process_variable(const char *identity) {
    const char *value = getenv(ZT__PROCESS_VARIABLE);
    size_t length = strlen(identity);
    void *address = NULL;
    if (!value || strncmp(value, identity, length) != 0 || sscanf(value + length, "%p", &address) != 1) {
        return NULL;
    }
    return (zt__process *)address;
}

/* Returns the block whose address is in the variable. The first copy creates it. NULL without memory. */
ZT__PRIVATE zt__process *zt__find_or_create_process(void) {
    const void *image = (const void *)(uintptr_t)getauxval(AT_RANDOM); /* random bytes, which exec changes */
    char identity[64], value[128];
    zt__process *process, *created;
    snprintf(identity, sizeof identity, "%ld.%016llx.", (long)getpid(),
             (unsigned long long)(image ? zt__hash(image, 16) : 0));
    process = zt__read_process_variable(identity);
    created = process ? NULL : zt__create_process();
    if (!created) {
        return process;
    }
    snprintf(value, sizeof value, "%s%p", identity, (void *)created);
    if (getenv(ZT__PROCESS_VARIABLE) && !zt__read_process_variable(identity)) {
        setenv(ZT__PROCESS_VARIABLE, value, 1); /* it was inherited from another process */
    }
    setenv(ZT__PROCESS_VARIABLE, value, 0); /* has no effect if another copy has just set it */
    process = zt__read_process_variable(identity);
    if (process != created) {
        pthread_key_delete(created->depth);
        pthread_key_delete(created->messages);
        pthread_mutex_destroy(&created->mutex);
        free(created);
    }
    return process;
}

/* Returns the block of this process, or NULL without memory. */
ZT__PRIVATE zt__process *zt__get_process(void) {
    static int handles_fork; /* atomic */
    zt__process *process = zt__load(&zt__known_process);
    if (process) {
        return process;
    }
    if (!__atomic_exchange_n(&handles_fork, 1, __ATOMIC_RELAXED)) {
        pthread_atfork(NULL, NULL, zt__after_fork);
    }
    zt__lock(&zt__process_setup);
    process = zt__load(&zt__known_process);
    if (!process) {
        process = zt__find_or_create_process();
        zt__store(&zt__known_process, process);
    }
    zt__unlock(&zt__process_setup);
    return process;
}

/* ---- internal driver calls ------------------------------------------------------------------------------- */

/* Returns how many ZT__INTERNAL sections this thread is in. */
ZT__PRIVATE uintptr_t zt__get_depth(void) {
    zt__process *process = zt__get_process();
    return process ? (uintptr_t)pthread_getspecific(process->depth) : 0;
}

ZT__PRIVATE void zt__change_depth(int by) {
    zt__process *process = zt__get_process();
    if (process) {
        uintptr_t depth = (uintptr_t)pthread_getspecific(process->depth) + (uintptr_t)(intptr_t)by;
        pthread_setspecific(process->depth, (void *)depth);
    }
}

/* Runs a statement whose driver calls the tracer ignores. Calls of the tools interface (zet...) do not need
   this, because the loader does not trace them. */
#define ZT__INTERNAL(statement)                                                                              \
    do {                                                                                                     \
        zt__change_depth(1);                                                                                 \
        statement;                                                                                           \
        zt__change_depth(-1);                                                                                \
    } while (0)

/* ---- messages of a thread -------------------------------------------------------------------------------- */

typedef struct zt__message_text {
    ze_result_t result;
    char text[1024];
} zt__message_text;

typedef struct zt__thread_messages {
    zt__message_text last; /* of calls without a profiler or stream */
    zt__message_text copy; /* what zt_get_last_error has returned for a profiler or stream */
} zt__thread_messages;

/* Returns the messages of this thread, or NULL without memory. */
ZT__PRIVATE zt__thread_messages *zt__get_thread_messages(void) {
    zt__process *process = zt__get_process();
    zt__thread_messages *messages;
    if (!process) {
        return NULL;
    }
    messages = (zt__thread_messages *)pthread_getspecific(process->messages);
    if (!messages) {
        messages = (zt__thread_messages *)calloc(1, sizeof *messages);
        if (messages) {
            pthread_setspecific(process->messages, messages);
        }
    }
    return messages;
}

/* ==== >>diagnostics: names of results, and the list of messages =========================================== */

/* ---- names of results and causes ------------------------------------------------------------------------- */

#define ZT__CASE(name)                                                                                       \
    case name:                                                                                               \
        return #name
/* Results that older headers lack. */
#define ZT__CASE_NEWER(name, value)                                                                          \
    case value:                                                                                              \
        return #name
ZT_API const char *zt_result_name(ze_result_t result) {
    switch ((uint32_t)result) {
        ZT__CASE(ZE_RESULT_SUCCESS);
        ZT__CASE(ZE_RESULT_NOT_READY);
        ZT__CASE(ZE_RESULT_ERROR_DEVICE_LOST);
        ZT__CASE(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
        ZT__CASE(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
        ZT__CASE(ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
        ZT__CASE(ZE_RESULT_ERROR_MODULE_LINK_FAILURE);
        ZT__CASE(ZE_RESULT_ERROR_DEVICE_REQUIRES_RESET);
        ZT__CASE(ZE_RESULT_ERROR_DEVICE_IN_LOW_POWER_STATE);
        ZT__CASE(ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS);
        ZT__CASE(ZE_RESULT_ERROR_NOT_AVAILABLE);
        ZT__CASE(ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE);
        ZT__CASE(ZE_RESULT_WARNING_DROPPED_DATA);
        ZT__CASE(ZE_RESULT_ERROR_UNINITIALIZED);
        ZT__CASE(ZE_RESULT_ERROR_UNSUPPORTED_VERSION);
        ZT__CASE(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
        ZT__CASE(ZE_RESULT_ERROR_INVALID_ARGUMENT);
        ZT__CASE(ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
        ZT__CASE(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
        ZT__CASE(ZE_RESULT_ERROR_INVALID_NULL_POINTER);
        ZT__CASE(ZE_RESULT_ERROR_INVALID_SIZE);
        ZT__CASE(ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
        ZT__CASE(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT);
        ZT__CASE(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT);
        ZT__CASE(ZE_RESULT_ERROR_INVALID_ENUMERATION);
        ZT__CASE(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION);
        ZT__CASE(ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT);
        ZT__CASE(ZE_RESULT_ERROR_INVALID_NATIVE_BINARY);
        ZT__CASE(ZE_RESULT_ERROR_INVALID_GLOBAL_NAME);
        ZT__CASE(ZE_RESULT_ERROR_INVALID_KERNEL_NAME);
        ZT__CASE(ZE_RESULT_ERROR_INVALID_FUNCTION_NAME);
        ZT__CASE(ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION);
        ZT__CASE(ZE_RESULT_ERROR_INVALID_GLOBAL_WIDTH_DIMENSION);
        ZT__CASE(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX);
        ZT__CASE(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE);
        ZT__CASE(ZE_RESULT_ERROR_INVALID_KERNEL_ATTRIBUTE_VALUE);
        ZT__CASE(ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED);
        ZT__CASE(ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE);
        ZT__CASE(ZE_RESULT_ERROR_OVERLAPPING_REGIONS);
        ZT__CASE(ZE_RESULT_ERROR_UNKNOWN);
        ZT__CASE_NEWER(ZE_RESULT_EXP_ERROR_DEVICE_IS_NOT_VERTEX, 0x7ff00001);
        ZT__CASE_NEWER(ZE_RESULT_EXP_ERROR_VERTEX_IS_NOT_DEVICE, 0x7ff00002);
        ZT__CASE_NEWER(ZE_RESULT_EXP_ERROR_REMOTE_DEVICE, 0x7ff00003);
        ZT__CASE_NEWER(ZE_RESULT_EXP_ERROR_OPERANDS_INCOMPATIBLE, 0x7ff00004);
        ZT__CASE_NEWER(ZE_RESULT_EXP_RTAS_BUILD_RETRY, 0x7ff00005);
        ZT__CASE_NEWER(ZE_RESULT_EXP_RTAS_BUILD_DEFERRED, 0x7ff00006);
        ZT__CASE_NEWER(ZE_RESULT_WARNING_ACTION_REQUIRED, 0x7800001b);
        ZT__CASE_NEWER(ZE_RESULT_ERROR_INVALID_KERNEL_HANDLE, 0x7800001c);
        ZT__CASE_NEWER(ZE_RESULT_EXT_RTAS_BUILD_RETRY, 0x7800001d);
        ZT__CASE_NEWER(ZE_RESULT_EXT_RTAS_BUILD_DEFERRED, 0x7800001e);
        ZT__CASE_NEWER(ZE_RESULT_EXT_ERROR_OPERANDS_INCOMPATIBLE, 0x7800001f);
        ZT__CASE_NEWER(ZE_RESULT_ERROR_SURVIVABILITY_MODE_DETECTED, 0x78000020);
        ZT__CASE_NEWER(ZE_RESULT_ERROR_ADDRESS_NOT_FOUND, 0x78000021);
        ZT__CASE_NEWER(ZE_RESULT_QUERY_TRUE, 0x78000022);
        ZT__CASE_NEWER(ZE_RESULT_QUERY_FALSE, 0x78000023);
        ZT__CASE_NEWER(ZE_RESULT_ERROR_INVALID_GRAPH, 0x78000024);
        ZT__CASE_NEWER(ZE_RESULT_ERROR_GRAPH_CAPTURE_UNSUPPORTED, 0x78000025);
        ZT__CASE_NEWER(ZE_RESULT_ERROR_GRAPH_CAPTURE_INVALIDATED, 0x78000026);
        ZT__CASE_NEWER(ZE_RESULT_ERROR_GRAPH_CAPTURE_MERGE_ATTEMPT, 0x78000027);
        ZT__CASE_NEWER(ZE_RESULT_ERROR_COMMAND_LIST_NOT_CAPTURING, 0x78000028);
        ZT__CASE_NEWER(ZE_RESULT_ERROR_GRAPH_UNJOINED_FORKS, 0x78000029);
        ZT__CASE_NEWER(ZE_RESULT_ERROR_GRAPH_INTERNAL_EVENT, 0x7800002a);
    default:
        return "an unknown ze_result_t";
    }
}
#undef ZT__CASE
#undef ZT__CASE_NEWER

ZT_API const char *zt_cause_name(zt_cause cause) {
    static const char *const names[ZT_CAUSE_COUNT] = {
        "report error",
        "report lost",
        "report without workload",
        "report inconsistent",
        "context mismatch",
        "query mode mismatch",
        "overrun",
        "query split",
        "never delivered",
        "overwritten",
        "other pass",
        "read failed",
        "implausible GPU time",
        "device lost",
        "no slot",
        "no memory",
        "too many names",
        "append failed",
        "not ended",
        "begun after device loss",
    };
    return (unsigned)cause < ZT_CAUSE_COUNT ? names[cause] : "unknown";
}

/* ---- messages -------------------------------------------------------------------------------------------- */

/* The identifier and format of each message: what happened, the call and its result, and what to do. All
   messages are here whatever the options are, because the size of zt_profiler depends on their number, and
   files with different options may use the same profiler. */
#define ZT__MESSAGES(X)                                                                                      \
    X(CALL_FAILED, "%s failed: %s. %s")                                                                      \
    X(NULL_ARGUMENT, "%s: %s is NULL. Pass a valid one.")                                                    \
    X(BAD_ALLOCATOR, "%s: config.allocator has only one of its two functions. Set both or none.")            \
    X(NO_MEMORY, "%s: out of host memory for %s. Free some, or lower config.max_slots and config.samples.")  \
    X(DEVICE_LOST, "%s failed: %s. The device is lost; samples in flight are counted as lost. Open a new "   \
                   "profiler when the device is back.")                                                      \
    X(TOO_MANY_PROFILERS, "zt_open: %u profilers are open in this process. Close some.")                     \
    X(TOO_MANY_GROUPS, "zt_open: more than %u metric groups are named. Name fewer.")                         \
    X(TOO_MANY_METRICS, "zt_open: config.metrics names more than %u metrics. Name fewer.")                   \
    X(METRICS_NOT_ENABLED, "%s failed: %s. Metrics are not enabled in the driver, and it has no "            \
                           "zetDeviceEnableMetricsExp that works. Set ZET_ENABLE_METRICS=1 in the "          \
                           "environment before zeInit.")                                                     \
    X(METRIC_LIBRARY_MISSING, "zetMetricGroupGet: the device lists no counters (%u groups in all). The "     \
                              "driver's metric libraries are missing: install Intel Metrics Discovery and "  \
                              "Metrics Library (libigdmd, libigdml) of the driver's version.")               \
    X(NO_PERMISSION, "%s failed: %s. The system reserves metrics for privileged users. As root, write 0 to " \
                     "%s, or run with CAP_PERFMON.")                                                         \
    X(COUNTERS_IN_USE, "%s failed: %s. The device's counters are in use by %s. Close it, then open again.")  \
    X(METRICS_UNAVAILABLE, "%s failed: %s. Metrics cannot be measured on this device; regions have times.")  \
    X(TIMES_BY_CHOICE, "zt_open: no metric groups are requested; regions have only times. Name some in "     \
                       "config.groups or ZT_GROUPS.")                                                        \
    X(NO_SUCH_GROUP, "%s: the device has no %s metric group '%.64s'. Nearest: %s.")                          \
    X(INSTRUCTION_SAMPLING,                                                                                  \
      "%s: metric group '%.64s' samples instructions: it has a row for each address, not "                   \
      "for each period. Name another group.")                                                                \
    X(NO_SUCH_METRIC, "%s: there is no metric '%.64s'. Nearest: %s.")                                        \
    X(GROUPS_CONFLICT,                                                                                       \
      "zt_open: metric groups '%s' and '%s' share domain %u and cannot be active together. "                 \
      "Name one of them, or repeat the work with ZT_PASSES and raise config.max_passes.")                    \
    X(TOO_MANY_PASSES, "zt_open: the metric groups need %u passes, and config.max_passes is %u. Name fewer " \
                       "groups, or raise it.")                                                               \
    X(PASS_FAILED, "ZT_PASSES: pass %u is left out, because its metric groups cannot be used: %s. Other "    \
                   "users of the counters: %s. Close them, then repeat.")                                    \
    X(NO_THREAD, "zt_open: config.thread is set, but no thread can be started%s. Call zt_collect() now and " \
                 "then instead.")                                                                            \
    X(NO_SLOT, "zt_begin: all %u slots are in use, %u of them bound to recorded lists. Region '%.64s' is "   \
               "not measured. Call zt_collect() more often, zt_reset() or zt_release() for lists that are "  \
               "reset or destroyed, or raise config.max_slots.")                                             \
    X(TOO_MANY_NAMES, "zt_begin: more than %u names of regions. Do not put numbers that change into names.") \
    X(REGION_NOT_ENDED, "%s: region '%.64s' was begun and not ended. It is dropped. Call "                   \
                        "zt_end() for it.")                                                                  \
    X(REGION_OPEN, "zt_collect: region '%.64s' is not ended, so it is not collected. Call zt_end() for it.") \
    X(OVERWRITTEN,                                                                                           \
      "zt_execute: the last execution of a list did not finish in time. Its samples are "                    \
      "overwritten and counted as lost. Raise config.wait_timeout_ns, or execute several lists "             \
      "in turn.")                                                                                            \
    X(UNOBSERVED_LIST, "zt_collect: a command list with region '%.64s' ran outside of zt_execute. Only its " \
                       "last execution before each collection is measured. Execute it with zt_execute().")   \
    X(SAMPLE_LOST, "zt_collect: a sample of region '%.64s' is lost: %s. It is counted, and kept out of the " \
                   "statistics.")                                                                            \
    X(NOT_FINISHED, "%s: %llu samples were still in flight when the time was up, and are counted as lost. "  \
                    "Synchronise with the device before, or raise config.wait_timeout_ns.")                  \
    X(DROPPED_RUNNING, "%s: %llu dropped regions may still run on the device. What it may write to is not "  \
                       "freed. Synchronise with the device before, or raise config.wait_timeout_ns.")        \
    X(INSIDE_CALLBACK, "%s was called from the sample or log function, which runs while samples are "        \
                       "collected. Call it elsewhere.")                                                      \
    X(INSIDE_LOG, "%s was called from the log function. What reports this message still uses what it would " \
                  "free. Call it elsewhere.")                                                                \
    X(COLLECTOR_BUSY, "%s: another thread was still collecting when the time was up. Try again, or shorten " \
                      "the sample function.")                                                                \
    X(BAD_FIGURE, "%s: %s is %g. Pass a finite number that is not negative.")                                \
    X(BAD_INDEX, "%s: index %u is too high. Call zt_get_%s_count() first.")                                  \
    X(CLOCKS_UNRELATED, "%s failed: %s. Device time and host time cannot be related, so there is no "        \
                        "timeline. Update loader and driver, or set config.timeline to 0.")                  \
    X(THREAD_HANGS, "%s: a thread of the library's own does not return from the driver, or from "            \
                    "config.sample. Nothing is closed. Close it again later.")                               \
    /* of merging and reports */                                                                             \
    X(CANNOT_WRITE, "%s: cannot write '%.512s': %s. Check the directory, its permissions and space.")        \
    X(WRITE_STOPPED, "%s: the write function returned that it cannot go on.")                                \
    X(BAD_FORMAT, "zt_write: %d is not a zt_format. Pass one of ZT_FORMAT_TABLE, _CSV, _JSON, _TRACE, "      \
                  "_HTML, _OPENMETRICS and _INSTANCES.")                                                     \
    X(UNKNOWN_SUFFIX, "%s: the suffix of '%.512s' is none of .txt (or none: a table), .csv, .json, "         \
                      ".trace.json, .html, .htm, .prom and .instances.csv. Use one of these.")               \
    X(BAD_VARIABLE, "zt_open: %s is '%.64s' in the environment, and not %s. It is ignored.")                 \
    X(NO_KEPT_SAMPLES, "zt_write: this report shows the timeline, and this profiler keeps none. Set "        \
                       "config.timeline to the number of samples to keep, such as 65536.")                   \
    X(LAYOUTS_DIFFER,                                                                                        \
      "zt_merge: the profilers do not measure the same: %s. Open both with the same groups.")                \
    X(MERGE_SELF, "zt_merge: a profiler cannot be merged into itself. Pass another.")                        \
    X(BAD_PACK, "zt_unpack: %s. Pass what zt_pack wrote, whole and unchanged.")                              \
    X(TOO_MANY_UNPACKED, "zt_unpack: %u profilers are open in this process. Close some.")                    \
    X(OTHER_PACK, "zt_unpack: the buffer has layout %u, and zetools " ZETOOLS_VERSION                        \
                  " reads layout %u. Pack and unpack with the same version.")                                \
    X(BUFFER_TOO_SMALL, "zt_pack: the buffer has %llu bytes, and %llu are needed. Call it with a NULL "      \
                        "buffer first, while nothing is collected.")                                         \
    /* of streams */                                                                                         \
    X(MEMORY_LIMIT, "%s: config.memory_limit is %llu bytes, and group '%s' needs %llu. Raise it.")           \
    X(NO_TIMELINE, "zt_stream_open: config.profiler keeps no timeline. Set its config.timeline.")            \
    X(SEVERAL_TILES, "zt_stream_open: the device has %u tiles, and group '%.64s' cannot be sampled on all "  \
                     "of them at once. Open a stream on each sub-device (zeDeviceGetSubDevices).")           \
    X(NO_READER, "zt_stream_open: config.reader is set, and %s. Call zt_stream_read() often instead.")       \
    X(STREAM_GAP, "zetMetricStreamerReadData: the device dropped data that were not read in time. Call "     \
                  "zt_stream_read() more often, set config.reader, or raise config.period_ns.")              \
    X(NOT_CALCULATED, "zetMetricGroupCalculateMetricValues failed: %s. These reports are discarded. Update " \
                      "the driver if this persists.")                                                        \
    X(STREAM_BUSY, "%s: the stream is being read. Do not call this from the function that receives rows, "   \
                   "nor from two threads at once.")                                                          \
    X(CANNOT_MARK, "zt_stream_mark: '%.64s' is not marked: %s.")                                             \
    X(ROWS_BUSY, "zt_close: a thread that reads a stream still attributes its rows to samples of this "      \
                 "profiler. The streams are detached, and the profiler stays open. Close it again later.")   \
    /* of the tracer */                                                                                      \
    X(TRACING_OFF, "%s: no callback was called (%s), so the loader's tracing layer is off. Set "             \
                   "ZE_ENABLE_TRACING_LAYER=1 in the environment before zeInit, and install the loader's "   \
                   "libze_tracing_layer.")                                                                   \
    X(TRACING_ALREADY, "zt_trace_start: this profiler is already tracing. Call zt_trace_stop() first.")      \
    X(NO_SUCH_CALL, "%s: '%.64s' is not a call that can be traced. Nearest: %s.")                            \
    X(BAD_HOOKS, "%s: config.hooks is NULL, or has more than %u. Pass fewer.")                               \
    X(INSIDE_HOOK, "%s was called from a callback of the tracer, which it would have to wait for. Call it "  \
                   "elsewhere.")                                                                             \
    X(CALLS_IN_PROGRESS,                                                                                     \
      "%s: a traced call was still in progress when the time was up. The tracer stays, "                     \
      "switched off, until that call ends. Raise config.wait_timeout_ns, or end the wait "                   \
      "in that call.")                                                                                       \
    /* of zt_bench */                                                                                        \
    X(NOTHING_TO_BENCH, "%s: config.run and config.measure are both NULL. Set one.")                         \
    X(NO_BENCH_SAMPLE, "%s: '%.64s' has no sample: %s. Put a region of the profiler that it receives "       \
                       "around the work, and make sure that the work ends.")                                 \
    X(BENCH_SUFFIX, "%s: the suffix of '%.512s' is none of %s. Use one of these.")                           \
    X(CANNOT_READ, "zt_compare_benches: cannot read '%.512s': %s. Check the path, or write the file with "   \
                   "zt_report_benches first.")                                                               \
    X(BAD_BENCHES, "zt_compare_benches: '%.512s' %s. Write it anew with zt_report_benches.")                 \
    X(NEWER_BENCHES, "zt_compare_benches: '%.512s' has layout %.16s, and zetools " ZETOOLS_VERSION           \
                     " reads layout %u. Use the newer version here too, or write the file anew.")

typedef enum zt__message {
#define X(identifier, format) ZT__##identifier,
    ZT__MESSAGES(X)
#undef X
        ZT__MESSAGE_COUNT
} zt__message;

/* Each format is a constant of its own, so that compilers check the arguments of zt__report. */
#define X(identifier, format)                                                                                \
    static const char zt__format_##identifier[] ZT__UNUSED = "[" #identifier "] " format;
ZT__MESSAGES(X)
#undef X

/* The messages of a profiler or stream. */
typedef struct zt__diagnostics {
    zt__mutex *mutex; /* of the profiler or stream */
    zt__message_text last;
    uint8_t logged[ZT__MESSAGE_COUNT]; /* not 0: a message of this kind was logged, which is done once */
    zt_log_fn log;
    void *log_user;
    int device_lost; /* atomic */
} zt__diagnostics;

ZT__PRIVATE void zt__log_to_stderr(int result, const char *text, void *user) {
    (void)result;
    (void)user;
    fprintf(stderr, "zetools: %s\n", text);
}

/* Returns the log function of an application that has set none: with ZT_LOG, one that prints; else NULL. */
ZT__PRIVATE zt_log_fn zt__default_log(void) {
    const char *log = getenv("ZT_LOG");
    return log && strcmp(log, "stderr") == 0 ? zt__log_to_stderr : NULL;
}

/* The log functions that this thread is in, from the innermost. */
typedef struct zt__log_call {
    const zt__diagnostics *diagnostics;
    const struct zt__log_call *outer;
} zt__log_call;
static ZT__THREAD_LOCAL const zt__log_call *zt__log_calls;

/* zt__report(diagnostics, IDENTIFIER, result, arguments...) stores a message as the last one of a profiler or
   stream; if `diagnostics` is NULL, as that of the thread. Logs it if it is the first of its kind and
   `result` is not SUCCESS. Returns `result`. The log function is a callback: no mutex may be held. */
#define zt__report(diagnostics, identifier, ...)                                                             \
    zt__report_message(diagnostics, ZT__##identifier, zt__format_##identifier, __VA_ARGS__)

/* `result` is unsigned, because in C++ va_start must not follow an enumeration. */
ZT__PRIVATE ZT__CHECKED_FORMAT(3, 5) ze_result_t
    zt__report_message(zt__diagnostics *diagnostics, zt__message message, const char *format, unsigned result,
                       ...) {
    zt__message_text now;
    zt__log_call call;
    int log;
    va_list arguments;
    va_start(arguments, result);
    vsnprintf(now.text, sizeof now.text, format, arguments);
    va_end(arguments);
    now.result = (ze_result_t)result;
    if (!diagnostics) {
        zt__thread_messages *messages = zt__get_thread_messages();
        if (messages) {
            messages->last = now;
        }
        if (now.result != ZE_RESULT_SUCCESS && zt__default_log()) {
            zt__log_to_stderr((int)result, now.text, NULL);
        }
        return now.result;
    }
    zt__lock(diagnostics->mutex);
    diagnostics->last = now;
    log = now.result != ZE_RESULT_SUCCESS && !diagnostics->logged[message];
    diagnostics->logged[message] |= (uint8_t)log;
    zt__unlock(diagnostics->mutex);
    if (log && diagnostics->log) {
        call.diagnostics = diagnostics;
        call.outer = zt__log_calls;
        zt__log_calls = &call;
        diagnostics->log((int)result, now.text, diagnostics->log_user);
        zt__log_calls = call.outer;
    }
    return now.result;
}

/* Returns whether `call` was called from the log function of these diagnostics. Reports that. */
ZT__PRIVATE int zt__is_inside_log(zt__diagnostics *diagnostics, const char *call) {
    const zt__log_call *inside = zt__log_calls;
    while (inside && inside->diagnostics != diagnostics) {
        inside = inside->outer;
    }
    if (inside) {
        zt__report(diagnostics, INSIDE_LOG, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, call);
    }
    return inside != NULL;
}

/* Returns whether a call has reported that the device is lost. */
ZT__PRIVATE int zt__is_device_lost(const zt__diagnostics *diagnostics) {
    return zt__load(&diagnostics->device_lost);
}

ZT__PRIVATE int zt__means_device_loss(ze_result_t result) {
    return result == ZE_RESULT_ERROR_DEVICE_LOST || result == ZE_RESULT_ERROR_DEVICE_REQUIRES_RESET;
}

/* Reports and records that the device is lost. Returns `result`. */
ZT__PRIVATE ze_result_t zt__report_device_loss(zt__diagnostics *diagnostics, ze_result_t result,
                                               const char *call) {
    if (diagnostics) {
        zt__store(&diagnostics->device_lost, 1);
    }
    return zt__report(diagnostics, DEVICE_LOST, result, call, zt_result_name(result));
}

/* Reports a driver call unless it has succeeded. Returns `result`. */
ZT__PRIVATE ze_result_t zt__check(zt__diagnostics *diagnostics, ze_result_t result, const char *call,
                                  const char *remedy) {
    if (result == ZE_RESULT_SUCCESS) {
        return result;
    }
    if (zt__means_device_loss(result)) {
        return zt__report_device_loss(diagnostics, result, call);
    }
    return zt__report(diagnostics, CALL_FAILED, result, call, zt_result_name(result), remedy);
}

ZT__PRIVATE ze_result_t zt__report_null(zt__diagnostics *diagnostics, const char *call, const char *what) {
    return zt__report(diagnostics, NULL_ARGUMENT, ZE_RESULT_ERROR_INVALID_NULL_POINTER, call, what);
}

ZT__PRIVATE ze_result_t zt__report_null_handle(zt__diagnostics *diagnostics, const char *call,
                                               const char *what) {
    return zt__report(diagnostics, NULL_ARGUMENT, ZE_RESULT_ERROR_INVALID_NULL_HANDLE, call, what);
}

ZT__PRIVATE ze_result_t zt__report_no_memory(zt__diagnostics *diagnostics, const char *call,
                                             const char *what) {
    return zt__report(diagnostics, NO_MEMORY, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, call, what);
}

/* Returns the last message of a profiler or stream; if `diagnostics` is NULL, that of the thread. It stays
   valid until this thread calls the library again. */
ZT__PRIVATE const char *zt__get_last_error(zt__diagnostics *diagnostics) {
    zt__thread_messages *messages = zt__get_thread_messages();
    if (!messages) {
        return "";
    }
    if (!diagnostics) {
        return messages->last.text;
    }
    zt__lock(diagnostics->mutex);
    messages->copy = diagnostics->last;
    zt__unlock(diagnostics->mutex);
    return messages->copy.text;
}

ZT__PRIVATE ze_result_t zt__get_last_result(zt__diagnostics *diagnostics) {
    zt__thread_messages *messages;
    ze_result_t result;
    if (!diagnostics) {
        messages = zt__get_thread_messages();
        return messages ? messages->last.result : ZE_RESULT_SUCCESS;
    }
    zt__lock(diagnostics->mutex);
    result = diagnostics->last.result;
    zt__unlock(diagnostics->mutex);
    return result;
}

ZT_API const char *zt_version(void) {
    return ZETOOLS_VERSION;
}

/* ==== >>driver: functions that a loader may not have ====================================================== */

/* A loader may lack these, because most are newer than Level Zero 1.0. So they are looked up at run time. */
#define ZT__OPTIONAL_FUNCTIONS(X)                                                                            \
    X(zeCommandListIsImmediate, (ze_command_list_handle_t list, ze_bool_t * is_immediate))                   \
    X(zeDeviceGetGlobalTimestamps, (ze_device_handle_t device, uint64_t * host, uint64_t * ticks))           \
    X(zeDevicePciGetPropertiesExt, (ze_device_handle_t device, ze_pci_ext_properties_t * properties))        \
    X(zesDeviceEnumFrequencyDomains,                                                                         \
      (zes_device_handle_t device, uint32_t * count, zes_freq_handle_t * domains))                           \
    X(zesFrequencyGetProperties, (zes_freq_handle_t domain, zes_freq_properties_t * properties))             \
    X(zesFrequencyGetState, (zes_freq_handle_t domain, zes_freq_state_t * state))                            \
    X(zetDeviceEnableMetricsExp, (ze_device_handle_t device))                                                \
    X(zetDeviceGetConcurrentMetricGroupsExp,                                                                 \
      (ze_device_handle_t device, uint32_t group_count, zet_metric_group_handle_t * groups,                  \
       uint32_t * counts, uint32_t * concurrent_count))                                                      \
    X(zetMetricGroupCalculateMultipleMetricValuesExp,                                                        \
      (zet_metric_group_handle_t group, zet_metric_group_calculation_type_t type, size_t raw_size,           \
       const uint8_t *raw, uint32_t *set_count, uint32_t *value_count, uint32_t *counts,                     \
       zet_typed_value_t *values))                                                                           \
    X(zetMetricGroupGetGlobalTimestampsExp,                                                                  \
      (zet_metric_group_handle_t group, ze_bool_t of_host, uint64_t * global, uint64_t * ticks))

/* A pointer to each of these functions, or NULL if the loader lacks it. */
typedef struct zt__driver {
#define X(name, parameters) ze_result_t(ZE_APICALL *name) parameters;
    ZT__OPTIONAL_FUNCTIONS(X)
#undef X
} zt__driver;

ZT__PRIVATE void zt__load_driver(zt__driver *driver) {
#define X(name, parameters) zt__find_loader_symbol(#name, (void *)&driver->name);
    ZT__OPTIONAL_FUNCTIONS(X)
#undef X
}

/* ==== >>groups: metric groups: look-up, selection, activation, calculation ================================ */

enum {
    ZT__MAX_GROUPS = 32,
    ZT__MAX_GROUPS_IN_PASS = 8,
    ZT__MAX_PASSES = 16,
    ZT__MAX_TILES = 16,
    ZT__MAX_REQUESTED_METRICS = 64
};

/* ---- the catalog ----------------------------------------------------------------------------------------- */

/* All metric groups of a device. */
typedef struct zt__catalog {
    uint32_t count;
    zet_metric_group_handle_t *handles;
    zet_metric_group_properties_t *properties;
    uint8_t *samples_instructions; /* not 0: the rows of the group are for addresses of code, not for periods,
                                      so the library cannot use it */
} zt__catalog;

ZT__PRIVATE void zt__close_catalog(const zt_allocator *allocator, zt__catalog *catalog) {
    zt__free(allocator, catalog->handles);
    zt__free(allocator, catalog->properties);
    zt__free(allocator, catalog->samples_instructions);
    memset(catalog, 0, sizeof *catalog);
}

/* Sets `*found` if a group samples instructions: such a group has few metrics, and one of them is the
   instruction pointer. On failure `*call` is the call that failed. */
ZT__PRIVATE ze_result_t zt__detect_instruction_sampling(zet_metric_group_handle_t group, uint8_t *found,
                                                        const char **call) {
    enum { LOOKED_AT = 16 };
    zet_metric_handle_t metrics[LOOKED_AT];
    uint32_t i, count = LOOKED_AT;
    ze_result_t result;
    *call = "zetMetricGet";
    result = zetMetricGet(group, &count, metrics);
    for (i = 0; i < count && i < LOOKED_AT && result == ZE_RESULT_SUCCESS; i++) {
        zet_metric_properties_t metric;
        memset(&metric, 0, sizeof metric);
        metric.stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES;
        *call = "zetMetricGetProperties";
        result = zetMetricGetProperties(metrics[i], &metric);
        *found |= metric.metricType == ZET_METRIC_TYPE_IP_EXP;
    }
    return result;
}

/* Lists a device's groups. Enables metrics if they are disabled and the driver can enable them at run time.
   On failure `*call` is the call that failed, and nothing is left allocated. */
ZT__PRIVATE ze_result_t zt__open_catalog(const zt_allocator *allocator, const zt__driver *driver,
                                         ze_device_handle_t device, zt__catalog *catalog, const char **call) {
    uint32_t i;
    int is_disabled;
    ze_result_t result;
    memset(catalog, 0, sizeof *catalog);
    *call = "zetMetricGroupGet";
    result = zetMetricGroupGet(device, &catalog->count, NULL);
    is_disabled = result == ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE || result == ZE_RESULT_ERROR_UNINITIALIZED;
    if (is_disabled && driver->zetDeviceEnableMetricsExp &&
        driver->zetDeviceEnableMetricsExp(device) == ZE_RESULT_SUCCESS) {
        catalog->count = 0;
        result = zetMetricGroupGet(device, &catalog->count, NULL);
    }
    if (result != ZE_RESULT_SUCCESS || catalog->count == 0) {
        return result;
    }
    catalog->handles =
        (zet_metric_group_handle_t *)zt__allocate(allocator, catalog->count, sizeof *catalog->handles);
    catalog->properties =
        (zet_metric_group_properties_t *)zt__allocate(allocator, catalog->count, sizeof *catalog->properties);
    catalog->samples_instructions = (uint8_t *)zt__allocate(allocator, catalog->count, 1);
    if (!catalog->handles || !catalog->properties || !catalog->samples_instructions) {
        zt__close_catalog(allocator, catalog);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    result = zetMetricGroupGet(device, &catalog->count, catalog->handles);
    for (i = 0; i < catalog->count && result == ZE_RESULT_SUCCESS; i++) {
        zet_metric_group_properties_t *group = &catalog->properties[i];
        *call = "zetMetricGroupGetProperties";
        group->stype = ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES;
        result = zetMetricGroupGetProperties(catalog->handles[i], group);
        if (result == ZE_RESULT_SUCCESS &&
            (group->samplingType & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED)) {
            result =
                zt__detect_instruction_sampling(catalog->handles[i], &catalog->samples_instructions[i], call);
        }
    }
    if (result != ZE_RESULT_SUCCESS) {
        zt__close_catalog(allocator, catalog);
    }
    return result;
}

/* Returns whether the library can use a group of the catalog by this sampling type. */
ZT__PRIVATE int zt__is_usable_group(const zt__catalog *catalog, uint32_t index,
                                    zet_metric_group_sampling_type_flags_t type) {
    return (catalog->properties[index].samplingType & type) && !catalog->samples_instructions[index];
}

/* Returns the index of the first group with this name, or with any if that is NULL; UINT32_MAX if there is
   none. The sampling type is needed because a device lists most groups twice, once for each type. */
ZT__PRIVATE uint32_t zt__find_group(const zt__catalog *catalog, const char *name, size_t length,
                                    zet_metric_group_sampling_type_flags_t type) {
    uint32_t i;
    for (i = 0; i < catalog->count; i++) {
        if (zt__is_usable_group(catalog, i, type) &&
            (!name || zt__equals(catalog->properties[i].name, name, length))) {
            return i;
        }
    }
    return UINT32_MAX;
}

/* Returns whether the device has event-based groups. Without its metric libraries the driver lists no group,
   or only those that sample instructions. */
ZT__PRIVATE int zt__has_counters(const zt__catalog *catalog) {
    return zt__find_group(catalog, NULL, 0, ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED) != UINT32_MAX;
}

/* The names of the groups of one sampling type, for zt__find_nearest. */
typedef struct zt__names_of_type {
    const zt__catalog *catalog;
    zet_metric_group_sampling_type_flags_t type;
} zt__names_of_type;

ZT__PRIVATE const char *zt__group_name_at(const void *names, uint32_t index) {
    const zt__catalog *catalog = ((const zt__names_of_type *)names)->catalog;
    zet_metric_group_sampling_type_flags_t type = ((const zt__names_of_type *)names)->type;
    return zt__is_usable_group(catalog, index, type) ? catalog->properties[index].name : NULL;
}

/* Reports that there is no such group, with the nearest names, or that it samples instructions. Returns
   INVALID_ARGUMENT. */
ZT__PRIVATE ze_result_t zt__report_no_group(zt__diagnostics *diagnostics, const char *call,
                                            const zt__catalog *catalog, const char *name, size_t length,
                                            zet_metric_group_sampling_type_flags_t type) {
    int is_event = (type & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED) != 0;
    char wanted[ZET_MAX_METRIC_GROUP_NAME];
    uint32_t i;
    zt__names_of_type names;
    zt__nearest nearest;
    zt__copy_text(wanted, sizeof wanted, name, length);
    for (i = 0; i < catalog->count; i++) {
        if (catalog->samples_instructions[i] && (catalog->properties[i].samplingType & type) &&
            zt__equals(catalog->properties[i].name, name, length)) {
            return zt__report(diagnostics, INSTRUCTION_SAMPLING, ZE_RESULT_ERROR_INVALID_ARGUMENT, call,
                              wanted);
        }
    }
    names.catalog = catalog;
    names.type = type;
    nearest = zt__find_nearest(wanted, &names, catalog->count, zt__group_name_at);
    return zt__report(diagnostics, NO_SUCH_GROUP, ZE_RESULT_ERROR_INVALID_ARGUMENT, call,
                      is_event ? "event-based" : "time-based", wanted, nearest.text);
}

/* ---- metrics --------------------------------------------------------------------------------------------- */

/* A group that is measured. Its metrics are consecutive among those of the profiler. */
typedef struct zt__group {
    zet_metric_group_handle_t handle;
    zet_metric_group_properties_t properties;
    zet_metric_properties_t *metrics;
    uint32_t metric_count;
    uint32_t first_metric; /* index among the metrics of the profiler */
    uint32_t tiles;        /* sets of values in a report: one for each tile of a root device, if the driver
                              can calculate several; else 1 */
    size_t report_size;    /* in bytes; 0 until the first report was read */
} zt__group;

ZT__PRIVATE void zt__free_group(const zt_allocator *allocator, zt__group *group) {
    zt__free(allocator, group->metrics);
    memset(group, 0, sizeof *group);
}

/* Reads the properties of a group's metrics. On failure `*call` is the call that failed, and the caller frees
   the group. */
ZT__PRIVATE ze_result_t zt__load_metrics(const zt_allocator *allocator, zt__group *group, const char **call) {
    zet_metric_handle_t *handles;
    uint32_t i, count = 0;
    ze_result_t result;
    *call = "zetMetricGet";
    result = zetMetricGet(group->handle, &count, NULL);
    if (result != ZE_RESULT_SUCCESS || count == 0) {
        return result == ZE_RESULT_SUCCESS ? ZE_RESULT_ERROR_UNKNOWN : result;
    }
    handles = (zet_metric_handle_t *)zt__allocate(allocator, count, sizeof *handles);
    group->metrics = (zet_metric_properties_t *)zt__allocate(allocator, count, sizeof *group->metrics);
    if (!handles || !group->metrics) {
        zt__free(allocator, handles);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    result = zetMetricGet(group->handle, &count, handles);
    for (i = 0; i < count && result == ZE_RESULT_SUCCESS; i++) {
        zet_metric_properties_t *metric = &group->metrics[i];
        *call = "zetMetricGetProperties";
        metric->stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES;
        result = zetMetricGetProperties(handles[i], metric);
        /* Some drivers print a null pointer here. */
        if (strcmp(metric->resultUnits, "(null)") == 0) {
            metric->resultUnits[0] = 0;
        }
    }
    group->metric_count = count;
    zt__free(allocator, handles);
    return result;
}

/* Returns how the values of a metric are combined. The type alone does not decide it: drivers give
   percentages the type of durations, and frequencies that of events. Their units show that they do not add
   up. */
ZT__PRIVATE zt_aggregation zt__aggregation_of(zet_metric_type_t type, const char *units) {
    static const char *const averaged[] = {"percent", "Percent", "%",   "Hz",   "hz",
                                           "Bps",     "BpS",     "bps", "ratio"};
    uint32_t i;
    switch (type) {
    case ZET_METRIC_TYPE_RATIO:
    case ZET_METRIC_TYPE_THROUGHPUT:
        return ZT_AGGREGATE_MEAN;
    case ZET_METRIC_TYPE_FLAG:
        return ZT_AGGREGATE_FLAG;
    case ZET_METRIC_TYPE_DURATION:
    case ZET_METRIC_TYPE_EVENT:
    case ZET_METRIC_TYPE_EVENT_WITH_RANGE:
        for (i = 0; i < ZT__COUNT_OF(averaged); i++) {
            if (zt__ends_with(units, averaged[i], strcmp)) {
                return ZT_AGGREGATE_MEAN;
            }
        }
        return strchr(units, '/') || strstr(units, " per ") ? ZT_AGGREGATE_MEAN : ZT_AGGREGATE_SUM;
    default:
        return ZT_AGGREGATE_NONE;
    }
}

ZT__PRIVATE const char *zt__aggregation_name(zt_aggregation aggregation) {
    static const char *const names[] = {"sum", "mean", "flag", "none"};
    return names[aggregation];
}

/* Fills in the public description of a metric, in pass 0. Its strings are those of the group. */
ZT__PRIVATE void zt__describe_metric(const zt__group *group, uint32_t index, zt_metric *metric) {
    const zet_metric_properties_t *from = &group->metrics[index];
    metric->name = from->name;
    metric->group = group->properties.name;
    metric->component = from->component;
    metric->units = from->resultUnits;
    metric->description = from->description;
    metric->type = (int)from->metricType;
    metric->aggregation = zt__aggregation_of(from->metricType, from->resultUnits);
    metric->pass = 0;
}

/* Returns the cause by which a sample is lost if the flag with this name is set; ZT_CAUSE_COUNT if the metric
   is no such flag. */
ZT__PRIVATE zt_cause zt__cause_of_flag(const char *metric_name) {
    static const struct {
        const char *name;
        zt_cause cause;
    } flags[] = {
        {"ReportError", ZT_LOST_REPORT_ERROR},
        {"ReportLost", ZT_LOST_REPORT_LOST},
        {"ReportWithoutWorkload", ZT_LOST_REPORT_WITHOUT_WORKLOAD},
        {"ReportInconsistent", ZT_LOST_REPORT_INCONSISTENT},
        {"ReportContextMismatch", ZT_LOST_REPORT_CONTEXT_MISMATCH},
        {"ReportQueryModeMismatch", ZT_LOST_REPORT_QUERY_MODE_MISMATCH},
        {"OverrunOccured", ZT_LOST_OVERRUN},
        {"QuerySplitOccurred", ZT_LOST_QUERY_SPLIT},
    };
    uint32_t i;
    for (i = 0; i < ZT__COUNT_OF(flags); i++) {
        if (strcmp(metric_name, flags[i].name) == 0) {
            return flags[i].cause;
        }
    }
    return ZT_CAUSE_COUNT;
}

/* Returns a value as a number, or NaN. Drivers may return a value of another type than that of its metric. */
ZT__PRIVATE double zt__value_of(const zet_typed_value_t *value) {
    double number = zt__nan();
    switch (value->type) {
    case ZET_VALUE_TYPE_UINT64:
        return (double)value->value.ui64;
    case ZET_VALUE_TYPE_UINT32:
        return (double)value->value.ui32;
    case ZET_VALUE_TYPE_BOOL8:
        return value->value.b8 ? 1.0 : 0.0;
    case ZET_VALUE_TYPE_FLOAT32:
        number = (double)value->value.fp32;
        break;
    case ZET_VALUE_TYPE_FLOAT64:
        number = value->value.fp64;
        break;
    default:
        break;
    }
    return zt__is_finite(number) ? number : zt__nan();
}

/* ---- why counters are not available ----------------------------------------------------------------------- */

/* The profiler, stream or process that uses counters, as text for a message. */
typedef struct zt__counter_holder {
    char text[ZET_MAX_METRIC_GROUP_NAME + 64];
} zt__counter_holder;

ZT__PRIVATE void zt__describe_holder(const zt__active_group *active, zt__counter_holder *holder) {
    snprintf(holder->text, sizeof holder->text, "group '%s' of %s of this process", active->name,
             active->is_streamed ? "a stream" : "a profiler");
}

ZT__PRIVATE int zt__is_sub_device(ze_device_handle_t device, ze_device_handle_t root) {
    ze_device_handle_t sub_devices[ZT__MAX_TILES];
    uint32_t i, count = ZT__MAX_TILES;
    ze_result_t result;
    ZT__INTERNAL(result = zeDeviceGetSubDevices(root, &count, sub_devices));
    for (i = 0; i < count && i < ZT__MAX_TILES && result == ZE_RESULT_SUCCESS; i++) {
        if (sub_devices[i] == device) {
            return 1;
        }
    }
    return 0;
}

/* Returns whether two devices have counters in common: they are the same, or one is a tile of the other. */
ZT__PRIVATE int zt__share_counters(ze_device_handle_t a, ze_device_handle_t b) {
    return a == b || zt__is_sub_device(a, b) || zt__is_sub_device(b, a);
}

/* Describes the file by which the system reserves counters for privileged users: its path and value. Returns
   whether all users may use them. */
ZT__PRIVATE int zt__read_paranoid_files(char *text, size_t size) {
    static const char *const paths[] = {"/proc/sys/dev/xe/observation_paranoid",
                                        "/proc/sys/dev/i915/perf_stream_paranoid"};
    uint32_t i, found = 0;
    int all_may = 1;
    snprintf(text, size, "%s (xe) or %s (i915), whichever there is", paths[0], paths[1]);
    for (i = 0; i < ZT__COUNT_OF(paths); i++) {
        FILE *file = fopen(paths[i], "r");
        int value, is_number;
        if (!file) {
            continue;
        }
        is_number = fscanf(file, "%d", &value) == 1;
        fclose(file);
        if (!is_number) {
            snprintf(text, size, "%s", paths[i]);
        } else if (value != 0 || !found) {
            snprintf(text, size, "%s (now %d)", paths[i], value);
        }
        all_may &= is_number && value == 0;
        found++;
    }
    return found && all_may;
}

/* Describes who else may use the counters of a device. Some drivers do not allow regions and streams on one
   device: so it may be a stream of this process where a profiler is refused, or a profiler where a stream is;
   otherwise it is another process. */
ZT__PRIVATE void zt__find_other_user(ze_device_handle_t device, int is_streamed, zt__counter_holder *holder) {
    zt__process *process = zt__get_process();
    uint32_t i;
    snprintf(holder->text, sizeof holder->text,
             "another process, or a stream or query of this program's own");
    if (!process) {
        return;
    }
    zt__lock(&process->mutex);
    for (i = 0; i < ZT__MAX_ACTIVE_GROUPS; i++) {
        const zt__active_group *active = &process->active_groups[i];
        if (active->users && active->is_streamed != is_streamed &&
            zt__share_counters(active->device, device)) {
            zt__describe_holder(active, holder);
        }
    }
    zt__unlock(&process->mutex);
}

/* Reports why counters are not available, and what to do. `holder` names who uses them; if it is NULL or
   empty, the holder is looked up. `diagnostics` may be NULL. */
ZT__PRIVATE zt_availability zt__report_refusal(zt__diagnostics *diagnostics, ze_device_handle_t device,
                                               int is_streamed, ze_result_t result, const char *call,
                                               const zt__counter_holder *holder) {
    const char *name = zt_result_name(result);
    /* Without permission, drivers return different results from different calls. */
    int may_be_forbidden =
        result == ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS ||
        (result == ZE_RESULT_ERROR_INVALID_ARGUMENT && strcmp(call, "zetMetricQueryPoolCreate") == 0) ||
        (result == ZE_RESULT_ERROR_UNKNOWN && strcmp(call, "zetMetricStreamerOpen") == 0);
    char files[160];
    zt__counter_holder found;
    if (zt__means_device_loss(result)) {
        zt__report_device_loss(diagnostics, result, call);
        return ZT_DEVICE_LOST;
    }
    if (result == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY) {
        zt__report_no_memory(diagnostics, call, "metric groups");
        return ZT_NOT_SUPPORTED;
    }
    if (result == ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE || result == ZE_RESULT_ERROR_UNINITIALIZED) {
        zt__report(diagnostics, METRICS_NOT_ENABLED, result, call, name);
        return ZT_NOT_ENABLED;
    }
    if (may_be_forbidden && !zt__read_paranoid_files(files, sizeof files) && geteuid() != 0) {
        zt__report(diagnostics, NO_PERMISSION, result, call, name, files);
        return ZT_NO_PERMISSION;
    }
    /* With permission, the same results mean that another process uses the counters. */
    if (may_be_forbidden || result == ZE_RESULT_ERROR_NOT_AVAILABLE ||
        result == ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE) {
        if (!holder || !holder->text[0]) {
            zt__find_other_user(device, is_streamed, &found);
            holder = &found;
        }
        zt__report(diagnostics, COUNTERS_IN_USE, result, call, name, holder->text);
        return ZT_IN_USE;
    }
    zt__report(diagnostics, METRICS_UNAVAILABLE, result, call, name);
    return ZT_NOT_SUPPORTED;
}

/* ---- the groups that a configuration requests ------------------------------------------------------------ */

/* The groups that a profiler measures, in the order of their passes. */
typedef struct zt__selection {
    uint32_t group_count, pass_count;
    uint32_t metric_count; /* of all groups */
    zt__group groups[ZT__MAX_GROUPS];
    uint32_t pass_sizes[ZT__MAX_PASSES]; /* number of groups in each pass */
} zt__selection;

/* A selection in progress. */
typedef struct zt__selector {
    const zt_allocator *allocator;
    zt__diagnostics *diagnostics;
    const zt__driver *driver;
    ze_device_handle_t device;
    const zt_config *config;
    zt__selection *selection;
    zt_availability availability; /* after a failure, the reason */
    uint32_t tiles;               /* sets of values in a report of any group */
    zt__catalog catalog;
} zt__selector;

ZT__PRIVATE void zt__free_selection(const zt_allocator *allocator, zt__selection *selection) {
    uint32_t g;
    for (g = 0; g < selection->group_count; g++) {
        zt__free_group(allocator, &selection->groups[g]);
    }
    memset(selection, 0, sizeof *selection);
    selection->pass_count = 1;
}

ZT__PRIVATE int zt__has_group(const zt__selection *selection, zet_metric_group_handle_t handle) {
    uint32_t g = 0;
    while (g < selection->group_count && selection->groups[g].handle != handle) {
        g++;
    }
    return g < selection->group_count;
}

/* Adds a group of the catalog and its metrics to the selection, unless it is there already. With
   config.max_passes of 1, refuses a second group of a domain: drivers would activate only the last one, and
   return SUCCESS all the same. On failure the message was reported. */
ZT__PRIVATE ze_result_t zt__select_group(zt__selector *selector, uint32_t index) {
    const zet_metric_group_properties_t *properties = &selector->catalog.properties[index];
    zt__selection *selection = selector->selection;
    zt__group *group;
    const char *call;
    uint32_t g;
    ze_result_t result;
    if (zt__has_group(selection, selector->catalog.handles[index])) {
        return ZE_RESULT_SUCCESS;
    }
    for (g = 0; g < selection->group_count && selector->config->max_passes == 1; g++) {
        const zet_metric_group_properties_t *other = &selection->groups[g].properties;
        if (other->domain == properties->domain) {
            selector->availability = ZT_GROUPS_CONFLICT;
            return zt__report(selector->diagnostics, GROUPS_CONFLICT, ZE_RESULT_ERROR_INVALID_ARGUMENT,
                              other->name, properties->name, (unsigned)properties->domain);
        }
    }
    if (selection->group_count == ZT__MAX_GROUPS) {
        selector->availability = ZT_GROUPS_CONFLICT;
        return zt__report(selector->diagnostics, TOO_MANY_GROUPS, ZE_RESULT_ERROR_INVALID_SIZE,
                          (unsigned)ZT__MAX_GROUPS);
    }
    group = &selection->groups[selection->group_count++];
    group->handle = selector->catalog.handles[index];
    group->properties = *properties;
    group->tiles = selector->tiles;
    result = zt__load_metrics(selector->allocator, group, &call);
    if (result != ZE_RESULT_SUCCESS) {
        selector->availability =
            zt__report_refusal(selector->diagnostics, selector->device, 0, result, call, NULL);
    }
    return result;
}

/* Selects the groups that config.groups names, or the default one if neither config.groups nor config.metrics
   is set. On failure the message was reported. */
ZT__PRIVATE ze_result_t zt__select_by_name(zt__selector *selector) {
    const zet_metric_group_sampling_type_flags_t type = ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED;
    const char *list = selector->config->groups, *name;
    ze_result_t result = ZE_RESULT_SUCCESS;
    uint32_t index;
    size_t length;
    if (!list && !zt__has_names(selector->config->metrics)) {
        index = zt__find_group(&selector->catalog, "ComputeBasic", strlen("ComputeBasic"), type);
        if (index == UINT32_MAX) {
            index = zt__find_group(&selector->catalog, NULL, 0, type);
        }
        return zt__select_group(selector, index);
    }
    while (list && result == ZE_RESULT_SUCCESS && zt__next_name(&list, &name, &length)) {
        index = zt__find_group(&selector->catalog, name, length, type);
        if (index == UINT32_MAX) {
            selector->availability = ZT_NO_SUCH_GROUP;
            return zt__report_no_group(selector->diagnostics, "zt_open", &selector->catalog, name, length,
                                       type);
        }
        result = zt__select_group(selector, index);
    }
    return result;
}

/* ---- the groups that have the requested metrics ---------------------------------------------------------- */

/* Finding the fewest groups that have all requested metrics is a set cover problem, which takes too long to
   solve exactly. So groups are added one by one, beginning with those that have rare metrics. */
typedef struct zt__metric_cover {
    uint32_t group_count;  /* those of the catalog, in its order */
    zt__group *groups;     /* the event-based ones, with their metrics; the others have none */
    uint64_t *has;         /* for each group, a bit for each requested metric */
    uint32_t metric_count; /* of all groups */
    uint32_t requested_count;
    uint64_t missing; /* the requested metrics that no selected group has, as bits */
} zt__metric_cover;

/* Returns the name of a metric by its index among those of all groups. */
ZT__PRIVATE const char *zt__covered_metric_at(const void *cover, uint32_t index) {
    const zt__group *group = ((const zt__metric_cover *)cover)->groups;
    while (index >= group->metric_count) {
        index -= group->metric_count;
        group++;
    }
    return group->metrics[index].name;
}

/* Requests the metrics that config.metrics names, and records which groups have each of them. On failure the
   message was reported. */
ZT__PRIVATE ze_result_t zt__request_metrics(zt__selector *selector, zt__metric_cover *cover) {
    const char *list = selector->config->metrics, *name;
    size_t length;
    uint32_t i, m;
    for (; zt__next_name(&list, &name, &length); cover->requested_count++) {
        uint64_t bit;
        if (cover->requested_count == ZT__MAX_REQUESTED_METRICS) {
            selector->availability = ZT_NO_SUCH_METRIC;
            return zt__report(selector->diagnostics, TOO_MANY_METRICS, ZE_RESULT_ERROR_INVALID_SIZE,
                              (unsigned)ZT__MAX_REQUESTED_METRICS);
        }
        bit = (uint64_t)1 << cover->requested_count;
        for (i = 0; i < cover->group_count; i++) {
            for (m = 0; m < cover->groups[i].metric_count; m++) {
                if (zt__equals(cover->groups[i].metrics[m].name, name, length)) {
                    cover->has[i] |= bit;
                    cover->missing |= bit;
                }
            }
        }
        if (!(cover->missing & bit)) {
            char text[ZET_MAX_METRIC_NAME];
            zt__nearest nearest;
            zt__copy_text(text, sizeof text, name, length);
            nearest = zt__find_nearest(text, cover, cover->metric_count, zt__covered_metric_at);
            selector->availability = ZT_NO_SUCH_METRIC;
            return zt__report(selector->diagnostics, NO_SUCH_METRIC, ZE_RESULT_ERROR_INVALID_ARGUMENT,
                              "zt_open", text, nearest.text);
        }
    }
    return ZE_RESULT_SUCCESS;
}

/* Returns whether fewer than `most` groups of a group's domain are selected. */
ZT__PRIVATE int zt__domain_has_room(const zt__selector *selector, uint32_t index, uint32_t most) {
    uint32_t g, count = 0;
    for (g = 0; g < selector->selection->group_count; g++) {
        count +=
            selector->selection->groups[g].properties.domain == selector->catalog.properties[index].domain;
    }
    return count < most;
}

/* Returns the group to select next: of the groups that have the rarest missing metric, the one with the most
   missing metrics. Leaves out groups whose domain has `most` selected groups. Returns UINT32_MAX if no other
   group has that metric. */
ZT__PRIVATE uint32_t zt__find_next_group(const zt__selector *selector, const zt__metric_cover *cover,
                                         uint32_t most) {
    uint64_t bit, rarest = 0;
    uint32_t i, fewest = UINT32_MAX, next = UINT32_MAX;
    int count, highest = 0;
    for (bit = 1; bit && bit <= cover->missing; bit <<= 1) {
        uint32_t groups = 0;
        for (i = 0; i < cover->group_count; i++) {
            groups += (cover->has[i] & bit) && zt__domain_has_room(selector, i, most);
        }
        if ((cover->missing & bit) && groups < fewest) {
            fewest = groups;
            rarest = bit;
        }
    }
    for (i = 0; i < cover->group_count; i++) {
        count = __builtin_popcountll(cover->has[i] & cover->missing);
        if ((cover->has[i] & rarest) && count > highest && zt__domain_has_room(selector, i, most)) {
            highest = count;
            next = i;
        }
    }
    return next;
}

/* Adds groups to the selection until it has all metrics that config.metrics names. Also adds groups that do
   not fit into the passes, so that zt__select_group or zt__plan_passes reports the conflict. On failure the
   message was reported. */
ZT__PRIVATE ze_result_t zt__select_by_metrics(zt__selector *selector) {
    const zt_allocator *allocator = selector->allocator;
    const zt__catalog *catalog = &selector->catalog;
    const char *call = "zt_open";
    ze_result_t result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    zt__metric_cover cover;
    uint32_t i;
    memset(&cover, 0, sizeof cover);
    cover.groups = (zt__group *)zt__allocate(allocator, catalog->count, sizeof *cover.groups);
    cover.has = (uint64_t *)zt__allocate(allocator, catalog->count, sizeof *cover.has);
    if (cover.groups && cover.has) {
        cover.group_count = catalog->count;
        result = ZE_RESULT_SUCCESS;
    }
    for (i = 0; i < cover.group_count && result == ZE_RESULT_SUCCESS; i++) {
        if (zt__is_usable_group(catalog, i, ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED)) {
            cover.groups[i].handle = catalog->handles[i];
            result = zt__load_metrics(allocator, &cover.groups[i], &call);
            cover.metric_count += cover.groups[i].metric_count;
        }
    }
    if (result == ZE_RESULT_SUCCESS) {
        result = zt__request_metrics(selector, &cover);
    } else {
        selector->availability =
            zt__report_refusal(selector->diagnostics, selector->device, 0, result, call, NULL);
    }
    for (i = 0; i < cover.group_count; i++) {
        if (zt__has_group(selector->selection, catalog->handles[i])) {
            cover.missing &= ~cover.has[i];
        }
    }
    while (cover.missing && result == ZE_RESULT_SUCCESS) {
        uint32_t next = zt__find_next_group(selector, &cover, selector->config->max_passes);
        if (next == UINT32_MAX) { /* without a limit there is always one */
            next = zt__find_next_group(selector, &cover, UINT32_MAX);
        }
        cover.missing &= ~cover.has[next];
        result = zt__select_group(selector, next);
    }
    for (i = 0; i < cover.group_count; i++) {
        zt__free_group(allocator, &cover.groups[i]);
    }
    zt__free(allocator, cover.groups);
    zt__free(allocator, cover.has);
    return result;
}

/* ---- which groups are measured together ------------------------------------------------------------------ */

/* Stores the pass of each group: the first group of a domain is in the first pass, the second one in the
   second pass, and so on. If a pass is full, the group is in the next one that is not. */
ZT__PRIVATE void zt__plan_by_domain(const zt__selection *selection, uint32_t *pass_of) {
    uint32_t together[ZT__MAX_GROUPS] = {0};
    uint32_t g, earlier;
    for (g = 0; g < selection->group_count; g++) {
        pass_of[g] = 0;
        for (earlier = 0; earlier < g; earlier++) {
            if (selection->groups[earlier].properties.domain == selection->groups[g].properties.domain &&
                pass_of[earlier] >= pass_of[g]) {
                pass_of[g] = pass_of[earlier] + 1;
            }
        }
        while (together[pass_of[g]] == ZT__MAX_GROUPS_IN_PASS) {
            pass_of[g]++;
        }
        together[pass_of[g]]++;
    }
}

/* Stores the pass of each group as the driver proposes, which knows of more conflicts than those of domains.
   It reorders `handles` by pass. Returns 0 if its proposal cannot be used. */
ZT__PRIVATE int zt__plan_by_driver(const zt__selector *selector, uint32_t *pass_of) {
    const zt__selection *selection = selector->selection;
    zet_metric_group_handle_t handles[ZT__MAX_GROUPS];
    uint32_t sizes[ZT__MAX_GROUPS] = {0};
    uint32_t g, pass, next = 0, in_pass, found = 0, count = selection->group_count, passes = 0;
    for (g = 0; g < count; g++) {
        handles[g] = selection->groups[g].handle;
        pass_of[g] = UINT32_MAX;
    }
    if (!selector->driver->zetDeviceGetConcurrentMetricGroupsExp ||
        selector->driver->zetDeviceGetConcurrentMetricGroupsExp(selector->device, count, handles, NULL,
                                                                &passes) != ZE_RESULT_SUCCESS ||
        passes > count ||
        selector->driver->zetDeviceGetConcurrentMetricGroupsExp(selector->device, count, handles, sizes,
                                                                &passes) != ZE_RESULT_SUCCESS ||
        passes > count) {
        return 0;
    }
    for (pass = 0; pass < passes; pass++) {
        if (sizes[pass] == 0 || sizes[pass] > ZT__MAX_GROUPS_IN_PASS || sizes[pass] > count - next) {
            return 0;
        }
        for (in_pass = 0; in_pass < sizes[pass]; in_pass++, next++) {
            for (g = 0; g < count; g++) {
                if (selection->groups[g].handle == handles[next] && pass_of[g] == UINT32_MAX) {
                    pass_of[g] = pass;
                    found++;
                }
            }
        }
    }
    return found == count;
}

/* Puts the groups into the order of their passes. On failure the message was reported. */
ZT__PRIVATE ze_result_t zt__plan_passes(zt__selector *selector) {
    zt__selection *selection = selector->selection;
    zt__group ordered[ZT__MAX_GROUPS];
    uint32_t pass_of[ZT__MAX_GROUPS] = {0};
    uint32_t g, pass, needed = 1, placed = 0, most = selector->config->max_passes;
    if (selection->group_count > 1 && !zt__plan_by_driver(selector, pass_of)) {
        zt__plan_by_domain(selection, pass_of);
    }
    for (g = 0; g < selection->group_count; g++) {
        if (pass_of[g] >= needed) {
            needed = pass_of[g] + 1;
        }
    }
    if (most > ZT__MAX_PASSES) {
        most = ZT__MAX_PASSES;
    }
    if (needed > most) {
        selector->availability = ZT_GROUPS_CONFLICT;
        return zt__report(selector->diagnostics, TOO_MANY_PASSES, ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          (unsigned)needed, (unsigned)most);
    }
    for (pass = 0; pass < needed; pass++) {
        selection->pass_sizes[pass] = 0;
        for (g = 0; g < selection->group_count; g++) {
            if (pass_of[g] == pass) {
                ordered[placed] = selection->groups[g];
                ordered[placed].first_metric = selection->metric_count;
                selection->metric_count += ordered[placed++].metric_count;
                selection->pass_sizes[pass]++;
            }
        }
    }
    memcpy(selection->groups, ordered, placed * sizeof *ordered);
    selection->pass_count = needed;
    return ZE_RESULT_SUCCESS;
}

/* Selects the groups that a configuration requests, and plans their passes. If it requests none, returns
   SUCCESS with no groups and ZT_TIMES_BY_CHOICE, and reports nothing. On failure `availability` is the
   reason, the message was reported, and nothing is left allocated. */
ZT__PRIVATE ze_result_t zt__select_groups(const zt_allocator *allocator, zt__diagnostics *diagnostics,
                                          const zt__driver *driver, ze_device_handle_t device,
                                          const zt_config *config, zt__selection *selection,
                                          zt_availability *availability) {
    zt__selector selector = {allocator, diagnostics,          driver, device, config, selection, ZT_AVAILABLE,
                             1,         {0, NULL, NULL, NULL}};
    const char *call;
    ze_result_t result;
    memset(selection, 0, sizeof *selection);
    selection->pass_count = 1;
    if (config->groups && !zt__has_names(config->groups)) {
        *availability = ZT_TIMES_BY_CHOICE;
        return ZE_RESULT_SUCCESS;
    }
    if (driver->zetMetricGroupCalculateMultipleMetricValuesExp) {
        uint32_t tiles = 0;
        ZT__INTERNAL(result = zeDeviceGetSubDevices(device, &tiles, NULL));
        if (result == ZE_RESULT_SUCCESS && tiles > 0 && tiles <= ZT__MAX_TILES) {
            selector.tiles = tiles;
        }
    }
    result = zt__open_catalog(allocator, driver, device, &selector.catalog, &call);
    if (result != ZE_RESULT_SUCCESS) {
        *availability = zt__report_refusal(diagnostics, device, 0, result, call, NULL);
        return result;
    }
    if (!zt__has_counters(&selector.catalog)) {
        selector.availability = ZT_LIBRARY_MISSING;
        result = zt__report(diagnostics, METRIC_LIBRARY_MISSING, ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE,
                            (unsigned)selector.catalog.count);
    } else {
        result = zt__select_by_name(&selector);
    }
    if (result == ZE_RESULT_SUCCESS && zt__has_names(config->metrics)) {
        result = zt__select_by_metrics(&selector);
    }
    if (result == ZE_RESULT_SUCCESS) {
        result = zt__plan_passes(&selector);
    }
    zt__close_catalog(allocator, &selector.catalog);
    if (result != ZE_RESULT_SUCCESS) {
        zt__free_selection(allocator, selection);
    }
    *availability = selector.availability;
    return result;
}

/* ---- activation ------------------------------------------------------------------------------------------ */

/* Activates all groups that are in use on a device, because each activation replaces the whole set, even from
   another context. The mutex of the process is held. */
ZT__PRIVATE ze_result_t zt__update_activation(const zt__process *process, ze_context_handle_t context,
                                              ze_device_handle_t device) {
    zet_metric_group_handle_t groups[ZT__MAX_ACTIVE_GROUPS];
    uint32_t i, count = 0;
    for (i = 0; i < ZT__MAX_ACTIVE_GROUPS; i++) {
        const zt__active_group *active = &process->active_groups[i];
        if (active->users && active->device == device) {
            groups[count++] = active->group;
        }
    }
    return zetContextActivateMetricGroups(context, device, count, count ? groups : NULL);
}

/* Activates a group in addition to those that this process has activated. Profilers share a group; a stream
   has its group alone. Returns HANDLE_OBJECT_IN_USE if the domain is in use by a profiler or stream of this
   process that cannot share it; `holder` then names it, and is empty otherwise. */
ZT__PRIVATE ze_result_t zt__activate_group(ze_context_handle_t context, ze_device_handle_t device,
                                           const zt__group *group, int is_streamed,
                                           zt__counter_holder *holder) {
    zt__process *process = zt__get_process();
    zt__active_group *shared = NULL, *conflicting = NULL, *unused = NULL;
    ze_result_t result = ZE_RESULT_SUCCESS;
    uint32_t i;
    holder->text[0] = 0;
    if (!process) {
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    zt__lock(&process->mutex);
    for (i = 0; i < ZT__MAX_ACTIVE_GROUPS; i++) {
        zt__active_group *active = &process->active_groups[i];
        if (!active->users) {
            unused = active;
        } else if (active->device == device && active->group == group->handle && !active->is_streamed &&
                   !is_streamed) {
            shared = active;
        } else if (active->domain == group->properties.domain && zt__share_counters(active->device, device)) {
            conflicting = active;
        }
    }
    if (shared) {
        shared->users++;
    } else if (conflicting) {
        zt__describe_holder(conflicting, holder);
        result = ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
    } else if (!unused) {
        result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    } else {
        unused->device = device;
        unused->group = group->handle;
        unused->domain = group->properties.domain;
        unused->users = 1;
        unused->is_streamed = is_streamed;
        memcpy(unused->name, group->properties.name, sizeof unused->name);
        result = zt__update_activation(process, context, device);
        if (result != ZE_RESULT_SUCCESS) {
            unused->users = 0;
        }
    }
    zt__unlock(&process->mutex);
    return result;
}

/* Deactivates a group unless it has other users. The device must be that on which it was activated. */
ZT__PRIVATE ze_result_t zt__deactivate_group(ze_context_handle_t context, ze_device_handle_t device,
                                             const zt__group *group) {
    zt__process *process = zt__get_process();
    ze_result_t result = ZE_RESULT_SUCCESS;
    uint32_t i;
    if (!process) {
        return result;
    }
    zt__lock(&process->mutex);
    for (i = 0; i < ZT__MAX_ACTIVE_GROUPS; i++) {
        zt__active_group *active = &process->active_groups[i];
        if (active->users && active->device == device && active->group == group->handle) {
            active->users--;
            if (!active->users) {
                result = zt__update_activation(process, context, device);
            }
            break;
        }
    }
    zt__unlock(&process->mutex);
    return result;
}

/* ---- calculation ----------------------------------------------------------------------------------------- */

/* Calculates one report of a root device, which has a header and a set of values for each tile. The last
   tiles have no set if they had no work: their values get a type that zt__value_of makes NaN. */
ZT__PRIVATE ze_result_t zt__calculate_tiles_of_report(const zt__driver *driver, const zt__group *group,
                                                      const uint8_t *raw, zet_typed_value_t *values) {
    uint32_t counts[ZT__MAX_TILES] = {0};
    uint32_t sets = group->tiles, room = group->tiles * group->metric_count, total = room, i;
    ze_result_t result = driver->zetMetricGroupCalculateMultipleMetricValuesExp(
        group->handle, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, group->report_size, raw, &sets,
        &total, counts, values);
    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }
    for (i = 0; i < sets && i < group->tiles; i++) {
        if (counts[i] != group->metric_count) {
            return ZE_RESULT_ERROR_INVALID_SIZE;
        }
    }
    for (i = i * group->metric_count; i < room; i++) {
        values[i].type = ZET_VALUE_TYPE_FORCE_UINT32;
    }
    return result;
}

/* Calculates `count` reports of one group, which follow each other in `raw`. For each report, `values` has
   room for the metrics of each tile. The mutex of the process is locked, because drivers cannot calculate on
   two threads at once, not even different groups. */
ZT__PRIVATE ze_result_t zt__calculate_reports(const zt__driver *driver, const zt__group *group,
                                              const uint8_t *raw, uint32_t count, zet_typed_value_t *values) {
    zt__process *process = zt__get_process();
    uint32_t i, wanted = count * group->metric_count, calculated = wanted;
    ze_result_t result = ZE_RESULT_SUCCESS;
    if (!process) {
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    zt__lock(&process->mutex);
    if (group->tiles == 1) {
        result = zetMetricGroupCalculateMetricValues(group->handle,
                                                     ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES,
                                                     count * group->report_size, raw, &calculated, values);
        if (result == ZE_RESULT_SUCCESS && calculated != wanted) {
            result = ZE_RESULT_ERROR_INVALID_SIZE;
        }
    } else {
        for (i = 0; i < count && result == ZE_RESULT_SUCCESS; i++) {
            result = zt__calculate_tiles_of_report(driver, group, raw + i * group->report_size,
                                                   values + (size_t)i * group->metric_count * group->tiles);
        }
    }
    zt__unlock(&process->mutex);
    return result;
}

/* ---- finding and listing groups -------------------------------------------------------------------------- */

/* Opens the catalog for a call that has no profiler. On failure the message was reported. */
ZT__PRIVATE ze_result_t zt__open_catalog_alone(ze_device_handle_t device, zt__catalog *catalog) {
    zt__driver driver;
    const char *call;
    ze_result_t result;
    zt__load_driver(&driver);
    result = zt__open_catalog(&zt__default_allocator, &driver, device, catalog, &call);
    if (result != ZE_RESULT_SUCCESS) {
        zt__report_refusal(NULL, device, 0, result, call, NULL);
    }
    return result;
}

ZT_API ze_result_t zt_find_group(ze_device_handle_t device, const char *name, uint32_t type,
                                 zt_group *group) {
    zt__catalog catalog;
    ze_result_t result;
    uint32_t i;
    if (group) {
        *group = NULL;
    }
    if (!group || !name) {
        return zt__report_null(NULL, "zt_find_group", group ? "name" : "group");
    }
    if (!device) {
        return zt__report_null_handle(NULL, "zt_find_group", "device");
    }
    result = zt__open_catalog_alone(device, &catalog);
    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }
    for (i = 0; i < catalog.count && !*group; i++) {
        if ((catalog.properties[i].samplingType & type) && strcmp(catalog.properties[i].name, name) == 0) {
            *group = catalog.handles[i];
        }
    }
    if (!*group) {
        result = zt__report_no_group(NULL, "zt_find_group", &catalog, name, strlen(name), type);
    }
    zt__close_catalog(&zt__default_allocator, &catalog);
    return result;
}

/* Fills in a row of the table of zt__write_metrics. */
ZT__PRIVATE void zt__show_metric(const void *group, uint32_t index, zt__cell *cells) {
    zt_metric metric;
    zt__describe_metric((const zt__group *)group, index, &metric);
    cells[0].text = metric.name;
    cells[1].text = metric.units;
    cells[2].text = zt__aggregation_name(metric.aggregation);
    cells[3].text = metric.description;
}

/* Lists the metrics of a group. On failure the message was reported. */
ZT__PRIVATE ze_result_t zt__write_metrics(zt__writer *writer, ze_device_handle_t device,
                                          zet_metric_group_handle_t handle) {
    zt__table_column columns[] = {{"", 1, 0, 0}, {"", 1, 0, 0}, {"", 1, 0, 0}, {"", 1, 0, 0}};
    zt__cell cells[ZT__COUNT_OF(columns)];
    zt__group group;
    zt__table table = {columns, cells, ZT__COUNT_OF(columns), 0, zt__show_metric, &group, 4, 1};
    const char *call;
    ze_result_t result;
    memset(&group, 0, sizeof group);
    group.handle = handle;
    result = zt__load_metrics(&zt__default_allocator, &group, &call);
    if (result == ZE_RESULT_SUCCESS) {
        table.row_count = group.metric_count;
        zt__write_table(writer, &table);
    } else {
        zt__report_refusal(NULL, device, 0, result, call, NULL);
    }
    zt__free_group(&zt__default_allocator, &group);
    return result;
}

ZT_API ze_result_t zt_write_groups(ze_device_handle_t device, int metrics, zt_write_fn write, void *user) {
    const zet_metric_group_sampling_type_flags_t event = ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED;
    const zet_metric_group_sampling_type_flags_t time = ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED;
    zt__catalog catalog;
    zt__writer writer;
    uint32_t i;
    ze_result_t result;
    if (!device) {
        return zt__report_null_handle(NULL, "zt_write_groups", "device");
    }
    if (!write) {
        return zt__report_null(NULL, "zt_write_groups", "write");
    }
    result = zt__open_catalog_alone(device, &catalog);
    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }
    if (catalog.count == 0) {
        return zt__report(NULL, METRIC_LIBRARY_MISSING, ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE, 0u);
    }
    zt__begin_writing(&writer, write, user);
    zt__write_text(&writer, "domain  sampling      metrics  group\n");
    for (i = 0; i < catalog.count && result == ZE_RESULT_SUCCESS; i++) {
        const zet_metric_group_properties_t *group = &catalog.properties[i];
        const char *sampling = group->samplingType & time ? "time" : "other";
        if (catalog.samples_instructions[i]) {
            sampling = "instructions";
        } else if (group->samplingType & event) {
            sampling = group->samplingType & time ? "event+time" : "event";
        }
        zt__print(&writer, "%6u  %-12s  %7u  ", (unsigned)group->domain, sampling,
                  (unsigned)group->metricCount);
        zt__write_shown(&writer, group->name);
        zt__write_text(&writer, ": ");
        zt__write_shown(&writer, group->description);
        zt__write_text(&writer, "\n");
        if (metrics) {
            result = zt__write_metrics(&writer, device, catalog.handles[i]);
        }
    }
    if (result == ZE_RESULT_SUCCESS && !zt__has_counters(&catalog)) {
        result = zt__report(NULL, METRIC_LIBRARY_MISSING, ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE,
                            (unsigned)catalog.count);
    }
    zt__close_catalog(&zt__default_allocator, &catalog);
    if (!zt__end_writing(&writer)) {
        return zt__report(NULL, WRITE_STOPPED, ZE_RESULT_ERROR_UNKNOWN, "zt_write_groups");
    }
    return result;
}

/* ==== >>statistics: moments of all samples, quantiles from some =========================================== */

/* ---- moments --------------------------------------------------------------------------------------------- */

/* The moments of one column. `weight` is the sum of all weights, `mean` the weighted mean, and `m2` the
   weighted sum of squared distances from it. */
typedef struct zt__moments {
    uint64_t count;
    double weight, sum, mean, m2, min, max;
} zt__moments;

/* Adds a value by West's weighted form of Welford's update, in which no digits cancel. Mean and `m2` ignore a
   value whose weight is not positive. */
ZT__PRIVATE void zt__add_value(zt__moments *moments, double value, double weight) {
    double distance = value - moments->mean;
    if (moments->count == 0 || value < moments->min) {
        moments->min = value;
    }
    if (moments->count == 0 || value > moments->max) {
        moments->max = value;
    }
    moments->count++;
    moments->sum += value;
    if (weight > 0) {
        moments->weight += weight;
        moments->mean += distance * (weight / moments->weight); /* exact for the first value */
        moments->m2 += weight * distance * (value - moments->mean);
    }
}

/* Adds the moments of other values by Chan's formula. */
ZT__PRIVATE void zt__merge_moments(zt__moments *into, const zt__moments *from) {
    double weight = into->weight + from->weight, distance = from->mean - into->mean;
    if (from->count == 0) {
        return;
    }
    if (into->count == 0) {
        *into = *from;
        return;
    }
    if (weight > 0) {
        into->mean += distance * (from->weight / weight);
        into->m2 += from->m2 + distance * distance * (into->weight * from->weight / weight);
    }
    into->weight = weight;
    into->count += from->count;
    into->sum += from->sum;
    into->min = from->min < into->min ? from->min : into->min;
    into->max = from->max > into->max ? from->max : into->max;
}

/* ---- statistics of a region ------------------------------------------------------------------------------ */

/* The columns of a sample, which is a row of values. The first is the GPU time, or the host time of a call:
   it is the weight of the columns that are averaged. */
typedef struct zt__sample_layout {
    uint32_t column_count;
    uint32_t row_limit;                 /* the most rows kept for quantiles: config.samples */
    const zt_aggregation *aggregations; /* how the values of each column are combined */
} zt__sample_layout;

/* The statistics of a region, or of a call. One thread at a time writes, and holds the owner's mutex when it
   does. That thread may read without the mutex; other threads lock it to read. */
typedef struct zt__statistics {
    zt__moments *moments;          /* of each column, or NULL: no sample yet */
    double *rows;                  /* samples kept for quantiles */
    uint32_t kept, capacity;       /* in rows */
    uint64_t seen[ZT__MAX_PASSES]; /* samples added, of each pass */
    uint64_t seed;                 /* with the number of a sample, decides whether it is kept */
} zt__statistics;

ZT__PRIVATE void zt__free_statistics(const zt_allocator *allocator, zt__statistics *statistics) {
    zt__free(allocator, statistics->moments);
    zt__free(allocator, statistics->rows);
    memset(statistics, 0, sizeof *statistics);
}

/* Returns the number of samples of the pass that has most of them. */
ZT__PRIVATE uint64_t zt__samples_per_pass(const zt__statistics *statistics) {
    uint64_t most = 0;
    uint32_t pass;
    for (pass = 0; pass < ZT__MAX_PASSES; pass++) {
        most = statistics->seen[pass] > most ? statistics->seen[pass] : most;
    }
    return most;
}

/* Makes room for `more` samples. Called by the thread that writes, without the mutex: it is locked here while
   pointers are replaced. Returns 0 without memory for the moments. Without memory for rows, fewer are kept.
 */
ZT__PRIVATE int zt__reserve_samples(const zt_allocator *allocator, zt__mutex *mutex,
                                    const zt__sample_layout *layout, zt__statistics *statistics,
                                    uint32_t more) {
    enum { FIRST_ROWS = 8 };
    uint64_t wanted = zt__samples_per_pass(statistics) + more;
    uint64_t capacity = FIRST_ROWS;
    double *rows, *before = statistics->rows;
    if (statistics->moments && statistics->capacity == layout->row_limit) {
        return 1;
    }
    if (!statistics->moments) {
        zt__moments *moments =
            (zt__moments *)zt__allocate(allocator, layout->column_count, sizeof *statistics->moments);
        if (!moments) {
            return 0;
        }
        zt__lock(mutex);
        statistics->moments = moments;
        zt__unlock(mutex);
    }
    while (capacity < wanted && capacity < layout->row_limit) {
        capacity *= 2;
    }
    if (capacity > layout->row_limit) {
        capacity = layout->row_limit;
    }
    if (capacity <= statistics->capacity) {
        return 1;
    }
    rows = (double *)zt__allocate(allocator, (size_t)capacity * layout->column_count, sizeof *rows);
    if (!rows) {
        return 1;
    }
    if (statistics->kept) {
        memcpy(rows, before, (size_t)statistics->kept * layout->column_count * sizeof *rows);
    }
    zt__lock(mutex);
    statistics->rows = rows;
    statistics->capacity = (uint32_t)capacity;
    zt__unlock(mutex);
    zt__free(allocator, before);
    return 1;
}

/* Returns a random number by xorshift64*. Unlike rand, it needs no lock, and gives the same numbers on every
   system. */
ZT__PRIVATE uint64_t zt__random(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545F4914F6CDD1D);
}

/* Returns the state of the generator for the n-th sample, counted from 0. */
ZT__PRIVATE uint64_t zt__random_state(uint64_t seed, uint64_t n) {
    uint64_t state = (seed ^ (n + 1) * UINT64_C(0x9E3779B97F4A7C15)) | 1;
    zt__random(&state);
    return state;
}

/* Adds a sample of a pass, in which columns that the pass does not measure are NaN. The mutex is held, and
   room was reserved.

   All samples are kept as long as there is room. After that, reservoir sampling gives all samples so far the
   same chance. The n-th sample of each pass goes to the same row, or to none: each pass fills in the columns
   that it measures. */
ZT__PRIVATE void zt__add_sample(const zt__sample_layout *layout, zt__statistics *statistics, uint32_t pass,
                                const double *row) {
    double weights[ZT_AGGREGATE_NONE + 1] = {0}; /* 0 for flags and for what is not combined */
    uint64_t n = statistics->seen[pass]++, place = n, state;
    double *kept;
    uint32_t column;
    if (n == statistics->kept && n < statistics->capacity) {
        statistics->kept++;
        for (column = 0; column < layout->column_count; column++) {
            statistics->rows[(size_t)n * layout->column_count + column] = zt__nan();
        }
    } else if (n >= statistics->kept) {
        state = zt__random_state(statistics->seed, n);
        place = zt__random(&state) % (n + 1);
    }
    kept = place < statistics->kept ? statistics->rows + (size_t)place * layout->column_count : NULL;
    weights[ZT_AGGREGATE_SUM] = 1;
    weights[ZT_AGGREGATE_MEAN] = zt__is_positive(row[0]) ? row[0] : 0;
    for (column = 0; column < layout->column_count; column++) {
        if (!zt__is_nan(row[column])) {
            zt__add_value(&statistics->moments[column], row[column], weights[layout->aggregations[column]]);
            if (kept) {
                kept[column] = row[column];
            }
        }
    }
}

/* ---- the statistics of two sets of samples --------------------------------------------------------------- */

/* Returns a random number from 0 up to, but not including, 1. */
ZT__PRIVATE double zt__random_fraction(uint64_t *state) {
    return (double)(int64_t)(zt__random(state) >> 11) / 9007199254740992.0;
}

/* Stores how many kept rows of each of two sets stay when the sets are merged into `room` rows. If both sets
   have kept all their samples, and there is room, all rows stay. Otherwise samples are drawn from both sets
   with equal chance, until there is no room left, or no row of the set from which a sample was drawn. */
ZT__PRIVATE void zt__draw_row_counts(const zt__statistics *a, const zt__statistics *b, uint32_t room,
                                     uint64_t *state, uint32_t stay[2]) {
    uint64_t of_a = zt__samples_per_pass(a), of_b = zt__samples_per_pass(b);
    double left[2], step[2]; /* samples not drawn yet, and for how many samples each kept row stands */
    stay[0] = a->kept;
    stay[1] = b->kept;
    if (of_a + of_b <= room && a->kept == of_a && b->kept == of_b) {
        return;
    }
    left[0] = (double)of_a;
    left[1] = (double)of_b;
    step[0] = a->kept ? left[0] / a->kept : 0;
    step[1] = b->kept ? left[1] / b->kept : 0;
    stay[0] = stay[1] = 0;
    while (stay[0] + stay[1] < room) {
        int drawn = zt__random_fraction(state) * (left[0] + left[1]) >= left[0];
        if (stay[drawn] == (drawn ? b : a)->kept) {
            return;
        }
        stay[drawn]++;
        left[drawn] -= step[drawn];
    }
}

/* Copies `wanted` of `count` rows, chosen at random with equal chance, in their order. `to` may be `rows`. */
ZT__PRIVATE void zt__draw_rows(const zt__sample_layout *layout, uint64_t *state, double *to,
                               const double *rows, uint32_t count, uint32_t wanted) {
    size_t columns = layout->column_count;
    for (; wanted; rows += columns, count--) {
        if (zt__random_fraction(state) * count < wanted) {
            memmove(to, rows, columns * sizeof *rows);
            to += columns;
            wanted--;
        }
    }
}

/* Adds the statistics of other samples, for which room was reserved. The mutex of the owner of `into` is
   held, and no thread writes to `from`. */
ZT__PRIVATE void zt__merge_statistics(const zt__sample_layout *layout, zt__statistics *into,
                                      const zt__statistics *from) {
    uint64_t state = zt__random_state(into->seed, zt__samples_per_pass(into) + zt__samples_per_pass(from));
    uint32_t i, stay[2];
    if (!from->moments) {
        return;
    }
    zt__draw_row_counts(into, from, into->capacity, &state, stay);
    if (stay[0]) {
        zt__draw_rows(layout, &state, into->rows, into->rows, into->kept, stay[0]);
    }
    if (stay[1]) {
        zt__draw_rows(layout, &state, into->rows + (size_t)stay[0] * layout->column_count, from->rows,
                      from->kept, stay[1]);
    }
    into->kept = stay[0] + stay[1];
    for (i = 0; i < layout->column_count; i++) {
        zt__merge_moments(&into->moments[i], &from->moments[i]);
    }
    for (i = 0; i < ZT__MAX_PASSES; i++) {
        into->seen[i] += from->seen[i];
    }
}

/* ---- reading statistics ---------------------------------------------------------------------------------- */

ZT__PRIVATE void zt__clear_stats(zt_stats *stats) {
    stats->count = 0;
    stats->sum = stats->mean = stats->stddev = zt__nan();
    stats->min = stats->max = zt__nan();
    stats->median = stats->p95 = zt__nan();
}

/* Fills in the statistics of one column, except median and 95th percentile. The mutex is held. */
ZT__PRIVATE void zt__get_moments(const zt__sample_layout *layout, const zt__statistics *statistics,
                                 uint32_t column, zt_stats *stats) {
    const zt__moments *moments = statistics->moments ? &statistics->moments[column] : NULL;
    zt_aggregation aggregation = layout->aggregations[column];
    zt__clear_stats(stats);
    if (!moments || moments->count == 0) {
        return;
    }
    stats->count = moments->count;
    if (aggregation == ZT_AGGREGATE_SUM || aggregation == ZT_AGGREGATE_FLAG) {
        stats->sum = moments->sum;
    }
    if (aggregation == ZT_AGGREGATE_FLAG) {
        return;
    }
    stats->min = moments->min;
    stats->max = moments->max;
    if (aggregation != ZT_AGGREGATE_NONE && moments->weight > 0) {
        /* The unbiased variance of as many observations as there are samples, each with the mean weight. */
        double count = (double)moments->count, freedom = moments->weight * (1.0 - 1.0 / count);
        stats->mean = aggregation == ZT_AGGREGATE_SUM ? moments->sum / count : moments->mean;
        stats->stddev = moments->count > 1 ? sqrt(moments->m2 / freedom) : 0;
    }
}

/* Copies the kept values of one column, without NaN. Returns their number, up to `kept`. The mutex is held.
 */
ZT__PRIVATE uint32_t zt__copy_column(const zt__sample_layout *layout, const zt__statistics *statistics,
                                     uint32_t column, double *to) {
    uint32_t i, count = 0;
    for (i = 0; i < statistics->kept; i++) {
        double value = statistics->rows[(size_t)i * layout->column_count + column];
        if (!zt__is_nan(value)) {
            to[count++] = value;
        }
    }
    return count;
}

/* Reorders values by Hoare's selection, until the value of this rank, counted from 0, is in its place: none
   before it is greater, and none after it is less. `count` is not 0. */
ZT__PRIVATE void zt__select_rank(double *values, uint32_t count, uint32_t rank) {
    uint32_t low = 0, high = count - 1;
    while (low < high) {
        double pivot = values[low + (high - low) / 2];
        uint32_t i = low, j = high;
        for (;;) {
            double swapped;
            while (values[i] < pivot) {
                i++;
            }
            while (values[j] > pivot) {
                j--;
            }
            if (i >= j) {
                break;
            }
            swapped = values[i];
            values[i++] = values[j];
            values[j--] = swapped;
        }
        if (rank <= j) {
            high = j;
        } else {
            low = j + 1;
        }
    }
}

/* Returns the quantile below which this share of the values lies, interpolated linearly between the two
   values next to it; NaN if there are no values. Reorders the values, unless they are sorted. */
ZT__PRIVATE double zt__quantile(double *values, uint32_t count, double share) {
    double position, low, high;
    uint32_t rank, i;
    if (count == 0) {
        return zt__nan();
    }
    position = share * (count - 1);
    rank = (uint32_t)position;
    zt__select_rank(values, count, rank);
    low = values[rank];
    if (rank + 1 >= count) {
        return low;
    }
    high = values[rank + 1];
    for (i = rank + 2; i < count; i++) {
        if (values[i] < high) {
            high = values[i];
        }
    }
    return low + (high - low) * (position - rank);
}

/* ==== >>profiler: what a profiler is made of: slots, lists, names, passes ================================= */

enum {
    ZT__BATCH = 64,
    ZT__MAX_REGIONS = 65536,
    ZT__MAX_NESTED_PATHS = 65536,
    ZT__MAX_PATHS = ZT__MAX_NESTED_PATHS + ZT__MAX_REGIONS,
    ZT__PATHS_PER_BLOCK = 128,
    ZT__MAX_DEPTH = 64
};

/* The library's own tests define this to stop where an invariant does not hold. */
#ifndef ZT__INVARIANT
#define ZT__INVARIANT(condition) ((void)0)
#endif

typedef struct zt__list zt__list;
typedef struct zt__slot zt__slot;

/* ---- slots ----------------------------------------------------------------------------------------------- */

/* THE LIFE OF A SLOT, at the beginning of the implementation, explains each state. */
typedef enum zt__slot_state {
    ZT__SLOT_FREE,
    ZT__SLOT_OPEN,
    ZT__SLOT_RECORDED,
    ZT__SLOT_PENDING,
    ZT__SLOT_READING,
    ZT__SLOT_ARMED,
    ZT__SLOT_PARTIAL,
    ZT__SLOT_RETIRED,
    ZT__SLOT_STATE_COUNT
} zt__slot_state;

/* Whether a slot may go from one state to another, and whether that counts one more sample as begun
   (ZT__BEGINS) or one less (ZT__BACK). */
typedef enum zt__transition { ZT__NO, ZT__OK, ZT__BEGINS, ZT__BACK } zt__transition;

/* clang-format off */
static const unsigned char zt__transitions[ZT__SLOT_STATE_COUNT][ZT__SLOT_STATE_COUNT] = {
    /* from, to        FREE      OPEN        RECORDED PENDING     READING ARMED     PARTIAL RETIRED */
    /* FREE */     {ZT__NO,   ZT__BEGINS, ZT__NO,  ZT__NO,     ZT__NO, ZT__NO,   ZT__NO, ZT__OK},
    /* OPEN */     {ZT__OK,   ZT__NO,     ZT__OK,  ZT__OK,     ZT__NO, ZT__NO,   ZT__OK, ZT__OK},
    /* RECORDED */ {ZT__BACK, ZT__NO,     ZT__NO,  ZT__OK,     ZT__OK, ZT__NO,   ZT__NO, ZT__BACK},
    /* PENDING */  {ZT__NO,   ZT__NO,     ZT__OK,  ZT__NO,     ZT__OK, ZT__BACK, ZT__NO, ZT__OK},
    /* READING */  {ZT__OK,   ZT__NO,     ZT__OK,  ZT__OK,     ZT__NO, ZT__OK,   ZT__OK, ZT__OK},
    /* ARMED */    {ZT__OK,   ZT__NO,     ZT__NO,  ZT__BEGINS, ZT__OK, ZT__NO,   ZT__NO, ZT__NO},
    /* PARTIAL */  {ZT__NO,   ZT__NO,     ZT__NO,  ZT__NO,     ZT__OK, ZT__NO,   ZT__NO, ZT__OK},
    /* RETIRED */  {ZT__NO,   ZT__NO,     ZT__NO,  ZT__NO,     ZT__NO, ZT__NO,   ZT__NO, ZT__NO},
};
/* clang-format on */

typedef struct zt__path zt__path;

/* A region, which its name identifies. */
typedef struct zt__region_record {
    const char *name;
    uint32_t index;
    zt__path *paths; /* on which it was begun, the newest first */
    uint64_t lost, dropped;
    double operations; /* of a sample; 0: not known */
    zt__statistics statistics;
    zt__moments *streamed; /* for each metric of attached streams */
    uint32_t streamed_count;
} zt__region_record;

/* Two regions are on the same path if they have the same name and are inside regions on the same path. */
typedef struct zt__path_key {
    zt__path *outer; /* of the region around it, or the profiler's root */
    zt__region_record *region;
} zt__path_key;

/* What was collected of a region inside certain others. Paths neither move nor disappear. */
struct zt__path {
    zt__path_key key;
    uint32_t index, depth; /* a path inside no other has depth 1 */
    zt__path *next;        /* of the same region */
    zt__path *inner;       /* the paths directly inside, the newest first, */
    zt__path *next_inner;  /* and the next of those in key.outer */
    int is_repeated;       /* its region is also one of those around it */
    int outlives_outer;    /* such a region has ended after the one around it */
    int is_own_unknown;    /* regions directly inside were not measured, or have outlived it */
    uint64_t count;        /* samples that were collected and have a GPU time, */
    double time_ns;        /* and the sum of these times */
    uint64_t missing;      /* samples in flight, lost or dropped, and without a GPU time */
};

/* Where a region comes from, for the timeline. Threads are those of the system; 0 is not known. */
typedef struct zt__origin {
    const char *list_name;                  /* or NULL */
    uint32_t appended_by;                   /* the thread that began it */
    uint32_t submitted_by;                  /* that thread, or the one that has executed its list */
    uint32_t append_ns;                     /* from its begin to its end on the host */
    int is_executed;                        /* its list was executed: slot->submitted_ns is of that call */
    uint32_t group_count[3], group_size[3]; /* of a launch that was traced; 0: not known */
} zt__origin;

struct zt__slot {
    zt__slot_state state;      /* changed only by zt__move_slot */
    zt__slot *next, *previous; /* in the chain of free slots (`next` only), or in that of its list */

    /* its region, and the list that has its commands */
    zt__region_record *region;
    zt__path *path;      /* of that region */
    zt__slot *outer;     /* while it is open: the region around it, or NULL */
    zt__list *list;      /* NULL: no list has its commands */
    uint64_t number;     /* its list numbers its slots from 1 as they end */
    uint32_t generation; /* increased when a region begins or ends: a zt_region of another one is stale */
    uint32_t activation; /* profiler->activation when the region was begun */
    int spans_passes;    /* the region has begun in one pass and ended in another: its sample will be lost */
    int is_dropped;      /* the region was dropped, its commands are incomplete: no sample is ever read */
    uint64_t submitted_ns; /* host time; it was submitted at this time or later */
    zt__origin origin;     /* with a timeline; written by the thread that uses the list */

    /* for zt_execute: the state in which it found the slot, or FREE if it does not expect the slot to run */
    zt__slot_state submitted_from;

    /* for the collector */
    uint64_t overdue_since_ns; /* host time when reading it failed first, or 0. It is lost if that goes on */
    int needs_reset;           /* while PARTIAL: it may have run since it was last reset */
    int shows_end;             /* while PARTIAL: its event signals when its commands are complete */
    int may_be_written; /* RETIRED, and the device may still write to it: its pools are never destroyed */

    /* constant */
    uint32_t pass; /* its queries are of this pass's groups */
    ze_event_handle_t event;
    uint64_t *stamps; /* two time stamps of the device, or NULL */
    zet_metric_query_handle_t queries[ZT__MAX_GROUPS_IN_PASS];
};

/* Slots are made in blocks. */
typedef struct zt__slot_block {
    struct zt__slot_block *next;
    ze_event_pool_handle_t event_pool;
    zet_metric_query_pool_handle_t query_pools[ZT__MAX_GROUPS_IN_PASS];
    uint64_t *stamps;
    uint32_t count;
    zt__slot *slots;
} zt__slot_block;

/* Groups that are active together, and the slots for them. */
typedef struct zt__pass {
    zt__group *groups;
    uint32_t group_count;
    uint32_t index;
    uint32_t time_metric; /* GpuTime among the profiler's metrics, or UINT32_MAX */
    uint32_t slot_count;  /* slots that are made or being made */
    zt__slot *free_slots;
} zt__pass;

/* ---- lists ----------------------------------------------------------------------------------------------- */

/* What is known about a command list. */
typedef enum zt__list_state {
    ZT__LIST_UNKNOWN,    /* the loader cannot tell its kind: it is treated as recorded */
    ZT__LIST_RECORDED,   /* recorded, and not known to have run */
    ZT__LIST_OBSERVED,   /* recorded, and executed by zt_execute or under a tracer */
    ZT__LIST_UNOBSERVED, /* recorded, and known to have run by other means */
    ZT__LIST_IMMEDIATE
} zt__list_state;

struct zt__list {
    ze_command_list_handle_t handle;
    const char *name;     /* of zt_name_list, or NULL */
    zt__list_state state; /* changed only by zt__move_list */
    zt__list *next;
    zt__slot *first, *last; /* slots that ended and still belong to the list, in order of their numbers */
    zt__slot *innermost;    /* the open region that was begun last; `outer` leads to the others. Or NULL */
    uint32_t open_count;    /* regions begun and not ended, or being begun: they keep this record */

    /* Numbers of slots. None is higher than `ended`. */
    uint64_t ended;            /* the slot that ended last */
    uint64_t ran_up_to;        /* the last slot whose event has signalled, or that zt_execute has submitted */
    uint64_t over_up_to;       /* all slots up to this one are over, */
    uint64_t finished_up_to;   /* or finished: see THE LIFE OF A SLOT */
    uint64_t unexpected_up_to; /* zt_execute expects no slot up to this one to run: it may have been recorded
                                  before a reset that was not seen */

    /* for the last zt_execute */
    int overlaps;         /* it was submitted before the one before it was known to be finished, so events do
                             not show which of them has ended. Until a region is begun */
    uint32_t overwritten; /* samples of the execution before it that it overwrites */
    uint64_t ran_before, finished_before; /* the numbers before it, restored if the driver refuses it */
    int overlapped_before;
};

/* ---- the profiler ---------------------------------------------------------------------------------------- */

/* A metric that, if it is not 0, reports that its sample is lost. */
typedef struct zt__lost_flag {
    uint32_t column;
    zt_cause cause;
} zt__lost_flag;

/* When a sample ran, for the timeline. */
typedef struct zt__sample_times {
    ze_command_list_handle_t list;
    uint64_t begin_ticks, end_ticks; /* the device's global time stamps */
    uint64_t not_before_ns;          /* host time; it was submitted at this time or later */
    uint64_t not_after_ns;           /* host time; it was complete at this time */
} zt__sample_times;

/* Samples that are missing on the timeline: of one region, one after the other, for one reason. */
typedef struct zt__missing {
    const zt__region_record *region; /* NULL: not known */
    ze_command_list_handle_t list;   /* NULL: not known */
    const char *list_name;           /* or NULL */
    uint64_t since_ns;               /* host time at which the first was submitted, or begun and dropped */
    zt_cause cause;                  /* ZT_CAUSE_COUNT: its time is uncertain */
    uint32_t count;
} zt__missing;

/* What the collector found in a slot. */
typedef enum zt__outcome {
    ZT__NOT_READY,
    ZT__NEVER_RAN, /* it is over, and has not run since it was last read */
    ZT__NO_SAMPLE, /* it was PARTIAL */
    ZT__READ,
    ZT__LOST
} zt__outcome;

/* A slot that the collector reads. */
typedef struct zt__reading {
    zt__slot *slot;
    zt__slot_state from;
    int is_over;
    int is_finished;
    int is_announced; /* this execution was, or its list is immediate */
    int is_gone;      /* it is not on its list any more, unless its event has signalled */
    int has_signalled;
    zt__outcome outcome;
    int is_unusable;    /* it is not reset, or the device may still write to it */
    zt_cause cause;     /* why its sample is lost */
    ze_result_t result; /* of the driver call that failed, or SUCCESS */
    const char *call;
    uint32_t report; /* index among the reports of the batch */
    zt__region_record *region;
    int is_unobserved; /* its sample shows that its list ran without zt_execute */
    zt__sample_times times;
} zt__reading;

/* The slots that are read and calculated together. Only the thread that holds the collector uses this. */
typedef struct zt__batch {
    uint32_t count;
    const zt__pass *pass; /* all are of one pass */
    zt__reading readings[ZT__BATCH];
    uint32_t report_count;
    uint8_t *raw[ZT__MAX_GROUPS_IN_PASS]; /* for each group, the reports one after the other */
    size_t raw_size[ZT__MAX_GROUPS_IN_PASS];
    zet_typed_value_t *values[ZT__MAX_GROUPS_IN_PASS]; /* and the values calculated from them */
    size_t value_count[ZT__MAX_GROUPS_IN_PASS];
    double *rows; /* one for each reading */
} zt__batch;

/* What was measured where and when, for those who read a report later. "" and 0: not known. */
typedef struct zt__facts {
    char driver_version[32];
    char uuid[40];
    char pci_address[32];
    char program[1024]; /* its command line */
    uint32_t core_clock_mhz;
    uint64_t timer_hz; /* of the device's time stamps */
    uint64_t opened_s; /* when the profiler was opened, in seconds since 1970 (UTC) */
} zt__facts;

/* What the device can do at the most, a second; 0: not known. */
typedef struct zt__peaks {
    double bytes, operations;
    char source[64];
} zt__peaks;

struct zt_profiler {
    uint32_t id; /* index among the process's profilers, plus ZT__MAX_PROFILERS * a serial number */
    ze_context_handle_t context; /* NULL, like the device, where the profiler has only results */
    ze_device_handle_t device;
    zt_config config; /* with defaults filled in; after zt_open, its lists of names are NULL */
    zt__driver driver;
    zt__diagnostics diagnostics;
    zt_availability availability;
    zt__message_text availability_text;
    char device_name[ZE_MAX_DEVICE_NAME];
    zt__facts facts;
    double ns_per_tick; /* of the device's global time stamps */
    uint64_t tick_mask;
    int is_stamped; /* regions write time stamps of the device */

    /* what is measured: constant once the profiler is open */
    zt__selection selection;
    zt_metric *metrics;
    uint32_t metric_count;
    zt__lost_flag *lost_flags;
    uint32_t lost_flag_count;
    uint32_t pass_count;
    uint32_t tile_count; /* 0 if the device has no separate tiles */
    zt__sample_layout
        layout; /* GPU time; metrics; GPU time of each pass if several; metrics of each tile if any */
    zt_aggregation *column_aggregations;
    char *columns;          /* of the table, from the configuration; NULL: as many as fit */
    char *reports;          /* of ZT_REPORT, to be written when the profiler is closed; NULL: none */
    uint32_t report_number; /* 1 for the first profiler that has such reports */
    char *strings;          /* the texts of the metrics, in a profiler from zt_unpack */
    zt__pass passes[ZT__MAX_PASSES];

    zt__timed_mutex collector; /* reading, calculating, delivering: one thread at a time */
    zt__batch batch;           /* guarded by the collector, like the next */
    uint32_t collections;      /* completed. Atomic */

    zt__mutex mutex; /* guards what follows; held for bookkeeping only */
    zt_counts counts;
    zt__peaks peaks;
    int peaks_are_overridden; /* by ZT_PEAKS */
    uint64_t causes[ZT_CAUSE_COUNT];
    uint32_t state_counts[ZT__SLOT_STATE_COUNT]; /* slots in each state */
    zt__slot_block *blocks;
    uint64_t no_growth_until_ns; /* making slots has failed: it is not tried again before this time */
    uint32_t active_pass;
    uint32_t activation; /* number of changes of the pass */
    zt__map names;       /* to region records */
    zt__region_record **regions;
    uint32_t region_count, region_capacity;
    zt__map path_map; /* to paths, by their keys */
    zt__path *path_blocks[ZT__MAX_PATHS / ZT__PATHS_PER_BLOCK];
    uint32_t path_count, path_capacity;
    zt__path root;      /* around all paths */
    zt__map list_map;   /* to lists */
    zt__map list_names; /* of zt_name_list, to themselves; each stays until the profiler is closed */
    zt__list *lists;
    zt__list *unused_lists; /* records for reuse */
    uint32_t list_count, lists_after_cleaning;
    int observes_execution; /* zt_execute or the tracer has reported an execution */
    uint32_t uncollected;   /* regions ended on lists that may be immediate since the last collection began */
    int is_delivering;      /* the collector delivers samples to the application */
    int thread_is_idle;     /* the thread below sleeps for long, so it has to be woken */
    uint64_t begun_at_last_look; /* counts.begun when the thread last ran */
    int thread_is_thorough;      /* the next collection of the thread is thorough */
    zt__thread thread;           /* collects, with config.thread */

    /* data and functions of later chapters */
    struct zt__timeline *timeline;
    struct zt__stream_data *attached_streams; /* also those that are closed; guarded by the mutex */
    uint32_t streamed_count;
    struct zt__tracer *tracer;
    void (*before_batch)(zt_profiler *profiler);    /* no mutex held */
    void (*batch_collected)(zt_profiler *profiler); /* no mutex held */
    void (*sample_collected)(zt_profiler *profiler, const zt__reading *reading,
                             const double *row); /* mutex held */
    /* A sample is missing, or with `by` -1 it is not after all. mutex held */
    void (*sample_missing)(zt_profiler *profiler, const zt__missing *missing, int by);
    /* A call begins to execute lists, or with 0 this thread's call has returned. mutex held */
    void (*lists_executed)(zt_profiler *profiler, uint64_t begin_ns);
    int (*stop_tracing)(zt_profiler *profiler); /* returns 0 if the profiler cannot be closed now */
};

/* Public functions that only read take a constant profiler, but have to lock it. */
ZT__PRIVATE zt_profiler *zt__mutable(const zt_profiler *profiler) {
    return (zt_profiler *)profiler;
}

ZT__PRIVATE zt__diagnostics *zt__diagnostics_of(const zt_profiler *profiler) {
    return profiler ? &zt__mutable(profiler)->diagnostics : NULL;
}

ZT__PRIVATE const zt_allocator *zt__allocator_of(const zt_profiler *profiler) {
    return profiler ? &profiler->config.allocator : &zt__default_allocator;
}

/* ---- columns --------------------------------------------------------------------------------------------- */

/* Returns the column of the GPU time in one pass. */
ZT__PRIVATE uint32_t zt__pass_time_column(const zt_profiler *profiler, uint32_t pass) {
    return profiler->pass_count == 1 ? 0 : 1 + profiler->metric_count + pass;
}

ZT__PRIVATE uint32_t zt__tile_column(const zt_profiler *profiler, uint32_t tile, uint32_t metric) {
    uint32_t first = 1 + profiler->metric_count + (profiler->pass_count == 1 ? 0 : profiler->pass_count);
    return first + tile * profiler->metric_count + metric;
}

/* Sets the layout of a row. The metrics, passes and tiles are known. Returns 0 without memory. */
ZT__PRIVATE int zt__lay_out_columns(zt_profiler *profiler) {
    uint32_t metric, tile, pass, count = zt__tile_column(profiler, profiler->tile_count, 0);
    zt_aggregation *aggregations =
        (zt_aggregation *)zt__allocate(&profiler->config.allocator, count, sizeof *aggregations);
    if (!aggregations) {
        return 0;
    }
    aggregations[0] = ZT_AGGREGATE_SUM;
    for (pass = 0; pass < profiler->pass_count; pass++) {
        aggregations[zt__pass_time_column(profiler, pass)] = ZT_AGGREGATE_SUM;
    }
    for (metric = 0; metric < profiler->metric_count; metric++) {
        aggregations[1 + metric] = profiler->metrics[metric].aggregation;
        for (tile = 0; tile < profiler->tile_count; tile++) {
            aggregations[zt__tile_column(profiler, tile, metric)] = profiler->metrics[metric].aggregation;
        }
    }
    profiler->column_aggregations = aggregations;
    profiler->layout.column_count = count;
    profiler->layout.row_limit = profiler->config.samples;
    profiler->layout.aggregations = aggregations;
    return 1;
}

/* ---- states: with the mutex held ------------------------------------------------------------------------- */

/* Counts one more sample on a path as begun, or with -1 one less. */
ZT__PRIVATE void zt__count_begun(zt_profiler *profiler, zt__path *path, int change) {
    profiler->counts.begun += (uint64_t)change;
    path->missing += (uint64_t)change;
}

ZT__PRIVATE void zt__move_slot(zt_profiler *profiler, zt__slot *slot, zt__slot_state to) {
    zt__transition transition = (zt__transition)zt__transitions[slot->state][to];
    ZT__INVARIANT(transition != ZT__NO);
    if (transition == ZT__BEGINS) {
        zt__count_begun(profiler, slot->path, 1);
    } else if (transition == ZT__BACK) {
        zt__count_begun(profiler, slot->path, -1);
    }
    profiler->state_counts[slot->state]--;
    profiler->state_counts[to]++;
    slot->state = to;
}

ZT__PRIVATE void zt__move_list(zt_profiler *profiler, zt__list *list, zt__list_state to) {
    if (to == ZT__LIST_UNOBSERVED && list->state != to) {
        profiler->counts.unobserved_lists++;
    }
    list->state = to;
}

ZT__PRIVATE int zt__is_over(const zt__slot *slot) {
    return slot->number <= slot->list->over_up_to;
}

ZT__PRIVATE int zt__is_finished(const zt__slot *slot) {
    return slot->number <= slot->list->finished_up_to;
}

/* Returns whether a PARTIAL slot was submitted, and is not known to be finished since then. */
ZT__PRIVATE int zt__is_submitted(const zt__slot *slot) {
    return slot->needs_reset && !zt__is_finished(slot) &&
           (slot->list->state == ZT__LIST_IMMEDIATE || slot->number <= slot->list->ran_up_to);
}

/* Returns whether the event of a PARTIAL slot shows when the last execution of its commands is complete. */
ZT__PRIVATE int zt__shows_end(const zt__slot *slot) {
    return slot->state == ZT__SLOT_PARTIAL && slot->shows_end && !slot->list->overlaps;
}

/* Returns whether dropped regions of a list are on their way, and their events will show when they end. */
ZT__PRIVATE int zt__awaits_ends(const zt__list *list) {
    const zt__slot *slot = list->first;
    while (slot && !(zt__shows_end(slot) && zt__is_submitted(slot))) {
        slot = slot->next;
    }
    return slot != NULL;
}

/* Returns whether samples of a list are known to be on their way, or are being read. */
ZT__PRIVATE int zt__is_on_its_way(const zt__list *list) {
    const zt__slot *slot = list->first;
    while (slot && slot->state != ZT__SLOT_PENDING && slot->state != ZT__SLOT_READING) {
        slot = slot->next;
    }
    return slot != NULL;
}

/* Counts a sample of a slot as lost, or with `by` -1 no longer. */
ZT__PRIVATE void zt__count_lost(zt_profiler *profiler, const zt__slot *slot, zt_cause cause, int by) {
    profiler->counts.lost += (uint64_t)by;
    profiler->causes[cause] += (uint64_t)by;
    slot->region->lost += (uint64_t)by;
    if (profiler->sample_missing) {
        zt__missing missing = {
            slot->region, slot->list->handle, slot->origin.list_name, slot->submitted_ns, cause, 1};
        profiler->sample_missing(profiler, &missing, by);
    }
}

/* Counts a region that was begun at `since_ns`. Region and list are NULL if they could not be recorded. */
ZT__PRIVATE void zt__count_dropped(zt_profiler *profiler, zt__region_record *region, const zt__list *list,
                                   uint64_t since_ns, zt_cause cause) {
    profiler->counts.dropped++;
    profiler->causes[cause]++;
    if (region) {
        region->dropped++;
    }
    if (profiler->sample_missing) {
        zt__missing missing = {region, list ? list->handle : NULL, list ? list->name : NULL, since_ns, cause,
                               1};
        profiler->sample_missing(profiler, &missing, 1);
    }
}

/* Locks the mutex, unlike the others here. */
ZT__PRIVATE void zt__count_states(const zt_profiler *profiler, uint64_t counts[ZT__SLOT_STATE_COUNT]) {
    zt_profiler *locked = zt__mutable(profiler);
    uint32_t state;
    zt__lock(&locked->mutex);
    for (state = 0; state < ZT__SLOT_STATE_COUNT; state++) {
        counts[state] = locked->state_counts[state];
    }
    zt__unlock(&locked->mutex);
}

/* ---- the chain of a list: with the mutex held ------------------------------------------------------------ */

/* Binds a slot that has ended to its list. */
ZT__PRIVATE void zt__bind_slot(zt__slot *slot) {
    zt__list *list = slot->list;
    slot->number = ++list->ended;
    list->open_count--;
    slot->next = NULL;
    slot->previous = list->last;
    if (list->last) {
        list->last->next = slot;
    } else {
        list->first = slot;
    }
    list->last = slot;
}

ZT__PRIVATE void zt__unbind_slot(zt__slot *slot) {
    zt__list *list = slot->list;
    if (slot->previous) {
        slot->previous->next = slot->next;
    } else {
        list->first = slot->next;
    }
    if (slot->next) {
        slot->next->previous = slot->previous;
    } else {
        list->last = slot->previous;
    }
    slot->list = NULL;
}

ZT__PRIVATE void zt__push_free_slot(zt_profiler *profiler, zt__slot *slot) {
    zt__pass *pass = &profiler->passes[slot->pass];
    slot->next = pass->free_slots;
    pass->free_slots = slot;
}

/* Returns NULL if there is none. */
ZT__PRIVATE zt__slot *zt__pop_free_slot(zt__pass *pass) {
    zt__slot *slot = pass->free_slots;
    if (slot) {
        pass->free_slots = slot->next;
    }
    return slot;
}

/* Frees a slot that is not in the chain of a list. */
ZT__PRIVATE void zt__free_slot(zt_profiler *profiler, zt__slot *slot) {
    zt__move_slot(profiler, slot, ZT__SLOT_FREE);
    slot->list = NULL;
    zt__push_free_slot(profiler, slot);
}

/* ---- names and lists: with the mutex held, which is unlocked while memory is allocated ------------------- */

ZT__PRIVATE const char *zt__shown_name(const char *name) {
    return name && *name ? name : "(unnamed)";
}

/* Allocates while the mutex is unlocked: the caller has to repeat its look-ups. */
ZT__PRIVATE void *zt__allocate_unlocked(zt_profiler *profiler, size_t count, size_t size) {
    void *memory;
    zt__unlock(&profiler->mutex);
    memory = zt__allocate(&profiler->config.allocator, count, size);
    zt__lock(&profiler->mutex);
    return memory;
}

ZT__PRIVATE void zt__free_unlocked(zt_profiler *profiler, void *memory) {
    zt__unlock(&profiler->mutex);
    zt__free(&profiler->config.allocator, memory);
    zt__lock(&profiler->mutex);
}

/* Returns 0 without memory. */
ZT__PRIVATE int zt__make_room_for_region(zt_profiler *profiler) {
    while (profiler->region_count == profiler->region_capacity) {
        uint32_t before = profiler->region_capacity, capacity = before ? before * 2 : 64;
        zt__region_record **unused, **regions;
        regions = (zt__region_record **)zt__allocate_unlocked(profiler, capacity, sizeof *regions);
        if (!regions) {
            return profiler->region_count < profiler->region_capacity;
        }
        unused = regions;
        if (profiler->region_capacity == before) { /* else another thread has grown it */
            if (before) {
                memcpy(regions, profiler->regions, before * sizeof *regions);
            }
            unused = profiler->regions;
            profiler->regions = regions;
            profiler->region_capacity = capacity;
        }
        zt__free_unlocked(profiler, (void *)unused);
    }
    return zt__map_make_room(&profiler->names, &profiler->config.allocator, &profiler->mutex);
}

/* Returns the region with this name, added if it is new; or NULL and the cause if it cannot be added. */
ZT__PRIVATE zt__region_record *zt__find_or_add_region(zt_profiler *profiler, const char *name,
                                                      zt_cause *cause) {
    size_t length = strlen(name);
    zt__region_record *region = (zt__region_record *)zt__map_find(&profiler->names, name, length), *made;
    int has_room = 1;
    char *copy;
    if (region) {
        return region;
    }
    *cause = ZT_DROPPED_NO_MEMORY;
    made = (zt__region_record *)zt__allocate_unlocked(profiler, 1, sizeof *made + length + 1);
    /* Other threads may add regions while the mutex is unlocked: this one, too, or so many that room is made
       again. */
    while (made && has_room && profiler->region_count < ZT__MAX_REGIONS &&
           (profiler->region_count == profiler->region_capacity || zt__map_is_full(&profiler->names))) {
        has_room = zt__make_room_for_region(profiler);
    }
    region = (zt__region_record *)zt__map_find(&profiler->names, name, length);
    if (!region && made && has_room && profiler->region_count < ZT__MAX_REGIONS) {
        copy = (char *)(made + 1);
        memcpy(copy, name, length);
        made->name = copy;
        made->index = profiler->region_count;
        made->statistics.seed = zt__hash(name, length);
        zt__map_add(&profiler->names, copy, length, made);
        profiler->regions[profiler->region_count++] = made;
        return made;
    }
    if (!region && made && has_room) {
        *cause = ZT_DROPPED_TOO_MANY_NAMES;
    }
    zt__free_unlocked(profiler, made);
    return region;
}

/* Paths are in blocks, so that they need not move. */
ZT__PRIVATE zt__path *zt__path_at(const zt_profiler *profiler, uint32_t index) {
    return &profiler->path_blocks[index / ZT__PATHS_PER_BLOCK][index % ZT__PATHS_PER_BLOCK];
}

ZT__PRIVATE zt__path *zt__find_path(const zt_profiler *profiler, zt__path *outer, zt__region_record *region) {
    zt__path_key key;
    if (region->paths && region->paths->key.outer == outer) { /* most regions have one path */
        return region->paths;
    }
    key.outer = outer;
    key.region = region;
    return (zt__path *)zt__map_find(&profiler->path_map, &key, sizeof key);
}

/* Returns 0 without memory. */
ZT__PRIVATE int zt__make_room_for_path(zt_profiler *profiler) {
    if (profiler->path_count == profiler->path_capacity) {
        zt__path *block = (zt__path *)zt__allocate_unlocked(profiler, ZT__PATHS_PER_BLOCK, sizeof *block);
        if (block &&
            profiler->path_count == profiler->path_capacity) { /* else another thread has added one */
            profiler->path_blocks[profiler->path_capacity / ZT__PATHS_PER_BLOCK] = block;
            profiler->path_capacity += ZT__PATHS_PER_BLOCK;
            block = NULL;
        }
        zt__free_unlocked(profiler, block);
    }
    return profiler->path_count < profiler->path_capacity &&
           zt__map_make_room(&profiler->path_map, &profiler->config.allocator, &profiler->mutex);
}

/* Returns the path of a region inside another path, added if it is new, or NULL without memory. If regions
   are nested too deeply, such as where many are never ended, or on too many paths, it is that of the region
   inside no other. */
ZT__PRIVATE zt__path *zt__find_or_add_path(zt_profiler *profiler, zt__path *outer,
                                           zt__region_record *region) {
    zt__path *path = zt__find_path(profiler, outer, region), *above;
    int has_room = 1;
    if (!path && outer->depth > 0 &&
        (outer->depth == ZT__MAX_DEPTH || profiler->path_count >= ZT__MAX_NESTED_PATHS)) {
        outer->is_own_unknown = 1;
        outer = &profiler->root;
        path = zt__find_path(profiler, outer, region);
    }
    while (!path && has_room &&
           (profiler->path_count == profiler->path_capacity || zt__map_is_full(&profiler->path_map))) {
        has_room = zt__make_room_for_path(profiler);
        path = zt__find_path(profiler, outer, region); /* another thread may have added it */
    }
    if (path || !has_room) {
        return path;
    }
    path = zt__path_at(profiler, profiler->path_count);
    path->index = profiler->path_count++;
    path->key.outer = outer;
    path->key.region = region;
    path->depth = outer->depth + 1;
    path->next = region->paths;
    region->paths = path;
    path->next_inner = outer->inner;
    outer->inner = path;
    for (above = outer; above->depth > 0; above = above->key.outer) {
        path->is_repeated |= above->key.region == region;
    }
    zt__map_add(&profiler->path_map, &path->key, sizeof path->key, path);
    return path;
}

ZT__PRIVATE zt__list *zt__find_list(const zt_profiler *profiler, ze_command_list_handle_t handle) {
    return (zt__list *)zt__map_find(&profiler->list_map, (const void *)&handle, sizeof handle);
}

/* Adds a list that zt__find_list has not found. Returns NULL without memory. Level Zero allows only one
   thread at a time to use a command list, so no other thread adds the same list meanwhile. */
ZT__PRIVATE zt__list *zt__add_list(zt_profiler *profiler, ze_command_list_handle_t handle) {
    const zt_allocator *allocator = &profiler->config.allocator;
    zt__list *list;
    if (!zt__map_make_room(&profiler->list_map, allocator, &profiler->mutex)) {
        return NULL;
    }
    if (profiler->unused_lists) {
        list = profiler->unused_lists;
        profiler->unused_lists = list->next;
        memset(list, 0, sizeof *list);
    } else {
        list = (zt__list *)zt__allocate_unlocked(profiler, 1, sizeof *list);
        if (!list || !zt__map_make_room(&profiler->list_map, allocator, &profiler->mutex)) {
            zt__free_unlocked(profiler, list);
            return NULL;
        }
    }
    list->handle = handle;
    list->next = profiler->lists;
    profiler->lists = list;
    profiler->list_count++;
    zt__map_add(&profiler->list_map, (const void *)&list->handle, sizeof list->handle, list);
    return list;
}

/* ---- making and resetting slots: no mutex held ----------------------------------------------------------- */

ZT__PRIVATE void zt__destroy_block(zt_profiler *profiler, zt__slot_block *block) {
    const zt_allocator *allocator = &profiler->config.allocator;
    int may_be_written = 0;
    uint32_t i, g;
    for (i = 0; i < block->count && block->slots; i++) {
        may_be_written |= block->slots[i].may_be_written;
    }
    /* Memory that the device may still write to is not freed: a leak is better than a crash. */
    if (!may_be_written || zt__is_device_lost(&profiler->diagnostics)) {
        for (i = 0; i < block->count && block->slots; i++) {
            for (g = 0; g < ZT__MAX_GROUPS_IN_PASS; g++) {
                if (block->slots[i].queries[g]) {
                    zetMetricQueryDestroy(block->slots[i].queries[g]);
                }
            }
            if (block->slots[i].event) {
                zeEventDestroy(block->slots[i].event);
            }
        }
        for (g = 0; g < ZT__MAX_GROUPS_IN_PASS; g++) {
            if (block->query_pools[g]) {
                zetMetricQueryPoolDestroy(block->query_pools[g]);
            }
        }
        if (block->event_pool) {
            zeEventPoolDestroy(block->event_pool);
        }
        if (block->stamps) {
            zeMemFree(profiler->context, block->stamps);
        }
    }
    zt__free(allocator, block->slots);
    zt__free(allocator, block);
}

/* Makes the pools of a block. On failure, `*call` is the call that failed. */
ZT__PRIVATE ze_result_t zt__create_pools(zt_profiler *profiler, const zt__pass *pass, zt__slot_block *block,
                                         const char **call) {
    zet_metric_query_pool_desc_t query_pool;
    ze_event_pool_desc_t event_pool;
    ze_host_mem_alloc_desc_t memory;
    uint32_t g;
    ze_result_t result = ZE_RESULT_SUCCESS;
    memset(&query_pool, 0, sizeof query_pool);
    query_pool.stype = ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC;
    query_pool.type = ZET_METRIC_QUERY_POOL_TYPE_PERFORMANCE;
    query_pool.count = block->count;
    *call = "zetMetricQueryPoolCreate";
    for (g = 0; g < pass->group_count && result == ZE_RESULT_SUCCESS; g++) {
        result = zetMetricQueryPoolCreate(profiler->context, profiler->device, pass->groups[g].handle,
                                          &query_pool, &block->query_pools[g]);
    }
    if (result == ZE_RESULT_SUCCESS) {
        memset(&event_pool, 0, sizeof event_pool);
        event_pool.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC;
        event_pool.flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE;
        event_pool.count = block->count;
        *call = "zeEventPoolCreate";
        result = zeEventPoolCreate(profiler->context, &event_pool, 1, &profiler->device, &block->event_pool);
    }
    if (result == ZE_RESULT_SUCCESS && profiler->is_stamped) {
        memset(&memory, 0, sizeof memory);
        memory.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC;
        *call = "zeMemAllocHost";
        result = zeMemAllocHost(profiler->context, &memory, block->count * 2 * sizeof *block->stamps,
                                sizeof *block->stamps, (void **)&block->stamps);
    }
    return result;
}

/* Makes what the slots of a block need. On failure, `*call` is the call that failed, and the block can be
   destroyed. */
ZT__PRIVATE ze_result_t zt__fill_block(zt_profiler *profiler, const zt__pass *pass, zt__slot_block *block,
                                       const char **call) {
    ze_event_desc_t event;
    uint32_t i, g;
    ze_result_t result = zt__create_pools(profiler, pass, block, call);
    memset(&event, 0, sizeof event);
    event.stype = ZE_STRUCTURE_TYPE_EVENT_DESC;
    event.signal = ZE_EVENT_SCOPE_FLAG_HOST;
    event.wait = ZE_EVENT_SCOPE_FLAG_HOST;
    for (i = 0; i < block->count && result == ZE_RESULT_SUCCESS; i++) {
        zt__slot *slot = &block->slots[i];
        slot->pass = pass->index;
        slot->stamps = block->stamps ? block->stamps + 2 * (size_t)i : NULL;
        *call = "zetMetricQueryCreate";
        for (g = 0; g < pass->group_count && result == ZE_RESULT_SUCCESS; g++) {
            result = zetMetricQueryCreate(block->query_pools[g], i, &slot->queries[g]);
        }
        if (result == ZE_RESULT_SUCCESS) {
            *call = "zeEventCreate";
            event.index = i;
            result = zeEventCreate(block->event_pool, &event, &slot->event);
        }
    }
    return result;
}

/* Resets the event and the queries of a slot. On failure, `*call` is the call that failed. */
ZT__PRIVATE ze_result_t zt__reset_handles(const zt__pass *pass, const zt__slot *slot, const char **call) {
    ze_result_t result;
    uint32_t g;
    *call = "zeEventHostReset";
    result = zeEventHostReset(slot->event);
    for (g = 0; g < pass->group_count && result == ZE_RESULT_SUCCESS; g++) {
        *call = "zetMetricQueryReset";
        result = zetMetricQueryReset(slot->queries[g]);
    }
    return result;
}

/* Makes one more block of slots for a pass. On failure, `*call` is the call that failed. If there are
   config.max_slots already, returns OUT_OF_DEVICE_MEMORY with `*call` NULL. */
ZT__PRIVATE ze_result_t zt__make_slots(zt_profiler *profiler, zt__pass *pass, const char **call) {
    const zt_allocator *allocator = &profiler->config.allocator;
    zt__slot_block *block;
    uint32_t count, i;
    ze_result_t result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    zt__lock(&profiler->mutex);
    count = profiler->config.max_slots - pass->slot_count;
    if (count > profiler->config.slots_per_step) {
        count = profiler->config.slots_per_step;
    }
    pass->slot_count += count; /* now, so that several threads together do not make too many */
    zt__unlock(&profiler->mutex);
    if (count == 0) {
        *call = NULL;
        return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    *call = "config.allocator";
    block = (zt__slot_block *)zt__allocate(allocator, 1, sizeof *block);
    if (block) {
        block->count = count;
        block->slots = (zt__slot *)zt__allocate(allocator, count, sizeof *block->slots);
        if (block->slots) {
            ZT__INTERNAL(result = zt__fill_block(profiler, pass, block, call));
        }
        if (result != ZE_RESULT_SUCCESS) {
            ZT__INTERNAL(zt__destroy_block(profiler, block));
        }
    }
    zt__lock(&profiler->mutex);
    if (result == ZE_RESULT_SUCCESS) {
        for (i = count; i-- > 0;) {
            zt__push_free_slot(profiler, &block->slots[i]);
        }
        profiler->state_counts[ZT__SLOT_FREE] += count;
        block->next = profiler->blocks;
        profiler->blocks = block;
    } else {
        pass->slot_count -= count;
    }
    zt__unlock(&profiler->mutex);
    return result;
}

/* ---- activation ------------------------------------------------------------------------------------------ */

ZT__PRIVATE void zt__deactivate_groups(zt_profiler *profiler, const zt__pass *pass, uint32_t count) {
    uint32_t g;
    for (g = 0; g < count; g++) {
        zt__check(&profiler->diagnostics,
                  zt__deactivate_group(profiler->context, profiler->device, &pass->groups[g]),
                  "zetContextActivateMetricGroups", "The metric groups may stay active.");
    }
}

/* Activates all groups of a pass, or none. On HANDLE_OBJECT_IN_USE, `holder` names who uses the counters. */
ZT__PRIVATE ze_result_t zt__activate_groups(zt_profiler *profiler, const zt__pass *pass,
                                            zt__counter_holder *holder) {
    uint32_t g;
    holder->text[0] = 0;
    for (g = 0; g < pass->group_count; g++) {
        ze_result_t result =
            zt__activate_group(profiler->context, profiler->device, &pass->groups[g], 0, holder);
        if (result != ZE_RESULT_SUCCESS) {
            zt__deactivate_groups(profiler, pass, g);
            return result;
        }
    }
    return ZE_RESULT_SUCCESS;
}

/* Makes a command queue of the first group that can compute, and a command list for it. */
ZT__PRIVATE ze_result_t zt__create_own_queue(zt_profiler *profiler, ze_command_queue_handle_t *queue,
                                             ze_command_list_handle_t *list, const char **call) {
    ze_command_queue_group_properties_t groups[16];
    ze_command_queue_desc_t queue_desc;
    ze_command_list_desc_t list_desc;
    uint32_t i, count = ZT__COUNT_OF(groups);
    ze_result_t result;
    memset(groups, 0, sizeof groups);
    for (i = 0; i < count; i++) {
        groups[i].stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES;
    }
    *call = "zeDeviceGetCommandQueueGroupProperties";
    result = zeDeviceGetCommandQueueGroupProperties(profiler->device, &count, groups);
    for (i = 0; i < count && !(groups[i].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE);) {
        i++;
    }
    memset(&queue_desc, 0, sizeof queue_desc);
    queue_desc.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
    queue_desc.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
    queue_desc.ordinal = i < count ? i : 0;
    memset(&list_desc, 0, sizeof list_desc);
    list_desc.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC;
    list_desc.commandQueueGroupOrdinal = queue_desc.ordinal;
    if (result == ZE_RESULT_SUCCESS) {
        *call = "zeCommandQueueCreate";
        result = zeCommandQueueCreate(profiler->context, profiler->device, &queue_desc, queue);
    }
    if (result == ZE_RESULT_SUCCESS) {
        *call = "zeCommandListCreate";
        result = zeCommandListCreate(profiler->context, profiler->device, &list_desc, list);
    }
    return result;
}

/* Records one query of each group on a command list, and executes it. */
ZT__PRIVATE ze_result_t zt__submit_first_query(const zt__pass *pass, zt__slot *slot,
                                               ze_command_queue_handle_t queue, ze_command_list_handle_t list,
                                               const char **call) {
    ze_result_t result = ZE_RESULT_SUCCESS;
    uint32_t g;
    for (g = 0; g < pass->group_count && result == ZE_RESULT_SUCCESS; g++) {
        *call = "zetCommandListAppendMetricQueryBegin";
        result = zetCommandListAppendMetricQueryBegin(list, slot->queries[g]);
    }
    for (g = pass->group_count; g-- > 0 && result == ZE_RESULT_SUCCESS;) {
        *call = "zetCommandListAppendMetricQueryEnd";
        result = zetCommandListAppendMetricQueryEnd(list, slot->queries[g], g ? NULL : slot->event, 0,
                                                    &slot->event);
    }
    if (result == ZE_RESULT_SUCCESS) {
        *call = "zeCommandListClose";
        result = zeCommandListClose(list);
    }
    if (result == ZE_RESULT_SUCCESS) {
        *call = "zeCommandQueueExecuteCommandLists";
        result = zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL);
    }
    return result;
}

/* Waits until the device is done with the first query. A failed call is repeated a few times, because what
   the device uses must not be destroyed. */
ZT__PRIVATE ze_result_t zt__await_first_query(const zt_profiler *profiler, const zt__slot *slot,
                                              ze_command_queue_handle_t queue, const char **call) {
    enum { MOST_ERRORS = 4 };
    zt__wait wait = zt__wait_until(zt__deadline(profiler->config.wait_timeout_ns));
    uint32_t errors = 0;
    ze_result_t result;
    *call = "zeEventQueryStatus";
    do {
        result = zeEventQueryStatus(slot->event);
        errors += result != ZE_RESULT_SUCCESS && result != ZE_RESULT_NOT_READY;
    } while (result != ZE_RESULT_SUCCESS && errors < MOST_ERRORS && zt__wait_again(&wait));
    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }
    *call = "zeCommandQueueSynchronize"; /* its last command has run, so this is short */
    do {
        result = zeCommandQueueSynchronize(queue, profiler->config.wait_timeout_ns);
    } while (result != ZE_RESULT_SUCCESS && ++errors < MOST_ERRORS);
    return result;
}

/* Runs one query of each group on a command list of its own. Drivers complete an activation in the first
   execution that uses it, and take no lock there. So that execution has to finish before several threads use
   the groups. If it fails, regions are still measured. */
ZT__PRIVATE void zt__run_first_query(zt_profiler *profiler, zt__pass *pass) {
    static const char remedy[] = "The first regions of several threads may disturb each other.";
    ze_command_queue_handle_t queue = NULL;
    ze_command_list_handle_t list = NULL;
    zt__slot *slot;
    const char *call;
    int is_clean = 1;
    ze_result_t result;
    if (pass->group_count == 0) {
        return;
    }
    zt__lock(&profiler->mutex);
    slot = zt__pop_free_slot(pass);
    zt__unlock(&profiler->mutex);
    if (!slot) {
        return;
    }
    result = zt__create_own_queue(profiler, &queue, &list, &call);
    if (result == ZE_RESULT_SUCCESS) {
        result = zt__submit_first_query(pass, slot, queue, list, &call);
    }
    if (result == ZE_RESULT_SUCCESS) {
        result = zt__await_first_query(profiler, slot, queue, &call);
        slot->may_be_written = result != ZE_RESULT_SUCCESS;
        if (result == ZE_RESULT_SUCCESS) {
            result = zt__reset_handles(pass, slot, &call);
        }
        is_clean = result == ZE_RESULT_SUCCESS;
    }
    zt__lock(&profiler->mutex);
    if (is_clean) {
        zt__push_free_slot(profiler, slot);
    } else {
        zt__move_slot(profiler, slot, ZT__SLOT_RETIRED);
    }
    zt__unlock(&profiler->mutex);
    zt__check(&profiler->diagnostics, result, call, remedy);
    if (slot->may_be_written && !zt__is_device_lost(&profiler->diagnostics)) {
        return; /* the device may still use the list and the queue */
    }
    if (list) {
        zeCommandListDestroy(list);
    }
    if (queue) {
        zeCommandQueueDestroy(queue);
    }
}

/* ---- creating and registering ---------------------------------------------------------------------------- */

ZT__PRIVATE void zt__fill_config(zt_config *config) {
    if (!config->slots_per_step) {
        config->slots_per_step = 256;
    }
    if (!config->max_slots) {
        config->max_slots = 16384;
    }
    if (!config->samples) {
        config->samples = 512;
    }
    if (!config->max_passes) {
        config->max_passes = 1;
    }
    if (!zt__is_positive(config->pass_tolerance)) {
        config->pass_tolerance = 0.1;
    }
    if (!config->wait_timeout_ns) {
        config->wait_timeout_ns = 1000000000u;
    }
}

ZT_API zt_config zt_config_default(void) {
    zt_config config;
    memset(&config, 0, sizeof config);
    zt__fill_config(&config);
    return config;
}

/* Returns the application's configuration, which may be NULL, with the environment and the defaults. */
ZT__PRIVATE zt_config zt__complete_config(const zt_config *given) {
    enum { MAX_SAMPLES = 1 << 20 };
    const char *groups = getenv("ZT_GROUPS"), *metrics = getenv("ZT_METRICS"),
               *columns = getenv("ZT_COLUMNS"), *timeline = getenv("ZT_TIMELINE");
    zt_config config;
    memset(&config, 0, sizeof config);
    if (given) {
        config = *given;
    }
    zt__fill_config(&config);
    if (groups || metrics) {
        config.groups = groups;
        config.metrics = metrics;
    }
    if (columns) {
        config.columns = columns;
    }
    if (zt__is_number(timeline)) {
        unsigned long long samples = strtoull(timeline, NULL, 10);
        config.timeline = samples < UINT32_MAX ? (uint32_t)samples : UINT32_MAX;
    }
    if (!config.log) {
        config.log = zt__default_log();
    }
    if (config.samples > MAX_SAMPLES) {
        config.samples = MAX_SAMPLES;
    }
    if (!config.allocator.allocate) {
        config.allocator = zt__default_allocator;
    }
    return config;
}

/* Returns a profiler that measures nothing yet, or NULL without memory. */
ZT__PRIVATE zt_profiler *zt__create_profiler(const zt_config *complete) {
    zt_profiler *profiler = (zt_profiler *)zt__allocate(&complete->allocator, 1, sizeof *profiler);
    uint32_t pass;
    if (!profiler) {
        return NULL;
    }
    profiler->config = *complete;
    pthread_mutex_init(&profiler->collector.mutex, NULL);
    pthread_mutex_init(&profiler->mutex, NULL);
    profiler->diagnostics.mutex = &profiler->mutex;
    profiler->diagnostics.log = complete->log;
    profiler->diagnostics.log_user = complete->log_user;
    profiler->pass_count = 1;
    for (pass = 0; pass < ZT__MAX_PASSES; pass++) {
        profiler->passes[pass].index = pass;
        profiler->passes[pass].time_metric = UINT32_MAX;
    }
    return profiler;
}

ZT__PRIVATE void zt__free_lists(const zt_allocator *allocator, zt__list *lists) {
    while (lists) {
        zt__list *list = lists;
        lists = list->next;
        zt__free(allocator, list);
    }
}

ZT__PRIVATE void zt__free_profiler(zt_profiler *profiler) {
    zt_allocator allocator = profiler->config.allocator;
    uint32_t i;
    for (i = 0; i < profiler->region_count; i++) {
        zt__free_statistics(&allocator, &profiler->regions[i]->statistics);
        zt__free(&allocator, profiler->regions[i]->streamed);
        zt__free(&allocator, profiler->regions[i]);
    }
    zt__free_lists(&allocator, profiler->lists);
    zt__free_lists(&allocator, profiler->unused_lists);
    for (i = 0; i < ZT__MAX_GROUPS_IN_PASS; i++) {
        zt__free(&allocator, profiler->batch.raw[i]);
        zt__free(&allocator, profiler->batch.values[i]);
    }
    zt__free(&allocator, profiler->batch.rows);
    for (i = 0; i < profiler->path_capacity / ZT__PATHS_PER_BLOCK; i++) {
        zt__free(&allocator, profiler->path_blocks[i]);
    }
    zt__map_free(&profiler->names, &allocator);
    zt__map_free(&profiler->path_map, &allocator);
    zt__map_free(&profiler->list_map, &allocator);
    for (i = 0; i < profiler->list_names.capacity; i++) {
        zt__free(&allocator, profiler->list_names.entries[i].value);
    }
    zt__map_free(&profiler->list_names, &allocator);
    zt__free(&allocator, (void *)profiler->regions);
    for (i = 0; i < profiler->selection.group_count; i++) {
        zt__free_group(&allocator, &profiler->selection.groups[i]);
    }
    zt__free(&allocator, profiler->metrics);
    zt__free(&allocator, profiler->lost_flags);
    zt__free(&allocator, profiler->column_aggregations);
    zt__free(&allocator, profiler->columns);
    zt__free(&allocator, profiler->reports);
    zt__free(&allocator, profiler->strings);
    pthread_mutex_destroy(&profiler->collector.mutex);
    pthread_mutex_destroy(&profiler->mutex);
    zt__free(&allocator, profiler);
}

/* Adds a profiler to those of the process, so that zt_end recognises a region whose profiler is closed.
   Returns 0 if there are too many. */
ZT__PRIVATE int zt__register_profiler(zt_profiler *profiler) {
    zt__process *process = zt__get_process();
    uint32_t i;
    if (!process) {
        return 0;
    }
    zt__lock(&process->mutex);
    for (i = 0; i < ZT__MAX_PROFILERS && zt__load(&process->profilers[i]);) {
        i++;
    }
    if (i < ZT__MAX_PROFILERS) {
        profiler->id = ++process->serial * ZT__MAX_PROFILERS + i;
        zt__store(&process->profiler_ids[i], profiler->id);
        zt__store(&process->profilers[i], profiler);
    }
    zt__unlock(&process->mutex);
    return i < ZT__MAX_PROFILERS;
}

/* Returns whether a profiler is open in this process. Profilers of the parent process are not. */
ZT__PRIVATE int zt__is_registered(const zt_profiler *profiler) {
    zt__process *process = zt__get_process();
    uint32_t i;
    for (i = 0; process && i < ZT__MAX_PROFILERS; i++) {
        if (zt__load(&process->profilers[i]) == profiler) {
            return 1;
        }
    }
    return 0;
}

/* Returns the open profiler with this identifier, or NULL. Looks at no other profiler, because another thread
   may be closing it. */
ZT__PRIVATE zt_profiler *zt__find_profiler(uint32_t id) {
    zt__process *process = zt__get_process();
    uint32_t i = id % ZT__MAX_PROFILERS;
    return process && zt__load(&process->profiler_ids[i]) == id ? zt__load(&process->profilers[i]) : NULL;
}

ZT__PRIVATE void zt__unregister_profiler(const zt_profiler *profiler) {
    if (zt__find_profiler(profiler->id) == profiler) {
        zt__store(&zt__get_process()->profilers[profiler->id % ZT__MAX_PROFILERS], (zt_profiler *)NULL);
    }
}

/* ==== >>collecting: read what is ready, calculate it together, count it =================================== */

/* One thread collects at a time. It works in batches of up to 64 slots:

   1. With the mutex held, it moves the slots to READING, so that no other thread uses them.
   2. Without the mutex, it reads and resets them, and calculates their reports in one call.
   3. With the mutex held, it adds the samples to the statistics, and moves each slot to its next state.
   4. Without the mutex, it logs messages and delivers the samples to the application. */

/* A collection: which slots it reads, and how far it is. Its pointers stay valid while the mutex is unlocked,
   because only the thread that holds the collector removes slots from lists, and lists from the profiler. */
typedef struct zt__collection {
    zt__list *list;                       /* the current list, */
    zt__slot *slot;                       /* and the next slot in it */
    int one_list;                         /* reads this list only */
    int thorough;                         /* queries slots that follow one that is not ready */
    int is_blocked[ZT__SLOT_STATE_COUNT]; /* an earlier slot of the list in this state is not ready */
} zt__collection;

/* ---- choosing slots: with the mutex held ----------------------------------------------------------------- */

/* Continues with the first slot of a list, which may be NULL. */
ZT__PRIVATE void zt__enter_list(zt_profiler *profiler, zt__collection *collection, zt__list *list) {
    collection->list = list;
    collection->slot = list ? list->first : NULL;
    memset(collection->is_blocked, 0, sizeof collection->is_blocked);
    ZT__INVARIANT(!list || (list->ran_up_to <= list->ended && list->over_up_to <= list->ended &&
                            list->finished_up_to <= list->ended && list->unexpected_up_to <= list->ended));
    /* Whoever declares a list to be over does so when the device is done with it, or nearly. */
    if (list && profiler->state_counts[ZT__SLOT_PARTIAL] && list->over_up_to == list->ended &&
        !zt__is_on_its_way(list) && !zt__awaits_ends(list)) {
        list->finished_up_to = list->ended;
    }
}

/* Returns whether a slot may be ready to be read, or is PARTIAL and can be reset. */
ZT__PRIVATE int zt__should_read(const zt__collection *collection, const zt__slot *slot) {
    switch (slot->state) {
    case ZT__SLOT_PENDING:
    case ZT__SLOT_RECORDED:
    case ZT__SLOT_ARMED:
        return collection->thorough || zt__is_over(slot) || !collection->is_blocked[slot->state];
    case ZT__SLOT_PARTIAL:
        return (zt__is_finished(slot) && (slot->needs_reset || zt__is_over(slot))) ||
               (zt__shows_end(slot) && (collection->thorough || !collection->is_blocked[slot->state]));
    default:
        return 0;
    }
}

/* Moves up to 64 slots of one pass to READING. Returns 0 if there are none left. */
ZT__PRIVATE int zt__fill_batch(zt_profiler *profiler, zt__collection *collection) {
    zt__batch *batch = &profiler->batch;
    batch->count = 0;
    while (collection->list && batch->count < ZT__BATCH) {
        zt__slot *slot = collection->slot;
        int is_read;
        if (!slot) {
            zt__enter_list(profiler, collection, collection->one_list ? NULL : collection->list->next);
            continue;
        }
        is_read = zt__should_read(collection, slot);
        if (is_read && batch->count > 0 && batch->pass != &profiler->passes[slot->pass]) {
            break; /* this slot begins the next batch */
        }
        collection->slot = slot->next;
        if (is_read) {
            zt__reading *reading = &batch->readings[batch->count++];
            memset(reading, 0, sizeof *reading);
            batch->pass = &profiler->passes[slot->pass];
            reading->slot = slot;
            reading->from = slot->state;
            reading->is_over = zt__is_over(slot);
            reading->is_finished = zt__is_finished(slot);
            reading->is_announced = slot->state == ZT__SLOT_PENDING ||
                                    (slot->state == ZT__SLOT_PARTIAL && zt__is_submitted(slot));
            reading->is_gone = slot->state == ZT__SLOT_PENDING && zt__is_finished(slot) &&
                               collection->list->state != ZT__LIST_IMMEDIATE;
            reading->cause = ZT_CAUSE_COUNT;
            zt__move_slot(profiler, slot, ZT__SLOT_READING);
        } else if (slot->state == ZT__SLOT_RETIRED && zt__is_over(slot)) {
            zt__unbind_slot(slot);
        }
    }
    return batch->count > 0;
}

/* ---- reading: no mutex held ------------------------------------------------------------------------------ */

/* Ensures that `*memory` has room for `count` elements. Its contents are lost. Returns 0 without memory. */
ZT__PRIVATE int zt__ensure_room(const zt_profiler *profiler, void **memory, size_t *held, size_t count,
                                size_t size) {
    if (*held < count) {
        zt__free(&profiler->config.allocator, *memory);
        *memory = zt__allocate(&profiler->config.allocator, count, size);
        *held = *memory ? count : 0;
    }
    return *held >= count;
}

ZT__PRIVATE ze_result_t zt__read_report(zt_profiler *profiler, zt__reading *reading, uint32_t g) {
    zt__batch *batch = &profiler->batch;
    zt__group *group = &batch->pass->groups[g];
    zet_metric_query_handle_t query = reading->slot->queries[g];
    size_t size = 0;
    void *raw = batch->raw[g];
    ze_result_t result;
    reading->call = "zetMetricQueryGetData";
    if (group->report_size == 0) {
        result = zetMetricQueryGetData(query, &size, NULL);
        if (result != ZE_RESULT_SUCCESS || size == 0) {
            return result == ZE_RESULT_SUCCESS ? ZE_RESULT_NOT_READY : result;
        }
        group->report_size = size;
    }
    if (!zt__ensure_room(profiler, &raw, &batch->raw_size[g], ZT__BATCH * group->report_size, 1)) {
        batch->raw[g] = NULL;
        reading->call = "config.allocator";
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    batch->raw[g] = (uint8_t *)raw;
    size = group->report_size;
    result = zetMetricQueryGetData(query, &size, batch->raw[g] + batch->report_count * group->report_size);
    return result == ZE_RESULT_SUCCESS && size != group->report_size ? ZE_RESULT_ERROR_INVALID_SIZE : result;
}

ZT__PRIVATE void zt__lose(zt__reading *reading, zt_cause cause) {
    reading->outcome = ZT__LOST;
    reading->cause = cause;
}

/* Returns whether a slot has been overdue for so long that its sample is lost. */
ZT__PRIVATE int zt__is_overdue(zt__slot *slot) {
    enum { LONGEST_NS = 20000000 };
    uint64_t now = zt__now_ns();
    if (!slot->overdue_since_ns) {
        slot->overdue_since_ns = now;
    }
    return now - slot->overdue_since_ns >= LONGEST_NS;
}

/* The device is lost. An ARMED or a PARTIAL slot owes no sample. */
ZT__PRIVATE void zt__lose_to_device(zt__reading *reading) {
    if (reading->from == ZT__SLOT_PARTIAL) {
        reading->slot->shows_end = 0; /* nothing is awaited any more */
    } else if (reading->from != ZT__SLOT_ARMED) {
        zt__lose(reading, ZT_LOST_DEVICE);
        reading->is_unusable = 1;
    }
}

/* Reads the reports of a slot whose event has signalled. */
ZT__PRIVATE void zt__read_reports(zt_profiler *profiler, zt__reading *reading) {
    zt__batch *batch = &profiler->batch;
    zt__slot *slot = reading->slot;
    ze_result_t result = ZE_RESULT_SUCCESS;
    uint32_t g;
    for (g = 0; g < batch->pass->group_count && result == ZE_RESULT_SUCCESS; g++) {
        result = zt__read_report(profiler, reading, g);
    }
    if (result == ZE_RESULT_SUCCESS) {
        reading->outcome = ZT__READ;
        reading->report = batch->report_count++;
        reading->times.list = slot->list->handle;
        reading->times.not_before_ns = slot->submitted_ns;
        if (slot->stamps) { /* atomic, because the list may run again without zt_execute */
            reading->times.begin_ticks = zt__load(&slot->stamps[0]);
            reading->times.end_ticks = zt__load(&slot->stamps[1]);
        }
    } else if (result == ZE_RESULT_NOT_READY || result == ZE_RESULT_ERROR_UNKNOWN) {
        /* Drivers return UNKNOWN where the specification says NOT_READY. Some data never arrives, and none
           arrives while other groups are active. */
        if (zt__is_overdue(slot)) {
            zt__lose(reading,
                     slot->pass == profiler->active_pass ? ZT_LOST_NEVER_DELIVERED : ZT_LOST_OTHER_PASS);
        }
    } else {
        reading->result = result;
        zt__lose(reading, zt__means_device_loss(result) ? ZT_LOST_DEVICE : ZT_LOST_READ_FAILED);
        reading->is_unusable = zt__means_device_loss(result);
    }
}

/* Queries a slot's event, and reads its reports if it has signalled. */
ZT__PRIVATE void zt__read_slot(zt_profiler *profiler, zt__reading *reading) {
    zt__slot *slot = reading->slot;
    ze_result_t result;
    if (zt__is_device_lost(&profiler->diagnostics)) {
        zt__lose_to_device(reading);
        return;
    }
    result = zeEventQueryStatus(slot->event);
    if (result == ZE_RESULT_SUCCESS) {
        reading->has_signalled = 1;
        if (reading->from == ZT__SLOT_PARTIAL) {
            reading->outcome = ZT__NO_SAMPLE;
        } else if (slot->spans_passes) {
            zt__lose(reading, ZT_LOST_OTHER_PASS);
        } else {
            zt__read_reports(profiler, reading);
        }
    } else if (result == ZE_RESULT_NOT_READY) {
        slot->overdue_since_ns = 0;
        if (reading->is_gone ||
            (reading->is_over && reading->from != ZT__SLOT_PENDING && reading->from != ZT__SLOT_PARTIAL)) {
            reading->outcome = ZT__NEVER_RAN;
        }
    } else {
        reading->result = result;
        reading->call = "zeEventQueryStatus";
        if (zt__means_device_loss(result)) {
            zt__store(&profiler->diagnostics.device_lost, 1);
            zt__lose_to_device(reading);
        } else if (reading->from != ZT__SLOT_PARTIAL && zt__is_overdue(slot)) {
            zt__lose(reading, ZT_LOST_READ_FAILED);
            reading->is_unusable = slot->may_be_written = 1; /* the device may still execute it */
        }
    }
}

/* Reads the slots of the batch, and resets those that are ready. Slots that follow one that is not ready are
   not queried, unless the collection is thorough or they are over. */
ZT__PRIVATE void zt__read_batch(zt_profiler *profiler, zt__collection *collection) {
    zt__batch *batch = &profiler->batch;
    const zt__list *list = NULL;
    int is_blocked[ZT__SLOT_STATE_COUNT];
    uint64_t seen_ns;
    uint32_t i;
    batch->report_count = 0;
    memset(is_blocked, 0, sizeof is_blocked);
    for (i = 0; i < batch->count; i++) {
        zt__reading *reading = &batch->readings[i];
        zt__slot *slot = reading->slot;
        if (slot->list != list) {
            list = slot->list;
            memset(is_blocked, 0, sizeof is_blocked);
        }
        reading->outcome = ZT__NOT_READY;
        if (reading->from == ZT__SLOT_PARTIAL && reading->is_finished) {
            reading->outcome = ZT__NO_SAMPLE;
        } else if (collection->thorough || reading->is_over || !is_blocked[reading->from]) {
            zt__read_slot(profiler, reading);
            is_blocked[reading->from] |= reading->outcome == ZT__NOT_READY && !slot->overdue_since_ns;
        }
        if (reading->outcome != ZT__NOT_READY && reading->outcome != ZT__NEVER_RAN && !reading->is_unusable &&
            !zt__is_device_lost(&profiler->diagnostics)) {
            const char *call;
            ze_result_t result = zt__reset_handles(batch->pass, slot, &call);
            slot->overdue_since_ns = 0;
            slot->spans_passes = 0;
            slot->needs_reset = result != ZE_RESULT_SUCCESS;
            if (slot->needs_reset) {
                reading->result = result;
                reading->call = call;
                reading->is_unusable = 1;
                slot->shows_end = 0; /* the event may have signalled before the next execution */
            }
        }
    }
    seen_ns = zt__now_ns();
    for (i = 0; i < batch->count; i++) {
        batch->readings[i].times.not_after_ns = seen_ns;
    }
    if (list == collection->list) { /* it continues in the next batch */
        memcpy(collection->is_blocked, is_blocked, sizeof is_blocked);
    }
}

/* ---- calculating: no mutex held -------------------------------------------------------------------------- */

/* Calculates the reports of one group in one call. If that fails, calculates them one by one, so that a bad
   report loses only its own sample. */
ZT__PRIVATE void zt__calculate_group(zt_profiler *profiler, uint32_t g) {
    zt__batch *batch = &profiler->batch;
    zt__group *group = &batch->pass->groups[g];
    size_t report_values = (size_t)group->metric_count * group->tiles;
    void *values = batch->values[g];
    ze_result_t result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    int has_room = zt__ensure_room(profiler, &values, &batch->value_count[g], ZT__BATCH * report_values,
                                   sizeof *batch->values[g]);
    uint32_t i;
    batch->values[g] = has_room ? (zet_typed_value_t *)values : NULL;
    if (has_room) {
        result = zt__calculate_reports(&profiler->driver, group, batch->raw[g], batch->report_count,
                                       batch->values[g]);
    }
    for (i = 0; i < batch->count && result != ZE_RESULT_SUCCESS; i++) {
        zt__reading *reading = &batch->readings[i];
        ze_result_t alone = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
        if (reading->outcome != ZT__READ) {
            continue;
        }
        if (has_room) {
            alone = zt__calculate_reports(&profiler->driver, group,
                                          batch->raw[g] + reading->report * group->report_size, 1,
                                          batch->values[g] + reading->report * report_values);
        }
        if (alone != ZE_RESULT_SUCCESS) {
            reading->result = alone;
            reading->call = !has_room           ? "config.allocator"
                            : group->tiles == 1 ? "zetMetricGroupCalculateMetricValues"
                                                : "zetMetricGroupCalculateMultipleMetricValuesExp";
            zt__lose(reading, ZT_LOST_READ_FAILED);
        }
    }
}

/* Combines the values of the tiles in a row into that of the whole root device. Times, clock cycles and flags
   are the largest of the tiles, because tiles run at the same time. Other sums are added. Means are weighted
   by the GPU time of the tiles. A metric that is not aggregated is that of the first tile. */
ZT__PRIVATE double zt__sum_tiles(const zt_profiler *profiler, const zt__pass *pass, uint32_t metric,
                                 const double *row) {
    static const char *const clocks[] = {"ns", "us", "ms", "s", "cycles"};
    const zt_metric *of = &profiler->metrics[metric];
    int takes_largest = of->aggregation == ZT_AGGREGATE_FLAG;
    double whole = zt__nan(), weights = 0;
    uint32_t tile, i;
    for (i = 0; i < ZT__COUNT_OF(clocks); i++) {
        takes_largest |= strcmp(of->units, clocks[i]) == 0;
    }
    for (tile = 0; tile < profiler->tile_count; tile++) {
        double value = row[zt__tile_column(profiler, tile, metric)], weight = 1;
        if (of->aggregation == ZT_AGGREGATE_MEAN && pass->time_metric != UINT32_MAX) {
            weight = row[zt__tile_column(profiler, tile, pass->time_metric)];
        }
        if (zt__is_nan(value) || !zt__is_positive(weight)) {
            continue;
        }
        weights += weight;
        if (zt__is_nan(whole)) {
            whole = value;
        } else if (of->aggregation == ZT_AGGREGATE_MEAN) {
            whole += (value - whole) * weight / weights;
        } else if (takes_largest) {
            whole = value > whole ? value : whole;
        } else if (of->aggregation == ZT_AGGREGATE_SUM) {
            whole += value;
        }
    }
    return whole;
}

/* Fills the row of a sample, and checks whether its flags or its GPU time show that it is invalid. */
ZT__PRIVATE void zt__fill_row(const zt_profiler *profiler, zt__reading *reading, double *row) {
    const zt__batch *batch = &profiler->batch;
    const zt__pass *pass = batch->pass;
    uint64_t ticks = (reading->times.end_ticks - reading->times.begin_ticks) & profiler->tick_mask;
    double longest_ns;
    uint32_t g, m, tile, i;
    for (i = 0; i < profiler->layout.column_count; i++) {
        row[i] = zt__nan();
    }
    for (g = 0; g < pass->group_count; g++) {
        const zt__group *group = &pass->groups[g];
        const zet_typed_value_t *values =
            batch->values[g] + (size_t)reading->report * group->metric_count * group->tiles;
        for (tile = 0; tile < group->tiles; tile++) {
            double *to = row + (profiler->tile_count ? zt__tile_column(profiler, tile, group->first_metric)
                                                     : 1 + group->first_metric);
            for (m = 0; m < group->metric_count; m++) {
                to[m] = zt__value_of(values++);
            }
        }
    }
    for (m = 0; m < profiler->metric_count && profiler->tile_count; m++) {
        row[1 + m] = zt__sum_tiles(profiler, pass, m, row);
    }
    row[0] =
        pass->time_metric == UINT32_MAX ? (double)ticks * profiler->ns_per_tick : row[1 + pass->time_metric];
    row[zt__pass_time_column(profiler, pass->index)] = row[0];
    for (i = 0; i < profiler->lost_flag_count; i++) {
        if (zt__is_positive(row[profiler->lost_flags[i].column])) {
            zt__lose(reading, profiler->lost_flags[i].cause);
        }
    }
    /* A nested region can make the GPU time wrong, without a flag. The limit has a
       margin, because the device's clock may run a little faster than the host's. */
    longest_ns = (double)(reading->times.not_after_ns - reading->times.not_before_ns) * 1.0625 + 1e6;
    if (reading->outcome == ZT__READ && row[0] > longest_ns) {
        zt__lose(reading, ZT_LOST_IMPLAUSIBLE);
    }
}

/* Calculates the reports of the batch, and fills a row for each. */
ZT__PRIVATE void zt__calculate_batch(zt_profiler *profiler) {
    zt__batch *batch = &profiler->batch;
    uint32_t g, i;
    if (batch->report_count == 0) {
        return;
    }
    for (g = 0; g < batch->pass->group_count; g++) {
        zt__calculate_group(profiler, g);
    }
    for (i = 0; i < batch->count; i++) {
        zt__reading *reading = &batch->readings[i];
        if (reading->outcome == ZT__READ) {
            zt__fill_row(profiler, reading, batch->rows + (size_t)i * profiler->layout.column_count);
        }
        if (reading->outcome == ZT__READ &&
            !zt__reserve_samples(&profiler->config.allocator, &profiler->mutex, &profiler->layout,
                                 &reading->slot->region->statistics, batch->count)) {
            zt__lose(reading, ZT_DROPPED_NO_MEMORY);
        }
    }
}

/* ---- counting -------------------------------------------------------------------------------------------- */

/* Updates what is known about a list when the event of a slot has signalled. With the mutex held. */
ZT__PRIVATE void zt__note_run(zt_profiler *profiler, zt__reading *reading) {
    zt__list *list = reading->slot->list;
    uint64_t number = reading->slot->number;
    /* If the kind of the list is unknown, its second execution shows that it is recorded. */
    if ((reading->from == ZT__SLOT_ARMED || list->state != ZT__LIST_UNKNOWN) && !reading->is_announced &&
        list->state != ZT__LIST_IMMEDIATE) {
        reading->is_unobserved = 1;
        zt__move_list(profiler, list, ZT__LIST_UNOBSERVED);
    }
    if (number > list->ran_up_to) {
        list->ran_up_to = number;
    }
    if (list->state == ZT__LIST_IMMEDIATE && number > list->over_up_to) {
        list->over_up_to = number;
    }
    /* An execution that was not announced may still be followed by others. */
    if (reading->is_announced && list->state != ZT__LIST_UNOBSERVED && list->state != ZT__LIST_UNKNOWN &&
        !list->overlaps && number > list->finished_up_to) {
        list->finished_up_to = number;
    }
}

/* Counts the sample of a reading. With the mutex held. */
ZT__PRIVATE void zt__count_reading(zt_profiler *profiler, zt__reading *reading, const double *row) {
    zt__slot *slot = reading->slot;
    zt__path *path = slot->path;
    reading->region = slot->region;
    if (reading->has_signalled && reading->outcome != ZT__NOT_READY) {
        zt__note_run(profiler, reading);
    }
    if (reading->outcome != ZT__READ && reading->outcome != ZT__LOST) {
        return;
    }
    if (reading->from == ZT__SLOT_ARMED) { /* this execution was not announced */
        zt__count_begun(profiler, path, 1);
        path->missing++; /* there may have been others, so the samples of nested regions need not match */
    }
    if (reading->outcome == ZT__READ) {
        profiler->counts.collected++;
        zt__add_sample(&profiler->layout, &slot->region->statistics, slot->pass, row);
        if (!zt__is_nan(row[0])) {
            path->count++;
            path->time_ns += row[0];
            path->missing--;
        }
        if (profiler->sample_collected) {
            profiler->sample_collected(profiler, reading, row);
        }
    } else if (reading->cause >= ZT_DROPPED_NO_SLOT) {
        zt__count_dropped(profiler, slot->region, slot->list, slot->submitted_ns, reading->cause);
    } else {
        zt__count_lost(profiler, slot, reading->cause, 1);
    }
}

/* With the mutex held. */
ZT__PRIVATE void zt__move_on(zt_profiler *profiler, const zt__reading *reading) {
    zt__slot *slot = reading->slot;
    /* `reading->is_over` is older than the query of the event. A slot that became over since then may have
       run again in between, so it is read once more. */
    int is_over = reading->is_over || slot->list->state == ZT__LIST_IMMEDIATE;
    if (reading->is_unusable && !is_over && !slot->may_be_written) {
        zt__move_slot(profiler, slot, ZT__SLOT_PARTIAL); /* the reset is repeated before it runs again */
    } else if (reading->is_unusable) {
        zt__move_slot(profiler, slot, ZT__SLOT_RETIRED);
    } else if (reading->outcome == ZT__NOT_READY) {
        zt__move_slot(profiler, slot, reading->from);
    } else if (slot->is_dropped && !is_over) {
        zt__move_slot(profiler, slot, ZT__SLOT_PARTIAL);
    } else if (reading->outcome == ZT__NEVER_RAN) {
        /* If it was announced, that is taken back. */
        zt__move_slot(profiler, slot, reading->from == ZT__SLOT_PENDING ? ZT__SLOT_RECORDED : reading->from);
        zt__unbind_slot(slot);
        zt__free_slot(profiler, slot);
    } else if (is_over) {
        zt__unbind_slot(slot);
        zt__free_slot(profiler, slot);
    } else {
        zt__move_slot(profiler, slot, ZT__SLOT_ARMED);
    }
}

/* Reports the errors of the batch, and delivers its samples. The log and sample functions run here, so no
   slot is READING any more. No mutex is held. */
ZT__PRIVATE void zt__deliver_batch(zt_profiler *profiler) {
    static const char remedy[] = "Lost samples are counted. Update the driver if this persists.";
    zt__batch *batch = &profiler->batch;
    uint32_t i;
    for (i = 0; i < batch->count; i++) {
        const zt__reading *reading = &batch->readings[i];
        zt__check(&profiler->diagnostics, reading->result, reading->call, remedy);
        if (reading->outcome == ZT__LOST) {
            zt__report(&profiler->diagnostics, SAMPLE_LOST, ZE_RESULT_WARNING_DROPPED_DATA,
                       reading->region->name, zt_cause_name(reading->cause));
        }
        if (reading->is_unobserved) {
            zt__report(&profiler->diagnostics, UNOBSERVED_LIST, ZE_RESULT_WARNING_DROPPED_DATA,
                       reading->region->name);
        }
        if (reading->outcome == ZT__READ && profiler->config.sample) {
            const double *row = batch->rows + (size_t)i * profiler->layout.column_count;
            zt_sample sample;
            sample.name = reading->region->name;
            sample.region = reading->region->index;
            sample.metric_count = profiler->metric_count;
            sample.gpu_time_ns = row[0];
            sample.values = row + 1;
            sample.pass = batch->pass->index;
            profiler->config.sample(&sample, profiler->config.sample_user);
        }
    }
}

/* ---- a collection: with the collector held --------------------------------------------------------------- */

/* Removes the records of lists without slots if there are many. Otherwise memory would grow in programs that
   create a list for each use. */
ZT__PRIVATE void zt__remove_unused_lists(zt_profiler *profiler) {
    enum { FEW = 64 };
    zt__list **place;
    zt__lock(&profiler->mutex);
    if (profiler->list_count > profiler->lists_after_cleaning * 2 + FEW) {
        for (place = &profiler->lists; *place;) {
            zt__list *list = *place;
            if (list->first || list->open_count || list->name) {
                place = &list->next;
                continue;
            }
            *place = list->next;
            zt__map_remove(&profiler->list_map, (const void *)&list->handle, sizeof list->handle);
            profiler->list_count--;
            list->next = profiler->unused_lists;
            profiler->unused_lists = list;
        }
        profiler->lists_after_cleaning = profiler->list_count;
    }
    zt__unlock(&profiler->mutex);
}

/* Collects from one list, or from all if `handle` is NULL. */
ZT__PRIVATE void zt__run_collection(zt_profiler *profiler, ze_command_list_handle_t handle, int thorough) {
    zt__batch *batch = &profiler->batch;
    zt__collection collection;
    int has_ended = 0, is_repeated = 0;
    uint32_t i;
    memset(&collection, 0, sizeof collection);
    collection.one_list = handle != NULL;
    collection.thorough = thorough;
    if (profiler->before_batch) {
        profiler->before_batch(profiler);
    }
    zt__lock(&profiler->mutex);
    zt__enter_list(profiler, &collection, handle ? zt__find_list(profiler, handle) : profiler->lists);
    while (!has_ended) {
        if (zt__fill_batch(profiler, &collection)) {
            zt__unlock(&profiler->mutex);
            ZT__INTERNAL(zt__read_batch(profiler, &collection));
            zt__calculate_batch(profiler);
            zt__lock(&profiler->mutex);
            for (i = 0; i < batch->count; i++) {
                zt__count_reading(profiler, &batch->readings[i],
                                  batch->rows + (size_t)i * profiler->layout.column_count);
            }
            for (i = 0; i < batch->count; i++) {
                zt__move_on(profiler, &batch->readings[i]);
            }
            profiler->is_delivering = 1;
            zt__unlock(&profiler->mutex);
            zt__deliver_batch(profiler);
            if (profiler->batch_collected) {
                profiler->batch_collected(profiler);
            }
            zt__lock(&profiler->mutex);
            profiler->is_delivering = 0;
        } else if (handle && !is_repeated && profiler->state_counts[ZT__SLOT_PARTIAL]) {
            /* What was read may show that PARTIAL slots are finished. */
            zt__enter_list(profiler, &collection, zt__find_list(profiler, handle));
            is_repeated = 1;
        } else {
            has_ended = 1;
        }
    }
    zt__unlock(&profiler->mutex);
}

/* Collects from all lists. Every 64th collection is thorough: after a reset without zt_reset, slots that
   never run would otherwise hide later ones. */
ZT__PRIVATE void zt__collect_all(zt_profiler *profiler, int thorough) {
    enum { THOROUGH_EVERY = 64 };
    zt__lock(&profiler->mutex);
    profiler->uncollected = 0;
    zt__unlock(&profiler->mutex);
    zt__run_collection(profiler, NULL, thorough || profiler->collections % THOROUGH_EVERY == 0);
    zt__remove_unused_lists(profiler);
    zt__store(&profiler->collections, profiler->collections + 1);
}

ZT__PRIVATE int zt__has_thread(const zt_profiler *profiler) {
    return profiler->config.thread && !zt__load(&profiler->thread.ended);
}

/* Locks the collector and returns 1 if no thread holds it. With config.thread, only the library's thread
   collects: wakes it and returns 0. */
ZT__PRIVATE int zt__begin_collecting(zt_profiler *profiler, int thorough) {
    if (!zt__has_thread(profiler)) {
        return zt__try_lock(&profiler->collector);
    }
    zt__lock(&profiler->mutex);
    profiler->thread_is_idle = 0;
    profiler->thread_is_thorough |= thorough;
    zt__unlock(&profiler->mutex);
    zt__wake_thread(&profiler->thread);
    return 0;
}

ZT__PRIVATE void zt__try_collect(zt_profiler *profiler, int thorough) {
    if (zt__begin_collecting(profiler, thorough)) {
        zt__collect_all(profiler, thorough);
        zt__unlock_timed(&profiler->collector);
    }
}

/* Waits until a thorough collection that begins after this call has finished, or the deadline has passed.
   This thread makes it, or with config.thread the library's. Returns 0 if there was none: the deadline came
   first, or this is inside a function of the application. */
ZT__PRIVATE int zt__collect_anew(zt_profiler *profiler, uint64_t deadline) {
    zt__wait wait = zt__wait_until(deadline);
    uint32_t before = zt__load(&profiler->collections);
    if (zt__is_owner(&profiler->collector)) {
        return 0;
    }
    if (!zt__has_thread(profiler)) {
        if (!zt__lock_until(&profiler->collector, deadline)) {
            return 0;
        }
        zt__collect_all(profiler, 1);
        zt__unlock_timed(&profiler->collector);
        return 1;
    }
    zt__try_collect(profiler, 1);
    /* A collection that is already running may have passed slots that are ready now, so wait for the next. */
    while (zt__load(&profiler->collections) - before < 2 && zt__wait_again(&wait)) {
        zt__try_collect(profiler, 1);
    }
    return zt__load(&profiler->collections) - before >= 2;
}

/* ---- waiting --------------------------------------------------------------------------------------------- */

/* Returns whether samples are on their way or being delivered. With the mutex held. */
ZT__PRIVATE int zt__awaits_samples(const zt_profiler *profiler) {
    const zt__list *list;
    const zt__slot *slot;
    if (profiler->state_counts[ZT__SLOT_PENDING] || profiler->state_counts[ZT__SLOT_READING] ||
        profiler->is_delivering) {
        return 1;
    }
    /* RECORDED slots may be on their way where an execution need not be announced by zt_execute. */
    for (list = profiler->state_counts[ZT__SLOT_RECORDED] ? profiler->lists : NULL; list; list = list->next) {
        int may_run = list->state == ZT__LIST_UNKNOWN || list->state == ZT__LIST_UNOBSERVED ||
                      (list->state == ZT__LIST_RECORDED && !profiler->observes_execution);
        for (slot = may_run ? list->first : NULL; slot; slot = slot->next) {
            if (slot->state == ZT__SLOT_RECORDED) {
                return 1;
            }
        }
    }
    return 0;
}

/* Returns the slot of a region that is not ended, or NULL. With the mutex held. */
ZT__PRIVATE const zt__slot *zt__find_open_slot(const zt_profiler *profiler) {
    const zt__list *list = profiler->state_counts[ZT__SLOT_OPEN] ? profiler->lists : NULL;
    while (list && !list->innermost) {
        list = list->next;
    }
    return list ? list->innermost : NULL;
}

/* Collects until nothing is on its way. Returns 0 if the deadline passes first. */
ZT__PRIVATE int zt__collect_until(zt_profiler *profiler, uint64_t deadline) {
    zt__wait wait = zt__wait_until(deadline);
    /* This also reads what ran without zt_execute, of which nothing is awaited. */
    int awaits, is_current = zt__collect_anew(profiler, deadline);
    do {
        zt__try_collect(profiler, 1);
        zt__lock(&profiler->mutex);
        awaits = zt__awaits_samples(profiler);
        zt__unlock(&profiler->mutex);
    } while (awaits && zt__wait_again(&wait));
    return is_current && !awaits;
}

/* Returns whether this thread holds the collector, that is, `call` was called from the sample or log
   function. Reports that. */
ZT__PRIVATE int zt__is_inside_callback(zt_profiler *profiler, const char *call) {
    int is_inside = zt__is_owner(&profiler->collector);
    if (is_inside) {
        zt__report(&profiler->diagnostics, INSIDE_CALLBACK, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, call);
    }
    return is_inside;
}

ZT_API ze_result_t zt_collect(zt_profiler *profiler, uint64_t timeout_ns) {
    const char *not_ended = NULL;
    const zt__slot *open;
    int is_complete = 1;
    if (!profiler || !profiler->device) {
        return ZE_RESULT_SUCCESS;
    }
    if (zt__is_inside_callback(profiler, "zt_collect")) {
        return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
    }
    if (timeout_ns) {
        is_complete = zt__collect_until(profiler, zt__deadline(timeout_ns));
    } else {
        zt__try_collect(profiler, 0);
    }
    if (zt__is_device_lost(&profiler->diagnostics)) {
        return ZE_RESULT_ERROR_DEVICE_LOST;
    }
    if (timeout_ns && is_complete) {
        zt__lock(&profiler->mutex);
        open = zt__find_open_slot(profiler);
        not_ended = open ? open->region->name : NULL;
        zt__unlock(&profiler->mutex);
    }
    if (not_ended) {
        return zt__report(&profiler->diagnostics, REGION_OPEN, ZE_RESULT_NOT_READY, not_ended);
    }
    return is_complete ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}

/* ---- the collecting thread ------------------------------------------------------------------------------- */

/* Sleeps until there is something to collect, and collects. */
ZT__PRIVATE int zt__run_collecting_thread(void *user) {
    zt_profiler *profiler = (zt_profiler *)user;
    uint64_t sleep_ns = UINT64_C(1000000000);
    int thorough;
    zt__lock(&profiler->mutex);
    /* Waking a thread is expensive. So while regions come, it polls every millisecond instead. */
    profiler->thread_is_idle = profiler->state_counts[ZT__SLOT_PENDING] == 0 &&
                               profiler->counts.begun == profiler->begun_at_last_look;
    profiler->begun_at_last_look = profiler->counts.begun;
    if (!profiler->thread_is_idle) {
        sleep_ns = 1000000;
    } else if (profiler->state_counts[ZT__SLOT_RECORDED] || profiler->state_counts[ZT__SLOT_ARMED]) {
        sleep_ns = 50000000; /* these may run without zt_execute, which wakes the thread */
    }
    zt__unlock(&profiler->mutex);
    zt__sleep_thread(&profiler->thread, sleep_ns);
    zt__lock(&profiler->mutex);
    thorough = profiler->thread_is_thorough;
    profiler->thread_is_thorough = 0;
    zt__unlock(&profiler->mutex);
    if (zt__try_lock(&profiler->collector)) {
        zt__collect_all(profiler, thorough);
        zt__unlock_timed(&profiler->collector);
    }
    return 1;
}

/* Returns whether the caller has to wake the thread, because it sleeps for long. Only one caller gets 1. With
   the mutex held. */
ZT__PRIVATE int zt__must_wake_thread(zt_profiler *profiler) {
    int is_needed = profiler->config.thread && profiler->thread_is_idle;
    if (is_needed) {
        profiler->thread_is_idle = 0;
    }
    return is_needed;
}

/* ==== >>regions: begin, end, reset, release, execute ====================================================== */

#define ZT__APPEND_REMEDY                                                                                    \
    "The region is not measured. The list must be open for commands, and of the profiler's context."

/* ---- beginning ------------------------------------------------------------------------------------------- */

/* Queries whether a list is immediate. Loaders before 1.16 cannot tell. Each zt_begin queries it, because a
   handle can come back as a list of another kind. */
ZT__PRIVATE zt__list_state zt__query_list_kind(const zt_profiler *profiler, ze_command_list_handle_t handle) {
    ze_bool_t is_immediate = 0;
    ze_result_t result = ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    if (profiler->driver.zeCommandListIsImmediate) {
        ZT__INTERNAL(result = profiler->driver.zeCommandListIsImmediate(handle, &is_immediate));
    }
    if (result != ZE_RESULT_SUCCESS) {
        return ZT__LIST_UNKNOWN;
    }
    return is_immediate ? ZT__LIST_IMMEDIATE : ZT__LIST_RECORDED;
}

/* Updates what is known about a list when a region is begun on it. Returns whether slots have become over.
   With the mutex held. */
ZT__PRIVATE int zt__note_begin(zt_profiler *profiler, zt__list *list, zt__list_state kind) {
    uint64_t over_before = list->over_up_to, finished;
    if (list->state == ZT__LIST_UNKNOWN) {
        zt__move_list(profiler, list, kind);
    } else if (kind != ZT__LIST_UNKNOWN &&
               (kind == ZT__LIST_IMMEDIATE) != (list->state == ZT__LIST_IMMEDIATE)) {
        list->over_up_to = list->finished_up_to = list->ended; /* the list with this handle was destroyed */
        zt__move_list(profiler, list, kind);
    }
    /* A recorded list that has run accepts commands only after a reset. An immediate list never runs commands
       twice. Slots that ended after the newest one that has run may belong to the recording that goes on. */
    if (list->ran_up_to > list->over_up_to) {
        list->over_up_to = list->ran_up_to;
    }
    /* A recorded list is not reset before the device is done with it. An immediate list may be in use. */
    finished = kind == ZT__LIST_RECORDED ? list->over_up_to : list->ran_up_to;
    if (finished > list->finished_up_to) {
        list->finished_up_to = finished;
    }
    list->overlaps = 0;
    return list->over_up_to > over_before;
}

/* Returns a free slot, which it opens for a region on this path, or NULL. With the mutex held. */
ZT__PRIVATE zt__slot *zt__acquire_slot(zt_profiler *profiler, zt__list *list, zt__path *path) {
    zt__slot *slot = zt__pop_free_slot(&profiler->passes[profiler->active_pass]);
    if (!slot) {
        return NULL;
    }
    slot->path = path;
    slot->outer = list->innermost;
    list->innermost = slot;
    zt__move_slot(profiler, slot, ZT__SLOT_OPEN);
    slot->generation++;
    slot->activation = profiler->activation;
    slot->list = list;
    slot->region = path->key.region;
    slot->is_dropped = slot->needs_reset = slot->shows_end = 0;
    slot->submitted_ns = zt__now_ns();
    list->open_count++;
    return slot;
}

/* Removes a slot from the open ones of its list. If regions inside it are still open, they overlap with it,
   and the time outside of them is known neither for it nor for the region around it. With the mutex held. */
ZT__PRIVATE void zt__leave_nesting(zt_profiler *profiler, zt__slot *slot) {
    zt__slot **place = &slot->list->innermost;
    if (*place != slot) {
        (slot->outer ? slot->outer->path : &profiler->root)->is_own_unknown = 1;
        slot->path->is_own_unknown = 1;
    }
    for (; *place != slot; place = &(*place)->outer) {
        (*place)->path->outlives_outer = 1;
    }
    *place = slot->outer;
}

/* Collects when zt_begin finds no free slot. If this shows that slots of the list have run, they are over,
   and collecting once more frees them. Returns whether there are free slots. No mutex is held. */
ZT__PRIVATE int zt__free_slots_for(zt_profiler *profiler, zt__list *list, zt__list_state kind, int waits) {
    uint64_t deadline = zt__deadline(profiler->config.wait_timeout_ns);
    int has_free, more_are_over;
    do {
        if (waits) {
            zt__collect_anew(profiler, deadline);
        } else {
            zt__try_collect(profiler, 0);
        }
        zt__lock(&profiler->mutex);
        has_free = profiler->passes[profiler->active_pass].free_slots != NULL;
        more_are_over = zt__note_begin(profiler, list, kind);
        zt__unlock(&profiler->mutex);
    } while (!has_free && more_are_over);
    return has_free;
}

/* Provides free slots: collects, then makes more slots, and at config.max_slots waits for another collection.
   Returns ZT_CAUSE_COUNT, or the cause if there are still none. No mutex is held. */
ZT__PRIVATE zt_cause zt__provide_slots(zt_profiler *profiler, zt__list *list, zt__list_state kind) {
    static const char remedy[] = "No slots can be added now. Regions that find none are dropped.";
    enum { PAUSE_AFTER_FAILURE_NS = 100000000 };
    uint64_t now = zt__now_ns();
    zt__pass *pass;
    const char *call;
    int may_grow;
    ze_result_t result;
    if (zt__free_slots_for(profiler, list, kind, 0)) {
        return ZT_CAUSE_COUNT;
    }
    zt__lock(&profiler->mutex);
    may_grow = now >= profiler->no_growth_until_ns;
    pass = &profiler->passes[profiler->active_pass];
    zt__unlock(&profiler->mutex);
    if (!may_grow) {
        return ZT_DROPPED_NO_MEMORY;
    }
    result = zt__make_slots(profiler, pass, &call);
    if (result == ZE_RESULT_SUCCESS) {
        return ZT_CAUSE_COUNT;
    }
    if (call) {
        zt__lock(&profiler->mutex);
        profiler->no_growth_until_ns = now + PAUSE_AFTER_FAILURE_NS;
        zt__unlock(&profiler->mutex);
        zt__check(&profiler->diagnostics, result, call, remedy);
        return ZT_DROPPED_NO_MEMORY;
    }
    /* There are config.max_slots. */
    return zt__free_slots_for(profiler, list, kind, 1) ? ZT_CAUSE_COUNT : ZT_DROPPED_NO_SLOT;
}

/* Opens a slot for a region. If there is none, returns NULL, and counts the region as dropped by `*cause`. */
ZT__PRIVATE zt__slot *zt__open_slot(zt_profiler *profiler, ze_command_list_handle_t handle, const char *name,
                                    zt_cause *cause) {
    enum { TRIES = 4 };
    zt__list_state kind = zt__query_list_kind(profiler, handle);
    zt__region_record *region;
    zt__path *path;
    zt__list *list;
    zt__slot *slot = NULL;
    uint32_t tries;
    *cause = ZT_DROPPED_NO_MEMORY;
    zt__lock(&profiler->mutex);
    region = zt__find_or_add_region(profiler, name, cause);
    list = zt__find_list(profiler, handle);
    if (region && !list) {
        list = zt__add_list(profiler, handle);
    }
    if (region && list) {
        list->open_count++; /* keeps the record of the list while the mutex is unlocked */
        zt__note_begin(profiler, list, kind);
        path =
            zt__find_or_add_path(profiler, list->innermost ? list->innermost->path : &profiler->root, region);
        slot = path ? zt__acquire_slot(profiler, list, path) : NULL;
        for (tries = 0; path && !slot && tries < TRIES; tries++) {
            zt__unlock(&profiler->mutex);
            *cause = zt__provide_slots(profiler, list, kind);
            zt__lock(&profiler->mutex);
            if (*cause != ZT_CAUSE_COUNT) {
                break;
            }
            *cause = ZT_DROPPED_NO_SLOT; /* if other threads have taken the new slots */
            slot = zt__acquire_slot(profiler, list, path);
        }
        list->open_count--;
    }
    if (!slot) {
        profiler->counts.begun++;
        list = zt__find_list(profiler, handle);
        zt__count_dropped(profiler, region, list, zt__now_ns(), *cause);
        if (list && list->innermost) {
            list->innermost->path->is_own_unknown = 1;
        }
    }
    zt__unlock(&profiler->mutex);
    return slot;
}

/* Counts a region that zt_begin drops before it looks up the name. */
ZT__PRIVATE void zt__drop_at_begin(zt_profiler *profiler, zt_cause cause) {
    zt__lock(&profiler->mutex);
    profiler->counts.begun++;
    zt__count_dropped(profiler, NULL, NULL, zt__now_ns(), cause);
    zt__unlock(&profiler->mutex);
}

/* Drops an open region. If it has commands on the list, the slot stays bound to the list. With the mutex
   held. */
ZT__PRIVATE void zt__drop_open_slot(zt_profiler *profiler, zt__slot *slot, zt_cause cause, int has_commands) {
    zt__count_dropped(profiler, slot->region, slot->list, slot->submitted_ns, cause);
    zt__leave_nesting(profiler, slot);
    slot->generation++;
    slot->is_dropped = slot->needs_reset = 1;
    if (has_commands) {
        zt__move_slot(profiler, slot, ZT__SLOT_PARTIAL);
        zt__bind_slot(slot);
    } else {
        slot->list->open_count--;
        zt__free_slot(profiler, slot);
    }
}

/* Appends a time stamp of the device. If it has to wait for the work before it, appends a barrier first. On
   failure, `*call` is the call that failed. */
ZT__PRIVATE ze_result_t zt__append_stamp(ze_command_list_handle_t list, uint64_t *stamp, int after_work,
                                         ze_event_handle_t signal, int *has_commands, const char **call) {
    ze_result_t result = ZE_RESULT_SUCCESS;
    *call = "zeCommandListAppendBarrier";
    if (after_work) {
        ZT__INTERNAL(result = zeCommandListAppendBarrier(list, NULL, 0, NULL));
    }
    if (result == ZE_RESULT_SUCCESS) {
        *has_commands |= after_work;
        *call = "zeCommandListAppendWriteGlobalTimestamp";
        ZT__INTERNAL(result = zeCommandListAppendWriteGlobalTimestamp(list, stamp, signal, 0, NULL));
        *has_commands |= result == ZE_RESULT_SUCCESS;
    }
    return result;
}

/* Completes what was appended for a region. Where the driver has refused a command, the event of the slot
   shows when the device is done with those before it. The log function may destroy the list, so this comes
   before the message. */
ZT__PRIVATE ze_result_t zt__complete_append(zt_profiler *profiler, zt__slot *slot,
                                            ze_command_list_handle_t list, ze_result_t result,
                                            const char *call, int has_commands) {
    ze_result_t marked = ZE_RESULT_NOT_READY;
    if (result != ZE_RESULT_SUCCESS && has_commands && !zt__means_device_loss(result)) {
        ZT__INTERNAL(marked = zeCommandListAppendBarrier(list, slot->event, 0, NULL));
    }
    slot->shows_end = marked == ZE_RESULT_SUCCESS;
    return zt__check(&profiler->diagnostics, result, call, ZT__APPEND_REMEDY);
}

ZT__PRIVATE ze_result_t zt__append_begin(zt_profiler *profiler, zt__slot *slot, ze_command_list_handle_t list,
                                         int *has_commands) {
    const zt__pass *pass = &profiler->passes[slot->pass];
    const char *call = NULL;
    ze_result_t result = ZE_RESULT_SUCCESS;
    uint32_t g;
    for (g = 0; g < pass->group_count && result == ZE_RESULT_SUCCESS; g++) {
        call = "zetCommandListAppendMetricQueryBegin";
        result = zetCommandListAppendMetricQueryBegin(list, slot->queries[g]);
        *has_commands |= result == ZE_RESULT_SUCCESS;
    }
    if (profiler->is_stamped && result == ZE_RESULT_SUCCESS) {
        result = zt__append_stamp(list, &slot->stamps[0], pass->group_count == 0, NULL, has_commands, &call);
    }
    if (profiler->timeline) {
        memset(&slot->origin, 0, sizeof slot->origin);
        slot->origin.list_name = slot->list->name;
        slot->origin.appended_by = slot->origin.submitted_by = zt__get_system_thread();
    }
    return zt__complete_append(profiler, slot, list, result, call, *has_commands);
}

ZT_API zt_region zt_begin(zt_profiler *profiler, ze_command_list_handle_t list, const char *name) {
    zt_region region = {NULL, 0, 0, 0};
    uint64_t states[ZT__SLOT_STATE_COUNT];
    zt__slot *slot;
    zt_cause cause;
    int has_commands = 0;
    name = zt__shown_name(name);
    if (!profiler || !profiler->device) {
        return region;
    }
    if (!list) {
        zt__drop_at_begin(profiler, ZT_DROPPED_APPEND_FAILED);
        zt__report_null_handle(&profiler->diagnostics, "zt_begin", "list");
        return region;
    }
    if (zt__is_device_lost(&profiler->diagnostics)) {
        zt__drop_at_begin(profiler, ZT_DROPPED_DEVICE_LOST);
        return region;
    }
    slot = zt__open_slot(profiler, list, name, &cause);
    if (!slot && cause == ZT_DROPPED_NO_SLOT) {
        zt__count_states(profiler, states);
        zt__report(&profiler->diagnostics, NO_SLOT, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY,
                   (unsigned)profiler->config.max_slots,
                   (unsigned)(states[ZT__SLOT_RECORDED] + states[ZT__SLOT_ARMED]), name);
    } else if (!slot && cause == ZT_DROPPED_TOO_MANY_NAMES) {
        zt__report(&profiler->diagnostics, TOO_MANY_NAMES, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY,
                   (unsigned)ZT__MAX_REGIONS);
    } else if (!slot) {
        zt__report_no_memory(&profiler->diagnostics, "zt_begin", "a region");
    }
    if (!slot) {
        return region;
    }
    region.generation = slot->generation;
    if (zt__append_begin(profiler, slot, list, &has_commands) != ZE_RESULT_SUCCESS) {
        zt__lock(&profiler->mutex);
        /* The log function may have released the list, which has dropped the region. */
        if (slot->state == ZT__SLOT_OPEN && slot->generation == region.generation) {
            zt__drop_open_slot(profiler, slot, ZT_DROPPED_APPEND_FAILED, has_commands);
        }
        zt__unlock(&profiler->mutex);
        return region;
    }
    region.slot = slot;
    region.profiler = profiler->id;
    return region;
}

/* ---- ending ---------------------------------------------------------------------------------------------- */

/* Appends the end of a region. Its last command signals the event: then the others are complete, too. */
ZT__PRIVATE ze_result_t zt__append_end(zt_profiler *profiler, zt__slot *slot) {
    const zt__pass *pass = &profiler->passes[slot->pass];
    ze_command_list_handle_t list = slot->list->handle;
    const char *call = NULL;
    ze_result_t result = ZE_RESULT_SUCCESS;
    int has_commands = 1;
    uint32_t g;
    if (profiler->is_stamped) {
        result = zt__append_stamp(list, &slot->stamps[1], 1, pass->group_count ? NULL : slot->event,
                                  &has_commands, &call);
        if (profiler->timeline) {
            uint64_t append_ns = zt__now_ns() - slot->submitted_ns;
            slot->origin.append_ns = append_ns < UINT32_MAX ? (uint32_t)append_ns : UINT32_MAX;
        }
    }
    for (g = pass->group_count; g-- > 0 && result == ZE_RESULT_SUCCESS;) {
        call = "zetCommandListAppendMetricQueryEnd";
        /* It waits for no event, but the validation layer rejects a NULL pointer. */
        result = zetCommandListAppendMetricQueryEnd(list, slot->queries[g], g ? NULL : slot->event, 0,
                                                    &slot->event);
    }
    return zt__complete_append(profiler, slot, list, result, call, has_commands);
}

/* Ends a region. With `refused`, there is no sample: the driver has refused the command in the region. */
ZT__PRIVATE void zt__end(zt_region *region, int refused) {
    zt__slot *slot = (zt__slot *)region->slot;
    zt_profiler *profiler = slot ? zt__find_profiler(region->profiler) : NULL;
    int is_open, is_due = 0, wakes_thread = 0;
    ze_result_t result;
    region->slot = NULL;
    if (!profiler) {
        return;
    }
    zt__lock(&profiler->mutex);
    is_open = slot->state == ZT__SLOT_OPEN && slot->generation == region->generation;
    slot->generation += (uint32_t)is_open; /* copies of the region are stale from here on */
    zt__unlock(&profiler->mutex);
    if (!is_open) {
        return;
    }
    result = zt__append_end(profiler, slot);
    zt__lock(&profiler->mutex);
    if (slot->state != ZT__SLOT_OPEN || slot->generation != region->generation + 1) {
        /* The list was released meanwhile, which has dropped the region. */
    } else if (result != ZE_RESULT_SUCCESS || refused) {
        slot->shows_end |= result == ZE_RESULT_SUCCESS;
        zt__drop_open_slot(profiler, slot, ZT_DROPPED_APPEND_FAILED, 1);
    } else {
        zt__list_state kind = slot->list->state;
        slot->spans_passes = slot->activation != profiler->activation;
        zt__leave_nesting(profiler, slot);
        zt__move_slot(profiler, slot, kind == ZT__LIST_IMMEDIATE ? ZT__SLOT_PENDING : ZT__SLOT_RECORDED);
        zt__bind_slot(slot);
        if (kind == ZT__LIST_IMMEDIATE || kind == ZT__LIST_UNKNOWN) {
            profiler->uncollected++;
            is_due = !profiler->config.thread && profiler->uncollected >= ZT__BATCH;
            wakes_thread = zt__must_wake_thread(profiler);
        }
    }
    zt__unlock(&profiler->mutex);
    if (is_due) {
        zt__try_collect(profiler, 0);
    }
    if (wakes_thread) {
        zt__wake_thread(&profiler->thread);
    }
}

ZT_API void zt_end(zt_region *region) {
    if (region) {
        zt__end(region, 0);
    }
}

/* ---- reset and release ----------------------------------------------------------------------------------- */

/* Updates what is known about a list when it is reset or destroyed. Slots that have ended are over, and the
   next collection frees them. Open regions are dropped. */
ZT__PRIVATE void zt__mark_list_over(zt_profiler *profiler, ze_command_list_handle_t handle, int is_destroyed,
                                    const char *call) {
    const char *not_ended = NULL;
    zt__slot *open;
    zt__list *list;
    zt__lock(&profiler->mutex);
    list = zt__find_list(profiler, handle);
    if (list) {
        while ((open = list->innermost) != NULL) {
            not_ended = open->region->name;
            zt__drop_open_slot(profiler, open, ZT_DROPPED_NOT_CLOSED, 1);
        }
        list->over_up_to = list->ended;
        list->name = is_destroyed ? NULL : list->name;
        /* The handle of a destroyed list may come back as a list of any kind. */
        if (is_destroyed && !profiler->driver.zeCommandListIsImmediate) {
            zt__move_list(profiler, list, ZT__LIST_UNKNOWN);
        } else if (list->state == ZT__LIST_OBSERVED || (list->state == ZT__LIST_UNOBSERVED && is_destroyed)) {
            zt__move_list(profiler, list, ZT__LIST_RECORDED);
        }
    }
    zt__unlock(&profiler->mutex);
    if (not_ended) {
        zt__report(&profiler->diagnostics, REGION_NOT_ENDED, ZE_RESULT_ERROR_INVALID_ARGUMENT, call,
                   not_ended);
    }
}

/* Marks a list as over, and collects from it. Returns NOT_READY if samples of it are still on their way. */
ZT__PRIVATE ze_result_t zt__end_list(zt_profiler *profiler, ze_command_list_handle_t list, int is_destroyed,
                                     const char *call) {
    const zt__list *left;
    int is_pending;
    zt__mark_list_over(profiler, list, is_destroyed, call);
    if (zt__begin_collecting(profiler, 1)) {
        zt__run_collection(profiler, list, 1);
        zt__remove_unused_lists(profiler);
        zt__unlock_timed(&profiler->collector);
    }
    zt__lock(&profiler->mutex);
    left = zt__find_list(profiler, list);
    is_pending = left && zt__is_on_its_way(left);
    zt__unlock(&profiler->mutex);
    return is_pending ? ZE_RESULT_NOT_READY : ZE_RESULT_SUCCESS;
}

ZT_API ze_result_t zt_release(zt_profiler *profiler, ze_command_list_handle_t list) {
    if (!profiler || !profiler->device) {
        return ZE_RESULT_SUCCESS;
    }
    if (!list) {
        return zt__report_null_handle(&profiler->diagnostics, "zt_release", "list");
    }
    return zt__end_list(profiler, list, 1, "zt_release");
}

ZT_API ze_result_t zt_reset(zt_profiler *profiler, ze_command_list_handle_t list) {
    ze_result_t result;
    if (!list) { /* some loaders look behind it */
        return zt__report_null_handle(zt__diagnostics_of(profiler), "zt_reset", "list");
    }
    result = zeCommandListReset(list);
    if (result == ZE_RESULT_SUCCESS && profiler && profiler->device) {
        zt__end_list(profiler, list, 0, "zt_reset");
    }
    return result;
}

/* ---- execution ------------------------------------------------------------------------------------------- */

/* Returns whether a list has regions that are on their way, or that an execution without zt_execute has left.
   Such an execution has signalled the event of the last slot, since that ends after all others. If the list
   was reset and recorded anew since then, the last slot is new, and the first one may be of the old
   recording: so its event is queried, too, unless it is known to have run. No mutex is held. */
ZT__PRIVATE int zt__has_unread_regions(zt_profiler *profiler, ze_command_list_handle_t handle) {
    const zt__list *list;
    const zt__slot *slot, *first = NULL, *last = NULL;
    ze_event_handle_t events[2] = {NULL, NULL};
    int has_unread;
    uint32_t i;
    zt__lock(&profiler->mutex);
    list = zt__find_list(profiler, handle);
    has_unread = list && (zt__is_on_its_way(list) || zt__awaits_ends(list));
    for (slot = list ? list->first : NULL; slot && !has_unread; slot = slot->next) {
        if ((slot->state == ZT__SLOT_RECORDED || slot->state == ZT__SLOT_ARMED || zt__shows_end(slot)) &&
            !zt__is_over(slot)) {
            first = first ? first : slot;
            last = slot;
        }
    }
    if (first) {
        events[0] = last->event;
        events[1] = first != last && first->state != ZT__SLOT_ARMED ? first->event : NULL;
    }
    zt__unlock(&profiler->mutex);
    for (i = 0; i < 2 && events[i] && !has_unread; i++) {
        ze_result_t result;
        ZT__INTERNAL(result = zeEventQueryStatus(events[i]));
        has_unread = result != ZE_RESULT_NOT_READY; /* a failed call is repeated */
    }
    return has_unread;
}

/* Returns whether a list has a slot that the next collection resets. */
ZT__PRIVATE int zt__has_unreset_slot(zt_profiler *profiler, ze_command_list_handle_t handle) {
    const zt__list *list;
    const zt__slot *slot = NULL;
    zt__lock(&profiler->mutex);
    if (profiler->state_counts[ZT__SLOT_PARTIAL]) {
        list = zt__find_list(profiler, handle);
        slot = list ? list->first : NULL;
    }
    while (slot && !(slot->state == ZT__SLOT_PARTIAL && slot->needs_reset && zt__is_finished(slot))) {
        slot = slot->next;
    }
    zt__unlock(&profiler->mutex);
    return slot != NULL;
}

/* Waits for the samples of earlier executions of a list and reads them, until the deadline. */
ZT__PRIVATE void zt__finish_list(zt_profiler *profiler, ze_command_list_handle_t handle, uint64_t deadline) {
    int has_unread = zt__has_unread_regions(profiler, handle);
    zt__wait wait = zt__wait_until(deadline);
    while (has_unread) {
        if (zt__begin_collecting(profiler, 1)) {
            zt__run_collection(profiler, handle, 1);
            zt__unlock_timed(&profiler->collector);
        }
        has_unread = zt__has_unread_regions(profiler, handle);
        if (has_unread && !zt__wait_again(&wait)) {
            break;
        }
    }
    if (!has_unread && zt__has_unreset_slot(profiler, handle)) {
        zt__collect_anew(profiler, deadline);
    }
}

/* Locks the mutex at a moment when no other thread reads these lists. No sample or log function runs while
   slots are READING, so the wait is short. */
ZT__PRIVATE void zt__lock_unread_lists(zt_profiler *profiler, uint32_t count,
                                       const ze_command_list_handle_t *lists) {
    enum { LONGEST_NS = 1000000000 };
    zt__wait wait = zt__wait_until(zt__deadline(LONGEST_NS));
    int is_read, goes_on = 1;
    uint32_t i;
    zt__lock(&profiler->mutex);
    do {
        is_read = 0;
        for (i = 0; i < count && profiler->state_counts[ZT__SLOT_READING] && !is_read; i++) {
            const zt__list *list = zt__find_list(profiler, lists[i]);
            const zt__slot *slot;
            for (slot = list ? list->first : NULL; slot && !is_read; slot = slot->next) {
                is_read = slot->state == ZT__SLOT_READING;
            }
        }
        if (is_read) {
            zt__unlock(&profiler->mutex);
            goes_on = zt__wait_again(&wait);
            zt__lock(&profiler->mutex);
        }
    } while (is_read && goes_on);
}

/* Returns why an execution loses a sample of a slot that is neither RECORDED nor ARMED before. */
ZT__PRIVATE zt_cause zt__loss_by_execution(zt__slot_state state) {
    return state == ZT__SLOT_RETIRED || state == ZT__SLOT_PARTIAL ? ZT_LOST_READ_FAILED : ZT_LOST_OVERWRITTEN;
}

/* Moves the slots of a list that is about to be executed to PENDING. With the mutex held. */
ZT__PRIVATE void zt__announce_list(zt_profiler *profiler, zt__list *list, uint64_t now) {
    uint32_t thread = profiler->timeline ? zt__get_system_thread() : 0;
    zt__slot *slot = list->first;
    list->overwritten = 0;
    list->ran_before = list->ran_up_to;
    list->finished_before = list->finished_up_to;
    list->overlapped_before = list->overlaps;
    if (list->state == ZT__LIST_UNKNOWN || list->state == ZT__LIST_UNOBSERVED) {
        /* It may have run without zt_execute. Slots that have run while later ones have not belong to an
           immediate list that had this handle, to a recording before a reset, or to an execution that is
           still running. They are not expected to run. */
        while (slot && slot->state != ZT__SLOT_RECORDED) {
            slot = slot->next;
        }
        if (slot) {
            uint64_t number = list->ran_up_to < slot->number ? list->ran_up_to : slot->number - 1;
            if (number > list->unexpected_up_to) {
                list->unexpected_up_to = number;
            }
        }
    }
    list->overlaps |= zt__awaits_ends(list);
    for (slot = list->first; slot; slot = slot->next) {
        slot->submitted_from = ZT__SLOT_FREE;
        slot->needs_reset = 1;
        if (zt__is_over(slot) || slot->number <= list->unexpected_up_to || slot->is_dropped) {
            continue;
        }
        slot->submitted_from = slot->state;
        if (slot->state == ZT__SLOT_RECORDED || slot->state == ZT__SLOT_ARMED) {
            slot->submitted_ns = now;
            slot->origin.submitted_by = thread;
            slot->origin.is_executed = 1;
            zt__move_slot(profiler, slot, ZT__SLOT_PENDING);
        } else {
            zt_cause cause = zt__loss_by_execution(slot->state);
            zt__count_begun(profiler, slot->path, 1);
            zt__count_lost(profiler, slot, cause, 1);
            list->overwritten += cause == ZT_LOST_OVERWRITTEN;
            list->overlaps |= cause == ZT_LOST_OVERWRITTEN;
        }
    }
    list->finished_up_to = 0;
    list->ran_up_to = list->ended;
    if (list->state != ZT__LIST_UNOBSERVED) {
        zt__move_list(profiler, list, ZT__LIST_OBSERVED);
    }
}

/* Prepares for an execution by zt_execute, or one that a tracer sees: reads the samples of the last execution
   before this one overwrites them, and moves the slots to PENDING. */
ZT__PRIVATE void zt__before_execution(zt_profiler *profiler, uint32_t count,
                                      const ze_command_list_handle_t *lists) {
    uint64_t now, deadline = zt__deadline(profiler->config.wait_timeout_ns);
    uint32_t i;
    zt__list *list;
    /* Inside a function that the collector calls, nothing can be read before it is overwritten. */
    if (zt__is_inside_callback(profiler, "zt_execute")) {
        zt__lock(&profiler->mutex);
        for (i = 0; i < count; i++) {
            list = zt__find_list(profiler, lists[i]);
            if (list && list->state != ZT__LIST_IMMEDIATE) {
                zt__move_list(profiler, list, ZT__LIST_UNOBSERVED);
            }
        }
        zt__unlock(&profiler->mutex);
        return;
    }
    for (i = 0; i < count; i++) {
        zt__finish_list(profiler, lists[i], deadline);
    }
    zt__lock_unread_lists(profiler, count, lists);
    now = zt__now_ns();
    profiler->observes_execution = 1;
    for (i = 0; i < count; i++) {
        list = zt__find_list(profiler, lists[i]);
        if (list && list->state != ZT__LIST_IMMEDIATE) {
            zt__announce_list(profiler, list, now);
        }
    }
    if (profiler->lists_executed) {
        profiler->lists_executed(profiler, now);
    }
    zt__unlock(&profiler->mutex);
}

/* Reverts zt__announce_list after the driver has refused the execution. With the mutex held. */
ZT__PRIVATE void zt__retract_list(zt_profiler *profiler, zt__list *list) {
    zt__slot *slot;
    for (slot = list->first; slot; slot = slot->next) {
        zt__slot_state from = slot->submitted_from;
        slot->submitted_from = ZT__SLOT_FREE;
        if (from == ZT__SLOT_RECORDED || from == ZT__SLOT_ARMED) {
            if (slot->state == ZT__SLOT_PENDING) {
                zt__move_slot(profiler, slot, from);
            }
        } else if (from != ZT__SLOT_FREE) { /* a loss was counted */
            zt__count_begun(profiler, slot->path, -1);
            zt__count_lost(profiler, slot, zt__loss_by_execution(from), -1);
        }
    }
    list->ran_up_to = list->ran_before;
    list->finished_up_to = list->finished_before;
    list->overlaps = list->overlapped_before;
}

/* Completes zt__before_execution when it is known whether the driver has refused the execution. */
ZT__PRIVATE void zt__after_execution(zt_profiler *profiler, uint32_t count,
                                     const ze_command_list_handle_t *lists, int is_refused) {
    uint32_t i, overwritten = 0;
    if (zt__is_owner(&profiler->collector)) {
        return; /* zt__before_execution has moved no slot */
    }
    if (is_refused) {
        zt__lock_unread_lists(profiler, count, lists);
    } else {
        zt__lock(&profiler->mutex);
    }
    if (profiler->lists_executed) {
        profiler->lists_executed(profiler, 0);
    }
    for (i = 0; i < count; i++) {
        zt__list *list = zt__find_list(profiler, lists[i]);
        if (!list || list->state == ZT__LIST_IMMEDIATE) {
            continue;
        }
        if (is_refused) {
            zt__retract_list(profiler, list);
        } else {
            overwritten += list->overwritten;
        }
        list->overwritten = 0;
    }
    zt__unlock(&profiler->mutex);
    if (overwritten) {
        zt__report(&profiler->diagnostics, OVERWRITTEN, ZE_RESULT_WARNING_DROPPED_DATA);
    }
}

/* Returns how many lists there are before the first one that is named a second time. */
ZT__PRIVATE uint32_t zt__count_distinct(const ze_command_list_handle_t *lists, uint32_t count) {
    uint32_t end, i;
    for (end = 1; end < count; end++) {
        for (i = 0; i < end; i++) {
            if (lists[i] == lists[end]) {
                return end;
            }
        }
    }
    return count;
}

/* The profiler for which this thread is inside zt_execute: the tracer ignores that execution. */
static ZT__THREAD_LOCAL const zt_profiler *zt__executing_for;

/* Executes lists of which none is named twice, and announces that to the collector. */
ZT__PRIVATE ze_result_t zt__execute_measured(zt_profiler *profiler, ze_command_queue_handle_t queue,
                                             uint32_t count, ze_command_list_handle_t *lists,
                                             ze_fence_handle_t fence) {
    const zt_profiler *outer = zt__executing_for; /* a hook may execute lists inside of an execution */
    int wakes_thread;
    ze_result_t result;
    zt__before_execution(profiler, count, lists);
    zt__executing_for = profiler;
    result = zeCommandQueueExecuteCommandLists(queue, count, lists, fence);
    zt__executing_for = outer;
    zt__after_execution(profiler, count, lists, result != ZE_RESULT_SUCCESS);
    if (result != ZE_RESULT_SUCCESS) {
        return zt__check(&profiler->diagnostics, result, "zeCommandQueueExecuteCommandLists",
                         "The lists were not executed.");
    }
    if (profiler->config.thread) {
        zt__lock(&profiler->mutex);
        wakes_thread = zt__must_wake_thread(profiler);
        zt__unlock(&profiler->mutex);
        if (wakes_thread) {
            zt__wake_thread(&profiler->thread);
        }
    }
    return result;
}

ZT_API ze_result_t zt_execute(zt_profiler *profiler, ze_command_queue_handle_t queue, uint32_t count,
                              ze_command_list_handle_t *lists, ze_fence_handle_t fence) {
    const zt_profiler *outer = zt__executing_for;
    uint32_t first = 0, part;
    ze_result_t result;
    /* Some loaders look behind these before any driver can refuse them. */
    if (profiler && !queue) {
        return zt__report_null_handle(&profiler->diagnostics, "zt_execute", "queue");
    }
    if (profiler && !lists) {
        return zt__report_null(&profiler->diagnostics, "zt_execute", "lists");
    }
    if (!profiler || !profiler->device || zt__is_device_lost(&profiler->diagnostics)) {
        zt__executing_for = NULL;
        result = zeCommandQueueExecuteCommandLists(queue, count, lists, fence);
        zt__executing_for = outer;
        return result;
    }
    /* In parts, so that each execution of a list that is named twice is measured. */
    do {
        part = zt__count_distinct(lists + first, count - first);
        result =
            zt__execute_measured(profiler, queue, part, lists + first, first + part == count ? fence : NULL);
        first += part;
    } while (result == ZE_RESULT_SUCCESS && first < count);
    return result;
}

/* ---- names of lists -------------------------------------------------------------------------------------- */

/* Returns the profiler's copy of a name, or NULL without memory, or if there are too many. The mutex is held,
   and unlocked while memory is allocated. */
ZT__PRIVATE const char *zt__find_or_add_list_name(zt_profiler *profiler, const char *name) {
    enum { MOST_NAMES = 65536 };
    size_t length = strlen(name);
    char *made, *found = (char *)zt__map_find(&profiler->list_names, name, length);
    if (found) {
        return found;
    }
    made = (char *)zt__allocate_unlocked(profiler, length + 1, 1);
    if (made && zt__map_make_room(&profiler->list_names, &profiler->config.allocator, &profiler->mutex)) {
        found = (char *)zt__map_find(&profiler->list_names, name, length); /* added meanwhile */
        if (!found && profiler->list_names.count < MOST_NAMES) {
            found = (char *)memcpy(made, name, length);
            made = NULL;
            zt__map_add(&profiler->list_names, found, length, found);
        }
    }
    zt__free_unlocked(profiler, made);
    return found;
}

ZT_API ze_result_t zt_name_list(zt_profiler *profiler, ze_command_list_handle_t handle, const char *name) {
    const char *copy = NULL;
    zt__list *list;
    int is_named = name && *name;
    if (!profiler || !profiler->device) {
        return ZE_RESULT_SUCCESS;
    }
    if (!handle) {
        return zt__report_null_handle(&profiler->diagnostics, "zt_name_list", "list");
    }
    zt__lock(&profiler->mutex);
    if (is_named) {
        copy = zt__find_or_add_list_name(profiler, name);
    }
    list = zt__find_list(profiler, handle);
    if (copy && !list) {
        list = zt__add_list(profiler, handle);
    }
    if (list) {
        list->name = copy ? copy : is_named ? list->name : NULL;
    }
    zt__unlock(&profiler->mutex);
    if (is_named && (!copy || !list)) {
        return zt__report_no_memory(&profiler->diagnostics, "zt_name_list", "the name of a list");
    }
    return ZE_RESULT_SUCCESS;
}

/* ==== >>passes: repeat the work with one set of metric groups after the other ============================= */

/* Collects the samples of the active pass, and activates the groups of another. If that fails, returns to the
   groups of the active pass. */
ZT__PRIVATE ze_result_t zt__enter_pass(zt_profiler *profiler, uint32_t index) {
    zt__pass *before = &profiler->passes[profiler->active_pass], *pass = &profiler->passes[index];
    uint64_t deadline = zt__deadline(profiler->config.wait_timeout_ns);
    uint64_t states[ZT__SLOT_STATE_COUNT];
    zt__counter_holder holder;
    const char *call = NULL;
    ze_result_t result;
    if (pass == before) {
        return ZE_RESULT_SUCCESS;
    }
    if (!zt__collect_until(profiler, deadline)) {
        zt__count_states(profiler, states);
        zt__report(&profiler->diagnostics, NOT_FINISHED, ZE_RESULT_NOT_READY, "ZT_PASSES",
                   (unsigned long long)states[ZT__SLOT_PENDING]);
    }
    if (!zt__lock_until(&profiler->collector, deadline)) {
        return zt__report(&profiler->diagnostics, COLLECTOR_BUSY, ZE_RESULT_NOT_READY, "ZT_PASSES");
    }
    zt__lock(&profiler->mutex);
    profiler->activation++; /* regions that are open now are measured in neither pass */
    zt__unlock(&profiler->mutex);
    zt__deactivate_groups(profiler, before, before->group_count);
    result = zt__activate_groups(profiler, pass, &holder);
    if (result == ZE_RESULT_SUCCESS && pass->slot_count == 0) {
        result = zt__make_slots(profiler, pass, &call);
        if (result != ZE_RESULT_SUCCESS) {
            zt__deactivate_groups(profiler, pass, pass->group_count);
        }
    }
    if (result == ZE_RESULT_SUCCESS) {
        ZT__INTERNAL(zt__run_first_query(profiler, pass));
        zt__lock(&profiler->mutex);
        profiler->active_pass = index;
        zt__unlock(&profiler->mutex);
    } else {
        zt__report(&profiler->diagnostics, PASS_FAILED, result, (unsigned)index, zt_result_name(result),
                   holder.text[0] ? holder.text : "none known");
        zt__check(&profiler->diagnostics, zt__activate_groups(profiler, before, &holder),
                  "zetContextActivateMetricGroups", "Samples are lost until the next ZT_PASSES.");
    }
    zt__unlock_timed(&profiler->collector);
    return result;
}

ZT_API uint32_t zt_get_pass_count(const zt_profiler *profiler) {
    return profiler ? profiler->pass_count : 1;
}

ZT_API zt_passes zt_passes_begin(zt_profiler *profiler) {
    zt_passes passes = {NULL, 0, 0};
    if (zt_get_pass_count(profiler) > 1 && profiler->device &&
        !zt__is_inside_callback(profiler, "ZT_PASSES")) {
        passes.profiler = profiler;
    }
    return passes;
}

/* A pass that cannot be entered is skipped, but the statement runs at least once. */
ZT_API int zt_passes_next(zt_passes *passes) {
    while (passes->profiler && passes->next < passes->profiler->pass_count) {
        if (zt__enter_pass(passes->profiler, passes->next++) == ZE_RESULT_SUCCESS) {
            passes->runs++;
            return 1;
        }
    }
    if (passes->runs++ == 0) {
        return 1;
    }
    zt_passes_end(passes);
    return 0;
}

ZT_API void zt_passes_end(zt_passes *passes) {
    if (passes->profiler) {
        zt__enter_pass(passes->profiler, 0);
        passes->profiler = NULL;
    }
}

/* ==== >>results: what was measured, as numbers ============================================================ */

/* ---- counts and descriptions ----------------------------------------------------------------------------- */

ZT_API zt_counts zt_get_counts(const zt_profiler *profiler) {
    zt_profiler *locked = zt__mutable(profiler);
    zt_counts counts;
    memset(&counts, 0, sizeof counts);
    if (profiler) {
        zt__lock(&locked->mutex);
        counts = profiler->counts;
        zt__unlock(&locked->mutex);
        counts.in_flight = counts.begun - counts.collected - counts.lost - counts.dropped;
    }
    return counts;
}

ZT_API uint64_t zt_get_cause(const zt_profiler *profiler, zt_cause cause) {
    zt_profiler *locked = zt__mutable(profiler);
    uint64_t count;
    if (!profiler || (unsigned)cause >= ZT_CAUSE_COUNT) {
        return 0;
    }
    zt__lock(&locked->mutex);
    count = profiler->causes[cause];
    zt__unlock(&locked->mutex);
    return count;
}

ZT_API uint32_t zt_get_region_count(const zt_profiler *profiler) {
    zt_profiler *locked = zt__mutable(profiler);
    uint32_t count;
    if (!profiler) {
        return 0;
    }
    zt__lock(&locked->mutex);
    count = profiler->region_count;
    zt__unlock(&locked->mutex);
    return count;
}

ZT_API uint32_t zt_get_metric_count(const zt_profiler *profiler) {
    return profiler ? profiler->metric_count : 0;
}

ZT_API const zt_metric *zt_get_metric(const zt_profiler *profiler, uint32_t metric) {
    return profiler && metric < profiler->metric_count ? &profiler->metrics[metric] : NULL;
}

ZT_API uint32_t zt_get_tile_count(const zt_profiler *profiler) {
    return profiler ? profiler->tile_count : 0;
}

ZT__PRIVATE const char *zt__metric_name_at(const void *metrics, uint32_t index) {
    return ((const zt_metric *)metrics)[index].name;
}

/* Returns the index of a metric. If there is none, returns UINT32_MAX and reports the nearest names, which
   are also stored in `nearest` unless that is NULL. */
ZT__PRIVATE uint32_t zt__find_metric(zt__diagnostics *diagnostics, const char *call, const zt_metric *metrics,
                                     uint32_t count, const char *name, zt__nearest *nearest) {
    zt__nearest found;
    uint32_t i;
    for (i = 0; i < count; i++) {
        if (strcmp(metrics[i].name, name) == 0) {
            return i;
        }
    }
    found = zt__find_nearest(name, metrics, count, zt__metric_name_at);
    zt__report(diagnostics, NO_SUCH_METRIC, ZE_RESULT_ERROR_INVALID_ARGUMENT, call, name, found.text);
    if (nearest) {
        *nearest = found;
    }
    return UINT32_MAX;
}

ZT_API uint32_t zt_find_metric(const zt_profiler *profiler, const char *name) {
    if (!profiler || !name) {
        return UINT32_MAX;
    }
    return zt__find_metric(&zt__mutable(profiler)->diagnostics, "zt_find_metric", profiler->metrics,
                           profiler->metric_count, name, NULL);
}

/* Reports an index that is too high. `what` completes the name of the function that has the count: zt_get_...
   _count. Without a profiler returns SUCCESS, as public functions do. */
ZT__PRIVATE ze_result_t zt__report_index(const zt_profiler *profiler, const char *call, const char *what,
                                         uint32_t index) {
    if (!profiler) {
        return ZE_RESULT_SUCCESS;
    }
    return zt__report(&zt__mutable(profiler)->diagnostics, BAD_INDEX, ZE_RESULT_ERROR_INVALID_ARGUMENT, call,
                      (unsigned)index, what);
}

/* ---- statistics ------------------------------------------------------------------------------------------ */

/* Finds a region by its index, for a public function `call` that stores what it returns in `out`, its
   parameter of the name `what`. If there is no profiler, no `out` or no such region, returns NULL, and stores
   what the public function returns in `result`. A record does not move as long as the profiler lives. */
ZT__PRIVATE const zt__region_record *zt__get_record(const zt_profiler *profiler, const char *call,
                                                    uint32_t region, const char *what, const void *out,
                                                    ze_result_t *result) {
    zt_profiler *locked = zt__mutable(profiler);
    const zt__region_record *record = NULL;
    *result = ZE_RESULT_SUCCESS;
    if (!profiler) {
        return NULL;
    }
    if (!out) {
        *result = zt__report_null(&locked->diagnostics, call, what);
        return NULL;
    }
    zt__lock(&locked->mutex);
    if (region < profiler->region_count) {
        record = profiler->regions[region];
    }
    zt__unlock(&locked->mutex);
    if (!record) {
        *result = zt__report_index(profiler, call, "region", region);
    }
    return record;
}

/* Returns how many samples were collected in all passes. The mutex is held, unless this is a copy. */
ZT__PRIVATE uint64_t zt__collected(const zt_profiler *profiler, const zt__statistics *statistics) {
    uint64_t collected = 0;
    uint32_t pass;
    for (pass = 0; pass < profiler->pass_count; pass++) {
        collected += statistics->seen[pass];
    }
    return collected;
}

/* Returns room for the kept values of so many columns of a region, with the mutex locked, so that they fit
   until it is unlocked. Each call allocates it, because several threads may call at once. Returns NULL if no
   values are kept, or without memory: then there are no quantiles. */
ZT__PRIVATE double *zt__lock_with_room(zt_profiler *profiler, const zt__region_record *record,
                                       uint32_t columns) {
    const zt_allocator *allocator = &profiler->config.allocator;
    double *values = NULL;
    uint32_t room = 0;
    zt__lock(&profiler->mutex);
    while (record->statistics.kept > room) {
        room = record->statistics.capacity;
        zt__unlock(&profiler->mutex);
        zt__free(allocator, values);
        values = (double *)zt__allocate(allocator, room, columns * sizeof *values);
        zt__lock(&profiler->mutex);
        if (!values) {
            break;
        }
    }
    return values;
}

/* Adds median and 95th percentile to the statistics of a column. Reorders the values. */
ZT__PRIVATE void zt__add_quantiles(const zt__sample_layout *layout, uint32_t column, double *values,
                                   uint32_t count, zt_stats *stats) {
    zt_aggregation aggregation = layout->aggregations[column];
    if (count > 0 && (aggregation == ZT_AGGREGATE_SUM || aggregation == ZT_AGGREGATE_MEAN)) {
        stats->median = zt__quantile(values, count, 0.5);
        stats->p95 = zt__quantile(values, count, 0.95);
    }
}

/* Returns how the passes differ, as ZT_DIFFERS_ bits, judged by the GPU time of each. */
ZT__PRIVATE uint32_t zt__find_differences(const zt_profiler *profiler, const zt_stats *pass_times) {
    uint64_t fewest = UINT64_MAX, most = 0;
    double shortest = 0, longest = 0;
    uint32_t pass, measured = 0, differs = 0;
    for (pass = 0; pass < profiler->pass_count; pass++) {
        const zt_stats *time = &pass_times[pass];
        if (time->count < fewest) {
            fewest = time->count;
        }
        if (time->count > most) {
            most = time->count;
        }
        if (zt__is_nan(time->median)) {
            continue;
        }
        if (measured == 0 || time->median < shortest) {
            shortest = time->median;
        }
        if (measured == 0 || time->median > longest) {
            longest = time->median;
        }
        measured++;
    }
    if (fewest != most) {
        differs |= fewest == 0 ? ZT_DIFFERS_MISSING : ZT_DIFFERS_COUNT;
    }
    if (longest - shortest > profiler->config.pass_tolerance * shortest) {
        differs |= ZT_DIFFERS_TIME;
    }
    return differs;
}

/* Returns the time of the samples on a path that is outside of regions inside it, or NaN if samples of the
   path, or of those directly inside it, are missing. The mutex is held. */
ZT__PRIVATE double zt__own_time(const zt__path *path) {
    double own_ns = path->time_ns;
    const zt__path *inner;
    uint64_t missing = path->inner ? path->missing : 0;
    for (inner = path->inner; inner; inner = inner->next_inner) {
        own_ns -= inner->time_ns;
        missing += inner->missing;
    }
    /* Below 0, the device has measured the region or those inside it wrongly. */
    return path->is_own_unknown || missing || own_ns < 0 ? zt__nan() : own_ns;
}

/* Adds up the paths of a region. The mutex is held. */
ZT__PRIVATE void zt__add_paths(const zt_profiler *profiler, const zt__region_record *record,
                               zt_region_info *info) {
    const zt__path *path, *outer = record->paths ? record->paths->key.outer : &profiler->root;
    int is_same = 1;
    info->own_ns = info->total_ns = 0;
    for (path = record->paths; path; path = path->next) {
        info->own_ns += zt__own_time(path);
        if (!path->is_repeated) {
            info->total_ns += path->time_ns;
        } else if (path->outlives_outer) {
            info->total_ns = zt__nan();
        }
        is_same &= path->key.outer->key.region == outer->key.region;
    }
    info->parent = is_same && outer->depth > 0 ? outer->key.region->index : UINT32_MAX;
}

ZT_API uint32_t zt_get_path_count(const zt_profiler *profiler) {
    zt_profiler *locked = zt__mutable(profiler);
    uint32_t count;
    if (!profiler) {
        return 0;
    }
    zt__lock(&locked->mutex);
    count = profiler->path_count;
    zt__unlock(&locked->mutex);
    return count;
}

ZT_API ze_result_t zt_get_path(const zt_profiler *profiler, uint32_t path, zt_path_info *info) {
    zt_profiler *locked = zt__mutable(profiler);
    const zt__path *found = NULL;
    if (info) {
        memset(info, 0, sizeof *info);
        info->parent = UINT32_MAX;
        info->total_ns = info->own_ns = zt__nan();
    }
    if (!profiler) {
        return ZE_RESULT_SUCCESS;
    }
    if (!info) {
        return zt__report_null(&locked->diagnostics, "zt_get_path", "info");
    }
    zt__lock(&locked->mutex);
    if (path < profiler->path_count) {
        found = zt__path_at(profiler, path);
        info->region = found->key.region->index;
        info->parent = found->depth > 1 ? found->key.outer->index : UINT32_MAX;
        info->count = found->count;
        info->total_ns = found->time_ns;
        info->own_ns = zt__own_time(found);
    }
    zt__unlock(&locked->mutex);
    return found ? ZE_RESULT_SUCCESS : zt__report_index(profiler, "zt_get_path", "path", path);
}

ZT_API ze_result_t zt_get_region(const zt_profiler *profiler, uint32_t region, zt_region_info *info) {
    zt_profiler *locked = zt__mutable(profiler);
    const zt__region_record *record;
    ze_result_t result;
    zt_stats pass_times[ZT__MAX_PASSES];
    uint32_t pass, kept[ZT__MAX_PASSES], all_kept = 0;
    double *values, *next;
    if (info) {
        memset(info, 0, sizeof *info);
        info->name = "";
        info->parent = UINT32_MAX;
        info->own_ns = info->total_ns = zt__nan();
        zt__clear_stats(&info->time_ns);
    }
    record = zt__get_record(profiler, "zt_get_region", region, "info", info, &result);
    if (!record) {
        return result;
    }
    memset(pass_times, 0, sizeof pass_times);
    next = values = zt__lock_with_room(locked, record, profiler->pass_count);
    info->name = record->name;
    info->lost = record->lost;
    info->dropped = record->dropped;
    info->count = zt__collected(profiler, &record->statistics);
    zt__add_paths(profiler, record, info);
    zt__get_moments(&profiler->layout, &record->statistics, 0, &info->time_ns);
    for (pass = 0; pass < profiler->pass_count; pass++) {
        uint32_t column = zt__pass_time_column(profiler, pass);
        zt__get_moments(&profiler->layout, &record->statistics, column, &pass_times[pass]);
        if (values) {
            kept[pass] = zt__copy_column(&profiler->layout, &record->statistics, column, values + all_kept);
            all_kept += kept[pass];
        }
    }
    zt__unlock(&locked->mutex);
    for (pass = 0; values && pass < profiler->pass_count; pass++) {
        zt__add_quantiles(&profiler->layout, 0, next, kept[pass], &pass_times[pass]);
        next += kept[pass];
    }
    info->differs = zt__find_differences(profiler, pass_times);
    zt__add_quantiles(&profiler->layout, 0, values, all_kept, &info->time_ns);
    zt__free(&profiler->config.allocator, values);
    return result;
}

/* Gets the statistics of one column. Without memory, median and 95th percentile are NaN. */
ZT__PRIVATE ze_result_t zt__get_column(const zt_profiler *profiler, const char *call, uint32_t region,
                                       uint32_t column, zt_stats *stats) {
    zt_profiler *locked = zt__mutable(profiler);
    ze_result_t result;
    const zt__region_record *record = zt__get_record(profiler, call, region, "stats", stats, &result);
    uint32_t kept = 0;
    double *values;
    if (!record) {
        return result;
    }
    values = zt__lock_with_room(locked, record, 1);
    zt__get_moments(&profiler->layout, &record->statistics, column, stats);
    if (values) {
        kept = zt__copy_column(&profiler->layout, &record->statistics, column, values);
    }
    zt__unlock(&locked->mutex);
    zt__add_quantiles(&profiler->layout, column, values, kept, stats);
    zt__free(&profiler->config.allocator, values);
    return result;
}

ZT_API ze_result_t zt_get_stats(const zt_profiler *profiler, uint32_t region, uint32_t metric,
                                zt_stats *stats) {
    if (stats) {
        zt__clear_stats(stats);
    }
    if (!profiler || metric >= profiler->metric_count) {
        return zt__report_index(profiler, "zt_get_stats", "metric", metric);
    }
    return zt__get_column(profiler, "zt_get_stats", region, metric + 1, stats);
}

ZT_API ze_result_t zt_get_pass(const zt_profiler *profiler, uint32_t region, uint32_t pass,
                               zt_stats *time_ns) {
    if (time_ns) {
        zt__clear_stats(time_ns);
    }
    if (!profiler || pass >= profiler->pass_count) {
        return zt__report_index(profiler, "zt_get_pass", "pass", pass);
    }
    return zt__get_column(profiler, "zt_get_pass", region, zt__pass_time_column(profiler, pass), time_ns);
}

ZT_API ze_result_t zt_get_tile_stats(const zt_profiler *profiler, uint32_t region, uint32_t tile,
                                     uint32_t metric, zt_stats *stats) {
    if (stats) {
        zt__clear_stats(stats);
    }
    if (!profiler || metric >= profiler->metric_count) {
        return zt__report_index(profiler, "zt_get_tile_stats", "metric", metric);
    }
    if (tile >= profiler->tile_count) {
        return zt__report_index(profiler, "zt_get_tile_stats", "tile", tile);
    }
    return zt__get_column(profiler, "zt_get_tile_stats", region, zt__tile_column(profiler, tile, metric),
                          stats);
}

ZT_API double zt_get_rate(const zt_profiler *profiler, uint32_t region, uint32_t metric) {
    const zt_metric *described = zt_get_metric(profiler, metric);
    zt_stats stats, time;
    if (!described || region >= zt_get_region_count(profiler) ||
        zt_get_stats(profiler, region, metric, &stats) != ZE_RESULT_SUCCESS ||
        zt_get_pass(profiler, region, described->pass, &time) != ZE_RESULT_SUCCESS) {
        return zt__nan();
    }
    if (described->aggregation != ZT_AGGREGATE_SUM) {
        return stats.mean;
    }
    return zt__is_positive(time.sum) ? stats.sum / time.sum * 1e9 : zt__nan();
}

/* ---- a copy of a region, for reports and merging --------------------------------------------------------- */

/* Copies the statistics of a region, all of one moment. The copy is freed with zt__free_statistics. Returns 0
   without memory. */
ZT__PRIVATE int zt__copy_statistics(zt_profiler *profiler, const zt__region_record *record,
                                    zt__statistics *copy) {
    const zt_allocator *allocator = &profiler->config.allocator;
    const zt__statistics *from = &record->statistics;
    uint32_t columns = profiler->layout.column_count;
    zt__moments *moments = (zt__moments *)zt__allocate(allocator, columns, sizeof *moments);
    double *rows = zt__lock_with_room(profiler, record, columns);
    int has_room = moments && (rows || from->kept == 0);
    memset(copy, 0, sizeof *copy);
    if (has_room && from->moments) {
        *copy = *from;
        copy->moments = (zt__moments *)memcpy(moments, from->moments, columns * sizeof *moments);
        copy->rows = rows;
        copy->capacity = from->kept;
        if (from->kept > 0) {
            memcpy(rows, from->rows, (size_t)from->kept * columns * sizeof *rows);
        }
    }
    zt__unlock(&profiler->mutex);
    if (!copy->moments) {
        zt__free(allocator, moments);
        zt__free(allocator, rows);
    }
    return has_room;
}

/* ---- availability and errors ----------------------------------------------------------------------------- */

ZT_API zt_availability zt_get_availability(const zt_profiler *profiler) {
    if (!profiler) {
        return ZT_AVAILABILITY_UNKNOWN;
    }
    if (profiler->device && zt__is_device_lost(&profiler->diagnostics)) {
        return ZT_DEVICE_LOST;
    }
    return profiler->availability;
}

ZT_API const char *zt_get_availability_text(const zt_profiler *profiler) {
    switch (zt_get_availability(profiler)) {
    case ZT_AVAILABLE:
        return "[AVAILABLE] metrics are measured.";
    case ZT_AVAILABILITY_UNKNOWN:
        return "[NO_PROFILER] there is no profiler: zt_get_last_error(NULL) has the reason.";
    case ZT_DEVICE_LOST:
        return "[DEVICE_LOST] the device is lost. Open a new profiler when it is back.";
    default:
        return profiler->availability_text.text;
    }
}

ZT_API const char *zt_get_last_error(const zt_profiler *profiler) {
    return zt__get_last_error(zt__diagnostics_of(profiler));
}

ZT_API ze_result_t zt_get_last_result(const zt_profiler *profiler) {
    return zt__get_last_result(zt__diagnostics_of(profiler));
}

/* ==== >>merging: statistics of several profilers, in memory and packed ==================================== */

/* Describes the first difference between what two profilers measure, for a message. Returns NULL if there is
   none. */
ZT__PRIVATE const char *zt__find_mismatch(const zt_profiler *a, const zt_profiler *b) {
    uint32_t i;
    if (a->metric_count != b->metric_count) {
        return "one has more metrics";
    }
    if (a->pass_count != b->pass_count) {
        return "one has more passes";
    }
    if (a->tile_count != b->tile_count) {
        return "one has more tiles";
    }
    for (i = 0; i < a->metric_count; i++) {
        const zt_metric *one = &a->metrics[i], *other = &b->metrics[i];
        if (strcmp(one->name, other->name) != 0 || strcmp(one->group, other->group) != 0 ||
            strcmp(one->units, other->units) != 0 || one->aggregation != other->aggregation ||
            one->pass != other->pass) {
            return one->name;
        }
    }
    return NULL;
}

/* A region of the other profiler, and the one that it is added to. */
typedef struct zt__merged_region {
    zt__region_record *into;
    const zt__region_record *from;
    zt__statistics statistics; /* copies of those of `from` */
    uint64_t lost, dropped;
} zt__merged_region;

/* Copies the statistics of a region, and makes room for them in `into`, whose collector is held, so that
   nobody else writes its statistics. Returns 0 without memory. */
ZT__PRIVATE int zt__prepare_region(zt_profiler *into, zt_profiler *from, zt__merged_region *merged) {
    uint64_t samples, rows;
    zt_cause cause;
    if (!zt__copy_statistics(from, merged->from, &merged->statistics)) {
        return 0;
    }
    zt__lock(&into->mutex);
    merged->into = zt__find_or_add_region(into, merged->from->name, &cause);
    zt__unlock(&into->mutex);
    if (!merged->into) {
        return 0;
    }
    if (!merged->statistics.moments) { /* it has no samples */
        return 1;
    }
    samples = zt__samples_per_pass(&merged->statistics);
    if (!zt__reserve_samples(&into->config.allocator, &into->mutex, &into->layout, &merged->into->statistics,
                             samples < UINT32_MAX ? (uint32_t)samples : UINT32_MAX)) {
        return 0;
    }
    /* This also succeeds without memory for rows, but then rows that are kept now would be lost. */
    rows = (uint64_t)merged->into->statistics.kept + merged->statistics.kept;
    if (rows > into->layout.row_limit) {
        rows = into->layout.row_limit;
    }
    return merged->into->statistics.capacity >= rows;
}

/* A path of the other profiler, copied, and the one that it is added to. */
typedef struct zt__merged_path {
    zt__path *into;
    zt__path from;
} zt__merged_path;

/* Copies the paths, all of one moment, and adds those to `into` that it does not have. The regions are
   prepared. Returns 0 without memory. */
ZT__PRIVATE int zt__prepare_paths(zt_profiler *into, zt_profiler *from, const zt__merged_region *regions,
                                  zt__merged_path *paths, uint32_t count) {
    uint32_t i;
    int has_all = 1;
    zt__lock(&from->mutex);
    for (i = 0; i < count; i++) {
        paths[i].from = *zt__path_at(from, i);
    }
    zt__unlock(&from->mutex);
    zt__lock(&into->mutex);
    for (i = 0; i < count && has_all; i++) {
        const zt__path_key *key = &paths[i].from.key;
        zt__path *outer = key->outer->depth > 0 ? paths[key->outer->index].into : &into->root;
        paths[i].into = zt__find_or_add_path(into, outer, regions[key->region->index].into);
        has_all = paths[i].into != NULL;
    }
    zt__unlock(&into->mutex);
    return has_all;
}

/* Adds the figures of a path. The mutex is held. */
ZT__PRIVATE void zt__merge_path(zt__path *into, const zt__path *from) {
    into->outlives_outer |= from->outlives_outer;
    into->is_own_unknown |= from->is_own_unknown;
    into->count += from->count;
    into->time_ns += from->time_ns;
    into->missing += from->missing;
}

/* Adds what was lost and dropped. The mutex is held. */
ZT__PRIVATE void zt__add_causes(zt_profiler *into, const uint64_t *causes, uint64_t unobserved_lists) {
    uint32_t i;
    for (i = 0; i < ZT_CAUSE_COUNT; i++) {
        into->causes[i] += causes[i];
        into->counts.begun += causes[i];
        if (i < ZT_DROPPED_NO_SLOT) {
            into->counts.lost += causes[i];
        } else {
            into->counts.dropped += causes[i];
        }
    }
    into->counts.unobserved_lists += unobserved_lists;
}

/* Adds the prepared regions. Both collectors are held, so no statistics change; but regions may be dropped
   meanwhile, so all counts are copied at once. The mutex of `into` is unlocked between regions, so that other
   threads need not wait for all of them. */
ZT__PRIVATE void zt__add_regions(zt_profiler *into, zt_profiler *from, zt__merged_region *regions,
                                 uint32_t count) {
    uint64_t unobserved_lists, causes[ZT_CAUSE_COUNT];
    uint32_t i;
    zt__lock(&from->mutex);
    memcpy(causes, from->causes, sizeof causes);
    unobserved_lists = from->counts.unobserved_lists;
    for (i = 0; i < count; i++) {
        regions[i].lost = regions[i].from->lost;
        regions[i].dropped = regions[i].from->dropped;
    }
    zt__unlock(&from->mutex);
    for (i = 0; i < count; i++) {
        const zt__merged_region *merged = &regions[i];
        uint64_t collected = zt__collected(into, &merged->statistics);
        zt__lock(&into->mutex);
        zt__merge_statistics(&into->layout, &merged->into->statistics, &merged->statistics);
        merged->into->lost += merged->lost;
        merged->into->dropped += merged->dropped;
        into->counts.collected += collected;
        into->counts.begun += collected;
        zt__unlock(&into->mutex);
    }
    zt__lock(&into->mutex);
    zt__add_causes(into, causes, unobserved_lists);
    zt__unlock(&into->mutex);
}

/* Locks the collectors of two profilers, so that nothing is collected while one is merged into the other. The
   order is that of their addresses, so that two threads that merge in opposite directions do not wait for
   each other. Inside a sample function, this thread holds that of `from`. Returns 0 if a collector is held
   for too long. */
ZT__PRIVATE int zt__lock_collectors(zt_profiler *into, zt_profiler *from) {
    uint64_t deadline = zt__deadline(into->config.wait_timeout_ns);
    int is_inside = zt__is_owner(&from->collector), into_first = (uintptr_t)into < (uintptr_t)from;
    zt_profiler *first = into_first || is_inside ? into : from, *second = first == into ? from : into;
    if (!zt__lock_until(&first->collector, deadline)) {
        return 0;
    }
    if (!is_inside && !zt__lock_until(&second->collector, deadline)) {
        zt__unlock_timed(&first->collector);
        return 0;
    }
    return 1;
}

ZT_API ze_result_t zt_merge(zt_profiler *into, const zt_profiler *from) {
    zt_profiler *source = zt__mutable(from);
    zt__merged_region *regions = NULL;
    zt__merged_path *paths = NULL;
    const char *mismatch;
    uint32_t i, count, path_count, prepared = 0;
    int is_inside;
    ze_result_t result = ZE_RESULT_SUCCESS;
    if (!into || !from) {
        return ZE_RESULT_SUCCESS;
    }
    if (into == from) {
        return zt__report(&into->diagnostics, MERGE_SELF, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    }
    mismatch = zt__find_mismatch(into, from);
    if (mismatch) {
        return zt__report(&into->diagnostics, LAYOUTS_DIFFER, ZE_RESULT_ERROR_INVALID_ARGUMENT, mismatch);
    }
    /* The thread that holds the collector is the only one that writes statistics. */
    if (zt__is_inside_callback(into, "zt_merge")) {
        return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
    }
    is_inside = zt__is_owner(&source->collector);
    if (!zt__lock_collectors(into, source)) {
        return zt__report(&into->diagnostics, COLLECTOR_BUSY, ZE_RESULT_NOT_READY, "zt_merge");
    }
    path_count = zt_get_path_count(from); /* before that of the regions, so that it has all their regions */
    count = zt_get_region_count(from);
    if (count > 0) {
        regions = (zt__merged_region *)zt__allocate(&into->config.allocator, count, sizeof *regions);
    }
    if (path_count > 0) {
        paths = (zt__merged_path *)zt__allocate(&into->config.allocator, path_count, sizeof *paths);
    }
    /* No figure changes before there is memory for everything. */
    while (regions && prepared < count) {
        zt__lock(&source->mutex);
        regions[prepared].from = source->regions[prepared];
        zt__unlock(&source->mutex);
        if (!zt__prepare_region(into, source, &regions[prepared])) {
            break;
        }
        prepared++;
    }
    if (prepared == count &&
        (path_count == 0 || (paths && zt__prepare_paths(into, source, regions, paths, path_count)))) {
        zt__add_regions(into, source, regions, count);
        zt__lock(&into->mutex);
        for (i = 0; i < path_count; i++) {
            zt__merge_path(paths[i].into, &paths[i].from);
        }
        zt__unlock(&into->mutex);
    } else {
        result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (i = 0; regions && i < count; i++) {
        zt__free_statistics(&from->config.allocator, &regions[i].statistics);
    }
    zt__free(&into->config.allocator, regions);
    zt__free(&into->config.allocator, paths);
    if (!is_inside) {
        zt__unlock_timed(&source->collector);
    }
    zt__unlock_timed(&into->collector);
    if (result != ZE_RESULT_SUCCESS) {
        zt__report_no_memory(&into->diagnostics, "zt_merge", "statistics");
    }
    return result;
}

/* ---- packing --------------------------------------------------------------------------------------------- */

/* PACKED STATISTICS, in the manual, describes the layout. */
enum {
    ZT__PACK_LAYOUT = 2,
    ZT__PACK_HEADER_SIZE = 24,
    ZT__PACKED_MOMENTS_SIZE = 7 * 8,
    ZT__PACKED_PATH_SIZE = 4 * 4 + 3 * 8
};

/* Writes into a buffer. Bytes that do not fit are only counted. */
typedef struct zt__packer {
    uint8_t *bytes;
    size_t room, used;
} zt__packer;

ZT__PRIVATE void zt__pack_bytes(zt__packer *packer, const void *bytes, size_t size) {
    if (size > 0 && packer->used <= packer->room && size <= packer->room - packer->used) {
        memcpy(packer->bytes + packer->used, bytes, size);
    }
    packer->used += size;
}

/* Packs the low `size` bytes, 8 at the most, little-endian. */
ZT__PRIVATE void zt__pack_integer(zt__packer *packer, uint64_t value, size_t size) {
    uint8_t bytes[8];
    size_t i;
    for (i = 0; i < size; i++) {
        bytes[i] = (uint8_t)(value >> 8 * i);
    }
    zt__pack_bytes(packer, bytes, size);
}

ZT__PRIVATE void zt__pack_u32(zt__packer *packer, uint32_t value) {
    zt__pack_integer(packer, value, 4);
}

ZT__PRIVATE void zt__pack_u64(zt__packer *packer, uint64_t value) {
    zt__pack_integer(packer, value, 8);
}

ZT__PRIVATE void zt__pack_f64(zt__packer *packer, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    zt__pack_u64(packer, bits);
}

ZT__PRIVATE void zt__pack_text(zt__packer *packer, const char *text) {
    size_t length = strlen(text);
    zt__pack_u32(packer, (uint32_t)length);
    zt__pack_bytes(packer, text, length);
}

/* Packs all that comes before the regions. */
ZT__PRIVATE void zt__pack_profiler(zt__packer *packer, zt_profiler *profiler, uint32_t region_count) {
    zt_availability availability = zt_get_availability(profiler);
    const zt__facts *facts = &profiler->facts;
    uint64_t unobserved_lists, causes[ZT_CAUSE_COUNT];
    uint32_t i;
    zt__lock(&profiler->mutex);
    memcpy(causes, profiler->causes, sizeof causes);
    unobserved_lists = profiler->counts.unobserved_lists;
    zt__unlock(&profiler->mutex);
    zt__pack_u32(packer, profiler->metric_count);
    zt__pack_u32(packer, region_count);
    zt__pack_u32(packer, profiler->pass_count);
    zt__pack_u32(packer, profiler->tile_count);
    zt__pack_u32(packer, profiler->config.samples);
    zt__pack_u32(packer, (uint32_t)availability);
    zt__pack_text(packer, availability == ZT_AVAILABLE ? "" : zt_get_availability_text(profiler));
    zt__pack_text(packer, profiler->device_name);
    zt__pack_text(packer, facts->driver_version);
    zt__pack_text(packer, facts->uuid);
    zt__pack_text(packer, facts->pci_address);
    zt__pack_text(packer, facts->program);
    zt__pack_u32(packer, facts->core_clock_mhz);
    zt__pack_u64(packer, facts->timer_hz);
    zt__pack_u64(packer, facts->opened_s);
    zt__pack_u32(packer, ZT_CAUSE_COUNT);
    for (i = 0; i < ZT_CAUSE_COUNT; i++) {
        zt__pack_u64(packer, causes[i]);
    }
    zt__pack_u64(packer, unobserved_lists);
    for (i = 0; i < profiler->metric_count; i++) {
        const zt_metric *metric = &profiler->metrics[i];
        zt__pack_text(packer, metric->name);
        zt__pack_text(packer, metric->group);
        zt__pack_text(packer, metric->component);
        zt__pack_text(packer, metric->units);
        zt__pack_text(packer, metric->description);
        zt__pack_u32(packer, (uint32_t)metric->type);
        zt__pack_u32(packer, (uint32_t)metric->aggregation);
        zt__pack_u32(packer, metric->pass);
    }
}

/* Packs a region. The mutex is held. */
ZT__PRIVATE void zt__pack_region(zt__packer *packer, const zt_profiler *profiler,
                                 const zt__region_record *record) {
    static const zt__moments none = {0, 0, 0, 0, 0, 0, 0};
    const zt__statistics *statistics = &record->statistics;
    uint32_t pass, column, columns = profiler->layout.column_count;
    size_t i, values = (size_t)statistics->kept * columns;
    zt__pack_text(packer, record->name);
    for (pass = 0; pass < profiler->pass_count; pass++) {
        zt__pack_u64(packer, statistics->seen[pass]);
    }
    zt__pack_u64(packer, record->lost);
    zt__pack_u64(packer, record->dropped);
    for (column = 0; column < columns; column++) {
        const zt__moments *moments = statistics->moments ? &statistics->moments[column] : &none;
        zt__pack_u64(packer, moments->count);
        zt__pack_f64(packer, moments->weight);
        zt__pack_f64(packer, moments->sum);
        zt__pack_f64(packer, moments->mean);
        zt__pack_f64(packer, moments->m2);
        zt__pack_f64(packer, moments->min);
        zt__pack_f64(packer, moments->max);
    }
    zt__pack_u32(packer, statistics->kept);
    if (packer->used > packer->room) { /* nothing more fits: only the size is needed */
        packer->used += values * sizeof(double);
        return;
    }
    for (i = 0; i < values; i++) {
        zt__pack_f64(packer, statistics->rows[i]);
    }
}

/* The mutex is held. */
ZT__PRIVATE void zt__pack_path(zt__packer *packer, const zt__path *path) {
    zt__pack_u32(packer, path->depth > 1 ? path->key.outer->index : UINT32_MAX);
    zt__pack_u32(packer, path->key.region->index);
    zt__pack_u64(packer, path->count);
    zt__pack_f64(packer, path->time_ns);
    zt__pack_u64(packer, path->missing);
    zt__pack_u32(packer, (uint32_t)path->outlives_outer);
    zt__pack_u32(packer, (uint32_t)path->is_own_unknown);
}

ZT_API ze_result_t zt_pack(const zt_profiler *profiler, void *buffer, size_t *size) {
    zt_profiler *locked = zt__mutable(profiler);
    zt__packer packer = {NULL, 0, ZT__PACK_HEADER_SIZE}, header = {NULL, ZT__PACK_HEADER_SIZE, 0};
    uint32_t i, regions, paths;
    int is_inside;
    if (!profiler) {
        if (size) {
            *size = 0;
        }
        return ZE_RESULT_SUCCESS;
    }
    if (!size) {
        return zt__report_null(&locked->diagnostics, "zt_pack", "size");
    }
    /* Nothing is collected meanwhile, so that all regions are of one moment. Inside a sample function this
       thread holds the collector already. */
    is_inside = zt__is_owner(&locked->collector);
    if (!is_inside && !zt__lock_until(&locked->collector, zt__deadline(locked->config.wait_timeout_ns))) {
        return zt__report(&locked->diagnostics, COLLECTOR_BUSY, ZE_RESULT_NOT_READY, "zt_pack");
    }
    packer.bytes = header.bytes = (uint8_t *)buffer;
    packer.room = buffer ? *size : 0;
    paths = zt_get_path_count(profiler); /* before that of the regions, so that it has all their regions */
    regions = zt_get_region_count(profiler);
    zt__pack_profiler(&packer, locked, regions);
    for (i = 0; i < regions; i++) {
        zt__lock(&locked->mutex);
        zt__pack_region(&packer, profiler, profiler->regions[i]);
        zt__unlock(&locked->mutex);
    }
    zt__pack_u32(&packer, paths);
    zt__lock(&locked->mutex);
    for (i = 0; i < paths; i++) {
        zt__pack_path(&packer, zt__path_at(profiler, i));
    }
    zt__unlock(&locked->mutex);
    if (!is_inside) {
        zt__unlock_timed(&locked->collector);
    }
    *size = packer.used;
    if (!buffer) {
        return ZE_RESULT_SUCCESS;
    }
    if (packer.used > packer.room) {
        return zt__report(&locked->diagnostics, BUFFER_TOO_SMALL, ZE_RESULT_ERROR_INVALID_SIZE,
                          (unsigned long long)packer.room, (unsigned long long)packer.used);
    }
    /* The header comes last, because it has the size and the checksum of the rest. */
    zt__pack_bytes(&header, "ZTPK", 4);
    zt__pack_u32(&header, ZT__PACK_LAYOUT);
    zt__pack_u64(&header, packer.used);
    zt__pack_u64(&header, zt__hash(packer.bytes + ZT__PACK_HEADER_SIZE, packer.used - ZT__PACK_HEADER_SIZE));
    return ZE_RESULT_SUCCESS;
}

/* ---- unpacking: nothing in the buffer is trusted --------------------------------------------------------- */

/* The highest count that is accepted, so that sums over all regions do not overflow. */
#define ZT__MAX_PACKED_COUNT (UINT64_C(1) << 47)

/* Reads from a buffer. Once `result` is not SUCCESS, further values are 0 or "". */
typedef struct zt__unpacker {
    const uint8_t *bytes;
    size_t size, used;
    ze_result_t result; /* INVALID_ARGUMENT: the buffer ends too early or is invalid; OUT_OF_HOST_MEMORY */
    char *strings;      /* the next text is copied to here */
} zt__unpacker;

/* Rejects the buffer unless a condition holds. Returns whether all has gone well so far. */
ZT__PRIVATE int zt__require(zt__unpacker *unpacker, int condition) {
    if (!condition && unpacker->result == ZE_RESULT_SUCCESS) {
        unpacker->result = ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    return unpacker->result == ZE_RESULT_SUCCESS;
}

/* As zt__allocate. */
ZT__PRIVATE void *zt__allocate_unpacked(zt__unpacker *unpacker, const zt_allocator *allocator, size_t count,
                                        size_t size) {
    void *memory = zt__allocate(allocator, count, size);
    if (!memory) {
        unpacker->result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    return memory;
}

/* Returns the next bytes, or NULL on failure. */
ZT__PRIVATE const uint8_t *zt__unpack_bytes(zt__unpacker *unpacker, size_t size) {
    const uint8_t *bytes = unpacker->bytes + unpacker->used;
    if (!zt__require(unpacker, size <= unpacker->size - unpacker->used)) {
        return NULL;
    }
    unpacker->used += size;
    return bytes;
}

/* Unpacks `size` bytes, 8 at the most, little-endian. Rejects the buffer if the value is above `most`. */
ZT__PRIVATE uint64_t zt__unpack_integer(zt__unpacker *unpacker, size_t size, uint64_t most) {
    const uint8_t *bytes = zt__unpack_bytes(unpacker, size);
    uint64_t value = 0;
    while (bytes && size-- > 0) {
        value = value << 8 | bytes[size];
    }
    return zt__require(unpacker, value <= most) ? value : 0;
}

ZT__PRIVATE uint32_t zt__unpack_u32(zt__unpacker *unpacker, uint32_t most) {
    return (uint32_t)zt__unpack_integer(unpacker, 4, most);
}

ZT__PRIVATE uint64_t zt__unpack_u64(zt__unpacker *unpacker, uint64_t most) {
    return zt__unpack_integer(unpacker, 8, most);
}

ZT__PRIVATE double zt__unpack_f64(zt__unpacker *unpacker) {
    uint64_t bits = zt__unpack_u64(unpacker, UINT64_MAX);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Copies a text to the profiler's strings. They have as many bytes as the buffer, which is enough: besides
   its characters, a text occupies one byte there for the final 0, and four in the buffer for its length. */
ZT__PRIVATE const char *zt__unpack_text(zt__unpacker *unpacker) {
    uint32_t length = zt__unpack_u32(unpacker, UINT32_MAX);
    const uint8_t *bytes = zt__unpack_bytes(unpacker, length);
    char *text = unpacker->strings;
    if (!bytes || !zt__require(unpacker, memchr(bytes, 0, length) == NULL)) {
        return "";
    }
    memcpy(text, bytes, length);
    text[length] = 0;
    unpacker->strings += length + 1;
    return text;
}

/* Copies a text to a buffer of `room` bytes, cut if it is too long. */
ZT__PRIVATE void zt__unpack_short_text(zt__unpacker *unpacker, char *text, size_t room) {
    const char *unpacked = zt__unpack_text(unpacker);
    zt__copy_text(text, room, unpacked, strlen(unpacked));
}

/* Reads all that comes before the regions. Returns the number of regions. */
ZT__PRIVATE uint32_t zt__unpack_profiler(zt__unpacker *unpacker, zt_profiler *profiler) {
    enum {
        LEAST_METRIC = 5 * 4 + 3 * 4, /* bytes of a metric whose texts are empty */
        MAX_SAMPLES = 1 << 20         /* as in zt__complete_config */
    };
    const uint32_t max_metrics = UINT32_MAX / (2 * ZT__MAX_TILES); /* the number of columns fits in 32 bits */
    size_t most_metrics = unpacker->size / LEAST_METRIC;
    uint64_t causes[ZT_CAUSE_COUNT];
    zt__facts *facts = &profiler->facts;
    uint32_t i, region_count;
    profiler->metric_count =
        zt__unpack_u32(unpacker, most_metrics < max_metrics ? (uint32_t)most_metrics : max_metrics);
    region_count = zt__unpack_u32(unpacker, ZT__MAX_REGIONS);
    profiler->pass_count = zt__unpack_u32(unpacker, ZT__MAX_PASSES);
    profiler->tile_count = zt__unpack_u32(unpacker, ZT__MAX_TILES);
    profiler->config.samples = zt__unpack_u32(unpacker, MAX_SAMPLES);
    profiler->availability = (zt_availability)zt__unpack_u32(unpacker, ZT_AVAILABILITY_UNKNOWN);
    zt__unpack_short_text(unpacker, profiler->availability_text.text,
                          sizeof profiler->availability_text.text);
    zt__unpack_short_text(unpacker, profiler->device_name, sizeof profiler->device_name);
    zt__unpack_short_text(unpacker, facts->driver_version, sizeof facts->driver_version);
    zt__unpack_short_text(unpacker, facts->uuid, sizeof facts->uuid);
    zt__unpack_short_text(unpacker, facts->pci_address, sizeof facts->pci_address);
    zt__unpack_short_text(unpacker, facts->program, sizeof facts->program);
    facts->core_clock_mhz = zt__unpack_u32(unpacker, UINT32_MAX);
    facts->timer_hz = zt__unpack_u64(unpacker, UINT64_MAX);
    facts->opened_s = zt__unpack_u64(unpacker, ZT__MAX_PACKED_COUNT);
    zt__require(unpacker, zt__unpack_u32(unpacker, ZT_CAUSE_COUNT) == ZT_CAUSE_COUNT);
    for (i = 0; i < ZT_CAUSE_COUNT; i++) {
        causes[i] = zt__unpack_u64(unpacker, ZT__MAX_PACKED_COUNT);
    }
    zt__add_causes(profiler, causes, zt__unpack_u64(unpacker, ZT__MAX_PACKED_COUNT));
    if (!zt__require(unpacker, profiler->pass_count > 0 && profiler->config.samples > 0)) {
        return 0;
    }
    profiler->metrics = (zt_metric *)zt__allocate_unpacked(
        unpacker, &profiler->config.allocator, profiler->metric_count + 1, sizeof *profiler->metrics);
    for (i = 0; profiler->metrics && i < profiler->metric_count; i++) {
        zt_metric *metric = &profiler->metrics[i];
        metric->name = zt__unpack_text(unpacker);
        metric->group = zt__unpack_text(unpacker);
        metric->component = zt__unpack_text(unpacker);
        metric->units = zt__unpack_text(unpacker);
        metric->description = zt__unpack_text(unpacker);
        metric->type = (int)zt__unpack_u32(unpacker, INT32_MAX);
        metric->aggregation = (zt_aggregation)zt__unpack_u32(unpacker, ZT_AGGREGATE_NONE);
        metric->pass = zt__unpack_u32(unpacker, profiler->pass_count - 1);
    }
    if (unpacker->result == ZE_RESULT_SUCCESS && !zt__lay_out_columns(profiler)) {
        unpacker->result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    return region_count;
}

/* Counts and weights are checked, because values are divided by them. The values themselves are not: as with
   those of a driver, reports leave out what is not a number. */
ZT__PRIVATE void zt__unpack_moments(zt__unpacker *unpacker, zt__moments *moments, uint64_t collected) {
    moments->count = zt__unpack_u64(unpacker, collected);
    moments->weight = zt__unpack_f64(unpacker);
    moments->sum = zt__unpack_f64(unpacker);
    moments->mean = zt__unpack_f64(unpacker);
    moments->m2 = zt__unpack_f64(unpacker);
    moments->min = zt__unpack_f64(unpacker);
    moments->max = zt__unpack_f64(unpacker);
    zt__require(unpacker, zt__is_finite(moments->weight) && moments->weight >= 0 &&
                              (zt__is_nan(moments->m2) || moments->m2 >= 0));
    if (moments->count == 0) {
        memset(moments, 0, sizeof *moments);
    }
}

ZT__PRIVATE void zt__unpack_region(zt__unpacker *unpacker, zt_profiler *profiler) {
    const zt_allocator *allocator = &profiler->config.allocator;
    const char *name = zt__unpack_text(unpacker);
    uint64_t seen[ZT__MAX_PASSES] = {0}, collected = 0, lost, dropped;
    uint32_t columns = profiler->layout.column_count, index = profiler->region_count;
    uint32_t pass, column, kept;
    size_t i, values;
    zt__region_record *record;
    zt__statistics *statistics;
    zt_cause cause;
    for (pass = 0; pass < profiler->pass_count; pass++) {
        seen[pass] = zt__unpack_u64(unpacker, ZT__MAX_PACKED_COUNT);
        collected += seen[pass];
    }
    lost = zt__unpack_u64(unpacker, ZT__MAX_PACKED_COUNT);
    dropped = zt__unpack_u64(unpacker, ZT__MAX_PACKED_COUNT);
    /* Memory is allocated only for what the buffer is long enough for. */
    if (!zt__require(unpacker, (unpacker->size - unpacker->used) / ZT__PACKED_MOMENTS_SIZE >= columns)) {
        return;
    }
    zt__lock(&profiler->mutex);
    record = zt__find_or_add_region(profiler, zt__shown_name(name), &cause);
    zt__unlock(&profiler->mutex);
    if (!record) {
        unpacker->result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
        return;
    }
    if (!zt__require(unpacker, record->index == index)) { /* another region has this name */
        return;
    }
    record->lost = lost;
    record->dropped = dropped;
    profiler->counts.collected += collected;
    profiler->counts.begun += collected;
    statistics = &record->statistics;
    statistics->moments =
        (zt__moments *)zt__allocate_unpacked(unpacker, allocator, columns, sizeof *statistics->moments);
    if (!statistics->moments) {
        return;
    }
    for (column = 0; column < columns; column++) {
        zt__unpack_moments(unpacker, &statistics->moments[column], collected);
    }
    for (pass = 0; pass < profiler->pass_count; pass++) {
        zt__require(unpacker, statistics->moments[zt__pass_time_column(profiler, pass)].count <= seen[pass]);
    }
    memcpy(statistics->seen, seen, sizeof seen);
    kept = zt__unpack_u32(unpacker, profiler->config.samples);
    values = (size_t)kept * columns;
    if (!zt__require(unpacker, kept <= zt__samples_per_pass(statistics) &&
                                   values <= (unpacker->size - unpacker->used) / sizeof(double)) ||
        values == 0) {
        return;
    }
    statistics->rows = (double *)zt__allocate_unpacked(unpacker, allocator, values, sizeof *statistics->rows);
    if (!statistics->rows) {
        return;
    }
    for (i = 0; i < values; i++) {
        statistics->rows[i] = zt__unpack_f64(unpacker);
    }
    statistics->kept = statistics->capacity = kept;
}

ZT__PRIVATE void zt__unpack_paths(zt__unpacker *unpacker, zt_profiler *profiler) {
    uint32_t i, count = zt__unpack_u32(unpacker, ZT__MAX_PATHS);
    if (!zt__require(unpacker, (unpacker->size - unpacker->used) / ZT__PACKED_PATH_SIZE >= count)) {
        return;
    }
    for (i = 0; i < count; i++) {
        uint32_t outer_index = zt__unpack_u32(unpacker, UINT32_MAX);
        uint32_t region = zt__unpack_u32(unpacker, UINT32_MAX);
        zt__path *outer, *path;
        if (!zt__require(unpacker,
                         (outer_index < i || outer_index == UINT32_MAX) && region < profiler->region_count)) {
            return;
        }
        outer = outer_index == UINT32_MAX ? &profiler->root : zt__path_at(profiler, outer_index);
        zt__lock(&profiler->mutex);
        path = zt__find_or_add_path(profiler, outer, profiler->regions[region]);
        zt__unlock(&profiler->mutex);
        if (!path) {
            unpacker->result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
            return;
        }
        if (!zt__require(unpacker, path->index == i && path->key.outer == outer)) {
            return; /* it was there before, or is nested too deeply */
        }
        path->count = zt__unpack_u64(unpacker, ZT__MAX_PACKED_COUNT);
        path->time_ns = zt__unpack_f64(unpacker);
        path->missing = zt__unpack_u64(unpacker, ZT__MAX_PACKED_COUNT);
        path->outlives_outer = (int)zt__unpack_u32(unpacker, 1);
        path->is_own_unknown = (int)zt__unpack_u32(unpacker, 1);
    }
}

/* Checks the header and the checksum, and reports what is wrong. `size` is that of the buffer at first, and
   then that of its contents. */
ZT__PRIVATE ze_result_t zt__check_pack(const uint8_t *bytes, size_t *size) {
    zt__unpacker header = {bytes, *size, 4, ZE_RESULT_SUCCESS, NULL}; /* after ZTPK */
    uint64_t stated, hash;
    uint32_t layout;
    if (*size >= 4 && memcmp(bytes, "ZTPK", 4) != 0) {
        return zt__report(NULL, BAD_PACK, ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "the buffer does not begin with ZTPK");
    }
    if (*size < ZT__PACK_HEADER_SIZE) {
        return zt__report(NULL, BAD_PACK, ZE_RESULT_ERROR_INVALID_SIZE, "the buffer is cut off");
    }
    layout = zt__unpack_u32(&header, UINT32_MAX);
    stated = zt__unpack_u64(&header, UINT64_MAX);
    hash = zt__unpack_u64(&header, UINT64_MAX);
    if (layout != ZT__PACK_LAYOUT && layout != 0) {
        return zt__report(NULL, OTHER_PACK, ZE_RESULT_ERROR_UNSUPPORTED_VERSION, (unsigned)layout,
                          (unsigned)ZT__PACK_LAYOUT);
    }
    if (stated > *size) {
        return zt__report(NULL, BAD_PACK, ZE_RESULT_ERROR_INVALID_SIZE, "the buffer is cut off");
    }
    if (layout == 0 || stated < ZT__PACK_HEADER_SIZE ||
        hash != zt__hash(bytes + ZT__PACK_HEADER_SIZE, (size_t)stated - ZT__PACK_HEADER_SIZE)) {
        return zt__report(NULL, BAD_PACK, ZE_RESULT_ERROR_INVALID_ARGUMENT, "the buffer is damaged");
    }
    *size = (size_t)stated;
    return ZE_RESULT_SUCCESS;
}

/* Copies the configured columns of the table, because the application's text need not outlive the call.
   Returns 0 without memory. */
ZT__PRIVATE int zt__keep_columns(zt_profiler *profiler, const zt_config *config) {
    const char *columns = config->columns ? config->columns : config->metrics;
    if (!zt__has_names(columns)) {
        return 1;
    }
    profiler->columns = zt__duplicate_text(&config->allocator, columns);
    return profiler->columns != NULL;
}

ZT_API ze_result_t zt_unpack(const void *buffer, size_t size, const zt_config *config,
                             zt_profiler **profiler) {
    zt__unpacker unpacker = {(const uint8_t *)buffer, 0, ZT__PACK_HEADER_SIZE, ZE_RESULT_SUCCESS, NULL};
    zt_config complete = zt__complete_config(config);
    zt_profiler *unpacked;
    ze_result_t result;
    uint32_t i, region_count;
    if (profiler) {
        *profiler = NULL;
    }
    if (!buffer || !profiler) {
        return zt__report_null(NULL, "zt_unpack", buffer ? "profiler" : "buffer");
    }
    if (config && !config->allocator.allocate != !config->allocator.release) {
        return zt__report(NULL, BAD_ALLOCATOR, ZE_RESULT_ERROR_INVALID_ARGUMENT, "zt_unpack");
    }
    result = zt__check_pack((const uint8_t *)buffer, &size);
    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }
    unpacked = zt__create_profiler(&complete);
    if (!unpacked) {
        return zt__report_no_memory(NULL, "zt_unpack", "the profiler");
    }
    unpacked->config.groups = unpacked->config.metrics = unpacked->config.columns = NULL;
    unpacked->strings = (char *)zt__allocate_unpacked(&unpacker, &complete.allocator, size, 1);
    if (!zt__keep_columns(unpacked, &complete)) {
        unpacker.result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    unpacker.size = size;
    unpacker.strings = unpacked->strings;
    region_count = zt__unpack_profiler(&unpacker, unpacked);
    for (i = 0; i < region_count && unpacker.result == ZE_RESULT_SUCCESS; i++) {
        zt__unpack_region(&unpacker, unpacked);
    }
    zt__unpack_paths(&unpacker, unpacked);
    zt__require(&unpacker, unpacker.used == unpacker.size);
    result = unpacker.result;
    if (result == ZE_RESULT_ERROR_INVALID_ARGUMENT) {
        zt__report(NULL, BAD_PACK, result, "the contents of the buffer are invalid");
    } else if (result != ZE_RESULT_SUCCESS) {
        zt__report_no_memory(NULL, "zt_unpack", "statistics");
    } else if (!zt__register_profiler(unpacked)) {
        result = zt__report(NULL, TOO_MANY_UNPACKED, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY,
                            (unsigned)ZT__MAX_PROFILERS);
    }
    if (result == ZE_RESULT_SUCCESS) {
        *profiler = unpacked;
    } else {
        zt__free_profiler(unpacked);
    }
    return result;
}

/* ==== >>timeline: device time and host time, kept samples and rows, attribution =========================== */

/* ---- clocks ---------------------------------------------------------------------------------------------- */

enum { ZT__DEVICE, ZT__HOST }; /* the clock that a time is of */
enum { ZT__MAX_CLOCK_PAIRS = 64, ZT__MIN_PAIRS_PER_WRAP = 8 };

/* One moment on both clocks. */
typedef struct zt__clock_pair {
    uint64_t ns[2];    /* of ZT__DEVICE and ZT__HOST */
    uint64_t error_ns; /* the most that the two can be apart */
} zt__clock_pair;

/* A clock of the device, related to CLOCK_MONOTONIC of the host. Its time stamps have as few as 32 bits and
   wrap around to 0. Unwrapped times count on from there. They are integers, because a double has 53 bits and
   time stamps have up to 64. */
typedef struct zt__clock {
    ze_device_handle_t device;
    zet_metric_group_handle_t group; /* of whose metrics it is the clock; NULL: the device's own clock */
    uint64_t ticks_per_second;
    uint64_t mask;
    uint64_t wrap_ns;     /* the time after which it wraps around; 0: never */
    uint64_t interval_ns; /* the least time between two pairs */
    uint32_t pair_count;
    zt__clock_pair pairs[ZT__MAX_CLOCK_PAIRS];
} zt__clock;

/* Converts seconds and the rest apart from each other, which does not overflow for clocks of up to 18 GHz. */
ZT__PRIVATE uint64_t zt__ticks_to_ns(const zt__clock *clock, uint64_t ticks) {
    uint64_t rate = clock->ticks_per_second;
    ticks &= clock->mask;
    return ticks / rate * 1000000000u + ticks % rate * 1000000000u / rate;
}

/* Returns the mask for time stamps with this number of valid bits. Drivers that do not know it report 0,
   which stands for 64. */
ZT__PRIVATE uint64_t zt__mask_of_bits(uint64_t valid_bits) {
    return valid_bits > 0 && valid_bits < 64 ? (UINT64_C(1) << valid_bits) - 1 : UINT64_MAX;
}

ZT__PRIVATE void zt__init_clock(zt__clock *clock, ze_device_handle_t device, zet_metric_group_handle_t group,
                                uint64_t ticks_per_second, uint64_t mask) {
    enum { INTERVAL_NS = 100000000 };
    memset(clock, 0, sizeof *clock);
    clock->device = device;
    clock->group = group;
    clock->ticks_per_second = ticks_per_second ? ticks_per_second : 1000000000u;
    clock->mask = mask;
    clock->interval_ns = INTERVAL_NS;
    /* A clock that counts for more than 292 years need not be unwrapped. */
    if (mask / clock->ticks_per_second < UINT64_MAX / 2 / 1000000000u) {
        clock->wrap_ns = zt__ticks_to_ns(clock, mask) + 1000000000u / clock->ticks_per_second;
        if (clock->wrap_ns / ZT__MIN_PAIRS_PER_WRAP < clock->interval_ns) {
            clock->interval_ns = clock->wrap_ns / ZT__MIN_PAIRS_PER_WRAP;
        }
    }
}

/* Reads both clocks several times, and keeps the reading that took the least time, which is the most precise.
   The device's time is not unwrapped yet. */
ZT__PRIVATE ze_result_t zt__read_clocks(const zt__driver *driver, const zt__clock *clock,
                                        zt__clock_pair *pair) {
    enum { READINGS = 3 };
    uint64_t least = UINT64_MAX;
    uint32_t i;
    memset(pair, 0, sizeof *pair);
    if (clock->group ? !driver->zetMetricGroupGetGlobalTimestampsExp : !driver->zeDeviceGetGlobalTimestamps) {
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    }
    for (i = 0; i < READINGS; i++) {
        uint64_t other = 0, ticks = 0, before = zt__now_ns(), took;
        ze_result_t result;
        if (clock->group) {
            result = driver->zetMetricGroupGetGlobalTimestampsExp(clock->group, 0, &other, &ticks);
        } else {
            ZT__INTERNAL(result = driver->zeDeviceGetGlobalTimestamps(clock->device, &other, &ticks));
        }
        if (result != ZE_RESULT_SUCCESS) {
            return result;
        }
        took = zt__now_ns() - before;
        if (took < least) {
            least = took;
            pair->ns[ZT__DEVICE] = zt__ticks_to_ns(clock, ticks);
            pair->ns[ZT__HOST] = before + took / 2;
            pair->error_ns = took / 2 + 1;
        }
    }
    return ZE_RESULT_SUCCESS;
}

/* Converts a time from one clock to the other. Between two pairs it is interpolated; before the first and
   after the last, the mean rate of all pairs holds. The conversion is monotonic, so regions that are nested
   stay nested. There is at least one pair. */
ZT__PRIVATE uint64_t zt__convert_time(const zt__clock *clock, uint64_t time_ns, int from, int to) {
    const zt__clock_pair *pairs = clock->pairs, *near, *begin = &pairs[0];
    const zt__clock_pair *end = &pairs[clock->pair_count - 1];
    uint32_t i = clock->pair_count - 1;
    double rate = 1, elapsed, converted;
    while (i > 0 && pairs[i].ns[from] > time_ns) {
        i--;
    }
    near = &pairs[i];
    if (time_ns >= near->ns[from] && i + 1 < clock->pair_count) {
        begin = near;
        end = near + 1;
    }
    if (begin != end) {
        rate = (double)(end->ns[to] - begin->ns[to]) / (double)(end->ns[from] - begin->ns[from]);
    }
    elapsed =
        time_ns >= near->ns[from] ? (double)(time_ns - near->ns[from]) : -(double)(near->ns[from] - time_ns);
    converted = elapsed * rate;
    if (converted >= 0) {
        return near->ns[to] + (uint64_t)converted;
    }
    return -converted < (double)near->ns[to] ? near->ns[to] - (uint64_t)-converted : 0;
}

/* Of the unwrapped times that a wrapped time can stand for, returns the one nearest to `about_ns`. */
ZT__PRIVATE uint64_t zt__unwrap_near(const zt__clock *clock, uint64_t wrapped_ns, uint64_t about_ns) {
    uint64_t middle = about_ns + clock->wrap_ns / 2;
    if (!clock->wrap_ns || middle < wrapped_ns) {
        return wrapped_ns;
    }
    return wrapped_ns + (middle - wrapped_ns) / clock->wrap_ns * clock->wrap_ns;
}

/* Of the unwrapped times that a wrapped time can stand for, returns the first from `least_ns` on. */
ZT__PRIVATE uint64_t zt__unwrap_after(const zt__clock *clock, uint64_t wrapped_ns, uint64_t least_ns) {
    if (!clock->wrap_ns || wrapped_ns >= least_ns) {
        return wrapped_ns;
    }
    return wrapped_ns + (least_ns - wrapped_ns + clock->wrap_ns - 1) / clock->wrap_ns * clock->wrap_ns;
}

/* Returns the largest error that is expected of a device time that was converted from host time. */
ZT__PRIVATE uint64_t zt__clock_tolerance(const zt__clock *clock) {
    return clock->wrap_ns / 64;
}

ZT__PRIVATE int zt__is_clock_pair_due(const zt__clock *clock) {
    return clock->pair_count == 0 ||
           zt__now_ns() - clock->pairs[clock->pair_count - 1].ns[ZT__HOST] >= clock->interval_ns;
}

/* Adds a pair, unless it is before the last one, or so close to it that the rate between them may be wrong by
   more than a thousandth. When there is no room, every second pair is removed, and the interval doubles,
   unless there would be too few pairs between two wraps. */
ZT__PRIVATE void zt__add_clock_pair(zt__clock *clock, zt__clock_pair pair) {
    uint32_t i;
    if (clock->pair_count) {
        const zt__clock_pair *last = &clock->pairs[clock->pair_count - 1];
        uint64_t expected = zt__convert_time(clock, pair.ns[ZT__HOST], ZT__HOST, ZT__DEVICE);
        uint64_t next_ns = last->ns[ZT__HOST] + 1000 * (pair.error_ns + last->error_ns);
        pair.ns[ZT__DEVICE] = zt__unwrap_near(clock, pair.ns[ZT__DEVICE], expected);
        if (pair.ns[ZT__DEVICE] <= last->ns[ZT__DEVICE] || pair.ns[ZT__HOST] < next_ns) {
            return;
        }
    }
    if (clock->pair_count == ZT__MAX_CLOCK_PAIRS) {
        for (i = 0; i < ZT__MAX_CLOCK_PAIRS / 2; i++) {
            clock->pairs[i] = clock->pairs[i * 2];
        }
        clock->pair_count = ZT__MAX_CLOCK_PAIRS / 2;
        if (!clock->wrap_ns || clock->interval_ns * 2 <= clock->wrap_ns / ZT__MIN_PAIRS_PER_WRAP) {
            clock->interval_ns *= 2;
        }
    }
    clock->pairs[clock->pair_count++] = pair;
}

/* ---- what a stream shares with a profiler ---------------------------------------------------------------- */

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
    zt__group group;    /* constant, as the next two */
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

ZT__PRIVATE uint64_t zt__oldest_kept(uint64_t written, uint32_t capacity) {
    return written > capacity ? written - capacity : 0;
}

/* Called by the stream and by the profiler, when each no longer needs the data. The last one frees it. */
ZT__PRIVATE void zt__release_stream_data(zt__stream_data *data) {
    zt_allocator allocator = data->allocator;
    uint32_t owners, i;
    zt__lock(&data->mutex);
    owners = --data->owners;
    zt__unlock(&data->mutex);
    if (owners) {
        return;
    }
    for (i = 0; i < data->marker_count; i++) {
        zt__free(&allocator, data->markers[i]);
    }
    zt__map_free(&data->marker_names, &allocator);
    zt__free(&allocator, data->rows);
    zt__free(&allocator, data->row_values);
    zt__free(&allocator, data->sums);
    zt__free(&allocator, data->metrics);
    zt__free_group(&allocator, &data->group);
    pthread_mutex_destroy(&data->mutex);
    zt__free(&allocator, data);
}

ZT__PRIVATE void zt__keep_row(zt__stream_data *data, const zt__kept_row *row, const double *values) {
    size_t place, metrics = data->group.metric_count;
    zt__lock(&data->mutex);
    place = (size_t)(data->rows_written++ % data->row_capacity);
    data->rows[place] = *row;
    memcpy(data->row_values + place * metrics, values, metrics * sizeof *values);
    zt__unlock(&data->mutex);
}

/* ---- samples --------------------------------------------------------------------------------------------- */

typedef struct zt__timeline_sample {
    uint64_t begin_ns, end_ns; /* of the device, unwrapped */
    ze_command_list_handle_t list;
    uint64_t submitted_ns; /* host time */
    zt__origin origin;
    uint32_t region;
} zt__timeline_sample;

enum { ZT__MISSING_KEPT = 1024 };

/* A call that has executed command lists. */
typedef struct zt__execution {
    uint64_t begin_ns, end_ns; /* host time; `end_ns` is 0 until the call returns */
    uint32_t thread;
} zt__execution;

/* The newest samples. Guarded by the profiler's mutex. */
typedef struct zt__timeline {
    zt__clock clock;
    uint32_t capacity;
    uint64_t written;   /* ever */
    uint64_t ambiguous; /* samples that were not kept, because their times are uncertain */
    zt__timeline_sample *samples;
    double *values; /* of each, all columns */

    uint64_t missing_written, executions_written; /* ever */
    zt__missing *missing;                         /* a ring of the newest ZT__MISSING_KEPT */
    zt__execution *executions;                    /* a ring of the newest, as many as samples */

    uint64_t attributed; /* rows are attributed to all samples before this one */
    int is_attributing;  /* a thread is attributing rows */
    int attribute_again; /* rows or samples may have come since it began */
} zt__timeline;

/* Compares the clocks if that is due, or in any case with `now`. */
ZT__PRIVATE void zt__relate_clocks(zt_profiler *profiler, int now) {
    zt__timeline *timeline = profiler->timeline;
    zt__clock_pair pair;
    int due;
    if (!timeline || zt__is_device_lost(&profiler->diagnostics)) {
        return;
    }
    zt__lock(&profiler->mutex);
    due = now || zt__is_clock_pair_due(&timeline->clock);
    zt__unlock(&profiler->mutex);
    if (!due || zt__read_clocks(&profiler->driver, &timeline->clock, &pair) != ZE_RESULT_SUCCESS) {
        return;
    }
    zt__lock(&profiler->mutex);
    zt__add_clock_pair(&timeline->clock, pair);
    zt__unlock(&profiler->mutex);
}

ZT__PRIVATE void zt__timeline_before_batch(zt_profiler *profiler) {
    zt__relate_clocks(profiler, 0);
}

/* Keeps that a sample is missing, or with `by` -1 forgets that. The mutex is held. */
ZT__PRIVATE void zt__keep_missing(zt_profiler *profiler, const zt__missing *missing, int by) {
    zt__timeline *timeline = profiler->timeline;
    uint64_t i = timeline->missing_written, oldest = zt__oldest_kept(i, ZT__MISSING_KEPT);
    int is_same = 0;
    while (i > oldest && !is_same) {
        const zt__missing *kept = &timeline->missing[--i % ZT__MISSING_KEPT];
        is_same = kept->region == missing->region && kept->list == missing->list &&
                  kept->list_name == missing->list_name && kept->cause == missing->cause;
        oldest = by > 0 ? i : oldest; /* what is added may only continue the newest */
    }
    if (is_same) {
        timeline->missing[i % ZT__MISSING_KEPT].count += (uint32_t)by;
    } else if (by > 0) {
        timeline->missing[timeline->missing_written++ % ZT__MISSING_KEPT] = *missing;
    }
}

/* Keeps a call that begins to execute lists, or with 0 the end of this thread's newest. The mutex is held. */
ZT__PRIVATE void zt__keep_execution(zt_profiler *profiler, uint64_t begin_ns) {
    zt__timeline *timeline = profiler->timeline;
    uint32_t thread = zt__get_system_thread();
    uint64_t i = timeline->executions_written;
    zt__execution *execution;
    if (begin_ns) {
        execution = &timeline->executions[timeline->executions_written++ % timeline->capacity];
        execution->begin_ns = begin_ns;
        execution->end_ns = 0;
        execution->thread = thread;
        return;
    }
    for (; i > zt__oldest_kept(timeline->executions_written, timeline->capacity); i--) {
        execution = &timeline->executions[(i - 1) % timeline->capacity];
        if (execution->thread == thread) {
            execution->end_ns = execution->end_ns ? execution->end_ns : zt__now_ns();
            return;
        }
    }
}

/* Keeps a sample, with the mutex held. It ran between its submission and the moment at which it was seen
   complete. In that time the device's clock may have wrapped around: if the time stamps of the sample fit in
   two places, or in none, it is not kept. */
ZT__PRIVATE void zt__keep_sample(zt_profiler *profiler, const zt__reading *reading, const double *row) {
    zt__timeline *timeline = profiler->timeline;
    const zt__sample_times *times = &reading->times;
    const zt__slot *slot = reading->slot;
    const zt__clock *clock = &timeline->clock;
    size_t place = (size_t)(timeline->written % timeline->capacity);
    size_t columns = profiler->layout.column_count;
    uint64_t tolerance = zt__clock_tolerance(clock);
    uint64_t least = zt__convert_time(clock, times->not_before_ns, ZT__HOST, ZT__DEVICE);
    uint64_t most = zt__convert_time(clock, times->not_after_ns, ZT__HOST, ZT__DEVICE) + tolerance;
    zt__missing missing = {NULL, NULL, NULL, 0, ZT_CAUSE_COUNT, 1};
    zt__timeline_sample sample;
    least = least > tolerance ? least - tolerance : 0;
    sample.begin_ns = zt__unwrap_after(clock, zt__ticks_to_ns(clock, times->begin_ticks), least);
    sample.end_ns = sample.begin_ns + zt__ticks_to_ns(clock, times->end_ticks - times->begin_ticks);
    if (clock->wrap_ns && (sample.end_ns > most || sample.end_ns + clock->wrap_ns <= most)) {
        timeline->ambiguous++;
        missing.region = slot->region;
        missing.list = times->list;
        missing.list_name = slot->origin.list_name;
        missing.since_ns = times->not_before_ns;
        zt__keep_missing(profiler, &missing, 1);
        return;
    }
    sample.list = times->list;
    sample.submitted_ns = times->not_before_ns;
    sample.origin = slot->origin;
    sample.origin.submitted_by = reading->from == ZT__SLOT_ARMED ? 0 : slot->origin.submitted_by;
    sample.region = slot->region->index;
    timeline->samples[place] = sample;
    memcpy(timeline->values + place * columns, row, columns * sizeof *row);
    timeline->written++;
}

/* ---- attribution: the rows of streams within samples ----------------------------------------------------- */

/* The mutex of the stream is held. */
ZT__PRIVATE uint64_t zt__middle_of_row(const zt__stream_data *data, uint64_t index) {
    const zt__kept_row *row = &data->rows[index % data->row_capacity];
    return row->begin_ns + (row->end_ns - row->begin_ns) / 2;
}

/* Returns the first kept row whose middle is not before a time. The mutex of the stream is held. */
ZT__PRIVATE uint64_t zt__find_row(const zt__stream_data *data, uint64_t time_ns) {
    uint64_t low = zt__oldest_kept(data->rows_written, data->row_capacity), high = data->rows_written;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (zt__middle_of_row(data, middle) < time_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Sums the rows whose middle is between two times into `data->sums`. Rows that end at a marker are shorter
   than others, so metrics that are averaged are weighted by the length of the row. All other metrics count
   once a row. Returns 0 if rows of that time may still come. */
ZT__PRIVATE int zt__sum_rows(zt__stream_data *data, uint64_t begin_ns, uint64_t end_ns) {
    uint32_t metrics = data->group.metric_count, m;
    uint64_t index;
    int complete;
    memset(data->sums, 0, metrics * sizeof *data->sums);
    zt__lock(&data->mutex);
    complete =
        !data->is_open || (data->rows_written && zt__middle_of_row(data, data->rows_written - 1) >= end_ns);
    if (complete) {
        for (index = zt__find_row(data, begin_ns);
             index < data->rows_written && zt__middle_of_row(data, index) < end_ns; index++) {
            size_t place = (size_t)(index % data->row_capacity);
            const double *values = data->row_values + place * metrics;
            double lasted = (double)(data->rows[place].end_ns - data->rows[place].begin_ns);
            for (m = 0; m < metrics; m++) {
                int is_mean = data->metrics[m].aggregation == ZT_AGGREGATE_MEAN;
                if (!zt__is_nan(values[m])) {
                    zt__add_value(&data->sums[m], values[m], is_mean ? lasted : 1.0);
                }
            }
        }
    }
    zt__unlock(&data->mutex);
    return complete;
}

/* Makes room for the streamed metrics of a region. Streams attach at the end, so existing metrics keep their
   indices. Returns 0 without memory. */
ZT__PRIVATE int zt__make_room_for_streamed(zt_profiler *profiler, zt__region_record *region, uint32_t count) {
    const zt_allocator *allocator = &profiler->config.allocator;
    zt__moments *streamed, *before = region->streamed;
    if (region->streamed_count >= count) { /* no other thread writes this, so it is read without the mutex */
        return 1;
    }
    streamed = (zt__moments *)zt__allocate(allocator, count, sizeof *streamed);
    if (!streamed) {
        return 0;
    }
    zt__lock(&profiler->mutex);
    if (before) {
        memcpy(streamed, before, region->streamed_count * sizeof *streamed);
    }
    region->streamed = streamed;
    region->streamed_count = count;
    zt__unlock(&profiler->mutex);
    zt__free(allocator, before);
    return 1;
}

/* Attributes rows to the next sample. Returns 0 if there is no sample, or if its rows may still come. If
   there is no memory, the sample gets no rows. */
ZT__PRIVATE int zt__attribute_next_sample(zt_profiler *profiler) {
    zt__timeline *timeline = profiler->timeline;
    zt__stream_data *first = NULL, *data;
    zt__region_record *region = NULL;
    uint64_t begin_ns = 0, end_ns = 0, index, oldest;
    uint32_t count, m;
    zt__lock(&profiler->mutex);
    oldest = zt__oldest_kept(timeline->written, timeline->capacity);
    if (timeline->attributed < oldest) {
        timeline->attributed = oldest;
    }
    index = timeline->attributed;
    count = profiler->streamed_count;
    if (index < timeline->written) {
        const zt__timeline_sample *sample = &timeline->samples[index % timeline->capacity];
        begin_ns = zt__convert_time(&timeline->clock, sample->begin_ns, ZT__DEVICE, ZT__HOST);
        end_ns = zt__convert_time(&timeline->clock, sample->end_ns, ZT__DEVICE, ZT__HOST);
        region = profiler->regions[sample->region];
        first = profiler->attached_streams;
    }
    zt__unlock(&profiler->mutex);
    if (!region) {
        return 0;
    }
    if (!zt__make_room_for_streamed(profiler, region, count)) {
        count = 0;
    }
    for (data = first; data && data->first_streamed < count; data = zt__load(&data->next)) {
        if (!zt__sum_rows(data, begin_ns, end_ns)) {
            return 0;
        }
    }
    zt__lock(&profiler->mutex);
    for (data = first; data && data->first_streamed < count; data = data->next) {
        for (m = 0; m < data->group.metric_count; m++) {
            zt__merge_moments(&region->streamed[data->first_streamed + m], &data->sums[m]);
        }
    }
    timeline->attributed = index + 1;
    zt__unlock(&profiler->mutex);
    return 1;
}

/* Attributes rows to the kept samples that ended before the newest row of every open stream. The caller may
   hold the collector, or the reader of a stream, but no mutex. If another thread is attributing rows already,
   that thread does this work, too. */
ZT__PRIVATE void zt__attribute_rows(zt_profiler *profiler) {
    zt__timeline *timeline = profiler->timeline;
    zt__lock(&profiler->mutex);
    timeline->attribute_again = 1;
    if (profiler->attached_streams && !timeline->is_attributing) {
        timeline->is_attributing = 1;
        while (timeline->attribute_again) {
            timeline->attribute_again = 0;
            zt__unlock(&profiler->mutex);
            while (zt__attribute_next_sample(profiler)) {
            }
            zt__lock(&profiler->mutex);
        }
        timeline->is_attributing = 0;
    }
    zt__unlock(&profiler->mutex);
}

/* ---- attaching streams ----------------------------------------------------------------------------------- */

ZT__PRIVATE void zt__attach_stream(zt_profiler *profiler, zt__stream_data *data) {
    zt__stream_data **place = &profiler->attached_streams;
    data->profiler = profiler; /* no mutex, because no other thread uses these yet */
    data->is_open = 1;
    data->owners++;
    zt__lock(&profiler->mutex);
    data->first_streamed = profiler->streamed_count;
    profiler->streamed_count += data->group.metric_count;
    while (*place) {
        place = &(*place)->next;
    }
    zt__store(place, data);
    zt__unlock(&profiler->mutex);
}

/* Returns the attached stream after `before`, or the first if that is NULL; NULL at the end. The data of
   streams stays until the profiler is closed. `group` and `metrics` may be read without a lock. */
ZT__PRIVATE zt__stream_data *zt__next_attached_stream(zt_profiler *profiler, zt__stream_data *before) {
    zt__stream_data *first;
    if (before) {
        return zt__load(&before->next);
    }
    zt__lock(&profiler->mutex);
    first = profiler->attached_streams;
    zt__unlock(&profiler->mutex);
    return first;
}

/* Attributes the rows of a stream that was read. Another thread may close the profiler meanwhile: it waits
   until `is_attributing` is 0. */
ZT__PRIVATE void zt__attribute_rows_of_stream(zt__stream_data *data) {
    zt_profiler *profiler;
    zt__lock(&data->mutex);
    profiler = data->profiler;
    data->is_attributing = profiler != NULL;
    zt__unlock(&data->mutex);
    if (!profiler) {
        return;
    }
    zt__attribute_rows(profiler);
    zt__lock(&data->mutex);
    data->is_attributing = 0;
    zt__unlock(&data->mutex);
}

/* Detaches all streams, so that threads that read them no longer use the profiler. Their data stays until all
   are detached, because a thread that attributes the rows of one stream reads those of the others. Returns 0
   if such a thread does not finish before the deadline. */
ZT__PRIVATE int zt__detach_streams(zt_profiler *profiler, uint64_t deadline) {
    zt__wait wait = zt__wait_until(deadline);
    zt__stream_data *data = NULL;
    while ((data = zt__next_attached_stream(profiler, data)) != NULL) {
        int is_attributing;
        do {
            zt__lock(&data->mutex);
            data->profiler = NULL;
            is_attributing = data->is_attributing;
            zt__unlock(&data->mutex);
        } while (is_attributing && zt__wait_again(&wait));
        if (is_attributing) {
            return 0;
        }
    }
    return 1;
}

/* ---- opening and closing --------------------------------------------------------------------------------- */

/* Releases the timeline and the data of the streams, which are detached. */
ZT__PRIVATE void zt__close_timeline(zt_profiler *profiler) {
    const zt_allocator *allocator = &profiler->config.allocator;
    zt__timeline *timeline = profiler->timeline;
    while (profiler->attached_streams) {
        zt__stream_data *data = profiler->attached_streams;
        profiler->attached_streams = data->next;
        zt__release_stream_data(data);
    }
    profiler->timeline = NULL;
    if (timeline) {
        zt__free(allocator, timeline->samples);
        zt__free(allocator, timeline->values);
        zt__free(allocator, timeline->missing);
        zt__free(allocator, timeline->executions);
        zt__free(allocator, timeline);
    }
}

/* If the clocks cannot be compared, reports this and succeeds without a timeline. On failure, the caller
   destroys the profiler. */
ZT__PRIVATE ze_result_t zt__open_timeline(zt_profiler *profiler) {
    const zt_allocator *allocator = &profiler->config.allocator;
    const char *call = "zeDeviceGetGlobalTimestamps";
    zt__timeline *timeline = (zt__timeline *)zt__allocate(allocator, 1, sizeof *timeline);
    zt__clock_pair pair;
    ze_result_t result;
    if (!timeline) {
        return zt__report_no_memory(&profiler->diagnostics, "zt_open", "the timeline");
    }
    profiler->timeline = timeline;
    timeline->capacity = profiler->config.timeline;
    timeline->samples =
        (zt__timeline_sample *)zt__allocate(allocator, timeline->capacity, sizeof *timeline->samples);
    timeline->values = (double *)zt__allocate(allocator, timeline->capacity,
                                              profiler->layout.column_count * sizeof *timeline->values);
    timeline->missing = (zt__missing *)zt__allocate(allocator, ZT__MISSING_KEPT, sizeof *timeline->missing);
    timeline->executions =
        (zt__execution *)zt__allocate(allocator, timeline->capacity, sizeof *timeline->executions);
    if (!timeline->samples || !timeline->values || !timeline->missing || !timeline->executions) {
        return zt__report_no_memory(&profiler->diagnostics, "zt_open", "the timeline");
    }
    zt__init_clock(&timeline->clock, profiler->device, NULL, (uint64_t)(1e9 / profiler->ns_per_tick + 0.5),
                   profiler->tick_mask);
    result = zt__read_clocks(&profiler->driver, &timeline->clock, &pair);
    if (zt__means_device_loss(result)) {
        return zt__check(&profiler->diagnostics, result, call, "");
    }
    if (result != ZE_RESULT_SUCCESS) {
        zt__report(&profiler->diagnostics, CLOCKS_UNRELATED, result, call, zt_result_name(result));
        zt__close_timeline(profiler);
        return ZE_RESULT_SUCCESS;
    }
    zt__add_clock_pair(&timeline->clock, pair);
    profiler->before_batch = zt__timeline_before_batch;
    profiler->sample_collected = zt__keep_sample;
    profiler->sample_missing = zt__keep_missing;
    profiler->lists_executed = zt__keep_execution;
    profiler->batch_collected = zt__attribute_rows;
    return result;
}

/* ---- for reports: copies of one sample or row ------------------------------------------------------------ */

/* Gets the indices of kept samples, from *first up to but not including *end. None without a timeline. */
ZT__PRIVATE void zt__get_kept_samples(zt_profiler *profiler, uint64_t *first, uint64_t *end) {
    const zt__timeline *timeline = profiler->timeline;
    *first = *end = 0;
    if (timeline) {
        zt__lock(&profiler->mutex);
        *end = timeline->written;
        *first = zt__oldest_kept(timeline->written, timeline->capacity);
        zt__unlock(&profiler->mutex);
    }
}

/* Copies a sample, with times of the host, and its values, one for each column of the profiler's layout.
   Returns 0 if a newer sample has replaced it. */
ZT__PRIVATE int zt__copy_kept_sample(zt_profiler *profiler, uint64_t index, zt__timeline_sample *sample,
                                     double *values) {
    const zt__timeline *timeline = profiler->timeline;
    size_t place = (size_t)(index % timeline->capacity), columns = profiler->layout.column_count;
    int is_kept;
    zt__lock(&profiler->mutex);
    is_kept = index >= zt__oldest_kept(timeline->written, timeline->capacity);
    if (is_kept) {
        *sample = timeline->samples[place];
        sample->begin_ns = zt__convert_time(&timeline->clock, sample->begin_ns, ZT__DEVICE, ZT__HOST);
        sample->end_ns = zt__convert_time(&timeline->clock, sample->end_ns, ZT__DEVICE, ZT__HOST);
        memcpy(values, timeline->values + place * columns, columns * sizeof *values);
    }
    zt__unlock(&profiler->mutex);
    return is_kept;
}

/* Gets the indices of kept rows, from *first up to but not including *end. */
ZT__PRIVATE void zt__get_kept_rows(zt__stream_data *data, uint64_t *first, uint64_t *end) {
    zt__lock(&data->mutex);
    *end = data->rows_written;
    *first = zt__oldest_kept(data->rows_written, data->row_capacity);
    zt__unlock(&data->mutex);
}

/* Copies a row and its values, one for each metric. Returns 0 if a newer row has replaced it. */
ZT__PRIVATE int zt__copy_kept_row(zt__stream_data *data, uint64_t index, zt__kept_row *row, double *values) {
    size_t place = (size_t)(index % data->row_capacity), metrics = data->group.metric_count;
    int is_kept;
    zt__lock(&data->mutex);
    is_kept = index >= zt__oldest_kept(data->rows_written, data->row_capacity);
    if (is_kept) {
        *row = data->rows[place];
        memcpy(values, data->row_values + place * metrics, metrics * sizeof *values);
    }
    zt__unlock(&data->mutex);
    return is_kept;
}

/* ---- public ---------------------------------------------------------------------------------------------- */

ZT_API uint32_t zt_get_streamed_count(const zt_profiler *profiler) {
    uint32_t count;
    if (!profiler) {
        return 0;
    }
    zt__lock(&zt__mutable(profiler)->mutex);
    count = profiler->streamed_count;
    zt__unlock(&zt__mutable(profiler)->mutex);
    return count;
}

ZT_API const zt_metric *zt_get_streamed_metric(const zt_profiler *profiler, uint32_t metric) {
    zt__stream_data *data = NULL;
    if (!profiler || metric >= zt_get_streamed_count(profiler)) {
        return NULL;
    }
    do {
        data = zt__next_attached_stream(zt__mutable(profiler), data);
    } while (data && metric - data->first_streamed >= data->group.metric_count);
    return data ? &data->metrics[metric - data->first_streamed] : NULL;
}

ZT_API ze_result_t zt_get_streamed(const zt_profiler *profiler, uint32_t region, uint32_t metric,
                                   zt_streamed *streamed) {
    const char *call = "zt_get_streamed";
    const zt__region_record *record;
    zt__moments moments;
    ze_result_t result;
    memset(&moments, 0, sizeof moments);
    if (streamed) {
        streamed->rows = 0;
        streamed->mean = streamed->peak = zt__nan();
    }
    record = zt__get_record(profiler, call, region, "streamed", streamed, &result);
    if (!record) {
        return result;
    }
    if (metric >= zt_get_streamed_count(profiler)) {
        return zt__report_index(profiler, call, "streamed", metric);
    }
    zt__lock(&zt__mutable(profiler)->mutex);
    if (metric < record->streamed_count) {
        moments = record->streamed[metric];
    }
    zt__unlock(&zt__mutable(profiler)->mutex);
    if (moments.count) {
        streamed->rows = moments.count;
        streamed->mean = moments.weight > 0 ? moments.mean : zt__nan();
        streamed->peak = moments.max;
    }
    return ZE_RESULT_SUCCESS;
}

ZT_API zt_timeline_info zt_get_timeline(const zt_profiler *profiler) {
    zt_timeline_info info;
    zt_profiler *locked = zt__mutable(profiler);
    zt__stream_data *data = NULL;
    uint64_t first, end;
    memset(&info, 0, sizeof info);
    if (!profiler || !profiler->timeline) {
        return info;
    }
    zt__get_kept_samples(locked, &first, &end);
    info.samples = end - first;
    zt__lock(&locked->mutex);
    info.lost_samples = first + locked->timeline->ambiguous; /* newer ones replaced the first */
    info.pairs = locked->timeline->clock.pair_count;
    zt__unlock(&locked->mutex);
    while ((data = zt__next_attached_stream(locked, data)) != NULL) {
        zt__get_kept_rows(data, &first, &end);
        info.rows += end - first;
        info.lost_rows += first;
    }
    return info;
}

/* ==== >>advice: which metrics matter, and what limits a region ============================================ */

/* ---- roles of metrics ------------------------------------------------------------------------------------ */

/* What a metric measures. Tables show metrics without a role in this order. */
typedef enum zt__quantity {
    ZT__QUANTITY_SHARE,  /* percent, of the time or of something else */
    ZT__QUANTITY_RATE,   /* bytes a second; as a figure, GB a second */
    ZT__QUANTITY_BYTES,  /* as a figure, GB a second */
    ZT__QUANTITY_EVENTS, /* as a figure, a nanosecond */
    ZT__QUANTITY_OTHER,  /* frequencies, clock cycles, times, ratios; as a figure, microseconds */
    ZT__QUANTITY_NOTHING /* nothing that can be compared: identifiers, flags, time stamps, uncertainties */
} zt__quantity;

/* How metrics are named depends on the metric sets of a device. */
enum {
    ZT__NAMES_XE2,       /* Battlemage and Lunar Lake, and Ponte Vecchio: XVE_STALL */
    ZT__NAMES_ALCHEMIST, /* XveStall */
    ZT__NAMES_GEN,       /* Gen9 to Gen12: EuStall */
    ZT__NAMING_COUNT
};

/* The role of a figure: what it shows of the work, whatever a device calls the metric. A metric has a role if
   its name is one of the role's and its quantity is that of the role. Roles without names of metrics are
   derived from other roles. Columns: role; 1 if tables show it, in this order; quantity; name in texts; names
   of the metric on Xe2, on Alchemist, and before Alchemist. Sources of the names: Intel, "Metrics Discovery
   Application Programming Interface" (metric sets of each device), and the metric sets of Mesa
   (src/intel/perf). ALU0, ALU1 and ALU2 of Xe2 are the pipes that Alchemist calls FPU, EM and XMX. */
/* clang-format off */
#define ZT__ROLES(X)                                                                                         \
    X(EU_ACTIVE,         1, SHARE,  "EU active",                   "XVE_ACTIVE", "XveActive", "EuActive")    \
    X(EU_STALL,          1, SHARE,  "EU stall",                    "XVE_STALL", "XveStall", "EuStall")       \
    X(EU_OCCUPANCY,      1, SHARE,  "EU occupancy",                                                          \
        "XVE_THREADS_OCCUPANCY_ALL", "XveThreadOccupancy", "EuThreadOccupancy")                              \
    X(XMX_ACTIVE,        1, SHARE,  "XMX active",                                                            \
        "XVE_INST_EXECUTED_ALU2_ALL_UTILIZATION,XVE_INST_EXECUTED_XMX_ALL_UTILIZATION", "XmxActive", "")     \
    X(MEMORY_READ_RATE,  1, RATE,   "memory read",                 "GPU_MEMORY_BYTE_READ_RATE", "", "")      \
    X(MEMORY_WRITE_RATE, 1, RATE,   "memory written",              "GPU_MEMORY_BYTE_WRITE_RATE", "", "")     \
    X(MEMORY_READ,       1, BYTES,  "memory read",                                                           \
        "GPU_MEMORY_BYTE_READ", "GtiReadThroughput", "GtiReadThroughput")                                    \
    X(MEMORY_WRITTEN,    1, BYTES,  "memory written",                                                        \
        "GPU_MEMORY_BYTE_WRITE", "GtiWriteThroughput", "GtiWriteThroughput")                                 \
    X(MEMORY_QUEUE_FULL, 1, SHARE,  "memory queue full",                                                     \
        "GPU_MEMORY_REQUEST_QUEUE_FULL", "", "")                                                             \
    X(L3_HIT_SHARE,      1, SHARE,  "L3 hits",                     "", "", "")                               \
    X(LSC_HIT_SHARE,     1, SHARE,  "LSC hits",                    "", "", "")                               \
    X(L3_STALL,          1, SHARE,  "L3 stall",                    "L3_STALL", "", "")                       \
    X(SLM_READ,          1, BYTES,  "SLM read",                    "SLM_BYTE_READ", "", "SlmBytesRead")      \
    X(SLM_WRITTEN,       1, BYTES,  "SLM written",                                                           \
        "SLM_BYTE_WRITE", "", "SlmBytesWritten")                                                             \
    X(ALU0_ACTIVE,       1, SHARE,  "ALU0 active",                                                           \
        "XVE_INST_EXECUTED_ALU0_ALL_UTILIZATION", "FpuActive", "Fpu0Active,FpuActive")                       \
    X(ALU1_ACTIVE,       1, SHARE,  "ALU1 active",                                                           \
        "XVE_INST_EXECUTED_ALU1_ALL_UTILIZATION", "EmActive", "Fpu1Active,EmActive")                         \
    X(GPU_BUSY,          1, SHARE,  "GPU busy",                    "GPU_BUSY", "GpuBusy", "GpuBusy")         \
    X(COMPUTE_BUSY,      1, SHARE,  "compute engine busy",                                                   \
        "COMMAND_PARSER_COMPUTE_ENGINE_BUSY", "", "")                                                        \
    X(L3_HITS,           0, EVENTS, "L3 hits",                     "L3_HIT", "", "")                         \
    X(L3_MISSES,         0, EVENTS, "L3 misses",                   "L3_MISS", "", "L3Misses")                \
    X(LSC_ACCESSES,      0, EVENTS, "LSC accesses",                "LOAD_STORE_CACHE_ACCESS", "", "")        \
    X(LSC_HITS,          0, EVENTS, "LSC hits",                    "LOAD_STORE_CACHE_HIT", "", "")           \
    X(ALU0_INSTRUCTIONS, 0, EVENTS, "ALU0 instructions",           "XVE_INST_EXECUTED_ALU0_ALL", "", "")     \
    X(ALU1_INSTRUCTIONS, 0, EVENTS, "ALU1 instructions",           "XVE_INST_EXECUTED_ALU1_ALL", "", "")     \
    X(XMX_INSTRUCTIONS,  0, EVENTS, "XMX instructions",                                                      \
        "XVE_INST_EXECUTED_ALU2_ALL,XVE_INST_EXECUTED_XMX_ALL", "", "")                                      \
    X(COMPUTE_KERNELS,   0, EVENTS, "kernels",                                                               \
        "COMMAND_PARSER_COMPUTE_ENGINE_DISPATCH_KERNEL_COUNT", "", "")                                       \
    X(RENDER_KERNELS,    0, EVENTS, "kernels",                                                               \
        "COMMAND_PARSER_RENDER_ENGINE_DISPATCH_KERNEL_COUNT", "", "")                                        \
    X(MEMORY_TRAFFIC,    0, RATE,   "memory traffic",              "", "", "")                               \
    X(MEMORY_SHARE,      0, SHARE,  "of the peak bandwidth",       "", "", "")                               \
    X(KERNEL_TIME,       0, OTHER,  "time of a kernel",            "", "", "")                               \
    X(IDLE_TIME,         0, OTHER,  "idle inside the region",      "", "", "")                               \
    X(WALL_SHARE,        0, SHARE,  "of the wall time in regions", "", "", "")
/* clang-format on */

typedef enum zt__role {
    ZT__NO_ROLE,
#define X(role, is_column, quantity, name, xe2, alchemist, gen) ZT__ROLE_##role,
    ZT__ROLES(X)
#undef X
        ZT__ROLE_COUNT
} zt__role;

static const struct zt__role_description {
    int is_column;
    zt__quantity quantity;
    const char *name;
    const char *metrics[ZT__NAMING_COUNT]; /* names, separated by commas */
} zt__roles[ZT__ROLE_COUNT] = {
    /* clang-format off */
    {0, ZT__QUANTITY_NOTHING, "", {"", "", ""}},
#define X(role, is_column, quantity, name, xe2, alchemist, gen)                                              \
    {is_column, ZT__QUANTITY_##quantity, name, {xe2, alchemist, gen}},
    ZT__ROLES(X)
#undef X
    /* clang-format on */
};

/* What is the same for all regions: the metric that has each role, and figures of the device. Prepared once
   for a report, so that names are not compared again for each region. */
typedef struct zt__advice {
    uint32_t metrics[ZT__ROLE_COUNT];  /* of the profiler; UINT32_MAX: none */
    uint32_t streamed[ZT__ROLE_COUNT]; /* of attached streams, shares only; UINT32_MAX: none */
    uint32_t naming;                   /* ZT__NAMES_; ZT__NAMING_COUNT: no metric has a role */
    zt__peaks peaks;                   /* given, or the design bandwidth of the device's memory */
    double wall_share;                 /* of regions in the wall time, in percent; NaN: not known */
} zt__advice;

ZT__PRIVATE zt__quantity zt__quantity_of(const zt_metric *metric) {
    int is_event = metric->type == ZET_METRIC_TYPE_EVENT;
    if (metric->aggregation == ZT_AGGREGATE_FLAG || metric->aggregation == ZT_AGGREGATE_NONE ||
        strstr(metric->name, "Uncertainty")) {
        return ZT__QUANTITY_NOTHING;
    }
    if (!is_event && (strcmp(metric->units, "percent") == 0 || strcmp(metric->units, "%") == 0)) {
        return ZT__QUANTITY_SHARE;
    }
    if (zt__ends_with(metric->units, "BpS", strcmp) || zt__ends_with(metric->units, "Bps", strcmp)) {
        return ZT__QUANTITY_RATE;
    }
    if (strcmp(metric->units, "bytes") == 0) {
        return ZT__QUANTITY_BYTES; /* older metric sets count bytes, but give them the type of throughputs */
    }
    if (metric->aggregation == ZT_AGGREGATE_SUM && strcmp(metric->units, "cycles") != 0 &&
        strcmp(metric->units, "ns") != 0) {
        return ZT__QUANTITY_EVENTS;
    }
    return ZT__QUANTITY_OTHER;
}

/* Stores the roles that a metric has, unless an earlier metric has them. A name that is in one naming alone
   also shows which naming the device uses. */
ZT__PRIVATE void zt__match_roles(const zt_metric *metric, uint32_t index, uint32_t *of_roles,
                                 uint32_t *naming) {
    zt__quantity quantity = zt__quantity_of(metric);
    uint32_t role, i;
    for (role = ZT__NO_ROLE + 1; role < ZT__ROLE_COUNT; role++) {
        const struct zt__role_description *described = &zt__roles[role];
        uint32_t found = 0, last = 0;
        for (i = 0; i < ZT__NAMING_COUNT && described->quantity == quantity; i++) {
            if (described->metrics[i][0] && zt__is_selected(described->metrics[i], metric->name)) {
                last = i;
                found++;
            }
        }
        if (found && of_roles[role] == UINT32_MAX) {
            of_roles[role] = index;
        }
        if (found == 1 && *naming == ZT__NAMING_COUNT) {
            *naming = last;
        }
    }
}

/* Returns the bandwidth for which the device's memory is designed, in GB a second; 0 if it is not known.
   ZE_extension_device_memory_properties reports it. It cannot be computed from the clock rate and bus width
   that every device reports: their units and the transfers in a clock cycle are not specified. Reads and
   writes are assumed to share one bus. With several memories or tiles it is not known which of them a region
   uses. */
ZT__PRIVATE double zt__get_design_bandwidth(const zt_profiler *profiler) {
    ze_device_memory_properties_t memories[2];
    ze_device_memory_ext_properties_t extended[2];
    uint32_t i, count = 2;
    ze_result_t result;
    if (!profiler->device || profiler->tile_count > 0 ||
        zt__is_device_lost(&zt__mutable(profiler)->diagnostics)) {
        return 0;
    }
    memset(memories, 0, sizeof memories);
    memset(extended, 0, sizeof extended);
    for (i = 0; i < count; i++) {
        memories[i].stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES;
        memories[i].pNext = &extended[i];
        extended[i].stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_EXT_PROPERTIES;
    }
    ZT__INTERNAL(result = zeDeviceGetMemoryProperties(profiler->device, &count, memories));
    if (result != ZE_RESULT_SUCCESS || count != 1 || extended[0].readBandwidth == 0 ||
        extended[0].bandwidthUnit != ZE_BANDWIDTH_UNIT_BYTES_PER_NANOSEC) {
        return 0;
    }
    return extended[0].readBandwidth > extended[0].writeBandwidth ? extended[0].readBandwidth
                                                                  : extended[0].writeBandwidth;
}

/* Returns the share of regions in the time from the first kept sample to the last, in percent; NaN without a
   timeline, or with fewer than two samples. Samples that overlap count twice, so this is an upper bound. */
ZT__PRIVATE double zt__get_wall_share(zt_profiler *profiler) {
    enum { AT_ONCE = 1024 };
    const zt__timeline *timeline = profiler->timeline;
    uint64_t i, end, begin_ns = UINT64_MAX, end_ns = 0, count = 0;
    double used = 0;
    zt__get_kept_samples(profiler, &i, &end);
    while (i < end) {
        uint32_t locked;
        zt__lock(&profiler->mutex);
        if (i < zt__oldest_kept(timeline->written, timeline->capacity)) {
            i = zt__oldest_kept(timeline->written, timeline->capacity);
        }
        for (locked = 0; locked < AT_ONCE && i < end; locked++, i++) {
            const zt__timeline_sample *sample = &timeline->samples[i % timeline->capacity];
            begin_ns = sample->begin_ns < begin_ns ? sample->begin_ns : begin_ns;
            end_ns = sample->end_ns > end_ns ? sample->end_ns : end_ns;
            used += (double)(sample->end_ns - sample->begin_ns);
            count++;
        }
        zt__unlock(&profiler->mutex);
    }
    if (count < 2 || end_ns <= begin_ns) {
        return zt__nan();
    }
    used = 100 * used / (double)(end_ns - begin_ns);
    return used < 100 ? used : 100;
}

ZT__PRIVATE void zt__prepare_advice(const zt_profiler *profiler, zt__advice *advice) {
    uint32_t i, streamed = zt_get_streamed_count(profiler);
    memset(advice->metrics, 0xFF, sizeof advice->metrics);
    memset(advice->streamed, 0xFF, sizeof advice->streamed);
    advice->naming = ZT__NAMING_COUNT;
    for (i = 0; i < profiler->metric_count; i++) {
        zt__match_roles(&profiler->metrics[i], i, advice->metrics, &advice->naming);
    }
    for (i = 0; i < streamed; i++) {
        const zt_metric *metric = zt_get_streamed_metric(profiler, i);
        if (metric && zt__quantity_of(metric) == ZT__QUANTITY_SHARE) {
            zt__match_roles(metric, i, advice->streamed, &advice->naming);
        }
    }
    zt__lock(&zt__mutable(profiler)->mutex);
    advice->peaks = profiler->peaks;
    zt__unlock(&zt__mutable(profiler)->mutex);
    if (!(advice->peaks.bytes > 0) && !(advice->peaks.operations > 0)) {
        advice->peaks.bytes = zt__get_design_bandwidth(profiler) * 1e9;
        strcpy(advice->peaks.source, "reported by the driver");
    }
    advice->wall_share = zt__get_wall_share(zt__mutable(profiler));
}

/* ---- figures of a region --------------------------------------------------------------------------------- */

/* Returns the factor that converts a rate in these units to GB a second. */
ZT__PRIVATE double zt__scale_of_rate(const char *units) {
    switch (units[0]) {
    case 'T':
        return 1e3;
    case 'G':
        return 1;
    case 'M':
        return 1e-3;
    case 'k':
    case 'K':
        return 1e-6;
    default:
        return 1e-9;
    }
}

/* Returns the figure of a role from the metric of the profiler that has it, or else from that of a stream;
   NaN if neither was measured in the region. What adds up is divided by the GPU time of its pass, so that
   figures of different passes can be compared. The mutex is held. */
ZT__PRIVATE double zt__read_figure(const zt_profiler *profiler, const zt__advice *advice,
                                   const zt__region_record *record, zt__role role) {
    const zt__moments *moments = record->statistics.moments;
    uint32_t index = advice->metrics[role];
    zt__quantity quantity = zt__roles[role].quantity;
    if (index != UINT32_MAX && moments && moments[1 + index].count) {
        const zt_metric *metric = &profiler->metrics[index];
        const zt__moments *of_metric = &moments[1 + index];
        const zt__moments *of_time = &moments[zt__pass_time_column(profiler, metric->pass)];
        if (quantity == ZT__QUANTITY_BYTES || quantity == ZT__QUANTITY_EVENTS) {
            return zt__is_positive(of_time->sum) ? of_metric->sum / of_time->sum : zt__nan();
        }
        if (of_metric->weight > 0) {
            return quantity == ZT__QUANTITY_RATE ? of_metric->mean * zt__scale_of_rate(metric->units)
                                                 : of_metric->mean;
        }
    }
    index = advice->streamed[role];
    if (index < record->streamed_count && record->streamed[index].weight > 0) {
        return record->streamed[index].mean;
    }
    return zt__nan();
}

/* Returns how much a part is of a whole, in percent; NaN if either was not measured, or the whole is 0. */
ZT__PRIVATE double zt__percent_of(double part, double whole) {
    return zt__is_positive(whole) && !zt__is_nan(part) ? 100 * part / whole : zt__nan();
}

ZT__PRIVATE double zt__first_measured(double first, double second) {
    return zt__is_nan(first) ? second : first;
}

/* Fills in the figure of each role, NaN where it is not known. The mutex is not held. */
ZT__PRIVATE void zt__read_figures(zt_profiler *profiler, const zt__advice *advice,
                                  const zt__region_record *record, double figures[ZT__ROLE_COUNT]) {
    double time = zt__nan(), read, written, kernels, busy;
    uint32_t role;
    zt__lock(&profiler->mutex);
    for (role = ZT__NO_ROLE; role < ZT__ROLE_COUNT; role++) {
        double figure = zt__read_figure(profiler, advice, record, (zt__role)role);
        figures[role] = zt__is_finite(figure) ? figure : zt__nan();
    }
    if (record->statistics.moments && record->statistics.moments[0].count) {
        time = record->statistics.moments[0].sum / (double)record->statistics.moments[0].count;
    }
    zt__unlock(&profiler->mutex);
    figures[ZT__ROLE_L3_HIT_SHARE] =
        zt__percent_of(figures[ZT__ROLE_L3_HITS], figures[ZT__ROLE_L3_HITS] + figures[ZT__ROLE_L3_MISSES]);
    figures[ZT__ROLE_LSC_HIT_SHARE] =
        zt__percent_of(figures[ZT__ROLE_LSC_HITS], figures[ZT__ROLE_LSC_ACCESSES]);
    read = zt__first_measured(figures[ZT__ROLE_MEMORY_READ_RATE], figures[ZT__ROLE_MEMORY_READ]);
    written = zt__first_measured(figures[ZT__ROLE_MEMORY_WRITE_RATE], figures[ZT__ROLE_MEMORY_WRITTEN]);
    figures[ZT__ROLE_MEMORY_TRAFFIC] = zt__first_measured(zt__first_measured(read + written, read), written);
    figures[ZT__ROLE_MEMORY_SHARE] =
        zt__percent_of(figures[ZT__ROLE_MEMORY_TRAFFIC], advice->peaks.bytes / 1e9);
    /* A region has at least one kernel, so without their number this is the most that one takes. */
    busy = zt__first_measured(figures[ZT__ROLE_GPU_BUSY], 100) / 100;
    kernels = zt__first_measured(figures[ZT__ROLE_COMPUTE_KERNELS], 0) +
              zt__first_measured(figures[ZT__ROLE_RENDER_KERNELS], 0);
    figures[ZT__ROLE_KERNEL_TIME] = (kernels > 0 ? 1 / kernels : time) * busy / 1000;
    figures[ZT__ROLE_IDLE_TIME] = time * (1 - figures[ZT__ROLE_GPU_BUSY] / 100) / 1000;
    figures[ZT__ROLE_WALL_SHARE] = zt__is_nan(time) ? zt__nan() : advice->wall_share;
}

/* ---- rules ----------------------------------------------------------------------------------------------- */

typedef enum zt__relation { ZT__NO_CONDITION, ZT__BELOW, ZT__AT_LEAST } zt__relation;

typedef struct zt__rule {
    zt_limit limit;
    const char *reason;
    struct {
        zt__role role;
        zt__relation relation;
        double threshold;
    } conditions[2];
    zt__role shown[3]; /* further figures for the text */
} zt__rule;

/* The first rule of which all conditions hold names what limits a region. A figure that was not measured
   fulfils no condition.

   Order. Where the GPU waits for work, all other figures are low and mean nothing, so this comes first. Units
   that are saturated come next, memory before pipes: saturated memory also stalls the pipes, while busy pipes
   do not saturate memory. Then come threads that wait, or that are too few. The share of the wall time comes
   last, because it is of all regions together. This is the order of [Gen9] for compute work, with the host
   before it, as [VTune] has GPU Offload before GPU Compute.

   Sources of the thresholds:
   [VTune]  Intel, "VTune Profiler User Guide", Window: Summary - GPU Analysis: a GPU that is used for less
            than 80% is an issue.
   [HTA]    Meta, "Holistic Trace Analysis", CUDA Kernel Launch Statistics: a launch takes the host between 5
            and 20 us. Level Zero is alike: from 5 to 10 us were measured on an immediate list.
   [Gen9]   Intel, "Graphics API Performance Guide for Intel Processor Graphics Gen9", 6.2 Performance
            Analysis with Hardware Metrics: memory is the primary hotspot if its queue (SQ, which is also
            that of GPU_MEMORY_REQUEST_QUEUE_FULL) is full for more than 90%; threads are too few if the
            occupancy is not above 80%; from 10% on, a stall matters.
   [SOL]    NVIDIA, "The Peak-Performance-Percentage Analysis Method for Optimizing Any GPU Workload": a unit
            above 80% of its peak is the limit; below 60%, it is not.
   [own]    chosen here: most of the time. */
static const zt__rule zt__rules[] = {
    /* [HTA], [VTune] */
    {ZT_LIMIT_LAUNCH,
     "kernels take less time than their launches, and the GPU waits inside the region",
     {{ZT__ROLE_KERNEL_TIME, ZT__BELOW, 10}, {ZT__ROLE_GPU_BUSY, ZT__BELOW, 80}},
     {ZT__NO_ROLE}},
    {ZT_LIMIT_LAUNCH,
     "kernels take less time than their launches, and the GPU waits between regions",
     {{ZT__ROLE_KERNEL_TIME, ZT__BELOW, 10}, {ZT__ROLE_WALL_SHARE, ZT__BELOW, 80}},
     {ZT__NO_ROLE}},
    /* [VTune]; and [HTA], because a region on an immediate list contains a gap of one launch */
    {ZT_LIMIT_HOST,
     "the GPU waits for work inside the region",
     {{ZT__ROLE_GPU_BUSY, ZT__BELOW, 80}, {ZT__ROLE_IDLE_TIME, ZT__AT_LEAST, 20}},
     {ZT__ROLE_COMPUTE_BUSY, ZT__ROLE_KERNEL_TIME}},
    /* [Gen9] */
    {ZT_LIMIT_MEMORY_BANDWIDTH,
     "the queue of memory requests is full",
     {{ZT__ROLE_MEMORY_QUEUE_FULL, ZT__AT_LEAST, 90}},
     {ZT__ROLE_MEMORY_TRAFFIC, ZT__ROLE_EU_STALL, ZT__ROLE_L3_HIT_SHARE}},
    /* [SOL] */
    {ZT_LIMIT_MEMORY_BANDWIDTH,
     "the traffic is near the peak bandwidth",
     {{ZT__ROLE_MEMORY_SHARE, ZT__AT_LEAST, 80}},
     {ZT__ROLE_MEMORY_TRAFFIC, ZT__ROLE_EU_STALL, ZT__ROLE_L3_HIT_SHARE}},
    {ZT_LIMIT_XMX,
     "the matrix engines are busy",
     {{ZT__ROLE_XMX_ACTIVE, ZT__AT_LEAST, 80}},
     {ZT__ROLE_EU_ACTIVE, ZT__ROLE_EU_STALL}},
    {ZT_LIMIT_COMPUTE,
     "a pipe of the vector engines is busy",
     {{ZT__ROLE_ALU0_ACTIVE, ZT__AT_LEAST, 80}},
     {ZT__ROLE_ALU1_ACTIVE, ZT__ROLE_EU_ACTIVE, ZT__ROLE_EU_STALL}},
    {ZT_LIMIT_COMPUTE,
     "a pipe of the vector engines is busy",
     {{ZT__ROLE_ALU1_ACTIVE, ZT__AT_LEAST, 80}},
     {ZT__ROLE_ALU0_ACTIVE, ZT__ROLE_EU_ACTIVE, ZT__ROLE_EU_STALL}},
    {ZT_LIMIT_COMPUTE,
     "the vector engines are busy",
     {{ZT__ROLE_EU_ACTIVE, ZT__AT_LEAST, 80}},
     {ZT__ROLE_EU_STALL, ZT__ROLE_XMX_ACTIVE}},
    /* [SOL], [Gen9] */
    {ZT_LIMIT_MEMORY_BANDWIDTH,
     "threads wait, and much of the peak bandwidth is used",
     {{ZT__ROLE_MEMORY_SHARE, ZT__AT_LEAST, 60}, {ZT__ROLE_EU_STALL, ZT__AT_LEAST, 10}},
     {ZT__ROLE_MEMORY_TRAFFIC, ZT__ROLE_L3_HIT_SHARE}},
    /* [own] */
    {ZT_LIMIT_MEMORY_BANDWIDTH,
     "threads wait, and the queue of memory requests is often full",
     {{ZT__ROLE_MEMORY_QUEUE_FULL, ZT__AT_LEAST, 50}, {ZT__ROLE_EU_STALL, ZT__AT_LEAST, 50}},
     {ZT__ROLE_MEMORY_TRAFFIC, ZT__ROLE_L3_HIT_SHARE}},
    /* [Gen9] */
    {ZT_LIMIT_LATENCY,
     "threads wait, and too few are loaded to hide it",
     {{ZT__ROLE_EU_STALL, ZT__AT_LEAST, 10}, {ZT__ROLE_EU_OCCUPANCY, ZT__BELOW, 80}},
     {ZT__ROLE_EU_ACTIVE, ZT__ROLE_MEMORY_TRAFFIC, ZT__ROLE_L3_HIT_SHARE}},
    {ZT_LIMIT_OCCUPANCY,
     "too few threads are loaded",
     {{ZT__ROLE_EU_OCCUPANCY, ZT__BELOW, 80}, {ZT__ROLE_EU_STALL, ZT__BELOW, 10}},
     {ZT__ROLE_EU_ACTIVE}},
    {ZT_LIMIT_CACHE,
     "threads wait for data, though enough are loaded to hide latency",
     {{ZT__ROLE_EU_STALL, ZT__AT_LEAST, 10}, {ZT__ROLE_EU_OCCUPANCY, ZT__AT_LEAST, 80}},
     {ZT__ROLE_L3_STALL, ZT__ROLE_L3_HIT_SHARE, ZT__ROLE_LSC_HIT_SHARE}},
    {ZT_LIMIT_COMPUTE,
     "enough threads are loaded, and they do not wait",
     {{ZT__ROLE_EU_OCCUPANCY, ZT__AT_LEAST, 80}, {ZT__ROLE_EU_STALL, ZT__BELOW, 10}},
     {ZT__ROLE_EU_ACTIVE, ZT__ROLE_XMX_ACTIVE}},
    /* [VTune] */
    {ZT_LIMIT_HOST,
     "the GPU waits for work between regions",
     {{ZT__ROLE_WALL_SHARE, ZT__BELOW, 80}},
     {ZT__ROLE_KERNEL_TIME}},
};

enum { ZT__RULE_FAILS, ZT__RULE_UNDECIDED, ZT__RULE_HOLDS };

/* Returns whether a rule holds, fails, or is undecided because figures were not measured. Marks these figures
   in `unmeasured`. */
ZT__PRIVATE int zt__evaluate_rule(const zt__rule *rule, const double figures[ZT__ROLE_COUNT],
                                  uint8_t unmeasured[ZT__ROLE_COUNT]) {
    uint32_t i;
    int outcome = ZT__RULE_HOLDS;
    for (i = 0; i < ZT__COUNT_OF(rule->conditions); i++) {
        double figure = figures[rule->conditions[i].role], threshold = rule->conditions[i].threshold;
        zt__relation relation = rule->conditions[i].relation;
        if (relation == ZT__NO_CONDITION) {
            continue;
        }
        if (zt__is_nan(figure)) {
            outcome = ZT__RULE_UNDECIDED;
        } else if (relation == ZT__BELOW ? figure >= threshold : figure < threshold) {
            return ZT__RULE_FAILS;
        }
    }
    for (i = 0; i < ZT__COUNT_OF(rule->conditions) && outcome == ZT__RULE_UNDECIDED; i++) {
        if (zt__is_nan(figures[rule->conditions[i].role])) {
            unmeasured[rule->conditions[i].role] = 1;
        }
    }
    return outcome;
}

/* Appends to a text of `room` bytes, as much as fits. */
ZT__PRIVATE ZT__CHECKED_FORMAT(3, 4) void zt__append(char *text, size_t room, const char *format, ...) {
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, room - used, format, arguments);
    va_end(arguments);
}

/* Appends a figure with its name, unless it was not measured. */
ZT__PRIVATE void zt__append_figure(zt_limit_info *info, zt__role role, const double figures[ZT__ROLE_COUNT]) {
    const char *name = zt__roles[role].name, *opening = strchr(info->text, '(') ? ", " : " (";
    double figure = figures[role];
    if (role == ZT__NO_ROLE || zt__is_nan(figure)) {
        return;
    }
    if (role == ZT__ROLE_MEMORY_SHARE || role == ZT__ROLE_WALL_SHARE) {
        zt__append(info->text, sizeof info->text, "%s%.0f%% %s", opening, figure, name);
    } else if (zt__roles[role].quantity == ZT__QUANTITY_SHARE) {
        zt__append(info->text, sizeof info->text, "%s%s %.0f%%", opening, name, figure);
    } else if (zt__roles[role].quantity == ZT__QUANTITY_RATE) {
        zt__append(info->text, sizeof info->text, "%s%s %.3g GB/s", opening, name, figure);
    } else if (figure >= 999.5) {
        zt__append(info->text, sizeof info->text, "%s%s %.3g ms", opening, name, figure / 1000);
    } else {
        zt__append(info->text, sizeof info->text, "%s%s %.3g us", opening, name, figure);
    }
}

/* Lists the metrics that were not measured, by their names on such a device. */
ZT__PRIVATE void zt__name_missing(const zt__advice *advice, const uint8_t unmeasured[ZT__ROLE_COUNT],
                                  zt_limit_info *info) {
    uint32_t role;
    for (role = 0; role < ZT__ROLE_COUNT && advice->naming < ZT__NAMING_COUNT; role++) {
        const char *names = zt__roles[role].metrics[advice->naming];
        if (unmeasured[role] && names[0] && advice->metrics[role] == UINT32_MAX) {
            zt__append(info->missing, sizeof info->missing, "%s%.*s", info->missing[0] ? "," : "",
                       (int)strcspn(names, ","), names);
        }
    }
}

/* Applies the rules to the figures of a region. `info` is empty. */
ZT__PRIVATE void zt__apply_rules(const zt__advice *advice, const double figures[ZT__ROLE_COUNT],
                                 zt_limit_info *info) {
    uint8_t unmeasured[ZT__ROLE_COUNT];
    uint32_t i = 0, shown;
    memset(unmeasured, 0, sizeof unmeasured);
    while (i < ZT__COUNT_OF(zt__rules) &&
           zt__evaluate_rule(&zt__rules[i], figures, unmeasured) != ZT__RULE_HOLDS) {
        i++;
    }
    if (i < ZT__COUNT_OF(zt__rules)) {
        const zt__rule *rule = &zt__rules[i];
        info->limit = rule->limit;
        zt__name_missing(advice, unmeasured, info);
        zt__append(info->text, sizeof info->text, "Probably %s: %s", zt_limit_name(rule->limit),
                   rule->reason);
        for (i = 0; i < ZT__COUNT_OF(rule->conditions); i++) {
            zt__append_figure(info, rule->conditions[i].role, figures);
        }
        for (shown = 0; shown < ZT__COUNT_OF(rule->shown); shown++) {
            zt__append_figure(info, rule->shown[shown], figures);
        }
        zt__append(info->text, sizeof info->text, ").");
        return;
    }
    /* With these two figures, one of the rules holds. */
    memset(unmeasured, 0, sizeof unmeasured);
    unmeasured[ZT__ROLE_EU_STALL] = unmeasured[ZT__ROLE_EU_OCCUPANCY] = 1;
    zt__name_missing(advice, unmeasured, info);
    if (info->missing[0]) {
        zt__append(info->text, sizeof info->text, "Not enough metrics: add %s.", info->missing);
    } else if (advice->naming == ZT__NAMING_COUNT) {
        strcpy(info->text, "Not enough metrics: none is known to show what limits a region.");
    } else {
        strcpy(info->text, "Not known: the metrics that show it have no values in this region.");
    }
}

/* Finds what limits a region, with what is the same for all regions prepared. */
ZT__PRIVATE void zt__find_limit(zt_profiler *profiler, const zt__advice *advice,
                                const zt__region_record *record, zt_limit_info *info) {
    double figures[ZT__ROLE_COUNT];
    memset(info, 0, sizeof *info);
    zt__read_figures(profiler, advice, record, figures);
    zt__apply_rules(advice, figures, info);
}

/* ---- ranking --------------------------------------------------------------------------------------------- */

/* A column of a table: a metric, or a share that is derived from two metrics. */
typedef struct zt__ranked_column {
    uint32_t metric; /* UINT32_MAX: derived */
    zt__role role;   /* ZT__NO_ROLE: none is known */
} zt__ranked_column;

/* The figures by which columns are ranked: for each region, the mean of each metric. */
typedef struct zt__mean_table {
    const double *means;
    size_t stride; /* from one region to the next */
    uint32_t region_count;
} zt__mean_table;

ZT__PRIVATE double zt__mean_at(const zt__mean_table *table, uint32_t region, uint32_t metric) {
    return metric == UINT32_MAX ? zt__nan() : table->means[region * table->stride + metric];
}

/* Returns the figure of a column in a region: the mean of a metric, or a derived share in percent. */
ZT__PRIVATE double zt__ranked_figure(const zt__advice *advice, const zt__mean_table *table, uint32_t region,
                                     const zt__ranked_column *column) {
    const uint32_t *metrics = advice->metrics;
    double hits;
    if (column->metric != UINT32_MAX) {
        return zt__mean_at(table, region, column->metric);
    }
    if (column->role == ZT__ROLE_L3_HIT_SHARE) {
        hits = zt__mean_at(table, region, metrics[ZT__ROLE_L3_HITS]);
        return zt__percent_of(hits, hits + zt__mean_at(table, region, metrics[ZT__ROLE_L3_MISSES]));
    }
    hits = zt__mean_at(table, region, metrics[ZT__ROLE_LSC_HITS]);
    return zt__percent_of(hits, zt__mean_at(table, region, metrics[ZT__ROLE_LSC_ACCESSES]));
}

/* Returns whether a metric shows no more than one that is ranked: it has the same name, in another group; or
   the same units, aggregation and values in all regions; or it counts the bytes whose rate is ranked. */
ZT__PRIVATE int zt__is_redundant(const zt_metric *metrics, const zt__mean_table *table, uint32_t metric,
                                 uint32_t ranked) {
    const zt_metric *a = &metrics[metric], *b = &metrics[ranked];
    uint32_t region;
    if (metric == ranked || strcmp(a->name, b->name) == 0) {
        return 1;
    }
    if (zt__quantity_of(a) == ZT__QUANTITY_BYTES && zt__quantity_of(b) == ZT__QUANTITY_RATE &&
        strncmp(a->name, b->name, strlen(a->name)) == 0) {
        return 1;
    }
    if (a->aggregation != b->aggregation || strcmp(a->units, b->units) != 0) {
        return 0;
    }
    for (region = 0; region < table->region_count; region++) {
        double value = zt__mean_at(table, region, metric), other = zt__mean_at(table, region, ranked);
        if (zt__is_nan(value) != zt__is_nan(other) || (!zt__is_nan(value) && value != other)) {
            return 0;
        }
    }
    return 1;
}

/* Adds a column, unless all its figures are 0 or not measured, or it shows no more than one before it. */
ZT__PRIVATE void zt__add_ranked(const zt_metric *metrics, const zt__advice *advice,
                                const zt__mean_table *table, zt__ranked_column column,
                                zt__ranked_column *ranked, uint32_t *count) {
    uint32_t i;
    int has_figures = 0;
    for (i = 0; i < table->region_count && !has_figures; i++) {
        has_figures = zt__is_positive(zt__ranked_figure(advice, table, i, &column));
    }
    for (i = 0; i < *count && has_figures && column.metric != UINT32_MAX; i++) {
        has_figures = ranked[i].metric == UINT32_MAX ||
                      !zt__is_redundant(metrics, table, column.metric, ranked[i].metric);
    }
    if (has_figures) {
        ranked[(*count)++] = column;
    }
}

enum { ZT__DERIVED_COLUMNS = 2 };

/* Ranks metrics, of which `advice->metrics` has the roles: those with a role first, in the order of
   zt__roles; then the others by their quantity. The GPU time is left out, because tables have it anyway.
   Returns the number of columns; `ranked` has room for one of each metric and ZT__DERIVED_COLUMNS more. */
ZT__PRIVATE uint32_t zt__rank_columns(const zt_metric *metrics, uint32_t metric_count,
                                      const zt__advice *advice, const zt__mean_table *table,
                                      zt__ranked_column *ranked) {
    uint32_t role, quantity, metric, count = 0;
    zt__ranked_column column;
    for (role = ZT__NO_ROLE + 1; role < ZT__ROLE_COUNT; role++) {
        column.role = (zt__role)role;
        column.metric = advice->metrics[role];
        if (zt__roles[role].is_column && (column.metric != UINT32_MAX || !zt__roles[role].metrics[0][0])) {
            zt__add_ranked(metrics, advice, table, column, ranked, &count);
        }
    }
    for (quantity = ZT__QUANTITY_SHARE; quantity < ZT__QUANTITY_NOTHING; quantity++) {
        for (metric = 0; metric < metric_count; metric++) {
            const zt_metric *described = &metrics[metric];
            column.role = ZT__NO_ROLE;
            column.metric = metric;
            if ((uint32_t)zt__quantity_of(described) == quantity && strcmp(described->name, "GpuTime") != 0) {
                zt__add_ranked(metrics, advice, table, column, ranked, &count);
            }
        }
    }
    return count;
}

/* ---- columns of tables ----------------------------------------------------------------------------------- */

/* Adds metrics to a table, those that matter most first: the first three have rank 1, the others rank 3. Each
   row has `figure_count` of the figures: metrics begin at `first`, and after them there is room for
   ZT__DERIVED_COLUMNS. With `are_rates`, what adds up is shown in units a second; clock cycles and times,
   which mean nothing then, are left out. Returns 0 without memory. */
ZT__PRIVATE int zt__add_ranked_columns(const zt_profiler *profiler, const zt__advice *advice,
                                       zt__figure_table *table, double *figures, uint32_t figure_count,
                                       uint32_t first, int are_rates) {
    enum { IMPORTANT = 3 };
    const zt_allocator *allocator = &profiler->config.allocator;
    zt__mean_table means = {figures + first, figure_count, table->row_count};
    zt__ranked_column *ranked = (zt__ranked_column *)zt__allocate(
        allocator, (size_t)profiler->metric_count + ZT__DERIVED_COLUMNS, sizeof *ranked);
    uint32_t i, row, count = 0;
    uint32_t derived = first + profiler->metric_count;
    if (ranked) {
        count = zt__rank_columns(profiler->metrics, profiler->metric_count, advice, &means, ranked);
    }
    for (i = 0; i < count; i++) {
        const zt_metric *metric =
            ranked[i].metric == UINT32_MAX ? NULL : &profiler->metrics[ranked[i].metric];
        uint32_t figure = metric ? first + ranked[i].metric : derived++;
        int adds_up = metric && metric->aggregation == ZT_AGGREGATE_SUM;
        char units[64];
        for (row = 0; row < table->row_count && !metric; row++) {
            figures[(size_t)row * figure_count + figure] = zt__ranked_figure(advice, &means, row, &ranked[i]);
        }
        if (are_rates && adds_up && zt__quantity_of(metric) == ZT__QUANTITY_OTHER) {
            continue;
        }
        snprintf(units, sizeof units, "%.40s%s", metric ? metric->units : "percent",
                 are_rates && adds_up ? "/s" : "");
        zt__add_figures(table, figure,
                        ranked[i].role == ZT__NO_ROLE ? metric->name : zt__roles[ranked[i].role].name, units,
                        adds_up, i < IMPORTANT ? 1 : 3);
    }
    zt__free(allocator, ranked);
    return ranked != NULL;
}

/* ---- public ---------------------------------------------------------------------------------------------- */

ZT_API ze_result_t zt_get_limit(const zt_profiler *profiler, uint32_t region, zt_limit_info *info) {
    const zt__region_record *record;
    zt__advice advice;
    ze_result_t result;
    if (info) {
        memset(info, 0, sizeof *info);
    }
    record = zt__get_record(profiler, "zt_get_limit", region, "info", info, &result);
    if (record) {
        zt__prepare_advice(profiler, &advice);
        zt__find_limit(zt__mutable(profiler), &advice, record, info);
    }
    return result;
}

ZT_API const char *zt_limit_name(zt_limit limit) {
    static const char *const names[] = {"unknown", "memory bandwidth", "latency", "compute", "XMX", "launch",
                                        "host",    "occupancy",        "cache"};
    return (unsigned)limit < ZT__COUNT_OF(names) ? names[limit] : "unknown";
}

/* ---- the roofline ---------------------------------------------------------------------------------------- */

/* Checks a figure that the application gives. `what` names it. */
ZT__PRIVATE ze_result_t zt__check_figure(zt_profiler *profiler, const char *call, const char *what,
                                         double figure) {
    if (zt__is_finite(figure) && figure >= 0) {
        return ZE_RESULT_SUCCESS;
    }
    return zt__report(&profiler->diagnostics, BAD_FIGURE, ZE_RESULT_ERROR_INVALID_ARGUMENT, call, what,
                      figure);
}

ZT_API ze_result_t zt_set_peaks(zt_profiler *profiler, double bytes_per_second, double operations_per_second,
                                const char *source) {
    ze_result_t result = ZE_RESULT_SUCCESS;
    if (!profiler) {
        return result;
    }
    result = zt__check_figure(profiler, "zt_set_peaks", "bytes_per_second", bytes_per_second);
    if (result == ZE_RESULT_SUCCESS) {
        result = zt__check_figure(profiler, "zt_set_peaks", "operations_per_second", operations_per_second);
    }
    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }
    source = source ? source : "given by the program";
    zt__lock(&profiler->mutex);
    if (!profiler->peaks_are_overridden) {
        profiler->peaks.bytes = bytes_per_second;
        profiler->peaks.operations = operations_per_second;
        zt__copy_text(profiler->peaks.source, sizeof profiler->peaks.source, source, strlen(source));
    }
    zt__unlock(&profiler->mutex);
    return result;
}

ZT_API ze_result_t zt_set_operations(zt_profiler *profiler, const char *region, double operations) {
    zt__region_record *record;
    zt_cause cause;
    ze_result_t result;
    if (!profiler) {
        return ZE_RESULT_SUCCESS;
    }
    result = zt__check_figure(profiler, "zt_set_operations", "operations", operations);
    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }
    zt__lock(&profiler->mutex);
    record = zt__find_or_add_region(profiler, zt__shown_name(region), &cause);
    if (record) {
        record->operations = operations;
    }
    zt__unlock(&profiler->mutex);
    return record ? result
                  : zt__report_no_memory(&profiler->diagnostics, "zt_set_operations", "the name of a region");
}

/* ==== >>requests: reports that the environment asks for =================================================== */

/* A list of reports is what ZT_REPORT and ZT_AUTO contain: paths, separated by commas. */

/* Samples that are kept for reports that show the timeline, where config.timeline is not set. */
enum { ZT__REPORT_TIMELINE = 65536 };

/* The suffixes of reports. The longest come first. */
typedef struct zt__suffix {
    const char *text;
    zt_format format;
    int shows_timeline;
} zt__suffix;

ZT__PRIVATE const zt__suffix *zt__find_suffix(const char *path) {
    static const zt__suffix suffixes[] = {
        {".instances.csv", ZT_FORMAT_INSTANCES, 1},
        {".trace.json", ZT_FORMAT_TRACE, 1},
        {".json", ZT_FORMAT_JSON, 0},
        {".csv", ZT_FORMAT_CSV, 0},
        {".html", ZT_FORMAT_HTML, 1},
        {".htm", ZT_FORMAT_HTML, 1},
        {".prom", ZT_FORMAT_OPENMETRICS, 0},
        {".txt", ZT_FORMAT_TABLE, 0},
    };
    uint32_t i;
    for (i = 0; i < ZT__COUNT_OF(suffixes); i++) {
        if (zt__ends_with(path, suffixes[i].text, strcasecmp)) {
            return &suffixes[i];
        }
    }
    return NULL;
}

/* Returns the end of a path from its last dot, or "". */
ZT__PRIVATE const char *zt__after_last_dot(const char *path) {
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    return dot && (!slash || dot > slash) ? dot : path + strlen(path);
}

/* Finds the format that the suffix of a path stands for. Returns 0 if it stands for none. Without a
   suffix, or with a number as suffix, the format is a table. */
ZT__PRIVATE int zt__find_format(const char *path, zt_format *format) {
    const zt__suffix *suffix = zt__find_suffix(path);
    const char *unknown = zt__after_last_dot(path);
    *format = suffix ? suffix->format : ZT_FORMAT_TABLE;
    return suffix || !*unknown || strspn(unknown + 1, "0123456789") == strlen(unknown + 1);
}

/* Returns the stream that a path stands for, or NULL. If standard error is redirected to a file, the path
   leads to that file, which must not be replaced. */
ZT__PRIVATE FILE *zt__find_standard_stream(const char *path) {
    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0) {
        return stdout;
    }
    return strcmp(path, "/dev/stderr") == 0 ? stderr : NULL;
}

/* A path of a list. It has room for more than any system accepts, so what is cut cannot be opened, either. */
typedef struct zt__file_path {
    char text[5120];
} zt__file_path;

/* Returns a path with %p and %q{NAME} replaced: by the number of the process, and by a variable of the
   environment. */
ZT__PRIVATE zt__file_path zt__expand_path(const char *name, size_t length) {
    const char *end = name + length;
    zt__file_path path;
    size_t used = 0;
    while (name < end) {
        char variable[256], number[24];
        const char *inserted = name, *brace = (const char *)memchr(name, '}', (size_t)(end - name));
        size_t size = 1;
        if (end - name >= 2 && memcmp(name, "%p", 2) == 0) {
            size = (size_t)snprintf(number, sizeof number, "%ld", (long)getpid());
            inserted = number;
            name += 2;
        } else if (brace && brace - name >= 3 && memcmp(name, "%q{", 3) == 0) {
            zt__copy_text(variable, sizeof variable, name + 3, (size_t)(brace - name - 3));
            inserted = getenv(variable);
            size = inserted ? strlen(inserted) : 0;
            name = brace + 1;
        } else {
            name++;
        }
        if (used + size >= sizeof path.text) {
            size = sizeof path.text - used - 1;
        }
        memcpy(path.text + used, inserted ? inserted : "", size);
        used += size;
    }
    path.text[used] = 0;
    return path;
}

/* Takes the next path from a list. "table" is a table on standard output. Returns 0 at the end. */
ZT__PRIVATE int zt__next_path(const char **list, zt__file_path *path) {
    const char *name;
    size_t length;
    if (!zt__next_name(list, &name, &length)) {
        return 0;
    }
    *path = zt__expand_path(name, length);
    if (strcasecmp(path->text, "table") == 0) {
        strcpy(path->text, "-");
    }
    return 1;
}

/* Makes a path that of the n-th profiler of the process: run.csv, run.2.csv, ... Pipes and devices get no
   number. */
ZT__PRIVATE void zt__number_path(zt__file_path *path, uint32_t n) {
    const zt__suffix *suffix = zt__find_suffix(path->text);
    size_t length = strlen(path->text);
    size_t tail = suffix ? strlen(suffix->text) : strlen(zt__after_last_dot(path->text));
    struct stat target;
    zt__file_path unnumbered = *path;
    if (n > 1 && !zt__find_standard_stream(path->text) &&
        (stat(path->text, &target) != 0 || S_ISREG(target.st_mode))) {
        snprintf(path->text, sizeof path->text, "%.*s.%u%s", (int)(length - tail), unnumbered.text,
                 (unsigned)n, unnumbered.text + length - tail);
    }
}

/* Prints the last message of a profiler, unless its log does. */
ZT__PRIVATE void zt__print_error(const zt_profiler *profiler) {
    if (profiler->diagnostics.log != zt__log_to_stderr) {
        fprintf(stderr, "zetools: %s\n", zt_get_last_error(profiler));
    }
}

/* Makes the last message of a profiler or stream that is destroyed next that of the thread. */
ZT__PRIVATE void zt__keep_error(const zt__diagnostics *diagnostics, ze_result_t result) {
    zt__thread_messages *messages = zt__get_thread_messages();
    if (messages) {
        messages->last = diagnostics->last;
        messages->last.result = result;
    }
}

/* Returns whether a variable asks for nothing. */
ZT__PRIVATE int zt__is_off(const char *value) {
    return !zt__has_names(value) || strcmp(value, "0") == 0 || strcasecmp(value, "off") == 0;
}

/* Returns whether a list has a report that shows the timeline. */
ZT__PRIVATE int zt__shows_timeline(const char *list) {
    zt__file_path path;
    while (list && zt__next_path(&list, &path)) {
        const zt__suffix *suffix = zt__find_suffix(path.text);
        if (suffix && suffix->shows_timeline) {
            return 1;
        }
    }
    return 0;
}

/* Reports the first path of a list whose suffix stands for no format. */
ZT__PRIVATE ze_result_t zt__check_reports(zt__diagnostics *diagnostics, const char *call, const char *list) {
    zt__file_path path;
    zt_format format;
    while (zt__next_path(&list, &path)) {
        if (!zt__find_standard_stream(path.text) && !zt__find_format(path.text, &format)) {
            return zt__report(diagnostics, UNKNOWN_SUFFIX, ZE_RESULT_ERROR_INVALID_ARGUMENT, call, path.text);
        }
    }
    return ZE_RESULT_SUCCESS;
}

ZT__PRIVATE int zt__write_to_file(const void *bytes, size_t size, void *file) {
    return fwrite(bytes, 1, size, (FILE *)file) != size;
}

/* Writes the reports of a list for the n-th profiler of the process, which is closed next. Messages go to
   standard error, and to zt_get_last_error(NULL). If a report cannot be written, the table goes to
   standard error instead. */
ZT__PRIVATE void zt__write_reports(zt_profiler *profiler, const char *list, uint32_t n) {
    zt_log_fn log = profiler->diagnostics.log;
    zt__file_path path;
    int has_failed = 0;
    if (log == zt__log_to_stderr) {
        profiler->diagnostics.log = NULL; /* it would print the first message of a kind as well */
    }
    while (zt__next_path(&list, &path)) {
        ze_result_t result;
        zt__number_path(&path, n);
        result = zt_report(profiler, path.text);
        if (result != ZE_RESULT_SUCCESS) {
            zt__keep_error(&profiler->diagnostics, result);
            zt__print_error(profiler);
            has_failed = 1;
        }
    }
    profiler->diagnostics.log = log;
    if (has_failed) {
        zt_write(profiler, ZT_FORMAT_TABLE, zt__write_to_file, stderr);
    }
}

/* Reads a number, which has a point in any locale, up to a comma or the end. Returns 0 if it is none. */
ZT__PRIVATE int zt__read_number(const char **text, double *number) {
    char digits[64], example[16], *end;
    size_t used = 0, point;
    snprintf(example, sizeof example, "%.1f", 0.5); /* the locale's point may have several bytes */
    point = strlen(example) - 2;
    for (; **text && **text != ',' && used + point < sizeof digits; (*text)++) {
        if (**text == '.') {
            memcpy(digits + used, example + 1, point);
            used += point;
        } else {
            digits[used++] = **text;
        }
    }
    digits[used] = 0;
    *number = strtod(digits, &end);
    return used > 0 && !*end && zt__is_finite(*number) && *number >= 0;
}

/* Keeps ZT_PEAKS: bytes a second and, after a comma, operations a second. Returns 0 if it is something
   else. */
ZT__PRIVATE int zt__keep_peaks(zt_profiler *profiler, const char *text) {
    zt__peaks *peaks = &profiler->peaks;
    int is_valid = zt__read_number(&text, &peaks->bytes);
    if (is_valid && *text == ',') {
        text++;
        is_valid = zt__read_number(&text, &peaks->operations);
    }
    if (!is_valid || *text) {
        peaks->bytes = peaks->operations = 0;
        return 0;
    }
    strcpy(peaks->source, "given by ZT_PEAKS");
    profiler->peaks_are_overridden = 1;
    return 1;
}

/* Reads what the environment asks for, and keeps ZT_REPORT for zt_close. What is wrong is also printed,
   because those who have set it may not see the messages of the program. */
ZT__PRIVATE void zt__read_environment(zt_profiler *profiler) {
    const char *list = getenv("ZT_REPORT"), *log = getenv("ZT_LOG"), *timeline = getenv("ZT_TIMELINE");
    const char *peaks = getenv("ZT_PEAKS");
    zt__process *process = zt__get_process();
    if (log && !zt__is_off(log) && strcmp(log, "stderr") != 0) {
        zt__report(&profiler->diagnostics, BAD_VARIABLE, ZE_RESULT_ERROR_INVALID_ARGUMENT, "ZT_LOG", log,
                   "'stderr'");
        zt__print_error(profiler);
    }
    if (timeline && !zt__is_number(timeline)) {
        zt__report(&profiler->diagnostics, BAD_VARIABLE, ZE_RESULT_ERROR_INVALID_ARGUMENT, "ZT_TIMELINE",
                   timeline, "a number of samples");
        zt__print_error(profiler);
    }
    if (peaks && *peaks && !zt__keep_peaks(profiler, peaks)) {
        zt__report(&profiler->diagnostics, BAD_VARIABLE, ZE_RESULT_ERROR_INVALID_ARGUMENT, "ZT_PEAKS", peaks,
                   "bytes and operations a second, such as '456e9,14.6e12'");
        zt__print_error(profiler);
    }
    if (zt__is_off(list) || !process) {
        return;
    }
    profiler->report_number = __atomic_add_fetch(&process->reporting, 1, __ATOMIC_RELAXED);
    profiler->reports = zt__duplicate_text(&profiler->config.allocator, list);
    if (!profiler->reports) {
        zt__report_no_memory(&profiler->diagnostics, "zt_open", "the paths of reports");
        zt__print_error(profiler);
    } else if (zt__check_reports(&profiler->diagnostics, "zt_open", list) != ZE_RESULT_SUCCESS) {
        zt__print_error(profiler);
    }
}

/* ==== >>opening: zt_open and zt_close ===================================================================== */

/* Returns whether a device is one of some others, or a sub-device of one. */
ZT__PRIVATE int zt__is_among_devices(ze_device_handle_t device, const ze_device_handle_t *others,
                                     uint32_t count) {
    ze_device_handle_t parts[ZT__MAX_TILES];
    uint32_t i, j, part_count;
    for (i = 0; i < count; i++) {
        if (others[i] == device) {
            return 1;
        }
        part_count = ZT__MAX_TILES;
        if (zeDeviceGetSubDevices(others[i], &part_count, parts) != ZE_RESULT_SUCCESS) {
            continue;
        }
        for (j = 0; j < part_count && j < ZT__MAX_TILES; j++) {
            if (parts[j] == device) {
                return 1;
            }
        }
    }
    return 0;
}

/* Returns the driver of a device, or NULL. A device does not state its driver, so it is looked for among the
   devices of each. */
ZT__PRIVATE ze_driver_handle_t zt__find_driver(ze_device_handle_t device) {
    enum { MOST_DRIVERS = 16, MOST_DEVICES = 256 };
    ze_driver_handle_t drivers[MOST_DRIVERS];
    ze_device_handle_t devices[MOST_DEVICES];
    uint32_t i, device_count, driver_count = MOST_DRIVERS;
    if (zeDriverGet(&driver_count, drivers) != ZE_RESULT_SUCCESS) {
        return NULL;
    }
    for (i = 0; i < driver_count && i < MOST_DRIVERS; i++) {
        device_count = MOST_DEVICES;
        if (zeDeviceGet(drivers[i], &device_count, devices) == ZE_RESULT_SUCCESS &&
            device_count <= MOST_DEVICES && zt__is_among_devices(device, devices, device_count)) {
            return drivers[i];
        }
    }
    return NULL;
}

/* Reads the command line of the process, with blanks between the arguments. */
ZT__PRIVATE void zt__read_program(char *program, size_t room) {
    FILE *file = fopen("/proc/self/cmdline", "rb");
    size_t i, size = 0;
    if (file) {
        size = fread(program, 1, room - 1, file);
        fclose(file);
    }
    program[size] = 0;
    for (i = 0; i + 1 < size; i++) {
        program[i] = program[i] ? program[i] : ' ';
    }
}

/* Fills in what can be found out about device and program. What cannot stays unknown. */
ZT__PRIVATE void zt__read_facts(zt_profiler *profiler, const ze_device_properties_t *properties) {
    const zt__driver *driver = &profiler->driver;
    zt__facts *facts = &profiler->facts;
    ze_driver_handle_t handle = zt__find_driver(profiler->device);
    ze_driver_properties_t of_driver;
    ze_pci_ext_properties_t pci;
    uint32_t i, used = 0;
    time_t now = time(NULL);
    memset(&of_driver, 0, sizeof of_driver);
    memset(&pci, 0, sizeof pci);
    of_driver.stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES;
    pci.stype = ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES;
    if (handle && zeDriverGetProperties(handle, &of_driver) == ZE_RESULT_SUCCESS) {
        /* Intel's drivers put major, minor and build into 8, 8 and 16 bits. */
        uint32_t version = of_driver.driverVersion;
        snprintf(facts->driver_version, sizeof facts->driver_version, "%u.%u.%u", (unsigned)(version >> 24),
                 (unsigned)(version >> 16 & 0xFF), (unsigned)(version & 0xFFFF));
    }
    if (driver->zeDevicePciGetPropertiesExt &&
        driver->zeDevicePciGetPropertiesExt(profiler->device, &pci) == ZE_RESULT_SUCCESS) {
        snprintf(facts->pci_address, sizeof facts->pci_address, "%04x:%02x:%02x.%x",
                 (unsigned)pci.address.domain, (unsigned)pci.address.bus, (unsigned)pci.address.device,
                 (unsigned)pci.address.function);
    }
    for (i = 0; i < sizeof properties->uuid.id; i++) {
        used += (uint32_t)snprintf(facts->uuid + used, sizeof facts->uuid - used, "%s%02x",
                                   i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", properties->uuid.id[i]);
    }
    zt__read_program(facts->program, sizeof facts->program);
    facts->core_clock_mhz = properties->coreClockRate;
    facts->timer_hz = properties->timerResolution;
    facts->opened_s = now > 0 ? (uint64_t)now : 0;
}

/* Reads the device's name, the resolution and width of its time stamps, and the facts for reports. */
ZT__PRIVATE ze_result_t zt__read_device(zt_profiler *profiler) {
    ze_device_properties_t properties;
    ze_result_t result;
    memset(&properties, 0, sizeof properties);
    properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2; /* the resolution is in cycles a second */
    result = zeDeviceGetProperties(profiler->device, &properties);
    if (result != ZE_RESULT_SUCCESS) {
        return zt__check(&profiler->diagnostics, result, "zeDeviceGetProperties",
                         "Pass a device of an initialised driver.");
    }
    zt__copy_text(profiler->device_name, sizeof profiler->device_name, properties.name,
                  strlen(properties.name));
    profiler->ns_per_tick = properties.timerResolution ? 1e9 / (double)properties.timerResolution : 1.0;
    profiler->tick_mask = zt__mask_of_bits(properties.timestampValidBits);
    zt__read_facts(profiler, &properties);
    return result;
}

/* Describes the metrics of the selected groups, distributes the groups over the passes, and finds the
   metrics that are flags of lost samples. Returns 0 without memory. */
ZT__PRIVATE int zt__describe_selection(zt_profiler *profiler) {
    const zt_allocator *allocator = &profiler->config.allocator;
    zt__selection *selection = &profiler->selection;
    uint32_t pass, g, m, tile, first_group = 0, tiles = selection->groups[0].tiles;
    profiler->pass_count = selection->pass_count;
    profiler->tile_count = tiles > 1 ? tiles : 0;
    profiler->metric_count = selection->metric_count;
    profiler->metrics =
        (zt_metric *)zt__allocate(allocator, profiler->metric_count, sizeof *profiler->metrics);
    profiler->lost_flags = (zt__lost_flag *)zt__allocate(allocator, (size_t)profiler->metric_count * tiles,
                                                         sizeof *profiler->lost_flags);
    if (!profiler->metrics || !profiler->lost_flags) {
        return 0;
    }
    for (pass = 0; pass < profiler->pass_count; pass++) {
        zt__pass *to = &profiler->passes[pass];
        to->groups = &selection->groups[first_group];
        to->group_count = selection->pass_sizes[pass];
        first_group += to->group_count;
        for (g = 0; g < to->group_count; g++) {
            for (m = 0; m < to->groups[g].metric_count; m++) {
                uint32_t index = to->groups[g].first_metric + m;
                zt_metric *metric = &profiler->metrics[index];
                zt__describe_metric(&to->groups[g], m, metric);
                metric->pass = pass;
                if (to->time_metric == UINT32_MAX && strcmp(metric->name, "GpuTime") == 0 &&
                    strcmp(metric->units, "ns") == 0) {
                    to->time_metric = index;
                }
            }
        }
        profiler->is_stamped |= to->time_metric == UINT32_MAX;
    }
    for (m = 0; m < profiler->metric_count; m++) {
        const zt_metric *metric = &profiler->metrics[m];
        zt_cause cause =
            metric->aggregation == ZT_AGGREGATE_FLAG ? zt__cause_of_flag(metric->name) : ZT_CAUSE_COUNT;
        for (tile = 0; tile < tiles && cause != ZT_CAUSE_COUNT; tile++) {
            zt__lost_flag *flag = &profiler->lost_flags[profiler->lost_flag_count++];
            flag->column = profiler->tile_count ? zt__tile_column(profiler, tile, m) : 1 + m;
            flag->cause = cause;
        }
    }
    return 1;
}

/* Returns NOT_AVAILABLE or HANDLE_OBJECT_IN_USE if another tool uses the counters, from which activation
   would take them: drivers then refuse to create a query pool. Other errors are left to the calls that
   follow. */
ZT__PRIVATE ze_result_t zt__probe_counters(zt_profiler *profiler) {
    zet_metric_query_pool_desc_t desc;
    zet_metric_query_pool_handle_t pool = NULL;
    ze_result_t result;
    memset(&desc, 0, sizeof desc);
    desc.stype = ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC;
    desc.type = ZET_METRIC_QUERY_POOL_TYPE_PERFORMANCE;
    desc.count = 1;
    result = zetMetricQueryPoolCreate(profiler->context, profiler->device,
                                      profiler->selection.groups[0].handle, &desc, &pool);
    if (result == ZE_RESULT_SUCCESS) {
        zetMetricQueryPoolDestroy(pool);
    }
    return result == ZE_RESULT_ERROR_NOT_AVAILABLE || result == ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE
               ? result
               : ZE_RESULT_SUCCESS;
}

/* Selects and activates the metric groups, and makes the first slots: whether metrics can be used shows
   only when query pools are created. On failure, one pass without groups remains. */
ZT__PRIVATE ze_result_t zt__open_metrics(zt_profiler *profiler) {
    zt__pass *pass = &profiler->passes[0];
    zt__counter_holder holder;
    const char *call = "zetMetricQueryPoolCreate";
    int is_active = 0;
    ze_result_t result =
        zt__select_groups(&profiler->config.allocator, &profiler->diagnostics, &profiler->driver,
                          profiler->device, &profiler->config, &profiler->selection, &profiler->availability);
    if (result != ZE_RESULT_SUCCESS || profiler->selection.group_count == 0) {
        return result;
    }
    holder.text[0] = 0;
    if (zt__describe_selection(profiler)) {
        result = zt__probe_counters(profiler);
    } else {
        call = "config.allocator";
        result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (result == ZE_RESULT_SUCCESS) {
        call = "zetContextActivateMetricGroups";
        result = zt__activate_groups(profiler, pass, &holder);
        is_active = result == ZE_RESULT_SUCCESS;
    }
    if (result == ZE_RESULT_SUCCESS) {
        profiler->is_stamped |= profiler->config.timeline != 0;
        result = zt__make_slots(profiler, pass, &call);
    }
    if (result == ZE_RESULT_SUCCESS) {
        zt__run_first_query(profiler, pass);
        return result;
    }
    if (is_active) {
        zt__deactivate_groups(profiler, pass, pass->group_count);
    }
    profiler->availability =
        zt__report_refusal(&profiler->diagnostics, profiler->device, 0, result, call, &holder);
    zt__free_selection(&profiler->config.allocator, &profiler->selection);
    profiler->metric_count = profiler->lost_flag_count = profiler->tile_count = 0;
    profiler->pass_count = 1;
    pass->groups = NULL;
    pass->group_count = 0;
    pass->time_metric = UINT32_MAX;
    return result;
}

/* Does all of zt_open that calls the driver. */
ZT__PRIVATE ze_result_t zt__open_on_device(zt_profiler *profiler) {
    zt__diagnostics *diagnostics = &profiler->diagnostics;
    const char *call;
    ze_result_t result = zt__read_device(profiler);
    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }
    result = zt__open_metrics(profiler);
    if (profiler->availability == ZT_TIMES_BY_CHOICE) { /* no failure, so nothing is logged */
        zt__copy_text(profiler->availability_text.text, sizeof profiler->availability_text.text,
                      zt__format_TIMES_BY_CHOICE, strlen(zt__format_TIMES_BY_CHOICE));
        if (profiler->config.require_metrics) {
            return zt__report(diagnostics, TIMES_BY_CHOICE, ZE_RESULT_ERROR_INVALID_ARGUMENT);
        }
    } else if (result != ZE_RESULT_SUCCESS) {
        profiler->availability_text = diagnostics->last;
        if (profiler->config.require_metrics || zt__is_device_lost(diagnostics)) {
            return result;
        }
    }
    if (profiler->selection.group_count == 0) {
        profiler->is_stamped = 1;
        result = zt__make_slots(profiler, &profiler->passes[0], &call);
        if (result != ZE_RESULT_SUCCESS) {
            return zt__check(diagnostics, result, call, "No region can be measured on this device.");
        }
    }
    if (zt__lay_out_columns(profiler)) {
        profiler->batch.rows = (double *)zt__allocate(&profiler->config.allocator,
                                                      (size_t)ZT__BATCH * profiler->layout.column_count,
                                                      sizeof *profiler->batch.rows);
    }
    if (!profiler->batch.rows) {
        return zt__report_no_memory(diagnostics, "zt_open", "statistics");
    }
    return profiler->config.timeline ? zt__open_timeline(profiler) : ZE_RESULT_SUCCESS;
}

/* Releases everything of the device, and keeps the results. The profiler is registered again, and so has
   another identifier: zt_end does nothing for regions that were begun before. */
ZT__PRIVATE void zt__detach_profiler(zt_profiler *profiler) {
    const zt__pass *pass = &profiler->passes[profiler->active_pass];
    zt__list *list;
    uint32_t i;
    zt__unregister_profiler(profiler);
    while (profiler->blocks) {
        zt__slot_block *block = profiler->blocks;
        profiler->blocks = block->next;
        ZT__INTERNAL(zt__destroy_block(profiler, block));
    }
    if (profiler->device) {
        zt__deactivate_groups(profiler, pass, pass->group_count);
    }
    for (list = profiler->lists; list; list = list->next) {
        list->first = list->last = NULL;
    }
    for (i = 0; i < ZT__MAX_PASSES; i++) {
        profiler->passes[i].free_slots = NULL;
    }
    memset(profiler->state_counts, 0, sizeof profiler->state_counts);
    profiler->device = NULL;
    profiler->context = NULL;
    zt__register_profiler(profiler);
}

ZT__PRIVATE void zt__destroy_profiler(zt_profiler *profiler) {
    zt__detach_profiler(profiler);
    zt__unregister_profiler(profiler);
    zt__close_timeline(profiler);
    zt__free_profiler(profiler);
}

/* Checks the arguments of zt_open and zt_stream_open. `allocator` may be NULL. */
ZT__PRIVATE ze_result_t zt__check_opening(const char *call, ze_context_handle_t context,
                                          ze_device_handle_t device, const zt_allocator *allocator) {
    if (!context || !device) {
        return zt__report_null_handle(NULL, call, context ? "device" : "context");
    }
    if (allocator && !allocator->allocate != !allocator->release) {
        return zt__report(NULL, BAD_ALLOCATOR, ZE_RESULT_ERROR_INVALID_ARGUMENT, call);
    }
    return ZE_RESULT_SUCCESS;
}

/* As zt_open, with a complete configuration. */
ZT__PRIVATE ze_result_t zt__open_configured(ze_context_handle_t context, ze_device_handle_t device,
                                            const zt_config *complete, zt_profiler **profiler) {
    zt_profiler *opened = zt__create_profiler(complete);
    ze_result_t result;
    if (!opened) {
        return zt__report_no_memory(NULL, "zt_open", "the profiler");
    }
    opened->context = context;
    opened->device = device;
    zt__load_driver(&opened->driver);
    if (!zt__register_profiler(opened)) {
        result = zt__report(&opened->diagnostics, TOO_MANY_PROFILERS, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY,
                            (unsigned)ZT__MAX_PROFILERS);
    } else if (!zt__keep_columns(opened, complete)) {
        result = zt__report_no_memory(&opened->diagnostics, "zt_open", "config.columns");
    } else {
        ZT__INTERNAL(result = zt__open_on_device(opened));
    }
    /* The application's lists of names need not outlive this call. */
    opened->config.groups = opened->config.metrics = opened->config.columns = NULL;
    if (result != ZE_RESULT_SUCCESS) {
        zt__keep_error(&opened->diagnostics, result);
        zt__destroy_profiler(opened);
        return result;
    }
    if (complete->thread && !zt__start_thread(&opened->thread, zt__run_collecting_thread, opened)) {
        opened->config.thread = 0;
#ifdef ZETOOLS_NO_THREADS
        zt__report(&opened->diagnostics, NO_THREAD, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                   " (ZETOOLS_NO_THREADS is defined)");
#else
        zt__report(&opened->diagnostics, NO_THREAD, ZE_RESULT_ERROR_NOT_AVAILABLE, "");
#endif
    }
    *profiler = opened;
    return result;
}

ZT_API ze_result_t zt_open(ze_context_handle_t context, ze_device_handle_t device, const zt_config *config,
                           zt_profiler **profiler) {
    zt_config complete = zt__complete_config(config);
    ze_result_t result;
    if (!profiler) {
        return zt__report_null(NULL, "zt_open", "profiler");
    }
    *profiler = NULL;
    result = zt__check_opening("zt_open", context, device, config ? &config->allocator : NULL);
    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }
    if (!complete.timeline && zt__shows_timeline(getenv("ZT_REPORT"))) {
        complete.timeline = ZT__REPORT_TIMELINE;
    }
    result = zt__open_configured(context, device, &complete, profiler);
    if (result == ZE_RESULT_SUCCESS) {
        zt__read_environment(*profiler);
    }
    return result;
}

/* Returns whether a list may be immediate, or runs by other means: then it may be running. */
ZT__PRIVATE int zt__is_unobserved(const zt__list *list) {
    return list->state == ZT__LIST_UNKNOWN || list->state == ZT__LIST_UNOBSERVED;
}

/* Returns whether the device may still execute what a PARTIAL slot has on its list. */
ZT__PRIVATE int zt__may_run(const zt__slot *slot) {
    if (zt__is_unobserved(slot->list)) {
        return slot->is_dropped && slot->needs_reset && !zt__is_finished(slot); /* else it has run */
    }
    return zt__is_submitted(slot);
}

/* Counts the samples that are still in flight. Regions that are not ended are dropped, samples on their
   way are lost, and recorded regions that never ran are no longer counted as begun. Slots that the device
   may still write to become RETIRED. An ARMED slot has run, and by the conditions of zt_close its list is
   not running. */
ZT__PRIVATE void zt__abandon_slots(zt_profiler *profiler, const char *call) {
    const char *not_ended = NULL;
    unsigned long long unfinished = 0, running = 0;
    zt__slot_block *block;
    uint32_t i;
    zt__lock(&profiler->mutex);
    for (block = profiler->blocks; block; block = block->next) {
        for (i = 0; i < block->count; i++) {
            zt__slot *slot = &block->slots[i];
            switch (slot->state) {
            case ZT__SLOT_OPEN:
                not_ended = slot->region->name;
                zt__count_dropped(profiler, slot->region, slot->list, slot->submitted_ns,
                                  ZT_DROPPED_NOT_CLOSED);
                zt__leave_nesting(profiler, slot);
                slot->generation++;
                break;
            case ZT__SLOT_PENDING:
                unfinished++;
                zt__count_lost(profiler, slot, ZT_LOST_NEVER_DELIVERED, 1);
                break;
            case ZT__SLOT_RECORDED:
                if (zt__is_unobserved(slot->list)) {
                    break;
                }
                zt__unbind_slot(slot);
                zt__free_slot(profiler, slot);
                continue;
            case ZT__SLOT_PARTIAL:
                if (!zt__may_run(slot)) {
                    continue;
                }
                running++;
                break;
            default:
                continue;
            }
            slot->may_be_written = 1;
            zt__move_slot(profiler, slot, ZT__SLOT_RETIRED);
        }
    }
    zt__unlock(&profiler->mutex);
    if (not_ended) {
        zt__report(&profiler->diagnostics, REGION_NOT_ENDED, ZE_RESULT_ERROR_INVALID_ARGUMENT, call,
                   not_ended);
    }
    if (unfinished) {
        zt__report(&profiler->diagnostics, NOT_FINISHED, ZE_RESULT_NOT_READY, call, unfinished);
    }
    if (running && !zt__is_device_lost(&profiler->diagnostics)) {
        zt__report(&profiler->diagnostics, DROPPED_RUNNING, ZE_RESULT_NOT_READY, call, running);
    }
}

/* Returns whether regions are known to be on their way, also those that were dropped. */
ZT__PRIVATE int zt__is_running(zt_profiler *profiler) {
    const zt__list *list;
    int is_running;
    zt__lock(&profiler->mutex);
    is_running = profiler->state_counts[ZT__SLOT_PENDING] || profiler->state_counts[ZT__SLOT_READING];
    list = profiler->state_counts[ZT__SLOT_PARTIAL] ? profiler->lists : NULL;
    for (; list && !is_running; list = list->next) {
        is_running = zt__awaits_ends(list);
    }
    zt__unlock(&profiler->mutex);
    return is_running;
}

/* Collects until nothing is on its way, but no longer than the configured time. Recorded regions whose
   execution is not announced are waited for only briefly, because most likely they will never run. */
ZT__PRIVATE void zt__collect_what_runs(zt_profiler *profiler) {
    const uint64_t brief_ns = 20000000;
    uint64_t timeout_ns = profiler->config.wait_timeout_ns;
    zt__wait wait = zt__wait_until(zt__deadline(timeout_ns));
    zt__collect_until(profiler, zt__deadline(timeout_ns < brief_ns ? timeout_ns : brief_ns));
    while (zt__is_running(profiler) && zt__wait_again(&wait)) {
        zt__try_collect(profiler, 1);
    }
}

ZT_API void zt_close(zt_profiler *profiler) {
    /* A profiler that is not registered is closed already, or belongs to the parent process of a fork. */
    if (!profiler || !zt__is_registered(profiler) || zt__is_inside_callback(profiler, "zt_close") ||
        zt__is_inside_log(&profiler->diagnostics, "zt_close")) {
        return;
    }
    if (profiler->stop_tracing && !profiler->stop_tracing(profiler)) {
        return;
    }
    if (!zt__stop_thread(&profiler->thread)) {
        zt__report(&profiler->diagnostics, THREAD_HANGS, ZE_RESULT_NOT_READY, "zt_close");
        return;
    }
    profiler->config.thread = 0; /* from here on, this thread collects */
    if (profiler->device) {
        zt__collect_what_runs(profiler);
    }
    if (!zt__detach_streams(profiler, zt__deadline(profiler->config.wait_timeout_ns))) {
        zt__report(&profiler->diagnostics, ROWS_BUSY, ZE_RESULT_NOT_READY);
        return;
    }
    if (profiler->device) {
        zt__abandon_slots(profiler, "zt_close");
    }
    if (profiler->reports) {
        zt__write_reports(profiler, profiler->reports, profiler->report_number);
    }
    zt__destroy_profiler(profiler);
}

/* ==== >>streams: reports of the device into a ring, and out of it as rows ================================= */

/* The longest time between two reads of a thread that waits for rows. */
enum { ZT__STREAM_WAIT_NS = 10000000 };

/* Reports are read from the device into a ring, calculated there, and leave it as rows. With config.reader, a
   thread of the stream reads, and the threads that call zt_stream_read deliver. Without it, they do both.

   There are two locks. `reader` is locked first: the thread that holds it delivers rows, calls the driver and
   functions of the application, and alone uses the fields below `reader`. `data->mutex` guards bookkeeping,
   and is held briefly. */
struct zt_stream {
    ze_device_handle_t device;
    ze_context_handle_t context;
    zt_stream_config config;
    zt_stream_info info;
    zt__driver driver;
    zt__diagnostics diagnostics;
    uint32_t time_metric, length_metric, marker_metric, reason_metric; /* or UINT32_MAX */
    uint32_t marker_base; /* the number of the first marker in the device's reports */
    int is_activated;
    ze_event_pool_handle_t event_pool;
    ze_event_handle_t event; /* signalled when config.notify_reports are ready */
    zet_metric_streamer_handle_t streamer;
    int is_closing;         /* atomic, as the next four */
    int failure;            /* the result of the last read, or SUCCESS */
    int is_misaligned;      /* a calculation has failed since the last read: see zt__find_ring_room */
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

    zt__timed_mutex reader;    /* the thread that holds it alone uses what follows */
    zet_typed_value_t *values; /* of calculated rows */
    uint32_t max_calculated;   /* rows that `values` has room for */
    double *row;               /* the values of one row, for its receivers */
    uint64_t row_report;       /* the number of the report from which the first calculated row comes */
    int has_calculated;        /* reports of this capture were calculated before */
    int is_first_row;          /* the next row is the first of the capture, which is not valid */
    int is_after_failure;      /* the reports before the next row could not be calculated */
    int is_gap_located;        /* a row of gap_first to gap_last was found to follow the gap */
    int is_gap_pending;        /* rows are missing before the next one that is delivered */
    int has_end;               /* there was a row, so the next two are known */
    uint64_t end_ns;           /* of the last row's period, on the device's clock, unwrapped */
    uint64_t host_ns;          /* the same by the host's clock */
    uint64_t stamp_offset;     /* added to time stamps, which may be of another clock */
    uint32_t last_marker;      /* the number of the marker in the last row */
    double marker_reason;      /* ReportReason of rows with a marker; NaN: not seen yet */
    double other_reason;       /* the same of rows without a marker */
    zt__clock clock;
};

/* Public functions that only read take a const stream, but lock it. */
ZT__PRIVATE zt_stream *zt__mutable_stream(const zt_stream *stream) {
    return (zt_stream *)stream;
}

/* ---- opening --------------------------------------------------------------------------------------------- */

ZT__PRIVATE void zt__fill_stream_config(zt_stream_config *config) {
    if (!config->period_ns) {
        config->period_ns = 1000000;
    }
    if (!config->memory_limit) {
        config->memory_limit = (size_t)8 << 20;
    }
    if (!config->timeline_rows) {
        config->timeline_rows = 16384;
    }
}

/* Creates a stream without anything of the device. `given` may be NULL. Returns NULL without memory. */
ZT__PRIVATE zt_stream *zt__create_stream(ze_context_handle_t context, ze_device_handle_t device,
                                         const zt_stream_config *given) {
    enum { MOST_REPORTS = 1024 };
    zt_stream_config config = given ? *given : zt_stream_config_default();
    zt_stream *stream;
    zt__stream_data *data;
    uint64_t seed[2];
    zt__fill_stream_config(&config);
    if (!config.notify_reports) { /* as many as come in ten milliseconds */
        uint32_t reports = ZT__STREAM_WAIT_NS / config.period_ns + 1;
        config.notify_reports = reports < MOST_REPORTS ? reports : (uint32_t)MOST_REPORTS;
    }
    if (!config.allocator.allocate) {
        config.allocator = zt__default_allocator;
    }
    stream = (zt_stream *)zt__allocate(&config.allocator, 1, sizeof *stream);
    data = (zt__stream_data *)zt__allocate(&config.allocator, 1, sizeof *data);
    if (!stream || !data) {
        zt__free(&config.allocator, stream);
        zt__free(&config.allocator, data);
        return NULL;
    }
    pthread_mutex_init(&data->mutex, NULL);
    data->allocator = config.allocator;
    data->owners = 1;
    stream->data = data;
    stream->process = zt__get_process();
    stream->context = context;
    stream->device = device;
    stream->config = config;
    stream->info.group = "";
    stream->diagnostics.mutex = &data->mutex;
    stream->diagnostics.log = config.log ? config.log : zt__default_log();
    stream->diagnostics.log_user = config.log_user;
    stream->time_metric = stream->length_metric = UINT32_MAX;
    stream->marker_metric = stream->reason_metric = UINT32_MAX;
    stream->marker_reason = stream->other_reason = zt__nan();
    stream->gap_first = UINT64_MAX;
    pthread_mutex_init(&stream->reader.mutex, NULL);
    zt__load_driver(&stream->driver);
    /* The device also stores small numbers with another meaning in StreamMarker, so markers have large ones.
     */
    seed[0] = zt__now_ns();
    seed[1] = (uint64_t)(uintptr_t)stream;
    stream->marker_base = UINT32_C(0x40000000) + (uint32_t)(zt__hash(seed, sizeof seed) & 0x7fffffff);
    return stream;
}

/* Reports why the device cannot be sampled. Returns the result of the call that failed. */
ZT__PRIVATE ze_result_t zt__report_stream_refusal(zt_stream *stream, ze_result_t result, const char *call,
                                                  const zt__counter_holder *holder) {
    zt__report_refusal(&stream->diagnostics, stream->device, 1, result, call, holder);
    return result;
}

/* Finds the configured group; if none is configured, ComputeBasic, or else the first that is time-based.
   Refuses a device with several tiles, whose reports have a header, so that only one at a time could be
   calculated. */
ZT__PRIVATE ze_result_t zt__find_stream_group(zt_stream *stream) {
    const zet_metric_group_sampling_type_flags_t type = ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED;
    const zt_allocator *allocator = &stream->config.allocator;
    const char *name = stream->config.group ? stream->config.group : "ComputeBasic", *call;
    zt__group *group = &stream->data->group;
    zt__catalog catalog;
    uint32_t index, tiles = 0;
    ze_result_t result = zt__open_catalog(allocator, &stream->driver, stream->device, &catalog, &call);
    if (result != ZE_RESULT_SUCCESS) {
        return zt__report_stream_refusal(stream, result, call, NULL);
    }
    index = zt__find_group(&catalog, name, strlen(name), type);
    if (index == UINT32_MAX && !stream->config.group) {
        index = zt__find_group(&catalog, NULL, 0, type);
    }
    if (index != UINT32_MAX) {
        group->handle = catalog.handles[index];
        group->properties = catalog.properties[index];
        group->tiles = 1;
        stream->info.group = group->properties.name;
    } else if (zt__has_counters(&catalog)) {
        result =
            zt__report_no_group(&stream->diagnostics, "zt_stream_open", &catalog, name, strlen(name), type);
    } else {
        result = zt__report(&stream->diagnostics, METRIC_LIBRARY_MISSING,
                            ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE, (unsigned)catalog.count);
    }
    zt__close_catalog(allocator, &catalog);
    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }
    ZT__INTERNAL(result = zeDeviceGetSubDevices(stream->device, &tiles, NULL));
    if (result != ZE_RESULT_SUCCESS) {
        return zt__check(&stream->diagnostics, result, "zeDeviceGetSubDevices", "Update the driver.");
    }
    if (tiles > 1) {
        return zt__report(&stream->diagnostics, SEVERAL_TILES, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          (unsigned)tiles, stream->info.group);
    }
    return result;
}

/* Loads the metrics, and finds those from which a row has its time, length and marker. */
ZT__PRIVATE ze_result_t zt__load_stream_metrics(zt_stream *stream) {
    zt__stream_data *data = stream->data;
    const char *call;
    uint32_t i;
    ze_result_t result = zt__load_metrics(&stream->config.allocator, &data->group, &call);
    if (result != ZE_RESULT_SUCCESS) {
        return zt__report_stream_refusal(stream, result, call, NULL);
    }
    data->metrics =
        (zt_metric *)zt__allocate(&stream->config.allocator, data->group.metric_count, sizeof *data->metrics);
    if (!data->metrics) {
        return zt__report_no_memory(&stream->diagnostics, "zt_stream_open", "metrics");
    }
    for (i = 0; i < data->group.metric_count; i++) {
        zt_metric *metric = &data->metrics[i];
        int in_ns;
        zt__describe_metric(&data->group, i, metric);
        in_ns = strcmp(metric->units, "ns") == 0;
        if (in_ns && metric->type == (int)ZET_METRIC_TYPE_TIMESTAMP && stream->time_metric == UINT32_MAX) {
            stream->time_metric = i;
        } else if (in_ns && strcmp(metric->name, "GpuTime") == 0) {
            stream->length_metric = i;
        } else if (strcmp(metric->name, "StreamMarker") == 0) {
            stream->marker_metric = i;
        } else if (strcmp(metric->name, "ReportReason") == 0) {
            stream->reason_metric = i;
        }
    }
    return result;
}

/* Allocates config.memory_limit: up to a quarter for calculated values, the rest for reports. Rows that are
   kept for a profiler need more than that. */
ZT__PRIVATE ze_result_t zt__make_room_for_rows(zt_stream *stream) {
    enum { LEAST_ROWS = 16, MOST_ROWS = 256, LEAST_RING = 16384 };
    const zt_allocator *allocator = &stream->config.allocator;
    zt__stream_data *data = stream->data;
    uint32_t metrics = data->group.metric_count;
    size_t limit = stream->config.memory_limit, of_row = metrics * sizeof *stream->values;
    size_t at_once = limit / 4 / of_row, least = LEAST_ROWS * of_row + LEAST_RING;
    int complete;
    if (limit < least) {
        return zt__report(&stream->diagnostics, MEMORY_LIMIT, ZE_RESULT_ERROR_INVALID_SIZE, "zt_stream_open",
                          (unsigned long long)limit, stream->info.group, (unsigned long long)least);
    }
    stream->max_calculated = at_once < MOST_ROWS ? (uint32_t)at_once : (uint32_t)MOST_ROWS;
    stream->ring_size = limit - stream->max_calculated * of_row;
    stream->info.memory = limit;
    stream->values = (zet_typed_value_t *)zt__allocate(allocator, stream->max_calculated, of_row);
    stream->ring = (uint8_t *)zt__allocate(allocator, stream->ring_size, 1);
    stream->row = (double *)zt__allocate(allocator, metrics, sizeof *stream->row);
    complete = stream->values && stream->ring && stream->row;
    if (stream->config.profiler) {
        data->row_capacity = stream->config.timeline_rows;
        data->rows = (zt__kept_row *)zt__allocate(allocator, data->row_capacity, sizeof *data->rows);
        data->row_values =
            (double *)zt__allocate(allocator, data->row_capacity, metrics * sizeof *data->row_values);
        data->sums = (zt__moments *)zt__allocate(allocator, metrics, sizeof *data->sums);
        complete = complete && data->rows && data->row_values && data->sums;
    }
    return complete ? ZE_RESULT_SUCCESS
                    : zt__report_no_memory(&stream->diagnostics, "zt_stream_open", "reports and rows");
}

/* zet_metric_global_timestamps_resolution_exp_t, which old headers do not have. */
typedef struct zt__timestamps_resolution {
    uint32_t stype;
    void *next;
    uint64_t ticks_per_second, valid_bits;
} zt__timestamps_resolution;

/* Relates the clock of the group's metrics to that of the host. If the driver does not describe this clock,
   or cannot read it, uses the clock of the device. If that cannot be read either, rows are assumed to follow
   each other from now on, a period each. */
ZT__PRIVATE ze_result_t zt__open_stream_clock(zt_stream *stream) {
    enum { RESOLUTION_STYPE = 9 };
    zet_metric_group_handle_t group = stream->data->group.handle;
    zt__clock *clock = &stream->clock;
    ze_device_properties_t device;
    zet_metric_group_properties_t properties;
    zt__timestamps_resolution resolution;
    zt__clock_pair pair;
    ze_result_t result = ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    memset(&resolution, 0, sizeof resolution);
    memset(&properties, 0, sizeof properties);
    resolution.stype = RESOLUTION_STYPE;
    properties.stype = ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES;
    properties.pNext = &resolution;
    if (stream->driver.zetMetricGroupGetGlobalTimestampsExp &&
        zetMetricGroupGetProperties(group, &properties) == ZE_RESULT_SUCCESS && resolution.ticks_per_second) {
        zt__init_clock(clock, stream->device, group, resolution.ticks_per_second,
                       zt__mask_of_bits(resolution.valid_bits));
        result = zt__read_clocks(&stream->driver, clock, &pair);
    }
    if (result != ZE_RESULT_SUCCESS && !zt__means_device_loss(result)) {
        memset(&device, 0, sizeof device);
        device.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2; /* its timerResolution is in ticks a second */
        ZT__INTERNAL(result = zeDeviceGetProperties(stream->device, &device));
        if (result != ZE_RESULT_SUCCESS) {
            return zt__check(&stream->diagnostics, result, "zeDeviceGetProperties", "Update the driver.");
        }
        zt__init_clock(clock, stream->device, NULL, device.timerResolution,
                       zt__mask_of_bits(device.timestampValidBits));
        result = zt__read_clocks(&stream->driver, clock, &pair);
    }
    if (zt__means_device_loss(result)) {
        return zt__check(
            &stream->diagnostics, result,
            clock->group ? "zetMetricGroupGetGlobalTimestampsExp" : "zeDeviceGetGlobalTimestamps", "");
    }
    if (result != ZE_RESULT_SUCCESS) {
        stream->time_metric = UINT32_MAX;
        clock->interval_ns = UINT64_MAX; /* later pairs would contradict the assumed times */
        pair.ns[ZT__DEVICE] = 0;
        pair.ns[ZT__HOST] = zt__now_ns();
        pair.error_ns = 0;
    }
    zt__add_clock_pair(clock, pair);
    return ZE_RESULT_SUCCESS;
}

/* Queries the size of a report. A device may not know it before there is one. */
ZT__PRIVATE ze_result_t zt__query_report_size(zt_stream *stream) {
    size_t size = 0;
    ze_result_t result = zetMetricStreamerReadData(stream->streamer, 1, &size, NULL);
    if (result == ZE_RESULT_NOT_READY || (result == ZE_RESULT_SUCCESS && size == 0)) {
        return ZE_RESULT_SUCCESS;
    }
    if (result != ZE_RESULT_SUCCESS) {
        return zt__check(&stream->diagnostics, result, "zetMetricStreamerReadData", "Update the driver.");
    }
    if (stream->ring_size / size < 2) {
        return zt__report(&stream->diagnostics, MEMORY_LIMIT, ZE_RESULT_ERROR_INVALID_SIZE, "zt_stream_read",
                          (unsigned long long)stream->config.memory_limit, stream->info.group,
                          (unsigned long long)(stream->config.memory_limit + 2 * size));
    }
    zt__lock(&stream->data->mutex);
    stream->capacity = (uint32_t)(stream->ring_size / size);
    stream->report_size = size;
    zt__unlock(&stream->data->mutex);
    return result;
}

/* Activates the group and starts sampling. */
ZT__PRIVATE ze_result_t zt__open_streamer(zt_stream *stream) {
    zet_metric_streamer_desc_t streamer;
    ze_event_pool_desc_t pool;
    ze_event_desc_t event;
    zt__counter_holder holder;
    const char *call = "zeEventPoolCreate";
    ze_result_t result;
    memset(&pool, 0, sizeof pool);
    pool.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC;
    pool.flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE;
    pool.count = 1;
    memset(&event, 0, sizeof event);
    event.stype = ZE_STRUCTURE_TYPE_EVENT_DESC;
    event.signal = ZE_EVENT_SCOPE_FLAG_HOST;
    event.wait = ZE_EVENT_SCOPE_FLAG_HOST;
    ZT__INTERNAL(result = zeEventPoolCreate(stream->context, &pool, 1, &stream->device, &stream->event_pool));
    if (result == ZE_RESULT_SUCCESS) {
        call = "zeEventCreate";
        ZT__INTERNAL(result = zeEventCreate(stream->event_pool, &event, &stream->event));
    }
    if (result != ZE_RESULT_SUCCESS) {
        return zt__check(&stream->diagnostics, result, call, "Free events or memory.");
    }
    result = zt__activate_group(stream->context, stream->device, &stream->data->group, 1, &holder);
    if (result != ZE_RESULT_SUCCESS) {
        return zt__report_stream_refusal(stream, result, "zetContextActivateMetricGroups", &holder);
    }
    stream->is_activated = 1;
    result = zt__open_stream_clock(stream);
    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }
    memset(&streamer, 0, sizeof streamer);
    streamer.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC;
    streamer.samplingPeriod = stream->config.period_ns;
    streamer.notifyEveryNReports = stream->config.notify_reports;
    result = zetMetricStreamerOpen(stream->context, stream->device, stream->data->group.handle, &streamer,
                                   stream->event, &stream->streamer);
    if (result != ZE_RESULT_SUCCESS) {
        return zt__report_stream_refusal(stream, result, "zetMetricStreamerOpen", NULL);
    }
    stream->info.period_ns = streamer.samplingPeriod ? streamer.samplingPeriod : stream->config.period_ns;
    stream->data->period_ns = stream->info.period_ns;
    stream->info.notify_reports = streamer.notifyEveryNReports;
    return zt__query_report_size(stream);
}

/* ---- from the device into the ring ----------------------------------------------------------------------- */

/* Finds where in the ring the next bytes are stored. Returns how many fit there.

   A read can end within a report, whose rest then comes first in the next read. After a failed calculation
   this may not hold: so the partial report is discarded, and the next read is assumed to begin with a report.
 */
ZT__PRIVATE size_t zt__find_ring_room(zt_stream *stream, uint8_t **bytes) {
    int is_misaligned = zt__load(&stream->is_misaligned);
    uint64_t place, room;
    zt__lock(&stream->data->mutex);
    if (is_misaligned) {
        stream->counts.reports += stream->partial != 0;
        stream->counts.discarded += stream->partial != 0;
        stream->partial = 0;
        zt__store(&stream->is_misaligned, 0);
    }
    place = stream->written % stream->capacity;
    room = stream->capacity - (stream->written - stream->calculated);
    zt__unlock(&stream->data->mutex);
    if (room > stream->capacity - place) {
        room = stream->capacity - place;
    }
    *bytes = stream->ring + (size_t)place * stream->report_size + stream->partial;
    return room ? (size_t)room * stream->report_size - stream->partial : 0;
}

/* Reads from the device once. Sets `more` if it may have more than there was room for. If the device dropped
   reports, those that it returns are valid all the same. The gap is then before one of them, or before the
   first of the next read. */
ZT__PRIVATE ze_result_t zt__read_into_ring(zt_stream *stream, int *more) {
    size_t room, size;
    uint8_t *bytes;
    uint64_t reports, now;
    int dropped;
    ze_result_t result = ZE_RESULT_SUCCESS;
    *more = 0;
    if (!stream->report_size) {
        result = zt__query_report_size(stream);
    }
    if (result != ZE_RESULT_SUCCESS || !stream->report_size) {
        return result;
    }
    size = room = zt__find_ring_room(stream, &bytes);
    if (room == 0) {
        *more = 1;
        return result;
    }
    result = zetMetricStreamerReadData(stream->streamer, UINT32_MAX, &size, bytes);
    dropped = result == ZE_RESULT_WARNING_DROPPED_DATA;
    if (result == ZE_RESULT_NOT_READY) {
        return ZE_RESULT_SUCCESS;
    }
    if (result != ZE_RESULT_SUCCESS && !dropped) {
        return zt__check(&stream->diagnostics, result, "zetMetricStreamerReadData", "Update the driver.");
    }
    *more = size == room;
    reports = (stream->partial + size) / stream->report_size;
    stream->partial = (stream->partial + size) % stream->report_size;
    now = zt__now_ns();
    zt__lock(&stream->data->mutex);
    if (dropped) {
        stream->counts.gaps++;
        if (stream->gap_first == UINT64_MAX) {
            stream->gap_first = stream->written;
        }
        stream->gap_last = stream->written + reports;
        stream->gap_ns = now;
    }
    stream->written += reports;
    stream->written_ns = now;
    stream->counts.reports += reports;
    zt__unlock(&stream->data->mutex);
    if (dropped) {
        zt__report(&stream->diagnostics, STREAM_GAP, result);
    }
    return ZE_RESULT_SUCCESS;
}

/* Reads until the device has no more, but at most a few times. Returns whether it may have more. */
ZT__PRIVATE int zt__fill_ring(zt_stream *stream) {
    enum { MOST_READS = 4 };
    int more = 1, reads;
    ze_result_t result = ZE_RESULT_SUCCESS;
    for (reads = 0; more && reads < MOST_READS; reads++) {
        if (zt__is_device_lost(&stream->diagnostics)) {
            return 0;
        }
        result = zt__read_into_ring(stream, &more);
        zt__store(&stream->failure, (int)result);
        if (result != ZE_RESULT_SUCCESS) {
            return 0;
        }
    }
    return more;
}

/* Returns whether the device has signalled its event since the last call. The event is polled, because a wait
   in the driver may be a busy wait. */
ZT__PRIVATE int zt__was_notified(zt_stream *stream) {
    const char *call = "zeEventQueryStatus";
    ze_result_t result;
    ZT__INTERNAL(result = zeEventQueryStatus(stream->event));
    if (result == ZE_RESULT_NOT_READY) {
        return 0;
    }
    if (result == ZE_RESULT_SUCCESS) {
        call = "zeEventHostReset";
        ZT__INTERNAL(result = zeEventHostReset(stream->event));
    }
    return zt__check(&stream->diagnostics, result, call, "Rows come later.") == ZE_RESULT_SUCCESS;
}

/* ---- the reader thread ----------------------------------------------------------------------------------- */

/* The step of the reader thread: reads what there is, then sleeps until the device signals its event, which
   is polled four times as often as it is expected. Reads again after ten milliseconds in any case, because
   the device may signal nothing. */
ZT__PRIVATE int zt__run_reader_thread(void *user) {
    enum { SHORTEST_NS = 100000 };
    zt_stream *stream = (zt_stream *)user;
    uint64_t step = (uint64_t)stream->info.period_ns * stream->info.notify_reports / 4;
    uint64_t deadline = zt__deadline(ZT__STREAM_WAIT_NS);
    step = step > SHORTEST_NS ? step : (uint64_t)SHORTEST_NS;
    step = step < ZT__STREAM_WAIT_NS ? step : (uint64_t)ZT__STREAM_WAIT_NS;
    zt__fill_ring(stream);
    zt__store(&stream->reader_cpu_ns, zt__clock_ns(CLOCK_THREAD_CPUTIME_ID));
    do {
        zt__sleep_thread(&stream->thread, step);
    } while (!zt__load(&stream->thread.stop_requested) && zt__now_ns() < deadline &&
             !zt__was_notified(stream));
    return !zt__is_device_lost(&stream->diagnostics);
}

/* ---- the times of rows, with `reader` held --------------------------------------------------------------- */

/* A row as it was calculated. Times are those of the device's clock, unwrapped. */
typedef struct zt__raw_row {
    const zet_typed_value_t *values;
    int may_follow_gap;    /* its report is gap_first or later, so the gap may be before this row */
    int is_last_to_follow; /* its report is gap_last or later, so the gap is not before a later row */
    uint64_t gap_ns;       /* when the device reported the gap */
    uint64_t read_ns;      /* when its report had been read: the row ended before that */
    uint64_t end_ns;       /* the end of its period */
    uint64_t since_end_ns; /* from the end of the row before to its own */
    uint64_t length_ns;
    int has_length;
    int is_valid; /* it has a length, and is not the first of the capture */
    int gap;      /* rows are missing before it */
} zt__raw_row;

/* Reads a value as an integer, which may have more bits than a double. Returns 0 if the group has no such
   metric, or the value is no number. */
ZT__PRIVATE int zt__read_integer(const zet_typed_value_t *values, uint32_t metric, uint64_t *integer) {
    double number;
    if (metric == UINT32_MAX) {
        return 0;
    }
    if (values[metric].type == ZET_VALUE_TYPE_UINT64) {
        *integer = values[metric].value.ui64;
        return 1;
    }
    number = zt__value_of(&values[metric]);
    if (zt__is_nan(number) || number < 0 || number >= 18446744073709551616.0) {
        return 0;
    }
    *integer = (uint64_t)number;
    return 1;
}

/* Reads the time stamp of a row, wrapped as those of the clock. Returns 0 if it has none.

   Some drivers do not report to which clock these time stamps belong, and a clock may start again from 0
   unexpectedly. If a time stamp is impossible, the row is assumed to follow the one before it directly, and
   `stamp_offset` is set so that later time stamps continue from there. */
ZT__PRIVATE int zt__read_stamp(zt_stream *stream, const zt__raw_row *row, uint64_t *stamp) {
    enum { SLACK_NS = 1000000000 };
    const zt__clock *clock = &stream->clock;
    uint64_t wrap = clock->wrap_ns, slack = wrap ? zt__clock_tolerance(clock) : (uint64_t)SLACK_NS;
    uint64_t before = stream->has_end ? stream->end_ns : clock->pairs[0].ns[ZT__DEVICE];
    uint64_t least = before > slack ? before - slack : 0;
    uint64_t length = stream->info.period_ns, wrapped, reported, end;
    if (!zt__read_integer(row->values, stream->time_metric, &wrapped)) {
        return 0;
    }
    wrapped = wrap ? wrapped % wrap : wrapped;
    *stamp = wrap ? (wrapped + stream->stamp_offset) % wrap : wrapped + stream->stamp_offset;
    end = zt__unwrap_after(clock, *stamp, least);
    if (end < least || end > row->read_ns + slack) {
        if (zt__read_integer(row->values, stream->length_metric, &reported) && reported < length) {
            length = reported;
        }
        end = before + length < row->read_ns ? before + length : row->read_ns;
        *stamp = wrap ? end % wrap : end;
        stream->stamp_offset = wrap ? (*stamp + wrap - wrapped) % wrap : *stamp - wrapped;
    }
    return 1;
}

/* Finds when the period of a row ended, which is the time stamp of its report, and how long it lasted. */
ZT__PRIVATE void zt__find_period(zt_stream *stream, zt__raw_row *row) {
    const zt__clock *clock = &stream->clock;
    uint64_t tolerance = zt__clock_tolerance(clock), opened_ns = clock->pairs[0].ns[ZT__DEVICE];
    uint64_t period = stream->info.period_ns, stamp = 0, later_ns;
    int has_stamp = zt__read_stamp(stream, row, &stamp), is_reported, in_future, in_next_wrap;
    if (!stream->has_end) {
        row->end_ns = opened_ns;
        if (has_stamp) {
            row->end_ns = zt__unwrap_after(clock, stamp, opened_ns > tolerance ? opened_ns - tolerance : 0);
        }
    } else if (!has_stamp) { /* a period after the last row, or at the end of the gap */
        row->end_ns = stream->end_ns + period;
        if (row->is_last_to_follow && row->end_ns < row->gap_ns) {
            row->end_ns = row->gap_ns;
        }
    } else {
        row->end_ns = zt__unwrap_after(clock, stamp, stream->end_ns);
        later_ns = row->end_ns - stream->end_ns;
        /* A time stamp that is a little before the last one looks like one that is nearly a whole wrap after
           it. But then the row would end in the future, or much later although the device dropped nothing. */
        in_future = row->end_ns > row->read_ns + tolerance;
        in_next_wrap =
            !row->may_follow_gap && later_ns > clock->wrap_ns - tolerance && later_ns > period + tolerance;
        if (row->end_ns < stream->end_ns ||
            (clock->wrap_ns && later_ns > clock->wrap_ns / 2 && (in_future || in_next_wrap))) {
            row->end_ns = stream->end_ns;
        } else if (row->may_follow_gap && later_ns > period + period / 2) {
            /* In a gap the clock can wrap more than once. The gap was reported soon after its end. */
            uint64_t after_gap_ns = zt__unwrap_near(clock, stamp, row->gap_ns);
            row->end_ns = after_gap_ns > row->end_ns ? after_gap_ns : row->end_ns;
        }
    }
    if (stream->has_end) {
        row->since_end_ns = row->end_ns - stream->end_ns;
    }
    /* The length is what the device reports, but at most the time since the end of the row before. If the
       device reports no length, it is that time; but not after a failed calculation, when a row is missing
       there. */
    is_reported = zt__read_integer(row->values, stream->length_metric, &row->length_ns);
    row->has_length = is_reported || (stream->has_end && !stream->is_after_failure);
    if (!is_reported || (stream->has_end && row->length_ns > row->since_end_ns)) {
        row->length_ns = row->since_end_ns;
    }
    if (row->length_ns > row->end_ns) {
        row->length_ns = row->end_ns;
    }
}

/* Returns the name of the marker that ended a row, or NULL. In rows without a marker, the metric StreamMarker
   has the number of the last marker, or one with another meaning. So if a row has the same number as the one
   before, it has a marker only if the metric ReportReason shows this. */
ZT__PRIVATE const char *zt__find_marker(zt_stream *stream, const zet_typed_value_t *values) {
    zt__stream_data *data = stream->data;
    uint64_t number = 0;
    uint32_t last = stream->last_marker, index;
    const char *name = NULL;
    double reason = zt__nan();
    if (!zt__read_integer(values, stream->marker_metric, &number)) {
        return NULL;
    }
    if (stream->reason_metric != UINT32_MAX) {
        reason = zt__value_of(&values[stream->reason_metric]);
    }
    stream->last_marker = (uint32_t)number;
    index = (uint32_t)number - stream->marker_base;
    zt__lock(&data->mutex);
    if (number <= UINT32_MAX && index < data->marker_count) {
        name = data->markers[index]->name;
    }
    zt__unlock(&data->mutex);
    if (!name) {
        stream->other_reason = reason;
    } else if ((uint32_t)number != last) {
        stream->marker_reason = reason;
    } else if (zt__is_nan(reason) || zt__is_nan(stream->marker_reason) || reason != stream->marker_reason ||
               (!zt__is_nan(stream->other_reason) && reason == stream->other_reason)) {
        name = NULL;
    }
    return name;
}

/* ---- from the ring to the application -------------------------------------------------------------------- */

/* Calculates the next reports that lie one after the other in the ring. Returns 0 if there are none.

   Drivers keep state between calls. The first call in a process returns one row less than there are reports.
   The first call for a later capture returns as many, but the first row begins in the capture before; it is
   discarded
   (`is_first_row`). */
ZT__PRIVATE int zt__calculate_rows(zt_stream *stream) {
    const char *call = "zetMetricGroupCalculateMetricValues";
    const zt__group *group = &stream->data->group;
    zt__process *process = zt__get_process();
    uint64_t waiting, place;
    uint32_t reports, count, rows = 0;
    ze_result_t result;
    zt__lock(&stream->data->mutex);
    waiting = stream->written - stream->calculated;
    place = stream->capacity ? stream->calculated % stream->capacity : 0;
    if (waiting > stream->capacity - place) {
        waiting = stream->capacity - place;
    }
    zt__unlock(&stream->data->mutex);
    reports = waiting < stream->max_calculated ? (uint32_t)waiting : stream->max_calculated;
    count = reports * group->metric_count;
    if (reports == 0 || !process) {
        return 0;
    }
    zt__lock(&process->mutex); /* drivers calculate on one thread at a time */
    result = zetMetricGroupCalculateMetricValues(
        group->handle, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, reports * stream->report_size,
        stream->ring + (size_t)place * stream->report_size, &count, stream->values);
    zt__unlock(&process->mutex);
    if (result == ZE_RESULT_SUCCESS) {
        rows = count / group->metric_count < reports ? count / group->metric_count : reports;
        stream->is_first_row = !stream->has_calculated && rows == reports;
        stream->has_calculated = 1;
    } else {
        stream->is_after_failure = 1;
        zt__store(&stream->is_misaligned, 1);
        if (zt__means_device_loss(result)) {
            zt__check(&stream->diagnostics, result, call, "");
        } else {
            zt__report(&stream->diagnostics, NOT_CALCULATED, result, zt_result_name(result));
        }
    }
    zt__lock(&stream->data->mutex);
    stream->row_report = stream->calculated + (reports - rows);
    stream->calculated += reports;
    stream->row_next = 0;
    stream->row_count = rows;
    stream->counts.discarded += reports - rows;
    zt__unlock(&stream->data->mutex);
    return 1;
}

/* Gets the next calculated row, with its times and whether it follows a gap. Counts it as delivered if it is
   valid and `is_wanted`, else as discarded. Returns 0 if there is none. */
ZT__PRIVATE int zt__next_row(zt_stream *stream, int is_wanted, zt__raw_row *row) {
    uint64_t period = stream->info.period_ns, report, periods;
    int follows_gap, is_delivered;
    memset(row, 0, sizeof *row);
    zt__lock(&stream->data->mutex);
    if (stream->row_next == stream->row_count) {
        zt__unlock(&stream->data->mutex);
        return 0;
    }
    row->values = stream->values + (size_t)stream->row_next * stream->data->group.metric_count;
    report = stream->row_report + stream->row_next;
    row->may_follow_gap = report >= stream->gap_first && stream->gap_first != UINT64_MAX;
    row->is_last_to_follow = row->may_follow_gap && report >= stream->gap_last;
    row->gap_ns = zt__convert_time(&stream->clock, stream->gap_ns, ZT__HOST, ZT__DEVICE);
    row->read_ns = zt__convert_time(&stream->clock, stream->written_ns, ZT__HOST, ZT__DEVICE);
    zt__unlock(&stream->data->mutex);
    zt__find_period(stream, row);
    /* The device does not report where in gap_first to gap_last it dropped reports. There is a gap before
       each row that ends much more than a period after the one before; if there is no such row, before the
       last. */
    follows_gap = row->may_follow_gap && (row->since_end_ns > period + period / 2 ||
                                          (row->is_last_to_follow && !stream->is_gap_located));
    periods = (row->since_end_ns + period / 2) / period;
    row->gap = follows_gap || stream->is_after_failure || stream->is_gap_pending;
    row->is_valid = row->has_length && !stream->is_first_row;
    is_delivered = row->is_valid && is_wanted;
    zt__lock(&stream->data->mutex);
    stream->row_next++;
    stream->counts.rows += is_delivered != 0;
    stream->counts.discarded += !is_delivered;
    if (row->may_follow_gap && periods > 1) {
        stream->counts.dropped += periods - 1;
    }
    stream->is_gap_located |= follows_gap;
    if (row->is_last_to_follow && report >= stream->gap_last) { /* else another gap was reported meanwhile */
        stream->gap_first = UINT64_MAX;
        stream->is_gap_located = 0;
    }
    zt__unlock(&stream->data->mutex);
    stream->is_gap_pending = row->gap && !is_delivered;
    stream->is_first_row = stream->is_after_failure = 0;
    stream->has_end = 1;
    stream->end_ns = row->end_ns;
    return 1;
}

/* What receives the rows of one read. */
typedef struct zt__receiver {
    zt_row_fn function; /* or NULL */
    void *user;
    uint64_t row_count; /* valid rows so far, also those that were discarded */
    int has_stopped;    /* `function` has returned nonzero */
} zt__receiver;

/* Delivers the rows that are calculated: to `function`, and to the profiler of an attached stream. */
ZT__PRIVATE void zt__deliver_rows(zt_stream *stream, zt__receiver *receiver) {
    const zt__clock *clock = &stream->clock;
    zt__stream_data *data = stream->data;
    int is_attached, is_wanted;
    zt__raw_row raw;
    zt__lock(&data->mutex);
    is_attached = data->profiler != NULL;
    zt__unlock(&data->mutex);
    is_wanted = is_attached || receiver->function;
    while (!receiver->has_stopped && zt__next_row(stream, is_wanted, &raw)) {
        zt__kept_row kept;
        zt_row row;
        uint32_t m;
        row.device_ns = raw.end_ns - raw.length_ns;
        kept.begin_ns = zt__convert_time(clock, row.device_ns, ZT__DEVICE, ZT__HOST);
        kept.end_ns = zt__convert_time(clock, raw.end_ns, ZT__DEVICE, ZT__HOST);
        /* A new pair of clock times can move converted times back by a little. */
        kept.begin_ns = kept.begin_ns > stream->host_ns ? kept.begin_ns : stream->host_ns;
        kept.end_ns = kept.end_ns > kept.begin_ns ? kept.end_ns : kept.begin_ns;
        stream->host_ns = kept.end_ns;
        kept.marker = zt__find_marker(stream, raw.values);
        kept.gap = raw.gap;
        receiver->row_count += raw.is_valid != 0;
        if (!raw.is_valid || !is_wanted) {
            continue;
        }
        for (m = 0; m < data->group.metric_count; m++) {
            stream->row[m] = zt__value_of(&raw.values[m]);
        }
        if (is_attached) {
            zt__keep_row(data, &kept, stream->row);
        }
        if (receiver->function) {
            row.time_ns = kept.begin_ns;
            row.length_ns = raw.length_ns;
            row.gap = kept.gap;
            row.metric_count = data->group.metric_count;
            row.values = stream->row;
            row.marker = kept.marker;
            receiver->has_stopped = receiver->function(&row, receiver->user) != 0;
        }
    }
}

/* Delivers all rows that there are. With `reads_device`, reads from the device before, until it has no more;
   but not without end, as it may always have more. */
ZT__PRIVATE void zt__deliver_all(zt_stream *stream, zt__receiver *receiver, int reads_device) {
    enum { MOST_READS = 1024 };
    int more = 1, reads = 0;
    zt__clock_pair pair;
    if (zt__is_clock_pair_due(&stream->clock) && !zt__is_device_lost(&stream->diagnostics) &&
        zt__read_clocks(&stream->driver, &stream->clock, &pair) == ZE_RESULT_SUCCESS) {
        zt__add_clock_pair(&stream->clock, pair);
    }
    while (more && !receiver->has_stopped && reads++ < MOST_READS) {
        uint64_t end;
        more = reads_device && zt__fill_ring(stream);
        zt__lock(&stream->data->mutex);
        end = stream->written; /* the reader thread may add more all the time */
        zt__unlock(&stream->data->mutex);
        do {
            zt__deliver_rows(stream, receiver);
        } while (!receiver->has_stopped && stream->calculated < end && zt__calculate_rows(stream));
    }
    zt__attribute_rows_of_stream(stream->data);
}

/* Delivers rows until there was one, the deadline has passed, the stream is being closed, or reading fails.
 */
ZT__PRIVATE ze_result_t zt__read_rows(zt_stream *stream, zt__receiver *receiver, uint64_t deadline) {
    int reads_device = !zt__load(&stream->thread.running), failure;
    for (;;) {
        uint64_t read_again_ns = zt__deadline(ZT__STREAM_WAIT_NS);
        zt__wait wait = zt__wait_until(deadline < read_again_ns ? deadline : read_again_ns);
        zt__deliver_all(stream, receiver, reads_device);
        if (receiver->row_count) {
            return ZE_RESULT_SUCCESS;
        }
        if (zt__load(&stream->is_closing)) {
            return ZE_RESULT_ERROR_NOT_AVAILABLE;
        }
        if (zt__is_device_lost(&stream->diagnostics)) {
            return ZE_RESULT_ERROR_DEVICE_LOST;
        }
        failure = zt__load(&stream->failure);
        if (failure) {
            return (ze_result_t)failure;
        }
        if (zt__now_ns() >= deadline) {
            return ZE_RESULT_NOT_READY;
        }
        /* The device does not signal its event for every report, so it is read again after a while. */
        while (!zt__load(&stream->is_closing) && zt__wait_again(&wait)) {
            uint64_t written;
            zt__lock(&stream->data->mutex);
            written = stream->written;
            zt__unlock(&stream->data->mutex);
            if (reads_device ? zt__was_notified(stream) : stream->calculated < written) {
                break;
            }
        }
    }
}

/* ---- markers --------------------------------------------------------------------------------------------- */

/* Finds or adds a marker. Returns NULL without memory, or if there are too many. */
ZT__PRIVATE const zt__marker *zt__find_or_add_marker(zt__stream_data *data, const char *name) {
    size_t length = strlen(name);
    zt__marker *marker, *made;
    zt__lock(&data->mutex);
    marker = (zt__marker *)zt__map_find(&data->marker_names, name, length);
    zt__unlock(&data->mutex);
    if (marker) {
        return marker;
    }
    made = (zt__marker *)zt__allocate(&data->allocator, 1, sizeof *made + length + 1);
    if (!made) {
        return NULL;
    }
    made->name = (const char *)memcpy(made + 1, name, length + 1);
    zt__lock(&data->mutex);
    if (zt__map_make_room(&data->marker_names, &data->allocator, &data->mutex)) {
        marker = (zt__marker *)zt__map_find(&data->marker_names, name, length); /* added meanwhile */
        if (!marker && data->marker_count < ZT__MAX_MARKERS) {
            marker = made;
            made = NULL;
            marker->index = data->marker_count;
            data->markers[data->marker_count++] = marker;
            zt__map_add(&data->marker_names, marker->name, length, marker);
        }
    }
    zt__unlock(&data->mutex);
    zt__free(&data->allocator, made);
    return marker;
}

/* ---- closing --------------------------------------------------------------------------------------------- */

/* Frees a stream, also one that is not opened completely. The profiler keeps what it shares with the stream.
 */
ZT__PRIVATE void zt__destroy_stream(zt_stream *stream) {
    zt_allocator allocator = stream->config.allocator;
    if (stream->streamer) {
        zt__check(&stream->diagnostics, zetMetricStreamerClose(stream->streamer), "zetMetricStreamerClose",
                  "Update the driver.");
    }
    if (stream->is_activated) {
        zt__check(&stream->diagnostics,
                  zt__deactivate_group(stream->context, stream->device, &stream->data->group),
                  "zetContextActivateMetricGroups", "Update the driver.");
    }
    if (stream->event) {
        ZT__INTERNAL(zeEventDestroy(stream->event));
    }
    if (stream->event_pool) {
        ZT__INTERNAL(zeEventPoolDestroy(stream->event_pool));
    }
    zt__free(&allocator, stream->ring);
    zt__free(&allocator, stream->values);
    zt__free(&allocator, stream->row);
    zt__lock(&stream->data->mutex);
    stream->data->is_open = 0;
    zt__unlock(&stream->data->mutex);
    /* The last samples need not wait for more rows. */
    zt__attribute_rows_of_stream(stream->data);
    zt__release_stream_data(stream->data);
    pthread_mutex_destroy(&stream->reader.mutex);
    zt__free(&allocator, stream);
}

/* ---- public ---------------------------------------------------------------------------------------------- */

ZT_API zt_stream_config zt_stream_config_default(void) {
    zt_stream_config config;
    memset(&config, 0, sizeof config);
    zt__fill_stream_config(&config);
    return config;
}

ZT_API ze_result_t zt_stream_open(ze_context_handle_t context, ze_device_handle_t device,
                                  const zt_stream_config *config, zt_stream **stream) {
    const char *call = "zt_stream_open";
    zt_profiler *profiler;
    zt_stream *opened;
    ze_result_t result;
    if (!stream) {
        return zt__report_null(NULL, call, "stream");
    }
    *stream = NULL;
    result = zt__check_opening(call, context, device, config ? &config->allocator : NULL);
    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }
    opened = zt__create_stream(context, device, config);
    if (!opened) {
        return zt__report_no_memory(NULL, call, "the stream");
    }
    profiler = opened->config.profiler;
    if (profiler && !profiler->timeline) {
        result = zt__report(&opened->diagnostics, NO_TIMELINE, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    }
    if (result == ZE_RESULT_SUCCESS) {
        result = zt__find_stream_group(opened);
    }
    if (result == ZE_RESULT_SUCCESS) {
        result = zt__load_stream_metrics(opened);
    }
    if (result == ZE_RESULT_SUCCESS) {
        result = zt__make_room_for_rows(opened);
    }
    if (result == ZE_RESULT_SUCCESS) {
        result = zt__open_streamer(opened);
    }
    if (result == ZE_RESULT_SUCCESS && opened->config.reader &&
        !zt__start_thread(&opened->thread, zt__run_reader_thread, opened)) {
#ifdef ZETOOLS_NO_THREADS
        result = zt__report(&opened->diagnostics, NO_READER, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                            "ZETOOLS_NO_THREADS is defined");
#else
        result = zt__report(&opened->diagnostics, NO_READER, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY,
                            "the system starts no thread");
#endif
    }
    if (result != ZE_RESULT_SUCCESS) {
        zt__keep_error(&opened->diagnostics, result);
        zt__destroy_stream(opened);
        return result;
    }
    if (profiler) {
        zt__attach_stream(profiler, opened->data);
    }
    *stream = opened;
    return result;
}

ZT_API ze_result_t zt_stream_read(zt_stream *stream, uint64_t timeout_ns, zt_row_fn function, void *user) {
    zt__receiver receiver = {function, user, 0, 0};
    uint64_t deadline = zt__deadline(timeout_ns);
    ze_result_t result = ZE_RESULT_NOT_READY;
    if (!stream) {
        return ZE_RESULT_SUCCESS;
    }
    if (zt__is_owner(&stream->reader)) {
        return zt__report(&stream->diagnostics, STREAM_BUSY, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                          "zt_stream_read");
    }
    __atomic_add_fetch(&stream->users, 1, __ATOMIC_ACQ_REL);
    if (zt__lock_until(&stream->reader, deadline)) {
        result = zt__read_rows(stream, &receiver, deadline);
        zt__unlock_timed(&stream->reader);
    }
    __atomic_sub_fetch(&stream->users, 1, __ATOMIC_ACQ_REL);
    return result;
}

ZT_API ze_result_t zt_stream_mark(zt_stream *stream, ze_command_list_handle_t list, const char *name) {
    const char *call = "zetCommandListAppendMetricStreamerMarker";
    const zt__marker *marker;
    if (!stream) {
        return ZE_RESULT_SUCCESS;
    }
    if (!list) {
        return zt__report_null_handle(&stream->diagnostics, "zt_stream_mark", "list");
    }
    name = zt__shown_name(name);
    if (stream->marker_metric == UINT32_MAX) {
        return zt__report(&stream->diagnostics, CANNOT_MARK, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, name,
                          "the group has no metric StreamMarker. Choose another group");
    }
    marker = zt__find_or_add_marker(stream->data, name);
    if (!marker) {
        return zt__report(&stream->diagnostics, CANNOT_MARK, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, name,
                          "too many names, or no memory. Do not put numbers that change into names");
    }
    return zt__check(
        &stream->diagnostics,
        zetCommandListAppendMetricStreamerMarker(list, stream->streamer, stream->marker_base + marker->index),
        call, "The list has no marker.");
}

ZT_API zt_stream_counts zt_stream_get_counts(const zt_stream *stream) {
    zt_stream_counts counts;
    memset(&counts, 0, sizeof counts);
    if (stream) {
        zt__lock(&stream->data->mutex);
        counts = stream->counts;
        counts.waiting = stream->written - stream->calculated + (stream->row_count - stream->row_next);
        zt__unlock(&stream->data->mutex);
    }
    return counts;
}

ZT_API zt_stream_counts zt_stream_close(zt_stream *stream, zt_row_fn function, void *user) {
    enum { LONGEST_S = 10 };
    zt__receiver receiver = {function, user, 0, 0};
    zt__wait wait = zt__wait_until(zt__deadline(LONGEST_S * UINT64_C(1000000000)));
    zt_stream_counts counts;
    int is_inside;
    memset(&counts, 0, sizeof counts);
    /* In a forked child, threads that do not exist there may hold the locks. */
    if (!stream || stream->process != zt__get_process()) {
        return counts;
    }
    if (zt__is_inside_log(&stream->diagnostics, "zt_stream_close")) {
        return zt_stream_get_counts(stream);
    }
    is_inside = zt__is_owner(&stream->reader);
    if (!is_inside) {
        zt__store(&stream->is_closing, 1); /* ends reads that wait */
        while (zt__load(&stream->users) && zt__wait_again(&wait)) {
        }
    }
    if (is_inside || zt__load(&stream->users)) {
        zt__report(&stream->diagnostics, STREAM_BUSY, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                   "zt_stream_close");
        return zt_stream_get_counts(stream);
    }
    if (!zt__stop_thread(&stream->thread)) {
        zt__report(&stream->diagnostics, THREAD_HANGS, ZE_RESULT_NOT_READY, "zt_stream_close");
        return zt_stream_get_counts(stream);
    }
    zt__try_lock(&stream->reader); /* no other thread uses it, but `function` may call zt_stream_read */
    zt__deliver_all(stream, &receiver, 1);
    zt__unlock_timed(&stream->reader);
    counts = zt_stream_get_counts(stream);
    counts.discarded += counts.waiting; /* `function` stopped early */
    counts.waiting = 0;
    zt__destroy_stream(stream);
    return counts;
}

ZT_API zt_stream_info zt_stream_get_info(const zt_stream *stream) {
    zt_stream_info info;
    memset(&info, 0, sizeof info);
    info.group = "";
    if (stream) {
        info = stream->info;
        info.reader_cpu_ns = zt__load(&stream->reader_cpu_ns);
    }
    return info;
}

ZT_API uint32_t zt_stream_get_metric_count(const zt_stream *stream) {
    return stream ? stream->data->group.metric_count : 0;
}

ZT_API const zt_metric *zt_stream_get_metric(const zt_stream *stream, uint32_t metric) {
    return stream && metric < stream->data->group.metric_count ? &stream->data->metrics[metric] : NULL;
}

ZT_API uint32_t zt_stream_find_metric(const zt_stream *stream, const char *name) {
    if (!stream || !name) {
        return UINT32_MAX;
    }
    return zt__find_metric(&zt__mutable_stream(stream)->diagnostics, "zt_stream_find_metric",
                           stream->data->metrics, stream->data->group.metric_count, name, NULL);
}

ZT_API const char *zt_stream_get_last_error(const zt_stream *stream) {
    return zt__get_last_error(stream ? &zt__mutable_stream(stream)->diagnostics : NULL);
}

ZT_API ze_result_t zt_stream_get_last_result(const zt_stream *stream) {
    return zt__get_last_result(stream ? &zt__mutable_stream(stream)->diagnostics : NULL);
}

/* ==== >>tracer: launches and calls of code that knows nothing of the profiler ============================= */

#ifdef ZETOOLS_TRACER

/* The loader calls a prologue before and an epilogue after each traced call of the process. One dispatcher
   receives these callbacks and passes them to the live tracers: one for each profiler that traces, and one
   for zt_auto, which has a profiler for each context and device.

   The chapter has, in this order: the calls and their parameters; what a tracer knows of kernels, devices
   and lists; the host times of calls; what is appended around a launch or copy; what else a tracer does
   before and after a call; the dispatcher; and the functions of the interface.

   Locks:

     setup, of the dispatcher   held while tracers start and stop, also during calls of the loader, none of
                                which waits for a callback. The mutex of the dispatcher may follow
     opening, of a tracer       held while zt_auto opens a profiler, whose locks may follow, as may the mutex
                                of the tracer. Its owner is known; waits are bounded
     mutex, of the dispatcher   guards the list of live tracers and that of frames. Held while a frame
                                changes to CALLBACK or ABANDONED
     mutex, of a tracer         guards what the tracer knows of handles, names, counts and times

   The two mutexes are held briefly. Under them no other lock is locked, and neither the driver nor a
   function of the application is called. What is marked atomic is also read without a lock. */

/* The calls of the core interface (ze...) that loaders can trace. Older loaders lack some of them. Where one
   of these lists is used, X is defined as what stands there for each call: a constant, its name, its
   callbacks. */
/* clang-format off */
#define ZT__CALLS(X)                                                                                         \
    X(CommandListAppendBarrier) X(CommandListAppendEventReset) X(CommandListAppendGraphExt)                  \
    X(CommandListAppendHostFunction) X(CommandListAppendImageCopy)                                           \
    X(CommandListAppendImageCopyFromMemory) X(CommandListAppendImageCopyFromMemoryExt)                       \
    X(CommandListAppendImageCopyRegion) X(CommandListAppendImageCopyToMemory)                                \
    X(CommandListAppendImageCopyToMemoryExt) X(CommandListAppendLaunchCooperativeKernel)                     \
    X(CommandListAppendLaunchKernel) X(CommandListAppendLaunchKernelIndirect)                                \
    X(CommandListAppendLaunchKernelWithArguments) X(CommandListAppendLaunchKernelWithParameters)             \
    X(CommandListAppendLaunchMultipleKernelsIndirect) X(CommandListAppendMemAdvise)                          \
    X(CommandListAppendMemoryCopy) X(CommandListAppendMemoryCopyFromContext)                                 \
    X(CommandListAppendMemoryCopyRegion) X(CommandListAppendMemoryCopyWithParameters)                        \
    X(CommandListAppendMemoryFill) X(CommandListAppendMemoryFillWithParameters)                              \
    X(CommandListAppendMemoryPrefetch) X(CommandListAppendMemoryRangesBarrier)                               \
    X(CommandListAppendQueryKernelTimestamps) X(CommandListAppendSignalEvent)                                \
    X(CommandListAppendSignalExternalSemaphoreExt) X(CommandListAppendWaitExternalSemaphoreExt)              \
    X(CommandListAppendWaitOnEvents) X(CommandListAppendWriteGlobalTimestamp)                                \
    X(CommandListBeginCaptureIntoGraphExt) X(CommandListBeginGraphCaptureExt) X(CommandListClose)            \
    X(CommandListCreate) X(CommandListCreateCloneExp) X(CommandListCreateImmediate)                          \
    X(CommandListDestroy) X(CommandListEndGraphCaptureExt) X(CommandListGetContextHandle)                    \
    X(CommandListGetDeviceHandle) X(CommandListGetFlags) X(CommandListGetGraphExt)                           \
    X(CommandListGetNextCommandIdExp) X(CommandListGetNextCommandIdWithKernelsExp)                           \
    X(CommandListGetOrdinal) X(CommandListHostSynchronize) X(CommandListImmediateAppendCommandListsExp)      \
    X(CommandListImmediateAppendCommandListsWithParameters) X(CommandListImmediateGetFlags)                  \
    X(CommandListImmediateGetIndex) X(CommandListImmediateGetMode) X(CommandListImmediateGetPriority)        \
    X(CommandListIsGraphCaptureEnabledExt) X(CommandListIsImmediate) X(CommandListIsMutableExp)              \
    X(CommandListReset) X(CommandListUpdateMutableCommandKernelsExp)                                         \
    X(CommandListUpdateMutableCommandSignalEventExp) X(CommandListUpdateMutableCommandWaitEventsExp)         \
    X(CommandListUpdateMutableCommandsExp) X(CommandQueueCreate) X(CommandQueueDestroy)                      \
    X(CommandQueueExecuteCommandLists) X(CommandQueueGetFlags) X(CommandQueueGetIndex)                       \
    X(CommandQueueGetMode) X(CommandQueueGetOrdinal) X(CommandQueueGetPriority)                              \
    X(CommandQueueSynchronize) X(ContextCreate) X(ContextCreateEx) X(ContextDestroy)                         \
    X(ContextEvictImage) X(ContextEvictMemory) X(ContextGetStatus) X(ContextMakeImageResident)               \
    X(ContextMakeMemoryResident) X(ContextSystemBarrier) X(DeviceCanAccessPeer) X(DeviceGet)                 \
    X(DeviceGetAggregatedCopyOffloadIncrementValue) X(DeviceGetCacheProperties)                              \
    X(DeviceGetCommandQueueGroupProperties) X(DeviceGetComputeProperties)                                    \
    X(DeviceGetCounterBasedEventMaxValue) X(DeviceGetExternalMemoryProperties)                               \
    X(DeviceGetFabricVertexExp) X(DeviceGetGlobalTimestamps) X(DeviceGetImageProperties)                     \
    X(DeviceGetMemoryAccessProperties) X(DeviceGetMemoryProperties) X(DeviceGetModuleProperties)             \
    X(DeviceGetP2PProperties) X(DeviceGetProperties) X(DeviceGetRootDevice)                                  \
    X(DeviceGetRuntimeRequirements) X(DeviceGetRuntimeRequirementsKey) X(DeviceGetStatus)                    \
    X(DeviceGetSubDevices) X(DeviceGetVectorWidthPropertiesExt) X(DeviceImportExternalSemaphoreExt)          \
    X(DevicePciGetPropertiesExt) X(DeviceReleaseExternalSemaphoreExt) X(DeviceReserveCacheExt)               \
    X(DeviceSetCacheAdviceExt) X(DeviceSynchronize) X(DeviceValidateRuntimeRequirements) X(DriverGet)        \
    X(DriverGetApiVersion) X(DriverGetDefaultContext) X(DriverGetExtensionFunctionAddress)                   \
    X(DriverGetExtensionProperties) X(DriverGetIpcProperties) X(DriverGetLastErrorDescription)               \
    X(DriverGetProperties) X(DriverRTASFormatCompatibilityCheckExp)                                          \
    X(DriverRTASFormatCompatibilityCheckExt) X(EventCounterBasedCloseIpcHandle)                              \
    X(EventCounterBasedCreate) X(EventCounterBasedGetDeviceAddress) X(EventCounterBasedGetIpcHandle)         \
    X(EventCounterBasedOpenIpcHandle) X(EventCreate) X(EventDestroy) X(EventGetCounterBasedFlags)            \
    X(EventGetEventPool) X(EventGetSignalScope) X(EventGetWaitScope) X(EventHostReset)                       \
    X(EventHostSignal) X(EventHostSynchronize) X(EventPoolCloseIpcHandle) X(EventPoolCreate)                 \
    X(EventPoolDestroy) X(EventPoolGetContextHandle) X(EventPoolGetFlags) X(EventPoolGetIpcHandle)           \
    X(EventPoolOpenIpcHandle) X(EventPoolPutIpcHandle) X(EventQueryKernelTimestamp)                          \
    X(EventQueryKernelTimestampsExt) X(EventQueryStatus) X(EventQueryTimestampsExp)                          \
    X(ExecutableGraphDestroyExt) X(ExecutableGraphGetSourceGraphExt) X(FabricEdgeGetExp)                     \
    X(FabricEdgeGetPropertiesExp) X(FabricEdgeGetVerticesExp) X(FabricVertexGetDeviceExp)                    \
    X(FabricVertexGetExp) X(FabricVertexGetPropertiesExp) X(FabricVertexGetSubVerticesExp)                   \
    X(FenceCreate) X(FenceDestroy) X(FenceHostSynchronize) X(FenceQueryStatus) X(FenceReset)                 \
    X(GraphCreateExt) X(GraphDestroyExt) X(GraphDumpContentsExt) X(GraphGetPrimaryCommandListExt)            \
    X(GraphInstantiateExt) X(GraphIsEmptyExt) X(GraphSetDestructionCallbackExt) X(ImageCreate)               \
    X(ImageDestroy) X(ImageGetAllocPropertiesExt) X(ImageGetDeviceOffsetExp)                                 \
    X(ImageGetMemoryPropertiesExp) X(ImageGetProperties) X(ImageViewCreateExp) X(ImageViewCreateExt)         \
    X(Init) X(InitDrivers) X(KernelCreate) X(KernelDestroy) X(KernelGetAllocationPropertiesExp)              \
    X(KernelGetBinaryExp) X(KernelGetIndirectAccess) X(KernelGetName) X(KernelGetProperties)                 \
    X(KernelGetSourceAttributes) X(KernelSchedulingHintExp) X(KernelSetArgumentValue)                        \
    X(KernelSetCacheConfig) X(KernelSetGlobalOffsetExp) X(KernelSetGroupSize) X(KernelSetIndirectAccess)     \
    X(KernelSuggestGroupSize) X(KernelSuggestMaxCooperativeGroupCount) X(MemAllocDevice) X(MemAllocHost)     \
    X(MemAllocShared) X(MemCloseIpcHandle) X(MemFree) X(MemFreeExt) X(MemGetAddressRange)                    \
    X(MemGetAllocProperties) X(MemGetAtomicAccessAttributeExp) X(MemGetFileDescriptorFromIpcHandleExp)       \
    X(MemGetIpcHandle) X(MemGetIpcHandleFromFileDescriptorExp) X(MemGetIpcHandleWithProperties)              \
    X(MemGetPitchFor2dImage) X(MemOpenIpcHandle) X(MemPutIpcHandle) X(MemSetAtomicAccessAttributeExp)        \
    X(ModuleBuildLogDestroy) X(ModuleBuildLogGetString) X(ModuleCreate) X(ModuleDestroy)                     \
    X(ModuleDynamicLink) X(ModuleGetFunctionPointer) X(ModuleGetGlobalPointer) X(ModuleGetKernelNames)       \
    X(ModuleGetNativeBinary) X(ModuleGetProperties) X(ModuleInspectLinkageExt) X(PhysicalMemCreate)          \
    X(PhysicalMemDestroy) X(PhysicalMemGetProperties) X(RTASBuilderBuildExp) X(RTASBuilderBuildExt)          \
    X(RTASBuilderCommandListAppendCopyExt) X(RTASBuilderCreateExp) X(RTASBuilderCreateExt)                   \
    X(RTASBuilderDestroyExp) X(RTASBuilderDestroyExt) X(RTASBuilderGetBuildPropertiesExp)                    \
    X(RTASBuilderGetBuildPropertiesExt) X(RTASParallelOperationCreateExp)                                    \
    X(RTASParallelOperationCreateExt) X(RTASParallelOperationDestroyExp)                                     \
    X(RTASParallelOperationDestroyExt) X(RTASParallelOperationGetPropertiesExp)                              \
    X(RTASParallelOperationGetPropertiesExt) X(RTASParallelOperationJoinExp)                                 \
    X(RTASParallelOperationJoinExt) X(SamplerCreate) X(SamplerDestroy) X(VirtualMemFree)                     \
    X(VirtualMemGetAccessAttribute) X(VirtualMemMap) X(VirtualMemQueryPageSize) X(VirtualMemReserve)         \
    X(VirtualMemSetAccessAttribute) X(VirtualMemUnmap)

/* Those that launch a kernel, and those that copy or fill, with the types of their parameters. */
#define ZT__LAUNCHES(X)                                                                                      \
    X(CommandListAppendLaunchKernel, ze_command_list_append_launch_kernel_params_t)                          \
    X(CommandListAppendLaunchCooperativeKernel, ze_command_list_append_launch_cooperative_kernel_params_t)   \
    X(CommandListAppendLaunchKernelIndirect, ze_command_list_append_launch_kernel_indirect_params_t)         \
    X(CommandListAppendLaunchKernelWithArguments, zt__launch_with_arguments_params)                          \
    X(CommandListAppendLaunchKernelWithParameters, zt__launch_with_parameters_params)
#define ZT__COPIES(X)                                                                                        \
    X(CommandListAppendMemoryCopy, ze_command_list_append_memory_copy_params_t)                              \
    X(CommandListAppendMemoryCopyFromContext, ze_command_list_append_memory_copy_from_context_params_t)      \
    X(CommandListAppendMemoryCopyRegion, ze_command_list_append_memory_copy_region_params_t)                 \
    X(CommandListAppendMemoryCopyWithParameters, zt__copy_with_parameters_params)                            \
    X(CommandListAppendMemoryFill, ze_command_list_append_memory_fill_params_t)                              \
    X(CommandListAppendMemoryFillWithParameters, zt__fill_with_parameters_params)                            \
    X(CommandListAppendImageCopy, ze_command_list_append_image_copy_params_t)                                \
    X(CommandListAppendImageCopyFromMemory, ze_command_list_append_image_copy_from_memory_params_t)          \
    X(CommandListAppendImageCopyFromMemoryExt, ze_command_list_append_image_copy_from_memory_ext_params_t)   \
    X(CommandListAppendImageCopyRegion, ze_command_list_append_image_copy_region_params_t)                   \
    X(CommandListAppendImageCopyToMemory, ze_command_list_append_image_copy_to_memory_params_t)              \
    X(CommandListAppendImageCopyToMemoryExt, ze_command_list_append_image_copy_to_memory_ext_params_t)
/* clang-format on */

typedef enum zt__call {
#define X(name) ZT__CALL_##name,
    ZT__CALLS(X)
#undef X
        ZT__CALL_COUNT
} zt__call;

ZT__PRIVATE const char *zt__call_name(uint32_t call) {
    static const char *const names[ZT__CALL_COUNT] = {
#define X(name) "ze" #name,
        ZT__CALLS(X)
#undef X
    };
    return names[call];
}

/* What the tracer does with a call. */
typedef enum zt__call_kind {
    ZT__KIND_OTHER, /* nothing, unless the configuration names it */
    ZT__KIND_LIST_CREATE,
    ZT__KIND_LIST_RESET,
    ZT__KIND_LIST_DESTROY,
    ZT__KIND_EXECUTE,
    ZT__KIND_KERNEL_CREATE,
    ZT__KIND_KERNEL_DESTROY,
    ZT__KIND_GROUP_SIZE,
    ZT__KIND_LAUNCH,
    ZT__KIND_COPY,
    ZT__KIND_CAPTURE_BEGIN,
    ZT__KIND_CAPTURE_END,
    ZT__KIND_GET_COMMAND_ID,
    ZT__KIND_CONTEXT_DESTROY
} zt__call_kind;

ZT__PRIVATE zt__call_kind zt__kind_of_call(zt__call call) {
    switch (call) {
    case ZT__CALL_CommandListCreate:
    case ZT__CALL_CommandListCreateImmediate:
        return ZT__KIND_LIST_CREATE;
    case ZT__CALL_CommandListReset:
        return ZT__KIND_LIST_RESET;
    case ZT__CALL_CommandListDestroy:
        return ZT__KIND_LIST_DESTROY;
    case ZT__CALL_CommandQueueExecuteCommandLists:
    case ZT__CALL_CommandListImmediateAppendCommandListsExp:
    case ZT__CALL_CommandListImmediateAppendCommandListsWithParameters:
        return ZT__KIND_EXECUTE;
    case ZT__CALL_KernelCreate:
        return ZT__KIND_KERNEL_CREATE;
    case ZT__CALL_KernelDestroy:
        return ZT__KIND_KERNEL_DESTROY;
    case ZT__CALL_KernelSetGroupSize:
        return ZT__KIND_GROUP_SIZE;
#define X(name, type) case ZT__CALL_##name:
        ZT__LAUNCHES(X)
    case ZT__CALL_CommandListAppendLaunchMultipleKernelsIndirect:
        return ZT__KIND_LAUNCH;
        ZT__COPIES(X)
        return ZT__KIND_COPY;
#undef X
    case ZT__CALL_CommandListBeginGraphCaptureExt:
    case ZT__CALL_CommandListBeginCaptureIntoGraphExt:
        return ZT__KIND_CAPTURE_BEGIN;
    case ZT__CALL_CommandListEndGraphCaptureExt:
        return ZT__KIND_CAPTURE_END;
    case ZT__CALL_CommandListGetNextCommandIdExp:
    case ZT__CALL_CommandListGetNextCommandIdWithKernelsExp:
        return ZT__KIND_GET_COMMAND_ID;
    case ZT__CALL_ContextDestroy:
        return ZT__KIND_CONTEXT_DESTROY;
    default:
        return ZT__KIND_OTHER;
    }
}

/* ---- parameters of calls --------------------------------------------------------------------------------- */

/* Parameters of calls that are newer than Level Zero 1.4. A program may be built with headers that lack
   them, and run with a loader that has them. Parameters that the tracer does not read are left out at the
   end. */
typedef struct zt__append_lists_params {
    ze_command_list_handle_t *phCommandListImmediate;
    uint32_t *pnumCommandLists;
    ze_command_list_handle_t **pphCommandLists;
} zt__append_lists_params;

/* Of the calls that begin or end a capture, or query an identifier. */
typedef struct zt__list_params {
    ze_command_list_handle_t *phCommandList;
} zt__list_params;

typedef struct zt__launch_with_arguments_params {
    ze_command_list_handle_t *phCommandList;
    ze_kernel_handle_t *phKernel;
    const void *pgroupCounts;
    const void *pgroupSizes;
    void ***ppArguments;
    const void **ppNext;
    ze_event_handle_t *phSignalEvent;
    uint32_t *pnumWaitEvents;
    ze_event_handle_t **pphWaitEvents;
} zt__launch_with_arguments_params;

typedef struct zt__launch_with_parameters_params {
    ze_command_list_handle_t *phCommandList;
    ze_kernel_handle_t *phKernel;
    const ze_group_count_t **ppGroupCounts;
    const void **ppNext;
    ze_event_handle_t *phSignalEvent;
    uint32_t *pnumWaitEvents;
    ze_event_handle_t **pphWaitEvents;
} zt__launch_with_parameters_params;

typedef struct zt__copy_with_parameters_params {
    ze_command_list_handle_t *phCommandList;
    void **pdstptr;
    const void **psrcptr;
    size_t *psize;
    const void **ppNext;
    ze_event_handle_t *phSignalEvent;
    uint32_t *pnumWaitEvents;
    ze_event_handle_t **pphWaitEvents;
} zt__copy_with_parameters_params;

typedef struct zt__fill_with_parameters_params {
    ze_command_list_handle_t *phCommandList;
    void **pptr;
    const void **ppattern;
    size_t *ppattern_size;
    size_t *psize;
    const void **ppNext;
    ze_event_handle_t *phSignalEvent;
    uint32_t *pnumWaitEvents;
    ze_event_handle_t **pphWaitEvents;
} zt__fill_with_parameters_params;

/* A launch or copy, whichever call appends it. */
typedef struct zt__command {
    ze_command_list_handle_t list;
    ze_kernel_handle_t kernel; /* the first one, or NULL */
    uint32_t kernel_count;     /* 0: a copy */
    uint32_t *wait_count;      /* points to the call's parameter, which zt__begin_command changes */
    ze_event_handle_t *wait_events;
} zt__command;

/* Reads the parameters of a launch or copy. Returns 0 if the list or the kernel is NULL. */
ZT__PRIVATE int zt__read_command(zt__call call, void *parameters, zt__command *command) {
    switch (call) {
#define X(name, type)                                                                                        \
    case ZT__CALL_##name: {                                                                                  \
        const type *p = (const type *)parameters;                                                            \
        const zt__command launch = {*p->phCommandList, *p->phKernel, 1, p->pnumWaitEvents,                   \
                                    *p->pphWaitEvents};                                                      \
        *command = launch;                                                                                   \
        return command->list && command->kernel;                                                             \
    }
        ZT__LAUNCHES(X)
#undef X
    case ZT__CALL_CommandListAppendLaunchMultipleKernelsIndirect: {
        const ze_command_list_append_launch_multiple_kernels_indirect_params_t *p =
            (const ze_command_list_append_launch_multiple_kernels_indirect_params_t *)parameters;
        uint32_t count = *p->pphKernels ? *p->pnumKernels : 0;
        const zt__command launch = {*p->phCommandList, count ? **p->pphKernels : NULL, count,
                                    p->pnumWaitEvents, *p->pphWaitEvents};
        *command = launch;
        return command->list && command->kernel;
    }
#define X(name, type)                                                                                        \
    case ZT__CALL_##name: {                                                                                  \
        const type *p = (const type *)parameters;                                                            \
        const zt__command copy = {*p->phCommandList, NULL, 0, p->pnumWaitEvents, *p->pphWaitEvents};         \
        *command = copy;                                                                                     \
        return command->list != NULL;                                                                        \
    }
        ZT__COPIES(X)
#undef X
    default:
        memset(command, 0, sizeof *command);
        return 0;
    }
}

/* Reads the numbers of work-groups of a launch, and their sizes if the call has them. What is in memory of
   the device stays 0. */
ZT__PRIVATE void zt__read_geometry(zt__call call, const void *parameters, zt__origin *origin) {
    const ze_group_count_t *counts = NULL;
    switch (call) {
    case ZT__CALL_CommandListAppendLaunchKernel:
        counts = *((const ze_command_list_append_launch_kernel_params_t *)parameters)->ppLaunchFuncArgs;
        break;
    case ZT__CALL_CommandListAppendLaunchCooperativeKernel:
        counts = *((const ze_command_list_append_launch_cooperative_kernel_params_t *)parameters)
                      ->ppLaunchFuncArgs;
        break;
    case ZT__CALL_CommandListAppendLaunchKernelWithParameters:
        counts = *((const zt__launch_with_parameters_params *)parameters)->ppGroupCounts;
        break;
    case ZT__CALL_CommandListAppendLaunchKernelWithArguments:
        counts =
            (const ze_group_count_t *)((const zt__launch_with_arguments_params *)parameters)->pgroupCounts;
        memcpy(origin->group_size, ((const zt__launch_with_arguments_params *)parameters)->pgroupSizes,
               sizeof origin->group_size);
        break;
    default:
        break;
    }
    if (counts) {
        origin->group_count[0] = counts->groupCountX;
        origin->group_count[1] = counts->groupCountY;
        origin->group_count[2] = counts->groupCountZ;
    }
}

/* ---- what a tracer knows --------------------------------------------------------------------------------- */

enum {
    ZT__MAX_HOOKS = 16,
    ZT__MAX_RETIRED = 1024,          /* from then on, stops leave the registration as it is */
    ZT__KEPT_CALLS = 512,            /* of each call, for quantiles */
    ZT__LIST_FLAG_CLONEABLE = 1 << 4 /* ZE_COMMAND_LIST_FLAG_EXP_CLONEABLE, since Level Zero 1.9 */
};

/* A context and device whose lists are measured. */
typedef struct zt__traced_device {
    struct zt__traced_device *next; /* atomic */
    ze_context_handle_t context;
    ze_device_handle_t device;
    zt_profiler *profiler;     /* NULL: it could not be opened */
    uint32_t copy_only_groups; /* a bit for each queue group that cannot execute metric queries */
    int is_detached;           /* its context is destroyed. Atomic */

    /* Launches and copies on its lists that have no region; with the tracer's mutex. */
    uint64_t left_out;    /* by the configuration */
    uint64_t impossible;  /* on lists that cannot be measured */
    uint64_t copies_seen; /* by zt_auto, where copies are not measured */
} zt__traced_device;

/* The name of a kernel or copy, and what the filter needs to know. */
typedef struct zt__kernel_name {
    char *text;
    int is_selected;         /* by zt_trace_config.names */
    uint64_t seen, measured; /* launches */
} zt__kernel_name;

/* What is known of a command list or kernel. */
typedef struct zt__known_handle {
    struct zt__known_handle *next; /* in the list of unused ones */
    const void *handle;            /* the key */
    zt__kernel_name *name;         /* of a kernel; NULL: not known yet */
    uint32_t group_size[3];        /* of a kernel, with a timeline; 0: not known */
    zt__traced_device *device;     /* of a list; NULL: it is not measured */

    /* why the commands of a list cannot be measured */
    int is_copy_only;    /* it cannot execute metric queries */
    int is_captured;     /* its commands go into a graph, by zeCommandListBegin...Capture...Ext */
    int is_cloneable;    /* its clones would write to the same queries and events */
    int has_command_ids; /* the application has queried the identifier of a command to come */
} zt__known_handle;

/* The statistics of a call that is timed. */
typedef struct zt__timed_call {
    zt__call call;
    uint64_t errors;
    zt__statistics statistics;
} zt__timed_call;

/* One execution of a call, for the timeline. */
typedef struct zt__host_span {
    uint64_t begin_ns, duration_ns;
    uint32_t call;   /* a zt__call */
    uint32_t thread; /* of the system */
} zt__host_span;

/* A copy of a zt_hook. */
typedef struct zt__traced_hook {
    zt__call call;
    zt_hook_fn prologue, epilogue;
    void *user;
} zt__traced_hook;

typedef struct zt__tracer {
    zt_allocator allocator;
    zt__diagnostics *diagnostics; /* of the profiler; NULL under zt_auto, for those of the thread */
    uint64_t wait_timeout_ns;

    struct zt__tracer *next; /* the next live tracer; guarded by the dispatcher's mutex */
    int is_live;             /* atomic */

    /* The configuration, which changes only while the tracer is not live. */
    uint8_t measured[ZT__CALL_COUNT]; /* launches and copies that become regions */
    uint8_t timed[ZT__CALL_COUNT];    /* zt_trace_config.calls */
    uint8_t observed[ZT__CALL_COUNT]; /* these and all others that the tracer needs callbacks for */
    char *names;                      /* zt_trace_config.names */
    uint32_t every;
    uint64_t limit;
    uint32_t timeline; /* how many samples the profilers keep */
    uint32_t hook_count;
    zt__traced_hook hooks[ZT__MAX_HOOKS];
    /* Queries of lists that were created before the start. NULL: the loader lacks them. */
    ze_result_t(ZE_APICALL *get_context)(ze_command_list_handle_t, ze_context_handle_t *);
    ze_result_t(ZE_APICALL *get_device)(ze_command_list_handle_t, ze_device_handle_t *);
    ze_result_t(ZE_APICALL *get_ordinal)(ze_command_list_handle_t, uint32_t *);
    /* QUERY_TRUE while a list is captured into a graph. NULL: the loader has no graphs. */
    ze_result_t(ZE_APICALL *query_capture)(ze_command_list_handle_t);

    const zt_config *automatic; /* of zt_auto: how to open profilers for new devices; else NULL */
    zt__timed_mutex opening;
    zt__traced_device *devices; /* atomic; only ever grows */

    zt__mutex mutex;        /* guards what follows */
    zt__map kernel_names;   /* by their text */
    zt__map kernels, lists; /* zt__known_handle, by handle */
    zt__known_handle *unused_handles;
    uint32_t captures; /* lists that are captured */
    zt_trace_counts counts;
    zt__timed_call *timed_calls[ZT__CALL_COUNT]; /* by zt__call; NULL: not seen yet */
    zt__timed_call *in_order[ZT__CALL_COUNT];    /* the same, in the order of first appearance */
    uint32_t timed_call_count;
    zt__host_span *spans; /* a ring of the newest calls, or NULL */
    uint32_t span_capacity;
    uint64_t span_count;           /* written so far */
    zt__message_text open_failure; /* of zt_auto: the first message */
    uint32_t open_failures;        /* how many profilers could not be opened */
} zt__tracer;

/* Returns the call of the application that starts the tracer, for messages. */
ZT__PRIVATE const char *zt__starting_call(const zt__tracer *tracer) {
    return tracer->automatic ? "zt_auto" : "zt_trace_start";
}

/* Where a comment below says that the mutex is held, the function unlocks it while the driver or the
   application's allocator runs, and locks it again. */

/* Returns the record of a handle, which is added if there is none. The mutex is held. Returns NULL
   without memory. */
ZT__PRIVATE zt__known_handle *zt__remember_handle(zt__tracer *tracer, zt__map *map, const void *handle) {
    while (zt__map_make_room(map, &tracer->allocator, &tracer->mutex)) {
        zt__known_handle *known = (zt__known_handle *)zt__map_find(map, &handle, sizeof handle);
        if (known) {
            return known;
        }
        known = tracer->unused_handles;
        if (known) {
            tracer->unused_handles = known->next;
            memset(known, 0, sizeof *known);
            known->handle = handle;
            zt__map_add(map, &known->handle, sizeof known->handle, known);
            return known;
        }
        zt__unlock(&tracer->mutex);
        known = (zt__known_handle *)zt__allocate(&tracer->allocator, 1, sizeof *known);
        zt__lock(&tracer->mutex);
        if (!known) {
            return NULL;
        }
        known->next = tracer->unused_handles;
        tracer->unused_handles = known;
    }
    return NULL;
}

/* Stores whether a capture into a graph has begun on a list. The mutex is held. */
ZT__PRIVATE void zt__set_captured(zt__tracer *tracer, zt__known_handle *list, int is_captured) {
    if (is_captured && !list->is_captured) {
        tracer->captures++;
    } else if (!is_captured && list->is_captured) {
        tracer->captures--;
    }
    list->is_captured = is_captured;
}

ZT__PRIVATE void zt__forget_handle(zt__tracer *tracer, zt__map *map, const void *handle) {
    zt__known_handle *known;
    zt__lock(&tracer->mutex);
    known = (zt__known_handle *)zt__map_find(map, &handle, sizeof handle);
    if (known) {
        zt__map_remove(map, &handle, sizeof handle);
        zt__set_captured(tracer, known, 0);
        known->next = tracer->unused_handles;
        tracer->unused_handles = known;
    }
    zt__unlock(&tracer->mutex);
}

/* Frees a map with its values. */
ZT__PRIVATE void zt__free_known(zt__tracer *tracer, zt__map *map) {
    uint32_t i;
    for (i = 0; i < map->capacity; i++) {
        zt__free(&tracer->allocator, map->entries[i].value);
    }
    zt__map_free(map, &tracer->allocator);
}

/* Frees what was learned with an earlier configuration. */
ZT__PRIVATE void zt__forget_everything(zt__tracer *tracer) {
    zt__free_known(tracer, &tracer->lists);
    zt__free_known(tracer, &tracer->kernels);
    zt__free_known(tracer, &tracer->kernel_names);
    tracer->captures = 0;
    while (tracer->unused_handles) {
        zt__known_handle *unused = tracer->unused_handles;
        tracer->unused_handles = unused->next;
        zt__free(&tracer->allocator, unused);
    }
}

/* ---- names of kernels ------------------------------------------------------------------------------------ */

/* Returns a record with room for a name of `size` bytes, or NULL without memory. No mutex is held. */
ZT__PRIVATE zt__kernel_name *zt__make_name(const zt__tracer *tracer, size_t size) {
    zt__kernel_name *made = (zt__kernel_name *)zt__allocate(&tracer->allocator, 1, sizeof *made + size);
    if (made) {
        made->text = (char *)(made + 1);
    }
    return made;
}

/* Adds a record from zt__make_name, or frees it if there is one of this name. Returns the record in use.
   The mutex is held. Returns NULL without memory, or if `made` is NULL. */
ZT__PRIVATE zt__kernel_name *zt__add_name(zt__tracer *tracer, zt__kernel_name *made) {
    zt__kernel_name *name = NULL;
    if (made && zt__map_make_room(&tracer->kernel_names, &tracer->allocator, &tracer->mutex)) {
        size_t length = strlen(made->text);
        name = (zt__kernel_name *)zt__map_find(&tracer->kernel_names, made->text, length);
        if (!name) {
            made->is_selected = zt__is_selected(tracer->names, made->text);
            zt__map_add(&tracer->kernel_names, made->text, length, made);
            return made;
        }
    }
    zt__unlock(&tracer->mutex);
    zt__free(&tracer->allocator, made);
    zt__lock(&tracer->mutex);
    return name;
}

/* Returns the record of a name, which is added if there is none. The mutex is held. Returns NULL without
   memory. */
ZT__PRIVATE zt__kernel_name *zt__find_or_add_name(zt__tracer *tracer, const char *text) {
    size_t length = strlen(text);
    zt__kernel_name *made, *name = (zt__kernel_name *)zt__map_find(&tracer->kernel_names, text, length);
    if (name) {
        return name;
    }
    zt__unlock(&tracer->mutex);
    made = zt__make_name(tracer, length + 1);
    if (made) {
        memcpy(made->text, text, length);
    }
    zt__lock(&tracer->mutex);
    return zt__add_name(tracer, made);
}

/* Returns the name of a kernel: the one that is known for its handle, or else, or if `knows_handle` is 0,
   the one that the driver returns. If the driver fails, the name is "", and the next launch queries
   again. The mutex is held. Returns NULL without memory. */
ZT__PRIVATE zt__kernel_name *zt__name_of_kernel(zt__tracer *tracer, ze_kernel_handle_t kernel,
                                                int knows_handle) {
    const void *handle = kernel;
    zt__known_handle *known = (zt__known_handle *)zt__map_find(&tracer->kernels, &handle, sizeof handle);
    zt__kernel_name *name;
    size_t size = 0;
    if (known && known->name && knows_handle) {
        return known->name;
    }
    zt__unlock(&tracer->mutex);
    if (zeKernelGetName(kernel, &size, NULL) != ZE_RESULT_SUCCESS) {
        size = 0;
    }
    name = zt__make_name(tracer, size + 1);
    if (name && size && zeKernelGetName(kernel, &size, name->text) != ZE_RESULT_SUCCESS) {
        name->text[0] = 0;
        size = 0;
    }
    zt__lock(&tracer->mutex);
    name = zt__add_name(tracer, name);
    if (name && size && knows_handle) {
        known = zt__remember_handle(tracer, &tracer->kernels, kernel);
        if (known) {
            known->name = name;
        }
    }
    return name;
}

/* Returns the name under which a launch or copy is measured. A launch of several kernels has the name of
   the first, and the number of others: "saxpy +2". The mutex is held. Returns NULL without memory. */
ZT__PRIVATE zt__kernel_name *zt__name_of_command(zt__tracer *tracer, zt__call call,
                                                 const zt__command *command, int knows_handle) {
    char text[256];
    zt__kernel_name *first, *made;
    unsigned others;
    size_t length;
    if (!command->kernel) {
        return zt__find_or_add_name(tracer, zt__call_name(call) + strlen("zeCommandListAppend"));
    }
    first = zt__name_of_kernel(tracer, command->kernel, knows_handle);
    if (!first || command->kernel_count == 1) {
        return first;
    }
    others = (unsigned)command->kernel_count - 1;
    length = (size_t)snprintf(text, sizeof text, "%s +%u", first->text, others);
    if (length < sizeof text) {
        return zt__find_or_add_name(tracer, text);
    }
    /* Too long for the buffer. The record is allocated for each such launch, and freed if it exists. */
    zt__unlock(&tracer->mutex);
    made = zt__make_name(tracer, length + 1);
    if (made) {
        snprintf(made->text, length + 1, "%s +%u", first->text, others);
    }
    zt__lock(&tracer->mutex);
    return zt__add_name(tracer, made);
}

/* ---- devices and lists ----------------------------------------------------------------------------------- */

/* Returns a bit for each queue group that cannot execute metric queries, that is, for copy engines. */
ZT__PRIVATE uint32_t zt__find_copy_groups(ze_device_handle_t device) {
    enum { MOST = 32 };
    ze_command_queue_group_properties_t groups[MOST];
    uint32_t i, count = MOST, found = 0;
    ze_result_t result;
    memset(groups, 0, sizeof groups);
    for (i = 0; i < MOST; i++) {
        groups[i].stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES;
    }
    ZT__INTERNAL(result = zeDeviceGetCommandQueueGroupProperties(device, &count, groups));
    for (i = 0; result == ZE_RESULT_SUCCESS && i < count && i < MOST; i++) {
        if (!(groups[i].flags & (ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE |
                                 ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_METRICS))) {
            found |= UINT32_C(1) << i;
        }
    }
    return found;
}

/* Adds a device at the end of the tracer's. Called by one thread at a time, while others may read.
   Returns NULL without memory. */
ZT__PRIVATE zt__traced_device *zt__add_device(zt__tracer *tracer, ze_context_handle_t context,
                                              ze_device_handle_t device, zt_profiler *profiler) {
    zt__traced_device *added = (zt__traced_device *)zt__allocate(&tracer->allocator, 1, sizeof *added);
    zt__traced_device **end = &tracer->devices;
    if (!added) {
        return NULL;
    }
    added->context = context;
    added->device = device;
    added->profiler = profiler;
    added->copy_only_groups = zt__find_copy_groups(device);
    while (*end) {
        end = &(*end)->next;
    }
    zt__store(end, added);
    return added;
}

ZT__PRIVATE int zt__is_measured(const zt__traced_device *device) {
    return device && device->profiler && !zt__load(&device->is_detached);
}

/* Returns the first device that is measured, or the one after `device`. Returns NULL after the last. */
ZT__PRIVATE zt__traced_device *zt__next_measured(zt__tracer *tracer, zt__traced_device *device) {
    do {
        device = zt__load(device ? &device->next : &tracer->devices);
    } while (device && !zt__is_measured(device));
    return device;
}

ZT__PRIVATE zt__traced_device *zt__find_device(zt__tracer *tracer, ze_context_handle_t context,
                                               ze_device_handle_t device) {
    zt__traced_device *found;
    for (found = zt__load(&tracer->devices); found; found = zt__load(&found->next)) {
        if (found->context == context && found->device == device && !zt__load(&found->is_detached)) {
            return found;
        }
    }
    return NULL;
}

/* Returns the record of a context and device, or NULL if nothing measures their lists. Under zt_auto, a
   profiler is opened for those that are new. If that fails, they are added without one, so that it is not
   tried again. */
ZT__PRIVATE zt__traced_device *zt__find_or_open_device(zt__tracer *tracer, ze_context_handle_t context,
                                                       ze_device_handle_t device) {
    zt__traced_device *found = zt__find_device(tracer, context, device);
    zt_profiler *profiler = NULL;
    ze_result_t result;
    if (found || !tracer->automatic ||
        !zt__lock_until(&tracer->opening, zt__deadline(tracer->wait_timeout_ns))) {
        return found;
    }
    found = zt__find_device(tracer, context, device);
    if (found) { /* another thread was faster */
        zt__unlock_timed(&tracer->opening);
        return found;
    }
    result = zt_open(context, device, tracer->automatic, &profiler);
    if (profiler) {
        zt__store(&profiler->tracer, tracer);
    } else {
        zt__thread_messages *messages = zt__get_thread_messages();
        zt__lock(&tracer->mutex);
        if (!tracer->open_failures && messages) {
            tracer->open_failure = messages->last;
            tracer->open_failure.result = result;
        }
        tracer->open_failures++;
        zt__unlock(&tracer->mutex);
    }
    found = zt__add_device(tracer, context, device, profiler);
    if (!found && profiler) {
        zt__store(&profiler->tracer, (zt__tracer *)NULL);
        zt_close(profiler);
    }
    zt__unlock_timed(&tracer->opening);
    return found;
}

/* Returns the record of a list, with what is known now. `device` is NULL if the list is not measured. The
   mutex is held. Returns NULL without memory. */
ZT__PRIVATE zt__known_handle *zt__remember_list(zt__tracer *tracer, ze_command_list_handle_t list,
                                                zt__traced_device *device, uint32_t ordinal) {
    zt__known_handle *known = zt__remember_handle(tracer, &tracer->lists, list);
    if (known) {
        known->device = device;
        zt__set_captured(tracer, known, 0);
        known->is_cloneable = known->has_command_ids = 0;
        known->is_copy_only = device && ordinal < 32 && (device->copy_only_groups >> ordinal & 1);
    }
    return known;
}

/* Returns the record of a list. For a list that was created before the start, the driver is queried. If
   it cannot return context and device, the list is assumed to be of the profiler's, or of the first
   device under zt_auto if there is no second. The mutex is held. Returns NULL without memory. */
ZT__PRIVATE zt__known_handle *zt__find_or_query_list(zt__tracer *tracer, ze_command_list_handle_t list) {
    const void *handle = list;
    zt__known_handle *known = (zt__known_handle *)zt__map_find(&tracer->lists, &handle, sizeof handle);
    ze_context_handle_t context = NULL;
    ze_device_handle_t owner = NULL;
    zt__traced_device *device = NULL, *first = zt__load(&tracer->devices);
    uint32_t ordinal = UINT32_MAX;
    if (known) {
        return known;
    }
    zt__unlock(&tracer->mutex);
    if (tracer->get_context && tracer->get_device &&
        tracer->get_context(list, &context) == ZE_RESULT_SUCCESS &&
        tracer->get_device(list, &owner) == ZE_RESULT_SUCCESS) {
        device = zt__find_or_open_device(tracer, context, owner);
    } else if (first && !zt__load(&first->next)) {
        device = first;
    }
    if (!tracer->get_ordinal || tracer->get_ordinal(list, &ordinal) != ZE_RESULT_SUCCESS) {
        ordinal = UINT32_MAX;
    }
    zt__lock(&tracer->mutex);
    return zt__remember_list(tracer, list, device, ordinal);
}

/* ---- host times of calls --------------------------------------------------------------------------------- */

static const zt_aggregation zt__call_columns[1] = {ZT_AGGREGATE_SUM};
static const zt__sample_layout zt__call_layout = {1, ZT__KEPT_CALLS, zt__call_columns};

/* Warnings and answers are no errors. Older headers lack some of their names, hence the numbers. */
ZT__PRIVATE int zt__is_error(ze_result_t result) {
    switch ((uint32_t)result) {
    case ZE_RESULT_SUCCESS:
    case ZE_RESULT_NOT_READY:
    case ZE_RESULT_WARNING_DROPPED_DATA:
    case 0x7800001b: /* WARNING_ACTION_REQUIRED */
    case 0x7ff00005: /* EXP_RTAS_BUILD_RETRY */
    case 0x7ff00006: /* EXP_RTAS_BUILD_DEFERRED */
    case 0x7800001d: /* EXT_RTAS_BUILD_RETRY */
    case 0x7800001e: /* EXT_RTAS_BUILD_DEFERRED */
    case 0x78000022: /* QUERY_TRUE */
    case 0x78000023: /* QUERY_FALSE */
        return 0;
    default:
        return 1;
    }
}

ZT__PRIVATE void zt__free_timed_call(const zt_allocator *allocator, zt__timed_call *timed) {
    if (timed) {
        zt__free_statistics(allocator, &timed->statistics);
        zt__free(allocator, timed);
    }
}

/* Returns the statistics of a call, which are added if there are none. All memory for them is allocated
   at once, because zt__count_call holds the mutex. The mutex is held. Returns NULL without memory. */
ZT__PRIVATE zt__timed_call *zt__find_or_add_timed_call(zt__tracer *tracer, zt__call call) {
    zt__timed_call *made;
    if (tracer->timed_calls[call]) {
        return tracer->timed_calls[call];
    }
    zt__unlock(&tracer->mutex);
    made = (zt__timed_call *)zt__allocate(&tracer->allocator, 1, sizeof *made);
    if (made && !zt__reserve_samples(&tracer->allocator, &tracer->mutex, &zt__call_layout, &made->statistics,
                                     ZT__KEPT_CALLS)) {
        zt__free_timed_call(&tracer->allocator, made);
        made = NULL;
    }
    if (!made) {
        zt__report_no_memory(tracer->diagnostics, zt__starting_call(tracer), "the times of calls");
    }
    zt__lock(&tracer->mutex);
    if (made && !tracer->timed_calls[call]) { /* else another thread was faster */
        made->call = call;
        tracer->timed_calls[call] = tracer->in_order[tracer->timed_call_count++] = made;
        return made;
    }
    zt__unlock(&tracer->mutex);
    zt__free_timed_call(&tracer->allocator, made);
    zt__lock(&tracer->mutex);
    return tracer->timed_calls[call];
}

/* Adds one execution of a call to its statistics, and to the newest calls of the timeline. */
ZT__PRIVATE void zt__count_call(zt__tracer *tracer, zt__call call, uint64_t begin_ns, uint64_t end_ns,
                                ze_result_t result) {
    zt__timed_call *timed;
    double duration = (double)(end_ns - begin_ns);
    zt__lock(&tracer->mutex);
    timed = zt__find_or_add_timed_call(tracer, call);
    if (timed) {
        zt__add_sample(&zt__call_layout, &timed->statistics, 0, &duration);
        timed->errors += (uint64_t)zt__is_error(result);
    }
    if (tracer->spans) {
        zt__host_span *span = &tracer->spans[tracer->span_count++ % tracer->span_capacity];
        span->begin_ns = begin_ns;
        span->duration_ns = end_ns - begin_ns;
        span->call = call;
        span->thread = zt__get_system_thread();
    }
    zt__unlock(&tracer->mutex);
}

/* ---- calls in progress ----------------------------------------------------------------------------------- */

/* The state of a frame. A frame goes from UNUSED to CALLBACK, DRIVER, CALLBACK again and back to UNUSED,
   or from DRIVER to ABANDONED and UNUSED if the tracer is destroyed meanwhile. The dispatcher's mutex is
   held for changes to CALLBACK and ABANDONED, so that a tracer is not destroyed while a callback uses it.
   The thread that makes the call changes to DRIVER and UNUSED without it. */
typedef enum zt__frame_state {
    ZT__FRAME_UNUSED,
    ZT__FRAME_CALLBACK, /* a prologue or epilogue runs, and needs the tracer */
    ZT__FRAME_DRIVER,   /* the call is in the driver; its epilogue will need the tracer */
    ZT__FRAME_ABANDONED /* the call is in the driver, and the tracer was destroyed */
} zt__frame_state;

/* A call in progress, as one tracer observes it. A call has a frame for each tracer. Frames are used
   again but never freed, because a call may end after its tracer was destroyed. */
typedef struct zt__frame {
    struct zt__frame *next_of_all;     /* in use or not */
    struct zt__frame *next, *previous; /* of the same call, in the order of the tracers */
    zt__frame_state state;             /* atomic */
    zt__tracer *tracer;
    zt__call call;
    void *parameters; /* of the call: a ze_..._params_t */

    uint64_t begin_ns;              /* 0: no tracer times the call */
    void *instances[ZT__MAX_HOOKS]; /* what a prologue of the application stores for its epilogue */

    /* What zt__begin_command has done, which is ended or undone after the call. */
    zt_region region;
    int has_region;
    uint32_t *wait_count; /* the call's parameter, if it was set to 0; else NULL */
    uint32_t waits;       /* its value before */
} zt__frame;

/* The parameters of the call of a frame. */
#define ZT__PARAMETERS(frame, type) ((const type *)(frame)->parameters)

/* ---- launches and copies --------------------------------------------------------------------------------- */

/* Returns whether a command may go into a graph, which may run any number of times. A list also joins the
   capture of another by waiting for one of its events. So while there is a capture, the driver is queried,
   and a command that waits may be the one with which its list joins. The mutex is held. */
ZT__PRIVATE int zt__may_be_captured(zt__tracer *tracer, const zt__known_handle *list,
                                    const zt__command *command) {
    const uint32_t query_true = 0x78000022;
    ze_result_t result;
    if (list->is_captured || tracer->captures == 0) {
        return list->is_captured;
    }
    if (*command->wait_count > 0 || !tracer->query_capture) {
        return 1;
    }
    zt__unlock(&tracer->mutex);
    result = tracer->query_capture(command->list);
    zt__lock(&tracer->mutex);
    return (uint32_t)result == query_true;
}

/* Counts a launch or copy. If it is measured, returns the profiler, and the name of the region. The list is
   checked before the filter, so that launches elsewhere do not count for `every` and `limit`.
   `command` is NULL if the driver will refuse it. `knows_kernel`: the handle of the kernel is the
   application's, and so forgotten when it is destroyed. The mutex is held. */
ZT__PRIVATE zt_profiler *zt__select_command(zt__tracer *tracer, zt__call call, const zt__command *command,
                                            int knows_kernel, const char **region) {
    zt__known_handle *list = command ? zt__find_or_query_list(tracer, command->list) : NULL;
    zt__traced_device *device = list ? list->device : NULL;
    zt__kernel_name *name = NULL;
    if (!tracer->measured[call]) { /* a copy, which an empty report of zt_auto mentions */
        if (device) {
            device->copies_seen++;
        }
        return NULL;
    }
    if (zt__is_measured(device) && !list->is_cloneable && !list->has_command_ids &&
        !zt__may_be_captured(tracer, list, command)) {
        /* A copy engine can write time stamps, but cannot execute queries. */
        if (!list->is_copy_only || device->profiler->metric_count == 0) {
            name = zt__name_of_command(tracer, call, command, knows_kernel);
        }
    }
    tracer->counts.launches++;
    if (!name) {
        tracer->counts.elsewhere++;
        if (device) {
            device->impossible++;
        }
        return NULL;
    }
    if (!name->is_selected || name->seen++ % tracer->every != 0 ||
        (tracer->limit && name->measured >= tracer->limit)) {
        tracer->counts.filtered++;
        device->left_out++;
        return NULL;
    }
    tracer->counts.measured++;
    name->measured++;
    *region = name->text;
    return device->profiler;
}

/* Keeps the geometry of a launch, for the timeline. Its region is open, so no other thread uses the slot. */
ZT__PRIVATE void zt__keep_geometry(zt__frame *frame, ze_kernel_handle_t kernel, int knows_handle) {
    zt__slot *slot = (zt__slot *)frame->region.slot;
    const void *handle = kernel;
    const zt__known_handle *known;
    zt__lock(&frame->tracer->mutex);
    known = (const zt__known_handle *)zt__map_find(&frame->tracer->kernels, &handle, sizeof handle);
    if (known && knows_handle) {
        memcpy(slot->origin.group_size, known->group_size, sizeof known->group_size);
    }
    zt__unlock(&frame->tracer->mutex);
    zt__read_geometry(frame->call, frame->parameters, &slot->origin);
}

/* Called before a launch or copy. If it is measured, appends what comes before it: a wait for its events, for
   which it then need not wait, and the begin of a region. So the GPU time is that of the kernel alone. What
   comes after it, zt__after_call appends: the end of the region. If the driver refuses the launch, the wait
   stays on the list. `kernel_before_hooks` is the kernel that the application has passed. */
ZT__PRIVATE void zt__begin_command(zt__frame *frame, ze_kernel_handle_t kernel_before_hooks) {
    zt__tracer *tracer = frame->tracer;
    zt__command command;
    zt_profiler *profiler;
    const char *region;
    uint32_t count;
    int is_complete = zt__read_command(frame->call, frame->parameters, &command);
    /* A hook may destroy a kernel that it has substituted, which is not traced. So its name is queried at
       each launch. */
    int knows_kernel = command.kernel == kernel_before_hooks;
    zt__lock(&tracer->mutex);
    profiler = zt__select_command(tracer, frame->call, is_complete ? &command : NULL, knows_kernel, &region);
    zt__unlock(&tracer->mutex);
    if (!profiler) {
        return;
    }
    count = *command.wait_count;
    if (count && command.wait_events &&
        zeCommandListAppendWaitOnEvents(command.list, count, command.wait_events) == ZE_RESULT_SUCCESS) {
        frame->wait_count = command.wait_count;
        frame->waits = count;
        *command.wait_count = 0;
    }
    frame->region = zt_begin(profiler, command.list, region);
    frame->has_region = 1;
    if (profiler->timeline && frame->region.slot && command.kernel) {
        zt__keep_geometry(frame, command.kernel, knows_kernel);
    }
}

/* ---- before and after a call ----------------------------------------------------------------------------- */

ZT__PRIVATE void zt__after_list_create(zt__frame *frame) {
    zt__tracer *tracer = frame->tracer;
    ze_context_handle_t context;
    ze_device_handle_t device;
    ze_command_list_handle_t list;
    zt__traced_device *traced;
    zt__known_handle *known;
    uint32_t ordinal, is_cloneable = 0;
    if (frame->call == ZT__CALL_CommandListCreate) {
        const ze_command_list_create_params_t *p = ZT__PARAMETERS(frame, ze_command_list_create_params_t);
        context = *p->phContext;
        device = *p->phDevice;
        list = **p->pphCommandList;
        ordinal = (*p->pdesc)->commandQueueGroupOrdinal;
        is_cloneable = (*p->pdesc)->flags & ZT__LIST_FLAG_CLONEABLE;
    } else {
        const ze_command_list_create_immediate_params_t *p =
            ZT__PARAMETERS(frame, ze_command_list_create_immediate_params_t);
        context = *p->phContext;
        device = *p->phDevice;
        list = **p->pphCommandList;
        ordinal = (*p->paltdesc)->ordinal;
    }
    traced = zt__find_or_open_device(tracer, context, device);
    zt__lock(&tracer->mutex);
    known = zt__remember_list(tracer, list, traced, ordinal);
    if (known) {
        known->is_cloneable = is_cloneable != 0;
    }
    zt__unlock(&tracer->mutex);
}

/* Marks a list as over in all profilers of the tracer: it was reset, or is about to be destroyed. */
ZT__PRIVATE void zt__mark_list_over_everywhere(zt__tracer *tracer, ze_command_list_handle_t list,
                                               int is_destroyed, const char *call) {
    zt__traced_device *device = zt__next_measured(tracer, NULL);
    for (; device; device = zt__next_measured(tracer, device)) {
        zt__mark_list_over(device->profiler, list, is_destroyed, call);
    }
}

/* Called before lists are executed, and again after that. `result` is NULL before. An execution by
   zt_execute is left out for its own profiler, for which zt_execute does the same. */
ZT__PRIVATE void zt__observe_execution(zt__frame *frame, const ze_result_t *result) {
    const ze_command_list_handle_t *lists;
    uint32_t count;
    zt__traced_device *device = zt__next_measured(frame->tracer, NULL);
    if (frame->call == ZT__CALL_CommandQueueExecuteCommandLists) {
        lists = *ZT__PARAMETERS(frame, ze_command_queue_execute_command_lists_params_t)->pphCommandLists;
        count = *ZT__PARAMETERS(frame, ze_command_queue_execute_command_lists_params_t)->pnumCommandLists;
    } else {
        const zt__append_lists_params *p = ZT__PARAMETERS(frame, zt__append_lists_params);
        const void *immediate = *p->phCommandListImmediate;
        const zt__known_handle *known;
        lists = *p->pphCommandLists;
        count = *p->pnumCommandLists;
        zt__lock(&frame->tracer->mutex);
        known = (const zt__known_handle *)zt__map_find(&frame->tracer->lists, &immediate, sizeof immediate);
        if (known && known->is_captured) {
            count = 0; /* they go into a graph */
        }
        zt__unlock(&frame->tracer->mutex);
    }
    for (; lists && count && device; device = zt__next_measured(frame->tracer, device)) {
        if (device->profiler == zt__executing_for) {
            continue;
        }
        if (result) {
            zt__after_execution(device->profiler, count, lists, *result != ZE_RESULT_SUCCESS);
        } else {
            zt__before_execution(device->profiler, count, lists);
        }
    }
}

/* Called before a context is destroyed, under zt_auto: its profilers collect, destroy their objects of
   the context, and keep their results for the report. */
ZT__PRIVATE void zt__before_context_destroy(zt__tracer *tracer, ze_context_handle_t context) {
    zt__traced_device *device;
    for (device = zt__load(&tracer->devices); device; device = zt__load(&device->next)) {
        if (device->context == context && !zt__load(&device->is_detached)) {
            zt__store(&device->is_detached, 1);
            if (device->profiler) {
                zt__stop_thread(&device->profiler->thread);
                device->profiler->config.thread = 0;
                zt__collect_what_runs(device->profiler);
                zt__abandon_slots(device->profiler, "zeContextDestroy");
                zt__detach_profiler(device->profiler);
            }
        }
    }
}

/* What a tracer does before a call. Handles are forgotten before they are destroyed, because afterwards
   the driver may use them again. */
ZT__PRIVATE void zt__before_call(zt__frame *frame) {
    zt__tracer *tracer = frame->tracer;
    zt__call_kind kind = zt__kind_of_call(frame->call);
    ze_kernel_handle_t kernel_before_hooks = NULL;
    uint32_t i;
    if (kind == ZT__KIND_LAUNCH) {
        zt__command command;
        zt__read_command(frame->call, frame->parameters, &command);
        kernel_before_hooks = command.kernel;
    } else if (kind == ZT__KIND_KERNEL_DESTROY) { /* a hook may destroy another one in its place */
        zt__forget_handle(tracer, &tracer->kernels,
                          *ZT__PARAMETERS(frame, ze_kernel_destroy_params_t)->phKernel);
    }
    for (i = 0; i < tracer->hook_count; i++) {
        const zt__traced_hook *hook = &tracer->hooks[i];
        if (hook->call == frame->call && hook->prologue) {
            hook->prologue(frame->parameters, ZE_RESULT_SUCCESS, hook->user, &frame->instances[i]);
        }
    }
    switch (kind) {
    case ZT__KIND_LAUNCH:
    case ZT__KIND_COPY:
        if (tracer->measured[frame->call] || (kind == ZT__KIND_COPY && tracer->automatic)) {
            zt__begin_command(frame, kernel_before_hooks);
        }
        break;
    case ZT__KIND_EXECUTE:
        zt__observe_execution(frame, NULL);
        break;
    case ZT__KIND_LIST_DESTROY: {
        ze_command_list_handle_t list =
            *ZT__PARAMETERS(frame, ze_command_list_destroy_params_t)->phCommandList;
        zt__mark_list_over_everywhere(tracer, list, 1, "zeCommandListDestroy");
        zt__forget_handle(tracer, &tracer->lists, list);
        break;
    }
    case ZT__KIND_KERNEL_DESTROY:
        zt__forget_handle(tracer, &tracer->kernels,
                          *ZT__PARAMETERS(frame, ze_kernel_destroy_params_t)->phKernel);
        break;
    case ZT__KIND_CONTEXT_DESTROY:
        if (tracer->automatic) {
            zt__before_context_destroy(tracer,
                                       *ZT__PARAMETERS(frame, ze_context_destroy_params_t)->phContext);
        }
        break;
    default:
        break;
    }
}

/* What a tracer does after a call that has succeeded. */
ZT__PRIVATE void zt__after_success(zt__frame *frame, zt__call_kind kind) {
    zt__tracer *tracer = frame->tracer;
    switch (kind) {
    case ZT__KIND_LIST_CREATE:
        zt__after_list_create(frame);
        break;
    case ZT__KIND_GROUP_SIZE: {
        const ze_kernel_set_group_size_params_t *p = ZT__PARAMETERS(frame, ze_kernel_set_group_size_params_t);
        zt__known_handle *known;
        zt__lock(&tracer->mutex);
        known = zt__remember_handle(tracer, &tracer->kernels, *p->phKernel);
        if (known) {
            known->group_size[0] = *p->pgroupSizeX;
            known->group_size[1] = *p->pgroupSizeY;
            known->group_size[2] = *p->pgroupSizeZ;
        }
        zt__unlock(&tracer->mutex);
        break;
    }
    case ZT__KIND_LIST_RESET:
        zt__mark_list_over_everywhere(tracer,
                                      *ZT__PARAMETERS(frame, ze_command_list_reset_params_t)->phCommandList,
                                      0, "zeCommandListReset");
        break;
    case ZT__KIND_CAPTURE_BEGIN:
    case ZT__KIND_CAPTURE_END:
    case ZT__KIND_GET_COMMAND_ID: {
        zt__known_handle *list;
        zt__lock(&tracer->mutex);
        list = zt__find_or_query_list(tracer, *ZT__PARAMETERS(frame, zt__list_params)->phCommandList);
        if (list && kind == ZT__KIND_GET_COMMAND_ID) {
            list->has_command_ids = 1;
        } else if (list) {
            zt__set_captured(tracer, list, kind == ZT__KIND_CAPTURE_BEGIN);
        }
        zt__unlock(&tracer->mutex);
        break;
    }
    default:
        break;
    }
}

/* What a tracer does after a call. */
ZT__PRIVATE void zt__after_call(zt__frame *frame, ze_result_t result, uint64_t end_ns) {
    zt__tracer *tracer = frame->tracer;
    zt__call_kind kind = zt__kind_of_call(frame->call);
    uint32_t i;
    if (tracer->timed[frame->call]) {
        zt__count_call(tracer, frame->call, frame->begin_ns, end_ns, result);
    }
    if (frame->has_region) {
        zt__end(&frame->region, result != ZE_RESULT_SUCCESS);
    }
    if (kind == ZT__KIND_EXECUTE) {
        zt__observe_execution(frame, &result);
    } else if (result == ZE_RESULT_SUCCESS) {
        zt__after_success(frame, kind);
    }
    for (i = tracer->hook_count; i > 0; i--) {
        const zt__traced_hook *hook = &tracer->hooks[i - 1];
        if (hook->call == frame->call && hook->epilogue) {
            hook->epilogue(frame->parameters, (int)result, hook->user, &frame->instances[i - 1]);
        }
    }
    /* The handle, which an epilogue may have replaced, may be that of an earlier kernel. */
    if (kind == ZT__KIND_KERNEL_CREATE && result == ZE_RESULT_SUCCESS) {
        zt__forget_handle(tracer, &tracer->kernels,
                          **ZT__PARAMETERS(frame, ze_kernel_create_params_t)->pphKernel);
    }
}

/* ---- the dispatcher -------------------------------------------------------------------------------------- */

/* Callbacks are registered with a tracer object of the loader, which cannot be changed once it was
   enabled. zelTracerDestroy waits without limit for the calls that other threads are in. So a change of
   the traced calls needs another object, which is enabled before the old one is disabled; a call in
   between may come from both, and is dispatched once. Disabled objects are retired: never destroyed, at
   two kilobytes each. */
typedef struct zt__dispatcher {
    /* guarded by `setup`: */
    zel_tracer_handle_t handle;                   /* the loader's tracer object, or NULL */
    uintptr_t registration;                       /* its number, which is passed to its callbacks */
    uint8_t registered[ZT__CALL_COUNT];           /* the calls that it has callbacks for */
    ze_result_t(ZE_APICALL *disable_layer)(void); /* NULL: the layer was not enabled here */
    zel_tracer_handle_t retired[ZT__MAX_RETIRED]; /* so that leak checkers find them referenced */
    uint32_t retired_count;
    int handles_fork;

    /* guarded by the mutex: */
    zt__tracer *tracers; /* the live ones, in the order of their start; changed with both locks */
    uint32_t tracer_count;
    zt__frame *frames; /* all, in use or not */

    uint8_t observed[ZT__CALL_COUNT]; /* by a live tracer. Atomic; changed with both locks */
} zt__dispatcher;

static zt__dispatcher zt__dispatch;
static zt__mutex zt__dispatch_setup = PTHREAD_MUTEX_INITIALIZER;
static zt__mutex zt__dispatch_mutex = PTHREAD_MUTEX_INITIALIZER;

/* The first frame of the traced call that this thread is in, or NULL. */
static ZT__THREAD_LOCAL zt__frame *zt__current_call;

/* The registration from which zt__callbacks_come expects a callback on this thread, or 0. */
static ZT__THREAD_LOCAL uintptr_t zt__awaited_registration;

/* Returns whether a prologue or epilogue runs on this thread, so that a hook may be the caller. */
ZT__PRIVATE int zt__is_inside_hook(void) {
    const zt__frame *frame = zt__current_call;
    while (frame && zt__load(&frame->state) != ZT__FRAME_CALLBACK) {
        frame = frame->next;
    }
    return frame != NULL;
}

/* Ensures an unused frame for each live tracer. The mutex is held, but unlocked while memory is
   allocated. Frames come from malloc, because they may outlive the application's allocator. Returns 0
   without memory. */
ZT__PRIVATE int zt__reserve_frames(void) {
    for (;;) {
        zt__frame *frame;
        uint32_t unused = 0;
        for (frame = zt__dispatch.frames; frame; frame = frame->next_of_all) {
            unused += zt__load(&frame->state) == ZT__FRAME_UNUSED;
        }
        if (unused >= zt__dispatch.tracer_count) {
            return 1;
        }
        zt__unlock(&zt__dispatch_mutex);
        frame = (zt__frame *)zt__allocate(&zt__default_allocator, 1, sizeof *frame);
        zt__lock(&zt__dispatch_mutex);
        if (!frame) {
            return 0;
        }
        frame->next_of_all = zt__dispatch.frames;
        zt__dispatch.frames = frame;
    }
}

/* Begins a call, with a frame for each live tracer that observes it. Returns the first frame, or NULL if
   there is none. */
ZT__PRIVATE zt__frame *zt__begin_call(zt__call call, void *parameters) {
    zt__frame *first = NULL, *last = NULL, *frame;
    zt__tracer *tracer = NULL;
    zt__lock(&zt__dispatch_mutex);
    if (zt__reserve_frames()) {
        tracer = zt__dispatch.tracers;
    }
    frame = zt__dispatch.frames;
    for (; tracer; tracer = tracer->next) {
        if (!tracer->observed[call]) {
            continue;
        }
        while (zt__load(&frame->state) != ZT__FRAME_UNUSED) {
            frame = frame->next_of_all;
        }
        zt__store(&frame->state, ZT__FRAME_CALLBACK);
        frame->tracer = tracer;
        frame->call = call;
        frame->parameters = parameters;
        frame->has_region = 0;
        frame->wait_count = NULL;
        memset(frame->instances, 0, tracer->hook_count * sizeof *frame->instances);
        frame->next = NULL;
        frame->previous = last;
        if (last) {
            last->next = frame;
        } else {
            first = frame;
        }
        last = frame;
    }
    zt__unlock(&zt__dispatch_mutex);
    return first;
}

ZT__PRIVATE void zt__prologue(zt__call call, void *parameters, uintptr_t registration, void **instance) {
    zt__frame *first, *frame;
    uint64_t begin_ns;
    int is_timed = 0;
    *instance = NULL;
    if (zt__awaited_registration == registration) {
        zt__awaited_registration = 0;
    }
    /* A thread is in one traced call at a time: the loader does not call back for calls inside of it. So
       if there is one already, this is the same call, from the second of two enabled registrations. */
    if (!zt__load(&zt__dispatch.observed[call]) || zt__get_depth() > 0 || zt__current_call) {
        return;
    }
    first = zt__begin_call(call, parameters);
    if (!first) {
        return;
    }
    *instance = first;
    zt__current_call = first;
    zt__change_depth(1);
    for (frame = first; frame; frame = frame->next) {
        zt__before_call(frame);
        is_timed |= frame->tracer->timed[call];
    }
    zt__change_depth(-1);
    begin_ns = is_timed ? zt__now_ns() : 0;
    for (frame = first; frame; frame = frame->next) {
        frame->begin_ns = begin_ns;
        zt__store(&frame->state, ZT__FRAME_DRIVER);
    }
}

ZT__PRIVATE void zt__epilogue(ze_result_t result, void **instance) {
    zt__frame *first = (zt__frame *)*instance, *last = NULL, *frame, *next;
    uint64_t end_ns;
    if (!first || first != zt__current_call) {
        return;
    }
    end_ns = first->begin_ns ? zt__now_ns() : 0;
    zt__lock(&zt__dispatch_mutex);
    for (frame = first; frame; frame = frame->next) {
        if (frame->state == ZT__FRAME_DRIVER) { /* else its tracer was destroyed */
            zt__store(&frame->state, ZT__FRAME_CALLBACK);
        }
        last = frame;
    }
    zt__unlock(&zt__dispatch_mutex);
    zt__change_depth(1);
    for (frame = last; frame; frame = frame->previous) {
        if (frame->wait_count) { /* of the application, so also if the tracer was destroyed */
            *frame->wait_count = frame->waits;
        }
        if (frame->state == ZT__FRAME_CALLBACK) {
            zt__after_call(frame, result, end_ns);
        }
    }
    zt__change_depth(-1);
    zt__current_call = NULL;
    for (frame = first; frame; frame = next) {
        next = frame->next; /* before another thread uses the frame */
        zt__store(&frame->state, ZT__FRAME_UNUSED);
    }
}

/* The loader does not pass which call it is, so each call has its own functions. */
typedef void(ZE_APICALL *zt__callback)(void *parameters, ze_result_t result, void *user, void **instance);

#define X(name)                                                                                              \
    static void ZE_APICALL zt__before_##name(void *parameters, ze_result_t result, void *user,               \
                                             void **instance) {                                              \
        (void)result;                                                                                        \
        zt__prologue(ZT__CALL_##name, parameters, (uintptr_t)user, instance);                                \
    }                                                                                                        \
    static void ZE_APICALL zt__after_##name(void *parameters, ze_result_t result, void *user,                \
                                            void **instance) {                                               \
        (void)parameters, (void)user;                                                                        \
        zt__epilogue(result, instance);                                                                      \
    }
ZT__CALLS(X)
#undef X

typedef struct zt__callbacks {
    zt__callback before, after;
} zt__callbacks;

static const zt__callbacks zt__callbacks_of[ZT__CALL_COUNT] = {
#define X(name) {zt__before_##name, zt__after_##name},
    ZT__CALLS(X)
#undef X
};

/* ---- registration with the loader ------------------------------------------------------------------------ */

/* Creates and enables a tracer object of the loader, with callbacks for those of these calls that the loader
   can trace. If that fails, `*handle` is NULL, or has to be retired or destroyed. */
ZT__PRIVATE ze_result_t zt__create_registration(const uint8_t *calls, uintptr_t registration,
                                                zel_tracer_handle_t *handle) {
    ze_result_t(ZE_APICALL * register_callback)(zel_tracer_handle_t, zel_tracer_reg_t, zt__callback);
    zel_tracer_desc_t desc;
    char symbol[128];
    uint32_t call;
    ze_result_t result;
    memset(&desc, 0, sizeof desc);
    desc.stype = ZEL_STRUCTURE_TYPE_TRACER_DESC;
    desc.pUserData = (void *)registration;
    result = zelTracerCreate(&desc, handle);
    for (call = 0; call < ZT__CALL_COUNT && result == ZE_RESULT_SUCCESS; call++) {
        if (!calls[call]) {
            continue;
        }
        snprintf(symbol, sizeof symbol, "zelTracer%sRegisterCallback", zt__call_name(call) + strlen("ze"));
        zt__find_loader_symbol(symbol, (void *)&register_callback);
        if (register_callback) {
            result = register_callback(*handle, ZEL_REGISTER_PROLOGUE, zt__callbacks_of[call].before);
        }
        if (register_callback && result == ZE_RESULT_SUCCESS) {
            result = register_callback(*handle, ZEL_REGISTER_EPILOGUE, zt__callbacks_of[call].after);
        }
    }
    return result == ZE_RESULT_SUCCESS ? zelTracerSetEnabled(*handle, 1) : result;
}

/* Makes a call to find out whether callbacks come. With the tracing layer off, none come, although
   registration succeeds. */
ZT__PRIVATE int zt__callbacks_come(uintptr_t registration) {
    uint32_t count = 0;
    zt__awaited_registration = registration;
    ZT__INTERNAL(zeDriverGet(&count, NULL));
    if (zt__awaited_registration == 0) {
        return 1;
    }
    zt__awaited_registration = 0;
    return 0;
}

/* Disables a tracer object of the loader for good. */
ZT__PRIVATE void zt__retire(zel_tracer_handle_t handle) {
    zelTracerSetEnabled(handle, 0);
    zt__dispatch.retired[zt__dispatch.retired_count++ % ZT__MAX_RETIRED] = handle;
}

/* Registers callbacks for the calls that live tracers observe, for those that `starting` (or NULL)
   observes, and for the one that zt__callbacks_come makes. If that fails, the previous registration
   stays. `setup` is held. */
ZT__PRIVATE ze_result_t zt__register_calls(const zt__tracer *starting) {
    static uintptr_t last_registration;
    uint8_t calls[ZT__CALL_COUNT];
    zel_tracer_handle_t handle = NULL;
    ze_result_t result;
    uint32_t call;
    for (call = 0; call < ZT__CALL_COUNT; call++) {
        calls[call] = zt__dispatch.observed[call] || (starting && starting->observed[call]);
    }
    calls[ZT__CALL_DriverGet] = 1;
    if (zt__dispatch.handle && memcmp(zt__dispatch.registered, calls, sizeof calls) == 0) {
        return zt__callbacks_come(zt__dispatch.registration) ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
    }
    result = zt__create_registration(calls, ++last_registration, &handle);
    if (result == ZE_RESULT_SUCCESS && zt__callbacks_come(last_registration)) {
        if (zt__dispatch.handle) {
            zt__retire(zt__dispatch.handle);
        }
        zt__dispatch.handle = handle;
        zt__dispatch.registration = last_registration;
        memcpy(zt__dispatch.registered, calls, sizeof calls);
        return result;
    }
    if (handle && (zt__dispatch.handle || zt__dispatch.retired_count)) {
        zt__retire(handle);
    } else if (handle) { /* nothing was ever traced, so there is no call that zelTracerDestroy could wait for
                          */
        zelTracerSetEnabled(handle, 0);
        zelTracerDestroy(handle);
    }
    return result == ZE_RESULT_SUCCESS ? ZE_RESULT_NOT_READY : result;
}

/* Called when the last tracer stops. If the loader cannot disable the layer, callbacks still come. The
   registration is then retired, unless too many already were. `setup` is held. */
ZT__PRIVATE void zt__disable_layer(void) {
    if (zt__dispatch.disable_layer) {
        zt__dispatch.disable_layer();
        zt__dispatch.disable_layer = NULL;
    }
    if (zt__dispatch.handle && zt__dispatch.retired_count < ZT__MAX_RETIRED &&
        zt__callbacks_come(zt__dispatch.registration)) {
        zt__retire(zt__dispatch.handle);
        zt__dispatch.handle = NULL;
    }
}

/* Called in a forked child, which traces nothing because the driver does not work there. The threads that
   may have held the locks do not exist in it. */
ZT__PRIVATE void zt__forget_tracers(void) {
    static const zt__mutex unlocked = PTHREAD_MUTEX_INITIALIZER;
    zt__frame *frame;
    zt__tracer *tracer;
    zt__dispatch_setup = unlocked;
    zt__dispatch_mutex = unlocked;
    for (tracer = zt__dispatch.tracers; tracer; tracer = tracer->next) {
        tracer->is_live = 0;
        tracer->mutex = unlocked;
    }
    zt__dispatch.tracers = NULL;
    zt__dispatch.tracer_count = 0;
    memset(zt__dispatch.observed, 0, sizeof zt__dispatch.observed);
    for (frame = zt__dispatch.frames; frame; frame = frame->next_of_all) {
        frame->state = ZT__FRAME_UNUSED;
    }
    zt__current_call = NULL;
}

/* Adds a tracer to the live ones, or removes it. `setup` is held. */
ZT__PRIVATE void zt__set_live(zt__tracer *tracer, int is_live) {
    zt__tracer **place = &zt__dispatch.tracers;
    uint32_t call;
    zt__lock(&zt__dispatch_mutex);
    while (*place && *place != tracer) {
        place = &(*place)->next;
    }
    if (is_live) {
        tracer->next = NULL;
        *place = tracer;
        zt__dispatch.tracer_count++;
    } else {
        *place = tracer->next;
        zt__dispatch.tracer_count--;
    }
    for (call = 0; call < ZT__CALL_COUNT; call++) {
        uint8_t is_observed = 0;
        const zt__tracer *live;
        for (live = zt__dispatch.tracers; live; live = live->next) {
            is_observed |= live->observed[call];
        }
        zt__store(&zt__dispatch.observed[call], is_observed);
    }
    zt__store(&tracer->is_live, is_live);
    zt__unlock(&zt__dispatch_mutex);
}

/* ---- starting and stopping ------------------------------------------------------------------------------- */

/* A zt__name_fn, for zt__find_nearest. */
ZT__PRIVATE const char *zt__call_name_at(const void *names, uint32_t index) {
    (void)names;
    return zt__call_name(index);
}

ZT__PRIVATE ze_result_t zt__report_no_such_call(const zt__tracer *tracer, const char *name, size_t length) {
    zt__nearest nearest;
    char wanted[65];
    zt__copy_text(wanted, sizeof wanted, name, length);
    nearest = zt__find_nearest(wanted, NULL, ZT__CALL_COUNT, zt__call_name_at);
    return zt__report(tracer->diagnostics, NO_SUCH_CALL, ZE_RESULT_ERROR_INVALID_ARGUMENT,
                      zt__starting_call(tracer), wanted, nearest.text);
}

/* Stores which calls a list of patterns selects to be timed. Each pattern must match a call. */
ZT__PRIVATE ze_result_t zt__select_calls(zt__tracer *tracer, const char *list) {
    const char *rest = list, *pattern;
    size_t length;
    uint32_t call;
    while (list && zt__next_name(&rest, &pattern, &length)) {
        size_t skipped = *pattern == '!';
        for (call = 0; call < ZT__CALL_COUNT; call++) {
            if (zt__matches(pattern + skipped, length - skipped, zt__call_name(call))) {
                break;
            }
        }
        if (call == ZT__CALL_COUNT) {
            return zt__report_no_such_call(tracer, pattern + skipped, length - skipped);
        }
    }
    for (call = 0; call < ZT__CALL_COUNT; call++) {
        tracer->timed[call] = zt__has_names(list) && zt__is_selected(list, zt__call_name(call));
    }
    return ZE_RESULT_SUCCESS;
}

ZT__PRIVATE ze_result_t zt__copy_hooks(zt__tracer *tracer, const zt_hook *hooks, uint32_t count) {
    uint32_t i, call;
    tracer->hook_count = 0;
    if (count > ZT__MAX_HOOKS || (count && !hooks)) {
        return zt__report(tracer->diagnostics, BAD_HOOKS, ZE_RESULT_ERROR_INVALID_SIZE,
                          zt__starting_call(tracer), (unsigned)ZT__MAX_HOOKS);
    }
    for (i = 0; i < count; i++) {
        const char *name = hooks[i].call ? hooks[i].call : "";
        for (call = 0; call < ZT__CALL_COUNT && strcmp(name, zt__call_name(call)) != 0;) {
            call++;
        }
        if (call == ZT__CALL_COUNT) {
            return zt__report_no_such_call(tracer, name, strlen(name));
        }
        tracer->hooks[i].call = (zt__call)call;
        tracer->hooks[i].prologue = hooks[i].prologue;
        tracer->hooks[i].epilogue = hooks[i].epilogue;
        tracer->hooks[i].user = hooks[i].user;
    }
    tracer->hook_count = count;
    return ZE_RESULT_SUCCESS;
}

/* Returns whether the tracer needs callbacks for a call. Lists are always observed, for the regions that
   the application begins itself. */
ZT__PRIVATE int zt__is_observed(const zt__tracer *tracer, const zt_trace_config *config, uint32_t call) {
    uint32_t i;
    for (i = 0; i < tracer->hook_count; i++) {
        if ((uint32_t)tracer->hooks[i].call == call) {
            return 1;
        }
    }
    if (tracer->timed[call] || tracer->measured[call]) {
        return 1;
    }
    switch (zt__kind_of_call((zt__call)call)) {
    case ZT__KIND_OTHER:
    case ZT__KIND_LAUNCH:
        return 0;
    case ZT__KIND_KERNEL_CREATE:
    case ZT__KIND_KERNEL_DESTROY:
        return !config->no_launches;
    case ZT__KIND_GROUP_SIZE:
        return !config->no_launches && tracer->timeline;
    case ZT__KIND_CAPTURE_BEGIN:
    case ZT__KIND_CAPTURE_END:
    case ZT__KIND_GET_COMMAND_ID:
        return !config->no_launches || config->copies;
    case ZT__KIND_COPY:
    case ZT__KIND_CONTEXT_DESTROY:
        return tracer->automatic != NULL;
    default:
        return 1;
    }
}

/* Copies a configuration, and forgets kernels and lists: what was not observed since the last stop may
   have changed them. `timeline` is how many samples the profiler keeps. */
ZT__PRIVATE ze_result_t zt__configure_tracer(zt__tracer *tracer, const zt_trace_config *config,
                                             uint32_t timeline) {
    ze_result_t result;
    uint32_t call;
    zt__forget_everything(tracer);
    zt__free(&tracer->allocator, tracer->names);
    tracer->names = NULL;
    if (config->names) {
        tracer->names = zt__duplicate_text(&tracer->allocator, config->names);
        if (!tracer->names) {
            return zt__report_no_memory(tracer->diagnostics, zt__starting_call(tracer),
                                        "the names of kernels");
        }
    }
    tracer->every = config->every ? config->every : 1;
    tracer->limit = config->limit;
    tracer->timeline = timeline;
    result = zt__select_calls(tracer, config->calls);
    if (result == ZE_RESULT_SUCCESS) {
        result = zt__copy_hooks(tracer, config->hooks, config->hook_count);
    }
    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }
    for (call = 0; call < ZT__CALL_COUNT; call++) {
        zt__call_kind kind = zt__kind_of_call((zt__call)call);
        tracer->measured[call] =
            (kind == ZT__KIND_LAUNCH && !config->no_launches) || (kind == ZT__KIND_COPY && config->copies);
        tracer->observed[call] = zt__is_observed(tracer, config, call) != 0;
    }
    if (!tracer->spans && timeline && zt__has_names(config->calls)) {
        /* As many calls are kept as samples; without memory, none. */
        zt__host_span *spans =
            (zt__host_span *)zt__allocate(&tracer->allocator, timeline, sizeof *tracer->spans);
        zt__lock(&tracer->mutex);
        tracer->spans = spans;
        tracer->span_capacity = timeline;
        zt__unlock(&tracer->mutex);
    }
    zt__find_loader_symbol("zeCommandListGetContextHandle", (void *)&tracer->get_context);
    zt__find_loader_symbol("zeCommandListGetDeviceHandle", (void *)&tracer->get_device);
    zt__find_loader_symbol("zeCommandListGetOrdinal", (void *)&tracer->get_ordinal);
    zt__find_loader_symbol("zeCommandListIsGraphCaptureEnabledExt", (void *)&tracer->query_capture);
    return ZE_RESULT_SUCCESS;
}

/* Returns whether a thread is in a call that this tracer observes, in the driver or in a callback. */
ZT__PRIVATE int zt__has_calls_in_progress(const zt__tracer *tracer) {
    const zt__frame *frame;
    int found = 0;
    zt__lock(&zt__dispatch_mutex);
    for (frame = zt__dispatch.frames; frame && !found; frame = frame->next_of_all) {
        zt__frame_state state = zt__load(&frame->state);
        found = frame->tracer == tracer && (state == ZT__FRAME_CALLBACK || state == ZT__FRAME_DRIVER);
    }
    zt__unlock(&zt__dispatch_mutex);
    return found;
}

/* Makes a tracer live, with a configuration or, if it is NULL, the default. */
ZT__PRIVATE ze_result_t zt__start_tracer(zt__tracer *tracer, const zt_trace_config *given,
                                         uint32_t timeline) {
    zt_trace_config config = given ? *given : zt_trace_config_default();
    const char *kernels = getenv("ZT_KERNELS"), *copies = getenv("ZT_COPIES"), *calls = getenv("ZT_CALLS");
    ze_result_t(ZE_APICALL * enable_layer)(void);
    ze_result_t result;
    if (zt__has_calls_in_progress(tracer)) {
        return zt__report(tracer->diagnostics, CALLS_IN_PROGRESS, ZE_RESULT_NOT_READY,
                          zt__starting_call(tracer));
    }
    if (kernels) {
        config.names = kernels;
    }
    if (copies) {
        config.copies = !zt__is_off(copies);
    }
    if (calls) {
        config.calls = calls;
    }
    result = zt__configure_tracer(tracer, &config, timeline);
    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }
    zt__lock(&zt__dispatch_setup);
    if (!zt__dispatch.handles_fork) {
        zt__dispatch.handles_fork = pthread_atfork(NULL, NULL, zt__forget_tracers) == 0;
    }
    if (!zt__dispatch.tracers) {
        zt__find_loader_symbol("zelEnableTracingLayer", (void *)&enable_layer);
        if (enable_layer && enable_layer() == ZE_RESULT_SUCCESS) {
            zt__find_loader_symbol("zelDisableTracingLayer", (void *)&zt__dispatch.disable_layer);
        }
    }
    result = zt__register_calls(tracer);
    if (result == ZE_RESULT_SUCCESS) {
        zt__set_live(tracer, 1);
    } else if (!zt__dispatch.tracers) {
        zt__disable_layer();
    }
    zt__unlock(&zt__dispatch_setup);
    if (result != ZE_RESULT_SUCCESS) {
        return zt__report(tracer->diagnostics, TRACING_OFF, ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE,
                          zt__starting_call(tracer), zt_result_name(result));
    }
    return result;
}

/* Stops a tracer, and waits for its calls in progress on other threads. */
ZT__PRIVATE ze_result_t zt__stop_tracer(zt__tracer *tracer, const char *caller) {
    zt__wait wait = zt__wait_until(zt__deadline(tracer->wait_timeout_ns));
    zt__lock(&zt__dispatch_setup);
    if (zt__load(&tracer->is_live)) {
        zt__set_live(tracer, 0);
        if (!zt__dispatch.tracers) {
            zt__disable_layer();
        } else if (zt__dispatch.retired_count < ZT__MAX_RETIRED) {
            /* Ends callbacks for calls that no other tracer needs. If this fails, they cost time. */
            zt__register_calls(NULL);
        }
    }
    zt__unlock(&zt__dispatch_setup);
    while (zt__has_calls_in_progress(tracer)) {
        if (!zt__wait_again(&wait)) {
            return zt__report(tracer->diagnostics, CALLS_IN_PROGRESS, ZE_RESULT_NOT_READY, caller);
        }
    }
    return ZE_RESULT_SUCCESS;
}

/* Detaches the tracer from calls that are still in the driver, before it is destroyed. Returns 0 if one
   of its callbacks is running, which still needs it. */
ZT__PRIVATE int zt__abandon_calls(const zt__tracer *tracer) {
    zt__frame *frame;
    int is_running = 0;
    zt__lock(&zt__dispatch_mutex);
    for (frame = zt__dispatch.frames; frame; frame = frame->next_of_all) {
        is_running |= frame->tracer == tracer && zt__load(&frame->state) == ZT__FRAME_CALLBACK;
    }
    for (frame = zt__dispatch.frames; frame && !is_running; frame = frame->next_of_all) {
        if (frame->tracer == tracer && zt__load(&frame->state) == ZT__FRAME_DRIVER) {
            zt__store(&frame->state, ZT__FRAME_ABANDONED);
        }
    }
    zt__unlock(&zt__dispatch_mutex);
    return !is_running;
}

ZT__PRIVATE zt__tracer *zt__create_tracer(const zt_allocator *allocator, zt__diagnostics *diagnostics,
                                          uint64_t wait_timeout_ns) {
    zt__tracer *tracer = (zt__tracer *)zt__allocate(allocator, 1, sizeof *tracer);
    if (!tracer) {
        return NULL;
    }
    tracer->allocator = *allocator;
    tracer->diagnostics = diagnostics;
    tracer->wait_timeout_ns = wait_timeout_ns;
    pthread_mutex_init(&tracer->mutex, NULL);
    pthread_mutex_init(&tracer->opening.mutex, NULL);
    return tracer;
}

/* Frees a tracer, which has no call in progress. */
ZT__PRIVATE void zt__destroy_tracer(zt__tracer *tracer) {
    zt_allocator allocator = tracer->allocator;
    uint32_t i;
    zt__forget_everything(tracer);
    while (tracer->devices) {
        zt__traced_device *device = tracer->devices;
        tracer->devices = device->next;
        zt__free(&allocator, device);
    }
    for (i = 0; i < tracer->timed_call_count; i++) {
        zt__free_timed_call(&allocator, tracer->in_order[i]);
    }
    zt__free(&allocator, tracer->names);
    zt__free(&allocator, tracer->spans);
    pthread_mutex_destroy(&tracer->mutex);
    pthread_mutex_destroy(&tracer->opening.mutex);
    zt__free(&allocator, tracer);
}

/* Called by zt_close. Returns 0 if the profiler cannot be closed now. */
ZT__PRIVATE int zt__end_tracing(zt_profiler *profiler) {
    zt__tracer *tracer = profiler->tracer;
    if (zt__is_inside_hook() && zt__load(&tracer->is_live)) {
        zt__report(&profiler->diagnostics, INSIDE_HOOK, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, "zt_close");
        return 0;
    }
    zt__stop_tracer(tracer, "zt_close");
    if (!zt__abandon_calls(tracer)) {
        return 0;
    }
    zt__store(&profiler->tracer, (zt__tracer *)NULL);
    profiler->stop_tracing = NULL;
    zt__destroy_tracer(tracer);
    return 1;
}

ZT_API zt_trace_config zt_trace_config_default(void) {
    zt_trace_config config;
    memset(&config, 0, sizeof config);
    config.every = 1;
    return config;
}

ZT_API ze_result_t zt_trace_start(zt_profiler *profiler, const zt_trace_config *config) {
    zt__tracer *tracer;
    if (!profiler) {
        return ZE_RESULT_SUCCESS;
    }
    if (zt__is_inside_hook()) {
        return zt__report(&profiler->diagnostics, INSIDE_HOOK, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                          "zt_trace_start");
    }
    if (!profiler->device) {
        return zt__report_null_handle(&profiler->diagnostics, "zt_trace_start", "the profiler's device");
    }
    tracer = profiler->tracer;
    if (tracer && zt__load(&tracer->is_live)) {
        return zt__report(&profiler->diagnostics, TRACING_ALREADY, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    }
    if (!tracer) {
        tracer = zt__create_tracer(&profiler->config.allocator, &profiler->diagnostics,
                                   profiler->config.wait_timeout_ns);
        if (tracer && !zt__add_device(tracer, profiler->context, profiler->device, profiler)) {
            zt__destroy_tracer(tracer);
            tracer = NULL;
        }
        if (!tracer) {
            return zt__report_no_memory(&profiler->diagnostics, "zt_trace_start", "the tracer");
        }
        profiler->stop_tracing = zt__end_tracing;
        zt__store(&profiler->tracer, tracer);
    }
    return zt__start_tracer(tracer, config, profiler->config.timeline);
}

ZT_API ze_result_t zt_trace_stop(zt_profiler *profiler) {
    zt__tracer *tracer = profiler ? zt__load(&profiler->tracer) : NULL;
    zt__list *list;
    ze_result_t result;
    if (!tracer || !zt__load(&tracer->is_live)) {
        return ZE_RESULT_SUCCESS;
    }
    if (zt__is_inside_hook()) {
        return zt__report(&profiler->diagnostics, INSIDE_HOOK, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                          "zt_trace_stop");
    }
    result = zt__stop_tracer(tracer, "zt_trace_stop");
    /* Resets of lists are no longer observed. So what is recorded on a list now may be gone when the list
       is executed next: it is not expected to run, but measured if it is seen to have run. */
    zt__lock(&profiler->mutex);
    for (list = profiler->lists; list; list = list->next) {
        list->unexpected_up_to = list->ended;
    }
    zt__unlock(&profiler->mutex);
    return result;
}

/* ---- what was traced ------------------------------------------------------------------------------------- */

ZT_API zt_trace_counts zt_trace_get_counts(const zt_profiler *profiler) {
    zt__tracer *tracer = profiler ? zt__load(&profiler->tracer) : NULL;
    zt_trace_counts counts;
    memset(&counts, 0, sizeof counts);
    if (tracer) {
        zt__lock(&tracer->mutex);
        counts = tracer->counts;
        zt__unlock(&tracer->mutex);
    }
    return counts;
}

ZT_API uint32_t zt_get_call_count(const zt_profiler *profiler) {
    zt__tracer *tracer = profiler ? zt__load(&profiler->tracer) : NULL;
    uint32_t count = 0;
    if (tracer) {
        zt__lock(&tracer->mutex);
        count = tracer->timed_call_count;
        zt__unlock(&tracer->mutex);
    }
    return count;
}

ZT_API ze_result_t zt_get_call(const zt_profiler *profiler, uint32_t index, zt_call_info *info) {
    double kept[ZT__KEPT_CALLS];
    zt__tracer *tracer;
    const zt__timed_call *timed;
    uint32_t count;
    if (!info) {
        return profiler ? zt__report_null(&zt__mutable(profiler)->diagnostics, "zt_get_call", "info")
                        : ZE_RESULT_SUCCESS;
    }
    memset(info, 0, sizeof *info);
    info->name = "";
    zt__clear_stats(&info->time_ns);
    if (!profiler) {
        return ZE_RESULT_SUCCESS;
    }
    if (index >= zt_get_call_count(profiler)) {
        return zt__report(&zt__mutable(profiler)->diagnostics, BAD_INDEX, ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "zt_get_call", (unsigned)index, "call");
    }
    tracer = zt__load(&profiler->tracer);
    zt__lock(&tracer->mutex);
    timed = tracer->in_order[index];
    info->name = zt__call_name(timed->call);
    info->errors = timed->errors;
    zt__get_moments(&zt__call_layout, &timed->statistics, 0, &info->time_ns);
    count = zt__copy_column(&zt__call_layout, &timed->statistics, 0, kept);
    zt__unlock(&tracer->mutex);
    info->count = info->time_ns.count;
    info->time_ns.median = zt__quantile(kept, count, 0.5);
    info->time_ns.p95 = zt__quantile(kept, count, 0.95);
    return ZE_RESULT_SUCCESS;
}

/* Returns how many timed calls a profiler's report shows. Under zt_auto, only the report of the first
   profiler shows them. */
ZT__PRIVATE uint32_t zt__calls_to_report(const zt_profiler *profiler) {
    zt__tracer *tracer = zt__load(&profiler->tracer);
    zt__traced_device *device = tracer ? zt__load(&tracer->devices) : NULL;
    while (device && !device->profiler) {
        device = zt__load(&device->next);
    }
    return device && device->profiler == profiler ? zt_get_call_count(profiler) : 0;
}

/* A call as the timeline shows it. */
typedef struct zt__kept_call {
    const char *name;
    uint64_t begin_ns, end_ns;
    uint32_t thread; /* of the system */
} zt__kept_call;

/* Gets the indices of kept calls, from *first up to but not including *end. */
ZT__PRIVATE void zt__get_kept_calls(const zt_profiler *profiler, uint64_t *first, uint64_t *end) {
    zt__tracer *tracer = zt__load(&profiler->tracer);
    *first = *end = 0;
    if (tracer && zt__calls_to_report(profiler)) {
        zt__lock(&tracer->mutex);
        *end = tracer->span_count;
        *first = *end > tracer->span_capacity ? *end - tracer->span_capacity : 0;
        zt__unlock(&tracer->mutex);
    }
}

/* Returns 0 if a newer call has replaced it. */
ZT__PRIVATE int zt__copy_kept_call(const zt_profiler *profiler, uint64_t index, zt__kept_call *call) {
    zt__tracer *tracer = zt__load(&profiler->tracer);
    int is_kept;
    zt__lock(&tracer->mutex);
    is_kept = index < tracer->span_count && tracer->span_count - index <= tracer->span_capacity;
    if (is_kept) {
        const zt__host_span *span = &tracer->spans[index % tracer->span_capacity];
        call->name = zt__call_name(span->call);
        call->begin_ns = span->begin_ns;
        call->end_ns = span->begin_ns + span->duration_ns;
        call->thread = span->thread;
    }
    zt__unlock(&tracer->mutex);
    return is_kept;
}

#endif /* ZETOOLS_TRACER */

/* ==== >>openmetrics: figures for Prometheus, in the OpenMetrics text format =============================== */

/* All samples of a family are written one after the other, so each family goes through all regions. */

/* Escapes a text for a label or for HELP. A byte that is not valid UTF-8 becomes \xFF, so that regions
   whose names differ have labels that differ. */
ZT__PRIVATE void zt__write_openmetrics_text(zt__writer *writer, const char *text) {
    const char *next = text;
    zt__character character;
    for (; zt__next_character(&next, &character); text = next) {
        if (character.bytes != text) {
            zt__print(writer, "\\\\x%02X", (unsigned)(unsigned char)*text);
        } else if (character.code == '\n') {
            zt__write_text(writer, "\\n");
        } else {
            if (character.code == '"' || character.code == '\\') {
                zt__write_text(writer, "\\");
            }
            zt__write_bytes(writer, character.bytes, character.length);
        }
    }
}

/* Begins a metric family. Its name ends with its unit, which may be "". */
ZT__PRIVATE void zt__begin_family(zt__writer *writer, const char *name, const char *type, const char *unit,
                                  const char *help) {
    const char *const lines[][2] = {{"TYPE", type}, {"UNIT", unit}, {"HELP", help}};
    uint32_t i;
    for (i = 0; i < ZT__COUNT_OF(lines); i++) {
        if (*lines[i][1]) {
            zt__print(writer, "# %s ", lines[i][0]);
            zt__write_text(writer, name);
            zt__write_text(writer, " ");
            zt__write_openmetrics_text(writer, lines[i][1]);
            zt__write_text(writer, "\n");
        }
    }
}

/* Begins a sample of a family. Labels and the value follow. */
ZT__PRIVATE void zt__begin_labels(zt__writer *writer, const char *family, const char *suffix) {
    zt__write_text(writer, family);
    zt__write_text(writer, suffix);
    zt__write_text(writer, "{");
}

ZT__PRIVATE void zt__write_label(zt__writer *writer, const char *name, const char *value) {
    zt__write_comma(writer);
    zt__print(writer, "%s=\"", name);
    zt__write_openmetrics_text(writer, value);
    zt__write_text(writer, "\"");
}

ZT__PRIVATE void zt__end_sample(zt__writer *writer, double value) {
    zt__write_text(writer, "} ");
    zt__write_number(writer, value);
    zt__write_text(writer, "\n");
}

ZT__PRIVATE void zt__end_count(zt__writer *writer, uint64_t count) {
    zt__print(writer, "} %llu\n", (unsigned long long)count);
}

/* Writes a sample that has one label. */
ZT__PRIVATE void zt__write_labelled_count(zt__writer *writer, const char *family, const char *label,
                                          const char *value, uint64_t count) {
    zt__begin_labels(writer, family, "_total");
    zt__write_label(writer, label, value);
    zt__end_count(writer, count);
}

/* Writes the samples of a summary in seconds. Its quantiles 0 and 1 are minimum and maximum. */
ZT__PRIVATE void zt__write_summary(zt__writer *writer, const char *family, const char *label,
                                   const char *value, uint64_t count, const zt_stats *time_ns) {
    const struct {
        const char *quantile;
        double ns;
    } quantiles[] = {
        {"0.0", time_ns->min}, {"0.5", time_ns->median}, {"0.95", time_ns->p95}, {"1.0", time_ns->max}};
    uint32_t i;
    for (i = 0; i < ZT__COUNT_OF(quantiles); i++) {
        if (zt__is_finite(quantiles[i].ns)) {
            zt__begin_labels(writer, family, "");
            zt__write_label(writer, label, value);
            zt__write_label(writer, "quantile", quantiles[i].quantile);
            zt__end_sample(writer, quantiles[i].ns * 1e-9);
        }
    }
    zt__begin_labels(writer, family, "_sum");
    zt__write_label(writer, label, value);
    zt__end_sample(writer, zt__is_finite(time_ns->sum) ? time_ns->sum * 1e-9 : 0);
    zt__begin_labels(writer, family, "_count");
    zt__write_label(writer, label, value);
    zt__end_count(writer, count);
}

/* ---- metrics of the device ------------------------------------------------------------------------------- */

/* The family that has the figures of a metric. */
typedef struct zt__family {
    char name[1024];
    char unit[ZET_MAX_METRIC_RESULT_UNITS];
    const char *type;
    double factor; /* figures are multiplied by it, to be in base units */
} zt__family;

/* Appends a name in snake case: "GpuTime" becomes "gpu_time", "GPU_BUSY" "gpu_busy". `from` has `length`
   bytes. */
ZT__PRIVATE void zt__append_snake_case(char *name, size_t room, const char *from, size_t length) {
    size_t used = strlen(name), i;
    for (i = 0; i < length && used + 3 < room; i++) {
        char letter = from[i];
        int is_upper = letter >= 'A' && letter <= 'Z', is_lower = letter >= 'a' && letter <= 'z';
        if (!is_upper && !is_lower && !(letter >= '0' && letter <= '9')) {
            letter = '_';
        }
        if (is_upper && i > 0 && from[i - 1] >= 'a' && from[i - 1] <= 'z') {
            name[used++] = '_';
        }
        if (letter != '_' || (used > 0 && name[used - 1] != '_')) {
            name[used++] = (char)(is_upper ? letter - 'A' + 'a' : letter);
        }
    }
    while (used > 0 && name[used - 1] == '_') {
        used--;
    }
    name[used] = 0;
}

/* Chooses the unit of a family, and the factor to it. Units that are in no base unit keep their name. */
ZT__PRIVATE void zt__choose_base_unit(zt__family *family, const char *units) {
    static const struct {
        const char *units, *base;
        double factor;
    } base_units[] = {
        {"ns", "seconds", 1e-9},
        {"us", "seconds", 1e-6},
        {"ms", "seconds", 1e-3},
        {"s", "seconds", 1},
        {"percent", "ratio", 0.01},
        {"%", "ratio", 0.01},
        {"Hz", "hertz", 1},
        {"kHz", "hertz", 1e3},
        {"MHz", "hertz", 1e6},
        {"GHz", "hertz", 1e9},
        {"BpS", "bytes_per_second", 1},
        {"KBpS", "bytes_per_second", 1e3},
        {"MBpS", "bytes_per_second", 1e6},
        {"GBpS", "bytes_per_second", 1e9},
    };
    uint32_t i;
    family->factor = 1;
    family->unit[0] = 0;
    for (i = 0; i < ZT__COUNT_OF(base_units); i++) {
        if (strcmp(units, base_units[i].units) == 0) {
            family->factor = base_units[i].factor;
            units = base_units[i].base;
        }
    }
    zt__append_snake_case(family->unit, sizeof family->unit, units, strlen(units));
}

/* Whose figures a family has. */
typedef enum zt__family_kind {
    ZT__OF_DEVICE,
    ZT__OF_TILES,
    ZT__STREAMED_MEAN, /* while regions run, like the next */
    ZT__STREAMED_PEAK,
    ZT__FAMILY_KIND_COUNT
} zt__family_kind;

/* Describes the family of a metric. `infix` makes its name differ from those of other families. Metrics that
   neither add up nor have a mean have none: then its name is "". */
ZT__PRIVATE void zt__describe_family(zt__family *family, zt__family_kind kind, const zt_metric *metric,
                                     const char *infix) {
    static const char *const reserved[] = {"_total", "_count", "_sum", "_bucket", "_created", "_info"};
    static const char *const prefixes[] = {"zetools_metric_", "zetools_tile_metric_",
                                           "zetools_streamed_mean_", "zetools_streamed_peak_"};
    const char *units = metric->aggregation == ZT_AGGREGATE_FLAG ? "samples" : metric->units;
    size_t length = strlen(metric->name), used;
    int is_streamed = kind == ZT__STREAMED_MEAN || kind == ZT__STREAMED_PEAK;
    uint32_t i;
    memset(family, 0, sizeof *family);
    if (metric->aggregation == ZT_AGGREGATE_NONE ||
        (is_streamed && metric->aggregation == ZT_AGGREGATE_FLAG)) {
        return;
    }
    zt__choose_base_unit(family, units);
    family->type = is_streamed || metric->aggregation == ZT_AGGREGATE_MEAN ? "gauge" : "counter";
    if (*units && zt__ends_with(metric->name, units, strcmp)) {
        length -= strlen(units); /* "FrequencyMHz" in MHz becomes "frequency_hertz" */
    }
    strcpy(family->name, prefixes[kind]);
    zt__append_snake_case(family->name, sizeof family->name, metric->name, length);
    used = strlen(family->name);
    snprintf(family->name + used, sizeof family->name - used, "%s%s%s%s", *infix ? "_" : "", infix,
             *family->unit ? "_" : "", family->unit);
    for (i = 0; i < ZT__COUNT_OF(reserved); i++) {
        if (zt__ends_with(family->name, reserved[i], strcmp)) {
            strcat(family->name, "_value");
            family->unit[0] = 0; /* the name of a family with a unit ends with that */
        }
    }
}

/* Returns the metric of a family. Streams are attached while reports are written, but never removed. */
ZT__PRIVATE const zt_metric *zt__metric_of_family(const zt_profiler *profiler, zt__family_kind kind,
                                                  uint32_t metric) {
    return kind == ZT__OF_DEVICE || kind == ZT__OF_TILES ? &profiler->metrics[metric]
                                                         : zt_get_streamed_metric(profiler, metric);
}

/* Reads the figure of a metric in a region, on a tile. Returns 0 if there is none. */
ZT__PRIVATE int zt__read_family_figure(zt_profiler *profiler, zt__family_kind kind, uint32_t metric,
                                       uint32_t region, uint32_t tile, double *figure) {
    int is_gauge;
    zt_streamed streamed;
    zt_stats stats;
    if (kind == ZT__STREAMED_MEAN || kind == ZT__STREAMED_PEAK) {
        zt_get_streamed(profiler, region, metric, &streamed);
        *figure = kind == ZT__STREAMED_MEAN ? streamed.mean : streamed.peak;
        return streamed.rows > 0 && zt__is_finite(*figure);
    }
    zt__lock(&profiler->mutex);
    zt__get_moments(&profiler->layout, &profiler->regions[region]->statistics,
                    kind == ZT__OF_TILES ? zt__tile_column(profiler, tile, metric) : 1 + metric, &stats);
    zt__unlock(&profiler->mutex);
    is_gauge = profiler->metrics[metric].aggregation == ZT_AGGREGATE_MEAN;
    *figure = is_gauge ? stats.mean : stats.sum;
    return stats.count > 0 && zt__is_finite(*figure) && (is_gauge || *figure >= 0);
}

ZT__PRIVATE void zt__write_number_label(zt__writer *writer, const char *name, uint32_t number) {
    char text[16];
    snprintf(text, sizeof text, "%u", (unsigned)number);
    zt__write_label(writer, name, text);
}

/* Writes the figures of a metric in each region. */
ZT__PRIVATE void zt__write_metric_samples(zt_profiler *profiler, zt__writer *writer, zt__family_kind kind,
                                          uint32_t metric, const zt__family *family, uint32_t region_count) {
    const zt_metric *described = zt__metric_of_family(profiler, kind, metric);
    uint32_t i, tile, tiles = kind == ZT__OF_TILES ? profiler->tile_count : 1, stream = 0;
    double figure;
    if (kind == ZT__STREAMED_MEAN || kind == ZT__STREAMED_PEAK) {
        zt__stream_data *data = NULL;
        do {
            data = zt__next_attached_stream(profiler, data);
            stream++;
        } while (data && metric - data->first_streamed >= data->group.metric_count);
    }
    for (i = 0; i < region_count; i++) {
        const char *region;
        zt__lock(&profiler->mutex);
        region = profiler->regions[i]->name;
        zt__unlock(&profiler->mutex);
        for (tile = 0; tile < tiles; tile++) {
            if (!zt__read_family_figure(profiler, kind, metric, i, tile, &figure)) {
                continue;
            }
            zt__begin_labels(writer, family->name, strcmp(family->type, "counter") == 0 ? "_total" : "");
            zt__write_label(writer, "region", region);
            zt__write_label(writer, "metric", described->name);
            zt__write_label(writer, "group", described->group);
            if (profiler->pass_count > 1 && !stream) {
                zt__write_number_label(writer, "pass", described->pass);
            }
            if (kind == ZT__OF_TILES) {
                zt__write_number_label(writer, "tile", tile);
            }
            if (stream) {
                zt__write_number_label(writer, "stream", stream);
            }
            zt__end_sample(writer, figure * family->factor);
        }
    }
}

/* Returns the first metric whose family has the name of that of `metric`. */
ZT__PRIVATE uint32_t zt__first_of_family(const zt__family *families, uint32_t metric) {
    uint32_t i = 0;
    while (i < metric && strcmp(families[i].name, families[metric].name) != 0) {
        i++;
    }
    return i;
}

/* Writes a family for each name of a metric. Metrics of several groups or streams that have the same name
   share one. Returns 0 without memory. */
ZT__PRIVATE int zt__write_metric_families(zt_profiler *profiler, zt__writer *writer, zt__family_kind kind,
                                          uint32_t count, uint32_t region_count) {
    const zt_allocator *allocator = &profiler->config.allocator;
    uint32_t i, k;
    zt__family *families;
    if (count == 0) {
        return 1;
    }
    families = (zt__family *)zt__allocate(allocator, count, sizeof *families);
    if (!families) {
        return 0;
    }
    for (i = 0; i < count; i++) {
        const zt_metric *metric = zt__metric_of_family(profiler, kind, i);
        zt__describe_family(&families[i], kind, metric, "");
        if (families[zt__first_of_family(families, i)].type != families[i].type) {
            zt__describe_family(&families[i], kind, metric, families[i].type);
        }
    }
    for (i = 0; i < count; i++) {
        const zt_metric *metric = zt__metric_of_family(profiler, kind, i);
        if (!*families[i].name || zt__first_of_family(families, i) < i) {
            continue; /* none, or written already */
        }
        zt__begin_family(writer, families[i].name, families[i].type, families[i].unit,
                         *metric->description ? metric->description : metric->name);
        for (k = i; k < count; k++) {
            if (strcmp(families[k].name, families[i].name) == 0) {
                zt__write_metric_samples(profiler, writer, kind, k, &families[k], region_count);
            }
        }
    }
    zt__free(allocator, families);
    return 1;
}

/* ---- the whole ------------------------------------------------------------------------------------------- */

/* Writes the GPU time of regions, and their samples that were lost or dropped. */
ZT__PRIVATE void zt__write_region_families(zt_profiler *profiler, zt__writer *writer, uint32_t region_count) {
    static const char *const time = "zetools_region_gpu_time_seconds";
    static const char *const pass_time = "zetools_region_pass_gpu_time_seconds";
    static const struct {
        const char *family, *help;
    } missing[] = {{"zetools_region_lost_samples", "Samples of a region whose data is missing or invalid"},
                   {"zetools_region_dropped_samples", "Samples of a region that were not measured"}};
    zt_region_info region;
    uint32_t i, pass, kind;
    zt__begin_family(writer, time, "summary", "seconds", "GPU time of the samples of a region");
    for (i = 0; i < region_count; i++) {
        if (zt_get_region(profiler, i, &region) == ZE_RESULT_SUCCESS && region.count) {
            zt__write_summary(writer, time, "region", region.name, region.count, &region.time_ns);
        }
    }
    if (profiler->pass_count > 1) {
        zt__begin_family(writer, pass_time, "counter", "seconds", "GPU time of a region in each pass");
        for (i = 0; i < region_count; i++) {
            zt_get_region(profiler, i, &region);
            for (pass = 0; pass < profiler->pass_count; pass++) {
                char number[16];
                zt_stats stats;
                zt_get_pass(profiler, i, pass, &stats);
                if (zt__is_finite(stats.sum)) {
                    snprintf(number, sizeof number, "%u", (unsigned)pass);
                    zt__begin_labels(writer, pass_time, "_total");
                    zt__write_label(writer, "region", region.name);
                    zt__write_label(writer, "pass", number);
                    zt__end_sample(writer, stats.sum * 1e-9);
                }
            }
        }
    }
    for (kind = 0; kind < 2; kind++) {
        zt__begin_family(writer, missing[kind].family, "counter", "samples", missing[kind].help);
        for (i = 0; i < region_count; i++) {
            const zt__region_record *record;
            uint64_t counts[2], collected;
            zt__lock(&profiler->mutex);
            record = profiler->regions[i];
            counts[0] = record->lost;
            counts[1] = record->dropped;
            collected = zt__collected(profiler, &record->statistics);
            zt__unlock(&profiler->mutex);
            if (collected || counts[0] || counts[1]) {
                zt__write_labelled_count(writer, missing[kind].family, "region", record->name, counts[kind]);
            }
        }
    }
}

/* Writes what became of all samples. */
ZT__PRIVATE void zt__write_count_families(const zt_profiler *profiler, zt__writer *writer) {
    static const struct {
        const char *family, *help;
        uint32_t first, end;
    } causes[] = {
        {"zetools_lost_samples", "Samples whose data is missing or invalid, by cause", 0, ZT_DROPPED_NO_SLOT},
        {"zetools_dropped_samples", "Samples that were not measured, by cause", ZT_DROPPED_NO_SLOT,
         ZT_CAUSE_COUNT}};
    zt_counts counts = zt_get_counts(profiler);
    uint32_t i, cause;
    zt__begin_family(writer, "zetools", "info", "",
                     "Version of zetools.h, device, and availability of metrics");
    zt__begin_labels(writer, "zetools", "_info");
    zt__write_label(writer, "version", ZETOOLS_VERSION);
    zt__write_label(writer, "device", profiler->device_name);
    zt__write_label(writer, "availability", zt_get_availability_text(profiler));
    zt__end_count(writer, 1);
    zt__begin_family(writer, "zetools_collected_samples", "counter", "samples",
                     "Samples that were collected");
    zt__print(writer, "zetools_collected_samples_total %llu\n", (unsigned long long)counts.collected);
    for (i = 0; i < ZT__COUNT_OF(causes); i++) {
        zt__begin_family(writer, causes[i].family, "counter", "samples", causes[i].help);
        for (cause = causes[i].first; cause < causes[i].end; cause++) {
            zt__write_labelled_count(writer, causes[i].family, "cause", zt_cause_name((zt_cause)cause),
                                     zt_get_cause(profiler, (zt_cause)cause));
        }
    }
    zt__begin_family(writer, "zetools_in_flight_samples", "gauge", "samples",
                     "Samples that were begun and are not collected yet");
    zt__print(writer, "zetools_in_flight_samples %llu\n", (unsigned long long)counts.in_flight);
    zt__begin_family(writer, "zetools_unobserved_lists", "counter", "lists",
                     "Command lists that ran outside of zt_execute");
    zt__print(writer, "zetools_unobserved_lists_total %llu\n", (unsigned long long)counts.unobserved_lists);
}

#ifdef ZETOOLS_TRACER
ZT__PRIVATE void zt__write_call_families(const zt_profiler *profiler, zt__writer *writer) {
    uint32_t i, count = zt__calls_to_report(profiler);
    zt_call_info call;
    if (count == 0) {
        return;
    }
    zt__begin_family(writer, "zetools_call_seconds", "summary", "seconds", "Host time of calls");
    for (i = 0; i < count; i++) {
        zt_get_call(profiler, i, &call);
        zt__write_summary(writer, "zetools_call_seconds", "call", call.name, call.count, &call.time_ns);
    }
    zt__begin_family(writer, "zetools_call_errors", "counter", "errors", "Calls that failed");
    for (i = 0; i < count; i++) {
        zt_get_call(profiler, i, &call);
        zt__write_labelled_count(writer, "zetools_call_errors", "call", call.name, call.errors);
    }
}
#endif

/* Returns 0 without memory. */
ZT__PRIVATE int zt__write_openmetrics(zt_profiler *profiler, zt__writer *writer, uint32_t region_count) {
    const uint32_t streamed = zt_get_streamed_count(profiler);
    const uint32_t counts[ZT__FAMILY_KIND_COUNT] = {
        profiler->metric_count, profiler->tile_count ? profiler->metric_count : 0, streamed, streamed};
    uint32_t kind;
    int has_memory = 1;
    zt__write_count_families(profiler, writer);
    zt__write_region_families(profiler, writer, region_count);
    for (kind = 0; kind < ZT__FAMILY_KIND_COUNT && has_memory; kind++) {
        has_memory =
            zt__write_metric_families(profiler, writer, (zt__family_kind)kind, counts[kind], region_count);
    }
#ifdef ZETOOLS_TRACER
    zt__write_call_families(profiler, writer);
#endif
    zt__write_text(writer, "# EOF\n");
    return has_memory;
}

/* ==== >>reports: what reports have in common ============================================================== */

enum { ZT__HISTOGRAM_BUCKETS = 24 };

/* How kept GPU times are distributed. Each bucket ends at `ratio` times its begin. */
typedef struct zt__histogram {
    double first; /* where the first bucket begins */
    double ratio;
    uint32_t counts[ZT__HISTOGRAM_BUCKETS];
    uint32_t used; /* 0: no times are kept */
} zt__histogram;

ZT__PRIVATE int zt__is_countable(double time) {
    return zt__is_positive(time) && zt__is_finite(time);
}

/* Counts times. The buckets are as narrow as their number allows, but not narrower than 0.5 %. */
ZT__PRIVATE void zt__count_times(const double *times, uint32_t count, zt__histogram *histogram) {
    double first = 0, last = 0;
    uint32_t i;
    memset(histogram, 0, sizeof *histogram);
    for (i = 0; i < count; i++) {
        if (zt__is_countable(times[i])) {
            first = first > 0 && first < times[i] ? first : times[i];
            last = last > times[i] ? last : times[i];
        }
    }
    if (first <= 0) {
        return;
    }
    histogram->first = first;
    histogram->ratio = pow(last / first, 1.0 / (double)ZT__HISTOGRAM_BUCKETS);
    if (histogram->ratio < 1.005) {
        histogram->ratio = 1.005;
    }
    for (i = 0; i < count; i++) {
        if (zt__is_countable(times[i])) {
            double place = log(times[i] / first) / log(histogram->ratio);
            uint32_t bucket =
                place < ZT__HISTOGRAM_BUCKETS - 1 ? (uint32_t)place : ZT__HISTOGRAM_BUCKETS - 1u;
            histogram->counts[bucket]++;
            histogram->used = bucket + 1 > histogram->used ? bucket + 1 : histogram->used;
        }
    }
}

/* A report that is being written. zt__read_region reads one region at a time into it. */
typedef struct zt__document {
    zt__writer writer;
    zt_profiler *profiler;
    size_t room; /* columns of a line, for tables */
    zt__advice advice;
    uint32_t region_count;           /* when the report was begun */
    uint32_t index;                  /* of the region that was read last */
    const zt__region_record *record; /* this and what follows is of that region */
    zt_region_info region;
    double operations; /* of a sample; 0: not known */
    zt_stats *stats;   /* of each column */
    zt__histogram histogram;
    uint32_t shown_count; /* regions so far that have samples, also lost or dropped ones */
    int differs;          /* passes of one of them differ */
    int out_of_memory;    /* the report is incomplete */
} zt__document;

/* Reads a region. Returns 0 if it is not to be written: it has no samples, not even lost or dropped ones,
   or there is no memory. */
ZT__PRIVATE int zt__read_region(zt__document *document, uint32_t index) {
    zt_profiler *profiler = document->profiler;
    const zt_allocator *allocator = &profiler->config.allocator;
    const zt__sample_layout *layout = &profiler->layout;
    zt_region_info *region = &document->region;
    const zt__region_record *record;
    zt__statistics copy;
    uint32_t column, i;
    double *values = NULL;
    memset(region, 0, sizeof *region);
    zt__lock(&profiler->mutex);
    record = profiler->regions[index];
    region->lost = record->lost;
    region->dropped = record->dropped;
    document->operations = record->operations;
    zt__unlock(&profiler->mutex);
    document->index = index;
    document->record = record;
    if (!zt__copy_statistics(profiler, record, &copy)) {
        document->out_of_memory = 1;
        return 0;
    }
    if (copy.kept > 0) {
        values = (double *)zt__allocate(allocator, copy.kept, profiler->pass_count * sizeof *values);
        document->out_of_memory |= !values;
    }
    region->name = record->name;
    region->count = zt__collected(profiler, &copy);
    for (column = 0; column < layout->column_count; column++) {
        /* The values of column 0, the GPU time, are those of the times of all passes. */
        uint32_t first = column > 0 ? column : zt__pass_time_column(profiler, 0);
        uint32_t count = column > 0 ? 1 : profiler->pass_count, kept = 0;
        for (i = 0; values && i < count; i++) {
            kept += zt__copy_column(layout, &copy, first + i, values + kept);
        }
        if (column == 0) {
            zt__count_times(values, kept, &document->histogram);
        }
        zt__get_moments(layout, &copy, column, &document->stats[column]);
        zt__add_quantiles(layout, column, values, kept, &document->stats[column]);
    }
    region->time_ns = document->stats[0];
    region->differs = zt__find_differences(profiler, &document->stats[zt__pass_time_column(profiler, 0)]);
    zt__free(allocator, values);
    zt__free_statistics(allocator, &copy);
    if (document->out_of_memory || !(region->count || region->lost || region->dropped)) {
        return 0;
    }
    document->shown_count++;
    document->differs |= region->differs != 0;
    return 1;
}

/* ZT_DIFFERS_ bits as text: "no", or "missing+time". */
typedef struct zt__differences {
    char text[32];
} zt__differences;

ZT__PRIVATE zt__differences zt__name_differences(uint32_t differs) {
    static const char *const words[] = {"missing", "count", "time"};
    zt__differences names;
    size_t used = 0;
    uint32_t i;
    strcpy(names.text, "no");
    for (i = 0; i < ZT__COUNT_OF(words); i++) {
        if (differs >> i & 1) {
            used += (size_t)snprintf(names.text + used, sizeof names.text - used, "%s%s", used ? "+" : "",
                                     words[i]);
        }
    }
    return names;
}

ZT__PRIVATE const char *zt__metric_type_name(int type) {
    static const char *const names[] = {
        "duration", "event", "event_with_range", "throughput", "timestamp", "flag", "ratio", "raw"};
    return type >= 0 && type < (int)ZT__COUNT_OF(names) ? names[type] : "other";
}

/* The figures of statistics, in the order of CSV and JSON. */
static const char *const zt__figure_names[] = {"sum", "mean", "stddev", "min", "max", "median", "p95"};

typedef struct zt__figures {
    double values[ZT__COUNT_OF(zt__figure_names)];
} zt__figures;

ZT__PRIVATE zt__figures zt__list_figures(const zt_stats *stats) {
    zt__figures figures = {
        {stats->sum, stats->mean, stats->stddev, stats->min, stats->max, stats->median, stats->p95}};
    return figures;
}

/* The C library hides it in strict ISO modes. C++ compilers always define _GNU_SOURCE. */
#ifndef __cplusplus
struct tm *gmtime_r(const time_t *seconds, struct tm *utc);
#endif

/* A time as text: "2026-11-22T03:21:00Z"; "" if it is not known. */
typedef struct zt__date {
    char text[32];
} zt__date;

ZT__PRIVATE zt__date zt__format_date(uint64_t seconds) {
    time_t time = (time_t)seconds;
    struct tm utc;
    zt__date date;
    date.text[0] = 0;
    if (seconds && gmtime_r(&time, &utc)) {
        date.text[strftime(date.text, sizeof date.text, "%Y-%m-%dT%H:%M:%SZ", &utc)] = 0;
    }
    return date;
}

ZT__PRIVATE zt__date zt__format_now(void) {
    time_t now = time(NULL);
    return zt__format_date(now > 0 ? (uint64_t)now : 0);
}

/* ---- notes ----------------------------------------------------------------------------------------------- */

/* A note is a sentence or two about what a report does not show, why, and what to do. */
typedef void (*zt__note_fn)(zt__document *document, const char *text);

/* What to do about samples that are lost or dropped by a cause. */
ZT__PRIVATE const char *zt__remedy_of(zt_cause cause) {
    static const char *const remedies[] = {
        "Wait for the work before zt_close, or raise config.wait_timeout_ns.",
        "Execute recorded lists with zt_execute, or collect after each execution.",
        "Wait for the work inside of ZT_PASSES.",
        "The log names the call that failed.",
        "Some drivers return a wrong GPU time of a region around others.",
        "Open a new profiler when the device is back.",
        "Raise config.max_slots, or call zt_collect more often.",
        "Free memory, or lower config.slots_per_step and config.samples.",
        "Use fewer names.",
        "The log names the call that failed.",
        "Call zt_end before zt_release and zt_close.",
        "Open a new profiler when the device is back.",
    };
    return cause < ZT_LOST_NEVER_DELIVERED ? "The device flagged the data as unusable."
                                           : remedies[cause - ZT_LOST_NEVER_DELIVERED];
}

/* Notes how many of something are missing, and what to do. */
ZT__PRIVATE void zt__note_missing(zt__document *document, zt__note_fn note, uint64_t count, const char *what,
                                  const char *remedy) {
    char text[512];
    if (count > 0) {
        snprintf(text, sizeof text, "%llu sample%s %s. %s", (unsigned long long)count,
                 count == 1 ? " is" : "s are", what, remedy);
        note(document, text);
    }
}

/* Notes which samples are not in the report. */
ZT__PRIVATE void zt__note_missing_samples(zt__document *document, zt__note_fn note) {
    const zt_profiler *profiler = document->profiler;
    zt_counts counts = zt_get_counts(profiler);
    uint64_t states[ZT__SLOT_STATE_COUNT], waiting;
    char text[256];
    uint32_t i;
    zt__count_states(profiler, states);
    waiting = states[ZT__SLOT_OPEN] + states[ZT__SLOT_RECORDED];
    zt__note_missing(document, note, states[ZT__SLOT_OPEN], "not ended",
                     "Call zt_end for each region that was begun.");
    zt__note_missing(document, note, states[ZT__SLOT_RECORDED], "recorded and not seen to run yet",
                     "Call zt_collect after the execution.");
    zt__note_missing(document, note, counts.in_flight > waiting ? counts.in_flight - waiting : 0, "in flight",
                     "Call zt_collect when the work is done.");
    for (i = 0; i < ZT_CAUSE_COUNT; i++) {
        snprintf(text, sizeof text, "%s: %s", i < ZT_DROPPED_NO_SLOT ? "lost" : "dropped",
                 zt_cause_name((zt_cause)i));
        zt__note_missing(document, note, zt_get_cause(profiler, (zt_cause)i), text,
                         zt__remedy_of((zt_cause)i));
    }
    if (counts.unobserved_lists > 0) {
        snprintf(text, sizeof text,
                 "%llu %s ran outside of zt_execute: only the last execution before each collection is "
                 "measured. Execute recorded lists with zt_execute.",
                 (unsigned long long)counts.unobserved_lists,
                 counts.unobserved_lists == 1 ? "list" : "lists");
        note(document, text);
    }
}

/* Notes why there are no regions. */
ZT__PRIVATE void zt__note_why_empty(zt__document *document, zt__note_fn note) {
#ifdef ZETOOLS_TRACER
    zt__tracer *tracer = zt__load(&document->profiler->tracer);
    zt_trace_counts counts = zt_trace_get_counts(document->profiler);
    char text[256];
    if (tracer && tracer->measured[ZT__CALL_CommandListAppendLaunchKernel]) {
        if (counts.launches > 0) {
            snprintf(text, sizeof text,
                     "%llu launches: %llu measured, %llu left out by zt_trace_config, %llu on lists that "
                     "cannot be measured.",
                     (unsigned long long)counts.launches, (unsigned long long)counts.measured,
                     (unsigned long long)counts.filtered, (unsigned long long)counts.elsewhere);
            note(document, text);
        } else if (tracer->measured[ZT__CALL_CommandListAppendMemoryCopy]) {
            note(document, "No kernel was launched while tracing.");
        } else {
            note(document, "No kernel was launched while tracing. zt_trace_config.copies measures copies "
                           "and fills.");
        }
        return;
    }
#endif
    note(document, "No region has samples: begin regions with zt_begin, and call zt_collect.");
}

/* Notes launches that a tracer cannot measure. */
ZT__PRIVATE void zt__note_elsewhere(zt__document *document, zt__note_fn note) {
#ifdef ZETOOLS_TRACER
    zt_trace_counts counts = zt_trace_get_counts(document->profiler);
    char text[256];
    if (counts.elsewhere > 0) {
        snprintf(text, sizeof text,
                 "%llu of %llu launches could not be measured: their lists are of other contexts or devices, "
                 "of copy engines, can be cloned or changed, or are captured into graphs.",
                 (unsigned long long)counts.elsewhere, (unsigned long long)counts.launches);
        note(document, text);
    }
#else
    (void)document, (void)note;
#endif
}

/* Passes what all reports note to a function, when the regions have been read. */
ZT__PRIVATE void zt__list_notes(zt__document *document, zt__note_fn note) {
    zt_availability availability = zt_get_availability(document->profiler);
    char text[sizeof document->profiler->availability_text.text + 32];
    if (document->shown_count == 0) {
        zt__note_why_empty(document, note);
    } else {
        zt__note_elsewhere(document, note);
    }
    if (availability != ZT_AVAILABLE && availability != ZT_TIMES_BY_CHOICE) {
        snprintf(text, sizeof text, "There are no metrics: %s", zt_get_availability_text(document->profiler));
        note(document, text);
    }
    if (document->differs) {
        note(document, "Where passes differ, metrics of different passes are not of the same work. Repeat "
                       "the same work in each pass, or raise config.pass_tolerance.");
    }
    zt__note_missing_samples(document, note);
}

/* ==== >>csv: a line for each set of figures =============================================================== */

/* Writes a field in quotes, which are doubled inside. */
ZT__PRIVATE void zt__write_csv_field(zt__writer *writer, const char *text) {
    zt__character character;
    zt__write_text(writer, "\"");
    while (zt__next_character(&text, &character)) {
        if (character.code == '"') {
            zt__write_text(writer, "\"");
        }
        zt__write_bytes(writer, character.bytes, character.length);
    }
    zt__write_text(writer, "\"");
}

/* What is no finite number is empty. */
ZT__PRIVATE void zt__write_csv_number(zt__writer *writer, double number) {
    if (zt__is_finite(number)) {
        zt__write_number(writer, number);
    }
}

/* A line of CSV. Figures that do not apply are empty. */
typedef struct zt__csv_line {
    const char *region;
    const zt_metric *metric;
    const zt_stats *stats;
    const char *tile, *pass;
    uint32_t differs;
    const char *text; /* what is no figure; NULL: empty */
} zt__csv_line;

ZT__PRIVATE void zt__write_csv_line(zt__writer *writer, const zt__csv_line *line) {
    const zt_metric *metric = line->metric;
    const char *const texts[] = {line->region, metric->name, metric->group, metric->component, metric->units};
    zt__figures figures = zt__list_figures(line->stats);
    uint32_t i;
    for (i = 0; i < ZT__COUNT_OF(texts); i++) {
        zt__write_csv_field(writer, texts[i]);
        zt__write_text(writer, ",");
    }
    zt__print(writer, "%s,%s,%llu", zt__metric_type_name(metric->type),
              zt__aggregation_name(metric->aggregation), (unsigned long long)line->stats->count);
    for (i = 0; i < ZT__COUNT_OF(figures.values); i++) {
        zt__write_text(writer, ",");
        zt__write_csv_number(writer, figures.values[i]);
    }
    zt__print(writer, ",%s,%s,%s,", line->tile, line->pass, zt__name_differences(line->differs).text);
    if (line->text) {
        zt__write_csv_field(writer, line->text);
    }
    zt__write_text(writer, "\n");
}

/* Writes a count in the form of a metric. `region` is "" for the whole profiler. */
ZT__PRIVATE void zt__write_csv_count(zt__writer *writer, const char *region, const char *name,
                                     const char *units, uint64_t count) {
    zt_metric metric = {name, "", "profiler", units, "", ZET_METRIC_TYPE_EVENT, ZT_AGGREGATE_SUM, 0};
    zt_stats stats;
    zt__csv_line line = {region, &metric, &stats, "all", "all", 0, NULL};
    zt__clear_stats(&stats);
    stats.count = count;
    zt__write_csv_line(writer, &line);
}

/* Writes what is no figure. `region` is "" if it is of the whole profiler. */
ZT__PRIVATE void zt__write_csv_text(zt__writer *writer, const char *region, const char *name,
                                    const char *units, const char *text) {
    zt_metric metric = {name, "", "profiler", units, "", -1, ZT_AGGREGATE_NONE, 0};
    zt_stats stats;
    zt__csv_line line = {region, &metric, &stats, "all", "all", 0, text};
    zt__clear_stats(&stats);
    zt__write_csv_line(writer, &line);
}

ZT__PRIVATE void zt__write_csv_note(zt__document *document, const char *text) {
    zt__write_csv_text(&document->writer, "", "note", "", text);
}

ZT__PRIVATE void zt__write_csv_facts(zt__document *document) {
    const zt_profiler *profiler = document->profiler;
    const zt__facts *facts = &profiler->facts;
    zt__writer *writer = &document->writer;
    char number[32];
    zt__write_csv_text(writer, "", "zetools", "", ZETOOLS_VERSION);
    zt__write_csv_text(writer, "", "program", "", facts->program);
    zt__write_csv_text(writer, "", "date", "", zt__format_now().text);
    zt__write_csv_text(writer, "", "opened", "", zt__format_date(facts->opened_s).text);
    zt__write_csv_text(writer, "", "device", "", profiler->device_name);
    zt__write_csv_text(writer, "", "driver version", "", facts->driver_version);
    zt__write_csv_text(writer, "", "UUID", "", facts->uuid);
    zt__write_csv_text(writer, "", "PCI address", "", facts->pci_address);
    snprintf(number, sizeof number, "%u", (unsigned)facts->core_clock_mhz);
    zt__write_csv_text(writer, "", "core clock", "MHz", facts->core_clock_mhz ? number : "");
    snprintf(number, sizeof number, "%llu", (unsigned long long)facts->timer_hz);
    zt__write_csv_text(writer, "", "timer", "Hz", facts->timer_hz ? number : "");
    zt__write_csv_text(writer, "", "availability", "", zt_get_availability_text(profiler));
}

/* Writes the metrics of attached streams. A row is what a sample is for other metrics, and the peak is the
   maximum. */
ZT__PRIVATE void zt__write_csv_streamed(zt__document *document) {
    uint32_t metric, count = zt_get_streamed_count(document->profiler);
    for (metric = 0; metric < count; metric++) {
        zt_stats stats;
        zt__csv_line line = {document->region.name, NULL, &stats, "all", "stream", 0, NULL};
        zt_streamed streamed;
        line.metric = zt_get_streamed_metric(document->profiler, metric);
        zt_get_streamed(document->profiler, document->index, metric, &streamed);
        zt__clear_stats(&stats);
        stats.count = streamed.rows;
        stats.mean = streamed.mean;
        stats.max = streamed.peak;
        if (line.metric && streamed.rows) {
            zt__write_csv_line(&document->writer, &line);
        }
    }
}

ZT__PRIVATE void zt__write_csv_region(zt__document *document) {
    static const zt_metric gpu_time = {"GPU time",       "", "", "ns", "", ZET_METRIC_TYPE_DURATION,
                                       ZT_AGGREGATE_SUM, 0};
    const zt_profiler *profiler = document->profiler;
    zt__writer *writer = &document->writer;
    const char *name = document->region.name;
    zt__csv_line line = {name, &gpu_time, &document->stats[0], "all", "all", document->region.differs, NULL};
    uint32_t metric, part;
    char tile[16] = "all", pass[16] = "all";
    zt_limit_info limit;
    zt__write_csv_line(writer, &line);
    line.tile = tile;
    line.pass = pass;
    for (part = 0; profiler->pass_count > 1 && part < profiler->pass_count; part++) {
        snprintf(pass, sizeof pass, "%u", (unsigned)part);
        line.stats = &document->stats[zt__pass_time_column(profiler, part)];
        zt__write_csv_line(writer, &line);
    }
    for (part = 0; part <= profiler->tile_count; part++) { /* all tiles together, and then each */
        uint32_t first = part ? zt__tile_column(profiler, part - 1, 0) : 1;
        if (part) {
            snprintf(tile, sizeof tile, "%u", (unsigned)part - 1);
        }
        for (metric = 0; metric < profiler->metric_count; metric++) {
            line.metric = &profiler->metrics[metric];
            line.stats = &document->stats[first + metric];
            snprintf(pass, sizeof pass, "%u", (unsigned)line.metric->pass);
            zt__write_csv_line(writer, &line);
        }
    }
    zt__write_csv_streamed(document);
    zt__write_csv_count(writer, name, "lost", "samples", document->region.lost);
    zt__write_csv_count(writer, name, "dropped", "samples", document->region.dropped);
    zt__find_limit(document->profiler, &document->advice, document->record, &limit);
    zt__write_csv_text(writer, name, "limit", "", zt_limit_name(limit.limit));
    zt__write_csv_text(writer, name, "limit: reason", "", limit.text);
}

ZT__PRIVATE void zt__write_csv(zt__document *document) {
    const zt_profiler *profiler = document->profiler;
    zt__writer *writer = &document->writer;
    zt_counts counts = zt_get_counts(profiler);
    uint32_t i;
    zt__write_text(writer, "region,metric,group,component,units,type,aggregation,count,"
                           "sum,mean,stddev,min,max,median,p95,tile,pass,differs,text\n");
    /* Lines without a region are of the whole profiler. */
    zt__write_csv_facts(document);
    zt__prepare_advice(profiler, &document->advice);
    for (i = 0; i < document->region_count; i++) {
        if (zt__read_region(document, i)) {
            zt__write_csv_region(document);
        }
    }
#ifdef ZETOOLS_TRACER
    for (i = 0; i < zt__calls_to_report(profiler); i++) { /* two lines each */
        zt_metric host_time = {"host time",      "", "host", "ns", "", ZET_METRIC_TYPE_DURATION,
                               ZT_AGGREGATE_SUM, 0};
        zt_metric errors = {"errors", "", "host", "calls", "", ZET_METRIC_TYPE_EVENT, ZT_AGGREGATE_SUM, 0};
        zt__csv_line line = {NULL, &host_time, NULL, "all", "all", 0, NULL};
        zt_call_info call;
        zt_stats stats;
        zt_get_call(profiler, i, &call);
        line.region = call.name;
        line.stats = &call.time_ns;
        zt__write_csv_line(writer, &line);
        zt__clear_stats(&stats);
        stats.count = call.count;
        stats.sum = (double)call.errors;
        line.metric = &errors;
        line.stats = &stats;
        zt__write_csv_line(writer, &line);
    }
#endif
    zt__write_csv_count(writer, "", "begun", "samples", counts.begun);
    zt__write_csv_count(writer, "", "collected", "samples", counts.collected);
    zt__write_csv_count(writer, "", "lost", "samples", counts.lost);
    zt__write_csv_count(writer, "", "dropped", "samples", counts.dropped);
    zt__write_csv_count(writer, "", "in flight", "samples", counts.in_flight);
    zt__write_csv_count(writer, "", "unobserved lists", "lists", counts.unobserved_lists);
    for (i = 0; i < ZT_CAUSE_COUNT; i++) {
        uint64_t count = zt_get_cause(profiler, (zt_cause)i);
        char name[64];
        if (count) {
            snprintf(name, sizeof name, "%s: %s", i < ZT_DROPPED_NO_SLOT ? "lost" : "dropped",
                     zt_cause_name((zt_cause)i));
            zt__write_csv_count(writer, "", name, "samples", count);
        }
    }
    zt__list_notes(document, zt__write_csv_note);
}

/* ---- a row for each sample ------------------------------------------------------------------------------- */

/* Writes the names of the columns as unitrace does: "GpuTime[ns]", "XVE_STALL[%]". */
ZT__PRIVATE void zt__write_instance_headings(zt__document *document) {
    const zt_profiler *profiler = document->profiler;
    zt__writer *writer = &document->writer;
    uint32_t i, j;
    zt__write_text(writer, "=== Device #0 Metrics ===\n\nKernel,GlobalInstanceId,SubDeviceId");
    if (profiler->passes[0].time_metric == UINT32_MAX) {
        zt__write_text(writer, ",GpuTime[ns]");
    }
    for (i = 0; i < profiler->metric_count; i++) {
        const zt_metric *metric = &profiler->metrics[i];
        const char *units = strcmp(metric->units, "percent") == 0 ? "%" : metric->units;
        zt__write_text(writer, ",");
        for (j = 0; j < i; j++) {
            if (strcmp(profiler->metrics[j].name, metric->name) == 0) { /* of another group */
                zt__write_text(writer, metric->group);
                zt__write_text(writer, ".");
                break;
            }
        }
        zt__write_text(writer, metric->name);
        if (*units) {
            zt__write_text(writer, "[");
            zt__write_text(writer, units);
            zt__write_text(writer, "]");
        }
    }
    zt__write_text(writer, "\n");
}

/* Writes the kept samples in the form of `unitrace -q`, for scripts that read that: one line before a blank
   one, the names, and a row for each sample and tile. What was not measured is empty. */
ZT__PRIVATE void zt__write_instances(zt__document *document) {
    zt_profiler *profiler = document->profiler;
    const zt_allocator *allocator = &profiler->config.allocator;
    zt__writer *writer = &document->writer;
    uint32_t metric, tile = 0;
    uint64_t i, end;
    double *values = (double *)zt__allocate(allocator, profiler->layout.column_count, sizeof *values);
    document->out_of_memory |= !values;
    zt__write_instance_headings(document);
    zt__get_kept_samples(profiler, &i, &end);
    while (values && i < end) {
        const zt__region_record *record;
        zt__timeline_sample sample;
        if (!zt__copy_kept_sample(profiler, i, &sample, values)) {
            i++; /* replaced by a newer one */
            continue;
        }
        zt__lock(&profiler->mutex);
        record = profiler->regions[sample.region];
        zt__unlock(&profiler->mutex);
        zt__write_csv_field(writer, record->name);
        zt__print(writer, ",%llu,%u", (unsigned long long)i + 1, (unsigned)tile);
        if (profiler->passes[0].time_metric == UINT32_MAX) {
            zt__write_text(writer, ",");
            zt__write_csv_number(writer, values[0]);
        }
        for (metric = 0; metric < profiler->metric_count; metric++) {
            uint32_t column = profiler->tile_count ? zt__tile_column(profiler, tile, metric) : 1 + metric;
            zt__write_text(writer, ",");
            zt__write_csv_number(writer, values[column]);
        }
        zt__write_text(writer, "\n");
        tile = tile + 1 < profiler->tile_count ? tile + 1 : 0;
        i += tile == 0;
    }
    zt__free(allocator, values);
}

/* ==== >>json: the object that run.json and run.html hold ================================================== */

/* What is the same for all regions. */
typedef struct zt__json {
    uint8_t *is_repeated; /* of each metric, and then of each streamed one: an earlier one has its name */
    uint32_t streamed_count;
    double *figures;      /* of each region, the means of all metrics */
    zt__mean_table means; /* the same, for zt__rank_columns */
    zt__ranked_column *columns;
    uint32_t column_count;
} zt__json;

/* Writes `"name":"text"`, after a comma unless it is the first member. */
ZT__PRIVATE void zt__write_json_text(zt__writer *writer, const char *name, const char *text) {
    zt__write_comma(writer);
    zt__print(writer, "\"%s\":", name);
    zt__write_json_string(writer, text);
}

ZT__PRIVATE void zt__write_json_count(zt__writer *writer, const char *name, uint64_t count) {
    zt__write_comma(writer);
    zt__print(writer, "\"%s\":%llu", name, (unsigned long long)count);
}

/* Writes `null` in place of what is no finite number. */
ZT__PRIVATE void zt__write_json_number(zt__writer *writer, double number) {
    if (zt__is_finite(number)) {
        zt__write_number(writer, number);
    } else {
        zt__write_text(writer, "null");
    }
}

ZT__PRIVATE void zt__write_json_figure(zt__writer *writer, const char *name, double figure) {
    zt__write_comma(writer);
    zt__print(writer, "\"%s\":", name);
    zt__write_json_number(writer, figure);
}

ZT__PRIVATE void zt__write_json_stats(zt__writer *writer, const zt_stats *stats) {
    zt__figures figures = zt__list_figures(stats);
    uint32_t i;
    zt__write_text(writer, "{");
    zt__write_json_count(writer, "count", stats->count);
    for (i = 0; i < ZT__COUNT_OF(figures.values); i++) {
        zt__write_json_figure(writer, zt__figure_names[i], figures.values[i]);
    }
    zt__write_text(writer, "}");
}

/* Writes the figures of a metric. In a page they have no names, which would make up half of it. */
ZT__PRIVATE void zt__write_json_metric(zt__writer *writer, const zt_stats *stats) {
    zt__figures figures = zt__list_figures(stats);
    uint32_t i;
    if (!writer->is_in_html) {
        zt__write_json_stats(writer, stats);
        return;
    }
    zt__print(writer, "[%llu", (unsigned long long)stats->count);
    for (i = 0; i < ZT__COUNT_OF(figures.values); i++) {
        zt__write_text(writer, ",");
        zt__write_json_number(writer, figures.values[i]);
    }
    zt__write_text(writer, "]");
}

/* Writes the key of a metric: its name, after the group if an earlier metric has the same name. */
ZT__PRIVATE void zt__write_json_key_text(zt__writer *writer, const zt_metric *metric, int is_repeated) {
    zt__write_text(writer, "\"");
    if (is_repeated) {
        zt__write_json_characters(writer, metric->group);
        zt__write_text(writer, ".");
    }
    zt__write_json_characters(writer, metric->name);
    zt__write_text(writer, "\"");
}

ZT__PRIVATE void zt__write_json_key(zt__writer *writer, const zt_metric *metric, int is_repeated) {
    zt__write_comma(writer);
    zt__write_text(writer, "\n");
    zt__write_json_key_text(writer, metric, is_repeated);
    zt__write_text(writer, ":");
}

/* Writes the shares that zt__rank_columns derives from two metrics. Only their means are known. */
ZT__PRIVATE void zt__write_json_derived(zt__document *document, const zt__json *json) {
    zt__writer *writer = &document->writer;
    uint32_t i;
    for (i = 0; i < json->column_count; i++) {
        zt_stats stats;
        if (json->columns[i].metric != UINT32_MAX) {
            continue;
        }
        zt__clear_stats(&stats);
        stats.mean = zt__ranked_figure(&document->advice, &json->means, document->index, &json->columns[i]);
        stats.count = zt__is_nan(stats.mean) ? 0 : document->region.count;
        zt__write_comma(writer);
        zt__print(writer, "\n\"%s\":", zt__roles[json->columns[i].role].name);
        zt__write_json_metric(writer, &stats);
    }
}

/* Writes a member for each metric, from consecutive columns. */
ZT__PRIVATE void zt__write_json_metrics(zt__document *document, const zt__json *json, uint32_t first_column) {
    const zt_profiler *profiler = document->profiler;
    zt__writer *writer = &document->writer;
    uint32_t i;
    zt__write_text(writer, "{");
    for (i = 0; i < profiler->metric_count; i++) {
        zt__write_json_key(writer, &profiler->metrics[i], json->is_repeated[i]);
        zt__write_json_metric(writer, &document->stats[first_column + i]);
    }
    if (first_column == 1) {
        zt__write_json_derived(document, json);
    }
    zt__write_text(writer, "}");
}

/* Writes how many of the kept samples are in which bucket of GPU time. */
ZT__PRIVATE void zt__write_json_histogram(zt__document *document) {
    const zt__histogram *histogram = &document->histogram;
    zt__writer *writer = &document->writer;
    uint32_t i;
    zt__write_text(writer, ",\n\"histogram\":{");
    zt__write_json_figure(writer, "first_ns", histogram->first);
    zt__write_json_figure(writer, "ratio", histogram->ratio);
    zt__write_text(writer, ",\"counts\":[");
    for (i = 0; i < histogram->used; i++) {
        zt__print(writer, "%s%u", i ? "," : "", (unsigned)histogram->counts[i]);
    }
    zt__write_text(writer, "]}");
}

/* Writes what limits the region, and what it does a second. */
ZT__PRIVATE void zt__write_json_advice(zt__document *document) {
    zt__writer *writer = &document->writer;
    const zt_stats *time = &document->region.time_ns;
    double figures[ZT__ROLE_COUNT];
    zt_limit_info limit;
    memset(&limit, 0, sizeof limit);
    zt__read_figures(document->profiler, &document->advice, document->record, figures);
    zt__apply_rules(&document->advice, figures, &limit);
    zt__write_text(writer, ",\n\"limit\":{");
    zt__write_json_text(writer, "what", zt_limit_name(limit.limit));
    zt__write_json_text(writer, "why", limit.text);
    zt__write_json_text(writer, "add", limit.missing);
    zt__write_text(writer, "}");
    if (!zt__is_nan(figures[ZT__ROLE_MEMORY_TRAFFIC])) {
        zt__write_json_figure(writer, "bytes", figures[ZT__ROLE_MEMORY_TRAFFIC] * 1e9);
    }
    if (!zt__is_nan(figures[ZT__ROLE_ALU0_INSTRUCTIONS])) {
        zt__write_json_figure(writer, "instructions",
                              (figures[ZT__ROLE_ALU0_INSTRUCTIONS] +
                               zt__first_measured(figures[ZT__ROLE_ALU1_INSTRUCTIONS], 0) +
                               zt__first_measured(figures[ZT__ROLE_XMX_INSTRUCTIONS], 0)) *
                                  1e9);
    }
    if (document->operations > 0 && zt__is_positive(time->sum)) {
        zt__write_json_figure(writer, "operations",
                              document->operations * (double)time->count / time->sum * 1e9);
    }
}

ZT__PRIVATE void zt__write_json_streamed(zt__document *document, const zt__json *json) {
    zt__writer *writer = &document->writer;
    uint32_t i;
    zt__write_text(writer, ",\n\"streamed\":{");
    for (i = 0; i < json->streamed_count; i++) {
        const zt_metric *metric = zt_get_streamed_metric(document->profiler, i);
        zt_streamed streamed;
        zt_get_streamed(document->profiler, document->index, i, &streamed);
        if (metric && streamed.rows) {
            zt__write_json_key(writer, metric, json->is_repeated[document->profiler->metric_count + i]);
            zt__write_text(writer, "{");
            zt__write_json_count(writer, "rows", streamed.rows);
            zt__write_json_figure(writer, "mean", streamed.mean);
            zt__write_json_figure(writer, "peak", streamed.peak);
            zt__write_text(writer, "}");
        }
    }
    zt__write_text(writer, "}");
}

ZT__PRIVATE void zt__write_json_region(zt__document *document, const zt__json *json) {
    const zt_profiler *profiler = document->profiler;
    zt__writer *writer = &document->writer;
    uint32_t tile, pass;
    zt__write_comma(writer);
    zt__write_text(writer, "\n{");
    zt__write_json_text(writer, "name", document->region.name);
    zt__write_json_count(writer, "count", document->region.count);
    zt__write_json_count(writer, "lost", document->region.lost);
    zt__write_json_count(writer, "dropped", document->region.dropped);
    zt__write_text(writer, ",\n\"time_ns\":");
    zt__write_json_stats(writer, &document->stats[0]);
    if (profiler->pass_count > 1) {
        zt__write_json_text(writer, "differs", zt__name_differences(document->region.differs).text);
        zt__write_text(writer, ",\n\"pass_time_ns\":[");
        for (pass = 0; pass < profiler->pass_count; pass++) {
            zt__write_comma(writer);
            zt__write_json_stats(writer, &document->stats[zt__pass_time_column(profiler, pass)]);
        }
        zt__write_text(writer, "]");
    }
    zt__write_json_advice(document);
    if (document->histogram.used) {
        zt__write_json_histogram(document);
    }
    zt__write_text(writer, ",\n\"metrics\":");
    zt__write_json_metrics(document, json, 1);
    if (json->streamed_count > 0) {
        zt__write_json_streamed(document, json);
    }
    if (profiler->tile_count > 0) {
        zt__write_text(writer, ",\n\"tiles\":[");
        for (tile = 0; tile < profiler->tile_count; tile++) {
            zt__write_comma(writer);
            zt__write_json_metrics(document, json, zt__tile_column(profiler, tile, 0));
        }
        zt__write_text(writer, "]");
    }
    zt__write_text(writer, "}");
}

/* Writes the members that describe a metric. */
ZT__PRIVATE void zt__write_json_description(zt__writer *writer, const zt_metric *metric) {
    zt__write_json_text(writer, "name", metric->name);
    zt__write_json_text(writer, "group", metric->group);
    zt__write_json_text(writer, "component", metric->component);
    zt__write_json_text(writer, "units", metric->units);
    zt__write_json_text(writer, "type", zt__metric_type_name(metric->type));
    zt__write_json_text(writer, "aggregation", zt__aggregation_name(metric->aggregation));
    zt__write_json_count(writer, "pass", metric->pass);
    zt__write_json_text(writer, "description", metric->description);
}

/* Writes `"name":{...}` with a description of each metric by its name, and of the derived ones. */
ZT__PRIVATE void zt__write_json_descriptions(zt__document *document, const zt__json *json) {
    const zt_profiler *profiler = document->profiler;
    zt__writer *writer = &document->writer;
    uint32_t i, j;
    zt__write_text(writer, ",\n\"metrics\":{");
    for (i = 0; i < profiler->metric_count; i++) {
        zt__write_json_key(writer, &profiler->metrics[i], json->is_repeated[i]);
        zt__write_text(writer, "{");
        for (j = 0; j < json->column_count; j++) {
            if (json->columns[j].metric == i && json->columns[j].role != ZT__NO_ROLE) {
                zt__write_json_text(writer, "label", zt__roles[json->columns[j].role].name);
            }
        }
        zt__write_json_description(writer, &profiler->metrics[i]);
        zt__write_text(writer, "}");
    }
    for (i = 0; i < json->column_count; i++) {
        zt_metric derived = {"",
                             "",
                             "",
                             "percent",
                             "Hits as a share of all accesses, calculated from other metrics.",
                             ZET_METRIC_TYPE_RATIO,
                             ZT_AGGREGATE_MEAN,
                             0};
        if (json->columns[i].metric == UINT32_MAX) {
            derived.name = zt__roles[json->columns[i].role].name;
            zt__write_json_key(writer, &derived, 0);
            zt__write_text(writer, "{");
            zt__write_json_description(writer, &derived);
            zt__write_text(writer, "}");
        }
    }
    zt__write_text(writer, "}");
    if (json->streamed_count > 0) {
        zt__write_text(writer, ",\n\"streamed\":{");
        for (i = 0; i < json->streamed_count; i++) {
            const zt_metric *metric = zt_get_streamed_metric(profiler, i);
            if (metric) {
                zt__write_json_key(writer, metric, json->is_repeated[profiler->metric_count + i]);
                zt__write_text(writer, "{");
                zt__write_json_description(writer, metric);
                zt__write_text(writer, "}");
            }
        }
        zt__write_text(writer, "}");
    }
}

/* Chooses the columns of the page: those that the configuration names, else the first of the ranking. */
ZT__PRIVATE void zt__choose_json_columns(zt__document *document, zt__json *json) {
    enum { MOST = 8 };
    const zt_profiler *profiler = document->profiler;
    const char *list = profiler->columns, *text;
    uint32_t metric;
    size_t length;
    if (!list) {
        json->column_count = zt__rank_columns(profiler->metrics, profiler->metric_count, &document->advice,
                                              &json->means, json->columns);
        if (json->column_count > MOST) {
            json->column_count = MOST;
        }
        return;
    }
    while (zt__next_name(&list, &text, &length) && json->column_count < profiler->metric_count) {
        for (metric = 0; metric < profiler->metric_count; metric++) {
            const char *name = profiler->metrics[metric].name;
            if (strlen(name) == length && memcmp(name, text, length) == 0) {
                json->columns[json->column_count].metric = metric;
                json->columns[json->column_count++].role = ZT__NO_ROLE;
                break;
            }
        }
    }
}

/* Reads what the document needs of all regions before it writes the first. Returns 0 without memory. */
ZT__PRIVATE int zt__prepare_json(zt__document *document, zt__json *json) {
    zt_profiler *profiler = document->profiler;
    const zt_allocator *allocator = &profiler->config.allocator;
    uint32_t i, j, metrics = profiler->metric_count;
    json->streamed_count = zt_get_streamed_count(profiler);
    json->is_repeated = (uint8_t *)zt__allocate(allocator, (size_t)metrics + json->streamed_count + 1, 1);
    json->figures = (double *)zt__allocate(allocator, (size_t)document->region_count + 1,
                                           (metrics + 1) * sizeof *json->figures);
    json->columns = (zt__ranked_column *)zt__allocate(allocator, (size_t)metrics + ZT__DERIVED_COLUMNS,
                                                      sizeof *json->columns);
    if (!json->is_repeated || !json->figures || !json->columns) {
        return 0;
    }
    for (i = 0; i < metrics + json->streamed_count; i++) {
        const zt_metric *metric =
            i < metrics ? &profiler->metrics[i] : zt_get_streamed_metric(profiler, i - metrics);
        for (j = i < metrics ? 0 : metrics; j < i && metric && !json->is_repeated[i]; j++) {
            const zt_metric *other =
                j < metrics ? &profiler->metrics[j] : zt_get_streamed_metric(profiler, j - metrics);
            json->is_repeated[i] = other && strcmp(metric->name, other->name) == 0;
        }
    }
    zt__prepare_advice(profiler, &document->advice);
    for (i = 0; i < document->region_count; i++) {
        zt__lock(&profiler->mutex);
        for (j = 0; j < metrics; j++) {
            zt_stats stats;
            zt__get_moments(&profiler->layout, &profiler->regions[i]->statistics, 1 + j, &stats);
            json->figures[(size_t)i * metrics + j] = stats.mean;
        }
        zt__unlock(&profiler->mutex);
    }
    json->means.means = json->figures;
    json->means.stride = metrics;
    json->means.region_count = document->region_count;
    zt__choose_json_columns(document, json);
    return 1;
}

/* Writes what a reader needs who sees the file a year later. What is not known is "" or null. */
ZT__PRIVATE void zt__write_json_facts(zt__document *document) {
    const zt_profiler *profiler = document->profiler;
    const zt__facts *facts = &profiler->facts;
    zt__writer *writer = &document->writer;
    zt__write_text(writer, "{\"zetools\":\"" ZETOOLS_VERSION "\"");
    zt__write_json_text(writer, "program", facts->program);
    zt__write_json_text(writer, "date", zt__format_now().text);
    zt__write_json_text(writer, "opened", zt__format_date(facts->opened_s).text);
    zt__write_text(writer, ",\n\"device\":{");
    zt__write_json_text(writer, "name", profiler->device_name);
    zt__write_json_text(writer, "driver_version", facts->driver_version);
    zt__write_json_text(writer, "uuid", facts->uuid);
    zt__write_json_text(writer, "pci", facts->pci_address);
    zt__write_json_figure(writer, "core_clock_mhz",
                          facts->core_clock_mhz ? facts->core_clock_mhz : zt__nan());
    zt__write_json_figure(writer, "timer_hz", facts->timer_hz ? (double)facts->timer_hz : zt__nan());
    zt__write_text(writer, "}");
    zt__write_json_text(writer, "availability", zt_get_availability_text(profiler));
}

/* Writes what the device can do at the most, where that is known. */
ZT__PRIVATE void zt__write_json_peaks(zt__document *document) {
    const zt__peaks *peaks = &document->advice.peaks;
    zt__writer *writer = &document->writer;
    if (peaks->bytes > 0 || peaks->operations > 0) {
        zt__write_text(writer, ",\n\"peaks\":{");
        zt__write_json_figure(writer, "bytes_per_second", peaks->bytes > 0 ? peaks->bytes : zt__nan());
        zt__write_json_figure(writer, "operations_per_second",
                              peaks->operations > 0 ? peaks->operations : zt__nan());
        zt__write_json_text(writer, "source", peaks->source);
        zt__write_text(writer, "}");
    }
}

/* Writes how many samples there are, and why others are missing. */
ZT__PRIVATE void zt__write_json_counts(zt__document *document) {
    const zt_profiler *profiler = document->profiler;
    zt__writer *writer = &document->writer;
    zt_counts counts = zt_get_counts(profiler);
    uint32_t i;
    zt__write_text(writer, ",\n\"counts\":{");
    zt__write_json_count(writer, "begun", counts.begun);
    zt__write_json_count(writer, "collected", counts.collected);
    zt__write_json_count(writer, "lost", counts.lost);
    zt__write_json_count(writer, "dropped", counts.dropped);
    zt__write_json_count(writer, "in_flight", counts.in_flight);
    zt__write_json_count(writer, "unobserved_lists", counts.unobserved_lists);
    zt__write_text(writer, "},\n\"causes\":{");
    for (i = 0; i < ZT_CAUSE_COUNT; i++) {
        zt__write_json_count(writer, zt_cause_name((zt_cause)i), zt_get_cause(profiler, (zt_cause)i));
    }
    zt__write_text(writer, "}");
}

ZT__PRIVATE void zt__write_json_note(zt__document *document, const char *text) {
    zt__write_comma(&document->writer);
    zt__write_json_string(&document->writer, text);
}

/* Writes the keys of the metrics that tables show. */
ZT__PRIVATE void zt__write_json_columns(zt__document *document, const zt__json *json) {
    const zt_profiler *profiler = document->profiler;
    zt__writer *writer = &document->writer;
    uint32_t i;
    zt__write_text(writer, ",\n\"columns\":[");
    for (i = 0; i < json->column_count; i++) {
        const zt__ranked_column *column = &json->columns[i];
        zt__write_comma(writer);
        if (column->metric == UINT32_MAX) {
            zt__write_json_string(writer, zt__roles[column->role].name);
        } else {
            zt__write_json_key_text(writer, &profiler->metrics[column->metric],
                                    json->is_repeated[column->metric]);
        }
    }
    zt__write_text(writer, "]");
}

#ifdef ZETOOLS_TRACER
ZT__PRIVATE void zt__write_json_calls(zt__document *document) {
    zt__writer *writer = &document->writer;
    uint32_t i;
    zt__write_text(writer, ",\n\"calls\":[");
    for (i = 0; i < zt__calls_to_report(document->profiler); i++) {
        zt_call_info call;
        zt_get_call(document->profiler, i, &call);
        zt__write_comma(writer);
        zt__write_text(writer, "\n{");
        zt__write_json_text(writer, "name", call.name);
        zt__write_json_count(writer, "count", call.count);
        zt__write_json_count(writer, "errors", call.errors);
        zt__write_text(writer, ",\"time_ns\":");
        zt__write_json_stats(writer, &call.time_ns);
        zt__write_text(writer, "}");
    }
    zt__write_text(writer, "]");
}
#endif

/* Writes begin and end of the newest samples of the timeline, in nanoseconds from the begin of the first. A
   page does not become useful by more of them. */
ZT__PRIVATE void zt__write_json_timeline(zt__document *document) {
    enum { MOST_SPANS = 100000 };
    zt_profiler *profiler = document->profiler;
    const zt_allocator *allocator = &profiler->config.allocator;
    zt__writer *writer = &document->writer;
    uint64_t first, end, i, begin_ns = UINT64_MAX, end_ns = 0;
    uint32_t count = 0, written;
    zt__timeline_sample *samples;
    double *values;
    zt__get_kept_samples(profiler, &first, &end);
    if (first == end) {
        return;
    }
    first = end - first > MOST_SPANS ? end - MOST_SPANS : first;
    samples = (zt__timeline_sample *)zt__allocate(allocator, (size_t)(end - first), sizeof *samples);
    values = (double *)zt__allocate(allocator, profiler->layout.column_count, sizeof *values);
    document->out_of_memory |= !samples || !values;
    for (i = first; i < end && samples && values; i++) {
        zt__timeline_sample *sample = &samples[count];
        if (zt__copy_kept_sample(profiler, i, sample, values) && sample->region < document->region_count) {
            begin_ns = sample->begin_ns < begin_ns ? sample->begin_ns : begin_ns;
            end_ns = sample->end_ns > end_ns ? sample->end_ns : end_ns;
            count++;
        }
    }
    zt__write_text(writer, ",\n\"timeline\":{");
    zt__write_json_count(writer, "begin_ns", 0);
    zt__write_json_count(writer, "end_ns", count ? end_ns - begin_ns : 0);
    zt__write_text(writer, ",\"spans\":[");
    for (written = 0; written < count; written++) {
        const zt__timeline_sample *sample = &samples[written];
        zt__print(writer, "%s[%u,%llu,%llu]", written ? ",\n" : "", (unsigned)sample->region,
                  (unsigned long long)(sample->begin_ns - begin_ns),
                  (unsigned long long)(sample->end_ns - begin_ns));
    }
    zt__write_text(writer, "]}");
    zt__free(allocator, values);
    zt__free(allocator, samples);
}

/* Writes the document. In a page, it also has the timeline, and the figures of metrics are arrays. */
ZT__PRIVATE void zt__write_json(zt__document *document) {
    const zt_allocator *allocator = &document->profiler->config.allocator;
    zt__writer *writer = &document->writer;
    zt__json json;
    uint32_t i;
    memset(&json, 0, sizeof json);
    if (!zt__prepare_json(document, &json)) {
        document->out_of_memory = 1;
    }
    zt__write_json_facts(document);
    zt__write_json_counts(document);
    if (!document->out_of_memory) {
        zt__write_json_peaks(document);
        zt__write_json_columns(document, &json);
        zt__write_json_descriptions(document, &json);
    }
    zt__write_text(writer, ",\n\"regions\":[");
    for (i = 0; i < document->region_count && !document->out_of_memory; i++) {
        /* Those without samples are written, too, so that indices are those of zt_get_region. */
        zt__read_region(document, i);
        if (!document->out_of_memory) {
            zt__write_json_region(document, &json);
        }
    }
    zt__write_text(writer, "],\n\"notes\":[");
    zt__list_notes(document, zt__write_json_note);
    zt__write_text(writer, "]");
    if (writer->is_in_html) {
        zt__write_json_timeline(document);
    }
#ifdef ZETOOLS_TRACER
    zt__write_json_calls(document);
#endif
    zt__write_text(writer, "}\n");
    zt__free(allocator, json.columns);
    zt__free(allocator, json.figures);
    zt__free(allocator, json.is_repeated);
}

/* ==== >>region_table: what zt_report writes for people ==================================================== */

/* The figures of a row: these, the metrics, and the derived columns of >>advice. */
enum {
    ZT__ROW_COUNT,
    ZT__ROW_TOTAL,
    ZT__ROW_MEAN,
    ZT__ROW_MEDIAN,
    ZT__ROW_P95,
    ZT__ROW_MIN,
    ZT__ROW_MAX,
    ZT__ROW_DIFFERS,
    ZT__TIME_FIGURES
};

/* Columns of times. Those with a rank can be chosen by config.columns; the others are always shown. */
static const struct {
    const char *name;
    uint32_t figure;
    int is_chosen; /* without config.columns, too */
    int rank;
} zt__time_columns[] = {{"total", ZT__ROW_TOTAL, 1, 0},   {"mean", ZT__ROW_MEAN, 1, 0},
                        {"median", ZT__ROW_MEDIAN, 1, 2}, {"p95", ZT__ROW_P95, 1, 2},
                        {"min", ZT__ROW_MIN, 0, 2},       {"max", ZT__ROW_MAX, 0, 2}};

/* The table is read before it is written, because the figures decide about columns and units. */
typedef struct zt__region_table {
    zt__figure_table shown;
    zt__advice advice;
    double *figures; /* of each row */
    uint32_t figure_count;
    uint32_t left_out; /* metrics with something to show, for which there was no room */
} zt__region_table;

/* Adds the region that was read last. The table shows the mean of a metric; of a flag, in how many
   samples it was set. */
ZT__PRIVATE void zt__read_table_row(const zt__document *document, uint32_t index, zt__region_table *table) {
    const zt_profiler *profiler = document->profiler;
    zt__figure_row *row = &table->shown.rows[table->shown.row_count];
    double *figures = table->figures + (size_t)table->shown.row_count * table->figure_count;
    const zt_stats *time = &document->stats[0];
    char *demangled = zt__demangle(document->region.name);
    uint32_t metric;
    row->name = demangled ? demangled : document->region.name;
    row->figures = figures;
    row->index = index;
    figures[ZT__ROW_COUNT] = (double)time->count;
    figures[ZT__ROW_TOTAL] = time->sum;
    figures[ZT__ROW_MEAN] = time->mean;
    figures[ZT__ROW_MEDIAN] = time->median;
    figures[ZT__ROW_P95] = time->p95;
    figures[ZT__ROW_MIN] = time->min;
    figures[ZT__ROW_MAX] = time->max;
    figures[ZT__ROW_DIFFERS] = (double)document->region.differs;
    for (metric = 0; metric < profiler->metric_count; metric++) {
        const zt_stats *stats = &document->stats[1 + metric];
        figures[ZT__TIME_FIGURES + metric] =
            profiler->metrics[metric].aggregation == ZT_AGGREGATE_FLAG ? stats->sum : stats->mean;
    }
    table->shown.row_count++;
}

/* Sorts by total GPU time, the longest first. Regions without samples come last. */
ZT__PRIVATE int zt__compare_rows(const void *a, const void *b) {
    const zt__figure_row *one = (const zt__figure_row *)a, *other = (const zt__figure_row *)b;
    double time = one->figures[ZT__ROW_TOTAL], other_time = other->figures[ZT__ROW_TOTAL];
    time = zt__is_nan(time) ? -1 : time;
    other_time = zt__is_nan(other_time) ? -1 : other_time;
    if (time > other_time || time < other_time) {
        return time > other_time ? -1 : 1;
    }
    return one->index < other->index ? -1 : one->index > other->index;
}

/* Returns whether a comma list has a name. */
ZT__PRIVATE int zt__lists_name(const char *list, const char *name) {
    const char *text;
    size_t length;
    while (zt__next_name(&list, &text, &length)) {
        if (zt__equals(name, text, length)) {
            return 1;
        }
    }
    return 0;
}

ZT__PRIVATE void zt__add_time_columns(const zt__document *document, zt__region_table *table) {
    const zt_profiler *profiler = document->profiler;
    static const char *const differences[] = {"no",   "missing",      "count",      "missing+count",
                                              "time", "missing+time", "count+time", "missing+count+time"};
    uint32_t i;
    zt__add_figures(&table->shown, ZT__ROW_COUNT, "count", "", 0, 0);
    if (document->differs) {
        zt__add_texts(&table->shown, ZT__ROW_DIFFERS, "passes differ", differences);
    }
    for (i = 0; i < ZT__COUNT_OF(zt__time_columns); i++) {
        int is_requested = profiler->columns && zt__lists_name(profiler->columns, zt__time_columns[i].name);
        if (is_requested || zt__time_columns[i].is_chosen) {
            zt__add_figures(&table->shown, zt__time_columns[i].figure, zt__time_columns[i].name, "ns", 1,
                            is_requested ? 0 : zt__time_columns[i].rank);
        }
    }
}

ZT__PRIVATE int zt__is_time_column(const char *name) {
    uint32_t i;
    for (i = 0; i < ZT__COUNT_OF(zt__time_columns); i++) {
        if (strcmp(zt__time_columns[i].name, name) == 0) {
            return 1;
        }
    }
    return strcmp(name, "count") == 0;
}

/* Returns whether config.columns may have a name that the table cannot show: that of a time, which it shows
   in any case, or of a metric that attached streams have alone, for the trace. */
ZT__PRIVATE int zt__is_other_column(const zt_profiler *profiler, const char *name) {
    uint32_t i, streamed = zt_get_streamed_count(profiler);
    if (zt__is_time_column(name)) {
        return 1;
    }
    for (i = 0; i < profiler->metric_count; i++) {
        if (strcmp(profiler->metrics[i].name, name) == 0) {
            return 0;
        }
    }
    for (i = 0; i < streamed; i++) {
        const zt_metric *metric = zt_get_streamed_metric(profiler, i);
        if (metric && strcmp(metric->name, name) == 0) {
            return 1;
        }
    }
    return 0;
}

/* Adds the metrics that config.columns names, each once. A name that is too long for a heading is
   replaced by that of the metric's role. */
ZT__PRIVATE void zt__add_chosen_columns(zt_profiler *profiler, zt__region_table *table) {
    const char *list = profiler->columns, *text;
    zt__figure_table *shown = &table->shown;
    char name[ZET_MAX_METRIC_NAME];
    size_t length;
    while (zt__next_name(&list, &text, &length)) {
        uint32_t metric = UINT32_MAX, i, role;
        int adds_up;
        const char *units;
        zt__copy_text(name, sizeof name, text, length);
        if (!zt__is_other_column(profiler, name)) {
            metric = zt__find_metric(&profiler->diagnostics, "zt_report", profiler->metrics,
                                     profiler->metric_count, name, NULL);
        }
        for (i = 0; i < shown->column_count && metric != UINT32_MAX; i++) {
            if (shown->columns[i].figure == ZT__TIME_FIGURES + metric) {
                metric = UINT32_MAX;
            }
        }
        if (metric == UINT32_MAX) {
            continue; /* the footer names unknown ones */
        }
        adds_up = profiler->metrics[metric].aggregation == ZT_AGGREGATE_SUM;
        units = profiler->metrics[metric].aggregation == ZT_AGGREGATE_FLAG ? "samples"
                                                                           : profiler->metrics[metric].units;
        if (zt__add_figures(shown, ZT__TIME_FIGURES + metric, name, units, adds_up, 0)) {
            continue;
        }
        for (role = ZT__NO_ROLE + 1; role < ZT__ROLE_COUNT; role++) {
            if (table->advice.metrics[role] == metric) {
                shown->column_count--;
                zt__add_figures(shown, ZT__TIME_FIGURES + metric, zt__roles[role].name, units, adds_up, 0);
                break;
            }
        }
    }
}

ZT__PRIVATE uint32_t zt__count_metric_columns(const zt__figure_table *table) {
    uint32_t i, count = 0;
    for (i = 0; i < table->column_count; i++) {
        count += table->columns[i].figure >= ZT__TIME_FIGURES;
    }
    return count;
}

/* Returns the width of the terminal if the report goes to one; else, on standard output, COLUMNS. */
ZT__PRIVATE size_t zt__get_room(int to_standard_output) {
    enum { DEFAULT = 80, LEAST = 40 };
    const char *columns = getenv("COLUMNS");
    struct winsize size;
    int room = DEFAULT;
    if (to_standard_output && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        room = size.ws_col;
    } else if (to_standard_output && columns && atoi(columns) > 0) {
        room = atoi(columns);
    }
    return room > LEAST ? (size_t)room : (size_t)LEAST;
}

ZT__PRIVATE void zt__write_title(zt__document *document) {
    const zt_profiler *profiler = document->profiler;
    zt__paragraph title = zt__begin_paragraph(&document->writer, document->room, 0, 0);
    const char *group = NULL;
    uint32_t i;
    zt__add_text(&title, "GPU time of regions on ");
    zt__add_text(&title, profiler->device_name);
    zt__add_text(&title, profiler->metric_count ? ", with metrics of " : ", times only");
    for (i = 0; i < profiler->metric_count; i++) {
        if (group && strcmp(group, profiler->metrics[i].group) == 0) {
            continue;
        }
        zt__add_text(&title, group ? ", " : "");
        group = profiler->metrics[i].group;
        zt__add_text(&title, group);
    }
    zt__end_paragraph(&title);
    zt__write_text(&document->writer, "\n");
}

/* Writes what limits the regions that take the longest, a paragraph each. */
ZT__PRIVATE void zt__write_limits(zt__document *document, const zt__region_table *table) {
    enum { SHOWN = 3 };
    zt_profiler *profiler = document->profiler;
    zt_limit_info infos[SHOWN];
    zt__paragraph paragraph;
    zt__writer name;
    uint32_t i, count = 0, known = 0;
    while (count < SHOWN && count < table->shown.row_count &&
           table->shown.rows[count].figures[ZT__ROW_COUNT] > 0) {
        const zt__region_record *record;
        zt__lock(&profiler->mutex);
        record = profiler->regions[table->shown.rows[count].index];
        zt__unlock(&profiler->mutex);
        zt__find_limit(profiler, &table->advice, record, &infos[count]);
        known += infos[count++].limit != ZT_LIMIT_UNKNOWN;
    }
    if (count == 0 || (known == 0 && profiler->metric_count == 0)) {
        return;
    }
    zt__write_text(&document->writer, "\n");
    paragraph = zt__begin_paragraph(&document->writer, document->room, 0, 2);
    zt__add_text(&paragraph, "What limits the regions with the most GPU time:");
    if (known == 0) { /* the reason is the same */
        zt__add_text(&paragraph, " ");
        zt__add_text(&paragraph, infos[0].text);
    }
    zt__end_paragraph(&paragraph);
    for (i = 0; i < count && known > 0; i++) {
        zt__begin_writing(&name, NULL, NULL);
        name.stopped = 1; /* it only keeps the bytes */
        zt__write_shortened(&name, table->shown.rows[i].name, document->room / 2);
        zt__write_bytes(&name, "", 1);
        paragraph = zt__begin_paragraph(&document->writer, document->room, 2, 4);
        zt__add_text(&paragraph, name.bytes);
        zt__add_text(&paragraph, ": ");
        zt__add_text(&paragraph, infos[i].text);
        zt__end_paragraph(&paragraph);
    }
}

ZT__PRIVATE void zt__write_table_note(zt__document *document, const char *text) {
    zt__paragraph paragraph = zt__begin_paragraph(&document->writer, document->room, 0, 0);
    zt__add_text(&paragraph, text);
    zt__end_paragraph(&paragraph);
}

/* Writes what the table does not show, why, and what to do. */
ZT__PRIVATE void zt__write_footer(zt__document *document, const zt__region_table *table) {
    zt_profiler *profiler = document->profiler;
    const char *list = profiler->columns, *text;
    char name[ZET_MAX_METRIC_NAME], note[ZET_MAX_METRIC_NAME + sizeof(zt__nearest) + 64];
    zt__nearest nearest;
    size_t length;
    while (list && zt__next_name(&list, &text, &length)) {
        zt__copy_text(name, sizeof name, text, length);
        if (!zt__is_other_column(profiler, name) &&
            zt__find_metric(&profiler->diagnostics, "zt_report", profiler->metrics, profiler->metric_count,
                            name, &nearest) == UINT32_MAX) {
            snprintf(note, sizeof note, "There is no metric '%s'. Nearest: %s.", name, nearest.text);
            zt__write_table_note(document, note);
        }
    }
    if (profiler->metric_count > 0 && table->shown.row_count > 0) {
        snprintf(note, sizeof note,
                 "Metrics are means per sample. There is no room for %u more: choose with ZT_COLUMNS, or "
                 "write CSV or JSON, which have "
                 "all.",
                 (unsigned)table->left_out);
        zt__write_table_note(document, table->left_out ? note : "Metrics are means per sample.");
    }
    zt__list_notes(document, zt__write_table_note);
}

#ifdef ZETOOLS_TRACER

ZT__PRIVATE void zt__write_table_of_calls(zt__document *document) {
    enum { COUNT, ERRORS, TOTAL, MEDIAN, P95, MAX, FIGURES };
    static const char *const names[FIGURES] = {"count", "errors", "total", "median", "p95", "max"};
    const zt_allocator *allocator = &document->profiler->config.allocator;
    uint32_t i, count = zt__calls_to_report(document->profiler);
    zt__figure_column columns[FIGURES];
    zt__figure_table table;
    double *figures;
    if (count == 0) {
        return;
    }
    memset(&table, 0, sizeof table);
    figures = (double *)zt__allocate(allocator, count, FIGURES * sizeof *figures);
    table.heading = "call";
    table.columns = columns;
    table.rows = (zt__figure_row *)zt__allocate(allocator, count, sizeof *table.rows);
    document->out_of_memory |= !figures || !table.rows;
    for (i = 0; i < count && figures && table.rows; i++) {
        double *row = figures + (size_t)i * FIGURES;
        zt_call_info call;
        zt_get_call(document->profiler, i, &call);
        table.rows[i].name = call.name;
        table.rows[i].figures = row;
        row[COUNT] = (double)call.count;
        row[ERRORS] = (double)call.errors;
        row[TOTAL] = call.time_ns.sum;
        row[MEDIAN] = call.time_ns.median;
        row[P95] = call.time_ns.p95;
        row[MAX] = call.time_ns.max;
        table.row_count++;
    }
    zt__choose_time_unit(&table, MEDIAN, TOTAL);
    for (i = 0; i < FIGURES; i++) {
        zt__add_figures(&table, i, names[i], i < TOTAL ? "" : "ns", 1, 0);
    }
    if (table.row_count > 0) {
        zt__fit_columns(&table, document->room);
        zt__write_text(&document->writer, "\nHost time of calls\n");
        zt__write_figures(&document->writer, &table, document->room);
    }
    zt__free(allocator, table.rows);
    zt__free(allocator, figures);
}

#endif

ZT__PRIVATE void zt__write_region_table(zt__document *document, int to_standard_output) {
    zt_profiler *profiler = document->profiler;
    const zt_allocator *allocator = &profiler->config.allocator;
    size_t rows = (size_t)document->region_count + 1; /* at least one */
    zt__region_table table;
    zt__figure_table *shown = &table.shown;
    uint32_t i;
    memset(&table, 0, sizeof table);
    table.figure_count = ZT__TIME_FIGURES + profiler->metric_count + ZT__DERIVED_COLUMNS;
    table.figures = (double *)zt__allocate(allocator, rows, table.figure_count * sizeof *table.figures);
    document->room = zt__get_room(to_standard_output);
    shown->heading = "region";
    shown->rows = (zt__figure_row *)zt__allocate(allocator, rows, sizeof *shown->rows);
    shown->columns = (zt__figure_column *)zt__allocate(allocator, table.figure_count, sizeof *shown->columns);
    if (table.figures && shown->rows && shown->columns) {
        for (i = 0; i < document->region_count; i++) {
            if (zt__read_region(document, i)) {
                zt__read_table_row(document, i, &table);
            }
        }
        zt__prepare_advice(profiler, &table.advice);
        zt__choose_time_unit(shown, ZT__ROW_MEAN, ZT__ROW_TOTAL);
        zt__add_time_columns(document, &table);
        if (profiler->columns) {
            zt__add_chosen_columns(profiler, &table);
        } else {
            document->out_of_memory |= !zt__add_ranked_columns(profiler, &table.advice, shown, table.figures,
                                                               table.figure_count, ZT__TIME_FIGURES, 0);
        }
        qsort(shown->rows, shown->row_count, sizeof *shown->rows, zt__compare_rows);
        table.left_out = zt__count_metric_columns(shown);
        zt__fit_columns(shown, document->room);
        table.left_out -= zt__count_metric_columns(shown);
        zt__write_title(document);
        if (shown->row_count > 0) {
            zt__write_figures(&document->writer, shown, document->room);
        }
        zt__write_footer(document, &table);
        zt__write_limits(document, &table);
#ifdef ZETOOLS_TRACER
        zt__write_table_of_calls(document);
#endif
    } else {
        document->out_of_memory = 1;
    }
    for (i = 0; i < shown->row_count; i++) {
        if (shown->rows[i].name != profiler->regions[shown->rows[i].index]->name) {
            free((void *)shown->rows[i].name); /* demangled */
        }
    }
    zt__free(allocator, shown->columns);
    zt__free(allocator, shown->rows);
    zt__free(allocator, table.figures);
}

/* ==== >>trace_file: the timeline for Perfetto and Chrome, as Trace Event JSON ============================= */

/* A trace has two processes. One is the program, with a track for each thread that has begun regions,
   executed lists or made timed calls. The other is the device, with a track for each command list and each
   attached stream, and with counters. Flow events lead from the first to the second. */

enum {
    ZT__SYSTEM_NUMBERS = 1 << 22, /* the system's numbers of processes are lower */
    ZT__TRACE_COLUMNS = 8,        /* the most that are chosen without config.columns */
    ZT__COUNTER_DIGITS = 5,       /* of the values of counters */
    ZT__COUNTER_EVENTS = 80000,   /* the most in a trace. Beyond that, rows are merged */
    ZT__COPIED_AT_ONCE = 1024     /* while a mutex is locked */
};

/* A sample by host time. */
typedef struct zt__span {
    zt__timeline_sample sample;
    uint64_t order;        /* index in the timeline */
    const double *figures; /* GPU time, and the chosen columns */
    uint32_t track;
    uint32_t outer; /* the span that contains it on its track, or UINT32_MAX */
} zt__span;

/* A track of a command list. Its spans are nested or disjoint. */
typedef struct zt__track {
    ze_command_list_handle_t list;
    const char *list_name;
    uint64_t first_ns;    /* of the list: when its first span began */
    uint32_t overlap;     /* how many tracks of the list are before it */
    uint32_t index;       /* among the tracks as they were found */
    uint32_t last;        /* the span that was added last */
    uint32_t number;      /* in the trace, from 1 */
    uint32_t list_number; /* from 1 */
} zt__track;

typedef enum zt__slice_kind { ZT__SLICE_EXECUTE, ZT__SLICE_APPEND, ZT__SLICE_CALL } zt__slice_kind;

/* What a thread of the program has done. */
typedef struct zt__host_slice {
    uint64_t begin_ns, end_ns;
    const char *name; /* of the region or call */
    uint32_t thread;
    zt__slice_kind kind;
    uint32_t regions; /* that were executed */
    uint32_t outer;   /* the slice that contains it, or UINT32_MAX */
} zt__host_slice;

/* A metric with its units, such as "GPU_BUSY [%]", after its group if there are several. */
typedef struct zt__label {
    char text[ZET_MAX_METRIC_GROUP_NAME + ZET_MAX_METRIC_NAME + ZET_MAX_METRIC_RESULT_UNITS + 8];
} zt__label;

/* A column of figures. */
typedef struct zt__trace_column {
    zt__ranked_column shown;
    zt__label label;
    double scale;
    int is_rate; /* divided by the length of the row in nanoseconds */
} zt__trace_column;

typedef struct zt__trace_columns {
    zt__advice advice; /* the metrics by their roles */
    zt__trace_column *columns;
    uint32_t count;
} zt__trace_columns;

typedef struct zt__trace {
    zt_profiler *profiler;
    zt__writer *writer;
    long program, device; /* numbers of the two processes */
    zt__trace_columns columns;
    zt__span *spans; /* sorted by list, then by time */
    double *figures; /* of each span */
    uint32_t span_count;
    zt__missing *missing;
    uint32_t missing_count;
    zt__track *tracks;
    uint32_t track_count;
    zt__execution *executions; /* sorted */
    uint32_t execution_count;
    zt__host_slice *slices; /* sorted by thread, then by time */
    uint32_t slice_count;
    uint64_t replaced; /* samples that newer ones have replaced */
} zt__trace;

/* ---- columns --------------------------------------------------------------------------------------------- */

/* Describes a column. Of regions, figures are those of the sample. Of streams, what adds up is shown as a
   rate, because rows differ in length. */
ZT__PRIVATE void zt__describe_column(const zt_metric *metric, int is_stream, int several_groups,
                                     zt__trace_column *column) {
    zt__quantity quantity = metric ? zt__quantity_of(metric) : ZT__QUANTITY_SHARE;
    const char *units = metric ? metric->units : "", *suffix = "";
    int adds_up = metric && (metric->aggregation == ZT_AGGREGATE_SUM || quantity == ZT__QUANTITY_BYTES);
    column->scale = 1;
    column->is_rate = is_stream && adds_up;
    if (quantity == ZT__QUANTITY_SHARE) {
        units = "%";
    } else if (quantity == ZT__QUANTITY_RATE) {
        units = "GB/s";
        column->scale = zt__scale_of_rate(metric->units);
    } else if (column->is_rate && quantity == ZT__QUANTITY_BYTES) {
        units = "GB/s";
    } else if (column->is_rate && strcmp(units, "ns") == 0) {
        units = "% of time";
        column->scale = 100;
    } else if (column->is_rate) {
        suffix = "/s";
        column->scale = 1e9;
    }
    snprintf(column->label.text, sizeof column->label.text, "%s%s%s%s%s%s%s",
             several_groups && metric ? metric->group : "", several_groups && metric ? "." : "",
             metric ? metric->name : zt__roles[column->shown.role].name, *units || *suffix ? " [" : "", units,
             suffix, *units || *suffix ? "]" : "");
}

/* Adds the metrics that config.columns names, each once. Returns how many there are. */
ZT__PRIVATE uint32_t zt__find_chosen_columns(const char *list, const zt_metric *metrics,
                                             uint32_t metric_count, zt__ranked_column *chosen) {
    uint32_t metric, i, count = 0;
    const char *text;
    size_t length;
    while (list && zt__next_name(&list, &text, &length)) {
        for (metric = 0; metric < metric_count; metric++) {
            if (zt__equals(metrics[metric].name, text, length)) {
                break;
            }
        }
        for (i = 0; i < count && metric < metric_count; i++) {
            metric = chosen[i].metric == metric ? metric_count : metric;
        }
        if (metric < metric_count) {
            chosen[count].metric = metric;
            chosen[count++].role = ZT__NO_ROLE;
        }
    }
    return count;
}

/* Chooses what is shown: what config.columns names; if it names none of these metrics, the first that tables
   show. Returns 0 without memory. */
ZT__PRIVATE int zt__choose_trace_columns(const zt_profiler *profiler, const zt_metric *metrics,
                                         uint32_t metric_count, const zt__mean_table *means, int is_stream,
                                         int several_groups, zt__trace_columns *chosen) {
    const zt_allocator *allocator = &profiler->config.allocator;
    size_t room = (size_t)metric_count + ZT__DERIVED_COLUMNS;
    zt__ranked_column *ranked = (zt__ranked_column *)zt__allocate(allocator, room, sizeof *ranked);
    uint32_t i, naming = ZT__NAMING_COUNT;
    int has_memory;
    chosen->columns = (zt__trace_column *)zt__allocate(allocator, room, sizeof *chosen->columns);
    has_memory = ranked && chosen->columns;
    memset(chosen->advice.metrics, 0xFF, sizeof chosen->advice.metrics);
    for (i = 0; i < metric_count; i++) {
        zt__match_roles(&metrics[i], i, chosen->advice.metrics, &naming);
    }
    if (has_memory) {
        chosen->count = zt__find_chosen_columns(profiler->columns, metrics, metric_count, ranked);
    }
    if (has_memory && chosen->count == 0) {
        chosen->count = zt__rank_columns(metrics, metric_count, &chosen->advice, means, ranked);
        if (chosen->count > ZT__TRACE_COLUMNS) {
            chosen->count = ZT__TRACE_COLUMNS;
        }
    }
    for (i = 0; i < chosen->count; i++) {
        chosen->columns[i].shown = ranked[i];
        zt__describe_column(ranked[i].metric == UINT32_MAX ? NULL : &metrics[ranked[i].metric], is_stream,
                            several_groups, &chosen->columns[i]);
    }
    zt__free(allocator, ranked);
    return has_memory;
}

/* Computes the figures of a row of metrics. `length_ns` is how long it lasted. */
ZT__PRIVATE void zt__compute_columns(const zt__trace_columns *columns, const double *values,
                                     uint32_t metric_count, double length_ns, double *figures) {
    const zt__mean_table row = {values, metric_count, 1};
    uint32_t i;
    for (i = 0; i < columns->count; i++) {
        const zt__trace_column *column = &columns->columns[i];
        figures[i] = zt__ranked_figure(&columns->advice, &row, 0, &column->shown) * column->scale;
        if (column->is_rate) {
            figures[i] = length_ns > 0 ? figures[i] / length_ns : zt__nan();
        }
    }
}

/* Chooses the arguments of regions. Returns 0 without memory. */
ZT__PRIVATE int zt__choose_arguments(zt__trace *trace) {
    zt_profiler *profiler = trace->profiler;
    const zt_allocator *allocator = &profiler->config.allocator;
    uint32_t regions = zt_get_region_count(profiler), metrics = profiler->metric_count, i, m;
    double *means = (double *)zt__allocate(allocator, (size_t)regions + 1, (metrics + 1) * sizeof *means);
    zt__mean_table table = {means, metrics, regions};
    int has_memory = means != NULL;
    for (i = 0; i < regions && has_memory; i++) {
        zt__lock(&profiler->mutex);
        for (m = 0; m < metrics; m++) {
            zt_stats stats;
            zt__get_moments(&profiler->layout, &profiler->regions[i]->statistics, 1 + m, &stats);
            means[(size_t)i * metrics + m] = stats.mean;
        }
        zt__unlock(&profiler->mutex);
    }
    has_memory = has_memory && zt__choose_trace_columns(profiler, profiler->metrics, metrics, &table, 0,
                                                        profiler->selection.group_count > 1, &trace->columns);
    zt__free(allocator, means);
    return has_memory;
}

/* ---- reading the timeline -------------------------------------------------------------------------------- */

/* For qsort: orders by list and begin, with outer spans before inner ones. */
ZT__PRIVATE int zt__compare_spans(const void *a, const void *b) {
    const zt__span *one = (const zt__span *)a, *other = (const zt__span *)b;
    if (one->sample.list != other->sample.list) {
        return (uintptr_t)one->sample.list < (uintptr_t)other->sample.list ? -1 : 1;
    }
    if (one->sample.origin.list_name != other->sample.origin.list_name) {
        return (uintptr_t)one->sample.origin.list_name < (uintptr_t)other->sample.origin.list_name ? -1 : 1;
    }
    if (one->sample.begin_ns != other->sample.begin_ns) {
        return one->sample.begin_ns < other->sample.begin_ns ? -1 : 1;
    }
    if (one->sample.end_ns != other->sample.end_ns) {
        return one->sample.end_ns > other->sample.end_ns ? -1 : 1;
    }
    return one->order > other->order ? -1 : one->order < other->order; /* inner regions end first */
}

/* Copies the kept samples, with the chosen figures. Returns 0 without memory. */
ZT__PRIVATE int zt__copy_spans(zt__trace *trace) {
    zt_profiler *profiler = trace->profiler;
    const zt_allocator *allocator = &profiler->config.allocator;
    size_t room, width = 1 + (size_t)trace->columns.count;
    uint64_t first, end, i;
    double *values = (double *)zt__allocate(allocator, profiler->layout.column_count, sizeof *values);
    zt__get_kept_samples(profiler, &first, &end);
    trace->replaced = first;
    room = (size_t)(end - first) + 1;
    trace->spans = (zt__span *)zt__allocate(allocator, room, sizeof *trace->spans);
    trace->figures = (double *)zt__allocate(allocator, room, width * sizeof *trace->figures);
    for (i = first; i < end && values && trace->spans && trace->figures; i++) {
        zt__span *span = &trace->spans[trace->span_count];
        if (zt__copy_kept_sample(profiler, i, &span->sample, values)) {
            double *figures = trace->figures + trace->span_count * width;
            span->order = i;
            span->figures = figures;
            figures[0] = zt__is_finite(values[0]) ? values[0] : 0;
            zt__compute_columns(&trace->columns, values + 1, profiler->metric_count, 0, figures + 1);
            trace->span_count++;
        }
    }
    zt__free(allocator, values);
    if (trace->span_count) {
        qsort(trace->spans, trace->span_count, sizeof *trace->spans, zt__compare_spans);
    }
    return values && trace->spans && trace->figures;
}

/* Copies what is kept of missing samples and of executions. Returns 0 without memory. */
ZT__PRIVATE int zt__copy_missing_and_executions(zt__trace *trace) {
    zt_profiler *profiler = trace->profiler;
    const zt_allocator *allocator = &profiler->config.allocator;
    const zt__timeline *timeline = profiler->timeline;
    uint32_t capacity = timeline ? timeline->capacity : 0;
    uint64_t i, written;
    trace->missing = (zt__missing *)zt__allocate(allocator, ZT__MISSING_KEPT, sizeof *trace->missing);
    trace->executions =
        (zt__execution *)zt__allocate(allocator, (size_t)capacity + 1, sizeof *trace->executions);
    if (!trace->missing || !trace->executions) {
        return 0;
    }
    if (!timeline) {
        return 1;
    }
    zt__lock(&profiler->mutex);
    written = timeline->missing_written;
    for (i = zt__oldest_kept(written, ZT__MISSING_KEPT); i < written; i++) {
        trace->missing[trace->missing_count] = timeline->missing[i % ZT__MISSING_KEPT];
        trace->missing_count += trace->missing[trace->missing_count].count > 0;
    }
    written = timeline->executions_written;
    zt__unlock(&profiler->mutex);
    i = zt__oldest_kept(written, capacity);
    while (i < written) {
        uint64_t oldest, until = written - i > ZT__COPIED_AT_ONCE ? i + ZT__COPIED_AT_ONCE : written;
        zt__lock(&profiler->mutex);
        oldest = zt__oldest_kept(timeline->executions_written, capacity);
        for (i = i > oldest ? i : oldest; i < until; i++) {
            trace->executions[trace->execution_count++] = timeline->executions[i % capacity];
        }
        zt__unlock(&profiler->mutex);
    }
    return 1;
}

/* ---- tracks of lists ------------------------------------------------------------------------------------- */

ZT__PRIVATE int zt__is_track_of(const zt__track *track, ze_command_list_handle_t list,
                                const char *list_name) {
    return track->list == list && track->list_name == list_name;
}

/* Adds a span to the first track of its list on which it overlaps no span without being inside it, or to a
   new track. Tracks of its list begin at `first`. */
ZT__PRIVATE void zt__add_to_track(zt__trace *trace, uint32_t first, uint32_t index) {
    zt__span *span = &trace->spans[index];
    zt__track *track;
    uint32_t i, outer = UINT32_MAX;
    for (i = first; i < trace->track_count; i++) {
        outer = trace->tracks[i].last;
        while (outer != UINT32_MAX && trace->spans[outer].sample.end_ns <= span->sample.begin_ns) {
            outer = trace->spans[outer].outer;
        }
        if (outer == UINT32_MAX || trace->spans[outer].sample.end_ns >= span->sample.end_ns) {
            break;
        }
    }
    track = &trace->tracks[i];
    if (i == trace->track_count) {
        outer = UINT32_MAX;
        trace->track_count++;
        track->list = span->sample.list;
        track->list_name = span->sample.origin.list_name;
        track->first_ns = i == first ? span->sample.begin_ns : trace->tracks[first].first_ns;
        track->overlap = i - first;
        track->index = i;
    }
    track->last = index;
    span->track = i;
    span->outer = outer;
}

ZT__PRIVATE zt__track *zt__find_track(zt__trace *trace, const zt__missing *missing) {
    uint32_t i = 0;
    while (i < trace->track_count && !zt__is_track_of(&trace->tracks[i], missing->list, missing->list_name)) {
        i++;
    }
    return i < trace->track_count ? &trace->tracks[i] : NULL;
}

/* For qsort: orders lists by their first span, and their tracks by overlap. */
ZT__PRIVATE int zt__compare_tracks(const void *a, const void *b) {
    const zt__track *one = *(const zt__track *const *)a, *other = *(const zt__track *const *)b;
    if (one->first_ns != other->first_ns) {
        return one->first_ns < other->first_ns ? -1 : 1;
    }
    return one->index < other->index ? -1 : one->index > other->index;
}

/* Distributes the spans to tracks, and numbers these. Returns 0 without memory. */
ZT__PRIVATE int zt__make_tracks(zt__trace *trace) {
    const zt_allocator *allocator = &trace->profiler->config.allocator;
    size_t room = (size_t)trace->span_count + trace->missing_count + 1;
    zt__track **order = (zt__track **)zt__allocate(allocator, room, sizeof *order);
    uint32_t i, lists = 0, first = 0;
    trace->tracks = (zt__track *)zt__allocate(allocator, room, sizeof *trace->tracks);
    if (!order || !trace->tracks) {
        zt__free(allocator, (void *)order);
        return 0;
    }
    for (i = 0; i < trace->span_count; i++) {
        const zt__timeline_sample *sample = &trace->spans[i].sample;
        if (first < trace->track_count &&
            !zt__is_track_of(&trace->tracks[first], sample->list, sample->origin.list_name)) {
            first = trace->track_count;
        }
        zt__add_to_track(trace, first, i);
    }
    for (i = 0; i < trace->missing_count; i++) {
        const zt__missing *missing = &trace->missing[i];
        if (missing->list && !zt__find_track(trace, missing)) {
            zt__track *track = &trace->tracks[trace->track_count];
            track->list = missing->list;
            track->list_name = missing->list_name;
            track->first_ns = missing->since_ns;
            track->index = trace->track_count++;
        }
    }
    for (i = 0; i < trace->track_count; i++) {
        order[i] = &trace->tracks[i];
    }
    qsort((void *)order, trace->track_count, sizeof *order, zt__compare_tracks);
    for (i = 0; i < trace->track_count; i++) {
        lists += order[i]->overlap == 0;
        order[i]->number = i + 1;
        order[i]->list_number = lists;
    }
    zt__free(allocator, (void *)order);
    return 1;
}

/* ---- events ---------------------------------------------------------------------------------------------- */

/* Writes the beginning of an event. The caller adds its other members and the closing brace. `phase` is its
   type: "X" a span, "C" a counter, "i" an instant, "s" and "f" begin and end of a flow, "M" a name. */
ZT__PRIVATE void zt__begin_event(zt__writer *writer, const char *phase, const char *name, long process,
                                 uint32_t track) {
    zt__write_comma(writer);
    zt__print(writer, "\n{\"ph\":\"%s\",\"name\":", phase);
    zt__write_json_string(writer, name);
    zt__print(writer, ",\"pid\":%ld", process);
    if (*phase != 'C') { /* counters are of a process */
        zt__print(writer, ",\"tid\":%u", (unsigned)track);
    }
}

/* Writes a time in microseconds, as the format wants it, exactly. */
ZT__PRIVATE void zt__write_event_time(zt__writer *writer, const char *name, uint64_t ns) {
    zt__print(writer, ",\"%s\":%llu.%03u", name, (unsigned long long)(ns / 1000), (unsigned)(ns % 1000));
}

ZT__PRIVATE void zt__write_name(zt__trace *trace, const char *what, long process, uint32_t track,
                                const char *name) {
    zt__begin_event(trace->writer, "M", what, process, track);
    zt__write_text(trace->writer, ",\"args\":{");
    zt__write_json_text(trace->writer, "name", name);
    zt__write_text(trace->writer, "}}");
}

/* Writes the place of a process or track among the others. */
ZT__PRIVATE void zt__write_place(zt__trace *trace, const char *what, long process, uint32_t track,
                                 uint32_t place) {
    zt__begin_event(trace->writer, "M", what, process, track);
    zt__print(trace->writer, ",\"args\":{\"sort_index\":%u}}", (unsigned)place);
}

/* Writes the begin of an instant, up to its arguments. On track 0, it is one of the whole device. */
ZT__PRIVATE void zt__begin_instant(zt__trace *trace, const char *name, const char *category, uint32_t track,
                                   uint64_t ns) {
    zt__begin_event(trace->writer, "i", name, trace->device, track);
    zt__write_event_time(trace->writer, "ts", ns);
    zt__print(trace->writer, ",\"s\":\"%s\",\"cat\":\"%s\",\"args\":{", track ? "t" : "p", category);
}

ZT__PRIVATE void zt__write_track_names(zt__trace *trace) {
    uint32_t i;
    for (i = 0; i < trace->track_count; i++) {
        const zt__track *track = &trace->tracks[i];
        char name[64];
        snprintf(name, sizeof name, "list %u", (unsigned)track->list_number);
        zt__begin_event(trace->writer, "M", "thread_name", trace->device, track->number);
        zt__write_text(trace->writer, ",\"args\":{\"name\":\"");
        zt__write_json_characters(trace->writer, track->list_name ? track->list_name : name);
        if (track->overlap) {
            zt__print(trace->writer, ", overlap %u", (unsigned)track->overlap);
        }
        zt__write_text(trace->writer, "\"}}");
        zt__write_place(trace, "thread_sort_index", trace->device, track->number, track->number);
    }
}

/* ---- the program ----------------------------------------------------------------------------------------- */

/* For qsort: orders by thread and begin, with outer slices before inner ones. */
ZT__PRIVATE int zt__compare_slices(const void *a, const void *b) {
    const zt__host_slice *one = (const zt__host_slice *)a, *other = (const zt__host_slice *)b;
    if (one->thread != other->thread) {
        return one->thread < other->thread ? -1 : 1;
    }
    if (one->begin_ns != other->begin_ns) {
        return one->begin_ns < other->begin_ns ? -1 : 1;
    }
    if (one->end_ns != other->end_ns) {
        return one->end_ns > other->end_ns ? -1 : 1;
    }
    return one->kind < other->kind ? -1 : one->kind > other->kind;
}

/* Returns when the call of a thread that began at a time has returned. If that is not known, the call lasts a
   nanosecond, so that a flow can begin in it. */
ZT__PRIVATE uint64_t zt__find_end_of_execution(const zt__trace *trace, uint64_t begin_ns, uint32_t thread) {
    uint32_t low = 0, high = trace->execution_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (trace->executions[middle].begin_ns < begin_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low < trace->execution_count && trace->executions[low].begin_ns == begin_ns &&
        trace->executions[low].thread == thread && trace->executions[low].end_ns > begin_ns) {
        return trace->executions[low].end_ns;
    }
    return begin_ns + 1;
}

ZT__PRIVATE const zt__region_record *zt__get_region_of(zt_profiler *profiler, uint32_t region) {
    const zt__region_record *record;
    zt__lock(&profiler->mutex);
    record = profiler->regions[region];
    zt__unlock(&profiler->mutex);
    return record;
}

/* Removes slices that stand for one call: it has executed several regions, or what it has appended has run
   several times. */
ZT__PRIVATE void zt__unite_slices(zt__trace *trace) {
    uint32_t i, count = 0;
    for (i = 0; i < trace->slice_count; i++) {
        zt__host_slice *slice = &trace->slices[i], *before = count ? &trace->slices[count - 1] : NULL;
        if (before && slice->kind != ZT__SLICE_CALL && before->kind == slice->kind &&
            before->thread == slice->thread && before->begin_ns == slice->begin_ns &&
            before->name == slice->name) {
            before->regions++;
        } else {
            trace->slices[count++] = *slice;
        }
    }
    trace->slice_count = count;
}

/* Shortens slices that would end after one that contains their begin: regions of a thread may overlap, and
   slices of a track must not. */
ZT__PRIVATE void zt__nest_slices(zt__trace *trace) {
    uint32_t i, outer = UINT32_MAX;
    for (i = 0; i < trace->slice_count; i++) {
        zt__host_slice *slice = &trace->slices[i];
        if (i > 0 && trace->slices[i - 1].thread != slice->thread) {
            outer = UINT32_MAX;
        }
        while (outer != UINT32_MAX && trace->slices[outer].end_ns <= slice->begin_ns) {
            outer = trace->slices[outer].outer;
        }
        if (outer != UINT32_MAX && slice->end_ns > trace->slices[outer].end_ns) {
            slice->end_ns = trace->slices[outer].end_ns;
        }
        slice->outer = outer;
        outer = i;
    }
}

/* Finds what the threads of the program have done. Returns 0 without memory. */
ZT__PRIVATE int zt__make_slices(zt__trace *trace) {
    const zt_allocator *allocator = &trace->profiler->config.allocator;
    uint64_t first = 0, end = 0;
    uint32_t i;
#ifdef ZETOOLS_TRACER
    zt__get_kept_calls(trace->profiler, &first, &end);
#endif
    trace->slices = (zt__host_slice *)zt__allocate(allocator, trace->span_count + (size_t)(end - first) + 1,
                                                   sizeof *trace->slices);
    if (!trace->slices) {
        return 0;
    }
    for (i = 0; i < trace->span_count; i++) {
        const zt__timeline_sample *sample = &trace->spans[i].sample;
        zt__host_slice *slice = &trace->slices[trace->slice_count];
        if (!sample->origin.submitted_by) {
            continue;
        }
        trace->slice_count++;
        slice->thread = sample->origin.submitted_by;
        slice->begin_ns = sample->submitted_ns;
        slice->regions = 1;
        if (sample->origin.is_executed) {
            slice->kind = ZT__SLICE_EXECUTE;
            slice->end_ns = zt__find_end_of_execution(trace, slice->begin_ns, slice->thread);
        } else {
            slice->kind = ZT__SLICE_APPEND;
            slice->end_ns = slice->begin_ns + sample->origin.append_ns;
            slice->name = zt__get_region_of(trace->profiler, sample->region)->name;
        }
    }
#ifdef ZETOOLS_TRACER
    for (; first < end; first++) {
        zt__host_slice *slice = &trace->slices[trace->slice_count];
        zt__kept_call call;
        if (zt__copy_kept_call(trace->profiler, first, &call)) {
            slice->name = call.name;
            slice->begin_ns = call.begin_ns;
            slice->end_ns = call.end_ns;
            slice->thread = call.thread;
            slice->kind = ZT__SLICE_CALL;
            trace->slice_count++;
        }
    }
#endif
    if (trace->slice_count) {
        qsort(trace->slices, trace->slice_count, sizeof *trace->slices, zt__compare_slices);
    }
    zt__unite_slices(trace);
    zt__nest_slices(trace);
    return 1;
}

/* Names a thread as the system does, if it still runs. */
ZT__PRIVATE void zt__write_thread_name(zt__trace *trace, uint32_t thread) {
    char path[64], name[64] = "";
    FILE *file;
    snprintf(path, sizeof path, "/proc/self/task/%u/comm", (unsigned)thread);
    file = fopen(path, "r");
    if (file) {
        if (!fgets(name, sizeof name, file)) {
            name[0] = 0;
        }
        name[strcspn(name, "\n")] = 0;
        fclose(file);
    }
    zt__write_name(trace, "thread_name", trace->program, thread, name[0] ? name : "thread");
}

/* Names the program by the file that it was started from. */
ZT__PRIVATE void zt__write_program_name(zt__trace *trace) {
    char name[256];
    const char *program = trace->profiler->facts.program;
    size_t length = strcspn(program, " "), i;
    for (i = 0; i < length; i++) {
        if (program[i] == '/') {
            program += i + 1;
            length -= i + 1;
            i = (size_t)-1;
        }
    }
    zt__copy_text(name, sizeof name, program, length);
    zt__write_name(trace, "process_name", trace->program, 0, name[0] ? name : "program");
    zt__write_place(trace, "process_sort_index", trace->program, 0, 0);
}

ZT__PRIVATE void zt__write_slices(zt__trace *trace) {
    zt__writer *writer = trace->writer;
    uint32_t i;
    for (i = 0; i < trace->slice_count; i++) {
        const zt__host_slice *slice = &trace->slices[i];
        char name[256];
        if (i == 0 || trace->slices[i - 1].thread != slice->thread) {
            zt__write_thread_name(trace, slice->thread);
        }
        snprintf(name, sizeof name, "append %.240s", slice->name ? slice->name : "");
        zt__begin_event(writer, "X",
                        slice->kind == ZT__SLICE_CALL     ? slice->name
                        : slice->kind == ZT__SLICE_APPEND ? name
                                                          : "execute lists",
                        trace->program, slice->thread);
        zt__write_event_time(writer, "ts", slice->begin_ns);
        zt__write_event_time(writer, "dur", slice->end_ns - slice->begin_ns);
        zt__print(writer, ",\"cat\":\"%s\"", slice->kind == ZT__SLICE_CALL ? "call" : "submit");
        if (slice->kind == ZT__SLICE_EXECUTE) {
            zt__print(writer, ",\"args\":{\"regions\":%u}", (unsigned)slice->regions);
        }
        zt__write_text(writer, "}");
    }
}

/* ---- regions --------------------------------------------------------------------------------------------- */

/* Counts are written exactly. */
ZT__PRIVATE void zt__write_argument(zt__writer *writer, const char *label, double value) {
    enum { DIGITS = 6 };
    double magnitude = value < 0 ? -value : value;
    zt__write_comma(writer);
    zt__write_json_string(writer, label);
    zt__write_text(writer, ":");
    if (magnitude < 9e15 && (double)(int64_t)value == value) {
        zt__print(writer, "%lld", (long long)value);
    } else {
        zt__write_digits(writer, value, DIGITS);
    }
}

/* Writes three numbers, such as "128 x 8 x 1", if they are known. */
ZT__PRIVATE void zt__write_extent(zt__writer *writer, const char *label, const uint32_t extent[3]) {
    if (extent[0]) {
        zt__write_comma(writer);
        zt__print(writer, "\"%s\":\"%u x %u x %u\"", label, (unsigned)extent[0], (unsigned)extent[1],
                  (unsigned)extent[2]);
    }
}

/* Writes a region, and the flow that leads to it from the call that has submitted it. */
ZT__PRIVATE void zt__write_span(zt__trace *trace, uint32_t index) {
    const zt__span *span = &trace->spans[index];
    const zt__origin *origin = &span->sample.origin;
    zt__writer *writer = trace->writer;
    const char *name = zt__get_region_of(trace->profiler, span->sample.region)->name;
    uint32_t track = trace->tracks[span->track].number, i;
    zt__begin_event(writer, "X", name, trace->device, track);
    zt__write_event_time(writer, "ts", span->sample.begin_ns);
    zt__write_event_time(writer, "dur", span->sample.end_ns - span->sample.begin_ns);
    zt__write_text(writer, ",\"cat\":\"region\",\"args\":{");
    zt__write_argument(writer, "GPU time [ns]", span->figures[0]);
    for (i = 0; i < trace->columns.count; i++) {
        if (zt__is_finite(span->figures[1 + i])) {
            zt__write_argument(writer, trace->columns.columns[i].label.text, span->figures[1 + i]);
        }
    }
    zt__write_extent(writer, "groups", origin->group_count);
    zt__write_extent(writer, "group size", origin->group_size);
    if (origin->appended_by) {
        zt__print(writer, ",\"appended by thread\":%u", (unsigned)origin->appended_by);
    }
    zt__write_text(writer, "}}");
    if (origin->submitted_by) {
        zt__begin_event(writer, "s", "submit", trace->program, origin->submitted_by);
        zt__write_event_time(writer, "ts", span->sample.submitted_ns);
        zt__print(writer, ",\"cat\":\"flow\",\"id\":%u}", (unsigned)index + 1);
        zt__begin_event(writer, "f", "submit", trace->device, track);
        zt__write_event_time(writer, "ts", span->sample.begin_ns);
        zt__print(writer, ",\"cat\":\"flow\",\"id\":%u,\"bp\":\"e\"}", (unsigned)index + 1);
    }
}

/* Writes what is not on the timeline, at the time when it was submitted. */
ZT__PRIVATE void zt__write_missing_events(zt__trace *trace) {
    uint64_t first_ns = UINT64_MAX;
    char name[256];
    uint32_t i;
    for (i = 0; i < trace->missing_count; i++) {
        const zt__missing *missing = &trace->missing[i];
        const zt__track *track = missing->list ? zt__find_track(trace, missing) : NULL;
        const char *cause = missing->cause == ZT_CAUSE_COUNT ? "the device's clock overflowed"
                                                             : zt_cause_name(missing->cause);
        snprintf(name, sizeof name, "%s: %.200s",
                 missing->cause == ZT_CAUSE_COUNT      ? "uncertain time"
                 : missing->cause < ZT_DROPPED_NO_SLOT ? "lost"
                                                       : "dropped",
                 missing->region ? missing->region->name : "a region");
        zt__begin_instant(trace, name, "missing", track ? track->number : 0, missing->since_ns);
        zt__write_json_text(trace->writer, "cause", cause);
        zt__write_json_count(trace->writer, "samples", missing->count);
        zt__write_text(trace->writer, "}}");
    }
    for (i = 0; i < trace->span_count; i++) {
        first_ns = trace->spans[i].sample.begin_ns < first_ns ? trace->spans[i].sample.begin_ns : first_ns;
    }
    if (trace->replaced && trace->span_count) {
        zt__begin_instant(trace, "earlier samples are not kept", "missing", 0, first_ns);
        zt__write_json_count(trace->writer, "samples", trace->replaced);
        zt__write_json_text(trace->writer, "remedy", "raise config.timeline");
        zt__write_text(trace->writer, "}}");
    }
}

/* ---- streams --------------------------------------------------------------------------------------------- */

/* A copy of the rows of a stream, with the chosen figures. */
typedef struct zt__traced_rows {
    zt__kept_row *rows;
    double *figures; /* of each row */
    uint64_t *last;  /* of each column, the bits of the value that was written last */
    uint32_t count;
    zt__trace_columns columns;
} zt__traced_rows;

/* Computes the means of all metrics over the kept rows. */
ZT__PRIVATE void zt__read_row_means(zt__stream_data *data, uint64_t first, uint64_t end, double *means,
                                    uint64_t *counts) {
    uint32_t metrics = data->group.metric_count, m;
    while (first < end) {
        uint64_t oldest, until = end - first > ZT__COPIED_AT_ONCE ? first + ZT__COPIED_AT_ONCE : end;
        zt__lock(&data->mutex);
        oldest = zt__oldest_kept(data->rows_written, data->row_capacity);
        for (first = first > oldest ? first : oldest; first < until; first++) {
            const double *values = data->row_values + (size_t)(first % data->row_capacity) * metrics;
            for (m = 0; m < metrics; m++) {
                if (zt__is_finite(values[m])) {
                    means[m] += values[m];
                    counts[m]++;
                }
            }
        }
        zt__unlock(&data->mutex);
    }
    for (m = 0; m < metrics; m++) {
        means[m] = counts[m] ? means[m] / (double)counts[m] : zt__nan();
    }
}

/* Copies the kept rows. */
ZT__PRIVATE void zt__copy_rows(zt__stream_data *data, uint64_t first, uint64_t end, zt__traced_rows *copy) {
    uint32_t metrics = data->group.metric_count;
    while (first < end) {
        uint64_t oldest, until = end - first > ZT__COPIED_AT_ONCE ? first + ZT__COPIED_AT_ONCE : end;
        zt__lock(&data->mutex);
        oldest = zt__oldest_kept(data->rows_written, data->row_capacity);
        for (first = first > oldest ? first : oldest; first < until; first++) {
            size_t place = (size_t)(first % data->row_capacity);
            const zt__kept_row *row = &data->rows[place];
            copy->rows[copy->count] = *row;
            zt__compute_columns(&copy->columns, data->row_values + place * metrics, metrics,
                                (double)(row->end_ns - row->begin_ns),
                                copy->figures + (size_t)copy->count * copy->columns.count);
            copy->count++;
        }
        zt__unlock(&data->mutex);
    }
}

/* Rounds the value of a counter by less than 0.025 %, more than which no track shows. Values that are rounded
   differently differ in the first ZT__COUNTER_DIGITS digits. Returns the bits, which tell NaN apart in any
   mode of a compiler. */
ZT__PRIVATE uint64_t zt__round_value(double *value) {
    const uint64_t half = UINT64_C(1) << 40; /* 11 of 52 bits stay */
    uint64_t bits;
    memcpy(&bits, value, sizeof bits);
    bits = (bits + half) & ~(half * 2 - 1);
    memcpy(value, &bits, sizeof bits);
    return bits;
}

/* Goes through the rows, and writes or, without a trace, counts the values that differ from the one before.
 */
ZT__PRIVATE uint32_t zt__write_changes(zt__trace *trace, zt__traced_rows *rows) {
    const uint64_t none = UINT64_MAX; /* no value is rounded to this */
    uint32_t columns = rows->columns.count, changes = 0, i, c;
    for (c = 0; c < columns; c++) {
        rows->last[c] = none;
    }
    for (i = 0; i <= rows->count; i++) {
        int is_end = i == rows->count; /* the last value lasts until the end of its row */
        const zt__kept_row *row = &rows->rows[is_end ? i - 1 : i];
        const double *figures = rows->figures + (size_t)(is_end ? i - 1 : i) * columns;
        for (c = 0; c < columns; c++) {
            double value = figures[c];
            uint64_t rounded = zt__round_value(&value);
            if (!zt__is_finite(figures[c]) || (rounded == rows->last[c] && !row->gap && !is_end)) {
                continue;
            }
            rows->last[c] = rounded;
            changes++;
            if (trace) {
                zt__begin_event(trace->writer, "C", rows->columns.columns[c].label.text, trace->device, 0);
                zt__write_event_time(trace->writer, "ts", is_end ? row->end_ns : row->begin_ns);
                zt__write_text(trace->writer, ",\"args\":{\"value\":");
                zt__write_digits(trace->writer, value, ZT__COUNTER_DIGITS);
                zt__write_text(trace->writer, "}}");
            }
        }
    }
    return changes;
}

/* Merges each two rows that follow each other, into one with the means over their time. */
ZT__PRIVATE void zt__merge_rows(zt__traced_rows *rows) {
    uint32_t columns = rows->columns.count, from, to = 0, c;
    for (from = 0; from < rows->count; from++, to++) {
        double *figures = rows->figures + (size_t)to * columns;
        zt__kept_row row = rows->rows[from];
        memmove(figures, rows->figures + (size_t)from * columns, columns * sizeof *figures);
        if (from + 1 < rows->count && !rows->rows[from + 1].gap) {
            const double *others = rows->figures + (size_t)++from * columns;
            double length = (double)(row.end_ns - row.begin_ns);
            double other_length = (double)(rows->rows[from].end_ns - rows->rows[from].begin_ns);
            double share = length + other_length > 0 ? other_length / (length + other_length) : 0;
            row.end_ns = rows->rows[from].end_ns;
            for (c = 0; c < columns; c++) {
                if (!zt__is_finite(figures[c])) {
                    figures[c] = others[c];
                } else if (zt__is_finite(others[c])) {
                    figures[c] += (others[c] - figures[c]) * share;
                }
            }
        }
        rows->rows[to] = row;
    }
    rows->count = to;
}

/* Writes a gap before a row, which it may follow or contain. */
ZT__PRIVATE void zt__write_gap(zt__trace *trace, const zt__kept_row *before, const zt__kept_row *row,
                               uint64_t period_ns, uint32_t track) {
    int is_contained = row->begin_ns <= before->end_ns;
    uint64_t begin_ns = is_contained ? row->begin_ns : before->end_ns;
    uint64_t end_ns = is_contained ? row->end_ns : row->begin_ns;
    uint64_t periods = (row->end_ns - before->end_ns + period_ns / 2) / period_ns;
    zt__begin_event(trace->writer, "X", "gap", trace->device, track);
    zt__write_event_time(trace->writer, "ts", begin_ns);
    zt__write_event_time(trace->writer, "dur", end_ns - begin_ns);
    zt__write_text(trace->writer, ",\"cat\":\"missing\",\"args\":{");
    if (periods > 1) {
        zt__write_json_count(trace->writer, "missing rows, about", periods - 1);
    }
    zt__write_text(trace->writer, "}}");
}

/* Writes markers as instants, and gaps as spans. */
ZT__PRIVATE void zt__write_markers_and_gaps(zt__trace *trace, const zt__traced_rows *rows, uint64_t period_ns,
                                            uint32_t track) {
    uint32_t i;
    for (i = 0; i < rows->count; i++) {
        const zt__kept_row *row = &rows->rows[i];
        if (row->gap && i > 0) {
            zt__write_gap(trace, row - 1, row, period_ns, track);
        } else if (row->gap) {
            zt__begin_instant(trace, "gap before this", "missing", track, row->begin_ns);
            zt__write_text(trace->writer, "}}");
        }
        if (row->marker) {
            zt__begin_instant(trace, row->marker, "marker", track, row->end_ns);
            zt__write_text(trace->writer, "}}");
        }
    }
}

/* Writes the counters of a stream. `most` is how many values they may have. */
ZT__PRIVATE void zt__write_counters(zt__trace *trace, zt__traced_rows *rows, uint32_t most, uint32_t track) {
    uint32_t before = rows->count;
    uint64_t merged = 1;
    while (zt__write_changes(NULL, rows) > most && rows->count > 1) {
        zt__merge_rows(rows);
        merged *= 2;
        if (rows->count == before) {
            break; /* there is a gap before each row */
        }
        before = rows->count;
    }
    if (merged > 1) {
        zt__begin_instant(trace, "values are means of several rows", "merged", track, rows->rows[0].begin_ns);
        zt__write_json_count(trace->writer, "rows", merged);
        zt__write_json_text(trace->writer, "remedy",
                            "choose fewer metrics with config.columns or ZT_COLUMNS");
        zt__write_text(trace->writer, "}}");
    }
    zt__write_changes(trace, rows);
}

/* Writes an attached stream: a track with its gaps and markers, and a counter for each chosen metric. Returns
   0 without memory. */
ZT__PRIVATE int zt__write_stream(zt__trace *trace, zt__stream_data *data, int several, uint32_t most,
                                 uint32_t track) {
    const zt_allocator *allocator = &trace->profiler->config.allocator;
    uint32_t metrics = data->group.metric_count;
    double *means = (double *)zt__allocate(allocator, metrics, sizeof *means);
    uint64_t *counts = (uint64_t *)zt__allocate(allocator, metrics, sizeof *counts), first, end;
    zt__mean_table table = {means, metrics, 1};
    int has_memory = means && counts;
    zt__traced_rows rows;
    char name[ZET_MAX_METRIC_GROUP_NAME + 16];
    memset(&rows, 0, sizeof rows);
    zt__get_kept_rows(data, &first, &end);
    if (has_memory) {
        zt__read_row_means(data, first, end, means, counts);
        has_memory = zt__choose_trace_columns(trace->profiler, data->metrics, metrics, &table, 1, several,
                                              &rows.columns);
    }
    if (has_memory) {
        size_t columns = (size_t)rows.columns.count + 1;
        rows.rows = (zt__kept_row *)zt__allocate(allocator, (size_t)(end - first) + 1, sizeof *rows.rows);
        rows.figures =
            (double *)zt__allocate(allocator, (size_t)(end - first) + 1, columns * sizeof *rows.figures);
        rows.last = (uint64_t *)zt__allocate(allocator, columns, sizeof *rows.last);
        has_memory = rows.rows && rows.figures && rows.last;
    }
    if (has_memory) {
        zt__copy_rows(data, first, end, &rows);
    }
    if (rows.count > 0) {
        snprintf(name, sizeof name, "stream %s", data->group.properties.name);
        zt__write_name(trace, "thread_name", trace->device, track, name);
        zt__write_place(trace, "thread_sort_index", trace->device, track, track);
        if (first > 0) {
            zt__begin_instant(trace, "earlier rows are not kept", "missing", track, rows.rows[0].begin_ns);
            zt__write_json_count(trace->writer, "rows", first);
            zt__write_json_text(trace->writer, "remedy", "raise zt_stream_config.timeline_rows");
            zt__write_text(trace->writer, "}}");
        }
        zt__write_markers_and_gaps(trace, &rows, data->period_ns, track);
        zt__write_counters(trace, &rows, most, track);
    }
    zt__free(allocator, means);
    zt__free(allocator, counts);
    zt__free(allocator, rows.rows);
    zt__free(allocator, rows.figures);
    zt__free(allocator, rows.last);
    zt__free(allocator, rows.columns.columns);
    return has_memory;
}

/* Writes all attached streams. Returns 0 without memory. */
ZT__PRIVATE int zt__write_streams(zt__trace *trace) {
    zt__stream_data *data = NULL;
    uint32_t count = 0, track = trace->track_count;
    int has_memory = 1;
    while ((data = zt__next_attached_stream(trace->profiler, data)) != NULL) {
        count++;
    }
    while (has_memory && (data = zt__next_attached_stream(trace->profiler, data)) != NULL) {
        has_memory =
            zt__write_stream(trace, data, count > 1, ZT__COUNTER_EVENTS / (count ? count : 1), ++track);
    }
    return has_memory;
}

/* ---- the trace ------------------------------------------------------------------------------------------- */

ZT__PRIVATE void zt__write_trace_head(zt__trace *trace) {
    const zt_profiler *profiler = trace->profiler;
    zt__writer *writer = trace->writer;
    zt_counts counts = zt_get_counts(profiler);
    zt__write_text(writer, "{\"displayTimeUnit\":\"ns\",\"otherData\":{");
    zt__write_json_text(writer, "zetools", ZETOOLS_VERSION);
    zt__write_json_text(writer, "clock", "CLOCK_MONOTONIC");
    zt__write_json_text(writer, "program", profiler->facts.program);
    zt__write_json_text(writer, "device", profiler->device_name);
    zt__write_json_count(writer, "begun", counts.begun);
    zt__write_json_count(writer, "collected", counts.collected);
    zt__write_json_count(writer, "lost", counts.lost);
    zt__write_json_count(writer, "dropped", counts.dropped);
    zt__write_json_count(writer, "in_flight", counts.in_flight);
    zt__write_text(writer, "},\n\"traceEvents\":[");
}

/* Returns 0 without memory. */
ZT__PRIVATE int zt__write_trace(zt_profiler *profiler, zt__writer *writer) {
    const zt_allocator *allocator = &profiler->config.allocator;
    zt__trace trace;
    int has_memory;
    uint32_t i;
    memset(&trace, 0, sizeof trace);
    trace.profiler = profiler;
    trace.writer = writer;
    trace.program = (long)getpid();
    trace.device = trace.program + (1 + (long)(profiler->id % ZT__MAX_PROFILERS)) * ZT__SYSTEM_NUMBERS;
    zt__relate_clocks(profiler, 1);
    has_memory = zt__choose_arguments(&trace) && zt__copy_spans(&trace) &&
                 zt__copy_missing_and_executions(&trace) && zt__make_tracks(&trace) &&
                 zt__make_slices(&trace);
    zt__write_trace_head(&trace);
    if (has_memory) {
        zt__write_program_name(&trace);
        zt__write_slices(&trace);
        zt__write_name(&trace, "process_name", trace.device, 0, profiler->device_name);
        zt__write_place(&trace, "process_sort_index", trace.device, 0, 1);
        zt__write_track_names(&trace);
        for (i = 0; i < trace.span_count; i++) {
            zt__write_span(&trace, i);
        }
        zt__write_missing_events(&trace);
        has_memory = zt__write_streams(&trace);
    }
    zt__write_text(writer, "\n]}\n");
    zt__free(allocator, trace.columns.columns);
    zt__free(allocator, trace.spans);
    zt__free(allocator, trace.figures);
    zt__free(allocator, trace.missing);
    zt__free(allocator, trace.executions);
    zt__free(allocator, trace.tracks);
    zt__free(allocator, trace.slices);
    return has_memory;
}

/* ==== >>page: the page that run.html is =================================================================== */

/* tests/page/page.html, a line each: change that file, and copy it here with tests/page/embed.py zetools.h.
   Nothing is loaded from elsewhere. The document of ZT_FORMAT_JSON replaces the line @DATA@. */
/* clang-format off */
static const char *const zt__page[] = {
    "<!DOCTYPE html>",
    "<html lang=\"en\">",
    "<head>",
    "<meta charset=\"utf-8\">",
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">",
    "<meta name=\"color-scheme\" content=\"light dark\">",
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline';",
    " img-src data:; base-uri 'none'; form-action 'none'\">",
    "<link rel=\"icon\" href=\"data:,\">",
    "<title>GPU profile</title>",
    "<style>",
    ":root {",
    "    --page: #ffffff; --raised: #f4f6f8; --text: #1b1f24; --muted: #57606a; --line: #d5dae0; --link: #0b57a4;",
    "    --bar: #3f76b5; --nested: #a9c4e2; --track: #e9edf1; --warn: #a04c00; --warn-page: #fff6ea;",
    "    --mono: ui-monospace, \"SF Mono\", Menlo, Consolas, \"DejaVu Sans Mono\", monospace;",
    "    --sans: system-ui, \"Segoe UI\", \"Helvetica Neue\", Arial, sans-serif;",
    "}",
    "@media screen and (prefers-color-scheme: dark) {",
    "    :root {",
    "        --page: #14171a; --raised: #1d2226; --text: #e2e6ea; --muted: #9da7b1; --line: #30363d; --link: #7db4f0;",
    "        --bar: #5b94d6; --nested: #2f4d70; --track: #262c32; --warn: #e5a54b; --warn-page: #2a2217;",
    "    }",
    "}",
    "* { box-sizing: border-box; }",
    "[hidden] { display: none !important; }",
    "html { scroll-padding-top: 3rem; }",
    "/* The table may be wider than the window. All else (.fixed) keeps to the window while the table is scrolled. */",
    "body { margin: 0; padding: 0.9rem 1rem 2rem; width: max-content; min-width: 100%; background: var(--page); color: var(--text); font: 13px/1.45 var(--sans); }",
    ".fixed { position: sticky; left: 1rem; width: calc(100vw - 3rem); max-width: 1500px; }",
    "h1 { font: 600 17px/1.4 var(--mono); margin: 0 0 0.2rem; overflow-wrap: anywhere; }",
    "h2 { font-size: 14px; margin: 1.6rem 0 0.4rem; }",
    "h3 { font: 600 12px/1.4 var(--mono); margin: 0 0 0.3rem; overflow-wrap: anywhere; }",
    "p { margin: 0.2rem 0 0.5rem; max-width: 75rem; overflow-wrap: anywhere; }",
    "a { color: var(--link); }",
    "nav a { margin-right: 1rem; }",
    ".name { white-space: nowrap; }",
    ".name, .code { font: 400 12px/18px var(--mono); }",
    ".muted { color: var(--muted); }",
    ":focus-visible { outline: 2px solid var(--link); outline-offset: 1px; }",
    "dl { display: flex; flex-wrap: wrap; gap: 0 1.4rem; margin: 0 0 0.4rem; }",
    "dl div { display: flex; gap: 0.4rem; }",
    "dt { color: var(--muted); white-space: nowrap; }",
    "dd { margin: 0; overflow-wrap: anywhere; }",
    "#notes { border-left: 4px solid var(--warn); background: var(--warn-page); padding: 0.4rem 0.8rem; margin: 0.6rem 0; }",
    "#notes h2 { margin: 0; color: var(--warn); font-size: 13px; }",
    "#notes ul { margin: 0.1rem 0; padding-left: 1.1rem; overflow-wrap: anywhere; }",
    ".tools { display: flex; flex-wrap: wrap; align-items: center; gap: 0.3rem 1.2rem; margin: 0.8rem 0 0.4rem; }",
    "input { accent-color: var(--bar); vertical-align: -2px; }",
    "input[type=search], .more button { font: inherit; color: inherit; background: var(--page); border: 1px solid var(--muted); border-radius: 3px; padding: 0.15rem 0.4rem; }",
    "input[type=search] { width: 16rem; max-width: 60vw; vertical-align: baseline; }",
    "input::placeholder { color: var(--muted); opacity: 1; }",
    "summary { cursor: pointer; }",
    "#choice[open] { flex-basis: 100%; }",
    "#choice > div { display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); gap: 0 1rem; padding: 0.4rem 0.8rem;",
    "    max-height: 50vh; overflow: auto; background: var(--raised); border: 1px solid var(--line); }",
    "#choice label { overflow-wrap: anywhere; }",
    "table { border-collapse: separate; border-spacing: 0; }",
    "th, td { padding: 2px 0.5rem; line-height: 18px; text-align: left; vertical-align: baseline; border-bottom: 1px solid var(--line); }",
    "thead th { vertical-align: bottom; font-weight: 600; border-bottom-color: var(--muted); background: var(--page); }",
    "thead th, thead button { line-height: 16px; }",
    ".number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }",
    ".unit { color: var(--muted); font-weight: 400; white-space: nowrap; }",
    "#regions button { font: inherit; color: inherit; background: none; border: 0; padding: 0; text-align: inherit; white-space: nowrap; cursor: pointer; }",
    "#regions > thead th { position: sticky; top: 0; z-index: 2; }",
    "#regions > thead .metric { font-size: 11px; }",
    "#regions > thead .metric button { max-width: 11rem; overflow: hidden; text-overflow: ellipsis; }",
    "#regions > thead > tr::after, #regions > tbody > tr[data-region]::after { content: \"\"; display: table-cell; border-bottom: 1px solid var(--line); }",
    "#regions > thead > tr::after { position: sticky; top: 0; background: var(--page); border-bottom-color: var(--muted); }",
    "#regions { min-width: calc(100vw - 3rem); }",
    "#regions > thead th { width: 1px; }",
    "#regions .pinned { position: sticky; left: 0; z-index: 1; background: var(--page); }",
    "#regions > thead .pinned { z-index: 3; }",
    "#regions > thead th[aria-sort]::after { content: \"\\2193\"; position: absolute; right: 0; bottom: 2px; color: var(--link); font-size: 11px; line-height: 1; }",
    "#regions > thead th[aria-sort]:not(.number)::after { position: static; margin-left: 0.2rem; }",
    "#regions > thead th[aria-sort=ascending]::after { content: \"\\2191\"; }",
    "#regions > tbody > tr[data-region] { cursor: pointer; }",
    "#regions > tbody > tr[data-region]:hover > * { background: var(--raised); }",
    ".name button { unicode-bidi: isolate; }",
    ".name button::before { content: \"\\25b8\"; color: var(--muted); display: inline-block; width: 1rem; }",
    ".name button[aria-expanded=true]::before { content: \"\\25be\"; }",
    "tr.context > * { color: var(--muted); }",
    ".share { white-space: nowrap; }",
    ".share .number { display: inline-block; width: 2.9rem; }",
    ".bar { display: inline-flex; width: 60px; height: 9px; margin-left: 0.5rem; background: var(--track); }",
    ".bar i { background: var(--bar); }",
    ".bar i + i { background: var(--nested); }",
    ".limit { white-space: nowrap; }",
    ".mark { color: var(--warn); }",
    "tr.details > td { padding: 0.6rem 0 1rem; background: var(--raised); }",
    ".detail { position: sticky; left: 1rem; width: calc(100vw - 3rem); max-width: 1200px; padding: 0 1rem; }",
    ".scroll { overflow-x: auto; }",
    ".detail thead th { background: none; }",
    ".detail td { white-space: nowrap; }",
    ".detail details:not([open]) p { display: none; }",
    ".detail .pair { display: flex; flex-wrap: wrap; gap: 0.4rem 2rem; }",
    ".detail .pair > div { flex: 1 1 24rem; }",
    ".detail details p { white-space: normal; margin: 0 0 0.3rem 1rem; font: 13px/1.4 var(--sans); max-width: 28rem; }",
    ".description { min-width: 16rem; max-width: 44rem; }",
    "svg { display: block; max-width: 100%; height: auto; overflow: visible; }",
    "svg text { font: 11px var(--sans); fill: var(--text); font-variant-numeric: tabular-nums; }",
    "svg text.muted { fill: var(--muted); }",
    ".axis { stroke: var(--muted); fill: none; }",
    ".grid { stroke: var(--line); }",
    ".column, .point { fill: var(--bar); }",
    ".point { fill-opacity: 0.55; stroke: var(--bar); cursor: pointer; }",
    ".point-name { paint-order: stroke; stroke: var(--page); stroke-width: 3px; stroke-linejoin: round; }",
    ".roof { stroke: var(--text); stroke-width: 1.5; fill: none; }",
    ".marker { stroke: var(--warn); stroke-dasharray: 3 2; }",
    ".strip { display: grid; grid-template-columns: fit-content(40%) minmax(0, 1fr) max-content; gap: 3px 0.8rem; align-items: center; }",
    ".strip svg { width: 100%; height: 16px; background: var(--track); }",
    ".strip path { fill: var(--bar); }",
    ".strip path.lost { fill: var(--warn); }",
    ".strip .name { overflow: hidden; text-overflow: ellipsis; }",
    ".times { display: flex; justify-content: space-between; font-variant-numeric: tabular-nums; color: var(--muted); }",
    "@media print {",
    "    @page { size: landscape; margin: 10mm; }",
    "    body { font-size: 9px; padding: 0; width: auto; }",
    "    .name, .code, h3, #regions > thead .metric { font-size: 8px; }",
    "    .tools label, .tools details, .more button, nav, .screen { display: none; }",
    "    .fixed, .detail, #regions > thead th, #regions .pinned { position: static; width: auto; background: none; }",
    "    th, td, .name, thead th, thead button { line-height: 12px; }",
    "    th, td { padding: 1px 0.35rem; }",
    "    tr[data-region], .detail tr, svg, .strip, #notes { break-inside: avoid; }",
    "    h2, h3, section > p { break-after: avoid; }",
    "    .bar, .bar i, .strip svg, #notes { print-color-adjust: exact; -webkit-print-color-adjust: exact; }",
    "    .bar { width: 40px; }",
    "    #regions button { display: contents; } /* buttons are not painted where the heading is repeated */",
    "    #regions .name button::before { content: none; }",
    "    svg text { font-size: 10px; }",
    "}",
    "</style>",
    "</head>",
    "<body>",
    "<header class=\"fixed\">",
    "<h1 id=\"program\">GPU profile</h1>",
    "<dl id=\"facts\"></dl>",
    "<p id=\"summary\"></p>",
    "<section id=\"notes\" aria-labelledby=\"notes-heading\" hidden><h2 id=\"notes-heading\">Not everything was measured</h2><ul></ul></section>",
    "<nav aria-label=\"Parts of this page\"></nav>",
    "</header>",
    "<noscript><p>This page draws its data with JavaScript, which is switched off. The data is in the source of the page, as JSON.</p></noscript>",
    "<main>",
    "<div class=\"tools fixed\">",
    "<label>Filter <input id=\"filter\" type=\"search\" autocomplete=\"off\" spellcheck=\"false\" placeholder=\"part of a name, !not this\"></label>",
    "<label id=\"nesting\" hidden><input id=\"nested\" type=\"checkbox\" checked> Nested</label>",
    "<span id=\"shown\" role=\"status\"></span>",
    "<span class=\"muted screen\">Keys: / filters, &uarr; &darr; move, Enter opens</span>",
    "<details id=\"choice\"><summary>Columns</summary><div></div></details>",
    "</div>",
    "<table id=\"regions\"><thead><tr></tr></thead><tbody></tbody></table>",
    "<p class=\"more fixed\" id=\"more\" hidden><span></span> <button type=\"button\">Show 500 more</button></p>",
    "<p class=\"muted fixed\" id=\"legend\"></p>",
    "<section class=\"fixed\" id=\"roofline\" hidden><h2>Roofline</h2></section>",
    "<section class=\"fixed\" id=\"timeline\" hidden><h2>Timeline</h2></section>",
    "<section class=\"fixed\" id=\"calls\" hidden><h2>Calls of the host</h2></section>",
    "<section class=\"fixed\" id=\"metrics\" hidden><h2>Metrics</h2></section>",
    "</main>",
    "<script type=\"application/json\" id=\"data\">",
    "@DATA@",
    "</script>",
    "<script>",
    "\"use strict\";",
    "/* Data reaches the page through textContent and setAttribute alone, never as HTML: names of regions may be any text. */",
    "",
    "const MISSING = \"\\u2013\";",
    "const FIRST_ROWS = 100, MORE_ROWS = 500, ROOFLINE_POINTS = 150, TIMELINE_ROWS = 8; /* so that 5,000 regions are as fast as 10 */",
    "",
    "const byId = (id) => document.getElementById(id);",
    "",
    "function add(parent, tag, className, text) {",
    "    const node = document.createElement(tag);",
    "    if (className) { node.className = className; }",
    "    if (text !== undefined) { node.textContent = text; }",
    "    parent.appendChild(node);",
    "    return node;",
    "}",
    "",
    "function addSvg(parent, tag, attributes, text) {",
    "    const node = document.createElementNS(\"http://www.w3.org/2000/svg\", tag);",
    "    for (const name in attributes) { node.setAttribute(name, attributes[name]); }",
    "    if (text !== undefined) { node.textContent = text; }",
    "    parent.appendChild(node);",
    "    return node;",
    "}",
    "",
    "/* ---- numbers and units ---- */",
    "",
    "const isNumber = (value) => typeof value === \"number\" && isFinite(value);",
    "",
    "const PREFIXES = [[1, \"\"], [1e3, \"k\"], [1e6, \"M\"], [1e9, \"G\"], [1e12, \"T\"], [1e15, \"P\"]];",
    "const TIMES = [[1, \"ns\"], [1e3, \"\\u00b5s\"], [1e6, \"ms\"], [1e9, \"s\"]];",
    "const SYMBOLS = new Map([[\"bytes\", \"B\"], [\"B/s\", \"B/s\"], [\"op/s\", \"op/s\"], [\"Hz\", \"Hz\"]]); /* which prefixes precede */",
    "const FIXED = new Map([[\"percent\", \"%\"], [\"GBpS\", \"GB/s\"], [\"MHz\", \"MHz\"]]);",
    "",
    "/* Returns the units that values in the units of a metric may be written in, from small to large: [size, unit]. */",
    "function stepsOf(units) {",
    "    if (FIXED.has(units)) { return [[1, FIXED.get(units)]]; }",
    "    const symbol = SYMBOLS.get(units);",
    "    return units === \"ns\" ? TIMES : PREFIXES.map(([size, prefix]) => [size, symbol ? prefix + symbol : (prefix + \" \" + units).trim()]);",
    "}",
    "",
    "const formatter = (decimals) => new Intl.NumberFormat(\"en-US\", {minimumFractionDigits: decimals, maximumFractionDigits: decimals});",
    "",
    "const COUNT = formatter(0), SHARES = {size: 1, smallest: 0.1, format: formatter(1)};",
    "",
    "/* Chooses one unit and one number of decimals for all values of a column. */",
    "function scaleFor(units, values) {",
    "    let largest = 0, areWhole = true;",
    "    for (const value of values) {",
    "        if (isNumber(value)) {",
    "            largest = Math.max(largest, Math.abs(value));",
    "            areWhole = areWhole && Number.isInteger(value);",
    "        }",
    "    }",
    "    const steps = stepsOf(units);",
    "    const step = steps.find(([size]) => largest / size < 10000) || steps[steps.length - 1];",
    "    const top = largest / step[0];",
    "    let decimals = top >= 1000 ? 1 : top >= 100 ? 2 : 3;",
    "    if (units === \"percent\") { decimals = 1; }",
    "    if (areWhole && step[0] === 1) { decimals = 0; }",
    "    return {size: step[0], unit: step[1], smallest: Math.pow(10, -decimals), format: formatter(decimals)};",
    "}",
    "",
    "function scaled(value, scale) {",
    "    if (!isNumber(value)) { return MISSING; }",
    "    const size = Math.abs(value / scale.size);",
    "    if (size > 0 && size < scale.smallest / 2) { return \"<\" + scale.format.format(scale.smallest); }",
    "    return scale.format.format(value / scale.size);",
    "}",
    "",
    "/* Returns a value with a unit of its own, for sentences and axes. */",
    "function quantity(value, units) {",
    "    if (!isNumber(value)) { return MISSING; }",
    "    let [size, unit] = stepsOf(units)[0];",
    "    for (const step of stepsOf(units)) {",
    "        if (Math.abs(value) >= step[0]) { [size, unit] = step; }",
    "    }",
    "    const digits = Math.abs(value / size) >= 1000 ? COUNT.format(value / size) : String(Number((value / size).toPrecision(3)));",
    "    return unit ? digits + \"\\u00a0\" + unit : digits;",
    "}",
    "",
    "const percent = (share) => isNumber(share) ? scaled(100 * share, SHARES) + \"\\u00a0%\" : MISSING;",
    "const capital = (text) => text[0].toUpperCase() + text.slice(1);",
    "const plural = (count, word) => COUNT.format(count) + \" \" + word + (count === 1 ? \"\" : \"s\");",
    "",
    "/* ---- the document ---- */",
    "",
    "const doc = readDocument();",
    "const metrics = doc.metrics || {};",
    "const regions = doc.regions || [];",
    "const calls = doc.calls || [];",
    "",
    "function readDocument() {",
    "    try {",
    "        return JSON.parse(byId(\"data\").textContent);",
    "    } catch (error) {",
    "        byId(\"summary\").textContent = \"The data of this page cannot be read: \" + error.message + \". Write the report again.\";",
    "        throw error;",
    "    }",
    "}",
    "",
    "const ownProperty = (object, name) => object && Object.hasOwn(object, name) ? object[name] : undefined;",
    "",
    "const STATS = [\"count\", \"sum\", \"mean\", \"stddev\", \"min\", \"max\", \"median\", \"p95\"];",
    "",
    "/* Returns one of STATS of a metric in a region. The document holds them as an object, or as an array in this order. */",
    "function figureOf(region, name, figure) {",
    "    const stats = ownProperty(region.metrics, name);",
    "    return Array.isArray(stats) ? stats[STATS.indexOf(figure)] : ownProperty(stats, figure);",
    "}",
    "",
    "/* Returns the names of the metrics of the columns, then of those that have means, then of the others. */",
    "function orderMetrics() {",
    "    const chosen = (doc.columns || []).filter((name) => ownProperty(metrics, name)), isChosen = new Set(chosen);",
    "    const others = Object.keys(metrics).filter((name) => !isChosen.has(name));",
    "    const hasMean = (name) => metrics[name].aggregation === \"sum\" || metrics[name].aggregation === \"mean\";",
    "    return [...isChosen, ...others.filter(hasMean), ...others.filter((name) => !hasMean(name))];",
    "}",
    "",
    "const metricNames = orderMetrics();",
    "",
    "/* Returns which figure of a metric the table shows: of flags, it is in how many samples they were set. */",
    "const shownFigure = (metric) => metric.aggregation === \"flag\" ? \"sum\" : metric.aggregation === \"none\" ? \"max\" : \"mean\";",
    "",
    "/* Links regions to their parents. A chain of parents that ends nowhere is cut. */",
    "function linkRegions() {",
    "    regions.forEach((region, index) => {",
    "        region.index = index;",
    "        region.time_ns = region.time_ns || {};",
    "        region.limit = region.limit || {};",
    "        region.limit.what = region.limit.what === \"unknown\" ? \"\" : region.limit.what;",
    "        region.notes = notesOf(region);",
    "        region.children = [];",
    "        region.shareWithChildren = 0;",
    "    });",
    "    for (const region of regions) {",
    "        let above = regions[region.parent], steps = 0;",
    "        while (above && steps++ < regions.length) { above = regions[above.parent]; }",
    "        region.above = above ? null : regions[region.parent] || null;",
    "        if (region.above) { region.above.children.push(region); }",
    "    }",
    "    for (const region of regions) {",
    "        for (let above = region; above; above = above.above) { above.shareWithChildren += isNumber(region.share) ? region.share : 0; }",
    "    }",
    "}",
    "",
    "/* Describes in sentences what the figures of a region leave open. */",
    "function notesOf(region) {",
    "    const notes = [...(region.notes || [])];",
    "    if (region.differs && region.differs !== \"no\") {",
    "        const ways = {missing: \"it is missing in some\", count: \"its samples are not equally many\", time: \"its GPU time differs\"};",
    "        notes.push(\"The passes differ: \" + region.differs.split(\"+\").map((way) => ways[way] || way).join(\", \") +",
    "            \". Do not compare metrics of different passes.\");",
    "    }",
    "    return notes;",
    "}",
    "",
    "/* Without own times in the document, regions may be inside others: then a bar is a region's GPU time over that of all, which",
    "   orders the rows, and no share or sum is shown. */",
    "const hasOwnTimes = regions.some((region) => region.own_ns !== undefined);",
    "",
    "function addShares() {",
    "    const total = regions.reduce((sum, region) => sum + ((region.time_ns || {}).sum || 0), 0);",
    "    for (const region of regions) {",
    "        region.own_ns = (region.time_ns || {}).sum;",
    "        region.share = total > 0 && isNumber(region.own_ns) ? region.own_ns / total : null;",
    "    }",
    "}",
    "",
    "if (!hasOwnTimes) { addShares(); }",
    "linkRegions();",
    "const hasNesting = regions.some((region) => region.above);",
    "const hasLosses = regions.some((region) => region.lost || region.dropped);",
    "",
    "/* ---- heading ---- */",
    "",
    "const readable = (date) => String(date || \"\").replace(\"T\", \" \").replace(\"Z\", \" UTC\");",
    "",
    "function showHeading() {",
    "    const device = doc.device || {}, counts = doc.counts || {};",
    "    const [, availability, explanation] = String(doc.availability || \"\").match(/^(\\[\\w+\\])? ?(.*)/);",
    "    const groups = [...new Set(Object.values(metrics).map((metric) => metric.group).filter(Boolean))];",
    "    const facts = [",
    "        [\"Device\", device.name], [\"Driver\", device.driver_version], [\"PCI\", device.pci], [\"UUID\", device.uuid],",
    "        [\"Core clock\", isNumber(device.core_clock_mhz) ? COUNT.format(device.core_clock_mhz) + \" MHz\" : \"\"],",
    "        [\"Timer\", isNumber(device.timer_hz) ? quantity(device.timer_hz, \"Hz\") : \"\"],",
    "        [\"Date\", readable(doc.date)], [\"Measured from\", readable(doc.opened)],",
    "        [\"zetools\", doc.zetools], [\"Metrics\", availability === \"[AVAILABLE]\" ? groups.join(\", \") : explanation],",
    "    ];",
    "    document.title = (doc.program || \"Program\") + \": GPU profile\";",
    "    byId(\"program\").textContent = doc.program || \"GPU profile\";",
    "    for (const [term, fact] of facts) {",
    "        if (fact) {",
    "            const pair = add(byId(\"facts\"), \"div\");",
    "            add(pair, \"dt\", \"\", term);",
    "            add(pair, \"dd\", \"\", fact);",
    "        }",
    "    }",
    "    showSummary(counts);",
    "    showNotes();",
    "    if (regions.length) { addLink(\"regions\", \"Regions\"); }",
    "}",
    "",
    "/* Answers in a sentence each: where the time goes, and what limits it there. */",
    "function showSummary(counts) {",
    "    const summary = byId(\"summary\");",
    "    if (regions.length === 0) {",
    "        summary.textContent = \"No region was measured.\";",
    "        return;",
    "    }",
    "    if (hasOwnTimes) {",
    "        const own = regions.reduce((sum, region) => sum + (region.own_ns || 0), 0);",
    "        add(summary, \"strong\", \"\", quantity(own, \"ns\") + \" of GPU time\");",
    "        summary.append(\" in \");",
    "    }",
    "    summary.append(plural(regions.length, \"region\") + \", \" + plural(counts.collected || 0, \"sample\") + \". \");",
    "    if (!hasOwnTimes) { return; }",
    "    const shares = new Map();",
    "    for (const region of regions) {",
    "        if (region.limit.what && isNumber(region.share)) {",
    "            shares.set(region.limit.what, (shares.get(region.limit.what) || 0) + region.share);",
    "        }",
    "    }",
    "    const largest = [...shares].sort((a, b) => b[1] - a[1]).slice(0, 5);",
    "    if (largest.length) {",
    "        summary.append(\"What limits it: \" + largest.map(([what, share]) => what + \"\\u00a0\" + percent(share)).join(\", \") + \".\");",
    "    }",
    "}",
    "",
    "function showNotes() {",
    "    const list = byId(\"notes\").querySelector(\"ul\");",
    "    for (const note of doc.notes || []) { add(list, \"li\", \"\", note); }",
    "    byId(\"notes\").hidden = list.childElementCount === 0;",
    "}",
    "",
    "/* Shows a part of the page, with a link to it at the top. */",
    "function addLink(id, text) {",
    "    byId(id).hidden = false;",
    "    const link = add(byId(\"notes\").parentElement.querySelector(\"nav\"), \"a\", \"\", text);",
    "    link.href = \"#\" + id;",
    "}",
    "",
    "/* ---- columns of the table of regions ---- */",
    "",
    "function timeColumn(label, figure, description, isHidden) {",
    "    return {label, units: \"ns\", scaleGroup: \"sample\", isHidden, description, value: (region) => region.time_ns[figure]};",
    "}",
    "",
    "function metricColumn(name, isHidden) {",
    "    const metric = metrics[name];",
    "    return {label: metric.label || name, units: metric.units || \"\", metric: name, isHidden,",
    "        description: name + \": \" + (metric.description || \"\"), value: (region) => figureOf(region, name, shownFigure(metric))};",
    "}",
    "",
    "/* A column: `value` returns a number in `units`, or a text where `isText`. Columns of a `scaleGroup` are written in one unit. */",
    "function makeColumns() {",
    "    const isChosen = new Set(doc.columns || []);",
    "    return [",
    "        {label: hasOwnTimes ? \"Share\" : \"GPU time\", kind: \"share\", value: (region) => region.share,",
    "            description: hasOwnTimes ? \"Own time as a share of all GPU time\" : \"Total GPU time, nested regions included\"},",
    "        {label: \"Region\", kind: \"name\", isText: true, value: (region) => region.name},",
    "        {label: \"Count\", units: \"\", value: (region) => region.count, description: \"Collected samples\"},",
    "        {label: \"Lost\", kind: \"lost\", units: \"\", isHidden: !hasLosses, value: (region) => (region.lost || 0) + (region.dropped || 0),",
    "            description: \"Samples lost or dropped: their data is missing or invalid, or they were not measured\"},",
    "        {label: \"Total\", units: \"ns\", scaleGroup: \"all\", value: (region) => region.time_ns.sum,",
    "            description: \"GPU time of all samples, nested regions included\"},",
    "        {label: \"Own\", units: \"ns\", scaleGroup: \"all\", isHidden: !hasNesting, value: (region) => region.own_ns,",
    "            description: \"GPU time outside of nested regions\"},",
    "        timeColumn(\"Mean\", \"mean\", \"Mean GPU time of a sample\"),",
    "        timeColumn(\"Median\", \"median\", \"Half of the samples take less\"),",
    "        timeColumn(\"p95\", \"p95\", \"95 % of the samples take less\"),",
    "        timeColumn(\"Min\", \"min\", \"The shortest sample\", true),",
    "        timeColumn(\"Max\", \"max\", \"The longest sample\", true),",
    "        timeColumn(\"Std dev\", \"stddev\", \"Standard deviation of the samples\", true),",
    "        {label: \"What limits it\", kind: \"limit\", isText: true, value: (region) => region.limit.what || \"\"},",
    "        ...metricNames.map((name) => metricColumn(name, !isChosen.has(name))),",
    "    ];",
    "}",
    "",
    "function scaleOfColumn(column) {",
    "    const group = columns.filter((one) => one === column || (column.scaleGroup && one.scaleGroup === column.scaleGroup));",
    "    return scaleFor(column.units, group.flatMap((one) => regions.map(one.value)));",
    "}",
    "",
    "const shownColumns = () => columns.filter((column) => !column.isHidden);",
    "",
    "const columns = makeColumns();",
    "const view = {sortBy: columns[0], isAscending: false, rowLimit: FIRST_ROWS, opened: new Set(), rows: [], fullBar: 1};",
    "",
    "/* Writes a heading on at most two lines: a long name breaks at the underscore nearest to its middle. */",
    "function fillHeading(node, label, unit) {",
    "    const breaks = [...label.matchAll(/_/g)].map((match) => match.index + 1);",
    "    const at = breaks.sort((a, b) => Math.abs(a - label.length / 2) - Math.abs(b - label.length / 2))[0];",
    "    if (label.length > 12 && at) {",
    "        node.append(label.slice(0, at));",
    "        add(node, \"br\");",
    "        label = label.slice(at);",
    "    }",
    "    node.append(label);",
    "    if (unit) { add(node, \"span\", \"unit\", \" \" + unit); }",
    "}",
    "",
    "function showHeadings() {",
    "    const row = byId(\"regions\").tHead.rows[0];",
    "    row.replaceChildren();",
    "    for (const column of shownColumns()) {",
    "        const isLeft = column.isText || column.kind === \"share\", kind = column.kind === \"name\" ? \"pinned\" : column.metric ? \"metric\" : \"\";",
    "        const cell = add(row, \"th\", (isLeft ? \"\" : \"number \") + kind), button = add(cell, \"button\");",
    "        cell.scope = \"col\";",
    "        button.type = \"button\";",
    "        button.title = column.description || \"\";",
    "        if (column.units !== undefined) { column.scale = column.scale || scaleOfColumn(column); }",
    "        fillHeading(button, column.label, column.scale ? column.scale.unit : column.kind === \"share\" && hasOwnTimes ? \"%\" : \"\");",
    "        button.addEventListener(\"click\", () => {",
    "            view.isAscending = view.sortBy === column ? !view.isAscending : Boolean(column.isText);",
    "            view.sortBy = column;",
    "            showRows();",
    "        });",
    "        column.heading = cell;",
    "    }",
    "}",
    "",
    "/* ---- rows of the table of regions ---- */",
    "",
    "const collator = new Intl.Collator(\"en\", {numeric: true});",
    "",
    "/* What is missing comes last in either order. */",
    "function compare(a, b) {",
    "    const column = view.sortBy, direction = view.isAscending ? 1 : -1;",
    "    const isTree = column.kind === \"share\" && isNested();",
    "    const left = isTree ? a.shareWithChildren : column.value(a), right = isTree ? b.shareWithChildren : column.value(b);",
    "    if (column.isText) { return (left === \"\") - (right === \"\") || direction * collator.compare(left, right) || a.index - b.index; }",
    "    return !isNumber(left) - !isNumber(right) || (isNumber(left) ? direction * (left - right) : 0) || a.index - b.index;",
    "}",
    "",
    "const isNested = () => hasNesting && byId(\"nested\").checked;",
    "",
    "/* Returns which regions pass the filter: each word is part of the name; none that follows a ! is. */",
    "function filterRegions() {",
    "    const words = byId(\"filter\").value.toLowerCase().split(/\\s+/).filter((word) => word && word !== \"!\");",
    "    return regions.filter((region) => {",
    "        const name = String(region.name).toLowerCase();",
    "        return words.every((word) => word[0] === \"!\" ? !name.includes(word.slice(1)) : name.includes(word));",
    "    });",
    "}",
    "",
    "/* Returns the rows in order: {region, depth, isContext}. Context rows are parents of regions that pass the filter. */",
    "function orderRows(matching) {",
    "    if (!isNested()) {",
    "        return matching.sort(compare).map((region) => ({region, depth: 0}));",
    "    }",
    "    const matches = new Set(matching), kept = new Set(), rows = [];",
    "    for (const region of matching) {",
    "        for (let above = region; above && !kept.has(above); above = above.above) { kept.add(above); }",
    "    }",
    "    const pending = [];",
    "    const push = (siblings, depth) => {",
    "        const sorted = siblings.filter((region) => kept.has(region)).sort(compare);",
    "        sorted.reverse().forEach((region) => pending.push({region, depth, isContext: !matches.has(region)}));",
    "    };",
    "    push(regions.filter((region) => !region.above), 0);",
    "    while (pending.length) {",
    "        const row = pending.pop();",
    "        rows.push(row);",
    "        push(row.region.children, row.depth + 1);",
    "    }",
    "    return rows;",
    "}",
    "",
    "const nameLength = () => window.innerWidth < 900 ? 30 : 56;",
    "",
    "/* Shortens a long name: first by the arguments of a C++ signature, which say least, then in its middle, because names differ at both ends. */",
    "function shortName(name, most) {",
    "    const whole = Array.from(String(name).trim() || \"(no name)\");",
    "    if (whole.length <= most) { return whole.join(\"\"); }",
    "    const letters = Array.from(whole.join(\"\").replace(/^void /, \"\").replace(/\\([^()]+\\)$/, \"(\\u2026)\"));",
    "    const head = Math.floor(most * 0.6), tail = letters.length - (most - head - 1);",
    "    return letters.length <= most ? letters.join(\"\") : letters.slice(0, head).join(\"\") + \"\\u2026\" + letters.slice(tail).join(\"\");",
    "}",
    "",
    "function addShare(row, region) {",
    "    const cell = add(row, \"td\", \"share\");",
    "    if (hasOwnTimes) { add(cell, \"span\", \"number\", isNumber(region.share) ? scaled(100 * region.share, SHARES) : MISSING); }",
    "    const bar = add(cell, \"span\", \"bar\");",
    "    const own = region.share || 0;",
    "    add(bar, \"i\").style.width = 100 * own / view.fullBar + \"%\";",
    "    if (isNested()) { add(bar, \"i\").style.width = 100 * (region.shareWithChildren - own) / view.fullBar + \"%\"; }",
    "}",
    "",
    "function addName(row, region, depth) {",
    "    const cell = add(row, \"th\", \"name pinned\");",
    "    const button = add(cell, \"button\", \"\", shortName(region.name, nameLength()));",
    "    cell.scope = \"row\";",
    "    cell.style.paddingLeft = 0.55 + 1.1 * Math.min(depth, 12) + \"rem\";",
    "    button.type = \"button\";",
    "    button.title = region.name;",
    "    button.tabIndex = -1;",
    "    button.setAttribute(\"aria-expanded\", view.opened.has(region));",
    "    if (region.notes.length) { add(cell, \"span\", \"mark\", \" !\").title = region.notes.join(\" \"); }",
    "}",
    "",
    "function addRow(body, {region, depth, isContext}) {",
    "    const row = add(body, \"tr\", isContext ? \"context\" : \"\");",
    "    row.dataset.region = region.index;",
    "    for (const column of shownColumns()) {",
    "        if (column.kind === \"share\") {",
    "            addShare(row, region);",
    "        } else if (column.kind === \"name\") {",
    "            addName(row, region, depth);",
    "        } else if (column.kind === \"limit\") {",
    "            add(row, \"td\", \"limit\", region.limit.what || MISSING).title = region.limit.why || \"\";",
    "        } else {",
    "            const value = column.value(region), colour = column.kind !== \"lost\" ? \"\" : value > 0 ? \" mark\" : \" muted\";",
    "            add(row, \"td\", \"number\" + colour, scaled(value, column.scale));",
    "        }",
    "    }",
    "    if (view.opened.has(region)) { addDetails(row, region); }",
    "}",
    "",
    "function showRows() {",
    "    const body = byId(\"regions\").tBodies[0];",
    "    const matching = filterRegions();",
    "    const shareOf = (some) => percent(some.reduce((sum, region) => sum + (region.share || 0), 0)) + \" of GPU time\";",
    "    for (const column of shownColumns()) {",
    "        if (column === view.sortBy) {",
    "            column.heading.setAttribute(\"aria-sort\", view.isAscending ? \"ascending\" : \"descending\");",
    "        } else {",
    "            column.heading.removeAttribute(\"aria-sort\");",
    "        }",
    "    }",
    "    view.fullBar = Math.max(1e-9, ...regions.map((region) => (isNested() ? region.shareWithChildren : region.share) || 0));",
    "    view.rows = orderRows(matching);",
    "    body.replaceChildren();",
    "    view.rows.slice(0, view.rowLimit).forEach((row) => addRow(body, row));",
    "    const first = body.querySelector(\"button\");",
    "    if (first) { first.tabIndex = 0; }",
    "    byId(\"shown\").textContent = matching.length === regions.length ? plural(regions.length, \"region\")",
    "        : COUNT.format(matching.length) + \" of \" + plural(regions.length, \"region\") + (hasOwnTimes ? \", \" + shareOf(matching) : \"\");",
    "    byId(\"legend\").textContent = (hasOwnTimes ? \"A full bar is \" + percent(view.fullBar) + \" of all GPU time. \" :",
    "        \"A full bar is the GPU time of the longest region. \") +",
    "        (isNested() ? \"The strong part of a bar is the region's own time, the faint part that of regions inside it. \" : \"\") +",
    "        (columns.some((column) => column.metric) ? \"Metrics are means of a sample; rates and shares are weighted by GPU time.\" : \"\");",
    "    const hidden = view.rows.slice(view.rowLimit);",
    "    byId(\"more\").hidden = hidden.length === 0;",
    "    byId(\"more\").firstElementChild.textContent = plural(hidden.length, \"more row\") +",
    "        (hasOwnTimes ? \" with \" + shareOf(hidden.map((row) => row.region)) : \"\") + \".\";",
    "}",
    "",
    "/* Opens or closes the details of the region of a row. */",
    "function toggle(row) {",
    "    const region = regions[row.dataset.region];",
    "    const isOpen = view.opened.has(region);",
    "    if (isOpen) {",
    "        view.opened.delete(region);",
    "        row.nextElementSibling.remove();",
    "    } else {",
    "        view.opened.add(region);",
    "        addDetails(row, region);",
    "    }",
    "    row.querySelector(\"button\").setAttribute(\"aria-expanded\", !isOpen);",
    "}",
    "",
    "/* Moves the keyboard to a row: one row at a time is a stop of the Tab key. */",
    "function focusRow(button) {",
    "    if (button) {",
    "        byId(\"regions\").querySelectorAll(\"tbody .name > button[tabindex='0']\").forEach((other) => { other.tabIndex = -1; });",
    "        button.tabIndex = 0;",
    "        button.focus();",
    "    }",
    "}",
    "",
    "/* Opens a region from elsewhere on the page. */",
    "function reveal(region) {",
    "    byId(\"filter\").value = \"\";",
    "    showRows();",
    "    const position = view.rows.findIndex((row) => row.region === region);",
    "    if (position >= view.rowLimit) {",
    "        view.rowLimit = position + 1;",
    "        showRows();",
    "    }",
    "    const row = byId(\"regions\").querySelector(\"tr[data-region='\" + region.index + \"']\");",
    "    if (!view.opened.has(region)) { toggle(row); }",
    "    focusRow(row.querySelector(\"button\"));",
    "}",
    "",
    "/* ---- details of a region ---- */",
    "",
    "const FIGURES = [\"mean\", \"stddev\", \"min\", \"median\", \"p95\", \"max\"];",
    "",
    "function addDetails(row, region) {",
    "    const detailsRow = document.createElement(\"tr\");",
    "    detailsRow.className = \"details\";",
    "    row.after(detailsRow);",
    "    const cell = add(detailsRow, \"td\");",
    "    cell.colSpan = row.cells.length + 1; /* and what fills the row */",
    "    const box = add(cell, \"div\", \"detail\");",
    "    add(box, \"h3\", \"\", region.name);",
    "    const pair = add(box, \"div\", \"pair\"), facts = add(pair, \"div\");",
    "    if (region.limit.why) {",
    "        const text = add(facts, \"p\", \"\", \"What limits it: \");",
    "        if (region.limit.what) {",
    "            add(text, \"strong\", \"\", region.limit.what);",
    "            text.append(\". \");",
    "        }",
    "        text.append(region.limit.why + (region.limit.what && region.limit.add ? \" To know more, add \" + region.limit.add + \".\" : \"\"));",
    "    }",
    "    if (region.above) {",
    "        const path = [];",
    "        for (let above = region.above; above; above = above.above) { path.unshift(above.name); }",
    "        add(facts, \"p\", \"\", \"Inside \" + path.join(\" \\u203a \") + \".\");",
    "    }",
    "    for (const note of region.notes) { add(facts, \"p\", \"mark\", note); }",
    "    const rates = [quantity(region.bytes, \"B/s\"), quantity(region.operations, \"op/s\"), quantity(region.instructions, \"instr/s\")]",
    "        .filter((text) => text !== MISSING);",
    "    if (rates.length) {",
    "        if (region.bytes > 0 && region.operations > 0) { rates.push(quantity(region.operations / region.bytes, \"op/B\")); }",
    "        add(facts, \"p\", \"\", \"While it runs: \" + rates.join(\", \") + \".\");",
    "    }",
    "    addHistogram(pair, region);",
    "    addFigures(box, region);",
    "    addStreamed(box, region);",
    "}",
    "",
    "/* Adds a table with one row of headings, and returns its body. Headings are [text, class, unit]. */",
    "function addTable(parent, headings) {",
    "    const table = add(add(parent, \"div\", \"scroll\"), \"table\"), row = add(add(table, \"thead\"), \"tr\");",
    "    for (const [text, className, unit] of headings) {",
    "        const cell = add(row, \"th\", className);",
    "        cell.scope = \"col\";",
    "        fillHeading(cell, text, unit);",
    "    }",
    "    return add(table, \"tbody\");",
    "}",
    "",
    "function addFigures(box, region) {",
    "    const numbers = [\"Samples\", \"Mean\", \"Std dev\", \"Min\", \"Median\", \"p95\", \"Max\"].map((text) => [text, \"number\"]);",
    "    const body = addTable(box, [[\"Metric\"], ...numbers, [\"Unit\"], [\"Sum\", \"number\"], [\"Component\"]]), missing = [];",
    "    const time = {units: \"ns\", description: \"Time from the begin to the end of the region on the device.\"};",
    "    addFigureRow(body, \"GPU time\", time, (figure) => region.time_ns[figure]);",
    "    for (const name of metricNames) {",
    "        if (figureOf(region, name, \"count\") > 0) {",
    "            addFigureRow(body, name, metrics[name], (figure) => figureOf(region, name, figure));",
    "        } else {",
    "            missing.push(name);",
    "        }",
    "    }",
    "    if (missing.length) { add(box, \"p\", \"muted\", \"Not measured here: \" + missing.join(\", \") + \".\"); }",
    "}",
    "",
    "/* Figures of a row are in one unit; the sum has its own. */",
    "function addFigureRow(body, name, metric, valueOf) {",
    "    const row = add(body, \"tr\"), units = metric.units || \"\", sum = valueOf(\"sum\"), count = valueOf(\"count\");",
    "    const scale = scaleFor(units, FIGURES.map(valueOf));",
    "    addDescribed(add(row, \"th\", \"name\"), name, metric.description);",
    "    add(row, \"td\", \"number\", isNumber(count) ? COUNT.format(count) : MISSING);",
    "    for (const figure of FIGURES) { add(row, \"td\", \"number\", scaled(valueOf(figure), scale)); }",
    "    add(row, \"td\", \"unit\", scale.unit);",
    "    add(row, \"td\", \"number\", metric.aggregation === \"flag\" && isNumber(sum) ? plural(sum, \"sample\") : quantity(sum, units));",
    "    add(row, \"td\", \"muted\", metric.component || \"\");",
    "}",
    "",
    "function addDescribed(cell, name, description) {",
    "    cell.scope = \"row\";",
    "    if (!description) {",
    "        cell.textContent = name;",
    "        return;",
    "    }",
    "    const details = add(cell, \"details\");",
    "    add(details, \"summary\", \"\", name);",
    "    add(details, \"p\", \"\", description);",
    "}",
    "",
    "/* ---- drawings ---- */",
    "",
    "/* Returns ticks of a logarithmic axis: powers of ten and, where there is room, 2 and 5 times these; below a decade, equal steps. */",
    "function ticksOf(low, high) {",
    "    const ticks = [], decades = Math.log10(high / low);",
    "    const size = Math.pow(10, Math.floor(Math.log10(high - low)));",
    "    const step = size * ((high - low) / size < 2.5 ? 0.5 : (high - low) / size < 5 ? 1 : 2);",
    "    for (let tick = Math.ceil(low / step) * step; decades < 1 && tick <= high; tick += step) { ticks.push(tick); }",
    "    for (let power = Math.floor(Math.log10(low)); decades >= 1 && power <= Math.log10(high); power++) {",
    "        ticks.push(...(decades < 2.5 ? [1, 2, 5] : [1]).map((digit) => digit * Math.pow(10, power)));",
    "    }",
    "    return ticks.filter((tick) => tick >= low && tick <= high);",
    "}",
    "",
    "/* Returns a function from a value to a coordinate on a logarithmic axis. */",
    "const logAxis = (low, high, from, to) => (value) => from + (to - from) * Math.log(value / low) / Math.log(high / low);",
    "const drawing = (parent, width, height, label) => addSvg(parent, \"svg\", {width, height, viewBox: \"0 0 \" + width + \" \" + height, role: \"img\", \"aria-label\": label});",
    "",
    "function addHistogram(box, region) {",
    "    const histogram = region.histogram || {}, all = histogram.counts || [], time = region.time_ns;",
    "    const first = all.findIndex((count) => count > 0);",
    "    if (first < 0 || !(histogram.first_ns > 0) || !(histogram.ratio > 1)) { return; }",
    "    const last = all.findLastIndex((count) => count > 0), margin = Math.max(1, Math.ceil((11 - (last - first)) / 2));",
    "    const low = histogram.first_ns * Math.pow(histogram.ratio, first - margin);",
    "    const high = histogram.first_ns * Math.pow(histogram.ratio, last + 1 + margin), most = Math.max(...all);",
    "    const left = 60, right = 620, bottom = 130, top = 34, x = logAxis(low, high, left, right);",
    "    const svg = drawing(box, 640, 150, \"Distribution of GPU time: minimum \" + quantity(time.min, \"ns\") + \", median \" +",
    "        quantity(time.median, \"ns\") + \", 95th percentile \" + quantity(time.p95, \"ns\") + \", maximum \" + quantity(time.max, \"ns\"));",
    "    const kept = all.reduce((sum, count) => sum + count, 0);",
    "    addSvg(svg, \"text\", {x: left, y: 10, class: \"muted\"}, \"GPU time of \" + (kept < time.count ? COUNT.format(kept) + \" of \" : \"\") +",
    "        plural(Math.max(kept, time.count || 0), \"sample\") + (kept < time.count ? \", chosen at random\" : \"\") + \", logarithmic\");",
    "    addSvg(svg, \"text\", {x: left - 6, y: top + 8, \"text-anchor\": \"end\"}, COUNT.format(most));",
    "    all.forEach((count, index) => {",
    "        const begin = histogram.first_ns * Math.pow(histogram.ratio, index), from = x(begin), to = x(begin * histogram.ratio);",
    "        if (!(count > 0)) { return; }",
    "        const height = Math.max(1, (bottom - top) * count / most);",
    "        const bar = addSvg(svg, \"rect\", {x: from, y: bottom - height, width: Math.max(0.5, to - from - 1), height, class: \"column\"});",
    "        addSvg(bar, \"title\", {}, plural(count, \"sample\") + \" from \" + quantity(begin, \"ns\") + \" to \" + quantity(begin * histogram.ratio, \"ns\"));",
    "    });",
    "    addSvg(svg, \"path\", {d: \"M\" + left + \" \" + bottom + \"H\" + right, class: \"axis\"});",
    "    for (const tick of ticksOf(low, high)) {",
    "        addSvg(svg, \"path\", {d: \"M\" + x(tick) + \" \" + bottom + \"v4\", class: \"axis\"});",
    "        addSvg(svg, \"text\", {x: x(tick), y: bottom + 16, \"text-anchor\": \"middle\"}, quantity(tick, \"ns\"));",
    "    }",
    "    for (const [figure, text, anchor] of [[\"median\", \"median \", \"end\"], [\"p95\", \"p95 \", \"start\"]]) {",
    "        if (time[figure] >= low && time[figure] <= high) {",
    "            const at = x(time[figure]);",
    "            addSvg(svg, \"path\", {d: \"M\" + at + \" \" + (top - 12) + \"V\" + bottom, class: \"marker\"});",
    "            addSvg(svg, \"text\", {x: at + (anchor === \"end\" ? -4 : 4), y: top - 4, \"text-anchor\": anchor}, text + quantity(time[figure], \"ns\"));",
    "        }",
    "    }",
    "}",
    "",
    "/* Adds the metrics of streams that were sampled while the region ran. */",
    "function addStreamed(box, region) {",
    "    const names = Object.keys(region.streamed || {});",
    "    if (names.length === 0) { return; }",
    "    const body = addTable(box, [[\"Streamed metric\"], [\"Rows\", \"number\"], [\"Mean\", \"number\"], [\"Peak\", \"number\"], [\"Unit\"], [\"Component\"]]);",
    "    for (const name of names) {",
    "        const streamed = region.streamed[name], metric = ownProperty(doc.streamed, name) || {};",
    "        const row = add(body, \"tr\"), scale = scaleFor(metric.units || \"\", [streamed.mean, streamed.peak]);",
    "        add(row, \"th\", \"name\", name).scope = \"row\";",
    "        add(row, \"td\", \"number\", COUNT.format(streamed.rows || 0));",
    "        for (const figure of [streamed.mean, streamed.peak]) { add(row, \"td\", \"number\", scaled(figure, scale)); }",
    "        for (const fact of [scale.unit, metric.component]) { add(row, \"td\", \"\", fact || \"\"); }",
    "    }",
    "}",
    "",
    "/* Draws what regions do a second: operations where the program has stated them, else instructions of any width, which no peak of",
    "   operations holds for. */",
    "function showRoofline() {",
    "    const peaks = doc.peaks || {}, kind = regions.some((region) => region.operations > 0) ? \"operations\" : \"instructions\";",
    "    const bytes = peaks.bytes_per_second, most = kind === \"operations\" ? peaks.operations_per_second : null;",
    "    const rate = kind === \"operations\" ? \"op/s\" : \"instr/s\";",
    "    const points = regions.filter((region) => region.bytes > 0 && region[kind] > 0)",
    "        .sort((a, b) => (b.share || 0) - (a.share || 0)).slice(0, ROOFLINE_POINTS);",
    "    if ((!(bytes > 0) && !(most > 0)) || points.length === 0) { return; }",
    "    const intensities = points.map((region) => region[kind] / region.bytes), rates = points.map((region) => region[kind]);",
    "    if (bytes > 0 && most > 0) { intensities.push(most / bytes); }",
    "    const lowX = Math.min(...intensities) / 3, highX = Math.max(...intensities) * 5;",
    "    const width = window.innerWidth < 900 ? 640 : 960, top = 10, bottom = 300, left = 80, right = width - 20;",
    "    const lowY = Math.min(...rates, bytes > 0 ? lowX * bytes : Infinity) / 2, highY = Math.max(...rates, most || 0) * 3;",
    "    const x = logAxis(lowX, highX, left, right), y = logAxis(lowY, highY, bottom, top);",
    "    addLink(\"roofline\", \"Roofline\");",
    "    const roofs = [bytes > 0 ? quantity(bytes, \"B/s\") : \"\", most > 0 ? quantity(most, rate) : \"\"].filter(Boolean).join(\", \");",
    "    add(byId(\"roofline\"), \"p\", \"muted\", capital(kind) + \" a second against \" + kind + \" a byte of memory traffic, while each region runs. Larger \" +",
    "        \"points have a larger share of GPU time. Peak, \" + (peaks.source || \"of unknown source\") + \": \" + roofs + \".\" +",
    "        (kind === \"operations\" ? \"\" : \" Instructions are those of the vector and matrix engines, each of which does several operations: \" +",
    "            \"zt_set_operations states how many of these a region does.\"));",
    "    const svg = drawing(byId(\"roofline\"), width, 345, \"Roofline of \" + plural(points.length, \"region\") + \"; the figures are in the details of each region\");",
    "    for (const tick of ticksOf(lowX, highX)) {",
    "        addSvg(svg, \"path\", {d: \"M\" + x(tick) + \" \" + top + \"V\" + bottom, class: \"grid\"});",
    "        addSvg(svg, \"text\", {x: x(tick), y: bottom + 15, \"text-anchor\": \"middle\"}, quantity(tick, \"\"));",
    "    }",
    "    for (const tick of ticksOf(lowY, highY)) {",
    "        addSvg(svg, \"path\", {d: \"M\" + left + \" \" + y(tick) + \"H\" + right, class: \"grid\"});",
    "        addSvg(svg, \"text\", {x: left - 6, y: y(tick) + 4, \"text-anchor\": \"end\"}, quantity(tick, rate));",
    "    }",
    "    addSvg(svg, \"text\", {x: right, y: bottom + 32, \"text-anchor\": \"end\", class: \"muted\"}, kind + \" a byte\");",
    "    addSvg(svg, \"path\", {d: \"M\" + left + \" \" + top + \"V\" + bottom + \"H\" + right, class: \"axis\"});",
    "    const ridge = bytes > 0 ? Math.min(highX, (most > 0 ? most : highY) / bytes) : lowX;",
    "    if (bytes > 0) {",
    "        addSvg(svg, \"path\", {d: \"M\" + x(lowX) + \" \" + y(lowX * bytes) + \"L\" + x(ridge) + \" \" + y(ridge * bytes), class: \"roof\"});",
    "        addSvg(svg, \"text\", {x: x(lowX) + 8, y: y(lowX * bytes) + 14}, quantity(bytes, \"B/s\"));",
    "    }",
    "    if (most > 0) {",
    "        addSvg(svg, \"path\", {d: \"M\" + x(ridge) + \" \" + y(most) + \"H\" + right, class: \"roof\"});",
    "        addSvg(svg, \"text\", {x: right, y: y(most) - 5, \"text-anchor\": \"end\"}, quantity(most, rate));",
    "    }",
    "    addPoints(svg, points, kind, rate, x, y, width * 2 / 3);",
    "}",
    "",
    "/* Draws the points, small ones on top, and names those of the largest share where names do not overlap. */",
    "function addPoints(svg, points, kind, rate, x, y, leftFrom) {",
    "    const named = [];",
    "    for (const region of points) {",
    "        const at = {x: x(region[kind] / region.bytes), y: y(region[kind])}, radius = 3 + 9 * Math.sqrt(region.share || 0);",
    "        const point = addSvg(svg, \"circle\", {cx: at.x, cy: at.y, r: radius, class: \"point\"});",
    "        addSvg(point, \"title\", {}, region.name + \": \" + quantity(region[kind], rate) + \", \" + quantity(region.bytes, \"B/s\") +",
    "            (hasOwnTimes ? \", \" + percent(region.share) + \" of GPU time\" : \"\"));",
    "        point.addEventListener(\"click\", () => reveal(region));",
    "        const text = shortName(region.name, 42), width = 7 * text.length, isOnLeft = at.x > leftFrom;",
    "        const left = isOnLeft ? at.x - radius - 3 - width : at.x + radius + 3;",
    "        const isFree = named.every((other) => Math.abs(other.y - at.y) > 14 || other.left > left + width || other.left + other.width < left);",
    "        if (named.length < 12 && isFree) { named.push({text, left, width, y: at.y, anchor: isOnLeft ? \"end\" : \"start\"}); }",
    "    }",
    "    for (const {text, left, width, y: middle, anchor} of named) {",
    "        const from = anchor === \"end\" ? left + width : left;",
    "        addSvg(svg, \"text\", {x: from, y: middle + 4, \"text-anchor\": anchor, class: \"point-name\"}, text);",
    "    }",
    "}",
    "",
    "/* ---- timeline ---- */",
    "",
    "const BINS = 1000;",
    "",
    "/* Adds a span to the bins, each of which holds how much of it is covered. */",
    "function cover(bins, from, to) {",
    "    const last = Math.min(BINS - 1, Math.floor(to));",
    "    for (let bin = Math.max(0, Math.floor(from)); bin <= last; bin++) { bins[bin] += Math.min(to, bin + 1) - Math.max(from, bin); }",
    "}",
    "",
    "/* Draws the bins in four shades, so that the size of the drawing does not depend on the number of spans. */",
    "function drawBins(svg, bins, className) {",
    "    for (let shade = 1; shade <= 4; shade++) {",
    "        let path = \"\", from = -1;",
    "        for (let bin = 0; bin <= BINS; bin++) {",
    "            const isShade = bin < BINS && bins[bin] > 0 && Math.min(4, Math.ceil(4 * bins[bin])) === shade;",
    "            if (isShade && from < 0) {",
    "                from = bin;",
    "            } else if (!isShade && from >= 0) {",
    "                path += \"M\" + from + \" 0H\" + bin + \"V1H\" + from + \"z\";",
    "                from = -1;",
    "            }",
    "        }",
    "        if (path) { addSvg(svg, \"path\", {d: path, class: className, \"fill-opacity\": (shade + 1) / 5}); }",
    "    }",
    "}",
    "",
    "/* Returns how long at least one of the spans lasts. */",
    "function coveredTime(spans) {",
    "    let covered = 0, end = -Infinity;",
    "    for (const span of spans.slice().sort((a, b) => a[1] - b[1])) {",
    "        covered += Math.max(0, span[2] - Math.max(end, span[1]));",
    "        end = Math.max(end, span[2]);",
    "    }",
    "    return covered;",
    "}",
    "",
    "function addStrip(parent, name, title, spans, timeline, share) {",
    "    const duration = timeline.end_ns - timeline.begin_ns, bins = new Float64Array(BINS), lost = new Float64Array(BINS);",
    "    add(parent, \"span\", \"name\", name).title = title;",
    "    const svg = addSvg(parent, \"svg\", {viewBox: \"0 0 \" + BINS + \" 1\", preserveAspectRatio: \"none\", role: \"img\",",
    "        \"aria-label\": plural(spans.length, \"sample\")});",
    "    for (const [, begin, end, isLost] of spans) {",
    "        const from = BINS * (begin - timeline.begin_ns) / duration, to = BINS * (end - timeline.begin_ns) / duration;",
    "        cover(isLost ? lost : bins, from, Math.max(to, from + 1e-6));",
    "    }",
    "    drawBins(svg, bins, \"\");",
    "    drawBins(svg, lost, \"lost\");",
    "    add(parent, \"span\", \"number\", percent(share));",
    "}",
    "",
    "function showTimeline() {",
    "    const timeline = doc.timeline || {}, duration = timeline.end_ns - timeline.begin_ns;",
    "    const spans = (timeline.spans || []).filter((span) => regions[span[0]] && isNumber(span[1]) && isNumber(span[2]))",
    "        .map(([index, begin, end, lost]) => [index, Math.max(begin, timeline.begin_ns), Math.min(end, timeline.end_ns), lost])",
    "        .filter(([, begin, end]) => begin <= end);",
    "    if (!(duration > 0) || spans.length === 0) { return; }",
    "    const byRegion = new Map();",
    "    for (const span of spans) {",
    "        const list = byRegion.get(span[0]) || [];",
    "        list.push(span);",
    "        byRegion.set(span[0], list);",
    "    }",
    "    const rows = [...byRegion].map(([index, list]) => ({region: regions[index], list, covered: coveredTime(list)}));",
    "    rows.sort((a, b) => b.covered - a.covered);",
    "    const others = rows.splice(TIMELINE_ROWS);",
    "    const part = byId(\"timeline\"), lost = spans.filter((span) => span[3]).length;",
    "    addLink(\"timeline\", \"Timeline\");",
    "    add(part, \"p\", \"muted\", plural(spans.length, \"sample\") + \" in \" + quantity(duration, \"ns\") + \"; regions run for \" +",
    "        percent(coveredTime(spans) / duration) + \" of it. A row's figure is how much of the time its region runs.\" +",
    "        (lost ? \" \" + COUNT.format(lost) + \" lost, in the second colour.\" : \"\"));",
    "    const strip = add(part, \"div\", \"strip\");",
    "    for (const row of rows) { addStrip(strip, shortName(row.region.name, nameLength()), row.region.name, row.list, timeline, row.covered / duration); }",
    "    if (others.length) {",
    "        const list = others.flatMap((row) => row.list);",
    "        addStrip(strip, plural(others.length, \"other region\"), \"\", list, timeline, coveredTime(list) / duration);",
    "    }",
    "    add(strip, \"span\");",
    "    const times = add(strip, \"span\", \"times\");",
    "    for (let quarter = 0; quarter <= 4; quarter++) { add(times, \"span\", \"\", quarter === 0 ? \"0\" : quantity(quarter * duration / 4, \"ns\")); }",
    "}",
    "",
    "/* ---- calls and metrics ---- */",
    "",
    "function showCalls() {",
    "    if (calls.length === 0) { return; }",
    "    addLink(\"calls\", \"Calls\");",
    "    const figures = [[\"Total\", \"sum\"], [\"Mean\", \"mean\"], [\"Median\", \"median\"], [\"p95\", \"p95\"], [\"Max\", \"max\"]];",
    "    const scaleOf = (some) => scaleFor(\"ns\", some.flatMap(([, figure]) => calls.map((call) => ownProperty(call.time_ns, figure))));",
    "    const total = scaleOf(figures.slice(0, 1)), others = scaleOf(figures.slice(1)), scales = [total, others, others, others, others];",
    "    const body = addTable(byId(\"calls\"), [[\"Call\"], [\"Count\", \"number\"], [\"Errors\", \"number\"],",
    "        ...figures.map(([text], index) => [text, \"number\", scales[index].unit])]);",
    "    const sum = (call) => (call.time_ns || {}).sum || 0;",
    "    for (const call of calls.slice().sort((a, b) => sum(b) - sum(a))) {",
    "        const row = add(body, \"tr\");",
    "        add(row, \"th\", \"name\", call.name).scope = \"row\";",
    "        add(row, \"td\", \"number\", COUNT.format(call.count || 0));",
    "        add(row, \"td\", call.errors ? \"number mark\" : \"number\", COUNT.format(call.errors || 0));",
    "        figures.forEach(([, figure], index) => add(row, \"td\", \"number\", scaled(ownProperty(call.time_ns, figure), scales[index])));",
    "    }",
    "}",
    "",
    "function showMetrics() {",
    "    const names = Object.keys(metrics);",
    "    if (names.length === 0) { return; }",
    "    addLink(\"metrics\", \"Metrics\");",
    "    const details = add(byId(\"metrics\"), \"details\");",
    "    add(details, \"summary\", \"\", \"What each of the \" + plural(names.length, \"metric\") + \" means\");",
    "    const texts = [\"Metric\", \"Description\", \"Units\", \"Combined by\", \"Component\", \"Group\"].map((text) => [text]);",
    "    const body = addTable(details, [...texts, [\"Pass\", \"number\"]]);",
    "    for (const name of names) {",
    "        const metric = metrics[name], row = add(body, \"tr\");",
    "        add(row, \"th\", \"name\", name).scope = \"row\";",
    "        add(row, \"td\", \"description\", metric.description || MISSING);",
    "        for (const fact of [metric.units, metric.aggregation, metric.component, metric.group]) { add(row, \"td\", \"\", fact || \"\"); }",
    "        add(row, \"td\", \"number\", isNumber(metric.pass) ? metric.pass : MISSING);",
    "    }",
    "}",
    "",
    "/* ---- keyboard and mouse ---- */",
    "",
    "function showChoice() {",
    "    for (const column of columns.filter((one) => one.kind !== \"name\" && one.kind !== \"share\")) {",
    "        const label = add(byId(\"choice\").lastElementChild, \"label\"), box = add(label, \"input\");",
    "        box.type = \"checkbox\";",
    "        box.checked = !column.isHidden;",
    "        label.append(\" \");",
    "        add(label, \"span\", column.metric ? \"code\" : \"\", column.metric || column.label);",
    "        box.addEventListener(\"change\", () => {",
    "            column.isHidden = !box.checked;",
    "            showHeadings();",
    "            showRows();",
    "        });",
    "    }",
    "}",
    "",
    "function listen() {",
    "    const table = byId(\"regions\"), filter = byId(\"filter\");",
    "    const buttons = () => [...table.querySelectorAll(\"tbody .name > button[aria-expanded]\")];",
    "    filter.addEventListener(\"input\", () => {",
    "        view.rowLimit = FIRST_ROWS;",
    "        showRows();",
    "    });",
    "    byId(\"nested\").addEventListener(\"change\", showRows);",
    "    byId(\"more\").querySelector(\"button\").addEventListener(\"click\", () => {",
    "        view.rowLimit += MORE_ROWS;",
    "        showRows();",
    "    });",
    "    table.tBodies[0].addEventListener(\"click\", (event) => {",
    "        const row = event.target.closest(\"tr[data-region]\");",
    "        const isKey = event.detail === 0; /* a click of the mouse may be the end of selecting text instead */",
    "        if (row && (isKey || !window.getSelection().toString())) { toggle(row); }",
    "    });",
    "    filter.addEventListener(\"keydown\", (event) => {",
    "        if (event.key === \"ArrowDown\" || event.key === \"Enter\") {",
    "            event.preventDefault();",
    "            focusRow(buttons()[0]);",
    "        } else if (event.key === \"Escape\") {",
    "            filter.value = \"\";",
    "            showRows();",
    "        }",
    "    });",
    "    table.tBodies[0].addEventListener(\"keydown\", (event) => {",
    "        const all = buttons(), at = all.indexOf(event.target);",
    "        const targets = new Map([[\"ArrowDown\", at + 1], [\"ArrowUp\", at - 1], [\"Home\", 0], [\"End\", all.length - 1]]);",
    "        if (at >= 0 && targets.has(event.key)) {",
    "            event.preventDefault();",
    "            focusRow(all[targets.get(event.key)]);",
    "        }",
    "    });",
    "    document.addEventListener(\"keydown\", (event) => {",
    "        if (event.key === \"/\" && event.target.tagName !== \"INPUT\" && !event.ctrlKey && !event.metaKey && !event.altKey) {",
    "            event.preventDefault();",
    "            filter.focus();",
    "            filter.select();",
    "        } else if (event.key === \"Escape\" && byId(\"choice\").open) {",
    "            byId(\"choice\").open = false;",
    "            byId(\"choice\").firstElementChild.focus();",
    "        }",
    "    });",
    "}",
    "",
    "showHeading();",
    "if (regions.length) {",
    "    byId(\"nesting\").hidden = !hasNesting;",
    "    byId(\"nested\").checked = regions.length <= FIRST_ROWS; /* many small children would hide the large regions */",
    "    showChoice();",
    "    showHeadings();",
    "    showRows();",
    "    showRoofline();",
    "    showTimeline();",
    "} else {",
    "    document.querySelectorAll(\".tools, #regions\").forEach((node) => { node.hidden = true; });",
    "}",
    "showCalls();",
    "showMetrics();",
    "listen();",
    "</script>",
    "</body>",
    "</html>",
};
/* clang-format on */

ZT__PRIVATE void zt__write_html(zt__document *document) {
    zt__writer *writer = &document->writer;
    uint32_t i;
    for (i = 0; i < ZT__COUNT_OF(zt__page); i++) {
        if (strcmp(zt__page[i], "@DATA@") == 0) {
            writer->is_in_html = 1;
            zt__write_json(document);
            writer->is_in_html = 0;
        } else {
            zt__write_text(writer, zt__page[i]);
            zt__write_text(writer, "\n");
        }
    }
}

/* ==== >>writing: zt_write and zt_report, formats and files ================================================ */

ZT_API ze_result_t zt_write(const zt_profiler *profiler, zt_format format, zt_write_fn write, void *user) {
    zt__diagnostics *diagnostics = zt__diagnostics_of(profiler);
    const zt_allocator *allocator;
    zt__document *document;
    int stopped;
    ze_result_t result = ZE_RESULT_SUCCESS;
    if (!profiler) {
        return ZE_RESULT_SUCCESS;
    }
    if (!write) {
        return zt__report_null(diagnostics, "zt_write", "write");
    }
    if ((unsigned)format > ZT_FORMAT_INSTANCES) {
        return zt__report(diagnostics, BAD_FORMAT, ZE_RESULT_ERROR_INVALID_ENUMERATION, (int)format);
    }
    if ((format == ZT_FORMAT_TRACE || format == ZT_FORMAT_INSTANCES) && !profiler->config.timeline) {
        return zt__report(diagnostics, NO_KEPT_SAMPLES, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    }
    allocator = &profiler->config.allocator;
    document = (zt__document *)zt__allocate(allocator, 1, sizeof *document);
    if (!document) {
        return zt__report_no_memory(diagnostics, "zt_write", "a report");
    }
    document->profiler = zt__mutable(profiler);
    document->region_count = zt_get_region_count(profiler);
    zt__begin_writing(&document->writer, write, user);
    document->stats =
        (zt_stats *)zt__allocate(allocator, profiler->layout.column_count, sizeof *document->stats);
    document->out_of_memory = !document->stats;
    if (document->stats) {
        switch (format) {
        case ZT_FORMAT_TABLE:
            zt__write_region_table(document, write == zt__write_to_file && user == stdout);
            break;
        case ZT_FORMAT_CSV:
            zt__write_csv(document);
            break;
        case ZT_FORMAT_JSON:
            zt__write_json(document);
            break;
        case ZT_FORMAT_TRACE:
            document->out_of_memory = !zt__write_trace(document->profiler, &document->writer);
            break;
        case ZT_FORMAT_HTML:
            zt__write_html(document);
            break;
        case ZT_FORMAT_OPENMETRICS:
            document->out_of_memory =
                !zt__write_openmetrics(document->profiler, &document->writer, document->region_count);
            break;
        case ZT_FORMAT_INSTANCES:
            zt__write_instances(document);
            break;
        }
    }
    stopped = !zt__end_writing(&document->writer);
    if (document->out_of_memory) {
        result = zt__report_no_memory(diagnostics, "zt_write", "a report");
    } else if (stopped && write == zt__write_to_file) {
        result = ZE_RESULT_ERROR_UNKNOWN; /* zt_report reports why, by errno */
    } else if (stopped) {
        result = zt__report(diagnostics, WRITE_STOPPED, ZE_RESULT_ERROR_UNKNOWN, "zt_write");
    }
    zt__free(allocator, document->stats);
    zt__free(allocator, document);
    return result;
}

/* ---- files ----------------------------------------------------------------------------------------------- */

/* What is written, where to, and for whom. */
typedef struct zt__output {
    const char *call, *path; /* the path of the application, "-" for standard output */
    zt__diagnostics *diagnostics;
    const zt_allocator *allocator;
    /* Writes the content. UNKNOWN: the file does not take it, and errno has the reason. Other failures are
       reported. */
    ze_result_t (*write_content)(const void *content, FILE *file);
    const void *content;
} zt__output;

ZT__PRIVATE ze_result_t zt__report_unwritable(const zt__output *output) {
    return zt__report(output->diagnostics, CANNOT_WRITE, ZE_RESULT_ERROR_UNKNOWN, output->call, output->path,
                      strerror(errno));
}

/* Writes to `file`, and ends that with `end`: fclose, or fflush for a standard stream. */
ZT__PRIVATE ze_result_t zt__write_content(const zt__output *output, FILE *file, int (*end)(FILE *)) {
    ze_result_t result;
    if (!file) {
        return zt__report_unwritable(output);
    }
    errno = 0;
    result = output->write_content(output->content, file);
    if (end(file) != 0 && result == ZE_RESULT_SUCCESS) {
        result = ZE_RESULT_ERROR_UNKNOWN;
    }
    return result == ZE_RESULT_ERROR_UNKNOWN ? zt__report_unwritable(output) : result;
}

/* The file that a report goes to, and the one that it is written to first. */
typedef struct zt__target_file {
    char path[4096];
    char link[4096];
    char beside[4096 + 64];
} zt__target_file;

/* The C library hides it in strict ISO modes. C++ compilers always define _GNU_SOURCE. */
#ifndef __cplusplus
ssize_t readlink(const char *path, char *target, size_t size);
#endif

/* Stores what `path` leads to through symbolic links; it need not exist. Returns 0, with errno, if there
   are too many links or the path is too long. */
ZT__PRIVATE int zt__follow_links(zt__target_file *file, const char *path) {
    enum { MOST_LINKS = 40 };
    const char *next = path, *slash;
    size_t directory = 0; /* length of the directory that `next` is relative to */
    uint32_t i;
    for (i = 0; i <= MOST_LINKS; i++) {
        size_t length = strlen(next);
        ssize_t link_length;
        if (directory + length >= sizeof file->path) {
            errno = ENAMETOOLONG;
            return 0;
        }
        memcpy(file->path + directory, next, length + 1);
        link_length = readlink(file->path, file->link, sizeof file->link - 1);
        if (link_length <= 0) {
            return 1;
        }
        file->link[link_length] = 0;
        next = file->link;
        slash = strrchr(file->path, '/');
        directory = slash && *next != '/' ? (size_t)(slash + 1 - file->path) : 0;
    }
    errno = ELOOP;
    return 0;
}

/* Writes a file beside the target and renames it, so that nobody reads an incomplete one. */
ZT__PRIVATE ze_result_t zt__replace_file(const zt__output *output) {
    zt__target_file *file = (zt__target_file *)zt__allocate(output->allocator, 1, sizeof *file);
    struct stat before;
    ze_result_t result;
    if (!file) {
        return zt__report_no_memory(output->diagnostics, output->call, "a path");
    }
    if (!zt__follow_links(file, output->path)) {
        result = zt__report_unwritable(output);
    } else {
        const char *slash = strrchr(file->path, '/'), *name = slash ? slash + 1 : file->path;
        FILE *part;
        /* A long name is cut, because the name of a file has 255 bytes at the most. */
        snprintf(file->beside, sizeof file->beside, "%.*s%.128s.%ld.%lx.part", (int)(name - file->path),
                 file->path, name, (long)getpid(), (unsigned long)zt__this_thread());
        part = fopen(file->beside, "wb");
        if (part && stat(file->path, &before) == 0) {
            chmod(file->beside, before.st_mode & 0777); /* the same people may read the report as before */
        }
        result = zt__write_content(output, part, fclose);
        if (result == ZE_RESULT_SUCCESS && rename(file->beside, file->path) != 0) {
            result = zt__report_unwritable(output);
        }
        if (result != ZE_RESULT_SUCCESS) {
            remove(file->beside);
        }
    }
    zt__free(output->allocator, file);
    return result;
}

ZT__PRIVATE ze_result_t zt__write_output(const zt__output *output) {
    FILE *stream = zt__find_standard_stream(output->path);
    struct stat target;
    if (stream) {
        return zt__write_content(output, stream, fflush);
    }
    /* Pipes, terminals and devices are written to, and not replaced by a file. */
    if (stat(output->path, &target) == 0 && !S_ISREG(target.st_mode) && !S_ISDIR(target.st_mode)) {
        return zt__write_content(output, fopen(output->path, "wb"), fclose);
    }
    return zt__replace_file(output);
}

typedef struct zt__report_content {
    const zt_profiler *profiler;
    zt_format format;
} zt__report_content;

ZT__PRIVATE ze_result_t zt__write_report(const void *content, FILE *file) {
    const zt__report_content *report = (const zt__report_content *)content;
    return zt_write(report->profiler, report->format, zt__write_to_file, file);
}

ZT_API ze_result_t zt_report(const zt_profiler *profiler, const char *path) {
    zt__diagnostics *diagnostics = zt__diagnostics_of(profiler);
    zt__report_content content;
    zt__output output = {"zt_report", path, diagnostics, NULL, zt__write_report, &content};
    if (!profiler) {
        return ZE_RESULT_SUCCESS;
    }
    if (!path) {
        return zt__report_null(diagnostics, "zt_report", "path");
    }
    content.profiler = profiler;
    if (!zt__find_format(path, &content.format)) {
        return zt__report(diagnostics, UNKNOWN_SUFFIX, ZE_RESULT_ERROR_INVALID_ARGUMENT, "zt_report", path);
    }
    output.allocator = &profiler->config.allocator;
    return zt__write_output(&output);
}

/* ==== >>bench: samples until their median is known well, and comparisons ================================== */

/* ---- samples --------------------------------------------------------------------------------------------- */

typedef struct zt__series {
    uint32_t count;
    double samples[ZT_BENCH_SAMPLES]; /* in the order in which they were taken */
    double mhz[ZT_BENCH_SAMPLES];     /* the device's frequency after each; NaN: unknown */
    double sorted[ZT_BENCH_SAMPLES];  /* the samples in ascending order */
} zt__series;

ZT__PRIVATE void zt__add_to_series(zt__series *series, double sample, double mhz) {
    uint32_t i = series->count++;
    series->samples[i] = sample;
    series->mhz[i] = mhz;
    for (; i > 0 && series->sorted[i - 1] > sample; i--) {
        series->sorted[i] = series->sorted[i - 1];
    }
    series->sorted[i] = sample;
}

/* Stores the confidence interval of the median, by the sign test. Returns half its width as a share of
   the median, or NaN if the median is 0.

   A sample lies on either side of the true median with equal chance, so the ranks of the interval's ends
   follow from the binomial distribution. The ends are chosen for 97.5%: stopping when the interval is
   narrow lowers its coverage a little, so that at least 95% remain. */
ZT__PRIVATE double zt__median_interval(double *sorted, uint32_t count, double *low, double *high) {
    double term = 1, below = 0, median = zt__quantile(sorted, count, 0.5);
    uint32_t i, rank = 0;
    for (i = 0; i < count; i++) {
        term /= 2; /* 2^-1000 at the least, which a double still holds */
    }
    for (i = 0; i < count / 2; i++) {
        below += term;
        if (below > 0.0125) {
            break;
        }
        rank = i + 1;
        term = term * (count - i) / (i + 1);
    }
    *low = sorted[rank ? rank - 1 : 0];
    *high = sorted[count - (rank ? rank : 1)];
    return median > 0 ? (*high - *low) / 2 / median : zt__nan();
}

/* ---- the stopping rule ----------------------------------------------------------------------------------- */

ZT__PRIVATE uint32_t zt__clamp(uint32_t value, uint32_t least, uint32_t most) {
    return value < least ? least : value > most ? most : value;
}

/* Replaces what is 0 by its default. */
ZT__PRIVATE zt_bench_config zt__fill_in_defaults(const zt_bench_config *given) {
    enum { LEAST_SAMPLES = 10 };
    zt_bench_config config = *given;
    uint32_t max_samples = given->max_samples ? given->max_samples : (uint32_t)ZT_BENCH_SAMPLES;
    config.warm_up = given->warm_up ? given->warm_up : 3;
    config.max_samples = zt__clamp(max_samples, LEAST_SAMPLES, ZT_BENCH_SAMPLES);
    config.min_samples = zt__clamp(given->min_samples, LEAST_SAMPLES, config.max_samples);
    config.max_time_ns = given->max_time_ns ? given->max_time_ns : UINT64_C(10000000000);
    config.precision = zt__is_positive(given->precision) ? given->precision : 0.01;
    config.max_change = zt__is_positive(given->max_change) ? given->max_change : 0.02;
    config.counter_runs = given->counter_runs ? given->counter_runs : 5;
    config.tolerance = zt__is_positive(given->tolerance) ? given->tolerance : 0.02;
    return config;
}

typedef struct zt__stop_rule {
    const zt_bench_config *limits;
    uint64_t deadline;
    uint32_t next_precise; /* the count at which the interval is next compared with config.precision */
    uint32_t next_noise;   /* the count at which it is next compared with that of half as many samples */
    double half_precision; /* the precision of half as many samples; NaN: not compared yet */
} zt__stop_rule;

ZT__PRIVATE zt__stop_rule zt__begin_stop_rule(const zt_bench_config *limits) {
    enum { NOISE_FROM = 64 };
    zt__stop_rule rule;
    rule.limits = limits;
    rule.deadline = zt__deadline(limits->max_time_ns);
    rule.next_precise = limits->min_samples;
    rule.next_noise = zt__clamp(limits->min_samples, NOISE_FROM, ZT_BENCH_SAMPLES);
    rule.half_precision = zt__nan();
    return rule;
}

/* Returns which condition is met, or ZT_BENCH_NOT_RUN if more samples are needed.

   After every sample, the interval might be narrow by chance and end the benchmark too early. So it is
   compared with config.precision only when there are a quarter more samples. Twice as many samples should
   narrow it by 29%. If they narrow it by less than 5%, the rest is noise that more samples do not
   remove. */
ZT__PRIVATE zt_bench_end zt__apply_stop_rule(zt__stop_rule *rule, zt__series *series) {
    uint32_t count = series->count;
    double low, high, precision;
    if (count < rule->limits->min_samples) {
        return ZT_BENCH_NOT_RUN;
    }
    precision = zt__median_interval(series->sorted, count, &low, &high);
    if (count >= rule->next_precise) {
        rule->next_precise = count + count / 4 + 1;
        if (!zt__is_nan(precision) && precision < rule->limits->precision) {
            return ZT_BENCH_PRECISE;
        }
    }
    if (count >= rule->next_noise) {
        double before = rule->half_precision;
        rule->next_noise = count * 2;
        rule->half_precision = precision;
        if (!zt__is_nan(before) && !zt__is_nan(precision) && precision > 0.95 * before) {
            return ZT_BENCH_NOISE;
        }
    }
    if (count == rule->limits->max_samples) {
        return ZT_BENCH_FULL;
    }
    return zt__now_ns() >= rule->deadline ? ZT_BENCH_TIME : ZT_BENCH_NOT_RUN;
}

/* ---- results --------------------------------------------------------------------------------------------- */

/* Clears a result, with its name. `unnamed` is the name if the configuration has none. */
ZT__PRIVATE void zt__clear_bench_result(zt_bench_result *result, const zt_bench_config *config,
                                        const char *unnamed) {
    const char *name = unnamed;
    if (config && (config->name || config->region)) {
        name = config->name ? config->name : config->region;
    }
    memset(result, 0, sizeof *result);
    zt__copy_text(result->name, sizeof result->name, name, strlen(name));
    result->median = result->low = result->high = result->quartile1 = result->quartile3 = zt__nan();
    result->min = result->max = result->precision = result->frequency_mhz = zt__nan();
    result->counter_median = result->perturbation = zt__nan();
    result->bytes_per_second = result->items_per_second = zt__nan();
    result->region = UINT32_MAX;
}

/* Returns what a run does in a second, or NaN. `amount` is what it does, or 0; `ns` is its time. */
ZT__PRIVATE double zt__rate_of_run(double amount, double ns) {
    double rate = zt__is_positive(amount) && zt__is_positive(ns) ? amount / ns * 1e9 : zt__nan();
    return zt__is_finite(rate) ? rate : zt__nan();
}

/* Fills in a result, and marks samples that are outliers or were taken at another frequency.
   `series->sorted` is overwritten. */
ZT__PRIVATE void zt__describe_series(zt_bench_result *result, zt__series *series,
                                     const zt_bench_config *config) {
    uint32_t i, known = 0, count = series->count;
    double spread;
    if (count == 0) {
        return;
    }
    result->count = count;
    result->precision = zt__median_interval(series->sorted, count, &result->low, &result->high);
    result->median = zt__quantile(series->sorted, count, 0.5);
    result->quartile1 = zt__quantile(series->sorted, count, 0.25);
    result->quartile3 = zt__quantile(series->sorted, count, 0.75);
    result->min = series->sorted[0];
    result->max = series->sorted[count - 1];
    result->bytes_per_second = zt__rate_of_run(config->bytes_per_run, result->median);
    result->items_per_second = zt__rate_of_run(config->items_per_run, result->median);
    result->tolerance = config->tolerance;
    for (i = 0; i < count; i++) {
        if (!zt__is_nan(series->mhz[i])) {
            series->sorted[known++] = series->mhz[i];
        }
    }
    result->frequency_mhz = zt__quantile(series->sorted, known, 0.5);
    spread = 1.5 * (result->quartile3 - result->quartile1);
    for (i = 0; i < count; i++) {
        double sample = series->samples[i], change = fabs(series->mhz[i] / result->frequency_mhz - 1);
        result->samples[i] = sample;
        if (sample < result->quartile1 - spread || sample > result->quartile3 + spread) {
            result->marks[i] |= ZT_BENCH_OUTLIER;
            result->outliers++;
        }
        if (!zt__is_nan(change) && change > config->max_change) {
            result->marks[i] |= ZT_BENCH_CHANGED;
            result->changed++;
        }
    }
}

/* ---- taking samples -------------------------------------------------------------------------------------- */

typedef struct zt__bench {
    const char *call;
    zt_bench_config config;   /* nothing is 0 that has a default */
    const char *region;       /* whose GPU time is a sample. NULL: the first of the work, once it has run */
    zt_profiler *profiler;    /* the application's, or NULL */
    zt_profiler *stopwatch;   /* measures times alone, without queries; NULL with config.measure */
    zes_freq_handle_t domain; /* whose frequency is the GPU's, or NULL */
    zt__series *series;
} zt__bench;

/* Returns the index of a region by its name, which may be NULL, or UINT32_MAX if there is none. */
ZT__PRIVATE uint32_t zt__find_region(zt_profiler *profiler, const char *name) {
    uint32_t i, found = UINT32_MAX;
    zt__lock(&profiler->mutex);
    for (i = 0; name && i < profiler->region_count && found == UINT32_MAX; i++) {
        if (strcmp(profiler->regions[i]->name, name) == 0) {
            found = i;
        }
    }
    zt__unlock(&profiler->mutex);
    return found;
}

ZT__PRIVATE const char *zt__bench_name(const zt__bench *bench) {
    if (bench->config.name) {
        return bench->config.name;
    }
    return bench->region ? bench->region : "the benchmark";
}

/* Reports why there is no sample, and returns NaN. */
ZT__PRIVATE double zt__report_no_sample(const zt__bench *bench, const char *why) {
    zt__report(zt__diagnostics_of(bench->profiler), NO_BENCH_SAMPLE, ZE_RESULT_NOT_READY, bench->call,
               zt__bench_name(bench), why);
    return zt__nan();
}

/* Runs the work once with a profiler. Returns the GPU time of its region. If a sample of the run is
   missing, reports that and returns NaN. */
ZT__PRIVATE double zt__run_work(zt__bench *bench, zt_profiler *profiler) {
    zt_region_info before, after;
    zt_counts counts_before = zt_get_counts(profiler), counts;
    uint32_t region = zt__find_region(profiler, bench->region);
    ze_result_t result;
    int failed;
    memset(&before, 0, sizeof before);
    if (region != UINT32_MAX) {
        zt_get_region(profiler, region, &before);
    }
    failed = bench->config.run(profiler, bench->config.user) != 0;
    if (!bench->region && zt_get_region_count(profiler) > 0) {
        zt_get_region(profiler, 0, &after);
        bench->region = after.name;
    }
    if (failed) {
        return zt__report_no_sample(bench, "it failed");
    }
    result = zt_collect(profiler, profiler->config.wait_timeout_ns);
    if (result != ZE_RESULT_SUCCESS) {
        return zt__report_no_sample(bench, zt_result_name(result));
    }
    counts = zt_get_counts(profiler);
    if (counts.lost != counts_before.lost || counts.dropped != counts_before.dropped) {
        return zt__report_no_sample(bench, "a sample of a region was lost or dropped");
    }
    region = zt__find_region(profiler, bench->region);
    if (region == UINT32_MAX || zt_get_region(profiler, region, &after) != ZE_RESULT_SUCCESS ||
        after.time_ns.count == before.time_ns.count) {
        return zt__report_no_sample(bench, "no region was measured");
    }
    return after.time_ns.sum - (before.time_ns.count ? before.time_ns.sum : 0);
}

/* Does the work once, without metrics. Returns its time, or NaN. */
ZT__PRIVATE double zt__measure_once(zt__bench *bench) {
    double sample;
    if (!bench->config.measure) {
        return zt__run_work(bench, bench->stopwatch);
    }
    sample = bench->config.measure(bench->config.user);
    return !zt__is_finite(sample) || sample < 0 ? zt__report_no_sample(bench, "it failed") : sample;
}

/* Finds the frequency domain of the GPU, if the system management interface has it. */
ZT__PRIVATE void zt__find_frequency_domain(zt__bench *bench) {
    const zt__driver *driver = bench->profiler ? &bench->profiler->driver : NULL;
    zes_freq_handle_t domains[16];
    uint32_t i, count = ZT__COUNT_OF(domains);
    if (!driver || !bench->profiler->device || !driver->zesDeviceEnumFrequencyDomains ||
        !driver->zesFrequencyGetProperties || !driver->zesFrequencyGetState ||
        driver->zesDeviceEnumFrequencyDomains((zes_device_handle_t)bench->profiler->device, &count,
                                              domains) != ZE_RESULT_SUCCESS) {
        return;
    }
    for (i = 0; i < count && !bench->domain; i++) {
        zes_freq_properties_t properties;
        memset(&properties, 0, sizeof properties);
        properties.stype = ZES_STRUCTURE_TYPE_FREQ_PROPERTIES;
        if (driver->zesFrequencyGetProperties(domains[i], &properties) == ZE_RESULT_SUCCESS &&
            properties.type == ZES_FREQ_DOMAIN_GPU) {
            bench->domain = domains[i];
        }
    }
}

/* Takes one sample, and the frequency of the device after it. A run without a sample is repeated. Returns
   0 if the last attempt fails, too. */
ZT__PRIVATE int zt__measure_sample(zt__bench *bench) {
    enum { TRIES = 4 };
    zes_freq_state_t state;
    double sample = zt__nan(), mhz = zt__nan();
    int i;
    for (i = 0; i < TRIES && zt__is_nan(sample); i++) {
        sample = zt__measure_once(bench);
    }
    if (zt__is_nan(sample)) {
        return 0;
    }
    memset(&state, 0, sizeof state);
    state.stype = ZES_STRUCTURE_TYPE_FREQ_STATE;
    if (bench->config.frequency) {
        mhz = bench->config.frequency(bench->config.user);
    } else if (bench->domain &&
               bench->profiler->driver.zesFrequencyGetState(bench->domain, &state) == ZE_RESULT_SUCCESS) {
        mhz = state.actual; /* negative: not known; 0: the device sleeps already */
    }
    zt__add_to_series(bench->series, sample, zt__is_positive(mhz) ? mhz : zt__nan());
    return 1;
}

/* Does the work config.warm_up times. After the first three, stops when `max_time_ns` is over. */
ZT__PRIVATE void zt__warm_up(zt__bench *bench, uint64_t max_time_ns) {
    uint64_t deadline = zt__deadline(max_time_ns);
    uint32_t i;
    for (i = 0; i < bench->config.warm_up && (i < 3 || zt__now_ns() < deadline); i++) {
        zt__measure_once(bench);
    }
}

ZT__PRIVATE void zt__close_bench(zt__bench *bench) {
    zt_close(bench->stopwatch);
    zt__free(zt__allocator_of(bench->profiler), bench->series);
}

/* Checks the configuration and prepares a benchmark. On failure nothing is left to close. */
ZT__PRIVATE ze_result_t zt__open_bench(zt__bench *bench, const char *call, zt_profiler *profiler,
                                       const zt_bench_config *config) {
    zt__diagnostics *diagnostics = zt__diagnostics_of(profiler);
    ze_result_t result = ZE_RESULT_SUCCESS;
    if (!config) {
        return zt__report_null(diagnostics, call, "config");
    }
    if (!config->run && !config->measure) {
        return zt__report(diagnostics, NOTHING_TO_BENCH, ZE_RESULT_ERROR_INVALID_NULL_POINTER, call);
    }
    memset(bench, 0, sizeof *bench);
    bench->call = call;
    bench->config = zt__fill_in_defaults(config);
    bench->region = config->region;
    bench->profiler = profiler;
    bench->series = (zt__series *)zt__allocate(zt__allocator_of(profiler), 1, sizeof *bench->series);
    if (!bench->series) {
        return zt__report_no_memory(diagnostics, call, "samples");
    }
    if (!config->measure) {
        zt_config times_alone = profiler->config;
        times_alone.groups = "";
        times_alone.metrics = times_alone.columns = NULL;
        times_alone.require_metrics = times_alone.thread = 0;
        times_alone.sample = NULL;
        times_alone.timeline = 0;
        result = zt__open_configured(profiler->context, profiler->device, &times_alone, &bench->stopwatch);
    }
    if (result != ZE_RESULT_SUCCESS) {
        zt__close_bench(bench);
        return zt__report(diagnostics, CALL_FAILED, result, "zt_open", zt_result_name(result),
                          zt__get_last_error(NULL));
    }
    zt__find_frequency_domain(bench);
    return ZE_RESULT_SUCCESS;
}

/* Returns whether the work needs a profiler with a device, and there is none. Then benchmarks do nothing,
   as any function without a profiler. */
ZT__PRIVATE int zt__has_nothing_to_run(const zt_profiler *profiler, const zt_bench_config *config) {
    return (!profiler || !profiler->device) && config && config->run && !config->measure;
}

/* Runs the work with metrics, several times in each pass of the profiler. These runs are no samples. */
ZT__PRIVATE void zt__run_with_counters(zt__bench *bench, zt_bench_result *result) {
    uint32_t i, taken = 0, runs = bench->config.counter_runs;
    double *samples = bench->series->samples; /* free to use: the samples are in the result */
    if (bench->config.measure || bench->profiler->metric_count == 0) {
        return;
    }
    for (i = 0; i < runs; i++) {
        ZT_PASSES(bench->profiler) {
            double sample = zt__run_work(bench, bench->profiler);
            if (!zt__is_nan(sample) && taken < ZT_BENCH_SAMPLES) {
                samples[taken++] = sample;
            }
        }
    }
    result->counter_runs = runs;
    result->region = zt__find_region(bench->profiler, bench->region);
    result->counter_median = zt__quantile(samples, taken, 0.5);
    result->perturbation = result->counter_median / result->median;
}

static const char *const zt__bench_ends[] = {"not run", "precise", "noise", "time", "full"};

ZT_API const char *zt_bench_end_name(zt_bench_end end) {
    return (unsigned)end < ZT__COUNT_OF(zt__bench_ends) ? zt__bench_ends[end] : "unknown";
}

ZT_API ze_result_t zt_bench(zt_profiler *profiler, const zt_bench_config *config, zt_bench_result *result) {
    zt__bench bench;
    zt__stop_rule rule;
    ze_result_t opened;
    int has_sample;
    if (!result) {
        return zt__report_null(zt__diagnostics_of(profiler), "zt_bench", "result");
    }
    zt__clear_bench_result(result, config, "");
    if (zt__has_nothing_to_run(profiler, config)) {
        return ZE_RESULT_SUCCESS;
    }
    opened = zt__open_bench(&bench, "zt_bench", profiler, config);
    if (opened != ZE_RESULT_SUCCESS) {
        return opened;
    }
    zt__warm_up(&bench, bench.config.max_time_ns);
    rule = zt__begin_stop_rule(&bench.config);
    do {
        has_sample = zt__measure_sample(&bench);
        if (has_sample) {
            result->end = zt__apply_stop_rule(&rule, bench.series);
        }
    } while (has_sample && result->end == ZT_BENCH_NOT_RUN);
    zt__describe_series(result, bench.series, &bench.config);
    if (has_sample) {
        zt__run_with_counters(&bench, result);
    }
    zt__copy_text(result->name, sizeof result->name, zt__bench_name(&bench), strlen(zt__bench_name(&bench)));
    zt__close_bench(&bench);
    return has_sample ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}

/* ---- comparing ------------------------------------------------------------------------------------------- */

/* Takes samples of two variants in turn, until the stopping rule of `a` is met by their ratios. The order
   alternates, so that drift favours neither. */
ZT__PRIVATE ze_result_t zt__compare_variants(zt__bench *a, zt__bench *b, zt__series *ratios,
                                             zt_comparison *result) {
    zt__stop_rule rule;
    int has_samples;
    zt__warm_up(a, a->config.max_time_ns);
    zt__warm_up(b, a->config.max_time_ns);
    rule = zt__begin_stop_rule(&a->config);
    do {
        int b_first = ratios->count & 1;
        has_samples = zt__measure_sample(b_first ? b : a) && zt__measure_sample(b_first ? a : b);
        if (has_samples) {
            double ratio =
                b->series->samples[b->series->count - 1] / a->series->samples[a->series->count - 1];
            zt__add_to_series(ratios, zt__is_finite(ratio) ? ratio : 1, zt__nan());
            result->a.end = result->b.end = zt__apply_stop_rule(&rule, ratios);
        }
    } while (has_samples && result->a.end == ZT_BENCH_NOT_RUN);
    zt__describe_series(&result->a, a->series, &a->config);
    zt__describe_series(&result->b, b->series, &b->config);
    if (!has_samples) {
        return ZE_RESULT_NOT_READY;
    }
    /* The interval is that of the ratios of pairs. The ratio of the medians may lie outside of it, if the
       distributions differ in shape; then the interval is widened to contain it. */
    result->ratio = result->b.median / result->a.median;
    zt__median_interval(ratios->sorted, ratios->count, &result->low, &result->high);
    if (!zt__is_nan(result->ratio)) {
        result->low = result->ratio < result->low ? result->ratio : result->low;
        result->high = result->ratio > result->high ? result->ratio : result->high;
    }
    result->differs = result->low > 1 || result->high < 1;
    return ZE_RESULT_SUCCESS;
}

ZT_API ze_result_t zt_compare(zt_profiler *profiler, const zt_bench_config *a, const zt_bench_config *b,
                              zt_comparison *result) {
    const zt_allocator *allocator = zt__allocator_of(profiler);
    zt__bench one, other;
    zt__series *ratios;
    ze_result_t done;
    if (!result) {
        return zt__report_null(zt__diagnostics_of(profiler), "zt_compare", "result");
    }
    zt__clear_bench_result(&result->a, a, "a");
    zt__clear_bench_result(&result->b, b, "b");
    result->ratio = result->low = result->high = zt__nan();
    result->differs = 0;
    if (zt__has_nothing_to_run(profiler, a) || zt__has_nothing_to_run(profiler, b)) {
        return ZE_RESULT_SUCCESS;
    }
    done = zt__open_bench(&one, "zt_compare", profiler, a);
    if (done != ZE_RESULT_SUCCESS) {
        return done;
    }
    done = zt__open_bench(&other, "zt_compare", profiler, b);
    if (done == ZE_RESULT_SUCCESS) {
        ratios = (zt__series *)zt__allocate(allocator, 1, sizeof *ratios);
        done = ratios ? zt__compare_variants(&one, &other, ratios, result)
                      : zt__report_no_memory(zt__diagnostics_of(profiler), "zt_compare", "samples");
        zt__free(allocator, ratios);
        zt__close_bench(&other);
    }
    zt__close_bench(&one);
    return done;
}

/* ---- tables of results ----------------------------------------------------------------------------------- */

/* The figures of a row: these, the metrics as rates, and the derived columns of >>advice. */
enum {
    ZT__BENCH_MEDIAN,
    ZT__BENCH_INTERVAL,
    ZT__BENCH_MINIMUM,
    ZT__BENCH_BYTES,
    ZT__BENCH_ITEMS,
    ZT__BENCH_COUNT,
    ZT__BENCH_OUTLIERS,
    ZT__BENCH_CHANGED,
    ZT__BENCH_END,
    ZT__BENCH_MHZ,
    ZT__BENCH_SLOWDOWN,
    ZT__BENCH_FIGURES
};

ZT__PRIVATE void zt__fill_bench_row(const zt_profiler *profiler, const zt_bench_result *result,
                                    double *figures) {
    uint32_t i, metrics = zt_get_metric_count(profiler);
    figures[ZT__BENCH_MEDIAN] = result->median;
    figures[ZT__BENCH_INTERVAL] = result->precision * 100;
    figures[ZT__BENCH_MINIMUM] = result->min;
    figures[ZT__BENCH_BYTES] = result->bytes_per_second;
    figures[ZT__BENCH_ITEMS] = result->items_per_second;
    figures[ZT__BENCH_COUNT] = result->count;
    figures[ZT__BENCH_OUTLIERS] = result->outliers;
    figures[ZT__BENCH_CHANGED] = result->changed;
    figures[ZT__BENCH_END] = (double)result->end;
    figures[ZT__BENCH_MHZ] = result->frequency_mhz;
    figures[ZT__BENCH_SLOWDOWN] = result->perturbation;
    for (i = 0; i < metrics; i++) {
        figures[ZT__BENCH_FIGURES + i] = zt_get_rate(profiler, result->region, i);
    }
}

ZT__PRIVATE void zt__add_bench_columns(zt__figure_table *table, int are_changed) {
    zt__add_figures(table, ZT__BENCH_MEDIAN, "median", "ns", 1, 0);
    zt__add_figures(table, ZT__BENCH_INTERVAL, "95% +-", "percent", 0, 0);
    zt__add_figures(table, ZT__BENCH_MINIMUM, "minimum", "ns", 1, 0);
    zt__add_figures(table, ZT__BENCH_BYTES, "bytes", "bytes/s", 1, 1);
    zt__add_figures(table, ZT__BENCH_ITEMS, "items", "/s", 1, 1);
    zt__add_figures(table, ZT__BENCH_COUNT, "samples", "", 0, 0);
    zt__add_figures(table, ZT__BENCH_OUTLIERS, "outliers", "", 0, 2);
    zt__add_texts(table, ZT__BENCH_END, "ended by", zt__bench_ends);
    zt__add_figures(table, ZT__BENCH_SLOWDOWN, "with counters", "times", 0, 2);
    zt__add_figures(table, ZT__BENCH_MHZ, "frequency", "MHz", 0, 2);
    if (are_changed) {
        zt__add_figures(table, ZT__BENCH_CHANGED, "at another frequency", "", 0, 2);
    }
}

/* Writes a table of results, `room` columns wide. Returns 0 without memory. */
ZT__PRIVATE int zt__write_bench_table(zt__writer *writer, const zt_profiler *profiler,
                                      const zt_bench_result *const *results, uint32_t count, size_t room) {
    const zt_allocator *allocator = zt__allocator_of(profiler);
    uint32_t i, are_changed = 0, are_unknown = 0;
    uint32_t figure_count = ZT__BENCH_FIGURES + zt_get_metric_count(profiler) + ZT__DERIVED_COLUMNS;
    double *figures = (double *)zt__allocate(allocator, count, figure_count * sizeof *figures);
    zt__figure_table table;
    zt__paragraph note;
    zt__advice advice;
    int is_complete;
    memset(&table, 0, sizeof table);
    table.heading = "benchmark";
    table.is_precise = 1;
    table.rows = (zt__figure_row *)zt__allocate(allocator, count, sizeof *table.rows);
    table.columns = (zt__figure_column *)zt__allocate(allocator, figure_count, sizeof *table.columns);
    is_complete = figures && table.rows && table.columns;
    for (i = 0; i < count && is_complete; i++) {
        table.rows[i].name = results[i]->name;
        table.rows[i].figures = figures + (size_t)i * figure_count;
        zt__fill_bench_row(profiler, results[i], figures + (size_t)i * figure_count);
        are_changed += results[i]->changed > 0;
        are_unknown += results[i]->count > 0 && zt__is_nan(results[i]->frequency_mhz);
        table.row_count++;
    }
    if (is_complete) {
        zt__choose_time_unit(&table, ZT__BENCH_MINIMUM, ZT__BENCH_MEDIAN);
        zt__add_bench_columns(&table, are_changed > 0);
        if (zt_get_metric_count(profiler) > 0) {
            zt__prepare_advice(profiler, &advice);
            is_complete = zt__add_ranked_columns(profiler, &advice, &table, figures, figure_count,
                                                 ZT__BENCH_FIGURES, 1);
        }
        zt__fit_columns(&table, room);
        zt__write_figures(writer, &table, room);
    }
    if (are_unknown > 0) {
        note = zt__begin_paragraph(writer, room, 0, 0);
        zt__add_text(&note, "The frequency is not known: set ZES_ENABLE_SYSMAN=1, or config.frequency.");
        zt__end_paragraph(&note);
    }
    zt__free(allocator, table.columns);
    zt__free(allocator, table.rows);
    zt__free(allocator, figures);
    return is_complete;
}

/* ---- writing results ------------------------------------------------------------------------------------- */

/* Results to be written. */
typedef struct zt__benches {
    const char *call;
    const zt_profiler *profiler;
    const zt_bench_result *results;
    uint32_t count;
    zt_format format; /* a table, or CSV */
} zt__benches;

/* The layout of files of benchmarks, and their columns. `layout` stays the first one in any layout. */
enum { ZT__BENCH_LAYOUT = 1 };
static const char zt__bench_columns[] =
    "layout,results,name,samples,outliers,changed,ended_by,median_ns,low_ns,high_ns,quartile1_ns,"
    "quartile3_ns,min_ns,max_ns,frequency_mhz,bytes_per_second,items_per_second,perturbation,date,device,"
    "driver_version,core_clock_mhz,zetools\n";

/* Writes a line for each result, with the number of all, by which a reader notices that some are missing. */
ZT__PRIVATE void zt__write_bench_csv(zt__writer *writer, const zt__benches *benches) {
    const zt_profiler *profiler = benches->profiler;
    zt__date date = zt__format_now();
    uint32_t i, j;
    zt__write_text(writer, zt__bench_columns);
    for (i = 0; i < benches->count; i++) {
        const zt_bench_result *result = &benches->results[i];
        const double figures[] = {result->median,
                                  result->low,
                                  result->high,
                                  result->quartile1,
                                  result->quartile3,
                                  result->min,
                                  result->max,
                                  result->frequency_mhz,
                                  result->bytes_per_second,
                                  result->items_per_second,
                                  result->perturbation};
        zt__print(writer, "%u,%u,", (unsigned)ZT__BENCH_LAYOUT, (unsigned)benches->count);
        zt__write_csv_field(writer, result->name);
        zt__print(writer, ",%u,%u,%u,%s", (unsigned)result->count, (unsigned)result->outliers,
                  (unsigned)result->changed, zt_bench_end_name(result->end));
        for (j = 0; j < ZT__COUNT_OF(figures); j++) {
            zt__write_text(writer, ",");
            if (zt__is_finite(figures[j])) {
                zt__write_number(writer, figures[j]);
            }
        }
        zt__print(writer, ",%s,", date.text);
        zt__write_csv_field(writer, profiler ? profiler->device_name : "");
        zt__print(writer, ",%s,", profiler ? profiler->facts.driver_version : "");
        if (profiler && profiler->facts.core_clock_mhz) {
            zt__print(writer, "%u", (unsigned)profiler->facts.core_clock_mhz);
        }
        zt__write_text(writer, "," ZETOOLS_VERSION "\n");
    }
}

/* Writes results; a table is `room` columns wide. Returns UNKNOWN, without a message, if `write` stopped it.
 */
ZT__PRIVATE ze_result_t zt__write_benches(const zt__benches *benches, size_t room, zt_write_fn write,
                                          void *user) {
    const zt_allocator *allocator = zt__allocator_of(benches->profiler);
    const zt_bench_result **list =
        (const zt_bench_result **)zt__allocate(allocator, (size_t)benches->count + 1, sizeof *list);
    zt__writer writer;
    int is_complete = list != NULL;
    uint32_t i;
    for (i = 0; list && i < benches->count; i++) {
        list[i] = &benches->results[i];
    }
    zt__begin_writing(&writer, write, user);
    if (benches->format == ZT_FORMAT_CSV) {
        zt__write_bench_csv(&writer, benches);
    } else if (list && benches->count > 0) {
        is_complete = zt__write_bench_table(&writer, benches->profiler, list, benches->count, room);
    }
    zt__free(allocator, (void *)list);
    if (!is_complete) {
        return zt__report_no_memory(zt__diagnostics_of(benches->profiler), benches->call, "a table");
    }
    return zt__end_writing(&writer) ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_UNKNOWN;
}

ZT__PRIVATE ze_result_t zt__write_benches_to_file(const void *benches, FILE *file) {
    return zt__write_benches((const zt__benches *)benches, zt__get_room(file == stdout), zt__write_to_file,
                             file);
}

ZT_API ze_result_t zt_write_benches(const zt_profiler *profiler, const zt_bench_result *results,
                                    uint32_t count, zt_write_fn write, void *user) {
    zt__benches benches = {"zt_write_benches", profiler, results, count, ZT_FORMAT_TABLE};
    zt__diagnostics *diagnostics = zt__diagnostics_of(profiler);
    ze_result_t result;
    if (!results || !write) {
        return zt__report_null(diagnostics, "zt_write_benches", results ? "write" : "results");
    }
    result = zt__write_benches(&benches, zt__get_room(0), write, user);
    return result == ZE_RESULT_ERROR_UNKNOWN
               ? zt__report(diagnostics, WRITE_STOPPED, result, "zt_write_benches")
               : result;
}

ZT_API ze_result_t zt_write_bench(const zt_profiler *profiler, const zt_bench_result *result,
                                  zt_write_fn write, void *user) {
    if (!result || !write) {
        return zt__report_null(zt__diagnostics_of(profiler), "zt_write_bench", result ? "write" : "result");
    }
    return zt_write_benches(profiler, result, 1, write, user);
}

ZT_API ze_result_t zt_report_benches(const zt_profiler *profiler, const zt_bench_result *results,
                                     uint32_t count, const char *path) {
    zt__benches benches = {"zt_report_benches", profiler, results, count, ZT_FORMAT_TABLE};
    zt__output output = {benches.call, path, NULL, NULL, zt__write_benches_to_file, &benches};
    output.diagnostics = zt__diagnostics_of(profiler);
    output.allocator = zt__allocator_of(profiler);
    if (!results || !path) {
        return zt__report_null(output.diagnostics, benches.call, results ? "path" : "results");
    }
    if (!zt__find_format(path, &benches.format) ||
        (benches.format != ZT_FORMAT_TABLE && benches.format != ZT_FORMAT_CSV)) {
        return zt__report(output.diagnostics, BENCH_SUFFIX, ZE_RESULT_ERROR_INVALID_ARGUMENT, benches.call,
                          path, ".txt (or none: a table) and .csv");
    }
    return zt__write_output(&output);
}

ZT_API ze_result_t zt_write_comparison(const zt_comparison *result, zt_write_fn write, void *user) {
    const zt_bench_result *both[2];
    zt__writer writer;
    size_t room = zt__get_room(0);
    char ratio[128];
    if (!result || !write) {
        return zt__report_null(NULL, "zt_write_comparison", result ? "write" : "result");
    }
    both[0] = &result->a;
    both[1] = &result->b;
    zt__begin_writing(&writer, write, user);
    if (!zt__write_bench_table(&writer, NULL, both, 2, room)) {
        return zt__report_no_memory(NULL, "zt_write_comparison", "a table");
    }
    if (!zt__is_nan(result->ratio)) {
        const char *verdict = result->ratio > 1 ? "slower" : "faster";
        zt__paragraph sentence = zt__begin_paragraph(&writer, room, 0, 0);
        zt__add_text(&sentence, result->b.name);
        snprintf(ratio, sizeof ratio, " takes %.4f times as long as ", result->ratio);
        zt__add_text(&sentence, ratio);
        zt__add_text(&sentence, result->a.name);
        snprintf(ratio, sizeof ratio, " (95%%: %.4f to %.4f): ", result->low, result->high);
        zt__add_text(&sentence, ratio);
        zt__add_text(&sentence, result->differs ? verdict : "no difference shown");
        zt__end_paragraph(&sentence);
    }
    return zt__end_writing(&writer)
               ? ZE_RESULT_SUCCESS
               : zt__report(NULL, WRITE_STOPPED, ZE_RESULT_ERROR_UNKNOWN, "zt_write_comparison");
}

/* ---- reading the results of an earlier run ---------------------------------------------------------------- */

/* A benchmark of an earlier run. Figures that are not known are NaN. */
typedef struct zt__earlier_bench {
    const char *name;
    double median, low, high, mhz;
    int is_compared;
} zt__earlier_bench;

/* A file of benchmarks. Texts point into `text`. */
typedef struct zt__bench_file {
    const char *path;
    zt__diagnostics *diagnostics;
    const zt_allocator *allocator;
    char *text;
    zt__earlier_bench *benches;
    uint32_t count;
    const char *date, *device, *driver_version, *core_clock_mhz; /* of the first line */
} zt__bench_file;

/* A line of CSV: the fields of its columns. */
typedef struct zt__csv_record {
    char *fields[64];
    uint32_t count;
} zt__csv_record;

/* Reads the line that begins at `*next`, and moves `*next` behind what was read. Quotes are removed in place.
   Returns 0 if it is no line of CSV, or if the text ends before the line does: then `*next` is at its end. */
ZT__PRIVATE int zt__read_csv_record(char **next, zt__csv_record *record) {
    char *from = *next, *to, end = ',';
    for (record->count = 0; end == ',' && record->count < ZT__COUNT_OF(record->fields); record->count++) {
        record->fields[record->count] = to = from;
        if (*from == '"') {
            from++;
            while (*from && (*from != '"' || *++from == '"')) {
                *to++ = *from++;
            }
        } else {
            from += strcspn(from, ",\r\n");
            to = from;
        }
        from += *from == '\r';
        end = *from;
        *to = 0;
        from += end != 0;
    }
    *next = from;
    return end == '\n';
}

/* Returns the field of a column, or "" if there is no such column. */
ZT__PRIVATE const char *zt__find_field(const zt__csv_record *header, const zt__csv_record *record,
                                       const char *column) {
    uint32_t i;
    for (i = 0; i < header->count; i++) {
        if (strcmp(header->fields[i], column) == 0) {
            return record->fields[i];
        }
    }
    return "";
}

/* Returns the number in a field, or NaN. */
ZT__PRIVATE double zt__number_of(const char *field) {
    double number;
    return zt__read_number(&field, &number) && !*field ? number : zt__nan();
}

/* Reads the text of a file, and makes room for as many benchmarks as it has lines. */
ZT__PRIVATE ze_result_t zt__read_bench_file(zt__bench_file *file) {
    enum { MOST_BYTES = 1 << 26 };
    struct stat properties;
    const char *why = NULL, *feed;
    FILE *stream = NULL;
    size_t size = 0, lines = 1;
    if (stat(file->path, &properties) != 0) {
        why = strerror(errno);
    } else if (!S_ISREG(properties.st_mode)) {
        why = "it is no regular file";
    } else if (properties.st_size > MOST_BYTES) {
        why = "it is too large";
    } else {
        stream = fopen(file->path, "rb");
        why = stream ? NULL : strerror(errno);
    }
    if (stream) {
        file->text = (char *)zt__allocate(file->allocator, 1, (size_t)properties.st_size + 1);
        if (file->text) {
            size = fread(file->text, 1, (size_t)properties.st_size, stream);
            file->text[size] = 0;
            why = ferror(stream) ? strerror(errno) : NULL;
        }
        fclose(stream);
    }
    if (why) {
        return zt__report(file->diagnostics, CANNOT_READ, ZE_RESULT_ERROR_UNKNOWN, file->path, why);
    }
    for (feed = file->text; feed && (feed = strchr(feed, '\n')) != NULL; feed++) {
        lines++;
    }
    if (file->text) {
        file->benches = (zt__earlier_bench *)zt__allocate(file->allocator, lines, sizeof *file->benches);
    }
    return file->benches ? ZE_RESULT_SUCCESS
                         : zt__report_no_memory(file->diagnostics, "zt_compare_benches", "a file");
}

/* Reads a line of a file. Returns 0 if it is damaged. */
ZT__PRIVATE int zt__read_earlier_bench(zt__bench_file *file, const zt__csv_record *header,
                                       const zt__csv_record *record) {
    zt__earlier_bench *bench = &file->benches[file->count];
    const char *median = zt__find_field(header, record, "median_ns");
    bench->name = zt__find_field(header, record, "name");
    bench->median = zt__number_of(median);
    bench->low = zt__number_of(zt__find_field(header, record, "low_ns"));
    bench->high = zt__number_of(zt__find_field(header, record, "high_ns"));
    bench->mhz = zt__number_of(zt__find_field(header, record, "frequency_mhz"));
    if (file->count++ == 0) {
        file->date = zt__find_field(header, record, "date");
        file->device = zt__find_field(header, record, "device");
        file->driver_version = zt__find_field(header, record, "driver_version");
        file->core_clock_mhz = zt__find_field(header, record, "core_clock_mhz");
    }
    if (!*median) {
        return 1; /* it was not measured */
    }
    return !zt__is_nan(bench->median) && !zt__is_nan(bench->low) && !zt__is_nan(bench->high) &&
           bench->low >= 0 && bench->low <= bench->median && bench->median <= bench->high;
}

ZT__PRIVATE ze_result_t zt__report_damage(const zt__bench_file *file, uint32_t line) {
    char why[64];
    snprintf(why, sizeof why, "is damaged in line %u", (unsigned)line);
    return zt__report(file->diagnostics, BAD_BENCHES, ZE_RESULT_ERROR_INVALID_ARGUMENT, file->path, why);
}

ZT__PRIVATE ze_result_t zt__report_foreign(const zt__bench_file *file) {
    return zt__report(file->diagnostics, BAD_BENCHES, ZE_RESULT_ERROR_INVALID_ARGUMENT, file->path,
                      "is no file of benchmarks");
}

/* Reads the lines of `file->text`, which is changed. `file->benches` has room for them. */
ZT__PRIVATE ze_result_t zt__parse_bench_file(zt__bench_file *file) {
    static const char *const needed[] = {"results", "name", "median_ns", "low_ns", "high_ns"};
    zt__csv_record header, record;
    char *next = file->text;
    int is_foreign = !zt__read_csv_record(&next, &header) || strcmp(header.fields[0], "layout") != 0;
    uint32_t i, line;
    double results = 0;
    if (is_foreign) {
        return zt__report_foreign(file);
    }
    for (i = 0; i < ZT__COUNT_OF(needed); i++) {
        is_foreign |= !*zt__find_field(&header, &header, needed[i]);
    }
    for (line = 2; *next; line++) {
        int is_whole = zt__read_csv_record(&next, &record);
        double layout = zt__number_of(record.fields[0]);
        if (is_whole && !zt__is_nan(layout) && layout > (int)ZT__BENCH_LAYOUT) {
            return zt__report(file->diagnostics, NEWER_BENCHES, ZE_RESULT_ERROR_UNSUPPORTED_VERSION,
                              file->path, record.fields[0], (unsigned)ZT__BENCH_LAYOUT);
        }
        if (is_foreign) {
            return zt__report_foreign(file);
        }
        if (!is_whole && !*next) {
            break;
        }
        if (!is_whole || zt__is_nan(layout) || record.count != header.count ||
            !zt__read_earlier_bench(file, &header, &record)) {
            return zt__report_damage(file, line);
        }
        results = zt__number_of(zt__find_field(&header, &record, "results"));
        if (zt__is_nan(results) || file->count > results) {
            return zt__report_damage(file, line);
        }
    }
    if (file->count == 0 || file->count < results) {
        return zt__report(file->diagnostics, BAD_BENCHES, ZE_RESULT_ERROR_INVALID_SIZE, file->path,
                          "is cut off");
    }
    return ZE_RESULT_SUCCESS;
}

/* ---- comparing with an earlier run ------------------------------------------------------------------------ */

typedef enum zt__verdict { ZT__SAME, ZT__FASTER, ZT__SLOWER, ZT__MISSING, ZT__ADDED } zt__verdict;

/* The figures of a row. */
enum {
    ZT__CHANGE_BEFORE,
    ZT__CHANGE_NOW,
    ZT__CHANGE_SHARE,
    ZT__CHANGE_LOW,
    ZT__CHANGE_HIGH,
    ZT__CHANGE_VERDICT,
    ZT__CHANGE_SHORTER, /* of the two times */
    ZT__CHANGE_LONGER,
    ZT__CHANGE_FIGURES
};

/* Benchmarks, and how they changed since an earlier run. */
typedef struct zt__changes {
    const zt_profiler *profiler;
    zt__bench_file file;
    zt__figure_row *rows;
    double *figures; /* of all rows */
    uint32_t row_count;
    zt_bench_changes counts;
    double least_tolerance, greatest_tolerance; /* 0: nothing is compared */
    char conditions[1024];                      /* sentences about what is another than in the file */
    uint32_t at_other_frequency;                /* benchmarks that ran so, and the first of them */
    char first_frequency[160];
} zt__changes;

/* Fills in the change of a median, its interval and the verdict.

   The ratio of two medians is wrong by what each of them is. As they are independent, the squares of these
   shares add up (Zou and Donner, "Construction of confidence limits about effect measures: a general
   approach", 2008). An interval that reaches 0 has no such share; then no change is shown. */
ZT__PRIVATE void zt__find_change(zt__changes *changes, double *figures, const zt__earlier_bench *before,
                                 const zt_bench_result *now) {
    double ratio = now->median / before->median, tolerance = now->tolerance;
    zt__verdict verdict = ZT__SAME;
    figures[ZT__CHANGE_SHARE] = (ratio - 1) * 100;
    if (zt__is_positive(before->low)) {
        double now_below = 1 - now->low / now->median, now_above = now->high / now->median - 1;
        double before_below = before->median / before->low - 1;
        double before_above = 1 - before->median / before->high;
        double low = ratio * (1 - sqrt(now_below * now_below + before_above * before_above));
        double high = ratio * (1 + sqrt(now_above * now_above + before_below * before_below));
        figures[ZT__CHANGE_LOW] = (low - 1) * 100;
        figures[ZT__CHANGE_HIGH] = (high - 1) * 100;
        if (low > 1 + tolerance) {
            verdict = ZT__SLOWER;
        } else if (high < 1 - tolerance) {
            verdict = ZT__FASTER;
        }
    }
    figures[ZT__CHANGE_VERDICT] = verdict;
    if (changes->least_tolerance <= 0 || tolerance < changes->least_tolerance) {
        changes->least_tolerance = tolerance;
    }
    if (tolerance > changes->greatest_tolerance) {
        changes->greatest_tolerance = tolerance;
    }
}

/* Adds a sentence about what is another than in the file, if both are known. */
ZT__PRIVATE void zt__add_condition(zt__changes *changes, const char *what, const char *before,
                                   const char *now) {
    size_t used = strlen(changes->conditions);
    if (*before && *now && strcmp(before, now) != 0) {
        snprintf(changes->conditions + used, sizeof changes->conditions - used,
                 "The %.80s was %.120s, and is %.120s. ", what, before, now);
        changes->counts.other_conditions = 1;
    }
}

/* Counts a benchmark that ran at another frequency. */
ZT__PRIVATE void zt__compare_frequencies(zt__changes *changes, const zt__earlier_bench *before,
                                         const zt_bench_result *now) {
    const double max_change = 0.02; /* as the default of the configuration */
    double change = fabs(now->frequency_mhz / before->mhz - 1);
    if (!zt__is_nan(change) && change > max_change && changes->at_other_frequency++ == 0) {
        snprintf(changes->first_frequency, sizeof changes->first_frequency,
                 "%s: %.0f MHz before, %.0f MHz now. ", now->name, before->mhz, now->frequency_mhz);
        changes->counts.other_conditions = 1;
    }
}

ZT__PRIVATE void zt__compare_devices(zt__changes *changes) {
    const zt__bench_file *file = &changes->file;
    const zt_profiler *profiler = changes->profiler;
    char mhz_before[32], mhz_now[32];
    if (profiler) {
        snprintf(mhz_before, sizeof mhz_before, "%.20s MHz", file->core_clock_mhz);
        snprintf(mhz_now, sizeof mhz_now, "%u MHz", (unsigned)profiler->facts.core_clock_mhz);
        zt__add_condition(changes, "device", file->device, profiler->device_name);
        zt__add_condition(changes, "driver", file->driver_version, profiler->facts.driver_version);
        if (*file->core_clock_mhz && profiler->facts.core_clock_mhz) {
            zt__add_condition(changes, "core clock", mhz_before, mhz_now);
        }
    }
}

/* Adds a row, and counts it. One of the two may be NULL, or not measured: then its median is not positive. */
ZT__PRIVATE void zt__add_change(zt__changes *changes, const zt__earlier_bench *before,
                                const zt_bench_result *now) {
    uint32_t *const counters[] = {&changes->counts.same, &changes->counts.faster, &changes->counts.slower,
                                  &changes->counts.missing, &changes->counts.added};
    zt__figure_row *row = &changes->rows[changes->row_count];
    double *figures = changes->figures + (size_t)changes->row_count * ZT__CHANGE_FIGURES;
    int was_measured = before && zt__is_positive(before->median);
    int is_measured = now && zt__is_positive(now->median);
    double one, other;
    uint32_t i;
    if (!was_measured && !is_measured) {
        return;
    }
    for (i = 0; i < ZT__CHANGE_FIGURES; i++) {
        figures[i] = zt__nan();
    }
    row->name = now ? now->name : before->name;
    row->figures = figures;
    figures[ZT__CHANGE_BEFORE] = was_measured ? before->median : zt__nan();
    figures[ZT__CHANGE_NOW] = is_measured ? now->median : zt__nan();
    one = was_measured ? before->median : now->median;
    other = is_measured ? now->median : before->median;
    figures[ZT__CHANGE_SHORTER] = one < other ? one : other;
    figures[ZT__CHANGE_LONGER] = one < other ? other : one;
    if (was_measured && is_measured) {
        zt__find_change(changes, figures, before, now);
        zt__compare_frequencies(changes, before, now);
    } else {
        figures[ZT__CHANGE_VERDICT] = was_measured ? ZT__MISSING : ZT__ADDED;
    }
    ++*counters[(uint32_t)figures[ZT__CHANGE_VERDICT]];
    changes->row_count++;
}

/* Returns whether two names are the same in a file, where a byte that is not valid UTF-8 is replaced. */
ZT__PRIVATE int zt__is_same_name(const char *name, const char *other) {
    zt__character character, other_character;
    while (zt__next_character(&name, &character)) {
        if (!zt__next_character(&other, &other_character) || character.code != other_character.code) {
            return 0;
        }
    }
    return !*other;
}

/* Compares each result with the first one of its name in the file that is not compared yet. */
ZT__PRIVATE void zt__match_benches(zt__changes *changes, const zt_bench_result *results, uint32_t count) {
    zt__bench_file *file = &changes->file;
    uint32_t i, j;
    for (i = 0; i < count; i++) {
        zt__earlier_bench *before = NULL;
        for (j = 0; j < file->count && !before; j++) {
            if (!file->benches[j].is_compared && zt__is_same_name(results[i].name, file->benches[j].name)) {
                before = &file->benches[j];
                before->is_compared = 1;
            }
        }
        zt__add_change(changes, before, &results[i]);
    }
    for (j = 0; j < file->count; j++) {
        if (!file->benches[j].is_compared) {
            zt__add_change(changes, &file->benches[j], NULL);
        }
    }
}

/* Writes what is to be known about the table of changes. */
ZT__PRIVATE void zt__write_change_notes(zt__writer *writer, const zt__changes *changes, size_t room) {
    const zt_bench_changes *counts = &changes->counts;
    zt__paragraph note = zt__begin_paragraph(writer, room, 0, 0);
    char text[256];
    snprintf(text, sizeof text, "%u slower, %u faster, %u same, %u missing, %u new, compared with ",
             (unsigned)counts->slower, (unsigned)counts->faster, (unsigned)counts->same,
             (unsigned)counts->missing, (unsigned)counts->added);
    zt__add_text(&note, text);
    zt__add_text(&note, changes->file.path);
    zt__add_text(&note, *changes->file.date ? " of " : "");
    zt__add_text(&note, changes->file.date);
    zt__add_text(&note, ".");
    zt__end_paragraph(&note);
    if (changes->greatest_tolerance > 0) {
        int is_range = changes->least_tolerance < changes->greatest_tolerance;
        snprintf(text, sizeof text, "%g%% to ", changes->least_tolerance * 100);
        note = zt__begin_paragraph(writer, room, 0, 0);
        zt__add_text(&note, "Slower or faster are those whose whole interval is beyond the tolerance of ");
        zt__add_text(&note, is_range ? text : "");
        snprintf(text, sizeof text, "%g%%.", changes->greatest_tolerance * 100);
        zt__add_text(&note, text);
        zt__end_paragraph(&note);
    }
    if (counts->other_conditions) {
        note = zt__begin_paragraph(writer, room, 0, 0);
        zt__add_text(&note, changes->conditions);
        if (changes->at_other_frequency > 0) {
            snprintf(text, sizeof text, "%u benchmark%s ran at another frequency; ",
                     (unsigned)changes->at_other_frequency, changes->at_other_frequency == 1 ? "" : "s");
            zt__add_text(&note, text);
            zt__add_text(&note, changes->first_frequency);
        }
        zt__add_text(&note, "So the changes need not be those of the program.");
        zt__end_paragraph(&note);
    }
}

/* Writes the table of changes, `room` columns wide. */
ZT__PRIVATE void zt__write_change_table(zt__writer *writer, const zt__changes *changes, size_t room) {
    static const char *const verdicts[] = {"same", "faster", "slower", "missing", "new"};
    zt__figure_column columns[ZT__CHANGE_FIGURES];
    zt__figure_table table;
    memset(&table, 0, sizeof table);
    table.heading = "benchmark";
    table.is_precise = 1;
    table.rows = changes->rows;
    table.row_count = changes->row_count;
    table.columns = columns;
    zt__choose_time_unit(&table, ZT__CHANGE_SHORTER, ZT__CHANGE_LONGER);
    zt__add_figures(&table, ZT__CHANGE_BEFORE, "before", "ns", 1, 0);
    zt__add_figures(&table, ZT__CHANGE_NOW, "now", "ns", 1, 0);
    zt__add_figures(&table, ZT__CHANGE_SHARE, "change", "percent", 0, 0);
    zt__add_figures(&table, ZT__CHANGE_LOW, "95% from", "percent", 0, 0);
    zt__add_figures(&table, ZT__CHANGE_HIGH, "95% to", "percent", 0, 0);
    zt__add_texts(&table, ZT__CHANGE_VERDICT, "verdict", verdicts);
    zt__fit_columns(&table, room);
    zt__write_figures(writer, &table, room);
}

ZT__PRIVATE ze_result_t zt__write_changes_to_file(const void *changes, FILE *file) {
    size_t room = zt__get_room(file == stdout);
    zt__writer writer;
    zt__begin_writing(&writer, zt__write_to_file, file);
    zt__write_change_table(&writer, (const zt__changes *)changes, room);
    zt__write_change_notes(&writer, (const zt__changes *)changes, room);
    return zt__end_writing(&writer) ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_UNKNOWN;
}

/* Reads the file, compares, and writes the table to `report` unless that is NULL. The caller frees what was
   allocated. */
ZT__PRIVATE ze_result_t zt__compare_with_file(zt__changes *changes, const zt_bench_result *results,
                                              uint32_t count, const char *report) {
    zt__bench_file *file = &changes->file;
    size_t rows = count;
    zt__output output = {"zt_compare_benches",      report, file->diagnostics, file->allocator,
                         zt__write_changes_to_file, changes};
    ze_result_t result = zt__read_bench_file(file);
    if (result == ZE_RESULT_SUCCESS) {
        result = zt__parse_bench_file(file);
    }
    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }
    rows += file->count;
    changes->rows = (zt__figure_row *)zt__allocate(file->allocator, rows, sizeof *changes->rows);
    changes->figures =
        (double *)zt__allocate(file->allocator, rows, ZT__CHANGE_FIGURES * sizeof *changes->figures);
    if (!changes->rows || !changes->figures) {
        return zt__report_no_memory(file->diagnostics, "zt_compare_benches", "a table");
    }
    zt__compare_devices(changes);
    zt__match_benches(changes, results, count);
    return report ? zt__write_output(&output) : ZE_RESULT_SUCCESS;
}

ZT_API ze_result_t zt_compare_benches(const zt_profiler *profiler, const zt_bench_result *results,
                                      uint32_t count, const char *before, const char *report,
                                      zt_bench_changes *changes) {
    zt__diagnostics *diagnostics = zt__diagnostics_of(profiler);
    zt__changes all;
    zt_format format;
    ze_result_t result;
    if (changes) {
        memset(changes, 0, sizeof *changes);
    }
    if (!results || !before || !changes) {
        return zt__report_null(diagnostics, "zt_compare_benches",
                               !results ? "results"
                               : before ? "changes"
                                        : "before");
    }
    if (report && (!zt__find_format(report, &format) || format != ZT_FORMAT_TABLE)) {
        return zt__report(diagnostics, BENCH_SUFFIX, ZE_RESULT_ERROR_INVALID_ARGUMENT, "zt_compare_benches",
                          report, ".txt or none: a table");
    }
    memset(&all, 0, sizeof all);
    all.profiler = profiler;
    all.file.path = before;
    all.file.diagnostics = diagnostics;
    all.file.allocator = zt__allocator_of(profiler);
    result = zt__compare_with_file(&all, results, count, report);
    if (result == ZE_RESULT_SUCCESS) {
        *changes = all.counts;
    }
    zt__free(all.file.allocator, all.figures);
    zt__free(all.file.allocator, all.rows);
    zt__free(all.file.allocator, all.file.benches);
    zt__free(all.file.allocator, all.file.text);
    return result;
}

/* ==== >>automatic: tracing that reports at exit =========================================================== */

#ifdef ZETOOLS_TRACER

/* What zt_auto keeps until exit. The strings of `config` and `report` are copies. */
typedef struct zt__auto {
    zt__tracer *tracer; /* NULL: nothing is traced */
    pid_t process;      /* that called zt_auto: a forked child reports nothing */
    zt_config config;   /* of each profiler */
    const char *report; /* the path of the first report, or "-" */
} zt__auto;

static zt__auto zt__automatic;

/* Replaces a string of the application, which need not outlive zt_auto, by a copy. Without memory, stores
   NULL and returns 0. */
ZT__PRIVATE int zt__keep_text(const char **text) {
    if (!*text) {
        return 1;
    }
    *text = zt__duplicate_text(&zt__default_allocator, *text);
    return *text != NULL;
}

/* Frees the copies, and clears the rest. */
ZT__PRIVATE void zt__clear_auto(void) {
    zt__free(&zt__default_allocator, (void *)(uintptr_t)zt__automatic.report);
    zt__free(&zt__default_allocator, (void *)(uintptr_t)zt__automatic.config.groups);
    zt__free(&zt__default_allocator, (void *)(uintptr_t)zt__automatic.config.metrics);
    zt__free(&zt__default_allocator, (void *)(uintptr_t)zt__automatic.config.columns);
    memset(&zt__automatic, 0, sizeof zt__automatic);
}

/* Writes what was seen on a device that has no region: below a table, only what that cannot know; without a
   table, to standard error. */
ZT__PRIVATE void zt__explain_empty_report(const zt__traced_device *device) {
    const char *list = zt__automatic.report;
    const uint64_t copies = device->copies_seen;
    uint64_t left_out = device->left_out, impossible = device->impossible;
    const char *before = "zetools: zt_auto: ";
    FILE *table = NULL, *file = stderr;
    zt__file_path path;
    while (!table && zt__next_path(&list, &path)) {
        table = zt__find_standard_stream(path.text);
    }
    if (table) {
        file = table;
        before = "";
        left_out = impossible = 0;
    }
    if (copies) {
        fprintf(file, "%sNo region for %llu copies and fills: set ZT_COPIES=1.\n", before,
                (unsigned long long)copies);
    }
    if (left_out) {
        fprintf(file, "%sNo region for %llu launches left out by ZT_KERNELS or the configuration.\n", before,
                (unsigned long long)left_out);
    }
    if (impossible) {
        fprintf(file,
                "%sNo region for %llu launches that cannot be measured: on copy engines, for which "
                "ZT_GROUPS= measures times, captured into a graph, or on lists that can be cloned or "
                "changed.\n",
                before, (unsigned long long)impossible);
    }
    if (!table && !copies && !left_out && !impossible) {
        fprintf(file, "%sno region, because nothing was launched or copied.\n", before);
    }
    fflush(file);
}

/* Writes the reports. Runs at exit, before loader and driver are gone: functions of atexit run in reverse
   order, and zt_auto has called zeInit before it registered this one. */
ZT__PRIVATE void zt__end_auto(void) {
    zt__tracer *tracer = zt__automatic.tracer;
    zt__process *process = zt__get_process();
    zt__traced_device *device;
    if (!tracer || zt__automatic.process != getpid()) {
        return;
    }
    if (zt__is_inside_hook()) {
        fprintf(stderr,
                "zetools: zt_auto: there is no report, because a callback has called exit. Return from "
                "callbacks.\n");
        return;
    }
    zt__stop_tracer(tracer, "zt_auto");
    for (device = tracer->devices; device; device = device->next) {
        if (device->profiler) {
            if (!device->is_detached) {
                zt_collect(device->profiler, tracer->wait_timeout_ns);
            }
            zt__write_reports(device->profiler, zt__automatic.report,
                              process ? __atomic_add_fetch(&process->automatic, 1, __ATOMIC_RELAXED) : 1);
            if (zt_get_region_count(device->profiler) == 0) {
                zt__explain_empty_report(device);
            }
        }
    }
    if (!tracer->devices) {
        fprintf(stderr, "zetools: zt_auto: this process created no command list, so there is no report.\n");
    }
    if (tracer->open_failures) {
        fprintf(stderr, "zetools: zt_auto did not measure %u of the contexts and devices. The first: %s\n",
                (unsigned)tracer->open_failures, tracer->open_failure.text);
    }
    if (!zt__abandon_calls(tracer)) {
        return; /* a callback on another thread still needs the tracer and its profilers */
    }
    for (device = tracer->devices; device; device = device->next) {
        if (device->profiler) {
            zt__store(&device->profiler->tracer, (zt__tracer *)NULL);
            zt_close(device->profiler);
        }
    }
    zt__destroy_tracer(tracer);
    zt__clear_auto();
}

/* Calls zeInit, which enables the tracing layer by the environment in loaders that cannot enable it
 * later. */
ZT__PRIVATE ze_result_t zt__init_with_tracing(void) {
    ze_result_t(ZE_APICALL * enable_layer)(void);
    const char *advice = "Install a Level Zero driver.";
    ze_result_t result;
    zt__find_loader_symbol("zelEnableTracingLayer", (void *)&enable_layer);
    if (!enable_layer) {
        setenv("ZE_ENABLE_TRACING_LAYER", "1", 0);
    }
    result = zeInit(0);
    if (result == ZE_RESULT_SUCCESS) {
        return result;
    }
    if (result == ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS) { /* no access to the device node */
        advice = "This user may not use the device: add them to the group of /dev/dri/renderD*, which is "
                 "render or video.";
    }
    return zt__report(NULL, CALL_FAILED, result, "zeInit", zt_result_name(result), advice);
}

ZT_API zt_auto_config zt_auto_config_default(void) {
    zt_auto_config config;
    config.report = NULL;
    config.profiler = zt_config_default();
    config.trace = zt_trace_config_default();
    return config;
}

ZT__PRIVATE ze_result_t zt__start_auto(const zt_auto_config *given) {
    static int ends_at_exit;
    zt_auto_config config = given ? *given : zt_auto_config_default();
    const char *path = getenv("ZT_AUTO");
    zt_config *kept = &zt__automatic.config, complete;
    zt__tracer *tracer = NULL;
    ze_result_t result;
    int has_memory;
    if (!path || strcmp(path, "1") == 0) {
        path = config.report && *config.report ? config.report : "-";
    }
    if (zt__is_off(path) || (zt__automatic.tracer && zt__automatic.process == getpid())) {
        return ZE_RESULT_SUCCESS;
    }
    result = zt__check_reports(NULL, "zt_auto", path);
    if (result == ZE_RESULT_SUCCESS) {
        result = zt__init_with_tracing();
    }
    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }
    zt__automatic.report = path;
    *kept = config.profiler;
    if (!kept->timeline && zt__shows_timeline(path)) {
        kept->timeline = ZT__REPORT_TIMELINE;
    }
    has_memory = zt__keep_text(&zt__automatic.report);
    has_memory &= zt__keep_text(&kept->groups);
    has_memory &= zt__keep_text(&kept->metrics);
    has_memory &= zt__keep_text(&kept->columns);
    complete = zt__complete_config(kept); /* for the defaults of the tracer; zt_open completes `kept` */
    if (has_memory) {
        tracer = zt__create_tracer(&complete.allocator, NULL, complete.wait_timeout_ns);
    }
    if (!tracer) {
        zt__clear_auto();
        return zt__report_no_memory(NULL, "zt_auto", "the tracer and its configuration");
    }
    tracer->automatic = kept;
    result = zt__start_tracer(tracer, &config.trace, complete.timeline);
    if (result != ZE_RESULT_SUCCESS) {
        zt__destroy_tracer(tracer);
        zt__clear_auto();
        return result;
    }
    zt__automatic.process = getpid();
    zt__automatic.tracer = tracer;
    if (!ends_at_exit) {
        ends_at_exit = atexit(zt__end_auto) == 0;
    }
    return ZE_RESULT_SUCCESS;
}

ZT_API ze_result_t zt_auto(const zt_auto_config *config) {
    ze_result_t result = zt__start_auto(config);
    if (result != ZE_RESULT_SUCCESS) {
        const char *message = zt__default_log() ? "" : zt_get_last_error(NULL); /* or printed already */
        fprintf(stderr, "zetools: zt_auto: nothing is traced.%s%s\n", *message ? " " : "", message);
    }
    return result;
}

#endif /* ZETOOLS_TRACER */

#ifdef __cplusplus
} /* extern "C" */
#endif

#if defined(__clang__)
#pragma float_control(pop)
#endif

#endif /* ZT__IMPLEMENTED */

/*
   MIT License

   Copyright (c) 2026 the zetools authors

   Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
   associated documentation files (the "Software"), to deal in the Software without restriction, including
   without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
   copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the
   following conditions:

   The above copyright notice and this permission notice shall be included in all copies or substantial
   portions of the Software.

   THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT
   LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO
   EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER
   IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE
   USE OR OTHER DEALINGS IN THE SOFTWARE.
*/
