/* What limits a region, and which metrics a table shows first. Most profilers here are made from packed
   statistics, so that metrics have any name and value. */
#define _GNU_SOURCE
#define ZETOOLS_IMPLEMENTATION
#define ZETOOLS_STATIC
#include "fixture.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ==== profilers with given figures ======================================================================== */

enum { METRICS = 96, REGIONS = 4, TIME_NS = 1000000, PACKED = 1 << 16 };

typedef struct given_metric {
    const char *name, *units;
    zet_metric_type_t type;
} given_metric;

typedef struct given_value {
    const char *metric;
    double value;
} given_value;

#define DURATION ZET_METRIC_TYPE_DURATION
#define EVENT ZET_METRIC_TYPE_EVENT
#define THROUGHPUT ZET_METRIC_TYPE_THROUGHPUT

/* In part what a B580 lists. */
static const given_metric xe2[] = {
    {"GpuTime", "ns", EVENT},
    {"GpuCoreClocks", "cycles", EVENT},
    {"AvgGpuCoreFrequencyMHz", "MHz", EVENT},
    {"ResultUncertainty", "percent", EVENT},
    {"GPU_BUSY", "percent", DURATION},
    {"GPGPU_THREADGROUP_COUNT", "events", EVENT},
    {"XVE_ACTIVE", "percent", DURATION},
    {"XVE_STALL", "percent", DURATION},
    {"XVE_THREADS_OCCUPANCY_ALL", "percent", DURATION},
    {"LOAD_STORE_CACHE_ACCESS", "events", EVENT},
    {"LOAD_STORE_CACHE_HIT", "events", EVENT},
    {"L3_HIT", "events", EVENT},
    {"L3_MISS", "events", EVENT},
    {"L3_STALL", "percent", DURATION},
    {"GPU_MEMORY_BYTE_READ", "bytes", EVENT},
    {"GPU_MEMORY_BYTE_WRITE", "bytes", EVENT},
    {"GPU_MEMORY_BYTE_READ_RATE", "GBpS", THROUGHPUT},
    {"GPU_MEMORY_BYTE_WRITE_RATE", "GBpS", THROUGHPUT},
    {"GPU_MEMORY_REQUEST_QUEUE_FULL", "percent", DURATION},
    {"COMMAND_PARSER_COMPUTE_ENGINE_BUSY", "percent", DURATION},
    {"COMMAND_PARSER_COMPUTE_ENGINE_DISPATCH_KERNEL_COUNT", "events", EVENT},
    {"XVE_INST_EXECUTED_ALU0_ALL_UTILIZATION", "percent", DURATION},
    {"XVE_INST_EXECUTED_ALU1_ALL_UTILIZATION", "percent", DURATION},
    {"XVE_INST_EXECUTED_ALU2_ALL_UTILIZATION", "percent", DURATION},
    {"QueryBeginTime", "ns", ZET_METRIC_TYPE_TIMESTAMP},
    {"ReportId", "", ZET_METRIC_TYPE_RAW},
    {"ReportError", "", ZET_METRIC_TYPE_FLAG},
};

static const given_metric alchemist[] = {
    {"GpuTime", "ns", EVENT},
    {"GpuBusy", "percent", DURATION},
    {"XveActive", "percent", DURATION},
    {"XveStall", "percent", DURATION},
    {"XveThreadOccupancy", "percent", DURATION},
    {"FpuActive", "percent", DURATION},
    {"EmActive", "percent", DURATION},
    {"XmxActive", "percent", DURATION},
    {"GtiReadThroughput", "bytes", THROUGHPUT},
    {"GtiWriteThroughput", "bytes", THROUGHPUT},
};

static const given_metric gen[] = {
    {"GpuTime", "ns", EVENT},
    {"GpuBusy", "percent", DURATION},
    {"EuActive", "percent", DURATION},
    {"EuStall", "percent", DURATION},
    {"EuThreadOccupancy", "percent", DURATION},
    {"Fpu0Active", "percent", DURATION},
};

static const given_metric unknown[] = {
    {"Serial", "", ZET_METRIC_TYPE_RAW},
    {"Ticks", "cycles", EVENT},
    {"Packets", "packets", EVENT},
    {"PacketsAgain", "packets", EVENT},
    {"BytesMoved", "bytes", EVENT},
    {"BytesMovedRate", "GBpS", THROUGHPUT},
    {"BytesLost", "bytes", EVENT},
    {"EngineBusy", "percent", DURATION},
    {"EngineUncertainty", "percent", DURATION},
    {"Idle", "percent", DURATION},
    {"Seen", "", ZET_METRIC_TYPE_FLAG},
    {"Now", "ns", ZET_METRIC_TYPE_TIMESTAMP},
};

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof(array)[0]))

typedef struct packer {
    uint8_t bytes[PACKED];
    size_t size;
} packer;

static void put(packer *to, const void *bytes, size_t size) {
    assert_true(to->size + size <= PACKED);
    memcpy(to->bytes + to->size, bytes, size);
    to->size += size;
}

static void put_u32(packer *to, uint32_t value) {
    put(to, &value, sizeof value);
}

static void put_u64(packer *to, uint64_t value) {
    put(to, &value, sizeof value);
}

static void put_text(packer *to, const char *text) {
    put_u32(to, (uint32_t)strlen(text));
    put(to, text, strlen(text));
}

/* The moments of one value; NaN: of none. */
static void put_moments(packer *to, double value, double weight) {
    double figures[] = {weight, value, value, 0, value, value};
    put_u64(to, value == value);
    for (int i = 0; i < 6 && value != value; i++)
        figures[i] = 0;
    put(to, figures, sizeof figures);
}

/* As the library combines a metric of this type and these units. */
static zt_aggregation aggregation_of(zet_metric_type_t type, const char *units) {
    zet_metric_properties_t properties;
    zt__group group;
    zt_metric metric;
    memset(&properties, 0, sizeof properties);
    memset(&group, 0, sizeof group);
    properties.metricType = type;
    zt__copy_text(properties.resultUnits, sizeof properties.resultUnits, units, strlen(units));
    group.metrics = &properties;
    zt__describe_metric(&group, 0, &metric);
    return metric.aggregation;
}

/* Metrics from this one on are measured in a second pass, which takes twice as long. */
static uint32_t second_pass = UINT32_MAX;

static double launch_ns = NAN; /* the launch latency of each sample */
static double growth = 1;      /* of the time from a region to the next */

/* A profiler of regions with one sample each. Metrics that a region does not name have no value in it. */
static zt_profiler *profiler_of(const given_metric *metrics, uint32_t metric_count, double time_ns,
                                const given_value (*regions)[METRICS], uint32_t region_count) {
    static packer packed;
    uint32_t passes = second_pass == UINT32_MAX ? 1 : 2;
    zt_profiler *profiler = NULL;
    packed.size = 24; /* the header, filled in at the end */
    put_u32(&packed, metric_count);
    put_u32(&packed, region_count);
    put_u32(&packed, passes);
    put_u32(&packed, 0); /* tiles */
    put_u32(&packed, 0); /* config.samples */
    put_u32(&packed, 0); /* latencies are not kept */
    put_u32(&packed, ZT_AVAILABLE);
    put_text(&packed, "");
    put_text(&packed, "a device");
    for (int i = 0; i < 11; i++)
        put_u32(&packed, 0); /* nothing is known of the driver, the program and the clocks */
    put_u32(&packed, ZT_CAUSE_COUNT);
    for (int i = 0; i <= ZT_CAUSE_COUNT; i++)
        put_u64(&packed, 0); /* causes and unobserved lists */
    for (int i = 0; i < 29; i++)
        put_u32(&packed, 0); /* memory */
    for (uint32_t i = 0; i < metric_count; i++) {
        put_text(&packed, metrics[i].name);
        put_text(&packed, "a group");
        put_text(&packed, "a component");
        put_text(&packed, metrics[i].units);
        put_text(&packed, "");
        put_u32(&packed, metrics[i].type);
        put_u32(&packed, aggregation_of(metrics[i].type, metrics[i].units));
        put_u32(&packed, i >= second_pass);
    }
    for (uint32_t region = 0; region < region_count; region++) {
        char name[32];
        snprintf(name, sizeof name, "region %u", (unsigned)region);
        put_text(&packed, name);
        put_u32(&packed, 0); /* no phase */
        put_u64(&packed, 0); /* lost and dropped */
        put_u64(&packed, 0);
    }
    put_u32(&packed, region_count); /* paths: none is inside another */
    for (uint32_t region = 0; region < region_count; region++) {
        const double region_ns = time_ns * pow(growth, region);
        put_u32(&packed, UINT32_MAX);
        put_u32(&packed, region);
        put_u32(&packed, 0); /* device */
        put_u64(&packed, 0); /* lost and dropped */
        put_u64(&packed, 0);
        put_u64(&packed, 0); /* missing, and what is not known of it */
        put_u32(&packed, 0);
        put_u32(&packed, 0);
        put_u64(&packed, 0); /* bytes, their time, and the error of latencies */
        put_u64(&packed, 0);
        put_u64(&packed, 0);
        put_u64(&packed, metric_count > 0 ? passes : 0); /* with metrics */
        put_u64(&packed, passes);                        /* collected */
        put_moments(&packed, region_ns, 1);
        for (uint32_t i = 0; i < metric_count; i++) {
            zt_aggregation aggregation = aggregation_of(metrics[i].type, metrics[i].units);
            double value = NAN;
            for (int v = 0; v < METRICS && regions[region][v].metric; v++)
                if (strcmp(regions[region][v].metric, metrics[i].name) == 0)
                    value = regions[region][v].value;
            put_moments(&packed, value, aggregation == ZT_AGGREGATE_MEAN ? time_ns : 1);
        }
        for (uint32_t pass = 0; pass < passes && metric_count > 0; pass++)
            put_moments(&packed, (pass + 1) * (passes == 1 ? region_ns : time_ns), 1);
        put_moments(&packed, NAN, 1); /* latencies */
        put_moments(&packed, launch_ns, 1);
        for (uint32_t bucket = 0; bucket < ZT__TIME_BUCKETS; bucket++)
            put_u64(&packed, region_ns == region_ns && bucket == zt__bucket_of_time(region_ns));
        put_u32(&packed, 0); /* kept samples */
    }
    uint64_t size = packed.size, hash = zt__checksum(packed.bytes, packed.size);
    packed.size = 0;
    put(&packed, "ZTPK", 4);
    put_u32(&packed, ZT__PACK_LAYOUT);
    put_u64(&packed, size);
    put_u64(&packed, hash);
    ok(zt_unpack(packed.bytes, (size_t)size, NULL, &profiler));
    return profiler;
}

/* ==== rules =============================================================================================== */

typedef struct rule_case {
    const given_metric *metrics;
    uint32_t metric_count;
    double time_ns;
    given_value values[METRICS];
    zt_limit limit;
    const char *texts[4]; /* parts of the text */
    const char *missing;
} rule_case;

#define XE2 xe2, COUNT(xe2)
#define ALCHEMIST alchemist, COUNT(alchemist)
#define GEN gen, COUNT(gen)
#define UNKNOWN unknown, COUNT(unknown)

/* Metrics that no limit shows in; a case adds what differs. */
#define BUSY                                                                                                 \
    {"GPU_BUSY", 99}, {"COMMAND_PARSER_COMPUTE_ENGINE_DISPATCH_KERNEL_COUNT", 10},                           \
        {"XVE_INST_EXECUTED_ALU0_ALL_UTILIZATION", 30}, {"XVE_INST_EXECUTED_ALU1_ALL_UTILIZATION", 20},      \
        {"XVE_INST_EXECUTED_ALU2_ALL_UTILIZATION", 0}, {                                                     \
        "GPU_MEMORY_REQUEST_QUEUE_FULL", 5                                                                   \
    }

static const rule_case cases[] = {
    /* launches: 100 kernels in 0.2 ms, of which the GPU works half */
    {XE2,
     2e5,
     {{"GPU_BUSY", 50},
      {"COMMAND_PARSER_COMPUTE_ENGINE_DISPATCH_KERNEL_COUNT", 100},
      {"XVE_STALL", 40},
      {"XVE_THREADS_OCCUPANCY_ALL", 20}},
     ZT_LIMIT_LAUNCH,
     {"time of a kernel 1 us", "GPU busy 50%"},
     ""},
    /* without a count of kernels: the region is shorter than a launch */
    {XE2, 8000, {{"GPU_BUSY", 50}}, ZT_LIMIT_LAUNCH, {"time of a kernel 4 us"}, ""},
    /* short kernels that keep the GPU busy, as on recorded lists, are no launch problem */
    {XE2,
     1e5,
     {{"GPU_BUSY", 95},
      {"COMMAND_PARSER_COMPUTE_ENGINE_DISPATCH_KERNEL_COUNT", 100},
      {"XVE_ACTIVE", 85},
      {"XVE_INST_EXECUTED_ALU0_ALL_UTILIZATION", 40},
      {"XVE_INST_EXECUTED_ALU1_ALL_UTILIZATION", 40},
      {"XVE_INST_EXECUTED_ALU2_ALL_UTILIZATION", 0},
      {"GPU_MEMORY_REQUEST_QUEUE_FULL", 0}},
     ZT_LIMIT_COMPUTE,
     {"EU active 85%"},
     ""},
    /* host: kernels of 50 us with gaps */
    {XE2,
     1e6,
     {{"GPU_BUSY", 50},
      {"COMMAND_PARSER_COMPUTE_ENGINE_BUSY", 45},
      {"COMMAND_PARSER_COMPUTE_ENGINE_DISPATCH_KERNEL_COUNT", 10},
      {"XVE_ACTIVE", 90}},
     ZT_LIMIT_HOST,
     {"GPU busy 50%", "idle inside the region 500 us", "compute engine busy 45%", "time of a kernel 50 us"},
     ""},
    /* and of milliseconds */
    {XE2,
     1e8,
     {{"GPU_BUSY", 50}, {"COMMAND_PARSER_COMPUTE_ENGINE_DISPATCH_KERNEL_COUNT", 40}},
     ZT_LIMIT_HOST,
     {"idle inside the region 50 ms", "time of a kernel 1.25 ms"},
     ""},
    /* a gap that is no longer than a launch is that before the region's only kernel */
    {XE2,
     4e4,
     {{"GPU_BUSY", 60},
      {"COMMAND_PARSER_COMPUTE_ENGINE_DISPATCH_KERNEL_COUNT", 1},
      {"XVE_INST_EXECUTED_ALU2_ALL_UTILIZATION", 0},
      {"XVE_STALL", 20},
      {"XVE_THREADS_OCCUPANCY_ALL", 30}},
     ZT_LIMIT_LATENCY,
     {"EU stall 20%", "EU occupancy 30%"},
     ""},
    /* memory: its queue is full, whatever the rest says */
    {XE2,
     1e6,
     {BUSY,
      {"GPU_MEMORY_REQUEST_QUEUE_FULL", 93},
      {"GPU_MEMORY_BYTE_READ_RATE", 350},
      {"GPU_MEMORY_BYTE_WRITE_RATE", 51},
      {"XVE_STALL", 71},
      {"XVE_THREADS_OCCUPANCY_ALL", 95},
      {"L3_HIT", 1},
      {"L3_MISS", 3}},
     ZT_LIMIT_MEMORY_BANDWIDTH,
     {"memory queue full 93%", "memory traffic 401 GB/s", "EU stall 71%", "L3 hits 25%"},
     ""},
    /* and with half of the time, where threads wait most of it; bytes in place of rates */
    {XE2,
     1e6,
     {BUSY,
      {"GPU_MEMORY_REQUEST_QUEUE_FULL", 55},
      {"GPU_MEMORY_BYTE_READ", 2e8},
      {"GPU_MEMORY_BYTE_WRITE", 1e8},
      {"XVE_STALL", 60},
      {"XVE_ACTIVE", 30},
      {"XVE_THREADS_OCCUPANCY_ALL", 95}},
     ZT_LIMIT_MEMORY_BANDWIDTH,
     {"memory queue full 55%", "EU stall 60%", "memory traffic 300 GB/s"},
     ""},
    /* matrix engines, and then each of the other pipes */
    {XE2,
     1e6,
     {BUSY, {"XVE_INST_EXECUTED_ALU2_ALL_UTILIZATION", 84}, {"XVE_ACTIVE", 95}},
     ZT_LIMIT_XMX,
     {"XMX active 84%", "EU active 95%"},
     ""},
    {XE2,
     1e6,
     {BUSY, {"XVE_INST_EXECUTED_ALU0_ALL_UTILIZATION", 88}, {"XVE_STALL", 15}},
     ZT_LIMIT_COMPUTE,
     {"ALU0 active 88%", "ALU1 active 20%", "EU stall 15%"},
     ""},
    {XE2,
     1e6,
     {BUSY, {"XVE_INST_EXECUTED_ALU1_ALL_UTILIZATION", 81}},
     ZT_LIMIT_COMPUTE,
     {"ALU1 active 81%"},
     ""},
    {XE2,
     1e6,
     {BUSY, {"XVE_ACTIVE", 83}, {"XVE_STALL", 16}, {"XVE_THREADS_OCCUPANCY_ALL", 60}},
     ZT_LIMIT_COMPUTE,
     {"EU active 83%", "EU stall 16%"},
     ""},
    /* latency, occupancy, caches, compute: threads that wait, and how many there are */
    {XE2,
     1e6,
     {BUSY,
      {"XVE_ACTIVE", 20},
      {"XVE_STALL", 60},
      {"XVE_THREADS_OCCUPANCY_ALL", 43},
      {"GPU_MEMORY_BYTE_READ_RATE", 80}},
     ZT_LIMIT_LATENCY,
     {"EU stall 60%", "EU occupancy 43%", "EU active 20%", "memory traffic 80 GB/s"},
     ""},
    {XE2,
     1e6,
     {BUSY, {"XVE_ACTIVE", 3}, {"XVE_STALL", 2}, {"XVE_THREADS_OCCUPANCY_ALL", 4}},
     ZT_LIMIT_OCCUPANCY,
     {"EU occupancy 4%", "EU stall 2%", "EU active 3%"},
     ""},
    {XE2,
     1e6,
     {BUSY,
      {"XVE_ACTIVE", 40},
      {"XVE_STALL", 55},
      {"XVE_THREADS_OCCUPANCY_ALL", 92},
      {"L3_STALL", 33},
      {"LOAD_STORE_CACHE_ACCESS", 8},
      {"LOAD_STORE_CACHE_HIT", 6}},
     ZT_LIMIT_CACHE,
     {"EU stall 55%", "EU occupancy 92%", "L3 stall 33%", "LSC hits 75%"},
     ""},
    {XE2,
     1e6,
     {BUSY, {"XVE_ACTIVE", 70}, {"XVE_STALL", 5}, {"XVE_THREADS_OCCUPANCY_ALL", 92}},
     ZT_LIMIT_COMPUTE,
     {"EU occupancy 92%", "EU stall 5%", "EU active 70%"},
     ""},

    /* other names */
    {ALCHEMIST,
     1e6,
     {{"GpuBusy", 99}, {"XveStall", 50}, {"XveThreadOccupancy", 30}, {"GtiReadThroughput", 4e7}},
     ZT_LIMIT_LATENCY,
     {"EU stall 50%", "EU occupancy 30%", "memory traffic 40 GB/s"},
     ""},
    {ALCHEMIST, 1e6, {{"GpuBusy", 99}, {"XmxActive", 90}}, ZT_LIMIT_XMX, {"XMX active 90%"}, ""},
    {GEN,
     1e6,
     {{"GpuBusy", 99}, {"EuStall", 50}, {"EuThreadOccupancy", 90}},
     ZT_LIMIT_CACHE,
     {"EU stall 50%", "EU occupancy 90%"},
     "Fpu1Active"},
    {GEN, 1e6, {{"GpuBusy", 99}, {"Fpu0Active", 90}}, ZT_LIMIT_COMPUTE, {"ALU0 active 90%"}, ""},

    /* what is not measured decides nothing, and is named where it may be known */
    {xe2,
     7,
     1e6,
     {{"GPU_BUSY", 99}, {"XVE_ACTIVE", 30}},
     ZT_LIMIT_UNKNOWN,
     {"Not enough metrics: run again with config.groups or "
      "ZT_GROUPS 'Other', which has XVE_THREADS_OCCUPANCY_ALL,XVE_STALL."},
     "XVE_THREADS_OCCUPANCY_ALL,XVE_STALL"},
    {xe2,
     7,
     1e6,
     {{"XVE_ACTIVE", 30}},
     ZT_LIMIT_UNKNOWN,
     {"Not enough metrics: run again with config.groups or ZT_GROUPS 'Other', which has "
      "XVE_THREADS_OCCUPANCY_ALL,XVE_STALL."},
     "XVE_THREADS_OCCUPANCY_ALL,XVE_STALL"},
    {xe2,
     8,
     1e6,
     {{"GPU_BUSY", 99}, {"XVE_ACTIVE", 30}, {"XVE_STALL", 60}},
     ZT_LIMIT_UNKNOWN,
     {"Not enough metrics: run again with config.groups or ZT_GROUPS 'Other', which has "
      "XVE_THREADS_OCCUPANCY_ALL."},
     "XVE_THREADS_OCCUPANCY_ALL"},
    {alchemist,
     3,
     1e6,
     {{"GpuBusy", 99}, {"XveActive", 30}},
     ZT_LIMIT_UNKNOWN,
     {"run again with config.groups or ZT_GROUPS 'Other', which has XveThreadOccupancy,XveStall."},
     "XveThreadOccupancy,XveStall"},
    {gen,
     4,
     1e6,
     {{"GpuBusy", 99}, {"EuActive", 30}, {"EuStall", 30}},
     ZT_LIMIT_UNKNOWN,
     {"run again with config.groups or ZT_GROUPS 'Other', which has EuThreadOccupancy."},
     "EuThreadOccupancy"},
    {xe2 + 6,
     3,
     1e6,
     {{"XVE_ACTIVE", 30}, {"XVE_STALL", 60}, {"XVE_THREADS_OCCUPANCY_ALL", 40}},
     ZT_LIMIT_LATENCY,
     {"EU stall 60%, EU occupancy 40%"},
     "XVE_INST_EXECUTED_ALU2_ALL_UTILIZATION,GPU_MEMORY_REQUEST_QUEUE_FULL,"
     "XVE_INST_EXECUTED_ALU0_ALL_UTILIZATION,XVE_INST_EXECUTED_ALU1_ALL_UTILIZATION,GPU_BUSY"},
    {XE2, 1e6, {{"GPU_BUSY", 99}}, ZT_LIMIT_UNKNOWN, {"have no values in this region"}, ""},
    {xe2, 0, 1e6, {{NULL, 0}}, ZT_LIMIT_UNKNOWN, {"Not enough metrics are measured"}, ""},
    {UNKNOWN,
     1e6,
     {{"EngineBusy", 20}, {"Packets", 5}},
     ZT_LIMIT_UNKNOWN,
     {"Not enough metrics are measured"},
     ""},
    /* what is no number was not measured */
    {XE2, 1e6, {BUSY, {"XVE_ACTIVE", INFINITY}}, ZT_LIMIT_UNKNOWN, {"have no values"}, ""},
};

/* As zt_get_limit, where the device has another group with a metric of each role. */
static void get_limit_beside_others(zt_profiler *profiler, zt_limit_info *info) {
    zt__advice advice;
    zt__prepare_advice(profiler, &advice);
    strcpy(advice.other_group, "Other");
    for (int role = 0; role < ZT__ROLE_COUNT && advice.naming < ZT__NAMING_COUNT; role++)
        advice.elsewhere[role] =
            advice.metrics[role] == UINT32_MAX && zt__roles[role].metrics[advice.naming][0];
    zt__find_limit(profiler, &advice, zt__subject_at(profiler, 0), info);
}

static void test_each_rule(void **state) {
    (void)state;
    int shown[ZT_LIMIT_CACHE + 1] = {0};
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        const rule_case *of = &cases[i];
        zt_limit_info info;
        zt_profiler *profiler = profiler_of(of->metrics, of->metric_count, of->time_ns, &of->values, 1);
        get_limit_beside_others(profiler, &info);
        if (info.limit != of->limit || strcmp(info.missing, of->missing) != 0)
            fail_msg("case %u: %s; missing \"%s\"", (unsigned)i, info.text, info.missing);
        for (int part = 0; part < 4 && of->texts[part]; part++)
            assert_contains(info.text, of->texts[part]);
        assert_true(strlen(info.text) < sizeof info.text - 1);
        assert_int_equal(info.text[strlen(info.text) - 1], '.');
        if (info.limit != ZT_LIMIT_UNKNOWN) {
            char begin[96];
            snprintf(begin, sizeof begin, "Probably %s: ", info.name);
            assert_memory_equal(info.text, begin, strlen(begin));
        }
        shown[info.limit] = 1;
        zt_close(profiler);
    }
    for (int limit = 0; limit < ZT_LIMIT_BETWEEN; limit++)
        assert_true(shown[limit]);
}

/* Where kernels take less time than a launch, or the GPU waits for the host, the shortest launch that was
   measured stands beside that. */
static void test_measured_launches(void **state) {
    (void)state;
    static const struct {
        double time_ns;
        given_value values[METRICS];
        zt_limit limit;
    } of[] = {{8000, {{"GPU_BUSY", 50}}, ZT_LIMIT_LAUNCH},
              {1e6, {{"GPU_BUSY", 50}}, ZT_LIMIT_HOST},
              {1e6, {BUSY, {"XVE_ACTIVE", 90}}, ZT_LIMIT_COMPUTE}};
    for (uint32_t i = 0; i < COUNT(of); i++) {
        zt_limit_info info;
        launch_ns = 12500;
        zt_profiler *profiler = profiler_of(XE2, of[i].time_ns, &of[i].values, 1);
        launch_ns = NAN;
        ok(zt_get_limit(profiler, 0, &info));
        assert_int_equal(info.limit, of[i].limit);
        if (i < 2)
            assert_contains(info.text, "shortest launch latency 12.5 us");
        else
            assert_null(strstr(info.text, "launch"));
        zt_close(profiler);
    }
}

/* Figures in texts have three digits, a unit that suits them, and no exponent. */
static void test_figures_in_texts(void **state) {
    (void)state;
    static const struct {
        double time_ns, traffic; /* of a region; GB a second */
        const char *time, *shown;
    } of[] = {{50e3, 0.0001, "time of a kernel 25 us", "memory traffic <0.001 GB/s"},
              {199.9e3, 0.0995, "time of a kernel 100 us", "memory traffic 0.0995 GB/s"},
              {1999.2e3, 9.995, "time of a kernel 1 ms", "memory traffic 9.99 GB/s"},
              {2e6, 99.96, "time of a kernel 1 ms", "memory traffic 100 GB/s"},
              {1.9999e9, 999.6, "time of a kernel 1 s", "memory traffic 1000 GB/s"},
              {4004e9, 3277, "time of a kernel 2002 s", "memory traffic 3277 GB/s"},
              {119998e9, 59999, "time of a kernel 59999 s", "memory traffic 59999 GB/s"}};
    for (uint32_t i = 0; i < COUNT(of); i++) {
        const given_value busy[METRICS] = {{"GPU_BUSY", 50}};
        const given_value full[METRICS] = {
            BUSY, {"GPU_MEMORY_REQUEST_QUEUE_FULL", 95}, {"GPU_MEMORY_BYTE_READ_RATE", of[i].traffic}};
        zt_limit_info info;
        zt_profiler *profiler = profiler_of(XE2, of[i].time_ns, &busy, 1);
        ok(zt_get_limit(profiler, 0, &info));
        assert_contains(info.text, of[i].time);
        zt_close(profiler);
        profiler = profiler_of(XE2, of[i].time_ns, &full, 1);
        ok(zt_get_limit(profiler, 0, &info));
        assert_contains(info.text, of[i].shown);
        ok(zt_set_peaks(profiler, of[i].traffic * 1e9 / 2, 0, NULL));
        ok(zt_get_limit(profiler, 0, &info));
        assert_contains(info.text, of[i].shown);
        assert_null(strstr(info.text, "e+"));
        zt_close(profiler);
    }
}

/* Also what no region reaches: 0, negative numbers, and very large ones. */
static void test_numbers_in_texts(void **state) {
    (void)state;
    static const struct {
        double number;
        const char *shown, *as_time; /* of nanoseconds */
    } of[] = {{0, "0", "0 ns"},
              {1e-9, "<0.001", "<0.001 ns"},
              {0.0995, "0.0995", "0.0995 ns"},
              {1, "1", "1 ns"},
              {99.95, "100", "100 ns"},
              {999.4, "999", "999 ns"},
              {999.6, "1000", "1 us"},
              {1000, "1000", "1 us"},
              {2002, "2002", "2 us"},
              {59999, "59999", "60 us"},
              {1e6, "1000000", "1 ms"},
              {999.6e6, "999600000", "1 s"},
              {60e9, "60000000000", "60 s"},
              {1e15, "1000000000000000", "1000000 s"},
              {-0.0995, "-0.0995", "-0.0995 ns"},
              {-2002, "-2002", "-2002 ns"}};
    for (uint32_t i = 0; i < COUNT(of); i++) {
        char text[64] = "";
        zt__append_number(text, sizeof text, of[i].number);
        assert_string_equal(text, of[i].shown);
        text[0] = 0;
        zt__append_time(text, sizeof text, of[i].number);
        assert_string_equal(text, of[i].as_time);
    }
}

/* Rates are in GB/s, whatever their unit and that of percentages; without a time there is none. */
static void test_units_of_rates(void **state) {
    (void)state;
    static const struct {
        const char *units;
        double rate;
        const char *shown;
    } of[] = {{"TBpS", 1.5, "traffic 1500 GB/s"},  {"GBpS", 1.5, "traffic 1.5 GB/s"},
              {"MBpS", 2500, "traffic 2.5 GB/s"},  {"KBpS", 3e6, "traffic 3 GB/s"},
              {"kBps", 3.5e6, "traffic 3.5 GB/s"}, {"BpS", 4e9, "traffic 4 GB/s"},
              {"Bps", 4.5e9, "traffic 4.5 GB/s"}};
    static const given_value bytes[METRICS] = {
        {"GpuBusy", 99}, {"XveStall", 50}, {"XveThreadOccupancy", 30}, {"GtiReadThroughput", 4e7}};
    zt_limit_info info;
    for (uint32_t i = 0; i < COUNT(of); i++) {
        const given_metric metrics[] = {{"GPU_BUSY", "%", DURATION},
                                        {"GPU_MEMORY_REQUEST_QUEUE_FULL", "%", DURATION},
                                        {"GPU_MEMORY_BYTE_READ_RATE", of[i].units, THROUGHPUT}};
        const given_value values[METRICS] = {{"GPU_BUSY", 99},
                                             {"GPU_MEMORY_REQUEST_QUEUE_FULL", 95},
                                             {"GPU_MEMORY_BYTE_READ_RATE", of[i].rate}};
        zt_profiler *profiler = profiler_of(metrics, 3, TIME_NS, &values, 1);
        ok(zt_get_limit(profiler, 0, &info));
        assert_contains(info.text, "memory queue full 95%");
        assert_contains(info.text, of[i].shown);
        zt_close(profiler);
    }
    zt_profiler *profiler = profiler_of(ALCHEMIST, 0, &bytes, 1);
    ok(zt_get_limit(profiler, 0, &info));
    assert_int_equal(info.limit, ZT_LIMIT_UNKNOWN);
    assert_contains(info.text, "have no values in this region");
    zt_close(profiler);
}

/* What adds up is divided by the time of its own pass. */
static void test_figures_of_two_passes(void **state) {
    (void)state;
    static const given_value values[METRICS] = {
        {"GpuBusy", 99}, {"XveStall", 50}, {"XveThreadOccupancy", 30}, {"GtiReadThroughput", 4e7}};
    zt_limit_info info;
    second_pass = 8; /* GtiReadThroughput */
    zt_profiler *profiler = profiler_of(ALCHEMIST, 1e6, &values, 1);
    second_pass = UINT32_MAX;
    assert_int_equal(zt_get_info(profiler).pass_count, 2);
    ok(zt_get_limit(profiler, 0, &info));
    assert_contains(info.text, "memory traffic 20 GB/s");
    zt_close(profiler);
}

/* A conclusion stands with the name of its region and the figures of that region alone. */
static void test_each_region_has_its_own_figures(void **state) {
    (void)state;
    static const given_value values[][METRICS] = {
        {BUSY, {"XVE_ACTIVE", 91}},
        {BUSY, {"XVE_ACTIVE", 83}},
        {BUSY, {"XVE_STALL", 61}, {"XVE_THREADS_OCCUPANCY_ALL", 37}}};
    static const char *const own[] = {"EU active 91%", "EU active 83%", "EU stall 61%, EU occupancy 37%"};
    zt_profiler *profiler = profiler_of(XE2, 1e6, values, COUNT(values));
    char path[96];
    char table[16384], joined[16384];
    size_t length = 0;
    for (uint32_t i = 0; i < COUNT(values); i++) {
        zt_limit_info info;
        ok(zt_get_limit(profiler, i, &info));
        for (uint32_t k = 0; k < COUNT(own); k++)
            assert_int_equal(strstr(info.text, own[k]) != NULL, i == k);
    }
    snprintf(path, sizeof path, "%s/table.txt", test_directory);
    ok(zt_report(profiler, path));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    table[fread(table, 1, sizeof table - 1, file)] = 0;
    fclose(file);
    for (const char *from = strstr(table, "What limits"); from && *from; from++)
        if (!(*from == ' ' || *from == '\n') || (length > 0 && joined[length - 1] != ' '))
            joined[length++] = *from == '\n' ? ' ' : *from; /* lines that were broken, and no two spaces */
    joined[length] = 0;
    for (uint32_t i = 0; i < COUNT(values); i++) {
        char name[32];
        snprintf(name, sizeof name, "region %u: ", (unsigned)i);
        const char *conclusion = strstr(joined, name);
        assert_non_null(conclusion);
        const char *next = strstr(conclusion + 1, "region "), *figure = strstr(conclusion, own[i]);
        assert_non_null(figure);
        assert_true(!next || figure < next);
    }
    zt_close(profiler);
}

/* For figures that no metric has. */
static zt_limit_info apply(const zt__advice *advice, zt__role role, double figure, zt__role other,
                           double of_other) {
    double figures[ZT__ROLE_COUNT], errors[ZT__ROLE_COUNT] = {0};
    zt_limit_info info;
    for (int i = 0; i < ZT__ROLE_COUNT; i++)
        figures[i] = NAN;
    memset(&info, 0, sizeof info);
    figures[role] = figure;
    figures[other] = of_other;
    zt__apply_rules(advice, figures, errors, &info);
    return info;
}

static void test_bandwidth_and_wall_time(void **state) {
    (void)state;
    zt__advice advice;
    memset(&advice, 0xFF, sizeof advice);
    memset(advice.elsewhere, 0, sizeof advice.elsewhere);
    advice.naming = ZT__NAMING_COUNT;
    zt_limit_info info = apply(&advice, ZT__ROLE_MEMORY_SHARE, 86, ZT__ROLE_MEMORY_TRAFFIC, 392);
    assert_int_equal(info.limit, ZT_LIMIT_MEMORY_BANDWIDTH);
    assert_contains(info.text, "86% of the peak bandwidth, memory traffic 392 GB/s");
    info = apply(&advice, ZT__ROLE_GPU_BUSY, 99, ZT__ROLE_WALL_SHARE, 91);
    assert_contains(
        info.text, "Not the host, because the GPU is busy (GPU busy 99%, 91% of the wall time in regions). ");
    info = apply(&advice, ZT__ROLE_GPU_BUSY, 99, ZT__ROLE_EU_ACTIVE, 50); /* the time between is not known */
    assert_null(strstr(info.text, "Not the host"));
    info = apply(&advice, ZT__ROLE_MEMORY_SHARE, 65, ZT__ROLE_EU_STALL, 40);
    assert_int_equal(info.limit, ZT_LIMIT_MEMORY_BANDWIDTH);
    info = apply(&advice, ZT__ROLE_MEMORY_SHARE, 65, ZT__ROLE_EU_STALL, 5);
    assert_int_equal(info.limit, ZT_LIMIT_UNKNOWN);
    info = apply(&advice, ZT__ROLE_MEMORY_SHARE, 55, ZT__ROLE_EU_STALL, 40);
    assert_int_equal(info.limit, ZT_LIMIT_UNKNOWN);
    info = apply(&advice, ZT__ROLE_KERNEL_TIME, 4.5, ZT__ROLE_WALL_SHARE, 30);
    assert_int_equal(info.limit, ZT_LIMIT_LAUNCH);
    assert_contains(info.text, "time of a kernel 4.5 us, 30% of the wall time in regions");
    info = apply(&advice, ZT__ROLE_KERNEL_TIME, 200, ZT__ROLE_WALL_SHARE, 30);
    assert_int_equal(info.limit, ZT_LIMIT_HOST);
    info = apply(&advice, ZT__ROLE_KERNEL_TIME, 4.5, ZT__ROLE_WALL_SHARE, 90);
    assert_int_equal(info.limit, ZT_LIMIT_UNKNOWN);
}

/* The limits of each threshold, by the table itself: at it, a rule of AT_LEAST holds, and one of BELOW does
   not. No text may be cut off, however long its figures are. */
static void test_thresholds(void **state) {
    (void)state;
    zt__advice advice;
    memset(&advice, 0xFF, sizeof advice);
    memset(advice.elsewhere, 0, sizeof advice.elsewhere);
    advice.naming = ZT__NAMING_COUNT;
    for (uint32_t i = 0; i < COUNT(zt__rules); i++) {
        const zt__rule *rule = &zt__rules[i];
        const zt__role roles[2] = {rule->conditions[0].role, rule->conditions[1].role};
        double figures[ZT__ROLE_COUNT] = {0}, holding[2], failing[2];
        zt_limit_info info;
        for (int c = 0; c < 2; c++) {
            const int is_below = rule->conditions[c].relation == ZT__BELOW;
            holding[c] = rule->conditions[c].threshold - is_below;
            failing[c] = rule->conditions[c].threshold - !is_below;
            figures[roles[c]] = holding[c];
        }
        info = apply(&advice, roles[0], holding[0], roles[1], holding[1]);
        assert_int_equal(info.limit, rule->limit);
        assert_contains(info.text, rule->reason);
        info = apply(&advice, roles[0], failing[0], roles[1], holding[1]);
        assert_null(strstr(info.text, rule->reason));
        info = apply(&advice, roles[0], NAN, roles[1], holding[1]);
        assert_null(strstr(info.text, rule->reason));
        if (rule->conditions[1].relation != ZT__NO_CONDITION) {
            info = apply(&advice, roles[0], holding[0], roles[1], failing[1]);
            assert_null(strstr(info.text, rule->reason));
            info = apply(&advice, roles[0], holding[0], roles[1], NAN);
            assert_null(strstr(info.text, rule->reason));
        }
        memset(&info, 0, sizeof info);
        snprintf(info.text, sizeof info.text, "Probably %s: %s", zt__limit_names[rule->limit], rule->reason);
        for (uint32_t c = 0; c < COUNT(rule->conditions); c++)
            zt__append_figure(&info, rule->conditions[c].role, figures);
        for (uint32_t s = 0; s < COUNT(rule->shown); s++) {
            assert_true(rule->shown[s] != rule->conditions[0].role || !rule->shown[s]);
            assert_true(rule->shown[s] != rule->conditions[1].role || !rule->shown[s]);
            figures[rule->shown[s]] = 123456.7;
            zt__append_figure(&info, rule->shown[s], figures);
        }
        assert_true(strlen(info.text) + 3 < sizeof info.text);
    }
}

/* ==== errors ============================================================================================== */

/* A number from 0 to 1; the same ones in each run. */
static double next_number(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 40) / (1 << 24);
}

/* Gives the first region this many samples, whose values of a metric are about `mean`. */
static void simulate(zt_profiler *profiler, uint32_t metric, int samples, double mean, double spread,
                     uint64_t *state) {
    zt__moments *moments = &zt__path_at(profiler, 0)->statistics.moments[1 + metric];
    memset(moments, 0, sizeof *moments);
    for (int i = 0; i < samples; i++) {
        double sum = 0; /* about normal */
        for (int k = 0; k < 12; k++)
            sum += next_number(state) - 0.5;
        zt__add_value(moments, mean + spread * sum, TIME_NS);
    }
}

static uint32_t metric_named(const char *name) {
    uint32_t i = 0;
    while (strcmp(xe2[i].name, name) != 0)
        i++;
    return i;
}

/* What hundred sets of samples of the same work are said to be limited by. */
typedef struct verdicts {
    int of[ZT_LIMIT_BETWEEN + 1];
    int different; /* limits, not counting BETWEEN */
} verdicts;

static verdicts judge(zt_profiler *profiler, const char *metric, int samples, double mean, double spread) {
    static uint64_t state = 1;
    verdicts found = {{0}, 0};
    for (int set = 0; set < 100; set++) {
        zt_limit_info info;
        simulate(profiler, metric_named(metric), samples, mean, spread, &state);
        ok(zt_get_limit(profiler, 0, &info));
        found.of[info.limit]++;
        if (info.limit == ZT_LIMIT_BETWEEN) {
            assert_true(info.between[0] != info.between[1]);
            assert_true(strstr(info.name, " or ") || strstr(info.name, "perhaps "));
            assert_contains(info.text, "More samples tell.");
        }
    }
    for (int i = 0; i < ZT_LIMIT_BETWEEN; i++)
        found.different += found.of[i] > 0;
    return found;
}

/* Samples of the same work do not lead to two conclusions, wherever the mean is, and however few they are. */
static void test_one_conclusion_or_between(void **state) {
    (void)state;
    static const given_value values[1][METRICS] = {
        {BUSY, {"XVE_STALL", 20}, {"XVE_THREADS_OCCUPANCY_ALL", 60}}};
    zt_profiler *profiler = profiler_of(XE2, TIME_NS, values, 1);
    static const int counts[] = {3, 10, 100, 1000};
    for (uint32_t c = 0; c < COUNT(counts); c++)
        for (double mean = 70; mean <= 90; mean += 0.5)
            assert_true(judge(profiler, "XVE_THREADS_OCCUPANCY_ALL", counts[c], mean, 2).different <= 1);
    assert_int_equal(judge(profiler, "XVE_THREADS_OCCUPANCY_ALL", 100, 78, 2).of[ZT_LIMIT_LATENCY], 100);
    assert_int_equal(judge(profiler, "XVE_THREADS_OCCUPANCY_ALL", 100, 82, 2).of[ZT_LIMIT_CACHE], 100);
    assert_int_equal(judge(profiler, "XVE_THREADS_OCCUPANCY_ALL", 100, 80, 2).of[ZT_LIMIT_LATENCY], 0);
    zt_close(profiler);
}

/* A limit that is out of question is not one of the two. */
static void test_between_which(void **state) {
    (void)state;
    static const given_value values[1][METRICS] = {
        {BUSY, {"XVE_STALL", 20}, {"XVE_THREADS_OCCUPANCY_ALL", 60}}};
    zt_profiler *profiler = profiler_of(XE2, TIME_NS, values, 1);
    zt_limit_info info;
    uint64_t numbers = 1;
    simulate(profiler, metric_named("XVE_THREADS_OCCUPANCY_ALL"), 100, 80, 2, &numbers);
    ok(zt_get_limit(profiler, 0, &info));
    assert_int_equal(info.limit, ZT_LIMIT_BETWEEN);
    assert_int_equal(info.between[0], ZT_LIMIT_LATENCY);
    assert_int_equal(info.between[1], ZT_LIMIT_CACHE);
    assert_contains(info.text,
                    "Between latency and cache: figures are too near to a threshold to tell (EU stall 20%, "
                    "EU occupancy 80%). More samples tell.");
    /* the queue of memory is nearly full, and if it is not, nothing changes */
    simulate(profiler, metric_named("XVE_THREADS_OCCUPANCY_ALL"), 100, 60, 2, &numbers);
    simulate(profiler, metric_named("GPU_MEMORY_REQUEST_QUEUE_FULL"), 100, 90, 2, &numbers);
    ok(zt_get_limit(profiler, 0, &info));
    assert_int_equal(info.between[0], ZT_LIMIT_MEMORY_BANDWIDTH);
    assert_int_equal(info.between[1], ZT_LIMIT_LATENCY);
    /* the two rules on memory agree */
    simulate(profiler, metric_named("XVE_STALL"), 100, 60, 2, &numbers);
    ok(zt_get_limit(profiler, 0, &info));
    assert_int_equal(info.limit, ZT_LIMIT_MEMORY_BANDWIDTH);
    zt_close(profiler);
}

/* One that nothing else comes after. */
static void test_perhaps(void **state) {
    (void)state;
    static const given_value values[1][METRICS] = {{{"GPU_BUSY", 99}, {"XVE_ACTIVE", 80}}};
    zt_profiler *profiler = profiler_of(XE2, TIME_NS, values, 1);
    zt_limit_info info;
    uint64_t numbers = 1;
    simulate(profiler, metric_named("XVE_ACTIVE"), 100, 80, 2, &numbers);
    ok(zt_get_limit(profiler, 0, &info));
    assert_int_equal(info.limit, ZT_LIMIT_BETWEEN);
    assert_int_equal(info.between[0], ZT_LIMIT_COMPUTE);
    assert_int_equal(info.between[1], ZT_LIMIT_UNKNOWN);
    assert_contains(info.text,
                    "Perhaps compute: figures are too near to a threshold to tell (EU active 80%)");
    zt_close(profiler);
}

/* ==== names =============================================================================================== */

static void test_names(void **state) {
    (void)state;
    for (int limit = 0; limit <= ZT_LIMIT_BETWEEN; limit++)
        for (int other = 0; other < limit; other++)
            assert_string_not_equal(zt__limit_names[limit], zt__limit_names[other]);
}

/* All names that are known for one naming of metrics, of the right quantity, are found. */
static void test_roles_are_found(void **state) {
    (void)state;
    static const char *const units[] = {"percent", "GBpS", "bytes", "events"};
    for (int naming = 0; naming < ZT__NAMING_COUNT; naming++) {
        for (int role = 1; role < ZT__ROLE_COUNT; role++) {
            const char *list = zt__roles[role].metrics[naming], *name;
            size_t length;
            while (zt__next_name(&list, &name, &length)) {
                char text[128];
                zt_metric metric = {text, "", "", units[zt__roles[role].quantity], "", DURATION, 0, 0};
                uint32_t found[ZT__ROLE_COUNT], named = ZT__NAMING_COUNT;
                zt__copy_text(text, sizeof text, name, length);
                metric.aggregation = aggregation_of(DURATION, metric.units);
                memset(found, 0xFF, sizeof found);
                zt__match_roles(&metric, 7, found, &named);
                assert_int_equal(found[role], 7);
                metric.units = "furlongs";
                memset(found, 0xFF, sizeof found);
                zt__match_roles(&metric, 7, found, &named);
                if (zt__roles[role].quantity != ZT__QUANTITY_EVENTS)
                    assert_int_equal(found[role], UINT32_MAX);
            }
        }
    }
}

/* ==== ranking ============================================================================================= */

/* Ranks the metrics of a profiler; the names, or roles, separated by blanks. */
static void rank(const zt_profiler *profiler, char *names, size_t size) {
    double means[REGIONS * METRICS];
    zt__ranked_column ranked[METRICS + ZT__DERIVED_COLUMNS];
    zt__advice advice;
    zt__mean_table table = {means, METRICS, zt_get_info(profiler).region_count};
    for (uint32_t region = 0; region < table.region_count; region++) {
        for (uint32_t i = 0; i < zt_get_info(profiler).metric_count; i++) {
            zt_stats stats;
            ok(zt_get_stats(profiler, region, i, &stats));
            means[region * METRICS + i] = stats.mean;
        }
    }
    zt__prepare_advice(profiler, &advice);
    uint32_t count = zt__rank_columns(profiler->metrics, profiler->metric_count, &advice, &table, ranked);
    assert_true(count <= zt_get_info(profiler).metric_count + ZT__DERIVED_COLUMNS);
    names[0] = 0;
    for (uint32_t i = 0; i < count; i++)
        zt__append(names, size, "%s%s", i ? " " : "",
                   ranked[i].metric == UINT32_MAX ? zt__roles[ranked[i].role].name
                                                  : zt_get_metric(profiler, ranked[i].metric)->name);
}

static void test_ranking_of_a_known_set(void **state) {
    (void)state;
    static const given_value regions[][METRICS] = {
        {{"GpuTime", 1e6},
         {"GpuCoreClocks", 2e6},
         {"AvgGpuCoreFrequencyMHz", 2000},
         {"ResultUncertainty", 3},
         {"GPU_BUSY", 99},
         {"COMMAND_PARSER_COMPUTE_ENGINE_BUSY", 98},
         {"GPGPU_THREADGROUP_COUNT", 4},
         {"XVE_ACTIVE", 40},
         {"XVE_STALL", 50},
         {"XVE_THREADS_OCCUPANCY_ALL", 60},
         {"L3_HIT", 30},
         {"L3_MISS", 10},
         {"GPU_MEMORY_BYTE_READ", 1e6},
         {"GPU_MEMORY_BYTE_READ_RATE", 1},
         {"GPU_MEMORY_BYTE_WRITE", 2e6},
         {"GPU_MEMORY_REQUEST_QUEUE_FULL", 0},
         {"XVE_INST_EXECUTED_ALU2_ALL_UTILIZATION", 7},
         {"QueryBeginTime", 5},
         {"ReportId", 6},
         {"ReportError", 0}},
        {{"XVE_ACTIVE", 41}, {"XVE_STALL", 50}, {"XVE_THREADS_OCCUPANCY_ALL", 60}},
    };
    char names[1024];
    zt_profiler *profiler = profiler_of(xe2, COUNT(xe2), TIME_NS, regions, 2);
    rank(profiler, names, sizeof names);
    assert_string_equal(names, "XVE_INST_EXECUTED_ALU2_ALL_UTILIZATION XVE_THREADS_OCCUPANCY_ALL "
                               "XVE_ACTIVE XVE_STALL GPU_MEMORY_BYTE_READ_RATE "
                               "GPU_MEMORY_BYTE_WRITE L3 hits GPU_BUSY COMMAND_PARSER_COMPUTE_ENGINE_BUSY "
                               "GPGPU_THREADGROUP_COUNT L3_HIT L3_MISS GpuCoreClocks AvgGpuCoreFrequencyMHz");
    zt_close(profiler);
}

static void test_ranking_of_an_unknown_set(void **state) {
    (void)state;
    static const given_value regions[][METRICS] = {
        {{"Serial", 1},
         {"Ticks", 7},
         {"Packets", 5},
         {"PacketsAgain", 5},
         {"BytesMoved", 100},
         {"BytesMovedRate", 3},
         {"BytesLost", 5},
         {"EngineBusy", 20},
         {"EngineUncertainty", 2},
         {"Idle", 0},
         {"Seen", 1},
         {"Now", 9}},
        {{"Packets", 6}, {"PacketsAgain", 6}, {"BytesLost", 1}},
    };
    char names[1024];
    zt_profiler *profiler = profiler_of(unknown, COUNT(unknown), TIME_NS, regions, 2);
    rank(profiler, names, sizeof names);
    assert_string_equal(names, "EngineBusy BytesMovedRate BytesLost Packets Ticks");
    zt_close(profiler);
}

/* A metric that has no figure in a region shows something else than one that has, whatever the other regions have. */
static void test_ranking_of_a_figure_that_is_missing(void **state) {
    (void)state;
    static const given_value regions[][METRICS] = {
        {{"Packets", 5}, {"PacketsAgain", 5}},
        {{"Packets", 6}},
    };
    char names[64];
    zt_profiler *profiler = profiler_of(unknown, COUNT(unknown), TIME_NS, regions, 1);
    rank(profiler, names, sizeof names);
    assert_string_equal(names, "Packets");
    zt_close(profiler);
    profiler = profiler_of(unknown, COUNT(unknown), TIME_NS, regions, 2);
    rank(profiler, names, sizeof names);
    assert_string_equal(names, "Packets PacketsAgain");
    zt_close(profiler);
}

static void test_ranking_of_nothing(void **state) {
    (void)state;
    static const given_value regions[][METRICS] = {{{NULL, 0}}};
    char names[64];
    zt_profiler *profiler = profiler_of(xe2, COUNT(xe2), TIME_NS, regions, 1);
    rank(profiler, names, sizeof names);
    assert_string_equal(names, "");
    zt_close(profiler);
    profiler = profiler_of(xe2, 0, TIME_NS, regions, 0);
    rank(profiler, names, sizeof names);
    assert_string_equal(names, "");
    zt_close(profiler);
}

/* ==== a device ============================================================================================ */

static zt_profiler *open_own(world *w, const char *groups, uint32_t timeline) {
    zt_config config = {0};
    zt_profiler *profiler = NULL;
    config.groups = groups;
    config.timeline = timeline;
    ok(zt_open(w->context, w->device, &config, &profiler));
    return profiler;
}

static void run_own(world *w, zt_profiler *profiler, const char *name) {
    zt_region region = zt_begin(profiler, w->immediate, name);
    launch(w, w->immediate);
    zt_end(&region);
    finish_immediate(w, w->immediate);
    ok(zt_collect(profiler, A_WHILE));
}

/* What is advised is what the device has, and can be followed. */
static void test_groups_that_the_device_has(void **state) {
    static const softgpu_metric stalls[] = {
        {"XVE_STALL", "", "percent", ZET_METRIC_TYPE_DURATION, ZET_VALUE_TYPE_FLOAT32},
        {"XVE_THREADS_OCCUPANCY_ALL", "", "percent", ZET_METRIC_TYPE_DURATION, ZET_VALUE_TYPE_FLOAT32}};
    world *w = (world *)*state;
    zt__advice advice;
    for (uint32_t has = 0; has < 2; has++) {
        if (has)
            assert_true(gpu.list_metrics("Stalls", stalls, COUNT(stalls)));
        zt_profiler *profiler = open_own(w, "ComputeBasic", 0);
        gpu.reset_calls();
        zt__prepare_advice(profiler, &advice);
        assert_int_equal(calls("zetContextActivateMetricGroups"), 0);
        zt_limit_info info = apply(&advice, ZT__ROLE_EU_ACTIVE, 30, ZT__ROLE_EU_ACTIVE, 30);
        assert_string_equal(info.missing, has ? "XVE_THREADS_OCCUPANCY_ALL,XVE_STALL" : "");
        assert_string_equal(
            info.text, has ? "Not enough metrics: run again with config.groups or ZT_GROUPS 'Stalls', which "
                             "has XVE_THREADS_OCCUPANCY_ALL,XVE_STALL."
                           : "Not enough metrics are measured to tell what limits a region.");
        inject("zetMetricGroupGet", 1, ZE_RESULT_ERROR_UNKNOWN);
        zt__prepare_advice(profiler, &advice);
        info = apply(&advice, ZT__ROLE_EU_ACTIVE, 30, ZT__ROLE_EU_ACTIVE, 30);
        assert_string_equal(info.missing, "");
        assert_contains(zt_get_info(profiler).error, "zetMetricGroupGet failed");
        zt_close(profiler);
    }
    zt_profiler *profiler = open_own(w, "Stalls", 0);
    assert_int_equal(zt_get_info(profiler).availability, ZT_AVAILABLE);
    zt_close(profiler);
    gpu.list_metrics(NULL, NULL, 0);
}

static void test_arguments(void **state) {
    world *w = (world *)*state;
    zt_limit_info info;
    zt_profiler *profiler = open_own(w, "", 0);
    run_own(w, profiler, "region");
    memset(&info, 0x55, sizeof info);
    ok(zt_get_limit(NULL, 0, &info));
    assert_int_equal(info.limit, ZT_LIMIT_UNKNOWN);
    assert_string_equal(info.text, "");
    assert_string_equal(info.missing, "");
    memset(&info, 0x55, sizeof info);
    assert_result(zt_get_limit(profiler, 1, &info), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_contains(zt_get_info(profiler).error, "zt_get_limit");
    assert_string_equal(info.text, "");
    assert_result(zt_get_limit(profiler, 0, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    ok(zt_get_limit(profiler, 0, &info));
    assert_contains(info.text, "Not enough metrics");
    zt_close(profiler);
}

/* In the place of the driver: the first memory, and how many there are. No memories: the driver's own answer. */
static struct {
    uint32_t memories, read, write;
    ze_bandwidth_unit_t unit;
} pretended;

#ifndef _WIN32
ze_result_t ZE_APICALL zeDeviceGetMemoryProperties(ze_device_handle_t device, uint32_t *count,
                                                   ze_device_memory_properties_t *memories) {
    ze_result_t result = REAL(zeDeviceGetMemoryProperties)(device, count, memories);
    if (result == ZE_RESULT_SUCCESS && memories && pretended.memories) {
        ze_device_memory_ext_properties_t *extended = (ze_device_memory_ext_properties_t *)memories->pNext;
        extended->readBandwidth = pretended.read;
        extended->writeBandwidth = pretended.write;
        extended->bandwidthUnit = pretended.unit;
        *count = pretended.memories;
    }
    return result;
}
#endif

/* What is faster counts: both share a bus. What is in another unit, of one memory of several, or 0, is not
   known. */
static void test_bandwidths_of_a_driver(void **state) {
    NOT_ON_WINDOWS("functions of a DLL cannot be replaced there");
    world *w = (world *)*state;
    static const struct {
        uint32_t memories, read, write;
        ze_bandwidth_unit_t unit;
        double peak;
    } memories[] = {
        {1, 20, 10, ZE_BANDWIDTH_UNIT_BYTES_PER_NANOSEC, 20e9},
        {1, 10, 30, ZE_BANDWIDTH_UNIT_BYTES_PER_NANOSEC, 30e9},
        {1, 0, 30, ZE_BANDWIDTH_UNIT_BYTES_PER_NANOSEC, 0},
        {1, 20, 10, ZE_BANDWIDTH_UNIT_BYTES_PER_CLOCK, 0},
        {2, 20, 10, ZE_BANDWIDTH_UNIT_BYTES_PER_NANOSEC, 0},
        {0, 0, 0, ZE_BANDWIDTH_UNIT_UNKNOWN, 51e9},
    };
    zt_profiler *profiler = open_own(w, "ComputeBasic", 0);
    for (size_t i = 0; i < sizeof memories / sizeof *memories; i++) {
        zt__advice advice;
        pretended.memories = memories[i].memories;
        pretended.read = memories[i].read;
        pretended.write = memories[i].write;
        pretended.unit = memories[i].unit;
        zt__prepare_advice(profiler, &advice);
        assert_true(advice.peaks.bytes == memories[i].peak);
    }
    zt_close(profiler);
}

/* The device states a design bandwidth of 51 GB a second. */
static void test_design_bandwidth(void **state) {
    world *w = (world *)*state;
    zt__advice advice;
    zt_profiler *profiler = open_own(w, "ComputeBasic", 0);
    zt__prepare_advice(profiler, &advice);
    assert_true(advice.peaks.bytes == 51e9);
    inject("zeDeviceGetMemoryProperties", 1, ZE_RESULT_ERROR_UNKNOWN);
    zt__prepare_advice(profiler, &advice);
    assert_true(advice.peaks.bytes == 0);
    zt_close(profiler);
    gpu.set_devices(1, 2);
    profiler = open_own(w, "ComputeBasic", 0);
    zt__prepare_advice(profiler, &advice);
    assert_true(advice.peaks.bytes == 0);
    zt_close(profiler);
    gpu.set_devices(1, 0);
    check_work(w);
}

/* ---- the roofline ---------------------------------------------------------------------------------------- */

static char report[1 << 18];

static int keep_report(const void *bytes, size_t size, void *user) {
    size_t *used = (size_t *)user;
    if (*used + size >= sizeof report)
        return 1;
    memcpy(report + *used, bytes, size);
    report[ *used += size] = 0;
    return 0;
}

static const char *written_as(const zt_profiler *profiler, zt_format format) {
    size_t used = 0;
    ok(zt_write(profiler, format, keep_report, &used));
    return report;
}

static const char *json_of(const zt_profiler *profiler) {
    return written_as(profiler, ZT_FORMAT_JSON);
}

static const given_metric roofline_metrics[] = {
    {"GPU_BUSY", "percent", DURATION},
    {"GPU_MEMORY_BYTE_READ_RATE", "GBpS", THROUGHPUT},
    {"GPU_MEMORY_BYTE_WRITE_RATE", "GBpS", THROUGHPUT},
    {"XVE_INST_EXECUTED_ALU0_ALL", "events", EVENT},
    {"XVE_INST_EXECUTED_ALU1_ALL", "events", EVENT},
    {"XVE_INST_EXECUTED_ALU2_ALL", "events", EVENT},
};

/* The peak bandwidth that is given decides what limits a region, as that of the driver does. */
static void test_peaks(void **state) {
    (void)state;
    static const given_value values[METRICS] = {
        {"GPU_BUSY", 99}, {"GPU_MEMORY_BYTE_READ_RATE", 300}, {"GPU_MEMORY_BYTE_WRITE_RATE", 100}};
    zt_profiler *profiler = profiler_of(roofline_metrics, 3, TIME_NS, &values, 1);
    zt_limit_info info;
    assert_null(strstr(json_of(profiler), "\"peaks\""));
    assert_contains(report, "\"bytes\":400000000000");
    ok(zt_get_limit(profiler, 0, &info));
    assert_int_equal(info.limit, ZT_LIMIT_UNKNOWN);
    ok(zt_set_peaks(profiler, 456e9, 14.6e12, NULL));
    ok(zt_get_limit(profiler, 0, &info));
    assert_int_equal(info.limit, ZT_LIMIT_MEMORY_BANDWIDTH);
    assert_contains(info.text, "88% of the peak bandwidth");
    ok(zt_set_peaks(profiler, 4000e9, 14.6e12, NULL));
    ok(zt_get_limit(profiler, 0, &info));
    assert_int_equal(info.limit, ZT_LIMIT_UNKNOWN);
    assert_contains(info.text, "Not memory bandwidth: 10% of the peak bandwidth. "
                               "The metrics of this device do not show what else limits it.");
    assert_true(info.bandwidth == 0.1 && isnan(info.compute) && isnan(info.xmx) && isnan(info.occupancy));
    ok(zt_set_peaks(profiler, 570e9, 0, NULL)); /* of which 70% neither limits nor excludes */
    ok(zt_get_limit(profiler, 0, &info));
    assert_int_equal(info.limit, ZT_LIMIT_UNKNOWN);
    assert_contains(info.text, "Not enough metrics are measured");
    ok(zt_set_peaks(profiler, 456e9, 14.6e12, NULL));
    assert_contains(json_of(profiler), "\"peaks\":{\"source\":\"given by the program\","
                                       "\"bytes_per_second\":456000000000,"
                                       "\"operations_per_second\":14600000000000}");
    ok(zt_set_peaks(profiler, 0, 1e12, "a text that is longer than any that a profiler keeps, which is cut"));
    assert_contains(
        json_of(profiler),
        "\"peaks\":{\"source\":\"a text that is longer than any that a profiler keeps, which is \","
        "\"bytes_per_second\":null,\"operations_per_second\":1000000000000}");
    assert_result(zt_set_peaks(profiler, -1, 0, NULL), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_contains(zt_get_info(profiler).error, "zt_set_peaks: bytes_per_second is -1.");
    assert_result(zt_set_peaks(profiler, 0, INFINITY, NULL), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_contains(json_of(profiler), "\"operations_per_second\":1000000000000}");
    ok(zt_set_peaks(profiler, 0, 0, NULL));
    assert_null(strstr(json_of(profiler), "\"peaks\""));
    ok(zt_set_peaks(NULL, 1, 1, NULL));
    zt_close(profiler);
}

/* No region moves more than the peak: then the peak is wrong, and shows nothing. */
static void test_traffic_above_the_peak(void **state) {
    (void)state;
    static const given_value values[METRICS] = {
        {"GPU_BUSY", 99}, {"GPU_MEMORY_BYTE_READ_RATE", 300}, {"GPU_MEMORY_BYTE_WRITE_RATE", 100}};
    zt_profiler *profiler = profiler_of(roofline_metrics, 3, TIME_NS, &values, 1);
    zt_limit_info info;
    ok(zt_set_peaks(profiler, 380e9, 0, NULL));
    ok(zt_get_limit(profiler, 0, &info));
    assert_int_equal(info.limit, ZT_LIMIT_MEMORY_BANDWIDTH);
    assert_contains(info.text, "105% of the peak bandwidth");
    assert_null(strstr(info.text, "ZT_PEAKS"));
    ok(zt_set_peaks(profiler, 8e9, 0, NULL));
    ok(zt_get_limit(profiler, 0, &info));
    assert_int_equal(info.limit, ZT_LIMIT_UNKNOWN);
    assert_contains(info.text, " The memory traffic of 400 GB/s is above the peak of 8 GB/s: set ZT_PEAKS.");
    assert_null(strstr(info.text, "% of the peak"));
    assert_contains(json_of(profiler),
                    " The memory traffic of 400 GB/s is above the peak of 8 GB/s: set ZT_PEAKS.");
    zt_close(profiler);
}

/* One unit for all times: none has more than seven digits, and what is not 0 is not shown as 0. */
static void test_times_that_differ_much(void **state) {
    (void)state;
    static const given_value values[2][METRICS] = {{{NULL, 0}}, {{NULL, 0}}};
    growth = 59999e9 / 5;
    zt_profiler *profiler = profiler_of(xe2, 0, 5, values, 2);
    growth = 1;
    const char *text = written_as(profiler, ZT_FORMAT_TABLE);
    assert_contains(text, "\nregion        %  count        s        s\n");
    assert_contains(text, "\nregion 1  100.0      1  59999.0  59999.0\n");
    assert_contains(text, "\nregion 0   <0.1      1     <0.1     <0.1\n");
    zt_close(profiler);
}

/* A date that no calendar has is not known. */
static void test_dates(void **state) {
    (void)state;
    assert_string_equal(zt__format_date(1790000000).text, "2026-09-21T14:13:20Z");
    assert_string_equal(zt__format_date(0).text, "");
    assert_string_equal(zt__format_date(UINT64_MAX / 4).text, "");
}

/* Operations are those that the program states; instructions, of any width, are counted by the device. */
static void test_operations(void **state) {
    (void)state;
    static const given_value values[METRICS] = {{"XVE_INST_EXECUTED_ALU0_ALL", 3e6},
                                                {"XVE_INST_EXECUTED_ALU1_ALL", 2e6},
                                                {"XVE_INST_EXECUTED_ALU2_ALL", 1e6}};
    zt_profiler *profiler = profiler_of(roofline_metrics, 6, TIME_NS, &values, 1);
    zt_region_info region;
    ok(zt_get_region(profiler, 0, &region));
    assert_null(strstr(json_of(profiler), "\"operations\""));
    assert_contains(report, "\"instructions\":6000000000");
    ok(zt_set_operations(profiler, region.name, 2e6));
    assert_contains(json_of(profiler), "\"operations\":2000000000");
    assert_result(zt_set_operations(profiler, region.name, NAN), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_contains(json_of(profiler), "\"operations\":2000000000");
    ok(zt_set_operations(profiler, "begins later", 1));
    assert_int_equal(zt_get_info(profiler).region_count, 2);
    assert_contains(json_of(profiler), "\"begins later\"");
    assert_contains(written_as(profiler, ZT_FORMAT_CSV), "\"begins later\",\"GPU time\"");
    ok(zt_set_operations(NULL, "region", 1));
    zt_close(profiler);
}

static void test_operations_without_memory(void **state) {
    world *w = (world *)*state;
    zt_config config = config_of(w);
    config.allocator = scarce_allocator();
    zt_profiler *profiler = open_profiler(w, &config);
    allocations_left = 0;
    assert_result(zt_set_operations(profiler, "region", 1), ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    allocations_left = -1;
    assert_contains(zt_get_info(profiler).error,
                    "zt_set_operations: out of host memory for the name of a region.");
    assert_int_equal(zt_get_info(profiler).region_count, 0);
    ok(zt_set_operations(profiler, "region", 1));
    assert_int_equal(zt_get_info(profiler).region_count, 1);
    close_profiler(w, profiler);
}

/* The share is that of the samples in the timeline's own times. */
static void test_wall_share(void **state) {
    world *w = (world *)*state;
    zt__advice advice;
    zt_limit_info info;
    zt_profiler *profiler = open_own(w, "", 100);
    zt__prepare_advice(profiler, &advice);
    assert_true(advice.wall_share != advice.wall_share);
    run_own(w, profiler, "region");
    zt__prepare_advice(profiler, &advice);
    assert_true(advice.wall_share != advice.wall_share);
    for (int i = 0; i < 50; i++)
        nap();
    run_own(w, profiler, "region");
    zt__prepare_advice(profiler, &advice);
    const zt__timeline_sample *samples = profiler->timeline->samples;
    assert_int_equal(profiler->timeline->written, 2);
    assert_close(
        advice.wall_share,
        100.0 * (double)(samples[0].end_ns - samples[0].begin_ns + samples[1].end_ns - samples[1].begin_ns) /
            (double)(samples[1].end_ns - samples[0].begin_ns));
    ok(zt_get_limit(profiler, 0, &info));
    if (advice.wall_share < 80 && info.limit == ZT_LIMIT_BETWEEN) /* two samples may differ much */
        assert_true(info.between[0] == ZT_LIMIT_LAUNCH && info.between[1] == ZT_LIMIT_HOST);
    else if (advice.wall_share < 80)
        assert_true(info.limit == ZT_LIMIT_HOST || info.limit == ZT_LIMIT_LAUNCH);
    else
        assert_int_equal(info.limit, ZT_LIMIT_UNKNOWN);
    zt_close(profiler);
    check_work(w);
}

/* A profiler of times alone has the shares of a stream that is attached to it. */
static void test_streamed_shares(void **state) {
    (void)state;
    zt__region_record record;
    zt__path path;
    const zt__subject subject = {&record, &path};
    zt__moments streamed = {4, 4e6, 0, 61, 4e6, 50, 70};
    zt__advice advice;
    double figures[ZT__ROLE_COUNT], errors[ZT__ROLE_COUNT];
    zt_profiler *profiler = profiler_of(xe2, 0, TIME_NS, NULL, 0);
    memset(&record, 0, sizeof record);
    memset(&path, 0, sizeof path);
    path.streamed = &streamed;
    path.streamed_count = 1;
    zt__prepare_advice(profiler, &advice);
    advice.streamed[ZT__ROLE_EU_STALL] = 0;
    advice.streamed[ZT__ROLE_EU_ACTIVE] = 1; /* it came after the last sample of the region */
    zt__read_figures(profiler, &advice, subject, figures, errors);
    assert_true(figures[ZT__ROLE_EU_STALL] == 61);
    assert_true(errors[ZT__ROLE_EU_STALL] > 2); /* four standard errors are */
    assert_true(errors[ZT__ROLE_GPU_BUSY] == 0);
    assert_true(figures[ZT__ROLE_EU_ACTIVE] != figures[ZT__ROLE_EU_ACTIVE]);
    zt_close(profiler);
}

/* Of a device: GPU_BUSY is the only share that it streams. */
static void test_metrics_of_a_stream(void **state) {
    world *w = (world *)*state;
    zt_stream_config config = {0};
    zt_stream *stream = NULL;
    zt__advice advice;
    zt_profiler *profiler = open_own(w, "", 100);
    config.group = "ComputeBasic";
    config.profiler = profiler;
    ok(zt_stream_open(w->context, w->device, &config, &stream));
    zt__prepare_advice(profiler, &advice);
    assert_int_equal(advice.metrics[ZT__ROLE_GPU_BUSY], UINT32_MAX);
    assert_int_equal(advice.streamed[ZT__ROLE_GPU_BUSY], zt_stream_find_metric(stream, "GPU_BUSY"));
    assert_int_equal(advice.streamed[ZT__ROLE_MEMORY_READ], UINT32_MAX); /* not of which time */
    assert_int_equal(advice.naming, ZT__NAMES_XE2);
    zt_stream_close(stream, NULL, NULL, NULL);
    zt_close(profiler);
}

/* The list of a B580. The device itself measures its engines, which are idle between the short kernels of a
   test, and bytes; the rest is set. */
static void set_metrics(const given_value *values) {
    for (int i = 0; values[i].metric; i++)
        assert_true(gpu.set_metric(values[i].metric, values[i].value));
}

static void test_a_b580(void **state) {
    world *w = (world *)*state;
    static const given_value values[][METRICS] = {
        {{"XVE_ACTIVE", 30},
         {"XVE_STALL", 60},
         {"XVE_THREADS_OCCUPANCY_ALL", 40},
         {"GPU_MEMORY_REQUEST_QUEUE_FULL", 5},
         {"L3_HIT", 3},
         {"L3_MISS", 1},
         {"LOAD_STORE_CACHE_ACCESS", 10},
         {"LOAD_STORE_CACHE_HIT", 5}},
        {{"XVE_ACTIVE", 10}, {"XVE_STALL", 85}, {"GPU_MEMORY_REQUEST_QUEUE_FULL", 93}},
    };
    char names[2048];
    double figures[ZT__ROLE_COUNT], errors[ZT__ROLE_COUNT];
    zt__advice advice;
    zt_limit_info info;
    gpu.behave(SOFTGPU_B580_METRICS, 1);
    zt_profiler *profiler = open_own(w, "ComputeBasic", 0);
    set_metrics(values[0]);
    run_own(w, profiler, "latency");
    set_metrics(values[1]);
    run_own(w, profiler, "bandwidth");

    rank(profiler, names, sizeof names);
    static const char first[] = "XVE_THREADS_OCCUPANCY_ALL XVE_ACTIVE XVE_STALL GPU_MEMORY_BYTE_READ_RATE "
                                "GPU_MEMORY_BYTE_WRITE_RATE GPU_MEMORY_REQUEST_QUEUE_FULL L3 hits LSC hits ";
    assert_memory_equal(names, first, sizeof first - 1);
    static const char *const never[] = {"ResultUncertainty",    "ReportId",    "QueryBeginTime",
                                        " CoreFrequencyMHz",    "ReportError", "GpuTime",
                                        "GPU_MEMORY_BYTE_READ "};
    for (uint32_t i = 0; i < COUNT(never); i++)
        assert_null(strstr(names, never[i]));

    zt__prepare_advice(profiler, &advice);
    for (uint32_t region = 0; region < 2; region++) {
        zt__read_figures(profiler, &advice, zt__subject_at(profiler, region), figures, errors);
        for (int role = 1; role < ZT__ROLE_COUNT; role++) {
            int has_metric = zt__roles[role].metrics[ZT__NAMES_XE2][0] != 0;
            if (has_metric && figures[role] != figures[role])
                fail_msg("no figure: %s", zt__roles[role].name);
        }
        figures[ZT__ROLE_GPU_BUSY] = 99; /* as that of work which keeps the device busy */
        memset(&info, 0, sizeof info);
        zt__apply_rules(&advice, figures, errors, &info);
        assert_string_equal(info.missing, "");
        assert_int_equal(info.limit, region ? ZT_LIMIT_MEMORY_BANDWIDTH : ZT_LIMIT_LATENCY);
        assert_contains(info.text, region ? "memory queue full 93%" : "EU stall 60%, EU occupancy 40%");
    }
    zt_close(profiler);
    check_work(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_rule),
        cmocka_unit_test_setup_teardown(test_each_region_has_its_own_figures, make_directory,
                                        remove_directory),
        cmocka_unit_test(test_measured_launches),
        cmocka_unit_test(test_figures_in_texts),
        cmocka_unit_test(test_numbers_in_texts),
        cmocka_unit_test(test_figures_of_two_passes),
        cmocka_unit_test(test_bandwidth_and_wall_time),
        cmocka_unit_test(test_thresholds),
        cmocka_unit_test(test_one_conclusion_or_between),
        cmocka_unit_test(test_between_which),
        cmocka_unit_test(test_perhaps),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_roles_are_found),
        cmocka_unit_test(test_ranking_of_a_known_set),
        cmocka_unit_test(test_ranking_of_an_unknown_set),
        cmocka_unit_test(test_ranking_of_a_figure_that_is_missing),
        cmocka_unit_test(test_ranking_of_nothing),
        cmocka_unit_test(test_streamed_shares),
        cmocka_unit_test(test_peaks),
        cmocka_unit_test(test_traffic_above_the_peak),
        cmocka_unit_test(test_operations),
        cmocka_unit_test(test_units_of_rates),
        cmocka_unit_test(test_times_that_differ_much),
        cmocka_unit_test(test_dates),
        TEST(test_groups_that_the_device_has),
        TEST(test_arguments),
        TEST(test_metrics_of_a_stream),
        TEST(test_design_bandwidth),
        TEST(test_bandwidths_of_a_driver),
        TEST(test_operations_without_memory),
        TEST(test_wall_share),
        TEST(test_a_b580),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
