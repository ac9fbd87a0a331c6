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

       The device needs a metric group that samples instructions, such as EuStallSampling. Sampling uses a
       domain of its own, and goes together with regions and streams. One profiler at a time samples a device.

       Source lines come from the debug information of modules, which is read when a module with samples is
       destroyed or sampling stops. zt_hotspots_stop, and reports that show hot spots, pass it to addr2line,
       llvm-addr2line or llvm-symbolizer, whichever the PATH has, in an environment without LD_PRELOAD.
       Nothing else runs or needs a program. Without lines, hot spots have offsets from the begin of the
       kernel, as disassemblers show them.

       The table shows the 20 source lines with most samples: "active" is the share in which the instruction
       was executed, "main stall" the most frequent stall and its share. A page shows the source, with the
       samples beside each line.

       A device without such a group is not sampled. zt_debug_open from another program shows where its
       threads are.
*/
