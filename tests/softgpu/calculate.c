/* Raw reports: how they are made, and how they become values. */
#include <string.h>
#include <time.h>

#include "sampling.h"

/* ---- raw reports ------------------------------------------------------------------------------------- */

enum { REPORT_MAGIC = 0x74726773, PACKET_MAGIC = 0x6b706773 };

uint32_t sg_tiles_of(const sg_device *device) {
    return device->parent ? 0 : sg_sub_device_count();
}

void sg_measure(const sg_metric_group *group, uint32_t tiles, sg_counts counts[]) {
    unsigned flags = sg_group_needs_thread(group) ? SG_WITH_THREAD : 0;
    if (tiles == 0)
        sg_snapshot(group->device, flags, counts->of);
    for (uint32_t i = 0; i < tiles; i++)
        sg_snapshot(group->device->root->sub_devices[i], flags, counts[i].of);
}

sg_report sg_report_of(const sg_metric_group *group, sg_reason reason, uint64_t id) {
    return (sg_report){
        .magic = REPORT_MAGIC,
        .set = group->set->index,
        .sampling = (uint16_t)group->sampling,
        .reason = reason,
        .count = 1,
        .id = id,
    };
}

void sg_report_fill(sg_report *report, const sg_counts *begin, const sg_counts *end) {
    report->begin = *begin;
    report->end = *end;
    bool is_row = report->sampling == ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED;
    report->ticks = sg_metric_ticks_at(is_row ? end->of[SG_TIME_NS] : begin->of[SG_TIME_NS]);
}

void sg_report_write(const sg_metric_group *group, const sg_report *report, uint8_t *to) {
    memcpy(to, report, sizeof *report);
    to += sizeof *report;
    for (uint32_t i = 0; i < group->metric_count; i++) {
        if (group->formulas[i]->operation != GIVEN)
            continue;
        double given = report->flags ? 0 : sg_given_value(group->formulas[i]);
        memcpy(to, &given, sizeof given);
        to += sizeof given;
    }
}

sg_packet sg_packet_of(uint32_t tiles, uint64_t bytes) {
    return (sg_packet){PACKET_MAGIC, tiles, bytes};
}

/* Raw data, understood: one block of reports for each tile. */
typedef struct sg_raw {
    const uint8_t *data;
    size_t report_size;
    uint32_t tiles;
    size_t reports; /* of each tile */
    bool is_packet;
} sg_raw;

static const uint8_t *report_at(const sg_raw *raw, uint32_t tile, size_t index) {
    return raw->data + (tile * raw->reports + index) * raw->report_size;
}

static bool is_of_group(const sg_metric_group *group, const uint8_t *data) {
    sg_report report;
    memcpy(&report, data, offsetof(sg_report, flags));
    return report.magic == REPORT_MAGIC && report.set == group->set->index &&
           report.sampling == group->sampling;
}

static ze_result_t understand(const sg_metric_group *group, size_t size, const uint8_t *data, sg_raw *raw) {
    sg_packet packet = {0};
    if (size >= sizeof packet)
        memcpy(&packet, data, sizeof packet);
    bool is_packet = packet.magic == PACKET_MAGIC && packet.tiles > 0 && packet.tiles <= SG_MAX_TILES;
    size_t bytes = is_packet ? packet.bytes : size, report_size = sg_report_size(group);
    *raw = (sg_raw){.data = is_packet ? data + sizeof packet : data,
                    .report_size = report_size,
                    .tiles = is_packet ? packet.tiles : 1,
                    .reports = bytes / report_size,
                    .is_packet = is_packet};
    if (bytes % report_size != 0 || raw->reports == 0)
        return ZE_RESULT_ERROR_INVALID_SIZE;
    if (is_packet && (size - sizeof packet) / packet.tiles != bytes)
        return ZE_RESULT_ERROR_INVALID_SIZE;
    for (size_t i = 0; i < raw->tiles * raw->reports; i++) {
        if (!is_of_group(group, report_at(raw, 0, i)))
            return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    return ZE_RESULT_SUCCESS;
}

/* ---- calculation ------------------------------------------------------------------------------------- */

static uint64_t difference(const sg_report *report, uint32_t counters) {
    uint64_t sum = 0;
    for (uint32_t bits = counters; bits; bits &= bits - 1) {
        int counter = __builtin_ctz(bits);
        sum += report->end.of[counter] - report->begin.of[counter];
    }
    return sum;
}

/* A driver multiplies ticks of 19.2 MHz before it divides: 2^64 too much. */
static uint64_t overflowed_time(uint64_t nanoseconds) {
    const uint64_t rate = 19200000, excess = UINT64_C(0) - rate; /* 2^64 = excess + rate */
    uint64_t ticks = (nanoseconds * 12 + 624) / 625;
    return excess / rate + 1 + (excess % rate + ticks * UINT64_C(1000000000)) / rate;
}

static double quotient(const sg_report *report, const sg_formula *formula) {
    if (report->overflows && formula->of == UINT32_C(1) << SG_CYCLES)
        return 0;
    double divisor = (double)difference(report, formula->per);
    return divisor > 0 ? formula->scale * (double)difference(report, formula->of) / divisor : 0;
}

static uint64_t nanoseconds(uint64_t ticks) {
    uint64_t rate = sg_ticks_per_second();
    return ticks / rate * 1000000000u + ticks % rate * 1000000000u / rate;
}

static uint64_t integer(const sg_report *report, const sg_formula *formula) {
    switch (formula->operation) {
    case DIFFERENCE:
        if (report->overflows && formula->of == UINT32_C(1) << SG_TIME_NS)
            return overflowed_time(difference(report, formula->of));
        return difference(report, formula->of);
    case FLAG:
        return report->flags >> (formula->of - SOFTGPU_REPORT_ERROR) & 1;
    case BEGIN_TIME:
        return nanoseconds(report->ticks);
    case ID:
        return report->id;
    case COUNT:
        return report->count;
    case REASON:
        return report->reason;
    case MARKER:
        return report->marker;
    default:
        return 0;
    }
}

static zet_typed_value_t of_integer(zet_value_type_t type, uint64_t number) {
    zet_typed_value_t value = {.type = type};
    if (type == ZET_VALUE_TYPE_UINT32)
        value.value.ui32 = (uint32_t)number;
    else if (type == ZET_VALUE_TYPE_BOOL8)
        value.value.b8 = number != 0;
    else
        value.value.ui64 = number;
    return value;
}

static zet_typed_value_t of_real(zet_value_type_t type, double real) {
    zet_typed_value_t value = {.type = type};
    if (type == ZET_VALUE_TYPE_FLOAT32)
        value.value.fp32 = (float)real;
    else if (type == ZET_VALUE_TYPE_FLOAT64)
        value.value.fp64 = real;
    else
        return of_integer(type, (uint64_t)(real + 0.5));
    return value;
}

/* `given` points to the next of the values that follow the report, and advances when one is read. */
static zet_typed_value_t value_of(const sg_report *report, const uint8_t **given, const sg_formula *formula) {
    if (formula->operation == QUOTIENT)
        return of_real(formula->value, quotient(report, formula));
    if (formula->operation != GIVEN)
        return of_integer(formula->value, integer(report, formula));
    double value;
    memcpy(&value, *given, sizeof value);
    *given += sizeof value;
    return of_real(formula->value, value);
}

/* The same number as another type. */
static zet_typed_value_t retyped(zet_typed_value_t value) {
    switch (value.type) {
    case ZET_VALUE_TYPE_UINT64:
        return of_real(ZET_VALUE_TYPE_FLOAT64, (double)value.value.ui64);
    case ZET_VALUE_TYPE_FLOAT32:
        return of_real(ZET_VALUE_TYPE_FLOAT64, (double)value.value.fp32);
    case ZET_VALUE_TYPE_FLOAT64:
        return of_real(ZET_VALUE_TYPE_FLOAT32, value.value.fp64);
    case ZET_VALUE_TYPE_UINT32:
        return of_integer(ZET_VALUE_TYPE_UINT64, value.value.ui32);
    default:
        return of_integer(ZET_VALUE_TYPE_UINT32, value.value.b8);
    }
}

/* A percentage ends at 100; of the others there is no more to say than what their type can hold. */
static zet_typed_value_t greatest(const sg_formula *formula) {
    if (!strcmp(formula->units, "percent"))
        return of_real(formula->value, 100);
    if (formula->value == ZET_VALUE_TYPE_FLOAT32 || formula->value == ZET_VALUE_TYPE_FLOAT64)
        return of_real(formula->value, 3.4e38);
    return of_integer(formula->value, formula->value == ZET_VALUE_TYPE_UINT32 ? UINT32_MAX : UINT64_MAX);
}

/* Where values go: what does not fit is counted, and not written. */
typedef struct sg_values {
    zet_typed_value_t *at;
    uint32_t room;
    uint32_t count;
} sg_values;

static void put_report(const sg_metric_group *group, zet_metric_group_calculation_type_t type,
                       const sg_report *report, const uint8_t *given, sg_values *values) {
    uint32_t left = values->room > values->count ? values->room - values->count : 0;
    uint32_t count = left < group->metric_count ? left : group->metric_count;
    for (uint32_t i = 0; i < count; i++)
        values->at[values->count + i] = type == ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES
                                            ? value_of(report, &given, group->formulas[i])
                                            : greatest(group->formulas[i]);
    values->count += group->metric_count;
}

/* A driver that keeps state takes the begin of a report from the end of the one before, whenever that was.
 * False: there was none, and so there are no values. */
static bool join_to_last(sg_metric_group *group, uint32_t tile, sg_report *report) {
    bool has_last = group->has_last[tile];
    if (has_last)
        report->begin = group->last[tile];
    group->last[tile] = report->end;
    group->has_last[tile] = true;
    return has_last;
}

static void put_tile(sg_metric_group *group, zet_metric_group_calculation_type_t type, const sg_raw *raw,
                     uint32_t tile, sg_values *values) {
    bool keeps_state = group->sampling == ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED &&
                       sg_behaviour_is_on(SOFTGPU_CALCULATION_KEEPS_STATE);
    group->has_last[tile] = group->has_last[tile] && keeps_state;
    for (size_t i = 0; i < raw->reports; i++) {
        sg_report report;
        memcpy(&report, report_at(raw, tile, i), sizeof report);
        if (!keeps_state || join_to_last(group, tile, &report))
            put_report(group, type, &report, report_at(raw, tile, i) + sizeof report, values);
    }
}

static _Atomic int calculations_now;

/* Real drivers corrupt their heap when two threads calculate, whatever the groups. */
static void enter_calculation(void) {
    if (atomic_fetch_add(&calculations_now, 1) > 0)
        sg_finding("two threads calculate metric values at the same time");
    if (sg_behaviour_is_on(SOFTGPU_SLOW_CALCULATION))
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}

static void leave_calculation(void) {
    atomic_fetch_sub(&calculations_now, 1);
}

static ze_result_t check_calculation(const sg_metric_group *group, zet_metric_group_calculation_type_t type,
                                     const uint8_t *data) {
    SG_NEED_HANDLE(group);
    if (type > ZET_METRIC_GROUP_CALCULATION_TYPE_MAX_METRIC_VALUES)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    SG_NEED_POINTER(data);
    return ZE_RESULT_SUCCESS;
}

/* Values of all tiles, one after the other; how many of each goes to counts, where there are counts. */
static void put_all(sg_metric_group *group, zet_metric_group_calculation_type_t type, const sg_raw *raw,
                    uint32_t tiles, uint32_t *counts, sg_values *values) {
    pthread_mutex_lock(&group->lock);
    for (uint32_t i = 0; i < tiles; i++) {
        uint32_t before = values->count;
        put_tile(group, type, raw, i, values);
        if (counts)
            counts[i] = values->count - before;
    }
    pthread_mutex_unlock(&group->lock);
    if (sg_behaviour_is_on(SOFTGPU_VALUE_TYPES_DIFFER))
        for (uint32_t i = 0; i < values->count && i < values->room; i++)
            values->at[i] = retyped(values->at[i]);
}

static uint32_t most_values(const sg_metric_group *group, const sg_raw *raw) {
    return (uint32_t)(raw->tiles * raw->reports * group->metric_count);
}

static ze_result_t calculate(sg_metric_group *group, zet_metric_group_calculation_type_t type, size_t size,
                             const uint8_t *data, uint32_t *count, zet_typed_value_t *values) {
    sg_raw raw;
    if (sg_group_is_ip_sampling(group))
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    ze_result_t result = understand(group, size, data, &raw);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (raw.is_packet)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    if (*count == 0) {
        *count = most_values(group, &raw);
        return ZE_RESULT_SUCCESS;
    }
    SG_NEED_POINTER(values);
    sg_spend((uint64_t)sg_report_cost() * raw.reports);
    sg_values to = {values, *count, 0};
    put_all(group, type, &raw, 1, NULL, &to);
    *count = to.count < to.room ? to.count : to.room;
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zetMetricGroupCalculateMetricValues(zet_metric_group_handle_t handle,
                                                   zet_metric_group_calculation_type_t type, size_t size,
                                                   const uint8_t *data, uint32_t *count,
                                                   zet_typed_value_t *values) {
    sg_metric_group *group = sg_group_of(handle);
    ze_result_t result = check_calculation(group, type, data);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    SG_NEED_POINTER(count);
    enter_calculation();
    result = calculate(group, type, size, data, count, values);
    leave_calculation();
    return result;
}

static ze_result_t calculate_sets(sg_metric_group *group, zet_metric_group_calculation_type_t type,
                                  size_t size, const uint8_t *data, uint32_t *set_count,
                                  uint32_t *total_count, uint32_t *counts, zet_typed_value_t *values) {
    sg_raw raw;
    if (sg_group_is_ip_sampling(group))
        return sg_stalls_calculate(group, type, size, data, set_count, total_count, counts, values);
    ze_result_t result = understand(group, size, data, &raw);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (*set_count == 0 || *total_count == 0) {
        *set_count = raw.tiles;
        *total_count = most_values(group, &raw);
        return ZE_RESULT_SUCCESS;
    }
    SG_NEED_POINTER(values);
    sg_spend((uint64_t)sg_report_cost() * raw.tiles * raw.reports);
    sg_values to = {values, *total_count, 0};
    put_all(group, type, &raw, sg_clamp_count(set_count, raw.tiles), counts, &to);
    *total_count = to.count < to.room ? to.count : to.room;
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zetMetricGroupCalculateMultipleMetricValuesExp(zet_metric_group_handle_t handle,
                                                              zet_metric_group_calculation_type_t type,
                                                              size_t size, const uint8_t *data,
                                                              uint32_t *set_count, uint32_t *total_count,
                                                              uint32_t *counts, zet_typed_value_t *values) {
    sg_metric_group *group = sg_group_of(handle);
    ze_result_t result = check_calculation(group, type, data);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    SG_NEED_POINTER(set_count);
    SG_NEED_POINTER(total_count);
    enter_calculation();
    result = calculate_sets(group, type, size, data, set_count, total_count, counts, values);
    leave_calculation();
    return result;
}
