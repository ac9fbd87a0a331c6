/* ----------------------------------------------------------------------------------------------------------
   OPENMETRICS

       A report to "run.prom" is OpenMetrics text. Prometheus reads it from an endpoint, and so do the
       Pushgateway and the textfile collector of the node exporter, which know fewer types: no family is an
       "info". A program that serves it calls zt_write with ZT_FORMAT_OPENMETRICS for each request, and answers
       with the header

           Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8

       Prometheus scrapes it with

           scrape_configs:
             - job_name: zetools
               scrape_interval: 15s
               static_configs:
                 - targets: ["localhost:9464"]

       A program that serves nothing replaces a file in the directory of the textfile collector

           zt_report(profiler, "/var/lib/prometheus/node-exporter/program.prom");

       or sends it to a Pushgateway

           curl --data-binary @run.prom localhost:9091/metrics/job/program

       The families, which begin with zetools_, are

       info                                1, with version, device and availability of metrics ("available",
                                           "library_missing" ...) as labels
       region_gpu_time_seconds             a summary by region. The quantiles 0 and 1 are minimum and
                                           maximum
       region_own_gpu_time_seconds_total   by region: can be added up. Left out while not known; see OWN
                                           TIME
       region_pass_gpu_time_seconds_total  of the samples with metrics, which are to be divided by it: by
                                           region, and by pass if there are several
       region_queue_latency_seconds        and region_launch_latency_seconds: summaries by region; see
                                           LATENCY
       region_copied_bytes_total           of traced copies and fills, by region
       region_lost_samples_total           and region_dropped_samples_total: by region
       lost_samples_total                  and dropped_samples_total: by cause
       collected_samples_total             and in_flight_samples, unobserved_lists_total
       unmeasured_launches_total           that a tracer saw and could not measure: by cause: list, graph
                                           or pointer
       metric_NAME_UNIT                    of the device: by region, metric and group, and by pass if there
                                           are several. What adds up is a counter, with _total; what is
                                           averaged is a gauge
       tile_metric_NAME_UNIT               the same of each tile, by tile, if there are several
       streamed_mean_NAME_UNIT             and streamed_peak_NAME_UNIT: of the attached streams while
                                           regions run: gauges by region, metric, group and stream
       phase_entries_total                 by phase, as all that follow; see PHASES AND ENTRIES
       phase_samples_total                 and phase_lost_samples_total, which has dropped ones, too
       phase_host_seconds_total            and phase_own_host_seconds_total
       phase_host_wait_seconds_total       with a tracer
       phase_gpu_seconds_total             and, with a timeline, phase_gpu_busy_seconds_total
       phase_entry_gpu_time_seconds        a summary of the GPU time of one entry
       phase_energy_joules_total           and phase_throttled_seconds_total, with config.power
       phase_peak_memory_bytes             and phase_end_memory_bytes, phase_unfreed_memory_bytes: gauges;
                                           see MEMORY
       memory_bytes                        in use on the device, peak_memory_bytes, host_memory_bytes,
                                           peak_host_memory_bytes; allocations_total,
                                           unwatched_allocations_total
       call_seconds                        and call_errors_total: host time as a summary, and failures, by
                                           call

       A region on several paths has a sample for each path, with the label "path", and none for the sum, but
       for its lost and dropped samples. A phase always has that label. In it, a ';' in a name is written as
       ':'.

       Names of C++ are demangled; then the label "symbol" has the mangled one.

       Names of families are in snake case and units are base units: GPU_BUSY in percent is
       zetools_metric_gpu_busy_ratio, from 0 to 1. Flags count samples. Flags of streams and metrics that
       are not combined are left out, and so are kernels and hot spots. Counters begin at 0 with each
       profiler.
*/
