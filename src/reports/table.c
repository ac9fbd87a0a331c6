/* The table of regions. */

#include "reports/table.h"

#include "base/compiler.h"
#include "base/figures.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/programs.h"
#include "base/text.h"
#include "base/writer.h"
#include "regions/columns.h"
#include "regions/names.h"
#include "regions/profiler.h"
#include "reports/facts.h"
#include "reports/notes.h"
#include "reports/region_facts.h"
#include "reports/tracer_tables.h"
#include "results/advice.h"
#include "results/attribution.h"
#include "results/metrics.h"
#include "results/ranking.h"
#include "results/results.h"
#include "results/roles.h"

/* The figures of a row: these, the facts of zt__region_facts, the metrics, and the derived columns of results/ranking. */
enum {
    ZT__ROW_SHARE,
    ZT__ROW_COUNT,
    ZT__ROW_WITH_INNER, /* share of the region and those inside it, which orders the rows */
    ZT__ROW_DIFFERS,
    ZT__ROW_THROTTLED_BY, /* the reason that held longest */
    ZT__ROW_CHANGE,       /* an index of texts */
    ZT__ROW_FACTS,
    ZT__ROW_METRICS = ZT__ROW_FACTS + (int)ZT__REGION_FACT_COUNT
};

static uint32_t zt__row_of(zt__region_figure fact) {
    return ZT__ROW_FACTS + (uint32_t)fact;
}

/* A change as text: "-12.3 +- 1.1". */
typedef struct zt__change_text {
    char text[32];
} zt__change_text;

/* A region whose mean GPU time says little, because a few samples take much longer than the others. */
typedef struct zt__skewed_region {
    const char *name;
    const zt__path *path; /* NULL: none */
    double mean, median, max, total;
    int has_groups;
    zt__time_groups groups;
} zt__skewed_region;

enum { ZT__SKEWED_SHOWN = 3 };

/* The table is read before it is written, because the figures decide about columns and units. */
typedef struct zt__region_table {
    zt__figure_table shown;
    double *figures; /* of each row */
    uint32_t figure_count;
    zt__change_text *changes;
    const char **change_texts; /* the same */
    uint32_t left_out;         /* metrics with something to show, for which there was no room */
    int shows_throttled;       /* the clock was throttled in a phase */
    int shows_wait;            /* the host waited for the device in a phase */
    zt__skewed_region skewed[ZT__SKEWED_SHOWN]; /* those with most GPU time, in descending order */
    int shows_launch; /* even if config.columns does not name it: launches take as long as half of a region */
} zt__region_table;

/* Where a path is in the table. The links are indices of paths, UINT32_MAX at the end. */
typedef struct zt__row_place {
    uint32_t row;   /* UINT32_MAX: it has none */
    uint32_t outer; /* the nearest path around it that has a row */
    uint32_t next;  /* the next path inside `outer` */
    uint32_t first; /* the first path inside this one */
} zt__row_place;

/* Sorts by the share of a region and those inside it, the largest first. */
static int zt__compare_rows(const void *a, const void *b) {
    const zt__figure_row *one = (const zt__figure_row *)a, *other = (const zt__figure_row *)b;
    double share = one->figures[ZT__ROW_WITH_INNER], other_share = other->figures[ZT__ROW_WITH_INNER];
    if (share > other_share || share < other_share) {
        return share > other_share ? -1 : 1;
    }
    return (int)one->index - (int)other->index;
}

/* Orders the rows: the largest share of a region and those inside it first, and regions inside a region below
   it, indented. Returns 0 without memory. */
static int zt__order_rows(const zt__document *document, zt__region_table *table) {
    enum { INDENT = 2, DEEPEST = 8 };
    const zt_allocator *allocator = &document->profiler->config.allocator;
    const zt__nesting *paths = document->paths;
    size_t most = (size_t)document->path_count + document->region_count + 1;
    zt__row_place *places = (zt__row_place *)zt__allocate(allocator, most, sizeof *places);
    zt__figure_row *ordered = (zt__figure_row *)zt__allocate(allocator, most, sizeof *ordered);
    zt__figure_row *rows = table->shown.rows;
    uint32_t i, at, depth = 0, count = 0, row_count = table->shown.row_count;
    int has_memory = places && ordered && rows;
    if (has_memory) {
        memset(places, 0xFF, most * sizeof *places);
        for (i = 0; i < row_count; i++) {
            places[rows[i].index].row = i;
        }
        for (i = 0; i < row_count; i++) {
            uint32_t index = rows[i].index;
            int has_share = index < document->path_count && !paths[index].is_phase;
            double share = has_share && zt__is_positive(paths[index].share) ? paths[index].share : 0;
            for (at = index; at != UINT32_MAX;
                 at = at < document->path_count ? paths[at].parent : UINT32_MAX) {
                uint32_t row = places[at].row;
                if (row != UINT32_MAX) {
                    table->figures[(size_t)row * table->figure_count + ZT__ROW_WITH_INNER] += share;
                    if (at != index && places[index].outer == UINT32_MAX) {
                        places[index].outer = at;
                    }
                }
            }
        }
        qsort(rows, row_count, sizeof *rows, zt__compare_rows);
        at = UINT32_MAX;
        for (i = row_count; i-- > 0;) {
            zt__row_place *place = &places[rows[i].index];
            uint32_t *first = place->outer == UINT32_MAX ? &at : &places[place->outer].first;
            place->row = i;
            place->next = *first;
            *first = rows[i].index;
        }
        while (at != UINT32_MAX) {
            ordered[count] = rows[places[at].row];
            ordered[count++].indent = INDENT * (depth < DEEPEST ? depth : (size_t)DEEPEST);
            if (places[at].first != UINT32_MAX) {
                at = places[at].first;
                depth++;
                continue;
            }
            while (places[at].next == UINT32_MAX && places[at].outer != UINT32_MAX) {
                at = places[at].outer;
                depth--;
            }
            at = places[at].next;
        }
        memcpy(rows, ordered, count * sizeof *rows);
    }
    zt__free(allocator, ordered);
    zt__free(allocator, places);
    return has_memory;
}

/* Returns whether a name in config.columns is that of a time or count, which have columns of their own, or of
   a metric that attached streams have alone, for the trace. */
static int zt__is_other_column(const zt_profiler *profiler, const char *name) {
    uint32_t i, streamed = zt__get_streamed_count(profiler);
    if (strcmp(name, "count") == 0 || strcmp(name, "share") == 0) {
        return 1;
    }
    for (i = 0; i < ZT__REGION_FACT_COUNT; i++) {
        if (strcmp(zt__region_facts[i].column, name) == 0) {
            return 1;
        }
    }
    for (i = 0; i < profiler->metric_count; i++) {
        if (strcmp(profiler->metrics[i].name, name) == 0) {
            return 0;
        }
    }
    for (i = 0; i < streamed; i++) {
        if (strcmp(zt_get_metric(profiler, ZT_STREAMED(i))->name, name) == 0) {
            return 1;
        }
    }
    return 0;
}

/* Formats how a region differs from the earlier run. Half of the interval is the larger one where it is
   cut off at -100%. */
static void zt__format_change(const zt_region_info *region, zt__change_text *change) {
    change->text[0] = 0;
    if (region->is_new) {
        zt__append(change->text, sizeof change->text, "new");
    } else if (!zt__is_nan(region->change_high)) {
        zt__append(change->text, sizeof change->text, "%+.1f +- %.1f", region->change,
                   region->change_high - region->change);
    } else if (!zt__is_nan(region->change)) {
        zt__append(change->text, sizeof change->text, "%+.1f", region->change);
    }
}

/* Keeps the region that was read last, shown by this name, if its mean is more than twice its median. */
static void zt__note_if_skewed(const zt__document *document, zt__region_table *table, const char *name) {
    const zt_stats *time = &document->stats[0];
    zt__skewed_region region;
    uint32_t place = ZT__SKEWED_SHOWN;
    if (document->region.is_phase || !zt__is_positive(time->mean - 2 * time->median)) {
        return;
    }
    region.name = name;
    region.path = document->subject.path;
    region.mean = time->mean;
    region.median = time->median;
    region.max = time->max;
    region.total = time->sum;
    region.has_groups = zt__find_groups_of_times(&document->histogram, &region.groups);
    while (place > 0 && region.total > table->skewed[place - 1].total) {
        place--;
        if (place + 1 < ZT__SKEWED_SHOWN) {
            table->skewed[place + 1] = table->skewed[place];
        }
    }
    if (place < ZT__SKEWED_SHOWN) {
        table->skewed[place] = region;
    }
}

/* What sentences call a row. */
typedef struct zt__row_text {
    char text[512];
} zt__row_text;

/* Returns the name of a row and, if its region has several, that of the path around it. */
static zt__row_text zt__name_row(zt__document *document, const zt__path *path, const char *name) {
    const int has_several = path && document->regions[path->key.region->index].paths > 1;
    char *around = has_several && path->depth > 1 ? zt__name_path(document, path->key.outer) : NULL;
    zt__row_text named;
    snprintf(named.text, sizeof named.text, "%.255s%s%.255s", around ? around + (*around == ';') : "",
             around ? ";" : "", name); /* a path inside no other begins with ';' */
    zt__free(&document->profiler->config.allocator, around);
    return named;
}

/* Says of means over twice the median what they are made of. */
static void zt__write_skewed_regions(zt__document *document, const zt__region_table *table) {
    uint32_t i;
    for (i = 0; i < ZT__SKEWED_SHOWN && table->skewed[i].name; i++) {
        const zt__skewed_region *region = &table->skewed[i];
        char text[sizeof(zt__row_text) + 256] = "";
        zt__append(text, sizeof text, "The mean of '%s' is %.1f times its median: ",
                   zt__name_row(document, region->path, region->name).text, region->mean / region->median);
        if (region->has_groups) {
            const zt__time_groups *groups = &region->groups;
            zt__append(text, sizeof text, "two groups of executions, %u of about ",
                       (unsigned)groups->counts[0]);
            zt__append_time(text, sizeof text, groups->means[0]);
            zt__append(text, sizeof text, " and %u of about ", (unsigned)groups->counts[1]);
            zt__append_time(text, sizeof text, groups->means[1]);
        } else {
            zt__append(text, sizeof text, "a few executions take much longer, up to ");
            zt__append_time(text, sizeof text, region->max);
        }
        zt__append(text, sizeof text,
                   document->profiler->timeline ? ". The trace shows when."
                                                : ". A timeline (ZT_TIMELINE=1000) shows when.");
        zt__write_table_note(document, text);
    }
}

/* Returns whether a table has the column of a fact that config.columns does not name. */
static int zt__is_default_column(const zt__document *document, const zt__region_table *table,
                                 zt__region_figure figure) {
    switch (figure) {
    case ZT__FACT_OWN: /* else it is the total */
        return document->is_nested;
    case ZT__FACT_LAUNCH:
        return table->shows_launch;
    case ZT__FACT_HOST_WAIT:
        return table->shows_wait;
    case ZT__FACT_THROTTLED:
        return table->shows_throttled;
    case ZT__FACT_BANDWIDTH:
    case ZT__FACT_COMPUTE:
        return !document->profiler->columns;
    default:
        return zt__region_facts[figure].is_default;
    }
}

/* Adds the column of a fact, if it has one: always where config.columns names it, else as far as its rank leaves room. */
static void zt__add_column_of_fact(const zt__document *document, zt__region_table *table,
                                   zt__region_figure figure) {
    const zt__region_fact *listed = &zt__region_facts[figure];
    const char *list = document->profiler->columns, *text;
    int is_requested = 0, rank;
    size_t length;
    while (list && zt__next_name(&list, &text, &length)) {
        is_requested |= zt__equals(listed->column, text, length);
    }
    if (!*listed->column || !(is_requested || zt__is_default_column(document, table, figure))) {
        return;
    }
    rank = is_requested ? 0 : listed->rank;
    zt__add_figures(&table->shown, zt__row_of(figure), listed->column,
                    listed->set == ZT__FACTS_OF_PEAKS ? "% of peak" : zt__shown_units(&listed->fact), 1,
                    rank);
    if (figure == ZT__FACT_THROTTLED && table->shows_throttled) {
        zt__add_texts(&table->shown, ZT__ROW_THROTTLED_BY, "throttled by", zt__throttle_reasons);
        table->shown.columns[table->shown.column_count - 1].rank = rank;
    }
}

/* Reads the regions into rows, and adds columns: of times, and then of metrics, those that config.columns names,
   each once, or those that matter most. A name that is too long for a heading is replaced by that of the metric's
   role. */
static void zt__fill_region_table(zt__document *document, zt__region_table *table) {
    zt_profiler *profiler = document->profiler;
    const char *list, *text;
    zt__region_values values;
    zt__figure_table *shown = &table->shown;
    const zt_stats *time = &document->stats[0];
    const zt_stats *latencies = &document->stats[zt__latency_column(profiler, 0)];
    const zt__nesting *nesting;
    char name[ZET_MAX_METRIC_NAME];
    size_t length;
    uint32_t i, metric, role;
    for (nesting = zt__next_by_path(document, NULL); nesting && !document->out_of_memory;
         nesting = zt__next_by_path(document, nesting)) {
        double *figures = table->figures + (size_t)shown->row_count * table->figure_count;
        zt__figure_row *row = &shown->rows[shown->row_count];
        double longest = 0;
        if (!zt__read_region(document, nesting)) {
            continue;
        }
        row->name = zt__show_name(document->region.name, &row->demangled);
        row->figures = figures;
        zt__note_if_skewed(document, table, row->name);
        figures[ZT__ROW_CHANGE] = shown->row_count;
        zt__format_change(&document->region, &table->changes[shown->row_count]);
        table->change_texts[shown->row_count] = table->changes[shown->row_count].text;
        /* Regions that were begun on no path yet come after the paths. */
        row->index = nesting->path != UINT32_MAX ? nesting->path : document->path_count + nesting->region;
        figures[ZT__ROW_SHARE] = document->region.count ? 100 * nesting->share : zt__nan();
        figures[ZT__ROW_COUNT] = (double)(nesting->is_phase ? document->region.entered : time->count);
        figures[ZT__ROW_DIFFERS] = (double)document->region.differs;
        figures[ZT__ROW_THROTTLED_BY] = zt__nan();
        for (i = 0; i < ZT_THROTTLE_REASONS; i++) {
            if (zt__is_positive(document->region.throttled_by[i] - longest)) {
                longest = document->region.throttled_by[i];
                figures[ZT__ROW_THROTTLED_BY] = i;
            }
        }
        values = zt__list_region_values(document);
        for (i = 0; i < ZT__REGION_FACT_COUNT; i++) {
            figures[ZT__ROW_FACTS + i] = values.values[i] * zt__percent_factor(&zt__region_facts[i].fact);
        }
        if (nesting->is_phase && !document->region.entered) { /* it is open, or the part of a device */
            figures[ZT__ROW_COUNT] = zt__nan();
        }
        if (!document->region.count) {
            figures[zt__row_of(ZT__FACT_TOTAL)] = zt__nan();
        }
        if (!time->count) {
            figures[zt__row_of(ZT__FACT_OWN)] = zt__nan();
        }
        table->shows_wait |= zt__is_positive(document->region.host_wait_ns);
        table->shows_throttled |= zt__is_positive(document->region.throttled);
        /* The shortest, because others may have waited for work before them. */
        table->shows_launch |= !zt__is_nan(latencies[ZT__LAUNCH_LATENCY].min) && !zt__is_nan(time->mean) &&
                               latencies[ZT__LAUNCH_LATENCY].min >= 0.5 * time->mean;
        for (metric = 0; metric < profiler->metric_count; metric++) { /* of a flag, how often it was set */
            const zt_stats *stats = &document->stats[1 + metric];
            figures[ZT__ROW_METRICS + metric] =
                profiler->metrics[metric].aggregation == ZT_AGGREGATE_FLAG ? stats->sum : stats->mean;
        }
        shown->row_count++;
    }
    if (document->out_of_memory) {
        return;
    }
    zt__choose_time_unit(shown, zt__row_of(ZT__FACT_MEAN), zt__row_of(ZT__FACT_TOTAL));
    zt__add_figures(shown, ZT__ROW_SHARE, "share", "percent", 0, 0);
    zt__add_figures(shown, ZT__ROW_COUNT, "count", "", 0, 0);
    if (document->differs) {
        zt__add_texts(shown, ZT__ROW_DIFFERS, "passes differ", zt__differences);
    }
    for (i = 0; i < ZT__REGION_FACT_COUNT; i++) {
        zt__add_column_of_fact(document, table, (zt__region_figure)i);
    }
    if (zt__baseline_of(profiler)) {
        zt__add_texts(shown, ZT__ROW_CHANGE, "change %", table->change_texts);
    }
    list = profiler->columns;
    if (!list) {
        document->out_of_memory |= !zt__add_ranked_columns(profiler, &document->advice, shown, table->figures,
                                                           table->figure_count, ZT__ROW_METRICS, 0);
    }
    while (list && zt__next_name(&list, &text, &length)) {
        int adds_up;
        const char *units;
        metric = UINT32_MAX;
        zt__copy_text(name, sizeof name, text, length);
        if (!zt__is_other_column(profiler, name)) {
            metric = zt__find_metric(&profiler->diagnostics, "zt_report", profiler->metrics,
                                     zt__name_of_metric, profiler->metric_count, name, NULL);
        }
        for (i = 0; i < shown->column_count && metric != UINT32_MAX; i++) {
            if (shown->columns[i].figure == ZT__ROW_METRICS + metric) {
                metric = UINT32_MAX;
            }
        }
        if (metric == UINT32_MAX) {
            continue; /* the footer names unknown ones */
        }
        adds_up = profiler->metrics[metric].aggregation == ZT_AGGREGATE_SUM;
        units = profiler->metrics[metric].aggregation == ZT_AGGREGATE_FLAG ? "samples"
                                                                           : profiler->metrics[metric].units;
        if (zt__add_figures(shown, ZT__ROW_METRICS + metric, name, units, adds_up, 0)) {
            continue;
        }
        for (role = ZT__NO_ROLE + 1; role < ZT__ROLE_COUNT; role++) {
            if (document->advice.metrics[role] == metric) {
                shown->column_count--;
                zt__add_figures(shown, ZT__ROW_METRICS + metric, zt__roles[role].name, units, adds_up, 0);
                break;
            }
        }
    }
}

static uint32_t zt__count_metric_columns(const zt__figure_table *table) {
    uint32_t i, count = 0;
    for (i = 0; i < table->column_count; i++) {
        count += table->columns[i].figure >= ZT__ROW_METRICS;
    }
    return count;
}

/* Writes the sentences below the table: what its columns mean, how samples cover the time of the device, and what
   is not shown, why, and what to do. */
static void zt__write_footer(zt__document *document, const zt__region_table *table) {
    zt_profiler *profiler = document->profiler;
    zt_availability availability = zt__get_availability(profiler);
    const char *list = profiler->columns, *text;
    char name[ZET_MAX_METRIC_NAME], note[ZET_MAX_METRIC_NAME + sizeof(zt__nearest) + 64];
    const zt_overlap *overlap = &document->coverage.overlap;
    double percent_ns;
    int shows_queue = 0, shows_launch = 0, shows_overlap;
    zt__nearest nearest;
    size_t length;
    uint32_t i;
    if (availability != ZT_AVAILABLE && availability != ZT_TIMES_BY_CHOICE) {
        list = NULL; /* the note about why there are no metrics is enough */
    }
    while (list && zt__next_name(&list, &text, &length)) {
        zt__copy_text(name, sizeof name, text, length);
        if (!zt__is_other_column(profiler, name) &&
            zt__find_metric(&profiler->diagnostics, "zt_report", profiler->metrics, zt__name_of_metric,
                            profiler->metric_count, name, &nearest) == UINT32_MAX) {
            snprintf(note, sizeof note, "There is no metric '%s'. Nearest: %s.", name, nearest.text);
            zt__write_table_note(document, note);
        }
    }
    if (document->is_nested) {
        zt__write_table_note(document, "Own times do not include regions inside, which are indented. Shares "
                                       "are of own times.");
    }
    if (document->has_phases) {
        zt__write_table_note(
            document, "Rows with a host time are phases: \"count\" is how often they were entered, "
                      "\"total\" the GPU time of what was submitted in them; mean, median and p95 are of "
                      "one entry.");
    }
    if (profiler->metric_count > 0 && table->shown.row_count > 0) {
        snprintf(note, sizeof note,
                 "Metrics are means per sample. There is no room for %u more: choose with ZT_COLUMNS, or "
                 "write CSV or JSON, which have all.",
                 (unsigned)table->left_out);
        zt__write_table_note(document, table->left_out ? note : "Metrics are means per sample.");
    }
    zt__write_skewed_regions(document, table);
    for (i = 0; i < table->shown.column_count; i++) {
        shows_queue |= table->shown.columns[i].figure == zt__row_of(ZT__FACT_QUEUE);
        shows_launch |= table->shown.columns[i].figure == zt__row_of(ZT__FACT_LAUNCH);
    }
    if ((shows_queue || shows_launch) && profiler->device && !profiler->config.timeline) {
        zt__write_table_note(document,
                             "Latencies are not measured without a timeline: set ZT_TIMELINE=1000.");
        shows_queue = shows_launch = 0;
    }
    if (shows_queue) {
        zt__write_table_note(document,
                             "\"queued\" is the median time from the append to the execution of the list.");
    }
    if (shows_launch) {
        zt__write_table_note(document, "\"launch\" is the median time from the submission by the host to the "
                                       "begin on the device.");
    }

    /* how samples cover the time of the device, if a timeline is kept */
    percent_ns = overlap->span_ns / 100;
    shows_overlap = overlap->samples >= 2 && percent_ns > 0;
    note[0] = 0;
    if (shows_overlap && overlap->missing) {
        zt__append(note, sizeof note,
                   "The idle time of the device is not known: %llu sample%s missing in the ",
                   (unsigned long long)overlap->missing, overlap->missing == 1 ? " is" : "s are");
        zt__append_time(note, sizeof note, overlap->span_ns);
        zt__append(note, sizeof note, " from the first begin to the last end.");
    } else if (shows_overlap) {
        zt__append(note, sizeof note, "Of the ");
        zt__append_time(note, sizeof note, overlap->span_ns);
        zt__append(note, sizeof note, " from the first begin to the last end, ");
        if (overlap->kernel_ns > 0 || overlap->copy_ns > 0) {
            zt__append(note, sizeof note, "kernels take %.1f%%, ", overlap->kernel_ns / percent_ns);
        } else {
            zt__append(note, sizeof note, "regions take %.1f%%, ", overlap->busy_ns / percent_ns);
        }
        if (overlap->copy_ns > 0) {
            zt__append(note, sizeof note, "copies %.1f%%, both at once %.1f%%, ",
                       overlap->copy_ns / percent_ns, overlap->both_ns / percent_ns);
        }
        zt__append(note, sizeof note, "and in %.1f%% nothing that is measured runs.",
                   overlap->idle_ns / percent_ns);
    }
    if (shows_overlap) {
        zt__write_table_note(document, note);
    }
    zt__list_notes(document, zt__write_table_note);
}

/* Returns what a row is of. Regions that were begun on no path when the report was begun come after the paths. */
static zt__subject zt__subject_of_row(const zt__document *document, const zt__figure_row *row) {
    uint32_t index =
        row->index < document->path_count ? ZT_PATH(row->index) : row->index - document->path_count;
    return zt__subject_at(document->profiler, index);
}

ZT__PRIVATE void zt__write_region_table(zt__document *document) {
    enum { LIMITS_SHOWN = 3 };
    zt_profiler *profiler = document->profiler;
    const zt_allocator *allocator = &profiler->config.allocator;
    size_t rows = (size_t)document->path_count + document->region_count + 1;
    zt__region_table table;
    zt__figure_table *shown = &table.shown;
    const zt__figure_row *largest[LIMITS_SHOWN] = {NULL};
    zt_limit_info limits[LIMITS_SHOWN];
    zt__paragraph paragraph;
    const char *group = NULL;
    double hidden_share = 0; /* of rows that are left out */
    uint32_t i, place, row_count, count = 0, known = 0;
    int is_same = 1;
    memset(&table, 0, sizeof table);
    table.figure_count = ZT__ROW_METRICS + profiler->metric_count + ZT__DERIVED_COLUMNS;
    table.figures = (double *)zt__allocate(allocator, rows, table.figure_count * sizeof *table.figures);
    shown->heading = "region";
    shown->rows = (zt__figure_row *)zt__allocate(allocator, rows, sizeof *shown->rows);
    shown->columns = (zt__figure_column *)zt__allocate(allocator, table.figure_count, sizeof *shown->columns);
    table.changes = (zt__change_text *)zt__allocate(allocator, rows, sizeof *table.changes);
    table.change_texts = (const char **)zt__allocate(allocator, rows, sizeof *table.change_texts);
    document->out_of_memory |=
        !table.figures || !shown->rows || !shown->columns || !table.changes || !table.change_texts;
    zt__prepare_advice(profiler, &document->advice);
    zt__fill_region_table(document, &table); /* without memory, what follows has no columns */
    document->out_of_memory |= !zt__order_rows(document, &table);
    row_count = shown->row_count;
    table.left_out = zt__count_metric_columns(shown);
    for (i = document->most_rows; i < row_count; i++) { /* shares of phases are those of regions inside */
        double share = shown->rows[i].figures[ZT__ROW_SHARE];
        if (!zt__is_nan(share) && !zt__subject_of_row(document, &shown->rows[i]).region->is_phase) {
            hidden_share += share;
        }
    }
    shown->row_count = row_count < document->most_rows ? row_count : document->most_rows;
    zt__fit_columns(shown, document->room);
    table.left_out -= zt__count_metric_columns(shown);

    paragraph = zt__begin_paragraph(&document->writer, document->room, 0, 0);
    zt__add_text(&paragraph, "GPU time of regions on ");
    zt__add_text(&paragraph, profiler->device_name);
    zt__add_text(&paragraph, profiler->metric_count ? ", with metrics of " : ", times only");
    for (i = 0; i < profiler->metric_count; i++) {
        if (!group || strcmp(group, profiler->metrics[i].group) != 0) {
            zt__add_text(&paragraph, group ? ", " : "");
            group = profiler->metrics[i].group;
            zt__add_text(&paragraph, group);
        }
    }
    zt__end_paragraph(&paragraph);
    zt__write_text(&document->writer, "\n");
    if (shown->row_count > 0) {
        zt__write_figures(&document->writer, shown, document->room);
    }
    zt__write_left_out(document, row_count - shown->row_count, hidden_share, "the GPU time");
    zt__write_footer(document, &table);
    shown->row_count = row_count;

    /* what limits the regions with the largest shares, a paragraph each */
    for (i = 0; i < shown->row_count; i++) {
        const zt__figure_row *row = &shown->rows[i];
        double share = row->figures[ZT__ROW_SHARE];
        if (!(row->figures[ZT__ROW_COUNT] > 0) || zt__subject_of_row(document, row).region->is_phase) {
            continue;
        }
        for (place = count; place > 0 && share > largest[place - 1]->figures[ZT__ROW_SHARE]; place--) {
            if (place < LIMITS_SHOWN) {
                largest[place] = largest[place - 1];
            }
        }
        if (place < LIMITS_SHOWN) {
            largest[place] = row;
            count += count < LIMITS_SHOWN;
        }
    }
    for (i = 0; i < count; i++) {
        zt__find_limit(profiler, &document->advice, zt__subject_of_row(document, largest[i]), &limits[i]);
        known += limits[i].limit != ZT_LIMIT_UNKNOWN;
        /* A text with figures is of one region. */
        is_same &= strcmp(limits[i].text, limits[0].text) == 0 && !strchr(limits[0].text, '%');
    }
    if (known > 0 || (count > 0 && profiler->metric_count > 0)) {
        zt__write_text(&document->writer, "\n");
        paragraph = zt__begin_paragraph(&document->writer, document->room, 0, 2);
        zt__add_text(&paragraph, "What limits the regions with the largest shares:");
        if (is_same && known == 0) {
            zt__add_text(&paragraph, " ");
            zt__add_text(&paragraph, limits[0].text);
        }
        zt__end_paragraph(&paragraph);
    }
    for (i = 0; i < count && (known > 0 || (profiler->metric_count > 0 && !is_same)); i++) {
        const zt__path *path = zt__subject_of_row(document, largest[i]).path;
        const zt__row_text name = zt__name_row(document, path, largest[i]->name);
        zt__write_paragraph_about(document, name.text, limits[i].text);
    }
#ifdef ZETOOLS_TRACER
    zt__write_table_of_kernels(document);
    zt__write_table_of_calls(document);
    zt__write_table_of_hotspots(document);
#endif
    for (i = 0; i < shown->row_count; i++) {
        free(shown->rows[i].demangled);
    }
    zt__free(allocator, shown->columns);
    zt__free(allocator, shown->rows);
    zt__free(allocator, table.figures);
    zt__free(allocator, table.changes);
    zt__free(allocator, (void *)table.change_texts);
}
