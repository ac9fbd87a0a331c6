/* ----------------------------------------------------------------------------------------------------------
   PACKED STATISTICS

       The layout of what zt_pack writes. Little-endian; u32 and u64 are unsigned, f64 is a double of IEEE
       754, text is a u32 length and that many bytes. Times are in nanoseconds. Facts about program and
       device are those of the process that measured. Kernels and hot spots are left out; zt_merge does not
       add them either.

           "ZTPK"; u32 layout: 4; u64 size of the whole; u64 checksum: FNV-1a of all that follows
           u32 metrics, regions, passes, tiles, config.samples, availability; text of it
           text device, driver version, UUID, PCI address, program; "": not known
           u32 core clock in MHz; u64 timer in Hz, opening in seconds since 1970 (UTC); 0: not known
           u32 causes; that many u64 counts; u64 unobserved lists
           each metric: text name, group, component, units, description; u32 type, aggregation, pass
           each region: text name; u64 collected; u64 collected with metrics, of each pass; u64 lost,
               dropped, bytes; f64 GPU time of the samples with bytes; f64 largest error of a launch latency;
               statistics of all samples; statistics of the samples with metrics. Statistics are:
               each column: u64 count; f64 sum of weights, sum, mean, sum of squared distances, min, max
               u32 kept samples; each: an f64 a column, NaN where there is no value
           u32 paths; each: u32 index of the outer path, or 4294967295; u32 index of the region
               u64 samples with a GPU time; f64 sum of these times; u64 samples without: in flight, lost,
               dropped; u32 1 if it has outlived the outer one; u32 1 if its own time is not known

       Columns of all samples are the GPU time and the latencies. Columns of samples with metrics are the
       GPU time; the metrics; with several passes, the GPU time of each; with tiles, the metrics of each.
*/
