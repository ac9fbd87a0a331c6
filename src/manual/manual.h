/* zetools.h - an application profiles its own GPU work, through the tools interface of oneAPI Level Zero.

   SPDX-License-Identifier: MIT
   The licence is at the end of this file.

   ==========================================================================================================
   MANUAL
   ==========================================================================================================

   The manual explains how things work together. Each function is documented at its declaration. The
   implementation begins with an overview of its chapters, locks and states.

   CONTENTS

       First steps         USE, TERMS, NAMES
       Regions             REGIONS, NESTING, COMMAND LISTS, COLLECTING, COUNTS, AGGREGATION, PASSES, TILES
       Streams and time    STREAMS, THE TIMELINE
       The tracer          TRACING, TRACED LAUNCHES, AUTOMATIC TRACING, KERNELS, MODULES, REPLACEMENTS,
                           HOT SPOTS
       Debugging           PROGRAM DEBUG, WATCHING
       What figures mean   LATENCY, BYTES AND OVERLAP, ROOFLINE
       What is written     REPORTS, OPENMETRICS, PACKED STATISTICS
       Benchmarks          BENCHMARKS
       Rules               CALLBACKS, THREADS, PROCESSES
       Settings            ENVIRONMENT, OPTIONS

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

       On Windows, link with ze_loader.lib, or with -lze_loader by mingw-w64. Visual Studio would have
       to be 2022, 17.9 or later, for x64; its compiler has not been tried. Paths are UTF-8 there. An empty
       variable of the environment counts as not set, and changes by SetEnvironmentVariable after the start of
       the program are not seen. Hot spots have no source lines, because no symboliser is run, and a watch has
       no helper process.

       A profiler belongs to a context and a device. This one measures what is appended to a list inside of
       ZT_REGION, and prints a table:

           zt_config config = zt_config_default();
           config.groups = "ComputeBasic";
           zt_profiler *profiler;
           zt_open(context, device, &config, &profiler);

           ZT_REGION(profiler, list, "saxpy")
               zeCommandListAppendLaunchKernel(list, saxpy, &groups, NULL, 0, NULL);
           ...             waits for the list, if it is immediate. A recorded one is closed and executed
                           with zt_execute, and zt_release is called before it is destroyed:
                           see COMMAND LISTS
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
       sample         one execution of a region, with its figures. Statistics are computed from samples. Of
                      hot spots: the instruction at which one thread of the device was at one moment
       in flight      begun, and not yet collected, lost or dropped; see COUNTS
       slot           what a sample needs while it is in flight: a metric query for each group, and an event
       to collect     to read the figures of finished samples and add them to the statistics
       pass           one repetition of the work, with one set of metric groups
       tile           a sub-device of a device that has several
       stream         periodic measurements of a metric group
       report         what zt_report writes. Of a stream: what the device measured in one period, as raw data
       row            of a stream: the metrics of one period, calculated from a report
       marker         a name that a command list puts into a stream
       tracer         the part of the library that observes calls of the application to Level Zero
       launch         a call that appends a kernel to a list, which may then be executed several times
       hot spot       an instruction of a kernel, with the samples that were taken there
       debugger       a session with one device and one process that uses it, to stop and examine threads

   NAMES

       Most functions are named by a verb and a noun, zt_get_counts, and after what they belong to if that is
       not a profiler: zt_stream_get_counts. Functions of streams begin with zt_stream_, those that control
       the tracer with zt_trace_, those that sample hot spots with zt_hotspots_, those of a watch with
       zt_watch, and those of debuggers with zt_debug_.
       zt_get_ functions return what a profiler has measured, including what its tracer has: zt_get_call,
       zt_get_kernel, zt_get_hotspot. zt_..._name returns the name of a value, and zt_..._config_default a
       configuration; for a benchmark that is one of zeros. Names that begin with zt__ or ZT__ are private.

   REGIONS

       The metric query of a region begins when the commands before it are complete, and commands after it
       wait until it has ended. So a region serialises the work around it: kernels that would overlap do not.
       Without metrics, barriers have the same effect; launches that the tracer measures then need none (see
       TRACED LAUNCHES). Put regions around the parts that matter, and not around every kernel of a pipeline
       that depends on overlap.

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
       - a region directly inside it has ended after it: then the two overlap, and the own time of the region
         around them is not known either
       - their list was executed several times without zt_execute, so that the samples of the two may be from
         different executions
       - a sample is shorter than those inside it, so that the device has measured one of them wrongly
       - regions are nested more than 64 deep, or on more than 65,536 paths: those beyond count as not nested

       The own time of a region without regions inside is always known. Own time includes work that was not
       measured, such as launches that a tracer left out (zt_trace_config.names), and the time that it takes
       to begin and end the regions inside.

       Where regions nest on a recorded list that is executed again, some drivers return a wrong GPU time for
       the outer one. Such a sample is lost (ZT_LOST_IMPLAUSIBLE).

   COMMAND LISTS

       On an immediate list, each region runs once. Its slot is free again when its sample is collected.

       On a recorded list (from zeCommandListCreate), a region keeps its slot until the list is reset or
       destroyed, because the list may be executed again. An execution overwrites the figures of the one
       before it. So the library has to know about executions, resets and destruction:

       - Execute recorded lists with zt_execute. It first collects the last execution of the same lists,
         and waits for that one if necessary. It does not wait for the execution that it starts, so two lists
         that are used in turn keep the device busy.
       - Reset recorded lists with zt_reset.
       - Call zt_release before any list is destroyed. Afterwards is too late: another thread may have
         created a new list with the same handle.

       If a program does not do so:

       - A recorded list is executed without zt_execute: of its executions between two collections, only the
         last one is measured, and the number of the others is unknown. The list is counted in
         zt_counts.unobserved_lists and reported below the table, and the first such list is logged.
         Until zt_release, the library assumes that regions whose execution it has not seen may be running:
         zt_collect waits for them, and zt_close does not free their slots.
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
       - zt_collect: those that are ready, and with a timeout also those that are on their way
       - zt_end, after every 64 regions on immediate lists, and zt_begin, when there is no free slot
       - zt_execute, zt_release and zt_reset, for the lists that they are given
       - a thread of the library's own, with config.thread

       One thread collects at a time. Others skip collecting, unless they have a timeout or need samples that
       it is collecting. Samples wait in their slots, so a program may collect seldom, or only at the end.

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

       A collected sample has a GPU time and, where they are measured, metrics. Launches outside of
       zt_trace_config.every and limit have times alone. zt_region_info.count and time_ns are of all samples
       of a region, zt_region_info.with_metrics counts those with metrics. A metric is divided by the GPU time
       of the samples that have it (zt_get_pass), and weighted by it: so rates and averages are those of the
       launches with metrics, also if others take longer.

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
       work, and record anew the lists that it executes: a region that runs in a different pass from the one
       in which it was begun is lost (ZT_LOST_OTHER_PASS). If a region is missing in a pass, or has a
       different number of samples or GPU time there, zt_region_info.differs and reports show it; then do not
       compare metrics of different passes. Outside of ZT_PASSES the groups of the first pass are active.

   TILES

       On a root device with several tiles, a region has the metrics of each tile (zt_get_tile_stats) and of
       the whole device. For the whole device, counts and bytes are added. Of times, clock cycles and flags,
       the largest value is used. Averages are weighted by the GPU time of the tiles. Metrics that are not
       combined are those of the first tile.

   STREAMS

       A stream measures a metric group of the device periodically while the application runs. zt_stream_open
       starts it; zt_stream_read delivers its rows. The device has little memory for reports, so read often,
       or set zt_stream_config.reader. All memory for reports and rows is allocated when the stream is opened.

       zt_stream_mark appends a marker to a command list. When the device executes the marker, it ends the
       current row, which gets the marker's name.

       Streams and regions with metrics exclude each other on a domain of the device, on some drivers on the
       whole device. Whichever is opened second does not get the counters: zt_stream_open fails, and zt_open
       leaves regions with times. The message names who holds the counters. A stream and regions with times
       alone (config.groups = "") always go together. A stream of a root device with several tiles is refused:
       open one on each sub-device.

       reports = rows + discarded + waiting, at any time. Discarded reports were read, but not delivered as
       rows: the first one of a stream, those that the driver cannot calculate, and those whose rows neither
       a function nor a profiler receives. Reports that the device dropped before they were read leave gaps;
       their number is estimated from the length of the gaps (zt_stream_counts.dropped). The row after a gap is
       marked (zt_row.gap).

   THE TIMELINE

       With config.timeline, begin and end of the newest samples are kept. The clock of the device and
       CLOCK_MONOTONIC of the host are compared when the profiler is opened, while it collects, and for
       reports. Times between two comparisons are interpolated, which corrects drift. The device's clock
       starts again from 0 when it overflows. If this may have happened before a sample was collected, its
       time is uncertain: the sample is not kept, but counted in zt_timeline_info.lost_samples.

       A report to "run.trace.json" is in the Trace Event format, which Perfetto and Chrome show. It has two
       processes, the device and the program. That of the device has

       - a track for each command list, named by zt_name_list. Regions that overlap without being nested are
         on separate tracks. Arguments of a region are its metrics, its latencies and the thread that has
         appended it; for a traced launch the number and the size of its work-groups, and for a traced copy
         its bytes and its rate, as far as the host knows them
       - a counter for each metric of the attached streams (zt_stream_config.profiler). What adds up is shown
         as a rate: bytes in GB/s, events a second, times as a share of the time
       - a track for each attached stream, with its markers, and a span for each gap
       - an instant where a missing sample was submitted: one that is lost, dropped, or without a certain time

       That of the program has a track for each thread, with the number and name that the system gives it.
       Spans are what has appended a region to an immediate list ("append saxpy"), what has executed recorded
       lists ("execute lists"), and timed calls. An arrow (a flow event) leads from there to each region.

       config.columns chooses metrics for counters and arguments, as for the table. Without it, or if it names
       none of a stream or of the regions, up to eight of these are chosen: those that a table shows first.

       Values of counters are rounded by less than 0.025%, and are written only where they change. If more
       than 80,000 values remain, pairs of rows are merged into their mean, until there are fewer. An instant
       at the begin of the stream shows how many rows a value stands for; with fewer columns there are fewer.
       So the trace of a minute, with noise in a stream at 100 us beside 10,000 regions, is smaller than
       20 MB.

       A row of an attached stream belongs to a sample if the middle of its period lies between the sample's
       begin and end. From these rows, each region has the mean and the peak of every streamed metric
       (zt_get_streamed). A row counts in full for each sample that it belongs to, so the figures of an outer
       region include those of the regions inside it. A region that is shorter than the period has rows only
       by chance; many samples still give a fair average. Rows and samples are matched only while both are
       kept: if one of them is collected or read late, raise config.timeline or
       zt_stream_config.timeline_rows.

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
       collected; with metrics, this waits up to config.wait_timeout_ns, as zt_execute does. If executions
       overlap nevertheless, because that took too long or because a call names the list twice, the earlier
       ones are lost: time stamps do not show which execution they are of. The last one is measured when
       zeCommandQueueSynchronize or the next execution finds the queue idle.
       When a list is reset or destroyed, its slots are freed; if the driver refuses that, nothing changes. For
       a list that was created before zt_trace_start, the driver is queried for context and device. If it does
       not report them, the list is assumed to belong to those of the profiler.

       zt_trace_counts counts launches when they are appended, however often their list is executed later. A
       launch that the driver refuses is a dropped sample. Launches that cannot be measured are counted as
       elsewhere, and reports note them:

       - captured into a graph, or waiting for events while another list is captured
       - on copy engines, if the profiler measures metrics
       - on lists that can be cloned, because clones would write to the same queries and events. Of lists that
         were created before zt_trace_start this is not known with loaders that do not have
         zeCommandListGetFlags (before API version 1.17), or if it fails: do not clone these
       - on mutable lists, once the application has queried the identifier of a command, because nothing may
         be appended before that command

       With zt_trace_config.calls, calls of the application are counted and timed on the host. Reports show
       them below the regions, and the timeline has a track for each thread. Calls that the library makes
       itself, or that hooks make, are neither timed nor traced.

       zt_trace_config.hooks are callbacks of the application around calls. Prologues run before the call, in
       the order of the array; epilogues run after it, in reverse order. The tracer does its own part between
       the prologues and the call, and between the call and the epilogues. So what a prologue changes is what
       is measured, and a kernel that an epilogue of zeKernelCreate puts in place of another is measured under
       its own name.

   TRACED LAUNCHES, with ZETOOLS_TRACER

       With metrics, a launch is measured between two queries, and overlaps with nothing. If it waits for
       events, the tracer appends the wait, then the begin of the region, then the launch. So the GPU time
       does not include the wait. If the driver refuses the launch, the wait stays on the list.

       If the profiler measures times alone (config.groups = ""), a launch is measured by the time stamps that
       the device writes with each kernel. So is, with metrics, a launch outside of zt_trace_config.every and
       limit. It overlaps with others as it does without the tracer:

       - A launch without a signal event signals one of the library. Nothing is appended.
       - A launch on a list that is not in order keeps its signal event. Its time stamps are read when it has
         signalled, before the application resets it (on the host or in a list), destroys it or uses it again.
         Nothing is appended but, before a reset in the same list, a copy of the time stamps and a barrier.
         For this, the tracer adds ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP to pools that the host can see; then
         zeEventPoolGetFlags has it, too.
       - On a list that is in order, a launch signals an event of the library, and
         zeCommandListAppendSignalEvent follows, which signals that of the application.
       - An event cannot be kept if it is counter-based, shared between processes, not visible to the host, of
         a pool that has extensions or was created before zt_trace_start, or if other commands that signal it
         may be in flight or are recorded. Then the launch signals an event of the library, too. That of the
         application is signalled by a barrier on a copy engine, which executes one command at a time; on
         another immediate list by zeCommandListAppendQueryKernelTimestamps, which waits for the library's
         event alone: soon after the kernel has ended. A device that stops at such a wait begins what is
         appended next later, even if that does not depend on the event.

       An event that is kept belongs to one launch at a time. The sample is lost (ZT_LOST_EVENT) if, before
       the launch has signalled the event, another command is appended that signals it, or the host signals or
       destroys it, or zt_trace_stop has waited for config.wait_timeout_ns. Host functions, graphs and metric
       queries that signal an event while a launch does are not seen.

       Few launches are measured by time stamps between barriers instead, after a wait for their events:

       - if the application may read kernel time stamps of its event, and it cannot be kept
       - with a signal event that cannot be kept, on a recorded list that is not in order, because the event
         of the library may still be signalled when the list runs again
       - if several profilers measure the launch, for all but the first, unless they all keep the event
       - if the list or the event was created before zt_trace_start, and the loader is too old to describe it

       On lists that are not in order, these overlap with nothing; zt_trace_counts.serialised counts them.

       A recorded list has one event for each launch. If it is executed again before the last execution has
       ended, the tracer does not wait for that, which is then lost (ZT_LOST_OVERWRITTEN).

       Copies, fills and barriers are measured in the same ways (zt_trace_config.copies). A wait for events
       signals no event itself. On a list that is in order, it is measured by time stamps before and after it.
       On other lists it is counted as elsewhere, as is a barrier that could only be measured between others.

       On a device with several tiles, the time is from the first begin to the last end on any tile. For the
       timeline, the clock of kernel time stamps is compared with the device's when the profiler is opened,
       for which a barrier is executed; with metrics, when it first traces with `every` or `limit`.

   AUTOMATIC TRACING, with ZETOOLS_TRACER

       zt_auto(NULL), called first in main, opens a profiler for every context and device on which the process
       creates a command list, traces, and writes reports for each at exit: run.csv, run.2.csv and so on. The
       environment chooses what is traced and reported, as the command line of other tools does:

           ZT_AUTO=run.csv,run.trace.json ZT_KERNELS="gemm*,!*_tail" ZT_COPIES=1 ./program

       ZT_HOTSPOTS=1 also samples hot spots on each device that can. See ENVIRONMENT for the other variables.

       examples/preload.c is a library that calls zt_auto when it is loaded. With LD_PRELOAD it profiles
       programs that were not built with zetools. Programs that end without exit, such as by _exit or a
       signal, have no report.

   KERNELS, with ZETOOLS_TRACER

       For each kernel that is launched on a list of the profiler, the tracer reports what it is made of, and
       how much of the device its launches can fill: zt_get_kernel, a table below that of the regions,
       "kernels" in JSON, lines of CSV and a part of a page. zt_trace_config.names chooses kernels. Launches
       count when they are appended, also those outside of zt_trace_config.every and limit.

       Kernels with the same name and the same properties, in modules with the same native binary, are one.
       Others of the same name are listed apart, and share a region; a table then has the column "module",
       the first eight digits of zt_kernel_info.module as %016llx, which also names files (see MODULES). A
       replacement is listed under its own name (see REPLACEMENTS).

       Of each kernel, ZT_KERNEL_SHAPES different shapes are kept: the size and the number of the work-groups
       of a launch. A size that was set before the tracer started, and a number that the device reads from
       memory, are not known.

       Properties are from zeKernelGetProperties, zetKernelGetProfileInfo and zeKernelGetBinaryExp, and from
       the description in the native binary of Intel's compiler (.ze_info). The binary is read when the first
       kernel of a module is created; the driver is queried for the rest when the first launch of a handle
       has been appended. So no launch waits for it. Of a kernel that was created before the tracer started,
       the module is not known, and neither are its barriers. Spills are values that did not fit into
       registers; private memory is mostly arrays with indices that the compiler does not know. Both are what
       the compiler has allocated, in bytes a thread.

       Occupancy is the share of the places for threads in a subslice (Xe-core) that work-groups of this size
       can fill:

           threads of a group = items / SIMD width, rounded up
           threads of an EU   = as the compiler states; else 1024 / registers, at most those of the device
           groups             = the least of
                                  threads of an EU * EUs of a subslice / threads of a group
                                  shared local memory of a subslice / that of a group
                                  32 / barriers of a group
           occupancy          = groups * threads of a group / (places of an EU * EUs of a subslice)
           waves              = groups of the launch / (groups * subslices)

       All but the waves is from Intel's "oneAPI GPU Optimization Guide", Thread Mapping and GPU Occupancy;
       Intel's driver computes the size of cooperative launches in this way
       (KernelHelper::getMaxWorkGroupCount). EUs of today have 1024 registers for all their threads, so the
       large register file halves these, and subslices have 32 barriers. The shared local memory of a
       subslice is taken to be the most that a group can have.

       The formula ignores that shared local memory is allocated in steps, that other kernels may run beside
       this one, that groups end at different times, and that a device may have fewer EUs and subslices than
       the driver's maxima. Occupancy is not known if one of these figures is not, or if by the formula not
       even one group fits. The metric XVE_THREADS_OCCUPANCY_ALL, or its counterpart on the device, shows what was
       reached.

       zt_kernel_info.advice describes in words what a kernel spills, and what keeps the device from being
       full. Its rules are one table, with the source of each threshold: search for zt__kernel_rules. The
       advice for ten kernels is below the table of kernels.

       Kernels are not in packed statistics, are not merged, and are not in OpenMetrics, which is for figures
       that change.

   MODULES, with ZETOOLS_TRACER

       With zt_trace_config.modules, each module that is created while tracing leaves files in a directory,
       for disassemblers and symbolisers:

           3f9c6a0d5e21b784.elf     the native binary. Its suffix is .elf, .ar for a fat binary, else .bin
           3f9c6a0d5e21b784.debug   the debug information, ELF with DWARF, if the driver has some: build
                                    modules with -g

       They are named by the FNV-1a hash of the native binary, which zt_kernel_info.module has as a number:
       print it as %016llx. JSON and CSV have it in this form. So the binary of a kernel in a report is the
       file of that name, processes may share a directory, and a module that is created again is not written
       again. Two of 10,000 different modules have the same hash with a probability of 3 in 10^12. A file is
       written beside its name and then renamed, so that nobody reads an incomplete one. What cannot be
       written is logged once, and noted in reports; the program goes on.

       With zt_trace_config.profile_flags, -zet-profile-flags is added to the build flags of these modules, so
       that zetKernelGetProfileInfo describes their registers to tools that inject instructions. Set
       ZET_ENABLE_PROGRAM_INSTRUMENTATION=1 in the environment before zeInit; zt_auto does so if it is given
       profile flags. The first module for each device is built twice, once to see whether the driver accepts
       the flags. If it does not, modules are built as the application says, which is logged once.

   REPLACEMENTS, with ZETOOLS_TRACER

       zt_replace puts kernels of another module in place of the application's, which need not know of it. So
       an instrumented build can count in a variable of its module what the kernels of a program do:

           zt_replace(profiler, "solve*", instrumented, NULL);
           zt_trace_start(profiler, NULL);
           ...
           zeModuleGetGlobalPointer(instrumented, "iterations", &size, &counter);

       When a zeKernelCreate of the application has succeeded, the tracer creates the other kernel, destroys
       the first one, and returns the handle of the other. So arguments and group sizes that the application
       sets, launches and zeKernelDestroy are those of the replacement, which is measured under its own name.
       Epilogues of hooks get the replacement and its module. What zeModuleGetFunctionPointer returns is
       replaced likewise, if the other module has a function of that name. zeModuleGetKernelNames is not
       changed. Reports note how much was replaced.

       A kernel stays as it is, and this is logged once, if the other one cannot be created or has a different
       number of arguments. It stays without a message if it was created before zt_replace or zt_trace_start,
       if the name of the other one is not given and its module has none of this name, if it is of a module
       that replaces others, or if its module is of another context or device than the profiler's; a module
       that was created before the tracer started is assumed to be of the profiler's. The replacement ends
       when the application destroys the other module while it is traced.

   HOT SPOTS, with ZETOOLS_TRACER

       Hot spots show where inside a kernel the time goes. A device with a metric group that samples
       instructions, such as EuStallSampling, looks at its threads periodically: at which instruction each is,
       and whether it executes that or waits for something. From zt_hotspots_start on, these samples are added
       up by instruction, of all kernels that run on the device:

           zt_trace_start(profiler, NULL);
           zt_hotspots_start(profiler, NULL);
           solve(...);
           zt_hotspots_stop(profiler);
           zt_trace_stop(profiler);
           zt_report(profiler, "-");

       The group is found by what its metrics are, not by its name: an address of code, and counts of events.
       The count "Active" is that of threads that executed the instruction. The others are kinds of stall, and
       are called as the driver calls them: on an Arc B580 "SbidStall" waits for a result of an earlier
       instruction, "SendStall" for room to send a message, such as a load, "SyncStall" for other threads,
       "PipeStall" and "DistStall" for the pipeline, "InstrFetchStall" for the instructions themselves. A
       stall is counted where the thread waits, which often is an instruction after the one that is slow.

       The device reports addresses. So the tracer has to know where each kernel lies, and hot spots need a
       profiler that traces (with zt_trace_config.no_launches, if launches are not to be measured). It knows
       kernels that were created while it traced, or launched while hot spots are sampled. An address may
       later be that of another kernel. So what was sampled is read before a kernel or a module is destroyed,
       and each sample belongs to the kernel that was at its address when it was read. Kernels of the same
       name with the same instructions are one. Samples elsewhere are counted by cause in zt_hotspots_counts:
       the device also samples other processes, and reports only 32 bits of an address, which two kernels may
       have in common. A kernel that a hook has put in place of another is known, but not its source lines.

       The device has little memory for samples. A thread of the library's own reads them. With
       zt_hotspots_config.no_thread, and with ZETOOLS_NO_THREADS, zt_collect does. What the device drops is
       counted as an event, because the device does not report how many samples that were.

       Sampling needs no queries and does not serialise anything. It uses a domain of its own, so it goes
       together with regions, with metrics or without, and with a stream. One profiler at a time samples a
       device. A root device with several tiles is refused: open a profiler on each sub-device.

       A device without such a group can be sampled in another way, with ZETOOLS_DEBUG. Where
       zt_hotspots_config.stops_a_second is not 0, zt_hotspots_start then attaches a debugger to this process
       (see PROGRAM DEBUG). A thread of the library's own stops all threads of the device that often, reads at
       which instruction each is, and resumes them at once. Each thread is one sample, of the kind "Stopped":
       whether it executed or waited is not known. A stop without an answer is counted in
       zt_hotspots_counts.drops. Nothing stays stopped when sampling stops or the process exits. Unlike
       samples of the device, stops delay the work. On the software device a stop takes some tenths of a
       millisecond: 10 a second are not measurable, 100 make a kernel up to a twentieth longer, and 1000 a
       tenth to a quarter, or more on a busy machine (bench/stops.c). No other device has been measured. No
       helper process is used: a device that does not let a process debug itself cannot be sampled in this
       way. Neither can one that another debugger or zt_watch is attached to, and it refuses these while it is
       sampled.

       Source lines come from the debug information of the modules, which compilers add with -g or
       -gline-tables-only. It is read when a module with samples is destroyed or sampling stops, up to
       zt_hotspots_config.debug_limit bytes. A report that shows hot spots passes it to addr2line,
       llvm-addr2line or llvm-symbolizer, whichever the PATH has. Nothing else needs these programs, and
       nothing runs them before a report, zt_write or zt_hotspots_find_lines. They get an environment without
       LD_PRELOAD. Without them, or without debug information, hot spots have offsets from the begin of the
       kernel, as disassemblers show them.

       The table shows the 20 source lines with most samples: "active" is the share of these in which the
       instruction was executed, "main stall" the most frequent stall and its share. A page shows the source
       with the samples beside each line. In folded stacks, the own time of a region with the name of a kernel
       is divided among its lines in proportion to their samples: "step;gemm;gemm.cl:12 314374". If there is
       no region, the numbers are samples. Hot spots are not in packed statistics, are not merged, and are not
       in OpenMetrics.

   PROGRAM DEBUG, with ZETOOLS_DEBUG

       A debugger stops threads of a device in the middle of a kernel, and shows where they are:

           const zt_debug_thread all = {ZT_DEBUG_ALL, ZT_DEBUG_ALL, ZT_DEBUG_ALL, ZT_DEBUG_ALL};
           zt_debug_open(device, pid, NULL, &debugger);
           zt_debug_stop(debugger, all, 1000000000, &stops);
           zt_debug_threads(debugger, threads, &count);
           for (i = 0; i < count; i++) {
               zt_debug_get_address(debugger, threads[i], &address);
               zt_debug_where(debugger, address, &place);
               printf("%s+0x%llx\n", place.kernel, (unsigned long long)place.offset);
           }
           zt_debug_close(debugger);

       It attaches to one device, and to one process that uses it: another one of the same user or, where the
       driver permits it, its own. The host code of that process goes on. Set
       ZET_ENABLE_PROGRAM_DEBUGGING=1 in the environment of both before zeInit. On Linux, the system may also
       have to be prepared once, as root:

           echo 1 > /sys/class/drm/card0/prelim_enable_eu_debug      i915
           echo 1 > /sys/class/drm/card0/device/enable_eudebug       xe

       If zt_debug_open cannot attach, its result is the reason, and its message has the remedy. One debugger
       at a time can attach to a device for a process.

       zt_debug_wait delivers events. A module that is loaded while a debugger is attached does not run until
       its event is acknowledged, which zt_debug_wait does when the function has returned, or
       zt_debug_acknowledge before. So call zt_debug_wait now and then, also without a function. Up to 1024
       events wait to be delivered. Further ones stay in the driver, and a stop does not see its answer until
       there is room for it.

       A device has many threads, and most are idle. Of the threads that zt_debug_stop was to stop, it counts
       those that have not stopped as unavailable. A thread that has stopped by itself, because of a page
       fault or an exception, is listed and resumed like others. The driver does not list stopped threads:
       zt_debug_threads tries each thread of the device.

       Registers are those of the device. The driver reports which sets it has, and the number and size of
       their registers; these may differ between devices and versions. Names are those that Intel's driver,
       its assembler and its debugger use. A vector register has the values of all items of a thread: the
       manual of the device, or the debug information of the kernel, tells which is which.

       The address of an instruction is the register isabase plus cr0.2. zt_debug_where looks it up in the ELF
       files of the modules, which are read from the memory of the process when they are loaded, up to
       zt_debug_config.module_limit bytes. A module that is unloaded stays known until others need the room.

       Source lines come from the debug information in the same files, as those of hot spots do (see HOT
       SPOTS). zt_debug_config.no_lines switches this off.

       zt_debug_close acknowledges all events and resumes all threads. If a process ends with an open
       debugger, however it ends, the driver does that. When the debugged process ends, its debugger gets
       ZT_DEBUG_DETACHED. From then on its functions return NOT_AVAILABLE at once; zt_debug_where still finds
       places.

   WATCHING, with ZETOOLS_DEBUG

       zt_watch reports where a kernel hangs:

           zt_watch(profiler, NULL);
           ...
           zt_close(profiler);

       A thread of the library's own looks at the regions and traced launches that were submitted. When one
       has run longer than zt_watch_config.hang_ns, or when the device reports a fault, it stops all threads
       of the device once, adds up at which instructions they are, and resumes them. The report has the region
       and how long it has run, the kernels with the number of threads at each instruction, threads that could
       not be stopped, and who has debugged the process. It goes to the log function, to
       zt_watch_config.function and to a file. With leave_stopped, threads stay stopped until zt_watch_stop or
       zt_close: for a look at the memory of the program with a debugger of the host.

       The time is counted from the moment when the watch finds that a region was submitted and that all
       before it on its list have ended: up to an eighth of hang_ns, or a second, late. So it includes waits
       for events and for other lists. Not seen are

       - regions that are begun and not ended. Of nested regions, the innermost is reported
       - recorded lists that are executed without zt_execute while nothing traces
       - on loaders before 1.16, immediate lists, unless they were created while tracing
       - regions that were dropped, launches that zt_trace_config leaves out, and all other work
       - launches that are measured by an event of the application which the application then signals or
         destroys itself

       While a hang lasts, no other is reported, because what is behind it waits. When it has ended, the times
       of the others begin anew. Faults are always reported, but for a page fault that comes again at the same
       address when the work was resumed: it ends debugging. After a fault most drivers lose the device; a
       fault that arrives after the loss is reported without a region.

       While it watches, the library is attached as a debugger of this process: see PROGRAM DEBUG for what has
       to be enabled. It acknowledges events at once, so modules run as without it. If the process may not
       debug itself, the library starts a helper: the same program once more, in which a constructor of this
       header serves instead of main, talking through a socket that nobody else can open. If the header is in
       a shared library, that library is preloaded into a shell instead. Other constructors and static objects
       of the program and its libraries may run in the helper: those of shared libraries, and those with a
       priority below 101. The helper ends with the watch, or when the program ends, however that happens;
       what it had stopped is resumed. It is no child of the program. A program whose file gives it privileges,
       as setcap does, has no helper. If neither can debug, hangs are reported without places. The reason is
       logged, in the report and in zt_watch_get_info, and the next hang tries again.

       While no region hangs, the watch wakes up eight times in hang_ns, at least once a second and, while it
       is attached, ten times. It queries one event of each list that has work, and locks the profiler
       briefly.

   LATENCY

       With config.timeline, zt_get_latency returns how long regions and traced launches have waited:

       queue    from zt_begin, or from the call that appends the launch, to the execution of the recorded
                list. Only the first execution counts. Immediate lists have no such latency
       launch   from the call that executes the list, or that appends to an immediate list, to the begin on
                the device. This includes the wait for events and for what runs before. So the shortest
                latency of a region is nearest to that of the launch itself, and the median is typical of
                its samples

       A launch latency is not known if the list ran outside of zt_execute, if the device's clock may have
       overflowed, or if the next execution of the list was submitted before the sample was collected. Loaders
       before 1.16 cannot tell whether a list is immediate: there, only executions by zt_execute have launch
       latencies, and what a tracer sees from the creation of the list on.

       Host and device have clocks of their own, which are compared from time to time. How long a comparison
       takes, the drift since the last one and the resolution of the device's clock bound the error of a
       launch latency. Figures up to the largest error among the samples of the region are NaN, and empty in
       reports, because they cannot be told from 0.

       A table has the median of the launch latency if even the shortest one is half as long as a region, or
       if config.columns names "launch". The column "queued" has the median of the queue latency.

   BYTES AND OVERLAP

       Traced copies and fills have the bytes that they move, with and without a timeline:
       zt_region_info.bytes is their sum, and bytes_per_second that sum divided by the GPU time of the same
       samples. The bytes of images are not known, as they depend on the format of the pixels.

       With config.timeline, zt_get_overlap returns how much of the time from the first begin of a kept sample
       to the last end is covered by traced kernels, by traced copies, and by both at once, and for how much
       of it the device is idle. No time counts twice. What is not measured counts as idle, so trace all
       kernels and copies (zt_trace_config.copies). Barriers and waits are idle time. If newer samples have
       replaced others, the time begins where the last of these ended. If samples of that time are missing,
       its parts are not known.

       Regions, and launches between queries or barriers, overlap with nothing; see REGIONS and TRACED
       LAUNCHES. To see what the application overlaps, trace with times alone (config.groups = "").

   ROOFLINE

       A roofline shows how far each region is from what the device can do: operations a second against
       operations a byte of memory traffic, below the peaks of both. A page (.html) has one for the regions
       whose memory traffic is measured.

       The peaks are given by ZT_PEAKS or zt_set_peaks. A peak that was measured is nearer to what kernels
       reach than one from a data sheet: benchmark a kernel that copies, and pass its bytes a second.

           zt_bench(profiler, &copy, &result);
           zt_set_peaks(profiler, 2.0 * copied_bytes / (result.median * 1e-9), 14.6e12, "measured: a copy");

       Without them, the peak bandwidth is the one that the driver reports. It is also what zt_get_limit
       compares the memory traffic with. Where the traffic is more than 110% of it, the peak is wrong: the
       text of zt_limit_info says so, and nothing is concluded from it.

       No metric counts operations: an instruction does as many as it has SIMD lanes, and the device does not
       report their number. So operations are what zt_set_operations states. Without them, the roofline has
       the instructions of the vector and matrix engines, and only the roof of the bandwidth.

   REPORTS

       JSON, CSV and pages begin with what a reader needs a year later: the version of the library, the
       command line of the program (which may contain secrets), the date of the report, the date when the
       profiler was opened, and the device's name, driver version, UUID, PCI address and clock rates. Dates
       are UTC. What the driver does not report is empty or null. Packed statistics keep these facts of the
       process that measured.

       Regions are sorted by their share: their own time (see NESTING), divided by the sum of all own times.
       So nothing counts twice. In the table, a region is indented below its parent if it has no other; the
       parent is sorted by the sum of its share and theirs. "own" is a column of its own if any region
       is inside another. If the own time of a region is not known, its share is estimated: from its GPU time
       less that of the samples directly inside it that were collected. A note reports how many regions this
       concerns.

       JSON is an object:

           "zetools", "program", "date", "opened", "availability"
           "gpu_time_ns"  the sum of own times, or of their estimates
           "device"    {"name", "driver_version", "uuid", "pci", "core_clock_mhz", "timer_hz"}
           "counts"    zt_counts; "causes": of each zt_cause, by its name
           "peaks"     {"bytes_per_second", "operations_per_second", "source"}; see ROOFLINE
           "overlap"   zt_overlap, with config.timeline; see BYTES AND OVERLAP
           "columns"   keys of the metrics that matter most, for a table
           "metrics"   of each key: {"name", "group", "component", "units", "type", "aggregation", "pass",
                       "description"}, and a short "label" for some of "columns". The key is the name; if an
                       earlier group has a metric of the same name, it is "GROUP.NAME". Shares that are
                       derived from two metrics have no "group"
           "streamed"  the same for metrics of attached streams
           "regions"   an array in the order of zt_get_region, also of regions without samples
           "paths"     zt_path_info of each path
           "notes"     sentences about what is missing, why, and what to do: those below a table
           "kernels"   of the tracer: {"name", "module", "region", "launches", "shapes", "other_launches",
                       "occupancy", "advice"} and the numbers of zt_kernel_info, null where not known.
                       "shapes" is an array of zt_kernel_shape, with null for sizes that are not known
           "calls"     of the tracer: {"name", "count", "errors", "time_ns"}
           "hotspots"  if instructions were sampled: {"group", "period_ns", "counts" (zt_hotspots_counts),
                       "kinds", "kernels"}. "kinds" has the names of the counts. A kernel is {"name", "size",
                       "samples", "share", "instructions", "sources"}; an instruction {"offset", "samples",
                       "kinds", "file", "line"}; a source {"file", "lines"}, where a line is {"line", "text",
                       "samples", "kinds"}. "kinds" are then counts in the order of the names. Lines without
                       samples are those around others; "text" is missing if the file cannot be read

       A region is {"name", "count", "lost", "dropped", "parent", "own_ns", "total_ns", "share",
       "with_metrics", "time_ns", "limit", "metrics"}. "parent" is an index or null, as in zt_region_info;
       "share" is from 0 to 1. Where they apply, it also has "differs" with several passes; "pass_time_ns",
       an array with the GPU time that metrics of each pass are divided by, with several passes or samples
       with times alone; "bytes", the memory traffic a second; "operations" and "instructions" a second (see
       ROOFLINE), of the samples with metrics; "queue_latency_ns", "launch_latency_ns" (see LATENCY);
       "copied_bytes" and "copied_bytes_per_second"; "histogram"; "streamed", of each key {"rows", "mean",
       "peak"}; and "tiles", an array with "metrics" of each. "limit" is {"what", "why", "add"} as in
       zt_limit_info. "histogram" counts the GPU times that are kept for quantiles (see AGGREGATION); bucket
       i begins at first_ns * ratio^i. Figures are {"count", "sum", "mean", "stddev", "min", "max",
       "median", "p95"}, and null where they do not apply.

           import json
           run = json.load(open("run.json"))
           for region in run["regions"]:
               print(region["name"], region["time_ns"]["mean"], region["metrics"]["GPU_BUSY"]["mean"])

       CSV has lines for the GPU time of each region and the sums "own GPU time", "total GPU time" and
       "share" (in percent), and one for each of its metrics. A region without samples has them, too. `tile`
       and `pass` are "all" or a number; for metrics of attached streams, `pass` is "stream" and `count` is
       that of rows. With several passes or samples with times alone, a line of the GPU time with the number
       of a pass has what metrics of the pass are to be divided by. Regions that have them also have the
       lines "queue latency", "launch latency", "copied bytes" and "copied bytes a second". Lines of the
       component "profiler" have no figures: either a count, or, with the aggregation "none", a text in the
       last column, such as the "parent". Lines without a region are about the whole profiler: "overlap: ..."
       are the times of zt_overlap, and there is one with the metric "note" for each of the "notes" of JSON.

       Lines of the component "kernel" have the index of the kernel as the group ("kernel 3"), its launches as
       the count, and a figure of it as the mean. There is a line "occupancy" for each shape, with "64 of 256"
       as the text for 64 work-groups of 256 items.

       Lines of the component "hotspot" are the samples of an instruction, one for each kind that it has:
       `region` is the kernel, `count` has all samples of the instruction, `sum` those of the kind, and the
       text its offset and source line.

           import csv
           for line in csv.DictReader(open("run.csv", newline="")):
               if line["metric"] == "GPU_BUSY" and line["tile"] == "all":
                   print(line["region"], line["mean"])

       Folded stacks (.folded) are what flamegraph.pl, speedscope and others draw flame graphs of: a line for
       each path, as in zt_get_path, with the names of its regions and its own time in whole nanoseconds. In
       names, ';' is written as ':'. If the own time is not known, the last frame is "(estimate)", and the
       number is the time of the samples less that of samples directly inside them that were collected.

           step;solve;gemm 314374

       Instances (.instances.csv) are a row for each sample that config.timeline keeps, in the form of
       `unitrace -q`, so that scripts for that read them: "=== Device #0 Metrics ===", a blank line, and CSV
       with the columns Kernel, GlobalInstanceId, SubDeviceId (the tile) and each metric with its units, such
       as GpuTime[ns] and XVE_STALL[%]. GlobalInstanceId counts samples from 1 in the order of collection.

           import pandas
           print(pandas.read_csv("run.instances.csv", skiprows=2).groupby("Kernel")["GpuTime[ns]"].sum())

       A page (.html) shows all of this in a browser, from one file that loads nothing: regions by their
       share, what limits them, every metric with its description, the distribution of GPU times, a
       roofline, the timeline if one is kept, and what was lost. It contains the same object as JSON, in
       which the figures of "metrics" are arrays in the order above, and "timeline" has the newest samples
       that are kept, at most 100,000, as {"samples", "begin_ns", "end_ns", "spans": [[region, begin, end],
       ...]}. "samples" is how many there were.

   OPENMETRICS

       A report to "run.prom" is OpenMetrics text, as Prometheus reads it from an endpoint, a push gateway or
       the textfile collector of its node exporter. A program that serves it calls zt_write with
       ZT_FORMAT_OPENMETRICS for each request. Its families are

           zetools_info                     1, with version, device and availability of metrics as labels
           zetools_region_gpu_time_seconds  a summary by region. The quantiles 0 and 1 are minimum and maximum
           zetools_region_own_gpu_time_seconds_total       by region, outside of regions inside it: these can
                                            be added up. Left out while it is not known; see NESTING
           zetools_region_pass_gpu_time_seconds_total      of the samples with metrics, by which these are to
                                            be divided, by region, and by pass if there are several
           zetools_region_queue_latency_seconds, zetools_region_launch_latency_seconds
                                            summaries by region; see LATENCY
           zetools_region_copied_bytes_total  of traced copies and fills, by region
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
       zetools_metric_gpu_busy_ratio, from 0 to 1. Flags count samples. Flags of streams and metrics that are
       not combined are left out. Counters begin at 0 with each profiler.

   PACKED STATISTICS

       The layout of what zt_pack writes. Little-endian; u32 and u64 are unsigned, f64 is a double of IEEE
       754, text is a u32 length and that many bytes.

           "ZTPK"; u32 layout: 4; u64 size of the whole; u64 checksum: FNV-1a of all that follows
           u32 metrics, regions, passes, tiles, config.samples, availability; text of it
           text device, driver version, UUID, PCI address, program; "": not known
           u32 core clock in MHz; u64 timer in Hz, opening in seconds since 1970 (UTC); 0: not known
           u32 causes; that many u64 counts; u64 unobserved lists
           each metric: text name, group, component, units, description; u32 type, aggregation, pass
           each region: text name; u64 collected; u64 collected with metrics, of each pass; u64 lost, dropped,
               bytes; f64 GPU time of the samples with bytes; f64 largest error of a launch latency;
               statistics of all samples; statistics of the samples with metrics. Statistics are:
               each column: u64 count; f64 sum of weights, sum, mean, sum of squared distances, min, max
               u32 kept samples; each: an f64 a column, NaN where there is no value
           u32 paths; each: u32 index of the outer path, or 4294967295; u32 index of the region
               u64 samples with a GPU time; f64 sum of these times; u64 samples without: in flight, lost or
               dropped; u32 1 if it has outlived the outer one; u32 1 if its own time is not known

       The columns of all samples are: GPU time; the latencies. Those of samples with metrics are: GPU time;
       the metrics; with several passes, the GPU time of each; with tiles, the metrics of each. All times are
       in nanoseconds.

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

       The interval does not include what differs between two runs of the same program: placement in memory,
       temperature, other users of the device. Run the program several times without a change, and set the
       tolerance above the changes that this shows. A note below the table reports a device, driver or clock
       that is not the one in the file.

       The file is CSV with a line for each result. "layout" is 1, and "results" the number of lines below
       the first. Times are in nanoseconds, rates in units a second; what is not known is empty. Each line
       has the date (UTC), the device, its driver version and core clock, and the version of the library.

   CALLBACKS

       A callback is a function of the application that the library calls. What it may call of the library:

       callback    runs on                               may call
       log         the thread that causes the message    what a sample function may, except that it must not
                                                         close the stream whose message it is
       sample      the thread that collects              all but zt_close, zt_watch, ZT_PASSES, zt_bench
                                                         and zt_compare with this profiler. zt_collect,
                                                         and zt_merge into it, return
                                                         HANDLE_OBJECT_IN_USE
       row         the thread that reads or closes       all but zt_stream_read and zt_stream_close of
                   the stream                            this stream
       event       the thread that waits for events      all but zt_debug_wait and zt_debug_close of this
                                                         debugger
       write       the thread that writes the report     all but closing what is being written
       hang        the thread of the watch               all but zt_watch, zt_watch_stop and zt_close
       run, measure, the thread that called zt_bench     all but zt_close, ZT_PASSES, zt_bench and
       frequency   or zt_compare                         zt_compare with the profiler of that call
       hook        the thread that makes the call        all but zt_trace_start, zt_trace_stop, zt_close
       allocator   any thread, also several at once      zt_get_counts, zt_get_cause and others that only
                                                         return a value

       In a sample function no call with its profiler waits. zt_begin drops a region for which there is no
       slot. zt_execute executes its lists without collecting: they count as unobserved, and [INSIDE_CALLBACK]
       is reported. The same holds in a log function that is called while samples are collected. Calls with
       another profiler wait as elsewhere, so two sample functions must not wait for each other.

       While a sample function runs, no other thread collects; while a log function of a debugger runs, other
       calls with the debugger may wait: keep both short. All callbacks must return normally, without an
       exception or longjmp.

   THREADS

       Functions that take a profiler, a stream or a debugger may be called from several threads at once, with
       these exceptions:

       - Nothing else may use a profiler, a stream or a debugger while it is closed. But zt_stream_close and
         zt_debug_close end calls of other threads that wait, and streams that are attached to a profiler may
         be read and closed while it is closed.
       - One ZT_PASSES, zt_bench or zt_compare runs on a profiler at a time.
       - A tracer, hot spots or a watch of a profiler are started and stopped by one thread at a time, and
         zt_open and zt_stream_open are not called for one device by two threads at once.
       - A region is begun and ended by threads that may use its list.

       What may wait, for what, and how long at the most:

       zt_collect             samples on their way                          its timeout
       zt_execute             the last execution of its lists               config.wait_timeout_ns
       zt_begin               a thread that collects, if all                config.wait_timeout_ns
                              config.max_slots are used
       zt_open                the first metric query                        config.wait_timeout_ns
       ZT_PASSES              the work of each pass                         config.wait_timeout_ns
       zt_merge, zt_pack      a thread that collects                        config.wait_timeout_ns
       zt_close               the end of a watch                            as zt_watch_stop
                              samples and dropped regions on their way      config.wait_timeout_ns
                              threads that match rows with samples          config.wait_timeout_ns
                              the end of the collecting thread              2 seconds
       zt_trace_stop          launches that are followed by commands of     config.wait_timeout_ns
                              the library, and calls that append them
                              calls in progress                             config.wait_timeout_ns
       while tracing: the     commands of the library that follow           config.wait_timeout_ns
       end of a list or       launches
       queue
       zt_replace             kernels that other threads create             config.wait_timeout_ns
       zt_bench, zt_compare   each of their runs                            config.wait_timeout_ns
       zt_hotspots_stop       a thread that reads samples, and the end of   config.wait_timeout_ns,
                              the library's own                             2 seconds
       zt_watch               a helper process                              15 seconds
       zt_watch_stop          the end of its thread; programs that look     2 seconds, 24 seconds
                              source lines up
       zt_report, zt_write,   programs that look source lines up, where     24 seconds for each
       zt_debug_where,        hot spots or places have them                 module
       zt_hotspots_find_lines
       zt_stream_read         a row                                         its timeout
       zt_debug_wait          an event                                      its timeout
       zt_debug_stop          the answer of the device                      its timeout
       zt_debug_close         calls of other threads, and threads of the    10 seconds,
                              device that are about to stop                 config.wait_timeout_ns
       other zt_debug_...     calls of other threads                        config.wait_timeout_ns
       zt_stream_close        reads of other threads                        10 seconds

       Threads of the library (config.thread, zt_stream_config.reader, hot spots, zt_watch) run from opening
       or start to closing or stop, block all signals but those of faults (SIGSEGV, ...), and end before the
       process exits. One that does not end within 2 seconds, because the driver or a function of the
       application does not return, is left behind.

   PROCESSES

       A process may contain several copies of this header: in plugins, in libraries with hidden symbols or
       loaded with RTLD_LOCAL, or in files with ZETOOLS_STATIC. They must agree on which metric groups are
       active, and must not calculate metrics at the same time. The copies find each other by the environment
       variable ZETOOLS_PROCESS_3, which the first call of the library sets. Do not change it. As with any
       setenv, no other thread may use the environment during that first call. The number in the name is the
       layout of the shared data: copies with different layouts do not find each other. On Windows, the DLL
       that makes this first call is not unloaded before the process ends.

       A forked child may open profilers, streams and debuggers of its own. It must not use those of its
       parent; zt_close, zt_stream_close and zt_debug_close do nothing with them in the child. A program that
       is started by exec shares nothing with the one before it.

       After zt_close, set the pointer to NULL. A second zt_close with the old pointer does nothing, unless a
       new profiler has the same address: then it closes that one. Any other use of the old pointer is an
       error.

   ENVIRONMENT

       ZT_GROUPS, ZT_METRICS   override config.groups and config.metrics, to measure something else without
                               building again. If only one is set, the configuration's other one is ignored
       ZT_COLUMNS              overrides config.columns
       ZT_REPORT               reports that zt_close writes, beside those of the program: paths as for
                               zt_report, separated by commas, or "table" for one on standard output. If a
                               process has several profilers, those of the second are run.2.csv and so on.
                               In a path, %p is the process ID, and %q{NAME} the value of a variable,
                               nothing if it is not set: processes that share the path overwrite
                               each other's file, so name it run.%p.csv, or run.%q{PMIX_RANK}.csv. A
                               relative path starts in the working directory at the time of zt_close. For a
                               trace or a page, config.timeline is 65,536 unless it is set
       ZT_LOG                  "stderr": messages are printed there if the program has no log function
       ZT_TIMELINE             overrides config.timeline
       ZT_PEAKS                overrides zt_set_peaks: bytes and operations a second, "456e9,14.6e12"
       ZT_KERNELS, ZT_CALLS    override names and calls of zt_trace_config: ZT_KERNELS="gemm*,!*_tail"
       ZT_COPIES               overrides zt_trace_config.copies: "1", or "0"
       ZT_HOTSPOTS             overrides zt_auto_config.hotspots: "1", or "0"
       ZT_MODULES              overrides zt_trace_config.modules, a directory; "": none
       ZT_PROFILE_FLAGS        overrides zt_trace_config.profile_flags, in hexadecimal: "0x3"; "0": none
       ZT_AUTO                 the reports of zt_auto, as in ZT_REPORT; "1": as its configuration says; "off",
                               "0" or "": nothing is traced
       Empty, ZT_REPORT, ZT_LOG, ZT_TIMELINE and ZT_PEAKS count as not set. Mistakes in these variables are
       printed on standard error. If a report of ZT_REPORT or ZT_AUTO cannot be written, the table is printed
       there instead.

       COLUMNS                 the width of a table on standard output that is not a terminal. Default: 80

       A program that has more rights than its user, because its file is set-user-ID or has capabilities, heeds
       none of these, and runs no other program.

       Loader and driver read ZET_ENABLE_METRICS, ZE_ENABLE_TRACING_LAYER, for the frequency in benchmarks
       ZES_ENABLE_SYSMAN, for profile flags ZET_ENABLE_PROGRAM_INSTRUMENTATION, and for program debug
       ZET_ENABLE_PROGRAM_DEBUGGING. Set them before zeInit.

   OPTIONS, to be defined before the header is included

       ZETOOLS_IMPLEMENTATION   In one file of the program: compiles the functions. Elsewhere the header only
                                declares them.
       ZETOOLS_DISABLE          In each file whose calls are to disappear: all functions are empty, no code
                                is left, and Level Zero is not needed. Figures are then 0, and not NaN. For
                                builds without profiling. Pass no profiler, and no structure of the library,
                                between files with it and without it.
       ZETOOLS_TRACER           In each file that uses the tracer, and in that of ZETOOLS_IMPLEMENTATION. Off
                                by default, because it adds code for every call that can be traced.
       ZETOOLS_DEBUG            In each file that uses program debug, and in that of ZETOOLS_IMPLEMENTATION.
       ZETOOLS_STATIC           In each file that uses the library, with ZETOOLS_IMPLEMENTATION: makes its
                                functions static, so that a library that contains them does not export them.
       ZETOOLS_NO_THREADS       With ZETOOLS_IMPLEMENTATION, for programs that must not have other threads:
                                the library starts none. config.thread has no effect,
                                zt_stream_config.reader and zt_watch are refused, and zt_collect reads samples
                                of hot spots.
*/
