/* Metric groups: what there is, and what is active. */
#include <string.h>
#include <time.h>

#include "metrics.h"

/* ---- the metrics -----------------------------------------------------------------------------------------
 *
 * One table: properties and values both come from it. Names are those of a real device where the meaning is
 * the same. */

enum { COMPUTE = 1, MEMORY = 2, SCHEDULER = 4, STALL = 8 }; /* then those of MANY_SETS */
#define B580 (UINT64_C(1) << 32)
#define LISTED (UINT64_C(1) << 33) /* by a test */
enum { EVENT = ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED };
enum { TIME = ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED };
enum { BOTH = EVENT | TIME };
enum { SAMPLING_DOMAIN = 2 };

/* clang-format off */
#define ALL_SETS (~(STALL | B580))
#define C(name) (UINT32_C(1) << SG_##name)
#define BYTES_READ (C(KERNEL_BYTES_READ) | C(COPY_BYTES_READ))
#define BYTES_WRITTEN (C(KERNEL_BYTES_WRITTEN) | C(COPY_BYTES_WRITTEN) | C(FILL_BYTES_WRITTEN))
#define BUSY (C(COMPUTE_BUSY_NS) | C(COPY_BUSY_NS))

/* How a value comes out of a report. */
#define COUNTED(of) DIFFERENCE, of, 0, 0
#define SHARE_OF_TIME(of) QUOTIENT, of, C(TIME_NS), 100
#define BYTES_BY_TIME(of) QUOTIENT, of, C(TIME_NS), 1
#define CYCLES_BY_TIME QUOTIENT, C(CYCLES), C(TIME_NS), 1000
#define STRUCK_BY(behaviour) FLAG, SOFTGPU_REPORT_##behaviour, 0, 0
#define REPORTED(field) field, 0, 0, 0
#define FIRST_BIT(bit) SAMPLED, bit, 0, 0
#define GIVEN_BY_TEST REPORTED(GIVEN)

/* The same behind the type, and the type of the value. */
#define TYPE(metric, value) ZET_METRIC_TYPE_##metric, ZET_VALUE_TYPE_##value
#define SUM(value, of) TYPE(EVENT, value), COUNTED(of)
#define SPAN(of) TYPE(DURATION, UINT64), COUNTED(of)
#define PERCENT(of) TYPE(DURATION, FLOAT32), SHARE_OF_TIME(of)
#define RATE(of) TYPE(THROUGHPUT, FLOAT32), BYTES_BY_TIME(of)
#define RATIO_OF(of, per, scale) TYPE(RATIO, FLOAT64), QUOTIENT, of, per, scale
#define FREQUENCY(type) TYPE(type, UINT64), CYCLES_BY_TIME
#define FLAG_OF(behaviour) TYPE(FLAG, BOOL8), STRUCK_BY(behaviour)
#define FIELD(type, value, field) TYPE(type, value), REPORTED(field)

/* With MANY_SETS: the index of each, and the first of each pair. */
#define MORE_SETS(X)                                                                                         \
    X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16) X(17) X(18) X(19) X(20) X(21)    \
    X(22) X(23) X(24) X(25) X(26) X(27) X(28) X(29) X(30) X(31)
#define PAIRS(X) X(4) X(6) X(8) X(10) X(12) X(14) X(16) X(18) X(20) X(22) X(24) X(26) X(28) X(30)

/* What softgpu_list_metrics() has listed. */
enum { MOST_LISTED = 32, LISTED_SIZE = 256 };
#define LISTED_PLACES(X)                                                                                     \
    X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16) X(17) X(18)  \
    X(19) X(20) X(21) X(22) X(23) X(24) X(25) X(26) X(27) X(28) X(29) X(30) X(31)
static struct {
    char name[LISTED_SIZE], component[LISTED_SIZE], units[LISTED_SIZE];
} listed_text[MOST_LISTED];
static char listed_group[LISTED_SIZE];
static uint32_t listed_count;

static sg_formula formulas[] = {
    {"GpuTime", "GPU", "ns", ALL_SETS, BOTH, SUM(UINT64, C(TIME_NS)),
     "Time from begin to end, on the device's clock"},
    {"GpuCoreClocks", "GPU", "cycles", ALL_SETS, BOTH, SUM(UINT64, C(CYCLES)),
     "Cycles of the processor's time stamp counter"},
    {"AvgGpuCoreFrequencyMHz", "GPU", "MHz", ALL_SETS, BOTH, FREQUENCY(EVENT),
     "Cycles by time"},

    {"GPU_BUSY", "Front End", "percent", COMPUTE, BOTH, PERCENT(BUSY),
     "Share of the time in which the device executed commands"},
    {"COMMAND_PARSER_COMPUTE_ENGINE_BUSY", "Front End", "percent", COMPUTE, BOTH,
     PERCENT(C(COMPUTE_BUSY_NS)), "Share of the time in which compute queues executed commands"},
    {"COMMAND_PARSER_COPY_ENGINE_BUSY", "Front End", "percent", COMPUTE | MEMORY, BOTH,
     PERCENT(C(COPY_BUSY_NS)), "Share of the time in which copy queues executed commands"},
    {"COMMAND_PARSER_COMPUTE_ENGINE_DISPATCH_KERNEL_COUNT", "Front End", "events", COMPUTE, BOTH,
     SUM(UINT64, C(KERNELS)), "Kernels launched"},
    {"COMMAND_PARSER_FLUSH_COUNT", "Front End", "events", COMPUTE, BOTH, SUM(UINT64, C(FLUSHES)),
     "Flushes of the command streamer"},
    {"LIST_BARRIER_COUNT", "Front End", "events", COMPUTE, BOTH, SUM(UINT32, C(LIST_BARRIERS)),
     "Barriers of command lists"},
    {"GPGPU_THREADGROUP_COUNT", "Thread Dispatcher", "events", COMPUTE, BOTH, SUM(UINT64, C(GROUPS)),
     "Work-groups executed"},
    {"WORK_ITEM_COUNT", "Thread Dispatcher", "events", COMPUTE, BOTH, SUM(UINT64, C(ITEMS)),
     "Work-items executed"},
    {"WORK_ITEMS_PER_GROUP", "Thread Dispatcher", "", COMPUTE, BOTH, RATIO_OF(C(ITEMS), C(GROUPS), 1),
     "Work-items by work-groups"},
    {"GROUP_BARRIER_COUNT", "Thread Dispatcher", "events", COMPUTE, BOTH, SUM(UINT64, C(GROUP_BARRIERS)),
     "Barriers that work-groups passed"},
    {"SLM_BYTE_READ", "L1 Cache", "bytes", COMPUTE, BOTH, SUM(UINT64, C(LOCAL_BYTES_READ)),
     "Bytes that kernels read from local memory"},
    {"SLM_BYTE_WRITE", "L1 Cache", "bytes", COMPUTE, BOTH, SUM(UINT64, C(LOCAL_BYTES_WRITTEN)),
     "Bytes that kernels wrote to local memory"},
    {"LOAD_STORE_CACHE_BYTE_READ", "L1 Cache", "bytes", COMPUTE | MEMORY, BOTH,
     SUM(UINT64, C(KERNEL_BYTES_READ)), "Bytes that kernels read from global memory"},
    {"LOAD_STORE_CACHE_BYTE_WRITE", "L1 Cache", "bytes", COMPUTE | MEMORY, BOTH,
     SUM(UINT64, C(KERNEL_BYTES_WRITTEN)), "Bytes that kernels wrote to global memory"},

    {"GPU_MEMORY_BYTE_READ", "Memory", "bytes", COMPUTE | MEMORY, BOTH, SUM(UINT64, BYTES_READ),
     "Bytes that kernels and copies read"},
    {"GPU_MEMORY_BYTE_WRITE", "Memory", "bytes", COMPUTE | MEMORY, BOTH, SUM(UINT64, BYTES_WRITTEN),
     "Bytes that kernels, copies and fills wrote"},
    {"GPU_MEMORY_BYTE_READ_RATE", "Memory", "GBpS", COMPUTE | MEMORY, BOTH, RATE(BYTES_READ),
     "Bytes read by time"},
    {"GPU_MEMORY_BYTE_WRITE_RATE", "Memory", "GBpS", COMPUTE | MEMORY, BOTH, RATE(BYTES_WRITTEN),
     "Bytes written by time"},
    {"MEMORY_READ_SHARE", "Memory", "percent", MEMORY, BOTH,
     RATIO_OF(BYTES_READ, BYTES_READ | BYTES_WRITTEN, 100), "Bytes read by bytes read and written"},
    {"COPY_COMMAND_COUNT", "Memory", "events", MEMORY, BOTH, SUM(UINT32, C(COPIES)),
     "Memory copies"},
    {"COPY_BYTE_COUNT", "Memory", "bytes", MEMORY, BOTH, SUM(UINT64, C(COPY_BYTES_WRITTEN)),
     "Bytes copied"},
    {"FILL_COMMAND_COUNT", "Memory", "events", MEMORY, BOTH, SUM(UINT32, C(FILLS)),
     "Memory fills"},
    {"FILL_BYTE_COUNT", "Memory", "bytes", MEMORY, BOTH, SUM(UINT64, C(FILL_BYTES_WRITTEN)),
     "Bytes filled"},

    {"HOST_CPU_TIME", "Host Thread", "ns", SCHEDULER, BOTH, SPAN(C(CPU_NS)),
     "Processor time of the thread that executes commands"},
    {"HOST_CPU_BUSY", "Host Thread", "percent", SCHEDULER, BOTH, PERCENT(C(CPU_NS)),
     "Processor time by time"},
    {"HOST_CPU_PER_BUSY_TIME", "Host Thread", "", SCHEDULER, BOTH, RATIO_OF(C(CPU_NS), BUSY, 1),
     "Processor time by the time in which the device executed commands"},
#if SG_HAS_THREAD_EVENTS
    {"PAGE_FAULTS_MINOR", "Host Thread", "events", SCHEDULER, BOTH, SUM(UINT32, C(MINOR_FAULTS)),
     "Page faults served from memory"},
    {"PAGE_FAULTS_MAJOR", "Host Thread", "events", SCHEDULER, BOTH, SUM(UINT32, C(MAJOR_FAULTS)),
     "Page faults served from a file"},
    {"CONTEXT_SWITCHES_VOLUNTARY", "Host Thread", "events", SCHEDULER, BOTH,
     SUM(UINT32, C(VOLUNTARY_SWITCHES)), "Context switches by waiting"},
    {"CONTEXT_SWITCHES_INVOLUNTARY", "Host Thread", "events", SCHEDULER, BOTH,
     SUM(UINT32, C(INVOLUNTARY_SWITCHES)), "Context switches by others' work"},
#endif

    {"IP", "XVE", "Address", STALL, TIME, TYPE(IP_EXP, UINT64), FIRST_BIT(0), "IP address"},
    {"Active", "XVE", "Events", STALL, TIME, TYPE(EVENT, UINT64), FIRST_BIT(101), "Active cycles"},
    {"PSDepStall", "XVE", "Events", STALL, TIME, TYPE(EVENT, UINT64), FIRST_BIT(29), "Stall on Pixel Shader Order Dependency"},
    {"ControlStall", "XVE", "Events", STALL, TIME, TYPE(EVENT, UINT64), FIRST_BIT(45), "Stall on control"},
    {"PipeStall", "XVE", "Events", STALL, TIME, TYPE(EVENT, UINT64), FIRST_BIT(53), "Stall on pipe"},
    {"SendStall", "XVE", "Events", STALL, TIME, TYPE(EVENT, UINT64), FIRST_BIT(61), "Stall on send"},
    {"DistStall", "XVE", "Events", STALL, TIME, TYPE(EVENT, UINT64), FIRST_BIT(69), "Stall on distance"},
    {"SbidStall", "XVE", "Events", STALL, TIME, TYPE(EVENT, UINT64), FIRST_BIT(77), "Stall on scoreboard"},
    {"SyncStall", "XVE", "Events", STALL, TIME, TYPE(EVENT, UINT64), FIRST_BIT(85), "Stall on sync"},
    {"InstrFetchStall", "XVE", "Events", STALL, TIME, TYPE(EVENT, UINT64), FIRST_BIT(93), "Stall on instruction fetch"},
    {"OtherStall", "XVE", "Events", STALL, TIME, TYPE(EVENT, UINT64), FIRST_BIT(37), "Stall on other condition"},

#define OWN_METRIC(index)                                                                                    \
    {"ITEMS_OF_SET_" #index, "Thread Dispatcher", "threads", UINT64_C(1) << index, BOTH,                     \
     SUM(UINT64, C(ITEMS)), "Work-items executed"},
    MORE_SETS(OWN_METRIC)
#define SHARED_METRIC(index)                                                                                 \
    {"ITEMS_OF_PAIR_" #index, "Thread Dispatcher", "threads", UINT64_C(3) << index, BOTH,                    \
     SUM(UINT64, C(ITEMS)), "Work-items executed"},
    PAIRS(SHARED_METRIC)

    {"QueryBeginTime", "Report Meta Data", "ns", ALL_SETS, BOTH, FIELD(TIMESTAMP, UINT64, BEGIN_TIME),
     "Begin of the query, or end of the period, on the clock of the metrics"},
    {"CoreFrequencyMHz", "Report Meta Data", "MHz", ALL_SETS, BOTH, FREQUENCY(RAW),
     "Frequency of the clock that is counted"},
    {"ReportId", "Report Meta Data", "", ALL_SETS, BOTH, FIELD(RAW, UINT64, ID),
     "Number of the report"},
    {"ReportsCount", "Report Meta Data", "", ALL_SETS, EVENT, FIELD(RAW, UINT64, COUNT),
     "Reports that this one is made of"},
    {"ReportReason", "Report Meta Data", "", ALL_SETS, TIME, FIELD(RAW, UINT32, REASON),
     "1: the timer, 2: a marker"},
    {"StreamMarker", "Report Meta Data", "", ALL_SETS, TIME, FIELD(RAW, UINT32, MARKER),
     "Value of the marker that made the report"},
    {"QuerySplitOccurred", "Exception", "", ALL_SETS, EVENT, FLAG_OF(QUERY_SPLIT),
     "The query was split"},
    {"OverrunOccured", "Exception", "", ALL_SETS, EVENT, FLAG_OF(OVERRUN),
     "A counter overran"},
    {"ReportError", "Report Meta Data", "", ALL_SETS, EVENT, FLAG_OF(ERROR),
     "The report is wrong"},
    {"ReportLost", "Report Meta Data", "", ALL_SETS, EVENT, FLAG_OF(LOST),
     "The report was lost"},
    {"ReportInconsistent", "Report Meta Data", "", ALL_SETS, EVENT, FLAG_OF(INCONSISTENT),
     "The report contradicts itself"},
    {"ReportWithoutWorkload", "Report Meta Data", "", ALL_SETS, EVENT, FLAG_OF(WITHOUT_WORKLOAD),
     "No work ran between begin and end"},
    {"ReportContextMismatch", "Report Meta Data", "", ALL_SETS, EVENT, FLAG_OF(CONTEXT_MISMATCH),
     "The report is of another context"},
    {"ReportQueryModeMismatch", "Report Meta Data", "", ALL_SETS, EVENT, FLAG_OF(QUERY_MODE_MISMATCH),
     "The report is of another mode"},

#define B580_METRIC(name, component, type, value, units, samplings, source, description)                     \
    {#name, component, units, B580, samplings, TYPE(type, value), source, description},
#include "b580.def"
#undef B580_METRIC

#define LISTED_METRIC(place)                                                                                 \
    {listed_text[place].name, listed_text[place].component, listed_text[place].units, LISTED, BOTH,          \
     TYPE(RAW, UINT64), GIVEN_BY_TEST, ""},
    LISTED_PLACES(LISTED_METRIC)
};

enum { FORMULAS = sizeof formulas / sizeof *formulas, FIRST_LISTED = FORMULAS - MOST_LISTED };

/* With METRIC_NAMES_DIFFER: what another device calls them. */
static const char *const other_names[][2] = {
    {"GPU_BUSY", "GpuBusy"},
    {"GPGPU_THREADGROUP_COUNT", "GpgpuThreadgroupCount"},
    {"SLM_BYTE_READ", "SlmBytesRead"},
    {"SLM_BYTE_WRITE", "SlmBytesWritten"},
    {"GPU_MEMORY_BYTE_READ", "GpuMemoryBytesRead"},
    {"GPU_MEMORY_BYTE_WRITE", "GpuMemoryBytesWritten"},
    {"QuerySplitOccurred", "MidQueryCtxSwitch"},
};

/* Likewise with METRICS_OF_STREAMS_DIFFER. */
static const char *const other_stream_names[][2] = {
    {"GpuTime", "TIME"}, {"StreamMarker", "MARKER"}, {"ReportReason", "REASON"}};
/* clang-format on */

/* In the order in which they are listed. */
static const sg_set sets[SG_SETS] = {
    {33, listed_group, "Listed by a test", 0, LISTED, BOTH},
    {0, "ComputeBasic", "Compute Metrics Basic set", 0, COMPUTE, BOTH},
    {32, "ComputeBasic", "Compute Metrics Basic set of an Intel Arc B580", 0, B580, BOTH},
    {1, "MemoryProfile", "Memory traffic of kernels, copies and fills", 0, MEMORY, BOTH},
    {2, "HostScheduler", "What the host does to the thread that executes commands", 1, SCHEDULER, BOTH},
    {3, "EuStallSampling", "EU stall sampling", SAMPLING_DOMAIN, STALL, TIME},
#define MORE_SET(index) {index, "Set" #index, "Work-items alone", index % 2, UINT64_C(1) << index, BOTH},
    MORE_SETS(MORE_SET)};

static const zet_metric_group_sampling_type_flags_t samplings[SG_SAMPLINGS] = {
    ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED,
    ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED,
};

typedef struct sg_metric {
    sg_object object;
    const sg_formula *formula;
} sg_metric;

SG_HANDLE(sg_metric_of, sg_metric, zet_metric_handle_t, SG_METRIC)

static void copy_text(char *to, size_t size, const char *from) {
    strncpy(to, from, size - 1);
    to[size - 1] = '\0';
}

/* ---- groups ------------------------------------------------------------------------------------------ */

static bool belongs(const sg_formula *formula, const sg_set *set,
                    zet_metric_group_sampling_type_flags_t sampling) {
    return (formula->sets & set->bit) && (formula->samplings & sampling);
}

static sg_metric_group *create_group(sg_device *device, const sg_set *set,
                                     zet_metric_group_sampling_type_flags_t sampling) {
    sg_metric_group *group = sg_object_create(SG_METRIC_GROUP, sizeof *group, device);
    if (!group)
        return NULL;
    group->device = device;
    group->set = set;
    group->domain = set->domain;
    group->sampling = sampling;
    pthread_mutex_init(&group->lock, NULL);
    for (uint32_t i = 0; i < FORMULAS; i++) {
        if (!belongs(&formulas[i], set, sampling))
            continue;
        sg_metric *metric = sg_object_create(SG_METRIC, sizeof *metric, group);
        if (!metric)
            break;
        metric->formula = &formulas[i];
        group->formulas[group->metric_count] = &formulas[i];
        group->given_count += formulas[i].operation == GIVEN;
        group->metrics[group->metric_count++] = (zet_metric_handle_t)metric;
    }
    return group;
}

/* The group of LISTED has a metric for each place; those that the test did not list are at its end. */
static void count_listed(sg_metric_group *group) {
    group->metric_count = group->metric_count - group->given_count + listed_count;
    group->given_count = listed_count;
}

static void create_groups(sg_metrics *metrics, sg_device *device) {
    for (uint32_t i = 0; i < SG_SETS; i++)
        for (uint32_t k = 0; k < SG_SAMPLINGS; k++)
            if (sets[i].samplings & samplings[k])
                metrics->groups[i][k] = create_group(device, &sets[i], samplings[k]);
    for (uint32_t k = 0; k < SG_SAMPLINGS; k++)
        count_listed(metrics->groups[0][k]);
}

static sg_metrics all_metrics[SG_MAX_DEVICES][1 + SG_MAX_SUB_DEVICES];

static pthread_mutex_t groups_lock = PTHREAD_MUTEX_INITIALIZER;

sg_metrics *sg_metrics_of(sg_device *device) {
    pthread_mutex_lock(&groups_lock);
    if (!device->metrics) {
        sg_metrics *metrics = device->parent ? &all_metrics[device->parent->index][1 + device->index]
                                             : &all_metrics[device->index][0];
        pthread_mutex_init(&metrics->lock, NULL);
        create_groups(metrics, device);
        device->metrics = metrics;
    }
    sg_metrics *metrics = device->metrics;
    pthread_mutex_unlock(&groups_lock);
    return metrics;
}

ze_result_t sg_metrics_refusal(const sg_device *device) {
    switch (atomic_load(&all_metrics[device->root->device->index][0].switched)) {
    case SG_ENABLED:
        return ZE_RESULT_SUCCESS;
    case SG_DISABLED:
        return ZE_RESULT_ERROR_UNINITIALIZED;
    default:
        return sg_behaviour_is_on(SOFTGPU_METRICS_NOT_ENABLED) ? ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE
                                                               : ZE_RESULT_SUCCESS;
    }
}

static void switch_metrics(const sg_device *device, sg_switched to) {
    atomic_store(&all_metrics[device->root->device->index][0].switched, to);
}

void sg_metrics_forget_switches(void) {
    for (uint32_t i = 0; i < SG_MAX_DEVICES; i++)
        atomic_store(&all_metrics[i][0].switched, SG_NOT_SWITCHED);
}

bool sg_group_is_ip_sampling(const sg_metric_group *group) {
    return group->set->bit == STALL;
}
bool sg_group_needs_thread(const sg_metric_group *group) {
    return group->set->bit == SCHEDULER;
}

static bool is_listed(const sg_set *set) {
    if (set->bit == STALL)
        return SG_HAS_SIGNALS && (sg_behaviour_is_on(SOFTGPU_STALL_SAMPLING) ||
                                  sg_behaviour_is_on(SOFTGPU_ONLY_STALL_SAMPLING));
    if (set->bit > STALL && set->bit < B580 && !sg_behaviour_is_on(SOFTGPU_MANY_SETS))
        return false;
    if (set->bit == (sg_behaviour_is_on(SOFTGPU_B580_METRICS) ? COMPUTE : B580))
        return false;
    if (set->bit == LISTED ? listed_count == 0 : listed_count > 0 && !strcmp(set->name, listed_group))
        return false;
    return !sg_behaviour_is_on(SOFTGPU_ONLY_STALL_SAMPLING) && !sg_behaviour_is_on(SOFTGPU_NO_METRIC_LIBRARY);
}

static uint32_t list_groups(sg_metrics *metrics, zet_metric_group_handle_t listed[SG_SETS * SG_SAMPLINGS]) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < SG_SETS; i++)
        for (uint32_t k = 0; k < SG_SAMPLINGS; k++)
            if (metrics->groups[i][k] && is_listed(&sets[i]) &&
                !(metrics->groups[i][k]->sampling == TIME && sg_behaviour_is_on(SOFTGPU_ONLY_EVENT_BASED)))
                listed[count++] = (zet_metric_group_handle_t)metrics->groups[i][k];
    return count;
}

ze_result_t sg_zetMetricGroupGet(zet_device_handle_t handle, uint32_t *count,
                                 zet_metric_group_handle_t *groups) {
    sg_device *device = sg_device_of(handle);
    SG_NEED_HANDLE(device);
    SG_NEED_POINTER(count);
    if (sg_metrics_refusal(device) == ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE)
        return ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE;
    zet_metric_group_handle_t listed[SG_SETS * SG_SAMPLINGS];
    uint32_t given = sg_clamp_count(count, list_groups(sg_metrics_of(device), listed));
    if (given > 0)
        SG_NEED_POINTER(groups);
    memcpy(groups ? groups : listed, listed, given * sizeof *listed);
    return ZE_RESULT_SUCCESS;
}

/* zet_metric_global_timestamps_resolution_exp_t, which the oldest headers lack. */
typedef struct sg_timestamps_resolution {
    uint32_t stype;
    const void *pNext;
    uint64_t resolution;
    uint64_t valid_bits;
} sg_timestamps_resolution;

enum { TIMESTAMPS_RESOLUTION = 9 };

static void fill_extensions(void *extension) {
    while (extension) {
        sg_timestamps_resolution *timestamps = extension;
        if (timestamps->stype == TIMESTAMPS_RESOLUTION) {
            timestamps->resolution = sg_ticks_per_second();
            timestamps->valid_bits = sg_metric_timestamp_bits();
        }
        extension = ((zet_base_properties_t *)extension)->pNext;
    }
}

ze_result_t sg_zetMetricGroupGetProperties(zet_metric_group_handle_t handle,
                                           zet_metric_group_properties_t *properties) {
    sg_metric_group *group = sg_group_of(handle);
    SG_NEED_HANDLE(group);
    SG_NEED_POINTER(properties);
    copy_text(properties->name, sizeof properties->name, group->set->name);
    copy_text(properties->description, sizeof properties->description, group->set->description);
    properties->samplingType = group->sampling;
    properties->domain = group->domain;
    properties->metricCount = group->metric_count;
    fill_extensions(properties->pNext);
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zetMetricGet(zet_metric_group_handle_t handle, uint32_t *count, zet_metric_handle_t *metrics) {
    sg_metric_group *group = sg_group_of(handle);
    SG_NEED_HANDLE(group);
    SG_NEED_POINTER(count);
    uint32_t given = sg_clamp_count(count, group->metric_count);
    if (given == 0)
        return ZE_RESULT_SUCCESS;
    SG_NEED_POINTER(metrics);
    memcpy(metrics, group->metrics, given * sizeof *metrics);
    return ZE_RESULT_SUCCESS;
}

static const char *name_of(const sg_formula *formula) {
    if (sg_behaviour_is_on(SOFTGPU_METRIC_NAMES_DIFFER))
        for (size_t i = 0; i < sizeof other_names / sizeof *other_names; i++)
            if (!strcmp(formula->name, other_names[i][0]))
                return other_names[i][1];
    if (sg_behaviour_is_on(SOFTGPU_METRICS_OF_STREAMS_DIFFER))
        for (size_t i = 0; i < sizeof other_stream_names / sizeof *other_stream_names; i++)
            if (!strcmp(formula->name, other_stream_names[i][0]))
                return other_stream_names[i][1];
    return formula->name;
}

ze_result_t sg_zetMetricGetProperties(zet_metric_handle_t handle, zet_metric_properties_t *properties) {
    sg_metric *metric = sg_metric_of(handle);
    SG_NEED_HANDLE(metric);
    SG_NEED_POINTER(properties);
    const sg_formula *formula = metric->formula;
    copy_text(properties->name, sizeof properties->name, name_of(formula));
    copy_text(properties->description, sizeof properties->description, formula->description);
    copy_text(properties->component, sizeof properties->component, formula->component);
    copy_text(properties->resultUnits, sizeof properties->resultUnits, formula->units);
    properties->tierNumber = 1;
    properties->metricType = formula->type;
    properties->resultType = formula->value;
    return ZE_RESULT_SUCCESS;
}

/* ---- what a test lists and gives --------------------------------------------------------------------- */

static _Atomic double given_values[FORMULAS];

int softgpu_list_metrics(const char *group, const softgpu_metric *metrics, uint32_t count) {
    if (count > MOST_LISTED)
        return 0;
    pthread_mutex_lock(&groups_lock);
    copy_text(listed_group, sizeof listed_group, group ? group : "");
    for (uint32_t i = 0; i < count; i++) {
        copy_text(listed_text[i].name, LISTED_SIZE, metrics[i].name);
        copy_text(listed_text[i].component, LISTED_SIZE, metrics[i].component);
        copy_text(listed_text[i].units, LISTED_SIZE, metrics[i].units);
        formulas[FIRST_LISTED + i].type = (zet_metric_type_t)metrics[i].type;
        formulas[FIRST_LISTED + i].value = (zet_value_type_t)metrics[i].value_type;
    }
    for (uint32_t i = 0; i < MOST_LISTED; i++)
        atomic_store(&given_values[FIRST_LISTED + i], 0);
    for (uint32_t i = count; i < MOST_LISTED; i++)
        listed_text[i].name[0] = '\0';
    listed_count = count;
    for (uint32_t i = 0; i < SG_MAX_DEVICES; i++)
        for (uint32_t k = 0; k <= SG_MAX_SUB_DEVICES; k++)
            for (uint32_t n = 0; n < SG_SAMPLINGS; n++)
                if (all_metrics[i][k].groups[0][n])
                    count_listed(all_metrics[i][k].groups[0][n]);
    pthread_mutex_unlock(&groups_lock);
    return 1;
}

static bool can_hold(zet_value_type_t type, double value) {
    switch (type) {
    case ZET_VALUE_TYPE_UINT32:
        return value >= 0 && value <= (double)UINT32_MAX;
    case ZET_VALUE_TYPE_UINT64:
        return value >= 0 && value < 0x1p64;
    case ZET_VALUE_TYPE_BOOL8:
        return value == 0 || value == 1;
    default:
        return true;
    }
}

int softgpu_set_metric(const char *name, double value) {
    int found = 0;
    for (size_t i = 0; i < FORMULAS; i++)
        if (formulas[i].operation == GIVEN && !strcmp(formulas[i].name, name) &&
            can_hold(formulas[i].value, value)) {
            atomic_store(&given_values[i], value);
            found = 1;
        }
    return found;
}

void sg_metrics_forget_given(void) {
    if (listed_count > 0)
        softgpu_list_metrics("", NULL, 0);
    for (size_t i = 0; i < FORMULAS; i++)
        atomic_store(&given_values[i], 0);
}

double sg_given_value(const sg_formula *formula) {
    return atomic_load(&given_values[formula - formulas]);
}

bool sg_counters_are_refused(void) {
    return sg_behaviour_is_on(SOFTGPU_NO_PERMISSION) || sg_behaviour_is_on(SOFTGPU_COUNTERS_HELD);
}

/* ---- activation -------------------------------------------------------------------------------------- */

bool sg_group_is_active(const sg_metric_group *group) {
    return atomic_load_explicit(&group->device->metrics->active[group->domain], memory_order_acquire) ==
           group;
}

/* The groups by domain, or why they cannot be active together. */
static ze_result_t choose(const sg_device *device, uint32_t count, zet_metric_group_handle_t *groups,
                          sg_metric_group *chosen[SG_DOMAINS]) {
    bool last_wins = sg_behaviour_is_on(SOFTGPU_LAST_OF_DOMAIN_WINS);
    for (uint32_t i = 0; i < count; i++) {
        sg_metric_group *group = sg_group_of(groups[i]);
        SG_NEED_HANDLE(group);
        if (group->device != device || (chosen[group->domain] && !last_wins))
            return ZE_RESULT_ERROR_INVALID_ARGUMENT;
        chosen[group->domain] = group;
    }
    return ZE_RESULT_SUCCESS;
}

bool sg_race_begin(sg_root *root, sg_racer racer) {
    if (!sg_behaviour_is_on(SOFTGPU_ACTIVATION_RACES))
        return false;
    uint32_t others = atomic_fetch_add(&root->racers[racer], 1);
    if (racer == SG_SUBMISSION ? atomic_load(&root->racers[SG_ACTIVATION])
                               : others + atomic_load(&root->racers[SG_SUBMISSION]))
        sg_finding("counters are opened or closed while another thread executes lists");
    if (racer == SG_ACTIVATION)
        sg_take_20_ms();
    return true;
}

void sg_race_end(sg_root *root, sg_racer racer, bool has_begun) {
    if (has_begun)
        atomic_fetch_sub(&root->racers[racer], 1);
}

void sg_take_20_ms(void) {
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

static void activate(sg_metrics *metrics, sg_metric_group *const chosen[SG_DOMAINS]) {
    pthread_mutex_lock(&metrics->lock);
    for (uint32_t i = 0; i < SG_DOMAINS; i++) {
        if (metrics->streamers[i] && metrics->active[i] != chosen[i])
            sg_finding("the metric group of an open streamer was deactivated");
        atomic_store_explicit(&metrics->active[i], chosen[i], memory_order_release);
    }
    metrics->activation_is_pending = sg_behaviour_is_on(SOFTGPU_ACTIVATE_AT_FIRST_USE);
    pthread_mutex_unlock(&metrics->lock);
}

ze_result_t sg_zetContextActivateMetricGroups(zet_context_handle_t context, zet_device_handle_t handle,
                                              uint32_t count, zet_metric_group_handle_t *groups) {
    SG_NEED_HANDLE(sg_context_of(context));
    sg_device *device = sg_device_of(handle);
    SG_NEED_HANDLE(device);
    if (!groups && count > 0)
        return ZE_RESULT_ERROR_INVALID_SIZE;
    sg_metric_group *chosen[SG_DOMAINS] = {NULL};
    ze_result_t result = count > 0 ? sg_metrics_refusal(device) : ZE_RESULT_SUCCESS;
    if (result == ZE_RESULT_SUCCESS)
        result = choose(device, count, groups, chosen);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    bool is_counted = sg_race_begin(device->root, SG_ACTIVATION);
    activate(sg_metrics_of(device), chosen);
    atomic_store(&device->root->has_due_activation, is_counted && count > 0);
    sg_race_end(device->root, SG_ACTIVATION, is_counted);
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zetDeviceEnableMetricsExp(zet_device_handle_t handle) {
    sg_device *device = sg_device_of(handle);
    SG_NEED_HANDLE(device);
    switch_metrics(device, SG_ENABLED);
    return ZE_RESULT_SUCCESS;
}

/* Queries and streamers share what a domain counts with; some devices have one of it for all domains, but for
 * that of instruction sampling, which counts nothing. */
static bool shares_counters(uint32_t domain, uint32_t other) {
    bool counts_both = domain != SAMPLING_DOMAIN && other != SAMPLING_DOMAIN;
    return domain == other || (counts_both && sg_behaviour_is_on(SOFTGPU_STREAMERS_EXCLUDE_QUERIES));
}

bool sg_metrics_have_pool(const sg_metrics *metrics, uint32_t domain) {
    bool any = false;
    for (uint32_t i = 0; i < SG_DOMAINS; i++)
        any = any || (metrics->pools[i] && shares_counters(domain, i));
    return any;
}

bool sg_metrics_have_streamer(const sg_metrics *metrics, uint32_t domain) {
    bool any = false;
    for (uint32_t i = 0; i < SG_DOMAINS; i++)
        any = any || (metrics->streamers[i] && shares_counters(domain, i));
    return any;
}

static bool is_in_use(sg_metrics *metrics) {
    pthread_mutex_lock(&metrics->lock);
    bool in_use = false;
    for (uint32_t i = 0; i < SG_DOMAINS; i++)
        in_use = in_use || metrics->streamers[i] || metrics->pools[i] || metrics->active[i];
    pthread_mutex_unlock(&metrics->lock);
    return in_use;
}

ze_result_t sg_zetDeviceDisableMetricsExp(zet_device_handle_t handle) {
    sg_device *device = sg_device_of(handle);
    SG_NEED_HANDLE(device);
    bool in_use = is_in_use(sg_metrics_of(device->root->device));
    for (uint32_t i = 0; i < SG_MAX_SUB_DEVICES; i++)
        in_use = in_use || is_in_use(sg_metrics_of(device->root->sub_devices[i]));
    if (in_use)
        return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
    switch_metrics(device, SG_DISABLED);
    return ZE_RESULT_SUCCESS;
}

/* Moves one group of each domain, of those from `first` on, to the front. Returns how many. */
static uint32_t gather_concurrent(zet_metric_group_handle_t *groups, uint32_t first, uint32_t count) {
    bool taken[SG_DOMAINS] = {false};
    uint32_t gathered = first;
    for (uint32_t i = first; i < count; i++) {
        zet_metric_group_handle_t handle = groups[i];
        uint32_t domain = sg_group_of(handle)->domain;
        if (taken[domain])
            continue;
        taken[domain] = true;
        memmove(&groups[gathered + 1], &groups[gathered], (i - gathered) * sizeof *groups);
        groups[gathered++] = handle;
    }
    return gathered - first;
}

/* As many rounds as the most crowded domain has groups. */
static uint32_t count_rounds(const zet_metric_group_handle_t *groups, uint32_t count) {
    uint32_t in_domain[SG_DOMAINS] = {0};
    uint32_t rounds = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t crowd = ++in_domain[sg_group_of(groups[i])->domain];
        rounds = crowd > rounds ? crowd : rounds;
    }
    return rounds;
}

ze_result_t sg_zetDeviceGetConcurrentMetricGroupsExp(zet_device_handle_t handle, uint32_t group_count,
                                                     zet_metric_group_handle_t *groups, uint32_t *counts,
                                                     uint32_t *concurrent_count) {
    sg_device *device = sg_device_of(handle);
    SG_NEED_HANDLE(device);
    SG_NEED_HANDLE(groups);
    SG_NEED_POINTER(concurrent_count);
    for (uint32_t i = 0; i < group_count; i++) {
        sg_metric_group *group = sg_group_of(groups[i]);
        SG_NEED_HANDLE(group);
        if (group->device != device)
            return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    *concurrent_count = count_rounds(groups, group_count);
    uint32_t done = 0;
    for (uint32_t round = 0; counts && round < *concurrent_count; round++) {
        counts[round] = gather_concurrent(groups, done, group_count);
        done += counts[round];
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zetMetricGroupGetGlobalTimestampsExp(zet_metric_group_handle_t group, ze_bool_t of_host,
                                                    uint64_t *global, uint64_t *metric) {
    SG_NEED_HANDLE(sg_group_of(group));
    SG_NEED_POINTER(global);
    SG_NEED_POINTER(metric);
    uint64_t now = sg_shown_now();
    *metric = sg_metric_ticks_at(now);
    *global = of_host ? now : sg_ticks_at(now);
    return ZE_RESULT_SUCCESS;
}
