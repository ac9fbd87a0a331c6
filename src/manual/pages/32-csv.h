/* ----------------------------------------------------------------------------------------------------------
   CSV

       A file begins with the same facts about program and device as JSON. A region has a line for its GPU
       time, for "own GPU time", "total GPU time" and "share" (in percent), and for each metric, also without
       samples. `tile` and `pass` are "all" or a number. The column `kind` says what a line is of:
       "region", "phase", "path of region", "path of phase", "path of baseline" (see TWO RUNS), "kernel",
       "hotspot", "call" (of the host) or "profiler" (the whole). Names are demangled; `symbol`, the last column, has the mangled one. Where they
       apply, there are lines with

       - "queue latency", "launch latency", "copied bytes" and "copied bytes a second" of a region
       - "entries", "incomplete entries", "host time", "own host time", "host wait time" and "busy GPU time" of
         a phase and, with config.power, "energy", "power", "throttled", "throttled: REASON" and "clock" of a
         phase and of all, and the highest "temperature" of all as the max
       - the GPU time of a pass, by which metrics of the pass are divided, with several passes or samples
         with times alone
       - the pass "stream": a metric of an attached stream. `count` is the number of rows, of which the
         figures are
       - the name of a path, such as "step;solve" or ";solve", as the region: a region on several paths has
         these lines for each path with samples, too, and a text "path of" with its name. In paths, a ';' in a name is
         written as ':'
       - the component "profiler": a count or, with the aggregation "none", a text, such
         as the "parent"
       - no region, about the profiler: "overlap: ..." are times of zt_overlap, each "note" is one of the
         "notes" of JSON
       - "peak memory", "memory at the end", "allocations" and "memory not freed" of a phase or of the
         profiler, in bytes as the sum; see MEMORY
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
