/* ----------------------------------------------------------------------------------------------------------
   TRACED LAUNCHES

       With metrics, a launch is measured between two queries, and overlaps with nothing. If it waits for
       events, the tracer appends the wait, then the begin of the region, then the launch. So the GPU time
       does not include the wait. If the driver refuses the launch, the wait stays on the list.

       With times alone, a launch is measured by the time stamps that the device writes with each kernel,
       and overlaps as it does without the tracer. So is, with metrics, a launch outside of
       zt_trace_config.every and limit. How depends on the event that the application gives to the launch as
       its signal event, and on the list. The first of these that fits:

       no signal event, on a list of known kind
                            The launch signals an event of the library. Nothing is appended
       list in order, and an event whose time stamps the application cannot read
                            The launch signals an event of the library. zeCommandListAppendSignalEvent follows,
                            and signals the application's event
       an event that can be borrowed
                            The launch signals the application's event, which is borrowed: its time stamps
                            are read when it has signalled, before the host resets or destroys it. On a list in
                            order, a signal of the library's event follows, else nothing
       all others           The launch is measured by time stamps between barriers, after a wait for its events

       To borrow events, the tracer adds ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP to pools that the host can see;
       zeEventPoolGetFlags then returns this flag, too. An event cannot be borrowed if

       - it is counter-based, has no pool, is shared between processes, or not visible to the host
       - its pool has extensions or mapped time stamps, or was created before zt_trace_start
       - it is signalled, or another command may signal it

       A borrowed event belongs to one launch at a time; on a recorded list, until that is reset. The sample is
       lost (ZT_LOST_EVENT) if the event has not signalled before another command that signals or resets it is
       appended, before the host signals or destroys it, if the list runs again before the host has reset it, or
       before zt_trace_stop has waited for config.wait_timeout_ns. Metric queries that signal the event meanwhile
       are not seen.

       On lists not in order, launches between barriers overlap with nothing. zt_trace_counts.serialised counts
       them, serialised_by by cause (zt_serialised), and reports have a sentence for each cause.

       A recorded list has one event for each launch. If it is executed again before the last execution has
       ended, the tracer does not wait, and the last execution is lost (ZT_LOST_OVERWRITTEN).

       Copies, fills and barriers are measured likewise (zt_trace_config.copies). A wait for events is
       measured by time stamps before and after it on a list in order. On other lists it is not measured
       (ZT_UNMEASURED_OUT_OF_ORDER), nor is a barrier that could only be measured between others.
*/
