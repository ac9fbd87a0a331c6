/* Energy, clock, throttling and temperature, which a thread of the library's own reads by system management (zes...). */

#include "streams/power.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/platform.h"
#include "base/shared.h"
#include "base/threads.h"
#include "metrics/driver.h"
#include "regions/profiler.h"
#include "regions/reporting.h"
#include "results/results.h"

enum {
    ZT__MOST_COMPONENTS = 16,
    ZT__SHORTEST_READING_NS = 10000000,
    ZT__LONGEST_READING_NS = 100000000 /* what Intel advises */
};

/* ---- what can be read ------------------------------------------------------------------------------------ */

/* zes_power_ext_properties_t, which old headers do not have. */
typedef struct zt__power_domain {
    uint32_t stype;
    void *next;
    uint32_t domain;
    void *default_limit;
} zt__power_domain;

/* The device of a profiler in system management. */
typedef struct zt__managed_device {
    zes_device_handle_t handle;
    int is_tile;
    uint32_t tile;
} zt__managed_device;

/* Why a device is not found in system management. */
typedef struct zt__obstacle {
    char text[128];
    ze_result_t result;
    const char *remedy;
} zt__obstacle;

/* Returns whether a call has succeeded; else it is the obstacle. */
static int zt__pass_obstacle(zt__obstacle *obstacle, ze_result_t result, const char *call) {
    if (result != ZE_RESULT_SUCCESS) {
        snprintf(obstacle->text, sizeof obstacle->text, "%s failed: %s", call, zt_result_name(result));
        obstacle->result = result;
    }
    return result == ZE_RESULT_SUCCESS;
}

/* Returns the handle of a root device in system management, or NULL, and then stores why. */
static zes_device_handle_t zt__find_managed(const zt__driver *driver, ze_device_handle_t root,
                                            zt__obstacle *obstacle) {
    enum { MOST_DRIVERS = 16, MOST_DEVICES = 256 };
    zes_driver_handle_t drivers[MOST_DRIVERS + 1] = {NULL}; /* ends with NULL */
    ze_device_properties_t core;
    uint32_t i, j, count = MOST_DRIVERS;
    memset(&core, 0, sizeof core);
    core.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
    strcpy(obstacle->text, "zeDeviceGet lists no such device");
    obstacle->result = ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    obstacle->remedy = "Update the driver.";
    if (!root || !zt__pass_obstacle(obstacle, zeDeviceGetProperties(root, &core), "zeDeviceGetProperties")) {
        return NULL;
    }
    if (zt__is_management_of_core()) {
        return (zes_device_handle_t)root;
    }
    if (!driver->zesInit || !driver->zesDriverGet || !driver->zesDeviceGet ||
        !driver->zesDeviceGetProperties) {
        strcpy(obstacle->text, "this loader has no zesInit");
        obstacle->remedy = "Update it, or set ZES_ENABLE_SYSMAN=1 before zeInit.";
        return NULL;
    }
    strcpy(obstacle->text, "zesDeviceGet lists no such device");
    if (!zt__pass_obstacle(obstacle, zt__init_management(driver), "zesInit") ||
        !zt__pass_obstacle(obstacle, driver->zesDriverGet(&count, drivers), "zesDriverGet")) {
        return NULL;
    }
    for (i = 0; drivers[i]; i++) {
        zes_device_handle_t devices[MOST_DEVICES + 1] = {NULL};
        count = MOST_DEVICES;
        zt__pass_obstacle(obstacle, driver->zesDeviceGet(drivers[i], &count, devices), "zesDeviceGet");
        for (j = 0; devices[j]; j++) {
            zes_device_properties_t properties;
            memset(&properties, 0, sizeof properties);
            properties.stype = ZES_STRUCTURE_TYPE_DEVICE_PROPERTIES;
            properties.core.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
            if (zt__pass_obstacle(obstacle, driver->zesDeviceGetProperties(devices[j], &properties),
                                  "zesDeviceGetProperties") &&
                memcmp(&properties.core.uuid, &core.uuid, sizeof core.uuid) == 0) {
                return devices[j];
            }
        }
    }
    return NULL;
}

/* Returns how well a component stands for a device, which may be a tile: 0 not at all, more is better. */
static uint32_t zt__rate_component(const zt__managed_device *device, int is_on_tile, uint32_t tile) {
    if (is_on_tile && device->is_tile) {
        return tile == device->tile ? 2 : 0;
    }
    return is_on_tile == device->is_tile ? 2 : 1;
}

/* Finds the energy counter of the widest domain that can be read. If there is none, stores why. */
static void zt__find_energy_counter(const zt__driver *driver, const zt__managed_device *device,
                                    zt__power *power, zt__obstacle *obstacle) {
    static const char *const names[] = {"device", "card", "package", "stack", "memory", "GPU"};
    static const uint32_t ranks[] = {2, 5, 4, 3, 0, 1}; /* that of memory leaves the rest out */
    enum { EXTENDED_STYPE = 0x28 };
    zes_pwr_handle_t domains[ZT__MOST_COMPONENTS + 1] = {NULL};
    uint32_t i, best = 0, count = ZT__MOST_COMPONENTS;
    strcpy(obstacle->text, "zesDeviceEnumPowerDomains lists none");
    obstacle->result = ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    if (!driver->zesDeviceEnumPowerDomains || !driver->zesPowerGetProperties ||
        !driver->zesPowerGetEnergyCounter ||
        !zt__pass_obstacle(obstacle, driver->zesDeviceEnumPowerDomains(device->handle, &count, domains),
                           "zesDeviceEnumPowerDomains")) {
        return;
    }
    for (i = 0; domains[i]; i++) {
        zes_power_energy_counter_t counter;
        zes_power_properties_t properties;
        zt__power_domain extended;
        uint32_t rank;
        memset(&extended, 0, sizeof extended);
        memset(&properties, 0, sizeof properties);
        extended.stype = EXTENDED_STYPE;
        properties.stype = ZES_STRUCTURE_TYPE_POWER_PROPERTIES;
        properties.pNext = &extended;
        if (!zt__pass_obstacle(obstacle, driver->zesPowerGetProperties(domains[i], &properties),
                               "zesPowerGetProperties")) {
            continue;
        }
        if (extended.domain >= ZT__COUNT_OF(ranks)) {
            extended.domain = 0;
        }
        rank = zt__rate_component(device, properties.onSubdevice != 0, properties.subdeviceId);
        rank = rank ? rank * ZT__COUNT_OF(ranks) + ranks[extended.domain] : 0;
        if (rank > best && ranks[extended.domain]) {
            memset(&counter, 0, sizeof counter);
            if (zt__pass_obstacle(obstacle, driver->zesPowerGetEnergyCounter(domains[i], &counter),
                                  "zesPowerGetEnergyCounter")) {
                best = rank;
                power->domain = domains[i];
                power->domain_name = names[extended.domain];
            }
        }
    }
}

/* Reads an energy counter that the kernel driver shows as a file. Returns 0 if there is none. */
static int zt__read_energy_file(const char *path, uint64_t *microjoules) {
    char text[32];
    FILE *file = zt__open_file(path, ZT__TO_READ);
    int is_read = file && fgets(text, sizeof text, file) && text[0] >= '0' && text[0] <= '9';
    if (file) {
        fclose(file);
    }
    *microjoules = is_read ? strtoull(text, NULL, 10) : 0;
    return is_read;
}

/* Finds the energy counter of the card among the sensors of Linux. All users may read it, where Intel's driver needs
   rights of root. */
static void zt__find_energy_file(const zt_profiler *profiler, zt__power *power) {
    enum { MOST_SENSORS = 64 }; /* of the system: they are numbered in any order */
    uint64_t microjoules;
    uint32_t i;
    for (i = 0; i < MOST_SENSORS && profiler->facts.pci_address[0]; i++) {
        char path[sizeof power->energy_file];
        snprintf(path, sizeof path, "/sys/bus/pci/devices/%.31s/hwmon/hwmon%u/energy1_input",
                 profiler->facts.pci_address, (unsigned)i);
        if (zt__read_energy_file(path, &microjoules)) {
            strcpy(power->energy_file, path);
            power->domain_name = "card";
            return;
        }
    }
}

/* Finds the clock of the GPU. */
static void zt__find_clock(const zt__driver *driver, const zt__managed_device *device, zt__power *power) {
    zes_freq_handle_t domains[ZT__MOST_COMPONENTS + 1] = {NULL};
    uint32_t i, best = 0, count = ZT__MOST_COMPONENTS;
    if (!driver->zesDeviceEnumFrequencyDomains || !driver->zesFrequencyGetProperties ||
        !driver->zesFrequencyGetState ||
        driver->zesDeviceEnumFrequencyDomains(device->handle, &count, domains) != ZE_RESULT_SUCCESS) {
        return;
    }
    for (i = 0; domains[i]; i++) {
        zes_freq_properties_t properties;
        zes_freq_state_t state;
        uint32_t rank;
        memset(&properties, 0, sizeof properties);
        memset(&state, 0, sizeof state);
        properties.stype = ZES_STRUCTURE_TYPE_FREQ_PROPERTIES;
        state.stype = ZES_STRUCTURE_TYPE_FREQ_STATE;
        if (driver->zesFrequencyGetProperties(domains[i], &properties) != ZE_RESULT_SUCCESS ||
            properties.type != ZES_FREQ_DOMAIN_GPU) {
            continue;
        }
        rank = zt__rate_component(device, properties.onSubdevice != 0, properties.subdeviceId);
        if (rank > best && driver->zesFrequencyGetState(domains[i], &state) == ZE_RESULT_SUCCESS) {
            best = rank;
            power->clock = domains[i];
        }
    }
}

/* Finds the sensor of the GPU's temperature, or else that of the hottest place. */
static void zt__find_sensor(const zt__driver *driver, const zt__managed_device *device, zt__power *power) {
    zes_temp_handle_t sensors[ZT__MOST_COMPONENTS + 1] = {NULL};
    uint32_t i, best = 0, count = ZT__MOST_COMPONENTS;
    if (!driver->zesDeviceEnumTemperatureSensors || !driver->zesTemperatureGetProperties ||
        !driver->zesTemperatureGetState ||
        driver->zesDeviceEnumTemperatureSensors(device->handle, &count, sensors) != ZE_RESULT_SUCCESS) {
        return;
    }
    for (i = 0; sensors[i]; i++) {
        zes_temp_properties_t properties;
        double celsius;
        uint32_t rank;
        memset(&properties, 0, sizeof properties);
        properties.stype = ZES_STRUCTURE_TYPE_TEMP_PROPERTIES;
        if (driver->zesTemperatureGetProperties(sensors[i], &properties) != ZE_RESULT_SUCCESS ||
            (properties.type != ZES_TEMP_SENSORS_GPU && properties.type != ZES_TEMP_SENSORS_GLOBAL)) {
            continue;
        }
        rank = 2 * zt__rate_component(device, properties.onSubdevice != 0, properties.subdeviceId);
        rank += rank && properties.type == ZES_TEMP_SENSORS_GPU;
        if (rank > best && driver->zesTemperatureGetState(sensors[i], &celsius) == ZE_RESULT_SUCCESS) {
            best = rank;
            power->sensor = sensors[i];
        }
    }
}

/* ---- sums: with the mutex held --------------------------------------------------------------------------- */

/* Stores the sums up to a host time, interpolated between two steps, and how far apart these are; 0 for the time of a
   step. `extrapolates`: after the last step, too, as far as that is from the one before. Returns 0 if there are no such
   steps. */
static int zt__sum_up_to(const zt__power *power, uint64_t ns, int extrapolates, zt__power_sums *sums,
                         uint64_t *distance_ns) {
    const zt__power_step *steps = power->steps;
    uint32_t i = power->step_count;
    zt__power_sums change;
    memset(sums, 0, sizeof *sums);
    while (i > 0 && steps[i - 1].ns >= ns) {
        i--;
    }
    if (i < power->step_count && steps[i].ns == ns) {
        *sums = steps[i].sums;
        *distance_ns = 0;
        return 1;
    }
    if (i == 0) {
        return 0;
    }
    if (i == power->step_count) {
        i--;
        if (!extrapolates || i == 0 || ns - steps[i].ns > steps[i].ns - steps[i - 1].ns) {
            return 0;
        }
    }
    *distance_ns = steps[i].ns - steps[i - 1].ns;
    /* What does not change between the steps is not rounded, so that a difference of two sums may be 0. */
    change = steps[i].sums;
    zt__add_power(&change, &steps[i - 1].sums, -1);
    *sums = steps[i - 1].sums;
    zt__add_power(sums, &change, (double)(ns - steps[i - 1].ns) / (double)*distance_ns);
    return 1;
}

/* Adds what is known of the oldest phase that has ended to its path. One that is shorter than the steps in which it
   begins and ends adds its length alone. Returns 0 if its energy is not known yet. */
static int zt__settle_span(zt__power *power, const zt__power_span *span, int is_final) {
    uint64_t begin_step_ns, end_step_ns, length_ns = span->end_ns - span->begin_ns;
    zt__power_sums begin, end;
    if (!zt__sum_up_to(power, span->end_ns, is_final, &end, &end_step_ns)) {
        return 0;
    }
    span->path->power_s += (double)length_ns * 1e-9;
    if (zt__sum_up_to(power, span->begin_ns, 0, &begin, &begin_step_ns) && length_ns >= begin_step_ns &&
        length_ns >= end_step_ns) {
        zt__add_power(&span->path->power, &end, 1);
        zt__add_power(&span->path->power, &begin, -1);
    }
    return 1;
}

static void zt__remove_oldest_span(zt__power *power) {
    power->first_span = (power->first_span + 1) % ZT__POWER_SPANS;
    power->span_count--;
}

static void zt__settle_spans(zt__power *power, int is_final) {
    while (power->span_count > 0 && zt__settle_span(power, &power->spans[power->first_span], is_final)) {
        zt__remove_oldest_span(power);
    }
}

/* Keeps a phase that has ended until its energy is known. The mutex is held. */
static void zt__keep_span(zt_profiler *profiler, zt__path *path, uint64_t begin_ns, uint64_t end_ns) {
    zt__power *power = profiler->power;
    zt__power_span *span;
    if (end_ns - begin_ns < ZT__SHORTEST_READING_NS) { /* steps are never closer to each other */
        path->power_s += (double)(end_ns - begin_ns) * 1e-9;
        return;
    }
    if (power->span_count == ZT__POWER_SPANS) {
        span = &power->spans[power->first_span];
        span->path->power_s += (double)(span->end_ns - span->begin_ns) * 1e-9;
        zt__remove_oldest_span(power);
    }
    span = &power->spans[(power->first_span + power->span_count++) % ZT__POWER_SPANS];
    span->path = path;
    span->begin_ns = begin_ns;
    span->end_ns = end_ns;
}

/* ---- readings -------------------------------------------------------------------------------------------- */

/* One reading. What has failed is NaN, or `is_counted` is 0. */
typedef struct zt__power_reading {
    uint64_t ns; /* host time */
    int is_counted;
    uint64_t counted;
    double megahertz; /* 0, or less: the clock stands still, or is not known */
    int has_clock;
    uint32_t reasons; /* for throttling, as zes_freq_throttle_reason_flags_t */
    double celsius;
} zt__power_reading;

/* Adds a step. If there is no room, half of the older ones are left out: phases that have begun long ago are long. */
static void zt__add_power_step(zt__power *power, const zt__power_reading *reading) {
    zt__power_step *step;
    if (power->step_count == ZT__POWER_STEPS) {
        uint32_t from, to = 1;
        for (from = 2; from < ZT__POWER_STEPS; from += from < ZT__POWER_STEPS / 2 ? 2 : 1) {
            power->steps[to++] = power->steps[from];
        }
        power->step_count = to;
    }
    step = &power->steps[power->step_count++];
    step->ns = reading->ns;
    step->sums = power->sums;
    step->celsius = reading->celsius;
}

/* Adds the state of clock and sensor. It counts for the time since the reading before. */
static void zt__add_state(zt__power *power, const zt__power_reading *reading) {
    double seconds = power->step_count ? (double)(reading->ns - power->read_ns) * 1e-9 : 0;
    uint32_t i;
    if (reading->has_clock) {
        power->sums.clock_s += seconds;
        power->sums.throttled_s += reading->reasons ? seconds : 0;
        for (i = 0; i < ZT_THROTTLE_REASONS; i++) {
            power->sums.throttled_by_s[i] += reading->reasons >> i & 1 ? seconds : 0;
        }
    }
    if (reading->has_clock && reading->megahertz > 0) {
        power->sums.megahertz_s += reading->megahertz * seconds;
        power->sums.awake_s += seconds;
    }
    if (zt__is_nan(power->max_celsius) || reading->celsius > power->max_celsius) {
        power->max_celsius = reading->celsius;
    }
}

/* Adds a reading, with the mutex held. The energy counter of the B580 has 32 bits and turns at 262,144 J. Drivers return
   smaller values otherwise, too: what was taken meanwhile is then not known. */
static void zt__add_reading(zt__power *power, const zt__power_reading *reading) {
    const uint64_t turn = UINT64_C(262144000000), quarter = turn / 4, still_ns = UINT64_C(1000000000);
    uint64_t before = power->counted, now = reading->counted, since_ns = 0;
    int is_change = 0, is_known = 0, is_step = 1;
    zt__add_state(power, reading);
    if (power->step_count > 0) {
        since_ns = reading->ns - power->steps[power->step_count - 1].ns;
    }
    if (reading->is_counted && power->is_counted && power->step_count > 0) {
        if (now < before && before >= 3 * quarter && before <= turn && now < quarter) {
            now += turn;
        }
        is_change = now != before;
        is_known = now > before || (now == before && power->has_changed);
        is_step = is_change || since_ns >= still_ns;
    }
    if (is_step) {
        if (is_known) {
            power->sums.joules += (double)(now - before) * 1e-6;
            power->sums.energy_s += (double)since_ns * 1e-9;
        }
        if (is_known && is_change && power->is_step_of_energy && since_ns < power->shortest_step_ns) {
            power->shortest_step_ns = since_ns;
        }
        power->has_changed |= is_change;
        power->is_step_of_energy = is_change;
        zt__add_power_step(power, reading);
    }
    power->read_ns = reading->ns;
    power->counted = reading->counted;
    power->is_counted = reading->is_counted;
}

/* Reads all that can be read. The reader is held. */
static void zt__read_power(zt_profiler *profiler) {
    zt__power *power = profiler->power;
    const zt__driver *driver = &profiler->driver;
    zes_power_energy_counter_t counter;
    zes_freq_state_t state;
    zt__power_reading reading;
    uint64_t before = zt__now_ns();
    if (zt__is_device_lost(&profiler->diagnostics)) {
        return;
    }
    memset(&reading, 0, sizeof reading);
    memset(&counter, 0, sizeof counter);
    memset(&state, 0, sizeof state);
    state.stype = ZES_STRUCTURE_TYPE_FREQ_STATE;
    if (power->domain) {
        reading.is_counted = driver->zesPowerGetEnergyCounter(power->domain, &counter) == ZE_RESULT_SUCCESS;
        reading.counted = counter.energy;
    } else if (power->energy_file[0]) {
        reading.is_counted = zt__read_energy_file(power->energy_file, &reading.counted);
    }
    reading.ns = before + (zt__now_ns() - before) / 2;
    reading.has_clock =
        power->clock && driver->zesFrequencyGetState(power->clock, &state) == ZE_RESULT_SUCCESS;
    reading.megahertz = state.actual;
    reading.reasons = (uint32_t)state.throttleReasons;
    if (!power->sensor ||
        driver->zesTemperatureGetState(power->sensor, &reading.celsius) != ZE_RESULT_SUCCESS) {
        reading.celsius = zt__nan();
    }
    zt__lock(&profiler->mutex);
    zt__add_reading(power, &reading);
    zt__settle_spans(power, 0);
    zt__unlock(&profiler->mutex);
}

/* Returns how long to wait between two readings: a quarter of a step of the counter, within bounds. Until a step has
   been seen, it may be as long as it has taken so far. */
static uint64_t zt__reading_interval(const zt__power *power) {
    uint64_t step_ns = power->shortest_step_ns, interval_ns;
    if (!power->domain_name) {
        return ZT__LONGEST_READING_NS;
    }
    interval_ns = (step_ns == UINT64_MAX ? power->read_ns - power->opened_ns : step_ns) / 4;
    if (interval_ns > ZT__LONGEST_READING_NS) {
        interval_ns = ZT__LONGEST_READING_NS;
    }
    if (interval_ns < ZT__SHORTEST_READING_NS) {
        interval_ns = ZT__SHORTEST_READING_NS;
    }
    return interval_ns;
}

/* A step of the thread. */
static int zt__run_power_thread(void *user) {
    zt_profiler *profiler = (zt_profiler *)user;
    zt__power *power = profiler->power;
    uint64_t interval_ns = ZT__SHORTEST_READING_NS;
    if (zt__try_lock(&power->reader)) {
        interval_ns = zt__reading_interval(power);
        if (zt__now_ns() - power->read_ns >= interval_ns) {
            zt__read_power(profiler);
            interval_ns = zt__reading_interval(power);
        }
        zt__unlock_timed(&power->reader);
    }
    zt__sleep_thread(&power->thread, interval_ns);
    return 1;
}

ZT__PRIVATE void zt__update_power(zt_profiler *profiler) {
    zt__power *power = profiler->power;
    if (!power || !power->opened_ns ||
        !zt__lock_until(&power->reader, zt__deadline(profiler->config.wait_timeout_ns))) {
        return;
    }
    if (zt__now_ns() - power->read_ns >= ZT__SHORTEST_READING_NS) {
        zt__read_power(profiler);
    }
    zt__unlock_timed(&power->reader);
}

ZT__PRIVATE void zt__finish_power(zt_profiler *profiler) {
    zt__update_power(profiler);
    if (profiler->power) {
        zt__lock(&profiler->mutex);
        zt__settle_spans(profiler->power, 1);
        zt__unlock(&profiler->mutex);
    }
}

/* ---- results --------------------------------------------------------------------------------------------- */

/* Returns the profiler that has read what reports of another show. NULL: none. */
static zt_profiler *zt__read_power_of(const zt_profiler *profiler) {
    return profiler && profiler->joined ? profiler->joined->power : zt__mutable(profiler);
}

ZT__PRIVATE int zt__has_power(const zt_profiler *profiler) {
    const zt_profiler *reader = zt__read_power_of(profiler);
    return reader && reader->power;
}

ZT__PRIVATE zt_power_info zt__get_power_info(const zt_profiler *profiler) {
    zt_profiler *locked = zt__read_power_of(profiler);
    const zt__power *power = locked ? locked->power : NULL;
    zt__power_sums sums;
    zt_power_info info;
    memset(&info, 0, sizeof info);
    memset(&sums, 0, sizeof sums);
    info.text = info.domain = "";
    info.max_celsius = zt__nan();
    if (power) {
        zt__lock(&locked->mutex);
        info.text = power->refusal.text;
        info.domain = power->domain_name ? power->domain_name : "";
        info.max_celsius = power->max_celsius;
        if (power->step_count > 0) {
            const zt__power_step *last = &power->steps[power->step_count - 1];
            info.seconds = (double)(last->ns - power->steps[0].ns) * 1e-9;
            sums = last->sums;
        }
        zt__unlock(&locked->mutex);
    }
    zt__divide_power(&sums, info.seconds, &info.joules, &info.watts, &info.throttled, info.throttled_by,
                     &info.mhz);
    return info;
}

ZT__PRIVATE int zt__copy_power_step(zt_profiler *profiler, uint32_t index, zt__power_step *step) {
    const zt__power *power = profiler->power;
    int is_there = 0;
    if (power) {
        zt__lock(&profiler->mutex);
        is_there = index < power->step_count;
        if (is_there) {
            *step = power->steps[index];
        }
        zt__unlock(&profiler->mutex);
    }
    return is_there;
}

/* ---- opening and closing --------------------------------------------------------------------------------- */

/* Finds what can be read, and reports what cannot. */
static void zt__find_components(zt_profiler *profiler, zt__power *power) {
    ze_device_handle_t root = zt__find_root_device(profiler->device);
    zt__managed_device device = {NULL, root != profiler->device, 0};
    ze_device_properties_t properties;
    zt__obstacle obstacle;
    memset(&properties, 0, sizeof properties);
    properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
    if (zeDeviceGetProperties(profiler->device, &properties) == ZE_RESULT_SUCCESS) {
        device.tile = properties.subdeviceId;
    }
    device.handle = zt__find_managed(&profiler->driver, root, &obstacle);
    if (!device.handle) {
        zt__find_energy_file(profiler, power);
        zt__report(&profiler->diagnostics, NO_POWER, obstacle.result, obstacle.text, obstacle.remedy);
        power->refusal = profiler->diagnostics.last;
        return;
    }
    zt__find_energy_counter(&profiler->driver, &device, power, &obstacle);
    zt__find_clock(&profiler->driver, &device, power);
    zt__find_sensor(&profiler->driver, &device, power);
    if (!power->domain) {
        zt__find_energy_file(profiler, power);
    }
    if (!power->domain_name) {
        zt__report(&profiler->diagnostics, NO_ENERGY, obstacle.result, obstacle.text,
                   obstacle.result == ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS
                       ? "On this system, root alone may read it: run as root."
                       : "Run as root, or update the driver.");
        power->refusal = profiler->diagnostics.last;
    }
}

ZT__PRIVATE ze_result_t zt__open_power(zt_profiler *profiler) {
    zt__power *power = (zt__power *)zt__allocate(&profiler->config.allocator, 1, sizeof *power);
    if (!power) {
        return zt__report_no_memory(&profiler->diagnostics, "zt_open", "readings of energy");
    }
    zt__create_mutex(&power->reader.mutex);
    power->shortest_step_ns = UINT64_MAX;
    power->max_celsius = zt__nan();
    profiler->power = power;
    zt__find_components(profiler, power);
    if (power->domain_name || power->clock || power->sensor) {
        zt__read_power(profiler);
        power->opened_ns = power->read_ns;
        profiler->phase_took = zt__keep_span;
    }
    return ZE_RESULT_SUCCESS;
}

ZT__PRIVATE void zt__start_power(zt_profiler *profiler) {
    zt__power *power = profiler->power;
    if (power && power->opened_ns && !zt__start_thread(&power->thread, zt__run_power_thread, profiler)) {
        zt__report(&profiler->diagnostics, NO_POWER_THREAD, ZE_RESULT_ERROR_NOT_AVAILABLE);
    }
}

ZT__PRIVATE int zt__stop_power(zt_profiler *profiler) {
    return !profiler->power || zt__stop_thread(&profiler->power->thread);
}

ZT__PRIVATE void zt__close_power(zt_profiler *profiler) {
    zt__power *power = profiler->power;
    profiler->power = NULL;
    if (power) {
        zt__destroy_mutex(&power->reader.mutex);
        zt__free(&profiler->config.allocator, power);
    }
}
