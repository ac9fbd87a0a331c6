/* What all reports read: a region at a time, hot spots; names and dates that they share. */

#include "reports/facts.h"

#include "base/compiler.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/paths.h"
#include "base/platform.h"
#include "base/programs.h"
#include "metrics/driver.h"
#include "metrics/statistics.h"
#include "regions/columns.h"
#include "regions/names.h"
#include "regions/profiler.h"
#include "results/overlap.h"
#include "results/results.h"
#include "tracer/hotspots.h"

/* ---- a region ------------------------------------------------------------------------------------------- */

static int zt__is_countable(double time) {
    return zt__is_positive(time) && zt__is_finite(time);
}

ZT__PRIVATE const zt_stats *zt__pass_time(const zt__document *document, uint32_t pass) {
    return &document->stats[zt__pass_time_column(document->profiler, pass)];
}

ZT__PRIVATE int zt__has_times_alone(const zt__document *document) {
    return document->profiler->metric_count > 0 && document->region.with_metrics < document->region.count;
}

/* Fills the histogram with sorted GPU times. Its buckets are as narrow as their number allows, but not narrower than
   0.5 %. */
static void zt__fill_histogram(zt__histogram *histogram, const zt__kept_value *values, uint32_t count) {
    double first = 0, last = 0;
    uint32_t i;
    memset(histogram, 0, sizeof *histogram);
    for (i = 0; i < count; i++) {
        if (zt__is_countable(values[i].value)) {
            first = first > 0 ? first : values[i].value;
            last = values[i].value;
        }
    }
    if (first > 0) {
        histogram->first = first;
        histogram->ratio = pow(last / first, 1.0 / (double)ZT__HISTOGRAM_BUCKETS);
        histogram->ratio = histogram->ratio < 1.005 ? 1.005 : histogram->ratio;
    }
    for (i = 0; i < count && first > 0; i++) {
        if (zt__is_countable(values[i].value)) {
            double place = log(values[i].value / first) / log(histogram->ratio);
            uint32_t bucket =
                place < ZT__HISTOGRAM_BUCKETS - 1 ? (uint32_t)place : ZT__HISTOGRAM_BUCKETS - 1u;
            histogram->counts[bucket]++;
            histogram->sums[bucket] += values[i].value;
            histogram->used = bucket + 1 > histogram->used ? bucket + 1 : histogram->used;
        }
    }
}

ZT__PRIVATE int zt__find_groups_of_times(const zt__histogram *histogram, zt__time_groups *groups) {
    enum { WIDE = ZT__HISTOGRAM_BUCKETS / 4 };
    uint32_t i, gap = 0, widest = 0, second = 0; /* the bucket behind the widest gap */
    memset(groups, 0, sizeof *groups);
    for (i = 0; i < histogram->used; i++) {
        gap = histogram->counts[i] ? 0 : gap + 1;
        if (gap > widest) {
            widest = gap;
            second = i + 1;
        }
    }
    for (i = 0; i < histogram->used; i++) {
        groups->counts[i >= second] += histogram->counts[i];
        groups->means[i >= second] += histogram->sums[i];
    }
    for (i = 0; i < 2; i++) {
        groups->means[i] /= groups->counts[i] ? groups->counts[i] : 1;
    }
    return widest >= WIDE;
}

ZT__PRIVATE void zt__read_totals(zt__document *document, const zt__nesting *nesting) {
    zt_profiler *profiler = document->profiler;
    zt_region_info *region = &document->region;
    document->nesting = nesting;
    document->subject = zt__subject_at(profiler, nesting->index);
    memset(region, 0, sizeof *region);
    zt__lock(&profiler->mutex);
    document->totals = zt__add_up(document->subject);
    zt__unlock(&profiler->mutex);
    zt__fill_totals(&document->totals, region);
    region->busy_ns =
        zt__get_busy_time(&document->busy_phases, document->subject.region, document->subject.path);
    region->name = document->subject.region->name;
    region->parent = nesting->parent;
    region->own_ns = nesting->own_ns;
    region->total_ns = nesting->total_ns;
    document->of_peak = zt__list_peak_shares(NULL);
}

ZT__PRIVATE void zt__read_peak_shares(zt__document *document) {
    double errors[ZT__ROLE_COUNT];
    zt__read_figures(document->profiler, &document->advice, document->subject, document->figures, errors);
    document->of_peak = zt__list_peak_shares(document->figures);
}

ZT__PRIVATE int zt__read_region(zt__document *document, const zt__nesting *nesting) {
    zt_profiler *profiler = document->profiler;
    zt_region_info *region = &document->region;
    zt__kept_value *times;
    zt_stats pass_times[ZT__MAX_PASSES];
    uint32_t column, pass, count;
    zt__read_totals(document, nesting);
    zt__read_peak_shares(document);
    for (column = 1; column < profiler->layout.column_count; column++) {
        document->out_of_memory |=
            !zt__get_column(profiler, document->subject, column, &document->stats[column], NULL, NULL);
    }
    document->out_of_memory |=
        !zt__get_column(profiler, document->subject, 0, &document->stats[0], &times, &count);
    zt__fill_histogram(&document->histogram, times, count);
    zt__free(&profiler->config.allocator, times);
    region->time_ns = document->stats[0];
    for (pass = 0; pass < profiler->pass_count; pass++) {
        pass_times[pass] = *zt__pass_time(document, pass);
    }
    region->differs = zt__find_differences(profiler, pass_times);
    zt__compare_with_baseline(profiler, document->subject.region, document->subject.path, region);
    if (document->out_of_memory || !(region->count || region->entered || region->lost || region->dropped)) {
        return 0;
    }
    document->shown_count += region->count || region->lost || region->dropped;
    document->differs |= region->differs != 0;
    return 1;
}

ZT__PRIVATE int zt__is_one_of_several(const zt__document *document, const zt__nesting *path) {
    return document->regions[path->region].paths > 1;
}

ZT__PRIVATE const zt__nesting *zt__next_by_path(const zt__document *document, const zt__nesting *row) {
    uint32_t i = 0;
    if (row) {
        i = (row->index < ZT_PATH(0) ? row->region : document->region_count + row->path) + 1;
    }
    for (; i < document->region_count; i++) {
        if (document->regions[i].paths <= 1) {
            return &document->regions[i];
        }
    }
    for (; i < document->region_count + document->path_count; i++) {
        row = &document->paths[i - document->region_count];
        if (zt__is_one_of_several(document, row)) {
            return row;
        }
    }
    return NULL;
}

ZT__PRIVATE char *zt__name_path(zt__document *document, const zt__path *path) {
    const zt__path *outer;
    size_t length = path->depth == 1 ? 1 : 0, used, i;
    char *name, *demangled;
    for (outer = path; outer->depth > 0; outer = outer->key.outer) {
        length += strlen(zt__show_name(outer->key.region->name, &demangled)) + 1;
        free(demangled);
    }
    name = (char *)zt__allocate(&document->profiler->config.allocator, length, 1);
    document->out_of_memory |= !name;
    for (outer = path, used = length - 1; outer->depth > 0 && name; outer = outer->key.outer) {
        const char *shown = zt__show_name(outer->key.region->name, &demangled);
        length = strlen(shown);
        length = length < used ? length
                               : used; /* the C++ library may have had no memory for the one or the other */
        used -= length;
        for (i = 0; i < length; i++) {
            name[used + i] = shown[i] == ';' ? ':' : shown[i];
        }
        if (used > 0) {
            name[--used] = ';';
        }
        free(demangled);
    }
    return name;
}

/* Returns the name of a path of the earlier run, as zt__name_path. */
static char *zt__name_baseline_path(zt__document *document, const zt__baseline *baseline, uint32_t index) {
    enum { DEEPEST = 64 };
    const zt_allocator *allocator = &document->profiler->config.allocator;
    const char *names[DEEPEST];
    char *owned[DEEPEST], *text;
    size_t length = 1, used = 0, i;
    uint32_t depth = 0;
    do {
        const zt__baseline_region *region = &baseline->regions[baseline->paths[index].place.region];
        names[depth] = zt__show_name(region->name, &owned[depth]);
        length += strlen(names[depth++]) + 1;
        index = baseline->paths[index].place.outer;
    } while (index != UINT32_MAX && depth < DEEPEST);
    text = (char *)zt__allocate(allocator, length, 1);
    document->out_of_memory |= !text;
    while (depth-- > 0) {
        for (i = 0; text && names[depth][i]; i++) {
            text[used++] = names[depth][i] == ';' ? ':' : names[depth][i];
        }
        if (text && depth > 0) {
            text[used++] = ';';
        }
        free(owned[depth]);
    }
    return text;
}

/* Marks the paths of the earlier run that this one has, too. */
static void zt__find_gone_paths(zt__document *document) {
    zt_profiler *profiler = document->profiler;
    uint32_t i;
    for (i = 0; i < document->path_count; i++) {
        zt__baseline_path *path = zt__find_baseline_path(profiler, zt__path_at(profiler, i));
        if (path) {
            zt__store(&path->is_found, 1);
        }
    }
}

ZT__PRIVATE char *zt__next_gone_path(zt__document *document, uint32_t *index) {
    const zt__baseline *baseline = zt__baseline_of(document->profiler);
    if (baseline && *index == 0) {
        zt__find_gone_paths(document);
    }
    while (baseline && *index < baseline->path_count) {
        const zt__baseline_path *path = &baseline->paths[(*index)++];
        if (!zt__load(&path->is_found) && zt__is_positive(path->time.count)) {
            return zt__name_baseline_path(document, baseline, *index - 1);
        }
    }
    return NULL;
}

/* ---- names and texts that reports share ----------------------------------------------------------------- */

/* The names of all combinations of ZT_DIFFERS_ bits. */
ZT__PRIVATE const char *const zt__differences[] = {
    "no", "missing", "count", "missing+count", "time", "missing+time", "count+time", "missing+count+time"};

/* The figures of statistics, in the order of CSV and JSON. */
ZT__PRIVATE const char *const zt__figure_names[ZT__FIGURE_COUNT] = {"sum", "mean",   "stddev", "min",
                                                                    "max", "median", "p95"};

ZT__PRIVATE zt__figures zt__list_figures(const zt_stats *stats) {
    zt__figures figures = {
        {stats->sum, stats->mean, stats->stddev, stats->min, stats->max, stats->median, stats->p95}};
    return figures;
}

/* The bits of zes_freq_throttle_reason_flags_t. */
ZT__PRIVATE const char *const zt__throttle_reasons[ZT_THROTTLE_REASONS] = {
    "average power", "burst power", "current",        "temperature",
    "power supply",  "software",    "another domain", "voltage"};

ZT__PRIVATE int zt__is_count(const zt__fact *fact) {
    static const char *const counted[] = {"samples", "entries", "lists", "allocations"};
    uint32_t i;
    for (i = 0; i < ZT__COUNT_OF(counted); i++) {
        if (strcmp(fact->units, counted[i]) == 0) {
            return 1;
        }
    }
    return 0;
}

ZT__PRIVATE double zt__percent_factor(const zt__fact *fact) {
    return strcmp(fact->units, "share") == 0 ? 100 : 1;
}

ZT__PRIVATE const char *zt__shown_units(const zt__fact *fact) {
    return strcmp(fact->units, "share") == 0 ? "percent" : fact->units;
}

ZT__PRIVATE int zt__is_repeated(const zt_profiler *profiler, uint32_t metric) {
    const char *name = zt_get_metric(profiler, metric)->name;
    uint32_t i;
    for (i = metric < ZT_STREAMED(0) ? 0 : ZT_STREAMED(0); i < metric; i++) {
        if (strcmp(zt_get_metric(profiler, i)->name, name) == 0) {
            return 1;
        }
    }
    return 0;
}

ZT__PRIVATE zt__date zt__format_date(uint64_t seconds) {
    const time_t moment = (time_t)seconds; /* may have 32 bits */
    struct tm utc;
    zt__date date;
    date.text[0] = 0;
    if (moment > 0 && (uint64_t)moment == seconds && zt__convert_to_utc(moment, &utc)) {
        date.text[strftime(date.text, sizeof date.text, "%Y-%m-%dT%H:%M:%SZ", &utc)] = 0;
    }
    return date;
}

ZT__PRIVATE zt__date zt__format_now(void) {
    time_t now = time(NULL);
    return zt__format_date(now > 0 ? (uint64_t)now : 0);
}

#ifdef ZETOOLS_TRACER

/* The figures of a kernel that are one number, as CSV and JSON have them. UINT32_MAX: not known. */
ZT__PRIVATE const char *const zt__kernel_numbers[ZT__KERNEL_NUMBERS][2] = {
    {"simd_width", "items"},    {"registers", ""},        {"slm_bytes", "bytes"},
    {"private_bytes", "bytes"}, {"spill_bytes", "bytes"}, {"barriers", ""},
    {"arguments", ""},          {"code_bytes", "bytes"},  {"profile_flags", ""}};

ZT__PRIVATE zt__kernel_values zt__list_kernel_values(const zt_kernel_info *info) {
    zt__kernel_values list = {{info->simd_width, info->registers, info->slm_bytes, info->private_bytes,
                               info->spill_bytes, info->barriers, info->arguments, info->code_bytes,
                               info->profile_flags}};
    return list;
}

ZT__PRIVATE zt__module_text zt__format_module(const zt_kernel_info *info) {
    zt__module_text module = {""};
    if (info->module) {
        snprintf(module.text, sizeof module.text, "%016llx", (unsigned long long)info->module);
    }
    return module;
}

ZT__PRIVATE zt__sizes_text zt__format_sizes(const uint32_t sizes[3]) {
    zt__sizes_text sizes_text = {""};
    char *text = sizes_text.text;
    const size_t room = sizeof sizes_text.text;
    if (sizes[2] > 1) {
        snprintf(text, room, "%ux%ux%u", (unsigned)sizes[0], (unsigned)sizes[1], (unsigned)sizes[2]);
    } else if (sizes[1] > 1) {
        snprintf(text, room, "%ux%u", (unsigned)sizes[0], (unsigned)sizes[1]);
    } else if (sizes[0] > 0) {
        snprintf(text, room, "%u", (unsigned)sizes[0]);
    }
    return sizes_text;
}
#endif

/* ---- hot spots ------------------------------------------------------------------------------------------- */

#ifdef ZETOOLS_TRACER

/* Sorts by kernel, those with most samples first, and then by source line. */
static int zt__compare_hot_lines(const void *a, const void *b) {
    const zt__hot_row *one = (const zt__hot_row *)a, *other = (const zt__hot_row *)b;
    int order;
    if (one->kernel != other->kernel) {
        if (one->kernel_samples != other->kernel_samples) {
            return one->kernel_samples > other->kernel_samples ? -1 : 1;
        }
        order = strcmp(one->kernel->name, other->kernel->name);
        return order ? order : one->kernel < other->kernel ? -1 : 1;
    }
    order = strcmp(one->file, other->file);
    if (order || one->line != other->line) {
        return order ? order : one->line < other->line ? -1 : 1;
    }
    return one->offset < other->offset ? -1 : one->offset > other->offset;
}

ZT__PRIVATE int zt__compare_hot_rows(const void *a, const void *b) {
    const zt__hot_row *one = (const zt__hot_row *)a, *other = (const zt__hot_row *)b;
    if (one->samples != other->samples) {
        return one->samples > other->samples ? -1 : 1;
    }
    return zt__compare_hot_lines(a, b);
}

ZT__PRIVATE uint32_t zt__merge_hot_lines(zt__hot_row *rows, uint32_t count) {
    uint32_t i, j, merged = 0;
    for (i = 0; i < count; i++) {
        zt__hot_row *last = merged > 0 ? &rows[merged - 1] : NULL;
        if (last && *last->file && last->kernel == rows[i].kernel && last->line == rows[i].line &&
            strcmp(last->file, rows[i].file) == 0) {
            last->samples += rows[i].samples;
            for (j = 0; j < ZT__MOST_COUNTS; j++) {
                last->counts[j] += rows[i].counts[j];
            }
        } else {
            rows[merged++] = rows[i];
        }
    }
    return merged;
}

ZT__PRIVATE zt__hot_row *zt__read_hot_rows(zt__document *document, int merges, uint32_t *count,
                                           zt_hotspots_counts *counts) {
    zt__hotspots *hotspots = zt__hotspots_of(document->profiler);
    uint32_t i, room = 0;
    zt__hot_row *rows = NULL;
    *count = 0;
    memset(counts, 0, sizeof *counts);
    if (!hotspots) {
        return NULL;
    }
    zt__lock(&hotspots->mutex);
    while (room < hotspots->spot_count) { /* more may be added while the mutex is unlocked */
        room = hotspots->spot_count;
        zt__unlock(&hotspots->mutex);
        zt__free(&hotspots->allocator, rows);
        rows = (zt__hot_row *)zt__allocate(&hotspots->allocator, room, sizeof *rows);
        if (!rows) {
            document->out_of_memory = 1;
            return NULL;
        }
        zt__lock(&hotspots->mutex);
    }
    *counts = hotspots->counts;
    for (i = 0; i < room; i++) {
        const zt__spot *spot = hotspots->spots[i];
        rows[i].kernel = spot->key.kernel;
        rows[i].kernel_samples = spot->key.kernel->samples;
        rows[i].offset = spot->key.offset;
        rows[i].file = spot->file;
        rows[i].line = spot->line;
        rows[i].samples = spot->samples;
        memcpy(rows[i].counts, spot->counts, sizeof rows[i].counts);
    }
    zt__unlock(&hotspots->mutex);
    if (!rows) {
        return NULL;
    }
    qsort(rows, room, sizeof *rows, zt__compare_hot_lines);
    if (merges) {
        room = zt__merge_hot_lines(rows, room);
    }
    *count = room;
    return rows;
}

ZT__PRIVATE zt__hot_place zt__describe_hot_place(const zt__hot_row *row) {
    zt__hot_place place;
    if (*row->file) {
        snprintf(place.text, sizeof place.text, "%.280s:%u", zt__file_name(row->file), (unsigned)row->line);
    } else {
        snprintf(place.text, sizeof place.text, "+0x%llx", (unsigned long long)row->offset);
    }
    return place;
}

#endif
