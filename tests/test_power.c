/* Energy, clock, throttling and temperature, of the whole run and by phase. The clock of the library is held: what a
   test lets pass is all that passes. */
#define _GNU_SOURCE
#include "perfetto.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t ms = 1000000;

/* Bits of zes_freq_throttle_reason_flags_t. */
enum { AVE_PWR_CAP = 0, THERMAL_LIMIT = 3, PSU_ALERT = 4 };

/* What the device has now. */
static softgpu_power device;

/* Loaders without zesInit reach system management only where ZES_ENABLE_SYSMAN was set before zeInit. */
static int can_init(void) {
    return dlsym(RTLD_DEFAULT, "zesInit") != NULL;
}

static int open_power_world(void **state) {
    int result = open_world(state);
    device = (softgpu_power){.microjoules = 5000000000, .megahertz = 2000, .celsius = 50};
    gpu.set_power(&device);
    if (!can_init()) {
        gpu.behave(SOFTGPU_SYSMAN_OF_CORE, 1);
        setenv("ZES_ENABLE_SYSMAN", "1", 1);
    }
    return result;
}

static int close_power_world(void **state) {
    unsetenv("ZES_ENABLE_SYSMAN");
    unsetenv("ZT_POWER");
    return close_world(state);
}

#undef TEST
#define TEST(function) cmocka_unit_test_setup_teardown(function, open_power_world, close_power_world)

static zt_config power_config(world *w) {
    zt_config config = config_of(w);
    config.groups = "";
    config.power = 1;
    return config;
}

/* From here on, time is held. */
static zt_profiler *open_power(world *w) {
    zt_config config = power_config(w);
    hold_time(1);
    return open_profiler(w, &config);
}

/* After this time, the counter has changed by so many joules, and is read, unless it is less than 10 ms: so the thread has
   nothing to read before the next time passes. */
static void take(zt_profiler *profiler, uint64_t ns, double joules) {
    device.microjoules += (uint64_t)(int64_t)(joules * 1e6);
    gpu.set_power(&device);
    pass_time(ns);
    zt_get_info(profiler);
}

static zt_region_info phase_info(const zt_profiler *profiler, const char *name) {
    zt_region_info info;
    uint32_t index = zt_find_path(profiler, name);
    assert_true(index != UINT32_MAX);
    ok(zt_get_region(profiler, index, &info));
    return info;
}

static void expect_unknown(const zt_profiler *profiler, const char *name) {
    zt_region_info info = phase_info(profiler, name);
    assert_true(isnan(info.joules));
    assert_true(isnan(info.watts));
    assert_true(isnan(info.mhz));
    assert_true(isnan(info.throttled));
    assert_true(isnan(info.throttled_by[THERMAL_LIMIT]));
}

/* ==== phases ============================================================================================== */

static void test_energy_of_phases(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_power(w);
    zt_phase_begin("step");
    take(profiler, 100 * ms, 10);
    zt_phase_begin("solve");
    take(profiler, 100 * ms, 20);
    take(profiler, 200 * ms, 30);
    zt_phase_end();
    take(profiler, 100 * ms, 7);
    zt_phase_end();
    expect_unknown(profiler, "step"); /* the counter has not changed since */
    take(profiler, 100 * ms, 1);
    assert_close(phase_info(profiler, "step").joules, 67);
    assert_close(phase_info(profiler, "step").watts, 134);
    assert_close(phase_info(profiler, "step;solve").joules, 50);
    assert_close(phase_info(profiler, "solve").watts, 50 / 0.3);
    zt_power_info power = zt_get_info(profiler).power;
    assert_close(power.joules, 68);
    assert_close(power.seconds, 0.6);
    assert_close(power.watts, 68 / 0.6);
    assert_string_equal(power.domain, "card"); /* the package has half of it */
    assert_string_equal(power.text, "");
    assert_int_equal(w->message_count, 0);
    zt_phase_begin("step"); /* once more */
    take(profiler, 100 * ms, 3);
    zt_phase_end();
    take(profiler, 100 * ms, 1);
    assert_close(phase_info(profiler, "step").joules, 70);
    assert_close(phase_info(profiler, "step").watts, 70 / 0.6);
}

/* Begin and end are between two changes of the counter, and the energy is interpolated there. */
static void test_interpolated(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_power(w);
    take(profiler, 25 * ms, 0);
    zt_phase_begin("solve");
    take(profiler, 75 * ms, 10);
    take(profiler, 100 * ms, 20);
    take(profiler, 50 * ms, 0);
    zt_phase_end();
    expect_unknown(profiler, "solve");
    take(profiler, 50 * ms, 40);
    assert_close(phase_info(profiler, "solve").joules, 7.5 + 20 + 20);
    assert_close(phase_info(profiler, "solve").watts, 47.5 / 0.225);
}

/* The counter does not resolve a phase that is shorter than the steps in which it begins and ends. */
static void test_short_phases(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_power(w);
    zt_phase_begin("tiny");
    take(profiler, 1 * ms, 0);
    zt_phase_end();
    take(profiler, 19 * ms, 0);
    zt_phase_begin("inside");
    take(profiler, 60 * ms, 0);
    zt_phase_end();
    zt_phase_begin("across");
    take(profiler, 20 * ms, 10);
    take(profiler, 70 * ms, 0);
    zt_phase_end();
    take(profiler, 30 * ms, 10);
    take(profiler, 100 * ms, 10);
    expect_unknown(profiler, "tiny");
    expect_unknown(profiler, "inside");
    expect_unknown(profiler, "across");
    assert_true(strstr(written_report(profiler, ZT_FORMAT_TABLE), "energy") == NULL);
    /* Of entries that are long enough the power is known, the energy of all is not. */
    zt_phase_begin("inside");
    take(profiler, 100 * ms, 10);
    take(profiler, 100 * ms, 10);
    zt_phase_end();
    take(profiler, 100 * ms, 10);
    assert_true(isnan(phase_info(profiler, "inside").joules));
    assert_close(phase_info(profiler, "inside").watts, 100);
    assert_null(strstr(written_report(profiler, ZT_FORMAT_OPENMETRICS), "joules_total{phase=\"inside\""));
}

/* Each end counts by itself. */
static void test_steps_of_different_length(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_power(w);
    take(profiler, 100 * ms, 10);
    zt_phase_begin("ends in a long step");
    take(profiler, 150 * ms, 0);
    zt_phase_end();
    zt_phase_begin("begins in it");
    take(profiler, 150 * ms, 10);
    zt_phase_end();
    take(profiler, 100 * ms, 10);
    expect_unknown(profiler, "ends in a long step");
    expect_unknown(profiler, "begins in it");
}

/* For a report, the energy since the last change of the counter is extrapolated. */
static void test_extrapolated_for_a_report(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_power(w);
    zt_phase_begin("solve");
    take(profiler, 100 * ms, 10);
    take(profiler, 100 * ms, 10);
    pass_time(50 * ms);
    zt_phase_end();
    expect_unknown(profiler, "solve");
    const char *report = written_report(profiler, ZT_FORMAT_TABLE);
    assert_contains(report, "energy");
    assert_contains(report, "The card took 20.0 J in 0.2 s, 100.0 W.");
    assert_close(phase_info(profiler, "solve").joules, 25);
    take(profiler, 50 * ms, 5);
    zt_phase_begin("later"); /* not as far as this */
    pass_time(500 * ms);
    zt_phase_end();
    written_report(profiler, ZT_FORMAT_TABLE);
    expect_unknown(profiler, "later");
}

static void test_more_phases_than_are_kept(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_power(w);
    for (int i = 0; i < 3000; i++) { /* until their energy is known */
        zt_phase_begin("many");
        pass_time(10 * ms);
        zt_phase_end();
    }
    take(profiler, 10 * ms, 10);
    assert_int_equal(phase_info(profiler, "many").entered, 3000);
    expect_unknown(profiler, "many");
}

/* ==== the energy counter ================================================================================== */

/* That of the B580 turns at 262,144 J. */
static void test_a_turn_of_the_counter(void **state) {
    world *w = *state;
    device.microjoules = UINT64_C(262143000000);
    gpu.set_power(&device);
    zt_profiler *profiler = open_power(w);
    zt_phase_begin("solve");
    take(profiler, 100 * ms, 0.5);
    device.microjoules -= UINT64_C(262144000000);
    take(profiler, 100 * ms, 2.5);
    take(profiler, 100 * ms, 3);
    zt_phase_end();
    take(profiler, 100 * ms, 1);
    assert_close(phase_info(profiler, "solve").joules, 6);
    assert_close(zt_get_info(profiler).power.joules, 7);
}

/* What was taken is not known then. */
static void test_a_counter_that_goes_back(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_power(w);
    zt_phase_begin("solve");
    take(profiler, 100 * ms, 10);
    take(profiler, 100 * ms, -5);
    take(profiler, 100 * ms, 10);
    zt_phase_end();
    zt_phase_begin("output");
    take(profiler, 100 * ms, 12);
    take(profiler, 100 * ms, 12);
    zt_phase_end();
    take(profiler, 100 * ms, 10);
    assert_true(isnan(phase_info(profiler, "solve").joules));
    assert_close(phase_info(profiler, "solve").watts, 100); /* of the other two steps */
    assert_close(phase_info(profiler, "output").joules, 24);
    assert_true(isnan(zt_get_info(profiler).power.joules));
    assert_close(zt_get_info(profiler).power.watts, 54 / 0.5);
    assert_contains(written_report(profiler, ZT_FORMAT_TABLE),
                    "as far as its energy counter did not go back or fail");
}

/* A broken one: clock and throttling are known all the same. */
static void test_a_counter_that_never_changes(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_power(w);
    zt_phase_begin("solve");
    for (int i = 0; i < 40; i++)
        take(profiler, 100 * ms, 0);
    zt_phase_end();
    for (int i = 0; i < 20; i++)
        take(profiler, 100 * ms, 0);
    assert_true(isnan(phase_info(profiler, "solve").joules));
    assert_true(isnan(phase_info(profiler, "solve").watts));
    assert_close(phase_info(profiler, "solve").mhz, 2000);
    assert_true(isnan(zt_get_info(profiler).power.joules));
    zt_region_info none;
    assert_true(zt_get_region(profiler, UINT32_MAX, &none) != ZE_RESULT_SUCCESS);
    assert_true(isnan(none.throttled) && isnan(none.throttled_by[0]));
}

/* A device that sleeps takes nothing. */
static void test_a_counter_that_stands_still(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_power(w);
    take(profiler, 100 * ms, 10);
    zt_phase_begin("wait");
    for (int i = 0; i < 40; i++)
        take(profiler, 100 * ms, 0);
    zt_phase_end();
    for (int i = 0; i < 20; i++)
        take(profiler, 100 * ms, 0);
    assert_close(phase_info(profiler, "wait").joules, 0);
    assert_close(phase_info(profiler, "wait").watts, 0);
}

static void test_a_call_that_fails_once(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_power(w);
    zt_phase_begin("solve");
    take(profiler, 100 * ms, 10);
    inject("zesPowerGetEnergyCounter", 1, ZE_RESULT_ERROR_NOT_AVAILABLE);
    take(profiler, 100 * ms, 10);
    take(profiler, 100 * ms, 10);
    take(profiler, 100 * ms, 10);
    zt_phase_end();
    take(profiler, 100 * ms, 10);
    assert_true(isnan(phase_info(profiler, "solve").joules));
    assert_close(phase_info(profiler, "solve").watts, 100);
    assert_close(phase_info(profiler, "solve").mhz, 2000);
}

/* Steps of long ago are thinned out. */
static void test_a_long_run(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_power(w);
    zt_phase_begin("run");
    for (int i = 0; i < 5000; i++) {
        if (i == 4000)
            zt_phase_begin("end");
        take(profiler, 10 * ms, i < 4000 ? 1 : 9);
    }
    zt_phase_end();
    zt_phase_end();
    take(profiler, 10 * ms, 4);
    assert_close(phase_info(profiler, "run").joules, 4000 + 9 * 1000);
    assert_true(fabs(phase_info(profiler, "run;end").joules - 9 * 1000) < 8 * 8); /* within eight steps */
}

/* ==== clock, throttling, temperature ====================================================================== */

static void test_clock_and_throttling(void **state) {
    world *w = *state;
    zt_config config = power_config(w);
    config.columns = "throttled"; /* however little room there is */
    hold_time(1);
    zt_profiler *profiler = open_profiler(w, &config);
    take(profiler, 100 * ms, 1);
    zt_phase_begin("solve");
    take(profiler, 100 * ms, 1);
    device.megahertz = 1000;
    device.throttle_reasons = 1 << THERMAL_LIMIT;
    device.celsius = 91;
    take(profiler, 100 * ms, 1);
    device.throttle_reasons |= 1 << AVE_PWR_CAP;
    take(profiler, 100 * ms, 1);
    device.megahertz = 0; /* asleep */
    device.throttle_reasons = 0;
    device.celsius = 60;
    take(profiler, 100 * ms, 1);
    zt_phase_end();
    take(profiler, 100 * ms, 1);
    zt_region_info solve = phase_info(profiler, "solve");
    assert_close(solve.mhz, 4000. / 3);
    assert_close(solve.throttled, 0.5);
    assert_close(solve.throttled_by[THERMAL_LIMIT], 0.5);
    assert_close(solve.throttled_by[AVE_PWR_CAP], 0.25);
    assert_close(solve.throttled_by[PSU_ALERT], 0);
    zt_power_info power = zt_get_info(profiler).power;
    assert_close(power.throttled, 0.2 / 0.6);
    assert_close(power.throttled_by[THERMAL_LIMIT], 0.2 / 0.6);
    assert_close(power.throttled_by[AVE_PWR_CAP], 0.1 / 0.6);
    assert_close(power.throttled_by[PSU_ALERT], 0);
    assert_close(power.max_celsius, 91);
    const char *table = written_report(profiler, ZT_FORMAT_TABLE);
    assert_contains(table, "         50  temperature\n"); /* that held longest */
    assert_contains(table, "throttled for 33.3% of the time: average power (16.7%), temperature (33.3%).");
    assert_contains(table, "91 degrees C");
    const char *json = written_report(profiler, ZT_FORMAT_JSON);
    assert_contains(json, "\"throttled_by\":{\"average power\":0.25,\"temperature\":0.5}");
    assert_contains(json, "\"max_celsius\":91,");
    const char *csv = written_report(profiler, ZT_FORMAT_CSV);
    assert_contains(csv,
                    "\n\"solve\",\"throttled: temperature\",\"\",\"device\",\"percent\",ratio,mean,0,,50,");
    assert_contains(csv, "\n\"solve\",\"throttled: average power\",");
    assert_contains(csv, "\n\"\",\"throttled: temperature\",");
    assert_contains(csv, "\n\"\",\"temperature\",\"\",\"device\",\"degrees C\",raw,none,0,,,,,91,");
    assert_null(strstr(csv, "power supply"));
}

/* Begin and end between two steps leave nothing of the throttling before. */
static void test_no_longer_throttled(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_power(w);
    device.throttle_reasons = 1 << THERMAL_LIMIT;
    take(profiler, 100 * ms, 1);
    device.throttle_reasons = 0;
    for (uint64_t i = 0; i < 20; i++) {
        take(profiler, 13 * ms, 1);
        pass_time((i % 10) * ms);
        zt_phase_begin("solve");
        take(profiler, 71 * ms, 1);
        pass_time((i % 7) * ms);
        zt_phase_end();
        take(profiler, 29 * ms, 1);
    }
    zt_region_info solve = phase_info(profiler, "solve");
    assert_close(solve.throttled, 0);
    assert_true(solve.throttled <= 0);
    assert_true(solve.throttled_by[THERMAL_LIMIT] <= 0);
    assert_contains(written_report(profiler, ZT_FORMAT_JSON), "\"throttled\":0,\"throttled_by\":{}}");
}

/* ==== what cannot be read ================================================================================= */

static void test_without_permission(void **state) {
    world *w = *state;
    gpu.behave(SOFTGPU_ENERGY_OF_ROOT, 1);
    zt_profiler *profiler = open_power(w);
    assert_int_equal(heard(w, "INSUFFICIENT_PERMISSIONS"), 1);
    assert_int_equal(heard(w, "run as root"), 1);
    zt_phase_begin("solve");
    take(profiler, 100 * ms, 1);
    take(profiler, 100 * ms, 1);
    zt_phase_end();
    take(profiler, 100 * ms, 1);
    assert_true(isnan(phase_info(profiler, "solve").joules));
    assert_true(isnan(phase_info(profiler, "solve").watts));
    assert_close(phase_info(profiler, "solve").mhz, 2000);
    assert_contains(zt_get_info(profiler).power.text, "run as root");
    assert_contains(written_report(profiler, ZT_FORMAT_CSV), "run as root");
    assert_true(strstr(written_report(profiler, ZT_FORMAT_CSV), "\"energy\"") == NULL);
    assert_true(strstr(written_report(profiler, ZT_FORMAT_TABLE), "power\n") == NULL);
}

/* Linux may show energy where the driver does not. */
static void test_energy_from_a_file(void **state) {
    static const char *const refused[] = {"permission", "system management"};
    world *w = *state;
    for (int i = 0; i < 2; i++) {
        assume_energy("1000000000\n");
        w->message_count = 0;
        if (i == 0)
            gpu.behave(SOFTGPU_ENERGY_OF_ROOT, 1);
        else
            hide_symbol(can_init() ? "zesInit" : "zesDeviceEnumPowerDomains");
        zt_profiler *profiler = open_power(w);
        hide_symbol(NULL);
        zt_phase_begin(refused[i]);
        assume_energy("1010000000\n");
        take(profiler, 100 * ms, 0);
        zt_phase_end();
        assume_energy("1015000000\n");
        take(profiler, 100 * ms, 0);
        assert_close(phase_info(profiler, refused[i]).joules, 10);
        assert_string_equal(zt_get_info(profiler).power.domain, "card");
        assert_int_equal(heard(w, "zesPowerGetEnergyCounter"), 0);
        assume_energy("no number");
        take(profiler, 100 * ms, 0);
        assert_true(isnan(zt_get_info(profiler).power.joules));
        hold_time(0);
        close_profiler(w, profiler);
    }
}

static void expect_nothing(world *w, const char *why) {
    zt_profiler *profiler = open_power(w);
    assert_int_equal(heard(w, why), 1);
    zt_phase_begin("solve");
    take(profiler, 100 * ms, 1);
    take(profiler, 100 * ms, 1);
    zt_phase_end();
    take(profiler, 100 * ms, 1);
    expect_unknown(profiler, "solve");
    assert_contains(zt_get_info(profiler).power.text, why);
    assert_true(isnan(zt_get_info(profiler).power.joules));
    assert_contains(written_report(profiler, ZT_FORMAT_CSV), why);
}

/* A second driver has a device of the same UUID, which answers where the first fails. */
static void skip_with_two_drivers(void) {
    const char *drivers = getenv("ZE_ENABLE_ALT_DRIVERS");
    if (drivers && strchr(drivers, ',')) {
        puts("skipped: the second driver knows the device too");
        skip();
    }
}

/* The last test: some loaders call no zesInit again that has failed. */
static void test_without_system_management(void **state) {
    world *w = *state;
    skip_with_two_drivers();
    if (can_init()) {
        gpu.behave(SOFTGPU_NO_SYSMAN, 1);
        expect_nothing(w, "zesInit failed: ZE_RESULT_ERROR_UNINITIALIZED");
    } else {
        unsetenv("ZES_ENABLE_SYSMAN");
        expect_nothing(w, "this loader has no zesInit");
    }
}

static void test_a_device_that_is_not_known(void **state) {
    world *w = *state;
    skip_with_two_drivers();
    if (!can_init()) {
        puts("skipped: this loader has no zesInit");
        skip();
    }
    inject("zesDeviceGetProperties", 1, ZE_RESULT_ERROR_UNKNOWN);
    expect_nothing(w, "zesDeviceGetProperties failed: ZE_RESULT_ERROR_UNKNOWN");
}

static void test_a_device_with_nothing(void **state) {
    world *w = *state;
    inject("zesDeviceEnumPowerDomains", 1, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    inject("zesDeviceEnumFrequencyDomains", 1, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    inject("zesDeviceEnumTemperatureSensors", 1, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    expect_nothing(w, "UNSUPPORTED_FEATURE");
}

/* A tile has no counter of its own here: that of its device counts. */
static void test_a_tile(void **state) {
    world *w = *state;
    zt_config config = power_config(w);
    ze_device_handle_t tiles[2];
    uint32_t count = 2;
    gpu.set_devices(1, 2);
    ok(zeDeviceGetSubDevices(w->device, &count, tiles));
    hold_time(1);
    zt_profiler *profiler = open_on(w, tiles[1], &config);
    zt_phase_begin("solve");
    take(profiler, 100 * ms, 10);
    zt_phase_end();
    take(profiler, 100 * ms, 10);
    assert_close(phase_info(profiler, "solve").joules, 10);
}

static void test_a_lost_device(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_power(w);
    take(profiler, 100 * ms, 10);
    gpu.lose_device();
    zt_region region = zt_begin(profiler, w->immediate, "lost");
    zt_end(&region);
    assert_int_equal(heard(w, "DEVICE_LOST"), 1);
    gpu.reset_calls();
    take(profiler, 100 * ms, 10);
    assert_int_equal(calls("zesPowerGetEnergyCounter"), 0);
    assert_close(zt_get_info(profiler).power.watts, 100);
    gpu.restore_device();
}

/* ==== the thread ========================================================================================== */

/* It reads without being asked, and no more once the profiler is closed. */
static void test_the_thread_reads(void **state) {
    world *w = *state;
    zt_config config = power_config(w);
    gpu.set_power(NULL);
    zt_profiler *profiler = open_profiler(w, &config);
    for (uint64_t end = now_ns() + A_WHILE; calls("zesPowerGetEnergyCounter") < 10; nap())
        assert_true(now_ns() < end);
    close_profiler(w, profiler);
    uint64_t read = calls("zesPowerGetEnergyCounter");
    for (int i = 0; i < 30; i++)
        nap();
    assert_int_equal(calls("zesPowerGetEnergyCounter"), read);
}

static void test_without_the_thread(void **state) {
    world *w = *state;
    NOT_ON_WINDOWS("threads are not refused there");
    refused_threads = 1;
    zt_profiler *profiler = open_power(w);
    assert_int_equal(heard(w, "NO_POWER_THREAD"), 1);
    zt_phase_begin("solve");
    take(profiler, 100 * ms, 10);
    zt_phase_end();
    take(profiler, 100 * ms, 10);
    assert_close(phase_info(profiler, "solve").joules, 10);
}

static void test_off_by_default(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "";
    gpu.reset_calls();
    zt_profiler *profiler = open_profiler(w, &config);
    zt_phase_begin("solve");
    pass_time(100 * ms);
    zt_phase_end();
    expect_unknown(profiler, "solve");
    assert_true(isnan(zt_get_info(profiler).power.joules));
    assert_true(strstr(written_report(profiler, ZT_FORMAT_JSON), "\"power\"") == NULL);
    assert_int_equal(calls("zesPowerGetEnergyCounter"), 0);
    assert_int_equal(calls("zesInit"), 0);
}

static void test_the_environment(void **state) {
    world *w = *state;
    static const struct {
        const char *variable;
        int configured, reads;
    } cases[] = {{"1", 0, 1}, {"0", 1, 0}, {"", 1, 1}, {"", 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        zt_config config = config_of(w);
        config.groups = "";
        config.power = cases[i].configured;
        setenv("ZT_POWER", cases[i].variable, 1);
        gpu.reset_calls();
        zt_profiler *profiler = open_profiler(w, &config);
        assert_int_equal(calls("zesDeviceEnumPowerDomains") > 0, cases[i].reads);
        close_profiler(w, profiler);
    }
}

/* Also where memory is short. */
static void test_memory(void **state) {
    world *w = *state;
    zt_config config = power_config(w);
    config.allocator = scarce_allocator();
    for (int n = 0;; n++) {
        zt_profiler *profiler;
        allocations_left = n;
        ze_result_t result = zt_open(w->context, w->device, &config, &profiler);
        allocations_left = -1;
        if (result == ZE_RESULT_SUCCESS) {
            zt_close(profiler);
            break;
        }
        assert_result(result, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    }
}

/* ==== reports, and other profilers ======================================================================== */

static void test_reports(void **state) {
    world *w = *state;
    zt_config config = power_config(w);
    config.timeline = 100;
    zt_profiler *profiler = open_profiler(w, &config); /* comparing clocks takes time */
    hold_time(1);
    take(profiler, 1000 * ms, 10);
    zt_phase_begin("solve");
    device.throttle_reasons = 1;
    take(profiler, 100 * ms, 20);
    take(profiler, 100 * ms, 30);
    zt_phase_end();
    take(profiler, 100 * ms, 10);
    const char *table = written_report(profiler, ZT_FORMAT_TABLE);
    assert_contains(table, "energy");
    assert_contains(table, "throttled");
    const char *joules =
        strstr(strstr(written_report(profiler, ZT_FORMAT_JSON), "\"phase\":"), "\"joules\":");
    assert_close(strtod(joules + strlen("\"joules\":"), NULL), 50);
    assert_contains(written_report(profiler, ZT_FORMAT_JSON), "\"power\":{\"domain\":\"card\"");
    const char *csv = written_report(profiler, ZT_FORMAT_CSV);
    assert_contains(csv, "\"solve\",\"energy\",\"\",\"device\",\"J\"");
    assert_contains(csv, "\"\",\"energy\",\"\",\"device\",\"J\"");
    assert_contains(csv, "\"solve\",\"power\",\"\",\"device\",\"W\"");
    const char *metrics = written_report(profiler, ZT_FORMAT_OPENMETRICS);
    const char *energy = strstr(metrics, "\nzetools_phase_energy_joules_total{phase=\"solve\"");
    assert_non_null(energy);
    assert_close(strtod(strchr(energy, '}') + 1, NULL), 50);
    const char *trace = written_report(profiler, ZT_FORMAT_TRACE);
    assert_contains(trace, "\"name\":\"power [W]\"");
    assert_contains(trace, "\"value\":300");
    assert_contains(trace, "clock [MHz]");
    assert_contains(trace, "temperature [degrees C]");
    assert_contains(trace, "\"name\":\"throttled: average power [%]\"");
    assert_null(strstr(trace, "throttled: temperature"));
    if (can_read_perfetto()) {
        const char *compared = compare_traces(profiler);
        assert_contains(compared, "\npower [W]: power\n");
        assert_contains(compared, "\ntemperature [degrees C]: power\n");
    }
}

static void test_merged_and_packed(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_power(w), *back;
    zt_phase_begin("solve");
    device.throttle_reasons = 1 << AVE_PWR_CAP;
    take(profiler, 100 * ms, 10);
    zt_phase_end();
    device.throttle_reasons = 0;
    take(profiler, 100 * ms, 10);
    back = repacked(profiler);
    assert_close(phase_info(back, "solve").joules, 10);
    assert_close(phase_info(back, "solve").mhz, 2000);
    assert_close(phase_info(back, "solve").throttled_by[AVE_PWR_CAP], 1);
    ok(zt_merge(back, profiler));
    assert_close(phase_info(back, "solve").throttled_by[AVE_PWR_CAP], 1);
    assert_close(phase_info(back, "solve").joules, 20);
    assert_close(phase_info(back, "solve").watts, 100);
    assert_true(isnan(zt_get_info(back).power.joules));
    zt_close(back);
}

/* Neither a benchmark nor a second profiler of the device minds. */
static void test_two_profilers(void **state) {
    world *w = *state;
    zt_profiler *one = open_power(w);
    zt_config config = power_config(w);
    zt_profiler *other = open_profiler(w, &config);
    zt_phase_begin("solve");
    device.microjoules += 10000000;
    gpu.set_power(&device);
    pass_time(100 * ms);
    zt_get_info(one);
    zt_get_info(other);
    zt_phase_end();
    device.microjoules += 10000000;
    gpu.set_power(&device);
    pass_time(100 * ms);
    zt_get_info(one);
    zt_get_info(other);
    assert_close(phase_info(one, "solve").joules, 10);
    assert_close(phase_info(other, "solve").joules, 10);
}

/* Two contexts of a device have read the same energy, which counts once in a report of both. */
static void test_one_report_of_two_profilers(void **state) {
    world *w = *state;
    zt_profiler *one = open_power(w);
    zt_config config = power_config(w);
    config.with = one;
    zt_profiler *other = open_profiler(w, &config);
    zt_phase_begin("solve");
    run(w, one, "region");
    run(w, other, "region");
    for (int i = 0; i < 2; i++) {
        device.microjoules += 10000000;
        gpu.set_power(&device);
        pass_time(100 * ms);
        zt_get_info(one);
        zt_get_info(other);
        if (i == 0)
            zt_phase_end();
    }
    assert_close(phase_info(one, "solve").joules, 10);
    assert_close(phase_info(other, "solve").joules, 10);
    collect_all(one);
    collect_all(other);
    const char *csv = written_report(one, ZT_FORMAT_CSV);
    assert_contains(csv, "\"region\",\"GPU time\",\"\",\"\",\"ns\",duration,sum,2,");
    const char *energy = strstr(csv, "\n\"solve\",\"energy\"");
    assert_non_null(energy);
    assert_contains(energy, ",sum,1,10,"); /* entered once */
    energy = strstr(csv, "\n\"\",\"energy\"");
    assert_non_null(energy);
    assert_contains(energy, ",20,");
    close_profiler(w, other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_energy_of_phases),
        TEST(test_interpolated),
        TEST(test_short_phases),
        TEST(test_steps_of_different_length),
        TEST(test_extrapolated_for_a_report),
        TEST(test_more_phases_than_are_kept),
        TEST(test_a_turn_of_the_counter),
        TEST(test_a_counter_that_goes_back),
        TEST(test_a_counter_that_never_changes),
        TEST(test_a_counter_that_stands_still),
        TEST(test_a_call_that_fails_once),
        TEST(test_a_long_run),
        TEST(test_clock_and_throttling),
        TEST(test_no_longer_throttled),
        TEST(test_without_permission),
        TEST(test_energy_from_a_file),
        TEST(test_a_device_that_is_not_known),
        TEST(test_a_device_with_nothing),
        TEST(test_a_tile),
        TEST(test_a_lost_device),
        TEST(test_the_thread_reads),
        TEST(test_without_the_thread),
        TEST(test_off_by_default),
        TEST(test_the_environment),
        TEST(test_memory),
        TEST(test_reports),
        TEST(test_merged_and_packed),
        TEST(test_two_profilers),
        TEST(test_one_report_of_two_profilers),
        TEST(test_without_system_management),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
