/* The tables of a tracer: kernels, calls, hot spots; and paragraphs below any table. */

#include "reports/tracer_tables.h"

#include "base/compiler.h"
#include "base/figures.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/programs.h"
#include "base/writer.h"
#include "modules/kernels.h"
#include "reports/facts.h"
#include "tracer/hotspots.h"
#include "tracer/results.h"

ZT__PRIVATE void zt__write_paragraph_about(zt__document *document, const char *name, const char *text) {
    zt__paragraph paragraph;
    zt__writer shortened;
    zt__begin_writing(&shortened, NULL, NULL);
    shortened.stopped = 1; /* it only keeps the bytes */
    zt__write_shortened(&shortened, name, document->room / 2);
    zt__write_bytes(&shortened, "", 1);
    paragraph = zt__begin_paragraph(&document->writer, document->room, 2, 4);
    zt__add_text(&paragraph, shortened.bytes);
    zt__add_text(&paragraph, ": ");
    zt__add_text(&paragraph, text);
    zt__end_paragraph(&paragraph);
}

ZT__PRIVATE void zt__write_table_note(zt__document *document, const char *text) {
    zt__paragraph paragraph = zt__begin_paragraph(&document->writer, document->room, 0, 0);
    zt__add_text(&paragraph, text);
    zt__end_paragraph(&paragraph);
}

ZT__PRIVATE void zt__write_left_out(zt__document *document, uint32_t count, double percent,
                                    const char *what) {
    char text[256], share[64] = "";
    if (count == 0) {
        return;
    }
    if (zt__is_positive(percent)) {
        snprintf(share, sizeof share, ", with %.1f%% of %.40s", percent, what);
    }
    snprintf(text, sizeof text,
             "%u more %s left out%s: set ZT_ROWS=0, or write CSV, JSON or HTML, which have all.",
             (unsigned)count, count == 1 ? "row is" : "rows are", share);
    zt__write_table_note(document, text);
}

/* ---- tables of a tracer: kernels, calls, hot spots ------------------------------------------------------- */

#ifdef ZETOOLS_TRACER

enum {
    ZT__KERNEL_ROW_SHARE, /* that of its region */
    ZT__KERNEL_ROW_LAUNCHES,
    ZT__KERNEL_ROW_SIZE, /* an index of texts, like the next */
    ZT__KERNEL_ROW_MODULE,
    ZT__KERNEL_ROW_OCCUPANCY,
    ZT__KERNEL_ROW_SIMD,
    ZT__KERNEL_ROW_REGISTERS,
    ZT__KERNEL_ROW_SPILL,
    ZT__KERNEL_ROW_SLM,
    ZT__KERNEL_ROW_PRIVATE,
    ZT__KERNEL_ROW_BARRIERS,
    ZT__KERNEL_ROW_ARGUMENTS,
    ZT__KERNEL_ROW_FIGURES
};

/* The figures of a call. */
enum {
    ZT__CALL_ROW_SHARE,
    ZT__CALL_ROW_COUNT,
    ZT__CALL_ROW_ERRORS,
    ZT__CALL_ROW_TOTAL,
    ZT__CALL_ROW_MEAN,
    ZT__CALL_ROW_MEDIAN,
    ZT__CALL_ROW_P95,
    ZT__CALL_ROW_MAX,
    ZT__CALL_ROW_FIGURES
};

static const struct {
    uint32_t figure;
    const char *name, *units;
    int rank;
} zt__kernel_columns[] = {
    {ZT__KERNEL_ROW_SHARE, "share", "%", 1},         {ZT__KERNEL_ROW_LAUNCHES, "launches appended", "", 0},
    {ZT__KERNEL_ROW_MODULE, "module", NULL, 0},      {ZT__KERNEL_ROW_SIZE, "group size", NULL, 0},
    {ZT__KERNEL_ROW_OCCUPANCY, "occupancy", "%", 1}, {ZT__KERNEL_ROW_SIMD, "SIMD", "", 1},
    {ZT__KERNEL_ROW_REGISTERS, "registers", "", 1},  {ZT__KERNEL_ROW_SPILL, "spill", "bytes", 1},
    {ZT__KERNEL_ROW_SLM, "SLM", "bytes", 2},         {ZT__KERNEL_ROW_PRIVATE, "private", "bytes", 2},
    {ZT__KERNEL_ROW_BARRIERS, "barriers", "", 3},    {ZT__KERNEL_ROW_ARGUMENTS, "arguments", "", 3}};

/* Returns a number of a kernel. UINT32_MAX stands for one that is not known. */
static double zt__known_or_nan(uint32_t number) {
    return number == UINT32_MAX ? zt__nan() : number;
}

/* Writes a table below a heading, if it has rows: no more than document->most_rows. `share` is the index of a figure that
   is a share of `what`; UINT32_MAX: none adds up. */
static void zt__show_table(zt__document *document, zt__figure_table *table, const char *heading,
                           uint32_t share, const char *what) {
    const uint32_t count = table->row_count;
    double percent = 0;
    uint32_t i;
    if (count == 0) {
        return;
    }
    for (i = document->most_rows; i < count && share != UINT32_MAX; i++) {
        percent += zt__is_nan(table->rows[i].figures[share]) ? 0 : table->rows[i].figures[share];
    }
    table->row_count = count < document->most_rows ? count : document->most_rows;
    zt__fit_columns(table, document->room);
    zt__print(&document->writer, "\n%s\n", heading);
    zt__write_figures(&document->writer, table, document->room);
    zt__write_left_out(document, count - table->row_count, percent, what);
    table->row_count = count;
}

/* Compares rows for qsort: by the total time, in descending order, and then in the order in which they were first called. */
static int zt__compare_call_rows(const void *a, const void *b) {
    const zt__figure_row *one = (const zt__figure_row *)a, *other = (const zt__figure_row *)b;
    double left = one->figures[ZT__CALL_ROW_TOTAL], right = other->figures[ZT__CALL_ROW_TOTAL];
    if (left > right || left < right) {
        return left > right ? -1 : 1;
    }
    return (int)one->index - (int)other->index;
}

/* Compares rows for qsort: by share, and then by launches, in descending order. */
static int zt__compare_kernel_rows(const void *a, const void *b) {
    const zt__figure_row *one = (const zt__figure_row *)a, *other = (const zt__figure_row *)b;
    uint32_t figure;
    for (figure = ZT__KERNEL_ROW_SHARE; figure <= ZT__KERNEL_ROW_LAUNCHES; figure++) {
        double left = one->figures[figure], right = other->figures[figure];
        left = zt__is_nan(left) ? -1 : left;
        right = zt__is_nan(right) ? -1 : right;
        if (left != right) {
            return left < right ? 1 : -1;
        }
    }
    return (int)one->index - (int)other->index;
}

/* Returns whether kernels of different modules have the same name; also without the memory to find out. */
static int zt__share_names(const zt_allocator *allocator, const zt__figure_table *table,
                           zt__sizes_text *modules) {
    zt__map first_of_name = {NULL, 64, 0}; /* the text of the module of the first kernel with each name */
    uint32_t i;
    int are_shared;
    while (first_of_name.capacity / 2 <= table->row_count) {
        first_of_name.capacity *= 2;
    }
    first_of_name.entries =
        (zt__map_entry *)zt__allocate(allocator, first_of_name.capacity, sizeof *first_of_name.entries);
    are_shared = !first_of_name.entries;
    for (i = 0; i < table->row_count && !are_shared; i++) {
        const char *name = table->rows[i].name;
        const char *first = (const char *)zt__map_find(&first_of_name, name, strlen(name));
        if (first) {
            are_shared = strcmp(first, modules[i].text) != 0;
        } else {
            zt__map_add(&first_of_name, name, strlen(name), modules[i].text);
        }
    }
    zt__map_free(&first_of_name, allocator);
    return are_shared;
}

ZT__PRIVATE void zt__write_table_of_kernels(zt__document *document) {
    enum { ADVISED = 10 };
    const zt_allocator *allocator = &document->profiler->config.allocator;
    uint32_t i, count = zt__get_kernel_count(document->profiler), shown = 0, others = 0;
    zt__figure_column columns[ZT__KERNEL_ROW_FIGURES];
    zt__figure_table table;
    double *figures;
    zt__sizes_text *sizes, *modules;         /* of each kernel */
    const char **size_texts, **module_texts; /* the same, for zt__add_texts */
    int needs_modules;
    zt_kernel_info info;
    char text[128];
    if (count == 0) {
        return;
    }
    memset(&table, 0, sizeof table);
    table.heading = "kernel";
    table.columns = columns;
    table.rows = (zt__figure_row *)zt__allocate(allocator, count, sizeof *table.rows);
    figures = (double *)zt__allocate(allocator, count, ZT__KERNEL_ROW_FIGURES * sizeof *figures);
    sizes = (zt__sizes_text *)zt__allocate(allocator, count, 2 * sizeof *sizes);
    size_texts = (const char **)zt__allocate(allocator, count, 2 * sizeof *size_texts);
    modules = sizes ? sizes + count : NULL;
    module_texts = size_texts ? size_texts + count : NULL;
    if (table.rows && figures && sizes && size_texts) {
        table.row_count = count;
    } else {
        document->out_of_memory = 1;
    }
    for (i = 0; i < table.row_count; i++) {
        zt__figure_row *row = &table.rows[i];
        double *figure = figures + (size_t)i * ZT__KERNEL_ROW_FIGURES;
        zt_get_kernel(document->profiler, i, &info);
        row->name = zt__show_name(info.name, &row->demangled);
        row->figures = figure;
        row->index = i;
        figure[ZT__KERNEL_ROW_SHARE] =
            info.region < document->region_count ? 100 * document->regions[info.region].share : zt__nan();
        figure[ZT__KERNEL_ROW_LAUNCHES] = (double)info.launches;
        figure[ZT__KERNEL_ROW_SIZE] = figure[ZT__KERNEL_ROW_MODULE] = i;
        figure[ZT__KERNEL_ROW_OCCUPANCY] = 100 * info.occupancy;
        figure[ZT__KERNEL_ROW_SIMD] = zt__known_or_nan(info.simd_width);
        figure[ZT__KERNEL_ROW_REGISTERS] = zt__known_or_nan(info.registers);
        figure[ZT__KERNEL_ROW_SPILL] = zt__known_or_nan(info.spill_bytes);
        figure[ZT__KERNEL_ROW_SLM] = zt__known_or_nan(info.slm_bytes);
        figure[ZT__KERNEL_ROW_PRIVATE] = zt__known_or_nan(info.private_bytes);
        figure[ZT__KERNEL_ROW_BARRIERS] = zt__known_or_nan(info.barriers);
        figure[ZT__KERNEL_ROW_ARGUMENTS] = zt__known_or_nan(info.arguments);
        sizes[i] = zt__format_sizes(info.shapes[0].group_size);
        if (!sizes[i].text[0]) {
            strcpy(sizes[i].text, "-");
        }
        strcpy(modules[i].text, "-");
        if (info.module) { /* eight digits differ between the modules of a program */
            snprintf(modules[i].text, sizeof modules[i].text, "%08x", (unsigned)(info.module >> 32));
        }
        size_texts[i] = sizes[i].text;
        module_texts[i] = modules[i].text;
    }
    needs_modules = zt__share_names(allocator, &table, modules);
    if (table.row_count > 0) {
        qsort(table.rows, count, sizeof *table.rows, zt__compare_kernel_rows);
    }
    for (i = 0; i < ZT__COUNT_OF(zt__kernel_columns); i++) {
        uint32_t figure = zt__kernel_columns[i].figure;
        const char *name = zt__kernel_columns[i].name, *units = zt__kernel_columns[i].units;
        if (units) {
            zt__add_figures(&table, figure, name, units, units[0] == 'b', zt__kernel_columns[i].rank);
        } else if (figure == ZT__KERNEL_ROW_SIZE || needs_modules) {
            zt__add_texts(&table, figure, name, figure == ZT__KERNEL_ROW_SIZE ? size_texts : module_texts);
        }
    }
    zt__show_table(document, &table, "Kernels; group size and occupancy are those of most launches",
                   UINT32_MAX, "");
    for (i = 0; i < table.row_count; i++) {
        zt_get_kernel(document->profiler, table.rows[i].index, &info);
        if (info.advice[0] && shown < ADVISED) {
            zt__write_text(&document->writer, shown++ ? "" : "\n");
            zt__write_paragraph_about(document, table.rows[i].name, info.advice);
        } else if (info.advice[0]) {
            others++;
        }
    }
    if (others) {
        snprintf(text, sizeof text, "What to do about %u more is in JSON and CSV.", (unsigned)others);
        zt__write_table_note(document, text);
    }
    for (i = 0; i < table.row_count; i++) {
        free(table.rows[i].demangled);
    }
    zt__free(allocator, table.rows);
    zt__free(allocator, (void *)size_texts);
    zt__free(allocator, sizes);
    zt__free(allocator, figures);
}

ZT__PRIVATE void zt__write_table_of_calls(zt__document *document) {
    static const char *const names[ZT__CALL_ROW_FIGURES] = {"share", "count",  "errors", "total",
                                                            "mean",  "median", "p95",    "max"};
    const zt_allocator *allocator = &document->profiler->config.allocator;
    uint32_t i, count = zt__calls_to_report(document->profiler);
    zt__figure_column columns[ZT__CALL_ROW_FIGURES];
    zt__figure_table table;
    double *figures, all_ns = 0;
    if (count == 0) {
        return;
    }
    memset(&table, 0, sizeof table);
    figures = (double *)zt__allocate(allocator, count, ZT__CALL_ROW_FIGURES * sizeof *figures);
    table.heading = "call";
    table.columns = columns;
    table.rows = (zt__figure_row *)zt__allocate(allocator, count, sizeof *table.rows);
    document->out_of_memory |= !figures || !table.rows;
    for (i = 0; i < count && figures && table.rows; i++) {
        double *row = figures + (size_t)table.row_count * ZT__CALL_ROW_FIGURES;
        zt__figure_row *shown = &table.rows[table.row_count];
        zt_call_info call;
        zt_get_call(document->profiler, i, &call);
        if (!call.count) {
            continue; /* none since zt_clear */
        }
        shown->name = call.name;
        shown->figures = row;
        shown->index = i;
        all_ns += call.time_ns.sum;
        row[ZT__CALL_ROW_COUNT] = (double)call.count;
        row[ZT__CALL_ROW_ERRORS] = (double)call.errors;
        row[ZT__CALL_ROW_TOTAL] = call.time_ns.sum;
        row[ZT__CALL_ROW_MEAN] = call.time_ns.mean;
        row[ZT__CALL_ROW_MEDIAN] = call.time_ns.median;
        row[ZT__CALL_ROW_P95] = call.time_ns.p95;
        row[ZT__CALL_ROW_MAX] = call.time_ns.max;
        table.row_count++;
    }
    for (i = 0; i < table.row_count; i++) {
        double *row = figures + (size_t)i * ZT__CALL_ROW_FIGURES;
        row[ZT__CALL_ROW_SHARE] = all_ns > 0 ? 100 * row[ZT__CALL_ROW_TOTAL] / all_ns : zt__nan();
    }
    if (table.row_count > 0) {
        qsort(table.rows, table.row_count, sizeof *table.rows, zt__compare_call_rows);
    }
    zt__choose_time_unit(&table, ZT__CALL_ROW_MEDIAN, ZT__CALL_ROW_TOTAL);
    for (i = 0; i < ZT__CALL_ROW_FIGURES; i++) {
        zt__add_figures(&table, i, names[i],
                        i == ZT__CALL_ROW_SHARE  ? "percent"
                        : i < ZT__CALL_ROW_TOTAL ? ""
                                                 : "ns",
                        i != ZT__CALL_ROW_SHARE, i > ZT__CALL_ROW_MEAN);
    }
    zt__show_table(document, &table, "Host time of calls", ZT__CALL_ROW_SHARE, "the host time of calls");
    zt__free(allocator, table.rows);
    zt__free(allocator, figures);
}

ZT__PRIVATE void zt__write_table_of_hotspots(zt__document *document) {
    enum { SHOWN = 20, SHORTENED = 40 };
    enum { SHARE, SAMPLES, ACTIVE, STALL, STALLED, FIGURES };
    const zt__hotspots *hotspots = zt__hotspots_of(document->profiler);
    const char *stalls[ZT__MOST_COUNTS + 1];
    double figures[SHOWN][FIGURES], all;
    zt_hotspots_counts counts;
    zt__figure_row shown[SHOWN];
    zt__figure_column columns[FIGURES];
    zt__figure_table table;
    zt__writer name; /* of a row: the kernel, which is shortened, and the place in it */
    char *demangled;
    uint32_t i, count;
    zt__hot_row *rows = zt__read_hot_rows(document, 1, &count, &counts);
    if (!rows) {
        return;
    }
    all = (double)counts.matched;
    qsort(rows, count, sizeof *rows, zt__compare_hot_rows);
    memset(&table, 0, sizeof table);
    memset(shown, 0, sizeof shown);
    table.heading = "hot spot";
    table.rows = shown;
    table.columns = columns;
    for (i = 0; i < ZT__MOST_COUNTS; i++) {
        stalls[i] = hotspots->count_names[i];
    }
    stalls[ZT__MOST_COUNTS] = "-";
    for (i = 0; i < count && i < SHOWN; i++) {
        uint32_t j, stall = UINT32_MAX; /* the kind of stall with most samples */
        double samples = (double)rows[i].samples;
        for (j = 0; j < hotspots->count_count; j++) {
            if (j != hotspots->active_count && rows[i].counts[j] > 0 &&
                (stall == UINT32_MAX || rows[i].counts[j] > rows[i].counts[stall])) {
                stall = j;
            }
        }
        zt__begin_writing(&name, NULL, NULL);
        name.stopped = 1; /* it only keeps the bytes */
        zt__write_shortened(&name, zt__show_name(rows[i].kernel->name, &demangled), SHORTENED);
        zt__write_text(&name, " ");
        zt__write_text(&name, zt__describe_hot_place(&rows[i]).text);
        zt__write_bytes(&name, "", 1);
        free(demangled);
        shown[i].demangled = zt__duplicate_text(&hotspots->allocator, name.bytes);
        shown[i].name = shown[i].demangled ? shown[i].demangled : rows[i].kernel->name;
        shown[i].figures = figures[i];
        figures[i][SHARE] = 100 * samples / all;
        figures[i][SAMPLES] = samples;
        figures[i][ACTIVE] = hotspots->active_count == UINT32_MAX
                                 ? zt__nan()
                                 : 100 * (double)rows[i].counts[hotspots->active_count] / samples;
        figures[i][STALL] = stall == UINT32_MAX ? (double)ZT__MOST_COUNTS : (double)stall;
        figures[i][STALLED] = stall == UINT32_MAX ? zt__nan() : 100 * (double)rows[i].counts[stall] / samples;
        table.row_count++;
    }
    zt__add_figures(&table, SHARE, "share", "percent", 0, 0);
    zt__add_figures(&table, SAMPLES, "samples", "", 0, 0);
    zt__add_figures(&table, ACTIVE, "active", "percent", 0, 0);
    zt__add_texts(&table, STALL, "main stall", stalls);
    zt__add_figures(&table, STALLED, "main stall", "percent", 0, 0);
    zt__show_table(document, &table,
                   "Hot spots in kernels: where threads were, and whether they executed or waited", SHARE,
                   "the samples");
    if (count > SHOWN) {
        zt__print(&document->writer, "There are %u more: write CSV, JSON or HTML, which have all.\n",
                  (unsigned)(count - SHOWN));
    }
    for (i = 0; i < table.row_count; i++) {
        zt__free(&hotspots->allocator, shown[i].demangled);
    }
    zt__free(&hotspots->allocator, rows);
}

#endif
