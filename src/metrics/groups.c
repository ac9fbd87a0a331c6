/* The metric groups of a device and their metrics: look-up and listing. */

#include "metrics/groups.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/tables.h"
#include "base/text.h"
#include "base/writer.h"
#include "metrics/availability.h"
#include "metrics/driver.h"

/* ---- the catalog ----------------------------------------------------------------------------------------- */

ZT__PRIVATE void zt__close_catalog(const zt_allocator *allocator, zt__catalog *catalog) {
    zt__free(allocator, catalog->handles);
    zt__free(allocator, catalog->properties);
    zt__free(allocator, catalog->samples_instructions);
    memset(catalog, 0, sizeof *catalog);
}

ZT__PRIVATE ze_result_t zt__open_catalog(const zt_allocator *allocator, const zt__driver *driver,
                                         ze_device_handle_t device, zt__catalog *catalog, const char **call) {
    enum { LOOKED_AT = 16 }; /* a group that samples instructions has few metrics */
    uint32_t i, m, count, room;
    int is_disabled;
    ze_result_t result;
    memset(catalog, 0, sizeof *catalog);
    *call = "zetMetricGroupGet";
    result = zetMetricGroupGet(device, &catalog->count, NULL);
    is_disabled = result == ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE || result == ZE_RESULT_ERROR_UNINITIALIZED;
    if (is_disabled && driver->zetDeviceEnableMetricsExp &&
        driver->zetDeviceEnableMetricsExp(device) == ZE_RESULT_SUCCESS) {
        catalog->count = 0;
        result = zetMetricGroupGet(device, &catalog->count, NULL);
    }
    if (result != ZE_RESULT_SUCCESS || catalog->count == 0) {
        return result;
    }
    catalog->handles =
        (zet_metric_group_handle_t *)zt__allocate(allocator, catalog->count, sizeof *catalog->handles);
    catalog->properties =
        (zet_metric_group_properties_t *)zt__allocate(allocator, catalog->count, sizeof *catalog->properties);
    catalog->samples_instructions = (uint8_t *)zt__allocate(allocator, catalog->count, 1);
    if (!catalog->handles || !catalog->properties || !catalog->samples_instructions) {
        zt__close_catalog(allocator, catalog);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    room = catalog->count;
    result = zetMetricGroupGet(device, &catalog->count, catalog->handles);
    catalog->count = catalog->count < room ? catalog->count : room;
    for (i = 0; i < catalog->count && result == ZE_RESULT_SUCCESS; i++) {
        zet_metric_group_properties_t *group = &catalog->properties[i];
        zet_metric_handle_t metrics[LOOKED_AT];
        *call = "zetMetricGroupGetProperties";
        group->stype = ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES;
        result = zetMetricGroupGetProperties(catalog->handles[i], group);
        ZT__END_TEXT(group->name);
        ZT__END_TEXT(group->description);
        count = 0;
        if (result == ZE_RESULT_SUCCESS &&
            (group->samplingType & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED)) {
            count = LOOKED_AT;
            *call = "zetMetricGet";
            result = zetMetricGet(catalog->handles[i], &count, metrics);
        }
        for (m = 0; m < count && m < LOOKED_AT && result == ZE_RESULT_SUCCESS; m++) {
            zet_metric_properties_t metric;
            memset(&metric, 0, sizeof metric);
            metric.stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES;
            *call = "zetMetricGetProperties";
            result = zetMetricGetProperties(metrics[m], &metric);
            catalog->samples_instructions[i] |= metric.metricType == ZET_METRIC_TYPE_IP_EXP;
        }
    }
    if (result != ZE_RESULT_SUCCESS) {
        zt__close_catalog(allocator, catalog);
    }
    return result;
}

ZT__PRIVATE int zt__is_usable_group(const zt__catalog *catalog, uint32_t index,
                                    zet_metric_group_sampling_type_flags_t type) {
    return (catalog->properties[index].samplingType & type) && !catalog->samples_instructions[index];
}

ZT__PRIVATE uint32_t zt__find_group(const zt__catalog *catalog, const char *name, size_t length,
                                    zet_metric_group_sampling_type_flags_t type) {
    uint32_t i;
    for (i = 0; i < catalog->count; i++) {
        if (zt__is_usable_group(catalog, i, type) &&
            (!name || zt__equals(catalog->properties[i].name, name, length))) {
            return i;
        }
    }
    return UINT32_MAX;
}

ZT__PRIVATE int zt__has_counters(const zt__catalog *catalog) {
    return zt__find_group(catalog, NULL, 0, ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED) != UINT32_MAX;
}

/* The names of the groups of one sampling type, for zt__find_nearest. */
typedef struct zt__names_of_type {
    const zt__catalog *catalog;
    zet_metric_group_sampling_type_flags_t type;
} zt__names_of_type;

static const char *zt__group_name_at(const void *names, uint32_t index) {
    const zt__catalog *catalog = ((const zt__names_of_type *)names)->catalog;
    zet_metric_group_sampling_type_flags_t type = ((const zt__names_of_type *)names)->type;
    return zt__is_usable_group(catalog, index, type) ? catalog->properties[index].name : NULL;
}

ZT__PRIVATE ze_result_t zt__report_no_group(zt__diagnostics *diagnostics, const char *call,
                                            const zt__catalog *catalog, const char *name, size_t length,
                                            zet_metric_group_sampling_type_flags_t type) {
    int is_event = (type & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED) != 0;
    char wanted[ZET_MAX_METRIC_GROUP_NAME];
    uint32_t i;
    zt__names_of_type names;
    zt__nearest nearest;
    zt__copy_text(wanted, sizeof wanted, name, length);
    for (i = 0; i < catalog->count; i++) {
        if (catalog->samples_instructions[i] && (catalog->properties[i].samplingType & type) &&
            zt__equals(catalog->properties[i].name, name, length)) {
            return zt__report(diagnostics, INSTRUCTION_SAMPLING, ZE_RESULT_ERROR_INVALID_ARGUMENT, call,
                              wanted);
        }
    }
    names.catalog = catalog;
    names.type = type;
    nearest = zt__find_nearest(wanted, &names, catalog->count, zt__group_name_at);
    return zt__report(diagnostics, NO_SUCH_GROUP, ZE_RESULT_ERROR_INVALID_ARGUMENT, call,
                      is_event ? "event-based" : "time-based", wanted, nearest.text);
}

/* ---- metrics --------------------------------------------------------------------------------------------- */

ZT__PRIVATE void zt__free_group(const zt_allocator *allocator, zt__group *group) {
    zt__free(allocator, group->metrics);
    memset(group, 0, sizeof *group);
}

ZT__PRIVATE ze_result_t zt__load_metrics(const zt_allocator *allocator, zt__group *group, const char **call) {
    zet_metric_handle_t *handles;
    uint32_t i, room, count = 0;
    ze_result_t result;
    *call = "zetMetricGet";
    result = zetMetricGet(group->handle, &count, NULL);
    if (result != ZE_RESULT_SUCCESS || count == 0) {
        return result == ZE_RESULT_SUCCESS ? ZE_RESULT_ERROR_UNKNOWN : result;
    }
    handles = (zet_metric_handle_t *)zt__allocate(allocator, count, sizeof *handles);
    group->metrics = (zet_metric_properties_t *)zt__allocate(allocator, count, sizeof *group->metrics);
    if (!handles || !group->metrics) {
        zt__free(allocator, handles);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    room = count;
    result = zetMetricGet(group->handle, &count, handles);
    count = count < room ? count : room;
    result = result == ZE_RESULT_SUCCESS && count == 0 ? ZE_RESULT_ERROR_UNKNOWN : result;
    for (i = 0; i < count && result == ZE_RESULT_SUCCESS; i++) {
        zet_metric_properties_t *metric = &group->metrics[i];
        *call = "zetMetricGetProperties";
        metric->stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES;
        result = zetMetricGetProperties(handles[i], metric);
        ZT__END_TEXT(metric->name);
        ZT__END_TEXT(metric->description);
        ZT__END_TEXT(metric->component);
        ZT__END_TEXT(metric->resultUnits);
        /* Some drivers print a null pointer here. */
        if (strcmp(metric->resultUnits, "(null)") == 0) {
            metric->resultUnits[0] = 0;
        }
    }
    group->metric_count = count;
    zt__free(allocator, handles);
    return result;
}

ZT__PRIVATE const char *zt__aggregation_name(zt_aggregation aggregation) {
    static const char *const names[] = {"sum", "mean", "flag", "none"};
    return names[aggregation];
}

ZT__PRIVATE const char *zt__metric_type_name(int type) {
    static const char *const names[] = {
        "duration", "event", "event_with_range", "throughput", "timestamp", "flag", "ratio", "raw"};
    return type >= 0 && type < (int)ZT__COUNT_OF(names) ? names[type] : "other";
}

ZT__PRIVATE void zt__describe_metric(const zt__group *group, uint32_t index, zt_metric *metric) {
    static const char *const averaged[] = {"percent", "Percent", "%",   "Hz",   "hz",
                                           "Bps",     "BpS",     "bps", "ratio"};
    const zet_metric_properties_t *from = &group->metrics[index];
    const char *units = from->resultUnits;
    uint32_t i;
    metric->name = from->name;
    metric->group = group->properties.name;
    metric->component = from->component;
    metric->units = units;
    metric->description = from->description;
    metric->type = (int)from->metricType;
    metric->pass = 0;
    /* The type alone does not decide how values are combined: drivers give percentages the type of durations,
       and frequencies that of events. Their units show that they do not add up. */
    switch (from->metricType) {
    case ZET_METRIC_TYPE_RATIO:
    case ZET_METRIC_TYPE_THROUGHPUT:
        metric->aggregation = ZT_AGGREGATE_MEAN;
        break;
    case ZET_METRIC_TYPE_FLAG:
        metric->aggregation = ZT_AGGREGATE_FLAG;
        break;
    case ZET_METRIC_TYPE_DURATION:
    case ZET_METRIC_TYPE_EVENT:
    case ZET_METRIC_TYPE_EVENT_WITH_RANGE:
        metric->aggregation =
            strchr(units, '/') || strstr(units, " per ") ? ZT_AGGREGATE_MEAN : ZT_AGGREGATE_SUM;
        for (i = 0; i < ZT__COUNT_OF(averaged); i++) {
            if (zt__ends_with(units, averaged[i], strcmp)) {
                metric->aggregation = ZT_AGGREGATE_MEAN;
            }
        }
        break;
    default:
        metric->aggregation = ZT_AGGREGATE_NONE;
        break;
    }
}

/* Not a switch: types differ from metric to metric, so its indirect jump would be mispredicted, which costs several
   times as much as the conversion. Integers are chosen without a jump. */
ZT__PRIVATE double zt__value_of(const zet_typed_value_t *value) {
    int is_uint32 = value->type == ZET_VALUE_TYPE_UINT32, is_bool = value->type == ZET_VALUE_TYPE_BOOL8;
    double number = zt__nan();
    if (value->type == ZET_VALUE_TYPE_UINT64 || is_uint32 || is_bool) {
        uint64_t integer = is_uint32 ? value->value.ui32 : value->value.ui64;
        return (double)(is_bool ? value->value.b8 != 0 : integer);
    }
    if (value->type == ZET_VALUE_TYPE_FLOAT32) {
        number = (double)value->value.fp32;
    } else if (value->type == ZET_VALUE_TYPE_FLOAT64) {
        number = value->value.fp64;
    }
    return zt__is_finite(number) ? number : zt__nan();
}

/* ---- finding and listing groups -------------------------------------------------------------------------- */

/* Opens the catalog for a call that has no profiler. On failure the message was reported. */
static ze_result_t zt__open_catalog_alone(ze_device_handle_t device, zt__catalog *catalog) {
    zt__driver driver;
    const char *call;
    ze_result_t result;
    zt__load_driver(&driver);
    result = zt__open_catalog(&zt__default_allocator, &driver, device, catalog, &call);
    if (result != ZE_RESULT_SUCCESS) {
        zt__report_refusal(NULL, device, ZT__FOR_REGIONS, result, call, NULL);
    }
    return result;
}

ZT_API ze_result_t zt_find_group(ze_device_handle_t device, const char *name, uint32_t type,
                                 zt_group *group) {
    zt__catalog catalog;
    ze_result_t result;
    uint32_t i;
    if (group) {
        *group = NULL;
    }
    if (!group || !name) {
        return zt__report_null(NULL, "zt_find_group", group ? "name" : "group");
    }
    if (!device) {
        return zt__report_null_handle(NULL, "zt_find_group", "device");
    }
    result = zt__open_catalog_alone(device, &catalog);
    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }
    for (i = 0; i < catalog.count && !*group; i++) {
        if ((catalog.properties[i].samplingType & type) && strcmp(catalog.properties[i].name, name) == 0) {
            *group = catalog.handles[i];
        }
    }
    if (!*group) {
        result = zt__report_no_group(NULL, "zt_find_group", &catalog, name, strlen(name), type);
    }
    zt__close_catalog(&zt__default_allocator, &catalog);
    return result;
}

/* Fills in a row of the metrics of a group, for zt_write_groups. */
static void zt__show_metric(const void *group, uint32_t index, zt__cell *cells) {
    zt_metric metric;
    zt__describe_metric((const zt__group *)group, index, &metric);
    cells[0].text = metric.name;
    cells[1].text = metric.units;
    cells[2].text = zt__aggregation_name(metric.aggregation);
    cells[3].text = metric.description;
}

ZT_API ze_result_t zt_write_groups(ze_device_handle_t device, int metrics, zt_write_fn write, void *user) {
    const zet_metric_group_sampling_type_flags_t event = ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED;
    const zet_metric_group_sampling_type_flags_t time = ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED;
    zt__table_column columns[] = {{"", 1, 0, 0}, {"", 1, 0, 0}, {"", 1, 0, 0}, {"", 1, 0, 0}};
    zt__cell cells[ZT__COUNT_OF(columns)];
    zt__group listed;
    zt__table table = {columns, cells, ZT__COUNT_OF(columns), 0, zt__show_metric, &listed, 4, 1};
    zt__catalog catalog;
    zt__writer writer;
    const char *call;
    uint32_t i;
    ze_result_t result;
    if (!device) {
        return zt__report_null_handle(NULL, "zt_write_groups", "device");
    }
    if (!write) {
        return zt__report_null(NULL, "zt_write_groups", "write");
    }
    result = zt__open_catalog_alone(device, &catalog);
    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }
    if (catalog.count == 0) {
        return zt__report(NULL, METRIC_LIBRARY_MISSING, ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE, 0u);
    }
    zt__begin_writing(&writer, write, user);
    zt__write_text(&writer, "domain  sampling      metrics  group\n");
    for (i = 0; i < catalog.count && result == ZE_RESULT_SUCCESS; i++) {
        const zet_metric_group_properties_t *group = &catalog.properties[i];
        const char *sampling = group->samplingType & time ? "time" : "other";
        if (catalog.samples_instructions[i]) {
            sampling = "instructions";
        } else if (group->samplingType & event) {
            sampling = group->samplingType & time ? "event+time" : "event";
        }
        zt__print(&writer, "%6u  %-12s  %7u  ", (unsigned)group->domain, sampling,
                  (unsigned)group->metricCount);
        zt__write_shown(&writer, group->name);
        zt__write_text(&writer, ": ");
        zt__write_shown(&writer, group->description);
        zt__write_text(&writer, "\n");
        if (metrics) {
            memset(&listed, 0, sizeof listed);
            listed.handle = catalog.handles[i];
            result = zt__load_metrics(&zt__default_allocator, &listed, &call);
            if (result == ZE_RESULT_SUCCESS) {
                table.row_count = listed.metric_count;
                zt__write_table(&writer, &table);
            } else {
                zt__report_refusal(NULL, device, ZT__FOR_REGIONS, result, call, NULL);
            }
            zt__free_group(&zt__default_allocator, &listed);
        }
    }
    if (result == ZE_RESULT_SUCCESS && !zt__has_counters(&catalog)) {
        result = zt__report(NULL, METRIC_LIBRARY_MISSING, ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE,
                            (unsigned)catalog.count);
    }
    zt__close_catalog(&zt__default_allocator, &catalog);
    if (!zt__end_writing(&writer)) {
        return zt__report(NULL, WRITE_STOPPED, ZE_RESULT_ERROR_UNKNOWN, "zt_write_groups");
    }
    return result;
}
