/* The lists of figures of regions and phases, and of facts of the run: each is in all formats that the list names, with
   the same value. */
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

static double csv_value(const char *name, const zt__region_fact *listed) {
    enum { COUNT_COLUMN = 5 }; /* behind the name of the metric */
    char line[256];
    snprintf(line, sizeof line, "\n\"%s\",\"%s\",", name, listed->fact.csv);
    const char *field = behind(csv.bytes, line, "");
    for (int column = 0; column < COUNT_COLUMN; column++)
        field = behind(field, ",", "");
    if (!zt__is_count(&listed->fact))
        for (int column = listed->fact.aggregation == ZT_AGGREGATE_SUM ? 1 : 2; column > 0; column--)
            field = behind(field, ",", "");
    return number_at(field) / zt__percent_factor(&listed->fact);
}

static double json_value(const char *name, const zt__region_fact *listed) {
    char region[64], member[64];
    snprintf(region, sizeof region, "{\"name\":\"%s\",", name);
    snprintf(member, sizeof member, "\"%s\":", listed->fact.json);
    return number_at(behind(json.bytes, region, member));
}

static double openmetrics_value(const char *name, const zt__region_fact *listed) {
    double factor;
    zt__base_unit(listed->fact.units, &factor);
    char family[128], label[64];
    snprintf(family, sizeof family, "\n# TYPE %s ", listed->fact.family);
    snprintf(label, sizeof label, "{%s=\"%s\"", listed->rows == ZT__FAMILY_OF_PHASE ? "phase" : "region",
             name);
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

/* What goes on while a report is written: between what was read before and after. */
static void expect_within(double value, const double range[2], const char *name, const char *format) {
    if (!(value >= range[0] * (1 - 1e-9) && value <= range[1] * (1 + 1e-9)))
        fail_msg("%s in %s is %.17g, not from %.17g to %.17g", name, format, value, range[0], range[1]);
}

/* In this run, a phase has no shares of peaks, and a region no figures of phases. */
static int has(const zt__region_fact *listed, int is_phase) {
    switch (listed->set) {
    case ZT__FACTS_OF_PHASES:
    case ZT__FACTS_OF_POWER:
    case ZT__FACTS_OF_MEMORY:
        return is_phase;
    case ZT__FACTS_OF_COPIES:
    case ZT__FACTS_OF_PEAKS:
        return !is_phase;
    default:
        return listed->set != ZT__FACTS_OF_TABLES;
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
            const zt__region_fact *listed = &zt__region_facts[i];
            if (!has(listed, is_phase))
                continue;
            is_compared[i] |= !isnan(list.values[i]);
            if (*listed->fact.csv)
                expect(csv_value(name, listed), list.values[i], listed->fact.csv, "CSV");
            if (*listed->fact.json)
                expect(json_value(name, listed), list.values[i], listed->fact.json, "JSON");
            /* there, what is not known has no line */
            if (!isnan(list.values[i]) &&
                listed->rows == (is_phase ? ZT__FAMILY_OF_PHASE : ZT__FAMILY_OF_REGION))
                expect(openmetrics_value(name, listed), list.values[i], listed->fact.family, "OpenMetrics");
        }
    }
    for (int i = 0; i < ZT__REGION_FACT_COUNT; i++)
        if (!is_compared[i] && zt__region_facts[i].set != ZT__FACTS_OF_TABLES)
            fail_msg("%s was not known", zt__region_facts[i].fact.json);
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
        const zt__region_fact *listed = &zt__region_facts[i];
        if (listed->set == ZT__FACTS_OF_TABLES)
            continue;
        snprintf(line, sizeof line, "\n       %-23s %-24s %-10s %s\n",
                 *listed->fact.csv ? listed->fact.csv : "-", *listed->fact.json ? listed->fact.json : "-",
                 *listed->column ? listed->column : "-",
                 *listed->fact.family ? listed->fact.family + strlen("zetools_") : "-");
        assert_contains(manual, line);
    }
    for (int i = 0; i < ZT__RUN_TEXT_COUNT + ZT__RUN_FIGURE_COUNT; i++) {
        const zt__run_fact *listed =
            i < ZT__RUN_TEXT_COUNT ? &zt__run_texts[i] : &zt__run_figures[i - ZT__RUN_TEXT_COUNT];
        snprintf(line, sizeof line, "\n       %-35s %-25s %s\n", listed->fact.csv, listed->fact.json,
                 *listed->fact.family ? listed->fact.family + strlen("zetools_") : "-");
        assert_contains(manual, line);
    }
}

/* ==== facts of the whole run ============================================================================== */

/* Energy, clock and memory, as if they had been measured. */
static zt__power power;

static void store_power_and_memory(zt_profiler *profiler) {
    power.steps[1].ns = 2000000000;
    power.steps[1].sums = (zt__power_sums){.joules = 7, .energy_s = 2, .throttled_s = 0.5, .clock_s = 2};
    power.steps[1].sums.megahertz_s = 2400;
    power.steps[1].sums.awake_s = 1.5;
    power.step_count = 2;
    power.max_celsius = 61;
    power.domain_name = "card";
    zt__lock(&profiler->mutex);
    profiler->power = &power;
    profiler->memory_info = (zt_memory_info){1, 9, 3, 96, 2, 500, 900, 40, 70};
    zt__unlock(&profiler->mutex);
}

static double run_value_in_csv(const zt__fact *fact) {
    enum { COUNT_COLUMN = 5 };
    int column = COUNT_COLUMN;
    char line[128];
    snprintf(line, sizeof line, "\n\"\",\"%s\",", fact->csv);
    const char *field = behind(csv.bytes, line, "");
    if (!zt__is_count(fact))
        column += fact->aggregation == ZT_AGGREGATE_SUM ? 1 : fact->aggregation == ZT_AGGREGATE_MEAN ? 2 : 5;
    while (column-- > 0)
        field = behind(field, ",", "");
    return number_at(field) / zt__percent_factor(fact);
}

/* The member of JSON that has a set, as text; "": the members of the report. */
static const char *member_of(zt__run_set set) {
    switch (set) {
    case ZT__RUN_DEVICE:
        return "\"device\":{";
    case ZT__RUN_POWER:
        return "\"power\":{";
    case ZT__RUN_COUNTS:
        return "\"counts\":{";
    case ZT__RUN_OVERLAP:
        return "\"overlap\":{";
    case ZT__RUN_PEAKS:
        return "\"peaks\":{";
    case ZT__RUN_MEMORY:
        return "\n\"memory\":{";
    default:
        return "";
    }
}

static const char *run_member_in_json(zt__run_set set, const zt__fact *fact) {
    char member[64];
    snprintf(member, sizeof member, "\"%s\":", fact->json);
    return behind(json.bytes, member_of(set), member);
}

static double run_value_in_openmetrics(const zt__fact *fact) {
    double factor;
    char line[160];
    zt__family family = zt__family_of_fact(fact, &factor);
    snprintf(line, sizeof line, "\n%s%s ", fact->family, zt__is_counter(&family) ? "_total" : "");
    return number_at(behind(openmetrics.bytes, line, "")) / factor;
}

static void test_each_fact_of_the_run(void **state) {
    zt_profiler *profiler = measure(*state);
    char text[8192];
    zt__run run, earlier;
    store_power_and_memory(profiler);
    zt__document document = {.profiler = profiler, .coverage = zt__get_coverage(profiler)};
    zt__read_run(&document, &earlier);
    write_to(&csv, profiler, ZT_FORMAT_CSV);
    write_to(&json, profiler, ZT_FORMAT_JSON);
    write_to(&openmetrics, profiler, ZT_FORMAT_OPENMETRICS);
    assert_true(zt__read_nesting(&document, 1));
    zt__prepare_figures(profiler, &document.advice);
    zt__read_run(&document, &run);
    for (int i = 0; i < ZT__RUN_TEXT_COUNT; i++) {
        const zt__fact *fact = &zt__run_texts[i].fact;
        if (i == ZT__RUN_TEXT_DATE || i == ZT__RUN_TEXT_PROGRAM) /* of another second; with quotes */
            continue;
        snprintf(text, sizeof text, "\"%s\"", run.texts[i]);
        assert_memory_equal(run_member_in_json(zt__run_texts[i].set, fact), text, strlen(text));
        snprintf(text, sizeof text, "\n\"\",\"%s\",", fact->csv);
        const char *line = behind(csv.bytes, text, "");
        snprintf(text, sizeof text, ",\"%s\",profiler,\n", run.texts[i]);
        const char *end = strchr(line, '\n') + 1;
        if (strncmp(end - strlen(text), text, strlen(text)) != 0)
            fail_msg("%s in CSV ends with %.200s, not %s", fact->csv, end - strlen(text), text);
    }
    for (int i = 0; i < ZT__RUN_FIGURE_COUNT; i++) {
        const zt__run_set set = zt__run_figures[i].set;
        const zt__fact *fact = &zt__run_figures[i].fact;
        if (isnan(run.figures[i]))
            fail_msg("%s was not known", fact->json);
        if (set == ZT__RUN_OWN_TIME) {
            const double range[] = {earlier.figures[i], run.figures[i]};
            expect_within(number_at(run_member_in_json(set, fact)), range, fact->json, "JSON");
            expect_within(run_value_in_csv(fact), range, fact->csv, "CSV");
            expect_within(run_value_in_openmetrics(fact), range, fact->family, "OpenMetrics");
            continue;
        }
        expect(number_at(run_member_in_json(set, fact)), run.figures[i], fact->json, "JSON");
        expect(run_value_in_csv(fact), run.figures[i], fact->csv, "CSV");
        if (*fact->family)
            expect(run_value_in_openmetrics(fact), run.figures[i], fact->family, "OpenMetrics");
    }
    zt__lock(&profiler->mutex);
    profiler->power = NULL;
    zt__unlock(&profiler->mutex);
    zt__free(&profiler->config.allocator, document.regions);
    zt__free(&profiler->config.allocator, document.paths);
    zt__free(&profiler->config.allocator, document.at_once);
    zt_close(profiler);
}

static const char *last_word(const char *text) {
    const char *space = strrchr(text, ' ');
    return space ? space + 1 : text;
}

/* What has a column is shown where it is asked for: alone, because a table has no room for all. */
static void test_each_column(void **state) {
    static kept_text table;
    for (int i = 0; i < ZT__REGION_FACT_COUNT; i++) {
        const char *column = zt__region_facts[i].column;
        if (!*column)
            continue;
        setenv("ZT_COLUMNS", column, 1);
        zt_profiler *profiler = measure(*state);
        write_to(&table, profiler, ZT_FORMAT_TABLE);
        char *rule = strstr(table.bytes, "\n----"); /* below the headings */
        assert_non_null(rule);
        *rule = 0;
        assert_contains(table.bytes, last_word(column)); /* a heading may have two lines */
        zt_close(profiler);
    }
    unsetenv("ZT_COLUMNS");
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
    assert_null(strstr(openmetrics.bytes, "_distribution_"));
    zt_close(profiler);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_each_figure_in_each_format), TEST(test_each_fact_of_the_run),     TEST(test_each_column),
        cmocka_unit_test(test_the_manual),     cmocka_unit_test(test_time_buckets), TEST(test_histograms),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
