/* ----------------------------------------------------------------------------------------------------------
   BENCHMARK FILES

       zt_report_benches writes a line of CSV for each result. "layout" is 1, and "results" the number of
       lines below the first. Times are in nanoseconds, rates in units a second; what is not known is empty.
       Each line has the date (UTC), the device, its driver version and core clock, and the version of the
       library.

       zt_compare_benches writes a row for each benchmark, with the change of its median and an interval
       that contains the true change with a probability of at least 95%. A benchmark is slower or faster if
       the whole interval is beyond its zt_bench_config.tolerance. Without a positive median it counts as
       not measured. A note reports a device, driver or clock that is not the one in the file.

       The interval does not include what differs between runs of the same program: placement in memory,
       temperature, other users of the device. The tolerance has to cover them.
*/
