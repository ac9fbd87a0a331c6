/* The list of what reports have of the whole run: of program, device, power, counts, overlap, peaks and memory. CSV,
   JSON and OpenMetrics are written from it: a new fact is a line here, and one in the page FACTS OF THE RUN. Tables
   and pages have sentences instead, which are notes. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "reports/facts.h"

/* What has a fact, and where JSON has it. */
typedef enum zt__run_set {
    ZT__RUN_HEAD,     /* members of the report */
    ZT__RUN_DEVICE,   /* members of "device" */
    ZT__RUN_POWER,    /* with config.power: members of "power" */
    ZT__RUN_TIMES,    /* members of the report */
    ZT__RUN_OWN_TIME, /* the same, and members of traces */
    ZT__RUN_COUNTS,   /* members of "counts" */
    ZT__RUN_OVERLAP,  /* with config.timeline: members of "overlap" */
    ZT__RUN_PEAKS,    /* where one is known: members of "peaks" */
    ZT__RUN_MEMORY    /* where it is watched: members of "memory" */
} zt__run_set;

/* Columns: identifier; text; set; names in CSV and JSON. */
/* clang-format off */
#define ZT__RUN_TEXTS(X)                                                            \
    X(VERSION, ZETOOLS_VERSION, HEAD, "zetools", "zetools")                         \
    X(PROGRAM, facts->program, HEAD, "program", "program")                          \
    X(DATE, run->now.text, HEAD, "date", "date")                                    \
    X(OPENED, run->opened.text, HEAD, "opened", "opened")                           \
    X(DEVICE, profiler->device_name, DEVICE, "device", "name")                      \
    X(DRIVER, facts->driver_version, DEVICE, "driver version", "driver_version")    \
    X(UUID, facts->uuid, DEVICE, "UUID", "uuid")                                    \
    X(PCI, facts->pci_address, DEVICE, "PCI address", "pci")                        \
    X(POWER_DOMAIN, power.domain, POWER, "power domain", "domain")                  \
    X(POWER_MISSING, power.text, POWER, "power missing", "text")                    \
    X(AVAILABILITY, zt__get_availability_text(profiler), TIMES, "availability", "availability") \
    X(PEAKS_SOURCE, peaks->source, PEAKS, "source of peaks", "source")

/* Columns: identifier; value, NaN where it is not known; set; units; type and aggregation; names in CSV and in JSON;
   name ("": none) and help in OpenMetrics. A share from 0 to 1 is in percent in CSV. */
#define ZT__RUN_FIGURES(X)                                                                                       \
    X(CORE_CLOCK, zt__known(facts->core_clock_mhz), DEVICE, "MHz", RAW, NONE,                                    \
      "core clock", "core_clock_mhz", "", "")                                                                    \
    X(TIMER, zt__known((double)facts->timer_hz), DEVICE, "Hz", RAW, NONE, "timer", "timer_hz", "", "")           \
    X(SECONDS, power.seconds, POWER, "s", DURATION, SUM, "time of power", "seconds", "", "")                     \
    X(JOULES, power.joules, POWER, "J", EVENT, SUM, "energy", "joules",                                          \
      "zetools_energy_joules", "Energy of the device")                                                           \
    X(WATTS, power.watts, POWER, "W", THROUGHPUT, MEAN, "power", "watts",                                        \
      "zetools_power_watts", "Mean power of the device")                                                         \
    X(THROTTLED, power.throttled, POWER, "share", RATIO, MEAN, "throttled", "throttled",                         \
      "zetools_throttled_ratio", "Share of the time in which the device's clock was throttled")                  \
    X(MHZ, power.mhz, POWER, "MHz", RAW, MEAN, "clock", "mhz",                                                   \
      "zetools_clock_hertz", "Mean clock of the device while it ran")                                            \
    X(CELSIUS, power.max_celsius, POWER, "degrees C", RAW, NONE, "temperature", "max_celsius",                     \
      "zetools_max_temperature_celsius", "Highest temperature of the device")                                    \
    X(GPU_TIME, gpu_time_ns, TIMES, "ns", DURATION, SUM, "GPU time of all", "gpu_time_ns", "", "")               \
    X(GPU_BUSY, busy_ns, TIMES, "ns", DURATION, SUM, "busy GPU time of all", "gpu_busy_ns", "", "")              \
    X(OPEN, open_ns, OWN_TIME, "ns", RAW, SUM, "time since zt_open", "open_ns",                                  \
      "zetools_open_seconds", "Time since the profiler was opened")                                              \
    X(LIBRARY_BUSY, library_busy_ns, OWN_TIME, "ns", DURATION, SUM, "time of the library", "library_busy_ns",    \
      "zetools_library_busy_seconds", "Time for which the library kept threads of the program busy")             \
    X(BEGUN, (double)counts.begun, COUNTS, "samples", EVENT, SUM, "begun", "begun", "", "")                      \
    X(COLLECTED, (double)counts.collected, COUNTS, "samples", EVENT, SUM, "collected", "collected",              \
      "zetools_collected_samples", "Samples that were collected")                                                \
    X(LOST, (double)counts.lost, COUNTS, "samples", EVENT, SUM, "lost", "lost", "", "")                          \
    X(DROPPED, (double)counts.dropped, COUNTS, "samples", EVENT, SUM, "dropped", "dropped", "", "")              \
    X(IN_FLIGHT, (double)counts.in_flight, COUNTS, "samples", RAW, SUM, "in flight", "in_flight",                \
      "zetools_in_flight_samples", "Samples that were begun and are not collected yet")                          \
    X(UNOBSERVED, (double)counts.unobserved_lists, COUNTS, "lists", EVENT, SUM,                                  \
      "unobserved lists", "unobserved_lists",                                                                    \
      "zetools_unobserved_lists", "Command lists that ran outside of zt_execute")                                \
    X(OVERLAP_SAMPLES, (double)overlap->samples, OVERLAP, "samples", EVENT, SUM,                                 \
      "overlap: samples", "samples", "", "")                                                                     \
    X(OVERLAP_MISSING, (double)overlap->missing, OVERLAP, "samples", EVENT, SUM,                                 \
      "overlap: missing", "missing", "", "")                                                                     \
    X(OVERLAP_SPAN, overlap->span_ns, OVERLAP, "ns", DURATION, SUM,                                              \
      "overlap: first begin to last end", "span_ns", "", "")                                                     \
    X(OVERLAP_BUSY, overlap->busy_ns, OVERLAP, "ns", DURATION, SUM, "overlap: busy", "busy_ns", "", "")          \
    X(OVERLAP_KERNELS, overlap->kernel_ns, OVERLAP, "ns", DURATION, SUM, "overlap: kernels", "kernel_ns", "", "") \
    X(OVERLAP_COPIES, overlap->copy_ns, OVERLAP, "ns", DURATION, SUM, "overlap: copies", "copy_ns", "", "")      \
    X(OVERLAP_BOTH, overlap->both_ns, OVERLAP, "ns", DURATION, SUM,                                              \
      "overlap: kernels and copies at once", "both_ns", "", "")                                                  \
    X(OVERLAP_IDLE, overlap->idle_ns, OVERLAP, "ns", DURATION, SUM, "overlap: idle", "idle_ns", "", "")          \
    X(OVERLAP_SEVERAL, overlap->at_once_ns, OVERLAP, "ns", DURATION, SUM,                                        \
      "overlap: several at once", "at_once_ns", "", "")                                                          \
    X(PEAK_BANDWIDTH, zt__known(peaks->bytes), PEAKS, "bytes/s", THROUGHPUT, MEAN,                               \
      "peak bandwidth", "bytes_per_second", "", "")                                                              \
    X(PEAK_COMPUTE, zt__known(peaks->operations), PEAKS, "operations/s", THROUGHPUT, MEAN,                       \
      "peak compute", "operations_per_second", "", "")                                                           \
    X(ALLOCATIONS, (double)memory.allocations, MEMORY, "allocations", EVENT, SUM, "allocations", "allocations",  \
      "zetools_allocations", "Allocations that were watched")                                                    \
    X(UNFREED, (double)memory.unfreed, MEMORY, "allocations", EVENT, SUM,                                        \
      "allocations not freed", "unfreed", "", "")                                                                \
    X(UNFREED_BYTES, (double)memory.unfreed_bytes, MEMORY, "bytes", RAW, SUM,                                    \
      "memory not freed", "unfreed_bytes", "", "")                                                               \
    X(UNSEEN, (double)memory.unseen, MEMORY, "allocations", EVENT, SUM, "allocations not watched", "unseen",     \
      "zetools_unwatched_allocations", "Allocations for which there was no room")                                \
    X(BYTES, (double)memory.bytes, MEMORY, "bytes", RAW, SUM, "memory", "bytes",                                 \
      "zetools_memory_bytes", "Memory of the device in use")                                                     \
    X(PEAK_BYTES, (double)memory.peak_bytes, MEMORY, "bytes", RAW, SUM, "peak memory", "peak_bytes",             \
      "zetools_peak_memory_bytes", "The most memory of the device in use at once")                               \
    X(HOST_BYTES, (double)memory.host_bytes, MEMORY, "bytes", RAW, SUM, "host memory", "host_bytes",             \
      "zetools_host_memory_bytes", "Memory of the host in use")                                                  \
    X(HOST_PEAK_BYTES, (double)memory.host_peak_bytes, MEMORY, "bytes", RAW, SUM,                                \
      "peak host memory", "host_peak_bytes",                                                                     \
      "zetools_peak_host_memory_bytes", "The most memory of the host in use at once")

/* clang-format on */

typedef enum zt__run_text_id {
#define X(id, text, set, csv, json) ZT__RUN_TEXT_##id,
    ZT__RUN_TEXTS(X)
#undef X
        ZT__RUN_TEXT_COUNT
} zt__run_text_id;

typedef enum zt__run_figure_id {
#define X(id, value, set, units, type, aggregation, csv, json, family, help) ZT__RUN_FIGURE_##id,
    ZT__RUN_FIGURES(X)
#undef X
        ZT__RUN_FIGURE_COUNT
} zt__run_figure_id;

typedef struct zt__run_fact {
    zt__run_set set;
    zt__fact fact;
} zt__run_fact;

/* The facts of a run, at one moment. */
typedef struct zt__run {
    zt__date now, opened;
    const char *texts[ZT__RUN_TEXT_COUNT];
    double figures[ZT__RUN_FIGURE_COUNT]; /* NaN: not known */
    double throttled_by[ZT_THROTTLE_REASONS];
    uint32_t sets; /* 1 << set, for each that this run has */
} zt__run;

/* Reads the facts of the run that a document reports. Peaks are those of its `advice`, which was prepared before. */
ZT__PRIVATE void zt__read_run(const zt__document *document, zt__run *run);

ZT__PRIVATE int zt__has_run_set(const zt__run *run, zt__run_set set);

extern const zt__run_fact zt__run_texts[ZT__RUN_TEXT_COUNT];

extern const zt__run_fact zt__run_figures[ZT__RUN_FIGURE_COUNT];
