/* ----------------------------------------------------------------------------------------------------------
   SAMPLED INSTRUCTIONS

       The metric group of hot spots is found by its metrics: an address of code, and counts of events.
       "Active" counts threads that executed the instruction. The other counts are kinds of stall, with the
       names of the driver. On an Arc B580 the thread waits for

       SbidStall               a result of an earlier instruction
       SendStall               room to send a message, such as a load
       SyncStall               other threads
       PipeStall, DistStall    the pipeline
       InstrFetchStall         the instructions themselves

       A stall is counted where the thread waits, which often is an instruction after the slow one.

       The device reports addresses, so the profiler has to trace, if need be with
       zt_trace_config.no_launches. The tracer knows where kernels lie that were created while it traced, or
       launched while hot spots are sampled. Samples are read before a kernel or a module is destroyed,
       because its address may later be another kernel's. Each counts for the kernel that is at its address
       then. Kernels of the same name with the same instructions are one. Of a kernel that a hook has put in
       place of another, source lines are not known. Samples elsewhere are counted by cause in
       zt_hotspots_counts: the device also samples other processes, and reports only 32 bits of an address,
       which two kernels may have in common.

       Sampling uses a domain of its own. One profiler at a time samples a device.

       Source lines come from the debug information of modules, which is read when a module with samples is
       destroyed or sampling stops. Reports that show hot spots, and zt_hotspots_find_lines, pass it to
       addr2line, llvm-addr2line or llvm-symbolizer, whichever the PATH has, in an environment without
       LD_PRELOAD. Nothing else runs or needs a program. Without lines, hot spots have offsets from the
       begin of the kernel, as disassemblers show them.

       The table shows the 20 source lines with most samples: "active" is the share in which the instruction
       was executed, "main stall" the most frequent stall and its share. A page shows the source, with the
       samples beside each line.

       With ZETOOLS_DEBUG, a device without such a group can be sampled by stops. zt_hotspots_start then
       attaches a debugger to this process. A thread of the library stops all threads of the device
       zt_hotspots_config.stops_a_second times a second, reads their instructions, and resumes them:

       - Each thread is one sample, of the kind "Stopped": whether it executed or waited is not known.
       - Nothing stays stopped when sampling stops or the process exits.
       - No helper process is used, so the device must let a process debug itself.
       - A device to which another debugger or zt_watch is attached cannot be sampled, and refuses them
         while it is sampled.
       - Stops delay the work. On the software device a stop takes some tenths of a millisecond: 10 a second
         are not measurable, 100 make a kernel up to a twentieth longer, and 1000 a tenth to a quarter, or
         more on a busy machine (bench/stops.c). No other device has been measured.
*/
