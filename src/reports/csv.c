/* run.csv: a line for each set of figures; run.instances.csv: one for each sample. */

#include "reports/csv.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/programs.h"
#include "base/text.h"
#include "base/writer.h"
#include "metrics/driver.h"
#include "metrics/groups.h"
#include "metrics/statistics.h"
#include "modules/kernels.h"
#include "regions/columns.h"
#include "regions/names.h"
#include "regions/profiler.h"
#include "regions/reporting.h"
#include "reports/facts.h"
#include "reports/notes.h"
#include "reports/region_facts.h"
#include "reports/run_facts.h"
#include "results/advice.h"
#include "results/attribution.h"
#include "results/results.h"
#include "results/roles.h"
#include "results/timeline.h"
#include "streams/power.h"
#include "tracer/hotspots.h"
#include "tracer/results.h"

ZT__PRIVATE void zt__write_csv_field(zt__writer *writer, const char *text) {
    zt__character character;
    zt__write_text(writer, "\"");
    while (zt__next_character(&text, &character)) {
        if (character.code == '"') {
            zt__write_text(writer, "\"");
        }
        zt__write_bytes(writer, character.bytes, character.length);
    }
    zt__write_text(writer, "\"");
}

ZT__PRIVATE void zt__write_csv_number(zt__writer *writer, double number) {
    if (zt__is_finite(number)) {
        zt__write_number(writer, number);
    }
}

/* What a line is of. */
typedef struct zt__csv_subject {
    const char *kind;   /* "region", "call" ... */
    const char *name;   /* as reports show it */
    const char *symbol; /* its name, if `demangled` is set */
    char *demangled;
} zt__csv_subject;

static const zt__csv_subject zt__csv_whole = {"profiler", "", "", NULL};

/* Describes what has a name, which may be mangled. `demangled` is to be freed with free(). */
static zt__csv_subject zt__describe_csv_subject(const char *kind, const char *name) {
    zt__csv_subject subject;
    subject.kind = kind;
    subject.symbol = name;
    subject.name = zt__show_name(name, &subject.demangled);
    return subject;
}

/* A line of CSV. Figures that do not apply are empty. */
typedef struct zt__csv_line {
    const zt__csv_subject *subject;
    const zt_metric *metric;
    const zt_stats *stats;
    const char *tile, *pass;
    uint32_t differs;
    const char *text; /* NULL: empty */
} zt__csv_line;

static void zt__write_csv_line(zt__writer *writer, const zt__csv_line *line) {
    const zt_metric *metric = line->metric;
    const char *const texts[] = {line->subject->name, metric->name, metric->group, metric->component,
                                 metric->units};
    zt__figures figures = zt__list_figures(line->stats);
    uint32_t i;
    for (i = 0; i < ZT__COUNT_OF(texts); i++) {
        zt__write_csv_field(writer, texts[i]);
        zt__write_text(writer, ",");
    }
    zt__print(writer, "%s,%s,%llu", zt__metric_type_name(metric->type),
              zt__aggregation_name(metric->aggregation), (unsigned long long)line->stats->count);
    for (i = 0; i < ZT__COUNT_OF(figures.values); i++) {
        zt__write_text(writer, ",");
        zt__write_csv_number(writer, figures.values[i]);
    }
    zt__print(writer, ",%s,%s,%s,", line->tile, line->pass, zt__differences[line->differs]);
    if (line->text) {
        zt__write_csv_field(writer, line->text);
    }
    zt__print(writer, ",%s,", line->subject->kind);
    if (line->subject->demangled) {
        zt__write_csv_field(writer, line->subject->symbol);
    }
    zt__write_text(writer, "\n");
}

/* Writes a line that has a count, a sum (NaN: none) or a text, and no other figures. */
static void zt__write_csv_value(zt__writer *writer, const zt__csv_subject *subject, const zt_metric *metric,
                                uint64_t count, double sum, const char *text) {
    zt_stats stats;
    zt__csv_line line = {subject, metric, &stats, "all", "all", 0, text};
    zt__clear_stats(&stats);
    stats.count = count;
    stats.sum = sum;
    zt__write_csv_line(writer, &line);
}

static void zt__write_csv_text(zt__writer *writer, const zt__csv_subject *subject, const char *name,
                               const char *units, const char *text) {
    zt_metric metric = {name, "", "profiler", units, "", -1, ZT_AGGREGATE_NONE, 0};
    zt__write_csv_value(writer, subject, &metric, 0, zt__nan(), text);
}

/* Writes the name of another region. */
static void zt__write_csv_name(zt__writer *writer, const zt__csv_subject *subject, const char *name,
                               const char *region) {
    char *demangled;
    zt__write_csv_text(writer, subject, name, "", zt__show_name(region, &demangled));
    free(demangled);
}

static void zt__write_csv_note(zt__document *document, const char *text) {
    zt__write_csv_text(&document->writer, &zt__csv_whole, "note", "", text);
}

/* Returns where a line has its one figure: as the sum, the mean or, with the aggregation "none", the highest. */
static double *zt__place_of_figure(zt_stats *stats, zt_aggregation aggregation) {
    switch (aggregation) {
    case ZT_AGGREGATE_SUM:
        return &stats->sum;
    case ZT_AGGREGATE_MEAN:
        return &stats->mean;
    default:
        return &stats->max;
    }
}

/* Writes a figure: a number of samples, entries, lists or allocations as the count, any other as the sum, the mean or
   the highest of `count` samples. */
static void zt__write_csv_figure(zt__writer *writer, const zt__csv_subject *subject, const zt__fact *fact,
                                 int is_of_device, uint64_t count, double figure) {
    const int is_count = zt__is_count(fact);
    zt_metric metric = {fact->csv, "", "", zt__shown_units(fact), "", fact->type, fact->aggregation, 0};
    zt_stats stats;
    zt__csv_line line = {subject, &metric, &stats, "all", "all", 0, NULL};
    metric.component = is_count ? "profiler" : is_of_device ? "device" : "";
    zt__clear_stats(&stats);
    stats.count = is_count ? (uint64_t)figure : count;
    if (!is_count) {
        *zt__place_of_figure(&stats, fact->aggregation) = figure * zt__percent_factor(fact);
    }
    zt__write_csv_line(writer, &line);
}

/* Writes for how much of the time each reason throttled the clock. */
static void zt__write_csv_reasons(zt__writer *writer, const zt__csv_subject *subject,
                                  const double *throttled_by) {
    uint32_t i;
    for (i = 0; i < ZT_THROTTLE_REASONS; i++) {
        char name[64];
        zt__fact fact = {"share", ZET_METRIC_TYPE_RATIO, ZT_AGGREGATE_MEAN, NULL, "", "", ""};
        snprintf(name, sizeof name, "throttled: %s", zt__throttle_reasons[i]);
        fact.csv = name;
        if (zt__is_positive(throttled_by[i])) {
            zt__write_csv_figure(writer, subject, &fact, 1, 0, throttled_by[i]);
        }
    }
}

/* Writes the facts of the region, phase or path that was read last. */
static void zt__write_csv_facts(zt__document *document, const zt__csv_subject *subject) {
    const zt__region_values list = zt__list_region_values(document);
    const zt_region_info *region = &document->region;
    uint32_t i;
    for (i = 0; i < ZT__REGION_FACT_COUNT; i++) {
        const zt__region_fact *listed = &zt__region_facts[i];
        if (!*listed->fact.csv || !zt__has_facts(document, listed->set) ||
            (zt__is_nan(list.values[i]) &&
             (listed->set == ZT__FACTS_OF_POWER || listed->set == ZT__FACTS_OF_PEAKS))) {
            continue; /* a figure of the device that is not known has no line */
        }
        zt__write_csv_figure(&document->writer, subject, &listed->fact, listed->set == ZT__FACTS_OF_POWER,
                             region->is_phase ? region->entered : region->count, list.values[i]);
    }
}

/* Writes the facts of the whole run. A figure that is not known has no line. */
static void zt__write_csv_run(zt__document *document) {
    zt__writer *writer = &document->writer;
    zt__run run;
    uint32_t i;
    zt__read_run(document, &run);
    for (i = 0; i < ZT__RUN_TEXT_COUNT; i++) {
        if (*zt__run_texts[i].fact.csv && zt__has_run_set(&run, zt__run_texts[i].set)) {
            zt__write_csv_text(writer, &zt__csv_whole, zt__run_texts[i].fact.csv, "", run.texts[i]);
        }
    }
    for (i = 0; i < ZT__RUN_FIGURE_COUNT; i++) {
        const zt__run_fact *listed = &zt__run_figures[i];
        if (zt__has_run_set(&run, listed->set) && !zt__is_nan(run.figures[i])) {
            zt__write_csv_figure(writer, &zt__csv_whole, &listed->fact,
                                 listed->set == ZT__RUN_DEVICE || listed->set == ZT__RUN_POWER, 0,
                                 run.figures[i]);
        }
    }
    for (i = 0; i < ZT_CAUSE_COUNT; i++) {
        char name[64];
        zt__fact cause = {"samples", ZET_METRIC_TYPE_EVENT, ZT_AGGREGATE_SUM, NULL, "", "", ""};
        const uint64_t count = zt__get_cause(document->profiler, (zt_cause)i);
        snprintf(name, sizeof name, "%s: %s", i < ZT_DROPPED_NO_PROBE ? "lost" : "dropped",
                 zt__cause_name((zt_cause)i));
        cause.csv = name;
        if (count > 0) {
            zt__write_csv_figure(writer, &zt__csv_whole, &cause, 0, 0, (double)count);
        }
    }
    if (zt__has_run_set(&run, ZT__RUN_POWER)) {
        zt__write_csv_reasons(writer, &zt__csv_whole, run.throttled_by);
    }
}

/* Writes the figures of the region or path that was read last. */
static void zt__write_csv_region(zt__document *document, const zt__csv_subject *subject) {
    zt_profiler *profiler = document->profiler;
    const zt_metric *gpu_time = zt_get_metric(profiler, ZT_GPU_TIME);
    const zt_region_info *region = &document->region;
    const zt__nesting *nesting = document->nesting;
    zt__writer *writer = &document->writer;
    zt__csv_line line = {subject, gpu_time, &document->stats[0], "all", "all", region->differs, NULL};
    uint32_t metric, part, parent = nesting->parent;
    char tile[16] = "all", pass[16] = "all";
    int shows_passes;
    zt_limit_info limit;
    if (document->subject.path && parent != UINT32_MAX) {
        parent = document->paths[parent].region;
    }
    zt__write_csv_line(writer, &line);
    if (document->subject.path) {
        zt__write_csv_name(writer, subject, "path of", region->name);
    }
    if (parent != UINT32_MAX) {
        zt__write_csv_name(writer, subject, "parent", zt__record_at(profiler, parent)->name);
    }
    for (part = 0; part < ZT__LATENCY_COUNT; part++) {
        zt__csv_line latency_line = {subject, NULL, NULL, "all", "all", 0, NULL};
        latency_line.metric = zt_get_metric(profiler, ZT_QUEUE_LATENCY + part);
        latency_line.stats = &document->stats[zt__latency_column(profiler, part)];
        if (latency_line.stats->count) {
            zt__write_csv_line(writer, &latency_line);
        }
    }

    line.tile = tile;
    line.pass = pass;
    shows_passes = profiler->pass_count > 1 || zt__has_times_alone(document);
    for (part = 0; shows_passes && part < profiler->pass_count; part++) {
        snprintf(pass, sizeof pass, "%u", (unsigned)part);
        line.stats = zt__pass_time(document, part);
        zt__write_csv_line(writer, &line);
    }
    for (part = 0; part <= profiler->tile_count; part++) { /* all tiles together, and then each */
        uint32_t first = part ? zt__tile_column(profiler, part - 1, 0) : 1;
        if (part) {
            snprintf(tile, sizeof tile, "%u", (unsigned)part - 1);
        }
        for (metric = 0; metric < profiler->metric_count; metric++) {
            line.metric = &profiler->metrics[metric];
            line.stats = &document->stats[first + metric];
            snprintf(pass, sizeof pass, "%u", (unsigned)line.metric->pass);
            zt__write_csv_line(writer, &line);
        }
    }
    for (metric = 0; metric < zt__get_streamed_count(profiler); metric++) {
        zt_stats stats;
        zt__csv_line streamed_line = {subject, NULL, &stats, "all", "stream", 0, NULL};
        streamed_line.metric = zt_get_metric(profiler, ZT_STREAMED(metric));
        zt_get_stats(profiler, nesting->index, ZT_STREAMED(metric), &stats);
        if (stats.count) {
            zt__write_csv_line(writer, &streamed_line);
        }
    }
    zt__write_csv_facts(document, subject);
    if (region->is_phase) {
        zt__write_csv_reasons(writer, subject, region->throttled_by);
    }
    if (region->is_new || !zt__is_nan(region->change)) {
        zt_metric change = {"change",          "", "baseline", "percent", "", ZET_METRIC_TYPE_RATIO,
                            ZT_AGGREGATE_MEAN, 0};
        zt_stats stats;
        zt__csv_line change_line = {subject, &change, &stats, "all", "all", 0, region->is_new ? "new" : NULL};
        zt__clear_stats(&stats);
        stats.count = document->stats[0].count;
        stats.mean = region->change;
        stats.min = region->change_low;
        stats.max = region->change_high;
        zt__write_csv_line(writer, &change_line);
    }
    zt__find_limit(profiler, &document->advice, document->subject, &limit);
    zt__write_csv_text(writer, subject, "limit", "", limit.name);
    zt__write_csv_text(writer, subject, "limit: reason", "", limit.text);
}

#ifdef ZETOOLS_TRACER

/* Writes a line about a kernel. Its index is the group, because several kernels may have one name. A number
   that is not known has no line. */
static void zt__write_csv_kernel_line(zt__document *document, const zt__csv_subject *kernel,
                                      const char *group, const char *const metric_and_units[2],
                                      uint64_t launches, double value, const char *text) {
    zt_metric metric = {metric_and_units[0], group, "kernel", metric_and_units[1], "", -1,
                        ZT_AGGREGATE_NONE,   0};
    zt_stats stats;
    zt__csv_line line = {kernel, &metric, &stats, "all", "all", 0, text};
    zt__clear_stats(&stats);
    stats.count = launches;
    stats.mean = value;
    if (text || !zt__is_nan(value)) {
        zt__write_csv_line(&document->writer, &line);
    }
}

/* Writes what a tracer has seen: what kernels are made of, calls, and hot spots. */
static void zt__write_csv_traced(zt__document *document) {
    static const char *const launched[2] = {"launches", ""}, *const shaped[2] = {"occupancy", "percent"};
    static const char *const from[2] = {"module", ""}, *const advice[2] = {"advice", ""};
    const zt_profiler *profiler = document->profiler;
    zt__writer *writer = &document->writer;
    zt__hotspots *hotspots = zt__hotspots_of(profiler);
    zt_hotspots_counts counts;
    zt__hot_row *rows;
    char group[32], text[4096 + 64];
    uint32_t i, j, count;
    for (i = 0; i < zt__get_kernel_count(profiler); i++) { /* a line for each number, and for each shape */
        zt__csv_subject kernel;
        zt_kernel_info info;
        zt__kernel_values list;
        zt_get_kernel(profiler, i, &info);
        list = zt__list_kernel_values(&info);
        kernel = zt__describe_csv_subject("kernel", info.name);
        snprintf(group, sizeof group, "kernel %u", (unsigned)i);
        zt__write_csv_kernel_line(document, &kernel, group, launched, info.launches, (double)info.launches,
                                  NULL);
        zt__write_csv_kernel_line(document, &kernel, group, from, info.launches, zt__nan(),
                                  zt__format_module(&info).text);
        for (j = 0; j < ZT__COUNT_OF(list.values); j++) {
            zt__write_csv_kernel_line(document, &kernel, group, zt__kernel_numbers[j], info.launches,
                                      list.values[j] == UINT32_MAX ? zt__nan() : list.values[j], NULL);
        }
        for (j = 0; j < info.shape_count; j++) {
            const zt_kernel_shape *shape = &info.shapes[j];
            snprintf(text, sizeof text, "%s of %s", zt__format_sizes(shape->group_count).text,
                     zt__format_sizes(shape->group_size).text);
            zt__write_csv_kernel_line(document, &kernel, group, shaped, shape->launches,
                                      100 * shape->occupancy, text);
        }
        if (info.advice[0]) {
            zt__write_csv_kernel_line(document, &kernel, group, advice, info.launches, zt__nan(),
                                      info.advice);
        }
        free(kernel.demangled);
    }
    for (i = 0; i < zt__calls_to_report(profiler); i++) { /* two lines each */
        zt_metric host_time = {"host time",      "", "host", "ns", "", ZET_METRIC_TYPE_DURATION,
                               ZT_AGGREGATE_SUM, 0};
        zt_metric errors = {"errors", "", "host", "calls", "", ZET_METRIC_TYPE_EVENT, ZT_AGGREGATE_SUM, 0};
        zt_call_info call;
        zt__csv_subject subject = {"call", NULL, "", NULL};
        zt__csv_line line = {&subject, &host_time, &call.time_ns, "all", "all", 0, NULL};
        zt_get_call(profiler, i, &call);
        subject.name = call.name;
        zt__write_csv_line(writer, &line);
        zt__write_csv_value(writer, &subject, &errors, call.count, (double)call.errors, NULL);
    }

    rows = zt__read_hot_rows(document, 0, &count, &counts);
    for (i = 0; i < count; i++) { /* of each instruction, a line for each kind of sample that it has */
        zt__csv_subject kernel = zt__describe_csv_subject("hotspot", rows[i].kernel->name);
        int used = snprintf(text, sizeof text, "+0x%llx", (unsigned long long)rows[i].offset);
        if (*rows[i].file) {
            snprintf(text + used, sizeof text - (size_t)used, " %.4000s:%u", rows[i].file,
                     (unsigned)rows[i].line);
        }
        for (j = 0; j < hotspots->count_count; j++) {
            zt_metric metric = {hotspots->count_names[j], hotspots->group,  "hotspot", "samples", "",
                                ZET_METRIC_TYPE_EVENT,    ZT_AGGREGATE_SUM, 0};
            if (rows[i].counts[j] > 0) {
                zt__write_csv_value(writer, &kernel, &metric, rows[i].samples, (double)rows[i].counts[j],
                                    text);
            }
        }
        free(kernel.demangled);
    }
    if (rows) {
        zt__free(&hotspots->allocator, rows);
    }
}
#endif

ZT__PRIVATE void zt__write_csv(zt__document *document) {
    const zt_profiler *profiler = document->profiler;
    zt__writer *writer = &document->writer;
    char *gone;
    uint32_t i;
    zt__write_text(writer, "region,metric,group,component,units,type,aggregation,count,"
                           "sum,mean,stddev,min,max,median,p95,tile,pass,differs,text,kind,symbol\n");
    zt__prepare_advice(profiler, &document->advice);
    zt__write_csv_run(document);
    for (i = 0; i < document->region_count; i++) {
        zt__read_region(document, &document->regions[i]);
        if (!document->out_of_memory) { /* those without samples are written, as in JSON */
            zt__csv_subject subject = zt__describe_csv_subject(document->region.is_phase ? "phase" : "region",
                                                               document->region.name);
            zt__write_csv_region(document, &subject);
            free(subject.demangled);
        }
    }
    for (i = 0; i < document->path_count; i++) {
        const zt__nesting *path = &document->paths[i];
        if (zt__is_one_of_several(document, path) && zt__read_region(document, path)) {
            char *name = zt__name_path(document, document->subject.path);
            const zt__csv_subject subject = {path->is_phase ? "path of phase" : "path of region", name, "",
                                             NULL};
            if (name) {
                zt__write_csv_region(document, &subject);
            }
            zt__free(&profiler->config.allocator, name);
        }
    }
#ifdef ZETOOLS_TRACER
    zt__write_csv_traced(document);
#endif
    for (i = 0; (gone = zt__next_gone_path(document, &i)) != NULL;) {
        const zt__csv_subject subject = {"path of baseline", gone, "", NULL};
        zt__write_csv_text(writer, &subject, "change", "percent", "gone");
        zt__free(&profiler->config.allocator, gone);
    }
    zt__list_notes(document, zt__write_csv_note);
}

/* ---- a row for each sample ------------------------------------------------------------------------------- */

/* Stores the numbers that a device has in instances, and its tile if that is what was measured. A device that no driver has
   any more has that of its place in the report. */
static void zt__number_device(const zt_profiler *profiler, uint32_t device, uint32_t *number,
                              uint32_t *tile) {
    uint32_t nth = device > 0 ? device - 1 : 0;
    zt__find_device_place(profiler->joined ? profiler->joined->devices[nth].handle : profiler->opened_device,
                          number, tile);
    *number = *number == UINT32_MAX ? nth : *number;
    *tile = *tile == UINT32_MAX ? 0 : *tile;
}

/* Writes the samples of a device, of which paths have this number; 0: there is one. `values` has room for a row. */
static void zt__write_instances_of_device(zt__document *document, uint32_t device, double *values) {
    zt_profiler *profiler = document->profiler;
    zt__writer *writer = &document->writer;
    uint32_t metric, tile, number, first_tile, tiles = profiler->tile_count ? profiler->tile_count : 1;
    int has_own_time = profiler->passes[0].time_metric == UINT32_MAX; /* no metric is the GPU time */
    uint64_t i, end;
    zt__number_device(profiler, device, &number, &first_tile);
    zt__print(writer, "=== Device #%u Metrics ===\n\nKernel,GlobalInstanceId,SubDeviceId", (unsigned)number);
    zt__write_text(writer, has_own_time ? ",GpuTime[ns]" : "");
    for (metric = 0; metric < profiler->metric_count; metric++) {
        const zt_metric *named = &profiler->metrics[metric];
        const char *units = strcmp(named->units, "percent") == 0 ? "%" : named->units;
        int is_repeated = zt__is_repeated(profiler, metric);
        char heading[1024];
        snprintf(heading, sizeof heading, "%s%s%s%s%s%s", is_repeated ? named->group : "",
                 is_repeated ? "." : "", named->name, *units ? "[" : "", units, *units ? "]" : "");
        zt__write_text(writer, ",");
        if (strpbrk(heading, ",\"\r\n")) { /* unitrace has no quotes */
            zt__write_csv_field(writer, heading);
        } else {
            zt__write_shown(writer, heading);
        }
    }
    zt__write_text(writer, ",Begin[ns],End[ns]\n"); /* unitrace has neither */
    zt__get_kept_samples(profiler, &i, &end);
    for (; i < end; i++) {
        zt__timeline_sample sample;
        const char *name;
        char *demangled;
        if (!zt__copy_kept_sample(profiler, i, &sample, values)) {
            continue; /* replaced by a newer one */
        }
        if (zt__path_at(profiler, sample.path)->device != device) {
            continue;
        }
        name = zt__show_name(zt__record_at(profiler, sample.region)->name, &demangled);
        for (tile = 0; tile < tiles; tile++) {
            zt__write_csv_field(writer, name);
            zt__print(writer, ",%llu,%u", (unsigned long long)i + (profiler->joined ? 0 : 1),
                      (unsigned)(first_tile + tile));
            if (has_own_time) {
                zt__write_text(writer, ",");
                zt__write_csv_number(writer, values[0]);
            }
            for (metric = 0; metric < profiler->metric_count; metric++) {
                uint32_t column = profiler->tile_count ? zt__tile_column(profiler, tile, metric) : 1 + metric;
                /* No metric has measured the GPU time of a sample with times alone. */
                int is_time = metric == profiler->passes[0].time_metric && sample.pass == ZT__TIMES_PASS;
                zt__write_text(writer, ",");
                zt__write_csv_number(writer, is_time ? values[0] : values[column]);
            }
            zt__print(writer, ",%llu,%llu\n", (unsigned long long)sample.begin_ns,
                      (unsigned long long)sample.end_ns);
        }
        free(demangled);
    }
}

ZT__PRIVATE void zt__write_instances(zt__document *document) {
    const zt_profiler *profiler = document->profiler;
    uint32_t device, several = zt__count_devices(profiler) > 1 ? zt__count_devices(profiler) : 0;
    double *values =
        (double *)zt__allocate(&profiler->config.allocator, profiler->row_length, sizeof *values);
    document->out_of_memory |= !values;
    for (device = several ? 1 : 0; device <= several && values; device++) {
        zt__write_text(&document->writer, device > 1 ? "\n" : "");
        zt__write_instances_of_device(document, device, values);
    }
    zt__free(&profiler->config.allocator, values);
}
