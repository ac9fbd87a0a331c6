/* What metrics.c, calculate.c, queries.c and streamers.c share: groups, what is active on a device, and raw
 * reports. */
#ifndef SOFTGPU_METRICS_H
#define SOFTGPU_METRICS_H

#include "work.h"

#pragma GCC visibility push(hidden)

enum {
    SG_DOMAINS = 3,
    SG_SETS = 34, /* 28 of them with MANY_SETS alone */
    SG_SAMPLINGS = 2,
    SG_MAX_TILES = SG_MAX_SUB_DEVICES,
    SG_MAX_METRICS = 96,
    SG_MAX_STALL_METRICS = 11
};

struct sg_streamer;

/* How a value comes out of a report. */
typedef enum sg_operation {
    DIFFERENCE, /* of the sum of the counters `of`, from begin to end */
    QUOTIENT,   /* of two such differences, times the scale */
    FLAG,       /* the flag `of` a report */
    BEGIN_TIME, /* the rest are fields of a report */
    ID,
    COUNT,
    REASON,
    MARKER,
    SAMPLED, /* from the bit `of` an instruction sample on: see sampling.c */
    GIVEN,   /* behind the report */
} sg_operation;

typedef struct sg_formula {
    const char *name, *component, *units;
    uint64_t sets;
    unsigned samplings;
    zet_metric_type_t type;
    zet_value_type_t value;
    sg_operation operation;
    uint32_t of, per; /* bits of counters */
    double scale;
    const char *description;
} sg_formula;

/* A group by name: once for each way of sampling. */
typedef struct sg_set {
    uint16_t index;
    const char *name, *description;
    uint32_t domain;
    uint64_t bit;
    unsigned samplings;
} sg_set;

typedef struct sg_counts {
    uint64_t of[SG_COUNTER_COUNT];
} sg_counts;

typedef struct sg_metric_group {
    sg_object object;
    sg_device *device;
    const sg_set *set;
    uint32_t domain;
    zet_metric_group_sampling_type_flags_t sampling;
    uint32_t metric_count, given_count;
    const sg_formula *formulas[SG_MAX_METRICS];
    zet_metric_handle_t metrics[SG_MAX_METRICS];
    /* With CALCULATION_KEEPS_STATE: where the last calculation of TIME reports ended. */
    pthread_mutex_t lock;
    bool has_last[SG_MAX_TILES];
    sg_counts last[SG_MAX_TILES];
} sg_metric_group;

/* What zetDeviceEnableMetricsExp or zetDeviceDisableMetricsExp has left, if anything. */
typedef enum sg_switched { SG_NOT_SWITCHED, SG_ENABLED, SG_DISABLED } sg_switched;

/* The tools' side of one device or sub-device. */
typedef struct sg_metrics {
    sg_metric_group *groups[SG_SETS][SG_SAMPLINGS];
    sg_metric_group *_Atomic active[SG_DOMAINS];
    _Atomic sg_switched switched; /* of a root device */
    pthread_mutex_t lock;         /* of what follows */
    uint32_t pools[SG_DOMAINS];   /* of queries */
    struct sg_streamer *streamers[SG_DOMAINS];
    /* With ACTIVATE_AT_FIRST_USE. */
    bool activation_is_pending; /* no query has completed alone since */
    uint32_t pending_queries;   /* begun since, and not complete */
    pthread_t pending_thread;   /* that began them */
    bool pending_is_shared;     /* by another thread */
} sg_metrics;

sg_metrics *sg_metrics_of(sg_device *device);

/* What calls answer where metrics are not enabled, for a root device and its sub-devices together; or SUCCESS. */
ze_result_t sg_metrics_refusal(const sg_device *device);

void sg_take_20_ms(void);

SG_HANDLE(sg_group_of, sg_metric_group, zet_metric_group_handle_t, SG_METRIC_GROUP)

/* With the metrics locked: whether streamers and queries get in each other's way there. */
bool sg_metrics_have_pool(const sg_metrics *metrics, uint32_t domain);
bool sg_metrics_have_streamer(const sg_metrics *metrics, uint32_t domain);

/* The value that a test has set for a metric of the operation GIVEN. */
double sg_given_value(const sg_formula *formula);

/* Whether streamers and query pools fail, for want of permission or of free counters. */
bool sg_counters_are_refused(void);

/* Each query pool and streamer has the counters of its root device, which another process may have: exclusive.c. */
bool sg_counters_acquire(const sg_device *device);
void sg_counters_release(const sg_device *device);

bool sg_group_is_active(const sg_metric_group *group);
bool sg_group_is_ip_sampling(const sg_metric_group *group);
bool sg_group_needs_thread(const sg_metric_group *group);

/* ---- raw reports -----------------------------------------------------------------------------------------
 *
 * A report is two readings of the counters and what is known about them, then a double for each of the
 * group's metrics that tests set. It is the same for queries and streamers. A root device with
 * tiles gives a packet: a header, then the reports of each tile. */

typedef enum sg_reason { SG_REASON_QUERY, SG_REASON_TIMER, SG_REASON_MARKER } sg_reason;

typedef struct sg_report {
    uint32_t magic;
    uint16_t set;
    uint16_t sampling;
    uint32_t flags; /* bit n: behaviour SOFTGPU_REPORT_ERROR + n has struck */
    uint32_t reason;
    uint32_t marker;
    uint32_t count;     /* readings but one */
    uint32_t overflows; /* with NESTED_REPLAY_OVERFLOWS */
    uint64_t id;
    uint64_t ticks; /* the time stamp: a query's begin, or the end of a streamer's period */
    sg_counts begin, end;
} sg_report;

typedef struct sg_packet {
    uint32_t magic;
    uint32_t tiles;
    uint64_t bytes; /* of each tile's reports, which follow one another */
} sg_packet;

enum { SG_REPORT_FLAGS = SOFTGPU_REPORT_QUERY_SPLIT - SOFTGPU_REPORT_ERROR + 1 };

/* How many tiles stand behind the device: 0 where there is nothing to tell apart. */
uint32_t sg_tiles_of(const sg_device *device);

/* Reads the counters, of each tile where there are tiles. */
void sg_measure(const sg_metric_group *group, uint32_t tiles, sg_counts counts[]);

/* A report without readings; then with them. Each query and each streamer numbers its own, from 1. */
sg_report sg_report_of(const sg_metric_group *group, sg_reason reason, uint64_t id);

void sg_report_fill(sg_report *report, const sg_counts *begin, const sg_counts *end);

enum { SG_STALL_REPORT_SIZE = 64 };

static inline size_t sg_report_size(const sg_metric_group *group) {
    return sg_group_is_ip_sampling(group) ? SG_STALL_REPORT_SIZE
                                          : sizeof(sg_report) + group->given_count * sizeof(double);
}

/* Writes the report and the values that tests have set. */
void sg_report_write(const sg_metric_group *group, const sg_report *report, uint8_t *to);

sg_packet sg_packet_of(uint32_t tiles, uint64_t bytes);

static inline size_t sg_raw_size(const sg_metric_group *group, uint32_t tiles, size_t reports) {
    size_t size = reports * sg_report_size(group);
    return tiles == 0 ? size : sizeof(sg_packet) + tiles * size;
}

/* May a command list use what was made in this context for this device? */
static inline bool sg_list_fits(const sg_list *list, const sg_object *context, const sg_device *device) {
    return list->object.parent == context && list->device == device;
}

#pragma GCC visibility pop

#endif
