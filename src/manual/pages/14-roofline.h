/* ----------------------------------------------------------------------------------------------------------
   ROOFLINE

       A roofline shows how far regions are from what the device can do: operations a second against
       operations a byte of memory traffic, below the peaks of both. A page (.html) has one for the regions
       whose traffic is measured, and lists the others, with the reason. ZT_PEAKS or zt_set_peaks set the
       peaks. A measured peak is nearer to what kernels reach than one from a data sheet. examples/peaks.c
       measures both, by copies and by chains of multiply-adds, and prints ZT_PEAKS:

           env $(build/examples/peaks) ./program

       Otherwise the driver reports the peak bandwidth. Reports have what each region reaches of the peaks, as
       zt_limit_info has it, and zt_get_limit compares with them: the larger share is how near the region is to
       its roof. What exceeds 110% of a peak shows that the peak is wrong: zt_limit_info.text says so, and
       nothing is concluded from it.

       No metric counts operations, because the device does not report how many SIMD lanes an instruction
       has. So zt_set_operations states them. Without it, the roofline has the instructions of the vector
       and matrix engines, and only the roof of the bandwidth.
*/
