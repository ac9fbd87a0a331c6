/* ----------------------------------------------------------------------------------------------------------
   JSON

       Dates are UTC. Statistics of a figure are {"count", "sum", "mean", "stddev", "min", "max", "median",
       "p95"}. The object has

       what FACTS OF THE RUN lists: "zetools" is the version of the library, "program" the command line,
                       "gpu_time_ns" the sum of own times, or of their estimates, "gpu_busy_ns" the time in
                       which any region ran, or null. Shares are of "gpu_busy_ns", or if that is null of
                       "gpu_time_ns"
       "device"        facts of the device. Other objects are "power" (as in zt_power_info), "counts" (zt_counts),
                       "peaks" (see ROOFLINE), "overlap" (zt_overlap) and "memory" (zt_memory_info; see MEMORY)
       "causes"        of each zt_cause, by its name
       "columns"       keys of the metrics that matter most, for a table
       "metrics"       of each key: {"name", "group", "component", "units", "type", "aggregation", "pass",
                       "description"}, and a short "label" for some of "columns". The key is the name, or
                       "GROUP.NAME" if an earlier group has a metric of the same name. Shares that are
                       derived from two metrics have no "group"
       "streamed"      the same for metrics of attached streams
       "regions"       an array in the order of zt_get_region, also of regions without samples
       "paths"         {"region", "parent", "count", "lost", "dropped", "total_ns", "own_ns"} of each path and,
                       if its region has several, "share" and all that follows it in a region. "parent" is the
                       index of a path. That of a phase also has "path", its name for zt_find_path, with ':' for
                       a ';' in names
       "notes"         sentences about what is missing, why, and what to do: the notes below a table
       "kernels"       {"name", "module", "region", "launches", "shapes", "other_launches", "occupancy",
                       "advice"} and the numbers of zt_kernel_info. "shapes" is an array of zt_kernel_shape
       "calls"         {"name", "count", "errors", "time_ns"}
       "hotspots"      {"group", "period_ns", "counts", "kinds", "kernels"}: zt_hotspots_counts, the names
                       of the kinds, and of each kernel {"name", "size", "samples", "share", "instructions",
                       "sources"}. An instruction is {"offset", "samples", "kinds", "file", "line"}; a
                       source {"file", "lines"}; a line {"line", "text", "samples", "kinds"}. Their "kinds"
                       are counts in the order of the names. Lines without samples are around others. "text"
                       is missing if the file cannot be read

       Regions and kernels whose names can be demangled also have "shown", the name as other formats show it.

       A region is {"name", "parent", "time_ns", "limit", "metrics"} and what FIGURES OF REGIONS lists. "parent"
       is an index, "share" is 1 for all, "limit" is {"what", "why", "add"} as in zt_limit_info. Where they
       apply, a region also has "queue_latency_ns", "launch_latency_ns" and

       "phase"         of a phase: its figures, and "throttled_by" with the reasons that held, by name. A path
                       has it, too
       "differs"       with several passes
       "pass_time_ns"  an array of the GPU times that metrics of each pass are divided by, with several
                       passes or samples with times alone
       "bytes"         the memory traffic a second. "operations" and "instructions" are likewise a second,
                       of the samples with metrics; see ROOFLINE
       "streamed"      of each key {"rows", "mean", "stddev", "min", "peak"}
       "tiles"         an array with "metrics" of each
       "histogram"     counts of the GPU times that are kept for quantiles. Bucket i begins at first_ns *
                       ratio^i

           import json
           run = json.load(open("run.json"))
           for region in run["regions"]:
               print(region["name"], region["time_ns"]["mean"], region["metrics"]["GPU_BUSY"]["mean"])

       A page (.html) loads nothing, and contains the same object. There the figures of "metrics" are arrays
       in the order above. With config.timeline it also has

       "timeline"      {"samples", "span_ns", "phases", "queues"} of the newest kept samples, at most 100,000.
                       "samples" is how many there were. "phases" has [region, begin, end] of each entry of a
                       phase with samples, outer ones first: from the first begin to the last end of what was
                       submitted in it. A queue is {"kind", "name", "spans"}. "spans" has [region, begin, end]
                       of each sample in the order of begins. "kind" is "queue" or, for immediate lists and
                       where nothing has reported on which queue a list ran, "list". "name" is that of
                       zt_name_list, or "". Times are in nanoseconds from the first begin
*/
