/* ----------------------------------------------------------------------------------------------------------
   TWO RUNS

       With config.baseline, or ZT_BASELINE=before.json, the reports of a run say how it differs from an earlier
       one, of which this is the JSON report. Paths of the same names are compared: the mean GPU time of a sample
       or, of a phase, of an entry.

           ZT_REPORT=before.json ./program
           ZT_BASELINE=before.json ZT_REPORT=table,after.json ./program

       The change is in percent of the earlier mean. Its interval is that of Welch for the difference of two means,
       with 95%: in 95 of 100 pairs of runs, it contains the change of what is sampled. It does not know of what
       differs from run to run and not from sample to sample, such as a clock that another program has warmed up. So
       compare several runs where a few percent matter. A time takes two samples on either side to have an interval,
       and none is below -100%.

       table           a column "change": "-12.3 +- 1.1", "new", or nothing where it is not known
       CSV             a line "change" of each path that has one: the mean, and the interval as min and max, in
                       percent; the text "new". Of the kind "path of baseline", with the text "gone": paths that
                       this run does not have
       JSON            "change" of a path, or of a region with one path: {"new", "percent", "low", "high"}; and
                       "baseline": {"file", "failure", "date", "device", "driver_version", "gone"}

       If that was on one device and this run is on several, each of them is compared with that one. Notes say with
       what this run is compared, which paths are gone, and whether device, driver or clock were others. The file is
       read by zt_open. If it cannot be read, a message and each report say so, and the program goes on.
       examples/regression.c fails a test where a path has become slower.
*/
