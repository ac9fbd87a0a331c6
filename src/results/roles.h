/* The role of a metric, such as memory read, by its names on devices; a region's figures by role. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"
#include "results/results.h"

/* What a metric measures, and the units of its figure, which rules compare. Tables show metrics without a
   role in this order. */
typedef enum zt__quantity {
    ZT__QUANTITY_SHARE, /* percent, of the time or of something else */
    ZT__QUANTITY_RATE,  /* bytes, operations or instructions a second; as a figure, GB or billions a second */
    ZT__QUANTITY_BYTES, /* as a figure, GB a second */
    ZT__QUANTITY_EVENTS, /* as a figure, events a nanosecond */
    ZT__QUANTITY_OTHER,  /* frequencies, clock cycles, times, ratios; as a figure, microseconds */
    ZT__QUANTITY_NOTHING /* nothing that can be compared: identifiers, flags, time stamps, uncertainties */
} zt__quantity;

/* How metrics are named depends on the metric sets of a device. */
enum {
    ZT__NAMES_XE2,       /* Battlemage and Lunar Lake, and Ponte Vecchio: XVE_STALL */
    ZT__NAMES_ALCHEMIST, /* XveStall */
    ZT__NAMES_GEN,       /* Gen9 to Gen12: EuStall */
    ZT__NAMING_COUNT
};

/* The role of a figure: what it shows of the work, whatever a device calls the metric. A metric has a role if
   its name is one of the role's and its quantity is that of the role. Roles without names of metrics are
   derived from other roles. Columns: role; 1 if tables show it; quantity; name in texts; names of the
   metric on Xe2, on Alchemist, and before Alchemist. Tables show roles in the order of this list. Sources
   of the names: Intel, "Metrics Discovery Application Programming Interface" (metric sets of each device),
   and the metric sets of Mesa (src/intel/perf). ALU0, ALU1 and ALU2 of Xe2 are the pipes that Alchemist
   calls FPU, EM and XMX. */
/* clang-format off */
#define ZT__ROLES(X)                                                                                         \
    X(XMX_ACTIVE,        1, SHARE,  "XMX active",                                                            \
        "XVE_INST_EXECUTED_ALU2_ALL_UTILIZATION,XVE_INST_EXECUTED_XMX_ALL_UTILIZATION", "XmxActive", "")     \
    X(EU_OCCUPANCY,      1, SHARE,  "EU occupancy",                                                          \
        "XVE_THREADS_OCCUPANCY_ALL", "XveThreadOccupancy", "EuThreadOccupancy")                              \
    X(EU_ACTIVE,         1, SHARE,  "EU active",                   "XVE_ACTIVE", "XveActive", "EuActive")    \
    X(EU_STALL,          1, SHARE,  "EU stall",                    "XVE_STALL", "XveStall", "EuStall")       \
    X(MEMORY_READ_RATE,  1, RATE,   "memory read",                 "GPU_MEMORY_BYTE_READ_RATE", "", "")      \
    X(MEMORY_WRITE_RATE, 1, RATE,   "memory written",              "GPU_MEMORY_BYTE_WRITE_RATE", "", "")     \
    X(MEMORY_READ,       1, BYTES,  "memory read",                                                           \
        "GPU_MEMORY_BYTE_READ", "GtiReadThroughput", "GtiReadThroughput")                                    \
    X(MEMORY_WRITTEN,    1, BYTES,  "memory written",                                                        \
        "GPU_MEMORY_BYTE_WRITE", "GtiWriteThroughput", "GtiWriteThroughput")                                 \
    X(MEMORY_QUEUE_FULL, 1, SHARE,  "memory queue full",                                                     \
        "GPU_MEMORY_REQUEST_QUEUE_FULL", "", "")                                                             \
    X(L3_HIT_SHARE,      1, SHARE,  "L3 hits",                     "", "", "")                               \
    X(LSC_HIT_SHARE,     1, SHARE,  "LSC hits",                    "", "", "")                               \
    X(L3_STALL,          1, SHARE,  "L3 stall",                    "L3_STALL", "", "")                       \
    X(SLM_READ,          1, BYTES,  "SLM read",                    "SLM_BYTE_READ", "", "SlmBytesRead")      \
    X(SLM_WRITTEN,       1, BYTES,  "SLM written",                                                           \
        "SLM_BYTE_WRITE", "", "SlmBytesWritten")                                                             \
    X(ALU0_ACTIVE,       1, SHARE,  "ALU0 active",                                                           \
        "XVE_INST_EXECUTED_ALU0_ALL_UTILIZATION", "FpuActive", "Fpu0Active,FpuActive")                       \
    X(ALU1_ACTIVE,       1, SHARE,  "ALU1 active",                                                           \
        "XVE_INST_EXECUTED_ALU1_ALL_UTILIZATION", "EmActive", "Fpu1Active,EmActive")                         \
    X(GPU_BUSY,          1, SHARE,  "GPU busy",                    "GPU_BUSY", "GpuBusy", "GpuBusy")         \
    X(COMPUTE_BUSY,      1, SHARE,  "compute engine busy",                                                   \
        "COMMAND_PARSER_COMPUTE_ENGINE_BUSY", "", "")                                                        \
    X(L3_HITS,           0, EVENTS, "L3 hits",                     "L3_HIT", "", "")                         \
    X(L3_MISSES,         0, EVENTS, "L3 misses",                   "L3_MISS", "", "L3Misses")                \
    X(LSC_ACCESSES,      0, EVENTS, "LSC accesses",                "LOAD_STORE_CACHE_ACCESS", "", "")        \
    X(LSC_HITS,          0, EVENTS, "LSC hits",                    "LOAD_STORE_CACHE_HIT", "", "")           \
    X(ALU0_INSTRUCTIONS, 0, EVENTS, "ALU0 instructions",           "XVE_INST_EXECUTED_ALU0_ALL", "", "")     \
    X(ALU1_INSTRUCTIONS, 0, EVENTS, "ALU1 instructions",           "XVE_INST_EXECUTED_ALU1_ALL", "", "")     \
    X(XMX_INSTRUCTIONS,  0, EVENTS, "XMX instructions",                                                      \
        "XVE_INST_EXECUTED_ALU2_ALL,XVE_INST_EXECUTED_XMX_ALL", "", "")                                      \
    X(COMPUTE_KERNELS,   0, EVENTS, "kernels",                                                               \
        "COMMAND_PARSER_COMPUTE_ENGINE_DISPATCH_KERNEL_COUNT", "", "")                                       \
    X(RENDER_KERNELS,    0, EVENTS, "kernels",                                                               \
        "COMMAND_PARSER_RENDER_ENGINE_DISPATCH_KERNEL_COUNT", "", "")                                        \
    X(MEMORY_TRAFFIC,    0, RATE,   "memory traffic",              "", "", "")                               \
    X(MEMORY_SHARE,      0, SHARE,  "of the peak bandwidth",       "", "", "")                               \
    X(OPERATIONS,        0, RATE,   "operations",                  "", "", "")                               \
    X(OPERATIONS_SHARE,  0, SHARE,  "of the peak operations",      "", "", "")                               \
    X(INSTRUCTIONS,      0, RATE,   "instructions",                "", "", "")                               \
    X(KERNEL_TIME,       0, OTHER,  "time of a kernel",            "", "", "")                               \
    X(IDLE_TIME,         0, OTHER,  "idle inside the region",      "", "", "")                               \
    X(WALL_SHARE,        0, SHARE,  "of the wall time in regions", "", "", "")                               \
    X(LEAST_LAUNCH,      0, OTHER,  "shortest launch latency",     "", "", "")

/* clang-format on */

typedef enum zt__role {
    ZT__NO_ROLE,
#define X(role, is_column, quantity, name, xe2, alchemist, gen) ZT__ROLE_##role,
    ZT__ROLES(X)
#undef X
        ZT__ROLE_COUNT
} zt__role;

typedef struct zt__role_description {
    int is_column;
    zt__quantity quantity;
    const char *name;
    const char *metrics[ZT__NAMING_COUNT]; /* names, separated by commas */
} zt__role_description;

/* What advice needs, and is the same for all regions: the metric that has each role, and figures of the
   device. Prepared once for a report, so that names are not compared again for each region. */
typedef struct zt__advice {
    uint32_t metrics[ZT__ROLE_COUNT];  /* of the profiler; UINT32_MAX: none */
    uint32_t streamed[ZT__ROLE_COUNT]; /* of attached streams, shares only; UINT32_MAX: none */
    uint32_t naming;                   /* ZT__NAMES_XE2 ...; ZT__NAMING_COUNT: no metric has a role */
    uint8_t
        elsewhere[ZT__ROLE_COUNT]; /* which of its names, from 1, a metric of this role has in `other_group`
                                          of the device, which is not measured; 0: none */
    char other_group[ZET_MAX_METRIC_GROUP_NAME];
    zt__peaks peaks;   /* given, or the design bandwidth of the device's memory */
    double wall_share; /* of regions in the wall time, in percent; NaN without a timeline, or
                                          with fewer than two samples */
} zt__advice;

/* What a region reaches of what the device can do, from 0 to 1, as in zt_limit_info. NaN: not known. */
typedef struct zt__peak_shares {
    double bandwidth, compute, xmx, occupancy;
} zt__peak_shares;

ZT__PRIVATE zt__quantity zt__quantity_of(const zt_metric *metric);

/* Stores the roles that a metric has, unless an earlier metric has them. A name that is in one naming alone
   also shows which naming the device uses. */
ZT__PRIVATE void zt__match_roles(const zt_metric *metric, uint32_t index, uint32_t *of_roles,
                                 uint32_t *naming);

/* Fills in what is the same for all regions, but for what other groups have. The mutex is not held. */
ZT__PRIVATE void zt__prepare_figures(const zt_profiler *profiler, zt__advice *advice);

/* Fills in all. */
ZT__PRIVATE void zt__prepare_advice(const zt_profiler *profiler, zt__advice *advice);

/* Returns the factor that converts a rate in these units to GB a second. */
ZT__PRIVATE double zt__scale_of_rate(const char *units);

/* Returns how much a part is of a whole, in percent; NaN if either was not measured, or the whole is 0. */
ZT__PRIVATE double zt__percent_of(double part, double whole);

/* Fills in the figure of each role: from the metric of the profiler that has it, or else from that of a stream;
   NaN where neither was measured in the region. `errors` receives by how much each may differ from that of other
   samples of the same work; 0 where nothing shows it. The mutex is not held. */
ZT__PRIVATE void zt__read_figures(zt_profiler *profiler, const zt__advice *advice, zt__subject subject,
                                  double figures[ZT__ROLE_COUNT], double errors[ZT__ROLE_COUNT]);

/* Returns whether a share, in percent, is so far above a peak that the peak must be wrong. */
ZT__PRIVATE int zt__is_above_peak(double percent);

/* Returns the shares of peaks among the figures; none is known for NULL. */
ZT__PRIVATE zt__peak_shares zt__list_peak_shares(const double *figures);

extern const zt__role_description zt__roles[ZT__ROLE_COUNT];
