/* zt_compare: two benchmarks in turn. zt_compare_benches: results against an earlier file. */

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/figures.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/paths.h"
#include "base/platform.h"
#include "base/system.h"
#include "base/tables.h"
#include "base/text.h"
#include "base/writer.h"
#include "bench/bench.h"
#include "bench/files.h"
#include "bench/tables.h"
#include "regions/profiler.h"
#include "reports/writing.h"

/* ---- comparing ------------------------------------------------------------------------------------------- */

static void zt__describe_comparison(zt_comparison *result) {
    double other_mhz = fabs(result->b.frequency_mhz / result->a.frequency_mhz - 1);
    const char *verdict = "no difference shown";
    if (result->differs) {
        verdict = result->ratio > 1 ? "slower" : "faster";
    }
    if (!zt__is_nan(result->ratio)) {
        snprintf(result->text, sizeof result->text,
                 "%s takes %.4f times as long as %s (95%%: %.4f to %.4f): %s.", result->b.name, result->ratio,
                 result->a.name, result->low, result->high, verdict);
        if (!zt__is_nan(other_mhz) && other_mhz > ZT__MAX_FREQUENCY_CHANGE) {
            zt__append(result->text, sizeof result->text, " The clocks differ: %.0f MHz and %.0f MHz.",
                       result->b.frequency_mhz, result->a.frequency_mhz);
        }
    }
}

/* Called after a burst of pairs. A pair is set aside with either of its samples. */
static void zt__evaluate_pairs(zt__bench *one, zt__bench *other, zt__series *ratios) {
    uint32_t i;
    one->series->burst_count = other->series->burst_count = ++ratios->burst_count;
    zt__find_changed_samples(one->series, one->config.max_change);
    zt__find_changed_samples(other->series, other->config.max_change);
    for (i = 0; i < ratios->count; i++) {
        ratios->is_changed[i] = one->series->is_changed[i] || other->series->is_changed[i];
    }
    zt__set_changed_aside(ratios);
    zt__evaluate_series(one->series);
    zt__evaluate_series(other->series);
    zt__evaluate_series(ratios);
}

ZT_API ze_result_t zt_compare(zt_profiler *profiler, const zt_bench_config *a, const zt_bench_config *b,
                              zt_comparison *result) {
    const zt_allocator *allocator = zt__allocator_of(profiler);
    zt__bench one, other;
    zt__series *ratios;
    zt__stop_rule rule;
    ze_result_t done;
    int has_samples;
    if (!result) {
        return zt__report_null(zt__diagnostics_of(profiler), "zt_compare", "result");
    }
    zt__clear_bench_result(&result->a, a, "a");
    zt__clear_bench_result(&result->b, b, "b");
    result->ratio = result->low = result->high = zt__nan();
    result->differs = 0;
    result->text[0] = 0;
    if (zt__has_nothing_to_run(profiler, a) || zt__has_nothing_to_run(profiler, b)) {
        return ZE_RESULT_SUCCESS;
    }
    done = zt__open_bench(&one, "zt_compare", profiler, a);
    if (done != ZE_RESULT_SUCCESS) {
        return done;
    }
    done = zt__open_bench(&other, "zt_compare", profiler, b);
    if (done != ZE_RESULT_SUCCESS) {
        zt__close_bench(&one);
        return done;
    }
    ratios = (zt__series *)zt__allocate(allocator, 1, sizeof *ratios);
    if (!ratios) {
        zt__close_bench(&other);
        zt__close_bench(&one);
        return zt__report_no_memory(zt__diagnostics_of(profiler), "zt_compare", "samples");
    }
    ratios->is_of_pairs = 1;

    /* Samples are taken of both in turn, until their ratios meet the stopping rule of `a`. The order
       alternates, so that drift favours neither. */
    zt__warm_up(&one, one.config.max_time_ns);
    zt__warm_up(&other, one.config.max_time_ns);
    rule = zt__begin_stop_rule(&one.config);
    do {
        int b_first = ratios->count & 1;
        has_samples =
            zt__measure_sample(b_first ? &other : &one) && zt__measure_sample(b_first ? &one : &other);
        if (has_samples) {
            double ratio =
                other.series->samples[other.series->count - 1] / one.series->samples[one.series->count - 1];
            zt__add_to_series(ratios, zt__is_finite(ratio) ? ratio : 1, zt__nan(), 0);
        }
        if (has_samples && zt__is_burst_over(&rule, ratios)) {
            zt__evaluate_pairs(&one, &other, ratios);
            result->a.end = result->b.end = zt__apply_stop_rule(&rule, ratios);
            if (result->a.end == ZT_BENCH_NOT_RUN) {
                zt__await_next_burst(&rule, ratios);
            }
        }
    } while (has_samples && result->a.end == ZT_BENCH_NOT_RUN);

    if (has_samples) {
        zt__describe_series(&result->a, one.series, &one.config);
        zt__describe_series(&result->b, other.series, &other.config);
        result->ratio = result->low = result->high = zt__nan();
        if (zt__is_positive(result->a.median)) {
            result->ratio = ratios->median;
            result->low = ratios->low;
            result->high = ratios->high;
        }
        result->differs = result->low > 1 || result->high < 1;
        zt__describe_comparison(result);
    }
    zt__free(allocator, ratios);
    zt__close_bench(&other);
    zt__close_bench(&one);
    return has_samples ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}

/* ---- comparing with an earlier run ------------------------------------------------------------------------ */

typedef enum zt__verdict { ZT__SAME, ZT__FASTER, ZT__SLOWER, ZT__MISSING, ZT__ADDED } zt__verdict;

/* The figures of a row. */
enum {
    ZT__CHANGE_BEFORE,
    ZT__CHANGE_NOW,
    ZT__CHANGE_SHARE,
    ZT__CHANGE_LOW,
    ZT__CHANGE_HIGH,
    ZT__CHANGE_VERDICT,
    ZT__CHANGE_SHORTER, /* of the two times */
    ZT__CHANGE_LONGER,
    ZT__CHANGE_FIGURES
};

/* Benchmarks, and how they changed since an earlier run. */
typedef struct zt__changes {
    zt__bench_file file;
    const zt_bench_result *results;
    uint32_t result_count;
    zt__figure_row *rows;
    double *figures; /* of all rows */
    uint32_t row_count;
    zt_bench_changes counts;
    double least_tolerance, greatest_tolerance; /* 0: nothing is compared */
    char conditions[1024];                      /* sentences about what differs from the file */
    uint32_t at_other_frequency;                /* benchmarks that ran at another frequency */
    char first_frequency[160];                  /* a sentence about the first of them */
} zt__changes;

/* Adds a sentence about a condition that differs from the file, if both are known. */
static void zt__add_condition(zt__changes *changes, const char *what, const char *unit, const char *before,
                              const char *now) {
    if (*before && *now && strcmp(before, now) != 0) {
        zt__append(changes->conditions, sizeof changes->conditions,
                   "The %.80s was %.120s%s, and is %.120s%s. ", what, before, unit, now, unit);
        changes->counts.other_conditions = 1;
    }
}

/* Adds a row, and counts it. One of the two may be NULL, or not measured: then its median is not positive.

   Both the median and the first decile have to change. Other load may last longer than a benchmark, which then
   cannot know of it; but it makes samples longer, and hardly ever all of them, so that the first decile stays.

   The interval of the change is from the shortest time now against the longest before to the longest now against the
   shortest before, because what lasts longer than a run may be at its best in one, and at its worst in the other. If
   an earlier interval reaches 0, there is none, and no change is shown. */
static void zt__add_change(zt__changes *changes, const zt__earlier_bench *before,
                           const zt_bench_result *now) {
    uint32_t *const counters[] = {&changes->counts.same, &changes->counts.faster, &changes->counts.slower,
                                  &changes->counts.missing, &changes->counts.added};
    zt__figure_row *row = &changes->rows[changes->row_count];
    double *figures = changes->figures + (size_t)changes->row_count * ZT__CHANGE_FIGURES;
    int was_measured = before && zt__is_positive(before->median);
    int is_measured = now && zt__is_positive(now->median);
    zt__verdict verdict = was_measured ? ZT__MISSING : ZT__ADDED;
    double one, other;
    uint32_t i;
    if (!was_measured && !is_measured) {
        return;
    }
    for (i = 0; i < ZT__CHANGE_FIGURES; i++) {
        figures[i] = zt__nan();
    }
    row->name = now ? now->name : before->name;
    row->figures = figures;
    figures[ZT__CHANGE_BEFORE] = was_measured ? before->median : zt__nan();
    figures[ZT__CHANGE_NOW] = is_measured ? now->median : zt__nan();
    one = was_measured ? before->median : now->median;
    other = is_measured ? now->median : before->median;
    figures[ZT__CHANGE_SHORTER] = one < other ? one : other;
    figures[ZT__CHANGE_LONGER] = one < other ? other : one;
    if (was_measured && is_measured) {
        double ratio = now->median / before->median, tolerance = now->tolerance;
        double of_decile = now->decile1 / before->decile1; /* NaN: a file need not have it */
        double other_mhz = fabs(now->frequency_mhz / before->mhz - 1);
        verdict = ZT__SAME;
        figures[ZT__CHANGE_SHARE] = (ratio - 1) * 100;
        if (zt__is_positive(before->low)) {
            double low = now->low / before->high, high = now->high / before->low;
            figures[ZT__CHANGE_LOW] = (low - 1) * 100;
            figures[ZT__CHANGE_HIGH] = (high - 1) * 100;
            if (low > 1 + tolerance && !(of_decile <= 1 + tolerance)) {
                verdict = ZT__SLOWER;
            } else if (high < 1 - tolerance && !(of_decile >= 1 - tolerance)) {
                verdict = ZT__FASTER;
            }
        }
        if (changes->least_tolerance <= 0 || tolerance < changes->least_tolerance) {
            changes->least_tolerance = tolerance;
        }
        if (tolerance > changes->greatest_tolerance) {
            changes->greatest_tolerance = tolerance;
        }
        if (!zt__is_nan(other_mhz) && other_mhz > ZT__MAX_FREQUENCY_CHANGE &&
            changes->at_other_frequency++ == 0) {
            snprintf(changes->first_frequency, sizeof changes->first_frequency,
                     "%s: %.0f MHz before, %.0f MHz now. ", now->name, before->mhz, now->frequency_mhz);
            changes->counts.other_conditions = 1;
        }
    }
    figures[ZT__CHANGE_VERDICT] = verdict;
    ++*counters[verdict];
    changes->row_count++;
}

/* Returns whether two names are the same in a file, where a byte that is not valid UTF-8 is replaced. */
static int zt__is_same_name(const char *name, const char *other) {
    zt__character character, other_character;
    while (zt__next_character(&name, &character)) {
        if (!zt__next_character(&other, &other_character) || character.code != other_character.code) {
            return 0;
        }
    }
    return !*other;
}

/* Writes the table of changes, and notes below it. */
static ze_result_t zt__write_changes_to_file(const void *content, FILE *file) {
    static const char *const verdicts[] = {"same", "faster", "slower", "missing", "new"};
    const zt__changes *changes = (const zt__changes *)content;
    const zt_bench_changes *counts = &changes->counts;
    size_t room = zt__get_room(file == stdout);
    zt__figure_column columns[ZT__CHANGE_FIGURES];
    zt__figure_table table;
    zt__paragraph note;
    zt__writer writer;
    memset(&table, 0, sizeof table);
    table.heading = "benchmark";
    table.is_precise = 1;
    table.rows = changes->rows;
    table.row_count = changes->row_count;
    table.columns = columns;
    zt__choose_time_unit(&table, ZT__CHANGE_SHORTER, ZT__CHANGE_LONGER);
    zt__add_figures(&table, ZT__CHANGE_BEFORE, "before", "ns", 1, 0);
    zt__add_figures(&table, ZT__CHANGE_NOW, "now", "ns", 1, 0);
    zt__add_figures(&table, ZT__CHANGE_SHARE, "change", "percent", 0, 0);
    zt__add_figures(&table, ZT__CHANGE_LOW, "95% from", "percent", 0, 0);
    zt__add_figures(&table, ZT__CHANGE_HIGH, "95% to", "percent", 0, 0);
    zt__add_texts(&table, ZT__CHANGE_VERDICT, "verdict", verdicts);
    zt__fit_columns(&table, room);
    zt__begin_writing(&writer, zt__write_to_file, file);
    zt__write_figures(&writer, &table, room);
    note = zt__begin_paragraph(&writer, room, 0, 0);
    zt__add_formatted(&note, "%u slower, %u faster, %u same, %u missing, %u new, compared with ",
                      (unsigned)counts->slower, (unsigned)counts->faster, (unsigned)counts->same,
                      (unsigned)counts->missing, (unsigned)counts->added);
    zt__add_text(&note, changes->file.path);
    zt__add_formatted(&note, "%s%s.", *changes->file.date ? " of " : "", changes->file.date);
    zt__end_paragraph(&note);
    if (changes->greatest_tolerance > 0) {
        note = zt__begin_paragraph(&writer, room, 0, 0);
        zt__add_text(&note, "Slower or faster are those whose whole interval is beyond the tolerance of ");
        if (changes->least_tolerance < changes->greatest_tolerance) {
            zt__add_formatted(&note, "%g%% to ", changes->least_tolerance * 100);
        }
        zt__add_formatted(&note, "%g%%.", changes->greatest_tolerance * 100);
        zt__end_paragraph(&note);
    }
    zt__write_bursts_note(&writer, changes->results, changes->result_count, room);
    if (counts->other_conditions) {
        note = zt__begin_paragraph(&writer, room, 0, 0);
        zt__add_text(&note, changes->conditions);
        if (changes->at_other_frequency > 0) {
            zt__add_formatted(&note, "%u benchmark%s ran at another frequency; %s",
                              (unsigned)changes->at_other_frequency,
                              changes->at_other_frequency == 1 ? "" : "s", changes->first_frequency);
        }
        zt__add_text(&note, "So the changes need not be those of the program.");
        zt__end_paragraph(&note);
    }
    return zt__end_writing(&writer) ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_UNKNOWN;
}

ZT_API ze_result_t zt_compare_benches(const zt_profiler *profiler, const zt_bench_result *results,
                                      uint32_t count, const char *before, const char *report,
                                      zt_bench_changes *changes) {
    zt__diagnostics *diagnostics = zt__diagnostics_of(profiler);
    zt__changes all;
    zt__output output = {"zt_compare_benches",      report, diagnostics, zt__allocator_of(profiler),
                         zt__write_changes_to_file, &all};
    zt__bench_file *file = &all.file;
    zt_format format;
    size_t rows;
    uint32_t i, j;
    ze_result_t result;
    if (changes) {
        memset(changes, 0, sizeof *changes);
    }
    if (!results || !before || !changes) {
        return zt__report_null(diagnostics, "zt_compare_benches",
                               !results ? "results"
                               : before ? "changes"
                                        : "before");
    }
    if (report && (!zt__find_format(report, &format) || format != ZT_FORMAT_TABLE)) {
        return zt__report(diagnostics, BENCH_SUFFIX, ZE_RESULT_ERROR_INVALID_ARGUMENT, "zt_compare_benches",
                          report, ".txt or none");
    }
    memset(&all, 0, sizeof all);
    all.results = results;
    all.result_count = count;
    file->path = before;
    file->diagnostics = diagnostics;
    file->allocator = output.allocator;
    result = zt__read_bench_file(file);
    if (result == ZE_RESULT_SUCCESS) {
        rows = (size_t)count + file->count;
        all.rows = (zt__figure_row *)zt__allocate(file->allocator, rows, sizeof *all.rows);
        all.figures = (double *)zt__allocate(file->allocator, rows, ZT__CHANGE_FIGURES * sizeof *all.figures);
        if (!all.rows || !all.figures) {
            result = zt__report_no_memory(diagnostics, "zt_compare_benches", "a table");
        }
    }

    if (result == ZE_RESULT_SUCCESS && profiler) {
        char core_clock_mhz[16] = "";
        if (profiler->facts.core_clock_mhz) {
            snprintf(core_clock_mhz, sizeof core_clock_mhz, "%u", (unsigned)profiler->facts.core_clock_mhz);
        }
        zt__add_condition(&all, "device", "", file->device, profiler->device_name);
        zt__add_condition(&all, "driver", "", file->driver_version, profiler->facts.driver_version);
        zt__add_condition(&all, "core clock", " MHz", file->core_clock_mhz, core_clock_mhz);
    }
    /* Each result is compared with the first one of its name in the file that is not compared yet. */
    for (i = 0; i < count && result == ZE_RESULT_SUCCESS; i++) {
        for (j = 0; j < file->count; j++) {
            if (!file->benches[j].is_compared && zt__is_same_name(results[i].name, file->benches[j].name)) {
                break;
            }
        }
        if (j < file->count) {
            file->benches[j].is_compared = 1;
        }
        zt__add_change(&all, j < file->count ? &file->benches[j] : NULL, &results[i]);
    }
    for (j = 0; j < file->count && result == ZE_RESULT_SUCCESS; j++) {
        if (!file->benches[j].is_compared) {
            zt__add_change(&all, &file->benches[j], NULL);
        }
    }

    if (result == ZE_RESULT_SUCCESS && report) {
        result = zt__write_output(&output);
    }
    if (result == ZE_RESULT_SUCCESS) {
        *changes = all.counts;
    }
    zt__free(file->allocator, all.figures);
    zt__free(file->allocator, all.rows);
    zt__free(file->allocator, file->benches);
    zt__free(file->allocator, file->text);
    return result;
}
