/* ----------------------------------------------------------------------------------------------------------
   TRACED LISTS

       zt_trace_start makes a call itself and fails if this call is not traced, because loaders report
       success even if their tracing layer is off. For a list that was created before, the driver is queried
       for context and device. If it does not report them, the list is taken to belong to those of the
       profiler.

       Loaders from 1.15.7 on switch their tracing layer off in the first call of each of zeInit, zeInitDrivers and
       zesInit in a process, although it is enabled, unless ZE_ENABLE_TRACING_LAYER=1 was set before the first of
       them. zt_auto sets it, if it is called before these and does not wait for a signal. Elsewhere, call them
       before tracing: a program that uses zeInitDrivers, as SYCL does, or system management may call one later.
       No callback comes meanwhile, so this is noticed by zt_collect, zt_report and zt_trace_stop, which enable the
       layer again, and at exit and at the end of a look by zt_auto, which then loses what is on its way, because
       contexts may have been destroyed unseen. Reports say that launches are missing, but cannot count them.
       Until it is noticed, the library may ask an event that the application has destroyed meanwhile. It is not
       noticed on Windows, or with ZETOOLS_NO_THREADS.

       Before a list is executed again, the samples of its last execution are collected. With metrics, this
       waits up to config.wait_timeout_ns. If executions overlap nevertheless, because collecting took too
       long or a call names the list twice, the earlier ones are lost: time stamps do not show to which
       execution they belong. The last one is measured when the next execution, or with times alone also
       zeCommandQueueSynchronize, finds the queue idle.

       When a list is reset or destroyed, its probes are freed. If the driver refuses the call, nothing
       changes.

       zt_trace_counts counts launches when they are appended, however often their list is executed later. A
       launch that the driver refuses is a dropped sample. Launches that cannot be measured are counted by cause
       in zt_trace_counts.unmeasured, and reports have a sentence for each cause that there was (zt_unmeasured).
       What is behind some of them:

       CAPTURED        Into a graph; see below
       MAY_JOIN        A list that waits for events while another list is captured may join the capture
       CLONEABLE       Clones would write to the same queries and events
       CHANGEABLE      Of a mutable list, once the application has queried the identifier of a command: nothing
                       may be appended before this command
       VARIABLE,       Through pointers that zeDriverGetExtensionFunctionAddress returned while tracing, of
       OPERATION       functions whose commands are not known. By other such pointers, kernels, graphs, copies
                       and fills are measured as by the loader's functions; signals of events and
                       counter-based events are seen; waits for memory and writes to it are not measured
       DRIVER_HANDLE   If the loader wraps handles, all through such pointers

       An executable graph is measured as one when it is appended (zeCommandListAppendGraphExt, or
       zeCommandListAppendGraphExp of the driver): between queries with metrics, else by time stamps between
       barriers, after a wait for its events. Each execution is a launch, a sample, and of the phase in which
       it is appended. Its region is named by the order in which graphs were instantiated, and by the
       launches that were captured: "graph 2 (saxpy, reduce x3, +5 launches)", with up to four kernels and 24
       bytes of their names. A graph that is instantiated after one with the same kernels was destroyed has
       the name of that one. A graph that was captured or instantiated while nothing was traced is named by its
       number alone: "graph 3". Launches
       that were captured count once for their kernel, however often the graph is executed.
       zt_trace_config.names chooses graphs by their kernels.

       Launches through pointers from before zt_trace_start are not seen: start first, or use zt_auto.

       Whether a list can be cloned is not known if it was created before zt_trace_start, and
       zeCommandListGetFlags fails or the loader lacks it (before API version 1.17). Do not clone such
       lists.
*/
