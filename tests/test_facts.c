/* The list of figures of regions and phases: each is in all formats that the list names, with the same value. */
#define _GNU_SOURCE
#define ZETOOLS_IMPLEMENTATION
#define ZETOOLS_STATIC
#include "fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ==== a profiler of which all figures are known =========================================================== */

/* Stores what cannot be measured here at once: copies of a region; power, memory and waits of a phase. */
static void store_the_rest(zt_profiler *profiler) {
    zt__lock(&profiler->mutex);
    for (uint32_t i = 0; i < profiler->path_count; i++) {
        zt__path *path = zt__path_at(profiler, i);
        if (!path->key.region->is_phase) {
            path->bytes = 3000;
            path->bytes_ns = 1500;
            continue;
        }
        path->host_wait_ns = 12;
        path->power = (zt__power_sums){.joules = 7, .energy_s = 2, .throttled_s = 0.5, .clock_s = 2};
        path->power.megahertz_s = 2400;
        path->power.awake_s = 1.5;
        path->power_s = 2;
        path->memory = (zt__phase_memory){.is_watched = 1, .allocations = 5, .unfreed = 2};
        path->memory.unfreed_bytes = 80;
        path->memory.has_ended = 1;
        path->memory.peak_bytes = 900;
        path->memory.end_bytes = 300;
    }
    zt__unlock(&profiler->mutex);
}

/* Measures the region "saxpy" in the phase "solve". */
static zt_profiler *measure(world *w) {
    zt_config config = {.groups = "ComputeBasic", .timeline = 16};
    zt_profiler *profiler = NULL;
    gpu.behave(SOFTGPU_B580_METRICS, 1);
    ok(zt_open(w->context, w->device, &config, &profiler));
    ok(zt_set_peaks(profiler, 100e9, 1e12, NULL));
    ok(zt_set_operations(profiler, "saxpy", 1000));
    zt_phase_begin("solve");
    for (int i = 0; i < 3; i++) {
        zt_region region = zt_begin(profiler, w->immediate, "saxpy");
        launch(w, w->immediate);
        zt_end(&region);
        finish_immediate(w, w->immediate);
    }
    zt_phase_end();
    ok(zt_collect(profiler, A_WHILE));
    store_the_rest(profiler);
    return profiler;
}

/* ==== reading ============================================================================================= */

static kept_text csv, json, openmetrics;

static void write_to(kept_text *text, const zt_profiler *profiler, zt_format format) {
    text->used = 0;
    ok(zt_write(profiler, format, keep_text, text));
}

/* Returns what stands behind a text, which is searched for behind another. */
static const char *behind(const char *text, const char *first, const char *second) {
    const char *found = strstr(text, first);
    found = found ? strstr(found + strlen(first), second) : NULL;
    if (!found)
        fail_msg("there is no %s behind %s", second, first);
    return found + strlen(second);
}

/* Returns the number at the begin of a text; NaN where there is none. */
static double number_at(const char *text) {
    char *end;
    double number = strtod(text, &end);
    return end > text ? number : NAN;
}

static double csv_value(const char *name, const zt__region_fact *fact) {
    enum { COUNT_COLUMN = 5 }; /* behind the name of the metric */
    char line[256];
    snprintf(line, sizeof line, "\n\"%s\",\"%s\",", name, fact->csv);
    const char *field = behind(csv.bytes, line, "");
    for (int column = 0; column < COUNT_COLUMN; column++)
        field = behind(field, ",", "");
    if (!zt__is_count(fact))
        for (int column = fact->aggregation == ZT_AGGREGATE_SUM ? 1 : 2; column > 0; column--)
            field = behind(field, ",", "");
    return number_at(field) / zt__percent_factor(fact);
}

static double json_value(const char *name, const zt__region_fact *fact) {
    char region[64], member[64];
    snprintf(region, sizeof region, "{\"name\":\"%s\",", name);
    snprintf(member, sizeof member, "\"%s\":", fact->json);
    return number_at(behind(json.bytes, region, member));
}

static double openmetrics_value(const char *name, const zt__region_fact *fact) {
    double factor;
    zt__base_unit(fact->units, &factor);
    char family[128], label[64];
    snprintf(family, sizeof family, "\n# TYPE %s ", fact->family);
    snprintf(label, sizeof label, "{%s=\"%s\"", fact->rows == ZT__FAMILY_OF_PHASE ? "phase" : "region", name);
    return number_at(behind(behind(openmetrics.bytes, family, label), "} ", "")) / factor;
}

/* ==== comparing =========================================================================================== */

/* Reads the figures as reports do. */
static zt__region_values values_of(zt_profiler *profiler, const char *name) {
    uint32_t region = 0;
    static zt_stats stats[4096];
    zt__document document = {.profiler = profiler, .stats = stats};
    assert_true(profiler->layout.column_count <= sizeof stats / sizeof *stats);
    assert_true(zt__read_nesting(&document, 1));
    assert_true(zt__measure_busy_phases(profiler, &document.busy_phases));
    zt__prepare_figures(profiler, &document.advice);
    while (strcmp(zt__record_at(profiler, region)->name, name) != 0)
        region++;
    assert_true(zt__read_region(&document, &document.regions[region]));
    zt__region_values list = zt__list_region_values(&document);
    zt__free(&profiler->config.allocator, document.regions);
    zt__free(&profiler->config.allocator, document.paths);
    zt__free(&profiler->config.allocator, document.at_once);
    zt__free(&profiler->config.allocator, document.busy_phases.paths);
    return list;
}

static void expect(double value, double wanted, const char *name, const char *format) {
    if (isnan(wanted) != isnan(value) || fabs(value - wanted) > 1e-9 * fabs(wanted))
        fail_msg("%s in %s is %.17g, not %.17g", name, format, value, wanted);
}

/* Of the whole run, a phase has no shares of peaks, and a region no phase's figures. */
static int has(const zt__region_fact *fact, int is_phase) {
    switch (fact->set) {
    case ZT__FACTS_OF_PHASES:
    case ZT__FACTS_OF_POWER:
    case ZT__FACTS_OF_MEMORY:
        return is_phase;
    case ZT__FACTS_OF_COPIES:
    case ZT__FACTS_OF_PEAKS:
        return !is_phase;
    default:
        return fact->set != ZT__FACTS_OF_TABLES;
    }
}

static void test_each_figure_in_each_format(void **state) {
    zt_profiler *profiler = measure(*state);
    int is_compared[ZT__REGION_FACT_COUNT] = {0};
    write_to(&csv, profiler, ZT_FORMAT_CSV);
    write_to(&json, profiler, ZT_FORMAT_JSON);
    write_to(&openmetrics, profiler, ZT_FORMAT_OPENMETRICS);
    for (int is_phase = 0; is_phase < 2; is_phase++) {
        const char *name = is_phase ? "solve" : "saxpy";
        const zt__region_values list = values_of(profiler, name);
        for (int i = 0; i < ZT__REGION_FACT_COUNT; i++) {
            const zt__region_fact *fact = &zt__region_facts[i];
            if (!has(fact, is_phase))
                continue;
            is_compared[i] |= !isnan(list.values[i]);
            if (*fact->csv)
                expect(csv_value(name, fact), list.values[i], fact->csv, "CSV");
            if (*fact->json)
                expect(json_value(name, fact), list.values[i], fact->json, "JSON");
            /* there, what is not known has no line */
            if (!isnan(list.values[i]) &&
                fact->rows == (is_phase ? ZT__FAMILY_OF_PHASE : ZT__FAMILY_OF_REGION))
                expect(openmetrics_value(name, fact), list.values[i], fact->family, "OpenMetrics");
        }
    }
    for (int i = 0; i < ZT__REGION_FACT_COUNT; i++)
        if (!is_compared[i] && zt__region_facts[i].set != ZT__FACTS_OF_TABLES)
            fail_msg("%s was not known", zt__region_facts[i].json);
    zt_close(profiler);
}

/* The manual's table has the list. */
static void test_the_manual(void **state) {
    (void)state;
    static char manual[4 << 20];
    char path[4096], line[512];
    find_file("zetools.h", path, sizeof path);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    manual[fread(manual, 1, sizeof manual - 1, file)] = 0;
    fclose(file);
    for (int i = 0; i < ZT__REGION_FACT_COUNT; i++) {
        const zt__region_fact *fact = &zt__region_facts[i];
        if (fact->set == ZT__FACTS_OF_TABLES)
            continue;
        snprintf(line, sizeof line, "\n       %-23s %-24s %-10s %s\n", *fact->csv ? fact->csv : "-",
                 *fact->json ? fact->json : "-", *fact->column ? fact->column : "-",
                 *fact->family ? fact->family + strlen("zetools_") : "-");
        assert_contains(manual, line);
    }
}

static const char *last_word(const char *text) {
    const char *space = strrchr(text, ' ');
    return space ? space + 1 : text;
}

/* What has a column is shown where it is asked for. */
static void test_each_column(void **state) {
    zt_profiler *profiler = measure(*state);
    static kept_text table;
    char columns[1024] = "";
    for (int i = 0; i < ZT__REGION_FACT_COUNT; i++)
        if (*zt__region_facts[i].column)
            snprintf(columns + strlen(columns), sizeof columns - strlen(columns), "%s,",
                     zt__region_facts[i].column);
    zt_close(profiler);
    setenv("ZT_COLUMNS", columns, 1);
    setenv("COLUMNS", "500", 1);
    profiler = measure(*state);
    write_to(&table, profiler, ZT_FORMAT_TABLE);
    for (int i = 0; i < ZT__REGION_FACT_COUNT; i++)
        assert_contains(table.bytes,
                        last_word(zt__region_facts[i].column)); /* a heading may have two lines */
    unsetenv("ZT_COLUMNS");
    unsetenv("COLUMNS");
    zt_close(profiler);
}

/* ==== buckets of times ==================================================================================== */

static const zt_aggregation sum_alone[] = {ZT_AGGREGATE_SUM};
static const uint32_t first_column[] = {0};
static const zt__sample_layout one_column = {1, 4, 1, first_column, sum_alone};

static void add_time(zt__statistics *statistics, double ns) {
    static zt__mutex mutex;
    assert_true(zt__reserve_samples(&zt__default_allocator, &mutex, &one_column, statistics, 1));
    zt__add_sample(&one_column, statistics, &ns);
}

/* A bound belongs to the bucket below it; a time that is not known to none. */
static void test_time_buckets(void **state) {
    (void)state;
    const double times[] = {0, 1000, 1000.5, 2000, 5000, 5001, 1e9, 5e10, 5.1e10, 1e300, NAN};
    const uint32_t buckets[] = {0, 0, 1, 1, 2, 3, 18, 23, 24, 24};
    zt__statistics statistics, merged;
    uint64_t wanted[ZT__TIME_BUCKETS] = {0};
    memset(&statistics, 0, sizeof statistics);
    memset(&merged, 0, sizeof merged);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        add_time(&statistics, times[i]);
        if (!isnan(times[i]))
            wanted[buckets[i]]++;
    }
    assert_memory_equal(statistics.time_counts, wanted, sizeof wanted);
    assert_true(zt__time_bucket_end(0) == 1e3 && zt__time_bucket_end(23) == 5e10 &&
                isinf(zt__time_bucket_end(24)));
    add_time(&merged, 3000);
    wanted[2]++;
    zt__merge_statistics(&one_column, &merged, &statistics);
    assert_memory_equal(merged.time_counts, wanted, sizeof wanted);
    zt__clear_statistics(&one_column, &merged);
    memset(wanted, 0, sizeof wanted);
    assert_memory_equal(merged.time_counts, wanted, sizeof wanted);
    zt__free_statistics(&zt__default_allocator, &statistics);
    zt__free_statistics(&zt__default_allocator, &merged);
}

/* Samples of a region in several runs, regions in a region, and entries of a phase. */
static void test_histograms(void **state) {
    zt_profiler *profiler = measure(*state);
    write_to(&openmetrics, profiler, ZT_FORMAT_OPENMETRICS);
    assert_contains(openmetrics.bytes, "# TYPE zetools_region_gpu_time_distribution_seconds histogram\n");
    assert_contains(openmetrics.bytes, "_distribution_seconds_bucket{region=\"saxpy\",le=\"1e-06\"} ");
    assert_contains(openmetrics.bytes, "_distribution_seconds_bucket{region=\"saxpy\",le=\"1.0\"} ");
    assert_contains(openmetrics.bytes, "_distribution_seconds_bucket{region=\"saxpy\",le=\"+Inf\"} 3\n");
    assert_contains(
        openmetrics.bytes,
        "_entry_gpu_time_distribution_seconds_bucket{phase=\"solve\",path=\";solve\",le=\"+Inf\"} 1\n");
    ok(zt_clear(profiler));
    write_to(&openmetrics, profiler, ZT_FORMAT_OPENMETRICS);
    assert_null(strstr(openmetrics.bytes, "_histogram_"));
    zt_close(profiler);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_each_figure_in_each_format), TEST(test_each_column), cmocka_unit_test(test_the_manual),
        cmocka_unit_test(test_time_buckets),   TEST(test_histograms),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
