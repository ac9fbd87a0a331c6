/* ----------------------------------------------------------------------------------------------------------
   MEMORY

       With zt_trace_config.memory or ZT_MEMORY=1, a tracer watches zeMemAllocDevice, zeMemAllocShared,
       zeMemAllocHost, zeMemFree and zeMemFreeExt. Without, these calls are not registered, and cost nothing.

       Memory of the device is what was allocated as device or shared memory; host memory counts apart.
       zt_info.memory has what is in use, the most at once, and what is not freed. Of a phase, zt_region_info
       has

       peak_bytes      the most memory of the device that was in use while the phase was open on the thread
                       that has begun it, whoever allocated it; of several entries, the highest
       end_bytes       what was in use when the last entry ended; of several paths, the highest
       allocations     of all three kinds, by threads that were in the phase or in one inside of it
       unfreed         of these, and unfreed_bytes: what is not freed, by whichever thread and in whichever
                       phase

       The first two are NaN until an entry has ended while memory was watched. A peak may be too high by 0.2%
       of the highest, where memory was freed in more than a thousand steps without being allocated again.

       - Counted are allocations of the profiler's context and device; of those of no device, host memory
         among them, all of its context. With zt_auto, the latter count for the first device of the context,
         and an allocation on a device is a reason to open its profiler, as a list is.
       - What is allocated before the start, while the tracer is stopped, in callbacks, by the driver for
         itself, as an image or by zePhysicalMemCreate is not counted. Sizes are those that were asked for.
       - Memory that is freed after zt_trace_stop is not seen: what is not freed is that of the stop, and a
         note says so. The next start with memory begins anew: what was allocated before counts no more.
       - With its context, all that was allocated in it is freed.
       - Up to 1,048,576 allocations are known at once, each of at most 200 bytes of host memory. Further ones are counted
         in zt_info.memory.unseen.
       - zt_merge adds up what was allocated and what is not freed. Of what was in use, the highest counts,
         because each rank may have a device of its own. bytes and host_bytes of zt_info.memory stay as they
         are.
*/
