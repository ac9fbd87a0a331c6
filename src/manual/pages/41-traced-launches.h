/* ----------------------------------------------------------------------------------------------------------
   TRACED LAUNCHES

       With metrics, a launch is measured between two queries, and overlaps with nothing. If it waits for
       events, the tracer appends the wait, then the begin of the region, then the launch. So the GPU time
       does not include the wait. If the driver refuses the launch, the wait stays on the list.

       With times alone, a launch is measured by the time stamps that the device writes with each kernel,
       and overlaps as it does without the tracer. So is, with metrics, a launch outside of
       zt_trace_config.every and limit. How depends on the event that the application gives to the launch as
       its signal event, and on the list:

       no signal event    The launch signals an event of the library. Nothing is appended
       list in order      The launch signals an event of the library. zeCommandListAppendSignalEvent
                          follows, and signals the application's event
       list not in order  The launch signals the application's event, which the tracer keeps: its time
                          stamps are read when it has signalled, before the application resets, destroys or
                          uses it again. Nothing is appended, except a copy of the time stamps and a barrier
                          before a reset in the same list
       event not kept     If the tracer cannot keep the event of a launch on a list not in order, the launch
                          signals an event of the library. On a copy engine, which executes one command at a
                          time, a barrier signals the application's event. On another immediate list
                          zeCommandListAppendQueryKernelTimestamps does, which waits for the library's event
                          alone: soon after the kernel has ended. A device that stops at such a wait begins
                          later commands later, even if they do not depend on the event

       To keep events, the tracer adds ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP to pools that the host can see;
       zeEventPoolGetFlags then returns this flag, too. An event cannot be kept if

       - it is counter-based, shared between processes, or not visible to the host
       - its pool has extensions, or was created before zt_trace_start
       - other commands that signal it may be in flight or are recorded

       A kept event belongs to one launch at a time. The sample is lost (ZT_LOST_EVENT) if the event has not
       signalled before another command that signals it is appended, before the host signals or destroys it,
       or before zt_trace_stop has waited for config.wait_timeout_ns. Host functions, graphs and metric
       queries that signal the event meanwhile are not seen.

       In few cases, a launch is measured by time stamps between barriers, after a wait for its events:

       - if the event cannot be kept, and the application may read its kernel time stamps
       - if the event cannot be kept, and the recorded list is not in order, because the event of the
         library may still be signalled when the list runs again
       - if several profilers measure the launch, for all but the first, unless all keep the event
       - if list or event were created before zt_trace_start, and the loader is too old to describe them

       On lists not in order, these launches overlap with nothing; zt_trace_counts.serialised counts them.

       A recorded list has one event for each launch. If it is executed again before the last execution has
       ended, the tracer does not wait, and the last execution is lost (ZT_LOST_OVERWRITTEN).

       Copies, fills and barriers are measured likewise (zt_trace_config.copies). A wait for events is
       measured by time stamps before and after it on a list in order. On other lists it is counted as
       elsewhere, as is a barrier that could only be measured between others.
*/
