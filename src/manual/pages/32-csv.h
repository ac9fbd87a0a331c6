/* ----------------------------------------------------------------------------------------------------------
   CSV

       A file begins with what FACTS OF THE RUN lists. A region has a line for its GPU
       time, for each metric, also without samples, and for what FIGURES OF REGIONS lists: a number of samples,
       entries, lists or allocations is the `count`; times, bytes, energy and "share" are the `sum`; others are the
       `mean`. `tile` and `pass` are "all" or a number. The column `kind` says what a line is of: "region", "phase",
       "path of region", "path of phase", "path of baseline" (see TWO RUNS), "kernel", "hotspot", "call" (of the
       host) or "profiler" (the whole). Names are demangled; `symbol`, the last column, has the mangled one. Where
       they apply, there are lines with

       - "queue latency" and "launch latency" of a region
       - the texts "limit" and "limit: reason" of each region, as in zt_limit_info
       - with config.power, "throttled: REASON" of a phase and of all; the highest "temperature" of all,
         like what is of the device, is the `max`
       - the GPU time of a pass, by which metrics of the pass are divided, with several passes or samples
         with times alone
       - the pass "stream": a metric of an attached stream. `count` is the number of rows, of which the
         figures are
       - the name of a path, such as "step;solve" or ";solve", as the region: a region on several paths has
         these lines for each path with samples, too, and a text "path of" with its name. In paths, a ';' in a
         name is written as ':'
       - the component "profiler": a count or, with the aggregation "none", a text, such as the "parent"
       - no region: "lost: CAUSE" and "dropped: CAUSE" of all; each "note" is one of the "notes" of JSON
       - the component "host", of a call: "host time", and "errors", whose `count` is all calls and whose `sum` those
         that failed
       - the component "kernel": the index of the kernel as the group ("kernel 3"), its launches as the
         count, a figure of it as the mean. A line "occupancy" for each shape has "64 of 256" as the text
         for 64 work-groups of 256 items
       - the component "hotspot": the samples of an instruction, a line for each kind. `region` is the
         kernel, `count` all samples of the instruction, `sum` the samples of the kind, the text its offset
         and source line

           import csv
           for line in csv.DictReader(open("run.csv", newline="")):
               if line["kind"] == "region" and line["metric"] == "GPU_BUSY" and line["tile"] == "all":
                   print(line["region"], line["mean"])
*/
