/* ----------------------------------------------------------------------------------------------------------
   PHASES AND ENTRIES

       An entry of a phase is from its begin to its end on a thread. What is submitted in it may run later: the
       entry is over when it has ended, and all that was submitted in it is collected. Then its GPU time is one
       value of zt_region_info.time_ns. Entries in which nothing was submitted are left out, and so are those
       with samples that are lost, dropped or without a GPU time (`incomplete`). A note counts entries that
       have ended and are not over.

       total_ns is of all samples that were collected. If regions nest, the outermost counts in a phase, because
       its time includes the others. If it is dropped, those inside it count in its place on a recorded list; on
       an immediate list nothing does, because they may be collected before. A phase that begins inside of a
       region has the samples that are begun in it, and the phases around the region have the region. Metrics,
       copied bytes and latencies are of the same samples as the GPU time.

       A sample of a recorded list belongs to the phases of the thread that executes the list. A note counts
       samples that were appended in another phase. config.phases_at_append lets all belong to the phase of
       their append, for runtimes that append in one phase and submit in another; they belong to no entry then.
       Executions that nobody reports belong to the phases of the execution before, or to none.

       zt_phase_adopt continues a phase on another thread, in the same entry if that is not over. What is
       submitted after that counts in the phase, and in no entry; so does what a thread submits by a zt_phase
       that was got before the profiler was opened. A zt_phase of its parent is none to a forked child.

       Host time is that of the threads that have begun the phase, while a profiler is open in the process: for
       a phase that is open before, from the opening on. A thread that adopts the phase that it is in is not
       inside of another one. A phase inside of itself counts once in the figures of its name. Fibers must not
       change threads in a phase, and a phase that is open when its thread ends has no end.

       host_wait_ns is the part of the host time, phases inside included, in calls that wait for a device:
       zeEventHostSynchronize, zeFenceHostSynchronize, zeCommandQueueSynchronize, zeCommandListHostSynchronize
       and zeDeviceSynchronize. It does not have waits of the library and of hooks, calls on synchronous lists
       and queues, and loops that query a status. It is known if a profiler was open and a tracer on
       when each entry began, and no tracer was started or stopped until its end.

       With config.timeline, busy_ns is the time in which at least one sample of the phase ran. Each call of
       zt_get_region for a phase then looks at all kept samples.

       Notes name up to three phases in which the device idles: nothing that is measured runs during a tenth of
       the phase's host time and, outside of the phases inside, a twentieth of that of all phases. Only entries
       count that began after the oldest complete part of the timeline, and there are no such notes while
       samples are in flight or missing. Notes name phases in which the host waits by the same thresholds.

       An end without a begin does nothing, and each open profiler reports it. What is deeper than 64 phases, or
       beyond 4,096 different ones in a process, belongs to the phase around it; a message and a note report
       the latter. OWN TIME has the limit of paths.
*/
