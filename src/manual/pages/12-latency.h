/* ----------------------------------------------------------------------------------------------------------
   LATENCY

       With config.timeline, ZT_QUEUE_LATENCY and ZT_LAUNCH_LATENCY have the statistics of how long regions
       and traced launches have waited:

       queue    from zt_begin, or the call that appends the launch, to the first execution of the recorded
                list. Immediate lists have none
       launch   from the call that executes the list, or that appends to an immediate list, to the begin on
                the device. It includes waits for events and for earlier work. So the shortest latency of a
                region is nearest to the cost of a launch, and the median is typical of its samples

       A launch latency is not known if

       - the list ran outside of zt_execute
       - the device's clock may have overflowed
       - the next execution of the list was submitted before the sample was collected
       - the loader is older than 1.16, unless zt_execute has executed the list, or a tracer has seen its
         creation

       The error of a launch latency is bounded by the duration of a comparison of the two clocks, the drift
       since then, and the resolution of the device's clock. Figures up to the largest error of the samples
       are NaN.

       A table has the median of the launch latency if the shortest one is at least half as long as the
       region, or if config.columns names "launch". "queued" is the median of the queue latency.
*/
