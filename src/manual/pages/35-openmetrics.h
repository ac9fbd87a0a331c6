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
       region_gpu_time_distribution_seconds
                                           a histogram by region, with the bounds 1, 2, 5, 10 us ... 50 s.
                                           Histograms of several processes add up, and Prometheus calculates
                                           quantiles of any time from them
       region_pass_gpu_time_seconds_total  of the samples with metrics, which are to be divided by it: by
                                           region, and by pass if there are several
       region_queue_latency_seconds        and region_launch_latency_seconds: summaries by region; see
                                           LATENCY
       region_lost_samples_total           and region_dropped_samples_total: by region
       lost_samples_total                  and dropped_samples_total: by cause
       NAME                                as FACTS OF THE RUN lists them
       unmeasured_launches_total           that a tracer saw and could not measure: by cause, as in
                                           zt_trace_counts.unmeasured
       metric_NAME_UNIT                    of the device: by region, metric and group, and by pass if there
                                           are several. What adds up is a counter, with _total; what is
                                           averaged is a gauge
       tile_metric_NAME_UNIT               the same of each tile, by tile, if there are several
       streamed_mean_NAME_UNIT             and streamed_peak_NAME_UNIT: of the attached streams while
                                           regions run: gauges by region, metric, group and stream
       phase_entry_gpu_time_seconds        a summary of the GPU time of one entry, by phase, and
                                           phase_entry_gpu_time_distribution_seconds, a histogram
       region_NAME, phase_NAME             as FIGURES OF REGIONS lists them, by region or phase. What is not
                                           known is left out
       call_seconds                        and call_errors_total: host time as a summary, and failures, by
                                           call

       A region on several paths has a sample for each path, with the label "path", and none for the sum, but
       for its lost and dropped samples. A phase always has that label. In it, a ';' in a name is written as
       ':'.

       Names of C++ are demangled; then the label "symbol" has the mangled one.

       Names of families are in snake case and units are base units: GPU_BUSY in percent is
       zetools_metric_gpu_busy_ratio, from 0 to 1. Flags count samples. Flags of streams and metrics that
       are not combined are left out, and so are kernels and hot spots. Counters begin at 0 with each
       profiler; those of samples, phases and calls also with zt_clear. A region or a phase without samples has
       no summary and no histogram. A service that calls zt_clear after each scrape has summaries of the time
       since the last one.
*/
