/* ----------------------------------------------------------------------------------------------------------
   TRACE FILES

       "run.pftrace" is for Perfetto (ui.perfetto.dev), in its own format, with more for its pages. It is compressed:
       but for a few regions, it has less than a third of the bytes of "run.trace.json", which is for Chrome
       (chrome://tracing) and other tools that read the Trace Event format; Perfetto shows it, too. Both have the
       same tracks and spans, with times of CLOCK_MONOTONIC.

       The process for the device has

       - a track "phases": a span for each entry of a phase, from the first begin to the last end of the
         samples that were submitted in it, also in phases inside. Entries whose samples run at once are on
         separate tracks
       - a track for each command list, named by zt_name_list. Regions that overlap without being nested are
         on separate tracks. Arguments of a region are its metrics (in run.trace.json), its latencies and
         the thread that has appended it; of a traced launch number and size of its work-groups, of a traced copy
         its bytes and rate, as far as the host knows them
       - a counter for each metric of the attached streams. What adds up is a rate: bytes in GB/s, events a
         second, times as a share of the time
       - counters for power, clock, throttling, each of its reasons and temperature, with config.power
       - counters of device and host memory in use; see MEMORY
       - a track for each attached stream, with its markers, and a span for each gap
       - an instant where a missing sample was submitted: one that is lost, dropped, or without a certain
         time

       The process for the program has a track for each thread, with its number and name in the system. The
       spans are phases, and calls that appended a region to an immediate list ("append saxpy"), executed
       recorded lists ("execute lists"), or were timed. An arrow (a flow event) leads from a call to each
       region, and from a phase to its span on the device.

       The span of a phase that is still open ends with the report on its thread, and with the last of its samples
       on the device; both have the argument "open". Of threads other than the one that writes the report,
       these are phases in which something was submitted.

       config.columns chooses the metrics of counters and arguments. If it names none of a stream or of the
       regions, up to eight are chosen: those that a table shows first.

       Values of counters are rounded by less than 0.025%, and written only where they change. If more than
       80,000 values remain, pairs of rows are merged into their mean until there are fewer; an instant at
       the begin of the stream shows how many rows a value stands for. With fewer columns there are fewer
       values. So the trace of a minute, with noise in a stream at 100 us beside 10,000 regions, is smaller
       than 20 MB.

       In run.pftrace, a region is a render stage on the queue of its list. Its metrics are GPU counters, named
       "region ..." beside those of streams: a value holds from the begin of the region on, and shares and rates
       are 0 while none runs. A traced launch is of the category COMPUTE, with kernel_name, launch.grid_size,
       launch.workgroup_size, registers_per_thread, shared_mem_static and simd_width as arguments, for Perfetto's
       page of compute kernels; the facts of the kernel are left out where several kernels have its name.

       Files of several processes of a machine, such as ranks, may be joined: "cat run.*.pftrace >all.pftrace".
       Nothing of one is connected with another, and each has a GPU of its own, by a number of its own.
*/
