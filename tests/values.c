#define _GNU_SOURCE
#include "values.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

zet_metric_group_handle_t group_of(ze_device_handle_t device, const char *name, unsigned sampling) {
    zet_metric_group_handle_t groups[32];
    uint32_t count = 32;
    ok(zetMetricGroupGet(device, &count, groups));
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_group_properties_t properties = {.stype = ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES};
        ok(zetMetricGroupGetProperties(groups[i], &properties));
        if (!strcmp(properties.name, name) && properties.samplingType == sampling)
            return groups[i];
    }
    return NULL;
}

void activate(world *w, ze_device_handle_t device, uint32_t count, zet_metric_group_handle_t *groups) {
    ok(zetContextActivateMetricGroups(w->context, device, count, groups));
}

void activate_one(world *w, zet_metric_group_handle_t group) {
    activate(w, w->device, 1, &group);
}

void deactivate(world *w, ze_device_handle_t device) {
    activate(w, device, 0, NULL);
}

uint32_t metrics_in(zet_metric_group_handle_t group) {
    uint32_t count = 0;
    ok(zetMetricGet(group, &count, NULL));
    return count;
}

zet_metric_properties_t metric_at(zet_metric_group_handle_t group, uint32_t index) {
    zet_metric_handle_t metrics[128];
    uint32_t count = 128;
    zet_metric_properties_t properties = {.stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES};
    ok(zetMetricGet(group, &count, metrics));
    assert_true(index < count);
    ok(zetMetricGetProperties(metrics[index], &properties));
    return properties;
}

uint32_t index_of(zet_metric_group_handle_t group, const char *metric) {
    for (uint32_t i = 0; i < metrics_in(group); i++)
        if (!strcmp(metric_at(group, i).name, metric))
            return i;
    fail_msg("no metric %s", metric);
    return 0;
}

double number(zet_typed_value_t value) {
    switch (value.type) {
    case ZET_VALUE_TYPE_UINT32:
        return value.value.ui32;
    case ZET_VALUE_TYPE_UINT64:
        return (double)value.value.ui64;
    case ZET_VALUE_TYPE_FLOAT32:
        return (double)value.value.fp32;
    case ZET_VALUE_TYPE_FLOAT64:
        return value.value.fp64;
    default:
        return value.value.b8;
    }
}

double value_in(zet_metric_group_handle_t group, const zet_typed_value_t *set, const char *metric) {
    return number(set[index_of(group, metric)]);
}

zet_typed_value_t *calculate(zet_metric_group_handle_t group, const uint8_t *raw, size_t size,
                             uint32_t *sets) {
    uint32_t count = 0;
    ok(zetMetricGroupCalculateMetricValues(group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, size, raw,
                                           &count, NULL));
    zet_typed_value_t *values = (zet_typed_value_t *)calloc(count, sizeof *values);
    assert_non_null(values);
    ok(zetMetricGroupCalculateMetricValues(group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, size, raw,
                                           &count, values));
    *sets = count / metrics_in(group);
    return values;
}

void *newer_function(const char *name, const char *table, unsigned slot) {
    typedef ze_result_t (*fill_table)(ze_api_version_t version, void *table);
    void *found = dlsym(RTLD_DEFAULT, name);
    if (found)
        return found;
    void *driver = dlopen(driver_path(), RTLD_NOW | RTLD_NOLOAD);
    assert_non_null(driver);
    fill_table fill;
    *(void **)&fill = dlsym(driver, table);
    assert_non_null((void *)(uintptr_t)fill);
    void *functions[64] = {NULL};
    ok(fill((ze_api_version_t)ZE_MAKE_VERSION(1, 17), functions));
    dlclose(driver);
    assert_non_null(functions[slot]);
    return functions[slot];
}

/* Here, because the variant `fast` compiles fixture.c with -ffast-math. */
void assert_close_(double got, double expected, const char *what, const char *file, int line) {
    double scale = fabs(got) > fabs(expected) ? fabs(got) : fabs(expected);
    if ((isnan(got) && isnan(expected)) || fabs(got - expected) <= 1e-9 * scale)
        return;
    print_error("%s: %.17g, not %.17g\n", what, got, expected);
    _fail(file, line);
}
