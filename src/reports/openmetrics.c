/* Figures for Prometheus, as OpenMetrics text. All samples of a family are written one after the other, so each
   family goes through all regions. */

#include "reports/openmetrics.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/platform.h"
#include "base/programs.h"
#include "base/text.h"
#include "base/writer.h"
#include "metrics/statistics.h"
#include "regions/columns.h"
#include "regions/names.h"
#include "regions/profiler.h"
#include "reports/facts.h"
#include "reports/region_facts.h"
#include "reports/run_facts.h"
#include "results/attribution.h"
#include "results/results.h"
#include "results/timeline.h"
#include "tracer/results.h"

/* Escapes a text for a label or for HELP. A byte that is not valid UTF-8 is written as \x and two hexadecimal
   digits, and a backslash before an x as \x5C, so that different names stay different. */
static void zt__write_openmetrics_text(zt__writer *writer, const char *text) {
    const char *next = text;
    zt__character character;
    for (; zt__next_character(&next, &character); text = next) {
        if (character.bytes != text) {
            zt__print(writer, "\\\\x%02X", (unsigned)(unsigned char)*text);
        } else if (character.code == '\\' && *next == 'x') {
            zt__write_text(writer, "\\\\x5C");
        } else if (character.code == '\n') {
            zt__write_text(writer, "\\n");
        } else {
            if (character.code == '"' || character.code == '\\') {
                zt__write_text(writer, "\\");
            }
            zt__write_bytes(writer, character.bytes, character.length);
        }
    }
}

/* A metric family. Its head is written before its first sample. */
typedef struct zt__family {
    const char *name, *type, *unit, *help; /* the name ends with the unit, which may be "" */
    int is_begun;
} zt__family;

static void zt__begin_family(zt__writer *writer, zt__family *family) {
    const char *const lines[][2] = {{"TYPE", family->type}, {"UNIT", family->unit}, {"HELP", family->help}};
    uint32_t i;
    for (i = 0; i < ZT__COUNT_OF(lines) && !family->is_begun; i++) {
        if (*lines[i][1]) {
            zt__print(writer, "# %s ", lines[i][0]);
            zt__write_text(writer, family->name);
            zt__write_text(writer, " ");
            zt__write_openmetrics_text(writer, lines[i][1]);
            zt__write_text(writer, "\n");
        }
    }
    family->is_begun = 1;
}

static int zt__is_counter(const zt__family *family) {
    return strcmp(family->type, "counter") == 0;
}

/* Begins a sample of a family. Labels and the value follow. */
static void zt__begin_sample(zt__writer *writer, zt__family *family, const char *suffix) {
    zt__begin_family(writer, family);
    zt__write_text(writer, family->name);
    zt__write_text(writer, suffix);
    zt__write_text(writer, "{");
}

static void zt__write_label(zt__writer *writer, const char *name, const char *value) {
    zt__write_comma(writer);
    zt__print(writer, "%s=\"", name);
    zt__write_openmetrics_text(writer, value);
    zt__write_text(writer, "\"");
}

/* Writes the name of a region or a call. Beside a demangled name, which another name may be, too, stands the symbol. */
static void zt__write_name_label(zt__writer *writer, const char *label, const char *name) {
    char *demangled;
    zt__write_label(writer, label, zt__show_name(name, &demangled));
    if (demangled) {
        zt__write_label(writer, "symbol", name);
    }
    free(demangled);
}

static void zt__write_number_label(zt__writer *writer, const char *name, uint32_t number) {
    char text[16];
    snprintf(text, sizeof text, "%u", (unsigned)number);
    zt__write_label(writer, name, text);
}

static void zt__end_sample(zt__writer *writer, double value) {
    zt__write_text(writer, "} ");
    zt__write_number(writer, value);
    zt__write_text(writer, "\n");
}

static void zt__end_count(zt__writer *writer, uint64_t count) {
    zt__print(writer, "} %llu\n", (unsigned long long)count);
}

/* Writes a sample of a counter, with one label. */
static void zt__write_counter_sample(zt__writer *writer, zt__family *family, const char *label,
                                     const char *value, uint64_t count) {
    zt__begin_sample(writer, family, "_total");
    zt__write_name_label(writer, label, value);
    zt__end_count(writer, count);
}

/* What the samples of a family are of: their first labels. */
typedef struct zt__family_labels {
    const char *label, *value; /* "region" or "call", and its name */
    char *path;                /* of one of several paths of a region; NULL: no label */
} zt__family_labels;

static void zt__write_labels(zt__writer *writer, const zt__family_labels *labels) {
    zt__write_name_label(writer, labels->label, labels->value);
    if (labels->path) {
        zt__write_label(writer, "path", labels->path);
    }
}

/* Writes the last samples of a summary or a histogram. A sum that was forged may be negative, which is forbidden. */
static void zt__write_sum_and_count(zt__writer *writer, zt__family *family, const zt__family_labels *labels,
                                    double sum, uint64_t count) {
    if (zt__is_finite(sum) && sum >= 0) {
        zt__begin_sample(writer, family, "_sum");
        zt__write_labels(writer, labels);
        zt__end_sample(writer, sum);
    }
    zt__begin_sample(writer, family, "_count");
    zt__write_labels(writer, labels);
    zt__end_count(writer, count);
}

/* Writes the upper bound of a bucket as a label, in seconds: "0.001", "1.0", "+Inf". */
static void zt__write_bound(zt__writer *writer, uint32_t bucket) {
    double seconds = zt__time_bucket_end(bucket) / 1e9;
    zt__write_comma(writer);
    zt__write_text(writer, "le=\"");
    if (!zt__is_finite(seconds)) {
        zt__write_text(writer, "+Inf");
    } else if (seconds >= 1) {
        zt__print(writer, "%u.0", (unsigned)seconds);
    } else {
        zt__write_number(writer, seconds);
    }
    zt__write_text(writer, "\"");
}

/* Writes the samples of a summary in seconds. Its quantiles 0 and 1 are minimum and maximum. */
static void zt__write_summary(zt__writer *writer, zt__family *family, const zt__family_labels *labels,
                              const zt_stats *time_ns) {
    const struct {
        const char *quantile;
        double ns;
    } quantiles[] = {
        {"0.0", time_ns->min}, {"0.5", time_ns->median}, {"0.95", time_ns->p95}, {"1.0", time_ns->max}};
    uint32_t i;
    for (i = 0; i < ZT__COUNT_OF(quantiles); i++) {
        /* Packed statistics that were forged may have negative figures, which OpenMetrics forbids. */
        if (zt__is_finite(quantiles[i].ns) && quantiles[i].ns >= 0) {
            zt__begin_sample(writer, family, "");
            zt__write_labels(writer, labels);
            zt__write_label(writer, "quantile", quantiles[i].quantile);
            zt__end_sample(writer, quantiles[i].ns * 1e-9);
        }
    }
    zt__write_sum_and_count(writer, family, labels, time_ns->sum * 1e-9, time_ns->count);
}

/* ---- facts of regions and phases ------------------------------------------------------------------------ */

/* The units of families. Other units keep their name. */
static const struct {
    const char *units, *base;
    double factor;
} zt__base_units[] = {
    {"ns", "seconds", 1e-9},
    {"us", "seconds", 1e-6},
    {"ms", "seconds", 1e-3},
    {"s", "seconds", 1},
    {"share", "ratio", 1},
    {"percent", "ratio", 0.01},
    {"%", "ratio", 0.01},
    {"J", "joules", 1},
    {"W", "watts", 1},
    {"degrees C", "celsius", 1},
    {"Hz", "hertz", 1},
    {"kHz", "hertz", 1e3},
    {"MHz", "hertz", 1e6},
    {"GHz", "hertz", 1e9},
    {"BpS", "bytes_per_second", 1},
    {"KBpS", "bytes_per_second", 1e3},
    {"MBpS", "bytes_per_second", 1e6},
    {"GBpS", "bytes_per_second", 1e9},
};

/* Returns the unit of a family with figures in these units, and by what they are multiplied. */
static const char *zt__base_unit(const char *units, double *factor) {
    uint32_t i;
    *factor = 1;
    for (i = 0; i < ZT__COUNT_OF(zt__base_units); i++) {
        if (strcmp(units, zt__base_units[i].units) == 0) {
            *factor = zt__base_units[i].factor;
            return zt__base_units[i].base;
        }
    }
    return units;
}

/* Returns the labels of a region or a phase. A phase always has the label of its path. The caller frees the path. */
static zt__family_labels zt__labels_of_row(zt__document *document, const zt__nesting *row) {
    zt__subject subject = zt__subject_at(document->profiler, row->index);
    const zt__path *path = subject.path;
    zt__family_labels labels = {row->is_phase ? "phase" : "region", NULL, NULL};
    if (row->is_phase && !path) {
        path = zt__path_at(document->profiler, row->path);
    }
    labels.value = subject.region->name;
    labels.path = path ? zt__name_path(document, path) : NULL;
    return labels;
}

/* Returns the next row of a kind, or the first for NULL; NULL at the end. Phases that were begun after the report are
   passed over. */
static const zt__nesting *zt__next_row_of(const zt__document *document, zt__family_of rows,
                                          const zt__nesting *row) {
    do {
        row = zt__next_by_path(document, row);
    } while (row &&
             (row->is_phase != (rows == ZT__FAMILY_OF_PHASE) || (row->is_phase && row->path == UINT32_MAX)));
    return row;
}

/* Returns the family of a figure of a list, and by what the figure is multiplied. What adds up is a counter. */
static zt__family zt__family_of_fact(const zt__fact *fact, double *factor) {
    const int is_counter = fact->aggregation == ZT_AGGREGATE_SUM && fact->type != ZET_METRIC_TYPE_RAW;
    zt__family family = {NULL, NULL, NULL, NULL, 0};
    family.name = fact->family;
    family.type = is_counter ? "counter" : "gauge";
    family.unit = zt__base_unit(fact->units, factor);
    family.help = fact->help;
    return family;
}

/* Returns whether a figure can be a sample of a family: it is known, and that of a counter is not negative. Packed
   statistics that were forged may have negative ones. */
static int zt__fits_family(const zt__family *family, double figure) {
    return zt__is_finite(figure) && (figure >= 0 || !zt__is_counter(family));
}

/* Writes the families of a kind of rows, one for each figure in zt__region_facts that has one. */
static void zt__write_fact_families(zt__document *document, zt__family_of rows) {
    uint32_t i;
    for (i = 0; i < ZT__REGION_FACT_COUNT; i++) {
        const zt__region_fact *listed = &zt__region_facts[i];
        double factor, figure;
        zt__family family = zt__family_of_fact(&listed->fact, &factor);
        const zt__nesting *row = NULL;
        while (listed->rows == rows && (row = zt__next_row_of(document, rows, row)) != NULL) {
            zt__family_labels labels;
            zt__read_totals(document, row);
            if (listed->set == ZT__FACTS_OF_PEAKS) {
                zt__read_peak_shares(document);
            }
            figure = zt__list_region_values(document).values[i];
            if (zt__fits_family(&family, figure) && zt__has_facts(document, listed->set) &&
                (row->is_phase || document->region.count)) {
                labels = zt__labels_of_row(document, row);
                zt__begin_sample(&document->writer, &family, zt__is_counter(&family) ? "_total" : "");
                zt__write_labels(&document->writer, &labels);
                zt__end_sample(&document->writer, figure * factor);
                zt__free(&document->profiler->config.allocator, labels.path);
            }
        }
    }
}

/* Writes the families of the whole run, one for each figure in zt__run_figures that has one. */
static void zt__write_run_families(zt__document *document) {
    zt__writer *writer = &document->writer;
    zt__run run;
    uint32_t i;
    zt__read_run(document, &run);
    for (i = 0; i < ZT__RUN_FIGURE_COUNT; i++) {
        const zt__run_fact *listed = &zt__run_figures[i];
        double factor;
        zt__family family = zt__family_of_fact(&listed->fact, &factor);
        if (*family.name && zt__has_run_set(&run, listed->set) && zt__fits_family(&family, run.figures[i])) {
            zt__begin_family(writer, &family);
            zt__print(writer, "%s%s ", family.name, zt__is_counter(&family) ? "_total" : "");
            zt__write_number(writer, run.figures[i] * factor);
            zt__write_text(writer, "\n");
        }
    }
}

/* Writes histograms of the GPU times of regions or, of phases, of their entries. */
static void zt__write_histograms(zt__document *document, zt__family family, zt__family_of rows) {
    const zt__nesting *row = NULL;
    zt__writer *writer = &document->writer;
    zt_profiler *profiler = document->profiler;
    while ((row = zt__next_row_of(document, rows, row)) != NULL) {
        const zt__subject subject = zt__subject_at(profiler, row->index);
        uint64_t counts[ZT__TIME_BUCKETS], below = 0;
        zt__family_labels labels;
        zt__moments time;
        uint32_t i;
        zt__lock(&profiler->mutex);
        zt__sum_time_counts(subject, counts);
        time = zt__sum_moments(subject, 0);
        zt__unlock(&profiler->mutex);
        if (time.count == 0) {
            continue;
        }
        labels = zt__labels_of_row(document, row);
        for (i = 0; i < ZT__TIME_BUCKETS; i++) {
            below += counts[i];
            zt__begin_sample(writer, &family, "_bucket");
            zt__write_labels(writer, &labels);
            zt__write_bound(writer, i);
            zt__end_count(writer, below);
        }
        zt__write_sum_and_count(writer, &family, &labels, time.sum * 1e-9, time.count);
        zt__free(&profiler->config.allocator, labels.path);
    }
}

/* Writes summaries of a column of regions or, of phases, of the GPU times of their entries. */
static void zt__write_summaries(zt__document *document, zt__family family, zt__family_of rows,
                                uint32_t column) {
    const zt__nesting *row = NULL;
    zt_stats stats;
    while ((row = zt__next_row_of(document, rows, row)) != NULL) {
        zt__family_labels labels;
        document->out_of_memory |= !zt__get_column(
            document->profiler, zt__subject_at(document->profiler, row->index), column, &stats, NULL, NULL);
        if (stats.count > 0) {
            labels = zt__labels_of_row(document, row);
            zt__write_summary(&document->writer, &family, &labels, &stats);
            zt__free(&document->profiler->config.allocator, labels.path);
        }
    }
}

/* ---- metrics of regions ---------------------------------------------------------------------------------- */

/* What the samples of a family describe. */
typedef enum zt__family_kind {
    ZT__OF_PASSES,     /* the GPU time of samples with metrics, by which these are to be divided */
    ZT__OF_DEVICE,     /* a metric of regions. Here and below, the index is that of a metric */
    ZT__OF_TILES,      /* the same, of each tile */
    ZT__STREAMED_MEAN, /* the mean of a streamed metric while regions run */
    ZT__STREAMED_PEAK, /* its peak */
    ZT__FAMILY_KIND_COUNT
} zt__family_kind;

/* Writes the samples of a family: the figure of each region, and of its tiles or passes, times `factor`. Figures
   that do not fit the family are left out. */
static void zt__write_samples(zt__document *document, zt__family *family, zt__family_kind kind,
                              uint32_t index, double factor) {
    zt_profiler *profiler = document->profiler;
    zt__writer *writer = &document->writer;
    int is_counter = zt__is_counter(family), is_metric = kind >= ZT__OF_DEVICE;
    const zt_metric *metric = is_metric && kind < ZT__STREAMED_MEAN ? &profiler->metrics[index] : NULL;
    const zt__nesting *row = NULL;
    uint32_t part, parts = 1, stream = 0;
    zt_stats stats;
    if (kind == ZT__OF_TILES || kind == ZT__OF_PASSES) {
        parts = kind == ZT__OF_TILES ? profiler->tile_count : profiler->pass_count;
    }
    if (kind >= ZT__STREAMED_MEAN) { /* the number of the stream that has the metric, from 1 */
        metric = zt__streamed_metric_at(profiler, index, &stream);
    }
    while ((row = zt__next_row_of(document, ZT__FAMILY_OF_REGION, row)) != NULL) {
        zt__subject subject = zt__subject_at(profiler, row->index);
        zt__family_labels labels = zt__labels_of_row(document, row);
        for (part = 0; part < parts; part++) {
            double figure;
            if (stream) {
                zt_get_stats(profiler, row->index, ZT_STREAMED(index), &stats);
                figure = kind == ZT__STREAMED_MEAN ? stats.mean : stats.max;
            } else if (kind == ZT__OF_PASSES) {
                zt_get_stats(profiler, row->index, ZT_PASS_TIME(part), &stats);
                figure = stats.sum;
            } else {
                uint32_t column = kind == ZT__OF_TILES ? zt__tile_column(profiler, part, index) : 1 + index;
                zt__moments moments;
                zt__lock(&profiler->mutex);
                moments = zt__sum_moments(subject, column);
                zt__unlock(&profiler->mutex);
                zt__get_moments(metric->aggregation, &moments, &stats);
                figure = is_counter ? stats.sum : stats.mean;
            }
            if (!zt__fits_family(family, figure)) {
                continue;
            }
            zt__begin_sample(writer, family, is_counter ? "_total" : "");
            zt__write_labels(writer, &labels);
            if (is_metric) {
                zt__write_label(writer, "metric", metric->name);
                zt__write_label(writer, "group", metric->group);
            }
            if (profiler->pass_count > 1 && !stream && (is_metric || kind == ZT__OF_PASSES)) {
                zt__write_number_label(writer, "pass", is_metric ? metric->pass : part);
            }
            if (kind == ZT__OF_TILES) {
                zt__write_number_label(writer, "tile", part);
            }
            if (stream) {
                zt__write_number_label(writer, "stream", stream);
            }
            zt__end_sample(writer, figure * factor);
        }
        zt__free(&profiler->config.allocator, labels.path);
    }
}

/* Writes how many samples of each region were lost or dropped, on all its paths. */
static void zt__write_missing(zt__document *document, zt__family *family, int are_dropped) {
    zt_profiler *profiler = document->profiler;
    uint32_t i;
    for (i = 0; i < document->region_count; i++) {
        zt__subject subject = zt__subject_at(profiler, i);
        uint64_t lost, dropped, collected;
        zt__lock(&profiler->mutex);
        lost = subject.region->lost;
        dropped = subject.region->dropped;
        collected = zt__add_up(subject).count;
        zt__unlock(&profiler->mutex);
        if (!subject.region->is_phase && (collected || lost || dropped)) {
            zt__write_counter_sample(&document->writer, family, "region", subject.region->name,
                                     are_dropped ? dropped : lost);
        }
    }
}

/* ---- families of metrics --------------------------------------------------------------------------------- */

/* The family under which a metric is exported. */
typedef struct zt__metric_family {
    zt__family family;
    char name[1024];
    char unit[ZET_MAX_METRIC_RESULT_UNITS];
    double factor; /* figures are multiplied by it, to be in base units */
} zt__metric_family;

/* Appends a name in snake case: "GpuTime" becomes "gpu_time", "GPU_BUSY" "gpu_busy". `from` has `length`
   bytes. */
static void zt__append_snake_case(char *name, size_t room, const char *from, size_t length) {
    size_t used = strlen(name), i;
    for (i = 0; i < length && used + 3 < room; i++) {
        char letter = from[i];
        int is_upper = letter >= 'A' && letter <= 'Z', is_lower = letter >= 'a' && letter <= 'z';
        if (!is_upper && !is_lower && !(letter >= '0' && letter <= '9')) {
            letter = '_';
        }
        if (is_upper && i > 0 && from[i - 1] >= 'a' && from[i - 1] <= 'z') {
            name[used++] = '_';
        }
        if (letter != '_' || (used > 0 && name[used - 1] != '_')) {
            name[used++] = (char)(is_upper ? letter - 'A' + 'a' : letter);
        }
    }
    while (used > 0 && name[used - 1] == '_') {
        used--;
    }
    name[used] = 0;
}

/* Describes the family of a metric. `infix` makes its name differ from those of other families. A metric that is
   not combined (ZT_AGGREGATE_NONE) has no family, and neither has a flag of a stream: then the name is "". A
   long name, as packed statistics may have, is cut, so that there is room for what is appended. */
static void zt__describe_family(zt__metric_family *described, zt__family_kind kind, const zt_metric *metric,
                                const char *infix) {
    enum { APPENDED = sizeof described->unit + 32 }; /* infix, unit, "_value" */
    static const char *const reserved[] = {"_total", "_count", "_sum", "_bucket", "_created", "_info"};
    static const char *const prefixes[ZT__FAMILY_KIND_COUNT] = {
        "", "zetools_metric_", "zetools_tile_metric_", "zetools_streamed_mean_", "zetools_streamed_peak_"};
    const char *units = metric->aggregation == ZT_AGGREGATE_FLAG ? "samples" : metric->units, *base;
    size_t length = strlen(metric->name);
    int is_streamed = kind >= ZT__STREAMED_MEAN;
    char *name = described->name;
    uint32_t i;
    memset(described, 0, sizeof *described);
    described->family.name = name;
    described->family.unit = described->unit;
    described->family.help = *metric->description ? metric->description : metric->name;
    described->factor = 1;
    if (metric->aggregation == ZT_AGGREGATE_NONE ||
        (is_streamed && metric->aggregation == ZT_AGGREGATE_FLAG)) {
        return;
    }
    base = zt__base_unit(units, &described->factor);
    zt__append_snake_case(described->unit, sizeof described->unit, base, strlen(base));
    described->family.type = is_streamed || metric->aggregation == ZT_AGGREGATE_MEAN ? "gauge" : "counter";
    if (*units && zt__ends_with(metric->name, units, strcmp)) {
        length -= strlen(units); /* "FrequencyMHz" in MHz becomes "frequency_hertz" */
    }
    strcpy(name, prefixes[kind]);
    zt__append_snake_case(name, sizeof described->name - APPENDED, metric->name, length);
    zt__append(name, sizeof described->name, "%s%s%s%s", *infix ? "_" : "", infix,
               *described->unit ? "_" : "", described->unit);
    for (i = 0; i < ZT__COUNT_OF(reserved); i++) {
        if (zt__ends_with(name, reserved[i], strcmp)) {
            strcat(name, "_value");
            described->unit[0] = 0; /* the name of a family with a unit ends with that */
        }
    }
}

/* Returns the index of the first metric that shares the family name of `metric`. */
static uint32_t zt__first_of_family(const zt__metric_family *families, uint32_t metric) {
    uint32_t i = 0;
    while (i < metric && strcmp(families[i].name, families[metric].name) != 0) {
        i++;
    }
    return i;
}

/* Writes a family for each name of a metric. Metrics of several groups or streams that have the same name
   share one. */
static void zt__write_metric_families(zt__document *document, zt__family_kind kind) {
    zt_profiler *profiler = document->profiler;
    const zt_allocator *allocator = &profiler->config.allocator;
    int is_streamed = kind >= ZT__STREAMED_MEAN, is_begun;
    uint32_t i, k, count = is_streamed ? zt__get_streamed_count(profiler) : profiler->metric_count;
    zt__metric_family *families = NULL;
    if (count > 0 && (kind != ZT__OF_TILES || profiler->tile_count > 0)) {
        families = (zt__metric_family *)zt__allocate(allocator, count, sizeof *families);
        document->out_of_memory |= !families;
    }
    if (!families) {
        return;
    }
    for (i = 0; i < count; i++) {
        const zt_metric *metric = zt_get_metric(profiler, is_streamed ? ZT_STREAMED(i) : i);
        zt__describe_family(&families[i], kind, metric, "");
        if (families[zt__first_of_family(families, i)].family.type != families[i].family.type) {
            zt__describe_family(&families[i], kind, metric, families[i].family.type);
        }
    }
    for (i = 0; i < count; i++) {
        if (!*families[i].name || zt__first_of_family(families, i) < i) {
            continue; /* none, or written already */
        }
        for (k = i, is_begun = 0; k < count; k++) {
            zt__family *family = &families[k].family;
            if (strcmp(families[k].name, families[i].name) == 0) {
                family->is_begun = is_begun;
                zt__write_samples(document, family, kind, k, families[k].factor);
                is_begun = family->is_begun;
            }
        }
    }
    zt__free(allocator, families);
}

/* ---- the whole ------------------------------------------------------------------------------------------- */

/* Of zt_availability. */
static const char *const zt__availability_names[ZT_AVAILABILITY_UNKNOWN + 1] = {
    "available",     "times_by_choice", "not_enabled",     "library_missing", "no_permission", "in_use",
    "no_such_group", "no_such_metric",  "groups_conflict", "not_supported",   "device_lost",   "no_profiler"};

ZT__PRIVATE void zt__write_openmetrics(zt__document *document) {
    /* Not of the type "info", which the text format before OpenMetrics, and so the Pushgateway and the textfile
       collector, do not have. */
    zt__family info = {"zetools_info", "gauge", "",
                       "Version of zetools.h, device, and availability of metrics", 0};
    zt__family lost = {"zetools_lost_samples", "counter", "samples",
                       "Samples whose data is missing or invalid, by cause", 0};
    zt__family dropped = {"zetools_dropped_samples", "counter", "samples",
                          "Samples that were not measured, by cause", 0};
    zt__family times[] = {/* summaries by region */
                          {"zetools_region_gpu_time_seconds", "summary", "seconds",
                           "GPU time of the samples of a region, with regions inside it", 0},
                          {"zetools_region_queue_latency_seconds", "summary", "seconds",
                           "Time from the append of a region to the execution of its list", 0},
                          {"zetools_region_launch_latency_seconds", "summary", "seconds",
                           "Time from the submission of a region to its begin on the device", 0}};
    const zt__family time_histogram = {"zetools_region_gpu_time_distribution_seconds", "histogram", "seconds",
                                       "GPU time of the samples of a region, with regions inside it", 0};
    const zt__family entry_times = {"zetools_phase_entry_gpu_time_seconds", "summary", "seconds",
                                    "GPU time of what was submitted in one entry of a phase", 0};
    const zt__family entry_histogram = {"zetools_phase_entry_gpu_time_distribution_seconds", "histogram",
                                        "seconds", "GPU time of what was submitted in one entry of a phase",
                                        0};
    zt__family region_lost = {"zetools_region_lost_samples", "counter", "samples",
                              "Samples of a region whose data is missing or invalid", 0};
    zt__family region_dropped = {"zetools_region_dropped_samples", "counter", "samples",
                                 "Samples of a region that were not measured", 0};
    zt__family pass_time = {"zetools_region_pass_gpu_time_seconds", "counter", "seconds",
                            "GPU time of the samples of a region with metrics, of each pass", 0};
    zt_profiler *profiler = document->profiler;
    zt__writer *writer = &document->writer;
    const uint32_t columns[] = {0, zt__latency_column(profiler, ZT__QUEUE_LATENCY),
                                zt__latency_column(profiler, ZT__LAUNCH_LATENCY)};
    uint32_t i, kind;
#ifdef ZETOOLS_TRACER
    zt__family call_time = {"zetools_call_seconds", "summary", "seconds", "Host time of calls", 0};
    zt__family call_errors = {"zetools_call_errors", "counter", "errors", "Calls that failed", 0};
    zt__family unmeasured = {"zetools_unmeasured_launches", "counter", "launches",
                             "Launches that a tracer saw and could not measure, by cause", 0};
    zt_trace_counts launches = zt__get_launch_counts(profiler);
    uint32_t calls = zt__calls_to_report(profiler);
    zt_call_info call;
#endif
    zt__begin_sample(writer, &info, "");
    zt__write_label(writer, "version", ZETOOLS_VERSION);
    zt__write_label(writer, "device", profiler->device_name);
    zt__write_label(writer, "availability", zt__availability_names[zt__get_availability(profiler)]);
    zt__end_count(writer, 1);
    zt__write_run_families(document);
    for (i = 0; i < ZT_CAUSE_COUNT; i++) {
        zt__write_counter_sample(writer, i < ZT_DROPPED_NO_PROBE ? &lost : &dropped, "cause",
                                 zt__cause_name((zt_cause)i), zt__get_cause(profiler, (zt_cause)i));
    }
#ifdef ZETOOLS_TRACER
    if (launches.launches > 0) {
        for (i = 0; i < ZT_UNMEASURED_COUNT; i++) {
            zt__write_counter_sample(writer, &unmeasured, "cause", launches.unmeasured[i].name,
                                     launches.unmeasured[i].count);
        }
    }
#endif

    for (kind = 0; kind < ZT__COUNT_OF(times); kind++) {
        zt__write_summaries(document, times[kind], ZT__FAMILY_OF_REGION, columns[kind]);
    }
    zt__write_histograms(document, time_histogram, ZT__FAMILY_OF_REGION);
    zt__prepare_figures(profiler, &document->advice);
    zt__write_fact_families(document, ZT__FAMILY_OF_REGION);
    zt__write_missing(document, &region_lost, 0);
    zt__write_missing(document, &region_dropped, 1);
    if (profiler->metric_count > 0) {
        zt__write_samples(document, &pass_time, ZT__OF_PASSES, 0, 1e-9);
    }
    zt__write_fact_families(document, ZT__FAMILY_OF_PHASE);
    zt__write_summaries(document, entry_times, ZT__FAMILY_OF_PHASE, 0);
    zt__write_histograms(document, entry_histogram, ZT__FAMILY_OF_PHASE);
    for (kind = ZT__OF_DEVICE; kind < ZT__FAMILY_KIND_COUNT; kind++) {
        zt__write_metric_families(document, (zt__family_kind)kind);
    }
#ifdef ZETOOLS_TRACER
    for (i = 0; i < calls; i++) {
        zt__family_labels labels = {"call", NULL, NULL};
        zt_get_call(profiler, i, &call);
        labels.value = call.name;
        zt__write_summary(writer, &call_time, &labels, &call.time_ns);
    }
    for (i = 0; i < calls; i++) {
        zt_get_call(profiler, i, &call);
        zt__write_counter_sample(writer, &call_errors, "call", call.name, call.errors);
    }
#endif
    zt__write_text(writer, "# EOF\n");
}
