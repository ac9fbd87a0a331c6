/* ----------------------------------------------------------------------------------------------------------
   PACKED STATISTICS

       The layout of what zt_pack writes, and of files with the suffix .zt. Little-endian; u32 and u64 are
       unsigned, f32 and f64 are a float and a double of IEEE 754, text is a u32 length and that many bytes. Times are
       in nanoseconds. Facts about program and device are those of the process that measured. Kernels, hot spots,
       peaks and zt_info.power are left out; zt_merge does not add them either.

           "ZTPK"; u32 layout: 13; u64 size of the whole; u64 checksum of all that follows, see below
           u32 metrics, regions, passes, tiles, config.samples; u32 1 if latencies are kept
           u32 availability; text of it
           text device, driver version, UUID, PCI address, program; "": not known
           u32 core clock in MHz; u64 timer in Hz, opening and packing in seconds since 1970 (UTC); 0: not known
           u32 causes; that many u64 counts; u64 unobserved lists
           u32 1 if memory is, or was, watched; u64 allocations, of these not freed, their bytes, further
           allocations, bytes in use, at most, of host memory, at most; the memory of no phase, as below
           each metric: text name, group, component, units, description; u32 type, aggregation, pass
           each region or phase: text name; u32 1 if it is a phase; u64 lost, dropped
           u32 paths; each: u32 index of the outer path, or 4294967295; u32 index of the region; u32 device, from
               1, or 0 if there are not several
               u64 lost, dropped
               u64 samples without a GPU time: in flight, lost, dropped; u32 1 if it has outlived the outer
               one; u32 1 if its own time is not known
               u64 bytes; f64 GPU time of the samples with bytes; f64 largest error of a launch latency
               u64 collected with metrics; then, of a phase alone, u64 entries, of these incomplete,
               host time, own host time; f64 host time waiting for the device, J, seconds in which they are known, seconds
               throttled, seconds in which that is known, MHz times seconds, these seconds, seconds of all
               entries, seconds throttled for each of 8 reasons; memory: u32 1 if it is watched, 1 if the last
               two are known; u64 allocations, of these not freed, their bytes, bytes in use at most, at the
               end
               u64 collected; if there are any,
                   each column: u64 count; f64 sum of weights, sum, mean, sum of squared distances, min, max
                   25 u64: GPU times of up to 1, 2, 5, 10 ... us, to 50 s, and above
               u32 kept samples, by their GPU time; each: an f32 a kept column, NaN where there is no value
               of a phase, from u64 collected on, the same of its entries, which have one column: the GPU time

       Columns are the GPU time; the metrics; if there are any, the GPU time of the samples with the metrics
       of each pass; with tiles, the metrics of each; the latencies. With config.samples, all are kept. Else
       the GPU time, that of each pass if there are several, and latencies if they are kept.

       The checksum is of u64 words, in groups of four, the last one filled up with bytes of 0. Four sums begin as
       0xcbf29ce484222325. The first words of all groups are added to one, the second to another, and so on; and then
       the second, third and fourth sum to the first, which is the checksum. To add a word:
       sum = (sum ^ word) * 0x100000001b3, and then sum = sum ^ sum >> 32.
*/
