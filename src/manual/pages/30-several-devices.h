/* ----------------------------------------------------------------------------------------------------------
   SEVERAL DEVICES

       A profiler measures one device in one context. Of several profilers, one can report for all:

           zt_open(context, first_device, &config, &first);
           config.with = first;
           zt_open(context, second_device, &config, &second);
           ...
           zt_report(first, "run.json");

       zt_report and zt_write of the first write one report of all, and so do the reports that ZT_REPORT requests of
       it. What the others report is theirs alone. All other functions, such as zt_get_region, zt_get_info, zt_pack
       and zt_merge, are of the one profiler that is passed. zt_auto opens its profilers so: one report of each
       format has all contexts and devices of the process.

       Where something was measured on several devices, each is the outermost level of the paths of what ran there,
       such as "device 0: NAME;step;saxpy", or "device 0.1: NAME" for a part of a device. The number is the place among
       all devices of all drivers, in whose order they also stand. Two contexts of a device are one, and with one device
       paths have no such level.

       Counts, times and bytes are summed over devices, and nothing else is:

       - Statistics of a region are of the samples of all its paths, those of one device by path. A metric that a
         device does not measure has no samples there; two that differ in more than their device have different groups.
       - A device is a phase, whose one entry is all that ran on it, with its metrics and its energy.
       - How often and how long the program was in a phase is of no device: it stands on the path without one (";step").
         GPU times of entries are of one entry on one device: where it has work in several contexts, one of their
         profilers counts it, with the time of all.
       - Device name, UUID, address, clock, peaks and percent of peak are shown if they are the same of all.
       - Memory is summed, and the most in use at once is that of one profiler, or what is in use now.
       - Span, busy and idle times of the overlap are of all together: one of them is busy. What ran at once did so on
         one device. Shares are of the times in which the devices were busy, added up.
       - Power of the whole run, and counters of memory where a device has several contexts, are left out.
       - Launches and calls are those of the tracer, streams and the earlier run those of the first profiler.

       Profilers are closed in any order. If the first is still open, another that is closed keeps its results for it,
       and its allocator with them. If the first is closed, its requested reports have what the others have measured so
       far; from then on each of these reports for itself. A profiler that is opened with one that another reports for is
       reported by that one, too; if that one is closed, it reports for itself.
*/
