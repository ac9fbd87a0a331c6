/* ----------------------------------------------------------------------------------------------------------
   THE TIMELINE

       With config.timeline, begin and end of the newest samples are kept. The clock of the device and
       CLOCK_MONOTONIC of the host are compared when the profiler is opened, while it collects, and for
       reports. Times between two comparisons are interpolated, which corrects drift.

       The device's clock starts again from 0 when it overflows. If this may have happened before a sample
       was collected, the sample is not kept, but counted in zt_timeline_info.lost_samples.

       Kernel time stamps have a clock of their own, which is compared with the device's. For this, the
       library executes a barrier: when the profiler is opened or, if it measures metrics, when it first
       traces with `every` or `limit`.
*/
