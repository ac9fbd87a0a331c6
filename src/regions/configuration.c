/* Completes configurations: the environment and the defaults. */

#include "regions/configuration.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/platform.h"
#include "base/text.h"
#include "regions/profiler.h"

ZT__PRIVATE int zt__is_phases_at(const char *value) {
    return value && (strcmp(value, "append") == 0 || strcmp(value, "submit") == 0);
}

ZT__PRIVATE zt_config zt__complete_config(const zt_config *given) {
    const char *groups = zt__get_variable("ZT_GROUPS"), *metrics = zt__get_variable("ZT_METRICS"),
               *columns = zt__get_variable("ZT_COLUMNS"), *baseline = zt__get_variable("ZT_BASELINE"),
               *timeline = zt__get_variable("ZT_TIMELINE"), *phases_at = zt__get_variable("ZT_PHASES_AT"),
               *power = zt__get_variable("ZT_POWER");
    zt_config config;
    memset(&config, 0, sizeof config);
    if (given) {
        config = *given;
    }
    if (!config.probes_per_step) {
        config.probes_per_step = 256;
    }
    if (!config.max_probes) {
        config.max_probes = 16384;
    }
    if (!config.max_passes) {
        config.max_passes = 1;
    }
    if (!zt__is_positive(config.pass_tolerance)) {
        config.pass_tolerance = 0.1;
    }
    if (!config.wait_timeout_ns) {
        config.wait_timeout_ns = 1000000000u;
    }
    if (groups || metrics) {
        config.groups = groups;
        config.metrics = metrics;
    }
    if (columns) {
        config.columns = columns;
    }
    if (baseline) {
        config.baseline = baseline;
    }
    if (zt__is_uint32(timeline)) {
        config.timeline = (uint32_t)strtoull(timeline, NULL, 10);
    }
    if (zt__is_phases_at(phases_at)) {
        config.phases_at_append = strcmp(phases_at, "append") == 0;
    }
    if (power && *power) {
        config.power = !zt__is_off(power);
    }
    if (!config.log) {
        config.log = zt__default_log();
    }
    if (config.samples > ZT__MAX_SAMPLES) {
        config.samples = ZT__MAX_SAMPLES;
    }
    if (!config.allocator.allocate) {
        config.allocator = zt__default_allocator;
    }
    return config;
}

ZT__PRIVATE int zt__keep_columns(zt_profiler *profiler, const zt_config *config) {
    const char *columns = config->columns ? config->columns : config->metrics;
    if (!zt__has_names(columns)) {
        return 1;
    }
    profiler->columns = zt__duplicate_text(&config->allocator, columns);
    return profiler->columns != NULL;
}
