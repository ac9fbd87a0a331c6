/* The table of benchmarks. */

#include "bench/tables.h"

#include "base/compiler.h"
#include "base/figures.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/platform.h"
#include "base/writer.h"
#include "bench/bench.h"
#include "metrics/statistics.h"
#include "regions/profiler.h"
#include "results/ranking.h"
#include "results/results.h"
#include "results/roles.h"
#include "results/roofline.h"

/* The figures of a row: these, the metrics as rates, and the derived columns of results/ranking. */
enum {
    ZT__BENCH_MEDIAN,
    ZT__BENCH_INTERVAL,
    ZT__BENCH_MINIMUM,
    ZT__BENCH_BYTES,
    ZT__BENCH_PEAK,
    ZT__BENCH_ITEMS,
    ZT__BENCH_COUNT,
    ZT__BENCH_OUTLIERS,
    ZT__BENCH_APART,
    ZT__BENCH_CHANGED,
    ZT__BENCH_END,
    ZT__BENCH_MHZ,
    ZT__BENCH_SLOWDOWN,
    ZT__BENCH_FIGURES
};

/* A perturbation by the counters above this is one to warn of. */
#define ZT__NOTABLE_PERTURBATION 1.1

ZT__PRIVATE void zt__write_bursts_note(zt__writer *writer, const zt_bench_result *results, uint32_t count,
                                       size_t room) {
    uint32_t i, fewest = UINT32_MAX, most = 0, set_aside = 0, all_changed = 0;
    double apart = 0;
    zt__paragraph note = zt__begin_paragraph(writer, room, 0, 0);
    for (i = 0; i < count; i++) {
        const zt_bench_result *result = &results[i];
        if (result->bursts > 0) {
            fewest = result->bursts < fewest ? result->bursts : fewest;
            most = result->bursts > most ? result->bursts : most;
            apart = result->burst_spread > apart ? result->burst_spread : apart;
            set_aside += result->set_aside;
            all_changed += result->changed > 0 && result->set_aside == 0;
        }
    }
    if (most > 0) {
        zt__add_text(&note, "The samples are of ");
        if (fewest < most) {
            zt__add_formatted(&note, "%u to ", (unsigned)fewest);
        }
        zt__add_formatted(&note, "%u bursts, whose medians lie up to %.1f%% apart. ", (unsigned)most,
                          apart * 100);
    }
    if (set_aside > 0) {
        zt__add_formatted(&note, "%u at another frequency %s set aside. ", (unsigned)set_aside,
                          set_aside == 1 ? "is" : "are");
    }
    if (all_changed > 0) {
        zt__add_formatted(&note,
                          "Of %u benchmark%s at least half are at another frequency, so that all count.",
                          (unsigned)all_changed, all_changed == 1 ? "" : "s");
    }
    zt__end_paragraph(&note);
}

ZT__PRIVATE int zt__write_bench_table(zt__writer *writer, const zt_profiler *profiler,
                                      const zt_bench_result *results, uint32_t count, size_t room) {
    const zt_allocator *allocator = zt__allocator_of(profiler);
    const double peak = profiler ? zt__get_peaks(zt__mutable(profiler)).bytes : 0;
    uint32_t i, m, are_changed = 0, are_unknown = 0, are_slowed = 0,
                   metrics = profiler ? profiler->metric_count : 0;
    uint32_t figure_count = ZT__BENCH_FIGURES + metrics + ZT__DERIVED_COLUMNS;
    double *figures = (double *)zt__allocate(allocator, count, figure_count * sizeof *figures);
    zt__figure_table table;
    zt__paragraph note;
    zt__advice advice;
    char sysman[8];
    int is_complete;
    memset(&table, 0, sizeof table);
    table.heading = "benchmark";
    table.is_precise = 1;
    table.rows = (zt__figure_row *)zt__allocate(allocator, count, sizeof *table.rows);
    table.columns = (zt__figure_column *)zt__allocate(allocator, figure_count, sizeof *table.columns);
    is_complete = figures && table.rows && table.columns;
    for (i = 0; i < count && is_complete; i++) {
        const zt_bench_result *result = &results[i];
        zt__subject subject = {NULL, NULL};
        double *row = figures + (size_t)i * figure_count;
        row[ZT__BENCH_MEDIAN] = result->median;
        row[ZT__BENCH_INTERVAL] = result->precision * 100;
        row[ZT__BENCH_MINIMUM] = result->min;
        row[ZT__BENCH_BYTES] = result->bytes_per_second;
        row[ZT__BENCH_PEAK] = peak > 0 ? result->bytes_per_second / peak * 100 : zt__nan();
        row[ZT__BENCH_ITEMS] = result->items_per_second;
        row[ZT__BENCH_COUNT] = result->count;
        row[ZT__BENCH_OUTLIERS] = result->outliers;
        row[ZT__BENCH_APART] = result->burst_spread * 100;
        row[ZT__BENCH_CHANGED] = result->changed;
        row[ZT__BENCH_END] = (double)result->end;
        row[ZT__BENCH_MHZ] = result->frequency_mhz;
        row[ZT__BENCH_SLOWDOWN] = result->perturbation;
        if (profiler) {
            subject = zt__subject_at(zt__mutable(profiler), result->region);
        }
        for (m = 0; m < metrics; m++) {
            zt_stats stats;
            zt__clear_stats(&stats);
            if (subject.region) {
                zt__get_column(zt__mutable(profiler), subject, 1 + m, &stats, NULL, NULL);
            }
            row[ZT__BENCH_FIGURES + m] = stats.rate;
        }
        table.rows[i].name = result->name;
        table.rows[i].figures = row;
        table.row_count++;
        are_changed += result->changed > 0;
        are_slowed += result->perturbation > ZT__NOTABLE_PERTURBATION;
        are_unknown += result->count > 0 && zt__is_nan(result->frequency_mhz);
    }
    if (is_complete) {
        zt__choose_time_unit(&table, ZT__BENCH_MINIMUM, ZT__BENCH_MEDIAN);
        zt__add_figures(&table, ZT__BENCH_MEDIAN, "median", "ns", 1, 0);
        zt__add_figures(&table, ZT__BENCH_INTERVAL, "95% +-", "percent", 0, 0);
        zt__add_figures(&table, ZT__BENCH_MINIMUM, "minimum", "ns", 1, 0);
        zt__add_figures(&table, ZT__BENCH_BYTES, "bytes", "bytes/s", 1, 1);
        zt__add_figures(&table, ZT__BENCH_PEAK, "of peak", "percent", 0, 1);
        zt__add_figures(&table, ZT__BENCH_ITEMS, "items", "/s", 1, 1);
        zt__add_figures(&table, ZT__BENCH_COUNT, "samples", "", 0, 0);
        zt__add_figures(&table, ZT__BENCH_OUTLIERS, "outliers", "", 0, 2);
        zt__add_figures(&table, ZT__BENCH_APART, "bursts apart", "percent", 0, 2);
        zt__add_texts(&table, ZT__BENCH_END, "ended by", zt__bench_ends);
        /* Columns that warn stay in a narrow table. */
        zt__add_figures(&table, ZT__BENCH_SLOWDOWN, "with counters", "times", 0, are_slowed > 0 ? 0 : 2);
        zt__add_figures(&table, ZT__BENCH_MHZ, "frequency", "MHz", 0, 2);
        if (are_changed > 0) {
            zt__add_figures(&table, ZT__BENCH_CHANGED, "at another frequency", "", 0, 0);
        }
        if (metrics > 0) {
            zt__prepare_advice(profiler, &advice);
            is_complete = zt__add_ranked_columns(profiler, &advice, &table, figures, figure_count,
                                                 ZT__BENCH_FIGURES, 1);
        }
        zt__fit_columns(&table, room);
        zt__write_figures(writer, &table, room);
    }
    zt__write_bursts_note(writer, results, count, room);
    if (are_unknown > 0) {
        note = zt__begin_paragraph(writer, room, 0, 0);
        zt__add_text(&note,
                     zt__read_variable("ZES_ENABLE_SYSMAN", sysman, sizeof sysman) && strcmp(sysman, "1") == 0
                         ? "The frequency is not known: set config.frequency."
                         : "The frequency is not known: set ZES_ENABLE_SYSMAN=1, or config.frequency.");
        zt__end_paragraph(&note);
    }
    zt__free(allocator, table.columns);
    zt__free(allocator, table.rows);
    zt__free(allocator, figures);
    return is_complete;
}
