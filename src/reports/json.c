/* run.json, and the data of run.html. */

#include "reports/json.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/platform.h"
#include "base/programs.h"
#include "base/text.h"
#include "base/writer.h"
#include "metrics/groups.h"
#include "metrics/statistics.h"
#include "modules/kernels.h"
#include "regions/columns.h"
#include "regions/profiler.h"
#include "reports/facts.h"
#include "reports/notes.h"
#include "reports/own_time.h"
#include "reports/region_facts.h"
#include "results/advice.h"
#include "results/attribution.h"
#include "results/ranking.h"
#include "results/results.h"
#include "results/roles.h"
#include "streams/power.h"
#include "tracer/hotspots.h"
#include "tracer/results.h"

/* What is the same for all regions. */
typedef struct zt__json {
    uint8_t *is_repeated; /* of each metric, and then of each streamed one: an earlier one has its name */
    uint32_t streamed_count;
    double *figures;      /* of each region, the means of all metrics */
    zt__mean_table means; /* the same, for zt__rank_columns */
    double *row;          /* the means of the region or path that was read last */
    zt__ranked_column *columns;
    uint32_t column_count;
} zt__json;

ZT__PRIVATE void zt__write_json_text(zt__writer *writer, const char *name, const char *text) {
    zt__write_comma(writer);
    zt__print(writer, "\"%s\":", name);
    zt__write_json_string(writer, text);
}

ZT__PRIVATE void zt__write_json_count(zt__writer *writer, const char *name, uint64_t count) {
    zt__write_comma(writer);
    zt__print(writer, "\"%s\":%llu", name, (unsigned long long)count);
}

ZT__PRIVATE void zt__write_json_counts(zt__writer *writer, const zt_counts *counts) {
    zt__write_json_count(writer, "begun", counts->begun);
    zt__write_json_count(writer, "collected", counts->collected);
    zt__write_json_count(writer, "lost", counts->lost);
    zt__write_json_count(writer, "dropped", counts->dropped);
    zt__write_json_count(writer, "in_flight", counts->in_flight);
}

/* Writes `null` for NaN and infinite numbers. */
static void zt__write_json_number(zt__writer *writer, double number) {
    if (zt__is_finite(number)) {
        zt__write_number(writer, number);
    } else {
        zt__write_text(writer, "null");
    }
}

static void zt__write_json_figure(zt__writer *writer, const char *name, double figure) {
    zt__write_comma(writer);
    zt__print(writer, "\"%s\":", name);
    zt__write_json_number(writer, figure);
}

/* Writes `null` for UINT32_MAX. */
static void zt__write_json_index(zt__writer *writer, const char *name, uint32_t index) {
    zt__write_json_figure(writer, name, index == UINT32_MAX ? zt__nan() : index);
}

/* Writes `null` for 0, which stands for what is not known. */
static void zt__write_json_known(zt__writer *writer, const char *name, double figure) {
    zt__write_json_figure(writer, name, figure > 0 ? figure : zt__nan());
}

/* Writes the members of a set of facts of the region or path that was read last, if it has them. */
static void zt__write_json_facts(zt__document *document, zt__fact_set set) {
    const zt__region_values list = zt__list_region_values(document);
    uint32_t i;
    for (i = 0; i < ZT__REGION_FACT_COUNT; i++) {
        const zt__region_fact *fact = &zt__region_facts[i];
        if (fact->set == set && *fact->json && zt__has_facts(document, set)) {
            zt__write_json_figure(&document->writer, fact->json, list.values[i]);
        }
    }
}

static void zt__write_json_stats(zt__writer *writer, const zt_stats *stats) {
    zt__figures figures = zt__list_figures(stats);
    uint32_t i;
    zt__write_text(writer, "{");
    zt__write_json_count(writer, "count", stats->count);
    for (i = 0; i < ZT__COUNT_OF(figures.values); i++) {
        zt__write_json_figure(writer, zt__figure_names[i], figures.values[i]);
    }
    zt__write_text(writer, "}");
}

/* Writes a member with the figures of a time. */
static void zt__write_json_times(zt__writer *writer, const char *name, const zt_stats *stats) {
    zt__print(writer, ",\n\"%s\":", name);
    zt__write_json_stats(writer, stats);
}

/* Writes the figures of a metric. In a page they have no names, which would make up half of it. */
static void zt__write_json_metric(zt__writer *writer, const zt_stats *stats) {
    zt__figures figures = zt__list_figures(stats);
    uint32_t i;
    if (!writer->is_in_html) {
        zt__write_json_stats(writer, stats);
        return;
    }
    zt__print(writer, "[%llu", (unsigned long long)stats->count);
    for (i = 0; i < ZT__COUNT_OF(figures.values); i++) {
        zt__write_text(writer, ",");
        zt__write_json_number(writer, figures.values[i]);
    }
    zt__write_text(writer, "]");
}

/* Writes the key of a metric: its name, after the group if an earlier metric has the same name. */
static void zt__write_json_key_text(zt__writer *writer, const zt_metric *metric, int is_repeated) {
    zt__write_text(writer, "\"");
    if (is_repeated) {
        zt__write_json_characters(writer, metric->group);
        zt__write_text(writer, ".");
    }
    zt__write_json_characters(writer, metric->name);
    zt__write_text(writer, "\"");
}

static void zt__write_json_key(zt__writer *writer, const zt_metric *metric, int is_repeated) {
    zt__write_comma(writer);
    zt__write_text(writer, "\n");
    zt__write_json_key_text(writer, metric, is_repeated);
    zt__write_text(writer, ":");
}

/* Writes a member for each metric, from consecutive columns. Those from the first on, which are of all tiles
   together, are followed by the shares that zt__rank_columns derives from two metrics. Only their means are
   known. */
static void zt__write_json_metrics(zt__document *document, const zt__json *json, uint32_t first_column) {
    const zt_profiler *profiler = document->profiler;
    zt__mean_table means = {json->row, profiler->metric_count, 1};
    zt__writer *writer = &document->writer;
    uint32_t i;
    zt__write_text(writer, "{");
    for (i = 0; i < profiler->metric_count; i++) {
        json->row[i] = document->stats[1 + i].mean;
        zt__write_json_key(writer, &profiler->metrics[i], json->is_repeated[i]);
        zt__write_json_metric(writer, &document->stats[first_column + i]);
    }
    for (i = 0; i < json->column_count && first_column == 1; i++) {
        const zt__ranked_column *column = &json->columns[i];
        if (column->metric == UINT32_MAX) {
            zt_stats stats;
            zt__clear_stats(&stats);
            stats.mean = zt__ranked_figure(&document->advice, &means, 0, column);
            stats.count = zt__is_nan(stats.mean) ? 0 : document->region.with_metrics;
            zt__write_comma(writer);
            zt__print(writer, "\n\"%s\":", zt__roles[column->role].name);
            zt__write_json_metric(writer, &stats);
        }
    }
    zt__write_text(writer, "}");
}

/* Writes the figures of the region or path that was read last: how long it ran, what limits it, and its metrics. */
static void zt__write_json_figures(zt__document *document, const zt__json *json) {
    static const char *const latency_names[ZT__LATENCY_COUNT] = {"queue_latency_ns", "launch_latency_ns"};
    zt_profiler *profiler = document->profiler;
    const zt_region_info *region = &document->region;
    const zt__histogram *histogram = &document->histogram;
    zt__writer *writer = &document->writer;
    const double *figures = document->figures;
    zt_limit_info limit;
    uint32_t i;
    zt__write_json_facts(document, ZT__FACTS_OF_ROWS);
    if (region->is_new || !zt__is_nan(region->change)) {
        zt__write_text(writer, ",\"change\":{");
        zt__write_json_count(writer, "new", (uint64_t)region->is_new);
        zt__write_json_figure(writer, "percent", region->change);
        zt__write_json_figure(writer, "low", region->change_low);
        zt__write_json_figure(writer, "high", region->change_high);
        zt__write_text(writer, "}");
    }
    zt__write_json_times(writer, "time_ns", &document->stats[0]);
    if (profiler->pass_count > 1) {
        zt__write_json_text(writer, "differs", zt__differences[region->differs]);
    }
    if (profiler->pass_count > 1 || zt__has_times_alone(document)) {
        zt__write_text(writer, ",\n\"pass_time_ns\":[");
        for (i = 0; i < profiler->pass_count; i++) {
            zt__write_comma(writer);
            zt__write_json_stats(writer, zt__pass_time(document, i));
        }
        zt__write_text(writer, "]");
    }
    zt__find_limit(profiler, &document->advice, document->subject, &limit);
    zt__write_text(writer, ",\n\"limit\":{");
    zt__write_json_text(writer, "what", limit.name);
    zt__write_json_text(writer, "why", limit.text);
    zt__write_json_text(writer, "add", limit.missing);
    zt__write_text(writer, "}");
    if (zt__has_facts(document, ZT__FACTS_OF_PEAKS)) {
        zt__write_text(writer, ",\"of_peak\":{");
        zt__write_json_facts(document, ZT__FACTS_OF_PEAKS);
        zt__write_text(writer, "}");
    }
    if (!zt__is_nan(figures[ZT__ROLE_MEMORY_TRAFFIC])) {
        zt__write_json_figure(writer, "bytes", figures[ZT__ROLE_MEMORY_TRAFFIC] * 1e9);
    }
    if (!zt__is_nan(figures[ZT__ROLE_INSTRUCTIONS])) {
        zt__write_json_figure(writer, "instructions", figures[ZT__ROLE_INSTRUCTIONS] * 1e9);
    }
    if (!zt__is_nan(figures[ZT__ROLE_OPERATIONS])) {
        zt__write_json_figure(writer, "operations", figures[ZT__ROLE_OPERATIONS] * 1e9);
    }
    for (i = 0; i < ZT__LATENCY_COUNT; i++) {
        const zt_stats *stats = &document->stats[zt__latency_column(profiler, i)];
        if (stats->count) {
            zt__write_json_times(writer, latency_names[i], stats);
        }
    }
    zt__write_json_facts(document, ZT__FACTS_OF_COPIES);
    if (histogram->used) {
        zt__write_text(writer, ",\n\"histogram\":{");
        zt__write_json_figure(writer, "first_ns", histogram->first);
        zt__write_json_figure(writer, "ratio", histogram->ratio);
        zt__write_text(writer, ",\"counts\":[");
        for (i = 0; i < histogram->used; i++) {
            zt__print(writer, "%s%u", i ? "," : "", (unsigned)histogram->counts[i]);
        }
        zt__write_text(writer, "]}");
    }

    zt__write_text(writer, ",\n\"metrics\":");
    zt__write_json_metrics(document, json, 1);
    zt__write_text(writer, json->streamed_count > 0 ? ",\n\"streamed\":{" : "");
    for (i = 0; i < json->streamed_count; i++) {
        const zt_metric *metric = zt_get_metric(profiler, ZT_STREAMED(i));
        zt_stats stats;
        zt_get_stats(profiler, document->nesting->index, ZT_STREAMED(i), &stats);
        if (stats.count) {
            zt__write_json_key(writer, metric, json->is_repeated[profiler->metric_count + i]);
            zt__write_text(writer, "{");
            zt__write_json_count(writer, "rows", stats.count);
            zt__write_json_figure(writer, "mean", stats.mean);
            zt__write_json_figure(writer, "stddev", stats.stddev);
            zt__write_json_figure(writer, "min", stats.min);
            zt__write_json_figure(writer, "peak", stats.max);
            zt__write_text(writer, "}");
        }
    }
    zt__write_text(writer, json->streamed_count > 0 ? "}" : "");
    zt__write_text(writer, profiler->tile_count > 0 ? ",\n\"tiles\":[" : "");
    for (i = 0; i < profiler->tile_count; i++) {
        zt__write_comma(writer);
        zt__write_json_metrics(document, json, zt__tile_column(profiler, i, 0));
    }
    zt__write_text(writer, profiler->tile_count > 0 ? "]" : "");
}

/* Writes for how much of the time each reason throttled the clock. */
static void zt__write_json_reasons(zt__writer *writer, const double *throttled_by) {
    uint32_t i;
    zt__write_text(writer, ",\"throttled_by\":{");
    for (i = 0; i < ZT_THROTTLE_REASONS; i++) {
        if (zt__is_positive(throttled_by[i])) {
            zt__write_json_figure(writer, zt__throttle_reasons[i], throttled_by[i]);
        }
    }
    zt__write_text(writer, "}");
}

/* Writes what phases have beside the figures of regions. */
static void zt__write_json_phase(zt__document *document) {
    zt__writer *writer = &document->writer;
    zt__write_comma(writer);
    zt__write_text(writer, "\"phase\":{");
    zt__write_json_facts(document, ZT__FACTS_OF_PHASES);
    zt__write_json_facts(document, ZT__FACTS_OF_MEMORY);
    zt__write_json_facts(document, ZT__FACTS_OF_POWER);
    zt__write_json_reasons(writer, document->region.throttled_by);
    zt__write_text(writer, "}");
}

/* Writes the name of a region or a kernel and, if it can be demangled, how it is shown. */
static void zt__write_json_name(zt__writer *writer, const char *name) {
    char *demangled = zt__demangle(name);
    zt__write_json_text(writer, "name", name);
    if (demangled) {
        zt__write_json_text(writer, "shown", demangled);
    }
    free(demangled);
}

/* Writes the region that was read last. */
static void zt__write_json_region(zt__document *document, const zt__json *json) {
    const zt_region_info *region = &document->region;
    zt__writer *writer = &document->writer;
    zt__write_comma(writer);
    zt__write_text(writer, "\n{");
    zt__write_json_name(writer, region->name);
    zt__write_json_facts(document, ZT__FACTS_OF_ALL);
    zt__write_json_index(writer, "parent", region->parent);
    if (region->is_phase) {
        zt__write_json_phase(document);
    }
    zt__write_json_figures(document, json);
    zt__write_text(writer, "}");
}

/* Writes a path. Where its region has several, each has figures of its own. */
static void zt__write_json_path(zt__document *document, const zt__json *json, const zt__nesting *path) {
    zt__writer *writer = &document->writer;
    char *name;
    zt__read_totals(document, path);
    name = path->is_phase ? zt__name_path(document, document->subject.path) : NULL;
    zt__write_comma(writer);
    zt__write_text(writer, "\n{");
    if (name) {
        zt__write_json_text(writer, "path", name);
    }
    zt__free(&document->profiler->config.allocator, name);
    zt__write_json_index(writer, "region", path->region);
    zt__write_json_index(writer, "parent", path->parent);
    zt__write_json_facts(document, ZT__FACTS_OF_ALL);
    if (path->is_phase) {
        zt__write_json_phase(document);
    }
    if (zt__is_one_of_several(document, path)) {
        zt__read_region(document, path);
        zt__write_json_figures(document, json);
    }
    zt__write_text(writer, "}");
}

/* Writes a member with what describes a metric. */
static void zt__write_json_description(zt__writer *writer, const zt_metric *metric, int is_repeated,
                                       const char *label) {
    zt__write_json_key(writer, metric, is_repeated);
    zt__write_text(writer, "{");
    if (label) {
        zt__write_json_text(writer, "label", label);
    }
    zt__write_json_text(writer, "name", metric->name);
    zt__write_json_text(writer, "group", metric->group);
    zt__write_json_text(writer, "component", metric->component);
    zt__write_json_text(writer, "units", metric->units);
    zt__write_json_text(writer, "type", zt__metric_type_name(metric->type));
    zt__write_json_text(writer, "aggregation", zt__aggregation_name(metric->aggregation));
    zt__write_json_count(writer, "pass", metric->pass);
    zt__write_json_text(writer, "description", metric->description);
    zt__write_text(writer, "}");
}

ZT__PRIVATE void zt__write_json_own_time(zt__writer *writer, const zt_profiler *profiler) {
    double open_ns, busy_ns;
    zt__measure_own_time(profiler, &open_ns, &busy_ns);
    zt__write_json_figure(writer, "open_ns", open_ns);
    zt__write_json_figure(writer, "library_busy_ns", busy_ns);
}

/* Writes what was read of energy, clock and temperature, if that was asked for. */
static void zt__write_json_power(zt__writer *writer, const zt_profiler *profiler) {
    zt_power_info power = zt__get_power_info(profiler);
    if (!zt__has_power(profiler)) {
        return;
    }
    zt__write_text(writer, ",\n\"power\":{");
    zt__write_json_text(writer, "domain", power.domain);
    zt__write_json_figure(writer, "seconds", power.seconds);
    zt__write_json_figure(writer, "joules", power.joules);
    zt__write_json_figure(writer, "watts", power.watts);
    zt__write_json_figure(writer, "throttled", power.throttled);
    zt__write_json_reasons(writer, power.throttled_by);
    zt__write_json_figure(writer, "mhz", power.mhz);
    zt__write_json_figure(writer, "max_celsius", power.max_celsius);
    zt__write_json_text(writer, "text", power.text);
    zt__write_text(writer, "}");
}

/* Writes with which earlier run this one is compared, and which of its paths are gone. */
static void zt__write_json_baseline(zt__document *document) {
    const zt__baseline *baseline = document->profiler->baseline;
    zt__writer *writer = &document->writer;
    uint32_t i = 0;
    char *name;
    if (!baseline) {
        return;
    }
    zt__write_text(writer, ",\n\"baseline\":{");
    zt__write_json_text(writer, "file", baseline->path);
    zt__write_json_text(writer, "failure", baseline->failure);
    zt__write_json_text(writer, "date", baseline->date);
    zt__write_json_text(writer, "device", baseline->device);
    zt__write_json_text(writer, "driver_version", baseline->driver_version);
    zt__write_text(writer, ",\"gone\":[");
    while ((name = zt__next_gone_path(document, &i)) != NULL) {
        zt__write_comma(writer);
        zt__write_json_string(writer, name);
        zt__free(&document->profiler->config.allocator, name);
    }
    zt__write_text(writer, "]}");
}

/* Reads what the document needs of all regions before the first is written. Then writes what is of the whole
   program and device, also for a reader who sees the file a year later. What is not known is "" or null. */
static void zt__write_json_head(zt__document *document, zt__json *json) {
    enum { MOST_COLUMNS = 8 }; /* without config.columns */
    zt_profiler *profiler = document->profiler;
    const zt_allocator *allocator = &profiler->config.allocator;
    const zt__facts *facts = &profiler->facts;
    const zt__peaks *peaks = &document->advice.peaks;
    const zt_overlap *overlap = &document->coverage.overlap;
    zt__writer *writer = &document->writer;
    zt_counts counts = zt__get_counts(profiler);
    uint32_t i, metrics = profiler->metric_count;
    json->streamed_count = zt__get_streamed_count(profiler);
    json->is_repeated = (uint8_t *)zt__allocate(allocator, (size_t)metrics + json->streamed_count + 1, 1);
    json->figures = zt__read_means(profiler, document->region_count);
    json->columns = (zt__ranked_column *)zt__allocate(allocator, (size_t)metrics + ZT__DERIVED_COLUMNS,
                                                      sizeof *json->columns);
    json->row = (double *)zt__allocate(allocator, (size_t)metrics + 1, sizeof *json->row);
    if (!json->is_repeated || !json->figures || !json->columns || !json->row) {
        document->out_of_memory = 1;
        return;
    }
    for (i = 0; i < metrics + json->streamed_count; i++) {
        uint32_t metric = i < metrics ? i : ZT_STREAMED(i - metrics);
        json->is_repeated[i] = (uint8_t)zt__is_repeated(profiler, metric);
    }
    zt__prepare_advice(profiler, &document->advice);
    json->means.means = json->figures;
    json->means.stride = metrics;
    json->means.region_count = document->region_count;
    if (profiler->columns) {
        json->column_count =
            zt__find_chosen_columns(profiler->columns, profiler->metrics, metrics, json->columns);
    } else {
        json->column_count =
            zt__rank_columns(profiler->metrics, metrics, &document->advice, &json->means, json->columns);
        if (json->column_count > MOST_COLUMNS) {
            json->column_count = MOST_COLUMNS;
        }
    }

    zt__write_text(writer, "{\"zetools\":\"" ZETOOLS_VERSION "\"");
    zt__write_json_text(writer, "program", facts->program);
    zt__write_json_text(writer, "date", zt__format_now().text);
    zt__write_json_text(writer, "opened", zt__format_date(facts->opened_s).text);
    zt__write_text(writer, ",\n\"device\":{");
    zt__write_json_text(writer, "name", profiler->device_name);
    zt__write_json_text(writer, "driver_version", facts->driver_version);
    zt__write_json_text(writer, "uuid", facts->uuid);
    zt__write_json_text(writer, "pci", facts->pci_address);
    zt__write_json_known(writer, "core_clock_mhz", facts->core_clock_mhz);
    zt__write_json_known(writer, "timer_hz", (double)facts->timer_hz);
    zt__write_text(writer, "}");
    zt__write_json_power(writer, profiler);
    zt__write_json_baseline(document);
    zt__write_json_text(writer, "availability", zt__get_availability_text(profiler));
    zt__write_json_figure(writer, "gpu_time_ns", document->gpu_time_ns);
    zt__write_json_figure(writer, "gpu_busy_ns", document->busy_ns);
    zt__write_json_own_time(writer, profiler);
    zt__write_text(writer, ",\n\"counts\":{");
    zt__write_json_counts(writer, &counts);
    zt__write_json_count(writer, "unobserved_lists", counts.unobserved_lists);
    zt__write_text(writer, "},\n\"causes\":{");
    for (i = 0; i < ZT_CAUSE_COUNT; i++) {
        zt__write_json_count(writer, zt__cause_name((zt_cause)i), zt__get_cause(profiler, (zt_cause)i));
    }
    zt__write_text(writer, "}");
    if (profiler->timeline) {
        zt__overlap_times times = zt__list_overlap(overlap);
        zt__write_text(writer, ",\n\"overlap\":{");
        zt__write_json_count(writer, "samples", overlap->samples);
        zt__write_json_count(writer, "missing", overlap->missing);
        for (i = 0; i < ZT__COUNT_OF(times.ns); i++) {
            zt__write_json_figure(writer, zt__overlap_names[i][1], times.ns[i]);
        }
        zt__write_text(writer, "}");
    }
    if (peaks->bytes > 0 || peaks->operations > 0) {
        zt__write_text(writer, ",\n\"peaks\":{");
        zt__write_json_known(writer, "bytes_per_second", peaks->bytes);
        zt__write_json_known(writer, "operations_per_second", peaks->operations);
        zt__write_json_text(writer, "source", peaks->source);
        zt__write_text(writer, "}");
    }
}

static void zt__write_json_note(zt__document *document, const char *text) {
    zt__write_comma(&document->writer);
    zt__write_json_string(&document->writer, text);
}

#ifdef ZETOOLS_TRACER

/* Writes sizes in three dimensions, `null` if they are not known. */
static void zt__write_json_sizes(zt__writer *writer, const char *name, const uint32_t sizes[3]) {
    zt__write_comma(writer);
    if (sizes[0]) {
        zt__print(writer, "\"%s\":[%u,%u,%u]", name, (unsigned)sizes[0], (unsigned)sizes[1],
                  (unsigned)sizes[2]);
    } else {
        zt__print(writer, "\"%s\":null", name);
    }
}

/* Writes a number of samples, and how many of each kind there are. */
static void zt__write_json_samples(zt__document *document, const uint64_t *counts, uint64_t samples) {
    const zt__hotspots *hotspots = zt__hotspots_of(document->profiler);
    zt__writer *writer = &document->writer;
    uint32_t i;
    zt__write_json_count(writer, "samples", samples);
    if (samples > 0) {
        zt__write_text(writer, ",\"kinds\":[");
        for (i = 0; i < hotspots->count_count; i++) {
            zt__print(writer, "%s%llu", i ? "," : "", (unsigned long long)counts[i]);
        }
        zt__write_text(writer, "]");
    }
}

/* Writes a source line. `text` may be NULL, and `row`, too. */
static void zt__write_json_source_line(zt__document *document, uint32_t line, const char *text,
                                       const zt__hot_row *row) {
    zt__writer *writer = &document->writer;
    zt__write_comma(writer);
    zt__write_text(writer, "\n{");
    zt__write_json_count(writer, "line", line);
    if (text) {
        zt__write_json_text(writer, "text", text);
    }
    zt__write_json_samples(document, row ? row->counts : NULL, row ? row->samples : 0);
    zt__write_text(writer, "}");
}

/* Writes a kernel: its instructions with samples, and its source lines with samples, for which the rows are
   merged. Lines have their text if the file can be read and is not very large. Then lines without samples are
   written, too: those around the others, and those between them if they are not too many. Returns how many rows
   are of the kernel. */
static uint32_t zt__write_json_hot_kernel(zt__document *document, zt__hot_row *rows, uint32_t count,
                                          uint64_t all) {
    enum { AROUND = 2, MOST_BETWEEN = 500, LARGEST = 64 << 20 };
    zt__writer *writer = &document->writer;
    const zt__sampled_kernel *kernel = rows[0].kernel;
    uint32_t i, next, end = 0, lines;
    while (end < count && rows[end].kernel == kernel) {
        end++;
    }
    zt__write_comma(writer);
    zt__write_text(writer, "\n{");
    zt__write_json_name(writer, kernel->name);
    zt__write_json_count(writer, "size", kernel->code.size);
    zt__write_json_count(writer, "samples", rows[0].kernel_samples);
    zt__write_json_figure(writer, "share", (double)rows[0].kernel_samples / (double)all);
    zt__write_text(writer, ",\"instructions\":[");
    for (i = 0; i < end; i++) {
        zt__write_comma(writer);
        zt__write_text(writer, "\n{");
        zt__write_json_count(writer, "offset", rows[i].offset);
        zt__write_json_samples(document, rows[i].counts, rows[i].samples);
        if (*rows[i].file) {
            zt__write_json_text(writer, "file", rows[i].file);
            zt__write_json_count(writer, "line", rows[i].line);
        }
        zt__write_text(writer, "}");
    }
    zt__write_text(writer, "],\"sources\":[");
    lines = zt__merge_hot_lines(rows, end);
    for (i = 0; i < lines; i = next) { /* each file */
        const char *path = rows[i].file;
        uint32_t line = 0, last = i + 1, first_line = rows[i].line, last_line;
        int is_whole, is_cut = 0;
        zt__file_properties source;
        FILE *file = NULL;
        char text[512];
        while (last < lines && strcmp(rows[last].file, path) == 0) {
            last++;
        }
        next = last;
        if (!*path) {
            continue;
        }
        last_line = rows[last - 1].line;
        is_whole = last_line - first_line <= MOST_BETWEEN;
        if (zt__get_file_properties(path, &source) && source.is_regular && source.size <= LARGEST) {
            file = zt__open_file(path, ZT__TO_READ);
        }
        zt__write_comma(writer);
        zt__write_text(writer, "\n{");
        zt__write_json_text(writer, "file", path);
        zt__write_text(writer, ",\"lines\":[");
        next = i;
        while (file && line < (uint64_t)last_line + AROUND && fgets(text, sizeof text, file)) {
            size_t length = strlen(text);
            int is_rest = is_cut; /* of a long line, which is cut */
            int has_samples;
            is_cut = length + 1 == sizeof text && text[length - 1] != '\n';
            if (is_rest) {
                continue;
            }
            text[strcspn(text, "\r\n")] = 0;
            line++;
            has_samples = next < last && rows[next].line == line;
            if (has_samples || (is_whole && (uint64_t)line + AROUND >= first_line)) {
                zt__write_json_source_line(document, line, text, has_samples ? &rows[next] : NULL);
            }
            next += (uint32_t)has_samples;
        }
        for (; next < last; next++) { /* the file cannot be read, or has become shorter */
            zt__write_json_source_line(document, rows[next].line, NULL, &rows[next]);
        }
        zt__write_text(writer, "]}");
        if (file) {
            fclose(file);
        }
    }
    zt__write_text(writer, "]}");
    return end;
}

/* Writes the memory of the whole profiler. */
static void zt__write_json_memory(zt__document *document) {
    zt__writer *writer = &document->writer;
    const zt_memory_info info = zt__get_memory_info(document->profiler);
    if (info.is_watched) {
        zt__write_text(writer, ",\n\"memory\":{");
        zt__write_json_count(writer, "allocations", info.allocations);
        zt__write_json_count(writer, "unfreed", info.unfreed);
        zt__write_json_count(writer, "unfreed_bytes", info.unfreed_bytes);
        zt__write_json_count(writer, "unseen", info.unseen);
        zt__write_json_count(writer, "bytes", info.bytes);
        zt__write_json_count(writer, "peak_bytes", info.peak_bytes);
        zt__write_json_count(writer, "host_bytes", info.host_bytes);
        zt__write_json_count(writer, "host_peak_bytes", info.host_peak_bytes);
        zt__write_text(writer, "}");
    }
}

/* Writes what a tracer has seen: what kernels are made of, calls, and hot spots. */
static void zt__write_json_traced(zt__document *document) {
    const zt_profiler *profiler = document->profiler;
    zt__writer *writer = &document->writer;
    zt__hotspots *hotspots = zt__hotspots_of(profiler);
    zt_hotspots_counts counts;
    zt__hot_row *rows;
    char group[ZET_MAX_METRIC_GROUP_NAME];
    uint32_t i, j, count = zt__get_kernel_count(profiler), period_ns;
    zt__write_text(writer, ",\n\"kernels\":[");
    for (i = 0; i < count; i++) {
        zt_kernel_info info;
        zt__kernel_values list;
        zt_get_kernel(profiler, i, &info);
        list = zt__list_kernel_values(&info);
        zt__write_comma(writer);
        zt__write_text(writer, "\n{");
        zt__write_json_name(writer, info.name);
        zt__write_json_text(writer, "module", zt__format_module(&info).text);
        zt__write_json_index(writer, "region",
                             info.region < document->region_count ? info.region : UINT32_MAX);
        zt__write_json_count(writer, "launches", info.launches);
        for (j = 0; j < ZT__COUNT_OF(list.values); j++) {
            zt__write_json_index(writer, zt__kernel_numbers[j][0], list.values[j]);
        }
        zt__write_json_sizes(writer, "required_group_size", info.required_group_size);
        zt__write_text(writer, ",\"shapes\":[");
        for (j = 0; j < info.shape_count; j++) {
            const zt_kernel_shape *shape = &info.shapes[j];
            zt__write_comma(writer);
            zt__write_text(writer, "{");
            zt__write_json_sizes(writer, "group_size", shape->group_size);
            zt__write_json_sizes(writer, "group_count", shape->group_count);
            zt__write_json_count(writer, "launches", shape->launches);
            zt__write_json_index(writer, "groups_per_subslice", shape->groups_per_subslice);
            zt__write_json_figure(writer, "occupancy", shape->occupancy);
            zt__write_json_figure(writer, "waves", shape->waves);
            zt__write_text(writer, "}");
        }
        zt__write_text(writer, "]");
        zt__write_json_count(writer, "other_launches", info.other_launches);
        zt__write_json_figure(writer, "occupancy", info.occupancy);
        zt__write_json_text(writer, "advice", info.advice);
        zt__write_text(writer, "}");
    }
    zt__write_text(writer, "],\n\"calls\":[");
    for (i = 0; i < zt__calls_to_report(profiler); i++) {
        zt_call_info call;
        zt_get_call(profiler, i, &call);
        zt__write_comma(writer);
        zt__write_text(writer, "\n{");
        zt__write_json_text(writer, "name", call.name);
        zt__write_json_count(writer, "count", call.count);
        zt__write_json_count(writer, "errors", call.errors);
        zt__write_text(writer, ",\"time_ns\":");
        zt__write_json_stats(writer, &call.time_ns);
        zt__write_text(writer, "}");
    }
    zt__write_text(writer, "]");

    rows = zt__read_hot_rows(document, 0, &count, &counts);
    if (!hotspots || counts.samples + counts.discarded + counts.drops == 0) {
        return;
    }
    zt__lock(&hotspots->mutex);
    zt__copy_text(group, sizeof group, hotspots->group, strlen(hotspots->group));
    period_ns = hotspots->period_ns;
    zt__unlock(&hotspots->mutex);
    zt__write_text(writer, ",\n\"hotspots\":{");
    zt__write_json_text(writer, "group", group);
    zt__write_json_count(writer, "period_ns", period_ns);
    zt__write_text(writer, ",\"counts\":{");
    zt__write_json_count(writer, "samples", counts.samples);
    zt__write_json_count(writer, "matched", counts.matched);
    zt__write_json_count(writer, "outside", counts.outside);
    zt__write_json_count(writer, "ambiguous", counts.ambiguous);
    zt__write_json_count(writer, "no_room", counts.no_room);
    zt__write_json_count(writer, "discarded", counts.discarded);
    zt__write_json_count(writer, "drops", counts.drops);
    zt__write_text(writer, "},\"kinds\":[");
    for (i = 0; i < hotspots->count_count; i++) {
        zt__write_comma(writer);
        zt__write_json_string(writer, hotspots->count_names[i]);
    }
    zt__write_text(writer, "],\"kernels\":[");
    for (i = 0; i < count;) {
        i += zt__write_json_hot_kernel(document, &rows[i], count - i, counts.matched);
    }
    zt__write_text(writer, "]}");
    if (rows) {
        zt__free(&hotspots->allocator, rows);
    }
}
#endif

ZT__PRIVATE void zt__write_json_members(zt__document *document) {
    const zt_profiler *profiler = document->profiler;
    const zt_allocator *allocator = &profiler->config.allocator;
    zt__writer *writer = &document->writer;
    static const zt_metric hits = {"",
                                   "",
                                   "",
                                   "percent",
                                   "Hits as a share of all accesses, calculated from other metrics.",
                                   ZET_METRIC_TYPE_RATIO,
                                   ZT_AGGREGATE_MEAN,
                                   0};
    zt__json json;
    uint32_t i, j;
    memset(&json, 0, sizeof json);
    zt__write_json_head(document, &json);
    zt__write_text(writer, ",\n\"columns\":[");
    for (j = 0; j < json.column_count; j++) { /* the keys of the metrics that tables show */
        const zt__ranked_column *column = &json.columns[j];
        zt__write_comma(writer);
        if (column->metric == UINT32_MAX) {
            zt__write_json_string(writer, zt__roles[column->role].name);
        } else {
            zt__write_json_key_text(writer, &profiler->metrics[column->metric],
                                    json.is_repeated[column->metric]);
        }
    }
    zt__write_text(writer, "],\n\"metrics\":{");
    for (i = 0; i < profiler->metric_count && !document->out_of_memory; i++) {
        const char *label = NULL;
        for (j = 0; j < json.column_count; j++) {
            if (json.columns[j].metric == i && json.columns[j].role != ZT__NO_ROLE) {
                label = zt__roles[json.columns[j].role].name;
            }
        }
        zt__write_json_description(writer, &profiler->metrics[i], json.is_repeated[i], label);
    }
    for (j = 0; j < json.column_count; j++) {
        if (json.columns[j].metric == UINT32_MAX) {
            zt_metric derived = hits;
            derived.name = zt__roles[json.columns[j].role].name;
            zt__write_json_description(writer, &derived, 0, NULL);
        }
    }
    zt__write_text(writer, json.streamed_count > 0 ? "},\n\"streamed\":{" : "");
    for (i = 0; i < json.streamed_count && !document->out_of_memory; i++) {
        zt__write_json_description(writer, zt_get_metric(profiler, ZT_STREAMED(i)),
                                   json.is_repeated[profiler->metric_count + i], NULL);
    }
    zt__write_text(writer, "},\n\"regions\":[");
    for (i = 0; i < document->region_count && !document->out_of_memory; i++) {
        /* Those without samples are written, too, so that indices are those of zt_get_region. */
        zt__read_region(document, &document->regions[i]);
        if (!document->out_of_memory) {
            zt__write_json_region(document, &json);
        }
    }
    zt__write_text(writer, "],\n\"paths\":[");
    for (i = 0; i < document->path_count && !document->out_of_memory; i++) {
        zt__write_json_path(document, &json, &document->paths[i]);
    }
    zt__write_text(writer, "],\n\"notes\":[");
    zt__list_notes(document, zt__write_json_note);
    zt__write_text(writer, "]");
#ifdef ZETOOLS_TRACER
    zt__write_json_memory(document);
    zt__write_json_traced(document);
#endif
    zt__free(allocator, json.row);
    zt__free(allocator, json.columns);
    zt__free(allocator, json.figures);
    zt__free(allocator, json.is_repeated);
}

ZT__PRIVATE void zt__write_json(zt__document *document) {
    zt__write_json_members(document);
    zt__write_text(&document->writer, "}\n");
}
