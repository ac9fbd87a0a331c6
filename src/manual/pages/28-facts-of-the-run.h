/* ----------------------------------------------------------------------------------------------------------
   FACTS OF THE RUN

       What reports have of the whole run. A line has the name in CSV, whose column `region` is empty, the member
       in JSON, and the family in OpenMetrics, which begins with zetools_ and, of a counter, ends with _total.
       "-": the format does not have it. Tables and pages have sentences instead.

       CSV                                 JSON                      OpenMetrics

       zetools                             zetools                   -
       program                             program                   -
       date                                date                      -
       opened                              opened                    -
       device                              name                      -
       driver version                      driver_version            -
       UUID                                uuid                      -
       PCI address                         pci                       -
       power domain                        domain                    -
       power missing                       text                      -
       availability                        availability              -
       source of peaks                     source                    -
       core clock                          core_clock_mhz            -
       timer                               timer_hz                  -
       time of power                       seconds                   -
       energy                              joules                    energy_joules
       power                               watts                     power_watts
       throttled                           throttled                 throttled_ratio
       clock                               mhz                       clock_hertz
       temperature                         max_celsius               max_temperature_celsius
       GPU time of all                     gpu_time_ns               -
       busy GPU time of all                gpu_busy_ns               -
       time since zt_open                  open_ns                   open_seconds
       time of the library                 library_busy_ns           library_busy_seconds
       begun                               begun                     -
       collected                           collected                 collected_samples
       lost                                lost                      -
       dropped                             dropped                   -
       in flight                           in_flight                 in_flight_samples
       unobserved lists                    unobserved_lists          unobserved_lists
       overlap: samples                    samples                   -
       overlap: missing                    missing                   -
       overlap: first begin to last end    span_ns                   -
       overlap: busy                       busy_ns                   -
       overlap: kernels                    kernel_ns                 -
       overlap: copies                     copy_ns                   -
       overlap: kernels and copies at once both_ns                   -
       overlap: idle                       idle_ns                   -
       overlap: several at once            at_once_ns                -
       peak bandwidth                      bytes_per_second          -
       peak compute                        operations_per_second     -
       allocations                         allocations               allocations
       allocations not freed               unfreed                   -
       memory not freed                    unfreed_bytes             -
       allocations not watched             unseen                    unwatched_allocations
       memory                              bytes                     memory_bytes
       peak memory                         peak_bytes                peak_memory_bytes
       host memory                         host_bytes                host_memory_bytes
       peak host memory                    host_peak_bytes           peak_host_memory_bytes

       Units        as in FIGURES OF REGIONS; the clock is in MHz in CSV and JSON, in Hz in OpenMetrics
       In JSON      "name" to "timer_hz" are members of "device", "domain", "text" and "seconds" to
                    "max_celsius" of "power", "begun" to "unobserved_lists" of "counts",
                    "samples" to "at_once_ns" of "overlap", "source" and what ends with "_per_second" of
                    "peaks", "allocations" to "host_peak_bytes" of "memory"
       OpenMetrics  has version, device and availability as labels of "info"; see OPENMETRICS
       If measured  "power" with config.power, "overlap" with config.timeline, "peaks" where one is known,
                    "memory" where it is watched; see MEMORY. In CSV and OpenMetrics, a figure that is not
                    known has no line
*/
