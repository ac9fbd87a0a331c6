/* One report of several profilers, config.with: a device is the outermost level of each path, counts, times and bytes are
   summed over devices, and profilers are closed in any order. */
#include "perfetto.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The profilers of two devices, of which the first reports for both. */
typedef struct pair {
    ze_device_handle_t devices[2];
    ze_command_list_handle_t lists[2];
    zt_profiler *profilers[2];
} pair;

static pair open_pair(world *w, zt_config config, const char *other_groups) {
    ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                    .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    uint32_t count = 2;
    pair p;
    gpu.set_devices(2, 0);
    ok(zeDeviceGet(w->driver, &count, p.devices));
    assert_int_equal(count, 2);
    p.profilers[0] = open_on(w, p.devices[0], &config);
    config.with = p.profilers[0];
    config.groups = other_groups;
    p.profilers[1] = open_on(w, p.devices[1], &config);
    for (uint32_t i = 0; i < 2; i++)
        ok(zeCommandListCreateImmediate(w->context, p.devices[i], &desc, &p.lists[i]));
    return p;
}

static void fill(world *w, const pair *p, uint32_t device, const char *name, uint32_t times) {
    const float zero = 0;
    for (uint32_t i = 0; i < times; i++) {
        ZT_REGION(p->profilers[device], p->lists[device], name)
        ok(zeCommandListAppendMemoryFill(p->lists[device], w->sums, &zero, sizeof zero, sizeof zero, NULL, 0,
                                         NULL));
    }
}

/* Two fills on the first device and three on the second, in a phase that is entered twice. */
static void work(world *w, const pair *p) {
    zt_phase_begin("step");
    fill(w, p, 0, "fill", 1);
    fill(w, p, 1, "fill", 1);
    zt_phase_end();
    zt_phase_begin("step");
    fill(w, p, 0, "fill", 1);
    fill(w, p, 1, "fill", 2);
    zt_phase_end();
    for (uint32_t i = 0; i < 2; i++)
        collect_all(p->profilers[i]);
}

static void close_pair(world *w, pair *p, uint32_t first) {
    close_profiler(w, p->profilers[first]);
    close_profiler(w, p->profilers[1 - first]);
    for (uint32_t i = 0; i < 2; i++)
        ok(zeCommandListDestroy(p->lists[i]));
}

static char *read_report(const char *name) {
    static char text[1 << 20];
    FILE *file = fopen(in_directory(name), "rb");
    if (!file)
        fail_msg("there is no %s", in_directory(name));
    size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    for (size_t i = 0; i < size; i++) /* of formats that are no text: names are looked for */
        text[i] = text[i] ? text[i] : ' ';
    text[size] = 0;
    return text;
}

static char *report(const zt_profiler *profiler, const char *name) {
    ok(zt_report(profiler, in_directory(name)));
    return read_report(name);
}

static int count_bytes(const void *bytes, size_t size, void *user) {
    (void)bytes, (void)size, (void)user;
    return 0;
}

static zt_config times_alone(world *w) {
    zt_config config = config_of(w);
    config.groups = "";
    return config;
}

/* The statistics that a report of packed statistics has. */
static zt_profiler *read_packed(const zt_profiler *profiler) {
    zt_profiler *read = NULL;
    FILE *file;
    static char bytes[1 << 20];
    size_t size;
    ok(zt_report(profiler, in_directory("devices.zt")));
    file = fopen(in_directory("devices.zt"), "rb");
    assert_non_null(file);
    size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    ok(zt_unpack(bytes, size, NULL, &read));
    return read;
}

static zt_stats times_on(const zt_profiler *profiler, const char *path) {
    zt_stats stats;
    ok(zt_get_stats(profiler, zt_find_path(profiler, path), ZT_GPU_TIME, &stats));
    return stats;
}

static double time_on(const zt_profiler *profiler, const char *path) {
    return times_on(profiler, path).sum;
}

static const char *const names[] = {"device 0: ", "device 1: "};

/* Returns the path of a device in the report, such as "device 0: NAME;fill". */
static const char *path_on(const zt_profiler *profiler, uint32_t device, const char *inner) {
    static char path[512];
    zt_region_info info;
    for (uint32_t i = 0; i < zt_get_info(profiler).region_count; i++) {
        ok(zt_get_region(profiler, i, &info));
        if (strncmp(info.name, names[device], strlen(names[device])) == 0) {
            snprintf(path, sizeof path, "%s;%s", info.name, inner);
            return path;
        }
    }
    fail_msg("there is no %s", names[device]);
    return NULL;
}

static void check_sums(const zt_profiler *whole, const pair *p) {
    char path[600];
    snprintf(path, sizeof path, "%s", path_on(whole, 0, "step;fill"));
    assert_int_equal(times_on(whole, path).count, 2);
    if (p)
        assert_close(time_on(whole, path), time_on(p->profilers[0], "fill"));
    snprintf(path, sizeof path, "%s", path_on(whole, 1, "step;fill"));
    assert_int_equal(times_on(whole, path).count, 3);
    if (p)
        assert_close(time_on(whole, path), time_on(p->profilers[1], "fill"));
    assert_int_equal(region_info(whole, "fill").count, 5);
    if (p)
        assert_close(time_on(whole, "fill"),
                     time_on(p->profilers[0], "fill") + time_on(p->profilers[1], "fill"));
    assert_int_equal(region_info(whole, "step").entered, 2); /* by the program, on no device */
    assert_int_equal(zt_get_info(whole).counts.collected, 5);
    assert_int_equal(zt_get_info(whole).counts.begun, 5);
}

static void test_sums(void **state) {
    world *w = *state;
    pair p = open_pair(w, times_alone(w), "");
    zt_profiler *whole;
    work(w, &p);
    whole = read_packed(p.profilers[0]);
    check_sums(whole, &p);
    assert_close(region_info(whole, "step").host_ns, region_info(p.profilers[0], "step").host_ns);
    zt_close(whole);
    /* The second reports for itself alone, and functions other than zt_report and zt_write return what is of one. */
    whole = read_packed(p.profilers[1]);
    assert_int_equal(region_info(whole, "fill").count, 3);
    assert_int_equal(region_info(p.profilers[0], "fill").count, 2);
    assert_int_equal(find_region(whole, "device 1"), UINT32_MAX);
    zt_close(whole);
    close_pair(w, &p, 0);
}

/* Each format has each device once. */
static void test_every_format(void **state) {
    world *w = *state;
    zt_config config = times_alone(w);
    config.timeline = 64;
    pair p = open_pair(w, config, "");
    const char *text;
    work(w, &p);
    text = report(p.profilers[0], "all.csv");
    assert_contains(line_of(text, "\"fill\",\"GPU time\""), ",sum,5,");
    assert_int_equal(occurrences(text, ";step;fill\",\"GPU time\""), 2);
    assert_contains(text, "\"device 0: ");
    assert_contains(text, "\"device 1: ");
    text = report(p.profilers[0], "all.json");
    assert_contains(text, "\"name\":\"2 devices\"");
    assert_contains(text, "\"collected\":5");
    text = report(p.profilers[0], "all.txt"); /* where names may be shortened */
    assert_int_equal(occurrences(text, "\ndevice 0:"), 1);
    assert_int_equal(occurrences(text, "\ndevice 1:"), 1);
    text = report(p.profilers[0], "all.html");
    assert_contains(text, "\"device\":\"device 1: ");
    text = report(p.profilers[0], "all.prom");
    assert_contains(text, "device 1: ");
    text = report(p.profilers[0], "all.folded");
    assert_int_equal(occurrences(text, "device 0: "), occurrences(text, ";step;fill") / 2);
    assert_int_equal(occurrences(text, ";step;fill"), 2);
    text = report(p.profilers[0], "all.trace.json");
    assert_int_equal(occurrences(text, "\"ph\":\"X\",\"name\":\"fill\""), 5);
    assert_int_equal(occurrences(text, "\"process_name\""), 3);
    assert_int_equal(occurrences(text, "\"name\":\"device 1: "), 1);
    text = report(p.profilers[0], "all.instances.csv");
    assert_int_equal(occurrences(text, "=== Device #0 "), 1);
    assert_int_equal(occurrences(text, "=== Device #1 "), 1);
    assert_int_equal(occurrences(text, "\nfill,") + occurrences(text, "\n\"fill\","), 5);
    text = compare_traces(p.profilers[0]);
    if (can_read_perfetto())
        assert_contains(text, "\nregions 5\n"); /* compared, each on the track of its device */
    close_pair(w, &p, 1);
}

/* Devices and tiles have their numbers in instances, whichever of them were used. */
static void test_numbers_in_instances(void **state) {
    world *w = *state;
    zt_config config = times_alone(w);
    uint32_t count = 2;
    ze_device_handle_t tiles[2];
    ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                    .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    config.timeline = 64;
    pair p = open_pair(w, config, "");
    fill(w, &p, 1, "fill", 1);
    collect_all(p.profilers[1]);
    assert_contains(report(p.profilers[0], "second.instances.csv"), "=== Device #1 ");
    assert_contains(report(p.profilers[1], "second.instances.csv"), "=== Device #1 ");
    close_pair(w, &p, 0);
    gpu.set_devices(2, 2);
    ok(zeDeviceGetSubDevices(p.devices[1], &count, tiles));
    p.profilers[0] = open_on(w, tiles[0], &config);
    config.with = p.profilers[0];
    p.profilers[1] = open_on(w, tiles[1], &config);
    for (uint32_t i = 0; i < 2; i++)
        ok(zeCommandListCreateImmediate(w->context, tiles[i], &desc, &p.lists[i]));
    fill(w, &p, 0, "first", 1);
    fill(w, &p, 1, "second", 1);
    for (uint32_t i = 0; i < 2; i++)
        collect_all(p.profilers[i]);
    assert_contains(report(p.profilers[0], "tiles.instances.csv"), "\"first\",1,0,");
    assert_contains(report(p.profilers[0], "tiles.instances.csv"), "\"second\",2,1,");
    assert_int_equal(occurrences(report(p.profilers[0], "tiles.instances.csv"), "=== Device #1 "), 2);
    close_pair(w, &p, 0);
}

/* An earlier run on one device: each of several is compared with it. */
static void test_an_earlier_run_on_one_device(void **state) {
    world *w = *state;
    zt_config config = times_alone(w);
    zt_profiler *before = open_profiler(w, &config);
    const char *text;
    ZT_PHASE("step") {
        run(w, before, "fill");
        run(w, before, "fill");
    }
    collect_all(before);
    report(before, "before.json");
    close_profiler(w, before);
    config.baseline = in_directory("before.json");
    pair p = open_pair(w, config, "");
    work(w, &p);
    text = report(p.profilers[0], "compared.csv");
    assert_int_equal(occurrences(text, ";step;fill\",\"change\""), 2);
    assert_int_equal(occurrences(text, "\"gone\"") + occurrences(text, "\"new\""), 0);
    assert_null(strstr(text, "This run does not have"));
    assert_contains(text, "That was not on the same devices with the same driver and clock: Software device");
    close_pair(w, &p, 0);
}

/* A report at the end of the first has what the second had measured until it was closed. */
static void test_the_second_is_closed_first(void **state) {
    world *w = *state;
    zt_config config = times_alone(w);
    config.timeline = 64;
    pair p = open_pair(w, config, "");
    zt_profiler *whole;
    const char *text;
    work(w, &p);
    close_profiler(w, p.profilers[1]);
    whole = read_packed(p.profilers[0]);
    check_sums(whole, NULL);
    zt_close(whole);
    text = report(p.profilers[0], "closed.trace.json");
    assert_int_equal(occurrences(text, "\"ph\":\"X\",\"name\":\"fill\""), 5);
    close_profiler(w, p.profilers[0]);
    for (uint32_t i = 0; i < 2; i++)
        ok(zeCommandListDestroy(p.lists[i]));
}

/* Requested reports: the first writes one for both, and the second one of its own only if the first is closed already. */
static int exists(const char *name) {
    FILE *file = fopen(in_directory(name), "r");
    if (file)
        fclose(file);
    return file != NULL;
}

static void test_requested_reports(void **state) {
    world *w = *state;
    char name[64];
    setenv("ZT_REPORT", in_directory("both.csv"), 1);
    pair p = open_pair(w, times_alone(w), "");
    unsetenv("ZT_REPORT");
    work(w, &p);
    close_pair(w, &p, 1);
    /* profilers that report are numbered in the process */
    uint32_t files = 0, second = 0;
    for (uint32_t i = 1; i < 64; i++) {
        snprintf(name, sizeof name, i == 1 ? "both.csv" : "both.%u.csv", (unsigned)i);
        if (exists(name)) {
            files++;
            assert_contains(line_of(read_report(name), "\"fill\",\"GPU time\""), ",sum,5,");
        }
    }
    assert_int_equal(files, 1);
    setenv("ZT_REPORT", in_directory("own.csv"), 1);
    p = open_pair(w, times_alone(w), "");
    unsetenv("ZT_REPORT");
    work(w, &p);
    close_pair(w, &p, 0);
    files = 0;
    for (uint32_t i = 1; i < 64; i++) {
        snprintf(name, sizeof name, i == 1 ? "own.csv" : "own.%u.csv", (unsigned)i);
        if (exists(name)) {
            files++;
            second += strstr(line_of(read_report(name), "\"fill\",\"GPU time\""), ",sum,3,") != NULL;
        }
    }
    assert_int_equal(files, 2);
    assert_int_equal(second, 1);
}

/* Each device has its own metrics: what was not measured on one has no samples there. */
static void test_different_metrics(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "ComputeBasic";
    pair p = open_pair(w, config, "MemoryProfile");
    zt_profiler *whole;
    char path[600];
    uint32_t own = 0, other = 0;
    work(w, &p);
    whole = read_packed(p.profilers[0]);
    check_sums(whole, &p);
    for (uint32_t i = 0; i < zt_get_info(whole).metric_count; i++) {
        const zt_metric *metric = zt_get_metric(whole, i);
        int is_own = strcmp(metric->group, "ComputeBasic") == 0;
        zt_stats stats;
        snprintf(path, sizeof path, "%s", path_on(whole, is_own ? 1 : 0, "step;fill"));
        ok(zt_get_stats(whole, zt_find_path(whole, path), i, &stats));
        assert_int_equal(stats.count, 0);
        snprintf(path, sizeof path, "%s", path_on(whole, is_own ? 0 : 1, "step;fill"));
        ok(zt_get_stats(whole, zt_find_path(whole, path), i, &stats));
        own += is_own && stats.count == 2;
        other += !is_own && stats.count == 3;
    }
    assert_int_equal(own, zt_get_info(p.profilers[0]).metric_count);
    assert_int_equal(other, zt_get_info(p.profilers[1]).metric_count);
    zt_close(whole);
    close_pair(w, &p, 0);
}

/* Two profilers of one device add up, and paths have no device. */
static void test_one_device(void **state) {
    world *w = *state;
    zt_config config = times_alone(w);
    zt_profiler *first = open_profiler(w, &config), *second, *whole;
    config.with = first;
    second = open_profiler(w, &config);
    run(w, first, "one");
    run(w, second, "one");
    run(w, second, "one");
    collect_all(first);
    collect_all(second);
    whole = read_packed(first);
    assert_int_equal(region_info(whole, "one").count, 3);
    assert_int_equal(zt_get_info(whole).region_count, 1);
    assert_int_equal(zt_get_info(whole).path_count, 1);
    zt_close(whole);
    close_profiler(w, second);
    close_profiler(w, first);
}

/* Two contexts of a device, or as here two profilers of one context. */
static void open_two_of_a_device(world *w, zt_config config, zt_profiler *two[2]) {
    config.groups = "";
    two[0] = open_profiler(w, &config);
    config.with = two[0];
    two[1] = open_profiler(w, &config);
}

/* One region in each of the profilers. */
static void run_in_both(world *w, zt_profiler *two[2]) {
    run(w, two[0], "first");
    run(w, two[1], "second");
}

static zt_region_info phase_in(const zt_profiler *profiler, const char *path) {
    zt_region_info info;
    ok(zt_get_region(profiler, zt_find_path(profiler, path), &info));
    return info;
}

/* Checks how many entries of a phase have a GPU time, which is that of both profilers, and how many have none. */
static void expect_entries(zt_profiler *two[2], const char *path, uint64_t entered, uint64_t timed) {
    zt_profiler *whole;
    collect_all(two[1]);
    collect_all(two[0]);
    whole = read_packed(two[0]);
    zt_region_info info = phase_in(whole, path);
    assert_int_equal(info.entered, entered);
    assert_int_equal(info.time_ns.count, timed);
    assert_int_equal(info.incomplete, entered - timed);
    if (timed == entered)
        assert_close(info.time_ns.sum, info.total_ns);
    zt_close(whole);
}

/* An entry of a phase with work of both is one, with the time of all. */
static void test_entries_on_one_device(void **state) {
    world *w = *state;
    zt_profiler *two[2];
    open_two_of_a_device(w, config_of(w), two);
    for (int step = 0; step < 3; step++) {
        ZT_PHASE("step") {
            run_in_both(w, two);
            ZT_PHASE("inside")
                run_in_both(w, two);
            ZT_PHASE("alone")
                run(w, two[1], "second");
        }
        if (step == 0) /* the others are over before they are collected */
            expect_entries(two, "step", 1, 1);
    }
    expect_entries(two, "step", 3, 3);
    expect_entries(two, "step;inside", 3, 3);
    expect_entries(two, "step;alone", 3, 3);
    assert_int_equal(phase_in(two[0], "step").time_ns.count + phase_in(two[1], "step").time_ns.count, 3);
    zt_clear(two[0]);
    zt_clear(two[1]);
    ZT_PHASE("step")
        run_in_both(w, two);
    expect_entries(two, "step", 1, 1);
    close_profiler(w, two[0]);
    close_profiler(w, two[1]);
}

/* Those that report alone count their part each. */
static void test_entries_of_two_reports(void **state) {
    world *w = *state;
    zt_config config = times_alone(w);
    zt_profiler *two[2] = {open_profiler(w, &config), open_profiler(w, &config)};
    ZT_PHASE("step")
        run_in_both(w, two);
    for (int i = 0; i < 2; i++) {
        collect_all(two[i]);
        assert_int_equal(phase_in(two[i], "step").time_ns.count, 1);
        assert_close(phase_in(two[i], "step").time_ns.sum, phase_in(two[i], "step").total_ns);
        close_profiler(w, two[i]);
    }
}

/* What one of them has lost, whichever it is, makes the entry incomplete. */
static void test_entries_that_lack_a_part(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.probes_per_step = config.max_probes = 1;
    config.wait_timeout_ns = 1000;
    for (int missing = 0; missing < 2; missing++) {
        zt_profiler *two[2];
        open_two_of_a_device(w, config, two);
        ZT_PHASE("step") {
            zt_region held = zt_begin(two[missing], w->immediate, "held");
            zt_region dropped = zt_begin(two[missing], w->immediate, "dropped");
            assert_null(dropped.probe);
            zt_end(&dropped);
            zt_end(&held);
            run(w, two[1 - missing], "other");
        }
        expect_entries(two, "step", 1, 0);
        ZT_PHASE("step")
            run_in_both(w, two);
        expect_entries(two, "step", 2, 1);
        close_profiler(w, two[1]);
        close_profiler(w, two[0]);
    }
}

/* One is closed in the phase: nobody knows the whole entry. */
static void test_entries_with_a_profiler_that_is_closed(void **state) {
    world *w = *state;
    zt_profiler *two[2], *whole;
    open_two_of_a_device(w, config_of(w), two);
    ZT_PHASE("step") {
        run_in_both(w, two);
        close_profiler(w, two[1]);
    }
    collect_all(two[0]);
    whole = read_packed(two[0]);
    assert_int_equal(phase_in(whole, "step").incomplete, 1);
    assert_int_equal(phase_in(whole, "step").time_ns.count, 0);
    zt_close(whole);
    close_profiler(w, two[0]);
}

/* The same without memory, and when the first is closed between the end of the phase and the collection. */
static void test_entries_without_memory(void **state) {
    world *w = *state;
    zt_profiler *two[2];
    zt_config config = config_of(w);
    config.allocator = scarce_allocator();
    open_two_of_a_device(w, config, two);
    zt_phase_begin("step");
    run_in_both(w, two);
    allocations_left = 0;
    zt_phase_end();
    allocations_left = -1;
    for (int i = 0; i < 2; i++) {
        collect_all(two[i]);
        assert_int_equal(phase_in(two[i], "step").incomplete, 1);
        assert_int_equal(phase_in(two[i], "step").time_ns.count, 0);
    }
    ZT_PHASE("step")
        run_in_both(w, two);
    close_profiler(w, two[0]);
    collect_all(two[1]);
    close_profiler(w, two[1]);
}

/* Where one of two profilers has no metrics, the reason is named: no tracer has left launches out. */
static void test_a_device_without_metrics(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "ComputeBasic";
    pair p = open_pair(w, config, "");
    zt_profiler *whole;
    work(w, &p);
    const char *because =
        "3 of 5 samples have times alone, because one of the devices or contexts has no metrics.";
    assert_contains(report(p.profilers[0], "alone.csv"), because);
    assert_null(strstr(report(p.profilers[0], "alone.csv"), "every or limit"));
    whole = read_packed(p.profilers[0]);
    assert_contains(written_report(whole, ZT_FORMAT_CSV), because);
    zt_close(whole);
    close_pair(w, &p, 0);
}

/* A second device on which nothing ran changes nothing. */
static void test_a_device_without_work(void **state) {
    world *w = *state;
    pair p = open_pair(w, times_alone(w), "");
    zt_profiler *whole;
    fill(w, &p, 0, "fill", 2);
    collect_all(p.profilers[0]);
    whole = read_packed(p.profilers[0]);
    assert_int_equal(region_info(whole, "fill").count, 2);
    assert_int_equal(zt_get_info(whole).path_count, 1);
    assert_null(strstr(report(p.profilers[0], "idle.csv"), "device 0: "));
    zt_close(whole);
    close_pair(w, &p, 0);
}

/* Allocations fail one by one, from the first one on. Each time the report fails, and then it is complete. */
static void test_without_memory(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "ComputeBasic";
    config.timeline = 64;
    config.allocator = scarce_allocator();
    pair p = open_pair(w, config, "MemoryProfile");
    uint32_t failures = 0;
    work(w, &p);
    for (int n = 0;; n++) {
        allocations_left = n;
        ze_result_t result = zt_report(p.profilers[0], in_directory("scarce.json"));
        allocations_left = -1;
        if (result == ZE_RESULT_SUCCESS)
            break;
        assert_result(result, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
        failures++;
    }
    assert_in_range(failures, 20, 10000);
    assert_contains(read_report("scarce.json"), "\"collected\":5");
    close_pair(w, &p, 1);
}

typedef struct reporting {
    const zt_profiler *profiler;
    int is_over;
} reporting;

static void *report_all_the_time(void *user) {
    reporting *of = (reporting *)user;
    uint32_t reports = 0;
    while (!__atomic_load_n(&of->is_over, __ATOMIC_ACQUIRE) || reports < 3) {
        ok_on_thread(zt_write(of->profiler, ZT_FORMAT_TRACE, count_bytes, NULL));
        ok_on_thread(zt_write(of->profiler, ZT_FORMAT_JSON, count_bytes, NULL));
        reports++;
    }
    return NULL;
}

/* Others are opened, measure and are closed while a thread writes reports of all. */
static void test_reports_while_others_are_closed(void **state) {
    world *w = *state;
    zt_config config = times_alone(w);
    config.timeline = 64;
    config.wait_timeout_ns = A_WHILE;
    zt_profiler *first = open_profiler(w, &config), *whole;
    reporting of = {first, 0};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, report_all_the_time, &of), 0);
    config.with = first;
    for (int i = 0; i < 8; i++) {
        zt_profiler *other = open_profiler(w, &config);
        zt_phase_begin("step");
        run(w, other, "one");
        zt_phase_end();
        close_profiler(w, other);
    }
    __atomic_store_n(&of.is_over, 1, __ATOMIC_RELEASE);
    join_in_time(w, thread);
    assert_no_noted_failure();
    whole = read_packed(first);
    assert_int_equal(region_info(whole, "one").count, 8);
    assert_int_equal(region_info(whole, "step").entered, 8);
    zt_close(whole);
    close_profiler(w, first);
}

/* Metrics that differ in more than their device: the same group, in another pass. */
static void test_other_passes(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "ComputeBasic";
    config.max_passes = 2;
    pair p = open_pair(w, config, "MemoryProfile,ComputeBasic");
    zt_profiler *whole;
    work(w, &p);
    whole = read_packed(p.profilers[0]);
    check_sums(whole, &p);
    assert_int_equal(zt_get_info(whole).pass_count, 2);
    assert_int_equal(zt_get_info(whole).metric_count,
                     zt_get_info(p.profilers[0]).metric_count + zt_get_info(p.profilers[1]).metric_count);
    zt_close(whole);
    close_pair(w, &p, 0);
}

/* Phases as deep as they get are inside of a device, too. */
static void test_deep_phases(void **state) {
    enum { DEEPEST = 80 };
    world *w = *state;
    pair p = open_pair(w, times_alone(w), "");
    zt_profiler *whole;
    for (int i = 0; i < DEEPEST; i++)
        zt_phase_begin("deep");
    fill(w, &p, 0, "fill", 1);
    fill(w, &p, 1, "fill", 1);
    for (int i = 0; i < DEEPEST; i++)
        zt_phase_end();
    for (uint32_t i = 0; i < 2; i++)
        collect_all(p.profilers[i]);
    for (int i = 0; i < 70; i++) { /* of different names, which are inside of each other */
        char name[8];
        snprintf(name, sizeof name, "p%d", i);
        zt_phase_begin(name);
    }
    fill(w, &p, 0, "fill", 1);
    fill(w, &p, 1, "fill", 1);
    for (int i = 0; i < 70; i++)
        zt_phase_end();
    for (uint32_t i = 0; i < 2; i++)
        collect_all(p.profilers[i]);
    whole = read_packed(p.profilers[0]);
    assert_int_equal(region_info(whole, "fill").count, 4);
    zt_close(whole);
    close_pair(w, &p, 0);
}

/* Streams are those of the profiler that reports. */
static void test_streams(void **state) {
    world *w = *state;
    zt_config config = times_alone(w);
    config.timeline = 64;
    pair p = open_pair(w, config, "");
    stream_marked_region(w, p.profilers[0]);
    work(w, &p);
    assert_contains(report(p.profilers[0], "streams.json"), "\"streamed\":{");
    const char *text = report(p.profilers[0], "streams.trace.json");
    assert_int_equal(occurrences(text, "\"name\":\"stream "), 1);
    assert_contains(text, "\"name\":\"device 1: ");
    close_pair(w, &p, 0);
}

static void test_bad_with(void **state) {
    world *w = *state;
    zt_config config = times_alone(w);
    zt_profiler *first = open_profiler(w, &config), *read = repacked(first), *profiler;
    config.with = read;
    assert_result(zt_open(w->context, w->device, &config, &profiler), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_null(profiler);
    zt_close(read);
    config.with = first;
    close_profiler(w, first);
    assert_result(zt_open(w->context, w->device, &config, &profiler), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_contains(zt_last_error(NULL), "config.with");
}

static int begin(void **state) {
    return make_directory(state) == 0 ? start(state) : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_sums, open_world, close_world),
        cmocka_unit_test_setup_teardown(test_every_format, open_world, close_world),
        cmocka_unit_test_setup_teardown(test_numbers_in_instances, open_world, close_world),
        cmocka_unit_test_setup_teardown(test_an_earlier_run_on_one_device, open_world, close_world),
        cmocka_unit_test_setup_teardown(test_the_second_is_closed_first, open_world, close_world),
        cmocka_unit_test_setup_teardown(test_requested_reports, open_world, close_world),
        cmocka_unit_test_setup_teardown(test_different_metrics, open_world, close_world),
        cmocka_unit_test_setup_teardown(test_one_device, open_world, close_world),
        cmocka_unit_test_setup_teardown(test_entries_on_one_device, open_world, close_world),
        cmocka_unit_test_setup_teardown(test_entries_of_two_reports, open_world, close_world),
        cmocka_unit_test_setup_teardown(test_entries_that_lack_a_part, open_world, close_world),
        cmocka_unit_test_setup_teardown(test_entries_with_a_profiler_that_is_closed, open_world, close_world),
        cmocka_unit_test_setup_teardown(test_entries_without_memory, open_world, close_world),
        cmocka_unit_test_setup_teardown(test_a_device_without_work, open_world, close_world),
        cmocka_unit_test_setup_teardown(test_without_memory, open_world, close_world),
        cmocka_unit_test_setup_teardown(test_reports_while_others_are_closed, open_world, close_world),
        cmocka_unit_test_setup_teardown(test_other_passes, open_world, close_world),
        cmocka_unit_test_setup_teardown(test_deep_phases, open_world, close_world),
        cmocka_unit_test_setup_teardown(test_streams, open_world, close_world),
        cmocka_unit_test_setup_teardown(test_bad_with, open_world, close_world),
        cmocka_unit_test_setup_teardown(test_a_device_without_metrics, open_world, close_world),
    };
    return cmocka_run_group_tests(tests, begin, remove_directory);
}
