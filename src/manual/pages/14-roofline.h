/* ----------------------------------------------------------------------------------------------------------
   ROOFLINE

       A roofline shows how far regions are from what the device can do: operations a second against
       operations a byte of memory traffic, below the peaks of both. A page (.html) has one for the regions
       whose traffic is measured, and lists the others, with the reason. ZT_PEAKS or zt_set_peaks set the
       peaks. A measured peak is nearer to what kernels reach than one from a data sheet:

           zt_bench(profiler, &copy, &result);
           zt_set_peaks(profiler, 2.0 * copied_bytes / (result.median * 1e-9), 14.6e12, "measured: a copy");

       Otherwise the driver reports the peak bandwidth. zt_get_limit compares memory traffic with the same
       peak. If the traffic exceeds 110% of it, the peak is wrong: zt_limit_info.text says so, and nothing
       is concluded from it.

       No metric counts operations, because the device does not report how many SIMD lanes an instruction
       has. So zt_set_operations states them. Without it, the roofline has the instructions of the vector
       and matrix engines, and only the roof of the bandwidth.
*/
