/* ----------------------------------------------------------------------------------------------------------
   PHASES AND ENTRIES

       An entry of a phase lasts from its begin to its end on a thread. What is submitted in it may run later:
       the entry has its GPU time when all of that was collected. zt_region_info.time_ns is of entries, but for
       those in which nothing was submitted, and those with samples that are lost or dropped (`incomplete`).
       total_ns and the metrics are of all samples that were collected.

       If regions nest, the time of the outer one counts: it includes the others. Also where a phase begins
       inside of a region, it stands outside of it in the path. The inner samples are those of the phase, and
       of the phases around it the outer region is.

       A sample of a recorded list belongs to the phases of the thread that executes the list. Those in which
       it was appended are known, too: a note counts samples for which they differ. config.phases_at_append
       counts by the append, for runtimes that append in one phase and submit in another; samples then belong
       to no entry. Executions that nobody reports belong to the phases of the last one that was.

       zt_phase_adopt continues a phase on another thread, in the same entry if that is not over: it is over
       when it has ended, and all that was submitted in it is collected. Samples of later ones count in the
       phase, and in no entry.

       Host time is that of the threads that have begun the phase, while a profiler was open. A phase inside of
       itself counts once in the figures of its name. Fibers that change threads must not do so in a phase.

       With config.timeline, zt_region_info.busy_ns is the time in which at least one sample of the phase ran.
       Each call of zt_get_region for a phase then looks at all kept samples. Notes name the phases in which
       the device waits most for the host: up to three in which nothing that is measured runs for a tenth of
       their host time, and for a twentieth of that of all phases, outside of the phases inside. Only entries
       count since whose begin all samples are on the timeline; there are no such notes while samples are in
       flight, or where one is missing.

       An end without a begin, on whichever thread, does nothing, and each open profiler reports it. What is
       deeper than 64 phases, or beyond 4,096 different ones in a process, belongs to the phase around it.
*/
