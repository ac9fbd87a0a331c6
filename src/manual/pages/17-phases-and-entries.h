/* ----------------------------------------------------------------------------------------------------------
   PHASES AND ENTRIES

       An entry of a phase lasts from its begin to its end on a thread. What is submitted in it may run later:
       the entry is over when it has ended, and all that was submitted in it is collected. Then its GPU time
       is one value of zt_region_info.time_ns. Entries in which nothing was submitted are left out, and so are
       those with samples that are lost, dropped or without a GPU time (`incomplete`). A note counts those
       that have ended and are not over. total_ns is of all samples that were collected.

       If regions nest, the outermost counts in a phase, because its time includes the others. A phase that
       begins inside of a region has the inner samples, and the phases around the region have the region.
       Metrics, copied bytes and latencies are of the same samples as the GPU time.

       A sample of a recorded list belongs to the phases of the thread that executes the list. A note counts
       samples that were appended in another phase. config.phases_at_append lets all belong to the phase of
       their append, for runtimes that append in one phase and submit in another; they belong to no entry then.
       Executions that nobody reports belong to the phases of the execution before, or to none.

       zt_phase_adopt continues a phase on another thread, in the same entry if that is not over. Later samples
       count in the phase, and in no entry; so does what a thread submits by a zt_phase that was got before the
       profiler was opened.

       Host time is that of the threads that have begun the phase. It counts while a profiler is open in the
       process: that of a phase that is open before counts from the opening on. While a thread adopts the
       phase that it is in, it is inside of no other. A phase inside of itself counts once in the figures of
       its name. To a forked child, a zt_phase of its parent is none.
       Fibers must not change threads in a phase, and a phase that is open when its thread ends has no end.

       While a tracer is on, zt_region_info.host_wait_ns is how long the thread was in calls that wait for the
       device: zeEventHostSynchronize, zeFenceHostSynchronize, zeCommandQueueSynchronize,
       zeCommandListHostSynchronize and zeDeviceSynchronize. It is part of host_ns, and includes the phases
       inside. Which device it was does not matter. Waits of the library and of hooks do not count; nor do
       calls on synchronous lists and queues, and loops that query a status. It is not known of a phase with
       an entry during which no tracer was on, or one was started or stopped. Notes name up to three phases in
       which it is a tenth of their host time, and a twentieth of that of all phases, outside of the phases
       inside.

       With config.timeline, zt_region_info.busy_ns is the time in which at least one sample of the phase ran.
       Each call of zt_get_region for a phase then looks at all kept samples. Notes name the phases in which
       the device waits most for the host: up to three in which nothing that is measured runs for a tenth of
       their host time, and for a twentieth of that of all phases, outside of the phases inside. Only entries
       count since whose begin all samples are on the timeline; there are no such notes while samples are in
       flight, or where one is missing.

       An end without a begin does nothing, and each open profiler reports it. What is deeper than 64 phases, or
       beyond 4,096 different ones in a process, belongs to the phase around it; a message and a note report
       the latter. OWN TIME has the limit of paths.
*/
