/* The list of what reports have of a region, a phase or a path, beside statistics of times and metrics. Table, CSV,
   JSON and OpenMetrics are written from it: a new figure is a line here, and one in the page FIGURES OF REGIONS. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "reports/facts.h"

/* What has a figure, and where JSON has it. */
typedef enum zt__fact_set {
    ZT__FACTS_OF_ALL,    /* members of a region or a path */
    ZT__FACTS_OF_ROWS,   /* the same, of those that have statistics of their own */
    ZT__FACTS_OF_PHASES, /* of phases alone: members of "phase", as the next two */
    ZT__FACTS_OF_POWER,  /* of the device during a phase */
    ZT__FACTS_OF_MEMORY, /* of phases where memory is watched */
    ZT__FACTS_OF_COPIES, /* where traced copies moved bytes */
    ZT__FACTS_OF_PEAKS,  /* shares of what the device can do, where any is known: members of "of_peak" */
    ZT__FACTS_OF_TABLES  /* statistics, which CSV and JSON have as a whole */
} zt__fact_set;

/* Which rows of OpenMetrics have a figure. */
typedef enum zt__family_of { ZT__FAMILY_OF_NO, ZT__FAMILY_OF_REGION, ZT__FAMILY_OF_PHASE } zt__family_of;

/* Columns: identifier; value; set; units; type and aggregation of the figure; names in CSV, in JSON and of the column
   of a table, "" where a format does not have it; whether tables show the column by default, and its rank; rows, name
   and help in OpenMetrics. A share from 0 to 1 is in percent in CSV and tables. Columns of a table are in this
   order, and so are members in JSON. */
/* clang-format off */
#define ZT__REGION_FACTS(X)                                                                                      \
    X(SAMPLES, (double)info->count, ALL, "samples", EVENT, SUM, "samples", "count", "", 0, 0,                    \
      PHASE, "zetools_phase_samples", "Samples of what was submitted in a phase")                                \
    X(LOST, (double)info->lost, ALL, "samples", EVENT, SUM, "lost", "lost", "", 0, 0,                            \
      PHASE, "zetools_phase_lost_samples", "Samples in a phase whose data is missing or invalid")                \
    X(DROPPED, (double)info->dropped, ALL, "samples", EVENT, SUM, "dropped", "dropped", "", 0, 0,                \
      PHASE, "zetools_phase_dropped_samples", "Samples in a phase that were not measured")                       \
    X(TOTAL, nesting->total_ns, ALL, "ns", DURATION, SUM,                                                        \
      "total GPU time", "total_ns", "total", 1, 0,                                                               \
      PHASE, "zetools_phase_gpu_seconds", "GPU time of what was submitted in a phase")                           \
    X(OWN, nesting->own_ns, ALL, "ns", DURATION, SUM,                                                            \
      "own GPU time", "own_ns", "own", 1, 0,                                                                     \
      REGION, "zetools_region_own_gpu_time_seconds", "GPU time of a region outside of those inside")             \
    X(MEAN, time->mean, TABLES, "ns", DURATION, SUM, "", "", "mean", 1, 0, NO, "", "")                           \
    X(MEDIAN, time->median, TABLES, "ns", DURATION, SUM, "", "", "median", 1, 2, NO, "", "")                     \
    X(P95, time->p95, TABLES, "ns", DURATION, SUM, "", "", "p95", 1, 2, NO, "", "")                              \
    X(MIN, time->min, TABLES, "ns", DURATION, SUM, "", "", "min", 0, 2, NO, "", "")                              \
    X(MAX, time->max, TABLES, "ns", DURATION, SUM, "", "", "max", 0, 2, NO, "", "")                              \
    X(QUEUE, latencies[ZT__QUEUE_LATENCY].median, TABLES, "ns", DURATION, SUM,                                   \
      "", "", "queued", 0, 2, NO, "", "")                                                                        \
    X(LAUNCH, latencies[ZT__LAUNCH_LATENCY].median, TABLES, "ns", DURATION, SUM,                                 \
      "", "", "launch", 0, 1, NO, "", "")                                                                        \
    X(BANDWIDTH, of_peak->bandwidth, PEAKS, "share", RATIO, MEAN,                                                \
      "bandwidth of peak", "bandwidth", "bandwidth", 1, 1,                                                       \
      REGION, "zetools_region_bandwidth_ratio", "Memory traffic of a region as a share of the peak bandwidth")   \
    X(COMPUTE, of_peak->compute, PEAKS, "share", RATIO, MEAN,                                                    \
      "compute of peak", "compute", "compute", 1, 1,                                                             \
      REGION, "zetools_region_compute_ratio",                                                                    \
      "Operations of a region, or time in which a pipe executes, as a share of what the device can do")          \
    X(XMX, of_peak->xmx, PEAKS, "share", RATIO, MEAN, "XMX of peak", "xmx", "", 0, 0,                            \
      REGION, "zetools_region_xmx_ratio", "Share of the time in which the matrix engines execute")               \
    X(OCCUPANCY, of_peak->occupancy, PEAKS, "share", RATIO, MEAN, "occupancy of peak", "occupancy",              \
      "", 0, 0,                                                                                                  \
      REGION, "zetools_region_occupancy_ratio", "Threads that are loaded as a share of those there is room for") \
    X(SHARE, nesting->share, ROWS, "share", RATIO, SUM, "share", "share", "", 0, 0, NO, "", "")                  \
    X(WITH_METRICS, (double)info->with_metrics, ROWS, "samples", EVENT, SUM,                                     \
      "samples with metrics", "with_metrics", "", 0, 0, NO, "", "")                                              \
    X(BYTES, (double)info->bytes, COPIES, "bytes", EVENT, SUM, "copied bytes", "copied_bytes", "", 0, 0,         \
      REGION, "zetools_region_copied_bytes", "Bytes that traced copies and fills moved")                         \
    X(COPIED, info->bytes_per_second, COPIES, "bytes/s", THROUGHPUT, MEAN,                                       \
      "copied bytes a second", "copied_bytes_per_second", "copied", 1, 1, NO, "", "")                            \
    X(ENTERED, (double)info->entered, PHASES, "entries", EVENT, SUM, "entries", "entered", "", 0, 0,             \
      PHASE, "zetools_phase_entries", "How often a phase was entered")                                           \
    X(INCOMPLETE, (double)info->incomplete, PHASES, "entries", EVENT, SUM,                                       \
      "incomplete entries", "incomplete", "", 0, 0, NO, "", "")                                                  \
    X(HOST, info->host_ns, PHASES, "ns", DURATION, SUM, "host time", "host_ns", "host", 1, 1,                    \
      PHASE, "zetools_phase_host_seconds", "Host time of the entries of a phase")                                \
    X(HOST_OWN, info->host_own_ns, PHASES, "ns", DURATION, SUM,                                                  \
      "own host time", "host_own_ns", "host own", 1, 2,                                                          \
      PHASE, "zetools_phase_own_host_seconds", "Host time of the entries of a phase outside of phases inside")   \
    X(HOST_WAIT, info->host_wait_ns, PHASES, "ns", DURATION, SUM,                                                \
      "host wait time", "host_wait_ns", "host wait", 1, 2,                                                       \
      PHASE, "zetools_phase_host_wait_seconds",                                                                  \
      "Host time of the entries of a phase in calls that wait for the device")                                   \
    X(BUSY, info->busy_ns, PHASES, "ns", DURATION, SUM, "busy GPU time", "busy_ns", "", 0, 0,                    \
      PHASE, "zetools_phase_gpu_busy_seconds", "Time in which at least one sample of a phase ran")               \
    X(ALLOCATIONS, (double)info->allocations, MEMORY, "allocations", EVENT, SUM,                                 \
      "allocations", "allocations", "", 0, 0, NO, "", "")                                                        \
    X(UNFREED, (double)info->unfreed, MEMORY, "allocations", EVENT, SUM,                                         \
      "allocations not freed", "unfreed", "", 0, 0, NO, "", "")                                                  \
    X(PEAK_BYTES, info->peak_bytes, MEMORY, "bytes", RAW, SUM, "peak memory", "peak_bytes", "memory", 1, 1,     \
      PHASE, "zetools_phase_peak_memory_bytes", "The most memory of the device in use while a phase was open")   \
    X(UNFREED_BYTES, info->unfreed_bytes, MEMORY, "bytes", RAW, SUM,                                            \
      "memory not freed", "unfreed_bytes", "not freed", 0, 2,                                                    \
      PHASE, "zetools_phase_unfreed_memory_bytes", "Memory that was allocated in a phase and is not freed")      \
    X(END_BYTES, info->end_bytes, MEMORY, "bytes", RAW, SUM, "memory at the end", "end_bytes", "", 0, 0,        \
      PHASE, "zetools_phase_end_memory_bytes", "Memory of the device in use when a phase last ended")            \
    X(JOULES, info->joules, POWER, "J", EVENT, SUM, "energy", "joules", "energy", 1, 1,                          \
      PHASE, "zetools_phase_energy_joules", "Energy of the device during entries of a phase")                    \
    X(WATTS, info->watts, POWER, "W", THROUGHPUT, MEAN, "power", "watts", "power", 1, 1, NO, "", "")             \
    X(THROTTLED_SECONDS, throttled_s * 1e9, POWER, "ns", DURATION, SUM, "", "", "", 0, 0,                        \
      PHASE, "zetools_phase_throttled_seconds",                                                                  \
      "Time in entries of a phase in which the device's clock was throttled")                                    \
    X(MHZ, info->mhz, POWER, "MHz", RAW, MEAN, "clock", "mhz", "", 0, 0, NO, "", "")                             \
    X(THROTTLED, info->throttled, POWER, "share", RATIO, MEAN,                                                   \
      "throttled", "throttled", "throttled", 1, 1, NO, "", "")

/* clang-format on */

typedef enum zt__region_figure {
#define X(id, value, set, units, type, aggregation, csv, json, column, is_default, rank, rows, family, help) \
    ZT__FACT_##id,
    ZT__REGION_FACTS(X)
#undef X
        ZT__REGION_FACT_COUNT
} zt__region_figure;

typedef struct zt__region_fact {
    zt__fact_set set;
    zt__fact fact;
    const char *column;
    int is_default, rank;
    zt__family_of rows;
} zt__region_fact;

typedef struct zt__region_values {
    double values[ZT__REGION_FACT_COUNT]; /* NaN: not known, or not of such a row */
} zt__region_values;

/* Returns the figures of the region, phase or path that was read last, by zt__read_region or zt__read_totals. After the
   latter, those of ZT__FACTS_OF_TABLES are of the row that was read by zt__read_region before, and those of
   ZT__FACTS_OF_PEAKS are not known until zt__read_peak_shares. */
ZT__PRIVATE zt__region_values zt__list_region_values(const zt__document *document);

/* Returns whether the row that was read last has figures of a set. */
ZT__PRIVATE int zt__has_facts(const zt__document *document, zt__fact_set set);

extern const zt__region_fact zt__region_facts[ZT__REGION_FACT_COUNT];
