/* ----------------------------------------------------------------------------------------------------------
   FIGURES OF REGIONS

       What reports have of a region, a phase or a path, beside the statistics of times and metrics. A line
       has the name in CSV, the member in JSON, the column of a table, and the family in OpenMetrics, which
       begins with zetools_ and, of a counter, ends with _total. "-": the format does not have it.

       CSV                     JSON                     table      OpenMetrics

       samples                 count                    -          phase_samples
       lost                    lost                     -          phase_lost_samples
       dropped                 dropped                  -          phase_dropped_samples
       total GPU time          total_ns                 total      phase_gpu_seconds
       own GPU time            own_ns                   own        region_own_gpu_time_seconds
       bandwidth of peak       bandwidth                bandwidth  region_bandwidth_ratio
       compute of peak         compute                  compute    region_compute_ratio
       XMX of peak             xmx                      -          region_xmx_ratio
       occupancy of peak       occupancy                -          region_occupancy_ratio
       share                   share                    -          -
       samples with metrics    with_metrics             -          -
       copied bytes            copied_bytes             -          region_copied_bytes
       copied bytes a second   copied_bytes_per_second  copied     -
       entries                 entered                  -          phase_entries
       incomplete entries      incomplete               -          -
       host time               host_ns                  host       phase_host_seconds
       own host time           host_own_ns              host own   phase_own_host_seconds
       host wait time          host_wait_ns             host wait  phase_host_wait_seconds
       busy GPU time           busy_ns                  -          phase_gpu_busy_seconds
       allocations             allocations              -          -
       allocations not freed   unfreed                  -          -
       peak memory             peak_bytes               memory     phase_peak_memory_bytes
       memory not freed        unfreed_bytes            not freed  phase_unfreed_memory_bytes
       memory at the end       end_bytes                -          phase_end_memory_bytes
       energy                  joules                   energy     phase_energy_joules
       power                   watts                    power      -
       -                       -                        -          phase_throttled_seconds
       clock                   mhz                      -          -
       throttled               throttled                throttled  -

       Shares       "share", "throttled" and what is "of peak": from 0 to 1 in JSON and OpenMetrics, in percent
                    in CSV and tables
       Times        in nanoseconds in CSV and JSON, in seconds in OpenMetrics
       Tables       also have "share" and "count", and columns of the times of samples
       "of peak"    as in zt_limit_info. In JSON these are members of "of_peak", if any is known
       Of phases    from "entries" on, in JSON members of "phase"
*/
