/* ----------------------------------------------------------------------------------------------------------
   TRACED LAUNCHES

       With metrics, a launch is measured between two queries, and overlaps with nothing. If it waits for
       events, the tracer appends the wait, then the begin of the region, then the launch. So the GPU time
       does not include the wait. If the driver refuses the launch, the wait stays on the list.

       With times alone, a launch is measured by the time stamps that the device writes with each kernel,
       and overlaps as it does without the tracer. So is, with metrics, a launch outside of
       zt_trace_config.every and limit. How depends on the event that the application gives to the launch as
       its signal event, and on the list. The first of these that applies:

       no signal event    The launch signals an event of the library. Nothing is appended
       event kept         The launch signals the application's event, which the tracer keeps: its time
                          stamps are read when it has signalled, before the application resets, destroys or
                          uses it again. Nothing is appended, except a copy of the time stamps and a barrier
                          before a reset in the same list. On a list in order, only events of pools with
                          kernel time stamps of the application's own are kept
       list in order      The launch signals an event of the library. zeCommandListAppendSignalEvent
                          follows, and signals the application's event
       copy engine        The launch signals an event of the library. A barrier follows, and signals the
                          application's event: such an engine executes one command at a time
       other immediate    The launch signals an event of the library.
       list               zeCommandListAppendQueryKernelTimestamps follows, and signals the application's
                          event. It waits for the library's event alone, so it runs soon after the kernel has
                          ended. A device that stops at such a wait begins later commands later, even if they
                          do not depend on the event

       To keep events, the tracer adds ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP to pools that the host can see;
       zeEventPoolGetFlags then returns this flag, too. An event cannot be kept if

       - it is counter-based, shared between processes, or not visible to the host
       - its pool has extensions or mapped time stamps, or was created before zt_trace_start
       - other commands that signal it may be in flight or are recorded

       A kept event belongs to one launch at a time. The sample is lost (ZT_LOST_EVENT) if the event has not
       signalled before another command that signals it is appended, before the host signals or destroys it,
       or before zt_trace_stop has waited for config.wait_timeout_ns. Host functions, graphs and metric
       queries that signal the event meanwhile are not seen.

       In few cases, a launch is instead measured by time stamps between barriers, after a wait for events:

       - if the event cannot be kept, and the application may read its kernel time stamps
       - if the event cannot be kept, and the recorded list is not in order, because the event of the
         library may still be signalled when the list runs again
       - if list or event were created before zt_trace_start, and the loader is too old to describe them

       On lists not in order, these launches overlap with nothing; zt_trace_counts.serialised counts them.

       A recorded list has one event for each launch. If it is executed again before the last execution has
       ended, the tracer does not wait, and the last execution is lost (ZT_LOST_OVERWRITTEN).

       Copies, fills and barriers are measured likewise (zt_trace_config.copies). A wait for events is
       measured by time stamps before and after it on a list in order. On other lists it is counted as
       elsewhere, as is a barrier that could only be measured between others.
*/
