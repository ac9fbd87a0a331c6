/* Reports: other programs read back the figures and names that the library has; the table is aligned and fits
   its width; files are complete or not there. */
#define _GNU_SOURCE
#include "fixture.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

/* ==== files =============================================================================================== */

static int open_directory(void **state) {
    if (make_directory(state) != 0)
        return -1;
    unsetenv("COLUMNS");
    return open_world(state);
}

static int remove_entries(void) {
    int count = 0;
    DIR *entries = opendir(test_directory);
    assert_non_null(entries);
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        if (entry->d_name[0] == '.' && (!entry->d_name[1] || entry->d_name[1] == '.'))
            continue;
        remove(in_directory(entry->d_name));
        count++;
    }
    closedir(entries);
    return count;
}

static int close_directory(void **state) {
    unsetenv("COLUMNS");
    remove_entries();
    rmdir(test_directory);
    return close_world(state);
}

#define IN_DIRECTORY(function) cmocka_unit_test_setup_teardown(function, open_directory, close_directory)

typedef struct buffer {
    size_t size;
    int calls;
    char bytes[1 << 20];
} buffer;

static buffer first_buffer, second_buffer;

static int keep(const void *bytes, size_t size, void *user) {
    buffer *to = (buffer *)user;
    if (to->size + size >= sizeof to->bytes)
        return 1;
    memcpy(to->bytes + to->size, bytes, size);
    to->bytes[to->size += size] = 0;
    to->calls++;
    return 0;
}

/* A profiler, of ComputeBasic if `config` is NULL, that has measured one region. */
static zt_profiler *measure_region(world *w, const zt_config *config) {
    zt_profiler *profiler = config ? open_profiler(w, config) : open_groups(w, "ComputeBasic");
    run(w, profiler, "region");
    collect_all(profiler);
    return profiler;
}

/* A profiler that has measured regions with these names. */
static zt_profiler *measure_regions(world *w, const char *groups, const char *const *names, size_t count) {
    zt_profiler *profiler = open_groups(w, groups);
    for (size_t i = 0; i < count; i++)
        run(w, profiler, names[i]);
    collect_all(profiler);
    return profiler;
}

/* Cuts out of a text what is from one text to another. */
static void cut(char *text, const char *from, const char *to) {
    char *begin = strstr(text, from), *end = begin ? strstr(begin, to) : NULL;
    if (end)
        memmove(begin, end + strlen(to), strlen(end + strlen(to)) + 1);
}

/* Two reports of the same figures may be written in different seconds, and the library is at work between them. */
static void hide_date(char *text) {
    char *date = strstr(text, "\"date\"");
    for (date = date ? strstr(date, "\"20") : NULL; date && *++date != '"';)
        *date = '-';
    cut(text, "\"open_ns\":", "\"counts\":");
    cut(text, "zetools kept threads", "zt_open.");
    cut(text, "# TYPE zetools_open_seconds", "# TYPE zetools_collected_samples");
    cut(text, "\"\",\"time since zt_open\"", "\"\",\"begun\"");
}

static const char *written(const zt_profiler *profiler, zt_format format) {
    first_buffer.size = 0;
    first_buffer.calls = 0;
    first_buffer.bytes[0] = 0;
    ok(zt_write(profiler, format, keep, &first_buffer));
    hide_date(first_buffer.bytes);
    return first_buffer.bytes;
}

/* A text as if its lines had not been broken. */
static const char *unbroken(const char *text) {
    static char joined[sizeof first_buffer.bytes];
    size_t used = 0;
    for (; *text; text++)
        if (*text != '\n' && (*text != ' ' || used == 0 || joined[used - 1] != ' '))
            joined[used++] = *text;
        else if (used > 0 && joined[used - 1] != ' ')
            joined[used++] = ' ';
    joined[used] = 0;
    return joined;
}

static const char *read_whole(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    second_buffer.size = fread(second_buffer.bytes, 1, sizeof second_buffer.bytes - 1, file);
    second_buffer.bytes[second_buffer.size] = 0;
    fclose(file);
    hide_date(second_buffer.bytes);
    return second_buffer.bytes;
}

/* Redirects standard output, until bring_output_back(). */
static int send_output(int to) {
    int saved = dup(1);
    fflush(stdout);
    dup2(to, 1);
    return saved;
}

static void bring_output_back(int saved) {
    dup2(saved, 1);
    close(saved);
}

/* Returns what zt_report() writes to standard output, which is redirected to a file. */
static const char *printed(const zt_profiler *profiler) {
    const char *path = in_directory("output");
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(file >= 0);
    int saved = send_output(file);
    ze_result_t result = zt_report(profiler, "-");
    bring_output_back(saved);
    close(file);
    ok(result);
    return read_whole(path);
}

/* ==== read back by other programs ========================================================================= */

static void put_hexadecimal(FILE *file, const char *text) {
    for (; *text; text++)
        fprintf(file, "%02x", (unsigned char)*text);
}

/* Of a sum of GPU time, which has no other figures. */
static void put_expected_sum(FILE *file, const char *region, const char *name, uint64_t count, double sum) {
    put_hexadecimal(file, region);
    fprintf(file, "\t\t%s\tall\tall\t%llu\t%a\tnan\tnan\tnan\tnan\tnan\tnan\n", name,
            (unsigned long long)count, sum);
}

/* Of a mean, likewise. */
static void put_expected_mean(FILE *file, const char *region, const char *name, uint64_t count, double mean) {
    put_hexadecimal(file, region);
    fprintf(file, "\t\t%s\tall\tall\t%llu\tnan\t%a\tnan\tnan\tnan\tnan\tnan\n", name,
            (unsigned long long)count, mean);
}

static void put_expected_line(FILE *file, const char *region, const zt_metric *metric, const char *tile,
                              const char *pass, const zt_stats *stats) {
    const double figures[] = {stats->sum, stats->mean,   stats->stddev, stats->min,
                              stats->max, stats->median, stats->p95};
    put_hexadecimal(file, region);
    fprintf(file, "\t%s\t%s\t%s\t%s\t%llu", metric ? metric->group : "", metric ? metric->name : "GPU time",
            tile, pass, (unsigned long long)stats->count);
    for (int i = 0; i < 7; i++)
        fprintf(file, "\t%a", figures[i]);
    fprintf(file, "\n");
}

static void put_expected_fact(FILE *file, const char *name, const char *text) {
    fprintf(file, ":\t%s\t", name);
    put_hexadecimal(file, text);
    fprintf(file, "\n");
}

/* What a region reaches of what the device can do. */
static void put_expected_peaks(const zt_profiler *profiler, uint32_t region, const char *name, uint64_t count,
                               FILE *file) {
    static const char *const names[] = {"bandwidth of peak", "compute of peak", "XMX of peak",
                                        "occupancy of peak"};
    zt_limit_info limit;
    ok(zt_get_limit(profiler, region, &limit));
    const double shares[] = {limit.bandwidth, limit.compute, limit.xmx, limit.occupancy};
    for (int i = 0; i < 4; i++) {
        if (!isnan(shares[i]))
            put_expected_mean(file, name, names[i], count, 100 * shares[i]);
    }
}

/* Of a region, or of one of several paths of a region. */
static void write_expected_region(const zt_profiler *profiler, uint32_t region, const char *name,
                                  FILE *file) {
    zt_region_info info;
    zt_stats stats;
    char tile[16], pass[16];
    ok(zt_get_region(profiler, region, &info));
    put_expected_line(file, name, NULL, "all", "all", &info.time_ns);
    put_expected_sum(file, name, "own GPU time", info.time_ns.count, info.own_ns);
    put_expected_sum(file, name, "total GPU time", info.time_ns.count, info.total_ns);
    for (uint32_t latency = ZT_QUEUE_LATENCY; latency <= ZT_LAUNCH_LATENCY; latency++) {
        zt_metric metric = {.name = latency == ZT_QUEUE_LATENCY ? "queue latency" : "launch latency",
                            .group = ""};
        ok(zt_get_stats(profiler, region, latency, &stats));
        if (stats.count)
            put_expected_line(file, name, &metric, "all", "all", &stats);
    }
    if (info.bytes) {
        put_expected_sum(file, name, "copied bytes", info.count, (double)info.bytes);
        put_expected_mean(file, name, "copied bytes a second", info.count, info.bytes_per_second);
    }
    put_expected_peaks(profiler, region, name, info.count, file);
    for (uint32_t p = 0; zt_get_info(profiler).pass_count > 1 && p < zt_get_info(profiler).pass_count; p++) {
        ok(zt_get_stats(profiler, region, ZT_PASS_TIME(p), &stats));
        snprintf(pass, sizeof pass, "%u", (unsigned)p);
        put_expected_line(file, name, NULL, "all", pass, &stats);
    }
    for (uint32_t m = 0; m < zt_get_info(profiler).metric_count; m++) {
        const zt_metric *metric = zt_get_metric(profiler, m);
        snprintf(pass, sizeof pass, "%u", (unsigned)metric->pass);
        ok(zt_get_stats(profiler, region, m, &stats));
        put_expected_line(file, name, metric, "all", pass, &stats);
        for (uint32_t t = 0; t < zt_get_info(profiler).tile_count; t++) {
            snprintf(tile, sizeof tile, "%u", (unsigned)t);
            ok(zt_get_stats(profiler, region, ZT_TILE(t, m), &stats));
            put_expected_line(file, name, metric, tile, pass, &stats);
        }
    }
    for (uint32_t m = 0; m < zt_get_info(profiler).streamed_count; m++) {
        zt_stats streamed;
        ok(zt_get_stats(profiler, region, ZT_STREAMED(m), &streamed));
        if (streamed.count)
            put_expected_line(file, name, zt_get_metric(profiler, ZT_STREAMED(m)), "all", "stream",
                              &streamed);
    }
}

/* The name of a path, such as "step;solve", or ";step" inside no other. `semicolon` stands for each ';' in names. */
static void name_path(const zt_profiler *profiler, uint32_t index, char semicolon, char *name, size_t size) {
    zt_region_info path;
    ok(zt_get_region(profiler, ZT_PATH(index), &path));
    *name = 0;
    if (path.parent != UINT32_MAX)
        name_path(profiler, path.parent - ZT_PATH(0), semicolon, name, size);
    memmove(name, name + (*name == ';'), strlen(name) + 1 - (*name == ';'));
    char *end = name + strlen(name);
    snprintf(end, size - (size_t)(end - name), ";%s", path.name);
    while ((end = strchr(end + 1, ';')))
        *end = semicolon;
}

static void write_expected_paths(const zt_profiler *profiler, FILE *file) {
    for (uint32_t i = 0; i < zt_get_info(profiler).path_count; i++) {
        uint32_t several = 0;
        zt_region_info path, other;
        ok(zt_get_region(profiler, ZT_PATH(i), &path));
        for (uint32_t k = 0; k < zt_get_info(profiler).path_count; k++) {
            ok(zt_get_region(profiler, ZT_PATH(k), &other));
            several += other.region == path.region;
        }
        if (several > 1 && path.count > 0) {
            char name[4096];
            name_path(profiler, i, ';', name, sizeof name);
            assert_int_equal(zt_find_path(profiler, name), ZT_PATH(i));
            name_path(profiler, i, ':', name, sizeof name);
            write_expected_region(profiler, ZT_PATH(i), name, file);
        }
    }
}

/* What the first region is limited by, if its name can be part of a line. */
static void write_expected_limit(const zt_profiler *profiler, FILE *file) {
    zt_region_info info;
    zt_limit_info limit;
    char name[256];
    if (zt_get_info(profiler).region_count == 0)
        return;
    ok(zt_get_region(profiler, 0, &info));
    ok(zt_get_limit(profiler, 0, &limit));
    if (strpbrk(info.name, "\"\t\n") || strlen(info.name) > 100)
        return;
    snprintf(name, sizeof name, "region %s: limit", info.name);
    put_expected_fact(file, name, limit.name);
    snprintf(name, sizeof name, "region %s: limit: reason", info.name);
    put_expected_fact(file, name, limit.text);
}

static void write_expected_overlap(const zt_profiler *profiler, FILE *file) {
    zt_overlap overlap = zt_get_timeline(profiler).overlap;
    if (overlap.samples == 0)
        return;
    const struct {
        const char *name;
        double ns;
    } times[] = {{"overlap: first begin to last end", overlap.span_ns},
                 {"overlap: busy", overlap.busy_ns},
                 {"overlap: kernels", overlap.kernel_ns},
                 {"overlap: copies", overlap.copy_ns},
                 {"overlap: kernels and copies at once", overlap.both_ns},
                 {"overlap: idle", overlap.idle_ns},
                 {"overlap: several at once", overlap.at_once_ns}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (!isnan(times[i].ns))
            put_expected_sum(file, "", times[i].name, 0, times[i].ns);
}

static void write_expected(const zt_profiler *profiler, const char *path) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (uint32_t i = 0; i < zt_get_info(profiler).region_count; i++) {
        zt_region_info info;
        ok(zt_get_region(profiler, i, &info));
        write_expected_region(profiler, i, info.name, file);
    }
    write_expected_paths(profiler, file);
    write_expected_overlap(profiler, file);
    put_expected_fact(file, "zetools", ZETOOLS_VERSION);
    put_expected_fact(file, "availability", zt_get_info(profiler).availability_text);
    write_expected_limit(profiler, file);
    fclose(file);
}

static void check_reports(const zt_profiler *profiler) {
    static const char *const names[] = {"run.csv", "run.json", "run.html", "run.folded"};
    char script[PATH_MAX], command[2 * PATH_MAX];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ok(zt_report(profiler, in_directory(names[i])));
    write_expected(profiler, in_directory("expected"));
    find_file("tests/check_report.py", script, sizeof script);
    snprintf(command, sizeof command, "env -u LD_LIBRARY_PATH -u LD_PRELOAD python3 '%s' '%s' >&2", script,
             test_directory);
    if (system(command) != 0)
        fail_msg("a report was not read back");
}

static void test_files_are_read_back(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic,HostScheduler");
    for (int i = 0; i < 40; i++)
        run(w, profiler, i % 3 ? "often" : "seldom");
    collect_all(profiler);
    check_reports(profiler);
}

static void test_files_of_times(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "";
    zt_profiler *profiler = open_profiler(w, &config);
    for (int i = 0; i < 10; i++)
        run(w, profiler, "timed");
    collect_all(profiler);
    check_reports(profiler);
}

static void test_files_with_losses_and_drops(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.probes_per_step = config.max_probes = 4;
    zt_profiler *profiler = open_profiler(w, &config);
    gpu.behave(SOFTGPU_REPORT_LOST, 3);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 6; j++) /* recorded, so that none is free again before the sixth */
            append(w, profiler, w->list, "some");
        ok(zeCommandListClose(w->list));
        execute(w, profiler, w->list);
        w->launches += 6;
        ok(zt_release(profiler, w->list));
        reset_list(w->list);
    }
    assert_true(zt_get_info(profiler).counts.lost > 0 && zt_get_info(profiler).counts.dropped > 0);
    check_reports(profiler);
    assert_contains(written(profiler, ZT_FORMAT_TABLE), zt_get_info(NULL).causes[ZT_LOST_REPORT_LOST].name);
    assert_contains(written(profiler, ZT_FORMAT_TABLE), zt_get_info(NULL).causes[ZT_DROPPED_NO_PROBE].name);
    char line[128];
    zt_counts counts = zt_get_info(profiler).counts;
    snprintf(line, sizeof line, "\n\"\",\"lost: report lost\",\"\",\"profiler\",\"samples\",event,sum,%d,",
             (int)counts.lost);
    assert_contains(written(profiler, ZT_FORMAT_CSV), line);
    snprintf(line, sizeof line, "\n\"some\",\"dropped\",\"\",\"profiler\",\"samples\",event,sum,%d,",
             (int)counts.dropped);
    assert_contains(first_buffer.bytes, line);
}

/* The figures of a region whose samples are all lost are NaN. */
static void test_files_without_figures(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    gpu.behave(SOFTGPU_REPORT_LOST, 1);
    run(w, profiler, "lost");
    collect_all(profiler);
    check_reports(profiler);
    assert_null(strstr(written(profiler, ZT_FORMAT_CSV), "nan"));
    assert_null(strstr(written(profiler, ZT_FORMAT_TABLE), "nan"));
}

/* A region without figures changes neither the units nor the columns of others. */
static void test_units_beside_a_region_that_was_dropped(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    append(w, profiler, w->immediate, "measured");
    inject("zetCommandListAppendMetricQueryBegin", 1, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    append(w, profiler, w->immediate, "refused");
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    assert_contains(written(profiler, ZT_FORMAT_TABLE), "refused");
    const char *table = written(profiler, ZT_FORMAT_TABLE);
    assert_true(strstr(table, " us ") || strstr(table, " ms ")); /* ms if the machine was busy */
    w->message_count = 0;
}

static void test_files_without_regions(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    check_reports(profiler);
    assert_contains(written(profiler, ZT_FORMAT_TABLE), "No region has samples: ");
    assert_null(strstr(first_buffer.bytes, "---"));
}

/* A table has 30 rows, or as many as ZT_ROWS says. What is left out is counted, with its share. */
static void test_most_rows(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "";
    zt_profiler *profiler = open_profiler(w, &config);
    double hidden = 0, all = 0;
    for (int i = 0; i < 33; i++) {
        char name[16];
        snprintf(name, sizeof name, "row %d", i);
        run(w, profiler, name);
    }
    collect_all(profiler);
    const char *text = written(profiler, ZT_FORMAT_TABLE), *note;
    for (uint32_t i = 0; i < 33; i++) {
        char name[16];
        zt_region_info info;
        snprintf(name, sizeof name, "\nrow %u ", i);
        ok(zt_get_region(profiler, i, &info));
        all += info.time_ns.sum;
        hidden += strstr(text, name) ? 0 : info.time_ns.sum;
    }
    assert_true(hidden > 0);
    note = strstr(text, "\n3 more rows are left out, with ");
    assert_non_null(note);
    assert_true(fabs(atof(note + strlen("\n3 more rows are left out, with ")) - 100 * hidden / all) <= 0.051);
    assert_contains(note, "% of the GPU time: set ZT_ROWS=0");
    setenv("ZT_ROWS", "0", 1);
    assert_null(strstr(written(profiler, ZT_FORMAT_TABLE), "left out"));
    for (uint32_t i = 0; i < 33; i++) {
        char name[16];
        snprintf(name, sizeof name, "\nrow %u ", i);
        assert_contains(first_buffer.bytes, name);
    }
    setenv("ZT_ROWS", "32", 1);
    assert_contains(written(profiler, ZT_FORMAT_TABLE), "\n1 more row is left out, with ");
    setenv("ZT_ROWS", "some", 1);
    assert_contains(written(profiler, ZT_FORMAT_TABLE), "\n3 more rows are left out, with ");
    unsetenv("ZT_ROWS");
}

static void test_names_of_all_kinds(void **state) {
    world *w = *state;
    static char longest[10001];
    const char *names[] = {
        "\"quoted\"",
        "\"",
        "a,b,,c",
        "two\nlines",
        "\r\n",
        "tab\there",
        "back\\slash",
        "1\xff\xfe\x80",
        "2\xe2\x82",
        "3\xc0\xafz",
        "4\xed\xa0\x80y",
        "5\xf5\x90\x80\x80",
        "gr\xc3\xbc\xc3\x9f dich",
        "\xf0\x9f\x98\x80",
        "",
        " spaces ",
        "=1+1",
        "\x01\x1f\x7f",
        "'",
        "%s%n",
        "</script><script>alert(1)</script>",
        "<!--",
        longest,
    };
    memset(longest, 'x', 10000);
    zt_profiler *profiler = measure_regions(w, "MemoryProfile", names, sizeof names / sizeof names[0]);
    check_reports(profiler);
    assert_in_range(strlen(written(profiler, ZT_FORMAT_TABLE)), 1000, 5000); /* no name in full */
}

/* Each pass has its own GPU times. */
static void test_files_of_passes(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_two_passes(w);
    ZT_PASSES(profiler) {
        run(w, profiler, "in both");
        run(w, profiler, "twice");
        run(w, profiler, "twice");
    }
    run(w, profiler, "in one");
    collect_all(profiler);
    assert_int_equal(zt_get_info(profiler).pass_count, 2);
    check_reports(profiler);
    assert_contains(written(profiler, ZT_FORMAT_JSON), "\"differs\":\"missing");
}

static void test_files_of_tiles(void **state) {
    world *w = *state;
    gpu.set_devices(1, 2);
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    run(w, profiler, "some");
    run(w, profiler, "other");
    collect_all(profiler);
    assert_int_equal(zt_get_info(profiler).tile_count, 2);
    check_reports(profiler);
}

/* Regions have times and the metrics of a stream; the page has the timeline. */
static void test_files_of_latencies(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "";
    config.timeline = 100;
    zt_profiler *profiler = open_profiler(w, &config);
    for (int i = 0; i < 5; i++)
        append(w, profiler, w->list, i % 2 ? "odd" : "even");
    ok(zeCommandListClose(w->list));
    for (int i = 0; i < 3; i++)
        execute(w, profiler, w->list);
    collect_all(profiler);
    check_reports(profiler);
    inject("zeCommandListAppendWriteGlobalTimestamp", 1, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    run(w, profiler, "dropped"); /* from now on, it is not known how much of the time is idle */
    collect_all(profiler);
    check_reports(profiler);
    ok(zt_reset(profiler, w->list));
}

static void test_files_of_streamed_metrics(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    zt_stats streamed;
    config.groups = "";
    config.timeline = 100;
    zt_profiler *profiler = open_profiler(w, &config);
    stream_marked_region(w, profiler);
    ok(zt_get_stats(profiler, 0, ZT_STREAMED(0), &streamed));
    assert_true(streamed.count > 0);
    check_reports(profiler);
    assert_contains(written(profiler, ZT_FORMAT_HTML), "\"timeline\":{\"samples\":");
    assert_contains(first_buffer.bytes, "\"spans\":[\n[0,0,");
}

/* Facts for those who read a report later, also from packed statistics. */
static void test_files_state_where_they_are_from(void **state) {
    world *w = *state;
    ze_device_properties_t device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2};
    ze_driver_properties_t driver = {.stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES};
    ze_pci_ext_properties_t pci = {.stype = ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES};
    static char packed[1 << 20];
    size_t size = sizeof packed;
    char expected[512];
    zt_profiler *profiler = measure_region(w, NULL), *back;
    ok(zeDeviceGetProperties(w->device, &device));
    ok(zeDriverGetProperties(w->driver, &driver));
    ok(zeDevicePciGetPropertiesExt(w->device, &pci));
    snprintf(expected, sizeof expected,
             "\n\"device\":{\"name\":\"%s\",\"driver_version\":\"%u.%u.%u\","
             "\"uuid\":\"736f6674-6770-7500-0000-0000000000%02x\",\"pci\":\"%04x:%02x:%02x.%x\","
             "\"core_clock_mhz\":%u,\"timer_hz\":%llu}",
             device.name, driver.driverVersion >> 24, driver.driverVersion >> 16 & 255,
             driver.driverVersion & 65535, device.uuid.id[15], pci.address.domain, pci.address.bus,
             pci.address.device, pci.address.function, device.coreClockRate,
             (unsigned long long)device.timerResolution);
    assert_contains(written(profiler, ZT_FORMAT_JSON), expected);
    assert_contains(first_buffer.bytes, "test_reports\",\"date\":");
    ok(zt_pack(profiler, packed, &size));
    ok(zt_unpack(packed, size, NULL, &back));
    assert_contains(written(back, ZT_FORMAT_JSON), expected);
    assert_contains(first_buffer.bytes, "test_reports\",\"date\":");
    zt_close(back);
}

/* The driver of a sub-device is that of its root device. */
static void test_files_of_a_sub_device(void **state) {
    world *w = *state;
    ze_device_handle_t sub_devices[2];
    uint32_t count = 2;
    zt_config config = config_of(w);
    gpu.set_devices(1, 2);
    ok(zeDeviceGetSubDevices(w->device, &count, sub_devices));
    zt_profiler *profiler = open_on(w, sub_devices[1], &config);
    assert_contains(written(profiler, ZT_FORMAT_JSON),
                    "\"name\":\"Software device (sub-device)\",\"driver_version\":\"0.0.1\"");
}

/* What the driver does not report is not known, and no reason to fail. */
static void test_files_without_facts(void **state) {
    world *w = *state;
    static const struct {
        const char *function, *missing;
    } cases[] = {{"zeDriverGet", "\"driver_version\":\"\""},
                 {"zeDeviceGet", "\"driver_version\":\"\""},
                 {"zeDriverGetProperties", "\"driver_version\":\"\""},
                 {"zeDevicePciGetPropertiesExt", "\"pci\":\"\""}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        inject(cases[i].function, 1, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
        zt_profiler *profiler = measure_region(w, NULL);
        assert_contains(written(profiler, ZT_FORMAT_JSON), cases[i].missing);
        assert_int_equal(w->message_count, 0);
        close_profiler(w, profiler);
    }
}

/* What limits a region, and the columns that a table begins with. */
static void test_files_of_known_metrics(void **state) {
    world *w = *state;
    static const softgpu_metric metrics[] = {
        {"XVE_STALL", "XVE", "percent", ZET_METRIC_TYPE_DURATION, ZET_VALUE_TYPE_FLOAT32},
        {"XVE_THREADS_OCCUPANCY_ALL", "XVE", "percent", ZET_METRIC_TYPE_DURATION, ZET_VALUE_TYPE_FLOAT32},
        {"GPU_MEMORY_BYTE_READ_RATE", "Memory", "GBpS", ZET_METRIC_TYPE_THROUGHPUT, ZET_VALUE_TYPE_FLOAT32},
        {"L3_HIT", "L3", "events", ZET_METRIC_TYPE_EVENT, ZET_VALUE_TYPE_UINT64},
        {"L3_MISS", "L3", "events", ZET_METRIC_TYPE_EVENT, ZET_VALUE_TYPE_UINT64},
    };
    const double values[] = {70, 30, 1.5, 3, 1};
    assert_true(gpu.list_metrics("Known", metrics, 5));
    for (int i = 0; i < 5; i++)
        assert_true(gpu.set_metric(metrics[i].name, values[i]));
    zt_profiler *profiler = open_groups(w, "Known");
    for (int i = 0; i < 10; i++)
        run(w, profiler, "waiting");
    collect_all(profiler);
    check_reports(profiler);
    const char *json = written(profiler, ZT_FORMAT_JSON);
    assert_contains(json, "\"what\":\"latency\",\"why\":\"Probably latency: ");
    assert_contains(json, "\"bytes\":1500000000,");
    assert_contains(json,
                    "\"columns\":[\"XVE_THREADS_OCCUPANCY_ALL\",\"XVE_STALL\",\"GPU_MEMORY_BYTE_READ_RATE\","
                    "\"L3 hits\"");
    assert_contains(json, "\"XVE_STALL\":{\"label\":\"EU stall\",\"name\":\"XVE_STALL\",");
    assert_contains(json, "\"L3 hits\":{\"count\":10,\"sum\":null,\"mean\":75,");
}

/* ==== the table =========================================================================================== */

/* The table as a UTF-8 terminal shows it. It contains no control characters. */
static size_t width_of(const char *line, size_t length) {
    size_t width = 0, used;
    mbstate_t between;
    memset(&between, 0, sizeof between);
    for (; length > 0; line += used, length -= used) {
        wchar_t letter;
        used = mbrtowc(&letter, line, length, &between);
        assert_in_range(used, 1, length);
        assert_in_range(wcwidth(letter), 0, 2);
        width += (size_t)wcwidth(letter);
    }
    return width;
}

typedef void (*line_fn)(const char *line, size_t length, void *user);

static void each_line(const char *text, line_fn visit, void *user) {
    while (*text) {
        size_t length = strcspn(text, "\n");
        visit(text, length, user);
        text += length + (text[length] == '\n');
    }
}

typedef struct table {
    size_t widest, rule;
    int rows, after_rule;
    size_t row_width;
} table;

static void look_at_line(const char *line, size_t length, void *user) {
    table *seen = (table *)user;
    size_t width = width_of(line, length);
    if (width > seen->widest)
        seen->widest = width;
    if (length == 0) {
        seen->after_rule = 0;
    } else if (length > 20 && strspn(line, "-") == length) {
        seen->rule = width;
        seen->after_rule = 1;
    } else if (seen->after_rule && strncmp(line, "region", 6) == 0) {
        seen->rows++;
        assert_int_equal(width, seen->rule); /* the last column ends where the rule does */
    }
}

static table look_at(const char *text) {
    table seen;
    memset(&seen, 0, sizeof seen);
    each_line(text, look_at_line, &seen);
    return seen;
}

static void test_table_is_aligned_and_fits(void **state) {
    world *w = *state;
    const char *widths[] = {"80", "100", "132", "200", "1000"};
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    run(w, profiler, "region");
    run(w, profiler, "region of g\xc3\xbcnther");
    run(w, profiler, "region with a name that is longer than any column of a table should be");
    run(w, profiler, "region\twith\ncontrol");
    run(w, profiler,
        "region\xc2\x9b"
        "31mred\xe2\x80\xa8 \xe2\x80\xae");
    run(w, profiler, "region \xe7\x9f\xa9\xe9\x98\xb5\xe4\xb9\x98\xe6\xb3\x95");
    run(w, profiler,
        "region \xe7\x9f\xa9\xe9\x98\xb5\xe4\xb9\x98\xe6\xb3\x95 "
        "\xe7\x9f\xa9\xe9\x98\xb5\xe4\xb9\x98\xe6\xb3\x95\xe7\x9f\xa9\xe9\x98\xb5\xe4\xb9\x98");
    run(w, profiler, "region \xed\x95\x9c\xea\xb5\xad \xef\xbc\xa1 \xf0\x9f\x9a\x80");
    run(w, profiler, "region e\xcc\x81");
    collect_all(profiler);
    for (int i = 0; i < 5; i++) {
        setenv("COLUMNS", widths[i], 1);
        table seen = look_at(printed(profiler));
        assert_int_equal(seen.rows, 9);
        assert_true(seen.rule > 40);
        assert_in_range(seen.widest, 40, atoi(widths[i])); /* with the sentences below it */
    }
    assert_true(look_at(printed(profiler)).rule > 132); /* more room, more metrics */
}

static void test_table_has_units_and_figures(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.columns = "GPGPU_THREADGROUP_COUNT,GPU_BUSY";
    zt_profiler *profiler = open_profiler(w, &config);
    for (int i = 0; i < 10; i++)
        run(w, profiler, "region");
    collect_all(profiler);
    const char *text = written(profiler, ZT_FORMAT_TABLE);
    assert_contains(text, "%");
    assert_contains(text, "median");
    assert_contains(text, "p95");
    assert_contains(text, "  10 "); /* samples */
    assert_contains(text, " 4");    /* work-groups of one */
}

static void test_columns_are_chosen(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.columns = "GPGPU_THREADGROUP_COUNT";
    zt_profiler *profiler = measure_region(w, &config);
    assert_contains(written(profiler, ZT_FORMAT_TABLE), "THREADGROUP");
    assert_null(strstr(first_buffer.bytes, "GPU_BUSY"));
    close_profiler(w, profiler);
    setenv("ZT_COLUMNS", "GPU_BUSY,GPU_BUSY", 1);
    profiler = measure_region(w, &config);
    assert_contains(written(profiler, ZT_FORMAT_TABLE), "GPU_BUSY");
    assert_null(strstr(first_buffer.bytes, "THREADGROUP"));
    assert_contains(written(profiler, ZT_FORMAT_JSON), "\"columns\":[\"GPU_BUSY\"]");
}

/* A column is as wide as its longest figure, which need not be its largest. */
static void test_wide_figures_fit(void **state) {
    world *w = *state;
    enum { METRICS = 16 };
    static const double values[] = {5e11, -5e11, 1e13, -1e13, 3};
    char names[METRICS][8], columns[METRICS * 8] = "";
    softgpu_metric metrics[METRICS];
    zt_config config = config_of(w);
    for (int i = 0; i < METRICS; i++) {
        softgpu_metric metric = {names[i], "X", "", ZET_METRIC_TYPE_RATIO, ZET_VALUE_TYPE_FLOAT64};
        snprintf(names[i], sizeof names[i], "V%d", i);
        strcat(strcat(columns, names[i]), ",");
        metrics[i] = metric;
    }
    assert_true(gpu.list_metrics("Wide", metrics, METRICS));
    config.groups = "Wide";
    config.columns = columns;
    zt_profiler *profiler = open_profiler(w, &config);
    for (int i = 0; i < 5; i++) {
        char name[16];
        snprintf(name, sizeof name, "%g", values[i]);
        for (int m = 0; m < METRICS; m++)
            assert_true(gpu.set_metric(names[m], values[i]));
        run(w, profiler, name);
        collect_all(profiler);
    }
    const char *text = written(profiler, ZT_FORMAT_TABLE);
    assert_contains(text, " -500000000000");
    assert_in_range(look_at(text).widest, 60, 80);
    close_profiler(w, profiler);
    assert_true(gpu.list_metrics("Wide", NULL, 0));
}

/* The bytes of two copies are a million apart, and yet the decimals of the column show both. */
static void test_small_figures_are_shown(void **state) {
    world *w = *state;
    enum { MOST = 1 << 20 };
    zt_config config = config_of(w);
    void *memory;
    ze_host_mem_alloc_desc_t host = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, NULL, 0};
    config.columns = "GPU_MEMORY_BYTE_READ";
    zt_profiler *profiler = open_profiler(w, &config);
    ok(zeMemAllocHost(w->context, &host, 2 * MOST, 64, &memory));
    memset(memory, 0, 2 * MOST);
    for (size_t size = MOST; size; size = size == MOST ? 33 : 0)
        ZT_REGION(profiler, w->immediate, size == MOST ? "much" : "little")
    ok(zeCommandListAppendMemoryCopy(w->immediate, (char *)memory + MOST, memory, size, NULL, 0, NULL));
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    assert_contains(written(profiler, ZT_FORMAT_TABLE), " 1048.58\n");
    assert_contains(first_buffer.bytes, "    0.03\n");
    ok(zeMemFree(w->context, memory));
}

/* A name that is too long for a heading is replaced by what it means. Columns are shown once. */
static void test_columns_of_any_length(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    char columns[4000] = "";
    for (int i = 0; i < 26; i++)
        strcat(columns, "COMMAND_PARSER_COMPUTE_ENGINE_DISPATCH_KERNEL_COUNT,");
    strcat(columns, "GPU_BUSY,GPU_BUSY");
    config.columns = columns;
    zt_profiler *profiler = measure_region(w, &config);
    const char *text = written(profiler, ZT_FORMAT_TABLE);
    assert_contains(text, "GPU_BUSY");
    assert_contains(text, "kernels");
    assert_null(strstr(strstr(text, "GPU_BUSY") + 1, "GPU_BUSY"));
    assert_null(strstr(text, "There is no metric"));
    assert_null(strstr(text, "There is no room"));
}

/* Columns that were chosen are all shown, in tables of the usual width. */
static void test_columns_of_any_number(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    char columns[4000] = "";
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    uint32_t count = zt_get_info(profiler).metric_count;
    for (uint32_t i = 0; i < count; i++) {
        strcat(columns, i ? "," : "");
        strcat(columns, zt_get_metric(profiler, i)->name);
    }
    close_profiler(w, profiler);
    config.columns = columns;
    profiler = measure_region(w, &config);
    const char *text = written(profiler, ZT_FORMAT_TABLE);
    uint32_t tables = 0;
    for (const char *row = text; (row = strstr(row, "\nregion  ")) != NULL; row++)
        tables++;
    assert_in_range(tables, 6, count); /* two lines of headings and figures each */
    assert_in_range(look_at(text).widest, 60, 80);
    assert_contains(text, "ReportId"); /* even if it means nothing */
    assert_null(strstr(text, "There is no room"));
}

/* Figures of the GPU time can be chosen beside metrics, or alone. */
static void test_minimum_and_maximum_on_request(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.columns = "GPU_BUSY";
    zt_profiler *profiler = measure_region(w, &config);
    assert_null(strstr(written(profiler, ZT_FORMAT_TABLE), " max "));
    close_profiler(w, profiler);
    setenv("ZT_COLUMNS", "min, max,GPU_BUSY,count,p95,total", 1);
    profiler = measure_region(w, &config);
    const char *text = written(profiler, ZT_FORMAT_TABLE);
    assert_contains(text, " p95 ");
    assert_contains(text, " min ");
    assert_contains(text, " max ");
    assert_contains(text, "GPU_BUSY");
    assert_null(strstr(text, "There is no metric"));
    assert_int_equal(heard(w, "[NO_SUCH_METRIC]"), 0);
}

/* A table in which each figure is known: that of metrics that are set, over two regions. */
static zt_profiler *measure_set_metrics(world *w, const char *columns) {
    static const softgpu_metric metrics[] = {
        {"SHARE", "", "percent", ZET_METRIC_TYPE_RATIO, ZET_VALUE_TYPE_FLOAT64},
        {"RATE", "", "GBpS", ZET_METRIC_TYPE_RATIO, ZET_VALUE_TYPE_FLOAT64},
        {"TIME", "", "us", ZET_METRIC_TYPE_DURATION, ZET_VALUE_TYPE_FLOAT64},
        {"COUNTER", "", "events", ZET_METRIC_TYPE_EVENT, ZET_VALUE_TYPE_FLOAT64},
        {"FLAG", "", "", ZET_METRIC_TYPE_FLAG, ZET_VALUE_TYPE_BOOL8},
    };
    static const double values[2][4] = {{99.9961, 123.4567, 250, 0.0001}, {50, 0.98765, 1000, 4}};
    zt_config config = config_of(w);
    config.groups = "Figures";
    config.columns = columns;
    assert_true(gpu.list_metrics("Figures", metrics, 5));
    assert_true(gpu.set_metric("FLAG", 1));
    zt_profiler *profiler = open_profiler(w, &config);
    for (int region = 0; region < 2; region++) {
        for (int i = 0; i < 4; i++)
            assert_true(gpu.set_metric(metrics[i].name, values[region][i]));
        run(w, profiler, region ? "two" : "one");
        collect_all(profiler);
    }
    return profiler;
}

/* One number of decimals a column; what is not 0 is not shown as 0. A flag counts samples. Times have the
   unit of the table, whatever that of the metric. */
static void test_figures_of_a_column(void **state) {
    world *w = *state;
    zt_profiler *profiler = measure_set_metrics(w, "SHARE,RATE,COUNTER,FLAG");
    const char *text = written(profiler, ZT_FORMAT_TABLE);
    assert_contains(text, "  SHARE     RATE              FLAG\n");
    assert_contains(text, "      %     GB/s  COUNTER  samples\n");
    assert_contains(text, "  100.0  123.457   <0.001        1\n");
    assert_contains(text, "   50.0    0.988    4.000        1\n");
    close_profiler(w, profiler);
    profiler = measure_set_metrics(w, "TIME");
    zt_stats time = stats_of(profiler, "two", "TIME");
    assert_close(time.mean, 1000);
    text = written(profiler, ZT_FORMAT_TABLE);
    int is_slow = !strstr(text, "    us\n"); /* the unit suits the regions' own times, too */
    assert_contains(text, is_slow ? "    ms\n" : "    us\n");
    assert_contains(text, is_slow ? "  0.250\n" : "  250\n");
    assert_contains(text, is_slow ? "  1.000\n" : " 1000\n");
    close_profiler(w, profiler);
    assert_true(gpu.list_metrics("Figures", NULL, 0));
}

/* Metrics as no device has them yet: their group, each with a value in one region. */
typedef struct odd_metric {
    softgpu_metric metric;
    double value;
} odd_metric;

static zt_profiler *measure_odd_metrics(world *w, const odd_metric *odd, uint32_t count) {
    softgpu_metric metrics[64];
    char columns[4096] = "";
    zt_config config = config_of(w);
    assert_true(count <= 64);
    for (uint32_t i = 0; i < count; i++) {
        metrics[i] = odd[i].metric;
        strcat(strcat(columns, i ? "," : ""), odd[i].metric.name);
    }
    assert_true(gpu.list_metrics("Odd", metrics, count));
    for (uint32_t i = 0; i < count; i++)
        assert_true(gpu.set_metric(metrics[i].name, odd[i].value));
    config.groups = "Odd";
    config.columns = columns;
    zt_profiler *profiler = open_profiler(w, &config);
    run(w, profiler, "region");
    collect_all(profiler);
    assert_true(gpu.list_metrics("Odd", NULL, 0));
    return profiler;
}

#define ODD(name, units, type, value)                                                                        \
    { {name, "", units, type, ZET_VALUE_TYPE_FLOAT64}, value }

/* A name without words is broken where a line is full, and shortened if it is longer than two; never inside of a
   character. */
static void test_headings_of_names_without_words(void **state) {
    world *w = *state;
    static const odd_metric odd[] = {
        ODD("abcdefghijklmnopqrstuvwx", "", ZET_METRIC_TYPE_RATIO, 1),
        ODD("abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqr", "", ZET_METRIC_TYPE_RATIO, 2),
        ODD("\xc3\xa1\xc3\xa9\xc3\xad\xc3\xb3\xc3\xba\xc3\xa1\xc3\xa9\xc3\xad\xc3\xb3\xc3\xba"
            "\xc3\xa1\xc3\xa9\xc3\xad\xc3\xb3\xc3\xba\xc3\xa1\xc3\xa9\xc3\xad\xc3\xb3\xc3\xba",
            "", ZET_METRIC_TYPE_RATIO, 3),
        ODD("x\xc3\xa9\xc3\xad\xc3\xb3\xc3\xba\xc3\xa1\xc3\xa9\xc3\xad\xc3\xb3\xc3\xba"
            "\xc3\xa1\xc3\xa9\xc3\xad\xc3\xb3\xc3\xba\xc3\xa1\xc3\xa9\xc3\xad\xc3\xb3y",
            "", ZET_METRIC_TYPE_RATIO, 4),
        ODD("abc{def}Ghijklmnopqrstuvwx", "", ZET_METRIC_TYPE_RATIO, 5)};
    zt_profiler *profiler = measure_odd_metrics(w, odd, sizeof odd / sizeof *odd);
    setenv("COLUMNS", "200", 1);
    const char *text = printed(profiler);
    assert_contains(text,
                    "            abcdef  abcdefghijklmno...  "
                    "\xc3\xa1\xc3\xa9\xc3\xad\xc3\xb3\xc3\xba\xc3\xa1\xc3\xa9...  "
                    "x\xc3\xa9\xc3\xad\xc3\xb3\xc3\xba\xc3\xa1\xc3\xa9\xc3\xad...            abc{def}\n");
    assert_contains(text, "  ghijklmnopqrstuvwx  abcdefghijklmnopqr");
    for (const char *at = text; *at; at++) /* each character is whole */
        if ((unsigned char)at[0] == 0xc3)
            assert_true(((unsigned char)at[1] & 0xc0) == 0x80);
    close_profiler(w, profiler);
}

/* More columns than one table has, on a line that has room for them all. */
static void test_more_columns_than_a_table_has(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    char columns[8192] = "";
    int tables = 0;
    gpu.behave(SOFTGPU_B580_METRICS, 1);
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    uint32_t count = zt_get_info(profiler).metric_count;
    for (uint32_t i = 0; i < count; i++)
        strcat(strcat(columns, i ? "," : ""), zt_get_metric(profiler, i)->name);
    close_profiler(w, profiler);
    assert_in_range(count, 48, 96);
    config.columns = columns;
    profiler = measure_region(w, &config);
    setenv("COLUMNS", "2000", 1);
    const char *text = printed(profiler);
    for (const char *row = text; (row = strstr(row, "\nregion  ")) != NULL; row++)
        tables++;
    assert_int_equal(tables, 4); /* two, with a line of headings and one of figures each */
    assert_contains(text, "ReportsCount");
    close_profiler(w, profiler);
}

/* Negative figures, very large ones, "%" as the unit of a share, and a type that the library does not know. */
static void test_odd_figures(void **state) {
    world *w = *state;
    static const odd_metric odd[] = {ODD("Negative", "", ZET_METRIC_TYPE_RATIO, -0.25),
                                     ODD("Tiny", "", ZET_METRIC_TYPE_RATIO, 1e-9),
                                     ODD("Largest", "", ZET_METRIC_TYPE_RATIO, 2.5e15),
                                     ODD("Share", "%", ZET_METRIC_TYPE_RATIO, 12.34),
                                     ODD("Bandwidth", "MBps", ZET_METRIC_TYPE_THROUGHPUT, 2002),
                                     ODD("Power", "W", ZET_METRIC_TYPE_RATIO, 59999),
                                     ODD("Newest", "", (zet_metric_type_t)99, 7)};
    zt_profiler *profiler = measure_odd_metrics(w, odd, 7);
    setenv("COLUMNS", "200", 1);
    const char *text = printed(profiler);
    assert_contains(text, "                              Share  Bandwidth  Power\n");
    assert_contains(text, "  Negative    Tiny   Largest      %       MB/s      W  Newest\n");
    assert_contains(text, "    -0.250  <0.001  2.50e+15   12.3       2002  59999       -\n");
    assert_contains(written(profiler, ZT_FORMAT_CSV), "\"Newest\",\"Odd\",\"\",\"\",other,");
    close_profiler(w, profiler);
}

/* Two steps, of which each has two "solve", and these a "kernel" each; and "kernel" alone. */
static void run_steps(world *w, zt_profiler *profiler, int alone) {
    for (int i = 0; i < 2; i++)
        ZT_REGION(profiler, w->immediate, "step") {
            launch(w, w->immediate);
            for (int k = 0; k < 2; k++)
                ZT_REGION(profiler, w->immediate, "solve; a name that is longer than a row has room for") {
                    for (int launches = 0; launches < 20; launches++)
                        launch(w, w->immediate);
                    append(w, profiler, w->immediate, "kernel");
                }
        }
    for (int i = 0; i < alone; i++)
        append(w, profiler, w->immediate, "kernel");
    append(w, profiler, w->immediate, "other");
    finish_immediate(w, w->immediate);
    collect_all(profiler);
}

/* The row of a region: the blanks before its name, and its first figures. */
typedef struct shown_row {
    const char *at;
    int indent;
    double share, count, total, own;
} shown_row;

static shown_row row_of(const char *text, const char *name) {
    shown_row row = {text, 0, 0, 0, 0, NAN};
    for (row.at = strchr(text, '\n'); row.at; row.at = strchr(row.at + 1, '\n')) {
        row.indent = (int)strspn(row.at + 1, " ");
        const char *figures = row.at + 1 + row.indent;
        if (strncmp(figures, name, strlen(name)) != 0 || !strchr(" ;", figures[strlen(name)]))
            continue;
        double *const numbers[] = {&row.share, &row.count, &row.total, &row.own};
        char word[32];
        int length;
        figures = strstr(figures, "  ");
        for (int i = 0; i < 4 && sscanf(figures, "%31s%n", word, &length) == 1; i++, figures += length)
            *numbers[i] = *word == '<' ? strtod(word + 1, NULL) / 2 : strtod(word, NULL); /* "<0.1" */
        return row;
    }
    fail_msg("there is no row of %s in: %s", name, text);
    return row;
}

/* A region is below the one that it is inside, indented. Shares are of own times, and make a whole. */
static void test_nested_regions_in_a_table(void **state) {
    world *w = *state;
    static const char *const names[] = {"step", "solve", "kernel", "other"};
    static const int indents[] = {0, 2, 4, 0};
    zt_config config = config_of(w);
    config.groups = "";
    zt_profiler *profiler = open_profiler(w, &config);
    run_steps(w, profiler, 0);
    const char *text = written(profiler, ZT_FORMAT_TABLE);
    double sum = 0, own_ns = 0;
    for (uint32_t i = 0; i < 4; i++) {
        zt_region_info info;
        ok(zt_get_region(profiler, i, &info));
        own_ns += info.own_ns;
    }
    for (uint32_t i = 0; i < 4; i++) {
        zt_region_info info;
        shown_row row = row_of(text, names[i]);
        ok(zt_get_region(profiler, i, &info));
        assert_int_equal(row.indent, indents[i]);
        assert_true(fabs(row.share - 100 * info.own_ns / own_ns) <= 0.0501);
        assert_true(row.count == (double)info.count);
        assert_true(fabs(row.own / row.total - info.own_ns / info.total_ns) < 0.01);
        assert_true(i == 0 || i == 3 || row.at > row_of(text, names[i - 1]).at);
        sum += row.share;
    }
    assert_true(fabs(sum - 100) < 0.3);
    assert_in_range(look_at(text).widest, 60, 80);
    assert_contains(text, "\n    kernel ");
    assert_contains(unbroken(text), "Own times do not include regions inside, which are indented. ");
    assert_null(strstr(unbroken(text), "is not known"));
    check_reports(profiler);
}

/* However deep they are, names keep half of their column, and the rows fit. */
static void test_deeply_nested_regions_in_a_table(void **state) {
    world *w = *state;
    enum { DEPTH = 12 };
    const char *widths[] = {"40", "60", "80"};
    zt_region regions[DEPTH];
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    for (int i = 0; i < DEPTH; i++) {
        char name[100];
        snprintf(name, sizeof name, "%c: a region with a name that is longer than its column, and ends in %c",
                 'a' + i, 'A' + i);
        regions[i] = zt_begin(profiler, w->immediate, name);
        launch(w, w->immediate);
    }
    for (int i = DEPTH; i-- > 0;)
        zt_end(&regions[i]);
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    for (int i = 0; i < 3; i++) {
        setenv("COLUMNS", widths[i], 1);
        const char *text = printed(profiler);
        assert_in_range(look_at(text).widest, 20, atoi(widths[i]));
        for (int k = 0; k < DEPTH; k++) {
            char begin[3] = {(char)('a' + k), ':', 0}, end[3] = {(char)('A' + k), ' ', 0};
            const char *row = strstr(text, begin);
            assert_true(row && strstr(row, end) && strstr(row, end) < strchr(row, '\n'));
        }
    }
}

/* A name inside of different regions has a row in each, with its own figures; in files, too, beside the sum. Without
   nesting, own times are the total. */
static void test_rows_of_paths(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "";
    zt_profiler *profiler = open_profiler(w, &config);
    run_steps(w, profiler, 1);
    zt_region_info inside, alone, both;
    const char *solve = "step;solve; a name that is longer than a row has room for;kernel";
    ok(zt_get_region(profiler, zt_find_path(profiler, solve), &inside));
    ok(zt_get_region(profiler, zt_find_path(profiler, "kernel"), &both));
    assert_string_equal(inside.name, "kernel");
    assert_int_equal(inside.count, 4);
    assert_int_equal(both.count, 5);
    ok(zt_get_region(profiler, ZT_PATH(zt_get_info(profiler).path_count - 2), &alone));
    assert_string_equal(alone.name, "kernel");
    assert_int_equal(alone.count, 1);
    assert_int_equal(alone.parent, UINT32_MAX);
    assert_close(both.time_ns.sum, inside.time_ns.sum + alone.time_ns.sum);
    const char *text = written(profiler, ZT_FORMAT_TABLE);
    shown_row first = row_of(text, "kernel"), second = row_of(first.at + 1, "kernel");
    assert_int_equal(first.indent + second.indent, 4);
    assert_true((first.indent ? first : second).count == 4 && (first.indent ? second : first).count == 1);
    assert_int_equal(row_of(text, "solve").indent, 2);
    check_reports(profiler);
    assert_contains(written(profiler, ZT_FORMAT_CSV),
                    "\n\"step;solve: a name that is longer than a row has room for;kernel\",\"GPU time\",");
    assert_contains(written(profiler, ZT_FORMAT_CSV), "\n\"kernel\",\"GPU time\",");
    assert_contains(written(profiler, ZT_FORMAT_OPENMETRICS),
                    "\nzetools_region_gpu_time_seconds_count{region=\"kernel\",path=\";kernel\"} 1\n");
    close_profiler(w, profiler);
    profiler = open_profiler(w, &config);
    run(w, profiler, "alone");
    collect_all(profiler);
    text = written(profiler, ZT_FORMAT_TABLE);
    assert_null(strstr(text, " own "));
    assert_null(strstr(unbroken(text), "Own times"));
    assert_true(row_of(text, "alone").share == 100);
}

/* Its share is an estimate, and a note says why. */
static void test_own_time_that_is_not_known(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "ComputeBasic";
    zt_profiler *profiler = open_profiler(w, &config);
    gpu.behave(SOFTGPU_REPORT_LOST, 3); /* a "kernel", of which "solve" is around */
    run_steps(w, profiler, 0);
    gpu.behave(SOFTGPU_REPORT_LOST, 0);
    assert_true(zt_get_info(profiler).counts.lost > 0);
    const char *text = written(profiler, ZT_FORMAT_TABLE);
    assert_true(row_of(text, "solve").share > 0);
    assert_contains(unbroken(text), " not known, because samples are missing, regions overlap or ");
    assert_contains(unbroken(text), " share is estimated from what was collected.");
    const char *limits = strstr(text, "What limits the regions with the largest shares:");
    static const char *const names[] = {"step", "solve", "kernel", "other"};
    double smallest_listed = 100, largest_unlisted = 0;
    int listed = 0;
    assert_non_null(limits);
    for (int i = 0; i < 4; i++) {
        char paragraph[32];
        double share = row_of(text, names[i]).share;
        snprintf(paragraph, sizeof paragraph, "\n  %s%s", names[i], i == 1 ? "; " : ": ");
        if (strstr(limits, paragraph)) {
            smallest_listed = fmin(smallest_listed, share);
            listed++;
        } else {
            largest_unlisted = fmax(largest_unlisted, share);
        }
    }
    if (listed > 0) { /* else nothing is known of any, as on a busy machine, and the reason stands once */
        assert_int_equal(listed, 3);
        assert_true(smallest_listed >= largest_unlisted);
    }
    assert_contains(written(profiler, ZT_FORMAT_FOLDED),
                    ";solve: a name that is longer than a row has room for");
    assert_contains(first_buffer.bytes, ";(estimate) ");
    check_reports(profiler);
}

/* Names as frames of a stack. */
static void test_names_in_folded_stacks(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    zt_region outer = zt_begin(profiler, w->immediate, "a;b\nc\xC2\x85 d 12");
    append(w, profiler, w->immediate, "_ZN4gemm3runEv");
    append(w, profiler, w->immediate, "\xFF");
    zt_end(&outer);
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    const char *text = written(profiler, ZT_FORMAT_FOLDED);
    assert_int_equal(strncmp(text, "a:b c  d 12 ", 12), 0);
    assert_contains(text, "\na:b c  d 12;");
    assert_contains(text, "\na:b c  d 12;\xEF\xBF\xBD ");
    uint32_t lines = 0;
    for (const char *line = text; (line = strchr(line, '\n')) != NULL; line++)
        lines++;
    assert_int_equal(lines, 3);
}

/* The region that took the longest is first. One without samples is last, and has no figures. */
static void test_rows_are_sorted_by_time(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    const char *names[] = {"\nlong ", "\nshort ", "\nlost "}, *rows[3];
    run(w, profiler, "short");
    collect_all(profiler);
    run_at_least(w, profiler, "long", 2 * region_info(profiler, "short").time_ns.mean);
    collect_all(profiler);
    gpu.behave(SOFTGPU_REPORT_LOST, 1);
    run(w, profiler, "lost");
    collect_all(profiler);
    assert_int_equal(zt_get_info(profiler).counts.lost, 1);
    for (int i = 0; i < 3; i++)
        rows[i] = strstr(written(profiler, ZT_FORMAT_TABLE), names[i]);
    assert_true(rows[0] && rows[0] < rows[1] && rows[1] < rows[2]);
    assert_int_equal(strspn(rows[2], "\nlost 0-"), strcspn(rows[2] + 1, "\n") + 2);
}

/* Names are cut in the middle, because those of kernels differ at the end. */
static void test_long_names_are_cut_in_the_middle(void **state) {
    world *w = *state;
    const char *names[] = {"convolution_of_three_by_three_with_padding_and_bias_float16",
                           "convolution_of_three_by_three_with_padding_and_bias_float32"};
    const char *text = written(measure_regions(w, "ComputeBasic", names, 2), ZT_FORMAT_TABLE);
    assert_contains(text, "\nconvolut");
    assert_contains(text, "float16  ");
    assert_contains(text, "float32  ");
}

/* C++ names are shown as people write them, where the process has a C++ library. Files for scripts
   have the symbol, too. */
static void test_names_of_cpp(void **state) {
    world *w = *state;
    const char *names[] = {"_Z5scalePfi", "_Zebra", "_ZTS4Blur" /* as SYCL names kernels */};
    if (!dlsym(RTLD_DEFAULT, "__cxa_demangle")) {
        puts("skipped: there is no C++ library in the process");
        skip();
    }
    zt_config config = config_of(w);
    config.timeline = 3;
    zt_profiler *profiler = open_profiler(w, &config);
    for (int i = 0; i < 3; i++)
        run(w, profiler, names[i]);
    collect_all(profiler);
    const char *text = written(profiler, ZT_FORMAT_TABLE);
    assert_contains(text, "\nscale(float*, int)");
    assert_contains(text, "\nBlur  ");
    assert_contains(text, "\n_Zebra  ");
    assert_contains(written(profiler, ZT_FORMAT_CSV), "\n\"scale(float*, int)\",\"GPU time\"");
    assert_contains(first_buffer.bytes, "\n\"_Zebra\",\"GPU time\"");
    assert_contains(first_buffer.bytes, ",region,\"_Z5scalePfi\"\n");
    assert_contains(written(profiler, ZT_FORMAT_JSON),
                    "\n{\"name\":\"_Z5scalePfi\",\"shown\":\"scale(float*, int)\",\"count\":");
    assert_contains(first_buffer.bytes, "\n{\"name\":\"_Zebra\",\"count\":");
    assert_contains(written(profiler, ZT_FORMAT_OPENMETRICS),
                    "_seconds_count{region=\"scale(float*, int)\",symbol=\"_Z5scalePfi\"} 1\n");
    assert_contains(first_buffer.bytes, "_seconds_count{region=\"_Zebra\"} 1\n");
    assert_contains(written(profiler, ZT_FORMAT_FOLDED), "scale(float*, int) ");
    assert_contains(written(profiler, ZT_FORMAT_INSTANCES), "\n\"scale(float*, int)\",1,0,");
    assert_contains(written(profiler, ZT_FORMAT_TRACE), "\"ph\":\"X\",\"name\":\"scale(float*, int)\",");
    assert_null(strstr(first_buffer.bytes, "_Z5scale"));
    hide_symbol("__cxa_demangle");
    assert_contains(written(profiler, ZT_FORMAT_TABLE), "\n_Z5scalePfi");
    hide_symbol(NULL);
}

/* The list of a B580, with figures as of two kernels that keep the device busy. */
static zt_profiler *measure_b580(world *w) {
    static const struct {
        const char *region, *metric;
        double value;
    } values[] = {
        {"gemm", "GPU_BUSY", 99},
        {"gemm", "XVE_ACTIVE", 91.25},
        {"gemm", "XVE_STALL", 7.5},
        {"gemm", "XVE_THREADS_OCCUPANCY_ALL", 96},
        {"gemm", "XVE_INST_EXECUTED_ALU2_ALL_UTILIZATION", 83.5},
        {"gemm", "GPU_MEMORY_REQUEST_QUEUE_FULL", 3},
        {"gemm", "L3_HIT", 3e6},
        {"gemm", "L3_MISS", 1e6},
        {"copy rows", "XVE_ACTIVE", 10},
        {"copy rows", "XVE_STALL", 85},
        {"copy rows", "XVE_THREADS_OCCUPANCY_ALL", 92},
        {"copy rows", "XVE_INST_EXECUTED_ALU2_ALL_UTILIZATION", 0},
        {"copy rows", "GPU_MEMORY_REQUEST_QUEUE_FULL", 93},
        {"copy rows", "L3_HIT", 1e5},
    };
    const char *region = values[0].region;
    gpu.behave(SOFTGPU_B580_METRICS, 1);
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    for (size_t i = 0; i <= sizeof values / sizeof values[0]; i++) {
        if (i == sizeof values / sizeof values[0] || strcmp(values[i].region, region) != 0) {
            run(w, profiler, region);
            collect_all(profiler);
            region = i < sizeof values / sizeof values[0] ? values[i].region : NULL;
        }
        if (region)
            gpu.set_metric(values[i].metric, values[i].value);
    }
    return profiler;
}

/* What matters is in the table, and what says nothing is not. */
static void test_table_of_a_b580(void **state) {
    world *w = *state;
    zt_profiler *profiler = measure_b580(w);
    setenv("COLUMNS", "80", 1);
    const char *text = printed(profiler);
    assert_in_range(look_at(text).widest, 60, 80);
    assert_contains(text, "  bandwidth    compute       XMX"); /* and more, where times are short */
    assert_contains(text, "  % of peak  % of peak  active %");
    assert_contains(text, "      83.5");
    assert_contains(unbroken(text), " more: choose with ZT_COLUMNS, or write CSV or JSON, which have all.");
    setenv("COLUMNS", "136", 1); /* 120, and room for times on a busy machine, which are wider */
    text = printed(profiler);
    assert_in_range(look_at(text).widest, 100, 136);
    assert_contains(text, " XMX           EU        EU       EU ");
    assert_contains(text, "active %  occupancy %  active %  stall %  read GB/s");
    assert_contains(text, "91.2      7.5 ");
    assert_contains(text, "10.0     85.0 ");
    const char *never[] = {"Uncertainty", "THREADGROUP", "ReportId", "AvgGpu"};
    for (size_t i = 0; i < sizeof never / sizeof never[0]; i++)
        assert_null(strstr(text, never[i]));
    assert_contains(unbroken(text), "What limits the regions with the largest shares: ");
    assert_contains(unbroken(text), " copy rows: Probably ");
    assert_contains(unbroken(text), " gemm: Probably ");
}

/* Wherever memory ends, there is a message instead of a table, and nothing is leaked. */
static void test_tables_without_memory(void **state) {
    world *w = *state;
    static zt_bench_result result;
    zt_config config = config_of(w);
    config.allocator = scarce_allocator();
    zt_profiler *profiler = measure_region(w, &config);
    ze_result_t written_table = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, written_bench = written_table;
    for (int n = 0; written_table != ZE_RESULT_SUCCESS || written_bench != ZE_RESULT_SUCCESS; n++) {
        assert_in_range(n, 0, 100);
        first_buffer.size = second_buffer.size = 0;
        allocations_left = n;
        written_table = zt_write(profiler, ZT_FORMAT_TABLE, keep, &first_buffer);
        allocations_left = n;
        written_bench = zt_write_benches(profiler, &result, 1, keep, &second_buffer);
        allocations_left = -1;
        if (written_table != ZE_RESULT_SUCCESS)
            assert_result(written_table, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
        if (written_bench != ZE_RESULT_SUCCESS)
            assert_result(written_bench, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    }
    assert_contains(first_buffer.bytes, "\nregion ");
    assert_contains(second_buffer.bytes, "benchmark ");
}

/* The same for the other formats, with samples on the timeline and metrics of a stream. */
static void test_files_without_memory(void **state) {
    world *w = *state;
    static const zt_format formats[] = {ZT_FORMAT_CSV,      ZT_FORMAT_JSON,        ZT_FORMAT_HTML,
                                        ZT_FORMAT_TRACE,    ZT_FORMAT_OPENMETRICS, ZT_FORMAT_FOLDED,
                                        ZT_FORMAT_INSTANCES};
    zt_config config = config_of(w);
    config.groups = "";
    config.timeline = 10;
    config.allocator = scarce_allocator();
    zt_profiler *profiler = open_profiler(w, &config);
    stream_marked_region(w, profiler);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        ze_result_t result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
        for (int n = 0; result != ZE_RESULT_SUCCESS; n++) {
            assert_in_range(n, 0, 200);
            first_buffer.size = 0;
            allocations_left = n;
            result = zt_write(profiler, formats[i], keep, &first_buffer);
            allocations_left = -1;
            if (result != ZE_RESULT_SUCCESS)
                assert_result(result, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
        }
        assert_contains(first_buffer.bytes, "marked");
    }
}

/* Lines of headings are those above the rule; there are two at the most. */
static void count_heading(const char *line, size_t length, void *user) {
    int *lines = user;
    if (length > 20 && strspn(line, "-") == length)
        *lines = -*lines;
    else if (*lines >= 0)
        *lines = length == 0 ? 0 : *lines + 1;
}

static void test_headings_have_two_lines(void **state) {
    world *w = *state;
    const char *widths[] = {"40", "80", "120", "400"};
    zt_profiler *profiler = measure_b580(w);
    for (int i = 0; i < 4; i++) {
        int lines = 0;
        setenv("COLUMNS", widths[i], 1);
        each_line(printed(profiler), count_heading, &lines);
        assert_int_equal(lines, -2);
    }
}

/* Without the metrics that show it, the table names them, once. */
static void test_what_limits_is_not_known(void **state) {
    world *w = *state;
    gpu.behave(SOFTGPU_B580_METRICS, 1);
    zt_config config = config_of(w);
    config.groups = "";
    zt_profiler *profiler = measure_region(w, &config);
    assert_null(strstr(written(profiler, ZT_FORMAT_TABLE), "What limits"));
}

/* Several groups have the same clock metrics. */
static void test_metrics_of_several_groups_are_shown_once(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic,HostScheduler");
    run(w, profiler, "region");
    collect_all(profiler);
    setenv("COLUMNS", "1000", 1);
    const char *first = strstr(printed(profiler), "FrequencyMHz");
    assert_non_null(first);
    assert_null(strstr(first + 1, "FrequencyMHz"));
    assert_null(strstr(second_buffer.bytes, "GpuTime"));
}

static void test_unknown_column_shows_nearest_names(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.columns = "GPU_BUSSY,GPU_BUSY";
    zt_profiler *profiler = measure_region(w, &config);
    for (int i = 0; i < 3; i++)
        assert_contains(written(profiler, ZT_FORMAT_TABLE), "GPU_BUSY");
    assert_int_equal(heard(w, "'GPU_BUSSY'"), 1);
    assert_int_equal(heard(w, "'GPU_BUSY'"), 1);
}

/* Without metrics no name is near, and the note that says why there are none is enough. */
static void test_columns_without_metrics_are_not_named(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.metrics = "XVE_STALL";
    config.columns = "XVE_STALL,median,share,count";
    zt_profiler *profiler = measure_region(w, &config);
    const char *text = unbroken(written(profiler, ZT_FORMAT_TABLE));
    assert_contains(text, "There are no metrics: [NO_SUCH_METRIC] zt_open: there is no metric 'XVE_STALL'.");
    assert_null(strstr(text, "There is no metric"));
    assert_null(strstr(text, "no names"));
}

static void test_all_unknown_columns_are_named(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    char columns[4000] = "GPU_BUSSY, GpuTimes,GPU_BUSY,", name[32], line[64];
    const char *text;
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof name, "there_is_none_%d,", i);
        strcat(columns, name);
    }
    config.columns = columns;
    zt_profiler *profiler = measure_region(w, &config);
    text = written(profiler, ZT_FORMAT_TABLE);
    assert_in_range(look_at(text).widest, 60, 80);
    text = unbroken(text);
    assert_contains(text, "There is no metric 'GPU_BUSSY'. Nearest: 'GPU_BUSY', ");
    assert_contains(text, "There is no metric 'GpuTimes'. Nearest: 'GpuTime', ");
    for (int i = 0; i < 40; i++) {
        snprintf(line, sizeof line, "There is no metric 'there_is_none_%d'. Nearest: '", i);
        assert_contains(text, line);
    }
    assert_null(strstr(text, "There is no room"));
    assert_int_equal(heard(w, "[NO_SUCH_METRIC]"), 3); /* the last 40 differ in numbers alone */
}

static void test_table_shows_why_there_are_no_metrics(void **state) {
    world *w = *state;
    const char *text = NULL;
    gpu.behave(SOFTGPU_NO_METRIC_LIBRARY, 1);
    zt_config config = config_of(w);
    zt_profiler *profiler = measure_region(w, &config);
    text = zt_get_info(profiler).availability_text;
    assert_contains(unbroken(written(profiler, ZT_FORMAT_TABLE)), "There are no metrics: ");
    assert_contains(unbroken(first_buffer.bytes), text);
    assert_in_range(look_at(first_buffer.bytes).widest, 60, 80);
    assert_contains(written(profiler, ZT_FORMAT_JSON), "libigdmd");
    assert_contains(written(profiler, ZT_FORMAT_CSV), ",\"[METRIC_LIBRARY_MISSING]");
}

/* Times alone by choice are not explained in the table, only in CSV and JSON. */
static void test_table_of_times_by_choice(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "";
    zt_profiler *profiler = measure_region(w, &config);
    assert_contains(written(profiler, ZT_FORMAT_TABLE), "times only");
    assert_null(strstr(first_buffer.bytes, "[TIMES_BY_CHOICE]"));
    assert_contains(written(profiler, ZT_FORMAT_CSV), "[TIMES_BY_CHOICE]");
}

/* Samples that are not in the figures are counted below the table, with what to do. */
static void test_table_shows_what_is_not_in_it(void **state) {
    world *w = *state;
    ze_event_handle_t gate;
    ze_command_list_handle_t held;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    create_event(w, 1, &gate);
    create_list(w, &held);
    ok(zeCommandListAppendWaitOnEvents(held, 1, &gate));
    append(w, profiler, held, "region");
    ok(zeCommandListClose(held));
    ok(zt_execute(profiler, w->queue, 1, &held, NULL));
    assert_contains(written(profiler, ZT_FORMAT_TABLE),
                    "\n1 sample is in flight. Call zt_collect when the work is done.\n");
    assert_null(strstr(first_buffer.bytes, "recorded and not seen to run"));
    append(w, profiler, w->list, "region");
    append(w, profiler, w->list, "region");
    assert_contains(written(profiler, ZT_FORMAT_TABLE), "\n2 samples are recorded and not seen to run yet. ");
    assert_null(strstr(first_buffer.bytes, "not ended"));
    zt_region open = zt_begin(profiler, w->list, "region");
    assert_contains(written(profiler, ZT_FORMAT_TABLE),
                    "\n1 sample is not ended, such as 'region'. Call zt_end ");
    zt_end(&open);
    ok(zeEventHostSignal(gate));
    finish_queue(w);
    w->launches++;
    ok(zt_collect(profiler, 0));
    assert_null(strstr(written(profiler, ZT_FORMAT_TABLE), "in flight"));
    ok(zt_release(profiler, w->list));
    reset_list(w->list);
    ok(zt_collect(profiler, 0));
    assert_null(strstr(written(profiler, ZT_FORMAT_TABLE), "recorded"));
    ok(zt_release(profiler, held));
    ok(zeCommandListDestroy(held));
    ok(zeEventDestroy(gate));
    check_work(w);
}

/* What a report does not show is noted in all formats, with the same words: a table breaks its lines, and
   JSON in a page is JSON. */
static void expect_note(const zt_profiler *profiler, const char *note, int is_there) {
    char quoted[512];
    if ((strstr(unbroken(written(profiler, ZT_FORMAT_TABLE)), note) != NULL) != is_there)
        fail_msg("the table %s '%s':\n%s", is_there ? "lacks" : "has", note, first_buffer.bytes);
    snprintf(quoted, sizeof quoted, "\"%s\"", note);
    assert_int_equal(strstr(written(profiler, ZT_FORMAT_CSV), quoted) != NULL, is_there);
    assert_int_equal(strstr(written(profiler, ZT_FORMAT_JSON), quoted) != NULL, is_there);
    assert_int_equal(strstr(written(profiler, ZT_FORMAT_HTML), quoted) != NULL, is_there);
}

static void test_notes_in_all_formats(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.probes_per_step = config.max_probes = 2;
    zt_profiler *profiler = open_profiler(w, &config);
    ZT_PHASE("without work") {
    }
    expect_note(profiler, "No region has samples: begin regions with zt_begin, and call zt_collect.", 1);
    for (int i = 0; i < 3; i++)
        append(w, profiler, w->list, "region");
    expect_note(profiler,
                "2 samples are recorded and not seen to run yet. Call zt_collect after the execution.", 1);
    ok(zeCommandListClose(w->list));
    for (int i = 0; i < 3; i++) {
        execute_unprofiled(w, w->list);
        w->launches += 3;
        collect_all(profiler);
    }
    expect_note(profiler,
                "1 sample is dropped: no probe. Raise config.max_probes, or call zt_collect more often.", 1);
    expect_note(profiler,
                "1 list ran outside of zt_execute: only the first execution that is seen is measured. "
                "Execute recorded lists with zt_execute.",
                1);
    expect_note(profiler, "No region has samples: begin regions with zt_begin, and call zt_collect.", 0);
    ok(zt_release(profiler, w->list));
    reset_list(w->list);
    collect_all(profiler);
    gpu.behave(SOFTGPU_REPORT_LOST, 1);
    run(w, profiler, "lost");
    gpu.behave(SOFTGPU_REPORT_LOST, 0);
    collect_all(profiler);
    expect_note(profiler, "1 sample is lost: report lost. The device flagged the data as unusable.", 1);
}

static void test_notes_of_passes_and_availability(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "ComputeBasic,Caches";
    config.max_passes = 4;
    zt_profiler *profiler = open_profiler(w, &config);
    uint32_t pass = 0;
    ZT_PASSES(profiler) {
        if (pass++ == 0)
            run(w, profiler, "in one pass");
    }
    expect_note(
        profiler,
        "Where passes differ, metrics of different passes are not of the same work. Repeat the same work "
        "in each pass, or raise config.pass_tolerance.",
        pass > 1);
    config.groups = "NoSuchGroup";
    zt_profiler *without = open_profiler(w, &config);
    char note[512];
    snprintf(note, sizeof note, "There are no metrics: %s", zt_get_info(without).availability_text);
    expect_note(without, note, 1);
}

/* What is ready is collected first, also of executions that nobody reported. */
static void test_a_report_collects_what_is_ready(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    append(w, profiler, w->list, "region");
    ok(zeCommandListClose(w->list));
    execute(w, profiler, w->list);
    w->launches++;
    assert_counts(profiler, counted(1, 0, 0, 0, 1));
    ok(zt_report(profiler, in_directory("run.txt")));
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    ok(zt_reset(profiler, w->list));
    append(w, profiler, w->list, "region");
    ok(zeCommandListClose(w->list));
    execute_unprofiled(w, w->list);
    w->launches++;
    ok(zt_report(profiler, in_directory("run.txt")));
    assert_counts(profiler, counted(2, 2, 0, 0, 0));
    ok(zt_release(profiler, w->list));
    reset_list(w->list);
    check_work(w);
}

/* Nobody knows how often such a list ran, but reports show that it did. */
static void test_reports_count_unobserved_lists(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    append(w, profiler, w->list, "region");
    ok(zeCommandListClose(w->list));
    execute(w, profiler, w->list);
    w->launches++;
    collect_all(profiler);
    assert_null(strstr(written(profiler, ZT_FORMAT_TABLE), "outside of zt_execute"));
    execute_unprofiled(w, w->list);
    collect_all(profiler);
    assert_contains(written(profiler, ZT_FORMAT_TABLE),
                    "\n1 list ran outside of zt_execute: only the first ");
    assert_contains(written(profiler, ZT_FORMAT_JSON), "\"unobserved_lists\":1");
    assert_contains(written(profiler, ZT_FORMAT_CSV),
                    "\"unobserved lists\",\"\",\"profiler\",\"lists\",event,sum,1,");
    ok(zt_release(profiler, w->list));
    reset_list(w->list);
}

static void test_table_on_standard_output(void **state) {
    world *w = *state;
    zt_profiler *profiler = measure_region(w, NULL);
    written(profiler, ZT_FORMAT_TABLE);
    assert_string_equal(printed(profiler), first_buffer.bytes);
    setenv("COLUMNS", "none", 1); /* so it is not known */
    assert_string_equal(printed(profiler), first_buffer.bytes);
}

/* Returns a raw terminal with this many columns, or -1 if the system has none. */
static int open_terminal(unsigned short columns, int *other_end) {
    struct winsize size = {50, columns, 0, 0};
    struct termios settings;
    *other_end = posix_openpt(O_RDWR | O_NOCTTY);
    if (*other_end < 0 || grantpt(*other_end) != 0 || unlockpt(*other_end) != 0)
        return -1;
    int terminal = open(ptsname(*other_end), O_RDWR | O_NOCTTY);
    if (terminal < 0 || tcgetattr(terminal, &settings) != 0)
        return -1;
    cfmakeraw(&settings);
    assert_int_equal(tcsetattr(terminal, TCSANOW, &settings), 0);
    assert_int_equal(ioctl(terminal, TIOCSWINSZ, &size), 0);
    return terminal;
}

/* Reads what was written to a terminal that is closed by now. Its end is an error. */
static const char *read_terminal(int other_end) {
    second_buffer.size = 0;
    for (ssize_t got = 0; got >= 0 && second_buffer.size + 1 < sizeof second_buffer.bytes;
         second_buffer.size += (size_t)(got > 0 ? got : 0))
        got = read(other_end, second_buffer.bytes + second_buffer.size,
                   sizeof second_buffer.bytes - 1 - second_buffer.size);
    second_buffer.bytes[second_buffer.size] = 0;
    return second_buffer.bytes;
}

/* Files have a fixed width, whatever the terminal. */
static void test_only_standard_output_is_as_wide_as_the_terminal(void **state) {
    world *w = *state;
    int other_end, terminal = open_terminal(200, &other_end);
    const char *path = in_directory("run.txt");
    if (terminal < 0)
        skip(); /* the system has none */
    zt_profiler *profiler = measure_region(w, NULL);
    first_buffer.size = 0;
    int saved = send_output(terminal);
    ze_result_t on_output = zt_report(profiler, "-"), in_file = zt_report(profiler, path),
                given = zt_write(profiler, ZT_FORMAT_TABLE, keep, &first_buffer);
    bring_output_back(saved);
    close(terminal);
    ok(on_output);
    ok(in_file);
    ok(given);
    assert_in_range(look_at(read_terminal(other_end)).rule, 133, 200);
    close(other_end);
    assert_in_range(look_at(read_whole(path)).rule, 60, 80);
    hide_date(first_buffer.bytes);
    assert_string_equal(second_buffer.bytes, first_buffer.bytes);
    setenv("COLUMNS", "200", 1);
    assert_string_equal(written(profiler, ZT_FORMAT_TABLE), second_buffer.bytes);
}

/* ==== a row for each sample =============================================================================== */

enum { KEPT_SAMPLES = 3, MOST_VALUES = 128 };

/* What config.sample was called with. */
static struct {
    uint32_t count;
    char names[16][64];
    double values[16][MOST_VALUES];
} samples;

static void keep_sample(const zt_sample *sample, void *user) {
    (void)user;
    snprintf(samples.names[samples.count], sizeof samples.names[0], "%s", sample->name);
    memcpy(samples.values[samples.count++], sample->values, sample->metric_count * sizeof *sample->values);
}

/* Checks a row, which ends with metrics and the times of begin and end, and returns the next one. */
static const char *check_row(const char *row, const char *beginning, const double *values, uint32_t count) {
    char *end;
    if (strncmp(row, beginning, strlen(beginning)) != 0)
        fail_msg("a row begins with %.60s, and not %s", row, beginning);
    row += strlen(beginning);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(*row++, ',');
        if (isnan(values[i]))
            continue;
        assert_true(strtod(row, &end) == values[i]);
        row = end;
    }
    assert_int_equal(*row++, ',');
    uint64_t begin_ns = strtoull(row, &end, 10), end_ns = *end == ',' ? strtoull(end + 1, &end, 10) : 0;
    assert_true(begin_ns > 0 && begin_ns <= end_ns);
    assert_int_equal(*end, '\n');
    return end + 1;
}

/* Cuts off when each sample ran, which changes a little as the clocks of host and device are compared again. */
static void cut_times(char *text) {
    char *to = text;
    while (*text) {
        size_t length = strcspn(text, "\n"), kept = length, commas = 0;
        while (kept > 0 && commas < 2)
            commas += text[--kept] == ',';
        kept = commas < 2 ? length : kept;
        memmove(to, text, kept);
        to += kept;
        text += length;
        if (*text)
            *to++ = *text++;
    }
    *to = 0;
}

/* The newest samples, numbered from the first, in the columns of other tools. */
static void test_instances(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.timeline = KEPT_SAMPLES;
    config.sample = keep_sample;
    samples.count = 0;
    zt_profiler *profiler = open_profiler(w, &config);
    run(w, profiler, "first");
    run(w, profiler, "second");
    run(w, profiler, "a \"b\", c");
    run(w, profiler, "second");
    collect_all(profiler);
    assert_int_equal(samples.count, 4);
    const char *text = written(profiler, ZT_FORMAT_INSTANCES);
    const char *row = strstr(text, "\n\n") + 2;
    assert_int_equal(
        strncmp(text, "=== Device #0 Metrics ===\n\nKernel,GlobalInstanceId,SubDeviceId,GpuTime[ns],", 75),
        0);
    for (uint32_t i = 0; i < zt_get_info(profiler).metric_count; i++) {
        const zt_metric *metric = zt_get_metric(profiler, i);
        int is_percent = strcmp(metric->units, "percent") == 0;
        char heading[600];
        snprintf(heading, sizeof heading, ",%s%s%s%s", metric->name, *metric->units ? "[" : "",
                 is_percent ? "%" : metric->units, *metric->units ? "]" : "");
        assert_contains(row, heading);
    }
    row = strchr(row, '\n') + 1;
    row = check_row(row, "\"second\",2,0", samples.values[1], zt_get_info(profiler).metric_count);
    row = check_row(row, "\"a \"\"b\"\", c\",3,0", samples.values[2], zt_get_info(profiler).metric_count);
    row = check_row(row, "\"second\",4,0", samples.values[3], zt_get_info(profiler).metric_count);
    assert_string_equal(row, "");
    ok(zt_report(profiler, in_directory("run.Instances.csv")));
    read_whole(in_directory("run.Instances.csv"));
    cut_times(first_buffer.bytes);
    cut_times(second_buffer.bytes);
    assert_string_equal(second_buffer.bytes, first_buffer.bytes);
}

/* A row has as many fields as there are headings, whatever the names of metrics contain. */
static void test_instances_of_odd_metrics(void **state) {
    world *w = *state;
    static const softgpu_metric metrics[] = {
        {"A,B", "X", "a,b", ZET_METRIC_TYPE_EVENT, ZET_VALUE_TYPE_FLOAT64},
        {"two\nlines", "X", "", ZET_METRIC_TYPE_EVENT, ZET_VALUE_TYPE_FLOAT64},
        {"\"quoted\"", "X", "\xff", ZET_METRIC_TYPE_EVENT, ZET_VALUE_TYPE_FLOAT64},
        {"invalid\xff", "X", "", ZET_METRIC_TYPE_EVENT, ZET_VALUE_TYPE_FLOAT64},
    };
    zt_config config = config_of(w);
    config.groups = "Odd";
    config.timeline = KEPT_SAMPLES;
    assert_true(gpu.list_metrics("Odd", metrics, 4));
    zt_profiler *profiler = measure_region(w, &config);
    assert_contains(
        written(profiler, ZT_FORMAT_INSTANCES),
        ",\"A,B[a,b]\",\"two\nlines\",\"\"\"quoted\"\"[\xef\xbf\xbd]\",invalid\xef\xbf\xbd,Begin[ns],");
    close_profiler(w, profiler);
    assert_true(gpu.list_metrics("Odd", NULL, 0));
}

/* Without metrics, the GPU time is that of the region. */
static void test_instances_of_times(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    zt_region_info info;
    config.groups = "";
    config.timeline = KEPT_SAMPLES;
    zt_profiler *profiler = measure_region(w, &config);
    ok(zt_get_region(profiler, 0, &info));
    const char *text = written(profiler, ZT_FORMAT_INSTANCES);
    assert_contains(text, "\nKernel,GlobalInstanceId,SubDeviceId,GpuTime[ns],Begin[ns],End[ns]\n");
    const char *row = strstr(text, "\"region\"");
    assert_string_equal(check_row(row, "\"region\",1,0", &info.time_ns.sum, 1), "");
    row = strchr(row + strlen("\"region\",1,0,"), ',') +
          1; /* the times are on the device, and their difference is the GPU time */
    uint64_t begin_ns = strtoull(row, NULL, 10), end_ns = strtoull(strchr(row, ',') + 1, NULL, 10);
    /* Each is in whole nanoseconds of the host's clock, which goes at another rate than the device's. */
    assert_true(fabs((double)(end_ns - begin_ns) - info.time_ns.sum) <= 2 + 0.01 * info.time_ns.sum);
}

/* Each tile has a row. */
static void test_instances_of_tiles(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    double values[2][MOST_VALUES];
    gpu.set_devices(1, 2);
    config.timeline = KEPT_SAMPLES;
    zt_profiler *profiler = measure_region(w, &config);
    uint32_t count = zt_get_info(profiler).metric_count;
    for (uint32_t tile = 0; tile < 2; tile++) {
        for (uint32_t m = 0; m < count; m++) {
            zt_stats stats;
            ok(zt_get_stats(profiler, 0, ZT_TILE(tile, m), &stats));
            values[tile][m] = isnan(stats.min) ? stats.sum : stats.min; /* of a flag */
        }
    }
    const char *row = strstr(written(profiler, ZT_FORMAT_INSTANCES), "\"region\"");
    row = check_row(row, "\"region\",1,0", values[0], count);
    row = check_row(row, "\"region\",1,1", values[1], count);
    assert_string_equal(row, "");
}

static kept_text instances;
static world *measures_more; /* and so replaces the oldest sample, when the first bytes are written */
static zt_profiler *measures_with;

static int keep_instances(const void *bytes, size_t size, void *user) {
    if (measures_more) {
        world *w = measures_more;
        measures_more = NULL;
        run(w, measures_with, "later");
        collect_all(measures_with);
    }
    return keep_text(bytes, size, user);
}

/* A sample that is replaced while the report is written has all of its rows, or none. */
static void test_instances_while_one_is_replaced(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    char name[5000] = ""; /* longer than what is written at once */
    memset(name, 'n', sizeof name - 1);
    gpu.set_devices(1, 2);
    config.timeline = KEPT_SAMPLES;
    measures_with = open_profiler(w, &config);
    for (int i = 0; i < KEPT_SAMPLES; i++)
        run(w, measures_with, name);
    collect_all(measures_with);
    measures_more = w;
    instances.used = 0;
    ok(zt_write(measures_with, ZT_FORMAT_INSTANCES, keep_instances, &instances));
    assert_null(measures_more);
    for (int sample = 1; sample <= KEPT_SAMPLES; sample++) {
        for (int tile = 0; tile < 2; tile++) {
            char row[16];
            snprintf(row, sizeof row, "n\",%d,%d,", sample, tile);
            assert_contains(instances.bytes, row);
        }
    }
}

/* Memory of the application: while it has a report allocate, another thread collects a sample. */
static int collects_meanwhile;

static void *collect_one(void *name) {
    run(measures_more, measures_with, (const char *)name);
    collect_all(measures_with);
    return NULL;
}

static void *allocate_meanwhile(size_t size, void *user) {
    if (collects_meanwhile) {
        pthread_t thread;
        collects_meanwhile = 0;
        assert_int_equal(pthread_create(&thread, NULL, collect_one, user), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        collects_meanwhile = 1;
    }
    return malloc(size);
}

static void release_memory(void *memory, void *user) {
    (void)user;
    free(memory);
}

/* Begins and collects three regions that are newer than the report when its first bytes are written. */
static int keep_newer(const void *bytes, size_t size, void *user) {
    if (measures_more) {
        world *w = measures_more;
        measures_more = NULL;
        for (int i = 0; i < KEPT_SAMPLES; i++)
            run(w, measures_with, "newer");
        collect_all(measures_with);
    }
    return keep(bytes, size, user);
}

/* Spans of a page are of samples that are kept, and of regions that the page has. */
static void test_pages_while_samples_are_replaced(void **state) {
    world *w = *state;
    static char name[] = "region";
    zt_config config = config_of(w);
    config.groups = "";
    config.timeline = KEPT_SAMPLES;
    config.allocator = (zt_allocator){allocate_meanwhile, release_memory, name};
    measures_with = open_profiler(w, &config);
    for (int i = 0; i < KEPT_SAMPLES; i++)
        run(w, measures_with, name);
    collect_all(measures_with);
    measures_more = w;
    collects_meanwhile = 1;
    const char *text = written(measures_with, ZT_FORMAT_HTML);
    collects_meanwhile = 0;
    text = strstr(text, ",\n\"timeline\":{\"samples\":");
    assert_non_null(text);
    uint32_t spans = 0;
    for (const char *end = strstr(text, "]}"), *at = strstr(text, "\"spans\":[") + 8;
         (at = strchr(at + 1, '[')) != NULL && at < end;)
        spans++;
    assert_in_range(spans, 1, KEPT_SAMPLES - 1);

    for (int i = 0; i < KEPT_SAMPLES; i++) /* known when the report begins */
        run(w, measures_with, name);
    collect_all(measures_with);
    uint64_t count = zt_get_info(measures_with).counts.collected;
    first_buffer.size = 0;
    ok(zt_write(measures_with, ZT_FORMAT_HTML, keep_newer, &first_buffer));
    assert_int_equal(zt_get_info(measures_with).counts.collected, count + KEPT_SAMPLES);
    assert_null(strstr(first_buffer.bytes, "\"timeline\":{"));
    assert_null(strstr(first_buffer.bytes, "\"newer\""));
}

/* Of more samples than anybody can look at, a page has the newest. */
static void test_page_of_many_samples(void **state) {
    world *w = *state;
    enum { ON_LIST = 1000, EXECUTIONS = 101, SHOWN = 100000 };
    static char line[1 << 20];
    const char *path = in_directory("run.html");
    unsigned long long begin, end, last = 0, total = 0;
    uint32_t spans = 0, region;
    zt_config config = config_of(w);
    config.groups = "";
    config.timeline = ON_LIST * EXECUTIONS;
    zt_profiler *profiler = open_profiler(w, &config);
    if (INSTRUMENTED) {
        puts("skipped: it takes too long with sanitizers");
        skip();
    }
    for (int i = 0; i < ON_LIST; i++) {
        zt_region empty = zt_begin(profiler, w->list, i % 2 ? "odd" : "even");
        zt_end(&empty);
    }
    ok(zeCommandListClose(w->list));
    for (int i = 0; i < EXECUTIONS; i++) {
        execute(w, profiler, w->list);
        collect_all(profiler);
    }
    ok(zt_report(profiler, path));
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        const char *key = strstr(line, "\"timeline\":{\"samples\":");
        if (key)
            total = strtoull(strchr(key, '{') + 11, NULL, 10);
        if (total && sscanf(line, "[%u,%llu,%llu]", &region, &begin, &end) == 3) {
            assert_true(begin >= last && end >= begin);
            last = begin;
            spans++;
        }
    }
    fclose(file);
    assert_int_equal(total, ON_LIST * EXECUTIONS);
    assert_int_equal(spans, SHOWN);
    ok(zt_reset(profiler, w->list));
}

/* A metric of a pass that the sample did not run in is empty. */
static void test_instances_of_passes(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "ComputeBasic,MemoryProfile";
    config.max_passes = 4;
    config.timeline = KEPT_SAMPLES;
    config.sample = keep_sample;
    samples.count = 0;
    zt_profiler *profiler = open_profiler(w, &config);
    ZT_PASSES(profiler) {
        run(w, profiler, "region");
    }
    collect_all(profiler);
    uint32_t count = zt_get_info(profiler).metric_count;
    const char *row = strstr(written(profiler, ZT_FORMAT_INSTANCES), "\"region\"");
    assert_contains(first_buffer.bytes, ",MemoryProfile.GpuTime[ns],");
    assert_int_equal(zt_get_info(profiler).pass_count, 2);
    assert_true(isnan(samples.values[0][count - 1]) && isnan(samples.values[1][0]));
    row = check_row(row, "\"region\",1,0", samples.values[0], count);
    row = check_row(row, "\"region\",2,0", samples.values[1], count);
    assert_string_equal(row, "");
}

/* ==== writing ============================================================================================= */

static void test_format_by_suffix(void **state) {
    world *w = *state;
    const char *names[] = {"run.csv",  "run.json", "run.txt",  "run",     "csv",      "RUN.CSV",
                           "run.Json", "run.2",    "run.html", "run.HTM", "run.prom", "run.Folded"};
    const zt_format formats[] = {ZT_FORMAT_CSV,   ZT_FORMAT_JSON, ZT_FORMAT_TABLE,       ZT_FORMAT_TABLE,
                                 ZT_FORMAT_TABLE, ZT_FORMAT_CSV,  ZT_FORMAT_JSON,        ZT_FORMAT_TABLE,
                                 ZT_FORMAT_HTML,  ZT_FORMAT_HTML, ZT_FORMAT_OPENMETRICS, ZT_FORMAT_FOLDED};
    zt_profiler *profiler = measure_region(w, NULL);
    for (int i = 0; i < 12; i++) {
        ok(zt_report(profiler, in_directory(names[i])));
        assert_string_equal(read_whole(in_directory(names[i])), written(profiler, formats[i]));
    }
    assert_int_equal(remove_entries(), 12); /* and nothing else was left there */
}

/* The suffix .zt: the file is what zt_pack packs. Without memory it is the one before. */
static void test_packed_statistics(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    zt_profiler *back = NULL;
    size_t size = 0;
    config.allocator = scarce_allocator();
    allocations_left = -1;
    zt_profiler *profiler = measure_region(w, &config);
    ok(zt_report(profiler, in_directory("run.ZT")));
    ok(zt_pack(profiler, NULL, &size));
    void *packed = malloc(size);
    assert_non_null(packed);
    ok(zt_pack(profiler, packed, &size));
    allocations_left = 1; /* for the path; there is none for the statistics */
    assert_result(zt_report(profiler, in_directory("run.ZT")), ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    allocations_left = -1;
    assert_contains(zt_get_info(profiler).error, "zt_report");
    assert_non_null(read_whole(in_directory("run.ZT")));
    assert_int_equal(second_buffer.size, size);
    assert_memory_equal(second_buffer.bytes, packed, size);
    ok(zt_unpack(second_buffer.bytes, size, NULL, &back));
    ok(zt_report(back, in_directory("again.zt")));
    assert_non_null(read_whole(in_directory("again.zt")));
    assert_int_equal(second_buffer.size, size);
    assert_memory_equal(second_buffer.bytes, packed, size);
    assert_int_equal(remove_entries(), 2);
    zt_close(back);
    free(packed);
}

static void test_unknown_suffixes_are_refused(void **state) {
    world *w = *state;
    const char *names[] = {"run.xml", "run.csv.gz", "run.trace", ".json.x"};
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    for (int i = 0; i < 4; i++) {
        const char *path = in_directory(names[i]);
        assert_result(zt_report(profiler, path), ZE_RESULT_ERROR_INVALID_ARGUMENT);
        assert_contains(zt_get_info(profiler).error, names[i]);
        assert_contains(zt_get_info(profiler).error,
                        ".txt (or none: a table), .csv, .json, .trace.json, .pftrace, .html, .htm, "
                        ".prom, .folded, .instances.csv and .zt");
    }
    assert_int_equal(remove_entries(), 0);
}

/* A dot in the name of a directory is no suffix. */
static void test_suffix_is_of_the_file(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    assert_int_equal(mkdir(in_directory("some.csv"), 0700), 0);
    ok(zt_report(profiler, in_directory("some.csv/run")));
    assert_string_equal(read_whole(in_directory("some.csv/run")), written(profiler, ZT_FORMAT_TABLE));
    assert_int_equal(remove(in_directory("some.csv/run")), 0);
}

static void test_a_trace_needs_a_timeline(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    assert_result(zt_report(profiler, in_directory("run.trace.json")), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_contains(zt_get_info(profiler).error, "Set config.timeline");
    assert_result(zt_report(profiler, in_directory("run.instances.csv")), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(remove_entries(), 0);
}

/* The file that a link leads to is replaced as a whole, and the link stays. */
static void test_report_over_a_symbolic_link(void **state) {
    world *w = *state;
    struct stat seen;
    const char *file = in_directory("real.csv"), *link = in_directory("link.csv");
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    run(w, profiler, "old");
    collect_all(profiler);
    ok(zt_report(profiler, file));
    assert_int_equal(symlink("real.csv", link), 0);
    run(w, profiler, "new");
    collect_all(profiler);
    ok(zt_report(profiler, link));
    assert_int_equal(lstat(link, &seen), 0);
    assert_true(S_ISLNK(seen.st_mode));
    assert_int_equal(lstat(file, &seen), 0);
    assert_true(S_ISREG(seen.st_mode));
    assert_string_equal(read_whole(file), written(profiler, ZT_FORMAT_CSV));
    assert_int_equal(remove_entries(), 2);
}

/* Links to a file that does not exist yet: they lead to it afterwards, also from one directory to another. */
static void test_report_through_links_to_a_new_file(void **state) {
    world *w = *state;
    struct stat seen;
    char absolute[sizeof test_directory + 256];
    const char *first = in_directory("first.csv"), *second = in_directory("sub/second.csv"),
               *file = in_directory("real.csv"), *sub = in_directory("sub");
    zt_profiler *profiler = measure_region(w, NULL);
    assert_int_equal(mkdir(sub, 0700), 0);
    snprintf(absolute, sizeof absolute, "%s/./sub/second.csv", test_directory);
    assert_int_equal(symlink(absolute, first), 0);
    assert_int_equal(symlink("../real.csv", second), 0);
    ok(zt_report(profiler, first));
    assert_int_equal(lstat(first, &seen), 0);
    assert_true(S_ISLNK(seen.st_mode));
    assert_int_equal(lstat(second, &seen), 0);
    assert_true(S_ISLNK(seen.st_mode));
    assert_int_equal(lstat(file, &seen), 0);
    assert_true(S_ISREG(seen.st_mode));
    assert_string_equal(read_whole(file), written(profiler, ZT_FORMAT_CSV));
    assert_int_equal(unlink(second), 0);
    assert_int_equal(remove_entries(), 3);
}

/* A link with the name that a report is written under first. What it leads to stays as it was. */
static void test_a_link_of_somebody_else(void **state) {
    world *w = *state;
    char name[64];
    struct stat seen;
    const char *file = in_directory("run.csv"), *victim = in_directory("victim");
    zt_profiler *profiler = measure_region(w, NULL);
    FILE *stream = fopen(victim, "w");
    assert_true(stream && fputs("precious", stream) >= 0 && fclose(stream) == 0);
    snprintf(name, sizeof name, "run.csv.%ld.%lx.part", (long)getpid(), (unsigned long)pthread_self());
    assert_int_equal(symlink("victim", in_directory(name)), 0);
    ok(zt_report(profiler, file));
    assert_string_equal(read_whole(victim), "precious");
    assert_int_equal(lstat(file, &seen), 0);
    assert_true(S_ISREG(seen.st_mode));
    assert_string_equal(read_whole(file), written(profiler, ZT_FORMAT_CSV));
    assert_int_equal(remove_entries(), 2);
}

static int stop_at_once(const void *bytes, size_t size, void *user) {
    (void)bytes, (void)size;
    ++*(int *)user;
    return 1;
}

static void test_write_function_that_stops(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "ComputeBasic,HostScheduler";
    config.timeline = 10;
    zt_profiler *profiler = open_profiler(w, &config);
    for (int i = 0; i < 5; i++)
        run(w, profiler, "region");
    collect_all(profiler);
    for (int format = ZT_FORMAT_TABLE; format <= ZT_FORMAT_FOLDED; format++) {
        int count = 0;
        assert_true(zt_write(profiler, (zt_format)format, stop_at_once, &count) != ZE_RESULT_SUCCESS);
        assert_int_equal(count, 1);
    }
}

static void expect_unwritable(world *w, zt_profiler *profiler, const char *path) {
    const char *text = NULL;
    (void)w;
    assert_result(zt_report(profiler, path), ZE_RESULT_ERROR_UNKNOWN);
    text = zt_get_info(profiler).error;
    assert_result(last_result(), ZE_RESULT_ERROR_UNKNOWN);
    assert_contains(text, "zt_report");
}

static void test_paths_that_cannot_be_written(void **state) {
    world *w = *state;
    const char *text = NULL;
    static char endless[5001];
    memset(endless, 'x', 5000);
    zt_profiler *profiler = measure_region(w, NULL);
    expect_unwritable(w, profiler, in_directory("missing/run.csv"));
    text = zt_get_info(profiler).error;
    assert_contains(text, "missing/run.csv");
    assert_contains(text, strerror(ENOENT));
    expect_unwritable(w, profiler, "");
    expect_unwritable(w, profiler, endless);
    assert_int_equal(mkdir(in_directory("run.csv"), 0700), 0);
    expect_unwritable(w, profiler, in_directory("run.csv")); /* a directory */
    assert_int_equal(symlink("loop.csv", in_directory("loop.csv")), 0);
    expect_unwritable(w, profiler, in_directory("loop.csv")); /* a link to itself */
    assert_int_equal(remove_entries(), 2);
    ok(zt_report(profiler, in_directory("run.csv")));

    /* The system finds the file of a link, and the whole path to it is longer than a path can be. */
    char path[3600], target[1200];
    size_t used = (size_t)snprintf(path, sizeof path, "%s/", test_directory), to = 0;
    for (; used < 3000; used += 2)
        strcpy(path + used, "./");
    strcpy(path + used, "link.csv");
    for (; to < 1100; to += 2)
        strcpy(target + to, "./");
    strcpy(target + to, "run.csv");
    assert_int_equal(symlink(target, in_directory("link.csv")), 0);
    written(profiler, ZT_FORMAT_CSV);
    expect_unwritable(w, profiler, path);
    assert_contains(zt_get_info(profiler).error, strerror(ENAMETOOLONG));
    assert_string_equal(read_whole(in_directory("run.csv")), first_buffer.bytes);
    ok(zt_report(profiler, in_directory("link.csv")));
}

static void *read_pipe(void *path) {
    read_whole((const char *)path);
    return NULL;
}

/* Pipes and devices are written to, and not replaced by a file. */
static void test_pipes_and_devices_stay_what_they_are(void **state) {
    world *w = *state;
    pthread_t thread;
    struct stat seen;
    const char *pipe = in_directory("pipe.csv"), *full = in_directory("full.csv");
    zt_profiler *profiler = measure_region(w, NULL);
    written(profiler, ZT_FORMAT_CSV);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_int_equal(symlink("/dev/full", full), 0);
    assert_int_equal(pthread_create(&thread, NULL, read_pipe, (void *)pipe), 0);
    ok(zt_report(profiler, pipe));
    pthread_join(thread, NULL);
    assert_string_equal(second_buffer.bytes, first_buffer.bytes);
    assert_int_equal(stat(pipe, &seen), 0);
    assert_true(S_ISFIFO(seen.st_mode));
    expect_unwritable(w, profiler, full);
    assert_int_equal(lstat(full, &seen), 0);
    assert_true(S_ISLNK(seen.st_mode));
    assert_int_equal(remove_entries(), 2);
}

/* Writes, and whether a program that another thread executes meanwhile would inherit the file. Atomic */
static int writes, inherited_writes;

ssize_t write(int file, const void *bytes, size_t size) {
    __atomic_add_fetch(&writes, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&inherited_writes, !(fcntl(file, F_GETFD) & FD_CLOEXEC), __ATOMIC_RELAXED);
    return REAL(write)(file, bytes, size);
}

static void test_no_program_inherits_a_report(void **state) {
    world *w = *state;
    pthread_t thread;
    const char *pipe = in_directory("pipe.csv");
    zt_profiler *profiler = measure_region(w, NULL);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_int_equal(pthread_create(&thread, NULL, read_pipe, (void *)(uintptr_t)pipe), 0);
    writes = inherited_writes = 0;
    ok(zt_report(profiler, pipe));
    ok(zt_report(profiler, in_directory("run.csv")));
    pthread_join(thread, NULL);
    assert_true(writes >= 2);
    assert_int_equal(inherited_writes, 0);
}

/* A table that is longer than all buffers: the message has the reason of the system. */
static void test_standard_output_that_is_full(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    for (int i = 0; i < 200; i++) {
        char name[32];
        snprintf(name, sizeof name, "region %d", i);
        run(w, profiler, name);
    }
    collect_all(profiler);
    int full = open("/dev/full", O_WRONLY), saved = send_output(full);
    ze_result_t result = zt_report(profiler, "-");
    bring_output_back(saved);
    close(full);
    clearerr(stdout);
    assert_result(result, ZE_RESULT_ERROR_UNKNOWN);
    assert_contains(zt_get_info(profiler).error, strerror(ENOSPC));
    assert_int_equal(heard(w, "[WRITE_STOPPED]"), 0);
}

static int has_no_room; /* not 0: nobody reads, and time passes at once */

int poll(struct pollfd *files, nfds_t count, int timeout) {
    return has_no_room ? 0 : REAL(poll)(files, count, timeout);
}

static void *read_slowly(void *other_end) {
    static size_t total;
    char bytes[512];
    ssize_t size;
    for (total = 0; (size = read(*(int *)other_end, bytes, sizeof bytes)) > 0; total += (size_t)size)
        nap();
    return &total;
}

/* A terminal that does not block is waited for, but not without end. */
static void test_a_terminal_that_does_not_block(void **state) {
    world *w = *state;
    zt_profiler *measuring = open_groups(w, "ComputeBasic"), *profiler;
    for (int i = 0; i < 400; i++) {
        char name[32];
        snprintf(name, sizeof name, "region %d", i);
        run(w, measuring, name);
    }
    collect_all(measuring);
    profiler = repacked(measuring); /* its reports are all alike */
    setenv("ZT_ROWS", "0", 1);
    size_t expected = strlen(written(profiler, ZT_FORMAT_TABLE));
    for (int is_read = 0; is_read < 2; is_read++) {
        pthread_t thread;
        void *total = NULL;
        int other_end, terminal = open_terminal(80, &other_end);
        if (terminal < 0)
            skip(); /* the system has none */
        assert_int_equal(fcntl(terminal, F_SETFL, O_RDWR | O_NONBLOCK), 0);
        if (is_read)
            assert_int_equal(pthread_create(&thread, NULL, read_slowly, &other_end), 0);
        has_no_room = !is_read;
        int saved = send_output(terminal);
        ze_result_t result = zt_report(profiler, "-");
        bring_output_back(saved);
        has_no_room = 0;
        close(terminal);
        if (is_read)
            pthread_join(thread, &total);
        close(other_end);
        clearerr(stdout);
        if (is_read) {
            ok(result);
            assert_int_equal(*(size_t *)total, expected);
        } else {
            assert_result(result, ZE_RESULT_ERROR_UNKNOWN);
            assert_contains(zt_get_info(profiler).error, strerror(EAGAIN));
        }
    }
    unsetenv("ZT_ROWS");
    zt_close(profiler);
}

#ifdef __GLIBC__ /* which lets a program replace its standard output */
/* By a stream without a descriptor. */
static ze_result_t report_to_stream(const zt_profiler *profiler, FILE *stream) {
    FILE *before = stdout;
    assert_non_null(stream);
    int file = open("/dev/null", O_WRONLY), saved = send_output(file); /* no terminal */
    stdout = stream;
    ze_result_t result = zt_report(profiler, "-");
    stdout = before;
    bring_output_back(saved);
    close(file);
    return result;
}

static void test_standard_output_in_memory(void **state) {
    world *w = *state;
    char *text = NULL, few[64];
    size_t size;
    zt_profiler *profiler = measure_region(w, NULL);
    FILE *stream = open_memstream(&text, &size);
    ze_result_t result = report_to_stream(profiler, stream);
    fclose(stream);
    ok(result);
    assert_int_equal(strlen(text), size);
    hide_date(text);
    assert_string_equal(text, written(profiler, ZT_FORMAT_TABLE));
    free(text);
    stream = fmemopen(few, sizeof few, "w");
    result = report_to_stream(profiler, stream);
    fclose(stream);
    assert_result(result, ZE_RESULT_ERROR_UNKNOWN);
    assert_contains(zt_get_info(profiler).error, strerror(EIO)); /* the stream does not tell the reason */
}
#endif

static void release_and_fail(void *block, void *user) {
    (void)user;
    free(block);
    errno = ECHILD;
}

static void *allocate_and_fail(size_t size, void *user) {
    (void)user;
    errno = ECHILD;
    return malloc(size);
}

/* An allocator of the application may change errno. The message has the reason of the write all the same. */
static void test_the_reason_of_a_failed_write(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.allocator.allocate = allocate_and_fail;
    config.allocator.release = release_and_fail;
    zt_profiler *profiler = measure_region(w, &config);
    assert_int_equal(symlink("/dev/full", in_directory("full.json")), 0);
    expect_unwritable(w, profiler, in_directory("full.json"));
    assert_contains(zt_get_info(profiler).error, strerror(ENOSPC));
    close_profiler(w, profiler);
}

/* The file that is written first needs a name of its own, which must not be too long either. */
static void test_longest_name_of_a_file(void **state) {
    world *w = *state;
    char name[NAME_MAX + 1];
    zt_profiler *profiler = measure_region(w, NULL);
    memset(name, 'n', NAME_MAX);
    strcpy(name + NAME_MAX - 4, ".csv");
    ok(zt_report(profiler, in_directory(name)));
    assert_string_equal(read_whole(in_directory(name)), written(profiler, ZT_FORMAT_CSV));
    assert_int_equal(remove_entries(), 1);
}

/* What the system does as the library gives a new file what the old one has. */
static struct {
    mode_t permissions_before; /* of the file whose permissions are set: it may have been opened by then */
    gid_t group;               /* that a file was given */
    int refuses_group;
    const char *link; /* is laid in place of the file before its permissions are set; NULL: none */
} pretended;

int fchmod(int file, mode_t mode) {
    struct stat seen;
    char self[64], path[PATH_MAX + 1];
    assert_int_equal(fstat(file, &seen), 0);
    __atomic_store_n(&pretended.permissions_before, seen.st_mode & 0777, __ATOMIC_RELAXED); /* by threads */
    if (pretended.link) {
        snprintf(self, sizeof self, "/proc/self/fd/%d", file);
        ssize_t length = readlink(self, path, PATH_MAX);
        assert_true(length > 0);
        path[length] = 0;
        assert_int_equal(unlink(path), 0);
        assert_int_equal(symlink(pretended.link, path), 0);
    }
    return REAL(fchmod)(file, mode);
}

int fchown(int file, uid_t user, gid_t group) {
    assert_int_equal(user, (uid_t)-1);
    __atomic_store_n(&pretended.group, group, __ATOMIC_RELAXED);
    errno = EPERM;
    return pretended.refuses_group ? -1 : REAL(fchown)(file, user, group);
}

/* As the user wants it, by umask. */
static void test_permissions_of_a_new_file(void **state) {
    world *w = *state;
    const mode_t masks[] = {022, 077, 0};
    const char *path = in_directory("new.csv");
    zt_profiler *profiler = open_profiler(w, NULL);
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
        struct stat seen;
        mode_t before = umask(masks[i]);
        ze_result_t result = zt_report(profiler, path);
        umask(before);
        ok(result);
        assert_int_equal(stat(path, &seen), 0);
        assert_int_equal(seen.st_mode & 0777, 0666 & ~masks[i]);
        assert_int_equal(seen.st_uid, geteuid());
        assert_int_equal(remove(path), 0);
    }
    close_profiler(w, profiler);
}

/* A report that others may not read stays so, and its new version is not open to them for a moment either. */
static void test_permissions_of_a_file_stay(void **state) {
    world *w = *state;
    struct stat seen;
    const char *path = in_directory("run.csv");
    zt_profiler *profiler = measure_region(w, NULL);
    ok(zt_report(profiler, path));
    assert_int_equal(chmod(path, 0600), 0);
    ok(zt_report(profiler, path));
    assert_int_equal(stat(path, &seen), 0);
    assert_int_equal(seen.st_mode & 0777, 0600);
    assert_int_equal(pretended.permissions_before, 0600);
    assert_int_equal(chmod(path, 0666), 0);
    ok(zt_report(profiler, path));
    assert_int_equal(stat(path, &seen), 0);
    assert_int_equal(seen.st_mode & 0777, 0666);
    assert_int_equal(pretended.permissions_before, 0600); /* until it has its group */
}

/* Replaces a report that has these permissions. Returns those of the new one. */
static mode_t permissions_after(zt_profiler *profiler, const char *path, mode_t permissions) {
    struct stat seen;
    assert_int_equal(chmod(path, permissions), 0);
    ok(zt_report(profiler, path));
    assert_int_equal(stat(path, &seen), 0);
    assert_int_equal(remove_entries(), 1);
    ok(zt_report(profiler, path));
    return seen.st_mode & 0777;
}

/* The group of the old report is that of the new one. If the system refuses that, others may do with the new
   one what both that group and others might do with the old one. */
static void test_group_of_a_file_stays(void **state) {
    enum { ANOTHER = 12345 };
    world *w = *state;
    struct stat seen;
    const char *path = in_directory("run.csv");
    zt_profiler *profiler = measure_region(w, NULL);
    memset(&pretended, 0, sizeof pretended);
    ok(zt_report(profiler, path));
    gid_t group = geteuid() == 0 ? ANOTHER : getegid(); /* nobody else may choose any group */
    assert_int_equal(chown(path, (uid_t)-1, group), 0);
    ok(zt_report(profiler, path));
    assert_int_equal(pretended.group, group);
    assert_int_equal(stat(path, &seen), 0);
    assert_int_equal(seen.st_gid, group);
    assert_int_equal(permissions_after(profiler, path, 0640), 0640);
    pretended.refuses_group = 1;
    assert_int_equal(permissions_after(profiler, path, 0640), 0600);
    assert_int_equal(permissions_after(profiler, path, 0604), 0600);
    assert_int_equal(permissions_after(profiler, path, 0664), 0644);
    memset(&pretended, 0, sizeof pretended);
}

/* Another user lays a link where the new report is, before that has its permissions. What it leads to keeps
   its own. */
static void test_a_link_in_place_of_the_new_file(void **state) {
    world *w = *state;
    struct stat seen;
    const char *path = in_directory("run.csv"), *victim = in_directory("victim");
    zt_profiler *profiler = measure_region(w, NULL);
    FILE *stream = fopen(victim, "w");
    assert_true(stream && fclose(stream) == 0);
    assert_int_equal(chmod(victim, 0600), 0);
    ok(zt_report(profiler, path));
    assert_int_equal(chmod(path, 0666), 0);
    pretended.link = "victim";
    ze_result_t result = zt_report(profiler, path);
    pretended.link = NULL;
    ok(result);
    assert_int_equal(stat(victim, &seen), 0);
    assert_int_equal(seen.st_mode & 0777, 0600);
    assert_int_equal(seen.st_size, 0);
}

/* The disk is full: the old report stays as it was, and no part of the new one is left. */
static void test_old_report_survives_a_failure(void **state) {
    world *w = *state;
    struct rlimit unlimited, limit;
    const char *path = in_directory("run.json");
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    run(w, profiler, "old");
    collect_all(profiler);
    ok(zt_report(profiler, path));
    written(profiler, ZT_FORMAT_JSON);
    run(w, profiler, "new");
    collect_all(profiler);

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &unlimited), 0);
    limit = unlimited;
    limit.rlim_cur = 1000;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    ze_result_t result = zt_report(profiler, path);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &unlimited), 0);

    const char *text = NULL;
    assert_result(result, ZE_RESULT_ERROR_UNKNOWN);
    text = zt_get_info(profiler).error;
    assert_contains(text, strerror(EFBIG));
    assert_string_equal(read_whole(path), first_buffer.bytes);
    assert_int_equal(remove_entries(), 1);
}

/* Two threads write one file, and a third reads it all the time. */
typedef struct reader {
    const char *path;
    zt_profiler *profiler;
    int stop, halves;
} reader;

static void *read_on(void *argument) {
    reader *me = (reader *)argument;
    while (!__atomic_load_n(&me->stop, __ATOMIC_ACQUIRE)) {
        const char *text = read_whole(me->path);
        size_t length = text ? strlen(text) : 0;
        me->halves += length < 4 || text[0] != '{' || strcmp(text + length - 3, "]}\n") != 0;
    }
    return NULL;
}

static void *write_on(void *argument) {
    const reader *me = (const reader *)argument;
    for (int i = 0; i < 50; i++)
        zt_report(me->profiler, me->path);
    return NULL;
}

static void test_nobody_reads_half_a_file(void **state) {
    world *w = *state;
    pthread_t reading, writing;
    reader me = {in_directory("run.json"), open_groups(w, "ComputeBasic"), 0, 0};
    for (int i = 0; i < 20; i++) {
        char name[16];
        snprintf(name, sizeof name, "region %d", i);
        run(w, me.profiler, name);
    }
    collect_all(me.profiler);
    ok(zt_report(me.profiler, me.path));
    assert_int_equal(pthread_create(&reading, NULL, read_on, &me), 0);
    assert_int_equal(pthread_create(&writing, NULL, write_on, &me), 0);
    for (int i = 0; i < 50; i++)
        ok(zt_report(me.profiler, me.path));
    pthread_join(writing, NULL);
    __atomic_store_n(&me.stop, 1, __ATOMIC_RELEASE);
    pthread_join(reading, NULL);
    assert_int_equal(me.halves, 0);
    check_reports(me.profiler);
}

/* Reports may be written while regions are begun and collected. */
static void *write_reports(void *argument) {
    static const zt_format formats[] = {ZT_FORMAT_TABLE, ZT_FORMAT_CSV, ZT_FORMAT_JSON, ZT_FORMAT_HTML};
    zt_profiler *profiler = (zt_profiler *)argument;
    for (int i = 0; i < 20; i++) {
        first_buffer.size = 0;
        zt_write(profiler, formats[i % 4], keep, &first_buffer);
    }
    return NULL;
}

static void test_reports_while_regions_are_collected(void **state) {
    world *w = *state;
    pthread_t thread;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    assert_int_equal(pthread_create(&thread, NULL, write_reports, profiler), 0);
    for (int i = 0; i < OFTEN(1000); i++) {
        char name[16];
        snprintf(name, sizeof name, "region %d", i % 100); /* the array of regions grows */
        run(w, profiler, name);
        zt_collect(profiler, 0);
    }
    pthread_join(thread, NULL);
    collect_all(profiler);
    check_reports(profiler);
    check_work(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(test_files_are_read_back),
        IN_DIRECTORY(test_files_of_times),
        IN_DIRECTORY(test_files_with_losses_and_drops),
        IN_DIRECTORY(test_files_without_figures),
        IN_DIRECTORY(test_files_of_passes),
        IN_DIRECTORY(test_files_of_tiles),
        IN_DIRECTORY(test_files_of_latencies),
        IN_DIRECTORY(test_files_of_streamed_metrics),
        IN_DIRECTORY(test_files_state_where_they_are_from),
        IN_DIRECTORY(test_files_of_a_sub_device),
        IN_DIRECTORY(test_files_without_facts),
        IN_DIRECTORY(test_files_of_known_metrics),
        IN_DIRECTORY(test_units_beside_a_region_that_was_dropped),
        IN_DIRECTORY(test_files_without_regions),
        IN_DIRECTORY(test_most_rows),
        IN_DIRECTORY(test_names_of_all_kinds),
        IN_DIRECTORY(test_table_is_aligned_and_fits),
        IN_DIRECTORY(test_table_has_units_and_figures),
        IN_DIRECTORY(test_small_figures_are_shown),
        IN_DIRECTORY(test_wide_figures_fit),
        IN_DIRECTORY(test_columns_are_chosen),
        IN_DIRECTORY(test_columns_of_any_length),
        IN_DIRECTORY(test_columns_of_any_number),
        IN_DIRECTORY(test_minimum_and_maximum_on_request),
        IN_DIRECTORY(test_figures_of_a_column),
        IN_DIRECTORY(test_headings_of_names_without_words),
        IN_DIRECTORY(test_more_columns_than_a_table_has),
        IN_DIRECTORY(test_odd_figures),
        IN_DIRECTORY(test_rows_are_sorted_by_time),
        IN_DIRECTORY(test_long_names_are_cut_in_the_middle),
        IN_DIRECTORY(test_names_of_cpp),
        IN_DIRECTORY(test_table_of_a_b580),
        IN_DIRECTORY(test_headings_have_two_lines),
        IN_DIRECTORY(test_tables_without_memory),
        IN_DIRECTORY(test_files_without_memory),
        IN_DIRECTORY(test_what_limits_is_not_known),
        IN_DIRECTORY(test_metrics_of_several_groups_are_shown_once),
        IN_DIRECTORY(test_unknown_column_shows_nearest_names),
        IN_DIRECTORY(test_nested_regions_in_a_table),
        IN_DIRECTORY(test_deeply_nested_regions_in_a_table),
        IN_DIRECTORY(test_rows_of_paths),
        IN_DIRECTORY(test_own_time_that_is_not_known),
        TEST(test_names_in_folded_stacks),
        IN_DIRECTORY(test_columns_without_metrics_are_not_named),
        IN_DIRECTORY(test_all_unknown_columns_are_named),
        IN_DIRECTORY(test_table_shows_why_there_are_no_metrics),
        IN_DIRECTORY(test_table_of_times_by_choice),
        IN_DIRECTORY(test_table_shows_what_is_not_in_it),
        IN_DIRECTORY(test_a_report_collects_what_is_ready),
        IN_DIRECTORY(test_reports_count_unobserved_lists),
        IN_DIRECTORY(test_notes_in_all_formats),
        IN_DIRECTORY(test_notes_of_passes_and_availability),
        IN_DIRECTORY(test_table_on_standard_output),
        IN_DIRECTORY(test_only_standard_output_is_as_wide_as_the_terminal),
        IN_DIRECTORY(test_instances),
        IN_DIRECTORY(test_instances_of_odd_metrics),
        IN_DIRECTORY(test_instances_of_times),
        IN_DIRECTORY(test_instances_of_tiles),
        IN_DIRECTORY(test_instances_of_passes),
        IN_DIRECTORY(test_instances_while_one_is_replaced),
        IN_DIRECTORY(test_pages_while_samples_are_replaced),
        IN_DIRECTORY(test_page_of_many_samples),
        IN_DIRECTORY(test_format_by_suffix),
        IN_DIRECTORY(test_packed_statistics),
        IN_DIRECTORY(test_unknown_suffixes_are_refused),
        IN_DIRECTORY(test_suffix_is_of_the_file),
        IN_DIRECTORY(test_a_trace_needs_a_timeline),
        IN_DIRECTORY(test_report_over_a_symbolic_link),
        IN_DIRECTORY(test_report_through_links_to_a_new_file),
        IN_DIRECTORY(test_a_link_of_somebody_else),
        IN_DIRECTORY(test_write_function_that_stops),
        IN_DIRECTORY(test_paths_that_cannot_be_written),
        IN_DIRECTORY(test_pipes_and_devices_stay_what_they_are),
        IN_DIRECTORY(test_no_program_inherits_a_report),
        IN_DIRECTORY(test_standard_output_that_is_full),
        IN_DIRECTORY(test_a_terminal_that_does_not_block),
#ifdef __GLIBC__
        IN_DIRECTORY(test_standard_output_in_memory),
#endif
        IN_DIRECTORY(test_the_reason_of_a_failed_write),
        IN_DIRECTORY(test_longest_name_of_a_file),
        IN_DIRECTORY(test_permissions_of_a_new_file),
        IN_DIRECTORY(test_permissions_of_a_file_stay),
        IN_DIRECTORY(test_group_of_a_file_stays),
        IN_DIRECTORY(test_a_link_in_place_of_the_new_file),
        IN_DIRECTORY(test_old_report_survives_a_failure),
        IN_DIRECTORY(test_nobody_reads_half_a_file),
        IN_DIRECTORY(test_reports_while_regions_are_collected),
    };
    if (!setlocale(LC_CTYPE, "C.UTF-8")) /* for widths */
        return 1;
    return cmocka_run_group_tests(tests, start, NULL);
}
