#ifndef ZETOOLS_DISABLE

/* Adds the statistics and counts of one profiler to those of another. Both must measure the same metrics in
   the same passes. Neither collects meanwhile. Samples in flight, the timeline and streamed metrics are not
   added; own times that depend on samples in flight are then not known. Each profiler of a process has all its
   phases: if two of one process are merged, their entries, host times and energy count twice.
   Returns SUCCESS, or
       INVALID_ARGUMENT      they do not measure the same, or are the same profiler
       NOT_READY             other threads collected for the config.wait_timeout_ns of `into`
       HANDLE_OBJECT_IN_USE  this is inside the sample function of `into`
   On failure no figure has changed, but `into` may have new regions without samples. */
ZT_API ze_result_t zt_merge(zt_profiler *into, const zt_profiler *from);

/* Writes all statistics and counts of this profiler alone into a buffer, as zt_report does into a file with the suffix
   .zt, which also has those of others (config.with); see PACKED STATISTICS. Nothing is collected meanwhile, but other threads may lose or drop samples between the counts of two
   regions.
   buffer  NULL: only `size` is set
   size    the size of the buffer in bytes; receives the size that is needed. What is collected between two
           calls may need more room in the second one
   Returns SUCCESS; INVALID_SIZE if the buffer is too small; NOT_READY if another thread collected for
   config.wait_timeout_ns. */
ZT_API ze_result_t zt_pack(const zt_profiler *profiler, void *buffer, size_t *size);

/* Makes a profiler of packed statistics. It has no device and measures nothing, but can be read, reported,
   merged, packed and closed.
   size      of the statistics in bytes: all of the buffer
   config    NULL: the defaults. Only `log`, `allocator`, `columns` (else `metrics`) and `pass_tolerance`
             count
   profiler  receives the profiler; NULL on failure
   Returns SUCCESS. On failure, zt_last_error has the message:
       UNSUPPORTED_VERSION  the statistics have another layout
       INVALID_SIZE         the buffer is cut off
       INVALID_ARGUMENT     it is damaged, claims what is impossible, or has more behind the statistics
       OUT_OF_HOST_MEMORY   also when 256 profilers are open in the process */
ZT_API ze_result_t zt_unpack(const void *buffer, size_t size, const zt_config *config,
                             zt_profiler **profiler);

#endif
