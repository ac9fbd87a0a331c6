/* Metric groups read by hand, for tests of the software device's own metrics. */
#ifndef TESTS_VALUES_H
#define TESTS_VALUES_H

#include "fixture.h"

enum {
    BY_EVENT = ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED,
    BY_TIME = ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED
};

/* The group of any device; NULL where it is not listed. */
zet_metric_group_handle_t group_of(ze_device_handle_t device, const char *name, unsigned sampling);

void activate(world *w, ze_device_handle_t device, uint32_t count, zet_metric_group_handle_t *groups);
void activate_one(world *w, zet_metric_group_handle_t group);
void deactivate(world *w, ze_device_handle_t device);

uint32_t metrics_in(zet_metric_group_handle_t group);
zet_metric_properties_t metric_at(zet_metric_group_handle_t group, uint32_t index);
uint32_t index_of(zet_metric_group_handle_t group, const char *metric); /* fails where there is none */

/* One value as a number. */
double number(zet_typed_value_t value);
double value_in(zet_metric_group_handle_t group, const zet_typed_value_t *set, const char *metric);

/* All values of raw data; returns how many sets. The caller frees them. */
zet_typed_value_t *calculate(zet_metric_group_handle_t group, const uint8_t *raw, size_t size,
                             uint32_t *sets);

/* A function that the loader, or the headers, may be too old for: the loader's, or else the driver's own. */
void *newer_function(const char *name, const char *table, unsigned slot);

#endif
