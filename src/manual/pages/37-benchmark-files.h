/* ----------------------------------------------------------------------------------------------------------
   BENCHMARK FILES

       Samples are taken in bursts of up to 16, which begin at regular times: at least 10 over
       zt_bench_config.min_time_ns, and more until one of the conditions of zt_bench_end holds. The interval of
       the median is one of ranks (sign test). It counts as many samples as are independent of each other, by
       how much bursts, and fifths of all bursts, differ: noise and drift that last for milliseconds up to the
       whole benchmark make it wider. It contains the medians of these fifths. zt_bench_result.burst_spread is how far
       apart the medians of bursts lie.

       Samples are changed if the frequency of the device differs from the median by more than
       zt_bench_config.max_change, or if the driver reports a reason for throttling. They are set aside: counted,
       marked, and in no figure. If at least half are changed, all count, and the table says so.

       zt_report_benches writes a line of CSV for each result. "layout" is 1, and "results" the number of
       lines below the first. Times are in nanoseconds, rates in units a second, shares from 0 to 1; what is
       not known is empty. Each line has the date (UTC), the device, its driver version and core clock, and the
       version of the library. A later version may add columns at the end.

       zt_compare_benches writes a row for each benchmark, with the change of its median and an interval
       that contains the true change with a probability of at least 95%: from the lower end now against the
       higher end before, to the higher end now against the lower end before. So one run may be at its best, and the
       other at its worst, because of what lasts longer than a run. A benchmark is slower or faster if the whole
       interval, and the change of its first decile, are beyond its zt_bench_config.tolerance. Without a positive
       median it counts as not measured. A note reports a device, driver or clock that is not the one in the file.

       No interval includes what differs from run to run, and never within one: placement in memory, temperature,
       other users of the device. Other users make samples longer, but hardly ever all of them, which is why the
       first decile has to change, too. What remains, the tolerance has to cover.

       zt_compare takes the samples of two variants in turn, and compares each with the next. What lasts longer
       than two samples is in both, so that it finds smaller changes than two runs do.
*/
